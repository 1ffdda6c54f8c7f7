"""Comparing sizes and types of tiles: what is provably equal, what is not."""

from __future__ import annotations

from pypto_verified import index
from pypto_verified.errors import NotModelled
from pypto_verified.ir.expr import Const, Dim
from pypto_verified.ir.index_form import to_index
from pypto_verified.ir.types import ScalarType, TensorType, TileType, Type


def same_dim(a: Dim, b: Dim) -> bool:
    """Whether two sizes are provably equal: their normal forms are one, or they are the same expression."""
    if a == b:
        return True
    try:
        return index.eq(to_index(a), to_index(b)) is index.TRUE
    except NotModelled:
        return False


def same_dims(a: tuple[Dim, ...], b: tuple[Dim, ...]) -> bool:
    """Whether two shapes are provably equal."""
    return len(a) == len(b) and all(same_dim(x, y) for x, y in zip(a, b, strict=True))


def static(d: Dim) -> int | None:
    """The size as an int, if it is one."""
    if isinstance(d, Const) and isinstance(d.value, int):
        return int(d.value)
    return d if isinstance(d, int) else None


def disagreement(a: Type, b: Type) -> str:
    """Why a value of type `b` can't take the place of one of type `a` in a carried variable; empty if it can.

    Layout and space are not compared: before memory inference neither is decided.
    """
    match a, b:
        case TileType(), TileType():
            if a.dtype != b.dtype:
                return f"{a.dtype!r} against {b.dtype!r}"
            if a.shape != b.shape:
                return f"shape {list(a.shape)} against {list(b.shape)}"
            if not same_dims(a.valid_shape, b.valid_shape):
                return f"valid shape {show(a.valid_shape)} against {show(b.valid_shape)}"
            return ""
        case TensorType(), TensorType():
            if a.dtype != b.dtype or not same_dims(a.shape, b.shape):
                return f"{a.dtype!r} {show(a.shape)} against {b.dtype!r} {show(b.shape)}"
            return ""
        case ScalarType(), ScalarType():
            return "" if a.dtype == b.dtype else f"{a.dtype!r} against {b.dtype!r}"
        case _:
            return "" if type(a) is type(b) else f"{_kind(a)} against {_kind(b)}"


def _kind(t: Type) -> str:
    return type(t).__name__.removesuffix("Type").lower()


def show(dims: tuple[Dim, ...]) -> str:
    """A shape for a message; symbolic sizes by their normal form."""
    return "[" + ", ".join(_show_dim(d) for d in dims) + "]"


def _show_dim(d: Dim) -> str:
    number = static(d)
    if number is not None:
        return str(number)
    try:
        return repr(to_index(d))
    except NotModelled:
        return "?"
