"""Which bytes are written on every path before a read: a must-analysis, next to the may-analysis of `liveness.py`.

A loop's body writes what it writes only if it runs at all, so behind a loop its bytes are written under `trips >= 1`,
and under the condition of a branch with the counter at its first value: the common `if i == 0: start, else: accumulate`
is understood. A write that moves with the counter covers the union of its places: byte for byte where the number of
trips is known, else the stretch up to the last trip if the pieces leave no gap. Bytes once written stay written: that
another tile has overwritten them is for PLAN-OVERLAP. What the conditions cannot express (a slot chosen at run time, a
branch on data, a while loop, a later iteration's branch) is `unsure`.

It is done twice: with tiles as whole rects of bytes, for reads of what was written at one place, where INIT-VALID
compares the extents, and `exact`, with the elements that ops really write.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias, Union

from pypto_verified.index import Cond, Expr, const, substitute, substitute_cond, symbols_of
from pypto_verified.index.cond import TRUE
from pypto_verified.layouts import BLayout, Space
from verifiers.access import AccessProgram, Branch, Loop, Node, Root, Sequence, Step, SymbolKind, TileUse
from verifiers.access.overlap import certain_bytes, mask, place, possible_bytes
from verifiers.recurrence import trips
from verifiers.regions import Region, bits_of, repeated, whole_boxes, writes_of
from verifiers.solver.cone import booleans_of

Arena: TypeAlias = Union[Space, Root]
"""Bytes that are numbered together: a memory, or one allocation without an address."""

Place: TypeAlias = tuple[object, ...]

_OUTER = frozenset({SymbolKind.DIM, SymbolKind.PARAM, SymbolKind.BLOCK, SymbolKind.LAUNCH, SymbolKind.SIZE})
"""Kinds of symbols that mean the same in every iteration of every loop."""

_FAR = 1 << 22
"""Bytes within which the places of a moving write are told from others."""

_TRIPS = 4096
"""Iterations up to which the places of a moving write are counted out."""


def arena_of(root: Root) -> Arena:
    return root.space if root.address is not None else root


def start_of(tile: TileUse) -> Expr:
    """The first byte of a tile's rect in its arena."""
    at = place(tile)
    return at if at is not None else tile.rect.base


def place_of(tile: TileUse) -> Place:
    """Equal for two tiles that surely are the same elements at the same bytes."""
    t, r = tile.type, tile.rect
    return (arena_of(tile.root), start_of(tile).uid, r.rows, r.row_bytes, r.pitch, t.rows, t.cols, t.dtype.bytes,
            t.blayout, t.slayout)


@dataclass(frozen=True, slots=True)
class Cover:
    """`rows` x `cols` elements of a place are written where `under` holds; `tile` tells the place."""

    tile: TileUse
    under: Cond
    rows: Expr
    cols: Expr


@dataclass(frozen=True, slots=True)
class Span:
    """All bytes from `start` up to `end` are written where `under` holds."""

    under: Cond
    start: int
    end: Expr

    def meets(self, bytes_: int) -> bool:
        """Whether it may hold one of these."""
        low = (bytes_ & -bytes_).bit_length() - 1
        return bytes_ < 0 or (self.start < bytes_.bit_length() and (self.end.hi is None or self.end.hi > low))


@dataclass(slots=True)
class Written:
    """Bytes written so far: `always` on every path, `when` some condition holds, `spans` and `covers` of extents that
    are symbols, `moving` from a start that is one, or `unsure`."""

    always: dict[Arena, int] = field(default_factory=dict)
    when: dict[Arena, dict[Cond, int]] = field(default_factory=dict)
    spans: dict[Arena, tuple[Span, ...]] = field(default_factory=dict)
    covers: dict[Place, tuple[Cover, ...]] = field(default_factory=dict)
    moving: dict[Arena, dict[Expr, int]] = field(default_factory=dict)
    unsure: dict[Arena, dict[Cond, int]] = field(default_factory=dict)

    def copy(self) -> Written:
        return Written(
            dict(self.always), {a: dict(w) for a, w in self.when.items()}, dict(self.spans), dict(self.covers),
            {a: dict(w) for a, w in self.moving.items()}, {a: dict(w) for a, w in self.unsure.items()})

    def add(self, other: Written, under: Cond = TRUE) -> None:
        """What `other` writes, where `under` holds."""
        for arena, bytes_ in other.always.items():
            self.note(arena, under, bytes_)
        for arena, facts in other.when.items():
            for c, bytes_ in facts.items():
                self.note(arena, c & under, bytes_)
        for arena, spans in other.spans.items():
            for s in spans:
                self.span(arena, Span(s.under & under, s.start, s.end))
        for covers in other.covers.values():
            for k in covers:
                self.cover(Cover(k.tile, k.under & under, k.rows, k.cols))
        for arena, starts in other.moving.items():
            for start, bytes_ in starts.items():
                if under is TRUE:
                    self.move(arena, start, bytes_)
                else:
                    self.doubt(arena, spread(start, bytes_), under)
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
        for arena, starts in self.moving.items():
            for start, bytes_ in starts.items():
                made.doubt(arena, spread(start, bytes_), under)
        return made

    def note(self, arena: Arena, c: Cond, bytes_: int) -> None:
        if c is TRUE:
            self.always[arena] = self.always.get(arena, 0) | bytes_
            return
        facts = self.when.setdefault(arena, {})
        facts[c] = facts.get(c, 0) | bytes_

    def span(self, arena: Arena, span: Span) -> None:
        known = self.spans.get(arena, ())
        if not any(s.under is span.under and s.start == span.start and s.end is span.end for s in known):
            self.spans[arena] = (*known, span)

    def cover(self, cover: Cover) -> None:
        key = place_of(cover.tile)
        known = self.covers.get(key, ())
        if not any(k.under is cover.under and k.rows is cover.rows and k.cols is cover.cols for k in known):
            self.covers[key] = (*known, cover)

    def move(self, arena: Arena, start: Expr, bytes_: int) -> None:
        """`bytes_` counted from `start` are written; a constant start is a fact like any other."""
        if start.value is not None and start.value >= 0:
            self.note(arena, TRUE, bytes_ << start.value)
        else:
            starts = self.moving.setdefault(arena, {})
            starts[start] = starts.get(start, 0) | bytes_

    def write(self, region: Region, exact: bool) -> None:
        """What one op writes of one tile: the elements of the region if `exact`, else all bytes of the tile."""
        tile, arena, start = region.tile, arena_of(region.tile.root), start_of(region.tile)
        if not exact:
            # Ops that merge, and ops of unknown effect, count as writing all that they name.
            self.cover(Cover(tile, TRUE, region.rows, region.cols))
            self.move(arena, start, mask(0, tile.rect.rows, tile.rect.row_bytes, tile.rect.pitch))
            return
        rows, cols = region.rows.value, region.cols.value
        least = bits_of(tile, max(region.rows.lo or 0, 0), max(region.cols.lo or 0, 0)) if region.sure else 0
        if region.sure:
            self.cover(Cover(tile, TRUE, region.rows, region.cols))
            end = end_of(region)
            if end is not None and start.value is not None and (rows is None or cols is None):
                self.span(arena, Span(TRUE, start.value, end))
        if least:
            self.move(arena, start, least)
        if region.boxes:
            high, wide = whole_boxes(tile, region.rows, region.cols)
            touched = bits_of(
                tile, tile.type.rows if high.value is None else high.value,
                tile.type.cols if wide.value is None else wide.value)
            self.doubt(arena, spread(start, touched) if touched is not None else possible_bytes(tile), TRUE)
        if not region.sure or least is None or rows is None or cols is None:
            self.doubt(arena, possible_bytes(tile), TRUE)


def spread(start: Expr, bytes_: int) -> int:
    """Where bytes may lie that are counted from `start`; -1 for anywhere. A linear start takes the values of its own
    symbols only, so pieces that never meet stay apart."""
    if start.lo is None or start.hi is None or start.lo < 0 or start.hi - start.lo > _FAR:
        return -1
    base, total = start.constant, bytes_
    for mono, factor in start.terms:
        low, high = mono[0].lo, mono[0].hi
        if len(mono) != 1 or low is None or high is None or high - low >= _TRIPS:
            return ((1 << (start.hi - start.lo + bytes_.bit_length())) - 1) << start.lo
        total = repeated(total, high - low + 1, abs(factor))
        base += factor * (low if factor > 0 else high)
    return total << base if base >= 0 else -1


def runs(bytes_: int, most: int) -> list[tuple[int, int]]:
    """The first stretches of a set of bytes, each from its first byte up to behind its last."""
    found: list[tuple[int, int]] = []
    while bytes_ and len(found) < most:
        low = (bytes_ & -bytes_).bit_length() - 1
        above = ~(bytes_ >> low)
        high = low + (above & -above).bit_length() - 1
        found.append((low, high))
        bytes_ = bytes_ >> high << high
    return found


def end_of(region: Region) -> Expr | None:
    """Where a region of whole lines at a constant place ends; None if it is no single stretch of bytes."""
    tile, size = region.tile, region.tile.type.dtype.bytes
    lines, width, row_bytes = (
        (region.rows, region.cols, tile.rect.row_bytes) if tile.type.blayout is BLayout.ROW
        else (region.cols, region.rows, tile.rect.row_bytes))
    if tile.type.boxed:
        return None
    start = start_of(tile)
    if (width * size).value == row_bytes == tile.rect.pitch:
        return start + lines * row_bytes
    return start + width * size if lines.value == 1 else None


def reach_of(region: Region) -> Expr | None:
    """A byte behind the last one of a region; None for boxed tiles."""
    tile, size = region.tile, region.tile.type.dtype.bytes
    row = tile.type.blayout is BLayout.ROW
    lines, width = (region.rows, region.cols) if row else (region.cols, region.rows)
    return None if tile.type.boxed else start_of(tile) + (lines - 1) * tile.rect.pitch + width * size


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
        if number is not None and 0 < number <= _TRIPS:
            low = at + step * (number - 1) if step < 0 else at
            made.move(arena, low, repeated(bytes_, number, abs(step)) if step else bytes_)
            return
        length = bytes_.bit_length()
        solid = 0 < step <= length and bytes_ == (1 << length) - 1 and self._lasting(outer | _counters(loop), count)
        if at.value is not None and at.value >= 0:
            made.note(arena, ran, bytes_ << at.value)
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


def element_bytes(tile: TileUse) -> int:
    """The bytes of a tile's first element at a constant place, 0 when its place is not constant."""
    sure = certain_bytes(tile)
    return (sure & -sure) * ((1 << tile.type.dtype.bytes) - 1)
