"""Runs that show a race are led to it: by what branches ask of sizes and parameters, past what does not matter."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.examples_event import branch
from tests.verifiers.examples_race import barrier, both, exp, pipes, read, write
from tests.verifiers.race_verdicts import judge, verdicts_of

REFUTED, UNKNOWN = Verdict.REFUTED, Verdict.UNKNOWN
DIGIT = "%part = arith.divsi %n, %c512 : index\n%bit = arith.remsi %part, %c2 : index"


def test_a_number_that_no_small_one_reaches_leads_into_a_branch() -> None:
    """Every 512 values of a parameter another one lets both ops take place: each of them fails."""
    text = pipes(DIGIT, branch("eq, %bit, %c1", both("S V"), exp("a", "b"), exp("b", "c")), args="%n: index")
    result = judge(text)
    assert REFUTED in verdicts_of(result)
    (found,) = (f for f in replayed(result, parse(text, "k.pto"), target("a2a3"), 0, {}).findings
                if f.rule == "RACE-RAW")
    assert dict(found.witness)["n"] == 512
    assert found.replay.startswith("confirmed")


@pytest.mark.parametrize(("ordered", "verdict"), [("slt, %n, %c100", UNKNOWN), ("eq, %bit, %c0", REFUTED)])
def test_what_callers_may_avoid_is_told_apart_from_what_none_can(ordered: str, verdict: Verdict) -> None:
    """Both ops take place where a digit is 1. A barrier stands between them for small numbers, which need not have it;
    or for those with digit 0, of which none is left."""
    text = pipes(
        DIGIT.replace("%c512", "%c8"), both("S V"),
        branch("eq, %bit, %c1", exp("a", "b"), branch(ordered, barrier("V")), exp("b", "c")), args="%n: index")
    result = judge(text)
    assert {o.verdict for o in result.obligations if o.rule == "RACE-RAW"} == {verdict}
    if verdict is UNKNOWN:
        assert any("it fails for n = " in f.message for f in result.findings)


def test_a_branch_without_anything_that_matters_is_not_asked() -> None:
    """What a scalar from memory decides there has nothing to do with the two ops that race."""
    text = pipes(
        "%d = pto.load_scalar %s[%c0] : !pto.ptr<i32> -> i32", "%k = arith.index_cast %d : i32 to index",
        read("a"), branch("eq, %k, %c1", "%z = arith.addi %k, %c1 : index"), both("S MTE3"), write("a"),
        args="%s: !pto.ptr<i32>")
    assert REFUTED in verdicts_of(judge(text))
