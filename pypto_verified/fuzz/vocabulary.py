"""What generated kernels are made of: one row an op, and one row for whatever is left out.

Operand letters of a row, in the op's order:

    x  a tile, the first operand            y  a tile like x, valid wherever x is      c  a column [M, 1] of x's dtype
    r  a row [1, N] of x's dtype            s  a scalar of x's dtype                    p  a constant that is not 0
    b  a constant shift of 0 .. bits - 1    t  a scratch tile like x                    z  like y, valid just where x is
    d  like c, valid on just the rows of x  u  like t, of two rows and columns at least (PTOAS verifies the scratch of a
                                               remainder)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """How a vector op is called. `device`: its PTO name, by which the target lists its element types; `only`: the
    dtypes that remain of those (empty: all)."""

    op: str
    device: str
    operands: str
    only: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The op with its family, as the registry has it."""
        return f"tile.{self.op}"


def _rows(table: str, only: str = "") -> tuple[Row, ...]:
    """One row a word, `op/device:operands`; the device name is `t` + op if it is not given."""
    found = []
    for word in table.split():
        names, _, operands = word.partition(":")
        op, _, device = names.partition("/")
        found.append(Row(op, device or "t" + op.replace("_", ""), operands, frozenset(only.split())))
    return tuple(found)


ELEMENTWISE = (
    *_rows("add:xy sub:xy mul:xy maximum/tmax:xy minimum/tmin:xy part_add:xy part_mul:xy part_max:xy part_min:xy"),
    *_rows("div:xz fmod:xy divs:xp fmods:xp", "FP32 FP16"),
    *_rows("rem:xyu", "FP32"),
    *_rows("divs:xp rems:xpt", "INT32 INT16"),
    *_rows("adds:xs muls:xs maximums/tmaxs:xs minimums/tmins:xs lrelu:xs"),
    *_rows("subs:xs", "INT8 INT16 INT32 FP16 BF16 FP32"),
    *_rows("and:xy or:xy xor:xyt", "INT8 UINT8 INT16 UINT16 INT32 UINT32"),
    *_rows("ands:xs ors:xs xors:xst", "INT8 UINT8 INT16 UINT16"),
    *_rows("shls:xb shrs:xb", "INT16 UINT16 INT32 UINT32"),
    *_rows("neg:x abs:x relu:x sqrt:x"),
    *_rows("exp:x recip:x rsqrt:x log:x", "FP32 FP16"),
    *_rows("not:x", "INT16 UINT16"),
)
"""Ops whose result is like their first operand."""

EXPANSIONS = (
    *_rows("row_expand:xc col_expand:xr row_expand_add:xd row_expand_sub:xc row_expand_mul:xc"),
    *_rows("row_expand_max:xc row_expand_min:xc col_expand_add:xr col_expand_sub:xr col_expand_mul:xr"),
    *_rows("col_expand_max:xr col_expand_min:xr"),
    *_rows("row_expand_div:xc col_expand_div:xr", "FP32 FP16"),
)
"""Ops of a tile and a column or row that is spread over it."""

REDUCTIONS = (
    *_rows("row_sum:xt row_max:xt row_prod:xt row_argmax:xt row_argmin:xt col_sum:x col_max:x col_min:x col_prod:x"),
    *_rows("col_argmax:xt col_argmin:xt"),
    *_rows("row_min:xt", "INT16 INT32 FP16 FP32"),
)

OTHER_OPS = (
    "tile.load", "tile.store", "tile.create", "tile.full", "tile.tri", "tile.ci", "tile.cast", "tile.cmp", "tile.cmps",
    "tile.sel", "tile.sels", "tile.slice", "tile.reshape", "tile.assemble", "tile.concat", "tile.transpose",
    "tile.set_validshape", "tile.fillpad", "tile.fillpad_expand", "tile.read", "tile.write", "tile.move",
    "tile.extract", "tile.gather", "tile.gather_mask", "tile.scatter", "tile.shl", "tile.shr", "tile.matmul",
    "tile.matmul_acc",
    "tile.matmul_bias", "tile.transpose_view", "tensor.read",
)
"""Ops that the generator calls in a way of their own."""


@dataclass(frozen=True, slots=True)
class Excluded:
    """Something that no generated kernel has."""

    what: str
    reason: str
    source: str


@dataclass(frozen=True, slots=True)
class Met(Excluded):
    """Something that generated kernels meet with. `text`: by which it is known."""

    text: str


EXCLUDED_OPS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("addc", "subc", "addsc", "subsc"), ("no target implements it", "targets/dtypes.py, PTO-ISA T*.hpp")),
    "expands": ("the compiler has no code for it", "codegen/emit_ops.py, as in PyPTO"),
    **dict.fromkeys(("sin", "cos"), ("no target lists its element types", "targets/dtypes.py")),
    **dict.fromkeys(
        ("row_expand_expdif", "col_expand_expdif"),
        ("it is approximated twice, which leaves too wide a tolerance to tell anything", "interpreter/unspecified.py")),
    **dict.fromkeys(
        ("sort32", "mrgsort_format1", "mrgsort_format2", "gatherb", "scatter_mask", "mgather", "mscatter", "random"),
        ("it needs one exact shape and index pattern, as the fixed kernels of the differential tests have",
         "ops/gather.py")),
    "reinterpret_view": ("it takes bits for another element type, as the fixed kernels of the differential tests do",
                         "ops/views.py"),
    "prelu": ("a2a3 wants static extents and an 8-bit scratch, which no kernel of PyPTO can give",
              "rule LEGAL-PRELU-STATIC"),
    "fillpad_inplace": ("it writes a tile that other names may still hold", "ops/memory.py"),
    **dict.fromkeys(
        ("gemv", "gemv_acc", "gemv_bias"),
        ("it takes one row only, as the fixed kernels of the differential tests do", "ops/matmul.py")),
    **dict.fromkeys(
        ("get_block_idx", "get_block_num", "get_subblock_idx"),
        ("it tells cores apart, and a generated kernel runs as one", "trials.py")),
}
"""Op (without `tile.`) -> why no kernel has it, and where that comes from."""

EXCLUDED: tuple[Excluded, ...] = (
    Excluded("ops without a type rule", "they are registered by name alone", "ops/build.py: NotModelled"),
    Excluded("cross-core and synchronisation ops",
             "a generated kernel is one core's, and leaves the order of its pipes to others", "fuzz/ordered.py"),
    Excluded("tensor-level ops but tensor.read", "they are not lowered in this version", "ops/tensor.py"),
    Excluded("vector ops beside cube ops", "mixed kernels are not split into two cores",
             "passes/classify_kernel.py"),
    Excluded("tiles of more than 64 columns or 32 rows", "a larger tile takes longer and shows nothing else",
             "fuzz/builder.py"),
    Excluded("tensors of three dimensions and more", "their tiles become two-dimensional before anything else; real "
             "kernels with them are compared by benchmarks.differential", "passes/flatten_tile_nd_to_2d.py"),
    Excluded("a scalar stored in global memory", "the fixed kernels of the differential tests have it",
             "codegen/emit_memory.py"),
    Excluded("a window that is cut at its tensor's edge", "generated windows lie within their tensors",
             "fuzz/vector.py"),
    Excluded("high precision and optional scratch", "they change how an op computes, not what",
             "ops/elementwise.py, ops/reduce.py"),
    Excluded("8-byte and sub-byte elements", "arrays of them are not modelled", "trials.py, pypto_verified/dtypes.py"),
    Excluded("remainders of a column by a column",
             "the column and its scratch become one row each, and PTOAS wants a scratch of two on a2a3",
             "passes/resolve_backend_op_layouts.py, pto/legality_room.py: LEGAL-SCRATCH-BYTES-A3"),
    Excluded("integer division by a tile", "a zero divisor has no result", "interpreter/elementwise.py"),
    Excluded("a constant valid extent of 0", "PTOAS refuses it; extents of 0 known at run time are generated",
             "pto/legality_context.py: LEGAL-PART-SIZE"),
    Excluded("bit ops of 32-bit tiles with a scalar", "PTOAS refuses them on a2a3", "rule LEGAL-OPERAND-TYPES-A3"),
    Excluded("comparisons on a5 of tiles that have not 32 columns", "PTOAS wants sources and mask of one shape there",
             "rule LEGAL-OPERAND-SHAPE-A5"),
    Excluded("ordered comparisons of INT32 on a2a3", "the device compares them for equality, whatever the mode says",
             "PTO-ISA npu/a2a3 TCmp.hpp, TCmps.hpp"),
    Excluded("copies on a2a3 between rows of unequal pitch", "PTOAS refuses them", "rule LEGAL-MOVE-PITCH"),
    Excluded("a tile of several slots that is carried or merged", "its storage is the author's, so nothing joins it",
             "passes/materialize_semantic_aliases.py"),
    *(Excluded(f"tile.{name}", reason, source) for name, (reason, source) in EXCLUDED_OPS.items()),
)

KNOWN: tuple[Met, ...] = (
    Met("PLAN-OVERLAP is refuted for a loop that replaces an outer tile without reading it",
        "in `.pto` it looks like one that spoils the tile", "verifiers/liveness.py: 'carried'",
        "rules: PLAN-OVERLAP is refuted"),
    Met("REPLAY is an error for such a loop", "no run of it differs", "verifiers/liveness.py: 'carried'",
        "rules: REPLAY: error"),
    Met("LEGAL-MOVE-PITCH is refuted for the copy that keeps a slice over a loop",
        "it is a move between pitches, which PTOAS refuses on a2a3", "passes/materialize_semantic_aliases.py",
        "rules: LEGAL-MOVE-PITCH is refuted"),
    Met("DTYPE-MASK is refuted where a tile's slot is known at run time only",
        "it may be anywhere that is free, also where a mask was",
        "verifiers/last_write.py: 'somewhere in the same range'", "rules: DTYPE-MASK is refuted"),
    Met("LEGAL-CAST-SCRATCH-STATIC is refuted for a narrowing cast on a2a3",
        "at level 3 PTOAS takes one with a scratch only, and with a scratch only where the extents stand in the type, "
        "which those of an allocated tile never do", "pto/legality_room.py, CG-08",
        "rules: LEGAL-CAST-SCRATCH-STATIC is refuted"),
)
"""Finds that are explained and still there: counted, not reported as new. `text`: the start of oracle and cause."""

REFUSALS: tuple[Met, ...] = (
    Met("to change the valid extents of a tile from outside of a loop or branch",
        "extents that are known at run time belong to the tile's register, not to one value", "codegen/kernel.py",
        "would get other valid extents for all later turns"),
    Met("to leave a loop whose step is known at run time only",
        "how many trips are left out is told by the step", "passes/ctrl_flow_transform.py",
        "in a loop whose step is not a positive constant"),
    Met("a view with a pad value", "a view writes nothing", "codegen/emit_views.py",
        "is a view and can't carry a pad value"),
    Met("to change the valid extents of a view", "they are part of its type", "codegen/emit_views.py",
        "set_validshape on"),
    Met("to reshape a slice whose rows are not adjacent", "a reshape moves no bytes", "codegen/emit_views.py",
        "relabels a slice, whose rows are not adjacent"),
    Met("a tile whose rows are no multiple of 32 bytes", "rows, or columns, are whole blocks", "codegen/boxes.py",
        "must be a multiple of"),
)
"""Why the compiler refuses a well-typed kernel: an answer, not a fault. `text`: a part of the error's."""
