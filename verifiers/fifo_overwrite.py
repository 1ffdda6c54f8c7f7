"""Whether a tile that waits in its ring is overwritten by one that is pushed into another ring over the same bytes: all
orders in which a lane and its cube may go through their transfers are tried, with small sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice

from pypto_verified.index import Cond
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.records import dataclass
from pypto_verified.targets.fifo import LEDGERS
from verifiers.access import BLOCKS, AccessProgram, Step
from verifiers.fifo_counts import runs
from verifiers.fifo_mirror import OPS, PUSHES
from verifiers.fifo_turns import TRIED, in_order, sized, way
from verifiers.pipes import LANE, Peer
from verifiers.race.values import Values

MOST_STATES = 20_000
"""Pairs of places in the two cores that are looked at for one size."""
_MOST_TRANSFERS = 2_000
Way = tuple[str, int]
"""Where the tiles of a ring go ('aiv' or 'aic'), and the pipe."""


@dataclass(frozen=True, slots=True)
class Ring:
    """The slots of one direction of a pipe: `slots` of `size` bytes, the first at byte `start`."""

    way: Way
    start: int
    slots: int
    size: int

    def meets(self, number: int, other: Ring, theirs: int) -> bool:
        """Whether the slot of tile `number` shares bytes with that of tile `theirs` of another ring."""
        mine = self.start + number % self.slots * self.size
        place = other.start + theirs % other.slots * other.size
        return mine < place + other.size and place < mine + self.size


@dataclass(frozen=True, slots=True)
class Overwritten:
    """`push` writes over a tile that `victim` pushed, before it is popped; `given`: the sizes of the run."""

    given: Mapping[str, int]
    push: Step
    victim: Step


@dataclass(frozen=True, slots=True)
class Tried:
    """What was found, or `why` the pipes stay undecided."""

    found: Overwritten | None = None
    why: str = (
        "no push overwrites a tile that waits, but whether one comes before a pop has read its slot is not followed")


def overwritten(
    own: AccessProgram, peer: Peer, slots: Mapping[int, int], rings: tuple[Ring, Ring], background: Cond
) -> Tried:
    """Looks for such a push in lane 0 and its cube; `slots` of each pipe; sizes are such that `background` holds."""
    programs = own, peer.program
    names: set[str] = set()
    for program in programs:
        for op, pipe in {(s.op.name, pipe_id(s.op)) for s in program.steps if s.op.name in OPS}:
            count = runs(program, op, pipe, 0)
            if count.why or not count.names() <= peer.shared or BLOCKS in count.names():
                return Tried(why=count.why or "the ends count by values of their own")
            names |= count.names()
    most = max(ring.slots for ring in rings)
    for n in dict.fromkeys((*TRIED, most + 1, 2 * most + 2)) if names else (0,):
        given = sized(names, n)
        values = [Values(p, {**given, LANE: 0}) for p in programs]
        if not _allowed(values[0], background):
            continue
        cores = [
            list(islice(in_order(p.body, v), _MOST_TRANSFERS + 1)) for p, v in zip(programs, values, strict=True)]
        if any(not v.asked <= given.keys() for v in values):
            return Tried(why="which transfers take place is decided by what the cores read")
        tried = _explored(cores, given, slots, rings)
        if tried.found is not None or not names:
            return tried
    return Tried(why="with small sizes no push overwrites a tile that waits; for all sizes that is not followed")


def _allowed(values: Values, background: Cond) -> bool:
    """Whether sizes are not ruled out."""
    try:
        return values.holds(background)
    except ZeroDivisionError:
        return False


def _explored(
    cores: Sequence[Sequence[Step]], given: Mapping[str, int], slots: Mapping[int, int], rings: tuple[Ring, Ring]
) -> Tried:
    done = [_prefixes(steps) for steps in cores]
    todo, seen = [(0, 0)], {(0, 0)}
    while todo:
        if len(seen) > MOST_STATES:
            return Tried(why="there are too many transfers")
        at = todo.pop()
        counts = done[0][at[0]] + done[1][at[1]]
        for core, steps in enumerate(cores):
            if at[core] == len(steps) or not _goes(steps[at[core]], counts, slots):
                continue
            victim = _victim(cores, steps[at[core]], counts, rings)
            if victim is not None:
                return Tried(Overwritten(given, steps[at[core]], victim))
            following = (at[0] + 1, at[1]) if core == 0 else (at[0], at[1] + 1)
            if following not in seen:
                seen.add(following)
                todo.append(following)
    return Tried()


def _prefixes(steps: Sequence[Step]) -> list[Counter[tuple[Way, bool]]]:
    """How often each ring was pushed to (True) and popped from before each transfer, and after the last."""
    found = [Counter[tuple[Way, bool]]()]
    for step in steps:
        found.append(found[-1].copy())
        found[-1][_way(step), step.op.name in PUSHES] += 1
    return found


def _way(step: Step) -> Way:
    return way(step.op.name), pipe_id(step.op)


def _goes(step: Step, counts: Counter[tuple[Way, bool]], slots: Mapping[int, int]) -> bool:
    """Whether a core can go on with its next transfer: a push takes a credit, a pop a tile."""
    ring = _way(step)
    pushed, popped = counts[ring, True], counts[ring, False]
    if step.op.name not in PUSHES:
        return popped < pushed
    credits = LEDGERS["a2a3"].credits(slots[ring[1]], pushed + 1, popped).value
    return credits is not None and credits >= 0


def _victim(
    cores: Sequence[Sequence[Step]], step: Step, counts: Counter[tuple[Way, bool]], rings: tuple[Ring, Ring]
) -> Step | None:
    """The push of a tile that still waits where `step` is about to push."""
    for ring, other in (rings, rings[::-1]):
        if step.op.name not in PUSHES or _way(step) != ring.way:
            continue
        number = counts[ring.way, True]
        for theirs in range(counts[other.way, False], counts[other.way, True]):
            if ring.meets(number, other, theirs):
                pushes = [s for steps in cores for s in steps if s.op.name in PUSHES and _way(s) == other.way]
                return pushes[theirs]
    return None
