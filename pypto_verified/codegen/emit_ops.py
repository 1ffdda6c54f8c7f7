"""Every op that code generation knows: a table row, a function of its own, or a refusal with its reason (CG-09)."""

from __future__ import annotations

from collections.abc import Callable

from pypto_verified.codegen.emit_cube import emit_matmul_acc
from pypto_verified.codegen.emit_dps import ROWS, emit_row
from pypto_verified.codegen.emit_events import emit_one, emit_record, emit_wait
from pypto_verified.codegen.emit_memory import (
    emit_block_identity,
    emit_global_gather,
    emit_global_scatter,
    emit_load,
    emit_store,
    emit_tensor_dim,
    emit_tensor_read,
    emit_tensor_write,
    emit_tile_read,
    emit_tile_write,
)
from pypto_verified.codegen.emit_sync import (
    emit_barrier,
    emit_cache_invalid,
    emit_cross_flag,
    emit_fence,
    emit_ffts,
    emit_flag,
    emit_free,
    emit_import,
    emit_initialize,
    emit_pop,
    emit_push,
    emit_reserve,
    emit_syncall,
)
from pypto_verified.codegen.emit_views import (
    emit_assemble,
    emit_create,
    emit_gather_row,
    emit_reshape,
    emit_set_validshape,
    emit_slice,
)
from pypto_verified.codegen.errors import not_modelled, refuse
from pypto_verified.codegen.kernel import Kernel
from pypto_verified.ir.expr import Call, Var

WithResult = Callable[[Kernel, Var, Call], None]
Effect = Callable[[Kernel, Var | None, Call], None]

CUSTOM: dict[str, WithResult] = {
    "tile.create": emit_create,
    "tile.load": emit_load,
    "tile.mgather": emit_global_gather,
    "tile.slice": emit_slice,
    "tile.assemble": emit_assemble,
    "tile.reshape": emit_reshape,
    "tile.reinterpret_view": emit_reshape,
    "tile.transpose_view": emit_reshape,
    "tile.set_validshape": emit_set_validshape,
    "tile.gather_row": emit_gather_row,
    "tile.matmul_acc": emit_matmul_acc,
    "tile.read": emit_tile_read,
    "tensor.read": emit_tensor_read,
    "tensor.dim": emit_tensor_dim,
    "tile.get_block_idx": emit_block_identity,
    "tile.get_block_num": emit_block_identity,
    "tile.get_subblock_idx": emit_block_identity,
    "tile.tpop_from_aic": emit_pop,
    "tile.tpop_from_aiv": emit_pop,
    "system.reserve_buffer": emit_reserve,
    "system.import_peer_buffer": emit_import,
}
"""Ops whose result must be bound to a variable."""

EFFECTS: dict[str, Effect] = {
    "tile.store": emit_store,
    "tile.mscatter": emit_global_scatter,
    "tile.write": emit_tile_write,
    "tensor.write": emit_tensor_write,
    "tile.tpush_to_aiv": emit_push,
    "tile.tpush_to_aic": emit_push,
    "system.tfree_to_aic": emit_free,
    "system.tfree_to_aiv": emit_free,
    "system.aic_initialize_pipe": emit_initialize,
    "system.aiv_initialize_pipe": emit_initialize,
    "system.bar_v": emit_barrier,
    "system.bar_m": emit_barrier,
    "system.bar_all": emit_barrier,
    "system.fence": emit_fence,
    "system.syncall": emit_syncall,
    "system.sync_src": emit_flag,
    "system.sync_dst": emit_flag,
    "system.sync_set": emit_cross_flag,
    "system.sync_wait": emit_cross_flag,
    "system.set_ffts": emit_ffts,
    "system.cacheinvalid": emit_cache_invalid,
    "system.event_record": emit_record,
    "system.event_wait": emit_wait,
    "system.tsync": emit_one,
}
"""Ops made for their effect; the updated operand may be bound again."""

NOTHING = frozenset({"tile.alloc"})
"""Ops that declare storage; each tile's own alloc says the rest."""

_LOWERED = "a pass lowers it before code generation"
_LATER = "not generated in this version"
REFUSED: dict[str, str] = {
    **{f"tile.{op}": _LOWERED for op in (
        "batch_matmul", "batch_matmul_acc", "aiv_shard", "aic_gather", "scatter_update", "sin", "cos")},
    "tile.expands": "the real compiler has no code for it either; add the number to a tile of zeros",
    **{f"tile.{op}": _LATER for op in (
        "gather_compare", "mrgsort_format2")},
    **{f"system.{op}": _LATER for op in (
        "available_cluster_count", "available_aiv_count", "task_invalid", "task_dummy", "task_is_valid")},
}
"""Ops that are named but not generated, with the reason."""


def emit_call(kernel: Kernel, var: Var | None, call: Call) -> None:
    """Generate one op. NotModelled for an op in REFUSED or unknown, CodegenError for a wrong use."""
    name = call.op
    kernel.claimed.clear()
    if name in NOTHING:
        return
    if name in EFFECTS:
        EFFECTS[name](kernel, var, call)
    elif name not in ROWS and name not in CUSTOM:
        not_modelled(f"{name} ({REFUSED.get(name, 'unknown to code generation')})", kernel.span,
                     "rewrite the kernel without it, or check its .pto from the real compiler")
    elif var is None:
        refuse(f"the result of {name} is dropped", kernel.span, "assign it to a name, or remove the call")
    elif name in ROWS:
        emit_row(kernel, ROWS[name], var, call)
    else:
        CUSTOM[name](kernel, var, call)
