"""The polar factor, the Stiefel manifold and SPEL's step."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
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
    WIDTH,
    BookFigure,
    Globe,
    arc,
    as_degrees,
    blank,
    degree_ticks,
    dot,
    floats,
    graph,
    mix,
    path,
    plane,
    say,
    seen,
    style,
    vec,
)

_ROUNDING = 1e-15  # below this an error of 1 in float64 is noise

# --- the polar factor ---

_SETS = {
    "cubic": ("cubic", MUTED, (0, (1, 1.2))),
    "classical_quintic": ("classical\nquintic", INK, (0, (4, 2))),
    "muon_quintic": ("Muon's\nquintic", CHORD, "-"),
    "polar_express": ("Polar\nExpress", GEODESIC, "-"),
}


def singular_value_maps(values: ArrayLike, mapped: Mapping[int, Mapping[str, ArrayLike]]) -> BookFigure:
    """What Newton-Schulz steps make of each singular value, one panel a number of steps.

    `values` of shape (n,), positive and increasing. `mapped` maps each number of steps to curves of the same
    shape by their names in `ngeodesic.polar.COEFFICIENTS`. Made for 5 and 8 steps, and values from 1e-5 to 1.
    """
    s = floats(values)
    with style():
        figure = blank(5.8)
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        panels = figure.subplots(len(mapped), 1, sharex=True)
        for ax, (steps, curves) in zip(panels, mapped.items(), strict=True):
            ax.axhline(1, color=GEODESIC, lw=1.4, ls=(0, (4, 2)), zorder=1)
            for name, curve in curves.items():
                words, colour, dash = _SETS[name]
                y = floats(curve)
                ax.plot(s, y, color=colour, lw=2.2, ls=dash)
                height = 0.72 if name == "polar_express" else 0.4
                at = int(np.argmax(y >= height))
                right = name == "cubic"
                place = (s[at] * (1.35 if right else 0.65), height)
                say(ax, place, words, colour, ha="left" if right else "right", fontsize=12)
            say(ax, (s[0] * 1.15, 1.13), "polar factor: 1", GEODESIC, ha="left", fontsize=12)
            ax.set(xscale="log", xlim=(s[0], s[-1]), ylim=(0, 1.3), ylabel="$s'$")
            ax.set_title(f"{steps} steps", loc="left")
            ax.set_yticks([0, 0.5, 1])
        panels[-1].set_xlabel("singular value $s$")
        ticks = 10.0 ** np.arange(np.ceil(np.log10(s[0]) - 1e-9), 1)
        panels[-1].xaxis.set_major_locator(FixedLocator(ticks.tolist()))
        panels[-1].xaxis.set_minor_locator(NullLocator())
    return figure


def newton_schulz_errors(errors: Mapping[float, Mapping[str, ArrayLike]]) -> BookFigure:
    """The largest error of a singular value against the number of steps, one panel a smallest singular value.

    Maps the smallest singular value to the errors after 0, 1, ... steps by the names in
    `ngeodesic.polar.COEFFICIENTS`. A line ends where it reaches rounding. Made for a last panel of 0.001.
    """
    places = {
        "cubic": (1e-9, 1),
        "classical_quintic": (1e-9, 1),
        "muon_quintic": (1e-3, 0),
        "polar_express": (1e-9, -1),
    }
    with style():
        figure = blank(5.8)
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        panels = figure.subplots(len(errors), 1, sharex=True)
        for ax, (smallest, curves) in zip(panels, errors.items(), strict=True):
            for name, curve in curves.items():
                words, colour, dash = _SETS[name]
                error = floats(curve)
                last = len(error) - 1
                done = int(np.argmax(error < _ROUNDING)) if np.any(error < _ROUNDING) else last
                steps, y = np.arange(done + 1), np.maximum(error[: done + 1], _ROUNDING / 10)
                ax.plot(steps, y, color=colour, lw=2.2, ls=dash)
                if ax is panels[-1]:
                    height, side = places[name]
                    at = float(np.interp(-np.log(height), -np.log(y), steps)) if side else last
                    ha = "left" if side > 0 else "right"
                    say(ax, (at + 0.6 * side, height), words, colour, ha=ha, fontsize=12)
            ax.set_xlim(0, last)
            ax.set(yscale="log", ylim=(_ROUNDING / 20, 8), ylabel=r"largest $|s' - 1|$")
            ax.set_title(f"singular values from {smallest:g} to 1", loc="left")
            ax.yaxis.set_major_locator(FixedLocator([1, 1e-5, 1e-10, 1e-15]))
            ax.yaxis.set_minor_locator(NullLocator())
        panels[-1].set_xlabel("steps")
    return figure


def singular_value_band(values: ArrayLike, band: tuple[float, float]) -> BookFigure:
    """A histogram of the singular values after Newton-Schulz steps, with the band they should be in.

    `values` of shape (n,); those below the band are drawn light. The polar factor has them all at 1.
    """
    v = floats(values)
    with style():
        figure, ax = graph(4.0, "singular value after five steps", "how many")
        counts, edges = np.histogram(v, bins=np.arange(0, 1.3, 0.02))
        middles = (edges[1:] + edges[:-1]) / 2
        colours = np.where(middles < band[0] - 0.01, mix(CHORD, PAPER, 0.5), CHORD).tolist()
        ax.bar(middles, counts, width=0.02, color=colours, lw=0)
        top = float(np.max(counts))
        ax.axvline(1, ymax=0.88, color=GEODESIC, lw=2.4, ls=(0, (4, 2)))
        say(ax, (1, 1.16 * top), "polar factor", GEODESIC)
        for end, ha, dx in zip(band, ("right", "left"), (-0.015, 0.015), strict=True):
            path(ax, [(end, 0), (end, 0.92 * top)], color=INK, lw=1.2)
            say(ax, (end, 0.88 * top), f"{end:.2f}", dx=dx, ha=ha)
        say(ax, (band[0] / 2, 0.3 * top), "not lifted\nin five steps", CHORD)
        ax.set(xlim=(0, 1.4), ylim=(0, 1.24 * top))
    return figure


# --- the Stiefel manifold ---


def retraction_on_sphere(W: ArrayLike, V: ArrayLike) -> BookFigure:
    """A tangent step on a sphere in three dimensions, its way back along the radius, and the geodesic.

    W and V of shape (3,), V orthogonal to W; only their directions and |V|/|W| are seen, made for 0.9 to 1.2.
    """
    radius = float(np.linalg.norm(floats(W)))
    start, move = floats(W) / radius, floats(V) / radius
    size = float(np.linalg.norm(move))
    frame = np.stack([start, move / size])
    phi, point = float(np.arctan(size)), start + move
    stepped, end = vec(phi) @ frame, vec(size) @ frame
    with style():
        globe = Globe(end, start, -50)
        screen = globe.screen
        figure, ax = globe.draw()
        ax.set_ylim(-1.05, 1.5)
        figure.set_figheight(WIDTH * 2.55 / 2.6)
        along, across = [-0.4, size + 0.15, size + 0.15, -0.4], [-0.36, -0.36, 0.36, 0.36]
        plane_of = start + np.outer(along, frame[1]) + np.outer(across, np.cross(*frame))
        ax.fill(*(plane_of @ screen).T, color=mix(CHORD, PAPER, 0.8), alpha=0.6, lw=0, zorder=2)
        path(ax, [(0, 0), start @ screen], color=FAINT, lw=1.4, zorder=3)
        path(ax, vec(np.linspace(0, size, 181)) @ frame @ screen, color=GEODESIC, lw=3, zorder=3)
        between = vec(np.linspace(phi, size, 31)) @ frame @ screen
        path(ax, between, color=GAP, lw=8, solid_capstyle="butt", zorder=3)
        path(ax, [(0, 0), point @ screen], color=CHORD, lw=1.6, ls=(0, (4, 2)), zorder=4)
        path(ax, np.array([start, point]) @ screen, color=CHORD, lw=2.4, zorder=4)
        dot(ax, (0, 0), MUTED, size=6)
        dot(ax, start @ screen, INK)
        dot(ax, point @ screen, CHORD, "D", 7)
        dot(ax, end @ screen, GEODESIC, "o", 10)
        dot(ax, stepped @ screen, CHORD, "s", 8)
        say(ax, start @ screen, "$W$", dx=-0.08, dy=-0.08, fontsize=15)
        say(ax, point @ screen, "$W + V$", CHORD, dx=-0.1, dy=0.05, ha="right", fontsize=15)
        say(ax, stepped @ screen, "retraction", CHORD, dx=-0.04, dy=-0.14, ha="right")
        say(ax, end @ screen, "geodesic", GEODESIC, dx=0.06, dy=-0.16)
        say(ax, plane_of[3] @ screen, "tangent\nplane", MUTED, dx=0.18, dy=0.37)
    return figure


def order_of_contact(sizes: ArrayLike, distances: Mapping[str, Mapping[str, ArrayLike]]) -> BookFigure:
    """Distances between retractions and an exponential map against the size of the step, on log axes.

    One panel a metric: `distances` maps its name to the distances, of the shape of `sizes`, of "polar" and
    "QR". The slopes are those of the fitted straight lines.
    """
    x = floats(sizes)
    looks = {"polar": (CHORD, "-", -1), "QR": (INK, (0, (4, 2)), 1)}
    with style():
        figure = blank(5.8)
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        panels = figure.subplots(len(distances), 1, sharex=True, sharey=True)
        for ax, (metric, curves) in zip(panels, distances.items(), strict=True):
            for name, values in curves.items():
                colour, dash, side = looks[name]
                y = floats(values)
                ax.plot(x, y, color=colour, lw=2.4, ls=dash)
                slope = float(np.polyfit(np.log(x), np.log(y), 1)[0])
                middle = np.exp(np.mean(np.log(x[[0, -1]])))
                height = np.exp(np.interp(np.log(middle), np.log(x), np.log(y)))
                place = (middle * 1.25**-side, height * 9.0**side)
                words = f"{name}: slope {slope:.2f}"
                say(ax, place, words, colour, ha="right" if side > 0 else "left")
            ax.set(xscale="log", yscale="log", xlim=(x[0], x[-1]), ylabel="distance")
            ax.set_title(f"to the geodesic of the {metric} metric", loc="left")
            ax.yaxis.set_major_locator(FixedLocator((10.0 ** np.arange(-12, 1, 3)).tolist()))
            ax.yaxis.set_minor_locator(NullLocator())
        panels[-1].set_xlabel("size of the step $|V|$")
        ticks = 10.0 ** np.arange(np.ceil(np.log10(x[0]) - 1e-9), np.log10(x[-1]) + 1e-9)
        panels[-1].xaxis.set_major_locator(FixedLocator(ticks.tolist()))
        panels[-1].xaxis.set_minor_locator(NullLocator())
    return figure


def gram_defects(with_retraction: Mapping[str, ArrayLike], without: ArrayLike) -> BookFigure:
    """Gram defects after 1, 2, ... steps on log axes: by the name of the weight, and one without retraction.

    All of one shape (n,), and positive.
    """
    loose = floats(without)
    steps = np.arange(1, loose.size + 1)
    with style():
        figure, ax = graph(4.2, "steps", "Gram defect")
        ax.plot(steps, loose, color=CHORD, ls=(0, (4, 2)))
        for rank, values in enumerate(with_retraction.values()):
            ax.plot(steps, floats(values), color=mix(GAP, "#000000", 0.3 * rank), lw=1.2)
        eps = float(np.finfo(float).eps)
        ax.axhline(eps, color=MUTED, lw=1.2, ls=(0, (1, 1.2)))
        middle = np.sqrt(steps[-1])
        say(ax, (middle, 1e-5 * loose[-1]), "without retraction", CHORD, ha="left")
        say(ax, (middle, 300 * eps), "retracted: " + ", ".join(with_retraction), GAP)
        say(ax, (1.2, 0.08 * eps), r"$\varepsilon$ of float64", MUTED, ha="left")
        ax.set(xscale="log", yscale="log", xlim=(1, steps[-1]), ylim=(1e-18, 10))
        ax.yaxis.set_major_locator(FixedLocator((10.0 ** np.arange(-16, 1, 4)).tolist()))
        ax.yaxis.set_minor_locator(NullLocator())
    return figure


# --- the commutator ---

_Points = tuple[ArrayLike, ArrayLike, ArrayLike]  # ratios, means and half-lengths of the bars, of one shape


def defect_over_ratio(ratio: ArrayLike, limit: ArrayLike, measured: Mapping[int, _Points]) -> BookFigure:
    """The tangency defect for Gaussian gradients against n/m: its limit, the first order, measured means.

    `ratio` and `limit` of shape (n,), `ratio` increasing up to 1; the maximum is marked. `measured` holds the
    points of two numbers of rows m.
    """
    c, curve = floats(ratio), floats(limit)
    top = int(np.argmax(curve))
    looks = (("D", PAPER, 6.5), ("o", INK, 6))
    with style():
        figure, ax = graph(4.3, "columns over rows  $n/m$", "tangency defect")
        start = c[c < 0.74]
        ax.plot(start, start / 4, color=MUTED, lw=1.8, ls=(0, (4, 2)))
        ax.plot(c, curve, color=GAP, lw=2.8)
        path(ax, [(c[top], 0), (c[top], curve[top])], color=GAP, lw=1.2, ls=(0, (1, 1.2)))
        for row, ((rows, points), (mark, fill, size)) in enumerate(zip(measured.items(), looks, strict=True)):
            _points(ax, points, fmt=mark, ms=size, mec=INK, mfc=fill, mew=1.3, ecolor=INK)
            height = 0.235 - 0.021 * row
            ax.plot([0.05], [height], mark, ms=size, mec=INK, mfc=fill, mew=1.3)
            say(ax, (0.08, height), f"measured, $m = {rows}$", ha="left")
        say(ax, (0.5, 0.095), "first order:\n$n/(4m)$", MUTED, ha="left")
        say(ax, (0.42, 0.15), "limit", GAP, ha="right")
        say(ax, (c[top], 0.02), f"{curve[top]:.4f} at {c[top]:.3f}", GAP, dx=-0.02, ha="right")
        ax.set(xlim=(0, 1.02), ylim=(0, 0.25))
    return figure


def _points(ax: Axes, points: _Points, **looks: Any) -> None:
    x, mean, bar = map(floats, points)
    ax.errorbar(x, mean, bar, elinewidth=1.2, capsize=2, zorder=4, **looks)


# --- SPEL's step ---


def tangent_rulers(marks: ArrayLike) -> BookFigure:
    """A ruler along the tangent at W, seen from the centre, and the same ruler wound around the circle.

    `marks` of shape (n,): sizes eta/sigma of steps, increasing, below pi/2. Made for 0.4, 0.8 and 1.2.
    """
    sizes = floats(marks)
    top = np.pi / 2
    with style():
        figure, ax = plane((-0.3, 1.5), (-0.1, 1.32))
        arc(ax, 0, top + 0.25, color=MUTED, lw=1.2)
        arc(ax, top - sizes[-1], top, color=GEODESIC, lw=3)
        path(ax, [(0, 0), (0, 1)], color=FAINT, lw=1.4)
        path(ax, [(0, 1), (sizes[-1] + 0.16, 1)], color=CHORD, lw=2.4)
        for size in sizes:
            turn, words = float(np.arctan(size)), f"{size:g}"
            arc(ax, top - size, top - turn, color=GAP, lw=8, solid_capstyle="butt")
            path(ax, [(0, 0), (size, 1)], color=CHORD, lw=1.4, ls=(0, (4, 2)))
            dot(ax, (size, 1), CHORD, "D", 7)
            dot(ax, vec(top - size), GEODESIC, "o", 10)
            dot(ax, vec(top - turn), CHORD, "s", 8)
            say(ax, (size, 1), words, CHORD, dy=0.1)
            say(ax, vec(top - max(size, turn + 0.1), 0.88), words, GEODESIC)
        dot(ax, (0, 0), MUTED, size=6)
        dot(ax, (0, 1), INK)
        say(ax, (0, 1), "$W$", dx=-0.03, dy=0.11, fontsize=15)
        say(ax, (0, 0.5), r"$\sigma$", MUTED, dx=-0.08, fontsize=14)
        say(ax, (0.6, 1.23), r"$W - \eta\,O$,  marked at $\eta/\sigma$", CHORD)
        last, turn = float(sizes[-1]), float(np.arctan(sizes[-1]))
        say(ax, vec(top - turn), "SPEL's step", CHORD, dx=0.09, ha="left")
        say(ax, vec(top - (last + turn) / 2, 1.06), "lag", GAP, ha="left")
        say(ax, vec(top - last), "geodesic", GEODESIC, dx=0.07, dy=-0.02, ha="left")
    return figure


def lag_beside_gap(asked: ArrayLike, lag: ArrayLike, alpha: ArrayLike, gap: ArrayLike) -> BookFigure:
    """SPEL's lag and nGPT's gap at 90 degrees against the turn asked for, on log axes.

    `asked` and `lag` of one shape: the angles eta/sigma and the lags. `alpha`, below 1/2, and `gap` of one
    shape: nGPT asks for alpha times 90 degrees.
    """
    x, y = as_degrees(asked), as_degrees(lag)
    u, v = 90 * floats(alpha), as_degrees(gap)
    with style():
        figure, ax = graph(
            4.4, r"turn asked for:  $\eta/\sigma$,  $\alpha\theta$", "turn missing, in degrees"
        )
        ax.plot(x, y, color=GAP)
        other = mix(GAP, "#000000", 0.45)
        ax.plot(u, v, color=other, ls=(0, (4, 2)))
        for radians in (0.001, 0.01, 0.1):
            at = float(np.degrees(radians))
            height = float(np.exp(np.interp(np.log(at), np.log(x), np.log(y))))
            dot(ax, (at, height), GAP, "s", 8)
            say(ax, (at * 1.25, height * 0.45), f"{radians:g}", GAP, ha="left")
        start = float(np.interp(4.5, u, v))
        dot(ax, (4.5, start), other, "s", 8)
        say(ax, (4.5, start * 6), r"$\alpha = 0.05$", other)
        say(ax, (0.4, 1.0), "nGPT at 90°", other)
        say(ax, (2.2, 2e-4), "SPEL", GAP, ha="left")
        ax.set(xscale="log", yscale="log", xlim=(0.045, 60), ylim=(3e-9, 60))
        degree_ticks(ax, [0.1, 1, 10])
        ax.yaxis.set_major_locator(FixedLocator((10.0 ** np.arange(-8, 1, 2)).tolist()))
        ax.yaxis.set_minor_locator(NullLocator())
    return figure


def turning_angles(cases: Mapping[str, Mapping[str, ArrayLike]], size: float) -> BookFigure:
    """The angles of one step, in order, one panel a weight, with the lines arctan(size) and size = eta/sigma.

    `cases` maps a title to angles by kind: "turned" and, if there are any, "principal".
    """
    looks = {"turned": (CHORD, "s", 4.0), "principal": (INK, "o", 2.6)}
    with style():
        figure = blank(1.3 + 1.5 * len(cases))
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        panels = figure.subplots(len(cases), 1, sharex=True, squeeze=False)[:, 0]
        law, whole = float(np.degrees(np.arctan(size))), float(np.degrees(size))
        for ax, (title, kinds) in zip(panels, cases.items(), strict=True):
            ax.axvline(law, color=CHORD, lw=1.4, ls=(0, (4, 2)), zorder=1)
            ax.axvline(whole, color=GEODESIC, lw=1.4, zorder=1)
            for kind, angles in kinds.items():
                colour, marker, points = looks[kind]
                x = np.sort(as_degrees(angles))
                y = (np.arange(x.size) + 0.5) / x.size
                ax.plot(x, y, marker, color=colour, ms=points, mec="none")
            if len(kinds) > 1:
                x, middle = np.sort(as_degrees(kinds["principal"])), 0.45
                say(ax, (np.quantile(x, middle), middle), "principal", INK, dx=-0.8, ha="right")
                say(ax, (whole, middle), "turned", CHORD, dx=0.6, ha="left")
            ax.set(xlim=(-1, whole + 5), ylim=(0, 1.04), ylabel="share below")
            ax.set_yticks([0, 1])
            ax.set_title(title, loc="left")
        say(panels[0], (law, 0.55), r"$\arctan(\eta/\sigma)$", CHORD, dx=-0.8, ha="right")
        say(panels[0], (whole, 0.55), r"$\eta/\sigma$", GEODESIC, dx=0.6, ha="left")
        panels[-1].set_xlabel("angle")
        degree_ticks(panels[-1], np.arange(0, whole + 5, 5))
    return figure


# --- one law for both ---


def one_arctan(points: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> BookFigure:
    """The angle turned against the size of a tangent step: arctan, the geodesic, and steps as points.

    `points` maps the names of at most four kinds of steps to their sizes and angles, of one shape.
    """
    looks = (("s", CHORD, CHORD), ("^", INK, INK), ("D", PAPER, INK), ("v", FAINT, INK))
    right = max(float(np.max(floats(size))) for size, _ in points.values()) * 1.06
    x = np.linspace(0, right, 301)
    with style():
        figure, ax = graph(4.6, r"size of the tangent step,  $\eta$ or $\eta/\sigma$", "angle turned")
        ax.axhline(90, color=MUTED, lw=1, ls=(0, (5, 3)))
        ax.plot(x, as_degrees(x), color=GEODESIC)
        ax.plot(x, as_degrees(np.arctan(x)), color=CHORD)
        for row, ((name, (size, turn)), (mark, fill, edge)) in enumerate(
            zip(points.items(), looks, strict=False)
        ):
            height = 36 - 9 * row
            for places in ((floats(size), as_degrees(turn)), ([0.5 * right], [height])):
                ax.plot(*places, mark, ms=6.5, mfc=fill, mec=edge, mew=1.2, zorder=4)
            say(ax, (0.54 * right, height), name, CHORD if fill == CHORD else INK, ha="left")
        say(ax, (1.28, 82), r"geodesic:  $\eta$", GEODESIC, ha="right")
        say(ax, (0.86 * right, 61), r"$\arctan\,\eta$", CHORD)
        ax.set(xlim=(0, right), ylim=(0, 96))
        degree_ticks(ax, [0, 30, 60, 90], "y")
    return figure


def chord_on_tangent(theta: float, alphas: ArrayLike) -> BookFigure:
    """The chord's marks at `alphas`, seen from the centre on the tangent at h: equal pieces become unequal.

    Made for 80 degrees and alpha = 1/4, 1/2, 3/4.
    """
    top = np.pi / 2
    h, target = vec(top), vec(top - theta)
    with style():
        figure, ax = plane((-0.2, 2.2), (-0.1, 1.32))
        arc(ax, -0.05, top + 0.17, color=MUTED, lw=1.2)
        arc(ax, top - theta, top, color=GEODESIC, lw=3)
        path(ax, [h, target], color=CHORD, lw=2.4)
        sizes = []
        for alpha in floats(alphas).tolist():
            point = (1 - alpha) * h + alpha * target
            sizes.append(float(point[0] / point[1]))
            path(ax, [(0, 0), (sizes[-1], 1)], color=CHORD, lw=1.4, ls=(0, (4, 2)))
            dot(ax, point, CHORD, "D", 7)
            dot(ax, vec(top - alpha * theta), GEODESIC, "o", 10)
            dot(ax, vec(seen(point)), CHORD, "s", 8)
            dot(ax, (sizes[-1], 1), INK, "D", 7)
            say(ax, (sizes[-1], 1.09), f"{sizes[-1]:.2f}")
            say(ax, point, f"{alpha:g}", CHORD, dx=-0.125, dy=-0.01)
        path(ax, [(0, 1), (max(sizes) + 0.16, 1)], color=INK, lw=2)
        for place, colour in (((0, 0), MUTED), (h, INK), (target, INK)):
            dot(ax, place, colour, size=6 if colour == MUTED else 8)
        say(ax, h, "$h$", dx=-0.03, dy=0.11, fontsize=15)
        say(ax, target, r"$h_{\mathrm{A}}$", dx=0.12, fontsize=15)
        say(ax, (max(sizes) / 2, 1.23), r"on the tangent:  $\eta$")
        say(ax, (0.74, 0.14), "on the\n" + r"chord:  $\alpha$", CHORD)
    return figure


def gap_in_two(alpha: ArrayLike, ruler: ArrayLike, lag: ArrayLike) -> BookFigure:
    """nGPT's gap over alpha as the sum of alpha theta - eta (the ruler) and eta - arctan(eta) (the lag).

    All of shape (n,), the two parts in radians; made for theta = 90 degrees and alpha up to 0.56.
    """
    x, first, second = floats(alpha), as_degrees(ruler), as_degrees(lag)
    total = first + second
    dark = mix(GAP, "#000000", 0.45)
    with style():
        figure, ax = graph(4.4, r"step size $\alpha$", "angle missing")
        ax.axhline(0, color=MUTED, lw=0.9, zorder=1)
        ax.plot(x, second, color=dark, ls=(0, (4, 2)))
        ax.plot(x, first, color=INK, lw=1.8, ls=(0, (1, 1.2)))
        ax.plot(x, total, color=GAP, lw=2.8)
        for curve, colour in ((first, INK), (total, GAP)):
            last = np.flatnonzero(np.diff(np.sign(curve)))[-1]
            zero = x[last] + (x[last + 1] - x[last]) * curve[last] / (curve[last] - curve[last + 1])
            dot(ax, (zero, 0), colour)
        reach = float(max(np.max(second), -np.min(first)))
        say(ax, (0.395, 0.6 * reach), "the lag", dark, ha="right")
        say(ax, (0.395, 0.47 * reach), r"$\eta - \arctan\,\eta$", dark, ha="right")
        say(ax, (0.42, -0.47 * reach), "the ruler", INK, ha="right")
        say(ax, (0.42, -0.6 * reach), r"$\alpha\theta - \eta$", INK, ha="right")
        say(ax, (0.14, 0.3 * reach), "gap $G$", GAP)
        ax.set(xlim=(0, x[-1]), ylim=(-1.08 * reach, 1.08 * reach))
        degree_ticks(ax, [-20, -10, 0, 10, 20], "y")
    return figure
