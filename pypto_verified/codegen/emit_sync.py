"""Cross-core FIFOs, flags and barriers that the author wrote by hand. They are transcribed: codegen adds none."""

from __future__ import annotations

from math import prod

from pypto_verified.codegen.errors import not_modelled, refuse
from pypto_verified.codegen.expr import dtype_of
from pypto_verified.codegen.kernel import Handle, Kernel, items
from pypto_verified.codegen.types import static_dim, tile_buf_type
from pypto_verified.dtypes import INDEX, INT32
from pypto_verified.ir.expr import NO_ARG, Call, Const, Var
from pypto_verified.ir.stmt import FunctionKind
from pypto_verified.ir.types import TensorType
from pypto_verified.pto.module import AttrValue, EnumAttr, Symbol, Value
from pypto_verified.pto.types import ScalarType

WORKSPACE_BYTES = 64
"""Least size of the workspace of a soft syncall (PTO-ISA)."""

LAST_CROSS_ID = 13
"""The last flag between cores that a kernel may use; 14 and 15 are the assembler's (PyPTO sync_set)."""

_PIPE_KEYWORDS = ("id", "dir_mask", "slot_size", "slot_num", "local_slot_num")


def emit_push(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`tile.tpush_to_aiv/aic(tile)`."""
    _check_lane(kernel, call)
    with kernel.at_call(call):
        kernel.emit(f"pto.{call.op.removeprefix('tile.')}", {"tile": (kernel.tile(call.args[0]),)}, _slot(call))


def emit_pop(kernel: Kernel, var: Var, call: Call) -> None:
    """`tile.tpop_from_aic/aiv()`: the slot is the tile. A partly valid slot gives its extents as operands."""
    _check_lane(kernel, call)
    tile = kernel.tile_type(var)
    args: dict[str, tuple[Value, ...]] = {}
    if any(static_dim(v) != s for v, s in zip(tile.valid_shape, tile.shape, strict=True)):
        rows, cols = kernel.indices(tile.valid_shape)
        args = {"valid_row": (rows,), "valid_col": (cols,)}
    attrs = _slot(call)
    with kernel.at_call(call):
        op = kernel.builder.emit(f"pto.{call.op.removeprefix('tile.')}", args, attrs, tile_buf_type(tile), var.name)
    kernel.tiles[var.name] = Handle(op.result, "alloc", tile.valid_shape, kernel.depth)
    kernel.slots[op.result.name] = attrs


def _check_lane(kernel: Kernel, call: Call) -> None:
    """On a2a3 both vector lanes run the same text, so that an unsplit transfer would happen twice. The real compiler
    guards it with the lane; here the author must."""
    unsplit = not call.kwarg("split", 0) and kernel.function.kind is FunctionKind.AIV
    if unsplit and kernel.target == "a2a3" and "subblock_idx" not in kernel.hidden:
        not_modelled("an unsplit pipe transfer that both vector lanes of a2a3 would make", kernel.span,
                     "split it over the lanes, guard it with get_subblock_idx(), or target a5")


def emit_free(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`system.tfree_to_aic/aiv(tile)`: gives the slot of a popped tile back, with the split and id of its pop."""
    with kernel.at_call(call):
        handle = kernel.handle(call.args[0])
        if handle.value.name not in kernel.slots:
            refuse(f"'{handle.value.name}' was not popped from a pipe", kernel.span, "free the tile that tpop returned")
        kernel.emit(f"pto.tfree_from_{call.op[-3:]}", {}, dict(kernel.slots[handle.value.name]))


def _slot(call: Call) -> dict[str, AttrValue]:
    attrs: dict[str, AttrValue] = {}
    if (pipe := call.kwarg("id")) is not None:
        assert isinstance(pipe, int)
        attrs["id"] = pipe
    split = call.kwarg("split", 0)
    attrs["split"] = split if isinstance(split, int) else 0
    return attrs


def emit_initialize(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`system.aic/aiv_initialize_pipe(c2v_buf?, v2c_buf?)`; the buffer of a direction that is not used is 0."""
    attrs: dict[str, AttrValue] = {}
    for name in _PIPE_KEYWORDS:
        if isinstance(value := call.kwarg(name), int):
            attrs[name] = value
    args: dict[str, tuple[Value, ...]] = {}
    if kernel.ring is not None:
        args["gm_slot_buffer"] = (kernel.ring,)
    with kernel.at_call(call):
        for position, name in enumerate(("c2v_consumer_buf", "v2c_consumer_buf")):
            given = call.args[position] if position < len(call.args) else NO_ARG
            args[name] = (kernel.scalar(Const(0, INT32) if given == NO_ARG else given, INT32),)
        kernel.emit(f"pto.{call.op.removeprefix('system.')}", args, attrs)


def emit_reserve(kernel: Kernel, var: Var, call: Call) -> None:
    """`system.reserve_buffer()`: with baked addresses its base must be known, without the assembler places it."""
    base = call.kwarg("base")
    space = "mat" if kernel.function.kind is FunctionKind.AIC else "vec"
    attrs: dict[str, AttrValue] = {
        "name": str(call.kwarg("name")), "size": _number(call, "size"), "location": EnumAttr("address_space", space),
        "auto": not kernel.addresses,
    }
    if kernel.addresses:
        if not isinstance(base, int) or base < 0:
            not_modelled("placing a reserved buffer", kernel.span, "give reserve_buffer its base address")
        attrs["base"] = base
    _address(kernel, var, call, "pto.reserve_buffer", attrs)


def emit_import(kernel: Kernel, var: Var, call: Call) -> None:
    """`system.import_peer_buffer()`."""
    attrs: dict[str, AttrValue] = {"name": str(call.kwarg("name")), "peer_func": Symbol(str(call.kwarg("peer_func")))}
    _address(kernel, var, call, "pto.import_reserved_buffer", attrs)


def _address(kernel: Kernel, var: Var, call: Call, name: str, attrs: dict[str, AttrValue]) -> None:
    with kernel.at_call(call):
        kernel.values[var.name] = kernel.builder.emit(name, {}, attrs, ScalarType(INT32), var.name).result


def emit_barrier(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`system.bar_v/bar_m/bar_all`."""
    pipe = f"PIPE_{call.op.removeprefix('system.bar_').upper()}"
    with kernel.at_call(call):
        kernel.emit("pto.barrier", {}, {"pipe": EnumAttr("pipe", pipe)})


def emit_flag(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`system.sync_src/sync_dst` -> set_flag/wait_flag."""
    attrs: dict[str, AttrValue] = {
        "src_pipe": EnumAttr("pipe", _pipe(call, "set_pipe")), "dst_pipe": EnumAttr("pipe", _pipe(call, "wait_pipe")),
        "event_id": EnumAttr("event", f"EVENT_ID{_number(call, 'event_id')}"),
    }
    with kernel.at_call(call):
        kernel.emit("pto.set_flag" if call.op == "system.sync_src" else "pto.wait_flag", {}, attrs)


def emit_cross_flag(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`system.sync_set/sync_wait(event_id)` -> a counted flag between the cube and the vector core; the id may be
    computed."""
    kind = {"aic": FunctionKind.AIC, "aiv": FunctionKind.AIV}.get(str(call.kwarg("core_type", "")))
    if kind is not None and kind is not kernel.function.kind:
        refuse(f"this flag is for the {call.kwarg('core_type')} core, the kernel runs on the other one", kernel.span,
               "leave core_type out, or move the flag to the kernel it is for")
    attrs: dict[str, AttrValue] = {"pipe": EnumAttr("pipe", _pipe(call, "pipe"))}
    args: dict[str, tuple[Value, ...]] = {}
    id = static_dim(call.args[0])
    with kernel.at_call(call):
        if id is None:
            args["event_id_dyn"] = (kernel.scalar(call.args[0], INDEX),)
        elif not 0 <= id <= LAST_CROSS_ID:
            refuse(f"there is no flag {id} between cores for a kernel", kernel.span, f"use 0 to {LAST_CROSS_ID}")
        else:
            attrs["event_id"] = id
        if isinstance(mode := call.kwarg("ffts_mode"), int):
            attrs["ffts_mode"] = mode
        kernel.emit("pto.sync.set" if call.op == "system.sync_set" else "pto.sync.wait", args, attrs)


def emit_ffts(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`system.set_ffts(workspace)`: where the flags between cores of a2a3 live."""
    with kernel.at_call(call):
        kernel.emit("pto.set_ffts", {"ffts": (kernel.tensor(call.args[0]).pointer,)})


def emit_cache_invalid(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`system.cacheinvalid()`: of all global memory, or of the cache line where a window begins."""
    with kernel.at_call(call):
        if not [a for a in call.args if a != NO_ARG]:
            kernel.emit("pto.cmo.cacheinvalid", {}, {"space": EnumAttr("address_space", "gm")})
            return
        tensor, sizes, offsets = call.args
        window = kernel.window(tensor, items(offsets, kernel.span), items(sizes, kernel.span))
        kernel.emit("pto.cmo.cacheinvalid", {"addr": (window,)})


def emit_fence(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`system.fence()`: writes to global memory are seen before what follows."""
    with kernel.at_call(call):
        kernel.emit("pto.fence.barrier_all", {}, {"scope": EnumAttr("fence_scope", "gm")})


def emit_syncall(kernel: Kernel, var: Var | None, call: Call) -> None:
    """`system.syncall()`: a barrier of all cores. The soft form polls a workspace of 64 bytes or more in global memory;
    `used_cores` 0 lets the device count the cores."""
    mode, args = str(call.kwarg("mode", "hard")), dict[str, tuple[Value, ...]]()
    attrs: dict[str, AttrValue] = {
        "mode": EnumAttr("sync_all_mode", mode),
        "core_type": EnumAttr("sync_core_type", str(call.kwarg("core_type", "mix"))),
    }
    given = [a for a in call.args if a != NO_ARG]
    with kernel.at_call(call):
        if mode == "soft":
            if not given:
                refuse("a soft syncall needs a workspace in global memory", kernel.span, "pass gm_workspace=")
            workspace = kernel.tensor(given[0])
            _check_workspace(workspace.type, kernel)
            args["gm_workspace"] = (workspace.pointer,)
            if len(given) > 1 and given[1] != Const(0, dtype_of(given[1])):
                args["used_cores"] = (kernel.scalar(given[1], INT32),)
        elif given:
            refuse("a hard syncall takes no workspace", kernel.span, 'pass mode="soft" or leave the workspace out')
        kernel.emit("pto.syncall", args, attrs)


def _check_workspace(tensor: TensorType, kernel: Kernel) -> None:
    extents = [static_dim(d) for d in tensor.shape]
    elements = prod(e for e in extents if e is not None)
    if None not in extents and elements * tensor.dtype.bytes < WORKSPACE_BYTES:
        refuse(f"the workspace of a soft syncall has {elements * tensor.dtype.bytes} bytes, it needs {WORKSPACE_BYTES}",
               kernel.span, f"make it at least {WORKSPACE_BYTES // tensor.dtype.bytes} elements of {tensor.dtype.name}")


def _pipe(call: Call, keyword: str) -> str:
    word = str(call.kwarg(keyword))
    return word if word.startswith("PIPE_") else f"PIPE_{word}"


def _number(call: Call, keyword: str) -> int:
    value = call.kwarg(keyword)
    assert isinstance(value, int)
    return value
