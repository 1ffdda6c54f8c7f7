"""All cases."""

from __future__ import annotations

from collections.abc import Iterator

from tests.conformance import (
    axes,
    casts,
    clobber,
    cube,
    fills,
    fixpipe,
    functions,
    indexing,
    lanes,
    layouts,
    masks,
    moving,
)
from tests.conformance.case import Case

FAMILIES = (lanes, functions, casts, masks, axes, fills, moving, layouts, cube, fixpipe, indexing, clobber)


def cases() -> Iterator[Case]:
    """Every case of every family; names are unique."""
    for family in FAMILIES:
        yield from family.cases()
