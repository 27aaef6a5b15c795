"""Each statement is checked by the three kernels or says why not; nothing dangles; the book shows what is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("flint", reason="python-flint is in the proofs extra")

from click.testing import CliRunner

from ngeodesic import cli, enclosures, kernels, ledger, proof, statements
from ngeodesic.kernels import NOT_CHECKED, KernelError

ROOT = Path(__file__).parent.parent
ALL = kernels.check_all()
checks = pytest.mark.parametrize("checks", ALL, ids=lambda c: c.statement.id)


# --- what is checked ----------------------------------------------------------------------------------------


def test_every_statement_is_checked_and_nothing_dangles():
    assert kernels.faults() == []
    assert [c.statement.id for c in ALL] == list(statements.ALL)
    assert ALL.ok


@checks
def test_a_kernel_checks_a_statement_or_says_why_not(checks):
    assert checks.kernels[0] == "SymPy"
    for kernel in kernels.KERNELS:
        assert kernel in checks.kernels or NOT_CHECKED[kernel][checks.statement.id]
        assert checks.says[kernel]


def test_the_counts_are_those_of_the_three_sources():
    theorems = [t.name for found in kernels.coq_theorems().values() for t in found]
    assert [t.name for c in ALL for t in c.theorems] == theorems
    certified = [e.claim.id for e in enclosures.certify() if e.verdict == "certified"]
    assert sorted(e.claim.id for c in ALL for e in c.certified) == sorted(certified)
    labels = [i.label for i in enclosures.INEQUALITIES]
    assert [p.inequality.label for c in ALL for p in c.inequalities] == labels
    for words in (f"{len(theorems)} theorems", f"{len(certified)} numbers", f"{len(labels)} inequalities"):
        assert words in ALL.summary


def test_one_statement():
    checks = kernels.check("ng-bisector")
    assert checks.says == {"SymPy": "5 steps", "Coq": "2 theorems", "Arb": "3 numbers"}
    assert checks.leaves == {"SymPy": "", "Coq": "", "Arb": ""}
    assert checks.record()["Coq"]["theorems"][0]["name"] == "ng_bisector"
    assert checks.record() == kernels.check(proof.prove(statements.get("ng-bisector"))).record()
    assert "Bisector.v:" in str(checks)


def test_what_is_left_out_is_said():
    gaussian = next(c for c in ALL if c.statement.id == "ng-gaussian-defect")
    assert gaussian.kernels == ["SymPy", "Arb"]
    assert gaussian.says["Coq"] == "none"
    assert gaussian.leaves["Coq"] == NOT_CHECKED["Coq"]["ng-gaussian-defect"]
    assert gaussian.leaves["SymPy"].startswith("by hand: ")
    assert gaussian.record()["Coq"] == {
        "checks": False,
        "says": "none",
        "theorems": [],
        "leaves": NOT_CHECKED["Coq"]["ng-gaussian-defect"],
    }


def test_without_the_folder_coq_is_not_available_and_not_refused(monkeypatch):
    monkeypatch.setattr(kernels, "coq_theorems", dict)
    assert kernels.faults() == []
    checks = kernels.check("ng-newton-schulz")
    assert (checks.says["Coq"], checks.leaves["Coq"]) == ("not available here", "")
    assert "Coq" not in checks.kernels
    assert checks.ok


# --- what fails ---------------------------------------------------------------------------------------------


def stray_theorem(monkeypatch):
    found = kernels.coq_theorems()
    monkeypatch.setattr(kernels, "coq_theorems", lambda: {**found, "ng-nothing": found["ng-bisector"]})


def lost_theorems(monkeypatch):
    found = kernels.coq_theorems()
    del found["ng-bisector"]
    monkeypatch.setattr(kernels, "coq_theorems", lambda: found)


def stray_inequality(monkeypatch):
    other = replace(enclosures.INEQUALITIES[0], statement="ng-nothing")
    monkeypatch.setattr(enclosures, "INEQUALITIES", (*enclosures.INEQUALITIES, other))


def stray_reason(monkeypatch):
    monkeypatch.setitem(NOT_CHECKED["Arb"], "ng-nothing", "because")


def lost_reason(monkeypatch):
    monkeypatch.delitem(NOT_CHECKED["Coq"], "ng-commutator")


def lost_numbers(monkeypatch):
    claims = [c for c in ledger.load() if c.statement != "ng-commutator"]
    monkeypatch.setattr(ledger, "load", lambda: claims)


def lost_enclosure(monkeypatch):
    claims = [replace(c, enclosure="") if c.id == "gap-quarter" else c for c in ledger.load()]
    monkeypatch.setattr(ledger, "load", lambda: claims)


def stray_use(monkeypatch):
    statement = replace(statements.get("ng-bisector"), uses=("ng-nothing",))
    monkeypatch.setitem(statements.ALL, "ng-bisector", statement)


def use_of_a_later_statement(monkeypatch):
    statement = replace(statements.get("ng-bisector"), uses=("ng-contraction",))
    monkeypatch.setitem(statements.ALL, "ng-bisector", statement)


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (stray_theorem, "the theorem ng_bisector in Coq names ng-nothing, which is no statement"),
        (lost_theorems, "Coq has nothing of ng-bisector, and NOT_CHECKED no reason"),
        (stray_inequality, "the inequality 'lags' names ng-nothing, which is no statement"),
        (stray_reason, "NOT_CHECKED['Arb'] names ng-nothing, which is no statement"),
        (lost_reason, "Coq has nothing of ng-commutator, and NOT_CHECKED no reason"),
        (lost_numbers, "Arb has nothing of ng-commutator, and NOT_CHECKED no reason"),
        (lost_enclosure, "claim 'gap-quarter' has neither enclosure nor no_enclosure"),
        (stray_use, "ng-bisector uses ng-nothing, which is no statement above it"),
        (use_of_a_later_statement, "ng-bisector uses ng-contraction, which is no statement above it"),
    ],
)
def test_what_dangles_is_named(monkeypatch, spoil, complaint):
    spoil(monkeypatch)
    assert complaint in kernels.faults()
    with pytest.raises(KernelError, match=re.escape(complaint)):
        kernels.check_all([])
    result = CliRunner().invoke(cli.commands, ["prove", "ng-bisector", "--json"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert complaint in result.stderr


def test_a_wrong_number_fails_its_statement(monkeypatch):
    claims = [replace(c, expected="4.2") if c.id == "gap-quarter" else c for c in ledger.load()]
    monkeypatch.setattr(ledger, "load", lambda: claims)
    checks = kernels.check("ng-gap-integral")
    assert not checks.ok
    assert checks.says["Arb"] == "NOT PROVED"
    assert checks.kernels == ["SymPy", "Coq"]
    result = CliRunner().invoke(cli.commands, ["prove", "ng-gap-integral"])
    assert result.exit_code == 1
    assert "Arb: NOT PROVED" in result.output


def test_an_unknown_statement():
    with pytest.raises(ValueError, match="ng-bisector"):
        kernels.check("ng-nothing")


# --- what the book and the command line show ----------------------------------------------------------------


def as_xml(html: str) -> ET.Element:
    return ET.fromstring(f"<div>{html}</div>")


def texts(cell: ET.Element) -> str:
    return "".join(cell.itertext()).replace("\N{NARROW NO-BREAK SPACE}", "*")


def test_the_index_of_the_book_equals_prove_json():
    result = CliRunner().invoke(cli.commands, ["prove", "--json"])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert [r["kernels"] for r in printed] == [c.record() for c in ALL]

    notebook = nbformat.read(ROOT / "notebooks" / "statements.ipynb", as_version=4)
    (cell,) = (c for c in notebook.cells if c.source.endswith("\nindex"))
    rows = as_xml(cell.outputs[0].data["text/html"]).findall(".//tbody/tr")
    assert len(rows) == len(printed)
    for row, record in zip(rows, printed, strict=True):
        first, *cells = row
        assert first.find("code").text == record["id"]
        assert [c.attrib["data-label"] for c in cells] == list(record["kernels"])
        for found, kernel in zip(cells, record["kernels"].values(), strict=True):
            assert texts(found).startswith(kernel["says"])


@checks
def test_a_chapter_shows_the_checks_of_its_statements(checks):
    path = ROOT / "notebooks" / f"{checks.statement.chapter}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    wanted = f'kernels.check("{checks.statement.id}")'
    (cell,) = (c for c in notebook.cells if c.source.split("\n")[-1] == wanted)
    assert cell.outputs[0].data["text/html"] == checks._repr_html_()


@checks
def test_the_table_of_a_notebook(checks):
    root = as_xml(checks._repr_html_())
    assert [texts(row[0]) for row in root.findall(".//tbody/tr")] == list(kernels.KERNELS)
    shown = [texts(pre) for pre in root.findall(".//details/pre")]
    assert shown == [t.statement for t in checks.theorems]
    for link, theorem in zip(root.findall(".//details//a"), checks.theorems, strict=True):
        assert link.attrib["href"] == f"../book/coq.html#{kernels.anchor(theorem.file)}"
        assert link.text == f"{theorem.file}, line {theorem.line}"


def test_the_page_of_the_coq_files_has_each_once_and_in_order():
    page = (ROOT / "book" / "coq.md").read_text(encoding="utf-8")
    part = r"^\((coq-\w+)\)=\n### (\w+\.v)\n(?:(?!^###).)*?literalinclude\} coq/(\w+\.v)$"
    parts = re.findall(part, page, re.MULTILINE | re.DOTALL)
    assert parts == [(kernels.anchor(p.name), p.name, p.name) for p in kernels.coq_files()]


def test_the_plain_tables():
    head, _, *lines = str(ALL).splitlines()
    assert head.split() == ["statement", *kernels.KERNELS, "status"]
    assert [line.split()[0] for line in lines[:-1]] == list(statements.ALL)
    assert lines[-1] == ALL.summary
    assert repr(ALL) == str(ALL)


def test_the_command_line_keeps_sympy_apart_from_flint():
    code = (
        "import os; os.environ.pop('SYMPY_GROUND_TYPES', None)\n"
        "import ngeodesic.cli\nfrom sympy.external.gmpy import GROUND_TYPES\nassert GROUND_TYPES == 'python'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
