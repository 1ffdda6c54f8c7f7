"""One passing and one violating kernel for each rule; the two texts differ in one field."""

from __future__ import annotations

from dataclasses import dataclass

from tests.verifiers.kernels import alloc, fill, given, kernel, load, out, store, tile, unary, view, window

MAT = tile(32, 64, "f16", "mat", "col_major", "row_major")
VEC = tile()
SMALL = tile(16, 64, valid=("16", "64"))


@dataclass(frozen=True, slots=True)
class Pair:
    """`good` holds, `bad` is refuted by the rule and by nothing in common with `good`. `outputs`: arguments of `@k`
    that the author declared as written only; `strict`: checked with the stricter readings; `assume`: with these."""

    good: str
    bad: str
    chip: str = "a2a3"
    outputs: tuple[str, ...] = ()
    strict: bool = False
    assume: tuple[str, ...] = ()


def _alive(last: str) -> str:
    """Tiles a, b and c of 64 KiB without addresses: c is filled after a was read, and `last` is read after c and b."""
    large, row = tile(256, 64), tile(1, 64)

    def filled(name: str) -> list[str]:
        return [alloc(name, large, None, "c256"), fill(name, large)]

    def read(name: str) -> str:
        return f"pto.tcolmax ins(%{name} : {large}) outs(%d : {row})"

    return kernel("\n".join((
        "%c256 = arith.constant 256 : index", alloc("d", row, None, "c1"), *filled("a"), *filled("b"), read("a"),
        *filled("c"), read("c"), read("b"), read(last))))


def _alloc_only(type_: str, address: int | None = 0, more: str = "") -> str:
    return kernel(alloc("t", type_, address) + "\n" + more)


def _tail(size: str) -> str:
    """A loop over a tensor of M rows in steps of 32; `size` is the rows of each window: %c32, or %n = min(32, M -
    i)."""
    return kernel("\n".join((
        view("a", "p", "M"), view("o", "q", "M"),
        "scf.for %i = %c0 to %M step %c32 {",
        "%left = arith.subi %M, %i : index",
        "%n = arith.minsi %left, %c32 : index",
        alloc("t", VEC, rows=size),
        window("w", "a", "%i, %c0", f"%{size}, %c64"), load("w", "t", VEC),
        window("v", "o", "%i, %c0", f"%{size}, %c64"), store("t", "v", VEC),
        "}")), "%M: index")


def _offset(lower: str) -> str:
    """A loop from `lower` whose offset is i - 1."""
    return kernel("\n".join((
        view("a", "p", "c128"),
        f"scf.for %i = %{lower} to %c64 step %c1 {{",
        "%o = arith.subi %i, %c1 : index",
        alloc("t", VEC),
        window("w", "a", "%o, %c0", "%c32, %c64"), load("w", "t", VEC), out("t", VEC),
        "}")))


def _clamped(test: str) -> str:
    """A loop from 0 whose offset is i - 1, of a compiler that clamps it to 0; `test`: how i compares with 0."""
    return kernel("\n".join((
        view("a", "p", "c128"),
        "scf.for %i = %c0 to %c64 step %c1 {",
        f"%later = arith.cmpi {test}, %i, %c0 : index", "scf.if %later {",
        "%before = arith.subi %i, %c1 : index", "%o = arith.maxsi %before, %c0 : index",
        alloc("t", VEC),
        window("w", "a", "%o, %c0", "%c32, %c64"), load("w", "t", VEC), out("t", VEC),
        "}", "}")))


def _size(low: str) -> str:
    """A window of max(M - 32, low) rows."""
    return kernel("\n".join((
        view("a", "p", "M"),
        "%less = arith.subi %M, %c32 : index",
        f"%n = arith.maxsi %less, %{low} : index",
        alloc("t", VEC),
        window("w", "a", "%c0, %c0", "%n, %c64"),
        load("w", "t", VEC), out("t", VEC))), "%M: index")


def _subview(row: str = "c16", col: str = "c0", source: str = VEC, result: str = SMALL, sizes: str = "16, 64") -> str:
    return kernel("\n".join((
        alloc("t", source),
        f"%v = pto.subview %t[%{row}, %{col}] sizes [{sizes}] : {source} -> {result}")))


def _subview_loop(lower: str) -> str:
    return kernel("\n".join((
        alloc("t", VEC),
        f"scf.for %i = %{lower} to %c16 step %c1 {{",
        "%o = arith.subi %i, %c1 : index",
        f"%v = pto.subview %t[%o, %c0] sizes [16, 64] : {VEC} -> {SMALL}",
        "}")))


def _boxed_subview(col: str) -> str:
    part = tile(16, 16, "f16", "mat", "col_major", "row_major", valid=("16", "16"))
    return _subview("c16", col, MAT, part, "16, 16")


def _reshape(rows: int) -> str:
    flat = tile(rows, 32, valid=(str(rows), "32"))
    return kernel("\n".join((
        alloc("t", VEC), fill("t", VEC), f"%v = pto.treshape %t : {VEC} -> {flat}", out("v", flat, f"c{rows}", "c32"))))


def _reshape_of_view(cols: int) -> str:
    part = tile(16, cols, valid=("16", str(cols)))
    whole = tile(8, 2 * cols, valid=("8", str(2 * cols)))
    return kernel("\n".join((
        alloc("t", VEC), given("t", VEC),
        f"%v = pto.subview %t[%c0, %c0] sizes [16, {cols}] : {VEC} -> {part}",
        f"%r = pto.treshape %v : {part} -> {whole}", out("r", whole, "c8", f"c{2 * cols}"))))


def _slot(divisor: str) -> str:
    region = f"!pto.multi_tile_buf<{VEC}, count=2>"
    return kernel("\n".join((
        f"%m = pto.alloc_multi_tile valid_row = %c32 valid_col = %c64 : {region}",
        "scf.for %i = %c0 to %c8 step %c1 {",
        f"%s = arith.remsi %i, %{divisor} : index",
        f"%t = pto.multi_tile_get %m[%s] : {region} -> {VEC}",
        fill("t", VEC), out("t", VEC),
        "}")))


def _two(first: int | None, second: int | None) -> str:
    return kernel("\n".join((alloc("t", VEC, first), alloc("u", VEC, second))))


def _sum(second: int) -> str:
    """Two tiles loaded, then added; the second one lies at `second`."""
    return kernel("\n".join((
        view("a", "p", "c64"),
        alloc("x", VEC, 0), window("w", "a", "%c0, %c0", "%c32, %c64", "32x64"), load("w", "x", VEC, "32x64"),
        alloc("y", VEC, second), window("v", "a", "%c32, %c0", "%c32, %c64", "32x64"), load("v", "y", VEC, "32x64"),
        alloc("z", VEC, 65536),
        f"pto.tadd ins(%x, %y : {VEC}, {VEC}) outs(%z : {VEC})", out("z", VEC))))


def _ring(address: int) -> str:
    return kernel("\n".join((
        '%r = pto.reserve_buffer {name = "ring", size = 8192, location = #pto.address_space<vec>, '
        "auto = false, base = 0} -> i32",
        alloc("t", VEC, address), fill("t", VEC), out("t", VEC))))


def _in_place(destination: int) -> str:
    """A reciprocal, which is not safe in place."""
    return kernel("\n".join((
        alloc("x", VEC, 0), given("x", VEC), alloc("y", VEC, destination), unary("trecip", "x", "y", VEC),
        out("y", VEC))))


def _stored(source: str) -> str:
    """%x is written, %y is not; one of them is stored."""
    return kernel("\n".join((
        view("o", "q", "c32"),
        alloc("x", VEC, 0), fill("x", VEC), alloc("y", VEC, 8192),
        window("w", "o", "%c0, %c0", "%c32, %c64", "32x64"), store(source, "w", VEC, "32x64"))))


def _valid(rows: str, low: str = "c0") -> str:
    """A tile of 32 rows with min(M, 32), M, or max(M - 32, low) valid rows."""
    return kernel("\n".join((
        view("a", "p", "M"),
        "%cut = arith.minsi %M, %c32 : index",
        "%less = arith.subi %cut, %c32 : index",
        f"%more = arith.maxsi %less, %{low} : index",
        alloc("t", VEC, rows=rows))), "%M: index")


def _negated(rows: str) -> str:
    """x has 16 valid rows; its negation is declared with `rows`."""
    return kernel("\n".join((
        alloc("x", VEC, 0, rows="c16"), fill("x", VEC),
        alloc("y", VEC, 8192, rows=rows), unary("tneg", "x", "y", VEC), out("y", VEC, rows))))


def _loaded(rows: str) -> str:
    return kernel("\n".join((
        view("a", "p", "c64"), alloc("t", VEC, 0, rows=rows), window("w", "a", "%c0, %c0", "%c32, %c64", "32x64"),
        load("w", "t", VEC, "32x64"), out("t", VEC, rows))))


def _product(inner: str = "c64", right: str = "", acc_type: str = "f32", layout: str = "row_major") -> str:
    """A 32 x 64 by 64 x 32 product; the right tile declares `inner` valid rows."""
    left = tile(32, 64, "f16", "left", "row_major", "row_major")
    right = right or tile(64, 32, "f16", "right", layout, "col_major")
    acc = tile(32, 32, acc_type, "acc", "col_major", "row_major", 1024)
    return kernel("\n".join((
        alloc("l", left, 0), alloc("r", right, 0, inner, "c32"), alloc("c", acc, 0, "c32", "c32"),
        f"pto.tmatmul ins(%l, %r : {left}, {right}) outs(%c : {acc})")), kind="cube")


def _multiplied(layout: str) -> str:
    """A product of what two tensors hold, stored; `layout`: how the boxes of the right tile run."""
    mats = [tile(rows, cols, "f16", "mat", "col_major", "row_major") for rows, cols in ((32, 64), (64, 32))]
    left = tile(32, 64, "f16", "left", "row_major", "row_major")
    right = tile(64, 32, "f16", "right", layout, "col_major")
    acc = tile(32, 32, "f32", "acc", "col_major", "row_major", 1024)
    return kernel("\n".join((
        alloc("x", mats[0], 0), given("x", mats[0], "a", "f16"),
        alloc("y", mats[1], 4096, "c64", "c32"), given("y", mats[1], "b", "f16", "c64", "c32"),
        alloc("l", left, 0), unary("tmov", "x", "l", mats[0], left),
        alloc("r", right, 0, "c64", "c32"), unary("tmov", "y", "r", mats[1], right),
        alloc("c", acc, 0, "c32", "c32"), f"pto.tmatmul ins(%l, %r : {left}, {right}) outs(%c : {acc})",
        out("c", acc, "c32", "c32"))), "%a: !pto.ptr<f16>, %b: !pto.ptr<f16>", kind="cube")


def _exp(dst: str) -> str:
    return kernel("\n".join((
        alloc("x", VEC, 0), fill("x", VEC), alloc("y", dst, 8192), unary("texp", "x", "y", VEC, dst), out("y", dst))))


def _relayout(address: int) -> str:
    boxed = tile(32, 64, blayout="col_major", slayout="row_major")
    return kernel("\n".join((
        alloc("x", VEC, 0), given("x", VEC), alloc("y", boxed, address), unary("tmov", "x", "y", VEC, boxed),
        alloc("z", VEC, 65536), unary("tmov", "y", "z", boxed, VEC), out("z", VEC))))


def _typed_load(dtype: str) -> str:
    type_ = tile(dtype=dtype)
    return kernel("\n".join((
        view("a", "p", "c64"), alloc("t", type_), window("w", "a", "%c0, %c0", "%c32, %c64", "32x64"),
        load("w", "t", type_, "32x64"), alloc("u", type_, 8192), unary("tneg", "t", "u", type_), out("u", type_))))


def _typed_move(dtype: str) -> str:
    source, dst = tile(dtype="f16"), tile(dtype=dtype)
    return kernel("\n".join((
        alloc("x", source, 0), given("x", source, "h", "f16"), alloc("y", dst, 8192),
        unary("tmov", "x", "y", source, dst),
        out("y", dst, pointer="h", dtype="f16"))), "%h: !pto.ptr<f16>")


PAIRS: dict[str, Pair] = {
    "BOX-ROWS": Pair(_alloc_only(MAT), _alloc_only(tile(40, 64, "f16", "mat", "col_major", "row_major"))),
    "BOX-COLS": Pair(_alloc_only(MAT), _alloc_only(tile(32, 56, "f16", "mat", "col_major", "row_major"))),
    "BOX-LINE": Pair(_alloc_only(VEC), _alloc_only(tile(32, 2))),
    "VIEW-UPPER": Pair(_subview("c16"), _subview("c17")),
    "VIEW-LOWER": Pair(_subview_loop("c1"), _subview_loop("c0")),
    "VIEW-BOX": Pair(_boxed_subview("c16"), _boxed_subview("c8")),
    "VIEW-ALIGN": Pair(
        _subview("c0", "c8", result=tile(16, 32, valid=("16", "32")), sizes="16, 32"),
        _subview("c0", "c4", result=tile(16, 32, valid=("16", "32")), sizes="16, 32")),
    "VIEW-TYPE": Pair(_subview(), _subview(result=tile(16, 64, valid=("16", "64"), fractal=1024))),
    "VIEW-RESHAPE": Pair(_reshape(64), _reshape(32)),
    "VIEW-DENSE": Pair(_reshape_of_view(64), _reshape_of_view(32)),
    "VIEW-SLOT": Pair(_slot("c2"), _slot("c3")),
    "BOUND-UPPER": Pair(_tail("n"), _tail("c32")),
    "BOUND-LOWER": Pair(_offset("c1"), _offset("c0")),
    "BOUND-CLAMP": Pair(_clamped("sgt"), _clamped("sge")),
    "BOUND-SIZE": Pair(_size("c0"), _size("less")),
    "PLAN-LEVEL": Pair(_two(0, 8192), _two(0, None)),
    "PLAN-ALIGN": Pair(_alloc_only(VEC, 32), _alloc_only(VEC, 16)),
    "PLAN-PEAK": Pair(_alive("b"), _alive("a")),
    "PLAN-CAPACITY": Pair(_alloc_only(VEC, 65536), _alloc_only(VEC, 188416)),
    "PLAN-RESERVE": Pair(_ring(8192), _ring(4096)),
    "PLAN-OVERLAP": Pair(_sum(8192), _sum(4096)),
    "PLAN-INPLACE": Pair(_in_place(8192), _in_place(0)),
    "INIT-READ": Pair(_stored("x"), _stored("y")),
    "VALID-UPPER": Pair(_valid("cut"), _valid("M")),
    "VALID-LOWER": Pair(_valid("more"), _valid("more", "less")),
    "VALID-SOURCE": Pair(_negated("c16"), _negated("c32")),
    "VALID-WINDOW": Pair(_loaded("c32"), _loaded("c16")),
    "VALID-MATMUL": Pair(_product(), _product("c32")),
    "LAYOUT-LANES": Pair(_exp(VEC), _exp(tile(32, 64, slayout="row_major"))),
    "LAYOUT-CUBE": Pair(_multiplied("row_major"), _multiplied("col_major")),
    "LAYOUT-MOVE": Pair(_relayout(8192), _relayout(0), chip="a5"),
    "DTYPE-TRANSFER": Pair(_typed_load("f32"), _typed_load("i32")),
    "DTYPE-MOVE": Pair(_typed_move("f16"), _typed_move("bf16")),
    "DTYPE-MATMUL": Pair(_product(), _product(acc_type="i32")),
}
