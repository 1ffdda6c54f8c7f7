"""Remarks on synchronisation: whose business it is, and what may go."""

from __future__ import annotations

from pypto_verified.pto.reader import read as parse
from pypto_verified.targets import target
from tests.verifiers.examples_event import flag, loop
from tests.verifiers.examples_race import barrier, both, chain, exp, pipes, read, write
from verifiers import Options
from verifiers.race.remarks import sync_remarks


def _remarks(text: str, chip: str = "a2a3", explicit: bool = False) -> list[str]:
    return sync_remarks(parse(text, "k.pto"), target(chip), Options(explicit_sync=explicit))


def test_a_text_without_flags_is_left_to_the_assembler() -> None:
    text = pipes(read("a"), barrier("V"), exp("a", "b"))
    (remark,) = _remarks(text)
    assert remark.startswith("sync left to the assembler: k ")
    assert _remarks(text, explicit=True) == []


def test_a_text_with_flags_that_are_all_needed_has_no_remark() -> None:
    assert _remarks(chain("MTE2 V", "V MTE3")) == []


def test_a_flag_that_orders_nothing_new_is_named_with_its_lines_and_cost() -> None:
    text = pipes(read("a"), both("MTE2 V"), exp("a", "b"), both("V MTE3"), both("MTE2 MTE3", 1), write("b"))
    (remark,) = _remarks(text)
    line = next(n for n, x in enumerate(text.splitlines(), 1) if "<PIPE_MTE2>, <PIPE_MTE3>" in x)
    assert f"flag MTE2 -> MTE3 (line {line} and {line + 1})" in remark
    assert remark.endswith("it runs once")


def test_a_barrier_in_a_loop_that_flags_make_spare_costs_each_iteration() -> None:
    """V sets a flag that MTE2 waits for before the load that V waits for: that orders V's own ops too."""
    text = pipes(loop("M", read("a"), both("MTE2 V"), exp("a", "b"), barrier("V"), both("V MTE2", 1)), args="%M: index")
    (remark,) = _remarks(text)
    assert "barrier V" in remark and remark.endswith("in each iteration")


def test_nothing_is_called_redundant_where_an_order_is_missing_or_an_op_is_not_modelled() -> None:
    assert _remarks(pipes(read("a"), flag("set", 0, "MTE2 V"), exp("a", "b"), flag("wait", 0, "MTE2 V"))) == []
    unknown = pipes("%t2 = pto.declare_tile -> !pto.tile_buf<vec, 32x64xf32>", both("S V"), exp("a", "b"))
    assert _remarks(unknown) == []
