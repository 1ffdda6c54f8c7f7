"""Scalar expressions -> `arith` ops (CG-04).

`arith` computes on signless integers, so unsigned values are re-typed before and signedness is in the choice of the op.
`//` and `%` are Python's; the hardware divides towards zero, which is the same only for operands that are not negative.
"""

from __future__ import annotations

from collections.abc import Mapping

from pypto_verified.codegen.builder import Builder
from pypto_verified.codegen.errors import not_modelled, refuse, require_values
from pypto_verified.codegen.types import BOOL_TYPE, signless
from pypto_verified.dtypes import BOOL, FP32, INDEX, INT64, DType
from pypto_verified.ir.expr import Binary, BinaryOp, Call, Cast, Const, Expr, Span, Unary, UnaryOp, Var
from pypto_verified.ir.types import ScalarType as IrScalar
from pypto_verified.pto.module import Value
from pypto_verified.pto.types import ScalarType

_B = BinaryOp
# op: (signed, unsigned, float); "" has no single op.
_ARITH: dict[BinaryOp, tuple[str, str, str]] = {
    _B.ADD: ("addi", "addi", "addf"),
    _B.SUB: ("subi", "subi", "subf"),
    _B.MUL: ("muli", "muli", "mulf"),
    _B.DIV: ("", "", "divf"),
    _B.FLOORDIV: ("floordivsi", "divui", ""),
    _B.MOD: ("", "remui", ""),
    _B.MIN: ("minsi", "minui", "minimumf"),
    _B.MAX: ("maxsi", "maxui", "maximumf"),
    _B.BITAND: ("andi", "andi", ""),
    _B.BITOR: ("ori", "ori", ""),
    _B.BITXOR: ("xori", "xori", ""),
    _B.SHL: ("shli", "shli", ""),
    _B.SHR: ("shrsi", "shrui", ""),
}
_COMPARE: dict[BinaryOp, tuple[str, str, str]] = {
    _B.EQ: ("eq", "eq", "oeq"),
    _B.NE: ("ne", "ne", "une"),
    _B.LT: ("slt", "ult", "olt"),
    _B.LE: ("sle", "ule", "ole"),
    _B.GT: ("sgt", "ugt", "ogt"),
    _B.GE: ("sge", "uge", "oge"),
}
_LOGIC = {_B.AND: "andi", _B.OR: "ori", _B.XOR: "xori"}


def dtype_of(expr: Expr) -> DType:
    """The element type of a scalar expression. TypeError if it is not one."""
    match expr:
        case Const(dtype=dtype) | Binary(dtype=dtype) | Unary(dtype=dtype) | Cast(dtype=dtype):
            return dtype
        case Var(type=IrScalar(dtype=dtype)) | Call(type=IrScalar(dtype=dtype)):
            return dtype
    raise TypeError(f"not a scalar expression: {expr!r}")


def common_dtype(lhs: Expr, rhs: Expr) -> DType:
    """The type in which two operands meet: a constant yields, an integer goes to INDEX, the narrower to the wider."""
    left, right = dtype_of(lhs), dtype_of(rhs)
    if left == right or (isinstance(rhs, Const) and not (right.is_float and not left.is_float)):
        return left
    if isinstance(lhs, Const) and not (left.is_float and not right.is_float):
        return right
    if left.is_float != right.is_float:
        return left if left.is_float else right
    if INDEX in (left, right):
        return INDEX
    return left if left.bits >= right.bits else right


class ScalarEmitter:
    """Emits scalar expressions of one function. `values` are those of its scalar variables, as bound so far."""

    def __init__(self, builder: Builder, values: Mapping[str, Value]) -> None:
        self._b = builder
        self._values = values
        self._not_negative: set[str] = set()
        self.span = Span()

    def assume_not_negative(self, name: str) -> None:
        """The variable `name` is never below zero."""
        self._not_negative.add(name)

    def value(self, expr: Expr, dtype: DType | None = None, hint: str = "") -> Value:
        """The value of `expr`, converted to `dtype` and signless; the op that makes it is named after `hint`."""
        have = dtype_of(expr)
        want = dtype or have
        require_values("a scalar", want, self.span)
        if isinstance(expr, Const) and (want.is_float or not have.is_float):
            return self._constant(expr, want)
        return self._convert(self._raw(expr, hint if have == want else ""), have, want, hint)

    def exactly(self, value: Value, dtype: DType) -> Value:
        """`value` re-typed to `dtype` itself where a signless integer will not do."""
        if value.type == ScalarType(dtype):
            return value
        return self._cast("builtin.unrealized_conversion_cast", value, dtype, "")

    def _lookup(self, var: Var) -> Value:
        found = self._values.get(var.name)
        if found is None:
            refuse(f"'{var.name}' is used where it has no value", self.span, "define it on every path before this line")
        return found

    def _constant(self, expr: Const, dtype: DType) -> Value:
        number = expr.value
        if dtype.kind == "bool":
            return self._b.constant(bool(number), BOOL)
        if dtype.kind in ("int", "uint") and int(number) >= 1 << (dtype.bits - 1):
            number = int(number) - (1 << dtype.bits)  # the same bits, as a signless integer prints them
        return self._b.constant(number, signless(dtype))

    def _raw(self, expr: Expr, hint: str) -> Value:
        match expr:
            case Var():
                value = self._lookup(expr)
                return self.exactly(value, signless(dtype_of(expr)))
            case Binary():
                return self._binary(expr, hint)
            case Unary():
                return self._unary(expr, hint)
            case Cast(operand=operand, dtype=dtype):
                return self.value(operand, dtype, hint)
            case Const(dtype=dtype):
                return self._constant(expr, dtype)
        refuse("an op call stands inside a scalar expression", self.span, "assign the call to a name first")

    def _binary(self, expr: Binary, hint: str) -> Value:
        if expr.op in _LOGIC:
            lhs, rhs = self._truth(expr.lhs), self._truth(expr.rhs)
            return self._op(f"arith.{_LOGIC[expr.op]}", lhs, rhs, hint)
        if expr.op in _COMPARE:
            dtype = common_dtype(expr.lhs, expr.rhs)
            return self._compare(_COMPARE[expr.op][_column(dtype)], expr.lhs, expr.rhs, dtype, hint)
        dtype = expr.dtype
        if expr.op in (_B.FLOORDIV, _B.MOD) and dtype.is_signed and not dtype.is_float:
            return self._floor(expr, dtype, hint)
        name = _ARITH[expr.op][_column(dtype)] if expr.op in _ARITH else ""
        if not name:
            self._no_op(expr.op.value, dtype)
        return self._op(f"arith.{name}", self.value(expr.lhs, dtype), self.value(expr.rhs, dtype), hint)

    def _no_op(self, op: str, dtype: DType) -> None:
        if op == "/" and not dtype.is_float:
            refuse(f"no instruction divides {dtype.name} scalars with /", self.span, "use // or cast to FP32 first")
        not_modelled(f"scalar operator {op} on {dtype.name}", self.span, "compute the value outside the kernel")

    def _floor(self, expr: Binary, dtype: DType, hint: str) -> Value:
        """Python's // and %: truncating ops where both operands are provably not negative, else floor division.
        (The real compiler always truncates, which is wrong for a negative operand.)"""
        lhs, rhs = self.value(expr.lhs, dtype), self.value(expr.rhs, dtype)
        if self.not_negative(expr.lhs) and self.not_negative(expr.rhs):
            return self._op("arith.divsi" if expr.op is _B.FLOORDIV else "arith.remsi", lhs, rhs, hint)
        if expr.op is _B.FLOORDIV:
            return self._op("arith.floordivsi", lhs, rhs, hint)
        quotient = self._op("arith.floordivsi", lhs, rhs, "")
        return self._op("arith.subi", lhs, self._op("arith.muli", quotient, rhs, ""), hint)

    def not_negative(self, expr: Expr) -> bool:
        """Whether `expr` is provably >= 0, from constants, sizes, loop counters and block indices."""
        match expr:
            case Const(value=value):
                return value >= 0
            case Var(name=name):
                return name in self._not_negative
            case Cast(operand=operand, dtype=dtype):
                return dtype == INDEX and self.not_negative(operand)
            case Binary(op=_B.ADD | _B.MUL | _B.FLOORDIV, lhs=lhs, rhs=rhs):
                return self.not_negative(lhs) and self.not_negative(rhs)
            case Binary(op=_B.MIN, lhs=lhs, rhs=rhs):
                return self.not_negative(lhs) and self.not_negative(rhs)
            case Binary(op=_B.MAX, lhs=lhs, rhs=rhs):
                return self.not_negative(lhs) or self.not_negative(rhs)
            case Binary(op=_B.MOD, rhs=rhs):
                return self.not_negative(rhs)
        return False

    def _unary(self, expr: Unary, hint: str) -> Value:
        dtype = expr.dtype
        if expr.op is UnaryOp.NOT:
            return self._op("arith.xori", self._truth(expr.operand), self._b.constant(True, BOOL), hint)
        operand = self.value(expr.operand, dtype)
        if expr.op is UnaryOp.BITNOT:
            return self._op("arith.xori", operand, self._b.constant(-1, signless(dtype)), hint)
        if dtype.is_float:
            negated = self._cast("arith.negf", operand, dtype, hint if expr.op is UnaryOp.NEG else "")
        else:
            zero = self._b.constant(0, signless(dtype))
            negated = self._op("arith.subi", zero, operand, hint if expr.op is UnaryOp.NEG else "")
        if expr.op is UnaryOp.NEG:
            return negated
        return self._op("arith.maximumf" if dtype.is_float else "arith.maxsi", operand, negated, hint)

    def _truth(self, expr: Expr) -> Value:
        return self.value(expr, BOOL)

    def _compare(self, predicate: str, lhs: Expr, rhs: Expr, dtype: DType, hint: str) -> Value:
        args = {"lhs": (self.value(lhs, dtype),), "rhs": (self.value(rhs, dtype),)}
        name = "arith.cmpf" if dtype.is_float else "arith.cmpi"
        return self._b.emit(name, args, {"predicate": predicate}, BOOL_TYPE, hint).result

    def _op(self, name: str, lhs: Value, rhs: Value, hint: str) -> Value:
        return self._b.emit(name, {"lhs": (lhs,), "rhs": (rhs,)}, None, lhs.type, hint).result

    def _cast(self, name: str, value: Value, dtype: DType, hint: str) -> Value:
        return self._b.emit(name, {"in": (value,)}, None, ScalarType(dtype), hint).result

    def _convert(self, value: Value, have: DType, want: DType, hint: str) -> Value:
        source, target = signless(have), signless(want)
        if source == target:
            return value
        if target == BOOL:
            zero = self._b.constant(0, source)
            name, predicate = ("arith.cmpf", "une") if source.is_float else ("arith.cmpi", "ne")
            args = {"lhs": (value,), "rhs": (zero,)}
            return self._b.emit(name, args, {"predicate": predicate}, BOOL_TYPE, hint).result
        signed = have.is_signed
        if INDEX in (source, target):
            other = target if source == INDEX else source
            if other.is_float or other == BOOL:
                return self._convert(self._convert(value, have, INT64, ""), INT64, want, hint)
            name = "arith.index_cast" if signed and want.is_signed else "arith.index_castui"
            return self._cast(name, value, target, hint)
        if source.is_float and target.is_float:
            if target.bits == source.bits:  # FP16 and BF16 meet in FP32
                return self._convert(self._convert(value, have, FP32, ""), FP32, want, hint)
            return self._cast("arith.extf" if target.bits > source.bits else "arith.truncf", value, target, hint)
        if source.is_float:
            return self._cast("arith.fptosi" if want.is_signed else "arith.fptoui", value, target, hint)
        if target.is_float:
            return self._cast("arith.sitofp" if signed else "arith.uitofp", value, target, hint)
        if source != BOOL and target.bits < source.bits:
            return self._cast("arith.trunci", value, target, hint)
        return self._cast("arith.extsi" if signed else "arith.extui", value, target, hint)


def _column(dtype: DType) -> int:
    return 2 if dtype.is_float else 0 if dtype.is_signed else 1
