"""Ops that relabel a tile or write into part of it: slice, assemble, reshape, set_validshape (CG-11 to CG-14)."""

from __future__ import annotations

from pypto_verified.codegen.emit_dps import in_place
from pypto_verified.codegen.errors import refuse
from pypto_verified.codegen.kernel import Handle, Kernel, items
from pypto_verified.codegen.types import effective_view, static_dim, tile_buf_type
from pypto_verified.dtypes import BF16, FP16
from pypto_verified.ir.expr import NO_ARG, Call, Const, Var
from pypto_verified.ir.types import Dim, TileType
from pypto_verified.layouts import Pad, Space
from pypto_verified.pto.module import Value
from pypto_verified.pto.types import TileBufType


def emit_create(kernel: Kernel, var: Var, call: Call) -> None:
    """`tile.create` is its alloc and nothing else."""
    kernel.alloc(var)


def emit_slice(kernel: Kernel, var: Var, call: Call) -> None:
    """`tile.slice(input, shape, offset, valid_shape?)` -> subview; a view, so no alloc (CG-11)."""
    tile = kernel.tile_type(var)
    given = len(call.args) > 3 and call.args[3] != NO_ARG
    with kernel.at_call(call):
        source = kernel.handle(call.args[0])
        _check_window(kernel, source, var.name, tile)
        dynamic = any(static_dim(d) is None for d in tile.valid_shape)
        valid = tile.valid_shape if given or dynamic else None
        offsets = items(call.args[2], kernel.span)
        value = _subview(kernel, source, offsets, tile.shape, tile.valid_shape, valid, var.name)
    kernel.view(var, value, "subview")


def _subview(
    kernel: Kernel, source: Handle, offsets: tuple[Dim, ...], sizes: tuple[int, ...], extents: tuple[Dim, ...],
    valid: tuple[Dim, ...] | None, hint: str,
) -> Value:
    """A window of `source`: its config, the window's size, and extents that are static where they are constant.
    `valid` becomes the `valid [...]` clause."""
    base = source.type
    rows, cols = sizes
    type_ = TileBufType(
        base.loc, base.dtype, rows, cols, static_dim(extents[0]), static_dim(extents[1]),
        base.blayout, base.slayout, base.fractal, base.pad, base.compact,
    )
    args = {"source": (source.value,), "offsets": kernel.indices(offsets)}
    if valid is not None:
        args["valid_row"], args["valid_col"] = (kernel.index(valid[0]),), (kernel.index(valid[1]),)
    return kernel.builder.emit("pto.subview", args, {"sizes": sizes}, type_, hint).result


def _check_window(kernel: Kernel, source: Handle, name: str, window: TileType) -> None:
    """A subview and its source agree in everything but size (CG-13)."""
    if effective_view(window).pad is not Pad.NULL or source.type.pad is not Pad.NULL:
        refuse(
            f"'{name}' is a view and can't carry a pad value: nothing is written beyond its valid extents", kernel.span,
            "slice without pad_value and call tile.fillpad on the slice",
        )
    mine, theirs = tile_buf_type(window), source.type
    for what in ("dtype", "loc", "blayout", "slayout", "fractal", "compact"):
        have, need = getattr(mine, what), getattr(theirs, what)
        if have != need:
            label = "memory space" if what == "loc" else what
            refuse(
                f"'{name}' is a view of '{source.value.name}' and must have its {label}, but has {_word(have)} "
                f"instead of {_word(need)}", kernel.span, "move or cast the slice into a tile of its own",
            )


def _word(value: object) -> str:
    return str(getattr(value, "name", value))


def emit_assemble(kernel: Kernel, var: Var, call: Call) -> None:
    """`tile.assemble(target, source, offset)` -> [tmov target -> result] + subview + tmov source -> view (CG-12).

    The first tmov keeps what lies outside the window; it is left out when the result lives in the target's buffer.
    Acc to low-precision Mat is the fixpipe's own insertion, `tinsert`.
    """
    target, source, offsets = call.args[0], call.args[1], items(call.args[2], kernel.span)
    result = kernel.tile_type(var)
    assert isinstance(target, Var) and isinstance(source, Var)
    mine, theirs = result.memref, kernel.tile_type(target).memref
    merged = mine is not None and theirs is not None and (mine.base, mine.offset) == (theirs.base, theirs.offset)
    piece = kernel.tile_type(source)
    to_mat = piece.space is Space.ACC and result.space is Space.MAT
    whole = piece.shape == result.shape == piece.valid_shape and all(static_dim(o) == 0 for o in offsets)
    destination = in_place(kernel, var, target) if merged else kernel.alloc(var)
    handle = kernel.tiles[var.name]
    with kernel.at_call(call):
        if not merged and not whole:
            if result.space is Space.MAT:
                refuse(
                    f"'{var.name}' overwrites a part of '{target.name}' but lives in another Mat buffer, and there is "
                    "no Mat to Mat move for the rest", kernel.span, "do not use the target again after the assemble",
                )
            kernel.emit("pto.tmov", {"src": (kernel.tile(target),), "dst": (destination,)})
        if to_mat and result.dtype in (FP16, BF16):
            row, col = kernel.indices(offsets)
            args = {"src": (kernel.tile(source),), "indexRow": (row,), "indexCol": (col,), "dst": (destination,)}
            kernel.emit("pto.tinsert", args)
            return
        if not to_mat:
            _check_window(kernel, handle, source.name, piece)
        extents = piece.valid_shape
        view = _subview(kernel, handle, offsets, piece.shape, extents, extents, "assemble_view")
        kernel.emit("pto.tmov", {"src": (kernel.tile(source),), "dst": (view,)})


def emit_reshape(kernel: Kernel, var: Var, call: Call) -> None:
    """`tile.reshape`, `transpose_view`, `reinterpret_view`: the same bytes under another type. With baked addresses
    that is a second alloc at the address; without, on a popped slot, and on a slice, which does not start where its
    buffer does, it is `pto.treshape` (CG-07)."""
    with kernel.at_call(call):
        source = kernel.handle(call.args[0])
    if source.made_by == "subview" and source.type.rows != 1:
        refuse(
            f"'{var.name}' relabels a slice, whose rows are not adjacent in memory", kernel.span,
            "copy the slice into a tile of its own first (tile.move), or reshape before slicing",
        )
    tile = kernel.tile_type(var)
    if kernel.addresses and source.owns and tile.memref is not None and tile.memref.offset is not None:
        kernel.alloc(var)
        return
    rows, cols = (static_dim(d) for d in tile.valid_shape)
    if rows is None or cols is None:
        refuse(f"'{var.name}' relabels a tile whose extents are known at run time only", kernel.span,
               "call set_validshape after the reshape, or use baked addresses")
    shape = tile_buf_type(tile)
    type_ = TileBufType(
        shape.loc, shape.dtype, shape.rows, shape.cols, rows, cols,
        shape.blayout, shape.slayout, shape.fractal, shape.pad, shape.compact,
    )
    with kernel.at_call(call):
        op = kernel.builder.emit("pto.treshape", {"src": (source.value,)}, None, type_, var.name)
    kernel.view(var, op.result, "treshape")


def emit_set_validshape(kernel: Kernel, var: Var, call: Call) -> None:
    """`tile.set_validshape(tile, rows, cols)` on the handle that owns its extents (CG-14)."""
    source = call.args[0]
    with kernel.at_call(call):
        handle = kernel.handle(source)
        if not handle.owns:
            refuse(
                f"set_validshape on '{handle.value.name}', which is a view: its extents are part of its type",
                kernel.span, "pass valid_shape= to the slice that makes the view, or narrow the tile before slicing it",
            )
        if handle.type.pad is not effective_view(kernel.tile_type(var)).pad:
            _unpadded(kernel, var, handle)
            return
        kernel.narrow(handle, (call.args[1], call.args[2]))
    kernel.tiles[var.name] = handle


def _unpadded(kernel: Kernel, var: Var, source: Handle) -> None:
    """The narrowed tile as a second alloc at the address: a handle can't lose its pad value, and `tfillpad` on a2a3
    leaves a tile alone that says it has the value already."""
    tile = kernel.tile_type(var)
    if not kernel.addresses or tile.memref is None or tile.memref.offset is None:
        refuse(f"'{var.name}' narrows '{source.value.name}', whose padding it loses", kernel.span,
               "copy the tile first (tile.move into a tile without pad value), or use baked addresses")
    kernel.alloc(var)


def emit_gather_row(kernel: Kernel, var: Var, call: Call) -> None:
    """`tile.gather_row(dst, src, dst_offset, src_offset, shapes, valid_shape?)` -> subview + partition_view + tload."""
    destination, source = call.args[0], call.args[1]
    in_place(kernel, var, destination)
    handle = kernel.tiles[var.name]
    shapes = items(call.args[4], kernel.span)
    sizes = tuple(int(s.value) for s in shapes if isinstance(s, Const))
    given = len(call.args) > 5 and call.args[5] != NO_ARG
    extents: tuple[Dim, ...] = items(call.args[5], kernel.span) if given else shapes
    swap = bool(call.kwarg("transpose"))
    with kernel.at_call(call):
        into, valid = (sizes[::-1], extents[::-1]) if swap else (sizes, extents)
        view = _subview(kernel, handle, items(call.args[2], kernel.span), into, valid, valid, "gather_view")
        window = kernel.window(source, items(call.args[3], kernel.span), extents)
        kernel.emit("pto.tload", {"src": (window,), "dst": (view,)})
