"""Conversions against values worked out by hand and, where numpy rounds to nearest even too, against numpy."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from pypto_verified.simulator.casts import MODES, convert, convert_bits
from pypto_verified.simulator.values import Array

F32, F16, BF16 = np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)
HALVES = np.arange(65536, dtype=np.uint16)


def one(value: float, kind: np.dtype[np.generic], mode: str, saturate: bool = True) -> float:
    with np.errstate(over="ignore"):
        return float(convert(np.asarray([value], F32), kind, mode, saturate)[0])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        # of 0.5, 1.5, 2.5, -0.5, -1.5, 2.25
        ("RINT", [0, 2, 2, 0, -2, 2]), ("ROUND", [1, 2, 3, -1, -2, 2]), ("FLOOR", [0, 1, 2, -1, -2, 2]),
        ("CEIL", [1, 2, 3, 0, -1, 3]), ("TRUNC", [0, 1, 2, 0, -1, 2]), ("ODD", [1, 1, 3, -1, -1, 3]),
    ],
)
def test_rounding_modes_to_integers(mode: str, expected: list[int]) -> None:
    values = np.asarray([0.5, 1.5, 2.5, -0.5, -1.5, 2.25], F32)
    assert convert(values, np.dtype(np.int32), mode, True).tolist() == expected
    assert convert(values, F32, mode, True).tolist() == expected


@pytest.mark.parametrize(
    ("mode", "expected"),
    # 1 + 2**-11 lies half way between the f16 neighbours 1 and 1 + 2**-10.
    [("RINT", 1.0), ("ROUND", 1 + 2**-10), ("FLOOR", 1.0), ("CEIL", 1 + 2**-10), ("TRUNC", 1.0), ("ODD", 1 + 2**-10)],
)
def test_rounding_modes_to_f16(mode: str, expected: float) -> None:
    assert one(1 + 2**-11, F16, mode) == expected


def test_negative_values_round_the_other_way() -> None:
    assert one(-(1 + 2**-11), F16, "FLOOR") == -(1 + 2**-10)
    assert one(-(1 + 2**-11), F16, "CEIL") == -1.0


def test_subnormal_halves() -> None:
    # The smallest f16 is 2**-24; half of it ties to even, to 0.
    assert one(2.0**-24, F16, "RINT") == 2.0**-24
    assert one(2.0**-25, F16, "RINT") == 0.0
    assert one(2.0**-25, F16, "CEIL") == 2.0**-24


def test_saturation_of_integers() -> None:
    wide = np.asarray([70000.0, -70000.0, np.inf, -np.inf, np.nan], F32)
    assert convert(wide, np.dtype(np.int16), "RINT", True).tolist() == [32767, -32768, 32767, -32768, 0]
    # Without saturation: clamped to 32 bits, then the low 16 bits. 70000 - 65536 = 4464; 2**31 - 1 -> -1; -2**31 -> 0.
    assert convert(wide, np.dtype(np.int16), "RINT", False).tolist() == [4464, -4464, -1, 0, 0]


def test_saturation_of_floats() -> None:
    assert one(70000.0, F16, "RINT", True) == 65504.0
    assert one(70000.0, F16, "RINT", False) == np.inf
    assert one(np.inf, F16, "RINT", True) == np.inf


def test_integers_wrap_or_clamp() -> None:
    values = np.asarray([300, -300, 5], np.int32)
    assert convert(values, np.dtype(np.uint8), "RINT", False).tolist() == [44, 212, 5]
    assert convert(values, np.dtype(np.uint8), "RINT", True).tolist() == [255, 0, 5]


@pytest.mark.parametrize("value", [2**24 + 1, 2**24 + 3, -(2**24 + 1), 2**31 - 1, -(2**63), 2**62 + 2**38])
def test_integers_to_f32_are_the_nearest_even(value: int) -> None:
    got = float(convert(np.asarray([value], np.int64), F32, "RINT", False)[0])
    step = Fraction(2) ** (abs(value).bit_length() - 24)
    below = (Fraction(value) / step).__floor__() * step
    best = min((below, below + step), key=lambda v: (abs(v - value), (v / step) % 2))
    assert Fraction(got) == best


@pytest.mark.parametrize("kind", [F16, BF16])
def test_every_narrow_float_widens_exactly(kind: np.dtype[np.generic]) -> None:
    narrow: Array = HALVES.view(kind)
    wide = convert_bits(narrow, F32, "TRUNC", False)
    finite = np.isfinite(narrow.astype(F32))
    np.testing.assert_array_equal(wide[finite], narrow.astype(F32)[finite])
    # and narrowing gives the same bits back, in every mode
    for mode in MODES:
        back = convert_bits(wide, kind, mode, False)
        np.testing.assert_array_equal(back.view(np.uint16)[finite], HALVES[finite])


@pytest.mark.parametrize("kind", [F16, BF16, np.dtype(np.int8), np.dtype(np.int32), np.dtype(np.uint16), F32])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("saturate", [False, True])
def test_the_direct_way_is_the_same_function(kind: np.dtype[np.generic], mode: str, saturate: bool) -> None:
    random = np.random.default_rng(7)
    patterns = random.integers(0, 2**32, 4000, dtype=np.uint32).view(F32)
    near = (random.standard_normal(4000) * np.exp2(random.integers(-26, 34, 4000))).astype(F32)
    ties = np.asarray([0.5, -1.5, 65519.0, 65520.0, np.inf, -np.inf, 0.0, -0.0, 2.0**31, -(2.0**31)], F32)
    with np.errstate(all="ignore"):
        for values in (patterns, near, ties, HALVES.view(F16), HALVES.view(BF16), np.arange(-128, 128).astype(np.int8)):
            fast, slow = convert(values, kind, mode, saturate), convert_bits(values, kind, mode, saturate)
            real = ~(np.isnan(values.astype(F32)) & (kind.kind not in "iu"))
            bits = np.dtype(f"u{kind.itemsize}")
            np.testing.assert_array_equal(fast.view(bits)[real], slow.view(bits)[real])
