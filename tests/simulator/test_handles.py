"""Handles that are made, asked and moved at run time; regions that hand values out; ops for people who debug."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.simulator import Outcome, compile, execute
from pypto_verified.targets import target
from tests.simulator.text import ramp, zeros

ROWS = ("!pto.tile_buf<loc=vec, dtype=f32, rows=4, cols=8, v_row=?, v_col=?, blayout=row_major, slayout=none_box, "
        "fractal=512, pad=0>")
FIXED = ROWS.replace("v_row=?, v_col=?", "v_row=4, v_col=8")
PART = "!pto.partition_tensor_view<4x8xf32>"


def run(lines: str) -> Outcome:
    """A kernel over `a` (4 x 8 f32: 0, 1, 2 ...) and `out` (four i32)."""
    text = f"""module {{
  func.func @kernel(%a: !pto.ptr<f32>, %out: !pto.ptr<i32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %at0 = arith.constant 0 : i64
  %at512 = arith.constant 512 : i64
  %v = pto.make_tensor_view %a, shape = [%c4, %c8], strides = [%c8, %c1] {{layout = #pto.layout<nd>}}
    : !pto.tensor_view<?x?xf32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c4, %c8] : !pto.tensor_view<?x?xf32> -> {PART}
{lines}
  return
  }}
}}
"""
    func = read(text, "kernel.pto").funcs[0]
    return execute(compile(func, target("a2a3")), {"a": ramp(4, 8), "out": zeros(1, 4, np.int32)}, {})


def numbers(*names: str) -> str:
    """Stores index values, one after the other."""
    return "\n".join(f"  %n{i} = arith.index_cast %{n} : index to i32\n"
                     f"  pto.store_scalar %n{i}, %out[%c{i}] : !pto.ptr<i32>, i32" for i, n in enumerate(names))


def test_valid_extents_are_read_as_they_were_set() -> None:
    found = run(f"""  %x = pto.alloc_tile addr = %at0 valid_row = %c3 valid_col = %c8 : {ROWS}
  %r, %c = pto.get_validshape %x : {ROWS}
  pto.set_validshape %x, %c2, %c1 : {ROWS}
  %s, %d = pto.get_validshape %x : {ROWS}
{numbers("r", "c", "s", "d")}""")
    assert found.errors == [] and found.outputs["out"].tolist() == [[3, 8, 2, 1]]


def test_a_declared_tile_gets_its_bytes_by_assignment() -> None:
    found = run(f"""  %x = pto.alloc_tile addr = %at512 : {FIXED}
  pto.tload ins(%p : {PART}) outs(%x : {FIXED})
  %d = pto.declare_tile -> {FIXED}
  %y = pto.tassign %d, %at512 : {FIXED} -> {FIXED}
  %e = pto.tgetval ins(%y, %c3 : {FIXED}, index) outs : f32
  %i = arith.fptosi %e : f32 to i32
  pto.store_scalar %i, %out[%c0] : !pto.ptr<i32>, i32""")
    assert found.errors == [] and found.outputs["out"][0, 0] == 3


@pytest.mark.parametrize(("address", "kind"), [(8, "alignment"), (1 << 20, "capacity")])
def test_an_assigned_address_is_checked(address: int, kind: str) -> None:
    found = run(f"""  %d = pto.declare_tile -> {FIXED}
  %far = arith.constant {address} : i64
  %y = pto.tassign %d, %far : {FIXED} -> {FIXED}""")
    assert [e.kind for e in found.errors] == [kind]


def test_a_pointer_to_other_elements_has_the_same_address() -> None:
    found = run("""  %q = pto.addptr %a, %c2 : !pto.ptr<f32> -> !pto.ptr<f32>
  %w = pto.castptr %q : !pto.ptr<f32> -> !pto.ptr<i32>
  %i = pto.load_scalar %w[%c1] : !pto.ptr<i32> -> i32
  pto.store_scalar %i, %out[%c0] : !pto.ptr<i32>, i32""")
    assert found.errors == [] and found.outputs["out"][0, :1].view(np.float32)[0] == 3.0


def test_event_ids_are_kept_in_an_array() -> None:
    array = "!pto.eventid_array<2>"
    text = f"""  %ids = pto.declare_eventid_array -> {array}
  pto.eventid_array_set %ids[%c0], %c3 : {array}
  pto.eventid_array_set %ids[%c1], %c4 : {array}
  %i = pto.eventid_array_get %ids[%c0] : {array}
  %j = pto.eventid_array_get %ids[%c1] : {array}
{numbers("i", "j")}"""
    found = run(text)
    assert found.errors == [] and found.outputs["out"][0, :2].tolist() == [3, 4]
    assert [e.kind for e in run(text.replace("set %ids[%c1]", "set %ids[%c2]")).errors] == ["local bounds"]


def test_a_fusion_region_hands_its_values_out() -> None:
    found = run(f"""  %i, %j = pto.fusion_region {{
    %s = arith.addi %c3, %c4 : index
    %t = arith.muli %c3, %c4 : index
    pto.yield(%s, %t) : (index, index) -> ()
  }} : index, index
{numbers("i", "j")}""")
    assert found.errors == [] and found.outputs["out"][0, :2].tolist() == [7, 12]


def test_printing_changes_nothing_and_a_trap_ends_the_program() -> None:
    shown = f"""  %x = pto.alloc_tile addr = %at0 : {FIXED}
  pto.tload ins(%p : {PART}) outs(%x : {FIXED})
  pto.tprint ins(%x : {FIXED})
  pto.print ins("%d", %c3 : index)
{numbers("c3")}"""
    found = run(shown)
    assert found.errors == [] and found.outputs["out"][0, 0] == 3
    found = run(f"  pto.trap\n{shown}")
    assert [e.kind for e in found.errors] == ["trap"] and found.stopped and not found.outputs["out"].any()
