"""Tensor ops, and the names of op families that this version does not lower.

A name without a rule is known, so that a call of it is NotModelled (verdict UNKNOWN) and not an unknown name (ERROR).
Source: PyPTO tensor_ops/*.cpp, distributed/*.cpp, prefetch/*.cpp, array_ops/*.cpp.
"""

from __future__ import annotations

from pypto_verified.dtypes import INDEX
from pypto_verified.ir.types import NoneType, ScalarType, TensorType, Type
from pypto_verified.ops.args import Args
from pypto_verified.ops.decl import OpDecl, op
from pypto_verified.ops.dims import at_most, show, show_shape, sum_at_most

_MEMORY = "PyPTO tensor_ops/memory.cpp"


def _element(a: Args) -> TensorType:
    tensor, indices = a.tensor("tensor"), a.dims("indices")
    a.require(
        len(indices) == len(tensor.shape),
        f"{len(indices)} indices for a tensor of rank {len(tensor.shape)}, shape {show_shape(tensor.shape)}",
    )
    for i, (index, size) in enumerate(zip(indices, tensor.shape, strict=True)):
        a.require(
            at_most(0, index) is not False and sum_at_most(index, 1, size) is not False,
            f"index {show(index)} in dim {i} is outside the tensor's {show(size)}",
        )
    return tensor


def _read(a: Args) -> Type:
    return ScalarType(_element(a).dtype)


def _write(a: Args) -> Type:
    tensor = _element(a)
    got = a.scalar("value")
    a.require(
        got == tensor.dtype, f"value is {got} but the tensor {tensor.dtype}", f"pl.cast(value, pl.{tensor.dtype})"
    )
    return NoneType()


def _dim(a: Args) -> Type:
    tensor, axis = a.tensor("tensor"), a.dim("axis")
    rank = len(tensor.shape)
    a.require(
        isinstance(axis, int) and -rank <= axis < rank, f"axis {show(axis)} is not a constant axis of rank {rank}"
    )
    return ScalarType(INDEX)


def _names(family: str, text: str, source: str) -> tuple[OpDecl, ...]:
    return tuple(op(f"{family}.{name}", "", None, source=source) for name in text.split())


OPS: tuple[OpDecl, ...] = (
    op("tensor.read", "tensor:t indices:n", _read, source=_MEMORY),
    op("tensor.write", "tensor:t indices:n value:s", _write, source=_MEMORY),
    op("tensor.dim", "tensor:t axis:i", _dim, source=_MEMORY),
    *_names(
        "tensor",
        "add adds sub subs mul muls div divs fmod fmods maximum minimum cmp and ands or ors xor xors shl shls shr shrs "
        "part_add part_mul part_max part_min",
        "PyPTO tensor_ops/elementwise.cpp",
    ),
    *_names(
        "tensor", "neg abs not recip exp log sin cos sqrt rsqrt cast", "PyPTO tensor_ops/unary.cpp",
    ),
    *_names(
        "tensor",
        "row_expand row_expand_add row_expand_sub row_expand_mul row_expand_div row_expand_max row_expand_min "
        "row_expand_expdif col_expand col_expand_add col_expand_sub col_expand_mul col_expand_div col_expand_max "
        "col_expand_min col_expand_expdif expands expand_clone",
        "PyPTO tensor_ops/broadcast.cpp",
    ),
    *_names(
        "tensor",
        "row_max row_sum row_min row_prod row_argmax row_argmin col_sum col_max col_min col_prod col_argmax col_argmin",
        "PyPTO tensor_ops/reduction.cpp",
    ),
    *_names("tensor", "matmul matmul_acc", "PyPTO tensor_ops/matmul.cpp"),
    *_names(
        "tensor",
        "create alloc slice assemble fillpad fillpad_expand full ci random get_block_idx get_block_num "
        "get_subblock_idx paged_gather create_l1 gather_row",
        _MEMORY,
    ),
    *_names(
        "tensor", "reshape reinterpret_view transpose view concat set_validshape", "PyPTO tensor_ops/transform.cpp",
    ),
    *_names(
        "tensor",
        "gather gather_mask gather_compare scatter scatter_mask scatter_update sort32 mrgsort_format1 mrgsort_format2",
        "PyPTO tensor_ops/gather.cpp, scatter.cpp, sort.cpp",
    ),
    *_names("tensor", "aiv_shard aic_gather", "PyPTO tensor_ops/cross_core.cpp"),
    *_names("array", "create get_element update_element", "PyPTO array_ops/memory.cpp"),
    *_names("prefetch", "make_context async_prefetch session wait", "PyPTO prefetch/prefetch_async.cpp"),
    *_names(
        "pld.tensor",
        "allreduce barrier broadcast allgather all_to_all all_to_all_v reduce_scatter get put remote_store "
        "alloc_window_buffer window",
        "PyPTO distributed",
    ),
    *_names("pld.tile", "get put remote_load remote_store", "PyPTO distributed"),
    *_names("pld.system", "get_comm_ctx rank nranks notify wait defer_wait world_size", "PyPTO distributed"),
    *_names(
        "builtin.tensor",
        "allreduce allreduce_ring barrier broadcast reduce_scatter allgather all_to_all all_to_all_v",
        "PyPTO distributed",
    ),
    *_names(
        "dist", "make_tensor tree_reduce submit_worker submit_orchestrator future_get", "PyPTO distributed",
    ),
    *_names("test", "op deduce_raises_internal deduce_raises_type tensor_op_no_conv", "PyPTO test ops"),
)
