"""Placement: what the rules PLAN-OVERLAP and PLAN-INPLACE accept is disjoint, or harmless, byte by byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from proofs.lemmas import product_bound, same_product
from proofs.symbolic import TileShape, as_int, tile_use
from proofs.theorem import Claim, Mutant, Theorem, claim
from pypto_verified.dtypes import FP16, FP32, INT8, INT64, DType
from pypto_verified.index import TRUE, Cond, Expr, all_of, any_of, as_expr, const, eq, ne, symbol
from pypto_verified.records import dataclass
from verifiers.access import overlap
from verifiers.access.program import Rect, TileUse

Relation = Callable[[TileUse, TileUse], Cond]

FIRST, SECOND = symbol("first_address", 0), symbol("second_address", 0)


@dataclass(frozen=True, slots=True)
class _Block:
    """`rows` runs of `width` bytes, `pitch` bytes apart, and one byte of it: byte `column` of row `row`."""

    name: str
    address: Expr
    rows: Expr
    width: Expr
    pitch: Expr

    @property
    def row(self) -> Expr:
        return symbol(f"{self.name}_row", 0)

    @property
    def column(self) -> Expr:
        return symbol(f"{self.name}_byte", 0)

    @property
    def inside(self) -> Cond:
        return all_of((self.row < self.rows, self.column < self.width))

    @property
    def byte(self) -> Expr:
        return self.address + self.row * self.pitch + self.column

    @property
    def tile(self) -> TileUse:
        rect = Rect(const(0), as_int(self.rows), as_int(self.width), as_int(self.pitch))
        return tile_use(self.name, TileShape(INT8, 1, self.width).type, rect, self.address)


def _solid(name: str, address: Expr) -> _Block:
    width = symbol(f"{name}_bytes", 1)
    return _Block(name, address, const(1), width, width)


def _rows(name: str, address: Expr, width: Expr, pitch: Expr) -> _Block:
    return _Block(name, address, symbol(f"{name}_later_rows", 0) + 1, width, pitch)


def _disjoint(apart: Relation) -> Iterator[Claim]:
    width, narrow = symbol("first_width", 1), symbol("second_width", 1)
    gap, other, more = symbol("first_gap", 1), symbol("second_gap", 1), symbol("more", 1)
    yield _no_common_byte("solid blocks", apart, _solid("first", FIRST), _solid("second", SECOND))
    yield _no_common_byte(
        "a solid block and rows", apart, _solid("first", FIRST), _rows("second", SECOND, narrow, narrow + other))
    # A pitch exceeds both widths; the widths of one pitch are independent.
    wider = width + gap + narrow
    yield _no_common_byte(
        "rows of one pitch", apart, _rows("first", FIRST, width, wider), _rows("second", SECOND, narrow, wider))
    yield _no_common_byte(
        "rows of two pitches", apart, _rows("first", FIRST, width, wider),
        _rows("second", SECOND, narrow, wider + more))


def _no_common_byte(name: str, apart: Relation, a: _Block, b: _Block) -> Claim:
    known = [product_bound(x.rows - x.row, x.pitch) for x in (a, b)]
    known += [product_bound(x.row, x.pitch) for x in (a, b)]
    if a.pitch is b.pitch:
        turns = (b.address - a.address) // a.pitch + b.row - a.row
        known += [product_bound(turns, a.pitch), product_bound(-turns, a.pitch)]
    given = all_of((apart(a.tile, b.tile), a.inside, b.inside, *known))
    return claim(name, given, any_of((a.byte < b.byte, a.byte > b.byte)))


def _closer(apart: Relation) -> Relation:
    """Lets the second block begin one byte before the first has ended."""
    def closer(a: TileUse, b: TileUse) -> Cond:
        moved = replace(a, root=replace(a.root, address=_address(a) - 1))
        return any_of((apart(a, b), apart(moved, b)))
    return closer


def _different_addresses(apart: Relation) -> Relation:
    return lambda a, b: ne(_address(a), _address(b))


def _address(tile: TileUse) -> Expr:
    address = tile.root.address
    assert address is not None
    return address


DISJOINT: Theorem[Relation] = Theorem(
    id="PLAN-DISJOINT",
    statement="Two tiles that the placement rules take to lie apart have no byte in common, whether they are solid "
    "blocks or windows with holes between their rows.",
    formula="disjoint(a, b)  =>  a0 + i*pitch_a + j != b0 + k*pitch_b + l for all their rows i, k and bytes j, l",
    ranges="any addresses, numbers of rows, row lengths of at least 1 byte, and pitches that exceed the row lengths",
    rests=("PLAN-OVERLAP", "PLAN-INPLACE"),
    subject=lambda: overlap.disjoint,
    claims=_disjoint,
    mutants=(
        Mutant("the blocks may share one byte", _closer),
        Mutant("different addresses are enough", _different_addresses),
    ),
)


def _trails(trails: Relation) -> Iterator[Claim]:
    cols, pad, more = symbol("cols", 1), symbol("padding", 0), symbol("more", 1)
    row, col, later_row, later_col = (symbol(n, 0) for n in ("row", "col", "later_row", "later_col"))
    for read, written in ((FP32, FP32), (FP32, FP16), (INT64, FP32), (FP16, INT8)):
        own = cols * written.bytes + pad
        for name, pitch in (("one pitch", own), ("a wider source", own + more)):
            source = _typed("source", FIRST, read, cols * read.bytes, cols * (read.bytes - written.bytes) + pitch)
            target = _typed("target", SECOND, written, cols * written.bytes, own)
            wide = as_expr(source.rect.pitch)
            later = any_of((row < later_row, all_of((eq(row, later_row), col < later_col))))
            given = all_of((
                trails(source, target), col < cols, later_col < cols, later, product_bound(later_row - row, own),
                same_product(row, later_row, own), product_bound(later_row, wide - own),
                same_product(later_row, const(0), wide - own)))
            end = SECOND + row * own + (col + 1) * written.bytes
            yield claim(
                f"{read.bytes} to {written.bytes} bytes, {name}", given,
                end <= FIRST + later_row * wide + later_col * read.bytes)


def _typed(name: str, address: Expr, dtype: DType, width: Expr, pitch: Expr) -> TileUse:
    rect = Rect(const(0), as_int(symbol("rows", 1)), as_int(width), as_int(pitch))
    return tile_use(name, TileShape(dtype, 1, width).type, rect, address)


TRAILS: Theorem[Relation] = Theorem(
    id="PLAN-TRAILS",
    statement="An op that goes through its elements in order and writes no further than it has read leaves every "
    "element that it has still to read untouched: what PLAN-INPLACE lets pass besides identical tiles.",
    formula="trails(source, target) and e before f  =>  end(target, e) <= start(source, f)",
    ranges="row-major tiles of any addresses and sizes; elements of 1, 2, 4, 8 bytes, written ones no longer than read "
    "ones",
    rests=("PLAN-INPLACE",),
    subject=lambda: overlap.trails,
    claims=_trails,
    mutants=(
        Mutant("the target may begin behind the source", lambda trails: lambda a, b: any_of((
            trails(a, b), eq(_address(a) + 1, _address(b))))),
        Mutant("any order of addresses", lambda trails: lambda a, b: TRUE),
    ),
)

THEOREMS = (DISJOINT, TRAILS)
