"""A loop that begins with any slot is judged case by case; what one case says of two tiles holds for that one alone."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_event import computed, flag
from tests.verifiers.examples_race import VEC, both, exp, pipes, read
from tests.verifiers.race_verdicts import judge, verdicts_of
from verifiers.race import flow

PAIR = "V MTE3"


def text(at: str, order: str = "") -> str:
    """Ids in turn from the block's number on, at last. Before, an op reads `a`, which a load of `d` may write."""
    return pipes(
        "%k = pto.get_block_idx", "%n = arith.index_cast %k : i64 to index", "%second = arith.constant 16384 : index",
        at, "%at = arith.index_cast %place : index to i64", f"%d = pto.alloc_tile addr = %at : {VEC}",
        read("d"), order, exp("a", "b"),
        flag("set", 0, PAIR), flag("set", 1, PAIR), "%end = arith.addi %n, %c4 : index",
        "scf.for %i = %n to %end step %c1 {", "%id = arith.remsi %i, %c2 : index", computed("wait", "id", PAIR),
        computed("set", "id", PAIR), "}", flag("wait", 0, PAIR), flag("wait", 1, PAIR), args="%m: index")


def chosen(rest: int) -> str:
    """`a` for blocks with this rest and a large %m, else `c`."""
    return "\n".join((
        "%r = arith.remsi %n, %c2 : index", f"%own = arith.cmpi eq, %r, %c{rest} : index",
        "%many = arith.cmpi sgt, %m, %c4 : index", "%here = arith.andi %own, %many : i1",
        "%place = arith.select %here, %c0, %second : index"))


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize("rest", [0, 1])
def test_two_tiles_are_compared_in_each_case(rest: int) -> None:
    assert verdicts_of(judge(text(chosen(rest), both("MTE2 V")))) == {Verdict.PROVED}
    assert verdicts_of(judge(text(chosen(rest)))) != {Verdict.PROVED}
    for block in (0, 1):
        run = schedule.replay(
            parse(text(chosen(rest)), "k.pto"), "k", {"m": 8, "block_idx": block}, target("a2a3"), schedule="late")
        assert bool(run.races) is (block == rest)


@pytest.mark.requirement("EV-08")
def test_a_walk_that_is_given_up_in_one_case_does_not_take_its_places_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Callers keep %m to the block's number. The tiles are apart in the first case, where the walk ends, the same in
    the second one."""
    even = text("\n".join((
        "%next = arith.addi %m, %c1 : index", "%odd = arith.andi %next, %c1 : index",
        "%place = arith.muli %odd, %second : index")))
    for most in range(6, 60, 2):
        monkeypatch.setattr(flow, "MOST_STEPS", most)
        assert verdicts_of(judge(even, assume=("m == block_idx",))) - {Verdict.PROVED}, most
