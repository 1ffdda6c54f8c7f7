"""Flags between cores that order nothing which is not ordered anyway, and what a core's own sync does for another core.
A remark, not a verdict."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Set

from pypto_verified.index.cond import TRUE
from pypto_verified.records import dataclass
from pypto_verified.targets.pipes import LANE_IDS
from verifiers.access import AccessProgram
from verifiers.cross_flags import NamedFlag, named_flag
from verifiers.race.flow import Flow
from verifiers.race.lanes import lanes_of, pairs_of_lanes
from verifiers.race.on_chip import reaches_others
from verifiers.race.parts import Part, parts_of
from verifiers.race.room import PUSHES
from verifiers.race.sides import Sides, sides_without
from verifiers.race.sync import is_manual
from verifiers.race.walker import Core
from verifiers.sites import Context

_MOST_WORK = 6_000
"""Steps of a kernel times its flags between cores, up to which redundant ones are looked for."""


@dataclass(frozen=True, slots=True)
class Spare:
    """Flags of one name, from the core of kind `giver`, that may go together."""

    flags: tuple[NamedFlag, ...]
    giver: str

    def text(self, program: AccessProgram) -> str:
        """One line: what may go, where, and what it costs."""
        sets, waits = ([f for f in self.flags if f.sets is one] for one in (True, False))
        lines = " and ".join(dict.fromkeys(str(program.location(f.step.op).line) for f in (*sets, *waits)))
        ids = " and ".join(dict.fromkeys(repr(f.id) for f in sets or waits))
        loops = max(len(f.step.loops) for f in self.flags)
        often = "once" if not loops else f"in each iteration of {loops} nested loops" if loops > 1 else (
            "in each iteration")
        held = "core" if any(f.row.stalls_core for f in waits) else "pipe"
        return (f"redundant sync: flag {ids} of the {self.giver} core (line {lines}) orders nothing that is not "
                f"ordered anyway; it runs {often}, and its wait holds back a whole {held}")


class Kernel:
    """Both cores of a kernel, `parts` () if it has none; `why`: what keeps redundant flags from being looked for."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.parts = tuple(parts_of(context))
        self._flags = [(p.kind, f) for p in self.parts for s in p.program.steps if s.op not in p.foreign
                       if (f := named_flag(s, context.target)) is not None]
        steps = sum(len(p.program.steps) for p in {id(p.program): p for p in self.parts}.values())
        self.why = ""
        if steps * len(self._flags) > _MOST_WORK:
            self.why = (f"{len(self._flags)} flags between cores among {steps} ops are too many to leave them out in "
                        "turn")

    @property
    def followed(self) -> bool:
        """Whether all that both cores do to each other's data is seen."""
        target = self._context.target
        for part in self.parts:
            steps = [s for s in part.program.steps if s.op not in part.foreign]
            if part.program.gaps or not all(s.modelled and not s.op.name.startswith("pto.comm.") for s in steps):
                return False
            if reaches_others(part, target):
                return False
        return not any(self._apart(p) for p in self.parts if p.kind == "vector")

    def _apart(self, part: Part) -> bool:
        """Whether one vector core may read what the other one writes, or write there by another op."""
        one, other = lanes_of(part.program)
        return any(
            not (one.keeps_from(write, other, read) is other.keeps_from(write, one, read) is TRUE)
            for write, read in pairs_of_lanes(part.program, part.foreign, self._context.target))

    def told(self, gone: Set[Hashable] = frozenset()) -> Sides | None:
        """Both cores without these ops, where no wait hangs, no flag stays set or overruns and all accesses of two
        cores to the same bytes are ordered, in all runs; else None."""
        sides = sides_without(self._context, self.parts, gone)
        if sides.unordered or any(sides.bounded(p.kind) for p in self.parts):
            return None
        ends = ((("cube", a.step.index), ("vector", b.step.index)) for a, b in sides.meeting.values())
        return sides if all(sides.ordered((*one, *other), (*other, *one)) for one, other in ends) else None

    def _holds(self, gone: Set[Hashable]) -> bool:
        """As `told`, and the pipes of each core are in order, what they learn from the other core included."""
        sides = self.told(gone)
        return sides is not None and all(self._in_order(p, sides, gone) for p in self.parts)

    def _in_order(self, part: Part, sides: Sides, gone: Set[Hashable]) -> bool:
        context = self._context
        if not context.explicit_sync and not is_manual(part.program):
            return True
        core = Core(
            part.program, context.target, context.strict, part.foreign | gone, hearing=sides.hearing(part.kind))
        flow = Flow(core, context.ladder, context.assumed)
        return not flow.blind and not any(p.open or p.unseen for p in flow.pairs.values()) and not any(
            a.open for a in flow.again.values())

    def spare(self) -> Iterator[Spare]:
        """What may go, one group at a time; nothing where an order is missing or not followed."""
        if not any(f.between_kinds for _, f in self._flags) or self.why or not self.followed:
            return
        if not self._holds(frozenset()):
            return
        for giver, groups in self._groups():
            for group in groups:
                if self._holds(frozenset(f.step.op for f in group)):
                    yield Spare(group, giver)
                    if group is groups[0]:
                        break

    def _groups(self) -> Iterator[tuple[str, list[tuple[NamedFlag, ...]]]]:
        """For each name of a flag all of its uses, then each set with its wait."""
        named: dict[tuple[str, int | None], list[NamedFlag]] = {}
        computed = {g for k, f in self._flags if f.between_kinds and _base(f) is None for g in (_giver(k, f),)}
        for kind, flag in self._flags:
            if flag.between_kinds:
                giver = _giver(kind, flag)
                named.setdefault((giver, None if giver in computed else _base(flag)), []).append(flag)
        for (giver, _), flags in named.items():
            sets, waits = ([f for f in flags if f.sets is one] for one in (True, False))
            groups = [tuple(flags)]
            if len(sets) == len(waits) > 1:
                groups += zip(sets, waits, strict=True)
            yield giver, groups


def _giver(kind: str, flag: NamedFlag) -> str:
    (other,) = {"cube", "vector"} - {kind}
    return kind if flag.sets else other


def _base(flag: NamedFlag) -> int | None:
    """What both cores call a flag, None if that is computed."""
    id = flag.id.value if flag.id is not None else None
    return id % LANE_IDS if id is not None and flag.of_one_lane else id


def tells_others(context: Context) -> bool:
    """Whether another core learns from a function what its core has done."""
    return any(
        named_flag(s, context.target) is not None or s.op.name in PUSHES for s in context.program.steps)
