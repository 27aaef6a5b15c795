"""The statements are proved, their false twins refuted, and the checkers cannot be fooled."""

import ast
import dataclasses
import inspect
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from sympy import (
    Derivative,
    Dummy,
    Integer,
    Integral,
    Interval,
    Mul,
    Pow,
    Rational,
    S,
    Symbol,
    atan,
    atan2,
    cos,
    exp,
    log,
    oo,
    pi,
    sin,
    sqrt,
)

from ngeodesic import display, geodesic, matrices, proof, statements
from ngeodesic.proof import (
    Above,
    ByHand,
    Certificate,
    Identity,
    SameDerivative,
    Sign,
    Statement,
    Step,
)
from ngeodesic.statements import angle_law, contraction, cubic_law, triple_zero

x, y, z, s, t = sp.symbols("x y z s t", real=True)
POSITIVE = Interval.open(0, oo)
REAL = {x: S.Reals}
IDS = list(statements.ALL)
STEPS = [(s.id, step) for s in statements.ALL.values() for step in s.steps]
STEP_NAMES = [f"{id}/{step.label}" for id, step in STEPS]
CHAPTERS = ["angle_law", "triple_zero", "bisector", "cubic_law", "contraction", "per_dimension"]
CHAPTERS += ["polar", "stiefel", "spel", "commutator", "one_law"]


@pytest.fixture(scope="module")
def reports():
    return {id: proof.prove(statement) for id, statement in statements.ALL.items()}


@pytest.fixture(autouse=True)
def _fifty_digits():
    with mp.workdps(50):
        yield


# --- the statements -----------------------------------------------------------------------------------------


def test_the_statements_are_there_in_book_order():
    assert IDS == [
        "ng-angle-law",
        "ng-matched-step",
        "ng-gap-integral",
        "ng-triple-zero",
        "ng-max-gap",
        "ng-bisector",
        "ng-cubic-law",
        "ng-contraction",
        "ng-off-plane",
        "ng-newton-schulz",
        "ng-tangent-projection",
        "ng-scaled-retraction",
        "ng-arctan-law",
        "ng-commutator",
        "ng-gaussian-defect",
        "ng-one-law",
    ]


@pytest.mark.parametrize("id", IDS)
def test_proved(reports, id):
    report = reports[id]
    assert report.proved, str(report)
    assert [row.certificate.verdict for row in report.rows] == [
        "by hand" if isinstance(step.check, ByHand) else "proved" for step in report.statement.steps
    ]


@pytest.mark.parametrize(("id", "step"), STEPS, ids=STEP_NAMES)
def test_twin_is_refuted(reports, id, step):
    if isinstance(step.check, ByHand):
        assert step.check.reason
        return
    row = next(row for row in reports[id].rows if row.step is step)
    assert row.twin.verdict == "refuted", row.twin
    assert type(step.twin) is type(step.check)
    assert step.twin.latex() != step.check.latex()  # a reader sees what is false about it


@pytest.mark.parametrize("statement", statements.ALL.values(), ids=IDS)
def test_statement_is_complete(statement):
    assert statement.id in IDS
    assert statement.chapter in CHAPTERS
    assert all((statement.title, statement.claim, statement.hypotheses, statement.paper, statement.steps))
    by_hand = any(isinstance(step.check, ByHand) for step in statement.steps)
    assert statement.status == ("proved-by-hand + checked" if by_hand else "proved-exact")
    assert by_hand or all(statements.get(used).status == "proved-exact" for used in statement.uses)
    # what a statement rests on was proved before it: no circle
    assert set(statement.uses) <= set(IDS[: IDS.index(statement.id)])
    for step in statement.steps:
        assert isinstance(step.check, ByHand) or step.check.lhs != step.check.rhs
        assert step.says
        assert step.latex()
        assert isinstance(step.check, ByHand) or step.conditions()


def test_facts_are_those_that_the_book_spells_out():
    book = (Path(__file__).parent.parent / "book" / "trust.md").read_text(encoding="utf-8")
    assert re.findall(r"^- \*([a-z ]+)\*:", book, re.MULTILINE) == list(proof.FACTS)
    assert {fact for _, step in STEPS for fact in step.facts} == set(proof.FACTS)
    with pytest.raises(ValueError, match="known: plane coordinates, "):
        Step("same", "x = x", Identity(x, x, domain=REAL), Identity(x, x + 1, domain=REAL), ("magic",))


# --- what a report shows ------------------------------------------------------------------------------------


def test_report_shows_every_step_and_no_timing(reports):
    report = reports["ng-bisector"]
    for text in (str(report), report._repr_html_()):
        for row in report.rows:
            assert row.step.label in text
            assert row.certificate.kind in text
        assert "refuted" in text
        assert "ng-bisector: proved-exact" in text
    again = dataclasses.replace(report, seconds=report.seconds + 1)
    assert (str(again), again._repr_html_()) == (str(report), report._repr_html_())


def test_steps_show_their_equation_and_where_it_holds():
    between = statements.get("ng-matched-step").step("between")
    assert between.latex() == r"\frac{t - c}{2 t} > 0"
    assert between.conditions() == "-1 < r < 1, t > 0; with c = r*t"
    assert statements.get("ng-cubic-law").step("upper").conditions() == "0 <= beta <= 1, t > 0"
    derivative = statements.get("ng-gap-integral").step("derivative")
    assert derivative.latex().startswith(
        r"\frac{\partial}{\partial t} \left[\arctan{\left(\beta t \right)} - \beta"
    )
    assert Sign(x, ">", domain={x: Interval.Lopen(-oo, 2)}).conditions() == "x <= 2"
    assert Sign(x, ">", domain={x: Interval(0, oo)}).conditions() == "x >= 0"
    halves = statements.get("ng-matched-step").step("slerp").conditions()
    assert halves.startswith("0 < m < 1, -1 < n < 1; with x = 2*atan(m), v = 2*atan(n), alpha = (")
    assert Sign(x, ">", domain={x: S.Naturals}).conditions() == "x in Naturals"
    assert Sign(atan2(y, x) ** 2, ">", domain=REAL).latex().endswith(r"\nolimits^{2}\left(y, x\right) > 0")
    second = Identity(Derivative(x**3, x, x), 6 * x, domain=REAL)
    assert second.latex() == r"\frac{d^{2}}{d x^{2}} \left[x^{3}\right] = 6 x"


def test_the_facts_that_a_step_uses_are_shown(reports):
    assert "uses: plane coordinates, induction" in str(reports["ng-bisector"]["halving"])
    assert "uses: plane coordinates, induction" in reports["ng-bisector"]["halving"]._repr_html_()


def test_output_does_not_depend_on_the_hash_seed():
    code = (
        "from ngeodesic import proof, statements\n"
        "for s in statements.ALL.values():\n"
        "    print(proof.prove(s))\n"
        "    for step in s.steps: print(step.latex(), step.conditions(), step.check.run())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def _statement(*steps):
    return Statement("ng-test", "Test", "angle_law", "claim", ("none",), "nowhere", (), steps)


def test_a_wrong_statement_is_not_proved():
    wrong = Step("wrong", "x^2 = x", Identity(x**2, x, domain=REAL), Identity(x**2, 2 * x, domain=REAL))
    report = proof.prove(_statement(wrong))
    assert not report.proved
    assert "NOT PROVED" in str(report)
    assert "NOT PROVED" in report._repr_html_()
    assert "at x = -1 the sides are" in str(report)


@pytest.mark.parametrize(
    "twin",
    [
        Identity(x**2 + 2 * x + 1, (x + 1) ** 2, domain=REAL),  # true by accident
        Identity((x**2 - 1) / (x - 1), x + 1, domain=REAL),  # only refused, not shown to be false
    ],
)
def test_a_twin_that_is_not_refuted_fails_the_statement(twin):
    step = Step("square", "(x+1)^2", Identity((x + 1) ** 2, x**2 + 2 * x + 1, domain=REAL), twin)
    report = proof.prove(_statement(step))
    assert report.rows[0].certificate.ok
    assert not report.proved
    assert "NOT REFUTED" in str(report)


def test_refute_gives_the_certificate_of_the_twin():
    step = statements.get("ng-triple-zero").step("lags")
    certificate = proof.refute(step)
    assert not certificate.ok
    assert certificate.refuted
    assert certificate.verdict == "refuted"
    with pytest.raises(ValueError, match="by hand"):
        proof.refute(statements.get("ng-max-gap").step("supremum"))


def test_steps_need_twins_and_statements_are_consistent():
    with pytest.raises(ValueError, match="twin"):
        Step("one", "1 = 1", Identity(x, x, domain=REAL))
    with pytest.raises(ValueError, match="twin"):
        Step("hand", "by hand", ByHand("so it is"), Identity(x, x + 1, domain=REAL))
    step = Step("same", "x = x", Identity(x, x, domain=REAL), Identity(x, x + 1, domain=REAL))
    with pytest.raises(ValueError, match="same label"):
        _statement(step, step)
    hand = Step("hand", "by hand", ByHand("so it is"))
    for steps in ((), (hand,)):
        with pytest.raises(ValueError, match="no step is checked by a machine"):
            _statement(*steps)
    assert _statement(step).status == "proved-exact"
    assert _statement(step, hand).status == "proved-by-hand + checked"
    with pytest.raises(ValueError, match="has no step 'other'; it has same"):
        _statement(step).step("other")
    with pytest.raises(ValueError, match="known: ng-angle-law, "):
        statements.get("ng-nothing")


# --- attacks on the checkers --------------------------------------------------------------------------------


def _refused(check) -> Certificate:
    """The check must not accept, and must not call false what it only cannot settle."""
    certificate = check.run()
    assert not certificate.ok, certificate
    assert certificate.verdict == "refused", certificate
    return certificate


def _refuted(check) -> Certificate:
    certificate = check.run()
    assert not certificate.ok, certificate
    assert certificate.verdict == "refuted", certificate
    return certificate


def _same(expr, domain, **rest):
    """The claim that an expression is itself: it is false only if the expression cannot be read."""
    return Identity(expr, expr, domain=domain, **rest)


UNIT = Interval(0, 1)
HALF_LINE = Interval(0, oo)
FREE = {x: S.Reals, t: POSITIVE, s: HALF_LINE}
positive, complex_, integer = Symbol("x", positive=True), Symbol("x"), Symbol("x", integer=True)
named = {name: Symbol(name, real=True) for name in ("pi", "E", "exp(x)", "a + b", "x1", "x_1", "sin", "\\pi")}

OUTSIDE = {
    # symbols: real=True and nothing else, names that cannot be misread, no two alike
    "two of one name": Identity(
        log(x) - log(positive), S.Zero, domain={x: Interval(1, 2), positive: Interval(3, 4)}
    ),
    "dummies": Identity(exp(Dummy("x", real=True)), exp(x), domain={x: UNIT}),
    "positive": Identity(sp.Abs(positive), positive, domain={positive: Interval(-2, -1)}),
    "negative": _same(Symbol("x", negative=True), {Symbol("x", negative=True): POSITIVE}),
    "integer": Identity(sin(pi * integer), S.Zero, domain={integer: S.Reals}),
    "imaginary": Sign(Symbol("x", imaginary=True) ** 2, ">=", domain={Symbol("x", imaginary=True): S.Reals}),
    "complex": Sign(complex_**2, ">=", domain={complex_: S.Reals}),
    "named pi": Identity(named["pi"], pi, domain={named["pi"]: UNIT}),
    "written pi": Sign(named["\\pi"] - 2, "<", domain={named["\\pi"]: UNIT}),
    "named E": Sign(named["E"] - 2, "<", domain={named["E"]: UNIT}),
    "named exp(x)": Sign(named["exp(x)"] * exp(x), "<", domain={named["exp(x)"]: Interval(-2, -1), x: UNIT}),
    "named a + b": _same(atan(named["a + b"]), {named["a + b"]: UNIT}),
    "named sin": Sign(named["sin"] * x, ">=", domain={named["sin"]: UNIT, x: UNIT}),
    "Kelvin sign": _same(Symbol("\N{KELVIN SIGN}", real=True), {Symbol("\N{KELVIN SIGN}", real=True): UNIT}),
    "written alike": Identity(named["x1"], named["x_1"], domain={named["x1"]: UNIT, named["x_1"]: UNIT}),
    # domains: an interval with rational or infinite ends
    "points": Sign(x**2 - x, ">=", domain={x: sp.FiniteSet(-1, 0, 1, 2)}),
    "one point": _same(x, {x: sp.FiniteSet(1)}),
    "point at infinity": Sign(x, ">", domain={x: sp.FiniteSet(oo)}),
    "imaginary point": Sign(x**2, ">=", domain={x: sp.FiniteSet(sp.I)}),
    "no interval": Sign(x, ">", domain={x: Interval(1, 0)}),
    "two intervals": Above(
        x, S.Zero, variable=x, at=S.Zero, domain={x: Interval.open(0, 1) + Interval.open(1, 2)}
    ),
    "irrational end": Sign(1 + x, ">", domain={x: Interval(0, pi)}),
    "root as end": Sign(1 + x, ">", domain={x: Interval(0, sqrt(2))}),
    "symbol as end": Sign(1 + x, ">", domain={x: Interval(0, t), t: POSITIVE}),
    "floating point end": Sign(1 + x, ">", domain={x: Interval(0.5, 1)}),
    "integers": Sign(x, ">", domain={x: S.Naturals}),
    "number with a domain": _same(x, {x: UNIT, Integer(1): Interval(0, S.Half)}),
    "expression with a domain": _same(x, {x: UNIT, x + y: UNIT}),
    "irrational cut": Sign(x, ">", domain={x: POSITIVE}, cuts={x: (sqrt(2),)}),
    # definitions: of symbols that mean nothing yet, by what is already defined
    "domain and definition": Identity(x, y, domain={x: S.Reals, y: S.Reals}, where={y: x}),
    "defined constant": Identity(pi, Integer(3), domain=REAL, where={pi: Integer(3)}),
    "defined number": Identity(Integer(2), Integer(3), domain=REAL, where={Integer(2): Integer(3)}),
    "defined power": Identity(y**2, y + 1, domain=REAL, where={y: x, y**2: x + 1}),
    "defined sine": Sign(sin(y) - 1, ">", domain={x: POSITIVE}, where={sin(y): 2 + x}),
    "sine is cosine": Identity(cos(y), sin(y), domain=REAL, where={cos(y): x, sin(y): x, y: 2 * atan(x)}),
    "defined later": Identity(y, x, domain=REAL, where={y: z, z: x}),
    "circle": Identity(y, z, domain=REAL, where={y: z, z: y}),
    "itself": Identity(y, y + 1, domain=REAL, where={y: y + 1}),
    "integral in a definition": _same(y, FREE, where={y: Integral(s, (s, 0, t))}),
    "undefined value": Identity(y - z, S.Zero, domain=REAL, where={y: log(x), z: log(x)}),
    "pole in a value": Identity(y, y, domain=REAL, where={y: x**2 / x + 1 / x}),
    "poles that cancel": Identity(y * z, x, domain=REAL, where={y: 1 / x, z: x**2}),
    "exp(2 log x)": Identity(exp(2 * y), x**2, domain=REAL, where={y: log(x)}),
    "log(-x) for x > 0": _same(Derivative(log(-t), t), FREE),
    # derivatives: by a symbol of the domain, never of what is defined by it
    "by a definition": Identity(Derivative(y * z, y), 2 * z, domain={z: S.Reals}, where={y: z}),
    "by a double": Identity(Derivative(y**2, y), S.Zero, domain={z: S.Reals}, where={y: 2 * z}),
    "total or partial": Identity(Derivative(x * y, x), y, domain=REAL, where={y: x}),
    "through two definitions": _same(Derivative(x * z, x), REAL, where={y: x, z: y}),
    "mixed": Identity(Derivative(x**2 * y**2, x, y), 4 * x * y, domain={x: S.Reals, y: S.Reals}),
    "to the order n": _same(Derivative(x**2, (x, y)), {x: S.Reals, y: POSITIVE}),
    "of what has a pole": Identity(Derivative(1 / x, x), -1 / x**2, domain=REAL),
    "in a comparison": Above(Derivative(x**2, x), x, variable=x, at=S.Zero, domain={x: POSITIVE}),
    "by a bound symbol": _same(Derivative(Integral(s, (s, 0, t)), s), FREE),
    # integrals: of a rational function, from a number to a symbol, over a symbol that stands nowhere else
    "nested": _same(Integral(1 + Integral(s * t, (t, 0, s)), (s, 0, t)), {t: HALF_LINE, s: HALF_LINE}),
    "nested and derived": SameDerivative(
        Integral(1 + Integral(s * t, (t, 0, s)), (s, 0, t)),
        Integral(1 + Integral(t**2, (t, 0, s)), (s, 0, t)),
        variable=t,
        at=S.Zero,
        domain={t: HALF_LINE, s: HALF_LINE},
    ),
    "double": _same(Integral(s * x, (s, 0, t), (x, 0, t)), FREE),
    "bound and free": _same(s + Integral(s, (s, 0, t)), FREE),
    "bound and defining": SameDerivative(
        Integral(y, (s, 0, t)), t**2 / 2, variable=t, at=S.Zero, domain=FREE, where={y: s}
    ),
    "bound and limit": _same(Integral(s, (s, 0, s)), FREE),
    "bound and variable": Above(Integral(s, (s, 0, t)), S.Zero, variable=s, at=S.Zero, domain=FREE),
    "from t to t": Identity(Integral(1 / s, (s, t, t)), S.Zero, domain={t: S.Reals, s: S.Reals}),
    "from 0 to 0": Identity(Integral(1 / s, (s, 0, 0)), S.Zero, domain=FREE),
    "to a defined limit": _same(Integral(s, (s, 0, y)), FREE, where={y: -t}),
    "to infinity": _same(Integral(1 / (1 + s**2), (s, 0, oo)), FREE),
    "indefinite": _same(Integral(s, s), {s: UNIT}),
    "over two points": _same(
        Integral(1 / (2 * s - 1) ** 2, (s, 0, t)), {t: sp.FiniteSet(0, 1), s: sp.FiniteSet(0, 1)}
    ),
    "over a pole": Sign(1 + Integral(1 / (2 * s - 1) ** 2, (s, 0, t)) ** 2, ">", domain={t: UNIT, s: UNIT}),
    "path too short": _same(Integral(s, (s, 0, t)), {t: Interval(0, 2), s: UNIT}),
    "start off the path": _same(Integral(s, (s, 0, t)), {t: Interval(0, 1), s: Interval.Lopen(0, 1)}),
    "integrand not rational": _same(Integral(exp(s), (s, 0, t)), FREE),
    # functions
    "Abs": Identity(sp.Abs(x), x, domain={x: POSITIVE}),
    "square root": Sign(1 + sqrt(2), ">", domain={}),
    "root of a negative": Sign(1 + Pow(-2, S.Half, evaluate=False), ">", domain={x: S.Reals}),
    "root of 0": _same(1 / Pow(0, S.Half, evaluate=False), REAL),
    "symbol in a power": _same(2**x, REAL),
    "e as a base": _same(Pow(sp.E, x, evaluate=False), REAL),
    "power 0": Identity(Pow(x, 0, evaluate=False), S.One, domain=REAL),
    "sine": Identity(sin(x) ** 2 + cos(x) ** 2, S.One, domain=REAL),
    "double angle": Identity(sin(4 * atan(x)), 2 * sin(2 * atan(x)) * cos(2 * atan(x)), domain=REAL),
    "tangent": _same(sp.tan(x), REAL),
    "undefined function": _same(sp.Function("f")(x), REAL),
    "condition": Sign(sp.Piecewise((1, x > 0), (2, True)), ">", domain=REAL),
    "floating point": Identity(x * 0.5, x / 2, domain=REAL),
    "infinite": _same(x + oo, REAL),
    "nan": _same(sp.nan, REAL),
    "complex number": _same(1 + sp.I, REAL),
    "matrix": _same(sp.MatrixSymbol("M", 2, 2), REAL),
    "0/x": Identity(Mul(0, 1 / x, evaluate=False), S.Zero, domain=REAL),
    "no expression": Identity(x, "x", domain=REAL),
    "equation": Identity(sp.Eq(x, x), sp.true, domain=REAL),
    # the point of a comparison
    "at infinity": SameDerivative(atan2(2 * t, t), S.Zero, variable=t, at=oo, domain=FREE),
    "at a symbol": SameDerivative(x, x, variable=x, at=t, domain=FREE),
    "at a float": SameDerivative(x, x, variable=x, at=0.5, domain=FREE),
    "away from the interval": SameDerivative(x, x, variable=x, at=S.Zero, domain={x: Interval(1, 2)}),
    "variable without a domain": SameDerivative(x, x, variable=y, at=S.Zero, domain=REAL),
    "variable is defined": SameDerivative(y, x, variable=y, at=S.Zero, domain=REAL, where={y: x}),
    "variable is a number": SameDerivative(x, x, variable=Integer(1), at=S.Zero, domain=REAL),
}


def test_a_definition_that_is_not_used_is_not_read():
    unused = Identity(x, x, domain={x: S.Reals}, where={y: 1 / x, z: sin(x)})
    assert unused.run().ok
    assert unused.conditions() == "x real"


@pytest.mark.parametrize("check", OUTSIDE.values(), ids=OUTSIDE)
def test_outside_the_language_is_refused(check):
    _refused(check)


TRUE = {
    "arctan of the inverse": Identity(10**30 * atan(t), 10**30 * (pi / 2 - atan(1 / t)), domain=FREE),
    "sum of arctans": Sign(10**130 * (atan(t) + atan(1 / t) - pi / 2), ">=", domain=FREE),
    "large logarithms": Identity(10**40 * log(t**2 + t), 10**40 * (log(t) + log(1 + t)), domain=FREE),
    "double exponent": Identity(exp(50 * x), exp(25 * x) * exp(24 * x + x) / exp(x) * exp(x), domain=REAL),
    "zero arctan": Above(
        10**200 * (atan(t) + atan(1 / t) - pi / 2),
        S.Zero,
        relation="<=",
        variable=t,
        at=S.One,
        domain={t: UNIT},
    ),
    "double zero": Sign((x - Rational(11, 17)) ** 2, ">=", domain={x: POSITIVE}),
    "area": Identity(Integral(s**2, (s, 0, t)), t**3 / 3, domain=FREE),
    "small exponent": Sign(exp(-x) - Rational(1, 10**60), ">", domain={x: UNIT}),
}


@pytest.mark.parametrize("check", TRUE.values(), ids=TRUE)
def test_what_is_true_is_never_refuted(check):
    assert not check.run().refuted


def test_close_numbers_are_told_apart_or_left_open():
    near = pi - Rational(314159265358979323846264338328, 10**29)  # 5e-30
    assert _refuted(Identity(near * 10**20, S.Zero, domain={}))
    nearer = Rational(sp.N(pi, 80))
    assert _refused(Identity(pi - nearer, S.Zero, domain={}))
    certificate = _refuted(Identity(Integral(s**2, (s, 0, t)), t**3 / 3 + t / 50, domain=FREE))
    assert "at t = 1 the sides are 0.333" in certificate.detail


def test_identity_with_a_pole_on_the_domain_is_refused():
    lhs, rhs = (x**2 - 1) / (x - 1), x + 1
    assert sp.simplify(lhs - rhs) == 0  # SymPy drops the pole
    assert "x - 1 != 0 is not established" in _refused(Identity(lhs, rhs, domain=REAL)).detail
    _refused(Identity(lhs, rhs, domain={x: Interval(1, 2)}))
    _refused(Identity(lhs, rhs, domain={x: Interval(0, 1)}))
    for interval in (Interval.open(1, oo), Interval.Ropen(0, 1), Interval(2, 3), Interval.Ropen(-oo, 1)):
        assert Identity(lhs, rhs, domain={x: interval}).run().ok


def test_denominators_are_seen_before_anything_cancels():
    whole = sp.Mul(x, sp.Pow(x, -1), evaluate=False)
    _refused(Identity(whole, S.One, domain=REAL))
    assert Identity(whole, S.One, domain={x: POSITIVE}).run().ok
    nested = 1 / (1 + 1 / x)  # poles at 0 and -1; after cancelling only -1 is left
    _refused(Identity(nested, x / (x + 1), domain={x: Interval(0, 1)}))
    assert Identity(nested, x / (x + 1), domain={x: POSITIVE}).run().ok
    _refused(Identity(sp.Add(1 / x, -1 / x, evaluate=False), S.Zero, domain=REAL))
    assert (
        "is 0"
        in _refused(Identity(1 / (x * (x + 1) - x - x**2), S.One, domain={x: POSITIVE, y: POSITIVE})).detail
    )


def test_denominators_inside_functions_integrals_and_definitions_count():
    _refused(Identity(atan(1 / x), atan(1 / x), domain=REAL))
    over_a_pole = Integral(1 / (z - 1) ** 2, (z, 0, x))
    claim = {"variable": x, "at": S.Zero}
    # the antiderivative of 1/(z-1)^2 through the pole at 1 would give a negative area
    _refused(SameDerivative(over_a_pole, x / (1 - x), domain={x: Interval(0, 2), z: Interval(0, 2)}, **claim))
    before_it = {x: Interval.Ropen(0, 1), z: Interval.Ropen(0, 1)}
    assert SameDerivative(over_a_pole, x / (1 - x), domain=before_it, **claim).run().ok


def test_the_path_of_integration_must_be_covered():
    area = Integral(1 / (1 - z), (z, 0, x))
    too_short = {x: Interval(0, 2), z: Interval(0, Rational(1, 2))}
    assert (
        "does not cover"
        in _refused(
            Above(area, -x, variable=x, at=S.Zero, domain={**too_short, x: Interval.Lopen(0, 2)})
        ).detail
    )
    _refused(Identity(area, area, domain={x: Interval(0, 1), z: Interval.Lopen(0, 1)}))


def test_what_is_known_of_each_function():
    _refuted(Identity(exp(2 * x), 2 * exp(x), domain=REAL))
    assert Identity((1 + exp(x)) ** 2, 1 + 2 * exp(x) + exp(2 * x), domain=REAL).run().verdict == "refused"
    assert Sign(exp(x) + x**2, ">", domain=REAL).run().ok
    _refused(Sign(pi - 3, ">", domain={}))
    assert Identity(atan(-1 / (1 + x**2)), -atan(1 / (1 + x**2)), domain=REAL).run().ok
    assert Identity(atan(y) + atan(x), S.Zero, domain=REAL, where={y: -x}).run().ok
    double = {y: 2 * atan(x)}
    assert Identity(sin(y) ** 2 + cos(y) ** 2, S.One, domain=REAL, where=double).run().ok
    assert Identity(sin(y), 2 * x / (1 + x**2), domain=REAL, where=double).run().ok
    assert Identity(sin(-y) + sin(y), S.Zero, domain=REAL, where=double).run().ok
    assert Identity(sin(y), -2 * x / (1 + x**2), domain=REAL, where={z: -x, y: 2 * atan(z)}).run().ok
    _refuted(Identity(sin(y), cos(y), domain=REAL, where=double))
    _refused(Identity(sin(y), cos(y), domain=REAL, where={y: 3 * atan(x)}))


def test_a_symbol_without_a_domain_is_refused():
    assert "no domain is given for y" in _refused(Identity(y, x, domain=REAL)).detail
    assert "no domain is given for z" in _refused(Identity(y, x, domain=REAL, where={y: z})).detail
    assert Identity(S.One, S.One, domain={}).run().ok


def test_sign_that_changes_on_the_domain():
    assert "at x = 0" not in _refuted(Sign(x**3 - x, ">", domain={x: POSITIVE})).detail
    _refuted(Sign(x, ">=", domain=REAL))
    _refused(Sign(x**2 - 2, "!=", domain={x: Interval(0, 2)}))  # the zero sqrt(2) is no sample point
    assert Sign(x**2 - 2, "!=", domain={x: Interval(0, Rational(7, 5))}).run().ok
    assert Sign(x**3 - x, ">", domain={x: Interval.open(1, oo)}).run().ok
    assert Sign(x**3 - x, "<", domain={x: Interval.open(0, 1)}).run().ok


def test_sign_at_the_ends_of_the_domain():
    assert Sign(x * (1 - x), ">", domain={x: Interval.open(0, 1)}).run().ok
    for interval in (Interval(0, 1), Interval.Lopen(0, 1), Interval.Ropen(0, 1)):
        _refuted(Sign(x * (1 - x), ">", domain={x: interval}))
        assert Sign(x * (1 - x), ">=", domain={x: interval}).run().ok
    _refuted(Sign(x**2, ">", domain=REAL))  # 0 at 0
    assert Sign(x**2, ">=", domain=REAL).run().ok
    assert Sign((x - 1) ** 2, ">=", domain=REAL).run().ok
    _refused(Sign((x - Rational(11, 17)) ** 2, ">", domain={x: POSITIVE}))  # an unseen zero


def test_a_factor_without_a_sign_by_its_coefficients_is_refused_or_refuted():
    _refuted(Sign(x**4 - 3 * x**2 + 2 * x + Rational(1, 10), ">", domain={x: Interval.open(-2, 2)}))
    _refuted(Sign(1000 * x**2 - 2000 * x + 999, ">", domain={x: POSITIVE}))
    # true, yet not by the signs of coefficients
    _refused(Sign(x**2 - 2 * x + 2, ">", domain=REAL))
    _refused(Sign(x**2 + y**2 - 2 * x - 2 * y + 3, ">", domain={x: POSITIVE, y: POSITIVE}))
    assert Sign(x**2 - 2 * x + 2, ">", domain=REAL, cuts={x: (S.One,)}).run().ok
    with pytest.raises(ValueError, match="known"):
        Sign(x, "~", domain=REAL)


def test_same_derivative_but_another_value():
    d = {x: POSITIVE}
    certificate = _refuted(SameDerivative(atan(x) + 1, atan(x), variable=x, at=S.Zero, domain=d))
    assert "values at x = 0 differ" in certificate.detail
    _refuted(SameDerivative(x, atan(x), variable=x, at=S.Zero, domain=d))


def test_same_derivative_with_a_pole_or_a_jump_between():
    complement = {"lhs": atan(x), "rhs": pi / 2 - atan(1 / x), "variable": x, "at": S.One}
    assert SameDerivative(**complement, domain={x: POSITIVE}).run().ok
    assert "x != 0" in _refused(SameDerivative(**complement, domain=REAL)).detail  # false for x < 0
    addition = {"rhs": atan(x) + pi / 4, "variable": x, "at": S.Zero}
    lhs = atan((1 + x) / (1 - x))  # jumps at x = 1
    assert SameDerivative(lhs, **addition, domain={x: Interval.Ropen(0, 1)}).run().ok
    _refused(SameDerivative(lhs, **addition, domain={x: Interval(0, oo)}))


def test_atan2_may_not_meet_its_cut():
    turn = {x: Interval(-1, 1)}
    smooth = SameDerivative(atan2(x, S.One), atan(x), variable=x, at=S.Zero, domain=turn)
    assert smooth.run().ok
    across = SameDerivative(atan2(x, -S.One), pi - atan(x), variable=x, at=S.One / 2, domain=turn)
    assert not across.run().ok
    assert "off the cut" in _refused(Identity(atan2(x, -S.One), atan2(x, -S.One), domain=turn)).detail
    _refused(Identity(atan2(x, y), atan2(x, y), domain={x: Interval(0, 1), y: Interval(0, 1)}))  # (0, 0)
    assert Identity(atan2(x, y), atan2(x, y), domain={x: Interval(0, 1), y: Interval.Lopen(0, 1)}).run().ok


def test_arctan_in_place_of_atan2_is_caught():
    quotient = angle_law.chord_y / angle_law.chord_x
    check = SameDerivative(  # the derivatives agree: only the pole at chord_x = 0 tells them apart
        atan(quotient),
        angle_law.phi,
        variable=angle_law.alpha,
        at=S.Zero,
        domain=angle_law.IN_ALPHA,
        where=angle_law.RATIONAL | angle_law.BETA,
    )
    assert "alpha*cos(theta) - alpha + 1 != 0" in _refused(check).detail


def test_logarithms():
    d = {x: POSITIVE}
    assert SameDerivative(log(x**2) - 2 * log(x), S.Zero, variable=x, at=S.Half, domain=d).run().ok is False
    assert Identity(Derivative(log(x**2), x), Derivative(2 * log(x), x), domain=d).run().ok
    # log(x^2) = 2 log|x| away from 0: nothing here reads |x|, and log(x) is not defined for x < 0
    left = {x: Interval.open(-oo, 0)}
    _refused(SameDerivative(log(x**2), 2 * log(sp.Abs(x)), variable=x, at=-S.One, domain=left))
    _refused(SameDerivative(log(x**2), 2 * log(x), variable=x, at=-S.One, domain=left))
    _refused(Identity(log(x), log(x), domain={x: Interval(0, 1)}))
    _refused(SameDerivative(log(x**2), log(x**2), variable=x, at=S.One, domain=REAL))


def test_above_needs_the_end_the_value_and_the_slope():
    d = {x: POSITIVE}
    assert Above(x, atan(x), variable=x, at=S.Zero, domain=d).run().ok
    _refuted(Above(atan(x), x, variable=x, at=S.Zero, domain=d))
    _refuted(Above(x, atan(x), variable=x, at=S.Zero, domain=REAL))
    _refused(Above(x + 1, atan(x), variable=x, at=S.Zero, domain=d))  # true, but not equal at 0
    _refuted(Above(x, atan(x), variable=x, at=S.Zero, domain={x: Interval(0, 1)}))  # equal at 0
    assert Above(x, atan(x), relation=">=", variable=x, at=S.Zero, domain={x: Interval(0, 1)}).run().ok
    _refuted(Above(x, x**2, variable=x, at=S.Zero, domain=d))
    # from the right end, a falling difference is above
    assert Above(S.One, x, variable=x, at=S.One, domain={x: Interval.Ropen(0, 1)}).run().ok
    _refuted(Above(x, S.One, variable=x, at=S.One, domain={x: Interval.Ropen(0, 1)}))
    with pytest.raises(ValueError, match="known"):
        Above(x, y, relation="!=", variable=x, at=S.Zero, domain=d)


def test_the_derivative_may_not_touch_the_parameter_of_an_integral():
    area = Integral(1 / (1 + y * z**2), (z, 0, x))
    d = {x: POSITIVE, y: POSITIVE, z: Interval(0, oo)}
    _refused(SameDerivative(area, y * area, variable=y, at=S.One, domain=d))


def test_derivatives_against_numbers():
    draw = random.Random(2)
    f = atan2(x * y, 1 + x**2) + exp(x * y) / (1 + x**2) + log(1 + x**2) ** 2 - atan(y * x) + 3 * x**-2
    f += Integral(1 / (1 + y * s**2), (s, 0, x)).xreplace({y: Integer(3)})
    reader = proof._Reader((f,), {x: POSITIVE, y: POSITIVE, s: HALF_LINE}, {}, {})
    slope = reader.slope(reader.read((f,), {})[0], x)
    value = sp.lambdify((x, y), f.doit(), "mpmath")
    for _ in range(5):
        point = {x: sp.QQ(draw.randint(1, 99), 50), y: sp.QQ(draw.randint(1, 99), 50)}
        a, b = (mp.mpf(int(v.numerator)) / int(v.denominator) for v in point.values())
        here = reader._enclose(slope, point).mid
        exact = mp.diff(lambda u, b=b: value(u, b), a)
        assert mp.almosteq(mp.make_mpf(here._mpi_[0]), exact, 1e-20)


def test_nothing_is_closed_by_simplification():
    forbidden = {
        "simplify",
        "nsimplify",
        "trigsimp",
        "radsimp",
        "equals",
        "limit",
        "is_zero",
        "expand_trig",
        "solve",
        "series",
        "doit",
        "evalf",
        "N",
    }
    files = [Path(inspect.getfile(module)) for module in (proof, display, matrices)]
    for file in (*files, *Path(inspect.getfile(statements)).parent.glob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not names & forbidden


# --- rule 7: the numeric code against the statements, at 50 digits ------------------------------------------


def _points(n, seed, high=3.1):
    """Random floats, taken as the exact rationals that they are."""
    rng = np.random.default_rng(seed)
    return [
        (float(a), float(th)) for a, th in zip(rng.uniform(0, 1, n), rng.uniform(0.01, high, n), strict=True)
    ]


def _value(expr, **values):
    """A symbolic formula at numbers, in 50 digits."""
    names = sorted(expr.free_symbols, key=str)
    return sp.lambdify(names, expr, "mpmath")(*(values[str(name)] for name in names))


def _at(alpha, theta):
    a, th = mp.mpf(alpha), mp.mpf(theta)
    return {"alpha": a, "theta": th, "beta": 1 - 2 * a, "t": mp.tan(th / 2)}


def _close(here, exact, ulps=10):
    assert abs(mp.mpf(float(here)) - exact) <= ulps * mp.mpf(2) ** -53 * abs(exact), (here, exact)


def test_retraction_angle_is_the_angle_law():
    for alpha, theta in _points(40, 1):
        at = _at(alpha, theta)
        arccos = mp.acos(_value(angle_law.chord_x, **at) / mp.sqrt(_value(angle_law.chord_squared, **at)))
        for exact in (_value(angle_law.phi_atan2, **at), _value(angle_law.phi, **at), arccos):
            _close(geodesic.retraction_angle(alpha, theta), exact)


def test_arccos_form_loses_the_sign_for_negative_alpha():
    at = _at(-0.75, 1.25)
    arccos = mp.acos(_value(angle_law.chord_x, **at) / mp.sqrt(_value(angle_law.chord_squared, **at)))
    assert mp.almosteq(arccos, -_value(angle_law.phi, **at), 1e-40)
    _close(geodesic.retraction_angle(-0.75, 1.25), -arccos)


def test_gap_is_its_integral():
    for alpha, theta in _points(25, 2):
        at = _at(alpha, theta)
        tangents = _value(triple_zero.gap_tangents, **at)
        _close(geodesic.gap(alpha, theta), tangents)
        _close(geodesic.gap(alpha, theta), _value(triple_zero.gap, **at))
        b = at["beta"]
        integral = mp.quad(lambda s, b=b: s**2 / ((1 + b**2 * s**2) * (1 + s**2)), [0, 1, at["t"]])
        angles = mp.quad(
            lambda u, b=b: mp.sin(u) ** 2 / (mp.cos(u) ** 2 + b**2 * mp.sin(u) ** 2), [0, at["theta"] / 2]
        )
        prefactor = _value(triple_zero.prefactor, **at)
        assert mp.almosteq(prefactor * integral, tangents, 1e-25, 1e-25)
        assert mp.almosteq(prefactor * angles, tangents, 1e-25, 1e-25)


def test_gap_has_the_signs_of_the_triple_zero():
    for alpha, theta in _points(40, 3):
        assert np.sign(geodesic.gap(alpha, theta)) == np.sign(0.5 - alpha)
        for outside, sign in ((-alpha, -1), (1 + alpha, 1)):
            assert mp.sign(_value(triple_zero.gap_tangents, **_at(outside, theta))) == sign
        assert [geodesic.gap(zero, theta) for zero in (0.0, 0.5, 1.0)] == [0, 0, 0]


def test_gap_bounds_and_cubic_gap_are_the_cubic_law():
    for alpha, theta in _points(40, 4):
        at = _at(alpha, theta)
        lower, upper = sorted((_value(cubic_law.lower_bound, **at), _value(cubic_law.upper_bound, **at)))
        bounds = geodesic.gap_bounds(alpha, theta)
        _close(bounds.lower, lower, 40)
        _close(bounds.upper, upper, 40)
        assert lower <= _value(triple_zero.gap_tangents, **at) <= upper
        _close(geodesic.cubic_gap(alpha, theta), _value(cubic_law.cubic_gap, **at))


def test_series_converges_to_the_gap():
    for alpha, theta in _points(4, 5, high=1.5):
        at = _at(alpha, theta)
        exact = _value(triple_zero.gap_tangents, **at)
        errors = [abs(_value(cubic_law.series_gap(k), **at) - exact) for k in (1, 3, 6)]
        radius = mp.sqrt(mp.pi**2 + mp.log((1 - at["alpha"]) / at["alpha"]) ** 2)
        assert errors[-1] < (theta / radius) ** 13
        assert errors[-1] < errors[0]


def test_cumulants_are_those_of_a_bernoulli_variable():
    a = Rational(3, 10)
    generating = sp.log(1 - a + a * sp.exp(z))
    for n in range(1, 10):
        direct = sp.diff(generating, z, n).subs(z, 0)
        assert sp.nsimplify(direct) == cubic_law.cumulant(n).subs(angle_law.alpha, a)
    for n in range(3, 16, 2):
        _, remainder = sp.div(cubic_law.cumulant(n), cubic_law.kappa_3, angle_law.alpha)
        assert remainder == 0
    with pytest.raises(ValueError, match="n is 0"):
        cubic_law.cumulant(0)


def test_amplitude_is_largest_where_the_law_says():
    best = (3 - mp.sqrt(3)) / 6
    value = _value(cubic_law.cubic_gap, alpha=best, theta=mp.mpf(1))
    assert mp.almosteq(value, mp.sqrt(3) / 108, 1e-45)
    assert all(
        abs(_value(cubic_law.cubic_gap, alpha=mp.mpf(k) / 200, theta=mp.mpf(1))) <= value for k in range(201)
    )


def test_max_gap_is_its_closed_form():
    for _, theta in _points(25, 6):
        half, t = mp.mpf(theta) / 2, mp.tan(mp.mpf(theta) / 2)
        q = mp.sqrt(t / half - 1)
        best = _value(triple_zero.max_beta, q=q, t=t)
        found = geodesic.max_gap(theta)
        _close(found.gap, _value(triple_zero.max_gap, q=q))
        _close(found.alpha, (1 - best) / 2)
        # an independent search, and the bounds of its place
        gap = lambda b, t=t: mp.atan(b * t) - b * mp.atan(t)  # noqa: E731
        root = mp.findroot(lambda b, t=t: t / (1 + b**2 * t**2) - mp.atan(t), best * mp.mpf("1.01"))
        assert mp.almosteq(root, best, 1e-20)
        assert all(gap(best) >= gap(mp.mpf(k) / 100) for k in range(101))
        assert 5 / (15 + 4 * t**2) < best**2 < mp.mpf(1) / 3
        assert mp.pi / 2 - 2 / q < gap(best) < mp.pi / 2


def test_matching_alpha_is_the_matched_step():
    for fraction, theta in _points(40, 7):
        exact = _value(angle_law.matching_alpha, f=mp.mpf(fraction), theta=mp.mpf(theta))
        _close(geodesic.matching_alpha(fraction, theta), exact)
        assert mp.almosteq(_value(angle_law.phi_atan2, **_at(exact, theta)), fraction * mp.mpf(theta), 1e-40)


def test_matched_step_beyond_the_unit_interval():
    theta = mp.mpf("1.9")
    for fraction in (mp.mpf("-0.3"), mp.mpf("1.3")):
        assert abs(1 - 2 * fraction) * theta < mp.pi
        alpha = _value(angle_law.matching_alpha, f=fraction, theta=theta)
        assert mp.almosteq(_value(angle_law.phi_atan2, **_at(alpha, theta)), fraction * theta, 1e-40)


def test_contract_is_the_contraction():
    for alpha, theta in _points(25, 8):
        at = _at(alpha, theta)
        left = at["theta"] - _value(angle_law.phi_atan2, **at)
        _close(geodesic.contract(theta, alpha, 1)[..., 1], left)
        assert mp.almosteq(mp.cot(left), _value(contraction.remaining_cotangent, **at), 1e-40)
        deviation = left / at["theta"] - (1 - at["alpha"])
        assert mp.sign(deviation) == mp.sign(0.5 - alpha)
        if theta <= mp.pi / 2:
            a = at["alpha"]
            assert abs(deviation) <= mp.mpf(4) / 3 * abs(a * (1 - a) * (1 - 2 * a)) * at["theta"] ** 2


def test_repeated_steps():
    angles = geodesic.contract(3.0, 0.5, 20)
    np.testing.assert_array_equal(angles, 3.0 / 2.0 ** np.arange(21))
    for alpha in (0.1, 0.3, 0.8):
        angles = geodesic.contract(3.0, alpha, 200)
        growth = np.arange(201) * alpha / (1 - alpha)
        seen = angles > 1e-12
        assert np.all(1 / np.tan(angles[seen]) >= (1 / np.tan(3.0) + growth[seen]) * (1 - 1e-12) - 1e-9)
        assert angles[60] / angles[59] == pytest.approx(1 - alpha, rel=1e-4, abs=0)
