"""The flags between cores that a text names: the op, whom it is for, its id and its pipe, whatever the op is called."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Set

from pypto_verified.index import Expr, const
from pypto_verified.pto.module import EnumAttr
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.targets.events import pipe_of
from pypto_verified.targets.pipes import LANE_IDS, CrossFlag, Scope, cross_flag
from verifiers.access import AccessProgram, Step
from verifiers.access.calls import reached

_TALK = frozenset({
    "pto.syncall", "pto.tpush_to_aiv", "pto.tpush_to_aic", "pto.tpop_from_aic", "pto.tpop_from_aiv",
    "pto.tfree_from_aic", "pto.tfree_from_aiv", "pto.talloc_to_aiv", "pto.talloc_to_aic"})
"""Other ops that both kinds of core have a part in."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedFlag:
    """A set or a wait. `scope` is None for a mode that there is none of; `id` where the text computes it in a way that
    is not expressed; `pipe` is '' where it names none."""

    step: Step
    row: CrossFlag
    scope: Scope | None
    id: Expr | None
    pipe: str

    @property
    def sets(self) -> bool:
        return self.step.op.name == self.row.set

    @property
    def between_kinds(self) -> bool:
        """Whether it is between a cube and its vector cores."""
        return self.scope in (Scope.BLOCK, Scope.LANE)

    @property
    def of_one_lane(self) -> bool:
        """Whether a flag of a cube is for one of its lanes alone."""
        return self.scope is Scope.LANE

    def for_lane(self, id: int, kind: str, lane: int) -> int | None:
        """What a lane calls the flag that a core of this kind calls `id`; None where it is for the other lane."""
        if not self.of_one_lane or kind != "cube":
            return id
        return id % LANE_IDS if id // LANE_IDS == lane else None


def two_channels(steps: Iterable[Step], target: Target) -> str:
    """Why the flags of a kernel can't be followed: one of FFTS and one within a block of a5 may have the same id, and
    no source tells whether these share a counter. '' if there are none."""
    flags = [f for f in (named_flag(s, target) for s in steps) if f is not None]
    within, others = ([f for f in flags if f.of_one_lane is one] for one in (True, False))
    both = next(((a, b) for a in within for b in others if _may_meet(a.id, b.id)), None)
    if both is None:
        return ""
    names = " and ".join(f.step.op.name for f in both)
    return f"{names} may name one flag, and whether these count together is not told"


def through_calls(program: AccessProgram, foreign: Set[Hashable], target: Target) -> str:
    """Why what a core tells another one can't be followed: a function that it calls passes flags or tiles, or meets all
    cores. '' if none does."""
    def talks(name: str) -> bool:
        return name in _TALK or cross_flag(name, target.name) is not None

    call = next((op for op in reached(program.func, talks) if op not in foreign), None)
    if call is None:
        return ""
    return f"the function that line {program.location(call).line} calls may tell the other core something"


def _may_meet(within: Expr | None, other: Expr | None) -> bool:
    if within is None or other is None or within.value is None or other.value is None:
        return True
    return within.value % LANE_IDS == other.value


def named_flag(step: Step, target: Target) -> NamedFlag | None:
    """The flag between cores that a step sets or waits for."""
    op = step.op
    row = cross_flag(op.name, target.name)
    if row is None:
        return None
    named, fixed = op.attrs.get("pipe"), op.attrs.get("event_id")
    computed = (o for o in step.operands.get("event_id_dyn", ()) if isinstance(o, Expr))
    return NamedFlag(
        step, row, row.scope_of(op.attrs.get("ffts_mode")),
        const(fixed) if isinstance(fixed, int) else next(computed, None),
        pipe_of(named.member) if isinstance(named, EnumAttr) else "")
