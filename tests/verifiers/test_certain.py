"""Bytes that a run is sure to touch: all of valid elements, by the address function of the simulator."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator.layout import layout_of
from tests.verifiers.examples_race import both
from tests.verifiers.kernels import alloc, check, fill, kernel, load, store, tile, unary, view, window
from verifiers.access import TileUse, build_program
from verifiers.access.overlap import mask
from verifiers.race.certain import certain

TYPES = [
    ("f32", "vec", "row_major", "none_box", 512), ("f32", "vec", "col_major", "none_box", 512),
    ("f16", "mat", "col_major", "row_major", 512), ("f16", "mat", "row_major", "col_major", 512),
    ("f32", "acc", "col_major", "row_major", 1024), ("f16", "left", "row_major", "row_major", 512),
]
"""ND, DN, NZ, ZN, the accumulator's NZ, ZZ."""


def _tile(dtype: str, loc: str, blayout: str, slayout: str, fractal: int) -> TileUse:
    text = tile(32, 64, dtype, loc, blayout, slayout, fractal)
    program = build_program(read(kernel("\n".join((alloc("x", text), fill("x", text))))).funcs[0], "", "a2a3")
    return program.defined[0].tile


@pytest.mark.parametrize("extent", [(32, 64), (32, 48), (17, 64), (16, 16), (5, 3), (1, 1), (32, 1), (1, 64)])
@pytest.mark.parametrize("form", TYPES, ids=lambda form: "-".join(map(str, form)))
def test_each_byte_belongs_to_a_valid_element(form: tuple[str, str, str, str, int], extent: tuple[int, int]) -> None:
    use = _tile(*form)
    size = use.type.dtype.bytes
    t = use.type
    places = layout_of(t.blayout, t.slayout, t.fractal, t.rows, t.cols, size)
    valid = sum(mask(places.offset(r, c) * size, 1, size, size) for r in range(extent[0]) for c in range(extent[1]))
    part = certain(use, use.rect, *extent)
    touched = mask(0, part.rows, part.row_bytes, part.pitch)
    assert touched and not touched & ~valid
    if extent == (32, 64) or form[3] == "none_box":
        assert touched == valid


def test_an_empty_extent_touches_nothing() -> None:
    use = _tile(*TYPES[0])
    assert certain(use, use.rect, 0, 64).span == 0 == certain(use, use.rect, 32, 0).span


@pytest.mark.parametrize(("taken", "verdict"), [("c0", Verdict.REFUTED), ("c16", Verdict.UNKNOWN)])
def test_a_race_on_rows_that_a_caller_may_leave_empty_is_not_claimed(taken: str, verdict: Verdict) -> None:
    """A load of the first `%N` rows may run while an extract reads 16 rows: its first row is always loaded, row 16 only
    by a caller with more than 16."""
    mat = tile(32, 16, "f16", "mat", "col_major", "row_major")
    left = tile(16, 16, "f16", "left", "row_major", "row_major")
    rows = view("pv", "p", "c64", "c16").replace("xf32>", "xf16>")
    part = window("part", "pv", "%c0, %c0", "%N, %c16").replace("xf32>", "xf16>")
    body = "\n".join((
        rows, part, alloc("old", mat, 0, "c32", "c16"), alloc("new", mat, 0, "N", "c16"),
        alloc("l", left, 0, "c16", "c16"), both("S MTE1"),
        f"pto.textract ins(%old, %{taken}, %c0 : {mat}, index, index) outs(%l : {left})",
        load("part", "new", mat).replace("xf32>", "xf16>")))
    text = kernel(body, "%N: index", "cube").replace("!pto.ptr<f32>", "!pto.ptr<f16>")
    found = check(text, families="RACE", assume=("N >= 1", "N <= 32"))
    assert {o.verdict for o in found.obligations if o.rule == "RACE-WAR"} == {verdict}


@pytest.mark.parametrize(("element", "verdict"), [("c0", Verdict.REFUTED), ("c512", Verdict.UNKNOWN)])
def test_a_scalar_read_touches_one_element(element: str, verdict: Verdict) -> None:
    """A load of one row may run while an element is read: of that row, or of row 8."""
    text = tile()
    body = "\n".join((
        view("pv", "p", "c64"), window("row", "pv", "%c0, %c0", "%c1, %c64"), alloc("top", text, 0, "c1"),
        alloc("all", text), both("S MTE2"), load("row", "top", text),
        f"%v = pto.tgetval ins(%all, %{element} : {text}, index) outs : f32"))
    found = check(kernel(body), families="RACE")
    assert {o.verdict for o in found.obligations if o.rule == "RACE-RAW"} == {verdict}


@pytest.mark.parametrize(("valid", "verdicts"), [("c16", {Verdict.REFUTED}), ("c32", set())])
def test_a_fill_in_place_writes_padding_only(valid: str, verdicts: set[Verdict]) -> None:
    """16 rows of 32 are filled, which the next op reads while nothing orders the two; or there is nothing to fill."""
    text = tile(pad=1)
    body = "\n".join((
        alloc("part", text, 0, valid), alloc("whole", text), alloc("y", text, 8192), both("S V"),
        f"pto.tfillpad ins(%part : {text}) outs(%whole : {text})", unary("texp", "whole", "y", text)))
    found = check(kernel(body), families="RACE")
    assert {o.verdict for o in found.obligations if o.rule == "RACE-RAW"} == verdicts


@pytest.mark.parametrize(("address", "verdicts"), [(0, {Verdict.PROVED}), (8192, {Verdict.REFUTED})])
def test_a_fill_reads_what_it_does_not_fill_in_place(address: int, verdicts: set[Verdict]) -> None:
    """What was written before is copied elsewhere, or stays where it is: then only the load and the fill conflict."""
    text = tile(pad=1)
    body = "\n".join((
        alloc("part", text, 0, "c16"), alloc("whole", text, address), both("S V"), fill("part", text),
        f"pto.tfillpad ins(%part : {text}) outs(%whole : {text})"))
    found = check(kernel(body), families="RACE")
    assert {o.verdict for o in found.obligations if o.rule == "RACE-RAW"} == verdicts - {Verdict.PROVED}


@pytest.mark.parametrize(("reader", "verdict"), [("part", Verdict.PROVED), ("whole", Verdict.REFUTED)])
def test_what_reads_the_valid_part_of_a_tile_that_is_filled_needs_no_order(reader: str, verdict: Verdict) -> None:
    """Rows from %N on are filled while an op reads those before, or all of them."""
    text = tile(pad=1)
    body = "\n".join((
        alloc("part", text, 0, "N"), alloc("whole", text), alloc("y", text, 8192, "N" if reader == "part" else "c32"),
        both("S V"), unary("texp", reader, "y", text), f"pto.tfillpad ins(%part : {text}) outs(%whole : {text})"))
    found = check(kernel(body, "%N: index"), families="RACE", assume=("N >= 1", "N <= 16"))
    assert {o.verdict for o in found.obligations if o.rule == "RACE-WAR"} == {verdict}


def test_after_a_fill_in_place_a_tile_still_has_the_readers_of_its_valid_part() -> None:
    """MTE2 is told that the fill is over, not that the op of MTE3 before has read its rows."""
    text = tile(pad=1)
    body = "\n".join((
        view("pv", "p", "c64"), window("src", "pv", "%c0, %c0", "%c32, %c64"),
        window("top", "pv", "%c0, %c0", "%c16, %c64"), alloc("part", text, 0, "c16"), alloc("whole", text),
        store("part", "top", text),
        f"pto.tfillpad ins(%part : {text}) outs(%whole : {text})", both("V MTE2"), load("src", "whole", text)))
    found = check(kernel(body), families="RACE")
    assert {o.verdict for o in found.obligations if o.rule == "RACE-WAR" and "tstore" in o.site} == {
        Verdict.PROVED, Verdict.REFUTED}


def test_where_a_scatter_writes_is_what_data_says() -> None:
    text, indices = tile(), tile(dtype="i32")
    body = "\n".join((
        alloc("x", text), alloc("i", indices, 8192), alloc("y", text, 16384), both("S V"),
        f"pto.tscatter ins(%x, %i : {text}, {indices}) outs(%y : {text})", unary("texp", "y", "x", text)))
    found = check(kernel(body), families="RACE")
    assert Verdict.UNKNOWN in {o.verdict for o in found.obligations if o.rule == "RACE-RAW"}
    assert not [f for f in found.findings if f.rule == "RACE-RAW" and f.verdict is Verdict.REFUTED]
