"""INIT by elements: what each op writes of boxed tiles, of windows and around loops. Every refutation is run: the
simulator meets the elements that were never written. Regions by hand."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator import confirm
from pypto_verified.targets import target
from tests.verifiers.kernels import (
    alloc,
    check,
    fill,
    finding,
    kernel,
    load,
    store,
    tile,
    unary,
    verdicts,
    view,
    window,
)

pytestmark = pytest.mark.requirement("VF-01")

VEC = tile()
ROWS8 = tile(8, 64, valid=("8", "64"))
TURNED = tile(64, 32)
PIECE = tile(8, 16, valid=("8", "16"))
MAT = tile(64, 64, "f32", "mat", "col_major", "row_major")
LEFT = tile(64, 64, "f32", "left", "row_major", "row_major")
RIGHT = tile(64, 64, "f32", "right", "row_major", "col_major")
ACC = tile(64, 64, "f32", "acc", "col_major", "row_major", 1024)


def _outcome(text: str, assume: tuple[str, ...] = ()) -> Verdict:
    """The worst INIT verdict; a refutation by INIT-PATH must also be seen in a run."""
    result = check(text, families="INIT", assume=assume)
    found = {o.verdict for o in result.obligations}
    if Verdict.REFUTED in found:
        assert _run(text, result).startswith("confirmed: uninitialised")
        return Verdict.REFUTED
    return Verdict.UNKNOWN if Verdict.UNKNOWN in found else Verdict.PROVED


def _run(text: str, result: FunctionResult) -> str:
    broken = next(f for f in result.findings if f.verdict is Verdict.REFUTED)
    assert broken.rule == "INIT-PATH"
    (func,) = read(text, "k.pto").funcs
    return confirm(func, broken.rule, dict(broken.witness), target("a2a3"))


def _product(rows: str = "c64", cols: str = "c64", *, loaded: str = "c64", moved: str = "c64", out: str = "c64") -> str:
    """A 64 x 64 x 64 product of tiles of which `loaded` and `moved` rows of the left one and `cols` columns of the
    right one are valid when they are written, all of them later; `rows` of the left one are multiplied."""
    return kernel("\n".join((
        view("a", "p", "c64"), view("o", "q", "c64"),
        alloc("am", MAT, rows=loaded), alloc("bm", MAT, 16384, rows="c64", cols=cols),
        window("aw", "a", "%c0, %c0", f"%{loaded}, %c64"), window("bw", "a", "%c0, %c0", f"%c64, %{cols}"),
        load("aw", "am", MAT), load("bw", "bm", MAT),
        f"pto.set_validshape %am, %{moved}, %c64 : {MAT}",
        alloc("l", LEFT, rows=moved), alloc("r", RIGHT, rows="c64", cols=cols), alloc("c", ACC, rows=rows, cols=cols),
        unary("tmov", "am", "l", MAT, LEFT), unary("tmov", "bm", "r", MAT, RIGHT),
        f"pto.set_validshape %l, %{rows}, %c64 : {LEFT}",
        f"pto.tmatmul ins(%l, %r : {LEFT}, {RIGHT}) outs(%c : {ACC})",
        f"pto.set_validshape %c, %{out}, %c64 : {ACC}",
        window("ow", "o", "%c0, %c0", f"%{out}, %c64"), store("c", "ow", ACC))), kind="cube")


@pytest.mark.parametrize(("text", "expected"), [
    (_product(), Verdict.PROVED),
    (_product("c32", loaded="c32", moved="c32", out="c32"), Verdict.PROVED),
    (_product(cols="c32"), Verdict.REFUTED),
    (_product("c32", loaded="c32", moved="c32"), Verdict.REFUTED),
    (_product(loaded="c32"), Verdict.REFUTED),
    (_product(loaded="c32", moved="c32"), Verdict.REFUTED),
], ids=["whole", "half, read by half", "right columns", "left rows", "L1 rows", "L0A rows"])
def test_a_product_writes_the_rows_of_its_left_and_the_columns_of_its_right_operand(
    text: str, expected: Verdict
) -> None:
    assert _outcome(text) is expected


def test_what_a_product_leaves_in_the_last_box_is_not_decided() -> None:
    result = check(_product("c17", loaded="c17", moved="c17", out="c32"), families="INIT")
    assert Verdict.UNKNOWN in verdicts(result, "INIT-VALID")
    assert "wrote 17 x 64: the rest of a box" in finding(result, "INIT-VALID").message
    assert _outcome(_product("c17", loaded="c17", moved="c17", out="c17")) is Verdict.PROVED


def _assembled(body: str, args: str = "", rows: str = "c32") -> str:
    """`rows` rows of %x are stored after `body`."""
    return kernel("\n".join((
        view("o", "q", "c32"), alloc("x", VEC), body, f"pto.set_validshape %x, %{rows}, %c64 : {VEC}",
        window("w", "o", "%c0, %c0", f"%{rows}, %c64"), store("x", "w", VEC))), args)


def _piece(at: str, type_: str = ROWS8) -> str:
    """Fills the window of %x at `at`."""
    size = "8, 64" if type_ is ROWS8 else "8, 16"
    return f"%v = pto.subview %x[{at}] sizes [{size}] : {VEC} -> {type_}\n{fill('v', type_)}"


def _rows_in_loop(trips: str, pace: str = "c8") -> str:
    return "\n".join((
        f"scf.for %i = %c0 to %{trips} step %c1 {{", f"%at = arith.muli %i, %{pace} : index", _piece("%at, %c0"), "}"))


def _tiling(across: str) -> str:
    """Pieces of 8 x 16 in four rows of `across`."""
    return "\n".join((
        "scf.for %i = %c0 to %c4 step %c1 {", f"scf.for %j = %c0 to %{across} step %c1 {{",
        "%row = arith.muli %i, %c8 : index", "%col = arith.muli %j, %c16 : index",
        _piece("%row, %col", PIECE), "}", "}"))


@pytest.mark.parametrize(("body", "expected"), [
    (_rows_in_loop("c4"), Verdict.PROVED),
    (_rows_in_loop("c3"), Verdict.REFUTED),
    (_rows_in_loop("c2", "c16"), Verdict.REFUTED),
    (fill("x", VEC) + "\n" + _rows_in_loop("c3"), Verdict.PROVED),
    (_tiling("c4"), Verdict.PROVED),
    (_tiling("c3"), Verdict.REFUTED),
], ids=["four pieces", "three pieces", "every other piece", "over a filled tile", "all tiles", "no last column"])
def test_windows_written_in_loops_cover_the_union_of_their_places(body: str, expected: Verdict) -> None:
    assert _outcome(_assembled(body)) is expected


def test_a_window_that_only_one_arm_writes_is_missing_in_the_other() -> None:
    arm = f"%low = arith.cmpi slt, %M, %c8 : index\nscf.if %low {{\n{_piece('%c8, %c0')}\n}}"
    both = f"{arm[:-1]}}} else {{\n{_piece('%c8, %c0').replace('%v', '%u')}\n}}"

    def stored(body: str) -> str:
        text = _assembled(f"{_piece('%c0, %c0').replace('%v', '%t')}\n{body}", "%M: index", "c16")
        return text.replace("shape = [%c32, %c64]", "shape = [%M, %c64]")

    assert _outcome(stored(both)) is Verdict.PROVED
    result = check(stored(arm), families="INIT")
    assert Verdict.REFUTED in verdicts(result, "INIT-PATH")
    assert dict(finding(result, "INIT-PATH").witness)["M"] >= 8


def _walked(rows: str) -> str:
    """M // 8 pieces, then `rows` rows are read."""
    body = f"%n = arith.divsi %M, %c8 : index\n%whole = arith.muli %n, %c8 : index\n{_rows_in_loop('n')}"
    return _assembled(body, "%M: index", rows).replace("shape = [%c32, %c64]", "shape = [%M, %c64]")


def test_a_number_of_trips_known_at_run_time_covers_the_rows_that_it_reaches() -> None:
    assert _outcome(_walked("whole")) is Verdict.PROVED
    assert _outcome(_walked("M")) is Verdict.REFUTED
    assert _outcome(_walked("M"), ("M % 8 == 0",)) is Verdict.PROVED


def test_a_window_at_an_offset_known_at_run_time_is_undecided() -> None:
    assert _outcome(_assembled(_piece("%at, %c0"), "%at: index", "c8")) is Verdict.UNKNOWN


def test_a_view_of_the_written_part_may_be_read() -> None:
    def stored(row: str) -> str:
        return kernel("\n".join((
            view("o", "q", "c32"), alloc("x", VEC), _piece("%c8, %c0"),
            f"%y = pto.subview %x[%{row}, %c0] sizes [8, 64] : {VEC} -> {ROWS8}",
            window("w", "o", "%c0, %c0", "%c8, %c64"), store("y", "w", ROWS8))))

    assert _outcome(stored("c8")) is Verdict.PROVED
    assert "REFUTED" in {o.verdict.value for o in check(stored("c16"), families="INIT").obligations}


def test_a_tile_that_is_narrowed_and_widened_again_keeps_what_was_written() -> None:
    narrowed = f"{fill('x', VEC)}\npto.set_validshape %x, %c16, %c64 : {VEC}\n{fill('x', VEC)}"
    assert _outcome(_assembled(narrowed)) is Verdict.PROVED
    assert _outcome(_assembled(narrowed.split("\n", 1)[1])) is Verdict.REFUTED


def test_single_elements_add_up() -> None:
    row = tile(1, 8, valid=("1", "8"))

    def stored(count: str) -> str:
        return kernel("\n".join((
            view("o", "q", "c32", "c8"), alloc("x", row, rows="c1", cols="c8"),
            f"scf.for %i = %c0 to %{count} step %c1 {{",
            f"pto.tsetval ins(%i, %one : index, f32) outs(%x : {row})", "}",
            window("w", "o", "%c0, %c0", "%c1, %c8"), store("x", "w", row))).replace(
                "valid_row = %c1 valid_col = %c8 ", ""))

    assert _outcome(stored("c8")) is Verdict.PROVED
    assert _outcome(stored("c4")) is Verdict.REFUTED


@pytest.mark.parametrize(("stored", "verdict"), [("c8", Verdict.PROVED), ("c16", Verdict.REFUTED)])
def test_a_mask_has_a_bit_for_each_element(stored: str, verdict: Verdict) -> None:
    """64 columns are 8 bytes."""
    mask = tile(32, 32, "i8")
    assert _outcome(kernel("\n".join((
        "%three = arith.constant 3.0 : f32", alloc("s", VEC), fill("s", VEC), alloc("d", mask, 8192, cols=stored),
        f"pto.tcmps ins(%s, %three {{cmpMode = #pto<cmp eq>}} : {VEC}, f32) outs(%d : {mask})",
        view("o", "m", "c32", "c32").replace("f32", "i8"),
        window("w", "o", "%c0, %c0", f"%c32, %{stored}").replace("f32", "i8"),
        store("d", "w", mask).replace("?xf32", "?xi8"))), "%m: !pto.ptr<i8>")) is verdict


@pytest.mark.parametrize(("rows", "expected"), [("c32", Verdict.PROVED), ("c16", Verdict.REFUTED)])
def test_a_transpose_writes_as_many_columns_as_its_source_has_rows(rows: str, expected: Verdict) -> None:
    """TTRANS goes over the valid region of its source: of 16 rows come 16 columns, whatever the result declares."""
    body = "\n".join((
        view("a", "p", "c64"), view("o", "q", "c64"),
        alloc("x", VEC, rows=rows, cols="c64"), alloc("s", VEC, 16384, rows="c32", cols="c64"),
        alloc("t", TURNED, 32768, rows="c64", cols="c32"),
        window("aw", "a", "%c0, %c0", f"%{rows}, %c64"), load("aw", "x", VEC),
        f"pto.ttrans ins(%x, %s : {VEC}, {VEC}) outs(%t : {TURNED})",
        window("ow", "o", "%c0, %c0", "%c64, %c32"), store("t", "ow", TURNED)))
    assert _outcome(kernel(body)) is expected
