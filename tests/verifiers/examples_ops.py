"""Pairs for the rules about operands of different shape: extents, layouts, element types, initialisation."""

from __future__ import annotations

from tests.verifiers.examples import Pair
from tests.verifiers.kernels import alloc, fill, given, kernel, load, out, store, tile, unary, view, window

VEC = tile()
COLUMN = tile(32, 1, blayout="col_major")
ROW = tile(1, 64)
NZ = tile(32, 64, "f16", "mat", "col_major", "row_major")


def _lines(*lines: str) -> str:
    return kernel("\n".join(lines))


def _blocks(rows: str) -> str:
    """A five-dimensional NZ window of 2 x 2 blocks of 16 x 16 f32 into a tile with 32 valid columns."""
    boxed = tile(32, 32, blayout="col_major", slayout="row_major")
    return _lines(
        "%v = pto.make_tensor_view %p, shape = [%c1, %c4, %c2, %c16, %c8], strides = [%c128, %c128, %c128, %c8, %c1] "
        "{layout = #pto.layout<nz>} : !pto.tensor_view<?x?x?x?x?xf32>",
        "%w = pto.partition_view %v, offsets = [%c0, %c0, %c0, %c0, %c0], sizes = [%c1, %c4, %c2, %c16, %c8] : "
        "!pto.tensor_view<?x?x?x?x?xf32> -> !pto.partition_tensor_view<?x?x?x?x?xf32>",
        alloc("t", boxed, rows=rows, cols="c32"),
        load("w", "t", boxed, "?x?x?x?x?"))


def _copy(rows: str) -> str:
    """A move within vec from a tile with `rows` valid rows into one with 32."""
    return _lines(alloc("s", VEC, rows=rows), fill("s", VEC), alloc("d", VEC, 8192), unary("tmov", "s", "d", VEC),
                  out("d", VEC))


def _large(k: int) -> str:
    left, right = tile(16, 4096, "f16", "left", "row_major", "row_major"), tile(
        4096, 16, "f16", "right", "row_major", "col_major")
    acc = tile(16, 16, "f32", "acc", "col_major", "row_major", 1024)
    return _lines(
        f"%k = arith.constant {k} : index",
        alloc("l", left, rows="c16", cols="k"), alloc("r", right, rows="k", cols="c16"),
        alloc("o", acc, rows="c16", cols="c16"),
        f"pto.tmatmul ins(%l, %r : {left}, {right}) outs(%o : {acc})")


def _row_sum(rows: str, cols: str = "c64") -> str:
    """Sums of the rows of a tile with 32 x `cols` valid elements into a column with `rows`."""
    return _lines(
        alloc("s", VEC, cols=cols), fill("s", VEC), alloc("tmp", VEC, 8192), alloc("d", COLUMN, 65536, rows, "c1"),
        f"pto.trowsum ins(%s, %tmp : {VEC}, {VEC}) outs(%d : {COLUMN})", out("d", COLUMN, rows, "c1"))


def _expand(rows: str) -> str:
    """Each row of a full tile times one value of a column with `rows` valid rows."""
    return _lines(
        alloc("s", VEC), fill("s", VEC), alloc("tmp", VEC, 8192), alloc("v", COLUMN, 16384, "c32", "c1"),
        f"pto.trowsum ins(%s, %tmp : {VEC}, {VEC}) outs(%v : {COLUMN})",
        f"pto.set_validshape %v, %{rows}, %c1 : {COLUMN}", alloc("d", VEC, 65536),
        f"pto.trowexpandmul ins(%s, %v : {VEC}, {COLUMN}) outs(%d : {VEC})", out("d", VEC))


def _pad(rows: str) -> str:
    padded = tile(pad=1)
    return _lines(
        alloc("s", VEC, rows="c17"), fill("s", VEC), alloc("d", padded, 8192, rows),
        unary("tfillpad", "s", "d", VEC, padded), out("d", padded, rows))


def _extract(cols: str) -> str:
    """A 32 x 32 operand from column 32 on, out of a tile with `cols` valid columns of 64."""
    left = tile(32, 32, "f16", "left", "row_major", "row_major")
    return _lines(
        alloc("s", NZ, cols=cols), alloc("d", left, rows="c32", cols="c32"),
        f"pto.textract ins(%s, %c0, %c32 : {NZ}, index, index) outs(%d : {left})")


def _cut(start: str) -> str:
    """256 of the 1024 elements of a row in L1, from column `start`, times a matrix."""
    row, left = tile(1, 1024, "f16", "mat"), tile(1, 256, "f16", "left", "row_major", "row_major")
    other = tile(256, 16, "f16", "mat", "col_major", "row_major")
    right = tile(256, 16, "f16", "right", "row_major", "col_major")
    acc = tile(16, 16, "f32", "acc", "col_major", "row_major", 1024)
    return kernel(
        "\n".join((
            "%c1024 = arith.constant 1024 : index", "%c256 = arith.constant 256 : index",
            alloc("s", row, rows="c1", cols="c1024"), given("s", row, "a", "f16", "c1", "c1024"),
            alloc("d", left, rows="c1", cols="c256"),
            f"pto.textract ins(%s, %c0, %{start} : {row}, index, index) outs(%d : {left})",
            alloc("m", other, 4096, "c256", "c16"), given("m", other, "b", "f16", "c256", "c16"),
            alloc("r", right, 0, "c256", "c16"), f"pto.tmov ins(%m : {other}) outs(%r : {right})",
            alloc("c", acc, 0, "c1", "c16"), f"pto.tgemv ins(%d, %r : {left}, {right}) outs(%c : {acc})",
            out("c", acc, "c1", "c16"))), "%a: !pto.ptr<f16>, %b: !pto.ptr<f16>", kind="cube")


def _added(rows: str) -> str:
    """A number added to each element of a full tile, into one with `rows`."""
    return _lines(
        alloc("s", VEC), fill("s", VEC), alloc("d", VEC, 8192, rows),
        f"pto.tadds ins(%s, %one : {VEC}, f32) outs(%d : {VEC})", out("d", VEC, rows))


def _part(rows: str) -> str:
    """A partial sum of two tiles with 16 valid rows into one with `rows`."""
    return _lines(
        alloc("a", VEC, rows="c16"), fill("a", VEC), alloc("b", VEC, 8192, rows="c16"), fill("b", VEC),
        alloc("d", VEC, 65536, rows),
        f"pto.tpartadd ins(%a, %b : {VEC}, {VEC}) outs(%d : {VEC})", out("d", VEC, rows))


def _part_of_pairs(rows: str) -> str:
    """The larger values of two tiles with 16 valid rows and where they stand, `rows` of which are valid."""
    numbers = tile(dtype="i32")
    return _lines(
        *(line for name, at, n in (("a", 0, "c16"), ("b", 8192, "c16")) for line in (
            alloc(name, VEC, at, n), fill(name, VEC))),
        *(line for name, at, n in (("i", 16384, rows), ("j", 32768, "c16")) for line in (
            alloc(name, numbers, at, n), f"pto.texpands ins(%number : i32) outs(%{name} : {numbers})")),
        "%c98304 = arith.constant 98304 : i64", alloc("d", VEC, 65536, "c16"),
        f"%e = pto.alloc_tile addr = %c98304 valid_row = %c16 valid_col = %c64 : {numbers}",
        f"pto.tpartargmax ins(%a, %b, %i, %j : {VEC}, {VEC}, {numbers}, {numbers}) outs(%d, %e : {VEC}, {numbers})",
        out("d", VEC, "c16")).replace("%p:", "%number: i32, %p:")


def _reshaped(rows: str) -> str:
    """A tile with `rows` valid rows relabelled as 64 full rows."""
    flat = tile(64, 32, valid=("64", "32"))
    return _lines(
        alloc("t", VEC, rows=rows), fill("t", VEC), f"%v = pto.treshape %t : {VEC} -> {flat}",
        out("v", flat, "c64", "c32"))


def moved_into(cols: int, then: str = "") -> str:
    """A tile of 64 full columns, then a move into the first `cols` of them, and all 64 are stored."""
    part = tile(valid=("32", str(cols)))
    return _lines(
        alloc("t", VEC), fill("t", VEC), alloc("s", VEC, 8192, cols=f"c{cols}"), fill("s", VEC),
        f"%v = pto.subview %t[%c0, %c0] sizes [32, 64] valid [%c32, %c{cols}] : {VEC} -> {part}",
        f"pto.tmov ins(%s : {VEC}) outs(%v : {part})", then, out("t", VEC))


def _remainder(source: str, result: str) -> str:
    """The remainder of two tiles."""
    s, d = tile(dtype=source), tile(dtype=result)
    return _lines(
        alloc("a", s), fill("a", s), alloc("b", s, 8192), fill("b", s), alloc("d", d, 65536),
        f"pto.tfmod ins(%a, %b : {s}, {s}) outs(%d : {d})", out("d", d))


def _each_column(dtype: str) -> str:
    """A row added to each row of a tile, into a tile of another type or the same."""
    d = tile(dtype=dtype)
    return _lines(
        alloc("a", VEC), fill("a", VEC), alloc("b", ROW, 8192, "c1"), fill("b", ROW), alloc("d", d, 65536),
        f"pto.tcolexpandadd ins(%a, %b : {VEC}, {ROW}) outs(%d : {d})", out("d", d))


def _cast(dtype: str, mode: str = "{rmode = #pto<round_mode RINT>} ") -> str:
    other = tile(dtype=dtype)
    return _lines(
        alloc("s", VEC), fill("s", VEC), alloc("d", other, 8192),
        f"pto.tcvt ins(%s {mode}: {VEC}) outs(%d : {other})")


def _computed(bound: str) -> str:
    """A tensor of 64 times min or max(M, 64) rows, computed in 32 bits."""
    return kernel("\n".join((
        f"%rows = arith.{bound} %M, %c64 : index", "%r = arith.index_cast %rows : index to i32",
        "%k = arith.constant 64 : i32", "%many = arith.muli %r, %k : i32", "%n = arith.index_cast %many : i32 to index",
        view("o", "q", "n"), "%part = arith.minsi %n, %c32 : index", alloc("t", VEC, rows="part"), fill("t", VEC),
        window("w", "o", "%c0, %c0", "%part, %c64"), store("t", "w", VEC))), "%M: index")


def _loaded(blayout: str) -> str:
    one = tile(blayout=blayout)
    return _lines(
        view("a", "p", "c32"), alloc("t", one), window("w", "a", "%c0, %c0", "%c32, %c64"), load("w", "t", one),
        out("t", one))


def _heads(shape: str, sizes: str) -> str:
    """32 x 64 elements of a tensor of three axes, loaded into fractals."""
    boxed = tile(32, 64, "f32", "mat", "col_major", "row_major")
    return kernel(
        "\n".join((
            f"%v = pto.make_tensor_view %p, shape = [{shape}], strides = [%c64, %c64, %c1] : "
            "!pto.tensor_view<?x?x?xf32>",
            f"%w = pto.partition_view %v, offsets = [%c0, %c0, %c0], sizes = [{sizes}] : "
            "!pto.tensor_view<?x?x?xf32> -> !pto.partition_tensor_view<?x?x?xf32>",
            alloc("t", boxed), load("w", "t", boxed, "?x?x?"))), kind="cube")


def _stored(blayout: str) -> str:
    one = tile(blayout=blayout)
    return _lines(
        view("a", "p", "c32"), alloc("t", one), fill("t", one), window("w", "a", "%c0, %c0", "%c32, %c64"),
        store("t", "w", one))


def _divided(pitch: str) -> str:
    """A 32 x 64 window for each block, `pitch` rows apart."""
    return _lines(
        view("a", "p", "c512"), "%b = pto.get_block_idx", "%i = arith.index_cast %b : i64 to index",
        f"%at = arith.muli %i, %{pitch} : index", window("w", "a", "%at, %c0", "%c32, %c64"), alloc("t", VEC),
        fill("t", VEC), store("t", "w", VEC))


def _halves(rows: str) -> str:
    """Each lane writes `rows` rows of its half of 32."""
    return _lines(
        view("a", "p", "c32"), "%b = pto.get_subblock_idx", "%i = arith.index_cast %b : i64 to index",
        "%at = arith.muli %i, %c16 : index", window("w", "a", "%at, %c0", f"%{rows}, %c64"), alloc("t", VEC, rows=rows),
        fill("t", VEC), store("t", "w", VEC))


def _strided(far: str, near: str) -> str:
    """A 32 x 64 window of a view with these strides, loaded."""
    return _lines(
        "%c63 = arith.constant 63 : index",
        view("a", "p", "c32").replace("strides = [%c64, %c1]", f"strides = [%{far}, %{near}]"), alloc("t", VEC),
        window("w", "a", "%c0, %c0", "%c32, %c64"), load("w", "t", VEC), out("t", VEC))


def _far(stride: int) -> str:
    """A 32 x 64 window of a tensor whose rows start `stride` elements apart, loaded into fractals."""
    boxed = tile(32, 64, "f32", "mat", "col_major", "row_major")
    return kernel(
        "\n".join((
            f"%far = arith.constant {stride} : index",
            view("a", "p", "c32", "far"), window("w", "a", "%c0, %c0", "%c32, %c64"), alloc("t", boxed),
            load("w", "t", boxed))), kind="cube")


def _renamed(slayout: str) -> str:
    """A tile that was loaded into fractals, moved under another name of the same bytes."""
    boxed, other = (tile(32, 64, "f32", "mat", "col_major", s) for s in ("row_major", slayout))
    left = tile(32, 64, "f32", "left", "row_major", "row_major")
    return kernel(
        "\n".join((
            view("a", "p", "c32"), window("w", "a", "%c0, %c0", "%c32, %c64"), alloc("t", boxed), load("w", "t", boxed),
            alloc("u", other), alloc("l", left), f"pto.tmov ins(%u : {other}) outs(%l : {left})")), kind="cube")


def _largest(slayout: str) -> str:
    """The larger of two tiles of one layout, element by element."""
    one = tile(slayout=slayout)
    return _lines(
        alloc("a", one), fill("a", one), alloc("b", one, 8192), fill("b", one), alloc("d", one, 65536),
        f"pto.tpartmax ins(%a, %b : {one}, {one}) outs(%d : {one})", out("d", one))


def _relaid(blayout: str) -> str:
    other = tile(blayout=blayout)
    return _lines(
        alloc("s", VEC), given("s", VEC), alloc("d", other, 8192), unary("tmov", "s", "d", VEC, other), out("d", other))


def _filled_in_loop(trips: str) -> str:
    """A tile filled in each of `trips` iterations, then stored."""
    return kernel("\n".join((
        view("o", "q", "c32"), view("a", "p", "M"), alloc("x", VEC),
        f"scf.for %i = %c0 to %{trips} step %c1 {{", fill("x", VEC), "}",
        window("w", "o", "%c0, %c0", "%c32, %c64", "32x64"), store("x", "w", VEC, "32x64"))), "%M: index")


def _widened(rows: str) -> str:
    """A tile filled with 16 valid rows where another one was, then declared to have `rows`, then used."""
    return _lines(
        alloc("y", VEC), fill("y", VEC), alloc("x", VEC, rows="c16"), fill("x", VEC),
        f"pto.set_validshape %x, %{rows}, %c64 : {VEC}",
        alloc("d", VEC, 8192, rows), unary("texp", "x", "d", VEC), out("d", VEC, rows))


def _kept(destination: str) -> str:
    """A tile loaded and, if `destination` is a window of %q, stored."""
    last = {"window": store("t", "v", VEC), "tile": f"pto.tmov ins(%t : {VEC}) outs(%d : {VEC})"}[destination]
    return _lines(
        view("a", "p", "c32"), view("o", "q", "c32"), alloc("t", VEC), alloc("d", VEC, 8192),
        window("w", "a", "%c0, %c0", "%c32, %c64"), load("w", "t", VEC), window("v", "o", "%c0, %c0", "%c32, %c64"),
        last)


def _handed(to: str) -> str:
    """A tile loaded from %p and stored to `to`; %q is declared as the output."""
    return _lines(
        view("a", "p", "c32"), view("o", to, "c32"), alloc("t", VEC), window("w", "a", "%c0, %c0", "%c32, %c64"),
        load("w", "t", VEC), window("v", "o", "%c0, %c0", "%c32, %c64"), store("t", "v", VEC))


def _walked(size: str) -> str:
    """A loop over M rows of the output in steps of 32, each storing `size` rows."""
    return kernel("\n".join((
        view("o", "q", "M"),
        "%up = arith.addi %M, %c31 : index", "%n = arith.divsi %up, %c32 : index",
        "%down = arith.divsi %M, %c32 : index",
        f"scf.for %i = %c0 to %{size} step %c1 {{",
        "%at = arith.muli %i, %c32 : index", "%left = arith.subi %M, %at : index",
        "%rows = arith.minsi %left, %c32 : index",
        alloc("t", VEC, rows="rows"), fill("t", VEC),
        window("w", "o", "%at, %c0", "%rows, %c64"), store("t", "w", VEC), "}")), "%M: index").replace(
            "%c64 = arith", "%c31 = arith.constant 31 : index\n    %c64 = arith", 1)


def _part_of(extent: str) -> str:
    """32 rows of an output of `extent` rows."""
    return _lines(
        view("o", "q", extent), alloc("t", VEC), fill("t", VEC), window("w", "o", "%c0, %c0", "%c32, %c64"),
        store("t", "w", VEC))


def _compared(mode: str) -> str:
    """The mask of an i32 tile and a constant."""
    numbers, mask = tile(32, 64, "i32"), tile(32, 32, "i8")
    return kernel("\n".join((
        "%three = arith.constant 3 : i32", alloc("s", numbers), fill("s", numbers), alloc("d", mask, 8192, cols="c8"),
        f"pto.tcmps ins(%s, %three {{cmpMode = #pto<cmp {mode}>}} : {numbers}, i32) outs(%d : {mask})",
        out("d", mask, "c32", "c8", "m", "i8"))), "%m: !pto.ptr<i8>")


def _cast_of(name: str) -> str:
    """A cast of bytes: of the mask, or of what another tile holds."""
    numbers, mask, wide = tile(32, 64, "i32"), tile(32, 32, "i8"), tile(32, 32, "f16")
    return kernel("\n".join((
        "%three = arith.constant 3 : i32", alloc("s", numbers), fill("s", numbers),
        alloc("mask", mask, 8192, cols="c8"), alloc("bytes", mask, 16384, cols="c8"), fill("bytes", mask),
        f"pto.tcmps ins(%s, %three {{cmpMode = #pto<cmp eq>}} : {numbers}, i32) outs(%mask : {mask})",
        alloc("d", wide, 32768, cols="c8"),
        f"pto.tcvt ins(%{name} {{rmode = #pto<round_mode RINT>}} : {mask}) outs(%d : {wide})",
        out("d", wide, "c32", "c8", "m", "f16"))), "%m: !pto.ptr<f16>")


def _worked_in(scratch: str) -> str:
    """A row sum with this scratch, after which the exponents of tile `t`, which was full before, are stored."""
    return _lines(
        alloc("s", VEC), fill("s", VEC), alloc("t", VEC, 8192), fill("t", VEC), alloc("u", VEC, 32768),
        alloc("d", COLUMN, 65536, "c32", "c1"),
        f"pto.trowsum ins(%s, %{scratch} : {VEC}, {VEC}) outs(%d : {COLUMN})", alloc("e", VEC, 16384),
        unary("texp", "t", "e", VEC), out("e", VEC))


def _quantised(rows: str) -> str:
    """32 rows in 8 bits, with `rows` scales; then taken back."""
    small, scale = tile(32, 64, "i8"), tile(32, 8)
    return kernel("\n".join((
        alloc("s", VEC), fill("s", VEC), alloc("f", scale, 8192, "c32", "c8"), given("f", scale, cols="c8"),
        f"pto.set_validshape %f, %{rows}, %c8 : {scale}",
        alloc("t", VEC, 16384), alloc("d", small, 32768),
        f"pto.tquant ins(%s, %f : {VEC}, {scale}) outs(%d, %t : {small}, {VEC}) "
        "{quant_type = #pto<quant_type INT8_SYM>}", out("d", small, pointer="m", dtype="i8"))), "%m: !pto.ptr<i8>")


PAIRS: dict[str, Pair] = {
    "VALID-BLOCKS": Pair(_blocks("c32"), _blocks("c16")),
    "VALID-ALIKE": Pair(_added("c32"), _added("c16")),
    "VALID-COVER": Pair(_copy("c32"), _copy("c16")),
    "VALID-MATMUL-SIZE": Pair(_large(4095), _large(4096)),
    "VALID-REDUCE": Pair(_row_sum("c32"), _row_sum("c16")),
    "VALID-REDUCE-EMPTY": Pair(_row_sum("c32", "c64"), _row_sum("c32", "c0")),
    "VALID-EXPAND": Pair(_expand("c32"), _expand("c16")),
    "VALID-PAD": Pair(_pad("c32"), _pad("c16")),
    "VALID-CUT": Pair(_extract("c64"), _extract("c32")),
    "VIEW-EXTRACT": Pair(_cut("c512"), _cut("c16")),
    "VALID-PART": Pair(_part("c16"), _part("c32")),
    "VALID-COUPLE": Pair(_part_of_pairs("c16"), _part_of_pairs("c8")),
    "VALID-RESHAPE": Pair(_reshaped("c32"), _reshaped("c16")),
    "DTYPE-SAME": Pair(_each_column("f32"), _each_column("i32")),
    "DTYPE-DEVICE": Pair(_remainder("f32", "f32"), _remainder("f16", "f16")),
    "DTYPE-CAST": Pair(_cast("f16"), _cast("ui16")),
    "DTYPE-ROUND": Pair(_cast("f16"), _cast("f16", ""), strict=True),
    "BOUND-WIDTH": Pair(_computed("minsi"), _computed("maxsi"), strict=True),
    "DTYPE-MASK": Pair(_cast_of("bytes"), _cast_of("mask")),
    "DTYPE-COMPARE": Pair(_compared("ne"), _compared("lt")),
    "LAYOUT-LOAD": Pair(_loaded("row_major"), _loaded("col_major")),
    "LAYOUT-OUTER": Pair(_heads("%c1, %c32, %c64", "%c1, %c32, %c64"), _heads("%c32, %c1, %c64", "%c32, %c1, %c64")),
    "LAYOUT-STORE": Pair(_stored("row_major"), _stored("col_major")),
    "LAYOUT-VECTOR": Pair(_largest("none_box"), _largest("row_major")),
    "INIT-PATH": Pair(_filled_in_loop("c4"), _filled_in_loop("M")),
    "INIT-TAIL": Pair(moved_into(16), moved_into(17)),
    "INIT-VALID": Pair(_widened("c8"), _widened("c32")),
    "INIT-SCRATCH": Pair(_worked_in("u"), _worked_in("t")),
    "VALID-SCALE": Pair(_quantised("c32"), _quantised("c16")),
    "WRITE-ANY": Pair(_kept("window"), _kept("tile")),
    "WRITE-OUT": Pair(_handed("q"), _handed("p"), outputs=("q",)),
    "WRITE-LANES": Pair(_halves("c16"), _halves("c8")),
    "WRITE-TWICE": Pair(_divided("c32"), _divided("c16")),
    "WRITE-WHOLE": Pair(_part_of("c32"), _part_of("c64"), strict=True),
    "WRITE-REST": Pair(_walked("n"), _walked("down")),
    "LAYOUT-BURST": Pair(_strided("c64", "c1"), _strided("c64", "c2")),
    "LAYOUT-GAP": Pair(_strided("c64", "c1"), _strided("c63", "c1")),
    "LAYOUT-FIELD": Pair(_far(65535), _far(65536)),
    "LAYOUT-NAME": Pair(_renamed("row_major"), _renamed("none_box")),
    "LAYOUT-COPY": Pair(_relaid("row_major"), _relaid("col_major")),
}
