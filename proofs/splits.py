"""Split tiles of a pipe: the two lanes' parts against the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from proofs.lemmas import product_bound, same_product
from proofs.theorem import Claim, Mutant, Theorem, claim
from pypto_verified.index import TRUE, Cond, Expr, IntLike, all_of, any_of, as_expr, eq, symbol
from pypto_verified.index.cond import CondLike, as_cond, negate
from pypto_verified.records import dataclass
from pypto_verified.targets import split
from pypto_verified.targets.split import SPLITS, Split, Window

RANGES = "any numbers of valid rows and columns; split codes 1 to 4; lanes 0 and 1"

ROWS, COLS = symbol("rows", 1), symbol("cols", 1)

_CUT = tuple(s for s in SPLITS if s.axis is not None)


@dataclass(frozen=True, slots=True)
class Lanes:
    """The split equations that the product runs."""

    fits: Callable[[Split, IntLike, IntLike], CondLike]
    extents: Callable[[Split, IntLike, IntLike, int], tuple[IntLike, IntLike]]
    popped: Callable[[Split, IntLike, IntLike, int], Window]
    pushed: Callable[[Split, IntLike, IntLike, int], Window]


Place = Callable[[Split, IntLike, IntLike, int], Window]


@dataclass(frozen=True, slots=True)
class _Part:
    """One lane's part of the whole tile, and one element of it."""

    rows: Expr
    cols: Expr
    window: Window
    row: Expr
    col: Expr

    @property
    def inside(self) -> Cond:
        return all_of((self.row >= 0, self.row < self.rows, self.col >= 0, self.col < self.cols))

    @property
    def place(self) -> Expr:
        return as_expr(self.window.offset) + self.row * self.window.pitch + self.col


def _part(lanes: Lanes, at: Place, code: Split, lane: int) -> _Part:
    rows, cols = (as_expr(x) for x in lanes.extents(code, ROWS, COLS, lane))
    return _Part(rows, cols, at(code, rows, cols, lane), symbol(f"row_{lane}", 0), symbol(f"col_{lane}", 0))


def _cover(lanes: Lanes) -> Iterator[Claim]:
    for code in _CUT:
        yield from _covers(f"pop, {code.name}", lanes, lanes.popped, code, True)
    for code in _CUT:
        yield from _covers(f"push, {code.name}", lanes, lanes.pushed, code, not code.odd)


def _covers(name: str, lanes: Lanes, at: Place, code: Split, holds: bool) -> Iterator[Claim]:
    """That the lanes' places are exactly 0 .. rows*cols - 1, each once; or that element places go wrong."""
    fits = as_cond(lanes.fits(code, ROWS, COLS))
    first, second = (_part(lanes, at, code, lane) for lane in (0, 1))
    row, col = symbol("row", 0), symbol("col", 0)
    line, cut = (row, first.rows) if code.axis == 0 else (col, first.cols)
    whole = all_of((fits, row < ROWS, col < COLS))
    left = replace(first, row=row, col=col)
    right = replace(second, row=row - cut, col=col) if code.axis == 0 else replace(second, row=row, col=col - cut)
    yield claim(
        f"{name}: cover", whole, any_of((
            all_of((line < cut, left.inside, eq(left.place, row * COLS + col))),
            all_of((line >= cut, right.inside, eq(right.place, row * COLS + col))))), holds)
    if holds:
        # First that both lanes step from row to row as the whole tile does; with that settled, that they never meet.
        pitches = [as_expr(part.window.pitch) for part in (first, second)]
        stepping = all_of(eq(pitch, COLS) for pitch in pitches)
        if stepping is not TRUE:
            yield claim(f"{name}: pitch", fits, stepping)
        apart = first.row - second.row
        known = [product_bound(apart, COLS), product_bound(-apart, COLS)]
        known += [same_product(pitch, COLS, part.row) for pitch, part in zip(pitches, (first, second), strict=True)]
        given = all_of((fits, stepping, first.inside, second.inside, *known))
        places = (first.place, second.place)
        yield claim(f"{name}: disjoint", given, any_of((places[0] < places[1], places[0] > places[1])))


def _product() -> Lanes:
    return Lanes(split.fits, split.lane_extents, split.popped, split.pushed)


def _always_half(code: Split, rows: IntLike, cols: IntLike, lane: int) -> tuple[IntLike, IntLike]:
    return split.lane_extents(replace(code, odd=False), rows, cols, lane)


COVER: Theorem[Lanes] = Theorem(
    id="SPLIT-COVER",
    statement="Where the extent has the split's parity, the parts of the two lanes have no element in common and make "
    "up the whole tile, popped by any split and pushed by an even one; pushed by an odd one, they lie wrong.",
    formula="fits  =>  each r*cols + c is offset + r'*pitch + c' of exactly one lane",
    ranges=RANGES,
    rests=("SPLIT-PARITY", "SPLIT-ODD", "SPLIT-ODD-RING", "SPLIT-LANES", "SPLIT-PITCH"),
    subject=_product,
    claims=_cover,
    mutants=(
        Mutant("an odd extent is cut in halves", lambda s: replace(s, extents=_always_half)),
        Mutant("column halves lie behind one another", lambda s: replace(s, popped=_behind)),
        Mutant("any extent fits", lambda s: replace(s, fits=lambda code, rows, cols: True)),
    ),
)


def _behind(code: Split, rows: IntLike, cols: IntLike, lane: int) -> Window:
    return Window(lane * rows * cols, cols)


def _parity(lanes: Lanes) -> Iterator[Claim]:
    for code in _CUT:
        first, second = (_part(lanes, lanes.popped, code, lane) for lane in (0, 1))
        wrong = all_of((negate(as_cond(lanes.fits(code, ROWS, COLS))), second.rows >= 1, second.cols >= 1))
        last = replace(second, row=second.rows - 1, col=second.cols - 1).place
        total = ROWS * COLS
        fewer = first.rows * first.cols + second.rows * second.cols < total
        yield claim(code.name, wrong, last >= total if code.odd else fewer)


PARITY: Theorem[Lanes] = Theorem(
    id="SPLIT-PARITY-EXACT",
    statement="Where the extent has the wrong parity, every split fails: an even one leaves out a line, an odd one "
    "reads past the tile.",
    formula="not fits  =>  even: |lane 0| + |lane 1| < rows*cols;  odd: last place of lane 1 >= rows*cols",
    ranges=f"{RANGES}; both lanes have at least one element",
    rests=("SPLIT-PARITY", "SPLIT-LANES"),
    subject=_product,
    claims=_parity,
    mutants=(
        Mutant("odd extents fit even splits and the reverse", lambda s: replace(
            s, fits=lambda code, rows, cols: split.fits(replace(code, odd=not code.odd), rows, cols))),
        Mutant("the first lane always gets the longer part", lambda s: replace(
            s, extents=lambda code, rows, cols, lane: split.lane_extents(replace(code, odd=True), rows, cols, lane))),
    ),
)

THEOREMS = (COVER, PARITY)
