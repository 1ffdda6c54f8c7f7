"""RACE by where ops touch memory: views, windows, tensors, tiles of no element."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_race import VEC, both, pipes
from tests.verifiers.kernels import alloc, kernel, load, store, tile, unary, view, window
from tests.verifiers.race_verdicts import judge, verdicts_of

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN


def test_an_empty_tile_is_not_touched() -> None:
    empty = tile(32, 64, valid=("0", "64"))
    text = kernel("\n".join((
        f"%e = pto.alloc_tile addr = %a0 : {empty}", alloc("b", VEC, 8192), both("S V"),
        unary("texp", "e", "e", empty), unary("texp", "e", "e", empty))))
    assert judge(text).obligations == []


def test_a_view_touches_the_bytes_of_its_part_alone() -> None:
    part = tile(16, 64, valid=("16", "64"))

    def upper(row: str) -> str:
        return pipes(
            "%lo = pto.subview %a[%c0, %c0] sizes [16, 64] : " + VEC + " -> " + part,
            f"%hi = pto.subview %a[%{row}, %c0] sizes [16, 64] : {VEC} -> {part}", both("S V"),
            unary("texp", "lo", "lo", part), unary("tabs", "hi", "hi", part))

    assert verdicts_of(judge(upper("c16"))) <= {PROVED}
    assert REFUTED in verdicts_of(judge(upper("c8")))


def test_global_memory_is_told_apart_by_pointer_and_window() -> None:
    def copied(row: str, pointer: str) -> str:
        return kernel("\n".join((
            view("pv", "p", "c512"), view("qv", pointer, "c512"), alloc("a", VEC),
            window("src", "pv", "%c0, %c0", "%c32, %c64", "32x64"),
            window("dst", "qv", f"%{row}, %c0", "%c32, %c64", "32x64"), both("S V"), store("a", "dst", VEC, "32x64"),
            both("V MTE2"), load("src", "b", VEC, "32x64").replace("%b", "%a"))))

    assert REFUTED in {o.verdict for o in judge(copied("c0", "p")).obligations if o.rule == "RACE-RAW"}
    assert "RACE-RAW" not in {o.rule for o in judge(copied("c32", "p")).obligations}
    assert "RACE-RAW" not in {o.rule for o in judge(copied("c0", "q")).obligations}


@pytest.mark.parametrize(("pointer", "rests"), [("q", True), ("p", False)])
def test_a_proof_that_tells_two_tensors_apart_says_that_it_assumes_so(pointer: str, rests: bool) -> None:
    """Nothing orders the load after the store: right only if the two pointers never name the same memory."""
    text = kernel("\n".join((
        view("pv", "p", "c512"), view("qv", pointer, "c512"), alloc("a", VEC), alloc("b", VEC, 8192),
        window("src", "pv", "%c0, %c0", "%c32, %c64", "32x64"),
        window("dst", "qv", "%c32, %c0", "%c32, %c64", "32x64"), load("src", "a", VEC, "32x64"), both("MTE2 MTE3"),
        store("a", "dst", VEC, "32x64"), load("src", "b", VEC, "32x64"))))
    result = judge(text)
    assert verdicts_of(result) == {PROVED}
    assert any("DISTINCT-POINTERS" in o.assumptions for o in result.obligations) is rests


@pytest.mark.parametrize(("address", "found"), [(8192, set()), (2048, {UNKNOWN})])
def test_a_view_lies_in_its_tile(address: int, found: set[Verdict]) -> None:
    """8 rows from row %N on of a tile, and a load: behind all of the tile, or over its rows from 8 on."""
    part = tile(8, 64)
    text = pipes(
        f"%part = pto.subview %a[%N, %c0] sizes [8, 64] : {VEC} -> {part}", f"%at = arith.constant {address} : i64",
        f"%d = pto.alloc_tile addr = %at valid_row = %c32 valid_col = %c64 : {VEC}",
        f"%e = pto.alloc_tile addr = %a32768 valid_row = %c8 valid_col = %c64 : {part}", both("S V"),
        unary("texp", "part", "e", part), load("src", "d", VEC, "32x64"), args="%N: index")
    assert {o.verdict for o in judge(text).obligations if o.rule == "RACE-WAR"} == found


def test_what_is_assumed_of_sizes_keeps_windows_apart() -> None:
    """Stores of %N rows, 32 rows apart, without a barrier of MTE3."""
    text = pipes(
        window("first", "qv", "%c0, %c0", "%N, %c64"), window("second", "qv", "%c32, %c0", "%N, %c64"), both("S MTE3"),
        store("a", "first", VEC), store("b", "second", VEC), args="%N: index")
    assert verdicts_of(judge(text)) == {UNKNOWN}
    assert verdicts_of(judge(text, assume=("N <= 32",))) == set()
