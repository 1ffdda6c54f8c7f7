"""What both lanes of a vector core store to one place: an assumption that the report names, or left open."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_lanes import EACH_ITS_OP, ONE_LANE, VEC, beside_a_cube, put
from tests.verifiers.kernels import alloc, check, kernel, store, view, window


@pytest.mark.parametrize(("ops", "alike"), [
    (put("c0"), True), (put("r"), False), (ONE_LANE, False), (EACH_ITS_OP, True)])
def test_a_place_that_the_lane_does_not_tell_is_assumed_to_get_the_same_from_both(
    ops: tuple[str, ...], alike: bool
) -> None:
    result = check(beside_a_cube(*ops), families="WRITE")
    found = [o for o in result.obligations if o.rule == "WRITE-TWICE"]
    assert {o.verdict for o in found} <= {Verdict.PROVED}
    assert any("LANES-ALIKE" in o.assumptions for o in found) is alike
    strict = check(beside_a_cube(*ops), families="WRITE", strict=True)
    open_ = [o for o in strict.obligations if o.rule == "WRITE-TWICE" and o.verdict is Verdict.UNKNOWN]
    assert bool(open_) is alike
    assert all("both lanes may write there" in f.message for f in strict.findings if f.rule == "WRITE-TWICE")


def test_a_vector_kernel_of_its_own_has_no_other_lane_to_agree_with() -> None:
    text = kernel("\n".join((view("qv", "q", "c64", "c16"), alloc("t", VEC, 0, "c16", "c16"), *put("c0"))))
    assert not any("LANES-ALIKE" in o.assumptions for o in check(text, families="WRITE").obligations)


def within(outer: str, inner: str) -> tuple[str, ...]:
    """A store to a window of a window, with the rows at which each begins."""
    return (
        window("big", "qv", f"%{outer}, %c0", "%c32, %c16", "32x16"),
        f"%o = pto.partition_view %big, offsets = [%{inner}, %c0], sizes = [%c16, %c16] : "
        "!pto.partition_tensor_view<32x16xf32> -> !pto.partition_tensor_view<16x16xf32>",
        store("t", "o", VEC, "16x16"))


def in_turns(step: str) -> tuple[str, ...]:
    """Row (i * step + lane) * 16 in turn i of M."""
    return (f"%many = arith.constant {step} : index", "scf.for %i = %c0 to %M step %c1 {",
            "%j = arith.muli %i, %many : index", "%k = arith.addi %j, %l : index", "%s = arith.muli %k, %c16 : index",
            *put("s"), "}")


HALF = "%h = arith.muli %l, %c8 : index"
BACK = "%e = arith.muli %l, %c8 : index\n%h = arith.subi %c16, %e : index"
SCALED = "%s = arith.muli %l, %M : index"


@pytest.mark.parametrize(("ops", "assume", "expected"), [
    ((SCALED, *put("s")), (), Verdict.UNKNOWN),
    ((SCALED, *put("s")), ("M >= 16",), Verdict.PROVED),
    (in_turns("2"), (), Verdict.PROVED),
    (in_turns("1"), (), Verdict.UNKNOWN),
    (in_turns("1"), ("M <= 1",), Verdict.PROVED),
    (within("r", "c0"), (), Verdict.PROVED),
    ((HALF, *within("h", "c0")), (), Verdict.REFUTED),
    ((HALF, *within("c0", "h")), (), Verdict.REFUTED),
    ((BACK, *within("r", "h")), (), Verdict.REFUTED),
])
def test_a_place_that_the_lane_tells_is_compared_whatever_else_has_a_part_in_it(
    ops: tuple[str, ...], assume: tuple[str, ...], expected: Verdict
) -> None:
    """Callers pass both lanes the same, and a turn of a loop is each lane's own."""
    text = beside_a_cube(*ops).replace("%q: !pto.ptr<f32>", "%q: !pto.ptr<f32>, %M: index")
    result = check(text, families="WRITE", assume=assume)
    found = [o for o in result.obligations if o.rule == "WRITE-TWICE"]
    assert {o.verdict for o in found} == {expected}
    assert not any("LANES-ALIKE" in o.assumptions for o in found)
