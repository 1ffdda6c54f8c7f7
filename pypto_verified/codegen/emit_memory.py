"""Global memory and scalar access: load, store, read, write, block identity (CG-06)."""

from __future__ import annotations

from pypto_verified.codegen.emit_dps import in_place
from pypto_verified.codegen.errors import not_modelled, refuse
from pypto_verified.codegen.kernel import Kernel, items
from pypto_verified.codegen.tensors import tensor_layout
from pypto_verified.codegen.types import effective_view, static_dim
from pypto_verified.dtypes import INDEX
from pypto_verified.ir.expr import NO_ARG, Attr, Binary, BinaryOp, Call, Const, Expr, Var
from pypto_verified.ir.types import Dim, TensorType, TileType
from pypto_verified.ir.types import ScalarType as IrScalar
from pypto_verified.layouts import BLayout, SLayout
from pypto_verified.pto.module import AttrValue, EnumAttr, Value
from pypto_verified.pto.types import ScalarType


def emit_load(kernel: Kernel, var: Var, call: Call) -> None:
    """`tile.load(tensor, offsets, shapes, valid_shape?)` -> partition_view + tload over the valid extents."""
    offsets, shapes = items(call.args[1], kernel.span), items(call.args[2], kernel.span)
    sizes: tuple[Dim, ...] = shapes
    if len(call.args) > 3 and call.args[3] != NO_ARG:
        sizes = items(call.args[3], kernel.span)
    if call.kwarg("clamp") and len(shapes) == 2:
        # A clamped load must not look past the tensor's edge: the window is what the tile declares valid.
        # (The real compiler narrows the tile alone and keeps the whole window.)
        sizes = kernel.tile_type(var).valid_shape
    destination = kernel.alloc(var)
    with kernel.at_call(call):
        window = kernel.window(call.args[0], offsets, sizes)
        kernel.emit("pto.tload", {"src": (window,), "dst": (destination,)})


def emit_store(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`tile.store(tile, offsets, tensor, shapes?)` -> partition_view + tstore over the tile's valid extents."""
    tile, offsets, tensor = call.args[0], items(call.args[1], kernel.span), call.args[2]
    with kernel.at_call(call):
        handle = kernel.handle(tile)
        assert isinstance(tile, Var) and isinstance(tile.type, TileType)
        sizes = tile.type.valid_shape
        if len(call.args) > 3 and call.args[3] != NO_ARG:
            sizes = items(call.args[3], kernel.span)
        sizes = _to_rank(sizes, len(offsets), kernel)
        window = kernel.window(tensor, offsets, sizes)
        atomic = call.kwarg("atomic", 0)
        attrs: dict[str, AttrValue] = {}
        if atomic not in (0, None, False, "none"):
            attrs["atomicType"] = EnumAttr("atomic_type", "atomic_add")
        kernel.emit("pto.tstore", {"src": (handle.value,), "dst": (window,)}, attrs)
    if var is not None:
        kernel.tensors[var.name] = kernel.tensor(tensor)


def _to_rank(sizes: tuple[Dim, ...], rank: int, kernel: Kernel) -> tuple[Dim, ...]:
    """A 2-D extent as a window of a rank-`rank` tensor: leading ones added, or a leading one dropped."""
    if len(sizes) <= rank:
        return (1,) * (rank - len(sizes)) + sizes
    extra = sizes[: len(sizes) - rank]
    if any(static_dim(d) != 1 for d in extra):
        refuse(f"a {len(sizes)}-D tile does not fit a {rank}-D tensor", kernel.span, "reshape the tile or the tensor")
    return sizes[len(extra):]


_GATHER_MODES, _BEYOND = ("row", "elem"), ("undefined", "clamp", "wrap", "zero")


def emit_global_gather(kernel: Kernel, var: Var, call: Call) -> None:
    """`tile.mgather(tensor, indices)` -> partition_view of the whole tensor + mgather."""
    if any(a != NO_ARG for a in call.args[2:]):
        not_modelled("tile.mgather with scratch or a valid shape", kernel.span, "gather into a tile in vec")
    indices = call.args[1]
    coalesce, beyond = (_named(call.kwarg(n), names) for n, names in (
        ("coalesce", _GATHER_MODES), ("gather_oob", _BEYOND)))
    destination = kernel.alloc(var)
    with kernel.at_call(call):
        table = _whole(kernel, call.args[0])
        attrs: dict[str, AttrValue] = {
            "coalesce": EnumAttr("coalesce", coalesce), "gatherOob": EnumAttr("gather_oob", beyond)}
        kernel.emit("pto.mgather", {"mem": (table,), "idx": (kernel.tile(indices),), "dst": (destination,)}, attrs)


def emit_global_scatter(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`tile.mscatter(tile, indices, tensor)` -> partition_view of the whole tensor + mscatter by element. (The real
    compiler leaves the mode out; the library then scatters rows.)"""
    source, indices, tensor = call.args
    with kernel.at_call(call):
        table = _whole(kernel, tensor)
        kernel.emit("pto.mscatter", {
            "src": (kernel.tile(source),), "idx": (kernel.tile(indices),), "mem": (table,)},
            {"coalesce": EnumAttr("coalesce", "elem")})
    if var is not None:
        kernel.tensors[var.name] = kernel.tensor(tensor)


def _whole(kernel: Kernel, tensor: Expr) -> Value:
    shape = kernel.tensor(tensor).type.shape
    return kernel.window(tensor, (0,) * len(shape), shape)


def _named(mode: Attr, names: tuple[str, ...]) -> str:
    """A mode that the IR keeps as its name or its number."""
    return mode if isinstance(mode, str) else names[mode if isinstance(mode, int) else 0]


def emit_tensor_read(kernel: Kernel, var: Var, call: Call) -> None:
    """`tensor.read(tensor, indices)` -> load_scalar at the element's offset."""
    tensor = kernel.tensor(call.args[0])
    assert isinstance(var.type, IrScalar)
    with kernel.at_call(call):
        kernel.view_of(tensor)
        offset = _tensor_offset(kernel, tensor.type, items(call.args[1], kernel.span))
        args = {"ptr": (tensor.pointer,), "offset": (offset,)}
        op = kernel.builder.emit("pto.load_scalar", args, None, ScalarType(tensor.type.dtype), var.name)
    kernel.values[var.name] = op.result


def emit_tensor_write(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`tensor.write(tensor, indices, value)` -> store_scalar."""
    tensor = kernel.tensor(call.args[0])
    with kernel.at_call(call):
        kernel.view_of(tensor)
        offset = _tensor_offset(kernel, tensor.type, items(call.args[1], kernel.span))
        value = kernel.element(call.args[2], tensor.type.dtype)
        kernel.emit("pto.store_scalar", {"value": (value,), "ptr": (tensor.pointer,), "offset": (offset,)})
    if var is not None and isinstance(var.type, TensorType):
        kernel.tensors[var.name] = tensor


def emit_tensor_dim(kernel: Kernel, var: Var, call: Call) -> None:
    """`tensor.dim(tensor, axis)` is the dimension itself: a constant, or an argument of the kernel."""
    axis = call.args[1]
    assert isinstance(axis, Const)
    dim = kernel.tensor(call.args[0]).type.shape[int(axis.value)]
    kernel.values[var.name] = kernel.index(dim)
    kernel.scalars.assume_not_negative(var.name)


def emit_tile_read(kernel: Kernel, var: Var, call: Call) -> None:
    """`tile.read(tile, indices)` -> tgetval at the element's offset in the tile."""
    source = call.args[0]
    with kernel.at_call(call):
        tile = kernel.tile(source)
        offset = _tile_offset(kernel, source, items(call.args[1], kernel.span))
        dtype = _tile(kernel, source).dtype
        op = kernel.builder.emit(
            "pto.tgetval", {"src": (tile,), "offset": (offset,)}, None, ScalarType(dtype), var.name)
    kernel.values[var.name] = op.result


def emit_tile_write(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`tile.write(tile, indices, value)` -> tsetval into the tile itself."""
    source = call.args[0]
    tile = _tile(kernel, source)
    destination = in_place(kernel, var, source) if var is not None else kernel.tile(source)
    with kernel.at_call(call):
        offset = _tile_offset(kernel, source, items(call.args[1], kernel.span))
        value = kernel.element(call.args[2], tile.dtype)
        kernel.emit("pto.tsetval", {"offset": (offset,), "val": (value,), "dst": (destination,)})


def emit_block_identity(kernel: Kernel, var: Var, call: Call) -> None:
    """`tile.get_block_idx()` and its kin: a hidden i32 argument, cast to index."""
    argument = kernel.block_identity(call.op.removeprefix("tile.get_"))
    with kernel.at_call(call):
        op = kernel.builder.emit("arith.index_cast", {"in": (argument,)}, None, ScalarType(INDEX), var.name)
    kernel.values[var.name] = op.result
    kernel.scalars.assume_not_negative(var.name)


def _tile(kernel: Kernel, expr: Expr) -> TileType:
    assert isinstance(expr, Var)
    return kernel.tile_type(expr)


def _tensor_offset(kernel: Kernel, tensor: TensorType, indices: tuple[Expr, ...]) -> Value:
    _, strides, _ = tensor_layout(tensor)
    return kernel.index(_dot(indices, strides))


def _tile_offset(kernel: Kernel, expr: Expr, indices: tuple[Expr, ...]) -> Value:
    tile = _tile(kernel, expr)
    view = effective_view(tile)
    if view.slayout is not SLayout.NONE:
        not_modelled("scalar access to a boxed tile", kernel.span, "move the tile to Vec first")
    if not kernel.handle(expr).owns:
        not_modelled("scalar access through a slice", kernel.span, "read from the tile that was sliced")
    rows, cols = tile.shape
    strides = (cols, 1) if view.blayout is BLayout.ROW else (1, rows)
    return kernel.index(_dot(indices, strides))


def _dot(indices: tuple[Expr, ...], strides: tuple[Dim, ...]) -> Dim:
    """The sum of index times stride; constants are folded, because the offset is one literal for most accesses."""
    constant = 0
    total: Expr | None = None
    for index, stride in zip(indices, strides, strict=True):
        i, s = static_dim(index), static_dim(stride)
        if i == 0 or s == 0:
            continue
        if i is not None and s is not None:
            constant += i * s
            continue
        term = index if s == 1 else _binary(BinaryOp.MUL, index, stride)
        total = term if total is None else _binary(BinaryOp.ADD, total, term)
    if total is None:
        return constant
    return total if constant == 0 else _binary(BinaryOp.ADD, total, constant)


def _binary(op: BinaryOp, lhs: Dim, rhs: Dim) -> Expr:
    left = Const(lhs) if isinstance(lhs, int) else lhs
    return Binary(op, left, Const(rhs) if isinstance(rhs, int) else rhs, INDEX)
