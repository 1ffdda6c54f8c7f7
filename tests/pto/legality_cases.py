"""One pair of texts for each legality rule: they differ in the one field between `[[good|bad]]`.

Tiles are written as the body of a `!pto.tile_buf<...>`, views as `view 8x16xf32`, scalars by their type.
"""

from __future__ import annotations

from dataclasses import dataclass

NZ = "blayout=col_major, slayout=row_major"
ZN = "slayout=col_major"
ZZ = "slayout=row_major"
DN = "blayout=col_major"

LEFT = f"left, 16x16xf16, {ZZ}"
RIGHT = f"right, 16x16xf16, {ZN}"
ACC = f"acc, 16x16xf32, {NZ}, fractal=1024"
A = "vec, 8x16xf32"


@dataclass(frozen=True)
class Case:
    """`body` stands in a function whose arguments are `args` (name, type); `module` holds further functions."""

    rule: str
    body: str
    args: tuple[tuple[str, str], ...]
    target: str = "a2a3"
    level: str = "level3"
    kind: str = "vector"
    module: str = ""
    attrs: str = ""


def _type(text: str) -> str:
    if text.startswith("view "):
        return f"!pto.partition_tensor_view<{text[5:]}>"
    return f"!pto.tile_buf<{text}>" if ", " in text and text[0] != "!" else text


def raw(
    rule: str, body: str, target: str = "a2a3", level: str = "level3", kind: str = "vector", module: str = "",
    attrs: str = "", **args: str,
) -> Case:
    """A body in which `@x` stands for the type of argument `%x`."""
    typed = {name: _type(text) for name, text in args.items()}
    for name, text in typed.items():
        body = body.replace(f"@{name};", text)
    return Case(rule, body, tuple(typed.items()), target, level, kind, module, attrs)


def dps(
    rule: str, op: str, ins: list[str], outs: list[str], attrs: str = "", inside: str = "", target: str = "a2a3",
    level: str = "level3", names: str = "",
) -> Case:
    """`pto.op ins(...) outs(...)` on arguments of these types; `names` renames operands, to use one twice."""
    labels = names.split() or [*(f"i{n}" for n in range(len(ins))), *(f"o{n}" for n in range(len(outs)))]
    types = [_type(text) for text in ins + outs]
    used = [f"%{label}" for label in labels]
    count = len(ins)
    body = f"pto.{op} ins({', '.join(used[:count])} {inside} : {', '.join(types[:count])})"
    if outs:
        body += f" outs({', '.join(used[count:])} : {', '.join(types[count:])})"
    args = tuple({label: text for label, text in zip(labels, types, strict=True) if "[[" not in label}.items())
    return Case(rule, f"{body} {attrs}", args, target, level)


def alloc(rule: str, tile: str, level: str = "level3", head: str = "addr = %a0") -> Case:
    return Case(rule, f"%t = pto.alloc_tile {head} : !pto.tile_buf<{tile}>", (), "a2a3", level)


def binary(rule: str, a: str = A, b: str = A, c: str = A, op: str = "tadd", target: str = "a2a3") -> Case:
    return dps(rule, op, [a, b], [c], target=target)


def alike(rule: str, tile: str, op: str = "tadd", target: str = "a2a3") -> Case:
    """A binary op on three tiles of one type."""
    return binary(rule, tile, tile, tile, op, target)


def unary(rule: str, a: str = A, c: str = A, op: str = "texp", target: str = "a2a3", inside: str = "") -> Case:
    return dps(rule, op, [a], [c], target=target, inside=inside)


def scalar(rule: str, a: str = A, c: str = A, op: str = "tadds", target: str = "a2a3") -> Case:
    return dps(rule, op, [a, "f32"], [c], target=target)


def row_sum(rule: str, a: str = A, tmp: str = A, c: str = "vec, 8x8xf32, valid=8x1") -> Case:
    return dps(rule, "trowsum", [a, tmp], [c])


def init(rule: str, attrs: str, operands: str, target: str = "a2a3", kind: str = "cube", op: str = "aic") -> Case:
    return raw(rule, f"pto.{op}_initialize_pipe {{{attrs}}} ({operands})", target=target, kind=kind, gm="!pto.ptr<f32>",
               tv="!pto.tensor_view<8x16xf32>")


PIPE = "dir_mask = 1, slot_size = 1024"
BUF = "c2v_consumer_buf = %z : i32"
RING = f"gm_slot_buffer = %gm : !pto.ptr<f32>, {BUF}"


def push(rule: str, split: str, tile: str = ACC, attrs: str = PIPE, operands: str = RING, target: str = "a2a3") -> Case:
    return raw(rule, f"pto.aic_initialize_pipe {{{attrs}}} ({operands})\n"
               f"    pto.tpush_to_aiv(%t : @t;) {{split = {split}}}", target=target, kind="cube", t=tile,
          gm="!pto.ptr<f32>",
               tv="!pto.tensor_view<8x16xf32>")


def reserve(rule: str, size: str = "1024", location: str = "vec", tail: str = "auto = false, base = 0",
    level: str = "level3",
            name: str = "b") -> Case:
    return raw(rule, f'%b = pto.reserve_buffer {{name = "{name}", size = {size}, location = '
               f"#pto.address_space<{location}>, {tail}}} -> i32\n"
               f'    %d = pto.reserve_buffer {{name = "other", size = 256, location = #pto.address_space<vec>, '
               f"{'auto = false, base = 0' if level == 'level3' else 'auto = true'}}} -> i32", level=level)


PEER = ('func.func @peer() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n'
        '    %b = pto.reserve_buffer {name = "[[b|c]]", size = 1024, location = #pto.address_space<vec>, auto = false, '
        'base = 0} -> i32\n    return\n  }')

ALLOC = (
    alloc("ALLOC-LINE", "vec, 8x[[8|7]]xf32"),
    alloc("ALLOC-BOX-COLS", f"mat, 16x[[32|24]]xf16, {NZ}"),
    alloc("ALLOC-BOX-ROWS", f"mat, [[96|100]]x16xf16, {NZ}"),
    alloc("ALLOC-BIT", "vec, 8x32x[[i8|i1]]"),
    alloc("ALLOC-ADDR-SIGN", "vec, 8x8xf32", head="addr = [[%a0|%an]]"),
    alloc("ALLOC-ADDR-UNIT", f"acc, 16x16xf32, {NZ}, fractal=1024", head="addr = [[%a512|%a32]]"),
    alloc("ALLOC-VALID-ROW", "vec, 8x8xf32, valid=[[8|?]]x8"),
    alloc("ALLOC-VALID-COL", "vec, 8x8xf32, valid=8x[[8|?]]"),
    alloc("ALLOC-PLANNED", "vec, 8x8xf32", head="[[addr = %a0|]]"),
    alloc("ALLOC-UNPLANNED", "vec, 8x8xf32", level="level2", head="[[|addr = %a0]]"),
    raw("MULTI-COMPACT",
        "%m = pto.alloc_multi_tile addr = %a0 : !pto.multi_tile_buf<vec, 8x8xf32, compact=[[1|2]], count=2>"),
    raw("MULTI-SLOT-TYPE", "%s = pto.multi_tile_get %m[%c0] : @m; -> !pto.tile_buf<vec, 8x8x[[f32|i32]]>",
        m="!pto.multi_tile_buf<!pto.tile_buf<vec, 8x8xf32>, count=2>"),
    raw("MULTI-SLOT", "%s = pto.multi_tile_get %m[%c[[1|2]]] : @m; -> !pto.tile_buf<vec, 8x8xf32>",
        m="!pto.multi_tile_buf<!pto.tile_buf<vec, 8x8xf32>, count=2>"),
    raw("VIEW-ELEMENT",
        "%v = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?x[[f32|f16]]>",
        p="!pto.ptr<f32>"),
    raw("VIEW-RANK",
        "%v = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8[[, %c1|]]] : !pto.tensor_view<?x?xf32>",
        p="!pto.ptr<f32>"),
    raw("PART-ELEMENT", "%w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c8] : @v; -> "
        "!pto.partition_tensor_view<8x8x[[f32|f16]]>", v="!pto.tensor_view<?x?xf32>"),
    raw("PART-RANK", "%w = pto.partition_view %v, offsets = [%c0[[, %c0|]]], sizes = [%c8, %c8] : @v; -> "
        "!pto.partition_tensor_view<8x8xf32>", v="!pto.tensor_view<?x?xf32>"),
    raw("PART-OFFSET", "%w = pto.partition_view %v, offsets = [%[[c0|cn]], %c0], sizes = [%c8, %c8] : @v;",
        v="!pto.tensor_view<?x?xf32>"),
    raw("PART-SIZE", "%w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%[[c8|c0]], %c8] : @v; -> "
        "!pto.partition_tensor_view<?x8xf32>", v="!pto.tensor_view<?x?xf32>"),
    raw("PART-RESULT", "%w = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c[[8|4]], %c8] : @v; -> "
        "!pto.partition_tensor_view<8x8xf32>", v="!pto.tensor_view<?x?xf32>"),
    raw("PART-BOUND", "%w = pto.partition_view %v, offsets = [%c[[8|16]], %c0], sizes = [%c8, %c8] : @v;",
        v="!pto.tensor_view<16x8xf32>"),
    raw("SUB-SHAPE", "%s = pto.subview %t[%c0, %c0] sizes [4, [[8|4]]] : @t; -> !pto.tile_buf<vec, 4x8xf32>",
        t="vec, 8x8xf32"),
    raw("SUB-OFFSET", "%s = pto.subview %t[%[[c0|cn]], %c0] sizes [4, 8] : @t;", t="vec, 8x8xf32"),
    raw("SUB-CONFIG", "%s = pto.subview %t[%c0, %c0] sizes [4, 8] : @t; -> !pto.tile_buf<vec, 4x8x[[f32|i32]]>",
        t="vec, 8x8xf32"),
    raw("SUB-VALID", "%s = pto.subview %t[%c0, %c0] sizes [4, 8] valid [%c4, %c[[8|16]]] : @t;", t="vec, 8x16xf32"),
    raw("SUB-RESULT", "%s = pto.subview %t[%c0, %c0] sizes [4, 8] valid [%c4, %c4] : @t; -> "
        "!pto.tile_buf<vec, 4x8xf32, valid=4x[[4|8]]>", t="vec, 8x8xf32"),
    raw("SUB-BOX", "%s = pto.subview %t[%c[[16|8]], %c0] sizes [16, 16] : @t;", t=f"mat, 32x16xf16, {NZ}"),
    raw("RESHAPE-SPACE", "%r = pto.treshape %t : @t; -> !pto.tile_buf<[[vec|mat]], 4x16xf32>", t="vec, 8x8xf32"),
    raw("RESHAPE-BYTES", "%r = pto.treshape %t : @t; -> !pto.tile_buf<vec, [[4|8]]x16xf32>", t="vec, 8x8xf32"),
    raw("RESHAPE-BOX", f"%r = pto.treshape %t : @t; -> !pto.tile_buf<mat, 16x16xf16[[, {ZZ}|]]>",
        t=f"mat, 16x16xf16, {NZ}"),
    raw("BITCAST-SHAPE", "%r = pto.bitcast %t : @t; -> !pto.tile_buf<vec, [[8|4]]x8xi32>", t="vec, 8x8xf32"),
    raw("BITCAST-DTYPE", "%r = pto.bitcast %t : @t; -> !pto.tile_buf<vec, 8x8x[[i32|f32]]>", t="vec, 8x8xf32"),
    raw("BITCAST-BYTES", "%r = pto.bitcast %t : @t; -> !pto.tile_buf<vec, 8x8x[[i32|i64]]>", t="vec, 8x8xf32"),
    raw("SETVALID-TYPE", "pto.set_validshape %t, %c4, %c8 : @t;", t="vec, 8x8xf32, valid=[[?|8]]x?"),
    raw("SETVALID-OWNER",
        "%t = pto.alloc_tile addr = %a0 valid_row = %c8 valid_col = %c8 : !pto.tile_buf<vec, 8x8xf32, valid=?x?>\n"
        "    %s = pto.subview %t[%c0, %c0] sizes [8, 8] valid [%n, %n] : !pto.tile_buf<vec, 8x8xf32, valid=?x?>\n"
        "    pto.set_validshape %[[t|s]], %c4, %c8 : !pto.tile_buf<vec, 8x8xf32, valid=?x?>", n="index"),
    raw("SETVALID-RANGE",
        "%t = pto.alloc_tile addr = %a0 valid_row = %c8 valid_col = %c8 : !pto.tile_buf<vec, 8x8xf32, valid=?x?>\n"
        "    pto.set_validshape %t, %c[[8|16]], %c8 : !pto.tile_buf<vec, 8x8xf32, valid=?x?>"),
)

MOVE = (
    dps("PREFETCH-SPACE", "tprefetch", ["view 8x16xf32"], ["[[vec|bias]], 8x16xf32"]),
    dps("LOAD-SPACE", "tload", ["view 8x16xf32"], ["[[vec|bias]], 8x16xf32"]),
    dps("LOAD-DTYPE", "tload", ["view 8x32xi8"], ["vec, 8x32x[[i8|!pto.hif8]]"]),
    dps("LOAD-WIDTH", "tload", ["view 8x16xf32"], ["vec, 8x16x[[i32|f16]]"]),
    dps("LOAD-PAD", "tload", ["view 8x16xi64"], ["vec, 8x16xi64, pad=[[1|2]]"], target="a5"),
    dps("LOAD-LAYOUT", "tload", ["view 16x16xf16"], [f"vec, 16x16xf16, [[{NZ}|{ZN}]]"], target="a5"),
    dps("STORE-SPACE-A3", "tstore", ["[[vec|bias]], 8x16xf32"], ["view 8x16xf32"]),
    dps("STORE-SPACE-A5", "tstore", ["[[vec|mat]], 8x16xf32"], ["view 8x16xf32"], target="a5"),
    dps("STORE-COUNT", "tstore", [A], ["view [[4x32|8x8]]xf32"]),
    dps("STORE-WIDTH", "tstore", [A], ["view 8x16x[[i32|f16]]"]),
    dps("STORE-ACC-SOURCE", "tstore", [f"acc, 16x16x[[f32|f16]], {NZ}"], ["view 16x16xf16"]),
    dps("STORE-ACC-DTYPE", "tstore", [ACC], ["view 16x16x[[bf16|i8]]"]),
    raw("STORE-ACC-QUANT", "pto.tstore ins(%t : @t;, %q : i64) outs(%v : @v;)", t=ACC, v="view 16x16x[[i8|f16]]",
        q="i64"),
    dps("STORE-ACC-COLS", "tstore", [f"acc, 16x[[4080|4096]]xf32, {NZ}, fractal=1024"], ["view 16x?xf32"]),
    raw("QUANT-ONE", "pto.tstore ins(%t : @t; fp %f : @f;[[|, %q : i64]]) outs(%v : @v;)", t=ACC, f="scaling, 1x16xf32",
        v="view 16x16xi8", q="i64"),
    raw("QUANT-SOURCE", "pto.tstore ins(%t : @t;, %q : i64) outs(%v : @v;)", t="[[acc|vec]], 16x16xf32",
        v="view 16x16xi8", q="i64"),
    raw("QUANT-SPACE", "pto.tstore ins(%t : @t; fp %f : @f;) outs(%v : @v;)", t=ACC, f="[[scaling|vec]], 1x16xf32",
        v="view 16x16xi8"),
    dps("RELU-SOURCE", "tstore", ["[[acc|vec]], 16x16xf32"], ["view 16x16xf32"],
        "{reluPreMode = #pto<relu_pre_mode normal_relu>}"),
    unary("MOVE-PAIR", f"mat, 16x16xf16, {NZ}", f"[[left|acc]], 16x16xf16, {ZZ}", op="tmov"),
    unary("MOVE-SHAPE-MAT", f"mat, 16x[[16|32]]xf16, {NZ}", LEFT, op="tmov"),
    unary("MOVE-SHAPE", A, "vec, [[8|4]]x16xf32", op="tmov"),
    dps("MOVE-MODE", "tmov", [ACC], [f"[[vec|mat]], 16x16xf32, {NZ}"],
        "{accToVecMode = #pto.acc_to_vec_mode<single_mode_vec0>}"),
    unary("MOVE-FRACTAL", ACC, f"mat, 16x16xf16, {NZ}, fractal=[[512|1024]]", op="tmov"),
    dps("MOVE-RELU-LAYOUT", "tmov", [f"acc, 16x16xf32, [[{NZ}|{ZN}]], fractal=1024"], [f"mat, 16x16xf16, {NZ}"],
        "{reluPreMode = #pto<relu_pre_mode normal_relu>}"),
    raw("INDEX-SIGN", "pto.textract ins(%a, %[[c0|cn]], %c0 : @a;, index, index) outs(%d : @d;)", a=A,
        d="vec, 4x16xf32"),
    raw("EXTRACT-ROWS", "pto.textract ins(%a, %c[[4|8]], %c0 : @a;, index, index) outs(%d : @d;)", a=A,
        d="vec, 4x16xf32"),
    raw("EXTRACT-COLS", "pto.textract ins(%a, %c0, %c[[8|16]] : @a;, index, index) outs(%d : @d;)", a=A,
        d="vec, 8x8xf32"),
    raw("EXTRACT-DTYPE", "pto.textract ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", a=A,
        d="vec, 8x16x[[f32|i32]]"),
    raw("EXTRACT-PAIR", "pto.textract ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", a=A,
        d="[[vec|mat]], 8x16xf32"),
    raw("EXTRACT-LEFT", "pto.textract ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", a=f"mat, 16x16xf16, {NZ}",
        d="left, 16x16xf16, slayout=[[row|col]]_major"),
    raw("EXTRACT-RIGHT", "pto.textract ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", a=f"mat, 16x16xf16, {NZ}",
        d="right, 16x16xf16, slayout=[[col|row]]_major"),
    raw("EXTRACT-ACC-LAYOUT", "pto.textract ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", a=ACC,
        d=f"mat, 16x16xf16, {NZ}, fractal=[[512|1024]]"),
    raw("EXTRACT-ACC-DTYPE", "pto.textract ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", a=ACC,
        d=f"mat, 16x16x[[f16|f32]], {NZ}"),
    raw("EXTRACT-LEFT-A5", "pto.textract ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", target="a5",
        a=f"mat, 16x16xf16, {NZ}", d="left, 16x16xf16, slayout=[[row|col]]_major"),
    raw("EXTRACT-VEC-A5", "pto.textract ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", target="a5", a=A,
        d="vec, 8x16xf32, blayout=[[row|col]]_major"),
    raw("EXTRACT-ACC-A5", "pto.textract ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", target="a5", a=ACC,
        d="vec, 16x16xf32, blayout=[[row|col]]_major"),
    raw("EXTRACT-TYPES", "pto.textract ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", a="vec, 8x16x[[f32|i32]]",
        d="vec, 8x16x[[f32|i32]]"),
    raw("EXTRACT-MODE", "pto.textract ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;) "
        "{accToVecMode = #pto.acc_to_vec_mode<single_mode_vec0>}", target="[[a5|a2a3]]", a=ACC, d="vec, 16x16xf32"),
    raw("INSERT-VEC-DTYPE", "pto.tinsert ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", a=A,
        d="vec, 8x16x[[f32|i32]]"),
    raw("INSERT-ACC-DTYPE", "pto.tinsert ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", a=ACC,
        d=f"mat, 16x16x[[f16|f32]], {NZ}"),
    raw("INSERT-ACC-A5", "pto.tinsert ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", target="a5", a=ACC,
        d=f"mat, 16x16xf16, [[{NZ}|{ZN}]]"),
    raw("INSERT-MODE", "pto.tinsert ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;) "
        "{tinsertMode = #pto.tinsert_mode<split2>}", target="a5", a=f"vec, 16x16xf16, {NZ}",
          d=f"[[mat|vec]], 16x16xf16, {NZ}"),
    raw("INSERT-ROWS", "pto.tinsert ins(%a, %c[[4|8]], %c0 : @a;, index, index) outs(%d : @d;)", a="vec, 4x16xf32",
        d=A),
    raw("INSERT-COLS", "pto.tinsert ins(%a, %c0, %c[[8|16]] : @a;, index, index) outs(%d : @d;)", a="vec, 8x8xf32",
        d=A),
    raw("INSERT-PAIR", "pto.tinsert ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", a=A,
        d="[[vec|mat]], 8x16xf32"),
    raw("INSERT-ACC-LAYOUT", "pto.tinsert ins(%a, %c0, %c0 : @a;, index, index) outs(%d : @d;)", a=ACC,
        d=f"mat, 16x16xf16, {NZ}, fractal=[[512|1024]]"),
    unary("FILLPAD-WIDTH", A, "vec, 8x16x[[f32|i64]], pad=1", op="tfillpad"),
    unary("FILLPAD-SHAPE", A, "vec, [[8|4]]x16xf32, pad=1", op="tfillpad"),
    unary("FILLPAD-EXPAND", "[[vec|mat]], 8x16xf32", "[[vec|mat]], 16x16xf32, pad=1", op="tfillpad"),
    raw("GETVAL-SPACE", "%x = pto.tgetval ins(%t, %c0 : @t;, index) outs : f32", t="[[vec|mat]], 8x16xf32"),
    raw("GETVAL-DTYPE", "%x = pto.tgetval ins(%t, %c0 : @t;, index) outs : [[f32|i32]]", t=A),
    unary("FILLPAD-VALUE", A, "vec, 8x16xf32, pad=[[1|0]]", op="tfillpad"),
)

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
    dps("BIAS-DTYPE", "tmatmul.bias", [LEFT, RIGHT, "bias, 1x16x[[f32|f16]]"], [ACC]),
    dps("BIAS-LAYOUT", "tmatmul.bias", [LEFT, RIGHT, "bias, 1x16xf32, blayout=[[row|col]]_major"], [ACC], target="a5"),
)

COMPUTE = (
    binary("BINARY-DTYPE", b="vec, 8x16x[[f32|i32]]"),
    binary("BINARY-VALID", b="vec, 8x16xf32, valid=[[8|4]]x16"),
    binary("BINARY-LAYOUT", b="vec, 8x16xf32, blayout=[[row|col]]_major"),
    alike("BINARY-TYPES-A3", "vec, 8x32x[[i16|i8]]"),
    alike("BINARY-TYPES-A5", "vec, 8x32x[[bf16|i64]]", target="a5"),
    alike("DIV-TYPES", "vec, 8x16x[[f32|i32]]", op="tdiv"),
    alike("BITWISE-TYPES", "vec, 8x16x[[i32|f32]]", op="tand"),
    scalar("SCALAR-SPACE", a="[[vec|mat]], 8x16xf32"),
    scalar("SCALAR-DTYPE", a="vec, 8x16x[[f32|i32]]"),
    scalar("SCALAR-COLS", a="vec, 8x16xf32, valid=8x[[16|8]]", op="tmuls"),
    scalar("SCALAR-ROWS", a="vec, 8x16xf32, valid=[[8|4]]x16"),
    scalar("SCALAR-TYPES-A3", "vec, 8x16x[[f32|i64]]", "vec, 8x16x[[f32|i64]]"),
    dps("EXPANDS-TYPE", "texpands", ["f32"], ["vec, 8x16x[[f32|f16]]"]),
    unary("FUNCTION-SPACE", a="[[vec|mat]], 8x16xf32"),
    unary("FUNCTION-TYPES", "vec, 8x16x[[f32|i32]]", "vec, 8x16x[[f32|i32]]"),
    raw("RECIP-STORAGE", "pto.trecip ins(%a : @a;) outs(%[[b|a]] : @a;)", a=A, b=A),
    alike("LOW-PRECISION", "vec, 8x32x[[i8|!pto.hif8]]", "tand", target="a5"),
    alike("SHIFT-TYPES", "vec, 8x16x[[i32|f32]]", "tshl"),
    dps("AXPY-SHAPE", "taxpy", [A, "f32"], ["vec, [[8|4]]x16xf32"]),
    binary("ADDRELU-TARGET", op="taddrelu", target="[[a2a3|a5]]"),
    row_sum("ROW-SOURCE", a="vec, 8x16xf32, blayout=[[row|col]]_major"),
    row_sum("ROW-RESULT", c=f"vec, 8x[[1|8]]xf32, valid=8x1, {DN}"),
    row_sum("ROW-DTYPE", c="vec, 8x8x[[f32|i32]], valid=8x1"),
    row_sum("ROW-TYPES", "vec, 8x16x[[f32|i64]]", "vec, 8x16x[[f32|i64]]", "vec, 8x8x[[f32|i64]], valid=8x1"),
    row_sum("ROW-VALID-ROWS", c="vec, 8x8xf32, valid=[[8|4]]x1"),
    row_sum("ROW-VALID-COL", c="vec, 8x8xf32, valid=8x[[1|2]]"),
    row_sum("ROW-EMPTY", a="vec, 8x16xf32, valid=8x[[16|0]]"),
    unary("COL-LAYOUT", c="vec, 8x16xf32, blayout=[[row|col]]_major", op="tcolmax"),
    unary("COL-DTYPE", c="vec, 8x16x[[f32|i32]]", op="tcolmax"),
    unary("COL-VALID", c="vec, 8x16xf32, valid=1x[[16|8]]", op="tcolmax"),
    unary("COL-ARG-ROW", c="vec, 8x16xi32, valid=[[1|2]]x16", op="tcolargmax"),
    unary("COLEXPAND-LAYOUT", a="[[vec|mat]], 8x16xf32", op="tcolexpand"),
    unary("COLEXPAND-VALID", a="vec, 8x16xf32, valid=1x[[16|8]]", op="tcolexpand"),
    unary("ROWSPREAD-LAYOUT", "vec, 8x8xf32", "vec, 8x16xf32, blayout=[[row|col]]_major", op="trowexpand"),
    unary("ROWSPREAD-DTYPE", "vec, 8x8x[[f32|i32]]", op="trowexpand"),
    unary("ROWSPREAD-ROWS", "vec, 8x8xf32, valid=[[8|4]]x1", op="trowexpand"),
    unary("ROWSPREAD-EMPTY", "vec, 8x8xf32, valid=8x[[1|0]]", op="trowexpand"),
    binary("ROWEXPAND-DTYPE", b="vec, 8x8x[[f32|i32]]", op="trowexpandmul"),
    binary("ROWEXPAND-LAYOUT", b="vec, 8x8xf32", c="vec, 8x16xf32, blayout=[[row|col]]_major", op="trowexpandmul"),
    binary("ROWEXPAND-VALID", a="vec, 8x16xf32, valid=8x[[16|8]]", b="vec, 8x8xf32", op="trowexpandmul"),
    binary("CMP-SPACE", c="[[vec|mat]], 8x32xi8", op="tcmp"),
    binary("CMP-DTYPE", b="vec, 8x16x[[f32|i32]]", c="vec, 8x32xi8", op="tcmp"),
    binary("CMP-TYPES", "vec, 8x16x[[f32|bf16]]", "vec, 8x16x[[f32|bf16]]", "vec, 8x32xi8", "tcmp"),
    binary("CMP-MASK", c="vec, 8x32x[[i8|i16]]", op="tcmp"),
    binary("CMP-VALID", c="vec, 8x32xi8, valid=[[8|4]]x32", op="tcmp"),
    binary("CMP-SHAPE", c="vec, 8x[[16|32]]xi8", op="tcmp", target="a5"),
    dps("CMPS-SPACE", "tcmps", [A, "f32"], ["[[vec|mat]], 8x32xi8"]),
    dps("CMPS-ROWS", "tcmps", [A, "f32"], ["vec, 8x32xi8, valid=[[8|4]]x32"]),
    dps("CARRY-SHAPE", "taddc", [A, A, "vec, [[8|4]]x16xf32"], [A]),
)

SCRATCH = (
    unary("CVT-VALID", c="vec, 8x16xi32, valid=8x[[16|8]]", op="tcvt"),
    unary("CVT-SHAPE", a="vec, 8x16xf32, valid=8x8", c="vec, 8x[[16|8]]xi32, valid=8x8", op="tcvt"),
    raw("CVT-SCRATCH", "pto.tcvt ins(%a[[, %t|]] : @a;[[, @t;|]]) outs(%d : @d;)", a=A, t=A, d="vec, 8x16xi16"),
    raw("CI-SCRATCH", "pto.tci ins(%s[[, %t|]] : i32[[, @t;|]]) outs(%d : @d;)", s="i32", t="vec, 8x32xf32",
        d="vec, 1x32xi32"),
    dps("CI-SCRATCH-BYTES", "tci", ["i32", "vec, [[8|4]]x32xf32"], ["vec, 1x32xi32"]),
    dps("CI-TYPES", "tci", ["i32", "vec, 8x32xf32"], ["vec, 1x32x[[i32|i8]]"]),
    dps("CI-START", "tci", ["[[i32|i16]]", "vec, 8x32xf32"], ["vec, 1x32xi32"]),
    dps("CI-COLS", "tci", ["i32", "vec, 8x32xf32"], ["vec, 8x[[8|1]]xi32"]),
    raw("SORT-SCRATCH", "pto.tsort32 ins(%a, %i[[, %t|]] : @a;, @i;[[, @t;|]]) outs(%d : @d;)",
        a="vec, 1x64xf32, valid=1x33",
        i="vec, 1x64xi32", t="vec, 1x64xf32", d="vec, 1x128xf32"),
    dps("SORT-TYPES", "tsort32", ["vec, 1x32x[[f32|i32]]", "vec, 1x32xi32"], ["vec, 1x64xf32"]),
    dps("SORT-INDEX", "tsort32", ["vec, 1x32xf32", "vec, 1x32x[[i32|i16]]"], ["vec, 1x64xf32"]),
    dps("SORT-SCRATCH-BYTES", "tsort32", ["vec, 1x32xf32", "vec, 1x32xi32", "vec, 1x[[32|16]]xf32"], ["vec, 1x64xf32"]),
    raw("ROW-SCRATCH", "pto.trowsum ins(%a[[, %t|]] : @a;[[, @t;|]]) outs(%d : @d;)", a=A, t=A,
        d="vec, 8x8xf32, valid=8x1"),
    row_sum("ROW-SCRATCH-DTYPE", tmp="vec, 8x16x[[f32|i32]]"),
    row_sum("ROW-SCRATCH-SPACE", tmp="[[vec|mat]], 8x16xf32"),
    row_sum("ROW-SCRATCH-BYTES", tmp="vec, 1x[[8|4]]xf32"),
    raw("COLSUM-SCRATCH", "pto.tcolsum ins(%a : @a;) outs(%d : @d;) {isBinary = [[false|true]]}", a=A, d=A),
    dps("COLSUM-BINARY", "tcolsum", [A, A], [A], inside="[[{isBinary = true}|]]"),
    dps("COLSUM-DTYPE", "tcolsum", [A, "vec, 8x16x[[f32|i32]]"], [A], inside="{isBinary = true}"),
    dps("COLSUM-STATIC", "tcolsum", ["vec, 8x16xf32, valid=[[8|?]]x16", A], [A], inside="{isBinary = true}"),
    dps("COLSUM-BYTES", "tcolsum", [A, "vec, [[4|2]]x16xf32"], [A], inside="{isBinary = true}"),
    dps("SEL-DTYPE", "tsel", ["vec, 8x32xi8", A, "vec, 8x16x[[f32|i32]]"], [A]),
    dps("SEL-LAYOUT", "tsel", ["vec, 8x32xi8", A, "vec, 8x16xf32, blayout=[[row|col]]_major"], [A]),
    dps("SEL-TYPES", "tsel", ["vec, 8x32xi8", *["vec, 8x32x[[i16|i8]]"] * 2], ["vec, 8x32x[[i16|i8]]"]),
    dps("SEL-SCRATCH", "tsel", ["vec, 8x32xi8", A, A, "vec, 8x16x[[i32|i8]]"], [A]),
    dps("SELS-DTYPE", "tsels", ["vec, 8x32xi8", "vec, 8x16x[[f32|i32]]", "f32"], [A]),
    dps("SELS-VALID", "tsels", ["vec, 8x32xi8", "vec, 8x16xf32, valid=[[8|4]]x16", "f32"], [A]),
    dps("SELS-SCRATCH", "tsels", ["vec, 8x32xi8", A, "vec, 8x16x[[f32|i32]]", "f32"], [A]),
    dps("SELS-SCRATCH-BYTES", "tsels", ["vec, 8x32xi8", A, "vec, 1x[[16|8]]xf32", "f32"], [A]),
    dps("PRELU-STATIC", "tprelu", [A, A, "vec, 16x32xi8"], ["vec, 8x16xf32, valid=[[8|?]]x16"]),
    dps("PRELU-SCRATCH", "tprelu", [A, A, "vec, 16x32x[[i8|f32]]"], [A]),
    dps("PRELU-SCRATCH-ROWS", "tprelu", [A, A, "vec, [[9|8]]x32xi8"], [A]),
    dps("BITS-TYPES", "tands", ["vec, 8x16x[[i16|i32]]", "i16"], ["vec, 8x16x[[i16|i32]]"]),
    raw("BITS-STORAGE", "pto.tands ins(%a, %s : @a;, i16) outs(%[[b|a]] : @a;)", a="vec, 8x16xi16", b="vec, 8x16xi16",
        s="i16"),
    raw("ASSIGN-UNIT", "%u = pto.tassign %t, %[[a512|a32]] : @t; -> @t;", t=ACC),
    raw("ASSIGN-LEVEL", "%u = pto.tassign %t, %a32 : @t; -> @t;", level="level2", attrs="[[pto.tileop.helper, |]]",
        t=A),
    dps("HISTOGRAM-TARGET", "thistogram", ["vec, 8x32xi16", "vec, 8x32xi32"], ["vec, 1x256xi32"], target="[[a5|a2a3]]"),
    dps("HISTOGRAM-BYTE", "thistogram", ["vec, 8x32xi16", "vec, 8x32xi32"], ["vec, 1x256xi32"],
        "{byte = [[1|2]] : i32}", target="a5"),
    dps("POW-DTYPE", "tpow", [A, "vec, 8x16x[[f32|f16]]", A], [A]),
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
    binary("CONCAT-DTYPE", b="vec, 8x16x[[f32|i32]]", c="vec, 8x32xf32", op="tconcat"),
    binary("CONCAT-ROWS", b="vec, 8x16xf32, valid=[[8|4]]x16", c="vec, 8x32xf32", op="tconcat"),
    binary("CONCAT-COLS", c="vec, 8x[[32|24]]xf32", op="tconcat"),
    unary("TRANS-DTYPE", c="vec, 16x8x[[f32|i32]]", op="ttrans"),
    unary("TRANS-LAYOUT", a="vec, 8x16xf32, blayout=[[row|col]]_major", c="vec, 16x8xf32", op="ttrans"),
    unary("TRANS-WIDTH", a="vec, 8x16x[[i32|i64]]", c="vec, 16x8x[[i32|i64]]", op="ttrans"),
    binary("PART-DTYPE", b="vec, 8x16x[[f32|i32]]", op="tpartadd"),
    alike("PART-TYPES", "vec, 8x16x[[f32|bf16]]", "tpartadd"),
    binary("PART-INSIDE", b="vec, 8x16xf32, valid=[[4|8]]x16", c="vec, 8x16xf32, valid=4x16",
        a="vec, 8x16xf32, valid=4x16", op="tpartadd"),
    binary("PART-WHOLE", a="vec, 8x16xf32, valid=[[8|4]]x16", b="vec, 8x16xf32, valid=4x16", op="tpartadd"),
    dps("EXPANDS-SPACE", "texpands", ["f32"], ["[[vec|bias]], 8x16xf32"]),
    dps("EXPANDS-TYPES", "texpands", ["[[i16|i8]]"], ["vec, 8x32x[[i16|i8]]"]),
    unary("NOT-TYPES", "vec, 8x16x[[i16|i32]]", "vec, 8x16x[[i16|i32]]", op="tnot"),
)

FIFO = (
    init("PIPE-SIDE-CUBE", PIPE, RING, kind="[[cube|vector]]"),
    init("PIPE-SIDE-VECTOR", PIPE, RING, kind="[[vector|cube]]", op="aiv"),
    init("PIPE-ID-SIGN", f"id = [[0|-1]], {PIPE}", RING),
    raw("PIPE-ID", f"pto.aic_initialize_pipe {{id = 0, {PIPE}}} ({RING})\n"
        f"    pto.aic_initialize_pipe {{id = [[1|0]], {PIPE}}} ({RING})", kind="cube", gm="!pto.ptr<f32>"),
    init("PIPE-DIRECTION", "dir_mask = [[1|4]], slot_size = 1024", RING),
    init("PIPE-SLOT-SIZE", "dir_mask = 1, slot_size = [[1024|0]]", RING),
    init("PIPE-SLOT-COUNT", f"{PIPE}, slot_num = [[2|0]]", RING),
    init("PIPE-LOCAL-SLOTS", f"{PIPE}, slot_num = 2, local_slot_num = [[2|3]]", RING),
    init("PIPE-LOCAL-TARGET", f"{PIPE}[[|, local_slot_num = 1]]", RING, target="a5"),
    init("PIPE-GM", PIPE, f"[[|gm_slot_tensor = %tv : !pto.tensor_view<8x16xf32>, ]]{RING}"),
    init("PIPE-BUFFER-C2V", PIPE, "gm_slot_buffer = %gm : !pto.ptr<f32>, [[c2v|v2c]]_consumer_buf = %z : i32"),
    init("PIPE-BUFFER-V2C", "dir_mask = 2, slot_size = 1024",
         "gm_slot_buffer = %gm : !pto.ptr<f32>, [[v2c|c2v]]_consumer_buf = %z : i32"),
    init("PIPE-EPILOGUE", f"{PIPE}, nosplit = [[true|false]], acc_push_epilogue = "
         "#pto.acc_push_epilogue<layout = nz2nd, quant = f32_f16, relu = no_relu>", RING),
    push("SPLIT-CODE", "[[4|5]]", tile=f"acc, 16x16xf32, valid=16x15, {NZ}"),
    raw("SPLIT-ODD", "pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 1024} (v2c_consumer_buf = %z : i32)\n"
        "    pto.tpush_to_aic(%t : @t;) {split = [[1|3]]}", t=A),
    push("SPLIT-ODD-RING", "3", tile=f"acc, 16x16xf32, valid=15x16, {NZ}",
        operands=f"[[gm_slot_buffer = %gm : !pto.ptr<f32>, |]]{BUF}"),
    push("SPLIT-PARITY", "1", tile=f"acc, 16x16xf32, valid=[[16|15]]x16, {NZ}"),
    raw("SPLIT-LANE", "pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 1024} (v2c_consumer_buf = %z : i32)\n"
        "    pto.tpush_to_aic(%t : @t;) {split = [[1|0]]} aiv_subblockid(%a0)", t=A),
    raw("PIPE-DEFINED",
        f"pto.aic_initialize_pipe {{id = [[0|1]], {PIPE}}} ({RING})\n    pto.tpush_to_aiv(%t : @t;) {{split = 0}}",
        kind="cube", t=ACC, gm="!pto.ptr<f32>"),
    push("PIPE-TO-VECTOR", "0", attrs="dir_mask = [[1|2]], slot_size = 1024",
         operands="c2v_consumer_buf = %z : i32, v2c_consumer_buf = %z : i32"),
    raw("PIPE-TO-CUBE", "pto.aiv_initialize_pipe {dir_mask = [[2|1]], slot_size = 1024} (c2v_consumer_buf = %z : i32, "
        "v2c_consumer_buf = %z : i32)\n    pto.tpush_to_aic(%t : @t;) {split = 0}", t=A),
    raw("POP-VALID", f"pto.aiv_initialize_pipe {{{PIPE}}} ({BUF})\n"
        "    %t = pto.tpop_from_aic(%c8, %c8) {split = 0} -> !pto.tile_buf<vec, 8x8xf32, valid=?x[[?|8]]>"),
    init("PIPE-RING", PIPE, f"[[gm_slot_buffer = %gm : !pto.ptr<f32>, |]]{BUF}"),
    raw("PIPE-PEER", '%i = pto.import_reserved_buffer {name = "b", peer_func = @peer} -> i32\n'
        "    pto.aic_initialize_pipe {dir_mask = 1, slot_size = [[1024|512]]} (gm_slot_buffer = %gm : !pto.ptr<f32>, "
        "c2v_consumer_buf = %i : i32)", kind="cube", gm="!pto.ptr<f32>", module=PEER.replace("[[b|c]]", "b").replace(
            "    return", f"    pto.aiv_initialize_pipe {{{PIPE}}} (c2v_consumer_buf = %b : i32)\n    return")),
    raw("SPLIT-MIXED", f"pto.aic_initialize_pipe {{{PIPE}}} ({RING})\n    pto.tpush_to_aiv(%t : @t;) {{split = 1}}\n"
        "    pto.tpush_to_aiv(%t : @t;) {split = [[2|0]]}", kind="cube", t=ACC, gm="!pto.ptr<f32>"),
    reserve("RESERVE-SIZE", size="[[1024|0]]"),
    reserve("RESERVE-SPACE", location="[[vec|acc]]"),
    reserve("RESERVE-NAME", name="[[b|other]]"),
    reserve("RESERVE-BASE", tail="auto = false[[, base = 0|]]"),
    reserve("RESERVE-LEVEL3", tail="auto = [[false|true]], base = 0"),
    reserve("RESERVE-UNIT", tail="auto = false, base = [[256|128]]"),
    reserve("RESERVE-FITS", tail="auto = false, base = [[195584|196608]]"),
    reserve("RESERVE-PLANNED", tail="auto = true[[|, base = 0]]", level="level2"),
    raw("IMPORT-PEER", '%i = pto.import_reserved_buffer {name = "b", peer_func = @peer} -> i32', module=PEER),
    raw("IMPORT-NAME", '%i = pto.import_reserved_buffer {name = "b", peer_func = @peer} -> i32\n'
        '    %j = pto.import_reserved_buffer {name = "[[d|b]]", peer_func = @peer} -> i32',
          module=PEER.replace("[[b|c]]", "b")),
    raw("EVENT-MODE", "pto.sync.set <PIPE_V>, 1 {ffts_mode = [[2|3]] : i32}"),
    raw("EVENT-ID", "pto.sync.set <PIPE_V>, [[15|16]]", target="a5"),
    raw("EVENT-PIPE", "pto.sync.set <PIPE_[[V|S]]>, 1", target="a5"),
    raw("CROSS-ID", "pto.set_cross_block <PIPE_V>, [[15|16]]"),
    raw("CROSS-PIPE", "pto.set_cross_block <PIPE_[[V|M]]>, 1"),
    raw("BUFFER-MODE", 'pto.get_buf "PIPE_V", 1, [[0|-1]]', target="a5"),
    raw("BUFFER-PIPE", 'pto.get_buf "PIPE_[[V|ALL]]", 1, 0', target="a5"),
    raw("SIMT-SIZE", "pto.section.simt<<<[[1|-1]], 1, 1>>> {\n    }"),
    raw("ENTRY-RESULT", "",
        module="func.func @g(%x: i32) -> i32 attributes {[[pto.noinline|pto.entry]]} {\n    return %x : i32\n  }"),
    raw("BUFFER-ID", 'pto.get_buf "PIPE_V", [[31|32]], 0', target="a5"),
    raw("SYNCALL-HARD", "pto.syncall([[|%gm : !pto.ptr<i32>]]) mode = #pto.sync_all_mode<hard>, core_type = "
        "#pto.sync_core_type<mix>", gm="!pto.ptr<i32>"),
    raw("SYNCALL-SOFT", "pto.syncall([[%gm : !pto.ptr<i32>|]]) mode = #pto.sync_all_mode<soft>, core_type = "
        "#pto.sync_core_type<mix>", gm="!pto.ptr<i32>"),
    raw("FOR-STEP", "scf.for %i = %c0 to %c8 step %[[c1|cn]] {\n    }"),
)

CASES: tuple[Case, ...] = ALLOC + MOVE + CUBE + COMPUTE + SCRATCH + SHUFFLE + FIFO
