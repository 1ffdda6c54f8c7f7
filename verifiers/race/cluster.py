"""A cube core and a vector core that run together, walked with numbers: what each has told the other.

One core stands for all of its kind: the lanes of a cluster run the same text. Only accesses to global memory count,
for the cores share no other memory. What a flag between cores, a push or a meeting of all cores tells is kept as in
`order`: the accesses that whoever learns it can't rely on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Hashable
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from pypto_verified.index import Cond, const, symbols_of
from pypto_verified.index.cond import FALSE
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.pto.module import EnumAttr, Op
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import SCALAR, cross_flag
from verifiers.access import AccessProgram, Branch, Loop, Node, Sequence, Step, SymbolKind
from verifiers.cross_flags import NamedFlag, named_flag, two_channels
from verifiers.race.accesses import Access, accesses_of, held_by_pop, is_global
from verifiers.race.order import PIPES, Order
from verifiers.race.places import Place, apart
from verifiers.race.rings import FREES
from verifiers.race.room import ALLOCATES, PUSHES, gives_slot, ledger_of, slots_of, takes_slot
from verifiers.race.sync import Kind, Sync, sync_of
from verifiers.race.values import Values
from verifiers.recurrence import counted
from verifiers.solver.cone import names_of

MOST_STEPS = 20_000
LANE = "subblock_idx"
"""What a vector core's own number is called."""
POPS = ("pto.tpop_from_aic", "pto.tpop_from_aiv")


Key: TypeAlias = tuple[str, int, str, int]
"""Kind of core and step of the earlier access, and of the later one."""


@dataclass(slots=True, eq=False)
class Member:
    """A core: `kind` is 'cube' or 'vector'; `foreign`: ops of the text that other cores run; `why`: what keeps the
    order of its ops from being the same in every run, '' if nothing; `depth`: branches around where it may differ."""

    kind: str
    program: AccessProgram
    foreign: frozenset[Hashable]
    values: Values
    order: Order = field(default_factory=Order)
    why: str = ""
    depth: int = 0


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


class Cluster:
    """The walk. `symbolic`: places stay as the text says them, else they are numbers; `automatic`: each core's own
    order is the assembler's business and taken to be there. `pairs` by (kind and step of the earlier, of the later
    access); `stuck`: cores wait for ever, each in its step of `waiting`; `left`: sets of flags that nobody waits for in
    the end; `blind`: what is not followed, '' if nothing; `mixed`: what keeps the order of signals from being that of
    the text. `lane`: of the vector core. The core of `eager` kind goes on whenever it can; `over`: its sets that found
    a counter full; `touches`: its accesses are compared."""

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
        self.blind = two_channels((s for m in members for s in m.program.steps if s.op not in m.foreign), target)
        self.mixed = ""
        self.stuck = False
        self.waiting: dict[str, Step] = {}
        self._sets: dict[Hashable, deque[Step]] = {}
        self._touches: dict[Hashable, Touch] = {}
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
        self._run()

    def _run(self) -> None:
        going = [(m, self._walk(m, m.program.body)) for m in self.members]
        while going:
            left = []
            moved = False
            for member, walk in going:
                before = self._left
                try:
                    next(walk)
                    left.append((member, walk))
                except StopIteration:
                    moved = True
                    continue
                except ZeroDivisionError:
                    self.blind = "a division by zero"
                    return
                moved |= self._left < before
            if self._left <= 0:
                self.blind = "a run of it takes too long"
                return
            if left and not moved:
                self.stuck = True
                return
            going = left

    @property
    def left(self) -> list[Step]:
        return [step for steps in self._sets.values() for step in steps]

    def _walk(self, member: Member, node: Node) -> Generator[None]:
        """Goes on until it has to wait for another core."""
        if isinstance(node, Step):
            if node.op not in member.foreign:
                yield from self._step(member, node)
        elif isinstance(node, Sequence):
            for item in node.items:
                yield from self._walk(member, item)
        elif self.symbolic and not self._orders(member, node):
            # Whatever runs of it, and how often: it moves data, and orders nothing.
            for inner in (node.then, node.orelse) if isinstance(node, Branch) else (node.body,):
                yield from self._walk(member, inner)
        elif isinstance(node, Branch):
            member.values.decide(node.cond)
            # Each lane is walked by itself: what it is asked of its own number is decided.
            open_ = not names_of(node.cond) <= {LANE} and (
                self._matters(member, node.then) or self._matters(member, node.orelse))
            if open_:
                member.why = member.why or f"of the branch at line {_line(member, node.op)}"
            member.depth += open_
            yield from self._walk(member, node.then if member.values.holds(node.cond) else node.orelse)
            member.depth -= open_
        else:
            yield from self._loop(member, node)

    def _loop(self, member: Member, loop: Loop) -> Generator[None]:
        own = counted(loop)
        if not self._matters(member, loop.body):
            return
        if loop.inside is FALSE:
            yield from self._walk(member, Sequence(loop.body.items[:loop.head]))
            return
        if loop.lower is None or loop.upper is None or loop.step is None:
            self.blind = self.blind or f"the loop at line {_line(member, loop.op)} is not counted"
            return
        values = member.values
        values.decide(loop.lower, loop.upper, loop.step)
        lower, upper, step = (values.of(e) for e in (loop.lower, loop.upper, loop.step))
        if any(e.value is None for e in (loop.lower, loop.upper, loop.step)):
            member.why = member.why or f"of the trip count of the loop at line {_line(member, loop.op)}"
        for k in range(-((lower - upper) // step) if step > 0 else 0):
            if own is not None:
                values[own.name] = values.of(own.base) + k
            yield from self._walk(member, loop.body)
            if self._left <= 0:
                return
        if own is not None:
            values.pop(own.name, None)

    def _matters(self, member: Member, node: Node) -> bool:
        """Whether anything in there is seen by the other core."""
        if isinstance(node, Step):
            accesses = self._accesses[member.kind].get(node.index, ())
            return node.op not in member.foreign and (
                any(is_global(a) for a in accesses) or sync_of(node, self.target) is not None or self._tells(node))
        if isinstance(node, Sequence):
            return any(self._matters(member, item) for item in node.items)
        if isinstance(node, Branch):
            return self._matters(member, node.then) or self._matters(member, node.orelse)
        return self._matters(member, node.body)

    def _orders(self, member: Member, node: Node) -> bool:
        """Whether anything in there says what is complete."""
        if isinstance(node, Step):
            own = not self.automatic and sync_of(node, self.target) is not None
            return node.op not in member.foreign and (own or self._tells(node))
        if isinstance(node, Sequence):
            return any(self._orders(member, item) for item in node.items)
        if isinstance(node, Branch):
            return self._orders(member, node.then) or self._orders(member, node.orelse)
        return self._orders(member, node.body)

    def _tells(self, step: Step) -> bool:
        name = step.op.name
        pipes = (*PUSHES, *POPS, *FREES.values(), *ALLOCATES)
        return name in (*pipes, "pto.syncall") or cross_flag(name, self.target.name) is not None

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
        if takes_slot(step, member.program):
            yield from self._room(member, step)
        if step.op.name in POPS:
            key = ("fifo", pipe_id(step.op), member.kind)
            yield from self._wait(member, step, key, held_by_pop(step, self.target))
        if gives_slot(step, member.program, self.target):
            self._count_slot("given", self._other(member), step)
        sync = sync_of(step, self.target)
        if sync is not None:
            self._sync(member, sync)
        self._touch(member, step)
        if step.op.name in PUSHES:
            self._give(member, ("fifo", pipe_id(step.op), self._other(member)), step.phases[0].pipe)

    def _sync(self, member: Member, sync: Sync) -> None:
        order, kind = member.order, sync.kind
        on_pipe = self._on_pipe.get((member.kind, sync.pipe), 0)
        if kind is Kind.DRAIN:
            self._learn(member, SCALAR, ~self._own(member))
        elif kind is Kind.BARRIER:
            order.barrier(sync.pipe, on_pipe, not self._strict)
        elif kind is Kind.FENCE:
            self._learn(member, SCALAR, ~self._own(member))
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
        place = access.place
        if not self.symbolic:
            place = place.at({n: const(member.values[n]) for n in access.names})
        key = (member.kind, access.number, place.key())
        found = self._touches.get(key)
        if found is None:
            found = self._touches[key] = Touch(len(self._all), member, access, place)
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

    def _other(self, member: Member) -> str:
        return "vector" if member.kind == "cube" else "cube"

    def _flag(self, member: Member, flag: NamedFlag) -> Generator[None]:
        step, asked, pipe = flag.step, flag.id, flag.pipe
        if asked is None or not flag.between_kinds or pipe not in PIPES:
            self.blind = self.blind or f"the flag at line {_line(member, step.op)} is not followed"
            return
        member.values.decide(asked)
        kinds = member.program.symbols.kinds
        if any(kinds.get(n) is not SymbolKind.TRIP for n in symbols_of(asked)):
            member.why = member.why or f"of the id of the flag at line {_line(member, step.op)}"
        id = flag.for_lane(member.values.of(asked), member.kind, self._lane)
        if id is None:
            return
        if flag.sets:
            key = ("flag", id, self._other(member))
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

    def _count_slot(self, what: str, producer: str, step: Step) -> int:
        key = (what, producer, pipe_id(step.op))
        self._slots[key] = self._slots.get(key, 0) + 1
        return self._slots[key]

    def _room(self, member: Member, step: Step) -> Generator[None]:
        """A push waits until its tile has a slot."""
        id = pipe_id(step.op)
        tiles, slots, ledger = self._count_slot("taken", member.kind, step), slots_of(member.program, id), self._ledger
        while (ledger.credits(slots, tiles, self._slots.get(("given", member.kind, id), 0)).value or 0) < 0:
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
        mode = meeting_of(step)
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


def _line(member: Member, op: Op) -> int:
    return member.program.location(op).line


def meeting_of(step: Step) -> str:
    """The mode of a `syncall` at which both kinds of cores meet, '' for any other; those of two modes do not meet."""
    mode, kinds = (step.op.attrs.get(name) for name in ("mode", "core_type"))
    if isinstance(kinds, EnumAttr) and kinds.member != "mix":
        return ""
    return mode.member if isinstance(mode, EnumAttr) else "soft"


def lane_of(kind: str, lane: int) -> int:
    """What a core of this kind has as its own number, beside the vector core `lane`: a cube has none, and reads 0."""
    return lane if kind == "vector" else 0
