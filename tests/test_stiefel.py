"""The Stiefel manifold: projection, retraction, exponential maps, defects, on the whole grid of shapes."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
from stiefel_grid import MODES, SHAPES, SMALL

from ngeodesic.stiefel import (
    exp,
    gram_defect,
    project_tangent,
    random_point,
    retract,
    sigma,
    tangency_defect,
)

REASON = "torch is an optional extra"
EPS = {np.float64: float(np.finfo(np.float64).eps), np.float32: float(np.finfo(np.float32).eps)}
DTYPES = [np.float64, np.float32]
METRICS = ("euclidean", "canonical")
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)
small_shape = pytest.mark.parametrize("shape", SMALL, ids=str)
every_mode = pytest.mark.parametrize("mode", MODES)
every_dtype = pytest.mark.parametrize("dtype", DTYPES)
loads_forward_mode = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")


def gaussian(shape: tuple[int, ...], seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def tangent_at(W: Any, radius: float, size: float, seed: int = 1) -> Any:
    """A tangent vector of spectral norm size * sigma."""
    V = project_tangent(W, gaussian(W.shape, seed), sigma=radius)
    norm = np.linalg.norm(V, 2)
    return V * (size * radius / norm if norm > 0 else 0.0)


def sym(A: Any) -> Any:
    return (A + A.T) / 2


def normal_product(W: Any, V: Any) -> Any:
    """sym(W^T V) of a tall, sym(V W^T) of a wide matrix, in float64."""
    W, V = np.asarray(W, float), np.asarray(V, float)
    return sym(W.T @ V) if W.shape[0] >= W.shape[1] else sym(V @ W.T)


def gram_error(W: Any, radius: float) -> float:
    """The Gram defect as the book writes it, in float64."""
    W = np.asarray(W, float)
    gram = W.T @ W if W.shape[0] >= W.shape[1] else W @ W.T
    n = len(gram)
    return float(np.linalg.norm(gram - radius**2 * np.eye(n)) / (radius**2 * math.sqrt(n)))


# sigma


def test_sigma_of_both_modes() -> None:
    for shape in SHAPES:
        assert sigma(shape, "unit_spectral_norm") == 1
        assert sigma(shape, "unit_rms_to_rms_norm") == math.sqrt(shape[0] / shape[1])
    assert sigma((2, 4), "unit_rms_to_rms_norm") == pytest.approx(0.707106781186547524, rel=1e-16, abs=0)
    assert sigma((3, 8, 2), "unit_rms_to_rms_norm") == 2


@small_shape
def test_rms_to_rms_keeps_the_size_of_activations(shape: tuple[int, int]) -> None:
    """For every x if W is tall or square, for x in its row space if it is wide."""
    W = random_point(shape, sigma=sigma(shape, "unit_rms_to_rms_norm"), seed=0)
    x = gaussian((shape[1],))
    if shape[0] < shape[1]:
        x = np.linalg.pinv(W) @ (W @ x)
    assert np.sqrt(np.mean((W @ x) ** 2)) == pytest.approx(np.sqrt(np.mean(x**2)), rel=1e-13, abs=0)


# project_tangent


@every_shape
@every_mode
@every_dtype
def test_the_projection_is_tangent(shape: tuple[int, int], mode: str, dtype: Any) -> None:
    radius = sigma(shape, mode)
    W, G = random_point(shape, sigma=radius, seed=0).astype(dtype), gaussian(shape).astype(dtype)
    V = project_tangent(W, G, sigma=radius)
    assert V.dtype == dtype
    bound = {np.float64: 1e-14, np.float32: 1e-6}[dtype]
    assert np.linalg.norm(normal_product(W, V)) <= bound * radius * np.linalg.norm(V)
    assert np.linalg.norm(project_tangent(W, V, sigma=radius) - V) <= bound * np.linalg.norm(G)


@every_shape
def test_the_projection_is_self_adjoint_and_that_of_the_transpose(shape: tuple[int, int]) -> None:
    radius = 1.7
    W = random_point(shape, sigma=radius, seed=0)
    G, H = gaussian(shape, 1), gaussian(shape, 2)
    P = project_tangent(W, G, sigma=radius)
    Q = project_tangent(W, H, sigma=radius)
    scale = np.linalg.norm(G) * np.linalg.norm(H)
    assert np.sum(P * H) == pytest.approx(np.sum(G * Q), rel=0, abs=1e-14 * scale)
    np.testing.assert_allclose(project_tangent(W.T, G.T, sigma=radius), P.T, rtol=0, atol=2e-14)


def test_the_projection_is_the_nearest_tangent_vector() -> None:
    """Against least squares over a basis of the tangent space, found from the definition."""
    W = random_point((5, 3), sigma=0.7, seed=0)
    basis = scipy.linalg.null_space(
        np.stack([sym(W.T @ e.reshape(5, 3)).ravel() for e in np.eye(15)], axis=1)
    )
    assert basis.shape == (15, 15 - 6)
    G = gaussian((5, 3))
    expected = (basis @ (basis.T @ G.ravel())).reshape(5, 3)
    np.testing.assert_allclose(project_tangent(W, G, sigma=0.7), expected, rtol=0, atol=1e-14)


def test_the_projection_at_every_scale() -> None:
    W, G = random_point((6, 4), seed=0).astype(np.float32), gaussian((6, 4)).astype(np.float32)
    P = project_tangent(W, G)
    for scale in (2.0**-100, 2.0**100):
        np.testing.assert_array_equal(project_tangent(W, G * np.float32(scale)), P * np.float32(scale))
        np.testing.assert_allclose(
            project_tangent(W * np.float32(scale), G, sigma=scale), P, rtol=0, atol=1e-6
        )


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("n", [2, 11, 64, 200])
def test_a_wrong_column_is_refused(kind: str, n: int) -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    W = torch.from_numpy(random_point((n + 3, n), seed=0)).to(getattr(torch, kind))
    for right in (W, torch.eye(n, dtype=W.dtype)):
        project_tangent(right, right)
        for column in {0, 1, n // 2, min(n - 1, 10), n - 1}:
            for wrong in (0 * right[:, column], 2 * right[:, column], right[:, column - 1]):
                X = right.clone()
                X[:, column] = wrong
                for point in (X, X.mT):
                    with pytest.raises(ValueError, match="on the Stiefel manifold"):
                        project_tangent(point, point)


def test_a_point_with_the_rounding_of_a_smaller_type() -> None:
    """Its Gram defect is near the tolerance, which the estimate of it may not narrow."""
    for n in (8, 33, 64, 128):
        W = random_point((2 * n, n), seed=n).astype(np.float16).astype(np.float32)
        assert gram_defect(W) < np.finfo(np.float32).eps ** 0.5
        project_tangent(W, W)


@pytest.mark.parametrize(
    ("dtype", "radius"), [(np.float64, 1e160), (np.float64, 1e-162), (np.float32, 1e20), (np.float32, 1e-22)]
)
def test_every_scale_of_the_manifold(dtype: Any, radius: float) -> None:
    """As on the manifold of radius 1, where gradients and tangent vectors are of the size of sigma."""
    W = random_point((6, 4), seed=0)
    G = gaussian((6, 4))
    V = project_tangent(W, G)
    w, g, v = (x * radius for x in (W, G, V))
    w, g, v = w.astype(dtype), g.astype(dtype), v.astype(dtype)
    close = {"rtol": 0, "atol": 20 * EPS[dtype]}
    np.testing.assert_allclose(project_tangent(w, g, sigma=radius) / radius, V, **close)
    np.testing.assert_allclose(project_tangent(w, G.astype(dtype), sigma=radius), V, **close)
    np.testing.assert_allclose(retract(w, v, sigma=radius) / radius, retract(W, V), **close)
    np.testing.assert_allclose(exp(w, v, sigma=radius) / radius, exp(W, V), **close)
    assert gram_defect(retract(w, 0), sigma=1) <= 4 * EPS[dtype]


# retract


@every_shape
@every_mode
@every_dtype
def test_the_gram_defect_after_1_and_10_steps(shape: tuple[int, int], mode: str, dtype: Any) -> None:
    radius = sigma(shape, mode)
    W = random_point(shape, sigma=radius, seed=0).astype(dtype)
    bound = {np.float64: 1e-13, np.float32: 1e-6}[dtype]
    for step in range(10):
        V = 0.1 * radius * project_tangent(W, gaussian(shape, step), sigma=radius).astype(dtype)
        W = retract(W, V, sigma=radius)
        assert W.dtype == dtype
        assert gram_error(W, radius) <= bound
        assert gram_defect(W, sigma=radius) <= bound


@every_shape
@every_mode
@every_dtype
def test_no_vector_leaves_the_point_where_it_is(shape: tuple[int, int], mode: str, dtype: Any) -> None:
    radius = sigma(shape, mode)
    points = [random_point(shape, sigma=radius, seed=0)]
    if shape[0] >= shape[1]:
        points.append(radius * np.linalg.qr(gaussian(shape))[0])
    for point in points:
        W = point.astype(dtype)
        np.testing.assert_array_equal(retract(W, np.zeros_like(W), sigma=radius), W)
        np.testing.assert_array_equal(retract(W, 0, sigma=radius), W)


@small_shape
@every_mode
@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e-3, 0.02, 0.1, 0.3, 1, 10, 1e6])
def test_the_retraction_is_the_polar_factor(shape: tuple[int, int], mode: str, size: float) -> None:
    """Both routes, that of products and that by singular values, against scipy."""
    radius = sigma(shape, mode)
    W = random_point(shape, sigma=radius, seed=0)
    V = tangent_at(W, radius, size)
    side = "right" if shape[0] >= shape[1] else "left"
    expected = radius * scipy.linalg.polar(W + V, side=side)[0]
    values = np.linalg.svd(W + V, compute_uv=False)
    accuracy = 30 * EPS[np.float64] * radius * values[0] / values[-1]
    np.testing.assert_allclose(retract(W, V, sigma=radius), expected, rtol=0, atol=accuracy)


def test_vectors_that_are_not_tangent_and_points_off_the_manifold() -> None:
    W, V = random_point((7, 4), seed=0), gaussian((7, 4))
    for X, step in ((W, V), (3 * W, 0 * V), (W + 0.1 * V, 0 * V), (V, V)):
        expected = scipy.linalg.polar(X + step)[0]
        np.testing.assert_allclose(retract(X, step), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(retract(3 * W, 0), W, rtol=0, atol=1e-15)


@pytest.mark.parametrize("shape", [(5, 7), (7, 5), (40, 8), (6, 6)])
def test_the_retraction_is_of_second_order(shape: tuple[int, int]) -> None:
    """The distance from the exponential map falls as the third power of the vector; QR's as the second."""
    W = random_point(shape, seed=3)
    V = tangent_at(W, 1, 1)
    sizes = np.array([2e-2, 1e-2, 5e-3])
    apart = [np.linalg.norm(retract(W, t * V) - exp(W, t * V)) for t in sizes]
    slopes = np.diff(np.log(apart)) / np.diff(np.log(sizes))
    np.testing.assert_allclose(slopes, 3, atol=0.01)


def test_each_matrix_of_a_batch_takes_its_own_step() -> None:
    W = random_point((2, 3, 6, 4), seed=0)
    V = project_tangent(W, gaussian((2, 3, 6, 4)))
    V[0, 0] = 0
    V[1, 2] *= 1e3
    result = retract(W, V)
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(result[index], retract(W[index], V[index]), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(result[0, 0], W[0, 0])
    sizes = np.array([0, 0.1, 0.2])[:, None, None]
    many = retract(W[0, 0], sizes * V[0, 1])
    assert many.shape == (3, 6, 4)
    np.testing.assert_array_equal(many[0], W[0, 0])


@every_dtype
def test_a_thousand_retractions(dtype: Any) -> None:
    for shape in ((7, 5), (5, 7), (33, 33), (20, 4)):
        W = random_point(shape, seed=0).astype(dtype)
        for step in range(1000):
            W = retract(W, 0.1 * project_tangent(W, gaussian(shape, step).astype(dtype)))
        assert gram_error(W, 1) <= {np.float64: 1e-13, np.float32: 1e-6}[dtype]


# exp


def through_complement(W: Any, V: Any, metric: str) -> Any:
    """The formula with W and an orthonormal complement, and scipy's expm; for tall W and sigma = 1."""
    Q = scipy.linalg.null_space(W.T)
    A, R = W.T @ V, Q.T @ V
    factor = 2 if metric == "euclidean" else 1
    block = np.block([[factor * A, -R.T], [R, np.zeros((len(R), len(R)))]])
    moved = np.hstack([W, Q]) @ scipy.linalg.expm(block)[:, : W.shape[1]]
    return moved @ scipy.linalg.expm(-A) if metric == "euclidean" else moved


@small_shape
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("size", [1e-9, 0.1, 1, 3])
def test_exp_against_the_complement_and_scipy(shape: tuple[int, int], metric: str, size: float) -> None:
    radius = 1.3
    W = random_point(shape, sigma=radius, seed=0)
    V = tangent_at(W, radius, size)
    w, v = (x.T / radius if shape[0] < shape[1] else x / radius for x in (W, V))
    expected = radius * through_complement(w, v, metric)
    expected = expected.T if shape[0] < shape[1] else expected
    np.testing.assert_allclose(exp(W, V, sigma=radius, metric=metric), expected, rtol=0, atol=2e-14)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("shape", [(7, 3), (5, 4), (4, 4)])
def test_exp_against_the_differential_equation(shape: tuple[int, int], metric: str) -> None:
    """Edelman, Arias and Smith: Y'' = -Y Y'^T Y' (euclidean); the canonical equation has two more terms."""
    W = random_point(shape, seed=1)
    V = tangent_at(W, 1, 1.5)

    def field(_: float, state: Any) -> Any:
        Y, D = state.reshape(2, *shape)
        acceleration = -Y @ (D.T @ D)
        if metric == "canonical":
            acceleration = -D @ D.T @ Y - Y @ ((Y.T @ D) @ (Y.T @ D) + D.T @ D)
        return np.concatenate([D.ravel(), acceleration.ravel()])

    start = np.concatenate([W.ravel(), V.ravel()])
    run = scipy.integrate.solve_ivp(field, (0, 1), start, method="DOP853", rtol=1e-12, atol=1e-13)
    expected = run.y[: W.size, -1].reshape(shape)
    np.testing.assert_allclose(exp(W, V, metric=metric), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("shape", [(8, 1), (1, 8), (9, 4), (5, 7), (6, 6), (65, 33), (300, 256)])
def test_large_vectors_stay_on_the_manifold(shape: tuple[int, int], metric: str) -> None:
    W = random_point(shape, sigma=2, seed=0)
    for size in (1, 1e3, 1e6):
        assert gram_error(exp(W, tangent_at(W, 2, size), sigma=2, metric=metric), 2) <= 1e-13


@pytest.mark.parametrize("metric", METRICS)
def test_exp_of_a_vector_of_low_rank(metric: str) -> None:
    """The part of V off the range of W has rank 1, so it alone spans no complement."""
    W = random_point((12, 4), seed=0)
    V = project_tangent(W, np.outer(gaussian((12,)), [1, 2, 0, 4]))
    np.testing.assert_allclose(exp(W, V, metric=metric), through_complement(W, V, metric), rtol=0, atol=5e-14)


@pytest.mark.parametrize("metric", METRICS)
def test_exp_follows_a_geodesic(metric: str) -> None:
    """Halfway and on, with the velocity carried along, and back; on the sphere and on O(n) as it should."""
    W = random_point((6, 3), seed=0)
    V = tangent_at(W, 1, 1)
    h = 1e-5
    ends = exp(W, np.array([0.5 - h, 0.5, 0.5 + h])[:, None, None] * V, metric=metric)
    velocity = project_tangent(ends[1], (ends[2] - ends[0]) / (2 * h))
    np.testing.assert_allclose(
        exp(ends[1], 0.5 * velocity, metric=metric), exp(W, V, metric=metric), rtol=0, atol=1e-9
    )
    square = random_point((5, 5), sigma=2, seed=0)
    skew = square.T @ tangent_at(square, 2, 1) / 4
    np.testing.assert_allclose(
        exp(square, square @ skew, sigma=2, metric=metric),
        square @ scipy.linalg.expm(skew),
        rtol=0,
        atol=1e-14,
    )


@every_shape
def test_exp_of_nothing_is_the_point(shape: tuple[int, int]) -> None:
    W = random_point(shape, sigma=1.3, seed=0)
    for metric in METRICS:
        np.testing.assert_array_equal(exp(W, 0 * W, sigma=1.3, metric=metric), W)


@pytest.mark.parametrize("metric", METRICS)
def test_exp_along_a_projection_that_is_nothing_but_rounding(metric: str) -> None:
    W = random_point((9, 4), seed=0)
    V = project_tangent(W, 1e4 * W @ sym(gaussian((4, 4))))
    assert tangency_defect(W, V) > 0.1
    np.testing.assert_allclose(exp(W, V, metric=metric), W, rtol=0, atol=1e-10)


@pytest.mark.parametrize("metric", METRICS)
def test_exp_leaves_out_what_is_normal_within_the_tolerance(metric: str) -> None:
    """Absolute for vectors shorter than sigma, relative for longer ones."""
    W = random_point((9, 4), sigma=2, seed=0)
    V = tangent_at(W, 2, 1)
    for size, normal in ((1e-9, 1e-9), (1, 1e-9), (100, 1e-7)):
        moved = exp(W, size * V + normal * W, sigma=2, metric=metric)
        expected = exp(W, size * V, sigma=2, metric=metric)
        np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-14 + 1e-14 * size)
    for size, normal in ((1e-9, 1e-8), (1, 1e-7), (100, 1e-5)):
        with pytest.raises(ValueError, match=r"^V must be tangent at W"):
            exp(W, size * V + normal * W, sigma=2, metric=metric)


@every_dtype
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("shape", [(2, 2), (9, 4), (5, 7), (65, 33)])
def test_the_longest_vectors_of_exp(shape: tuple[int, int], metric: str, dtype: Any) -> None:
    """Up to the limit a point of the manifold, beyond it an error: never NaN."""
    W = random_point(shape, sigma=3, seed=0).astype(dtype)
    V = project_tangent(W, gaussian(shape).astype(dtype), sigma=3)
    V *= dtype(0.0099 * 3 / (EPS[dtype] * np.linalg.norm(V)))
    assert gram_defect(exp(W, V, sigma=3, metric=metric), sigma=3) <= 30 * EPS[dtype]
    for factor in (1.1, 1e4, 1e30):
        with pytest.raises(ValueError, match=r"^V must have a Frobenius norm of at most .*: got \d"):
            exp(W, dtype(factor) * V, sigma=3, metric=metric)
    with pytest.raises(ValueError, match=r"^V must have a Frobenius norm .*: got inf$"):
        exp(random_point(shape, sigma=1e-200, seed=0), 1e200 * V.astype(float), sigma=1e-200, metric=metric)


def test_exp_of_a_batch_of_small_and_large_vectors() -> None:
    W = random_point((2, 7, 3), seed=0)
    V = project_tangent(W, gaussian((2, 7, 3)))
    V *= np.array([1e-9, 1e5])[:, None, None]
    for metric in METRICS:
        result = exp(W, V, metric=metric)
        for i, accuracy in enumerate((1e-24, 1e-9)):
            alone = exp(W[i], V[i], metric=metric)
            np.testing.assert_allclose(result[i] - W[i], alone - W[i], rtol=0, atol=4e-16 + accuracy)


# defects and random points


def test_the_defects() -> None:
    for shape in ((7, 5), (5, 7), (6, 6)):
        W, G = random_point(shape, sigma=3, seed=0), gaussian(shape)
        assert gram_defect(2 * W, sigma=3) == pytest.approx(3, rel=1e-14, abs=0)
        assert gram_defect(G) == pytest.approx(gram_error(G, 1), rel=1e-13, abs=0)
        expected = np.linalg.norm(normal_product(W, G)) / (3 * np.linalg.norm(G))
        assert tangency_defect(W, G) == pytest.approx(expected, rel=1e-13, abs=0)
        assert tangency_defect(W, W) == pytest.approx(1, rel=1e-15, abs=0)
        assert tangency_defect(W, np.zeros(shape)) == 0
        V = project_tangent(W, G, sigma=3)
        assert tangency_defect(W, V) <= 1e-15
        for scale in (1e-300, 1e300):
            assert tangency_defect(W, scale * G) == pytest.approx(expected, rel=1e-13, abs=0)
    assert gram_defect(np.eye(2), sigma=1e-320) == math.inf
    assert gram_defect(gaussian((5, 3)), sigma=1e-200) == math.inf
    batch = random_point((2, 4, 3), seed=0)
    assert gram_defect(batch).shape == tangency_defect(batch, batch[0]).shape == (2,)


def test_random_points_are_uniform() -> None:
    """The entries have the moments of those of a uniform point of the sphere of radius 2."""
    W = random_point((20_000, 3, 2), sigma=2, seed=0)
    assert np.max(gram_defect(W, sigma=2)) <= 2e-15
    np.testing.assert_allclose(np.mean(W, axis=0), 0, atol=0.04)
    np.testing.assert_allclose(np.mean(W**2, axis=0), 4 / 3, atol=0.04)
    np.testing.assert_allclose(np.mean(W[:, 0, 0] * W[:, 1, 1]), 0, atol=0.04)
    np.testing.assert_array_equal(random_point((3, 2), seed=1), random_point((3, 2), seed=1))


# kinds


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32"])
def test_small_types_in_torch(kind: str) -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    dtype = getattr(torch, kind)
    W = torch.from_numpy(random_point((9, 4), seed=0)).to(dtype)
    G = torch.from_numpy(gaussian((9, 4))).to(dtype)
    V = project_tangent(W, G)
    results = [V, retract(W, 0.1 * V), exp(W, 0.1 * V), gram_defect(W), tangency_defect(W, V)]
    assert {result.dtype for result in results} == {dtype}
    assert float(results[3]) <= torch.finfo(dtype).eps
    assert torch.equal(retract(W, 0 * V), W)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_no_matrices_at_all(library: str) -> None:
    as_array = np.asarray if library == "numpy" else pytest.importorskip("torch", reason=REASON).from_numpy
    W, none = as_array(random_point((5, 3), seed=0)), as_array(np.zeros((0, 5, 3)))
    for result in (retract(W, none), retract(none, 0), project_tangent(none, W), exp(W, none)):
        assert tuple(result.shape) == (0, 5, 3)
    assert tuple(exp(none, W[None, None] * 0).shape) == (1, 0, 5, 3)
    assert tuple(gram_defect(none).shape) == tuple(tangency_defect(none, W).shape) == (0,)


def test_torch_agrees_with_numpy() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    for shape in ((2, 9, 4), (4, 9), (5, 5), (130, 300)):
        W, G = random_point(shape, seed=0), gaussian(shape)
        w, g = torch.from_numpy(W), torch.from_numpy(G)
        V = project_tangent(W, G)
        v = torch.from_numpy(V)
        pairs = [(project_tangent(w, g), V), (gram_defect(g), gram_defect(G))]
        pairs += [(tangency_defect(w, g), tangency_defect(W, G))]
        for size in (0.01, 0.1, 2):
            pairs += [(retract(w, size * v), retract(W, size * V))]
            pairs += [(exp(w, size * v, metric=m), exp(W, size * V, metric=m)) for m in METRICS]
        for tensor, array in pairs:
            np.testing.assert_allclose(tensor, array, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (2, 6, 2), (6, 1)])
def test_gradients(shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    W = torch.from_numpy(random_point(shape, seed=0))
    G = torch.from_numpy(gaussian(shape)).requires_grad_()
    check = torch.autograd.gradcheck
    for size in (0.0, 1e-8, 0.02, 0.3, 3.0):
        V = (size * project_tangent(W, G)).detach()
        assert check(retract, (W.clone().requires_grad_(), V.clone().requires_grad_()))
        for metric in METRICS:
            assert check(lambda v, m=metric: exp(W, project_tangent(W, v), metric=m), (V.requires_grad_(),))
    assert check(lambda w, g: project_tangent(retract(w, 0 * w), g), (W.clone().requires_grad_(), G))
    assert check(lambda g: tangency_defect(W, g), (G,))


@loads_forward_mode
def test_derivatives_of_retract_forward_and_twice() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    W = torch.from_numpy(random_point((5, 3), seed=0))
    V, D, C = project_tangent(W, torch.from_numpy(gaussian((3, 5, 3))))
    for size in (0.01, 3):
        _, change = torch.func.jvp(lambda v: retract(W, v), (size * V,), (D,))
        ahead, behind = (retract(W, size * V + h * D) for h in (1e-6, -1e-6))
        np.testing.assert_allclose(change, (ahead - behind) / 2e-6, rtol=0, atol=1e-8)

    def value(v: Any) -> Any:
        return torch.sum(C * retract(W, v))

    assert torch.autograd.gradgradcheck(value, (0.01 * V.requires_grad_(),))
    near = 0.01 * V.detach()
    np.testing.assert_allclose(
        torch.func.hessian(value)(near), torch.autograd.functional.hessian(value, near), rtol=0, atol=1e-12
    )
    for hessian in (lambda v: torch.autograd.functional.hessian(value, v), torch.func.hessian(value)):
        with pytest.raises(NotImplementedError, match="first derivatives only"):
            hessian(3 * V.detach())


@loads_forward_mode
def test_second_derivatives_of_exp() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    W = torch.from_numpy(random_point((4, 2), seed=0))
    V, C = torch.from_numpy(gaussian((2, 4, 2)))

    def value(v: Any) -> Any:
        return torch.sum(C * exp(W, project_tangent(W, v)))

    assert torch.autograd.gradgradcheck(value, (V.clone().requires_grad_(),))
    expected = torch.autograd.functional.hessian(value, V)
    forward = torch.func.jacfwd(torch.func.jacfwd(value))(V)
    np.testing.assert_allclose(forward, expected, rtol=0, atol=1e-12)


def test_the_gradient_of_retract_at_0_is_the_projection() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    W, G = random_point((6, 3), seed=0), gaussian((6, 3))
    v = torch.zeros(6, 3, dtype=torch.float64, requires_grad=True)
    torch.sum(retract(torch.from_numpy(W), v) * torch.from_numpy(G)).backward()
    np.testing.assert_allclose(v.grad, project_tangent(W, G), rtol=0, atol=1e-14)


def test_what_is_not_finite_spreads_over_its_matrix_alone() -> None:
    W = random_point((3, 5, 2), seed=0)
    V = project_tangent(W, gaussian((3, 5, 2)))
    bad = V.copy()
    bad[1, 0, 0], bad[2, 4, 1] = np.nan, np.inf
    off = W.copy()
    off[1, 0, 0], off[2, 4, 1] = np.nan, np.inf
    calls = [
        lambda W, V: project_tangent(W, V),
        lambda W, V: retract(W, V),
        lambda W, V: exp(W, V),
        lambda W, V: exp(W, V, metric="canonical"),
        lambda W, V: tangency_defect(W, V),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in calls:
            right, wrong = call(W, V), call(W, bad)
            np.testing.assert_allclose(wrong[0], right[0], rtol=0, atol=1e-13)
            assert np.isnan(wrong[1]).all()
            assert not np.isfinite(wrong[2]).any()
            off_nan = W.copy()
            off_nan[1, 0, 0] = np.nan
            assert np.isnan(call(off_nan, V)[1]).all()
        assert np.isnan(gram_defect(off)[1])
        assert np.isnan(retract(off, V)[2]).all()


# errors


W32, W46 = random_point((3, 2), seed=0), random_point((4, 6), seed=0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: retract(W46, np.ones((4, 5))), ValueError, r"different shapes: W \(4, 6\), V \(4, 5\)$"),
        (
            lambda: project_tangent(W46, np.ones((6, 4))),
            ValueError,
            r"different shapes: W \(4, 6\), G \(6, 4\)$",
        ),
        (
            lambda: exp(np.stack([W32] * 2), np.zeros((3, 3, 2))),
            ValueError,
            r"do not broadcast: W \(2, 3, 2\), V \(3, 3, 2\)$",
        ),
        (
            lambda: retract(W32, 0.5),
            ValueError,
            r"^V must be a matrix, with rows and columns: got shape \(\)",
        ),
        (lambda: project_tangent(np.ones(3), np.ones(3)), ValueError, r"^W must be a matrix, .*\(3,\)"),
        (lambda: gram_defect(np.ones((3, 0))), ValueError, r"^W must be a matrix, .*\(3, 0\)"),
        (lambda: tangency_defect(W32, np.ones((2, 2))), ValueError, r"W \(3, 2\), V \(2, 2\)"),
        (
            lambda: project_tangent(2 * W32, W32),
            ValueError,
            r"^W must be on the Stiefel manifold with sigma = 1, .*got 3$",
        ),
        (lambda: project_tangent(W32, W32, sigma=2), ValueError, "with sigma = 2, .*got 0.75$"),
        (lambda: project_tangent(gaussian((40, 30)), gaussian((40, 30))), ValueError, "on the Stiefel"),
        (
            lambda: project_tangent(np.stack([W32, W32, 2 * W32]), W32),
            ValueError,
            r"on the Stiefel manifold .*\(matrix 2\)$",
        ),
        (lambda: exp(W32 + 1e-3, 0 * W32), ValueError, "^W must be on the Stiefel manifold"),
        (lambda: project_tangent(np.eye(2), np.eye(2), sigma=1e-320), ValueError, r"manifold .*: got inf$"),
        (lambda: exp(W32, W32), ValueError, r"^V must be tangent at W .* at most 1.5e-08: got 1$"),
        (
            lambda: exp(np.stack([W32] * 3), np.stack([0 * W32, 0 * W32, W32])),
            ValueError,
            r"^V must be tangent .* got 1 \(matrix 2\)$",
        ),
        (lambda: exp(W32, 0 * W32, metric="flat"), ValueError, "^metric must be one of 'euclidean', 'canon"),
        (
            lambda: retract(W32, -W32),
            ValueError,
            r"^W \+ V must have full rank, smallest over largest singular value above 6.7e-16: got 0$",
        ),
        (
            lambda: retract(np.stack([W32, W32]), np.stack([W32, -W32])),
            ValueError,
            r"^W \+ V must have full rank, .*: got 0 \(matrix 1\)$",
        ),
        (lambda: retract(W32, 0, sigma=0), ValueError, "^sigma must be positive and finite: got 0.0$"),
        (lambda: gram_defect(W32, sigma=math.inf), ValueError, "^sigma must be positive and finite: got inf"),
        (lambda: gram_defect(W32, sigma=math.nan), ValueError, "^sigma must be positive and finite: got nan"),
        (lambda: gram_defect(W32, sigma="1"), TypeError, "^sigma must be a real number: got str"),
        (
            lambda: sigma((3, 2), "unit_norm"),
            ValueError,
            "^scale_mode must be one of 'unit_spectral_norm', 'unit_rms_to_rms_norm': got 'unit_norm'$",
        ),
        (lambda: sigma((3,), "unit_spectral_norm"), ValueError, r"^shape must be .*got \(3,\)$"),
        (lambda: sigma((3, 0), "unit_spectral_norm"), ValueError, r"^shape must be .*got \(3, 0\)$"),
        (lambda: random_point((3, -1), seed=0), ValueError, r"^shape must be .*got \(3, -1\)$"),
        (lambda: random_point((3, 2.0), seed=0), TypeError, r"^shape\[1\] must be an integer: got float"),
        (
            lambda: random_point(5, seed=0),
            TypeError,
            r"^shape must be \(m, n\) or \(..., m, n\): got int$",
        ),
        (lambda: sigma(7, "unit_spectral_norm"), TypeError, "^shape must be .*: got int$"),
        (lambda: sigma((1, 10**400), "unit_rms_to_rms_norm"), ValueError, r"^shape .* below 2\^63"),
        (lambda: sigma((10**400, 1), "unit_rms_to_rms_norm"), ValueError, r"^shape .* below 2\^63"),
        (lambda: random_point((3, 2), seed=-1), ValueError, "^seed must be .*: got -1$"),
        (lambda: random_point((3, 2), seed="a"), TypeError, "^seed must be .*: got 'a'$"),
        (lambda: random_point((3, 2), seed=1.5), TypeError, "^seed must be .*: got 1.5$"),
        (lambda: retract(W32, 1j * W32), TypeError, "^V must hold real numbers"),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_the_tolerance_is_that_of_the_own_type_of_the_point() -> None:
    """A float32 point beside a float64 gradient, and float16 points, are on the manifold."""
    W, G = random_point((9, 4), seed=0), gaussian((9, 4))
    for dtype in (np.float32, np.float16):
        assert project_tangent(W.astype(dtype), G).dtype == np.float64
    with pytest.raises(ValueError, match="on the Stiefel manifold"):
        project_tangent(W.astype(np.float16).astype(float), G)
