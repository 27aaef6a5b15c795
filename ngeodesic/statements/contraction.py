"""Repeated steps toward a fixed target: what one step leaves of the angle."""

from __future__ import annotations

import sympy as sp
from sympy import Interval, S, atan, cos, oo, pi, sin

from ngeodesic.proof import Above, ByHand, Identity, SameDerivative, Sign, Statement, Step
from ngeodesic.statements.angle_law import (
    BETA,
    HALF,
    IN_ALPHA,
    POSITIVE,
    RATIONAL,
    alpha,
    beta,
    phi,
    t,
    theta,
)
from ngeodesic.statements.cubic_law import kappa_3, upper_bound
from ngeodesic.statements.triple_zero import MIRRORED, gamma

phi_moved = sp.Symbol("varphi", real=True)
delta = sp.Symbol("delta", real=True)  # theta - t

remaining_cotangent = cos(theta) / sin(theta) + alpha / (1 - alpha) / sin(theta)

INSIDE = {alpha: Interval.open(0, 1), t: POSITIVE}
BELOW_ONE = {alpha: Interval.open(-oo, 1), t: POSITIVE}
BELOW_HALF = {alpha: Interval(0, S.Half), t: POSITIVE, delta: POSITIVE}
LONGER = {theta: t + delta, **BETA}
FREE = {alpha: S.Reals, phi_moved: S.Reals, theta: POSITIVE}

CONTRACTION = Statement(
    id="ng-contraction",
    title="Contraction",
    chapter="contraction",
    claim=(
        "One step leaves theta' = theta - phi(alpha, theta) = phi(1 - alpha, theta), with 0 < theta' < "
        "theta and cot theta' = cot theta + (alpha/(1 - alpha))/sin theta. theta'/theta = 1 - alpha + "
        "G/theta: above 1 - alpha for alpha < 1/2, equal to it for alpha = 1/2, below it for alpha > 1/2, "
        "for every theta. For theta <= pi/2, |theta'/theta - (1 - alpha)| <= (4/3) |alpha (1 - alpha)(1 - 2 "
        "alpha)| theta^2, so theta'/theta -> 1 - alpha as theta -> 0. Repeated steps give theta_k -> 0 and "
        "theta_(k+1)/theta_k -> 1 - alpha."
    ),
    hypotheses=(
        "theta in (0, pi)",
        "0 < alpha < 1 (alpha = 0 leaves theta, alpha = 1 leaves 0)",
        "for repeated steps: target h_A and alpha the same in every step",
    ),
    paper=(
        "The note, section 'Scalar step': contraction by 1 - alpha, exact at 1/2. The cotangent form, the "
        "sides and the rate are ours."
    ),
    uses=("ng-angle-law", "ng-triple-zero", "ng-cubic-law"),
    steps=(
        Step(
            "swap",
            (
                "What is left, theta' = theta - phi, is the angle of the step 1 - alpha, whose beta is "
                "gamma: the same chord, seen from h_A."
            ),
            Identity(theta - phi, theta / 2 - atan(gamma * t), domain=IN_ALPHA, where=RATIONAL | MIRRORED),
            Identity(theta - phi, theta / 2 + atan(gamma * t), domain=IN_ALPHA, where=RATIONAL | MIRRORED),
            facts=("plane coordinates",),
        ),
        Step(
            "right-angle",
            "Both sides are equal at t = 1 and have the same derivative by t.",
            SameDerivative(atan(1 / t), pi / 2 - atan(t), variable=t, at=S.One, domain={t: POSITIVE}),
            SameDerivative(atan(1 / t), pi / 2 + atan(t), variable=t, at=S.One, domain={t: POSITIVE}),
        ),
        Step(
            "cotangent",
            (
                "The right side is pi/2 - theta', by right-angle. Both sides are equal at alpha = 1/2 and "
                "have the same derivative by alpha. So cot theta' is what stands in the first arctan."
            ),
            SameDerivative(
                atan(remaining_cotangent),
                atan(1 / t) - atan(beta * t),
                variable=alpha,
                at=S.Half,
                domain=BELOW_ONE,
                where=RATIONAL | BETA,
            ),
            SameDerivative(
                atan(remaining_cotangent),
                atan(1 / t) + atan(beta * t),
                variable=alpha,
                at=S.Half,
                domain=BELOW_ONE,
                where=RATIONAL | BETA,
            ),
            facts=("inverse functions",),
        ),
        Step(
            "moves",
            "phi > 0: it is 0 at alpha = 0 and grows. So theta' < theta.",
            Above(phi, S.Zero, variable=alpha, at=S.Zero, domain=INSIDE, where=RATIONAL | BETA, cuts=HALF),
            Above(
                phi,
                theta / 2 - atan(t / 2),
                variable=alpha,
                at=S.Zero,
                domain=INSIDE,
                where=RATIONAL | BETA,
                cuts=HALF,
            ),
        ),
        Step(
            "stays-inside",
            (
                "phi < theta: it is theta at alpha = 1. So theta' > 0, and the next step starts in (0, pi) "
                "again."
            ),
            Above(
                phi,
                theta,
                relation="<",
                variable=alpha,
                at=S.One,
                domain=INSIDE,
                where=RATIONAL | BETA,
                cuts=HALF,
            ),
            Above(
                phi,
                theta,
                relation=">",
                variable=alpha,
                at=S.One,
                domain=INSIDE,
                where=RATIONAL | BETA,
                cuts=HALF,
            ),
        ),
        Step(
            "ratio",
            "The ratio and the gap; ng-triple-zero gives the side.",
            Identity(
                (theta - phi_moved) / theta,
                1 - alpha + (alpha * theta - phi_moved) / theta,
                domain=FREE,
            ),
            Identity(
                (theta - phi_moved) / theta,
                1 - alpha - (alpha * theta - phi_moved) / theta,
                domain=FREE,
            ),
        ),
        Step(
            "small-angle",
            "t < theta for theta <= pi/2.",
            Above(theta, t, variable=t, at=S.Zero, domain={t: Interval.Lopen(0, 1)}, where=RATIONAL),
            Above(theta, 2 * t, variable=t, at=S.Zero, domain={t: Interval.Lopen(0, 1)}, where=RATIONAL),
        ),
        Step(
            "rate",
            (
                "For alpha <= 1/2 the upper bound of ng-cubic-law is at most 4 kappa_3 theta^3/3, and G >= "
                "0: |G|/theta <= (4/3) |kappa_3| theta^2. Above 1/2 the same, as G and kappa_3 only change "
                "their sign under alpha -> 1 - alpha."
            ),
            Sign(4 * kappa_3 * theta**3 / 3 - upper_bound, ">=", domain=BELOW_HALF, where=LONGER),
            Sign(kappa_3 * theta**3 / 3 - upper_bound, ">=", domain=BELOW_HALF, where=LONGER),
        ),
        Step(
            "steady-growth",
            "1/sin theta >= 1: cot theta grows by at least alpha/(1 - alpha) in every step.",
            Sign(1 / sin(theta) - 1, ">=", domain={t: POSITIVE}, where=RATIONAL),
            Sign(1 / sin(theta) - 2, ">=", domain={t: POSITIVE}, where=RATIONAL),
        ),
        Step(
            "limits",
            "Repeated steps.",
            ByHand(
                "cot theta_k >= cot theta_0 + k alpha/(1 - alpha) grows without bound, so theta_k -> 0; "
                "then rate gives theta_(k+1)/theta_k -> 1 - alpha",
                r"\cot\theta_k \ge \cot\theta_0 + \frac{k \alpha}{1 - \alpha}",
            ),
        ),
    ),
)

STATEMENTS = (CONTRACTION,)
