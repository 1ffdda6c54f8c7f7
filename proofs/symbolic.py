"""Sites of rules whose extents are symbols: the rules' own lambdas run on them."""

from __future__ import annotations

from typing import cast

from pypto_verified.dtypes import DType
from pypto_verified.index import TRUE, Cond, Expr, IntLike, const, implies
from pypto_verified.index.cond import CondLike
from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.pto.module import Func, Op
from pypto_verified.pto.reader import read
from pypto_verified.pto.types import TileBufType
from pypto_verified.records import dataclass
from pypto_verified.targets import A2A3
from verifiers.access import AccessProgram, Rect, Root, Sequence, Symbols, TileUse, build
from verifiers.sites import Context, TileSite, ViewSite


def as_int(e: IntLike) -> int:
    """`e` for a declaration that is typed for numbers but runs on index expressions too."""
    return cast(int, e)


def iff(a: CondLike, b: CondLike) -> Cond:
    """`a` and `b` hold together or not at all."""
    return implies(a, b) & implies(b, a)


@dataclass(frozen=True, slots=True)
class TileShape:
    """A tile's physical extents and layout."""

    dtype: DType
    rows: IntLike
    cols: IntLike
    blayout: BLayout = BLayout.ROW
    slayout: SLayout = SLayout.NONE
    fractal: int = 512

    @property
    def type(self) -> TileBufType:
        return TileBufType(
            Space.MAT, self.dtype, as_int(self.rows), as_int(self.cols), None, None, self.blayout, self.slayout,
            self.fractal)


_OP = Op("pto.alloc_tile")
_CONTEXT = Context(
    AccessProgram(Func("theorem", [], None), "", Symbols(), Sequence([]), [], [], [], [], []), A2A3, level3=True)


def tile_use(name: str, type_: TileBufType, rect: Rect, address: Expr | None = None) -> TileUse:
    """A tile that lies at `rect` of a root of its own."""
    root = Root(name, _OP, "alloc", type_.loc, address, type_.bytes)
    return TileUse(
        name, _OP, "alloc", type_, root, rect, const(0), const(0), (type_.rows, type_.cols), const(0), const(0))


def tile_site(shape: TileShape) -> TileSite:
    """The allocation of a tile of that shape."""
    type_ = shape.type
    return TileSite(_CONTEXT, _OP, TRUE, "tile", tile_use("tile", type_, Rect(const(0), 1, type_.bytes, type_.bytes)))


def view_site(parent: TileShape, view: TileShape, rect: Rect, row: Expr, col: Expr) -> ViewSite:
    """A subview of `view`'s extents at element (row, col) of a tile of `parent`'s."""
    whole = tile_use("tile", parent.type, rect)
    root = whole.root
    window = TileUse(
        "view", Op("pto.subview"), "subview", view.type, root, rect, const(0), const(0), whole.storage, row, col, whole)
    return ViewSite(_CONTEXT, window.op, TRUE, "view", window, whole)


def program_of(text: str) -> AccessProgram:
    """The access program of the only function of a text."""
    (func,) = read(text).funcs
    return build.build_program(func, "", "a2a3")
