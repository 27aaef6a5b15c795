"""Exact checks of matrix equations: identities for every size, and consequences at fixed sizes.

The letters of a matrix identity stand for real matrices. Each has a shape, whose entries are size symbols or
numbers, all of them positive: an empty block is a case of its own. An expression is built from letters,
identity and zero matrices, ``+``, ``*``, positive powers, transposition, and coefficients as in
:mod:`ngeodesic.proof`, but without derivatives and integrals; a claim may stand under one trace on either
side. Anything else is refused. What holds by assumption is a list of relations.

- An expression is read into polynomials in words: products of letters and transposed letters, which do not
  commute. Transposition reverses a word.
- A relation is a rule that replaces a word by smaller words: shorter ones, or of one length and earlier in
  the order of the letters. So replacing comes to an end, and sides with the same result are equal.
- Under a trace, a word may also be rotated and transposed.
- A model is a choice of rational matrices and numbers. It must satisfy the relations exactly, and without one
  nothing is accepted, because contradictory relations prove everything. A claim is *refuted* by a model in
  which its two sides differ.

A membership needs no words: it writes lhs - rhs as a combination of polynomials that are 0 by assumption,
with the cofactors given, and is checked by multiplying out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from ngeodesic.display import interval_in_words, latex, plain
from ngeodesic.proof import _NAME, _occurring, _Reader, _Refused, _Relation, _Unsettled, _used

__all__ = ["MatrixIdentity", "Membership"]

Word = tuple[tuple[int, int], ...]  # per letter: its place in the order, and 1 if it is transposed
Relations = tuple[tuple[sp.MatrixExpr, sp.MatrixExpr], ...]
Model = Mapping[Any, Any]
"""The matrix of each letter and the number for each symbol: ``{W: Matrix([[2], [0]]), sigma: 2}``."""


# --- polynomials in words -----------------------------------------------------------------------------------


class _Poly:
    """A polynomial in words, with those methods of a DomainMatrix that an expression needs."""

    def __init__(self, shape: tuple[Any, Any], terms: dict[Word, Any]) -> None:
        self.shape = shape
        self.terms = {word: c for word, c in terms.items() if c}

    def __add__(self, other: _Poly) -> _Poly:
        if self.shape != other.shape:
            raise _Refused(f"shapes {self.shape} and {other.shape} are added")
        terms = dict(self.terms)
        for word, c in other.terms.items():
            terms[word] = terms[word] + c if word in terms else c
        return _Poly(self.shape, terms)

    def __mul__(self, other: _Poly) -> _Poly:
        if self.shape[1] != other.shape[0]:
            raise _Refused(f"shapes {self.shape} and {other.shape} are multiplied")
        total = _Poly((self.shape[0], other.shape[1]), {})
        for word, c in self.terms.items():
            total += _Poly(total.shape, {word + w: c * d for w, d in other.terms.items()})
        return total

    def scalarmul(self, c: Any) -> _Poly:
        return _Poly(self.shape, {word: c * d for word, d in self.terms.items()})

    def transpose(self) -> _Poly:
        return _Poly(self.shape[::-1], {_transposed(word): c for word, c in self.terms.items()})


def _transposed(word: Word) -> Word:
    return tuple((letter, 1 - flag) for letter, flag in reversed(word))


def _order(word: Word) -> tuple[int, Word]:
    return len(word), word


@dataclass(frozen=True)
class _Rule:
    """A word, what replaces it, and the relation that says so."""

    word: Word
    by: _Poly
    relation: str

    def __post_init__(self) -> None:
        if not all(_order(word) < _order(self.word) for word in self.by.terms):
            raise _Refused(f"the relation {self.relation} does not replace a word by smaller ones")


class _Rules:
    """Rewriting by rules; `used` gathers the relations that were applied."""

    def __init__(self, rules: list[_Rule], one: Any) -> None:
        self.rules, self.one = rules, one
        self.used: set[str] = set()

    def reduce(self, poly: _Poly) -> _Poly:
        """Replace words until no rule applies; the order makes that a finite task."""
        result = _Poly(poly.shape, {})
        todo = list(poly.terms.items())
        while todo:
            word, c = todo.pop()
            found = self._first(word)
            if found is None:
                result += _Poly(poly.shape, {word: c})
                continue
            start, rule = found
            self.used.add(rule.relation)
            end = start + len(rule.word)
            todo += [(word[:start] + w + word[end:], c * d) for w, d in rule.by.terms.items()]
        return result

    def _first(self, word: Word) -> tuple[int, _Rule] | None:
        for start in range(len(word)):
            for rule in self.rules:
                if word[start : start + len(rule.word)] == rule.word:
                    return start, rule
        return None

    def trace(self, poly: _Poly) -> _Poly:
        """Each word replaced by the smallest that is known to have the same trace, or a multiple of it."""
        result = _Poly(poly.shape, {})
        for word, c in poly.terms.items():
            reached = self._reached(word)
            if reached:
                least = min(reached, key=_order)
                result += _Poly(poly.shape, {least: c * reached[least]})
        return result

    def _reached(self, word: Word) -> dict[Word, Any]:
        """Words w with numbers c such that tr(word) = c tr(w); none if tr(word) is shown to be 0."""
        reached = {word: self.one}
        todo = [word]
        while todo:
            w = todo.pop()
            steps = {v[i:] + v[:i]: self.one for v in (w, _transposed(w)) for i in range(len(v))}
            terms = self.reduce(_Poly(("", ""), {w: self.one})).terms
            if not terms:
                return {}
            for other, c in [*steps.items(), *(terms.items() if len(terms) == 1 else ())]:
                if not other:
                    continue  # an identity matrix, whose size a rotation may have changed
                factor = reached[w] * c
                if other not in reached:
                    reached[other] = factor
                    todo.append(other)
                elif reached[other] != factor and not _occurring(reached[other] - factor):
                    return {}  # two multiples of one trace are equal, and differ by a number that is not 0
        return reached


# --- reading ------------------------------------------------------------------------------------------------


def _refuse_unreadable(parts: Iterable[Any]) -> None:
    """Refuse what is no expression, and derivatives: they mean something else at a point of a model."""
    for e in parts:
        if not isinstance(e, sp.Expr):
            raise _Refused(f"{e} is not an expression")
        if e.has(sp.Derivative, sp.Integral):
            raise _Refused(f"{e} contains a derivative or an integral")


def _coefficients(expr: sp.Expr) -> Iterator[sp.Expr]:
    """The coefficients in an expression."""
    for part in expr.args if type(expr) in (sp.MatAdd, sp.MatMul, sp.MatPow, sp.Transpose, sp.Trace) else ():
        if part.is_Matrix:
            yield from _coefficients(part)
        elif type(expr) is sp.MatMul:
            yield part


@dataclass(frozen=True)
class _Meaning:
    """What an expression is made of: polynomials in words, or the matrices of a model."""

    letters: dict[sp.MatrixSymbol, Any]
    identity: Callable[[Any], Any]
    zero: Callable[[Any, Any], Any]
    coefficients: dict[sp.Expr, Any]

    def of(self, expr: sp.Expr) -> Any:
        """The value of an expression."""
        if type(expr) is sp.MatrixSymbol:
            if expr not in self.letters:
                raise _Refused(f"{expr} is used before it is defined")
            return self.letters[expr]
        if type(expr) is sp.Identity:
            return self.identity(expr.shape[0])
        if type(expr) is sp.ZeroMatrix:
            return self.zero(*expr.shape)
        if type(expr) is sp.Transpose:
            return self.of(expr.arg).transpose()
        if type(expr) is sp.MatAdd:
            first, *others = map(self.of, expr.args)
            return sum(others, first)
        if type(expr) is sp.MatMul:
            first, *others = (self.of(part) for part in expr.args if part.is_Matrix)
            result = math.prod(others, start=first)
            for part in expr.args:
                result = result if part.is_Matrix else result.scalarmul(self.coefficients[part])
            return result
        if type(expr) is sp.MatPow and isinstance(expr.exp, sp.Integer) and expr.exp > 0:
            base = self.of(expr.base)
            return math.prod([base] * (int(expr.exp) - 1), start=base)
        raise _Refused(f"{expr} is not built from the matrices that can be read")


class _Algebra(_Reader):
    """Reads a claim about matrices into polynomials in words, and into the matrices of each model."""

    def __init__(self, check: MatrixIdentity) -> None:
        self.check = check
        sides = [side for relation in check.relations for side in relation]
        _refuse_unreadable((check.lhs, check.rhs, *sides, *check.where.values()))
        used = _used((check.lhs, check.rhs, *sides), check.where)
        self.matrices = {x: e for x, e in used.items() if isinstance(x, sp.MatrixSymbol)}
        expressions = [check.lhs, check.rhs, *sides, *self.matrices.values()]
        self._refuse_letters(expressions)
        for i, (x, definition) in enumerate(used.items()):
            if definition.free_symbols & set(list(used)[i:]):
                raise _Refused(f"{x} is defined by what is not defined before it")
        coefficients = tuple(dict.fromkeys(c for e in expressions for c in _coefficients(e)))
        numbers = {x: e for x, e in check.where.items() if not isinstance(x, sp.MatrixSymbol)}
        super().__init__(coefficients, check.domain, numbers, check.cuts)
        self.coefficients = coefficients
        self.present = set().union(*(e.atoms(sp.MatrixSymbol) for e in expressions)) - set(self.matrices)
        self.rules = _Rules([], self.field.one)
        self.evaluated: list[tuple[str, Any, Any]] = []  # a model in words, and the two sides in it

    def _refuse_letters(self, expressions: list[sp.Expr]) -> None:
        """Refuse letters and sizes that could be misread."""
        check = self.check
        defined = [x for x in check.where if isinstance(x, sp.MatrixSymbol)]
        letters = {*check.letters, *defined}.union(*(e.atoms(sp.MatrixSymbol) for e in expressions))
        for x in sorted(letters, key=str):
            if type(x) is not sp.MatrixSymbol:
                raise _Refused(f"{x} is not a matrix symbol")
            if check.letters.count(x) + (x in defined) != 1:
                raise _Refused(f"{x} is neither a letter nor defined, or twice")
        sizes = {n for x in letters for n in x.shape if not (isinstance(n, sp.Integer) and n > 0)}
        for n in sizes:
            if not isinstance(n, sp.Symbol) or n != sp.Symbol(n.name, integer=True, positive=True):
                raise _Refused(f"the size {n} is neither a positive integer nor a symbol for one")
        names = [*letters, *sizes, *check.domain, *(x for x in check.where if x not in letters)]
        if not all(_NAME.fullmatch(str(x)) for x in names):
            raise _Refused("a letter, size or symbol has no plain name")
        if len({re.sub(r"mathrm|[\W_]", "", latex(x)) for x in names}) < len(names):
            raise _Refused("two letters, sizes or symbols look alike")

    def _values(self, point: dict[sp.Symbol, Any], free: set[sp.Symbol]) -> dict[sp.Expr, Any]:
        """The coefficients, rational functions of the symbols `free`, at a point for the others."""
        values = super().read(self.coefficients, point)
        if not set().union(*map(_occurring, values)) <= free:
            raise _Refused("a coefficient is no rational function of the symbols, or the model lacks one")
        return dict(zip(self.coefficients, values, strict=True))

    def read(self, trees: tuple[sp.Expr, ...], point: dict[sp.Symbol, sp.Rational]) -> list[Any]:
        """The two sides as polynomials in words; the relations become rules."""
        one = self.field.one
        meaning = _Meaning(
            {x: _Poly(x.shape, {((i, 0),): one}) for i, x in enumerate(self.check.letters)},
            lambda n: _Poly((n, n), {(): one}),
            lambda rows, columns: _Poly((rows, columns), {}),
            self._values(point, set(self.domain)),
        )
        self._define(meaning)
        for relation in self.check.relations:
            word, by = map(meaning.of, relation)
            self._add_rule(word, by, _equation(relation))
        return self._sides(meaning, trees)

    def _define(self, meaning: _Meaning) -> None:
        for x, definition in self.matrices.items():
            meaning.letters[x] = meaning.of(definition)
            shape = getattr(meaning.letters[x], "shape", None)
            if isinstance(meaning.letters[x], _Poly) and shape != x.shape:
                raise _Refused(f"{x} and its definition have the shapes {x.shape} and {shape}")

    def _add_rule(self, word: _Poly, by: _Poly, relation: str) -> None:
        """The relation as a rule, and its transpose if that is a rule, too."""
        if word.shape != by.shape or list(word.terms.values()) != [self.field.one]:
            raise _Refused(f"the relation {relation} does not replace a single word by others of its shape")
        (left,) = word.terms
        self.rules.rules.append(_Rule(left, by, relation))
        mirrored, by = _transposed(left), by.transpose()
        if mirrored != left and all(_order(w) < _order(mirrored) for w in by.terms):
            self.rules.rules.append(_Rule(mirrored, by, relation))

    def _sides(self, meaning: _Meaning, trees: tuple[sp.Expr, ...]) -> list[Any]:
        """The values of the two sides, or of what stands under a trace in them."""
        if self.check.trace and not all(e == 0 or type(e) is sp.Trace for e in trees):
            raise _Refused("a trace is compared with something else")
        matrices = [e.arg if type(e) is sp.Trace else e for e in trees]
        shape = next((e.shape for e in matrices if isinstance(e, sp.MatrixExpr)), None)
        if shape is None:
            raise _Refused("no side is a matrix")
        sides = [meaning.zero(*shape) if e == 0 else meaning.of(e) for e in matrices]
        if sides[0].shape != sides[1].shape or (self.check.trace and shape[0] != shape[1]):
            raise _Refused("the sides have different shapes, or the trace is not of a square matrix")
        return sides

    def settle(self) -> str:
        """Show that the coefficients are defined, and that every model satisfies the relations."""
        words = super().settle()
        if not self.check.models:
            raise _Refused("no model is given: the relations could be contradictory")
        for number, model in enumerate(self.check.models, 1):
            meaning = self._meaning(model, f"model {number}")
            for left, right in self.check.relations:
                if _listed(meaning.of(left)) != _listed(meaning.of(right)):
                    raise _Refused(f"model {number} does not satisfy {_equation((left, right))}")
            shown = [
                f"{x} = {_text(_listed(meaning.letters[x]))}" for x in self.check.letters if x in self.present
            ]
            shown += [f"{x} = {model[x]}" for x in self.domain if x in self.free]
            left, right = map(_listed, self._sides(meaning, self.check.sides))
            if self.check.trace:
                left, right = _trace(left), _trace(right)
            self.evaluated.append((", ".join(shown), left, right))
        return words

    def _meaning(self, model: Model, name: str) -> _Meaning:
        """The matrices and numbers of a model, if they fit the shapes and the domain."""
        sizes: dict[Any, int] = {}
        letters = {}
        for x in sorted(self.present, key=str):
            given = model.get(x)
            if not isinstance(given, sp.MatrixBase) or not all(isinstance(y, sp.Rational) for y in given):
                raise _Refused(f"{name} gives no rational matrix for {x}")
            letters[x] = DomainMatrix.from_Matrix(given).convert_to(sp.QQ)
            for n, number in zip(x.shape, letters[x].shape, strict=True):
                fits = number == n if n.is_Integer else sizes.setdefault(n, number) == number
                if number < 1 or not fits:
                    raise _Refused(f"in {name} the shape of {x} does not fit")
        point = {x: sp.sympify(model[x]) for x in self.domain if x in self.free and x in model}
        for x, value in point.items():
            if not isinstance(value, sp.Rational) or self.domain[x].contains(value) != sp.true:
                raise _Refused(f"in {name}, {x} = {value} is not a rational number of the domain")
        numbers = {c: _constant(value) for c, value in self._values(point, set()).items()}

        def size(n: sp.Expr) -> int:
            if n not in sizes and not (isinstance(n, sp.Integer) and n > 0):
                raise _Refused(f"the size {n} is not that of a letter, nor a positive number")
            return sizes[n] if n in sizes else int(n)

        meaning = _Meaning(
            letters,
            lambda n: DomainMatrix.eye(size(n), sp.QQ).to_dense(),
            lambda rows, columns: DomainMatrix.zeros((size(rows), size(columns)), sp.QQ).to_dense(),
            numbers,
        )
        self._define(meaning)
        return meaning

    def counterexample(self, left: Any, relation: str, right: Any) -> str:
        """A model in which the two sides differ, in words; "" if none does."""
        for model, a, b in self.evaluated:
            if a != b:
                return f"at {model} the sides are {_text(a)} and {_text(b)}"
        return ""


def _equation(relation: tuple[sp.Expr, sp.Expr]) -> str:
    return " = ".join(map(plain, relation))


def _constant(element: Any) -> Any:
    """A rational function that is a number, as that number."""
    zero = (0,) * element.numer.ring.ngens
    return element.numer.get(zero, sp.QQ.zero) / element.denom[zero]


def _listed(matrix: DomainMatrix) -> list[list[Any]]:
    return list(matrix.to_list())


def _trace(rows: list[list[Any]]) -> Any:
    return sum((row[i] for i, row in enumerate(rows)), sp.QQ.zero)


def _text(value: Any) -> str:
    """A number, or the rows of a matrix."""
    return f"[{', '.join(map(_text, value))}]" if isinstance(value, list) else str(value)


# --- the checks ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MatrixIdentity(_Relation):
    """lhs = rhs for all matrices of the given shapes that satisfy the relations, or for their traces.

    `letters` are in ascending order: a relation replaces its left side, a single word, by smaller words.
    `where` may define matrices, too. `relations` must hold, and so must the claim, in each of the `models`.
    """

    letters: tuple[sp.MatrixSymbol, ...] = field(kw_only=True)
    relations: Relations = field(default=(), kw_only=True)
    models: tuple[Model, ...] = field(kw_only=True)

    kind = "matrix identity"

    @property
    def sides(self) -> tuple[sp.Expr, sp.Expr]:
        return self.lhs, self.rhs

    @property
    def trace(self) -> bool:
        return any(isinstance(e, sp.Trace) for e in self.sides)

    def _reader(self) -> _Algebra:
        return _Algebra(self)

    def _settle(self, reader: _Reader, left: Any, right: Any) -> str:
        assert isinstance(reader, _Algebra)
        rules = reader.rules
        difference = rules.reduce(left + right.scalarmul(-reader.field.one))
        if self.trace:
            difference = rules.trace(difference)
        letters = ", ".join(str(x) for x in self.letters if x in reader.present)
        if difference.terms:
            raise _Unsettled(f"the difference does not reduce to 0 in {reader.name}<{letters}>")
        if any(a != b for _, a, b in reader.evaluated):
            raise _Unsettled("a model contradicts what was found")
        by = [_equation(r) for r in self.relations if _equation(r) in rules.used]
        models = f"{len(self.models)} model{'s' * (len(self.models) > 1)}"
        return "; ".join(
            [
                f"the difference {'reduces to' if by else 'is'} 0 in {reader.name}<{letters}>",
                *([f"by {', '.join(by)}"] if by else []),
                f"relations and claim hold in {models}",
            ]
        )

    def latex(self) -> str:
        """The equation, and the definitions of matrices in it."""
        definitions = _used((self.lhs, self.rhs), self.where).items()
        written = [f"{latex(x)} = {latex(e)}" for x, e in definitions if isinstance(x, sp.MatrixSymbol)]
        return r", \qquad ".join([super().latex(), *written])

    def conditions(self) -> str:
        """Shapes, relations, domain and definitions, in words."""
        sides = [side for relation in self.relations for side in relation]
        where = _used((self.lhs, self.rhs, *sides), self.where)
        expressions = (self.lhs, self.rhs, *sides, *where.values())
        present = set().union(*(e.atoms(sp.MatrixSymbol, sp.Symbol) for e in expressions))
        shapes: dict[tuple[Any, Any], list[str]] = {}
        for x in self.letters:
            if x in present:
                shapes.setdefault(x.shape, []).append(str(x))
        words = [", ".join(f"{', '.join(xs)} {rows} by {columns}" for (rows, columns), xs in shapes.items())]
        words.append(", ".join(map(_equation, self.relations)))
        words.append(", ".join(interval_in_words(x, s) for x, s in self.domain.items() if x in present))
        definitions = ", ".join(f"{x} = {plain(e)}" for x, e in where.items())
        return "; with ".join(filter(None, ("; ".join(filter(None, words)), definitions)))


class _Variety(_Reader):
    """Reads the two sides of a membership, its generators and cofactors, and the points of its variety."""

    def __init__(self, check: Membership) -> None:
        self.check = check
        self.trees = (check.lhs, check.rhs, *check.generators, *check.cofactors)
        _refuse_unreadable((*self.trees, *check.where.values()))
        super().__init__(self.trees, check.domain, check.where, check.cuts)
        if len(check.generators) != len(check.cofactors):
            raise _Refused(f"{len(check.generators)} generators and {len(check.cofactors)} cofactors")
        self.combination = self.field.zero

    def read(self, trees: tuple[sp.Expr, ...], point: dict[sp.Symbol, sp.Rational]) -> list[Any]:
        """The sides; on the way, the combination of the generators."""
        left, right, *others = self._read_all(point, set(self.domain))
        generators = others[: len(self.check.generators)]
        for generator, cofactor in zip(generators, others[len(generators) :], strict=True):
            self.combination += generator * cofactor
        return [left, right]

    def _read_all(self, point: dict[sp.Symbol, sp.Rational], free: set[sp.Symbol]) -> list[Any]:
        values = super().read(self.trees, point)
        if not set().union(*map(_occurring, values)) <= free:
            raise _Refused("a part is no rational function of the symbols, or the point lacks one")
        return values

    def settle(self) -> str:
        """Show that all parts are defined, and that every point is one of the variety."""
        words = super().settle()
        if not self.check.points:
            raise _Refused("no point is given: the generators could have no common zero")
        self.evaluated = []
        for number, given in enumerate(self.check.points, 1):
            point = {x: sp.sympify(given[x]) for x in self.domain if x in self.free and x in given}
            for x, value in point.items():
                if not isinstance(value, sp.Rational) or self.domain[x].contains(value) != sp.true:
                    raise _Refused(f"in point {number}, {x} = {value} is not a rational number of the domain")
            left, right, *others = map(_constant, self._read_all(point, set()))
            if any(others[: len(self.check.generators)]):
                raise _Refused(f"point {number} is not on the variety")
            self.evaluated.append((", ".join(f"{x} = {v}" for x, v in point.items()), left, right))
        return words

    def counterexample(self, left: Any, relation: str, right: Any) -> str:
        """A point at which the sides differ, in words; "" if they differ at none."""
        for point, a, b in self.evaluated:
            if a != b:
                return f"at {point} the sides are {a} and {b}"
        return ""


@dataclass(frozen=True, eq=False)
class Membership(_Relation):
    """lhs = rhs wherever the generators are 0: lhs - rhs = sum of cofactor * generator, multiplied out.

    The claim must hold at each of the `points`, at which the generators must be 0.
    """

    generators: tuple[sp.Expr, ...] = field(kw_only=True)
    cofactors: tuple[sp.Expr, ...] = field(kw_only=True)
    points: tuple[Mapping[sp.Symbol, Any], ...] = field(kw_only=True)

    kind = "ideal membership"

    def _reader(self) -> _Variety:
        return _Variety(self)

    def _settle(self, reader: _Reader, left: Any, right: Any) -> str:
        assert isinstance(reader, _Variety)
        if left - right - reader.combination:
            raise _Unsettled(f"the difference is not the combination of the generators in {reader.name}")
        if any(a != b for _, a, b in reader.evaluated):
            raise _Unsettled("a point contradicts what was found")
        return f"the difference is a combination of the generators in {reader.name}"

    def conditions(self) -> str:
        """The generators, the domain and the definitions, in words."""
        trees = (self.lhs, self.rhs, *self.generators, *self.cofactors)
        where = _used(trees, self.where)
        present = [x for x in self.domain if any(e.has(x) for e in (*trees, *where.values()))]
        real = [str(x) for x in present if self.domain[x] == sp.S.Reals]
        words = [", ".join(f"{plain(g)} = 0" for g in self.generators)]
        words.append(f"{', '.join(real)} real" if real else "")
        words += [interval_in_words(x, self.domain[x]) for x in present if str(x) not in real]
        definitions = ", ".join(f"{x} = {e}" for x, e in where.items())
        return "; with ".join(filter(None, ("; ".join(filter(None, words)), definitions)))
