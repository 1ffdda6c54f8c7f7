"""What no generated kernel has, what the compiler may refuse, and what is known: one row each, with reason and source.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from pypto_verified.ops.registry import OPS
from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Excluded:
    """Something that no generated kernel has. `covers`: patterns of the constructs (`surface`) that it is about; none
    where it is about how constructs are put together."""

    what: str
    reason: str
    source: str
    covers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Met:
    """Something that generated kernels meet with. `text`: by which it is known."""

    what: str
    reason: str
    source: str
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

_UNKNOWN_OPS = tuple(f"op {name}" for name, decl in OPS.items() if decl.deduce is None)
_UNUSUAL = ("FP64", "INT4", "UINT4", "FP8E4M3FN", "FP8E5M2", "FP8E8M0", "HF8", "FP4", "HF4", "HF8X2", "BF16X2")

EXCLUDED: tuple[Excluded, ...] = (
    Excluded("ops without a type rule, products of mx tiles among them",
             "they are registered by name alone, and a call is NotModelled",
             "ops/build.py, ops/matmul.py, ops/tensor.py", _UNKNOWN_OPS),
    Excluded("cross-core ops",
             "a generated kernel is one core's; kernels of two cores, FIFOs and both vector lanes are run by "
             "tests/simulator/test_between_cores.py and proved by tests/verifiers", "ops/cross.py",
             ("op tile.tp*", "op tile.ai*", "op system.tfree*", "op system.*_pipe", "op system.*_buffer",
              "op system.set_ffts", "op system.sync_set", "op system.sync_wait", "pl.SplitMode", "pl.split",
              "pl.cross_core_slot")),
    Excluded("synchronisation ops", "the order of pipes is inserted, proved and run under schedules instead",
             "fuzz/ordered.py",
             ("op system.sync_src", "op system.sync_dst", "op system.bar_*", "op system.fence", "op system.syncall",
              "op system.cacheinvalid", "op system.event_*", "op system.tsync", "pl.Event", "pl.PipeType",
              "pl.system")),
    Excluded("sizes by tensor.dim", "the loader puts the size itself in its place", "language/calls.py",
             ("op tensor.dim",)),
    Excluded("vector ops beside cube ops", "mixed kernels are not split into two cores",
             "passes/classify_kernel.py"),
    Excluded("orchestration, groups, inlined helpers, several kernels that call each other",
             "they are not lowered, and a call of one is NotModelled", "language/functions.py, language/expressions.py",
             ("function Orchestration", "function Group", "function Spmd", "function Inline", "pl.inline", "pl.jit",
              "pl.JITFunction", "pl.InlineFunction", "pl.Level", "pl.Role", "pl.Ptr*", "pl.Array", "pl.array",
              "pl.Async*", "pl.Prefetch*", "pl.prefetch", "pl.TaskId", "argument TASK_ID", "element TASK_ID")),
    Excluded("augmented assignment, subscripts, nested functions, names for Python values",
             "kernels are made as IR, and the printer has one spelling of each; the kernel files of tests/language "
             "have the others", "ir/printer.py",
             ("pl.MemorySpace", "pl.MemRefType", "pl.DynVar", "pl.IntLike", "pl.AtomicType", "pl.AUTO", "pl.RUNTIME",
              "pl.ForKind", "pl.ScopeMode", "pl.optimizations", "pl.parse*", "pl.loads*", "pl.adir", "pl.Tuple")),
    Excluded("tiles of more than 64 columns or 32 rows", "a larger tile takes longer and shows nothing else",
             "fuzz/builder.py"),
    Excluded("tensors of three dimensions and more, and what selects among their dimensions",
             "their tiles become two-dimensional before anything else; real kernels with them are compared by "
             "benchmarks.differential", "passes/flatten_tile_nd_to_2d.py",
             ("tile.slice drop_dims", "tile.store shapes")),
    Excluded("tensors whose valid part is less than their shape",
             "such a tensor is a part of another, and parts are drawn", "fuzz/vector.py", ("tensor valid_shape",)),
    Excluded("tensors in fractal order",
             "NotModelled as a parameter in NZ order, and mx layouts as loads", "trials.py, ops/memory.py",
             ("tensor layout nz", "tensor layout mx_*")),
    Excluded("scaling tiles and what only products of mx tiles have", "those products have no type rule",
             "ops/matmul.py", ("space scaling", "tile.* target_memory=scaling")),
    Excluded("a scalar stored in global memory", "the fixed kernels of the differential tests have it",
             "codegen/emit_memory.py", ("op tensor.write",)),
    Excluded("a window that is cut at its tensor's edge", "generated windows lie within their tensors",
             "fuzz/vector.py", ("tile.load clamp=true",)),
    Excluded("high precision and optional scratch", "they change how an op computes, not what",
             "ops/elementwise.py, ops/reduce.py",
             ("tile.* high_precision=true", "tile.* tmp", "tile.* tmp_tile")),
    Excluded("element types that no array has, those of 8-bit floats among them",
             "the interpreter has no arithmetic of theirs", "interpreter/numbers.py: storage",
             (*(f"element {name}" for name in _UNUSUAL), "element UINT64",
              *(f"argument {name}" for name in _UNUSUAL))),
    Excluded("tensors and tiles of BOOL and INDEX", "they are types of scalars", "targets/dtypes.py",
             ("element BOOL", "element INDEX")),
    Excluded("a scalar to the power of another", "no instruction has it", "codegen/expr.py", ("scalar [*][*]",)),
    Excluded("exclusive or of two truths", "the language has no spelling of it", "language/expressions.py",
             ("scalar xor",)),
    Excluded("bits of a mask gather as another element type", "the fixed kernels of the differential tests have it",
             "ops/gather.py", ("tile.gather_mask output_dtype",)),
    Excluded("uninitialised tiles outside of vector memory", "a tile of the cube core is loaded, moved or computed",
             "fuzz/cube.py", ("tile.create target_memory=[!v]*", "tile.create *=true")),
    Excluded("loads, moves and extractions into other memories", "the devices have no such path, or it is one of those "
             "that benchmarks.differential compares", "ops/memory.py, targets/model.py",
             ("tile.load target_memory=[!vm]*", "tile.move target_memory=acc", "tile.move target_memory=mat",
              "tile.extract target_memory=[!lr]*")),
    Excluded("a move into a layout of the author's choice", "it takes the one of the memory that it moves to",
             "ops/memory.py", ("tile.move blayout=*", "tile.move slayout=*")),
    Excluded("accumulators with a column more",
             "the language takes the mode in an annotation alone, and no pass gives it", "passes/stamp_compact.py",
             ("tile compact row_plus_one",)),
    Excluded("a view with a pad value", "the compiler refuses it where it would have to write", "codegen/emit_views.py",
             ("tile.slice pad_value=*",)),
    Excluded("remainders of a column by a column",
             "the column and its scratch become one row each, and PTOAS wants a scratch of two on a2a3",
             "passes/resolve_backend_op_layouts.py, pto/legality_room.py: LEGAL-SCRATCH-BYTES-A3"),
    Excluded("integer division by a tile", "a zero divisor has no result", "interpreter/elementwise.py"),
    Excluded("loops that count down", "the language refuses a step that is not positive", "language/loop_heads.py"),
    Excluded("a constant valid extent of 0", "PTOAS refuses it; extents of 0 known at run time are generated",
             "pto/legality_context.py: LEGAL-PART-SIZE"),
    Excluded("bit ops of 32-bit tiles with a scalar", "PTOAS refuses them on a2a3", "rule LEGAL-OPERAND-TYPES-A3"),
    Excluded("comparisons on a5 of tiles that have not 32 columns", "PTOAS wants sources and mask of one shape there",
             "rule LEGAL-OPERAND-SHAPE-A5"),
    Excluded("ordered comparisons of INT32 on a2a3", "the device compares them for equality, whatever the mode says",
             "PTO-ISA npu/a2a3 TCmp.hpp, TCmps.hpp"),
    Excluded("copies on a2a3 between rows of unequal pitch", "PTOAS refuses them", "rule LEGAL-MOVE-PITCH"),
    Excluded("copies on a2a3 into a part of a tile that end inside of a block",
             "the rest of the 32 bytes is overwritten with what nothing defines",
             "PTO-ISA npu/a2a3 TMov.hpp; simulator/ops_move.py"),
    Excluded("conversions in several steps of which an early one rounds", "the result may be another than that of one "
             "conversion", "passes/legalize_tile_cast.py"),
    Excluded("blocks of 32 bytes spread over rows, and row-wise ops with them",
             "columns are drawn, and the tests of the interpreter have blocks", "ops/reduce.py, interpreter/axes.py"),
    Excluded("scalar arguments that are not a number", "of the operands of a minimum or maximum no source says which "
             "one is kept then", "interpreter/elementwise.py"),
    Excluded("a tile of several slots that is carried or merged", "its storage is the author's, so nothing joins it",
             "passes/materialize_semantic_aliases.py"),
    *(Excluded(f"tile.{name}", reason, source, (f"op tile.{name}",))
      for name, (reason, source) in EXCLUDED_OPS.items()),
)


def excluded(construct: str) -> bool:
    """Whether a row is about a construct, or about the op whose keyword or operand it is."""
    owner = f"op {construct.partition(' ')[0]}"
    return any(fnmatchcase(name, pattern) for row in EXCLUDED for pattern in row.covers for name in (construct, owner))


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
