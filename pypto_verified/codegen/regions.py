"""Buffers of several slots when the assembler places them: one `pto.alloc_multi_tile` at the head of the function, and
`pto.multi_tile_get` with the slot's index where a slot is used (CG-07). With baked addresses a slot is an address.

What the assembler can't describe or synchronise is refused (RegionError): falling back to one alloc a slot would let it
plan two slots into the same bytes.
"""

from __future__ import annotations

from typing import NoReturn

from pypto_verified.codegen.builder import Builder, location_of
from pypto_verified.codegen.types import static_dim
from pypto_verified.dtypes import INDEX
from pypto_verified.errors import CodegenError
from pypto_verified.ir.expr import Span
from pypto_verified.ir.types import Dim, TileType
from pypto_verified.layouts import Space
from pypto_verified.pto.module import Op, Value
from pypto_verified.pto.types import MultiTileBufType, TileBufType
from pypto_verified.records import dataclass

_SPACES = (Space.VEC, Space.MAT, Space.ACC)
_COUNTS = range(2, 17)
_BAKED = ", or let addresses be baked (planner PYPTO)"


class RegionError(CodegenError, ValueError):
    """A multi-slot buffer that `pto.alloc_multi_tile` does not cover."""


def _refuse(name: str, tile: TileType, problem: str, span: Span, help: str) -> NoReturn:
    shape = f"[{tile.shape[0]}, {tile.shape[1]}] {tile.dtype.name}"
    raise RegionError(f"slot '{name}' ({shape}): {problem}", location_of(span), help + _BAKED)


@dataclass(slots=True)
class Region:
    """One declared buffer: its value, the type and extents of its slots, and the loop body that last took a slot."""

    value: Value
    slot: TileBufType
    extents: tuple[Dim, ...]
    taken: tuple[int, Dim] | None = None


class Regions:
    """The multi-slot buffers of one function; `ops` declares them."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._found: dict[str, Region] = {}
        self.ops: list[Op] = []

    def take(self, name: str, tile: TileType, slot: TileBufType, loop: int, span: Span) -> Region:
        """The region whose slot the tile `name` is. `loop`: which loop body the use stands in, 0 outside of loops."""
        assert tile.memref is not None
        base, index = tile.memref.base, tile.memref.slot
        region = self._found.get(base)
        if region is None:
            region = self._found[base] = self._declare(name, tile, slot, span)
        if region.slot != slot:
            _refuse(name, tile, f"the slots of '{base}' differ in shape or layout", span, "give all one tile type")
        if region.extents != tile.valid_shape:
            _refuse(name, tile, f"the slots of '{base}' differ in valid shape", span, "declare one valid shape for all")
        if loop and region.taken is not None and region.taken[0] == loop and region.taken[1] != index:
            _refuse(name, tile, f"two slots of '{base}' are used in one turn of a loop, and the assembler synchronises "
                    "only the first", span, "use one slot a turn")
        region.taken = (loop, index)
        return region

    def refuse_carried(self, name: str, tile: TileType, span: Span) -> None:
        """RegionError if the tile that leaves a branch or goes round a loop is a slot."""
        if tile.memref is not None and tile.memref.slots > 1:
            _refuse(name, tile, "it leaves its branch or loop as a value", span, "copy it into a tile of its own first")

    def _declare(self, name: str, tile: TileType, slot: TileBufType, span: Span) -> Region:
        memref = tile.memref
        assert memref is not None
        if tile.space not in _SPACES:
            _refuse(name, tile, f"slots stand in Vec, Mat or Acc, not in {slot.loc.name.capitalize()}", span,
                    "use another memory space")
        if memref.slots not in _COUNTS:
            _refuse(name, tile, f"a buffer has 2 to 16 slots, not {memref.slots}", span, "change the number of slots")
        rows, cols = (static_dim(d) for d in tile.valid_shape)
        if rows is None or cols is None:
            _refuse(name, tile, "its valid shape is known at run time only", span, "call set_validshape on the slot")
        constants = [self._builder.constant(n, INDEX) for n in (rows, cols)]
        outer, self._builder.ops = self._builder.ops, self.ops
        args = {"valid_row": (constants[0],), "valid_col": (constants[1],)}
        type_ = MultiTileBufType(slot, memref.slots)
        op = self._builder.emit("pto.alloc_multi_tile", args, None, type_, f"{memref.base}_mb")
        self._builder.ops = outer
        return Region(op.result, slot, tile.valid_shape)
