"""The names below `pl` and the ops they stand for."""

from __future__ import annotations

from difflib import get_close_matches

from pypto_verified.ir.types import ScalarType, TensorType, Type

SCALAR_FORMS: dict[str, str] = {
    "add": "adds", "sub": "subs", "mul": "muls", "div": "divs", "maximum": "maximums", "minimum": "minimums",
    "fmod": "fmods", "rem": "rems", "and_": "ands", "or_": "ors", "xor": "xors", "shl": "shls", "shr": "shrs",
    "cmp": "cmps",
}
"""Unified names that stand for another op when the second operand is a scalar."""

ALIASES: dict[str, str] = {
    "create_tile": "tile.create", "tile.create_tile": "tile.create", "tile.arange": "tile.ci", "dim": "tensor.dim",
    "tensor.get_block_idx": "tile.get_block_idx", "tensor.get_block_num": "tile.get_block_num",
    "tensor.get_subblock_idx": "tile.get_subblock_idx", "tile.and_": "tile.and", "tile.or_": "tile.or",
    "tile.not_": "tile.not", "tile.max": "max", "tile.min": "min",
    **{f"system.{n}": f"tile.{n}" for n in ("tpush_to_aiv", "tpush_to_aic", "tpop_from_aic", "tpop_from_aiv")},
    **{n: f"system.{n}" for n in ("tfree_to_aic", "tfree_to_aiv", "aic_initialize_pipe", "aiv_initialize_pipe",
                                  "reserve_buffer", "import_peer_buffer")},
}
"""Names that stand for a function of another name."""

TENSOR_FLAGS: dict[str, frozenset[str]] = {
    "matmul": frozenset({"out_dtype", "a_trans", "b_trans", "c_matrix_nz"}),
    "matmul_acc": frozenset({"a_trans", "b_trans"}),
    "slice": frozenset({"clamp"}),
    "rsqrt": frozenset({"high_precision"}),
}
"""Keywords of unified names that mean something for tensors only; on tiles they must say what is so anyway."""

PROMOTED = frozenset((
    "addc", "addsc", "subc", "subsc", "aic_gather", "aiv_shard", "cmps", "gatherb", "gemv", "gemv_acc", "gemv_bias",
    "load", "lrelu", "matmul_bias", "matmul_mx", "matmul_mx_acc", "matmul_mx_bias", "maximums", "minimums", "mgather",
    "move", "mscatter", "prelu", "relu", "rem", "rems", "sel", "sels", "store", "tri", "get_block_idx",
    "get_block_num", "get_subblock_idx", "tpush_to_aiv", "tpush_to_aic", "tpop_from_aic", "tpop_from_aiv",
))
"""Names that stand for the tile function whatever their operands are."""

UNIFIED = frozenset((
    "abs", "add", "and_", "ands", "assemble", "batch_matmul", "cast", "cmp", "col_argmax", "col_argmin", "col_expand",
    "col_expand_add", "col_expand_div", "col_expand_expdif", "col_expand_max", "col_expand_min", "col_expand_mul",
    "col_expand_sub", "col_max", "col_min", "col_prod", "col_sum", "concat", "cos", "div", "exp", "expands",
    "fillpad", "fillpad_expand", "fmod", "fmods", "gather_row", "log", "matmul", "matmul_acc", "maximum", "minimum",
    "mrgsort", "mul", "neg", "not_", "or_", "ors", "part_add", "part_max", "part_min", "part_mul", "read", "recip",
    "reinterpret_view", "reshape", "row_argmax", "row_argmin", "row_expand", "row_expand_add", "row_expand_div",
    "row_expand_expdif", "row_expand_max", "row_expand_min", "row_expand_mul", "row_expand_sub", "row_max", "row_min",
    "row_prod", "row_sum", "rsqrt", "scatter_update", "set_validshape", "shl", "shls", "shr", "shrs", "sin", "slice",
    "sort32", "sqrt", "sub", "transpose", "write", "xor", "xors",
))
"""Names that dispatch on the type of their first operand."""

TENSOR_LEVEL = frozenset((
    "create_tensor", "create_l1", "full", "arange", "random", "gather", "scatter", "paged_gather", "expand_clone",
    "no_dep", "dump_tag", "submit", "spmd_submit", "cluster", "spmd", "split_aiv", "scope", "manual_scope", "at",
    "while_", "static_assert", "func_attr", "split", "cross_core_slot",
))
"""Names of whole-tensor, task and region functions."""

CONTROL = frozenset((
    "range", "parallel", "unroll", "pipeline", "yield_", "cond", "const", "min", "max", "static_print",
))
"""Loops and scalar functions that the translator itself knows."""


def nearest(path: str, ops: frozenset[str]) -> str:
    """The names of the DSL that look most like an unknown `path`, as a hint; empty when none is near."""
    family, _, name = path.rpartition(".")
    prefix = f"{family}." if family else ""
    known = {o.removeprefix(prefix) for o in ops if o.startswith(prefix)} if prefix else (
        PROMOTED | UNIFIED | CONTROL | TENSOR_LEVEL | {a for a in ALIASES if "." not in a}
    )
    near = get_close_matches(name, sorted(known), 3)
    return "did you mean " + " or ".join(f"pl.{prefix}{n}" for n in near) + "?" if near else ""


def op_of(path: str, operands: tuple[Type, ...]) -> str:
    """The op that `pl.<path>` stands for on operands of these types; `path` itself when it says so already."""
    path = ALIASES.get(path, path)
    if path in PROMOTED:
        return f"tile.{path}"
    if path not in UNIFIED:
        return path
    if operands and isinstance(operands[0], TensorType):
        return f"tensor.{path}"
    if path in SCALAR_FORMS and len(operands) > 1 and isinstance(operands[1], ScalarType):
        return f"tile.{SCALAR_FORMS[path]}"
    return ALIASES.get(f"tile.{path}", f"tile.{path}")
