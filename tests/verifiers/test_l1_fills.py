"""Fills of L1: zeros around the destination's valid region, and nothing is moved (PTO-ISA TFillPad.hpp)."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.kernels import alloc, check, finding, given, kernel, tile, verdicts

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
NZ = tile(32, 32, "f16", "mat", "col_major", "row_major")
LEFT = tile(32, 32, "f16", "left", "row_major", "row_major")


def filled(rows: str, at: int = 0, read: str = "z") -> FunctionResult:
    """17 of 32 rows are loaded and filled up; the result has `rows` valid rows and lies `at` bytes from the start."""
    return check(kernel("\n".join((
        alloc("m", NZ, 0, "c17", "c32"), given("m", NZ, "a", "f16", "c17", "c32"), alloc("z", NZ, at, rows, "c32"),
        f"pto.tfillpad ins(%m : {NZ}) outs(%z : {NZ})",
        alloc("whole", NZ, 0, "c32", "c32"), alloc("l", LEFT, 0, "c32", "c32"),
        f"pto.tmov ins(%{read} : {NZ}) outs(%l : {LEFT})")), "%a: !pto.ptr<f16>", "cube"))


@pytest.mark.parametrize(("rows", "expected"), [("c17", PROVED), ("c16", REFUTED), ("c32", REFUTED)])
def test_the_destination_calls_valid_what_the_source_holds(rows: str, expected: Verdict) -> None:
    """With 32 rows nothing would be filled, with 16 a row would be lost."""
    assert expected in verdicts(filled(rows), "VALID-PAD") <= {expected, PROVED}


def test_the_refutation_tells_what_a_fill_of_l1_leaves_alone() -> None:
    told = finding(filled("c32"), "VALID-PAD")
    assert "17 valid rows" in told.message and "32" in told.message and "as it is" in told.message
    assert told.help == "declare 17 valid rows for z"


@pytest.mark.parametrize(("at", "read", "open_"), [(0, "z", False), (0, "whole", False), (4096, "z", True)])
def test_in_place_the_whole_tile_is_written_and_elsewhere_nothing_of_the_source(
    at: int, read: str, open_: bool,
) -> None:
    result = filled("c17", at, read)
    found = set().union(*(verdicts(result, rule) for rule in ("INIT-READ", "INIT-PATH", "INIT-VALID")))
    assert (found != {PROVED}) is open_
