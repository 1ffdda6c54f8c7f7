"""Cases of the legality of lane-wise ops outside of the common families."""

from __future__ import annotations

from .case_builders import A, Case, binary, dps, raw

_INDEX = "vec, 8x16xi32"


def column(rule: str, a: str = A, row: str = "vec, 1x16xf32", op: str = "tcolexpandmul") -> Case:
    return binary(rule, a, row, A, op)


def pair(rule: str, value: str = A, index: str = _INDEX, other: str = _INDEX) -> Case:
    return dps(rule, "tpartargmax", [value, value, index, other], [value, index])


def scatter(rule: str, source: str = A, index: str = _INDEX) -> Case:
    return dps(rule, "tscatter", [source, index], [A])


def mask(rule: str, result: str = "vec, 8x32xf32", axis: str = ', "row"') -> Case:
    return raw(rule, f"pto.tscatter ins(%a, {{maskPattern = #pto.mask_pattern<P0101>}} : @a;{axis}) outs(%c : @c;)",
               a=A, c=result)


def concat(rule: str, second: str = A, index: str = "vec, 8x8xi32, valid=8x1", target: str = "a2a3") -> Case:
    first = "vec, 8x8xi32, valid=8x1"
    return dps(rule, "tconcatidx", [A, second, first, index], ["vec, 8x32xf32"], target=target)


def shift(rule: str, tile: str = "vec, 8x16xi32", amount: str = "1") -> Case:
    return raw(rule, f"%n = arith.constant {amount} : i32\n    pto.tshls ins(%a, %n : @a;, i32) outs(%c : @c;)",
               a=tile, c="vec, 8x16xi32")


WISE_CASES: tuple[Case, ...] = (
    shift("SHIFTS-SIGN", amount="[[1|-1]]"),
    column("COLBINARY-COLS", row="vec, 1x16xf32, valid=1x[[16|8]]"),
    scatter("SCATTER-VALID", index="vec, 8x16xi32, valid=[[8|4]]x16"),
    mask("SCATTER-MASK", "vec, 8x32xf32, valid=8x[[32|16]]"),
    mask("SCATTER-MASK-AXIS", axis='[[, "row"|]]'),
    concat("CONCATIDX-ROWS", second="vec, 8x16xf32, valid=[[8|4]]x16"),
    raw("TRI-SIDE", "pto.ttri ins(%z {upperOrLower = [[1|2]] : i32} : i32) outs(%c : @c;)", c=A),
    raw("ARRAY-ELEMENT", "%a = pto.declare_local_array -> !pto.local_array<4xf32>\n"
        "    %v = pto.local_array_get %a[%c0] : !pto.local_array<4xf32> -> [[f32|i32]]"),
)
