"""What walks over a function have in common: the sync ops and accesses of its steps, and what each does to the order of
the pipes. `flow` walks all runs at once, `runs` one at a time."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

from pypto_verified.targets import Target
from pypto_verified.targets.pipes import Hazard, ordered_on_pipe
from verifiers.access import AccessProgram
from verifiers.race.accesses import Access, accesses_of
from verifiers.race.items import Item, Items
from verifiers.race.order import Order
from verifiers.race.places import Place
from verifiers.race.sync import Kind, Sync, sync_of

PairKey: TypeAlias = tuple[int, int, Hazard]
"""Steps of the earlier and the later access, and how they conflict."""


@dataclass(slots=True, eq=False)
class Pair:
    """Two accesses that may share a byte. `open`: the pipes of both, where nothing orders them on some path."""

    first: Access
    second: Access
    hazard: Hazard
    open: set[tuple[str, str]] = field(default_factory=set)

    @property
    def key(self) -> PairKey:
        return (self.first.step.index, self.second.step.index, self.hazard)

    @property
    def fails(self) -> bool:
        """Whether it is open on the pipes that the rows of the ops name."""
        return (self.first.pipe, self.second.pipe) in self.open


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """The steps of one core. `foreign`: ops that stand in another core's section; `skip`: steps that are left out, to
    see what they are for."""

    program: AccessProgram
    target: Target
    strict: bool = False
    foreign: frozenset[Hashable] = frozenset()
    skip: frozenset[int] = frozenset()


class Walker:
    """Pairs of conflicting accesses, and the state before and after each step."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.program = core.program
        self.pairs: dict[PairKey, Pair] = {}
        self.blind = ""
        steps = [s for s in core.program.steps if s.op not in core.foreign]
        accesses = accesses_of(core.program, core.target.name)
        self.accesses = {s.index: accesses[s.index] for s in steps if s.index in accesses}
        self.syncs = {
            s.index: y for s in steps if s.index not in core.skip and (y := sync_of(s, core.target)) is not None}
        self.items = Items(self.meet)

    def meet(self, a: Place, b: Place) -> bool:
        """Whether two places may share a byte."""
        raise NotImplementedError

    @property
    def scalar_issues(self) -> bool:
        """Assumption SCALAR-ISSUES."""
        return not self.core.strict

    def apply(self, sync: Sync, id: int | None, order: Order) -> None:
        """A sync op; `id` None: not known here."""
        kind, on_pipe = sync.kind, self.items.on_pipe
        if kind is Kind.DRAIN:
            order.drain()
        elif kind is Kind.BARRIER:
            order.barrier(sync.pipe, on_pipe[sync.pipe], self.scalar_issues)
        elif id is None:
            self.blind = self.blind or f"the id at line {sync.step.op.line} is not expressed"
        elif kind is Kind.SET:
            order.set((sync.pair, id), sync.pipe, on_pipe[sync.pipe])
        elif kind is Kind.WAIT:
            order.wait((sync.pair, id), sync.pipe, self.scalar_issues)
        elif kind is Kind.RELEASE:
            order.set(id, sync.pipe, on_pipe[sync.pipe])
        else:
            order.wait(id, sync.pipe, self.scalar_issues, keep=True)

    def touch(self, phases: list[tuple[Item, ...]], order: Order) -> None:
        """The accesses of a step, phase by phase; each phase of an op waits for the one before."""
        before = ""
        for phase in phases:
            pipe = phase[0].access.pipe
            if before and before != pipe:
                order.hand_over(before, pipe, self.items.on_pipe[before], self.scalar_issues)
            before, gone, bits = pipe, 0, 0
            for item in phase:
                found = self.items.conflicts(item, order.live)
                if found:
                    self._compare(found, order.waits_for(item.pipe), item)
                    gone |= self.items.overwritten(item, found)
            if gone:
                order.overwrite(gone)
            for item in phase:
                bits |= 1 << item.bit
            order.issue(bits)

    def _compare(self, found: int, pending: int, later: Item) -> None:
        for earlier in self.items.of(found):
            first, second = earlier.access, later.access
            hazard = _hazard(first, second)
            key = (first.step.index, second.step.index, hazard)
            pair = self.pairs.get(key)
            if pair is None:
                pair = self.pairs[key] = Pair(first, second, hazard)
            if not pending >> earlier.bit & 1:
                continue
            if first.step is second.step and earlier.pipe != later.pipe and len(first.readings) > 1:
                continue  # one op runs on one pipe, whichever that is
            if earlier.pipe == later.pipe and ordered_on_pipe(
                    self.core.target, later.pipe, hazard, self.core.strict):
                continue
            pair.open.add((earlier.pipe, later.pipe))
            self.found_open(pair, earlier, later)

    def found_open(self, pair: Pair, earlier: Item, later: Item) -> None:
        """Called where nothing orders a pair."""


def _hazard(first: Access, second: Access) -> Hazard:
    if first.writes:
        return Hazard.WAW if second.writes else Hazard.RAW
    return Hazard.WAR
