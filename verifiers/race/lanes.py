"""The two vector cores of a cube, which run one text: whether they use other bytes of global memory."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Set
from itertools import product

from pypto_verified.index import Cond, IntLike, all_of, implies, substitute, substitute_cond, symbol, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from verifiers.access import AccessProgram
from verifiers.race.accesses import Access, accesses_of, is_global
from verifiers.race.cycles import stepped_variable
from verifiers.race.members import LANE, ON_ALL_CORES
from verifiers.race.places import Place, apart
from verifiers.recurrence import counted
from verifiers.write_twice import related, through_loops


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """One of the two."""

    program: AccessProgram
    number: int

    def keeps_from(self, write: Access, other: Lane, there: Access) -> Cond:
        """Where what it writes here shares no byte with what the other one reads, or writes, there."""
        absent = FALSE in (substitute_cond(a.step.path, {LANE: lane.number})
                           for lane, a in ((self, write), (other, there)))
        (here, runs), (theirs, do) = self._place(write), other._place(there)
        return TRUE if absent else implies(runs & do, apart(here, theirs))

    def _place(self, access: Access) -> tuple[Place, Cond]:
        """Where it goes in some turns of the loops around, and that there are such turns."""
        turns: dict[str, IntLike] = {}
        goes: list[Cond] = []
        for loop in access.step.loops:
            counter = counted(loop)
            if counter is not None:
                turn = symbol(f"turn of {counter.name}", 0)
                turns[counter.name] = substitute(counter.base, turns) + turn
                stepped = stepped_variable(loop, counter.name, counter.base)
                if stepped is not None:
                    turns[stepped[0]] = substitute(stepped[1], turns)
                if loop.lower is not None and loop.upper is not None and loop.step is not None:
                    first, end, step = (substitute(e, turns) for e in (loop.lower, loop.upper, loop.step))
                    goes.append(first + step * turn < end)
        place, runs = access.place.at(turns), all_of(goes)
        kinds = self.program.symbols.kinds
        named = {**symbols_of(*place.exprs()), **symbols_of(runs)}
        own: dict[str, IntLike] = {
            n: symbol(f"{n} of lane {self.number}", a.lo, a.hi) for n, a in named.items()
            if kinds.get(n) not in ON_ALL_CORES}
        own[LANE] = self.number
        return place.at(own), substitute_cond(runs, own)


def lanes_of(program: AccessProgram) -> tuple[Lane, Lane]:
    return Lane(program, 0), Lane(program, 1)


def pairs_of_lanes(program: AccessProgram, foreign: Set[Hashable], target: Target) -> Iterator[tuple[Access, Access]]:
    """Writes to global memory, each with the reads of the same tensor, and with the writes by other ops if the lane
    tells where one is."""
    found = [a for own in accesses_of(program, target).values() for a in own
             if is_global(a) and a.step.op not in foreign]
    placed = [LANE in related(program.symbols, through_loops(a.step, a.names)) for a in found]
    for (i, a), (k, b) in product(enumerate(found), repeat=2):
        if a.writes and a.place.arena == b.place.arena and (
                not b.writes or (i < k and a.step is not b.step and (placed[i] or placed[k]))):
            yield a, b
