"""Scalar arithmetic by hand: every operator, at the ends of its types."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_verified.dtypes import DTYPES
from pypto_verified.interpreter.meaning import Fault
from pypto_verified.interpreter.scalars import binary, convert, unary
from pypto_verified.interpreter.undefined import Undefined
from pypto_verified.ir.expr import BinaryOp, UnaryOp
from tests.interpreter.kernels import run, tensor

FOUND: list[tuple[str, str, float, float, float]] = [
    ("+", "INT8", 127, 1, -128), ("-", "INT8", -128, 1, 127), ("*", "INT8", 16, 17, 16), ("+", "UINT8", 255, 2, 1),
    ("//", "INT8", -7, 2, -4), ("%", "INT8", -7, 2, 1), ("%", "INT8", 7, -2, -1), ("//", "INT8", -128, -1, -128),
    ("/", "INT8", -7, 2, -3), ("/", "INT64", 2**62 + 1, 1, 2**62 + 1), ("**", "INT8", 3, 5, -13),
    ("**", "INT8", 2, -1, 0), ("**", "INT8", -1, -3, -1), ("min", "INT8", -1, 1, -1), ("max", "INT8", -1, 1, 1),
    ("&", "INT8", 6, -5, 2), ("|", "INT8", 6, 3, 7), ("^", "INT8", 6, 3, 5), ("<<", "INT8", 3, 7, -128),
    (">>", "INT8", -128, 6, -2), (">>", "UINT8", 128, 7, 1),
    ("==", "INT8", 2, 2, 1), ("!=", "INT8", 2, 2, 0), ("<", "INT8", 2, 2, 0), ("<=", "INT8", 2, 2, 1),
    (">", "INT8", 3, 2, 1), (">=", "INT8", 1, 2, 0), ("<", "INT8", 1, 2, 1), (">", "INT8", 2, 2, 0),
    ("<=", "INT8", 3, 2, 0), (">=", "INT8", 2, 2, 1), ("==", "INT8", 1, 2, 0), ("!=", "INT8", 1, 2, 1),
    ("and", "BOOL", 1, 0, 0), ("and", "BOOL", 1, 1, 1), ("or", "BOOL", 1, 0, 1), ("or", "BOOL", 0, 0, 0),
    ("xor", "BOOL", 1, 1, 0), ("xor", "BOOL", 1, 0, 1),
    ("+", "FP16", 2048, 1, 2048), ("-", "FP32", 1, 0.25, 0.75), ("*", "FP16", 256, 256, math.inf),
    ("/", "FP32", 1, -0.0, -math.inf), ("/", "FP32", 0, 0, math.nan), ("//", "FP32", -7, 2, -4),
    ("%", "FP32", -7, 2, 1), ("%", "FP32", 1, 0, math.nan), ("**", "FP32", 2, -1, 0.5),
    ("**", "FP32", 1e30, 9, math.inf), ("**", "FP32", -8, 0.5, math.nan),
    ("min", "FP32", 2, 1, 1), ("max", "FP32", 2, 1, 2),
    ("min", "FP32", 1, math.nan, math.nan), ("min", "FP32", math.nan, 1, math.nan),
    ("max", "FP32", 1, math.nan, math.nan), ("max", "FP32", math.nan, 1, math.nan),
]


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.0), (0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0)])
def test_a_negative_zero_is_less_than_a_positive_one(a: float, b: float) -> None:
    signs = {math.copysign(1, a), math.copysign(1, b)}
    for op, wanted in ((BinaryOp.MAX, max(signs)), (BinaryOp.MIN, min(signs))):
        found = binary(op, a, b, DTYPES["FP32"])
        assert found == 0 and math.copysign(1, found) == wanted



@pytest.mark.parametrize(("op", "dtype", "a", "b", "expected"), FOUND)
def test_operators(op: str, dtype: str, a: float, b: float, expected: float) -> None:
    got = binary(BinaryOp(op), a, b, DTYPES[dtype])
    assert got == expected or (math.isnan(got) and math.isnan(expected))


def test_every_operator_has_a_case() -> None:
    assert {op for op, *_ in FOUND} == {op.value for op in BinaryOp}


@pytest.mark.parametrize(
    ("op", "dtype", "a", "expected"),
    [(UnaryOp.NEG, "INT8", -128, -128), (UnaryOp.ABS, "INT8", -3, 3), (UnaryOp.BITNOT, "INT8", 5, -6),
     (UnaryOp.BITNOT, "UINT8", 5, 250), (UnaryOp.NOT, "BOOL", 1, 0), (UnaryOp.NEG, "FP32", 1.5, -1.5)],
)
def test_signs(op: UnaryOp, dtype: str, a: float, expected: float) -> None:
    assert unary(op, a, DTYPES[dtype]) == expected


@pytest.mark.parametrize("op", ["<<", ">>"])
@pytest.mark.parametrize("amount", [-1, 32, 10**9])
def test_a_shift_by_the_width_has_no_result(op: str, amount: int) -> None:
    with pytest.raises(Fault, match="a shift of 32 bits by"):
        binary(BinaryOp(op), 1, amount, DTYPES["INT32"])


@pytest.mark.parametrize("op", ["//", "%", "/"])
def test_an_integer_divided_by_zero_has_no_result(op: str) -> None:
    with pytest.raises(ZeroDivisionError):
        binary(BinaryOp(op), 1, 0, DTYPES["INT32"])


@pytest.mark.parametrize("value", [math.nan, math.inf, 2.0**31, -(2.0**31) - 1])
def test_a_float_outside_the_integers_has_no_result(value: float) -> None:
    with pytest.raises(Fault, match="does not fit INT32"):
        convert(value, DTYPES["INT32"])


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [(-2.9, "INT32", -2), (2.0**31 - 1, "INT32", 2**31 - 1), (300, "INT8", 44), (2**63 + 5, "INT64", -(2**63) + 5),
     (-1, "UINT64", 2**64 - 1), (0.5, "BOOL", 1), (2049.0, "FP16", 2048.0), (3, "FP32", 3.0), (1e39, "FP32", math.inf)],
)
def test_conversions(value: float, dtype: str, expected: float) -> None:
    assert convert(value, DTYPES[dtype]) == expected


@given(st.integers(-(2**63), 2**63 - 1))
def test_an_integer_is_rounded_once(value: int) -> None:
    got = Fraction(convert(value, DTYPES["FP32"]))
    error = abs(got - value)
    others = (Fraction(float(np.nextafter(np.float32(got), np.float32(s)))) for s in (-np.inf, np.inf))
    assert all(error <= abs(other - value) for other in others)


def test_no_integer_is_rounded_twice() -> None:
    # 2**60 + 2**36 is half way between two f32 numbers, 1 more is nearer to the upper; in f64 the 1 would be lost.
    assert convert(2**60 + 2**36 + 1, DTYPES["FP32"]) == 2.0**60 + 2.0**37


def test_a_kernel_without_a_result_is_told_with_its_line() -> None:
    params = ",\n".join(["n: pl.Scalar[pl.INT32]", "f: pl.Scalar[pl.FP32]", tensor("out", (1, 8), "INT32", out=True)])
    body = "return pl.store(pl.tile.ci({}, [1, 8], dtype=pl.INT32), [0, 0], out)"
    out = np.zeros((1, 8), np.int32)
    with pytest.raises(Undefined, match="a shift of 32 bits by -1"):
        run(params, body.format("n << n"), n=-1, f=0.0, out=out)
    with pytest.raises(Undefined, match="nan does not fit INT32"):
        run(params, body.format("pl.cast(f, pl.INT32)"), n=0, f=math.nan, out=out)
