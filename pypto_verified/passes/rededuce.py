"""Deducing op types anew when operands have changed."""

from __future__ import annotations

from operator import is_

from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Binary, Call, Cast, Const, Expr, Unary, Var
from pypto_verified.ir.types import ScalarType, TensorType, TileType, Type
from pypto_verified.ops.build import make_call


def rededuce(call: Call, args: tuple[Expr, ...]) -> Call:
    """`call` with other operands and the type that its op's rule gives them; `call` itself if nothing changed.

    Raises OpError at the call if the operands do not satisfy the rule.
    """
    if all(map(is_, args, call.args)):
        return call
    if all(map(_alike, args, call.args)):
        return Call(call.op, args, call.kwargs, call.type, call.span)
    new = make_call(call.op, args, dict(call.kwargs), call.span)
    return replace(new, kwargs=call.kwargs)


def _alike(new: Expr, old: Expr) -> bool:
    """Whether a rule can't tell two operands apart: of a tile or tensor it sees the type only."""
    if new is old:
        return True
    if not isinstance(new, Var) or not isinstance(old, Var) or not isinstance(old.type, (TileType, TensorType)):
        return False
    return new.type is old.type or new.type == old.type


def type_of(e: Expr) -> Type | None:
    """The type of a value; None for tuples, which have no type of their own."""
    match e:
        case Var() | Call():
            return e.type
        case Const() | Binary() | Unary() | Cast():
            return ScalarType(e.dtype)
        case _:
            return None
