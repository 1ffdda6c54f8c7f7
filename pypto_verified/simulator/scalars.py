"""`arith` and `math` on Python numbers: exact integers of their width (index: 64), floats rounded to their type."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pypto_verified.dtypes import DType
from pypto_verified.pto.module import Op
from pypto_verified.pto.types import ScalarType, Type
from pypto_verified.simulator.errors import DivisionError, UnmodelledError
from pypto_verified.simulator.values import Scalar, storage

Pure = Callable[..., Scalar]


def wrap(value: int, dtype: DType) -> int:
    """`value` as the integer that `dtype` holds: two's complement, or modulo for unsigned types, 0/1 for i1."""
    if dtype.kind == "bool":
        return value & 1
    value &= (1 << dtype.bits) - 1
    return value - (1 << dtype.bits) if dtype.kind != "uint" and value >> (dtype.bits - 1) else value


def _unsigned(value: int, dtype: DType) -> int:
    return value & 1 if dtype.kind == "bool" else value & ((1 << dtype.bits) - 1)


def _nonzero(b: int) -> int:
    if b == 0:
        raise DivisionError("integer division by zero")
    return b


def _quotient(a: int, b: int) -> int:
    q = abs(a) // abs(_nonzero(b))
    return q if (a < 0) == (b < 0) else -q


_INTEGER: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b,
    "divsi": _quotient, "remsi": lambda a, b: a - b * _quotient(a, b),
    "floordivsi": lambda a, b: a // _nonzero(b), "ceildivsi": lambda a, b: -(-a // _nonzero(b)),
    "andi": lambda a, b: a & b, "ori": lambda a, b: a | b, "xori": lambda a, b: a ^ b,
    "maxsi": max, "minsi": min,
}
_UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "divui": lambda a, b: a // _nonzero(b), "remui": lambda a, b: a % _nonzero(b),
    "ceildivui": lambda a, b: -(-a // _nonzero(b)), "maxui": max, "minui": min,
}
def _maximum(a: NDArray[np.floating], b: NDArray[np.floating]) -> object:
    """`arith.maximumf`: a NaN wins, and -0.0 is less than 0.0 (MLIR's arith)."""
    return np.where(a == b, np.where(np.signbit(a), b, a), np.maximum(a, b))


def _minimum(a: NDArray[np.floating], b: NDArray[np.floating]) -> object:
    """`arith.minimumf`, likewise."""
    return np.where(a == b, np.where(np.signbit(a), a, b), np.minimum(a, b))


_FLOAT: dict[str, Callable[..., object]] = {
    "addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.true_divide, "remf": np.fmod,
    "maximumf": _maximum, "minimumf": _minimum, "maxnumf": np.fmax, "minnumf": np.fmin,
}
_FLOAT_UNARY: dict[str, Callable[..., object]] = {
    "arith.negf": np.negative, "math.absf": np.abs, "math.exp": np.exp, "math.exp2": np.exp2, "math.log": np.log,
    "math.log2": np.log2, "math.log10": np.log10, "math.sqrt": np.sqrt, "math.sin": np.sin, "math.cos": np.cos,
    "math.tanh": np.tanh, "math.floor": np.floor, "math.ceil": np.ceil, "math.trunc": np.trunc,
}
_COMPARE: dict[str, Callable[[Scalar, Scalar], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}


def dtype_of(type_: Type) -> DType:
    """The element type of a scalar value. UnmodelledError for anything else."""
    if not isinstance(type_, ScalarType):
        raise UnmodelledError(f"arithmetic on {type_}")
    return type_.dtype


def _rounded(function: Callable[..., object], dtype: DType) -> Pure:
    kind = storage(dtype)

    def run(*operands: Scalar) -> Scalar:
        return float(np.asarray(function(*(np.asarray(o, np.float64).astype(kind) for o in operands))).astype(kind))

    return run


def _compare_integers(predicate: str, dtype: DType) -> Pure:
    if predicate in _COMPARE:
        return _COMPARE[predicate]
    compare = _COMPARE[predicate[1:]]
    if predicate[0] == "u":
        return lambda a, b: compare(_unsigned(int(a), dtype), _unsigned(int(b), dtype))
    return compare


def _compare_floats(predicate: str) -> Pure:
    if predicate in ("false", "true"):
        return lambda a, b: predicate == "true"
    if predicate in ("ord", "uno"):
        return lambda a, b: (a != a or b != b) == (predicate == "uno")
    compare, unordered = _COMPARE[predicate[1:]], predicate[0] == "u"
    return lambda a, b: unordered if a != a or b != b else compare(a, b)


def _to_integer(value: Scalar, dtype: DType) -> int:
    """Towards zero; what does not fit is the nearest limit, NaN is 0."""
    if value != value:
        return 0
    low = -(1 << (dtype.bits - 1)) if dtype.is_signed else 0
    return int(min(max(value, low), low + (1 << dtype.bits) - 1))


def _conversion(name: str, source: DType, target: DType) -> Pure | None:
    if name in ("extsi", "trunci", "index_cast"):
        sign = source.kind == "bool" and name == "extsi"
        return lambda a: wrap(-int(a) if sign else int(a), target)
    if name in ("extui", "index_castui"):
        return lambda a: wrap(_unsigned(int(a), source), target)
    if name in ("extf", "truncf", "sitofp"):
        return _rounded(lambda a: a, target) if source.is_float else _rounded_integer(target)
    if name == "uitofp":
        exact = _rounded_integer(target)
        return lambda a: exact(_unsigned(int(a), source))
    if name in ("fptosi", "fptoui"):
        return lambda a: _to_integer(a, target)
    return None


def _rounded_integer(target: DType) -> Pure:
    kind = storage(target)
    return lambda a: float(np.asarray(int(a)).astype(kind))


def pure(op: Op) -> Pure:
    """The function of an `arith` or `math` op, or of a change of sign in the type alone, over its operands in order.
    UnmodelledError when there is none."""
    dialect, _, name = op.name.partition(".")
    if name == "select":
        return lambda c, a, b: a if c else b
    operands = [v.type for v in op.operands()]
    source, target = dtype_of(operands[0]), dtype_of(op.result.type)
    predicate = op.attrs.get("predicate")
    if name == "cmpi":
        return _compare_integers(str(predicate), source)
    if name == "cmpf":
        return _compare_floats(str(predicate))
    if dialect == "arith" and name in _INTEGER:
        integer = _INTEGER[name]
        return lambda a, b: wrap(integer(a, b), target)
    if dialect == "arith" and name in _UNSIGNED:
        unsigned = _UNSIGNED[name]
        return lambda a, b: wrap(unsigned(_unsigned(a, target), _unsigned(b, target)), target)
    if name in ("shli", "shrsi", "shrui"):
        return _shift(name, target)
    if dialect == "arith" and name in _FLOAT:
        return _rounded(_FLOAT[name], target)
    if op.name in _FLOAT_UNARY:
        return _rounded(_FLOAT_UNARY[op.name], target)
    if name == "unrealized_conversion_cast" and source.is_integer and target.is_integer and source.bits == target.bits:
        return lambda a: wrap(int(a), target)
    found = _conversion(name, source, target) if dialect == "arith" else None
    if found is None:
        raise UnmodelledError(op.name)
    return found


def _shift(name: str, dtype: DType) -> Pure:
    def run(a: int, b: int) -> int:
        if not 0 <= b < dtype.bits:
            raise UnmodelledError(f"a shift of {dtype.pto} by {b}")
        if name == "shli":
            return wrap(a << b, dtype)
        return wrap((_unsigned(a, dtype) if name == "shrui" else a) >> b, dtype)

    return run
