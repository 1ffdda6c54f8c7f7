"""Reading the assembler's C++: addresses and flags of a kernel whose `.pto` has neither."""

from __future__ import annotations

import pytest

from benchmarks.assembled import placed, with_sync
from pypto_verified.errors import NotModelled
from pypto_verified.pto import reader, writer
from pypto_verified.pto.module import Module
from pypto_verified.pto.walk import walk_ops
from tests.sync.judged import verdicts
from tests.sync.programs import kinds

TILE = ("!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=8, v_row=8, v_col=8, blayout=row_major, slayout=none_box, "
        "fractal=512, pad=0>")
SHORT = "!pto.tile_buf<vec, 8x8xf32>"
PART = "!pto.partition_tensor_view<8x8xf32>"


def module(address: str = "") -> Module:
    """Loads a tile, doubles it in one arm of a branch and stores it."""
    return reader.read(f"""
module attributes {{pto.target_arch = "a2a3"}} {{
func.func @k(%a: !pto.ptr<f32>, %n: index) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %at = arith.constant 512 : i64
  %v = pto.make_tensor_view %a, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  %w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<?x?xf32> -> {PART}
  %x = pto.alloc_tile{address} : {TILE}
  pto.tload ins(%w : {PART}) outs(%x : {TILE})
  %q = arith.cmpi slt, %c0, %n : index
  scf.if %q {{
    pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%x : {TILE})
  }}
  pto.tstore ins(%x : {TILE}) outs(%w : {PART})
  return
}}
}}
""")


def cpp(at: int = 256, wait: str = "wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);", op: str = "TADD") -> str:
    return f"""
AICORE void k(__gm__ float* v1, int64_t v2) {{
  #if defined(__DAV_VEC__)
  const int64_t v3 = {at};
  // pto: %x
  Tile<TileType::Vec, float, 8, 8> v4 = Tile<TileType::Vec, float, 8, 8>();
  // pto: %x
  uint64_t v5 = (uint64_t) v3;
  TASSIGN(v4, v5);
  TLOAD(v4, v6);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  if (v2 > v7) {{
    {op}(v4, v4, v4);
  }};
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  {wait}
  TSTORE(v8, v4);
  #endif // __DAV_VEC__

  ptoas_auto_sync_tail(PTOAutoSyncTailMode::kBarrierAll);
  return;
}}
"""


def addresses(made: Module) -> list[object]:
    ops = [op for func in made.funcs for op in walk_ops(func)]
    constants = {op.result: op.attrs["value"] for op in ops if op.name == "arith.constant"}
    return [constants[op.arg("addr")] for op in ops if op.name == "pto.alloc_tile"]


def test_tiles_are_put_where_the_cpp_has_them() -> None:
    assert addresses(placed(module(), cpp(at=256))) == [256]


def test_another_plan_of_the_memory_is_not_compared() -> None:
    assert addresses(placed(module(" addr = %at"), cpp(at=512))) == [512]
    with pytest.raises(NotModelled, match="%x at 256"):
        placed(module(" addr = %at"), cpp(at=256))


def test_flags_stand_where_the_cpp_has_them() -> None:
    made = with_sync(placed(module(), cpp()), cpp())
    assert kinds(made) == ["tload", "MTE2>V 0", "~MTE2>V 0", "scf.if", "tadd", "V>MTE3 0", "~V>MTE3 0", "tstore"]


@pytest.mark.parametrize(("wait", "expected"), [
    ("wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);", False), ("wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);", True)])
def test_they_are_judged_as_they_are(wait: str, expected: bool) -> None:
    text = cpp(wait=wait)
    made = reader.read(writer.write(with_sync(placed(module(), text), text)))
    assert ("REFUTED" in verdicts(made, "a2a3")) is expected


def test_a_cpp_of_other_ops_is_not_compared() -> None:
    with pytest.raises(NotModelled, match="tadd where the C\\+\\+ has TMUL"):
        with_sync(module(), cpp(op="TMUL"))


@pytest.mark.parametrize(("between", "expected"), [("", "REFUTED"), ("pipe_barrier(PIPE_V);", "PROVED")])
def test_an_op_that_the_cpp_does_in_two_steps_is_judged_as_two(between: str, expected: str) -> None:
    """The second reads what the first has written, and a2a3 wants a barrier of V for that."""
    text = cpp().replace("TADD(v4, v4, v4);", f"TADD(v4, v4, v4);\n    {between}\n    TADD(v4, v4, v4);")
    whole = writer.write(placed(module(), text))
    three = whole.replace("pto.tadd ins(%x, %x : ", f"pto.taddc ins(%x, %x, %x : {SHORT}, ")
    made = reader.read(writer.write(with_sync(reader.read(three), text)))
    assert kinds(made).count("tadd") == 2
    assert expected in verdicts(made, "a2a3") <= {expected, "PROVED"}
