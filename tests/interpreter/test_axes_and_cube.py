"""Reductions, expansions and matrix products of the interpreter, and when their result is left open."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.interpreter import Poisoned, interpret
from tests.interpreter.kernels import Array, binary, run, tensor, unary
from tests.passes.build import kernel

X = np.array([[3, -1, 4, 1, -5, 9, -2, 6], [2, 7, 1, 8, -2, 8, 1, 8]], np.float32)


# derivation: sums 15 and 33, extremes and their first positions read off the rows, 3*-1*4*1*-5*9*-2*6 = -6480 and
# 2*7*1*8*-2*8*1*8 = -14336
@pytest.mark.parametrize(
    ("call", "dtype", "expected"),
    [
        ("pl.row_sum(x, t)", "FP32", [15, 33]), ("pl.row_max(x, t)", "FP32", [9, 8]),
        ("pl.row_min(x, t)", "FP32", [-5, -2]), ("pl.tile.row_prod(x, t)", "FP32", [-6480, -14336]),
        ("pl.tile.row_argmax(x, t)", "INT32", [5, 3]), ("pl.tile.row_argmin(x, t)", "INT32", [4, 4]),
    ],
)
def test_row_reductions(call: str, dtype: str, expected: list[int]) -> None:
    assert unary(call, X, out_dtype=dtype, out_shape=(2, 1))[:, 0].tolist() == expected


@pytest.mark.parametrize(
    ("call", "dtype", "expected"),
    [
        ("pl.tile.col_sum(x)", "FP32", [5, 6, 5, 9]), ("pl.tile.col_max(x)", "FP32", [3, 7, 4, 8]),
        ("pl.tile.col_min(x)", "FP32", [2, -1, 1, 1]), ("pl.tile.col_prod(x)", "FP32", [6, -7, 4, 8]),
        ("pl.tile.col_argmax(x, t)", "INT32", [0, 1, 0, 1]), ("pl.tile.col_argmin(x, t)", "INT32", [1, 0, 1, 0]),
    ],
)
def test_column_reductions(call: str, dtype: str, expected: list[int]) -> None:
    assert unary(call, X, out_dtype=dtype, out_shape=(1, 8))[0, :4].tolist() == expected


@pytest.mark.parametrize(
    ("op", "expected"),
    [("add", 14.0), ("sub", 6.0), ("mul", 40.0), ("div", 2.5), ("max", 10.0), ("min", 4.0)],
)
def test_a_vector_is_spread_over_rows_and_columns(op: str, expected: float) -> None:
    x = np.full((2, 8), 10.0, np.float32)
    by_column = binary(f"pl.tile.col_expand_{op}(x, y)", x, np.full((1, 8), 4.0, np.float32))
    assert by_column.tolist() == np.full((2, 8), expected).tolist()
    spread = binary(f"pl.tile.row_expand_{op}(x, pl.row_max(y, t))", x, np.full((2, 8), 4.0, np.float32))
    assert spread.tolist() == np.full((2, 8), expected).tolist()


def test_one_block_a_row_repeats_along_the_row() -> None:
    # derivation: eight f32 are 32 bytes: element c of the row meets element c mod 8 of the block
    block = np.arange(8, dtype=np.float32)[None, :]
    got = binary("pl.tile.row_expand_add(x, y)", np.zeros((1, 24), np.float32), block)
    assert got[0].tolist() == [float(c % 8) for c in range(24)]


MATMUL = ",\n".join([
    tensor("a", (16, 32), "FP16"), tensor("b", (32, 16), "FP16"), tensor("out", (16, 16), out=True),
])
PRODUCT = """
    am = pl.load(a, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
    bm = pl.load(b, [0, 0], [32, 16], target_memory=pl.Mem.Mat)
    al = pl.move(am, target_memory=pl.Mem.Left)
    br = pl.move(bm, target_memory=pl.Mem.Right)
    c = pl.matmul(al, br)
    {more}
    return pl.store(c, [0, 0], out)
"""


def _operands() -> tuple[Array, Array]:
    random = np.random.default_rng(1)
    return random.integers(-3, 4, (16, 32)).astype(np.float16), random.integers(-3, 4, (32, 16)).astype(np.float16)


@pytest.mark.parametrize(("more", "factor"), [("", 1), ("c = pl.matmul_acc(c, al, br)", 2)])
def test_products_accumulate(more: str, factor: int) -> None:
    a, b = _operands()
    # derivation: integer operands, so the int64 product is exact
    expected = factor * (a.astype(np.int64) @ b.astype(np.int64))
    got = run(MATMUL, PRODUCT.format(more=more), a=a, b=b, out=np.zeros((16, 16), np.float32))["out"]
    np.testing.assert_array_equal(got, expected)


def test_a_product_that_needs_an_undefined_element_has_no_value() -> None:
    body = PRODUCT.format(more="").replace("[16, 32], target", "[16, 32], valid_shape=[16, 16], target")
    a, b = _operands()
    # k is the left operand's valid columns: 16 of 32, so the rest is not part of the product
    got = run(MATMUL, body, a=a, b=b, out=np.zeros((16, 16), np.float32))["out"]
    np.testing.assert_array_equal(got, a[:, :16].astype(np.int64) @ b[:16].astype(np.int64))
    wider = body.replace("al = pl.move(am", "al = pl.move(pl.set_validshape(am, 16, 32)")
    with pytest.raises(Poisoned, match=r"tile\.store"):
        run(MATMUL, wider, a=a, b=b, out=np.zeros((16, 16), np.float32))


@pytest.mark.parametrize(
    ("values", "open_ops"),
    [
        # derivation: eight integers below 8 add up exactly in any order; 1 + 2**-24 does not; 0.1 rounds on the way
        ([1.0, 2.0, 3.0, 7.0, 0.0, -5.0, 1.0, 4.0], set()),
        ([1.0, 2.0**-24, 0, 0, 0, 0, 0, 0], {"tile.row_sum"}),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], {"tile.row_sum"}),
        # 2**24 ulps of the smallest term are the limit: 2**24 - 1 + 1 still fits
        ([2.0**24 - 1, 1.0, 0, 0, 0, 0, 0, 0], set()),
    ],
)
def test_a_sum_is_open_only_where_its_order_could_show(values: list[float], open_ops: set[str]) -> None:
    function = kernel(",\n".join([tensor("a", (1, 8)), tensor("out", (1, 1), out=True)]), """
        x = pl.load(a, [0, 0], [1, 8])
        t: pl.Tile[[1, 8], pl.FP32] = pl.tile.create([1, 8], dtype=pl.FP32)
        return pl.store(pl.row_sum(x, t), [0, 0], out)
    """)
    loose: set[str] = set()
    interpret(function, {"a": np.array([values], np.float32), "out": np.zeros((1, 1), np.float32)}, loose=loose)
    assert loose == open_ops


def _cancelling(rest: float, beside: float) -> Array:
    """Sums of 2**24 and of 8 * `beside` in magnitude, which come to a little more than `rest` and to 8 * `beside`."""
    return np.array([[2.0**23, 2.0**-9, -(2.0**23), rest, 0, 0, 0, 0], [beside] * 8], np.float32)


def test_a_sum_that_cancels_to_the_rounding_of_its_parts_has_no_value() -> None:
    # derivation: a third of FP32's 24 digits is 2**8, and 2**24 / 2**8 = 2**16
    with pytest.raises(Poisoned):
        unary("pl.row_sum(x, t)", _cancelling(2.0**15, 1.0), out_shape=(2, 1))
    assert unary("pl.row_sum(x, t)", _cancelling(2.0**17, 1.0), out_shape=(2, 1))[0, 0] == 2.0**17
    # beside a large sum the rounding of a small one is within the tolerance
    assert unary("pl.row_sum(x, t)", _cancelling(2.0**15, 2.0**17), out_shape=(2, 1))[0, 0] == 2.0**15


def test_a_sum_that_could_overflow_in_some_order_has_no_value() -> None:
    # derivation: 3e38 + 3e38 - 3e38 is 3e38 or infinity
    with pytest.raises(Poisoned):
        unary("pl.row_sum(x, t)", np.array([[3e38, 3e38, -3e38, 0, 0, 0, 0, 0]], np.float32), out_shape=(1, 1))
