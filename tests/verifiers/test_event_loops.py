"""EVENT in counted loops: flags that are handed on, ids in turn, conditions on the counter. A flag is 0 or 1; expected
verdicts by counting sets and waits of each run."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.event_verdicts import PROVED, clean, events
from tests.verifiers.examples_event import branch, computed, flag, loop
from tests.verifiers.kernels import finding, verdicts

REFUTED = Verdict.REFUTED


def _ring(primed: int, drained: int) -> FunctionResult:
    """Two flags in turn, each iteration waits for its own and sets it again; some are set before and taken after."""
    return events(
        *(flag("set", n) for n in range(primed)),
        loop("M", "%id = arith.remsi %i, %c2 : index", computed("wait", "id"), computed("set", "id")),
        *(flag("wait", n) for n in range(drained)))


def _unprimed(second: str) -> FunctionResult:
    """The same without priming: the first two iterations do not wait; the flags that ran are taken after."""
    return events(
        loop("M", "%id = arith.remsi %i, %c2 : index", branch("sge, %i, %c2", computed("wait", "id")),
             computed("set", "id")),
        branch("sgt, %M, %c0", flag("wait", 0)), branch(second, flag("wait", 1)))


def test_a_wait_after_a_loop_that_may_not_run_hangs_at_no_trips() -> None:
    result = events(loop("M", branch("eq, %i, %c0", flag("set"))), flag("wait"))
    assert dict(finding(result, "EVENT-WAIT").witness) == {"M": 0}
    assert clean(events(loop("c4", branch("eq, %i, %c0", flag("set"))), flag("wait")))


def test_a_flag_passed_on_by_a_loop_needs_priming_and_draining() -> None:
    body = loop("M", flag("wait"), flag("set"))
    assert clean(events(flag("set"), body, flag("wait")))
    assert dict(finding(events(body, flag("wait")), "EVENT-WAIT").witness)["i"] == 0
    assert verdicts(events(flag("set"), body), "EVENT-EXIT") == {REFUTED}


def test_a_condition_around_the_body_has_to_be_around_prime_too_or_around_neither() -> None:
    guarded = branch("slt, %i, %c2", flag("wait"), flag("set"))
    inside = events(loop("c4", flag("set"), guarded), flag("wait"))
    assert dict(finding(inside, "EVENT-SET").witness) == {"i": 1}
    assert clean(events(flag("set"), loop("c4", guarded), flag("wait")))


def test_ids_in_turn_hold_as_many_flags_as_were_set_before() -> None:
    assert clean(_ring(2, 2))
    late = finding(_ring(1, 1), "EVENT-WAIT")
    assert dict(late.witness) == {"M": 2, "i": 1}


@pytest.mark.parametrize("next_id", [
    "arith.subi %c1, %id", "arith.select %is_0, %c1, %c0", "arith.remsi %up, %c2", "arith.xori %id, %c1",
])
def test_an_id_that_goes_round_in_a_carried_value_is_one_in_turn(next_id: str) -> None:
    def carried(*primed: int) -> FunctionResult:
        return events(
            *(flag("set", n) for n in primed),
            "%end = scf.for %i = %c0 to %M step %c1 iter_args(%id = %c0) -> (index) {",
            computed("wait", "id"), computed("set", "id"),
            "%is_0 = arith.cmpi eq, %id, %c0 : index", "%up = arith.addi %id, %c1 : index",
            f"%next = {next_id} : index", "scf.yield %next : index", "}",
            *(flag("wait", n) for n in primed))

    assert clean(carried(0, 1))
    assert dict(finding(carried(0), "EVENT-WAIT").witness)["M"] == 2


def test_without_priming_only_the_flags_of_iterations_that_ran_are_taken() -> None:
    assert clean(_unprimed("sgt, %M, %c1"))
    one = _unprimed("sgt, %M, %c0")
    assert dict(finding(one, "EVENT-WAIT").witness) == {"M": 1}


def test_a_loop_that_waits_from_the_second_and_sets_to_the_last_but_one_iteration() -> None:
    def chain(first: str) -> FunctionResult:
        return events(
            "%last = arith.subi %M, %c1 : index",
            loop("M", branch(f"sge, %i, %{first}", flag("wait")), branch("slt, %i, %last", flag("set"))))

    assert clean(chain("c1"))
    assert dict(finding(chain("c0"), "EVENT-WAIT").witness)["i"] == 0
    assert dict(finding(chain("c2"), "EVENT-SET").witness) == {"M": 3, "i": 1}


def test_inner_loops_are_followed_for_every_trip_count() -> None:
    inner = loop("M", flag("wait"), flag("set")).replace("%i", "%j")
    assert clean(events(flag("set"), loop("M", inner), flag("wait")))
    handed = events(loop("M", flag("set"), inner, flag("wait")))
    assert clean(handed)
    assert REFUTED in verdicts(events(loop("M", flag("set"), inner)), "EVENT-SET")


def test_an_unbalanced_inner_loop_breaks_the_outer_one() -> None:
    inner = loop("M", branch("eq, %j, %c0", flag("set"))).replace("%i", "%j")
    result = events(loop("M", inner, flag("wait")))
    assert verdicts(result, "EVENT-WAIT") == PROVED, "the outer body runs only where the inner one does"
    shorter = loop("c2", inner, flag("wait"))
    assert dict(finding(events(shorter), "EVENT-WAIT").witness)["M"] == 0


@pytest.mark.parametrize("trips", ["c0", "c1", "c2", "c3", "c4", "c8"])
def test_a_loop_of_known_length_is_run_through(trips: str) -> None:
    # Iteration 1 sets the flag, iteration 3 takes it back: it stays set after 2 and 3 trips.
    body = (branch("eq, %i, %c1", flag("set")), branch("eq, %i, %c3", flag("wait")))
    left = int(trips[1:]) in (2, 3)
    assert verdicts(events(loop(trips, *body)), "EVENT-EXIT") == ({REFUTED} if left else PROVED)
