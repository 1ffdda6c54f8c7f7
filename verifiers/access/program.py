"""The data of an access program. Plain objects; extents in elements, addresses, rects and pitches in bytes."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias, Union

from pypto_verified.dtypes import DType
from pypto_verified.errors import Location
from pypto_verified.index import TRUE, Cond, Expr
from pypto_verified.layouts import Space, TensorLayout
from pypto_verified.pto.module import Func, Op
from pypto_verified.pto.spec import OpRow, Phase
from pypto_verified.pto.types import TileBufType
from pypto_verified.records import dataclass
from verifiers.access.symbols import Symbols


@dataclass(frozen=True, slots=True)
class Rect:
    """`rows` runs of `row_bytes` bytes, `pitch` bytes apart, the first at `base` bytes from the start of its root."""

    base: Expr
    rows: int
    row_bytes: int
    pitch: int

    @property
    def span(self) -> int:
        """Bytes from the first to the last, holes included; 0 for an empty rect."""
        return (self.rows - 1) * self.pitch + self.row_bytes if self.rows > 0 and self.row_bytes > 0 else 0


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """One allocation: an alloc, a slot region, a FIFO slot. `address` is None when the text gives none (level2) or it
    is not known here (a popped slot). `bytes` counts one slot; `slots` of them follow one another."""

    name: str
    op: Op
    kind: str
    space: Space
    address: Expr | None
    bytes: int
    slots: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class TileUse:
    """A tile handle at one program point. `rect` is what the physical tile occupies, `valid_rows`/`valid_cols` its
    valid extents there. `how` is 'alloc', 'slot', 'pop', 'subview', 'reshape' or 'bitcast'; `parent` the tile a view
    is of, `row`/`col` a subview's offset in it. `storage` is (rows, cols) of the layout that addresses it."""

    name: str
    op: Op
    how: str
    type: TileBufType
    root: Root
    rect: Rect
    valid_rows: Expr
    valid_cols: Expr
    storage: tuple[int, int]
    row: Expr
    col: Expr
    parent: TileUse | None = None

    @property
    def whole(self) -> bool:
        """Whether the handle stands for all bytes of its root."""
        return self.how in ("alloc", "pop") or (
            self.how in ("reshape", "bitcast") and self.parent is not None and self.parent.whole)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer argument, `offset` elements on."""

    base: str
    offset: Expr


@dataclass(frozen=True, slots=True, eq=False)
class TensorView:
    """A tensor in global memory: `base` is the pointer argument's name, `offset` elements behind it."""

    name: str
    op: Op
    base: str
    offset: Expr
    dims: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    dtype: DType
    layout: TensorLayout | None


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """A box of a tensor, in elements per dimension: `offsets` and `sizes` inside the `bounds` it was cut from, which
    are the tensor's dims, or the sizes of `parent` for a window of a window."""

    name: str
    op: Op
    view: TensorView
    offsets: tuple[Expr, ...]
    sizes: tuple[Expr, ...]
    bounds: tuple[Expr, ...]
    parent: Window | None = None


Scalar: TypeAlias = Union[Expr, Cond, None]
"""A scalar operand's value; None when the index language has no word for it (floats, loaded floats)."""

Operand: TypeAlias = Union[TileUse, Window, TensorView, Pointer, Expr, Cond, None]


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One op that may touch memory, at one place of the program. `path` holds whenever it runs; `loops` are those
    around it, outermost first; `region` numbers the regions around it. `row` is None for an op the table does not know;
    `made` is the tile that a pop hands out."""

    index: int
    op: Op
    row: OpRow | None
    operands: dict[str, tuple[Operand, ...]]
    phases: tuple[Phase, ...]
    path: Cond
    loops: tuple[Loop, ...]
    region: tuple[int, ...] = ()
    made: TileUse | None = None

    def tiles(self, group: str) -> tuple[TileUse, ...]:
        """The tiles of an operand group, none if it is absent."""
        return tuple(o for o in self.operands.get(group, ()) if isinstance(o, TileUse))

    def windows(self, group: str) -> tuple[Window, ...]:
        return tuple(o for o in self.operands.get(group, ()) if isinstance(o, Window))

    @property
    def modelled(self) -> bool:
        row = self.row
        return row is not None and row.modelled and not any(
            name in self.op.args or self.op.attrs.get(name) for name in row.unmodelled)

    def reads(self) -> tuple[TileUse, ...]:
        """Tiles whose bytes the op reads, over all phases, in operand order; not those that an earlier phase of it has
        written."""
        groups: list[str] = []
        written: set[str] = set()
        for phase in self.phases:
            groups += [g for g in phase.reads if g not in written]
            written.update(phase.writes)
        return self._tiles_of(groups)

    def writes(self) -> tuple[TileUse, ...]:
        touched = self._tiles_of([g for p in self.phases for g in p.writes])
        return (*touched, self.made) if self.made is not None else touched

    def _tiles_of(self, groups: list[str]) -> tuple[TileUse, ...]:
        return tuple(t for g in dict.fromkeys(groups) for t in self.tiles(g))


@dataclass(frozen=True, slots=True)
class Carried:
    """A scalar that a loop hands on, where it is a symbol or an opaque Boolean of its own: `name` in the body, `start`
    in the first iteration, then `following` of the iteration before."""

    name: str
    start: Scalar
    following: Scalar


@dataclass(slots=True, eq=False)
class Loop:
    """A counted loop or a while. `var` is the induction value (None for a while), `counter` the symbol that counts from
    0; `path` holds at the loop, `inside` in its body. `lower`/`upper`/`step` are None when not expressed. `carried` and
    `results` say what a run computes: (symbol after the loop, its value where the loop ends). `head`: how many items of
    the body, its first ones, are those with which a while loop computes its condition; they run once more."""

    op: Op
    var: Expr | None
    counter: Expr | None
    lower: Expr | None
    upper: Expr | None
    step: Expr | None
    path: Cond
    inside: Cond
    body: Sequence = field(default_factory=lambda: Sequence([]))
    carried: tuple[Carried, ...] = ()
    results: tuple[tuple[str, Scalar], ...] = ()
    head: int = 0


@dataclass(slots=True, eq=False)
class Branch:
    """`then` runs when `cond` holds, `orelse` otherwise. `path`: what holds where the branch is reached."""

    op: Op
    cond: Cond
    then: Sequence
    orelse: Sequence
    path: Cond = TRUE


@dataclass(slots=True, eq=False)
class Sequence:
    """Nodes in program order."""

    items: list[Node]


Node: TypeAlias = Union[Step, Loop, Branch, Sequence]


@dataclass(slots=True, eq=False)
class Defined:
    """A tile handle where it is made: an alloc, a slot or a view. `path` holds there; `position` is the index of the
    next step, `region` the nesting of regions, `loops` those around it."""

    tile: TileUse
    path: Cond
    position: int
    region: tuple[int, ...]
    loops: tuple[Loop, ...]


@dataclass(slots=True, eq=False)
class Reserved:
    """A reserved ring of a FIFO: [base, base + bytes) of `space`; `base` None when the assembler chooses it."""

    name: str
    op: Op
    space: Space
    base: int | None
    bytes: int


@dataclass(frozen=True, slots=True)
class Narrow:
    """A scalar that the text computes in `bits` bits, 32 or less, as the integer it stands for."""

    op: Op
    value: Expr
    path: Cond
    bits: int


@dataclass(slots=True, eq=False)
class AccessProgram:
    """A function as rules see it. `steps` are all steps in program order; `defined` all tile handles; `gaps` what could
    not be expressed, as (op, text); `views` all tensor views; `narrow` scalars that may wrap around."""

    func: Func
    file: str
    symbols: Symbols
    body: Sequence
    steps: list[Step]
    defined: list[Defined]
    windows: list[tuple[Window, Cond]]
    reserved: list[Reserved]
    gaps: list[tuple[Op, str]]
    views: list[TensorView] = field(default_factory=list)
    narrow: list[Narrow] = field(default_factory=list)

    def location(self, op: Op) -> Location:
        """The user's line of `op`, or its line in the `.pto` text."""
        return op.loc if op.loc.line else Location(self.file, op.line)
