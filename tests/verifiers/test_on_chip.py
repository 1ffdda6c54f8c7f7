"""RACE-CORE: what a cube of a5 moves to its vector cores by itself lies where they work: that is not proved."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import alloc
from tests.verifiers.test_both_sides import ACC, VEC, crossing, races
from tests.verifiers.test_cores_wait import heard, told
from tests.verifiers.test_spare_flags import SAVE


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("chip", "address", "expected"), [
    ("a5", 0, {Verdict.UNKNOWN}), ("a5", 2048, set()), ("a2a3", 0, set())])
@pytest.mark.parametrize("flagged", [False, True])
def test_a_tile_that_a_cube_moves_into_the_vector_cores_memory_is_shared(
    chip: str, address: int, expected: set[Verdict], flagged: bool
) -> None:
    """The vector core's tile of 1024 bytes is at 0. A flag may order the two; that is not followed either."""
    move = (alloc("u", VEC, address, "c16", "c16"), f"pto.tmov ins(%acc : {ACC}) outs(%u : {VEC})")
    text = crossing((*move, *((told(3),) if flagged else ())), (*((heard(3),) if flagged else ()), SAVE))
    result = races(text, chip)
    assert {o.verdict for o in result.obligations if o.rule == "RACE-CORE"} == expected
    assert all("share bytes of t, is not followed" in f.message for f in result.findings if f.rule == "RACE-CORE")
