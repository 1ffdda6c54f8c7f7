"""EVENT where one argument of a caller alone decides a branch: it is taken to lead each way, as RACE takes it."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.examples_event import branch, computed, flag, loop
from tests.verifiers.kernels import check, finding, kernel, obligations, verdicts

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
SET, WAIT = flag("set"), flag("wait")


def judged(*body: str, assume: tuple[str, ...] = ()) -> FunctionResult:
    text = kernel("\n".join(body), "%n: index, %m: index, %M: index, %g: i1")
    return check(text, families="EVENT", assume=assume)


@pytest.mark.parametrize(("body", "rule", "n"), [
    ((branch("sgt, %n, %c3", SET), WAIT), "EVENT-WAIT", 1),
    ((branch("slt, %n, %c3", SET), WAIT), "EVENT-WAIT", 3),
    ((SET, branch("ne, %n, %c1", WAIT)), "EVENT-EXIT", 1),
    ((loop("M", branch("sgt, %n, %c3", SET), WAIT),), "EVENT-WAIT", 1),
])
@pytest.mark.requirement("EV-03")
def test_a_flag_that_one_way_of_a_branch_leaves_out_is_refuted(body: tuple[str, ...], rule: str, n: int) -> None:
    result = judged(*body)
    found = finding(result, rule)
    assert (found.verdict, dict(found.witness)["n"]) == (REFUTED, n)
    assert found.help.endswith("or, if callers keep to it, --assume what n is")
    assert {o.rule for o in result.obligations if "BRANCH-TAKEN" in o.assumptions} == {rule}


@pytest.mark.parametrize("body", [
    (branch("sgt, %n, %c3", SET, WAIT),),
    (branch("sgt, %n, %c3", SET), branch("sge, %n, %c4", WAIT)),
    ("%in = arith.cmpi sgt, %n, %c3 : index", "scf.if %in {", SET, "} else {", SET, "}", WAIT),
])
def test_a_flag_that_both_ways_deal_with_is_proved(body: tuple[str, ...]) -> None:
    result = judged(*body)
    assert {o.verdict for o in result.obligations} == {PROVED}
    assert all("BRANCH-TAKEN" not in o.assumptions for o in result.obligations)


def test_what_callers_keep_to_settles_it() -> None:
    result = judged(branch("sgt, %n, %c3", SET), WAIT, assume=("n >= 4",))
    assert verdicts(result, "EVENT-WAIT") == {PROVED}
    assert all("BRANCH-TAKEN" not in o.assumptions for o in result.obligations)


@pytest.mark.parametrize(("body", "rule", "needs"), [
    ((branch("sgt, %n, %c3", SET), branch("sgt, %n, %c4", WAIT)), "EVENT-EXIT", "n >= 5"),
    ((branch("sgt, %n, %m", SET), WAIT), "EVENT-WAIT", "n >= m + 1"),
], ids=["two branches", "two arguments"])
def test_what_one_argument_does_not_decide_by_one_branch_stays_open(
    body: tuple[str, ...], rule: str, needs: str
) -> None:
    """Two branches may be for callers who never take one way of each."""
    found = finding(judged(*body), rule)
    assert found.verdict is UNKNOWN
    assert found.needs.startswith(needs[:5])


def test_an_id_that_an_argument_tells_is_no_branch() -> None:
    text = (SET, "%id = arith.remsi %n, %c2 : index", computed("wait", "id"))
    assert verdicts(judged(*text), "EVENT-WAIT") == {UNKNOWN}


def test_a_truth_that_a_caller_passes_names_the_assumption() -> None:
    result = judged("scf.if %g {", SET, "}", WAIT)
    (own,) = obligations(result, "EVENT-WAIT")
    assert own.verdict is REFUTED and "BRANCH-TAKEN" in own.assumptions


def test_what_is_not_followed_and_fails_in_a_small_run_is_refuted_by_one_branch() -> None:
    """A while loop hands a flag on from turn to turn; the set before it stands under a branch."""
    turns = (
        "%e = scf.while (%h = %c0) : (index) -> index {", "%go = arith.cmpi slt, %h, %c17 : index",
        "scf.condition(%go) %h : index", "} do {", "^bb0(%k: index):", WAIT, SET,
        "%odd = arith.muli %k, %c2 : index", "%next = arith.addi %odd, %c1 : index", "scf.yield %next : index", "}")
    assert {o.verdict for o in judged(SET, *turns, WAIT).obligations} <= {PROVED, UNKNOWN}
    found = [f for f in judged(branch("sgt, %n, %c3", SET), *turns, WAIT).findings if f.verdict is REFUTED]
    assert found and all("n" in dict(f.witness) for f in found)
    assert all("--assume what n is" in f.help for f in found)
