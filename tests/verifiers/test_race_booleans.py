"""RACE in branches that a Boolean decides: one that callers pass is named with its value and replayed, for every caller
who takes the branch meets the race; one that comes from data is refuted once a run of such data shows it."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.kernels import alloc, check, fill, kernel, out, tile, unary

TILE = tile()
BARRIER = "pto.barrier <PIPE_V>"


def text(then: tuple[str, ...], orelse: tuple[str, ...], barrier: str = "", decides: tuple[str, ...] = ()) -> str:
    """Without `decides` callers pass %on."""
    flag = "pto.{}_flag[#pto.pipe<PIPE_V>, #pto.pipe<PIPE_MTE3>, #pto.event<EVENT_ID0>]"
    body = (
        alloc("t", TILE), alloc("u", TILE, 8192), fill("t", TILE), *decides, "scf.if %on {", barrier, *then, "} else {",
        barrier, *orelse, "}", flag.format("set"), flag.format("wait"), out("t", TILE))
    return kernel("\n".join(body), "" if decides else "%on: i1")


def shown(wrong: str) -> FunctionResult:
    """The result, replayed."""
    module = read(wrong, "k.pto")
    return replayed(check(wrong, families="RACE"), module, target("a2a3"), 0, {})


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize(("taken", "led"), [(True, 1), (False, 0)])
def test_a_race_in_the_branch_of_a_caller_is_refuted_with_what_leads_there(taken: bool, led: int) -> None:
    nothing: tuple[str, ...] = ()
    reads = (unary("texp", "t", "u", TILE),)
    then, orelse = (reads, nothing) if taken else (nothing, reads)
    wrong, right = text(then, orelse), text(then, orelse, BARRIER)
    (found,) = (f for f in check(wrong, families="RACE").findings if f.rule == "RACE-RAW")
    assert (found.verdict, dict(found.witness)) == (Verdict.REFUTED, {"on": led})
    seen = confirm_order(
        read(wrong, "k.pto"), "k", found.rule, dict(found.witness), target("a2a3"), line=found.text_line or 0)
    assert seen.startswith("confirmed: ")
    assert not [f for f in check(right, families="RACE").findings if f.rule == "RACE-RAW"]


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize("taken", [True, False])
def test_a_race_in_the_branch_of_data_is_refuted_by_a_run_whose_data_lead_there(taken: bool) -> None:
    """The word that is read is 1, or anything else."""
    decides = ("%word = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> f32", "%on = arith.cmpf oeq, %word, %one : f32")
    nothing: tuple[str, ...] = ()
    reads = (unary("texp", "t", "u", TILE),)
    then, orelse = (reads, nothing) if taken else (nothing, reads)
    wrong, right = text(then, orelse, decides=decides), text(then, orelse, BARRIER, decides)
    result = check(wrong, families="RACE")
    (open_,) = (f for f in result.findings if f.rule == "RACE-RAW" and "texp" in f.site)
    assert open_.verdict is Verdict.UNKNOWN, "until a run shows it"
    (found,) = (f for f in shown(wrong).findings if f.rule == "RACE-RAW" and "texp" in f.site)
    assert (found.verdict, found.replay[:9]) == (Verdict.REFUTED, "confirmed")
    assert found.replay.endswith("; with all elements and float arguments 1") is taken
    assert not [f for f in shown(right).findings if f.rule == "RACE-RAW" and "texp" in f.site]


def test_a_race_where_data_say_where_an_op_writes_stays_open() -> None:
    """Whoever reads a place from memory may keep it apart."""
    moved = ("%word = pto.load_scalar %p[%c0] : !pto.ptr<i64> -> i64",
             f"%u = pto.alloc_tile addr = %word valid_row = %c32 valid_col = %c64 : {TILE}")
    lines = kernel("\n".join((alloc("t", TILE), fill("t", TILE), *moved, unary("texp", "t", "u", TILE))))
    found = shown(lines.replace("ptr<f32>, %q", "ptr<i64>, %q")).findings
    assert not [f for f in found if f.verdict is Verdict.REFUTED and f.rule == "RACE-WAW"]
