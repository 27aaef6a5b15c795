"""One law for both: a chord and a projection turn by an arctan, on the sphere and on the Stiefel manifold."""

from __future__ import annotations

from functools import partial

import sympy as sp
from sympy import Derivative, Interval, Matrix, Rational, atan, cos, sin

from ngeodesic.matrices import MatrixIdentity
from ngeodesic.proof import Identity, SameDerivative, Sign, Statement, Step
from ngeodesic.statements.angle_law import (
    BETA,
    POSITIVE,
    RATIONAL,
    alpha,
    chord_x,
    chord_y,
    phi,
    t,
    theta,
)
from ngeodesic.statements.spel import STEP, eta, rho
from ngeodesic.statements.spel import phi as angle
from ngeodesic.statements.spel import t as half
from ngeodesic.statements.stiefel import sigma

size = sp.Symbol("m", integer=True, positive=True)
h, e_1 = sp.MatrixSymbol("h", size, 1), sp.MatrixSymbol("e_1", size, 1)  # the state, the unit tangent
r, psi, omega, p, q, w = sp.symbols("r psi omega p q w", real=True)
tangent_step = chord_y / chord_x

# alpha in terms of r = 1 - alpha + alpha cos(theta) > 0
FORWARD = {r: POSITIVE, t: POSITIVE}
alpha_of_r = (1 - r) * (1 + t**2) / (2 * t**2)
OF_FORWARD = {**RATIONAL, alpha: alpha_of_r}
# psi = f theta < pi/2, omega = (1 - f) theta; psi + omega < pi is p q < 1
HALVES = {p: Interval.open(0, 1), w: Interval.open(0, 1)}
SUM = {
    q: w / p,
    psi: 2 * atan(p),
    omega: 2 * atan(q),
    alpha: sin(psi) / (sin(psi) + sin(omega)),
}
sine = sin(psi) * cos(omega) + cos(psi) * sin(omega)
cosine = cos(psi) * cos(omega) - sin(psi) * sin(omega)

ON_SPHERE = ((h.T * h, sp.Identity(1)), (e_1.T * e_1, sp.Identity(1)), (e_1.T * h, sp.ZeroMatrix(1, 1)))
on_sphere = partial(
    MatrixIdentity,
    letters=(h, e_1),
    models=(
        {
            h: Matrix([3, 4, 0]) / 5,
            e_1: Matrix([4, -3, 0]) / 5,
            r: Rational(1, 2),
            t: Rational(3, 2),
            half: Rational(1, 2),
        },
    ),
    relations=ON_SPHERE,
)
UNIT = {half: Interval.open(-1, 1)}
AT_UNIT = {x: value.subs(sigma, 1) for x, value in STEP.items()}

ONE_LAW = Statement(
    id="ng-one-law",
    title="One law for both",
    chapter="one_law",
    claim=(
        "If 1 - alpha + alpha cos theta > 0, the scalar step of nGPT is the tangent step eta e at h "
        "followed by the retraction to the sphere, with e the unit tangent at h towards h_A and eta = "
        "alpha sin theta/(1 - alpha + alpha cos theta): it turns h by phi = arctan(eta). For eta > 0 that "
        "is SPEL's step of learning rate eta with n = 1, W = h, O = -e and sigma = 1 (ng-arctan-law has "
        "the general one). The condition holds for 0 <= alpha <= 1/2, and for 0 <= alpha <= 1 if theta < "
        "pi/2. The alpha of the matched step satisfies it, and is the only one that does with eta = tan(f "
        "theta), if f theta < pi/2."
    ),
    hypotheses=(
        "h, h_A unit vectors, theta = angle(h, h_A) in (0, pi); alpha real, the same for every dimension",
        "1 - alpha + alpha cos theta > 0: the step turns by less than pi/2",
        "for the matched step 0 < f < 1",
    ),
    paper="Ours. On the sphere, Modular Manifolds has the division by sqrt(1 + eta^2).",
    uses=("ng-angle-law", "ng-matched-step"),
    steps=(
        Step(
            "tangent-form",
            "h_A = cos(theta) h + sin(theta) e_1 with e_1 the unit tangent. The chord point is a positive "
            "multiple of h + eta e_1, so both have the same projection on the sphere. Here r = 1 - alpha + "
            "alpha cos(theta).",
            on_sphere(
                h + alpha * (cos(theta) * h + sin(theta) * e_1 - h),
                r * (h + eta * e_1),
                domain=FORWARD,
                where={**OF_FORWARD, eta: tangent_step},
            ),
            on_sphere(
                h - alpha * (cos(theta) * h + sin(theta) * e_1 - h),
                r * (h + eta * e_1),
                domain=FORWARD,
                where={**OF_FORWARD, eta: tangent_step},
            ),
            facts=("plane coordinates",),
        ),
        Step(
            "arctan",
            "The angle law, in terms of eta.",
            SameDerivative(
                atan(eta),
                phi,
                variable=r,
                at=sp.S.One,
                domain=FORWARD,
                where={**OF_FORWARD, **BETA, eta: tangent_step},
            ),
            SameDerivative(
                atan(eta),
                phi / 2,
                variable=r,
                at=sp.S.One,
                domain=FORWARD,
                where={**OF_FORWARD, **BETA, eta: tangent_step},
            ),
        ),
        Step(
            "forward",
            "The condition holds for alpha <= 1/2, whatever theta is,",
            Sign(chord_x, ">", domain={alpha: Interval(0, Rational(1, 2)), t: POSITIVE}, where=RATIONAL),
            Sign(
                chord_x - Rational(1, 2),
                ">",
                domain={alpha: Interval(0, Rational(1, 2)), t: POSITIVE},
                where=RATIONAL,
            ),
        ),
        Step(
            "forward-acute",
            "and for alpha <= 1 if theta < pi/2, that is t < 1.",
            Sign(chord_x, ">", domain={alpha: Interval(0, 1), t: Interval.open(0, 1)}, where=RATIONAL),
            Sign(
                chord_x - alpha,
                ">",
                domain={alpha: Interval(0, 1), t: Interval.open(0, 1)},
                where=RATIONAL,
            ),
        ),
        Step(
            "length",
            "The tangent step, seen from SPEL: n = 1, W = h, O = -e_1, sigma = 1. Its squared length is "
            "rho^2, so its polar factor, which for one column is the unit vector of its direction, is (h + "
            "eta e_1)/rho,",
            on_sphere(
                (h + eta * e_1).T * (h + eta * e_1),
                rho**2 * sp.Identity(1),
                domain=UNIT,
                where=AT_UNIT,
            ),
            on_sphere(
                (h + eta * e_1).T * (h + eta * e_1),
                rho * sp.Identity(1),
                domain=UNIT,
                where=AT_UNIT,
            ),
        ),
        Step(
            "same-step",
            "and this is h, turned by phi. Here t = tan(phi/2),",
            on_sphere(
                (h + eta * e_1) / rho,
                cos(angle) * h + sin(angle) * e_1,
                domain=UNIT,
                where=AT_UNIT,
            ),
            on_sphere(
                (h - eta * e_1) / rho,
                cos(angle) * h + sin(angle) * e_1,
                domain=UNIT,
                where=AT_UNIT,
            ),
        ),
        Step(
            "same-angle",
            "and phi is arctan(eta).",
            SameDerivative(atan(eta), angle, variable=half, at=sp.S.Zero, domain=UNIT, where=AT_UNIT),
            SameDerivative(atan(eta), 2 * angle, variable=half, at=sp.S.Zero, domain=UNIT, where=AT_UNIT),
        ),
        Step(
            "matched",
            "psi = f theta, omega = (1 - f) theta, theta = psi + omega: the alpha of ng-matched-step makes "
            "eta the tangent of psi.",
            Identity(
                alpha * sine,
                (1 - alpha + alpha * cosine) * sin(psi) / cos(psi),
                domain=HALVES,
                where=SUM,
            ),
            Identity(
                alpha * sine,
                (1 - alpha + alpha * cosine) * sin(psi),
                domain=HALVES,
                where=SUM,
            ),
            facts=("addition theorems",),
        ),
        Step(
            "matched-forward",
            "For this alpha, r = cos(psi) sin(theta)/(sin(psi) + sin(omega)),",
            Identity(
                1 - alpha + alpha * cosine,
                cos(psi) * sine / (sin(psi) + sin(omega)),
                domain=HALVES,
                where=SUM,
            ),
            Identity(
                1 - alpha + alpha * cosine,
                cos(omega) * sine / (sin(psi) + sin(omega)),
                domain=HALVES,
                where=SUM,
            ),
            facts=("addition theorems",),
        ),
        Step(
            "matched-positive",
            "which is positive. Here w = tan(psi/2) tan(omega/2), less than 1 because theta < pi.",
            Sign(cos(psi) * sine / (sin(psi) + sin(omega)), ">", domain=HALVES, where=SUM),
            Sign(cos(omega) * sine / (sin(psi) + sin(omega)), ">", domain=HALVES, where=SUM),
            facts=("addition theorems",),
        ),
        Step(
            "growth",
            "Along r > 0 the derivative of eta by alpha is sin(theta)/r^2; here both are written by r.",
            Identity(
                Derivative(alpha_of_r * sin(theta) / r, r),
                sin(theta) / r**2 * Derivative(alpha_of_r, r),
                domain=FORWARD,
                where={theta: RATIONAL[theta]},
            ),
            Identity(
                Derivative(alpha_of_r * sin(theta) / r, r),
                sin(theta) / r * Derivative(alpha_of_r, r),
                domain=FORWARD,
                where={theta: RATIONAL[theta]},
            ),
        ),
        Step(
            "growing",
            "It is positive: eta grows with alpha, and no other alpha has this eta.",
            Sign(sin(theta) / r**2, ">", domain=FORWARD, where={theta: RATIONAL[theta]}),
            Sign(cos(theta) / r**2, ">", domain=FORWARD, where={theta: RATIONAL[theta]}),
            facts=("mean value theorem",),
        ),
    ),
)

STATEMENTS = (ONE_LAW,)
