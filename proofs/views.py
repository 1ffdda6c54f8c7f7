"""Subviews of boxed tiles: the rule VIEW-BOX, the rectangles of the access program and the simulator's addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from proofs.boxes import RANGES, Kind, boxed_kinds, layout_of, place
from proofs.lemmas import product_bound, same_product
from proofs.symbolic import TileShape, as_int, iff, view_site
from proofs.theorem import Claim, Mutant, Theorem, claim
from pypto_verified.index import Cond, Expr, all_of, as_expr, const, eq, symbol
from pypto_verified.index.cond import CondLike, as_cond
from pypto_verified.layouts import BLayout
from pypto_verified.pto.types import TileBufType
from pypto_verified.records import dataclass
from verifiers import view
from verifiers.access import tiles
from verifiers.access.program import Rect
from verifiers.sites import ViewSite

RectOf = Callable[[TileBufType, tuple[int, int], Expr, Expr, Expr], Rect]


@dataclass(frozen=True, slots=True)
class Views:
    """The rule's goal, and the bytes that a subview is taken to occupy."""

    accepts: Callable[[ViewSite], CondLike]
    rect_of: RectOf


@dataclass(frozen=True, slots=True)
class _View:
    """A view of `shape` at (row, col) of a tile of `parent`'s extents."""

    kind: Kind
    parent: TileShape
    shape: TileShape
    row: Expr
    col: Expr
    rect: Rect

    def accepted(self, views: Views) -> Cond:
        return as_cond(views.accepts(view_site(self.parent, self.shape, self.rect, self.row, self.col)))

    def offset(self, row: Expr, col: Expr) -> Expr:
        """The place of an element of the parent, in bytes."""
        tile = layout_of(self.kind, as_expr(self.parent.rows), as_expr(self.parent.cols))
        return place(tile, row, col) * self.kind.dtype.bytes


def _views(views: Views, rows: Callable[[int], Expr], cols: Callable[[int], Expr]) -> Iterator[_View]:
    row, col = symbol("view_row", 0), symbol("view_col", 0)
    for kind in boxed_kinds():
        high, wide = kind.box
        parent = kind.shape(symbol("box_rows", 2) * high, symbol("box_cols", 1) * wide)
        shape = kind.shape(rows(high), cols(wide))
        storage = as_int(parent.rows), as_int(parent.cols)
        yield _View(kind, parent, shape, row, col, views.rect_of(shape.type, storage, const(0), row, col))


def _address(views: Views) -> Iterator[Claim]:
    row, col = symbol("row", 0), symbol("col", 0)
    rows, cols = symbol("view_rows", 1), symbol("view_cols", 1)
    for v in _views(views, lambda _: rows, lambda _: cols):
        high, wide = v.kind.box
        by_row = v.kind.blayout is BLayout.ROW
        given = all_of((v.accepted(views), row < rows, col < cols))
        # First that boxes inside the view are boxes of the tile; then, with that settled, the addresses.
        aligned = _same_boxes(v.row, row, high) & _same_boxes(v.col, col, wide)
        yield claim(f"{v.kind.name}: boxes", given, aligned)
        at, element, size = (v.row, row, high) if by_row else (v.col, col, wide)
        stride = as_expr(v.parent.cols if by_row else v.parent.rows)
        given = all_of((given, aligned, same_product((at + element) // size, at // size + element // size, stride)))
        inside = v.offset(row, col)
        yield claim(
            f"{v.kind.name}: address", given, eq(v.offset(v.row + row, v.col + col), v.rect.base + inside))
        run = inside - element // size * v.rect.pitch
        yield claim(
            f"{v.kind.name}: run", given,
            all_of((element // size < v.rect.rows, run >= 0, run + v.kind.dtype.bytes <= v.rect.row_bytes)))


def _same_boxes(start: Expr, line: Expr, size: int) -> Cond:
    """A line of the view is in the box, and at the place in it, that it is in when counted from the view's start."""
    return eq((start + line) // size, start // size + line // size) & eq((start + line) % size, line % size)


ADDRESS: Theorem[Views] = Theorem(
    id="VIEW-ADDRESS",
    statement="A subview that VIEW-BOX accepts keeps its tile's addresses: each element lies where it lay in the tile, "
    "at one distance from the view's base, and inside the runs of bytes that the verifier takes the view to be.",
    formula="VIEW-BOX  =>  offset(r0 + r, c0 + c) = base + offset(r, c), and it lies in a run of rect_of(view)",
    ranges=f"{RANGES}; tiles of at least two rows of boxes",
    rests=("VIEW-BOX", "PLAN-OVERLAP", "PLAN-INPLACE"),
    subject=lambda: Views(view.VIEW_BOX.goal, tiles.rect_of),
    claims=_address,
    mutants=(
        Mutant("columns need not start on a box", lambda s: replace(s, accepts=view.VIEW_BOX.mutant)),
        Mutant("runs are one box shorter apart", lambda s: replace(s, rect_of=_narrow(s.rect_of))),
    ),
)


def _narrow(rect_of: RectOf) -> RectOf:
    def narrow(type_: TileBufType, storage: tuple[int, int], base: Expr, row: Expr, col: Expr) -> Rect:
        made = rect_of(type_, storage, base, row, col)
        high, wide = tiles.inner_box(type_)
        return replace(made, pitch=made.pitch - high * wide * type_.dtype.bytes)
    return narrow


def _exact(views: Views) -> Iterator[Claim]:
    def rows(high: int) -> Expr:
        return symbol("view_box_rows", 1) * high - symbol("missing_rows", 0, high - 1)

    def cols(wide: int) -> Expr:
        return symbol("view_box_cols", 1) * wide - symbol("missing_cols", 0, wide - 1)

    for v in _views(views, rows, cols):
        high, wide = v.kind.box
        known = product_bound(symbol("missing_rows", 0, high - 1), as_expr(v.shape.cols)) & product_bound(
            symbol("missing_cols", 0, wide - 1), symbol("view_box_rows", 1))
        size = as_expr(v.shape.rows) * v.shape.cols * v.kind.dtype.bytes
        exact = eq(v.rect.base, v.offset(v.row, v.col)) & eq(as_expr(v.rect.rows) * v.rect.row_bytes, size)
        yield claim(v.kind.name, known, iff(v.accepted(views), exact))


EXACT: Theorem[Views] = Theorem(
    id="VIEW-EXACT",
    statement="VIEW-BOX accepts a subview exactly when the boxes that it touches start with its first element and hold "
    "nothing but its elements.",
    formula="VIEW-BOX  <=>  base = offset(r0, c0) and the bytes of rect_of(view) are rows*cols*size",
    ranges=f"{RANGES}; any position and size of the view",
    rests=("VIEW-BOX",),
    subject=lambda: Views(view.VIEW_BOX.goal, tiles.rect_of),
    claims=_exact,
    mutants=(
        Mutant("columns need not start on a box", lambda s: replace(s, accepts=view.VIEW_BOX.mutant)),
        Mutant("every view is accepted", lambda s: replace(s, accepts=lambda site: True)),
    ),
)

THEOREMS = (ADDRESS, EXACT)
