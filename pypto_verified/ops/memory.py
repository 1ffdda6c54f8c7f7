"""Transfers between global memory and tiles, creation of tiles, scalar access.

Source: PyPTO tile_ops/memory.cpp.
"""

from __future__ import annotations

from pypto_verified.dtypes import INDEX
from pypto_verified.errors import NotModelled
from pypto_verified.ir.expr import Const
from pypto_verified.ir.types import ScalarType, TensorType, TileType, TileView, Type
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space, TensorLayout
from pypto_verified.ops.args import Args
from pypto_verified.ops.decl import OpDecl, op
from pypto_verified.ops.dims import add, all_equal, at_most, show, show_shape, sum_at_most
from pypto_verified.ops.layout import effective_view, implicit_view, make_tile, unplaced
from pypto_verified.ops.windows import read_window

_SOURCE = "PyPTO tile_ops/memory.cpp"
COMPACT_SPACES = (Space.LEFT, Space.RIGHT, Space.ACC)
"""Where a tile may be compact."""
_ACC_STORE = ("INT32", "FP32", "FP16", "BF16")


def _load_layout(tensor: TensorType, shape: tuple[int, ...], space: Space | None) -> TileView:
    """A multi-row Mat tile is NZ, or ZN when the tensor is DN; a single row stays flat."""
    implicit = implicit_view(shape, space)
    if space is not Space.MAT:
        return implicit
    transposed = tensor.view.layout is TensorLayout.DN
    if len(shape) == 2 and shape[1 if transposed else 0] == 1:
        return TileView((), BLayout.ROW, SLayout.NONE, 512)
    return TileView((), BLayout.ROW, SLayout.COL, 512) if transposed else implicit


def _load(a: Args) -> Type:
    tensor, shape, space = a.tensor("tensor"), a.shape("shapes"), a.space()
    if tensor.view.layout in (TensorLayout.MX_A_ZZ, TensorLayout.MX_B_NN):
        raise NotModelled("tile.load of a tensor with an MX layout", a.span.location)
    a.require(
        space in (None, Space.VEC, Space.MAT),
        f"target_memory is {space.value if space else ''}, but global memory loads into Vec or Mat only",
        "load into pl.Mem.Mat and pl.move from there",
    )
    offsets, requested = a.dims("offsets"), a.extents("valid_shape")
    for what, got in (("offsets", offsets), ("valid_shape", requested)):
        if len(got) != len(shape):
            a.fail(f"{what} {show_shape(got)} and shapes {show_shape(shape)} differ in rank")
    valid = requested
    if len(shape) == len(tensor.shape):
        valid = read_window(
            a, tensor.shape, tensor.view.valid_shape or tensor.shape, offsets, shape, requested, exact=False,
            clamp=a.flag("clamp"),
            remedy="pass clamp=True to cut the read at the tensor's edge, or give what exists as valid_shape",
        )
    return make_tile(shape, tensor.dtype, space, valid, layout=_load_layout(tensor, shape, space))


def _store(a: Args) -> Type:
    tile, tensor, offsets = a.tile("tile"), a.tensor("output_tensor"), a.dims("offsets")
    fixpipe = tile.space in (None, Space.ACC) and tile.dtype.name in ("FP32", "INT32")
    a.require(
        tile.dtype == tensor.dtype or (fixpipe and tensor.dtype.name in _ACC_STORE),
        f"the tile is {tile.dtype} but the tensor {tensor.dtype}",
        f"cast it first: pl.cast(tile, pl.{tensor.dtype})",
    )
    if len(offsets) != len(tensor.shape) and not a.has("shapes"):
        a.fail(
            f"offsets {show_shape(offsets)} must have one entry for each of the tensor's dims "
            f"{show_shape(tensor.shape)}"
        )
    if a.number("atomic"):
        a.only_dtypes("tile", "INT8", "INT16", "INT32", "FP16", "BF16", "FP32")
    if not a.has("shapes") and len(tile.shape) == len(tensor.shape):
        for i, (size, offset, extent) in enumerate(zip(tensor.shape, offsets, tile.valid_shape, strict=True)):
            if at_most(0, offset) is False:
                a.fail(f"offset {show(offset)} in dim {i} is negative")
            if sum_at_most(offset, extent, size) is False:
                a.fail(
                    f"the write ends at {show(add(offset, extent))} in dim {i} (offset {show(offset)} + "
                    f"{show(extent)}), past the tensor's {show(size)}",
                    "narrow the tile with pl.set_validshape to what exists, or move the offset",
                )
    return tensor


def _create(a: Args) -> Type:
    shape, space = a.shape("shape"), a.space()
    transpose, flat, compact = a.flag("transpose"), a.flag("flat_layout"), a.flag("compact")
    a.require(
        not transpose or (len(shape) == 2 and space is Space.MAT), "transpose=True needs a 2-D tile in pl.Mem.Mat"
    )
    a.require(
        not flat or (space is Space.MAT and not transpose),
        "flat_layout=True needs a tile in pl.Mem.Mat, not transposed",
    )
    a.require(
        not compact or space in COMPACT_SPACES,
        f"compact=True needs a tile in Left, Right or Acc, not {space.value if space else 'an open space'}",
    )
    layout = implicit_view(shape, space)
    if transpose:
        layout = TileView((), BLayout.ROW, SLayout.COL, 512)
    if flat:
        layout = TileView((), BLayout.ROW, SLayout.NONE, 512)
    mode = Compact.NORMAL if compact else Compact.NULL
    return make_tile(shape, a.dtype("dtype"), space, layout=layout, compact=mode)


def _move(a: Args) -> Type:
    tile, space = a.tile("tile"), a.space()
    a.require(space not in (None, Space.GM), "target_memory must be an on-chip space", "use pl.store to leave the chip")
    view, own = effective_view(tile), implicit_view(tile.shape, space)
    dictated = own != implicit_view(tile.shape, None)
    blayout = own.blayout if dictated else view.blayout
    if space is Space.RIGHT:
        blayout = BLayout.ROW
    slayout = own.slayout if dictated else view.slayout
    asked_b, asked_s = a.kwargs.get("blayout"), a.kwargs.get("slayout")
    layout = TileView(
        (),
        asked_b if isinstance(asked_b, BLayout) else blayout,
        asked_s if isinstance(asked_s, SLayout) else slayout,
        own.fractal,
    )
    return make_tile(tile.shape, tile.dtype, space, view.valid_shape, layout=layout, pad=view.pad)


def _full(a: Args) -> Type:
    value = a.value("value")
    a.require(isinstance(value, Const), "value must be a constant", "add a run-time value to a tile of zeros")
    shape = a.shape("shape")
    layout = TileView((), BLayout.ROW, SLayout.NONE, 512)
    return make_tile(shape, a.dtype("dtype"), a.space(), layout=layout)


def _ci(a: Args) -> Type:
    shape, dtype = a.shape("shape"), a.dtype("dtype")
    a.require(
        dtype.name in ("INT16", "INT32", "UINT16", "UINT32"), f"dtype is {dtype}, but ci makes 16 or 32-bit integers"
    )
    a.require(
        shape[-1] != 1 and all(d == 1 for d in shape[:-1]),
        f"shape {show_shape(shape)} must be one row of at least 2 columns: only the first row is written",
        "make one row and broadcast it with col_expand",
    )
    return make_tile(shape, dtype, a.space())


def _tri(a: Args) -> Type:
    shape, valid, dtype = a.shape("shape"), a.extents("valid_shape"), a.dtype("dtype")
    a.require(len(shape) == 2, f"shape must be 2-D, got {show_shape(shape)}")
    a.require(dtype.bits >= 8 and dtype.bits <= 32, f"dtype is {dtype}, but tri makes 8, 16 or 32-bit elements")
    a.require(
        not valid or (len(valid) == 2 and all(at_most(v, s) is not False for v, s in zip(valid, shape, strict=True))),
        f"valid_shape {show_shape(valid)} does not fit shape {show_shape(shape)}",
    )
    return make_tile(shape, dtype, a.space(), valid)


def _random(a: Args) -> Type:
    shape, valid, dtype = a.shape("shape"), a.extents("valid_shape"), a.dtype("dtype")
    a.require(len(shape) == 2, f"shape must be 2-D, got {show_shape(shape)}")
    a.require(dtype.name in ("INT32", "UINT32"), f"dtype is {dtype}, but random makes INT32 or UINT32")
    a.require(a.number("rounds") in (7, 10), f"rounds is {a.number('rounds')}, not 7 or 10")
    return make_tile(shape, dtype, a.space(), valid)


def _check_indices(a: Args, tile: TileType) -> None:
    indices = a.dims("indices")
    a.require(
        len(indices) == len(tile.shape),
        f"{len(indices)} indices for a tile of rank {len(tile.shape)}, shape {show_shape(tile.shape)}",
    )
    for i, (index, size) in enumerate(zip(indices, tile.shape, strict=True)):
        a.require(
            at_most(0, index) is not False and sum_at_most(index, 1, size) is not False,
            f"index {show(index)} in dim {i} is outside the tile's {size}",
        )


def _read(a: Args) -> Type:
    tile = a.tile("tile")
    _check_indices(a, tile)
    return ScalarType(tile.dtype)


def _write(a: Args) -> Type:
    tile = a.tile("tile")
    _check_indices(a, tile)
    return unplaced(tile)


def _index(a: Args) -> Type:
    return ScalarType(INDEX)


_PADS = "pad_value:pad=zero"


def _filled(a: Args, shape: tuple[int, ...]) -> Type:
    pad = a.pad("pad_value")
    a.require(pad is not Pad.NULL, "pad_value must be zero, max or min")
    tile = a.tile("tile")
    return make_tile(shape, tile.dtype, a.space(), layout=effective_view(tile), pad=pad)


def _fillpad(a: Args) -> Type:
    return _filled(a, a.tile("tile").shape)


def _fillpad_expand(a: Args) -> Type:
    shape, old = a.shape("shape"), a.tile("tile").shape
    a.require(
        len(shape) == len(old) and all(new >= was for new, was in zip(shape, old, strict=True)),
        f"shape {show_shape(shape)} must be at least the tile's {show_shape(old)} in every dim",
    )
    return _filled(a, shape)


def _set_validshape(a: Args) -> Type:
    shape = a.rank("tile", 2)
    tile, valid = a.tile("tile"), (a.dim("valid_rows"), a.dim("valid_cols"))
    for what, extent, size in zip(("valid_rows", "valid_cols"), valid, shape, strict=True):
        a.require(
            at_most(0, extent) is not False and at_most(extent, size) is not False,
            f"{what} is {show(extent)}, outside 0..{size}",
        )
    view = effective_view(tile)
    # What lies beyond the new extents is data, not padding: a later fillpad must not trust the old pad value.
    pad = view.pad if all_equal(valid, view.valid_shape) is True else Pad.NULL
    return make_tile(shape, tile.dtype, a.space(), valid, layout=view, pad=pad, compact=view.compact)


OPS: tuple[OpDecl, ...] = (
    op(
        "tile.load", "tensor:t offsets:n shapes:n valid_shape:n?", _load, ". . . . > kw",
        keywords="target_memory:space=vec clamp:bool=false", fills="valid_shape=shapes", source=_SOURCE,
    ),
    op(
        "tile.store", "tile offsets:n output_tensor:t shapes:n?", _store, "VA . . . > .", keywords="atomic:atomic=none",
        inplace=2, source=_SOURCE,
    ),
    op(
        "tile.create", "shape:n", _create, ". > kw",
        keywords="dtype:dtype! target_memory:space=vec transpose:bool=false flat_layout:bool=false compact:bool=false",
        source=_SOURCE,
    ),
    op(
        "tile.move", "tile", _move, ". > kw", keywords="target_memory:space! blayout:blayout slayout:slayout",
        noalias="tile", source=_SOURCE,
    ),
    op(
        "tile.full", "shape:n value:d", _full, ". . > V", keywords="dtype:dtype!", signature="shape dtype value",
        row_major=True, source=_SOURCE,
    ),
    op(
        "tile.ci", "start:d shape:n tmp?", _ci, ". . V > V", keywords="dtype:dtype=INT32 descending:bool=false",
        noalias="tmp", signature="start shape dtype descending tmp", source=_SOURCE,
    ),
    op(
        "tile.tri", "diagonal:h shape:n valid_shape:n?", _tri, ". . . > V",
        keywords="dtype:dtype=INT32 upper:bool=false", row_major=True, source=_SOURCE,
    ),
    op("tile.read", "tile indices:n", _read, "V . > .", source=_SOURCE),
    op("tile.write", "tile indices:n value:e", _write, "V . . > V", inplace=0, source=_SOURCE),
    op("tile.get_block_idx", "", _index, source=_SOURCE),
    op("tile.get_block_num", "", _index, source=_SOURCE),
    op("tile.get_subblock_idx", "", _index, source=_SOURCE),
    op("tile.fillpad", "tile", _fillpad, "V > V", keywords=_PADS, source=_SOURCE),
    op("tile.fillpad_inplace", "tile", _fillpad, "V > V", keywords=_PADS, inplace=0, source=_SOURCE),
    op(
        "tile.fillpad_expand", "tile shape:n", _fillpad_expand, "V . > V", keywords=_PADS, noalias="tile",
        source=_SOURCE,
    ),
    op(
        "tile.set_validshape", "tile valid_rows:i valid_cols:i", _set_validshape, ". . . > =0", view=True,
        source="PyPTO tile_ops/transform.cpp",
    ),
    op("tile.alloc", "memory_space:s size:i", None, keywords="pinned:bool=false", source=_SOURCE),
    op(
        "tile.random", "key0:h key1:h counter0:h counter1:h counter2:h counter3:h shape:n valid_shape:n?", _random,
        ". . . . . . . . > V", keywords="dtype:dtype=UINT32 rounds:int=10", row_major=True, source=_SOURCE,
    ),
    op(
        "tile.gather_row", "dst src:t dst_offset:n src_offset:n shapes:n valid_shape:n?", None, "> =0",
        keywords="transpose:bool=false", inplace=0, source="PyPTO tile_ops/paged_gather.cpp",
        signature="dst src dst_offset src_offset shapes transpose valid_shape",
    ),
)
