"""Vector ops: values, what lies outside the valid region, and what differs between the targets."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.simulator.errors import DivisionError, UninitialisedError
from pypto_verified.simulator.values import Array
from tests.simulator.text import Kernel, ramp, zeros

BOTH = pytest.mark.parametrize("on", ["a2a3", "a5"])


def binary(name: str, dtype: str, rows: int, cols: int, tmp: bool = False) -> Kernel:
    """out = NAME(a, b) on whole tiles."""
    k = Kernel()
    a, b, out = (k.tensor(n, dtype, rows, cols) for n in ("a", "b", "out"))
    x, y, z = (k.tile(n, dtype, rows, cols) for n in ("x", "y", "z"))
    t = k.tile("t", dtype, rows, cols) if tmp else ""
    k.load(a, x)
    k.load(b, y)
    k.op(name, f"{x} {y} {t}", z)
    k.store(z, out)
    return k


@BOTH
def test_integers_wrap(on: str) -> None:
    a = np.full((1, 16), 32767, np.int16)
    b = np.full((1, 16), 2, np.int16)
    # 32767 + 2 = 32769 = 32769 - 65536; 32767 * 2 = 65534 = -2.
    assert binary("tadd", "i16", 1, 16).result(on, "out", a=a, b=b, out=a)[0, 0] == -32767
    assert binary("tmul", "i16", 1, 16).result(on, "out", a=a, b=b, out=a)[0, 0] == -2


@BOTH
@pytest.mark.parametrize(("name", "expected"), [("trem", [1, 2, -2, -1]), ("tfmod", [1, -1, 1, -1])])
def test_remainders_differ_in_sign(on: str, name: str, expected: list[int]) -> None:
    a = np.tile(np.asarray([7, -7, 7, -7], np.int32), (1, 2))
    b = np.tile(np.asarray([3, 3, -3, -3], np.int32), (1, 2))
    assert binary(name, "i32", 1, 8).result(on, "out", a=a, b=b, out=a)[0, :4].tolist() == expected


@BOTH
def test_integer_division_by_zero_is_a_fault(on: str) -> None:
    a = ramp(2, 8, np.int32)
    b = np.where(a == 11, 0, 3).astype(np.int32)
    outcome = binary("trem", "i32", 2, 8).run(on, a=a, b=b, out=a)
    (error,) = outcome.errors
    assert isinstance(error, DivisionError)
    assert error.op == "pto.trem"
    assert error.place.element == (1, 3)  # element 11 of rows of 8
    assert error.line > 0


@BOTH
def test_division_truncates(on: str) -> None:
    a, b = np.asarray([[7, -7, 7, -7, 9, 0, 1, -1]], np.int32), np.asarray([[2, 2, -2, -2, 3, 5, 2, 2]], np.int32)
    assert binary("tdiv", "i32", 1, 8).result(on, "out", a=a, b=b, out=a).tolist() == [[3, -3, -3, 3, 3, 0, 0, 0]]


@BOTH
def test_scalar_on_either_side(on: str) -> None:
    for ins, expected in (("x c:12:i32", [0, 0, 0, 0]), ("c:12:i32 x", [12, 6, 4, 3])):
        k = Kernel()
        a, out = k.tensor("a", "i32", 1, 8), k.tensor("out", "i32", 1, 8)
        x, y = k.tile("x", "i32", 1, 8), k.tile("y", "i32", 1, 8)
        k.load(a, x)
        k.op("tdivs", ins, y)
        k.store(y, out)
        values = np.asarray([[1, 2, 3, 4, 5, 6, 7, 8]], np.int32)
        assert k.result(on, "out", a=values, out=values)[0, :4].tolist() == expected


@BOTH
def test_only_the_valid_region_of_the_destination_is_written(on: str) -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 4, 16), k.tensor("out", "f32", 4, 16)
    x = k.tile("x", "f32", 4, 16)
    y = k.tile("y", "f32", 4, 16, valid=(3, 10))
    whole = k.tile("whole", "f32", 4, 16, addr=512)
    k.load(a, x)
    k.op("texpands", "c:9:i32", whole)
    k.op("tadd", f"{x} {x}", y)
    k.store(whole, out)
    expected = np.full((4, 16), 9.0, np.float32)
    expected[:3, :10] = 2 * ramp(4, 16)[:3, :10]
    np.testing.assert_array_equal(k.result(on, "out", a=ramp(4, 16), out=zeros(4, 16)), expected)


@BOTH
def test_uninitialised_lanes_travel_and_are_reported_where_they_leave(on: str) -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 2, 8), k.tensor("out", "f32", 4, 8)
    x = k.tile("x", "f32", 4, 8, valid=(2, 8))
    y, z = k.tile("y", "f32", 4, 8), k.tile("z", "f32", 4, 8)
    k.load(a, x)
    k.op("tmuls", f"{x} c:2:i32", y)  # rows 2 and 3 of x were never written
    k.op("tneg", y, z)
    k.store(z, out)
    (error,) = k.run(on, a=ramp(2, 8), out=zeros(4, 8)).errors
    assert isinstance(error, UninitialisedError)
    assert (error.op, error.place.name, error.place.element) == ("pto.tstore", "z", (2, 0))
    assert "16 of 32 elements" in str(error)


@BOTH
@pytest.mark.parametrize(
    ("dtype", "kind", "mode", "value", "expected"),
    [("i32", np.int32, "RINT", 2.5, 2), ("i32", np.int32, "CEIL", 2.5, 3), ("f16", np.float16, "RINT", 2049.0, 2048.0)],
)
def test_conversion(on: str, dtype: str, kind: type, mode: str, value: float, expected: float) -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 1, 16), k.tensor("out", dtype, 1, 16)
    x, y = k.tile("x", "f32", 1, 16), k.tile("y", dtype, 1, 16)
    k.load(a, x)
    k.op("tcvt", x, y, f"{{rmode = #pto<round_mode {mode}>}}")
    k.store(y, out)
    values: Array = np.full((1, 16), value, np.float32)
    assert k.result(on, "out", a=values, out=zeros(1, 16, kind))[0, 0] == expected


def test_narrowing_saturates_by_pair_and_target() -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 1, 16), k.tensor("out", "i16", 1, 16)
    x, y = k.tile("x", "f32", 1, 16), k.tile("y", "i16", 1, 16)
    k.load(a, x)
    k.op("tcvt", x, y, "{rmode = #pto<round_mode RINT>, sat_mode = #pto<saturation_mode ON>}")
    k.store(y, out)
    values: Array = np.full((1, 16), 70000.0, np.float32)
    assert k.result("a2a3", "out", a=values, out=zeros(1, 16, np.int16))[0, 0] == 32767
    k.lines = [line.replace("<saturation_mode ON>", "<saturation_mode OFF>") for line in k.lines]
    # f32 to i16 is one of the pairs that may wrap: 70000 - 65536.
    assert k.result("a2a3", "out", a=values, out=zeros(1, 16, np.int16))[0, 0] == 4464


@BOTH
def test_reductions_write_one_column_or_row(on: str) -> None:
    k = Kernel()
    a, r, c = k.tensor("a", "f32", 4, 16), k.tensor("r", "f32", 4, 1), k.tensor("c", "f32", 1, 16)
    x, t = k.tile("x", "f32", 4, 16), k.tile("t", "f32", 4, 16)
    row = k.tile("row", "f32", 16, 1, valid=(4, 1), layout=("col_major", "none_box", 512))
    col = k.tile("col", "f32", 1, 16)
    k.load(a, x)
    k.op("trowsum", f"{x} {t}", row)
    k.op("tcolmax", x, col)
    k.store(row, r)
    k.store(col, c)
    outcome = k.run(on, a=ramp(4, 16), r=zeros(4, 1), c=zeros(1, 16))
    assert outcome.errors == []
    # Row r holds 16 r .. 16 r + 15: the sum is 16 * 16 r + 120.
    assert outcome.outputs["r"][:, 0].tolist() == [120.0, 376.0, 632.0, 888.0]
    assert outcome.outputs["c"][0].tolist() == [48.0 + i for i in range(16)]


@BOTH
def test_a_narrow_float_sum_does_not_stall(on: str) -> None:
    # 4096 ones: adding 1 to 2048 in f16 gives 2048 again, a sum in f32 reaches 4096.
    k = Kernel()
    a, r = k.tensor("a", "f16", 1, 4096), k.tensor("r", "f16", 1, 1)
    x, t = k.tile("x", "f16", 1, 4096), k.tile("t", "f16", 1, 4096)
    row = k.tile("row", "f16", 1, 16, valid=(1, 1))
    k.load(a, x)
    k.op("trowsum", f"{x} {t}", row)
    k.store(row, r)
    assert k.result(on, "r", a=np.ones((1, 4096), np.float16), r=zeros(1, 1, np.float16))[0, 0] == 4096


@BOTH
def test_the_first_extreme_wins(on: str) -> None:
    k = Kernel()
    a, r = k.tensor("a", "f32", 1, 8), k.tensor("r", "i32", 1, 1)
    x, t, row = k.tile("x", "f32", 1, 8), k.tile("t", "f32", 1, 8), k.tile("row", "i32", 1, 8, valid=(1, 1))
    k.load(a, x)
    k.op("trowargmax", f"{x} {t}", row)
    k.store(row, r)
    values = np.asarray([[1, 5, 5, 0, 5, 2, 1, 0]], np.float32)
    assert k.result(on, "r", a=values, r=zeros(1, 1, np.int32))[0, 0] == 1


@BOTH
def test_row_expansion_takes_either_operand(on: str) -> None:
    vector = ramp(8, 1) * 100
    for order, expected in (("x v", ramp(8, 16) - vector), ("v x", vector - ramp(8, 16))):
        k = Kernel()
        a, b, out = k.tensor("a", "f32", 8, 16), k.tensor("b", "f32", 8, 1), k.tensor("out", "f32", 8, 16)
        x = k.tile("x", "f32", 8, 16)
        v = k.tile("v", "f32", 8, 1, layout=("col_major", "none_box", 512))
        z = k.tile("z", "f32", 8, 16)
        k.load(a, x)
        k.load(b, v)
        k.op("trowexpandsub", order, z)
        k.store(z, out)
        got = k.result(on, "out", a=ramp(8, 16), b=vector, out=zeros(8, 16))
        np.testing.assert_array_equal(got, expected)


@BOTH
def test_partial_op_copies_where_one_source_is_valid(on: str) -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 4, 8), k.tensor("out", "f32", 4, 8)
    x, y = k.tile("x", "f32", 4, 8), k.tile("y", "f32", 4, 8, valid=(3, 8))
    z = k.tile("z", "f32", 4, 8)
    k.load(a, x)
    k.op("tmuls", f"{x} c:10:i32", y)
    k.op("tpartadd", f"{x} {y}", z)
    k.store(z, out)
    expected = ramp(4, 8).copy()
    expected[:3] *= 11
    np.testing.assert_array_equal(k.result(on, "out", a=ramp(4, 8), out=zeros(4, 8)), expected)


@BOTH
def test_ramp_and_triangle(on: str) -> None:
    k = Kernel()
    down, lower = k.tensor("down", "i32", 1, 8), k.tensor("lower", "i32", 3, 8)
    r, t = k.tile("r", "i32", 1, 8), k.tile("t", "i32", 3, 8)
    k.op("tci", "c:5:i32", r, "{descending = true}")
    k.op("ttri", "c:1:i32", t, "{upperOrLower = 0}")
    k.store(r, down)
    k.store(t, lower)
    outcome = k.run(on, down=zeros(1, 8, np.int32), lower=zeros(3, 8, np.int32))
    assert outcome.outputs["down"].tolist() == [[5, 4, 3, 2, 1, 0, -1, -2]]
    # Ones where column <= row + 1.
    assert outcome.outputs["lower"][:, :4].tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]


def compared(mode: str, dtype: str) -> Kernel:
    k = Kernel()
    a, b, out = k.tensor("a", dtype, 2, 64), k.tensor("b", dtype, 2, 64), k.tensor("out", "ui8", 2, 32)
    x, y = k.tile("x", dtype, 2, 64), k.tile("y", dtype, 2, 64)
    m = k.tile("m", "ui8", 2, 32)
    k.op("texpands", "c:0:i32", m)
    k.load(a, x)
    k.load(b, y)
    k.op("tcmp", f"{x} {y}", m, f"{{cmpMode = #pto<cmp {mode}>}}")
    k.store(m, out)
    return k


@BOTH
def test_comparison_packs_bits_from_the_low_end(on: str) -> None:
    a = zeros(2, 64)
    a[0, 0] = a[0, 9] = a[1, 63] = 1.0
    got = compared("gt", "f32").result(on, "out", a=a, b=zeros(2, 64), out=zeros(2, 32, np.uint8))
    # Bit 0 of byte 0; bit 1 of byte 1; row 1 starts at its own row: bit 7 of byte 7.
    assert got[0, :8].tolist() == [1, 2, 0, 0, 0, 0, 0, 0]
    assert got[1, :8].tolist() == [0, 0, 0, 0, 0, 0, 0, 128]


def test_a2a3_compares_integers_for_equality_only() -> None:
    a = ramp(2, 64, np.int32)
    out = zeros(2, 32, np.uint8)
    assert compared("gt", "i32").result("a2a3", "out", a=a + 1, b=a, out=out)[0, 0] == 0
    assert compared("gt", "i32").result("a5", "out", a=a + 1, b=a, out=out)[0, 0] == 255


@BOTH
def test_selection_by_mask(on: str) -> None:
    k = Kernel()
    a, b, out = k.tensor("a", "f32", 2, 64), k.tensor("b", "f32", 2, 64), k.tensor("out", "f32", 2, 64)
    x, y, z = (k.tile(n, "f32", 2, 64) for n in "xyz")
    m, t = k.tile("m", "ui8", 2, 32), k.tile("t", "ui32", 1, 8)
    k.load(a, x)
    k.load(b, y)
    k.op("tcmps", f"{x} c:64:i32", m, "{cmpMode = #pto<cmp lt>}")
    k.op("tsel", f"{m} {x} {y} {t}", z)
    k.store(z, out)
    # Row 0 holds 0..63, all below 64; row 1 none.
    got = k.result(on, "out", a=ramp(2, 64), b=np.full((2, 64), -1, np.float32), out=zeros(2, 64))
    np.testing.assert_array_equal(got, np.stack([ramp(1, 64)[0], np.full(64, -1.0)]))


def test_in_place_operands_that_only_overlap_see_earlier_rows() -> None:
    # y lies one row behind x, and x + 0 goes to y: each row is read after the row before it was overwritten.
    k = Kernel()
    a, out = k.tensor("a", "f32", 4, 8), k.tensor("out", "f32", 3, 8)
    x = k.tile("x", "f32", 4, 8, addr=0)
    y = k.tile("y", "f32", 3, 8, addr=32)
    k.load(a, x)
    k.op("tabs", x, y)
    k.store(y, out)
    got = k.result("a2a3", "out", a=ramp(4, 8), out=zeros(3, 8))
    np.testing.assert_array_equal(got, np.tile(ramp(1, 8), (3, 1)))


@pytest.mark.parametrize(("on", "expected"), [("a2a3", [1.0, 1.0]), ("a5", [0.5, 0.25])])
def test_a_reciprocal_in_place_loses_its_operand_on_a2a3(on: str, expected: list[float]) -> None:
    k = Kernel()
    a, out, x = k.tensor("a", "f32", 1, 8), k.tensor("out", "f32", 1, 8), k.tile("x", "f32", 1, 8)
    k.load(a, x)
    k.op("trecip", x, x)
    k.store(x, out)
    values = np.asarray([[2, 4, 1, 1, 1, 1, 1, 1]], np.float32)
    assert k.result(on, "out", a=values, out=zeros(1, 8))[0, :2].tolist() == expected


@BOTH
def test_shifts_by_the_width_are_unspecified(on: str) -> None:
    a = np.asarray([[1, -8, 1, 1, 1, 1, 1, 1]], np.int32)
    b = np.asarray([[3, 1, 31, 0, 0, 0, 0, 0]], np.int32)
    assert binary("tshl", "i32", 1, 8).result(on, "out", a=a, b=b, out=a)[0, :3].tolist() == [8, -16, -(2**31)]
    assert binary("tshr", "i32", 1, 8).result(on, "out", a=a, b=b, out=a)[0, :3].tolist() == [0, -4, 0]
    b[0, 5], b[0, 6] = 32, -1
    (error,) = binary("tshl", "i32", 1, 8).run(on, a=a, b=b, out=a).errors
    assert isinstance(error, UninitialisedError)
    assert "2 of 8" in str(error)


@pytest.mark.parametrize(("dtype", "kind"), [("f32", np.float32), ("i32", np.int32), ("i64", np.int64)])
def test_one_of_eight_columns_is_negated_in_each_row(dtype: str, kind: type) -> None:
    k = Kernel()
    a, out = (k.tensor(n, dtype, 64, 8) for n in ("a", "out"))
    whole, x = k.tile("whole", dtype, 64, 8, addr=0), k.tile("x", dtype, 64, 8, valid=(64, 1), addr=0)
    k.load(a, whole)
    k.op("tneg", x, x)
    k.store(whole, out)
    given = ramp(64, 8, kind)
    got = k.result("a5", "out", a=given, out=given)
    assert got[:, 0].tolist() == [-8 * row for row in range(64)]
    assert got[:, 1:].tolist() == given[:, 1:].tolist()
