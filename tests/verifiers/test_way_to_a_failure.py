"""A refutation of an op behind a branch names numbers that lead there whatever values nobody follows turn out to be."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.kernels import check, finding, kernel

WAIT = "pto.wait_flag[#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_V>, #pto.event<EVENT_ID0>]"


@pytest.mark.parametrize(("relation", "led"), [("ne", 0), ("eq", 1)])
def test_the_number_leads_to_the_op_alone(relation: str, led: int) -> None:
    """A wait for a flag that nobody sets, where %n says so or an unsigned number is small."""
    text = kernel("\n".join((
        f"%some = arith.cmpi {relation}, %n, %c1 : index", "%y = builtin.unrealized_conversion_cast %x : ui64 to i64",
        "%low = arith.constant 1 : i64", "%small = arith.cmpi ult, %y, %low : i64",
        "%is = arith.ori %some, %small : i1", "scf.if %is {", WAIT, "}")), "%n: index, %x: ui64")
    result = check(text, families="EVENT", assume=("0 <= n", "n <= 1"))
    (found,) = (f for f in result.findings if f.rule == "EVENT-WAIT")
    assert (found.verdict, dict(found.witness)["n"]) == (Verdict.REFUTED, led)
    seen = confirm_order(
        read(text, "k.pto"), "k", found.rule, dict(found.witness), target("a2a3"), line=found.text_line or 0)
    assert seen.startswith("confirmed: ")


@pytest.mark.requirement("VF-03")
@pytest.mark.parametrize(("start", "expected", "replay"), [
    ("%z = arith.constant 2 : index", Verdict.UNKNOWN, "not run: the inputs of this run do not lead there"),
    ("%z = arith.constant 3 : index", Verdict.REFUTED, "confirmed: ")])
def test_numbers_that_are_not_followed_count_where_a_run_meets_them(
    start: str, expected: Verdict, replay: str
) -> None:
    """2 | 0 is even, 3 | 0 is not. The wait behind it hangs or does not run at all."""
    text = kernel("\n".join((
        start, "%or = arith.ori %z, %c0 : index", "%y = arith.andi %or, %c1 : index",
        "%odd = arith.cmpi ne, %y, %c0 : index", "scf.if %odd {", WAIT,
        "}")))
    result = replayed(check(text, families="EVENT"), read(text, "k.pto"), target("a2a3"), 0, {})
    found = finding(result, "EVENT-WAIT")
    assert (found.verdict, found.replay[:len(replay)]) == (expected, replay)
    assert {o.verdict for o in result.obligations if o.rule == "EVENT-WAIT"} == {expected}
    assert result.verdict is expected
