"""Exact checks of formulas, small enough to read and able to fail.

A check states one relation between two expressions on a domain and settles it with exact arithmetic only:

- the tree of each expression is read, node by node, into the field of rational functions over QQ (or QQ with
  one square root); every denominator is noted as it stands, before anything cancels, and must be shown not to
  vanish on the domain;
- a derivative is taken by the rules of :func:`derivative`, written out below;
- a sign is found factor by factor: each open interval of the domain is mapped onto (0, oo) by a Möbius map;
  a factor whose coefficients then all have one sign has that sign; a factor in one variable may instead be
  settled by a Sturm count of its roots and one exact sample.

Nothing is decided by ``simplify``, ``equals`` or ``limit``. What is trusted: Python; SymPy's polynomials and
automatic values (``atan(0) = 0``, ``atan(1) = pi/4``, ``atan(-x) = -atan(x)``); 3 < pi < 4; the hand steps.
SymPy cancels ``x/x`` while an expression is built, so a claim is what its check displays.

A relation that cannot be settled is *refused*; one that fails at an exhibited point is *refuted*.
"""

from __future__ import annotations

import html
import itertools
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import sympy as sp
from sympy.polys.fields import FracField
from sympy.polys.orderings import lex
from sympy.printing.latex import LatexPrinter

__all__ = [
    "Above",
    "ByHand",
    "Certificate",
    "Check",
    "Identity",
    "Report",
    "Row",
    "Rows",
    "SameDerivative",
    "Series",
    "Sign",
    "Statement",
    "Step",
    "as_html",
    "derivative",
    "prove",
    "refute",
]

Domain = Mapping[sp.Symbol, sp.Set]
"""The interval of each symbol, with rational or infinite ends: ``{t: Interval.open(0, oo)}``."""

Where = Mapping[sp.Expr, sp.Expr]
"""What stands for what, put in before a check: ``{theta: 2*atan(t)}``."""

Cuts = Mapping[sp.Symbol, tuple[sp.Expr, ...]]
"""Points at which an interval is cut before signs are found on each part; 0 always is one."""

Piece = tuple[sp.Expr, sp.Expr]  # (low, high): an open interval, or a point if the two are equal
Signs = frozenset[int]  # the signs that a quantity may have

STATUSES = ("proved-exact", "proved-interval", "proved-by-hand + checked", "measured")

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
_DIGITS = 20


class _Unsettled(Exception):
    """The relation was not established; the message says what is missing."""


class _Undefined(_Unsettled):
    """It cannot even be read on the whole domain: a possible pole, an unknown function, a missing domain."""


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


# --- calculus -----------------------------------------------------------------------------------------------


def derivative(expr: sp.Expr, x: sp.Symbol) -> sp.Expr:
    """Derivative of `expr` by `x` by the rules below; any other function raises.

    The rules hold where denominators are not 0, arguments of log are positive and those of atan2(y, x) off
    the cut {y = 0, x <= 0}; every check verifies this on its domain.
    """
    if x not in expr.free_symbols:
        return sp.S.Zero
    if expr == x:
        return sp.S.One
    if expr.is_Add:
        return sp.Add(*(derivative(a, x) for a in expr.args))
    if expr.is_Mul:
        parts = expr.args
        return sp.Add(*(sp.Mul(*parts[:i], derivative(a, x), *parts[i + 1 :]) for i, a in enumerate(parts)))
    if expr.is_Pow and expr.exp.is_Integer:
        return expr.exp * expr.base ** (expr.exp - 1) * derivative(expr.base, x)
    if isinstance(expr, sp.Derivative):
        return derivative(_derivatives_done(expr), x)
    if isinstance(expr, sp.Integral):
        variable, low, high = _limits(expr)
        if x in low.free_symbols or x in expr.function.free_symbols:
            raise _Undefined(f"{x} stands in the integrand or the lower limit of {expr}")
        return expr.function.xreplace({variable: high}) * derivative(high, x)
    if isinstance(expr, sp.atan2):
        v, u = expr.args
        return (u * derivative(v, x) - v * derivative(u, x)) / (u**2 + v**2)
    if isinstance(expr, _FUNCTIONS):
        (u,) = expr.args
        rules = {
            sp.atan: lambda: 1 / (1 + u**2),
            sp.exp: lambda: sp.exp(u),
            sp.log: lambda: 1 / u,
            sp.sin: lambda: sp.cos(u),
            sp.cos: lambda: -sp.sin(u),
        }
        return rules[expr.func]() * derivative(u, x)
    raise _Undefined(f"no rule for the derivative of {expr}")


def _derivatives_done(expr: sp.Expr) -> sp.Expr:
    """`expr` with its ``Derivative`` nodes carried out."""
    if isinstance(expr, sp.Derivative):
        result = _derivatives_done(expr.expr)
        for variable, count in expr.variable_count:
            for _ in range(int(count)):
                result = derivative(result, variable)
        return result
    if not expr.args or not expr.has(sp.Derivative):
        return expr
    return expr.func(*(_derivatives_done(a) for a in expr.args))


def _limits(integral: sp.Integral) -> tuple[sp.Symbol, sp.Expr, sp.Expr]:
    if len(integral.limits) != 1 or len(integral.limits[0]) != 3:
        raise _Undefined(f"{integral} is not a single definite integral")
    variable, low, high = integral.limits[0]
    return variable, low, high


# --- signs on a domain --------------------------------------------------------------------------------------


def _pieces(interval: sp.Set, cuts: tuple[sp.Expr, ...] = ()) -> list[Piece]:
    """`interval` as points and open intervals, cut at 0 and at `cuts`."""
    if isinstance(interval, sp.FiniteSet):
        return [(a, a) for a in interval.args]
    if not isinstance(interval, sp.Interval):
        raise _Undefined(f"{interval} is not an interval")
    low, high = interval.start, interval.end
    for end in (low, high, *cuts):
        if not (end.is_Rational or end.is_infinite):
            raise _Undefined(f"{end}, an end of {interval} or a cut, is not rational")
    inner = sorted(a for a in {sp.S.Zero, *cuts} if low < a < high)
    ends = [low, *inner, high]
    points = [a for a in ends if interval.contains(a) == sp.true]
    return [*itertools.pairwise(ends), *((a, a) for a in points)]


def _coefficient_sign(c: Any, domain: Any) -> int:
    """Sign of a rational number or, exactly, of a + b sqrt(d)."""
    if domain.is_QQ:
        return int(c > 0) - int(c < 0)
    *rest, a = c.to_list() or [domain.dom.zero]
    b = rest[0] if rest else domain.dom.zero
    size = a**2 - b**2 * domain.dom.from_sympy(domain.ext.as_expr() ** 2)
    leading = a if size > 0 else b
    return int(leading > 0) - int(leading < 0)


def _image(gen: Any, piece: Piece, power: int, degree: int) -> Any:
    """x^power times the denominator^degree of the map from (0, oo) onto the piece, as a polynomial."""
    low, high = piece
    number = gen.ring.domain.from_sympy
    if low == high:
        return gen.ring(number(low) ** power)
    if low.is_infinite and high.is_infinite:
        raise _Undefined("a piece of the domain is a whole line")
    if high.is_infinite:
        return (number(low) + gen) ** power
    if low.is_infinite:
        return (number(high) - gen) ** power
    return (number(low) + number(high) * gen) ** power * (1 + gen) ** (degree - power)


def _factor_signs(factor: Any, pieces: list[Piece]) -> tuple[Signs, str]:
    """Possible signs of a polynomial on a product of pieces, and how that is known."""
    ring = factor.ring
    image = ring.zero
    for powers, coefficient in factor.terms():
        term = ring(coefficient)
        for gen, piece, power, degree in zip(ring.gens, pieces, powers, factor.degrees(), strict=True):
            if degree:
                term *= _image(gen, piece, power, degree)
        image += term
    found = {_coefficient_sign(c, ring.domain) for c in image.coeffs()}
    if len(found) <= 1:  # the coefficients of a polynomial are not 0: one sign, or none at all
        return frozenset(found or {0}), ""
    used = [i for i, degree in enumerate(factor.degrees()) if degree]
    if len(used) == 1 and ring.domain.is_QQ:
        return _sturm_signs(factor, ring.symbols[used[0]], pieces[used[0]])
    return _ANY, ""


def _sturm_signs(factor: Any, x: sp.Symbol, piece: Piece) -> tuple[Signs, str]:
    poly = sp.Poly(factor.as_expr(), x, domain="QQ")
    low, high = piece
    roots = poly.count_roots(None if low.is_infinite else low, None if high.is_infinite else high)
    roots -= sum(1 for end in piece if end.is_finite and poly.eval(end) == 0)
    if roots:
        return _ANY, ""
    sample = next(iter(_samples(sp.Interval.open(low, high))))
    return frozenset({int(sp.sign(poly.eval(sample)))}), f" (no root by Sturm, sample {x} = {sample})"


def _product(a: Signs, b: Signs) -> Signs:
    return frozenset(x * y for x in a for y in b)


class _Signs:
    """Signs of rational functions on a domain, cell by cell."""

    def __init__(self, domain: Domain, cuts: Cuts) -> None:
        self.domain = domain
        self.factored: dict[Any, Any] = {}
        self.pieces = {x: _pieces(interval, cuts.get(x, ())) for x, interval in domain.items()}

    def cells(self, *elements: Any) -> Iterator[list[Piece]]:
        """Products of pieces over the variables that the elements contain; others stay at a dummy point."""
        polys = [p for e in elements for p in (e.numer, e.denom)]
        ring = polys[0].ring
        idle = [(sp.S.Zero, sp.S.Zero)]
        return map(
            list,
            itertools.product(
                *(
                    self.pieces[x] if any(p.degrees()[i] > 0 for p in polys) else idle
                    for i, x in enumerate(ring.symbols)
                )
            ),
        )

    def on_cell(self, element: Any, cell: list[Piece], seen: dict[str, tuple[Signs, str]]) -> Signs:
        """Possible signs of a rational function on a cell; `seen` gathers those of its factors."""
        result: Signs = frozenset({1})
        for poly in (element.numer, element.denom):
            if not poly:
                return frozenset({0})
            if poly not in self.factored:
                self.factored[poly] = poly.factor_list()
            constant, factors = self.factored[poly]
            result = _product(result, frozenset({_coefficient_sign(constant, poly.ring.domain)}))
            for factor, multiplicity in factors:
                signs, how = _factor_signs(factor, cell)
                name = str(factor.as_expr())
                if multiplicity % 2 == 0:
                    name, signs = str(factor.as_expr() ** multiplicity), frozenset(s * s for s in signs)
                before, how_before = seen.get(name, (frozenset(), ""))
                seen[name] = (before | signs, how or how_before)
                result = _product(result, signs)
        return result

    def require(self, element: Any, relation: str, text: str) -> str:
        """Show that (element relation 0) on the whole domain; return the factors' signs in words."""
        seen: dict[str, tuple[Signs, str]] = {}
        for cell in self.cells(element):
            if not self.on_cell(element, cell, seen) <= _RELATIONS[relation]:
                raise _Unsettled(f"{text} {relation} 0 is not established on the domain ({_factors(seen)})")
        return _factors(seen)


def _factors(seen: dict[str, tuple[Signs, str]]) -> str:
    words = {frozenset({0}): "= 0", _ANY: "of unknown sign"} | {s: f"{r} 0" for r, s in _RELATIONS.items()}
    return ", ".join(f"{name} {words[signs]}{how}" for name, (signs, how) in seen.items())


# --- reading expressions into QQ(x, ...) --------------------------------------------------------------------


def _exp_power(expr: sp.Expr) -> tuple[sp.Expr, int]:
    """exp(n u) as (exp(u), n): SymPy merges exp(u) exp(u) into exp(2 u) while it builds a product."""
    n, u = expr.args[0].as_coeff_Mul()
    return (sp.exp(u), int(n)) if n.is_Integer and u != 1 else (expr, 1)


class _Reader:
    """Reads trees into one field of rational functions and collects what must hold on the domain."""

    def __init__(self, trees: tuple[sp.Expr, ...], domain: Domain, where: Where, cuts: Cuts) -> None:
        self.where = dict(where)
        self.domain: dict[sp.Expr, sp.Set] = dict(domain)
        self.functions: dict[sp.Expr, sp.Symbol] = {}
        self.conditions: dict[tuple[str, tuple[Any, ...]], str] = {}
        for x in sorted(set().union(*(k.free_symbols for k in self.where)) & set(self.domain), key=str):
            raise ValueError(f"{x} has a domain and stands in what is substituted")
        plain = [t.xreplace(self.where) for t in trees]
        for x in sorted(set().union(*(p.free_symbols for p in plain)) - set(self.domain), key=str):
            raise _Undefined(f"no domain is given for {x}")
        roots: set[sp.Expr] = set()
        generators: dict[sp.Symbol, sp.Set] = {x: s for x, s in self.domain.items() if x.is_Symbol}
        for node in itertools.chain.from_iterable(
            sp.preorder_traversal(p) for p in [*plain, *(_derivatives_done(p) for p in plain)]
        ):
            if node.is_Pow and node.base.is_Integer and abs(node.exp) == sp.S.Half:
                roots.add(sp.sqrt(node.base))
            elif node == sp.pi:
                self._generator(node, sp.Interval.open(3, 4), generators)
            elif isinstance(node, sp.exp):
                self._generator(_exp_power(node)[0], sp.Interval.open(0, sp.oo), generators)
            elif isinstance(node, _FUNCTIONS):
                self._generator(node, sp.S.Reals, generators)
        if len(roots) > 1:
            raise _Undefined(f"more than one square root: {sorted(roots, key=str)}")
        numbers = sp.QQ.algebraic_field(*roots) if roots else sp.QQ
        self.field = FracField(list(generators), numbers, lex)
        self.signs = _Signs(generators, cuts)
        self.place = {x: self.field.gens[i] for i, x in enumerate(generators)}
        names = [str(x) for x in self.domain if any(x in p.free_symbols for p in plain)]
        self.name = f"QQ{''.join(f'[{r}]' for r in roots)}({', '.join(names)})"

    def _generator(self, node: sp.Expr, interval: sp.Set, generators: dict[sp.Symbol, sp.Set]) -> None:
        if node not in self.functions:
            symbol = sp.Symbol(str(node))
            self.functions[node] = symbol
            generators[symbol] = interval

    def need(self, text: str, relation: str, *elements: Any) -> None:
        if relation == "!=" and elements[0].numer.is_ground and elements[0]:
            return
        self.conditions.setdefault((relation, elements), text)

    def read(self, expr: sp.Expr) -> Any:
        """The element of the field that `expr` stands for."""
        return self._read(expr, self.where)

    def _read(self, expr: sp.Expr, where: Where) -> Any:
        if expr in where:
            return self._read(where[expr], {})
        if expr.is_Rational:
            return self.field(self.field.domain.from_sympy(expr))
        if expr.is_Symbol:
            return self.place[expr]
        if expr.is_Add:
            return sum((self._read(a, where) for a in expr.args), self.field.zero)
        if expr.is_Mul:
            result = self.field.one
            for a in expr.args:
                result *= self._read(a, where)
            return result
        if expr.is_Pow and expr.exp.is_Integer:
            base = self._read(expr.base, where)
            if expr.exp > 0:
                return base ** int(expr.exp)
            self.need(str(expr.base), "!=", base)
            if not base:
                raise _Undefined(f"the denominator {expr.base} is 0")
            return base ** int(expr.exp)
        if expr.is_Pow and expr.base.is_Integer and abs(expr.exp) == sp.S.Half:
            return self.field(self.field.domain.from_sympy(expr))
        if isinstance(expr, sp.Derivative):
            self._read(expr.expr, where)  # what is differentiated must itself be defined
            return self._read(_derivatives_done(expr.xreplace(dict(where))), {})
        if expr == sp.pi or isinstance(expr, _FUNCTIONS):
            return self._function(expr, where)
        raise _Undefined(f"{expr} is not built from the functions that can be read")

    def _function(self, expr: sp.Expr, where: Where) -> Any:
        """A function's value is a generator of its own, provided that its arguments are in its domain."""
        if isinstance(expr, sp.Integral):
            variable, low, high = _limits(expr)
            if low == high:
                return self.field.zero
            interval, upper = self.domain.get(variable), self.domain.get(high)
            covered = interval is not None and upper is not None and upper.is_subset(interval)
            if not (covered and interval is not None and interval.contains(low) == sp.true):
                raise _Undefined(f"the domain of {variable} does not cover the path of integration of {expr}")
            self._read(expr.function, where)
        else:
            values = [self._read(a, where) for a in expr.args]
            if isinstance(expr, sp.log):
                self.need(str(expr.args[0]), ">", *values)
            elif isinstance(expr, sp.atan2):
                self.need(f"({expr.args[1]}, {expr.args[0]})", "off the cut", *values)
        plain = expr.xreplace(dict(where))
        if isinstance(plain, sp.exp):
            base, power = _exp_power(plain)
            return self.place[self.functions[base]] ** power
        return self.place[self.functions[plain]]

    def settle(self) -> str:
        """Show every condition on the whole domain; return them in words."""
        words = []
        for (relation, elements), text in self.conditions.items():
            if relation == "off the cut":
                self._off_the_cut(text, *elements)
                words.append(f"{text} is off the cut of atan2")
            else:
                try:
                    reason = self.signs.require(elements[0], relation, text)
                except _Unsettled as failure:
                    raise _Undefined(str(failure)) from None
                words.append(f"{text} {relation} 0 ({reason})")
        return "".join(f"; {w}" for w in words)

    def _off_the_cut(self, text: str, v: Any, u: Any) -> None:
        for cell in self.signs.cells(v, u):
            v_signs, u_signs = (self.signs.on_cell(e, cell, {}) for e in (v, u))
            if not (v_signs <= _RELATIONS["!="] or u_signs <= _RELATIONS[">"]):
                raise _Undefined(f"that {text} is off the cut of atan2 is not established")


# --- counterexamples ----------------------------------------------------------------------------------------


def _samples(interval: sp.Set) -> list[sp.Expr]:
    """A few rational points of an interval, closed ends among them."""
    points: list[sp.Expr] = []
    for low, high in _pieces(interval):
        if low == high:
            points.append(low)
        elif low.is_finite and high.is_finite:
            points += [low + (high - low) * sp.Rational(*r) for r in ((1, 2), (1, 7), (9, 10))]
        elif low.is_finite:
            points += [low + sp.Rational(*r) for r in ((1, 1), (1, 3), (7, 2), (40, 1))]
        else:
            points += [high - sp.Rational(*r) for r in ((1, 1), (1, 3), (7, 2))]
    return points


def _counterexample(lhs: sp.Expr, relation: str, rhs: sp.Expr, domain: Domain, where: Where) -> str:
    """A point of the domain at which the relation fails numerically, in words; "" if none is found."""
    sides = [_derivatives_done(e.xreplace(dict(where))) for e in (lhs, rhs)]
    names = sorted(sides[0].free_symbols | sides[1].free_symbols, key=str)
    for values in itertools.product(*(_samples(domain[x]) for x in names)):
        point = dict(zip(names, values, strict=True))
        left, right = (e.xreplace(point) for e in sides)
        difference = (
            left - right
            if left.is_Rational and right.is_Rational
            else sp.N(left, _DIGITS) - sp.N(right, _DIGITS)
        )
        if not (difference.is_Rational or (difference.is_Float and abs(difference) > 10 ** (10 - _DIGITS))):
            continue  # undefined there, or too small to tell
        if int(sp.sign(difference)) not in _RELATIONS.get(relation, {0}):
            place = ", ".join(f"{x} = {v}" for x, v in point.items())
            return f"{f'at {place} ' if place else ''}the sides are {sp.N(left, 10)} and {sp.N(right, 10)}"
    return ""


# --- the checks ---------------------------------------------------------------------------------------------


class Check(Protocol):
    """What a step needs of its check: a kind for readers, a verdict, and the equation checked."""

    @property
    def kind(self) -> str: ...

    def run(self) -> Certificate: ...

    def latex(self) -> str: ...

    def conditions(self) -> str: ...


@dataclass(frozen=True, eq=False)
class _Relation:
    """lhs (relation) rhs on a domain, after the substitutions `where`."""

    lhs: sp.Expr
    rhs: sp.Expr
    domain: Domain = field(kw_only=True)
    where: Where = field(default_factory=dict, kw_only=True)
    cuts: Cuts = field(default_factory=dict, kw_only=True)
    kind: ClassVar[str]

    def _relation(self) -> str:
        return "="

    def _settle(self) -> str:
        """Establish the relation and say how, or raise _Unsettled."""
        raise NotImplementedError

    def run(self) -> Certificate:
        """Settle the relation; a failure comes with a counterexample where one is found."""
        try:
            return Certificate(True, self.kind, self._settle())
        except _Undefined as failure:
            return Certificate(False, self.kind, str(failure))
        except _Unsettled as failure:
            found = _counterexample(self.lhs, self._relation(), self.rhs, self.domain, self.where)
            return Certificate(
                False, self.kind, f"{failure}; {found}" if found else str(failure), refuted=bool(found)
            )

    def latex(self) -> str:
        """The relation, typeset."""
        return f"{_latex(self.lhs)} {_LATEX[self._relation()]} {_latex(self.rhs)}"

    def conditions(self) -> str:
        """The domain and the substitutions, in words: "alpha real, t > 0; with theta = 2*atan(t)"."""
        used = set().union(*(sp.preorder_traversal(e) for e in (self.lhs, self.rhs)))
        where = [(k, v) for k, v in self.where.items() if k in used]
        used |= set().union(*(v.free_symbols for _, v in where))
        words = ", ".join(_interval_words(x, s) for x, s in self.domain.items() if x in used)
        return words + ("; with " + ", ".join(f"{k} = {v}" for k, v in where) if where else "")

    def _plain(self) -> tuple[sp.Expr, sp.Expr]:
        lhs, rhs = (e.xreplace(dict(self.where)) for e in (self.lhs, self.rhs))
        return lhs, rhs


class Identity(_Relation):
    """lhs = rhs as rational functions; values of atan, exp, ... in them count as independent quantities.

    Every denominator of both trees must be shown not to vanish on the domain.
    """

    kind = "polynomial identity"

    def _settle(self) -> str:
        reader = _Reader((self.lhs, self.rhs), self.domain, self.where, self.cuts)
        if reader.read(self.lhs) - reader.read(self.rhs):
            raise _Unsettled(f"the difference is not 0 in {reader.name}")
        return f"the difference is 0 in {reader.name}{reader.settle()}"


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

    def _settle(self) -> str:
        reader = _Reader((self.lhs,), self.domain, self.where, self.cuts)
        element = reader.read(self.lhs)
        return f"{reader.signs.require(element, self.relation, str(self.lhs))}{reader.settle()}"


@dataclass(frozen=True, eq=False)
class SameDerivative(_Relation):
    """lhs = rhs: the same value at variable = at, and the same derivative on the interval from there.

    Both sides are shown to be defined on the whole domain, with `at` joined to the interval of the variable.
    """

    variable: sp.Symbol = field(kw_only=True)
    at: sp.Expr = field(kw_only=True)

    kind = "same value, same derivative"

    def _read(self) -> tuple[_Reader, Any, Any]:
        """The reader, and lhs - rhs: its value at the point, its derivative."""
        interval = sp.Union(self.domain[self.variable], sp.FiniteSet(self.at))
        if not isinstance(interval, sp.Interval):
            raise _Undefined(
                f"{self.variable} = {self.at} is not on the interval of {self.variable} nor at its end"
            )
        slopes = [derivative(_derivatives_done(e), self.variable) for e in self._plain()]
        values = [e.xreplace({self.variable: self.at}) for e in self._plain()]
        trees = (self.lhs, self.rhs, *slopes, *values)
        cuts = {**self.cuts, self.variable: (self.at, *self.cuts.get(self.variable, ()))}
        reader = _Reader(trees, {**self.domain, self.variable: interval}, self.where, cuts)
        reader.read(self.lhs), reader.read(self.rhs)
        left, right, *ends = (reader._read(e, {}) for e in (*slopes, *values))
        return reader, ends[0] - ends[1], left - right

    def _settle(self) -> str:
        reader, value, slope = self._read()
        if value:
            raise _Unsettled(f"the values at {self.variable} = {self.at} differ")
        if slope:
            raise _Unsettled(f"the derivatives by {self.variable} differ in {reader.name}")
        return (
            f"equal at {self.variable} = {self.at}; the derivatives by {self.variable} agree in {reader.name}"
            f"{reader.settle()}"
        )


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

    def _settle(self) -> str:
        reader, value, slope = self._read()
        interval = self.domain[self.variable]
        if self.at not in (interval.start, interval.end):
            raise _Unsettled(f"{self.variable} = {self.at} is no end of the interval of {self.variable}")
        if len(self.relation) == 1 and interval.contains(self.at) == sp.true:
            raise _Unsettled(f"{self.variable} = {self.at} belongs to the domain, where both sides are equal")
        if value:
            raise _Unsettled(f"the values at {self.variable} = {self.at} differ")
        forward = self.at == interval.start
        relation = self.relation if forward else self.relation.translate(str.maketrans("<>", "><"))
        inside = _Signs({**reader.signs.domain, self.variable: interval.interior}, self.cuts)
        text = f"derivative of the difference by {self.variable}"
        factors = inside.require(slope, relation, text)
        return f"equal at {self.variable} = {self.at}; {text} {relation} 0: {factors}{reader.settle()}"


@dataclass(frozen=True, eq=False)
class Series(_Relation):
    """lhs = rhs + O(variable^order): the Taylor coefficients at 0 agree."""

    variable: sp.Symbol = field(kw_only=True)
    order: int = field(kw_only=True)

    kind = "series"

    def run(self) -> Certificate:
        """Compare the coefficients; two that differ refute the relation."""
        try:
            return self._compare()
        except _Undefined as failure:
            return Certificate(False, self.kind, str(failure))

    def _compare(self) -> Certificate:
        reader = _Reader((self.lhs, self.rhs), self.domain, self.where, self.cuts)
        lhs, rhs = (_taylor(e, self.variable, self.order, reader) for e in self._plain())
        for k, (left, right) in enumerate(zip(lhs, rhs, strict=True)):
            if left - right:
                found = f"the coefficients of {self.variable}**{k} are {left} and {right}"
                return Certificate(False, self.kind, found, refuted=True)
        upto = f"{self.variable}**0 to {self.variable}**{self.order - 1}"
        return Certificate(True, self.kind, f"coefficients of {upto} agree in {reader.name}{reader.settle()}")

    def latex(self) -> str:
        return rf"{super().latex()} + O\left({_latex(self.variable)}^{{{self.order}}}\right)"


def _taylor(expr: sp.Expr, x: sp.Symbol, order: int, reader: _Reader) -> list[Any]:
    """Taylor coefficients of `expr` at x = 0, below x^order, as elements of the reader's field."""
    zero, one = reader.field.zero, reader.field.one

    def times(a: list[Any], b: list[Any]) -> list[Any]:
        return [sum((a[i] * b[k - i] for i in range(k + 1)), zero) for k in range(order)]

    def of(u: list[Any], outer: list[Any]) -> list[Any]:
        result = [zero] * order
        for c in reversed(outer):  # Horner
            result = times(result, u)
            result[0] += c
        return result

    if x not in expr.free_symbols:
        return [reader._read(expr, {})] + [zero] * (order - 1)
    if expr == x:
        return [one if k == 1 else zero for k in range(order)]
    parts = [
        _taylor(a, x, order, reader) for a in expr.args if not a.is_Integer or expr.is_Add or expr.is_Mul
    ]
    if expr.is_Add:
        return [sum(c, zero) for c in zip(*parts, strict=True)]
    if expr.is_Mul:
        result = parts[0]
        for other in parts[1:]:
            result = times(result, other)
        return result
    if expr.is_Pow and expr.exp.is_Integer:
        (u,) = parts
        if expr.exp < 0:  # 1/u = sum of (1 - u/u0)^k / u0
            reader.need(f"{expr.base} at {x} = 0", "!=", u[0])
            if not u[0]:
                raise _Undefined(f"{expr.base} is 0 at {x} = 0")
            first = u[0]
            u = [c / first for c in of([zero, *(-c / first for c in u[1:])], [one] * order)]
        result = u
        for _ in range(abs(int(expr.exp)) - 1):
            result = times(result, u)
        return result
    factorial = [reader.field(int(sp.factorial(k))) for k in range(order)]
    outer = {
        sp.atan: lambda k: zero if k % 2 == 0 else reader.field((-1) ** (k // 2)) / k,
        sp.exp: lambda k: one / factorial[k],
        sp.sin: lambda k: zero if k % 2 == 0 else (-1) ** (k // 2) / factorial[k],
        sp.cos: lambda k: (-1) ** (k // 2) / factorial[k] if k % 2 == 0 else zero,
    }.get(expr.func)
    if outer is None or parts[0][0]:
        raise _Undefined(f"no series at {x} = 0 for {expr}")
    return of(parts[0], [outer(k) for k in range(order)])


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


# --- statements ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Step:
    """One labelled line of a proof, its check, and the false twin that the check must refute."""

    label: str
    says: str
    check: Check
    twin: Check | None = None

    def __post_init__(self) -> None:
        if (self.twin is None) != isinstance(self.check, ByHand):
            raise ValueError(
                f"step {self.label}: a false twin is needed exactly when a machine checks the step"
            )

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
    status: str
    uses: tuple[str, ...]
    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"{self.id}: status is {self.status!r}; known: {', '.join(STATUSES)}")
        labels = [s.label for s in self.steps]
        if len(set(labels)) != len(labels):
            raise ValueError(f"{self.id}: two steps have the same label")

    def step(self, label: str) -> Step:
        """The step with this label."""
        for step in self.steps:
            if step.label == label:
                return step
        raise ValueError(f"{self.id} has no step {label!r}; it has {', '.join(s.label for s in self.steps)}")


@dataclass(frozen=True)
class Row:
    """A step with its certificate and that of its false twin (None for a step by hand)."""

    step: Step
    certificate: Certificate
    twin: Certificate | None

    @property
    def ok(self) -> bool:
        return self.certificate.ok and (self.twin is None or self.twin.refuted)

    def _lines(self) -> list[str]:
        conditions = self.step.conditions()
        return ([f"for {conditions}"] if conditions else []) + self.certificate.lines()


class Rows(tuple[Row, ...]):
    """Steps in full: words, equation, conditions and what the check found. Shows itself in a notebook."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n\n".join("\n  ".join([repr(row.step), *row._lines()]) for row in self)

    def _repr_html_(self) -> str:
        return "".join(
            f"<div class='step'><p><code>{html.escape(row.step.label)}</code> "
            f"{as_html(row.step.says)}</p>"
            f"<div class='math notranslate nohighlight'>\\[{html.escape(row.step.latex())}\\]</div>"
            f"<p class='certificate'>{'<br>'.join(map(as_html, row._lines()))}</p></div>"
            for row in self
        )


@dataclass(frozen=True, repr=False)
class Report:
    """The outcome of :func:`prove`; prints as a table, the same on every run."""

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
                "" if row.twin is None else "rejected" if row.twin.refuted else "NOT REFUTED",
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


def _interval_words(x: sp.Symbol, interval: sp.Set) -> str:
    low, high = interval.inf, interval.sup
    if low == high:
        return f"{x} = {low}"
    left = "" if low.is_infinite else f"{low} {'<' if interval.contains(low) != sp.true else '<='} "
    right = "" if high.is_infinite else f" {'<' if interval.contains(high) != sp.true else '<='} {high}"
    if left and not right:
        return f"{x} {'>=' if interval.contains(low) == sp.true else '>'} {low}"
    return f"{left}{x}{right}" if left or right else f"{x} real"


# --- typesetting --------------------------------------------------------------------------------------------


class _Printer(LatexPrinter):  # type: ignore[misc]
    def _as_ordered_terms(self, expr: sp.Expr, order: str | None = None) -> list[sp.Expr]:
        """Low powers first, and no minus sign in front where it can be avoided."""
        terms = list(super()._as_ordered_terms(expr, order=order))
        first = next((i for i, term in enumerate(terms) if not _is_negative(term)), 0)
        return [terms.pop(first), *terms]

    def _print_Derivative(self, expr: sp.Expr) -> str:
        d = "d" if len(expr.expr.free_symbols) == 1 else r"\partial"
        return rf"\frac{{{d}}}{{{d} {self._print(expr.variables[0])}}} \left[{self._print(expr.expr)}\right]"

    def _print_atan2(self, expr: sp.Expr) -> str:
        v, u = (self._print(a) for a in expr.args)
        return rf"\mathop{{\text{{atan2}}}}\nolimits\left({v}, {u}\right)"


def _is_negative(term: sp.Expr) -> bool:
    return bool(term.as_coeff_Mul()[0].is_negative)


_WRITTEN = {
    "alpha": "α",
    "beta": "β",
    "theta": "θ",
    "kappa": "κ",
    "phi": "φ",
    "pi": "π",
    "sqrt": "√",
    "<=": "≤",
    ">=": "≥",
    "!=": "≠",
    "->": "→",
    "*": "\N{NARROW NO-BREAK SPACE}",
}
_WRITABLE = re.compile(
    r"(?:\*\*|\^)(\d+)\b|\b(?:alpha|beta|theta|kappa|phi|pi|sqrt)(?![a-z])|[<>!]=|->|\*(?!\*)"
)
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def as_html(text: str) -> str:
    """Plain text as HTML, with Greek letters, exponents and relations as one writes them."""
    written = _WRITABLE.sub(lambda m: m[1].translate(_RAISED) if m[1] else _WRITTEN[m[0]], text)
    return html.escape(written)


def _latex(expr: sp.Expr) -> str:
    return str(_Printer({"inv_trig_style": "full", "order": "rev-grlex"}).doprint(expr))
