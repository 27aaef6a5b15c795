"""The style of the book's figures, and the pieces that several of them share."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    import matplotlib.style
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
except ImportError as error:
    raise ImportError('figures need Matplotlib: pip install "ngeodesic-companion[notebooks]"') from error

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
PAPER_BOX = {"boxstyle": "round,pad=0.1", "fc": PAPER, "ec": "none"}

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


def blank(height: float) -> BookFigure:
    return BookFigure(figsize=(WIDTH, height))


def plane(xlim: tuple[float, float], ylim: tuple[float, float]) -> tuple[BookFigure, Axes]:
    """An empty plane with equal axes that fills a figure of the book's width."""
    figure = blank(WIDTH * (ylim[1] - ylim[0]) / (xlim[1] - xlim[0]))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=xlim, ylim=ylim, aspect="equal")
    ax.set_axis_off()
    return figure, ax


def graph(height: float, xlabel: str, ylabel: str) -> tuple[BookFigure, Axes]:
    figure = blank(height)
    figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
    ax = figure.add_subplot()
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return figure, ax


def floats(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64)


def as_degrees(angles: ArrayLike) -> Floats:
    return np.degrees(floats(angles))


def vec(turn: ArrayLike, radius: ArrayLike = 1.0) -> Floats:
    """Points of the plane at these polar angles, along a new last axis."""
    return floats(floats(radius)[..., None] * np.stack([np.cos(turn), np.sin(turn)], axis=-1))


def path(ax: Axes, points: ArrayLike, **kwargs: Any) -> None:
    x, y = np.asarray(points, dtype=np.float64).T
    ax.plot(x, y, **kwargs)


def arc(ax: Axes, start: float, stop: float, radius: float = 1.0, **kwargs: Any) -> None:
    path(ax, vec(np.linspace(start, stop, 181), radius), **kwargs)


def spoke(ax: Axes, turn: float, inner: float = 0, outer: float = 1, **kwargs: Any) -> None:
    path(ax, vec(np.full(2, turn), (inner, outer)), **kwargs)


def dot(ax: Axes, point: ArrayLike, colour: str, marker: str = "o", size: float = 8) -> None:
    """A marker with a thin rim of paper, so that it stands off from the lines it sits on."""
    x, y = floats(point)
    ax.plot([x], [y], marker, color=colour, markersize=size, mec=PAPER, mew=1.2, zorder=5)


def say(
    ax: Axes, point: ArrayLike, text: str, colour: str = INK, *, dx: float = 0, dy: float = 0, **kwargs: Any
) -> None:
    """A direct label at a point, or beside it by (dx, dy)."""
    x, y = floats(point)
    options: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 12.5, "zorder": 6}
    ax.text(x + dx, y + dy, text, color=text_colour(colour), **(options | kwargs))


def text_colour(colour: str) -> str:
    """The gap's colour is too light for text and is darkened; the others are dark enough."""
    return mix(GAP, "#000000", 0.28) if colour == GAP else colour


def mix(colour: str, other: str, share: float) -> str:
    red, green, blue = (
        (1 - share) * a + share * b for a, b in zip(to_rgb(colour), to_rgb(other), strict=True)
    )
    return to_hex((red, green, blue))


def spread(values: Sequence[float], least: float) -> Floats:
    """The values moved apart, in order and around their common middle, until neighbours differ by `least`."""
    order = np.argsort(values, kind="stable")
    groups: list[list[float]] = []  # runs of labels that touch, each as the places wished for
    for wish in floats(values)[order]:
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


def minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def in_degrees(angle: float) -> str:
    return minus(f"{round(float(np.degrees(angle)), 1) + 0.0:.1f}°")  # + 0.0: no minus before zero


def degree_ticks(ax: Axes, ticks: ArrayLike, axis: str = "x") -> None:
    which = ax.xaxis if axis == "x" else ax.yaxis
    which.set_major_locator(FixedLocator(floats(ticks).tolist()))
    which.set_minor_locator(NullLocator())
    which.set_major_formatter(FuncFormatter(lambda value, _: minus(f"{value:g}°")))


def seen(point: ArrayLike) -> float:
    """The angle at which a point of the plane is seen from the centre."""
    x, y = floats(point)
    return float(np.arctan2(y, x))


class Globe:
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
        return floats(vec(turn) @ np.stack([self.a, self.side]))

    def draw(self) -> tuple[BookFigure, Axes]:
        """The ball and the great circle, the arc from a to b as a geodesic."""
        figure, ax = plane((-1.3, 1.3), (-1.08, 1.08))
        ball = np.hypot(*np.meshgrid(np.linspace(-1.05, 0.95, 200), np.linspace(-1.15, 0.85, 200)))
        shade = LinearSegmentedColormap.from_list("ball", [PAPER, "#e3e7ec"])
        picture = ax.imshow(ball, extent=(-1, 1, 1, -1), cmap=shade, vmin=0, vmax=1.5, aspect="equal")
        picture.set_clip_path(Circle((0, 0), 1, transform=ax.transData))
        arc(ax, 0, 2 * np.pi, color=MUTED, lw=1.2)
        circle = self.great(np.linspace(self.theta, 2 * np.pi, 721))
        front = (circle @ self.toward > 0)[:, None]
        path(ax, np.where(front, circle @ self.screen, np.nan), color=MUTED, lw=1.2)
        path(ax, np.where(front, np.nan, circle @ self.screen), color=MUTED, lw=1.1, ls=(0, (2, 3)))
        path(ax, self.great(np.linspace(0, self.theta, 181)) @ self.screen, color=GEODESIC, lw=3)
        return figure, ax

    def ends(self, ax: Axes, a: Floats, b: Floats) -> None:
        """The two points, with their names outside."""
        for end, name in ((a, "$h$"), (b, r"$h_{\mathrm{A}}$")):
            place = end @ self.screen
            dot(ax, place, INK)
            far = float(np.linalg.norm(place))
            say(ax, place / far * (1.13 if far > 0.75 else far + 0.12), name, fontsize=15)
