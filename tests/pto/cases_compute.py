"""Cases of the legality of compute ops and their scratch operands."""

from __future__ import annotations

from .case_builders import ACC, DN, LEFT, NZ, RIGHT, ZN, ZZ, A, Case, binary, dps, raw, row_sum, unary

CUBE = (
    dps("MATMUL-SPACE", "tmatmul", [f"[[left|mat]], 16x16xf16, {ZZ}", RIGHT], [ACC]),
    dps("MATMUL-SHAPE", "tmatmul", [f"left, 16x[[16|32]]xf16, {ZZ}", RIGHT], [ACC]),
    dps("MATMUL-SIZE", "tmatmul", [f"left, 16x4096xf16, valid=16x[[4095|4096]], {ZZ}", f"right, 4096x16xf16, {ZN}"],
        [ACC]),
    dps("MATMUL-DTYPE", "tmatmul", [LEFT, f"right, 16x16x[[f16|bf16]], {ZN}"], [ACC]),
    dps("MATMUL-LEFT", "tmatmul", ["left, 16x16xf16, slayout=[[row|col]]_major", RIGHT], [ACC], target="a5"),
    dps("MATMUL-RIGHT", "tmatmul", [LEFT, "right, 16x16xf16, slayout=[[col|row]]_major"], [ACC], target="a5"),
    dps("MATMUL-ACC", "tmatmul", [LEFT, RIGHT], [f"acc, 16x16xf32, [[{NZ}|{ZN}]], fractal=1024"], target="a5"),
    dps("GEMV-ROW", "tgemv", [f"left, 16x16xf16, valid=[[1|2]]x16, {ZZ}", RIGHT],
        [f"acc, 16x16xf32, valid=1x16, {NZ}"]),
    dps("GEMV-SHAPE", "tgemv", [f"left, 16x16xf16, valid=1x[[16|8]], {ZZ}", RIGHT],
        [f"acc, 16x16xf32, valid=1x16, {NZ}"]),
    dps("MATMUL-ACC-IN", "tmatmul.acc", [f"[[acc|mat]], 16x16xf32, {NZ}", LEFT, RIGHT], [ACC]),
    dps("BIAS-SPACE", "tmatmul.bias", [LEFT, RIGHT, "[[bias|vec]], 1x16xf32"], [ACC]),
    dps("BIAS-ROW", "tmatmul.bias", [LEFT, RIGHT, "bias, [[1|2]]x16xf32"], [ACC]),
    dps("BIAS-LAYOUT", "tmatmul.bias", [LEFT, RIGHT, "bias, 1x16xf32, blayout=[[row|col]]_major"], [ACC], target="a5"),
)

COMPUTE = (
    raw("RECIP-STORAGE", "pto.trecip ins(%a : @a;) outs(%[[b|a]] : @a;)", a=A, b=A),
    binary("ADDRELU-TARGET", op="taddrelu", target="[[a2a3|a5]]"),
    row_sum("ROW-RESULT", c=f"vec, 8x[[1|8]]xf32, valid=8x1, {DN}"),
    row_sum("ROW-VALID-ROWS", c="vec, 8x8xf32, valid=[[8|4]]x1"),
    row_sum("ROW-VALID-COL", c="vec, 8x8xf32, valid=8x[[1|2]]"),
    row_sum("ROW-EMPTY", a="vec, 8x16xf32, valid=8x[[16|0]]"),
    unary("COL-VALID", c="vec, 8x16xf32, valid=1x[[16|8]]", op="tcolmax"),
    unary("COL-ARG-ROW", c="vec, 8x16xi32, valid=[[1|2]]x16", op="tcolargmax"),
    unary("COLEXPAND-VALID", a="vec, 8x16xf32, valid=1x[[16|8]]", op="tcolexpand"),
    unary("ROWSPREAD-ROWS", "vec, 8x8xf32, valid=[[8|4]]x1", op="trowexpand"),
    unary("ROWSPREAD-EMPTY", "vec, 8x8xf32, valid=8x[[1|0]]", op="trowexpand"),
    dps("CMPS-ROWS", "tcmps", [A, "f32"], ["vec, 8x32xi8, valid=[[8|4]]x32"]),
)


MX_LEFT = f"left, 16x64xf8E4M3FN, {ZZ}"
MX_RIGHT = f"right, 64x16xf8E4M3FN, {ZN}"
MX_LEFT_SCALE = f"scaling, 16x2x!pto.f8E8M0, {ZZ}, fractal=32"
MX_RIGHT_SCALE = "scaling, 2x16x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32"


def mx(
    rule: str, a: str = MX_LEFT, sa: str = MX_LEFT_SCALE, b: str = MX_RIGHT, sb: str = MX_RIGHT_SCALE, d: str = ACC,
    target: str = "a5",
) -> Case:
    return dps(rule, "tmatmul.mx", [a, sa, b, sb], [d], target=target)


MX = (
    mx("MX-TARGET", target="[[a5|a2a3]]"),
    mx("MX-SPACE", a=f"[[left|mat]], 16x64xf8E4M3FN, {ZZ}"),
    mx("MX-LAYOUT", b="right, 64x16xf8E4M3FN, slayout=[[col|row]]_major"),
    mx("MX-TYPES", b=f"right, 64x16x[[f8E5M2|f16]], {ZN}"),
    mx("MX-RESULT", d=f"acc, 16x16x[[f32|i32]], {NZ}, fractal=1024"),
    mx("MX-K", a=f"left, 16x[[64|96]]xf8E4M3FN, {ZZ}"),
    mx("MX-SIZE", a=f"left, 16x64xf8E4M3FN, valid=[[1|0]]x64, {ZZ}"),
    mx("MX-SCALE-SPACE", sa=f"[[scaling|vec]], 16x2x!pto.f8E8M0, {ZZ}, fractal=32"),
    mx("MX-SCALE-LEFT", sa=f"scaling, 16x[[2|4]]x!pto.f8E8M0, {ZZ}, fractal=32"),
    mx("MX-SCALE-RIGHT", sb="scaling, [[2|4]]x16x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32"),
    mx("MX-SCALE-LAYOUT", sa=f"scaling, 16x2x!pto.f8E8M0, {ZZ}, fractal=[[32|512]]"),
)

SCRATCH = (
    unary("CVT-VALID", c="vec, 8x16xi32, valid=8x[[16|8]]", op="tcvt"),
    unary("CVT-SHAPE", a="vec, 8x16xf32, valid=8x8", c="vec, 8x[[16|8]]xi32, valid=8x8", op="tcvt"),
    raw("CVT-SCRATCH", "pto.tcvt ins(%a[[, %t|]] : @a;[[, @t;|]]) outs(%d : @d;)", a=A, t=A, d="vec, 8x16xi16"),
    dps("CI-COLS", "tci", ["i32", "vec, 8x32xf32"], ["vec, 8x[[8|1]]xi32"]),
    raw("SORT-SCRATCH", "pto.tsort32 ins(%a, %i[[, %t|]] : @a;, @i;[[, @t;|]]) outs(%d : @d;)",
        a="vec, 1x64xf32, valid=1x33",
        i="vec, 1x64xi32", t="vec, 1x64xf32", d="vec, 1x128xf32"),
    raw("COLSUM-SCRATCH", "pto.tcolsum ins(%a : @a;) outs(%d : @d;) {isBinary = [[false|true]]}", a=A, d=A),
    dps("COLSUM-BINARY", "tcolsum", [A, A], [A], inside="[[{isBinary = true}|]]"),
    dps("COLSUM-STATIC", "tcolsum", ["vec, 8x16xf32, valid=[[8|?]]x16", A], [A], inside="{isBinary = true}"),
    dps("PRELU-STATIC", "tprelu", [A, A, "vec, 16x32xi8"], ["vec, 8x16xf32, valid=[[8|?]]x16"]),
    dps("PRELU-SCRATCH-ROWS", "tprelu", [A, A, "vec, [[9|8]]x32xi8"], [A]),
    raw("BITS-STORAGE", "pto.tands ins(%a, %s : @a;, i16) outs(%[[b|a]] : @a;)", a="vec, 8x16xi16", b="vec, 8x16xi16",
        s="i16"),
    raw("ASSIGN-UNIT", "%u = pto.tassign %t, %[[a512|a32]] : @t; -> @t;", t=ACC),
    raw("ASSIGN-LEVEL", "%u = pto.tassign %t, %a32 : @t; -> @t;", level="level2", attrs="[[pto.tileop.helper, |]]",
        t=A),
    dps("HISTOGRAM-TARGET", "thistogram", ["vec, 8x32xi16", "vec, 8x32xi32"], ["vec, 1x256xi32"], target="[[a5|a2a3]]"),
    dps("HISTOGRAM-BYTE", "thistogram", ["vec, 8x32xi16", "vec, 8x32xi32"], ["vec, 1x256xi32"],
        "{byte = [[1|2]] : i32}", target="a5"),
    dps("POW-SCRATCH", "tpow", ["vec, 8x16x[[i32|f32]]", "vec, 8x16x[[i32|f32]]"], ["vec, 8x16x[[i32|f32]]"]),
    dps("POW-INTEGER", "tpow", [A, A, A], ["vec, 8x16x[[f32|i32]]"]),
    dps("PRECISE-SCRATCH", "trsqrt", [A], [A], "{precisionType = #pto<rsqrt_precision [[default|high_precision]]>}"),
    dps("COALESCE", "mgather", ["view 8x16xf32", "vec, 8x16xi32"], [A], "[[{coalesce = #pto<coalesce elem>}|]]"),
    dps("SCATTER-COALESCE", "mscatter", [A, "vec, 8x16xi32"], ["view 8x16xf32"],
        "{scatterAtomicOp = #pto<scatter_atomic_op add>[[, coalesce = #pto<coalesce elem>|]]}"),
    dps("ARG-EMPTY", "trowargmax", ["vec, 8x16xf32, valid=8x[[16|0]]", A], ["vec, 8x8xi32, valid=8x1"]),
    dps("ARG-ROWS", "trowargmax", [A, A], ["vec, 8x8xi32, valid=[[8|4]]x1"]),
    dps("QUANT-OFFSET", "tquant", [A, "vec, 8x8xf32", "vec, 8x8xf32"], ["vec, 8x32xi8"],
        "{quant_type = #pto<quant_type INT8_[[A|]]SYM>}"),
    dps("SCALE-ADDR", "tget_scale_addr", [LEFT], ["[[scaling|vec]], 16x16xi8"], target="a5"),
)

IDX = "vec, 8x16xi32"


def gather(rule: str, a: str = A, idx: str = IDX, tmp: str = IDX, d: str = A, target: str = "a2a3") -> Case:
    return dps(rule, "tgather", [a, idx, tmp], [d], target=target)


def mask(rule: str, a: str = A, d: str = "vec, 8x8xf32", axis: str = ', "row"') -> Case:
    return raw(rule, f"pto.tgather ins(%a, {{maskPattern = #pto.mask_pattern<P0101>}} : @a;{axis}) outs(%d : @d;)",
        a=a, d=d)


SHUFFLE = (
    mask("GATHER-MASK-AXIS", axis='[[, "row"|]]'),
    mask("GATHER-MASK-ALONG", d="vec, 8x[[8|16]]xf32"),
    mask("GATHER-MASK-ACROSS", d="vec, [[8|4]]x8xf32"),
    mask("GATHER-MASK-WIDTH", d="vec, 8x8x[[i32|f16]]"),
    mask("GATHER-MASK-SPACE", d="[[vec|mat]], 8x8xf32"),
    raw("GATHER-SCRATCH", "pto.tgather ins(%a, %i[[, %t|]] : @a;, @i;[[, @t;|]]) outs(%d : @d;)", a=A, i=IDX, t=IDX,
        d=A),
    gather("GATHER-DTYPE", d="vec, 8x16x[[f32|i32]]"),
    gather("GATHER-TYPES", "vec, 8x16x[[f32|bf16]]", d="vec, 8x16x[[f32|bf16]]"),
    gather("GATHER-INDEX", idx="vec, 8x16x[[i32|i16]]", tmp="vec, 8x16x[[i32|i16]]"),
    gather("GATHER-FULL", d="vec, 8x16xf32, valid=8x[[16|8]]"),
    gather("GATHER-SCRATCH-TYPE", tmp="vec, 8x16xi32, valid=[[8|4]]x16"),
    raw("GATHER-COMPARE", "pto.tgather ins(%a, %k, %t : @a;, f32, @t;) outs(%d, %c : @d;, @c;)", a=A, k="f32", t=A,
        d="vec, 8x16x[[i32|f32]]", c="vec, 8x16x[[i32|f32]]"),
    binary("CONCAT-ROWS", b="vec, 8x16xf32, valid=[[8|4]]x16", c="vec, 8x32xf32", op="tconcat"),
    binary("CONCAT-COLS", c="vec, 8x[[32|24]]xf32", op="tconcat"),
    dps("EXPANDS-SPACE", "texpands", ["f32"], ["[[vec|bias]], 8x16xf32"]),
)

COMPUTE_CASES: tuple[Case, ...] = CUBE + COMPUTE + MX + SCRATCH + SHUFFLE
