"""INIT-PATH: what is written on every path. Expected verdicts by counting trips by hand."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.kernels import (
    alloc,
    check,
    fill,
    finding,
    kernel,
    obligations,
    store,
    tile,
    unary,
    verdicts,
    view,
    window,
)

VEC = tile()
LEFT = tile(32, 32, "f16", "left", "row_major", "row_major")
RIGHT = tile(32, 32, "f16", "right", "row_major", "col_major")
ACC = tile(32, 32, "f32", "acc", "col_major", "row_major", 1024)


def _stored_after(*body: str) -> FunctionResult:
    """%x is stored after `body`."""
    text = kernel("\n".join((
        view("o", "q", "c32"), alloc("x", VEC), *body,
        window("w", "o", "%c0, %c0", "%c32, %c64", "32x64"), store("x", "w", VEC, "32x64"))), "%M: index, %flag: i1")
    return check(text.replace("shape = [%c32, %c64]", "shape = [%M, %c64]"), families="INIT")


def _accumulated(condition: str) -> FunctionResult:
    """A product that starts an accumulator where `condition` holds and adds to it elsewhere."""
    operands = f"%l, %r : {LEFT}, {RIGHT}"
    return check(kernel("\n".join((
        alloc("l", LEFT, rows="c32", cols="c32"), alloc("r", RIGHT, rows="c32", cols="c32"),
        alloc("o", ACC, rows="c32", cols="c32"),
        "scf.for %i = %c0 to %M step %c1 {",
        fill("l", LEFT), fill("r", RIGHT),
        f"%start = arith.cmpi {condition} : index",
        "scf.if %start {",
        f"pto.tmatmul ins({operands}) outs(%o : {ACC})",
        "} else {",
        f"pto.tmatmul.acc ins(%o, %l, %r : {ACC}, {LEFT}, {RIGHT}) outs(%o : {ACC})",
        "}", "}")), "%M: index", "cube"), families="INIT")


def test_a_tile_written_only_in_a_loop_that_may_not_run_is_refuted_at_no_trips() -> None:
    result = _stored_after("scf.for %i = %c0 to %M step %c1 {", fill("x", VEC), "}")
    assert Verdict.REFUTED in verdicts(result, "INIT-PATH")
    assert dict(finding(result, "INIT-PATH").witness)["M"] == 0


def test_a_loop_that_surely_runs_writes_the_tile() -> None:
    result = _stored_after("scf.for %i = %c0 to %c4 step %c1 {", fill("x", VEC), "}")
    assert verdicts(result, "INIT-PATH") == {Verdict.PROVED}


@pytest.mark.parametrize(("filled", "expected"), [("t", Verdict.PROVED), ("other", Verdict.REFUTED)])
def test_a_name_for_what_a_branch_leaves_has_what_it_changed_in_part_only(filled: str, expected: Verdict) -> None:
    """A tile of 16 x 64, of which a branch writes 8 rows, is read by another name of its bytes: all of it was written,
    unless that was another tile that had been there before."""
    whole, part = tile(16, 64), tile(16, 64, valid=("8", "64"))
    text = kernel("\n".join((
        alloc("other", whole, rows="c16"), alloc("t", whole, rows="c16"), fill(filled, whole),
        alloc("s", whole, 8192, rows="c8"), fill("s", whole), alloc("named", whole, rows="c16"),
        "%some = arith.cmpi sgt, %M, %c1 : index", "scf.if %some {",
        f"%v = pto.subview %t[%c0, %c0] sizes [16, 64] valid [%c8, %c64] : {whole} -> {part}",
        f"pto.tmov ins(%s : {whole}) outs(%v : {part})", "}",
        view("qv", "q", "c16"), window("w", "qv", "%c0, %c0", "%c16, %c64"), store("named", "w", whole))), "%M: index")
    assert verdicts(check(text, chip="a5", families="INIT"), "INIT-VALID") >= {expected}


@pytest.mark.parametrize(("filled", "expected"), [("t", Verdict.PROVED), ("other", Verdict.REFUTED)])
def test_the_tile_that_wrote_a_place_last_has_it(filled: str, expected: Verdict) -> None:
    """Two tiles of 16 x 64 at one address. The first one is written as a whole, then `filled`, then 8 rows of the
    second, all of which is read: its own, or half of the other tile's."""
    whole, part = tile(16, 64), tile(16, 64, valid=("8", "64"))
    text = kernel("\n".join((
        alloc("other", whole, rows="c16"), fill("other", whole), alloc("t", whole, rows="c16"), fill(filled, whole),
        alloc("s", whole, 8192, rows="c8"), fill("s", whole),
        f"%v = pto.subview %t[%c0, %c0] sizes [16, 64] valid [%c8, %c64] : {whole} -> {part}",
        f"pto.tmov ins(%s : {whole}) outs(%v : {part})",
        view("qv", "q", "c16"), window("w", "qv", "%c0, %c0", "%c16, %c64"), store("t", "w", whole))))
    assert verdicts(check(text, chip="a5", families="INIT"), "INIT-VALID") >= {expected}


@pytest.mark.parametrize(("arms", "written"), [(("v", "v"), True), (("v",), False), (("v", "other"), False)])
def test_a_place_that_a_loop_chooses_is_written_if_both_arms_write_it(arms: tuple[str, ...], written: bool) -> None:
    """There, and all places of all iterations behind the loop."""
    part = tile(8, 64, valid=("8", "64"))
    text = kernel("\n".join((
        alloc("x", VEC), alloc("y", part, 16384).replace("valid_row = %c32 valid_col = %c64 ", ""),
        alloc("z", VEC, 32768), f"%other = pto.subview %z[%c0, %c0] sizes [8, 64] : {VEC} -> {part}",
        "scf.for %i = %c0 to %c4 step %c1 {", "%row = arith.muli %i, %c8 : index",
        f"%v = pto.subview %x[%row, %c0] sizes [8, 64] : {VEC} -> {part}",
        "scf.if %flag {", "\n} else {\n".join(fill(arm, part) for arm in arms), "}",
        unary("texp", "v", "y", part), "}", unary("texp", "x", "x", VEC))), "%flag: i1")
    found = [o.verdict for o in obligations(check(text, families="INIT"), "INIT-PATH")]
    assert [v is Verdict.PROVED for v in found] == [written, written]


def test_an_assumption_that_the_loop_runs_settles_it() -> None:
    text = kernel("\n".join((
        view("a", "p", "M"), view("o", "q", "c32"), alloc("x", VEC),
        "scf.for %i = %c0 to %M step %c1 {", fill("x", VEC), "}",
        window("w", "o", "%c0, %c0", "%c32, %c64", "32x64"), store("x", "w", VEC, "32x64"))), "%M: index")
    assert Verdict.REFUTED in verdicts(check(text, families="INIT"), "INIT-PATH")
    assert verdicts(check(text, families="INIT", assume=("M >= 1",)), "INIT-PATH") == {Verdict.PROVED}


def test_a_tile_that_both_arms_write_is_written() -> None:
    both = _stored_after("scf.if %flag {", fill("x", VEC), "} else {", fill("x", VEC), "}")
    assert verdicts(both, "INIT-PATH") == {Verdict.PROVED}


def test_a_branch_on_sizes_that_leaves_one_arm_out_is_refuted() -> None:
    result = _stored_after(
        "%big = arith.cmpi sgt, %M, %c8 : index", "scf.if %big {", fill("x", VEC), "}")
    assert Verdict.REFUTED in verdicts(result, "INIT-PATH")
    assert dict(finding(result, "INIT-PATH").witness)["M"] <= 8


def test_half_a_tile_written_through_a_view_is_not_the_whole_tile() -> None:
    half = tile(16, 64, valid=("16", "64"))

    def halves(*rows: str) -> FunctionResult:
        body = [
            f"%v{r} = pto.subview %x[%{r}, %c0] sizes [16, 64] : {VEC} -> {half}\n{fill(f'v{r}', half)}" for r in rows]
        return _stored_after(*body)

    assert verdicts(halves("c0", "c16"), "INIT-PATH") == {Verdict.PROVED}
    assert Verdict.REFUTED in verdicts(halves("c0"), "INIT-PATH")


@pytest.mark.parametrize(("condition", "expected"), [
    ("eq, %i, %c0", Verdict.PROVED),
    ("eq, %i, %c1", Verdict.REFUTED),
    ("ne, %i, %c0", Verdict.REFUTED),
])
def test_an_accumulator_must_be_started_in_the_first_trip(condition: str, expected: Verdict) -> None:
    result = _accumulated(condition)
    assert (Verdict.REFUTED in verdicts(result, "INIT-PATH")) == (expected is Verdict.REFUTED)


def test_a_second_handle_of_the_same_bytes_may_not_declare_more_than_was_written() -> None:
    def stored(rows: str) -> FunctionResult:
        return _stored_after(alloc("y", VEC, rows="c16"), fill("y", VEC), alloc("z", VEC, rows=rows), alloc(
            "d", VEC, 8192, rows), f"pto.texp ins(%z : {VEC}) outs(%d : {VEC})", fill("x", VEC))

    assert verdicts(stored("c16"), "INIT-PATH") == {Verdict.PROVED}
    assert Verdict.REFUTED in verdicts(stored("c17"), "INIT-PATH")
    assert finding(stored("c17"), "INIT-PATH").message.endswith("wrote 16 x 64")


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize(("writes", "expected"), [("vector", {Verdict.PROVED}), ("cube", {Verdict.UNKNOWN})])
def test_what_the_section_of_the_other_core_writes_is_not_taken_for_written(
    chip: str, writes: str, expected: set[Verdict]
) -> None:
    """On a5 a move of an accumulator reaches a vector core, once it has run; UB of a2a3 is out of its reach."""
    acc = tile(32, 64, "f32", "acc", "col_major", "row_major", 1024)
    written = {"cube": f"pto.tmov ins(%c : {acc}) outs(%a : {VEC})", "vector": fill("a", VEC)}[writes]
    text = kernel("\n".join((
        alloc("c", acc, 0, "c32", "c64"), alloc("a", VEC), alloc("b", VEC, 8192), f"pto.section.{writes} {{", written,
        "}", "pto.section.vector {", f"pto.texp ins(%a : {VEC}) outs(%b : {VEC})", "}")))
    assert verdicts(check(text, chip=chip, families="INIT"), "INIT-PATH") == expected
