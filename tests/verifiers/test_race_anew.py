"""RACE: what each iteration of a loop computes is another number in the next, and branches ask it anew."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_event import branch, loop
from tests.verifiers.examples_race import VEC, barrier, both, exp, pipes, read
from tests.verifiers.kernels import load, store, window
from tests.verifiers.race_verdicts import RULES, judge

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
DATA = ("%word = pto.load_scalar %p[%i] : !pto.ptr<f32> -> f32", "%x = arith.fptosi %word : f32 to index")
SELECTED = ("%here = arith.cmpi eq, %i, %N : index", "%x = arith.select %here, %c0, %c1 : index")


def _carried(*body: str) -> str:
    """A loop that carries %x, twice as much in each iteration."""
    head = "%end = scf.for %i = %c0 to %M step %c1 iter_args(%x = %c1) -> (index) {"
    return "\n".join((head, *body, "%y = arith.muli %x, %c2 : index", "scf.yield %y : index", "}"))


def _places(first: int, second: int) -> tuple[str, ...]:
    """A load of rows 32x and more of `%q`, and then a store to rows 32x and more of it."""
    rows = [line for n, by in (("one", first), ("two", second)) for line in (
        f"%by_{n} = arith.constant {by} : index", f"%sum_{n} = arith.addi %x, %by_{n} : index",
        f"%row_{n} = arith.muli %sum_{n}, %c32 : index",
        window(f"w_{n}", "qv", f"%row_{n}, %c0", "%c32, %c64", "32x64"))]
    return (*rows, load("w_one", "a", VEC, "32x64"), store("b", "w_two", VEC, "32x64"))


def _verdicts(result: FunctionResult, rule: str) -> set[Verdict]:
    return {o.verdict for o in result.obligations if o.rule == rule}


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize("trips", ["M", "c3"])
@pytest.mark.parametrize("made", [DATA, SELECTED], ids=["data", "selected"])
def test_what_one_iteration_stores_the_next_may_load(made: tuple[str, ...], trips: str) -> None:
    """One iteration loads rows 32x + 32 and stores rows 32x: never the same. But x may be one less in the next."""
    text = pipes(both("S MTE3"), both("V MTE3"), loop(trips, *made, *_places(1, 0), barrier("MTE3")),
                 args="%M: index, %N: index")
    result = judge(text, explicit=True)
    found = _verdicts(result, "RACE-RAW") | _verdicts(result, "RACE-WAR")
    assert found & {UNKNOWN, REFUTED}


def test_what_a_loop_carries_is_another_number_in_each_iteration() -> None:
    """x = 1, 2, 4, ...: rows 64 are loaded in the first iteration and stored in the second."""
    result = judge(pipes(both("V MTE3"), _carried(*_places(1, 0), barrier("MTE3")), args="%M: index"), explicit=True)
    assert _verdicts(result, "RACE-WAR") == {REFUTED}


@pytest.mark.parametrize("made", [DATA, SELECTED], ids=["data", "selected"])
@pytest.mark.parametrize("period", ["", "%odd = arith.remsi %i, %c2 : index\n" + branch("eq, %odd, %c0", barrier("V"))])
def test_flags_and_barriers_order_them_all_the_same(made: tuple[str, ...], period: str) -> None:
    ordered = (barrier("MTE3"), both("MTE3 MTE2"), both("MTE2 MTE3"))
    load_, store_ = _places(1, 0)[-2:]
    places = _places(1, 0)[:-2]
    text = pipes(both("S MTE3"), both("V MTE3"),
                 loop("M", *made, *places, period, load_, both("MTE2 MTE3"), store_, *ordered),
                 args="%M: index, %N: index")
    result = judge(text)
    assert {o.verdict for o in result.obligations if o.rule in RULES} == {PROVED}


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize("period", ["", "%odd = arith.remsi %i, %c2 : index\n" + branch("eq, %odd, %c0", barrier("S"))])
@pytest.mark.parametrize("trips", ["c2", "c3", "c8", "M"])
def test_a_branch_that_data_decide_is_decided_anew_in_each_iteration(trips: str, period: str) -> None:
    """Where an iteration has written `b` with an op, the next may load it: nothing orders the two."""
    text = pipes(loop(
        trips, period, *DATA, "%big = arith.cmpi sgt, %x, %c0 : index", "scf.if %big {", exp("a", "b"), "}",
        "scf.if %big {", "} else {", read("b"), "}", barrier("V"), barrier("MTE2")), args="%M: index")
    result = judge(text, explicit=True)
    across = {o.verdict for o in result.obligations
              if o.rule == "RACE-WAW" and ("texp after tload" in o.site or "tload after texp" in o.site)}
    assert across and PROVED not in across


def _while(head: tuple[str, ...], body: tuple[str, ...]) -> str:
    return "\n".join((
        "%end = scf.while (%n = %c0) : (index) -> index {", *head, "%more = arith.cmpi slt, %n, %M : index",
        "scf.condition(%more) %n : index", "} do {", "^bb0(%k: index):", *body, "%next = arith.addi %k, %c1 : index",
        "scf.yield %next : index", "}"))


@pytest.mark.requirement("VF-01", "EV-08")
@pytest.mark.parametrize(("head", "body", "after", "expected"), [
    # the op before each test writes `a` again after the one in the body
    ((exp("c", "a"), barrier("V")), (exp("b", "a"),), (), REFUTED),
    ((exp("c", "a"), barrier("V")), (exp("b", "a"), barrier("V")), (), PROVED),
    # a load before each test, waited for in the body: the last one is not
    ((read("a"), both("MTE2 V")), (exp("a", "b"), both("V MTE2"), barrier("V")), (), PROVED),
    ((read("a"),), (both("MTE2 V"), exp("a", "b"), both("V MTE2"), barrier("V")), (exp("a", "c"),), REFUTED),
    ((read("a"),), (both("MTE2 V"), exp("a", "b"), both("V MTE2"), barrier("V")),
    (both("MTE2 V"), exp("a", "c")), PROVED),
    ((read("a"), both("MTE2 V")), (exp("a", "b"), barrier("V")), (), REFUTED),
])
def test_what_a_while_loop_does_before_each_test_runs_once_more(
    head: tuple[str, ...], body: tuple[str, ...], after: tuple[str, ...], expected: Verdict
) -> None:
    """Each verdict beside timed runs of 0 to 3 iterations."""
    text = pipes(_while(head, body), *after, args="%M: index")
    result = judge(text, explicit=True)
    found = {o.verdict for o in result.obligations if o.rule in RULES}
    assert (found == {PROVED}) if expected is PROVED else REFUTED in found and UNKNOWN not in found
    module = parse(text, "k.pto")
    raced = any(schedule.replay(module, "k", {"M": n}, target("a2a3")).races for n in range(4))
    assert raced is (expected is REFUTED)


_ALWAYS = "%always = arith.cmpi uge, %N, %c0 : index"
"""True for every number without a sign, which %N may have."""
_ON = ("%on = arith.addi %x, %c1 : index", "%y = arith.select %always, %on, %x : index")


def _row_after_row(*value: str, carried: bool) -> str:
    """Stores of 32 rows each, `%x` times 32 rows down, where `%x` is what the loop carries or what `value` computes."""
    rows = ("%row = arith.muli %x, %c32 : index",
            window("w", "qv", "%row, %c0", "%c32, %c64", "32x64"), store("b", "w", VEC, "32x64"))
    head = "%end = scf.for %i = %c0 to %M step %c1 iter_args(%x = %c0) -> (index) {"
    turns = "\n".join((head, *rows, *value, "scf.yield %y : index", "}")) if carried else loop("M", *value, *rows)
    return pipes(both("S V"), _ALWAYS, turns, args="%M: index, %N: index")


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize(("value", "carried", "told"), [
    (_ON, True, "always"), (DATA, False, "x"),
    (("%s = arith.addi %i, %N : index", "%x = arith.remui %s, %c512 : index"), False, "x")])
def test_what_may_be_another_place_in_each_iteration_is_no_race_by_itself(
    value: tuple[str, ...], carried: bool, told: str
) -> None:
    """A row further each time, because of what is not followed, or wherever data say: the runs that are looked at for
    a failure go by one value."""
    result = judge(_row_after_row(*value, carried=carried))
    (found,) = (f for f in result.findings if f.rule == "RACE-WAW")
    assert found.verdict is UNKNOWN
    assert f"it fails for {told}, which callers or data decide" in found.message


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize(("value", "carried"), [
    (("%y = arith.remsi %x, %c2 : index",), True), (("%x = arith.remsi %N, %c1 : index",), False)])
def test_the_same_place_in_each_iteration_is_a_race(value: tuple[str, ...], carried: bool) -> None:
    result = judge(_row_after_row(*value, carried=carried))
    assert REFUTED in _verdicts(result, "RACE-WAW")
