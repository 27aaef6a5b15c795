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


COARSE = 10.0 ** (np.arange(-6, 3) / 2)
EVERYONE = (*METHODS, "adamw")
BEST = dict(zip(EVERYONE, (0.03, 0.022, 0.022, 1.5, 0.005), strict=True))
TITLES = ("one block", "two blocks")


def bowl(rates: np.ndarray, best: float, least: float) -> np.ndarray:
    return least + 0.15 * np.log10(rates / best) ** 2


def draw_tuning() -> figures.BookFigure:
    seeds = np.array([-0.01, 0.0, 0.02])

    def tried(method: str, least: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        near = BEST[method] * 10.0 ** (np.arange(-3, 4) / 6)
        losses = bowl(near, BEST[method], least)[:, None] + seeds
        return bowl(COARSE, BEST[method], least), near, losses

    least = dict(zip(TITLES, (2.0, 1.9), strict=True))
    tuned = {t: {m: tried(m, low + 0.02 * i) for i, m in enumerate(EVERYONE)} for t, low in least.items()}
    return figures.tuning_curves(COARSE, tuned)


COMPARED = ("muon", "published", "riemannian", "adamw", "unmatched")
MEANS = (-0.015, -0.014, 0.08, 0.03, 0.001)


def draw_paired() -> figures.BookFigure:
    each = {m: mean + 0.004 * np.linspace(-1, 1, 8) for m, mean in zip(COMPARED, MEANS, strict=True)}
    bars = {m: (mean - 0.003, mean + 0.003) for m, mean in zip(COMPARED, MEANS, strict=True)}
    return figures.paired(dict.fromkeys(TITLES, each), dict.fromkeys(TITLES, bars), "loss above SPEL's")


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
    "paired": draw_paired,
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
    "paired": ["Muon, retracted", "AdamW", "SPEL, one lr", "one block", "two blocks", "loss above SPEL's"],
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


def test_the_dot_stands_at_the_rate_with_the_least_median() -> None:
    for ax in draw_tuning().axes:
        dots = [line for line in ax.lines if line.get_marker() == "o"]
        np.testing.assert_allclose([float(line.get_xdata()[0]) for line in dots], list(BEST.values()))
        for line, curve in zip(dots, ax.lines[1::3], strict=True):
            assert line.get_ydata()[0] == min(curve.get_ydata())


def test_paired_draws_every_seed_and_the_interval_around_them() -> None:
    for ax in draw_paired().axes:
        points = [line.get_xdata() for line in ax.lines if line.get_marker() == "o"]
        assert [len(x) for x in points] == [8] * len(COMPARED)
        np.testing.assert_allclose([np.mean(x) for x in points], MEANS)
        bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
        np.testing.assert_allclose(bars, [(mean - 0.003, mean + 0.003) for mean in MEANS])


def test_drift_draws_every_curve_as_it_is() -> None:
    lines = draw_drift().axes[0].lines
    levels = [line.get_ydata()[0] for line in lines if len(line.get_xdata()) > 2]
    assert levels == [3e-2, 2e-3, 3e-7, 2e-7, 9e-16]
