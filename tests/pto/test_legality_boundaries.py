"""Legality rules at the boundaries of their formulas: each pair of texts differs in the one step that is too much.

Numbers by hand from the conditions of PTOAS's verifiers; bytes of scratch are written as columns of 4 bytes.
"""

from __future__ import annotations

import pytest

from .case_builders import DN, A, Case, dps
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


@pytest.mark.parametrize("case", SCRATCH_BYTES, ids=lambda c: f"{c.rule} {c.body}")
def test_one_step_is_too_much(case: Case) -> None:
    good, bad = judged(case, good=True), judged(case, good=False)
    assert good or bad, "the rule does not apply"
    assert [c.message for c in good if not c.holds] == []
    assert any(not c.holds for c in bad)
