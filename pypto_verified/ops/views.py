"""Views of a tile's bytes, and copies of a part of it: slice, reshape, transpose, assemble, extract, concat.

Source: PyPTO tile_ops/transform.cpp. Where PyPTO forgets valid extents (transpose, concat) they are kept here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from pypto_verified.ir.types import Dim, TileView, Type
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space
from pypto_verified.ops.args import Args
from pypto_verified.ops.decl import OpDecl, op
from pypto_verified.ops.dims import add, all_equal, at_most, equal, floordiv, mul, show, show_shape
from pypto_verified.ops.layout import effective_view, implicit_view, is_boxed, make_tile
from pypto_verified.ops.windows import read_window, write_union

_SOURCE = "PyPTO tile_ops/transform.cpp"
_FLIP_B = {BLayout.ROW: BLayout.COL, BLayout.COL: BLayout.ROW}
_FLIP_S = {SLayout.ROW: SLayout.COL, SLayout.COL: SLayout.ROW, SLayout.NONE: SLayout.NONE}


def _slice(a: Args) -> Type:
    source, shape = a.tile("tile"), a.shape("shape")
    valid = read_window(
        a, source.shape, source.valid_shape, a.dims("offset"), shape, a.extents("valid_shape"), exact=True, clamp=False,
        remedy="an on-chip window can't be clamped: keep offset + shape inside the tile, or clamp the pl.load",
    )
    shape, valid = _drop(a, shape, valid)
    view = effective_view(source)
    layout = view if source.view is not None or is_boxed(source) else implicit_view(shape, source.space)
    pad = a.pad("pad_value") if a.kwargs.get("pad_value") is not None else view.pad
    return make_tile(shape, source.dtype, source.space, valid, layout=layout, pad=pad, compact=view.compact)


def _drop(a: Args, shape: tuple[int, ...], valid: tuple[Dim, ...]) -> tuple[tuple[int, ...], tuple[Dim, ...]]:
    dropped = a.dims("drop_dims")
    for axis in dropped:
        if not isinstance(axis, int) or not 0 <= axis < len(shape):
            a.fail(f"drop_dims {show(axis)} is not an axis of {show_shape(shape)}")
        a.require(
            shape[axis] == 1 and equal(valid[axis], 1) is True,
            f"drop_dims {axis}: the axis has extent {shape[axis]}, valid {show(valid[axis])}; only a valid 1 can go",
        )
    if not dropped:
        return shape, valid
    kept = [i for i in range(len(shape)) if i not in dropped]
    ones = (1,) * (2 - len(kept))
    return (*ones, *(shape[i] for i in kept)), (*ones, *(valid[i] for i in kept))


def reshaped_valid(valid: Sequence[Dim], old: Sequence[int], new: Sequence[int]) -> tuple[Dim, ...] | None:
    """The valid extents after a row-major reshape, or None when no rectangle of the new shape holds the same elements.

    Representable: a full or empty tile; unit axes added or dropped; a region that is a prefix of the element order.
    """
    if all_equal(valid, old) is True:
        return tuple(new)
    if any(equal(v, 0) is True for v in valid):
        return tuple(0 for _ in new)
    old_axes = [(size, extent) for size, extent in zip(old, valid, strict=True) if size != 1]
    if [size for size, _ in old_axes] == [size for size in new if size != 1]:
        extents = iter([extent for _, extent in old_axes])
        return tuple(next(extents) if size != 1 else 1 for size in new)
    return _prefix(valid, old, new)


def _prefix(valid: Sequence[Dim], old: Sequence[int], new: Sequence[int]) -> tuple[Dim, ...] | None:
    """The extents of the first n elements of `new`, n being those of `old` that are valid, if both are rectangles."""
    lead = next(
        (i for i in range(len(old)) if all_equal(valid[i + 1:], old[i + 1:]) and all(v == 1 for v in valid[:i])), None
    )
    if lead is None:
        return None
    row = prod(old[lead + 1:])
    count = mul(valid[lead], row)
    if isinstance(count, int):
        for i in range(len(new)):
            inner = prod(new[i + 1:])
            if count % inner == 0 and count // inner <= new[i]:
                return (*([1] * i), count // inner, *new[i + 1:])
        return None
    first = next((i for i, size in enumerate(new) if size != 1), len(new) - 1)
    inner = prod(new[first + 1:])
    return (*new[:first], mul(valid[lead], row // inner), *new[first + 1:]) if row % inner == 0 else None


def _reshape(a: Args) -> Type:
    source, shape = a.tile("tile"), a.shape("shape")
    count, wanted = prod(source.shape), prod(shape)
    a.require(
        count == wanted,
        f"shape {show_shape(shape)} has {wanted} elements but the tile {show_shape(source.shape)} {count}",
    )
    view = effective_view(source)
    units_only = [d for d in source.shape if d != 1] == [d for d in shape if d != 1]
    a.require(
        not is_boxed(source) or units_only,
        f"a boxed tile ({view.blayout.value}/{view.slayout.value}) keeps its elements in fractal blocks: reshaping "
        f"{show_shape(source.shape)} to {show_shape(shape)} would scramble them",
        "reshape before the tile enters Mat, Left, Right or Acc",
    )
    ordered = view.blayout is BLayout.ROW or units_only
    valid = reshaped_valid(source.valid_shape, source.shape, shape) if ordered else None
    if valid is None and all_equal(source.valid_shape, source.shape) is True:
        valid = shape
    if valid is None:
        a.fail(
            f"the valid region {show_shape(source.valid_shape)} of {show_shape(source.shape)} is no rectangle of "
            f"{show_shape(shape)}",
            "fill the padding first (pl.fillpad), or reshape so that rows stay rows",
        )
    layout = replace(view, valid_shape=()) if is_boxed(source) else implicit_view(shape, source.space)
    return make_tile(shape, source.dtype, source.space, valid, layout=layout, pad=view.pad, compact=view.compact)


def _reinterpret_view(a: Args) -> Type:
    """The same bytes as elements of another type: the last axis grows or shrinks, or the caller gives the shape."""
    source, dtype, view = a.tile("data"), a.dtype("dtype"), effective_view(a.tile("data"))
    a.require(
        not is_boxed(source) and view.blayout is BLayout.ROW,
        f"a {view.blayout.value}/{view.slayout.value} tile is not row after row in memory",
        "look at another type's bits before the tile is laid out in boxes or columns",
    )
    old, new = source.dtype.bytes, dtype.bytes
    width = source.shape[-1] * old
    a.require(width % new == 0, f"rows of {width} bytes are no whole number of {dtype} elements")
    shape: tuple[int, ...] = (*source.shape[:-1], width // new)
    valid = (*source.valid_shape[:-1], floordiv(mul(source.valid_shape[-1], old), new))
    a.require(
        not isinstance(source.valid_shape[-1], int) or source.valid_shape[-1] * old % new == 0,
        f"{show(source.valid_shape[-1])} valid {source.dtype} elements are no whole number of {dtype} elements")
    if a.has("shape"):
        wanted = a.shape("shape")
        a.require(prod(wanted) == prod(shape), f"shape {show_shape(wanted)} has other bytes than {show_shape(shape)}")
        fits = reshaped_valid(valid, shape, wanted)
        if fits is None:
            a.fail(
                f"the valid region {show_shape(valid)} of {show_shape(shape)} is no rectangle of {show_shape(wanted)}")
        shape, valid = wanted, tuple(fits)
    pad = view.pad if view.pad is Pad.ZERO else Pad.NULL
    return make_tile(shape, dtype, source.space, valid, layout=replace(view, valid_shape=()), pad=pad)


def _axis(a: Args, name: str, rank: int) -> int:
    axis = a.dim(name)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        a.fail(f"{name} is {show(axis)}, not a constant axis of a tile of rank {rank}")
    return axis % rank


def _swapped(items: Sequence[Dim], i: int, j: int) -> list[Dim]:
    result = list(items)
    result[i], result[j] = result[j], result[i]
    return result


def _transpose(a: Args) -> Type:
    source = a.tile("tile")
    rank = len(source.shape)
    i, j = _axis(a, "axis1", rank), _axis(a, "axis2", rank)
    a.require(i != j, f"axis1 and axis2 are both {i}")
    if a.has("tmp_tile"):
        a.same_dtype("tile", "tmp_tile")
        a.require(len(a.tile("tmp_tile").shape) == rank, "tmp_tile must have the tile's rank")
    shape = list(source.shape)
    shape[i], shape[j] = shape[j], shape[i]
    return make_tile(shape, source.dtype, source.space, _swapped(source.valid_shape, i, j))


def _transpose_view(a: Args) -> Type:
    source = a.tile("tile")
    a.require(len(source.shape) >= 2, f"tile must be at least 2-D, got {show_shape(source.shape)}")
    view = effective_view(source)
    layout = TileView((), _FLIP_B[view.blayout], _FLIP_S[view.slayout], view.fractal)
    shape = (*source.shape[:-2], source.shape[-1], source.shape[-2])
    valid = _swapped(view.valid_shape, -1, -2)
    return make_tile(shape, source.dtype, source.space, valid, layout=layout, pad=view.pad, compact=view.compact)


def _assemble(a: Args) -> Type:
    target, source, offset = a.tile("target"), a.tile("source"), a.dims("offset")
    fixpipe = source.dtype.name == "FP32" and target.dtype.name in ("FP16", "BF16")
    a.require(
        source.dtype == target.dtype or (fixpipe and source.space in (None, Space.ACC)),
        f"source is {source.dtype} but target {target.dtype}", f"cast it first: pl.cast(source, pl.{target.dtype})",
    )
    view = effective_view(target)
    a.require(
        len(offset) == len(target.shape) == len(source.shape),
        f"offset {show_shape(offset)}, source {show_shape(source.shape)} and target {show_shape(target.shape)} must "
        f"have one rank",
    )
    for i, (size, start, extent) in enumerate(zip(target.shape, offset, source.shape, strict=True)):
        end = add(start, extent)
        a.require(
            at_most(0, start) is not False and at_most(end, size) is not False,
            f"source {show_shape(source.shape)} at offset {show(start)} ends at {show(end)} in dim {i}, outside the "
            f"target's {size}",
            "the whole source tile is copied, not only its valid part: slice it or enlarge the target",
        )
    valid = write_union(target.shape, view.valid_shape, offset, source.valid_shape)
    if valid is None:
        a.fail(
            f"source, valid on {show_shape(source.valid_shape)}, at offset {show_shape(offset)} of a target that is "
            f"valid on {show_shape(view.valid_shape)}: what is valid then is not one rectangle from the origin",
            "write where the valid region ends, exactly as wide as it is, or make all of the target valid first: "
            "pl.fillpad(target)",
        )
    return make_tile(
        target.shape, target.dtype, target.space, valid, layout=view, pad=view.pad, compact=view.compact
    )


def _extract_layout(shape: tuple[int, ...], space: Space | None) -> TileView:
    """L0 formats that the extract instruction demands (they differ from those of tile.move)."""
    if space is Space.LEFT:
        return TileView((), BLayout.ROW, SLayout.ROW, 512)
    if space is Space.RIGHT:
        return TileView((), BLayout.ROW, SLayout.COL, 512)
    return implicit_view(shape, space)


def _extract(a: Args) -> Type:
    a.rank("src", 2)
    source, shape, space = a.tile("src"), a.shape("shape"), a.space()
    valid = read_window(
        a, source.shape, source.valid_shape, (a.dim("index_row"), a.dim("index_col")), shape, (), exact=True,
        clamp=False, remedy="the window must lie inside the source tile",
    )
    partial = space in (Space.LEFT, Space.RIGHT) and all_equal(valid, shape) is not True
    compact = Compact.NORMAL if partial else Compact.NULL
    return make_tile(shape, source.dtype, space, valid, layout=_extract_layout(shape, space), compact=compact)


def _concat(a: Args) -> Type:
    (rows, left), (other, right) = a.rank("src0", 2), a.rank("src1", 2)
    dtype = a.same_dtype("src0", "src1")
    a.require(rows == other, f"src0 has {rows} rows but src1 has {other}")
    first, second = a.tile("src0").valid_shape, a.tile("src1").valid_shape
    a.require(
        equal(first[0], second[0]) is not False,
        f"src0 is valid on {show(first[0])} rows but src1 on {show(second[0])}",
    )
    return make_tile((rows, left + right), dtype, a.space(), (first[0], add(first[1], second[1])))


OPS: tuple[OpDecl, ...] = (
    op(
        "tile.slice", "tile shape:n offset:n valid_shape:n? drop_dims:n?", _slice, ". . . . . > =0",
        keywords="pad_value:pad", view=True, source=_SOURCE,
    ),
    op("tile.reshape", "tile shape:n", _reshape, ". . > =0", view=True, source=_SOURCE),
    op("tile.transpose_view", "tile", _transpose_view, ". > =0", view=True, source=_SOURCE),
    op("tile.transpose", "tile axis1:i axis2:i tmp_tile?", _transpose, ". . . . > =0", noalias="*", source=_SOURCE),
    op("tile.assemble", "target source offset:n", _assemble, ". . . > =0", inplace=0, source=_SOURCE),
    op(
        "tile.extract", "src index_row:i index_col:i shape:n", _extract, ". . . . > kw",
        keywords="target_memory:space!", noalias="src", source=_SOURCE,
    ),
    op("tile.concat", "src0 src1", _concat, "V V > V", noalias="*", source=_SOURCE),
    op(
        "tile.reinterpret_view", "data shape:n?", _reinterpret_view, ". . > =0", keywords="dtype:dtype!", view=True,
        signature="data dtype shape", source=_SOURCE,
    ),
    op("tile.scatter_update", "input index src", None, "V V V > V", keywords="dim:int=-2", inplace=0, source=_SOURCE),
)
