"""Ids of events and buffers: of a caller, in an array, taken and given back."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.event_verdicts import PROVED, clean, events
from tests.verifiers.examples_event import computed, loop
from tests.verifiers.kernels import check, kernel, verdicts

REFUTED, UNKNOWN = Verdict.REFUTED, Verdict.UNKNOWN


def test_an_id_that_the_caller_gives_is_unknown_with_the_condition_that_settles_it() -> None:
    text = kernel("\n".join((computed("set", "n"), computed("wait", "n"))), "%n: index")
    result = check(text, families="EVENT")
    assert clean(result)
    assert verdicts(result, "EVENT-ID") == {UNKNOWN}
    settled = check(text, families="EVENT", assume=("n >= 0", "n < 8"))
    assert verdicts(settled, "EVENT-ID") == PROVED


def _buffer(what: str, id: int, pipe: str = "TVEC") -> str:
    return f"pto.{what}_buf[#pto.pipe_event_type<{pipe}>, {id}]"


@pytest.mark.parametrize(("body", "said"), [
    ((_buffer("get", 1), _buffer("get", 1), _buffer("rls", 1), _buffer("rls", 1)), "has it already"),
    ((_buffer("rls", 1), _buffer("get", 1), _buffer("rls", 1)), "does not have it"),
    ((_buffer("get", 1),), "still has it at the end"),
    ((_buffer("get", 32), _buffer("rls", 32)), "there are 32"),
    ((_buffer("get", 1), _buffer("rls", 1, "TLOAD")), "does not have it"),
])
def test_a_buffer_id_is_taken_and_given_back_by_one_pipe_in_turn(body: tuple[str, ...], said: str) -> None:
    found = [f for f in events(*body, chip="a5").findings if f.rule == "EVENT-BUFFER"]
    assert {f.verdict for f in found} == {REFUTED}
    assert any(said in f.message for f in found)


def test_a_buffer_id_may_pass_from_pipe_to_pipe_in_a_loop() -> None:
    passed = loop("M", _buffer("get", 1, "TLOAD"), _buffer("rls", 1, "TLOAD"), _buffer("get", 1), _buffer("rls", 1))
    assert verdicts(events(passed, chip="a5"), "EVENT-BUFFER") == PROVED


def _ids(*body: str) -> FunctionResult:
    """Ids in an array: 1 is put at place 0 and 2 at place 1."""
    def put(place: str, id: str) -> str:
        return f"pto.eventid_array_set %ids[%{place}], %{id} : !pto.eventid_array<4>"

    return events("%ids = pto.declare_eventid_array -> !pto.eventid_array<4>", put("c0", "c1"), put("c1", "c2"), *body)


def _id_of(name: str, place: str) -> str:
    return f"%{name} = pto.eventid_array_get %ids[%{place}] : !pto.eventid_array<4>"


_AGAIN = "pto.eventid_array_set %ids[%{}], %c3 : !pto.eventid_array<4>"


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize(("taken", "between", "expected"), [
    ("c0", "", PROVED), ("c1", "", {REFUTED}), ("c0", _AGAIN.format("c1"), PROVED),
    ("c0", _AGAIN.format("c0"), {REFUTED}), ("c0", _AGAIN.format("M"), {UNKNOWN}),
    ("c0", loop("M", _AGAIN.format("c0")), {UNKNOWN})])
def test_an_id_that_is_kept_in_an_array_is_the_one_put_there_last(
    taken: str, between: str, expected: set[Verdict]
) -> None:
    """The flag that place 0 names is set; what is waited for is read after what stands between."""
    result = _ids(
        *([between] if "scf.for" in between else []), _id_of("a", "c0"), computed("set", "a"),
        *([] if "scf.for" in between else [between]), _id_of("b", taken), computed("wait", "b"))
    assert verdicts(result, "EVENT-WAIT") == expected
