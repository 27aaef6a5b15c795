"""The figures that compare optimizers: data for test_figures, what they draw."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ngeodesic import figures

Draw = Callable[[], figures.BookFigure]

METHODS = ("spel", "muon", "published", "riemannian")
STEPS = np.arange(0, 301, 5)
PROBLEMS = ("a clear gap", "a power law", "a power law, shifted")


def falling(rates: tuple[float, ...]) -> dict[str, np.ndarray]:
    """Curves of five runs that fall to the power of the steps, by the methods."""
    spread = np.geomspace(0.5, 2, 5)[:, None]
    return {m: np.minimum(1, spread * 10.0 ** (-r * STEPS)) for m, r in zip(METHODS, rates, strict=False)}


def draw_convergence() -> figures.BookFigure:
    gap = {p: falling((0.03, 0.06, 0.058, 0.01)) for p in PROBLEMS}
    error = {p: falling((0.015, 0.03, 0.029, 0.005)) for p in PROBLEMS}
    return figures.convergence(STEPS, gap, error)


def draw_constant_rate() -> figures.BookFigure:
    steps = np.arange(201)
    errors = {
        r"$\eta = 0.1$": np.maximum(1 - 0.1 * steps, 0.06),
        r"$\eta = 0.01$": np.maximum(1 - 0.01 * steps, 0.006),
        r"$\eta$ falls": 10.0 ** (-0.03 * steps),
    }
    floors = {r"$\eta = 0.1$": 0.05, r"$\eta = 0.01$": 0.005}
    return figures.constant_rate(errors, floors)


RATES = 10.0 ** (np.arange(-8, 3) / 3)


def bowl(best: float, least: float) -> np.ndarray:
    return least + 0.15 * np.log10(RATES / best) ** 2


def draw_tuning() -> figures.BookFigure:
    names = (*METHODS, "adamw")
    best = dict(zip(names, RATES[[3, 4, 4, 8, 2]], strict=True))
    losses = {
        title: {m: bowl(best[m], least + 0.02 * i) for i, m in enumerate(names)}
        for title, least in (("one block", 2.0), ("two blocks", 1.9))
    }
    again = {
        t: {m: (best[m], curve.min() + np.array([0.01, 0.02, -0.02])) for m, curve in curves.items()}
        for t, curves in losses.items()
    }
    return figures.tuning_curves(RATES, losses, again)


def draw_drift() -> figures.BookFigure:
    steps = np.unique(np.geomspace(1, 1000, 31).astype(int))
    levels = {
        "published form, quintic": ("published", 3e-2),
        "SPEL, bfloat16": ("spel", 2e-3),
        "published form, Polar Express": ("published", 3e-7),
        "SPEL, float32": ("spel", 2e-7),
        "SPEL, float64": ("spel", 9e-16),
    }
    return figures.drift(steps, {k: (m, np.full(len(steps), y)) for k, (m, y) in levels.items()})


DRAWN: dict[str, Draw] = {
    "convergence": draw_convergence,
    "constant_rate": draw_constant_rate,
    "tuning_curves": draw_tuning,
    "drift": draw_drift,
}
SAYS: dict[str, list[str]] = {
    "convergence": [
        "SPEL",
        "Muon, retracted",
        "published form",
        "Riemannian",
        "loss gap",
        "subspace error",
        "shifted",
        "steps",
    ],
    "constant_rate": ["steps", "subspace error", "= 0.1", "= 0.01", "falls"],
    "tuning_curves": ["SPEL", "AdamW", "Riemannian", "one block", "two blocks", "held-out loss", "rate"],
    "drift": ["steps", "Gram defect", "SPEL, float32", "SPEL, bfloat16", "published form, quintic"],
}


def test_convergence_draws_the_median_of_the_runs_against_steps() -> None:
    first = draw_convergence().axes[0]
    expected = np.median(falling((0.03, 0.06, 0.058, 0.01))["muon"], axis=0)
    line = first.lines[1]
    np.testing.assert_allclose(line.get_xdata(), STEPS)
    np.testing.assert_allclose(line.get_ydata(), np.maximum(expected, 1e-16))


def test_half_a_step_is_marked_where_the_rate_is_constant() -> None:
    lines = draw_constant_rate().axes[0].lines
    flat = [line.get_ydata()[0] for line in lines if len(line.get_xdata()) == 2]
    assert flat == [0.05, 0.005]


def test_the_runs_with_other_seeds_stand_at_the_best_rate() -> None:
    ax = draw_tuning().axes[0]
    curves, points = ax.lines[::2], ax.lines[1::2]
    for curve, dots in zip(curves, points, strict=True):
        best = curve.get_xdata()[np.argmin(curve.get_ydata())]
        assert set(dots.get_xdata()) == {best}
        assert len(dots.get_ydata()) == 3


def test_drift_draws_every_curve_as_it_is() -> None:
    lines = draw_drift().axes[0].lines
    levels = [line.get_ydata()[0] for line in lines if len(line.get_xdata()) > 2]
    assert levels == [3e-2, 2e-3, 3e-7, 2e-7, 9e-16]
