"""Pipes run in any order that flags and barriers allow: what each schedule makes of a program, and of one that misses
an order. Scenarios of the class SYNC-MISS, as pairs that differ in one op."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.simulator import schedule
from pypto_verified.simulator.values import Array
from pypto_verified.targets import target
from pypto_verified.targets.pipes import Hazard
from tests.simulator.text import ramp, zeros
from tests.simulator.timed import ORDERS, Timed


def doubled(first: str = "MTE2>V", second: str = "V>MTE3") -> Timed:
    """out = a + a: load, add, store, with a flag behind each of the first two."""
    k = Timed()
    k.tensor("a", "f32", 16, 64)
    k.tensor("out", "f32", 16, 64)
    k.tile("t", "f32", 16, 64)
    k.tile("u", "f32", 16, 64)
    k.load("a_p", "t")
    k.both(first)
    k.op("tadd", "t t", "u")
    k.both(second)
    k.store("u", "out_p")
    return k


SLOT = "!pto.tile_buf<vec, 1x64xf32>"
ROW = "!pto.partition_tensor_view<1x64xf32>"
A, OUT = ramp(16, 64), zeros(16, 64)


@pytest.mark.parametrize("on", ["a2a3", "a5"])
@pytest.mark.parametrize("order", ORDERS)
def test_an_ordered_program_gives_the_same_under_each_schedule(order: str, on: str) -> None:
    outcome = doubled().under(order, on, a=A, out=OUT)
    assert outcome.clean
    np.testing.assert_array_equal(outcome.outputs["out"], 2 * A)


@pytest.mark.parametrize("order", ORDERS)
def test_a_missing_order_is_found_whatever_the_schedule(order: str) -> None:
    outcome = doubled(first="MTE2>MTE3").under(order, "a2a3", a=A, out=OUT)
    race = next(r for r in outcome.races if r.memory == "vec of vector" and r.low == 0)
    assert race.high == 16 * 64 * 4
    assert {race.first.op.name, race.second.op.name} == {"pto.tload", "pto.tadd"}
    assert {race.first.pipe, race.second.pipe} == {"MTE2", "V"}
    assert race.first.line > 0 and race.second.line > 0


@pytest.mark.requirement("EV-08")
def test_two_schedules_of_unordered_ops_end_in_different_outputs() -> None:
    k = doubled(first="MTE2>MTE3")
    np.testing.assert_array_equal(k.under("program", "a2a3", a=A, out=OUT).outputs["out"], 2 * A)
    late = k.under("late", "a2a3", a=A, out=OUT)
    assert not np.array_equal(late.outputs["out"], 2 * A)
    assert [r.at.op.name for r in late.trace if r.at.op.name.startswith("pto.t")] == [
        "pto.tadd", "pto.tload", "pto.tstore"]
    every = k.under("exhaustive", "a2a3", a=A, out=OUT)
    assert every.runs == 2 and not every.cut
    assert every.other is not None
    assert not np.array_equal(every.other.outputs["out"], every.outputs["out"])


def test_the_same_seed_gives_the_same_run() -> None:
    k = doubled(first="MTE2>MTE3")
    runs = [k.under("random", "a2a3", seed=n, a=A, out=OUT) for n in (3, 3, *range(10))]
    traces = [[r.at.op.name for r in run.trace] for run in runs]
    assert traces[0] == traces[1]
    assert len({tuple(t) for t in traces}) > 1


def reread(back: str) -> Timed:
    """Load a, add it to b, load c into a's tile: the last load has to wait for the add."""
    k = doubled()
    k.tensor("c", "f32", 16, 64)
    k.both(back)
    k.load("c_p", "t")
    return k


@pytest.mark.parametrize(("back", "hazards"), [("V>MTE2", []), ("V>MTE1", [Hazard.WAR])])
def test_a_tile_is_not_written_before_it_was_read(back: str, hazards: list[Hazard]) -> None:
    outcome = reread(back).under("late", "a2a3", a=A, out=OUT, c=zeros(16, 64))
    assert [r.hazard for r in outcome.races] == hazards


def test_two_loads_into_one_tile_land_in_order() -> None:
    k = Timed()
    k.tensor("a", "f32", 16, 64)
    k.tile("t", "f32", 16, 64)
    k.load("a_p", "t")
    k.load("a_p", "t")
    assert k.under("late", "a2a3", a=A).clean
    assert k.under("late", "a2a3", strict=True, a=A).races[0].hazard is Hazard.WAW


def two_adds(barrier: bool) -> Timed:
    k = doubled()
    k.tile("w", "f32", 16, 64)
    if barrier:
        k.barrier("V")
    k.op("tadd", "u u", "w")
    return k


@pytest.mark.parametrize(("on", "barrier", "races"), [("a2a3", True, 0), ("a2a3", False, 1), ("a5", False, 0)])
def test_dependent_vector_ops_need_a_barrier_on_a2a3(on: str, barrier: bool, races: int) -> None:
    outcome = two_adds(barrier).under("program", on, a=A, out=OUT)
    assert len(outcome.races) == races
    for race in outcome.races:
        assert race.first.pipe == race.second.pipe == "V"
        assert race.hazard is Hazard.RAW


def zero_trip(waits_outside: bool) -> Timed:
    """S1: three loads to UB; the waits stand in a loop that may not run at all."""
    k = Timed({"n": "index"})
    for name, addr in (("a", 6304), ("b", 10400), ("c", 10432)):
        k.tensor(name, "f32", 1, 8)
        k.tile(f"t{name}", "f32", 1, 8, addr=addr)
        k.load(f"{name}_p", f"t{name}")
    k.tile("u", "f32", 1, 8, addr=0)
    if waits_outside:
        k.both("MTE2>V", 1)
    k.loop("%n")
    k.both("MTE2>V")
    k.close()
    k.op("tadd", "ta tc", "u")
    return k


@pytest.mark.parametrize(("trips", "outside", "lows"), [(0, False, [6304, 10432]), (1, False, []), (0, True, [])])
def test_a_wait_inside_a_loop_of_no_turns_orders_nothing(trips: int, outside: bool, lows: list[int]) -> None:
    one = zeros(1, 8)
    outcome = zero_trip(outside).under("program", "a2a3", {"n": trips}, a=one, b=one, c=one)
    assert sorted(r.low for r in outcome.races) == lows


def joined(on_both: bool) -> Timed:
    """S2: V fills a; only one arm of a branch has a barrier; then V reads a."""
    k = Timed({"n": "i1"})
    for name in ("a", "b", "d", "e"):
        k.tile(name, "f32", 8, 8)
    k.fill("a", 1)
    k.line("scf.if %n {")
    k.fill("b", 2)
    k.barrier("V")
    k.op("tadd", "b b", "e")
    k.line("}")
    if on_both:
        k.barrier("V")
    k.op("tadd", "a a", "d")
    return k


@pytest.mark.parametrize(
    ("on", "taken", "after", "races"),
    [("a2a3", False, False, 1), ("a2a3", True, False, 0), ("a2a3", False, True, 0), ("a5", False, False, 0)],
)
def test_a_barrier_in_one_arm_of_a_branch_orders_that_arm(on: str, taken: bool, after: bool, races: int) -> None:
    assert len(joined(after).under("program", on, {"n": taken}).races) == races


def staged_copy(direct: bool) -> Timed:
    """S3: a store to global memory, then a copy whose first phase reads it on MTE2."""
    k = Timed()
    k.tensor("src", "f32", 4, 8)
    k.tensor("dst", "f32", 4, 8)
    k.tile("t", "f32", 4, 8)
    k.tile("stage", "f32", 4, 8)
    k.fill("t", 1)
    k.both("V>MTE3")
    k.store("t", "src_p")
    k.both("MTE3>MTE2" if direct else "MTE3>V")
    views = f"{k.types['dst_p']}, {k.types['src_p']}, {k.types['stage']}"
    k.line(f"pto.comm.tput(%dst_p, %src_p, buf(%stage) : {views})")
    return k


def test_a_copy_reads_on_the_pipe_of_its_first_phase() -> None:
    four = zeros(4, 8)
    assert staged_copy(direct=True).under("program", "a5", src=four, dst=four).races == []
    (race,) = staged_copy(direct=False).under("program", "a5", src=four, dst=four).races
    assert (race.second.op.name, race.second.pipe, race.memory) == ("pto.comm.tput", "MTE2", "tensor src")


def told_to_read(fence: bool) -> Timed:
    """W2: a copy to the other device's memory, then a notification, with or without a fence between them."""
    k = staged_copy(direct=True)
    k.tensor("signal", "i32", 1, 1)
    if fence:
        k.line("pto.fence.barrier_all #pto.fence_scope<gm>")
    k.line(f"pto.comm.tnotify(%signal_p, {k.number(1, 'i32')} : {k.types['signal_p']}, i32) "
           "{notifyOp = #pto<notify_op set>}")
    return k


@pytest.mark.parametrize("order", ORDERS)
def test_a_notification_overtakes_what_no_fence_has_published(order: str) -> None:
    four, word = zeros(4, 8), zeros(1, 1, np.int32)
    assert told_to_read(fence=True).under(order, "a5", src=four, dst=four, signal=word).clean
    outcome = told_to_read(fence=False).under(order, "a5", src=four, dst=four, signal=word)
    assert outcome.races == [] and outcome.errors == []
    assert {(u.write.op.name, u.read.op.name) for u in outcome.unseen} >= {("pto.comm.tput", "pto.comm.tnotify")}


def through_view(far: bool) -> Timed:
    """S4: MTE2 loads a [32, 256] tile at 0; V reads rows 16..31 of it through a view, or a tile behind it."""
    k = Timed()
    k.tensor("a", "f32", 32, 256)
    k.tile("t", "f32", 32, 256, addr=0)
    k.tile("x", "f32", 16, 256, addr=32768)
    k.tile("u", "f32", 16, 256, addr=65536)
    type_ = k.types["x"].replace("v_row=?", "v_row=16").replace("v_col=?", "v_col=256")
    row, col = k.number(16), k.number(0)
    k.line(f"%half = pto.subview %t[{row}, {col}] sizes [16, 256] : {k.types['t']} -> {type_}")
    k.types["half"] = type_
    k.fill("x", 1)
    k.barrier("V")
    k.load("a_p", "t")
    source = "x" if far else "half"
    k.op("tadd", f"{source} {source}", "u")
    return k


@pytest.mark.parametrize(("far", "bytes_"), [(False, [(16384, 32768)]), (True, [])])
def test_a_view_shares_the_bytes_of_its_parent(far: bool, bytes_: list[tuple[int, int]]) -> None:
    outcome = through_view(far).under("program", "a2a3", a=zeros(32, 256))
    assert [(r.low, r.high) for r in outcome.races] == bytes_


def ramp_kernel(waits_for: str) -> Timed:
    """S5: a descending ramp with scratch, which is a vector program, then a store."""
    k = Timed()
    k.tensor("out", "i32", 1, 32)
    k.tile("t", "i32", 1, 32)
    k.tile("tmp", "ui8", 1, 1792)
    k.op("tci", "c:31:i32 tmp", "t", "{descending = true}")
    k.both(f"{waits_for}>MTE3")
    k.store("t", "out_p")
    return k


@pytest.mark.parametrize(("waits_for", "races"), [("V", 0), ("S", 1)])
def test_a_ramp_with_scratch_runs_on_the_vector_pipe(waits_for: str, races: int) -> None:
    outcome = ramp_kernel(waits_for).under("late", "a2a3", out=zeros(1, 32, np.int32))
    assert len(outcome.races) == races
    right = np.array_equal(outcome.outputs["out"], np.arange(31, -1, -1, dtype=np.int32)[None])
    assert right is (races == 0)


def slots(handed_back: bool = True) -> Timed:
    """out[i] = 2 a[i] over two slots in turn, each handed back to MTE2 by a flag of its own."""
    k = Timed({"n": "index"})
    for name in ("a", "out"):
        k.tensor(name, "f32", 8, 64)
    two, one, zero, width = (k.number(n) for n in (2, 1, 0, 64))
    k.line(f"%b = pto.alloc_multi_tile addr = {k.number(0, 'i64')} : !pto.multi_tile_buf<vec, 1x64xf32, count=2>")
    k.tile("u", "f32", 1, 64, addr=512)
    for id in (0, 1) if handed_back else ():
        k.set("V>MTE2", id)
    k.set("MTE3>V")
    k.loop("%n")
    k.line(f"%id = arith.remsi %i, {two} : index")
    k.line(f"%t = pto.multi_tile_get %b[%id] : !pto.multi_tile_buf<vec, 1x64xf32, count=2> -> {SLOT}")
    for name in ("a", "out"):
        k.line(f"%{name}_i = pto.partition_view %{name}_v, offsets = [%i, {zero}], sizes = [{one}, {width}] : "
               f"!pto.tensor_view<?x?xf32> -> {ROW}")
    if handed_back:
        k.line("pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %id]")
    k.line(f"pto.tload ins(%a_i : {ROW}) outs(%t : {SLOT})")
    k.line("pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %id]")
    k.line("pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %id]")
    k.wait("MTE3>V")
    k.line(f"pto.tadd ins(%t, %t : {SLOT}, {SLOT}) outs(%u : {k.types['u']})")
    if handed_back:
        k.line("pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %id]")
    k.both("V>MTE3")
    k.line(f"pto.tstore ins(%u : {k.types['u']}) outs(%out_i : {ROW})")
    k.set("MTE3>V")
    k.close()
    for id in (0, 1) if handed_back else ():
        k.wait("V>MTE2", id)
    k.wait("MTE3>V")
    return k


@pytest.mark.parametrize("order", ["program", "eager", "late", "random"])
@pytest.mark.parametrize("trips", [0, 1, 2, 5, 8])
def test_slots_in_turn_are_clean_for_every_trip_count(trips: int, order: str) -> None:
    a: Array = ramp(8, 64)
    outcome = slots().under(order, "a2a3", {"n": trips}, a=a, out=zeros(8, 64))
    assert outcome.clean
    np.testing.assert_array_equal(outcome.outputs["out"][:trips], 2 * a[:trips])


@pytest.mark.parametrize(("trips", "races"), [(2, 0), (3, 1)])
def test_a_slot_that_is_not_handed_back_is_written_too_early_in_its_second_round(trips: int, races: int) -> None:
    a: Array = ramp(8, 64)
    outcome = slots(handed_back=False).under("late", "a2a3", {"n": trips}, a=a, out=zeros(8, 64))
    assert [r.hazard for r in outcome.races] == [Hazard.WAR] * races
    assert np.array_equal(outcome.outputs["out"][:trips], 2 * a[:trips]) is (races == 0)


def test_a_load_runs_ahead_into_the_other_slot() -> None:
    outcome = slots().under("late", "a2a3", {"n": 2}, a=ramp(8, 64), out=zeros(8, 64))
    ops = [r.at.op.name for r in outcome.trace if r.at.op.name in ("pto.tload", "pto.tadd")]
    assert ops == ["pto.tload", "pto.tload", "pto.tadd", "pto.tadd"]


def test_a_scalar_read_happens_when_the_scalar_unit_comes_to_it() -> None:
    k = Timed()
    k.tensor("a", "i32", 1, 8)
    k.tensor("out", "i32", 1, 8)
    k.tile("t", "i32", 1, 8)
    k.tile("u", "i32", 1, 8)
    k.load("a_p", "t")
    k.both("MTE2>S")
    k.line(f"%v = pto.tgetval ins(%t, {k.number(3)} : {k.types['t']}, index) outs : i32")
    k.op("texpands", "s:v:i32", "u")
    k.both("V>MTE3")
    k.store("u", "out_p")
    a = ramp(1, 8, np.int32)
    for order in ORDERS:
        outcome = k.under(order, "a2a3", a=a, out=zeros(1, 8, np.int32))
        assert outcome.clean and (outcome.outputs["out"] == 3).all()


def test_the_step_limit_ends_a_run() -> None:
    k = Timed()
    k.line("scf.while : () -> () {")
    k.line("%t = arith.constant true")
    k.line("scf.condition(%t)")
    k.line("} do {")
    k.line("scf.yield")
    k.line("}")
    outcome = schedule.run(k.func, target("a2a3"), {}, max_steps=1000)
    assert outcome.stopped and outcome.errors[0].kind == "step limit"


@pytest.mark.parametrize(("pad", "race"), [(0, None), (1, (40, 64))])
def test_a_fill_reads_no_padding_but_the_one_that_it_takes_over(pad: int, race: tuple[int, int] | None) -> None:
    """Of 16 columns 10 are valid. A first fill copies them and, where both pads are equal, the padding behind them up
    to the 32-byte block; a second one, which no barrier holds back, writes that padding where it stands."""
    k = Timed()
    a = k.tensor("a", "f32", 1, 10)
    x = k.tile("x", "f32", 1, 16, valid=(1, 10), addr=0, pad=pad)
    y, z = k.tile("y", "f32", 1, 16, addr=4096, pad=1), k.tile("z", "f32", 1, 16, addr=0, pad=3)
    k.load(a, x)
    k.both("MTE2>V")
    k.op("tfillpad", x, y)
    k.op("tfillpad", x, z)
    races = k.under("program", "a2a3", a=ramp(1, 10)).races
    assert [(r.hazard, r.low, r.high) for r in races] == ([] if race is None else [(Hazard.WAR, *race)])
