"""Handles: what each SSA value of a memory type stands for, resolved through views, slots and reshapes."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from pypto_verified.errors import NotModelled
from pypto_verified.index import TRUE, Expr, as_expr, const
from pypto_verified.index.cond import as_cond
from pypto_verified.layouts import BLayout, SLayout, Space, TensorLayout
from pypto_verified.pto.module import EnumAttr, Op, Value
from pypto_verified.pto.types import MultiTileBufType, PartitionViewType, PtrType, TensorViewType, TileBufType
from verifiers.access.program import Operand, Pointer, Root, Scalar, TensorView, TileUse, Window
from verifiers.access.symbols import SymbolKind, Symbols, user_name
from verifiers.access.tiles import inner_box, rect_of


class Handles:
    """The memory side of the environment. `scalar` gives an operand's scalar value."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.scalars: dict[Value, Scalar] = {}
        self.tiles: dict[Value, TileUse] = {}
        self.regions: dict[Value, tuple[Root, Expr, Expr, MultiTileBufType]] = {}
        self.views: dict[Value, TensorView] = {}
        self.windows: dict[Value, Window] = {}
        self.pointers: dict[Value, Pointer] = {}
        self.renamed: set[Value] = set()  # buffers of more than one name

    def rename(self, value: Value, known: Value) -> bool:
        """`value` is another name of the buffer that `known` stands for; False if that is not known."""
        found = any([
            _copied(self.tiles, value, known), _copied(self.regions, value, known), _copied(self.views, value, known),
            _copied(self.windows, value, known), _copied(self.pointers, value, known)])
        if found:
            self.renamed |= {value, known}
        return found

    def operand(self, value: Value) -> Operand:
        """What a value stands for, None for a float or for what is not resolved."""
        for table in (self.tiles, self.windows, self.views, self.pointers):
            found = table.get(value)
            if found is not None:
                return found
        return self.scalars.get(value)

    def index(self, value: Value) -> Expr:
        """The integer value of an operand; a fresh OPAQUE symbol when it has none."""
        found = self.scalars.get(value)
        if isinstance(found, Expr):
            return found
        made = self.symbols.new(value.name, SymbolKind.OPAQUE)
        self.scalars[value] = made
        return made

    def define(self, op: Op) -> TileUse | Window | None:
        """Resolve a view or alloc op; the tile or window it makes. Raises NotModelled for a view not known here."""
        maker = _MAKERS.get(op.name)
        if maker is None:
            raise NotModelled(f"{op.name}", op.loc)
        return maker(self, op)

    def alloc(self, op: Op) -> TileUse | None:
        type_ = op.result.type
        slots, slot = 1, type_
        if isinstance(type_, MultiTileBufType):
            slots, slot = type_.count, type_.slot
        if not isinstance(slot, TileBufType):
            raise NotModelled(f"{op.name} of something that is no tile", op.loc)
        addr = op.opt("addr")
        address = self.index(addr) if addr is not None else None
        root = Root(user_name(op.result.name), op, "alloc", slot.loc, address, slot.bytes, slots)
        rows, cols = self._valid(op, slot)
        if isinstance(type_, MultiTileBufType):
            self.regions[op.result] = (root, rows, cols, type_)
            return None
        return self._root_tile(op, root, slot, rows, cols, "alloc")

    def pop(self, op: Op) -> TileUse:
        """A tile handed out by a FIFO: a root of its own, at an address only the ring knows."""
        type_ = op.result.type
        assert isinstance(type_, TileBufType)
        root = Root(user_name(op.result.name), op, "pop", type_.loc, None, type_.bytes)
        rows, cols = self._valid(op, type_)
        return self._root_tile(op, root, type_, rows, cols, "pop")

    def _root_tile(self, op: Op, root: Root, type_: TileBufType, rows: Expr, cols: Expr, how: str) -> TileUse:
        storage = (type_.rows, type_.cols)
        zero = const(0)
        tile = TileUse(
            root.name, op, how, type_, root, rect_of(type_, storage, zero, zero, zero), rows, cols, storage, zero, zero)
        self.tiles[op.result] = tile
        return tile

    def _valid(self, op: Op, type_: TileBufType) -> tuple[Expr, Expr]:
        """Valid extents: the type's, else the operands', else the whole tile."""
        extents: list[Expr] = []
        for group, static, full in (("valid_row", type_.v_row, type_.rows), ("valid_col", type_.v_col, type_.cols)):
            given = op.opt(group)
            if given is not None:
                extents.append(self.index(given))
            else:
                extents.append(const(static if static is not None else full))
        return extents[0], extents[1]

    def slot(self, op: Op) -> TileUse:
        found = self.regions.get(op.arg("source"))
        if found is None:
            raise NotModelled("a slot of a region that is not an alloc_multi_tile of this function", op.loc)
        root, rows, cols, type_ = found
        base = self.index(op.arg("slot")) * root.bytes
        storage = (type_.slot.rows, type_.slot.cols)
        rect = rect_of(type_.slot, storage, base, const(0), const(0))
        tile = TileUse(user_name(op.result.name), op, "slot", type_.slot, root, rect, rows, cols, storage, const(0),
                       const(0))
        self.tiles[op.result] = tile
        return tile

    def tile(self, value: Value, op: Op) -> TileUse:
        found = self.tiles.get(value)
        if found is None:
            raise NotModelled(f"the tile %{value.name} of {op.name} comes from an op that is not modelled", op.loc)
        return found

    def subview(self, op: Op) -> TileUse:
        parent = self.tile(op.arg("source"), op)
        type_ = op.result.type
        assert isinstance(type_, TileBufType)
        offsets = op.args.get("offsets", ())
        if len(offsets) != 2:
            raise NotModelled(f"a window of a tile with {len(offsets)} offsets", op.loc)
        row, col = map(self.index, offsets)
        # The parent's own layout addresses the window; only its extents are the view's.
        stored = replace(parent.type, rows=type_.rows, cols=type_.cols)
        _require_box(op, parent.type, row, col)
        anchor, from_row, from_col = parent, row, col
        while anchor.how == "subview" and anchor.parent is not None:
            anchor, from_row, from_col = anchor.parent, from_row + anchor.row, from_col + anchor.col
        rect = rect_of(stored, parent.storage, anchor.rect.base, from_row, from_col)
        rows, cols = self._valid(op, type_)
        tile = TileUse(user_name(op.result.name), op, "subview", type_, parent.root, rect, rows, cols, parent.storage,
                       row, col, parent)
        self.tiles[op.result] = tile
        return tile

    def reshape(self, op: Op) -> TileUse:
        parent = self.tile(op.arg("src"), op)
        type_ = op.result.type
        assert isinstance(type_, TileBufType)
        storage = (type_.rows, type_.cols)
        rect = rect_of(type_, storage, parent.rect.base, const(0), const(0))
        same = storage == (parent.type.rows, parent.type.cols)
        valid: list[Expr] = []
        for static, name, inherited in (
            (type_.v_row, "rows", parent.valid_rows), (type_.v_col, "cols", parent.valid_cols)):
            if static is not None:
                valid.append(const(static))
            else:
                valid.append(inherited if same else self.symbols.new(
                    f"valid_{name}_of_{op.result.name}", SymbolKind.OPAQUE, 0, getattr(type_, name)))
        how = "bitcast" if op.name == "pto.bitcast" else "reshape"
        tile = TileUse(
            user_name(op.result.name), op, how, type_, parent.root, rect, valid[0], valid[1], storage, const(0),
            const(0), parent)
        self.tiles[op.result] = tile
        return tile

    def set_valid(self, value: Value, rows: Expr, cols: Expr) -> None:
        """From here on the handle's valid extents are these."""
        self.tiles[value] = replace(self.tiles[value], valid_rows=rows, valid_cols=cols)

    def tensor_view(self, op: Op) -> None:
        pointer = self.pointers.get(op.arg("ptr"))
        if pointer is None:
            raise NotModelled(f"a tensor view of %{op.arg('ptr').name}, which is no pointer argument", op.loc)
        type_ = op.result.type
        assert isinstance(type_, TensorViewType)
        layout = op.attrs.get("layout")
        self.views[op.result] = TensorView(
            user_name(op.result.name.removesuffix("_view")), op, pointer.base, pointer.offset,
            tuple(self.index(v) for v in op.args.get("shape", ())),
            tuple(self.index(v) for v in op.args.get("strides", ())),
            type_.dtype, TensorLayout(layout.member) if isinstance(layout, EnumAttr) else None,
        )

    def window(self, op: Op) -> Window:
        source = op.arg("source")
        offsets, sizes = (tuple(self.index(v) for v in op.args.get(k, ())) for k in ("offsets", "sizes"))
        name = user_name(op.result.name)
        view = self.views.get(source)
        if view is not None:
            made = Window(name, op, view, offsets, sizes, view.dims)
        else:
            parent = self.windows.get(source)
            if parent is None:
                raise NotModelled(f"a window of %{source.name}, which is no tensor view of this function", op.loc)
            made = Window(name, op, parent.view, offsets, sizes, parent.sizes, parent)
        if not len(offsets) == len(sizes) == len(made.bounds):
            raise NotModelled(
                f"a window of {len(made.bounds)} axes with {len(offsets)} offsets and {len(sizes)} sizes", op.loc)
        self.windows[op.result] = made
        return made

    def advance(self, op: Op) -> None:
        pointer = self.pointers.get(op.arg("ptr"))
        if pointer is None:
            raise NotModelled(f"{op.name} of %{op.arg('ptr').name}", op.loc)
        self.pointers[op.result] = Pointer(pointer.base, pointer.offset + self.index(op.arg("offset")))

    def enter_pointer(self, value: Value) -> None:
        """A pointer argument of the function."""
        if isinstance(value.type, PtrType) and value.type.space is Space.GM:
            self.pointers[value] = Pointer(value.name, as_expr(0))


_T = TypeVar("_T")


def _copied(table: dict[Value, _T], value: Value, known: Value) -> bool:
    if known in table:
        table[value] = table[known]
    return known in table


def is_buffer(value: Value) -> bool:
    """Whether a value stands for a tile, a tensor or a part of one."""
    return isinstance(value.type, (TileBufType, PtrType, TensorViewType, PartitionViewType))


def _require_box(op: Op, type_: TileBufType, row: Expr, col: Expr) -> None:
    """NotModelled for a view along the lines of boxes that starts where only a run knows: at any row of NZ, any column
    of ZN it is addressed right, and the assembler takes it, but it is no rect of whole boxes."""
    lines = {(BLayout.COL, SLayout.ROW): (row, 0), (BLayout.ROW, SLayout.COL): (col, 1)}
    start, axis = lines.get((type_.blayout, type_.slayout), (const(0), 0))
    step = inner_box(type_)[axis]
    if start.value is None and as_cond(start % step == 0) is not TRUE:
        what = "row" if axis == 0 else "column"
        raise NotModelled(f"a view that starts at a {what} within a box, known at run time only", op.loc)


_MAKERS = {
    "pto.alloc_tile": Handles.alloc,
    "pto.alloc_multi_tile": Handles.alloc,
    "pto.multi_tile_get": Handles.slot,
    "pto.subview": Handles.subview,
    "pto.treshape": Handles.reshape,
    "pto.bitcast": Handles.reshape,
    "pto.make_tensor_view": Handles.tensor_view,
    "pto.partition_view": Handles.window,
    "pto.addptr": Handles.advance,
}
