"""Cases of the legality of transfers in detail, and of quantisation."""

from __future__ import annotations

from .case_builders import ACC, DN, NZ, ZN, ZZ, A, Case, dps, raw, unary

_NZ16 = f"vec, 16x16xf16, {NZ}"


def extract(rule: str, source: str, result: str, target: str = "a5") -> Case:
    return raw(rule, "pto.textract ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", target=target, a=source,
               d=result)


def insert(rule: str, source: str, result: str, target: str = "a5") -> Case:
    return raw(rule, "pto.tinsert ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", target=target, a=source,
               d=result)


def move(
    rule: str, source: str = "vec, 16x32xui8", result: str = f"vec, 16x32xui8, {ZZ}", tmp: str = "vec, 1x128xui8",
    attrs: str = "", target: str = "a5", out: str = "d",
) -> Case:
    return raw(rule, f"pto.tmov ins(%a : @a;, %t : @t;) outs(%{out} : @d;) {{{attrs}}}", target=target, a=source, t=tmp,
               d=result)


def scaled(rule: str, source: str = ACC, result: str = f"mat, 16x16xi8, {NZ}", attrs: str = "") -> Case:
    return move(rule, source, result, "scaling, 1x32xf32", attrs, "a2a3")


_MODE = "accToVecMode = #pto.acc_to_vec_mode<"

CONVEY: tuple[Case, ...] = (
    dps("TRANSFER-EMPTY", "tload", ["view [[8|0]]x16xf32"], [A]),
    dps("TRANSFER-TYPES-A5", "tload", ["view 8x16x[[f32|i4]]"], [A], target="a5"),
    dps("PREFETCH-WIDTH", "tprefetch", ["view 8x16x[[f32|f16]]"], [A]),
    raw("STORE-PHASE", "pto.tstore ins(%t : @t; fp %f : @f;) outs(%v : @v;) {stPhase = #pto<st_phase [[unspecified|"
        "final]]>}", t=ACC, f="scaling, 1x16xf32", v="view 16x16xi8"),
    dps("STORE-TYPES-A3", "tstore", ["vec, 8x32x[[i8|!pto.hif8]]"], ["view 8x32xi8"]),
    dps("STORE-TYPES-A5", "tstore", ["vec, 8x32x[[i8|i4]]"], ["view 8x32xi8"], target="a5"),
    dps("STORE-LAYOUT-A5", "tstore", [f"vec, 16x16xf16, [[{NZ}|{ZN}]]"], ["view 16x16xf16"], target="a5"),
    raw("STORE-QUANT-A5", "pto.tstore ins(%t : @t;, %q : i64) outs(%v : @v;)", target="a5", t=ACC,
        v="view 16x16x[[i8|i16]]", q="i64"),
    dps("STORE-ACC-VALID", "tstore", [f"acc, 16x4096xf32, valid=16x[[4095|4096]], {NZ}"], ["view 16x?xf32"]),
    extract("EXTRACT-TYPES-A5", "vec, 8x16x[[f32|i32]]", "vec, 8x16x[[f32|i32]]"),
    extract("EXTRACT-MAT", f"mat, 16x16xf16, [[{NZ}|{DN}]]", f"right, 16x16xf16, {ZN}"),
    extract("ACC-TYPES-A5", ACC, f"mat, 16x16x[[f16|i8]], {NZ}"),
    insert("INSERT-TYPES-A3", "vec, 8x16x[[f32|i32]]", "vec, 8x16x[[f32|i32]]", "a2a3"),
    insert("INSERT-TYPES-A5", "vec, 16x16x[[f16|i16]]", "vec, 16x16x[[f16|i16]]"),
    insert("INSERT-VEC-A5", _NZ16, f"vec, 16x16xf16[[, {NZ}|]]"),
    insert("INSERT-MAT-A5", f"vec, 16x16xf16, [[{NZ}|{ZN}]]", f"mat, 16x16xf16, {NZ}"),
    insert("INSERT-OUT-A5", ACC, f"vec, 16x16xf16, [[{NZ}|{ZN}]]"),
    scaled("MOVE-QUANT-SOURCE", source=f"acc, 16x16x[[f32|f16]], {NZ}"),
    scaled("MOVE-QUANT-LAYOUT", result=f"mat, 16x16xi8, [[{NZ}|{ZN}]]"),
    scaled("MOVE-QUANT-LANES", result="vec, 16x32xf16", attrs=f"{_MODE}[[single_mode_vec0|dual_mode_split_m]]>"),
    move("MOVE-GROUP", tmp="[[vec|scaling]], 1x128xui8", attrs="grpAxis = #pto.mx_group_axis<axis1>"),
    move("ZZ-TARGET", target="[[a5|a2a3]]"),
    move("ZZ-FORM", attrs="reluPreMode = #pto<relu_pre_mode [[no|normal]]_relu>"),
    move("ZZ-TILES", result=f"vec, 16x32xui8[[, {ZZ}|]]"),
    move("ZZ-TYPES", tmp="vec, 1x128x[[ui8|i8]]"),
    move("ZZ-SHAPE", source="vec, 16x32xui8, valid=16x[[32|16]]"),
    move("ZZ-ROOM", tmp="vec, 1x[[96|64]]xui8"),
    dps("FILLPAD-ATTRIBUTE", "tfillpad", [f"mat, 16x32xf16, {NZ}, pad=1"], [f"mat, 16x32xf16, {NZ}, pad=1"],
        "{padValue = #pto<pad_value [[zero|max]]>}"),
    unary("FILLPAD-VALUE", A, "vec, 8x16xf32, pad=[[1|0]]", op="tfillpad"),
)


def mx(
    rule: str, source: str = "vec, 8x64xf32", result: str = "vec, 8x64xi8", exponent: str = "vec, 1x32xi8, valid=1x16",
    maxima: str = "vec, 1x16xf32", scales: str = "vec, 1x64xf32, valid=1x16", more: str = "", attrs: str = "",
    kind: str = "MXFP8",
) -> Case:
    outs = [result, exponent, maxima, scales, *([more] if more else [])]
    return dps(rule, "tquant.mx", [source], outs, f"{{quant_type = #pto<quant_type {kind}>{attrs}}}", target="a5")


_STORE_MODE = ", storeMode = #pto<vec_store_mode nd>"
_HALF = {"result": "vec, 8x64xi8", "exponent": "vec, 1x32xi8, valid=1x16", "maxima": "vec, 1x16xf16",
         "scales": "vec, 1x128xf16, valid=1x16"}

QUANT: tuple[Case, ...] = (
    dps("QUANT-KIND", "tquant", ["vec, 8x32xf32", f"vec, 8x1xf32, {DN}"], ["vec, 8x32xi8"],
        "{quant_type = #pto<quant_type [[INT8_SYM|MXFP8]]>}"),
    mx("QUANT-MX-ZZ", more="vec, 1x32xi8, valid=1x16", attrs=f"[[{_STORE_MODE}|]]"),
    mx("QUANT-MX-KIND", kind="[[MXFP8|INT8_SYM]]"),
    mx("QUANT-MX-INTERLEAVE", attrs=", interleave = [[false|true]]"),
    mx("QUANT-MX-STATIC", source="vec, 8x64xf32, valid=[[8|?]]x64"),
    mx("QUANT-MX-GROUPS", source="vec, 8x64xf32, valid=8x[[64|48]]"),
    mx("QUANT-MX-RESULT", result="vec, 8x64xi8, valid=8x[[64|32]]"),
    mx("QUANT-MX-EXPONENTS", exponent="vec, 1x32xi8, valid=1x[[16|8]]"),
    mx("QUANT-MX-HELPERS", maxima="vec, 1x16xf32, valid=1x[[16|8]]"),
    mx("QUANT-MX-ROOM", scales="vec, 1x[[64|32]]xf32, valid=1x16"),
    mx("QUANT-MX-ZZ-COUNT", more="vec, 1x32xi8, valid=1x[[16|8]]", attrs=_STORE_MODE),
    mx("QUANT-MX-FORM", source="vec, 8x64xf16", **_HALF, attrs=", quantScaleAlg = #pto<quant_scale_alg [[ocp|nv]]>"),
    mx("QUANT-MX-PADDING", source="vec, [[2|1]]x64xf16, valid=[[2|1]]x32", result="vec, 2x64xi8, valid=2x32"),
    raw("SCALE-SOURCE", "pto.tget_scale_addr ins(%a : @a;) outs(%d : @d;)", target="[[a5|a2a3]]",
        a=f"left, 16x64xf8E5M2, {NZ}", d="scaling, 16x2x!pto.f8E8M0"),
    unary("SCALE-OF", "[[left|mat]], 16x64xf8E5M2", "scaling, 16x2x!pto.f8E8M0", "tget_scale_addr", "a5"),
    unary("SCALE-SHAPE", f"left, 16x64xf8E5M2, {NZ}", "scaling, 16x[[2|4]]x!pto.f8E8M0", "tget_scale_addr", "a5"),
)


def vector_product(
    rule: str, a: str = "left, 1x128xf8E4M3FN", bias: str = "bias, 1x32xf32", right: str = "scaling, 4x32x!pto.f8E8M0",
    result: str = "acc, 1x32xf32",
) -> Case:
    return dps(rule, "tgemv.mx.bias", [f"{a}, {NZ}", f"scaling, 1x4x!pto.f8E8M0, {ZZ}", f"right, 128x32xf8E5M2, {ZN}",
                                       right, bias], [f"{result}, {NZ}"], target="a5")


PRODUCTS: tuple[Case, ...] = (
    vector_product("MX-SHAPE", a="left, 1x[[128|64]]xf8E4M3FN"),
    vector_product("MX-GEMV-ROW", a="left, [[1|2]]x128xf8E4M3FN"),
    vector_product("MX-BIAS-COLS", bias="bias, 1x[[32|16]]xf32"),
    vector_product("MX-SCALE-GEMV-RIGHT", right="scaling, [[4|2]]x32x!pto.f8E8M0"),
)

CONVEY_CASES: tuple[Case, ...] = CONVEY + QUANT + PRODUCTS
