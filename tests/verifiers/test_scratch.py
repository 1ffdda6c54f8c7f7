"""What ops leave in tiles that they only work in, and quantisation, which works on its source."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_ops import PAIRS
from tests.verifiers.kernels import (
    alloc,
    check,
    fill,
    finding,
    given,
    kernel,
    load,
    out,
    tile,
    unary,
    verdicts,
    view,
    window,
)

VEC, COLUMN = tile(), tile(32, 1, blayout="col_major")


def test_a_tile_is_data_again_once_it_is_written() -> None:
    lines = PAIRS["INIT-SCRATCH"].bad.splitlines()
    at = next(i for i, line in enumerate(lines) if "pto.texp " in line)
    result = check("\n".join((*lines[:at], fill("t", VEC), *lines[at:])), families="INIT")
    assert result.verdict is Verdict.PROVED


@pytest.mark.parametrize(("trips", "expected"), [("c1", Verdict.PROVED), ("c4", Verdict.REFUTED)])
def test_the_scratch_of_an_earlier_iteration_is_no_data(trips: str, expected: Verdict) -> None:
    """Each iteration reads t before it works in it; the first finds what was filled in before the loop."""
    text = kernel("\n".join((
        alloc("s", VEC), fill("s", VEC), alloc("t", VEC, 8192), fill("t", VEC), alloc("e", VEC, 16384),
        alloc("d", COLUMN, 65536, "c32", "c1"), f"scf.for %i = %c0 to %{trips} step %c1 {{",
        unary("texp", "t", "e", VEC), f"pto.trowsum ins(%s, %t : {VEC}, {VEC}) outs(%d : {COLUMN})", "}",
        out("e", VEC))))
    found = verdicts(check(text, families="INIT"), "INIT-SCRATCH")
    assert expected in found
    assert Verdict.UNKNOWN not in found


@pytest.mark.requirement("VF-01")
@pytest.mark.parametrize("reads_in_body", [False, True])
def test_what_a_while_loop_reads_before_its_test_may_be_the_scratch_of_an_earlier_iteration(
    reads_in_body: bool
) -> None:
    reads = unary("texp", "t", "e", VEC)
    works = f"pto.trowsum ins(%s, %t : {VEC}, {VEC}) outs(%d : {COLUMN})"
    text = kernel("\n".join((
        alloc("s", VEC), fill("s", VEC), alloc("t", VEC, 8192), fill("t", VEC), alloc("e", VEC, 16384),
        alloc("d", COLUMN, 65536, "c32", "c1"), "%end = scf.while (%w = %c0) : (index) -> index {",
        "" if reads_in_body else reads, "%more = arith.cmpi slt, %w, %c4 : index", "scf.condition(%more) %w : index",
        "} do {", "^bb0(%k: index):", reads if reads_in_body else "", works, "%next = arith.addi %k, %c1 : index",
        "scf.yield %next : index", "}", out("e", VEC))))
    assert verdicts(check(text, families="INIT"), "INIT-SCRATCH") - {Verdict.PROVED}


def test_what_passes_through_a_tile_into_the_cache_is_not_left_there() -> None:
    text = kernel("\n".join((
        view("a", "p", "c32"), window("w", "a", "%c0, %c0", "%c32, %c64"), alloc("t", VEC),
        load("w", "t", VEC).replace("tload", "tprefetch"), out("t", VEC))))
    assert finding(check(text), "INIT-SCRATCH").verdict is Verdict.REFUTED


@pytest.mark.parametrize(("chip", "expected"), [("a2a3", Verdict.REFUTED), ("a5", Verdict.PROVED)])
def test_a_quantisation_on_a2a3_loses_its_source(chip: str, expected: Verdict) -> None:
    """The source is stored as well; a5 leaves it alone."""
    text = PAIRS["VALID-SCALE"].good.replace("    return\n", f"    {out('s', VEC)}\n    return\n".replace(
        "%out", "%more").replace("%whole", "%rest"))
    result = check(text, chip=chip, families="INIT VALID")
    assert result.verdict is expected
    if expected is Verdict.REFUTED:
        assert "worked on it in place" in finding(result, "INIT-SCRATCH").message


def test_what_prints_has_an_effect() -> None:
    text = kernel("\n".join((alloc("t", VEC), fill("t", VEC), f"pto.tprint ins(%t : {VEC})")))
    assert check(text).verdict is Verdict.PROVED


def _micro_scaled(exponents: str) -> str:
    """16 x 64 elements as 8-bit floats with a scale for 32, whose exponents are put into ZZ and stored with the rest;
    `exponents`: which tile is stored as them."""
    source, small = tile(16, 64, valid=("16", "64")), tile(16, 64, "i8", valid=("16", "64"))
    flat, numbers = tile(1, 32, "ui8", valid=("1", "32")), tile(1, 32, valid=("1", "32"))
    scaling, tmp = tile(1, 64, valid=("1", "32")), tile(1, 96, "ui8", valid=("1", "2"))
    rows, boxed = tile(16, 2, "ui8", valid=("16", "2")), tile(16, 2, "ui8", slayout="row_major", valid=("16", "2"))
    storage = tile(1, 32, "ui8", slayout="row_major", valid=("1", "32"))
    places = (("s", source), ("d", small), ("e", flat), ("m", numbers), ("c", scaling), ("t", tmp), ("z", storage))
    return kernel("\n".join((
        *(f"%{name} = pto.alloc_tile : {type_}" for name, type_ in places), given("s", source, rows="c16"),
        f"pto.tquant.mx ins(%s : {source}) outs(%d, %e, %m, %c : {small}, {flat}, {numbers}, {scaling}) "
        "{quant_type = #pto<quant_type MXFP8>}",
        f"%e2 = pto.treshape %e : {flat} -> {rows}", f"%z2 = pto.treshape %z : {storage} -> {boxed}",
        f"pto.tmov ins(%e2 : {rows}, %t : {tmp}) outs(%z2 : {boxed})",
        out(exponents, flat if exponents == "e" else tmp, "c1", "c32" if exponents == "e" else "c2", "x", "ui8"))),
        "%x: !pto.ptr<ui8>")


def test_a_microscaled_quantisation_and_the_scratch_of_its_exponents() -> None:
    assert check(_micro_scaled("e"), chip="a5").verdict is Verdict.PROVED
    assert finding(check(_micro_scaled("t"), chip="a5"), "INIT-SCRATCH").verdict is Verdict.REFUTED
