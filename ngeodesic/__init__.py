"""Is what is called geometric really geometric? The functions behind the book on nGPT and SPEL."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ngeodesic.geodesic import (
        GapBounds,
        MaxGap,
        angle,
        contract,
        cubic_gap,
        gap,
        gap_bounds,
        matching_alpha,
        max_gap,
        retract,
        retraction_angle,
        slerp,
    )
    from ngeodesic.offplane import (
        StepGeometry,
        decompose,
        off_plane_norm,
        predicted_off_plane_norm,
        sample_step,
    )

__all__ = [
    "GapBounds",
    "MaxGap",
    "StepGeometry",
    "__version__",
    "angle",
    "contract",
    "cubic_gap",
    "decompose",
    "gap",
    "gap_bounds",
    "matching_alpha",
    "max_gap",
    "off_plane_norm",
    "predicted_off_plane_norm",
    "retract",
    "retraction_angle",
    "sample_step",
    "slerp",
]

__version__ = "0.1.0"

_OFFPLANE = ("StepGeometry", "decompose", "off_plane_norm", "predicted_off_plane_norm", "sample_step")


def __getattr__(name: str) -> Any:
    # Not imported above: `python -m ngeodesic.geodesic` warns if its package has imported the module before.
    if name in __all__:
        module = "offplane" if name in _OFFPLANE else "geodesic"
        return getattr(importlib.import_module(f"ngeodesic.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
