"""The scenarios of order that public reports tell: each has its pair here, refuted by the rule that is about it, and
where readings or chips differ, each verdict."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from pypto_verified.check import CheckOptions, check_file
from pypto_verified.report.model import Verdict
from tests.corpus.test_corpus import HERE, rule_of


class Scenario(NamedTuple):
    """What goes wrong, the pair that shows it, and the rule that finds it."""

    what: str
    pair: str
    rule: str


SCENARIOS = (
    Scenario("a loop of no turns holds the only wait for loads", "race_zero_trip", "RACE-RAW"),
    Scenario("a flag that only a first turn sets is waited for", "event_zero_trip", "EVENT-WAIT"),
    Scenario("the barrier between a fill and its use stands in a branch", "race_branch_join", "RACE-RAW"),
    Scenario("the same, where an argument decides that is no size", "race_branch_argument", "RACE-RAW"),
    Scenario("a put reads through MTE2 what MTE3 stores", "race_put_reads", "RACE-RAW"),
    Scenario("a view's rows are read while its parent is loaded", "race_view_alias", "RACE-RAW"),
    Scenario("a ramp with scratch runs on V, the store waits for S", "race_ramp_pipe", "RACE-RAW"),
    Scenario("a product left in global memory is read by the other core at once", "race_core_handover", "RACE-CORE"),
    Scenario("two fences, one in the other, use one flag", "event_nested_fences", "EVENT-SET"),
    Scenario("a flag is set while it is set", "event_double_set", "EVENT-SET"),
    Scenario("a flag is primed in each turn, waited for in some", "event_conditional_prime", "EVENT-SET"),
    Scenario("the last tile has a negative extent", "hang_negative_extent", "VALID-LOWER"),
    Scenario("a move onto its own bytes in another layout", "move_onto_itself", "LAYOUT-MOVE"),
    Scenario("a scalar store is not cleaned from the cache", "race_cache_not_cleaned", "RACE-VISIBLE"),
    Scenario("a notification follows a put without a fence", "race_notify_early", "RACE-NOTIFY"),
    Scenario("the rings of two directions lie in one workspace", "fifo_rings_overlap", "FIFO-APART"),
    Scenario("a slot is given back while a store still reads it", "fifo_given_back_early", "RACE-FREE"),
    Scenario("two pops for one push", "fifo_two_pops", "FIFO-POP"),
    Scenario("a tile stays in the pipe", "fifo_left_in_pipe", "FIFO-DRAIN"),
    Scenario("credits that stand for too many tiles", "fifo_five_slots", "FIFO-OVERRUN"),
    Scenario("a lane pops what was not pushed of a box", "split_columns_of_box", "SPLIT-PITCH"),
    Scenario("a barrier of all cores in a launch of some", "hang_launch_of_part", "EVENT-LAUNCH"),
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: str(s.pair))
def test_a_scenario_has_a_pair_of_its_rule(scenario: Scenario) -> None:
    """That the bad text is refuted at its line, replayed where a run can show it, and the clean one proved, is tested
    of every pair."""
    (reject,), (accept,) = (list((HERE / folder).glob(f"{scenario.pair}.*")) for folder in ("reject", "accept"))
    assert rule_of(reject) == scenario.rule
    assert reject.name == accept.name


@pytest.mark.parametrize("pair", ["race_branch_join", "race_branch_argument"])
@pytest.mark.parametrize(("chip", "verdict"), [("a2a3", Verdict.REFUTED), ("a5", Verdict.PROVED)])
def test_ops_of_one_pipe_need_a_barrier_on_one_chip_only(chip: str, verdict: Verdict, pair: str) -> None:
    result = check_file(str(HERE / "reject" / f"{pair}.pto"), CheckOptions(target=chip, timeout=0))
    races = [f.verdict for function in result.functions for f in function.findings if f.rule.startswith("RACE")]
    assert (Verdict.REFUTED in races) is (verdict is Verdict.REFUTED)
    assert verdict is Verdict.REFUTED or not races


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("folder", "chip", "verdict"), [
    ("reject", "a2a3", Verdict.REFUTED), ("accept", "a2a3", Verdict.PROVED), ("accept", "a5", Verdict.REFUTED)])
def test_a_launch_that_fills_one_chip_leaves_cores_of_a_larger_one_out(
    folder: str, chip: str, verdict: Verdict
) -> None:
    """24 cubes with two vector cores each, or 36."""
    result = check_file(str(HERE / folder / "hang_launch_of_part.py"), CheckOptions(target=chip, timeout=0))
    (function,) = result.functions
    assert {o.verdict for o in function.obligations if o.rule == "EVENT-LAUNCH"} == {verdict}
