"""Ops that go as late as they may, and what a race does to the results of such a run."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.module import Module
from pypto_verified.pto.walk import walk_ops
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.simulator.values import Array
from pypto_verified.targets import target
from tests.simulator.timed import Timed


def copied(*between: str) -> Timed:
    """A tile is filled with 1, then with 2 at the line `late`, doubled after `between`, and stored."""
    k = Timed()
    k.tensor("out", "f32", 8, 64)
    k.tile("t", "f32", 8, 64)
    k.tile("u", "f32", 8, 64)
    k.fill("t", 1)
    k.barrier("V")
    k.fill("t", 2)
    for line in between:
        k.line(line)
    k.line(f"pto.tadd ins(%t, %t : {k.types['t']}, {k.types['t']}) outs(%u : {k.types['u']})")
    k.both("V>MTE3")
    k.store("u", "out_p")
    return k


def line_of(k: Timed, op: str, which: int = 0) -> int:
    return [o.line for o in walk_ops(k.func) if o.name == op][which]


def ended(k: Timed, chip: str, *held: int) -> Array:
    return schedule.replay(k.func, "", {}, target(chip), held=frozenset(held)).outputs["out"]


@pytest.mark.parametrize(("between", "chip", "left"), [
    ((), "a2a3", 2), (("pto.barrier <PIPE_V>",), "a2a3", 4), ((), "a5", 4)])
def test_an_op_passes_one_of_its_pipe_that_is_held_where_nothing_orders_them(
    between: tuple[str, ...], chip: str, left: int
) -> None:
    """V of a5 is in order."""
    k = copied(*between)
    assert (ended(k, chip) == 4).all()
    assert (ended(k, chip, line_of(k, "pto.texpands", 1)) == left).all()


def test_loads_into_one_tile_land_in_order_though_the_first_is_held() -> None:
    """Assumption LOAD-AFTER-LOAD."""
    k = Timed()
    for name in ("a", "b", "out"):
        k.tensor(name, "f32", 8, 64)
    k.tile("t", "f32", 8, 64)
    k.load("a_p", "t")
    k.load("b_p", "t")
    k.both("MTE2>MTE3")
    k.store("t", "out_p")
    outcome = schedule.replay(k.func, "", {}, target("a2a3"), held=frozenset({line_of(k, "pto.tload")}))
    np.testing.assert_array_equal(outcome.outputs["out"], outcome.outputs["b"])


def looped(*between: str) -> Timed:
    """Each of 8 turns loads a row into one tile and stores it; `between` orders a store before the next load."""
    k = Timed()
    k.tensor("a", "f32", 8, 64)
    k.tensor("out", "f32", 8, 64)
    k.tile("t", "f32", 1, 64)
    k.loop(k.number(8))
    row = "!pto.partition_tensor_view<1x64xf32>"
    for name in ("a", "out"):
        k.line(f"%{name}_i = pto.partition_view %{name}_v, offsets = [%i, {k.number(0)}], sizes = [{k.number(1)}, "
               f"{k.number(64)}] : !pto.tensor_view<?x?xf32> -> {row}")
    k.line(f"pto.tload ins(%a_i : {row}) outs(%t : {k.types['t']})")
    k.both("MTE2>MTE3")
    k.line(f"pto.tstore ins(%t : {k.types['t']}) outs(%out_i : {row})")
    for pair in between:
        k.both(pair)
    k.close()
    return k


@pytest.mark.parametrize("ordered", [False, True])
def test_all_turns_of_a_held_op_go_late_and_what_orders_them_is_kept(ordered: bool) -> None:
    """Without order all loads run before the first store, so each row of the output is the last one."""
    k = looped(*(("MTE3>MTE2",) if ordered else ()))
    outcome = schedule.replay(k.func, "", {}, target("a2a3"), held=frozenset({line_of(k, "pto.tstore")}))
    a = outcome.outputs["a"].reshape(8, 64)
    np.testing.assert_array_equal(outcome.outputs["out"].reshape(8, 64), a if ordered else np.repeat(a[-1:], 8, axis=0))


def confirmed(k: Timed, rule: str, line: int, first: int) -> str:
    return confirm_order(
        Module([k.func]), "kernel", rule, {}, target("a2a3"), line=line, first=first, names={"out": "result"})


@pytest.mark.requirement("EV-08")
def test_a_confirmed_race_tells_the_schedule_and_the_element_that_it_spoils() -> None:
    k = copied()
    first, second = line_of(k, "pto.texpands", 1), line_of(k, "pto.tadd")
    seen = confirmed(k, "RACE-RAW", second, first)
    assert seen.startswith("confirmed: read after write")
    assert seen.endswith(
        f"; with line {first} as late as it may be (--hold), element 0 of result is 2.0 instead of 4.0")


def test_a_race_that_changes_no_result_is_still_a_race() -> None:
    """Both ops write the same, so that neither order shows."""
    k = Timed()
    k.tensor("out", "f32", 8, 64)
    k.tile("t", "f32", 8, 64)
    k.fill("t", 1)
    k.fill("t", 1)
    k.both("V>MTE3")
    k.store("t", "out_p")
    lines = [line_of(k, "pto.texpands", n) for n in (0, 1)]
    seen = confirmed(k, "RACE-WAW", lines[1], lines[0])
    assert seen.startswith("confirmed: write after write") and "instead of" not in seen


def test_a_flag_that_is_left_set_is_shown_though_a_hang_comes_before_the_end() -> None:
    """MTE2 sets id 0, V waits for id 1."""
    k = Timed()
    k.set("MTE2>V", 0)
    k.wait("MTE2>V", 1)
    seen = confirmed(k, "EVENT-EXIT", line_of(k, "pto.set_flag"), 0)
    assert seen.endswith("flag MTE2 -> V id 0 is still set when the kernel ends")
