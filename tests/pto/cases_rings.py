"""Cases of the legality of pipes as values, of entries in global memory, of scalars, pointers, structs and regions."""

from __future__ import annotations

from .case_builders import ACC, A, Case, alloc, raw, reserve
from .cases_pipes import fixpipe, pair

_VIEW = "!pto.tensor_view<16x16xf32>"
_PIPE = "dir_mask = 1, slot_size = 1024, slot_num = 8"


def ring(
    rule: str, attrs: str = _PIPE, operands: str = "%g : @g;", use: str = "", tile: str = ACC, kind: str = "cube",
    slot: str = _VIEW,
) -> Case:
    """A pipe through global memory, made as a value, and what is done with it."""
    return raw(rule, f"%p = pto.initialize_l2g2l_pipe {{{attrs}}}({operands}) -> !pto.pipe\n    {use}", kind=kind,
               g=slot, t=tile, l="i32", s="i32")


def push(rule: str, split: str = "0", lane: str = "", operands: str = "%g : @g;, %l : i32", **rest: str) -> Case:
    return ring(rule, operands=operands, use=f"pto.tpush(%t, %p : @t;, !pto.pipe) {{split = {split}}} {lane}", **rest)


def window(rule: str, attrs: str = "dir_mask = 1, slot_size = 1024", extra: str = "", entry: str = _VIEW,
           split: str = "0", slot: str = _VIEW) -> Case:
    """A cube kernel that allocates entries in global memory of a pipe by id."""
    return raw(rule, f"pto.aic_initialize_pipe {{{attrs}}} (gm_slot_tensor = %g : @g;{extra})\n"
               f"    %e = pto.talloc_to_aiv {{split = {split}}} -> {entry}", kind="cube", target="a5", g=slot)


def pop(rule: str, head: str, split: str, result: str) -> Case:
    return raw(rule, "pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %z : i32)\n"
               f"    %t = pto.tpop_from_aic{head} {{split = {split}}} -> {result}")


_TILE = "!pto.tile_buf<vec, 8x8xf32, valid=?x?>"

RINGS: tuple[Case, ...] = (
    ring("RING-DIRECTION", "dir_mask = [[1|4]], slot_size = 1024, slot_num = 8"),
    ring("RING-SLOTS", "dir_mask = 1, slot_size = 1024, slot_num = [[8|0]]"),
    ring("RING-FLAGS", f"{_PIPE}, flag_base = [[14|15]]"),
    ring("RING-LOCAL-SLOTS", f"{_PIPE}, local_slot_num = [[8|9]]", "%g : @g;, %l : i32"),
    ring("RING-PEER", "dir_mask = [[3|1]], slot_size = 1024, slot_num = 8", "%g : @g;, %l : i32, %s : i32"),
    raw("RING-PLACE", "",
        module="func.func @h(%g: !pto.ptr<f32>, %t: !pto.tile_buf<vec, 8x8xf32>) [[attributes {pto.kernel_kind = "
               "#pto.kernel_kind<vector>} |]]{\n    %p = pto.initialize_l2g2l_pipe {" + _PIPE + "}(%g : !pto.ptr<f32>)"
               " -> !pto.pipe\n    pto.tpush(%t, %p : !pto.tile_buf<vec, 8x8xf32>, !pto.pipe) {split = 0}\n    return\n"
               "  }"),
    raw("RING-HANDLE", "%p = pto.initialize_l2g2l_pipe {" + _PIPE + "}(%g : @g;) -> !pto.pipe\n"
        "    pto.tpush(%t, %[[p|q]] : @t;, !pto.pipe) {split = 0}", kind="cube", g=_VIEW, t=ACC, q="!pto.pipe"),
    push("RING-ODD", split="3", tile="acc, 16x16xf32, valid=15x16", operands="%g : @g;[[, %l : i32|]]"),
    push("RING-PARITY", split="1", tile="acc, 16x16xf32, valid=[[16|15]]x16"),
    push("RING-LANE", split="[[1|0]]", lane="aiv_subblockid(%a0)", tile=A, kind="vector"),
    push("ENTRY-LANE", split="1", lane="aiv_subblockid(%a0)", tile="[[vec|mat]], 16x16xf32", kind="vector"),
    window("ENTRY-ODD", split="[[1|3]]"),
    window("ENTRY-SLOT", entry="!pto.tensor_view<16x[[16|32]]xf32>"),
    ring("ENTRY-LOCAL", "dir_mask = 1, slot_size = [[1024|512]], slot_num = 8",
         use="%e = pto.declare_global -> @g;\n    pto.talloc(%e, %p : @g;, !pto.pipe) {split = 0}"),
    pop("POP-ODD", "[[(%c8, %c8)|]]", "3", "!pto.tile_buf<vec, 8x8xf32, valid=?x?>"),
    pop("POP-WINDOW", "(%c8, %c8)", "0", f"[[{_TILE}|{_VIEW}]]"),
    window("SLOT-TENSOR", "dir_mask = 1, slot_size = [[2048|4096]]"),
    window("SLOT-BUFFERS", "dir_mask = [[1|3]], slot_size = 1024", ", c2v_consumer_buf = %z : i32"),
    window("SLOT-LOCAL", "dir_mask = 1, slot_size = 1024[[|, local_slot_num = 1]]"),
    raw("PIPE-SIDES", "pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %z : i32)\n"
        "    pto.[[aic|aiv]]_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %z : i32)",
        kind="cube"),
    raw("PIPE-FUNCTIONS", '%b = pto.import_reserved_buffer {name = "b", peer_func = @v} -> i32\n'
        '    %d = pto.import_reserved_buffer {name = "d", peer_func = @v} -> i32\n'
        "    pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %b : i32)\n"
        "    pto.aic_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %[[d|b]] : i32)",
        kind="cube", module="func.func @v() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
        + "".join(f'    %{n} = pto.reserve_buffer {{name = "{n}", size = 8192, location = #pto.address_space<vec>, '
                  "auto = true} -> i32\n" for n in "bd")
        + "    pto.aiv_initialize_pipe {id = [[0|1]], dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %d : i32)\n"
          "    return\n  }"),
    pair("PIPE-RESERVED", buffer="[[b|z]]"),
    pair("PIPE-SPLIT-PEER", more="pto.tpush_to_aiv(%t : @t;) {id = 0, split = [[0|1]]}"),
    pair("PIPE-NOSPLIT-PEER", other="[[true|false]]"),
    reserve("RESERVE-SIGN", tail="auto = false, base = [[0|-256]]"),
    fixpipe("FIX-ALIKE", pop="%r = pto.tpop_from_aic {id = 0, split = 0} -> !pto.tile_buf<vec, 16x16xf32>\n"
            "%q = pto.tpop_from_aic {id = 0, split = 0} -> !pto.tile_buf<vec, 16x[[16|8]]xf32>"),
    fixpipe("FIX-LAYOUT", pop="%r = pto.tpop_from_aic {id = 0, split = 0} -> !pto.tile_buf<vec, 16x16xf32, "
            "blayout=[[row|col]]_major>"),
    fixpipe("FIX-RESERVED", maker='[[pto.reserve_buffer {name = "q", size = 8192, location = #pto.address_space<vec>, '
            'auto = true}|pto.import_reserved_buffer {name = "q", peer_func = @f}]]'),
    fixpipe("FIX-PRODUCER", buffer="[[b|z]]"),
    fixpipe("FIX-RELU", relu="[[no_relu|vector_relu]]"),
    fixpipe("QUANT-SCALE", quant="deqf16_scalar", source="i32", popped="f16",
            before="%s = arith.constant 1.0 : [[f32|f16]]\n    pto.set_quant_scalar(%s : [[f32|f16]]) {id = 0}"),
)

_STRUCT = "!pto.struct<f32, i8>"
_VIEW_I32 = "view 1x32xi32"


def session(rule: str, scratch: str = "vec, 1x16xi32", byte: str = "i8", attrs: str = "") -> Case:
    return raw(rule, f"%s = pto.comm.build_async_session(%t, %w : @t;, @w;) {{{attrs}}} -> !pto.async_session",
               t=scratch, w=f"!pto.ptr<{byte}>")


def flag(rule: str, text: str, target: str = "a2a3") -> Case:
    return raw(rule, text, target=target)


def mem(rule: str, layout: str = "nd", attrs: str = "coalesce = #pto<coalesce row>") -> Case:
    return raw(rule, f"%v = pto.make_tensor_view %p, shape = [%c16, %n], strides = [%n, %c1] {{layout = #pto.layout"
               f"<{layout}>}} : !pto.tensor_view<?x?xf32>\n"
               "    %m = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> "
               "-> !pto.partition_tensor_view<16x16xf32>\n    pto.mgather ins(%m, %i : !pto.partition_tensor_view"
               f"<16x16xf32>, @i;) outs(%d : @d;) {{{attrs}}}", p="!pto.ptr<f32>", n="index", i="vec, 1x16xi32",
               d="vec, 16x16xf32")


VALUES: tuple[Case, ...] = (
    alloc("ALLOC-FITS", "vec, 16x[[1024|4096]]xf32", level="level2", head=""),
    mem("GLOBAL-LAYOUT", layout="[[nd|dn]]"),
    mem("GATHER-OOB", attrs="[[coalesce = #pto<coalesce row>, |]]gatherOob = #pto<gather_oob clamp>"),
    raw("GATHER-MAT-INDEX", "pto.mgather ins(%m, %i : @m;, @i;) outs(%d : @d;) {coalesce = #pto<coalesce row>}",
        m="view 64x32xf16", i="view 1x32x[[i32|i64]]", d="mat, 32x32xf16, blayout=col_major, slayout=row_major"),
    raw("COMM-BROADCAST", "pto.comm.tbroadcast(%s, recv(%t), group(%a) : @s;, @t;, @a;) {root = 0 : i32}",
        s="view [[8|4]]x32xf32", t=A, a="view 8x32xf32"),
    raw("COMM-ACCUMULATOR", "pto.comm.treduce(%d, %c, recv(%t), group(%a) : @d;, @c;, @t;, @a;) "
        "{root = 0 : i32, reduceOp = #pto<reduce_op sum>}", d="view 8x32xf32", c="vec, [[8|4]]x16xf32", t=A,
        a="view 8x32xf32"),
    raw("COMM-POSITIVE", "pto.comm.tnotify(%s, %z : @s;, i32) {notifyOp = #pto<notify_op set>}",
        s="view [[1|0]]x8xi32"),
    raw("SCALAR-ELEMENT", "%x = pto.load_scalar %p[%c0] : @p; -> [[f32|i32]]", p="!pto.ptr<f32>"),
    raw("POINTER-NUMBER", "%x = pto.ptrtoint %p : @p; -> [[i64|i32]]", p="!pto.ptr<f32>"),
    raw("POINTER-CAST", "%x = pto.castptr %p : @p; -> !pto.ptr<i8, [[gm|vec]]>", p="!pto.ptr<f32>"),
    raw("ARRAY-RANK", "%x = pto.declare_local_array -> !pto.local_array<4x[[|2x]]f32>\n"
        "    %y = pto.local_array_get %x[%c0] : !pto.local_array<4x[[|2x]]f32> -> f32"),
    raw("CACHE-SPACE", "pto.cmo.cacheinvalid all #pto.address_space<[[gm|vec]]>"),
    flag("BUFFER-DYN-MODE", 'pto.get_buf_dyn "PIPE_V", %c0, [[0|-1]]', "a5"),
    flag("BUFFER-DYN-PIPE", 'pto.get_buf_dyn "PIPE_[[V|ALL]]", %c0, 0', "a5"),
    flag("CROSS-MODE", "pto.set_cross_block <PIPE_V>, 1 {ffts_mode = [[0|1]] : i32}"),
    flag("LANE-PIPE", "pto.set_intra_block <PIPE_[[V|M]]>, 1"),
    flag("LANE-ID-A3", "pto.set_intra_block <PIPE_V>, [[15|16]]"),
    flag("LANE-ID-A5", "pto.set_intra_block <PIPE_V>, [[31|32]]", "a5"),
    raw("FLAG-BASE", "[[pto.set_ffts %p : @p;|]]\n    pto.sync.set <PIPE_V>, 1", p="!pto.ptr<i64>"),
    raw("FLAG-BASE-TYPE", "pto.set_ffts %p : @p;", p="!pto.ptr<[[i64|f32]]>"),
    raw("SYNCALL-CORES", "pto.syncall([[|%g, %z : @g;, i32]]) mode = #pto.sync_all_mode<hard>, core_type = "
        "#pto.sync_core_type<mix>", g="!pto.ptr<i32>"),
    raw("SYNCALL-SPACE", "pto.syncall(%g : @g;) mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<mix>",
        g="!pto.ptr<i32, [[gm|vec]]>"),
    raw("SIMT-NESTED", "pto.section.simt<<<1, 1, 1>>> {\n    [[|pto.section.simt<<<1, 1, 1>>> {\n    }]]\n    }",
        target="a5"),
    raw("PREFETCH-CONTEXT", "%x = pto.make_prefetch_async_context(%w : @w;) -> !pto.prefetch_async_context",
        w="!pto.ptr<[[i8|i32]]>"),
    raw("PREFETCH-FLAT", "%x = pto.tprefetch_async(%s, %c : @s;, @c;) -> !pto.async_event", s="view [[1|2]]x32xf32",
        c="!pto.prefetch_async_context"),
    session("SESSION-SCRATCH", scratch="[[vec|mat]], 1x16xi32"),
    session("SESSION-WORKSPACE", byte="[[i8|i32]]"),
    session("SESSION-NUMBERS", attrs="sync_id = [[7|8]] : i32"),
    raw("STRUCT-RANGE",
        f"%x = pto.declare_struct -> {_STRUCT}\n    %y = pto.struct_get %x[ [[0|2]]] : {_STRUCT} -> f32"),
    raw("STRUCT-FIELD",
        f"%x = pto.declare_struct -> {_STRUCT}\n    %y = pto.struct_get %x[0] : {_STRUCT} -> [[f32|i8]]"),
    raw("SUB-ARGUMENT", "%a = pto.alloc_tile addr = %a0 : @t;\n"
        "    %s = pto.subview %[[a|t]][%c0, %c0] sizes [4, 8] : @t;", t="vec, 8x8xf32"),
)

RING_CASES: tuple[Case, ...] = RINGS + VALUES
