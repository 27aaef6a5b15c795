"""The figures of the polar factor, the Stiefel manifold and SPEL: data for test_figures, what they draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ngeodesic import figures
from ngeodesic.polar import COEFFICIENTS

Draw = Callable[[], figures.BookFigure]
DRAWN: dict[str, Draw] = {}
SAYS: dict[str, list[str]] = {}

# --- the polar factor ---

VALUES = np.geomspace(1e-5, 1, 2001)
SETS = ("cubic", "classical_quintic", "muon_quintic", "polar_express")


def mapped(name: str, steps: int, values: Any = VALUES) -> Any:
    """What Newton-Schulz steps make of singular values."""
    table = COEFFICIENTS[name].steps
    for i in range(steps):
        a, b, c = table[min(i, len(table) - 1)]
        values = a * values + b * values**3 + c * values**5
    return values


def draw_maps() -> figures.BookFigure:
    names = {
        5: ("cubic", "classical_quintic", "muon_quintic"),
        8: ("cubic", "classical_quintic", "polar_express"),
    }
    return figures.singular_value_maps(VALUES, {k: {n: mapped(n, k) for n in names[k]} for k in names})


def largest_errors(smallest: float) -> dict[str, list[float]]:
    values = np.geomspace(smallest, 1, 2001)
    return {n: [np.max(np.abs(mapped(n, k, values) - 1)) for k in range(26)] for n in SETS}


def draw_errors() -> figures.BookFigure:
    return figures.newton_schulz_errors({smallest: largest_errors(smallest) for smallest in (0.1, 0.001)})


def draw_band() -> figures.BookFigure:
    return figures.singular_value_band(
        mapped("muon_quintic", 5, np.linspace(1e-4, 0.09, 512)), (0.6818, 1.2024)
    )


DRAWN |= {
    "singular_value_maps": draw_maps,
    "newton_schulz_errors": draw_errors,
    "singular_value_band": draw_band,
}
SAYS |= {
    "singular_value_maps": [
        "5 steps",
        "8 steps",
        "Muon's",
        "Polar",
        "cubic",
        "classical",
        "polar factor: 1",
        "$s'$",
    ],
    "newton_schulz_errors": [
        "steps",
        "from 0.1 to 1",
        "from 0.001 to 1",
        "Muon's",
        "Polar",
        "cubic",
        "classical",
    ],
    "singular_value_band": ["0.68", "1.20", "polar factor", "not lifted", "how many"],
}


def test_the_maps_draw_the_curves_of_their_steps() -> None:
    five, eight = draw_maps().axes
    for ax, name, steps in ((five, "muon_quintic", 5), (eight, "cubic", 8)):
        assert any(np.array_equal(line.get_ydata(), mapped(name, steps)) for line in ax.lines)


def test_the_errors_end_at_rounding_except_for_the_quintic_that_never_converges() -> None:
    for ax, smallest in zip(draw_errors().axes, (0.1, 0.001), strict=True):
        curves = largest_errors(smallest)
        for line, (name, errors) in zip(ax.lines, curves.items(), strict=True):
            drawn = line.get_ydata()
            assert (drawn[-1] < 1e-15) == (name != "muon_quintic")
            assert list(drawn[:-1]) == errors[: len(drawn) - 1]


def test_the_band_counts_every_singular_value_and_marks_those_below() -> None:
    values = np.concatenate([np.full(7, 0.31), np.full(20, 0.71), np.full(5, 1.11)])
    bars = figures.singular_value_band(values, (0.68, 1.2)).axes[0].patches
    heights = {
        round(bar.get_x() + bar.get_width() / 2, 2): bar.get_height() for bar in bars if bar.get_height()
    }
    assert heights == {0.31: 7, 0.71: 20, 1.11: 5}
    colours = {round(bar.get_x() + bar.get_width() / 2, 2): bar.get_facecolor() for bar in bars}
    assert colours[0.71] == colours[1.11] != colours[0.31]


# --- the Stiefel manifold ---

SIZES = np.geomspace(1e-3, 0.1, 20)


def draw_contact() -> figures.BookFigure:
    second, third = 0.2 * SIZES**2, 0.1 * SIZES**3
    return figures.order_of_contact(
        SIZES,
        {"Euclidean": {"polar": third, "QR": second}, "canonical": {"polar": second / 3, "QR": second}},
    )


def draw_gram_defects() -> figures.BookFigure:
    noise = 1e-15 * np.random.default_rng(6).uniform(0.3, 1, (3, 1000))
    kept = dict(zip(("tall", "wide", "square"), noise, strict=True))
    return figures.gram_defects(kept, 0.004 * np.arange(1, 1001))


DRAWN |= {
    "retraction_on_sphere": lambda: figures.retraction_on_sphere([2, 0, 0], [0, 2, 0]),
    "order_of_contact": draw_contact,
    "gram_defects": draw_gram_defects,
}
SAYS |= {
    "retraction_on_sphere": ["$W$", "$W + V$", "retraction", "geodesic", "tangent\nplane"],
    "order_of_contact": [
        "polar: slope 3.00",
        "polar: slope 2.00",
        "QR: slope 2.00",
        "Euclidean",
        "canonical",
        "distance",
        "size of the step",
    ],
    "gram_defects": ["steps", "Gram defect", "without retraction", "tall, wide, square", "float64"],
}


@pytest.mark.parametrize("size", [0.9, 1.0, 1.2])
def test_the_retraction_is_on_the_radius_and_the_geodesic_as_long_as_the_step(size: float) -> None:
    start, move = np.array([1.0, 2.0, 2.0]), size * np.array([2.0, 1.0, -2.0])
    figure = figures.retraction_on_sphere(start, move)
    single = {
        (line.get_marker(), line.get_color()): line.get_xydata()[0]
        for line in figure.axes[0].lines
        if len(line.get_xydata()) == 1
    }
    w, point = single["o", figures.INK], single["D", figures.CHORD]
    v = point - w
    np.testing.assert_allclose(single["s", figures.CHORD], point / np.sqrt(1 + size**2), atol=1e-12)
    end = np.cos(size) * w + np.sin(size) * v / size
    np.testing.assert_allclose(single["o", figures.GEODESIC], end, atol=1e-12)


def test_the_defects_are_drawn_step_by_step() -> None:
    loose, *kept = draw_gram_defects().axes[0].lines[:4]
    np.testing.assert_array_equal(loose.get_ydata(), 0.004 * np.arange(1, 1001))
    for line in kept:
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 1001))
        assert np.max(line.get_ydata()) <= 1e-15


# --- SPEL's step ---


def draw_lag() -> figures.BookFigure:
    asked, alpha = np.geomspace(5e-4, 1, 60), np.geomspace(5e-4, 0.45, 60)
    lost = np.pi / 2 * alpha - np.arctan2(alpha, 1 - alpha)
    return figures.lag_beside_gap(asked, asked - np.arctan(asked), alpha, lost)


def draw_turning(size: float) -> figures.BookFigure:
    turn = np.arctan(size)
    spread = np.linspace(0.9 * turn, 1.08 * turn, 64)
    cases = {
        "16 × 16": {"turned": np.full(16, turn)},
        "15 × 15": {"turned": np.append(0, np.full(14, turn))},
        "256 × 64": {"turned": spread, "principal": np.linspace(0.6 * turn, turn, 64)},
    }
    return figures.turning_angles(cases, size)


DRAWN |= {
    "tangent_rulers": lambda: figures.tangent_rulers([0.4, 0.8, 1.2]),
    "lag_beside_gap": draw_lag,
    "turning_angles": lambda: draw_turning(0.5),
}
SAYS |= {
    "tangent_rulers": [
        "$W$",
        r"W - \eta",
        r"$\sigma$",
        "0.4",
        "0.8",
        "1.2",
        "SPEL's step",
        "lag",
        "geodesic",
    ],
    "lag_beside_gap": ["SPEL", "nGPT at 90°", "= 0.05", "0.001", "0.01", "0.1", "asked for", "missing"],
    "turning_angles": [
        "16 × 16",
        "15 × 15",
        "256 × 64",
        r"$\arctan(\eta/\sigma)$",
        r"$\eta/\sigma$",
        "turned",
        "principal",
        "angle",
        "share",
    ],
}


def test_both_rulers_have_the_same_marks() -> None:
    sizes = np.array([0.4, 0.8, 1.2])
    lines = figures.tangent_rulers(sizes).axes[0].lines
    looks = {"D": figures.CHORD, "s": figures.CHORD, "o": figures.GEODESIC}
    points = {
        marker: [ln.get_xydata()[0] for ln in lines if (ln.get_marker(), ln.get_color()) == (marker, colour)]
        for marker, colour in looks.items()
    }
    np.testing.assert_allclose(points["D"], np.stack([sizes, np.ones(3)], axis=1))
    np.testing.assert_allclose(points["s"], np.array(points["D"]) / np.sqrt(1 + sizes**2)[:, None])
    np.testing.assert_allclose(points["o"], np.stack([np.sin(sizes), np.cos(sizes)], axis=1))


def test_the_lag_is_drawn_in_degrees_with_its_marks_on_the_curve() -> None:
    spel, _, *marks = draw_lag().axes[0].lines
    asked = np.radians(spel.get_xdata())
    np.testing.assert_allclose(np.radians(spel.get_ydata()), asked - np.arctan(asked), rtol=1e-6)
    x, y = np.radians([line.get_xydata()[0] for line in marks[:3]]).T
    np.testing.assert_allclose(x, [0.001, 0.01, 0.1])
    np.testing.assert_allclose(y, x**3 / 3, rtol=0.01)


def test_the_angles_are_sorted_and_the_lines_are_the_law_and_the_geodesic() -> None:
    for ax, count in zip(draw_turning(0.5).axes, (16, 15, 64), strict=True):
        law, whole, points = ax.lines[:3]
        assert law.get_xdata()[0] == pytest.approx(np.degrees(np.arctan(0.5)))
        assert whole.get_xdata()[0] == pytest.approx(np.degrees(0.5))
        assert len(points.get_xdata()) == count
        assert np.all(np.diff(points.get_xdata()) >= 0)


# --- the commutator ---

RATIO = np.linspace(0.01, 1, 100)
MARKED = np.array([0.25, 0.5, 0.75])


def arch(ratio: Any) -> Any:
    """Zero at both ends, with a maximum of 0.2 at 0.75."""
    return 0.2 * ratio / 0.75 * np.clip((1 - ratio) / 0.25, 0, 1) ** (1 / 3)


def draw_defect() -> figures.BookFigure:
    measured = {rows: (MARKED, arch(MARKED) + 0.4 / rows, [0.004] * 3) for rows in (32, 256)}
    return figures.defect_over_ratio(RATIO, arch(RATIO), measured)


DRAWN["defect_over_ratio"] = draw_defect
SAYS["defect_over_ratio"] = [
    "$n/m$",
    "tangency defect",
    "first order",
    "limit",
    "0.2000 at 0.750",
    "$m = 32$",
    "$m = 256$",
]


def test_the_defect_is_drawn_with_its_first_order_and_its_largest_value() -> None:
    first, limit, largest = draw_defect().axes[0].lines[:3]
    np.testing.assert_allclose(first.get_ydata(), np.asarray(first.get_xdata()) / 4)
    np.testing.assert_allclose(limit.get_ydata(), arch(RATIO))
    np.testing.assert_allclose(largest.get_xydata(), [[0.75, 0], [0.75, 0.2]])


def test_measured_defects_have_their_bars() -> None:
    ax = draw_defect().axes[0]
    assert len(ax.containers) == 2
    for points, (bars,) in ((c[0], c[2]) for c in ax.containers):
        middles = [np.mean(bar, axis=0) for bar in bars.get_segments()]
        np.testing.assert_allclose(middles, points.get_xydata())
        lengths = np.ptp([bar[:, 1] for bar in bars.get_segments()], axis=1)
        assert lengths == pytest.approx([0.008] * 3, rel=1e-9, abs=0)


# --- one law for both ---

STEPS = {
    "nGPT": np.array([0.05, 0.11, 0.17, 0.19, 0.33, 0.43, 0.47, 0.67, 0.74, 1.15, 1.2, 1.4, 1.5, 2.72]),
    "SPEL, one column": np.array([0.25, 0.9, 1.7, 2.4]),
    "SPEL, 16 × 16": np.array([0.55, 1.3, 2.05]),
    "SPEL, radius 3": np.array([0.4, 1.0, 2.2]),
}


def draw_one_arctan() -> figures.BookFigure:
    return figures.one_arctan({name: (sizes, np.arctan(sizes)) for name, sizes in STEPS.items()})


def draw_gap_in_two() -> figures.BookFigure:
    alpha = np.linspace(0, 0.56, 141)
    eta = alpha / (1 - alpha)
    return figures.gap_in_two(alpha, np.pi / 2 * alpha - eta, eta - np.arctan(eta))


DRAWN |= {
    "one_arctan": draw_one_arctan,
    "chord_on_tangent": lambda: figures.chord_on_tangent(np.radians(80), [0.25, 0.5, 0.75]),
    "gap_in_two": draw_gap_in_two,
}
SAYS |= {
    "one_arctan": [*STEPS, r"$\eta/\sigma$", "angle turned", "geodesic", r"\arctan", "90°"],
    "chord_on_tangent": [
        "$h$",
        r"$h_{\mathrm{A}}$",
        "0.25",
        "0.75",
        "0.31",
        "0.84",
        "1.94",
        "on the tangent",
    ],
    "gap_in_two": ["gap $G$", "the ruler", "the lag", r"$\alpha\theta - \eta$", "angle missing", "0.5"],
}


def test_every_step_is_drawn_where_it_was_measured() -> None:
    _, geodesic, curve, *points = draw_one_arctan().axes[0].lines
    np.testing.assert_allclose(np.radians(geodesic.get_ydata()), geodesic.get_xdata())
    np.testing.assert_allclose(np.tan(np.radians(curve.get_ydata())), curve.get_xdata())
    for drawn, sizes in zip(points[::2], STEPS.values(), strict=True):
        np.testing.assert_allclose(drawn.get_xdata(), sizes)
        np.testing.assert_allclose(drawn.get_ydata(), np.degrees(np.arctan(sizes)))


def test_chord_step_and_tangent_point_are_on_one_ray() -> None:
    theta, alphas = np.radians(80), np.array([0.25, 0.5, 0.75])
    lines = figures.chord_on_tangent(theta, alphas).axes[0].lines
    points = {
        look: np.array([ln.get_xydata()[0] for ln in lines if (ln.get_marker(), ln.get_color()) == look])
        for look in (("D", figures.CHORD), ("s", figures.CHORD), ("D", figures.INK), ("o", figures.GEODESIC))
    }
    chord, step, tangent, slerp = points.values()
    eta = alphas * np.sin(theta) / (1 - alphas + alphas * np.cos(theta))
    np.testing.assert_allclose(tangent, np.stack([eta, np.ones(3)], axis=1))
    np.testing.assert_allclose(step, tangent / np.linalg.norm(tangent, axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_allclose(chord / chord[:, 1:], tangent, atol=1e-12)
    np.testing.assert_allclose(slerp, np.stack([np.sin(alphas * theta), np.cos(alphas * theta)], axis=1))


def test_the_two_parts_of_the_gap_add_up_and_the_zeros_are_marked() -> None:
    _, lag, ruler, total, *zeros = draw_gap_in_two().axes[0].lines
    np.testing.assert_allclose(np.add(lag.get_ydata(), ruler.get_ydata()), total.get_ydata())
    places = [line.get_xydata()[0] for line in zeros]
    np.testing.assert_allclose(places, [[1 - 2 / np.pi, 0], [0.5, 0]], atol=1e-4)
