"""Where two cores of a kernel are that are followed side by side, and which of such states stand for others."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from itertools import product
from typing import TypeAlias

from pypto_verified.index import Cond, Expr, IntLike, as_expr, const, substitute, substitute_cond, symbols_of
from pypto_verified.index.cond import TRUE
from pypto_verified.index.expr import Atom, from_atom
from pypto_verified.records import dataclass
from verifiers.access import Step
from verifiers.race.literals import Literals, decided
from verifiers.race.order import Order
from verifiers.race.talk import Said, Turns
from verifiers.solver.cone import conjuncts

Key: TypeAlias = tuple[Hashable, int]
"""What a signal is called, and the core that takes it."""
_FIRST = const(0)
TURN = "turn@"
"""How names of numbers of turns begin: what stands for many iterations at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A place in a block: the next item, or -1 at the head of iteration `k` of `turns`."""

    block: tuple[Said, ...]
    next: int
    turns: Turns | None = None
    k: Expr = _FIRST

    @property
    def place(self) -> Hashable:
        return (id(self.block), self.next, id(self.turns))


@dataclass(slots=True, eq=False)
class State:
    """`stacks` of frames of both cores, outermost first; `signals` under way, by name, each with the accesses that
    whoever takes it can't rely on; `met`: meetings that each core has come to; `last`: the core whose loop went on
    last."""

    stacks: list[tuple[Frame, ...]]
    orders: list[Order]
    known: Literals
    signals: dict[Key, tuple[int, ...]] = field(default_factory=dict)
    givers: dict[Key, Step] = field(default_factory=dict)
    met: list[int] = field(default_factory=lambda: [0, 0])
    last: int = 1

    def copy(self) -> State:
        return State(list(self.stacks), [o.copy() for o in self.orders], self.known, dict(self.signals),
                      dict(self.givers), list(self.met), self.last)

    def turns(self) -> list[tuple[int, int]]:
        """(core, depth) of the frames that are in a loop."""
        return [(c, n) for c, stack in enumerate(self.stacks) for n, f in enumerate(stack) if f.turns is not None]

    def numbers(self) -> tuple[Expr, ...]:
        return tuple(self.stacks[c][n].k for c, n in self.turns())

    def place(self) -> Hashable:
        """Where the cores are, with how many signals under way."""
        places = tuple(tuple(f.place for f in stack) for stack in self.stacks)
        return (places, frozenset((k, len(v)) for k, v in self.signals.items() if v), self.met[0] - self.met[1],
                self.last)

    def key(self) -> Hashable:
        """The same, with all that the cores know of what is complete."""
        orders = tuple(
            (o.live, tuple(o.pending), frozenset(o.flags.items())) for o in self.orders)
        return (self.place(), orders, frozenset((k, v) for k, v in self.signals.items() if v))

    def join(self, other: State) -> None:
        """Stand for another state at the same place too: only what is complete in both is relied on."""
        for own, theirs in zip(self.orders, other.orders, strict=True):
            own.flags = {k: v for k, v in own.flags.items() if k in theirs.flags}
            own.join(Order(theirs.live, theirs.pending, {k: v for k, v in theirs.flags.items() if k in own.flags}))
        for name, tokens in self.signals.items():
            known = other.signals.get(name, ())
            self.signals[name] = tuple(a | b for a, b in zip(tokens, known, strict=bool(tokens)))


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A state that was followed: `numbers` of its iterations, base + step * `turn` where they are many."""

    numbers: tuple[Expr, ...]
    known: Literals
    turn: Expr | None = None
    steps: tuple[int, ...] = ()


def values_of(stack: tuple[Frame, ...]) -> Mapping[str, IntLike]:
    """What stands for the counters of the loops around."""
    values: Mapping[str, IntLike] = {}
    for frame in stack:
        if frame.turns is not None:
            values = frame.turns.within(frame.k, values)
    return values


@lru_cache(maxsize=256)
def equalities(known: Literals) -> Mapping[str, Expr]:
    """What a size is where two literals leave it one value: after a loop that runs to it, say."""
    bounds = {c.expr.uid for c in known if c.kind == "nonneg" and c.expr is not None}
    equal = (c.expr for c in known if c.expr is not None and (
        c.kind == "zero" or (c.kind == "nonneg" and (-c.expr).uid in bounds)))
    found: dict[str, Expr] = {}
    for e in equal:
        for mono, factor in e.terms:
            if len(mono) == 1 and mono[0].kind == "sym" and abs(factor) == 1 and not mono[0].name.startswith(TURN):
                value = from_atom(mono[0]) - factor * e
                if mono[0].name not in symbols_of(value):
                    found.setdefault(mono[0].name, value)
    return found


def with_literal(known: Literals, c: Cond) -> Literals:
    """What is known once `c` holds too, without what follows from the rest by a constant difference."""
    for part in conjuncts(c):
        if decided(part, known) is not TRUE:
            alone = frozenset((part,))
            known = frozenset(k for k in known if decided(k, alone) is not TRUE) | alone
    return known


def without_turns(c: Cond, over: set[str]) -> Cond:
    """What a literal says whatever the numbers of turns `over` are, which are not negative; TRUE if nothing."""
    if not over:
        return c
    if c.kind != "nonneg" or c.expr is None:
        return TRUE
    for mono, factor in c.expr.terms:
        alone = len(mono) == 1 and mono[0].kind == "sym"
        if over & _names(mono) and (not alone or factor > 0):
            return TRUE
    return substitute_cond(c, dict.fromkeys(over, 0))


def _names(mono: tuple[Atom, ...]) -> set[str]:
    """The symbols in a product."""
    return {name for atom in mono for name in ({atom.name} if atom.kind == "sym" else symbols_of(*atom.args))}


def same_turns(a: tuple[Expr, ...], b: tuple[Expr, ...]) -> bool:
    return len(a) == len(b) and all(x.uid == y.uid for x, y in zip(a, b, strict=True))


def turns_apart(before: tuple[Expr, ...], now: tuple[Expr, ...]) -> tuple[int, ...] | None:
    """How many iterations on each loop is; None if one went back or that is no number."""
    found = [b.constant - a.constant if a.terms == b.terms else None for a, b in zip(before, now, strict=True)]
    steps = tuple(n for n in found if n is not None)
    return steps if len(steps) == len(found) and any(steps) and min(steps) >= 0 else None


def moved_on(before: Literals, now: Literals, here: Cond, there: Cond, turn: str) -> Iterator[Cond]:
    """Lower bounds that have grown since `before` with what a loop asks before it goes on, `here` now and `there` some
    turns on: as they are there if they go on like that. Whether they do is seen when the same place comes up again
    (`covers`)."""
    if here.expr is None or there.expr is None:
        return
    moved = there.expr - here.expr
    for c, old in product(now, before):
        if c.kind == old.kind == "nonneg" and c.expr is not None and old.expr is not None:
            once = (c.expr - old.expr).value
            if once and (c.expr - here.expr).value is not None and substitute(moved, {turn: 1}).value == once:
                yield c.expr + moved >= 0


def covers(seen: Seen, numbers: tuple[Expr, ...], known: Literals) -> bool:
    """Whether `seen` stands for a state at these iterations of which `known` holds."""
    if seen.turn is None:
        return same_turns(seen.numbers, numbers) and all(decided(c, known) is TRUE for c in seen.known)
    if any(not step and base.uid != now.uid for base, now, step in zip(seen.numbers, numbers, seen.steps, strict=True)):
        return False
    at = next(((now - base, step) for base, now, step in zip(seen.numbers, numbers, seen.steps, strict=True) if step))
    times = _divided(*at)
    if times is None or times.lo is None or times.lo < 0:
        return False
    there = tuple(base + step * times for base, step in zip(seen.numbers, seen.steps, strict=True))
    (name,) = (a.name for mono, _ in seen.turn.terms for a in mono)
    return same_turns(there, numbers) and all(
        decided(substitute_cond(c, {name: times}), known) is TRUE for c in seen.known)


def _divided(e: Expr, by: int) -> Expr | None:
    if e.constant % by or any(factor % by for _, factor in e.terms):
        return None
    half = as_expr(e // by)
    return half if (half * by - e).value == 0 else None
