"""Matrix products through all memories; small integers, so that every order of sums gives the same f32."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pypto_verified.simulator.errors import UninitialisedError
from pypto_verified.simulator.values import Array
from tests.simulator.text import Kernel, zeros

BOTH = pytest.mark.parametrize("on", ["a2a3", "a5"])


def numbers(rows: int, cols: int, kind: np.typing.DTypeLike = np.float16, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(-4, 5, (rows, cols)).astype(kind)


def up(value: int, step: int) -> int:
    return -(-value // step) * step


def product(
    m: int, k_: int, n: int, rows: int | None = None, dtype: str = "f16", out: str = "f32", compact: int = 0,
    accumulate: bool = False,
) -> Kernel:
    """c = a @ b with valid extents m, k, n in tiles of whole boxes, or of `rows` rows; `accumulate`: c += a @ b."""
    wide = 32 if dtype == "i8" else 16
    mp, kp, np_ = rows or up(m, 16), up(k_, wide), up(n, wide)
    acc = "i32" if dtype == "i8" else "f32"
    k = Kernel()
    a, b, c = k.tensor("a", dtype, m, k_), k.tensor("b", dtype, k_, n), k.tensor("c", out, m, n)
    am, bm = k.tile("am", dtype, mp, kp, "mat", (m, k_)), k.tile("bm", dtype, kp, np_, "mat", (k_, n))
    al = k.tile("al", dtype, mp, kp, "left", (m, k_), compact=compact)
    br = k.tile("br", dtype, kp, np_, "right", (k_, n), compact=compact)
    cc = k.tile("cc", acc, mp, np_, "acc", (m, n), compact=compact)
    k.load(a, am)
    k.load(b, bm)
    k.op("tmov", am, al)
    k.op("tmov", bm, br)
    if accumulate:
        k.op("tmatmul.acc", f"{cc} {al} {br}", cc)
    else:
        k.op("tmatmul", f"{al} {br}", cc)
    k.store(cc, c)
    return k


@BOTH
@pytest.mark.parametrize("shape", [(16, 16, 16), (32, 64, 48), (64, 64, 64)])
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_products_of_floats(on: str, shape: tuple[int, int, int], dtype: str) -> None:
    m, k, n = shape
    kind = {"f16": np.float16, "f32": np.float32, "bf16": ml_dtypes.bfloat16}[dtype]
    a, b = numbers(m, k), numbers(k, n, seed=1)
    got = product(m, k, n, dtype=dtype).result(on, "c", a=a.astype(kind), b=b.astype(kind), c=zeros(m, n))
    np.testing.assert_array_equal(got, a.astype(np.float64) @ b.astype(np.float64))


@BOTH
def test_products_of_int8_are_exact(on: str) -> None:
    a, b = np.full((16, 64), -128, np.int8), np.full((64, 32), -128, np.int8)
    got = product(16, 64, 32, dtype="i8", out="i32").result(on, "c", a=a, b=b, c=zeros(16, 32, np.int32))
    assert (got == 64 * 128 * 128).all()


@BOTH
def test_the_accumulator_is_converted_on_the_way_out(on: str) -> None:
    a, b = np.full((16, 16), 3.0, np.float16), np.full((16, 16), 43.0, np.float16)
    # 16 * 3 * 43 = 2064 = 129 * 16: 11 bits of f16 hold it; 8 bits of bf16 hold 129 too.
    # 2107 is a tie between 2106 and 2108 in f16 (steps of 2): 1054 is even; bf16 has steps of 16: 2112 is nearest.
    a[0, 0] = 4
    half = product(16, 16, 16, out="f16").result(on, "c", a=a, b=b, c=zeros(16, 16, np.float16))
    brief = product(16, 16, 16, out="bf16").result(on, "c", a=a, b=b, c=zeros(16, 16, ml_dtypes.bfloat16))
    assert half[:2, 0].tolist() == [2108.0, 2064.0]
    assert brief.astype(np.float32)[:2, 0].tolist() == [2112.0, 2064.0]


def test_acc_adds_to_the_destinations_own_bytes() -> None:
    k = product(16, 16, 16)
    other = k.tile("other", "f32", 16, 16, "acc")
    out = k.tensor("out", "f32", 16, 16)
    k.op("tmatmul.acc", f"{other} al br", "cc")
    k.store("cc", out)
    a, b = numbers(16, 16), numbers(16, 16, seed=1)
    got = k.result("a2a3", "out", a=a, b=b, c=zeros(16, 16), out=zeros(16, 16))
    np.testing.assert_array_equal(got, 2 * (a.astype(np.float64) @ b.astype(np.float64)))


def test_a_read_of_an_unwritten_accumulator_is_reported() -> None:
    k = product(16, 16, 16, accumulate=True)
    (error,) = k.run("a5", a=numbers(16, 16), b=numbers(16, 16), c=zeros(16, 16)).errors
    assert isinstance(error, UninitialisedError)


@pytest.mark.parametrize(("on", "rows"), [("a2a3", 16), ("a5", 1)])
def test_one_row_is_executed_as_sixteen_on_a2a3(on: str, rows: int) -> None:
    k = product(1, 16, 16, rows=16)
    k.lines.insert(-2, f"  pto.texpands ins({k.number(7, 'i32')} : i32) outs(%cc : {k.types['cc']})")
    whole = k.tile("whole", "f32", 16, 16, "acc", addr=0)
    k.store(whole, k.tensor("out", "f32", 16, 16))
    outcome = k.run(on, a=numbers(1, 16), b=numbers(16, 16, seed=1), c=zeros(1, 16), out=zeros(16, 16))
    kept = (outcome.outputs["out"] == 7.0).all(axis=1)
    assert kept.tolist() == [False] * rows + [True] * (16 - rows)
    # The other rows of A were never loaded, so what a2a3 writes there is not initialised.
    assert bool(outcome.errors) == (on == "a2a3")


@BOTH
def test_a_product_over_nothing_leaves_the_accumulator_as_it_was(on: str) -> None:
    """The matrix unit does nothing when one of m, k, n is 0: it does not write the empty sum either."""
    k = Kernel()
    a, b, out = k.tensor("a", "f16", 16, 16), k.tensor("b", "f16", 16, 16), k.tensor("out", "f32", 16, 16)
    am, bm = k.tile("am", "f16", 16, 16, "mat"), k.tile("bm", "f16", 16, 16, "mat")
    left, right = k.tile("left", "f16", 16, 16, "left"), k.tile("right", "f16", 16, 16, "right")
    acc = k.tile("acc", "f32", 16, 16, "acc")
    for tensor, mat, operand in ((a, am, left), (b, bm, right)):
        k.load(tensor, mat)
        k.op("tmov", mat, operand)
    k.op("tmatmul", f"{left} {right}", acc)
    nothing_left = k.tile("none_l", "f16", 16, 16, "left", (16, 0), addr=0)
    nothing_right = k.tile("none_r", "f16", 16, 16, "right", (0, 16), addr=0)
    k.op("tmatmul", f"{nothing_left} {nothing_right}", acc)
    k.store(acc, out)
    x, y = numbers(16, 16), numbers(16, 16, seed=1)
    got = k.result(on, "out", a=x.astype(np.float16), b=y.astype(np.float16), out=zeros(16, 16))
    np.testing.assert_array_equal(got, x.astype(np.float64) @ y.astype(np.float64))


def test_pitch_of_a_partly_valid_accumulator() -> None:
    """16 valid rows in an accumulator of 64: the unit writes at a pitch of 16 rows, the store reads at 64, so only the
    first 16 columns are where the store looks (offset c/16 * 16 * 16 against c/16 * 64 * 16)."""
    a, b = numbers(16, 32) + np.float16(10), numbers(32, 64, seed=1) + np.float16(10)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    outcome = product(16, 32, 64, rows=64).run("a2a3", a=a, b=b, c=zeros(16, 64))
    right = outcome.outputs["c"] == expected
    assert right[:, :16].all()
    assert not right[:, 16:].any()
    assert isinstance(outcome.errors[0], UninitialisedError)
    good = product(16, 32, 64, rows=64, compact=1).result("a2a3", "c", a=a, b=b, c=zeros(16, 64))
    np.testing.assert_array_equal(good, expected)
    np.testing.assert_array_equal(
        product(16, 32, 64, rows=64, compact=1).result("a5", "c", a=a, b=b, c=zeros(16, 64)), expected)


@pytest.mark.parametrize(("static", "right"), [(False, 64), (True, 16)])
def test_an_a5_move_takes_the_pitch_from_the_valid_rows_unless_the_type_has_them(static: bool, right: int) -> None:
    """16 valid rows in an accumulator of 64, moved to UB: read at 16 rows, as written, when they are given at run time;
    at the physical 64 when the type says 16, and then only the first 16 columns are where the move looks. Compact is
    not heeded."""
    k = product(16, 32, 64, rows=64, compact=1)
    source = "cc"
    if static:
        source, type_ = "still", k.types["cc"].replace("v_row=?, v_col=?", "v_row=16, v_col=64")
        k.types[source] = type_
        k.line(f"%{source} = pto.alloc_tile addr = {k.number(0, 'i64')} : {type_}")
    k.op("tmov", source, k.tile("v", "f32", 16, 64))
    k.store("v", k.tensor("out", "f32", 16, 64))
    a, b = numbers(16, 32) + np.float16(10), numbers(32, 64, seed=1) + np.float16(10)
    got = k.run("a5", a=a, b=b, c=zeros(16, 64), out=zeros(16, 64)).outputs["out"]
    same = (got == a.astype(np.float64) @ b.astype(np.float64)).all(axis=0)
    assert same.tolist() == [True] * right + [False] * (64 - right)


@BOTH
def test_bias_is_added_to_each_row(on: str) -> None:
    k = product(16, 16, 16)
    v, vb = k.tensor("v", "f32", 1, 16), k.tile("vb", "f32", 1, 16, "bias")
    vm = k.tile("vm", "f32", 1, 16, "mat", layout=("row_major", "none_box", 512), addr=65536)
    k.load(v, vm)
    k.op("tmov", vm, vb)
    k.op("tmatmul.bias", f"al br {vb}", "cc")
    k.store("cc", k.tensor("out", "f32", 16, 16))
    a, b, bias = numbers(16, 16), numbers(16, 16, seed=1), np.arange(16, dtype=np.float32)[None]
    got = k.result(on, "out", a=a, b=b, v=bias, c=zeros(16, 16), out=zeros(16, 16))
    np.testing.assert_array_equal(got, a.astype(np.float64) @ b.astype(np.float64) + bias)


@BOTH
def test_a_bias_is_cut_out_of_a_longer_row(on: str) -> None:
    """Columns 16 to 31 of 48."""
    k = product(16, 16, 16)
    v, vb = k.tensor("v", "f32", 1, 48), k.tile("vb", "f32", 1, 16, "bias")
    vm = k.tile("vm", "f32", 1, 48, "mat", layout=("row_major", "none_box", 512), addr=65536)
    k.load(v, vm)
    k.op("textract", f"{vm} c:0:index c:16:index", vb)
    k.op("tmatmul.bias", f"al br {vb}", "cc")
    k.store("cc", k.tensor("out", "f32", 16, 16))
    a, b, bias = numbers(16, 16), numbers(16, 16, seed=1), np.arange(48, dtype=np.float32)[None]
    got = k.result(on, "out", a=a, b=b, v=bias, c=zeros(16, 16), out=zeros(16, 16))
    np.testing.assert_array_equal(got, a.astype(np.float64) @ b.astype(np.float64) + np.arange(16, 32))


@BOTH
def test_a_window_of_an_accumulator_is_put_into_a_window_of_l1(on: str) -> None:
    """Rows and columns 16 to 31 of [32, 48] are cut out. Columns 0 to 15 of all its rows, valid or not, become rows 32
    to 63, columns 16 to 31, of [64, 32]; the rest there keeps its 7."""
    k = product(32, 16, 48)
    whole = k.tile("whole", "f16", 64, 32, "mat", addr=65536)
    k.op("texpands", "c:7:i32", whole)
    k.op("textract", "cc c:16:index c:16:index", k.tile("cut", "f16", 16, 16, "mat", addr=131072))
    k.store("cut", k.tensor("part", "f16", 16, 16))
    corner = k.tile("corner", "f32", 32, 48, "acc", (16, 16), addr=0)
    k.op("tinsert", f"{corner} c:32:index c:16:index", whole)
    k.store(whole, k.tensor("out", "f16", 64, 32))
    a, b = numbers(32, 16), numbers(16, 48, seed=1)
    c = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)
    part, out = zeros(16, 16, np.float16), zeros(64, 32, np.float16)
    outcome = k.run(on, a=a, b=b, c=zeros(32, 48), part=part, out=out)
    assert outcome.errors == []
    np.testing.assert_array_equal(outcome.outputs["part"], c[16:, 16:32])
    expected = np.full((64, 32), 7.0)
    expected[32:, 16:] = c[:, :16]
    np.testing.assert_array_equal(outcome.outputs["out"], expected)


@BOTH
def test_a_move_to_l1_takes_all_physical_rows(on: str) -> None:
    """Accumulator [32, 16] with 16 valid rows, moved to an L1 tile [32, 16]: rows 16.. are overwritten too."""
    k = product(32, 16, 16)
    half = k.tile("half", "f32", 32, 16, "acc", (16, 16), addr=0)
    mid = k.tile("mid", "f16", 32, 16, "mat", (16, 16), addr=65536)
    k.op("tmov", half, mid)
    whole = k.tile("whole", "f16", 32, 16, "mat", addr=65536)
    k.store(whole, k.tensor("out", "f16", 32, 16))
    a, b = numbers(32, 16), numbers(16, 16, seed=1)
    got = k.result(on, "out", a=a, b=b, c=zeros(32, 16), out=zeros(32, 16, np.float16))
    np.testing.assert_array_equal(got, a.astype(np.float64) @ b.astype(np.float64))


@BOTH
def test_a_scale_word_quantises(on: str) -> None:
    k = product(16, 16, 16)
    out = k.tensor("out", "i8", 16, 16)
    word = int(np.asarray(0.5, np.float32).view(np.uint32)) | (3 << 37)
    k.line(
        f"pto.tstore ins(%cc : {k.types['cc']}, {k.number(word, 'i64')} : i64) outs(%{out} : {k.types[out]}) "
        "{reluPreMode = #pto<relu_pre_mode normal_relu>}"
    )
    a = np.zeros((16, 16), np.float16)
    a[0, 0], a[1, 0], a[2, 0] = 5, 1000, -100
    b = np.zeros((16, 16), np.float16)
    b[0] = 1
    got = k.result(on, "out", a=a, b=b, c=zeros(16, 16), out=zeros(16, 16, np.int8))
    # 5 * 0.5 = 2.5 -> 2 (even), + 3 = 5; 500 + 3 clamps to 127; -50 + 3 is cut by the ReLU.
    assert got[:3, 0].tolist() == [5, 127, 0]
