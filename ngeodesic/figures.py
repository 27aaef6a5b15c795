"""Every figure of the book: data in, a Matplotlib figure out, one style and three colours.

Angles come in radians, as everywhere in the package, and are drawn in degrees. The chord and the nGPT step
are always drawn in `CHORD`, the geodesic in `GEODESIC`, the gap between them in `GAP`; the three differ in
lightness and in line or marker, so that they stay apart in greyscale and for colour-blind readers.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    import matplotlib.style
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap, to_hex, to_rgb
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
except ImportError as error:
    raise ImportError('figures need Matplotlib: pip install "ngeodesic-companion[notebooks]"') from error

__all__ = [
    "CHORD",
    "GAP",
    "GEODESIC",
    "BookFigure",
    "alpha_against_energy",
    "alpha_histograms",
    "bisector_frame",
    "chord_and_arc",
    "contraction",
    "contraction_ratio",
    "cubic_loglog",
    "cumulants",
    "gap_map",
    "gap_over_alpha",
    "halving",
    "largest_gap",
    "law_against_model",
    "off_plane_dimension",
    "off_plane_histogram",
    "step_off_circle",
    "step_on_sphere",
    "style",
    "training_growth",
]

Floats = NDArray[np.float64]

CHORD = "#b8480b"
GEODESIC = "#0b3c7d"
GAP = "#12a08c"
INK = "#22262b"
MUTED = "#5d646d"
FAINT = "#c9ced4"
PAPER = "#ffffff"

WIDTH = 5.0  # inches; on a phone 340 px, so 1 pt is 0.94 px there
DISPLAY_WIDTH = 560  # px; the PNG has twice as many
_PAPER_BOX = {"boxstyle": "round,pad=0.1", "fc": PAPER, "ec": "none"}

_RC: dict[str, Any] = {
    "figure.dpi": 2 * DISPLAY_WIDTH / WIDTH,
    "figure.facecolor": PAPER,
    "savefig.facecolor": "auto",
    "font.family": "DejaVu Sans",
    "font.size": 12,
    "mathtext.fontset": "dejavusans",
    "text.color": INK,
    "axes.facecolor": PAPER,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.labelsize": 12,
    "axes.linewidth": 0.9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.titlesize": 12,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 11.5,
    "ytick.labelsize": 11.5,
    "lines.linewidth": 2.2,
    "lines.markersize": 7,
    "lines.solid_capstyle": "round",
    "lines.dash_capstyle": "butt",
    "hatch.linewidth": 0.8,
}


@contextmanager
def style() -> Iterator[None]:
    """Matplotlib's defaults with the book's style on top; the caller's settings come back afterwards."""
    with matplotlib.style.context(_RC, after_reset=True):
        yield


class BookFigure(Figure):
    """A figure that is drawn in the book's style wherever it is drawn, and shows itself in a notebook.

    It never enters pyplot's list of open figures. Its PNG carries no date and no version: the same data give
    the same bytes under the same Matplotlib.
    """

    def draw(self, renderer: RendererBase) -> None:
        """Draw in the book's style: Matplotlib makes ticks and glyphs only now."""
        with style():
            super().draw(renderer)

    def png(self) -> bytes:
        """The picture as PNG bytes, at twice the width it is shown at."""
        buffer = BytesIO()
        with style():
            self.savefig(buffer, format="png", dpi=self.dpi, metadata={"Software": None})
        return buffer.getvalue()

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        return self.png(), {"width": DISPLAY_WIDTH}

    def __repr__(self) -> str:
        return "<BookFigure>"

    __str__ = __repr__


# --- the pieces that several figures share ---


def _blank(height: float) -> BookFigure:
    return BookFigure(figsize=(WIDTH, height))


def _plane(xlim: tuple[float, float], ylim: tuple[float, float]) -> tuple[BookFigure, Axes]:
    """An empty plane with equal axes that fills a figure of the book's width."""
    figure = _blank(WIDTH * (ylim[1] - ylim[0]) / (xlim[1] - xlim[0]))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=xlim, ylim=ylim, aspect="equal")
    ax.set_axis_off()
    return figure, ax


def _graph(height: float, xlabel: str, ylabel: str) -> tuple[BookFigure, Axes]:
    figure = _blank(height)
    figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
    ax = figure.add_subplot()
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return figure, ax


def _floats(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _degrees(angles: ArrayLike) -> Floats:
    return np.degrees(_floats(angles))


def _vec(turn: ArrayLike, radius: ArrayLike = 1.0) -> Floats:
    """Points of the plane at these polar angles, along a new last axis."""
    return _floats(_floats(radius)[..., None] * np.stack([np.cos(turn), np.sin(turn)], axis=-1))


def _path(ax: Axes, points: ArrayLike, **kwargs: Any) -> None:
    x, y = np.asarray(points, dtype=np.float64).T
    ax.plot(x, y, **kwargs)


def _arc(ax: Axes, start: float, stop: float, radius: float = 1.0, **kwargs: Any) -> None:
    _path(ax, _vec(np.linspace(start, stop, 181), radius), **kwargs)


def _spoke(ax: Axes, turn: float, inner: float = 0, outer: float = 1, **kwargs: Any) -> None:
    _path(ax, _vec(np.full(2, turn), (inner, outer)), **kwargs)


def _dot(ax: Axes, point: ArrayLike, colour: str, marker: str = "o", size: float = 8) -> None:
    """A marker with a thin rim of paper, so that it stands off from the lines it sits on."""
    x, y = _floats(point)
    ax.plot([x], [y], marker, color=colour, markersize=size, mec=PAPER, mew=1.2, zorder=5)


def _say(
    ax: Axes, point: ArrayLike, text: str, colour: str = INK, *, dx: float = 0, dy: float = 0, **kwargs: Any
) -> None:
    """A direct label at a point, or beside it by (dx, dy)."""
    x, y = _floats(point)
    options: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 12.5, "zorder": 6}
    ax.text(x + dx, y + dy, text, color=_text_colour(colour), **(options | kwargs))


def _text_colour(colour: str) -> str:
    """The gap's colour is too light for text and is darkened; the others are dark enough."""
    return _mix(GAP, "#000000", 0.28) if colour == GAP else colour


def _mix(colour: str, other: str, share: float) -> str:
    red, green, blue = (
        (1 - share) * a + share * b for a, b in zip(to_rgb(colour), to_rgb(other), strict=True)
    )
    return to_hex((red, green, blue))


def _spread(values: Sequence[float], least: float) -> Floats:
    """The values moved apart, in order and around their common middle, until neighbours differ by `least`."""
    order = np.argsort(values, kind="stable")
    groups: list[list[float]] = []  # runs of labels that touch, each as the places wished for
    for wish in _floats(values)[order]:
        groups.append([float(wish)])
        while len(groups) > 1:
            below, above = groups[-2:]
            top = np.mean(below) + least * (len(below) - 1) / 2
            bottom = np.mean(above) - least * (len(above) - 1) / 2
            if bottom - top >= least:
                break
            groups[-2:] = [below + above]
    placed = np.concatenate([np.mean(g) + least * (np.arange(len(g)) - (len(g) - 1) / 2) for g in groups])
    result = np.empty(len(placed))
    result[order] = placed
    return result


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def _in_degrees(angle: float) -> str:
    return _minus(f"{round(float(np.degrees(angle)), 1) + 0.0:.1f}°")  # + 0.0: no minus before zero


def _degree_ticks(ax: Axes, ticks: ArrayLike, axis: str = "x") -> None:
    which = ax.xaxis if axis == "x" else ax.yaxis
    which.set_major_locator(FixedLocator(_floats(ticks).tolist()))
    which.set_minor_locator(NullLocator())
    which.set_major_formatter(FuncFormatter(lambda value, _: _minus(f"{value:g}°")))


def _seen(point: ArrayLike) -> float:
    """The angle at which a point of the plane is seen from the centre."""
    x, y = _floats(point)
    return float(np.arctan2(y, x))


# --- the step on the circle and on the sphere ---


def chord_and_arc(alpha: float, theta: float) -> BookFigure:
    """One step of size alpha on the circle: the chord and the arc, the two points reached, the gap between.

    Two rulers outside the circle carry the angles: alpha theta for SLERP, phi and the gap for the nGPT step.
    For 0 < alpha < 1 and 0 < theta < pi; made for theta above 80 degrees.
    """
    start, side = (np.pi - theta) / 2, 1 if alpha <= 0.5 else -1
    ends = _vec(np.array([start, start + theta]))
    on_chord = (1 - alpha) * ends[0] + alpha * ends[1]
    stepped, slerped = on_chord / np.linalg.norm(on_chord), _vec(start + alpha * theta)
    phi, share = _seen(stepped) - start, alpha * theta
    inner, outer = 1.12, 1.38
    tips = _vec(np.array([start + share, start + phi]), 1.47)
    heights = _spread(tips[:, 1].tolist(), 0.14)
    heights += max(0.0, np.min(tips[:, 1]) - np.min(heights))  # never down into the rulers
    top = max(1.0, np.max(heights), outer * np.sin(min(np.pi / 2, start + max(phi, share)))) + 0.12
    with style():
        figure, ax = _plane((-1.14, 1.72) if side > 0 else (-1.84, 1.48), (-0.34, top))
        _arc(ax, 0, np.pi, color=FAINT, lw=1.2)
        for turn in (start, start + theta):
            _spoke(ax, turn, color=FAINT, lw=1.2)
        _path(ax, ends, color=CHORD, lw=2.4)
        _spoke(ax, start + phi, color=CHORD, lw=1.6, ls=(0, (4, 2)))
        _arc(ax, start, start + theta, color=GEODESIC, lw=3)

        _spoke(ax, start, 1, outer + 0.04, color=MUTED, lw=1.2)
        _spoke(ax, start + share, 1, outer + 0.04, color=GEODESIC, lw=1.2)
        _spoke(ax, start + phi, 1, outer + 0.04, color=CHORD, lw=1.2)
        _arc(ax, start, start + share, outer, color=GEODESIC, lw=3, solid_capstyle="butt")
        _arc(ax, start, start + phi, inner, color=CHORD, lw=3, solid_capstyle="butt")
        between = inner if share >= phi else outer
        _arc(ax, start + phi, start + share, between, color=GAP, lw=7, solid_capstyle="butt")
        short = min(phi, share)
        if short > 0.24:
            mid = start + short / 2
            _say(ax, _vec(mid, outer), r"$\alpha\theta$", GEODESIC, fontsize=14, bbox=_PAPER_BOX)
            _say(ax, _vec(mid, inner + 0.1), r"$\varphi$", CHORD, fontsize=14)
        if abs(share - phi) > 0.14:
            _say(ax, _vec(start + (phi + share) / 2, between + 0.11), "$G$", GAP, fontsize=14)

        names = (("SLERP", GEODESIC), ("nGPT step", CHORD))
        for (name, colour), tip, y in zip(names, tips, heights, strict=True):
            _say(ax, (tip[0], y), name, colour, dx=0.02 * side, ha="left" if side > 0 else "right")
        _say(ax, (on_chord + ends[1 if side > 0 else 0]) / 2, "chord", CHORD, dy=-0.1)
        for end, turn, name in zip(
            ends, (start - 0.13, start + theta + 0.13), ("$h$", r"$h_{\mathrm{A}}$"), strict=True
        ):
            _dot(ax, end, INK)
            _say(ax, _vec(turn, 1.06), name, fontsize=15)
        _dot(ax, (0, 0), MUTED, size=6)
        _dot(ax, on_chord, CHORD, "D", 7)
        _dot(ax, slerped, GEODESIC, "o", 10)
        _dot(ax, stepped, CHORD, "s", 8)

        left, width = ax.get_xlim()[0], np.ptp(ax.get_xlim())
        numbers = [
            (0.17, rf"$\alpha\theta$ = {_in_degrees(share)}", GEODESIC),
            (0.42, rf"$\varphi$ = {_in_degrees(phi)}", CHORD),
            (0.76, rf"$G = \alpha\theta - \varphi$ = {_in_degrees(share - phi)}", GAP),
        ]
        for at, text, colour in numbers:
            _say(ax, (left + at * width, -0.2), text, colour)
    return figure


def bisector_frame(theta: float) -> BookFigure:
    """The frame of the bisector: the chord is the upright line at distance cos(theta/2) from the centre.

    Alpha runs along it at constant speed; rays through alpha = 1/4, 1/2, 3/4 meet the circle where the nGPT
    step lands, SLERP lands on the round dots. Made for theta of 90 to 130 degrees.
    """
    x, reach = np.cos(theta / 2), np.sin(theta / 2)
    with style():
        figure, ax = _plane((-0.25, 1.75), (-1.08, 1.08))
        _arc(ax, -1.3, 1.3, color=FAINT, lw=1.2)
        _path(ax, [(0, 0), (1, 0)], color=MUTED, lw=1.2)
        _path(ax, [(x - 0.06, 0), (x - 0.06, 0.06), (x, 0.06)], color=MUTED, lw=1.2)
        for sign in (-1, 1):
            _path(ax, [(0, 0), (x, sign * reach)], color=FAINT, lw=1.2)
        _arc(ax, 0, theta / 2, 0.16, color=MUTED, lw=1.2)
        _say(ax, _vec(theta / 2 + 0.5, 0.22), r"$\theta/2$", fontsize=13)
        _say(ax, (x / 2, -0.075), r"$\cos(\theta/2)$", fontsize=12.5)
        _arc(ax, -theta / 2, theta / 2, color=GEODESIC, lw=3)
        _path(ax, [(x, -reach), (x, reach)], color=CHORD, lw=2.4)
        for alpha in (0.25, 0.5, 0.75):
            point = (x, (2 * alpha - 1) * reach)
            turn = _seen(point)
            if alpha != 0.5:
                _spoke(ax, turn, color=CHORD, lw=1.6, ls=(0, (4, 2)))
                slerp_turn = (alpha - 0.5) * theta
                _arc(ax, turn, slerp_turn, color=GAP, lw=7, solid_capstyle="butt", zorder=3)
                _dot(ax, _vec(slerp_turn), GEODESIC, "o", 10)
                heights = _spread([1.07 * np.sin(turn), 1.07 * np.sin(slerp_turn)], 0.13)
                _say(
                    ax,
                    (1.07 * np.cos(turn), heights[0]),
                    f"nGPT {_in_degrees(turn + theta / 2)}",
                    CHORD,
                    ha="left",
                )
                label = f"SLERP {_in_degrees(alpha * theta)}"
                _say(ax, (1.07 * np.cos(slerp_turn), heights[1]), label, GEODESIC, ha="left")
            _dot(ax, point, CHORD, "D", 7)
            _dot(ax, _vec(turn), CHORD, "s", 8)
        _dot(ax, (1, 0), GEODESIC, "o", 12)
        _dot(ax, (1, 0), CHORD, "s", 6)
        _say(ax, (1.07, 0), rf"both $\theta/2$ = {_in_degrees(theta / 2)}", ha="left")
        for alpha, text, drop in ((0.25, "1/4", 0.11), (0.5, "1/2", 0.08), (0.75, "3/4", -0.11)):
            _say(ax, (x + 0.05, (2 * alpha - 1) * reach + drop), text, CHORD, ha="left", fontsize=12)
        for turn, name, text in (
            (-theta / 2, "$h$", r"$\alpha = 0$"),
            (theta / 2, r"$h_{\mathrm{A}}$", r"$\alpha = 1$"),
        ):
            _dot(ax, _vec(turn), INK)
            _say(ax, _vec(turn, 1.1), name, fontsize=15)
            _say(ax, _vec(turn), text, CHORD, dx=-0.06, ha="right", fontsize=12)
        _dot(ax, (0, 0), MUTED, size=6)
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
        figure, ax = _plane((-radii[-1] * np.sin(theta / 2) - 0.12, 1.3), (-0.1, radii[1] + 0.12))
        _arc(ax, 0, np.pi, color=FAINT, lw=1.2)
        target = _vec(end)
        _spoke(ax, end, color=FAINT, lw=1.2)
        _spoke(ax, turns[0], color=FAINT, lw=1.2)
        _arc(ax, turns[0], end, color=GEODESIC, lw=3)
        for k, (turn, radius) in enumerate(zip(turns, radii, strict=True)):
            if k:
                _spoke(ax, turn, color=CHORD, lw=1.6, ls=(0, (4, 2)))
                _dot(ax, (_vec(turns[k - 1]) + target) / 2, CHORD, "D", 7)
            if k < steps:
                _path(ax, [_vec(turn), target], color=CHORD, lw=2.4)
            _spoke(ax, turn, 1, radius + 0.035, color=MUTED, lw=1.2)
            _arc(ax, turn, end, radius, color=GEODESIC, lw=2.4, solid_capstyle="butt")
            text = rf"$\theta/{2**k}$" if k else r"$\theta$"
            _say(
                ax,
                _vec(turn + (0.25 if k == 0 else 0.625) * (end - turn), radius),
                text,
                GEODESIC,
                bbox=_PAPER_BOX,
                fontsize=13,
            )
            _dot(ax, _vec(turn), CHORD if k else INK, "s" if k else "o", 8)
            _say(ax, _vec(turn - 0.11 / radius, radius), f"$h_{k}$", fontsize=15)
        _spoke(ax, end, 1, radii[-1] + 0.035, color=MUTED, lw=1.2)
        _dot(ax, target, INK)
        _say(ax, _vec(end + 0.11, 1.08), r"$h_{\mathrm{A}}$", fontsize=15)
        _dot(ax, (0, 0), MUTED, size=6)
    return figure


class _Globe:
    """A shaded unit ball, and the great circle through two points a and b, seen obliquely.

    The bisector of a and b is ahead, and the plane of the circle is seen from `tilt` degrees above; above is
    the side of the point `upper`.
    """

    def __init__(self, a: Floats, b: Floats, tilt: float = 50, upper: Floats | None = None) -> None:
        self.theta = float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))
        self.a, self.side = a, (b - (a @ b) * a) / np.sin(self.theta)
        middle, across = (a + b) / np.linalg.norm(a + b), (b - a) / np.linalg.norm(b - a)
        if upper is not None and upper @ np.cross(across, middle) < 0:
            across = -across
        normal = np.cross(across, middle)
        # right, up, toward the viewer
        tilt, yaw = np.radians(tilt), np.radians(-12)
        right = np.cos(yaw) * -across + np.sin(yaw) * middle
        ahead = np.sin(yaw) * across + np.cos(yaw) * middle
        up = np.cos(tilt) * normal - np.sin(tilt) * ahead
        self.toward = np.cos(tilt) * ahead + np.sin(tilt) * normal
        self.screen = np.stack([right, up], axis=1)

    def great(self, turn: ArrayLike) -> Floats:
        """Points of the great circle at these angles from a."""
        return _floats(_vec(turn) @ np.stack([self.a, self.side]))

    def draw(self) -> tuple[BookFigure, Axes]:
        """The ball and the great circle, the arc from a to b as a geodesic."""
        figure, ax = _plane((-1.3, 1.3), (-1.08, 1.08))
        ball = np.hypot(*np.meshgrid(np.linspace(-1.05, 0.95, 200), np.linspace(-1.15, 0.85, 200)))
        shade = LinearSegmentedColormap.from_list("ball", [PAPER, "#e3e7ec"])
        picture = ax.imshow(ball, extent=(-1, 1, 1, -1), cmap=shade, vmin=0, vmax=1.5, aspect="equal")
        picture.set_clip_path(Circle((0, 0), 1, transform=ax.transData))
        _arc(ax, 0, 2 * np.pi, color=MUTED, lw=1.2)
        circle = self.great(np.linspace(self.theta, 2 * np.pi, 721))
        front = (circle @ self.toward > 0)[:, None]
        _path(ax, np.where(front, circle @ self.screen, np.nan), color=MUTED, lw=1.2)
        _path(ax, np.where(front, np.nan, circle @ self.screen), color=MUTED, lw=1.1, ls=(0, (2, 3)))
        _path(ax, self.great(np.linspace(0, self.theta, 181)) @ self.screen, color=GEODESIC, lw=3)
        return figure, ax

    def ends(self, ax: Axes, a: Floats, b: Floats) -> None:
        """The two points, with their names outside."""
        for end, name in ((a, "$h$"), (b, r"$h_{\mathrm{A}}$")):
            place = end @ self.screen
            _dot(ax, place, INK)
            far = float(np.linalg.norm(place))
            _say(ax, place / far * (1.13 if far > 0.75 else far + 0.12), name, fontsize=15)


def step_on_sphere(h: ArrayLike, target: ArrayLike, alpha: float) -> BookFigure:
    """One step on the sphere in three dimensions: great circle, chord through the ball, point pulled back.

    `h` and `target` of shape (3,) are normalised first and not parallel; the view is chosen from them. Made
    for angles of 80 to 130 degrees between them.
    """
    a, b = (_floats(v) / np.linalg.norm(_floats(v)) for v in (h, target))
    with style():
        globe = _Globe(a, b)
        screen = globe.screen
        figure, ax = globe.draw()
        on_chord, slerped = (1 - alpha) * a + alpha * b, globe.great(alpha * globe.theta)
        stepped = on_chord / np.linalg.norm(on_chord)
        phi = float(np.arctan2(stepped @ globe.side, stepped @ a))
        for end in (a, b):
            _path(ax, [(0, 0), end @ screen], color=FAINT, lw=1.4)
        _path(ax, np.array([a, b]) @ screen, color=CHORD, lw=2.4)
        _path(ax, [(0, 0), stepped @ screen], color=CHORD, lw=1.6, ls=(0, (4, 2)))
        gap = globe.great(np.linspace(phi, alpha * globe.theta, 31)) @ screen
        _path(ax, gap, color=GAP, lw=8, solid_capstyle="butt", zorder=3)
        _dot(ax, (0, 0), MUTED, size=6)
        _dot(ax, on_chord @ screen, CHORD, "D", 7)
        _dot(ax, slerped @ screen, GEODESIC, "o", 10)
        _dot(ax, stepped @ screen, CHORD, "s", 8)
        globe.ends(ax, a, b)
        names = (("SLERP", GEODESIC, slerped), ("nGPT", CHORD, stepped))
        places = [point @ screen - (0.04, 0.13) for *_, point in names]
        columns = _spread([place[0] for place in places], 0.34) - 0.04
        for (name, colour, _), place, column in zip(names, places, columns, strict=True):
            _say(ax, (column, place[1]), name, colour)
        _say(ax, (0.3 * a + 0.7 * b) @ screen, "chord", CHORD, dy=0.09)
    return figure


# --- the per-dimension step ---


def step_off_circle(h: ArrayLike, target: ArrayLike, alpha: ArrayLike) -> BookFigure:
    """One per-dimension step in three dimensions: it leaves the great circle through h and target.

    All of shape (3,); `h` and `target` are normalised first and not parallel. The disc is the plane of the
    two; the point before it is normalised, the step, its foot on the great circle and the SLERP point at the
    mean alpha are marked. Made for angles of 80 to 130 degrees and a step well off the plane.
    """
    a, b = (_floats(v) / np.linalg.norm(_floats(v)) for v in (h, target))
    steps = _floats(alpha)
    point = a + steps * (b - a)
    stepped = point / np.linalg.norm(point)
    with style():
        globe = _Globe(a, b, 30, stepped)
        screen = globe.screen
        psi = float(np.arctan2(stepped @ globe.side, stepped @ a))
        foot, slerped = globe.great(psi), globe.great(float(np.mean(steps)) * globe.theta)
        rise = float(np.arccos(np.clip(stepped @ foot, -1, 1)))
        off = (stepped - np.cos(rise) * foot) / np.sin(rise)
        meridian = _vec(np.linspace(0, rise, 61)) @ np.stack([foot, off])
        figure, ax = globe.draw()
        disc = globe.great(np.linspace(0, 2 * np.pi, 361)) @ screen
        ax.fill(*disc.T, color=_mix(GEODESIC, PAPER, 0.86), lw=0, zorder=1)
        for end in (a, b, foot):
            _path(ax, [(0, 0), end @ screen], color=FAINT, lw=1.4)
        _path(ax, np.array([a, b]) @ screen, color=CHORD, lw=2.4)
        _path(ax, np.array([a, point]) @ screen, color=CHORD, lw=1.6, ls=(0, (1, 1.2)))
        _path(ax, [(0, 0), stepped @ screen], color=CHORD, lw=1.6, ls=(0, (4, 2)))
        _path(ax, meridian @ screen, color=GAP, lw=6, solid_capstyle="butt", zorder=3)
        _dot(ax, (0, 0), MUTED, size=6)
        _dot(ax, foot @ screen, INK, size=6)
        _dot(ax, point @ screen, CHORD, "D", 7)
        _dot(ax, slerped @ screen, GEODESIC, "o", 10)
        _dot(ax, stepped @ screen, CHORD, "s", 9)
        globe.ends(ax, a, b)
        _say(ax, stepped @ screen, "nGPT step", CHORD, dy=0.12)
        out = 1 if (b - a) @ screen[:, 0] > 0 else -1
        place = meridian[44] @ screen
        _say(ax, place, "off the\nplane", GAP, dx=0.07 * out, ha="left" if out > 0 else "right")
        _say(ax, slerped @ screen, "SLERP", GEODESIC, dy=-0.13)
        _say(ax, (0.6 * a + 0.4 * b) @ screen, "chord", CHORD, dy=-0.08)
    return figure


def off_plane_dimension(
    dim: ArrayLike, norms: ArrayLike, law: float, low: ArrayLike, high: ArrayLike
) -> BookFigure:
    """The off-plane norms of random steps against the number of dimensions, with the law and its band.

    `dim`, `low`, `high` of shape (n,); `norms` of shape (n, m), m steps for each dimension.
    """
    dims, points = _floats(dim), _floats(norms)
    below, above = _floats(low), _floats(high)
    with style():
        figure, ax = _graph(4.0, "number of dimensions $d$", "off-plane norm")
        ax.set(xscale="log", xlim=(dims[0] / 1.8, dims[-1] * 2))
        ax.fill_between(dims, below, above, color=_mix(GAP, PAPER, 0.72), lw=0, zorder=1)
        shifts = np.linspace(-0.12, 0.12, points.shape[1])
        places = dims[:, None] * np.exp(shifts * np.log(dims[1] / dims[0]))
        ax.plot(places.ravel(), points.ravel(), "s", color=CHORD, ms=2.6, mew=0, alpha=0.6, zorder=2)
        ax.axhline(law, color=INK, lw=1.8, ls=(0, (4, 2)), zorder=3)
        top = max(float(np.max(points)), float(np.max(above)))
        _say(ax, (dims[-1], law + 0.13 * top), f"law: {law:.4f}", ha="right")
        _say(ax, (dims[-1], 0.14 * top), "band: mean and two\nstandard deviations", GAP, ha="right")
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
    values = _floats(norms)
    with style():
        figure, ax = _graph(4.0, "off-plane norm", "steps")
        counts, edges = np.histogram(values, bins=60)
        middles = (edges[1:] + edges[:-1]) / 2
        inside = (interval[0] <= middles) & (middles <= interval[1])
        colours = np.where(inside, GAP, _mix(GAP, PAPER, 0.55)).tolist()
        ax.bar(middles, counts, width=edges[1] - edges[0], color=colours, lw=0)
        top = float(np.max(counts))
        ax.axvline(law, ymax=0.86, color=INK, lw=1.8, ls=(0, (4, 2)))
        _say(ax, (law, 1.13 * top), f"law: {law:.4f}")
        width = float(np.ptp(values))
        for mark, place in zip(marks, _spread(list(marks), 0.19 * width), strict=True):
            _path(ax, [(mark, 0), (place, 0.3 * top)], color=CHORD, lw=1.6)
            _dot(ax, (mark, 0), CHORD, "s", 9)
            _say(ax, (place, 0.35 * top), f"{mark:.4f}", CHORD, bbox=_PAPER_BOX)
        _say(ax, (interval[1] + 0.02 * width, 0.75 * top), "dark: 95 %", GAP, ha="left")
        ax.set(ylim=(0, 1.2 * top))
    return figure


# --- the gap ---


def gap_over_alpha(alpha: ArrayLike, gaps: Mapping[float, ArrayLike]) -> BookFigure:
    """The gap over alpha, one curve for each theta: three zeros, odd about 1/2.

    `alpha` of shape (n,); `gaps` maps theta to the gaps there, shape (n,), both in radians.
    """
    steps = _floats(alpha)
    curves = [(float(np.degrees(theta)), _degrees(gaps[theta])) for theta in sorted(gaps)]
    with style():
        figure, ax = _graph(4.0, r"step size $\alpha$", r"gap  $G = \alpha\theta - \varphi$")
        ax.axhline(0, color=MUTED, lw=0.9, zorder=1)
        top = max(float(np.max(np.abs(g))) for _, g in curves)
        for rank, (theta, gap) in enumerate(curves):
            shade = _mix(GAP, "#000000", 0.55 - 0.55 * rank / max(1, len(curves) - 1))
            ax.plot(steps, gap, color=shade)
            peak = int(np.argmax(gap))
            # the flattest curve lies on the zero line: its label goes to the free side
            off = 0.095 * top if gap[peak] > 0.05 * top else -0.1 * top
            name = rf"$\theta$ = {theta:g}°"
            _say(ax, (steps[peak], gap[peak] + off), name, _mix(shade, "#000000", 0.25), fontsize=12)
        for zero in (0, 0.5, 1):
            ax.plot([zero], [0], "o", color=INK, ms=7, mec=PAPER, mew=1.2, zorder=5, clip_on=False)
        _say(ax, (0.25, 1.35 * top), "the step lags")
        _say(ax, (0.75, -1.35 * top), "the step leads")
        ax.set(xlim=(0, 1), ylim=(-1.45 * top, 1.45 * top))
        ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "1/4", "1/2", "3/4", "1"])
        ticks = np.arange(-80, 81, 20 if top > 25 else 10 if top > 10 else 2)
        _degree_ticks(ax, [t for t in ticks if abs(t) <= 1.45 * top], "y")
    return figure


def gap_map(alpha: ArrayLike, theta: ArrayLike, gap: ArrayLike) -> BookFigure:
    """The gap over alpha and theta as a map with labelled contours; zero on both edges and on alpha = 1/2.

    `alpha` of shape (n,), `theta` of shape (m,), `gap` of shape (m, n).
    """
    x, y, z = _floats(alpha), _degrees(theta), _degrees(gap)
    above = np.array([0.1, 1, 5, 10, 20, 40])
    levels = np.concatenate([-above[::-1], above])
    edges = np.concatenate([[-90], levels, [90]])
    with style():
        figure, ax = _graph(4.3, r"step size $\alpha$", r"angle $\theta$ between $h$ and $h_{\mathrm{A}}$")
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
                text = _minus(f"{level:g}°")
                _say(ax, (x[column], y[rows[0]]), text, bbox=_PAPER_BOX, fontsize=11.5)
        box = _PAPER_BOX | {"boxstyle": "round,pad=0.2"}
        _say(ax, (0.5, 16), "$G = 0$", bbox=box)
        _say(ax, (0.21, 16), "step lags", _text_colour(GAP))
        _say(ax, (0.79, 16), "step leads", _mix(lead, "#000000", 0.3))
        ax.set(xlim=(0, 1), ylim=(0, 180))
        ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "1/4", "1/2", "3/4", "1"])
        _degree_ticks(ax, [0, 45, 90, 135, 180], "y")
    return figure


def largest_gap(theta: ArrayLike, gap: ArrayLike, alpha: ArrayLike) -> BookFigure:
    """The largest gap over alpha, and the alpha where it is reached, against theta; all of shape (n,).

    The alpha is the one below 1/2; its mirror is drawn too.
    """
    degrees, largest, place = _degrees(theta), _degrees(gap), _floats(alpha)
    marks = [mark for mark in (45, 90, 135, 170) if degrees[0] <= mark <= degrees[-1]]
    with style():
        figure = _blank(4.9)
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        ax, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.6, 1))
        ax.axhline(90, color=MUTED, lw=1, ls=(0, (5, 3)))
        _say(ax, (4, 84), "never reached: 90°", MUTED, ha="left", fontsize=12)
        ax.plot(degrees, largest, color=GAP, lw=2.6)
        for mark in marks:
            value = float(np.interp(mark, degrees, largest))
            _dot(ax, (mark, value), _text_colour(GAP))
            _say(
                ax,
                (mark - 4, value + 5),
                f"{value:.2f}°" if value < 10 else f"{value:.1f}°",
                GAP,
                ha="right",
                fontsize=12,
            )
        ax.set(ylim=(-2, 96), ylabel="largest gap")
        _degree_ticks(ax, [0, 30, 60, 90], "y")
        below.axhline(0.5, color=MUTED, lw=1, ls=(0, (5, 3)))
        below.plot(degrees, place, color=GAP, lw=2.6)
        below.plot(degrees, 1 - place, color=GAP, lw=2.6, ls=(0, (3, 1.5)))
        _say(below, (20, 0.34), "lags most", GAP, ha="left", fontsize=12)
        _say(below, (20, 0.66), "leads most", GAP, ha="left", fontsize=12)
        below.set(ylim=(0, 1), xlim=(0, 180), ylabel=r"reached at $\alpha$")
        below.set_xlabel(r"angle $\theta$ between $h$ and $h_{\mathrm{A}}$")
        below.set_yticks([0, 0.5, 1], ["0", "1/2", "1"])
        _degree_ticks(below, [0, 45, 90, 135, 180])
        figure.align_ylabels()
    return figure


def cubic_loglog(
    theta: ArrayLike, gap: ArrayLike, lower: ArrayLike, upper: ArrayLike, cubic: ArrayLike
) -> BookFigure:
    """The gap at one alpha below 1/2 against theta on log axes; below, gap and bounds over the cubic law.

    All of shape (n,), positive, theta increasing; made for theta from 2 or 3 to about 150 degrees.
    """
    degrees, exact, law = _degrees(theta), _degrees(gap), _degrees(cubic)
    low, high = _degrees(lower) / law, _degrees(upper) / law
    shade = _mix(GAP, PAPER, 0.72)
    marks = np.array([mark for mark in (5, 10, 20, 40) if degrees[0] <= mark <= degrees[-1]])
    heights = np.exp(np.interp(np.log(marks), np.log(degrees), np.log(exact)))
    with style():
        figure = _blank(5.4)
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        ax, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.7, 1))
        ax.set(xscale="log", yscale="log", ylabel="gap $G$")
        ax.plot(degrees, law, color=INK, lw=1.6, ls=(0, (4, 2)))
        ax.plot(degrees, exact, color=GAP, lw=2.8)
        ax.plot(marks, heights, "o", color=_text_colour(GAP), ms=7, mec=PAPER, mew=1)
        for k in range(len(marks) - 1):
            corner = (marks[k + 1], heights[k])
            _path(ax, [(marks[k], heights[k]), corner, (marks[k + 1], heights[k + 1])], color=MUTED, lw=1)
            place = (1.07 * marks[k + 1], np.sqrt(heights[k] * heights[k + 1]))
            times = f"\N{MULTIPLICATION SIGN}{heights[k + 1] / heights[k]:.2f}"
            _say(ax, place, times, ha="left", fontsize=12)
        at = len(degrees) * 4 // 5
        _say(ax, (degrees[at], 2.2 * exact[at]), "gap $G$", GAP, ha="right")
        _say(ax, (degrees[-1], law[-1] / 25), "cubic law", ha="right")
        _powers(ax, "y", float(exact[0]), float(exact[-1]))

        below.fill_between(degrees, low, np.minimum(high, 10), color=shade, lw=0)
        below.axhline(1, color=INK, lw=1.6, ls=(0, (4, 2)))
        below.plot(degrees, exact / law, color=GAP, lw=2.8)
        _say(below, (1.1 * degrees[0], 1.45), "between the bounds", GAP, ha="left", fontsize=12)
        below.set(ylim=(0, 2), xlim=(degrees[0], degrees[-1]), ylabel="gap / cubic")
        below.set_yticks([0, 1, 2])
        below.set_xlabel(r"angle $\theta$ between $h$ and $h_{\mathrm{A}}$")
        ticks = [tick for tick in (1, 2, 5, 10, 20, 40, 90, 150) if degrees[0] <= tick <= degrees[-1]]
        _degree_ticks(below, ticks)
        figure.align_ylabels()
    return figure


def _powers(ax: Axes, axis: str, low: float, high: float) -> None:
    """Ticks at powers of ten within the data, in degrees."""
    powers = np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)
    _degree_ticks(ax, (10.0 ** powers[:: 1 + len(powers) // 7]).tolist(), axis)


def cumulants(alpha: ArrayLike, third: ArrayLike, fifth: ArrayLike) -> BookFigure:
    """The third and fifth cumulants of a Bernoulli(alpha) variable, all of shape (n,).

    The gap is kappa_3 theta^3/3! - kappa_5 theta^5/5! + ...
    """
    x, k3, k5 = _floats(alpha), _floats(third), _floats(fifth)
    with style():
        figure, ax = _graph(3.4, r"$\alpha$", "cumulant")
        ax.axhline(0, color=MUTED, lw=0.9, zorder=1)
        ax.plot(x, k3, color=GAP, lw=2.8)
        dark = _mix(GAP, "#000000", 0.55)
        ax.plot(x, k5, color=dark, lw=2, ls=(0, (4, 1.5)))
        for zero in (0, 0.5, 1):
            ax.plot([zero], [0], "o", color=INK, ms=7, mec=PAPER, mew=1.2, zorder=5, clip_on=False)
        top = float(max(np.max(np.abs(k3)), np.max(np.abs(k5))))
        for curve, name, colour in (
            (k3, r"$\kappa_3$", _text_colour(GAP)),
            (k5, r"$\kappa_5$", dark),
        ):
            peak = int(np.argmax(curve))
            _say(ax, (x[peak], curve[peak] + 0.14 * top), name, colour, fontsize=15)
        ax.set(xlim=(0, 1), ylim=(-1.3 * top, 1.3 * top))
        ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "1/4", "1/2", "3/4", "1"])
        ax.set_yticks([-0.1, 0, 0.1], ["\N{MINUS SIGN}0.1", "0", "0.1"])
    return figure


# --- contraction ---


def contraction(angles: Mapping[float, ArrayLike]) -> BookFigure:
    """The angles left after k steps toward a fixed target, for each alpha, with (1 - alpha)^k theta_0 beside.

    `angles` maps alpha to theta_0, theta_1, ...
    """
    curves = [(float(alpha), _degrees(angles[alpha])) for alpha in sorted(angles)]
    last = max(len(left) for _, left in curves) - 1
    low, high = (float(f([f(left) for _, left in curves])) for f in (np.min, np.max))
    with style():
        figure, ax = _graph(4.2, "step $k$", r"angle left  $\theta_k$")
        ax.set(yscale="log", xlim=(-0.02 * last, 1.27 * last), ylim=(low / 2, 2 * high))
        for alpha, left in curves:
            k = np.arange(len(left))
            ax.plot(k, left[0] * (1 - alpha) ** k, color=GEODESIC, lw=1.6, ls=(0, (4, 2)))
            ax.plot(k, left, "s-", color=CHORD, ms=6.5, mec=PAPER, mew=1, lw=1.8)
        ends = _spread([float(np.log(left[-1])) for _, left in curves], 0.075 * np.log(4 * high / low))
        for (alpha, left), end in zip(curves, ends, strict=True):
            place = (len(left) - 1 + 0.03 * last, np.exp(end))
            _say(ax, place, rf"$\alpha$ = {alpha:g}", CHORD, ha="left", fontsize=12)
        text = "dashed:\n" + r"$(1-\alpha)^k\,\theta_0$"
        _say(ax, (0.02 * last, np.exp(0.8 * np.log(low) + 0.2 * np.log(high))), text, GEODESIC, ha="left")
        step = 1 + last // 8
        ax.set_xticks(np.arange(0, last + 1, step))
        _powers(ax, "y", low / 2, 2 * high)
    return figure


def contraction_ratio(theta: ArrayLike, ratios: Mapping[float, ArrayLike]) -> BookFigure:
    """The share of the angle that one step leaves, theta'/theta, against theta.

    `theta` of shape (n,); `ratios` maps alpha to the shares, shape (n,).
    """
    degrees = _degrees(theta)
    with style():
        figure, ax = _graph(4.0, r"angle $\theta$ before the step", r"share left  $\theta^\prime/\theta$")
        for alpha, ratio in sorted(ratios.items()):
            ax.axhline(1 - alpha, color=GEODESIC, lw=1.6, ls=(0, (4, 2)))
            ax.plot(degrees, _floats(ratio), color=CHORD, clip_on=False)
        limits = [1 - float(alpha) for alpha in ratios]
        for alpha, place in zip(ratios, _spread(limits, 0.08), strict=True):
            _say(ax, (184, place), rf"$\alpha$ = {alpha:g}", ha="left", fontsize=12)
        near = min(limits, key=lambda limit: abs(limit - 0.75))
        _say(ax, (100, near - 0.05), r"dashed: $1-\alpha$", GEODESIC, ha="left")
        ax.set(xlim=(0, 180), ylim=(0, 1))
        ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "1/4", "1/2", "3/4", "1"])
        _degree_ticks(ax, [0, 45, 90, 135, 180])
    return figure


# --- the falsifier ---


def alpha_histograms(alphas: Mapping[str, ArrayLike], *, start: float, mean: float, std: float) -> BookFigure:
    """The distribution of alpha in each block, one row a block, above it the normal one with mean and std.

    `alphas` maps the name of a block to its alphas of any shape; `start` is the alpha before training.
    """
    rows = {name: _floats(values).ravel() for name, values in alphas.items()}
    edges = np.linspace(0, max(mean + 3 * std, *(float(a.max()) for a in rows.values())), 61)
    heights = {name: np.histogram(a, edges)[0] / a.size for name, a in rows.items()}
    tallest = max(float(h.max()) for h in heights.values())
    with style():
        figure, ax = _graph(5.2, r"$\alpha$", "block")
        x = np.linspace(mean - 3 * std, mean + 3 * std, 201)
        normal = np.exp(-(((x - mean) / std) ** 2) / 2) / (std * np.sqrt(2 * np.pi)) * (edges[1] - edges[0])
        _row(ax, x, normal * 1.7 / tallest, 0, MUTED)
        for place, height in enumerate(heights.values(), start=1):
            stairs = np.repeat(height * 1.7 / tallest, 2)
            _row(ax, np.repeat(edges, 2)[1:-1], stairs, -place, CHORD)
        ax.axvline(start, color=INK, lw=1.2, ls=(0, (4, 2)), zorder=0)
        ax.set(xlim=(0, edges[-1]), ylim=(-len(rows) - 0.25, 1.35))
        _say(ax, (start, 1.12), "start", ha="left", dx=0.015 * edges[-1])
        _say(ax, (0.99 * edges[-1], 0.62), "the note's example", MUTED, ha="right")
        ax.set_yticks(0.25 - np.arange(1, len(rows) + 1), list(rows))
        ax.tick_params("y", length=0)
    return figure


def _row(ax: Axes, x: Floats, y: Floats, base: float, colour: str) -> None:
    """One distribution of several, standing on its own line."""
    ax.fill_between(x, base, base + y, color=_mix(colour, PAPER, 0.6), lw=0, zorder=2 - base)
    ax.plot(x, base + y, color=colour, lw=1.4, zorder=2 - base)
    ax.axhline(base, color=FAINT, lw=0.8, zorder=1)


def law_against_model(
    predicted: Mapping[str, ArrayLike], measured: Mapping[str, ArrayLike], *, tolerance: float
) -> BookFigure:
    """Measured against predicted off-plane norms, one point a block, for two kinds of blocks by name.

    The line is where both are equal; around it the band in which predicted over measured is within
    `tolerance` of 1.
    """
    points = {name: (_floats(predicted[name]).ravel(), _floats(measured[name]).ravel()) for name in measured}
    top = 1.12 * max(float(np.max(values)) for pair in points.values() for values in pair)
    with style():
        figure, ax = _graph(4.6, "off-plane norm by the law", "off-plane norm measured")
        line = np.array([0, top])
        band = (line / (1 + tolerance), line / (1 - tolerance))
        ax.fill_between(line, *band, color=_mix(FAINT, PAPER, 0.45), lw=0, zorder=0)
        ax.plot(line, line, color=INK, lw=1.8, ls=(0, (4, 2)), zorder=1)
        for (name, (x, y)), marker, face in zip(points.items(), "so", (CHORD, PAPER), strict=True):
            ax.plot(x, y, marker, color=CHORD, mfc=face, mec=CHORD, mew=1.4, ms=7, label=name)
        ax.legend(loc="upper left", frameon=False, fontsize=12, handletextpad=0.2)
        percent = f"band: \N{PLUS-MINUS SIGN}{100 * tolerance:g} %"
        _say(ax, (0.97 * top, 0.06 * top), percent, MUTED, ha="right")
        _say(ax, (0.8 * top, 0.97 * top), "equal", ha="right")
        ax.set(xlim=(0, top), ylim=(0, top), aspect="equal")
    return figure


def training_growth(
    moments: ArrayLike, ratio: Mapping[str, ArrayLike], measured: Mapping[str, ArrayLike]
) -> BookFigure:
    """std/mean of the alphas, and the off-plane norms, while a model is trained: one line a block.

    `moments`, shape (n,), are numbers of training steps from 0 on; `ratio` and `measured` map two kinds of
    blocks by name to values of shape (n, blocks).
    """
    done = _floats(moments)
    with style():
        figure = _blank(5.6)
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
        ax, below = figure.subplots(2, 1, sharex=True)
        colours, dashes = (CHORD, MUTED), ("-", (0, (3, 1.5)))
        for axes, values in ((ax, ratio), (below, measured)):
            for blocks, colour, dash in zip(values.values(), colours, dashes, strict=True):
                axes.plot(done, _floats(blocks), lw=1.6, color=colour, ls=dash)
            high = max(float(np.max(_floats(blocks))) for blocks in values.values())
            axes.set(ylim=(0, 1.15 * high))
        middles = [float(np.mean(_floats(blocks)[-1])) for blocks in measured.values()]
        places = _spread(middles, 0.13 * below.get_ylim()[1])
        for name, colour, place in zip(measured, colours, places, strict=True):
            _say(below, (1.02 * done[-1], place), name, colour, ha="left", fontsize=12)
        ax.set(ylabel="std / mean of alpha")
        below.set(ylabel="off-plane norm", xlim=(0, done[-1]), xlabel="training steps")
        figure.align_ylabels()
    return figure


def alpha_against_energy(alpha: ArrayLike, share: ArrayLike) -> BookFigure:
    """The chord's share of each dimension against that dimension's alpha, both of shape (d,).

    The shares are given as multiples of 1/d: 1 is a chord that is spread evenly.
    """
    x, y = _floats(alpha), _floats(share)
    with style():
        figure, ax = _graph(3.9, r"$\alpha_i$ of a dimension", r"its share of the chord, times $d$")
        ax.axhline(1, color=INK, lw=1.4)
        ax.axvline(float(np.mean(x)), color=MUTED, lw=1.2, ls=(0, (4, 2)))
        ax.plot(x, y, "s", color=CHORD, ms=5.5, mec=PAPER, mew=0.8)
        top = 1.18 * float(np.max(y))
        ax.set(ylim=(0, top))
        _say(ax, (float(np.mean(x)), 0.95 * top), " mean", MUTED, ha="left", fontsize=12)
    return figure
