"""Extents of operands, by cases worked out by hand; what the assembler refuses is one finding, not two."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.examples_ops import PAIRS
from tests.verifiers.kernels import alloc, check, fill, finding, kernel, out, store, tile, unary, verdicts, view, window

VEC = tile()
LEFT = tile(32, 32, "f16", "left", "row_major", "row_major")
MAT = tile(32, 64, "f16", "mat", "col_major", "row_major")


def _judged(*lines: str, args: str = "", families: str = "VALID", assume: tuple[str, ...] = ()) -> FunctionResult:
    return check(kernel("\n".join(lines), args), families=families, assume=assume)


def _outcome(result: FunctionResult, rule: str) -> Verdict:
    (found,) = verdicts(result, rule)
    return found


@pytest.mark.parametrize(("rows", "cols", "expected"), [
    (10, 8, Verdict.PROVED),
    (11, 8, Verdict.REFUTED),
    (5, 16, Verdict.PROVED),
    (2, 32, Verdict.PROVED),
    (3, 32, Verdict.REFUTED),
])
@pytest.mark.requirement("CG-07")
def test_eighty_valid_elements_stay_eighty_under_a_reshape(rows: int, cols: int, expected: Verdict) -> None:
    """5 full rows of 16 are the first 80 elements: 10 rows of 8, or 5 of 16, but not 11 x 8 = 88, nor 3 x 32 = 96."""
    source = tile(8, 16)
    height = 128 // cols
    flat = tile(height, cols, valid=(str(rows), str(cols)))
    result = _judged(
        "%c5 = arith.constant 5 : index", alloc("t", source, rows="c5", cols="c16"), fill("t", source),
        f"%v = pto.treshape %t : {source} -> {flat}")
    assert _outcome(result, "VALID-RESHAPE") is expected

# derivation: where both have lines of 256 bytes, valid lines and the valid bytes of a line are compared
@pytest.mark.parametrize(("shape", "dtype", "valid", "fits"), [
    ((32, 64), "f32", (8, 32), True), ((32, 64), "i32", (8, 32), True), ((32, 64), "i32", (8, 33), False),
    ((32, 64), "i32", (9, 32), False), ((32, 64), "i32", (7, 31), True), ((32, 128), "f16", (8, 64), True),
    ((32, 128), "f16", (8, 65), False), ((32, 128), "f16", (9, 64), False), ((32, 256), "i8", (8, 128), True),
    ((32, 256), "i8", (8, 129), False),
    # other lines: what is valid has to be a run from the start, which it is in the first line only
    ((64, 32), "f32", (1, 32), True), ((64, 32), "f32", (2, 32), False), ((64, 32), "f32", (1, 0), True),
    ((64, 64), "f16", (1, 64), True), ((128, 32), "f16", (2, 32), True), ((128, 32), "f16", (3, 32), False),
])
def test_what_a_relabel_declares_valid_was_valid(
    shape: tuple[int, int], dtype: str, valid: tuple[int, int], fits: bool
) -> None:
    """Of 32 x 64 elements of 4 bytes 8 x 32 are valid."""
    source = tile(32, 64, valid=("8", "32"))
    other = tile(*shape, dtype=dtype, valid=(str(valid[0]), str(valid[1])))
    result = _judged(
        f"%t = pto.alloc_tile addr = %a0 : {source}", f"%v = pto.treshape %t : {source} -> {other}")
    assert _outcome(result, "VALID-RESHAPE") is (Verdict.PROVED if fits else Verdict.REFUTED)


def test_a_vector_of_one_value_a_row_may_be_a_column_or_a_packed_block() -> None:
    def expanded(vector: str, cols: str) -> Verdict:
        return _outcome(_judged(
            alloc("s", VEC), fill("s", VEC), alloc("v", vector, 8192, cols=cols), alloc("d", VEC, 65536),
            f"pto.trowexpandmul ins(%s, %v : {VEC}, {vector}) outs(%d : {VEC})"), "VALID-EXPAND")

    assert expanded(tile(32, 1, blayout="col_major"), "c1") is Verdict.PROVED
    assert expanded(tile(32, 8), "c8") is Verdict.PROVED
    assert expanded(tile(32, 8), "c4") is Verdict.REFUTED


def test_an_idle_lane_with_an_empty_destination_asks_for_nothing() -> None:
    result = _judged(
        alloc("s", VEC), fill("s", VEC), alloc("tmp", VEC, 8192),
        alloc("d", tile(32, 1, blayout="col_major"), 65536, "c0", "c0"),
        f"pto.trowsum ins(%s, %tmp : {VEC}, {VEC}) outs(%d : {tile(32, 1, blayout='col_major')})")
    assert _outcome(result, "VALID-REDUCE") is Verdict.PROVED
    assert _outcome(result, "VALID-REDUCE-EMPTY") is Verdict.PROVED


def test_an_extract_at_a_loop_index_stays_inside_for_every_trip() -> None:
    def cut(last: str) -> FunctionResult:
        return _judged(
            alloc("s", MAT), alloc("d", LEFT, rows="c32", cols="c32"),
            f"scf.for %i = %c0 to %{last} step %c32 {{",
            f"pto.textract ins(%s, %c0, %i : {MAT}, index, index) outs(%d : {LEFT})", "}")

    assert verdicts(cut("c64"), "VALID-CUT") == {Verdict.PROVED}
    outside = cut("c128")
    assert Verdict.REFUTED in verdicts(outside, "VALID-CUT")
    assert "columns 64 to 95" in finding(outside, "VALID-CUT").message


def test_an_extract_at_a_parameter_says_what_the_caller_must_keep() -> None:
    result = _judged(
        alloc("s", MAT), alloc("d", LEFT, rows="c32", cols="c32"),
        f"pto.textract ins(%s, %c0, %at : {MAT}, index, index) outs(%d : {LEFT})", args="%at: index")
    found = finding(result, "VALID-CUT")
    assert found.verdict is Verdict.UNKNOWN
    assert "at >= 0" in found.needs
    assert "at <= 32" in found.needs


def test_an_assumption_on_a_dimension_settles_a_column_sum_of_no_rows() -> None:
    lines = (
        view("a", "p", "M"), "%n = arith.minsi %M, %c32 : index", alloc("s", VEC, rows="n"), fill("s", VEC),
        alloc("d", tile(1, 64), 8192, "c1"), unary("tcolmax", "s", "d", VEC, tile(1, 64)))
    empty = _judged(*lines, args="%M: index")
    assert _outcome(empty, "VALID-REDUCE-EMPTY") is Verdict.REFUTED
    assert dict(finding(empty, "VALID-REDUCE-EMPTY").witness)["M"] == 0
    assert _outcome(_judged(*lines, args="%M: index", assume=("M >= 1",)), "VALID-REDUCE-EMPTY") is Verdict.PROVED


def test_what_the_assembler_refuses_is_left_to_its_row() -> None:
    """Both see that f32 goes into an i32 result; LEGAL speaks, DTYPE does not."""
    lines = (alloc("a", VEC), alloc("b", VEC, 8192), alloc("d", tile(dtype="i32"), 65536),
             f"pto.tadd ins(%a, %b : {VEC}, {VEC}) outs(%d : {tile(dtype='i32')})")
    result = _judged(*lines, families="DTYPE LEGAL")
    refuted = [o.rule for o in result.obligations if o.verdict is Verdict.REFUTED]
    assert [r.removeprefix("LEGAL-") for r in refuted] == ["OPERAND-DTYPE"]
    assert not verdicts(result, "DTYPE-SAME")


@pytest.mark.parametrize(("op", "chip"), [("taddc", "a2a3"), ("taddc", "a5"), ("tsubc", "a2a3")])
def test_an_op_that_no_target_implements_is_refuted(op: str, chip: str) -> None:
    text = kernel("\n".join((
        alloc("a", VEC), alloc("b", VEC, 8192), alloc("c", VEC, 16384), alloc("d", VEC, 65536),
        f"pto.{op} ins(%a, %b, %c : {VEC}, {VEC}, {VEC}) outs(%d : {VEC})")).replace(
            "%a16384", "%a65536"))
    result = check(text, chip=chip, families="DTYPE")
    assert finding(result, "DTYPE-DEVICE").message == f"{op} has no implementation on {chip}"


def test_a_column_stored_to_a_row_major_tensor_is_no_question_of_layout() -> None:
    line = tile(1, 64, blayout="col_major")
    result = _judged(
        view("o", "q", "c1"), alloc("t", line, rows="c1"), window("w", "o", "%c0, %c0", "%c1, %c64"),
        store("t", "w", line), families="LAYOUT")
    assert _outcome(result, "LAYOUT-STORE") is Verdict.PROVED


def test_a_narrower_result_of_a_scalar_op_is_nothing_on_a2a3_alone() -> None:
    """A library that wants equal valid shapes computes nothing otherwise; a5 goes over the result."""
    pair = PAIRS["VALID-ALIKE"]
    assert finding(check(pair.bad, families="VALID"), "VALID-ALIKE").verdict is Verdict.REFUTED
    assert check(pair.bad, chip="a5", families="VALID").verdict is Verdict.PROVED


@pytest.mark.parametrize("line", [
    "pto.taxpy ins(%a, %one : {v}, f32) outs(%b : {v})",
    "pto.tpow ins(%a, %b, %t : {v}, {v}, {v}) outs(%d : {v})",
    "pto.tpows ins(%a, %one, %t : {v}, f32, {v}) outs(%d : {v})",
])
def test_powers_and_sums_of_products_are_judged_like_other_lane_wise_ops(line: str) -> None:
    def outcome(rows: str) -> FunctionResult:
        """`rows` valid rows of the first operand."""
        return check(kernel("\n".join((
            alloc("a", VEC, rows=rows), fill("a", VEC), alloc("b", VEC, 8192), fill("b", VEC), alloc("t", VEC, 16384),
            alloc("d", VEC, 65536), fill("d", VEC), line.format(v=VEC), out("b", VEC),
            out("d", VEC).replace("%out", "%last").replace("%whole", "%rest")))))

    assert outcome("c32").verdict is Verdict.PROVED
    assert finding(outcome("c16"), "VALID-SOURCE").verdict is Verdict.REFUTED


def test_where_the_larger_values_stand_is_judged_with_them() -> None:
    """Two results, both stored from what was written: as much as the values declare."""
    good = PAIRS["VALID-COUPLE"].good
    assert check(good).verdict is Verdict.PROVED
    result = check(good.replace("valid_row = %c16 valid_col = %c64", "valid_row = %c32 valid_col = %c64", 2).replace(
        "%d = pto.alloc_tile addr = %a65536 valid_row = %c32", "%d = pto.alloc_tile addr = %a65536 valid_row = %c16"))
    assert result.verdict is not Verdict.PROVED


@pytest.mark.requirement("CG-05", "VF-01")
@pytest.mark.parametrize(("outer", "layout", "expected"), [
    ((1,), "", {Verdict.PROVED}), ((2,), "", {Verdict.REFUTED}), ((1, 2), "", {Verdict.REFUTED}),
    ((2, 1), "", {Verdict.REFUTED}), ((1, 1), "", {Verdict.PROVED}),
    ((1, 2, 1), "nd", {Verdict.REFUTED}), ((1, 1, 1), "nd", {Verdict.PROVED}), ((2, 1), "dn", {Verdict.REFUTED}),
    ((1, 2, 1), "", set()),  # of five axes, it may be one of fractals
    ((1, 2, 1), "nz", set())])
def test_fractals_are_made_of_two_axes(outer: tuple[int, ...], layout: str, expected: set[Verdict]) -> None:
    """Windows of 16 x 64 elements, some of which lie behind one another."""
    n = len(outer) + 2
    sizes = ", ".join(f"%c{size}" for size in (*outer, 16, 64))
    axes, zeros = "x".join("?" * n), ", ".join(["%c0"] * n)
    strides = ", ".join(["%c1024"] * len(outer))
    type_, part = f"!pto.tensor_view<{axes}xf32>", f"!pto.partition_tensor_view<{axes}xf32>"
    attrs = f" {{layout = #pto.layout<{layout}>}}" if layout else ""
    text = kernel("\n".join((
        "%c1024 = arith.constant 1024 : index",
        f"%v = pto.make_tensor_view %p, shape = [{sizes}], strides = [{strides}, %c64, %c1]{attrs} : {type_}",
        f"%w = pto.partition_view %v, offsets = [{zeros}], sizes = [{sizes}] : {type_} -> {part}",
        alloc("t", MAT), f"pto.tload ins(%w : {part}) outs(%t : {MAT})")), kind="cube")
    assert verdicts(check(text, families="LAYOUT"), "LAYOUT-OUTER") == expected


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize(("layout", "strides", "burst", "gap"), [
    ("", (16, 1), True, True), ("", (15, 1), True, False), ("", (16, 2), False, True),
    # along the columns, as the strides show: 8 elements a burst
    ("", (1, 8), True, True), ("", (1, 7), True, False), ("", (2, 16), False, False), ("", (1, 1), True, False),
    ("dn", (1, 8), True, True), ("dn", (1, 7), True, False), ("dn", (16, 1), False, False), ("dn", (1, 1), True, False),
    ("nd", (16, 1), True, True), ("nd", (1, 8), False, False)])
def test_the_bursts_of_a_window_run_along_its_rows_or_its_columns(
    layout: str, strides: tuple[int, int], burst: bool, gap: bool
) -> None:
    """8 x 16 elements; in which order is said, or follows from where the stride is one."""
    one = tile(8, 16)
    attrs = f" {{layout = #pto.layout<{layout}>}}" if layout else ""
    type_, part = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<?x?xf32>"
    result = check(kernel("\n".join((
        f"%far = arith.constant {strides[0]} : index", f"%near = arith.constant {strides[1]} : index",
        f"%v = pto.make_tensor_view %p, shape = [%c8, %c16], strides = [%far, %near]{attrs} : {type_}",
        f"%w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c16] : {type_} -> {part}",
        alloc("t", one, rows="c8", cols="c16"), f"pto.tload ins(%w : {part}) outs(%t : {one})"))), families="LAYOUT")
    for rule, holds in (("LAYOUT-BURST", burst), ("LAYOUT-GAP", gap)):
        assert verdicts(result, rule) == {Verdict.PROVED if holds else Verdict.REFUTED}
