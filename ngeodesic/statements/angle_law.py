"""The angle law and the matched step: how far one scalar step of nGPT turns the state."""

from __future__ import annotations

import sympy as sp
from sympy import Derivative, Interval, Rational, S, atan, atan2, cos, oo, sin

from ngeodesic.proof import Identity, SameDerivative, Sign, Statement, Step

alpha, beta, t, theta = sp.symbols("alpha beta t theta", real=True)
f, v, c, r = sp.symbols("f v c r", real=True)  # v = (1 - 2f) theta/2, c = tan(v), r = c/t
x, m, n = sp.symbols("x m n", real=True)  # x = theta/2, m = tan(x/2), n = tan(v/2)

chord_x = 1 - alpha + alpha * cos(theta)
chord_y = alpha * sin(theta)
chord_squared = (1 - alpha) ** 2 + alpha**2 + 2 * alpha * (1 - alpha) * cos(theta)
phi_atan2 = atan2(chord_y, chord_x)
phi = theta / 2 - atan(beta * t)
matching_alpha = sin(f * theta) / (sin(f * theta) + sin((1 - f) * theta))

POSITIVE = Interval.open(0, oo)
IN_ALPHA = {alpha: S.Reals, t: POSITIVE}
IN_BETA = {beta: S.Reals, t: POSITIVE}
HALF = {alpha: (Rational(1, 2),)}  # where 1 - 2 alpha changes sign
RATIONAL = {theta: 2 * atan(t)}  # makes cos(theta) and sin(theta) rational in t
BETA = {beta: 1 - 2 * alpha}
_speed = Derivative(phi.subs(BETA), alpha)

difference = sin(x) * cos(v) - cos(x) * sin(v)  # sin(x - v) = sin(f theta)
half_sum = sin(x) * cos(v)  # half of sin(x - v) + sin(x + v)
TANGENTS = {x: 2 * atan(m), v: 2 * atan(n), t: sin(x) / cos(x), c: sin(v) / cos(v)}
IN_HALVES = {m: Interval.open(0, 1), n: Interval.open(-1, 1)}  # 0 < x < pi/2, |v| < pi/2
IN_TANGENTS = {c: S.Reals, t: POSITIVE}
_V = {theta: 2 * atan(t), v: (1 - 2 * f) * theta / 2}

ANGLE_LAW = Statement(
    id="ng-angle-law",
    title="The angle law",
    chapter="angle_law",
    claim=(
        "The step h' = Norm(h + alpha (h_A - h)) is defined, lies in span{h, h_A}, and turns h towards h_A "
        "by the signed angle phi = atan2(alpha sin theta, 1 - alpha + alpha cos theta) = theta/2 - "
        "arctan(beta t), with beta = 1 - 2 alpha and t = tan(theta/2). theta/2 - pi/2 < phi < theta/2 + "
        "pi/2; phi grows strictly with alpha, from 0 at alpha = 0 to theta at alpha = 1. For alpha >= 0 it "
        "is the arccos form of the note; for alpha < 0 that form gives |phi| = -phi."
    ),
    hypotheses=(
        "h, h_A unit vectors of one Euclidean space",
        "theta = angle(h, h_A) in (0, pi)",
        "alpha real, the same for every dimension",
        "angles are signed: positive from h towards h_A",
    ),
    paper=(
        "nGPT paper, Section 2.2.2, equations (10) and (11), Appendix A.4 (the step); the note, section "
        "'Scalar step', arccos form. The arctan form is ours."
    ),
    uses=(),
    steps=(
        Step(
            "chord-distance",
            "Times cos(theta/2): the chord stays at distance cos(theta/2) along the bisector of h and h_A.",
            Identity(chord_x + t * chord_y, S.One, domain=IN_ALPHA, where=RATIONAL),
            Identity(chord_x - t * chord_y, S.One, domain=IN_ALPHA, where=RATIONAL),
        ),
        Step(
            "chord-height",
            (
                "Times cos(theta/2): across the bisector it runs at constant speed from -sin(theta/2) to "
                "sin(theta/2)."
            ),
            Identity(chord_y - t * chord_x, -beta * t, domain=IN_ALPHA, where=RATIONAL | BETA),
            Identity(chord_y - t * chord_x, beta * t, domain=IN_ALPHA, where=RATIONAL | BETA),
        ),
        Step(
            "chord-norm",
            (
                "With h = (1, 0) and h_A = (cos theta, sin theta) the chord point is (1 - alpha + alpha cos "
                "theta, alpha sin theta); it has the squared length under the note's root."
            ),
            Identity(chord_x**2 + chord_y**2, chord_squared, domain=IN_ALPHA, where=RATIONAL),
            Identity(chord_x**2 + chord_y**2, chord_squared - alpha**2, domain=IN_ALPHA, where=RATIONAL),
            facts=("plane coordinates",),
        ),
        Step(
            "chord-misses-zero",
            "The chord never meets 0, so that Norm is defined.",
            Sign(chord_squared, ">", domain=IN_ALPHA, where=RATIONAL, cuts=HALF),
            Sign(chord_squared - Rational(1, 2), ">", domain=IN_ALPHA, where=RATIONAL, cuts=HALF),
        ),
        Step(
            "angle",
            (
                "The angle of the chord point. Both sides are 0 at alpha = 0 and have the same derivative "
                "by alpha; the chord does not meet the cut of atan2. As |arctan| < pi/2, phi is within "
                "pi/2 of theta/2."
            ),
            SameDerivative(
                phi_atan2, phi, variable=alpha, at=S.Zero, domain=IN_ALPHA, where=RATIONAL | BETA, cuts=HALF
            ),
            SameDerivative(
                phi_atan2,
                theta / 2 + atan(beta * t),
                variable=alpha,
                at=S.Zero,
                domain=IN_ALPHA,
                where=RATIONAL | BETA,
                cuts=HALF,
            ),
            facts=("plane coordinates", "inverse functions"),
        ),
        Step(
            "same-side",
            (
                "For alpha >= 0 the chord is on the side of h_A, so phi is in [0, pi), where arccos(cos phi) "
                "= phi; and cos phi is the first coordinate divided by the length."
            ),
            Sign(chord_y, ">=", domain={alpha: Interval(0, oo), t: POSITIVE}, where=RATIONAL),
            Sign(chord_x, ">=", domain={alpha: Interval(0, oo), t: POSITIVE}, where=RATIONAL),
            facts=("plane coordinates", "inverse functions"),
        ),
        Step(
            "other-side",
            "For alpha < 0 it is on the other side: -phi is in (0, pi), and arccos(cos phi) = -phi.",
            Sign(chord_y, "<", domain={alpha: Interval.open(-oo, 0), t: POSITIVE}, where=RATIONAL),
            Sign(chord_x, "<", domain={alpha: Interval.open(-oo, 0), t: POSITIVE}, where=RATIONAL),
            facts=("plane coordinates", "inverse functions"),
        ),
        Step(
            "strictly-increasing",
            "phi grows strictly with alpha: its derivative is positive.",
            Sign(_speed, ">", domain=IN_ALPHA, where=RATIONAL, cuts=HALF),
            Sign(_speed - 1, ">", domain=IN_ALPHA, where=RATIONAL, cuts=HALF),
            facts=("mean value theorem",),
        ),
        Step(
            "start",
            "At alpha = 0, where beta = 1, phi = 0.",
            Identity(phi.subs(beta, 1), S.Zero, domain={t: POSITIVE}, where=RATIONAL),
            Identity(phi.subs(beta, -1), S.Zero, domain={t: POSITIVE}, where=RATIONAL),
        ),
        Step(
            "arrival",
            "At alpha = 1, where beta = -1, phi = theta.",
            Identity(phi.subs(beta, -1), theta, domain={t: POSITIVE}, where=RATIONAL),
            Identity(phi.subs(beta, 1), theta, domain={t: POSITIVE}, where=RATIONAL),
        ),
    ),
)

MATCHED_STEP = Statement(
    id="ng-matched-step",
    title="The matched step",
    chapter="angle_law",
    claim=(
        "Exactly one real alpha turns h by f theta: alpha = sin(f theta)/(sin(f theta) + sin((1 - f) "
        "theta)), that is beta = tan((1 - 2f) theta/2)/t. It is 0 for f = 0, 1 for f = 1, and in (0, 1) for "
        "f in (0, 1). With it the step is SLERP at the fraction f."
    ),
    hypotheses=(
        "h, h_A unit vectors, theta = angle(h, h_A) in (0, pi)",
        "f real with |1 - 2f| theta < pi; every f in [0, 1] is such",
    ),
    paper="Not in the note; ours.",
    uses=("ng-angle-law",),
    steps=(
        Step(
            "half-difference",
            "With v = (1 - 2f) theta/2, f theta = theta/2 - v and (1 - f) theta = theta/2 + v.",
            Identity(f * theta, theta / 2 - v, domain={f: S.Reals, t: POSITIVE}, where=_V),
            Identity(f * theta, theta / 2 + v, domain={f: S.Reals, t: POSITIVE}, where=_V),
        ),
        Step(
            "sines",
            (
                "With x = theta/2, sin(f theta) = sin(x - v) = sin(x) cos(v) - cos(x) sin(v) and sin((1 - f) "
                "theta) = sin(x + v) = sin(x) cos(v) + cos(x) sin(v). Their sum is 2 sin(x) cos(v) > 0, and "
                "alpha is a quotient of tangents, t = tan(x) and c = tan(v)."
            ),
            Identity(difference / (2 * half_sum), (t - c) / (2 * t), domain=IN_HALVES, where=TANGENTS),
            Identity(difference / (2 * half_sum), (t + c) / (2 * t), domain=IN_HALVES, where=TANGENTS),
            facts=("addition theorems",),
        ),
        Step(
            "matched-beta",
            "So beta t = c.",
            Identity((1 - 2 * alpha) * t, c, domain=IN_TANGENTS, where={alpha: (t - c) / (2 * t)}),
            Identity((1 - alpha) * t, c, domain=IN_TANGENTS, where={alpha: (t - c) / (2 * t)}),
        ),
        Step(
            "lands",
            "The angle law gives phi = theta/2 - arctan(c) = theta/2 - v = f theta, as |v| < pi/2; phi "
            "grows strictly with alpha, so no other alpha does.",
            Identity(phi, theta / 2 - atan(c), domain=IN_TANGENTS, where=RATIONAL | {beta: c / t}),
            Identity(phi, theta / 2 + atan(c), domain=IN_TANGENTS, where=RATIONAL | {beta: c / t}),
            facts=("inverse functions",),
        ),
        Step(
            "slerp",
            (
                "1 - alpha = sin((1 - f) theta)/(2 sin(x) cos(v)), so the chord point is a positive multiple "
                "of the SLERP point (sin((1 - f) theta) h + sin(f theta) h_A)/sin(theta)."
            ),
            Identity(
                (1 - alpha) * 2 * half_sum,
                sin(x) * cos(v) + cos(x) * sin(v),
                domain=IN_HALVES,
                where={x: 2 * atan(m), v: 2 * atan(n), alpha: difference / (2 * half_sum)},
            ),
            Identity(
                (1 + alpha) * 2 * half_sum,
                sin(x) * cos(v) + cos(x) * sin(v),
                domain=IN_HALVES,
                where={x: 2 * atan(m), v: 2 * atan(n), alpha: difference / (2 * half_sum)},
            ),
            facts=("addition theorems",),
        ),
        Step(
            "between",
            ("0 < f < 1 means |v| < theta/2, and tan grows, so c = r t with -1 < r < 1: alpha is positive."),
            Sign((t - c) / (2 * t), ">", domain={r: Interval.open(-1, 1), t: POSITIVE}, where={c: r * t}),
            Sign((t - 2 * c) / (2 * t), ">", domain={r: Interval.open(-1, 1), t: POSITIVE}, where={c: r * t}),
            facts=("inverse functions",),
        ),
        Step(
            "below-one",
            "So is 1 - alpha.",
            Sign(1 - (t - c) / (2 * t), ">", domain={r: Interval.open(-1, 1), t: POSITIVE}, where={c: r * t}),
            Sign(1 - (t - c) / t, ">", domain={r: Interval.open(-1, 1), t: POSITIVE}, where={c: r * t}),
        ),
        Step(
            "no-turn",
            "For f = 0, v = theta/2 and c = t: alpha = 0.",
            Identity((t - c) / (2 * t), S.Zero, domain={t: POSITIVE}, where={c: t}),
            Identity((t + c) / (2 * t), S.Zero, domain={t: POSITIVE}, where={c: t}),
        ),
        Step(
            "full-turn",
            "For f = 1, v = -theta/2 and c = -t: alpha = 1.",
            Identity((t - c) / (2 * t), S.One, domain={t: POSITIVE}, where={c: -t}),
            Identity((t + c) / (2 * t), S.One, domain={t: POSITIVE}, where={c: -t}),
        ),
    ),
)

STATEMENTS = (ANGLE_LAW, MATCHED_STEP)
