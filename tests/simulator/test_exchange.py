"""Transfers between devices and their signals: what one device's program does to the memories that it is given."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.simulator import compile, execute
from pypto_verified.simulator.values import Array
from pypto_verified.targets import target
from tests.simulator.text import ramp, zeros

VIEW = "!pto.partition_tensor_view<4x8xf32>"
WORD = "!pto.partition_tensor_view<1x1xi32>"
STAGE = ("!pto.tile_buf<loc=vec, dtype=f32, rows=4, cols=8, v_row=4, v_col=8, blayout=row_major, slayout=none_box, "
         "fractal=512, pad=0>")


def run(lines: str, lone: bool = False, **tensors: Array) -> tuple[dict[str, Array], list[str]]:
    """Outputs and kinds of faults of a kernel over `mine`, `peer` (4 x 8 f32) and `signal` (one i32)."""
    views = "\n".join(
        f"  %{n}_v = pto.make_tensor_view %{n}, shape = [{dims}], strides = [%{steps}, %c1] "
        f"{{layout = #pto.layout<nd>}} : !pto.tensor_view<?x?x{kind}>\n"
        f"  %{n}_p = pto.partition_view %{n}_v, offsets = [%c0, %c0], sizes = [{dims}] : "
        f"!pto.tensor_view<?x?x{kind}> -> {part}"
        for n, dims, steps, kind, part in (
            ("mine", "%c4, %c8", "c8", "f32", VIEW), ("peer", "%c4, %c8", "c8", "f32", VIEW),
            ("signal", "%c1, %c1", "c1", "i32", WORD),
        )
    )
    text = f"""module {{
  func.func @kernel(%mine: !pto.ptr<f32>, %peer: !pto.ptr<f32>, %signal: !pto.ptr<i32>, %work: !pto.ptr<i8>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c0_i64 = arith.constant 0 : i64
  %five = arith.constant 5 : i32
{views}
  %stage = pto.alloc_tile addr = %c0_i64 : {STAGE}
{lines}
  return
  }}
}}
"""
    given = {"mine": ramp(4, 8), "peer": zeros(4, 8), "signal": zeros(1, 1, np.int32), "work": zeros(1, 8, np.int8)}
    program = compile(read(text, "kernel.pto").funcs[0], target("a5"), lone=lone)
    outcome = execute(program, {**given, **tensors}, {})
    return outcome.outputs, [e.kind for e in outcome.errors]


def put(op: str, attrs: str = "") -> str:
    a, b = ("%peer_p", "%mine_p") if "put" in op else ("%mine_p", "%peer_p")
    return f"  pto.comm.{op}({a}, {b}, buf(%stage) : {VIEW}, {VIEW}, {STAGE}) {attrs}"


def test_put_and_get_copy_a_window() -> None:
    outputs, faults = run(put("tput"))
    assert faults == [] and np.array_equal(outputs["peer"], ramp(4, 8))
    outputs, faults = run(put("tget"))
    assert faults == [] and not outputs["mine"].any()


def test_an_atomic_put_adds() -> None:
    add = "{atomicType = #pto<atomic_type atomic_add>}"
    outputs, _ = run(put("tput", add), peer=np.full((4, 8), 2, np.float32))
    assert np.array_equal(outputs["peer"], ramp(4, 8) + 2)


def test_the_staging_tile_is_lost() -> None:
    fill = f"  %one = arith.constant 1.0 : f32\n  pto.texpands ins(%one : f32) outs(%stage : {STAGE})"
    store = f"  pto.tstore ins(%stage : {STAGE}) outs(%mine_p : {VIEW})"
    assert run(f"{fill}\n{store}")[1] == []
    for op in ("tput", "tget"):
        assert run(f"{fill}\n{put(op)}\n{store}")[1] == ["uninitialised"]


@pytest.mark.parametrize(("op", "expected"), [("atomic_add", 12), ("set", 5)])
def test_notify(op: str, expected: int) -> None:
    line = f"  pto.comm.tnotify(%signal_p, %five : {WORD}, i32) {{notifyOp = #pto<notify_op {op}>}}"
    outputs, faults = run(line, signal=np.full((1, 1), 7, np.int32))
    assert faults == [] and outputs["signal"].item() == expected


@pytest.mark.parametrize(
    ("compare", "held"),
    # of 4, 5, 6 with 5
    [("eq", "010"), ("ne", "101"), ("lt", "100"), ("le", "110"), ("gt", "001"), ("ge", "011")],
)
def test_a_test_and_a_wait_compare_the_signal(compare: str, held: str) -> None:
    ask = (f"  %holds = pto.comm.ttest(%signal_p, %five : {WORD}, i32) {{cmp = #pto<wait_cmp {compare}>}} -> i1\n"
           f"  %number = arith.extui %holds : i1 to i32\n  pto.store_scalar %number, %signal[%c0] : !pto.ptr<i32>, i32")
    wait = f"  pto.comm.twait(%signal_p, %five : {WORD}, i32) {{cmp = #pto<wait_cmp {compare}>}}"
    for value, expected in zip((4, 5, 6), held, strict=True):
        signal = np.full((1, 1), value, np.int32)
        assert run(ask, signal=signal)[0]["signal"].item() == int(expected)
        assert run(wait, signal=signal)[1] == ([] if expected == "1" else ["not modelled"])
        assert run(wait, lone=True, signal=signal)[1] == []


def test_asynchronous_transfers_have_ended_when_they_are_asked_for() -> None:
    lines = f"""  %session = pto.comm.build_async_session(%stage, %work : {STAGE}, !pto.ptr<i8>) -> !pto.async_session
  %event = pto.comm.tput_async(%peer_p, %mine_p, %session : {VIEW}, {VIEW}, !pto.async_session) -> !pto.async_event
  %done = pto.comm.wait_async_event(%event, %session : !pto.async_event, !pto.async_session) -> i1
  %number = arith.extui %done : i1 to i32
  pto.store_scalar %number, %signal[%c0] : !pto.ptr<i32>, i32"""
    outputs, faults = run(lines)
    assert faults == [] and np.array_equal(outputs["peer"], ramp(4, 8)) and outputs["signal"].item() == 1
    outputs, _ = run(lines.replace("tput_async(%peer_p, %mine_p", "tget_async(%mine_p, %peer_p")
                     .replace("wait_async", "test_async"))
    assert not outputs["mine"].any() and outputs["signal"].item() == 1


def test_a_prefetch_changes_nothing_but_must_find_its_window() -> None:
    lines = f"""  %ctx = pto.make_prefetch_async_context(%work : !pto.ptr<i8>) -> !pto.prefetch_async_context
  %event = pto.tprefetch_async(%mine_p, %ctx : {VIEW}, !pto.prefetch_async_context) -> !pto.async_event
  %session = pto.get_prefetch_async_session %ctx : !pto.prefetch_async_context -> !pto.async_session
  %done = pto.comm.wait_async_event(%event, %session : !pto.async_event, !pto.async_session) -> i1"""
    outputs, faults = run(lines)
    assert faults == [] and np.array_equal(outputs["mine"], ramp(4, 8))
    assert run(lines, mine=ramp(2, 8))[1] == ["global bounds"]
    through = f"  pto.tprefetch ins(%mine_p : {VIEW}) outs(%stage : {STAGE})"
    store = f"  pto.tstore ins(%stage : {STAGE}) outs(%mine_p : {VIEW})"
    assert run(through)[1] == [] and run(f"{through}\n{store}")[1] == ["uninitialised"]


def test_windows_of_a_transfer_are_equal() -> None:
    half = (f"  %half = pto.partition_view %mine_v, offsets = [%c0, %c0], sizes = [%c1, %c8] : "
            f"!pto.tensor_view<?x?xf32> -> {VIEW}\n")
    assert run(half + put("tput").replace("%mine_p", "%half"))[1] == ["shape"]
