"""What both lanes of a vector core store to one place: an assumption that the report names, or left open."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_lanes import EACH_ITS_OP, ONE_LANE, VEC, beside_a_cube, put
from tests.verifiers.kernels import alloc, check, kernel, view


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
