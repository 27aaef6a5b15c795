"""Repeated steps toward a fixed target: what one step leaves of the angle."""

from __future__ import annotations

import sympy as sp
from sympy import Interval, S, atan, cos, oo, sin

from ngeodesic.proof import Above, ByHand, Identity, SameDerivative, Sign, Statement, Step
from ngeodesic.statements.angle_law import (
    BETA,
    HALF,
    POSITIVE,
    RATIONAL,
    alpha,
    phi,
    phi_atan2,
    t,
    theta,
)

phi_moved = sp.Symbol("phi", real=True)

phi_from_target = phi_atan2.subs(alpha, 1 - alpha)
remaining_cotangent = (alpha + (1 - alpha) * cos(theta)) / ((1 - alpha) * sin(theta))

AT_ZEROS = {alpha: (S.Half, S.One)}
INSIDE = {alpha: Interval.open(0, 1), t: POSITIVE}
BELOW_ONE = {alpha: Interval.open(-oo, 1), t: POSITIVE}
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
    status="proved-by-hand + checked",
    uses=("ng-angle-law", "ng-triple-zero", "ng-cubic-law"),
    steps=(
        Step(
            "swap",
            "What is left is the angle of the step 1 - alpha: the same chord, seen from h_A.",
            SameDerivative(
                phi_atan2 + phi_from_target,
                theta,
                variable=t,
                at=S.Zero,
                domain={alpha: S.Reals, t: POSITIVE},
                where=RATIONAL,
                cuts=AT_ZEROS,
            ),
            SameDerivative(
                phi_atan2 - phi_from_target,
                theta,
                variable=t,
                at=S.Zero,
                domain={alpha: S.Reals, t: POSITIVE},
                where=RATIONAL,
                cuts=AT_ZEROS,
            ),
        ),
        Step(
            "cotangent",
            "The quotient of the coordinates of ng-angle-law at 1 - alpha.",
            Identity(
                remaining_cotangent,
                cos(theta) / sin(theta) + alpha / (1 - alpha) / sin(theta),
                domain=BELOW_ONE,
                where=RATIONAL,
            ),
            Identity(
                remaining_cotangent,
                cos(theta) / sin(theta) - alpha / (1 - alpha) / sin(theta),
                domain=BELOW_ONE,
                where=RATIONAL,
            ),
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
            (
                "t <= theta for theta <= pi/2, so the upper bound of ng-cubic-law gives |G|/theta <= |beta| "
                "(1 - beta^2) theta^2/3."
            ),
            Above(theta, t, variable=t, at=S.Zero, domain={t: Interval.Lopen(0, 1)}, where=RATIONAL),
            Above(theta, 2 * t, variable=t, at=S.Zero, domain={t: Interval.Lopen(0, 1)}, where=RATIONAL),
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
                "then the rate of small-angle gives theta_(k+1)/theta_k -> 1 - alpha",
                r"\cot\theta_k \ge \cot\theta_0 + \frac{k \alpha}{1 - \alpha}",
            ),
        ),
    ),
)

STATEMENTS = (CONTRACTION,)
