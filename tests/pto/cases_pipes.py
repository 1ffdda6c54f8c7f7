"""Cases of the legality of fixpipe pipes, communication, pointers, structs and size-dependent scratch."""

from __future__ import annotations

from .case_builders import DN, NZ, ZN, ZZ, A, Case, dps, raw

_RESERVE = 'pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = true}'


def fixpipe(
    rule: str, quant: str = "no_convert", source: str = "f32", popped: str = "f32", peer_quant: str = "",
    slot: str = "1024", split: str = "0", before: str = "", pop: str = "", buffer: str = "", extra: str = "",
    consumer: str = "", target: str = "a5", id: str = "0", relu: str = "no_relu", maker: str = "",
) -> Case:
    """A cube kernel that pushes an accumulator through the fixpipe to a vector kernel; holes stand in the arguments."""
    head = "id = 0, dir_mask = 1, slot_size = {slot}, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue" \
           "<layout = nz2nd, quant = {quant}, relu = " + relu + ">"
    end = "(c2v_consumer_buf = %{b} : i32, v2c_consumer_buf = %z : i32) {extra}"
    acc = f"!pto.tile_buf<acc, 16x16x{source}, {NZ}, fractal=1024>"
    cube = "\n    ".join((
        '%b = pto.import_reserved_buffer {name = "q", peer_func = @g} -> i32',
        "pto.aic_initialize_pipe {" + head.format(slot=slot, quant=quant) + "} "
        + end.format(b=buffer or "b", extra=extra),
        before,
        f"%t = pto.alloc_tile addr = %a0 : {acc}",
        f"pto.tpush_to_aiv(%t : {acc}) {{id = {id}, split = {split}}}",
    ))
    tile = f"!pto.tile_buf<vec, 16x16x{popped}>"
    take = pop or f"%r = pto.tpop_from_aic {{id = 0, split = 0}} -> {tile}"
    vector = "\n    ".join((
        "func.func @g() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {",
        "%z = arith.constant 0 : i32",
        f"%b = {maker or _RESERVE} -> i32",
        consumer or "pto.aiv_initialize_pipe {" + head.format(slot=slot, quant=peer_quant or quant) + "} "
        + end.format(b="b", extra=""),
        take, "return", "}",
    ))
    return raw(rule, cube, target=target, kind="cube", module=vector, level="level2")


def pair(rule: str, nosplit: str = "true", buffer: str = "b", other: str = "", more: str = "") -> Case:
    """A cube kernel that initialises and a vector kernel that initialises and pops, without a split."""
    head = "pto.{}_initialize_pipe {{id = 0, dir_mask = 1, slot_size = 1024, nosplit = {}}} " \
           "(c2v_consumer_buf = %{} : i32)"
    vector = "\n    ".join((
        "func.func @g() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {",
        '%b = pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32',
        '%d = pto.reserve_buffer {name = "o", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32',
        "%z = arith.constant 0 : i32", head.format("aiv", other or nosplit, buffer),
        "%r = pto.tpop_from_aic {id = 0, split = 0} -> !pto.tile_buf<vec, 16x16xf32>",
        "return", "}"))
    cube = '%b = pto.import_reserved_buffer {name = "q", peer_func = @g} -> i32'
    return raw(rule, "\n    ".join((cube, head.format("aic", nosplit, "b"), more)), target="a5", kind="cube",
               module=vector, level="level2", t=f"acc, 16x16xf32, {NZ}")


def vector_parameters(rule: str, dtype: str, target: str, space: str = "scaling", id: str = "0") -> Case:
    tile = f"!pto.tile_buf<{space}, 1x32x{dtype}>"
    before = f"%q = pto.alloc_tile : {tile}\n    pto.set_quant_vector(%q : {tile}) {{id = {id}}}"
    return fixpipe(rule, quant="deqf16_vec", source="i32", popped="f16", before=before, target=target)


FIXPIPE = (
    pair("PIPE-PAIR", buffer="[[b|d]]"),
    pair("PIPE-NOSPLIT", nosplit="[[true|false]]"),
    raw("PIPE-ENTRY", "%p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0}"
        "(%g : @g;) -> !pto.pipe\n    %e = pto.declare_global -> !pto.tensor_view<16x[[16|32]]xf32>\n"
        "    pto.talloc(%e, %p : !pto.tensor_view<16x[[16|32]]xf32>, !pto.pipe) {split = 0}", kind="cube",
        g="!pto.tensor_view<16x16xf32>"),
    fixpipe("FIX-TRACE", buffer="[[b|z]]"),
    fixpipe("FIX-PEER", consumer='pto.aiv_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024, nosplit = true, '
            "acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>} "
            "(c2v_consumer_buf = %[[b|z]] : i32, v2c_consumer_buf = %z : i32)"),
    fixpipe("FIX-CONTRACT", peer_quant="[[no_convert|f32_f16]]"),
    fixpipe("FIX-POP", pop="%r = pto.tpop_from_aic {id = [[0|1]], split = 0} -> !pto.tile_buf<vec, 16x16xf32>"),
    fixpipe("FIX-RESULT", quant="f32_f16", popped="[[f16|bf16]]"),
    fixpipe("FIX-TYPES", popped="[[f32|i32]]"),
    fixpipe("FIX-SLOT", slot="[[1024|1000]]"),
    fixpipe("FIX-SOURCE", quant="f32_f16", source="[[f32|i32]]", popped="f16"),
    fixpipe("FIX-SPLIT", split="[[0|1]]"),
    fixpipe("FIX-QUANT", quant="deqf16_scalar", source="i32", popped="f16",
            before="%s = arith.constant 1.0 : f32\n    pto.set_quant_scalar(%s : f32) {id = [[0|1]]}"),
    fixpipe("FIX-TARGET", quant="[[f32_f16|qf322hif8_pre_scalar]]", popped="[[f16|!pto.hif8]]", target="a2a3"),
    fixpipe("QUANT-PIPE", quant="[[deqf16_scalar|f32_f16]]", source="[[i32|f32]]", popped="f16",
            before="%s = arith.constant 1.0 : f32\n    pto.set_quant_scalar(%s : f32) {id = 0}"),
    vector_parameters("QUANT-TILE-SPACE", "f32", "a5", "[[scaling|vec]]"),
    vector_parameters("QUANT-TYPES-A3", "[[i64|f32]]", "a2a3"),
    vector_parameters("QUANT-TYPES-A5", "[[f32|i64]]", "a5"),
)


def transfer(rule: str, dst: str, src: str) -> Case:
    return raw(rule, f"pto.comm.tput(%d, %s, buf(%t) : {dst}, {src}, @t;) "
               "{atomicType = #pto<atomic_type atomic_none>}", d=dst, s=src, t=A)


_STRUCT = "!pto.struct<f32, i8>"
_NEST = "!pto.struct<!pto.struct<f32, i8>, i16>"

MISC = (
    raw("COMM-STATIC", "pto.comm.tnotify(%s, %z : @s;, i32) {notifyOp = #pto<notify_op set>}",
        s="!pto.partition_tensor_view<[[1|?]]xi32>"),
    transfer("COMM-DYNAMIC", "!pto.[[partition_|]]tensor_view<?x32xf32>", "!pto.[[partition_|]]tensor_view<?x32xf32>"),
    transfer("COMM-SHAPE", "!pto.partition_tensor_view<?x32xf32>", "!pto.partition_tensor_view<?x[[32|16]]xf32>"),
    transfer("COMM-DTYPE", "!pto.partition_tensor_view<8x32xf32>", "!pto.partition_tensor_view<8x32x[[f32|i32]]>"),
    raw("COMM-FLAT", "%e = pto.comm.tput_async(%d, %s, %x : @d;, @s;, !pto.async_session) -> !pto.async_event",
        d="view [[1|4]]x32xf32", s="view 1x32xf32", x="!pto.async_session"),
    raw("CACHE-LINE", "pto.cmo.cacheinvalid %p single_cache_line : @p;", p="!pto.ptr<i32, [[gm|vec]]>"),
    raw("POINTER-TYPE", "%p = pto.inttoptr %a0 : i64 -> !pto.ptr<[[i32|index]]>"),
    raw("POINTER-USE", "%p = pto.inttoptr %a0 : i64 -> !pto.ptr<i32>\n    [[%v = pto.load_scalar %p[%c0] : "
        "!pto.ptr<i32> -> i32|%v = pto.addptr %p, %c1 : !pto.ptr<i32> -> !pto.ptr<i32>]]"),
    raw("STRUCT-ESCAPE", f"%r = scf.if %b -> ([[f32|{_STRUCT}]]) {{\n%s = pto.declare_struct -> {_STRUCT}\n"
        f"[[%v = pto.struct_get %s[0] : {_STRUCT} -> f32|]]\nscf.yield %[[v|s]] : [[f32|{_STRUCT}]]\n}} else {{\n"
        f"%s = pto.declare_struct -> {_STRUCT}\n[[%v = pto.struct_get %s[0] : {_STRUCT} -> f32|]]\n"
        f"scf.yield %[[v|s]] : [[f32|{_STRUCT}]]\n}}", b="i1"),
    raw("STRUCT-ARGUMENT", "", s="!pto.[[ptr<f32>|struct<f32, i8>]]"),
    raw("STRUCT-SELECT", f"%x = pto.declare_struct -> {_STRUCT}\n    [[%s = arith.select %b, %c0, %c1 : index|"
        f"%s = arith.select %b, %x, %x : {_STRUCT}]]", b="i1"),
    raw("STRUCT-PATH", f"%x = pto.declare_struct -> {_NEST}\n"
        f"    %s = pto.struct_get %x[0[[, 0|]]] : {_NEST} -> [[f32|{_STRUCT}]]"),
    dps("PREFETCH-TYPES", "tprefetch", ["view 8x32x[[f32|!pto.hif8]]"], ["vec, 8x32x[[f32|i8]]"]),
    raw("CALL-RECURSION", "func.call @[[h|k]]() : () -> ()",
        module="func.func @h() {\n    return\n  }\n  func.func @k() {\n    func.call @h() : () -> ()\n"
               "    [[|func.call @k() : () -> ()]]\n    return\n  }"),
    raw("HELPER-SYNC", "pto.barrier #pto.pipe<PIPE_V>", attrs="[[|pto.tileop.helper, ]]"),
    raw("SIMT-ENTRY", "pto.section.simt<<<1, 1, 1>>> {\n    }", attrs="[[|pto.simt_entry, ]]", target="a5"),
    raw("SLOT-ADDRESSES", "%m = pto.alloc_multi_tile [[|{pto.multi_buffer_addrs = array<i64: 0, 512>} ]]: "
        "!pto.multi_tile_buf<!pto.tile_buf<vec, 8x16xf32>, count=2>", level="level2"),
)

_ROW = f"vec, 8x1xf32, {DN}"
_COLUMN = f"vec, 8x1xf32, valid=8x1, {DN}"


def row_arg(rule: str, tmp: str, source: str = "vec, 8x16xf32") -> Case:
    return dps(rule, "trowargmax", [source, tmp], ["vec, 8x8xi32, valid=8x1"])


def col_arg(rule: str, tmp: str, source: str = "vec, 8x16xf32") -> Case:
    return dps(rule, "tcolargmax", [source, tmp], ["vec, 1x16xi32"])


def expand(rule: str, source: str = _ROW, tmp: str = "vec, 8x8xf32") -> Case:
    return dps(rule, "trowexpandmul", [A, source, tmp], [A])


def merge(rule: str, result: str, tmp: str) -> Case:
    one = "vec, 1x64xf32"
    return raw(rule, "pto.tmrgsort ins(%a, %b, %t {exhausted = false} : @a;, @b;, @t;) outs(%d, %e : @d;, @e;)",
               a=one, b=one, t=f"vec, 1x{tmp}xf32", d=f"vec, 1x{result}xf32", e="vector<4xi16>")


def quantise(rule: str, source: str = "vec, 8x32xf32", scale: str = _COLUMN, offset: str = "") -> Case:
    result = "vec, 8x32xi8"
    kind = "ASYM" if offset else "SYM"
    return dps(rule, "tquant", [source, scale, *([offset] if offset else [])], [result],
               f"{{quant_type = #pto<quant_type INT8_{kind}>}}")


TEMPS = (
    col_arg("COLARG-SCRATCH", "vec, 1x16xf32, valid=1x[[16|15]]", "vec, 8x16xf32"),
    row_arg("ROWARG-SCRATCH-SMALL", "vec, 8x8xf32, valid=8x[[2|1]]"),
    row_arg("ROWARG-SCRATCH", "vec, 8x16xf32, valid=8x[[16|8]]", "vec, 8x128xf32"),
    dps("PRELU-SCRATCH-COLS", "tprelu", [A, A, "vec, 9x32xui8, valid=9x[[2|1]]"], [A]),
    dps("POW-PRECISION", "tpow", [A, A, A], [A], "{precisionType = #pto<pow_precision [[default|high_precision]]>}"),
    dps("HISTOGRAM-LEGACY", "thistogram", ["vec, 8x32xui16", "vec, 8x1xui8, blayout=col_major"], ["vec, 8x256xui32"],
        "{byte = 1 : i32, isMSB = [[true|false]]}", target="a5"),
    dps("CVT-LOW-A3", "tcvt", ["vec, 8x32xf32"], ["vec, 8x32x[[f16|f8E4M3FN]]"]),
    dps("CVT-LOW-A5", "tcvt", ["vec, 8x32x[[f32|f16]]"], ["vec, 8x32xf8E4M3FN"], target="a5"),
    quantise("QUANT-SCALES", scale=f"vec, 8x[[1|8]]xf32, valid=8x1[[, {DN}|]]"),
    quantise("QUANT-OFFSETS", offset=f"vec, 8x[[1|8]]xf32, valid=8x1[[, {DN}|]]"),
    dps("FILLPAD-MAT", "tfillpad", [f"mat, 16x32xf16, {NZ}"], [f"mat, 16x32xf16, valid=[[16|8]]x32, {NZ}"]),
    raw("GATHER-MAT", "pto.mgather ins(%m, %i : @m;, @i;) outs(%d : @d;) {coalesce = #pto<coalesce row>}",
        m="view 64x32xf16", i="!pto.[[partition_tensor_view<1x32xi32>|tile_buf<vec, 1x32xi32>]]",
        d=f"mat, 32x32xf16, {NZ}"),
    dps("MX-SCALE-GEMV", "tgemv.mx",
        [f"left, 1x128xf8E4M3FN, {NZ}", f"scaling, 1x[[4|128]]xf16, {ZZ}, fractal=32", f"right, 128x32xf8E5M2, {ZN}",
         "scaling, 4x32xf16, blayout=col_major, slayout=col_major, fractal=32"],
        [f"acc, 1x32xf32, {NZ}, fractal=1024"], target="a5"),
)

PIPE_CASES: tuple[Case, ...] = FIXPIPE + MISC + TEMPS

