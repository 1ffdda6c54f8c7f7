"""What another core may have seen to: accesses that this core told it of with a flag between cores, before it waited
for one in return. Whether the other core's flag comes after its own wait is not known from this core alone, so such a
pair is neither ordered nor shown to race."""

from __future__ import annotations

from pypto_verified.targets.pipes import CrossFlag
from verifiers.access import Step
from verifiers.race.cluster import flag_pipe
from verifiers.race.order import PIPES


class Answered:
    """Accesses are bits (see `Items`)."""

    def __init__(self) -> None:
        self._told = 0
        self._heard = dict.fromkeys(PIPES, 0)

    def begun(self, bits: int) -> None:
        """These accesses take place anew: nobody was told of them."""
        self._told &= ~bits
        for pipe in PIPES:
            self._heard[pipe] &= ~bits

    def flag(self, step: Step, row: CrossFlag, complete: int) -> None:
        """A flag is set or waited for. `complete`: what the flag's pipe has run and what it knows of others by then."""
        pipe = flag_pipe(step)
        if step.op.name == row.set:
            self._told |= complete
            return
        for held in PIPES if row.stalls_core else (pipe,):
            if held in self._heard:
                self._heard[held] |= self._told

    def covers(self, bit: int, pipe: str) -> bool:
        """Whether `pipe` may know this access complete from another core."""
        return bool(self._heard[pipe] >> bit & 1)
