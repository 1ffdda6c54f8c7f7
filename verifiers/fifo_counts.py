"""How often a function pushes, pops and frees on a pipe: a sum over its ops of trip counts, under conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from pypto_verified.index import Cond, Expr, all_of, const, implies, substitute, substitute_cond, symbols_of
from pypto_verified.index.cond import FALSE
from pypto_verified.pto.legality_context import pipe_id
from verifiers.access import AccessProgram, Loop, Step, SymbolKind
from verifiers.pipes import LANE
from verifiers.recurrence import trips
from verifiers.solver.cone import conjuncts

MOST_CONDITIONS = 4
"""Branches on both ends of a pipe that are told apart; more are not followed."""


@dataclass(frozen=True, slots=True)
class Count:
    """`terms`: numbers of runs, each under the conditions that branches set. `why`: what is not followed."""

    terms: tuple[tuple[tuple[Cond, ...], Expr], ...] = ()
    why: str = ""

    def under(self, held: frozenset[Cond]) -> Expr:
        """The sum where exactly these conditions hold."""
        total = const(0)
        for conditions, times in self.terms:
            if held.issuperset(conditions):
                total = total + times
        return total

    def names(self) -> set[str]:
        """What the numbers and conditions depend on."""
        return {n for conditions, times in self.terms for n in symbols_of(times, *conditions)}


def runs(program: AccessProgram, op: str, id: int, lane: int) -> Count:
    """How often one lane runs the op `op` of pipe `id`."""
    terms: list[tuple[tuple[Cond, ...], Expr]] = []
    for step in program.steps:
        if step.op.name != op or pipe_id(step.op) != id or substitute_cond(step.path, {LANE: lane}) is FALSE:
            continue
        times = const(1)
        for loop in step.loops:
            turns = trips(loop)
            if turns is None:
                return Count(why="how often a loop turns is not known")
            times = times * substitute(turns, {LANE: lane})
        conditions = tuple(substitute_cond(c, {LANE: lane}) for c in _branches(step))
        if _changes_in_a_loop(program, times, *conditions):
            return Count(why="a transfer depends on the turn of a loop")
        terms.append((tuple(c for c in conditions if conjuncts(c)), times))
    return Count(tuple(terms))


def _branches(step: Step) -> Iterator[Cond]:
    """What branches around a step ask, without what its loops do."""
    of_loops = {c for loop in step.loops for c in _own(loop)}
    return (c for c in conjuncts(step.path) if c not in of_loops)


def _own(loop: Loop) -> Iterator[Cond]:
    around = set(conjuncts(loop.path))
    return (c for c in conjuncts(loop.inside) if c not in around)


def _changes_in_a_loop(program: AccessProgram, *parts: Expr | Cond) -> bool:
    kinds = program.symbols.kinds
    return any(kinds.get(n) in (SymbolKind.TRIP, SymbolKind.OPAQUE) for p in parts for n in symbols_of(p))


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
    return a.why or b.why or ("too many branches" if len(asked) > MOST_CONDITIONS else "")
