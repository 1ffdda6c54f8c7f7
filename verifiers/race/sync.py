"""What a sync op does to the order of one core's pipes."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from pypto_verified.index import Expr, const
from pypto_verified.pto.module import EnumAttr
from pypto_verified.pto.op_pipes import names_pipes
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.targets.events import pipe_of
from pypto_verified.targets.pipes import ALL, barrier_holds
from verifiers.access import AccessProgram, Step
from verifiers.access.calls import CALL
from verifiers.flags import action_of, actions_of


class Kind(Enum):
    """SET and WAIT of a flag, BARRIER of a pipe, DRAIN of all pipes, ACQUIRE and RELEASE of a buffer id, FENCE of
    global memory, CLEAN of the data cache, NOTIFY, by which another device learns that data is there, TELL and HEAR, a
    set for another core and the wait for its answer, and CALL of a function that may do any of these."""

    SET = "set"
    WAIT = "wait"
    BARRIER = "barrier"
    DRAIN = "drain"
    ACQUIRE = "acquire"
    RELEASE = "release"
    FENCE = "fence"
    CLEAN = "clean"
    NOTIFY = "notify"
    TELL = "tell"
    HEAR = "hear"
    CALL = "call"


@dataclass(frozen=True, slots=True, eq=False)
class Sync:
    """A sync op. `pipe` is where it stands in line (the source of a set, the destination of a wait); `other` the pipe
    at the flag's other end; `id` None where the text computes it in a way that is not expressed."""

    step: Step
    kind: Kind
    pipe: str = ""
    other: str = ""
    id: Expr | None = None

    @property
    def pair(self) -> tuple[str, str]:
        """(source, destination) of a flag."""
        return (self.pipe, self.other) if self.kind is Kind.SET else (self.other, self.pipe)


def sync_of(step: Step, target: Target) -> Sync | None:
    """What a step does as a sync op of its own core; None if nothing. A barrier that the target drops is nothing."""
    op = step.op
    flag = action_of(step)
    if flag is not None:
        source, destination = flag.pair
        if flag.sets:
            return Sync(step, Kind.SET, source, destination, flag.id)
        return Sync(step, Kind.WAIT, destination, source, flag.id)
    if op.name in _WHOLE:
        return Sync(step, _WHOLE[op.name])
    if op.name == CALL:
        return None if step.modelled else Sync(step, Kind.CALL)
    if op.name == "pto.fence.barrier_all":
        scope = op.attrs.get("scope")
        local = isinstance(scope, EnumAttr) and scope.member == "local_memory"
        return None if local else Sync(step, Kind.FENCE)
    if op.name in ("pto.barrier", "pto.barrier_sync") and names_pipes(op):
        named = op.attrs.get("pipe", op.attrs.get("op_type"))
        pipe = pipe_of(named.member) if isinstance(named, EnumAttr) else ""
        if pipe == ALL:
            return Sync(step, Kind.DRAIN)
        return Sync(step, Kind.BARRIER, pipe) if pipe and barrier_holds(target, pipe) else None
    if op.name.startswith(("pto.get_buf", "pto.rls_buf")) and names_pipes(op):
        named = op.attrs.get("op_type")
        pipe = pipe_of(named.member) if isinstance(named, EnumAttr) else ""
        kind = Kind.ACQUIRE if op.name.startswith("pto.get_buf") else Kind.RELEASE
        return Sync(step, kind, pipe, "", _buffer_id(step))
    return None


_WHOLE = {
    "pto.syncall": Kind.DRAIN, "pto.cmo.cacheinvalid": Kind.CLEAN, "pto.comm.tnotify": Kind.NOTIFY,
}


def _buffer_id(step: Step) -> Expr | None:
    """None too in the mode in which the pipe waits for nobody (PTOAS micro-isa): that is not followed."""
    if not step.modelled:
        return None
    fixed = step.op.attrs.get("buf_id")
    if isinstance(fixed, int):
        return const(fixed)
    return next((o for o in step.operands.get("buf_id", ()) if isinstance(o, Expr)), None)


EXPLICIT = frozenset({
    "pto.set_flag", "pto.wait_flag", "pto.set_flag_dyn", "pto.wait_flag_dyn", "pto.record_event", "pto.wait_event",
    "pto.get_buf", "pto.rls_buf", "pto.get_buf_dyn", "pto.rls_buf_dyn", "pto.tsync",
})
"""Ops of which one tells that a function orders its own pipes."""


def is_manual(program: AccessProgram) -> bool:
    """Whether the function orders its own pipes: one flag or event, and the assembler leaves it alone. Barriers alone
    do not tell: the assembler adds its flags around them (assumption SYNC-LEFT)."""
    return any(step.op.name in EXPLICIT for step in program.steps)


@lru_cache(maxsize=1)
def waits_for_itself(program: AccessProgram) -> bool:
    """Whether a flag goes from a pipe to itself: assumption SELF-FLAG."""
    return any(action.pair[0] == action.pair[1] for action in actions_of(program).values())
