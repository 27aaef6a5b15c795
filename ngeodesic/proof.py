"""Exact checks of formulas, small enough to read and able to fail.

The language is small. Symbols are real, each with an interval as its domain or with a definition (`where`).
Expressions are built from rational numbers, pi, + - * / and integer powers, atan, atan2, exp, log, sin and
cos of twice an atan, integrals of rational functions, and derivatives. Anything else is refused.

A check states one relation between two expressions and settles it with exact arithmetic only:

- each expression is read, node by node, into the field QQ(x, ...) of rational functions, in which the value
  of an atan, exp, ... is an unknown of its own; every denominator is noted as it stands, before anything
  cancels, and must be shown not to vanish on the domain;
- a derivative is that of a rational function, with one rule for each kind of unknown;
- a sign is found factor by factor: each open interval of the domain is mapped onto (0, oo) by a Möbius map; a
  factor whose coefficients then all have one sign has that sign.

Nothing is decided by ``simplify``, ``equals`` or ``limit``. No expression is rebuilt, so SymPy has no
occasion to rewrite one. It does rewrite while an expression is typed: a claim is what its check displays.

A relation that cannot be settled is *refused*; one that is false at a point that is shown, by exact numbers
or by interval arithmetic, is *refuted*.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import sympy as sp
from mpmath.ctx_iv import MPIntervalContext
from mpmath.libmp import to_str
from sympy.polys.fields import FracField
from sympy.polys.orderings import lex

from ngeodesic.display import Report, Row, Rows, as_html, interval_in_words, latex

__all__ = [
    "FACTS",
    "Above",
    "ByHand",
    "Certificate",
    "Check",
    "Identity",
    "Report",
    "Row",
    "Rows",
    "SameDerivative",
    "Sign",
    "Statement",
    "Step",
    "as_html",
    "prove",
    "refute",
]

Domain = Mapping[sp.Symbol, sp.Interval]
"""The interval of each symbol, with rational or infinite ends: ``{t: Interval.open(0, oo)}``."""

Where = Mapping[sp.Symbol, sp.Expr]
"""Definitions, each in terms of the domain's symbols and those defined before: ``{theta: 2*atan(t)}``."""

Cuts = Mapping[sp.Symbol, tuple[sp.Expr, ...]]
"""Points at which an interval is cut before signs are found on each part; 0 always is one."""

Piece = tuple[sp.Expr, sp.Expr]  # (low, high): an open interval, or a point if the two are equal
Signs = frozenset[int]  # the signs that a quantity may have

FACTS = (
    "plane coordinates",
    "addition theorems",
    "inverse functions",
    "mean value theorem",
    "change of variable",
    "induction",
    "polar decomposition",
    "spectral theorem",
)
"""What a step may add to its check in words and still count as exact; the book spells each of them out."""

_ANY: Signs = frozenset({-1, 0, 1})
_RELATIONS: dict[str, Signs] = {
    ">": frozenset({1}),
    ">=": frozenset({0, 1}),
    "<": frozenset({-1}),
    "<=": frozenset({-1, 0}),
    "!=": frozenset({-1, 1}),
}
_LATEX = {"=": "=", ">": ">", ">=": r"\ge", "<": "<", "<=": r"\le", "!=": r"\ne"}
_FUNCTIONS = (sp.atan, sp.atan2, sp.exp, sp.log, sp.sin, sp.cos, sp.Integral)
_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi "
_GREEK += "varphi chi psi omega"
# one letter, with or without an index: a longer name could be typeset as an operator, as tr or xabs are
_NAME = re.compile(rf"(?![EIei]$)(?:[A-Za-z]|{'|'.join(_GREEK.split())})(?:_[A-Za-z0-9]+)?")
_POINTS = 3000  # tried for a counterexample
_CELLS = 64  # of an integral's enclosure

_iv = MPIntervalContext()
_iv.prec = 120
_WHOLE = _iv.mpf(["-inf", "inf"])


class _Unsettled(Exception):
    """The relation was not established; the message says what is missing."""


class _Refused(Exception):
    """The claim is outside the language, or not shown to be defined on the whole domain."""


@dataclass(frozen=True)
class Certificate:
    """What a check found.

    ``ok``: established. ``refuted``: false at a point of the domain, shown in ``detail``. Neither: refused.
    """

    ok: bool
    kind: str
    detail: str
    refuted: bool = False

    @property
    def verdict(self) -> str:
        if self.kind == ByHand.kind:
            return "by hand"
        return "proved" if self.ok else "refuted" if self.refuted else "refused"

    def lines(self) -> list[str]:
        """The verdict, and below it one finding a line."""
        if self.kind == ByHand.kind:
            return [self.verdict, self.detail]
        return [f"{self.verdict} ({self.kind})", *self.detail.split("; ")]

    def __str__(self) -> str:
        return "\n  ".join(self.lines())


# --- the language -------------------------------------------------------------------------------------------


def _used(trees: tuple[sp.Expr, ...], where: Where) -> dict[sp.Symbol, sp.Expr]:
    """The definitions that the trees use, directly or through one another, in their order."""
    needed = set().union(*(t.free_symbols for t in trees))
    while more := set().union(*(e.free_symbols for x, e in where.items() if x in needed)) - needed:
        needed |= more
    return {x: e for x, e in where.items() if x in needed}


def _refuse_others(
    trees: tuple[sp.Expr, ...], domain: Domain, where: Where, variable: sp.Symbol | None
) -> None:
    """Refuse symbols, intervals, definitions and integrals that could be misread."""
    everything = [*trees, *where.values()]
    if not all(isinstance(e, sp.Expr) for e in everything):
        raise _Refused("not every part is an expression")
    integrals = set().union(*(t.atoms(sp.Integral) for t in trees))
    derivatives = set().union(*(t.atoms(sp.Derivative) for t in trees))
    if derivatives and variable is not None:
        raise _Refused("a derivative is read only in an identity or a sign")
    if any(e.has(sp.Integral, sp.Derivative) for e in (*where.values(), *(i.function for i in integrals))):
        raise _Refused("an integral or a derivative stands in a definition or in an integrand")
    if any(len(i.limits) != 1 or len(i.limits[0]) != 3 for i in integrals):
        raise _Refused("an integral is not a single definite one")

    symbols = sorted({*domain, *where, *(x for e in everything for x in e.atoms(sp.Symbol))}, key=str)
    for x in symbols:
        if not isinstance(x, sp.Symbol) or x != sp.Symbol(x.name, real=True) or not _NAME.fullmatch(x.name):
            raise _Refused(f"{x} is not a symbol with a plain name and no assumption other than real=True")
    if len({re.sub(r"mathrm|[\W_]", "", latex(x)) for x in symbols}) < len(symbols):
        raise _Refused("two symbols look alike")
    bound = {i.limits[0][0] for i in integrals}
    free = {variable, *where}.union(
        *(e.free_symbols for e in everything), *({x for x, _ in d.variable_count} for d in derivatives)
    )
    for x in symbols:
        if x in bound & free:
            raise _Refused(f"{x} is a variable of integration and stands elsewhere, too")
        if x in domain and x in where:
            raise _Refused(f"{x} has a domain and a definition")
        if x not in domain and x not in where:
            raise _Refused(f"no domain is given for {x}")
    for x, interval in domain.items():
        if not isinstance(interval, sp.Interval) or not all(
            end.is_Rational or end.is_infinite for end in (interval.start, interval.end)
        ):
            raise _Refused(f"the domain of {x}, {interval}, is not an interval with rational ends")


# --- signs on a domain --------------------------------------------------------------------------------------


def _pieces(interval: sp.Interval, cuts: tuple[sp.Expr, ...] = ()) -> list[Piece]:
    """`interval` as points and open intervals, cut at 0 and at `cuts`."""
    low, high = interval.start, interval.end
    if not all(isinstance(a, sp.Rational) for a in cuts):
        raise _Refused(f"a cut of {interval} is not rational")
    inner = sorted(a for a in {sp.S.Zero, *cuts} if low < a < high)
    ends = [low, *inner, high]
    points = [a for a in ends if interval.contains(a) == sp.true]
    return [*itertools.pairwise(ends), *((a, a) for a in points)]


def _image(gen: Any, piece: Piece, power: int, degree: int) -> Any:
    """x^power times the denominator^degree of the map from (0, oo) onto the piece, as a polynomial."""
    low, high = piece
    number = gen.ring.domain.from_sympy
    if low == high:
        return gen.ring(number(low) ** power)
    if high.is_infinite:
        return (number(low) + gen) ** power
    if low.is_infinite:
        return (number(high) - gen) ** power
    return (number(low) + number(high) * gen) ** power * (1 + gen) ** (degree - power)


def _factor_signs(factor: Any, pieces: list[Piece]) -> Signs:
    """Possible signs of a polynomial on a product of pieces."""
    ring = factor.ring
    image = ring.zero
    for powers, coefficient in factor.terms():
        term = ring(coefficient)
        for gen, piece, power, degree in zip(ring.gens, pieces, powers, factor.degrees(), strict=True):
            if degree:
                term *= _image(gen, piece, power, degree)
        image += term
    found = {_sign(c) for c in image.coeffs()}  # these are not 0: one sign, or none at all
    return frozenset(found or {0}) if len(found) <= 1 else _ANY


def _sign(number: Any) -> int:
    return int(number > 0) - int(number < 0)


def _product(a: Signs, b: Signs) -> Signs:
    return frozenset(x * y for x in a for y in b)


class _Signs:
    """Signs of rational functions on a domain, cell by cell."""

    def __init__(self, pieces: dict[sp.Symbol, list[Piece]]) -> None:
        self.pieces = pieces
        self.shown: dict[sp.Symbol, sp.Symbol] = {}  # unknowns by the names to print
        self.factored: dict[Any, Any] = {}

    def cells(self, *elements: Any) -> Iterator[list[Piece]]:
        """Products of pieces over the variables that the elements contain; others stay at a dummy point."""
        used = _occurring(*elements)
        idle = [(sp.S.Zero, sp.S.Zero)]
        symbols = elements[0].numer.ring.symbols
        return map(list, itertools.product(*(self.pieces[x] if x in used else idle for x in symbols)))

    def on_cell(self, element: Any, cell: list[Piece], seen: dict[str, Signs]) -> Signs:
        """Possible signs of a rational function on a cell; `seen` gathers those of its factors."""
        result: Signs = frozenset({1})
        for poly in (element.numer, element.denom):
            if not poly:
                return frozenset({0})
            if poly not in self.factored:
                self.factored[poly] = poly.factor_list()
            constant, factors = self.factored[poly]
            result = _product(result, frozenset({_sign(constant)}))
            for factor, multiplicity in factors:
                signs = _factor_signs(factor, cell)
                name = self.text(factor.as_expr())
                if multiplicity % 2 == 0:
                    name, signs = self.text(factor.as_expr() ** multiplicity), frozenset(s * s for s in signs)
                seen[name] = seen.get(name, frozenset()) | signs
                result = _product(result, signs)
        return result

    def text(self, expr: sp.Expr) -> str:
        return str(expr.xreplace(self.shown))

    def require(self, element: Any, relation: str, text: str) -> str:
        """Show that (element relation 0) on the whole domain; return the factors' signs in words."""
        seen: dict[str, Signs] = {}
        for cell in self.cells(element):
            if not self.on_cell(element, cell, seen) <= _RELATIONS[relation]:
                raise _Unsettled(f"{text} {relation} 0 is not established on the domain ({_factors(seen)})")
        return _factors(seen)


def _occurring(*elements: Any) -> set[sp.Symbol]:
    """The variables and unknowns that stand in rational functions."""
    polys = [p for e in elements for p in (e.numer, e.denom)]
    return {x for p in polys for x, degree in zip(p.ring.symbols, p.degrees(), strict=True) if degree > 0}


def _factors(seen: dict[str, Signs]) -> str:
    words = {frozenset({0}): "= 0", _ANY: "of unknown sign"} | {s: f"{r} 0" for r, s in _RELATIONS.items()}
    return ", ".join(f"{name} {words[signs]}" for name, signs in seen.items())


# --- reading expressions into QQ(x, ...) --------------------------------------------------------------------


class _Reader:
    """Reads trees into one field of rational functions and collects what must hold on the domain."""

    def __init__(
        self,
        trees: tuple[sp.Expr, ...],
        domain: Domain,
        where: Where,
        cuts: Cuts,
        variable: sp.Symbol | None = None,
        at: sp.Rational | None = None,
    ) -> None:
        _refuse_others(trees, domain, where, variable)
        self.where = _used(trees, where)
        self.domain = dict(domain)  # of the claim, for counterexamples
        self.whole = dict(domain)  # with the point `at`
        if variable is not None:
            self.whole[variable] = _joined(domain.get(variable), variable, at)
            cuts = {**cuts, variable: (at, *cuts.get(variable, ()))}
        nodes = {n for e in (*trees, *self.where.values()) for n in sp.preorder_traversal(e)}
        # each node may have two values: in general, and at the point `at`
        self.spare = [sp.Dummy() for n in nodes if n == sp.pi or isinstance(n, _FUNCTIONS) for _ in range(2)]
        self.field = FracField([*self.whole, sp.Dummy(), *self.spare], sp.QQ, lex)
        self.gens = dict(zip(self.field.symbols, self.field.gens, strict=True))
        self.unknowns: dict[tuple[Any, ...], sp.Symbol] = {}  # (function, *arguments) -> its value
        self.calls: dict[sp.Symbol, tuple[Any, ...]] = {}  # the other way round
        self.conditions: dict[tuple[str, tuple[Any, ...]], str] = {}
        self.signs = _Signs({x: _pieces(s, cuts.get(x, ())) for x, s in self.whole.items()})
        self.free = set().union(*(e.free_symbols for e in (*trees, *self.where.values())))
        self.name = f"QQ({', '.join(str(x) for x in domain if x in self.free)})".removesuffix("()")

    def read(self, trees: tuple[sp.Expr, ...], point: dict[sp.Symbol, sp.Rational]) -> list[Any]:
        """The elements that the trees stand for, in general or at a point of the domain."""
        values = {x: self._number(point[x]) if x in point else self.gens[x] for x in self.whole}
        for x, definition in self.where.items():
            values[x] = self._read(definition, values)
        return [self._read(e, values) for e in trees]

    def _number(self, number: sp.Expr) -> Any:
        return self.field(sp.QQ.from_sympy(number))

    def _need(self, text: str, relation: str, *elements: Any) -> None:
        if relation != "!=" or _occurring(*elements) or not elements[0]:
            self.conditions.setdefault((relation, elements), text)

    def _read(self, expr: sp.Expr, values: dict[sp.Symbol, Any]) -> Any:
        if expr.is_Symbol:
            if expr not in values:
                raise _Refused(f"{expr} is used before it is defined")
            return values[expr]
        if isinstance(expr, sp.Rational):
            return self._number(expr)
        if expr == sp.pi:
            return 4 * self._unknown(sp.atan, self.field.one)
        if expr.is_Add:
            return sum((self._read(a, values) for a in expr.args), self.field.zero)
        if expr.is_Mul:
            result = self.field.one
            for a in expr.args:
                result *= self._read(a, values)
            return result
        if expr.is_Pow and expr.exp.is_Integer and expr.exp != 0:
            base = self._read(expr.base, values)
            if expr.exp < 0:
                self._need(str(expr.base), "!=", base)
                if not base:
                    raise _Refused(f"the denominator {expr.base} is 0")
            return base ** int(expr.exp)
        if isinstance(expr, sp.Derivative):
            return self._derivative(expr, values)
        if isinstance(expr, sp.Integral):
            return self._integral(expr, values)
        if isinstance(expr, _FUNCTIONS):
            return self._function(expr, [self._read(a, values) for a in expr.args])
        raise _Refused(f"{expr} is not built from the functions that can be read")

    def _derivative(self, expr: sp.Derivative, values: dict[sp.Symbol, Any]) -> Any:
        (x, count), *others = expr.variable_count
        if others or x not in self.domain or not isinstance(count, sp.Integer):
            raise _Refused(f"{expr} is not a derivative by one symbol of the domain")
        inner = _used((expr.expr,), self.where).values()
        if any(x in e.free_symbols for e in inner):
            raise _Refused(f"{x} stands in a definition that {expr} uses: total or partial derivative?")
        result = self._read(expr.expr, values)
        for _ in range(int(count)):
            result = self.slope(result, x)
        return result

    def _integral(self, expr: sp.Integral, values: dict[sp.Symbol, Any]) -> Any:
        ((x, low, high),) = expr.limits
        path = self.whole[x]
        if not (
            isinstance(low, sp.Rational)
            and high in self.whole
            and path.contains(low) == sp.true
            and self.whole[high].is_subset(path) is True
        ):
            raise _Refused(f"the domain of {x} does not cover the path of integration of {expr}")
        integrand = self._read(expr.function, values)
        if not _occurring(integrand) <= set(self.domain):
            raise _Refused(f"the integrand of {expr} is not a rational function")
        end = values[high]
        if end == self._number(low):
            return self.field.zero
        return self._unknown(sp.Integral, integrand, self.gens[x], self._number(low), end)

    def _function(self, expr: sp.Expr, arguments: list[Any]) -> Any:
        """A function's value, provided that its arguments are in its domain."""
        u = arguments[-1]
        if isinstance(expr, (sp.sin, sp.cos)):
            return self._half_angle(expr, u)
        if isinstance(expr, sp.log):
            self._need(str(expr.args[0]), ">", u)
        elif isinstance(expr, sp.atan2):
            self._need(f"({expr.args[1]}, {expr.args[0]})", "off the cut", *arguments)
        if isinstance(expr, (sp.atan, sp.atan2)) and not arguments[0]:  # atan 0, atan2(0, u) with u > 0
            return self.field.zero
        if isinstance(expr, sp.atan) and u.numer.LC < 0:
            return -self._unknown(sp.atan, -u)
        return self._unknown(expr.func, *arguments)

    def _half_angle(self, expr: sp.Expr, angle: Any) -> Any:
        """sin(2 atan u) = 2u/(1 + u^2), cos(2 atan u) = (1 - u^2)/(1 + u^2)."""
        arctans = [(c[1], 2 * self.gens[x]) for x, c in self.calls.items() if c[0] is sp.atan]
        for u, double in [(self.field.zero, self.field.zero), *arctans]:
            if angle in (double, -double):
                side = 2 * u if angle == double else -2 * u
                return (side if isinstance(expr, sp.sin) else 1 - u**2) / (1 + u**2)
        raise _Refused(f"the angle of {expr} is not twice an arctan")

    def _unknown(self, function: Any, *arguments: Any) -> Any:
        """The generator that stands for a function's value, the same for the same arguments."""
        call = (function, *arguments)
        if call not in self.unknowns:
            x = self.unknowns[call] = self.spare.pop()
            self.calls[x] = call
            self.signs.shown[x] = sp.Symbol(
                f"{function.__name__}({', '.join(self.signs.text(a.as_expr()) for a in arguments)})"
            )
            positive = function is sp.exp
            self.signs.pieces[x] = _pieces(sp.Interval.open(0, sp.oo) if positive else sp.S.Reals)
        return self.gens[self.unknowns[call]]

    def slope(self, element: Any, x: sp.Symbol) -> Any:
        """Derivative by x: the chain rule, and one rule for each function."""
        result = self.field.zero
        for y in _occurring(element):
            if y == x:
                result += element.diff(self.gens[y])
            elif y in self.calls:
                result += element.diff(self.gens[y]) * self._rule(y, x)
        return result

    def _rule(self, y: sp.Symbol, x: sp.Symbol) -> Any:
        """Derivative by x of a function's value y. What is divided by is not 0, by the conditions noted."""
        function, *arguments = self.calls[y]
        if function is sp.Integral:
            integrand, s, _, end = arguments
            if self.slope(integrand, x):
                raise _Refused(f"the integrand of {self.signs.shown[y]} depends on {x}")
            at_end = [self.field(p.compose(s.numer, end.numer)) for p in (integrand.numer, integrand.denom)]
            return at_end[0] / at_end[1] * self.slope(end, x)
        *first, u = arguments
        du = self.slope(u, x)
        if function is sp.atan:
            return du / (1 + u**2)
        if function is sp.exp:
            return self.gens[y] * du
        if function is sp.log:
            return du / u
        (v,) = first  # atan2(v, u)
        return (u * self.slope(v, x) - v * du) / (u**2 + v**2)

    def settle(self) -> str:
        """Show every condition on the whole domain; return them in words."""
        words = []
        for (relation, elements), text in self.conditions.items():
            try:
                if relation == "off the cut":
                    words.append(self._off_the_cut(text, *elements))
                else:
                    words.append(f"{text} {relation} 0 ({self.signs.require(elements[0], relation, text)})")
            except _Unsettled as failure:
                raise _Refused(str(failure)) from None
        return "".join(f"; {w}" for w in words)

    def _off_the_cut(self, text: str, v: Any, u: Any) -> str:
        for cell in self.signs.cells(v, u):
            v_signs, u_signs = (self.signs.on_cell(e, cell, {}) for e in (v, u))
            if not (v_signs <= _RELATIONS["!="] or u_signs <= _RELATIONS[">"]):
                raise _Unsettled(f"that {text} is off the cut of atan2 is not established")
        return f"{text} is off the cut of atan2"

    def counterexample(self, left: Any, relation: str, right: Any) -> str:
        """A point of the domain at which the relation is false for certain, in words; "" if none is found."""
        names = [x for x in self.domain if x in self.free]
        choices = itertools.product(*(_samples(self.domain[x]) for x in names))
        for values in itertools.islice(choices, _POINTS):
            point = {x: sp.QQ.from_sympy(v) for x, v in zip(names, values, strict=True)}
            difference = self._enclose(left - right, point)
            sign = 1 if (difference > 0) is True else -1 if (difference < 0) is True else 0
            if (sign or difference == 0) and sign not in _RELATIONS.get(relation, {0}):
                place = f"at {', '.join(f'{x} = {v}' for x, v in point.items())} " if point else ""
                sides = [to_str(self._enclose(e, point).mid._mpi_[0], 10) for e in (left, right)]
                return f"{place}the sides are {sides[0]} and {sides[1]}"
        return ""

    def _enclose(self, element: Any, point: dict[sp.Symbol, Any]) -> Any:
        """An interval that contains the value at a rational point; [0, 0] only if that is 0."""
        unknowns = _occurring(element) & set(self.calls)
        if not unknowns:
            numer, denom = (_evaluate(p, point, lambda c: c) for p in (element.numer, element.denom))
            return _interval(numer / denom)
        here = {x: _interval(v) for x, v in point.items()}
        here |= {x: self._enclose_call(self.calls[x], point) for x in unknowns}
        return _quotient(element.numer, element.denom, here)

    def _enclose_call(self, call: tuple[Any, ...], point: dict[sp.Symbol, Any]) -> Any:
        function, *arguments = call
        if function is sp.Integral:
            integrand, s, *ends = arguments
            known = [(self.gens[x].numer, v) for x, v in point.items()]
            numer, denom = (p.subs(known) for p in (integrand.numer, integrand.denom))
            low, end = (self._enclose(e, point) for e in ends)
            (x,), step = _occurring(s), (end - low) / _CELLS
            cells = (low + _iv.mpf([k, k + 1]) * step for k in range(_CELLS))
            return sum((_quotient(numer, denom, {x: cell}) for cell in cells), _iv.zero) * step
        values = [self._enclose(a, point) for a in arguments]
        if function is sp.log and (values[0] > 0) is not True:
            return _WHOLE
        rules: dict[Any, Callable[..., Any]] = {
            sp.atan: lambda u: _iv.atan2(u, 1),
            sp.atan2: _iv.atan2,
            sp.exp: _iv.exp,
            sp.log: _iv.log,
        }
        return rules[function](*values)


def _joined(interval: Any, x: sp.Symbol, at: Any) -> sp.Interval:
    """The interval of x with the point `at`, which is on it or at its end."""
    if interval is None or not isinstance(at, sp.Rational) or not interval.start <= at <= interval.end:
        raise _Refused(f"{x} = {at} is not on the interval of {x} nor at its end")
    start, end = interval.start, interval.end
    return sp.Interval(start, end, interval.left_open and at != start, interval.right_open and at != end)


def _samples(interval: sp.Interval) -> list[sp.Rational]:
    """A few rational points of an interval, closed ends among them."""
    points: list[sp.Rational] = []
    for low, high in _pieces(interval):
        if low == high:
            points.append(low)
        elif low.is_finite and high.is_finite:
            points += [low + (high - low) * sp.Rational(*r) for r in ((1, 2), (1, 7), (9, 10))]
        else:
            steps = [sp.Rational(*r) for r in ((1, 1), (1, 3), (7, 2), (40, 1))]
            points += [low + r if low.is_finite else high - r for r in steps]
    return points


def _interval(number: Any) -> Any:
    return _iv.mpf(int(number.numerator)) / int(number.denominator)


def _quotient(numer: Any, denom: Any, point: dict[sp.Symbol, Any]) -> Any:
    above, below = (_evaluate(p, point, _interval) for p in (numer, denom))
    return above / below if 0 not in below else _WHOLE


def _evaluate(poly: Any, point: dict[sp.Symbol, Any], number: Callable[[Any], Any]) -> Any:
    """A polynomial's value, in the arithmetic of the given numbers."""
    result = number(sp.QQ.zero)
    for powers, coefficient in poly.terms():
        term = number(coefficient)
        for x, power in zip(poly.ring.symbols, powers, strict=True):
            if power:
                term *= point[x] ** power
        result += term
    return result


# --- the checks ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Relation:
    """lhs (relation) rhs on a domain, with the definitions `where`."""

    lhs: sp.Expr
    rhs: sp.Expr
    domain: Domain = field(kw_only=True)
    where: Where = field(default_factory=dict, kw_only=True)
    cuts: Cuts = field(default_factory=dict, kw_only=True)
    kind: ClassVar[str]

    def _relation(self) -> str:
        return "="

    def _reader(self) -> _Reader:
        return _Reader((self.lhs, self.rhs), self.domain, self.where, self.cuts)

    def _settle(self, reader: _Reader, left: Any, right: Any) -> str:
        """Establish the relation and say how, or raise."""
        raise NotImplementedError

    def run(self) -> Certificate:
        """Settle the relation; a failure comes with a counterexample where one is found."""
        try:
            reader = self._reader()
            left, right = reader.read((self.lhs, self.rhs), {})
            conditions = reader.settle()
            try:
                return Certificate(True, self.kind, self._settle(reader, left, right) + conditions)
            except _Unsettled as failure:
                found = reader.counterexample(left, self._relation(), right)
                # a point that refutes says more than the factors whose signs are not known
                detail = f"{str(failure).partition(' (')[0]}; {found}" if found else str(failure)
                return Certificate(False, self.kind, detail, refuted=bool(found))
        except _Refused as failure:
            return Certificate(False, self.kind, str(failure))

    def latex(self) -> str:
        """The relation, typeset."""
        return f"{latex(self.lhs)} {_LATEX[self._relation()]} {latex(self.rhs)}"

    def conditions(self) -> str:
        """The domain and the definitions, in words: "alpha real, t > 0; with theta = 2*atan(t)"."""
        where = _used((self.lhs, self.rhs), self.where)
        used = set().union(*(e.atoms(sp.Symbol) for e in (self.lhs, self.rhs, *where.values())))
        words = ", ".join(interval_in_words(x, s) for x, s in self.domain.items() if x in used)
        return "; with ".join(filter(None, (words, ", ".join(f"{x} = {e}" for x, e in where.items()))))


class Identity(_Relation):
    """lhs = rhs as rational functions; values of atan, exp, ... in them count as independent quantities.

    Every denominator of both trees must be shown not to vanish on the domain.
    """

    kind = "polynomial identity"

    def _settle(self, reader: _Reader, left: Any, right: Any) -> str:
        if left - right:
            raise _Unsettled(f"the difference is not 0 in {reader.name}")
        return f"the difference is 0 in {reader.name}"


@dataclass(frozen=True, eq=False)
class Sign(_Relation):
    """expr (relation) 0 on the domain, relation one of > >= < <= !=, from a full factorisation of expr."""

    rhs: sp.Expr = field(default=sp.S.Zero, init=False)
    relation: str = ">"

    kind = "sign by factorisation"

    def __post_init__(self) -> None:
        if self.relation not in _RELATIONS:
            raise ValueError(f"relation is {self.relation!r}; known: {', '.join(_RELATIONS)}")

    def _relation(self) -> str:
        return self.relation

    def _settle(self, reader: _Reader, left: Any, right: Any) -> str:
        return reader.signs.require(left, self.relation, str(self.lhs))


@dataclass(frozen=True, eq=False)
class SameDerivative(_Relation):
    """lhs = rhs: the same value at variable = at, and the same derivative on the interval from there.

    Both sides are shown to be defined on the whole domain, with `at` joined to the interval of the variable.
    Definitions are put in first, so the derivative is the total one.
    """

    variable: sp.Symbol = field(kw_only=True)
    at: sp.Expr = field(kw_only=True)

    kind = "same value, same derivative"

    def _reader(self) -> _Reader:
        return _Reader((self.lhs, self.rhs), self.domain, self.where, self.cuts, self.variable, self.at)

    def _start(self, reader: _Reader) -> str:
        """Show that the two sides have the same value at the point."""
        left, right = reader.read((self.lhs, self.rhs), {self.variable: self.at})
        if left - right:
            raise _Unsettled(f"the values at {self.variable} = {self.at} differ")
        return f"equal at {self.variable} = {self.at}"

    def _settle(self, reader: _Reader, left: Any, right: Any) -> str:
        start = self._start(reader)
        if reader.slope(left - right, self.variable):
            raise _Unsettled(f"the derivatives by {self.variable} differ in {reader.name}")
        return f"{start}; the derivatives by {self.variable} agree in {reader.name}"


@dataclass(frozen=True, eq=False)
class Above(SameDerivative):
    """lhs (relation) rhs: equal at an end of the variable's interval, and the difference is monotone.

    For the strict relations the end itself does not belong to the domain.
    """

    relation: str = field(default=">", kw_only=True)

    kind = "same value, sign of derivative"

    def __post_init__(self) -> None:
        if self.relation not in (">", ">=", "<", "<="):
            raise ValueError(f"relation is {self.relation!r}; known: > >= < <=")

    def _relation(self) -> str:
        return self.relation

    def _settle(self, reader: _Reader, left: Any, right: Any) -> str:
        interval = self.domain[self.variable]
        if self.at not in (interval.start, interval.end):
            raise _Unsettled(f"{self.variable} = {self.at} is no end of the interval of {self.variable}")
        if len(self.relation) == 1 and interval.contains(self.at) == sp.true:
            raise _Unsettled(f"{self.variable} = {self.at} belongs to the domain, where both sides are equal")
        start = self._start(reader)
        forward = self.at == interval.start
        relation = self.relation if forward else self.relation.translate(str.maketrans("<>", "><"))
        reader.signs.pieces[self.variable] = _pieces(interval.interior, self.cuts.get(self.variable, ()))
        text = f"derivative of the difference by {self.variable}"
        factors = reader.signs.require(reader.slope(left - right, self.variable), relation, text)
        return f"{start}; {text} {relation} 0: {factors}"


@dataclass(frozen=True)
class ByHand:
    """A step that a person checks: the reason, in words."""

    reason: str
    equation: str = ""  # LaTeX

    kind: ClassVar[str] = "by hand"

    def run(self) -> Certificate:
        """Nothing is computed; the certificate carries the reason."""
        return Certificate(True, self.kind, self.reason)

    def latex(self) -> str:
        """The equation the step is about, or its words."""
        return self.equation or rf"\text{{{self.reason}}}"

    def conditions(self) -> str:
        """None: the reason states what it needs."""
        return ""


Check = _Relation | ByHand


# --- statements ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Step:
    """One labelled line of a proof, its check, and the false twin that the check must refute.

    `facts` names what the step uses beside its check, from the fixed list :data:`FACTS`.
    """

    label: str
    says: str
    check: Check
    twin: Check | None = None
    facts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.twin is None) != isinstance(self.check, ByHand):
            raise ValueError(
                f"step {self.label}: a false twin is needed exactly when a machine checks the step"
            )
        if not set(self.facts) <= set(FACTS):
            raise ValueError(f"step {self.label}: facts are {self.facts}; known: {', '.join(FACTS)}")

    def latex(self) -> str:
        """The equation of the step, typeset."""
        return self.check.latex()

    def __repr__(self) -> str:
        return f"{self.label}: {self.says}"

    def conditions(self) -> str:
        """Where the equation holds, in words."""
        return self.check.conditions()


@dataclass(frozen=True)
class Statement:
    """A theorem of the book: what it claims, under which hypotheses, and the steps of its proof."""

    id: str
    title: str
    chapter: str
    claim: str
    hypotheses: tuple[str, ...]
    paper: str
    uses: tuple[str, ...]
    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        if all(isinstance(s.check, ByHand) for s in self.steps):
            raise ValueError(f"{self.id}: no step is checked by a machine")
        labels = [s.label for s in self.steps]
        if len(set(labels)) != len(labels):
            raise ValueError(f"{self.id}: two steps have the same label")

    @property
    def status(self) -> str:
        """What a proof that succeeds makes of it, proved-exact unless a step is by hand."""
        by_hand = any(isinstance(s.check, ByHand) for s in self.steps)
        return "proved-by-hand + checked" if by_hand else "proved-exact"

    def step(self, label: str) -> Step:
        """The step with this label."""
        for step in self.steps:
            if step.label == label:
                return step
        raise ValueError(f"{self.id} has no step {label!r}; it has {', '.join(s.label for s in self.steps)}")


def prove(statement: Statement) -> Report:
    """Run every step and the false twin of each; proved if all steps hold and all twins are refuted."""
    start = time.perf_counter()
    rows = tuple(Row(s, s.check.run(), None if s.twin is None else s.twin.run()) for s in statement.steps)
    return Report(statement, rows, all(row.ok for row in rows), time.perf_counter() - start)


def refute(step: Step) -> Certificate:
    """The certificate of the step's false twin: not ok, and refuted by an exhibited point."""
    if step.twin is None:
        raise ValueError(f"step {step.label} is by hand and has no twin")
    return step.twin.run()
