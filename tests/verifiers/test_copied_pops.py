"""Tiles that a5 copies out of slots in global memory: on which pipe they are there, and what their free is worth."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import COPY, FREE, NEAR, PUSH, pair_of_cores, pop, turns
from tests.verifiers.examples_race import both, given_back
from verifiers import Options, verify

REFUTED, PROVED, UNKNOWN = Verdict.REFUTED, Verdict.PROVED, Verdict.UNKNOWN


def in_memory(text: str) -> str:
    """The pipe's slots are those of a tensor in global memory."""
    view = ("%slots = pto.make_tensor_view %gm, shape = [%c32, %c64], strides = [%c64, %c1] : "
            "!pto.tensor_view<32x64xf32>\n    ")
    for kind in ("aic", "aiv"):
        text = text.replace(f"pto.{kind}_initialize_pipe", f"{view}pto.{kind}_initialize_pipe")
    return text.replace("gm_slot_buffer = %gm : !pto.ptr<f32>", "gm_slot_tensor = %slots : !pto.tensor_view<32x64xf32>")


def judged(*pops: str, memory: bool = True, tiles: int = 1) -> FunctionResult:
    """The vector core, which pops two tiles at most that a cube pushes, on a5."""
    pushes = "\n".join([both("M FIX"), *[PUSH] * tiles])
    text = pair_of_cores(pushes, "\n".join((NEAR, *pops)), memory=memory)
    results = verify(read(in_memory(text) if memory else text, "k.pto"), target("a5"),
                     Options(families=frozenset({"RACE"})))
    return results[-1]


def verdicts(result: FunctionResult, rule: str) -> set[Verdict]:
    return {o.verdict for o in result.obligations if o.rule == rule}


@pytest.mark.requirement("EV-01")
@pytest.mark.parametrize(("between", "expected"), [
    ("S V", REFUTED), ("V MTE3", REFUTED), ("MTE2 V", UNKNOWN), ("MTE2 V, S V", PROVED)])
def test_a_copied_tile_is_there_for_mte2_and_as_the_assembler_says_for_s(between: str, expected: Verdict) -> None:
    """PTO-ISA npu/a5 TPush.hpp, popVecTileFromGMFiFo: the pop is a load. PTOAS getPipe says S of every pop."""
    result = judged(pop(), *(both(pipes) for pipes in between.split(", ")), COPY)
    assert verdicts(result, "RACE-RAW") == {expected}


def test_a_tile_on_the_chip_is_not_there_for_mte2() -> None:
    assert verdicts(judged(pop(), both("S V"), COPY, memory=False), "RACE-RAW") == {PROVED}
    assert verdicts(judged(pop(), both("MTE2 V"), COPY, memory=False), "RACE-RAW") == {UNKNOWN}


IN_ORDER = (pop(), both("MTE2 V"), both("S V"), COPY)


@pytest.mark.parametrize(("between", "races"), [("S V", True), ("MTE2 V", False)])
def test_a_run_shows_which_flag_orders_a_copied_tile(between: str, races: bool) -> None:
    text = in_memory(pair_of_cores("\n".join((both("M FIX"), PUSH)), "\n".join((NEAR, pop(), both(between), COPY))))
    gm = np.zeros(65536, np.float32)
    found = {(r.first.op.name, r.second.op.name) for order in ("late", "eager")
             for r in schedule.run(read(text, "k.pto"), target("a5"), {"gm": gm}, {"n": 1}, schedule=order).races}
    assert (("pto.tpop_from_aic", "pto.tmov") in found) is races


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize(("last", "expected"), [
    ((), REFUTED), ((both("V MTE2"),), UNKNOWN), ((both("V MTE2"), both("V S")), PROVED)])
def test_the_next_pop_writes_the_local_slot_again_by_itself(last: tuple[str, ...], expected: Verdict) -> None:
    """Two local slots: pop 2 loads into that of pop 0, which this core's V may still read. On the chip the other core
    would write there, once it is told."""
    result = judged(turns("%c8", *IN_ORDER, *last), tiles=8)
    assert expected in verdicts(result, "RACE-WAR") <= {expected, PROVED}


def test_the_free_of_a_copied_tile_lets_nobody_write_where_it_is() -> None:
    """MTE3 may still read the tile when it is freed on V: only a slot on the chip is written then."""
    def found(text: str) -> set[Verdict]:
        results = verify(read(text, "k.pto"), target("a5"), Options(families=frozenset({"RACE"})))
        return verdicts(results[-1], "RACE-FREE")

    assert found(given_back("MTE3 MTE2")) == {REFUTED}
    assert found(in_memory(given_back("MTE3 MTE2", memory=True))) == set()


@pytest.mark.requirement("EV-01")
@pytest.mark.parametrize("slots", [1, 2, 4])
def test_a_slot_is_popped_into_again_behind_the_credit_that_its_free_gave(slots: int) -> None:
    """Two loads into the same bytes need a barrier by the stricter reading; these have the producer between them."""
    text = pair_of_cores(turns("%n", PUSH), turns("%n", pop(), FREE), slots=slots)
    module, chip = read(text, "k.pto"), target("a2a3")
    result = verify(module, chip, Options(
        ("n >= 0",), strict=True, families=frozenset({"RACE"}), explicit_sync=True))[-1]
    assert verdicts(result, "RACE-WAW") <= {PROVED}
    for order in ("program", "late", "random"):
        assert schedule.replay(module, "cube", {"n": 7}, chip, schedule=order, strict=True).races == []
