"""Cores that share global memory: counted flags, barriers of all cores, blocks of a launch, and what none of them makes
visible. Scenarios of the classes HANG, GM-VIS and, for global memory, SYNC-MISS."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule import Outcome
from pypto_verified.simulator.values import Array
from pypto_verified.targets import target
from pypto_verified.targets.pipes import Hazard
from tests.simulator.text import ramp, zeros

MAT = "!pto.tile_buf<mat, 16x8xf32, blayout=col_major, slayout=row_major>"
VEC = "!pto.tile_buf<vec, 16x8xf32>"
PART = "!pto.partition_tensor_view<16x8xf32>"
ORDERS = ("program", "eager", "late", "random")


def kernel(body: str, tensors: str = "a s out") -> str:
    """A function over tensors of [32, 8] f32; `%NAME_p` is the first half of each."""
    views = "\n".join(
        f"""%{n}_v = pto.make_tensor_view %{n}, shape = [%c32, %c8], strides = [%c8, %c1] {{layout = #pto.layout<nd>}}
          : !pto.tensor_view<?x?xf32>
        %{n}_p = pto.partition_view %{n}_v, offsets = [%c0, %c0], sizes = [%c16, %c8]
          : !pto.tensor_view<?x?xf32> -> {PART}"""
        for n in tensors.split())
    numbers = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 8, 16, 32))
    arguments = ", ".join(f"%{n}: !pto.ptr<f32>" for n in tensors.split())
    return f"""module {{
      func.func @kernel({arguments}, %ws: !pto.ptr<i32>) {{
        {numbers}
        %at = arith.constant 0 : i64
        {views}
        {body}
        return
      }}
    }}"""


def cube(*lines: str) -> str:
    made = f"%c = pto.alloc_tile addr = %at : {MAT}"
    return "\n".join(["pto.section.cube {", made, *lines, "}"])


def vector(*lines: str) -> str:
    made = f"%v = pto.alloc_tile addr = %at : {VEC}"
    return "\n".join(["pto.section.vector {", made, *lines, "}"])


def load(tensor: str, tile: str) -> str:
    return f"pto.tload ins(%{tensor}_p : {PART}) outs(%{tile} : {MAT if tile == 'c' else VEC})"


def store(tile: str, tensor: str, attrs: str = "") -> str:
    return f"pto.tstore ins(%{tile} : {MAT if tile == 'c' else VEC}) outs(%{tensor}_p : {PART}) {attrs}"


ALL = "pto.barrier <PIPE_ALL>"


def run(body: str, order: str = "program", on: str = "a2a3", strict: bool = False, blocks: int | None = None,
        chip: int | None = None, lanes: int | None = None) -> Outcome:
    tensors: dict[str, Array] = {"a": ramp(32, 8), "s": zeros(32, 8), "out": zeros(32, 8),
                                 "ws": np.zeros(16, np.int32)}
    return schedule.run(read(kernel(body), "kernel.pto"), target(on), tensors, schedule=order, strict=strict,
                        blocks=blocks, chip=chip, lanes=lanes)


def handed_over(told: bool, pipe: str = "MTE3") -> str:
    """S6: the cube writes s, the vector cores read it."""
    given = [f"pto.sync.set <PIPE_{pipe}>, 3"] if told else []
    taken = ["pto.sync.wait <PIPE_MTE2>, 3"] if told else []
    return "\n".join((cube(load("a", "c"), ALL, store("c", "s"), *given),
                      vector(*taken, load("s", "v"), ALL, *LANE_0_STORES)))


LANE_0_STORES = ("%l = pto.get_subblock_idx", "%z = arith.constant 0 : i64", "%first = arith.cmpi eq, %l, %z : i64",
                 "scf.if %first {", store("v", "out"), "}")


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("on", ["a2a3", "a5"])
@pytest.mark.parametrize("order", ORDERS)
def test_a_flag_between_cores_orders_what_one_stores_and_the_other_loads(order: str, on: str) -> None:
    outcome = run(handed_over(told=True), order, on)
    assert outcome.clean
    np.testing.assert_array_equal(outcome.outputs["out"][:16], ramp(32, 8)[:16])
    missing = run(handed_over(told=False), order, on)
    assert {r.memory for r in missing.races} == {"tensor s"}
    cores = {missing.races[0].first.core, missing.races[0].second.core}
    assert "cube" in cores and len(cores) == 2


def test_a_flag_of_another_pipe_tells_nothing_of_the_store() -> None:
    outcome = run(handed_over(told=True, pipe="MTE2"))
    assert [r.memory for r in outcome.races] == ["tensor s"]


def answered(both_lanes: bool) -> str:
    """The cube waits for its vector cores."""
    condition = [] if both_lanes else [*LANE_0_STORES[:3], "scf.if %first {"]
    end = [] if both_lanes else ["}"]
    return "\n".join((cube("pto.sync.wait <PIPE_MTE2>, 1"), vector(*condition, "pto.sync.set <PIPE_V>, 1", *end)))


@pytest.mark.requirement("EV-06")
def test_a_cube_waits_for_the_flags_of_both_lanes() -> None:
    assert run(answered(both_lanes=True)).clean
    outcome = run(answered(both_lanes=False))
    assert outcome.deadlock is not None
    (blocked,) = outcome.deadlock.blocked
    assert (blocked.at.core, blocked.waits_for) == ("cube", "cross-core flag 1")
    assert "pto.sync.set" not in blocked.at.op.name


@pytest.mark.parametrize(("mode", "reached"), [(0, ["cube"]), (1, []), (2, [])])
def test_a_flag_for_cores_that_are_not_there_reaches_nobody(mode: int, reached: list[str]) -> None:
    """Mode 0 is for all cubes: the one that sets it is one of them."""
    errors = run(cube(f"pto.sync.set <PIPE_FIX>, 1 {{ffts_mode = {mode} : i32}}", load("a", "c"))).errors
    assert [e.message for e in errors] == [f"cross-core flag 1 is still set at {c} when the cores end" for c in reached]


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("on", ["a2a3", "a5"])
@pytest.mark.parametrize("order", ORDERS)
def test_a_flag_between_cores_that_is_left_set_is_told_at_its_set(order: str, on: str) -> None:
    """Two sets and two waits leave nothing; of two sets and one wait the second is left, at each lane."""
    sets = cube("pto.sync.set <PIPE_FIX>, 3", "pto.sync.set <PIPE_FIX>, 3")
    assert run(sets + "\n" + vector(*["pto.sync.wait <PIPE_MTE2>, 3"] * 2), order, on).clean
    errors = run(sets + "\n" + vector("pto.sync.wait <PIPE_MTE2>, 3"), order, on).errors
    second = max(n for n, line in enumerate(kernel(sets).splitlines(), 1) if "sync.set" in line)
    assert [(e.kind, e.line) for e in errors] == [("pipe", second)] * 2
    assert {e.message for e in errors} == {
        f"cross-core flag 3 is still set at vector lane {n} when the cores end" for n in (0, 1)}


def test_a_flag_that_one_lane_sets_more_often_is_told() -> None:
    """A cube hears both lanes: what one of them sets alone reaches nobody."""
    more = vector("pto.sync.set <PIPE_V>, 1", *LANE_0_STORES[:3], "scf.if %first {", "pto.sync.set <PIPE_V>, 1", "}")
    (error,) = run(cube("pto.sync.wait <PIPE_MTE2>, 1") + "\n" + more).errors
    assert "flag 1 of vector lane 0 is not passed on" in error.message


@pytest.mark.parametrize("lanes", [1, 2])
def test_what_a_missing_core_would_signal_is_taken_as_given(lanes: int) -> None:
    alone = "pto.sync.wait <PIPE_MTE2>, 1\npto.barrier <PIPE_V>"
    assert run(alone, lanes=lanes).clean
    assert run(f"{alone}\npto.sync.set <PIPE_V>, 2", lanes=lanes).clean
    assert run(f"{alone}\npto.sync.set <PIPE_V>, 1", lanes=lanes).deadlock is not None


def lanes_meet(both: bool) -> str:
    """Mode 1: the vector cores of a cluster wait for each other."""
    flags = ["pto.sync.set <PIPE_MTE3>, 4 {ffts_mode = 1 : i32}"]
    first = [*LANE_0_STORES[:3], "scf.if %first {", *flags, "}"]
    return "\n".join((cube(), vector(*(flags if both else first), "pto.sync.wait <PIPE_MTE2>, 4")))


@pytest.mark.requirement("EV-06")
def test_the_vector_cores_of_a_cluster_wait_for_each_other() -> None:
    assert run(lanes_meet(both=True)).clean
    outcome = run(lanes_meet(both=False))
    assert outcome.deadlock is not None and len(outcome.deadlock.blocked) == 2


@pytest.mark.parametrize(("id", "lane"), [(2, 0), (18, 1)])
def test_on_a5_a_cube_sets_the_flag_of_one_lane(id: int, lane: int) -> None:
    outcome = run("\n".join((cube(f"pto.set_intra_block <PIPE_FIX>, {id}"),
                             vector("pto.wait_intra_block <PIPE_V>, 2", "pto.barrier <PIPE_ALL>"))), on="a5")
    assert outcome.deadlock is not None
    assert {b.at.core for b in outcome.deadlock.blocked} == {f"vector lane {1 - lane}"}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("lane", "id"), [(0, 3), (1, 19)])
def test_on_a5_the_second_lanes_flags_are_sixteen_higher_on_the_cube(lane: int, id: int) -> None:
    which = ["%l = pto.get_subblock_idx", f"%mine = arith.constant {lane} : i64",
             "%is = arith.cmpi eq, %l, %mine : i64", "scf.if %is {", "pto.set_intra_block <PIPE_MTE3>, 3", "}"]
    assert run("\n".join((cube(f"pto.wait_intra_block <PIPE_MTE1>, {id}"), vector(*which))), on="a5").clean
    other = run("\n".join((cube(f"pto.wait_intra_block <PIPE_MTE1>, {22 - id}"), vector(*which))), on="a5")
    assert other.deadlock is not None and other.deadlock.blocked[0].at.core == "cube"


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("order", ORDERS)
def test_a_flag_across_blocks_is_passed_on_when_all_cores_of_a_kind_have_set_it(order: str) -> None:
    every = vector("pto.set_cross_block <PIPE_MTE3>, 5", "pto.wait_cross_block <PIPE_MTE2>, 5")
    assert run(every, order, blocks=3, chip=3, lanes=2).clean
    for fewer in (run(every, order, blocks=3, chip=4, lanes=2), run(every, order, blocks=3, chip=3, lanes=1)):
        assert fewer.deadlock is not None, "a hard barrier, which is made of it, counts the cores of the chip"
    some = vector("%b = pto.get_block_idx", "%z = arith.constant 0 : i64", "%first = arith.cmpi eq, %b, %z : i64",
                  "scf.if %first {", "pto.set_cross_block <PIPE_MTE3>, 5", "}", "pto.wait_cross_block <PIPE_MTE2>, 5")
    outcome = run(some, order, blocks=3, chip=3, lanes=2)
    assert outcome.deadlock is not None and len(outcome.deadlock.blocked) == 6


def test_on_a5_a_wait_holds_its_own_pipe_alone() -> None:
    """The load is not held by a wait on V; with the wait on MTE2 it is."""
    def body(pipe: str) -> str:
        return "\n".join((
            cube(load("a", "c"), ALL, store("c", "s"), "pto.set_intra_block <PIPE_MTE3>, 0",
                 "pto.set_intra_block <PIPE_MTE3>, 16"),
            vector(f"pto.wait_intra_block <PIPE_{pipe}>, 0", load("s", "v"))))
    assert [r.memory for r in run(body("V"), on="a5").races] == ["tensor s"] * 1
    assert run(body("MTE2"), on="a5").races == []


def test_a_counter_holds_fifteen() -> None:
    def body(count: int) -> str:
        sets, waits = ["pto.sync.set <PIPE_FIX>, 0"] * count, ["pto.sync.wait <PIPE_V>, 0"] * count
        return "\n".join((cube(*sets), vector(*waits)))
    assert run(body(15)).clean
    assert any(e.kind == "pipe" and "exceeds 15" in e.message for e in run(body(16)).errors)


def met(mode: str, kinds: str, before: str = "", after: str = "", extra: str = "") -> str:
    """A barrier of cores; `extra` more of it on the vector cores."""
    workspace = "" if mode == "hard" else "%ws : !pto.ptr<i32>"
    call = f"pto.syncall({workspace}) mode = #pto.sync_all_mode<{mode}>, core_type = #pto.sync_core_type<{kinds}>"
    on_cube = [call] if kinds != "aiv_only" else []
    on_vector = [call] * (1 + bool(extra)) if kinds != "aic_only" else []
    return "\n".join((cube(*on_cube), vector(before, *on_vector, after)))


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("kinds", ["aiv_only", "aic_only", "mix"])
@pytest.mark.parametrize("mode", ["hard", "soft"])
@pytest.mark.parametrize("order", ORDERS)
def test_a_barrier_lets_all_go_on_when_all_have_come(order: str, mode: str, kinds: str) -> None:
    assert run(met(mode, kinds), order, blocks=2, chip=2).clean
    if kinds != "aic_only":
        once_more = run(met(mode, kinds, extra="yes"), order, blocks=2, chip=2)
        if kinds == "mix":
            assert once_more.deadlock is not None
            assert once_more.deadlock.blocked[0].because == "the others do not come, or not as often"


@pytest.mark.parametrize(("blocks", "hangs"), [(20, True), (24, False)])
def test_a_hard_barrier_waits_for_every_core_of_the_chip(blocks: int, hangs: bool) -> None:
    """E5: a launch of 20 blocks on a chip with 24 cubes."""
    outcome = run(met("hard", "aic_only"), blocks=blocks)
    assert (outcome.deadlock is not None) is hangs
    if outcome.deadlock is not None:
        assert len(outcome.deadlock.blocked) == 20
        waits_for = outcome.deadlock.blocked[0].waits_for
        assert waits_for.startswith("24 cores at the barrier, 20 are there and only 20 run this kernel")
    assert run(met("soft", "aic_only"), blocks=blocks).clean


def test_a_hard_barrier_is_never_left_where_blocks_wait_for_a_core() -> None:
    """The fifth block begins when another has ended, and that waits for it."""
    assert run(met("hard", "aic_only"), blocks=4, chip=4).clean
    deadlock = run(met("hard", "aic_only"), blocks=5, chip=4).deadlock
    assert deadlock is not None and len(deadlock.blocked) == 5
    assert deadlock.blocked[0].waits_for == (
        "4 cores at the barrier, 5 are there, but 5 run this kernel, and the chip has no more cores")


def window(tensor: str) -> str:
    """%mine: 16 rows of a tensor from %row."""
    return (f"%mine = pto.partition_view %{tensor}_v, offsets = [%row, %c0], sizes = [%c16, %c8] : "
            f"!pto.tensor_view<?x?xf32> -> {PART}")


def exchanged(fence: bool) -> str:
    """Each block stores its half of s, meets the others, and loads the first half."""
    half = ("%b = pto.get_block_idx", "%bi = arith.index_cast %b : i64 to index", "%row = arith.muli %bi, %c16 : index",
            window("s"), f"pto.tstore ins(%v : {VEC}) outs(%mine : {PART})")
    fences = ["pto.fence.barrier_all #pto.fence_scope<gm>"] if fence else []
    call = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>"
    return vector(load("a", "v"), ALL, *half, *fences, call, load("s", "v"))


@pytest.mark.parametrize("order", ORDERS)
def test_a_barrier_of_cores_makes_nothing_visible_in_the_strict_reading(order: str) -> None:
    assert run(exchanged(fence=False), order, blocks=2, chip=1).clean
    outcome = run(exchanged(fence=False), order, blocks=2, chip=1, strict=True)
    assert outcome.races == []
    (unseen,) = outcome.unseen
    assert (unseen.write.op.name, unseen.read.op.name, unseen.memory) == ("pto.tstore", "pto.tload", "tensor s")
    assert unseen.fences == ("pto.fence.barrier_all",)
    assert run(exchanged(fence=True), order, blocks=2, chip=1, strict=True).clean


def reread(*between: str) -> str:
    """W1: a store to s, then a load of it, with a flag between them."""
    return vector(load("a", "v"), ALL, store("v", "s"), "pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]",
                  "pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]", *between, load("s", "v"))


@pytest.mark.parametrize(("fence", "strict", "told"), [(False, False, 0), (False, True, 1), (True, True, 0)])
def test_a_pipe_flag_is_no_memory_fence_in_the_strict_reading(fence: bool, strict: bool, told: int) -> None:
    between = ["pto.fence.barrier_all #pto.fence_scope<gm>"] if fence else []
    outcome = run(reread(*between), strict=strict)
    assert outcome.races == [] and len(outcome.unseen) == told


def scalar_store(*between: str) -> str:
    return vector("%x = arith.constant 1.0 : f32", "pto.store_scalar %x, %s[%c0] : !pto.ptr<f32>, f32",
                  *between, "pto.set_flag[<PIPE_S>, <PIPE_MTE2>, <EVENT_ID0>]",
                  "pto.wait_flag[<PIPE_S>, <PIPE_MTE2>, <EVENT_ID0>]", load("s", "v"))


def test_a_scalar_store_stays_in_the_cache_until_it_is_written_back() -> None:
    outcome = run(scalar_store())
    (unseen,) = outcome.unseen
    assert unseen.fences == ("pto.cmo.cacheinvalid",)
    assert run(scalar_store("pto.cmo.cacheinvalid %s single_cache_line : !pto.ptr<f32>")).clean


def written_by_blocks(step: int, atomic: bool = False) -> str:
    """Block i stores 16 rows of out, from row `step` * i."""
    attrs = "{atomicType = #pto.atomic_type<atomic_add>}" if atomic else ""
    return vector(
        load("a", "v"), ALL, "%b = pto.get_block_idx", "%bi = arith.index_cast %b : i64 to index",
        f"%step = arith.constant {step} : index", "%row = arith.muli %bi, %step : index",
        window("out"), f"pto.tstore ins(%v : {VEC}) outs(%mine : {PART}) {attrs}")


def test_blocks_of_a_launch_write_their_own_windows() -> None:
    """Q2 on the device: windows of 16 rows every 16 rows, or every 8."""
    assert run(written_by_blocks(16), blocks=2).clean
    (race,) = run(written_by_blocks(8), blocks=2).races
    assert race.hazard is Hazard.WAW and race.memory == "tensor out"
    assert (race.low, race.high) == (8 * 8 * 4, 16 * 8 * 4)
    assert {race.first.core, race.second.core} == {"block 0 vector", "block 1 vector"}
    added = run(written_by_blocks(8, atomic=True), blocks=2)
    assert added.clean
    np.testing.assert_array_equal(added.outputs["out"][8:16], ramp(32, 8)[8:16] + ramp(32, 8)[:8])


def swapped(met_before: bool) -> str:
    """Each block stores into its half of s, and copies the other half to its half of out."""
    call = ["pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>"]
    theirs = (f"%theirs = pto.partition_view %s_v, offsets = [%other, %c0], sizes = [%c16, %c8] : "
              f"!pto.tensor_view<?x?xf32> -> {PART}")
    return vector(
        load("a", "v"), ALL, "%b = pto.get_block_idx", "%bi = arith.index_cast %b : i64 to index",
        "%row = arith.muli %bi, %c16 : index", "%other = arith.subi %c16, %row : index",
        window("s"), f"pto.tstore ins(%v : {VEC}) outs(%mine : {PART})", "pto.fence.barrier_all #pto.fence_scope<gm>",
        *(call if met_before else []), theirs, f"pto.tload ins(%theirs : {PART}) outs(%v : {VEC})", ALL,
        window("out").replace("%mine", "%own"), f"pto.tstore ins(%v : {VEC}) outs(%own : {PART})")


@pytest.mark.requirement("EV-09")
@pytest.mark.parametrize("order", [*ORDERS, "cpu"])
def test_a_barrier_orders_workers_in_cpu_mode_too(order: str) -> None:
    outcome = run(swapped(met_before=True), order, blocks=2, chip=1)
    assert outcome.clean
    half = ramp(32, 8)[:16]
    np.testing.assert_array_equal(outcome.outputs["out"], np.concatenate([half, half]))
    alone = run(swapped(met_before=False), "cpu", blocks=2, chip=1)
    assert not alone.outputs["out"][:16].any()


CALLING = """module {
  func.func @on_cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    pto.sync.set <PIPE_FIX>, 1
    return
  }
  func.func @on_vector() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    pto.sync.wait <PIPE_V>, 1
    return
  }
  func.func @entry() attributes {pto.entry} {
    func.call @on_cube() : () -> ()
    func.call @on_vector() : () -> ()
    return
  }
}"""


def test_each_core_runs_the_calls_of_its_own_kind() -> None:
    module = read(CALLING, "kernel.pto")
    assert schedule.run(module, target("a2a3"), {}).clean
    silent = read(CALLING.replace("pto.sync.set <PIPE_FIX>, 1", ""), "kernel.pto")
    outcome = schedule.run(silent, target("a2a3"), {})
    assert outcome.deadlock is not None
    assert {b.at.core for b in outcome.deadlock.blocked} == {"vector lane 0", "vector lane 1"}


def test_a_kernel_that_does_not_say_its_kind_is_known_by_its_pipes() -> None:
    only = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aic_only>"
    flags = "pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]\npto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]"
    assert run(f"{flags}\n{only}").clean
    (error,) = run(only).errors
    assert error.kind == "pipe" and "takes no part" in error.message
