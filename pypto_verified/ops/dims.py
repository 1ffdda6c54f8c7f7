"""Sizes in type rules: static ints where they are constant, INDEX expressions else; what can be proved about them.

Two sizes are compared through their index normal form. What the normal form does not decide is None: a rule refuses
only what is provably wrong, the rest is an obligation of the verifier.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from pypto_verified import index
from pypto_verified.dtypes import INDEX
from pypto_verified.errors import NotModelled
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Dim, Expr, Var
from pypto_verified.ir.index_form import to_index


def as_dim(e: Dim) -> Dim:
    """`e` as a size: an int when its normal form is constant."""
    if isinstance(e, (int, Var)):
        return e
    if isinstance(e, Const) and isinstance(e.value, int):
        return int(e.value)
    form = _form(e)
    return e if form is None or form.value is None else form.value


def as_expr(d: Dim) -> Expr:
    """A size as an operand."""
    return Const(d) if isinstance(d, int) else d


def _form(e: Dim) -> index.Expr | None:
    if isinstance(e, int):
        return index.const(e)
    if isinstance(e, Const) and e.dtype is INDEX:
        return index.const(int(e.value))
    try:
        return to_index(e)
    except NotModelled:
        return None


def _decided(c: index.Cond) -> bool | None:
    if c is index.TRUE:
        return True
    return False if c is index.FALSE else None


def equal(a: Dim, b: Dim) -> bool | None:
    """Whether a == b: True, False, or None when it depends on run-time values."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    if a is b and isinstance(a, Var):
        return True
    left, right = _form(a), _form(b)
    return None if left is None or right is None else _decided(index.eq(left, right))


def at_most(a: Dim, b: Dim) -> bool | None:
    """Whether a <= b: True, False, or None when it depends on run-time values."""
    if isinstance(a, int) and isinstance(b, int):
        return a <= b
    left, right = _form(a), _form(b)
    return None if left is None or right is None else _decided(left <= right)


def sum_at_most(a: Dim, b: Dim, limit: Dim) -> bool | None:
    """Whether a + b <= limit: `at_most(add(a, b), limit)` without an expression for the sum."""
    if isinstance(a, int) and isinstance(b, int):
        return at_most(a + b, limit)
    first, second, most = _form(a), _form(b), _form(limit)
    return None if first is None or second is None or most is None else _decided(first + second <= most)


def all_equal(a: Sequence[Dim], b: Sequence[Dim]) -> bool | None:
    """Whether two shapes are equal: False if some dim provably differs, None if some is undecided."""
    if len(a) != len(b):
        return False
    if a == b and set(map(type, a)) <= {int}:
        return True
    results = [equal(x, y) for x, y in zip(a, b, strict=True)]
    if False in results:
        return False
    return None if None in results else True


def _combine(op: BinaryOp, a: Dim, b: Dim, apply: Callable[[Any, Any], Any]) -> Dim:
    """`a op b`: a number or one of the operands where the normal form says so, else the expression as written."""
    if isinstance(a, int) and isinstance(b, int):
        number: int = apply(a, b)
        return number
    left, right = _form(a), _form(b)
    if left is not None and right is not None:
        result: index.Expr = apply(left, right)
        if result.value is not None:
            return result.value
        for operand, form in ((a, left), (b, right)):
            if result is form:
                return operand
    return Binary(op, as_expr(a), as_expr(b), INDEX)


def add(a: Dim, b: Dim) -> Dim:
    """a + b."""
    return a + b if isinstance(a, int) and isinstance(b, int) else _combine(BinaryOp.ADD, a, b, operator.add)


def sub(a: Dim, b: Dim) -> Dim:
    """a - b."""
    return _combine(BinaryOp.SUB, a, b, operator.sub)


def mul(a: Dim, b: Dim) -> Dim:
    """a * b."""
    return _combine(BinaryOp.MUL, a, b, operator.mul)


def floordiv(a: Dim, b: int) -> Dim:
    """a // b, rounded down; b > 0."""
    return _combine(BinaryOp.FLOORDIV, a, b, operator.floordiv)


def ceildiv(a: Dim, b: int) -> Dim:
    """a / b rounded up; b > 0."""
    return floordiv(add(a, b - 1), b)


def minimum(a: Dim, b: Dim) -> Dim:
    """The smaller of the two."""
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else _combine(BinaryOp.MIN, a, b, index.minimum)


def maximum(a: Dim, b: Dim) -> Dim:
    """The larger of the two."""
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else _combine(BinaryOp.MAX, a, b, index.maximum)


def show(d: Dim) -> str:
    """A size for a message."""
    if isinstance(d, int):
        return str(d)
    form = _form(d)
    return repr(form) if form is not None else "a run-time value"


def show_shape(dims: Sequence[Dim]) -> str:
    """A shape for a message."""
    return f"[{', '.join(map(show, dims))}]"
