"""Flags between cores by whatever op: whom they are for, which ids a core has and may use, and that they count."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.targets.pipes import CROSS_FLAGS, Scope
from tests.verifiers.examples_event import loop
from tests.verifiers.kernels import check, finding, kernel, verdicts

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
EVERY = [(row.target, op) for row in CROSS_FLAGS for op in (row.set, row.wait)]
OF_LANES = [op for row in CROSS_FLAGS if row.scope is Scope.LANE for op in (row.set, row.wait)]


def named(op: str, id: str, *before: str, kind: str = "vector", args: str = "", around: str = "") -> str:
    """One op; its id is a number or a value."""
    line = f"{op} <PIPE_MTE2>, {id}"
    return kernel("\n".join((*before, loop(around, line) if around else line)), args, kind=kind)


def ids(text: str, chip: str = "a2a3") -> FunctionResult:
    return check(text, chip=chip, families="EVENT")


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize(("chip", "op"), EVERY)
@pytest.mark.parametrize(("id", "expected"), [
    ("0", PROVED), ("10", PROVED), ("11", REFUTED), ("15", REFUTED), ("%c10", PROVED), ("%c11", REFUTED)])
def test_flags_of_the_library_are_not_named_by_any_op(chip: str, op: str, id: str, expected: Verdict) -> None:
    """Also where the id is in a value."""
    values = [f"%c{n} = arith.constant {n} : index" for n in (10, 11)]
    result = ids(named(op, id, *values), chip)
    assert verdicts(result, "EVENT-CROSS") == {expected}
    if expected is REFUTED:
        assert "belong to syncall and to the assembler" in finding(result, "EVENT-CROSS").message


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize(("chip", "op"), EVERY)
@pytest.mark.parametrize(("count", "expected"), [("c8", PROVED), ("c12", REFUTED), ("M", REFUTED)])
def test_an_id_that_a_loop_counts_is_followed_for_all_its_turns(
    chip: str, op: str, count: str, expected: Verdict
) -> None:
    twelve = () if count != "c12" else ("%c12 = arith.constant 12 : index",)
    result = ids(named(op, "%i", *twelve, args="%M: index", around=count), chip)
    assert verdicts(result, "EVENT-CROSS") == {expected}


@pytest.mark.parametrize(("chip", "op"), EVERY)
def test_an_id_of_the_caller_may_be_one_of_the_library(chip: str, op: str) -> None:
    """Its rest by the number of free ones is not."""
    assert verdicts(ids(named(op, "%M", args="%M: index"), chip), "EVENT-CROSS") == {UNKNOWN}
    free = ("%c11 = arith.constant 11 : index", "%n = arith.maxsi %M, %c0 : index",
            "%id = arith.remsi %n, %c11 : index")
    assert verdicts(ids(named(op, "%id", *free, args="%M: index"), chip), "EVENT-CROSS") == {PROVED}


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize("op", OF_LANES)
@pytest.mark.parametrize(("kind", "id", "expected"), [
    ("cube", 16, PROVED), ("cube", 26, PROVED), ("cube", 27, REFUTED), ("cube", 31, REFUTED), ("cube", 32, REFUTED),
    ("vector", 10, PROVED), ("vector", 16, REFUTED)])
def test_a_cube_of_a5_has_a_second_set_of_ids_for_its_second_lane(
    op: str, kind: str, id: int, expected: Verdict
) -> None:
    """Those of the library are taken in both; a vector core has one set."""
    result = ids(named(op, str(id), kind=kind), "a5")
    assert verdicts(result, "EVENT-CROSS") == {expected}
    assert {"LANE-OFFSET" in o.assumptions for o in result.obligations if o.rule == "EVENT-CROSS"} == {kind == "cube"}


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_the_pipe_that_a_wait_of_the_whole_core_names_is_of_no_account(chip: str) -> None:
    """A vector core has no FIX: a set on it is never given, and a wait within a block of a5 holds nothing back."""
    for row in (r for r in CROSS_FLAGS if r.target == chip):
        for op in (row.set, row.wait):
            result = ids(kernel(f"{op} <PIPE_FIX>, 3"), chip)
            assert verdicts(result, "EVENT-PIPE") == (set() if op == row.wait and row.stalls_core else {REFUTED})


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("chip", "op"), EVERY)
def test_a_core_of_the_same_kind_is_never_absent(chip: str, op: str) -> None:
    """A flag of all cores of a kind is given, and taken, by this very text."""
    whole = op.endswith("_cross_block")
    result = ids(named(op, "3"), chip)
    assert verdicts(result, "EVENT-CORES") == (set() if whole else {PROVED})
    assert (REFUTED in verdicts(result, "EVENT-GROUP")) is whole
    assert all("ABSENT-CORE" in o.assumptions for o in result.obligations if o.rule == "EVENT-CORES")


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize(("chip", "op"), EVERY)
@pytest.mark.parametrize(("mask", "first"), [(1, 2), (2, 2), (3, 4)])
def test_a_flag_beside_a_pipe_is_none_by_which_the_pipe_counts(chip: str, op: str, mask: int, first: int) -> None:
    """Two flags for each direction, from 0 on. On a5 pipes count within a block; whether flags of FFTS are others is
    not told."""
    pipe = ("%none = arith.constant 0 : i32",
            f"pto.aiv_initialize_pipe {{dir_mask = {mask}, slot_size = 1024}} (c2v_consumer_buf = %none : i32, "
            "v2c_consumer_buf = %none : i32)")
    near = UNKNOWN if chip == "a5" and op not in OF_LANES else REFUTED
    for id, expected in ((first, PROVED), (first - 1, near)):
        assert verdicts(ids(named(op, str(id), *pipe), chip), "EVENT-FIFO") == {expected}
    assert verdicts(ids(named(op, str(first - 1)), chip), "EVENT-FIFO") == set()


def test_a_cubes_flag_for_its_second_lane_beside_a_pipe_counts_as_that_of_the_lane() -> None:
    pipe = ("%none = arith.constant 0 : i32",
            "pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %none : i32, "
            "v2c_consumer_buf = %none : i32)")
    for id, expected in ((18, PROVED), (17, REFUTED)):
        result = ids(named("pto.set_intra_block", str(id), *pipe, kind="cube"), "a5")
        assert verdicts(result, "EVENT-FIFO") == {expected}
        assert {"LANE-OFFSET" in o.assumptions for o in result.obligations if o.rule == "EVENT-FIFO"} == {True}


@pytest.mark.requirement("EV-03", "EV-05")
@pytest.mark.parametrize(("op", "rule", "expected"), [
    ("pto.sync.set <PIPE_MTE2>, 3", "EVENT-PIPE", {PROVED}),
    ("pto.sync.set <PIPE_FIX>, 3", "EVENT-PIPE", {PROVED, REFUTED}),
    ("pto.barrier <PIPE_V>", "EVENT-PIPE", {PROVED, REFUTED}),
    ("pto.set_intra_block <PIPE_MTE2>, 3", "EVENT-CROSS", {PROVED}),
    ("pto.set_intra_block <PIPE_MTE2>, 19", "EVENT-CROSS", {REFUTED})])
def test_what_stands_outside_of_sections_runs_on_both_kinds_of_cores(
    op: str, rule: str, expected: set[Verdict]
) -> None:
    """And each has to have the pipe and the flag."""
    sections = f"{op}\npto.section.cube {{\n}}\npto.section.vector {{\n}}"
    text = kernel(sections).replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")
    assert verdicts(ids(text, "a5"), rule) == expected
