"""The Stiefel manifold W^T W = sigma^2 I: tangent projection and polar retraction, for every size."""

from __future__ import annotations

from functools import partial

import sympy as sp
from sympy import Derivative, Interval, Matrix, Rational, Trace, ZeroMatrix, atan, cos, oo, sin
from sympy import Identity as Unit

from ngeodesic.matrices import MatrixIdentity, Membership
from ngeodesic.proof import ByHand, Identity, Sign, Statement, Step

m, n = sp.symbols("m n", integer=True, positive=True)
sigma, t, a, b, h, u, nu = sp.symbols("sigma t a b h u nu", real=True)
W, G, H, V, P, Q, X, Y, Z = (sp.MatrixSymbol(name, m, n) for name in "WGHVPQXYZ")
S, T, C = (sp.MatrixSymbol(name, n, n) for name in "STC")
P_T = sp.MatrixSymbol("P_T", n, m)
x, z = sp.MatrixSymbol("x", n, 1), sp.MatrixSymbol("z", m, 1)

POSITIVE = Interval.open(0, oo)
SCALE = {sigma: POSITIVE}
ON_TALL = (W.T * W, sigma**2 * Unit(n))
ON_WIDE = (W * W.T, sigma**2 * Unit(m))
TANGENT = (W.T * V, -V.T * W)
ROOT = (S * V.T * V * S, Unit(n) - sigma**2 * S * S)  # S (sigma^2 I + V^T V) S = I
ZERO = ZeroMatrix(n, n)


def tall_projection(matrix: sp.Expr) -> sp.Expr:
    """The tangent projection at W for m >= n."""
    return matrix - W * (W.T * matrix + matrix.T * W) / (2 * sigma**2)


def wide_projection(matrix: sp.Expr) -> sp.Expr:
    """The tangent projection at W for m <= n."""
    return matrix - (matrix * W.T + W * matrix.T) * W / (2 * sigma**2)


def _canonical_gradient(matrix: sp.Expr) -> sp.Expr:
    """Tangent as well, but no projection."""
    return matrix - W * matrix.T * W / sigma**2


_TRANSPOSED = G.T - W.T * (W * G.T + G * W.T) / (2 * sigma**2)  # the tall projection of G^T at W^T

# A point W of 3 x 2 matrices with sigma = 3, a unit normal, a tangent V, and S for it.
_W, _NORMAL, _TURN = Matrix([[2, -2], [1, 2], [2, 1]]), Matrix([1, 2, -2]) / 3, Matrix([[0, 1], [-1, 0]])
_ROW = Matrix([[Rational(3, 5), Rational(4, 5)]])
_V = 3 * (Rational(1, 4) * _W * _TURN + 3 * _NORMAL * _ROW)
TALL = {
    W: _W,
    V: _V,
    S: Rational(4, 15) * (sp.eye(2) - _ROW.T * _ROW) + Rational(4, 39) * _ROW.T * _ROW,
    G: Matrix([[1, 2], [3, 5], [7, 11]]),
    H: Matrix([[1, -2], [0, 1], [3, 1]]),
    x: Matrix([3, -1]),
    T: Matrix([[(_V.T * _V)[0, 0] / 2, (_V.T * _V)[0, 1]], [0, (_V.T * _V)[1, 1] / 2]]),
    C: Matrix([[1, 2], [2, -1]]),
    sigma: 3,
    t: Rational(1, 2),
}
WIDE = {y: value.T for y, value in TALL.items() if y in (W, V, G)} | {z: Matrix([3, -1]), sigma: 3}
SQUARE = {W: 3 * _TURN, G: Matrix([[1, 2], [3, 5]]), sigma: 3}

on_tall = partial(MatrixIdentity, domain=SCALE, letters=(G, H, V, W), relations=(ON_TALL,), models=(TALL,))
tangent_to_tall = partial(
    MatrixIdentity, domain=SCALE, letters=(x, G, V, W, T, S), relations=(ON_TALL, TANGENT), models=(TALL,)
)
on_wide = partial(MatrixIdentity, domain=SCALE, letters=(G, z, W), relations=(ON_WIDE,), models=(WIDE,))
tangent_to_wide = partial(
    MatrixIdentity,
    domain=SCALE,
    letters=(W, V),
    relations=(ON_WIDE, (V * W.T, -W * V.T)),
    models=(WIDE,),
)
on_square = partial(
    MatrixIdentity, domain=SCALE, letters=(G, W), relations=(ON_TALL, ON_WIDE), models=(SQUARE,)
)

# 3 x 2, entry by entry: s = sym(W^T G)/sigma^2 and P = G - W s
w = Matrix(3, 2, lambda i, j: sp.Symbol(f"w_{i + 1}{j + 1}", real=True))
g = Matrix(3, 2, lambda i, j: sp.Symbol(f"g_{i + 1}{j + 1}", real=True))
p = Matrix(3, 2, lambda i, j: sp.Symbol(f"p_{i + 1}{j + 1}", real=True))
s11, s12, s22 = sp.symbols("s_11 s_12 s_22", real=True)
_entries = g - w * Matrix([[s11, s12], [s12, s22]])
_gram = w.T * w
on_three_by_two = partial(
    Membership,
    w[0, 0] * p[0, 1]
    + w[1, 0] * p[1, 1]
    + w[2, 0] * p[2, 1]
    + w[0, 1] * p[0, 0]
    + w[1, 1] * p[1, 0]
    + w[2, 1] * p[2, 0],
    generators=(_gram[0, 0] - sigma**2, _gram[0, 1], _gram[1, 1] - sigma**2),
    cofactors=(-s12, -s11 - s22, -s12),
    where={
        s11: (w.T * g)[0, 0] / sigma**2,
        s12: (w.T * g + g.T * w)[0, 1] / (2 * sigma**2),
        s22: (w.T * g)[1, 1] / sigma**2,
        **dict(zip(p, _entries, strict=True)),
    },
    points=(dict(zip([*w, *g, sigma], [*TALL[W], *TALL[G], 3], strict=True)),),
    domain=dict.fromkeys((*w, *g), sp.S.Reals) | SCALE,
)

TANGENT_PROJECTION = Statement(
    id="ng-tangent-projection",
    title="The tangent projection",
    chapter="stiefel",
    claim=(
        "Tall, W^T W = sigma^2 I: call V tangent at W if sym(W^T V) = 0. P(G) = G - W sym(W^T G)/sigma^2 "
        "is the orthogonal projection onto these V in the Frobenius product: tangent, idempotent, "
        "self-adjoint, the identity on tangents, and the nearest tangent matrix to G. What it removes, W sym("
        "W^T G)/sigma^2, is orthogonal to all of them. Wide, W W^T = sigma^2 I: P(G) = G - sym(G W^T) "
        "W/sigma^2, which is the transpose of the tall projection of G^T at W^T. For square W the two agree."
    ),
    hypotheses=(
        "W, G real m x n; sym(A) = (A + A^T)/2; sigma > 0",
        "tall, m >= n: W^T W = sigma^2 I; wide, m <= n: W W^T = sigma^2 I",
        "the inner product of two matrices is the sum of the products of their entries, tr(X^T Y) = tr(X "
        "Y^T)",
    ),
    paper=(
        "Pull request 301 of Emerging-Optimizers: projection of the momentum on the tangent space, and its "
        "test that sym(W^T V) = 0 for square, tall and wide weights in both scale modes."
    ),
    uses=(),
    steps=(
        Step(
            "tangent",
            "P(G) is tangent at W.",
            on_tall(W.T * P + P.T * W, ZERO, where={P: tall_projection(G)}),
            on_tall(W.T * P + P.T * W, ZERO, where={P: G - W * (W.T * G + G.T * W) / 2}),
        ),
        Step(
            "fixes-tangents",
            "A tangent V stays as it is. (G - W G^T W/sigma^2 is tangent, too, but does not fix tangents.)",
            tangent_to_tall(P, V, where={P: tall_projection(V)}),
            tangent_to_tall(P, V, where={P: _canonical_gradient(V)}),
        ),
        Step(
            "idempotent",
            "Projecting twice is projecting once.",
            on_tall(Q, P, where={P: tall_projection(G), Q: tall_projection(P)}),
            on_tall(Q, P, where={P: _canonical_gradient(G), Q: _canonical_gradient(P)}),
        ),
        Step(
            "self-adjoint",
            "<P(G), H> = <G, P(H)>, with Q = P(H).",
            on_tall(Trace(P.T * H), Trace(G.T * Q), where={P: tall_projection(G), Q: tall_projection(H)}),
            on_tall(Trace(P.T * H), Trace(G.T * H), where={P: tall_projection(G), Q: tall_projection(H)}),
        ),
        Step(
            "normal",
            "What is removed is orthogonal to every tangent V.",
            tangent_to_tall(Trace((G - P).T * V), sp.S.Zero, where={P: tall_projection(G)}),
            tangent_to_tall(Trace((G - P).T * G), sp.S.Zero, where={P: tall_projection(G)}),
        ),
        Step(
            "nearest-tangent",
            "Pythagoras: P(G) is the tangent matrix nearest to G.",
            tangent_to_tall(
                Trace((G - V).T * (G - V)),
                Trace((G - P).T * (G - P) + (P - V).T * (P - V)),
                where={P: tall_projection(G)},
            ),
            tangent_to_tall(
                Trace((G - V).T * (G - V)),
                Trace((G - P).T * (G - P) - (P - V).T * (P - V)),
                where={P: tall_projection(G)},
            ),
        ),
        Step(
            "wide",
            "The wide projection is tangent: sym(P(G) W^T) = 0.",
            on_wide(P * W.T + W * P.T, ZeroMatrix(m, m), where={P: wide_projection(G)}),
            on_wide(P * W.T - W * P.T, ZeroMatrix(m, m), where={P: wide_projection(G)}),
        ),
        Step(
            "wide-fixes-tangents",
            "It fixes tangents. The tall formula at a wide W gives a tangent, too, but another one: half of "
            "G - W G^T W/sigma^2.",
            tangent_to_wide(P, V, where={P: wide_projection(V)}),
            tangent_to_wide(P, V, where={P: tall_projection(V)}),
        ),
        Step(
            "transpose",
            "It is the transpose of the tall projection of G^T at W^T, so all that was shown holds for it.",
            on_wide(P, P_T.T, where={P: wide_projection(G), P_T: _TRANSPOSED}),
            on_wide(P, P_T.T, where={P: tall_projection(G), P_T: _TRANSPOSED}),
        ),
        Step(
            "square",
            "For square W the two projections remove the same.",
            on_square(W * (W.T * G + G.T * W), (G * W.T + W * G.T) * W),
            on_square(W * (W.T * G + G.T * W), (G * W.T - W * G.T) * W),
        ),
        Step(
            "three-by-two",
            "The same entry by entry in the smallest case that is neither square nor a vector: the entry of "
            "W^T P + P^T W off the diagonal is a combination of the entries of W^T W - sigma^2 I.",
            on_three_by_two(sp.S.Zero),
            on_three_by_two(2 * s12),
        ),
    ),
)

# second and third derivatives at t = 0: of the geodesic X and Y, of R(W, tV) X and Z
SECOND = {X: -W * V.T * V / sigma**2}
THIRD = {
    **SECOND,
    Y: -(V * V.T * V + W * (X.T * V + V.T * X)) / sigma**2,
    Z: -3 * V * V.T * V / sigma**2,
    P: tall_projection(V * V.T * V),
}

# c(u) = (1 + i u)/sqrt(1 + u^2) = cos(psi) + i sin(psi) with u = tan(psi), and h = tan(psi/2)
tangent = 2 * h / (1 - h**2)
along_c = a * cos(2 * atan(h)) + b * sin(2 * atan(h))  # a Re(c) + b Im(c)
along_ic = b * cos(2 * atan(h)) - a * sin(2 * atan(h))  # the same for i c
IN_PLANE = {a: sp.S.Reals, b: sp.S.Reals, h: Interval.open(-1, 1)}
AT_TANGENT = {u: tangent}
# c'' = (a_2 + i b_2) c, and c''' = (a_3 + i b_3) c
_a2, _b2 = -1 / (1 + u**2) ** 2, -2 * u / (1 + u**2) ** 2
third_squared = (Derivative(_a2, u) - _b2 / (1 + u**2)) ** 2 + (Derivative(_b2, u) + _a2 / (1 + u**2)) ** 2

SCALED_RETRACTION = Statement(
    id="ng-scaled-retraction",
    title="The scaled polar retraction",
    chapter="stiefel",
    claim=(
        "For every tangent V, of any size, R(W, V) = sigma msign(W + V) is defined and equal to sigma (W + "
        "V) (sigma^2 I + V^T V)^(-1/2). Its Gram matrix is sigma^2 I and R(W, 0) = W; it is the point of "
        "the manifold nearest to W + V. Tangents are the velocities of curves on the manifold. If V^T V q = "
        "nu^2 q, nu >= 0, then R q is W q turned towards V q by arctan(nu/sigma), and W q for nu = 0. R is "
        "second order: R(W, tV) has the velocity V and the acceleration -W V^T V/sigma^2 of the geodesic of "
        "the Euclidean metric, and exp_W(tV) - R(W, tV) = t^3 P(V V^T V)/(3 sigma^2) + O(t^4), P the "
        "tangent projection. For every tangent V, |exp_W(V) - R(W, V)| <= |V|^3/sigma^2. The QR retraction "
        "is second order only along V with a diagonal V^T V. W of scale sigma = sqrt(m/n) preserves the RMS "
        "norm of activations: of all if m >= n, of those in the row space of W if m < n."
    ),
    hypotheses=(
        "tall: W^T W = sigma^2 I, W^T V + V^T W = 0, sigma > 0; wide: the transposes",
        "|.| the Frobenius norm; exp_W the exponential map of the metric tr(X^T Y)",
        "QR: sigma times the factor with orthonormal columns, R with a positive diagonal",
    ),
    paper=(
        "Pull request 301 of Emerging-Optimizers: retraction by msign and scaling, modes unit_spectral_norm "
        "(sigma = 1) and unit_rms_to_rms_norm (sigma = sqrt(m/n)), and its test that W^T W = sigma^2 I "
        "after several steps. The order of contact, its leading term and the bound are ours."
    ),
    uses=("ng-tangent-projection",),
    steps=(
        Step(
            "gram-of-sum",
            "Because V is tangent, the mixed terms cancel.",
            tangent_to_tall((W + V).T * (W + V), sigma**2 * Unit(n) + V.T * V),
            tangent_to_tall((W + V).T * (W + V), sigma**2 * Unit(n) - V.T * V),
        ),
        Step(
            "root",
            "So the Gram matrix is at least sigma^2 I: positive definite, however large V is.",
            ByHand(
                "it has exactly one symmetric positive definite inverse square root S; the polar factor of a "
                "matrix X of full column rank is X (X^T X)^(-1/2)",
                r"S = (\sigma^2 I + V^{T} V)^{-1/2}, \qquad R(W, V) = \sigma\, (W + V)\, S",
            ),
        ),
        Step(
            "on-manifold",
            "The Gram matrix of R = sigma (W + V) S.",
            tangent_to_tall(
                P.T * P,
                sigma**2 * Unit(n),
                relations=(ON_TALL, TANGENT, (S.T, S), ROOT),
                where={P: sigma * (W + V) * S},
            ),
            tangent_to_tall(
                P.T * P,
                sigma**2 * Unit(n),
                relations=(ON_TALL, TANGENT, (S.T, S), ROOT),
                where={P: (W + V) * S},
            ),
        ),
        Step(
            "nearest-point",
            "For Q with Q^T Q = sigma^2 I, |W + V - Q|^2 is a constant less 2 tr((W + V)^T Q).",
            ByHand(
                "tr(X^T Q) is at most sigma times the sum of the singular values of X, with equality for Q = "
                "sigma msign(X) (von Neumann's trace inequality; Higham, Functions of Matrices, theorem 8.4)",
                r"R(W, V) = \arg\min_{Q^{T} Q = \sigma^2 I} \| W + V - Q \|",
            ),
        ),
        Step(
            "circles",
            "W x and V x are orthogonal for every x.",
            tangent_to_tall(Trace(x.T * W.T * V * x), sp.S.Zero),
            tangent_to_tall(Trace(x.T * W.T * V * x), Trace(x.T * V.T * V * x)),
        ),
        Step(
            "arctan",
            "Let V^T V q = nu^2 q, |q| = 1.",
            ByHand(
                "then S q = q/sqrt(sigma^2 + nu^2) and |W q| = sigma, |V q| = nu, so R q = sigma (W q + V q)/"
                "sqrt(sigma^2 + nu^2) is W q turned by arctan(nu/sigma); V = 0 gives R = W",
                r"R q = \cos\varphi\; W q + \sin\varphi\; \tfrac{\sigma}{\nu} V q, \qquad \tan\varphi = "
                r"\nu/\sigma",
            ),
        ),
        Step(
            "series",
            "To second order in the eigenvalues 2 a = t^2 nu^2/sigma^2, (1 + 2 a)^(-1/2) is 1 - a,",
            Identity((1 - a) ** 2 * (1 + 2 * a), 1 - a**2 * (3 - 2 * a), domain={a: sp.S.Reals}),
            Identity((1 - a) ** 2 * (1 + 2 * a), 1 - a**2 * (3 + 2 * a), domain={a: sp.S.Reals}),
        ),
        Step(
            "derivatives",
            "so R(W, tV) has, up to t^4, the expansion of this: velocity V, acceleration -W V^T V/sigma^2, "
            "third derivative -3 V V^T V/sigma^2.",
            tangent_to_tall(
                (W + t * V) * (Unit(n) - t**2 * V.T * V / (2 * sigma**2)),
                W + t * V + t**2 * X / 2 + t**3 * Z / 6,
                domain={**SCALE, t: sp.S.Reals},
                where=THIRD,
            ),
            tangent_to_tall(
                (W + t * V) * (Unit(n) - t**2 * V.T * V / (2 * sigma**2)),
                W + t * V + t**2 * X + t**3 * Z / 6,
                domain={**SCALE, t: sp.S.Reals},
                where=THIRD,
            ),
        ),
        Step(
            "tangent-space",
            "The V with sym(W^T V) = 0 are the velocities at W of the curves on the manifold.",
            ByHand(
                "on a curve W^T W = sigma^2 I, and the derivative of this is W^T W' + W'^T W = 0; "
                "conversely V is the velocity of R(W, tV)",
                r"T_W = \{V : W^{T} V + V^{T} W = 0\}",
            ),
        ),
        Step(
            "geodesics",
            "exp_W(tV) is the geodesic that starts at W with the velocity V.",
            ByHand(
                "a curve is a geodesic of the metric that the manifold has from the space of matrices iff "
                "its acceleration X is orthogonal to the tangents; by ng-tangent-projection X is then W C "
                "with a symmetric C; start and velocity determine it, and as the manifold is compact it "
                "exists for all t",
                r"P(W'') = 0",
            ),
        ),
        Step(
            "acceleration",
            "Deriving W^T W = sigma^2 I twice gives W^T X + X^T W + 2 V^T V = 0. So X = W C with C = -V^T "
            "V/sigma^2, as for R.",
            tangent_to_tall(W.T * X + X.T * W + 2 * V.T * V, ZERO, where=SECOND),
            tangent_to_tall(W.T * X + X.T * W + V.T * V, ZERO, where=SECOND),
        ),
        Step(
            "leading-term",
            "Derive the geodesic's equation W'' = -W W'^T W'/sigma^2 once more: that gives Y. The "
            "difference to Z is made of the tangent part P of V V^T V.",
            tangent_to_tall((Y - Z) / 6, P / (3 * sigma**2), where=THIRD),
            tangent_to_tall((Y - Z) / 6, V * V.T * V / (3 * sigma**2), where=THIRD),
        ),
        Step(
            "first-derivative",
            "By circles and arctan, R(W, tV) q moves in a plane as sigma c, c = (1 + i u)/sqrt(1 + u^2), u "
            "= t nu/sigma; that is cos(psi) + i sin(psi) with u = tan(psi). Here h = tan(psi/2). c' = i "
            "c/(1 + u^2), multiplied by any point (a, b) of the plane:",
            Identity(
                Derivative(along_c, h),
                along_ic / (1 + u**2) * Derivative(tangent, h),
                domain=IN_PLANE,
                where=AT_TANGENT,
            ),
            Identity(
                Derivative(along_c, h),
                along_c / (1 + u**2) * Derivative(tangent, h),
                domain=IN_PLANE,
                where=AT_TANGENT,
            ),
            facts=("plane coordinates",),
        ),
        Step(
            "second-derivative",
            "In the same way, c'' = -(1 + 2 i u) c/(1 + u^2)^2.",
            Identity(
                Derivative(along_ic / (1 + tangent**2), h),
                -(along_c + 2 * u * along_ic) / (1 + u**2) ** 2 * Derivative(tangent, h),
                domain=IN_PLANE,
                where=AT_TANGENT,
            ),
            Identity(
                Derivative(along_ic / (1 + tangent**2), h),
                -(along_c + u * along_ic) / (1 + u**2) ** 2 * Derivative(tangent, h),
                domain=IN_PLANE,
                where=AT_TANGENT,
            ),
        ),
        Step(
            "third-derivative",
            "Deriving the factor and c gives c''' as a multiple of c. As |c| = 1, the square of the length "
            "of c''' is",
            Identity(third_squared, 9 * (1 + 4 * u**4) / (1 + u**2) ** 6, domain={u: sp.S.Reals}),
            Identity(third_squared, 9 * (1 + u**4) / (1 + u**2) ** 6, domain={u: sp.S.Reals}),
        ),
        Step(
            "third-derivative-bound",
            "which is at most 9: the third derivative of sigma c by u is at most 3 sigma long.",
            Sign((1 + u**2) ** 6 - (1 + 4 * u**4), ">=", domain={u: sp.S.Reals}),
            Sign((1 + u**2) ** 6 - (1 + 4 * u**4), ">", domain={u: sp.S.Reals}),
        ),
        Step(
            "bound",
            "Taylor's formula for both curves: their difference is at most a sixth of the sum of the largest "
            "third derivatives.",
            ByHand(
                "R: by t at most 3 sigma (nu/sigma)^3 for each q, so at most 3 |V|^3/sigma^2; exp: |W'| = "
                "|V| for all t, |W''| <= |V|^2/sigma, so |W'''| <= |V|^3/sigma^2 + 2 |V| |V|^2/sigma^2",
                r"\| \exp_W(V) - R(W, V) \| \le \tfrac16 (3 + 3) \| V \|^3/\sigma^2",
            ),
        ),
        Step(
            "qr",
            "QR: W + tV = Q (I + t^2 T + O(t^4)), T upper triangular with T + T^T = V^T V/sigma^2. Its "
            "acceleration -2 W T differs from the geodesic's by a tangent matrix,",
            tangent_to_tall(
                W * V.T * V / sigma**2 - 2 * W * T,
                W * (T.T - T),
                relations=(ON_TALL, TANGENT, (V.T * V, sigma**2 * (T + T.T))),
                letters=(x, G, T, V, W),
                models=({**TALL, T: TALL[T] / 9},),
            ),
            tangent_to_tall(
                W * V.T * V / sigma**2 - 2 * W * T,
                ZeroMatrix(m, n),
                relations=(ON_TALL, TANGENT, (V.T * V, sigma**2 * (T + T.T))),
                letters=(x, G, T, V, W),
                models=({**TALL, T: TALL[T] / 9},),
            ),
        ),
        Step(
            "qr-gram",
            "and Q = (W + tV)(I - t^2 T) indeed has the right Gram matrix up to t^4.",
            tangent_to_tall(
                Q.T * Q / sigma**2,
                Unit(n) - t**4 * (T * T + T.T * T + T.T * T.T) + t**6 * T.T * (T + T.T) * T,
                domain={**SCALE, t: sp.S.Reals},
                relations=(ON_TALL, TANGENT, (V.T * V, sigma**2 * (T + T.T))),
                letters=(x, G, T, V, W),
                models=({**TALL, T: TALL[T] / 9},),
                where={Q: (W + t * V) * (Unit(n) - t**2 * T)},
            ),
            tangent_to_tall(
                Q.T * Q / sigma**2,
                Unit(n),
                domain={**SCALE, t: sp.S.Reals},
                relations=(ON_TALL, TANGENT, (V.T * V, sigma**2 * (T + T.T))),
                letters=(x, G, T, V, W),
                models=({**TALL, T: TALL[T] / 9},),
                where={Q: (W + t * V) * (Unit(n) - t**2 * T)},
            ),
        ),
        Step(
            "rms-tall",
            "|W x|^2 = sigma^2 |x|^2: with sigma^2 = m/n the mean square of W x is that of x, for every x.",
            on_tall(x.T * W.T * W * x, sigma**2 * x.T * x, letters=(x, W)),
            on_tall(x.T * W.T * W * x, sigma * x.T * x, letters=(x, W)),
        ),
        Step(
            "rms-wide",
            "If W is wide, this holds for x = W^T z in the row space of W; the rest of x is lost.",
            on_wide(x.T * W.T * W * x, sigma**2 * x.T * x, where={x: W.T * z}),
            on_wide(x.T * W.T * W * x, sigma**4 * x.T * x, where={x: W.T * z}),
        ),
    ),
)

STATEMENTS = (TANGENT_PROJECTION, SCALED_RETRACTION)
