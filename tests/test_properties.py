"""Properties of the functions of geodesic.py that hold for all inputs, tried on inputs from Hypothesis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ngeodesic.geodesic import (
    angle,
    contract,
    cubic_gap,
    gap,
    gap_bounds,
    matching_alpha,
    max_gap,
    retract,
    retraction_angle,
    slerp,
)

EPS = float(np.finfo(np.float64).eps)
repeatable = settings(max_examples=40, deadline=None, derandomize=True, database=None)

alphas = st.floats(0, 1)
angles = st.floats(0, math.pi - 1e-6)
entries = st.floats(-4, 4, width=32)


@st.composite
def batches(draw: Any, count: int = 2) -> list[Any]:
    """Arrays of one shape (rows, dim) whose rows are not near zero."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(2, 6)))
    found = [draw(arrays(np.float64, shape, elements=entries)) for _ in range(count)]
    for array in found:
        assume((np.linalg.norm(array, axis=1) > 0.1).all())
    return found


def rotation(dim: int, seed: int) -> Any:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, dim)))[0]


def away_from_antipodes(h: Any, target: Any) -> None:
    assume((angle(h, target) < 3).all())


# vectors


@repeatable
@given(batches(), alphas, st.integers(0, 100))
def test_rotations_change_nothing(pair: Any, alpha: float, seed: int) -> None:
    h, target = pair
    turn = rotation(h.shape[1], seed)
    np.testing.assert_allclose(angle(h @ turn, target @ turn), angle(h, target), rtol=0, atol=2e-14)
    away_from_antipodes(h, target)
    for function in (retract, slerp):
        turned = function(h @ turn, target @ turn, alpha)
        np.testing.assert_allclose(turned, function(h, target, alpha) @ turn, rtol=0, atol=2e-13)


@repeatable
@given(batches(), alphas, st.integers(-500, 500), st.integers(-500, 500))
def test_scales_change_nothing(pair: Any, alpha: float, p: int, q: int) -> None:
    h, target = pair
    h, target = (np.where(np.abs(x) < 1e-10, 0, x) for x in pair)
    scaled = np.ldexp(h, p), np.ldexp(target, q)
    np.testing.assert_allclose(angle(*scaled), angle(h, target), rtol=8 * EPS, atol=0)
    away_from_antipodes(h, target)
    for function in (retract, slerp):
        np.testing.assert_allclose(function(*scaled, alpha), function(h, target, alpha), rtol=0, atol=1e-14)


@repeatable
@given(batches(), alphas)
def test_symmetry_of_vectors(pair: Any, alpha: float) -> None:
    h, target = pair
    # of parallel vectors rounding may leave an angle of the size of eps^2
    np.testing.assert_allclose(angle(h, target), angle(target, h), rtol=8 * EPS, atol=1e-30)
    np.testing.assert_allclose(angle(h, -target), math.pi - angle(h, target), rtol=0, atol=8 * EPS)
    away_from_antipodes(h, target)
    for function in (retract, slerp):
        back = function(target, h, 1 - alpha)
        np.testing.assert_allclose(function(h, target, alpha), back, rtol=0, atol=2e-14)


@repeatable
@given(batches(3))
def test_the_angle_is_a_metric(triple: Any) -> None:
    x, y, z = triple
    assert (angle(x, x) == 0).all()
    assert ((angle(x, y) >= 0) & (angle(x, y) <= math.pi)).all()
    assert (angle(x, z) <= angle(x, y) + angle(y, z) + 1e-14).all()


@repeatable
@given(batches(), alphas)
def test_points_move_by_the_angles_of_the_scalar_laws(pair: Any, alpha: float) -> None:
    h, target = pair
    away_from_antipodes(h, target)
    theta = angle(h, target)
    np.testing.assert_allclose(np.linalg.norm(retract(h, target, alpha), axis=1), 1, rtol=2 * EPS)
    moved = angle(h, retract(h, target, alpha))
    np.testing.assert_allclose(moved, retraction_angle(alpha, theta), rtol=0, atol=2e-14)
    np.testing.assert_allclose(angle(h, slerp(h, target, alpha)), alpha * theta, rtol=0, atol=2e-14)
    matched = retract(h, target, matching_alpha(alpha, theta)[:, None])
    np.testing.assert_allclose(matched, slerp(h, target, alpha), rtol=0, atol=2e-14)
    deviation = angle(retract(h, target, alpha), slerp(h, target, alpha))
    np.testing.assert_allclose(deviation, np.abs(gap(alpha, theta)), rtol=0, atol=2e-14)


@repeatable
@given(batches(), st.data())
def test_broadcasting_vectors_equals_row_by_row(pair: Any, data: Any) -> None:
    h, target = pair
    away_from_antipodes(h[:, None], target)
    steps = data.draw(arrays(np.float64, len(h), elements=alphas))
    per_dimension = data.draw(arrays(np.float64, h.shape[1], elements=st.floats(0, 0.4)))
    table = angle(h[:, None], target)
    points = slerp(h[:, None], target, steps)
    stepped = retract(h[:, None], target, per_dimension)
    for i in range(len(h)):
        for j in range(len(target)):
            row = h[i], target[j]
            np.testing.assert_allclose(table[i, j], angle(*row), rtol=4 * EPS, atol=0)
            np.testing.assert_allclose(points[i, j], slerp(*row, steps[j]), rtol=0, atol=4e-15)
            np.testing.assert_allclose(stepped[i, j], retract(*row, per_dimension), rtol=0, atol=4e-15)


@repeatable
@given(batches(), alphas)
def test_numpy_equals_torch_on_vectors(pair: Any, alpha: float) -> None:
    torch = pytest.importorskip("torch", reason="torch is an optional extra")
    h, target = pair
    h_torch, target_torch = torch.from_numpy(h), torch.from_numpy(target)
    np.testing.assert_allclose(angle(h_torch, target_torch).numpy(), angle(h, target), rtol=8 * EPS, atol=0)
    away_from_antipodes(h, target)
    for function in (retract, slerp):
        result = function(h_torch, target_torch, alpha).numpy()
        np.testing.assert_allclose(result, function(h, target, alpha), rtol=0, atol=1e-14)


# angles


@repeatable
@given(alphas, angles)
def test_symmetry_of_the_step(alpha: float, theta: float) -> None:
    there, back = retraction_angle(alpha, theta), retraction_angle(1 - alpha, theta)
    assert there + back == pytest.approx(theta, rel=4 * EPS, abs=2 * EPS)  # 1 - alpha is rounded
    exact = 1 - (1 - alpha)  # its complement 1 - exact is exact
    assert gap(1 - exact, theta) == -gap(exact, theta)


@repeatable
@given(alphas, angles)
def test_bounds(alpha: float, theta: float) -> None:
    assert 0 <= retraction_angle(alpha, theta) <= theta
    lower, upper = gap_bounds(alpha, theta)
    assert lower <= gap(alpha, theta) <= upper
    assert abs(gap(alpha, theta)) <= max_gap(theta).gap * (1 + 16 * EPS)
    assert gap(alpha, theta) * (1 - 2 * alpha) >= 0
    assert 0 <= matching_alpha(alpha, theta) <= 1


@repeatable
@given(alphas, angles)
def test_laws_of_the_step(alpha: float, theta: float) -> None:
    phi = retraction_angle(alpha, theta)
    assert gap(alpha, theta) == pytest.approx(alpha * theta - phi, abs=2e-15)
    assert retraction_angle(0.5, theta) == theta / 2
    # d phi / d alpha is up to 2 tan(theta/2), and alpha is rounded
    rounding = 4 * EPS * (1 + 2 * math.tan(theta / 2))
    assert abs(retraction_angle(matching_alpha(alpha, theta), theta) - alpha * theta) <= rounding
    steps = contract(theta, alpha, 3)
    np.testing.assert_allclose(
        steps[1:], steps[:-1] - retraction_angle(alpha, steps[:-1]), rtol=0, atol=2e-15
    )
    small = 1e-4 * theta
    assert cubic_gap(alpha, small) == pytest.approx(gap(alpha, small), rel=1e-7, abs=0)


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "retraction_angle": retraction_angle,
    "gap": gap,
    "lower bound": lambda alpha, theta: gap_bounds(alpha, theta).lower,
    "upper bound": lambda alpha, theta: gap_bounds(alpha, theta).upper,
    "cubic_gap": cubic_gap,
    "max_gap": lambda alpha, theta: max_gap(theta).gap + 0 * alpha,
    "best alpha": lambda alpha, theta: max_gap(theta).alpha + 0 * alpha,
    "matching_alpha": matching_alpha,
    "contract": lambda alpha, theta: contract(theta, alpha, 2)[..., -1],
}
every_function = pytest.mark.parametrize("function", ELEMENTWISE.values(), ids=ELEMENTWISE)
alpha_columns = arrays(np.float64, (3, 1), elements=alphas)
angle_rows = arrays(np.float64, 4, elements=st.floats(1e-8, math.pi - 1e-6))


@every_function
@settings(repeatable, max_examples=20)
@given(alpha_columns, angle_rows)
def test_broadcasting_angles_equals_one_by_one(function: Any, alpha: Any, theta: Any) -> None:
    table = function(alpha, theta)
    assert table.shape == (3, 4)
    for i, j in np.ndindex(3, 4):
        single = function(float(alpha[i, 0]), float(theta[j]))
        np.testing.assert_allclose(table[i, j], single, rtol=8 * EPS, atol=1e-300)


@every_function
@settings(repeatable, max_examples=20)
@given(alpha_columns, angle_rows)
def test_numpy_equals_torch_on_angles(function: Any, alpha: Any, theta: Any) -> None:
    torch = pytest.importorskip("torch", reason="torch is an optional extra")
    result = function(torch.from_numpy(alpha), torch.from_numpy(theta)).numpy()
    # near pi tan(theta/2) carries the rounding of theta, so both are as good as their functions are
    np.testing.assert_allclose(result, function(alpha, theta), rtol=32 * EPS, atol=1e-300)
