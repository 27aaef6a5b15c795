"""The statements about the Stiefel manifold: each relation is needed, and the numeric code says the same."""

import dataclasses
import math
import re

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from ngeodesic import geodesic, polar, proof, spel, statements, stiefel
from ngeodesic.display import plain
from ngeodesic.matrices import MatrixIdentity
from ngeodesic.statements import angle_law, commutator, newton_schulz, one_law
from ngeodesic.statements import spel as law
from ngeodesic.statements import stiefel as manifold

IDS = (
    "ng-newton-schulz",
    "ng-tangent-projection",
    "ng-scaled-retraction",
    "ng-arctan-law",
    "ng-commutator",
    "ng-gaussian-defect",
    "ng-one-law",
)
MATRIX_STEPS = [
    (id, step)
    for id in IDS
    for step in statements.get(id).steps
    if isinstance(step.check, MatrixIdentity) and step.check.relations
]


@pytest.fixture(autouse=True)
def _fifty_digits():
    with mp.workdps(50):
        yield


def _rng(seed):
    return np.random.default_rng(seed)


def _value(expr, **values):
    """A symbolic formula at numbers, in 50 digits."""
    names = sorted(expr.free_symbols, key=str)
    return sp.lambdify(names, expr, "mpmath")(*(values[str(x)] for x in names))


def _matrix(expr, values):
    """A matrix formula at arrays of floats; the numbers in `values` stand for the symbols."""
    if expr.is_Matrix and expr in values:
        return values[expr]
    if isinstance(expr, sp.MatAdd):
        return sum(_matrix(part, values) for part in expr.args)
    if isinstance(expr, sp.MatMul):
        numbers = {x: v for x, v in values.items() if isinstance(x, sp.Symbol)}
        parts = [_matrix(p, values) if p.is_Matrix else float(p.subs(numbers)) for p in expr.args]
        arrays = [p for p in parts if not isinstance(p, float)]
        return math.prod(p for p in parts if isinstance(p, float)) * (
            np.linalg.multi_dot(arrays) if len(arrays) > 1 else arrays[0]
        )
    if isinstance(expr, sp.Transpose):
        return _matrix(expr.arg, values).T
    raise TypeError(expr)


# --- the proofs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", IDS)
def test_proved_within_seconds(id):
    report = proof.prove(statements.get(id))
    assert report.proved, str(report)
    assert report.seconds < 10


@pytest.mark.parametrize(
    ("id", "step"), MATRIX_STEPS, ids=[f"{id}/{step.label}" for id, step in MATRIX_STEPS]
)
def test_every_relation_that_a_step_names_is_needed(id, step):
    found = step.check.run().detail
    named = [r for r in step.check.relations if " = ".join(map(plain, r)) in found]
    for relation in named:
        others = tuple(r for r in step.check.relations if r != relation)
        assert not dataclasses.replace(step.check, relations=others).run().ok, (step.label, relation)


@pytest.mark.parametrize(
    ("id", "step"), MATRIX_STEPS, ids=[f"{id}/{step.label}" for id, step in MATRIX_STEPS]
)
def test_the_models_are_of_full_size(id, step):
    """A model with zero or commuting letters would see less."""
    for model in step.check.models:
        for letter in step.check.letters:
            if letter in model:
                assert any(model[letter]), (step.label, letter)


@pytest.mark.parametrize("id", IDS)
def test_a_step_refers_only_to_what_the_statement_uses(id):
    statement = statements.get(id)
    words = [step.says + getattr(step.check, "reason", "") for step in statement.steps]
    assert set(re.findall(r"ng-[a-z-]+[a-z]", " ".join(words))) <= set(statement.uses)


@pytest.mark.parametrize(
    ("id", "word"),
    [
        ("ng-scaled-retraction", "geodesic"),
        ("ng-scaled-retraction", "tangents"),
        ("ng-scaled-retraction", "compact"),
        ("ng-arctan-law", "geodesic"),
        ("ng-arctan-law", "determinant"),
        ("ng-arctan-law", "complement"),
        ("ng-newton-schulz", "bounded"),
    ],
)
def test_what_is_argued_in_words_is_by_hand(id, word):
    statement = statements.get(id)
    assert statement.status == "proved-by-hand + checked"
    assert any(word in step.check.reason for step in statement.steps if isinstance(step.check, proof.ByHand))


# --- Newton-Schulz ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "formula", "end"),
    [("cubic", newton_schulz.cubic, 3), ("classical_quintic", newton_schulz.quintic, sp.Rational(7, 3))],
)
def test_newton_schulz_is_its_polynomial(name, formula, end):
    sets = polar.COEFFICIENTS[name]
    ((a, b, c),) = sets.steps
    s = newton_schulz.s
    assert sp.expand(formula) == sp.nsimplify(a) * s + sp.nsimplify(b) * s**3 + sp.nsimplify(c) * s**5
    assert sets.interval == (0, pytest.approx(math.sqrt(end), rel=1e-15, abs=0))
    assert sets.limit == (1, 1)
    values = np.linspace(0.1, 0.9, 4)
    values /= np.linalg.norm(values)
    for steps in (1, 3, 30):
        exact = [mp.mpf(v) for v in values]
        for _ in range(steps):
            exact = [_value(formula, s=v) for v in exact]
        q = np.linalg.qr(_rng(1).normal(size=(6, 4)))[0]
        found = polar.newton_schulz(q * values, steps=steps, coefficients=name)
        np.testing.assert_allclose(found, q * [float(v) for v in exact], atol=1e-14, rtol=0)


@pytest.mark.parametrize(
    ("formula", "end"), [(newton_schulz.cubic, 3), (newton_schulz.quintic, mp.mpf(7) / 3)]
)
def test_the_intervals_of_convergence_are_sharp(formula, end):
    def limit(s):
        for _ in range(400):
            s = _value(formula, s=s)
            if abs(s) > 1000:
                return mp.inf
        return s

    end = mp.sqrt(end)
    for s in (mp.mpf(10) ** -30, mp.mpf(1) / 2, mp.mpf("1.3"), end * (1 - mp.mpf(10) ** -9)):
        assert mp.almosteq(limit(s), 1, 1e-40)
    assert not mp.almosteq(limit(end * (1 + mp.mpf(10) ** -9)), 1, 1e-3)


def test_what_the_cubic_does_above_its_interval():
    cubic = lambda s: _value(newton_schulz.cubic, s=mp.mpf(s))  # noqa: E731
    assert cubic(2) == -1
    s = mp.mpf("1.9")
    for _ in range(20):
        s = cubic(s)
    assert mp.almosteq(s, -1, 1e-40)
    assert abs(cubic(mp.sqrt(5)) + mp.sqrt(5)) < 1e-45


# --- tangent projection and retraction ----------------------------------------------------------------------

SHAPES = [(5, 3), (7, 1), (4, 4), (9, 6)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("radius", [1.0, 1.7])
def test_project_tangent_is_the_statement(shape, radius):
    W = stiefel.random_point(shape, sigma=radius, seed=3)
    G = _rng(4).normal(size=shape)
    at = {manifold.W: W, manifold.G: G, manifold.sigma: radius}
    tall = _matrix(manifold.tall_projection(manifold.G), at)
    np.testing.assert_allclose(stiefel.project_tangent(W, G, sigma=radius), tall, atol=1e-14, rtol=0)
    at = {manifold.W: W.T, manifold.G: G.T, manifold.sigma: radius}
    wide = _matrix(manifold.wide_projection(manifold.G), at)
    np.testing.assert_allclose(stiefel.project_tangent(W.T, G.T, sigma=radius), wide, atol=1e-14, rtol=0)
    if shape[0] > shape[1]:
        assert np.abs(_matrix(manifold.tall_projection(manifold.G), at) - wide).max() > 0.01


def _polar_retraction(W, V, radius):
    """sigma (W + V) (sigma^2 I + V^T V)^(-1/2), by the eigenvectors of V^T V, in 50 digits."""
    W, V = mp.matrix(W.tolist()), mp.matrix(V.tolist())
    values, Q = mp.eigsy(V.T * V)
    S = Q * mp.diag([1 / mp.sqrt(radius**2 + e) for e in values]) * Q.T
    return radius * (W + V) * S


@pytest.mark.parametrize("size", [1e-6, 0.3, 40.0])
def test_retract_is_the_statement(size):
    W = stiefel.random_point((5, 3), sigma=1.5, seed=5)
    V = size * stiefel.project_tangent(W, _rng(6).normal(size=(5, 3)), sigma=1.5)
    exact = np.array(_polar_retraction(W, V, mp.mpf(1.5)).tolist(), dtype=float)
    np.testing.assert_allclose(stiefel.retract(W, V, sigma=1.5), exact, atol=1e-14, rtol=0)


def _exact_exponential(W, V, radius):
    """The geodesic of the Euclidean metric at time 1 (Edelman et al., section 2.2.2), in 50 digits."""
    n = W.cols
    A, N = W.T * V / radius**2, V.T * V / radius**2
    block = mp.zeros(2 * n)
    block[:n, :n], block[:n, n:] = A, -N
    block[n:, :n], block[n:, n:] = mp.eye(n), A
    both = mp.zeros(W.rows, 2 * n)
    both[:, :n], both[:, n:] = W, V
    return (both * mp.expm(block))[:, :n] * mp.expm(-A)


def _exact_point(shape, radius, seed):
    """A point and a tangent in 50 digits."""
    rng = _rng(seed)
    Q, _ = mp.qr(mp.matrix(rng.normal(size=shape).tolist()), mode="skinny")
    W, G = radius * Q, mp.matrix(rng.normal(size=shape).tolist())
    S = W.T * G
    return W, G - W * (S + S.T) / (2 * radius**2)


@pytest.mark.parametrize("shape", [(4, 2), (3, 3), (3, 1), (5, 3)])
def test_the_leading_term_of_the_distance_to_the_geodesic(shape):
    radius = mp.mpf("1.3")
    W, V = _exact_point(shape, radius, 7)
    cubed = V * (V.T * V)
    leading = (cubed - W * (W.T * cubed + cubed.T * W) / (2 * radius**2)) / (3 * radius**2)
    for t in (mp.mpf(10) ** -4, mp.mpf(10) ** -6):
        difference = _exact_exponential(W, t * V, radius) - _polar_retraction(W, t * V, radius)
        assert mp.norm(difference / t**3 - leading, mp.inf) < 100 * t


@pytest.mark.parametrize("u", ["-1.7", "0", "0.3", "5"])
def test_the_derivatives_of_the_circle(u):
    radius, u = mp.mpf(2), mp.mpf(u)
    curve = lambda s: radius * (1 + 1j * s) / mp.sqrt(1 + s**2)  # noqa: E731
    first, second, third = (mp.diff(curve, u, k) for k in (1, 2, 3))
    assert mp.almosteq(first, 1j * curve(u) / (1 + u**2), 1e-30)
    assert mp.almosteq(second, -(1 + 2j * u) * curve(u) / (1 + u**2) ** 2, 1e-30)
    square = radius**2 * 9 * (1 + 4 * u**4) / (1 + u**2) ** 6
    assert mp.almosteq(abs(third) ** 2, square, 1e-25)
    step = statements.get("ng-scaled-retraction").step("third-derivative")
    assert mp.almosteq(radius**2 * _value(step.check.rhs, u=u), square, 1e-40)
    h = mp.tan(mp.atan(u) / 2)
    parts = [_value(f, a=mp.mpf(a), b=1 - mp.mpf(a), h=h) for a in (1, 0) for f in (manifold.along_c,)]
    assert mp.almosteq(radius * mp.mpc(*parts), curve(u), 1e-40)


@pytest.mark.parametrize("size", ["0.01", "0.5", "1", "3", "20"])
def test_the_bound_holds_for_every_tangent(size):
    radius = mp.mpf("0.7")
    for seed in range(4):
        W, V = _exact_point((4, 2), radius, seed)
        V *= mp.mpf(size) / mp.norm(V, 2)
        distance = mp.norm(_exact_exponential(W, V, radius) - _polar_retraction(W, V, radius), 2)
        assert distance <= mp.mpf(size) ** 3 / radius**2


def test_exp_is_the_geodesic_of_the_statement():
    W, V = _exact_point((5, 3), mp.mpf(1), 8)
    exact = np.array(_exact_exponential(W, V, mp.mpf(1)).tolist(), dtype=float)
    W, V = (np.array(X.tolist(), dtype=float) for X in (W, V))
    np.testing.assert_allclose(stiefel.exp(W, V), exact, atol=2e-14, rtol=0)


def test_qr_is_first_order_unless_the_gram_matrix_is_diagonal():
    def second_order(V):
        W, t = np.eye(3, 2), 1e-3
        q, r = np.linalg.qr(W + t * V)
        return np.abs(q * np.sign(np.diag(r)) - stiefel.exp(W, t * V)).max() / t**2

    assert second_order(np.array([[0, 0], [0, 0], [1.0, 1]])) == pytest.approx(0.5, rel=1e-2, abs=0)
    assert second_order(np.array([[0, 1.0], [-1, 0], [0, 2]])) < 1e-2


@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (4, 4)])
def test_the_rms_norm_is_preserved(shape):
    radius = stiefel.sigma(shape, "unit_rms_to_rms_norm")
    assert radius == pytest.approx(math.sqrt(shape[0] / shape[1]), rel=1e-15, abs=0)
    W = stiefel.random_point(shape, sigma=radius, seed=9)
    x = _rng(10).normal(size=shape[1]) if shape[0] >= shape[1] else W.T @ _rng(10).normal(size=shape[0])
    assert np.mean((W @ x) ** 2) == pytest.approx(np.mean(x**2), rel=1e-13, abs=0)


# --- the arctan law -----------------------------------------------------------------------------------------


def test_rotation_angle_is_the_arctan():
    for lr, radius in zip(_rng(11).uniform(0, 9, 30), _rng(12).uniform(0.1, 3, 30), strict=True):
        exact = _value(law.angle, eta=mp.mpf(lr), sigma=mp.mpf(radius))
        assert spel.rotation_angle(lr, sigma=radius) == pytest.approx(float(exact), rel=4e-16, abs=0)
        y = mp.mpf(lr) / mp.mpf(radius)
        assert y**3 / 3 - y**5 / 5 < _value(law.lag, y=y) < y**3 / 3


@pytest.mark.parametrize("shape", [(5, 1), (4, 4), (1, 6)])
def test_a_step_is_the_turn_of_the_statement(shape):
    W, M = stiefel.random_point(shape, seed=13), _rng(14).normal(size=shape)
    O = spel.direction(W, M)
    phi = float(spel.rotation_angle(0.6))
    exact = math.cos(phi) * W - math.sin(phi) * O
    np.testing.assert_allclose(spel.spel_step(W, M, 0.6), exact, atol=1e-14, rtol=0)
    np.testing.assert_allclose(stiefel.exp(W, -phi * O), exact, atol=1e-14, rtol=0)


def test_a_step_back_turns_by_the_absolute_angle():
    W, M = stiefel.random_point((4, 4), seed=13), _rng(14).normal(size=(4, 4))
    O, x = spel.direction(W, M), _rng(15).normal(size=4)
    for eta in (0.6, -0.6):
        there = stiefel.retract(W, -eta * O)
        assert geodesic.angle(W @ x, there @ x) == pytest.approx(math.atan(abs(eta)), rel=1e-13, abs=0)


def test_the_curve_starts_with_the_velocity_of_the_statement():
    W = stiefel.random_point((4, 4), sigma=2, seed=13)
    O = spel.direction(W, _rng(14).normal(size=(4, 4)), sigma=2)
    at = {law.W: W, law.O: O, law.sigma: 2.0, law.phi: 1e-6}
    moved = (_matrix(law.turned, at) - _matrix(law.turned, {**at, law.phi: -1e-6})) / 2e-6
    np.testing.assert_allclose(moved, -2 * O, atol=1e-9, rtol=0)
    np.testing.assert_allclose(_matrix(law.velocity, {**at, law.phi: 0.0}), -2 * O, atol=1e-14, rtol=0)


# --- the commutator -----------------------------------------------------------------------------------------


def test_the_defect_is_the_commutator():
    m, n = 9, 4
    W, V = stiefel.random_point((m, n), seed=15), _rng(16).normal(size=(m, n))
    V = stiefel.project_tangent(W, V)
    A = W.T @ V
    values, Q = np.linalg.eigh(V.T @ V)
    S = Q / np.sqrt(values) @ Q.T
    O = polar.msign(V)
    np.testing.assert_allclose(W.T @ O + O.T @ W, A @ S - S @ A, atol=1e-13, rtol=0)
    assert np.abs(A @ S - S @ A).max() > 0.01


@pytest.mark.parametrize(("m", "n", "rank"), [(9, 4, 2), (9, 4, 1), (6, 6, 4), (5, 5, 4)])
def test_the_defect_is_the_commutator_for_any_rank(m, n, rank):
    rng = _rng(16)
    W = stiefel.random_point((m, n), seed=15)
    A = rng.normal(size=(n, n))
    plane = np.linalg.qr(rng.normal(size=(n, rank)))[0]
    V = W @ plane @ plane.T @ (A - A.T) @ plane @ plane.T
    if m > n:
        V += project_out(W, rng.normal(size=(m, n))) @ plane @ plane.T
    A = W.T @ V
    values, Q = np.linalg.eigh(V.T @ V)
    roots = np.where(values > 1e-12, 1 / np.sqrt(np.maximum(values, 1e-12)), 0)
    S, O = Q * roots @ Q.T, polar.msign(V)
    np.testing.assert_allclose(V @ S, O, atol=1e-12, rtol=0)
    np.testing.assert_allclose(W.T @ O + O.T @ W, A @ S - S @ A, atol=1e-12, rtol=0)
    assert (np.abs(A @ S - S @ A).max() > 0.01) == (m > n and rank > 1)


def project_out(W, X):
    """The part of X that is orthogonal to the columns of W, by which `W_perp B` is written."""
    return X - W @ (W.T @ X)


def test_the_exact_example():
    O = polar.msign(np.array([[0.0, 1], [-1, 0], [2, 0]]))
    W = np.eye(3, 2)
    defect = (W.T @ O + O.T @ W)[0, 1]
    assert defect == pytest.approx(1 - 1 / math.sqrt(5), rel=1e-14, abs=0)


# --- the Gaussian limit -------------------------------------------------------------------------------------


def _numeric(expr):
    """A formula as a function of arrays, by keyword."""
    names = sorted(expr.free_symbols, key=str)
    function = sp.lambdify(names, expr, "numpy")
    return lambda **values: function(*(values[str(x)] for x in names))


def _limit(c):
    """D(c) as tau(s^2 M^-1) less the double integral of the pair, by Gauss-Legendre nodes in x."""
    rate = 1 / c - 1
    at = {"v": 0.5, "lambda": rate}
    x_0 = ((1 - rate) + math.sqrt((1 - rate) ** 2 + 2 * rate)) / rate
    q, weights = np.polynomial.legendre.leggauss(300)
    q, weights = (q + 1) / 2, weights / 2
    x = x_0 * (1 - q**2) ** 2  # dt/sqrt(t) has no singularity in q
    time = _numeric(commutator.resolvent_time)(x=x, **at)
    weights *= 4 * x_0 * (1 - q**2) * q * _numeric(commutator.slope)(x=x, **at) / np.sqrt(time)
    J = weights @ _numeric(commutator.pair)(x=x[:, None], y=x, **at) @ weights / math.pi**2
    return math.sqrt((_numeric(commutator.single)(x=x_0, **at) - J) / 2)


def _resolvent(t, rate):
    """The root x > 0 of t = resolvent_time(x), by bisection."""
    time = _numeric(commutator.resolvent_time)
    low, high = 1e-9, 1e6
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if time(x=middle, v=0.5, **{"lambda": rate}) > t else (low, middle)
    return low


@pytest.mark.parametrize("c", [0.0625, 0.25, 0.5, 0.8, 0.95])
def test_the_curve_is_the_first_form_of_the_statement(c):
    assert float(spel.gaussian_tangency_defect(c)) == pytest.approx(_limit(c), rel=1e-9, abs=0)


def test_the_first_order_and_the_limits_of_the_curve():
    for c in (1e-3, 1e-5):
        assert spel.gaussian_tangency_defect(c) == pytest.approx(c / 4, rel=c, abs=0)
    assert 0 < spel.gaussian_tangency_defect(1 - 1e-6) < 2e-3
    W = stiefel.random_point((30, 30), seed=18)
    assert stiefel.tangency_defect(W, spel.direction(W, _rng(19).normal(size=(30, 30)))) < 1e-12
    assert spel.gaussian_tangency_defect(1.0) == 0


def test_the_traces_of_the_statement_are_those_of_random_matrices():
    n, rate, t, u = 300, 1.5, 0.7, 0.2
    rng = _rng(17)
    X, B = rng.normal(size=(n, n)), rng.normal(size=(round(rate * n), n))
    s, p = -0.5j * (X - X.T) / math.sqrt(n), B.T @ B / n
    M = s @ s + p
    Q_t, Q_u = (np.linalg.inv(a * np.eye(n) + M) for a in (t, u))
    x, y = _resolvent(t, rate), _resolvent(u, rate)
    both = commutator.v * commutator.x * commutator.y
    both /= commutator.sum_factor - commutator.rate * commutator.ratio_factor
    for matrix, formula in (
        (Q_t, commutator.x),
        (s @ Q_t @ s @ Q_u, commutator.pair),
        (s @ s @ Q_t, commutator.single),
        (s @ s @ Q_t @ Q_u, both),
    ):
        limit = _numeric(formula)(x=x, y=y, v=0.5, **{"lambda": rate})
        assert np.trace(matrix).real / n == pytest.approx(limit, rel=0.02, abs=0)


@pytest.mark.parametrize("c", [0.25, 0.8])
def test_the_curve_is_that_of_random_gradients(c):
    m = 320
    n = round(c * m)
    W, G = stiefel.random_point((m, n), seed=18), _rng(19).normal(size=(m, n))
    O = spel.direction(W, G)
    defect = np.linalg.norm(W.T @ O + O.T @ W) / 2 / np.linalg.norm(O)
    assert defect == pytest.approx(float(spel.gaussian_tangency_defect(c)), rel=0.02, abs=0)


# --- one law ------------------------------------------------------------------------------------------------


def test_a_step_of_ngpt_is_a_step_of_spel():
    rng = _rng(20)
    for alpha in (0.05, 0.3, 0.5):
        h, target = (x / np.linalg.norm(x) for x in rng.normal(size=(2, 12)))
        theta = float(geodesic.angle(h, target))
        eta = float(_value(one_law.tangent_step, alpha=mp.mpf(alpha), theta=mp.mpf(theta)))
        point = geodesic.retract(h, target, alpha)
        step = spel.spel_step(h[:, None], -target[:, None], eta)
        np.testing.assert_allclose(step[:, 0], point, atol=1e-14, rtol=0)
        exact = _value(angle_law.phi_atan2, alpha=mp.mpf(alpha), theta=mp.mpf(theta))
        assert spel.rotation_angle(eta) == pytest.approx(float(exact), rel=1e-14, abs=0)


def test_the_tangent_step_grows_with_alpha():
    theta = mp.mpf("1.9")
    for alpha in (mp.mpf("-0.4"), mp.mpf("0.1"), mp.mpf("0.6")):
        slope = mp.diff(lambda a: _value(one_law.tangent_step, alpha=a, theta=theta), alpha)
        r = _value(angle_law.chord_x, alpha=alpha, theta=theta)
        assert r > 0
        assert mp.almosteq(slope, mp.sin(theta) / r**2, 1e-30)


def test_the_matched_step_goes_forward():
    for theta, fraction in ((mp.mpf("3.1"), mp.mpf("0.5")), (mp.mpf("1.9"), mp.mpf("0.8"))):
        alpha = _value(angle_law.matching_alpha, f=fraction, theta=theta)
        psi, omega = fraction * theta, (1 - fraction) * theta
        r = mp.cos(psi) * mp.sin(theta) / (mp.sin(psi) + mp.sin(omega))
        assert psi < mp.pi / 2
        assert r > 0
        assert mp.almosteq(_value(angle_law.chord_x, alpha=alpha, theta=theta), r, 1e-45)


def test_the_matched_step_of_ngpt_is_the_matched_step_of_spel():
    theta, fraction = mp.mpf("1.9"), mp.mpf("0.3")
    alpha = _value(angle_law.matching_alpha, f=fraction, theta=theta)
    assert mp.almosteq(
        _value(one_law.tangent_step, alpha=alpha, theta=theta), mp.tan(fraction * theta), 1e-45
    )
