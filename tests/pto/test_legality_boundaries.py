"""Legality rules at the boundaries of their formulas: each pair of texts differs in the one step that is too much.

Numbers by hand from the conditions of PTOAS's verifiers; bytes of scratch are written as columns of 4 bytes.
"""

from __future__ import annotations

import pytest

from .case_builders import DN, NZ, ZN, ZZ, A, Case, dps, raw, unary
from .cases_convey import move, mx
from .cases_pipes import col_arg, row_arg
from .test_legality import judged


def _cast(shape: str, src: str, dst: str, bytes_: str) -> Case:
    """A cast of `shape`, with a scratch of `good|bad` bytes."""
    good, bad = (int(n) // 4 for n in bytes_.split("|"))
    return dps("SCRATCH-BYTES-A3", "tcvt", [f"vec, {shape.format(src)}", f"vec, 1x[[{good}|{bad}]]xf32"],
               [f"vec, {shape.format(dst)}"])


def _a3(op: str, sources: list[str], tmp: str, result: str) -> Case:
    return dps("SCRATCH-BYTES-A3", op, [*sources, f"vec, {tmp}"], [f"vec, {result}"])


def _expand(rows: str, bytes_: str) -> Case:
    """A row expansion of as many valid rows."""
    good, bad = (int(n) // 4 for n in bytes_.split("|"))
    tile = f"vec, 256x16xf32, valid={rows}x16"
    return dps("SCRATCH-BYTES-A3", "trowexpandmul",
               [tile, f"vec, 256x1xf32, valid={rows}x1, {DN}", f"vec, 1x[[{good}|{bad}]]xf32"], [tile])


SCRATCH_BYTES: tuple[Case, ...] = (
    # f32 to i16: 256 bytes for each whole repeat of 64 columns, up to 255 of them; for the columns that are left, the
    # blocks of 8 columns of each earlier row, up to 254 of them, and the blocks left, 32 bytes each
    _cast("8x64x{}", "f32", "i16", "256|224"), _cast("8x128x{}", "f32", "i16", "512|480"),
    _cast("8x16x{}", "f32", "i16", "512|480"), _cast("1x24x{}, valid=1x17", "f32", "i16", "96|64"),
    _cast("1x24x{}, valid=1x16", "f32", "i16", "64|32"), _cast("8x80x{}", "f32", "i16", "2304|2272"),
    _cast("8x128x{}, valid=8x80", "f32", "i16", "3648|3616"), _cast("255x16x{}", "f32", "i16", "16320|16288"),
    _cast("300x16x{}", "f32", "i16", "16320|16288"), _cast("1x16384x{}", "f32", "i16", "65280|65248"),
    _cast("1x128x{}, valid=1x80", "f32", "i16", "256|224"),
    # f16 to i16: 32 bytes for each block of 8 of up to 64 columns, whatever the rows
    _cast("8x16x{}", "f16", "i16", "64|32"), _cast("8x32x{}, valid=8x17", "f16", "i16", "96|64"),
    _cast("8x64x{}", "f16", "i16", "256|224"), _cast("8x128x{}", "f16", "i16", "256|224"),
    _cast("8x16x{}, valid=0x16", "f16", "i16", "64|32"),
    # f16 to i8: at least 128 bytes and 32 for each 16 columns
    _cast("8x32x{}, valid=8x16", "f16", "i8", "160|128"), _cast("8x64x{}, valid=8x33", "f16", "i8", "224|192"),
    _cast("8x64x{}", "f16", "i8", "256|224"), _cast("8x32x{}, valid=8x17", "f16", "i8", "192|160"),
    # other casts, saturating ones and those of no element take any scratch
    dps("SCRATCH-BYTES-A3", "tcvt", ["vec, 8x16xf32", "vec, 1x8xf32"], ["vec, 8x16x[[i32|i16]]"]),
    dps("SCRATCH-BYTES-A3", "tcvt", ["vec, 8x16xf32", "vec, 1x8xf32"], ["vec, 8x16xi16"],
        inside="{sat_mode = #pto<saturation_mode [[ON|OFF]]>}"),
    dps("SCRATCH-BYTES-A3", "tcvt", ["vec, 8x16xf32", "vec, 1x8xf32"], ["vec, 8x16xi16, valid=8x[[0|16]]"]),
    dps("SCRATCH-BYTES-A3", "tcvt", ["vec, 8x16xf32", "vec, 1x8xf32"], ["vec, 8x16xi16, valid=[[0|8]]x16"]),
    # prelu: a mask of 32 bytes, or of whole 32 bytes, for each row and one more
    _a3("tprelu", [A, A], "[[9|8]]x32xi8", "8x16xf32"),
    _a3("tprelu", ["vec, 8x256xf32"] * 2, "[[9|8]]x32xi8", "8x256xf32"),
    _a3("tprelu", ["vec, 8x264xf32"] * 2, "[[18|17]]x32xi8", "8x264xf32"),
    _a3("tprelu", [A, A], "[[5|4]]x32xi8", "8x16xf32, valid=4x16"),
    # row expansions: 256 bytes for 8 rows below 256, then 30 times as much
    _expand("8", "256|224"), _expand("9", "512|480"), _expand("240", "7680|7648"), _expand("241", "7936|7904"),
    _expand("255", "8192|8160"), _expand("256", "7680|7648"), _expand("?", "8192|8160"),
    # transposes: the source where the instruction takes whole blocks, else one block
    _a3("ttrans", ["vec, 16x8xf32"], "1x[[128|120]]xf32", "8x16xf32"),
    _a3("ttrans", ["vec, 16x8xf32"], "1x[[8|4]]xf32", "8x24xf32"),
    _a3("ttrans", ["vec, 16x12xf32"], "1x[[8|4]]xf32", "12x16xf32"),
    _a3("ttrans", ["vec, 1x2040xf32"], "1x[[2040|2032]]xf32", "2040x16xf32"),
    _a3("ttrans", ["vec, 1x2048xf32"], "1x[[8|4]]xf32", "2048x16xf32"),
    _a3("ttrans", ["vec, 32x32xi8"], "1x[[1024|992]]xi8", "32x32xi8"),
    _a3("ttrans", ["vec, 16x32xi8"], "1x[[32|16]]xi8", "32x16xi8"),
    # remainders: two rows of the result, or one
    _a3("trem", [A, A], "1x[[32|24]]xf32", "8x16xf32"), _a3("trems", [A, "f32"], "1x[[16|8]]xf32", "8x16xf32"),
    # selects: 8 bytes, or 16 for 16-bit elements; a row of the source for one with a scalar
    _a3("tsel", ["vec, 8x32xi8", A, A], "1x[[2|1]]xi32", "8x16xf32"),
    _a3("tsel", ["vec, 8x32xi8", "vec, 8x16xf16", "vec, 8x16xf16"], "1x[[4|3]]xi32", "8x16xf16"),
    dps("SCRATCH-BYTES-A3", "tsels", ["vec, 8x32xi8", A, "vec, 1x[[16|8]]xf32", "f32"], [A]),
    # ramps
    _a3("tci", ["i32"], "1x[[192|184]]xf32", "1x32xi32"), _a3("tci", ["i16"], "1x[[448|440]]xf32", "1x32xi16"),
    # sums and arguments of extremes
    _a3("trowmax", [A], "1x[[8|4]]xf32", "8x8xf32, valid=8x1"), _a3("tcolargmax", [A], "1x[[8|4]]xf32", "1x16xi32"),
    dps("SCRATCH-BYTES", "tcolsum", ["vec, 9x16xf32", "vec, [[5|4]]x16xf32 "], ["vec, 1x16xf32"],
        inside="{isBinary = true}"),
    dps("SCRATCH-BYTES", "tcolsum", ["vec, 8x16xf32", "vec, [[4|3]]x16xf32 "], ["vec, 1x16xf32"],
        inside="{isBinary = true}"),
)


_AXIS0 = ", grpAxis = #pto.mx_group_axis<axis0>"
_WOVEN = f"{_AXIS0}, interleave = true"
_FP4 = "!pto.f4E2M1x2"
_ZZ0 = "grpAxis = #pto.mx_group_axis<axis0>"


def _along_rows(rule: str, **changed: str) -> Case:
    """Groups of 32 rows of a 64 x 32 source, so two rows of exponents, maxima and scales."""
    return mx(rule, **{
        "source": "vec, 64x32xf32", "result": "vec, 64x32xi8", "exponent": "vec, 2x32xi8", "maxima": "vec, 2x32xf32",
        "scales": "vec, 2x32xf32", "attrs": _AXIS0, **changed})


def _woven(rule: str, **changed: str) -> Case:
    """The same of 16-bit floats, with the exponents of two groups side by side."""
    return _along_rows(rule, **{
        "source": "vec, 64x32xf16", "exponent": "vec, 1x64xi8", "maxima": "vec, 2x32xf16", "scales": "vec, 2x32xf16",
        "attrs": _WOVEN, **changed})


def _scales(operand: str, scales: str) -> Case:
    return unary("SCALE-SHAPE", operand, scales, "tget_scale_addr", "a5")


QUANTISATION: tuple[Case, ...] = (
    _along_rows("QUANT-MX-EXPONENTS", exponent="vec, [[2|4]]x32xi8"),
    _along_rows("QUANT-MX-EXPONENTS", exponent="vec, 2x[[32|64]]xi8, valid=2x32"),
    _along_rows("QUANT-MX-HELPERS", maxima="vec, [[2|4]]x32xf32"),
    _along_rows("QUANT-MX-HELPERS", scales="vec, [[2|4]]x32xf32"),
    _along_rows("QUANT-MX-HELPERS", maxima="vec, 2x[[32|64]]xf32, valid=2x32"),
    _along_rows("QUANT-MX-GROUPS", source="vec, 64x32xf32, valid=[[64|48]]x32"),
    _along_rows("QUANT-MX-GROUPS", source="vec, 64x32xf32, valid=64x[[32|0]]"),
    mx("QUANT-MX-GROUPS", source="vec, 8x64xf32, valid=[[8|0]]x64"),
    _along_rows("QUANT-MX-RESULT", result="vec, 64x64xi8, valid=64x32",
                attrs=", grpAxis = #pto.mx_group_axis<[[axis0|axis1]]>"),
    _along_rows("QUANT-MX-RESULT", result="vec, 64x32xi8, valid=[[64|32]]x32"),
    mx("QUANT-MX-RESULT", source="vec, 8x64xf16", result=f"vec, 8x[[32|64]]x{_FP4}", kind="MXFP4_E2M1"),
    _along_rows("QUANT-MX-RESULT", source="vec, 64x64xf16", result=f"vec, 64x[[32|64]]x{_FP4}, valid=64x32",
                kind="MXFP4_E2M1"),
    _woven("QUANT-MX-EXPONENTS", exponent="vec, 1x64xi8, valid=1x[[64|32]]"),
    _woven("QUANT-MX-EXPONENTS", exponent="vec, 1x[[64|96]]xi8, valid=1x64"),
    _woven("QUANT-MX-EXPONENTS", source="vec, [[64|96]]x32xf16, valid=64x32"),
    _woven("QUANT-MX-EXPONENTS", source="vec, 64x[[32|48]]xf16, valid=64x32"),
    _woven("QUANT-MX-GROUPS", source="vec, 128x32xf16, valid=[[128|96]]x32"),
    _woven("QUANT-MX-FORM", source="vec, 64x32x[[f16|f32]]"), _woven("QUANT-MX-FORM", source="vec, 64x32x[[bf16|f32]]"),
    _along_rows("QUANT-MX-FORM", source="vec, 32x[[64|32]]xf16", kind="MXFP4_E2M1"),
    _along_rows("QUANT-MX-FORM", source="vec, 32x32x[[bf16|f16]]", kind="MXFP4_E2M1"),
    _along_rows("QUANT-MX-FORM", source="vec, 32x32xf16", kind="[[MXFP8|MXFP4_E2M1]]"),
    mx("QUANT-MX-FORM", source="vec, 8x64x[[f32|f16]]", exponent="vec, 8x32xi8, valid=8x2"),
    mx("QUANT-MX-FORM", source="vec, 8x64x[[f32|bf16]]", attrs=", quantScaleAlg = #pto<quant_scale_alg nv>"),
    # groups along columns: exponents as [M, N/32], or all in one row of a source without padding
    mx("QUANT-MX-EXPONENTS", exponent="vec, 8x32xi8, valid=8x[[2|1]]"),
    mx("QUANT-MX-EXPONENTS", exponent="vec, [[1|8]]x32xi8, valid=1x16"),
    mx("QUANT-MX-EXPONENTS", source="vec, 8x[[64|96]]xf32, valid=8x64"),
    mx("QUANT-MX-HELPERS", maxima="vec, 8x[[2|8]]xf32, valid=8x2"),
    mx("QUANT-MX-HELPERS", maxima="vec, [[1|2]]x16xf32, valid=1x[[16|8]]"),
    mx("QUANT-MX-ROOM", maxima="vec, 1x[[16|8]]xf32, valid=1x8"),
    # scales: 4 bytes for each of 64 groups, twice as many where the source is unrolled; 2 bytes for each of 128
    mx("QUANT-MX-ROOM", source="vec, 32x64xf32", maxima="vec, 1x64xf32", scales="vec, 1x[[128|120]]xf32, valid=1x64"),
    mx("QUANT-MX-ROOM", source="vec, 16x64xf32", maxima="vec, 1x32xf32", scales="vec, 1x[[64|56]]xf32, valid=1x32"),
    mx("QUANT-MX-ROOM", source="vec, 20x64xf32", maxima="vec, 1x40xf32", scales="vec, 1x[[128|120]]xf32, valid=1x40"),
    mx("QUANT-MX-ROOM", source="vec, 18x64xf32", maxima="vec, 1x40xf32", scales="vec, 1x[[64|56]]xf32, valid=1x36"),
    mx("QUANT-MX-ROOM", source="vec, 20x64xf32, valid=18x64", maxima="vec, 1x40xf32",
       scales="vec, 1x[[64|56]]xf32, valid=1x36"),
    mx("QUANT-MX-ROOM", source="vec, 8x64xf16", scales="vec, 1x[[128|112]]xf16, valid=1x16"),
    mx("QUANT-MX-ROOM", exponent="vec, 8x32xi8, valid=8x2", scales="vec, [[8|7]]x2xf32"),
    mx("QUANT-MX-PADDING", source="vec, 1x[[96|64]]xf16, valid=1x32"),
    mx("QUANT-MX-PADDING", source="vec, 1x64x[[f32|bf16]], valid=1x32"),
    mx("QUANT-MX-PADDING", source="vec, 1x64xf16, valid=1x[[64|32]]"),
    mx("QUANT-MX-PADDING", source="vec, 4x32xf16, valid=[[4|3]]x16"),
    mx("QUANT-MX-ZZ", more="vec, 1x32xi8, valid=1x16",
       attrs=", storeMode = #pto<vec_store_mode nd>, grpAxis = #pto.mx_group_axis<[[axis1|axis0]]>"),
    # scales of operands: one for each 32 valid elements along K
    _scales(f"right, 64x16xf8E5M2, {ZN}", "scaling, [[2|4]]x16x!pto.f8E8M0"),
    _scales(f"right, 64x16xf8E5M2, {ZN}", "scaling, 2x[[16|32]]x!pto.f8E8M0, valid=2x16"),
    _scales(f"left, 16x64xf8E5M2, valid=16x33, {NZ}", "scaling, 16x[[2|1]]x!pto.f8E8M0"),
    _scales(f"left, 16x64xf8E5M2, valid=16x32, {NZ}", "scaling, 16x[[1|2]]x!pto.f8E8M0"),
    # exponents reordered for the cube
    move("ZZ-SHAPE", "vec, [[2|1]]x32xui8", f"vec, [[2|1]]x32xui8, {ZZ}", attrs=_ZZ0),
    move("ZZ-SHAPE", "vec, [[2|3]]x16xui8", f"vec, [[2|3]]x16xui8, {ZZ}", attrs=_ZZ0),
    move("ZZ-SHAPE", "vec, 2x32xui8, valid=2x[[32|24]]", f"vec, 2x32xui8, valid=2x[[32|24]], {ZZ}", attrs=_ZZ0),
    move("ZZ-SHAPE", "vec, 2x[[16|32]]xui8, valid=2x16", f"vec, 2x32xui8, valid=2x16, {ZZ}", attrs=_ZZ0),
    move("ZZ-SHAPE", "vec, 1x32xui8, valid=1x[[16|15]]", f"vec, 1x32xui8, valid=1x[[16|15]], {ZZ}"),
    move("ZZ-SHAPE", "vec, [[1|2]]x32xui8, valid=[[1|2]]x16", f"vec, [[1|2]]x32xui8, valid=[[1|2]]x16, {ZZ}"),
)
SMALL_FLOATS: tuple[Case, ...] = tuple(
    dps("CVT-LOW-A5", "tcvt", [f"vec, 8x64x{source}"], [f"vec, 8x64x[[{good}|{bad}]]"], target="a5")
    for source, good, bad in (
        ("f32", "f8E4M3FN", _FP4), ("f32", "f8E5M2", _FP4), ("f32", "!pto.hif8", _FP4), ("f16", "!pto.hif8", "f8E5M2"),
        ("bf16", _FP4, "f8E5M2"), ("f8E4M3FN", "f32", "f16"), ("f8E5M2", "f32", "bf16"), ("!pto.hif8", "f32", "f16"),
        (_FP4, "bf16", "f32")))
EXTREMES: tuple[Case, ...] = (
    # 8 rows of one repeat: a column of 16 values, or 8 rows of two
    row_arg("ROWARG-SCRATCH-SMALL", f"vec, 16x1xf32, valid=[[16|15]]x1, {DN}"),
    row_arg("ROWARG-SCRATCH-SMALL", f"vec, 16x[[1|8]]xf32, valid=16x1, {DN}"),
    row_arg("ROWARG-SCRATCH-SMALL", "vec, 8x8xf32, valid=[[8|7]]x2"),
    # 256 bytes of columns are one repeat; more need two values and an index of each, in whole blocks
    row_arg("ROWARG-SCRATCH-SMALL", "vec, 8x8xf32, valid=8x[[2|1]]", "vec, 8x64xf32"),
    row_arg("ROWARG-SCRATCH", "vec, 8x16xf32, valid=8x[[16|15]]", "vec, 8x72xf32, valid=8x65"),
    row_arg("ROWARG-SCRATCH", "vec, 8x32xf32, valid=8x[[24|23]]", "vec, 8x264xf32, valid=8x257"),
    row_arg("ROWARG-SCRATCH", "vec, 8x16xf32, valid=[[8|7]]x16", "vec, 8x128xf32"),
    row_arg("ROWARG-SCRATCH", "vec, [[8|9]]x16xf32, valid=8x16", "vec, 8x128xf32"),
    col_arg("COLARG-SCRATCH", "vec, 1x32xf32, valid=1x[[24|23]]", "vec, 8x264xf32, valid=8x257"),
    col_arg("COLARG-SCRATCH", "vec, 1x16xf32, valid=[[1|0]]x16", "vec, 8x16xf32"),
)


CASES = SCRATCH_BYTES + QUANTISATION + SMALL_FLOATS + EXTREMES


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.rule} {c.body}")
def test_one_step_is_too_much(case: Case) -> None:
    good, bad = judged(case, good=True), judged(case, good=False)
    assert good or bad, "the rule does not apply"
    assert [c.message for c in good if not c.holds] == []
    assert any(not c.holds for c in bad)


@pytest.mark.parametrize("op", [
    "sync.set", "sync.wait", "set_cross_block", "wait_cross_block", "set_intra_block", "wait_intra_block"])
def test_any_flag_between_cores_needs_the_base_of_these_flags_on_a2a3(op: str) -> None:
    case = raw("FLAG-BASE", f"[[pto.set_ffts %p : @p;|]]\n    pto.{op} <PIPE_V>, 1", p="!pto.ptr<i64>")
    assert [[c.holds for c in judged(case, good)] for good in (True, False)] == [[True], [False]]
