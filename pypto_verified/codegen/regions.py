"""Buffers of several slots when the assembler places them: one `pto.alloc_multi_tile` at the head of the function, and
`pto.multi_tile_get` with the slot's index where a slot is used (CG-07). With baked addresses a slot is an address."""

from __future__ import annotations

from dataclasses import dataclass

from pypto_verified.codegen.builder import Builder
from pypto_verified.codegen.errors import refuse
from pypto_verified.codegen.types import static_dim
from pypto_verified.dtypes import INDEX
from pypto_verified.ir.expr import Span
from pypto_verified.ir.types import Dim, TileType
from pypto_verified.layouts import Space
from pypto_verified.pto.module import Op, Value
from pypto_verified.pto.types import MultiTileBufType, TileBufType

_SPACES = (Space.VEC, Space.MAT, Space.ACC)
_COUNTS = range(2, 17)


@dataclass(slots=True)
class Region:
    """One declared buffer: its value, the type and extents of its slots, and the loop body that last took a slot."""

    value: Value
    slot: TileBufType
    extents: tuple[Dim, ...]
    taken: tuple[int, Dim] | None = None


class Regions:
    """The multi-slot buffers of one function."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._found: dict[str, Region] = {}
        self.ops: list[Op] = []

    def take(self, name: str, tile: TileType, slot: TileBufType, loop: int, span: Span) -> Region:
        """The region whose slot the tile `name` is. `loop`: which loop body the use stands in, 0 outside of loops.
        CodegenError for what the assembler can't describe or synchronise."""
        memref = tile.memref
        assert memref is not None
        region = self._found.get(memref.base)
        if region is None:
            region = self._found[memref.base] = self._declare(name, tile, slot, span)
        if region.slot != slot or region.extents != tile.valid_shape:
            refuse(f"the slots of '{memref.base}' differ in type or valid extents", span, "give all one tile type")
        if loop and region.taken is not None and region.taken[0] == loop and region.taken[1] != memref.slot:
            refuse(
                f"two slots of '{memref.base}' are used in one turn of a loop", span,
                "use one slot a turn: the assembler synchronises only the first; or let addresses be baked",
            )
        region.taken = (loop, memref.slot)
        return region

    def _declare(self, name: str, tile: TileType, slot: TileBufType, span: Span) -> Region:
        memref = tile.memref
        assert memref is not None
        if tile.space not in _SPACES or memref.slots not in _COUNTS:
            refuse(f"tile '{name}': the assembler places 2 to 16 slots in Vec, Mat or Acc, not {memref.slots} here",
                   span, "change the number of slots or let addresses be baked")
        rows, cols = (static_dim(d) for d in tile.valid_shape)
        if rows is None or cols is None:
            refuse(f"tile '{name}' is a slot whose extents are known at run time only", span,
                   "call set_validshape on the slot, or let addresses be baked")
        constants = [self._builder.constant(n, INDEX) for n in (rows, cols)]
        outer, self._builder.ops = self._builder.ops, self.ops
        args = {"valid_row": (constants[0],), "valid_col": (constants[1],)}
        hint = f"{memref.base}_mb"
        op = self._builder.emit("pto.alloc_multi_tile", args, None, MultiTileBufType(slot, memref.slots), hint)
        self._builder.ops = outer
        return Region(op.result, slot, tile.valid_shape)
