"""A core that runs without its partner: pipes have no meaning in a run, and arbitrary contents in a replay."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.simulator import confirm, replay, run, schedule
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.targets import target
from tests.simulator.text import zeros

A5 = target("a5")

VECTOR = """
module {
  func.func @vector_side(%out: !pto.ptr<f32>, %m: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0 : i32
    %buffer = pto.reserve_buffer {name = "ring", size = 2048, location = #pto.address_space<vec>, auto = false,
      base = 0} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2} (c2v_consumer_buf = %buffer : i32,
      v2c_consumer_buf = %zero : i32)
    %view = pto.make_tensor_view %out, shape = [%m, %c16], strides = [%c16, %c1] {layout = #pto.layout<nd>}
      : !pto.tensor_view<?x?xf32>
    %part = pto.partition_view %view, offsets = [%c0, %c0], sizes = [%c16, %c16]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
    %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
    pto.tstore ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%part : !pto.partition_tensor_view<16x16xf32>)
    pto.tfree_from_aic {split = 0}
    return
  }
}
"""
FUNC = read(VECTOR).funcs[0]


def test_a_run_does_not_invent_the_partners_data() -> None:
    (error,) = run(FUNC, {"out": zeros(16, 16)}, {"m": 16}, A5).errors
    assert isinstance(error, UnmodelledError)
    assert error.op == "pto.reserve_buffer"


def test_a_replay_reaches_faults_behind_a_pop() -> None:
    assert confirm(FUNC, "BOUND-UPPER", {"m": 15}, A5).startswith("confirmed: global bounds")
    assert replay(FUNC, {"m": 16}, A5).errors == []


def test_replays_of_one_seed_agree() -> None:
    first, second = (replay(FUNC, {"m": 16}, A5).outputs["out"] for _ in range(2))
    assert (first == second).all()
    assert (first != 0).any()


@pytest.mark.parametrize("dtype", [np.int32, np.int16, np.uint8, np.float32, np.float16])
@pytest.mark.parametrize("timed", [False, True])
def test_an_absent_partner_sends_the_same_numbers_in_every_run(dtype: type[np.generic], timed: bool) -> None:
    """Small ones where they are integers: sums of some still fit their type."""
    kind = np.dtype(dtype)
    name = {"f": "f", "i": "si", "u": "ui"}[kind.kind] + str(8 * kind.itemsize)
    module = read(VECTOR.replace("xf32", f"x{name}").replace("ptr<f32>", f"ptr<{name}>"))

    def sent() -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
        out = np.zeros((16, 16), kind)
        if timed:
            return schedule.run(module, A5, {"out": out}, {"m": 16}).outputs["out"]
        return replay(module.funcs[0], {"m": 16}, A5).outputs["out"]

    first = sent()
    assert first.dtype == kind and (first == sent()).all()
    assert len(np.unique(first)) > 4
    if kind.kind != "f":
        assert first.min() >= 0 and first.max() <= 7
