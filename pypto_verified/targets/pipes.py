"""How the pipes of a core run, as data: which ones a core has, which pipe carries an op where sources differ, what the
order of one pipe is worth, what flags between cores count, and what no flag does.

The simulator's schedules and the verifier of races read these rows; how they use them is their own.
"""

from __future__ import annotations

from enum import Enum

from pypto_verified.layouts import Space
from pypto_verified.records import dataclass
from pypto_verified.targets.events import FOREIGN_PIPES
from pypto_verified.targets.model import Target

ALL = "ALL"
"""What a barrier names to mean every pipe of the core."""

SCALAR = "S"
"""The pipe that issues the ops of all others, in program order. A wait on it holds back whatever is issued later, on
any pipe (assumption SCALAR-ISSUES)."""


class Hazard(Enum):
    """How two accesses to one byte conflict, the earlier one first."""

    RAW = "read after write"
    WAR = "write after read"
    WAW = "write after write"


def pipes_of_core(target: Target, kind: str) -> tuple[str, ...]:
    """The pipes that a core of a kind has: 'cube', 'vector', or '' for all pipes."""
    foreign = FOREIGN_PIPES.get(kind, frozenset())
    return tuple(p for p in target.pipes if p not in foreign)


def ordered_on_pipe(target: Target, pipe: str, hazard: Hazard, strict: bool = False) -> bool:
    """Whether two ops on `pipe` that conflict take effect in program order without a barrier between them.

    Assumptions SAME-PIPE and LOAD-AFTER-LOAD; `strict` takes their stricter readings.
    """
    if target.same_pipe_ordered(pipe, strict):
        return True
    return hazard is Hazard.WAW and not strict and pipe in target.waw_in_order


def barrier_holds(target: Target, pipe: str) -> bool:
    """Whether `barrier` of that pipe, or of ALL, waits for anything on this target."""
    return pipe in target.barriers


@dataclass(frozen=True, slots=True)
class PipeReading:
    """An op form on whose pipe the sources differ: a proof must hold under each of `pipes` (EV-01). The
    one that the op's row in `pto/rows*.py` takes is among them.

    The form: one of `ops`, on `target` ('' for both), from `src` to `dst`, with or without `scratch` (None: either).
    `assumption` is the row that reports print.
    """

    ops: tuple[str, ...]
    target: str
    pipes: tuple[str, ...]
    assumption: str
    source: str
    src: Space | None = None
    dst: Space | None = None
    scratch: bool | None = None


PIPE_READINGS: tuple[PipeReading, ...] = (
    PipeReading(
        ("pto.tmov", "pto.textract", "pto.tinsert"), "a5", ("V", "FIX", "MTE3"), "VEC-TO-MAT-PIPE",
        "PTOAS getPipe: V for tmov, FIX for textract, MTE3 for tinsert; PTO-ISA event.hpp: FIX; TSync_Custom.hpp: MTE3",
        src=Space.VEC, dst=Space.MAT),
    PipeReading(
        ("pto.tci",), "", ("V", "S"), "RAMP-PIPE",
        "PTO-ISA TCI with scratch is a vector program (PTOAS#735); event.hpp and PTOAS getPipe: S", scratch=True),
    PipeReading(
        ("pto.tfillpad", "pto.tfillpad_expand", "pto.tfillpad_inplace"), "", ("MTE1", "MTE2"), "MAT-FILL-PIPE",
        "PTOAS getPipe: MTE1; PTO-ISA event.hpp TFILLPAD_MAT: MTE2", dst=Space.MAT),
    PipeReading(
        ("pto.texpands",), "", ("V", "MTE2"), "MAT-FILL-PIPE",
        "PTO-ISA event.hpp TEXPANDS_MAT: MTE2; PTOAS getPipe: V", dst=Space.MAT),
    PipeReading(
        ("pto.tpop_from_aic", "pto.tpop"), "a5", ("S", "V"), "POP-PIPE",
        "PTOAS getPipe: S; PTO-ISA TPop.hpp waits on V", dst=Space.VEC),
    PipeReading(
        ("pto.tpop_from_aiv", "pto.tpop"), "a5", ("S", "MTE1"), "POP-PIPE",
        "PTOAS getPipe: S; PTO-ISA TPop.hpp waits on MTE1", dst=Space.MAT),
)


_HELD = frozenset({"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", ALL})


def is_pipe(name: str) -> bool:
    """Whether a text names a pipe that ops run on, or all of them: the dialect has names for others too (MTE4, V2)."""
    return name in _HELD


def pipe_readings(
    op: str, target: str, src: Space | None, dst: Space | None, scratch: bool
) -> tuple[tuple[str, ...], str]:
    """(pipes that the sources name for an op form, the assumption); ((), '') where they agree."""
    for row in PIPE_READINGS:
        if (op in row.ops and row.target in ("", target) and row.src in (None, src) and row.dst in (None, dst)
                and row.scratch in (None, scratch)):
            return row.pipes, row.assumption
    return (), ""


class Scope(Enum):
    """Whom a flag between cores is for. The first three have the numbers of FFTS modes: a set is passed on, to all of
    them, when every core of the group has given one."""

    KIND = 0
    """All cores of a kind."""
    LANES = 1
    """The vector cores of a cube."""
    BLOCK = 2
    """A cube and its vector cores: a set of the cube reaches both, its wait needs a set of both."""
    LANE = 3
    """A cube and one of its vector cores (assumption LANE-OFFSET)."""


LANE_IDS = 16
"""On the cube's side flags of the second vector core have ids that are so much larger."""


@dataclass(frozen=True, slots=True)
class CrossFlag:
    """A pair of ops that pass a counted flag between cores. `set` counts up once all earlier ops of its pipe are done;
    `wait` counts down, and holds back the pipe it names, or the whole core if `stalls_core`. The counter of an id goes
    up to `Target.flag_count_max`. `scope`: whom the flag is for, None where the op's `ffts_mode` says it."""

    set: str
    wait: str
    target: str
    stalls_core: bool
    scope: Scope | None
    source: str

    def scope_of(self, mode: object) -> Scope | None:
        """Whom a flag with this `ffts_mode` is for, None for a mode that there is none of."""
        if self.scope is not None or mode is None:
            return self.scope or Scope.BLOCK
        return next((s for s in (Scope.KIND, Scope.LANES, Scope.BLOCK) if s.value == mode), None)


_FFTS = ("pto.sync.set", "pto.sync.wait")
_CROSS = ("pto.set_cross_block", "pto.wait_cross_block")
_INTRA = ("pto.set_intra_block", "pto.wait_intra_block")

CROSS_FLAGS: tuple[CrossFlag, ...] = (
    CrossFlag(*_FFTS, "a2a3", True, None, "PTO-ISA ffts_cross_core_sync, wait_flag_dev"),
    CrossFlag(*_FFTS, "a5", True, None, "PTOAS emits ffts_cross_core_sync, wait_flag_dev too"),
    CrossFlag(*_CROSS, "a2a3", True, Scope.KIND, "PTOAS: sync.set of mode 0"),
    CrossFlag(*_CROSS, "a5", True, Scope.KIND, "PTOAS: sync.set of mode 0"),
    CrossFlag(*_INTRA, "a2a3", True, Scope.BLOCK, "PTOAS: sync.set of mode 2"),
    CrossFlag(*_INTRA, "a5", False, Scope.LANE, "PTO-ISA set_intra_block"),
)


def cross_flag(op: str, target: str) -> CrossFlag | None:
    """The row of an op that sets or waits for a flag between cores, if the target has it."""
    return next((row for row in CROSS_FLAGS if op in (row.set, row.wait) and row.target == target), None)


def is_for_kind(op: str, mode: object) -> bool:
    """Whether an op with this `ffts_mode` sets or waits for a flag of all cores of a kind, on some target."""
    return any(op in (row.set, row.wait) and row.scope_of(mode) is Scope.KIND for row in CROSS_FLAGS)


def flag_count(scope: Scope | None, kind: str, target: Target) -> int:
    """How many ids flags of a scope have on a core of a kind, '' where it is not told."""
    return 2 * LANE_IDS if scope is Scope.LANE and kind != "vector" else target.flag_ids


@dataclass(frozen=True, slots=True)
class Visibility:
    """What a write to global memory needs besides an order, before another unit sees it. `writer` and `reader`: 'bulk'
    (MTE2, MTE3, FIX), 'scalar' (through the data cache), 'other bulk' and 'other scalar' of another core, or another
    'device', which is notified; `fences`: ops of which one must stand between; `strict`: only the stricter reading asks
    for it."""

    writer: str
    reader: str
    fences: tuple[str, ...]
    strict: bool
    source: str


CACHE = "pto.cmo.cacheinvalid"
FENCE = "pto.fence.barrier_all"

VISIBILITY: tuple[Visibility, ...] = (
    Visibility("bulk", "bulk", (FENCE,), True, "PTOAS#730: a pipe flag is no memory fence"),
    Visibility("scalar", "bulk", (CACHE,), False, "PTO-ISA ordering-and-synchronization.md: dcci after scalar stores"),
    Visibility("bulk", "scalar", (CACHE,), False, "PTO-ISA ordering-and-synchronization.md: dcci before scalar loads"),
    Visibility("bulk", "other bulk", (FENCE,), True, "PTO-ISA SYNCALL.md: no data visibility"),
    Visibility("bulk", "other scalar", (CACHE,), False, "PTO-ISA ordering-and-synchronization.md: dcci, dsb"),
    Visibility("scalar", "other bulk", (CACHE,), False, "PTO-ISA ordering-and-synchronization.md: dcci, dsb"),
    Visibility("scalar", "other scalar", (CACHE,), False, "PTO-ISA ordering-and-synchronization.md: dcci, dsb"),
    Visibility("bulk", "device", (FENCE,), False, "PTOAS#711, PTOAS#872: a notification overtakes the data"),
    Visibility("scalar", "device", (CACHE,), False, "PTO-ISA ordering-and-synchronization.md: dcci, dsb"),
)


def fences_between(writer: str, reader: str, strict: bool = False) -> tuple[str, ...]:
    """Ops of which one must stand between a write and its reader for the data to be seen; () if none has to."""
    return next(
        (v.fences for v in VISIBILITY if (v.writer, v.reader) == (writer, reader) and (strict or not v.strict)), ())


SYNCALL_DRAINS = True
"""A SYNCALL is a barrier of all pipes of its core before it is a meeting of cores (PTO-ISA SyncAll.hpp); it makes no
data visible."""
