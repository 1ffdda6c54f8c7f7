"""Which bytes are written on every path before a read: a must-analysis, next to the may-analysis of `liveness.py`.

A loop's body writes what it writes only if it runs at all, so behind a loop its bytes are written under `trips >= 1`,
and under the condition of a branch with the counter at its first value: the common `if i == 0: start, else: accumulate`
is understood. A write that moves with the counter covers the union of its places: byte for byte where the number of
trips is known, else the stretch up to the last trip if the pieces leave no gap. What the conditions cannot express (a
slot chosen at run time, a branch on data, a while loop, a later iteration's branch) is `unsure`.

It is done twice: with tiles as whole rects of bytes, for reads of what was written at one place, where INIT-VALID
compares the extents, and `exact`, with the elements that ops really write.
"""

from __future__ import annotations

from functools import lru_cache

from pypto_verified.index import Cond, Expr, const, substitute, substitute_cond, symbols_of
from pypto_verified.index.cond import TRUE
from verifiers.access import AccessProgram, Branch, Loop, Node, Sequence, Step, SymbolKind
from verifiers.access.overlap import shifted
from verifiers.recurrence import trips
from verifiers.regions import repeated, writes_of
from verifiers.solver.cone import booleans_of
from verifiers.written import TRIPS, Arena, Cover, Span, Written, spread, start_of

_OUTER = frozenset({SymbolKind.DIM, SymbolKind.PARAM, SymbolKind.BLOCK, SymbolKind.LAUNCH, SymbolKind.SIZE})
"""Kinds of symbols that mean the same in every iteration of every loop."""


class _Analysis:
    """What each loop writes, and the state before every step that reads. `outer`: names of the counters around."""

    def __init__(self, program: AccessProgram, exact: bool) -> None:
        self._exact = exact
        self._kinds = program.symbols.kinds
        self._loops: dict[int, Written] = {}
        self.before: dict[int, Written] = {}
        self._walk(program.body, Written(), frozenset())

    def _effects(self, node: Node, outer: frozenset[str]) -> Written:
        made = Written()
        if isinstance(node, Step):
            self._step(node, made)
        elif isinstance(node, Sequence):
            for item in node.items:
                made.add(self._effects(item, outer))
        elif isinstance(node, Branch):
            self._branch(node, outer, made)
        elif node.lower is None or node.upper is None:
            made = self._body(node, outer).doubts(TRUE)
        else:
            made = self._earlier(node, node.upper > node.lower, trips(node), outer)
        return made

    def _step(self, step: Step, state: Written) -> None:
        for region in writes_of(step):
            state.write(region, self._exact)

    def _branch(self, node: Branch, outer: frozenset[str], made: Written) -> None:
        """Bytes that both arms write are written; the rest of an arm under its condition."""
        then, orelse = self._effects(node.then, outer), self._effects(node.orelse, outer)
        both = {a: m & orelse.always.get(a, 0) for a, m in then.always.items()}
        made.add(Written(always={a: m for a, m in both.items() if m}))
        for arena, starts in then.moving.items():
            for start, bytes_ in starts.items():
                shared = bytes_ & orelse.moving.get(arena, {}).get(start, 0)
                if shared:
                    made.move(arena, start, shared)
        made.add(then, node.cond)
        made.add(orelse, ~node.cond)

    def _body(self, loop: Loop, outer: frozenset[str]) -> Written:
        found = self._loops.get(id(loop))
        if found is None:
            found = self._loops[id(loop)] = self._effects(loop.body, outer | _counters(loop))
        return found

    def _earlier(self, loop: Loop, ran: Cond, count: Expr | None, outer: frozenset[str]) -> Written:
        """What `count` iterations of a counted loop have written at a point before which the first one was run if
        `ran`."""
        made = Written()
        body = self._body(loop, outer)
        made.add(Written(always=body.always), ran)
        first = _first_values(loop)
        for arena, facts in body.when.items():
            for c, bytes_ in facts.items():
                at_first = substitute_cond(c, first)
                if self._lasting(outer, at_first):
                    made.add(Written(always={arena: bytes_}), ran & at_first)
                if at_first is not TRUE:
                    made.doubt(arena, bytes_, ran)
        for arena, spans in body.spans.items():
            for s in spans:
                under, end = ran & substitute_cond(s.under, first), substitute(s.end, first)
                if self._lasting(outer, under, end):
                    made.span(arena, Span(under, s.start, end))
        for covers in body.covers.values():
            for k in covers:
                self._lasting_cover(k, loop, ran, outer, made)
        for arena, starts in body.moving.items():
            for start, bytes_ in starts.items():
                self._moved(arena, start, bytes_, loop, ran, count, outer, made)
        made.add(Written(unsure=body.unsure).doubts(ran))
        return made

    def _lasting_cover(self, k: Cover, loop: Loop, ran: Cond, outer: frozenset[str], made: Written) -> None:
        """A place that is the same in every iteration stays written, as far as it was in the first."""
        first = _first_values(loop)
        under = ran & substitute_cond(k.under, first)
        rows, cols = substitute(k.rows, first), substitute(k.cols, first)
        at = start_of(k.tile)
        if self._lasting(outer, under, at, rows, cols):
            made.cover(Cover(k.tile, under, rows, cols))

    def _moved(
        self, arena: Arena, start: Expr, bytes_: int, loop: Loop, ran: Cond, count: Expr | None,
        outer: frozenset[str], made: Written,
    ) -> None:
        """The union of a write's places over the iterations."""
        first = _first_values(loop)
        pace = substitute(start, {n: v + 1 for n, v in _own(loop).items()}) - start
        at = substitute(start, first)
        if pace.value is None or count is None or not self._lasting(outer, at):
            made.doubt(arena, spread(start, bytes_), ran)
            return
        step, number = pace.value, count.value
        if number is not None and 0 < number <= TRIPS:
            low = at + step * (number - 1) if step < 0 else at
            made.move(arena, low, repeated(bytes_, number, abs(step)) if step else bytes_)
            return
        length = bytes_.bit_length()
        solid = 0 < step <= length and bytes_ == (1 << length) - 1 and self._lasting(outer | _counters(loop), count)
        if at.value is not None and at.value >= 0:
            made.note(arena, ran, shifted(bytes_, at.value))
            if solid and self._exact:
                made.span(arena, Span(ran, at.value, at + step * (count - 1) + length))
                return
        made.doubt(arena, spread(start, bytes_), ran)

    def _lasting(self, outer: frozenset[str], *terms: Expr | Cond) -> bool:
        """Whether conditions and numbers mean the same outside of the loop that they come from."""
        if any(isinstance(t, Cond) and any(True for _ in booleans_of(t)) for t in terms):
            return False
        return all(n in outer or self._kinds.get(n) in _OUTER for n in symbols_of(*terms))

    def _walk(self, node: Node, state: Written, outer: frozenset[str]) -> None:
        """Adds what `node` writes to `state` and notes the state before each step."""
        if isinstance(node, Step):
            if node.reads():
                self.before[node.index] = state.copy()
            self._step(node, state)
        elif isinstance(node, Sequence):
            for item in node.items:
                self._walk(item, state, outer)
        elif isinstance(node, Branch):
            self._walk(node.then, state.copy(), outer)
            self._walk(node.orelse, state.copy(), outer)
            state.add(self._effects(node, outer))
        else:
            inside = state.copy()
            if node.lower is None or node.counter is None:
                inside.add(self._body(node, outer).doubts(TRUE))
            else:
                inside.add(self._earlier(node, node.counter >= 1, node.counter, outer))
            self._walk(node.body, inside, outer | _counters(node))
            state.add(self._effects(node, outer))


def _counters(loop: Loop) -> frozenset[str]:
    return frozenset(n for t in (loop.counter, loop.var) if t is not None for n in symbols_of(t))


def _own(loop: Loop) -> dict[str, Expr]:
    """The loop's own symbols: the counter, or the induction value where that is one."""
    found = {}
    for term in (loop.counter, loop.var):
        name = next(iter(symbols_of(term)), "") if term is not None else ""
        if term is not None and name and repr(term) == name:
            found[name] = term
    return found


def _first_values(loop: Loop) -> dict[str, Expr]:
    """The loop's own symbols in its first iteration."""
    starts = (loop.counter, const(0)), (loop.var, loop.lower)
    return {repr(t): v for t, v in starts if t is not None and v is not None and repr(t) in _own(loop)}


@lru_cache(maxsize=2)
def states_of(program: AccessProgram, exact: bool) -> dict[int, Written]:
    """By step index, what is written before each step that reads."""
    return _Analysis(program, exact).before
