"""The figures of the per-dimension step draw what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ngeodesic import figures
from ngeodesic.geodesic import angle, retract

H, TARGET, ALPHA = np.array([-2.0, 1.0, 0.0]), np.array([1.0, 0.0, -2.0]), (0.7, 0.1, 0.4)


def marked(figure: Any, marker: str, colour: str) -> Any:
    """The places of the single points drawn with this marker and colour."""
    lines = [line for ax in figure.axes for line in ax.lines]
    return np.array(
        [line.get_xydata()[0] for line in lines if (line.get_marker(), line.get_color()) == (marker, colour)]
    )


@pytest.mark.parametrize("mirror", [(1, 1, 1), (-1, 1, 1)])
def test_the_step_is_on_its_ray_and_rises_from_its_foot_on_either_side(mirror: Any) -> None:
    start, end = H * mirror, TARGET * mirror
    figure = figures.step_off_circle(3 * start, end, ALPHA)
    (point,), (stepped,) = marked(figure, "D", figures.CHORD), marked(figure, "s", figures.CHORD)
    foot, h, target = marked(figure, "o", figures.INK)
    u, v = start / np.linalg.norm(start), end / np.linalg.norm(end)
    length = np.linalg.norm(u + np.array(ALPHA) * (v - u))
    np.testing.assert_allclose(point, length * stepped, atol=1e-12)
    assert stepped[1] > foot[1]
    # the map to the screen is linear: the foot has the projection's coordinates in h and target
    step = retract(start, end, ALPHA)
    along = np.linalg.lstsq(np.stack([u, v], axis=1), step, rcond=None)[0]
    projected = along[0] * u + along[1] * v
    drawn = (along[0] * h + along[1] * target) / np.linalg.norm(projected)
    np.testing.assert_allclose(foot, drawn, atol=1e-12)
    assert angle(step, projected) > 0.3


def test_the_screen_shows_lengths_as_an_orthogonal_projection_does() -> None:
    figure = figures.step_off_circle(H, TARGET, ALPHA)
    for place in (*marked(figure, "s", figures.CHORD), *marked(figure, "o", figures.INK)):
        assert np.linalg.norm(place) <= 1


def test_the_dimensions_carry_their_norms_the_law_and_the_band() -> None:
    dims, norms = np.array([64, 256, 1024]), np.array([[0.1, 0.2], [0.15, 0.17], [0.16, 0.165]])
    figure = figures.off_plane_dimension(dims, norms, 0.16, norms[:, 0], norms[:, 1])
    points, law = figure.axes[0].lines
    np.testing.assert_array_equal(points.get_ydata(), norms.ravel())
    places = points.get_xdata().reshape(norms.shape)
    np.testing.assert_allclose(np.sqrt(places[:, 0] * places[:, 1]), dims)
    assert set(law.get_ydata()) == {0.16}
    band = figure.axes[0].collections[0].get_paths()[0].vertices
    assert {(d, y) for d, low in zip(dims, norms, strict=True) for y in low} <= set(map(tuple, band))


def test_the_histogram_counts_every_norm_and_colours_the_interval() -> None:
    norms = np.linspace(0.1, 0.2, 600)
    figure = figures.off_plane_histogram(norms, 0.15, [0.12], (0.11, 0.19))
    bars = figure.axes[0].patches
    assert sum(bar.get_height() for bar in bars) == 600
    inside = [bar for bar in bars if 0.11 <= bar.get_x() + bar.get_width() / 2 <= 0.19]
    assert len({bar.get_facecolor() for bar in inside}) == 1
    assert sum(bar.get_height() for bar in inside) == 480
    np.testing.assert_array_equal(marked(figure, "s", figures.CHORD), [[0.12, 0]])
