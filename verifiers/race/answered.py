"""What another core may have seen to in one run: accesses that this core told it of with a flag between cores, before
it waited for one in return. A pair of accesses between which that happens is not shown to race by this core alone."""

from __future__ import annotations

from verifiers.access import Step
from verifiers.cross_flags import NamedFlag
from verifiers.race.hearing import Hearing, Told
from verifiers.race.order import PIPES


class Answered:
    """Accesses are bits (see `Items`)."""

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing
        self._told: dict[Told, tuple[Step, int, int]] = {}
        self._heard = dict.fromkeys(PIPES, 0)
        self._by: dict[str, tuple[Step, Step]] = {}

    def begun(self, bits: int) -> None:
        """These accesses take place anew: nobody was told of them."""
        self._told = {n: (step, before & ~bits, told & ~bits) for n, (step, before, told) in self._told.items()}
        for pipe in PIPES:
            self._heard[pipe] &= ~bits

    def flag(self, flag: NamedFlag, here: Told, complete: int) -> None:
        """A flag is set or waited for. `complete`: what the flag's pipe has run and what it knows of others by then."""
        if flag.sets:
            *_, before = self._told.get(here, (flag.step, 0, 0))
            self._told[here] = flag.step, before, complete
            return
        for told_to, (set_, before, last) in self._told.items():
            told = (0, before, last)[self._hearing.may(here, told_to)]
            if told:
                for pipe in PIPES if flag.row.stalls_core else (flag.pipe,):
                    if pipe in self._heard:
                        self._heard[pipe] |= told
                        self._by[pipe] = set_, flag.step

    def by(self, bit: int, pipe: str) -> tuple[Step, Step] | None:
        """The set and the wait by which `pipe` may know this access complete from another core, if it may."""
        return self._by[pipe] if self._heard[pipe] >> bit & 1 else None
