"""Stores that may not run: under a condition on sizes or counters, or in a loop that need not turn."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import check, finding, kernel, obligations, verdicts
from tests.verifiers.stores import grid, output, rows


def guarded(least: str) -> str:
    """All of M rows, if there are at least as many."""
    return grid(
        f"%some = arith.cmpi sge, %M, %{least} : index", "scf.if %some {", "scf.for %i = %c0 to %M step %c32 {",
        "%left = arith.subi %M, %i : index", "%rows = arith.minsi %left, %c32 : index", rows("i", "rows"), "}", "}")


def test_a_condition_on_the_size_leaves_no_size_out() -> None:
    """A text without declared outputs may be one of several that its caller chooses from by the size."""
    assert verdicts(check(guarded("c1"), families="WRITE", outputs=("q",)), "WRITE-UNION") == {Verdict.PROVED}
    found = finding(check(guarded("c32"), families="WRITE", outputs=("q",)), "WRITE-UNION")
    assert (found.verdict, found.message) == (Verdict.REFUTED, "no store writes o[0, :]")
    assert not obligations(check(guarded("c32"), families="WRITE"), "WRITE-UNION")


def halves(second: str) -> str:
    """Two stores of 32 rows each to a tensor of 64."""
    return kernel("\n".join((
        "%c40 = arith.constant 40 : index", output("c64"),
        rows("c0", "c32"), rows(second, "c32").replace("%w", "%v"))))


@pytest.mark.parametrize(("second", "verdict"), [("c32", Verdict.PROVED), ("c40", Verdict.REFUTED)])
def test_several_stores_write_all_of_an_output_with_the_stricter_reading(second: str, verdict: Verdict) -> None:
    text = halves(second)
    assert verdicts(check(text, families="WRITE", strict=True), "WRITE-UNION") == {verdict}
    assert not obligations(check(text, families="WRITE"), "WRITE-UNION")


def waiting(*inner: str, outer: str = "%none = arith.constant 0 : index", part: str = "c64") -> str:
    """M rows in parts of `part`, of each 64 rows in two windows, in or around what a store may wait for."""
    return grid(
        "%rest = arith.subi %M, %c64 : index", outer, f"scf.for %i = %c0 to %M step %{part} {{",
        "scf.for %j = %c0 to %c64 step %c32 {", *inner, "%at = arith.addi %i, %j : index",
        "%left = arith.subi %M, %at : index", "%some = arith.minsi %left, %c32 : index",
        "%rows = arith.maxsi %some, %c0 : index", rows("at", "rows"),
        *["}"] * (2 + sum(line.endswith("{") for line in (*inner, outer))))


OVER_REST, OVER_J = "scf.for %k = %c0 to %rest step %c64 {", "scf.for %k = %c0 to %j step %c32 {"

LAST_K = ("scf.for %k = %c0 to %c4 step %c1 {", "%in = arith.cmpi eq, %k, %c3 : index", "scf.if %in {")

LARGE = ("%in = arith.cmpi sgt, %M, %c100 : index", "scf.if %in {")


@pytest.mark.parametrize(("text", "rules"), [
    (waiting(), {}), (waiting(*LAST_K), {}), (waiting(*LAST_K, part="c128"), {"WRITE-NEST": Verdict.REFUTED}),
    (waiting(OVER_REST), {"WRITE-UNION": Verdict.REFUTED}),
    (waiting(outer=OVER_REST), {"WRITE-UNION": Verdict.REFUTED}),
    (waiting(*LARGE), {"WRITE-UNION": Verdict.REFUTED}),
    (waiting(OVER_J), {"WRITE-UNION": Verdict.REFUTED}),
], ids=["nothing", "the last turn", "the last turn, with gaps", "a loop inside", "a loop outside", "a size",
        "a loop that some turns leave out"])
def test_a_store_in_loops_is_not_taken_to_run(text: str, rules: dict[str, Verdict]) -> None:
    """A loop that does not move a store may not turn at all, and then nothing is written."""
    result = check(text, families="WRITE", outputs=("q",))
    assert {o.rule: o.verdict for o in result.obligations if o.verdict is not Verdict.PROVED} == rules


def test_a_condition_on_a_loop_around_the_others_may_never_hold() -> None:
    """`for k in range(M//32): if k > 0:` around loops that write all of M rows: for 32 rows none of them runs."""
    inside = ("scf.for %k = %c0 to %down step %c1 {", "%in = arith.cmpi sgt, %k, %c0 : index", "scf.if %in {")
    text = waiting(outer="\n".join(inside)).replace("return", "}\n return")
    assert verdicts(check(text, families="WRITE", outputs=("q",)), "WRITE-UNION") == {Verdict.UNKNOWN}


@pytest.mark.parametrize(("upper", "verdict"), [("M", set()), ("rest", {Verdict.REFUTED}), ("i", {Verdict.REFUTED})])
def test_one_loop_around_or_in_a_loop_that_may_not_turn(upper: str, verdict: set[Verdict]) -> None:
    text = grid(
        "%rest = arith.subi %M, %c64 : index", "scf.for %i = %c0 to %M step %c32 {",
        f"scf.for %k = %c0 to %{upper} step %c32 {{", "%left = arith.subi %M, %i : index",
        "%rows = arith.minsi %left, %c32 : index", rows("i", "rows"), "}", "}")
    assert verdicts(check(text, families="WRITE", outputs=("q",)), "WRITE-UNION") == verdict
