"""nGPT's per-dimension step, and how far it leaves the plane of the state and its target.

nGPT's alpha is a vector: one step per dimension. A scalar step stays in span{h, h_A}, the plane of a great
circle; a per-dimension step does not. Notation as in `ngeodesic.geodesic`, and e1, e2 the unit vectors along
h + h_A and h_A - h: an orthonormal basis of the plane, in which h = cos(theta/2) e1 - sin(theta/2) e2.

References
----------
Loshchilov, Hsieh, Sun, Ginsburg: nGPT, arXiv:2410.01131, 2025 ("the nGPT paper").
The ngeodesic note, README of github.com/v-code01/ngeodesic ("the note").
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ngeodesic._arrays import (
    Array,
    Out,
    along,
    as_angles,
    as_floats,
    broadcast,
    by_rows,
    dot,
    epsilon,
    minus_multiple,
    nonzero,
    norm,
    refuse,
    refuse_row,
    silent,
    vectors,
)
from ngeodesic.geodesic import angle, contract, retract

__all__ = ["StepGeometry", "decompose", "off_plane_norm", "predicted_off_plane_norm", "sample_step"]


class StepGeometry(NamedTuple):
    """What `decompose` returns."""

    theta: Array
    """The angle between h and target, in [0, pi]."""
    in_plane_angle: Array
    """The angle from h, towards target, of the step's part in span{h, target}; in (-pi, pi]."""
    off_plane_norm: Array
    """The norm of the step's part orthogonal to span{h, target}, in [0, 1]."""
    deviation: Array
    """The angle between the step and the SLERP point at the fraction mean(alpha), in [0, pi]."""


@silent
def off_plane_norm(h: Array, target: Array, alpha: Array, *, axis: int = -1) -> Array:
    """Return the norm of the part of nGPT's step that is orthogonal to h and target.

    ``|r - P r|`` with r = ``retract(h, target, alpha)`` and P the orthogonal projection onto
    span{h, target} (ng-off-plane). A scalar alpha gives 0: the note's falsifier.

    Parameters
    ----------
    h, target
        Nonzero vectors along `axis`; the other axes broadcast. They are normalised first.
    alpha
        The step, of a shape that `retract` takes: a scalar, one step per dimension, or more axes.
    axis
        The vector axis, counted in the broadcast shape of h and target.

    Returns
    -------
    array
        Norms in [0, 1], of the shape of the other axes. The span of parallel vectors is a line. NaN or an
        infinity in a row gives NaN. The gradient where alpha is constant is 0.

    Raises
    ------
    ValueError
        A zero vector; an alpha whose shape does not fit; h + alpha (target - h) = 0 to rounding, as for an
        antipodal pair at alpha = 1/2.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: exactly 0 for a constant alpha, at every angle. Otherwise, for norms above 1e-6, the relative
    error is below 1e-12 from theta = 1e-8 to pi - 1e-8, if a hundredth of (alpha - its mean) * (h_A - h) or
    more is off the plane; nearer to the plane rounding counts for more. Normalising h and
    target first would cost 1e-16 / theta.
    """
    xp, _, parts, restore = _measure(h, target, alpha, axis)
    return restore(_split(xp, parts)[1])


@silent
def decompose(h: Array, target: Array, alpha: Array, *, axis: int = -1) -> StepGeometry:
    """Return where nGPT's step goes: along the great circle, off its plane, and away from the geodesic.

    r = sqrt(1 - z^2) (cos(psi) u + sin(psi) n) + z q with u = Norm(h), n the unit vector in the plane that
    is orthogonal to u, towards target, and q one orthogonal to both; psi is `in_plane_angle`, z is
    `off_plane_norm` (ng-off-plane).

    Parameters
    ----------
    h, target, alpha, axis
        As for `off_plane_norm`.

    Returns
    -------
    StepGeometry
        theta, in_plane_angle, off_plane_norm and deviation, of the shape of the other axes. A scalar alpha in
        [0, 1] gives ``retraction_angle(alpha, theta)`` as in_plane_angle and ``|gap(alpha, theta)|`` as
        deviation.

    Raises
    ------
    ValueError
        As `off_plane_norm`; an antipodal pair to rounding, unless mean(alpha) is 0 or 1.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: theta as `angle`, off_plane_norm as the function of that name; the errors of in_plane_angle and
    deviation are a few ``eps / |u + alpha * (v - u)|``, as those of `retract`.
    """
    xp, alpha, parts, restore = _measure(h, target, alpha, axis)
    in_plane, off = _split(xp, parts)
    sine, cosine, along = parts.sine, parts.cosine, parts.along
    theta, fraction = 2 * xp.atan2(sine, cosine), xp.mean(alpha, axis=-1)
    antipodal = (cosine <= 2 * epsilon(xp, cosine)) & (xp.abs(fraction * (1 - fraction)) > 0)
    refuse_row(xp, antipodal[..., None], "h and target must not be antipodal unless mean(alpha) is 0 or 1")
    psi = xp.atan2(
        2 * sine * (cosine * parts.mean + sine * along),
        1 + 2 * sine * (cosine * along - sine * parts.mean),
    )
    ahead = psi - fraction * theta
    aside = norm(xp, xp.stack([off, in_plane * xp.sin(ahead)], axis=-1))[..., 0]
    deviation = xp.atan2(aside, in_plane * xp.cos(ahead))
    return StepGeometry(restore(theta), restore(psi), restore(off), restore(deviation))


class _Parts(NamedTuple):
    """One number for each row; delta is alpha less its mean, weighted with the squares of e2."""

    sine: Array  # of theta/2
    cosine: Array
    mean: Array
    beta: Array  # 1 - 2 mean, with its digits near 0
    along: Array  # e1 . (delta e2)
    off: Array  # |part of delta e2 off the plane|


def _measure(
    h: Array, target: Array, alpha: Array, axis: int
) -> tuple[Any, Array, _Parts, Callable[[Array], Array]]:
    """Return the namespace, alpha with the vector axis last, the parts of the step, and `Floats.restore`."""
    xp, (h, target, alpha), restore = as_floats(h=h, target=target, alpha=alpha)
    shapes = {"h": tuple(h.shape), "target": tuple(target.shape)}
    (h, target), axis = vectors(xp, axis, h=h, target=target)
    alpha = along(xp, alpha, axis, h.shape[-1], shapes)
    columns = by_rows(_row_parts, xp, h, target, alpha, width=6, scratch=3)
    return xp, alpha, _Parts(*(columns[..., i] for i in range(6))), restore


def _split(xp: Any, parts: _Parts) -> tuple[Array, Array]:
    """Return the norms of the step's parts in the plane and off it; their squares have the sum 1.

    Before it is normalised, the step is (K + 2 S along) e1 - beta S e2 + 2 S off q (ng-off-plane).
    """
    ahead = parts.cosine + 2 * parts.sine * parts.along
    across, off = parts.beta * parts.sine, 2 * parts.sine * parts.off
    in_plane = xp.sqrt(ahead * ahead + across * across)
    length = xp.sqrt(ahead * ahead + across * across + off * off)
    problem = "h + alpha * (target - h) must not be zero, as for an antipodal pair at alpha = 1/2"
    refuse_row(xp, (length <= 2 * epsilon(xp, length))[..., None], problem)
    return in_plane / length, off / length


def _row_parts(
    xp: Any, h: Array, target: Array, alpha: Array, one: Out, two: Out, three: Out, out: Out
) -> Array:
    h, h_norm = nonzero(xp, h, "h")
    target, target_norm = nonzero(xp, target, "target")
    v = xp.multiply(target, h_norm / target_norm, **one)
    y = xp.add(v, h, **two)
    x = xp.subtract(v, h, **one)
    x_norm, y_norm = norm(xp, x), norm(xp, y)
    sine, cosine = x_norm / (2 * h_norm), y_norm / (2 * h_norm)
    if not xp.all(xp.minimum(sine, cosine) > epsilon(xp, h) ** 0.1):
        x, y, sine, cosine = _nearly_parallel(xp, h, h_norm, target, target_norm)
        x_norm, y_norm = norm(xp, x), norm(xp, y)
    xx, yy = (xp.where(n == 0, 1, n * n) for n in (x_norm, y_norm))
    mean = dot(xp, x, xp.multiply(alpha, x, **three)) / xx
    low, high = xp.min(alpha, axis=-1, keepdims=True), xp.max(alpha, axis=-1, keepdims=True)
    mean = xp.minimum(xp.maximum(mean, low), high)  # of a constant alpha exactly this constant
    w = xp.multiply(xp.subtract(alpha, mean, **three), x, **three)
    rest, ahead = dot(xp, x, w) / xx, dot(xp, y, w) / yy
    off = norm(xp, xp.subtract(w, xp.multiply(y, ahead, **two), **three))
    x_norm = xp.where(x_norm == 0, 1, x_norm)
    columns = [sine, cosine, mean, 1 - 2 * mean - 2 * rest, ahead * y_norm / x_norm, off / x_norm]
    return xp.concat(columns, axis=-1, **out)


def _nearly_parallel(
    xp: Any, h: Array, h_norm: Array, target: Array, target_norm: Array
) -> tuple[Array, Array, Array, Array]:
    """Return e2, e1, sin(theta/2), cos(theta/2) where v - u or v + u would lose its digits."""
    hh, product = dot(xp, h, h), dot(xp, h, target)
    p = minus_multiple(xp, target, product / hh, h)  # as in `angle`
    p = p - h * (dot(xp, h, p) / hh)
    largest = xp.max(xp.abs(p), axis=-1, keepdims=True)
    largest = xp.where(largest == 0, 1, largest)
    p = p / largest
    p_norm = norm(xp, p)
    u, n = h / h_norm, p / xp.where(p_norm == 0, 1, p_norm)
    # the half-angle function that is near 1, and from it and sin theta = |p| / |target| the small one
    large = xp.sqrt((1 + xp.abs(product / h_norm / target_norm)) / 2)
    small = largest * p_norm / target_norm / (2 * large)
    acute = product > 0
    sine, cosine = xp.where(acute, small, large), xp.where(acute, large, small)
    return n * cosine - u * sine, u * cosine + n * sine, sine, cosine


@silent
def predicted_off_plane_norm(mean: Array, std: Array, theta: Array) -> Array:
    """Return the off-plane norm that the law predicts for a step with random alpha in many dimensions.

    2 s S / sqrt(K^2 + beta^2 S^2 + 4 s^2 S^2) with beta = 1 - 2 mean, s = std, S = sin(theta/2) and
    K = cos(theta/2): the root of s^2 C / (1 - (mean (1 - mean) - s^2) C), C = 4 S^2 (ng-off-plane).

    Parameters
    ----------
    mean, std
        Of the alphas; std >= 0, with all deviations counted (ddof = 0).
    theta
        The angle between h and h_A, in [0, pi].

    Returns
    -------
    array
        Norms in [0, 1], of the broadcast shape; 0 only where std or theta is 0.

    Raises
    ------
    ValueError
        std < 0, an infinite mean or std, theta outside [0, pi], shapes that do not broadcast.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: 4 ulp of the law. The law is a limit. In d dimensions, for normal alpha, a random pair and a
    norm well below 1, one step differs from the law at its own angle by about 1.2/sqrt(d) of itself, and the
    mean of many is about 2.7/d of it below; ng-off-plane (c) has both in general.
    """
    xp, (mean, std, theta), restore = as_floats(mean=mean, std=std, theta=theta)
    theta = as_angles(xp, theta)
    refuse(xp, xp.isinf(mean), "mean", mean, "be finite")
    refuse(xp, (std < 0) | xp.isinf(std), "std", std, "be finite and not negative")
    mean, std, theta = broadcast(xp, mean=mean, std=std, theta=theta)
    sine, cosine = xp.sin(theta / 2), xp.cos(theta / 2)
    off = 2 * std * sine
    return restore(off / xp.hypot(xp.hypot(cosine, (1 - 2 * mean) * sine), off))


@silent
def sample_step(
    dim: int, mean: float, std: float, seed: Any, *, theta: float | None = None
) -> tuple[Array, Array, Array]:
    """Return a random step: h, target and one alpha per dimension.

    ``rng = numpy.random.default_rng(seed)`` draws, in this order, h from a standard normal distribution,
    alpha from a normal distribution, target as h. Then h and target are normalised. The seeds 0, 1 and 42
    with dim 1024, mean 0.3 and std 0.1 give the note's three off-plane norms; order and seeds were found by
    search, since the note does not give them (ng-off-plane).

    Parameters
    ----------
    dim
        The number of dimensions, an integer >= 2.
    mean, std
        Of the alphas; std >= 0.
    seed
        What ``numpy.random.default_rng`` takes: an integer, a generator, ...
    theta
        The angle between h and target, in [0, pi]: target is then turned to it in the plane of the two. By
        default it is left as drawn, near pi/2.

    Returns
    -------
    tuple
        h, target, alpha: NumPy arrays of shape (dim,), h and target of norm 1.

    Raises
    ------
    ValueError
        dim < 2, std < 0, mean or std not finite, theta outside [0, pi].
    TypeError
        dim that is no integer, mean, std or theta no real number.
    """
    try:
        count = operator.index(dim)
    except TypeError:
        raise TypeError(f"dim must be an integer: got {type(dim).__name__}") from None
    if count < 2:
        raise ValueError(f"dim must be at least 2: got {count}")
    _, (mean, std), _ = as_floats(mean=mean, std=std)
    refuse(np, ~np.isfinite(mean), "mean", mean, "be finite")
    refuse(np, ~(np.isfinite(std) & (std >= 0)), "std", std, "be finite and not negative")
    rng = np.random.default_rng(seed)
    h = rng.standard_normal(count)
    alpha = rng.normal(mean, std, count)
    target = rng.standard_normal(count)
    h /= np.linalg.norm(h)
    if theta is not None:
        _, (theta,), _ = as_floats(theta=theta)
        theta = as_angles(np, theta)
        across = target - h * (h @ target)
        target = np.cos(theta) * h + np.sin(theta) * (across / np.linalg.norm(across))
    return h, target / np.linalg.norm(target), alpha


def _table() -> str:
    """Return the numbers of the note's per-dimension part, computed here."""
    dim, mean, std = 1024, 0.3, 0.1
    lines = [
        f"nGPT's per-dimension step, alpha from N({mean}, {std}^2), d = {dim}",
        "",
        "Three draws (order h, alpha, h_A; order and seeds found by search), and the law at their angle:",
        "   seed   theta (deg)   off-plane norm        law",
    ]
    for seed in (0, 1, 42):
        h, target, alpha = sample_step(dim, mean, std, seed)
        step = decompose(h, target, alpha)
        law = predicted_off_plane_norm(mean, std, step.theta)
        lines.append(f"  {seed:5d}{np.degrees(step.theta):14.2f}{step.off_plane_norm:17.4f}{law:11.4f}")
    right = predicted_off_plane_norm(mean, std, math.pi / 2)
    lines += [
        "",
        f"The law at 90 degrees: {right:.6f}",
        "",
        "Scalar control, alpha = 0.3 in every dimension:",
    ]
    # not by `off_plane_norm`, which gives a constant alpha 0 by construction
    rests = []
    for h, target, alpha in (sample_step(dim, mean, 0, seed) for seed in (0, 1, 42)):
        basis, _ = np.linalg.qr(np.stack([h, target], axis=1))
        step = retract(h, target, alpha)
        rests.append(np.linalg.norm(step - basis @ (basis.T @ step)))
    lines.append(f"  off-plane norm, by QR: {'at most 1e-15' if max(rests) <= 1e-15 else max(rests)}")
    lines += ["", "Contraction at theta = 0.01, the share of the angle that one step leaves:"]
    lines.append(f"  scalar alpha = {mean}:{contract(0.01, mean, 1)[1] / 0.01:20.4f}   (1 - alpha)")
    h, target, alpha = sample_step(dim, mean, std, 0, theta=0.01)
    left = angle(retract(h, target, alpha), target) / 0.01
    limit = math.hypot(1 - mean, std)
    lines.append(
        f"  per dimension, seed 0:{left:16.4f}   (sqrt((1 - mean)^2 + std^2) = {limit:.4f} as d grows)"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    print(_table())
