"""Compile-time Python values as IR: constants, dims, keyword values, types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pypto_verified import index
from pypto_verified.dtypes import BOOL, FP32, INDEX, DType
from pypto_verified.ir.expr import (
    Attr,
    Binary,
    Call,
    Cast,
    Const,
    Dim,
    Expr,
    MakeTuple,
    TupleGet,
    Unary,
    Var,
)
from pypto_verified.ir.index_form import from_index
from pypto_verified.ir.types import (
    MemRef,
    OpaqueType,
    ScalarType,
    TensorType,
    TensorView,
    TileType,
    TileView,
    TupleType,
    Type,
)
from pypto_verified.language.markers import (
    ConstMark,
    DynVar,
    LanguageDType,
    MemRefMark,
    TypeMark,
    ViewMark,
)
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space, TensorLayout

EXPR = (Var, Const, Binary, Unary, Cast, MakeTuple, TupleGet, Call)
"""The classes of IR expressions."""

T = TypeVar("T")


def is_expr(value: object) -> bool:
    """Whether a value is an IR expression already."""
    return isinstance(value, EXPR)


def lift(value: object) -> Expr | None:
    """A Python value as an IR expression: a bare int is INDEX, a bare float FP32. None when it has no IR form."""
    match value:
        case Var() | Const() | Binary() | Unary() | Cast() | MakeTuple() | TupleGet() | Call():
            return value
        case bool():
            return Const(value, BOOL)
        case int():
            return Const(int(value), INDEX)
        case float():
            return Const(value, FP32)
        case DynVar():
            return Var(value.name, ScalarType(INDEX))
        case index.Expr():
            return from_index(value)
        case ConstMark():
            number = float(value.value) if value.dtype.dtype.is_float else value.value
            return Const(number, value.dtype.dtype)
        case list() | tuple():
            items = [lift(v) for v in value]
            return MakeTuple(tuple(i for i in items if i is not None)) if None not in items else None
        case _:
            return None


def as_dim(value: object) -> Dim | None:
    """A size: an int, or an integer expression. None when it is neither."""
    e = lift(value)
    if isinstance(e, Const):
        return int(e.value) if e.dtype.is_integer else None
    return None if e is None or isinstance(e, MakeTuple) else e


def attr(value: object) -> Attr:
    """A keyword's value as the ops room takes it. Raises ValueError for a value that is none of the kinds."""
    match value:
        case None | bool() | float() | str() | Space() | Pad() | BLayout() | SLayout() | Compact() | TensorLayout():
            return value
        case int():
            return int(value)
        case LanguageDType():
            return value.dtype
        case Const():
            return value.value
        case list() | tuple():
            return tuple(attr(v) for v in value)
        case MakeTuple():
            return tuple(attr(v) for v in value.items)
        case _:
            raise ValueError(value)


class BadAnnotation(Exception):
    """An annotation that is no type; the message says why."""


def _dims(value: object, what: str) -> tuple[Dim, ...]:
    items = value.items if isinstance(value, MakeTuple) else value
    if not isinstance(items, list | tuple):
        raise BadAnnotation(f"{what} must be a list of sizes")
    found = [as_dim(v) for v in items]
    if any(d is None for d in found):
        raise BadAnnotation(f"{what}[{found.index(None)}] must be an integer or an expression of sizes")
    return tuple(d for d in found if d is not None)


def _dtype(value: object) -> DType:
    if not isinstance(value, LanguageDType):
        raise BadAnnotation("the element type must be one of pl.FP32, pl.INT32, ...")
    return value.dtype


def as_type(value: object, storage: Callable[[MemRefMark], str] | None = None) -> Type:
    """The IR type of an evaluated annotation; `storage` names an author's allocation. Raises BadAnnotation."""
    if not isinstance(value, TypeMark):
        raise BadAnnotation("expected pl.Tensor[...], pl.Tile[...] or pl.Scalar[...]")
    match value.kind:
        case "Scalar":
            return ScalarType(_dtype(value.items[0] if value.items else None))
        case "Tensor" | "DistributedTensor":
            # A window of a distributed tensor lies in this device's own memory; only ops on peers tell them apart.
            return _tensor(value.items)
        case "Tile":
            return _tile(value.items, storage)
        case "Tuple":
            return TupleType(tuple(as_type(v, storage) for v in value.items))
        case _:
            return OpaqueType(f"pl.{value.kind}")


def _tensor(items: tuple[object, ...]) -> TensorType:
    if len(items) < 2:
        raise BadAnnotation("pl.Tensor needs a shape and an element type: pl.Tensor[[64, 128], pl.FP32]")
    view = TensorView()
    for extra in items[2:]:
        if isinstance(extra, TensorLayout):
            view = TensorView(layout=extra)
        elif isinstance(extra, ViewMark) and extra.kind == "TensorView":
            view = _tensor_view(extra)
        elif not isinstance(extra, MemRefMark):
            raise BadAnnotation("after shape and element type, pl.Tensor takes a layout or a pl.TensorView")
    return TensorType(_dims(items[0], "shape"), _dtype(items[1]), view)


def _tensor_view(mark: ViewMark) -> TensorView:
    fields = mark.fields
    return TensorView(
        _dims(fields.get("stride") or (), "stride"),
        _one(fields, "layout", TensorLayout, TensorLayout.ND),
        _dims(fields.get("valid_shape") or (), "valid_shape"),
    )


def _one(fields: dict[str, object], name: str, kind: type[T], default: T) -> T:
    value = fields.get(name)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise BadAnnotation(f"{name} must be a {kind.__name__}")
    return value


def _tile_view(mark: ViewMark) -> TileView:
    fields = mark.fields
    blayout = fields.get("blayout")
    return TileView(
        _dims(fields.get("valid_shape") or (), "valid_shape"),
        BLayout(blayout.value) if isinstance(blayout, SLayout) else BLayout.ROW,
        _one(fields, "slayout", SLayout, SLayout.NONE),
        _one(fields, "fractal", int, 512),
        _one(fields, "pad", Pad, Pad.NULL),
        _one(fields, "compact", Compact, Compact.NULL),
    )


def _tile(items: tuple[object, ...], storage: Callable[[MemRefMark], str] | None) -> TileType:
    if len(items) < 2:
        raise BadAnnotation("pl.Tile needs a shape and an element type: pl.Tile[[16, 64], pl.FP32]")
    shape = []
    for d in _dims(items[0], "shape"):
        if not isinstance(d, int):
            raise BadAnnotation("a tile's shape must be constant; a run-time extent is its valid_shape")
        shape.append(d)
    dtype = _dtype(items[1])
    space: Space | None = None
    view: TileView | None = None
    mark: MemRefMark | None = None
    for extra in items[2:]:
        match extra:
            case Space():
                space = extra
            case ViewMark(kind="TileView"):
                view = _tile_view(extra)
            case MemRefMark():
                mark = extra
            case _:
                raise BadAnnotation("after shape and element type, pl.Tile takes a memory space, a MemRef, a TileView")
    memref = _memref(mark, tuple(shape), dtype, storage) if mark is not None else None
    return TileType(tuple(shape), dtype, space, view, memref)


def _memref(
    mark: MemRefMark, shape: tuple[int, ...], dtype: DType, storage: Callable[[MemRefMark], str] | None
) -> MemRef:
    """Sizes in bytes; an allocation without a size has room for the tile in each slot."""
    elements = 1
    for extent in shape:
        elements *= extent
    slot, offset = as_dim(mark.slot), None if mark.offset is None else as_dim(mark.offset)
    if slot is None:
        raise BadAnnotation("the slot of a MemRef must be an integer expression")
    size = mark.size if isinstance(mark.size, int) else elements * dtype.bits // 8 * mark.slots
    name = mark.name or (storage(mark) if storage is not None else "")
    return MemRef(name, offset, size, mark.pinned, mark.slots, slot)
