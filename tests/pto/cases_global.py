"""Cases of the legality of gathers and scatters of global memory, of communication, merges and dequantisation."""

from __future__ import annotations

from .case_builders import DN, NZ, A, Case, dps, raw

_ROW_INDEX = "vec, 1x32xi32"
_NZ_TILE = f"mat, 32x32xf16, {NZ}"


def gather(
    rule: str, data: str = "vec, 32x64xf32", idx: str = _ROW_INDEX, mem: str = "view 64x64xf32",
    coalesce: str = "{coalesce = #pto<coalesce row>}", scratch: str = "", level: str = "level3",
) -> Case:
    extra, kinds = (", %s", ", @s;") if scratch else ("", "")
    return raw(rule, f"pto.mgather ins(%m, %i{extra} : @m;, @i;{kinds}) outs(%d : @d;) {coalesce}", level=level,
               m=mem, i=idx, d=data, s=scratch or "i32")


def scatter(
    rule: str, attrs: str, src: str = "vec, 32x64xf32", mem: str = "view 64x64xf32", target: str = "a2a3"
) -> Case:
    return raw(rule, f"pto.mscatter ins(%d, %i : @d;, @i;) outs(%m : @m;) {{coalesce = #pto<coalesce row>{attrs}}}",
               target=target, m=mem, i=_ROW_INDEX, d=src)


GLOBAL = (
    gather("GLOBAL-TILE", data="vec, 32x64xf32[[|, blayout=col_major]]"),
    gather("GLOBAL-DTYPE", mem="view 64x64x[[f32|i32]]"),
    gather("GLOBAL-INDEX-TILE", idx="[[vec|mat]], 1x32xi32"),
    gather("GLOBAL-INDEX-SHAPE", idx="vec, 1x32xi32, valid=1x[[32|31]]"),
    gather("GLOBAL-WINDOW", mem="!pto.[[partition_|]]tensor_view<64x64xf32>"),
    gather("GATHER-MAT-LAYOUT", data=f"mat, 32x32xf16, {NZ}[[|, fractal=1024]]", idx="view 1x32xi32",
           mem="view 64x32xf16"),
    gather("GATHER-MAT-SCRATCH", data=_NZ_TILE, idx="view 1x32xi32", mem="view 64x32xf16", scratch="view 32x32xf16",
           coalesce="{coalesce = #pto<coalesce [[elem|row]]>}"),
    scatter("SCATTER-CONFLICT", "[[|, scatterConflict = #pto<scatter_conflict last>]]"),
    scatter("SCATTER-ATOMIC", ", scatterAtomicOp = #pto<scatter_atomic_op [[add|max]]>", "vec, 32x64xf16",
            "view 64x64xf16"),
)


def put(rule: str, ping: str = A, pong: str = A) -> Case:
    return raw(rule, "pto.comm.tput(%d, %s, buf(%t, %u) : @d;, @s;, @t;, @u;) "
               "{atomicType = #pto<atomic_type atomic_none>}", d="view 8x32xf32", s="view 8x32xf32", t=ping, u=pong)


def broadcast(rule: str, root: str = "0", member: str = "view 8x32xf32") -> Case:
    return raw(rule, f"pto.comm.tbroadcast(%s, recv(%t), group(%a, %b) : @s;, @t;, @a;, @b;) {{root = {root} : i32}}",
               s="view 8x32xf32", t=A, a="view 8x32xf32", b=member)


def notify(rule: str, signal: str = "i32", value: str = "i32") -> Case:
    return raw(rule, "pto.comm.tnotify(%s, %v : @s;, @v;) {notifyOp = #pto<notify_op set>}",
               s=f"!pto.partition_tensor_view<1x{signal}>", v=value)


COMM = (
    put("COMM-STAGING", "[[vec|mat]], 8x16xf32", "[[vec|mat]], 8x16xf32"),
    put("COMM-STAGING-DTYPE", "vec, 8x16x[[f32|i32]]", "vec, 8x16x[[f32|i32]]"),
    put("COMM-PONG", pong="vec, [[8|4]]x16xf32"),
    broadcast("COMM-GROUP", member="view [[8|4]]x32xf32"),
    broadcast("COMM-ROOT", root="[[1|2]]"),
    notify("COMM-SIGNAL", signal="[[i32|f32]]"),
    notify("COMM-VALUE", value="[[i32|i64]]"),
    raw("SYNCALL-WORKSPACE", "pto.syncall(%w : @w;) mode = #pto.sync_all_mode<soft>, core_type = "
        "#pto.sync_core_type<mix>", w="view [[16|15]]xi32"),
)


def dequantise(rule: str, source: str = "vec, 8x32xi8", scale: str = "f32") -> Case:
    return dps(rule, "tdequant", [source, f"vec, 8x1x{scale}, {DN}", f"vec, 8x1xf32, {DN}"], ["vec, 8x32xf32"])


def quantise_mx(rule: str, exponent: str = "i8", target: str = "a5") -> Case:
    return dps(rule, "tquant.mx", ["vec, 8x64xf32"],
               ["vec, 8x64xi8", f"vec, 1x32x{exponent}", "vec, 1x16xf32", "vec, 1x16xf32"],
               "{quant_type = #pto<quant_type MXFP8>}", target=target)


def blocks(rule: str, source: str = "1x256xf32", result: str = "1x256xf32", length: str = "%n") -> Case:
    return raw(rule, "%n = arith.constant [[64|65]] : i32\n"
               f"    pto.tmrgsort ins(%a, {length} : @a;, i32) outs(%d : @d;)", a=f"vec, {source}", d=f"vec, {result}")


OTHERS = (
    quantise_mx("QUANT-MX-TARGET", target="[[a5|a2a3]]"),
    blocks("MERGE-TYPES", source="1x256x[[f32|i32]]", result="1x256x[[f32|i32]]"),
    blocks("MERGE-COLS", source="1x[[256|128]]xf32"),
    blocks("MERGE-BLOCK"),
)

GLOBAL_CASES: tuple[Case, ...] = GLOBAL + COMM + OTHERS
