"""RACE-CORE: what a cube of a5 moves to its vector cores by itself lies where they work: that is not proved."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import COPY, FREE, NEAR, PUSH, pair_of_cores, pop
from tests.verifiers.examples_split import ACC as WIDE
from tests.verifiers.kernels import alloc, tile
from tests.verifiers.test_both_sides import ACC, VEC, crossing, races
from tests.verifiers.test_cores_wait import heard, told
from tests.verifiers.test_spare_flags import SAVE
from verifiers import Options, verify


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


@pytest.mark.requirement("EV-06", "XC-09")
@pytest.mark.parametrize(("address", "expected"), [
    (0, {Verdict.UNKNOWN}), (24576, {Verdict.UNKNOWN}), (32768, set()), (131072, set())])
def test_a_tile_that_a_cube_moves_into_the_slots_of_a_pipe_meets_what_is_popped(
    address: int, expected: set[Verdict]
) -> None:
    """The vector cores reserve 32768 bytes from 0 on for the slots, and use each tile where it lies."""
    whole = tile(32, 64)
    move = (f"%at = arith.constant {address} : i64", alloc("u", whole, "at", "c32", "c64"),
            f"pto.tmov ins(%c : {WIDE}) outs(%u : {whole})")
    text = pair_of_cores("\n".join((PUSH, *move)), "\n".join((NEAR, pop(), COPY, FREE)), memory=False)
    module = read(text, "k.pto")
    results = verify(module, target("a5"), Options(families=frozenset({"RACE"}), explicit_sync=True))
    assert {o.verdict for r in results for o in r.obligations if o.rule == "RACE-CORE"} == expected
    assert bool(schedule.replay(module, "cube", {}, target("a5")).races) is (address == 0)
