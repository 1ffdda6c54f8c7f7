"""BOUND and VALID for the scalar unit: the single elements that it reads and writes lie in their tile or tensor."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, Expr, all_of, any_of, const
from pypto_verified.layouts import BLayout
from pypto_verified.records import dataclass
from verifiers.access import SymbolKind, TileUse
from verifiers.access.program import Pointer, TensorView
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text

_NO_INDEX = "the index is not expressed in index arithmetic"


def _unknown(context: Context, name: str) -> Expr:
    """A number that no refutation may choose."""
    return context.program.symbols.new(name, SymbolKind.OPAQUE, hidden=True)


@dataclass(frozen=True, slots=True)
class ElementSite(Site):
    """One element of a tile: `offset` elements from its start in storage order, at (row, col). `why`: what keeps the
    offset from being known, `why_place` the row and column, '' if nothing does."""

    tile: TileUse
    offset: Expr
    row: Expr
    col: Expr
    why: str
    why_place: str

    @property
    def place(self) -> str:
        verb = "reads" if self.op.name == "pto.tgetval" else "writes"
        return f"{op_text(self.op)} {verb} tile {self.tile.name}"

    @property
    def count(self) -> int:
        return self.tile.type.rows * self.tile.type.cols


def _elements(ops: tuple[str, ...], context: Context) -> Iterator[ElementSite]:
    for step in context.program.steps:
        if step.op.name not in ops:
            continue
        found = next((o for o in step.operands["offset"] if isinstance(o, Expr)), None)
        why = "" if found is not None else _NO_INDEX
        offset = found if found is not None else _unknown(context, "element")
        for tile in (*step.tiles("src"), *step.tiles("dst")):
            placed = "the elements of the tile lie in boxes" if tile.type.boxed else ""
            row, col = (_unknown(context, n) for n in ("row", "col")) if placed else _row_col(tile, offset)
            yield ElementSite(
                context, step.op, step.path, f"{op_text(step.op)} {tile.name}", tile, offset, row, col, why,
                why or placed)


def _row_col(tile: TileUse, offset: Expr) -> tuple[Expr, Expr]:
    """Row and column of an element of an unboxed tile."""
    if tile.type.blayout is BLayout.ROW:
        return offset // tile.type.cols, offset % tile.type.cols
    return offset % tile.type.rows, offset // tile.type.rows


BOUND_ELEMENT: Rule[ElementSite] = Rule(
    id="BOUND-ELEMENT", kind=SAFETY, observable=True, requires=("CG-06", "VF-01"),
    source="PTO-ISA Tile::GetValue, SetValue: no check",
    claim="an element that is read or written one at a time lies in its tile",
    sites=lambda c: _elements(("pto.tgetval", "pto.tsetval"), c), applies=always, undecided=lambda s: s.why,
    goal=lambda s: all_of((s.offset >= 0, s.offset < s.count)),
    explain=lambda s, w: (
        f"{s.place} at element {w.show(s.offset)}, which has {s.tile.type.rows} x {s.tile.type.cols} = {s.count}"),
    help=lambda s: f"keep {s.offset!r} between 0 and {s.count - 1}",
    mutant=lambda s: all_of((s.offset >= 0, s.offset <= s.count)),
)


def _outside(s: ElementSite, w: Witness) -> str:
    return (f"{s.place} at row {w(s.row)}, column {w(s.col)} (element {w.show(s.offset)}), outside of its valid "
            f"{w.show(s.tile.valid_rows)} x {w.show(s.tile.valid_cols)}")


def _full(s: ElementSite) -> bool:
    return (s.tile.valid_rows.value, s.tile.valid_cols.value) == (s.tile.type.rows, s.tile.type.cols)


VALID_ELEMENT: Rule[ElementSite] = Rule(
    id="VALID-ELEMENT", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA Tile: elements outside of the valid region have no defined value",
    claim="an element that is read one at a time lies in the valid region of its tile",
    sites=lambda c: _elements(("pto.tgetval",), c), applies=lambda s: not _full(s), undecided=lambda s: s.why_place,
    assumptions=("OUT-OF-VALID",), given=lambda s: all_of((s.offset >= 0, s.offset < s.count)),
    goal=lambda s: all_of((s.row < s.tile.valid_rows, s.col < s.tile.valid_cols)),
    explain=_outside,
    help=lambda s: "read an element that was loaded or computed, or widen what the tile holds",
    mutant=lambda s: all_of((s.row <= s.tile.valid_rows, s.col <= s.tile.valid_cols)),
)


@dataclass(frozen=True, slots=True)
class ScalarSite(Site):
    """One element of global memory, `offset` elements behind the pointer argument `name`; `tensors` are the [first,
    past the last) elements of each tensor that the function says to be there, gaps between rows included. `why`: what
    keeps the place from being known, '' if nothing does."""

    name: str
    offset: Expr
    tensors: tuple[tuple[Expr, Expr], ...]
    why: str


def _scalars(context: Context) -> Iterator[ScalarSite]:
    for step in context.program.steps:
        if step.op.name not in ("pto.load_scalar", "pto.store_scalar"):
            continue
        pointer = next((p for p in step.operands["ptr"] if isinstance(p, Pointer)), None)
        index = next((o for o in step.operands["offset"] if isinstance(o, Expr)), None)
        base = pointer.base if pointer is not None else step.op.arg("ptr").name
        views = [v for v in context.program.views if v.base == base] if pointer is not None else []
        why = ""
        if pointer is None:
            why = f"%{base} is no pointer argument of the function"
        elif index is None:
            why = _NO_INDEX
        elif not views:
            why = f"no tensor view tells how many elements are behind %{base}"
        offset = (pointer.offset if pointer is not None else const(0)) + (
            index if index is not None else _unknown(context, "element"))
        name = views[0].name if views else base
        tensors = tuple((v.offset, v.offset + _span(v)) for v in views)
        yield ScalarSite(
            context, step.op, step.path, f"{op_text(step.op)} {name}", name, offset,
            tensors or ((const(0), _unknown(context, f"elements_of_{base}")),), why)


def _span(view: TensorView) -> Expr:
    """Elements from the first to the last of a tensor; not positive for an empty one."""
    last = const(0)
    for dim, stride in zip(view.dims, view.strides, strict=False):
        last = last + (dim - 1) * stride
    return last + 1


def _inside(s: ScalarSite, more: int = 0) -> Cond:
    return any_of(all_of((s.offset >= first, s.offset < end + more)) for first, end in s.tensors)


BOUND_SCALAR: Rule[ScalarSite] = Rule(
    id="BOUND-SCALAR", kind=SAFETY, observable=True, requires=("CG-06",),
    source="PTOAS load_scalar, store_scalar: no check",
    claim="a scalar that is loaded or stored lies in a tensor of its pointer",
    sites=_scalars, applies=always, undecided=lambda s: s.why,
    goal=_inside,
    explain=lambda s, w: (
        f"{op_text(s.op)} touches element {w.show(s.offset)} of {s.name}, which ends before element "
        + " or ".join(dict.fromkeys(w.show(end) for _, end in s.tensors))),
    help=lambda s: f"keep {s.offset!r} at 0 or more and below " + " or ".join(
        dict.fromkeys(repr(end) for _, end in s.tensors)),
    mutant=lambda s: _inside(s, 1),
)

RULES = (BOUND_ELEMENT, VALID_ELEMENT, BOUND_SCALAR)
