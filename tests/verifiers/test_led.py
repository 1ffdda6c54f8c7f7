"""What fails in a run that opaque Booleans alone lead to is not refuted: no numbers of a witness bring it about."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Finding, Verdict
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.examples_event import flag
from tests.verifiers.kernels import kernel
from verifiers import Options, verify

UNSIGNED = ("%y = builtin.unrealized_conversion_cast %x : ui64 to i64", "%low = arith.constant 1 : i64",
            "%is = arith.cmpi ult, %y, %low : i64")
FLOAT = ("%five = arith.constant 5.0 : f32", "%is = arith.cmpf ogt, %f, %five : f32")
WAIT, SET = flag("wait", 0, "MTE2 V"), flag("set", 0, "MTE2 V")


def found(*lines: str) -> list[Finding]:
    """The findings, replayed."""
    module = read(kernel("\n".join(lines), "%n: index, %x: ui64, %f: f32, %w: i1"), "k.pto")
    options = Options(families=frozenset({"EVENT"}), explicit_sync=True)
    (result,) = verify(module, target("a2a3"), options)
    return replayed(result, module, target("a2a3"), 0, {}).findings


@pytest.mark.requirement("VF-03")
@pytest.mark.parametrize("head", [UNSIGNED, FLOAT])
@pytest.mark.parametrize(("rule", "body"), [
    ("EVENT-WAIT", ("scf.if %is {", WAIT, "}")), ("EVENT-WAIT", ("scf.if %is {", SET, "}", WAIT)),
    ("EVENT-EXIT", ("scf.if %is {", SET, "}")), ("EVENT-SET", (SET, "scf.if %is {", SET, "}", WAIT)),
])
def test_what_a_value_leads_to_that_nobody_follows_is_open(
    head: tuple[str, ...], rule: str, body: tuple[str, ...]
) -> None:
    (open_,) = found(*head, *body)
    assert (open_.rule, open_.verdict) == (rule, Verdict.UNKNOWN)
    assert "%is" in open_.message


@pytest.mark.parametrize("head", [UNSIGNED, FLOAT])
def test_what_goes_wrong_on_both_ways_is_refuted(head: tuple[str, ...]) -> None:
    (refuted,) = found(*head, "scf.if %is {", "} else {", "}", WAIT)
    assert refuted.verdict is Verdict.REFUTED
    assert refuted.replay.startswith("confirmed")


@pytest.mark.parametrize("head", [UNSIGNED, FLOAT])
def test_numbers_that_lead_there_all_the_same_are_named(head: tuple[str, ...]) -> None:
    more = ("%some = arith.cmpi sgt, %n, %c1 : index", "%either = arith.ori %some, %is : i1")
    (refuted,) = found(*head, *more, "scf.if %either {", WAIT, "}")
    assert (refuted.verdict, refuted.replay[:9]) == (Verdict.REFUTED, "confirmed")
    assert dict(refuted.witness)["n"] > 1


@pytest.mark.parametrize("body", [("scf.if %w {", WAIT, "}"), ("scf.if %w {", SET, "}", WAIT)])
def test_a_truth_that_callers_pass_is_named(body: tuple[str, ...]) -> None:
    (refuted,) = found(*body)
    assert (refuted.verdict, refuted.replay[:9]) == (Verdict.REFUTED, "confirmed")
    assert dict(refuted.witness)["w"] == int(body[1] == WAIT)


@pytest.mark.parametrize("head", [UNSIGNED, FLOAT])
def test_nobody_is_asked_to_assume_what_has_no_name(head: tuple[str, ...]) -> None:
    """Set for n > 1 or by the opaque truth, and waited for by that alone: right where it holds."""
    more = ("%some = arith.cmpi sgt, %n, %c1 : index", "%either = arith.ori %some, %is : i1")
    (open_,) = found(*head, *more, "scf.if %either {", SET, "}", "scf.if %is {", WAIT, "}")
    assert (open_.verdict, open_.needs) == (Verdict.UNKNOWN, "")
    assert open_.message.endswith("; callers or data decide it by %is")
