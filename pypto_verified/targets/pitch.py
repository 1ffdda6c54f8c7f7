"""Rows between two column blocks of an accumulator: what the matrix unit writes and what each reader expects.

All pitches count rows (of 16 elements). The functions run on numbers and on index expressions alike; where a choice
depends on a comparison, it must be decided by their ranges. Sources: PTO-ISA TMatmul.hpp, TStore.hpp, TMov.hpp,
TExtract.hpp, TInsert.hpp of npu/a2a3 and npu/a5.
"""

from __future__ import annotations

from typing import overload

from pypto_verified.index import IntLike
from pypto_verified.index.cond import CondLike
from pypto_verified.layouts import Compact, Space
from pypto_verified.records import dataclass

FRACTAL_ROWS = 16


@overload
def whole_fractals(rows: int) -> int: ...


@overload
def whole_fractals(rows: IntLike) -> IntLike: ...


def whole_fractals(rows: IntLike) -> IntLike:
    """`rows` rounded up to whole fractals."""
    return (rows + FRACTAL_ROWS - 1) // FRACTAL_ROWS * FRACTAL_ROWS


@dataclass(frozen=True, slots=True)
class Reader:
    """How an op that reads an accumulator finds its pitch. `rule` is 'compact' (the physical rows, or with Compact
    NORMAL the valid rows rounded up), 'physical' (the physical rows), 'valid' (the valid rows rounded up) or 'move'
    (the same, but the physical rows where the type itself says that fewer are valid). Into a boxed destination 'valid'
    and 'move' take the physical rows."""

    op: str
    dst: Space
    target: str
    rule: str


READERS = (
    Reader("pto.tstore", Space.GM, "a2a3", "compact"),
    Reader("pto.tstore", Space.GM, "a5", "compact"),
    Reader("pto.tmov", Space.MAT, "a2a3", "physical"),
    Reader("pto.tmov", Space.MAT, "a5", "move"),
    Reader("pto.tmov", Space.VEC, "a5", "move"),
    Reader("pto.textract", Space.MAT, "a2a3", "physical"),
    Reader("pto.textract", Space.MAT, "a5", "physical"),
    Reader("pto.textract", Space.VEC, "a5", "compact"),
    Reader("pto.tinsert", Space.MAT, "a2a3", "physical"),
    Reader("pto.tinsert", Space.MAT, "a5", "physical"),
    Reader("pto.tinsert", Space.VEC, "a5", "valid"),
    Reader("pto.tpush_to_aiv", Space.GM, "a2a3", "compact"),
    Reader("pto.tpush_to_aiv", Space.VEC, "a5", "move"),
)

_BY_WAY = {(row.op, row.dst, row.target): row for row in READERS}


@dataclass(frozen=True, slots=True)
class Accumulator:
    """An accumulator as a reader sees it. `static`: its valid rows stand in the type."""

    rows: IntLike
    valid_rows: IntLike
    compact: Compact
    static: bool


@overload
def written_pitch(m: int) -> int: ...


@overload
def written_pitch(m: IntLike) -> IntLike: ...


def written_pitch(m: IntLike) -> IntLike:
    """The pitch of a product of `m` valid rows: the matrix unit is told extents only, so it writes densely."""
    return whole_fractals(m)


def reader(op: str, dst: Space, target: str) -> Reader | None:
    """The row of an op that moves an accumulator to `dst`, None if the target has no such way."""
    return _BY_WAY.get((op, dst, target))


def dense(reader: Reader, acc: Accumulator, boxed: bool) -> bool:
    """Whether `reader` takes the pitch from the valid rows; `boxed`: into a destination of fractal boxes."""
    if reader.rule == "compact":
        return acc.compact is Compact.NORMAL
    if reader.rule == "physical" or boxed:
        return False
    return reader.rule == "valid" or not (acc.static and bool(acc.valid_rows < acc.rows))


def read_pitch(reader: Reader, acc: Accumulator, boxed: bool) -> IntLike:
    """The pitch at which `reader` reads `acc`."""
    return whole_fractals(acc.valid_rows) if dense(reader, acc, boxed) else acc.rows


def acc_compact_valid(rows: IntLike, valid_rows: IntLike, dense: bool) -> CondLike:
    """AccCompactValid: the reader takes the pitch from the valid rows (for the readers that heed it, the accumulator is
    compact), or the valid rows reach into the last fractal, so that both pitches are the physical rows."""
    return True if dense else valid_rows > rows - FRACTAL_ROWS


@dataclass(frozen=True, slots=True)
class Operand:
    """A left or right operand as the matrix unit's memory holds it. `block`: elements of its type in 32 bytes."""

    space: Space
    rows: IntLike
    cols: IntLike
    valid_rows: IntLike
    valid_cols: IntLike
    compact: Compact
    block: int


def _whole_blocks(extent: IntLike, block: int) -> IntLike:
    return (extent + block - 1) // block * block


def lies_in_rows(space: Space, target: str) -> bool:
    """Whether the boxes of an operand follow one another along its rows (Zz, Zn): its pitch then counts columns. A left
    operand on a5 (Nz) lies in columns of boxes."""
    return space is Space.RIGHT or target == "a2a3"


def loaded_pitch(operand: Operand, target: str) -> IntLike:
    """The pitch at which a move fills an operand: its physical extent, or compact what its valid one rounds up to.
    Source: PTO-ISA TMov.hpp, TExtract.hpp."""
    if operand.compact is not Compact.NORMAL:
        return operand.cols if lies_in_rows(operand.space, target) else operand.rows
    return used_pitch(operand, operand.valid_rows, operand.valid_cols, target)


def used_pitch(operand: Operand, rows: IntLike, cols: IntLike, target: str) -> IntLike:
    """The pitch at which the matrix unit reads an operand of which it takes `rows` x `cols`: it only knows extents."""
    if not lies_in_rows(operand.space, target):
        return whole_fractals(rows)
    return _whole_blocks(cols, operand.block) if operand.space is Space.LEFT else whole_fractals(cols)


def one_strip(operand: Operand, rows: IntLike, cols: IntLike, target: str) -> CondLike:
    """Whether `rows` x `cols` of an operand lie in one row (or column) of boxes, where a pitch does not matter."""
    if not lies_in_rows(operand.space, target):
        return cols <= operand.block
    return rows <= (FRACTAL_ROWS if operand.space is Space.LEFT else operand.block)
