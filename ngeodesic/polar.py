"""The polar factor of a matrix: exact, by a singular value decomposition, and approximate, by Newton-Schulz.

X = U S V^T is the thin singular value decomposition. The polar factor msign(X) is U V^T, restricted to the
directions whose singular value is not 0. If X has full rank, that is the nearest matrix with orthonormal
columns (tall and square X) or rows (wide X). A Newton-Schulz iteration applies an odd polynomial p to the
singular values, with matrix products only: it gives U p(S) V^T. The matrices lie along the last two axes.

References
----------
Higham: Functions of Matrices, SIAM, 2008, chapter 8.
Jordan: Muon, github.com/KellerJordan/Muon, 2024.
Amsel, Persson, Musco, Gower: The Polar Express, arXiv:2505.16932, 2025.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from ngeodesic._arrays import (
    Array,
    as_floats,
    as_index,
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
    plus_product,
    plus_symmetric,
    silent,
    wants_gradient,
)

__all__ = ["COEFFICIENTS", "Coefficients", "msign", "newton_schulz"]


class Coefficients(NamedTuple):
    """A set of Newton-Schulz steps, see `COEFFICIENTS`."""

    steps: tuple[tuple[float, float, float], ...]
    """(a, b, c) of p(s) = a s + b s^3 + c s^5 for the first step, the second, ...; the last one repeats."""
    interval: tuple[float, float]
    """The iteration takes every singular value between these two, ends excluded, to `limit`."""
    limit: tuple[float, float]
    """The interval in which the values end, (1, 1) if they converge."""
    source: str
    """Where the coefficients come from."""


_POLAR_EXPRESS = (
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
    (3.3184196573706015, -2.488488024314874, 0.51004894012372),
    (2.300652019954817, -1.6689039845747493, 0.4188073119525673),
    (1.891301407787398, -1.2679958271945868, 0.37680408948524835),
    (1.8750014808534479, -1.2500016453999487, 0.3750001645474248),
)
_TAYLOR = (15 / 8, -10 / 8, 3 / 8)

COEFFICIENTS: Mapping[str, Coefficients] = MappingProxyType(
    {
        "cubic": Coefficients(
            ((3 / 2, -1 / 2, 0.0),),
            (0.0, math.sqrt(3)),
            (1.0, 1.0),
            "Newton-Schulz; Higham, Functions of Matrices, 2008, section 8.3",
        ),
        "classical_quintic": Coefficients(
            (_TAYLOR,),
            (0.0, math.sqrt(7 / 3)),
            (1.0, 1.0),
            "the next of the family of Newton-Schulz; arXiv:2505.16932, section 1.2",
        ),
        "muon_quintic": Coefficients(
            ((3.4445, -4.7750, 2.0315),),
            (0.0, 1.2637),
            (0.6818, 1.1344),
            "Jordan, github.com/KellerJordan/Muon, muon.py",
        ),
        "tuned_quintic": Coefficients(
            (
                (4.0848, -6.8946, 2.9270),
                (3.9505, -6.3029, 2.6377),
                (3.7418, -5.5913, 2.3037),
                (2.8769, -3.1427, 1.2046),
                (2.8366, -3.0525, 1.2012),
            ),
            (0.0, 1.3245),
            (0.98907, 0.98908),
            "Cesista, leloykun.github.io/ponder/muon-opt-coeffs; Jordan and others, github.com/KellerJordan/"
            "modded-nanogpt",
        ),
        "polar_express": Coefficients(
            # all but the last step with the safety factor 1.01
            (*((a / 1.01, b / 1.01**3, c / 1.01**5) for a, b, c in _POLAR_EXPRESS), _TAYLOR),
            (0.0, 1.01),
            (1.0, 1.0),
            "Amsel, Persson, Musco, Gower, arXiv:2505.16932, Algorithm 1, with its safety factor",
        ),
    }
)
"""The named sets of Newton-Schulz steps, see `newton_schulz`."""


_METHODS = {"svd": "svd"}


@silent
def msign(X: Array, *, method: str = "svd") -> Array:
    """Return the polar factor of X.

    U V^T of the thin singular value decomposition X = U S V^T, restricted to the nonzero singular values: a
    partial isometry of the rank of X (notation page).

    Parameters
    ----------
    X
        Matrices along the last two axes, tall, wide or square, each of its own rank.
    method
        "svd", the only one: by the singular value decomposition.

    Returns
    -------
    array
        The polar factors, of the shape of X; of a zero matrix, the zero matrix. NaN or an infinity in a
        matrix gives a matrix of NaN.

    Raises
    ------
    ValueError
        Less than two axes, no rows or columns, an unknown method.
    TypeError
        X that is not real.
    NotImplementedError
        A second derivative, in torch.

    Notes
    -----
    Derivatives in torch are first ones, backward or forward. They are right also where singular values
    coincide; where some are 0, they are those among matrices of the same rank.

    A singular value counts as 0 if it is at most max(m, n) eps times the largest, with eps of float64, or of
    float32 for all smaller types: what rounding leaves of a zero. So a matrix of rank r that has been rounded
    to float16 or bfloat16 has full rank, since that is what its entries say.

    Accuracy: the nonzero singular values of the result are 1 within 10 eps, at any scale of X; its error is a
    few eps times the condition number of X, as for every method.
    """
    choose("method", method, _METHODS)
    xp, (X,), restore = as_floats(X=X)
    (X,), wide = matrices(X=X)
    factor, _ = polar_factor(xp, X)
    return restore(factor.mT if wide else factor)


def polar_factor(xp: Any, X: Array, noise: Array | float = 0.0) -> tuple[Array, Array]:
    """Return msign of tall matrices, and the smallest singular value over the largest where it counts as 0,
    NaN elsewhere, of shape (..., 1, 1).

    A singular value counts as 0 also if it is at most `noise`, of shape (..., 1, 1).
    """
    fixed, power = balanced(xp, constant(X))
    invalid = xp.isnan(fixed[..., :1, :1])
    u, s, vt = xp.linalg.svd(xp.where(invalid, 0.0, fixed), full_matrices=False)
    s = s[..., None, :]
    kept = (s > X.shape[-2] * epsilon(xp, X) * s[..., :1]) & (s > noise / power)
    factor = xp.where(kept, u, 0.0) @ vt
    # a cubic step takes what the decomposition lacks in orthogonality, and leaves singular values of 0
    factor = factor @ (1.5 * identity(xp, factor) - 0.5 * (factor.mT @ factor))
    factor = xp.where(invalid, xp.nan, factor)
    if wants_gradient(X):
        D = _once()(X) - X.detach()
        factor = factor + _change(xp, D, u, xp.where(kept, s * power, 0.0), vt)
    ratio = s[..., -1:] / xp.where(s[..., :1] == 0, 1.0, s[..., :1])
    return factor, xp.where(kept[..., -1:] | invalid, xp.nan, ratio)


@cache
def _once() -> Callable[[Array], Array]:
    """Return the identity for torch tensors whose second derivatives raise: `_change` knows only the first,
    and what depends on its constants would be missing without a word."""
    import torch  # only a tensor comes here
    from torch.autograd import forward_ad

    problem = "the polar factor by singular values has first derivatives only: the second is not implemented"

    class Last(torch.autograd.Function):  # type: ignore[misc]
        """(change, X) to change, the first derivative at X."""

        generate_vmap_rule = True

        @staticmethod
        def forward(change: Array, X: Array) -> Array:
            return change.clone()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, *changes: Array) -> Any:
            raise NotImplementedError(problem)

        jvp = backward

    class Once(torch.autograd.Function):  # type: ignore[misc]
        generate_vmap_rule = True

        @staticmethod
        def forward(X: Array) -> Array:
            return X.clone()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, change: Array) -> Array:
            return Last.apply(change, ctx.saved_tensors[0])

        @staticmethod
        def jvp(ctx: Any, change: Array) -> Array:
            return Last.apply(change, forward_ad.unpack_dual(ctx.saved_tensors[0]).primal)

    apply: Callable[[Array], Array] = Once.apply
    return apply


def _change(xp: Any, D: Array, u: Array, s: Array, vt: Array) -> Array:
    """Return the derivative of the polar factor of U S V^T in the direction D, within the matrices of its
    rank.

    The derivative of the decomposition itself, which torch would use, divides by differences of singular
    values.
    """
    core = u.mT @ D @ vt.mT
    both = (s > 0) & (s.mT > 0)
    total = s + s.mT
    total = xp.where(total > 0, total, xp.inf)
    outside = (D @ vt.mT - u @ core) / xp.where(s > 0, s, xp.inf)
    return (u @ ((core - xp.where(both, core.mT, 0.0)) / total) + outside) @ vt


@silent
def newton_schulz(X: Array, *, steps: int, coefficients: str) -> Array:
    """Return an approximation of the polar factor, after a number of Newton-Schulz steps.

    ``X_0 = X / |X|_F``, ``X_{k+1} = a X_k + b X_k (X_k^T X_k) + c X_k (X_k^T X_k)^2``: U p(S) V^T with p the
    composition of the polynomials (ng-newton-schulz).

    Parameters
    ----------
    X
        Matrices along the last two axes, tall, wide or square. After the division their singular values are
        at most 1, whatever the scale of X.
    steps
        How many, an integer >= 0; 0 gives ``X / |X|_F``.
    coefficients
        The name of a set in `COEFFICIENTS`:

        - "cubic", "classical_quintic": converge to 1, at the end quadratically and cubically; but a small
          singular value grows only by 1.5 and 1.875 a step.
        - "muon_quintic": a small singular value grows by 3.44 a step, but none converges; they end between
          0.68 and 1.14.
        - "tuned_quintic": five steps, each tuned; then the last repeats, and the values end at 0.989.
        - "polar_express": growth by 8.2, 4.1, 3.9, 3.3, 2.3, ..., then the classical quintic. Made for
          singular values in [0.001, 1], for which the error after 8 steps is at the level of rounding.

    Returns
    -------
    array
        Of the shape of X; of a zero matrix, the zero matrix. Singular values of 0 stay 0 but for rounding,
        which grows as a small singular value does. NaN or an infinity in a matrix gives a matrix of NaN.

    Raises
    ------
    ValueError
        Less than two axes, no rows or columns, steps < 0, unknown coefficients.
    TypeError
        X that is not real, steps that is no integer.

    Notes
    -----
    Accuracy: largest error ``|p(s) - 1|`` over the singular values s in [0.001, 1] after 5, 8 and 12 steps:
    0.993, 0.975 and 0.871 for cubic; 0.977, 0.849 and 0.020 for classical_quintic; 0.53, 0.32 and 0.32 for
    muon_quintic; 0.53, 0.022 and 0.012 for tuned_quintic; 0.16, 2e-15 and 0 for polar_express. Rounding adds
    a few eps a step.
    """
    table = choose("coefficients", coefficients, COEFFICIENTS).steps
    count = as_index("steps", steps)
    if count < 0:
        raise ValueError(f"steps must not be negative: got {count}")
    xp, (X,), restore = as_floats(X=X)
    (X,), wide = matrices(X=X)
    X, _ = balanced(xp, X)
    size = frobenius(xp, X)
    X = X / xp.where(size == 0, 1.0, size)
    X = iterate(xp, X, [table[min(step, len(table) - 1)] for step in range(count)])
    return restore(X.mT if wide else X)


def iterate(xp: Any, X: Array, steps: Sequence[tuple[float, float, float]]) -> Array:
    """Return tall matrices after Newton-Schulz steps of these coefficients."""
    for a, b, c in steps:
        X = plus_product(xp, X, X, _even_part(xp, gram_matrix(xp, X), b, c), beta=a)
    return X


def iterate_small(xp: Any, X: Array, steps: Sequence[tuple[float, float, float]]) -> Array:
    """`iterate` with products of the small side only: X Q, Q a polynomial in the Gram matrix of X.

    Cheaper from m = 3 n / 2 on, if n is the small side. Rounding in the Gram matrix grows as the square of a
    small singular value does, so X Q and its Gram matrix are made anew before the growth exceeds 500.
    """
    start, growth = 0, 1.0
    for stop, (a, _, _) in enumerate(steps):
        if stop > start and growth * a > 500:
            X = plus_product(xp, X, X, _factor(xp, X, steps[start:stop]), beta=0.0)
            start, growth = stop, 1.0
        growth *= a
    return plus_product(xp, X, X, _factor(xp, X, steps[start:]), beta=0.0)


def _factor(xp: Any, X: Array, steps: Sequence[tuple[float, float, float]]) -> Array:
    """Return Q with X Q = iterate(xp, X, steps)."""
    gram = gram_matrix(xp, X)
    Q, previous = None, 0.0
    for a, b, c in steps:
        if Q is None:
            B = _even_part(xp, gram, b, c)
            Q = B + a * identity(xp, B)
        else:
            gram = plus_symmetric(xp, gram, gram, B, beta=previous)
            gram = plus_symmetric(xp, gram, gram, B, beta=previous)
            B = _even_part(xp, gram, b, c)
            Q = plus_symmetric(xp, Q, Q, B, beta=a)
        previous = a
    return Q


def _even_part(xp: Any, gram: Array, b: float, c: float) -> Array:
    return plus_symmetric(xp, gram, gram, gram, beta=b, alpha=c) if c else b * gram


def near_polar(xp: Any, X: Array) -> Array | None:
    """Return msign of tall X if X^T X is near to a multiple of the identity, otherwise None."""
    last = False
    while not last:
        found = _taylor_step(xp, X)
        if found is None:
            return None
        X, last = found
    return X


def _taylor_step(xp: Any, X: Array) -> tuple[Array, bool] | None:
    """Return a step of `near_polar`, and whether it is the last one; None if X is too far.

    With X^T X = s (I + E), msign(X) = X (I + E)^(-1/2) / sqrt s. The Taylor polynomial of the root of degree
    1, the cubic step, leaves -3/4 E^2 in place of E, to first order; that of degree 2, the classical
    quintic, leaves 5/8 E^3 (ng-newton-schulz). The bounds are in the Frobenius norm: |E^3| <= |E^2|^(3/2). X
    is kept apart from its correction, so that the rounding of the product is as small as the correction.
    """
    m, n = X.shape[-2:]
    small, smooth = 4 * epsilon(xp, X) * math.sqrt(n), wants_gradient(X)
    gram = gram_matrix(xp, X)
    scale = xp.linalg.trace(gram)[..., None, None] / n
    if not largest(xp, 1 / scale) * float(xp.finfo(X.dtype).smallest_normal) <= epsilon(xp, X):
        return None  # the Gram matrix underflows
    E = minus_identity(xp, gram / scale)
    del gram
    last = 0.75 * largest(xp, frobenius(xp, E)) ** 2 <= small
    if last and not smooth:
        E *= -0.5
    else:  # for a gradient too: the error of the cubic step has the derivative 3/2 E
        square = gram_matrix(xp, E)
        bound = largest(xp, frobenius(xp, square))
        if not bound <= 0.5:
            return None
        error = 0.625 * bound**1.5
        if error > small and m >= 3 * n:  # where products of the small side are cheap
            E, error = _long_correction(xp, E, square, small)
        else:
            square *= 0.375
            if smooth:
                E = square - 0.5 * E
            else:
                E *= -0.5
                E += square
        del square  # never more than three matrices of the size of X
        last = last or (error <= small and not smooth)
    X = plus_product(xp, X, X, E)
    X /= xp.sqrt(scale)
    return X, last


_ROOT = tuple(math.prod((-0.5 - i) / (i + 1) for i in range(k)) for k in range(14))  # (1 + e)^(-1/2)


def _long_correction(xp: Any, E: Array, square: Array, small: float) -> tuple[Array, float]:
    """Return (I + E)^(-1/2) - I by its Taylor polynomial of degree 3, 6, 9 or 12, and a bound of what is
    left."""
    cube = plus_symmetric(xp, None, E, square)
    size = largest(xp, frobenius(xp, cube)) ** (1 / 3)  # |E^k|_F <= size^k for k >= 3

    def left(degree: int) -> float:
        return float(2 * abs(_ROOT[degree + 1]) * size ** (degree + 1) / (1 - size))

    degree = next((d for d in (3, 6, 9) if left(d) <= small), 12)
    total = None
    for k in range(degree, 0, -3):  # Paterson and Stockmeyer
        block = _ROOT[k] * cube
        block += _ROOT[k - 1] * square
        block += _ROOT[k - 2] * E
        total = block if total is None else plus_symmetric(xp, block, cube, total)
    return total, left(degree)


def polar_by_products(xp: Any, X: Array) -> Array | None:
    """Return msign of a tall matrix X by products alone; None if a singular value is below some 30 eps |X|_F,
    or NaN.

    Newton-Schulz starts at X itself. Only if it is far from every multiple of a matrix with orthonormal
    columns is it divided by |X|_F, taken near by polar_express, and nearer by classical quintic steps.
    """
    far, limit = 0, 4 - math.log(32 * epsilon(xp, X) * 6000) / math.log(15 / 8)
    while far < limit:
        found = _taylor_step(xp, X)
        if found is not None:
            X, last = found
            if last:
                return X
        elif far == 0:
            X, _ = balanced(xp, X)
            size = frobenius(xp, X)
            if not size > 0:
                return None
            X = X / size
            for step in COEFFICIENTS["polar_express"].steps:
                X = iterate(xp, X, (step,))
            far = 1
        else:
            X = iterate(xp, X, (_TAYLOR,))
            far += 1
    return None
