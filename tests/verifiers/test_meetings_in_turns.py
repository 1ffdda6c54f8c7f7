"""A barrier of both kinds of cores in a loop: with which of the other core's it is one depends on the turns."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.kernels import alloc, kernel, load, store, view, window
from tests.verifiers.rings_between_cores import ACC, VEC
from verifiers import Options, verify

MEET = "pto.syncall() mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<mix>"
MANY = ("%n7 = arith.constant 7 : index", "%n60 = arith.constant 60 : index", "%less = arith.muli %N, %n7 : index",
        "%from = arith.addi %less, %n60 : index", "scf.for %i = %from to %M step %c1 {", MEET, "}")
"""Barriers that no small sizes come to."""
BLOCK = ("%which = pto.get_block_idx", "%block = arith.index_cast %which : i64 to index",
         "%more = arith.addi %block, %c1 : index", "%next = arith.remsi %more, %c2 : index",
         "%mine = arith.muli %block, %c16 : index", "%other = arith.muli %next, %c16 : index")


def text(turns: tuple[str, ...], put: str = "c0", get: str = "c0", before: tuple[str, ...] = ()) -> str:
    """The cube stores before its last barrier, the lanes load behind their first one."""
    body = (
        *before, view("pv", "p", "c128", "c16"), "pto.section.cube {", alloc("acc", ACC, 0, "c16", "c16"), *turns,
        window("there", "pv", f"%{put}, %c0", "%c16, %c16", "16x16"), store("acc", "there", ACC, "16x16"), MEET,
        "}", "pto.section.vector {", alloc("t", VEC, 0, "c16", "c16"), MEET,
        window("here", "pv", f"%{get}, %c0", "%c16, %c16", "16x16"), load("here", "t", VEC, "16x16"),
        *(line.replace("%n", "%v").replace("%less", "%vless").replace("%from", "%vfrom") for line in turns), "}")
    return kernel("\n".join(body), "%M: index, %N: index").replace(
        " attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")


def verdicts(text: str, rule: str, assume: tuple[str, ...] = ()) -> set[Verdict]:
    options = Options(families=frozenset({"EVENT", "RACE"}), explicit_sync=True, assume=("M >= 0", "N >= 0", *assume))
    (result,) = verify(read(text, "k.pto"), target("a2a3"), options)
    return {o.verdict for o in result.obligations if o.rule == rule}


def races(text: str, turns: int, blocks: int = 1) -> bool:
    nothing = np.zeros((128, 16), np.float32)
    return bool(schedule.run(
        read(text, "k.pto"), target("a2a3"), {"p": nothing, "q": nothing}, {"M": 67 + turns, "N": 1}, blocks=blocks,
        chip=blocks).races)


@pytest.mark.requirement("EV-06")
def test_one_barrier_of_each_core_is_one() -> None:
    assert verdicts(text(()), "RACE-CORE") == {Verdict.PROVED}
    assert not races(text(()), 2)


@pytest.mark.requirement("EV-06")
def test_behind_barriers_of_a_loop_another_one_is_the_next() -> None:
    """Small sizes have no turn of the loops, and the two stand apart; with a turn the load goes beside the store."""
    both = text(MANY)
    assert (races(both, 0), races(both, 1)) == (False, True)
    assert verdicts(both, "EVENT-CORES") == {Verdict.PROVED}
    assert verdicts(both, "RACE-CORE") <= {Verdict.UNKNOWN, Verdict.REFUTED}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("turns", "expected"), [((), Verdict.PROVED), (MANY, Verdict.UNKNOWN)])
def test_cores_of_two_blocks_are_no_other(turns: tuple[str, ...], expected: Verdict) -> None:
    apart = text(turns, "mine", "other", BLOCK)
    assert races(apart, 1, blocks=2) is (expected is Verdict.UNKNOWN)
    assert verdicts(apart, "RACE-BLOCK", ("block_num == 2",)) == {expected}
