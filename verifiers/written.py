"""What is written at one point of a program: bytes on every path, under conditions, up to an end that is a symbol, from
a start that is one. Bytes once written stay written: that another tile has overwritten them is for PLAN-OVERLAP."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias, Union

from pypto_verified.index import Cond, Expr
from pypto_verified.index.cond import TRUE
from pypto_verified.layouts import BLayout, Space
from pypto_verified.records import dataclass
from verifiers.access import Root, TileUse
from verifiers.access.overlap import certain_bytes, mask, place, possible_bytes, shifted
from verifiers.regions import Region, bits_of, repeated, whole_boxes

Arena: TypeAlias = Union[Space, Root]
"""Bytes that are numbered together: a memory, or one allocation without an address."""

Place: TypeAlias = tuple[object, ...]

_FAR = 1 << 22
"""Bytes within which the places of a moving write are told from others."""

TRIPS = 4096
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
        """Of several tiles that wrote as much of a place the last one counts: the place holds its elements."""
        key = place_of(cover.tile)
        others = [
            k for k in self.covers.get(key, ())
            if k.under is not cover.under or k.rows is not cover.rows or k.cols is not cover.cols]
        self.covers[key] = (*others, cover)

    def move(self, arena: Arena, start: Expr, bytes_: int) -> None:
        """`bytes_` counted from `start` are written; a constant start is a fact like any other."""
        if start.value is not None and start.value >= 0:
            self.note(arena, TRUE, shifted(bytes_, start.value))
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
        if len(mono) != 1 or low is None or high is None or high - low >= TRIPS:
            return shifted((1 << (start.hi - start.lo + bytes_.bit_length())) - 1, start.lo)
        total = repeated(total, high - low + 1, abs(factor))
        base += factor * (low if factor > 0 else high)
    return shifted(total, base) if base >= 0 else -1


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


def element_bytes(tile: TileUse) -> int:
    """The bytes of a tile's first element at a constant place, 0 when its place is not constant."""
    sure = certain_bytes(tile)
    return (sure & -sure) * ((1 << tile.type.dtype.bytes) - 1)
