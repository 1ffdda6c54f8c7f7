"""Places in global memory that only a run knows: whether two are one is no reason to stop."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.simulator import schedule
from pypto_verified.sync import insert_sync
from pypto_verified.targets import target
from tests.sync.judged import sync_ops, verdicts
from tests.verifiers.kernels import alloc, kernel, load, store, tile, window

VEC = tile()


def copied(pointer: str, width: str) -> str:
    """Stores a tile at the start of %p and loads one from a view of another pointer or pitch."""
    return kernel("\n".join((
        alloc("a", VEC), alloc("b", VEC, 8192), "%far = pto.addptr %p, %n : !pto.ptr<f32> -> !pto.ptr<f32>",
        "%pv = pto.make_tensor_view %p, shape = [%c32, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>",
        f"%qv = pto.make_tensor_view %{pointer}, shape = [%c32, %c64], strides = [%{width}, %c1] : "
        "!pto.tensor_view<?x?xf32>",
        window("w", "pv", "%c0, %c0", "%c32, %c64", "32x64"), window("v", "qv", "%c0, %c0", "%c32, %c64", "32x64"),
        load("w", "a", VEC, "32x64"), store("a", "w", VEC, "32x64"), load("v", "b", VEC, "32x64"))),
        "%n: index, %pitch: index")


@pytest.mark.requirement("EV-07")
@pytest.mark.parametrize(("pointer", "width"), [("far", "c64"), ("p", "pitch"), ("far", "pitch"), ("p", "c64")])
def test_what_may_be_one_place_is_ordered(pointer: str, width: str) -> None:
    made = insert_sync(read(copied(pointer, width), "k.pto"), target("a2a3"))
    pairs = {(str(op.attrs["src_pipe"]), str(op.attrs["dst_pipe"])) for op in sync_ops(made) if "set_flag" in op.name}
    assert any("MTE3" in a and "MTE2" in b for a, b in pairs)
    assert verdicts(made, "a2a3") == {"PROVED"}
    assert schedule.replay(made, "k", {"n": 64, "pitch": 64}, target("a2a3")).races == []
