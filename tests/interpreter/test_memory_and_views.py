"""Loads, stores, views and poison: which elements have a value, and where an undefined one is reported."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.interpreter import Poisoned, Undefined
from tests.interpreter.kernels import run, tensor, unary

A = np.arange(64, dtype=np.float32).reshape(8, 8)
ZERO = np.zeros((8, 8), np.float32)
PARAMS = ",\n".join([tensor("a", (8, 8)), tensor("out", (8, 8), out=True)])


def stored(body: str) -> np.typing.NDArray[np.generic]:
    """`out` of a kernel over `a` = 0..63, zeros before."""
    return run(PARAMS, body, a=A, out=ZERO)["out"]


def test_a_store_writes_the_valid_region_at_its_offset() -> None:
    got = stored("""
        x = pl.load(a, [2, 0], [4, 8], valid_shape=[3, 5])
        return pl.store(x, [1, 2], out)
    """)
    expected = ZERO.copy()
    expected[1:4, 2:7] = A[2:5, 0:5]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "body",
    [
        # a tile that nothing wrote
        """
        t: pl.Tile[[8, 8], pl.FP32] = pl.tile.create([8, 8], dtype=pl.FP32)
        return pl.store(t, [0, 0], out)
        """,
        # rows beyond what was loaded, made valid afterwards
        """
        x = pl.load(a, [0, 0], [8, 8], valid_shape=[4, 8])
        x = pl.set_validshape(x, 8, 8)
        return pl.store(x, [0, 0], out)
        """,
        # an op fills its own valid region only, whatever its source holds beyond it
        """
        x = pl.load(a, [0, 0], [8, 8])
        x = pl.set_validshape(x, 4, 8)
        y = pl.add(x, x)
        y = pl.set_validshape(y, 8, 8)
        return pl.store(y, [0, 0], out)
        """,
        # one undefined operand is enough
        """
        x = pl.load(a, [0, 0], [8, 8])
        y = pl.load(a, [0, 0], [8, 8], valid_shape=[8, 7])
        z = pl.mul(x, pl.set_validshape(y, 8, 8))
        return pl.store(z, [0, 0], out)
        """,
        # a reduction takes in the undefined element
        """
        y = pl.load(a, [0, 0], [8, 8], valid_shape=[8, 7])
        y = pl.set_validshape(y, 8, 8)
        t: pl.Tile[[8, 8], pl.FP32] = pl.tile.create([8, 8], dtype=pl.FP32)
        s = pl.row_sum(y, t)
        return pl.store(pl.row_expand_add(pl.load(a, [0, 0], [8, 8]), s), [0, 0], out)
        """,
    ],
    ids=["never written", "grown", "beyond the op", "operand", "reduction"],
)
def test_an_undefined_element_is_reported_where_it_is_stored(body: str) -> None:
    with pytest.raises(Poisoned, match=r"tile\.store: stores an element that has no defined value") as error:
        stored(body)
    # The store is the last line of each body, which follows the ten lines of the kernel's head.
    assert (error.value.location.file, error.value.location.line) == ("k.py", 10 + len(body.strip().splitlines()))


def test_an_undefined_element_may_not_steer_the_kernel() -> None:
    with pytest.raises(Poisoned, match=r"tile\.read: reads an element that has no defined value at element \[4, 0\]"):
        stored("""
            x = pl.load(a, [0, 0], [8, 8], valid_shape=[4, 8])
            v = pl.tile.read(x, [4, 0])
            if v > 0.0:
                out = pl.store(x, [0, 0], out)
            return out
        """)


def test_padding_defines_what_was_undefined() -> None:
    got = stored("""
        x = pl.load(a, [0, 0], [8, 8], valid_shape=[2, 3])
        return pl.store(pl.fillpad(x, pad_value=pl.PadValue.max), [0, 0], out)
    """)
    expected = np.full((8, 8), np.inf, np.float32)
    expected[:2, :3] = A[:2, :3]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("window", "what"),
    [("pl.load(a, [row, 0], [8, 8])", "load window"), ("pl.load(a, [0, 0], [8, 8], valid_shape=[row, 8])", "valid"),
     ("pl.load(a, [0, 0], [8, 8])[row : row + 8, 0:8]", "slice window")],
)
def test_leaving_a_tensor_or_tile_is_no_defined_behaviour(window: str, what: str) -> None:
    params = PARAMS.replace(",\n", ",\nrow: pl.Scalar[pl.INDEX],\n")
    body = f"x = {window}\nreturn pl.store(x, [0, 0], out)"
    with pytest.raises(Undefined, match=what):
        run(params, body, a=A, row=9, out=ZERO)


def test_slices_and_assembles() -> None:
    got = stored("""
        x = pl.load(a, [0, 0], [8, 8])
        base = pl.mul(x, 0.0)
        return pl.store(pl.assemble(base, pl.add(x[2:4, 0:8], 0.0), [5, 0]), [0, 0], out)
    """)
    expected = ZERO.copy()
    expected[5:7] = A[2:4]
    np.testing.assert_array_equal(got, expected)


def test_reshape_keeps_row_major_order_and_transpose_swaps() -> None:
    # derivation: element (r, c) of 8x8 is number 8r + c, so row r of 4x16 holds 16r..16r+15
    flat = unary("pl.reshape(x, [4, 16])", A, out_shape=(4, 16))
    np.testing.assert_array_equal(flat, np.arange(64).reshape(4, 16))
    np.testing.assert_array_equal(unary("pl.transpose(x, axis1=0, axis2=1)", A), A.T)


def test_a_scalar_write_changes_one_element_of_the_very_tile() -> None:
    got = stored("""
        x = pl.load(a, [0, 0], [8, 8])
        pl.tile.write(x, [1, 2], pl.tile.read(x, [0, 3]))
        return pl.store(x, [0, 0], out)
    """)
    expected = A.copy()
    expected[1, 2] = 3.0
    np.testing.assert_array_equal(got, expected)


def test_an_atomic_store_adds() -> None:
    got = run(PARAMS, """
        x = pl.load(a, [0, 0], [8, 8])
        return pl.store(x, [0, 0], out, atomic=pl.AtomicType.Add)
    """, a=A, out=A)["out"]
    np.testing.assert_array_equal(got, 2 * A)


def test_makers() -> None:
    params = tensor("out", (8, 8), "INT32", out=True)
    zero = np.zeros((8, 8), np.int32)
    # derivation: ones where column <= row - 1; the ramp counts 5, 4, 3, ...
    lower = run(params, "return pl.store(pl.tile.tri(-1, [8, 8], dtype=pl.INT32), [0, 0], out)", out=zero)["out"]
    assert lower[:3, :3].tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    ramp = run(params, "return pl.store(pl.tile.ci(5, [1, 8], dtype=pl.INT32, descending=True), [0, 0], out)", out=zero)
    assert ramp["out"][0].tolist() == [5, 4, 3, 2, 1, 0, -1, -2]
