"""Both cores of a kernel side by side, for every trip count: whether one waits for ever, what is left of their flags,
and what each knows of the other's accesses.

Signals between two cores are counted and each is taken by one core alone, so what the cores come to does not depend on
which of them goes first: one schedule is followed, in which loops of both go in turn. Where the cores come to the same
places a second time with the same signals under way, only some iterations on, all later such times are followed at
once: iteration `n + d*t` for any t. What a path knows is kept as literals, so that loops with equal bounds end
together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from math import lcm
from typing import TypeAlias, TypeVar

from pypto_verified.index import Cond, IntLike, substitute, substitute_cond, symbol, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import SCALAR
from verifiers.cross_flags import two_channels
from verifiers.race.accesses import Access
from verifiers.race.literals import decided
from verifiers.race.order import PIPES, Order
from verifiers.race.side_state import (
    Frame,
    Key,
    Seen,
    State,
    covers,
    same_turns,
    turns_apart,
    with_literal,
    without_turns,
)
from verifiers.race.sync import Kind
from verifiers.race.talk import Act, Choice, NotFollowedError, Talk, Turns
from verifiers.race.values import divisors
from verifiers.solver.cone import conjuncts, names_of

MOST_ACTS = 4_000
"""Ops that are followed, on all paths together; each place where both cores wait or are at a loop counts as ten."""
_MOST_SEEN = 24
"""Times that the cores come to the same places with the same signals."""
_TOO_MANY = "the cube core and the vector core have too many paths together"
_MOST_ALIKE = 3
"""Paths to one place, with the same signals, that are told apart by what they know."""

Pair: TypeAlias = tuple[str, int, str, int]
"""Kind of core and step of the earlier access, and of the later one."""
_TURN = "turn@"
_MOST_IN_TURN = 8
"""Ids of flags that are taken in turn and told apart for every trip count."""
_T = TypeVar("_T", str, int)


class Together:
    """The walk. `why`: what keeps it from standing for all runs, '' if nothing; then no core waits for ever and no flag
    is left, `unordered` has every pair of accesses of different cores, given as `meeting`, that some run leaves
    unordered, and `heard` says for each wait (kind of core, step) which sets of its own core the other one has heard
    of whenever it has answered, `maybe` of which in some run, `earlier` of which by an earlier time. `mixed`: what
    keeps the order of the signals under one name from being that of the text, '' if nothing. The core number `eager`
    goes on whenever it can: then no counter of the other one ever exceeds what it holds, in any order of the two."""

    def __init__(
        self, talks: tuple[Talk, Talk], target: Target, automatic: bool, assumed: Cond, meeting: frozenset[Pair],
        eager: int | None = None, strict: bool = False,
    ) -> None:
        self.why = ""
        self.mixed = ""
        self._eager = eager
        self._strict = strict
        self.unordered: set[Pair] = set()
        self.heard: dict[tuple[str, int], int] = {}
        self.maybe: dict[tuple[str, int], int] = {}
        self.earlier: dict[tuple[str, int], int] = {}
        self.bits: dict[tuple[str, int], int] = {}
        self._first: dict[tuple[str, int], int] = {}
        self._talks = talks
        self._target = target
        self._automatic = automatic
        self._meeting = meeting
        self._on_pipe: dict[tuple[int, str], int] = {(c, p): 0 for c in (0, 1) for p in PIPES}
        self._accesses: list[tuple[int, Access]] = []
        self._access_bits: dict[tuple[int, int], int] = {}
        self._sets = [0, 0]
        self._ends: dict[Hashable, dict[str, int]] = {}
        self._every = lcm(*(n for t in talks for act in t.acts() for n in _turns_of(act) if n <= _MOST_IN_TURN))
        self._waiting = tuple(set(self._held(t)) for t in talks)
        self._seen: dict[Hashable, list[Seen]] = {}
        self._left = MOST_ACTS
        self._made = 0
        start = State([(Frame(t.said, 0),) for t in talks], [Order(), Order()], frozenset(conjuncts(assumed)))
        for core, talk in enumerate(talks):
            start.signals |= {(name, core): (-1,) * n for name, n in talk.slots(least=eager is None).items()}
        try:
            mixed = two_channels((act.step for talk in talks for act in talk.acts()), target)
            if mixed:
                raise NotFollowedError(mixed)
            self._follow(start)
        except NotFollowedError as error:
            self.why = str(error)

    def sets_of(self, kind: str, bits: int) -> Iterator[int]:
        """The steps of the sets that these bits stand for."""
        return (step for (own, step), bit in self.bits.items() if own == kind and bits & bit)

    # Paths

    def _follow(self, start: State) -> None:
        todo = [start]
        while todo:
            state: State | None = todo.pop()
            while state is not None:
                state = self._on(state, todo)

    def _on(self, state: State, todo: list[State]) -> State | None:
        """Both cores as far as they get, then one loop's next iteration; None where the path ends."""
        asked = self._advance(state)
        if asked is None:
            heads = [c for c, stack in enumerate(state.stacks) if stack and stack[-1].next < 0]
            if not heads:
                self._ended(state)
                return None
            self._spend(10)
            live = symbols_of(*state.numbers()).keys()
            older = (without_turns(c, {n for n in names_of(c) if n.startswith(_TURN)} - live) for c in state.known)
            state.known = frozenset(c for c in older if c is not TRUE and self._lasts(state, heads, c))
            if self._followed(state):
                return None
            self._generalised(state)
            core = self._eager if self._eager in heads else (
                heads[0] if len(heads) == 1 or state.last != heads[0] else heads[1])
            asked = core, self._goes(state, core)
        core, cond = asked
        taken = decided(cond, state.known)
        if taken is not TRUE and taken is not FALSE:
            other = state.copy()
            other.known = with_literal(state.known, ~taken)
            self._take(other, core, False)
            todo.append(other)
            state.known = with_literal(state.known, taken)
        self._take(state, core, taken is not FALSE)
        return state

    def _goes(self, state: State, core: int) -> Cond:
        frame = state.stacks[core][-1]
        assert frame.turns is not None
        return frame.turns.goes(frame.k, self._values(state.stacks[core][:-1]))

    def _take(self, state: State, core: int, yes: bool) -> None:
        """Go on with a loop, or with a branch."""
        *outer, frame = state.stacks[core]
        if frame.next < 0:
            state.last = core
            state.stacks[core] = (*outer, replace(frame, next=0)) if yes else tuple(outer)
            return
        choice = frame.block[frame.next]
        assert isinstance(choice, Choice)
        inner = Frame(choice.then if yes else choice.orelse, 0)
        state.stacks[core] = (*outer, replace(frame, next=frame.next + 1), inner)

    def _lasts(self, state: State, heads: list[int], c: Cond) -> bool:
        """Whether a literal speaks of nothing that the next iterations make anew."""
        loops = [f.turns for core in heads if (f := state.stacks[core][-1]).turns is not None]
        return all(name.startswith(_TURN) or all(turns.lasts(name) for turns in loops) for name in names_of(c))

    def _ended(self, state: State) -> None:
        for core, stack in enumerate(state.stacks):
            if stack:
                act = stack[-1].block[stack[-1].next]
                assert isinstance(act, Act)
                raise NotFollowedError(self._never(core, act))
        for (name, receiver), tokens in state.signals.items():
            if tokens and isinstance(name, tuple) and name[0] == "flag":
                taker, giver = self._talks[receiver], self._talks[1 - receiver]
                raise NotFollowedError(
                    f"whether the {taker.kind} core waits for flag {name[1]} as often as line "
                    f"{giver.line(state.givers[name, receiver])} sets it is not known for every trip count")

    def _never(self, core: int, act: Act) -> str:
        own, other = self._talks[core], self._talks[1 - core]
        if act.meets:
            return (f"whether the {other.kind} core comes to the meeting at line {own.line(act.step)} is not known for "
                    "every trip count")
        what = f"flag {act.id!r}" if act.takes == "flag" else "a tile" if act.takes is not None else "a slot back"
        return (f"whether the {other.kind} core gives {what} that the {own.kind} core waits for at line "
                f"{own.line(act.step)} is not known for every trip count")

    # Iterations

    def _followed(self, state: State) -> bool:
        """Whether this state, or one that stands for it, was followed before."""
        key, numbers = state.key(), state.numbers()
        found = self._seen.setdefault(key, [])
        if any(covers(seen, numbers, state.known) for seen in found):
            return True
        same = [seen for seen in found if seen.turn is None and same_turns(seen.numbers, numbers)]
        if len(same) >= _MOST_ALIKE:
            for seen in same:
                state.known = frozenset(c for c in state.known if decided(c, seen.known) is TRUE)
        if len(found) >= _MOST_SEEN:
            raise NotFollowedError(_TOO_MANY)
        found.append(Seen(numbers, state.known))
        return False

    def _generalised(self, state: State) -> None:
        """From here on this state stands for all those that are some iterations on, where it has come again."""
        numbers = state.numbers()
        found = self._seen[state.key()]
        for seen in found[:-1]:
            steps = turns_apart(seen.numbers, numbers) if seen.turn is None else None
            if steps is None or any(n % self._every for n in steps):
                continue
            self._made += 1
            name = f"{_TURN}{self._made}"
            turn = symbol(name, 0)
            known = state.known
            for (core, depth), step in zip(state.turns(), steps, strict=True):
                frame = state.stacks[core][depth]
                if step and frame.turns is not None:
                    stack = list(state.stacks[core])
                    stack[depth] = replace(frame, k=frame.k + step * turn)
                    state.stacks[core] = tuple(stack)
                    before = frame.turns.goes(
                        frame.k + step * turn - (1 if frame.next < 0 else 0), self._values(state.stacks[core][:depth]))
                    first = substitute_cond(before, {name: 0})
                    if decided(first, known) is TRUE:
                        state.known = with_literal(state.known, before)
            found.append(Seen(numbers, state.known, turn, steps))
            return

    def _spend(self, acts: int) -> None:
        self._left -= acts
        if self._left < 0:
            raise NotFollowedError(_TOO_MANY)

    # One core

    def _values(self, stack: tuple[Frame, ...]) -> Mapping[str, IntLike]:
        values: Mapping[str, IntLike] = {}
        for frame in stack:
            if frame.turns is not None:
                values = frame.turns.within(frame.k, values)
        return values

    def _advance(self, state: State) -> tuple[int, Cond] | None:
        """Both cores until each waits, has ended or is at a loop; or a core and the branch that it comes to."""
        moved = True
        while moved:
            moved = False
            for core in (0, 1) if self._eager != 1 else (1, 0):
                while state.stacks[core]:
                    *outer, frame = state.stacks[core]
                    if frame.next < 0:
                        if core == self._eager:
                            return None
                        break
                    if frame.next == len(frame.block):
                        again = replace(frame, next=-1, k=frame.k + 1)
                        state.stacks[core] = (*outer, again) if frame.turns is not None else tuple(outer)
                        continue
                    said = frame.block[frame.next]
                    if isinstance(said, Choice):
                        cond = substitute_cond(said.cond, self._values(state.stacks[core]))
                        return core, cond
                    if isinstance(said, Turns):
                        following = replace(frame, next=frame.next + 1)
                        state.stacks[core] = (*outer, following, Frame(said.body, -1, said))
                        continue
                    if not self._act(state, core, said):
                        break
                    state.stacks[core] = (*outer, replace(frame, next=frame.next + 1))
                    moved = True
                    if self._eager not in (None, core) and (said.gives is not None or said.frees is not None):
                        break
        return None

    def _act(self, state: State, core: int, act: Act) -> bool:
        """Whether the core gets past an op."""
        self._spend(1)
        order = state.orders[core]
        if act.needs is not None:
            if not state.signals.get((act.needs, core)):
                return False
            state.signals[act.needs, core] = state.signals[act.needs, core][1:]
        if act.meets:
            if not self._meet(state, core, act):
                return False
        elif act.takes is not None:
            key = self._signal(state, core, act, act.takes, core)
            if key is None:
                return True
            tokens = state.signals.get(key, ())
            if not tokens:
                return False
            ends = self._ends.setdefault(("takes", key), {})
            ends[act.pipe] = 0
            if len(ends) > 1:
                raise NotFollowedError(self._by_two_pipes(core, act, "waited for by", ends))
            state.signals[key] = tokens[1:]
            self._learn(order, act.pipe, tokens[0])
            if act.takes == "flag":
                self._answered(core, act, order)
        if act.frees is not None:
            key = (act.frees, 1 - core)
            state.signals[key] = (*state.signals.get(key, ()), -1)
        if act.sync is not None:
            self._sync(state, core, act)
        self._touch(state, core, act)
        if act.gives is not None:
            self._give(state, core, act)
        return True

    def _signal(self, state: State, core: int, act: Act, name: Hashable, receiver: int) -> Key | None:
        """None for a flag of the other lane."""
        if act.id is None:
            return (name, receiver)
        number = substitute(act.id, self._values(state.stacks[core])).value
        if number is None:
            raise NotFollowedError(f"the {self._talks[core].kind} core computes the id of a flag, {act.id!r}, which is "
                                   "not followed")
        own = self._talks[core].own_id(act, number)
        return ((name, own), receiver) if own is not None else None

    def _learn(self, order: Order, pipe: str, carried: int) -> None:
        order.learn(SCALAR if self._automatic else pipe, carried)

    def _answered(self, core: int, act: Act, order: Order) -> None:
        """Note which sets of this core the other one had heard of when it gave what is taken here."""
        place = (self._talks[core].kind, act.step.index)
        now = ~order.waits_for(act.pipe)
        self.heard[place] = self.heard.get(place, -1) & now
        self.maybe[place] = self.maybe.get(place, 0) | (now & order.live)
        for told, bit in self._first.items():
            if now & order.live & bit:
                self.earlier[place] = self.earlier.get(place, 0) | self.bits[told]

    def _give(self, state: State, core: int, act: Act) -> None:
        key = self._signal(state, core, act, act.gives, 1 - core)
        if key is None:
            return
        if act.gives == "flag":
            place = (self._talks[core].kind, act.step.index)
            bit = self._bit_of(self.bits, place)
            first = self._bit_of(self._first, place)
            self._begin(state, bit | (first & ~state.orders[core].live), core, (act.pipe,))
            ends = self._ends.setdefault(("gives", key), {})
            ends[act.pipe] = ends.get(act.pipe, 0) | bit
            if any(state.orders[core].waits_for(act.pipe) & bits for pipe, bits in ends.items() if pipe != act.pipe):
                self.mixed = self.mixed or self._by_two_pipes(core, act, "set by", ends)
            if self._eager is not None and self._waiting[core] - {SCALAR, act.pipe}:
                raise NotFollowedError(
                    f"{act.pipe} of the {self._talks[core].kind} core may set the flag of line "
                    f"{self._talks[core].line(act.step)} while another pipe waits")
        done = self._own(core) if self._automatic else self._on_pipe[core, act.pipe]
        token = state.orders[core].waits_for(act.pipe) & ~done
        state.signals[key] = (*state.signals.get(key, ()), token)
        state.givers[key] = act.step
        most = self._target.flag_count_max
        if core == self._eager and act.gives == "flag" and len(state.signals[key]) > most:
            raise NotFollowedError(
                f"line {self._talks[core].line(act.step)} may set its flag {most + 1} times before the "
                f"{self._talks[1 - core].kind} core waits for it")
        if len(state.signals[key]) > 2 * most:
            raise NotFollowedError(
                f"line {self._talks[core].line(act.step)} may run ahead of the waits of the "
                f"{self._talks[1 - core].kind} core by any number of turns")

    def _bit_of(self, bits: dict[tuple[_T, int], int], of: tuple[_T, int]) -> int:
        """The bit of an access, or of a set, and one of its own the first time."""
        return bits.setdefault(of, 1 << (len(self.bits) + len(self._first) + len(self._access_bits)))

    def _held(self, talk: Talk) -> Iterator[str]:
        """The pipes of a core that wait for the other core, by themselves."""
        for act in talk.acts():
            if act.takes is not None:
                yield act.pipe
            elif act.needs is not None:
                yield act.pipe if self._target.on_chip_pipe else SCALAR

    def _by_two_pipes(self, core: int, act: Act, does: str, pipes: Iterable[str]) -> str:
        return (f"the flag of line {self._talks[core].line(act.step)} is {does} {' and '.join(sorted(pipes))} of the "
                f"{self._talks[core].kind} core, in an order that nothing fixes")

    def _own(self, core: int) -> int:
        found = 0
        for pipe in PIPES:
            found |= self._on_pipe[core, pipe]
        return found

    def _begin(self, state: State, bits: int, core: int, pipes: tuple[str, ...]) -> None:
        for pipe in pipes:
            self._on_pipe[core, pipe] |= bits
        for order in state.orders:
            order.issue(bits, 0)
        state.signals = {k: tuple(t | bits for t in tokens) for k, tokens in state.signals.items()}

    def _touch(self, state: State, core: int, act: Act) -> None:
        for access in act.touched:
            number = (core, access.number)
            if number not in self._access_bits:
                self._accesses.append((core, access))
            bit = self._bit_of(self._access_bits, number)
            pending = state.orders[core].waits_for(access.pipe) & state.orders[core].live
            for theirs, earlier in self._accesses:
                pair = (self._talks[theirs].kind, earlier.step.index, self._talks[core].kind, act.step.index)
                theirs_pending = pending & self._access_bits[theirs, earlier.number]
                if theirs != core and theirs_pending and pair in self._meeting:
                    self.unordered.add(pair)
            self._begin(state, bit, core, (access.pipe,))

    def _sync(self, state: State, core: int, act: Act) -> None:
        order, sync = state.orders[core], act.sync
        if sync is None:
            return
        on_pipe = self._on_pipe.get((core, sync.pipe), 0)
        if sync.kind in (Kind.DRAIN, Kind.FENCE):
            order.learn(SCALAR, ~self._own(core))
        elif sync.kind is Kind.BARRIER:
            order.barrier(sync.pipe, on_pipe, not self._strict)
        elif sync.kind in (Kind.SET, Kind.WAIT) and sync.id is not None:
            id = substitute(self._talks[core].mark(sync.id), self._values(state.stacks[core])).value
            if id is not None and sync.kind is Kind.SET:
                order.set((sync.pair, id), sync.pipe, on_pipe)
            elif id is not None and (sync.pipe != sync.other or not self._strict):  # the strict reading of SELF-FLAG
                order.wait((sync.pair, id), sync.pipe, not self._strict)

    def _meet(self, state: State, core: int, act: Act) -> bool:
        """All cores have done all they had begun when any goes on."""
        if state.met[core] == state.met[1 - core]:
            other = state.stacks[1 - core]
            at = other[-1].block[other[-1].next] if other and 0 <= other[-1].next < len(other[-1].block) else None
            if not isinstance(at, Act) or at.meets != act.meets:
                return False
            for order in state.orders:
                for own in (0, 1):
                    order.learn(SCALAR, ~self._own(own))
        state.met[core] += 1
        return True


def _turns_of(act: Act) -> Iterator[int]:
    """What the ids of an op's flags repeat after."""
    for id in (act.id, act.sync.id if act.sync is not None else None):
        yield from divisors(id) if id is not None else ()
