"""A cube and its two vector cores together: tiles that cross in both directions, under each split, on both targets; and
pipes that are misused. Scenarios of the class XCORE-FIFO."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pypto_verified.pto.walk import walk_ops
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.simulator.mixed import Mixed

C2V, V2C, BOTH = 1, 2, 3
ORDERS = ("program", "eager", "late", "random")


def tensor(kernel: Mixed) -> np.typing.NDArray[np.float32]:
    """The a that a kernel gets."""
    return np.arange(kernel.tiles * kernel.rows * kernel.cols, dtype=np.float32).reshape(-1, kernel.cols)


def check(kernel: Mixed, order: str) -> None:
    """a @ I + 1, or (a + 1) @ I, or (a @ I + 1) @ I: each is a + 1."""
    outcome = kernel.run(order)
    assert outcome.clean, [*outcome.races, *outcome.errors, outcome.deadlock]
    np.testing.assert_array_equal(outcome.outputs["out"], tensor(kernel) + 1)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("split", [0, 1, 2])
@pytest.mark.parametrize("direction", [C2V, V2C, BOTH])
@pytest.mark.parametrize("on", ["a2a3", "a5"])
def test_tiles_cross_between_the_cores(on: str, direction: int, split: int, order: str) -> None:
    check(Mixed(on, direction, split, tiles=2), order)


@pytest.mark.parametrize("split", [0, 1, 2])
@pytest.mark.parametrize("direction", [C2V, V2C, BOTH])
@pytest.mark.parametrize("on", ["a2a3", "a5"])
def test_pipes_mean_the_same_after_the_assembler_has_lowered_them(on: str, direction: int, split: int) -> None:
    check(Mixed(on, direction, split, tiles=2, lowered=True), "late")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("split", "rows", "cols"), [(3, 31, 32), (4, 32, 31)])
def test_odd_splits_give_the_first_lane_one_line_more(split: int, rows: int, cols: int, order: str) -> None:
    check(Mixed("a2a3", C2V, split, rows=rows, cols=cols, tiles=2), order)


def test_a_partly_valid_tile_is_cut_at_its_valid_extent() -> None:
    check(Mixed("a2a3", C2V, 1, rows=24, tiles=2), "late")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("slots", [1, 2, 4, 8])
@pytest.mark.parametrize("direction", [C2V, V2C])
def test_slots_are_used_again_once_they_are_read(direction: int, slots: int, order: str) -> None:
    check(Mixed("a2a3", direction, 1, rows=32, cols=16, tiles=2 * slots + 1, slots=slots), order)


@pytest.mark.parametrize("on", ["a2a3", "a5"])
def test_a_ring_of_each_direction_goes_round(on: str) -> None:
    check(Mixed(on, BOTH, 1, tiles=5), "late")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("tiles", "slots"), [(2, 4), (5, 2), (3, 1)])
def test_slots_of_global_memory_are_handed_out_and_given_back(tiles: int, slots: int, order: str) -> None:
    kernel = Mixed("a2a3", C2V, 1, tiles=tiles, slots=slots, entries=True)
    outcome = kernel.run(order, ring=np.zeros(slots * 32 * 32, np.float32))
    assert outcome.clean, [*outcome.races, *outcome.errors, outcome.deadlock]
    np.testing.assert_array_equal(outcome.outputs["out"], tensor(kernel) + 1)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("lowered", [False, True])
@pytest.mark.parametrize("split", [1, 2])
def test_tiles_pass_through_global_memory_on_a5_where_a_pipe_is_made_with_slots_there(
    split: int, lowered: bool, order: str
) -> None:
    """PTOAS getTPipeDirectionToken, PTO-ISA npu/a5 TPush.hpp: pushes store, pops load and give their slot back."""
    kernel = Mixed("a5", C2V, split, tiles=4, slots=4, frees=0, memory=True, lowered=lowered)
    outcome = kernel.run(order, ring=np.zeros(4 * 32 * 32, np.float32))
    assert outcome.clean, [*outcome.races, *outcome.errors, outcome.deadlock]
    np.testing.assert_array_equal(outcome.outputs["out"], tensor(kernel) + 1)


def test_an_odd_number_of_slots_is_overrun() -> None:
    """Five slots: the producer waits for the first time before tile 6, so that tile 5 may be written over tile 0."""
    kernel = Mixed("a2a3", C2V, 1, rows=32, cols=16, tiles=7, slots=5)
    race = next(r for r in kernel.run("eager").races if "ring" in r.memory)
    assert {race.first.op.name, race.second.op.name} == {"pto.tpop_from_aic", "pto.tpush_to_aiv"}
    check(replace(kernel, slots=6), "eager")


def test_on_a5_a_primed_pipe_lets_the_producer_run_over_slots_that_are_in_use() -> None:
    kernel = Mixed("a5", C2V, 1, tiles=3, slots=2)
    outcome = kernel.run("late")
    assert outcome.races and outcome.races[0].memory.startswith("vec of vector lane")
    assert not np.array_equal(outcome.outputs["out"], tensor(kernel) + 1)
    check(replace(kernel, slots=4), "late")


def test_a_consumer_that_pops_too_often_hangs_and_the_report_says_why() -> None:
    outcome = Mixed("a2a3", C2V, 1, tiles=2, pops=2).run()
    assert outcome.deadlock is not None
    pops = [b for b in outcome.deadlock.blocked if b.at.op.name == "pto.tpop_from_aic"]
    assert {b.at.core for b in pops} == {"vector lane 0", "vector lane 1"}
    assert pops[0].waits_for == "tile 2 of pipe 0 to the vector cores"
    assert "pto.tpush_to_aiv" not in pops[0].because and "not as often as it is waited for" in pops[0].because


@pytest.mark.parametrize(("lowered", "named"), [(False, "pipe 0"), (True, "the pipe with flags from 0")])
def test_a_pipe_is_told_as_its_function_names_it(lowered: bool, named: str) -> None:
    """By its number, or, where the function has a handle of it, by its flags."""
    outcome = Mixed("a2a3", C2V, 1, tiles=2, pops=2, lowered=lowered).run()
    assert outcome.deadlock is not None
    assert {b.waits_for for b in outcome.deadlock.blocked} == {f"tile 2 of {named} to the vector cores"}


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize("lowered", [False, True])
def test_what_gives_a_free_slot_is_told_as_the_chip_has_it(lowered: bool, chip: str) -> None:
    """A pop of a2a3, a free of a5; a producer that waits for ever is told those lines."""
    kernel = Mixed(chip, C2V, 1, tiles=9, slots=2, pushes=2, lowered=lowered)
    outcome = kernel.run()
    assert outcome.deadlock is not None
    blocked = next(b for b in outcome.deadlock.blocked if "a free slot" in b.waits_for)
    giver = {"a2a3": "tpop", "a5": "tfree"}[chip]
    lines = [op.line for func in kernel.module.funcs for op in walk_ops(func) if op.name.startswith(f"pto.{giver}")]
    assert blocked.because == f"{', '.join(f'line {n}' for n in lines)} gives it, but not as often as it is waited for"


def test_tiles_that_nobody_pops_are_told_or_hang_the_producer() -> None:
    few = Mixed("a2a3", C2V, 1, tiles=1, slots=8, pushes=2)
    assert any("were never popped" in e.message for e in few.run().errors)
    half = Mixed("a2a3", C2V, 1, tiles=2, slots=8, pushes=2).run()
    assert half.deadlock is not None, "four tiles have a credit, which the end of the pipe takes (PTO-ISA ~TPipe)"
    (blocked,) = half.deadlock.blocked
    assert blocked.waits_for == "the slots that are to be freed before the end of pipe 0 to the vector cores"
    full = Mixed("a2a3", C2V, 1, tiles=4, slots=2, pushes=2).run()
    assert full.deadlock is not None
    (blocked,) = full.deadlock.blocked
    assert (blocked.at.op.name, blocked.at.core) == ("pto.tpush_to_aiv", "cube")
    assert blocked.waits_for == "a free slot of pipe 0 to the vector cores"


def test_two_pops_in_a_row_are_two_tiles() -> None:
    """F4: out gets the second tile of each turn."""
    kernel = Mixed("a2a3", C2V, 1, tiles=2, slots=4, pushes=2, pops=2)
    outcome = kernel.run()
    assert outcome.clean
    np.testing.assert_array_equal(outcome.outputs["out"], tensor(kernel) + 1)


@pytest.mark.parametrize("frees", [0, 1])
def test_on_a5_a_slot_that_is_never_given_back_starves_the_producer(frees: int) -> None:
    outcome = Mixed("a5", C2V, 1, tiles=2, slots=1, frees=frees).run("eager")
    assert (outcome.deadlock is None) is (frees == 1)
    if outcome.deadlock is not None:
        assert all(b.at.pipe == "FIX" for b in outcome.deadlock.blocked if b.at.core == "cube")


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize("direction", [1, 2, 3])
def test_a_pipe_that_is_never_used_holds_nobody_back(chip: str, direction: int) -> None:
    kernel = Mixed(chip, direction, 1, pushes=0, pops=0, frees=0)
    assert kernel.run().deadlock is None


@pytest.mark.parametrize(("chip", "strict", "told"), [
    ("a5", False, True), ("a2a3", False, False), ("a2a3", True, True)])
def test_a_tile_is_given_back_once(chip: str, strict: bool, told: bool) -> None:
    """On a2a3 the pop has given it back, and a free does nothing: strictly read it does on every target."""
    kernel = Mixed(chip, C2V, 1, tiles=1, frees=2)
    outcome = schedule.replay(kernel.module, "kernel_aic", {}, target(chip), strict=strict)
    assert any("that was not popped" in e.message for e in outcome.errors) is told


@pytest.mark.parametrize("lanes", [1, 2])
def test_a_lane_that_is_not_launched_leaves_its_half_unwritten(lanes: int) -> None:
    kernel = Mixed("a2a3", C2V, 1, tiles=3)
    tensors = {"a": tensor(kernel), "eye": np.eye(32, dtype=np.float32), "out": np.zeros((96, 32), np.float32)}
    outcome = schedule.run(kernel.module, target("a2a3"), tensors, lanes=lanes)
    assert outcome.clean
    assert np.array_equal(outcome.outputs["out"], tensor(kernel) + 1) is (lanes == 2)


def test_a_function_whose_partner_is_not_there_gets_arbitrary_tiles() -> None:
    lone = Mixed("a2a3", C2V, 1, tiles=2).module.funcs[1]
    a = np.zeros((64, 32), np.float32)
    outcome = schedule.run(lone, target("a2a3"), {"a": a, "eye": a, "out": a})
    assert outcome.deadlock is None and outcome.errors == []
    assert outcome.outputs["out"].any()


@pytest.mark.parametrize(("sent", "right"), [(16, True), (9, False)])
def test_a_split_by_columns_takes_the_whole_box_from_the_slot(sent: int, right: bool) -> None:
    """F3: nine valid columns lie at a pitch of nine; two lanes that read eight each at a pitch of sixteen read what was
    never pushed."""
    kernel = Mixed("a2a3", C2V, 2, rows=16, cols=16, tiles=1, sent=sent)
    outcome = kernel.run()
    assert np.array_equal(outcome.outputs["out"], tensor(kernel) + 1) is right
    assert {e.kind for e in outcome.errors} == (set() if right else {"uninitialised"})


@pytest.mark.requirement("CA-05")
@pytest.mark.parametrize(("compact", "right"), [(1, True), (0, False)])
def test_a_push_takes_an_accumulator_at_the_pitch_of_its_mode(compact: int, right: bool) -> None:
    """32 valid of 48 rows: the product is written at a pitch of 32 rows, and read so where the mode says so."""
    kernel = Mixed("a2a3", C2V, 1, tiles=1, spare=16, compact=compact)
    assert np.array_equal(kernel.run().outputs["out"], tensor(kernel) + 1) is right


def test_rows_that_were_never_computed_are_unset_on_the_other_side() -> None:
    """A push of a box whose last eight rows hold nothing is no fault; a store of them is, on the lane that has them."""
    outcome = Mixed("a2a3", C2V, 1, tiles=1, computed=24).run()
    (error,) = outcome.errors
    assert (error.kind, error.op) == ("uninitialised", "pto.tstore")
    assert error.message.startswith("256 of 512 elements")
