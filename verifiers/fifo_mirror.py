"""Whether two ends of several pipes get through for all sizes: both do their transfers in the same loops and branches,
and what stands between those gets through alone, with empty pipes before and after it.

Where a run of each piece at both ends ends with empty pipes, so does one of the whole; and where one order of the two
cores ends, all do, as each core only waits for what the other one does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import TypeAlias, Union

from pypto_verified.index import Cond, Expr, IntLike, substitute, substitute_cond, symbol, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.records import dataclass
from pypto_verified.targets.fifo import first_wait, period, posts, waited
from verifiers.access import AccessProgram, Branch, Node, Step
from verifiers.access import Sequence as Nodes
from verifiers.pipes import LANE, Peer
from verifiers.recurrence import counted, trips
from verifiers.solver.cone import names_of

PUSHES = {"pto.tpush_to_aiv": "aiv", "pto.tpush_to_aic": "aic"}
POPS = {"pto.tpop_from_aic": "aiv", "pto.tpop_from_aiv": "aic"}
FREES = {"pto.tfree_from_aic": "aiv", "pto.tfree_from_aiv": "aic"}
OPS = (*PUSHES, *POPS)
MOST_TRANSFERS = 2_000
"""Transfers of one core that are followed."""
_MOST_STARTS = 256
"""Numbers of tiles that pipes may have had before, up to a period, that are told apart."""
Ring: TypeAlias = tuple[str, int]
"""Where the tiles go ('aiv' or 'aic'), and the pipe."""


@dataclass(frozen=True, slots=True)
class Pipes:
    """`slots` of each pipe, and the rings of which a pop gives the slot back by itself; of others a free does."""

    slots: Mapping[int, int]
    copied: frozenset[Ring]

    def moves(self, step: Step) -> bool:
        """Whether a step has a part in what cores wait for."""
        return step.op.name in OPS or (step.op.name in FREES and ring_of(step) not in self.copied)


class _Unfollowed(Exception):
    """What decides over transfers is not known."""


@dataclass(frozen=True, slots=True)
class _Turns:
    times: Expr
    body: Parts


@dataclass(frozen=True, slots=True)
class _Choice:
    cond: Cond
    then: Parts
    orelse: Parts


Part: TypeAlias = Union[Step, _Turns, _Choice]
Parts: TypeAlias = tuple[Part, ...]


def ring_of(step: Step) -> Ring:
    name = step.op.name
    return PUSHES.get(name) or POPS.get(name) or FREES[name], pipe_id(step.op)


def gets_through(own: AccessProgram, peer: Peer, lane: int, pipes: Pipes) -> bool:
    """Whether a lane and its cube surely get through all of their transfers."""
    try:
        ours, theirs = (
            _parts(program.body, {LANE: lane, **reads}, 0, pipes)
            for program, reads in zip((own, peer.program), peer.reads, strict=True))
    except _Unfollowed:
        return False
    mine, yours = _steps(ours), _steps(theirs)
    if mine is not None and yours is not None:
        return ended((mine, yours), pipes, {}) is None
    return _mirrored(ours, theirs, peer.known, pipes)


def _parts(node: Node, known: Mapping[str, IntLike], depth: int, pipes: Pipes) -> Parts:
    """The transfers of a node, where `known` holds, within as many loops."""
    if isinstance(node, Step):
        return (node,) if pipes.moves(node) else ()
    if isinstance(node, Nodes):
        return tuple(part for item in node.items for part in _parts(item, known, depth, pipes))
    if isinstance(node, Branch):
        cond = substitute_cond(node.cond, known)
        then = () if cond is FALSE else _parts(node.then, known, depth, pipes)
        orelse = () if cond is TRUE else _parts(node.orelse, known, depth, pipes)
        if cond is TRUE or cond is FALSE:
            return then + orelse
        return then if _alike(then, orelse) else (_Choice(cond, then, orelse),)
    own, turns = counted(node), trips(node)
    turn = symbol(f"turn {depth}", 0)
    inner = {**known, own.name: substitute(own.base, known) + turn} if own is not None else known
    body = _parts(node.body, inner, depth + 1, pipes)
    if not body:
        return ()
    if turns is None or node.head:
        raise _Unfollowed
    times = substitute(turns, known)
    if times.value is None:
        return (_Turns(times, body),)
    unrolled: list[Part] = []
    for k in range(times.value):
        at = {**known, own.name: substitute(own.base, known) + k} if own is not None else known
        unrolled += _parts(node.body, at, depth + 1, pipes)
        if len(unrolled) > MOST_TRANSFERS:
            raise _Unfollowed
    # A condition on what each turn reads is another one in each turn: which of them meet is told by the loop.
    return tuple(unrolled) if _steps(tuple(unrolled)) is not None else (_Turns(times, body),)


def _steps(parts: Parts) -> list[Step] | None:
    """The transfers, where nothing decides about them."""
    steps = [part for part in parts if isinstance(part, Step)]
    return steps if len(steps) == len(parts) else None


def _alike(one: Parts, other: Parts) -> bool:
    a, b = _steps(one), _steps(other)
    return a is not None and b is not None and [_kind(s) for s in a] == [_kind(s) for s in b]


def _kind(step: Step) -> tuple[str, int]:
    return step.op.name, pipe_id(step.op)


def _mirrored(ours: Parts, theirs: Parts, shared: frozenset[str], pipes: Pipes) -> bool:
    """Whether both ends are made of the same loops and branches, and get through what stands between."""
    (runs, mine), (others, yours) = _cut(ours), _cut(theirs)
    return len(mine) == len(yours) and all(
        _empties(pair, pipes) for pair in zip(runs, others, strict=True)) and all(
        _same(a, b, shared, pipes) for a, b in zip(mine, yours, strict=True))


def _cut(parts: Parts) -> tuple[list[list[Step]], list[_Turns | _Choice]]:
    """(the transfers before, between and behind loops and branches; these)."""
    runs: list[list[Step]] = [[]]
    found: list[_Turns | _Choice] = []
    for part in parts:
        if isinstance(part, Step):
            runs[-1].append(part)
        else:
            found.append(part)
            runs.append([])
    return runs, found


def _same(a: _Turns | _Choice, b: _Turns | _Choice, shared: frozenset[str], pipes: Pipes) -> bool:
    def known(names: frozenset[str]) -> bool:
        return all(n in shared or n.startswith("turn ") for n in names)

    if isinstance(a, _Turns) and isinstance(b, _Turns):
        return a.times.uid == b.times.uid and known(frozenset(symbols_of(a.times))) and _mirrored(
            a.body, b.body, shared, pipes)
    if isinstance(a, _Choice) and isinstance(b, _Choice):
        return a.cond == b.cond and known(names_of(a.cond)) and _mirrored(
            a.then, b.then, shared, pipes) and _mirrored(a.orelse, b.orelse, shared, pipes)
    return False


def _empties(cores: tuple[list[Step], list[Step]], pipes: Pipes) -> bool:
    """Whether both cores get through these transfers, and leave the pipes empty, however many tiles went before."""
    rings, freed = Counter[Ring](), Counter[Ring]()
    for step in (s for steps in cores for s in steps):
        ring, name = ring_of(step), step.op.name
        rings[ring] += (name in PUSHES) - (name in POPS)
        freed[ring] += (name in POPS and ring not in pipes.copied) - (name in FREES)
    periods = {ring: period(pipes.slots[ring[1]]) for ring in rings}
    if any(rings.values()) or any(freed.values()) or prod(periods.values()) > _MOST_STARTS:
        return False
    # From the first credit that is waited for on, credits come and go alike in each period.
    starts = [range(n, n + every) for ring, every in periods.items() for n in (2 * first_wait(pipes.slots[ring[1]]),)]
    return all(ended(cores, pipes, dict(zip(rings, before, strict=True))) is None for before in product(*starts))


def ended(
    cores: Sequence[Sequence[Step]], pipes: Pipes, before: Mapping[Ring, int]
) -> tuple[int, ...] | None:
    """Both cores as far as they get: the transfers at which they wait, None if neither does; which of them goes first
    makes no difference. `before`: tiles that were pushed, popped and freed earlier."""
    slots = pipes.slots
    at, pushed, popped = [0] * len(cores), Counter(before), Counter(before)
    given = Counter({ring: n // period(slots[ring[1]]) for ring, n in before.items()})
    moved = True
    while moved:
        moved = False
        for core, steps in enumerate(cores):
            while at[core] < len(steps):
                name, ring = steps[at[core]].op.name, ring_of(steps[at[core]])
                if name in PUSHES:
                    due = waited(slots[ring[1]], pushed[ring] + 1).value
                    if due is None or due > given[ring]:
                        break
                    pushed[ring] += 1
                elif name in POPS and popped[ring] == pushed[ring]:
                    break
                else:
                    popped[ring] += name in POPS
                    # The last tile that was popped decides, whatever tile a free is for.
                    if name in FREES or ring in pipes.copied:
                        given[ring] += posts(slots[ring[1]], popped[ring] - 1) is True
                at[core] += 1
                moved = True
    return None if all(i == len(steps) for i, steps in zip(at, cores, strict=True)) else tuple(at)
