"""EVENT-CORES: flags between a cube and its vector cores, each verdict beside a timed run."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.targets import target
from tests.verifiers.examples_race import cores
from tests.verifiers.kernels import alloc, fill, kernel, load, store, tile, view, window
from verifiers import Options, verify

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
Lines: TypeAlias = tuple[str, ...]
LANE = ("%b = pto.get_subblock_idx", "%lane = arith.index_cast %b : i64 to index",
        "%first = arith.cmpi eq, %lane, %c0 : index", "scf.if %first {")


def told(id: int, pipe: str = "FIX") -> str:
    return f"pto.sync.set #pto.pipe<PIPE_{pipe}>, {id}"


def heard(id: int, pipe: str = "MTE2") -> str:
    return f"pto.sync.wait #pto.pipe<PIPE_{pipe}>, {id}"


def turns(count: str, *body: str) -> Lines:
    return (f"scf.for %i = %c0 to %{count} step %c1 {{", *body, "}")


def both(cube: Lines, vector: Lines, args: str = "") -> str:
    body = "\n".join(("pto.section.cube {", *cube, "}", "pto.section.vector {", *vector, "}"))
    return kernel(body, args).replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")


def judged(text: str, chip: str) -> tuple[FunctionResult, set[Verdict]]:
    (result,) = verify(read(text, "k.pto"), target(chip), Options(families=frozenset({"EVENT"})))
    return result, {o.verdict for o in result.obligations if o.rule == "EVENT-CORES"}


def hangs(text: str, chip: str) -> bool:
    nothing = np.zeros((1, 1), np.float32)
    return schedule.run(read(text, "k.pto"), target(chip), {"p": nothing, "q": nothing}).deadlock is not None


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize(("cube", "vector", "said"), [
    ((told(3), heard(5, "FIX")), (heard(3), told(5, "MTE2")), ""),
    (turns("c4", told(3), heard(5, "FIX")), turns("c4", heard(3), told(5, "MTE2")), ""),
    ((told(4),), (heard(3),), "waits for ever: the other core has ended"),
    ((told(3),), (heard(3), heard(3)), "waits for ever: the other core has ended"),
    (turns("c4", told(3)), turns("c8", heard(3)), "waits for ever: the other core has ended"),
    ((heard(5, "FIX"),), (*LANE, told(5, "MTE2"), "}"), "waits for ever: the other core has ended"),
])
def test_a_core_waits_as_often_as_the_other_sets(cube: Lines, vector: Lines, said: str, chip: str) -> None:
    """A cube hears both of its lanes."""
    text = both(cube, vector)
    result, verdicts = judged(text, chip)
    assert hangs(text, chip) is bool(said)
    assert (REFUTED in verdicts) is bool(said)
    assert verdicts == {PROVED} or said
    assert all(said in f.message for f in result.findings if f.rule == "EVENT-CORES" and "waits" in f.message)


@pytest.mark.parametrize("first", ["eq", "ne"])
def test_a_refutation_names_the_lane_that_shows_it(first: str) -> None:
    """One lane takes and gives more: what it gives is not passed on, and what the other one is told stays."""
    lane = (*LANE[:2], f"%first = arith.cmpi {first}, %lane, %c0 : index", LANE[3])
    text = both((told(3), told(3), heard(5, "FIX")),
                (heard(3), told(5, "MTE2"), *lane, heard(3), told(5, "MTE2"), "}"))
    result, verdicts = judged(text, "a2a3")
    found = [f for f in result.findings if f.verdict is REFUTED]
    assert REFUTED in verdicts and len(found) > 1
    for f in found:
        seen = confirm_order(read(text, "k.pto"), "k", f.rule, dict(f.witness), target("a2a3"), line=f.text_line or 0)
        assert seen.startswith("confirmed: "), (f, seen)


@pytest.mark.parametrize(("bound", "enough"), [("c8", True), ("c2", False)])
def test_a_wait_in_a_branch_of_a_loop_that_does_other_things_too_counts(bound: str, enough: bool) -> None:
    """Four turns set the flag; the other core waits in those of its four below the bound."""
    vec = tile()
    text = both(turns("c4", told(3)), (
        alloc("t", vec), *turns("c4", fill("t", vec), f"%in = arith.cmpi slt, %i, %{bound} : index", "scf.if %in {",
                                heard(3), "}")))
    assert (judged(text, "a2a3")[1] == {PROVED}) is enough


@pytest.mark.parametrize(("chip", "op", "expected"), [
    ("a2a3", "sync.wait", REFUTED), ("a5", "sync.wait", REFUTED), ("a2a3", "wait_intra_block", REFUTED),
    ("a5", "wait_intra_block", UNKNOWN)])
def test_cores_that_wait_for_each_other_first(chip: str, op: str, expected: Verdict) -> None:
    """A wait of a5 within a block holds back one pipe, and another might set the flag: there the order of the text does
    not tell. The other waits hold back the whole core, on a5 too (PTOAS emits wait_flag_dev)."""
    lanes = (0, 16) if (chip, op) == ("a5", "wait_intra_block") else (0,)
    cube = (*(heard(5 + n, "FIX") for n in lanes), *(told(3 + n) for n in lanes))
    text = both(cube, (heard(3), told(5, "MTE2")))
    if op != "sync.wait":
        text = text.replace("pto.sync.wait #pto.pipe", "pto.wait_intra_block #pto.pipe").replace(
            "pto.sync.set #pto.pipe", "pto.set_intra_block #pto.pipe")
    result, verdicts = judged(text, chip)
    assert hangs(text, chip)
    assert expected in verdicts
    if expected is REFUTED:
        assert any(f"the vector core waits for this one in {op} at line" in f.message for f in result.findings)
    else:
        assert REFUTED not in verdicts


@pytest.mark.requirement("EV-06")
def test_a_cube_of_a5_tells_each_lane_by_an_id_of_its_own_within_a_block() -> None:
    """Ids from 16 on are lane 1's: without them it waits for ever."""
    def text(*ids: int) -> str:
        made = both(tuple(told(n) for n in ids), (heard(3),))
        return made.replace("pto.sync.wait #pto.pipe", "pto.wait_intra_block #pto.pipe").replace(
            "pto.sync.set #pto.pipe", "pto.set_intra_block #pto.pipe")

    assert not hangs(text(3, 19), "a5") and judged(text(3, 19), "a5")[1] == {PROVED}
    assert hangs(text(3), "a5") and REFUTED in judged(text(3), "a5")[1]


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_a_flag_that_nobody_waits_for_is_named_at_its_set(chip: str) -> None:
    text = both((told(3), told(6)), (heard(3),))
    result, _ = judged(text, chip)
    (found,) = (f for f in result.findings if f.rule == "EVENT-CORES")
    assert found.verdict is REFUTED
    assert "6" in text.splitlines()[(found.text_line or 0) - 1]
    assert "still set when the cores end" in found.message
    seen = confirm_order(read(text, "k.pto"), "k", found.rule, {}, target(chip), line=found.text_line or 0)
    assert seen.startswith("confirmed: pipe: ") and "cross-core flag 6 is still set at vector lane 0" in seen


def test_a_loop_that_turns_once_more_at_one_end_is_refuted_for_every_size() -> None:
    more = ("%n = arith.addi %M, %c1 : index", *turns("n", heard(3)))
    result, verdicts = judged(both(turns("M", told(3)), more, "%M: index"), "a2a3")
    assert REFUTED in verdicts
    assert "M" in dict(next(f for f in result.findings if f.verdict is REFUTED).witness)


@pytest.mark.parametrize(("waited", "verdict"), [((3, 4), Verdict.PROVED), ((4, 3), Verdict.REFUTED)])
def test_a_flag_between_cores_may_have_its_id_in_a_value(waited: tuple[int, int], verdict: Verdict) -> None:
    text = cores(*waited).replace("sync.set #pto.pipe<PIPE_FIX>, 3", "sync.set #pto.pipe<PIPE_FIX>, %c3")
    assert "%c3" in text
    results = verify(read(text, "k.pto"), target("a2a3"), Options(families=frozenset({"RACE"})))
    assert {o.verdict for r in results for o in r.obligations if o.rule == "RACE-CORE"} == {verdict}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("late", [False, True])
def test_an_answer_orders_a_lane_that_has_been_heard_before_it_is_given(late: bool) -> None:
    """Each lane stores rows of its own, tells the cube, hears its answer and loads them again. A cube of a5 that hears
    the second lane after it has answered both tells that one nothing."""
    vec, whole = tile(), "32x64"
    answers, last = (told(5), told(21)), heard(19, "FIX")
    text = both((heard(3, "FIX"), *((*answers, last) if late else (last, *answers))), (
        *LANE[:2], "%row = arith.muli %lane, %c32 : index", view("o", "q", "c64"),
        window("w", "o", "%row, %c0", "%c32, %c64", whole), alloc("t", vec), alloc("u", vec, 16384), fill("t", vec),
        "pto.set_flag [<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]", "pto.wait_flag [<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]",
        store("t", "w", vec, whole), told(3, "MTE3"), heard(5, "MTE2"), load("w", "u", vec, whole)))
    text = text.replace("pto.sync.wait #", "pto.wait_intra_block #").replace("pto.sync.set #", "pto.set_intra_block #")
    (result,) = verify(read(text, "k.pto"), target("a5"), Options(families=frozenset({"RACE"})))
    (found,) = (o for o in result.obligations if o.rule == "RACE-RAW" and "tload after tstore" in o.site)
    assert (found.verdict is PROVED) is not late
    rows = np.zeros((64, 64), np.float32)
    outcome = schedule.run(read(text, "k.pto"), target("a5"), {"p": rows, "q": rows}, schedule="late")
    assert outcome.deadlock is None and bool(outcome.races) is late


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("all_pipes", [True, False])
def test_what_one_pipe_has_heard_all_know_behind_a_barrier_of_all(all_pipes: bool) -> None:
    """Each lane loads rows and tells the cube, which hears of it on MTE2 and stores over them on FIX."""
    vec, acc, whole = tile(), tile(32, 64, "f32", "acc", "col_major", "row_major", 1024), "32x64"
    barrier = "pto.barrier <PIPE_ALL>"
    cube = (view("c", "p", "c32"), window("cw", "c", "%c0, %c0", "%c32, %c64", whole), alloc("a", acc),
            heard(3), heard(19), *((barrier,) if all_pipes else ()), store("a", "cw", acc, whole))
    text = both(cube, (view("v", "p", "c32"), window("vw", "v", "%c0, %c0", "%c32, %c64", whole), alloc("t", vec),
                       load("vw", "t", vec, whole), barrier, told(3, "MTE3")))
    text = text.replace("pto.sync.wait #", "pto.wait_intra_block #").replace("pto.sync.set #", "pto.set_intra_block #")
    (result,) = verify(read(text, "k.pto"), target("a5"), Options(families=frozenset({"RACE"}), explicit_sync=True))
    assert ({o.verdict for o in result.obligations if o.rule == "RACE-CORE"} == {PROVED}) is all_pipes
    rows = np.zeros((32, 64), np.float32)
    outcome = schedule.run(read(text, "k.pto"), target("a5"), {"p": rows, "q": rows}, schedule="late")
    assert outcome.deadlock is None and bool(outcome.races) is not all_pipes
