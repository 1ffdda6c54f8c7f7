"""What a walk asks the solver: each question once, and only so many of them."""

from __future__ import annotations

from functools import cached_property

from pypto_verified.index import Cond, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.report.model import Verdict
from verifiers.access import AccessProgram, Branch, Loop, Step, Window
from verifiers.race.cycles import second_turn
from verifiers.race.places import OnChip, Place, apart, taken_for_granted
from verifiers.solver import Ladder
from verifiers.solver.cone import names_of, split_by_relevance
from verifiers.solver.points import plain_model

_MOST = 200
"""Pairs of symbolic places, and ways of branches, that the solver is asked about."""


class Questions:
    """`case`: what holds besides in the walk that asks about places; `assumed`: what does in all."""

    def __init__(self, program: AccessProgram, ladder: Ladder, assumed: Cond) -> None:
        self.symbols = program.symbols
        self.ladder = ladder
        self.case = TRUE
        self._facts = program.symbols.facts & assumed
        self._asked = 0
        self._empty: dict[int, bool] = {}
        self._once: dict[Loop, bool] = {}
        self._ways: dict[tuple[Branch, Cond], bool] = {}

    def no_more(self) -> None:
        """Places of which it is not known whether they meet are taken to do so from here on."""
        self._asked = _MOST

    def meet(self, a: Place, b: Place) -> bool:
        """Whether two places may share a byte."""
        if self._asked >= _MOST and _in_a_ring(a, b):
            return True
        goal = apart(a, b)
        if goal is TRUE or goal is FALSE:
            return goal is FALSE
        relevant, _, _ = split_by_relevance(self._facts & self.case & taken_for_granted(a, b), names_of(goal))
        if plain_model(relevant & ~goal) is not None:
            return True
        if self._asked >= _MOST:
            return True
        self._asked += 1
        return not self.ladder.entails(relevant, goal)

    def reached(self, branch: Branch, cond: Cond) -> bool:
        """Whether some run may take this way of a branch. One that none takes is no path, and what stands there makes
        no difference."""
        found = self._ways.get((branch, cond))
        if found is None:
            asked = len(self._ways) < _MOST and self._consistent
            found = not asked or self._possible(branch.path & cond & self._facts)
            self._ways[branch, cond] = found
        return found

    def stores_nothing(self, step: Step) -> bool:
        """Whether a store is reached only where its window has no rows or no columns."""
        if step.op.name != "pto.tstore":
            return False
        found = self._empty.get(step.index)
        if found is None:
            path = names_of(step.path)
            sizes = [n for o in step.operands.get("dst", ()) if isinstance(o, Window) for n in o.sizes]
            found = any(
                not path.isdisjoint(symbols_of(n)) and self._consistent
                and not self._possible(step.path & self._facts & (n >= 1)) for n in sizes)
            self._empty[step.index] = found
        return found

    def ends_at_once(self, loop: Loop) -> bool:
        """Whether a while loop can't go on after its first turn, by what it hands on there."""
        found = self._once.get(loop)
        if found is None:
            again = None if loop.head or loop.var is not None else second_turn(loop, self.symbols, self._facts)
            found = again is not None and self._consistent and not self._possible(again)
            self._once[loop] = found
        return found

    @cached_property
    def _consistent(self) -> bool:
        """Whether what is assumed can hold at all."""
        return self._possible(self._facts)

    def _possible(self, c: Cond) -> bool:
        return self.ladder.satisfiable(c).verdict is not Verdict.VACUOUS


def _in_a_ring(a: Place, b: Place) -> bool:
    """Whether nothing but a formula could tell two slots apart: of rings in loops in loops there are thousands."""
    if not isinstance(a, OnChip) or not isinstance(b, OnChip) or a.arena != b.arena:
        return False
    whole = a.rect.row_bytes == a.rect.pitch or b.rect.row_bytes == b.rect.pitch or a.rect.pitch != b.rect.pitch
    far = b.base - a.base
    return whole and (far.lo is None or far.lo < a.rect.span) and (far.hi is None or far.hi > -b.rect.span)
