"""angle, retract, slerp: shapes, dtypes, errors, accuracy, gradients."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from ngeodesic.geodesic import angle, retract, slerp

REASON = "torch is an optional extra"
EPS = float(np.finfo(np.float64).eps)
RNG = np.random.default_rng(20)

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "angle": angle,
    "retract": lambda h, target, **options: retract(h, target, 0.3, **options),
    "slerp": lambda h, target, **options: slerp(h, target, 0.3, **options),
}
every_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
POINTS = {"retract": retract, "slerp": slerp}
every_point = pytest.mark.parametrize("function", POINTS.values(), ids=POINTS)


def gaussian(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def unit(x: Any) -> Any:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


# shapes


@every_function
@pytest.mark.parametrize("shapes", [((4, 5), (4, 5)), ((4, 5), (5,)), ((5,), (3, 4, 5)), ((3, 1, 5), (4, 5))])
def test_leading_axes_broadcast_row_by_row(function: Any, shapes: Any) -> None:
    h, target = (gaussian(*shape) for shape in shapes)
    result = function(h, target)
    full_h, full_target = np.broadcast_arrays(h, target)
    for index in np.ndindex(full_h.shape[:-1]):
        np.testing.assert_allclose(
            result[index], function(full_h[index], full_target[index]), rtol=1e-13, atol=1e-15
        )


@every_function
@pytest.mark.parametrize("axis", [0, 1, -2])
def test_any_axis(function: Any, axis: int) -> None:
    h, target = gaussian(5, 6, 7), gaussian(5, 6, 7)
    expected = function(np.moveaxis(h, axis, -1), np.moveaxis(target, axis, -1))
    result = function(h, target, axis=axis)
    if result.ndim == 3:
        result = np.moveaxis(result, axis, -1)
    np.testing.assert_array_equal(result, expected)


@every_function
def test_large_arrays_equal_small_ones(function: Any) -> None:
    h, target = gaussian(900, 300), gaussian(900, 300)
    whole = function(h, target)
    np.testing.assert_allclose(whole[::97], function(h[::97], target[::97]), rtol=1e-13, atol=1e-15)
    strided = function(np.asfortranarray(h), np.repeat(target, 2, axis=1)[:, ::2])
    np.testing.assert_allclose(strided, whole, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(function(h.T, target.T, axis=0).T, whole, rtol=1e-13, atol=1e-15)


def test_alpha_shapes() -> None:
    h, target = gaussian(4, 5), gaussian(4, 5)
    rows, dimensions, full = gaussian(4, 1), gaussian(5), gaussian(4, 5)
    for alpha in (rows, dimensions, full):
        result = retract(h, target, alpha)
        expected = unit(unit(h) + alpha * (unit(target) - unit(h)))
        np.testing.assert_allclose(result, expected, rtol=0, atol=4 * EPS)
        np.testing.assert_array_equal(
            retract(h.T, target.T, alpha if alpha.ndim == 1 else alpha.T, axis=0), result.T
        )
    assert retract(h[0], target[0], rows).shape == (4, 5)
    assert retract(h, target, [0.3]).shape == (4, 5)
    cube, steps = gaussian(5, 2, 3), gaussian(2, 3)
    np.testing.assert_array_equal(
        retract(cube, -cube[::-1], steps, axis=0)[:, 1, 2],
        retract(cube[:, 1, 2], -cube[::-1, 1, 2], steps[1, 2]),
    )


@pytest.mark.parametrize("shape", [(4,), (6,), (0,), (3, 1), (4, 6), (2, 3, 5)])
def test_alpha_of_a_wrong_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"^alpha of shape") as caught:
        retract(gaussian(4, 5), gaussian(5), np.full(shape, 0.3))
    for text in (str(shape), "(4, 5)", "(5,)"):
        assert text in str(caught.value)


def test_one_dimensional_vectors_do_not_stretch_along_alpha() -> None:
    with pytest.raises(ValueError, match=r"^alpha of shape \(3,\)"):
        retract([2.0], [3.0], [0.1, 0.2, 0.3])


def test_fraction_shapes() -> None:
    h, target = gaussian(4, 5), gaussian(4, 5)
    fraction = np.linspace(0, 1, 4)
    result = slerp(h, target, fraction)
    for row in range(4):
        np.testing.assert_allclose(result[row], slerp(h[row], target[row], fraction[row]), atol=2 * EPS)
    arc = slerp(h[0], target[0], np.linspace(0, 1, 11))
    np.testing.assert_allclose(angle(arc[:-1], arc[1:]), angle(h[0], target[0]) / 10, rtol=1e-13)
    assert slerp(h.T, target.T, fraction, axis=0).shape == (5, 4)
    with pytest.raises(ValueError, match=r"h \(4,\), target \(4,\), fraction \(5,\)"):
        slerp(h, target, np.ones(5))


@every_function
def test_shapes_that_do_not_fit(function: Any) -> None:
    with pytest.raises(ValueError, match=r"\(3,\).*\(4,\)"):
        function(gaussian(3), gaussian(4))
    with pytest.raises(ValueError, match=r"\(1,\).*\(4,\)"):
        function(gaussian(1), gaussian(4))
    with pytest.raises(ValueError, match=r"\(2, 3\).*\(4, 3\)"):
        function(gaussian(2, 3), gaussian(4, 3))
    with pytest.raises(ValueError, match=r"shape \(\) lacks the vector axis: axis=-1 of 0"):
        function(1.0, 2.0)
    with pytest.raises(ValueError, match=r"shape \(3,\) lacks the vector axis: axis=0 of 2"):
        function(gaussian(4, 3), gaussian(3), axis=0)
    with pytest.raises(ValueError, match=r"lacks the vector axis: axis=2 of 2"):
        function(gaussian(4, 3), gaussian(4, 3), axis=2)
    with pytest.raises(ValueError, match=r"without entries.*\(2, 0\)"):
        function(np.ones((2, 0)), np.ones((2, 0)))


@every_function
def test_no_rows(function: Any) -> None:
    h = np.ones((0, 3))
    assert function(h, [1.0, 2.0, 3.0]).shape in ((0,), (0, 3))


@every_function
def test_inputs_stay_as_they_are(function: Any) -> None:
    h, target = gaussian(3000, 200), gaussian(3000, 200)
    h.setflags(write=False)
    target.setflags(write=False)
    function(h, target)
    function(h[0], target[0])


# kinds and dtypes


def test_results_of_single_vectors() -> None:
    assert type(angle([1, 0], [0, 1])) is np.float64
    assert type(angle(np.array([1, 0], np.float32), np.array([0, 1], np.float32))) is np.float32
    assert retract([1, 0], [0, 1], 0.5).dtype == np.float64


@every_function
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_low_precision_comes_back(function: Any, dtype: str) -> None:
    h, target = gaussian(6, 9).astype(dtype), gaussian(6, 9).astype(dtype)
    result = function(h, target)
    assert result.dtype == dtype
    eps = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(
        result, function(h.astype(float), target.astype(float)), rtol=2 * eps, atol=2 * eps
    )


@every_function
def test_wrong_kinds(function: Any) -> None:
    for bad, kind in ((["a", "b"], "str"), ([1j, 2], "complex"), ([True, False], "bool"), (None, "NoneType")):
        with pytest.raises(TypeError, match=rf"^(h|x) .*{kind}"):
            function(bad, [1.0, 2.0])


# special vectors


@every_function
def test_zero_vector(function: Any) -> None:
    first, second = ("x", "y") if function is angle else ("h", "target")
    good, zero = gaussian(3), np.zeros(3)
    with pytest.raises(ValueError, match=rf"^{first} must not be a zero vector$"):
        function(zero, good)
    with pytest.raises(ValueError, match=rf"^{second} must not be a zero vector$"):
        function(good, zero)
    batch = gaussian(4, 2, 3)
    batch[2, 1] = batch[3, 0] = 0
    with pytest.raises(ValueError, match=rf"^{second} must not be a zero vector \(row \(2, 1\)\)$"):
        function(good, batch)
    rows = gaussian(3000, 200)
    rows[2345:] = 0
    with pytest.raises(ValueError, match=rf"^{second} must not be a zero vector \(row 2345\)$"):
        function(rows[0], rows)


@every_function
@pytest.mark.parametrize("rows", [5, 2000])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_nan_stays_in_its_row_without_warnings(function: Any, rows: int, bad: float) -> None:
    h, target = gaussian(rows, 200), gaussian(rows, 200)
    h[1, 2] = bad
    target[3, 0] = bad
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = function(h, target)
    broken = np.isnan(result.reshape(rows, -1))
    assert broken[[1, 3]].all()
    assert not np.delete(broken, [1, 3], axis=0).any()


@every_point
def test_nan_step(function: Any) -> None:
    assert np.isnan(function([1.0, 2.0], [3.0, -4.0], math.nan)).all()
    assert np.isnan(function([1.0, 2.0], [-1.0, -2.0], math.nan)).all()


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1e307])
def test_extreme_scales(scale: float) -> None:
    h, target = np.array([3.0, 4.0]), np.array([-4.0, 3.0])
    for a, b in ((scale, scale), (scale, 1.0), (1.0, scale)):
        if scale == 1e-320:  # what the rounding of so few digits leaves of the vector
            x, y = ((v * c) / c for v, c in ((h, a), (target, b)))
        else:
            x, y = h, target
        assert angle(h * a, target * b) == pytest.approx(angle(x, y), rel=8 * EPS, abs=0)
        for function in (retract, slerp):
            np.testing.assert_allclose(function(h * a, target * b, 0.3), function(x, y, 0.3), rtol=8 * EPS)


def test_angles_below_the_root_of_the_smallest_number() -> None:
    for tiny in (1e-300, 1e-170, 1e-20):
        assert angle([1.0, 0.0], [1.0, tiny]) == tiny
        assert angle([0.0, 5e250], [5e250 * tiny, 5e250]) == pytest.approx(tiny, rel=4 * EPS, abs=0)


@every_function
def test_equal_and_opposite_lines(function: Any) -> None:
    assert function([2.0], [3.0]) == (0.0 if function is angle else 1.0)
    assert function([-2.0], [-3.0]) == (0.0 if function is angle else -1.0)


def test_equal_vectors() -> None:
    h = gaussian(50, 7)
    np.testing.assert_array_equal(angle(h, h), 0)
    np.testing.assert_array_equal(angle(h, 4 * h), 0)
    np.testing.assert_array_equal(angle(h, -h), math.pi)
    for function in (retract, slerp):
        np.testing.assert_allclose(function(h, h, 0.3), unit(h), rtol=4 * EPS)


@pytest.mark.parametrize("factor", [-1.0, -2.0, -3.0, -0.1])
def test_antipodes(factor: float) -> None:
    h = gaussian(40, 6)
    h[0] = [0.6, 0.8, 0, 0, 0, 0]
    for row in h:
        for fraction in (0.5, 1e-9, -0.5, 2.0):
            with pytest.raises(ValueError, match="antipodal"):
                slerp(row, factor * row, fraction)
        with pytest.raises(ValueError, match="antipodal"):
            retract(row, factor * row, 0.5)
    with pytest.raises(ValueError, match=r"antipodal.*\(row 3\)"):
        slerp(h, np.where(np.arange(40)[:, None] == 3, factor, 1) * h, 0.5)
    with pytest.raises(ValueError, match=r"antipodal.*\(row 3\)"):
        retract(h, np.where(np.arange(40)[:, None] == 3, factor, 1) * h, 0.5)
    np.testing.assert_allclose(slerp(h, factor * h, 0.0), unit(h), rtol=4 * EPS)
    np.testing.assert_allclose(slerp(h, factor * h, 1.0), -unit(h), rtol=4 * EPS)
    np.testing.assert_allclose(retract(h, factor * h, 0.25), unit(h), rtol=8 * EPS)
    np.testing.assert_allclose(retract(h, factor * h, 0.75), -unit(h), rtol=8 * EPS)


def test_antipodal_endpoints_in_float32() -> None:
    h = gaussian(40, 6).astype(np.float32)
    for fraction, expected in ((0, h), (1, -h)):
        result = slerp(h, -h, fraction)
        np.testing.assert_allclose(result, unit(expected), rtol=1e-6)


def test_a_step_per_dimension_onto_zero() -> None:
    with pytest.raises(ValueError, match=r"must not be zero"):
        retract([1.0, 0.0], [0.0, 1.0], [1.0, 0.0])


def test_huge_steps_keep_their_direction() -> None:
    np.testing.assert_allclose(
        retract([1.0, 0.0], [0.0, 1.0], 1e200), [-math.sqrt(0.5), math.sqrt(0.5)], rtol=4 * EPS
    )


def test_endpoints() -> None:
    for dim in (2, 5, 64):
        h, target = unit(gaussian(300, dim)), unit(gaussian(300, dim))
        for fraction, end in ((0.0, h), (1.0, target)):
            np.testing.assert_array_equal(slerp(h, target, fraction), end)
            error = np.abs(retract(h, target, fraction) - end)
            assert (error <= 4 * np.spacing(np.abs(h) + np.abs(target))).all()
            long = slerp(3.7 * h, 0.2 * target, fraction)
            assert (np.abs(long - end) <= 4 * np.spacing(np.abs(end))).all()


# accuracy against 60 digits


def exact(x: Any) -> mpmath.matrix:
    x = mpmath.matrix([mpmath.mpf(float(v)) for v in x])
    return x / mpmath.norm(x)


def exact_angle(h: Any, target: Any) -> Any:
    u, v = exact(h), exact(target)
    return 2 * mpmath.atan2(mpmath.norm(u - v), mpmath.norm(u + v))


def pairs(count: int, dim: int) -> list[tuple[Any, Any]]:
    """Pairs at angles that crowd near 0 and pi, at all scales."""
    found = []
    for _ in range(count):
        x = unit(gaussian(dim))
        y = gaussian(dim)
        y = unit(y - x * (x @ y))
        near = 10 ** RNG.uniform(-12, 0.4)
        theta = near if RNG.random() < 0.5 else math.pi - near
        scales = 10 ** RNG.uniform(-100, 100, 2)
        found.append((x * scales[0], (math.cos(theta) * x + math.sin(theta) * y) * scales[1]))
    return found


@pytest.mark.parametrize(("count", "dim"), [(150, 2), (150, 3), (10, 200)])
def test_accuracy(count: int, dim: int) -> None:
    with mpmath.workdps(60):
        for x, y in pairs(count, dim):
            theta = exact_angle(x, y)
            assert abs(mpmath.mpf(float(angle(x, y))) - theta) <= 6 * float(np.spacing(float(theta)))
            f = float(RNG.random())
            u, v, q = exact(x), exact(y), mpmath.mpf(f)
            point = (mpmath.sin((1 - q) * theta) * u + mpmath.sin(q * theta) * v) / mpmath.sin(theta)
            error = mpmath.norm(mpmath.matrix(slerp(x, y, f).tolist()) - point)
            assert error <= 8e-16 * max(1, 1 / mpmath.sin(theta))
            step = u + q * (v - u)
            error = mpmath.norm(mpmath.matrix(retract(x, y, f).tolist()) - step / mpmath.norm(step))
            assert error <= 8e-16 / mpmath.norm(step)


@every_point
@pytest.mark.parametrize("dim", [2, 3, 1024])
def test_unit_norm(function: Any, dim: int) -> None:
    points = function(gaussian(20, dim), gaussian(20, dim), 0.37)
    with mpmath.workdps(40):
        for point in points:
            assert abs(mpmath.norm(mpmath.matrix(point.tolist())) - 1) <= 4.5e-16


# torch


@every_function
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_torch_equals_numpy(function: Any, dtype: str) -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    h, target = (torch.from_numpy(gaussian(6, 9)).to(getattr(torch, dtype)) for _ in range(2))
    result = function(h, target)
    assert result.dtype == h.dtype
    eps = torch.finfo(h.dtype).eps
    expected = function(h.double().numpy(), target.double().numpy())
    np.testing.assert_allclose(result.double().numpy(), expected, rtol=4 * eps, atol=4 * eps)


@every_function
def test_torch_errors(function: Any) -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    h = torch.ones(4, 3)
    with pytest.raises(ValueError, match=r"must not be a zero vector \(row 2\)"):
        function(h, h * torch.tensor([[1.0], [1], [0], [1]]))
    with pytest.raises(ValueError, match=r"\(4, 3\).*\(5, 3\)"):
        function(h, torch.ones(5, 3))
    with pytest.raises(TypeError, match=r"numpy array but .* torch array"):
        function(h, np.ones((4, 3)))


def test_torch_gradients() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    rng = np.random.default_rng(3)

    def leaf(x: Any) -> Any:
        return torch.tensor(x, dtype=torch.float64, requires_grad=True)

    h, target = leaf(rng.standard_normal((4, 5))), leaf(rng.standard_normal((4, 5)))
    same = leaf(h.detach().numpy())
    alpha, fraction = leaf(rng.random(5)), leaf([0.0, 1.0, 0.5, 0.3])
    for end in (target, same):
        assert torch.autograd.gradcheck(angle, (h, end))
        assert torch.autograd.gradcheck(retract, (h, end, alpha))
        assert torch.autograd.gradcheck(slerp, (h, end, fraction))


def test_torch_gradient_of_the_angle_at_parallel_vectors() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    for factor in (1.0, 2.0, 3.0, -1.0):
        h = torch.tensor([[0.6, 0.8, 0.0], [1.0, 0.0, 0.0]], dtype=torch.float64, requires_grad=True)
        angle(
            h, factor * torch.tensor([[0.6, 0.8, 0.0], [1.0, 0.0, 0.0]], dtype=torch.float64)
        ).sum().backward()
        assert torch.isfinite(h.grad).all()
        if factor != 3:  # 3 * 0.6 is rounded, so these two are not quite parallel
            assert not h.grad.any()


def test_torch_func_grad() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    h, target = torch.tensor([1.0, 0.0]), torch.tensor([1.0, 1.0])
    np.testing.assert_allclose(torch.func.grad(angle)(h, target).numpy(), [0.0, -1.0], atol=1e-7)
