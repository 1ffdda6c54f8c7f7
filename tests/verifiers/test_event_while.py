"""EVENT in while loops, and where a pattern is not recognised: nothing is proved there that some run breaks."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.event_verdicts import PROVED, clean, events
from tests.verifiers.examples_event import branch, flag, loop
from tests.verifiers.kernels import check, finding, kernel, verdicts

REFUTED, UNKNOWN = Verdict.REFUTED, Verdict.UNKNOWN


def _while(*body: str) -> str:
    return "\n".join((
        "%end = scf.while (%n = %c0) : (index) -> index {",
        "%more = arith.cmpi slt, %n, %M : index", "scf.condition(%more) %n : index", "} do {", "^bb0(%k: index):",
        *body, "%next = arith.addi %k, %c1 : index", "scf.yield %next : index", "}"))


@pytest.mark.parametrize(("again", "right"), [(0, True), (1, False)])
def test_a_flag_that_a_while_loop_hands_on_is_followed_where_an_outer_loop_repeats_it(again: int, right: bool) -> None:
    """What the while loop would make of a flag that is not set depends on whether it runs; but it always is."""
    result = events(flag("set"), loop("M", _while(flag("wait"), flag("set", again))), flag("wait"))
    assert clean(result) is right


def test_a_while_loop_that_leaves_a_flag_as_it_found_it_is_followed() -> None:
    assert clean(events(_while(flag("set"), flag("wait"))))
    unbalanced = events(_while(flag("set")), flag("wait"))
    assert verdicts(unbalanced, "EVENT-WAIT") == {UNKNOWN}
    assert "line" in finding(unbalanced, "EVENT-WAIT").message


@pytest.mark.parametrize("inside", [
    (flag("wait"), flag("set")), (branch("eq, %k, %c3", flag("wait"), flag("set")),),
    (branch("eq, %k, %c3", flag("wait"), flag("set")), loop("N", flag("wait"), flag("set"))),
    (loop("N", branch("eq, %i, %k", flag("wait"), flag("set"))),),
    (_while(flag("wait"), flag("set")).replace("%n", "%m").replace(
        "%k", "%l").replace("%more", "%go").replace("%next", "%then").replace("%end", "%done"),),
])
def test_what_gives_back_the_flag_that_it_takes_is_followed_wherever_it_stands(inside: tuple[str, ...]) -> None:
    """In a while loop, set before it and waited for after it."""
    def text(*after: str) -> FunctionResult:
        body = "\n".join((flag("set"), _while(*inside), *after))
        return check(kernel(body, "%M: index, %N: index"), families="EVENT")

    assert clean(text(flag("wait")))
    assert not clean(text())
    assert not clean(text(flag("wait"), flag("wait")))


@pytest.mark.parametrize(("head", "body", "after"), [
    # sets and waits of a run with three iterations: 4 and 3; 4 and 4; 4 and 0; 3 and 4
    ((flag("set"),), (flag("wait"),), ()), ((flag("set"),), (flag("wait"),), (flag("wait"),)), ((flag("set"),), (), ()),
    ((flag("wait"),), (flag("set"),), ()),
])
def test_flags_where_a_while_loop_computes_its_condition_are_not_followed(
    head: tuple[str, ...], body: tuple[str, ...], after: tuple[str, ...]
) -> None:
    """That runs once more than the body does: neither that a flag is set nor that it is free is known there."""
    made = _while(*body).replace("scf.condition", "\n".join((*head, "scf.condition")))
    result = events(made, *after)
    assert verdicts(result, "EVENT-EXIT") == (PROVED if after else {UNKNOWN})
    assert REFUTED not in verdicts(result, "EVENT-SET") | (verdicts(result, "EVENT-WAIT") if body else set())


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize("body", [
    (_while(flag("set")),), (_while(flag("set"), branch("eq, %k, %N", flag("wait"))),),
    # each sets the flag in an iteration that is not one of the first, and nothing waits for it
    (loop("M", branch("eq, %i, %c17", flag("set"))),),
    (loop("M", branch("eq, %i, %c32", flag("set")), branch("eq, %i, %c17", flag("wait"))),),
    (loop("M", "%s = arith.muli %i, %i : index", branch("eq, %s, %c100", flag("set"))),),
    (loop("M", branch("eq, %i, %N", flag("set"))),),
    (loop("M", loop("N", branch("eq, %i, %c17", flag("set"))).replace("%i", "%j"), branch("eq, %i, %c100",
     flag("wait"))),),
])
def test_what_is_not_followed_is_not_proved(body: tuple[str, ...]) -> None:
    """Some run of each leaves the flag set."""
    result = check(kernel("\n".join(body), "%M: index, %N: index"), families="EVENT")
    assert verdicts(result, "EVENT-EXIT") in ({UNKNOWN}, {REFUTED})


@pytest.mark.parametrize("again", [(), (branch("eq, %k, %N", flag("wait")),), (branch("ne, %k, %c3", flag("wait")),)])
def test_a_set_in_each_iteration_of_a_while_loop_needs_a_wait_in_each(again: tuple[str, ...]) -> None:
    result = check(kernel(_while(flag("set"), *again), "%M: index, %N: index"), families="EVENT")
    assert verdicts(result, "EVENT-SET") in ({UNKNOWN}, {REFUTED})


def test_a_set_behind_what_is_not_followed_is_there_for_its_wait() -> None:
    """Whatever the loop leaves: the flag is set by then."""
    result = events(_while(flag("set")), flag("set"), flag("wait"))
    assert verdicts(result, "EVENT-SET") == {UNKNOWN}
    assert verdicts(result, "EVENT-WAIT") == PROVED and verdicts(result, "EVENT-EXIT") == PROVED


def _until_found(*primed: str, stop: str = "%c2") -> str:
    """A while loop that ends where its counter is `stop`: each turn waits, and sets again but in the last one."""
    return kernel("\n".join((
        "%no = arith.constant 0 : i1", "%yes = arith.constant 1 : i1", *primed,
        "%b, %k = scf.while (%x = %no, %y = %c0) : (i1, index) -> (i1, index) {",
        "%in = arith.cmpi slt, %y, %c8 : index", "%not = arith.xori %x, %yes : i1", "%go = arith.andi %in, %not : i1",
        "scf.condition(%go) %x, %y : i1, index", "} do {", "^bb0(%x1: i1, %y1: index):", flag("wait"),
        f"%hit = arith.cmpi eq, %y1, {stop} : index", "%x2 = scf.if %hit -> (i1) {", "scf.yield %yes : i1",
        "} else {", flag("set"), "scf.yield %x1 : i1", "}", "%y2 = arith.addi %y1, %c1 : index",
        "scf.yield %x2, %y2 : i1, index", "}")), "%N: index")


@pytest.mark.requirement("VF-03")
def test_a_loop_whose_pattern_is_not_recognised_is_refuted_by_a_run() -> None:
    text = _until_found()
    module = read(text, "k.pto")
    result = replayed(check(text, families="EVENT"), module, target("a2a3"), 0, {})
    found = finding(result, "EVENT-WAIT")
    assert found.verdict is REFUTED
    assert found.replay.startswith("confirmed")
    assert not [f for f in check(_until_found(flag("set")), families="EVENT").findings if f.verdict is REFUTED]


def test_what_fails_there_for_callers_alone_is_told() -> None:
    """The flag is still set after eight turns, if `%N` is none of their numbers."""
    result = check(_until_found(flag("set"), stop="%N"), families="EVENT")
    found = finding(result, "EVENT-EXIT")
    assert found.verdict is UNKNOWN
    assert "it fails for N = " in found.message
