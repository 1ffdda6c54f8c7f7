"""All cases."""

from __future__ import annotations

from collections.abc import Iterator

from tests.conformance import (
    axes,
    casts,
    clobber,
    counting,
    cube,
    fills,
    fixpipe,
    functions,
    indexing,
    lanes,
    layouts,
    masks,
    merging,
    microscaled,
    moving,
    pairing,
    powers,
    quantising,
)
from tests.conformance.case import Case

FAMILIES = (
    lanes, functions, powers, casts, masks, axes, fills, moving, layouts, cube, microscaled, fixpipe, quantising,
    indexing, merging, pairing, counting, clobber,
)


def cases() -> Iterator[Case]:
    """Every case of every family; names are unique."""
    for family in FAMILIES:
        yield from family.cases()
