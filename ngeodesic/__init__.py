"""Is what is called geometric really geometric? The functions behind the book on nGPT and SPEL."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ngeodesic import polar, spel, stiefel
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
    from ngeodesic.polar import msign, newton_schulz
    from ngeodesic.spel import spel_step

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
    "msign",
    "newton_schulz",
    "off_plane_norm",
    "polar",
    "predicted_off_plane_norm",
    "retract",
    "retraction_angle",
    "sample_step",
    "slerp",
    "spel",
    "spel_step",
    "stiefel",
]

__version__ = "0.1.0"

# The names that are not in `geodesic`. Of the Stiefel manifold only the modules, and the names that cannot be
# mistaken: `retract` is the sphere's.
_MODULES = ("polar", "spel", "stiefel")
_HOMES = {
    "StepGeometry": "offplane",
    "decompose": "offplane",
    "msign": "polar",
    "newton_schulz": "polar",
    "off_plane_norm": "offplane",
    "predicted_off_plane_norm": "offplane",
    "sample_step": "offplane",
    "spel_step": "spel",
}


def __getattr__(name: str) -> Any:
    # Not imported above: `python -m ngeodesic.geodesic` warns if its package has imported the module before.
    if name in _MODULES:
        return importlib.import_module(f"ngeodesic.{name}")
    if name in __all__:
        return getattr(importlib.import_module(f"ngeodesic.{_HOMES.get(name, 'geodesic')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
