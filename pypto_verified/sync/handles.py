"""What tiles and views are: the place of each handle, through views, slices and pipes."""

from __future__ import annotations

from pypto_verified.errors import NotModelled
from pypto_verified.index import Expr, const
from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.pto.module import Op, Value
from pypto_verified.pto.types import TileBufType
from pypto_verified.records import dataclass
from pypto_verified.sync.places import Local, Place, Window
from pypto_verified.sync.program import where
from pypto_verified.sync.values import Values

_ZERO = const(0)


@dataclass(frozen=True, slots=True)
class _Tile:
    """Storage of a tile: where element (0, 0) of the allocation `stored` lies, and where in it this handle starts."""

    space: Space
    root: str
    base: Expr
    stored: TileBufType
    row: Expr
    col: Expr


class Handles:
    """The handles of one function. `define` takes allocs and views in text order, `places` gives what an operand of an
    op is."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._tiles: dict[Value, _Tile] = {}
        self._windows: dict[Value, Window] = {}

    def define(self, op: Op) -> bool:
        """Take note of an op that makes a handle; False if it does not. NotModelled for a tile without address, whose
        place the assembler would choose after the flags are set."""
        maker = _MAKERS.get(op.name)
        if maker is None:
            return False
        maker(self, op)
        return True

    def alloc(self, op: Op) -> None:
        address = op.opt("addr")
        type_ = op.result.type
        if address is None or not isinstance(type_, TileBufType):
            raise NotModelled("synchronisation of tiles that the assembler places", where(op),
                              "let the compiler give the addresses (planner PYPTO)")
        self._tiles[op.result] = _Tile(type_.loc, "", self._values.of(address), type_, _ZERO, _ZERO)

    def pop(self, op: Op, root: str, start: Expr) -> Place:
        """What a pop hands out: a tile at a place of the memory of its pipe."""
        type_ = op.result.type
        assert isinstance(type_, TileBufType)
        self._tiles[op.result] = tile = _Tile(type_.loc, root, start, type_, _ZERO, _ZERO)
        return _window(tile, type_)

    def subview(self, op: Op) -> None:
        source = self._tile(op.arg("source"), op)
        row, col = (self._values.of(v) for v in op.args["offsets"])
        self._tiles[op.result] = _Tile(
            source.space, source.root, source.base, source.stored, source.row + row, source.col + col)

    def reshape(self, op: Op) -> None:
        source, given = self._tile(op.arg("src"), op), op.arg("src").type
        type_ = op.result.type
        assert isinstance(type_, TileBufType) and isinstance(given, TileBufType)
        start = _window(source, given).base
        self._tiles[op.result] = _Tile(source.space, source.root, start, type_, _ZERO, _ZERO)

    def view(self, op: Op) -> None:
        pointer = self._pointer(op.arg("ptr"))
        dims = tuple(self._values.of(v) for v in op.args["shape"])
        strides = tuple(self._values.of(v) for v in op.args["strides"])
        self._windows[op.result] = Window(pointer.pointer, pointer.start, strides, (_ZERO,) * len(dims), dims)

    def partition(self, op: Op) -> None:
        source = self._windows.get(op.arg("source"))
        if source is None:
            return
        offsets = tuple(self._values.of(v) for v in op.args["offsets"])
        sizes = tuple(self._values.of(v) for v in op.args["sizes"])
        inner = tuple(a + b for a, b in zip(source.offsets, offsets, strict=True))
        self._windows[op.result] = Window(source.pointer, source.start, source.strides, inner, sizes)

    def advance(self, op: Op) -> None:
        source = self._pointer(op.arg("ptr"))
        self._windows[op.result] = Window(
            source.pointer, source.start + self._values.of(op.arg("offset")), (), (), ())

    def _pointer(self, value: Value) -> Window:
        return self._windows.get(value, Window(value.name, _ZERO, (), (), ()))

    def _tile(self, value: Value, op: Op) -> _Tile:
        found = self._tiles.get(value)
        if found is None:
            raise NotModelled(
                f"the tile %{value.name} of {op.name} in automatic synchronisation: a loop, a branch or a call hands "
                "it on",
                where(op), "take turns by an index (alloc_tile at a computed address, pl.MemRef(slots=)), or order the "
                "pipes by hand: --sync explicit judges that")
        return found

    def place(self, op: Op, group: str, value: Value) -> Place:
        """The bytes that an op may touch of one of its operands."""
        type_ = value.type
        if isinstance(type_, TileBufType):
            return _touched(self, op, group, self._tile(value, op), type_)
        if op.name in ("pto.load_scalar", "pto.store_scalar"):
            return self._element(op, value)
        return self._windows.get(value, Window("", _ZERO, (), (), ()))

    def _element(self, op: Op, pointer: Value) -> Window:
        """One element behind a pointer, as a window of a flat view."""
        source = self._pointer(pointer)
        return Window(
            source.pointer, source.start, (const(1),), (self._values.of(op.arg("offset")),), (const(1),))

    def corner(self, op: Op) -> tuple[Expr, Expr]:
        """The row and column operands of an extract or insert."""
        return self._values.of(op.arg("indexRow")), self._values.of(op.arg("indexCol"))


def _touched(handles: Handles, op: Op, group: str, tile: _Tile, type_: TileBufType) -> Local:
    """An extract reads a window of its source, an insert writes one of its destination; all else takes the tile."""
    other = {("pto.textract", "src"): "dst", ("pto.tinsert", "dst"): "src"}.get((op.name, group))
    size = op.arg(other).type if other is not None else None
    if isinstance(size, TileBufType):
        row, col = handles.corner(op)
        inside = _Tile(tile.space, tile.root, tile.base, tile.stored, tile.row + row, tile.col + col)
        return _window(inside, size)
    return _window(tile, type_)


def _window(tile: _Tile, type_: TileBufType) -> Local:
    """The bytes of a `type_`-sized window of a tile's storage. Of boxes, whole ones count."""
    stored = tile.stored
    high, wide = _box(stored)
    if (stored.rows, stored.cols) == (type_.rows, type_.cols) and tile.row.value == 0 and tile.col.value == 0:
        bytes_ = -(-stored.rows // high) * high * -(-stored.cols // wide) * wide * stored.dtype.bytes
        return Local(tile.space, tile.root, tile.base, 1, bytes_, bytes_)
    unit = high * wide * stored.dtype.bytes
    box_row, box_col = tile.row // high, tile.col // wide
    rows, cols = _boxes(type_.rows, tile.row, high), _boxes(type_.cols, tile.col, wide)
    stored_rows, stored_cols = -(-stored.rows // high), -(-stored.cols // wide)
    if stored.blayout is BLayout.ROW:
        start = tile.base + (box_row * stored_cols + box_col) * unit
        return Local(tile.space, tile.root, start, rows, cols * unit, stored_cols * unit)
    start = tile.base + (box_col * stored_rows + box_row) * unit
    return Local(tile.space, tile.root, start, cols, rows * unit, stored_rows * unit)


def _boxes(extent: int, start: Expr, box: int) -> int:
    """Boxes that a range of elements touches: one more where it may start inside of one."""
    inside = (start % box).value
    return -(-(extent + (inside if inside is not None else box - 1)) // box)


def _box(type_: TileBufType) -> tuple[int, int]:
    """(rows, columns) of an inner box in elements; (1, 1) when unboxed. Source: PTOAS verifyBoxedTileLayout."""
    if type_.slayout is SLayout.NONE:
        return 1, 1
    if type_.fractal == 1024:
        return 16, 16
    short, long = (16, 2) if type_.fractal == 32 else (16, max(1, 32 // type_.dtype.bytes))
    return (short, long) if type_.slayout is SLayout.ROW else (long, short)




_MAKERS = {
    "pto.alloc_tile": Handles.alloc,
    "pto.alloc_multi_tile": Handles.alloc,
    "pto.subview": Handles.subview,
    "pto.treshape": Handles.reshape,
    "pto.bitcast": Handles.reshape,
    "pto.make_tensor_view": Handles.view,
    "pto.partition_view": Handles.partition,
    "pto.addptr": Handles.advance,
}
