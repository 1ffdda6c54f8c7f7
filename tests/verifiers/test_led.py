"""What fails in a run that opaque Booleans alone lead to is refuted only by a run whose data or float arguments lead
there: no numbers of a witness do."""

from __future__ import annotations

import pytest

from pypto_verified.pto.module import Module
from pypto_verified.pto.reader import read
from pypto_verified.report.model import Finding, FunctionResult, Verdict
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.examples_event import flag
from tests.verifiers.kernels import kernel
from verifiers import Options, verify

UNSIGNED = ("%y = builtin.unrealized_conversion_cast %x : ui64 to i64", "%low = arith.constant 1 : i64",
            "%is = arith.cmpi ult, %y, %low : i64")
FLOAT = ("%five = arith.constant 5.0 : f32", "%is = arith.cmpf ogt, %f, %five : f32")
WAIT, SET = flag("wait", 0, "MTE2 V"), flag("set", 0, "MTE2 V")


def text(*lines: str, element: str = "f32") -> Module:
    """A kernel of these lines; %p points to elements of this type."""
    body = kernel("\n".join(lines), "%n: index, %x: ui64, %f: f32, %w: i1")
    return read(body.replace("%p: !pto.ptr<f32>", f"%p: !pto.ptr<{element}>"), "k.pto")


def judged(*lines: str, element: str = "f32", assume: tuple[str, ...] = ()) -> FunctionResult:
    """What the rules alone say."""
    options = Options(assume, families=frozenset({"EVENT"}), explicit_sync=True)
    (result,) = verify(text(*lines, element=element), target("a2a3"), options)
    return result


def found(*lines: str, element: str = "f32", assume: tuple[str, ...] = ()) -> list[Finding]:
    """The findings, replayed."""
    module = text(*lines, element=element)
    return replayed(judged(*lines, element=element, assume=assume), module, target("a2a3"), 0, {}).findings


@pytest.mark.requirement("VF-03")
@pytest.mark.parametrize(("rule", "body", "value"), [
    ("EVENT-WAIT", ("scf.if %is {", WAIT, "}"), 6), ("EVENT-WAIT", ("scf.if %is {", SET, "}", WAIT), None),
    ("EVENT-EXIT", ("scf.if %is {", SET, "}"), 6), ("EVENT-SET", (SET, "scf.if %is {", SET, "}", WAIT), 6),
])
def test_what_a_float_leads_to_is_refuted_by_a_run_of_one_that_does(
    rule: str, body: tuple[str, ...], value: int | None
) -> None:
    """More than 5 leads into the branch: of 5 and the numbers next to it 6 does; 1, which runs have, goes past it."""
    (open_,) = judged(*FLOAT, *body).findings
    assert (open_.rule, open_.verdict) == (rule, Verdict.UNKNOWN), "until a run shows it"
    assert "%is" in open_.message
    (refuted,) = found(*FLOAT, *body)
    assert (refuted.rule, refuted.verdict, refuted.replay[:9]) == (rule, Verdict.REFUTED, "confirmed")
    assert ("; with" in refuted.replay) is (value is not None)
    assert value is None or refuted.replay.endswith(f"; with all elements and float arguments {value}")


@pytest.mark.requirement("VF-03")
@pytest.mark.parametrize(("rule", "body"), [
    ("EVENT-WAIT", ("scf.if %is {", WAIT, "}")), ("EVENT-EXIT", ("scf.if %is {", SET, "}")),
    ("EVENT-SET", (SET, "scf.if %is {", SET, "}", WAIT)),
])
def test_an_unsigned_argument_is_followed_and_named(rule: str, body: tuple[str, ...]) -> None:
    """Less than 1 leads into the branch."""
    (refuted,) = found(*UNSIGNED, *body)
    assert (refuted.rule, refuted.verdict, refuted.replay[:9]) == (rule, Verdict.REFUTED, "confirmed")
    assert dict(refuted.witness) == {"x": 0}


def test_what_no_value_leads_to_stays_open() -> None:
    """No number is less than 5 and more than 5."""
    never = (*FLOAT, "%less = arith.cmpf olt, %f, %five : f32", "%both = arith.andi %is, %less : i1")
    (open_,) = found(*never, "scf.if %both {", WAIT, "}")
    assert (open_.rule, open_.verdict) == ("EVENT-WAIT", Verdict.UNKNOWN)
    assert "%is, %less" in open_.message


def test_elements_that_have_to_differ_are_found_among_what_is_compared() -> None:
    """The first one more than 5, the second one less."""
    words = (
        *FLOAT[:1], "%a = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> f32",
        "%b = pto.load_scalar %p[%c1] : !pto.ptr<f32> -> f32", "%high = arith.cmpf ogt, %a, %five : f32",
        "%low = arith.cmpf olt, %b, %five : f32", "%both = arith.andi %high, %low : i1")
    (refuted,) = found(*words, "scf.if %both {", WAIT, "}")
    assert (refuted.rule, refuted.verdict) == ("EVENT-WAIT", Verdict.REFUTED)
    assert "drawn from 5, 6, 4" in refuted.replay


def test_a_loop_without_a_pattern_is_led_by_data_too() -> None:
    """Its numbers are 1, 4 and 22; the flag is set where the square is 16, if the word is more than 5."""
    word = ("%word = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> f32", *FLOAT[:1],
            "%is = arith.cmpf ogt, %word, %five : f32")
    loop = (
        "%end = scf.while (%i = %c1) : (index) -> (index) {", "%on = arith.cmpi slt, %i, %c100 : index",
        "scf.condition(%on) %i : index", "} do {", "^bb0(%j: index):", "%square = arith.muli %j, %j : index",
        "%there = arith.cmpi eq, %square, %c16 : index", "scf.if %is {", "scf.if %there {", SET, "}", "}",
        "%more = arith.addi %square, %c2 : index", "%next = arith.addi %more, %j : index", "scf.yield %next : index",
        "}")
    exits = {f.verdict: f for f in found(*word, *loop) if f.rule == "EVENT-EXIT"}
    assert list(exits) == [Verdict.REFUTED]
    assert exits[Verdict.REFUTED].replay.startswith("confirmed: event")


@pytest.mark.parametrize(("assume", "verdict"), [((), Verdict.REFUTED), (("word <= 100",), Verdict.UNKNOWN)])
def test_data_that_are_assumed_to_be_something_are_not_tried(assume: tuple[str, ...], verdict: Verdict) -> None:
    """Set for more than 5 and waited for by all: a run does not know what is assumed of what it reads."""
    words = (
        "%i5 = arith.constant 5 : i32", "%word = pto.load_scalar %p[%c0] : !pto.ptr<i32> -> i32",
        "%is = arith.cmpi sgt, %word, %i5 : i32", "scf.if %is {", SET, "}", WAIT)
    (found_,) = found(*words, element="i32", assume=assume)
    assert (found_.rule, found_.verdict) == ("EVENT-WAIT", verdict)


@pytest.mark.parametrize("head", [UNSIGNED, FLOAT])
def test_what_goes_wrong_on_both_ways_is_refuted(head: tuple[str, ...]) -> None:
    (refuted,) = found(*head, "scf.if %is {", "} else {", "}", WAIT)
    assert refuted.verdict is Verdict.REFUTED
    assert refuted.replay.startswith("confirmed")


def test_numbers_that_lead_there_all_the_same_are_named() -> None:
    more = ("%some = arith.cmpi sgt, %n, %c1 : index", "%either = arith.ori %some, %is : i1")
    (refuted,) = found(*FLOAT, *more, "scf.if %either {", WAIT, "}")
    assert (refuted.verdict, refuted.replay[:9]) == (Verdict.REFUTED, "confirmed")
    assert dict(refuted.witness)["n"] > 1


@pytest.mark.parametrize("body", [("scf.if %w {", WAIT, "}"), ("scf.if %w {", SET, "}", WAIT)])
def test_a_truth_that_callers_pass_is_named(body: tuple[str, ...]) -> None:
    (refuted,) = found(*body)
    assert (refuted.verdict, refuted.replay[:9]) == (Verdict.REFUTED, "confirmed")
    assert dict(refuted.witness)["w"] == int(body[1] == WAIT)


def test_nobody_is_asked_to_assume_what_has_no_name() -> None:
    """Set for n > 1 or by the opaque truth, and waited for by that alone: right where it holds, or where n is less."""
    more = ("%some = arith.cmpi sgt, %n, %c1 : index", "%either = arith.ori %some, %is : i1")
    (open_,) = found(*FLOAT, *more, "scf.if %either {", SET, "}", "scf.if %is {", WAIT, "}")
    assert (open_.verdict, open_.needs) == (Verdict.UNKNOWN, "")
    assert open_.message.endswith("; callers or data decide it by %is")
