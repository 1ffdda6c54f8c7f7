"""Windows of global memory: dims and trips stay symbolic, what a caller or memory chooses is not chosen against him."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from tests.verifiers.kernels import alloc, check, finding, kernel, load, obligations, tile, verdicts, view, window
from verifiers import Options, verify

VEC = tile()


def loads(*setup: str, offset: str = "%c0", size: str = "c32", dim: str = "c512", args: str = "") -> str:
    """A load of `size` rows at `offset` out of `dim` rows, after the lines of `setup`, whose braces it closes."""
    closing = "}\n" * sum(line.rstrip().endswith("{") for line in setup)
    body = (
        view("a", "p", dim), *setup, alloc("t", VEC, rows=size),
        window("w", "a", f"{offset}, %c0", f"%{size}, %c64"), load("w", "t", VEC))
    return kernel("\n".join(body) + "\n" + closing, args)


def test_a_tail_tile_is_refuted_with_the_dim_and_the_trip() -> None:
    text = loads("scf.for %r = %c0 to %M step %c32 {", offset="%r", dim="M", args="%M: index")
    found = finding(check(text, families="BOUND"), "BOUND-UPPER")
    assert found.verdict is Verdict.REFUTED
    # The least number of rows at which a whole window of 32 does not fit.
    assert dict(found.witness) == {"M": 1, "r": 0}
    assert "reads a on axis 0" in found.message
    assert "elements 0 to 31 of 1" in found.message


def test_a_minimum_makes_the_tail_safe() -> None:
    text = loads(
        "scf.for %r = %c0 to %M step %c32 {", "%left = arith.subi %M, %r : index",
        "%n = arith.minsi %left, %c32 : index", offset="%r", size="n", dim="M", args="%M: index")
    assert verdicts(check(text, families="BOUND"), "BOUND-UPPER") == {Verdict.PROVED}


def test_an_assumption_settles_a_tail() -> None:
    text = loads("scf.for %r = %c0 to %M step %c32 {", offset="%r", dim="M", args="%M: index")
    result = check(text, families="BOUND", assume=("M % 32 == 0",))
    assert verdicts(result, "BOUND-UPPER") == {Verdict.PROVED}
    assert any("assumed: M % 32 == 0" in o.assumptions for o in obligations(result, "BOUND-UPPER"))


def test_assumptions_that_contradict_each_other_make_the_verdict_vacuous() -> None:
    text = loads("scf.for %r = %c0 to %M step %c32 {", offset="%r", dim="M", args="%M: index")
    result = check(text, families="BOUND", assume=("M >= 5", "M <= 4"))
    assert verdicts(result, "BOUND-UPPER") == {Verdict.VACUOUS}


@pytest.mark.parametrize(("condition", "expected"), [("row <= 480", Verdict.PROVED), ("row <= 481", Verdict.UNKNOWN)])
def test_a_callers_offset_is_unknown_until_it_is_assumed(condition: str, expected: Verdict) -> None:
    text = loads(offset="%row", args="%row: index")
    open_result = check(text, families="BOUND")
    upper = finding(open_result, "BOUND-UPPER")
    assert (upper.verdict, upper.needs) == (Verdict.UNKNOWN, "row <= 480")
    assert finding(open_result, "BOUND-LOWER").needs == "row >= 0"
    assert expected in verdicts(check(text, families="BOUND", assume=(condition,)), "BOUND-UPPER")


def test_an_offset_read_from_memory_is_unknown_with_the_assumption_that_settles_it() -> None:
    text = loads("%row = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> index", offset="%row")
    assert finding(check(text, families="BOUND"), "BOUND-UPPER").needs == "row <= 480"
    settled = check(text, families="BOUND", assume=("0 <= row <= 480",))
    assert {o.verdict for o in settled.obligations} == {Verdict.PROVED}


def test_the_needed_condition_speaks_of_the_callers_count_not_of_the_loop() -> None:
    text = loads("scf.for %i = %c0 to %n step %c1 {", offset="%i", args="%n: index")
    assert finding(check(text, families="BOUND"), "BOUND-UPPER").needs == "n <= 481"


def test_the_needed_condition_of_a_block_grid_speaks_of_the_block_count() -> None:
    text = loads(
        "%b = pto.get_block_idx", "%i = arith.index_cast %b : i64 to index",
        "%o = arith.muli %i, %c32 : index", offset="%o")
    result = check(text, families="BOUND")
    assert finding(result, "BOUND-UPPER").needs == "block_num <= 16"
    assert verdicts(check(text, families="BOUND", assume=("block_num == 16",)), "BOUND-UPPER") == {Verdict.PROVED}


def test_a_declared_launch_that_reaches_past_the_end_is_refuted() -> None:
    text = loads(
        "%b = pto.get_block_idx", "%i = arith.index_cast %b : i64 to index",
        "%o = arith.muli %i, %c32 : index", offset="%o")
    found = finding(check(text, families="BOUND", assume=("block_num == 17",)), "BOUND-UPPER")
    assert found.verdict is Verdict.REFUTED
    assert dict(found.witness)["block_idx"] == 16


_BLOCK_ROWS = ("%b = pto.get_block_idx", "%i = arith.index_cast %b : i64 to index", "%o = arith.muli %i, %c32 : index")


def test_callers_relate_the_extent_to_the_launch() -> None:
    """Whether a block runs at all for a tensor of one row is the caller's to say: M // 32 blocks are right."""
    text = loads(*_BLOCK_ROWS, offset="%o", dim="M", args="%M: index")
    found = finding(check(text, families="BOUND"), "BOUND-UPPER")
    assert found.verdict is Verdict.UNKNOWN
    assert found.needs == "M >= 32*block_num"
    assert verdicts(check(text, families="BOUND", assume=("block_num == M // 32",)), "BOUND-UPPER") == {Verdict.PROVED}
    wrong = check(text, families="BOUND", assume=("block_num == (M + 31) // 32",))
    assert finding(wrong, "BOUND-UPPER").verdict is Verdict.REFUTED


def test_callers_relate_the_extents_of_their_tensors() -> None:
    """A loop over the rows of one tensor reads those of another: a caller may have padded the second."""
    text = loads(
        view("other", "q", "N"), "scf.for %r = %c0 to %N step %c32 {", offset="%r", dim="M",
        args="%M: index, %N: index")
    assert finding(check(text, families="BOUND"), "BOUND-UPPER").verdict is Verdict.UNKNOWN
    padded = check(text, families="BOUND", assume=("M >= N + 31",))
    assert verdicts(padded, "BOUND-UPPER") == {Verdict.PROVED}


def test_callers_relate_their_counts_to_the_extents() -> None:
    """Two rows for each of n sequences: whether the tensor has them is the caller's to say."""
    text = loads(
        "scf.for %i = %c0 to %n step %c1 {", "%o = arith.muli %i, %c2 : index", offset="%o", size="c2", dim="M",
        args="%M: index, %n: index")
    found = finding(check(text, families="BOUND"), "BOUND-UPPER")
    assert found.verdict is Verdict.UNKNOWN
    assert verdicts(check(text, families="BOUND", assume=(found.needs,)), "BOUND-UPPER") == {Verdict.PROVED}


def test_declared_extents_are_independent() -> None:
    """What an author declares as two sizes may differ."""
    text = loads(
        view("other", "q", "N"), "scf.for %r = %c0 to %N step %c32 {", offset="%r", dim="M",
        args="%M: index, %N: index")
    (result,) = verify(read(text, "k.pto"), target("a2a3"), Options(families=frozenset({"BOUND"}), names={"k": {}}))
    assert finding(result, "BOUND-UPPER").verdict is Verdict.REFUTED


def test_a_fault_behind_a_callers_switch_is_refuted() -> None:
    text = loads("%go = arith.cmpi sgt, %flag, %c0 : index", "scf.if %go {", offset="%c512", args="%flag: index")
    assert finding(check(text, families="BOUND"), "BOUND-UPPER").verdict is Verdict.REFUTED


def test_a_branch_guards_what_it_contains() -> None:
    guarded = loads(
        "scf.for %i = %c0 to %c512 step %c1 {", "%fits = arith.cmpi sle, %i, %c64 : index",
        "scf.if %fits {", offset="%i")
    assert verdicts(check(guarded, families="BOUND"), "BOUND-UPPER") == {Verdict.PROVED}


def test_rows_rounded_up_to_a_tile_pass_the_end_of_a_small_tensor() -> None:
    """pypto-lib#1111: rows = max(T, 16) of a tensor with T rows."""
    text = loads("%rows = arith.maxsi %T, %c16 : index", size="rows", dim="T", args="%T: index")
    found = finding(check(text, families="BOUND"), "BOUND-UPPER")
    assert found.verdict is Verdict.REFUTED
    assert dict(found.witness)["T"] < 16


def test_an_offset_that_is_clamped_to_zero_is_judged_without_the_clamp() -> None:
    """pypto#2201: the block before the first one."""
    text = loads(
        "scf.for %r = %c0 to %c8 step %c1 {", "%before = arith.subi %r, %c1 : index",
        "%o = arith.maxsi %before, %c0 : index", offset="%o")
    result = check(text, families="BOUND")
    assert verdicts(result, "BOUND-LOWER") == {Verdict.PROVED}
    found = finding(result, "BOUND-CLAMP")
    assert found.verdict is Verdict.REFUTED
    assert dict(found.witness) == {"r": 0}


def test_strided_cover_of_a_range_is_safe() -> None:
    """tilelang#1012: t in 0..127, i in [0, ceil((n - t) / 128)): t + 128*i < n."""
    text = loads(
        "%short = arith.subi %n, %lane : index", "%trips = arith.ceildivsi %short, %c128 : index",
        "scf.for %i = %c0 to %trips step %c1 {", "%far = arith.muli %i, %c128 : index",
        "%o = arith.addi %lane, %far : index",
        offset="%o", size="c1", dim="n", args="%n: index, %lane: index")
    result = check(text, families="BOUND", assume=("0 <= lane <= 127",))
    assert verdicts(result, "BOUND-UPPER") == {Verdict.PROVED}


def test_a_counter_carried_by_the_loop_is_followed() -> None:
    text = kernel("\n".join((
        view("a", "p", "c128"),
        "%end = scf.for %i = %c0 to %c4 step %c1 iter_args(%row = %c0) -> (index) {",
        alloc("t", VEC), window("w", "a", "%row, %c0", "%c32, %c64"), load("w", "t", VEC),
        "%next = arith.addi %row, %c32 : index",
        "scf.yield %next : index",
        "}",
        alloc("u", VEC), window("v", "a", "%end, %c0", "%c32, %c64"), load("v", "u", VEC))))
    result = check(text, families="BOUND")
    found = [f for f in result.findings if f.rule == "BOUND-UPPER"]
    assert [f.verdict for f in found] == [Verdict.REFUTED]
    assert "elements 128 to 159 of 128" in found[0].message


def test_truncating_division_of_a_negative_number_rounds_to_zero() -> None:
    """-7 / 2 is -3 in the text's arithmetic: the offset 4 + x / 2 is then 1."""
    text = loads(
        "scf.for %i = %c0 to %c1 step %c1 {", "%x = arith.subi %i, %seven : index",
        "%h = arith.divsi %x, %c2 : index", "%o = arith.addi %h, %c3 : index", offset="%o").replace("%one =", "%seven "
        "= arith.constant 7 : index\n    %one =")
    assert verdicts(check(text, families="BOUND"), "BOUND-LOWER") == {Verdict.PROVED}


@pytest.mark.parametrize(
    ("start", "width", "wraps"), [("c128", "i8", True), ("c32", "i8", False), ("c128", "i16", False)])
def test_an_offset_cut_to_eight_bits_wraps_around(start: str, width: str, wraps: bool) -> None:
    """128 in a signed byte is -128; 32 remains 32, and 16 bits hold both."""
    text = loads(
        f"scf.for %i = %{start} to %c512 step %c512 {{", "%wide = arith.index_cast %i : index to i64",
        f"%cut = arith.trunci %wide : i64 to {width}", f"%o = arith.index_cast %cut : {width} to index", offset="%o")
    assert (Verdict.REFUTED in verdicts(check(text, families="BOUND"), "BOUND-LOWER")) is wraps


def test_a_loop_that_never_runs_does_nothing_wrong() -> None:
    text = loads("scf.for %i = %c4 to %c4 step %c1 {", offset="%c512")
    assert verdicts(check(text, families="BOUND"), "BOUND-UPPER") == {Verdict.PROVED}


def doubling(start: str, end: str) -> str:
    """row = start; while row < end: load 16 rows at row; row = 2*row"""
    return kernel("\n".join((
        view("a", "p", "c128"),
        f"%last = scf.while (%x = %{start}) : (index) -> (index) {{",
        f"%more = arith.cmpi slt, %x, %{end} : index",
        "scf.condition(%more) %x : index",
        "} do {",
        "^bb0(%row : index):",
        alloc("t", VEC, rows="c16"), window("w", "a", "%row, %c0", "%c16, %c64"), load("w", "t", VEC),
        "%next = arith.muli %row, %c2 : index",
        "scf.yield %next : index",
        "}")))


def test_a_doubling_counter_keeps_its_divisor() -> None:
    """16, 32, 64: each a multiple of 16 below 128, so 16 rows fit."""
    assert verdicts(check(doubling("c16", "c128"), families="BOUND"), "BOUND-UPPER") == {Verdict.PROVED}


def test_a_counter_known_only_by_its_invariants_is_never_refuted() -> None:
    """8, 16, 32, 64 fit in truth; the invariant (a multiple of 8) allows 120, which is no proof of a fault."""
    assert verdicts(check(doubling("c8", "c128"), families="BOUND"), "BOUND-UPPER") == {Verdict.PROVED, Verdict.UNKNOWN}


def test_a_divisor_is_positive_only_where_the_division_is_reached() -> None:
    """M / M in a branch says nothing about M outside of it: an empty tensor is still read past its end."""
    text = kernel("\n".join((
        view("a", "p", "M"),
        "%c = arith.cmpi sgt, %flag, %c0 : index",
        "scf.if %c {", "%one_again = arith.divsi %M, %M : index", "}",
        "%size = arith.subi %c1, %M : index", "%n = arith.maxsi %size, %c0 : index",
        alloc("t", VEC, rows="c1"), window("w", "a", "%c0, %c0", "%n, %c64"), load("w", "t", VEC))),
        "%M: index, %flag: index")
    found = finding(check(text, families="BOUND"), "BOUND-UPPER")
    assert found.verdict is Verdict.REFUTED
    assert dict(found.witness)["M"] == 0
