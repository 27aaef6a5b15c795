"""The gap between the step and the geodesic: its integral, its zeros and sign, and where it is largest."""

from __future__ import annotations

import sympy as sp
from sympy import Derivative, Integral, Interval, S, atan, cos, oo, pi, sin

from ngeodesic.proof import Above, ByHand, Identity, SameDerivative, Sign, Statement, Step
from ngeodesic.statements.angle_law import BETA, IN_ALPHA, IN_BETA, POSITIVE, alpha, beta, phi, t, theta

s, u, x = sp.symbols("s u x", real=True)  # integration variables; x = theta/2
q, w, r = sp.symbols("q w r", real=True)  # q = sqrt(t/x - 1), w = 1/q, r = beta t/q
gamma, m = sp.symbols("gamma m", real=True)  # beta of 1 - alpha; tan(u/2)

gap = alpha * theta - phi
gap_tangents = atan(beta * t) - beta * atan(t)
prefactor = beta * (1 - beta**2)
amplitude = 4 * alpha * (1 - alpha) * (1 - 2 * alpha)  # the prefactor in alpha
integrand = s**2 / ((1 + beta**2 * s**2) * (1 + s**2))
gap_integral = prefactor * Integral(integrand, (s, 0, t))
trig_integrand = sin(u) ** 2 / (cos(u) ** 2 + beta**2 * sin(u) ** 2)
max_gap = atan(q) - q / (1 + q**2)  # = atan(q) - x q / tan(x)
max_beta = q / t
gap_at_ratio = atan(r * q) - r * q / (1 + q**2)  # the gap at beta = r beta*
gap_mirrored = atan(gamma * t) - gamma * atan(t)
loss = atan(w) + w / (1 + w**2)  # pi/2 - max_gap at q = 1/w

IN_INTEGRAL = {**IN_BETA, s: Interval(0, oo)}
FROM_BETA = {alpha: (1 - beta) / 2, theta: 2 * atan(t)}
TANGENT = {u: 2 * atan(m), s: sin(u) / cos(u)}
MIRRORED = {beta: 1 - 2 * alpha, gamma: 1 - 2 * (1 - alpha)}
IN_QUARTER = {beta: S.Reals, m: Interval.Ropen(0, 1)}  # 0 <= u < pi/2
IN_Q = {**IN_BETA, q: POSITIVE}
FROM_Q = {x: t / (1 + q**2)}


def _in_alpha(low: sp.Expr, high: sp.Expr) -> dict[sp.Symbol, sp.Set]:
    return {alpha: Interval.open(low, high), t: POSITIVE, s: Interval(0, oo)}


GAP_INTEGRAL = Statement(
    id="ng-gap-integral",
    title="The gap as an integral",
    chapter="triple_zero",
    claim=(
        "G = alpha theta - phi = arctan(beta t) - beta arctan(t) = beta (1 - beta^2) Integral_0^t s^2 / ((1 "
        "+ beta^2 s^2)(1 + s^2)) ds."
    ),
    hypotheses=(
        "theta in (0, pi), t = tan(theta/2) in (0, oo)",
        "alpha real, beta = 1 - 2 alpha",
        "phi the signed angle of ng-angle-law",
    ),
    paper="The note defines G (section 'Scalar step'); both forms are ours.",
    uses=("ng-angle-law",),
    steps=(
        Step(
            "gap-in-tangents",
            "alpha theta - theta/2 = -beta theta/2, and theta/2 = arctan(t).",
            Identity(gap, gap_tangents, domain=IN_BETA, where=FROM_BETA),
            Identity(gap, atan(beta * t) + beta * atan(t), domain=IN_BETA, where=FROM_BETA),
        ),
        Step(
            "derivative",
            "The derivative of the gap by t.",
            Identity(Derivative(gap_tangents, t), prefactor * integrand.subs(s, t), domain=IN_BETA),
            Identity(Derivative(gap_tangents, t), (1 - beta**2) * integrand.subs(s, t), domain=IN_BETA),
        ),
        Step(
            "same-derivative",
            "The gap and the integral vanish at t = 0 and have the same derivative by t.",
            SameDerivative(gap_tangents, gap_integral, variable=t, at=S.Zero, domain=IN_INTEGRAL),
            SameDerivative(
                gap_tangents,
                beta * (1 + beta**2) * Integral(integrand, (s, 0, t)),
                variable=t,
                at=S.Zero,
                domain=IN_INTEGRAL,
            ),
        ),
        Step(
            "substitution",
            "The same over a bounded interval: s = tan(u), ds = (1 + s^2) du, u from 0 to theta/2 < pi/2.",
            Identity(trig_integrand, integrand * (1 + s**2), domain=IN_QUARTER, where=TANGENT),
            Identity(trig_integrand, integrand, domain=IN_QUARTER, where=TANGENT),
            facts=("change of variable",),
        ),
    ),
)


def _side(label: str, says: str, relation: str, low: sp.Expr, high: sp.Expr) -> Step:
    """The sign of the gap for alpha in (low, high); the twin claims the opposite sign."""
    opposite = {">": "<", "<": ">"}[relation]
    check, twin = (
        Above(
            gap_integral,
            S.Zero,
            relation=sign,
            variable=t,
            at=S.Zero,
            domain=_in_alpha(low, high),
            where=BETA,
        )
        for sign in (relation, opposite)
    )
    return Step(label, says, check, twin)


TRIPLE_ZERO = Statement(
    id="ng-triple-zero",
    title="The triple zero",
    chapter="triple_zero",
    claim=(
        "G = 0 if and only if alpha is 0, 1/2 or 1. G > 0 (the step lags behind the geodesic) for 0 < alpha "
        "< 1/2, G < 0 (it leads) for 1/2 < alpha < 1; outside [0, 1], G < 0 for alpha < 0 and G > 0 for "
        "alpha > 1. G is odd about alpha = 1/2: G(1 - alpha) = -G(alpha)."
    ),
    hypotheses=(
        "theta in (0, pi); at theta = 0 the gap is 0 for every alpha",
        "alpha real (the step of a model has alpha in [0, 1])",
    ),
    paper=(
        "The note, section 'Scalar step': zeros at 0, 1/2, 1, oddness, and 'the step lags', which holds "
        "below 1/2. 'Only if' and the sign on each side are ours."
    ),
    uses=("ng-gap-integral",),
    steps=(
        Step(
            "prefactor",
            (
                "The factor before the integral is a product of three linear factors: 0 exactly at alpha = "
                "0, 1/2, 1."
            ),
            Identity(prefactor, amplitude, domain=IN_BETA, where=FROM_BETA),
            Identity(prefactor, 4 * alpha * (1 - alpha) * (1 + 2 * alpha), domain=IN_BETA, where=FROM_BETA),
        ),
        Step(
            "integral-positive",
            (
                "The integral is 0 at t = 0 and its integrand is positive for s > 0; so G = 0 only where "
                "the prefactor is."
            ),
            Above(Integral(integrand, (s, 0, t)), S.Zero, variable=t, at=S.Zero, domain=IN_INTEGRAL),
            Above(Integral(integrand, (s, 0, t)), t, variable=t, at=S.Zero, domain=IN_INTEGRAL),
        ),
        _side("lags", "0 < alpha < 1/2: the prefactor is positive, and so is the gap.", ">", S.Zero, S.Half),
        _side("leads", "1/2 < alpha < 1: the prefactor is negative.", "<", S.Half, S.One),
        _side("below-zero", "alpha < 0: the prefactor is negative.", "<", -oo, S.Zero),
        _side("above-one", "alpha > 1: the prefactor is positive.", ">", S.One, oo),
        Step(
            "odd",
            "alpha -> 1 - alpha is beta -> -beta, and arctan is odd.",
            Identity(gap_mirrored, -gap_tangents, domain=IN_ALPHA, where=MIRRORED),
            Identity(gap_mirrored, gap_tangents, domain=IN_ALPHA, where=MIRRORED),
        ),
    ),
)

MAX_GAP = Statement(
    id="ng-max-gap",
    title="The largest gap",
    chapter="triple_zero",
    claim=(
        "With x = theta/2, t = tan(x) and q = sqrt(t/x - 1): max over alpha in [0, 1] of |G| is arctan(q) - "
        "x q/t, reached exactly at alpha* = (1 - beta*)/2 and 1 - alpha*, with beta* = q/t. For every "
        "theta, 5/(15 + 4 t^2) < beta*^2 < 1/3, so (3 - sqrt 3)/6 < alpha* < 1/2. The maximum grows "
        "strictly with theta, tends to 0 for theta -> 0 and to its supremum pi/2, which is not attained, "
        "for theta -> pi."
    ),
    hypotheses=("theta in (0, pi)", "alpha in [0, 1] (over all real alpha, |G| is unbounded)"),
    paper=(
        "The note, section 'Scalar step': the largest gaps at four angles, found numerically. The closed "
        "form, the place and the supremum are ours."
    ),
    uses=("ng-gap-integral", "ng-triple-zero"),
    steps=(
        Step(
            "q-real",
            "t/x > 1, so q is real and positive.",
            Above(t, atan(t), variable=t, at=S.Zero, domain={t: POSITIVE}),
            Above(t / 2, atan(t), variable=t, at=S.Zero, domain={t: POSITIVE}),
        ),
        Step(
            "place-below",
            "x > 3t/(3 + t^2), so q^2 = t/x - 1 < t^2/3: beta* < 1/sqrt 3, inside (0, 1).",
            Above(atan(t), 3 * t / (3 + t**2), variable=t, at=S.Zero, domain={t: POSITIVE}),
            Above(atan(t), 4 * t / (4 + t**2), variable=t, at=S.Zero, domain={t: POSITIVE}),
        ),
        Step(
            "place-above",
            (
                "x < t (15 + 4t^2)/(15 + 9t^2), so q^2 > 5t^2/(15 + 4t^2): beta* tends to 1/sqrt 3 for "
                "theta -> 0."
            ),
            Above(
                t * (15 + 4 * t**2) / (15 + 9 * t**2), atan(t), variable=t, at=S.Zero, domain={t: POSITIVE}
            ),
            Above(
                t * (15 + 3 * t**2) / (15 + 9 * t**2), atan(t), variable=t, at=S.Zero, domain={t: POSITIVE}
            ),
        ),
        Step(
            "place-bounds",
            "In terms of alpha* = (1 - beta*)/2.",
            ByHand(
                "0 < beta* < 1/sqrt 3 gives alpha* < 1/2 and alpha* > (1 - 1/sqrt 3)/2 = (3 - sqrt 3)/6",
                r"\frac{3 - \sqrt 3}{6} < \alpha^* < \frac12",
            ),
        ),
        Step(
            "critical-point",
            "In terms of q, x = t/(1 + q^2): the slope of the gap by beta changes sign at beta t = q.",
            Identity(
                Derivative(atan(beta * t) - beta * x, beta),
                x * (q - beta * t) * (q + beta * t) / (1 + beta**2 * t**2),
                domain=IN_Q,
                where=FROM_Q,
            ),
            Identity(
                Derivative(atan(beta * t) - beta * x, beta),
                x * (q - beta * t) ** 2 / (1 + beta**2 * t**2),
                domain=IN_Q,
                where=FROM_Q,
            ),
        ),
        Step(
            "value",
            "The gap there.",
            Identity(atan(q) - x * q / t, max_gap, domain=IN_Q, where=FROM_Q),
            Identity(atan(q) - x / t, max_gap, domain=IN_Q, where=FROM_Q),
        ),
        Step(
            "in-ratio",
            "The gap at beta = r q/t, for the two steps that follow.",
            Identity(
                atan(beta * t) - beta * x,
                gap_at_ratio,
                domain={t: POSITIVE, q: POSITIVE, r: Interval(0, oo)},
                where={**FROM_Q, beta: r * q / t},
            ),
            Identity(
                atan(beta * t) + beta * x,
                gap_at_ratio,
                domain={t: POSITIVE, q: POSITIVE, r: Interval(0, oo)},
                where={**FROM_Q, beta: r * q / t},
            ),
        ),
        Step(
            "less-before",
            "Every smaller beta >= 0 gives less.",
            Above(max_gap, gap_at_ratio, variable=r, at=S.One, domain={r: Interval.Ropen(0, 1), q: POSITIVE}),
            Above(
                max_gap,
                gap_at_ratio,
                relation="<",
                variable=r,
                at=S.One,
                domain={r: Interval.Ropen(0, 1), q: POSITIVE},
            ),
        ),
        Step(
            "less-after",
            "Every greater beta gives less.",
            Above(max_gap, gap_at_ratio, variable=r, at=S.One, domain={r: Interval.open(1, oo), q: POSITIVE}),
            Above(gap_at_ratio, max_gap, variable=r, at=S.One, domain={r: Interval.open(1, oo), q: POSITIVE}),
        ),
        Step(
            "both-signs",
            "So far beta >= 0, where G >= 0. By ng-triple-zero (odd), |G| takes the same values for -beta.",
            ByHand(
                "the largest |G| for alpha in [0, 1], beta in [-1, 1], is the value at beta* and at -beta*, "
                "and at no other place; as beta* is in (0, 1), alpha* and 1 - alpha* are in (0, 1)",
                r"\max_{0 \le \alpha \le 1} |G| = \arctan q - \frac{x q}{t}",
            ),
        ),
        Step(
            "grows",
            "At a fixed beta in (0, 1) the gap grows with t.",
            Sign(Derivative(gap_tangents, t), ">", domain={beta: Interval.open(0, 1), t: POSITIVE}),
            Sign(Derivative(gap_tangents, t), "<", domain={beta: Interval.open(0, 1), t: POSITIVE}),
            facts=("mean value theorem",),
        ),
        Step(
            "grows-maximum",
            "So does the maximum.",
            ByHand(
                "let theta_1 < theta_2 and let beta_1 be the best beta for theta_1; at theta_2 this beta_1 "
                "gives more than the maximum for theta_1, and the best beta at least as much",
                r"\theta_1 < \theta_2 \implies \max_\alpha |G(\theta_1)| < \max_\alpha |G(\theta_2)|",
            ),
        ),
        Step(
            "starts-at-zero",
            "The maximum is less than q.",
            Above(q, max_gap, variable=q, at=S.Zero, domain={q: POSITIVE}),
            Above(q / 4, max_gap, variable=q, at=S.Zero, domain={q: POSITIVE}),
        ),
        Step(
            "limit-zero",
            "It tends to 0 with theta.",
            ByHand(
                "0 < max |G| < q by starts-at-zero, q < t/sqrt 3 by place-below, and t -> 0 as theta -> 0",
                r"0 < \max_\alpha |G| < \frac{t}{\sqrt 3} \to 0",
            ),
        ),
        Step(
            "complement",
            "The maximum in terms of w = 1/q.",
            SameDerivative(
                max_gap, pi / 2 - loss, variable=w, at=S.One, domain={w: POSITIVE}, where={q: 1 / w}
            ),
            SameDerivative(
                max_gap, pi / 3 - loss, variable=w, at=S.One, domain={w: POSITIVE}, where={q: 1 / w}
            ),
        ),
        Step(
            "below-right-angle",
            "What is missing to pi/2 is positive.",
            Above(loss, S.Zero, variable=w, at=S.Zero, domain={w: POSITIVE}),
            Above(loss, w, variable=w, at=S.Zero, domain={w: POSITIVE}),
        ),
        Step(
            "near-right-angle",
            "It is less than 2 w = 2/q.",
            Above(2 * w, loss, variable=w, at=S.Zero, domain={w: POSITIVE}),
            Above(w, loss, variable=w, at=S.Zero, domain={w: POSITIVE}),
        ),
        Step(
            "supremum",
            "The maximum comes as near to pi/2 as wanted.",
            ByHand(
                "x < pi/2 gives q^2 > 2t/pi - 1, which grows without bound as theta -> pi; by "
                "near-right-angle the maximum exceeds pi/2 - 2/q",
                (
                    r"\frac{\pi}{2} - \frac{2}{q} < \max_\alpha |G| < \frac{\pi}{2}, \qquad q^2 > "
                    r"\frac{2t}{\pi} - 1"
                ),
            ),
        ),
    ),
)

STATEMENTS = (GAP_INTEGRAL, TRIPLE_ZERO, MAX_GAP)
