"""How the two vector lanes of a core share one tile of a pipe: lane extents and places in the slot, by split code.

Extents and offsets count elements of the slot in global memory, whose pitch is the valid columns of the whole tile.
The functions run on numbers and on index expressions alike. Source: PTO-ISA npu/a2a3 TPush.hpp, TPop.hpp.
"""

from __future__ import annotations

from pypto_verified.index import IntLike
from pypto_verified.index.cond import CondLike
from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Split:
    """A split code. `axis`: 0 cuts rows, 1 columns, None nothing; `odd`: the first lane has one line more."""

    code: int
    name: str
    axis: int | None
    odd: bool


SPLITS = (
    Split(0, "none", None, False),
    Split(1, "rows", 0, False),
    Split(2, "columns", 1, False),
    Split(3, "odd rows", 0, True),
    Split(4, "odd columns", 1, True),
)


@dataclass(frozen=True, slots=True)
class Window:
    """Where a lane's part lies in a slot: its first element, and elements from one row to the next."""

    offset: IntLike
    pitch: IntLike


def fits(split: Split, rows: IntLike, cols: IntLike) -> CondLike:
    """Whether a whole tile of these valid extents can be cut: an even extent in halves, an odd one for an odd split."""
    if split.axis is None:
        return True
    return (rows, cols)[split.axis] % 2 == int(split.odd)


def lane_extents(split: Split, rows: IntLike, cols: IntLike, lane: int) -> tuple[IntLike, IntLike]:
    """Valid rows and columns of lane 0 or 1 of a whole tile of `rows` x `cols`. Unsplit, lane 0 has all of it."""
    if split.axis is None:
        return rows, cols
    extents = [rows, cols]
    extents[split.axis] = (extents[split.axis] + (1 - lane if split.odd else 0)) // 2
    return extents[0], extents[1]


def popped(split: Split, rows: IntLike, cols: IntLike, lane: int) -> Window:
    """Where the lane's `rows` x `cols` (its own valid extents) are read from the slot."""
    more = lane if split.odd else 0
    if split.axis == 0:
        return Window(lane * (rows + more) * cols, cols)
    if split.axis == 1:
        return Window(lane * (cols + more), 2 * cols + (2 * lane - 1 if split.odd else 0))
    return Window(0, cols)


def pushed(split: Split, rows: IntLike, cols: IntLike, lane: int) -> Window:
    """Where the lane's `rows` x `cols` are written to the slot. The library has no case of its own for odd splits: it
    places them like column halves, at the lane's own pitch."""
    if split.odd:
        return Window(lane * cols, cols)
    return popped(split, rows, cols, lane)
