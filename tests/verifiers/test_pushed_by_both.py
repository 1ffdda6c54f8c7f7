"""Whole tiles that both lanes push into one slot: they are taken to be the same, and --strict does not prove it.

A push without a split writes from the slot's first byte on, whichever lane pushes (PTO-ISA TPush.hpp, of
both targets)."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import alloc, check, kernel, tile

ASKED = "%own = pto.get_subblock_idx\n%l = arith.index_cast %own : i64 to index\n" \
        "%first = arith.cmpi eq, %l, %c0 : index"


def push(split: int = 0, name: str = "t", pipe: int = 0) -> str:
    return f"pto.tpush_to_aic(%{name} : {tile(16, 64)}) {{id = {pipe}, split = {split}}}"


def pushing(*ops: str) -> str:
    """A vector core with two pipes to its cube, and tiles %t, of 16 rows, and %u, of none."""
    made = (f"pto.aiv_initialize_pipe {{id = {n}, dir_mask = 2, slot_size = 8192}} "
            "(gm_slot_buffer = %gm : !pto.ptr<f32>, v2c_consumer_buf = %none : i32)" for n in (0, 1))
    return kernel("\n".join((
        "%none = arith.constant 0 : i32", *made, alloc("t", tile(16, 64), 0, "c16", "c64"),
        alloc("u", tile(16, 64), 0, "c0", "c64"), *ops)), args="%gm: !pto.ptr<f32>")


@pytest.mark.requirement("VF-01", "XC-09")
@pytest.mark.parametrize(("chip", "ops", "alike"), [
    ("a2a3", (push(),), 1),
    ("a2a3", (push(), push()), 2),
    ("a2a3", (push(split=1),), 0),
    ("a2a3", (ASKED, "scf.if %first {", push(), "}"), 0),
    ("a2a3", (ASKED, "scf.if %first {", push(), "} else {", push(), "}"), 2),
    ("a2a3", (ASKED, "scf.if %first {", push(), "} else {", push(name="u"), "}"), 0),
    ("a2a3", (ASKED, "scf.if %first {", push(), "} else {", push(pipe=1), "}"), 0),
    ("a5", (push(),), 0),
    ("a5", (ASKED, push()), 1),
])
def test_what_both_lanes_push_whole_is_assumed_to_be_the_same(chip: str, ops: tuple[str, ...], alike: int) -> None:
    """Not where one lane alone pushes, as on a5 unless an op asks for the lane, or the other one only keeps in step
    with an empty tile."""
    result = check(pushing(*ops), chip=chip, families="WRITE")
    found = [o for o in result.obligations if o.rule == "WRITE-TWICE"]
    assert [o.verdict for o in found] == [Verdict.PROVED] * alike
    assert all("LANES-ALIKE" in o.assumptions for o in found)
    strict = check(pushing(*ops), chip=chip, families="WRITE", strict=True)
    assert [o.verdict for o in strict.obligations if o.rule == "WRITE-TWICE"] == [Verdict.UNKNOWN] * alike
