"""Control flow, handles, launches, faults with their places, replay."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.errors import InputError
from pypto_verified.layouts import Space
from pypto_verified.pto.module import Op
from pypto_verified.pto.reader import read
from pypto_verified.pto.rows import TABLE
from pypto_verified.simulator import compile, confirm, execute, replay, replay_overlap, run, run_grid
from pypto_verified.simulator.errors import (
    AlignmentError,
    CapacityError,
    ConflictError,
    GlobalBoundsError,
    LocalBoundsError,
    ShapeError,
    SimError,
    StepLimitError,
    UninitialisedError,
    UnmodelledError,
)
from pypto_verified.simulator.meanings import MEANINGS
from pypto_verified.simulator.memory import Access
from pypto_verified.simulator.values import Array
from pypto_verified.targets import target
from tests.simulator.text import Kernel, ramp, zeros

A2A3 = target("a2a3")


def the_error(k: Kernel, **tensors: Array) -> SimError:
    """The one fault of a run on a2a3."""
    (error,) = execute(compile(k.func, A2A3), tensors, {}).errors
    return error


def test_every_meaning_names_operands_of_its_row() -> None:
    for name, meaning in MEANINGS.items():
        groups = {g.rstrip("*") for g in meaning.groups}
        declared = {o.name for o in TABLE[name].operands}
        # a kernel with every op's optional scratch: handlers of one family share a signature
        assert groups - {"tmp"} <= declared, name
        required = {o.name for o in TABLE[name].operands if not o.optional and not o.variadic}
        assert required <= groups, name


LOOP = """
module {
  func.func @sum(%out: !pto.ptr<i32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0 : i32
    %big = arith.constant 2147483647 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (i32) {
      %i32 = arith.index_cast %i : index to i32
      %even = arith.remsi %i, %two : index
      %is = arith.cmpi eq, %even, %c0 : index
      %t = scf.if %is -> (i32) {
        %u = arith.addi %s, %i32 : i32
        scf.yield %u : i32
      } else {
        scf.yield %s : i32
      }
      scf.yield %t : i32
    }
    pto.store_scalar %r, %out[%c0] : !pto.ptr<i32>, i32
    %w = scf.while (%k = %c1) : (index) -> (index) {
      %more = arith.cmpi slt, %k, %n : index
      scf.condition(%more) %k : index
    } do {
    ^bb0(%k2: index):
      %d = arith.addi %k2, %k2 : index
      scf.yield %d : index
    }
    %w32 = arith.index_cast %w : index to i32
    pto.store_scalar %w32, %out[%c1] : !pto.ptr<i32>, i32
    %o = arith.addi %big, %big : i32
    pto.store_scalar %o, %out[%two] : !pto.ptr<i32>, i32
    return
  }
}
""".replace("%z = arith", "%two = arith.constant 2 : index\n    %z = arith")


def test_loops_branches_and_integers_of_their_width() -> None:
    func = read(LOOP).funcs[0]
    got = run(func, {"out": zeros(1, 3, np.int32)}, {"n": 10}, A2A3).outputs["out"][0].tolist()
    # 0+2+4+6+8; the first power of two that is not below 10; 2 * (2**31 - 1) wraps to -2.
    assert got == [20, 16, -2]
    assert run(func, {"out": zeros(1, 3, np.int32)}, {"n": 0}, A2A3).outputs["out"][0].tolist() == [0, 1, -2]


def test_endless_work_is_cut_off() -> None:
    (error,) = run(read(LOOP).funcs[0], {0: zeros(1, 3, np.int32)}, {1: 10**9}, A2A3, max_steps=1000).errors
    assert isinstance(error, StepLimitError)


def test_missing_arguments_are_named() -> None:
    with pytest.raises(InputError, match="argument 1, %n"):
        run(read(LOOP).funcs[0], {"out": zeros(1, 3, np.int32)}, {}, A2A3)


def test_capacity_and_alignment() -> None:
    k = Kernel()
    k.tile("x", "f32", 64, 64, addr=184 * 1024)
    assert isinstance(the_error(k), CapacityError)
    k = Kernel()
    k.tile("x", "f32", 8, 8, addr=16)
    error = the_error(k)
    assert isinstance(error, AlignmentError)
    assert (error.place.name, error.place.address) == ("x", 16)


def test_global_bounds_name_the_first_row_outside() -> None:
    k = Kernel()
    a, x = k.tensor("a", "f32", 60, 8, (48, 0, 16, 8)), k.tile("x", "f32", 16, 8)
    k.load(a, x)
    error = the_error(k, a=ramp(60, 8))
    assert isinstance(error, GlobalBoundsError)
    assert "row 60 of 60: the window covers 48..63" in str(error)
    assert (error.op, error.location.file, error.line > 0) == ("pto.tload", "", True)


def test_a_view_larger_than_its_buffer_is_a_fault() -> None:
    k = Kernel()
    a, x = k.tensor("a", "f32", 16, 8), k.tile("x", "f32", 16, 8)
    k.load(a, x)
    error = the_error(k, a=ramp(15, 8))
    assert isinstance(error, GlobalBoundsError)
    assert "buffer of 480 bytes" in str(error)


def subviewed(row: int) -> Kernel:
    k = Kernel()
    a, x, y = k.tensor("a", "f32", 32, 16), k.tile("x", "f32", 32, 16), k.tile("y", "f32", 8, 16)
    k.load(a, x)
    view = k.types[x].replace("rows=32", "rows=8").replace("v_row=?, v_col=?", "v_row=8, v_col=16")
    k.types["v"] = view
    k.line(f"%v = pto.subview %x[{k.number(row)}, {k.number(0)}] sizes [8, 16] : {k.types[x]} -> {view}")
    k.op("tneg", "v", y)
    k.store(y, k.tensor("out", "f32", 8, 16))
    return k


def test_a_subview_keeps_its_parents_pitch_and_place() -> None:
    got = subviewed(5).result("a2a3", "out", a=ramp(32, 16), out=zeros(8, 16))
    np.testing.assert_array_equal(got, -ramp(32, 16)[5:13])


def test_a_subview_must_stay_inside_its_parent() -> None:
    error = the_error(subviewed(25), a=ramp(32, 16), out=zeros(8, 16))
    assert isinstance(error, LocalBoundsError)
    assert "rows 25..32" in str(error)


def test_valid_shapes_change_with_the_handle() -> None:
    k = Kernel({"n": "index"})
    a, out = k.tensor("a", "f32", 8, 8), k.tensor("out", "f32", 8, 8)
    x, y = k.tile("x", "f32", 8, 8), k.tile("y", "f32", 8, 8)
    k.load(a, x)
    k.op("tmuls", f"{x} c:1:i32", y)
    k.line(f"pto.set_validshape %y, %n, {k.number(8)} : {k.types[y]}")
    k.op("tmuls", f"{x} c:3:i32", y)
    k.line(f"pto.set_validshape %y, {k.number(8)}, {k.number(8)} : {k.types[y]}")
    k.store(y, out)
    expected = ramp(8, 8).copy()
    expected[:3] *= 3
    np.testing.assert_array_equal(k.result("a2a3", "out", {"n": 3}, a=ramp(8, 8), out=zeros(8, 8)), expected)
    outcome = k.run("a2a3", {"n": -1}, a=ramp(8, 8), out=zeros(8, 8))
    assert isinstance(outcome.errors[0], ShapeError)


def test_scalar_access_to_tiles_is_checked() -> None:
    k = Kernel()
    a, x = k.tensor("a", "f32", 2, 8), k.tile("x", "f32", 2, 8)
    k.load(a, x)
    k.line(f"%v = pto.tgetval ins(%x, {k.number(16)} : {k.types[x]}, index) outs : f32")
    assert isinstance(the_error(k, a=ramp(2, 8)), LocalBoundsError)


def test_ops_without_a_meaning_are_named_and_only_when_they_run() -> None:
    k = Kernel()
    x = k.tile("x", "i32", 1, 8)
    k.op("tquant.mx", x, f"{x} {x} {x} {x}", "{quant_type = #pto<quant_type MXFP8>}")
    error = the_error(k)
    assert isinstance(error, UnmodelledError)
    assert error.op == "pto.tquant.mx"
    assert confirm(k.func, "BOUND-UPPER", {}, A2A3).startswith("not run: ")


BLOCKS = """
module {{
  func.func @blocks(%out: !pto.ptr<f32>) {{
    %c0 = arith.constant 0 : i64
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %v = arith.constant 2.0 : f32
    %b = pto.get_block_idx
    %i = arith.index_cast %b : i64 to index
    %stride = arith.constant {stride} : index
    %row = arith.muli %i, %stride : index
    %view = pto.make_tensor_view %out, shape = [%c64, %c8], strides = [%c8, %c1] {{layout = #pto.layout<nd>}}
      : !pto.tensor_view<?x?xf32>
    %part = pto.partition_view %view, offsets = [%row, %z], sizes = [%c8, %c8]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x8xf32>
    %t = pto.alloc_tile addr = %c0 : !pto.tile_buf<vec, 8x8xf32>
    pto.texpands ins(%v : f32) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
    pto.tstore ins(%t : !pto.tile_buf<vec, 8x8xf32>) outs(%part : !pto.partition_tensor_view<8x8xf32>)
    return
  }}
}}
"""


def test_blocks_of_a_grid_write_their_own_rows() -> None:
    program = compile(read(BLOCKS.format(stride=8)).funcs[0], A2A3)
    outcome = run_grid(program, {"out": zeros(64, 8)}, {}, 4)
    assert outcome.errors == []
    assert (outcome.outputs["out"][:, 0] == 2.0).sum() == 32
    one = execute(program, {"out": zeros(64, 8)}, {}, block=(3, 4)).outputs["out"]
    assert np.flatnonzero(one[:, 0]).tolist() == list(range(24, 32))


def test_two_blocks_may_not_write_the_same_element() -> None:
    outcome = run_grid(compile(read(BLOCKS.format(stride=4)).funcs[0], A2A3), {"out": zeros(64, 8)}, {}, 2)
    (error,) = outcome.errors
    assert isinstance(error, ConflictError)
    assert "blocks 0 and 1" in str(error)


def test_two_blocks_may_not_store_the_same_scalar() -> None:
    text = """module {
  func.func @k(%out: !pto.ptr<i32>) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %v = arith.constant 7 : i32
    %b = pto.get_block_idx
    %i = arith.index_cast %b : i64 to index
    %at = arith.remsi %i, %c2 : index
    pto.store_scalar %v, %out[%at] : !pto.ptr<i32>, i32
    return
  }
}
"""
    program = compile(read(text).funcs[0], A2A3)
    assert run_grid(program, {"out": zeros(1, 2, np.int32)}, {}, 2).errors == []
    (error,) = run_grid(program, {"out": zeros(1, 2, np.int32)}, {}, 3).errors
    assert (error.kind, error.place.address) == ("conflicting writes", 0) and "blocks 0 and 2" in error.message


def test_a_bounds_witness_replays() -> None:
    k = Kernel({"m": "index"})
    a, x = k.tensor("a", "f32", "%m", 8, (48, 0, 16, 8)), k.tile("x", "f32", 16, 8)
    k.load(a, x)
    seen = confirm(k.func, "BOUND-UPPER", {"m": 60}, A2A3)
    assert seen.startswith("confirmed: global bounds")
    assert "row 60 of 60" in seen
    assert confirm(k.func, "BOUND-UPPER", {"m": 64}, A2A3).startswith("not observed")
    # a fault of another kind, or at another line, confirms nothing
    assert confirm(k.func, "INIT-READ", {"m": 60}, A2A3).startswith("not observed")
    assert confirm(k.func, "BOUND-UPPER", {"m": 60}, A2A3, line=1).startswith("not run: the inputs of this run")


def test_a_replay_goes_on_to_the_fault_that_is_meant() -> None:
    k = Kernel({"m": "index", "n": "index"})
    a, b = (k.tensor(t, "f32", f"%{d}", 8, (48, 0, 16, 8)) for t, d in (("a", "m"), ("b", "n")))
    k.load(a, k.tile("x", "f32", 16, 8))
    k.load(b, k.tile("y", "f32", 16, 8))
    first, second = (e.line for e in replay(k.func, {"m": 60, "n": 61}, A2A3).errors)
    assert "row 60 of 60" in confirm(k.func, "BOUND-UPPER", {"m": 60, "n": 61}, A2A3, line=first)
    assert "row 61 of 61" in confirm(k.func, "BOUND-UPPER", {"m": 60, "n": 61}, A2A3, line=second)
    # an extent that the witness leaves open is large enough
    assert len(replay(k.func, {"m": 60}, A2A3).errors) == 1


def test_a_witness_with_an_absurd_extent_is_not_run() -> None:
    k = Kernel({"m": "index"})
    a, x = k.tensor("a", "f32", "%m", 8, (0, 0, 16, 8)), k.tile("x", "f32", 16, 8)
    k.load(a, x)
    assert "not run" in confirm(k.func, "BOUND-UPPER", {"m": 10**15}, A2A3)


def test_an_uninitialised_read_replays() -> None:
    k = Kernel({"m": "index"})
    x = k.tile("x", "f32", 8, 8)
    k.store(x, k.tensor("out", "f32", 8, 8))
    (error,) = replay(k.func, {}, A2A3).errors
    assert isinstance(error, UninitialisedError)


def test_reads_without_a_defined_value_are_noted_even_if_nothing_comes_of_them() -> None:
    k = Kernel()
    x, y = k.tile("x", "f32", 8, 8, valid=(6, 8)), k.tile("y", "f32", 8, 8)
    k.op("tneg", x, y)
    outcome = replay(k.func, {}, A2A3)
    assert outcome.errors == []
    assert [(e.kind, e.op) for e in outcome.suspicions] == [("invalid read", "pto.tneg"), ("uninitialised", "pto.tneg")]
    assert confirm(k.func, "INIT-READ", {}, A2A3).startswith("confirmed: uninitialised")
    assert confirm(k.func, "VALID-SOURCE", {}, A2A3).startswith("confirmed: invalid read")


def test_a_clobbered_tile_replays() -> None:
    def planned(addr: int) -> Kernel:
        k = Kernel()
        a, b, out = (k.tensor(n, "f32", 8, 8) for n in ("a", "b", "out"))
        x, y = k.tile("x", "f32", 8, 8, addr=0), k.tile("y", "f32", 8, 8, addr=addr)
        k.load(a, x)
        k.load(b, y)
        k.store(x, out)
        return k

    for private in (frozenset({"x"}), None):
        clobber = replay_overlap(planned(128).func, {}, A2A3, private)
        assert clobber is not None
        assert (clobber.argument, clobber.element) == ("out", (32,))  # y starts 32 elements into x
        assert replay_overlap(planned(256).func, {}, A2A3, private) is None


def test_a_second_name_for_the_same_bytes_is_no_clobbering() -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 8, 8), k.tensor("out", "f32", 1, 64)
    x, row = k.tile("x", "f32", 8, 8, addr=0), k.tile("row", "f32", 1, 64, addr=0)
    k.load(a, x)
    k.store(row, out)
    assert replay_overlap(k.func, {}, A2A3) is None


def test_scratch_over_the_result_spoils_it() -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 8, 8), k.tensor("out", "f32", 8, 8)
    x, y, t = k.tile("x", "f32", 8, 8), k.tile("y", "f32", 8, 8), k.tile("t", "f32", 8, 8, addr=512)
    k.load(a, x)
    k.op("tprelu", f"{x} {x} {t}", y)
    k.store(y, out)
    assert isinstance(the_error(k, a=ramp(8, 8), out=zeros(8, 8)), UninitialisedError)


def test_allocations_without_addresses_get_storage_of_their_own() -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 8, 8), k.tensor("out", "f32", 8, 8)
    x, y = k.tile("x", "f32", 8, 8), k.tile("y", "f32", 8, 8, addr=0)
    k.lines = [line.replace(f"addr = {k.number(0, 'i64')} ", "") for line in k.lines]
    k.load(a, x)
    k.op("tneg", x, y)
    k.op("tadd", f"{x} {y}", y)
    k.store(y, out)
    np.testing.assert_array_equal(k.result("a2a3", "out", a=ramp(8, 8), out=ramp(8, 8)), zeros(8, 8))


def test_a_trace_gives_the_bytes_of_each_op() -> None:
    k = Kernel()
    a, x = k.tensor("a", "f32", 8, 8, (2, 0, 4, 8)), k.tile("x", "f32", 8, 16, valid=(4, 8), addr=1024)
    k.load(a, x)
    seen: list[tuple[str, Space, int, tuple[int, ...], bool]] = []

    def trace(op: Op, accesses: list[Access]) -> None:
        seen.extend((op.name, s.space, s.start, s.shape, s.writes) for s in accesses)

    run(k.func, {"a": ramp(8, 8)}, {}, A2A3, trace=trace)
    assert [(n, s, start, w) for n, s, start, _, w in seen] == [
        ("pto.tload", Space.VEC, 1024, True), ("pto.tload", Space.GM, 64, False),
    ]
    assert [np.prod(shape) for *_, shape, _ in seen] == [32, 32]


def test_runs_of_one_program_do_not_see_each_other() -> None:
    k = Kernel()
    a, out = k.tensor("a", "f32", 8, 8), k.tensor("out", "f32", 8, 8)
    x, y = k.tile("x", "f32", 8, 8), k.tile("y", "f32", 8, 8)
    k.load(a, x)
    k.store(y, out)
    program = compile(k.func, A2A3)
    for _ in range(2):
        assert len(execute(program, {"a": ramp(8, 8), "out": zeros(8, 8)}, {}).errors) == 1


def test_a_layout_that_the_unit_does_not_use_shows_as_a_wrong_result() -> None:
    def product(right: tuple[str, str, int]) -> Kernel:
        k = Kernel()
        a, b, c = (k.tensor(n, t, 32, 32) for n, t in (("a", "f16"), ("b", "f16"), ("c", "f32")))
        am, bm = k.tile("am", "f16", 32, 32, "mat"), k.tile("bm", "f16", 32, 32, "mat")
        al, br = k.tile("al", "f16", 32, 32, "left"), k.tile("br", "f16", 32, 32, "right", layout=right)
        cc = k.tile("cc", "f32", 32, 32, "acc")
        k.load(a, am)
        k.load(b, bm)
        k.op("tmov", am, al)
        k.op("tmov", bm, br)
        k.op("tmatmul", f"{al} {br}", cc)
        k.store(cc, c)
        return k

    wrong = confirm(product(("col_major", "row_major", 512)).func, "LAYOUT-CUBE", {}, A2A3)
    assert wrong.startswith("confirmed: wrong result: %c element (0,)")
    right = confirm(product(("row_major", "col_major", 512)).func, "LAYOUT-CUBE", {}, A2A3)
    assert right == "not observed: the run ended without such a fault"


def test_a_transfer_between_types_moves_bits() -> None:
    k = Kernel()
    a, out = k.tensor("a", "i32", 1, 8), k.tensor("out", "f32", 1, 8)
    x = k.tile("x", "f32", 1, 8)
    k.lines.append(f"  pto.tload ins(%{a} : {k.types[a]}) outs(%{x} : {k.types[x]})")
    k.store(x, out)
    one = np.full((1, 8), 0x3F800000, np.int32)
    assert k.result("a2a3", "out", a=one, out=zeros(1, 8))[0, 0] == 1.0
    assert confirm(k.func, "DTYPE-TRANSFER", {}, A2A3).startswith("confirmed: wrong result")
