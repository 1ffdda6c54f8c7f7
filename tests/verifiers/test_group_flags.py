"""EVENT-GROUP, EVENT-LAUNCH: flags that all cores of a kind, or both vector cores of a cube, pass to each other; each
refutation beside a timed run."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.targets import target
from tests.verifiers.examples_event import loop
from tests.verifiers.kernels import check, finding, kernel, verdicts
from tests.verifiers.test_core_pipes import lane_is
from tests.verifiers.test_cores_wait import Lines

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
FULL = ("block_num == 48",)
"""Vector cores of an a2a3, a block each."""


def give(id: object = 3, mode: int | None = None) -> str:
    """By its own name, or as a flag of FFTS."""
    return f"pto.set_cross_block <PIPE_MTE3>, {id}" if mode is None else (
        f"pto.sync.set <PIPE_MTE3>, {id} {{ffts_mode = {mode} : i32}}")


def take(id: object = 3, mode: int | None = None) -> str:
    return f"pto.wait_cross_block <PIPE_MTE2>, {id}" if mode is None else (
        f"pto.sync.wait <PIPE_MTE2>, {id} {{ffts_mode = {mode} : i32}}")


TURN = "%id = arith.remsi %i, %c2 : index"
KERNELS: dict[str, tuple[Lines, Verdict]] = {
    "given and taken": ((give(), take()), PROVED),
    "each turn": ((loop("M", give(), take()),), PROVED),
    "passed on": ((give(), loop("M", take(), give()), take()), PROVED),
    "ids in turn": ((loop("M", TURN, give("%id"), take("%id")),), PROVED),
    "never given": ((take(),), REFUTED),
    "taken first": ((take(), give()), REFUTED),
    "never taken": ((give(),), REFUTED),
    "another id": ((give(3), take(4)), REFUTED),
    "once too often": ((loop("M", give(), take()), take()), REFUTED),
    "two ahead": ((give(), give(), take(), take()), UNKNOWN),
    "beside a flag of a cube": ((give(), take(), "pto.sync.wait <PIPE_V>, 3"), UNKNOWN),
    "of the caller": ((give("%M"), take("%M")), PROVED),
}


def judged(body: Lines, *assume: str, chip: str = "a2a3") -> FunctionResult:
    return check(kernel("\n".join(body), "%M: index"), chip=chip, families="EVENT", assume=assume)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("name", KERNELS)
def test_each_core_gives_a_flag_of_its_group_before_it_takes_it(name: str) -> None:
    body, expected = KERNELS[name]
    result = judged(body, *FULL, "M >= 0", "M <= 10")
    found = verdicts(result, "EVENT-GROUP")
    assert expected in found and (found == {PROVED}) is (expected is PROVED)
    assert (REFUTED in found) is (expected is REFUTED)
    for seen in (f for f in result.findings if f.rule == "EVENT-GROUP" and f.verdict is REFUTED):
        module = read(kernel("\n".join(body), "%M: index"), "k.pto")
        told = confirm_order(
            module, "k", seen.rule, {"M": 0, **dict(seen.witness)}, target("a2a3"), line=seen.text_line or 0)
        assert told.startswith("confirmed: "), (seen.message, told)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("mode", [None, 0, 1])
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_a_flag_of_ffts_in_modes_0_and_1_is_one_of_its_group(chip: str, mode: int | None) -> None:
    for body, expected in (((give(3, mode), take(3, mode)), PROVED), ((take(3, mode),), REFUTED)):
        assert verdicts(judged(body, chip=chip), "EVENT-GROUP") == {expected}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("body", "expected"), [
    (lane_is(0, give(), take()), UNKNOWN), (lane_is(0, give(), take(), "} else {", give(), take()), PROVED)])
def test_a_core_that_comes_there_less_often_keeps_the_others_waiting(body: Lines, expected: Verdict) -> None:
    result = judged(body, *FULL)
    assert verdicts(result, "EVENT-GROUP") >= {expected} and REFUTED not in verdicts(result, "EVENT-GROUP")
    assert verdicts(result, "EVENT-LAUNCH") == {expected}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("blocks", "expected"), [(48, PROVED), (24, REFUTED)])
def test_a_flag_of_all_cores_is_passed_on_when_as_many_blocks_run_as_the_chip_has_cores(
    blocks: int, expected: Verdict
) -> None:
    """A hard barrier of all cores is made of such a flag."""
    result = judged((give(), take()), f"block_num == {blocks}")
    assert verdicts(result, "EVENT-LAUNCH") == {expected}
    assert verdicts(judged((give(3, 1), take(3, 1)), f"block_num == {blocks}"), "EVENT-LAUNCH") == set()
    if expected is REFUTED:
        assert "is passed on when given by all 48 cores of the chip" in finding(result, "EVENT-LAUNCH").message
