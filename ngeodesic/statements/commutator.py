"""When SPEL's direction is tangent: a commutator, and its size for Gaussian gradients."""

from __future__ import annotations

from functools import partial

import sympy as sp
from sympy import Derivative, Interval, Matrix, Rational, Trace, ZeroMatrix, atan, oo
from sympy import Identity as Unit

from ngeodesic.matrices import MatrixIdentity, Membership
from ngeodesic.proof import ByHand, Identity, Sign, Statement, Step
from ngeodesic.statements.stiefel import POSITIVE, W, m, n

k = sp.Symbol("k", integer=True, positive=True)  # m - n
W_perp = sp.MatrixSymbol("W_perp", m, k)
V, O = sp.MatrixSymbol("V", m, n), sp.MatrixSymbol("O", m, n)
A, B = sp.MatrixSymbol("A", n, n), sp.MatrixSymbol("B", k, n)
M, S, H, K = (sp.MatrixSymbol(name, n, n) for name in "MSHK")
r_V = sp.Symbol("r", integer=True, positive=True)  # the rank of V
U, Y = sp.MatrixSymbol("U", m, r_V), sp.MatrixSymbol("Y", n, r_V)
D, C = sp.MatrixSymbol("D", r_V, r_V), sp.MatrixSymbol("C", r_V, r_V)

FRAME = ((W.T * W, Unit(n)), (W_perp.T * W_perp, Unit(k)), (W.T * W_perp, ZeroMatrix(n, k)))
SYMMETRIES = ((A.T, -A), (S.T, S))
COORDINATES = (*FRAME, (A.T, -A))
ROOT = (S * B.T * B * S, Unit(n) + S * A * A * S)  # S M S = I

# an integer model: M = 9 I + B^T B has the eigenvalues 9 and 25
_row = Matrix([[Rational(3, 5), Rational(4, 5)]])
MODEL = {
    W: Matrix([[2, -2], [1, 2], [2, 1]]) / 3,
    W_perp: Matrix([1, 2, -2]) / 3,
    A: Matrix([[0, 3], [-3, 0]]),
    B: 4 * _row,
    S: sp.eye(2) / 3 + (Rational(1, 5) - Rational(1, 3)) * _row.T * _row,
}
_turn = Matrix([[3, -4], [4, 3]]) / 5
in_coordinates = partial(
    MatrixIdentity,
    domain={},
    letters=(A, B, W, W_perp, S),
    relations=COORDINATES,
    where={V: W * A + W_perp * B, O: V * S, M: V.T * V, H: B.T * B},
    models=(MODEL,),
)

in_frame = partial(
    MatrixIdentity,
    domain={},
    letters=(V, W, W_perp),
    relations=((W_perp * W_perp.T, Unit(m) - W * W.T),),
    models=({W: MODEL[W], W_perp: MODEL[W_perp], V: Matrix([[1, 2], [3, 5], [7, 11]])},),
)
of_any_rank = partial(
    MatrixIdentity,
    domain={},
    letters=(D, C, Y, U),
    relations=((Y.T * Y, Unit(r_V)), (D * C, Unit(r_V))),
    where={V: U * D * Y.T, S: Y * C * Y.T},
    models=(
        {
            D: Matrix([[2, 0], [0, Rational(1, 2)]]),
            C: Matrix([[Rational(1, 2), 0], [0, 2]]),
            Y: Matrix([[2, -2], [1, 2], [2, 1]]) / 3,
            U: MODEL[W],
        },
    ),
)
on_square = partial(
    MatrixIdentity,
    domain={},
    letters=(A, W, S),
    relations=((W.T * W, Unit(n)), *SYMMETRIES),
    where={V: W * A, O: V * S, M: V.T * V},
    models=({W: _turn, A: MODEL[A], S: MODEL[S]},),
)

# the smallest case, for every entry b of B; r = sqrt(1 + b^2), so r = sqrt 5 for b = 2
b, r = sp.symbols("b r", real=True)
IN_EXAMPLE = {b: sp.S.Reals, r: Interval.open(1, oo)}
on_root = partial(
    Membership,
    domain=IN_EXAMPLE,
    generators=(r**2 - 1 - b**2,),
    points=({b: Rational(3, 4), r: Rational(5, 4)},),
)

COMMUTATOR = Statement(
    id="ng-commutator",
    title="When SPEL's direction is tangent",
    chapter="commutator",
    claim=(
        "Write a tangent V at W as V = W A + W_perp B, A antisymmetric, and M = V^T V = -A A + B^T B. Then "
        "O = msign(V) satisfies sym(W^T O) = (A M^(-1/2) - M^(-1/2) A)/2, with the inverse root on the "
        "range of M. So msign(V) is tangent iff A commutes with B^T B; always for n = 1, for square W, for "
        "A = 0 and for B = 0, but in general it is not. Exact example: W = [e1 e2] in 3 x 2 and V with the "
        "rows (0, 1), (-1, 0), (2, 0): W^T O + O^T W has the entry 1 - 1/sqrt 5 off the diagonal."
    ),
    hypotheses=(
        "m >= n, W^T W = I (for a scale sigma replace W by W/sigma); wide W by transposition",
        "W_perp, for m > n: the columns of [W W_perp] are an orthonormal basis of R^m; for m = n, V = W A",
        "V tangent, not 0, of any rank; M^(-1/2) is 0 on the null space of M",
    ),
    paper=(
        "Pull request 301 of Emerging-Optimizers says of its projection, which is applied before the polar "
        "factor, that it 'ensures the descent direction is strictly tangential'. Of P(G) this is true; of O "
        "= msign(P(G)), along which the weight moves, it is not in general. That msign leaves the tangent "
        "space unless W is square was shown by Cesista (2025); Su (2025) saw that it matters how nearly A "
        "commutes with a root of a Gram matrix. The formula, the criterion and the example are ours."
    ),
    uses=("ng-tangent-projection",),
    steps=(
        Step(
            "coordinates",
            "Let m > n. V = W A + W_perp B is tangent for antisymmetric A.",
            in_coordinates(W.T * V + V.T * W, ZeroMatrix(n, n)),
            in_coordinates(W.T * V - V.T * W, ZeroMatrix(n, n)),
        ),
        Step(
            "every-tangent",
            "Every V has this form, with A = W^T V, antisymmetric if V is tangent, and B = W_perp^T V.",
            in_frame(W * (W.T * V) + W_perp * (W_perp.T * V), V),
            in_frame(W * (W.T * V) - W_perp * (W_perp.T * V), V),
        ),
        Step(
            "gram",
            "The Gram matrix M of V.",
            in_coordinates(V.T * V, B.T * B - A * A),
            in_coordinates(V.T * V, B.T * B + A * A),
        ),
        Step(
            "orthonormal",
            "O = V S with S = M^(-1/2) is the polar factor of V. If V has full rank, S M S = I:",
            in_coordinates(O.T * O, Unit(n), relations=(*COORDINATES, (S.T, S), ROOT)),
            in_coordinates(O.T * O, S, relations=(*COORDINATES, (S.T, S), ROOT)),
            facts=("polar decomposition",),
        ),
        Step(
            "any-rank",
            "For any rank, let V = U D Y^T be the thin singular value decomposition without zeros and C = "
            "D^-1. Then M = Y D^2 Y^T, and S, the inverse root on the range of M, is Y C Y^T: V S = U Y^T = "
            "msign(V).",
            of_any_rank(V * S, U * Y.T),
            of_any_rank(V * S, U * C * Y.T),
            facts=("spectral theorem",),
        ),
        Step(
            "defect",
            "W^T O = A S, so twice sym(W^T O) is the commutator of A and S. This needs only that S is "
            "symmetric. (The claim that O is always tangent is refuted.)",
            in_coordinates(W.T * O + O.T * W, A * S - S * A, relations=(*FRAME, *SYMMETRIES)),
            in_coordinates(W.T * O + O.T * W, ZeroMatrix(n, n), relations=(*FRAME, *SYMMETRIES)),
        ),
        Step(
            "functions-of-each-other",
            "A commutes with S iff it commutes with M.",
            ByHand(
                "M is symmetric and positive semidefinite, and mu -> mu^(-1/2) for mu > 0, 0 -> 0 is one to "
                "one: S is a polynomial in M and M is a polynomial in S",
                r"A S = S A \iff A M = M A",
            ),
        ),
        Step(
            "criterion",
            "A commutes with A A, so it commutes with M iff it commutes with H = B^T B.",
            in_coordinates(A * M - M * A, A * H - H * A),
            in_coordinates(A * M - M * A, ZeroMatrix(n, n)),
        ),
        Step(
            "cases",
            "Cases in which A and B^T B always commute.",
            ByHand(
                "n = 1: A is an antisymmetric number, 0; A = 0; B = 0",
                r"A\, B^{T} B = B^{T} B\, A",
            ),
        ),
        Step(
            "square",
            "Let m = n. There is no W_perp, and V = W A with A = W^T V, as W W^T = I. The defect is the same "
            "commutator,",
            on_square(W.T * O + O.T * W, A * S - S * A),
            on_square(W.T * O + O.T * W, A * S + S * A),
        ),
        Step(
            "square-commutes",
            "and M = -A A commutes with A, so S does: O is tangent.",
            on_square(A * M, M * A),
            on_square(A * M, -M * A),
        ),
        Step(
            "example",
            "W = [e1 e2], V with the rows (0, 1), (-1, 0), (b, 0): M is diagonal with the entries r^2 = 1 + "
            "b^2 and 1, and O has the rows (0, 1), (-1/r, 0), (b/r, 0). The first column is a unit vector,",
            on_root((1 + b**2) / r**2, sp.S.One, cofactors=(-1 / r**2,)),
            on_root(1 + b**2 / r**2, sp.S.One, cofactors=(-1 / r**2,)),
        ),
        Step(
            "example-root",
            "the second, too, and they are orthogonal; O diag(r, 1) = V. The entry (2, 1) of O is -1/r, the "
            "negative root of this: -1/sqrt 5 for b = 2.",
            on_root(1 / r**2, 1 / (1 + b**2), cofactors=(-1 / (r**2 * (1 + b**2)),)),
            on_root(1 / r**2, 1 / (1 + 2 * b**2), cofactors=(-1 / (r**2 * (1 + b**2)),)),
        ),
        Step(
            "example-defect",
            "The entry of W^T O + O^T W off the diagonal is 1 - 1/r: not 0 unless b = 0.",
            Sign(1 - 1 / r, ">", domain=IN_EXAMPLE),
            Sign(Rational(1, 2) - 1 / r, ">", domain=IN_EXAMPLE),
        ),
    ),
)

# x and y: the traces of (t + M)^-1 and (u + M)^-1
x, y, v, g, t, u, w, c = sp.symbols("x y v g t u w c", real=True)
rate = sp.Symbol("lambda", real=True)
X, R, d = sp.symbols("X R d", real=True)  # d = sum_factor - lambda R
resolvent_time = 1 / x - v / (1 + v * x) - rate / (1 + x)  # t as a function of x
sum_factor = 1 + v * (x + y)
ratio_factor = x * y * (1 + v * x) * (1 + v * y) / ((1 + x) * (1 + y))
pair = v * x * y / sum_factor  # the trace of s (t + M)^-1 s (u + M)^-1
single = v * x / (1 + v * x)  # the trace of s^2 (t + M)^-1
slope = 1 / x**2 - v**2 / (1 + v * x) ** 2 - rate / (1 + x) ** 2  # -dt/dx

IN_RESOLVENT = {x: POSITIVE, y: POSITIVE, v: POSITIVE, rate: POSITIVE}
TIMES = {t: resolvent_time, u: resolvent_time.subs(x, y)}
GAUSSIAN = {v: Rational(1, 2), rate: 1 / c - 1}
AT_ZERO = {v: Rational(1, 2), rate: 2 * (1 + x) / (x * (2 + x))}  # lambda in terms of x at t = 0
IN_ROOT = {w: sp.S.Reals, r: POSITIVE}
IN_PARTS = dict.fromkeys((X, R, d, v, rate), POSITIVE)
of_root = partial(
    MatrixIdentity,
    domain={},
    letters=(A, K),
    relations=((A.T, -A), (K.T, K)),
    models=({A: MODEL[A], K: MODEL[S]},),
)

GAUSSIAN_DEFECT = Statement(
    id="ng-gaussian-defect",
    title="The tangency defect for a Gaussian gradient",
    chapter="commutator",
    claim=(
        "Let G have independent standard normal entries, O = msign(P(G)), m, n -> oo with n/m -> c in (0, "
        "1). Then |sym(W^T O)|/|O| -> D(c), where D(c)^2 is the integral of lambda X R/(4 pi^2 S (S - "
        "lambda R) sqrt(t u)) over t, u > 0. Here lambda = 1/c - 1, X = x y, S = 1 + (x + y)/2, R = X (1 + "
        "x/2) (1 + y/2)/((1 + x) (1 + y)), and x = x(t), y = x(u) are the decreasing solution x > 0 of t = "
        "1/x - 1/(2 + x) - lambda/(1 + x). D(c)/c -> 1/4 as c -> 0, and D(c) -> 0 as c -> 1. For m = n the "
        "defect is 0."
    ),
    hypotheses=(
        "W^T W = I (any sigma > 0 gives the same), W fixed or independent of G; |.| the Frobenius norm",
        "G real, entries iid N(0, 1); an average of independent such gradients at a fixed W, as in a "
        "momentum, is a multiple of one, and has the same defect",
        "the limits are in probability",
    ),
    paper=(
        "Pull request 301 of Emerging-Optimizers takes the direction as tangent and has no number. The "
        "curve, its first order n/(4 m) and its limits are ours; the tools are in Mingo and Speicher, Free "
        "Probability and Random Matrices (2017)."
    ),
    uses=("ng-commutator",),
    steps=(
        Step(
            "blocks",
            "The coordinates of V = P(G) = W A + W_perp B.",
            ByHand(
                "the rows of [W W_perp]^T G are again independent and normal, so A = (X - X^T)/2 with X = "
                "W^T G and B = W_perp^T G are independent: A antisymmetric with entries of variance v = "
                "1/2, B of size (m - n) x n with entries of variance 1",
                r"V = W\, \tfrac12 (X - X^{T}) + W_\perp B",
            ),
        ),
        Step(
            "norm",
            "By ng-commutator the defect is half the commutator of A and K = M^(-1/2); its squared norm.",
            of_root(
                Trace((A * K - K * A).T * (A * K - K * A)),
                Trace(2 * A * K * A * K - 2 * A * A * K * K),
            ),
            of_root(
                Trace((A * K - K * A).T * (A * K - K * A)),
                Trace(2 * A * K * A * K + 2 * A * A * K * K),
            ),
        ),
        Step(
            "free",
            "Divide A and B by sqrt n, and let tau be the limit of tr/n.",
            ByHand(
                "A -> i s with s semicircular of variance v (Wigner's theorem for the Hermitian -i A); B^T "
                "B -> p, free Poisson of rate lambda = 1/c - 1 and jump 1 (Marchenko and Pastur); the law "
                "of A is the same as that of Q A Q^T for orthogonal Q, and A and B are independent, so s "
                "and p are free (Collins and Sniady 2006); the convergence is in probability, because the "
                "variances of the traces tend to 0",
                r"M \to s^2 + p, \qquad \frac{\| \operatorname{sym}(W^{T} O) \|^2}{\| O \|^2} \to \tfrac12 "
                r"\left[ \tau(s^2 M^{-1}) - \tau(s M^{-1/2} s M^{-1/2}) \right]",
            ),
        ),
        Step(
            "transform",
            "The R-transforms of free variables add: here v/(1 - v g) for s^2 and lambda/(1 - g) for p. So "
            "-t = R(g) + 1/g for the Cauchy transform g = -x of M at -t.",
            Identity(
                -(v / (1 - v * g) + rate / (1 - g) + 1 / g),
                resolvent_time,
                domain=IN_RESOLVENT,
                where={g: -x},
            ),
            Identity(
                -(v / (1 - v * g) - rate / (1 - g) + 1 / g),
                resolvent_time,
                domain=IN_RESOLVENT,
                where={g: -x},
            ),
        ),
        Step(
            "stein",
            "Let Q_t = (t + M)^-1, Q_u = (u + M)^-1, with the traces x and y.",
            ByHand(
                "tau(s Y) = v (tau (x) tau)(dY), d the free difference quotient (Stein's lemma in the "
                "limit), (x) the tensor product; d Q_t = -Q_t s (x) Q_t - Q_t (x) s Q_t; odd moments of s "
                "vanish, because -s has the same law; so a = tau(s Q_t s Q_u) and b = tau(s^2 Q_t) satisfy "
                "two linear equations",
                r"a = v \left(x y - (x + y)\, a\right), \qquad b = v \left(x - x\, b\right)",
            ),
        ),
        Step(
            "pair",
            "The solution a of the first,",
            Identity(pair, v * (x * y - (x + y) * pair), domain=IN_RESOLVENT),
            Identity(pair, v * (x * y + (x + y) * pair), domain=IN_RESOLVENT),
        ),
        Step(
            "single",
            "and b of the second.",
            Identity(single, v * (x - x * single), domain=IN_RESOLVENT),
            Identity(single, v * (x + x * single), domain=IN_RESOLVENT),
        ),
        Step(
            "balance",
            "A check of transform against stein: tau(s^2 Q_t) + tau(p Q_t) = tau(M Q_t) = 1 - t x.",
            Identity(single + rate * x / (1 + x), 1 - t * x, domain=IN_RESOLVENT, where={t: resolvent_time}),
            Identity(single - rate * x / (1 + x), 1 - t * x, domain=IN_RESOLVENT, where={t: resolvent_time}),
        ),
        Step(
            "start",
            "x_0, the value at t = 0, is the positive root of lambda v x^2 - (1 - lambda) x - 1.",
            Identity(
                t * x * (1 + x) * (1 + v * x),
                1 + (1 - rate) * x - rate * v * x**2,
                domain=IN_RESOLVENT,
                where={t: resolvent_time},
            ),
            Identity(
                t * x * (1 + x) * (1 + v * x),
                1 + (1 + rate) * x - rate * v * x**2,
                domain=IN_RESOLVENT,
                where={t: resolvent_time},
            ),
        ),
        Step(
            "slope",
            "How t changes with x,",
            Identity(-Derivative(resolvent_time, x), slope, domain=IN_RESOLVENT),
            Identity(-Derivative(resolvent_time, x), -slope, domain=IN_RESOLVENT),
        ),
        Step(
            "gap",
            "and at t = 0 it does: x(t) continues analytically to some t < 0. So M has no spectrum near 0.",
            Sign(slope, ">", domain={x: POSITIVE}, where=AT_ZERO),
            Sign(slope - 1 / x**2, ">", domain={x: POSITIVE}, where=AT_ZERO),
        ),
        Step(
            "small-eigenvalues",
            "M^(-1/2) is then a limit of polynomials in M, up to the eigenvectors q with an eigenvalue below "
            "some small number.",
            ByHand(
                "|O Pi|^2 is at most the rank of the projection Pi on these q, so leaving them out changes "
                "|sym(W^T O)| by at most the root of their number; by gap their share of n tends to 0; the "
                "eigenvalues of M are bounded above with a probability that tends to 1, so on the rest "
                "M^(-1/2) is a uniform limit of polynomials",
                r"\| \operatorname{sym}(W^{T} O\, \Pi) \|^2 \le \operatorname{rank} \Pi",
            ),
        ),
        Step(
            "root-integral",
            "With t = w^2, M^(-1/2) is 1/pi times the integral over w of 2 (w^2 + M)^-1, here for a number "
            "r^2 in place of M: from 0 to oo the arctan grows by pi/2.",
            Identity(Derivative(2 * atan(w / r) / r, w), 2 / (w**2 + r**2), domain=IN_ROOT),
            Identity(Derivative(2 * atan(w / r) / r, w), 2 / (w**2 + r), domain=IN_ROOT),
            facts=("change of variable", "inverse functions"),
        ),
        Step(
            "difference",
            "tau(s^2 Q_t Q_u) is (b_x - b_y)/(u - t), because Q_t Q_u = (Q_t - Q_u)/(u - t); and that is v "
            "X/(S - lambda R), with X = x y and S, R as in the claim.",
            Identity(
                (single - single.subs(x, y)) * (sum_factor - rate * ratio_factor),
                v * x * y * (u - t),
                domain=IN_RESOLVENT,
                where=TIMES,
            ),
            Identity(
                (single - single.subs(x, y)) * (sum_factor + rate * ratio_factor),
                v * x * y * (u - t),
                domain=IN_RESOLVENT,
                where=TIMES,
            ),
        ),
        Step(
            "subtraction",
            "Subtract a = v X/S. All terms are positive; here d = S - lambda R, positive as tau(s^2 Q_t "
            "Q_u) is.",
            Identity(
                v * X / d - v * X / (d + rate * R), v * rate * X * R / ((d + rate * R) * d), domain=IN_PARTS
            ),
            Identity(v * X / d - v * X / (d + rate * R), v * X * R / ((d + rate * R) * d), domain=IN_PARTS),
        ),
        Step(
            "curve",
            "Write M^-1 and both M^(-1/2) as integrals over t and u of Q_t Q_u, and of Q_t and Q_u.",
            ByHand(
                "M is bounded away from 0 and s is bounded, so traces and integrals may be exchanged; put in "
                "subtraction and v = 1/2",
                r"D(c)^2 = \frac{v \lambda}{2 \pi^2} \int_0^\infty \! \int_0^\infty \frac{X R}{S (S - "
                r"\lambda R)} \frac{dt\, du}{\sqrt{t u}}",
            ),
        ),
        Step(
            "small-c",
            "c -> 0, so lambda -> oo: M is between (sqrt(lambda) - 1)^2 and (sqrt(lambda) + 1)^2 + 2.",
            ByHand(
                "so x(t) (t + lambda) -> 1 uniformly in t, S -> 1, R/X -> 1, lambda R -> 0, and the integral "
                "tends to a product of two",
                r"D(c)^2 \sim \frac{v \lambda}{2 \pi^2} \left( \int_0^\infty \frac{dt}{\sqrt t\, (t + "
                r"\lambda)^2} \right)^2",
            ),
        ),
        Step(
            "leading-integral",
            "With t = w^2, r^2 = lambda: the antiderivative grows by pi/(2 r^3) from 0 to oo.",
            Identity(
                Derivative(atan(w / r) / r**3 + w / (r**2 * (w**2 + r**2)), w),
                2 / (w**2 + r**2) ** 2,
                domain=IN_ROOT,
            ),
            Identity(
                Derivative(atan(w / r) / r**3 - w / (r**2 * (w**2 + r**2)), w),
                2 / (w**2 + r**2) ** 2,
                domain=IN_ROOT,
            ),
            facts=("change of variable", "inverse functions"),
        ),
        Step(
            "first-order",
            "So D^2 is v lambda/(2 pi^2) times pi^2/(4 lambda^3) to first order: its root is c/4.",
            Identity(
                v * rate / 2 / (4 * rate**3),
                (c / 4) ** 2 / (1 - c) ** 2,
                domain={c: Interval.open(0, 1)},
                where=GAUSSIAN,
            ),
            Identity(
                v * rate / 2 / (4 * rate**3),
                (c / 2) ** 2 / (1 - c) ** 2,
                domain={c: Interval.open(0, 1)},
                where=GAUSSIAN,
            ),
        ),
        Step(
            "monotone",
            "c -> 1: J = tau(s M^(-1/2) s M^(-1/2)) is the integral of a/(pi^2 sqrt(t u)), and a grows with "
            "x;",
            Identity(Derivative(pair, x), v * y * (1 + v * y) / (1 + v * (x + y)) ** 2, domain=IN_RESOLVENT),
            Identity(Derivative(pair, x), v * y * (1 - v * y) / (1 + v * (x + y)) ** 2, domain=IN_RESOLVENT),
        ),
        Step(
            "square-limit",
            "x(t) grows as lambda falls to 0, where M = s^2.",
            ByHand(
                "by monotone convergence J tends to its value for M = s^2, tau(s |s|^-1 s |s|^-1) = 1; x_0 "
                "-> oo, so v x_0/(1 + v x_0) -> 1; for m = n the defect is 0 by ng-commutator",
                r"D(c) \to 0 \quad (c \to 1)",
            ),
        ),
    ),
)

STATEMENTS = (COMMUTATOR, GAUSSIAN_DEFECT)
