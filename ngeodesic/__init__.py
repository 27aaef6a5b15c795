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

__all__ = [
    "GapBounds",
    "MaxGap",
    "__version__",
    "angle",
    "contract",
    "cubic_gap",
    "gap",
    "gap_bounds",
    "matching_alpha",
    "max_gap",
    "retract",
    "retraction_angle",
    "slerp",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Not imported above: `python -m ngeodesic.geodesic` warns if its package has imported the module before.
    if name in __all__:
        return getattr(importlib.import_module("ngeodesic.geodesic"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
