"""The assumptions of a verdict: one row each. A report prints those that some obligation used.

Each row is a choice between readings that the sources leave open, or a condition that the checked text cannot state.
"""

from __future__ import annotations

from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Assumption:
    """`text`: what is taken to hold; `strict`: what `--strict` takes instead, or else `fixed`: why there is no stricter
    reading; `rules`: rule families (prefixes of rule ids) that may rest on it."""

    id: str
    text: str
    strict: str
    rules: tuple[str, ...]
    source: str
    fixed: str = ""


_ROWS = (
    Assumption(
        "SIZE-NONNEG", "dynamic dimensions and runtime sizes are not negative", "",
        ("BOUND", "VALID", "PLAN", "WRITE", "RACE"), "PyPTO: a tensor's shape comes from the host",
        fixed="a tensor with a negative extent does not exist",
    ),
    Assumption(
        "BLOCK-INDEX", "0 <= block index < block count, and the block count is at least 1", "",
        ("BOUND", "WRITE", "RACE", "EVENT", "FIFO"), "PTO-ISA get_block_idx, get_block_num",
        fixed="the launch gives each block its index",
    ),
    Assumption(
        "LANE-INDEX", "the subblock index is 0 or 1", "", ("BOUND", "SPLIT", "WRITE", "FIFO"), "PTO-ISA get_subblockid",
        fixed="a core has two lanes",
    ),
    Assumption(
        "LAUNCH-ALONE", "a kernel whose texts are for one kind of core is launched alone: a block takes one core", "",
        ("EVENT",), "PyPTO: a mixed kernel is launched as a group, a block for each cube with its vector cores",
        fixed="a kernel for both kinds has a function, or a section, for each of them",
    ),
    Assumption(
        "LAUNCHES-KNOWN", "a kernel runs with as many blocks as its own file launches, and no other", "",
        ("BOUND", "WRITE", "RACE", "EVENT", "VALID", "PLAN"), "PyPTO pl.spmd, pl.spmd_submit",
        fixed="what other files launch is not known; a file that launches nothing says nothing",
    ),
    Assumption(
        "BLOCK-OF-GRID",
        "a lone InCore function that stores a fixed window is one block of its caller's grid, which covers the rest",
        "the function alone must write its whole Out",
        ("WRITE",), "PyPTO: an Orchestration function slices the output before the call",
    ),
    Assumption(
        "DISTINCT-POINTERS", "two tensor parameters of a kernel do not overlap in global memory",
        "",
        ("RACE", "WRITE", "SEM"), "PTOAS InsertSync keys global memory by its root pointer",
        fixed="every kernel that loads one tensor and stores another in a loop would be refuted",
    ),
    Assumption(
        "UB-TOP",
        "the top of UB belongs to the library: 184 of 192 KiB are usable on a2a3, 240 of 248 KiB on a5", "",
        ("PLAN",), "PyPTO soc.cpp, pto-isa#170",
        fixed="it is the stricter reading: the library's part is not used",
    ),
    Assumption(
        "SMALL-TABLES", "the bias table holds 1 KiB on a2a3 and 4 KiB on a5, the fixpipe table 2 and 4 KiB", "",
        ("PLAN",), "PTO-ISA buffer_limits.hpp; PTOAS plans with far more",
        fixed="it is the stricter reading: what the headers give, not what the assembler plans with",
    ),
    Assumption(
        "EVENT-KEY", "a flag is one bit per (source pipe, destination pipe, id) with 8 ids per pair",
        "a set of an occupied flag on the same source pipe and id is refused too",
        ("EVENT", "RACE"), "PTO-ISA event.hpp EVENT_ID_MAX; its machine model speaks of 16",
    ),
    Assumption(
        "FLAG-WAITS", "a flag that is set again before the wait for its last set has run keeps both",
        "an order has to keep the set behind that wait",
        ("EVENT",), "PTO-ISA event.hpp: FREE -record-> SET -wait-> FREE; kernels that set and wait in a loop",
    ),
    Assumption(
        "RESERVED-IDS", "library ops that set and wait EVENT_ID0 inside need that id free while they run",
        "EVENT_ID0 of those pipe pairs may not be used at all by a kernel that contains such an op",
        ("EVENT",), "PTO-ISA npu/*/T*.hpp",
    ),
    Assumption(
        "RESERVED-FLAGS", "cross-core flags 11 to 15, of either vector core, belong to SYNCALL and to the assembler",
        "", ("EVENT", "FIFO"), "PTO-ISA SyncAll.hpp, PTOAS",
        fixed="it is the stricter reading: no source names more of them",
    ),
    Assumption(
        "PIPE-FLAGS", "the assembler gives the pipes between cores of a function the first flags, two for each "
        "direction", "", ("EVENT",), "PTOAS PTOResolveReservedBuffers; PTO-ISA TPush.hpp",
        fixed="it is what the assembler does, whatever flags the text names",
    ),
    Assumption(
        "LANE-OFFSET", "on a5 a cube names the flags of its second vector core by ids that are 16 more; a vector core "
        "has 0 to 15", "", ("EVENT", "RACE"),
        "PTO-ISA npu/a5 TSync.hpp, TPush.hpp, against set-intra-block.md and PTOAS micro-isa (15 more)",
        fixed="the two readings are different flags, none of them a part of the other; code that runs has 16",
    ),
    Assumption(
        "SAME-PIPE",
        "dependent ops on one pipe are ordered without a barrier on S and M (a2a3) and on S, V, M, MTE1, FIX (a5)",
        "only on S (a2a3) and on S, V (a5)",
        ("RACE",), "PTO-ISA TSync.hpp; PTOAS InsertSync emits barriers of M and MTE1 on both",
    ),
    Assumption(
        "SELF-FLAG", "a flag from a pipe to itself holds the pipe back as a flag between two pipes does",
        "it orders nothing",
        ("EVENT", "RACE"),
        "Ascend C HardEvent V_V, PTO-ISA a6 test tload_hif4; PTO-ISA Event has a barrier there, or nothing",
    ),
    Assumption(
        "LOAD-AFTER-LOAD", "two loads into the same bytes land in program order", "a barrier of MTE2 is demanded",
        ("RACE",), "PTOAS InsertSync",
    ),
    Assumption(
        "SAME-TILE", "ops on one tile buffer are ordered only by pipe order, flags and barriers", "",
        ("RACE",), "PTO-ISA ordering-and-synchronization.md, against consistency-baseline.md",
        fixed="it is the stricter reading: nothing is ordered for free",
    ),
    Assumption(
        "VEC-TO-MAT-PIPE", "a Vec to Mat move runs on V, FIX or MTE3: a proof holds under each", "",
        ("RACE", "EVENT"), "PTOAS getPipe (V), PTO-ISA event.hpp (FIX), TSync_Custom.hpp (MTE3)",
        fixed="a proof holds under each reading",
    ),
    Assumption(
        "SCALAR-ISSUES", "a wait on pipe S holds back every op that is issued later, whatever its pipe",
        "pipe S is a pipe like the others",
        ("EVENT", "RACE"), "PTO-ISA machine model: the scalar unit issues the ops of all pipes",
    ),
    Assumption(
        "RAMP-PIPE", "a ramp with scratch runs on V or on S: a proof holds under each", "",
        ("RACE",), "PTO-ISA TCI (V), event.hpp and PTOAS getPipe (S), PTOAS#735",
        fixed="a proof holds under each reading",
    ),
    Assumption(
        "MAT-FILL-PIPE", "a fill of a Mat tile runs on MTE1, MTE2 or V: a proof holds under each", "",
        ("RACE",), "PTOAS getPipe (MTE1, V), PTO-ISA event.hpp (MTE2)",
        fixed="a proof holds under each reading",
    ),
    Assumption(
        "POP-PIPE", "on a5 a popped tile is there for S, or for V (Vec) or MTE1 (Mat), or for MTE2 if it is copied "
        "from global memory: a proof holds under each", "",
        ("RACE", "EVENT"), "PTOAS getPipe (S), PTO-ISA TPop.hpp (V, MTE1, MTE2)",
        fixed="a proof holds under each reading",
    ),
    Assumption(
        "FLAG-IS-FENCE", "within a core a flag between MTE3 or FIX and MTE2 also makes global memory visible",
        "a fence is demanded between the write and the read",
        ("RACE",), "PTOAS InsertSync, against PTOAS#730",
    ),
    Assumption(
        "CORES-SEE", "between cores, what orders a transfer behind another one also shows it what that one wrote",
        "a fence is demanded between the two",
        ("RACE",), "PTO-ISA SYNCALL.md (no data visibility), against TPush.hpp and kernels of PyPTO without a fence",
    ),
    Assumption(
        "OUT-OF-VALID", "source lanes outside the valid region have no defined value", "",
        ("VALID", "INIT", "SEM"), "PTO-ISA tiles-and-valid-regions.md, against tadd.md (all ones)",
        fixed="it is the stricter reading: nothing may depend on them",
    ),
    Assumption(
        "FILLPAD-ROWS", "fillpad on a2a3 fills rows up to the destination's valid rows, not the physical rows", "",
        ("VALID", "INIT"), "PTO-ISA npu/a2a3 TFillPad.hpp, against TFILLPAD.md",
        fixed="it is the stricter reading: fewer rows are filled",
    ),
    Assumption(
        "SCATTER-FLAT", "scatter's index is a flat element index into the destination", "",
        ("BOUND", "SEM"), "PTO-ISA TScatter.hpp, against TSCATTER.md",
        fixed="the two readings are different places, none of them a part of the other",
    ),
    Assumption(
        "INDEX-DATA", "indices that an op reads from memory name valid elements of what they index",
        "only indices that the kernel itself computes from constants are known to name such",
        ("BOUND", "INIT"), "PTO-ISA TGather.hpp, TScatter.hpp, MGather.hpp look at no index; PTOAS can't",
    ),
    Assumption(
        "ROUNDING", "a conversion without a rounding mode rounds to nearest even towards floats and truncates towards "
        "integers", "the rounding mode must be written",
        ("DTYPE", "SEM"), "PTO-ISA TCvt.hpp",
    ),
    Assumption(
        "SATURATION", "a conversion saturates, except six narrowing pairs that keep the low bits", "",
        ("SEM",), "PTO-ISA TCvt.hpp",
        fixed="it says what a conversion gives, and no rule asks for a value",
    ),
    Assumption(
        "LEFT-LAYOUT", "a LEFT tile has the target's L0A layout (Zz on a2a3, Nz on a5) whatever its text says",
        "its text says the layout that the target has",
        ("LAYOUT",), "PTOAS resolveTileBufBLayout; PyPTO prints col_major/row_major for both",
    ),
    Assumption(
        "ACC-IN-PLACE", "an accumulating matmul adds to the destination's own bytes and ignores the named accumulator",
        "", ("PLAN", "INIT"), "PTO-ISA TMatmul.hpp",
        fixed="the named accumulator must be the destination under both readings",
    ),
    Assumption(
        "DENSE-OPERANDS", "the matrix unit addresses its left and right operands densely, by m, k and n alone", "",
        ("PITCH",), "PTO-ISA TMov.hpp, TExtract.hpp: what compact moves write",
        fixed="the two readings are different places, none of them a part of the other",
    ),
    Assumption(
        "FREE-NEEDED", "a pop of a2a3 copies its slot and gives it back by itself: there a free does nothing",
        "a slot is taken until it is freed, on every target",
        ("FIFO",), "PTO-ISA npu/a2a3 TFree.hpp; the CPU simulator frees nothing in a pop",
    ),
    Assumption(
        "ABSENT-CORE", "a core whose text is not at hand gives each flag and tile that this one waits for, and takes "
        "each that it gives", "the text of one core alone says nothing of the flags and tiles between it and another",
        ("EVENT", "FIFO"), "PTO-ISA set_cross_core, TPush.hpp: both cores of a kernel have a part in them",
    ),
    Assumption(
        "LANES-ALIKE", "where both lanes of a vector core may store to one place, they store the same there: a place "
        "that their index does not tell apart", "what two lanes store to one place is not compared",
        ("WRITE",),
        "PTO-ISA TPop.hpp: without a split each lane has the whole tile; PyPTO SplitVectorKernel guards such bodies",
    ),
    Assumption(
        "FEW-BLOCKS", "a launch of which neither the kernel's file nor a caller says how many blocks it has, has as "
        "many as the chip has cores for, or two where that would be too many",
        "it may have any number of blocks", ("RACE", "WRITE", "FIFO", "EVENT"),
        "a kernel that halves a tensor by the index of its block is right for two",
    ),
    Assumption(
        "BLOCKS-DATA", "where more than the index of the block says what bytes each block of a launch reads and "
        "writes, or it says nothing, no block is disturbed by what another one writes",
        "what blocks use is compared whatever says it", ("RACE",),
        "kernels of real models write caches at places that a table gives each block",
    ),
    Assumption(
        "FIFO-CREDITS", "the producer of a pipe starts with as many credits as the pipe has slots",
        "the pipe of an a5 posts one period of credits more when it is made, as its library does",
        ("FIFO",), "PTO-ISA npu/a2a3 TPush.hpp after 0a15e15c; npu/a5 TPush.hpp",
    ),
    Assumption(
        "SYNC-LEFT", "a text without any flag or event is in automatic mode: the assembler orders its pipes",
        "", ("RACE", "EVENT"), "PTOAS --enable-insert-sync",
        fixed="the text of such a kernel says nothing that could be judged",
    ),
    Assumption(
        "SCALAR-ROUND-TRIP", "integer scalars of 32 bits or more do not overflow their width",
        "what is computed in 32 bits or less is shown to fit",
        ("BOUND", "WRITE"), "PTOAS: index is 64 bits",
    ),
    Assumption(
        "BRANCH-TAKEN", "where one argument alone decides a branch, callers pass what leads each way", "",
        ("RACE", "EVENT", "WRITE"), "the text has a way for each",
        fixed="--assume tells what callers keep to",
    ),
    Assumption(
        "SYNCALL-WAITS", "a soft SYNCALL waits until all participants have arrived",
        "", ("EVENT", "RACE"), "PTO-ISA SyncAll.hpp falls through after 1,000,000 polls",
        fixed="a barrier that may be left early orders nothing, and so no kernel with one could be proved",
    ),
)

ASSUMPTIONS: dict[str, Assumption] = {row.id: row for row in _ROWS}


def reading(id: str, strict: bool) -> str:
    """What is taken to hold; with `strict` in its stricter reading, if there is one. Raises KeyError for an unknown
    id."""
    row = ASSUMPTIONS[id]
    return f"{row.strict} (--strict)" if strict and row.strict else row.text


def assumption(id: str) -> Assumption:
    """The row of that id. Raises KeyError for an unknown id."""
    return ASSUMPTIONS[id]
