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

PAIR = "V MTE3"


def text(rest: int, order: str = "") -> str:
    """Ids in turn from the block's number on; `d` is `a` for blocks with this rest and a large %m, else `c`."""
    return pipes(
        "%k = pto.get_block_idx", "%n = arith.index_cast %k : i64 to index", "%r = arith.remsi %n, %c2 : index",
        f"%own = arith.cmpi eq, %r, %c{rest} : index", "%many = arith.cmpi sgt, %m, %c4 : index",
        "%here = arith.andi %own, %many : i1", "%first = arith.constant 0 : i64", "%other = arith.constant 16384 : i64",
        "%at = arith.select %here, %first, %other : i64", f"%d = pto.alloc_tile addr = %at : {VEC}",
        flag("set", 0, PAIR), flag("set", 1, PAIR), "%end = arith.addi %n, %c4 : index",
        "scf.for %i = %n to %end step %c1 {", "%id = arith.remsi %i, %c2 : index", computed("wait", "id", PAIR),
        computed("set", "id", PAIR), "}", flag("wait", 0, PAIR), flag("wait", 1, PAIR),
        read("d"), order, exp("a", "b"), args="%m: index")


@pytest.mark.requirement("EV-08")
@pytest.mark.parametrize("rest", [0, 1])
def test_two_tiles_are_compared_in_each_case(rest: int) -> None:
    assert verdicts_of(judge(text(rest, both("MTE2 V")))) == {Verdict.PROVED}
    assert verdicts_of(judge(text(rest))) != {Verdict.PROVED}
    for block in (0, 1):
        run = schedule.replay(
            parse(text(rest), "k.pto"), "k", {"m": 8, "block_idx": block}, target("a2a3"), schedule="late")
        assert bool(run.races) is (block == rest)
