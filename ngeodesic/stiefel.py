"""The Stiefel manifold of radius sigma: tangent projection, retraction, exponential maps, defects.

A weight W of shape (m, n) lies on it if W^T W = sigma^2 I (tall or square, m >= n) or W W^T = sigma^2 I
(wide, m < n). The wide case is the transpose of the tall one, for which the formulas stand here. sym(A) = (A
+ A^T)/2. The matrices lie along the last two axes, the other axes broadcast; the base point comes first.

A function that needs W on the manifold refuses a Gram defect above the square root of the eps of W's own
dtype.

References
----------
Absil, Mahony, Sepulchre: Optimization Algorithms on Matrix Manifolds, Princeton University Press, 2008.
Edelman, Arias, Smith: The Geometry of Algorithms with Orthogonality Constraints, SIAM J. Matrix Anal. Appl.
20, 1998 ("Edelman et al.").
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import array_api_compat
import numpy as np

from ngeodesic._arrays import (
    Array,
    as_floats,
    as_index,
    as_positive,
    balanced,
    choose,
    constant,
    epsilon,
    frobenius,
    gram_matrix,
    identity,
    largest,
    matrices,
    minus_identity,
    own_epsilon,
    plus_product,
    refuse_matrix,
    silent,
    symmetric_product,
    wants_gradient,
)
from ngeodesic.polar import msign, near_polar, polar_factor

__all__ = [
    "exp",
    "gram_defect",
    "project_tangent",
    "random_point",
    "retract",
    "sigma",
    "tangency_defect",
]

SCALE_MODES = {
    "unit_spectral_norm": lambda m, n: 1.0,
    "unit_rms_to_rms_norm": lambda m, n: math.sqrt(m / n),
}
_METRICS = {"euclidean": True, "canonical": False}


def sigma(shape: tuple[int, ...], scale_mode: str) -> float:
    """Return the radius of the manifold on which SPEL keeps a weight.

    1 for "unit_spectral_norm", sqrt(m/n) for "unit_rms_to_rms_norm" (ng-scaled-retraction). With the latter
    the entries of W x have the root mean square of those of x: for every x if W is tall or square, for x in
    the row space of W if it is wide.

    Parameters
    ----------
    shape
        (m, n) = (out, in), or with leading axes (..., m, n).
    scale_mode
        "unit_spectral_norm" or "unit_rms_to_rms_norm"; both treat tall and wide weights alike, so a weight of
        shape (2, 4) has sigma = sqrt(2/4) = 0.707... in the second.

    Returns
    -------
    float
        sigma > 0.

    Raises
    ------
    ValueError
        A shape with less than two axes, one of length 0 or one that no array has; an unknown scale mode.
    TypeError
        A shape that does not hold integers, a scale mode that is no string.
    """
    radius = choose("scale_mode", scale_mode, SCALE_MODES)
    return float(radius(*_sizes(shape)[-2:]))


def _sizes(shape: Any) -> tuple[int, ...]:
    try:
        given = tuple(shape)
    except TypeError:
        raise TypeError(f"shape must be (m, n) or (..., m, n): got {type(shape).__name__}") from None
    sizes = tuple(as_index(f"shape[{i}]", size) for i, size in enumerate(given))
    if len(sizes) < 2 or min(sizes) < 1:
        raise ValueError(f"shape must be (m, n) or (..., m, n), of positive integers: got {sizes}")
    if max(sizes) >= 2**63:
        raise ValueError("shape must hold integers below 2^63, as every array does")
    return sizes


@silent
def project_tangent(W: Array, G: Array, *, sigma: float = 1.0) -> Array:
    """Return the orthogonal projection of G onto the tangent space at W.

    P(G) = G - W sym(W^T G) / sigma^2 (ng-tangent-projection); V is tangent if sym(W^T V) = 0.

    Parameters
    ----------
    W
        Points of the manifold.
    G
        Matrices of the shape of W, for instance gradients.
    sigma
        The radius of the manifold.

    Returns
    -------
    array
        The projections, of the broadcast shape. NaN in W or G gives a matrix of NaN, an infinity one without
        finite entries.

    Raises
    ------
    ValueError
        W off the manifold; sigma that is not positive and finite; shapes that do not fit.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: a few ``eps |G|``; if the projection is much smaller than G, all its digits may be rounding. Off
    the manifold the formula is no projection, so W is checked, but by one fixed vector p only, since a full
    check would cost as much as a third of the projection. The entries of p have irregular signs and sizes in
    [1, 2]. With E = W^T W / sigma^2 - I, ``|E p| / |p|`` is an estimate of the Gram defect, refused above
    twice its tolerance; and an entry of E p above a quarter of that of p is refused, hence each column that
    is 0, twice as long or a copy of another, among columns otherwise right. What E does across p is not seen:
    a defect E = e u u^T along a unit vector u counts as ``|e u . p| / |p|``, for 8 of 100 vectors a tenth of
    the Gram defect or less.
    """
    radius = as_positive("sigma", sigma)
    tolerance = own_epsilon(W) ** 0.5
    xp, (W, G), restore = as_floats(W=W, G=G)
    (W, G), wide = matrices(W=W, G=G)
    w = _over(W, radius)
    _refuse_by_probe(xp, W, constant(w), 2 * tolerance, radius)
    tangent = tangent_part(xp, w, G, 1.0)
    return restore(tangent.mT if wide else tangent)


def _over(W: Array, radius: float) -> Array:
    return W if radius == 1 else W / radius


def _refuse_by_probe(xp: Any, W: Array, w: Array, tolerance: float, radius: float) -> None:
    """Raise the ValueError of `refuse_off_manifold` by one vector, for W and w = W / sigma."""
    numbers, length = _probe(w.shape[-1])
    probe = xp.asarray(numbers, dtype=w.dtype, device=array_api_compat.device(w))
    error = w.mT @ (w @ probe) - probe
    defect = frobenius(xp, error) / length
    # an entry of E p is at most |E p|, and one of p at least 1 and at most 2
    if not xp.all(defect <= min(tolerance, 0.125 / math.sqrt(w.shape[-1]))):
        worst = xp.max(xp.abs(error / probe), axis=-2, keepdims=True)
        defect = _infinite(xp, xp.where(worst > 0.25, worst, defect), W)
        refuse_off_manifold(xp, defect, tolerance, radius)


@cache
def _probe(n: int) -> tuple[Array, float]:
    numbers = np.random.default_rng(0).uniform(-1, 1, (n, 1))
    numbers += np.copysign(1, numbers)
    return numbers, float(np.linalg.norm(numbers))


def tangent_part(xp: Any, W: Array, G: Array, radius: float) -> Array:
    """`project_tangent` of tall matrices, unchecked."""
    w = _over(W, radius)  # first, so that no product leaves the range of G
    return plus_product(xp, G, w, symmetric_product(xp, w, G, -0.5))


def relative_gram_defect(xp: Any, W: Array, radius: float) -> Array:
    """`gram_defect` of tall matrices, of shape (..., 1, 1)."""
    error = minus_identity(xp, gram_matrix(xp, _over(W, radius)))
    return _infinite(xp, frobenius(xp, error) / math.sqrt(W.shape[-1]), W)


def _infinite(xp: Any, defect: Array, W: Array) -> Array:
    """Return the defect, infinite where it is NaN though W is finite: there squares overflow."""
    unknown = xp.isnan(defect)
    if not xp.any(unknown):
        return defect
    finite = xp.all(xp.isfinite(W), axis=(-2, -1), keepdims=True)
    return xp.where(unknown & finite, xp.inf, defect)


def refuse_off_manifold(xp: Any, defect: Array, tolerance: float, radius: float) -> None:
    """Raise a ValueError for the first matrix whose defect, of shape (..., 1, 1), exceeds the tolerance."""
    remedy = "retract(W, 0)" if radius == 1 else f"retract(W, 0, sigma={radius:.6g})"
    problem = (
        f"W must be on the Stiefel manifold with sigma = {radius:.6g}, Gram defect at most {tolerance:.2g} "
        f"({remedy} brings it there)"
    )
    refuse_matrix(xp, defect > tolerance, problem, defect)


@silent
def retract(W: Array, V: Array, *, sigma: float = 1.0) -> Array:
    """Return the polar retraction: move along V and come back to the nearest point of the manifold.

    R(W, V) = sigma msign(W + V) (ng-scaled-retraction).

    Parameters
    ----------
    W
        Points of the manifold. Others are taken too: retract(W, 0) brings them onto it.
    V
        Matrices of the shape of W, tangent at W or not, or the number 0.
    sigma
        The radius of the manifold.

    Returns
    -------
    array
        Points of the manifold, of the broadcast shape. For V = 0 it is W to the last bit, if the Gram defect
        of W is at the level of rounding: at most 64 eps, or 2 eps for float16 and bfloat16 with their own
        eps. NaN or an infinity in W or V gives a matrix of NaN.

    Raises
    ------
    ValueError
        W + V without full rank, which no tangent V gives; sigma that is not positive and finite; shapes that
        do not fit.
    TypeError
        Arguments that are not real, or of two array libraries.
    NotImplementedError
        In torch, a second derivative where it takes a singular value decomposition.

    Notes
    -----
    Derivatives in torch, backward or forward, are right also at V = 0, where the result is W but for rounding
    if one is wanted. By Newton-Schulz steps there are second ones too, backward twice or forward over
    backward, with an error of about sqrt(eps).

    Accuracy: the polar factor to working precision; Gram defect at most 4 eps or so, however many steps. If
    W + V is near to a multiple of a point of the manifold, as after a step of SPEL, one to three
    Newton-Schulz steps give it, with coefficients and number from a bound on the singular values. Otherwise
    it takes a singular value decomposition; then the relative error grows as the condition number of W + V.
    """
    radius = as_positive("sigma", sigma)
    rounding = rounding_defect(W)
    xp, (W, V), restore = as_floats(W=W, V=V)
    if V.ndim == 0 and V == 0:
        V = xp.zeros_like(W)
    (W, V), wide = matrices(W=W, V=V)
    point = retraction(xp, W, V, radius, rounding)
    return restore(point.mT if wide else point)


def rounding_defect(W: Array) -> float:
    """Return the Gram defect up to which W, as it comes, counts as a point of the manifold but for
    rounding."""
    eps = own_epsilon(W)
    return 64 * eps if eps < 1e-6 else 2 * eps


def retraction(xp: Any, W: Array, V: Array, radius: float, rounding: float) -> Array:
    """`retract` of tall matrices: W itself where V = 0 and the Gram defect of W is at most `rounding`."""
    X = W + V
    factor = near_polar(xp, X)
    if factor is None:
        factor, lost = polar_factor(xp, X)
        least = X.shape[-2] * epsilon(xp, X)
        problem = f"W + V must have full rank, smallest over largest singular value above {least:.2g}"
        refuse_matrix(xp, ~xp.isnan(lost), problem, lost)
    point = factor if radius == 1 else radius * factor
    still = xp.all(V == 0, axis=(-2, -1), keepdims=True)
    if wants_gradient(X) or not xp.any(still):
        return point
    return xp.where(still & (relative_gram_defect(xp, W, radius) <= rounding), W, point)


@silent
def exp(W: Array, V: Array, *, sigma: float = 1.0, metric: str = "euclidean") -> Array:
    """Return the exponential map: the end of the geodesic that starts at W with the velocity V, at time 1.

    With skew A = W^T V and B, orthonormal columns whose span holds W and V, for sigma = 1 (Edelman et al.,
    sections 2.2.2 and 2.4.1):
    "euclidean", the metric <V, V'>: B expm(B^T (V W^T - W V^T) B) B^T W expm(-A);
    "canonical", <V, (I - W W^T / 2) V'>: B expm(B^T (V W^T - W V^T - W A W^T) B) B^T W.

    Parameters
    ----------
    W
        Points of the manifold.
    V
        Tangent vectors at W, of the shape of W: sym(W^T V) = 0. What is normal in them is left out; it may
        be rounding, ``|sym(W^T V)|_F <= sqrt(eps) sigma max(sigma, |V|_F)``, eps that of W or V,
        whichever is the larger. So a V below sqrt(eps) sigma may have any direction.
    sigma
        The radius of the manifold: exp(W, V) = sigma exp_1(W / sigma, V / sigma).
    metric
        "euclidean" (the default, of the space of matrices around the manifold) or "canonical".

    Returns
    -------
    array
        Points of the manifold, of the broadcast shape; W to the last bit for V = 0, as for `retract`. NaN or
        an infinity in W or V gives a matrix of NaN.

    Raises
    ------
    ValueError
        W off the manifold; V not tangent, or longer than 0.01 sigma / eps, with eps of float64, or of float32
        for all smaller types: then rounding leaves less than two digits of the angles; sigma that is not
        positive and finite; an unknown metric; shapes that do not fit.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: Gram defect at the level of rounding for every V; the error is a few ``eps max(1, |V|/sigma)``,
    since a rotation by a large angle is known no better than the angle. With a gradient the exponentials are
    those of m x m matrices even if n is much smaller.
    """
    radius, euclidean = as_positive("sigma", sigma), choose("metric", metric, _METRICS)
    tolerances = own_epsilon(W) ** 0.5, max(own_epsilon(W), own_epsilon(V)) ** 0.5
    rounding = rounding_defect(W)
    xp, (W, V), restore = as_floats(W=W, V=V)
    (W, V), wide = matrices(W=W, V=V)
    refuse_off_manifold(xp, relative_gram_defect(xp, W, radius), tolerances[0], radius)
    W, V = xp.broadcast_arrays(W, V)
    w, v = W / radius, V / radius
    invalid = ~xp.all(xp.isfinite(V), axis=(-2, -1), keepdims=True)
    v = xp.where(invalid, 0.0, v)
    _refuse_vectors(xp, constant(w), constant(v), radius, tolerances[1])
    A = w.mT @ v
    A = (A - A.mT) / 2
    basis = None
    a, b = w, v
    if w.shape[-2] > 2 * w.shape[-1] and not wants_gradient(w + v):
        basis = xp.linalg.qr(xp.concat([w, v], axis=-1))[0]
        a, b = basis.mT @ w, basis.mT @ v
    turn = b @ a.mT - a @ b.mT
    change = _expm1(xp, turn if euclidean else turn - a @ A @ a.mT) @ a
    if basis is not None:
        change = basis @ change
    if euclidean:
        change = change + (w + change) @ _expm1(xp, -A)
    # squaring has multiplied the rounding by |V|, which the retraction takes out again
    point = retraction(xp, W, radius * change, radius, rounding)
    point = xp.where(invalid, xp.nan, point)
    return restore(point.mT if wide else point)


def _refuse_vectors(xp: Any, w: Array, v: Array, radius: float, tolerance: float) -> None:
    """Raise a ValueError for the first vector, over sigma, that is too long for `exp` or not tangent."""
    x, power = balanced(xp, v)
    size = frobenius(xp, x) * power
    size = xp.where(xp.isnan(size), xp.inf, size)  # V over sigma overflows
    limit = 0.01 / epsilon(xp, v)
    problem = f"V must have a Frobenius norm of at most 0.01 sigma / eps = {limit * radius:.3g}"
    refuse_matrix(xp, size > limit, problem, size * radius)
    off = frobenius(xp, symmetric_product(xp, w, v, 0.5)) / xp.where(size > 1, size, 1.0)
    problem = (
        f"V must be tangent at W (project_tangent makes it so), |sym(W^T V)|_F over sigma max(sigma, |V|_F) "
        f"at most {tolerance:.2g}"
    )
    refuse_matrix(xp, off > tolerance, problem, off)


_PADE = tuple(math.comb(6, k) * math.factorial(12 - k) / math.factorial(12) for k in range(7))


def _expm1(xp: Any, S: Array) -> Array:
    """Return expm(S) - I of skew matrices, by the [6/6] Pade approximant and doubling.

    With expm(S) - I in place of expm(S), doubling loses no digits of a small S.
    """
    square = -gram_matrix(xp, S)
    size = largest(xp, frobenius(xp, square)) ** 0.5  # at least |S|_2
    doublings = max(0, math.ceil(math.log2(size)) + 1) if 0 < size < math.inf else 0
    S, square, eye = S / 2.0**doublings, square / 4.0**doublings, identity(xp, S)
    fourth = gram_matrix(xp, square)
    odd = S @ (_PADE[1] * eye + _PADE[3] * square + _PADE[5] * fourth)
    even = _PADE[0] * eye + _PADE[2] * square + _PADE[4] * fourth + _PADE[6] * (fourth @ square)
    # nearly orthogonal up to a factor; the derivative of torch's solve, taken forward twice, is wrong
    change = xp.linalg.inv(even - odd) @ (2 * odd)
    for _ in range(doublings):
        change = 2 * change + change @ change
    return change


@silent
def gram_defect(W: Array, *, sigma: float = 1.0) -> Array:
    """Return how far W is from the manifold of radius sigma.

    ``|W^T W - sigma^2 I|_F / (sigma^2 sqrt n)``, n the smaller side (ng-scaled-retraction): the root mean
    square of s^2 / sigma^2 - 1 over the singular values s of W.

    Parameters
    ----------
    W
        Matrices, tall, wide (W W^T in place of W^T W) or square.
    sigma
        The radius of the manifold.

    Returns
    -------
    array
        Defects >= 0, of the shape of the leading axes; 0 on the manifold. NaN in a matrix gives NaN.

    Raises
    ------
    ValueError
        Less than two axes, no rows or columns; sigma that is not positive and finite.
    TypeError
        W that is not real.

    Notes
    -----
    Accuracy: about eps, absolute. It is computed in float32 for float16 and bfloat16.
    """
    radius = as_positive("sigma", sigma)
    xp, (W,), restore = as_floats(W=W)
    (W,), _ = matrices(W=W)
    return restore(relative_gram_defect(xp, W, radius)[..., 0, 0])


@silent
def tangency_defect(W: Array, V: Array) -> Array:
    """Return how far V is from being tangent at W.

    ``|sym(W^T V)|_F / (sigma |V|_F)`` with sigma = ``|W|_F / sqrt n``, n the smaller side
    (ng-tangent-projection): the share of V that lies along the normals at W, the sine of its angle to the
    tangent space.

    Parameters
    ----------
    W
        Points of a manifold, of any radius.
    V
        Matrices of the shape of W.

    Returns
    -------
    array
        Defects, of the broadcast shape of the leading axes: in [0, 1] for W on the manifold, 0 if V is
        tangent or 0, 1 if it is normal. W is not checked; off the manifold a defect may exceed 1. NaN or an
        infinity in W or V gives NaN.

    Raises
    ------
    ValueError
        Shapes that do not fit.
    TypeError
        Arguments that are not real, or of two array libraries.

    Notes
    -----
    Accuracy: a few eps, absolute, at every scale of W and V.
    """
    xp, (W, V), restore = as_floats(W=W, V=V)
    (W, V), _ = matrices(W=W, V=V)
    (W, _), (V, _) = balanced(xp, W), balanced(xp, V)
    size = frobenius(xp, W) * frobenius(xp, V) / math.sqrt(W.shape[-1])
    defect = frobenius(xp, symmetric_product(xp, W, V, 0.5)) / xp.where(size == 0, 1.0, size)
    return restore(defect[..., 0, 0])


@silent
def random_point(shape: tuple[int, ...], *, sigma: float = 1.0, seed: Any) -> Array:
    """Return random points, uniformly distributed on the manifold.

    sigma msign(X), X with independent standard normal entries. They come from a child of the generator
    ``numpy.random.default_rng(seed)``, so that a gradient drawn with the same seed is not X itself, which is
    normal to the manifold.

    Parameters
    ----------
    shape
        (m, n), or (..., m, n) for many points.
    sigma
        The radius of the manifold.
    seed
        What ``numpy.random.default_rng`` takes: an integer, a generator, ...

    Returns
    -------
    array
        A NumPy array of float64.

    Raises
    ------
    ValueError
        A shape with less than two axes or one of length 0, sigma that is not positive and finite, a negative
        seed.
    TypeError
        A shape that does not hold integers, sigma that is no real number, a seed of another kind.
    """
    radius, sizes = as_positive("sigma", sigma), _sizes(shape)
    try:
        (child,) = np.random.default_rng(seed).spawn(1)
    except (TypeError, ValueError) as error:
        problem = f"seed must be what numpy.random.default_rng takes, such as an integer >= 0: got {seed!r}"
        raise type(error)(problem) from None
    return radius * msign(child.standard_normal(sizes))
