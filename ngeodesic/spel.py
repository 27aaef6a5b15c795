"""SPEL's step on the Stiefel manifold: its direction, its angle law, its tangency defect.

SPEL moves a weight W with W^T W = sigma^2 I against the polar factor of its projected momentum M and
retracts: W_+ = sigma msign(W - eta O) with O = msign(P(M)), P the tangent projection at W and eta the
learning rate. Wide weights are treated as the transposes of tall ones. The matrices lie along the last two
axes.

References
----------
Yang, Lai: Manifold constrained steepest descent, arXiv:2601.21487, 2026 ("the SPEL paper").
The optimizer Spel of github.com/NVIDIA-NeMo/Emerging-Optimizers.
"""

from __future__ import annotations

import math
from typing import Any

import array_api_compat

from ngeodesic._arrays import (
    Array,
    as_floats,
    as_positive,
    balanced,
    broadcast_shape,
    epsilon,
    frobenius,
    largest,
    matrices,
    own_epsilon,
    refuse,
    silent,
)
from ngeodesic.polar import polar_factor
from ngeodesic.stiefel import (
    refuse_off_manifold,
    relative_gram_defect,
    retraction,
    rounding_defect,
    tangent_part,
)
from ngeodesic.stiefel import sigma as sigma_of

__all__ = ["direction", "gaussian_tangency_defect", "rotation_angle", "spel_step"]


@silent
def direction(W: Array, M: Array, *, sigma: float = 1.0) -> Array:
    """Return the direction of SPEL's step: the polar factor of the projected momentum.

    O = msign(P(M)), P(M) = M - W sym(W^T M) / sigma^2. It is tangent itself only in special cases, such as
    one column or a square W (ng-commutator).

    Parameters
    ----------
    W
        Points of the manifold.
    M
        Matrices of the shape of W: momenta or gradients.
    sigma
        The radius of the manifold.

    Returns
    -------
    array
        Partial isometries, of the broadcast shape. Singular values of P(M) of the size of the rounding in
        it, ``(8 eps + 2 Gram defect of W) |M|_F``, count as 0: a direction that is nothing but rounding is 0.
        NaN or an infinity in W or M gives a matrix of NaN.

    Raises
    ------
    ValueError
        W off the manifold; sigma that is not positive and finite; shapes that do not fit.
    TypeError
        Arguments that are not real, or of two array libraries.
    NotImplementedError
        A second derivative, in torch; first ones are as for `polar.msign`.

    Notes
    -----
    Accuracy: nonzero singular values are 1 within 10 eps, at any scale of M; the error is a few ``eps |M|``
    divided by the smallest nonzero singular value of P(M).
    """
    radius = as_positive("sigma", sigma)
    tolerance = own_epsilon(W) ** 0.5
    xp, (W, M), restore = as_floats(W=W, M=M)
    (W, M), wide = matrices(W=W, M=M)
    result = _direction(xp, W, M, radius, tolerance)
    return restore(result.mT if wide else result)


def _direction(xp: Any, W: Array, M: Array, radius: float, tolerance: float) -> Array:
    defect = relative_gram_defect(xp, W, radius)
    refuse_off_manifold(xp, defect, tolerance, radius)
    M, _ = balanced(xp, M)
    noise = (8 * epsilon(xp, M) + 2 * defect) * frobenius(xp, M)
    return polar_factor(xp, tangent_part(xp, W, M, radius), noise)[0]


@silent
def spel_step(W: Array, M: Array, lr: Array, *, scale_mode: str = "unit_spectral_norm") -> Array:
    """Return the weight after one step of SPEL, without momentum and weight decay.

    W_+ = sigma msign(W - lr msign(P(M))) with sigma = ``stiefel.sigma(W.shape, scale_mode)`` (ng-arctan-law).

    Parameters
    ----------
    W
        Points of the manifold of this radius; ``stiefel.retract(W, 0, sigma=...)`` brings others onto it.
    M
        Matrices of the shape of W: momenta or gradients.
    lr
        The learning rate, >= 0: a number, or an array that broadcasts against the leading axes.
    scale_mode
        "unit_spectral_norm" or "unit_rms_to_rms_norm", see `stiefel.sigma`.

    Returns
    -------
    array
        Points of the manifold, of the broadcast shape; W to the last bit where lr = 0 or the direction is 0,
        if its Gram defect is at the level of rounding, see `stiefel.retract`. NaN or an infinity in W or M
        gives a matrix of NaN.

    Raises
    ------
    ValueError
        W off the manifold; lr negative, NaN or infinite; an unknown scale mode; shapes that do not fit.
    TypeError
        Arguments that are not real, or of two array libraries.
    NotImplementedError
        A second derivative, in torch; first ones are as for `polar.msign`.

    Notes
    -----
    Accuracy: Gram defect at the level of rounding, however many steps: 1e-15 in float64, 5e-7 in float32.
    """
    tolerance, rounding = own_epsilon(W) ** 0.5, rounding_defect(W)
    xp, (W, M, lr), restore = as_floats(W=W, M=M, lr=lr)
    refuse(xp, ~((lr >= 0) & xp.isfinite(lr)), "lr", lr, "be finite and not negative")
    shape = tuple(W.shape)
    shapes = {"W": shape[:-2], "M": tuple(M.shape[:-2]), "lr": tuple(lr.shape)}
    (W, M), wide = matrices(W=W, M=M)
    radius = sigma_of(shape[-2:], scale_mode)
    broadcast_shape(**shapes)
    move = -lr[..., None, None] * _direction(xp, W, M, radius, tolerance)
    point = retraction(xp, W, move, radius, rounding)
    return restore(point.mT if wide else point)


@silent
def rotation_angle(lr: Array, *, sigma: float = 1.0) -> Array:
    """Return the angle by which a step of SPEL turns, where its direction is tangent and has full rank.

    arctan(lr / sigma), in place of the geodesic's lr / sigma (ng-arctan-law): all principal angles between W
    and W_+ for one column, and all rotation angles of W^T W_+ for square W of even size.

    Parameters
    ----------
    lr
        The learning rate, a real number or an array.
    sigma
        The radius of the manifold.

    Returns
    -------
    array
        Angles in [-pi/2, pi/2], of the shape of lr. lr = sigma tan(angle) turns by a given angle.

    Raises
    ------
    ValueError
        sigma that is not positive and finite.
    TypeError
        Arguments that are not real.

    Notes
    -----
    Accuracy: 2 ulp.
    """
    radius = as_positive("sigma", sigma)
    xp, (lr, scale), restore = as_floats(lr=lr, sigma=radius)
    return restore(xp.atan2(lr, xp.broadcast_to(scale, lr.shape)))


_STEP = 0.25  # of the trapezoidal rule: its error is about exp(-pi^2 / _STEP) = 7e-18


@silent
def gaussian_tangency_defect(ratio: Array) -> Array:
    """Return the tangency defect of SPEL's direction for a Gaussian gradient, in the limit of large weights.

    ``|sym(W^T O)|_F / |O|_F`` as m and n grow with n/m = ratio, for sigma = 1, O = msign(P(G)) and G with
    independent standard normal entries (ng-gaussian-defect). The limit is D, where
    D^2 = lambda / (4 pi^2) * Integral Integral_0^oo (t u)^(-1/2) X R / (S (S - lambda R)) dt du,
    with lambda = 1/ratio - 1, X = x y, S = 1 + (x + y)/2, R = X (1 + x/2) (1 + y/2) / ((1 + x) (1 + y)), and
    x = x(t), y = x(u) > 0 given by t = 1/x - 1/(2 + x) - lambda / (1 + x).

    Parameters
    ----------
    ratio
        n/m, in (0, 1]: columns over rows of a tall weight, rows over columns of a wide one.

    Returns
    -------
    array
        Limits in [0, 0.2038], of the shape of ratio: ratio/4 to first order, largest at 0.770, and 0 at 1,
        where W is square.

    Raises
    ------
    ValueError
        ratio outside (0, 1].
    TypeError
        An argument that is not real.

    Notes
    -----
    Accuracy: 1e-14, relative. All terms of the integral are positive. In t = (a sinh z)^2 its integrand is
    even and analytic in a strip of half-width pi/2, so that the trapezoidal rule converges exponentially.
    """
    xp, (ratio,), restore = as_floats(ratio=ratio)
    refuse(xp, (ratio <= 0) | (ratio > 1), "ratio", ratio, "lie in (0, 1]")
    inside = (ratio > epsilon(xp, ratio)) & (ratio < 1)
    rate = xp.where(inside, ratio, 0.5)
    rate = ((1 - rate) / rate)[..., None]
    # below the root of the smallest point of the spectrum, from which the nearest singularity of x comes
    scale = rate / (3 + 2 * xp.sqrt(rate))
    last = largest(xp, xp.asinh(1e6 * (2 + xp.sqrt(rate)) / scale))
    device = array_api_compat.device(ratio)
    z = _STEP * xp.arange(math.ceil(last / _STEP), dtype=ratio.dtype, device=device)
    x = _resolvent((scale * xp.sinh(z)) ** 2, rate, xp)
    weight = xp.where(z == 0, 0.5, 1.0) * scale * xp.cosh(z)
    integral = xp.zeros_like(rate)
    for i in range(z.shape[0]):
        y = x[..., i : i + 1]
        X, S = x * y, 1 + (x + y) / 2
        R = X * (1 + x / 2) * (1 + y / 2) / ((1 + x) * (1 + y))
        part = xp.sum(weight * X * R / (S * (S - rate * R)), axis=-1, keepdims=True)
        integral = integral + weight[..., i : i + 1] * part
    root = xp.sqrt(rate * integral)[..., 0] * (_STEP / math.pi)
    return restore(xp.where(inside, root, xp.where(ratio == 1, 0.0, ratio / 4)))


def _resolvent(t: Array, rate: Array, xp: Any) -> Array:
    """Return the positive root x of t = 1/x - 1/(2 + x) - rate / (1 + x)."""
    # Newton's method for log(x (2 + x) (t + rate / (1 + x)) / 2) = 0 in log x, whose slope lies in (0.8, 2)
    x = 1 / (1 + t + rate)
    for _ in range(8):
        pull = t + rate / (1 + x)
        slope = 1 + x / (2 + x) - rate * x / (1 + x) ** 2 / pull
        x = x * xp.exp(-xp.log(x * (2 + x) * pull / 2) / slope)
    return x
