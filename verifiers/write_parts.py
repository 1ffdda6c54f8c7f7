"""What one store writes of its tensor, as a condition on an element: that the window whose turn it is there holds it.

Told are loops that move the store by constant steps, each along one axis. The turn of each is computed from the
element, the longest steps first, and what the store waits for is asked of those turns. No other window holds the
element where those of one loop do not overlap, or none ends before the one in front of it (`exact`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pypto_verified.index import (
    Cond,
    Expr,
    all_of,
    const,
    maximum,
    minimum,
    substitute,
    substitute_cond,
    symbol,
    symbols_of,
)
from pypto_verified.records import dataclass
from verifiers.access import Step, SymbolKind, Window
from verifiers.access.scalars import ceiling
from verifiers.sites import Context
from verifiers.solver.cone import names_of
from verifiers.write_levels import Moved, Turn, Untold, counters, moved, turn_of, waits

_LOOPS = "what a store in such loops writes is not followed"


@dataclass(frozen=True, slots=True)
class Part:
    """A store: by axis, whether the turns that move it there `ran` for the element that is asked for, and whether its
    window holds it; `guards`: what else it waits for in those turns, `turns` by name. `counts`: by axis, the names that
    say how often a loop moves it there; `moving`: whether one does."""

    ran: tuple[Cond, ...]
    guards: Cond
    turns: Mapping[str, Expr]
    axes: tuple[Cond, ...]
    counts: tuple[frozenset[str], ...]
    moving: tuple[bool, ...]
    exact: bool

    @property
    def runs(self) -> Cond:
        """Whether the store takes place there."""
        return all_of((*self.ran, self.guards))


def element_of(window: Window) -> tuple[Expr, ...]:
    """The place of any element of the tensor that a window is of."""
    return tuple(symbol(f"element {axis}", 0) for axis in range(len(window.bounds)))


def told(context: Context, step: Step, window: Window) -> Part | None:
    """What a store writes of any element of its tensor; None where that is not told."""
    if window.parent:
        return None
    try:
        return part_of(context, step, window, element_of(window))
    except Untold:
        return None


def by_element(context: Context, step: Step, window: Window) -> bool:
    """Whether WRITE-UNION judges all axes of a lone store: it waits for a condition on a counter that moves it."""
    waiting = waits(step, window, context.ladder, all_of((context.program.symbols.facts, context.assumed)))
    return bool(waiting.names & counters(step)) and told(context, step, window) is not None


def part_of(
    context: Context, step: Step, window: Window, place: tuple[Expr, ...], alike: frozenset[str] = frozenset()
) -> Part | None:
    """What the store writes of the element at `place`. None where it has its place from a caller, Untold where it is
    not followed. `alike`: what it may depend on beside sizes."""
    made = moved(context.program, step, window)
    guards = _waits(context, step, window, made)
    sizes = alike | {n for n, k in context.program.symbols.kinds.items() if k is SymbolKind.DIM}
    turns = frozenset(t.name for t in made.turns)
    bounds = [e for t in made.turns for e in (t.lower, t.upper, t.step)]
    named = {n for e in (*made.starts, *made.sizes, *bounds) for n in symbols_of(e)}
    named |= {n for c in guards for n in names_of(c)}
    if not named <= sizes | turns:
        if named - sizes - turns <= counters(step):
            raise Untold(_LOOPS)
        return None
    made, guards = _forward(made, guards)
    chosen: dict[str, Expr] = {}
    ran: list[Cond] = []
    exact = True
    for axis, at in enumerate(place):
        turns_here = made.moving(axis)
        if any(t.name in chosen for t in turns_here):
            raise Untold(_LOOPS)
        levels = sorted(((_pace(made, axis, t), t) for t in turns_here), key=lambda level: -level[0])
        left = at - substitute(made.starts[axis], {t.name: 0 for t in turns_here})
        counted: list[Cond] = []
        for pace, turn in levels:
            count = _count(turn.at(chosen))
            number = maximum(const(0), minimum(left // pace, count - 1))
            chosen[turn.name] = number
            counted.append(number < count)
            left = left - pace * number
        ran.append(all_of(counted))
        exact = exact and _alone(context, made, axis, levels, guards)
    if not {n for e in chosen.values() for n in symbols_of(e)} <= sizes | {n for x in place for n in symbols_of(x)}:
        raise Untold(_LOOPS)
    windows = [
        (substitute(start, chosen), substitute(size, chosen))
        for start, size in zip(made.starts, made.sizes, strict=True)]
    axes = tuple(
        all_of((start <= at, at < start + size)) for (start, size), at in zip(windows, place, strict=True))
    counts = tuple(
        frozenset(n for t in made.moving(a) for n in (*symbols_of(t.upper), *symbols_of(t.lower)))
        for a in range(len(place)))
    return Part(
        tuple(ran), all_of(substitute_cond(c, chosen) for c in guards), chosen, axes, counts,
        tuple(bool(made.moving(a)) for a in range(len(place))), exact)


def _waits(context: Context, step: Step, window: Window, made: Moved) -> list[Cond]:
    """What a store waits for, in terms of the turns that move it, and that the other loops around it turn at all."""
    waiting = waits(step, window, context.ladder, all_of((context.program.symbols.facts, context.assumed)))
    asked = [*waiting.guards, *waiting.runs]
    names = {t.name for t in made.turns}
    for loop in reversed(step.loops):
        turn, values = turn_of(loop)
        if turn.name in names:
            asked = [substitute_cond(c, values) for c in asked]
    return asked


def _count(turn: Turn) -> Expr:
    if turn.step.value is None or turn.step.value <= 0:
        raise Untold(_LOOPS)
    return ceiling(turn.upper - turn.lower, turn.step)


def _forward(made: Moved, guards: list[Cond]) -> tuple[Moved, list[Cond]]:
    """The same with the turns of each loop that moves the store back counted from the last one."""
    for turn in made.turns:
        paces = [substitute(e, {turn.name: turn.counter + 1}) - e for e in made.starts]
        if any(p.value is not None and p.value < 0 for p in paces):
            count = _count(turn)
            if set(symbols_of(count)) & {t.name for t in made.turns}:
                raise Untold(_LOOPS)
            values = {turn.name: count - 1 - turn.counter}
            starts, sizes = (tuple(substitute(e, values) for e in part) for part in (made.starts, made.sizes))
            made = replace(made, starts=starts, sizes=sizes, turns=tuple(t.at(values) for t in made.turns))
            guards = [substitute_cond(c, values) for c in guards]
    return made, guards


def _pace(made: Moved, axis: int, turn: Turn) -> int:
    pace = (substitute(made.starts[axis], {turn.name: turn.counter + 1}) - made.starts[axis]).value
    if pace is None or pace <= 0:
        raise Untold(_LOOPS)
    return pace


def _alone(
    context: Context, made: Moved, axis: int, levels: list[tuple[int, Turn]], guards: list[Cond]
) -> bool:
    """Whether no window but the one whose turn it is holds an element, or that one holds it too."""
    known = all_of((context.program.symbols.facts, context.assumed, *(t.inside for t in made.turns)))
    length = made.sizes[axis]
    finer = [turn for _, turn in levels]
    for pace, turn in levels:
        finer.remove(turn)
        reach = length
        for other, inner in levels:
            reach = reach + other * inner.counter if inner in finer else reach
        if context.ladder.entails(known, reach <= pace):
            continue
        if len(levels) > 1 or any(turn.name in names_of(c) for c in guards):
            return False
        end = made.starts[axis] + length
        following: Mapping[str, Expr] = {turn.name: turn.counter + 1}
        after = all_of((known, substitute_cond(turn.inside, following)))
        if not context.ladder.entails(after, end <= substitute(end, following)):
            return False
    return True
