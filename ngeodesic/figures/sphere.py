"""The scalar step: the circle and the sphere, the gap, contraction."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap
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
    Globe,
    arc,
    as_degrees,
    blank,
    degree_ticks,
    dot,
    floats,
    graph,
    in_degrees,
    minus,
    mix,
    path,
    plane,
    say,
    seen,
    spoke,
    spread,
    style,
    text_colour,
    vec,
)

# --- the step on the circle and on the sphere ---


def chord_and_arc(alpha: float, theta: float) -> BookFigure:
    """One step of size alpha on the circle: the chord and the arc, the two points reached, the gap between.

    Two rulers outside the circle carry the angles: alpha theta for SLERP, phi and the gap for the nGPT step.
    For 0 < alpha < 1 and 0 < theta < pi; made for theta above 80 degrees.
    """
    start, side = (np.pi - theta) / 2, 1 if alpha <= 0.5 else -1
    ends = vec(np.array([start, start + theta]))
    on_chord = (1 - alpha) * ends[0] + alpha * ends[1]
    stepped, slerped = on_chord / np.linalg.norm(on_chord), vec(start + alpha * theta)
    phi, share = seen(stepped) - start, alpha * theta
    inner, outer = 1.12, 1.38
    tips = vec(np.array([start + share, start + phi]), 1.47)
    heights = spread(tips[:, 1].tolist(), 0.14)
    heights += max(0.0, np.min(tips[:, 1]) - np.min(heights))  # never down into the rulers
    top = max(1.0, np.max(heights), outer * np.sin(min(np.pi / 2, start + max(phi, share)))) + 0.12
    with style():
        figure, ax = plane((-1.14, 1.72) if side > 0 else (-1.84, 1.48), (-0.34, top))
        arc(ax, 0, np.pi, color=FAINT, lw=1.2)
        for turn in (start, start + theta):
            spoke(ax, turn, color=FAINT, lw=1.2)
        path(ax, ends, color=CHORD, lw=2.4)
        spoke(ax, start + phi, color=CHORD, lw=1.6, ls=(0, (4, 2)))
        arc(ax, start, start + theta, color=GEODESIC, lw=3)

        spoke(ax, start, 1, outer + 0.04, color=MUTED, lw=1.2)
        spoke(ax, start + share, 1, outer + 0.04, color=GEODESIC, lw=1.2)
        spoke(ax, start + phi, 1, outer + 0.04, color=CHORD, lw=1.2)
        arc(ax, start, start + share, outer, color=GEODESIC, lw=3, solid_capstyle="butt")
        arc(ax, start, start + phi, inner, color=CHORD, lw=3, solid_capstyle="butt")
        between = inner if share >= phi else outer
        arc(ax, start + phi, start + share, between, color=GAP, lw=7, solid_capstyle="butt")
        short = min(phi, share)
        if short > 0.24:
            mid = start + short / 2
            say(ax, vec(mid, outer), r"$\alpha\theta$", GEODESIC, fontsize=14, bbox=PAPER_BOX)
            say(ax, vec(mid, inner + 0.1), r"$\varphi$", CHORD, fontsize=14)
        if abs(share - phi) > 0.14:
            say(ax, vec(start + (phi + share) / 2, between + 0.11), "$G$", GAP, fontsize=14)

        names = (("SLERP", GEODESIC), ("nGPT step", CHORD))
        for (name, colour), tip, y in zip(names, tips, heights, strict=True):
            say(ax, (tip[0], y), name, colour, dx=0.02 * side, ha="left" if side > 0 else "right")
        say(ax, (on_chord + ends[1 if side > 0 else 0]) / 2, "chord", CHORD, dy=-0.1)
        for end, turn, name in zip(
            ends, (start - 0.13, start + theta + 0.13), ("$h$", r"$h_{\mathrm{A}}$"), strict=True
        ):
            dot(ax, end, INK)
            say(ax, vec(turn, 1.06), name, fontsize=15)
        dot(ax, (0, 0), MUTED, size=6)
        dot(ax, on_chord, CHORD, "D", 7)
        dot(ax, slerped, GEODESIC, "o", 10)
        dot(ax, stepped, CHORD, "s", 8)

        left, width = ax.get_xlim()[0], np.ptp(ax.get_xlim())
        numbers = [
            (0.17, rf"$\alpha\theta$ = {in_degrees(share)}", GEODESIC),
            (0.42, rf"$\varphi$ = {in_degrees(phi)}", CHORD),
            (0.76, rf"$G = \alpha\theta - \varphi$ = {in_degrees(share - phi)}", GAP),
        ]
        for at, text, colour in numbers:
            say(ax, (left + at * width, -0.2), text, colour)
    return figure


def bisector_frame(theta: float) -> BookFigure:
    """The frame of the bisector: the chord is the upright line at distance cos(theta/2) from the centre.

    Alpha runs along it at constant speed; rays through alpha = 1/4, 1/2, 3/4 meet the circle where the nGPT
    step lands, SLERP lands on the round dots. Made for theta of 90 to 130 degrees.
    """
    x, reach = np.cos(theta / 2), np.sin(theta / 2)
    with style():
        figure, ax = plane((-0.25, 1.75), (-1.08, 1.08))
        arc(ax, -1.3, 1.3, color=FAINT, lw=1.2)
        path(ax, [(0, 0), (1, 0)], color=MUTED, lw=1.2)
        path(ax, [(x - 0.06, 0), (x - 0.06, 0.06), (x, 0.06)], color=MUTED, lw=1.2)
        for sign in (-1, 1):
            path(ax, [(0, 0), (x, sign * reach)], color=FAINT, lw=1.2)
        arc(ax, 0, theta / 2, 0.16, color=MUTED, lw=1.2)
        say(ax, vec(theta / 2 + 0.5, 0.22), r"$\theta/2$", fontsize=13)
        say(ax, (x / 2, -0.075), r"$\cos(\theta/2)$", fontsize=12.5)
        arc(ax, -theta / 2, theta / 2, color=GEODESIC, lw=3)
        path(ax, [(x, -reach), (x, reach)], color=CHORD, lw=2.4)
        for alpha in (0.25, 0.5, 0.75):
            point = (x, (2 * alpha - 1) * reach)
            turn = seen(point)
            if alpha != 0.5:
                spoke(ax, turn, color=CHORD, lw=1.6, ls=(0, (4, 2)))
                slerp_turn = (alpha - 0.5) * theta
                arc(ax, turn, slerp_turn, color=GAP, lw=7, solid_capstyle="butt", zorder=3)
                dot(ax, vec(slerp_turn), GEODESIC, "o", 10)
                heights = spread([1.07 * np.sin(turn), 1.07 * np.sin(slerp_turn)], 0.13)
                say(
                    ax,
                    (1.07 * np.cos(turn), heights[0]),
                    f"nGPT {in_degrees(turn + theta / 2)}",
                    CHORD,
                    ha="left",
                )
                label = f"SLERP {in_degrees(alpha * theta)}"
                say(ax, (1.07 * np.cos(slerp_turn), heights[1]), label, GEODESIC, ha="left")
            dot(ax, point, CHORD, "D", 7)
            dot(ax, vec(turn), CHORD, "s", 8)
        dot(ax, (1, 0), GEODESIC, "o", 12)
        dot(ax, (1, 0), CHORD, "s", 6)
        say(ax, (1.07, 0), rf"both $\theta/2$ = {in_degrees(theta / 2)}", ha="left")
        for alpha, text, drop in ((0.25, "1/4", 0.11), (0.5, "1/2", 0.08), (0.75, "3/4", -0.11)):
            say(ax, (x + 0.05, (2 * alpha - 1) * reach + drop), text, CHORD, ha="left", fontsize=12)
        for turn, name, text in (
            (-theta / 2, "$h$", r"$\alpha = 0$"),
            (theta / 2, r"$h_{\mathrm{A}}$", r"$\alpha = 1$"),
        ):
            dot(ax, vec(turn), INK)
            say(ax, vec(turn, 1.1), name, fontsize=15)
            say(ax, vec(turn), text, CHORD, dx=-0.06, ha="right", fontsize=12)
        dot(ax, (0, 0), MUTED, size=6)
    return figure


def halving(theta: float, steps: int) -> BookFigure:
    """Successive half steps toward a fixed target: each halves the angle that is left, whatever it is.

    A ruler outside the circle for every point carries the angle still to go. For one to three steps, made for
    theta above 100 degrees.
    """
    turns = np.pi / 2 - theta / 2 + theta * (1 - 0.5 ** np.arange(steps + 1))
    end = np.pi / 2 + theta / 2
    radii = 1.12 + 0.15 * np.arange(steps + 1)
    with style():
        figure, ax = plane((-radii[-1] * np.sin(theta / 2) - 0.12, 1.3), (-0.1, radii[1] + 0.12))
        arc(ax, 0, np.pi, color=FAINT, lw=1.2)
        target = vec(end)
        spoke(ax, end, color=FAINT, lw=1.2)
        spoke(ax, turns[0], color=FAINT, lw=1.2)
        arc(ax, turns[0], end, color=GEODESIC, lw=3)
        for k, (turn, radius) in enumerate(zip(turns, radii, strict=True)):
            if k:
                spoke(ax, turn, color=CHORD, lw=1.6, ls=(0, (4, 2)))
                dot(ax, (vec(turns[k - 1]) + target) / 2, CHORD, "D", 7)
            if k < steps:
                path(ax, [vec(turn), target], color=CHORD, lw=2.4)
            spoke(ax, turn, 1, radius + 0.035, color=MUTED, lw=1.2)
            arc(ax, turn, end, radius, color=GEODESIC, lw=2.4, solid_capstyle="butt")
            text = rf"$\theta/{2**k}$" if k else r"$\theta$"
            say(
                ax,
                vec(turn + (0.25 if k == 0 else 0.625) * (end - turn), radius),
                text,
                GEODESIC,
                bbox=PAPER_BOX,
                fontsize=13,
            )
            dot(ax, vec(turn), CHORD if k else INK, "s" if k else "o", 8)
            say(ax, vec(turn - 0.11 / radius, radius), f"$h_{k}$", fontsize=15)
        spoke(ax, end, 1, radii[-1] + 0.035, color=MUTED, lw=1.2)
        dot(ax, target, INK)
        say(ax, vec(end + 0.11, 1.08), r"$h_{\mathrm{A}}$", fontsize=15)
        dot(ax, (0, 0), MUTED, size=6)
    return figure


def step_on_sphere(h: ArrayLike, target: ArrayLike, alpha: float) -> BookFigure:
    """One step on the sphere in three dimensions: great circle, chord through the ball, point pulled back.

    `h` and `target` of shape (3,) are normalised first and not parallel; the view is chosen from them. Made
    for angles of 80 to 130 degrees between them.
    """
    a, b = (floats(v) / np.linalg.norm(floats(v)) for v in (h, target))
    with style():
        globe = Globe(a, b)
        screen = globe.screen
        figure, ax = globe.draw()
        on_chord, slerped = (1 - alpha) * a + alpha * b, globe.great(alpha * globe.theta)
        stepped = on_chord / np.linalg.norm(on_chord)
        phi = float(np.arctan2(stepped @ globe.side, stepped @ a))
        for end in (a, b):
            path(ax, [(0, 0), end @ screen], color=FAINT, lw=1.4)
        path(ax, np.array([a, b]) @ screen, color=CHORD, lw=2.4)
        path(ax, [(0, 0), stepped @ screen], color=CHORD, lw=1.6, ls=(0, (4, 2)))
        gap = globe.great(np.linspace(phi, alpha * globe.theta, 31)) @ screen
        path(ax, gap, color=GAP, lw=8, solid_capstyle="butt", zorder=3)
        dot(ax, (0, 0), MUTED, size=6)
        dot(ax, on_chord @ screen, CHORD, "D", 7)
        dot(ax, slerped @ screen, GEODESIC, "o", 10)
        dot(ax, stepped @ screen, CHORD, "s", 8)
        globe.ends(ax, a, b)
        names = (("SLERP", GEODESIC, slerped), ("nGPT", CHORD, stepped))
        places = [point @ screen - (0.04, 0.13) for *_, point in names]
        columns = spread([place[0] for place in places], 0.34) - 0.04
        for (name, colour, _), place, column in zip(names, places, columns, strict=True):
            say(ax, (column, place[1]), name, colour)
        say(ax, (0.3 * a + 0.7 * b) @ screen, "chord", CHORD, dy=0.09)
    return figure


# --- the gap ---


def gap_over_alpha(alpha: ArrayLike, gaps: Mapping[float, ArrayLike]) -> BookFigure:
    """The gap over alpha, one curve for each theta: three zeros, odd about 1/2.

    `alpha` of shape (n,); `gaps` maps theta to the gaps there, shape (n,), both in radians.
    """
    steps = floats(alpha)
    curves = [(float(np.degrees(theta)), as_degrees(gaps[theta])) for theta in sorted(gaps)]
    with style():
        figure, ax = graph(4.0, r"step size $\alpha$", r"gap  $G = \alpha\theta - \varphi$")
        ax.axhline(0, color=MUTED, lw=0.9, zorder=1)
        top = max(float(np.max(np.abs(g))) for _, g in curves)
        for rank, (theta, gap) in enumerate(curves):
            shade = mix(GAP, "#000000", 0.55 - 0.55 * rank / max(1, len(curves) - 1))
            ax.plot(steps, gap, color=shade)
            peak = int(np.argmax(gap))
            # the flattest curve lies on the zero line: its label goes to the free side
            off = 0.095 * top if gap[peak] > 0.05 * top else -0.1 * top
            name = rf"$\theta$ = {theta:g}°"
            say(ax, (steps[peak], gap[peak] + off), name, mix(shade, "#000000", 0.25), fontsize=12)
        for zero in (0, 0.5, 1):
            ax.plot([zero], [0], "o", color=INK, ms=7, mec=PAPER, mew=1.2, zorder=5, clip_on=False)
        say(ax, (0.25, 1.35 * top), "the step lags")
        say(ax, (0.75, -1.35 * top), "the step leads")
        ax.set(xlim=(0, 1), ylim=(-1.45 * top, 1.45 * top))
        ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "1/4", "1/2", "3/4", "1"])
        ticks = np.arange(-80, 81, 20 if top > 25 else 10 if top > 10 else 2)
        degree_ticks(ax, [t for t in ticks if abs(t) <= 1.45 * top], "y")
    return figure


def gap_map(alpha: ArrayLike, theta: ArrayLike, gap: ArrayLike) -> BookFigure:
    """The gap over alpha and theta as a map with labelled contours; zero on both edges and on alpha = 1/2.

    `alpha` of shape (n,), `theta` of shape (m,), `gap` of shape (m, n).
    """
    x, y, z = floats(alpha), as_degrees(theta), as_degrees(gap)
    above = np.array([0.1, 1, 5, 10, 20, 40])
    levels = np.concatenate([-above[::-1], above])
    edges = np.concatenate([[-90], levels, [90]])
    with style():
        figure, ax = graph(4.3, r"step size $\alpha$", r"angle $\theta$ between $h$ and $h_{\mathrm{A}}$")
        lead = "#6b7078"
        colours = LinearSegmentedColormap.from_list("gap", [lead, PAPER, GAP], N=len(edges) - 1)
        ax.contourf(x, y, z, edges, cmap=colours, norm=BoundaryNorm(edges, len(edges) - 1))
        for signed, dashes in ((above, "solid"), (-above[::-1], "dashed")):
            ax.contour(x, y, z, signed, colors=[INK], linewidths=0.9, linestyles=dashes)
        ax.axvline(0.5, color=INK, lw=2)
        for level in levels:
            inside = np.where(level > 0, z >= level, z <= level)
            rows = np.flatnonzero(inside.any(axis=1))
            if rows.size:
                column = int(np.round(np.mean(np.flatnonzero(inside[rows[0]]))))
                text = minus(f"{level:g}°")
                say(ax, (x[column], y[rows[0]]), text, bbox=PAPER_BOX, fontsize=11.5)
        box = PAPER_BOX | {"boxstyle": "round,pad=0.2"}
        say(ax, (0.5, 16), "$G = 0$", bbox=box)
        say(ax, (0.21, 16), "step lags", text_colour(GAP))
        say(ax, (0.79, 16), "step leads", mix(lead, "#000000", 0.3))
        ax.set(xlim=(0, 1), ylim=(0, 180))
        ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "1/4", "1/2", "3/4", "1"])
        degree_ticks(ax, [0, 45, 90, 135, 180], "y")
    return figure


def largest_gap(theta: ArrayLike, gap: ArrayLike, alpha: ArrayLike) -> BookFigure:
    """The largest gap over alpha, and the alpha where it is reached, against theta; all of shape (n,).

    The alpha is the one below 1/2; its mirror is drawn too.
    """
    degrees, largest, place = as_degrees(theta), as_degrees(gap), floats(alpha)
    marks = [mark for mark in (45, 90, 135, 170) if degrees[0] <= mark <= degrees[-1]]
    with style():
        figure = blank(4.9)
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        ax, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.6, 1))
        ax.axhline(90, color=MUTED, lw=1, ls=(0, (5, 3)))
        say(ax, (4, 84), "never reached: 90°", MUTED, ha="left", fontsize=12)
        ax.plot(degrees, largest, color=GAP, lw=2.6)
        for mark in marks:
            value = float(np.interp(mark, degrees, largest))
            dot(ax, (mark, value), text_colour(GAP))
            say(
                ax,
                (mark - 4, value + 5),
                f"{value:.2f}°" if value < 10 else f"{value:.1f}°",
                GAP,
                ha="right",
                fontsize=12,
            )
        ax.set(ylim=(-2, 96), ylabel="largest gap")
        degree_ticks(ax, [0, 30, 60, 90], "y")
        below.axhline(0.5, color=MUTED, lw=1, ls=(0, (5, 3)))
        below.plot(degrees, place, color=GAP, lw=2.6)
        below.plot(degrees, 1 - place, color=GAP, lw=2.6, ls=(0, (3, 1.5)))
        say(below, (20, 0.34), "lags most", GAP, ha="left", fontsize=12)
        say(below, (20, 0.66), "leads most", GAP, ha="left", fontsize=12)
        below.set(ylim=(0, 1), xlim=(0, 180), ylabel=r"reached at $\alpha$")
        below.set_xlabel(r"angle $\theta$ between $h$ and $h_{\mathrm{A}}$")
        below.set_yticks([0, 0.5, 1], ["0", "1/2", "1"])
        degree_ticks(below, [0, 45, 90, 135, 180])
        figure.align_ylabels()
    return figure


def cubic_loglog(
    theta: ArrayLike, gap: ArrayLike, lower: ArrayLike, upper: ArrayLike, cubic: ArrayLike
) -> BookFigure:
    """The gap at one alpha below 1/2 against theta on log axes; below, gap and bounds over the cubic law.

    All of shape (n,), positive, theta increasing; made for theta from 2 or 3 to about 150 degrees.
    """
    degrees, exact, law = as_degrees(theta), as_degrees(gap), as_degrees(cubic)
    low, high = as_degrees(lower) / law, as_degrees(upper) / law
    shade = mix(GAP, PAPER, 0.72)
    marks = np.array([mark for mark in (5, 10, 20, 40) if degrees[0] <= mark <= degrees[-1]])
    heights = np.exp(np.interp(np.log(marks), np.log(degrees), np.log(exact)))
    with style():
        figure = blank(5.4)
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        ax, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.7, 1))
        ax.set(xscale="log", yscale="log", ylabel="gap $G$")
        ax.plot(degrees, law, color=INK, lw=1.6, ls=(0, (4, 2)))
        ax.plot(degrees, exact, color=GAP, lw=2.8)
        ax.plot(marks, heights, "o", color=text_colour(GAP), ms=7, mec=PAPER, mew=1)
        for k in range(len(marks) - 1):
            corner = (marks[k + 1], heights[k])
            path(ax, [(marks[k], heights[k]), corner, (marks[k + 1], heights[k + 1])], color=MUTED, lw=1)
            place = (1.07 * marks[k + 1], np.sqrt(heights[k] * heights[k + 1]))
            times = f"\N{MULTIPLICATION SIGN}{heights[k + 1] / heights[k]:.2f}"
            say(ax, place, times, ha="left", fontsize=12)
        at = len(degrees) * 4 // 5
        say(ax, (degrees[at], 2.2 * exact[at]), "gap $G$", GAP, ha="right")
        say(ax, (degrees[-1], law[-1] / 25), "cubic law", ha="right")
        _powers(ax, "y", float(exact[0]), float(exact[-1]))

        below.fill_between(degrees, low, np.minimum(high, 10), color=shade, lw=0)
        below.axhline(1, color=INK, lw=1.6, ls=(0, (4, 2)))
        below.plot(degrees, exact / law, color=GAP, lw=2.8)
        say(below, (1.1 * degrees[0], 1.45), "between the bounds", GAP, ha="left", fontsize=12)
        below.set(ylim=(0, 2), xlim=(degrees[0], degrees[-1]), ylabel="gap / cubic")
        below.set_yticks([0, 1, 2])
        below.set_xlabel(r"angle $\theta$ between $h$ and $h_{\mathrm{A}}$")
        ticks = [tick for tick in (1, 2, 5, 10, 20, 40, 90, 150) if degrees[0] <= tick <= degrees[-1]]
        degree_ticks(below, ticks)
        figure.align_ylabels()
    return figure


def _powers(ax: Axes, axis: str, low: float, high: float) -> None:
    """Ticks at powers of ten within the data, in degrees."""
    powers = np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)
    degree_ticks(ax, (10.0 ** powers[:: 1 + len(powers) // 7]).tolist(), axis)


def cumulants(alpha: ArrayLike, third: ArrayLike, fifth: ArrayLike) -> BookFigure:
    """The third and fifth cumulants of a Bernoulli(alpha) variable, all of shape (n,).

    The gap is kappa_3 theta^3/3! - kappa_5 theta^5/5! + ...
    """
    x, k3, k5 = floats(alpha), floats(third), floats(fifth)
    with style():
        figure, ax = graph(3.4, r"$\alpha$", "cumulant")
        ax.axhline(0, color=MUTED, lw=0.9, zorder=1)
        ax.plot(x, k3, color=GAP, lw=2.8)
        dark = mix(GAP, "#000000", 0.55)
        ax.plot(x, k5, color=dark, lw=2, ls=(0, (4, 1.5)))
        for zero in (0, 0.5, 1):
            ax.plot([zero], [0], "o", color=INK, ms=7, mec=PAPER, mew=1.2, zorder=5, clip_on=False)
        top = float(max(np.max(np.abs(k3)), np.max(np.abs(k5))))
        for curve, name, colour in (
            (k3, r"$\kappa_3$", text_colour(GAP)),
            (k5, r"$\kappa_5$", dark),
        ):
            peak = int(np.argmax(curve))
            say(ax, (x[peak], curve[peak] + 0.14 * top), name, colour, fontsize=15)
        ax.set(xlim=(0, 1), ylim=(-1.3 * top, 1.3 * top))
        ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "1/4", "1/2", "3/4", "1"])
        ax.set_yticks([-0.1, 0, 0.1], ["\N{MINUS SIGN}0.1", "0", "0.1"])
    return figure


# --- contraction ---


def contraction(angles: Mapping[float, ArrayLike]) -> BookFigure:
    """The angles left after k steps toward a fixed target, for each alpha, with (1 - alpha)^k theta_0 beside.

    `angles` maps alpha to theta_0, theta_1, ...
    """
    curves = [(float(alpha), as_degrees(angles[alpha])) for alpha in sorted(angles)]
    last = max(len(left) for _, left in curves) - 1
    low, high = (float(f([f(left) for _, left in curves])) for f in (np.min, np.max))
    with style():
        figure, ax = graph(4.2, "step $k$", r"angle left  $\theta_k$")
        ax.set(yscale="log", xlim=(-0.02 * last, 1.27 * last), ylim=(low / 2, 2 * high))
        for alpha, left in curves:
            k = np.arange(len(left))
            ax.plot(k, left[0] * (1 - alpha) ** k, color=GEODESIC, lw=1.6, ls=(0, (4, 2)))
            ax.plot(k, left, "s-", color=CHORD, ms=6.5, mec=PAPER, mew=1, lw=1.8)
        ends = spread([float(np.log(left[-1])) for _, left in curves], 0.075 * np.log(4 * high / low))
        for (alpha, left), end in zip(curves, ends, strict=True):
            place = (len(left) - 1 + 0.03 * last, np.exp(end))
            say(ax, place, rf"$\alpha$ = {alpha:g}", CHORD, ha="left", fontsize=12)
        text = "dashed:\n" + r"$(1-\alpha)^k\,\theta_0$"
        say(ax, (0.02 * last, np.exp(0.8 * np.log(low) + 0.2 * np.log(high))), text, GEODESIC, ha="left")
        step = 1 + last // 8
        ax.set_xticks(np.arange(0, last + 1, step))
        _powers(ax, "y", low / 2, 2 * high)
    return figure


def contraction_ratio(theta: ArrayLike, ratios: Mapping[float, ArrayLike]) -> BookFigure:
    """The share of the angle that one step leaves, theta'/theta, against theta.

    `theta` of shape (n,); `ratios` maps alpha to the shares, shape (n,).
    """
    degrees = as_degrees(theta)
    with style():
        figure, ax = graph(4.0, r"angle $\theta$ before the step", r"share left  $\theta^\prime/\theta$")
        for alpha, ratio in sorted(ratios.items()):
            ax.axhline(1 - alpha, color=GEODESIC, lw=1.6, ls=(0, (4, 2)))
            ax.plot(degrees, floats(ratio), color=CHORD, clip_on=False)
        limits = [1 - float(alpha) for alpha in ratios]
        for alpha, place in zip(ratios, spread(limits, 0.08), strict=True):
            say(ax, (184, place), rf"$\alpha$ = {alpha:g}", ha="left", fontsize=12)
        near = min(limits, key=lambda limit: abs(limit - 0.75))
        say(ax, (100, near - 0.05), r"dashed: $1-\alpha$", GEODESIC, ha="left")
        ax.set(xlim=(0, 180), ylim=(0, 1))
        ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "1/4", "1/2", "3/4", "1"])
        degree_ticks(ax, [0, 45, 90, 135, 180])
    return figure
