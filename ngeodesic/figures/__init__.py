"""Every figure of the book: data in, a Matplotlib figure out, one style and three colours.

Angles come in radians, as everywhere in the package, and are drawn in degrees. The chord and the nGPT step
are always drawn in `CHORD`, the geodesic in `GEODESIC`, the gap between them in `GAP`; the three differ in
lightness and in line or marker, so that they stay apart in greyscale and for colour-blind readers.
"""

from ngeodesic.figures._draw import (
    CHORD,
    DISPLAY_WIDTH,
    FAINT,
    GAP,
    GEODESIC,
    INK,
    MUTED,
    PAPER,
    WIDTH,
    BookFigure,
    style,
)
from ngeodesic.figures.offplane import (
    alpha_against_energy,
    alpha_histograms,
    law_against_model,
    off_plane_dimension,
    off_plane_histogram,
    step_off_circle,
    training_growth,
)
from ngeodesic.figures.sphere import (
    bisector_frame,
    chord_and_arc,
    contraction,
    contraction_ratio,
    cubic_loglog,
    cumulants,
    gap_map,
    gap_over_alpha,
    halving,
    largest_gap,
    step_on_sphere,
)

__all__ = [
    "CHORD",
    "DISPLAY_WIDTH",
    "FAINT",
    "GAP",
    "GEODESIC",
    "INK",
    "MUTED",
    "PAPER",
    "WIDTH",
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
