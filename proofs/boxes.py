"""Fractal boxes: the simulator's address function against the rules BOX-*, and what a whole number of boxes means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from proofs.lemmas import product_bound, same_product
from proofs.symbolic import TileShape, as_int, iff, tile_site
from proofs.theorem import Claim, Mutant, Theorem, claim
from pypto_verified.dtypes import FP32, INT8, INT64, UINT16, DType
from pypto_verified.index import Expr, all_of, as_expr, const, eq, symbol
from pypto_verified.index.cond import CondLike, as_cond
from pypto_verified.layouts import BLayout, SLayout
from pypto_verified.records import dataclass
from pypto_verified.simulator import layout
from pypto_verified.simulator.layout import Layout
from verifiers import box
from verifiers.rule import Rule
from verifiers.sites import TileSite

RANGES = "any positive number of rows and columns; elements of 1, 2, 4, 8 bytes; fractals of 512, 1024, 32 bytes"

_DTYPES = (INT8, UINT16, FP32, INT64)


@dataclass(frozen=True, slots=True)
class Kind:
    """A layout with its element type; `box` is (rows, columns) of one fractal box."""

    name: str
    blayout: BLayout
    slayout: SLayout
    fractal: int
    dtype: DType

    @property
    def box(self) -> tuple[int, int]:
        return layout.inner_box(self.slayout, self.fractal, self.dtype.bytes)

    def shape(self, rows: Expr, cols: Expr) -> TileShape:
        return TileShape(self.dtype, rows, cols, self.blayout, self.slayout, self.fractal)


def boxed_kinds() -> Iterator[Kind]:
    """Nz, Zn, Zz, Nn, each with every box that the ISA has."""
    orders = (
        ("Nz", BLayout.COL, SLayout.ROW), ("Zn", BLayout.ROW, SLayout.COL), ("Zz", BLayout.ROW, SLayout.ROW),
        ("Nn", BLayout.COL, SLayout.COL))
    for name, outer, inner in orders:
        for dtype in _DTYPES:
            yield Kind(f"{name} 512, {8 * dtype.bytes} bits", outer, inner, 512, dtype)
        yield Kind(f"{name} 1024", outer, inner, 1024, FP32)
        yield Kind(f"{name} 32", outer, inner, 32, INT8)


Maker = Callable[[Kind, Expr, Expr], Layout]
"""Makes the layout of a kind with given extents."""


def layout_of(kind: Kind, rows: Expr, cols: Expr) -> Layout:
    """The simulator's layout. Its cache is passed by: it compares extents, and symbols do not compare to a truth
    value."""
    make = getattr(layout.layout_of, "__wrapped__", layout.layout_of)
    made: Layout = make(kind.blayout, kind.slayout, kind.fractal, as_int(rows), as_int(cols), kind.dtype.bytes)
    return made


def place(tile: Layout, row: Expr, col: Expr) -> Expr:
    """The element offset of (row, col)."""
    return as_expr(tile.offset(as_int(row), as_int(col)))


@dataclass(frozen=True, slots=True)
class _Axis:
    """`boxes` boxes of `size` lines each; a line of it is line `within` of box `at`."""

    boxes: Expr
    size: int
    at: Expr
    within: Expr

    @property
    def line(self) -> Expr:
        return self.at * self.size + self.within

    @property
    def lines(self) -> Expr:
        return self.boxes * self.size


def _axis(name: str, size: int, boxes: Expr | None = None) -> _Axis:
    return _Axis(
        symbol(f"box_{name}s", 1) if boxes is None else boxes, size, symbol(f"box_{name}", 0),
        symbol(f"{name}_in_box", 0, size - 1))


def _other(axis: _Axis, name: str) -> _Axis:
    """Another line of the same axis."""
    return replace(axis, at=symbol(f"other_box_{name}", 0), within=symbol(f"other_{name}_in_box", 0, axis.size - 1))


def _bijection(make: Maker) -> Iterator[Claim]:
    for kind in boxed_kinds():
        yield from _is_bijection(kind, make, _axis("row", kind.box[0]), _axis("col", kind.box[1]))
        if kind.slayout is SLayout.ROW:
            one = replace(kind, name=f"{kind.name}, one row")
            yield from _is_bijection(one, make, _axis("row", 1, const(1)), _axis("col", kind.box[1]))
    for name, order in (("ND", BLayout.ROW), ("DN", BLayout.COL)):
        plain = Kind(name, order, SLayout.NONE, 512, FP32)
        yield from _is_bijection(plain, make, _axis("row", 1), _axis("col", 1))


def _is_bijection(kind: Kind, make: Maker, rows: _Axis, cols: _Axis) -> Iterator[Claim]:
    """Into 0 .. rows*cols - 1, no two elements in one place, and `position` finds an element for each place."""
    tile = make(kind, rows.lines, cols.lines)
    outer, inner = (cols, rows) if kind.blayout is BLayout.COL else (rows, cols)
    there, total = place(tile, rows.line, cols.line), rows.lines * cols.lines
    inside = (rows.at < rows.boxes) & (cols.at < cols.boxes)
    yield claim(
        f"{kind.name}: inside the tile", inside & product_bound(outer.boxes - outer.at, inner.boxes),
        (there >= 0) & (there < total))
    # Two elements in one place: the quotients of their places by a box's size are equal, and so are the remainders.
    row, col = _other(rows, "row"), _other(cols, "col")
    elsewhere, size = place(tile, row.line, col.line), rows.size * cols.size
    alike = eq(rows.within, row.within) & eq(cols.within, col.within)
    if size > 1:
        yield claim(f"{kind.name}: one place, one place in the box", eq(there % size, elsewhere % size), alike)
    between = outer.at - (col if outer is cols else row).at
    shared = all_of((
        inside, row.at < rows.boxes, col.at < cols.boxes, eq(there // size, elsewhere // size),
        product_bound(between, inner.boxes), product_bound(-between, inner.boxes)))
    yield claim(f"{kind.name}: one place, one box", shared, eq(rows.at, row.at) & eq(cols.at, col.at))
    byte = symbol("place", 0)
    back_row, back_col = (as_expr(x) for x in tile.position(as_int(byte)))
    found = (back_col if outer is cols else back_row) // outer.size
    within = all_of((
        byte < total, product_bound(found - outer.boxes + 1, inner.boxes), product_bound(-found, inner.boxes)))
    yield claim(
        f"{kind.name}: a place is of an element", within,
        all_of((back_row >= 0, back_row < rows.lines, back_col >= 0, back_col < cols.lines)))
    yield claim(f"{kind.name}: of that one", within, eq(place(tile, back_row, back_col), byte))


def _changed(**change: Callable[[Layout], object]) -> Callable[[Maker], Maker]:
    """A maker whose layouts have fields replaced."""
    def mutate(make: Maker) -> Maker:
        def made(kind: Kind, rows: Expr, cols: Expr) -> Layout:
            tile = make(kind, rows, cols)
            return replace(tile, **{name: new(tile) for name, new in change.items()})  # type: ignore[arg-type]  # by name
        return made
    return mutate


BIJECTION: Theorem[Maker] = Theorem(
    id="BOX-BIJECTION",
    statement="In a tile of whole fractal boxes the address function puts each element into a place of its own and "
    "leaves no place out, for every layout (ND, DN, Nz, Zn, Zz, Nn): the inverse function finds its element.",
    formula="rows = IR*a, cols = IC*b  =>  offset: [0,rows) x [0,cols) -> [0,rows*cols) is a bijection with inverse "
    "position",
    ranges=RANGES,
    rests=("BOX-ROWS", "BOX-COLS", "PLAN-OVERLAP"),
    subject=lambda: layout_of,
    claims=_bijection,
    mutants=(
        Mutant("boxes of a row lie one line further", _changed(block_col=lambda t: t.block_col + t.box[0])),
        Mutant("the strides inside a box are exchanged", _changed(
            inner_row=lambda t: t.inner_col, inner_col=lambda t: t.inner_row)),
    ),
)


@dataclass(frozen=True, slots=True)
class BoxRules:
    """The goals of BOX-ROWS and BOX-COLS."""

    rows: Callable[[TileSite], CondLike]
    cols: Callable[[TileSite], CondLike]


def _exact(rules: BoxRules) -> Iterator[Claim]:
    for kind in boxed_kinds():
        high, wide = kind.box
        short_rows, short_cols = symbol("missing_rows", 0, high - 1), symbol("missing_cols", 0, wide - 1)
        # At least two rows: a single row has boxes of its own.
        rows, cols = symbol("box_rows", 2) * high - short_rows, symbol("box_cols", 1) * wide - short_cols
        tile = layout_of(kind, rows, cols)
        last = place(tile, as_expr(box.round_up(rows, high)) - 1, as_expr(box.round_up(cols, wide)) - 1)
        known = product_bound(short_rows, cols) & product_bound(short_cols, rows)
        site = tile_site(kind.shape(rows, cols))
        accepted = as_cond(rules.rows(site)) & as_cond(rules.cols(site))
        yield claim(kind.name, known, iff(accepted, last < rows * cols))


EXACT: Theorem[BoxRules] = Theorem(
    id="BOX-EXACT",
    statement="The rules BOX-ROWS and BOX-COLS accept a tile exactly when all the boxes that the device moves, partial "
    "ones whole, lie inside it.",
    formula="rows % IR = 0 and cols % IC = 0  <=>  offset(ceil(rows/IR)*IR - 1, ceil(cols/IC)*IC - 1) < rows*cols",
    ranges=f"{RANGES}; at least two rows of boxes (a single row is never cut)",
    rests=("BOX-ROWS", "BOX-COLS"),
    subject=lambda: BoxRules(box.BOX_ROWS.goal, box.BOX_COLS.goal),
    claims=_exact,
    mutants=(
        Mutant("half a box is enough rows", lambda s: replace(s, rows=box.BOX_ROWS.mutant)),
        Mutant("half a box is enough columns", lambda s: replace(s, cols=box.BOX_COLS.mutant)),
    ),
)


def _line(rule: Rule[TileSite]) -> Iterator[Claim]:
    row, length, lines = symbol("line", 0), symbol("elements", 1), symbol("lines", 1)
    for name, order in (("rows of ND", BLayout.ROW), ("columns of DN", BLayout.COL)):
        for dtype in _DTYPES:
            rows, cols = (lines, length) if order is BLayout.ROW else (length, lines)
            kind = Kind(name, order, SLayout.NONE, 512, dtype)
            start = (row, const(0)) if order is BLayout.ROW else (const(0), row)
            units = length * dtype.bytes // 32
            given = as_cond(rule.goal(tile_site(kind.shape(rows, cols))))
            known = same_product(length * dtype.bytes, units * 32, row)
            at = place(layout_of(kind, rows, cols), *start) * dtype.bytes
            yield claim(f"{name}, {8 * dtype.bytes} bits", given & known & (row < lines), eq(at % 32, 0))


LINE: Theorem[Rule[TileSite]] = Theorem(
    id="BOX-LINE-START",
    statement="In an unboxed tile that BOX-LINE accepts, every row (or column) starts on a 32-byte border.",
    formula="cols*size % 32 = 0  =>  offset(r, 0)*size % 32 = 0 for every row r",
    ranges="any positive number of rows and columns; elements of 1, 2, 4, 8 bytes",
    rests=("BOX-LINE",),
    subject=lambda: box.BOX_LINE,
    claims=_line,
    mutants=(Mutant("a quarter of a line is enough", lambda rule: replace(rule, goal=rule.mutant)),),
)

THEOREMS = (BIJECTION, EXACT, LINE)
