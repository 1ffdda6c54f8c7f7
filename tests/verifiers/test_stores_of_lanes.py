"""RACE-CORE: both vector cores of a cube store to one tensor by several ops."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.kernels import alloc, kernel, load, store, tile, view, window
from verifiers import Options, verify

HALF = tile(8, 16)
ALL = "pto.barrier <PIPE_ALL>"
LANE = ("%b = pto.get_subblock_idx", "%lane = arith.index_cast %b : i64 to index",
        "%c7 = arith.constant 7 : index", "%mine = arith.muli %lane, %c8 : index",
        "%no = arith.subi %c1, %lane : index", "%other = arith.muli %no, %c8 : index")


def at(row: str, op: str = "store") -> tuple[str, ...]:
    """8 rows from 16 * %i on and %row behind them."""
    name, sizes = f"{op}_{row}_{len(row)}", "%c8, %c16"
    box = window(name, "pv", f"%at_{name}, %c0", sizes, "8x16")
    does = store("t", name, HALF, "8x16") if op == "store" else load(name, "t", HALF, "8x16")
    return ALL, f"%at_{name} = arith.addi %base, %{row} : index", box, does, ALL


def text(*ops: str) -> str:
    body = (
        view("pv", "p", "c128", "c16"), "pto.section.cube {", "pto.sync.wait #pto.pipe<PIPE_FIX>, 3", "}",
        "pto.section.vector {", *LANE, alloc("t", HALF, 0, "c8", "c16"), "scf.for %i = %c0 to %M step %c1 {",
        "%base = arith.muli %i, %c16 : index", *ops, "}", "pto.sync.set #pto.pipe<PIPE_MTE3>, 3", "}")
    return kernel("\n".join(body), "%M: index").replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("ops", "expected"), [
    (at("mine"), Verdict.PROVED),
    ((*at("mine"), *at("mine", "load")), Verdict.PROVED),
    ((*at("mine"), *at("mine", "load"), *(x.replace("store_mine", "again") for x in at("mine"))), Verdict.PROVED),
    ((*at("mine"), *at("other", "load")), Verdict.UNKNOWN),
    ((*at("mine"), *at("other")), Verdict.UNKNOWN),
    ((*at("mine"), *at("c7")), Verdict.UNKNOWN),
])
def test_what_one_lane_stores_the_other_one_does_not_by_another_op(ops: tuple[str, ...], expected: Verdict) -> None:
    both = text(*ops)
    options = Options(families=frozenset({"RACE"}), explicit_sync=True)
    (result,) = verify(read(both, "k.pto"), target("a2a3"), options)
    assert ({o.verdict for o in result.obligations if o.rule == "RACE-CORE"} | {Verdict.PROVED}) == {
        expected, Verdict.PROVED}
    nothing = np.zeros((128, 16), np.float32)
    ran = schedule.run(read(both, "k.pto"), target("a2a3"), {"p": nothing, "q": nothing}, {"M": 2})
    between = [r for r in ran.races if r.first.core != r.second.core and r.first.op is not r.second.op]
    assert bool(between) is (expected is Verdict.UNKNOWN)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("loop", "second", "expected"), [
    ("%lane to %M step %c2", "c8", Verdict.PROVED), ("%lane to %M step %c2", "c16", Verdict.UNKNOWN),
    ("%lane to %M step %c1", "c8", Verdict.PROVED), ("%lane to %next step %c1", "c16", Verdict.UNKNOWN),
    ("%twice to %end step %c1", "c8", Verdict.PROVED), ("%twice to %end step %c1", "c16", Verdict.UNKNOWN),
    ("%twice to %soon step %c1", "c16", Verdict.PROVED)])
def test_a_lane_tells_where_a_store_goes_by_the_loop_around_too(loop: str, second: str, expected: Verdict) -> None:
    """Two ops, of which one stores 8 rows at 16 * i, the other behind them, or at 16 * (i + 1): lane 0 has turns 0 and
    1, or the even ones, or 0 alone."""
    starts = ("%next = arith.addi %lane, %c1 : index\n%twice = arith.muli %lane, %c2 : index\n"
              "%end = arith.addi %twice, %c2 : index\n%soon = arith.addi %twice, %c1 : index\nscf.for")
    both = text(*at("c0"), *at(second)).replace("%c0 to %M step %c1", loop).replace("scf.for", starts)
    options = Options(families=frozenset({"RACE"}), explicit_sync=True)
    (result,) = verify(read(both, "k.pto"), target("a2a3"), options)
    found = {o.verdict for o in result.obligations if o.rule == "RACE-CORE"}
    nothing = np.zeros((128, 16), np.float32)
    ran = schedule.run(read(both, "k.pto"), target("a2a3"), {"p": nothing, "q": nothing}, {"M": 2})
    between = [r for r in ran.races if r.first.core != r.second.core and r.first.op is not r.second.op]
    assert (found | {Verdict.PROVED}, bool(between)) == ({expected, Verdict.PROVED}, expected is Verdict.UNKNOWN)
