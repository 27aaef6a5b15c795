"""Every closed-form number lies in a ball that proves its digits; the inequalities hold on every box."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from ngeodesic import ledger, statements

pytest.importorskip("flint", reason="python-flint is in the proofs extra")

from flint import arb, ctx, fmpq

from ngeodesic import enclosures
from ngeodesic.enclosures import Enclosed, Positive, certify, decide

mp = ledger.mp
CLAIMS = ledger.load()
ENCLOSED = certify(CLAIMS)
PROOFS = enclosures.prove()
CLOSED = [e for e in ENCLOSED if e.ball is not None]
VALUES = [e for e in CLOSED if e.claim.kind == "value"]

closed = pytest.mark.parametrize("enclosed", CLOSED, ids=lambda e: e.claim.id)
values = pytest.mark.parametrize("enclosed", VALUES, ids=lambda e: e.claim.id)
proofs = pytest.mark.parametrize("proved", PROOFS, ids=lambda p: p.inequality.label)

UNIT = ((fmpq(0), fmpq(1)),)


def enclose(expression: str, **changes: str) -> Enclosed:
    (enclosed,) = certify([replace(CLAIMS[0], enclosure=expression, **changes)])
    return enclosed


def positive(function, box=UNIT, order=0) -> Positive:
    return Positive(function, box, ("x", "y")[: len(box)], order)


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


# --- the numbers --------------------------------------------------------------------------------------------


def test_every_claim_is_certified_or_says_why_not():
    assert ENCLOSED.ok
    assert {e.verdict for e in ENCLOSED} == {"certified", "not applicable"}


def test_only_what_is_drawn_or_zero_or_a_maximum_has_no_ball():
    for e in ENCLOSED:
        if e.ball is None:
            drawn = any(word in e.claim.call for word in ("sample_step", "drawn_norms", "spel_run"))
            zero = float(e.claim.expected) == 0 or e.claim.independent == "0 * mp.one"
            assert drawn or zero or "np.max" in e.claim.call, e.claim.id


@values
def test_all_printed_digits_are_certified(enclosed):
    assert enclosed.digits == len(Decimal(enclosed.claim.expected).as_tuple().digits)
    assert enclosed.rounds_to(enclosed.claim.expected)


@values
def test_all_digits_of_the_results_page_are_certified(enclosed):
    (result,) = ledger.reproduce([enclosed.claim])
    assert enclosed.rounds_to(result.shown), (result.shown, enclosed.shown)


@values
def test_the_ball_agrees_with_mpmath(enclosed):
    (result,) = ledger.reproduce([enclosed.claim])
    assert enclosed.high - enclosed.low < Fraction("1e-40")
    assert abs(result.independent - enclosed.low) <= Fraction(enclosed.claim.accuracy) + Fraction("1e-14")


def test_famous_constants():
    # typed from other sources: sqrt(3), pi and arctan(1/2) to 40 digits
    for expression, digits in {
        "sqrt(3)": "1.732050807568877293527446341505872366943",
        "pi": "3.141592653589793238462643383279502884197",
        "atan(1/2)": "0.4636476090008061162142562314612144020285",
    }.items():
        assert enclose(expression).rounds_to(digits)


@pytest.mark.parametrize("ratio", ["0.000001", "0.25", "0.8", "0.985"])
def test_the_double_integral_is_within_its_error_bound(ratio):
    with ctx.workprec(200):
        exact = arb(mp.nstr(ledger.exact_gaussian_defect(ratio, 160), 40))
    for bits in (60, 75, 90):
        with ctx.workprec(bits):
            ball = enclosures.gaussian_defect(arb(ratio))
        assert ball.contains(exact)
        assert ball.rad() < arb("1e-11")


@pytest.mark.parametrize("rate", ["1e-3", "0.5", "7", "1e6"])
def test_the_bounds_behind_the_midpoint_rule(rate):
    rate = mp.mpf(rate)
    x0 = (1 - rate + mp.sqrt((1 - rate) ** 2 + 2 * rate)) / rate
    x1, s = 2 / (rate * x0), mp.acosh(1 + 1 / (2 * x0)) / 2
    assert 1 < x1 < 2
    for k in range(41):
        x = x0 * mp.sin(mp.mpc(k * mp.pi / 40, s)) ** 2
        assert x.real > mp.mpf("-0.2500001")
        assert max(abs(x / (2 + x)), abs(x / (1 + x)), abs((1 + x) / (x + x1))) < 1
        assert abs(mp.arg(1 + x) + mp.arg(2 + x) - mp.arg(x + x1)) < mp.pi
        assert abs(2 + x) <= x0 + mp.mpf(9) / 4 + mp.mpf("1e-9")


# --- wrong numbers ------------------------------------------------------------------------------------------


@closed
@pytest.mark.parametrize("direction", [1, -1])
def test_one_unit_in_the_last_digit_is_refuted(enclosed, direction):
    if enclosed.claim.kind == "bound":
        wrong = "-1e-30"  # no bound of a number that is not negative
    else:
        number = Decimal(enclosed.claim.expected)
        wrong = str(number + direction * Decimal(f"1e{number.as_tuple().exponent}"))
    other = replace(enclosed, claim=replace(enclosed.claim, expected=wrong))
    assert (other.verdict, other.digits, other.ok) == ("refuted", 0, False)


@values
def test_a_slightly_wrong_expression_is_refuted(enclosed):
    claim = enclosed.claim
    other = enclose(f"({claim.enclosure}) + 2 * {claim.allowed or '1e-30'}", **_expected(claim))
    assert other.verdict == "refuted"


def _expected(claim: ledger.Claim) -> dict[str, str]:
    return {k: getattr(claim, k) for k in ("expected", "kind", "tolerance", "tolerance_reason")}


@closed
def test_a_ball_that_is_too_wide_decides_nothing(enclosed):
    lower = Fraction(enclosed.claim.expected) - 1
    wide = arb(float(lower), 2) if enclosed.claim.kind == "bound" else arb(enclosed.claim.expected, 1)
    assert replace(enclosed, ball=wide).verdict == "undecided"
    assert replace(enclosed, ball=wide).digits == 0


def test_few_bits_certify_few_digits():
    few = {e.claim.id: e.verdict for e in certify(CLAIMS, bits=24)}
    assert few["max-gap-90"] == "certified"
    assert few["max-gap-90-sharp"] == "undecided"
    assert "refuted" not in few.values()


@pytest.mark.parametrize("expression", ["sqrt(-1)", "1 / (pi - pi)", "tan(pi / 2)"])
def test_what_is_not_finite_decides_nothing(expression):
    enclosed = enclose(expression)
    assert (enclosed.verdict, enclosed.shown) == ("undecided", "no finite ball")


def test_a_claim_without_a_ball_and_a_reason_is_missing():
    (enclosed,) = found = certify([replace(CLAIMS[0], enclosure="")])
    assert (enclosed.verdict, found.ok) == ("missing", False)


# --- the expressions ----------------------------------------------------------------------------------------


def test_numbers_are_the_decimals_that_are_written():
    for expression, number in {"0.1": "1/10", "1/3": "1/3", "1e-6": "1/1000000", "2**-3": "1/8"}.items():
        enclosed = enclose(expression)
        assert enclosed.low <= Fraction(number) <= enclosed.high
        assert enclosed.high - enclosed.low < Fraction("1e-60")


def test_the_maximum_of_balls_that_overlap_contains_both():
    wide, narrow = arb(0, 2), arb(1)
    assert enclosures._max(narrow, wide).contains(wide.max(narrow).upper())
    assert enclosures._max([arb(0), arb(-1, "0.5")]) == 0


@pytest.mark.parametrize(
    "expression", ["undefined", "1 +", "'a'", "1j", "None", "pi > 3", "range(3)", "abs", "range(pi)"]
)
def test_an_expression_that_fails_is_named(expression):
    with pytest.raises(ledger.LedgerError, match=f"^claim '{CLAIMS[0].id}': enclosure: "):
        enclose(expression)


def test_the_ledger_takes_a_ball_or_a_reason(tmp_path):
    path = tmp_path / "claims.yml"
    text = ledger.CLAIMS_FILE.read_text(encoding="utf-8")
    path.write_text(text.replace("  enclosure:", "  no_enclosure: because\n  enclosure:", 1))
    with pytest.raises(ledger.LedgerError, match=r"^claim 'angle-law-quarter': no_enclosure: "):
        ledger.load(path)


def test_the_precision_of_others_is_left_alone():
    before = ctx.prec
    certify(CLAIMS[:1])
    enclosures.prove("ng-max-gap")
    assert ctx.prec == before


# --- the inequalities ---------------------------------------------------------------------------------------


@proofs
def test_an_inequality_is_proved_and_its_twin_refuted(proved):
    assert (proved.verdict, proved.twin.verdict) == ("proved", "refuted")
    assert proved.ok


@proofs
def test_the_counterexample_of_a_twin_is_one(proved):
    twin = proved.inequality.twin
    values = [arb(low + (high - low) / 3) for low, high in proved.twin.where]
    assert twin.function(*values) < 0
    for (low, high), (start, stop) in zip(proved.twin.where, twin.box, strict=True):
        assert start <= low <= high <= stop


@proofs
def test_the_statements_exist(proved):
    assert proved.inequality.statement in statements.ALL
    assert proved.inequality.says.endswith(".")


def test_the_proofs_are_quick_and_do_not_depend_on_the_precision(monkeypatch):
    assert sum(p.check.boxes for p in PROOFS) < 20_000
    with ctx.workprec(8):  # that of others
        assert enclosures.prove("ng-max-gap").ok
    monkeypatch.setattr(enclosures, "_BOX_BITS", 113)
    assert enclosures.prove() == PROOFS


# what the words of the inequalities say, at points, with the note's arccos form at 50 digits
POINTS = [(a, d) for a in ("0.01", "0.2", "0.4999") for d in ("0.03", "1", "2", "3.1")]


@pytest.mark.parametrize(("alpha", "theta"), POINTS)
def test_the_gap_and_its_bounds_in_two_angles(alpha, theta):
    gap, x = ledger.exact_gap(alpha, theta), mp.mpf(theta) / 2
    beta, t = 1 - 2 * mp.mpf(alpha), mp.tan(x)
    v = x - ledger.exact_phi(alpha, theta)
    near = {"rel_eps": mp.mpf("1e-38"), "abs_eps": mp.mpf(0)}
    assert 0 < v < x
    assert mp.almosteq(gap, mp.tan(v) * (v * mp.cot(v) - x * mp.cot(x)), **near)
    upper = beta * (1 - beta**2) * t**3
    assert mp.almosteq(upper, mp.tan(v) * (mp.tan(x) ** 2 - mp.tan(v) ** 2), **near)
    lower = upper / ((1 + t**2) * (1 + beta**2 * t**2))
    assert mp.almosteq(lower, mp.tan(v) * (mp.sin(x) ** 2 - mp.sin(v) ** 2), **near)


def at(label: str, x: str) -> object:
    (proved,) = (p for p in PROOFS if p.inequality.label == label)
    with ctx.workprec(170):
        return mp.mpf(proved.inequality.check.function(arb(x)).str(40, radius=False))


@pytest.mark.parametrize("x", ["0.1", "0.7", "1.2", "1.56"])
def test_the_functions_are_the_derivatives_that_the_words_name(x):
    y = mp.mpf(x)
    sin, cos = mp.sin(y), mp.cos(y)
    near = {"rel_eps": mp.mpf("1e-15"), "abs_eps": mp.mpf(0)}
    falls = mp.diff(lambda z: z * mp.cot(z), y)
    assert mp.almosteq(at("lags-everywhere", x), -falls * sin**2, **near)
    assert mp.almosteq(at("grows", x), mp.diff(lambda z: mp.tan(z) / z, y) * (y * cos) ** 2, **near)
    rises = mp.diff(lambda z: z * mp.cot(z) + mp.tan(z) ** 2 / 3, y)
    assert mp.almosteq(at("upper-everywhere", x), rises * sin**2 * cos**3, **near)
    falls = mp.diff(lambda z: z * mp.cot(z) + mp.sin(z) ** 2 / 3, y)
    assert mp.almosteq(at("lower-everywhere", x), -falls * sin**2, **near)
    beta_squared = (mp.tan(y) / y - 1) / mp.tan(y) ** 2
    assert mp.almosteq(at("place", x), (mp.mpf(1) / 3 - beta_squared) * y * sin**2, **near)


def test_the_angles_go_up_to_a_right_one():
    for p in PROOFS:
        ((low, high), *others) = p.inequality.check.box
        if not others:
            assert low == 0
            assert arb(high) > arb.pi() / 2


@pytest.mark.parametrize("alpha", ["0.1", "0.45"])
@pytest.mark.parametrize("theta", ["0.8", "2.9"])
def test_the_compact_forms_are_the_gap_and_the_angle_left(alpha, theta):
    gap = float(ledger.exact_gap(alpha, theta))
    assert float(enclosures._lag(arb(alpha), arb(theta))) == pytest.approx(gap, rel=1e-12, abs=0)
    assert float(enclosures._excess(arb(alpha), arb(theta))) == pytest.approx(gap, rel=1e-12, abs=0)


# --- what the boxes must not prove --------------------------------------------------------------------------


def test_a_dip_between_the_points_is_not_overlooked():
    for depth in (fmpq(1, 10**6), fmpq(1, 10**15)):
        found = decide(positive(lambda x, depth=depth: (x - fmpq(1, 3)) ** 2 - depth))
        assert found.verdict == "refuted"


def test_a_touching_zero_stays_undecided_and_is_shown():
    found = decide(positive(lambda x: (x - fmpq(1, 3)) ** 2), budget=50)
    assert (found.verdict, found.boxes) == ("undecided", 50)
    ((low, high),) = found.where
    assert fmpq(33, 100) < low < high < fmpq(34, 100)


def test_a_pole_is_not_positive():
    across = ((fmpq(-1), fmpq(2)),)
    assert decide(positive(lambda x: 1 / x**2, across), budget=500).verdict == "undecided"
    assert decide(positive(lambda x: 1 / x, across), budget=500).verdict == "refuted"


def test_the_budget_is_kept():
    found = decide(PROOFS[0].inequality.check, budget=10)
    assert (found.verdict, found.boxes) == ("undecided", 10)
    proved = enclosures.Proved(PROOFS[0].inequality, found, PROOFS[0].twin)
    assert not proved.ok
    assert proved.verdict.startswith("undecided at 5/32 <= alpha <= 1/4, ")


def test_in_two_variables():
    square = ((fmpq(0), fmpq(1)), (fmpq(0), fmpq(1)))
    assert decide(positive(lambda x, y: 1 + x * x - x * y, square)).verdict == "proved"
    assert decide(positive(lambda x, y: x * x + y - 2 * x * y + fmpq(-1, 10), square)).verdict == "refuted"


def test_a_zero_at_the_edge_needs_its_order():
    assert decide(positive(lambda x: x - x.sin()), budget=500).verdict == "undecided"
    assert decide(positive(lambda x: x - x.sin(), order=3)).verdict == "proved"
    assert decide(positive(lambda x: x.sin() - x, order=3)).verdict == "refuted"
    with pytest.raises(ValueError, match=r"^claim: .* no zero of order 5"):
        decide(positive(lambda x: x - x.sin(), order=5))


def test_an_unknown_statement():
    with pytest.raises(ValueError, match="ng-max-gap"):
        enclosures.prove("ng-unknown")
    assert enclosures.prove("ng-bisector") == ()


# --- independence, and what a user without the extra sees ---------------------------------------------------


def test_the_proofs_run_without_sympy_and_mpmath():
    code = "import sys\nfor name in ('sympy', 'mpmath', 'numpy', 'yaml'): sys.modules[name] = None\n"
    done = python(code + "from ngeodesic import enclosures\nassert enclosures.prove().ok")
    assert (done.returncode, done.stderr) == (0, "")


def test_without_python_flint_the_extra_is_named():
    done = python("import sys; sys.modules['flint'] = None; import ngeodesic.enclosures")
    assert done.returncode == 1
    assert 'ImportError: the enclosures need python-flint: pip install "ngeodesic-companion[proofs]"' in (
        done.stderr
    )


# --- the tables ---------------------------------------------------------------------------------------------


def test_the_plain_tables():
    for table, count in ((ENCLOSED, len(CLAIMS)), (PROOFS, len(enclosures.INEQUALITIES))):
        head, rule, *lines = str(table).splitlines()
        assert set(rule) == {"-", " "}
        assert all(line[head.index("verdict") :].strip() for line in lines[:count])
        assert lines[-1] == table.summary
        assert repr(table) == str(table)
    assert (
        ENCLOSED.summary
        == f"{len(CLOSED)} of {len(CLOSED)} enclosed numbers certified; 27 claims not applicable"
    )


def test_the_tables_of_a_notebook():
    wild = replace(CLAIMS[0], says="a < b & c.", unit="<b>")
    for table, count in ((certify([wild, *CLAIMS]), len(CLAIMS) + 1), (PROOFS, len(PROOFS))):
        root = ET.fromstring(f"<div>{table._repr_html_()}</div>")
        assert len(root.findall(".//tbody/tr")) == count
        assert len(root.findall(".//thead/tr/th")) == 4
        assert root.find(".//p").text == table.summary + "."


def test_the_tables_are_the_same_on_every_run():
    assert certify(CLAIMS)._repr_html_() == ENCLOSED._repr_html_()
    assert str(enclosures.prove()) == str(PROOFS)


def test_the_ends_that_are_shown_contain_the_number():
    for e in CLOSED:
        if " to " in e.shown:
            low, high = map(Fraction, e.shown.split(" to "))
            assert low <= e.low <= e.high <= high, e.claim.id
            assert high - low <= Fraction("1e-15"), e.claim.id


def test_a_bound_that_is_exceeded_shows_by_how_much():
    enclosed = enclose("2", expected="1", kind="bound")
    assert (enclosed.verdict, enclosed.shown) == ("refuted", "2")
    assert enclose("1/2", expected="1", kind="bound").shown == "at most 1"


def test_a_failure_is_shown():
    (wrong,) = table = certify([replace(CLAIMS[0], expected="18.5")])
    assert (wrong.verdict, table.ok) == ("refuted", False)
    assert "refuted" in str(table)
    assert "refuted" in table._repr_html_()
    assert wrong.digits == 0
