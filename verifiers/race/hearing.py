"""What a core's waits for another core tell of its own accesses: it set a flag for the other one, which may have waited
for that before it gave what is waited for here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TypeAlias

from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import SCALAR
from verifiers.access import AccessProgram, Step
from verifiers.cross_flags import named_flag
from verifiers.race.accesses import Access, is_global
from verifiers.race.sync import Kind, Sync

Told: TypeAlias = tuple[int, int]
"""A set or a wait: its step, and its id where that is another one in another iteration, else -1."""


def told_of(step: Step, id: int | None, target: Target) -> Told:
    """A set or wait that calls its flag `id`; None where that is not known."""
    flag = named_flag(step, target)
    fixed = flag is None or flag.id is None or flag.id.value is not None
    return step.index, -1 if id is None or fixed else id


@dataclass(frozen=True, slots=True, eq=False)
class Hearing:
    """For each wait, the sets of this core of which the other one, a core of `other` kind, has always heard when it
    answers: of the last set of each. `ever`: those of which it has heard in some run, None where that is not known, for
    `why`; `earlier`: those of which it has in some run, of the last time or of one before. `open`: steps of this core
    whose accesses to global memory some run leaves unordered, the earlier one first; None where that is not known."""

    always: Mapping[Told, frozenset[Told]] = field(default_factory=dict)
    ever: Mapping[Told, frozenset[Told]] | None = None
    earlier: Mapping[Told, frozenset[Told]] = field(default_factory=dict)
    open: frozenset[tuple[int, int]] | None = None
    other: str = "other"
    why: str = ""

    def orders(self, first: Access, second: Access) -> bool:
        """Whether two accesses of this core are ordered in every run, by what the cores tell each other."""
        return (self.open is not None and is_global(first) and is_global(second)
                and len(first.readings) == len(second.readings) == 1
                and (first.step.index, second.step.index) not in self.open)

    def told(self) -> frozenset[Told]:
        """Sets that some wait stands for."""
        return frozenset[Told]().union(*self.always.values())

    def may(self, wait: Told, told: Told) -> int:
        """Of how many of the last two times of a set the other core may have heard when it gives what a wait takes."""
        if self.ever is None or told in self.ever.get(wait, ()):
            return 2
        return 1 if told in self.earlier.get(wait, ()) else 0

    def syncs(self, steps: list[Step], target: Target) -> Iterator[Sync]:
        """The sets and waits, as they order this core's pipes."""
        told, waits = {n for n, _ in self.told()}, {n for (n, _), sets in self.always.items() if sets}
        for step in steps:
            flag = named_flag(step, target)
            if flag is None or step.index not in told | waits:
                continue
            id = flag.id if flag.id is not None and flag.id.value is None else None
            if flag.sets:
                yield Sync(step, Kind.TELL, flag.pipe, id=id)
            else:
                yield Sync(step, Kind.HEAR, SCALAR if flag.row.stalls_core else flag.pipe, id=id)

    def unsure(self, program: AccessProgram, told: Step, wait: Step) -> str:
        """Why two accesses, one before the set and one after the wait, are not known to be out of order."""
        lines = [program.location(s.op).line for s in (told, wait)]
        why = f"; {self.why}" if self.why else ""
        return (f"the {self.other} core may order them: it may have waited for the flag of line {lines[0]} when it "
                f"sets the one that line {lines[1]} waits for{why}")


NOBODY = Hearing()
