"""Newton-Schulz iteration for the polar factor: where the cubic and the quintic converge, and how fast."""

from __future__ import annotations

from functools import partial

import sympy as sp
from sympy import Derivative, Interval, Matrix, Rational, S, oo
from sympy import Identity as Unit

from ngeodesic.matrices import MatrixIdentity
from ngeodesic.proof import ByHand, Identity, Sign, Statement, Step

s, x, d = sp.symbols("s x d", real=True)  # a singular value, its square, its distance 1 - s from 1
m, n, r = sp.symbols("m n r", integer=True, positive=True)
X, U, V = sp.MatrixSymbol("X", m, n), sp.MatrixSymbol("U", m, r), sp.MatrixSymbol("V", n, r)
D = sp.MatrixSymbol("D", r, r)  # diagonal, the singular values

cubic = (3 * s - s**3) / 2
quintic = (15 * s - 10 * s**3 + 3 * s**5) / 8
cubic_of_square = x * (3 - x) ** 2 / 4  # the square of the cubic, as a function of x = s^2

REAL = {s: S.Reals}
IN_ERROR = {d: S.Reals}
of_singular_values = partial(
    MatrixIdentity,
    domain={},
    letters=(D, V, U),
    relations=((U.T * U, Unit(r)), (V.T * V, Unit(r)), (D.T, D)),
    where={X: U * D * V.T},
    models=(
        {
            D: Matrix([[2, 0], [0, Rational(1, 2)]]),
            U: Matrix([[Rational(3, 5), 0], [0, 1], [Rational(4, 5), 0]]),
            V: Matrix([[Rational(3, 5), Rational(4, 5)], [Rational(-4, 5), Rational(3, 5)]]),
        },
    ),
)

NEWTON_SCHULZ = Statement(
    id="ng-newton-schulz",
    title="Convergence of the Newton-Schulz iteration",
    chapter="polar",
    claim=(
        "The iterations X -> X (3 I - X^T X)/2 and X -> X (15 I - 10 X^T X + 3 (X^T X)^2)/8 keep the "
        "singular vectors and act on each singular value s by p(s) = (3 s - s^3)/2 and q(s) = (15 s - 10 s^3 "
        "+ 3 s^5)/8. Zero stays zero. Under p every s in (0, sqrt 3) tends to 1, after one step from below, "
        "with 1 - p = (1 - s)^2 (2 + s)/2; sqrt 3 goes to 0; s in (sqrt 3, 2] tends to -1, with p(2) = -1; "
        "s > sqrt 5 diverges. Under q every s in (0, sqrt(7/3)) tends to 1, monotonically and from its own "
        "side, with 1 - q = (1 - s)^3 (8 + 9 s + 3 s^2)/8; sqrt(7/3) stays; s > sqrt(7/3) diverges. So X "
        "tends to msign(X), quadratically under the first iteration if all nonzero singular values are in "
        "(0, sqrt 3), and cubically under the second if they are in (0, sqrt(7/3))."
    ),
    hypotheses=(
        "X real, of any shape and rank, not 0 (0 stays, and is msign(0)); U D V^T is its thin singular value "
        "decomposition without zeros",
        "intervals for p: (0, sqrt 3), and (sqrt 3, 2], s > sqrt 5 for what happens above",
        "intervals for q: (0, sqrt(7/3)) and s > sqrt(7/3)",
        "exact arithmetic",
    ),
    paper=(
        "Emerging-Optimizers computes msign by a Newton-Schulz iteration with quintics of other "
        "coefficients. The cubic is in Higham, Functions of Matrices, section 8.3; the intervals are proved "
        "here."
    ),
    uses=(),
    steps=(
        Step(
            "cubic-on-singular-values",
            "Put X = U D V^T into the cubic iteration: the singular vectors stay.",
            of_singular_values(X * (3 * Unit(n) - X.T * X) / 2, U * (3 * D - D**3) * V.T / 2),
            of_singular_values(X * (3 * Unit(n) - X.T * X) / 2, U * (3 * D + D**3) * V.T / 2),
        ),
        Step(
            "quintic-on-singular-values",
            "The same for the quintic.",
            of_singular_values(
                X * (15 * Unit(n) - 10 * X.T * X + 3 * (X.T * X) ** 2) / 8,
                U * (15 * D - 10 * D**3 + 3 * D**5) * V.T / 8,
            ),
            of_singular_values(
                X * (15 * Unit(n) - 10 * X.T * X + 3 * (X.T * X) ** 2) / 8,
                U * (15 * D + 10 * D**3 + 3 * D**5) * V.T / 8,
            ),
        ),
        Step(
            "cubic-error",
            "How far the cubic leaves s from 1: the square of the error before.",
            Identity(1 - cubic, (1 - s) ** 2 * (2 + s) / 2, domain=REAL),
            Identity(1 - cubic, (1 - s) ** 2 * (2 - s) / 2, domain=REAL),
        ),
        Step(
            "cubic-error-of-square",
            "The same for the square of the singular value.",
            Identity(1 - cubic**2, (1 - s**2) ** 2 * (4 - s**2) / 4, domain=REAL),
            Identity(1 - cubic**2, (1 - s**2) ** 2 * (4 + s**2) / 4, domain=REAL),
        ),
        Step(
            "cubic-positive",
            "p(s)/s is positive for 0 < s < sqrt 3; with cubic-error, p maps (0, sqrt 3) into (0, 1]. Here "
            "and below x = s^2.",
            Sign((3 - x) / 2, ">", domain={x: Interval.open(0, 3)}),
            Sign((2 - x) / 2, ">", domain={x: Interval.open(0, 3)}),
        ),
        Step(
            "cubic-grows",
            "Below 1 the cubic makes s larger.",
            Sign(cubic - s, ">", domain={s: Interval.open(0, 1)}),
            Sign(s - cubic, ">", domain={s: Interval.open(0, 1)}),
        ),
        Step(
            "cubic-flip",
            "For sqrt 3 < s <= 2 the value p(s) is negative, and p(s)^2 is at most 1.",
            Sign(1 - cubic_of_square, ">=", domain={x: Interval.Lopen(3, 4)}),
            Sign(cubic_of_square - 1, ">=", domain={x: Interval.Lopen(3, 4)}),
        ),
        Step(
            "cubic-escape",
            "For s > sqrt 5 the square grows.",
            Sign(cubic_of_square - x, ">", domain={x: Interval.open(5, oo)}),
            Sign(cubic_of_square - 2 * x, ">", domain={x: Interval.open(5, oo)}),
        ),
        Step(
            "cubic-limit",
            "From the first step on, the values in (0, sqrt 3) grow and are at most 1.",
            ByHand(
                "a sequence that grows and is bounded has a limit; by continuity it is a fixed point of p "
                "in (0, 1], and by cubic-grows the only one is 1; by cubic-error the convergence is "
                "quadratic; p is odd, so by cubic-flip a value in (sqrt 3, 2] tends to -1; above sqrt 5, a "
                "bounded sequence of squares would have a limit above 5 that stays, and by cubic-escape "
                "none does",
                r"p^{k}(s) \to 1 \quad \text{for } 0 < s < \sqrt 3",
            ),
        ),
        Step(
            "quintic-error",
            "How far the quintic leaves s from 1: the cube of the error before, with its sign. The last "
            "factor is positive for s > 0.",
            Identity(1 - quintic, (1 - s) ** 3 * (8 + 9 * s + 3 * s**2) / 8, domain=REAL),
            Identity(1 - quintic, (1 - s) ** 3 * (8 - 9 * s + 3 * s**2) / 8, domain=REAL),
        ),
        Step(
            "quintic-monotone",
            "The quintic grows, and is flat at 1: of the odd quintics with q(1) = 1 it is the one whose "
            "first two derivatives vanish there.",
            Identity(Derivative(quintic, s), Rational(15, 8) * (1 - s**2) ** 2, domain=REAL),
            Identity(Derivative(quintic, s), Rational(15, 8) * (1 + s**2) ** 2, domain=REAL),
        ),
        Step(
            "quintic-fixed-points",
            "Its fixed points: 0, 1 and sqrt(7/3).",
            Identity(quintic - s, s * (1 - s**2) * (7 - 3 * s**2) / 8, domain=REAL),
            Identity(quintic - s, s * (1 - s**2) * (7 + 3 * s**2) / 8, domain=REAL),
        ),
        Step(
            "quintic-grows",
            "Below 1 the quintic makes s larger,",
            Sign(quintic - s, ">", domain={s: Interval.open(0, 1)}),
            Sign(s - quintic, ">", domain={s: Interval.open(0, 1)}),
        ),
        Step(
            "quintic-falls",
            "between 1 and sqrt(7/3) smaller,",
            Sign((1 - x) * (7 - 3 * x), "<", domain={x: Interval.open(1, Rational(7, 3))}),
            Sign((1 - x) * (7 - 3 * x), ">", domain={x: Interval.open(1, Rational(7, 3))}),
        ),
        Step(
            "quintic-escape",
            "and above sqrt(7/3) larger again.",
            Sign((1 - x) * (7 - 3 * x), ">", domain={x: Interval.open(Rational(7, 3), oo)}),
            Sign((1 - x) * (7 - 3 * x), "<", domain={x: Interval.open(Rational(7, 3), oo)}),
        ),
        Step(
            "quintic-limit",
            "By quintic-error a value stays on its side of 1, so it moves in one direction.",
            ByHand(
                "below sqrt(7/3) it is bounded by 1 and converges to a fixed point, which is 1; above, a "
                "bounded sequence would converge to a fixed point above sqrt(7/3), and there is none; by "
                "quintic-error the convergence is cubic",
                r"q^{k}(s) \to 1 \quad \text{for } 0 < s < \sqrt{7/3}",
            ),
        ),
        Step(
            "rates",
            "In terms of the error d = 1 - s the two steps are d -> d^2 (3 - d)/2 and this.",
            Identity(1 - quintic.subs(s, 1 - d), d**3 * (20 - 15 * d + 3 * d**2) / 8, domain=IN_ERROR),
            Identity(1 - quintic.subs(s, 1 - d), d**3 * (20 + 15 * d + 3 * d**2) / 8, domain=IN_ERROR),
        ),
        Step(
            "polar-factor",
            "The iterates are U D_k V^T with D_k -> I.",
            ByHand(
                "by definition U V^T, over the nonzero singular values only, is msign(X)",
                r"X_k = U D_k V^{T} \to U V^{T} = \operatorname{msign}(X)",
            ),
        ),
    ),
)

STATEMENTS = (NEWTON_SCHULZ,)
