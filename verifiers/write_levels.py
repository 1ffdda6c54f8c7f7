"""How loops, blocks and lanes move a window along an axis: one level each, from the finest to the coarsest.

What lies past the end of the tensor is not asked for, so that a window, a loop or a condition that ends there counts as
one that does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pypto_verified.index import (
    Cond,
    Expr,
    all_of,
    const,
    minimum,
    substitute,
    substitute_cond,
    symbol,
    symbols_of,
)
from pypto_verified.records import dataclass
from verifiers.access import BLOCK, BLOCKS, LANE, AccessProgram, Loop, Step, Window
from verifiers.access.scalars import ceiling
from verifiers.bound import unclamped
from verifiers.reaching import around
from verifiers.solver import Ladder
from verifiers.solver.cone import conjuncts, names_of


class Untold(Exception):
    """What a store writes is not followed; the text says why."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A loop whose counter is `name`, from 0 on."""

    name: str
    lower: Expr
    upper: Expr
    step: Expr

    @property
    def counter(self) -> Expr:
        return symbol(self.name, 0)

    @property
    def inside(self) -> Cond:
        return all_of((self.step >= 1, self.lower + self.step * self.counter < self.upper))

    def at(self, values: Mapping[str, Expr]) -> Turn:
        lower, upper, step = (substitute(e, values) for e in (self.lower, self.upper, self.step))
        return replace(self, lower=lower, upper=upper, step=step)


@dataclass(frozen=True, slots=True)
class Moved:
    """A store in terms of the turns of the loops that move it, innermost first: `starts`, `sizes` and `extents` by
    axis. `path` holds before the outermost of them."""

    starts: tuple[Expr, ...]
    sizes: tuple[Expr, ...]
    extents: tuple[Expr, ...]
    turns: tuple[Turn, ...]
    path: Cond

    def moving(self, axis: int) -> list[Turn]:
        """The loops that move it along an axis."""
        names = symbols_of(self.starts[axis])
        return [t for t in self.turns if t.name in names]

    @property
    def inside(self) -> Cond:
        """What holds of the windows that matter: their loops run, and they begin before the end of the tensor."""
        begun = (start < extent for start, extent in zip(self.starts, self.extents, strict=True))
        return all_of((self.path, *(t.inside for t in self.turns), *begun))


def moved(program: AccessProgram, step: Step, window: Window) -> Moved:
    """Untold where a loop that moves the window is not counted."""
    made = Moved(
        tuple(unclamped(o) for o in window.offsets), tuple(unclamped(s) for s in window.sizes), window.bounds, (),
        step.path)
    for loop in reversed(around(program, step)):
        if _counters(loop) & {n for e in made.starts for n in symbols_of(e)}:
            made = _in_turns(made, loop)
    return made


def forward(made: Moved) -> Moved:
    """The same with the turns of each loop that moves the window back counted from the last one."""
    for turn in made.turns:
        paces = [substitute(e, {turn.name: turn.counter + 1}) - e for e in made.starts]
        own = [pace for pace in paces if pace.value != 0]
        count = ceiling(turn.upper - turn.lower, turn.step)
        if own and all(pace.hi is not None and pace.hi < 0 for pace in own) and not (
                set(symbols_of(count)) & {t.name for t in made.turns}):
            values = {turn.name: count - 1 - turn.counter}
            starts, sizes = (tuple(substitute(e, values) for e in part) for part in (made.starts, made.sizes))
            made = replace(made, starts=starts, sizes=sizes, turns=tuple(t.at(values) for t in made.turns))
    return made


def _counters(loop: Loop) -> set[str]:
    """The symbols that stand for the counter of a loop."""
    return {repr(t) for t in (loop.var, loop.counter) if t is not None and set(symbols_of(t)) == {repr(t)}}


def turn_of(loop: Loop) -> tuple[Turn, dict[str, Expr]]:
    """A loop as turns, and what its counter is in each of them. Untold for a loop that is not counted."""
    own = _counters(loop)
    if loop.lower is None or loop.upper is None or loop.step is None:
        raise Untold("how often a while loop runs is not followed")
    lower, step = loop.lower, loop.step
    pace = substitute(step, {BLOCKS: 1}).value
    if pace is not None and step is symbol(BLOCKS, 1) * pace and lower is symbol(BLOCK, 0) * pace:
        lower, step = const(0), const(pace)  # blocks that take turns make every turn once: theorem GRID-TURNS
    turn = Turn(f"{min(own, default=repr(loop.var))}_turn", lower, loop.upper, step)
    values = {repr(loop.var): lower + step * turn.counter, repr(loop.counter): turn.counter}
    return turn, {name: value for name, value in values.items() if name in own}


def _in_turns(made: Moved, loop: Loop) -> Moved:
    turn, values = turn_of(loop)
    return Moved(
        tuple(substitute(e, values) for e in made.starts), tuple(substitute(e, values) for e in made.sizes),
        made.extents, (*(t.at(values) for t in made.turns), turn), loop.path)


@dataclass(frozen=True, slots=True)
class Level:
    """`count` turns, `pace` elements apart; no count where a caller chooses it."""

    name: str
    count: Expr | None
    pace: Expr


@dataclass(frozen=True, slots=True)
class Nest:
    """Windows of `size` elements at `first + sum(pace * turn)`, each turn of its own from 0 up to below its count.
    `levels` from the finest to the coarsest; `limits`: what the first so many of them write ends there at the latest,
    counted from where it begins. `ordered`: it is known that no level is finer than one before it."""

    first: Expr
    size: Expr
    levels: tuple[Level, ...]
    limits: tuple[tuple[int, Expr], ...]
    ordered: bool


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a store, and what decides the questions about it: `known` holds of every window that matters,
    `sizes` are the names of sizes, which alone make a number of turns the function's own."""

    moved: Moved
    number: int
    ladder: Ladder
    known: Cond
    sizes: frozenset[str]

    @property
    def start(self) -> Expr:
        return self.moved.starts[self.number]

    @property
    def extent(self) -> Expr:
        return self.moved.extents[self.number]

    def names(self) -> list[str]:
        """What moves the window, the innermost first."""
        placed = symbols_of(self.start)
        return [t.name for t in self.moved.moving(self.number)] + [n for n in (LANE, BLOCK) if n in placed]

    def first(self) -> Expr:
        return substitute(self.start, dict.fromkeys(self.names(), 0))

    def nest(self) -> Nest:
        """Untold where the windows are not those of a nest."""
        levels, ordered = self._sorted([self._level(name) for name in self.names()])
        size, limits = self._size([level.name for level in levels])
        return Nest(self.first(), size, tuple(levels), limits, ordered)

    def _sorted(self, levels: list[Level]) -> tuple[list[Level], bool]:
        """From the shortest steps to the longest, and whether that is known of them."""
        if all(level.pace.value is not None for level in levels):
            return sorted(levels, key=lambda level: level.pace.value or 0), True
        left, found = list(levels), list[Level]()
        while left:
            least = next((a for a in left if all(
                a is b or self.ladder.entails(self.known, a.pace <= b.pace) for b in left)), None)
            if least is None:
                return levels, False
            left.remove(least)
            found.append(least)
        return found, True

    def _level(self, name: str) -> Level:
        counter = symbol(name, 0)
        pace = substitute(self.start, {name: counter + 1}) - self.start
        if set(symbols_of(pace)) & set(self.names()):
            raise Untold("a window that does not move by equal steps is not followed")
        if (pace.lo is None or pace.lo < 0) and not self.ladder.entails(self.known, pace >= 0):
            raise Untold("a window that moves back is not followed")
        if name == LANE:
            return Level(name, const(2), pace)
        if name == BLOCK:
            # Who steps by the number of blocks says how many of them write side by side.
            counted = any(BLOCKS in symbols_of(t.step) for t in self.moved.moving(self.number))
            return Level(name, symbol(BLOCKS, 1) if counted else None, pace)
        turn = next(t for t in self.moved.turns if t.name == name)
        span = self._upper(turn, pace) - turn.lower
        if set(symbols_of(span)) & {t.name for t in self.moved.turns}:
            raise Untold("a loop whose length depends on another's counter is not followed")
        own = set(symbols_of(span)) <= self.sizes
        return Level(name, ceiling(span, turn.step) if own else None, pace)

    def _upper(self, turn: Turn, pace: Expr) -> Expr:
        """The end of a loop, without the ends behind which it is past the end of the tensor anyway."""
        ends = parts_of(turn.upper, "min")
        kept = [e for e in ends if not self._past(turn, pace, e)]
        if kept:
            return minimum(*kept)
        others = {t.name: 0 for t in self.moved.turns if t.name != turn.name}
        latest = substitute(ends[0], others)
        return latest if self.ladder.entails(self.known, latest >= ends[0]) else turn.upper

    def _past(self, turn: Turn, pace: Expr, end: Expr) -> bool:
        """Whether windows of turns from `end` on begin past the end of the tensor."""
        unit = pace if turn.step.value == 1 else const(1) if pace is turn.step else pace // turn.step
        if unit * turn.step is not pace:
            return False
        begin = substitute(self.start, {turn.name: 0}) + unit * (end - turn.lower)
        return self.ladder.entails(all_of(conjuncts(self.moved.path)), begin >= self.extent)

    def _size(self, order: list[str]) -> tuple[Expr, tuple[tuple[int, Expr], ...]]:
        """(size of a window, limits of the nest)."""
        fixed: list[Expr] = []
        limits: list[tuple[int, Expr]] = []
        paces = {name: self._pace(name) for name in order}
        for part in parts_of(self.moved.sizes[self.number], "min"):
            own = [n for n in order if n in symbols_of(part)]
            if self.ladder.entails(self.known, self.start + part >= self.extent):
                continue
            if not own:
                fixed.append(part)
                continue
            limit = part
            for name in own:
                limit = limit + paces[name] * symbol(name, 0)
            if set(symbols_of(limit)) & set(order) or own != order[:len(own)]:
                raise Untold("a window whose size depends on a loop's counter is not followed")
            limits.append((len(own), limit))
        return minimum(*(fixed or [x for _, x in limits] or [self.extent])), tuple(limits)

    def _pace(self, name: str) -> Expr:
        return substitute(self.start, {name: symbol(name, 0) + 1}) - self.start


def parts_of(e: Expr, kind: str) -> list[Expr]:
    """The operands of a least or greatest value; of another expression, itself."""
    (mono, factor), *others = e.terms or (((), 0),)
    if others or factor != 1 or e.constant != 0 or len(mono) != 1 or mono[0].kind != kind:
        return [e]
    return list(mono[0].args)


@dataclass(frozen=True, slots=True)
class Waits:
    """What a store waits for beside the loops that move it: `guards`, the conditions on it, and `runs`, that a loop
    that does not move it turns at all. Left out is what holds for every window that begins before the end of its
    tensor, in the first turn of the loops that do not move it, or in their last."""

    guards: tuple[Cond, ...]
    runs: tuple[Cond, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(n for c in (*self.guards, *self.runs) for n in names_of(c))


def waits(step: Step, window: Window, ladder: Ladder, facts: Cond) -> Waits:
    starts = [unclamped(o) for o in window.offsets]
    placed = {n for e in starts for n in symbols_of(e)}
    still = [x for x in step.loops if not _counters(x) & placed]
    begun = (start < extent for start, extent in zip(starts, window.bounds, strict=True))
    known = all_of((facts, *begun, *(c for x in step.loops if x not in still for c in _in_range(x))))
    runs = [x.upper > x.lower for x in still if x.lower is not None and x.upper is not None]
    guards = conditions(step)
    running = all_of((known, *runs))

    def left(asked: list[Cond], given: Cond) -> tuple[Cond, ...]:
        return tuple(c for c in asked if not ladder.entails(given, c))

    found = Waits(left(guards, known), left(runs, known))
    turning = {n for x in still for n in _counters(x)}
    if not found.names & turning:
        return found
    for last in (False, True):
        at = [_at_end(c, still, last) for c in (*found.guards, *found.runs) if names_of(c) & turning]
        if not left(at, running):
            return Waits(*(tuple(c for c in part if not names_of(c) & turning) for part in (found.guards, found.runs)))
    return found


def conditions(step: Step) -> list[Cond]:
    """The conditions around a step, but for the ranges of its loops."""
    in_range = {c for loop in step.loops for c in _in_range(loop)}
    return [c for c in conjuncts(step.path) if c not in in_range]


def _in_range(loop: Loop) -> list[Cond]:
    """What holds in a loop because its counter is in range."""
    before = conjuncts(loop.path)
    return [c for c in conjuncts(loop.inside) if c not in before]


def _at_end(cond: Cond, loops: list[Loop], last: bool) -> Cond:
    """A condition in the first or in the last turn of the loops."""
    for loop in reversed(loops):
        if loop.lower is not None and loop.upper is not None and loop.step is not None:
            turn = (loop.upper - loop.lower - 1) // loop.step if last else const(0)
            values = {repr(loop.var): loop.lower + loop.step * turn, repr(loop.counter): turn}
            cond = substitute_cond(cond, {n: e for n, e in values.items() if n in _counters(loop)})
    return cond


def first_of(made: Moved, turns: list[Turn]) -> Moved:
    """A store in the first turns of some of the loops that move it, which are left out."""
    values = {t.name: const(0) for t in turns}
    starts, sizes = (tuple(substitute(e, values) for e in part) for part in (made.starts, made.sizes))
    return replace(made, starts=starts, sizes=sizes, turns=tuple(t.at(values) for t in made.turns if t not in turns))


def repeated(program: AccessProgram, step: Step) -> frozenset[str]:
    """The symbols of the loops that run a step again, those for whose test it runs too: their counters, and what they
    hand on."""
    return frozenset(n for loop in around(program, step) for n in _counters(loop)) | handed_on(program, step)


def handed_on(program: AccessProgram, step: Step) -> frozenset[str]:
    """Values that these loops hand on from turn to turn, where they are no form of a counter."""
    return frozenset(c.name for loop in around(program, step) for c in loop.carried)


def counters(step: Step) -> frozenset[str]:
    """The symbols of the loops around a step."""
    return frozenset(n for loop in step.loops for n in _counters(loop))
