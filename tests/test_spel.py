"""SPEL's step: direction, angle law, Gram defect after many steps, the Gaussian tangency defect."""

from __future__ import annotations

import math
import warnings
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.linalg
from stiefel_grid import MODES, SHAPES, SMALL

from ngeodesic.polar import msign
from ngeodesic.spel import direction, gaussian_tangency_defect, rotation_angle, spel_step
from ngeodesic.stiefel import (
    exp,
    gram_defect,
    project_tangent,
    random_point,
    sigma,
    tangency_defect,
)

REASON = "torch is an optional extra"
BOUND = {np.float64: 1e-13, np.float32: 1e-6}
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)
every_mode = pytest.mark.parametrize("mode", MODES)
every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])
loads_forward_mode = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")


def gaussian(shape: tuple[int, ...], seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def angles(W: Any, V: Any, radius: float) -> Any:
    """All rotation angles of square matrices, the principal angle of vectors."""
    if W.shape[0] == W.shape[1]:
        return np.abs(np.angle(np.linalg.eigvals(W.T @ V / radius**2)))
    w, v = W.ravel() / radius, V.ravel() / radius
    return np.atleast_1d(2 * math.atan2(np.linalg.norm(w - v), np.linalg.norm(w + v)))


# the step


@every_shape
@every_mode
@every_dtype
def test_the_step_stays_on_the_manifold(shape: tuple[int, int], mode: str, dtype: Any) -> None:
    radius = sigma(shape, mode)
    W = random_point(shape, sigma=radius, seed=0).astype(dtype)
    for step in range(10 if max(shape) <= 65 else 3):
        W = spel_step(W, gaussian(shape, step).astype(dtype), 0.1, scale_mode=mode)
        assert W.dtype == dtype
        assert gram_defect(W, sigma=radius) <= BOUND[dtype]
        assert gram_defect(W.astype(float), sigma=radius) <= BOUND[dtype]


@pytest.mark.parametrize("shape", [(1, 1), (8, 1), (1, 8), (5, 7), (7, 5), (9, 9)], ids=str)
@every_mode
@every_dtype
def test_a_thousand_steps(shape: tuple[int, int], mode: str, dtype: Any) -> None:
    radius = sigma(shape, mode)
    W = random_point(shape, sigma=radius, seed=0).astype(dtype)
    for G in gaussian((1000, *shape)).astype(dtype):
        W = spel_step(W, G, 0.02, scale_mode=mode)
    assert gram_defect(W.astype(float), sigma=radius) <= BOUND[dtype]


@pytest.mark.parametrize("shape", SMALL, ids=str)
@every_mode
def test_the_step_is_its_definition(shape: tuple[int, int], mode: str) -> None:
    """sigma msign(W - lr msign(P(M))), P and msign written out and taken from scipy."""
    radius = sigma(shape, mode)
    W, M = random_point(shape, sigma=radius, seed=0), gaussian(shape)
    w, m = (W, M) if shape[0] >= shape[1] else (W.T, M.T)
    P = m - w @ (w.T @ m + m.T @ w) / (2 * radius**2)
    if len(P) == P.shape[1] and len(P) % 2:
        u, s, vt = np.linalg.svd(P)  # a skew matrix of odd size lacks one rank
        O = u[:, : len(s) - 1] @ vt[: len(s) - 1]
        tolerance = 1e-12
    else:
        O = scipy.linalg.polar(P)[0]
        tolerance = 1e-13
    for lr in (1e-3, 0.1, 10):
        expected = radius * scipy.linalg.polar(w - lr * O)[0]
        result = spel_step(W, M, lr, scale_mode=mode)
        result = result if shape[0] >= shape[1] else result.T
        np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance)


@every_shape
def test_the_step_of_the_transpose(shape: tuple[int, int]) -> None:
    W, M = random_point(shape, seed=0), gaussian(shape)
    result = spel_step(W.T, M.T, 0.1)
    np.testing.assert_allclose(result, spel_step(W, M, 0.1).T, rtol=0, atol=1e-10)


@every_mode
def test_only_the_direction_of_the_momentum_counts(mode: str) -> None:
    for shape in ((7, 5), (5, 7), (6, 6)):
        W, M = random_point(shape, sigma=sigma(shape, mode), seed=0), gaussian(shape)
        expected = spel_step(W, M, 0.1, scale_mode=mode)
        for scale in (1e-300, 7, 1e300):
            result = spel_step(W, scale * M, 0.1, scale_mode=mode)
            np.testing.assert_allclose(result, expected, rtol=0, atol=1e-14)


@every_shape
@every_dtype
def test_what_does_not_move(shape: tuple[int, int], dtype: Any) -> None:
    """No learning rate, no momentum, a momentum along the normals: the weight is the same to the last bit."""
    W, M = random_point(shape, seed=0).astype(dtype), gaussian(shape).astype(dtype)
    np.testing.assert_array_equal(spel_step(W, M, 0), W)
    np.testing.assert_array_equal(spel_step(W, 0 * M, 0.1), W)
    S = gaussian((min(shape),) * 2).astype(dtype)
    normal = W @ (S + S.T) if shape[0] >= shape[1] else (S + S.T) @ W
    assert not direction(W, normal).any()
    np.testing.assert_array_equal(spel_step(W, normal, 0.1), W)


@pytest.mark.parametrize("size", [1e-8, 1e-5, 1e-2])
def test_a_small_tangent_part_beside_a_large_normal_part(size: float) -> None:
    W = random_point((7, 4), seed=0)
    S = gaussian((4, 4))
    V = project_tangent(W, gaussian((7, 4), 1))
    O = direction(W, W @ (S + S.T) + size * V)
    np.testing.assert_allclose(O, msign(V), rtol=0, atol=1e-14 / size)


def test_a_direction_of_lower_rank() -> None:
    """A square weight of odd size: P is skew, so one direction stays."""
    W, M = random_point((33, 33), seed=0), gaussian((33, 33))
    values = np.linalg.svd(direction(W, M), compute_uv=False)
    np.testing.assert_allclose(values[:-1], 1, rtol=1e-14)
    assert values[-1] <= 1e-14
    rank_one = np.outer(gaussian((9,)), gaussian((5,), 1))
    values = np.linalg.svd(direction(random_point((9, 5), seed=0), rank_one), compute_uv=False)
    assert np.sum(values > 0.5) == 2
    assert np.all((values > 1 - 1e-14) | (values < 1e-14))


def test_batches_of_weights_and_of_learning_rates() -> None:
    W, M = random_point((2, 3, 6, 4), seed=0), gaussian((2, 3, 6, 4))
    M[1, 1] = 0
    lr = np.array([0, 0.1, 10])
    result = spel_step(W, M, lr)
    for index in np.ndindex(2, 3):
        expected = spel_step(W[index], M[index], lr[index[1]])
        np.testing.assert_allclose(result[index], expected, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(result[1, 1], W[1, 1])
    np.testing.assert_array_equal(result[0, 0], W[0, 0])
    assert spel_step(W[0, 0], M[0, 0], lr).shape == (3, 6, 4)


# the angle law


@pytest.mark.parametrize("shape", [(8, 1), (1, 8), (33, 1), (2, 2), (6, 6), (64, 64)], ids=str)
@every_mode
@pytest.mark.parametrize("lr", [1e-3, 0.1, 1, 10])
def test_all_angles_are_the_arctangent(shape: tuple[int, int], mode: str, lr: float) -> None:
    radius = sigma(shape, mode)
    W = random_point(shape, sigma=radius, seed=0)
    moved = spel_step(W, gaussian(shape), lr, scale_mode=mode)
    np.testing.assert_allclose(angles(W, moved, radius), rotation_angle(lr, sigma=radius), rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(8, 1), (6, 6), (5, 5)], ids=str)
@every_mode
def test_the_step_lies_on_the_geodesic_and_lags(shape: tuple[int, int], mode: str) -> None:
    """It is the geodesic's point at the angle arctan(lr / sigma), which lags by about (lr / sigma)^3 / 3."""
    radius = sigma(shape, mode)
    W, M = random_point(shape, sigma=radius, seed=0), gaussian(shape)
    O = direction(W, M, sigma=radius)
    for lr in (0.3, 0.03 * radius, 0.01 * radius):
        moved = spel_step(W, M, lr, scale_mode=mode)
        angle = rotation_angle(lr, sigma=radius)
        np.testing.assert_allclose(moved, exp(W, -radius * angle * O, sigma=radius), rtol=0, atol=1e-13)
    behind = angles(W, exp(W, -lr * O, sigma=radius), radius) - angles(W, moved, radius)
    assert np.max(behind) / (0.01**3 / 3) == pytest.approx(1, abs=1e-3, rel=0)
    matched = spel_step(W, M, radius * math.tan(0.3), scale_mode=mode)
    np.testing.assert_allclose(matched, exp(W, -0.3 * radius * O, sigma=radius), rtol=0, atol=1e-13)


def test_rotation_angle() -> None:
    lr = np.array([-1.0, 0, 1e-300, 0.1, 1, 1e300, np.inf])
    for radius in (1e-3, 1.0, 7.0):
        with mpmath.workdps(40):
            expected = [float(mpmath.atan(mpmath.mpf(x) / mpmath.mpf(radius))) for x in lr]
        np.testing.assert_allclose(rotation_angle(lr, sigma=radius), expected, rtol=4e-16)
    assert rotation_angle(1).dtype == np.float64
    assert rotation_angle(np.float32(0.5)).dtype == np.float32
    assert rotation_angle(np.float32(0.5)) == pytest.approx(math.atan(0.5), rel=2e-7, abs=0)
    assert np.isnan(rotation_angle(math.nan))


# the commutator


def test_the_direction_is_tangent_for_one_column_and_square_weights_only() -> None:
    for shape in ((8, 1), (1, 8), (6, 6), (5, 5)):
        W = random_point(shape, seed=0)
        assert tangency_defect(W, direction(W, gaussian(shape))) <= 1e-14
    for shape in ((7, 5), (5, 7), (64, 32)):
        W = random_point(shape, seed=0)
        assert tangency_defect(W, direction(W, gaussian(shape))) >= 0.05


@pytest.mark.parametrize("shape", [(7, 3), (9, 6), (12, 11)])
def test_the_commutator_identity(shape: tuple[int, int]) -> None:
    """sym(W^T msign(V)) = (A M^(-1/2) - M^(-1/2) A)/2 with A = W^T V and M = V^T V (ng-commutator)."""
    W = random_point(shape, seed=0)
    V = project_tangent(W, gaussian(shape))
    A, root = W.T @ V, np.linalg.inv(scipy.linalg.sqrtm(V.T @ V))
    O = direction(W, V)
    np.testing.assert_allclose((W.T @ O + O.T @ W) / 2, (A @ root - root @ A) / 2, rtol=0, atol=1e-12)


CURVE = {  # at n/m = 1/16, 1/8, 1/4, 1/2, 0.8, 0.89, 0.985, 1, as first measured, with three decimals
    (1536, 96): 0.016,
    (768, 96): 0.034,
    (384, 96): 0.073,
    (192, 96): 0.156,
    (120, 96): 0.204,
    (108, 96): 0.190,
    (131, 129): 0.110,
    (96, 96): 0.0,
}


@pytest.mark.parametrize(("shape", "paper"), CURVE.items(), ids=str)
def test_the_measured_curve_of_the_tangency_defect(shape: tuple[int, int], paper: float) -> None:
    draws = 10
    found = []
    for seed in range(draws):
        W = random_point(shape, seed=seed)
        found.append(float(tangency_defect(W, direction(W, gaussian(shape, seed)))))
    error = np.std(found, ddof=1) / math.sqrt(draws)
    assert abs(np.mean(found) - paper) <= 3 * error + 1e-3
    # the limit, but for the small size
    limit = gaussian_tangency_defect(shape[1] / shape[0])
    assert np.mean(found) == pytest.approx(limit, rel=0.08, abs=1e-12)


def by_double_sum(ratio: str) -> Any:
    """The integral before it was rewritten, in t and u, by tanh-sinh sums at 40 digits."""
    lam, v = 1 / mpmath.mpf(ratio) - 1, mpmath.mpf(1) / 2

    def x_of(t: Any) -> Any:
        def off(y: Any) -> Any:
            x = mpmath.exp(y)
            return mpmath.log(x * (2 + x) * (t + lam / (1 + x)) / 2)

        x = mpmath.exp(mpmath.findroot(off, -mpmath.log(1 + t + lam)))
        assert mpmath.almosteq(1 / x - v / (1 + v * x) - lam / (1 + x), t, 1e-30, 1e-30)
        return x

    x0 = x_of(mpmath.mpf(0))
    step = mpmath.mpf(1) / 13
    nodes = []
    for k in range(-57, 58):
        w = mpmath.sqrt(1 + lam) * mpmath.exp(mpmath.sinh(k * step) * mpmath.pi / 2)
        nodes.append((x_of(w * w), w * mpmath.cosh(k * step) * mpmath.pi / 2 * step))
    total = mpmath.fsum(a * b * v * x * y / (1 + v * (x + y)) for x, a in nodes for y, b in nodes)
    return mpmath.sqrt((v * x0 / (1 + v * x0) - 4 * total / mpmath.pi**2) / 2)


@pytest.mark.parametrize("ratio", ["0.0625", "0.5", "0.9375"])
def test_the_limit_against_its_first_form(ratio: str) -> None:
    with mpmath.workdps(40):
        expected = float(by_double_sum(ratio))
    assert gaussian_tangency_defect(float(ratio)) == pytest.approx(expected, rel=1e-13, abs=0)


def test_the_limit_at_its_ends() -> None:
    assert gaussian_tangency_defect(1) == 0
    small = np.array([1e-300, 1e-12, 1e-6])
    np.testing.assert_allclose(gaussian_tangency_defect(small), small / 4, rtol=2e-6)
    near = gaussian_tangency_defect(1 - np.array([1e-2, 1e-8, 2.0**-53]))
    assert np.all(np.diff(near) < 0)
    assert near[-1] > 0
    ratios = np.linspace(0.01, 0.99, 99)
    curve = gaussian_tangency_defect(ratios)
    assert ratios[curve.argmax()] == pytest.approx(0.77, rel=1e-12, abs=0)
    assert curve.max() == pytest.approx(0.2038, abs=5e-5, rel=0)
    np.testing.assert_allclose([gaussian_tangency_defect(c) for c in ratios[::20]], curve[::20], rtol=1e-14)
    np.testing.assert_allclose(gaussian_tangency_defect(ratios.astype(np.float32)), curve, rtol=1e-4)
    assert np.isnan(gaussian_tangency_defect([0.5, math.nan])[1])


# kinds, NaN, errors


def test_torch_agrees_with_numpy() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    for shape in ((2, 9, 4), (4, 9), (5, 5)):
        W, M = random_point(shape, seed=0), gaussian(shape)
        w, m = torch.from_numpy(W), torch.from_numpy(M)
        np.testing.assert_allclose(spel_step(w, m, 0.1), spel_step(W, M, 0.1), rtol=0, atol=1e-12)
        np.testing.assert_allclose(direction(w, m), direction(W, M), rtol=0, atol=1e-12)
        lr = torch.tensor(0.1, dtype=torch.float64)
        assert torch.equal(spel_step(w, m, lr), spel_step(w, m, 0.1))
        with torch.no_grad():  # as in an optimizer
            assert torch.equal(spel_step(torch.nn.Parameter(w), 0 * m, 0.1), w)
    curve = gaussian_tangency_defect(torch.linspace(0.1, 1, 5, dtype=torch.float64))
    np.testing.assert_allclose(curve, gaussian_tangency_defect(np.linspace(0.1, 1, 5)), rtol=1e-13, atol=1e-9)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_small_types_in_torch(kind: str) -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    dtype = getattr(torch, kind)
    W = torch.from_numpy(random_point((9, 4), seed=0)).to(dtype)
    for step in range(20):
        W = spel_step(W, torch.from_numpy(gaussian((9, 4), step)).to(dtype), 0.1)
        assert W.dtype == dtype
        assert float(gram_defect(W)) <= torch.finfo(dtype).eps
    assert torch.equal(spel_step(W, 0 * W, 0.1), W)


@loads_forward_mode
def test_derivatives_forward_and_twice() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    W = torch.from_numpy(random_point((5, 3), seed=0))
    M, D = torch.from_numpy(np.random.default_rng(0).standard_normal((2, 5, 3)))
    for function in (lambda m: direction(W, m), lambda m: spel_step(W, m, 0.3)):
        _, change = torch.func.jvp(function, (M,), (D,))
        expected = (function(M + 1e-6 * D) - function(M - 1e-6 * D)) / 2e-6
        np.testing.assert_allclose(change, expected, rtol=0, atol=1e-8)
        for hessian in (torch.autograd.functional.hessian, lambda f, x: torch.func.hessian(f)(x)):
            with pytest.raises(NotImplementedError, match="first derivatives only"):
                hessian(lambda m, f=function: torch.sum(D * f(m)), M)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_no_matrices_at_all(library: str) -> None:
    as_array = np.asarray if library == "numpy" else pytest.importorskip("torch", reason=REASON).from_numpy
    W, none = as_array(random_point((5, 3), seed=0)), as_array(np.zeros((0, 5, 3)))
    for result in (direction(none, W), spel_step(W, none, 0.1), spel_step(W, W, none[:, 0, 0])):
        assert tuple(result.shape) == (0, 5, 3)
    assert tuple(gaussian_tangency_defect(none[:, 0, 0]).shape) == (0,)
    assert gaussian_tangency_defect([]).shape == (0,)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (6, 1)])
def test_gradients(shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    W = torch.from_numpy(random_point(shape, seed=0))
    M = torch.from_numpy(gaussian(shape)).requires_grad_()
    lr = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda m, lr: spel_step(W, m, lr), (M, lr))
    assert torch.autograd.gradcheck(lambda m: direction(W, m), (M,))
    assert torch.autograd.gradcheck(rotation_angle, (lr,))


def test_what_is_not_finite_spreads_over_its_matrix_alone() -> None:
    W, M = random_point((3, 5, 2), seed=0), gaussian((3, 5, 2))
    right = spel_step(W, M, 0.1)
    M[1, 0, 0], M[2, 4, 1] = np.nan, np.inf
    off = W.copy()
    off[1, 0, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = spel_step(W, M, 0.1)
        np.testing.assert_allclose(result[0], right[0], rtol=0, atol=1e-14)
        assert np.isnan(result[1:]).all()
        assert np.isnan(direction(W, M)[1:]).all()
        assert np.isnan(spel_step(off, np.ones_like(M), 0.1)[1]).all()


W32 = random_point((3, 2), seed=0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: spel_step(2 * W32, W32, 0.1),
            ValueError,
            r"^W must be on the Stiefel manifold with sigma = 1, .*retract\(W, 0\).*got 3$",
        ),
        (
            lambda: spel_step(W32, W32, 0.1, scale_mode="unit_rms_to_rms_norm"),
            ValueError,
            "with sigma = 1.22474",
        ),
        (lambda: direction(W32 + 1e-6, W32), ValueError, "^W must be on the Stiefel manifold"),
        (
            lambda: spel_step(np.stack([W32, 0 * W32]), W32, 0.1),
            ValueError,
            r"Stiefel manifold.*\(matrix 1\)$",
        ),
        (lambda: spel_step(W32, W32, -0.1), ValueError, "^lr must be finite and not negative: got -0.1$"),
        (lambda: spel_step(W32, W32, math.nan), ValueError, "^lr must be finite and not negative: got nan$"),
        (lambda: spel_step(W32, W32, math.inf), ValueError, "^lr must be finite and not negative: got inf$"),
        (
            lambda: spel_step(W32, W32, [0.1, -1]),
            ValueError,
            r"^lr must be finite and not negative: got -1.0 at index \(1,\)$",
        ),
        (
            lambda: spel_step(np.stack([W32] * 2), np.stack([W32] * 2), [0.1] * 3),
            ValueError,
            r"do not broadcast: W \(2,\), M \(2,\), lr \(3,\)$",
        ),
        (
            lambda: spel_step(W32, np.ones((2, 3)), 0.1),
            ValueError,
            r"different shapes: W \(3, 2\), M \(2, 3\)",
        ),
        (lambda: spel_step(np.ones(3), np.ones(3), 0.1), ValueError, r"^W must be .*got shape \(3,\)"),
        (
            lambda: spel_step(np.ones((3, 0)), np.ones((3, 0)), 0.1),
            ValueError,
            r"^W must be .*got shape \(3, 0\)",
        ),
        (
            lambda: spel_step(W32, W32, 0.1, scale_mode="rms"),
            ValueError,
            "^scale_mode must be one of 'unit_spectral_norm', 'unit_rms_to_rms_norm': got 'rms'$",
        ),
        (lambda: spel_step(W32, W32, "0.1"), TypeError, "^lr must be a real number"),
        (lambda: direction(W32, W32, sigma=-1), ValueError, "^sigma must be positive and finite: got -1.0$"),
        (lambda: rotation_angle(0.1, sigma=0), ValueError, "^sigma must be positive and finite: got 0.0$"),
        (lambda: rotation_angle("0.1"), TypeError, "^lr must be a real number"),
        (
            lambda: gaussian_tangency_defect([0.5, 0]),
            ValueError,
            r"^ratio must lie in \(0, 1\]: got 0.0 at index \(1,\)$",
        ),
        (lambda: gaussian_tangency_defect(1.5), ValueError, r"^ratio must lie in \(0, 1\]: got 1.5$"),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
