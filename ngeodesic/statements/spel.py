"""SPEL's angle law: a step along a tangent direction with orthonormal columns turns by an arctan."""

from __future__ import annotations

from functools import partial

import sympy as sp
from sympy import Derivative, Interval, Matrix, Rational, Trace, ZeroMatrix, atan, cos, sin
from sympy import Identity as Unit

from ngeodesic.matrices import MatrixIdentity
from ngeodesic.proof import Above, ByHand, Identity, SameDerivative, Statement, Step
from ngeodesic.statements.stiefel import ON_TALL, ON_WIDE, POSITIVE, SCALE, W, m, n, sigma, x

O, P, Q = (sp.MatrixSymbol(name, m, n) for name in "OPQ")
A, S = sp.MatrixSymbol("A", n, n), sp.MatrixSymbol("S", n, n)
L = sp.MatrixSymbol("L", m, m)
p, O_1 = sp.MatrixSymbol("p", m, 1), sp.MatrixSymbol("O_1", m, 1)
t, y, phi, eta, rho, nu = sp.symbols("t y phi eta rho nu", real=True)  # t = tan(phi/2), y = eta/sigma

angle = atan(eta / sigma)
lag = y - atan(y)
turned = cos(phi) * W - sigma * sin(phi) * O
velocity = -sin(phi) * W - sigma * cos(phi) * O  # the derivative by phi

QUARTER = {**SCALE, t: Interval.open(-1, 1)}  # -pi/2 < phi < pi/2
ANGLE = {phi: 2 * atan(t)}
STEP = {**ANGLE, eta: 2 * sigma * t / (1 - t**2), rho: sigma * (1 + t**2) / (1 - t**2)}
BEHIND = {y: POSITIVE}
ORTHONORMAL = (O.T * O, Unit(n))
DIRECTION = (W.T * O, -O.T * W)

_turn = Matrix([[0, 1], [-1, 0]])
TALL_STEP = {
    W: 3 * sp.eye(2).col_join(sp.zeros(2)),
    O: (Rational(3, 5) * _turn).col_join(Rational(4, 5) * sp.eye(2)),
    x: Matrix([2, 1]),
    sigma: 3,
    eta: 4,
    t: Rational(1, 3),
}
SQUARE_STEP = {
    W: 3 * _turn,
    O: sp.eye(2),
    A: 2 * _turn,
    S: sp.eye(2) / 6,
    sigma: 3,
    t: Rational(1, 3),
}
along = partial(
    MatrixIdentity,
    letters=(x, O, W),
    relations=(ON_TALL, ORTHONORMAL, DIRECTION),
    models=(TALL_STEP,),
)
along_square = partial(
    MatrixIdentity,
    domain=SCALE,
    letters=(W, O),
    relations=(ON_WIDE, ORTHONORMAL, (O * W.T, -W * O.T)),
    models=(SQUARE_STEP,),
)
of_square = partial(
    MatrixIdentity,
    domain=SCALE,
    letters=(A, S, W),
    relations=(ON_TALL, (A.T, -A), (S.T, S), (S * A, A * S), (A * A * S * S, -Unit(n) / sigma**2)),
    models=(SQUARE_STEP,),
    where={O: W * A * S},
)

of_projection = partial(
    MatrixIdentity,
    domain=SCALE,
    letters=(P, W),
    relations=(ON_WIDE,),
    models=({W: 3 * _turn, P: Matrix([[1, 2], [-2, 3]]), sigma: 3},),
    where={A: W.T * P / sigma**2},
)
of_vector = partial(
    MatrixIdentity,
    domain={nu: POSITIVE},
    letters=(p,),
    relations=((p.T * p, nu**2 * Unit(1)),),
    models=({p: Matrix([3, 0, -4]), nu: 5},),
    where={O_1: p / nu},
)


def _tangent_part(matrix: sp.Expr) -> sp.Expr:
    """The tangent projection at P."""
    return matrix - P * (P.T * matrix + matrix.T * P) / (2 * sigma**2)


ARCTAN_LAW = Statement(
    id="ng-arctan-law",
    title="The arctan law of SPEL's step",
    chapter="spel",
    claim=(
        "If O is tangent at W and O^T O = I, the step sigma msign(W - eta O) is a division by a scalar, "
        "sigma (W - eta O)/sqrt(sigma^2 + eta^2), and equals cos(phi) W - sigma sin(phi) O with phi = "
        "arctan(eta/sigma): every W x, x not 0, is turned by exactly |phi|. The curve is the geodesic of "
        "the Euclidean metric that starts at W with the velocity -sigma O by phi, so the step is on the "
        "geodesic, but short: for eta > 0 it lags by eta/sigma - phi, which is between y^3/3 - y^5/5 and "
        "y^3/3 at y = eta/sigma. The step eta = sigma tan(phi) turns by phi. For SPEL's O = msign(P(G)) the "
        "hypotheses hold on the sphere (n = 1, P(G) not 0) and for square W with an invertible P(G), so for "
        "even n; there the step rotates W by phi in n/2 planes."
    ),
    hypotheses=(
        "m >= n, W^T W = sigma^2 I, O real m x n; wide W by transposition",
        "O^T O = I and W^T O + O^T W = 0 (see ng-commutator for when this holds)",
        "sigma > 0, eta real, so phi in (-pi/2, pi/2); the lag for eta > 0",
    ),
    paper=(
        "Pull request 301 of Emerging-Optimizers: W <- sigma msign(W - lr msign(P(M))), M the momentum. "
        "For sigma = 1 the division is in Su (2025), 'Muon + Stiefel', for a tangent direction of full "
        "rank; for square W of even size also in the Modula documentation ('Orthogonal matrices'). The "
        "angle of every vector, the geodesic and the lag are ours."
    ),
    uses=("ng-tangent-projection", "ng-scaled-retraction"),
    steps=(
        Step(
            "gram",
            "The Gram matrix of W - eta O is a multiple of I.",
            along(
                (W - eta * O).T * (W - eta * O),
                (sigma**2 + eta**2) * Unit(n),
                domain={**SCALE, eta: sp.S.Reals},
            ),
            along(
                (W - eta * O).T * (W - eta * O),
                (sigma**2 - eta**2) * Unit(n),
                domain={**SCALE, eta: sp.S.Reals},
            ),
        ),
        Step(
            "division",
            "So its polar factor is (W - eta O)/rho with rho^2 = sigma^2 + eta^2.",
            Identity(rho**2, sigma**2 + eta**2, domain=QUARTER, where=STEP),
            Identity(rho**2, sigma**2 - eta**2, domain=QUARTER, where=STEP),
            facts=("polar decomposition",),
        ),
        Step(
            "turn",
            "Written with the angle phi. Here and below t = tan(phi/2).",
            along(sigma * (W - eta * O) / rho, turned, domain=QUARTER, where=STEP),
            along(sigma * (W + eta * O) / rho, turned, domain=QUARTER, where=STEP),
        ),
        Step(
            "arctan",
            "phi is the arctan of eta/sigma.",
            SameDerivative(angle, phi, variable=t, at=sp.S.Zero, domain=QUARTER, where=STEP),
            SameDerivative(angle, phi / 2, variable=t, at=sp.S.Zero, domain=QUARTER, where=STEP),
        ),
        Step(
            "every-vector",
            "W x and its image have the same length, and the cosine between them is cos(phi) for every x.",
            along(
                Trace(x.T * W.T * turned * x),
                Trace(sigma**2 * cos(phi) * x.T * x),
                domain=QUARTER,
                where=ANGLE,
            ),
            along(
                Trace(x.T * W.T * turned * x),
                Trace(sigma**2 * cos(phi) ** 2 * x.T * x),
                domain=QUARTER,
                where=ANGLE,
            ),
        ),
        Step(
            "cosine",
            "The derivative by phi of cos(phi) is -sin(phi),",
            Identity(
                Derivative(cos(2 * atan(t)), t),
                -sin(2 * atan(t)) * Derivative(2 * atan(t), t),
                domain=QUARTER,
            ),
            Identity(
                Derivative(cos(2 * atan(t)), t), sin(2 * atan(t)) * Derivative(2 * atan(t), t), domain=QUARTER
            ),
        ),
        Step(
            "sine",
            "and that of sin(phi) is cos(phi). So the curve P = cos(phi) W - sigma sin(phi) O has the "
            "velocity Q = -sin(phi) W - sigma cos(phi) O and the acceleration -P.",
            Identity(
                Derivative(sin(2 * atan(t)), t),
                cos(2 * atan(t)) * Derivative(2 * atan(t), t),
                domain=QUARTER,
            ),
            Identity(
                Derivative(sin(2 * atan(t)), t),
                -cos(2 * atan(t)) * Derivative(2 * atan(t), t),
                domain=QUARTER,
            ),
        ),
        Step(
            "on-manifold",
            "It stays on the manifold,",
            along(P.T * P, sigma**2 * Unit(n), domain=QUARTER, where={**ANGLE, P: turned}),
            along(P.T * P, cos(phi) * sigma**2 * Unit(n), domain=QUARTER, where={**ANGLE, P: turned}),
        ),
        Step(
            "normal",
            "and P has no tangent part, by ng-tangent-projection at P. (The velocity Q has one.)",
            along(_tangent_part(P), ZeroMatrix(m, n), domain=QUARTER, where={**ANGLE, P: turned}),
            along(
                _tangent_part(Q), ZeroMatrix(m, n), domain=QUARTER, where={**ANGLE, P: turned, Q: velocity}
            ),
        ),
        Step(
            "geodesic",
            "So the acceleration -P is orthogonal to all V with sym(P^T V) = 0.",
            ByHand(
                "by ng-scaled-retraction these are the tangents at P, and the curve is the geodesic that "
                "starts at W with the velocity -sigma O",
                r"\exp_W(-\sigma\varphi\, O) = \cos\varphi\; W - \sigma\sin\varphi\; O",
            ),
        ),
        Step(
            "lag",
            "The step is short,",
            Above(lag, sp.S.Zero, variable=y, at=sp.S.Zero, domain=BEHIND),
            Above(lag, y, variable=y, at=sp.S.Zero, domain=BEHIND),
        ),
        Step(
            "lag-upper",
            "by less than a third of the cube",
            Above(y**3 / 3, lag, variable=y, at=sp.S.Zero, domain=BEHIND),
            Above(y**3 / 6, lag, variable=y, at=sp.S.Zero, domain=BEHIND),
        ),
        Step(
            "lag-lower",
            "and by more than this.",
            Above(lag, y**3 / 3 - y**5 / 5, variable=y, at=sp.S.Zero, domain=BEHIND),
            Above(lag, y**3 / 3 - y**5 / 6, variable=y, at=sp.S.Zero, domain=BEHIND),
        ),
        Step(
            "matched",
            "The step that turns by a given phi.",
            Identity(eta, sigma * sin(phi) / cos(phi), domain=QUARTER, where=STEP),
            Identity(eta, sigma * sin(phi), domain=QUARTER, where=STEP),
            facts=("inverse functions",),
        ),
        Step(
            "sphere",
            "For n = 1, p = P(G) is a vector, tangent and of length nu. So is O = p/nu, its polar factor, of "
            "length 1.",
            of_vector(O_1.T * O_1, Unit(1)),
            of_vector(O_1.T * O_1, nu * Unit(1)),
            facts=("polar decomposition",),
        ),
        Step(
            "square-form",
            "For square W, P = P(G) is W A with A = W^T P/sigma^2, and A = -A^T because P is tangent.",
            of_projection(W * A, P),
            of_projection(W * A, sigma**2 * P),
        ),
        Step(
            "square-direction",
            "The polar factor of W A is O = W A S with S = (A^T A)^(-1/2)/sigma, which is a polynomial in A "
            "A and commutes with A. O is tangent:",
            of_square(W.T * O + O.T * W, ZeroMatrix(n, n)),
            of_square(W.T * O - O.T * W, ZeroMatrix(n, n)),
            facts=("polar decomposition", "spectral theorem"),
        ),
        Step(
            "square-orthonormal",
            "and has orthonormal columns.",
            of_square(O.T * O, Unit(n)),
            of_square(O.T * O, sigma**2 * Unit(n)),
        ),
        Step(
            "even",
            "A is invertible only if n is even.",
            ByHand(
                "A = -A^T, and a matrix and its transpose have the same determinant",
                r"\det A = (-1)^n \det A",
            ),
        ),
        Step(
            "antisymmetric",
            "If W is square and W^T O antisymmetric, so is O W^T: the right side is 0.",
            along_square(sigma**2 * (O * W.T + W * O.T), W * (W.T * O + O.T * W) * W.T, relations=(ON_WIDE,)),
            along_square(sigma**2 * (O * W.T - W * O.T), W * (W.T * O + O.T * W) * W.T, relations=(ON_WIDE,)),
        ),
        Step(
            "rotation",
            "With L = O W^T/sigma, which is antisymmetric, the step is (cos(phi) I - sin(phi) L) W.",
            along_square(
                (cos(phi) * Unit(m) - sin(phi) * L) * W,
                turned,
                domain=QUARTER,
                where={**ANGLE, L: O * W.T / sigma},
                relations=(ON_TALL,),
            ),
            along_square(
                (cos(phi) * Unit(m) + sin(phi) * L) * W,
                turned,
                domain=QUARTER,
                where={**ANGLE, L: O * W.T / sigma},
                relations=(ON_TALL,),
            ),
        ),
        Step(
            "quarter-turn",
            "L turns by a right angle.",
            along_square(L * L, -Unit(m), where={L: O * W.T / sigma}),
            along_square(L * L, Unit(m), where={L: O * W.T / sigma}),
        ),
        Step(
            "planes",
            "So the step rotates by phi in n/2 orthogonal planes.",
            ByHand(
                "L is antisymmetric and L L = -I, so L is orthogonal; for a unit vector z, L z is a unit "
                "vector orthogonal to z and L(L z) = -z: in their plane the step rotates by phi; the "
                "orthogonal complement of the plane is mapped to itself by L, and splits in the same way",
                r"(\cos\varphi\, I - \sin\varphi\, L)\, z = \cos\varphi\, z - \sin\varphi\, L z",
            ),
        ),
    ),
)

STATEMENTS = (ARCTAN_LAW,)
