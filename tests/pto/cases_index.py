"""Cases of the legality of gathers, scatters, histograms, merges and random numbers."""

from __future__ import annotations

from .case_builders import DN, A, Case, dps, raw

_INDEX = "vec, 8x16xi32"


def by_mask(rule: str, source: str = "vec, 8x32xf32", result: str = A, target: str = "a2a3") -> Case:
    return raw(rule, 'pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P0101>} : @a;, "row") outs(%c : @c;)',
               target=target, a=source, c=result)


def by_value(
    rule: str, source: str = A, tmp: str = A, count: str = _INDEX, mode: str = "eq", target: str = "a2a3",
    scratch: str = "yes",
) -> Case:
    extra, kind = (", %t", ", @t;") if scratch == "yes" else (scratch, scratch.replace("%t", "@t;"))
    return raw(rule, f"pto.tgather ins(%a, %k{extra} : @a;, @k;{kind}) outs(%c, %n : @c;, @n;) "
               f"{{cmpMode = #pto<cmp {mode}>}}", target=target, a=source, k="f32", t=tmp, c=_INDEX, n=count)


def histogram(rule: str, source: str = "vec, 8x32xui16", index: str = f"vec, 8x1xui8, {DN}",
              result: str = "vec, 8x256xui32") -> Case:
    return dps(rule, "thistogram", [source, index], [result], "{byte = 1 : i32}", target="a5")


def random(
    rule: str, rounds: str = "10", key: str = "i32", target: str = "a5", result: str = "vec, 8x32xi32"
) -> Case:
    return raw(rule, f"pto.trandom ins(%k, %k, %k, %k, %k, %k {{rounds = {rounds} : i32}} : {', '.join(['@k;'] * 6)}) "
               "outs(%d : @d;)", target=target, k=key, d=result)


def merge(rule: str, first: str = "1x64xf32", tmp: str = "1x128xf32", count: str = "4xi16", more: str = "") -> Case:
    kinds = more.replace("%b", "@b;")
    return raw(rule, f"pto.tmrgsort ins(%a, %b{more}, %t {{exhausted = false}} : @a;, @b;{kinds}, @t;) "
               "outs(%d, %e : @d;, @e;)", a=f"vec, {first}", b="vec, 1x64xf32", t=f"vec, {tmp}", d="vec, 1x128xf32",
               e=f"vector<{count}>")


INDEX_CASES: tuple[Case, ...] = (
    raw("GATHER-FORM", 'pto.tgather ins(%a, %i, %t : @a;, @i;, @t;) outs(%c : @c;) {[[offset = 0 : i32|axis = "row"]]}',
        a=A, i=_INDEX, t=_INDEX, c=A),
    by_mask("GATHER-MASK-FULL", result="vec, 8x16xf32, valid=8x[[16|8]]"),
    by_mask("GATHER-MASK-TYPES-A3", "vec, 8x64x[[i16|i8]]", "vec, 8x32x[[i16|i8]]"),
    by_mask("GATHER-MASK-TYPES-A5", "vec, 8x32x[[i8|i64]]", "vec, 8x16x[[i8|i64]]", "a5"),
    dps("GATHER-TYPES-A5", "tgather", ["vec, 8x16x[[f32|bf16]]", _INDEX], [A], target="a5"),
    by_value("GATHER-VALUE-FORM", scratch="[[, %t|]]"),
    by_value("GATHER-VALUE-MODE", mode="[[gt|lt]]"),
    by_value("GATHER-VALUE-TYPES", "vec, 8x16x[[f32|i16]]"),
    by_value("GATHER-VALUE-SPACE", "[[vec|mat]], 8x16xf32"),
    dps("GATHERB-WIDTH", "tgatherb", [A, "vec, 8x16xui32"], ["vec, 8x16x[[f32|i64]]"]),
    raw("SCATTER-FORM", "pto.tscatter ins(%a, %i : @a;, @i;) outs(%c : @c;) [[|{axis = \"row\"}]]", a=A, i=_INDEX, c=A),
    dps("SCATTER-WIDTH", "tscatter", [A, "vec, 8x16x[[i32|i16]]"], [A]),
    dps("CONCATIDX-COLS", "tconcatidx", [A, A, _INDEX, "vec, 8x16xi32, valid=8x[[1|0]]"], ["vec, 8x32xf32"]),
    dps("PARTARG-WHOLE", "tpartargmax",
        ["vec, 8x16xf32, valid=[[8|4]]x16", "vec, 8x16xf32, valid=4x16", _INDEX, _INDEX], [A, _INDEX]),
    dps("PARTARG-VALID", "tpartargmax", [A, A, _INDEX, "vec, 8x16xi32, valid=[[8|4]]x16"], [A, _INDEX]),
    histogram("HISTOGRAM-ROWS", result="vec, [[8|4]]x256xui32"),
    histogram("HISTOGRAM-BINS", result="vec, 8x[[256|128]]xui32"),
    histogram("HISTOGRAM-FILTER", index=f"vec, 8x[[1|2]]xui8, {DN}"),
    random("RANDOM-TARGET", target="[[a5|a2a3]]"),
    random("RANDOM-ROUNDS", rounds="[[7|8]]"),
    random("RANDOM-WORDS", key="[[i32|i64]]"),
    merge("MERGE-ROW", first="[[1|2]]x64xf32"),
    merge("MERGE-DTYPE", first="1x64x[[f32|f16]]"),
    merge("MERGE-SOURCES", more="[[|, %b, %b, %b]]"),
    merge("MERGE-SCRATCH", tmp="1x[[128|64]]xf32"),
    merge("MERGE-COUNTS", count="4x[[i16|i32]]"),
)
