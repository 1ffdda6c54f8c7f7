"""What an open obligation needs is an assumption that settles it: given, the obligation is proved, and not in vain."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pypto_verified.index import TRUE, symbol
from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.targets import target
from tests.verifiers.kernels import alloc, check, fill, kernel, load, store, tile, view, window
from verifiers import Options, verify
from verifiers.solver import Ladder, without_implied

VEC = tile()

_TERMS = st.sampled_from([
    "%s = arith.addi %n, %c16 : index", "%s = arith.muli %n, %c4 : index", "%s = arith.subi %n, %c8 : index",
    "%s = arith.divsi %n, %c3 : index", "%s = arith.remsi %n, %c100 : index", "%s = arith.minsi %n, %c64 : index",
    "%s = arith.maxsi %n, %c2 : index", "%s = arith.subi %n, %m : index", "%s = arith.muli %n, %m : index"])
_WINDOWS = st.sampled_from(["%c32", "%m", "%n"])
_BOUNDS = st.sampled_from(["%c4", "%n", "%m"])


def kernel_of(term: str, rows: str, bound: str) -> str:
    """A load at a place that a caller's numbers n and m decide, in a loop whose length they may decide too."""
    return kernel("\n".join((
        view("a", "p", "c128"), view("o", "q", "c512"), alloc("t", VEC), fill("t", VEC), term,
        f"scf.for %i = %c0 to {bound} step %c1 {{", "%at = arith.addi %s, %i : index",
        window("w", "a", "%at, %c0", f"{rows}, %c64"), load("w", "t", VEC),
        window("v", "o", "%i, %c0", "%c32, %c64"), store("t", "v", VEC), "}")), "%n: index, %m: index")


def settled(text: str, needs: tuple[str, ...]) -> dict[tuple[str, str], Verdict]:
    """Verdicts by rule and site under these assumptions."""
    options = Options(assume=needs, families=frozenset({"BOUND"}))
    (result,) = verify(read(text, "k.pto"), target("a2a3"), options)
    return {(o.rule, o.site): o.verdict for o in result.obligations}


def open_points(text: str) -> FunctionResult:
    return check(text, families="BOUND")


@settings(max_examples=24, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(_TERMS, _WINDOWS, _BOUNDS)
def test_a_need_that_is_given_proves_its_obligation(term: str, rows: str, bound: str) -> None:
    text = kernel_of(term, rows, bound)
    result = open_points(text)
    for found in result.findings:
        if found.needs:
            assert settled(text, (found.needs,))[found.rule, found.site] is Verdict.PROVED


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(_TERMS, _BOUNDS)
def test_all_needs_of_a_kernel_settle_all_its_points(term: str, bound: str) -> None:
    text = kernel_of(term, "%c32", bound)
    result = open_points(text)
    wanted = {(f.rule, f.site) for f in result.findings if f.needs}
    if wanted:
        verdicts = settled(text, result.needs)
        assert {verdicts[point] for point in wanted} == {Verdict.PROVED}
        assert len(result.needs) <= len(wanted)


def test_a_need_is_as_weak_as_the_bound() -> None:
    """Row n + 16 of 128, 32 of them, four times: n + 16 + 3 + 32 <= 128."""
    result = open_points(kernel_of("%s = arith.addi %n, %c16 : index", "%c32", "%c4"))
    assert {f.needs for f in result.findings if f.verdict is Verdict.UNKNOWN} == {"n <= 77", "n + 16 >= 0"}
    assert set(result.needs) == {"n <= 77", "n + 16 >= 0"}


def test_a_need_that_others_imply_is_left_out() -> None:
    n, m = symbol("n"), symbol("m")
    ladder = Ladder()
    assert without_implied(ladder, TRUE, [n <= 8, n <= 16, m >= 0]) == [n <= 8, m >= 0]
    assert without_implied(ladder, n <= m, [m <= 8, n <= 8]) == [m <= 8]
    assert without_implied(ladder, TRUE, [n <= 8]) == [n <= 8]


@pytest.mark.parametrize("assume", [("n >= 5", "n <= 4"), ("n == 3 and n % 2 == 0",)])
def test_assumptions_that_contradict_each_other_prove_nothing(assume: tuple[str, ...]) -> None:
    text = kernel_of("%s = arith.addi %n, %c16 : index", "%c32", "%c4")
    result = check(text, families="BOUND", assume=assume)
    assert {o.verdict for o in result.obligations} == {Verdict.VACUOUS}
    assert [f.message for f in result.findings] == ["the assumptions contradict each other"]
    assert replace(result, findings=[]).verdict is Verdict.VACUOUS


def test_what_the_kernel_computes_itself_is_no_need_of_callers() -> None:
    """A place that a loop hands on by `3 * p // 2`: no caller knows the numbers that it takes."""
    result = open_points(kernel("\n".join((
        view("a", "p", "c128"), alloc("t", VEC),
        "%last = scf.for %i = %c0 to %m step %c1 iter_args(%at = %n) -> (index) {",
        window("w", "a", "%at, %c0", "%c1, %c64"), load("w", "t", VEC),
        "%more = arith.muli %at, %c3 : index", "%next = arith.divsi %more, %c2 : index", "scf.yield %next : index",
        "}")), "%n: index, %m: index"))
    open_ = [f for f in result.findings if f.verdict is Verdict.UNKNOWN]
    assert {f.rule for f in open_} >= {"BOUND-UPPER", "BOUND-LOWER"}
    assert {f.needs for f in open_} == {""} and result.needs == ()
    assert all("how the kernel computes at" in f.message and "is not followed" in f.message for f in open_)
