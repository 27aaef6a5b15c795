"""The statements of the book, by id, in book order."""

from __future__ import annotations

from ngeodesic.proof import Statement
from ngeodesic.statements import (
    angle_law,
    bisector,
    commutator,
    contraction,
    cubic_law,
    newton_schulz,
    off_plane,
    one_law,
    spel,
    stiefel,
    triple_zero,
)

__all__ = ["ALL", "get"]

ALL: dict[str, Statement] = {
    statement.id: statement
    for module in (
        angle_law,
        triple_zero,
        bisector,
        cubic_law,
        contraction,
        off_plane,
        newton_schulz,
        stiefel,
        spel,
        commutator,
        one_law,
    )
    for statement in module.STATEMENTS
}


def get(id: str) -> Statement:
    """The statement with this id; ValueError lists the known ids."""
    if id not in ALL:
        raise ValueError(f"no statement has the id {id!r}; known: {', '.join(ALL)}")
    return ALL[id]
