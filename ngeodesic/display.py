"""How proofs show themselves: tables, steps in full, formulas in LaTeX and in words."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

if TYPE_CHECKING:
    from ngeodesic.proof import Certificate, Statement, Step

__all__ = ["Report", "Row", "Rows", "as_html", "interval_in_words", "latex", "plain"]


@dataclass(frozen=True)
class Row:
    """A step with its certificate and that of its false twin (None for a step by hand)."""

    step: Step
    certificate: Certificate
    twin: Certificate | None

    @property
    def ok(self) -> bool:
        return self.certificate.ok and (self.twin is None or self.twin.refuted)

    @property
    def twin_verdict(self) -> str:
        return "" if self.twin is None else "refuted" if self.twin.refuted else "NOT REFUTED"

    def _lines(self) -> list[str]:
        """The verdict first; then where the step holds, what was found, and what is taken as known."""
        conditions, facts = self.step.conditions(), ", ".join(self.step.facts)
        verdict, *findings = self.certificate.lines()
        where = [f"for {conditions}"] if conditions else []
        return [verdict, *where, *findings, *([f"uses: {facts}"] if facts else [])]


class Rows(tuple[Row, ...]):
    """Steps in full: words, equation, conditions and what the check found. Shows itself in a notebook."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n\n".join("\n  ".join([repr(row.step), *row._lines()]) for row in self)

    def _repr_html_(self) -> str:
        return "".join(map(_row_html, self))


def _row_html(row: Row) -> str:
    verdict, *findings = map(as_html, row._lines())
    by_hand = " open" if row.twin is None else ""  # a reason is read at once, a denominator on demand
    return (
        f"<div class='step'><p><code>{html.escape(row.step.label)}</code> {as_html(row.step.says)}</p>"
        f"<div class='math notranslate nohighlight'>\\[{html.escape(row.step.latex())}\\]</div>"
        f"<details class='certificate'{by_hand}><summary>{verdict}</summary>{'<br>'.join(findings)}</details>"
        "</div>"
    )


@dataclass(frozen=True, repr=False)
class Report:
    """The outcome of :func:`ngeodesic.proof.prove`; prints as a table, the same on every run."""

    statement: Statement
    rows: tuple[Row, ...]
    proved: bool
    seconds: float

    def __getitem__(self, labels: str | tuple[str, ...]) -> Rows:
        """The steps with these labels, in full: ``report["derivative", "odd"]``."""
        wanted = [self.statement.step(x) for x in ((labels,) if isinstance(labels, str) else labels)]
        return Rows(row for step in wanted for row in self.rows if row.step is step)

    def _cells(self) -> list[tuple[str, str, str, str]]:
        return [
            (
                row.step.label,
                row.certificate.kind,
                row.certificate.verdict,
                row.twin_verdict,
            )
            for row in self.rows
        ]

    def _outcome(self) -> str:
        return f"{self.statement.id}: {self.statement.status if self.proved else 'NOT PROVED'}"

    def __str__(self) -> str:
        table = [("step", "kind", "verdict", "false twin"), *self._cells()]
        widths = [max(len(row[i]) for row in table) for i in range(4)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in table]
        lines.insert(1, "  ".join("-" * w for w in widths))
        failures = [f"{r.step.label}: {c.detail}" for r in self.rows for c in _failed(r)]
        return "\n".join([*lines, *failures, self._outcome()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th style='text-align:left'>{c}</th>" for c in ("step", "kind", "verdict", "false twin")
        )
        body = "".join(
            f"<tr><td style='text-align:left'><code>{html.escape(label)}</code></td>"
            + "".join(f"<td style='text-align:left'>{html.escape(c)}</td>" for c in cells)
            + "</tr>"
            for label, *cells in self._cells()
        )
        failures = "".join(f"<p>{html.escape(c.detail)}</p>" for r in self.rows for c in _failed(r))
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{failures}"
            f"<p><strong>{html.escape(self._outcome())}</strong></p>"
        )


def _failed(row: Row) -> list[Certificate]:
    twin = [row.twin] if row.twin is not None and not row.twin.refuted else []
    return ([] if row.certificate.ok else [row.certificate]) + twin


def interval_in_words(x: sp.Symbol, interval: sp.Interval) -> str:
    """The interval of a symbol: "0 < x <= 1", "x real", ..."""
    if not isinstance(interval, sp.Interval):
        return f"{x} in {interval}"
    low, high = interval.start, interval.end
    left = "" if low.is_infinite else f"{low} {'<' if interval.left_open else '<='} "
    right = "" if high.is_infinite else f" {'<' if interval.right_open else '<='} {high}"
    if left and not right:
        return f"{x} {'>' if interval.left_open else '>='} {low}"
    return f"{left}{x}{right}" if left or right else f"{x} real"


class _Printer(LatexPrinter):  # type: ignore[misc]
    def _as_ordered_terms(self, expr: sp.Expr, order: str | None = None) -> list[sp.Expr]:
        """Low powers first, and no minus sign in front where it can be avoided."""
        terms = list(super()._as_ordered_terms(expr, order=order))
        first = next((i for i, term in enumerate(terms) if not _is_negative(term)), 0)
        return [terms.pop(first), *terms]

    def _print_Derivative(self, expr: sp.Expr) -> str:
        d = "d" if len(expr.expr.free_symbols) == 1 else r"\partial"
        above = d + (f"^{{{expr.derivative_count}}}" if expr.derivative_count != 1 else "")
        below = " ".join(
            f"{d} {self._print(x)}" + (f"^{{{n}}}" if n != 1 else "") for x, n in expr.variable_count
        )
        return rf"\frac{{{above}}}{{{below}}} \left[{self._print(expr.expr)}\right]"

    def _print_atan2(self, expr: sp.Expr, exp: str | None = None) -> str:
        v, u = (self._print(a) for a in expr.args)
        power = f"^{{{exp}}}" if exp else ""
        return rf"\mathop{{\text{{atan2}}}}\nolimits{power}\left({v}, {u}\right)"

    def _print_MatAdd(self, expr: sp.Expr) -> str:
        return _sum_of_matrices(expr, self._print)

    def _print_MatMul(self, expr: sp.Expr) -> str:
        return _product_of_matrices(expr, " ", lambda e: self.parenthesize(e, PRECEDENCE["Mul"], strict=True))

    def _print_MatrixSymbol(self, expr: sp.Expr) -> str:
        return str(super()._print_MatrixSymbol(expr)).replace("perp", r"\perp")

    def _print_Identity(self, expr: sp.Expr) -> str:
        return "I"


class _Plain(StrPrinter):  # type: ignore[misc]
    def _print_MatAdd(self, expr: sp.Expr) -> str:
        return _sum_of_matrices(expr, self._print)

    def _print_MatMul(self, expr: sp.Expr) -> str:
        above, below = sp.fraction(expr.as_coeff_matrices()[0])
        product = sp.MatMul(above, *expr.as_coeff_matrices()[1])
        text = _product_of_matrices(
            product, "*", lambda e: self.parenthesize(e, PRECEDENCE["Mul"], strict=True)
        )
        return text if below == 1 else f"{text}/{self.parenthesize(below, PRECEDENCE['Pow'], strict=True)}"

    def _print_Trace(self, expr: sp.Expr) -> str:
        return f"tr({self._print(expr.arg)})"


def _sum_of_matrices(expr: sp.Expr, written: Callable[[sp.Expr], str]) -> str:
    """Short products first, and no minus sign in front where it can be avoided."""
    terms = [written(term) for term in sorted(expr.args, key=_place)]
    first = next((i for i, text in enumerate(terms) if not text.startswith("-")), 0)
    signed = [f" - {text[1:]}" if text.startswith("-") else f" + {text}" for text in terms]
    return terms[first] + "".join(signed[:first] + signed[first + 1 :])


def _place(term: sp.Expr) -> tuple[int, int, int]:
    """Matrices in a product, powers of symbols in its coefficient, first letter: W before V."""
    coefficient = term.as_coeff_matrices()[0] if term.is_MatMul else sp.S.One
    powers = [int(e) for x, e in coefficient.as_powers_dict().items() if x.is_Symbol and e.is_Integer]
    first = next((x.name for x in sp.preorder_traversal(term) if isinstance(x, sp.MatrixSymbol)), "I")
    return _letters(term), sum(e for e in powers if e > 0), -ord(first[0])


def _letters(expr: sp.Expr) -> int:
    """How many matrices are multiplied, at most."""
    if isinstance(expr, (sp.MatrixSymbol, sp.Identity)):
        return int(isinstance(expr, sp.MatrixSymbol))
    if isinstance(expr, sp.MatPow):
        return _letters(expr.base) * int(expr.exp)
    counts = [_letters(part) for part in expr.args if part.is_Matrix]
    return sum(counts) if expr.is_MatMul else max(counts)


def _product_of_matrices(expr: sp.Expr, times: str, written: Callable[[sp.Expr], str]) -> str:
    coefficient, factors = expr.as_coeff_matrices()
    sign = "-" if _is_negative(coefficient) else ""
    coefficient = -coefficient if sign else coefficient
    return sign + times.join(written(e) for e in (coefficient, *factors) if e != 1)


def _is_negative(term: sp.Expr) -> bool:
    return bool(term.as_coeff_Mul()[0].is_negative)


_LETTERS = ["alpha", "beta", "gamma", "delta", "theta", "kappa", "mu", "nu", "varphi", "phi", "pi"]
_LETTERS += ["eta", "lambda", "rho", "sigma", "tau", "chi", "psi", "omega", "oo"]
_GREEK = dict(zip(_LETTERS, "αβγδθκμνφφπηλρστχψω∞", strict=True))
_NAMES = "|".join(_GREEK)
_INDEXED = f"sum|Integral|{_NAMES}"
# in this order; the text is escaped already
_WRITTEN: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"(?:\*\*|\^)(?:\(([^()]*)\)|(-\d+(?:/\d+)?|\w+))", lambda m: f"<sup>{m[1] or m[2]}</sup>"),
    (rf"\b([A-Za-z]|{_INDEXED})_(?:\(([^()]*)\)|(\w))(?!\w)", lambda m: f"{m[1]}<sub>{m[2] or m[3]}</sub>"),
    (rf"\b({_NAMES})(?![a-z])", lambda m: _GREEK[m[1]]),
    (r"\bsum(?=<sub>)", "∑"),
    (r"\bIntegral(?=<sub>)", "∫"),
    (r"\bsqrt ?(?:\((\d+)\)|(\d+))", lambda m: f"√{m[1] or m[2]}"),
    (r"\bsqrt\b", "√"),
    (r"\bQQ\b", "ℚ"),
    (r"\.T\b", "<sup>T</sup>"),
    (r"(?<=\w)_perp\b", "<sub>⊥</sub>"),
    ("&lt;=", "≤"),
    ("&gt;=", "≥"),
    ("!=", "≠"),
    ("-&gt;", "→"),
    (r"(?<=[\w)>])\*(?=[\w(√])", "\N{NARROW NO-BREAK SPACE}"),
    (r"(?<!\w)-(?=[\w(√ ])", "\N{MINUS SIGN}"),
    (r"\[(ng_\w+)\]", lambda m: f"<code>{m[1]}</code>"),  # as comments in Coq name a theorem
)


def as_html(text: str) -> str:
    """Plain text as HTML, with Greek letters, exponents and relations as one writes them."""
    text = html.escape(text, quote=False)
    for pattern, written in _WRITTEN:
        text = re.sub(pattern, written, text)
    return text


def latex(expr: sp.Expr) -> str:
    """The expression as it stands, in LaTeX: low powers first, full names of the arc functions."""
    return str(_Printer({"inv_trig_style": "full", "order": "rev-grlex"}).doprint(expr))


def plain(expr: sp.Expr) -> str:
    """The expression as text; sums of matrices in the order of :func:`latex`."""
    return str(_Plain().doprint(expr))
