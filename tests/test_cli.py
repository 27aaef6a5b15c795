"""The command line: output, exit codes, pipes, missing extras; and the citation files that go with it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import ngeodesic
from ngeodesic import cli, kernels, ledger, statements

ROOT = Path(__file__).parents[1]
IDS = list(statements.ALL)
REPRODUCE_KEYS = {
    *("id", "statement", "says", "kind", "paper", "here", "unit", "tolerance", "tolerance_reason"),
    *("verdict", "why", "source", "place", "call", "independent", "independent_says", "independent_value"),
    "accuracy",
}


def run(*args):
    return CliRunner().invoke(cli.commands, args, prog_name="ngeodesic")


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} in JSON")

    return json.loads(text, parse_constant=refuse)


def shell(command, **env):
    plain = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE")}
    command = command.replace("ngeodesic", f"{sys.executable} -m ngeodesic.cli", 1)
    return subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, env=plain | env, timeout=60
    )


def blocked(name, *args):
    """The command line in a Python in which `name` cannot be imported."""
    code = f"import sys; sys.modules[{name!r}] = None; sys.argv[1:] = {args!r}\n"
    code += "from ngeodesic.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)


# --- reproduce ----------------------------------------------------------------------------------------------


def test_reproduce():
    result = run("reproduce")
    assert result.exit_code == 0, result.output
    for claim in ledger.load():
        assert claim.id in result.output
    n = len(ledger.load())
    assert f"{n} of {n} claims reproduced" in result.output


def test_reproduce_json():
    result = run("reproduce", "--json")
    assert result.exit_code == 0
    records = strict(result.stdout)
    assert [r["id"] for r in records] == [c.id for c in ledger.load()]
    assert all(set(r) == REPRODUCE_KEYS for r in records)
    assert {r["verdict"] for r in records} == {"reproduced"}
    found = {r["id"]: r for r in records}
    assert found["max-gap-170"]["paper"] == "49.6"
    assert found["max-gap-170"]["here"] == pytest.approx(49.627777877031, abs=1e-12)
    assert found["max-gap-170"]["independent_value"] == pytest.approx(49.627777877031, abs=1e-12)


def test_the_help_documents_every_key_of_the_json():
    for command, keys in (
        ("reproduce", REPRODUCE_KEYS),
        ("prove", cli._checks_record(kernels.check("ng-bisector"))),
        ("cite", cli._cite_record(statements.get("ng-bisector"))),
    ):
        words = set(re.findall(r"\w+", run(command, "--help").output))
        assert set(keys) <= words, command


def test_reproduce_one_statement():
    records = strict(run("reproduce", "--statement", "ng-bisector", "--json").stdout)
    assert {r["statement"] for r in records} == {"ng-bisector"}
    result = run("reproduce", "--statement", "ng-nothing")
    assert result.exit_code == 2
    assert all(i in result.stderr for i in IDS)


@pytest.mark.parametrize(
    "wrong", [{"expected": "0.47"}, {"call": "np.nan"}, {"call": "np.inf", "kind": "bound"}]
)
def test_a_miss_gives_exit_code_1(monkeypatch, wrong):
    claims = [replace(c, **wrong) if c.id == "max-gap-45" else c for c in ledger.load()]
    monkeypatch.setattr(ledger, "load", lambda: claims)
    result = run("reproduce")
    assert result.exit_code == 1
    assert "missed max-gap-45: " in result.output
    result = run("reproduce", "--json")
    assert result.exit_code == 1
    missed = [r for r in strict(result.stdout) if r["verdict"] == "missed"]
    assert [r["id"] for r in missed] == ["max-gap-45"]
    assert missed[0]["why"]


def test_a_broken_ledger_is_one_line(monkeypatch):
    claims = [replace(ledger.load()[0], call="undefined")]
    monkeypatch.setattr(ledger, "load", lambda: claims)
    result = run("reproduce", "--json")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: claim {claims[0].id!r}: call: NameError")


# --- prove --------------------------------------------------------------------------------------------------


def test_prove():
    result = run("prove", "ng-bisector", "ng-angle-law")
    assert result.exit_code == 0, result.output
    assert result.output.index("ng-bisector") < result.output.index("ng-angle-law")
    for step in statements.get("ng-bisector").steps:
        assert step.label in result.output
    assert "Coq: 2 theorems; Arb: 3 numbers" in result.output
    assert "2 of 2 statements proved" in result.output


def test_prove_json():
    result = run("prove", "ng-bisector", "--json")
    assert result.exit_code == 0
    (record,) = strict(result.stdout)
    statement = statements.get("ng-bisector")
    assert (record["id"], record["title"], record["proved"]) == (statement.id, statement.title, True)
    assert record["hypotheses"] == list(statement.hypotheses)
    assert [s["label"] for s in record["steps"]] == [s.label for s in statement.steps]
    assert list(record["kernels"]) == ["SymPy", "Coq", "Arb"]


def test_a_statement_given_twice_is_proved_once():
    assert len(strict(run("prove", "ng-bisector", "ng-bisector", "--json").stdout)) == 1


def test_a_false_statement_gives_exit_code_1(monkeypatch):
    true = statements.get("ng-bisector")
    step = next(s for s in true.steps if s.twin is not None)
    false = replace(true, steps=(replace(step, check=step.twin, twin=step.check),))
    monkeypatch.setitem(statements.ALL, true.id, false)
    result = run("prove", true.id)
    assert result.exit_code == 1
    assert "NOT PROVED" in result.output
    assert "0 of 1 statements proved" in result.output
    result = run("prove", true.id, "--json")
    assert result.exit_code == 1
    assert strict(result.stdout)[0]["proved"] is False


# --- cite ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statement", statements.ALL.values(), ids=IDS)
def test_cite(statement):
    result = run("cite", statement.id)
    assert result.exit_code == 0
    page = f"notebooks/{statement.chapter}.html"
    assert result.output.startswith(f"@misc{{{statement.id},\n")
    escaped = page.replace("_", "\\_")
    assert f"version {ngeodesic.__version__}; page {escaped}, anchor {statement.id}" in result.output
    assert f"year         = {{{cli.YEAR}}}" in result.output
    assert f"page: {page}\nanchor: #{statement.id}\n" in result.output
    entry = result.output.split("\n\npage")[0]
    assert entry.count("{") - entry.count("\\{") == entry.count("}") - entry.count("\\}")


def test_cite_escapes_what_tex_reads():
    entry = cli.bibtex(replace(statements.get("ng-bisector"), title="50% of {a_b} & #1"))
    assert r"title        = {{50\% of \{a\_b\} \& \#1}}" in entry


def test_cite_lists_all_without_id():
    result = run("cite")
    assert result.exit_code == 0
    assert all(i in result.output for i in IDS)
    records = strict(run("cite", "--json").stdout)
    assert [r["id"] for r in records] == IDS
    by_id = {r["id"]: r for r in records}
    assert all(r["id"] in by_id[u]["used_by"] for r in records for u in r["uses"])
    assert any(r["used_by"] for r in records)


@pytest.mark.parametrize("command", ["cite", "prove"])
def test_an_unknown_id_gives_exit_code_2_and_the_known_ids(command):
    result = run(command, "ng-nothing")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert all(i in result.stderr for i in ["ng-nothing", *IDS])


# --- as a program -------------------------------------------------------------------------------------------


def test_version_and_usage():
    assert ngeodesic.__version__ in run("--version").output
    assert run("reproduce", "--nonsense").exit_code == 2
    assert run("nonsense").exit_code == 2


@pytest.mark.parametrize(("command", "width"), [("reproduce", 90), ("prove ng-angle-law", 80)])
def test_piped_output_is_plain_and_narrow(command, width):
    done = shell(f"ngeodesic {command}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= width


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="the system has no SIGPIPE")
@pytest.mark.parametrize("command", ["cite", "cite --json"])
def test_a_reader_who_leaves_early_is_not_a_miss(command):
    done = shell(f"set -o pipefail; ngeodesic {command} | true")
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


@pytest.mark.parametrize(
    ("module", "args"),
    [
        ("click", ["cite"]),
        ("rich", ["cite"]),
        ("yaml", ["reproduce"]),
        ("mpmath", ["reproduce"]),
        ("sympy", ["prove"]),
        ("flint", ["prove"]),
    ],
)
def test_a_missing_extra_is_one_line(module, args):
    done = blocked(module, *args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert module in done.stderr
    assert 'pip install "ngeodesic-companion[proofs]"' in done.stderr


@pytest.mark.parametrize("module", ["sympy", "mpmath", "yaml"])
def test_the_help_needs_only_click_and_rich(module):
    assert blocked(module, "--help").returncode == 0


# --- citation, licence, changelog ---------------------------------------------------------------------------


def test_citation_file():
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cff["cff-version"] == "1.2.0"
    assert cff["version"] == ngeodesic.__version__
    assert cff["date-released"].startswith(cli.YEAR)
    assert cff["title"] == cli.BOOK
    assert cff["authors"] == [{"name": "The ngeodesic authors"}]
    links = " ".join(r["url"] for r in cff["references"])
    assert all(link in links for link in ("2410.01131", "2601.21487", "github.com/v-code01/ngeodesic"))


def test_licence_and_changelog():
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Permission is hereby granted, free of charge" in licence
    assert "https://creativecommons.org/licenses/by/4.0/legalcode" in licence
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{ngeodesic.__version__}] - {cff['date-released']}" in changes
