"""nGPT's scalar step on the sphere, and how far it is from the geodesic.

nGPT moves a unit vector h along the chord to a unit vector h_A and normalises: NLERP. The geodesic step of
the same size is SLERP. Notation: theta is the angle between h and h_A, alpha the step, phi the angle really
moved, G = alpha theta - phi the gap, beta = 1 - 2 alpha, t = tan(theta/2). Angles are in radians.

References
----------
Loshchilov, Hsieh, Sun, Ginsburg: nGPT, arXiv:2410.01131, 2025 ("the nGPT paper").
The ngeodesic note, section "Scalar step: an exact retraction-versus-geodesic gap" ("the note").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import array_api_compat
import numpy as np

from ngeodesic._arrays import (
    Array,
    Out,
    along,
    as_angles,
    as_floats,
    as_index,
    broadcast,
    broadcast_shape,
    by_rows,
    dot,
    epsilon,
    in_range,
    minus_multiple,
    move,
    nonzero,
    norm,
    refuse,
    refuse_outside,
    refuse_row,
    silent,
    vectors,
)

__all__ = [
    "GapBounds",
    "MaxGap",
    "angle",
    "contract",
    "cubic_gap",
    "gap",
    "gap_bounds",
    "matching_alpha",
    "max_gap",
    "retract",
    "retraction_angle",
    "slerp",
]


class GapBounds(NamedTuple):
    """What `gap_bounds` returns."""

    lower: Array
    upper: Array


class MaxGap(NamedTuple):
    """What `max_gap` returns."""

    gap: Array
    """The largest gap over alpha, in radians."""
    alpha: Array
    """The alpha below 1/2 where it is reached; at 1 - alpha the gap is its negative."""


@silent
def angle(x: Array, y: Array, *, axis: int = -1) -> Array:
    """Return the angle between vectors, in [0, pi].

    ``theta = atan2(|p| |x|, x.y)``, ``p = y - x (x.y)/(x.x)``, the part of y orthogonal to x.

    Parameters
    ----------
    x, y
        Nonzero vectors along `axis`, unit or not; the other axes broadcast.
    axis
        The vector axis, counted in the broadcast shape.

    Returns
    -------
    array
        Radians, of the shape of the other axes. NaN or an infinity in a vector gives NaN. The gradient where
        x and y are parallel is 0.

    Raises
    ------
    ValueError
        A zero vector, vectors of different lengths, shapes that do not broadcast.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: a few ulp from 1e-8 to pi - 1e-8, at any scale of x and y; below 6 ulp for unit vectors and in
    general position, 11 ulp at the worst pair that a search found. Above about a thousand entries of nearly
    one size, the rounding of the sums adds to that. An arccos has no correct digit at 1e-8; normalising x and
    y first costs 6e7 ulp there, by the rounding of their entries.
    """
    xp, (x, y), restore = as_floats(x=x, y=y)
    (x, y), _ = vectors(xp, axis, x=x, y=y)
    return restore(by_rows(_angle, xp, x, y, width=1, block=2**14)[..., 0])


def _angle(xp: Any, x: Array, y: Array, out: dict[str, Array]) -> Array:
    x, x_norm = nonzero(xp, x, "x")
    y, _ = nonzero(xp, y, "y")
    xx, xy = dot(xp, x, x), dot(xp, x, y)
    p = minus_multiple(xp, y, xy / xx, x)
    p = p - x * (dot(xp, x, p) / xx)  # what the rounding of the factor xy/xx left along x
    largest = xp.max(xp.abs(p), axis=-1, keepdims=True)
    largest = xp.where(largest == 0, 1, largest)
    return xp.atan2(largest * norm(xp, p / largest) * x_norm, xy, **out)


@silent
def retraction_angle(alpha: Array, theta: Array) -> Array:
    """Return the angle by which the step turns h towards h_A.

    phi = atan2(alpha sin theta, 1 - alpha + alpha cos theta) = theta/2 - arctan(beta t)
    (ng-angle-law; the note gives it as an arccos).

    Parameters
    ----------
    alpha
        The step, any finite real number; 0 stays at h, 1 goes to h_A.
    theta
        The angle between h and h_A, in [0, pi].

    Returns
    -------
    array
        phi, of the broadcast shape, in [0, theta] for alpha in [0, 1].

    Raises
    ------
    ValueError
        An infinite alpha, theta outside [0, pi], shapes that do not broadcast.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: 3 ulp on the points of the benchmark, 6 ulp at the worst ones that a search found, for alpha in
    [0, 1]. phi(1/2, theta) is theta/2 to the last bit (ng-bisector), and
    phi(alpha, theta) + phi(1 - alpha, theta) = theta up to one rounding. The float64 nearest to pi is taken
    for what it is, 1.2e-16 less than pi.
    """
    xp, (alpha, theta), restore = as_floats(alpha=alpha, theta=theta)
    theta = as_angles(xp, theta)
    refuse(xp, xp.isinf(alpha), "alpha", alpha, "be finite")
    alpha, theta = broadcast(xp, alpha=alpha, theta=theta)
    return restore(_in_blocks(_turned, xp, alpha, theta))


def _turned(xp: Any, alpha: Array, theta: Array) -> Array:
    return _turned_and_left(xp, alpha, theta)[0]


def _turned_and_left(xp: Any, alpha: Array, theta: Array) -> tuple[Array, Array]:
    """Return phi and theta - phi, neither by subtracting nearly equal numbers.

    The smaller one, phi for alpha <= 1/2, comes first. Its two forms are equal: theta/2 - arctan(beta t), and
    the same by the addition theorem. The first one is exact at 1/2, the second one never cancels.
    """
    below = alpha <= 0.5
    nearer = xp.where(below, alpha, 1 - alpha)
    beta = 1 - 2 * nearer
    t = xp.tan(theta / 2)
    lag = xp.atan(beta * t)
    quotient = 2 * nearer * t / (1 + beta * t * t)  # not a number where a huge alpha overflows it
    smaller = xp.where((lag <= theta / 4) | xp.isnan(quotient), theta / 2 - lag, xp.atan(quotient))
    larger = theta - smaller
    return xp.where(below, smaller, larger), xp.where(below, larger, smaller)


@silent
def matching_alpha(fraction: Array, theta: Array) -> Array:
    """Return the alpha whose step turns h by exactly the given fraction of theta.

    alpha = sin(f theta) / (sin(f theta) + sin((1 - f) theta)) (ng-matched-step): the step with this alpha is
    SLERP at the fraction f.

    Parameters
    ----------
    fraction
        f, in [0, 1].
    theta
        The angle between h and h_A, in [0, pi].

    Returns
    -------
    array
        alpha, of the broadcast shape, in [0, 1]; at theta = 0 its limit f.

    Raises
    ------
    ValueError
        A fraction outside [0, 1], theta outside [0, pi], shapes that do not broadcast.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: 6 ulp, for theta up to the number nearest to pi, unless f theta is subnormal.
    """
    xp, (fraction, theta), restore = as_floats(fraction=fraction, theta=theta)
    fraction, theta = _unit_interval(xp, fraction, "fraction"), as_angles(xp, theta)
    fraction, theta = broadcast(xp, fraction=fraction, theta=theta)
    below = fraction <= 0.5
    nearer = xp.where(below, fraction, 1 - fraction)
    # at theta = 0 the quotient is 0/0, and near 0 its gradient loses its digits
    small = theta < epsilon(xp, theta) ** 0.25
    limit = fraction + fraction * (1 - fraction) * (1 - 2 * fraction) * theta**2 / 6
    wide = xp.where(small, 1, theta)
    done, left = nearer * wide, (1 - nearer) * wide
    # the sine of (1 - f) theta near pi is that of the small (pi - theta) + f theta
    left = xp.where(left > math.pi / 2, _below_pi(xp, wide) + done, left)
    part = xp.sin(done) / (xp.sin(done) + xp.sin(left))
    return restore(xp.where(small, limit, xp.where(below, part, 1 - part)))


def _below_pi(xp: Any, theta: Array) -> Array:
    """Return pi - theta, with pi in two parts."""
    high = float(xp.asarray(math.pi, dtype=theta.dtype))
    low = -8.742277657347586e-08 if theta.dtype == xp.float32 else 1.2246467991473532e-16
    return (high - theta) + low


@silent
def gap(alpha: Array, theta: Array) -> Array:
    """Return the gap between the geodesic step and nGPT's step: how far the angle moved lags.

    G = alpha theta - phi(alpha, theta) = arctan(beta t) - beta theta/2 (ng-gap-integral). It is positive for
    alpha below 1/2, negative above and, for theta > 0, zero at 0, 1/2 and 1 only (ng-triple-zero).

    Parameters
    ----------
    alpha
        The step, in [0, 1].
    theta
        The angle between h and h_A, in [0, pi).

    Returns
    -------
    array
        G, of the broadcast shape.

    Raises
    ------
    ValueError
        alpha outside [0, 1], theta outside [0, pi], shapes that do not broadcast.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: a relative error of 5 eps for every alpha in [0, 1] and theta in [0, pi), as long as no cube
    underflows: at most 6 ulp on the points of the benchmark, 9.5 ulp at the worst ones that a search found.
    The float64
    nearest to pi is taken for what it is, 1.2e-16 less than pi. Odd about alpha = 1/2 to the last bit where
    1 - alpha is exact. The subtraction alpha theta - phi would leave no correct digit below theta = 1e-7.
    """
    xp, (alpha, theta), restore = as_floats(alpha=alpha, theta=theta)
    alpha, theta = _unit_interval(xp, alpha, "alpha"), as_angles(xp, theta)
    alpha, theta = broadcast(xp, alpha=alpha, theta=theta)
    return restore(_in_blocks(_gap, xp, alpha, theta))


def _gap(xp: Any, alpha: Array, theta: Array) -> Array:
    """Return the gap, given arguments of one shape, as a sum of two terms of one sign.

    G(theta) = 4 G(theta/4) + (arctan(beta t) - 4 arctan(beta y)) with y = tan(theta/8). By the addition
    theorem the bracket is, with z = tan(theta/4), q = y^2, b = beta^2, e = 1 - b q, p = beta (1 - b) / 2,

    arctan(p y z t (5 - q (b + e)) / (1 + b (e (4 y t - q) - 5 q))).

    No difference in it loses more than a bit. G(theta/4), a sixteenth of G when theta is small, is the
    integral of ng-gap-integral: theta/4 <= pi/4, so that its poles are far away and few nodes suffice.
    """
    beta, py = _beta_and_product(alpha)
    b = beta * beta
    y, z, t = xp.tan(0.125 * theta), xp.tan(0.25 * theta), xp.tan(0.5 * theta)
    q = y * y
    bq = b * q
    e = 1 - bq
    # in place from here: a new array costs as much as the arithmetic
    py *= y
    bottom = y * t
    bottom *= 4
    bottom -= q
    bottom *= e
    bottom -= 5 * q
    bottom *= b
    bottom += 1
    minus_top = b + e
    minus_top *= q
    minus_top -= 5
    minus_top *= z * t
    minus_top /= bottom
    minus_top *= py
    total = _integral(q, bq)
    total *= q
    total *= py
    total -= xp.atan(minus_top)
    return total


def _beta_and_product(alpha: Array) -> tuple[Array, Array]:
    """Return beta and beta (1 - beta^2) / 2 = 2 alpha (1 - alpha) beta."""
    twice = 2 * alpha
    beta = 1 - twice
    return beta, twice * (1 - alpha) * beta


# The positive nodes and the weights of the Gauss-Legendre rule with 13 points on [-1, 1], roots s of the
# Legendre polynomial P and 2 / ((1 - s^2) P'(s)^2), from mpmath at 50 digits; NumPy's are off by several ulp.
_GAUSS = (
    (0.9841830547185881, 0.04048400476531588),
    (0.9175983992229779, 0.09212149983772845),
    (0.8015780907333099, 0.13887351021978725),
    (0.6423493394403402, 0.17814598076194574),
    (0.44849275103644687, 0.2078160475368885),
    (0.2304583159551348, 0.22628318026289723),
)


def _integral(q: Array, bq: Array) -> Array:
    """Return 8 times the integral of s^2 / ((1 + q s^2) (1 + bq s^2)) from 0 to 1."""
    total: Array = 0.0
    for node, weight in _GAUSS:
        pole = 1 / node**2
        factors = q + pole
        factors *= bq + pole
        total += 8 * weight * pole / factors
    return total


@silent
def gap_bounds(alpha: Array, theta: Array) -> GapBounds:
    """Return two-sided bounds of the gap, not only for small theta.

    For alpha <= 1/2: beta (1 - beta^2) t^3 / (3 (1 + t^2) (1 + beta^2 t^2)) <= G <= beta (1 - beta^2) t^3 / 3
    (ng-cubic-law); above 1/2 the negatives, exchanged.

    Parameters
    ----------
    alpha
        The step, in [0, 1].
    theta
        The angle between h and h_A, in [0, pi).

    Returns
    -------
    GapBounds
        lower and upper, of the broadcast shape.

    Raises
    ------
    ValueError
        alpha outside [0, 1], theta outside [0, pi], shapes that do not broadcast.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: both are moved outwards by 16 eps, more than all rounding in them and in `gap`, so that
    lower <= gap(alpha, theta) <= upper holds for the numbers returned (unless a cube underflows).
    """
    xp, (alpha, theta), restore = as_floats(alpha=alpha, theta=theta)
    alpha, theta = _unit_interval(xp, alpha, "alpha"), as_angles(xp, theta)
    alpha, theta = broadcast(xp, alpha=alpha, theta=theta)
    slack = 16 * epsilon(xp, theta)
    beta, product = _beta_and_product(alpha)
    t = xp.tan(theta / 2)
    t2 = t * t
    far = product * (t2 * t) / 1.5
    near = far / ((1 + t2) * (1 + beta * beta * t2))
    near, far = near * (1 - slack), far * (1 + slack)
    lag = alpha <= 0.5
    return GapBounds(restore(xp.where(lag, near, far)), restore(xp.where(lag, far, near)))


@silent
def cubic_gap(alpha: Array, theta: Array) -> Array:
    """Return the leading term of the gap for small theta.

    alpha (1 - alpha) (1 - 2 alpha) theta^3 / 6 (ng-cubic-law): the third cumulant of a Bernoulli(alpha)
    variable, times theta^3 / 6.

    Parameters
    ----------
    alpha
        The step, in [0, 1].
    theta
        The angle between h and h_A, in [0, pi].

    Returns
    -------
    array
        The term, of the broadcast shape. Its relative distance from the gap is of order theta^2.

    Raises
    ------
    ValueError
        alpha outside [0, 1], theta outside [0, pi], shapes that do not broadcast.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: 6 ulp, of the term itself.
    """
    xp, (alpha, theta), restore = as_floats(alpha=alpha, theta=theta)
    alpha, theta = _unit_interval(xp, alpha, "alpha"), as_angles(xp, theta)
    alpha, theta = broadcast(xp, alpha=alpha, theta=theta)
    _, product = _beta_and_product(alpha)
    return restore(product * (theta * theta * theta) / 12)


@silent
def max_gap(theta: Array) -> MaxGap:
    """Return the largest gap over alpha in [0, 1], and where it is reached.

    With x = theta/2 and q = sqrt(tan(x)/x - 1): the gap is arctan(q) - x q / tan(x), at
    alpha = (1 - q / tan(x)) / 2 (ng-max-gap).

    Parameters
    ----------
    theta
        The angle between h and h_A, in [0, pi).

    Returns
    -------
    MaxGap
        gap and alpha, of the shape of theta: 0 and (3 - sqrt 3)/6 at theta = 0, towards pi/2 and 1/2 at pi.

    Raises
    ------
    ValueError
        theta outside [0, pi].
    TypeError
        An argument that is not real.

    Notes
    -----
    Accuracy: 8 ulp for the gap, as long as no cube underflows, and 4 ulp for alpha.
    """
    xp, (theta,), restore = as_floats(theta=theta)
    theta = as_angles(xp, theta)
    x = theta / 2
    x2 = x * x
    # 1 - x / tan(x) = x^2 / (3 - x^2 / (5 - x^2 / (7 - ...))) (Lambert): at pi/2 ten levels reach 1e-17
    fraction = 0 * x2 + 21
    for odd in range(19, 1, -2):
        fraction = odd - x2 / fraction
    small = x < 1
    cotangent = xp.where(small, 1 - x2 / fraction, x / xp.tan(xp.where(small, 1, x)))  # x / tan(x)
    alpha = (1 - xp.sqrt(cotangent / fraction)) / 2
    # arctan(q) - x q / tan(x) cancels; at a maximum the rounding of alpha does not count
    return MaxGap(restore(_in_blocks(_gap, xp, alpha, theta)), restore(alpha))


@silent
def retract(h: Array, target: Array, alpha: Array, *, axis: int = -1) -> Array:
    """Return nGPT's step: move along the chord and normalise (NLERP).

    Norm(u + alpha * (v - u)) with u = Norm(h), v = Norm(target): nGPT paper, Section 2.2.2, equations (10)
    and (11). A scalar alpha turns h by ``retraction_angle(alpha, theta)`` (ng-angle-law).

    Parameters
    ----------
    h, target
        Nonzero vectors along `axis`; the other axes broadcast. They are normalised first, as nGPT's code
        does.
    alpha
        The step. A scalar: one step for all. One axis: one step per dimension, along `axis`. More axes: it
        broadcasts against h and target, axis by axis; so one step per vector has length 1 along `axis`, as
        ``alpha[:, None]`` for n vectors in the rows of h.
    axis
        The vector axis, counted in the broadcast shape of h and target.

    Returns
    -------
    array
        Unit vectors, of the broadcast shape. NaN or an infinity in a vector gives a vector of NaN.

    Raises
    ------
    ValueError
        A zero vector; an alpha whose shape does not fit; h + alpha (target - h) = 0 to rounding, as for an
        antipodal pair at alpha = 1/2.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: the norm is 1 within 4.5e-16, up to about a thousand entries of one size, above which the
    rounding of the sum shows. For alpha in [0, 1] the error of the vector is a few
    ``eps / |u + alpha * (v - u)|``, so it grows only near antipodes at alpha near 1/2.
    """
    xp, (h, target, alpha), restore = as_floats(h=h, target=target, alpha=alpha)
    shapes = {"h": tuple(h.shape), "target": tuple(target.shape)}
    (h, target), axis = vectors(xp, axis, h=h, target=target)
    alpha = along(xp, alpha, axis, h.shape[-1], shapes)
    result = by_rows(_retract, xp, h, target, alpha, width=h.shape[-1])
    return restore(move(xp, result, -1, axis))


def _retract(xp: Any, h: Array, target: Array, alpha: Array, out: Out) -> Array:
    h, h_norm, v = _of_one_norm(xp, h, target, out)
    step = xp.multiply(xp.subtract(v, h, **out), alpha, **out)
    point = xp.add(h, step, **out)
    length = norm(xp, point)
    problem = "h + alpha * (target - h) must not be zero, as for an antipodal pair at alpha = 1/2"
    refuse_row(xp, length <= 2 * epsilon(xp, point) * h_norm, problem)
    return xp.divide(*in_range(xp, point, length), **out)


def _of_one_norm(xp: Any, h: Array, target: Array, out: Out) -> tuple[Array, Array, Array]:
    """Return h, its norm, and the target stretched to this norm.

    That is the pair u, v of the formulas times a factor, which the last normalisation takes out again: a pass
    over the array less.
    """
    h, h_norm = nonzero(xp, h, "h")
    target, target_norm = nonzero(xp, target, "target")
    return h, h_norm, xp.multiply(target, h_norm / target_norm, **out)


@silent
def slerp(h: Array, target: Array, fraction: Array, *, axis: int = -1) -> Array:
    """Return the point at a fraction of the geodesic from h to target (SLERP).

    (sin((1 - f) theta) u + sin(f theta) v) / sin theta with u = Norm(h), v = Norm(target), theta their angle
    and f the fraction: the motivation of the step in the nGPT paper, Section 2.2.2.

    Parameters
    ----------
    h, target
        Nonzero vectors along `axis`; the other axes broadcast. They are normalised first.
    fraction
        0 gives Norm(h), 1 gives Norm(target), in NumPy to the last bit if it is a unit vector; below 0 and
        above 1 the great circle goes on. It has no vector axis: a scalar, or one fraction per vector, which
        broadcasts with the other axes. So n fractions and one pair of vectors give n points, in rows.
    axis
        The vector axis, counted in the broadcast shape of h and target.

    Returns
    -------
    array
        Unit vectors. NaN or an infinity in a vector, or a fraction NaN, gives a vector of NaN.

    Raises
    ------
    ValueError
        A zero vector; an antipodal pair to rounding, ``|u + v| <= 4 eps``, unless the fraction is 0 or 1;
        shapes that do not broadcast.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: 8e-16 * max(1, 1 / sin theta) in float64, for fractions in [0, 1]: near antipodes the vectors do
    not fix their plane better than that.
    """
    xp, (h, target, fraction), restore = as_floats(h=h, target=target, fraction=fraction)
    (h, target), axis = vectors(xp, axis, h=h, target=target)
    rows = {"h": tuple(h.shape[:-1]), "target": tuple(target.shape[:-1])}
    broadcast_shape(**rows, fraction=tuple(fraction.shape))
    result = by_rows(_slerp, xp, h, target, fraction[..., None], width=h.shape[-1], scratch=1)
    if array_api_compat.is_numpy_namespace(xp):  # elsewhere the gradient needs the normalisation
        for at, end in ((0, h), (1, target)):
            kept = fraction[..., None] == at
            if kept.any():
                kept = kept & (np.abs(norm(xp, end) - 1) <= 4 * epsilon(xp, end)) & ~np.isnan(result)
                result = np.where(kept, end, result)
    return restore(move(xp, result, -1, axis))


def _slerp(xp: Any, h: Array, target: Array, fraction: Array, spare: Out, out: Out) -> Array:
    h, h_norm, v = _of_one_norm(xp, h, target, out)
    apart = norm(xp, xp.subtract(v, h, **spare))
    together = norm(xp, xp.add(v, h, **spare))
    antipodal = (together <= 4 * epsilon(xp, h) * h_norm) & (xp.abs(fraction * (1 - fraction)) > 0)
    refuse_row(xp, antipodal, "h and target must not be antipodal unless fraction is 0 or 1")
    theta = 2 * xp.atan2(apart, together)
    same = apart == 0
    theta = xp.where(same, 1, theta)
    a = xp.where(same, 1 - fraction, xp.sin((1 - fraction) * theta) / xp.sin(theta))
    b = xp.where(same, fraction, xp.sin(fraction * theta) / xp.sin(theta))
    point = xp.add(xp.multiply(h, a, **spare), xp.multiply(v, b, **out), **out)
    return xp.divide(point, norm(xp, point), **out)


@silent
def contract(theta: Array, alpha: Array, steps: int) -> Array:
    """Return the angles to a fixed target before and after each of so many steps.

    theta_{k+1} = theta_k - phi(alpha, theta_k) (ng-contraction). Near 0 a step multiplies the angle by
    1 - alpha, at alpha = 1/2 by exactly 1/2 at every angle (ng-bisector).

    Parameters
    ----------
    theta
        The first angle, in [0, pi].
    alpha
        The step, in [0, 1].
    steps
        How many, an integer >= 0.

    Returns
    -------
    array
        theta_0, ..., theta_steps on a new last axis, after the broadcast shape of theta and alpha.

    Raises
    ------
    ValueError
        theta outside [0, pi], alpha outside [0, 1], steps < 0, shapes that do not broadcast.
    TypeError
        Arguments that are not real, or of two array libraries; steps that is no integer.

    Notes
    -----
    Accuracy: each angle is within 6 ulp of the exact step from the one before it.
    """
    count = as_index("steps", steps)
    if count < 0:
        raise ValueError(f"steps must not be negative: got {count}")
    xp, (theta, alpha), restore = as_floats(theta=theta, alpha=alpha)
    theta, alpha = as_angles(xp, theta), _unit_interval(xp, alpha, "alpha")
    theta, alpha = broadcast(xp, theta=theta, alpha=alpha)
    angles = [theta]
    for _ in range(count):
        angles.append(_turned_and_left(xp, alpha, angles[-1])[1])
    return restore(xp.stack(angles, axis=-1))


def _unit_interval(xp: Any, values: Array, name: str) -> Array:
    """Check that the values lie in [0, 1] and return them."""
    refuse_outside(xp, values, 1, name, "lie in [0, 1]")
    return values


_BLOCK = 2**14  # points: an eighth of a megabyte for each of about ten temporaries


def _in_blocks(formula: Callable[..., Array], xp: Any, alpha: Array, theta: Array) -> Array:
    """Return ``formula(xp, alpha, theta)`` of arrays of one shape, for NumPy in blocks that fit the cache."""
    if not array_api_compat.is_numpy_namespace(xp):
        return formula(xp, alpha, theta)
    # Until a block as large as this has been freed once, glibc returns the memory of each freed temporary to
    # the system and has it mapped anew for the next one: three times the time of the arithmetic.
    np.empty(2**18)
    if theta.size <= _BLOCK:
        return formula(xp, alpha, theta)
    shape, alpha, theta = theta.shape, alpha.reshape(-1), theta.reshape(-1)
    result = np.empty_like(theta)
    for start in range(0, theta.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        result[block] = formula(xp, alpha[block], theta[block])
    return result.reshape(shape)


def _scalar_table() -> str:
    """Return the numbers of the note's scalar part, computed here."""
    degrees, rad = np.degrees, np.radians
    theta = rad(np.linspace(0, 180, 1801))
    off = float(degrees(np.max(np.abs(retraction_angle(0.5, theta) - theta / 2))))
    lines = [
        "nGPT's scalar step on the sphere (angles in degrees)",
        "",
        "Half a step, theta = 0, 0.1, ..., 180:",
        f"  |phi(1/2, theta) - theta/2| at most {off:.1g}",
        "",
        "Cubic law, G(theta)/G(theta/2), 8 in the limit (the note's ratios are of the largest gap):",
        "  theta   largest gap   alpha = 0.1   alpha = 0.3",
    ]
    for wide in (40, 20, 10):
        pair = rad(np.array([wide, wide / 2]))
        ratios = [g[0] / g[1] for g in (max_gap(pair).gap, gap(0.1, pair), gap(0.3, pair))]
        lines.append(f"  {wide:5d}" + "".join(f"{r:14.4f}" for r in ratios))
    lines += ["", "Largest gap over alpha:", "  theta           gap         alpha     1 - alpha"]
    for wide in (45, 90, 135, 170):
        most = max_gap(rad(wide))
        lines.append(f"  {wide:5d}{degrees(most.gap):14.9f}{most.alpha:14.9f}{1 - most.alpha:14.9f}")
    lines += ["", "Contraction, theta_1/theta_0 at theta_0 = 0.01:", "  alpha         ratio     1 - alpha"]
    for alpha in (0.1, 0.25, 0.5, 0.75, 0.9):
        before, after = contract(rad(0.01), alpha, 1)
        lines.append(f"  {alpha:5.2f}{after / before:14.9f}{1 - alpha:14.9f}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(_scalar_table())
