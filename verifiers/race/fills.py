"""What a fill in place leaves alone: it copies nothing, so it reads nothing and writes padding only.

The assembler fills in place where source and destination are one allocation, or two at one constant address (PTOAS
inferTFillPadLoweringKindAfterMemoryPlanning). In L1 there is no other fill: what lies around the destination's valid
region becomes zeros, whatever the source is (PTO-ISA TFillPad.hpp).
"""

from __future__ import annotations

from pypto_verified.index.cond import TRUE
from pypto_verified.layouts import Space
from verifiers.access import Step, TileUse
from verifiers.access.overlap import same_bytes

FILLS = frozenset({"pto.tfillpad", "pto.tfillpad_inplace"})


def in_place(step: Step) -> bool:
    """Whether a step is such a fill."""
    if step.op.name not in FILLS:
        return False
    (source, *_), (result, *_) = step.tiles("src") or (None,), step.tiles("dst") or (None,)
    if result is not None and result.type.loc is Space.MAT:
        return True
    if source is None or result is None or source.type.loc is not Space.VEC or result.type.loc is not Space.VEC:
        return False
    if same_bytes(source, result) is not TRUE or source.type.dtype.bytes == 1:
        return False  # bytes are filled in pairs, with what stands beside them
    if source is result or step.op.name == "pto.tfillpad_inplace":
        return True
    address = source.root.address
    constant = address is not None and address.value is not None
    return source.whole and result.whole and (source.root is result.root or constant)


def fills_nothing(step: Step) -> bool:
    """Whether a fill in place finds no padding: all of its tile is valid."""
    if not in_place(step):
        return False
    (result,) = step.tiles("dst")
    tile = result if result.type.loc is Space.MAT else step.tiles("src")[0]
    return (tile.valid_rows.value, tile.valid_cols.value) == (tile.type.rows, tile.type.cols)


def beside(fill: Step, other: Step, tile: TileUse) -> bool:
    """Whether `other`, which reads `tile`, depends on none of the bytes that a fill in place writes: it reads the valid
    part of the very tile that is filled. A fill that takes a pad over looks at the padding too."""
    if not in_place(fill) or fill is other:
        return False
    source = fill.tiles("src")[0]
    if same_bytes(source, tile) is not TRUE or source.type.blayout is not tile.type.blayout or tile.type.boxed:
        return False
    if other.op.name in FILLS and any(result.type.pad == tile.type.pad for result in other.tiles("dst")):
        return False
    alike = source.type.dtype.bytes == tile.type.dtype.bytes and source.type.cols == tile.type.cols
    return alike and (source.valid_rows.uid, source.valid_cols.uid) == (tile.valid_rows.uid, tile.valid_cols.uid)
