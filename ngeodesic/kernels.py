"""The three kernels of the book, and what each of them checks of a statement.

- SymPy checks the steps of its proof (`ngeodesic.proof`), each by exact arithmetic.
- Coq checks theorems about the real numbers. They stand in ``book/coq``, which is a part of the book and not
  of an installed package; ``make coq`` has them checked.
- Arb certifies the statement's numbers and proves inequalities box by box (`ngeodesic.enclosures`).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ngeodesic import enclosures, ledger, statements
from ngeodesic.enclosures import Enclosed, Enclosures, Proofs, as_table, as_text
from ngeodesic.proof import Report, Statement, as_html, prove

__all__ = [
    "COQ_FOLDER",
    "KERNELS",
    "NOT_CHECKED",
    "Checks",
    "CoqTheorem",
    "Index",
    "KernelError",
    "anchor",
    "check",
    "check_all",
    "coq_files",
    "coq_theorems",
    "faults",
]

KERNELS = ("SymPy", "Coq", "Arb")

COQ_FOLDER = Path(__file__).parent.parent / "book" / "coq"

# a comment that begins with the statement's id, then the theorem, up to its proof
_THEOREM = re.compile(
    r"^\(\*\* (?P<id>ng-[a-z0-9-]+)\. (?P<words>(?:(?!\*\)).)*?)\s*\*\)\n"
    r"(?P<statement>Theorem (?P<name>\w+)(?:(?!^Proof\b).)*?\.)\n(?=Proof\b)",
    re.MULTILINE | re.DOTALL,
)


class CoqTheorem(NamedTuple):
    """A theorem of ``book/coq``: what it says in words and in Coq, and where it is."""

    file: str
    line: int
    name: str
    words: str
    statement: str


def coq_files(folder: Path = COQ_FOLDER) -> list[Path]:
    """The files of ``_CoqProject``, in book order; each needs only earlier ones. Empty without the folder."""
    project = folder / "_CoqProject"
    if not project.exists():
        return []
    return [folder / line for line in project.read_text(encoding="utf-8").split("\n") if line.endswith(".v")]


def coq_theorems(folder: Path = COQ_FOLDER) -> dict[str, tuple[CoqTheorem, ...]]:
    """The theorems of each statement id, in book order; empty without the folder, as in an installed package.

    A theorem belongs to the statement whose id begins the comment above it.
    """
    theorems: dict[str, tuple[CoqTheorem, ...]] = {}
    for path in coq_files(folder):
        text = path.read_text(encoding="utf-8")
        for match in _THEOREM.finditer(text):
            theorem = CoqTheorem(
                file=path.name,
                line=text.count("\n", 0, match.start("statement")) + 1,
                name=match["name"],
                words=" ".join(match["words"].split()),
                statement=match["statement"],
            )
            theorems[match["id"]] = (*theorems.get(match["id"], ()), theorem)
    return theorems


class KernelError(ValueError):
    """An identifier that is no statement's, or a statement that a kernel neither checks nor says why."""


NOT_CHECKED: dict[str, dict[str, str]] = {
    "Coq": {
        "ng-max-gap": "that over all real alpha |G| has no bound",
        "ng-cubic-law": "that phi is the argument of 1 - alpha + alpha e^(i theta), the cumulants beyond "
        "kappa_3, the series of the gap, where it converges, and the limit of the largest gap over theta^3",
        "ng-off-plane": "parts (b) and (c), limits of random vectors: Coq's standard library has no "
        "probability theory",
        "ng-newton-schulz": "Coq's standard library has no singular value decomposition",
        "ng-tangent-projection": "that the projection is self-adjoint and P(G) the tangent nearest to G; "
        "that for square W the two formulas agree; wide W, which are the transposes",
        "ng-scaled-retraction": "Coq's standard library has no functions of matrices, such as "
        "(sigma^2 I + V^T V)^(-1/2), nor their derivatives",
        "ng-arctan-law": "that the msign of W - eta O is this division; that every W x is turned by |phi|; "
        "that eta = sigma tan phi turns by phi; where SPEL's own direction is as the law asks for, on the "
        "sphere and for square W, and the n/2 planes; wide W, which are the transposes",
        "ng-commutator": "Coq's standard library has no functions of matrices, such as M^(-1/2)",
        "ng-gaussian-defect": "Coq's standard library has no random matrices",
        "ng-one-law": "that the tangent step is SPEL's with one column",
    },
    "Arb": {},
}
"""What a kernel leaves out of a statement, and why. Of the numbers the ledger says it (``no_enclosure``)."""


def _count(number: int, word: str) -> str:
    if number != 1:
        word = "inequalities" if word == "inequality" else f"{word}s"
    return f"{number} {word}"


@dataclass(frozen=True, repr=False)
class Checks:
    """What the three kernels check of one statement; shows itself in a notebook."""

    report: Report
    """The steps of the proof, by SymPy."""
    theorems: tuple[CoqTheorem, ...] | None
    """The theorems in Coq; None if ``book/coq`` is not here."""
    numbers: Enclosures
    """The numbers of the ledger, by Arb."""
    inequalities: Proofs
    """The inequalities that Arb proves on boxes."""

    @property
    def statement(self) -> Statement:
        """The statement."""
        return self.report.statement

    @property
    def ok(self) -> bool:
        """No check failed, of those that are made here; ``make coq`` makes Coq's."""
        return self.report.proved and self.numbers.ok and self.inequalities.ok

    @property
    def certified(self) -> list[Enclosed]:
        """The numbers that Arb certifies."""
        return [e for e in self.numbers if e.verdict == "certified"]

    @property
    def says(self) -> dict[str, str]:
        """What each kernel checks, in a few words."""
        by_hand = len(self._by_hand)
        sympy = _count(len(self.report.rows), "step") + (f", {by_hand} by hand" if by_hand else "")
        coq = "not available here" if self.theorems is None else _count(len(self.theorems), "theorem")
        arb = [_count(len(self.certified), "number")] if self.certified else []
        if self.inequalities:
            arb.append(_count(len(self.inequalities), "inequality"))
        return {
            "SymPy": sympy if self.report.proved else "NOT PROVED",
            "Coq": coq if self.theorems != () else "none",
            "Arb": (", ".join(arb) or "none") if self.numbers.ok and self.inequalities.ok else "NOT PROVED",
        }

    @property
    def leaves(self) -> dict[str, str]:
        """What each kernel leaves out, and why; empty if nothing."""
        reasons = {kernel: NOT_CHECKED[kernel].get(self.statement.id, "") for kernel in ("Coq", "Arb")}
        by_hand = ", ".join(self._by_hand)
        numbers = dict.fromkeys(e.claim.no_enclosure for e in self.numbers if e.claim.no_enclosure)
        return {
            "SymPy": f"by hand: {by_hand}" if by_hand else "",
            "Coq": reasons["Coq"] if self.theorems is not None else "",
            "Arb": "; ".join(filter(None, (reasons["Arb"], *numbers))),
        }

    @property
    def kernels(self) -> list[str]:
        """The kernels that check the statement or a part of it."""
        nothing = ("none", "not available here", "NOT PROVED")
        return [kernel for kernel, words in self.says.items() if words not in nothing]

    @property
    def _by_hand(self) -> list[str]:
        return [row.step.label for row in self.report.rows if row.twin is None]

    def record(self) -> dict[str, Any]:
        """What each kernel checks, as plain data for JSON."""
        theorems = [{"name": t.name, "file": t.file, "line": t.line} for t in self.theorems or ()]
        found: dict[str, dict[str, Any]] = {
            "SymPy": {"steps": len(self.report.rows), "by_hand": len(self._by_hand)},
            "Coq": {"theorems": theorems},
            "Arb": {
                "numbers": [e.claim.id for e in self.certified],
                "inequalities": [p.inequality.label for p in self.inequalities if p.ok],
                "boxes": sum(p.check.boxes for p in self.inequalities),
            },
        }
        return {
            kernel: {"checks": kernel in self.kernels, "says": words, **found[kernel]}
            | {"leaves": self.leaves[kernel] or None}
            for kernel, words in self.says.items()
        }

    def __str__(self) -> str:
        lines = [self.statement.id]
        for kernel, words in self.says.items():
            leaves = self.leaves[kernel]
            lines.append(f"  {kernel:6}{words}" + (f"; left out: {leaves}" if leaves else ""))
        lines += [f"  {t.file}:{t.line} {t.name}" for t in self.theorems or ()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [(kernel, *self._cells(kernel)) for kernel in self.says]
        theorems = "\n".join(
            f"<details><summary><code>{t.name}</code> {as_html(t.words)} <small>{_coq_link(t)}</small>"
            f"</summary><pre>{html.escape(t.statement)}</pre></details>"
            for t in self.theorems or ()
        )
        table = as_table(("Kernel", "Checks", "Leaves out"), rows)
        return f'{table}\n<div class="coq">{theorems}</div>' if theorems else table

    def _cells(self, kernel: str) -> tuple[str, str]:
        words = as_html(self.says[kernel])
        if kernel == "SymPy" and self.report.proved:
            words += f": {self.statement.status}"
        if kernel == "Arb" and self.inequalities:
            names = (f"<code>{p.inequality.label}</code>" for p in self.inequalities)
            words += f" ({', '.join(names)})"
        return words, as_html(self.leaves[kernel]) or "–"


def anchor(file: str) -> str:
    """Where a file of ``book/coq`` is on its page of the book."""
    return f"coq-{file.removesuffix('.v').lower()}"


def _coq_link(theorem: CoqTheorem, text: str = "") -> str:
    text = text or f"{theorem.file}, line {theorem.line}"
    return f'<a href="../book/coq.html#{anchor(theorem.file)}">{text}</a>'


class Index(tuple[Checks, ...]):
    """All statements, with a column for each kernel; prints as a table, in a notebook too."""

    __slots__ = ()

    @property
    def ok(self) -> bool:
        """No check failed."""
        return all(c.ok for c in self)

    @property
    def summary(self) -> str:
        """``16 statements: SymPy checks 16, Coq 12 (49 theorems), Arb 16 (68 numbers, 11 inequalities)``."""
        checked = {k: sum(k in c.kernels for c in self) for k in KERNELS}
        theorems = _count(sum(len(c.theorems or ()) for c in self), "theorem")
        numbers = _count(sum(len(c.certified) for c in self), "number")
        inequalities = _count(sum(len(c.inequalities) for c in self), "inequality")
        return (
            f"{_count(len(self), 'statement')}: SymPy checks {checked['SymPy']}, Coq {checked['Coq']} "
            f"({theorems}), Arb {checked['Arb']} ({numbers}, {inequalities})"
        )

    def __str__(self) -> str:
        rows = [(c.statement.id, *c.says.values(), c.statement.status) for c in self]
        return as_text(("statement", *KERNELS, "status"), rows, [self.summary])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = []
        for c in self:
            s = c.statement
            title = f'<a href="../notebooks/{s.chapter}.html#{s.id}">{as_html(s.title)}</a>'
            cells = {kernel: as_html(words) for kernel, words in c.says.items()}
            if c.theorems:
                cells["Coq"] = _coq_link(c.theorems[0], cells["Coq"])
            if left_out := c.leaves["Coq"]:
                joined = "; left out:" if c.theorems else ":"
                cells["Coq"] += f"{joined} <small>{as_html(left_out)}</small>"
            rows.append((f"{title} <code>{s.id}</code> <small>{s.status}</small>", *cells.values()))
        return as_table(("Statement", *KERNELS), rows, self.summary)


def check(statement: str | Report) -> Checks:
    """What the three kernels check of one statement.

    SymPy and Arb check it now, Coq's theorems are read: ``make coq`` checks them.

    Parameters
    ----------
    statement
        Its identifier, or the report of a proof that was just made.

    Raises
    ------
    ValueError
        An unknown statement; the known ones are listed.
    KernelError
        One of the `faults`.
    """
    return check_all([prove(statements.get(statement)) if isinstance(statement, str) else statement])[0]


def check_all(reports: Iterable[Report] | None = None) -> Index:
    """What the three kernels check of all statements, in book order, or of those of the reports."""
    if found := faults():
        raise KernelError("; ".join(found))
    if reports is None:
        reports = map(prove, statements.ALL.values())
    theorems, claims = coq_theorems(), ledger.load()
    return Index(
        Checks(
            report,
            theorems.get(report.statement.id, ()) if theorems else None,
            enclosures.certify(c for c in claims if c.statement == report.statement.id),
            enclosures.prove(report.statement.id),
        )
        for report in reports
    )


def faults() -> list[str]:
    """Identifiers that are no statement's, and statements that a kernel neither checks nor says why."""
    known, theorems, claims = list(statements.ALL), coq_theorems(), ledger.load()
    named = {f"the theorem {t.name} in Coq": [id] for id, found in theorems.items() for t in found}
    for i in enclosures.INEQUALITIES:
        named[f"the inequality {i.label!r}"] = [i.statement]
    for kernel, reasons in NOT_CHECKED.items():
        named[f"NOT_CHECKED[{kernel!r}]"] = list(reasons)
    found = [f"{where} names {id}, which is no statement" for where, ids in named.items()
             for id in ids if id not in known]  # fmt: skip
    for place, (id, statement) in enumerate(statements.ALL.items()):
        found += [f"{id} uses {other}, which is no statement above it"
                  for other in statement.uses if other not in known[:place]]  # fmt: skip
    checked = {
        "Coq": set(theorems) if theorems else set(known),
        "Arb": {c.statement for c in claims if c.enclosure} | {i.statement for i in enclosures.INEQUALITIES},
    }
    for kernel, ids in checked.items():
        without = (id for id in known if id not in ids and id not in NOT_CHECKED[kernel])
        found += [f"{kernel} has nothing of {id}, and NOT_CHECKED no reason" for id in without]
    found += [f"claim {c.id!r} has neither enclosure nor no_enclosure"
              for c in claims if not c.enclosure and not c.no_enclosure]  # fmt: skip
    return found
