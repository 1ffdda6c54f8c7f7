"""Loops, branches and scalars of the interpreter, before the passes and with carried values."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.interpreter import Undefined
from tests.interpreter.kernels import run, tensor

X = np.arange(64, dtype=np.float32).reshape(1, 64)
PARAMS = ",\n".join([tensor("a", (1, 64)), "n: pl.Scalar[pl.INDEX]", tensor("out", (1, 64), out=True)])


def result(body: str, n: int) -> np.typing.NDArray[np.generic]:
    """`out` of a kernel over `a` = 0..63 and `n`."""
    return run(PARAMS, "x = pl.load(a, [0, 0], [1, 64])\n" + body, a=X, n=n, out=0 * X)["out"]


@pytest.mark.parametrize("n", [0, 1, 5])
def test_two_carried_tiles_trade_places(n: int) -> None:
    body = """
y = pl.add(x, 1.0)
for i, (p, q) in pl.range(n, init_values=(x, y)):
    s = pl.add(p, q)
    p, q = pl.yield_(q, s)
return pl.store(p, [0, 0], out)
"""
    p, q = X, X + 1
    for _ in range(n):
        p, q = q, p + q
    np.testing.assert_array_equal(result(body, n), p)


def test_continue_and_break_end_a_trip() -> None:
    body = """
for i in pl.range(8):
    if i % 2 == 1:
        continue
    x = pl.add(x, 1.0)
return pl.store(x, [0, 0], out)
"""
    # derivation: trips 0, 2, 4, 6
    np.testing.assert_array_equal(result(body, 0), X + 4)


def test_a_branch_takes_one_side() -> None:
    body = """
if n > 2:
    y = pl.add(x, 10.0)
else:
    y = pl.neg(x)
return pl.store(y, [0, 0], out)
"""
    np.testing.assert_array_equal(result(body, 3), X + 10)
    np.testing.assert_array_equal(result(body, 2), -X)


def test_a_loop_without_end_is_reported() -> None:
    body = """
k = n
while k >= 0:
    x = pl.add(x, 1.0)
    k = k + 1
return pl.store(x, [0, 0], out)
"""
    with pytest.raises(Undefined, match="no end after"):
        result(body, 0)


@pytest.mark.parametrize(("a", "b"), [(7, 2), (-7, 2), (7, -2)])
def test_scalar_division_floors(a: int, b: int) -> None:
    params = ",\n".join(["n: pl.Scalar[pl.INDEX]", "m: pl.Scalar[pl.INDEX]", tensor("out", (1, 8), "INT32", out=True)])
    body = "return pl.store(pl.tile.ci(pl.cast(n // m * 100 + n % m, pl.INT32), [1, 8], dtype=pl.INT32), [0, 0], out)"
    got = run(params, body, n=a, m=b, out=np.zeros((1, 8), np.int32))["out"]
    assert got[0, 0] == a // b * 100 + a % b
