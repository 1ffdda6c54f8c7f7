"""The access program: what values, tiles and paths are, and that nothing unknown passes silently."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import FP16, FP32
from pypto_verified.index import const
from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.pto.reader import read
from pypto_verified.pto.types import TileBufType
from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import alloc, check, fill, finding, kernel, tile, unary, verdicts, view, window
from verifiers.access import AccessProgram, SymbolKind, build_program
from verifiers.access.overlap import disjoint_rects, mask
from verifiers.access.program import Rect
from verifiers.access.symbols import user_name
from verifiers.access.tiles import rect_of

VEC = tile()


def program(text: str) -> AccessProgram:
    (func,) = read(text, "k.pto").funcs
    return build_program(func, "k.pto", "a2a3")


def test_arguments_are_dims_sizes_or_parameters_by_their_use() -> None:
    made = program(kernel("\n".join((
        view("a", "p", "M"), alloc("t", VEC, rows="rows"), "%x = arith.addi %row, %c1 : index")),
        "%M: index, %rows: index, %row: index"))
    assert {n: made.symbols.kinds[n] for n in ("M", "rows", "row")} == {
        "M": SymbolKind.DIM, "rows": SymbolKind.SIZE, "row": SymbolKind.PARAM}


def test_names_are_the_authors() -> None:
    assert user_name("r__idx_v0") == "r"
    assert user_name("x__ssa_v12") == "x"
    assert user_name("arg2") == "arg2"
    assert user_name("3") == "v3"


def test_valid_extents_follow_set_validshape_through_a_branch() -> None:
    """16 rows are valid if the branch was taken, 32 otherwise: both fit, but a use with 32 rows may not."""
    text = kernel("\n".join((
        alloc("t", VEC, 0), fill("t", VEC),
        "%c = arith.cmpi sgt, %flag, %c0 : index",
        "scf.if %c {", f"pto.set_validshape %t, %c16, %c64 : {VEC}", "}",
        alloc("u", VEC, 8192), unary("tneg", "t", "u", VEC))), "%flag: index")
    result = check(text, families="VALID")
    assert verdicts(result, "VALID-UPPER") == {Verdict.PROVED}
    assert finding(result, "VALID-SOURCE").verdict is Verdict.UNKNOWN
    settled = check(text, families="VALID", assume=("flag <= 0",))
    assert verdicts(settled, "VALID-SOURCE") == {Verdict.PROVED}


def test_an_op_that_is_not_modelled_is_unknown_by_name() -> None:
    numbers = tile(dtype="i32")
    text = kernel("\n".join((
        alloc("x", VEC, 0), fill("x", VEC), alloc("i", numbers, 8192), fill("i", numbers), alloc("y", VEC, 16384),
        f"pto.tconcatidx ins(%x, %x, %i, %i : {VEC}, {VEC}, {numbers}, {numbers}) outs(%y : {VEC})")))
    found = finding(check(text), "MODEL-OP")
    assert found.verdict is Verdict.UNKNOWN
    assert "pto.tconcatidx" in found.message


def test_every_pair_of_rule_and_site_has_one_verdict() -> None:
    result = check(kernel("\n".join((
        alloc("x", VEC, 0), fill("x", VEC), alloc("y", VEC, 8192), unary("texp", "x", "y", VEC),
        unary("texp", "x", "y", VEC)))))
    pairs = [(o.rule, o.site) for o in result.obligations]
    assert len(pairs) == len(set(pairs))
    assert sum(result.counts().values()) == len(result.obligations)


def matrix(rows: int, cols: int, blayout: BLayout, slayout: SLayout, fractal: int = 512) -> TileBufType:
    dtype = FP32 if fractal == 1024 else FP16
    return TileBufType(Space.MAT, dtype, rows, cols, rows, cols, blayout, slayout, fractal)


def test_the_rect_of_a_window_of_a_boxed_tile_is_its_boxes() -> None:
    """A 32 x 64 f16 tile in Nz: a 16-column stripe is 32*16 elements; rows 16.. start one 16 x 16 box in."""
    part = matrix(16, 32, BLayout.COL, SLayout.ROW)
    rect = rect_of(part, (32, 64), const(0), const(16), const(32))
    assert (rect.base.value, rect.rows, rect.row_bytes, rect.pitch) == (2 * 32 * 16 * 2 + 16 * 16 * 2, 2, 512, 1024)


def test_the_rect_of_a_window_of_a_row_major_tile_is_its_rows() -> None:
    part = matrix(8, 16, BLayout.ROW, SLayout.NONE)
    rect = rect_of(part, (32, 64), const(100), const(3), const(4))
    assert (rect.base.value, rect.rows, rect.row_bytes, rect.pitch) == (100 + (3 * 64 + 4) * 2, 8, 32, 128)


def test_byte_masks_are_the_bytes() -> None:
    bits = mask(3, 3, 2, 5)
    assert [i for i in range(20) if bits >> i & 1] == [3, 4, 8, 9, 13, 14]


def test_interleaved_columns_are_disjoint_for_every_row() -> None:
    """Two column halves of one 256-byte pitch, the second at a symbolic row."""
    from pypto_verified.index import symbol

    left, right = Rect(const(0), 8, 128, 256), Rect(const(128), 8, 128, 256)
    row = symbol("row", 0, 7)
    assert disjoint_rects(const(0), left, 256 * row + 128, right).kind == "true"


def test_a_view_that_starts_within_a_box_at_run_time_is_not_modelled() -> None:
    """A row of NZ lies behind the row before it, in its box or in the next: the assembler takes such a view."""
    boxed = tile(32, 64, "f16", "mat", "col_major", "row_major")
    part = tile(16, 64, "f16", "mat", "col_major", "row_major", valid=("16", "64"))

    def kinds(*scale: str) -> set[Verdict]:
        lines = (alloc("t", boxed), *scale,
                 f"%v = pto.subview %t[%o, %c0] sizes [16, 64] : {boxed} -> {part}")
        result = check(kernel("\n".join(lines), "%row: index"), families="VIEW")
        return {o.verdict for o in result.obligations if o.rule in ("MODEL-OP", "VIEW-BOX")}

    assert kinds("%o = arith.muli %row, %c16 : index") == {Verdict.PROVED}
    assert kinds("%o = arith.addi %row, %c0 : index") == {Verdict.UNKNOWN}


def test_a_window_without_an_offset_for_each_axis_is_refused_and_not_modelled() -> None:
    result = check(kernel("\n".join((view("x", "p", "c32"), window("w", "x", "", "%c32, %c64")))))
    assert finding(result, "LEGAL-PART-RANK").verdict is Verdict.REFUTED
    assert finding(result, "MODEL-OP").message == "not modelled: a window of 2 axes with 0 offsets and 2 sizes"


@pytest.mark.parametrize("axis", [-1, 2])
def test_an_axis_that_a_view_does_not_have_has_no_extent(axis: int) -> None:
    result = check(kernel("\n".join((
        view("x", "p", "c32"), f"%axis = arith.constant {axis} : index",
        "%n = pto.get_tensor_view_dim %x, %axis : !pto.tensor_view<?x?xf32> -> index"))))
    assert finding(result, "MODEL-OP").message == f"not modelled: pto.get_tensor_view_dim of axis {axis} of 2"


def test_a_view_of_a_view_of_a_view_adds_all_offsets() -> None:
    # derivation: rows 16 + 4 + 2 of 256 bytes, columns 8 + 8 + 8 of 4 bytes: 22 * 256 + 24 * 4 = 5728
    outer, middle = tile(16, 32, valid=("16", "32")), tile(8, 16, valid=("8", "16"))
    inner = tile(2, 8, valid=("2", "8"))
    made = program(kernel("\n".join((
        alloc("t", VEC), f"%u = pto.subview %t[%c16, %c8] sizes [16, 32] : {VEC} -> {outer}",
        f"%v = pto.subview %u[%c4, %c8] sizes [8, 16] : {outer} -> {middle}",
        f"%w = pto.subview %v[%c2, %c8] sizes [2, 8] : {middle} -> {inner}"))))
    assert made.defined[-1].tile.rect == Rect(const(5728), 2, 32, 256)
