"""Folding of scalar expressions: constants and neutral elements. Exact integers only; floats are left as written."""

from __future__ import annotations

from collections.abc import Callable

from pypto_verified.dtypes import BOOL, DType
from pypto_verified.ir.expr import Binary, BinaryOp, Call, Cast, Const, Expr, MakeTuple, Unary, UnaryOp, Var
from pypto_verified.ir.rewrite import map_expr
from pypto_verified.ir.types import ScalarType, Type
from pypto_verified.ir.walk import children, type_exprs

_ARITHMETIC: dict[BinaryOp, Callable[[int, int], int]] = {
    BinaryOp.ADD: lambda a, b: a + b,
    BinaryOp.SUB: lambda a, b: a - b,
    BinaryOp.MUL: lambda a, b: a * b,
    BinaryOp.FLOORDIV: lambda a, b: a // b,
    BinaryOp.MOD: lambda a, b: a % b,
    BinaryOp.MIN: min,
    BinaryOp.MAX: max,
    BinaryOp.BITAND: lambda a, b: a & b,
    BinaryOp.BITOR: lambda a, b: a | b,
    BinaryOp.BITXOR: lambda a, b: a ^ b,
}
_COMPARISONS: dict[BinaryOp, Callable[[int, int], bool]] = {
    BinaryOp.EQ: lambda a, b: a == b,
    BinaryOp.NE: lambda a, b: a != b,
    BinaryOp.LT: lambda a, b: a < b,
    BinaryOp.LE: lambda a, b: a <= b,
    BinaryOp.GT: lambda a, b: a > b,
    BinaryOp.GE: lambda a, b: a >= b,
}
# (operator, constant on that side): the other operand is the result.
_NEUTRAL_RIGHT = {
    (BinaryOp.ADD, 0), (BinaryOp.SUB, 0), (BinaryOp.MUL, 1), (BinaryOp.FLOORDIV, 1),
    (BinaryOp.SHL, 0), (BinaryOp.SHR, 0), (BinaryOp.BITOR, 0), (BinaryOp.BITXOR, 0),
}
_NEUTRAL_LEFT = {(BinaryOp.ADD, 0), (BinaryOp.MUL, 1), (BinaryOp.BITOR, 0), (BinaryOp.BITXOR, 0)}


def fold(e: Expr) -> Expr:
    """`e` with constant integer and Boolean subexpressions replaced by their value; `e` itself if nothing folds.

    A result that does not fit the expression's dtype, and a division by zero, stay as written.
    """
    return e if _settled(e) else map_expr(e, _fold_node)


def _settled(e: Expr) -> bool:
    """Whether `e` has no scalar operation, in its type neither: most operands of tile ops."""
    if isinstance(e, Const):
        return True
    if isinstance(e, Var):
        return _plain(e.type)
    if not isinstance(e, (Call, MakeTuple)):
        return False
    for child in children(e):
        if not isinstance(child, Const) and not _settled(child):
            return False
    return not isinstance(e, Call) or _plain(e.type)


def _plain(t: Type) -> bool:
    """Whether every symbolic dim is a variable."""
    dims = () if isinstance(t, ScalarType) else type_exprs(t)
    return not dims or all(isinstance(d, Var) for d in dims)


def constant_int(e: Expr) -> int | None:
    """The integer that `e` folds to, if it does."""
    folded = fold(e)
    if isinstance(folded, Const) and isinstance(folded.value, int) and not isinstance(folded.value, bool):
        return folded.value
    return None


def _fold_node(e: Expr) -> Expr:
    kind = type(e)
    if kind is not Binary and kind is not Unary and kind is not Cast:
        return e
    match e:
        case Binary(op=op, lhs=Const(value=bool(a)), rhs=Const(value=bool(b))):
            if op in (BinaryOp.AND, BinaryOp.OR):
                return Const(a and b if op is BinaryOp.AND else a or b, BOOL)
        case Binary(op=op, lhs=Const(value=int(a)), rhs=Const(value=int(b)), dtype=dtype):
            return _fold_ints(op, a, b, dtype) or e
        case Binary(op=BinaryOp.AND | BinaryOp.OR as op, lhs=Const(value=bool(a))):
            return e.rhs if a is (op is BinaryOp.AND) else e.lhs
        case Binary(op=BinaryOp.AND | BinaryOp.OR as op, rhs=Const(value=bool(b))):
            return e.lhs if b is (op is BinaryOp.AND) else e.rhs
        case Binary(op=op, rhs=Const(value=int(b))) if (op, b) in _NEUTRAL_RIGHT:
            return e.lhs
        case Binary(op=op, lhs=Const(value=int(a))) if (op, a) in _NEUTRAL_LEFT:
            return e.rhs
        case Unary(op=UnaryOp.NOT, operand=Const(value=bool(a))):
            return Const(not a, BOOL)
        case Unary(op=UnaryOp.NOT, operand=Unary(op=UnaryOp.NOT, operand=inner)):
            return inner
        case Unary(op=UnaryOp.NEG, operand=Const(value=int() | float() as n, dtype=dtype)):
            return Const(-n, dtype) if dtype.is_float or _fits(int(-n), dtype) else e
        case Cast(operand=Const(value=int(a)), dtype=dtype) if dtype.is_integer and _fits(a, dtype):
            return Const(int(a), dtype)
        case _:
            pass
    return e


def _fold_ints(op: BinaryOp, a: int, b: int, dtype: DType) -> Const | None:
    if op in _COMPARISONS:
        return Const(_COMPARISONS[op](a, b), BOOL)
    if op not in _ARITHMETIC or not dtype.is_integer or (b == 0 and op in (BinaryOp.FLOORDIV, BinaryOp.MOD)):
        return None
    value = _ARITHMETIC[op](a, b)
    return Const(value, dtype) if _fits(value, dtype) else None


def _fits(value: int, dtype: DType) -> bool:
    low = -(1 << (dtype.bits - 1)) if dtype.is_signed else 0
    return low <= value < low + (1 << dtype.bits)
