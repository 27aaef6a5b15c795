"""The claims ledger: every number of the note and of this book, recomputed by two routes that share no code.

``claims.yml`` is a list of claims. The keys of a claim:

============================  =========================================================================
``id``, ``statement``         the claim's own name; the statement (``ng-...``) it belongs to
``says``                      the claim in one sentence
``expected``, ``unit``        the number as the source prints it (text); its unit, ``"1"`` for none
``kind``                      ``value``: ours rounds to it; ``bound``: ours does not exceed it
``tolerance``                 optional, only for a value: replaces the rule "half a unit of the last
                              printed digit"; needs a ``tolerance_reason``
``source``, ``place``         ``note``, ``book``, ``ngpt`` or ``spel``; where in it
``call``                      a Python expression over our functions, evaluated in float64
``independent``               a Python expression over mpmath at 50 digits
``independent_says``          that second route in words
``accuracy``                  how far the two routes may differ: the error bound of the number we print
``enclosure``                 optional: an expression over balls, which `ngeodesic.enclosures` evaluates
``no_enclosure``              optional, in its place: why the claim has none
============================  =========================================================================

A claim is reproduced if `call` agrees with the source and `independent` agrees with `call`.

The names that a ``call`` may use: the public functions of `ngeodesic.geodesic` and `ngeodesic.offplane`, the
modules ``polar``, ``stiefel`` and ``spel``, `drawn_norms` and `spel_run` below, ``np``, ``pi``, ``degrees``,
``radians``. An ``independent`` may use ``mp`` (mpmath at 50 digits) and the functions below whose names begin
with ``exact`` or ``plain``. Both have ``abs``, ``max``, ``range`` and ``sum``. Python evaluates the
expressions: ``claims.yml`` is a part of this package, and as trusted as its code.
"""

from __future__ import annotations

import dataclasses
import functools
import html
import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np

try:
    import mpmath
    import yaml
except ImportError as error:
    raise ImportError(
        'the claims ledger needs mpmath and PyYAML: pip install "ngeodesic-companion[proofs]"',
        name=error.name,
    ) from error

from ngeodesic import geodesic, offplane, polar, spel, statements, stiefel
from ngeodesic.proof import as_html

__all__ = [
    "CLAIMS_FILE",
    "KINDS",
    "SOURCES",
    "Claim",
    "LedgerError",
    "Result",
    "Results",
    "drawn_norms",
    "exact_contract",
    "exact_gap",
    "exact_gaussian_defect",
    "exact_msign",
    "exact_newton_schulz",
    "exact_off_plane",
    "exact_peak",
    "exact_phi",
    "exact_spel",
    "exact_spel_run",
    "load",
    "plain_drawn_norms",
    "reproduce",
    "spel_run",
]

# the ngeodesic note (README of github.com/v-code01/ngeodesic), this book, arXiv:2410.01131, arXiv:2601.21487
SOURCES = ("note", "book", "ngpt", "spel")
KINDS = ("value", "bound")

CLAIMS_FILE = Path(__file__).with_name("claims.yml")

# a context of its own: nobody else's precision changes, and nobody else changes ours
mp = mpmath.MPContext()
mp.dps = 50


class LedgerError(ValueError):
    """The ledger itself is wrong: a claim cannot be read or evaluated. The message names claim and key."""


@dataclass(frozen=True)
class Claim:
    """One number of a source, with the two expressions that recompute it. The fields are the keys above."""

    id: str
    statement: str
    says: str
    expected: str
    unit: str
    kind: str
    source: str
    place: str
    call: str
    independent: str
    independent_says: str
    accuracy: str
    tolerance: str = ""
    tolerance_reason: str = ""
    enclosure: str = ""
    no_enclosure: str = ""

    @property
    def error_bound(self) -> str:
        """`accuracy` for a table; a float64 that is the number itself has no error."""
        return "exact" if float(self.accuracy) < 1e-30 else self.accuracy

    @property
    def allowed(self) -> Decimal:
        """How far a value may be from `expected`; for a bound 0, by which it may be above."""
        if self.kind == "bound":
            return Decimal(0)
        if self.tolerance:
            return Decimal(self.tolerance)
        exponent = Decimal(self.expected).as_tuple().exponent
        return Decimal(f"0.5e{exponent}")

    @property
    def reason(self) -> str:
        """Why `allowed` is what it is."""
        if self.kind == "bound":
            return "a bound: ours may not exceed it"
        return self.tolerance_reason or "half a unit of the last printed digit"

    @property
    def printed(self) -> str:
        """The number as the source gives it, with its unit."""
        number = (
            f"at most {self.expected}" if self.kind == "bound" and float(self.expected) else self.expected
        )
        return number if self.unit == "1" else f"{number} {self.unit}"


@dataclass(frozen=True)
class Result:
    """One claim, recomputed."""

    claim: Claim
    here: float
    """What `call` gives."""
    independent: float
    """What `independent` gives, rounded to float64."""
    agree: bool
    """The two routes agree within the claim's `accuracy` (compared at 50 digits)."""
    found: bool
    """`here` agrees with the source."""

    @property
    def verdict(self) -> str:
        """``reproduced`` or ``missed``."""
        return "reproduced" if self.found and self.agree else "missed"

    @property
    def shown(self) -> str:
        """`here` for a table, with ten digits or all that the source prints; below a bound, the bound."""
        if self.claim.kind == "bound" and self.found:  # the rest is rounding noise
            return f"at most {self.claim.expected}" if float(self.claim.expected) else "0"
        printed = Decimal(self.claim.expected).as_tuple()
        if self.found and len(printed.digits) > 10 and isinstance(printed.exponent, int):
            return f"{self.here:.{-printed.exponent}f}"
        return f"{self.here:.10g}"

    @property
    def why(self) -> str:
        """Why it is missed; empty if it is not."""
        c = self.claim
        parts = []
        if not self.found:
            within = "above the bound" if c.kind == "bound" else f"not within {c.allowed} of"
            parts.append(f"{self.here!r} is {within} {c.expected} ({c.reason})")
        if not self.agree:
            parts.append(
                f"{self.here!r} is not within {c.accuracy} of {self.independent!r} ({c.independent_says})"
            )
        return "; ".join(parts)

    def record(self) -> dict[str, Any]:
        """The result as plain data for JSON: the claim's keys and what was found; no NaN, no infinity."""
        c = self.claim
        return {
            "id": c.id,
            "statement": c.statement,
            "says": c.says,
            "kind": c.kind,
            "paper": c.expected,
            "here": _finite(self.here),
            "unit": c.unit,
            "tolerance": float(c.allowed),
            "tolerance_reason": c.reason,
            "verdict": self.verdict,
            "why": self.why,
            "source": c.source,
            "place": c.place,
            "call": c.call,
            "independent": c.independent,
            "independent_says": c.independent_says,
            "independent_value": _finite(self.independent),
            "accuracy": float(c.accuracy),
        }


class Results(tuple[Result, ...]):
    """The results in the order of the ledger; prints as a table, in a notebook too."""

    __slots__ = ()

    @property
    def ok(self) -> bool:
        """All are reproduced."""
        return all(r.verdict == "reproduced" for r in self)

    @property
    def summary(self) -> str:
        """``38 of 38 claims reproduced (16 of 16 from the sources)``; no bracket if none is from a source."""

        def count(results: Iterable[Result]) -> str:
            verdicts = [r.verdict for r in results]
            return f"{verdicts.count('reproduced')} of {len(verdicts)}"

        cited = [r for r in self if r.claim.source != "book"]
        sources = f" ({count(cited)} from the sources)" if cited else ""
        return f"{count(self)} claims reproduced{sources}"

    def __str__(self) -> str:
        rows = [("claim", "stated", "here", "error bound", "verdict")]
        rows += [(r.claim.id, r.claim.printed, r.shown, r.claim.error_bound, r.verdict) for r in self]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        rows.insert(1, tuple("-" * w for w in widths))  # type: ignore[arg-type]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows
        ]
        lines += [f"missed {r.claim.id}: {r.why}" for r in self if r.why]
        return "\n".join([*lines, self.summary])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("Claim", "Stated", "Here", "Verdict"))
        body = "\n".join(_html_row(r) for r in self)
        return (
            f'<table class="ngeodesic-claims">\n<thead><tr>{head}</tr></thead>\n'
            f"<tbody>\n{body}\n</tbody>\n</table>\n<p>{self.summary}.</p>"
        )


def _html_row(result: Result) -> str:
    c = result.claim
    # a bound carries its own error bound
    error = "" if c.kind == "bound" or c.error_bound == "exact" else f" <small>± {c.error_bound}</small>"
    claim = f'{as_html(c.says)} <a href="../notebooks/results.html#claim-{c.id}"><code>{c.id}</code></a>'
    stated = f"{html.escape(c.printed)} <small>({c.source})</small>"
    cells = {"Stated": stated, "Here": html.escape(result.shown) + error, "Verdict": result.verdict}
    # a narrow screen shows the labels in place of the head
    labelled = "".join(f'<td data-label="{label}">{cell}</td>' for label, cell in cells.items())
    return f"<tr><td>{claim}</td>{labelled}</tr>"


def load(path: Path = CLAIMS_FILE) -> tuple[Claim, ...]:
    """Read and check the ledger.

    Raises
    ------
    LedgerError
        A key missing, unknown, given twice or with a wrong value; an id given twice; an unknown statement.
    """
    try:
        entries = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        if isinstance(error, LedgerError):
            raise
        # YAML's own tags and timestamps fail in many ways
        raise LedgerError(f"{path.name} is not valid YAML: {error}") from error
    if not isinstance(entries, list):
        raise LedgerError(f"{path.name}: expected a list of claims, got {type(entries).__name__}")
    claims = tuple(_claim(entry, number) for number, entry in enumerate(entries, 1))
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise LedgerError(f"claim {claim.id!r}: id: given twice")
        seen.add(claim.id)
    return claims


def reproduce(claims: Iterable[Claim] | None = None, *, statement: str | None = None) -> Results:
    """Recompute claims by both routes.

    Parameters
    ----------
    claims
        The claims to recompute; the whole ledger if not given.
    statement
        Only those of this statement.

    Raises
    ------
    ValueError
        An unknown statement; the known ones are listed.
    LedgerError
        An expression that does not evaluate to a real number; the claim and the key are named.
    """
    if statement is not None:
        statements.get(statement)
    chosen = load() if claims is None else claims
    return Results(_recompute(c) for c in chosen if statement in (None, c.statement))


def _recompute(claim: Claim) -> Result:
    here = _evaluate(claim, "call", float)
    independent = _evaluate(claim, "independent", mp.mpf)
    if not math.isfinite(here):
        found = agree = False
    else:
        off = Decimal(here) - Decimal(claim.expected)
        found = (off if claim.kind == "bound" else abs(off)) <= claim.allowed
        agree = bool(abs(mp.mpf(here) - independent) <= mp.mpf(claim.accuracy))
    return Result(claim, here, float(independent), agree, found)


def _evaluate(claim: Claim, key: str, kind: Any) -> Any:
    names = _float_names() if key == "call" else _exact_names()
    expression = getattr(claim, key)
    try:
        value = eval(expression, names)
        if np.ndim(value) != 0:
            raise TypeError(f"gives an array of shape {np.shape(value)}, not a number")
        return kind(value)
    except Exception as error:
        raise LedgerError(
            f"claim {claim.id!r}: {key}: {type(error).__name__}: {error} in {expression}"
        ) from error


# NumPy looks for __import__ here when an array's method is called
_BUILTINS = {"abs": abs, "max": max, "range": range, "sum": sum, "__import__": __import__}


def _float_names() -> dict[str, Any]:
    ours = {name: getattr(module, name) for module in (geodesic, offplane) for name in module.__all__}
    return {
        "__builtins__": _BUILTINS,
        "np": np,
        "pi": np.pi,
        "degrees": np.degrees,
        "radians": np.radians,
        "polar": polar,
        "stiefel": stiefel,
        "spel": spel,
        "drawn_norms": drawn_norms,
        "spel_run": spel_run,
        **ours,
    }


def _exact_names() -> dict[str, Any]:
    exact = (
        exact_phi,
        exact_gap,
        exact_peak,
        exact_contract,
        exact_off_plane,
        plain_drawn_norms,
        exact_newton_schulz,
        exact_msign,
        exact_spel,
        exact_spel_run,
        exact_gaussian_defect,
    )
    return {"__builtins__": _BUILTINS, "mp": mp, **{f.__name__: f for f in exact}}


@functools.cache
def drawn_norms(count: int, dim: int, mean: float, std: float) -> tuple[float, ...]:
    """``off_plane_norm(*sample_step(dim, mean, std, seed))`` for the seeds below `count`; slow, so kept."""
    steps = (offplane.sample_step(dim, mean, std, seed) for seed in range(count))
    return tuple(float(offplane.off_plane_norm(*step)) for step in steps)


@functools.cache
def spel_run(shape: tuple[int, int], scale_mode: str) -> tuple[float, float]:
    """Ten steps of SPEL with random gradients: the largest tangency defect of the projected ones, and the
    largest Gram defect."""
    radius = stiefel.sigma(shape, scale_mode)
    W = stiefel.random_point(shape, sigma=radius, seed=0)
    tangency, gram = [], []
    for G in np.random.default_rng(1).standard_normal((10, *shape)):
        tangency.append(float(stiefel.tangency_defect(W, stiefel.project_tangent(W, G, sigma=radius))))
        W = spel.spel_step(W, G, 0.1, scale_mode=scale_mode)
        gram.append(float(stiefel.gram_defect(W, sigma=radius)))
    return max(tangency), max(gram)


# The independent side, at 50 digits: the note's formula, literally, and a search that knows no calculus.
# Numbers are taken as text ("0.3"), as integers or as mpmath's, so that no float64 comes in.


def exact_phi(alpha: Any, theta: Any) -> Any:
    """The angle moved, by the note's formula: arccos((1-a + a cos) / sqrt((1-a)^2 + a^2 + 2 a (1-a) cos))."""
    a, cos = mp.mpf(alpha), mp.cos(mp.mpf(theta))
    return mp.acos((1 - a + a * cos) / mp.sqrt((1 - a) ** 2 + a**2 + 2 * a * (1 - a) * cos))


def exact_gap(alpha: Any, theta: Any) -> Any:
    """``alpha theta - phi``, with `exact_phi`."""
    return mp.mpf(alpha) * mp.mpf(theta) - exact_phi(alpha, theta)


@functools.cache
def exact_peak(theta: Any) -> tuple[Any, Any]:
    """The largest gap over 0 < alpha < 1/2 and its place, by golden-section search on `exact_gap`."""
    low, high = mp.mpf(0), mp.mpf(1) / 2
    ratio = (mp.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    f_left, f_right = exact_gap(left, theta), exact_gap(right, theta)
    while high - low > mp.mpf("1e-20"):
        if f_left < f_right:
            low, left, f_left = left, right, f_right
            right = low + ratio * (high - low)
            f_right = exact_gap(right, theta)
        else:
            high, right, f_right = right, left, f_left
            left = high - ratio * (high - low)
            f_left = exact_gap(left, theta)
    alpha = (low + high) / 2
    return exact_gap(alpha, theta), alpha


def exact_contract(theta: Any, alpha: Any, steps: int) -> Any:
    """The angle left after `steps` steps toward a fixed target, with `exact_phi`."""
    left = mp.mpf(theta)
    for _ in range(steps):
        left -= exact_phi(alpha, left)
    return left


@functools.cache
def exact_off_plane(dim: int, mean: str, std: str, seed: int) -> Any:
    """The off-plane norm of one random step, by Gram determinants of h, h_A and the step."""
    h, z, target = ([mp.mpf(v) for v in row.tolist()] for row in _drawn(dim, seed))
    alpha = [mp.mpf(mean) + mp.mpf(std) * v for v in z]
    scale = mp.sqrt(mp.fdot(h, h) / mp.fdot(target, target))
    step = [u + a * (scale * v - u) for u, a, v in zip(h, alpha, target, strict=True)]
    inner = [[mp.fdot(p, q) for q in (h, target, step)] for p in (h, target, step)]
    whole, plane = mp.det(mp.matrix(inner)), inner[0][0] * inner[1][1] - inner[0][1] ** 2
    return mp.sqrt(abs(whole) / (plane * inner[2][2]))


@functools.cache
def plain_drawn_norms(count: int, dim: int, mean: float, std: float) -> tuple[Any, ...]:
    """The same for the seeds below `count`, in increasing order; in float64, by least squares with NumPy.

    The only independent route that is not at 50 digits: it has four million entries to go through.
    """
    found = []
    for seed in range(count):
        h, z, target = _drawn(dim, seed)
        h, target = h / np.linalg.norm(h), target / np.linalg.norm(target)
        step = h + (mean + std * z) * (target - h)
        plane = np.stack([h, target], axis=1)
        rest = step - plane @ np.linalg.solve(plane.T @ plane, plane.T @ step)
        found.append(mp.mpf(float(np.linalg.norm(rest) / np.linalg.norm(step))))
    return tuple(sorted(found))


def _drawn(dim: int, seed: int) -> Any:
    """The rows h, (alpha - mean)/std, h_A that NumPy's generator draws one after the other."""
    return np.random.default_rng(seed).standard_normal((3, dim))


def exact_newton_schulz(s: Any, coefficients: tuple[str, str, str], steps: int) -> Any:
    """What so many steps s -> a s + b s^3 + c s^5 make of a singular value."""
    a, b, c = map(mp.mpf, coefficients)
    s = mp.mpf(s)
    for _ in range(steps):
        s = s * (a + s * s * (b + c * s * s))
    return s


def exact_msign(X: Any) -> Any:
    """X (X^T X)^(-1/2) on the range of X^T, by the eigenvectors of X^T X; X tall or square."""
    X = mp.matrix(X)
    squares, Q = mp.eigsy(X.T * X)
    inverse = [1 / mp.sqrt(s) if s > mp.mpf("1e-40") * max(squares) else mp.mpf(0) for s in squares]
    return X * Q * mp.diag(inverse) * Q.T


def exact_spel(W: Any, G: Any, lr: Any) -> Any:
    """One step of SPEL by the textbook's formulas; sigma is read off W, tall or square."""
    W, G = mp.matrix(W), mp.matrix(G)
    square = (W.T * W)[0, 0]
    inner = W.T * G
    V = G - W * (inner + inner.T) / (2 * square)
    return mp.sqrt(square) * exact_msign(W - mp.mpf(lr) * exact_msign(V))


@functools.cache
def exact_spel_run(m: int, n: int, square: Any) -> tuple[Any, Any]:
    """`spel_run` for small m >= n and sigma^2 = square: the two defects of three steps, integer gradients."""
    W = mp.matrix(m, n)
    for i in range(n):
        W[i, i] = mp.sqrt(mp.mpf(square))
    tangency, gram = mp.mpf(0), mp.mpf(0)
    for k in range(3):
        G = mp.matrix([[(7 * i + 5 * j + 3 * k + i * j * j) % 11 - 5 for j in range(n)] for i in range(m)])
        inner = W.T * G
        V = G - W * (inner + inner.T) / (2 * square)
        tangency = max(tangency, mp.mnorm(W.T * V + V.T * W, "f") / mp.mnorm(V, "f"))
        W = exact_spel(W, G, "0.1")
        gram = max(gram, mp.mnorm(W.T * W - square * mp.eye(n), "f") / square)
    return tangency, gram


@functools.cache
def exact_gaussian_defect(ratio: str, points: int = 64) -> Any:
    """The tangency defect's limit for Gaussian gradients, as the two traces of its definition.

    In x = x0 sin^2(a) their integral is that of an even periodic function, for which the midpoint rule
    converges exponentially; the closer the ratio to 1, the more points it takes.
    """
    rate = 1 / mp.mpf(ratio) - 1
    x0 = (1 - rate + mp.sqrt((1 - rate) ** 2 + 2 * rate)) / rate  # t(x0) = 0
    nodes = []
    for k in range(points):
        a = (k + mp.mpf(1) / 2) * mp.pi / (2 * points)
        x = x0 * mp.sin(a) ** 2
        t = 1 / x - 1 / (2 + x) - rate / (1 + x)
        slope = 1 / x**2 - 1 / (2 + x) ** 2 - rate / (1 + x) ** 2
        nodes.append((x, slope / mp.sqrt(t) * x0 * mp.sin(2 * a) / (2 * points)))
    mixed = mp.fsum(p * q * x * y / (2 + x + y) for x, p in nodes for y, q in nodes)
    return mp.sqrt((x0 / (2 + x0) - mixed) / 2)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses a key given twice, which YAML forbids and PyYAML accepts."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if twice := next((key for i, key in enumerate(keys) if key in keys[:i]), None):
            name = next((value.value for key, value in node.value if key.value == "id"), "?")
            raise LedgerError(f"claim {name!r}: {twice}: given twice")
        return super().construct_mapping(node, deep)


_FIELDS = {f.name: f.default is dataclasses.MISSING for f in dataclasses.fields(Claim)}


def _claim(entry: Any, number: int) -> Claim:
    if not isinstance(entry, dict):
        raise LedgerError(f"claim number {number}: expected keys and values, got {type(entry).__name__}")
    name = repr(entry["id"]) if "id" in entry else f"number {number}"

    def wrong(key: str, what: str) -> LedgerError:
        return LedgerError(f"claim {name}: {key}: {what}")

    for key, value in entry.items():
        if key not in _FIELDS:
            raise wrong(key, f"unknown key; the keys are {', '.join(_FIELDS)}")
        if not isinstance(value, str) or not value.strip():
            raise wrong(key, f"expected text, got {value!r} (quote numbers, to keep them as printed)")
    for key, required in _FIELDS.items():
        if required and key not in entry:
            raise wrong(key, "missing")
    claim = Claim(**entry)
    for key in ("expected", "accuracy", "tolerance"):
        if text := getattr(claim, key):
            try:
                value = Decimal(text)
                finite = math.isfinite(float(value))
            except (InvalidOperation, ValueError):
                finite = False
            if not finite:
                raise wrong(key, f"expected a finite number, got {text!r}")
            if key != "expected" and value < 0:
                raise wrong(key, f"expected a number that is not negative, got {text!r}")
    if claim.kind not in KINDS:
        raise wrong("kind", f"unknown kind {claim.kind!r}; the kinds are {', '.join(KINDS)}")
    if claim.source not in SOURCES:
        raise wrong("source", f"unknown source {claim.source!r}; the sources are {', '.join(SOURCES)}")
    if claim.tolerance and claim.kind == "bound":
        raise wrong("tolerance", "a bound has none")
    if bool(claim.tolerance) != bool(claim.tolerance_reason):
        raise wrong("tolerance_reason", "goes with a tolerance, and a tolerance with a reason")
    if claim.enclosure and claim.no_enclosure:
        raise wrong("no_enclosure", "a claim has an enclosure, or a reason why it has none")
    if claim.statement not in statements.ALL:
        raise wrong("statement", f"unknown statement {claim.statement!r}; known: {', '.join(statements.ALL)}")
    return claim
