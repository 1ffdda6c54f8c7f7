"""What a core's waits for another core tell of its own accesses: it set a flag for the other one, which may have waited
for that before it gave what is waited for here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pypto_verified.targets import Target
from pypto_verified.targets.pipes import SCALAR
from verifiers.access import AccessProgram, Step
from verifiers.cross_flags import named_flag
from verifiers.race.sync import Kind, Sync


@dataclass(frozen=True, slots=True, eq=False)
class Hearing:
    """By the step of a wait, the sets of this core of which the other one, a core of `other` kind, has always heard
    when it answers. `ever`: those of which it has heard in some run, None where that is not known, for `why`;
    `earlier`: those of which it has in some run, of the last time or of one before."""

    always: Mapping[int, frozenset[int]] = field(default_factory=dict)
    ever: Mapping[int, frozenset[int]] | None = None
    earlier: Mapping[int, frozenset[int]] = field(default_factory=dict)
    other: str = "other"
    why: str = ""

    def told(self) -> frozenset[int]:
        """Sets that some wait stands for."""
        return frozenset[int]().union(*self.always.values())

    def may(self, wait: int, told: int) -> int:
        """Of how many of the last two times of a set the other core may have heard when it gives what a wait takes."""
        if self.ever is None or told in self.ever.get(wait, ()):
            return 2
        return 1 if told in self.earlier.get(wait, ()) else 0

    def syncs(self, steps: list[Step], target: Target) -> Iterator[Sync]:
        """The sets and waits, as they order this core's pipes."""
        told = self.told()
        for step in steps:
            flag = named_flag(step, target)
            if flag is not None and step.index in told:
                yield Sync(step, Kind.TELL, flag.pipe)
            elif flag is not None and self.always.get(step.index):
                yield Sync(step, Kind.HEAR, SCALAR if flag.row.stalls_core else flag.pipe)

    def unsure(self, program: AccessProgram, told: Step, wait: Step) -> str:
        """Why two accesses, one before the set and one after the wait, are not known to be out of order."""
        lines = [program.location(s.op).line for s in (told, wait)]
        why = f"; {self.why}" if self.why else ""
        return (f"the {self.other} core may order them: it may have waited for the flag of line {lines[0]} when it "
                f"sets the one that line {lines[1]} waits for{why}")


NOBODY = Hearing()
