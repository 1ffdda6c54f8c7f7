"""What of a function matters to a run that looks for a failure: accesses that have to do with the pairs in question,
and what orders or counts. The rest is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from pypto_verified.index import Cond, Expr, symbols_of
from pypto_verified.targets.pipes import cross_flag
from verifiers.access import Branch, Node, Sequence, Step
from verifiers.race.walker import Core, Pair, PairKey, steps_of
from verifiers.solver.cone import names_of, split_by_relevance


def related(core: Core, pairs: Mapping[PairKey, Pair], asked: Iterable[PairKey | tuple[int, int]]) -> frozenset[int]:
    """The steps of the pairs that are asked for, those that may overwrite what they touch, and those that hand an order
    over or take slots in turn, whatever they touch."""
    wanted = {step for key in asked for step in key[:2]}
    found = wanted.union(*(pair[:2] for pair in pairs if not wanted.isdisjoint(pair[:2])))
    accesses, _ = steps_of(core)
    for step in core.program.steps:
        own = accesses.get(step.index, ())
        if len({a.phase for a in own}) > 1 or step.made is not None or any(a.releases for a in own):
            found.add(step.index)
    return frozenset(found)


@lru_cache(maxsize=2)
def named(core: Core, background: Cond) -> frozenset[str]:
    """The names that may make a difference to a run: those of the places and extents of the accesses that count, of
    ids, of the branches and loops around them, and what the background ties to these."""
    accesses, syncs = steps_of(core)
    exprs: list[Expr] = []
    conds: list[Cond] = []
    for step in core.program.steps:
        counts = step.index in accesses or step.index in syncs or _between_cores(step, core)
        for loop in step.loops:
            if counts or loop.carried:
                exprs += [b for b in (loop.lower, loop.upper, loop.step) if b is not None]
                conds.append(loop.inside)
        if counts:
            conds.append(step.path)
            exprs += [o for own in step.operands.values() for o in own if isinstance(o, Expr)]
        for access in accesses.get(step.index, ()):
            exprs += access.place.exprs()
            exprs += [access.tile.valid_rows, access.tile.valid_cols] if access.tile is not None else []
    handed = dict.fromkeys(c for step in core.program.steps for loop in step.loops for c in loop.carried)
    for part in (p for c in handed for p in (c.start, c.following) if p is not None):
        if isinstance(part, Cond):
            conds.append(part)
        else:
            exprs.append(part)
    found = frozenset[str]().union(*map(names_of, conds), *map(symbols_of, exprs))
    return split_by_relevance(background, found)[2]


def _between_cores(step: Step, core: Core) -> bool:
    return cross_flag(step.op.name, core.target.name) is not None


@lru_cache(maxsize=2)
def busy(core: Core) -> Mapping[int, tuple[Node, ...]]:
    """What to walk of each sequence (by identity) that holds something that matters; branches and loops that hold
    nothing of it are not among them."""
    found: dict[int, tuple[Node, ...]] = {}
    _enter(core.program.body, core, found)
    return found


def _enter(node: Node, core: Core, found: dict[int, tuple[Node, ...]]) -> bool:
    """Whether a node matters."""
    if isinstance(node, Step):
        accesses, syncs = steps_of(core)
        return node.index in accesses or node.index in syncs or _between_cores(node, core)
    if isinstance(node, Sequence):
        kept = tuple(item for item in node.items if _enter(item, core, found))
        found[id(node)] = kept
        return bool(kept)
    if isinstance(node, Branch):
        then, orelse = _enter(node.then, core, found), _enter(node.orelse, core, found)
        return then or orelse
    return _enter(node.body, core, found) or bool(node.carried or node.results)

