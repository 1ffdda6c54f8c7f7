"""RACE under each reading and on each pipe: what the strict one refuses, and ops whose pipe depends on more than their
name."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.examples_event import loop
from tests.verifiers.examples_race import VEC, barrier, both, exp, pipes, read, write
from tests.verifiers.kernels import alloc, kernel, load, store, tile, unary, view, window
from tests.verifiers.race_verdicts import judge, message_of, verdicts_of

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN


def test_a_barrier_that_the_target_drops_orders_nothing() -> None:
    text = pipes(both("MTE2 V"), exp("a", "b"), barrier("V"), exp("b", "c"))
    assert verdicts_of(judge(text, "a5", strict=True)) == {PROVED}, "V is in order on a5 under both readings"


def test_a_scalar_read_waits_for_the_vector_op_and_the_next_vector_op_for_the_scalar_read() -> None:
    def value(first: str, second: str) -> str:
        return pipes(
            exp("a", "b"), both(first), f"%v = pto.tgetval ins(%b, %c0 : {VEC}, index) outs : f32", both(second),
            exp("c", "b"))

    assert verdicts_of(judge(value("V S", "S V"), "a5")) == {PROVED}
    assert "tgetval" in message_of(judge(value("V MTE3", "S V"), "a5"), "RACE-RAW", REFUTED)
    assert "texp" in message_of(judge(value("V S", "MTE3 MTE2"), "a5"), "RACE-WAR", REFUTED)


def test_a_wait_on_the_scalar_pipe_holds_back_all_later_ops_unless_strict() -> None:
    text = pipes(exp("a", "b"), both("V S"), write("b"))
    assert verdicts_of(judge(text)) == {PROVED}
    assert REFUTED in verdicts_of(judge(text, strict=True))


def test_two_loads_land_in_order_unless_strict() -> None:
    text = pipes(read("a"), read("a"), both("MTE2 V"))
    assert verdicts_of(judge(text)) == {PROVED}
    assert REFUTED in verdicts_of(judge(text, strict=True))


@pytest.mark.requirement("EV-01")
def test_a_move_from_vec_to_mat_is_proved_only_if_ordered_on_each_pipe_it_may_run_on() -> None:
    nz = tile(32, 64, "f16", "vec", "col_major", "row_major")
    mat = tile(32, 64, "f16", "mat", "col_major", "row_major")

    def moved(*waited: str) -> FunctionResult:
        text = kernel("\n".join((
            alloc("x", nz), alloc("m", mat), f"pto.texpands ins(%one : f32) outs(%x : {nz})", both("S V"),
            *(both(f"V {p}") for p in waited),
            f"pto.tmov ins(%x : {nz}) outs(%m : {mat})")), kind="vector")
        return judge(text, "a5")

    assert verdicts_of(moved("FIX", "MTE3")) == {PROVED}
    only = moved("FIX")
    assert verdicts_of(only) == {UNKNOWN}
    assert "MTE3" in message_of(only, "RACE-RAW", UNKNOWN)


def test_a_flag_is_a_fence_within_a_core_unless_strict() -> None:
    """PTOAS#730: a loop stores X, flags MTE3 -> MTE2 and loads X."""
    text = kernel("\n".join((
        view("pv", "p", "c32"), alloc("a", VEC), window("w", "pv", "%c0, %c0", "%c32, %c64", "32x64"), both("S V"),
        loop("M", store("a", "w", VEC, "32x64"), both("MTE3 MTE2"), load("w", "a", VEC, "32x64"), both("MTE2 MTE3")))),
        "%M: index")
    relaxed, strict = judge(text), judge(text, strict=True)
    assert {o.verdict for o in relaxed.obligations} == {PROVED}
    assert any("FLAG-IS-FENCE" in o.assumptions for o in relaxed.obligations)
    assert {o.verdict for o in strict.obligations if o.rule == "RACE-VISIBLE"} == {REFUTED}


@pytest.mark.requirement("EV-01")
def test_a_popped_tile_on_a5_is_proved_only_if_ordered_after_s_too() -> None:
    def popped(*between: str) -> FunctionResult:
        popped_type = tile(32, 64, valid=("32", "64"))
        return judge(kernel("\n".join((
            '%ring = pto.reserve_buffer {name = "r", size = 65536, location = #pto.address_space<vec>, auto = false, '
            "base = 65536} -> i32", "%zero32 = arith.constant 0 : i32",
            "pto.aiv_initialize_pipe {id = 0, dir_mask = 1, slot_size = 8192} (c2v_consumer_buf = %ring : i32, "
            "v2c_consumer_buf = %zero32 : i32)", alloc("b", VEC, 8192),
            f"%x = pto.tpop_from_aic {{id = 0, split = 0}} -> {popped_type}", *between,
            unary("texp", "x", "b", popped_type, VEC), both("V MTE3")))), "a5")

    assert verdicts_of(popped(both("S V"))) == {PROVED}
    assert verdicts_of(popped()) == {UNKNOWN}
