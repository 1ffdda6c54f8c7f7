"""Which assumptions a verdict about two cores, or about one that hears from another, rests on."""

from __future__ import annotations

from functools import lru_cache

from pypto_verified.pto.module import EnumAttr
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import SCALAR
from verifiers.access import Step
from verifiers.cross_flags import named_flag
from verifiers.race.members import POPS
from verifiers.race.parts import Part, parts_of
from verifiers.race.sync import Kind, is_manual, sync_of, waits_for_itself
from verifiers.sites import Context

SIGNALS = ("POP-PIPE", "LANE-OFFSET", "SYNCALL-WAITS")
"""What the signals between two cores may rest on."""
ORDERS = (*SIGNALS, "SYNC-LEFT", "EVENT-KEY", "SELF-FLAG", "SCALAR-ISSUES")
"""What the order of their accesses may rest on: also the sync within each core."""


def told_by(context: Context) -> frozenset[str]:
    """Those of ORDERS that matter to the cores of a kernel; none where a function runs alone."""
    return _told_by(tuple(parts_of(context)), context.target, context.explicit_sync, context.strict)


@lru_cache(maxsize=2)
def _told_by(parts: tuple[Part, ...], target: Target, explicit: bool, strict: bool) -> frozenset[str]:
    found: set[str] = set()
    if parts and not explicit and not any(is_manual(p.program) for p in parts):
        found.add("SYNC-LEFT")
    for part in parts:
        for step in part.program.steps:
            if step.op not in part.foreign:
                found |= _of_step(step, target, strict)
        if waits_for_itself(part.program):
            found.add("SELF-FLAG")
    return frozenset(found)


def _of_step(step: Step, target: Target, strict: bool) -> set[str]:
    found: set[str] = set()
    flag, sync, mode = named_flag(step, target), sync_of(step, target), step.op.attrs.get("mode")
    if flag is not None and flag.of_one_lane:
        found.add("LANE-OFFSET")
    if step.op.name in POPS and target.on_chip_pipe:
        found.add("POP-PIPE")
    if step.op.name == "pto.syncall" and not (isinstance(mode, EnumAttr) and mode.member == "hard"):
        found.add("SYNCALL-WAITS")
    if sync is not None and sync.kind in (Kind.SET, Kind.WAIT):
        found.add("EVENT-KEY")
    if sync is not None and sync.kind is Kind.WAIT and sync.pipe == SCALAR and not strict:
        found.add("SCALAR-ISSUES")
    return found


def unneeded(context: Context, among: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `among` that do not matter."""
    used = told_by(context)
    return tuple(a for a in among if a not in used)
