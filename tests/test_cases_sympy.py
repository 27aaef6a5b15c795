"""Faults that people met in SymPy, each restated for our formulas with the right value.

The numbers of the issues stand in the names of the tests; Cirq #2028 and nbval #122
are the printed order, as 15985.
"""

import mpmath as mp
import pytest
import sympy as sp
from sympy import Rational, S, Symbol, atan

from ngeodesic import geodesic
from ngeodesic.proof import Identity, Sign
from ngeodesic.statements.angle_law import alpha, beta, chord_x, chord_y, phi, phi_atan2, t, theta
from ngeodesic.statements.cubic_law import cumulant, series_gap
from ngeodesic.statements.triple_zero import gap_tangents


@pytest.fixture(autouse=True)
def _forty_digits():
    with mp.workdps(40):
        yield


def test_16327_11988_the_branch_of_atan2():
    point = {alpha: Rational(9, 10), theta: 3}
    right = sp.N((alpha * theta - phi_atan2).subs(point), 30)
    wrong = sp.N((alpha * theta - atan(chord_y / chord_x)).subs(point), 30)
    assert float(right) == pytest.approx(-0.282383860458246318, rel=1e-15, abs=0)
    assert float(wrong) == pytest.approx(2.85920879313154695, rel=1e-15, abs=0)
    assert float(geodesic.gap(0.9, 3.0)) == pytest.approx(-0.282383860458246318, rel=2e-15, abs=0)
    # the arctan form of ng-angle-law has no branch to choose
    arctan_form = (alpha * theta - phi).subs({beta: 1 - 2 * alpha, t: sp.tan(theta / 2)}).subs(point)
    assert float(arctan_form) == pytest.approx(float(right), rel=1e-15, abs=0)


def test_25180_15931_the_slope_of_a_shifted_function():
    # the coefficient of z in the printed series of the issue was not the slope
    z = sp.Symbol("z", real=True)
    shifted = (z + Rational(2, 5)) / 2
    slope = 1 / (1 + z**2) - 1 / (1 + shifted**2) / 2
    unshifted = 1 / (1 + z**2) - 1 / (1 + z**2 / 4) / 2
    moving = sp.Derivative(atan(z) - atan(shifted), z)
    domain = {z: sp.Interval(0, sp.oo)}
    assert Identity(moving, slope, domain=domain).run().ok
    assert Identity(moving, unshifted, domain=domain).run().refuted
    assert slope.subs(z, Rational(11, 10)) == Rational(732, 5525)


def test_9351_12375_the_coefficients_of_the_gap():
    a = alpha
    third, fifth = (series_gap(2).coeff(theta, n) for n in (3, 5))
    expected = a * (1 - a) * (1 - 2 * a) / 6, -a * (1 - a) * (1 - 2 * a) * (12 * a**2 - 12 * a + 1) / 120
    for here, right in zip((third, fifth), expected, strict=True):
        assert sp.Poly(here - right, a).is_zero  # by value, whatever the printed order


def test_20106_every_series_at_two_scales():
    # what is left after n terms is the next term, at both scales
    for terms in (1, 2, 3):
        order = 2 * terms + 3
        following = (-1) ** terms * cumulant(order) / sp.factorial(order)
        for scale in (Rational(1, 100), Rational(1, 1000)):
            point = {alpha: Rational(3, 10), theta: scale}
            exact = mp.mpf(3) / 10 * mp.mpf(scale.p) / scale.q
            exact -= mp.mpf(sp.N(phi_atan2.subs(point), 60))
            left = exact - mp.mpf(sp.N(series_gap(terms).subs(point), 60))
            predicted = mp.mpf(sp.N((following * theta**order).subs(point), 60))
            assert mp.almosteq(left / predicted, 1, 1e-3 if scale == Rational(1, 100) else 1e-5)


def test_21787_17780_9032_nothing_is_simplified_so_every_proof_ends():
    # simplify and trigsimp never end on these; the checker refuses at once what it does not read
    endless = 40 * (t + 5) ** 3 * sp.cos(10 * (t + 5) ** 4)
    assert Identity(endless, endless + 1, domain={t: S.Reals}).run().verdict == "refused"


def test_13642_lambdified_formulas_agree_with_mpmath():
    formulas = {
        "phi": (
            sp.lambdify((alpha, theta), phi_atan2, "numpy"),
            lambda a, th: mp.arg(1 - a + a * mp.expj(th)),
        ),
        "gap": (
            sp.lambdify(
                (alpha, theta), gap_tangents.subs({beta: 1 - 2 * alpha, t: sp.tan(theta / 2)}), "numpy"
            ),
            lambda a, th: a * th - mp.arg(1 - a + a * mp.expj(th)),
        ),
        "sinc": (sp.lambdify((alpha, theta), sp.sinc(theta), "numpy"), lambda a, th: mp.sinc(th)),
        "acos": (sp.lambdify((alpha, theta), sp.acos(alpha), "numpy"), lambda a, th: mp.acos(a)),
    }
    for name, (numeric, exact) in formulas.items():
        for a, th in ((0.3, 1.0), (0.75, 2.5), (0.125, 3.0)):
            assert float(numeric(a, th)) == pytest.approx(
                float(exact(mp.mpf(a), mp.mpf(th))), rel=1e-12, abs=0
            ), name


def test_15985_terms_in_another_order_are_the_same_claim():
    domain = {alpha: S.Reals}
    assert Identity(1 - alpha, -alpha + 1, domain=domain).run().ok
    backwards = sp.Add(sp.Mul(-1, alpha, evaluate=False), 1, evaluate=False)
    assert Identity(backwards, 1 - alpha, domain=domain).run().ok


def test_20108_15854_17772_the_domain_stands_in_the_check_not_in_the_symbol():
    assert Symbol("t") != t
    assert sp.sympify("t") != t
    stray = Identity(Symbol("t"), t, domain={t: sp.Interval.open(0, sp.oo)}).run()
    assert (stray.verdict, "no assumption other than real=True" in stray.detail) == ("refused", True)
    # y^2/|y| = y for y > 0 is not read as rational: refused rather than guessed
    y = Symbol("y", real=True)
    unread = Identity(y**2 / sp.Abs(y), y, domain={y: sp.Interval.open(0, sp.oo)}).run()
    assert (unread.verdict, "Abs(y)" in unread.detail) == ("refused", True)
    # an assumption of the symbol proves nothing: only the domain does
    x = Symbol("x", positive=True)
    assert not Sign(x, ">", domain={x: S.Reals}).run().ok
