"""The cubic law: the gap as a series in the cumulants of a Bernoulli variable, and its two-sided bound."""

from __future__ import annotations

import sympy as sp
from sympy import Derivative, Interval, S, exp, factorial, log, sqrt

from ngeodesic.proof import Above, ByHand, Identity, Series, Sign, Statement, Step
from ngeodesic.statements.angle_law import IN_BETA, POSITIVE, alpha, beta, t, theta
from ngeodesic.statements.triple_zero import FROM_BETA, gap_tangents, prefactor

x, m, u, w = sp.symbols("x m u w", real=True)  # u = 1 - alpha, w = u^(m-1)


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
best_beta = sqrt(3) / 3


def series_gap(terms: int) -> sp.Expr:
    """The first terms of the series of the gap in theta."""
    return sp.Add(
        *(
            (-1) ** (k + 1) * cumulant(2 * k + 1) * theta ** (2 * k + 1) / factorial(2 * k + 1)
            for k in range(1, terms + 1)
        )
    )


_kappas = sp.symbols("kappa_3 kappa_5 kappa_7 kappa_9", real=True)
_partial_sum = sp.Add(
    *((-1) ** k * kappa * theta ** (2 * k + 3) / factorial(2 * k + 3) for k, kappa in enumerate(_kappas))
)
_wrong_sum = _partial_sum.subs(_kappas[3], -_kappas[3])
_CUMULANTS = FROM_BETA | {
    kappa: sp.factor(cumulant(2 * k + 3).subs(alpha, FROM_BETA[alpha])) for k, kappa in enumerate(_kappas)
}
_mirrored = -alpha * (1 - alpha) * m * w  # D of (1 - alpha)^m
IN_POWERS = {alpha: S.Reals, m: S.Reals, w: S.Reals}
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


kappa_2 = alpha * (1 - alpha)
kappa_4 = kappa_2 * (1 - 6 * alpha + 6 * alpha**2)

CUBIC_LAW = Statement(
    id="ng-cubic-law",
    title="The cubic law",
    chapter="cubic_law",
    claim=(
        "phi = Arg(1 - alpha + alpha e^(i theta)) is the phase of the characteristic function of a "
        "Bernoulli(alpha) variable, so G = sum_{k>=1} (-1)^(k+1) kappa_(2k+1) theta^(2k+1)/(2k+1)! with its "
        "cumulants, kappa_1 = alpha, kappa_(n+1) = alpha (1 - alpha) d kappa_n/d alpha; for 0 < alpha < 1 "
        "the series converges for |theta| < sqrt(pi^2 + log^2((1 - alpha)/alpha)), so on all of (0, pi). "
        "kappa_3 = alpha (1 - alpha)(1 - 2 alpha), kappa_5 = kappa_3 (1 - 12 alpha + 12 alpha^2), and "
        "kappa_3 divides every odd cumulant from kappa_3 on. Leading term: kappa_3 theta^3/6, at most (sqrt "
        "3/108) theta^3 on [0, 1], only at alpha = (3 - sqrt 3)/6. For all theta in (0, pi) and 0 <= alpha "
        "<= 1/2: beta (1 - beta^2) t^3/(3 (1 + t^2)(1 + beta^2 t^2)) <= G <= beta (1 - beta^2) t^3/3; for "
        "1/2 <= alpha <= 1 the same holds for -G with beta replaced by -beta."
    ),
    hypotheses=(
        "theta in (0, pi), t = tan(theta/2)",
        (
            "alpha in [0, 1], beta = 1 - 2 alpha; at alpha = 0 and 1 the gap and the odd cumulants from "
            "kappa_3 on are 0"
        ),
        "for the bound: 0 <= alpha <= 1/2",
    ),
    paper=(
        "The note, section 'Scalar step': cubic scaling, from ratios 8.15, 8.04, 8.01 under halving of "
        "theta. The coefficients, the convergence and the bound are ours."
    ),
    status="proved-by-hand + checked",
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
            "D = alpha (1 - alpha) d/d alpha turns f(1 - alpha) into -(D f)(1 - alpha): for f = alpha^m as "
            "below, so for every polynomial. kappa_2 is even about 1/2, so kappa_3, kappa_5, ... are odd "
            "about 1/2, hence 0 there; and D leaves the factor alpha (1 - alpha).",
            Identity(_mirrored, -u * (1 - u) * m * w, domain=IN_POWERS, where={u: 1 - alpha}),
            Identity(_mirrored, u * (1 - u) * m * w, domain=IN_POWERS, where={u: 1 - alpha}),
        ),
        Step(
            "taylor",
            "The series against the arctan form, through theta^9.",
            Series(gap_tangents, _partial_sum, variable=t, order=11, domain=IN_BETA, where=_CUMULANTS),
            Series(gap_tangents, _wrong_sum, variable=t, order=11, domain=IN_BETA, where=_CUMULANTS),
        ),
        Step(
            "radius",
            "Where the series converges.",
            ByHand(
                "K(z) = log(1 - alpha + alpha e^z) is analytic in the disc up to the nearest zeros of its "
                "argument, z = log((1 - alpha)/alpha) + i pi and its conjugate; phi(theta) = Im K(i theta), "
                "as both are continuous arguments of 1 - alpha + alpha e^(i theta) and 0 at theta = 0",
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
            "beta (1 - beta^2) is at most 2 sqrt(3)/9, so kappa_3/6 is at most sqrt(3)/108.",
            Identity(
                2 * sqrt(3) / 9 - prefactor,
                (beta - best_beta) ** 2 * (beta + 2 * best_beta),
                domain={beta: S.Reals},
            ),
            Identity(
                2 * sqrt(3) / 9 - prefactor,
                (beta - best_beta) ** 2 * (beta - 2 * best_beta),
                domain={beta: S.Reals},
            ),
        ),
        Step(
            "amplitude-place",
            (
                "The last factor is positive on [-1, 1]: equality only at beta = 1/sqrt(3), alpha = (3 - "
                "sqrt 3)/6."
            ),
            Sign(beta + 2 * best_beta, ">", domain={beta: Interval(-1, 1)}),
            Sign(beta - 2 * best_beta, ">", domain={beta: Interval(-1, 1)}),
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
    ),
)

STATEMENTS = (CUBIC_LAW,)
