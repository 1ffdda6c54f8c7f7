"""Operands for the tests of type rules."""

from __future__ import annotations

from pypto_verified.dtypes import FP32, INDEX, DType
from pypto_verified.ir.expr import Attr, Call, Const, Dim, Expr, MakeTuple, Var
from pypto_verified.ir.types import ScalarType, TensorType, TileType, Type
from pypto_verified.layouts import Space
from pypto_verified.ops.build import make_call
from pypto_verified.ops.layout import make_tile


def index(name: str) -> Var:
    """A run-time INDEX scalar."""
    return Var(name, ScalarType(INDEX))


def scalar(name: str, dtype: DType) -> Var:
    """A run-time scalar."""
    return Var(name, ScalarType(dtype))


def numbers(*dims: Dim) -> MakeTuple:
    """A list operand."""
    return MakeTuple(tuple(Const(d) if isinstance(d, int) else d for d in dims))


def tile(
    *shape: int, dtype: DType = FP32, space: Space | None = Space.VEC, valid: tuple[Dim, ...] = (), name: str = "t"
) -> Var:
    """A tile variable with the implicit layout of its space."""
    return Var(name, make_tile(shape, dtype, space, valid))


def tensor(*shape: Dim, dtype: DType = FP32, name: str = "a") -> Var:
    """A tensor variable."""
    return Var(name, TensorType(shape, dtype))


def call(op: str, *args: Expr, **kwargs: Attr) -> Call:
    """The typed call."""
    return make_call(op, args, kwargs)


def result(op: str, *args: Expr, **kwargs: Attr) -> TileType:
    """The tile type that the call's rule deduces."""
    t: Type = call(op, *args, **kwargs).type
    assert isinstance(t, TileType)
    return t
