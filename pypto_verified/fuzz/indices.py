"""Scalars of generated kernels that say where: indices within a limit, conditions, counters."""

from __future__ import annotations

from pypto_verified.dtypes import BF16, BOOL, DTYPES, FP16, FP32, INDEX, INT32
from pypto_verified.fuzz.builder import INTEGERS, MAX_TRIPS, REALS, Builder, Counter, numbers
from pypto_verified.fuzz.draw import chance, choice, weighted
from pypto_verified.ir.expr import Binary, BinaryOp, Cast, Const, Expr, Unary, UnaryOp, Var
from pypto_verified.ir.types import ScalarType

_ARGUMENTS = (("INT32", 4), ("INT64", 3), ("UINT32", 4), ("INT16", 1), ("INT8", 1), ("UINT8", 1), ("UINT16", 1),
              ("UINT64", 1))
"""Integer types of arguments with weights."""
_COMPUTED = (BinaryOp.SHR, BinaryOp.FLOORDIV, BinaryOp.MOD, BinaryOp.MIN, BinaryOp.MAX, BinaryOp.ADD, BinaryOp.SUB,
             BinaryOp.MUL, BinaryOp.BITXOR)
_COMPARED = (BinaryOp.EQ, BinaryOp.NE, BinaryOp.LT, BinaryOp.LE, BinaryOp.GT, BinaryOp.GE)


def index(b: Builder, limit: int) -> Expr:
    """An INDEX of 0 .. limit - 1."""
    if limit == 1 or chance(b.draw, 70):
        return b.index(limit)
    match choice(b.draw, ("clamped", "rest", "quotient", "counter")):
        case "clamped":
            low = Binary(BinaryOp.MAX, _anything(b), Const(0), INDEX)
            return Binary(BinaryOp.MIN, low, Const(limit - 1), INDEX)
        case "rest":
            return Binary(BinaryOp.MOD, _anything(b), Const(limit), INDEX)
        case "quotient":
            return Binary(BinaryOp.FLOORDIV, _variable(b, 2 * limit), Const(2), INDEX)
        case _:
            found = [c.var for c in b.counters if c.limit <= limit]
            return choice(b.draw, found) if found else b.index(limit)


def _anything(b: Builder) -> Expr:
    """An INDEX of any size and sign: an argument of another integer type, an element of a tensor, or a difference."""
    kind = weighted(b.draw, (("argument", 3), ("element", 2), ("difference", 3), ("lesser", 1)))
    if kind == "argument":
        var = argument(b)
        return Cast(_of_its_type(b, var) if chance(b.draw, 40) else var, INDEX)
    if kind == "element":
        element = b.scratch(b.call("tensor.read", (b.tensor((2, 4), INT32), numbers(*element_of(b, 2, 4)))))
        return Cast(element, INDEX)
    difference = _difference(b)
    return difference if kind == "difference" else Binary(BinaryOp.MIN, difference, Const(1), INDEX)


def _of_its_type(b: Builder, var: Var) -> Expr:
    """What is computed of an argument in its own type, where signed and unsigned ones differ."""
    assert isinstance(var.type, ScalarType)
    op = choice(b.draw, _COMPUTED)
    return Binary(op, var, Const(b.draw.integer(1, 3), var.type.dtype), var.type.dtype)


def _difference(b: Builder) -> Expr:
    variable = _variable(b, MAX_TRIPS)
    if chance(b.draw, 30):
        return Binary(BinaryOp.SUB, Const(b.draw.integer(0, 2)), variable, INDEX)
    return Binary(BinaryOp.SUB, variable, Const(b.draw.integer(1, 3)), INDEX)


def argument(b: Builder) -> Var:
    """An argument of an integer type, which may be what a signed type of its width can't hold."""
    dtype = DTYPES[weighted(b.draw, _ARGUMENTS)]
    values = (-3, 0, 1, 2, 5) if dtype.is_signed else (0, 1, 2, 5)
    if dtype.bits < INDEX.bits:
        values = (*values, INTEGERS[dtype.name][-1])
    return b.integer(values, "j", dtype)


def _variable(b: Builder, limit: int) -> Var:
    """An INDEX of 0 .. limit - 1 that is no constant: arithmetic on those alone is a number when it is read back."""
    inside = [loop.var for loop in b.loops if loop.trips <= limit]
    return choice(b.draw, inside) if inside else b.integer((0, 1, limit - 1))


def element_of(b: Builder, rows: int, columns: int) -> tuple[int, int]:
    """The place of an element."""
    return b.draw.integer(0, rows - 1), b.draw.integer(0, columns - 1)


def condition(b: Builder) -> Expr:
    """A comparison of a loop's variable or a scalar, an argument that is true or false, or two of them, one perhaps
    settled."""
    first = _truth(b)
    match weighted(b.draw, (("plain", 8), ("and", 1), ("or", 1), ("settled", 1), ("not", 1))):
        case "and":
            return Binary(BinaryOp.AND, first, _truth(b), BOOL)
        case "or":
            return Binary(BinaryOp.OR, first, _truth(b), BOOL)
        case "settled":
            known = Const(chance(b.draw, 50), BOOL)
            lhs, rhs = (first, known) if chance(b.draw, 50) else (known, first)
            return Binary(choice(b.draw, (BinaryOp.AND, BinaryOp.OR)), lhs, rhs, BOOL)
        case "not":
            return Unary(UnaryOp.NOT, first, BOOL)
        case _:
            return first


def _truth(b: Builder) -> Expr:
    return b.flag() if chance(b.draw, 15) else _comparison(b)


def _comparison(b: Builder) -> Expr:
    """Of a constant with what is sometimes equal to it."""
    counters = [c.var for c in b.counters]
    if counters and chance(b.draw, 25):
        return Binary(choice(b.draw, _COMPARED), choice(b.draw, counters), Const(1), BOOL)
    if b.loops and chance(b.draw, 60):
        i = choice(b.draw, b.loops).var
        if chance(b.draw, 30):
            return Binary(BinaryOp.EQ, Binary(BinaryOp.MOD, i, Const(2), INDEX), Const(b.draw.integer(0, 1)), BOOL)
        return Binary(choice(b.draw, _COMPARED), i, Const(b.draw.integer(0, 2)), BOOL)
    if chance(b.draw, 15):
        dtype = choice(b.draw, (FP32, FP16, BF16))
        return Binary(choice(b.draw, _COMPARED), b.real(dtype), Const(choice(b.draw, REALS), dtype), BOOL)
    if chance(b.draw, 50):
        var = argument(b)
        assert isinstance(var.type, ScalarType)
        dtype, most = var.type.dtype, b.ranges[var.name][-1]
        if chance(b.draw, 30):
            by = b.draw.integer(1, 3)
            op, part = choice(b.draw, ((BinaryOp.SHR, most >> by), (BinaryOp.FLOORDIV, most // by)))
            return Binary(choice(b.draw, _COMPARED), Binary(op, var, Const(by, dtype), dtype), Const(part, dtype), BOOL)
        limit = Const(choice(b.draw, (1, most)), dtype)
        return Binary(choice(b.draw, _COMPARED), var, limit, BOOL)
    return Binary(choice(b.draw, _COMPARED), b.integer((0, 1, 2)), Const(1), BOOL)


def counter(b: Builder) -> None:
    """A scalar with a value that what follows may count up."""
    var = Var(b.name("u"), ScalarType(INDEX))
    limit = choice(b.draw, (2, 3, 4))
    b.scalar(var, b.index(limit))
    b.counters.append(Counter(var, limit))


def count(b: Builder) -> bool:
    """A counter goes on, and begins anew at its limit; False if there is none."""
    if not b.counters:
        return False
    c = choice(b.draw, b.counters)
    further = Binary(BinaryOp.ADD, c.var, Const(b.draw.integer(1, 2)), INDEX)
    b.scalar(c.var, Binary(BinaryOp.MOD, further, Const(c.limit), INDEX))
    return True
