"""Ids that pass through one bit, or through an array with more than one name: what they are there decides which flag is
set."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_event import computed, flag, flags
from verifiers import Options, verify

PAIR = "V MTE3"
ARRAY = "!pto.eventid_array<4>"


def found(text: str) -> set[Verdict]:
    *_, result = verify(parse(text, "k.pto"), target("a2a3"), Options(families=frozenset({"EVENT"})))
    return {o.verdict for o in result.obligations}


def fails(text: str) -> bool:
    run = schedule.replay(parse(text, "k.pto"), "k", {}, target("a2a3"))
    return run.deadlock is not None or any(e.kind == "event" for e in run.errors)


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize(("trips", "verdict"), [(2, Verdict.PROVED), (3, Verdict.REFUTED)])
def test_one_bit_of_a_counter_is_its_rest_by_two(trips: int, verdict: Verdict) -> None:
    """Each iteration sets the flag of the counter's lowest bit: iteration 2 that of iteration 0."""
    text = flags(
        f"scf.for %i = %c0 to %c{trips} step %c1 {{", "%x = arith.index_cast %i : index to i32",
        "%bit = arith.trunci %x : i32 to i1", "%y = arith.extui %bit : i1 to i32",
        "%id = arith.index_cast %y : i32 to index", computed("set", "id", PAIR), "}",
        *(flag("wait", n, PAIR) for n in range(trips)))
    assert fails(text) is (verdict is Verdict.REFUTED)
    assert verdict in found(text) and found(text) <= {verdict, Verdict.PROVED}


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize(("name", "verdict"), [("ids", Verdict.PROVED), ("same", Verdict.UNKNOWN)])
def test_an_array_of_ids_that_a_loop_knows_by_another_name_is_not_followed(name: str, verdict: Verdict) -> None:
    text = flags(
        f"%ids = pto.declare_eventid_array -> {ARRAY}", f"pto.eventid_array_set %ids[%c0], %c1 : {ARRAY}",
        f"%end = scf.for %i = %c0 to %c1 step %c1 iter_args(%same = %ids) -> ({ARRAY}) {{" if name == "same" else "",
        f"pto.eventid_array_set %{name}[%c0], %c2 : {ARRAY}",
        f"scf.yield %same : {ARRAY}\n}}" if name == "same" else "",
        f"%id = pto.eventid_array_get %ids[%c0] : {ARRAY}", computed("set", "id", PAIR), flag("wait", 2, PAIR))
    assert not fails(text)
    assert verdict in found(text) and found(text) <= {verdict, Verdict.PROVED}
