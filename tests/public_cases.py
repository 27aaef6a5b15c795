"""How the cases that others reported in public are tested, on the sphere and on the Stiefel manifold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


def check_value(compute: Callable[[], Any], right: Any, tolerance: float) -> None:
    """The value has the right shape, and is right to the tolerance times its largest entry; no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compute()
    right = np.asarray(right)
    assert np.shape(result) == right.shape
    assert np.max(np.abs(result - right)) <= tolerance * np.max(np.abs(right))
