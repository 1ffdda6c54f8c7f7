"""How often a function pushes, pops and frees on a pipe: a sum over its ops of trip counts, under conditions.

Turns of loops in which a condition on the turn holds are counted where they are few, or have a closed form; else their
number is a symbol, which is the same at both ends where the loops and the condition are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import product

from pypto_verified.index import Cond, Expr, all_of, const, implies, substitute, substitute_cond, symbol, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.records import dataclass
from verifiers.access import AccessProgram, Step, SymbolKind
from verifiers.access.calls import reached
from verifiers.fifo_sums import turns_that_hold
from verifiers.pipe_nest import branches, tested
from verifiers.pipes import LANE
from verifiers.recurrence import counted, trips
from verifiers.solver.cone import conjuncts, names_of

MOST_CONDITIONS = 4
"""Branches on both ends of a pipe that are told apart; more are not followed."""
MOST_TURNS = 2_000
"""Turns of loops that are counted one by one."""
_IN_A_LOOP = "a transfer depends on the turn of a loop"
_CALLED = "a function that is called may do it too"
_HOW_OFTEN = "how often a loop turns is not known"


@dataclass(frozen=True, slots=True)
class Count:
    """`terms`: numbers of runs, each under the conditions that branches set. `why`: what is not followed. `turns`:
    names of numbers of turns in which something holds, which depends on the names `inside`."""

    terms: tuple[tuple[tuple[Cond, ...], Expr], ...] = ()
    why: str = ""
    turns: frozenset[str] = frozenset()
    inside: frozenset[str] = frozenset()

    def under(self, held: frozenset[Cond]) -> Expr:
        """The sum where exactly these conditions hold."""
        total = const(0)
        for conditions, times in self.terms:
            if held.issuperset(conditions):
                total = total + times
        return total

    def names(self) -> set[str]:
        """What the numbers and conditions depend on."""
        named = {n for held, times in self.terms for n in frozenset(symbols_of(times)).union(*map(names_of, held))}
        return named - self.turns | self.inside

    def renamed(self, names: Mapping[str, Expr]) -> Count:
        """The same with other names for what it depends on."""
        if not names:
            return self
        if any(n in self.inside and n not in symbols_of(e) for n, e in names.items()):
            return Count(why=_IN_A_LOOP)  # turns are counted under the names that they have
        terms = tuple(
            (tuple(substitute_cond(c, names) for c in held), substitute(times, names)) for held, times in self.terms)
        return replace(self, terms=terms)


@dataclass(frozen=True, slots=True, eq=False)
class _Turns:
    """An op of loops: it runs `times` for each of the turns of `loops`, outermost first, in which all of `held` hold;
    turn `k` of the n-th of them is the symbol `_turn(n)`. `outside`: conditions that no turn changes."""

    outside: tuple[Cond, ...]
    times: Expr
    loops: tuple[Expr, ...] = ()
    held: frozenset[Cond] = frozenset()


@lru_cache(maxsize=64)
def runs(program: AccessProgram, op: str, id: int, lane: int) -> Count:
    """How often one lane runs the op `op` of pipe `id`."""
    if in_functions(program, op):
        return Count(why=_CALLED)
    found: list[_Turns] = []
    for step in program.steps:
        if step.op.name != op or pipe_id(step.op) != id or substitute_cond(step.path, {LANE: lane}) is FALSE:
            continue
        turns = _HOW_OFTEN if step.index in tested(program) else _turns(program, step, lane)
        if isinstance(turns, str):
            return Count(why=turns)
        found.append(turns)
    merged = _merged(found)
    numbers = [_number(t) for t in merged]
    turns_named = frozenset(n for e in numbers for n in symbols_of(e) if n.startswith(_TURNS))
    inside = frozenset(
        n for t, e in zip(merged, numbers, strict=True) if turns_named & set(symbols_of(e))
        for n in frozenset(symbols_of(*t.loops)).union(*map(names_of, t.held)) if not n.startswith(_TURN))
    return Count(
        tuple((t.outside, t.times * e) for t, e in zip(merged, numbers, strict=True)), "", turns_named, inside)


_TURN, _TURNS = "turn ", "turns "


def in_functions(program: AccessProgram, op: str) -> bool:
    """Whether functions that are called may run an op, which no one counts."""
    return bool(reached(program.func, lambda name: name == op))


def _turn(n: int) -> Expr:
    return symbol(f"{_TURN}{n}", 0)


def _turns(program: AccessProgram, step: Step, lane: int) -> _Turns | str:
    """The turns in which a step runs, or why they are not followed."""
    numbers = [trips(loop) for loop in step.loops]
    conditions = [c for b in branches(step) for c in conjuncts(substitute_cond(b, {LANE: lane}))]
    counters = {own.name: n for n, own in enumerate(map(counted, step.loops)) if own is not None}
    changing = [c for c in conditions if _changes(program, names_of(c))]
    deciding = {counters[n] for c in changing for n in names_of(c) & counters.keys()}
    for n, number in reversed(list(enumerate(numbers))):
        if number is None:
            return _HOW_OFTEN
        if _changes(program, frozenset(symbols_of(number))):
            deciding |= {n, *(counters[name] for name in symbols_of(number) if name in counters)}
    place: dict[str, Expr] = {}
    loops: list[Expr] = []
    times = const(1)
    for n, (loop, number) in enumerate(zip(step.loops, numbers, strict=True)):
        assert number is not None
        within = substitute(substitute(number, {LANE: lane}), place)
        own = counted(loop)
        if n not in deciding:
            times = times * within
        elif own is not None:
            place[own.name] = substitute(own.base, place) + _turn(len(loops))
            loops.append(within)
    held = frozenset(c for c in (substitute_cond(c, place) for c in changing) if c is not TRUE)
    if any(_changes(program, names_of(c)) for c in held) or _changes(program, frozenset(symbols_of(*loops))):
        return _IN_A_LOOP
    return _Turns(tuple(c for c in conditions if c not in changing), times, tuple(loops), held)


def _changes(program: AccessProgram, names: frozenset[str]) -> bool:
    """Whether a value of these names may be another one in each turn of a loop."""
    kinds = program.symbols.kinds
    facts, before = [names_of(c) for c in conjuncts(program.symbols.facts)], frozenset[str]()
    while names != before:
        derived = {n for n in names if kinds.get(n) is SymbolKind.DEFINED}
        before, names = names, names.union(*(f for f in facts if f & derived))
    return any(kinds.get(n) in (SymbolKind.TRIP, SymbolKind.OPAQUE) for n in names)


def _merged(found: list[_Turns]) -> list[_Turns]:
    """Ops of both branches of a condition are one op."""
    left = list(found)
    for one, other in ((a, b) for i, a in enumerate(found) for b in found[i + 1:]):
        asked, others = one.held.union(one.outside), other.held.union(other.outside)
        alike = _uids(one.times, *one.loops) == _uids(other.times, *other.loops)
        if alike and asked != others and all_of(asked - others) == ~all_of(others - asked):
            left.remove(one)
            left.remove(other)
            outside = tuple(c for c in one.outside if c in others)
            return _merged([*left, _Turns(outside, one.times, one.loops, one.held & others)])
    return left


def _uids(*exprs: Expr) -> tuple[int, ...]:
    return tuple(e.uid for e in exprs)


def _number(turns: _Turns) -> Expr:
    """In how many turns all of it holds."""
    if not turns.held and not any(n.startswith(_TURN) for n in symbols_of(*turns.loops)):
        total = const(1)
        for number in turns.loops:
            total = total * number
        return total
    counted_up = _counted_up(turns.loops, turns.held, 0)
    if counted_up is not None:
        return const(counted_up)
    closed = turns_that_hold(
        tuple((number, f"{_TURN}{n}") for n, number in enumerate(turns.loops)), turns.held)
    if closed is not None:
        return closed
    of, when = ", ".join(map(repr, turns.loops)), " and ".join(sorted(map(repr, turns.held)))
    return symbol(f"{_TURNS}of {of}: {when}", 0)


def _counted_up(loops: tuple[Expr, ...], held: frozenset[Cond], depth: int) -> int | None:
    """The same, turn by turn; None where a size decides, or there are too many."""
    if not loops:
        return int(all(c is TRUE for c in held)) if all(c is TRUE or c is FALSE for c in held) else None
    if loops[0].value is None or loops[0].value > MOST_TURNS:
        return None
    total = 0
    for k in range(loops[0].value):
        at = {f"{_TURN}{depth}": k}
        inner = _counted_up(
            tuple(substitute(e, at) for e in loops[1:]), frozenset(substitute_cond(c, at) for c in held), depth + 1)
        if inner is None:
            return None
        total += inner
        if total > MOST_TURNS:
            return None
    return total


def compared(a: Count, b: Count, relation: Callable[[Expr, Expr], Cond]) -> Cond:
    """That two counts are in a relation, whatever the branches of both."""
    asked = list(dict.fromkeys(c for count in (a, b) for conditions, _ in count.terms for c in conditions))
    goals: list[Cond] = []
    for taken in product((True, False), repeat=len(asked)):
        held = frozenset(c for c, yes in zip(asked, taken, strict=True) if yes)
        case = all_of(c if yes else ~c for c, yes in zip(asked, taken, strict=True))
        goals.append(implies(case, relation(a.under(held), b.under(held))))
    return all_of(goals)


def why_not(a: Count, b: Count) -> str:
    """What keeps two counts from being compared, '' if nothing does."""
    asked = {c for count in (a, b) for conditions, _ in count.terms for c in conditions}
    return a.why or b.why or (
        _IN_A_LOOP if a.turns != b.turns else "too many branches" if len(asked) > MOST_CONDITIONS else "")
