"""Flags are one bit a (source pipe, destination pipe, id): what is told of their misuse. Scenarios of the class
EVENT-ID, as pairs that differ in one op, and under both readings where there are two."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.schedule import Outcome
from tests.simulator.text import ramp, zeros
from tests.simulator.timed import ORDERS, Timed


def told(outcome: Outcome) -> list[str]:
    return [e.message for e in outcome.errors if e.kind == "event"]


def nested(inner: str) -> Timed:
    """E1: two flags of one source pipe and one id are set at once."""
    k = Timed()
    k.set("MTE3>V", 2)
    k.set(inner, 2)
    k.wait(inner, 2)
    k.wait("MTE3>V", 2)
    return k


def test_flags_of_two_destinations_are_two_flags_but_not_in_the_strict_reading() -> None:
    assert nested("MTE3>MTE2").under("program", "a2a3").clean
    (message,) = told(nested("MTE3>MTE2").under("program", "a2a3", strict=True))
    assert message == ("flag MTE3 -> MTE2 id 2 is set while flag MTE3 -> V id 2 is still set by line 3, which nothing "
                       "has waited for")
    assert told(nested("MTE2>MTE3").under("program", "a2a3", strict=True)) == []


def twice(words: str) -> Timed:
    """E2: sets (s) and waits (w) of one flag."""
    k = Timed()
    for word in words:
        (k.set if word == "s" else k.wait)("V>MTE2")
    return k


@pytest.mark.parametrize("order", ORDERS)
def test_a_set_of_an_occupied_flag_names_both_places_and_is_lost(order: str) -> None:
    outcome = twice("ssww").under(order, "a2a3")
    error = next(e for e in outcome.errors if "is set while" in e.message)
    assert error.line == 4 and "still set by line 3" in error.message
    assert outcome.deadlock is not None
    (blocked,) = outcome.deadlock.blocked
    assert (blocked.at.op.name, blocked.at.line, blocked.at.pipe) == ("pto.wait_flag", 6, "MTE2")
    assert twice("swsw").under(order, "a2a3").clean


def test_a_wait_for_a_free_flag_says_who_took_it() -> None:
    (message,) = told(twice("sww").under("program", "a2a3"))
    assert message == "waits for flag V -> MTE2 id 0, which is free: line 4 has waited for it already"
    (message,) = told(twice("w").under("program", "a2a3"))
    assert message == "waits for flag V -> MTE2 id 0, which is free: nothing has set it"


def test_a_flag_that_is_left_set_is_told() -> None:
    assert told(twice("s").under("program", "a2a3")) == ["flag V -> MTE2 id 0 is still set when the kernel ends"]


def primed(inside: bool) -> Timed:
    """E3: a flag that is waited for and set again in the first two of four turns; primed before the loop, or in each
    turn."""
    k = Timed()
    two = k.number(2)
    if not inside:
        k.set("V>MTE2")
    k.loop(k.number(4))
    if inside:
        k.set("V>MTE2")
    k.line(f"%early = arith.cmpi slt, %i, {two} : index")
    k.line("scf.if %early {")
    k.wait("V>MTE2")
    k.set("V>MTE2")
    k.line("}")
    k.close()
    k.wait("V>MTE2")
    return k


def test_a_flag_that_is_primed_in_each_turn_is_occupied_in_the_second() -> None:
    assert primed(inside=False).under("program", "a2a3").clean
    messages = told(primed(inside=True).under("program", "a2a3"))
    assert "is set while" in messages[0]


def reused(back: bool) -> Timed:
    """One id for two loads in a row, each waited for at once; `back`: V tells MTE2 that it has waited."""
    k = Timed()
    for name in ("a", "b"):
        k.tensor(name, "f32", 16, 64)
        k.tile(f"t{name}", "f32", 16, 64)
    k.tile("u", "f32", 16, 64)
    k.load("a_p", "ta")
    k.both("MTE2>V")
    if back:
        k.both("V>MTE2")
    k.load("b_p", "tb")
    k.both("MTE2>V")
    k.op("tadd", "ta tb", "u")
    return k


@pytest.mark.parametrize("order", ORDERS)
def test_an_id_may_be_reused_in_program_order_but_not_in_the_strict_reading(order: str) -> None:
    a = zeros(16, 64)
    assert reused(back=False).under(order, "a2a3", a=a, b=a).clean
    (message,) = told(reused(back=False).under(order, "a2a3", strict=True, a=a, b=a))
    assert "nothing orders it after the wait" in message
    assert reused(back=True).under(order, "a2a3", strict=True, a=a, b=a).clean


def evented(event: str) -> Timed:
    """A load and an add, with an event from loads to another kind of ops."""
    k = Timed()
    k.tensor("a", "f32", 16, 64)
    k.tile("t", "f32", 16, 64)
    k.tile("u", "f32", 16, 64)
    k.load("a_p", "t")
    for name in ("record_event", "wait_event"):
        k.line(f"pto.{name}[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<{event}>, #pto.event<EVENT_ID1>]")
    k.op("tadd", "t t", "u")
    return k


@pytest.mark.parametrize(("event", "races"), [("TVEC", 0), ("TSTORE_VEC", 1)])
def test_an_event_orders_the_pipes_of_its_ops(event: str, races: int) -> None:
    outcome = evented(event).under("late", "a2a3", a=zeros(16, 64))
    assert (len(outcome.races) == races and outcome.errors == []) or races


def chained(waits_on: str) -> Timed:
    """A wait of the scalar unit holds back what is issued after it: a load over a tile that V reads."""
    k = Timed()
    k.tensor("a", "f32", 16, 64)
    k.tile("t", "f32", 16, 64)
    k.tile("u", "f32", 16, 64)
    k.load("a_p", "t")
    k.both("MTE2>V")
    k.op("tadd", "t t", "u")
    k.both(f"V>{waits_on}")
    k.load("a_p", "t")
    return k


@pytest.mark.parametrize(
    ("waits_on", "strict", "races"), [("S", False, 0), ("S", True, 1), ("MTE3", False, 1), ("MTE2", True, 0)])
def test_a_wait_of_the_scalar_unit_holds_what_it_issues_later(waits_on: str, strict: bool, races: int) -> None:
    outcome = chained(waits_on).under("program", "a2a3", strict=strict, a=zeros(16, 64))
    assert len([r for r in outcome.races if r.first.pipe == "V"]) == races


@pytest.mark.requirement("EV-09")
def test_in_cpu_mode_events_order_nothing_and_occupancy_is_still_checked() -> None:
    unordered = Timed()
    unordered.tensor("a", "f32", 16, 64)
    unordered.tensor("out", "f32", 16, 64)
    unordered.tile("t", "f32", 16, 64)
    unordered.load("a_p", "t")
    unordered.store("t", "out_p")
    a = ramp(16, 64)
    outcome = unordered.under("cpu", "a2a3", a=a, out=zeros(16, 64))
    assert outcome.clean
    np.testing.assert_array_equal(outcome.outputs["out"], a)
    assert "is set while" in told(twice("ssww").under("cpu", "a2a3"))[0]
    assert twice("w").under("cpu", "a2a3").deadlock is None


def test_a_flag_of_a_pipe_on_which_no_op_runs_is_not_modelled() -> None:
    """The dialect has more names of pipes than the chips have pipes."""
    k = Timed()
    k.set("V>MTE4")
    (error,) = k.under("program", "a5").errors
    assert isinstance(error, UnmodelledError) and error.message == "pto.set_flag of pipe MTE4"
