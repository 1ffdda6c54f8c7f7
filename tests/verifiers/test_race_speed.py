"""RACE: how long many sync ops in a loop nest take."""

from __future__ import annotations

from benchmarks.sync_nest import checked, nest
from pypto_verified.report.model import Verdict

SECONDS = 1.0
SLACK = 2
"""How much slower a machine may be than the goal."""


def test_a_thousand_sync_ops_in_a_nest_of_three_loops() -> None:
    checked(nest(8))
    result, seconds = checked(nest(1000))
    assert {o.verdict for o in result.obligations} == {Verdict.PROVED}
    assert seconds < SECONDS * SLACK


def test_one_wait_less_is_refuted() -> None:
    text = nest(64)
    wait = "pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID3>]\n    pto.tstore"
    assert text.count(wait) == 1
    result, _ = checked(text.replace(wait, "pto.tstore"))
    assert Verdict.REFUTED in {o.verdict for o in result.obligations if o.rule == "RACE-RAW"}
