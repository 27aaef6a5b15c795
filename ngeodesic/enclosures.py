"""A second kernel: the closed-form numbers in rigorous balls, and inequalities proved box by box.

A ball of Arb, ``m +/- r``, contains the number that it stands for: each operation rounds the radius up. This
module computes with such balls only. It loads neither SymPy nor mpmath, and none of our numeric functions.

- `certify` evaluates the expression ``enclosure`` of each claim of the ledger. A claim is *certified* if
  every number of the ball agrees with what the source prints: the printed decimal is its correct rounding,
  or is within the claim's tolerance, or bounds it. It is *refuted* if none does, and *undecided* if the ball
  is too wide to tell.
- `prove` shows that functions are positive on boxes. A box is halved until a ball over each part is positive
  (`decide`). Each inequality has a false twin, of which a counterexample must be found.

What is trusted: FLINT, which holds Arb, through python-flint; this module; and the words of each inequality
(`Inequality.says`), which lead from the positive function to the statement.

Numbers in an ``enclosure`` are read as the decimals that they are (``0.1`` is one tenth, ``1/3`` a third).
The names: ``pi``, ``abs``, ``max``, ``range``, ``sqrt``, ``sin``, ``cos``, ``tan``, ``atan``, ``acos``,
``degrees``, ``radians``, and `phi`, `gap`, `left`, `largest_gap`, `largest_gap_alpha`, `quintic`,
`gaussian_defect` below. Python evaluates them: ``claims.yml`` is a part of this package, and as trusted as
its code.
"""

from __future__ import annotations

import ast
import functools
import html
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

try:
    from flint import arb, arb_series, ctx, fmpq, fmpq_series
except ImportError as error:
    raise ImportError(
        'the enclosures need python-flint: pip install "ngeodesic-companion[proofs]"', name=error.name
    ) from error

if TYPE_CHECKING:
    from ngeodesic.ledger import Claim

__all__ = [
    "INEQUALITIES",
    "Decision",
    "Enclosed",
    "Enclosures",
    "Inequality",
    "Positive",
    "Proofs",
    "Proved",
    "certify",
    "decide",
    "prove",
]

Box = tuple[tuple[Any, Any], ...]
"""The two ends of each variable, rational (fmpq); a point if they are equal."""

_BITS = 200  # of a number's ball
_BOX_BITS = 64  # of a ball over a box, whose radius is far above 2^-64
_SHOWN = 18  # digits of a ball's ends in a table

# --- numbers ------------------------------------------------------------------------------------------------


def phi(alpha: Any, theta: Any) -> Any:
    """The angle moved: theta/2 - arctan((1 - 2 alpha) tan(theta/2)) (ng-angle-law)."""
    return theta / 2 - ((1 - 2 * alpha) * (theta / 2).tan()).atan()


def gap(alpha: Any, theta: Any) -> Any:
    """``alpha theta - phi``."""
    return alpha * theta - phi(alpha, theta)


def left(alpha: Any, theta: Any) -> Any:
    """The share theta'/theta of the angle that a step leaves (ng-contraction); exactly 1/2 at alpha = 1/2."""
    return arb(1) / 2 + ((1 - 2 * alpha) * (theta / 2).tan()).atan() / theta


def largest_gap(theta: Any) -> Any:
    """The largest gap over alpha: arctan(q) - x q/tan(x) with x = theta/2 (ng-max-gap)."""
    x, t, q = _at_largest_gap(theta)
    return q.atan() - x * q / t


def largest_gap_alpha(theta: Any) -> Any:
    """Its place below 1/2: (1 - q/tan(x))/2."""
    _, t, q = _at_largest_gap(theta)
    return (1 - q / t) / 2


def _at_largest_gap(theta: Any) -> tuple[Any, Any, Any]:
    x = theta / 2
    t = x.tan()
    return x, t, (t / x - 1).sqrt()


def quintic(s: Any) -> Any:
    """What one Newton-Schulz step with Muon's coefficients makes of a singular value (ng-newton-schulz)."""
    return s * (arb("3.4445") - arb("4.7750") * s**2 + arb("2.0315") * s**4)


def gaussian_defect(ratio: Any) -> Any:
    """The limit of the tangency defect for Gaussian gradients (ng-gaussian-defect), as the two traces.

    With rate = 1/ratio - 1 and t(x) = 1/x - 1/(2 + x) - rate/(1 + x) > 0 for 0 < x < x0, it is the root of
    (x0/(2 + x0) - I)/2, I the double integral of x y/(2 + x + y) against dsqrt(t(x)) dsqrt(t(y)) 4/pi^2. In
    x = x0 sin^2 a this is a quarter of the mean, over two periods pi, of w(a) w(b)/(2 + x + y).

    The midpoint rule with 2 n points a period errs by at most 2 B/(e^(4 n s) - 1) in each of the two angles,
    where the function is at most B if one of them has an imaginary part up to s. For x there: Re x >= -1/4,
    as cosh 2s = 1 + 1/(2 x0); so |x/(2 + x)| and |x/(1 + x)| are at most 1, as 1 < x1 < 2 so is
    |(1 + x)/(x + x1)|, the angle of the root's argument is below pi, |2 + x| <= x0 + 9/4, |2 + x + y| >= 7/4.
    """
    rate = 1 / ratio - 1
    x0 = (1 - rate + ((1 - rate) ** 2 + 2 * rate).sqrt()) / rate
    x1 = 2 / (rate * x0)  # t(x) = rate (x0 - x) (x + x1)/(x (1 + x) (2 + x))
    s = (1 + 1 / (2 * x0)).acosh() / 2
    B = arb(4) / 7 * (2 * (2 + rate)) ** 2 * (x0 + arb(9) / 4) / rate
    n = int(((B * arb(2) ** ctx.prec).log() / (4 * s)).upper().ceil().unique_fmpz())
    x = [x0 * ((2 * k + 1) * arb.pi() / (4 * n)).sin() ** 2 for k in range(n)]
    w = [
        2 * (1 - (y / (2 + y)) ** 2 - rate * (y / (1 + y)) ** 2)
        * ((1 + y) * (2 + y) / (rate * (y + x1))).sqrt()
        for y in x
    ]  # fmt: skip
    total = arb(0)
    for k, u in enumerate(2 + y for y in x):
        after = sum((w[j] / (u + x[j]) for j in range(k + 1, n)), arb(0))
        total += w[k] * (w[k] / (u + x[k]) + 2 * after)
    error = B / ((4 * n * s).exp() - 1)
    return ((x0 / (2 + x0) - total / (4 * n**2) + arb(0, error.upper())) / 2).sqrt()


def _max(*values: Any) -> Any:
    """The largest of several balls; Python's own would take a comparison that is not certain for false."""
    balls = values if len(values) > 1 else tuple(values[0])
    return functools.reduce(lambda a, b: a.max(b), balls)


def _range(*ends: Any) -> Iterator[Any]:
    return map(arb, range(*(int(end.unique_fmpz()) for end in ends)))


def _names() -> dict[str, Any]:
    ours = (phi, gap, left, largest_gap, largest_gap_alpha, quintic, gaussian_defect)
    functions = ("sqrt", "sin", "cos", "tan", "atan", "acos")
    return {
        "__builtins__": {"abs": abs, "max": _max, "range": _range},
        "arb": arb,
        "pi": arb.pi(),
        **{name: getattr(arb, name) for name in functions},
        "degrees": lambda x: x * 180 / arb.pi(),
        "radians": lambda x: x * arb.pi() / 180,
        **{f.__name__: f for f in ours},
    }


class _Exact(ast.NodeTransformer):
    """Turn each number of an expression, as it is written, into a ball."""

    def __init__(self, expression: str) -> None:
        self.expression = expression

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        written = ast.Constant(ast.get_source_segment(self.expression, node))
        return ast.Call(ast.Name("arb", ast.Load()), [written], [])


def _ball(claim: Claim) -> Any:
    try:
        tree = _Exact(claim.enclosure).visit(ast.parse(claim.enclosure, mode="eval"))
        value = eval(compile(ast.fix_missing_locations(tree), claim.id, "eval"), _names())
        if not isinstance(value, arb):
            raise TypeError(f"gives {type(value).__name__}, not a ball")
    except Exception as error:
        from ngeodesic.ledger import LedgerError

        raise LedgerError(
            f"claim {claim.id!r}: enclosure: {type(error).__name__}: {error} in {claim.enclosure}"
        ) from error
    return value


@dataclass(frozen=True)
class Enclosed:
    """A claim, with a ball that contains its number (None if it has no closed form)."""

    claim: Claim
    ball: Any

    @property
    def low(self) -> Fraction:
        """The lower end of the ball, exactly."""
        return _exact(self.ball.mid()) - _exact(self.ball.rad())

    @property
    def high(self) -> Fraction:
        """The upper end of the ball, exactly."""
        return _exact(self.ball.mid()) + _exact(self.ball.rad())

    def _compared(self, low: Fraction | None, high: Fraction) -> str:
        """Where the ball lies: all, nothing or a part of it between these."""
        if not self.ball.is_finite():
            return "undecided"
        if (low is None or low <= self.low) and self.high <= high:
            return "certified"
        return "refuted" if self.low > high or (low is not None and self.high < low) else "undecided"

    def rounds_to(self, printed: str) -> bool:
        """The decimal `printed` is proved to be the number, rounded to as many digits."""
        if self.ball is None:
            return False
        half = Fraction(Decimal(f"0.5e{Decimal(printed).as_tuple().exponent}"))
        return self._compared(Fraction(printed) - half, Fraction(printed) + half) == "certified"

    @property
    def digits(self) -> int:
        """The number of certified digits, all that are printed; 0 for a bound."""
        certified = self.claim.kind == "value" and self.rounds_to(self.claim.expected)
        return len(Decimal(self.claim.expected).as_tuple().digits) if certified else 0

    @property
    def verdict(self) -> str:
        """``certified``, ``refuted``, ``undecided``, ``not applicable`` or, without a reason, ``missing``."""
        if self.ball is None:
            return "not applicable" if self.claim.no_enclosure else "missing"
        expected, allowed = Fraction(self.claim.expected), Fraction(self.claim.allowed)
        low = None if self.claim.kind == "bound" else expected - allowed
        return self._compared(low, expected + allowed)

    @property
    def ok(self) -> bool:
        """Certified, or not applicable for a stated reason."""
        return self.verdict in ("certified", "not applicable")

    @property
    def shown(self) -> str:
        """The ball in a table, its ends rounded outwards; below a bound, the bound; empty if no ball."""
        if self.ball is None:
            return ""
        if self.claim.kind == "bound" and self.verdict == "certified":  # the rest is rounding noise
            return f"at most {self.claim.expected}" if float(self.claim.expected) else "0"
        if not self.ball.is_finite():
            return "no finite ball"
        low, high = (
            Context(_SHOWN, rounding).divide(Decimal(end.numerator), Decimal(end.denominator)).normalize()
            for end, rounding in ((self.low, ROUND_FLOOR), (self.high, ROUND_CEILING))
        )
        return str(low) if low == high else f"{low} to {high}"


def _exact(number: Any) -> Fraction:
    mantissa, exponent = number.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


class Enclosures(tuple[Enclosed, ...]):
    """The balls in the order of the ledger; prints as a table, in a notebook too."""

    __slots__ = ()

    @property
    def ok(self) -> bool:
        """None is refuted, undecided or missing."""
        return all(e.ok for e in self)

    @property
    def summary(self) -> str:
        """``36 of 36 enclosed numbers certified; 12 claims not applicable``."""
        verdicts = [e.verdict for e in self]
        rest = verdicts.count("not applicable")
        certified = f"{verdicts.count('certified')} of {len(verdicts) - rest} enclosed numbers certified"
        return f"{certified}; {rest} claim{'s' * (rest != 1)} not applicable"

    def __str__(self) -> str:
        rows = [(e.claim.id, e.claim.printed, e.shown, str(e.digits or ""), e.verdict) for e in self]
        reasons = dict.fromkeys(e.claim.no_enclosure for e in self if e.claim.no_enclosure)
        below = [*(f"not applicable: {reason}" for reason in reasons), self.summary]
        return as_text(("claim", "stated", "enclosure", "digits", "verdict"), rows, below)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from ngeodesic.display import as_html

        rows = []
        for e in self:
            c = e.claim
            place = f'<a href="../notebooks/results.html#claim-{c.id}"><code>{c.id}</code></a>'
            stated = f"{html.escape(c.printed)} <small>({c.source})</small>"
            shown = e.shown or f"<small>{as_html(c.no_enclosure)}</small>"
            verdict = e.verdict + (f" <small>({e.digits} digits)</small>" if e.digits else "")
            rows.append((f"{as_html(c.says)} {place}", stated, shown, verdict))
        return as_table(("Claim", "Stated", "Enclosure", "Verdict"), rows, self.summary)


def certify(claims: Iterable[Claim] | None = None, *, bits: int = _BITS) -> Enclosures:
    """Enclose the numbers of claims in balls, and compare these with what the sources print.

    Parameters
    ----------
    claims
        The claims; the whole ledger if not given.
    bits
        The precision, 200 bits or 60 digits. A lower one gives wider balls, never wrong ones.

    Raises
    ------
    LedgerError
        An expression that does not evaluate to a ball; the claim is named.
    """
    if claims is None:
        from ngeodesic.ledger import load

        claims = load()
    with ctx.workprec(bits):
        return Enclosures(Enclosed(c, _ball(c) if c.enclosure else None) for c in claims)


# --- inequalities -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Positive:
    """A function that is claimed to be positive on a box.

    `order` > 0, for one variable x from 0 on: the function has a zero of that order at x = 0, and is claimed
    to be positive for x > 0.
    """

    function: Callable[..., Any]
    box: Box
    variables: tuple[str, ...]
    order: int = 0

    def over(self, box: Box) -> Any:
        """A ball with the sign of the function on a part of the box (its value, or that over x^order)."""
        balls = [arb(low).union(arb(high)) for low, high in box]
        try:
            if self.order and box[0][0] == 0:
                # Lagrange: f(x) = x^order c(xi), c the Taylor coefficient at a point between 0 and x
                return self.function(arb_series([balls[0], 1], prec=self.order + 1))[self.order]
            middle = [arb(m) for m in _middle(box)]
            value = self.function(*middle)
            for i, (ball, m) in enumerate(zip(balls, middle, strict=True)):
                along = [*balls[:i], arb_series([ball, 1], prec=2), *balls[i + 1 :]]
                value += self.function(*along)[1] * (ball - m)  # mean value theorem
            return value
        except ValueError:  # a denominator is not known to differ from 0
            return arb("nan")

    def has_zero(self) -> bool:
        """The zero at x = 0 is of that order or higher: rational Taylor coefficients, exactly."""
        return not self.order or not self.function(fmpq_series([0, 1], prec=self.order)).length()

    def text(self, box: Box) -> str:
        """A part of the box in words."""
        return ", ".join(
            f"{name} = {low}"
            if low == high
            else f"{low} {'<' if self.order and low == 0 else '<='} {name} <= {high}"
            for name, (low, high) in zip(self.variables, box, strict=True)
        )


def _middle(box: Box) -> list[Any]:
    return [(low + high) / 2 for low, high in box]


@dataclass(frozen=True)
class Decision:
    """What `decide` found."""

    verdict: str
    """``proved``; ``refuted``: negative at `where`; ``undecided``: the sign on `where` is still open."""
    boxes: int
    """How many boxes were looked at."""
    where: Box | None = None


def decide(claim: Positive, *, budget: int = 20_000) -> Decision:
    """Prove or refute that a function is positive on a box, by halving it.

    Parameters
    ----------
    claim
        The function and the box.
    budget
        How many boxes may be looked at; then the answer is ``undecided``, with a box that is open.

    Raises
    ------
    ValueError
        The function has no zero of the stated order.
    """
    if not claim.has_zero():
        raise ValueError(f"claim: the function has no zero of order {claim.order} at 0")
    widths = [high - low for low, high in claim.box]
    open_boxes = deque([claim.box])
    boxes = 0
    with ctx.workprec(_BOX_BITS):
        while open_boxes:
            box = open_boxes.popleft()
            if boxes == budget:
                return Decision("undecided", boxes, box)
            boxes += 1
            ball = claim.over(box)
            if ball > 0:
                continue
            if ball < 0:
                return Decision("refuted", boxes, box)
            middle = _middle(box)
            if claim.function(*map(arb, middle)) < 0:
                return Decision("refuted", boxes, tuple((m, m) for m in middle))
            i = max(range(len(box)), key=lambda i: (box[i][1] - box[i][0]) / widths[i])
            for half in ((box[i][0], middle[i]), (middle[i], box[i][1])):
                open_boxes.append((*box[:i], half, *box[i + 1 :]))
    return Decision("proved", boxes)


@dataclass(frozen=True)
class Inequality:
    """A part of a statement, as a positive function; `twin` is a false variant of it."""

    label: str
    statement: str
    says: str
    check: Positive
    twin: Positive
    twin_says: str
    everywhere: str = ""
    """The domain of the statement that is covered, if it is more than the box itself."""

    @property
    def domain(self) -> str:
        """Where the inequality is proved."""
        return self.everywhere or self.check.text(self.check.box)


@dataclass(frozen=True)
class Proved:
    """An inequality, with what was found on it and on its false twin."""

    inequality: Inequality
    check: Decision
    twin: Decision

    @property
    def ok(self) -> bool:
        """It is proved, and its twin refuted."""
        return self.check.verdict == "proved" and self.twin.verdict == "refuted"

    @property
    def verdict(self) -> str:
        """``proved``, or what stands against it."""
        return _found(self.inequality.check, self.check)

    @property
    def twin_verdict(self) -> str:
        """``refuted`` with the counterexample, or what was found instead."""
        return _found(self.inequality.twin, self.twin)


def _found(claim: Positive, decision: Decision) -> str:
    return (
        decision.verdict if decision.where is None else f"{decision.verdict} at {claim.text(decision.where)}"
    )


class Proofs(tuple[Proved, ...]):
    """The inequalities in book order; prints as a table, in a notebook too."""

    __slots__ = ()

    @property
    def ok(self) -> bool:
        """All are proved, and all their twins refuted."""
        return all(p.ok for p in self)

    @property
    def summary(self) -> str:
        """``11 of 11 inequalities proved on 13901 boxes; 11 of 11 false twins refuted``."""
        proved = sum(p.check.verdict == "proved" for p in self)
        twins = sum(p.twin.verdict == "refuted" for p in self)
        boxes = sum(p.check.boxes for p in self)
        of = f"of {len(self)}"
        return f"{proved} {of} inequalities proved on {boxes} boxes; {twins} {of} false twins refuted"

    def __str__(self) -> str:
        items = [(p, p.inequality) for p in self]
        rows = [(i.statement, i.label, i.domain, str(p.check.boxes), p.verdict) for p, i in items]
        twins = [f"false twin of {i.label}: {i.twin_says} {p.twin_verdict}" for p, i in items]
        head = ("statement", "inequality", "domain", "boxes", "verdict")
        return as_text(head, rows, [*twins, self.summary])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from ngeodesic.display import as_html

        rows = []
        for p in self:
            i = p.inequality
            verdict = f"{as_html(p.verdict)} <small>({p.check.boxes} boxes)</small>"
            twin = f"{as_html(i.twin_says)} <small>{as_html(p.twin_verdict)}</small>"
            rows.append((f"{as_html(i.says)} <code>{i.label}</code>", as_html(i.domain), verdict, twin))
        return as_table(("Inequality", "Domain", "Verdict", "False twin"), rows, self.summary)


def prove(statement: str | None = None) -> Proofs:
    """Prove the inequalities, all or those of one statement, and refute their false twins.

    Raises
    ------
    ValueError
        An unknown statement; the known ones are listed. (A known one may have no inequality.)
    """
    if statement is not None:
        from ngeodesic import statements

        statements.get(statement)
    chosen = [i for i in INEQUALITIES if statement in (None, i.statement)]
    return Proofs(Proved(i, decide(i.check), decide(i.twin)) for i in chosen)


# --- tables -------------------------------------------------------------------------------------------------


def as_text(head: Sequence[str], rows: Iterable[Sequence[str]], below: Iterable[str]) -> str:
    table = [head, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(head))]
    table.insert(1, ["-" * w for w in widths])
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in table]
    return "\n".join([*lines, *below])


def as_table(head: Sequence[str], rows: Iterable[Sequence[str]], below: str = "") -> str:
    """The cells are HTML; a narrow screen shows the labels in place of the head."""
    names = "".join(f"<th>{name}</th>" for name in head)
    body = ""
    for first, *cells in rows:
        labelled = zip(head[1:], cells, strict=True)
        rest = "".join(f'<td data-label="{label}"><span>{cell}</span></td>' for label, cell in labelled)
        body += f"<tr><td>{first}</td>{rest}</tr>\n"
    return (
        f'<table class="ngeodesic-claims">\n<thead><tr>{names}</tr></thead>\n'
        f"<tbody>\n{body}</tbody>\n</table>" + (f"\n<p>{below}.</p>" if below else "")
    )


# --- the statements -----------------------------------------------------------------------------------------

# On a compact box of (alpha, theta): as the note and the book write it, with nothing rearranged but that the
# angles are an arccot, whose argument has no pole there.


def _arccot(x: Any) -> Any:
    return arb.pi() / 2 - x.atan()


def _lag(alpha: Any, theta: Any) -> Any:
    moved = _arccot((1 - alpha + alpha * theta.cos()) / (alpha * theta.sin()))
    return alpha * theta - moved


def _excess(alpha: Any, theta: Any) -> Any:
    remaining = _arccot(theta.cos() / theta.sin() + alpha / ((1 - alpha) * theta.sin()))
    return remaining - (1 - alpha) * theta


def _bound(alpha: Any, theta: Any) -> Any:
    beta, t = 1 - 2 * alpha, (theta / 2).tan()
    return beta * (1 - beta**2) * t**3


def _upper(constant: Any) -> Callable[..., Any]:
    return lambda alpha, theta: constant * _bound(alpha, theta) - _lag(alpha, theta)


def _lower(constant: Any) -> Callable[..., Any]:
    def margin(alpha: Any, theta: Any) -> Any:
        beta, t = 1 - 2 * alpha, (theta / 2).tan()
        return _lag(alpha, theta) - constant * _bound(alpha, theta) / ((1 + t**2) * (1 + beta**2 * t**2))

    return margin


def _negative(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *x: -function(*x)


def _on_box(function: Callable[..., Any], low: int, high: int) -> Positive:
    """For alpha from low/16 to high/16."""
    return Positive(function, ((fmpq(low, 16), fmpq(high, 16)), (fmpq(3, 4), fmpq(3))), ("alpha", "theta"))


# Everywhere: with x = theta/2 and v = x - phi, the angle of the chord point from the bisector, ng-angle-law
# says tan v = beta tan x. So 0 < v < x < pi/2 for 0 < alpha < 1/2, and
#     G = v - beta x = tan v (v cot v - x cot x),
#     beta (1 - beta^2) t^3 = tan v (tan^2 x - tan^2 v),
#     beta (1 - beta^2) t^3/((1 + t^2)(1 + beta^2 t^2)) = tan v (sin^2 x - sin^2 v).
# Each inequality between these says that one function of one angle, taken at v and at x, rises or falls: what
# is to show for all (alpha, theta) is a fact about a single angle, edges included. The derivative of that
# function, times a power of sin x and of cos x, stands below, on an interval that contains [0, pi/2]. At
# alpha = 0 and alpha = 1/2 the gap and its bounds are 0.

_QUARTER = ((fmpq(0), fmpq(101, 64)),)


def _half_turn(x: Any) -> Any:
    return x - x.sin() * x.cos()  # -sin^2 times the derivative of x cot x


def _upper_slope(constant: Any) -> Callable[..., Any]:
    # cos^3 sin^2 times the derivative of x cot x + constant tan^2 x
    return lambda x: 2 * constant * x.sin() ** 3 - x.cos() ** 3 * _half_turn(x)


def _lower_slope(constant: Any) -> Callable[..., Any]:
    # -sin^2 times the derivative of x cot x + constant sin^2 x
    return lambda x: _half_turn(x) - 2 * constant * x.sin() ** 3 * x.cos()


def _place(constant: Any) -> Callable[..., Any]:
    # x sin^2 times (constant - beta*^2)
    return lambda x: constant * x * x.sin() ** 2 - x.cos() * (x.sin() - x * x.cos())


def _in_angle(function: Callable[..., Any], order: int) -> Positive:
    return Positive(function, _QUARTER, ("x",), order)


_LAGGING = "0 < alpha < 1/2, 0 < theta < pi"
_THIRD = fmpq(1, 3)
_TURNS = _in_angle(_half_turn, 3)
_TURNS_BACK = _in_angle(_negative(_half_turn), 3)

INEQUALITIES = (
    Inequality(
        "lags",
        "ng-triple-zero",
        "alpha theta > phi, the angle of the point (1 - alpha + alpha cos theta, alpha sin theta): G > 0.",
        _on_box(_lag, 1, 7),
        _on_box(_negative(_lag), 1, 7),
        "G < 0:",
    ),
    Inequality(
        "leads",
        "ng-triple-zero",
        "G < 0 above alpha = 1/2.",
        _on_box(_negative(_lag), 9, 15),
        _on_box(_lag, 9, 15),
        "G > 0:",
    ),
    Inequality(
        "lags-everywhere",
        "ng-triple-zero",
        "x - sin x cos x > 0, so x cot x falls. With x = theta/2 and v = x - phi < x, G = tan v (v cot v - x "
        "cot x) > 0. As G is odd about alpha = 1/2, G < 0 above.",
        _TURNS,
        _TURNS_BACK,
        "x - sin x cos x < 0:",
        everywhere=_LAGGING,
    ),
    Inequality(
        "place",
        "ng-max-gap",
        "x sin^2 x/3 > cos x (sin x - x cos x). Divided by x sin^2 x, with x = theta/2, this is beta*^2 = "
        "(tan(x)/x - 1)/tan^2 x < 1/3: alpha* > (3 - sqrt(3))/6.",
        _in_angle(_place(_THIRD), 5),
        _in_angle(_place(fmpq(33, 100)), 3),
        "33/100 in place of 1/3:",
        everywhere="0 < theta < pi",
    ),
    Inequality(
        "grows",
        "ng-max-gap",
        "x - sin x cos x > 0, so q^2 = tan(x)/x - 1 grows with x = theta/2. The largest gap, arctan q - q/(1 "
        "+ q^2), grows with q: its derivative is 2 q^2/(1 + q^2)^2.",
        _TURNS,
        _TURNS_BACK,
        "x - sin x cos x < 0:",
        everywhere="0 < theta < pi",
    ),
    Inequality(
        "upper",
        "ng-cubic-law",
        "G < beta (1 - beta^2) t^3/3.",
        _on_box(_upper(_THIRD), 1, 7),
        _on_box(_upper(fmpq(1, 4)), 1, 7),
        "1/4 in place of 1/3:",
    ),
    Inequality(
        "lower",
        "ng-cubic-law",
        "G > beta (1 - beta^2) t^3/(3 (1 + t^2)(1 + beta^2 t^2)).",
        _on_box(_lower(_THIRD), 1, 7),
        _on_box(_lower(fmpq(1, 2)), 1, 7),
        "1/2 in place of 1/3:",
    ),
    Inequality(
        "upper-everywhere",
        "ng-cubic-law",
        "2 sin^3 x/3 > cos^3 x (x - sin x cos x), so x cot x + tan^2 x/3 rises: with v < x as in "
        "lags-everywhere, v cot v - x cot x < (tan^2 x - tan^2 v)/3. Times tan v, this is the upper bound.",
        _in_angle(_upper_slope(_THIRD), 5),
        _in_angle(_upper_slope(fmpq(33, 100)), 3),
        "33/100 in place of 1/3:",
        everywhere=_LAGGING,
    ),
    Inequality(
        "lower-everywhere",
        "ng-cubic-law",
        "x - sin x cos x > 2 sin^3 x cos x/3, so x cot x + sin^2 x/3 falls: v cot v - x cot x > (sin^2 x - "
        "sin^2 v)/3. Times tan v, this is the lower bound.",
        _in_angle(_lower_slope(_THIRD), 5),
        _in_angle(_lower_slope(fmpq(34, 100)), 3),
        "34/100 in place of 1/3:",
        everywhere=_LAGGING,
    ),
    Inequality(
        "above",
        "ng-contraction",
        "theta' > (1 - alpha) theta, theta' from its cotangent.",
        _on_box(_excess, 1, 7),
        _on_box(_negative(_excess), 1, 7),
        "theta' < (1 - alpha) theta:",
    ),
    Inequality(
        "below",
        "ng-contraction",
        "theta' < (1 - alpha) theta above alpha = 1/2.",
        _on_box(_negative(_excess), 9, 15),
        _on_box(_excess, 9, 15),
        "theta' > (1 - alpha) theta:",
    ),
)
