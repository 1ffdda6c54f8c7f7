"""Tensor views whose rows share elements, and views of one pointer whose rows lie between each other."""

from __future__ import annotations

import pytest

from pypto_verified.index import Expr, const, symbol
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.examples_event import loop
from tests.verifiers.examples_race import both
from tests.verifiers.kernels import check, finding, kernel, load, store, tile, verdicts, view, window
from verifiers.race.places import nested

ROW = tile(1, 64, valid=("1", "64"))
ROW_ALLOC = f"%t = pto.alloc_tile addr = %a0 : {ROW}\n%u = pto.alloc_tile addr = %a4096 : {ROW}"


def _rows(stride: str, *body: str) -> str:
    """`%first`, row 0 of a tensor of 64 columns whose rows lie `stride` elements apart, a row of another in `%t`."""
    return kernel("\n".join((
        view("in", "p", "c1"), window("row", "in", "%c0, %c0", "%c1, %c64", "1x64"),
        view("v", "q", "c8").replace("strides = [%c64", f"strides = [%{stride}"),
        window("first", "v", "%c0, %c0", "%c1, %c64", "1x64"), ROW_ALLOC, load("row", "t", ROW, "1x64"),
        both("MTE2 MTE3"), *body)), "%n: index")


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize(("stride", "expected"), [
    ("c0", Verdict.REFUTED), ("c32", Verdict.REFUTED), ("c64", Verdict.PROVED), ("c128", Verdict.PROVED)])
def test_rows_that_share_elements_are_one_place(stride: str, expected: Verdict) -> None:
    """Row 1 is loaded while row 0 may still be stored; what stores all rows in turn writes over itself."""
    after = (window("second", "v", "%c1, %c0", "%c1, %c64", "1x64"), load("second", "u", ROW, "1x64"))
    turns = loop("n", window("each", "v", "%i, %c0", "%c1, %c64", "1x64"), store("t", "each", ROW, "1x64"))
    for body, rule in (((store("t", "first", ROW, "1x64"), *after), "RACE-RAW"), ((turns,), "RACE-WAW")):
        text = _rows(stride, *body)
        result = check(text, families="RACE", assume=("n <= 8",))
        assert verdicts(result, rule) | {Verdict.PROVED} == {expected, Verdict.PROVED}
        if expected is Verdict.REFUTED:
            seen = replayed(result, read(text, "k.pto"), target("a2a3"), 0, {})
            assert finding(seen, rule).replay.startswith("confirmed: ")


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize(("columns", "expected"), [("c64", set()), ("c32", {Verdict.REFUTED})])
def test_rows_of_two_views_may_lie_between_each_other(columns: str, expected: set[Verdict]) -> None:
    """The left and the right half of the rows of a tensor, each through a pointer of its own: no pair to order."""
    half = tile(8, 64, valid=("8", "64"))
    text = kernel("\n".join((
        f"%r = pto.addptr %q, %{columns} : !pto.ptr<f32> -> !pto.ptr<f32>",
        *(view(n, p, "c8").replace("strides = [%c64", "strides = [%c128") for n, p in (("left", "q"), ("right", "r"))),
        *(window(f"{n}_w", n, "%c0, %c0", "%c8, %c64", "8x64") for n in ("left", "right")),
        view("in", "p", "c8"), window("rows", "in", "%c0, %c0", "%c8, %c64", "8x64"),
        f"%t = pto.alloc_tile addr = %a0 : {half}", load("rows", "t", half, "8x64"), both("MTE2 MTE3"),
        store("t", "left_w", half, "8x64"), store("t", "right_w", half, "8x64"))))
    result = replayed(check(text, families="RACE"), read(text, "k.pto"), target("a2a3"), 0, {})
    assert verdicts(result, "RACE-WAW") == expected
    assert result.verdict is (Verdict.REFUTED if expected else Verdict.PROVED)


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize(("row", "ordered", "races"), [(1, False, True), (1, True, False), (2, False, False)])
def test_one_long_row_lies_in_the_rows_of_another_view(row: int, ordered: bool, races: bool) -> None:
    """A row of 128 is rows 0 and 1 of 64, whatever stride the view of one row has."""
    long = tile(1, 128, valid=("1", "128"))
    text = _rows(
        "c64", view("line", "q", "c1", "c128").replace("strides = [%c128", "strides = [%c64"),
        window("stored", "v", f"%c{row}, %c0", "%c1, %c64", "1x64"),
        window("all", "line", "%c0, %c0", "%c1, %c128", "1x128"), f"%w = pto.alloc_tile addr = %a8192 : {long}",
        store("t", "stored", ROW, "1x64"), both("MTE3 MTE2") if ordered else "", load("all", "w", long, "1x128"))
    result = replayed(check(text, families="RACE"), read(text, "k.pto"), target("a2a3"), 0, {})
    assert result.verdict is (Verdict.REFUTED if races else Verdict.PROVED)
    if races:
        assert finding(result, "RACE-RAW").replay.startswith("confirmed: ")


def _numbers(*values: int) -> tuple[Expr, ...]:
    return tuple(const(v) for v in values)


@pytest.mark.parametrize(("dims", "strides", "expected"), [
    ((4, 8), (8, 1), True), ((4, 8), (7, 1), False), ((4, 8), (1, 4), True), ((4, 8), (1, 3), False),
    ((1, 8), (0, 1), True), ((2, 3, 4), (1, 8, 2), True), ((2, 3, 4), (2, 8, 1), False), ((4, 8), (-8, 1), False)])
def test_strides_nest_where_no_two_places_are_one(
    dims: tuple[int, ...], strides: tuple[int, ...], expected: bool
) -> None:
    assert nested(_numbers(*dims), _numbers(*strides)) is (TRUE if expected else FALSE)


def test_strides_of_dense_tensors_of_any_size_nest() -> None:
    a, b, c = (symbol(n, 0) for n in "abc")
    assert nested((a, b, c), (b * c, c, const(1))) is TRUE
    assert nested((a, b), (const(1), a)) is TRUE
    assert nested((a, b), (c, const(1))) is not TRUE
