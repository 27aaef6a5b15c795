"""The scalar half of geodesic.py: values against 60 digits, special points, gradients, dtypes, errors."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from ngeodesic import geodesic
from ngeodesic.geodesic import (
    contract,
    cubic_gap,
    gap,
    gap_bounds,
    matching_alpha,
    max_gap,
    retraction_angle,
)

REASON = "torch is an optional extra"
PI = math.pi

# the functions of two scalars; max_gap takes one of them
PAIRS: dict[str, Callable[[Any, Any], Any]] = {
    "retraction_angle": retraction_angle,
    "matching_alpha": matching_alpha,
    "gap": gap,
    "lower bound": lambda alpha, theta: gap_bounds(alpha, theta).lower,
    "upper bound": lambda alpha, theta: gap_bounds(alpha, theta).upper,
    "cubic_gap": cubic_gap,
    "contract": lambda alpha, theta: contract(theta, alpha, 3),
}
every_pair = pytest.mark.parametrize("function", PAIRS.values(), ids=PAIRS)


def points(count: int = 400) -> tuple[Any, Any]:
    """Points of [0, 1] x (0, pi), among them many close to 0, 1/2, 1 and to 0, pi."""
    rng = np.random.default_rng(8)
    close = 10 ** rng.uniform(-12, -1, count)
    alpha = np.select(
        [np.arange(count) % 5 == k for k in range(4)],
        [close, 0.5 - close, 0.5 + close, 1 - close],
        rng.random(count),
    )
    theta = np.concatenate(
        [
            10 ** rng.uniform(-8, 0.49, count // 4),
            rng.uniform(0.01, PI, count // 2),
            PI - 10 ** rng.uniform(-8, 0, count // 4),
        ]
    )
    corners = np.meshgrid([0, 1e-12, 0.25, 0.5 - 1e-12, 0.5, 0.75, 1], [1e-8, 1, 2, PI - 1e-8, PI])
    return np.append(alpha, corners[0]), np.append(theta, corners[1])


ALPHA, THETA = points()


def worst_ulp(ours: Any, exact: Callable[..., Any], *arguments: Any) -> float:
    """Worst error of `ours` in ulp of the exact value, which is found with 60 digits."""
    worst = 0.0
    with mp.workdps(60):
        for value, *point in zip(ours, *arguments, strict=True):
            right = exact(*map(mpf, point))
            error = abs(mpf(float(value)) - right)
            worst = max(worst, float(error / math.ulp(float(right))))
    return worst


def exact_phi(alpha: Any, theta: Any) -> Any:
    return mp.atan2(alpha * mp.sin(theta), 1 - alpha + alpha * mp.cos(theta))


def exact_gap(alpha: Any, theta: Any) -> Any:
    triple_zero = alpha in (0, 0.5, 1)  # where 60 digits leave some noise
    return mpf(0) if triple_zero else alpha * theta - exact_phi(alpha, theta)


def exact_max_gap(theta: Any) -> tuple[Any, Any]:
    x = theta / 2
    q = mp.sqrt(mp.tan(x) / x - 1)
    return mp.atan(q) - x * q / mp.tan(x), (1 - q / mp.tan(x)) / 2


# accuracy


def test_retraction_angle_is_within_4_ulp() -> None:
    assert worst_ulp(retraction_angle(ALPHA, THETA), exact_phi, ALPHA, THETA) <= 4


def test_gap_is_within_8_ulp() -> None:
    assert worst_ulp(gap(ALPHA, THETA), exact_gap, ALPHA, THETA) <= 8


def test_gap_is_as_good_where_alpha_is_tiny() -> None:
    alpha = np.array([1e-280, 1e-100, 1e-30, 1e-17])
    for theta in (0.001, 1.0, 3.0):
        assert worst_ulp(gap(alpha, theta), lambda a, t=theta: a * (mpf(t) - mp.sin(t)), alpha) <= 8


def test_cubic_gap_is_within_5_ulp() -> None:
    def exact(a: Any, theta: Any) -> Any:
        return a * (1 - a) * (1 - 2 * a) * theta**3 / 6

    assert worst_ulp(cubic_gap(ALPHA, THETA), exact, ALPHA, THETA) <= 5


def test_matching_alpha_is_within_4_ulp() -> None:
    def exact(f: Any, theta: Any) -> Any:
        return mp.sin(f * theta) / (mp.sin(f * theta) + mp.sin((1 - f) * theta))

    assert worst_ulp(matching_alpha(ALPHA, THETA), exact, ALPHA, THETA) <= 4


def test_max_gap_is_within_8_ulp_and_its_place_within_4() -> None:
    most = max_gap(THETA)
    assert worst_ulp(most.gap, lambda theta: exact_max_gap(theta)[0], THETA) <= 8
    assert worst_ulp(most.alpha, lambda theta: exact_max_gap(theta)[1], THETA) <= 4


def test_each_angle_of_contract_is_within_4_ulp_of_a_step_from_the_one_before() -> None:
    angles = contract(THETA, ALPHA, 4)
    assert (angles[:, 0] == THETA).all()
    for before, after in zip(angles.T[:-1], angles.T[1:], strict=True):
        assert worst_ulp(after, lambda a, theta: exact_phi(1 - a, theta), ALPHA, before) <= 4


def test_gap_bounds_are_the_stated_ones_within_30_ulp_outwards() -> None:
    def exact_upper(a: Any, theta: Any) -> Any:
        beta = 1 - 2 * a
        return beta * (1 - beta**2) * mp.tan(theta / 2) ** 3 / 3

    def exact_lower(a: Any, theta: Any) -> Any:
        t = mp.tan(theta / 2)
        return exact_upper(a, theta) / ((1 + t**2) * (1 + ((1 - 2 * a) * t) ** 2))

    alpha, theta = ALPHA[ALPHA <= 0.5], THETA[ALPHA <= 0.5]
    lower, upper = gap_bounds(alpha, theta)
    assert worst_ulp(upper, exact_upper, alpha, theta) <= 50
    assert worst_ulp(lower, exact_lower, alpha, theta) <= 50
    with mp.workdps(60):
        inner = (ALPHA[ALPHA <= 0.5] % 0.5) > 0
        for a, t, l, u in zip(alpha[inner], theta[inner], lower[inner], upper[inner], strict=True):
            assert l < exact_lower(mpf(a), mpf(t))
            assert u > exact_upper(mpf(a), mpf(t))


def test_float32_is_computed_in_float32_and_loses_no_more() -> None:
    alpha, theta = ALPHA.astype(np.float32), np.minimum(THETA, 3.14159).astype(np.float32)
    for function in PAIRS.values():
        ours = function(alpha, theta)
        assert ours.dtype == np.float32
        if function is not PAIRS["contract"]:
            right = function(alpha.astype(np.float64), theta.astype(np.float64))
            np.testing.assert_allclose(ours, right, rtol=4e-6, atol=0)


def test_the_nodes_and_weights_are_those_of_the_legendre_polynomial() -> None:
    with mp.workdps(50):
        for node, weight in geodesic._GAUSS:
            root = mpmath.findroot(lambda s: mpmath.legendre(13, s), node)
            slope = 13 * (root * mpmath.legendre(13, root) - mpmath.legendre(12, root)) / (root**2 - 1)
            assert node == float(root)
            assert weight == float(2 / ((1 - root**2) * slope**2))


# identities


def test_half_a_step_is_exactly_half_for_every_theta() -> None:
    assert (retraction_angle(0.5, THETA) == THETA / 2).all()
    assert (gap(0.5, THETA) == 0).all()
    assert (matching_alpha(0.5, THETA) == 0.5).all()


def test_no_step_and_the_whole_step_are_exact() -> None:
    for function in (retraction_angle, lambda alpha, theta: matching_alpha(alpha, theta) * theta):
        assert (function(0, THETA) == 0).all()
        assert (function(1, THETA) == THETA).all()
    assert (gap([[0], [1]], THETA) == 0).all()


def test_steps_from_both_ends_meet() -> None:
    exact = np.round(ALPHA * 2**40) / 2**40  # so that 1 - alpha is exact
    both = retraction_angle(exact, THETA) + retraction_angle(1 - exact, THETA)
    np.testing.assert_array_max_ulp(both, THETA, 1)
    assert (gap(1 - exact, THETA) == -gap(exact, THETA)).all()
    assert (cubic_gap(1 - exact, THETA) == -cubic_gap(exact, THETA)).all()
    lower, upper = gap_bounds(exact, THETA)
    mirrored = gap_bounds(1 - exact, THETA)
    strict = exact != 0.5
    assert (mirrored.lower[strict] == -upper[strict]).all()
    assert (mirrored.upper[strict] == -lower[strict]).all()


def test_the_gap_is_what_is_missing_to_the_geodesic_step() -> None:
    wide = THETA > 0.1
    missing = ALPHA * THETA - retraction_angle(ALPHA, THETA)
    np.testing.assert_allclose(gap(ALPHA, THETA)[wide], missing[wide], rtol=0, atol=2e-15)


def test_the_gap_lies_between_its_bounds() -> None:
    lower, upper = gap_bounds(ALPHA, THETA)
    assert (lower <= gap(ALPHA, THETA)).all()
    assert (gap(ALPHA, THETA) <= upper).all()


def test_the_gap_lies_between_its_bounds_also_where_the_three_agree_to_rounding() -> None:
    alpha, theta = np.linspace(0, 1, 501), np.logspace(-8, -5, 61)[:, None]
    lower, upper = gap_bounds(alpha, theta)
    assert (lower <= gap(alpha, theta)).all()
    assert (gap(alpha, theta) <= upper).all()


def test_the_gap_lags_below_one_half_and_leads_above() -> None:
    inner = (ALPHA > 0) & (ALPHA < 1)
    assert (np.sign(gap(ALPHA, THETA)) == np.sign(0.5 - ALPHA))[inner].all()


def test_no_gap_is_larger_than_the_largest() -> None:
    theta = np.linspace(0.01, PI, 300)
    most = max_gap(theta)
    everywhere = gap(np.linspace(0, 1, 401)[:, None], theta)
    assert (np.abs(everywhere) <= most.gap * (1 + 4e-15)).all()
    np.testing.assert_array_max_ulp(gap(most.alpha, theta), most.gap, 16)


def test_the_largest_gap_and_its_place_grow_with_theta() -> None:
    most = max_gap(np.linspace(0.01, PI, 300))
    assert (np.diff(most.gap) > 0).all()
    assert (np.diff(most.alpha) > 0).all()


def test_the_largest_gaps_to_twelve_digits() -> None:
    most = max_gap(np.radians([45, 90, 135, 170]))
    degrees = [0.459407542151, 4.074568596223, 17.048924829156, 49.627777877031]
    np.testing.assert_allclose(np.degrees(most.gap), degrees, rtol=0, atol=6e-13)
    alphas = [0.217459194, 0.238638400, 0.287854698, 0.386731468]
    np.testing.assert_allclose(most.alpha, alphas, rtol=0, atol=6e-10)


def test_retraction_angle_grows_with_alpha_and_theta() -> None:
    grid = retraction_angle(np.linspace(0, 1, 101)[:, None], np.linspace(0, PI - 0.01, 101))
    assert (np.diff(grid, axis=0)[:, 1:] > 0).all()
    assert (np.diff(grid, axis=1)[1:50] != 0).all()


def test_retraction_angle_of_a_step_beyond_the_ends() -> None:
    for alpha in (-1000.0, -0.25, 1.25, 1000.0):
        ours = retraction_angle(np.full(THETA.shape, alpha), THETA)
        assert worst_ulp(ours, exact_phi, np.full(THETA.shape, alpha), THETA) <= 6


def test_the_matching_alpha_moves_the_wanted_fraction() -> None:
    wide = THETA < 3
    moved = retraction_angle(matching_alpha(ALPHA, THETA), THETA)
    np.testing.assert_allclose(moved[wide], (ALPHA * THETA)[wide], rtol=3e-14, atol=0)


def test_contraction_near_zero_from_above_and_from_below() -> None:
    alpha = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    rate = contract(1e-3, alpha, 1)[:, 1] / 1e-3
    np.testing.assert_allclose(rate, 1 - alpha, rtol=1e-6)
    assert (np.sign(rate - (1 - alpha)) == [1, 1, 0, -1, -1]).all()


def test_contraction_law_in_cotangents() -> None:
    theta, alpha = np.linspace(0.1, 3, 50)[:, None], np.linspace(0, 0.95, 20)
    after = contract(theta, alpha, 1)[..., 1]
    expected = 1 / np.tan(theta) + alpha / (1 - alpha) / np.sin(theta)
    np.testing.assert_allclose(1 / np.tan(after), expected, rtol=1e-12, atol=1e-12)


# special points


def test_theta_zero() -> None:
    alpha = np.array([0, 0.2, 0.5, 0.7, 1])
    for zero in (retraction_angle(alpha, 0), gap(alpha, 0), cubic_gap(alpha, 0), *gap_bounds(alpha, 0)):
        assert (zero == 0).all()
    assert (matching_alpha(alpha, 0) == alpha).all()
    assert max_gap(0).gap == 0
    assert max_gap(0).alpha == pytest.approx((3 - math.sqrt(3)) / 6, rel=1e-15, abs=0)
    assert (contract(0, alpha, 2) == 0).all()


def test_the_number_nearest_to_pi_is_what_it_is_a_little_less_than_pi() -> None:
    assert gap(0.3, PI) == pytest.approx(0.3 * PI, rel=1e-15, abs=0)
    assert gap(0.7, PI) == pytest.approx(-0.3 * PI, rel=1e-15, abs=0)
    assert (retraction_angle([0, 0.5, 1], PI) == [0, PI / 2, PI]).all()
    assert 0 < retraction_angle(0.3, PI) < 1e-15
    assert PI - 1e-15 < retraction_angle(0.7, PI) <= PI
    assert max_gap(PI).gap == pytest.approx(PI / 2, abs=1e-7)


def test_float32_pi_which_lies_above_pi_is_taken_as_just_below() -> None:
    pi = np.float32(PI)
    assert float(pi) > PI
    assert gap(np.float32(0.3), pi) == pytest.approx(0.3 * PI, rel=1e-6, abs=0)
    assert 0 < retraction_angle(np.float32(0.3), pi) < 1e-6
    assert retraction_angle(np.float32(0.5), pi) == pytest.approx(PI / 2, rel=1e-6, abs=0)
    assert 1.5 < max_gap(pi).gap < PI / 2


@every_pair
def test_tiny_angles_give_no_warning(function: Callable[..., Any]) -> None:
    for theta in (5e-324, 1e-310, 1e-200, 1e-100):
        assert np.isfinite(function(0.3, theta)).all()


# NaN, empty arrays, shapes


@every_pair
def test_nan_propagates_elementwise_without_warnings(function: Callable[..., Any]) -> None:
    result = function([math.nan, 0.3, 0.3], [1.0, math.nan, 1.0])
    assert np.isnan(result[0]).any()
    assert np.isnan(result[1]).any()
    assert (result[2] == function(0.3, 1.0)).all()


def test_max_gap_of_nan() -> None:
    assert np.isnan(max_gap([math.nan, 1.0])).tolist() == [[True, False], [True, False]]


@every_pair
def test_empty_arrays_give_empty_arrays(function: Callable[..., Any]) -> None:
    assert function([], 1.0).shape[:1] == (0,)
    assert function(np.zeros((0, 3)), np.zeros(3)).shape[:2] == (0, 3)


def test_max_gap_of_an_empty_array() -> None:
    assert max_gap([]).gap.shape == max_gap([]).alpha.shape == (0,)


@every_pair
def test_broadcasting_equals_one_by_one(function: Callable[..., Any]) -> None:
    alpha, theta = np.linspace(0, 1, 5)[:, None], np.linspace(0, 3.1, 7)
    table = function(alpha, theta)
    assert table.shape[:2] == (5, 7)
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            np.testing.assert_array_max_ulp(value, function(float(alpha[i, 0]), float(theta[j])), 4)


@every_pair
def test_large_arrays_equal_small_ones(function: Callable[..., Any]) -> None:
    count = 2 * geodesic._BLOCK + 3
    alpha, theta = np.resize(ALPHA, count), np.resize(THETA, count)
    expected = np.resize(function(ALPHA, THETA), (count, *function(ALPHA, THETA).shape[1:]))
    np.testing.assert_array_max_ulp(function(alpha, theta), expected, 4)
    np.testing.assert_array_max_ulp(function(0.3, theta.reshape(1, -1, 1))[0, :, 0], function(0.3, theta), 4)


def test_contract_puts_the_steps_on_a_new_last_axis() -> None:
    assert contract(1.0, 0.3, 4).shape == (5,)
    assert contract([1.0, 2.0, 3.0], [[0.1], [0.2]], 0).shape == (2, 3, 1)
    assert contract(1.0, 0.3, np.int64(2)).shape == (3,)


# dtypes


@every_pair
def test_python_numbers_give_float64_scalars(function: Callable[..., Any]) -> None:
    value = function(0.25, 1)
    assert value.dtype == np.float64
    assert isinstance(value, np.float64) or value.ndim == 1  # contract
    assert (function(np.array(0.25), np.array([1])) == value).all()


@every_pair
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_python_numbers_take_the_dtype_of_arrays(function: Callable[..., Any], dtype: Any) -> None:
    assert function(0.3, np.array([1, 2], dtype=dtype)).dtype == dtype
    assert function(np.array([0.3], dtype=dtype), 1).dtype == dtype


@every_pair
def test_float16_is_computed_in_float32(function: Callable[..., Any]) -> None:
    alpha, theta = np.float16([0.1, 0.3, 0.7]), np.float16([0.02, 1.0, 3.0])
    better = function(alpha.astype(np.float32), theta.astype(np.float32))
    assert (function(alpha, theta) == better.astype(np.float16)).all()


@every_pair
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_torch_equals_numpy(function: Callable[..., Any], dtype: str) -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    kind = getattr(torch, dtype)
    alpha, theta = torch.tensor(ALPHA).to(kind), torch.tensor(np.minimum(THETA, 3.1)).to(kind)
    ours = function(alpha, theta)
    assert ours.dtype == kind
    wide = torch.float64 if dtype == "float64" else torch.float32
    expected = function(alpha.to(wide).numpy(), theta.to(wide).numpy())
    rtol = {"float64": 8e-15, "float32": 4e-6, "bfloat16": 8e-3, "float16": 1e-3}[dtype]
    tiny = 1e-7 if dtype == "float16" else 0  # half of its smallest number
    np.testing.assert_allclose(ours.to(wide).numpy(), expected, rtol=rtol, atol=tiny)


def test_max_gap_of_torch_equals_numpy() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    for ours, expected in zip(max_gap(torch.tensor(THETA)), max_gap(THETA), strict=True):
        np.testing.assert_allclose(ours.numpy(), expected, rtol=8e-15)


# gradients


def gradient(function: Callable[..., Any], *point: float) -> list[float]:
    torch = pytest.importorskip("torch", reason=REASON)
    tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in point]
    found = torch.autograd.grad(function(*tensors), tensors, allow_unused=True)
    return [float(x) for x in found]


@every_pair
def test_gradients_are_those_of_finite_differences(function: Callable[..., Any]) -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    kink = [] if function in (PAIRS["lower bound"], PAIRS["upper bound"]) else [0.5]
    alpha = torch.tensor([0.01, 0.2, 0.4, *kink, 0.6, 0.97], dtype=torch.float64, requires_grad=True)
    theta = torch.tensor([[0.3], [1.2], [2.9]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(function, (alpha, theta))


def test_gradients_of_max_gap_are_those_of_finite_differences() -> None:
    torch = pytest.importorskip("torch", reason=REASON)
    theta = torch.tensor([0.3, 1.2, 1.9, 2.1, 3.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: tuple(max_gap(t)), (theta,))


@pytest.mark.parametrize("theta", [1e-3, 0.5, 1.0, 2.0, 3.0])
def test_gradient_of_the_gap_at_the_triple_zero(theta: float) -> None:
    at_half = gradient(gap, 0.5, theta)
    assert at_half == pytest.approx([theta - 2 * math.tan(theta / 2), 0], rel=1e-8, abs=1e-300)
    for end in (0.0, 1.0):
        assert gradient(gap, end, theta) == pytest.approx([theta - math.sin(theta), 0], rel=1e-8, abs=1e-300)


@pytest.mark.parametrize("theta", [0.5, 1.0, 3.0])
def test_gradient_of_retraction_angle_at_special_points(theta: float) -> None:
    assert gradient(retraction_angle, 0.5, theta) == pytest.approx([2 * math.tan(theta / 2), 0.5])
    assert gradient(retraction_angle, 0.0, theta) == pytest.approx([math.sin(theta), 0])
    assert gradient(retraction_angle, 1.0, theta) == pytest.approx([math.sin(theta), 1])


def test_gradients_at_theta_zero() -> None:
    for alpha in (0.0, 0.2, 0.5, 0.7, 1.0):
        assert gradient(retraction_angle, alpha, 0.0) == pytest.approx([0, alpha], abs=1e-15)
        assert gradient(gap, alpha, 0.0) == [0, 0]
        assert gradient(cubic_gap, alpha, 0.0) == [0, 0]
        assert gradient(matching_alpha, alpha, 0.0) == pytest.approx([1, 0], abs=1e-15)
        assert gradient(lambda a, t: sum(gap_bounds(a, t)), alpha, 0.0) == [0, 0]
        assert gradient(lambda a, t: contract(t, a, 2)[-1], alpha, 0.0)[1] == pytest.approx((1 - alpha) ** 2)
    assert gradient(lambda t: max_gap(t).gap, 0.0) == [0]
    assert gradient(lambda t: max_gap(t).alpha, 0.0) == [0]


def test_gradients_are_finite_at_the_number_nearest_to_pi() -> None:
    for function in PAIRS.values():
        for alpha in (0.0, 0.3, 0.5, 0.7, 1.0):
            slopes = gradient(lambda a, t, f=function: f(a, t).sum(), alpha, PI)
            assert np.isfinite(slopes).all()


def test_gradient_of_the_matching_alpha_near_zero() -> None:
    for theta in (1e-6, 1e-4, 2e-4, 1e-3):
        expected = 0.3 * 0.7 * 0.4 * theta / 3
        assert gradient(matching_alpha, 0.3, theta)[1] == pytest.approx(expected, rel=1e-5, abs=0)


# errors


@pytest.mark.parametrize("name", ["gap", "lower bound", "cubic_gap", "contract"])
def test_alpha_outside_0_and_1_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match=r"alpha must lie in \[0, 1\]: got 1.25"):
        PAIRS[name](1.25, 1.0)
    with pytest.raises(ValueError, match=r"alpha must lie in \[0, 1\]: got -0.5 at index \(1, 0\)"):
        PAIRS[name]([[0.5, math.nan], [-0.5, -1]], 1.0)


def test_a_fraction_outside_0_and_1_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"fraction must lie in \[0, 1\]: got 2.0 at index \(1,\)"):
        matching_alpha([1, 2], 1.0)


def test_an_infinite_alpha_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"alpha must be finite: got -inf at index \(1,\)"):
        retraction_angle([0.5, -math.inf], 1.0)


@pytest.mark.parametrize("bad", [-1e-300, 3.1415926535897936, math.inf, -math.inf])
def test_theta_outside_0_and_pi_is_an_error(bad: float) -> None:
    for function in (*PAIRS.values(), lambda _, theta: max_gap(theta)):
        with pytest.raises(ValueError, match=r"theta must lie in \[0, pi\]: got .* at index \(2,\)"):
            function(0.3, [1, math.nan, bad, -7])


@every_pair
def test_shapes_that_do_not_broadcast_are_an_error(function: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"\(2, 3\).*\(4,\)|\(4,\).*\(2, 3\)"):
        function(np.zeros((2, 3)), np.zeros(4))


@every_pair
@pytest.mark.parametrize("bad", [1j, "1", None, True, [1j], [True], ["a"]])
def test_a_wrong_kind_is_an_error(function: Callable[..., Any], bad: Any) -> None:
    with pytest.raises(TypeError, match=r"alpha|fraction"):
        function(bad, 1.0)
    with pytest.raises(TypeError, match="theta"):
        function(0.3, bad)


@pytest.mark.parametrize("steps", [1.0, "2", None, True])
def test_steps_of_a_wrong_kind_are_an_error(steps: Any) -> None:
    with pytest.raises(TypeError, match="steps must be an integer: got"):
        contract(1.0, 0.3, steps)


def test_negative_steps_are_an_error() -> None:
    with pytest.raises(ValueError, match="steps must not be negative: got -2"):
        contract(1.0, 0.3, -2)


# the table


def test_the_module_prints_the_table_of_the_paper() -> None:
    command = [sys.executable, "-m", "ngeodesic.geodesic"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True)
    assert printed.stderr == ""
    for ratio in ("8.1506", "8.0368", "8.0092"):
        assert ratio in printed.stdout
    for largest in ("0.459407542", "4.074568596", "17.048924829", "49.627777877"):
        assert largest in printed.stdout
