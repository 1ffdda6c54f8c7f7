"""A while loop whose condition never holds still runs what computes it, once: flags, flags between cores, accesses."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_event import flag
from tests.verifiers.examples_race import barrier, exp, pipes, read
from tests.verifiers.race_verdicts import RULES, judge
from tests.verifiers.test_both_sides import LOAD, STORE, crossing, goes_wrong
from tests.verifiers.test_cores_wait import Lines, both, heard, judged, told
from verifiers import Options, verify

PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED


def once(*head: str) -> Lines:
    """What comes before the only test of a condition, which fails; the body never runs."""
    return ("%end = scf.while (%w = %c0) : (index) -> index {", *head, "%never = arith.cmpi slt, %c1, %c0 : index",
            "scf.condition(%never) %w : index", "} do {", "^bb0(%k: index):", barrier("V"), "scf.yield %k : index", "}")


@pytest.mark.requirement("EV-06", "VF-01")
@pytest.mark.parametrize(("cube", "vector", "expected"), [
    (once(told(3)), (heard(3),), PROVED), (once(told(3)), (), REFUTED), ((), once(heard(3)), REFUTED),
    ((told(3),), once(heard(3)), PROVED)])
def test_a_flag_between_cores_before_the_only_test_counts(cube: Lines, vector: Lines, expected: Verdict) -> None:
    text = both(cube, vector)
    assert judged(text, "a2a3")[1] == {expected}
    outcome = schedule.replay(parse(text, "k.pto"), "k", {}, target("a2a3"))
    assert goes_wrong(outcome) is (expected is REFUTED)


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize(("body", "rule", "expected"), [
    (once(flag("set")), "EVENT-EXIT", REFUTED),
    ((*once(flag("set")), flag("wait")), "EVENT-EXIT", PROVED),
    ((*once(flag("set")), flag("wait")), "EVENT-WAIT", PROVED),
    ((flag("set"), *once(flag("wait"))), "EVENT-EXIT", PROVED),
    ((flag("set"), *once(flag("wait")), flag("wait")), "EVENT-WAIT", REFUTED),
])
def test_a_flag_before_the_only_test_counts(body: Lines, rule: str, expected: Verdict) -> None:
    text = pipes(*body)
    (result,) = verify(parse(text, "k.pto"), target("a2a3"), Options(families=frozenset({"EVENT"})))
    found = {o.verdict for o in result.obligations if o.rule == rule}
    assert expected in found and (expected is REFUTED or found == {PROVED})
    outcome = schedule.replay(parse(text, "k.pto"), "k", {}, target("a2a3"))
    assert bool(outcome.errors or outcome.deadlock) is (expected is REFUTED)


@pytest.mark.parametrize(("head", "expected"), [((exp("a", "b"),), REFUTED), ((barrier("ALL"), exp("a", "b")), PROVED)])
def test_an_access_before_the_only_test_counts(head: Lines, expected: Verdict) -> None:
    text = pipes(read("a"), *once(*head))
    found = {o.verdict for o in judge(text, explicit=True).obligations if o.rule in RULES}
    assert found == {expected}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("vector", "expected"), [
    ((*once(heard(3)), LOAD), PROVED), ((*once(LOAD), heard(3)), REFUTED)])
def test_an_access_of_another_core_before_the_only_test_counts(vector: Lines, expected: Verdict) -> None:
    text = crossing((STORE, told(3)), vector)
    (result,) = verify(parse(text, "k.pto"), target("a2a3"), Options(families=frozenset({"RACE", "EVENT"})))
    assert {o.verdict for o in result.obligations if o.rule == "RACE-CORE"} == {expected}
