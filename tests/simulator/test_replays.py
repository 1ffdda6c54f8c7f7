"""Runs under a schedule on the numbers of a witness, and under each reading of what the sources differ on."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.simulator import schedule
from pypto_verified.simulator.replay import tensor_shapes
from pypto_verified.targets import target
from tests.simulator.mixed import Mixed
from tests.simulator.text import ramp, zeros
from tests.simulator.timed import Timed


def grown() -> Timed:
    """A loop whose second turn writes a tile that MTE3 still reads."""
    k = Timed({"n": "index"})
    for name in ("a", "out"):
        k.tensor(name, "f32", 16, 64)
    k.tile("t", "f32", 16, 64)
    k.loop("%n")
    k.load("a_p", "t")
    k.both("MTE2>MTE3")
    k.store("t", "out_p")
    k.close()
    return k


@pytest.mark.parametrize(("trips", "pairs"), [(1, set()), (2, {("pto.tstore", "pto.tload")})])
def test_a_witness_gives_the_numbers_and_tensors_are_made(trips: int, pairs: set[tuple[str, str]]) -> None:
    func = grown().func
    for order in ("program", "late"):
        outcome = schedule.replay(func, "", {"n": trips}, target("a2a3"), schedule=order)
        assert outcome.errors == [] and outcome.outputs["a"].any()
        races = {(r.first.op.name, r.second.op.name) for r in outcome.races if r.hazard.name == "WAR"}
        assert races == pairs


def test_replays_of_one_seed_agree() -> None:
    module = Mixed("a2a3", 1, 1, tiles=2).module
    runs = [schedule.replay(module, "kernel_aic", {}, target("a2a3"), schedule="random", seed=n) for n in (4, 4, 5)]
    assert all(run.clean for run in runs)
    assert np.array_equal(runs[0].outputs["out"], runs[1].outputs["out"])
    assert not np.array_equal(runs[0].outputs["out"], runs[2].outputs["out"])


def moved(pipe: str) -> Timed:
    """a5: UB to L1, ordered after the add by a flag to `pipe`."""
    k = Timed()
    k.tile("u", "f32", 16, 16, layout=("col_major", "row_major", 512))
    k.tile("m", "f32", 16, 16, space="mat")
    k.line("%one = arith.constant 1.0 : f32")
    k.line(f"pto.texpands ins(%one : f32) outs(%u : {k.types['u']})")
    if pipe != "V":
        k.both(f"V>{pipe}")
    k.op("tmov", "u", "m")
    return k


@pytest.mark.parametrize("reading", ["V", "FIX", "MTE3"])
@pytest.mark.parametrize("pipe", ["V", "FIX", "MTE3"])
def test_a_move_to_l1_is_run_on_the_pipe_of_each_reading(pipe: str, reading: str) -> None:
    outcome = schedule.run(moved(pipe).func, target("a5"), {}, pipes={"VEC-TO-MAT-PIPE": reading})
    assert len(outcome.races) == (0 if reading in (pipe, "V") else 1)
    for race in outcome.races:
        assert race.second.pipe == reading


BLOCKS = """
module {
  func.func @kernel(%out: !pto.ptr<i32>) {
    %c0 = arith.constant 0 : index
    %b = pto.get_block_idx
    %n = pto.get_block_num
    %l = pto.get_subblock_idx
    %hundred = arith.constant 100 : i64
    %ten = arith.constant 10 : i64
    %x = arith.muli %b, %hundred : i64
    %y = arith.muli %n, %ten : i64
    %xy = arith.addi %x, %y : i64
    %all = arith.addi %xy, %l : i64
    %v = arith.trunci %all : i64 to i32
    pto.store_scalar %v, %out[%c0] : !pto.ptr<i32>, i32
    return
  }
}
"""


def test_a_witness_names_the_block_and_the_lane() -> None:
    witness = {"block_idx": 2, "block_num": 4, "subblock_idx": 1}
    outcome = schedule.replay(read(BLOCKS), "kernel", witness, target("a2a3"))
    assert outcome.outputs["out"][0] == 241


SECTIONS = """
module {
  func.func @kernel(%out: !pto.ptr<i32>) {
    pto.section.cube {
      pto.barrier <PIPE_ALL>
    }
    pto.section.vector {
      %l = pto.get_subblock_idx
      %at = arith.index_cast %l : i64 to index
      %v = arith.trunci %l : i64 to i32
      pto.store_scalar %v, %out[%at] : !pto.ptr<i32>, i32
    }
    return
  }
}
"""


@pytest.mark.parametrize("lane", [0, 1])
def test_beside_a_cube_both_lanes_run_whichever_a_witness_names(lane: int) -> None:
    """They were lanes 1 and 2 of a witness that named lane 1."""
    shapes = {"out": np.full(4, -1, np.int32)}
    outcome = schedule.run(read(SECTIONS), target("a2a3"), shapes)
    assert outcome.outputs["out"].tolist() == [0, 1, -1, -1]
    replayed = schedule.replay(read(SECTIONS), "kernel", {"subblock_idx": lane}, target("a2a3"))
    assert replayed.outputs["out"][:2].tolist() == [0, 1]


def test_what_is_not_modelled_ends_the_run_with_its_name() -> None:
    k = Timed()
    k.line("pto.get_buf[#pto.pipe_event_type<TVEC>, 0, 1]")
    outcome = k.under("late", "a5")
    assert outcome.stopped and outcome.errors[0].kind == "not modelled"
    assert "pto.get_buf in mode 1" in str(outcome.errors[0])


def test_arrays_are_copied() -> None:
    a, out = ramp(16, 64), zeros(16, 64)
    outcome = schedule.run(grown().func, target("a2a3"), {"a": a, "out": out}, {"n": 1})
    assert not out.any()
    np.testing.assert_array_equal(outcome.outputs["out"], a)
    assert outcome.written == {"out"}


@pytest.mark.requirement("EV-08")
def test_two_schedules_are_shown_with_the_element_that_they_leave_differently() -> None:
    """The second turn's load may overtake the first turn's store."""
    k = Timed({"n": "index"})
    for name in ("a", "out"):
        k.tensor(name, "f32", 2, 8, (0, 0, 1, 8))
    k.tile("t", "f32", 1, 8)
    k.loop("%n")
    one, width = k.number(1), k.number(8)
    row = "!pto.partition_tensor_view<1x8xf32>"
    for name in ("a", "out"):
        k.line(f"%{name}_i = pto.partition_view %{name}_v, offsets = [%i, {k.number(0)}], sizes = [{one}, {width}] : "
               f"!pto.tensor_view<?x?xf32> -> {row}")
    k.line(f"pto.tload ins(%a_i : {row}) outs(%t : {k.types['t']})")
    k.both("MTE2>MTE3")
    k.line(f"pto.tstore ins(%t : {k.types['t']}) outs(%out_i : {row})")
    k.close()
    assert schedule.contrast(k.func, "", {"n": 1}, target("a2a3")) is None
    found = schedule.contrast(k.func, "", {"n": 2}, target("a2a3"))
    assert found is not None and found.argument == "out" and found.element < 8
    first, second = found.outcomes
    a = first.outputs["a"].reshape(-1)
    assert first.outputs["out"].reshape(-1)[found.element] == a[found.element]
    assert second.outputs["out"].reshape(-1)[found.element] == a[8 + found.element]
    assert str(found).startswith(f"%out element {found.element} is {a[found.element]!s} under schedule program and ")


@pytest.mark.parametrize(("strides", "shape"), [("%c8, %c1", (4, 8)), ("%c1, %c4", (32,)), ("%c16, %c1", (56,))])
def test_a_tensor_has_the_shape_of_the_view_that_covers_it_row_by_row(strides: str, shape: tuple[int, ...]) -> None:
    """4 x 8 elements by columns are 32 in one row; rows 16 apart end at element 3*16 + 7."""
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (1, 4, 8, 16))
    func = read(
        "module {\nfunc.func @k(%p: !pto.ptr<f32>) {\n" + constants + "\n%v = pto.make_tensor_view %p, "
        f"shape = [%c4, %c8], strides = [{strides}] : !pto.tensor_view<?x?xf32>\nreturn\n}}\n}}\n", "k.pto").funcs[0]
    assert tensor_shapes(func, {}) == {"p": shape}


def test_a_kernel_that_another_function_calls_is_run_by_its_name() -> None:
    """Its caller is what runs where no name is given."""
    text = """module {
      func.func @inner() { pto.set_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID0>]
        return }
      func.func @outer() { call @inner() : () -> ()
        return }
    }"""
    for name in ("inner", "outer", ""):
        (error,) = schedule.replay(read(text, "k.pto"), name, {}, target("a2a3")).errors
        assert error.message == "flag V -> S id 0 is still set when the kernel ends"
