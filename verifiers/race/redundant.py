"""Sync that orders nothing which is not ordered anyway. A remark, not a verdict: it costs time and breaks nothing."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import TRUE, Cond
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from verifiers.access import AccessProgram
from verifiers.flags import cores_of
from verifiers.race.flow import Flow
from verifiers.race.items import Item
from verifiers.race.sync import Kind, Sync, is_manual, sync_of
from verifiers.race.walker import Core, Pair
from verifiers.sites import op_text
from verifiers.solver import Ladder

_MOST_WORK = 30_000
"""Steps of a function times sync ops, up to which redundant ones are looked for."""


@dataclass(frozen=True, slots=True)
class Redundant:
    """Sync ops that may go, all together. `loops`: how deep they stand, the deepest of them."""

    syncs: tuple[Sync, ...]
    loops: int

    def text(self, program: AccessProgram) -> str:
        """One line: what may go, where, and what it costs."""
        first = self.syncs[0]
        lines = " and ".join(dict.fromkeys(str(program.location(s.step.op).line) for s in self.syncs))
        pipes = " -> ".join(first.pair) if first.kind is Kind.SET else first.pipe or "all pipes"
        what = f"{op_text(first.step.op)} {pipes}" if first.kind is not Kind.SET else f"flag {pipes}"
        often = "once" if not self.loops else f"in each iteration of {self.loops} nested loops" if self.loops > 1 else (
            "in each iteration")
        return f"redundant sync: {what} (line {lines}) orders nothing that is not ordered anyway; it runs {often}"


def unexamined(program: AccessProgram, target: Target, explicit: bool = False) -> str:
    """Why `redundant` does not look at a function that orders its own pipes; '' if it does. `explicit`: it is judged as
    it stands though it has barriers alone."""
    syncs = sum(sync_of(step, target) is not None for step in program.steps)
    if len(program.steps) * syncs <= _MOST_WORK or not (explicit or is_manual(program)):
        return ""
    return f"{syncs} sync ops among {len(program.steps)} ops are too many to leave them out in turn"


def redundant(
    program: AccessProgram, target: Target, ladder: Ladder, strict: bool = False, assumed: Cond = TRUE,
    explicit: bool = False,
) -> list[Redundant]:
    """What may go where `assumed` holds, one group at a time; nothing where an order is missing, where an access is not
    modelled, or for functions that are left `unexamined`. A barrier after the last op that runs on a pipe is not looked
    at: what follows may rely on it."""
    found: list[Redundant] = []
    if program.gaps or not all(step.modelled for step in program.steps) or unexamined(program, target, explicit):
        return found
    for foreign in cores_of(program).values() if explicit or is_manual(program) else ():
        whole = Flow(Core(program, target, strict, frozenset(foreign)), ladder, assumed)
        if not _in_order(whole):
            return []
        last = max((s.index for s in program.steps if s.op not in foreign and any(p.pipe for p in s.phases)), default=0)
        looked_at = [
            s for s in whole.syncs.values() if s.step.index < last or s.step.loops or s.kind in (Kind.SET, Kind.WAIT)]
        for group in _groups(looked_at):
            skip = frozenset(s.step.index for s in group)
            if _may_go(Core(program, target, strict, frozenset(foreign), skip), ladder, assumed):
                found.append(Redundant(group, max(len(s.step.loops) for s in group)))
    return found


class _NeededError(Exception):
    """A pair of accesses is open."""


class _Without(Flow):
    """A walk that ends where the first pair is open."""

    def found_open(self, pair: Pair, earlier: Item, later: Item) -> None:
        raise _NeededError


def _may_go(rest: Core, ladder: Ladder, assumed: Cond) -> bool:
    try:
        return _in_order(_Without(rest, ladder, assumed))
    except _NeededError:
        return False


def _in_order(flow: Flow) -> bool:
    """Whether every pair of accesses is ordered and, in the stricter reading, each flag set behind the wait before."""
    return not flow.blind and not any(p.open for p in flow.pairs.values()) and not any(
        a.open for a in flow.again.values())


def _groups(syncs: list[Sync]) -> Iterator[tuple[Sync, ...]]:
    """What can go together: a barrier of a core's own pipes, which other cores do not wait for; a set with the wait
    that follows it in the same region; else all uses of a pair of pipes."""
    pairs: dict[tuple[str, str], list[Sync]] = {}
    for sync in syncs:
        if sync.kind in (Kind.BARRIER, Kind.DRAIN):
            if sync.step.op.name != "pto.syncall":
                yield (sync,)
        elif sync.kind in (Kind.SET, Kind.WAIT):
            pairs.setdefault(sync.pair, []).append(sync)
    for uses in pairs.values():
        keys: dict[object, list[Sync]] = {}
        for use in uses:
            fixed = use.id is not None and use.id.value is not None
            keys.setdefault(use.id.value if fixed and use.id is not None else None, []).append(use)
        for group in [uses] if None in keys else keys.values():
            yield from _couples(group)


def _couples(uses: list[Sync]) -> Iterator[tuple[Sync, ...]]:
    in_turn = len(uses) % 2 == 0 and all(
        a.kind is Kind.SET and b.kind is Kind.WAIT and a.step.region == b.step.region
        for a, b in zip(uses[::2], uses[1::2], strict=True))
    if in_turn:
        yield from zip(uses[::2], uses[1::2], strict=True)
    elif uses:
        yield tuple(uses)
