"""What one core has written and another one reads need not be what it sees, whatever orders the two: flags, pushes and
barriers between cores clean no cache and fence no memory. An op that does has to stand on the core of the writer,
behind the write and before that core tells anybody anything, or on the core of the reader, before the read and behind
all that it hears: in between, as the text has them, and in every run that comes to the write, or to the read."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeAlias

from pypto_verified.targets import Target
from pypto_verified.targets.pipes import CACHE, cross_flag, fences_between
from verifiers.access import AccessProgram, Step
from verifiers.access.calls import CALL
from verifiers.race.accesses import Access
from verifiers.race.paths import nodes
from verifiers.race.sync import Kind, sync_of
from verifiers.sites import op_text
from verifiers.solver.cone import conjuncts

Core: TypeAlias = tuple[AccessProgram, frozenset[Hashable]]
"""The text of a core, and the ops of it that other cores run."""


def hidden(write: Access, writer: Core, read: Access, reader: Core, target: Target, strict: bool) -> str:
    """Why the read of another core need not see the write, '' if it does, or if it is no read of a write."""
    if not write.writes or read.writes:
        return ""
    unit, other = ("scalar" if a.scalar else "bulk" for a in (write, read))
    fences = fences_between(unit, f"other {other}", strict)
    kind = Kind.CLEAN if CACHE in fences else Kind.FENCE
    # A cache is that of a scalar unit: of the one that has written, else of the one that reads.
    here, there = write.scalar or kind is Kind.FENCE, not write.scalar
    behind = [s for s in _own(writer) if s.index > write.step.index]
    before = [s for s in reversed(_own(reader)) if s.index < read.step.index]
    if not fences or (here and _stands(write.step, behind, kind, target)) or (
            there and _stands(read.step, before, kind, target)):
        return ""
    line = writer[0].location(write.step.op).line
    where = "stays in the cache of its core" if write.scalar else (
        "need not be what the cache of the other core has" if kind is Kind.CLEAN else "need not be visible")
    return f"what {op_text(write.step.op)} at line {line} writes {where}, and no {fences[0]} stands between"


def taken_to_see(write: Access, read: Access) -> bool:
    """Whether assumption CORES-SEE speaks of two accesses."""
    return write.writes and not (write.scalar or read.writes or read.scalar)


def _own(core: Core) -> list[Step]:
    program, foreign = core
    return [s for s in program.steps if s.op not in foreign]


def _stands(at: Step, others: Iterable[Step], kind: Kind, target: Target) -> bool:
    """Whether an op of this kind is the first of `others` that matters to another core, and runs whenever `at` does.
    It may stand outside of loops around `at` in whose turns no core tells the other one anything."""
    for step in others:
        sync = sync_of(step, target)
        if sync is not None and sync.kind is kind and set(conjuncts(step.path)) <= set(conjuncts(at.path)):
            around = len(step.loops)
            return step.loops == at.loops[:around] and not any(
                isinstance(s, Step) and _deals(s, target) for loop in at.loops[around:] for s in nodes(loop.body))
        if _deals(step, target):
            return False
    return False


def _deals(step: Step, target: Target) -> bool:
    """Whether another core may hear of a step, or tell it something."""
    return step.op.name in ("pto.syncall", CALL) or cross_flag(step.op.name, target.name) is not None or (
        step.op.name.startswith(("pto.tpush", "pto.tpop", "pto.tfree")))
