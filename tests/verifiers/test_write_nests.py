"""WRITE-NEST: what loops in loops, or one along two axes, write of an output."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import check, finding, kernel, obligations, store, verdicts, window
from tests.verifiers.stores import VEC, grid, output, rows


def in_parts(part: str = "c64", windows: str = "c64", rows_of: str = "rows", guard: str = "M") -> str:
    """M rows in parts of `part`, of each the first `windows` in windows of 32 that begin below `guard`."""
    return grid(
        "%c96 = arith.constant 96 : index", f"scf.for %i = %c0 to %M step %{part} {{",
        f"scf.for %j = %c0 to %{windows} step %c32 {{",
        "%at = arith.addi %i, %j : index", f"%in = arith.cmpi slt, %at, %{guard} : index", "scf.if %in {",
        "%left = arith.subi %M, %at : index", "%rows = arith.minsi %left, %c32 : index", rows("at", rows_of),
        "}", "}", "}")


@pytest.mark.parametrize(("text", "missing"), [
    (in_parts(), ""), (in_parts(windows="c96"), ""), (in_parts(windows="c128"), ""),
    (in_parts("c128", "c96"), "M = 97: no turn of the loops writes elements 96 to 96"),
    (in_parts("c128"), "M = 65: no turn of the loops writes elements 64 to 64"),
])
def test_what_several_loops_write_together_is_all_of_an_output(text: str, missing: str) -> None:
    """Each loop may step as far as the loops in it write, no further; what is left out lies between its windows."""
    for strict in (False, True):
        result = check(text, families="WRITE", strict=strict)
        if not missing:
            assert verdicts(result, "WRITE-NEST") == {Verdict.PROVED}
            continue
        found = finding(result, "WRITE-NEST")
        assert found.verdict is Verdict.REFUTED
        assert missing in found.message


def static_nest(outer: str, inner: str, count: str) -> str:
    """32 of 256 rows each: `for i in range(0, 256, outer): for j in range(0, count, inner)`."""
    return kernel("\n".join((
        "%c96 = arith.constant 96 : index", "%c256 = arith.constant 256 : index", output("c256"),
        f"scf.for %i = %c0 to %c256 step %{outer} {{",
        f"scf.for %j = %c0 to %{count} step %{inner} {{", "%at = arith.addi %i, %j : index", rows("at", "c32"),
        "}", "}")))


@pytest.mark.parametrize(("text", "missing"), [
    (static_nest("c128", "c32", "c128"), ""),
    (static_nest("c32", "c128", "c128"), ""),
    (static_nest("c128", "c32", "c96"), "axis 0 of o has 256: no turn of the loops writes elements 96 to 127 of it"),
    (static_nest("c128", "c64", "c128"), "axis 0 of o has 256: no turn of the loops writes elements 32 to 63 of it"),
])
def test_loops_of_fixed_length_leave_no_gap_in_a_declared_output(text: str, missing: str) -> None:
    result = check(text, families="WRITE", outputs=("q",))
    if missing:
        assert finding(result, "WRITE-NEST").message == missing
    else:
        assert verdicts(result, "WRITE-NEST") == {Verdict.PROVED}
    assert not obligations(check(text, families="WRITE"), "WRITE-NEST"), "a text does not say what is an output"


def test_with_the_stricter_reading_loops_in_blocks_are_not_known_to_write_all() -> None:
    """How many blocks there are, and so where the last one ends, is their caller's."""
    text = grid(
        "%first = arith.muli %b, %c128 : index", "scf.for %i = %c0 to %c128 step %c32 {",
        "%at = arith.addi %first, %i : index", rows("at", "c32"), "}")
    assert verdicts(check(text, families="WRITE", outputs=("q",)), "WRITE-NEST") == {Verdict.PROVED}
    assert verdicts(check(text, families="WRITE", outputs=("q",), strict=True), "WRITE-NEST") == {Verdict.UNKNOWN}


def diagonal(column: str) -> str:
    """32 x 64 elements of an M x M output each turn, the columns from %column on."""
    return kernel("\n".join((
        output("M", "M"), "scf.for %i = %c0 to %M step %c32 {",
        "%two = arith.muli %i, %c2 : index", "%left = arith.subi %M, %i : index",
        "%rows = arith.minsi %left, %c32 : index", f"%rest = arith.subi %M, %{column} : index",
        "%some = arith.minsi %rest, %c64 : index", "%cols = arith.maxsi %some, %c0 : index",
        window("w", "o", f"%i, %{column}", "%rows, %cols"), store("t", "w", VEC), "}")), "%M: index")


@pytest.mark.parametrize("column", ["i", "two"])
def test_a_loop_along_two_axes_writes_a_diagonal_only(column: str) -> None:
    """Each axis alone is reached to its end; beside the first window nothing is written."""
    result = check(diagonal(column), families="WRITE", outputs=("q",))
    assert not obligations(result, "WRITE-REST")
    messages = [f.message for f in result.findings if (f.rule, f.verdict) == ("WRITE-NEST", Verdict.REFUTED)]
    assert any("axis 1 " in m and "beside the first window of a loop that moves along two axes" in m for m in messages)
    whole = check(diagonal("c0"), families="WRITE", outputs=("q",), assume=("M <= 64",))
    assert verdicts(whole, "WRITE-REST") == {Verdict.PROVED}


def stepping_by_a_size(upper: str, step: str) -> str:
    """`for i in range(0, upper, step)` over M rows, `step` rows a window, cut short at the end."""
    return grid(
        "%less = arith.subi %M, %c31 : index", f"scf.for %i = %c0 to %{upper} step %{step} {{",
        "%left = arith.subi %M, %i : index", f"%rows = arith.minsi %left, %{step} : index", rows("i", "rows"), "}")


def test_a_loop_whose_step_is_a_size_is_followed() -> None:
    """The step is the caller's: what it must keep for all rows to be written is asked for, or a size shows a rest."""
    whole = check(stepping_by_a_size("M", "n"), families="WRITE", outputs=("q",))
    assert verdicts(whole, "WRITE-NEST") <= {Verdict.PROVED}
    rest = check(stepping_by_a_size("less", "n"), families="WRITE", outputs=("q",))
    assert Verdict.PROVED not in verdicts(rest, "WRITE-NEST")


@pytest.mark.parametrize(("step", "verdict"), [("n", Verdict.PROVED), ("over", Verdict.UNKNOWN)])
def test_blocks_that_take_turns_step_by_no_more_than_they_are(step: str, verdict: Verdict) -> None:
    """32 rows each of parts of 64: blocks that step by one more part than there are of them leave it out. (A caller
    of a text may have M end before.)"""
    text = grid(
        "%over = arith.addi %n, %c1 : index", "%first = arith.muli %b, %c64 : index",
        f"%pace = arith.muli %{step}, %c64 : index", "scf.for %i = %first to %M step %pace {",
        "scf.for %j = %c0 to %c64 step %c32 {", "%at = arith.addi %i, %j : index",
        "%left = arith.subi %M, %at : index", "%some = arith.minsi %left, %c32 : index",
        "%rows = arith.maxsi %some, %c0 : index", rows("at", "rows"), "}", "}")
    result = check(text, families="WRITE", outputs=("q",))
    assert verdicts(result, "WRITE-NEST") == {verdict}
    if verdict is Verdict.UNKNOWN:
        assert "no turn of the loops writes elements" in finding(result, "WRITE-NEST").message


def test_of_a_tensor_without_elements_nothing_is_missing() -> None:
    """With no rows there are no turns; what they leave of the columns is not there either."""
    text = grid(
        "%square = arith.muli %up, %up : index",
        "scf.for %i = %b to %square step %n {",
        "%row = arith.remsi %i, %up : index", "%col = arith.divsi %i, %up : index",
        "%at = arith.muli %row, %c32 : index", "%right = arith.muli %col, %c64 : index",
        "%left = arith.subi %M, %at : index", "%rows = arith.minsi %left, %c32 : index",
        window("w", "o", "%at, %right", "%rows, %c64"), store("t", "w", VEC), "}")
    assert verdicts(check(text, families="WRITE", outputs=("q",)), "WRITE-NEST") == {Verdict.PROVED}


def test_a_gap_is_shown_inside_the_tensor() -> None:
    """The first window of 16 of 64 columns would begin 72 before the tensor, the next ones 24 further on each."""
    text = kernel("\n".join((
        "%c24 = arith.constant 24 : index", "%c72 = arith.constant 72 : index", "%c6 = arith.constant 6 : index",
        output("c32"), "scf.for %i = %c0 to %c6 step %c1 {",
        "%far = arith.muli %i, %c24 : index", "%at = arith.subi %far, %c72 : index",
        window("w", "o", "%c0, %at", "%c32, %c16"), store("t", "w", VEC), "}")))
    message = finding(check(text, families="WRITE", outputs=("q",)), "WRITE-NEST").message
    assert message == "axis 1 of o has 64: no turn of the loops writes elements 16 to 23 of it"
