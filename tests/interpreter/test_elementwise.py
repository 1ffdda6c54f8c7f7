"""Elementwise ops of the interpreter against values by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pypto_verified.errors import NotModelled
from pypto_verified.interpreter import Poisoned, Undefined
from tests.interpreter.kernels import Array, binary, run, tensor, unary


def row(*values: float, kind: type[np.generic] = np.float32) -> Array:
    """One row of eight (floats) or more elements, the rest like the last."""
    count = 32 // np.dtype(kind).itemsize
    return np.array([[*values, *[values[-1]] * (count - len(values))]]).astype(kind)


# derivation: wrap-around of 32-bit two's complement; quotients toward zero; rem has the divisor's sign, fmod the
# dividend's (7 = 2*3 + 1, -7 = -3*3 + 2 = -2*3 - 1)
@pytest.mark.parametrize(
    ("call", "x", "y", "expected"),
    [
        ("pl.add(x, y)", [2**31 - 1, -1], [1, 1], [-(2**31), 0]),
        ("pl.sub(x, y)", [-(2**31), 5], [1, 7], [2**31 - 1, -2]),
        ("pl.mul(x, y)", [65536, -3], [65536, 7], [0, -21]),
        ("pl.div(x, y)", [7, -7, 7, -7], [3, 3, -3, -3], [2, -2, -2, 2]),
        ("pl.tile.rem(x, y, t)", [7, -7, 7, -7], [3, 3, -3, -3], [1, 2, -2, -1]),
        ("pl.tile.fmod(x, y)", [7, -7, 7, -7], [3, 3, -3, -3], [1, -1, 1, -1]),
        ("pl.maximum(x, y)", [3, -4], [-5, -3], [3, -3]),
        ("pl.minimum(x, y)", [3, -4], [-5, -3], [-5, -4]),
        ("pl.tile.and_(x, y)", [0b1100, -1], [0b1010, 7], [0b1000, 7]),
        ("pl.tile.or_(x, y)", [0b1100, 0], [0b1010, 7], [0b1110, 7]),
        ("pl.tile.xor(x, y, t)", [0b1100, -1], [0b1010, 7], [0b0110, -8]),
        ("pl.tile.shl(x, y)", [1, 3], [31, 30], [-(2**31), -(2**30)]),
        ("pl.tile.shr(x, y)", [-8, 8], [1, 2], [-4, 2]),
        ("pl.tile.addc(x, y, x)", [2, 3], [10, 20], [14, 26]),
        ("pl.tile.subc(x, y, x)", [2, 3], [10, 20], [-6, -14]),
    ],
)
def test_integer_pairs(call: str, x: list[int], y: list[int], expected: list[int]) -> None:
    got = binary(call, row(*x, kind=np.int32), row(*y, kind=np.int32), "INT32")
    assert got[0, : len(expected)].tolist() == expected


# derivation: one rounding to nearest even in the element type: 2048 + 1 is a tie in f16 (step 2), 1/3 in f16 is
# 0x3555 = 0.333251953125; a division by zero is the IEEE infinity of its sign
@pytest.mark.parametrize(
    ("call", "x", "y", "expected"),
    [
        ("pl.add(x, y)", 2048.0, 1.0, 2048.0),
        ("pl.add(x, y)", 2050.0, 1.0, 2052.0),
        ("pl.mul(x, y)", 300.0, 300.0, math.inf),
        ("pl.div(x, y)", 1.0, 3.0, 0.333251953125),
        ("pl.div(x, y)", -1.0, 0.0, -math.inf),
        ("pl.sub(x, y)", 1.0, 2.0**-12, 1.0),
    ],
)
def test_half_precision_rounds_once(call: str, x: float, y: float, expected: float) -> None:
    assert float(binary(call, row(x, kind=np.float16), row(y, kind=np.float16), "FP16")[0, 0]) == expected


@pytest.mark.parametrize(
    ("call", "x", "expected"),
    [
        ("pl.add(x, 1.5)", [1.0, -2.0], [2.5, -0.5]),
        ("pl.sub(x, 1.5)", [1.0, -2.0], [-0.5, -3.5]),
        ("pl.mul(x, 2.0)", [1.5, -2.0], [3.0, -4.0]),
        ("pl.div(x, 4.0)", [1.0, -2.0], [0.25, -0.5]),
        ("pl.tile.maximums(x, 0.5)", [1.0, -2.0], [1.0, 0.5]),
        ("pl.tile.minimums(x, 0.5)", [1.0, -2.0], [0.5, -2.0]),
        ("pl.neg(x)", [1.0, -2.0], [-1.0, 2.0]),
        ("pl.abs(x)", [1.0, -2.0], [1.0, 2.0]),
        ("pl.relu(x)", [1.0, -2.0], [1.0, 0.0]),
        ("pl.tile.lrelu(x, 0.25)", [1.0, -2.0], [1.0, -0.5]),
        ("pl.sqrt(x)", [9.0, 2.0], [3.0, float(np.float32(math.sqrt(2.0)))]),
        ("pl.exp(x)", [0.0, 1.0], [1.0, float(np.float32(math.e))]),
        ("pl.log(x)", [1.0, math.e], [0.0, float(np.float32(math.log(float(np.float32(math.e)))))]),
        ("pl.recip(x)", [4.0, -2.0], [0.25, -0.5]),
        ("pl.rsqrt(x)", [4.0, 0.25], [0.5, 2.0]),
        ("pl.tile.addsc(x, 1.5, x)", [1.0, -2.0], [3.5, -2.5]),
        ("pl.tile.subsc(x, 1.5, x)", [1.0, -2.0], [0.5, -5.5]),
        ("pl.tile.expands(x, 7.0)", [1.0, -2.0], [7.0, 7.0]),
    ],
)
def test_float_ops_on_one_tile(call: str, x: list[float], expected: list[float]) -> None:
    assert unary(call, row(*x))[0, : len(expected)].tolist() == expected


def test_comparison_and_selection() -> None:
    x, y = row(1.0, 2.0, 3.0, 0.0), row(2.0, 2.0, 2.0, 0.0)
    # derivation: lt holds for (1, 2) alone, le also for (2, 2) and (0, 0); the chosen element is x's, else y's
    lt = binary("pl.tile.sel(pl.tile.cmp(x, y, cmp_type='lt'), x, pl.neg(y), t)", x, y)
    le = binary("pl.tile.sels(pl.tile.cmps(x, 2.0, cmp_type='le'), x, t, 9.0)", x, y)
    assert lt[0, :4].tolist() == [1.0, -2.0, -2.0, 0.0]
    assert le[0, :4].tolist() == [1.0, 2.0, 9.0, 0.0]


def test_a_mask_packs_column_j_into_bit_j_mod_8_of_byte_j_div_8() -> None:
    x = np.zeros((1, 256), np.float32)
    x[0, [0, 9, 255]] = 1.0
    got = binary("pl.tile.cmps(x, 0.5, cmp_type='gt')", x, x, out_dtype="UINT8", out_shape=(1, 32))
    expected = np.zeros((1, 32), np.uint8)
    expected[0, [0, 1, 31]] = [1, 2, 128]
    np.testing.assert_array_equal(got, expected)


def test_partial_ops_combine_where_both_are_valid_and_copy_elsewhere() -> None:
    params = ",\n".join([tensor("a", (2, 8)), tensor("b", (2, 8)), tensor("out", (2, 8), out=True)])
    body = """
        x = pl.load(a, [0, 0], [2, 8])
        y = pl.load(b, [0, 0], [2, 8], valid_shape=[1, 4])
        return pl.store(pl.tile.part_add(x, y), [0, 0], out)
    """
    ones = np.ones((2, 8), np.float32)
    got = run(params, body, a=ones, b=10 * ones, out=0 * ones)["out"]
    assert got.tolist() == [[11.0] * 4 + [1.0] * 4, [1.0] * 8]


@pytest.mark.parametrize("call", ["pl.div(x, y)", "pl.tile.fmod(x, y)"])
def test_an_integer_division_by_zero_names_the_element(call: str) -> None:
    with pytest.raises(Undefined, match=r"integer division by zero at element \[0, 2\]"):
        binary(call, row(1, 1, 1, kind=np.int32), row(1, 1, 0, 1, kind=np.int32), "INT32")


@pytest.mark.parametrize("count", [32, -1])
def test_a_shift_by_the_width_or_more_has_no_value(count: int) -> None:
    with pytest.raises(Poisoned, match="stores an element that has no defined value"):
        binary("pl.tile.shl(x, y)", row(1, kind=np.int32), row(count, kind=np.int32), "INT32")


@pytest.mark.parametrize(("value", "defined"), [(65504.0, True), (1e6, False), (-1e6, False), (math.inf, True)])
def test_a_cast_beyond_the_target_has_no_value_where_targets_disagree(value: float, defined: bool) -> None:
    # a2a3 saturates at 65504, a5 gives infinity; what is infinite already stays so on both.
    call = "pl.cast(pl.cast(x, target_type=pl.FP16, mode='rint'), target_type=pl.FP32, mode='rint')"
    if defined:
        assert float(unary(call, row(value))[0, 0]) == value
    else:
        with pytest.raises(Poisoned):
            unary(call, row(value))


def test_a_pipe_without_its_other_core_is_named() -> None:
    params = ",\n".join([tensor("a", (16, 64)), tensor("out", (16, 64), out=True)])
    body = """
        x = pl.load(a, [0, 0], [16, 64])
        pl.tpush_to_aic(x, split=0)
        return pl.store(x, [0, 0], out)
    """
    x = np.zeros((16, 64), np.float32)
    with pytest.raises(NotModelled, match=r"tile\.tpush_to_aic in a run without the other core of the pipe"):
        run(params, body, a=x, out=x)


@pytest.mark.parametrize("call", [
    "pl.cast(pl.tile.fillpad(pl.cast(x, target_type=pl.UINT64), pad_value=pl.PadValue.max), target_type=pl.FP32)",
    "pl.cast(pl.cast(x, target_type=pl.UINT64), target_type=pl.FP32)",
    "pl.cast(pl.tile.full([1, 8], dtype=pl.UINT64, value=2**63 - 1), target_type=pl.FP32)",
])
def test_elements_of_unsigned_64_bits_are_not_modelled_at_their_line(call: str) -> None:
    with pytest.raises(NotModelled, match="element type UINT64 in the interpreter") as raised:
        unary(call, row(1.0))
    assert raised.value.location is not None and raised.value.location.line > 0
