"""The angle law and the matched step: how far one scalar step of nGPT turns the state."""

from __future__ import annotations

import sympy as sp
from sympy import Derivative, Interval, Rational, S, atan, atan2, cos, oo, sin

from ngeodesic.proof import Identity, SameDerivative, Sign, Statement, Step

alpha, beta, t, theta = sp.symbols("alpha beta t theta", real=True)
f, v, c, r = sp.symbols("f v c r", real=True)  # v = (1 - 2f) theta/2, c = tan(v), r = c/t
k, l = sp.symbols("k l", real=True)  # cos(theta/2), cos(v)

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
RATIONAL = {cos(theta): (1 - t**2) / (1 + t**2), sin(theta): 2 * t / (1 + t**2), theta: 2 * atan(t)}
BETA = {beta: 1 - 2 * alpha}
SINES = {sin(f * theta): k * l * (t - c), sin((1 - f) * theta): k * l * (t + c)}
IN_TANGENTS = {c: S.Reals, t: POSITIVE, k: POSITIVE, l: POSITIVE}
_V = {v: (1 - 2 * f) * atan(t), theta: 2 * atan(t)}

ANGLE_LAW = Statement(
    id="ng-angle-law",
    title="The angle law",
    chapter="angle_law",
    claim=(
        "The step h' = Norm(h + alpha (h_A - h)) is defined, lies in span{h, h_A}, and turns h towards h_A "
        "by the signed angle phi = atan2(alpha sin theta, 1 - alpha + alpha cos theta) = theta/2 - "
        "arctan(beta t), -pi/2 < phi < pi, with beta = 1 - 2 alpha and t = tan(theta/2); it grows strictly "
        "with alpha. For alpha >= 0 it is the arccos form of the note; for alpha < 0 that form gives |phi|."
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
    status="proved-exact",
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
            "The chord point has the squared length under the note's root.",
            Identity(chord_x**2 + chord_y**2, chord_squared, domain=IN_ALPHA, where=RATIONAL),
            Identity(chord_x**2 + chord_y**2, chord_squared - alpha**2, domain=IN_ALPHA, where=RATIONAL),
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
                "Both sides are 0 at alpha = 0 and have the same derivative by alpha; the chord does not "
                "meet the cut of atan2. As |arctan| < pi/2, -pi/2 < phi < pi."
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
        ),
        Step(
            "same-side",
            "For alpha >= 0 the chord is on the side of h_A (phi in [0, pi)), where arccos is the angle.",
            Sign(chord_y, ">=", domain={alpha: Interval(0, oo), t: POSITIVE}, where=RATIONAL),
            Sign(chord_x, ">=", domain={alpha: Interval(0, oo), t: POSITIVE}, where=RATIONAL),
        ),
        Step(
            "strictly-increasing",
            "phi grows strictly with alpha.",
            Sign(Derivative(phi, alpha), ">", domain=IN_ALPHA, where=RATIONAL | BETA, cuts=HALF),
            Sign(Derivative(phi, alpha) - 1, ">", domain=IN_ALPHA, where=RATIONAL | BETA, cuts=HALF),
        ),
    ),
)

MATCHED_STEP = Statement(
    id="ng-matched-step",
    title="The matched step",
    chapter="angle_law",
    claim=(
        "Exactly one real alpha turns h by f theta: alpha = sin(f theta)/(sin(f theta) + sin((1-f) theta)), "
        "that is beta = tan((1-2f) theta/2)/t. For f in [0, 1] it lies in [0, 1], and in (0, 1) for f in "
        "(0, 1)."
    ),
    hypotheses=(
        "h, h_A unit vectors, theta = angle(h, h_A) in (0, pi)",
        "f real with |1 - 2f| theta < pi; every f in [0, 1] is such",
    ),
    paper="Not in the note; ours.",
    status="proved-exact",
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
            "Addition theorem: sin(f theta) = sin(theta/2) cos(v) - cos(theta/2) sin(v) = k l (t - c) with "
            "k = cos(theta/2), l = cos(v), both positive, and c = tan(v); sin((1-f) theta) has + for -.",
            Identity(matching_alpha, (t - c) / (2 * t), domain=IN_TANGENTS, where=SINES),
            Identity(matching_alpha, (t + c) / (2 * t), domain=IN_TANGENTS, where=SINES),
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
            Identity(phi, theta / 2 - atan(c), domain=IN_TANGENTS, where={beta: c / t, theta: 2 * atan(t)}),
            Identity(phi, theta / 2 + atan(c), domain=IN_TANGENTS, where={beta: c / t, theta: 2 * atan(t)}),
        ),
        Step(
            "between",
            (
                "0 < f < 1 means |v| < theta/2, so c = r t with -1 < r < 1, and alpha is positive; 1 - "
                "alpha likewise."
            ),
            Sign((t - c) / (2 * t), ">", domain={r: Interval.open(-1, 1), t: POSITIVE}, where={c: r * t}),
            Sign((t - 2 * c) / (2 * t), ">", domain={r: Interval.open(-1, 1), t: POSITIVE}, where={c: r * t}),
        ),
    ),
)

STATEMENTS = (ANGLE_LAW, MATCHED_STEP)
