"""EVENT: protocols of flags by hand. A flag is 0 or 1; expected verdicts by counting sets and waits of each run."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.event_verdicts import ALL, PROVED, clean, events
from tests.verifiers.examples_event import branch, flag, loop
from tests.verifiers.kernels import check, finding, kernel, verdicts

REFUTED = Verdict.REFUTED


@pytest.mark.requirement("EV-03")
def test_two_sets_without_a_wait_between_are_refuted_at_the_second_and_name_the_first() -> None:
    result = events(flag("set"), flag("set"), flag("wait"), flag("wait"))
    found = finding(result, "EVENT-SET")
    assert found.verdict is REFUTED
    assert f"line {found.line - 1} set it" in found.message


def test_set_and_wait_in_turn_are_fine() -> None:
    assert clean(events(flag("set"), flag("wait"), flag("set"), flag("wait")))


def test_the_key_is_source_destination_and_id() -> None:
    nested = (flag("set", 2, "MTE3 V"), flag("set", 2, "MTE3 MTE2"), flag("wait", 2, "MTE3 MTE2"),
              flag("wait", 2, "MTE3 V"))
    assert clean(events(*nested))


def test_branches_with_the_same_condition_pair_up() -> None:
    both = (branch("sgt, %M, %c2", flag("set")), branch("sgt, %M, %c2", flag("wait")))
    assert clean(events(*both))
    wider = (branch("sgt, %M, %c2", flag("set")), branch("sgt, %M, %c1", flag("wait")))
    assert Verdict.PROVED not in verdicts(events(*wider), "EVENT-WAIT")


def test_the_complement_of_a_condition_is_recognised() -> None:
    opposite = (branch("sgt, %M, %c2", flag("set")), branch("sle, %M, %c2", flag("set")), flag("wait"))
    assert clean(events(*opposite))


def test_sections_are_cores_of_their_own() -> None:
    def sections(waits: str) -> FunctionResult:
        return events("pto.section.cube {", flag("set"), flag("wait"), "}", f"pto.section.{waits} {{", flag("set"),
                       flag("wait"), "}")

    assert clean(sections("vector"))
    apart = events("pto.section.cube {", flag("set"), "}", "pto.section.vector {", flag("wait"), "}")
    assert verdicts(apart, "EVENT-WAIT") == verdicts(apart, "EVENT-EXIT") == {REFUTED}


def test_recorded_events_are_flags_of_the_pipes_of_their_ops() -> None:
    def event(what: str, dst: str) -> str:
        return f"pto.{what}_event[#pto.sync_op_type<TLOAD>, #pto.sync_op_type<{dst}>, <EVENT_ID0>]"

    assert clean(events(event("record", "TVEC"), event("wait", "TVEC")))
    assert clean(events(event("record", "TVEC"), flag("wait", 0, "MTE2 V")))
    assert verdicts(events(event("record", "TVEC"), event("wait", "TMATMUL")), "EVENT-WAIT") == {REFUTED}


def test_a_text_without_flags_has_nothing_to_prove() -> None:
    result = events(loop("M", "pto.barrier <PIPE_ALL>"))
    assert not [o for o in result.obligations if o.rule in ALL]


@pytest.mark.parametrize(("waited", "expected"), [(0, PROVED), (1, {REFUTED})])
def test_a_flag_that_every_caller_who_has_it_set_leaves_set_is_refuted(waited: int, expected: set[Verdict]) -> None:
    """Whatever `%N` is: where the branch is taken the flag stays set, and no caller has it set otherwise."""
    arms = branch("sgt, %N, %c1", flag("set"), flag("wait", waited))
    result = check(kernel(arms, "%N: index"), families="EVENT")
    assert verdicts(result, "EVENT-EXIT") == expected
    if expected != PROVED:
        assert dict(finding(result, "EVENT-EXIT").witness)["N"] > 1


def test_on_a_pipe_that_the_core_has_not_a_wait_hangs_and_what_is_given_never_comes() -> None:
    """A vector core has no FIX."""
    found = events("pto.barrier <PIPE_FIX>", flag("set", 0, "FIX V"), flag("wait", 0, "FIX V")).findings
    said = [f.message.partition(": ")[2] for f in found if f.rule == "EVENT-PIPE"]
    assert said == ["it waits for ever", "it is never given", "it waits for ever"]
