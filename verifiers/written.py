"""Which bytes are written on every path before a read: a must-analysis, next to the may-analysis of `liveness.py`.

A loop's body writes what it writes only if it runs at all, so behind a loop its bytes are written under `trips >= 1`,
and under the condition of a branch with the counter at its first value: the common `if i == 0: start, else: accumulate`
is understood. Bytes once written stay written: that another tile has overwritten them is for PLAN-OVERLAP. What the
conditions cannot express (a slot chosen at run time, a branch on data, a while loop, a later iteration's branch) is
`unsure`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias, Union

from pypto_verified.index import Cond, Expr, const, substitute_cond, symbols_of
from pypto_verified.index.cond import TRUE
from pypto_verified.layouts import BLayout, Space
from verifiers.access import AccessProgram, Branch, Loop, Node, Root, Sequence, Step, SymbolKind, TileUse
from verifiers.access.overlap import certain_bytes, mask, place, possible_bytes
from verifiers.solver.cone import booleans_of

Arena: TypeAlias = Union[Space, Root]
"""Bytes that are numbered together: a memory, or one allocation without an address."""

_OUTER = frozenset({SymbolKind.DIM, SymbolKind.PARAM, SymbolKind.BLOCK, SymbolKind.LAUNCH})
"""Kinds of symbols that mean the same in every iteration of every loop."""


def arena_of(root: Root) -> Arena:
    return root.space if root.address is not None else root


def place_key(tile: TileUse) -> tuple[object, ...]:
    """Equal for two tiles that are surely the same bytes, though not at a constant place."""
    at = place(tile)
    start = at if at is not None else tile.rect.base
    return arena_of(tile.root), start.uid, tile.rect.rows, tile.rect.row_bytes, tile.rect.pitch


@dataclass(slots=True)
class Written:
    """Bytes written so far: `always` on every path, `when` some condition holds, at symbolic `places`, or `unsure`."""

    always: dict[Arena, int] = field(default_factory=dict)
    when: dict[Arena, dict[Cond, int]] = field(default_factory=dict)
    places: dict[tuple[object, ...], Cond] = field(default_factory=dict)
    unsure: dict[Arena, dict[Cond, int]] = field(default_factory=dict)

    def copy(self) -> Written:
        return Written(
            dict(self.always), {a: dict(w) for a, w in self.when.items()}, dict(self.places),
            {a: dict(w) for a, w in self.unsure.items()})

    def add(self, other: Written, under: Cond = TRUE) -> None:
        """What `other` writes, where `under` holds."""
        for arena, bytes_ in other.always.items():
            self._note(arena, under, bytes_)
        for arena, facts in other.when.items():
            for c, bytes_ in facts.items():
                self._note(arena, c & under, bytes_)
        for key, c in other.places.items():
            known = self.places.get(key)
            self.places[key] = c & under if known is None else known | (c & under)
        for arena, facts in other.unsure.items():
            for c, bytes_ in facts.items():
                self.doubt(arena, bytes_, c & under)

    def doubt(self, arena: Arena, bytes_: int, under: Cond) -> None:
        """Where `under` holds these bytes may be written, or not; elsewhere this says nothing."""
        facts = self.unsure.setdefault(arena, {})
        facts[under] = facts.get(under, 0) | bytes_

    def doubts(self, under: Cond) -> Written:
        """Everything as bytes that may be written where `under` holds."""
        made = Written()
        for arena, bytes_ in self.always.items():
            made.doubt(arena, bytes_, under)
        for table in (self.when, self.unsure):
            for arena, facts in table.items():
                for bytes_ in facts.values():
                    made.doubt(arena, bytes_, under)
        return made

    def _note(self, arena: Arena, c: Cond, bytes_: int) -> None:
        if c is TRUE:
            self.always[arena] = self.always.get(arena, 0) | bytes_
            return
        facts = self.when.setdefault(arena, {})
        facts[c] = facts.get(c, 0) | bytes_

    def step(self, step: Step) -> None:
        """What one op writes. Ops that merge, and ops of unknown effect, count as writing all that they name."""
        tiles = step.writes() if step.modelled else tuple(
            o for values in step.operands.values() for o in values if isinstance(o, TileUse))
        for tile in tiles:
            arena = arena_of(tile.root)
            sure = certain_bytes(tile)
            if sure:
                self._note(arena, TRUE, sure)
            else:
                self.places[place_key(tile)] = TRUE
                self.doubt(arena, possible_bytes(tile), TRUE)


class _Analysis:
    """What each loop writes, and the state before every step that reads. `outer`: names of the counters around."""

    def __init__(self, program: AccessProgram) -> None:
        self._kinds = program.symbols.kinds
        self._loops: dict[int, Written] = {}
        self.before: dict[int, Written] = {}
        self._walk(program.body, Written(), frozenset())

    def _effects(self, node: Node, outer: frozenset[str]) -> Written:
        made = Written()
        if isinstance(node, Step):
            made.step(node)
        elif isinstance(node, Sequence):
            for item in node.items:
                made.add(self._effects(item, outer))
        elif isinstance(node, Branch):
            # Bytes that both arms write are written; the rest of an arm under its condition.
            then, orelse = self._effects(node.then, outer), self._effects(node.orelse, outer)
            both = {a: m & orelse.always.get(a, 0) for a, m in then.always.items()}
            made.add(Written(always={a: m for a, m in both.items() if m}))
            made.add(then, node.cond)
            made.add(orelse, ~node.cond)
        elif node.lower is None or node.upper is None:
            made = self._body(node, outer).doubts(TRUE)
        else:
            made = self._earlier(node, node.upper > node.lower, outer)
        return made

    def _body(self, loop: Loop, outer: frozenset[str]) -> Written:
        found = self._loops.get(id(loop))
        if found is None:
            found = self._loops[id(loop)] = self._effects(loop.body, outer | _counters(loop))
        return found

    def _earlier(self, loop: Loop, ran: Cond, outer: frozenset[str]) -> Written:
        """What iterations of a counted loop have written at a point before which the first one was run if `ran`."""
        made = Written()
        body = self._body(loop, outer)
        made.add(Written(always=body.always), ran)
        first = _first_values(loop)
        for arena, facts in body.when.items():
            for c, bytes_ in facts.items():
                at_first = substitute_cond(c, first)
                if self._lasting(at_first, outer):
                    made.add(Written(always={arena: bytes_}), ran & at_first)
                if at_first is not TRUE:
                    made.doubt(arena, bytes_, ran)
        made.add(Written(unsure=body.unsure).doubts(ran))
        return made

    def _lasting(self, c: Cond, outer: frozenset[str]) -> bool:
        """Whether a condition means the same outside of the loop that it comes from."""
        if any(True for _ in booleans_of(c)):
            return False
        return all(n in outer or self._kinds.get(n) in _OUTER for n in symbols_of(c))

    def _walk(self, node: Node, state: Written, outer: frozenset[str]) -> None:
        """Adds what `node` writes to `state` and notes the state before each step."""
        if isinstance(node, Step):
            if node.reads():
                self.before[node.index] = state.copy()
            state.step(node)
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
                inside.add(self._earlier(node, node.counter >= 1, outer))
            self._walk(node.body, inside, outer | _counters(node))
            state.add(self._effects(node, outer))


def _counters(loop: Loop) -> frozenset[str]:
    return frozenset(n for t in (loop.counter, loop.var) if t is not None for n in symbols_of(t))


def _first_values(loop: Loop) -> dict[str, Expr]:
    """The loop's own symbols in its first iteration."""
    values: dict[str, Expr] = {}
    for term, first in ((loop.counter, const(0)), (loop.var, loop.lower)):
        if term is not None and first is not None:
            name = next(iter(symbols_of(term)), "")
            if name and repr(term) == name:
                values[name] = first
    return values


@lru_cache(maxsize=1)
def states_of(program: AccessProgram) -> dict[int, Written]:
    """By step index, what is written before each step that reads."""
    return _Analysis(program).before


def element_bytes(tile: TileUse) -> int:
    """The bytes of a tile's first element at a constant place, 0 when its place is not constant."""
    sure = certain_bytes(tile)
    return sure & -sure and _run(sure & -sure, tile.type.dtype.bytes)


def _run(lowest: int, size: int) -> int:
    return lowest * ((1 << size) - 1)


def region_bytes(tile: TileUse, rows: int, cols: int) -> int:
    """The bytes of the first `rows` x `cols` elements of an unboxed tile at a constant place."""
    at = place(tile)
    start = at if at is not None else tile.rect.base
    if start.value is None or start.value < 0 or rows < 1 or cols < 1:
        return 0
    lines, width = (rows, cols) if tile.type.blayout is BLayout.ROW else (cols, rows)
    return mask(start.value, lines, width * tile.type.dtype.bytes, tile.rect.pitch)
