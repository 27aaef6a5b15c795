"""The cubic law: the gap as a series in the cumulants of a Bernoulli variable, and its two-sided bound."""

from __future__ import annotations

import sympy as sp
from sympy import Derivative, Interval, S, atan, exp, factorial, log, oo

from ngeodesic.proof import Above, ByHand, Identity, Sign, Statement, Step
from ngeodesic.statements.angle_law import IN_BETA, POSITIVE, alpha, beta, t, theta
from ngeodesic.statements.triple_zero import gap_tangents, prefactor

x, b = sp.symbols("x b", real=True)  # b = 1/sqrt 3
u, v = sp.symbols("u v", real=True)  # real and imaginary part of the logistic function at i theta


def cumulant(n: int) -> sp.Expr:
    """The n-th cumulant of a Bernoulli(alpha) variable, factored, by the recursion of ng-cubic-law."""
    if n < 1:
        raise ValueError(f"n is {n}; the cumulants are numbered from 1")
    result = sp.Poly(alpha, alpha)
    for _ in range(n - 1):
        result = sp.Poly(alpha * (1 - alpha), alpha) * result.diff(alpha)
    return result.factor_list()[0] * sp.Mul(*(p.as_expr() ** k for p, k in result.factor_list()[1]))


generating_function = log(1 - alpha + alpha * exp(x))
logistic = alpha * exp(x) / (1 - alpha + alpha * exp(x))
kappa_3 = alpha * (1 - alpha) * (1 - 2 * alpha)
kappa_5 = kappa_3 * (1 - 12 * alpha + 12 * alpha**2)
cubic_gap = kappa_3 * theta**3 / 6
upper_bound = prefactor * t**3 / 3
lower_bound = prefactor * t**3 / (1 + t**2) / (1 + beta**2 * t**2) / 3
phase_real = (1 - beta) * (1 - beta * t**2) / (1 + beta**2 * t**2) / 2
phase_imaginary = (1 - beta**2) * t / (1 + beta**2 * t**2) / 2


def series_gap(terms: int) -> sp.Expr:
    """The first terms of the series of the gap in theta."""
    return sp.Add(
        *(
            (-1) ** (k + 1) * cumulant(2 * k + 1) * theta ** (2 * k + 1) / factorial(2 * k + 1)
            for k in range(1, terms + 1)
        )
    )


PHASE = {u: phase_real, v: phase_imaginary}
UNIT = {alpha: Interval(0, 1)}
BERNOULLI = {**UNIT, x: S.Reals}
LAGGING = {beta: Interval(0, 1), t: POSITIVE}  # 0 <= alpha <= 1/2


def _next(label: str, before: sp.Expr, after: sp.Expr, wrong: sp.Expr) -> Step:
    derived = alpha * (1 - alpha) * Derivative(before, alpha)
    return Step(
        label,
        "One step of the recursion.",
        Identity(derived, after, domain={alpha: S.Reals}),
        Identity(derived, wrong, domain={alpha: S.Reals}),
    )


def _along(label: str, says: str, moving: sp.Expr, slope: sp.Expr, wrong: sp.Expr) -> Step:
    turned = (1 + t**2) * Derivative(moving, t) / 2  # the derivative by theta
    check, twin = (Identity(turned, e, domain=IN_BETA, where=PHASE) for e in (slope, wrong))
    return Step(label, says, check, twin)


kappa_2 = alpha * (1 - alpha)
kappa_4 = kappa_2 * (1 - 6 * alpha + 6 * alpha**2)

CUBIC_LAW = Statement(
    id="ng-cubic-law",
    title="The cubic law",
    chapter="cubic_law",
    claim=(
        "phi = Arg(1 - alpha + alpha e^(i theta)) is the phase of the characteristic function of a "
        "Bernoulli(alpha) variable, so G = sum_(k>=1) (-1)^(k+1) kappa_(2k+1) theta^(2k+1)/(2k+1)! with its "
        "cumulants, kappa_1 = alpha, kappa_(n+1) = alpha (1 - alpha) d kappa_n/d alpha; for 0 < alpha < 1 "
        "the series converges for |theta| < sqrt(pi^2 + log^2((1 - alpha)/alpha)), so on all of (0, pi). "
        "kappa_3 = alpha (1 - alpha)(1 - 2 alpha), kappa_5 = kappa_3 (1 - 12 alpha + 12 alpha^2), and "
        "kappa_3 divides every odd cumulant from kappa_3 on. Leading term: kappa_3 theta^3/6, at most (sqrt "
        "3/108) theta^3 on [0, 1], only at alpha = (3 - sqrt 3)/6; max over alpha of G ~ (sqrt 3/108) "
        "theta^3 for theta -> 0. For all theta in (0, pi) and 0 <= alpha <= 1/2: beta (1 - beta^2) t^3/(3 "
        "(1 + t^2)(1 + beta^2 t^2)) <= G <= beta (1 - beta^2) t^3/3; for 1/2 <= alpha <= 1 the same holds "
        "for -G with beta replaced by -beta."
    ),
    hypotheses=(
        "theta in (0, pi), t = tan(theta/2)",
        (
            "alpha in [0, 1], beta = 1 - 2 alpha; at alpha = 0 and 1 the gap and the odd cumulants from "
            "kappa_3 on are 0"
        ),
    ),
    paper=(
        "The note, section 'Scalar step': cubic scaling, from ratios 8.15, 8.04, 8.01 under halving of "
        "theta. The coefficients, the convergence and the bound are ours."
    ),
    uses=("ng-angle-law", "ng-gap-integral", "ng-triple-zero"),
    steps=(
        Step(
            "generating-function",
            (
                "K(x) = log E e^(xX) of a Bernoulli(alpha) variable X has the logistic function p(x) as its "
                "derivative."
            ),
            Identity(Derivative(generating_function, x), logistic, domain=BERNOULLI),
            Identity(Derivative(generating_function, x), 1 - logistic, domain=BERNOULLI),
        ),
        Step(
            "logistic",
            "p' = p(1 - p).",
            Identity(Derivative(logistic, x), logistic * (1 - logistic), domain=BERNOULLI),
            Identity(Derivative(logistic, x), logistic * (1 + logistic), domain=BERNOULLI),
        ),
        Step(
            "recursion",
            "So the n-th derivative of K is P_n(p), P_1(p) = p, and p(0) = alpha.",
            ByHand(
                "chain rule and induction: if K^(n) = P_n(p) then K^(n+1) = P_n'(p) p' = p(1 - p) P_n'(p); "
                "at x = 0 this is kappa_(n+1) = alpha (1 - alpha) d kappa_n/d alpha",
                r"\kappa_{n+1} = \alpha (1 - \alpha) \frac{d \kappa_n}{d \alpha}, \qquad \kappa_1 = \alpha",
            ),
        ),
        _next("kappa-2", alpha, kappa_2, alpha * (1 + alpha)),
        _next("kappa-3", kappa_2, kappa_3, alpha * (1 - alpha) * (1 + 2 * alpha)),
        _next("kappa-4", kappa_3, kappa_4, kappa_2 * (1 - 6 * alpha + 5 * alpha**2)),
        _next("kappa-5", kappa_4, kappa_5, kappa_3 * (1 + 12 * alpha + 12 * alpha**2)),
        Step(
            "mirror",
            "kappa_3 divides kappa_5, kappa_7, ...",
            ByHand(
                "D = alpha (1 - alpha) d/d alpha turns f(1 - alpha) into -(D f)(1 - alpha), by the chain "
                "rule, so it turns a polynomial that is even about alpha = 1/2 into an odd one and back; "
                "kappa_2 is even, so kappa_3, kappa_5, ... are odd, hence 0 at 1/2; and D leaves the factor "
                "alpha (1 - alpha); a polynomial that is 0 at 0, 1/2 and 1, the simple zeros of kappa_3, is "
                "divisible by it",
                r"\kappa_{2k+1}(1 - \alpha) = -\kappa_{2k+1}(\alpha), \qquad \kappa_3 \mid \kappa_{2k+1}",
            ),
        ),
        _along(
            "phase",
            "t = tan(theta/2) gives d/d theta = (1 + t^2)/2 d/dt. The derivative of phi by theta is the "
            "real part u of p = alpha e^(i theta)/(1 - alpha + alpha e^(i theta)), the logistic function at "
            "i theta; v is the imaginary part.",
            atan(t) - atan(beta * t),
            u,
            u + beta,
        ),
        _along(
            "phase-real",
            "The derivative of u is 2 u v - v, the real part of i p(1 - p).",
            phase_real,
            2 * u * v - v,
            2 * u * v + v,
        ),
        _along(
            "phase-imaginary",
            "The derivative of v is u - u^2 + v^2, the imaginary part of i p(1 - p).",
            phase_imaginary,
            u - u**2 + v**2,
            u - u**2 - v**2,
        ),
        Step(
            "taylor",
            "At theta = 0, u = alpha and v = 0. So the Taylor series of G = alpha theta - phi at theta = 0 "
            "is the series of the claim.",
            ByHand(
                "the derivative of phi is the real part of p, and p' = i p(1 - p); by induction, as in "
                "recursion, the n-th derivative of phi is the real part of i^(n-1) P_n(p), at theta = 0 of "
                "i^(n-1) kappa_n",
                r"\varphi^{(2k+1)}(0) = (-1)^k \kappa_{2k+1}, \qquad \varphi^{(2k)}(0) = 0",
            ),
        ),
        Step(
            "radius",
            "Where the series converges.",
            ByHand(
                "K(z) = log(1 - alpha + alpha e^z) is analytic in the disc up to the nearest zeros of its "
                "argument, z = log((1 - alpha)/alpha) + i pi and its conjugate; phi(theta) = Im K(i theta), "
                "as both are continuous arguments of 1 - alpha + alpha e^(i theta) and 0 at theta = 0; so "
                "phi is the sum of its Taylor series there; for alpha = 0 and 1 all terms of G are 0",
                r"|\theta| < \sqrt{\pi^2 + \log^2\frac{1 - \alpha}{\alpha}}",
            ),
        ),
        Step(
            "amplitude",
            "kappa_3 in beta.",
            Identity(kappa_3, prefactor / 4, domain={beta: S.Reals}, where={alpha: (1 - beta) / 2}),
            Identity(kappa_3, prefactor / 2, domain={beta: S.Reals}, where={alpha: (1 - beta) / 2}),
        ),
        Step(
            "amplitude-max",
            (
                "Put in b = 1/sqrt 3, with 3 b^2 = 1 and 2 b^3 = 2 sqrt(3)/9: beta (1 - beta^2) is at most 2 "
                "sqrt(3)/9, so kappa_3/6 is at most sqrt(3)/108."
            ),
            Identity(
                2 * b**3 - beta * (3 * b**2 - beta**2),
                (beta - b) ** 2 * (beta + 2 * b),
                domain={beta: S.Reals, b: S.Reals},
            ),
            Identity(
                2 * b**3 - beta * (3 * b**2 - beta**2),
                (beta - b) ** 2 * (beta - 2 * b),
                domain={beta: S.Reals, b: S.Reals},
            ),
        ),
        Step(
            "amplitude-place",
            (
                "As b > 1/2, the last factor is positive on [-1, 1]: equality only at beta = b, alpha = (1 - "
                "b)/2 = (3 - sqrt 3)/6."
            ),
            Sign(beta + 2 * b, ">", domain={beta: Interval(-1, 1), b: Interval.open(S.Half, oo)}),
            Sign(beta - 2 * b, ">", domain={beta: Interval(-1, 1), b: Interval.open(S.Half, oo)}),
        ),
        Step(
            "upper",
            "The integrand of ng-gap-integral is at most s^2.",
            Above(upper_bound, gap_tangents, relation=">=", variable=t, at=S.Zero, domain=LAGGING),
            Above(upper_bound / 2, gap_tangents, relation=">=", variable=t, at=S.Zero, domain=LAGGING),
        ),
        Step(
            "lower",
            "It is at least s^2/((1 + beta^2 t^2)(1 + t^2)) for s <= t.",
            Above(gap_tangents, lower_bound, relation=">=", variable=t, at=S.Zero, domain=LAGGING),
            Above(gap_tangents, 2 * lower_bound, relation=">=", variable=t, at=S.Zero, domain=LAGGING),
        ),
        Step(
            "mirrored-bound",
            "For 1/2 <= alpha <= 1.",
            ByHand(
                "by ng-triple-zero (odd), -G is the gap for -beta, which is in [0, 1]",
                r"G(1 - \alpha, \theta) = -G(\alpha, \theta)",
            ),
        ),
        Step(
            "largest",
            "The largest gap for small theta.",
            ByHand(
                "by upper and amplitude-max, G <= 2 sqrt(3)/27 t^3 for every alpha in [0, 1]; by lower, at "
                "beta = 1/sqrt 3, the largest G is at least this divided by (1 + t^2)(1 + t^2/3); and t is "
                "theta/2 up to higher order",
                r"\max_\alpha G \sim \frac{2 \sqrt 3}{27} t^3 \sim \frac{\sqrt 3}{108} \theta^3",
            ),
        ),
    ),
)

STATEMENTS = (CUBIC_LAW,)
