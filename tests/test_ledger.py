"""The ledger is complete, each claim is reproduced by two routes, a wrong number or function is noticed."""

from __future__ import annotations

import ast
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from decimal import Decimal

import mpmath
import numpy as np
import pytest

from ngeodesic import geodesic, ledger, offplane, statements

CLAIMS = ledger.load()
RESULTS = ledger.reproduce(CLAIMS)

# design.md section 6, as the note prints it: claim id -> number, unit
NOTE = {
    "bisector-identity": ("4e-14", "deg"),
    "cubic-ratio-40-20": ("8.15", "1"),
    "cubic-ratio-20-10": ("8.04", "1"),
    "cubic-ratio-10-5": ("8.01", "1"),
    "max-gap-45": ("0.46", "deg"),
    "max-gap-90": ("4.07", "deg"),
    "max-gap-135": ("17.0", "deg"),
    "max-gap-170": ("49.6", "deg"),
    "contraction-0.1": ("0.9", "1"),
    "contraction-0.3": ("0.7", "1"),
    "contraction-0.5": ("0.5", "1"),
    "contraction-0.7": ("0.3", "1"),
    "contraction-0.9": ("0.1", "1"),
    "triple-zero-exact": ("0", "deg"),
    "triple-zero-odd": ("0", "deg"),
    "bisector-halving": ("0", "1"),
    "off-plane-draw-1": ("0.18", "1"),
    "off-plane-draw-2": ("0.18", "1"),
    "off-plane-draw-3": ("0.20", "1"),
    "off-plane-scalar": ("1e-15", "1"),
}
# design.md section 4, ng-max-gap, ng-cubic-law and ng-off-plane
SHARP = {
    "max-gap-45-sharp": "0.459407542151",
    "max-gap-90-sharp": "4.074568596223",
    "max-gap-135-sharp": "17.048924829156",
    "max-gap-170-sharp": "49.627777877031",
    "max-gap-45-alpha": "0.217459193",
    "max-gap-90-alpha": "0.238638400",
    "max-gap-135-alpha": "0.287854698",
    "max-gap-170-alpha": "0.386731468",
    "cubic-limit": "0.016037507477",
    "cubic-limit-alpha": "0.211324865405",
    "off-plane-seed-0": "0.1762",
    "off-plane-seed-1": "0.1797",
    "off-plane-seed-42": "0.2021",
    "off-plane-law": "0.182574",
    "off-plane-mean": "0.182",
    "off-plane-std": "0.0083",
    "off-plane-95-low": "0.166",
    "off-plane-95-high": "0.199",
}

claims = pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.id)
GOOD = {
    "id": "x",
    "statement": "ng-max-gap",
    "says": "A sentence.",
    "expected": "0.46",
    "unit": "deg",
    "kind": "value",
    "source": "note",
    "place": "somewhere",
    "call": "degrees(max_gap(radians(45)).gap)",
    "independent": "mp.degrees(exact_peak(mp.radians(45))[0])",
    "independent_says": "search",
    "accuracy": "1e-13",
}


def verdict(claim: ledger.Claim) -> str:
    return ledger.reproduce([claim])[0].verdict


def write(tmp_path, *entries):
    path = tmp_path / "claims.yml"
    path.write_text(json.dumps(entries))  # JSON is YAML
    return path


# --- complete -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("result", RESULTS, ids=lambda r: r.claim.id)
def test_every_claim_is_reproduced(result):
    assert result.verdict == "reproduced", result.why


def test_every_statement_has_claims_and_every_claim_a_statement():
    assert {c.statement for c in CLAIMS} == set(statements.ALL)


def test_every_number_of_the_note_is_there():
    found = {c.id: (c.expected, c.unit) for c in CLAIMS if c.source == "note"}
    assert found == NOTE


def test_the_sharper_numbers_are_there():
    found = {c.id: c.expected for c in CLAIMS}
    assert {i: found[i] for i in SHARP} == SHARP


@claims
def test_a_claim_is_a_sentence_with_a_place(claim):
    assert claim.says.endswith(".")
    assert claim.place
    assert claim.reason


@claims
def test_the_second_route_shares_nothing_with_the_first(claim):
    names = {node.id for node in ast.walk(ast.parse(claim.independent)) if isinstance(node, ast.Name)}
    assert not names & ({"np", "drawn_norms"} | set(geodesic.__all__) | set(offplane.__all__))
    assert claim.independent != claim.call


def test_the_second_route_is_computed_at_50_digits_and_leaves_mpmath_alone():
    before = mpmath.mp.dps
    third = ledger.exact_phi("0.5", 1) - ledger.mp.mpf(1) / 2
    assert abs(third) < ledger.mp.mpf("1e-48")
    assert mpmath.mp.dps == before


def test_one_statement_at_a_time():
    some = ledger.reproduce(statement="ng-bisector")
    assert {r.claim.statement for r in some} == {"ng-bisector"}
    assert some.ok
    with pytest.raises(ValueError, match="ng-bisector"):
        ledger.reproduce(statement="ng-unknown")


# --- a wrong number, a wrong function, a wrong second route -------------------------------------------------


@claims
@pytest.mark.parametrize("direction", [1, -1])
def test_one_unit_in_the_last_digit_is_a_miss(claim, direction):
    if claim.kind == "bound":
        # a bound is wrong as soon as it is below what we find
        here = ledger.reproduce([claim])[0].here
        wrong = str(Decimal(here) - Decimal("1e-30"))
    else:
        number = Decimal(claim.expected)
        wrong = str(number + direction * Decimal(f"1e{number.as_tuple().exponent}"))
    assert verdict(replace(claim, expected=wrong)) == "missed"


@claims
def test_a_slightly_wrong_call_is_a_miss(claim):
    # too small to be seen in 0.46: it is the second route that notices
    result = ledger.reproduce([replace(claim, call=f"({claim.call}) * (1 + 1e-8) + 1e-8")])[0]
    assert result.verdict == "missed"
    assert result.why


@claims
def test_a_wrong_second_route_is_a_miss(claim):
    result = ledger.reproduce([replace(claim, independent=f"({claim.independent}) + mp.mpf('1e-8')")])[0]
    assert (result.found, result.agree, result.verdict) == (True, False, "missed")
    assert claim.independent_says in result.why


def test_the_scalar_control_can_fail():
    # off_plane_norm gives 0 for equal alphas by construction; the second route finds alphas that differ
    claim = next(c for c in CLAIMS if c.id == "off-plane-scalar")
    uneven = claim.independent.replace("'0'", "'1e-14'")
    assert uneven != claim.independent
    assert verdict(replace(claim, independent=uneven)) == "missed"


FUNCTIONS = [
    (module, name)
    for module in (geodesic, offplane)
    for name in module.__all__
    if name.islower() and name != "slerp"
]


@pytest.mark.parametrize(("module", "name"), FUNCTIONS, ids=[name for _, name in FUNCTIONS])
def test_a_wrong_function_is_noticed(module, name, monkeypatch):
    right = getattr(module, name)

    def wrong(*args, **kwargs):
        result = right(*args, **kwargs)
        if name == "sample_step":
            return (*result[:2], result[2] * (1 + 1e-6))
        if isinstance(result, tuple):
            shifted = [x + 1e-6 for x in result]
            return type(result)(*shifted) if hasattr(result, "_fields") else tuple(shifted)
        if name == "retract":
            return result + 1e-6 * np.eye(result.shape[-1])[0]
        return result + 1e-6

    monkeypatch.setattr(module, name, wrong)
    assert not ledger.reproduce(CLAIMS).ok


# --- the tolerance is a rule --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "allowed"), [("17.0", "0.05"), ("8", "0.5"), ("0.238638400", "5e-10"), ("-1.5e-3", "5e-5")]
)
def test_half_a_unit_of_the_last_printed_digit(printed, allowed):
    claim = ledger.Claim(**GOOD | {"expected": printed})
    assert claim.allowed == Decimal(allowed)
    assert claim.reason == "half a unit of the last printed digit"


def test_a_stated_tolerance_replaces_the_rule():
    claim = ledger.Claim(**GOOD | {"tolerance": "2e-8", "tolerance_reason": "because"})
    assert (claim.allowed, claim.reason) == (Decimal("2e-8"), "because")
    assert verdict(claim) == "missed"


def test_a_bound_may_not_be_exceeded():
    claim = ledger.Claim(**GOOD | {"kind": "bound"})
    assert verdict(claim) == "reproduced"
    assert verdict(replace(claim, expected="0.45")) == "missed"


# --- a broken ledger ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "key", "message"),
    [
        ({"expected": 0.46}, "expected", "quote"),
        ({"expected": "about 0.46"}, "expected", "finite number"),
        ({"expected": "nan"}, "expected", "finite number"),
        ({"accuracy": "small"}, "accuracy", "finite number"),
        ({"says": ""}, "says", "expected text"),
        ({"place": None}, "place", "expected text"),
        ({"statement": "ng-unknown"}, "statement", "ng-max-gap"),
        ({"source": "memory"}, "source", "note, book"),
        ({"kind": "guess"}, "kind", "value, bound"),
        ({"colour": "red"}, "colour", "unknown key"),
        ({"tolerance": "1"}, "tolerance_reason", "goes with"),
        ({"tolerance_reason": "because"}, "tolerance_reason", "goes with"),
        ({"kind": "bound", "tolerance": "1", "tolerance_reason": "because"}, "tolerance", "a bound has none"),
    ],
)
def test_a_wrong_key_is_named(tmp_path, change, key, message):
    with pytest.raises(ledger.LedgerError, match=f"^claim 'x': {key}: .*{message}"):
        ledger.load(write(tmp_path, GOOD | change))


@pytest.mark.parametrize("key", [k for k in GOOD if k != "id"])
def test_a_missing_key_is_named(tmp_path, key):
    with pytest.raises(ledger.LedgerError, match=f"^claim 'x': {key}: missing"):
        ledger.load(write(tmp_path, {k: v for k, v in GOOD.items() if k != key}))


def test_a_claim_without_id_is_counted(tmp_path):
    with pytest.raises(ledger.LedgerError, match=r"^claim number 2: id: missing"):
        ledger.load(write(tmp_path, GOOD, {k: v for k, v in GOOD.items() if k != "id"}))
    with pytest.raises(ledger.LedgerError, match=r"^claim number 1: expected keys"):
        ledger.load(write(tmp_path, "0.46"))


def test_what_is_given_twice_is_named(tmp_path):
    with pytest.raises(ledger.LedgerError, match=r"^claim 'x': id: given twice"):
        ledger.load(write(tmp_path, GOOD, GOOD))
    path = write(tmp_path, GOOD)
    path.write_text(path.read_text().replace('"expected": "0.46"', '"expected": "0.46", "expected": "0.47"'))
    with pytest.raises(ledger.LedgerError, match=r"^claim 'x': expected: given twice"):
        ledger.load(path)


def test_a_file_that_is_not_a_list_of_claims(tmp_path):
    path = tmp_path / "claims.yml"
    for text, message in (("a: 1", "list of claims"), ("- [", "not valid YAML"), ("", "list of claims")):
        path.write_text(text)
        with pytest.raises(ledger.LedgerError, match=message):
            ledger.load(path)


@pytest.mark.parametrize("key", ["call", "independent"])
@pytest.mark.parametrize(
    "expression", ["undefined", "1 +", "1 / 0", "range(3)", "1j", "__import__('os')", "'a'"]
)
def test_an_expression_that_fails_is_named(key, expression):
    claim = ledger.Claim(**GOOD | {key: expression})
    with pytest.raises(ledger.LedgerError, match=f"^claim 'x': {key}: "):
        ledger.reproduce([claim])


def test_arrays_are_not_numbers():
    with pytest.raises(ledger.LedgerError, match=r"claim 'x': call: .*shape \(2,\)"):
        ledger.reproduce([ledger.Claim(**GOOD | {"call": "np.ones(2)"})])


@pytest.mark.parametrize("value", ["np.nan", "np.inf", "-np.inf"])
def test_what_is_not_finite_is_a_miss_and_null(value):
    result = ledger.reproduce([ledger.Claim(**GOOD | {"call": value, "kind": "bound"})])[0]
    assert result.verdict == "missed"
    assert json.loads(json.dumps(result.record(), allow_nan=False))["here"] is None


# --- the tables ---------------------------------------------------------------------------------------------


def test_the_tables_do_not_change_between_machines():
    for r in RESULTS:
        c = r.claim
        shown, printed = (len(re.sub(r"e.*|\D", "", text).lstrip("0")) for text in (r.shown, c.expected))
        assert shown <= max(10, printed)
        if c.kind == "value":
            # wherever the number lies within its error bound, it prints the same
            ends = [ledger.mp.mpf(r.independent) + s * ledger.mp.mpf(c.accuracy) for s in (-1, 1)]
            assert {replace(r, here=float(end)).shown for end in ends} == {r.shown}, c.id
        else:
            assert r.shown in ("0", f"at most {c.expected}")


def test_the_plain_table():
    text = str(RESULTS)
    head, rule, *rows = text.splitlines()
    assert head.split() == ["claim", "stated", "here", "error", "bound", "verdict"]
    assert set(rule) == {"-", " "}
    assert len(rows) == len(CLAIMS) + 1
    assert rows[-1].startswith(f"{len(CLAIMS)} of {len(CLAIMS)} claims reproduced (")
    assert {row.index("reproduced") for row in rows[:-1]} == {head.index("verdict")}
    assert repr(RESULTS) == text


def test_the_table_of_a_notebook():
    wild = replace(CLAIMS[0], says="a < b & c.", unit="<b>")
    root = ET.fromstring(f"<div>{ledger.Results(ledger.reproduce([wild, *CLAIMS]))._repr_html_()}</div>")
    assert len(root.findall(".//tbody/tr")) == len(CLAIMS) + 1
    assert [th.text for th in root.findall(".//thead/tr/th")] == ["Claim", "Stated", "Here", "Verdict"]
    assert {td.get("data-label") for td in root.findall(".//td")} == {None, "Stated", "Here", "Verdict"}
    assert root.find(".//tbody/tr/td").text == "a < b & c. "
    assert not [e for e in root.iter() if "style" in e.attrib]


def test_the_summary_counts_the_claims_of_the_sources_where_there_are_any():
    book = [c for c in CLAIMS if c.source == "book"][:2]
    note = next(c for c in CLAIMS if c.source == "note")
    assert ledger.reproduce(book).summary == "2 of 2 claims reproduced"
    assert ledger.reproduce([*book, note]).summary == "3 of 3 claims reproduced (1 of 1 from the sources)"
    assert "0 of 0" not in str(ledger.reproduce(book)) + ledger.reproduce(book)._repr_html_()


def test_a_miss_is_shown_with_its_reason():
    results = ledger.reproduce([replace(CLAIMS[0], expected="18.5")])
    assert not results.ok
    assert "0 of 1 claims reproduced" in str(results)
    assert "not within 0.05 of 18.5" in str(results)
    assert "missed" in results._repr_html_()
