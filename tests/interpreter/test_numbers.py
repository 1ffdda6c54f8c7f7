"""Rounding and conversion of the interpreter, against values worked out by hand and against numpy's own conversions."""

from __future__ import annotations

import math
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pypto_verified.dtypes import BF16, FP16, FP32, INT8, INT16, INT32, INT64, UINT8, DType
from pypto_verified.interpreter.cast import cast
from pypto_verified.interpreter.numbers import Round, round_float, settle, to_carrier


def _one(value: float, source: DType, target: DType, mode: Round) -> float:
    carrier = to_carrier(np.array([value]), source)
    return float(cast(carrier, source, target, mode)[0])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        # derivation: each mode by its definition on -2.5, -1.5, ... 2.7 (ODD: an inexact value goes to the odd one)
        (Round.RINT, [-2, -2, 0, 0, 2, 2, 3]),
        (Round.ROUND, [-3, -2, -1, 1, 2, 3, 3]),
        (Round.FLOOR, [-3, -2, -1, 0, 1, 2, 2]),
        (Round.CEIL, [-2, -1, 0, 1, 2, 3, 3]),
        (Round.TRUNC, [-2, -1, 0, 0, 1, 2, 2]),
        (Round.ODD, [-3, -1, -1, 1, 1, 3, 3]),
    ],
)
def test_float_to_int_modes(mode: Round, expected: list[int]) -> None:
    values = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.7]
    assert [_one(v, FP32, INT32, mode) for v in values] == expected


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        # derivation: bfloat16 near 1 steps by 2**-7; 1 + 3*2**-8 is halfway between 1 + 2**-7 (odd) and 1 + 2**-6
        (Round.RINT, 1 + 2**-6),
        (Round.ROUND, 1 + 2**-6),
        (Round.FLOOR, 1 + 2**-7),
        (Round.CEIL, 1 + 2**-6),
        (Round.TRUNC, 1 + 2**-7),
        (Round.ODD, 1 + 2**-7),
    ],
)
def test_float_to_bfloat16_modes(mode: Round, expected: float) -> None:
    assert _one(1 + 3 * 2**-8, FP32, BF16, mode) == expected


@given(st.floats(width=32, allow_nan=False))
def test_nearest_agrees_with_the_hardware_formats(x: float) -> None:
    """numpy's float16 and ml_dtypes' bfloat16 conversions are ties-to-even by their own documentation."""
    with np.errstate(over="ignore"):
        half = float(np.float32(x).astype(np.float16))
        brain = float(np.float32(x).astype(ml_dtypes.bfloat16))
    assert _one(x, FP32, FP16, Round.RINT) == half
    assert _one(x, FP32, BF16, Round.RINT) == brain


@given(st.floats(min_value=-1e300, max_value=1e300))
def test_float32_rounding_agrees_with_the_c_conversion(x: float) -> None:
    expected = struct.unpack("f", struct.pack("f", x))[0] if abs(x) < 3.4028235e38 else None
    got = float(round_float(np.array([x]), FP32, Round.RINT)[0])
    if expected is not None:
        assert got == expected
    down = float(round_float(np.array([x]), FP32, Round.FLOOR)[0])
    up = float(round_float(np.array([x]), FP32, Round.CEIL)[0])
    assert down <= x <= up
    assert got in (down, up)


def test_overflow_of_half_precision_starts_half_an_ulp_above_the_greatest_value() -> None:
    # derivation: greatest finite 65504, ulp 32; the halfway mark 65520 rounds to even, i.e. to infinity
    assert _one(65519.9, FP32, FP16, Round.RINT) == 65504
    assert _one(65520.0, FP32, FP16, Round.RINT) == math.inf
    assert _one(65520.0, FP32, FP16, Round.TRUNC) == 65504
    assert _one(-1e6, FP32, FP16, Round.RINT) == -math.inf


def test_saturating_and_wrapping_pairs() -> None:
    # derivation: PTO-ISA TCVT: f32 -> i16 goes through a saturating i32 and keeps the low half: 70000 - 65536 = 4464
    assert _one(70000.0, FP32, INT16, Round.RINT) == 4464
    assert _one(math.inf, FP32, INT16, Round.RINT) == -1
    assert _one(-math.inf, FP32, INT16, Round.RINT) == 0
    assert _one(math.nan, FP32, INT16, Round.RINT) == 0
    # f32 -> i32 saturates
    assert _one(3e9, FP32, INT32, Round.RINT) == 2**31 - 1
    assert _one(-3e9, FP32, INT32, Round.RINT) == -(2**31)
    # i32 -> i16 and i64 -> i32 wrap
    assert _one(0x12345, INT32, INT16, Round.NONE) == 0x2345
    assert _one(2**32 + 5, INT64, INT32, Round.NONE) == 5
    # f16 -> u8 wraps: 300 - 256 = 44
    assert _one(300.0, FP16, UINT8, Round.RINT) == 44


def test_int64_to_float32_rounds_once() -> None:
    # derivation: 24-bit significand, so the step at 2**60 is 2**37 and 2**60 + 2**36 is the tie
    value = np.array([2**60 + 2**36 + 1, 2**60 + 2**36], dtype=np.int64)
    assert cast(value, INT64, FP32, Round.RINT).tolist() == [2.0**60 + 2.0**37, 2.0**60]


@given(st.integers(-(2**20), 2**20))
def test_integer_results_wrap_to_the_width(x: int) -> None:
    assert settle(np.array([x], dtype=np.int64), INT8)[0] == np.array([x], dtype=np.int64).astype(np.int8)[0]
