"""Whether the two ends of several pipes wait for each other: each core runs its transfers in their order, a pop waits
for the push of its tile, a push for its slot, and the run ends where neither can go on.

A pop that waits holds back its whole core on a2a3 (`wait_flag_dev`). On a5 it holds back one pipe, so a run that ends
here may go on there; one that does not end here does not end there either. Where a pop hands out the slot itself, a
slot is free when its tile is freed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice

from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from verifiers.access import BLOCK, BLOCKS, AccessProgram, Branch, Loop, Node, Sequence, Step
from verifiers.fifo_counts import runs
from verifiers.fifo_mirror import MOST_TRANSFERS, OPS, POPS, PUSHES, Pipes, Ring, ended, gets_through, ring_of
from verifiers.pipes import LANE, Peer, used
from verifiers.race.copied import copied
from verifiers.race.paths import nodes
from verifiers.race.values import Values
from verifiers.recurrence import counted, trips
from verifiers.sites import op_text

TRIED = (1, 2, 3, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Stuck:
    """A run in which both cores wait. `given`: the sizes of it; `own`, `other`: the transfers that wait, with lines."""

    given: Mapping[str, int]
    own: tuple[str, int]
    other: tuple[str, int]


@lru_cache(maxsize=16)
def stuck(
    own: AccessProgram, peer: Peer, lane: int, slots: tuple[tuple[int, int], ...], chip: Target
) -> tuple[Stuck, ...]:
    """Runs in which a lane and its cube wait for each other; `slots` of each pipe. Sizes are small ones and ones past
    the slots: what is not found is not proved for all. None are looked for where the ends share one ring at most, or
    where a transfer depends on more than the sizes that both cores know."""
    if not several(own) or rings(own) != rings(peer.program):
        return ()
    names: set[str] = set()
    for program in (own, peer.program):
        for op, pipe in {(s.op.name, pipe_id(s.op)) for s in program.steps if s.op.name in OPS}:
            count = runs(program, op, pipe, lane)
            if count.why or not count.names() <= peer.shared or BLOCKS in count.names():
                return ()
            names |= count.names()
    most, pipes = max(n for _, n in slots), _pipes((own, peer.program), slots, chip)
    sizes = dict.fromkeys((*TRIED, most + 1, 2 * most + 2)) if names else (0,)
    found = (_run((own, peer.program), sized(names, n), lane, pipes) for n in sizes)
    return tuple(s for s in found if s is not None)


@lru_cache(maxsize=16)
def unsure(
    own: AccessProgram, peer: Peer, lane: int, slots: tuple[tuple[int, int], ...], chip: Target
) -> str:
    """What keeps a lane and its cube from being sure to get through, '' if nothing does."""
    if rings(own) != rings(peer.program):
        return f"what else {peer.program.func.name} waits for is not followed"
    if not several(own) or gets_through(
            own, peer, lane, _pipes((own, peer.program), slots, chip)):
        return ""
    return "whether the two ends wait for each other was only tried for small sizes, not for all data and all sizes"


def _pipes(programs: Iterable[AccessProgram], slots: tuple[tuple[int, int], ...], chip: Target) -> Pipes:
    return Pipes(dict(slots), frozenset(
        (way(op), pipe) for program in programs for op in POPS for pipe in used(program, op)
        if copied(program, op, pipe, chip)))


def several(program: AccessProgram) -> bool:
    """Whether a core moves tiles through more than one ring."""
    return len(rings(program)) > 1


def rings(program: AccessProgram) -> set[Ring]:
    return {ring_of(s) for s in program.steps if s.op.name in OPS}


def sized(names: set[str], n: int) -> dict[str, int]:
    """All sizes of a run; it is that of the first block, which every launch has."""
    return {name: 0 if name == BLOCK else n for name in names}


def way(op: str) -> str:
    return PUSHES.get(op) or POPS[op]


def _run(
    programs: tuple[AccessProgram, AccessProgram], given: dict[str, int], lane: int, pipes: Pipes
) -> Stuck | None:
    values = [Values(p, {**given, LANE: lane}) for p in programs]
    orders = (in_order(p.body, v, pipes.moves) for p, v in zip(programs, values, strict=True))
    cores = [list(islice(steps, MOST_TRANSFERS + 1)) for steps in orders]
    if max(map(len, cores)) > MOST_TRANSFERS or any(not v.asked <= given.keys() for v in values):
        return None  # too long, or one run of several that what is read decides between
    at = ended(cores, pipes, {})
    if at is None or any(i == len(steps) for i, steps in zip(at, cores, strict=True)):
        return None
    own, other = (
        (op_text(steps[i].op), p.location(steps[i].op).line)
        for p, i, steps in zip(programs, at, cores, strict=True))
    return Stuck(given, own, other)


def _transfers(step: Step) -> bool:
    return step.op.name in OPS


def in_order(node: Node, values: Values, moves: Callable[[Step], bool] = _transfers) -> Iterator[Step]:
    """The transfers of a run in their order, or what else `moves`."""
    if isinstance(node, Step):
        if moves(node):
            yield node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from in_order(item, values, moves)
    elif isinstance(node, Branch):
        if _moves(node, moves):
            values.decide(node.cond)
        yield from in_order(node.then if values.holds(node.cond) else node.orelse, values, moves)
    elif _moves(node, moves):
        own, turns = counted(node), trips(node)
        if turns is not None:
            values.decide(turns)
        for k in range(values.of(turns)) if turns is not None else ():
            if own is not None:  # a loop of one iteration at most has no counter
                values[own.name] = values.of(own.base) + k
            yield from in_order(node.body, values, moves)
        if own is not None:
            values.pop(own.name, None)


def _moves(node: Loop | Branch, moves: Callable[[Step], bool]) -> bool:
    """Whether anything in a loop or branch does."""
    return any(isinstance(inner, Step) and moves(inner) for inner in nodes(node))
