"""The per-dimension step: when it stays in the plane, and how far it leaves it when alpha is random."""

from __future__ import annotations

import sympy as sp
from sympy import Derivative, Interval, Rational, S, oo, sin

from ngeodesic.proof import Above, ByHand, Identity, Sign, Statement, Step
from ngeodesic.statements.angle_law import POSITIVE, RATIONAL, alpha, t, theta

# entries of h, of h_A, of the chord x = h_A - h, of alpha
h, h_A, p, q, g = sp.symbols("h h_A p q g", real=True)
hs = sp.symbols("h_1:4", real=True)
xs = sp.symbols("x_1:4", real=True)
alphas = sp.symbols("alpha_1:4", real=True)

minor = sp.Matrix([hs, xs, [a * x for a, x in zip(alphas, xs, strict=True)]]).det(method="berkowitz")
minor_of_differences, minor_of_sums = (
    sp.Add(
        *(
            (alphas[j] + sign * alphas[i]) * hs[k] * xs[i] * xs[j]
            for i, j, k in ((1, 2, 0), (2, 0, 1), (0, 1, 2))
        )
    )
    for sign in (-1, 1)
)
ONE_ENTRY = dict.fromkeys((h, h_A, alpha), S.Reals)
THREE_ENTRIES = dict.fromkeys((*hs, *xs, *alphas), S.Reals)
ON_CHORD = dict.fromkeys((*hs, p, q), S.Reals) | dict.fromkeys(xs, POSITIVE)
IN_PLANE = {a: q + p * y / x for a, y, x in zip(alphas, hs, xs, strict=True)}

# C = 2 - 2 cos(theta), m, m_2, kappa the weighted sums of the exact form, mu and s^2 their limits
m, m2, kappa, mu, s, C, D, r = sp.symbols("m m_2 kappa mu s C D r", real=True)
beta = 1 - 2 * mu
exact = C * (m2 - m**2 - kappa**2) / (1 - (m - m2) * C + 2 * kappa * sin(theta))
denominator = 1 - (mu * (1 - mu) - s**2) * C
squared_law = s**2 * C / denominator
LIMIT = {m: mu, m2: mu**2 + s**2, kappa: S.Zero, **RATIONAL}
IN_LAW = {mu: S.Reals, s: POSITIVE, C: Interval.open(0, 4)}
HALF = {mu: (S.Half,)}

# The two parts of the denominator, T = C sum(delta^2 w) and the rest P; d times their variances, and d times
# the loss of T to the plane. All for normal alpha and a random frame.
T, P, k = sp.symbols("T P k", real=True)
variance_T = 6 * s**4 * C**2
variance_P = s**2 * C * (4 - C + 3 * beta**2 * C)
loss = 4 * s**2 * C
by_slopes = ((1 - r) ** 2 * variance_T + r**2 * variance_P) / D**2
by_curvatures = (-(1 - r) * variance_T + r * variance_P) / D**2
relative_variance = (3 * (1 - r**2) - (4 - C) * r / D) / 2
relative_bias = -(11 - 12 * r + 9 * r**2 + 3 * (4 - C) * r / D) / 4
free_variance = 1 / (C**2 * D**2)
free_bias = (3 - 4 * D) / (2 * C**2 * D**2)
ratio, slope_T, slope_P = T / (T + P), P / (T + P) ** 2, -T / (T + P) ** 2
law_of_chord, slope_of_chord = s**2 * C / (1 - k * C), s**2 / (1 - k * C) ** 2
IN_RATIO = {T: POSITIVE, P: POSITIVE, p: S.Reals, q: S.Reals}
LAW = {D: denominator, r: squared_law}
FREE = {k: Interval.open(-oo, Rational(1, 4)), s: POSITIVE, C: Interval.open(0, 4)}
FREE_D = {D: 1 - k * C}
NOTE = {mu: Rational(3, 10), s: Rational(1, 10)}
CHORD = {C: Interval.open(0, 4)}

OFF_PLANE = Statement(
    id="ng-off-plane",
    title="The off-plane law",
    chapter="per_dimension",
    claim=(
        "Let x = h_A - h, C = |x|^2 = 2 - 2 cos theta, w_i = x_i^2/C, alpha x the entrywise product. (a) The "
        "step r = Norm(h + alpha x) lies in span{h, h_A} iff alpha x does, that is iff there are numbers p, "
        "q with (alpha_i - q) x_i = p h_i for every i; a constant alpha does it with p = 0. In general its "
        "off-plane part has exactly the squared norm X^2 = C (m_2 - m^2 - kappa^2)/(1 - (m - m_2) C + 2 "
        "kappa sin theta), m = sum_i alpha_i w_i, m_2 = sum_i alpha_i^2 w_i, kappa = sum_i alpha_i "
        "(h_(A,i)^2 - h_i^2)/(2 sin theta). (b) If the alpha_i are iid with mean mu and variance s^2, "
        "independent of h and h_A, and max w_i -> 0 in probability as d -> oo, then X^2 -> s^2 C/(1 - (mu (1 "
        "- mu) - s^2) C) in probability: 0 iff s = 0, growing with s, below 1. The angle off the plane tends "
        "to the arctan of s sqrt(C/(1 - mu (1 - mu) C)), the angle in the plane to phi(mu, theta). (c) For "
        "normal alpha and a uniformly random pair at angle theta, with r the limit of X^2 and D its "
        "denominator: d Var X/r -> (3 (1 - r^2) - (4 - C) r/D)/2 and d (E X/sqrt r - 1) -> -(11 - 12 r + 9 "
        "r^2 + 3 (4 - C) r/D)/4. For two independent random vectors theta varies about pi/2: take C = 2 and "
        "add 1/(4 D^2) to the first and (3 - 4 D)/(8 D^2) to the second."
    ),
    hypotheses=(
        "h, h_A unit vectors of R^d, theta = angle(h, h_A) in (0, pi), h + alpha x not 0",
        "(a): none further; alpha any vector",
        "(b): alpha_i iid, of one distribution for every d, with finite variance and independent of (h, h_A)",
        "(b): the chord is spread out, max w_i -> 0 in probability; h and h_A themselves need not be",
        "(b): theta is fixed, or converges in probability to a number in (0, pi), then meant by theta and C",
        "(c): alpha_i iid normal, s > 0, independent of (h, h_A)",
        "(c): (h, h_A) uniform among the pairs at angle theta; for the free angle, independent and uniform",
    ),
    paper=(
        "The note, per-dimension alpha: off-plane norms 0.18, 0.18, 0.20 at d = 1024, machine zero for the "
        "scalar control. The criterion, the exact form, the law, its spread and its bias are ours."
    ),
    uses=("ng-angle-law",),
    steps=(
        Step(
            "constant",
            "A constant alpha combines h and h_A alike in every entry.",
            Identity(h + alpha * (h_A - h), (1 - alpha) * h + alpha * h_A, domain=ONE_ENTRY),
            Identity(h + alpha * (h_A - h), (1 + alpha) * h + alpha * h_A, domain=ONE_ENTRY),
        ),
        Step(
            "criterion",
            "The plane is span{h, x}, and h is in it.",
            ByHand(
                "so h + alpha x, and with it the normalised step, is in the plane iff alpha x = p h + q x "
                "for some p and q",
                r"(\alpha_i - q)\, x_i = p\, h_i \quad \text{for every } i",
            ),
        ),
        Step(
            "minors",
            "h and x are independent, so alpha x is in their span iff every determinant of three "
            "coordinates of h, x, alpha x is 0. Each contains only differences of the alphas.",
            Identity(minor, minor_of_differences, domain=THREE_ENTRIES),
            Identity(minor, minor_of_sums, domain=THREE_ENTRIES),
        ),
        Step(
            "exceptions",
            "They vanish for the alphas of the criterion, here with x_i > 0: an affine function of h_i/x_i.",
            Identity(minor_of_differences, S.Zero, domain=ON_CHORD, where=IN_PLANE),
            Identity(minor_of_sums, S.Zero, domain=ON_CHORD, where=IN_PLANE),
        ),
        Step(
            "entry",
            "An entry of the point before it is normalised; the sum over all gives its squared length 1 - "
            "(m - m_2) C + 2 kappa sin theta.",
            Identity(
                (h + alpha * (h_A - h)) ** 2,
                h**2 + alpha * (h_A**2 - h**2) - alpha * (1 - alpha) * (h_A - h) ** 2,
                domain=ONE_ENTRY,
            ),
            Identity(
                (h + alpha * (h_A - h)) ** 2,
                h**2 + alpha * (h_A**2 - h**2) + alpha * (1 - alpha) * (h_A - h) ** 2,
                domain=ONE_ENTRY,
            ),
        ),
        Step(
            "pythagoras",
            "e_1 = (h + h_A)/|h + h_A| and e_2 = x/|x| are an orthonormal basis of the plane.",
            ByHand(
                "alpha x = sqrt(C) alpha e_2 has the squared length C m_2, the component sqrt(C) m along "
                "e_2, and sqrt(C) kappa along e_1, since |h + h_A| |x| = 2 sin theta; what is left is off "
                "the plane",
                r"\left\| \alpha x - P(\alpha x) \right\|^2 = C \left(m_2 - m^2 - \kappa^2\right)",
            ),
        ),
        Step(
            "sums",
            "The three sums converge in probability. Take h and h_A as given: the weights are then numbers, "
            "of sum 1, and W is the largest.",
            ByHand(
                "kappa has the mean mu sum_i e_(1,i) e_(2,i) = 0 and the variance s^2 sum_i e_(1,i)^2 w_i "
                "<= s^2 W; m has the mean mu and the variance s^2 sum_i w_i^2 <= s^2 W; for m_2 cut the "
                "squares off at B: the part below varies by at most B^2 W, the part above has a mean that "
                "is small for large B, whatever the weights",
                r"m \to \mu, \qquad m_2 \to \mu^2 + s^2, \qquad \kappa \to 0",
            ),
        ),
        Step(
            "law",
            "The exact form is continuous where its denominator is not 0; put in the limits.",
            Identity(exact, squared_law, domain={**IN_LAW, t: POSITIVE}, where=LIMIT, cuts=HALF),
            Identity(exact, 2 * squared_law, domain={**IN_LAW, t: POSITIVE}, where=LIMIT, cuts=HALF),
        ),
        Step(
            "defined",
            "The denominator is positive.",
            Sign(denominator, ">", domain=IN_LAW, cuts=HALF),
            Sign(denominator - 1, ">", domain=IN_LAW, cuts=HALF),
        ),
        Step(
            "falsifier",
            "The law is 0 at s = 0 and grows with s: it is 0 for a scalar alpha only.",
            Above(squared_law, S.Zero, variable=s, at=S.Zero, domain=IN_LAW, cuts=HALF),
            Above(squared_law, S.Zero, relation="<", variable=s, at=S.Zero, domain=IN_LAW, cuts=HALF),
        ),
        Step(
            "rise",
            "X is the sine of the angle off the plane. Its squared tangent is finite: the law is below 1.",
            Identity(
                squared_law / (1 - squared_law),
                s**2 * C / (1 - mu * (1 - mu) * C),
                domain=IN_LAW,
                cuts=HALF,
            ),
            Identity(
                squared_law / (1 + squared_law),
                s**2 * C / (1 - mu * (1 - mu) * C),
                domain=IN_LAW,
                cuts=HALF,
            ),
        ),
        Step(
            "in-plane",
            "The part in the plane, before it is normalised, is h + sqrt(C) (kappa e1 + m e2).",
            ByHand(
                "as kappa -> 0 and m -> mu it tends to h + mu x, the chord point of the scalar step mu, "
                "which is not 0; its angle is phi(mu, theta) by ng-angle-law",
                r"h + \sqrt{C}\, (\kappa\, e_1 + m\, e_2) \to h + \mu\, x",
            ),
        ),
        Step(
            "note-law",
            "The law at the note's mu and s; at a right angle, C = 2, it is 1/30, the norm 1/sqrt 30.",
            Identity(squared_law, C / (100 - 20 * C), domain=CHORD, where=NOTE),
            Identity(squared_law, C / (100 + 20 * C), domain=CHORD, where=NOTE),
        ),
        Step(
            "moments",
            "Let delta = alpha - mu, and write X^2 = (T - R)/(T + P): T = C sum_i delta_i^2 w_i, P the rest "
            "of the denominator, R = C (sum_i delta_i w_i)^2 + C kappa^2.",
            ByHand(
                "for a random frame the means of sum_i e_(2,i)^4 and sum_i e_(1,i)^2 e_(2,i)^2 are 3/d and "
                "1/d to first order, for normal delta the odd moments vanish and delta^2 has the variance 2 "
                "s^4; so T has the mean s^2 C, P has the mean D - s^2 C, they are uncorrelated, d times "
                "their variances are as below, and d E R -> 4 s^2 C",
                r"d \operatorname{Var} T \to 6 s^4 C^2, \quad d \operatorname{Var} P \to s^2 C (4 - C + 3 "
                r"\beta^2 C), \quad d \operatorname{E} R \to 4 s^2 C",
            ),
        ),
        Step(
            "slopes",
            "A change of T by p and of P by q changes the quotient, to first order, by this much.",
            Identity(
                p * Derivative(ratio, T) + q * Derivative(ratio, P),
                p * slope_T + q * slope_P,
                domain=IN_RATIO,
            ),
            Identity(
                p * Derivative(ratio, T) + q * Derivative(ratio, P),
                p * slope_T - q * slope_P,
                domain=IN_RATIO,
            ),
        ),
        Step(
            "curvatures",
            "And its mean, to second order, for uncorrelated T and P of variances 2 p and 2 q, by this much.",
            Identity(
                p * Derivative(slope_T, T) + q * Derivative(slope_P, P),
                2 * (q * T - p * P) / (T + P) ** 3,
                domain=IN_RATIO,
            ),
            Identity(
                p * Derivative(slope_T, T) + q * Derivative(slope_P, P),
                (q * T - p * P) / (T + P) ** 3,
                domain=IN_RATIO,
            ),
        ),
        Step(
            "spread",
            "So d times the relative variance of X, a quarter of that of X^2, tends to",
            Identity(by_slopes / (4 * r**2), relative_variance, domain=IN_LAW, where=LAW, cuts=HALF),
            Identity(by_slopes / (2 * r**2), relative_variance, domain=IN_LAW, where=LAW, cuts=HALF),
        ),
        Step(
            "bias",
            "and d times the relative bias of X, half of that of X^2 less half the relative variance, to",
            Identity(
                (by_curvatures - loss / D) / (2 * r) - relative_variance / 2,
                relative_bias,
                domain=IN_LAW,
                where=LAW,
                cuts=HALF,
            ),
            Identity(
                (by_curvatures + loss / D) / (2 * r) - relative_variance / 2,
                relative_bias,
                domain=IN_LAW,
                where=LAW,
                cuts=HALF,
            ),
        ),
        Step(
            "free-spread",
            "Two independent random vectors have E cos theta = 0, E cos^2 theta = 1/d: C varies about 2 "
            "with variance 4/d, independently of the frame. That adds to the relative variance of X",
            Identity(
                Derivative(law_of_chord, C) ** 2 / law_of_chord**2,
                free_variance,
                domain=FREE,
                where=FREE_D,
            ),
            Identity(
                Derivative(law_of_chord, C) ** 2 / law_of_chord**2,
                free_variance / 4,
                domain=FREE,
                where=FREE_D,
            ),
        ),
        Step(
            "free-bias",
            "and to its relative bias, with the slope s^2/(1 - C k)^2 that was found,",
            Identity(
                Derivative(slope_of_chord, C) / law_of_chord - free_variance / 2,
                free_bias,
                domain=FREE,
                where=FREE_D,
            ),
            Identity(
                Derivative(slope_of_chord, C) / law_of_chord + free_variance / 2,
                free_bias,
                domain=FREE,
                where=FREE_D,
            ),
        ),
        Step(
            "remainder",
            "The expansion may be used for the moments of X.",
            ByHand(
                "X lies in [0, 1]; the central moments of T, P, R of order 2 k are of order 1/d^k, so that "
                "they leave a neighbourhood of their limits, where X is smooth, with a probability that "
                "falls faster than any power of 1/d; the third ones, mixed ones too, are of order 1/d^2, as "
                "the fourth are; R is even in delta, so uncorrelated with P, and its covariance with T is of "
                "order 1/d^2; so the bias is known up to 1/d^2, uniformly on closed intervals of theta. "
                "If theta is free, C - 2 = -2 cos theta is symmetric: its third moment is 0, its fourth 48/"
                "(d (d + 2)), and it leaves a neighbourhood of 0 with a probability that falls "
                "exponentially with d",
                r"\operatorname{E} X = \sqrt{r} \left(1 + \frac{b}{d}\right) + O\left(d^{-2}\right)",
            ),
        ),
    ),
)

STATEMENTS = (OFF_PLANE,)
