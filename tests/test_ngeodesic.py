"""The paper's own list of checks on the scalar step, as plain as they can be said."""

import numpy as np
import pytest

from ngeodesic.geodesic import angle, contract, gap, max_gap, retract, retraction_angle

THETA = np.radians(np.arange(1, 180))


@pytest.mark.parametrize("alpha", [0, 0.5, 1])
def test_the_gap_is_zero_at_the_triple_zero(alpha: float) -> None:
    assert (gap(alpha, THETA) == 0).all()


@pytest.mark.parametrize("alpha", [0.125, 0.25, 0.4375])
def test_the_gap_is_odd_about_one_half(alpha: float) -> None:
    assert (gap(1 - alpha, THETA) == -gap(alpha, THETA)).all()


def test_half_a_step_moves_exactly_half_the_angle() -> None:
    assert (retraction_angle(0.5, THETA) == THETA / 2).all()
    assert (contract(THETA, 0.5, 10) == THETA[:, None] / 2.0 ** np.arange(11)).all()


def test_half_a_step_of_vectors_moves_half_the_angle() -> None:
    theta = THETA[:135]  # nearer to pi, the rounding of the vectors counts for more
    h, target = np.array([1.0, 0.0]), np.stack([np.cos(theta), np.sin(theta)], axis=-1)
    moved = angle(h, retract(h, target, 0.5))
    assert np.max(np.abs(np.degrees(moved - theta / 2))) <= 4e-14


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.3, 0.49])
def test_the_gap_is_not_zero_elsewhere(alpha: float) -> None:
    assert (gap(alpha, THETA) > 0).all()
    assert (gap(1 - alpha, THETA) < 0).all()


def test_the_largest_gap_shrinks_as_the_cube_of_the_angle() -> None:
    theta = np.radians([40, 20, 10, 5])
    largest = max_gap(theta).gap
    np.testing.assert_allclose(largest[:-1] / largest[1:], [8.15, 8.04, 8.01], rtol=0, atol=0.005)


def test_the_largest_gaps() -> None:
    largest = np.degrees(max_gap(np.radians([45, 90, 135, 170])).gap)
    rounded = [round(float(degrees), digits) for degrees, digits in zip(largest, (2, 2, 1, 1), strict=True)]
    assert rounded == [0.46, 4.07, 17.0, 49.6]


@pytest.mark.parametrize("alpha", [0.1, 0.25, 0.5, 0.75, 0.9])
def test_a_step_contracts_a_small_angle_by_one_minus_alpha(alpha: float) -> None:
    before, after = contract(1e-6, alpha, 1)
    assert after / before == pytest.approx(1 - alpha, rel=1e-11, abs=0)
