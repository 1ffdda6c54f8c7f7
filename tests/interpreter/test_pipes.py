"""One end of a cube-vector pipe: what arrives is given, what leaves is shown."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.differential import compare
from pypto_verified.dtypes import DType
from pypto_verified.interpreter import Pipes, Poisoned, Undefined, interpret
from pypto_verified.targets import target
from tests.interpreter.kernels import Array, tensor
from tests.passes.build import kernel

PARAMS = ",\n".join([tensor("a", (16, 64)), "rows: pl.Scalar[pl.INDEX]", tensor("out", (16, 64), out=True)])
CONSUMER = """
    ring = pl.reserve_buffer(name="ring", size=32768, base=0)
    pl.aiv_initialize_pipe(ring, pl.const(0, pl.INT32), dir_mask=1, slot_size=4096)
    x = pl.load(a, [0, 0], [16, 64])
    v: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[rows, 64])] = pl.tpop_from_aic(split=0)
    y = pl.add(v, pl.set_validshape(x, rows, 64))
    pl.tfree_to_aic(v)
    return pl.store(y, [0, 0], out)
"""
X = np.arange(1024, dtype=np.float32).reshape(16, 64)


def _sevens(extents: tuple[int, ...], dtype: DType) -> Array:
    assert dtype.name == "FP32"
    return np.full(extents, 7, np.float32)


def test_a_popped_tile_is_what_arrives() -> None:
    got = interpret(kernel(PARAMS, CONSUMER), {"a": X, "rows": 3, "out": 0 * X}, pipes=Pipes(_sevens))["out"]
    np.testing.assert_array_equal(got, np.concatenate([X[:3] + 7, np.zeros((13, 64))]))


def test_more_rows_than_the_tile_has_can_not_arrive() -> None:
    with pytest.raises(Undefined, match=r"valid shape \(17, 64\) is not within the tile \(16, 64\)"):
        interpret(kernel(PARAMS, CONSUMER), {"a": X, "rows": 17, "out": 0 * X}, pipes=Pipes(_sevens))


PRODUCER = """
    x = pl.load(a, [0, 0], [16, 64], valid_shape=[rows, 64])
    y = pl.mul(x, 2.0)
    pl.tpush_to_aic({pushed}, split=0)
    return pl.store(y, [0, 0], out)
"""


def test_a_pushed_tile_leaves_with_its_valid_region() -> None:
    pipes = Pipes(_sevens)
    interpret(kernel(PARAMS, PRODUCER.format(pushed="y")), {"a": X, "rows": 5, "out": 0 * X}, pipes=pipes)
    (left,) = pipes.left
    np.testing.assert_array_equal(left, 2 * X[:5])


def test_an_undefined_element_may_not_leave() -> None:
    function = kernel(PARAMS, PRODUCER.format(pushed="pl.set_validshape(y, 16, 64)"))
    with pytest.raises(Poisoned, match=r"tile\.tpush_to_aic: pushes an element that has no defined value at element"):
        interpret(function, {"a": X, "rows": 5, "out": 0 * X}, pipes=Pipes(_sevens))


def test_both_meanings_of_a_consumer_agree() -> None:
    found = compare(kernel(PARAMS, CONSUMER), target("a5"))
    assert found.difference is None, str(found.difference)
    assert found.telling > 0
