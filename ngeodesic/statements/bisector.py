"""Half a step moves exactly half the angle."""

from __future__ import annotations

import sympy as sp
from sympy import Rational, S, cos

from ngeodesic.proof import Identity, SameDerivative, Sign, Statement, Step
from ngeodesic.statements.angle_law import POSITIVE, RATIONAL, alpha, chord_x, chord_y, phi_atan2, t, theta

w, theta_k = sp.symbols("w theta_k", real=True)  # w = 2^k

midpoint_x, midpoint_y, half_step = (e.subs(alpha, S.Half) for e in (chord_x, chord_y, phi_atan2))
third_x, third_y = (e.subs(alpha, Rational(1, 3)) for e in (chord_x, chord_y))
IN_STEPS = {theta: POSITIVE, w: POSITIVE}

BISECTOR = Statement(
    id="ng-bisector",
    title="The bisector",
    chapter="bisector",
    claim=(
        "phi(1/2, theta) = theta/2 exactly. k such steps toward a fixed target leave the angle theta/2^k."
    ),
    hypotheses=(
        "theta = angle(h, h_A) in (0, pi); at theta = pi the midpoint is 0 and the step is not defined",
        "alpha = 1/2, the same for every dimension",
        "for the repeated step: the target h_A is the same in every step",
    ),
    paper=(
        "The note, section 'Scalar step': the 1/2 identity, measured to 4e-14 degrees. Exactness for all "
        "theta is ours."
    ),
    uses=("ng-angle-law",),
    steps=(
        Step(
            "midpoint-on-bisector",
            "At alpha = 1/2 the chord crosses the bisector (chord-height of ng-angle-law is 0).",
            Identity(midpoint_y - t * midpoint_x, S.Zero, domain={t: POSITIVE}, where=RATIONAL),
            Identity(third_y - t * third_x, S.Zero, domain={t: POSITIVE}, where=RATIONAL),
        ),
        Step(
            "midpoint-length",
            "It does so at the squared distance cos^2(theta/2) = (1 + cos theta)/2.",
            Identity(
                midpoint_x**2 + midpoint_y**2, (1 + cos(theta)) / 2, domain={t: POSITIVE}, where=RATIONAL
            ),
            Identity(
                midpoint_x**2 + midpoint_y**2, (1 - cos(theta)) / 2, domain={t: POSITIVE}, where=RATIONAL
            ),
        ),
        Step(
            "midpoint-forward",
            "The midpoint is not 0, and on the side of the bisector that h and h_A are on.",
            Sign(midpoint_x, ">", domain={t: POSITIVE}, where=RATIONAL),
            Sign(midpoint_x - Rational(1, 2), ">", domain={t: POSITIVE}, where=RATIONAL),
        ),
        Step(
            "half",
            "Its angle: both sides are 0 at t = 0 and have the same derivative by t.",
            SameDerivative(half_step, theta / 2, variable=t, at=S.Zero, domain={t: POSITIVE}, where=RATIONAL),
            SameDerivative(half_step, theta / 3, variable=t, at=S.Zero, domain={t: POSITIVE}, where=RATIONAL),
            facts=("plane coordinates",),
        ),
        Step(
            "halving",
            (
                "The new state lies between h and h_A, so theta_k leaves theta_k - theta_k/2. Induction: "
                "theta_0 = theta, and theta_k = theta/2^k, which is in (0, pi), leaves theta/2^(k+1); w is "
                "2^k."
            ),
            Identity(theta_k - theta_k / 2, theta / (2 * w), domain=IN_STEPS, where={theta_k: theta / w}),
            Identity(theta_k - theta_k / 2, theta / (3 * w), domain=IN_STEPS, where={theta_k: theta / w}),
            facts=("plane coordinates", "induction"),
        ),
    ),
)

STATEMENTS = (BISECTOR,)
