"""What rests on what."""

from collections.abc import Iterable, Mapping

import numpy as np

from ngeodesic.figures._draw import INK, MUTED, PAPER, WIDTH, BookFigure, blank, path, say, style

_ROW = 0.37  # inches
_NAMES = 2.25  # inches, for the names on the right


def dependencies(uses: Mapping[str, Iterable[str]]) -> BookFigure:
    """Names from top to bottom, and an arrow from each to every one below that uses it.

    `uses` maps each name, in this order, to the names above it that it uses.
    """
    rows = {name: row for row, name in enumerate(uses)}
    arrows = [(rows[other], row) for name, row in rows.items() for other in uses[name]]
    if wrong := [(a, b) for a, b in arrows if a >= b]:
        raise ValueError(f"uses: a name may use only names above it: rows {wrong[0]}")
    height = _ROW * (len(rows) + 0.3)
    with style():
        figure = blank(height)
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set(xlim=(_NAMES - WIDTH, _NAMES), ylim=(height - 0.65 * _ROW, -0.65 * _ROW), aspect="equal")
        ax.set_axis_off()
        reach = (WIDTH - _NAMES - 0.2) / max((b - a for a, b in arrows), default=1)
        for a, b in sorted(arrows, key=lambda arrow: arrow[0] - arrow[1]):
            turn = np.linspace(0, np.pi, 181)
            # an arrow leaves below the dot and ends above it
            y = (a + b - (b - a - 0.3) * np.cos(turn)) / 2 * _ROW
            path(ax, np.stack([-reach * (b - a) * np.sin(turn), y], axis=-1), color=MUTED, lw=1.3)
            ax.plot([-0.1], [(b - 0.15) * _ROW], ">", color=INK, ms=6, mec=PAPER, mew=0.6, zorder=4)
        for name, row in rows.items():
            ax.plot([0], [row * _ROW], "o", color=INK, ms=6.5, mec=PAPER, mew=0.8, zorder=5)
            say(ax, (0.12, row * _ROW), name, ha="left", fontsize=12.5)
    return figure
