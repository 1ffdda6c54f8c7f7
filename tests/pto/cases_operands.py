"""Cases of the requirements on operands that many ops share, one for each; `test_operand_tables.py` has all ops."""

from __future__ import annotations

from .case_builders import DN, A, Case, alike, binary, dps, raw, unary
from .cases_index import random

_BYTES = "vec, 8x32xi8"

OPERAND_CASES: tuple[Case, ...] = (
    alike("LOW-PRECISION", "vec, 8x32x[[i8|!pto.hif8]]", "tand", target="a5"),
    unary("LOW-PRECISION-A3", "vec, 8x32x[[i8|!pto.hif8]]", "vec, 8x32x[[i8|!pto.hif8]]", "tmov"),
    random("LOW-PRECISION-A5", result="vec, 8x32x[[i32|f8E5M2]]"),
    dps("OPERAND-SPACE", "tadds", ["[[vec|mat]], 8x16xf32", "f32"], [A]),
    binary("OPERAND-SPACE-A3", c="[[vec|mat]], 8x32xi8", op="tcmp"),
    dps("OPERAND-SPACE-A5", "thistogram", ["vec, 8x32xui16", "[[vec|mat]], 8x1xui8, blayout=col_major"],
        ["vec, 8x256xui32"], target="a5"),
    binary("OPERAND-LAYOUT", b="vec, 8x16xf32, blayout=[[row|col]]_major"),
    dps("OPERAND-LAYOUT-A3", "tgatherb", [A, "vec, 8x16xui32"], ["vec, 8x16xf32[[|, blayout=col_major]]"]),
    binary("OPERAND-LAYOUT-A5", b="vec, 8x16xf32[[|, blayout=col_major]]", c="vec, 8x32xf32", op="tconcat",
           target="a5"),
    unary("OPERAND-BOXED", "vec, 8x16xf32[[|, slayout=row_major]]", op="tcolmax"),
    dps("OPERAND-BOXED-A3", "tci", ["i32", "vec, 8x32xf32[[|, slayout=row_major]]"], ["vec, 1x32xi32"]),
    dps("OPERAND-BOXED-A5", "thistogram", ["vec, 8x32xui16[[|, slayout=row_major]]", "vec, 8x1xui8, blayout=col_major"],
        ["vec, 8x256xui32"], target="a5"),
    binary("OPERAND-DTYPE", b="vec, 8x16x[[f32|i32]]"),
    dps("OPERAND-DTYPE-A3", "trowsum", [A, "vec, 8x16x[[f32|i32]]"], ["vec, 8x8xf32, valid=8x1"]),
    dps("OPERAND-DTYPE-A5", "trowexpandmax", [A, f"vec, 8x1xf32, {DN}", "vec, 8x16x[[f32|i32]]"], [A], target="a5"),
    binary("OPERAND-VALID", b="vec, 8x16xf32, valid=[[8|4]]x16"),
    unary("OPERAND-VALID-A3", c="vec, 8x16xf32, valid=[[8|4]]x16", op="tneg"),
    dps("OPERAND-VALID-A5", "tmatmul.mx.acc", [
        "acc, 16x16xf32, valid=[[16|8]]x16", "left, 16x64xf8E5M2", "scaling, 16x2x!pto.f8E8M0", "right, 64x16xf8E5M2",
        "scaling, 2x16x!pto.f8E8M0"], ["acc, 16x16xf32"], target="a5"),
    binary("OPERAND-SHAPE", b="vec, [[8|4]]x16xf32", op="tpartmax"),
    dps("OPERAND-SHAPE-A3", "tquant", ["vec, 8x32xf32", f"vec, 8x1xf32, {DN}"], [_BYTES, "vec, [[8|4]]x32xf32"],
        "{quant_type = #pto<quant_type INT8_SYM>}"),
    binary("OPERAND-SHAPE-A5", c="vec, 8x[[16|32]]xi8", op="tcmp", target="a5"),
    alike("OPERAND-TYPES-A3", "vec, 8x32x[[i16|i8]]"),
    alike("OPERAND-TYPES-A5", "vec, 8x32x[[bf16|i64]]", target="a5"),
    dps("SCALAR-TYPE", "texpands", ["f32"], ["vec, 8x16x[[f32|f16]]"]),
    dps("AXPY-TYPES", "taxpy", ["vec, 8x16x[[f16|bf16]]", "f32"], [A]),
    dps("POW-TYPES", "tpow", ["vec, 8x16x[[f32|f16]]"] * 2, ["vec, 8x16x[[f32|f16]]"]),
    dps("LRELU-SLOPE", "tlrelu", [A, "[[f32|f16]]"], [A], target="a5"),
    unary("NEG-COLS", c="vec, 8x16xf32, valid=8x[[16|8]]", op="tneg", target="a5"),
    dps("SCALAR-NUMBER", "tadds", [A, "[[f32|index]]"], [A]),
    dps("EXPANDS-LAYOUT", "texpands", ["f32"], ["vec, 8x16xf32[[|, blayout=col_major]]"]),
    unary("TRANS-LINE", c="vec, 16x[[8|4]]xf32", op="ttrans", target="a5"),
    unary("COL-EMPTY", "vec, 8x16xf32, valid=[[8|0]]x16", "vec, 1x16xf32", "tcolsum", "a5"),
    unary("COL-ARG-EMPTY", "vec, 8x16xf32, valid=[[8|0]]x16", "vec, 1x16xi32", "tcolargmax"),
    binary("ROWEXPAND-ROW", b=f"vec, 8x[[1|8]]xf32, {DN}", op="trowexpandadd"),
    binary("ROWEXPAND-PAIR", b="vec, 8x8xf32, valid=8x[[8|1]]", op="trowexpandmax"),
    binary("CMP-ROWS", c="vec, 8x32xi8, valid=[[8|4]]x32", op="tcmp"),
    binary("PART-INSIDE", b="vec, 8x16xf32, valid=[[4|8]]x16", c="vec, 8x16xf32, valid=4x16",
        a="vec, 8x16xf32, valid=4x16", op="tpartadd"),
    binary("PART-WHOLE", a="vec, 8x16xf32, valid=[[8|4]]x16", b="vec, 8x16xf32, valid=4x16", op="tpartadd"),
)


def scratch(rule: str, op: str, sources: list[str], tmp: str, result: str, **rest: str) -> Case:
    return dps(rule, op, [*sources, tmp], [result], **rest)


SCRATCH_CASES: tuple[Case, ...] = (
    scratch("SCRATCH-BYTES", "trsqrt", [A], "vec, 1x[[8|4]]xf32", A),
    scratch("SCRATCH-BYTES-A3", "txors", [_BYTES, "i8"], "vec, [[8|4]]x32xi8", _BYTES),
    scratch("SCRATCH-BYTES-A5", "ttrans", [A], "vec, 1x[[8|4]]xf32", "vec, 16x8xf32", target="a5"),
    raw("SCRATCH-LEVEL3", "pto.tsel ins(%m, %a, %b[[, %t|]] : @m;, @a;, @b;[[, @t;|]]) outs(%d : @d;)",
        m=_BYTES, a=A, b=A, t="vec, 1x16xi32", d=A),
    dps("SCRATCH-STATIC", "trem", [A, A], ["vec, 8x16xf32, valid=[[8|?]]x16"], level="level2"),
    scratch("CAST-SCRATCH-STATIC", "tcvt", [A], "vec, 8x32xf32", "vec, 8x16xi16, valid=[[8|?]]x16"),
    raw("MERGE-LEVEL3", "pto.tmrgsort ins(%a, %b[[, %t|]] [[|no_tmp]] {exhausted = false} : @a;, @b;[[, @t;|]]) "
        "outs(%d, %e : @d;, @e;)", a="vec, 1x64xf32", b="vec, 1x64xf32", t="vec, 1x128xf32", d="vec, 1x128xf32",
        e="vector<4xi16>"),
    scratch("REM-SCRATCH", "trem", [A, A], "vec, 8x16xf32, valid=[[2|1]]x16", A),
    scratch("CI-SCRATCH-FRACTAL", "tci", ["i32"], "vec, 8x32xf32[[|, fractal=1024]]", "vec, 1x32xi32"),
    raw("COLSUM-STRIDE", "pto.tcolsum ins(%a, %t {isBinary = true} : @a;, @t;) outs(%d : @d;)", a=A,
        t="vec, 8x[[16|8]]xf32", d="vec, 1x16xf32"),
    raw("PRELU-STORAGE", "pto.tprelu ins(%a, %[[b|a]], %t : @a;, @b;, @t;) outs(%d : @d;)", a=A, b=A,
        t="vec, 9x32xui8", d=A),
    dps("SEL-SCRATCH", "tsel", [_BYTES, A, A, "vec, 8x16x[[i32|i8]]"], [A]),
    scratch("EXPAND-SCRATCH", "trowexpandmul", [A, f"vec, 8x[[1|8]]xf32[[, {DN}|]]"], "vec, 8x8xf32", A),
)
