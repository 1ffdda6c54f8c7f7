"""Whether the two ends of pipes in both directions wait for each other: each core runs its transfers in their order, a
pop waits for the push of its tile, a push for its slot, and the run ends where neither can go on.

A pop that waits holds back its whole core on a2a3 (`wait_flag_dev`). On a5 it holds back one pipe, so a run that ends
here may go on there; one that does not end here does not end there either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.targets.fifo import LEDGERS
from verifiers.access import BLOCK, BLOCKS, AccessProgram, Branch, Loop, Node, Sequence, Step
from verifiers.fifo_counts import runs
from verifiers.pipes import LANE, Peer
from verifiers.race.values import Values
from verifiers.recurrence import counted, trips
from verifiers.sites import op_text

PUSHES = {"pto.tpush_to_aiv": "aiv", "pto.tpush_to_aic": "aic"}
POPS = {"pto.tpop_from_aic": "aiv", "pto.tpop_from_aiv": "aic"}
OPS = (*PUSHES, *POPS)
TRIED = (1, 2, 3, 0)
MOST_TRANSFERS = 2_000
"""Transfers of one core that are followed."""


@dataclass(frozen=True, slots=True, eq=False)
class Stuck:
    """A run in which both cores wait. `given`: the sizes of it; `own`, `other`: the transfers that wait, with lines."""

    given: Mapping[str, int]
    own: tuple[str, int]
    other: tuple[str, int]


@lru_cache(maxsize=16)
def stuck(own: AccessProgram, peer: Peer, lane: int, slots: tuple[tuple[int, int], ...]) -> tuple[Stuck, ...]:
    """Runs in which a lane and its cube wait for each other; `slots` of each pipe. Sizes are small ones and ones past
    the slots: what is not found is not proved for all. None are looked for where no pipe leads back, or where a
    transfer depends on more than the sizes that both cores know."""
    if not both_ways(own) or not both_ways(peer.program):
        return ()
    names: set[str] = set()
    for program in (own, peer.program):
        for op, pipe in {(s.op.name, pipe_id(s.op)) for s in program.steps if s.op.name in OPS}:
            count = runs(program, op, pipe, lane)
            if count.why or not count.names() <= peer.shared or BLOCKS in count.names():
                return ()
            names |= count.names()
    most = max(n for _, n in slots)
    sizes = dict.fromkeys((*TRIED, most + 1, 2 * most + 2)) if names else (0,)
    found = (_run((own, peer.program), sized(names, n), lane, dict(slots)) for n in sizes)
    return tuple(s for s in found if s is not None)


def both_ways(program: AccessProgram) -> bool:
    """Whether a core both pushes and pops."""
    return len({way(s.op.name) for s in program.steps if s.op.name in OPS}) > 1


def sized(names: set[str], n: int) -> dict[str, int]:
    """All sizes of a run; it is that of the first block, which every launch has."""
    return {name: 0 if name == BLOCK else n for name in names}


def way(op: str) -> str:
    return PUSHES.get(op) or POPS[op]


def _run(
    programs: tuple[AccessProgram, AccessProgram], given: dict[str, int], lane: int, slots: Mapping[int, int]
) -> Stuck | None:
    """Both cores as far as they get; which of them goes first makes no difference to where they end."""
    cores = [list(islice(in_order(p.body, Values(p, {**given, LANE: lane})), MOST_TRANSFERS + 1)) for p in programs]
    if max(map(len, cores)) > MOST_TRANSFERS:
        return None
    ledger = LEDGERS["a2a3"]
    at, pushed, popped = [0, 0], Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    moved = True
    while moved:
        moved = False
        for core, steps in enumerate(cores):
            while at[core] < len(steps):
                op = steps[at[core]].op
                pipe = (way(op.name), pipe_id(op))
                if op.name in PUSHES:
                    credits = ledger.credits(slots[pipe[1]], pushed[pipe] + 1, popped[pipe]).value
                    if credits is None or credits < 0:
                        break
                    pushed[pipe] += 1
                elif popped[pipe] < pushed[pipe]:
                    popped[pipe] += 1
                else:
                    break
                at[core] += 1
                moved = True
    if any(i == len(steps) for i, steps in zip(at, cores, strict=True)):
        return None
    own, other = (
        (op_text(steps[i].op), p.location(steps[i].op).line)
        for p, i, steps in zip(programs, at, cores, strict=True))
    return Stuck(given, own, other)


def in_order(node: Node, values: Values) -> Iterator[Step]:
    """The transfers of a run in their order."""
    if isinstance(node, Step):
        if node.op.name in OPS:
            yield node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from in_order(item, values)
    elif isinstance(node, Branch):
        yield from in_order(node.then if values.holds(node.cond) else node.orelse, values)
    elif _moves(node):
        own, turns = counted(node), trips(node)
        for k in range(values.of(turns)) if turns is not None else ():
            if own is not None:  # a loop of one iteration at most has no counter
                values[own.name] = values.of(own.base) + k
            yield from in_order(node.body, values)
        if own is not None:
            values.pop(own.name, None)


def _moves(loop: Loop) -> bool:
    """Whether a loop transfers anything."""
    todo: list[Node] = [loop.body]
    while todo:
        node = todo.pop()
        if isinstance(node, Step):
            if node.op.name in OPS:
                return True
        elif isinstance(node, Sequence):
            todo += node.items
        elif isinstance(node, Branch):
            todo += (node.then, node.orelse)
        else:
            todo.append(node.body)
    return False
