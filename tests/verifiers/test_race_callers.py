"""RACE where callers decide: which of their numbers lead to a race, and what they are told."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.examples_event import branch, loop
from tests.verifiers.examples_race import VEC, barrier, exp, pipes
from tests.verifiers.kernels import fill, finding
from tests.verifiers.race_verdicts import judge, verdicts_of

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN


def test_ops_that_race_whenever_a_caller_lets_both_run_are_refuted_with_its_scalar() -> None:
    """The exp of the first branch and the one behind it; a caller's scalar chooses the branch."""
    def judged(between: str) -> FunctionResult:
        return judge(pipes(
            fill("a", VEC), barrier("V"), branch("eq, %n, %c1", exp("a", "b")), between, exp("b", "c"),
            args="%n: index"), explicit=True)

    assert verdicts_of(judged(barrier("V"))) == {PROVED}
    found = finding(judged(""), "RACE-RAW")
    assert (found.verdict, dict(found.witness)) == (REFUTED, {"n": 1})


def test_what_some_callers_alone_meet_says_how_to_tell_what_they_keep_to() -> None:
    """The barrier stands in two branches; who passes 1 twice goes past both."""
    barriers = (branch(f"ne, %{n}, %c1", barrier("V")) for n in "nm")
    text = pipes(fill("a", VEC), *barriers, exp("a", "b"), args="%n: index, %m: index")
    found = finding(judge(text, explicit=True), "RACE-RAW")
    assert found.verdict is UNKNOWN
    assert "fails for m = 1, n = 1, which callers or data decide: --assume tells what callers keep to" in found.message
    assert not judge(text, explicit=True, assume=("n >= 2",)).findings


@pytest.mark.parametrize("assume", ["n >= 60000 and n <= 65535", "n <= -7", "3 * n >= 1000", "n == 4711"])
def test_a_race_is_found_for_the_numbers_that_callers_keep_to(assume: str) -> None:
    """No small number is one of them; the race does not depend on it, or needs a second turn of a loop up to it."""
    texts = [pipes(fill("a", VEC), exp("a", "b"), args="%n: index")]
    texts += [pipes(fill("a", VEC), barrier("V"), loop("n", exp("a", "a")), args="%n: index")] * ("-" not in assume)
    for text in texts:
        assert {f.verdict for f in judge(text, explicit=True, assume=(assume,)).findings} == {REFUTED}


@pytest.mark.parametrize(("condition", "leads"), [("sgt, %n, %c0", 0), ("ne, %n, %c1", 1)])
def test_an_argument_that_alone_decides_a_branch_is_taken_to_lead_both_ways(condition: str, leads: int) -> None:
    """Both ops run for each value; the barrier is left out for some."""
    text = pipes(fill("a", VEC), branch(condition, barrier("V")), exp("a", "b"), args="%n: index")
    result = judge(text, explicit=True)
    found = finding(result, "RACE-RAW")
    assert (found.verdict, dict(found.witness)) == (REFUTED, {"n": leads})
    assert found.help.endswith("or, if callers keep to it, --assume what n is")
    assert all("BRANCH-TAKEN" in o.assumptions for o in result.obligations if o.verdict is REFUTED)
    right = judge(text, explicit=True, assume=(f"n >= {leads + 1}",))
    assert not right.findings
    assert all("BRANCH-TAKEN" not in o.assumptions for o in right.obligations)


def test_a_race_that_some_value_of_a_callers_scalar_avoids_is_not_decided() -> None:
    """Two branches may be for callers who never take both; where a tile is, no branch tells."""
    text = pipes(
        fill("a", VEC), branch("ne, %n, %c1", barrier("V")), branch("ne, %n, %c2", barrier("V")), exp("a", "b"),
        branch("eq, %n, %c1", barrier("V")), exp("b", "c"), args="%n: index")
    found = verdicts_of(judge(text, explicit=True))
    assert UNKNOWN in found and REFUTED not in found
    offset = pipes(
        "%at = arith.muli %n, %c512 : index", "%at64 = arith.index_cast %at : index to i64",
        f"%t = pto.alloc_tile addr = %at64 valid_row = %c32 valid_col = %c64 : {VEC}", fill("a", VEC), exp("t", "c"),
        args="%n: index")
    assert REFUTED not in verdicts_of(judge(offset, explicit=True))
