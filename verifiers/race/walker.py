"""What walks over a function have in common: the sync ops and accesses of its steps, and what each does to the order of
the pipes. `flow` walks all runs at once, `runs` one at a time."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field
from functools import lru_cache
from typing import TypeAlias

from pypto_verified.index import const, symbols_of
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import CACHE, SCALAR, Hazard, fences_between, ordered_on_pipe
from verifiers.access import AccessProgram, Rect, Step
from verifiers.race.accesses import Access, accesses_of, is_global
from verifiers.race.fills import beside
from verifiers.race.hearing import NOBODY, Hearing, told_of
from verifiers.race.items import Item, Items
from verifiers.race.members import POPS
from verifiers.race.order import Order
from verifiers.race.places import OnChip, Place
from verifiers.race.releases import releases_of
from verifiers.race.sync import Kind, Sync, sync_of
from verifiers.reaching import around
from verifiers.recurrence import counted

PairKey: TypeAlias = tuple[int, int, Hazard]
"""Steps of the earlier and the later access, and how they conflict."""


@dataclass(slots=True, eq=False)
class Pair:
    """Two accesses that may share a byte. `open`: the pipes of both, where nothing orders them on some path. `fences`:
    ops of which one must stand between them, `unseen`: whether none does on some path."""

    first: Access
    second: Access
    hazard: Hazard
    fences: tuple[str, ...] = ()
    open: set[tuple[str, str]] = field(default_factory=set)
    unseen: bool = False

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
    see what they are for; `hearing`: what another core answers; `kept`: steps whose accesses count, if not all do."""

    program: AccessProgram
    target: Target
    strict: bool = False
    foreign: frozenset[Hashable] = frozenset()
    skip: frozenset[int] = frozenset()
    hearing: Hearing = NOBODY
    kept: frozenset[int] | None = None


@dataclass(slots=True, eq=False)
class Notice:
    """A write to global memory and a notification that says it is there. `early`: no fence stands between on some
    path."""

    write: Access
    step: Step
    early: bool = False


@dataclass(slots=True, eq=False)
class Again:
    """A set of a flag and the wait for its last set. `open`: nothing keeps the set behind the wait on some path."""

    wait: Step
    set: Sync
    open: bool = False

    @property
    def key(self) -> tuple[int, int]:
        return (self.wait.index, self.set.step.index)


@lru_cache(maxsize=2)
def steps_of(core: Core) -> tuple[Mapping[int, tuple[Access, ...]], Mapping[int, Sync]]:
    """The accesses and the sync ops of a core's steps, by the step's index: once for all runs of the core."""
    steps = [s for s in core.program.steps if s.op not in core.foreign]
    every = {**accesses_of(core.program, core.target), **releases_of(core.program, core.target)}
    accesses = {
        s.index: every[s.index] for s in steps if s.index in every and (core.kept is None or s.index in core.kept)}
    syncs = {s.index: y for s in steps if s.index not in core.skip and (y := sync_of(s, core.target)) is not None}
    return accesses, syncs | {y.step.index: y for y in core.hearing.syncs(steps, core.target)}


_ANY_ID = -1
"""Stands for an id that is not known."""


class Walker:
    """Pairs of conflicting accesses, and the state before and after each step."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.program = core.program
        self.pairs: dict[PairKey, Pair] = {}
        self.notices: dict[tuple[int, int], Notice] = {}
        self.again: dict[tuple[int, int], Again] = {}
        self._waits: dict[int, Access] = {}
        self._waits_of: dict[tuple[tuple[str, str], int | None], int] = {}
        self.blind = ""
        self.accesses, self.syncs = steps_of(core)
        self.items = Items(self.meet)

    def start(self) -> Order:
        """The order before the first step: whoever hears of a set that has not run learns nothing."""
        return Order(flags={("told", told): 0 for told in self.core.hearing.told()})

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
            order.barrier(sync.pipe, on_pipe[sync.pipe])
        elif kind is Kind.FENCE:
            order.fence(on_pipe)
        elif kind is Kind.CLEAN:
            order.clean(on_pipe[SCALAR])
        elif kind is Kind.NOTIFY:
            self.notify(sync.step, order)
        elif kind is Kind.CALL:
            self.called(order)
        elif kind is Kind.TELL:
            # One of an id that is not known here leaves the older sets: they carry less.
            order.set(("told", told_of(sync.step, id, self.core.target)), sync.pipe, on_pipe[sync.pipe])
        elif kind is Kind.HEAR:
            for told in self.core.hearing.always.get(told_of(sync.step, id, self.core.target), ()):
                order.wait(("told", told), sync.pipe, True, keep=True)
        elif id is None:
            self.blind = self.blind or f"the id at line {self.program.location(sync.step.op).line} is not followed"
            if self.core.strict and kind is Kind.SET:
                self._set_again(sync, None, order)
            elif self.core.strict and kind is Kind.WAIT:
                self._waited(sync, None, order)
        elif kind is Kind.SET:
            if self.core.strict:
                self._set_again(sync, id, order)
            order.set((sync.pair, id), sync.pipe, on_pipe[sync.pipe])
        elif kind is Kind.WAIT and sync.pipe == sync.other and self.core.strict:
            order.flags.pop((sync.pair, id), None)  # the strict reading of SELF-FLAG
        elif kind is Kind.WAIT:
            order.wait((sync.pair, id), sync.pipe, self.scalar_issues)
            if self.core.strict:
                self._waited(sync, id, order)
        elif kind is Kind.RELEASE:
            order.release(id, sync.pipe, on_pipe[sync.pipe])
        else:
            order.wait(id, sync.pipe, self.scalar_issues, keep=True)

    def called(self, order: Order) -> None:
        """A function is called of which it is not known what it orders: a proof does not count on it."""

    def _waited(self, sync: Sync, id: int | None, order: Order) -> None:
        """A wait is remembered as an access to its flag, which ends when the wait has run; of an id that is not known
        it does not stand for the waits before."""
        key = (sync.pair, id)
        access = self._waits.get(sync.step.index)
        if access is None:
            access = self._waits[sync.step.index] = Access(
                -1 - sync.step.index, sync.step, 0, False, sync.pipe, (sync.pipe,), "", _flag(sync, 0), "", frozenset())
        bit = 1 << self.items.item(access, sync.pipe, _flag(sync, _ANY_ID if id is None else id), ()).bit
        known = self._waits_of.get(key, 0)
        if id is not None:
            order.overwrite(known & order.live)
        self._waits_of[key] = known | bit
        order.issue(bit, 0)

    def _set_again(self, sync: Sync, id: int | None, order: Order) -> None:
        waits = 0
        for (pair, waited), bits in self._waits_of.items():
            if pair == sync.pair and (id is None or waited is None or waited == id):
                waits |= bits
        for item in self.items.of(waits & order.live):
            key = (item.access.step.index, sync.step.index)
            again = self.again.setdefault(key, Again(item.access.step, sync))
            if order.waits_for(sync.pipe) >> item.bit & 1:
                again.open = True
                self.found_again(again)

    def found_again(self, again: Again) -> None:
        """Called where nothing keeps a set behind the wait before it."""

    def touch(self, phases: list[tuple[Item, ...]], order: Order) -> None:
        """The accesses of a step, phase by phase; each phase of an op waits for the one before."""
        if phases[0][0].access.releases:
            self.release(phases[0], order)
            return
        before = ""
        for phase in phases:
            pipe = phase[0].access.pipe
            if before and before != pipe:
                order.hand_over(before, pipe, self.items.on_pipe[before], self.scalar_issues)
            before, gone, bits = pipe, 0, 0
            for item in phase:
                found = self.items.conflicts(item, order.live)
                if found:
                    self._compare(found, order, item)
                    gone |= self.items.overwritten(item, found)
            if gone:
                order.overwrite(gone)
            for item in phase:
                bits |= 1 << item.bit
            order.issue(bits, bits & self.items.stores)

    def release(self, items: tuple[Item, ...], order: Order) -> None:
        """A slot is given back once all that its pipe has begun is complete. Nothing on this core comes after: the
        next write there is another core's."""
        for item in items:
            found = self.items.conflicts(item, order.live & ~self.items.on_pipe[item.pipe])
            if found:
                self._compare(found, order, item)

    def notify(self, step: Step, order: Order) -> None:
        """Whoever is told what `step` tells may read what has been written before."""
        for item in self.items.of(order.live & self.items.stores):
            key = (item.access.step.index, step.index)
            notice = self.notices.get(key)
            if notice is None:
                notice = self.notices[key] = Notice(item.access, step)
            if not item.access.scalar and order.unfenced >> item.bit & 1:
                notice.early = True

    def _compare(self, found: int, order: Order, later: Item) -> None:
        pending = order.waits_for(later.pipe)
        for earlier in self.items.of(found):
            first, second = earlier.access, later.access
            hazard = _hazard(first, second)
            if second.arrives or (first.arrives and second.releases):
                continue
            key = (first.step.index, second.step.index, hazard)
            pair = self.pairs.get(key)
            if pair is None:
                pair = self.pairs[key] = Pair(first, second, hazard, self._fences(first, second, hazard))
            if pair.fences:
                hidden = order.uncleaned if CACHE in pair.fences else order.unfenced
                if hidden >> earlier.bit & 1:
                    pair.unseen = True
                    self.found_unseen(pair, earlier, later)
            if not pending >> earlier.bit & 1:
                continue
            if first.step is second.step and earlier.pipe != later.pipe and len(first.readings) > 1:
                continue  # one op runs on one pipe, whichever that is
            if self._beside(first, second) or self._beside(second, first) or self.core.hearing.orders(first, second):
                continue
            if earlier.pipe == later.pipe and (first.arrives or _both_pop(first, second) or ordered_on_pipe(
                    self.core.target, later.pipe, hazard, self.core.strict)):
                continue  # what arrives the pipe has waited for, and writes nothing itself
            pair.open.add((earlier.pipe, later.pipe))
            self.found_open(pair, earlier, later)

    def _fences(self, first: Access, second: Access, hazard: Hazard) -> tuple[str, ...]:
        if hazard is not Hazard.RAW or not is_global(first):
            return ()
        writer, reader = ("scalar" if a.scalar else "bulk" for a in (first, second))
        return fences_between(writer, reader, self.core.strict)

    def _beside(self, fill: Access, other: Access) -> bool:
        """Whether a fill in place writes nothing of what the other one reads, in whichever iterations the two are."""
        if not fill.pads or other.writes or other.tile is None or not beside(fill.step, other.step, other.tile):
            return False
        extents = symbols_of(other.tile.valid_rows, other.tile.valid_cols)
        again = set(around(self.program, other.step)).intersection(around(self.program, fill.step)) if extents else ()
        counters = [counted(loop) for loop in again]
        return all(own is not None and self.program.symbols.is_older(n, own.name) for own in counters for n in extents)

    def found_unseen(self, pair: Pair, earlier: Item, later: Item) -> None:
        """Called where a read of global memory is not made to see the write."""

    def found_open(self, pair: Pair, earlier: Item, later: Item) -> None:
        """Called where nothing orders a pair."""


def _flag(sync: Sync, id: int) -> OnChip:
    """A flag as a place."""
    return OnChip(("flag", sync.pair), const(id), Rect(const(0), 1, 1, 1))


def _both_pop(first: Access, second: Access) -> bool:
    """Whether both bring tiles of one pipe: the later one into a slot that was given back, which the producer has
    waited for."""
    return first.step.op.name in POPS and first.step.op.name == second.step.op.name and (
        pipe_id(first.step.op) == pipe_id(second.step.op))


def _hazard(first: Access, second: Access) -> Hazard:
    if first.writes:
        return Hazard.WAW if second.writes else Hazard.RAW
    return Hazard.WAR
