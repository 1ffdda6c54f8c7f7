"""Ops that take indices: what of them is known, what is assumed, and what they read and write."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_event import flag
from tests.verifiers.examples_index import NUMBERS, PAIRS, ROW, counted, from_table, gathered
from tests.verifiers.kernels import alloc, check, fill, finding, given, kernel, obligations, out, tile, verdicts

TILE = tile(16, 64)


def _assumed(text: str, rule: str, chip: str = "a5") -> set[str]:
    return {a for o in obligations(check(text, chip=chip), rule) for a in o.assumptions}


def test_indices_that_the_kernel_makes_rest_on_no_assumption() -> None:
    assert "INDEX-DATA" not in _assumed(PAIRS["BOUND-INDEX"].good, "BOUND-INDEX")
    assert "INDEX-DATA" in _assumed(PAIRS["VALID-INDEX"].good, "BOUND-INDEX")


@pytest.mark.parametrize(("start", "expected"), [(63, Verdict.PROVED), (62, Verdict.REFUTED), (64, Verdict.REFUTED)])
def test_a_ramp_that_goes_down_ends_at_nothing_below_zero(start: int, expected: Verdict) -> None:
    text = gathered((
        f"%first = arith.constant {start} : i32",
        f"pto.tci ins(%first : i32) outs(%i : {NUMBERS}) {{descending = true}}"))
    assert verdicts(check(text, chip="a5"), "BOUND-INDEX") == {expected}


def test_a_kernel_with_a_gather_is_proved_as_a_whole() -> None:
    result = check(PAIRS["VALID-INDEX"].good, chip="a5")
    assert result.verdict is Verdict.PROVED
    assert not obligations(result, "MODEL-OP")


def test_a_source_that_is_loaded_in_part_may_be_read_where_nothing_is() -> None:
    """Half of what the source declares valid was loaded: data decides whether the other half is read."""
    text = gathered((given("i", NUMBERS, "m", "i32", "c1"),), source=(
        f"pto.set_validshape %s, %c1, %c32 : {ROW}", given("s", ROW, rows="c1", cols="c32"),
        f"pto.set_validshape %s, %c1, %c64 : {ROW}"))
    result = check(text, chip="a5", families="INIT")
    assert verdicts(result, "INIT-VALID") == {Verdict.PROVED, Verdict.UNKNOWN}
    assert finding(result, "INIT-VALID").verdict is Verdict.UNKNOWN


def _masked(axis: str, pattern: str, dst: str, rows: str, cols: str) -> Verdict:
    """A gather by mask out of 16 x 64 valid elements."""
    text = kernel("\n".join((
        alloc("s", TILE, rows="c16"), given("s", TILE, rows="c16"), alloc("d", dst, 8192, rows, cols),
        f'pto.tgather ins(%s, {{maskPattern = #pto.mask_pattern<{pattern}>}} : {TILE}, "{axis}") outs(%d : {dst})',
        out("d", dst, rows, cols))))
    (found,) = verdicts(check(text, families="VALID"), "VALID-MASK")
    return found


@pytest.mark.parametrize(("pattern", "dst", "rows", "cols", "expected"), [
    ("P1010", tile(16, 32), "c16", "c32", Verdict.PROVED),
    ("P0100", tile(16, 16), "c16", "c16", Verdict.PROVED),
    ("P1111", tile(16, 64), "c16", "c64", Verdict.PROVED),
    ("P0100", tile(16, 32), "c16", "c32", Verdict.REFUTED),
    ("P1010", tile(8, 64), "c8", "c64", Verdict.PROVED),    # 16 rows of 32, put row behind row
    ("P1010", tile(16, 64), "c16", "c32", Verdict.REFUTED),  # a gap behind each row, which the op does not leave
])
def test_what_a_mask_keeps_fills_whole_rows(pattern: str, dst: str, rows: str, cols: str, expected: Verdict) -> None:
    assert _masked("row", pattern, dst, rows, cols) is expected


def test_a_gather_of_rows_by_mask_is_not_decided() -> None:
    assert _masked("col", "P0101", tile(8, 64), "c8", "c64") is Verdict.UNKNOWN
    assert _masked("col", "P1111", tile(16, 64), "c16", "c64") is Verdict.PROVED


def test_a_gather_by_comparison_is_not_modelled() -> None:
    values, bytes_ = tile(1, 64), tile(1, 32, "ui8")
    text = kernel("\n".join((
        alloc("s", values, rows="c1"), given("s", values, rows="c1"), alloc("t", bytes_, 8192, "c1", "c32"),
        alloc("d", NUMBERS, 16384, "c1"), alloc("c", NUMBERS, 32768, "c1"),
        f"pto.tgather ins(%s, %one, %t : {values}, f32, {bytes_}) outs(%d, %c : {NUMBERS}, {NUMBERS}) "
        "{cmpMode = #pto<cmp gt>}")))
    assert verdicts(check(text), "MODEL-OP") == {Verdict.UNKNOWN}


def _sorted(length: str, valid: str) -> set[Verdict]:
    """Runs of `length` columns of a row of 2048, or of more, with `valid` valid ones."""
    row = tile(1, max(2048, int(valid)))
    return verdicts(check(kernel("\n".join((
        f"%cols = arith.constant {valid} : index", f"%run = {length}", alloc("s", row, rows="c1", cols="cols"),
        given("s", row, rows="c1", cols="cols"), alloc("d", row, 8192, "c1", "cols"),
        f"pto.tmrgsort ins(%s, %run : {row}, i32) outs(%d : {row})")), "%L: i32"), families="VALID"), "VALID-RUNS")


@pytest.mark.parametrize(("length", "valid", "expected"), [
    (64, 256, Verdict.PROVED),
    (64, 2048, Verdict.PROVED),
    (512, 2048, Verdict.PROVED),
    (64, 320, Verdict.REFUTED),   # one run more than a group
    (256, 1280, Verdict.REFUTED),
    (64, 255 * 256, Verdict.PROVED),
    (64, 256 * 256, Verdict.REFUTED),   # more groups than are counted
    (128, 256 * 256, Verdict.PROVED),
])
def test_runs_are_merged_in_whole_groups_of_four(length: int, valid: int, expected: Verdict) -> None:
    assert _sorted(f"arith.constant {length} : i32", str(valid)) == {expected}


def test_runs_of_a_length_that_only_the_caller_knows_are_not_decided() -> None:
    assert _sorted("arith.addi %L, %L : i32", "256") == {Verdict.UNKNOWN}


def _lists(exhausted: bool) -> Verdict:
    """Two lists of 64 merged and stored; `exhausted`: until one of them is used up."""
    return check(PAIRS["VALID-MERGE"].good.replace("exhausted = false", f"exhausted = {str(exhausted).lower()}"),
                 families="INIT VALID").verdict


def test_a_merge_that_stops_when_a_list_is_used_up_leaves_the_rest() -> None:
    assert _lists(False) is Verdict.PROVED
    assert _lists(True) is Verdict.UNKNOWN


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize(("dtype", "even", "scratch", "result", "expected"), [
    ("f32", 2, 128, "both", Verdict.PROVED), ("f32", 1, 128, "both", Verdict.UNKNOWN),
    ("f16", 4, 128, "both", Verdict.PROVED), ("f16", 2, 128, "both", Verdict.UNKNOWN),
    ("f32", 2, 120, "both", Verdict.UNKNOWN), ("f32", 2, 128, "c128", Verdict.UNKNOWN)])
def test_lists_of_any_length_are_merged_in_whole_pairs_by_way_of_the_scratch(
    dtype: str, even: int, scratch: int, result: str, expected: Verdict
) -> None:
    """A list of up to 64 columns, a multiple of `even`, and one of 64; a pair is a value and its number, 8 bytes. What
    only some callers break is not decided."""
    row, between, wide = tile(1, 64, dtype), tile(1, scratch, dtype), tile(1, 512, dtype)
    text = kernel("\n".join((
        "%n = arith.constant dense<0> : vector<4xi16>", f"%even = arith.constant {even} : index",
        f"%most = arith.constant {64 // even} : index", "%some = arith.minsi %M, %most : index",
        "%times = arith.maxsi %some, %c0 : index", "%len = arith.muli %times, %even : index",
        "%both = arith.addi %len, %c64 : index",
        alloc("a", row, rows="c1", cols="len"), alloc("b", row, 8192, "c1"), alloc("t", between, 16384, "c1", "both"),
        alloc("d", wide, 32768, "c1", result),
        f"pto.tmrgsort ins(%a, %b, %t {{exhausted = false}} : {row}, {row}, {between}) "
        f"outs(%d, %n : {wide}, vector<4xi16>)")), "%M: index")
    assert verdicts(check(text, families="VALID"), "VALID-MERGE") == {expected}


def _synced(read: str, text: str) -> set[Verdict]:
    """RACE of a gather by row on a2a3, before which what was loaded is handed to pipe `read`."""
    before = "\n".join(flag(what, 0, f"MTE2 {read}") for what in ("set", "wait"))
    after = "\n".join(flag(what, 1, "MTE2 MTE3") for what in ("set", "wait"))
    text = text.replace("pto.mgather", f"{before}\npto.mgather").replace("%out =", f"{after}\n%out =")
    return {o.verdict for o in check(text, families="RACE").obligations}


def test_indices_of_rows_are_read_by_the_scalar_unit() -> None:
    assert _synced("S", from_table("row")) == {Verdict.PROVED}
    assert Verdict.REFUTED in _synced("V", from_table("row"))


def test_indices_that_an_op_makes_harmless_rest_on_no_assumption() -> None:
    text = from_table("row").replace("<coalesce row>", "<coalesce row>, gatherOob = #pto<gather_oob clamp>")
    assert obligations(check(from_table("row")), "BOUND-INDEX")
    assert not obligations(check(text), "BOUND-INDEX")


def _scattered(first: bool, rows: str = "c8", pattern: str = "") -> str:
    """Rows of 32 elements scattered by index or mask into a tile that was filled before if `first`."""
    half, numbers, whole = tile(8, 32), tile(8, 32, "i32"), tile(8, 64)
    by = f"%s, {{maskPattern = #pto.mask_pattern<{pattern}>}} : {half}, \"row\"" if pattern else (
        f"%s, %i : {half}, {numbers}")
    return kernel("\n".join((
        alloc("s", half, rows="c8", cols="c32"), given("s", half, rows="c8", cols="c32"),
        alloc("i", numbers, 8192, rows, "c32"), given("i", numbers, "m", "i32", rows, "c32"),
        alloc("d", whole, 16384, "c8"), *([fill("d", whole)] if first else []),
        f"pto.tscatter ins({by}) outs(%d : {whole})", out("d", whole, "c8"))), "%m: !pto.ptr<i32>")


def test_what_a_scatter_by_index_leaves_out_has_to_be_there() -> None:
    assert check(_scattered(True)).verdict is Verdict.PROVED
    assert check(_scattered(False)).verdict is Verdict.UNKNOWN


def test_a_scatter_by_mask_fills_the_rest_with_zeros() -> None:
    assert check(_scattered(False, pattern="P0101")).verdict is Verdict.PROVED
    assert verdicts(check(_scattered(False, pattern="P0001"), families="VALID"), "VALID-MASK") == {Verdict.REFUTED}


@pytest.mark.parametrize("rows", ["c4", "c16"])
def test_a_scatter_has_as_many_indices_as_elements(rows: str) -> None:
    text = _scattered(True, rows)
    assert verdicts(check(text, families="VALID"), "VALID-INDEX") == {Verdict.REFUTED}


@pytest.mark.parametrize(("chip", "cols", "expected"), [
    ("a5", "c32", Verdict.PROVED), ("a2a3", "c64", Verdict.PROVED), ("a2a3", "c32", Verdict.UNKNOWN),
])
def test_a_gather_of_blocks_takes_eight_offsets_at_a_time_on_a2a3(chip: str, cols: str, expected: Verdict) -> None:
    values, offsets = tile(8, 64), tile(8, 8, "ui32")
    text = kernel("\n".join((
        alloc("s", values, rows="c8"), given("s", values, rows="c8"), alloc("i", offsets, 8192, "c8", "c8"),
        given("i", offsets, "m", "ui32", "c8", "c8"), alloc("d", values, 16384, "c8", cols),
        f"pto.tgatherb ins(%s, %i : {values}, {offsets}) outs(%d : {values})", out("d", values, "c8", cols))),
        "%m: !pto.ptr<ui32>")
    assert check(text, chip=chip).verdict is expected


@pytest.mark.parametrize(("rows", "byte", "expected"), [
    ("c32", 0, Verdict.PROVED), ("c16", 0, Verdict.REFUTED), ("c16", 1, Verdict.PROVED),  # the highest: no filter
])
def test_a_histogram_has_a_filter_for_each_row(rows: str, byte: int, expected: Verdict) -> None:
    assert check(counted(rows, byte), chip="a5").verdict is expected


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize(("dtype", "byte", "rows", "filtered", "expected"), [
    # of 16 bits: the higher byte of each row
    ("ui16", 0, 1, 0, Verdict.REFUTED), ("ui16", 0, 1, 1, Verdict.PROVED), ("ui16", 0, 32, 31, Verdict.REFUTED),
    ("ui16", 0, 32, 32, Verdict.PROVED), ("ui16", 1, 32, 0, Verdict.PROVED),
    # of 32 bits: one for each byte above
    ("ui32", 0, 32, 2, Verdict.REFUTED), ("ui32", 0, 32, 3, Verdict.PROVED), ("ui32", 2, 32, 0, Verdict.REFUTED),
    ("ui32", 2, 32, 1, Verdict.PROVED), ("ui32", 3, 32, 0, Verdict.PROVED)])
def test_a_histogram_takes_the_bytes_above_from_a_valid_filter(
    dtype: str, byte: int, rows: int, filtered: int, expected: Verdict
) -> None:
    values, counts = tile(32, 32, dtype), tile(32, 256, "ui32")
    only = tile(32, 1, "ui8", blayout="col_major") if dtype == "ui16" else tile(max(1, 3 - byte), 32, "ui8")
    text = kernel("\n".join((
        "%c256 = arith.constant 256 : index", f"%rows = arith.constant {rows} : index",
        f"%valid = arith.constant {filtered} : index",
        alloc("s", values, rows="rows", cols="c32"), alloc("i", only, 8192, "valid", "c1"),
        alloc("d", counts, 16384, "c32", "c256"),
        f"pto.thistogram ins(%s, %i : {values}, {only}) outs(%d : {counts}) {{byte = {byte} : i32}}")))
    found = check(text, chip="a5")
    assert verdicts(found, "VALID-HISTOGRAM") == {expected}
    assert not any(f.rule.startswith("LEGAL") for f in found.findings)
