"""Optimizers compared: convergence, tuning, distance from the manifold."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import ArrayLike

from ngeodesic.figures._draw import (
    CHORD,
    FAINT,
    GAP,
    GEODESIC,
    INK,
    MUTED,
    PAPER,
    BookFigure,
    blank,
    floats,
    graph,
    mix,
    say,
    style,
)

_METHODS: dict[str, tuple[str, str, Any]] = {
    "spel": ("SPEL", CHORD, "-"),
    "muon": ("Muon, retracted", INK, (0, (4, 2))),
    "published": ("published form", MUTED, (0, (1, 1.2))),
    "riemannian": ("Riemannian", GEODESIC, (0, (6, 2, 1.5, 2))),
    "adamw": ("AdamW", mix(GAP, "#000000", 0.28), (0, (2, 2))),
    "unmatched": ("SPEL, one lr", mix(CHORD, "#000000", 0.45), (0, (3, 1))),
}
_BOTTOM = 1e-16  # what is smaller is rounding, and drawn here

_Curves = Mapping[str, ArrayLike]


def convergence(steps: ArrayLike, gap: Mapping[str, _Curves], error: Mapping[str, _Curves]) -> BookFigure:
    """Loss gap and subspace error of methods, side by side, one row a problem.

    `gap` and `error` map the problem's title to the methods' runs, of shape (runs, n) for `steps` of shape
    (n,); they are drawn as their median in a band from the least to the largest.
    """
    x = floats(steps)
    with style():
        figure = blank(0.9 + 2.15 * len(gap))
        figure.set_layout_engine("constrained", w_pad=0.06, h_pad=0.06)
        panels = figure.subplots(len(gap), 2, sharex=True, squeeze=False)
        for title, row in zip(gap, panels, strict=True):
            for ax, curves in zip(row, (gap[title], error[title]), strict=True):
                for method, runs in curves.items():
                    _, colour, dash = _METHODS[method]
                    y = np.maximum(floats(runs), _BOTTOM)
                    ax.plot(x, np.median(y, axis=0), color=colour, ls=dash, lw=2)
                    ax.fill_between(x, y.min(0), y.max(0), color=colour, alpha=0.15, lw=0)
            row[0].set_title(title, loc="left")
        axes = (("loss gap", _BOTTOM, 5), ("subspace error", 1e-9, 3))
        for column, (name, bottom, apart) in zip(panels.T, axes, strict=True):
            for ax in column:
                ax.set(yscale="log", ylim=(bottom / 2, 3), xlim=(0, None), ylabel=name)
                ax.yaxis.set_major_locator(FixedLocator((10.0 ** np.arange(-15, 1, apart)).tolist()))
                ax.yaxis.set_minor_locator(NullLocator())
        for ax in panels[-1]:
            ax.set_xlabel("steps")
        _legend(figure, list(next(iter(gap.values()))))
    return figure


def _legend(figure: Figure, methods: list[str]) -> None:
    """The methods' names and lines, above everything else."""
    looks = [_METHODS[method] for method in methods]
    lines = [Line2D([], [], color=colour, ls=dash, lw=2) for _, colour, dash in looks]
    figure.legend(
        lines,
        [name for name, *_ in looks],
        loc="outside upper center",
        ncols=2,
        frameon=False,
        fontsize=11.5,
        handlelength=2.4,
        columnspacing=1.2,
    )


def constant_rate(errors: Mapping[str, ArrayLike], floors: Mapping[str, float]) -> BookFigure:
    """Subspace errors of SPEL against steps: by their labels, all of one shape (n,), starting at step 0.

    `floors` holds the half-steps of those that have a constant learning rate, drawn as dotted lines; a curve
    without one is drawn in another line.
    """
    with style():
        figure, ax = graph(4.2, "steps", "subspace error")
        for rank, (label, values) in enumerate(errors.items()):
            y = np.maximum(floats(values), _BOTTOM)
            steps = np.arange(y.size)
            constant = label in floors
            if constant:
                ax.plot([0, steps[-1]], [floors[label]] * 2, color=MUTED, lw=1.2, ls=(0, (1, 1.2)))
            colour = mix(CHORD, PAPER, 0.25 * rank) if constant else INK
            ax.plot(steps, y, color=colour, ls="-" if constant else (0, (4, 2)), lw=1.8)
            end = (steps[-1], y[-2:].mean())
            say(ax, end, label, CHORD if constant else INK, dx=0.02 * steps[-1], ha="left")
        ax.set(yscale="log", ylim=(_least(errors) / 2, 3), xlim=(0, 1.34 * steps[-1]))
        ax.set_xticks([0, steps[-1] // 2, steps[-1]])
        ax.yaxis.set_major_locator(FixedLocator((10.0 ** np.arange(-8, 1, 2)).tolist()))
        ax.yaxis.set_minor_locator(NullLocator())
    return figure


def _least(errors: Mapping[str, ArrayLike]) -> float:
    return max(min(float(np.min(floats(values))) for values in errors.values()), _BOTTOM)


def tuning_curves(
    coarse: ArrayLike, tried: Mapping[str, Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]]]
) -> BookFigure:
    """The final loss against the learning rate, one panel a network.

    `tried` maps the panel's title to the methods, each with its losses at the `coarse` rates, drawn thin, its
    finer rates of shape (k,), and the losses at these of shape (k, seeds), drawn as their median in a band
    from the least to the largest. A dot marks the least median.
    """
    x = floats(coarse)
    with style():
        figure = blank(0.9 + 2.6 * len(tried))
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        panels = figure.subplots(len(tried), 1, sharex=True, squeeze=False)[:, 0]
        for ax, (title, methods) in zip(panels, tried.items(), strict=True):
            least = np.inf
            for method, (wide, rates, losses) in methods.items():
                _, colour, dash = _METHODS[method]
                near, y = floats(rates), floats(losses)
                middle = np.median(y, axis=1)
                ax.plot(x, floats(wide), color=colour, lw=0.9, alpha=0.6)
                ax.fill_between(near, y.min(1), y.max(1), color=colour, alpha=0.15, lw=0)
                ax.plot(near, middle, color=colour, ls=dash, lw=2)
                best = int(middle.argmin())
                ax.plot(near[best], middle[best], "o", color=colour, ms=7, mec=PAPER, mew=1, zorder=5)
                least = min(least, float(middle[best]))
            ax.set(xscale="log", xlim=(x[0] / 1.2, x[-1] * 1.2), ylim=(least - 0.06, least + 0.45))
            ax.set(ylabel="held-out loss")
            ax.set_title(title, loc="left")
            _decades(ax, x)
        panels[-1].set_xlabel("learning rate of the matrices")
        _legend(figure, list(next(iter(tried.values()))))
    return figure


def paired(
    differences: Mapping[str, _Curves],
    intervals: Mapping[str, Mapping[str, tuple[float, float]]],
    xlabel: str,
) -> BookFigure:
    """Differences of methods to one that they are compared with, seed by seed, one panel a problem.

    `differences` maps the panel's title to those of each method, drawn as points; `intervals` likewise to the
    ends of the bar that is drawn behind them, with a line at its middle.
    """
    most = max(len(methods) for methods in differences.values())
    with style():
        figure = blank(1.0 + 0.46 * most * len(differences))
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        panels = figure.subplots(len(differences), 1, sharex=True, squeeze=False)[:, 0]
        for ax, (title, methods) in zip(panels, differences.items(), strict=True):
            for row, (method, values) in enumerate(methods.items()):
                _, colour, _ = _METHODS[method]
                low, high = intervals[title][method]
                ax.barh(row, high - low, left=low, height=0.62, color=mix(colour, PAPER, 0.72))
                ax.plot([(low + high) / 2] * 2, [row - 0.31, row + 0.31], color=colour, lw=2.2)
                each = floats(values)
                shift = 0.2 * np.linspace(-1, 1, each.size)
                ax.plot(each, row + shift, "o", color=colour, ms=3.6, mec=PAPER, mew=0.4)
            ax.axvline(0, color=MUTED, lw=1.1, zorder=0.5)
            ax.set_yticks(range(len(methods)), [_METHODS[method][0] for method in methods])
            ax.tick_params(axis="y", length=0)
            ax.set(ylim=(len(methods) - 0.4, -0.6), ylabel=title)
        panels[-1].set_xlabel(xlabel)
    return figure


def _decades(ax: Axes, x: Any) -> None:
    powers = np.arange(np.ceil(np.log10(x[0])), np.log10(x[-1]) + 1e-9)
    ax.xaxis.set_major_locator(FixedLocator((10.0**powers).tolist()))
    ax.xaxis.set_minor_locator(NullLocator())


def drift(steps: ArrayLike, defects: Mapping[str, tuple[str, ArrayLike]]) -> BookFigure:
    """Gram defects against steps on log axes, by label; each with its method and of the shape of `steps`.

    A label stands above its curve, or below it if the method is "spel".
    """
    x = floats(steps)
    with style():
        figure, ax = graph(4.6, "steps", "Gram defect")
        for label, (method, values) in defects.items():
            _, colour, dash = _METHODS[method]
            y = floats(values)
            ax.plot(x, y, color=colour, ls=dash, lw=2)
            below = method == "spel"
            say(ax, (1.2, y[0] * (0.12 if below else 8)), label, colour, ha="left")
        ax.axhline(1, color=FAINT, lw=1)
        ax.set(xscale="log", yscale="log", xlim=(1, x[-1]), ylim=(1e-17, 10))
        ax.yaxis.set_major_locator(FixedLocator((10.0 ** np.arange(-16, 1, 4)).tolist()))
        ax.yaxis.set_minor_locator(NullLocator())
        _decades(ax, x)
    return figure
