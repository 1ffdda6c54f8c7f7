"""Flags from a pipe to itself: what they order, what they do not, and where they hang; each beside a run."""

from __future__ import annotations

import pytest

from pypto_verified.check import CheckOptions, verify_module
from pypto_verified.pto.reader import read as read_text
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator.schedule.runs import replay
from pypto_verified.targets import target
from tests.verifiers.examples_event import flag
from tests.verifiers.examples_race import both, exp, pipes, read

FIRST, SECOND = exp("a", "b"), exp("b", "c")
SET, WAIT = flag("set", 0, "V V"), flag("wait", 0, "V V")


def checked(chip: str, *body: str, strict: bool = False) -> FunctionResult:
    module = read_text(pipes(read("a"), both("MTE2 V"), *body), "k.pto")
    (result,) = verify_module(module, target(chip), CheckOptions(strict=strict))
    assert not any(f.rule == "REPLAY" for f in result.findings)
    return result


def refuted(result: FunctionResult) -> set[str]:
    return {f.rule for f in result.findings if f.verdict is Verdict.REFUTED and f.rule[:4] in ("RACE", "EVEN")}


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize(("body", "found"), [
    ((FIRST, SET, WAIT, SECOND), set()),
    ((FIRST, SECOND), {"RACE-RAW"}),
    ((SET, FIRST, WAIT, SECOND), {"RACE-RAW"}),
    ((FIRST, SET, SECOND, WAIT), {"RACE-RAW"}),
    ((FIRST, WAIT, SET, SECOND), {"EVENT-WAIT", "EVENT-EXIT"}),
    ((FIRST, WAIT, SECOND), {"EVENT-WAIT"}),
    ((FIRST, SET, SECOND), {"EVENT-EXIT", "RACE-RAW"}),
])
def test_a_flag_within_a_pipe_orders_what_stands_before_its_set(body: tuple[str, ...], found: set[str]) -> None:
    """On a2a3, where V needs an order between its own ops. What stands between set and wait may still run."""
    result = checked("a2a3", *body)
    assert found <= refuted(result) if "EVENT-WAIT" in found else found == refuted(result)
    module = read_text(pipes(read("a"), both("MTE2 V"), *body), "k.pto")
    outcome = replay(module, "k", {}, target("a2a3"))
    assert bool(outcome.races) is ("RACE-RAW" in found)
    assert (outcome.deadlock is not None) is ("EVENT-WAIT" in found)


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_in_the_strict_reading_such_a_flag_orders_nothing(chip: str) -> None:
    """V of a5 orders its own ops."""
    result = checked(chip, FIRST, SET, WAIT, SECOND, strict=True)
    assert ("RACE-RAW" in refuted(result)) is (chip == "a2a3")
    replays = [f.replay for f in result.findings if f.rule == "RACE-RAW"]
    assert all(r.startswith("confirmed") for r in replays)


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_a_wait_that_stands_before_its_set_in_one_pipe_hangs_on_each_chip(chip: str) -> None:
    result = checked(chip, FIRST, WAIT, SET, SECOND)
    assert "EVENT-WAIT" in refuted(result)
    assert all(f.replay.startswith("confirmed") for f in result.findings if f.rule == "EVENT-WAIT")


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize("pipe", ["V", "MTE2"])
def test_such_a_flag_may_be_set_again_as_its_pipe_does_not_overtake_itself(chip: str, pipe: str) -> None:
    own = flag("set", 0, f"{pipe} {pipe}"), flag("wait", 0, f"{pipe} {pipe}")
    assert not any(rule.startswith("EVENT") for rule in refuted(checked(chip, *own, *own, strict=True)))
    module = read_text(pipes(*own, *own), "k.pto")
    for schedule in ("program", "late"):
        assert replay(module, "k", {}, target(chip), schedule=schedule, strict=True).errors == []
