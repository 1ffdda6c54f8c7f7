"""Handles: allocation, views of tiles and tensors, valid shapes, block indices. No bytes move.

A handle keeps the bytes of the allocation it was cut from, so that an op on a view that leaves its parent is reported.
"""

from __future__ import annotations

import numpy as np

from pypto_verified.layouts import TensorLayout
from pypto_verified.pto.module import EnumAttr, Op
from pypto_verified.pto.types import MultiTileBufType, PtrType, TileBufType
from pypto_verified.simulator.errors import (
    AlignmentError,
    CapacityError,
    LocalBoundsError,
    Place,
    ShapeError,
    UnmodelledError,
)
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Pointer, Slots, Tensor, Tile, device_layout, padded
from pypto_verified.simulator.values import storage


def _tile_type(op_: Op) -> TileBufType:
    type_ = op_.result.type
    if not isinstance(type_, TileBufType):
        raise UnmodelledError(f"a handle of type {type_}")
    return type_


def _extent(static: int | None, operand: int | None, whole: int, name: str) -> int:
    """A valid extent: the operand when there is one, else the type's, else `whole`."""
    value = operand if operand is not None else static if static is not None else whole
    if not 0 <= value <= whole:
        raise ShapeError(f"valid extent {value} of a tile with {whole}", Place(name))
    return value


def allocate(site: Site, type_: TileBufType, addr: int, valid: tuple[int | None, int | None], planned: bool) -> Tile:
    """A handle at byte `addr`; `planned` False: storage of its own behind the space, where no capacity applies."""
    name = site.op.result.name
    space = site.target.memory(type_.loc)
    if planned and addr % space.align:
        raise AlignmentError(
            f"address {addr} of {type_.loc.value} is not a multiple of {space.align}", Place(name, address=addr),
            f"use {addr - addr % space.align} or {addr - addr % space.align + space.align}",
        )
    if addr < 0 or (planned and addr + type_.bytes > space.usable):
        raise CapacityError(
            f"bytes {addr}..{addr + type_.bytes - 1} of {type_.loc.value}, which has {space.usable} bytes",
            Place(name, address=addr), "use smaller tiles, or reuse the storage of tiles that are no longer needed",
        )
    layout = device_layout(type_, site.target.left_layout, storage(type_.dtype).itemsize)
    rows = _extent(type_.v_row, valid[0], type_.rows, name)
    cols = _extent(type_.v_col, valid[1], type_.cols, name)
    memory = site.machine.memories[type_.loc]
    return Tile(memory, addr, type_, layout, (rows, cols), (addr, addr + type_.bytes), name)


@op("alloc_tile", "addr valid_row valid_col")
def alloc_tile(site: Site, addr: int | None, rows: int | None, cols: int | None) -> Tile:
    """A handle at the planned address, or with storage of its own."""
    made: Tile | None = site.memo.get((addr, rows, cols))
    if made is None:
        own = site.private is not None or addr is None
        base = site.private or 0 if own else addr or 0
        made = allocate(site, _tile_type(site.op), base, (rows, cols), not own)
        site.remember((addr, rows, cols), made)
    return made.copy()


@op("alloc_multi_tile", "addr valid_row valid_col")
def alloc_multi_tile(site: Site, addr: int | None, rows: int | None, cols: int | None) -> Slots:
    """Slots one behind the other."""
    type_ = site.op.result.type
    if not isinstance(type_, MultiTileBufType):
        raise UnmodelledError(f"slots of type {type_}")
    planned = addr is not None and site.private is None
    base = addr if planned and addr is not None else site.private or 0
    slot = type_.slot
    return Slots(tuple(allocate(site, slot, base + i * slot.bytes, (rows, cols), planned) for i in range(type_.count)))


@op("multi_tile_get", "source slot")
def multi_tile_get(site: Site, source: Slots, slot: int) -> Tile:
    """The handle of one slot."""
    if not 0 <= slot < len(source.tiles):
        raise LocalBoundsError(f"slot {slot} of {len(source.tiles)}", Place(site.op.result.name))
    return source.tiles[slot]


@op("subview", "source offsets* valid_row valid_col")
def subview(site: Site, source: Tile, offsets: tuple[int, ...], rows: int | None, cols: int | None) -> Tile:
    """A window of a tile: its address, at the parent's pitch."""
    type_, name = _tile_type(site.op), site.op.result.name
    row, col = offsets
    valid = (_extent(type_.v_row, rows, type_.rows, name), _extent(type_.v_col, cols, type_.cols, name))
    parent = source.type
    if row < 0 or col < 0 or row + valid[0] > parent.rows or col + valid[1] > parent.cols:
        raise LocalBoundsError(
            f"rows {row}..{row + valid[0] - 1} x columns {col}..{col + valid[1] - 1} of a tile of "
            f"{parent.rows} x {parent.cols}",
            Place(name, (row, col), source.place(row, col).address), "keep offset + valid size within the parent tile",
        )
    if row % source.layout.box[0] or col % source.layout.box[1]:
        raise UnmodelledError(f"a view at ({row}, {col}) that cuts through a {source.layout.box} box", Place(name))
    addr = source.addr + source.layout.offset(row, col) * source.kind.itemsize
    return Tile(source.memory, addr, type_, source.layout, valid, source.bounds, name)


@op("treshape bitcast", "src")
def treshape(site: Site, src: Tile) -> Tile:
    """The same bytes with another shape, layout or element type."""
    type_ = _tile_type(site.op)
    layout = device_layout(type_, site.target.left_layout, storage(type_.dtype).itemsize)
    same = (type_.rows, type_.cols) == (src.type.rows, src.type.cols)
    rows = type_.v_row if type_.v_row is not None else src.rows if same else type_.rows
    cols = type_.v_col if type_.v_col is not None else src.cols if same else type_.cols
    made = Tile(src.memory, src.addr, type_, layout, (rows, cols), src.bounds, site.op.result.name)
    if site.machine.replaying and (src.rows, src.cols) != (src.type.rows, src.type.cols):
        held = bool(np.isin(made.valid_bytes(), src.valid_bytes()).all())
        site.expect(held, f"declares {rows} x {cols} elements valid of which some were not",
                    Place(made.name))
    return made


@op("set_validshape", "source valid_row valid_col")
def set_validshape(site: Site, source: Tile, rows: int, cols: int) -> None:
    """Change the handle's valid extents."""
    source.rows = _extent(None, rows, source.type.rows, source.name)
    source.cols = _extent(None, cols, source.type.cols, source.name)


@op("get_validshape", "source")
def get_validshape(site: Site, source: Tile) -> tuple[int, int]:
    """The handle's valid extents."""
    return source.rows, source.cols


@op("declare_tile", "")
def declare_tile(site: Site) -> None:
    """A handle that has no bytes until `tassign` makes one of its type that has."""


@op("tassign", "tile addr")
def tassign(site: Site, tile: Tile | None, addr: int) -> Tile:
    """A handle of the same type at another address, with the valid extents of the old one."""
    valid = (None, None) if tile is None else (tile.rows, tile.cols)
    return allocate(site, _tile_type(site.op), addr, valid, True)


@op("castptr", "input")
def castptr(site: Site, source: Pointer | int) -> Pointer:
    """The same address as a pointer to other elements."""
    type_ = site.op.result.type
    if not isinstance(source, Pointer) or not isinstance(type_, PtrType):
        raise UnmodelledError(f"castptr to {type_}")
    return Pointer(source.buffer, source.offset, storage(type_.dtype))


@op("tile_valid_rows", "src")
def tile_valid_rows(site: Site, src: Tile) -> int:
    """The handle's valid rows."""
    return src.rows


@op("tile_valid_cols", "src")
def tile_valid_cols(site: Site, src: Tile) -> int:
    """The handle's valid columns."""
    return src.cols


@op("make_tensor_view", "ptr shape* strides*")
def make_tensor_view(site: Site, ptr: Pointer, shape: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
    """A tensor over a pointer."""
    key = (ptr.buffer, ptr.offset, shape, strides)
    made: Tensor | None = site.memo.get(key)
    if made is None:
        dims, steps = padded(shape, 1), padded(strides, 0)
        made = Tensor(ptr, dims, steps, (0,) * 5, dims, _tensor_layout(site), site.op.result.name)
        site.remember(key, made)
    return made


_LAYOUTS = {layout.value: layout for layout in TensorLayout}


def _tensor_layout(site: Site) -> TensorLayout:
    found = site.op.attrs.get("layout")
    return _LAYOUTS[found.member] if isinstance(found, EnumAttr) else TensorLayout.ND


@op("partition_view", "source offsets* sizes*")
def partition_view(site: Site, source: Tensor, offsets: tuple[int, ...], sizes: tuple[int, ...]) -> Tensor:
    """A window of a tensor; whether it lies inside is asked when it is used."""
    key = (id(source), offsets, sizes)
    known: tuple[Tensor, Tensor] | None = site.memo.get(key)
    if known is None:
        if min(sizes) < 0:
            raise ShapeError(f"a window of {sizes}", Place(site.op.result.name))
        origin = tuple(a + b for a, b in zip(source.origin, padded(offsets, 0), strict=True))
        extents, name = padded(sizes, 1), site.op.result.name
        made = Tensor(source.pointer, source.dims, source.strides, origin, extents, source.layout, name)
        known = (made, source)  # the source is kept: its id is the key
        site.remember(key, known)
    return known[0]


@op("get_tensor_view_dim", "tensor_view dim_index")
def get_tensor_view_dim(site: Site, view: Tensor, index: int) -> int:
    """An extent of the tensor."""
    return view.sizes[_axis(site, index)]


@op("get_tensor_view_stride", "tensor_view dim_index")
def get_tensor_view_stride(site: Site, view: Tensor, index: int) -> int:
    """A stride of the tensor, in elements."""
    return view.strides[_axis(site, index)]


def _axis(site: Site, index: int) -> int:
    rank = len(getattr(site.op.arg("tensor_view").type, "dims", ()))
    if not 0 <= index < rank:
        raise ShapeError(f"dimension {index} of a view of rank {rank}")
    return 5 - rank + index


@op("addptr", "ptr offset")
def addptr(site: Site, ptr: Pointer, offset: int) -> Pointer:
    """A pointer `offset` elements further."""
    type_ = site.op.result.type
    kind = storage(type_.dtype) if isinstance(type_, PtrType) else ptr.kind
    return Pointer(ptr.buffer, ptr.offset + offset * ptr.kind.itemsize, kind)


@op("get_block_idx", "")
def get_block_idx(site: Site) -> int:
    """This block's index in the launch."""
    return site.machine.block[0]


@op("get_block_num", "")
def get_block_num(site: Site) -> int:
    """Blocks of the launch."""
    return site.machine.block[1]


@op("get_subblock_idx", "")
def get_subblock_idx(site: Site) -> int:
    """This vector core's lane."""
    return site.machine.lane[0]


@op("get_subblock_num", "")
def get_subblock_num(site: Site) -> int:
    """Lanes of a cluster."""
    return site.machine.lane[1]
