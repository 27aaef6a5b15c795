"""The per-dimension step and the trained models."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import ArrayLike

from ngeodesic.figures._draw import (
    CHORD,
    FAINT,
    GAP,
    GEODESIC,
    INK,
    MUTED,
    PAPER,
    PAPER_BOX,
    BookFigure,
    Floats,
    Globe,
    blank,
    dot,
    floats,
    graph,
    mix,
    path,
    say,
    spread,
    style,
    vec,
)

# --- the per-dimension step ---


def step_off_circle(h: ArrayLike, target: ArrayLike, alpha: ArrayLike) -> BookFigure:
    """One per-dimension step in three dimensions: it leaves the great circle through h and target.

    All of shape (3,); `h` and `target` are normalised first and not parallel. The disc is the plane of the
    two; the point before it is normalised, the step, its foot on the great circle and the SLERP point at the
    mean alpha are marked. Made for angles of 80 to 130 degrees and a step well off the plane.
    """
    a, b = (floats(v) / np.linalg.norm(floats(v)) for v in (h, target))
    steps = floats(alpha)
    point = a + steps * (b - a)
    stepped = point / np.linalg.norm(point)
    with style():
        globe = Globe(a, b, 30, stepped)
        screen = globe.screen
        psi = float(np.arctan2(stepped @ globe.side, stepped @ a))
        foot, slerped = globe.great(psi), globe.great(float(np.mean(steps)) * globe.theta)
        rise = float(np.arccos(np.clip(stepped @ foot, -1, 1)))
        off = (stepped - np.cos(rise) * foot) / np.sin(rise)
        meridian = vec(np.linspace(0, rise, 61)) @ np.stack([foot, off])
        figure, ax = globe.draw()
        disc = globe.great(np.linspace(0, 2 * np.pi, 361)) @ screen
        ax.fill(*disc.T, color=mix(GEODESIC, PAPER, 0.86), lw=0, zorder=1)
        for end in (a, b, foot):
            path(ax, [(0, 0), end @ screen], color=FAINT, lw=1.4)
        path(ax, np.array([a, b]) @ screen, color=CHORD, lw=2.4)
        path(ax, np.array([a, point]) @ screen, color=CHORD, lw=1.6, ls=(0, (1, 1.2)))
        path(ax, [(0, 0), stepped @ screen], color=CHORD, lw=1.6, ls=(0, (4, 2)))
        path(ax, meridian @ screen, color=GAP, lw=6, solid_capstyle="butt", zorder=3)
        dot(ax, (0, 0), MUTED, size=6)
        dot(ax, foot @ screen, INK, size=6)
        dot(ax, point @ screen, CHORD, "D", 7)
        dot(ax, slerped @ screen, GEODESIC, "o", 10)
        dot(ax, stepped @ screen, CHORD, "s", 9)
        globe.ends(ax, a, b)
        say(ax, stepped @ screen, "nGPT step", CHORD, dy=0.12)
        out = 1 if (b - a) @ screen[:, 0] > 0 else -1
        place = meridian[44] @ screen
        say(ax, place, "off the\nplane", GAP, dx=0.07 * out, ha="left" if out > 0 else "right")
        say(ax, slerped @ screen, "SLERP", GEODESIC, dy=-0.13)
        say(ax, (0.6 * a + 0.4 * b) @ screen, "chord", CHORD, dy=-0.08)
    return figure


def off_plane_dimension(
    dim: ArrayLike, norms: ArrayLike, law: float, low: ArrayLike, high: ArrayLike
) -> BookFigure:
    """The off-plane norms of random steps against the number of dimensions, with the law and its band.

    `dim`, `low`, `high` of shape (n,); `norms` of shape (n, m), m steps for each dimension.
    """
    dims, points = floats(dim), floats(norms)
    below, above = floats(low), floats(high)
    with style():
        figure, ax = graph(4.0, "number of dimensions $d$", "off-plane norm")
        ax.set(xscale="log", xlim=(dims[0] / 1.8, dims[-1] * 2))
        ax.fill_between(dims, below, above, color=mix(GAP, PAPER, 0.72), lw=0, zorder=1)
        shifts = np.linspace(-0.12, 0.12, points.shape[1])
        places = dims[:, None] * np.exp(shifts * np.log(dims[1] / dims[0]))
        ax.plot(places.ravel(), points.ravel(), "s", color=CHORD, ms=2.6, mew=0, alpha=0.6, zorder=2)
        ax.axhline(law, color=INK, lw=1.8, ls=(0, (4, 2)), zorder=3)
        top = max(float(np.max(points)), float(np.max(above)))
        say(ax, (dims[-1], law + 0.13 * top), f"law: {law:.4f}", ha="right")
        say(ax, (dims[-1], 0.14 * top), "band: mean and two\nstandard deviations", GAP, ha="right")
        ax.set(ylim=(0, 1.06 * top))
        ax.xaxis.set_major_locator(FixedLocator(dims.tolist()))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    return figure


def off_plane_histogram(
    norms: ArrayLike, law: float, marks: Sequence[float], interval: tuple[float, float]
) -> BookFigure:
    """A histogram of off-plane norms, with the law, the interval of 95 %, and single norms marked.

    `norms` of shape (n,); each of `marks` is drawn as a square on the axis with its value above.
    """
    values = floats(norms)
    with style():
        figure, ax = graph(4.0, "off-plane norm", "steps")
        counts, edges = np.histogram(values, bins=60)
        middles = (edges[1:] + edges[:-1]) / 2
        inside = (interval[0] <= middles) & (middles <= interval[1])
        colours = np.where(inside, GAP, mix(GAP, PAPER, 0.55)).tolist()
        ax.bar(middles, counts, width=edges[1] - edges[0], color=colours, lw=0)
        top = float(np.max(counts))
        ax.axvline(law, ymax=0.86, color=INK, lw=1.8, ls=(0, (4, 2)))
        say(ax, (law, 1.13 * top), f"law: {law:.4f}")
        width = float(np.ptp(values))
        for mark, place in zip(marks, spread(list(marks), 0.19 * width), strict=True):
            path(ax, [(mark, 0), (place, 0.3 * top)], color=CHORD, lw=1.6)
            dot(ax, (mark, 0), CHORD, "s", 9)
            say(ax, (place, 0.35 * top), f"{mark:.4f}", CHORD, bbox=PAPER_BOX)
        say(ax, (interval[1] + 0.02 * width, 0.75 * top), "dark: 95 %", GAP, ha="left")
        ax.set(ylim=(0, 1.2 * top))
    return figure


# --- the falsifier ---


def alpha_histograms(alphas: Mapping[str, ArrayLike], *, start: float, mean: float, std: float) -> BookFigure:
    """The distribution of alpha in each block, one row a block, above it the normal one with mean and std.

    `alphas` maps the name of a block to its alphas of any shape; `start` is the alpha before training.
    """
    rows = {name: floats(values).ravel() for name, values in alphas.items()}
    edges = np.linspace(0, max(mean + 3 * std, *(float(a.max()) for a in rows.values())), 61)
    heights = {name: np.histogram(a, edges)[0] / a.size for name, a in rows.items()}
    tallest = max(float(h.max()) for h in heights.values())
    with style():
        figure, ax = graph(5.2, r"$\alpha$", "block")
        x = np.linspace(mean - 3 * std, mean + 3 * std, 201)
        normal = np.exp(-(((x - mean) / std) ** 2) / 2) / (std * np.sqrt(2 * np.pi)) * (edges[1] - edges[0])
        _row(ax, x, normal * 1.7 / tallest, 0, MUTED)
        for place, height in enumerate(heights.values(), start=1):
            stairs = np.repeat(height * 1.7 / tallest, 2)
            _row(ax, np.repeat(edges, 2)[1:-1], stairs, -place, CHORD)
        ax.axvline(start, color=INK, lw=1.2, ls=(0, (4, 2)), zorder=0)
        ax.set(xlim=(0, edges[-1]), ylim=(-len(rows) - 0.25, 1.35))
        say(ax, (start, 1.12), "start", ha="left", dx=0.015 * edges[-1])
        say(ax, (0.99 * edges[-1], 0.62), "the note's example", MUTED, ha="right")
        ax.set_yticks(0.25 - np.arange(1, len(rows) + 1), list(rows))
        ax.tick_params("y", length=0)
    return figure


def _row(ax: Axes, x: Floats, y: Floats, base: float, colour: str) -> None:
    """One distribution of several, standing on its own line."""
    ax.fill_between(x, base, base + y, color=mix(colour, PAPER, 0.6), lw=0, zorder=2 - base)
    ax.plot(x, base + y, color=colour, lw=1.4, zorder=2 - base)
    ax.axhline(base, color=FAINT, lw=0.8, zorder=1)


def law_against_model(
    predicted: Mapping[str, ArrayLike], measured: Mapping[str, ArrayLike], *, tolerance: float
) -> BookFigure:
    """Measured against predicted off-plane norms, one point a block, for two kinds of blocks by name.

    The line is where both are equal; around it the band in which predicted over measured is within
    `tolerance` of 1.
    """
    points = {name: (floats(predicted[name]).ravel(), floats(measured[name]).ravel()) for name in measured}
    top = 1.12 * max(float(np.max(values)) for pair in points.values() for values in pair)
    with style():
        figure, ax = graph(4.6, "off-plane norm by the law", "off-plane norm measured")
        line = np.array([0, top])
        band = (line / (1 + tolerance), line / (1 - tolerance))
        ax.fill_between(line, *band, color=mix(FAINT, PAPER, 0.45), lw=0, zorder=0)
        ax.plot(line, line, color=INK, lw=1.8, ls=(0, (4, 2)), zorder=1)
        for (name, (x, y)), marker, face in zip(points.items(), "so", (CHORD, PAPER), strict=True):
            ax.plot(x, y, marker, color=CHORD, mfc=face, mec=CHORD, mew=1.4, ms=7, label=name)
        ax.legend(loc="upper left", frameon=False, fontsize=12, handletextpad=0.2)
        percent = f"band: \N{PLUS-MINUS SIGN}{100 * tolerance:g} %"
        say(ax, (0.97 * top, 0.06 * top), percent, MUTED, ha="right")
        say(ax, (0.8 * top, 0.97 * top), "equal", ha="right")
        ax.set(xlim=(0, top), ylim=(0, top), aspect="equal")
    return figure


def training_growth(
    moments: ArrayLike, ratio: Mapping[str, ArrayLike], measured: Mapping[str, ArrayLike]
) -> BookFigure:
    """std/mean of the alphas, and the off-plane norms, while a model is trained: one line a block.

    `moments`, shape (n,), are numbers of training steps from 0 on; `ratio` and `measured` map two kinds of
    blocks by name to values of shape (n, blocks).
    """
    done = floats(moments)
    with style():
        figure = blank(5.6)
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        ax, below = figure.subplots(2, 1, sharex=True)
        colours, dashes = (CHORD, MUTED), ("-", (0, (3, 1.5)))
        for axes, values in ((ax, ratio), (below, measured)):
            for blocks, colour, dash in zip(values.values(), colours, dashes, strict=True):
                axes.plot(done, floats(blocks), lw=1.6, color=colour, ls=dash)
            high = max(float(np.max(floats(blocks))) for blocks in values.values())
            axes.set(ylim=(0, 1.15 * high))
        middles = [float(np.mean(floats(blocks)[-1])) for blocks in measured.values()]
        places = spread(middles, 0.13 * below.get_ylim()[1])
        for name, colour, place in zip(measured, colours, places, strict=True):
            say(below, (1.02 * done[-1], place), name, colour, ha="left", fontsize=12)
        ax.set(ylabel="std / mean of alpha")
        below.set(ylabel="off-plane norm", xlim=(0, done[-1]), xlabel="training steps")
        figure.align_ylabels()
    return figure


def alpha_against_energy(alpha: ArrayLike, share: ArrayLike) -> BookFigure:
    """The chord's share of each dimension against that dimension's alpha, both of shape (d,).

    The shares are given as multiples of 1/d: 1 is a chord that is spread evenly.
    """
    x, y = floats(alpha), floats(share)
    with style():
        figure, ax = graph(3.9, r"$\alpha_i$ of a dimension", r"its share of the chord, times $d$")
        ax.axhline(1, color=INK, lw=1.4)
        ax.axvline(float(np.mean(x)), color=MUTED, lw=1.2, ls=(0, (4, 2)))
        ax.plot(x, y, "s", color=CHORD, ms=5.5, mec=PAPER, mew=0.8)
        top = 1.18 * float(np.max(y))
        ax.set(ylim=(0, top))
        say(ax, (float(np.mean(x)), 0.95 * top), " mean", MUTED, ha="left", fontsize=12)
    return figure
