"""Indices that a kernel computes from constants are known, element by element; what a chip may round is not."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator.replay import replay
from pypto_verified.targets import target
from tests.verifiers.examples_index import NUMBERS, ROW, gathered
from tests.verifiers.kernels import alloc, check, finding, kernel, obligations, out, tile, verdicts
from verifiers.access import build_program
from verifiers.known_values import elements_read

FLOATS = tile(1, 64)


def _fraction(values: str, factor: str, mode: str) -> tuple[str, ...]:
    """Tile i holds the ramp 0, 1, ... 63 times `factor`, converted with `mode`, plus `values`."""
    return (
        "%zero = arith.constant 0 : i32", f"%more = arith.constant {values} : i32",
        f"%factor = arith.constant {factor} : f32", alloc("n", NUMBERS, 65536, "c1"), alloc("f", FLOATS, 4096, "c1"),
        alloc("g", FLOATS, 8192, "c1"), f"pto.tci ins(%zero : i32) outs(%n : {NUMBERS})",
        f"pto.tcvt ins(%n {{rmode = #pto<round_mode RINT>}} : {NUMBERS}) outs(%f : {FLOATS})",
        f"pto.tmuls ins(%f, %factor : {FLOATS}, f32) outs(%g : {FLOATS})",
        f"pto.tcvt ins(%g {mode}: {FLOATS}) outs(%n : {NUMBERS})",
        f"pto.tadds ins(%n, %more : {NUMBERS}, i32) outs(%i : {NUMBERS})")


def _judged(lines: tuple[str, ...]) -> tuple[Verdict, bool]:
    """The verdict of BOUND-INDEX for 64 elements of 64, and whether it rests on INDEX-DATA."""
    (found,) = obligations(check(gathered(lines), chip="a5", families="BOUND"), "BOUND-INDEX")
    return found.verdict, "INDEX-DATA" in found.assumptions


TRUNC = "{rmode = #pto<round_mode TRUNC>} "


@pytest.mark.parametrize(("values", "factor", "mode", "expected"), [
    ("32", "5.000000e-01", TRUNC, (Verdict.PROVED, False)),   # 32 + 31 = 63 is the last
    ("33", "5.000000e-01", TRUNC, (Verdict.REFUTED, False)),
    ("-1", "5.000000e-01", TRUNC, (Verdict.REFUTED, False)),  # the first is -1
    ("32", "5.000000e-01", "", (Verdict.PROVED, True)),       # 31.5 is 31 or 32, which the text leaves open
    ("0", "1.000000e+00", "", (Verdict.PROVED, False)),       # nothing to round
    ("0", "1.000000e-01", TRUNC, (Verdict.PROVED, True)),     # no product is exact
])
def test_what_is_exact_on_every_chip_is_known(
    values: str, factor: str, mode: str, expected: tuple[Verdict, bool]
) -> None:
    assert _judged(_fraction(values, factor, mode)) == expected


def _rows(base: int, op: str = "tadd") -> tuple[str, ...]:
    """Indices of 2 x 64 elements: the columns of a row, and `base` for the start of each row (added by `op`)."""
    wide, flat, column = tile(2, 64, "i32"), tile(1, 128, "i32"), tile(1, 64, "i32")
    return (
        "%zero = arith.constant 0 : i32", "%one_i = arith.constant 1 : i32", f"%base = arith.constant {base} : i32",
        "%sixty = arith.constant 64 : i32", alloc("lin", flat, 4096, "c1", "c128"),
        f"pto.tci ins(%zero : i32) outs(%lin : {flat})", alloc("lin2", wide, 4096, "c2"),
        alloc("id", wide, 8192, "c2"), f"pto.tdivs ins(%lin2, %sixty : {wide}, i32) outs(%id : {wide})",
        alloc("start", wide, 65536, "c2"), f"pto.tmuls ins(%id, %base : {wide}, i32) outs(%start : {wide})",
        alloc("ones", wide, 2048, "c2"), f"pto.texpands ins(%one_i : i32) outs(%ones : {wide})",
        alloc("col", column, 32, "c1"), f"pto.tci ins(%zero : i32) outs(%col : {column})",
        "%a98304 = arith.constant 98304 : i64",
        f"%cols = pto.alloc_tile addr = %a98304 valid_row = %c2 valid_col = %c64 : {wide}",
        f"pto.tcolexpandmul ins(%ones, %col : {wide}, {column}) outs(%cols : {wide})",
        f"pto.{op} ins(%cols, %start : {wide}, {wide}) outs(%i : {wide})")


@pytest.mark.parametrize(("base", "op", "expected"), [
    (64, "tadd", Verdict.PROVED), (65, "tadd", Verdict.REFUTED), (64, "tsub", Verdict.REFUTED)])
def test_rows_of_indices_are_followed_through_views_and_expansions(base: int, op: str, expected: Verdict) -> None:
    """Row r starts at r * base: element 1, 63 is 127 of 128, 128, or -1."""
    text = gathered(_rows(base, op), tile(2, 64), tile(2, 64, "i32"), "c2")
    result = check(text, chip="a5", families="BOUND")
    assert verdicts(result, "BOUND-INDEX") == {expected}
    if base == 65:
        assert "indices 0 to 128" in finding(result, "BOUND-INDEX").message


def _blocks(base: int, width: int = 8) -> tuple[str, ...]:
    """Indices of 2 x 64 elements: `base`, plus 0 to 7 in turn in both rows."""
    wide, flat, block = tile(2, 64, "i32"), tile(1, 16, "i32"), tile(2, 8, "i32")
    return (
        "%zero = arith.constant 0 : i32", f"%base = arith.constant {base} : i32", "%seven = arith.constant 7 : i32",
        "%w = arith.constant " + f"{width} : index", alloc("lin", flat, 4096, "c1", "c16"),
        f"pto.tci ins(%zero : i32) outs(%lin : {flat})", alloc("per_row", block, 4096, "c2", "w"),
        alloc("same", wide, 8192, "c2"), f"pto.texpands ins(%base : i32) outs(%same : {wide})",
        f"pto.trowexpandadd ins(%same, %per_row : {wide}, {block}) outs(%i : {wide})")


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize(("base", "width", "expected"), [
    (112, 8, (Verdict.PROVED, False)),   # row 1 has 8 to 15: 127 of 128 is the last
    (113, 8, (Verdict.REFUTED, False)),  # 128, though the first of its block is 121
    (112, 4, (Verdict.PROVED, True))])   # half a block: not followed
def test_a_block_for_each_row_is_repeated_along_it(base: int, width: int, expected: tuple[Verdict, bool]) -> None:
    text = gathered(_blocks(base, width), tile(2, 64), tile(2, 64, "i32"), "c2")
    (found,) = obligations(check(text, chip="a5", families="BOUND"), "BOUND-INDEX")
    assert (found.verdict, "INDEX-DATA" in found.assumptions) == expected


def test_a_row_at_run_time_of_indices_that_all_name_something() -> None:
    numbers, one = tile(4, 64, "i32"), tile(1, 64, "i32", valid=("1", "64"))
    lines = (
        "%three = arith.constant 3 : i32", alloc("many", numbers, 65536, "c4"),
        f"pto.texpands ins(%three : i32) outs(%many : {numbers})",
        "%low = arith.maxsi %M, %c0 : index", "%at = arith.minsi %low, %c3 : index",
        f"%r = pto.subview %many[%at, %c0] sizes [1, 64] valid [%c1, %c64] : {numbers} -> {one}")
    text = gathered(lines).replace("ins(%s, %i :", "ins(%s, %r :").replace(
        f"{ROW}, {NUMBERS}) outs(%d", f"{ROW}, {one}) outs(%d").replace("%m: !pto.ptr<i32>", "%M: index")
    (found,) = obligations(check(text, chip="a5", families="BOUND"), "BOUND-INDEX")
    assert (found.verdict, "INDEX-DATA" in found.assumptions) == (Verdict.PROVED, False)


@pytest.mark.parametrize("lines", [
    _fraction("32", "5.000000e-01", TRUNC), _fraction("7", "2.500000e-01", "{rmode = #pto<round_mode CEIL>} "),
    _fraction("0", "5.000000e-01", "{rmode = #pto<round_mode RINT>} "), _rows(64), _rows(65), _rows(3, "tsub"),
    _blocks(5),
])
def test_what_is_known_is_what_a_run_finds(lines: tuple[str, ...]) -> None:
    """The indices are stored: every element is the one that the simulator computes."""
    rows = "c2" if any("tile_buf<loc=vec, dtype=i32, rows=2" in line for line in lines) else "c1"
    numbers = tile(2 if rows == "c2" else 1, 64, "i32")
    text = kernel("\n".join((
        alloc("i", numbers, 16384, rows), *lines, out("i", numbers, rows, pointer="m", dtype="i32"))),
        "%m: !pto.ptr<i32>")
    (func,) = read(text, "k.pto").funcs
    program = build_program(func, "k.pto", "a5")
    (store,) = (s for s in program.steps if s.op.name == "pto.tstore")
    known = elements_read(program, store, store.tiles("src")[0])
    outcome = replay(func, {}, target("a5"))
    assert not outcome.errors
    assert known is not None
    assert known.reshape(-1).tolist() == outcome.outputs["m"].tolist()
