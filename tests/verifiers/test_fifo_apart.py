"""Rings of pipes in global memory: apart, or never in each other's way, or refuted; each beside a run."""

from __future__ import annotations

import pytest

from pypto_verified.check import CheckOptions, verify_module
from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator.schedule.runs import replay
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import BLOCK, FAR, crossing
from tests.verifiers.test_fifo import verdicts

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
PUSHED_AHEAD = crossing(FAR, 0)
IN_TURN = PUSHED_AHEAD.replace("    }\n    scf.for %i = %c0 to %n3 step %c1 {\n    %u =", "    %u =")
"""Each tile comes back before the next is sent: one is on its way at a time."""


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("elements", "expected"), [
    (0, REFUTED), (2048, REFUTED), (4095, REFUTED), (4096, PROVED), (8192, PROVED), (-2048, REFUTED), (-4096, PROVED)])
def test_rings_share_no_byte(elements: int, expected: Verdict) -> None:
    """Each has two slots of 2048 elements."""
    assert verdicts(crossing(FAR, elements), "FIFO-APART") == {expected}


@pytest.mark.parametrize("elements", [0, 1024, 4096])
def test_a_run_with_rings_of_their_own_memory_differs_where_it_is_refuted(elements: int) -> None:
    module = read(crossing(FAR, elements), "k.pto")
    runs = [replay(module, "cube", {}, target("a2a3"), apart=apart, trace=True) for apart in (False, True)]
    assert runs[1].races == []
    assert bool(runs[0].races) is (elements < 4096)


@pytest.mark.parametrize(("count", "ahead"), [("%n3", REFUTED), ("%n", UNKNOWN)])
def test_one_place_for_both_rings_may_do_no_harm_where_a_tile_comes_back_before_the_next_is_sent(
    count: str, ahead: Verdict
) -> None:
    """Of all orders of transfers none overwrites a tile; but a pop may still read when the next push writes."""
    assert IN_TURN != PUSHED_AHEAD
    assert verdicts(PUSHED_AHEAD.replace("to %n3", f"to {count}"), "FIFO-APART") == {ahead}
    assert verdicts(IN_TURN.replace("to %n3", f"to {count}"), "FIFO-APART") == {UNKNOWN}


def test_a_scalar_of_the_caller_that_shows_it_is_told() -> None:
    module = read(PUSHED_AHEAD.replace("to %n3", "to %n"), "k.pto")
    results = verify_module(module, target("a2a3"), CheckOptions(simulate=False))
    found = next(f for r in results for f in r.findings if f.rule == "FIFO-APART")
    assert found.verdict is UNKNOWN and "if callers pass n = 3" in found.message


def test_a_place_that_a_scalar_says_is_needed_to_be_behind_the_other() -> None:
    text = PUSHED_AHEAD.replace("%far = arith.muli %c1, %given", "%far = arith.muli %n, %n4k")
    assert verdicts(text, "FIFO-APART") == {UNKNOWN}


@pytest.mark.parametrize(("elements", "expected"), [(4096, PROVED), (2048, REFUTED), (8192, PROVED)])
def test_rings_of_two_blocks_share_no_byte(elements: int, expected: Verdict) -> None:
    found = verdicts(crossing(BLOCK, elements), "FIFO-BLOCKS")
    assert (REFUTED in found) is (expected is REFUTED)
    assert found == {PROVED} or expected is REFUTED


def test_a_ring_that_no_block_index_places_is_each_blocks_own() -> None:
    assert verdicts(crossing(FAR), "FIFO-BLOCKS") == set()


def test_slots_on_the_chip_are_no_rings_in_memory() -> None:
    assert verdicts(PUSHED_AHEAD, "FIFO-APART", chip="a5") == set()


def test_slots_that_are_handed_out_as_tensors_lie_at_one_place_for_both_directions() -> None:
    """PTO-ISA TAlloc.hpp: the way to the cube is not put behind the other."""
    view = ("%slots = pto.make_tensor_view %gm, shape = [%c32, %c64], strides = [%c64, %c1] : "
            "!pto.tensor_view<32x64xf32>\n")
    lines: list[str] = []
    for line in PUSHED_AHEAD.splitlines():
        if "_initialize_pipe" in line and "id = 1" in line:
            lines.append(line)
        elif "_initialize_pipe" in line:
            kind = "aic" if "aic_" in line else "aiv"
            lines.append(f"{view}    pto.{kind}_initialize_pipe {{id = 0, dir_mask = 3, slot_size = 8192, slot_num = 2"
                         "} (gm_slot_tensor = %slots : !pto.tensor_view<32x64xf32>, c2v_consumer_buf = %there : i32, "
                         "v2c_consumer_buf = %back : i32)")
        else:
            lines.append(line.replace("{id = 1, split", "{id = 0, split"))
    text = "\n".join(line for line in lines if "_initialize_pipe" not in line or "id = 1" not in line)
    assert REFUTED in verdicts(text, "FIFO-APART")


def test_a_branch_that_data_decide_is_not_taken_for_granted() -> None:
    """Both ends send unless a number in memory is positive, each reading it for itself: no run is known to do so."""
    unless = ("%w = pto.load_scalar %gm[%c0] : !pto.ptr<f32> -> f32\n%zero = arith.constant 0.0 : f32\n"
              "%q = arith.cmpf ogt, %w, %zero : f32\nscf.if %q {\n} else {\n")
    ends = PUSHED_AHEAD.split("func.func @vector")
    guarded = [f"{before}{unless}scf.for{turns}}}\n    return{rest}" for end in ends
               for before, after in (end.split("scf.for", 1),) for turns, rest in (after.split("    return", 1),)]
    assert verdicts("func.func @vector".join(guarded), "FIFO-APART") == {UNKNOWN}
