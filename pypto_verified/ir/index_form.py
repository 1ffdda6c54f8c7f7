"""INDEX expressions of the IR as index normal forms, and back.

The index language is exact integers. INDEX and INT64 arithmetic counts as exact; arithmetic in narrower types can wrap
and is not translated (a narrower *variable* is: it is just an integer).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pypto_verified import index
from pypto_verified.dtypes import BOOL, INDEX, INT64
from pypto_verified.errors import NotModelled
from pypto_verified.index.expr import Atom
from pypto_verified.ir.expr import Binary, BinaryOp, Call, Cast, Const, Dim, Expr, Unary, UnaryOp, Var
from pypto_verified.ir.types import ScalarType

_ARITHMETIC: dict[BinaryOp, Callable[[index.Expr, index.Expr], index.Expr]] = {
    BinaryOp.ADD: lambda a, b: a + b,
    BinaryOp.SUB: lambda a, b: a - b,
    BinaryOp.MUL: lambda a, b: a * b,
    BinaryOp.FLOORDIV: lambda a, b: a // b,
    BinaryOp.MOD: lambda a, b: a % b,
    BinaryOp.MIN: lambda a, b: index.minimum(a, b),
    BinaryOp.MAX: lambda a, b: index.maximum(a, b),
}
_RELATIONS: dict[BinaryOp, Callable[[index.Expr, index.Expr], index.Cond]] = {
    BinaryOp.EQ: lambda a, b: index.eq(a, b),
    BinaryOp.NE: lambda a, b: index.ne(a, b),
    BinaryOp.LT: lambda a, b: a < b,
    BinaryOp.LE: lambda a, b: a <= b,
    BinaryOp.GT: lambda a, b: a > b,
    BinaryOp.GE: lambda a, b: a >= b,
}
_EXACT = (INDEX, INT64)
# The launch gives these; none is negative (an assumption of every artefact).
_LAUNCH = {"tile.get_block_idx": "block_idx", "tile.get_block_num": "block_num", "tile.get_subblock_idx": "lane"}


def to_index(e: Dim, env: Mapping[str, index.Expr] | None = None) -> index.Expr:
    """The normal form of an integer scalar; a variable reads `env` by name, else it is a free symbol of its name.

    Raises NotModelled for what exact integers can't express: floats, loads, wrapping arithmetic, `&` with odd masks.
    """
    known = env or {}
    match e:
        case int():
            return index.const(e)
        case Const(value=int(number), dtype=dtype) if dtype != BOOL:
            return index.const(number)
        case Var(name=name, type=ScalarType(dtype=dtype)) if dtype.is_integer:
            return known[name] if name in known else index.symbol(name, 0 if dtype.kind == "uint" else None)
        case Cast(operand=operand, dtype=dtype) if dtype in _EXACT:
            return to_index(operand, known)
        case Unary(op=UnaryOp.NEG, operand=operand, dtype=dtype) if dtype in _EXACT:
            return -to_index(operand, known)
        case Unary(op=UnaryOp.ABS, operand=operand, dtype=dtype) if dtype in _EXACT:
            value = to_index(operand, known)
            return index.maximum(value, -value)
        case Binary(op=op, dtype=dtype) if op in _ARITHMETIC and dtype in _EXACT:
            return _ARITHMETIC[op](to_index(e.lhs, known), to_index(e.rhs, known))
        case Binary(op=BinaryOp.SHL, rhs=Const(value=int(k)), dtype=dtype) if dtype in _EXACT and k >= 0:
            return to_index(e.lhs, known) * (1 << k)
        case Binary(op=BinaryOp.SHR, rhs=Const(value=int(k)), dtype=dtype) if dtype in _EXACT and k >= 0:
            return to_index(e.lhs, known) // (1 << k)
        case Binary(op=BinaryOp.BITAND, rhs=Const(value=int(mask)), dtype=dtype) if dtype in _EXACT and _low_bits(mask):
            return to_index(e.lhs, known) % (mask + 1)
        case Call(op=op) if op in _LAUNCH:
            name = _LAUNCH[op]
            return known[name] if name in known else index.symbol(name, 0)
        case _:
            raise NotModelled(f"index expression of kind {type(e).__name__}")


def _low_bits(mask: int) -> bool:
    return mask >= 0 and mask & (mask + 1) == 0


def to_cond(e: Expr, env: Mapping[str, index.Expr] | None = None) -> index.Cond:
    """A BOOL scalar over index expressions as a condition. Raises NotModelled like `to_index`."""
    match e:
        case Const(value=value, dtype=dtype) if dtype == BOOL:
            return index.TRUE if value else index.FALSE
        case Binary(op=op) if op in _RELATIONS:
            return _RELATIONS[op](to_index(e.lhs, env), to_index(e.rhs, env))
        case Binary(op=BinaryOp.AND):
            return to_cond(e.lhs, env) & to_cond(e.rhs, env)
        case Binary(op=BinaryOp.OR):
            return to_cond(e.lhs, env) | to_cond(e.rhs, env)
        case Unary(op=UnaryOp.NOT):
            return ~to_cond(e.operand, env)
        case _:
            raise NotModelled(f"condition of kind {type(e).__name__}")


def from_index(e: index.Expr) -> Expr:
    """An INDEX expression whose value is `e`; symbols become INDEX variables."""
    if e.value is not None:
        return Const(e.value)
    total: Expr | None = None
    for mono, coefficient in e.terms:
        product: Expr = _from_atom(mono[0])
        for atom in mono[1:]:
            product = _index_op(BinaryOp.MUL, product, _from_atom(atom))
        if abs(coefficient) != 1:
            product = _index_op(BinaryOp.MUL, product, Const(abs(coefficient)))
        if total is None:
            total = product if coefficient > 0 else Unary(UnaryOp.NEG, product, INDEX)
        else:
            total = _index_op(BinaryOp.ADD if coefficient > 0 else BinaryOp.SUB, total, product)
    assert total is not None, "a non-constant form has a term"
    if e.constant:
        total = _index_op(BinaryOp.ADD if e.constant > 0 else BinaryOp.SUB, total, Const(abs(e.constant)))
    return total


def _index_op(op: BinaryOp, a: Expr, b: Expr) -> Expr:
    return Binary(op, a, b, INDEX)


_ATOM_OPS = {"floordiv": BinaryOp.FLOORDIV, "mod": BinaryOp.MOD, "min": BinaryOp.MIN, "max": BinaryOp.MAX}


def _from_atom(a: Atom) -> Expr:
    if a.kind == "sym":
        return Var(a.name, ScalarType(INDEX))
    result = from_index(a.args[0])
    for arg in a.args[1:]:
        result = _index_op(_ATOM_OPS[a.kind], result, from_index(arg))
    return result
