"""What an op of a core that is walked with numbers does to what this core and the other one know of each other: flags
between cores, pushes and pops, meetings, sync within the core, and accesses to global memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Hashable
from itertools import product
from typing import TypeAlias

from pypto_verified.index import Cond, symbols_of
from pypto_verified.index.cond import FALSE
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import SCALAR
from verifiers.access import Step, SymbolKind
from verifiers.cross_flags import NamedFlag, named_flag, through_calls, two_channels
from verifiers.race.accesses import Access, accesses_of, held_by_pop, is_global
from verifiers.race.members import POPS, Member, meeting_of
from verifiers.race.order import PIPES
from verifiers.race.places import Place, apart
from verifiers.race.room import PUSHES, gives_slot, ledger_of, slots_of, takes_slot
from verifiers.race.sync import Kind, Sync, sync_of

Key: TypeAlias = tuple[str, int, str, int]
"""Kind of core and step of the earlier access, and of the later one."""


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """An access to global memory by a core, at a place."""

    bit: int
    member: Member
    access: Access
    place: Place


@dataclass(slots=True, eq=False)
class Between:
    """Two accesses of different cores that may share a byte, the earlier one in this run first. `open`: nothing orders
    them; `parted`: a meeting of both cores stands between in every run."""

    first: Touch
    second: Touch
    open: bool
    parted: bool = True


MOST_STEPS = 20_000


class Dealings:
    """What is known so far. Fields: see `Cluster`."""

    def __init__(
        self, members: list[Member], target: Target, symbolic: bool, automatic: bool, lane: int, eager: str = "",
        strict: bool = False, touches: bool = True,
    ) -> None:
        self._strict = strict
        self.members = sorted(members, key=lambda m: m.kind != eager)
        self._lane = lane
        self._ledger = ledger_of(target)
        self._eager = eager
        self.over: dict[int, Step] = {}
        self.target = target
        self.symbolic = symbolic
        self.automatic = automatic
        self.pairs: dict[Key, Between] = {}
        self.blind = next(filter(None, (through_calls(m.program, m.foreign, target) for m in members)), "")
        self.blind = self.blind or two_channels(
            (s for m in members for s in m.program.steps if s.op not in m.foreign), target)
        self.mixed = ""
        self.stuck = False
        self.waiting: dict[str, Step] = {}
        self._sets: dict[Hashable, deque[Step]] = {}
        self._touches: dict[Hashable, Touch] = {}
        self._at_places: dict[Hashable, Touch] = {}
        self._seen_outside: dict[tuple[str, int], bool] = {}
        self._all: list[Touch] = []
        self._on_pipe: dict[tuple[str, str], int] = {(m.kind, p): 0 for m in members for p in PIPES}
        self._tokens: dict[Hashable, deque[int]] = {}
        self._ends: dict[Hashable, str] = {}
        self._slots: dict[tuple[str, str, int], int] = {}
        self._met: dict[tuple[str, str], int] = {}
        self._epochs = {m.kind: 0 for m in members}
        self._when: dict[int, int] = {}
        self._left = MOST_STEPS
        self._accesses = {m.kind: accesses_of(m.program, target) if touches else {} for m in members}
        self._shared: dict[tuple[int, int], Cond] = {}

    @property
    def left(self) -> list[Step]:
        return [step for steps in self._sets.values() for step in steps]

    # One step

    def _step(self, member: Member, step: Step) -> Generator[None]:
        self._left -= 1
        flag = named_flag(step, self.target)
        if flag is not None:
            yield from self._flag(member, flag)
            return
        if step.op.name == "pto.syncall":
            yield from self._meet(member, step)
            return
        if takes_slot(step):
            yield from self._room(member, step)
        if step.op.name in POPS:
            key = ("fifo", member.pipe(step), member.kind)
            yield from self._wait(member, step, key, held_by_pop(step, member.program, self.target))
        if gives_slot(step, member.program, self.target):
            self._count_slot("given", member.other, member.pipe(step))
        sync = sync_of(step, self.target)
        if sync is not None:
            self._sync(member, sync)
        self._touch(member, step)
        if step.op.name in PUSHES:
            self._give(member, ("fifo", member.pipe(step), member.other), step.phases[0].pipe)

    def _sync(self, member: Member, sync: Sync) -> None:
        order, kind = member.order, sync.kind
        on_pipe = self._on_pipe.get((member.kind, sync.pipe), 0)
        if kind is Kind.DRAIN:
            order.gather(self._own(member))
        elif kind is Kind.BARRIER:
            order.barrier(sync.pipe, on_pipe)
        elif kind is Kind.FENCE:
            order.fence({p: self._on_pipe[member.kind, p] for p in PIPES})
        elif sync.id is not None and kind in (Kind.SET, Kind.WAIT):
            key = (sync.pair, member.values.of(sync.id))
            if kind is Kind.SET:
                order.set(key, sync.pipe, on_pipe)
            elif sync.pipe != sync.other or not self._strict:  # the strict reading of SELF-FLAG
                order.wait(key, sync.pipe, not self._strict)

    def _own(self, member: Member) -> int:
        found = 0
        for pipe in PIPES:
            found |= self._on_pipe[member.kind, pipe]
        return found

    def _touch(self, member: Member, step: Step) -> None:
        bits = 0
        for access in self._accesses[member.kind].get(step.index, ()):
            if is_global(access):
                touch = self._at(member, access)
                self._compare(touch)
                self._when[touch.bit] = self._epochs[member.kind]
                bits |= 1 << touch.bit
        if bits:
            for m in self.members:
                m.order.issue(bits, 0)
            for tokens in self._tokens.values():
                for i in range(len(tokens)):
                    tokens[i] |= bits

    def _at(self, member: Member, access: Access) -> Touch:
        numbers = () if self.symbolic else tuple(member.values[n] for n in access.names)
        again = (member.kind, access.number, numbers)
        found = self._touches.get(again)
        if found is None:
            place = member.marked(access.place) if self.symbolic else access.place.where(member.values)
            found = self._touches[again] = self._new(member, access, place)
        return found

    def _new(self, member: Member, access: Access, place: Place) -> Touch:
        """The access at a place where it has not been with these numbers: others may lead there too."""
        key = (member.kind, access.number, place.key())
        found = self._at_places.get(key)
        if found is None:
            found = self._at_places[key] = Touch(len(self._all), member, access, place)
            self._all.append(found)
            self._on_pipe[member.kind, access.pipe] |= 1 << found.bit
        return found

    def _compare(self, later: Touch) -> None:
        member = later.member
        live, pending = member.order.live, member.order.waits_for(later.access.pipe)
        for earlier in self._all:
            if earlier.member is member or not live >> earlier.bit & 1:
                continue
            if not (earlier.access.writes or later.access.writes) or earlier.place.arena != later.place.arena:
                continue
            both = (earlier.bit, later.bit)
            shared = self._shared.get(both)
            if shared is None:
                shared = self._shared[both] = apart(earlier.place, later.place)
            if shared is FALSE or (self.symbolic and shared.kind != "true"):
                key = (earlier.member.kind, earlier.access.step.index, member.kind, later.access.step.index)
                found = self.pairs.setdefault(key, Between(earlier, later, False))
                found.open |= bool(pending >> earlier.bit & 1)
                found.parted &= self._when[earlier.bit] < self._epochs[member.kind]

    # Between the cores

    def _flag(self, member: Member, flag: NamedFlag) -> Generator[None]:
        step, asked, pipe = flag.step, flag.id, flag.pipe
        if asked is None or not flag.between_kinds or pipe not in PIPES:
            self.blind = self.blind or f"the flag at line {member.line(step.op)} is not followed"
            return
        member.values.decide(asked)
        kinds = member.program.symbols.kinds
        if any(kinds.get(n) is not SymbolKind.TRIP for n in symbols_of(asked)):
            member.why = member.why or f"of the id of the flag at line {member.line(step.op)}"
        id = flag.for_lane(member.values.of(asked), member.kind, self._lane)
        if id is None:
            return
        if flag.sets:
            key = ("flag", id, member.other)
            self._sets.setdefault(key, deque()).append(step)
            self._give(member, key, pipe)
            if self._eager and member.kind != self._eager:
                yield  # the other one may go on by now
            elif self._eager and len(self._tokens[key]) > self.target.flag_count_max:
                self.over[step.index] = step
                self._tokens[key].pop()  # a full counter stays as it is
        else:
            key = ("flag", id, member.kind)
            yield from self._wait(member, step, key, SCALAR if flag.row.stalls_core else pipe)
            self._sets[key].popleft()

    def _give(self, member: Member, key: Hashable, pipe: str) -> None:
        self._same_pipe(("gives", key), pipe)
        done = self._own(member) if self.automatic else self._on_pipe[member.kind, pipe]
        token = member.order.waits_for(pipe) & ~done
        self._tokens.setdefault(key, deque()).append(token)

    def _wait(self, member: Member, step: Step, key: Hashable, pipe: str) -> Generator[None]:
        while not self._tokens.get(key):
            self.waiting[member.kind] = step
            yield
        self.waiting.pop(member.kind, None)
        self._same_pipe(("takes", key), pipe)
        if self.mixed:
            member.why = member.why or self.mixed
        self._learn(member, SCALAR if self.automatic else pipe, self._tokens[key].popleft())

    def _count_slot(self, what: str, producer: str, pipe: int) -> int:
        key = (what, producer, pipe)
        self._slots[key] = self._slots.get(key, 0) + 1
        return self._slots[key]

    def _room(self, member: Member, step: Step) -> Generator[None]:
        """A push waits until its tile has a slot."""
        pipe, slots, ledger = member.pipe(step), slots_of(member.program, pipe_id(step.op)), self._ledger
        tiles = self._count_slot("taken", member.kind, pipe)
        while (ledger.credits(slots, tiles, self._slots.get(("given", member.kind, pipe), 0)).value or 0) < 0:
            self.waiting[member.kind] = step
            yield
        self.waiting.pop(member.kind, None)

    def _same_pipe(self, end: tuple[str, Hashable], pipe: str) -> None:
        """Two pipes at one end of a signal: which of them is first is not told by the text."""
        if self._ends.setdefault(end, pipe) != pipe:
            self.mixed = f"{self._ends[end]} and {pipe} of one core share a flag between cores"

    def _meet(self, member: Member, step: Step) -> Generator[None]:
        """All cores that a syncall is for have done all they had begun when any goes on."""
        self._learn(member, SCALAR, ~self._own(member))
        mode = meeting_of(step, member.program.func)
        if not mode:
            return
        own = self._met[member.kind, mode] = self._met.get((member.kind, mode), 0) + 1
        if all(self._met.get((m.kind, mode), 0) >= own for m in self.members):
            # Before any goes on: what one begins after the meeting the others do not know.
            for one, other in product(self.members, repeat=2):
                self._learn(one, SCALAR, ~self._own(other))
        while any(self._met.get((m.kind, mode), 0) < own for m in self.members):
            self.waiting[member.kind] = step
            yield
        self.waiting.pop(member.kind, None)
        if not step.loops and not member.depth:
            self._epochs[member.kind] += 1

    def _learn(self, member: Member, pipe: str, carried: int) -> None:
        member.order.learn(pipe, carried)
