"""Pairs for the rules about ops that take indices: gathers, scatters and merges."""

from __future__ import annotations

from tests.verifiers.examples import Pair
from tests.verifiers.kernels import alloc, fill, given, kernel, out, tile, view, window

ROW, NUMBERS = tile(1, 64), tile(1, 64, "i32")
HALF = tile(16, 32)


def gathered(
    indices: tuple[str, ...], values: str = ROW, numbers: str = NUMBERS, rows: str = "c1", source: tuple[str, ...] = (),
) -> str:
    """`rows` x 64 elements of tile s, picked by the indices that the lines `indices` put into tile i; `source` fills s
    otherwise than by a load of all of it."""
    return kernel("\n".join((
        alloc("s", values, rows=rows), *(source or (given("s", values, rows=rows),)),
        alloc("i", numbers, 16384, rows), *indices, alloc("d", values, 32768, rows),
        f"pto.tgather ins(%s, %i : {values}, {numbers}) outs(%d : {values})", out("d", values, rows))),
        "%m: !pto.ptr<i32>")


def _ramp(start: int) -> str:
    return gathered((
        f"%first = arith.constant {start} : i32", f"pto.tci ins(%first : i32) outs(%i : {NUMBERS})"))


def _loaded(cols: str) -> str:
    """Indices from a tensor, `cols` of which are valid."""
    return gathered((given("i", NUMBERS, "m", "i32", "c1", cols),)).replace(
        alloc("i", NUMBERS, 16384, "c1"), alloc("i", NUMBERS, 16384, "c1", cols))


def _lying(blayout: str) -> str:
    """Indices of two rows, one behind the other or side by side."""
    numbers, values = tile(2, 64, "i32", blayout=blayout), tile(2, 64)
    return gathered((given("i", numbers, "m", "i32", "c2"),), values, numbers, "c2")


def _masked(cols: str) -> str:
    """Every second column of a tile with `cols` valid ones."""
    whole = tile(16, 64)
    return kernel("\n".join((
        alloc("s", whole, rows="c16", cols=cols), given("s", whole, rows="c16", cols=cols),
        alloc("d", HALF, 8192, "c16", "c32"),
        f'pto.tgather ins(%s, {{maskPattern = #pto.mask_pattern<P0101>}} : {whole}, "row") outs(%d : {HALF})',
        out("d", HALF, "c16", "c32"))))


def _runs(cols: str) -> str:
    """Runs of 64 of a row with `cols` valid columns, merged."""
    row = tile(1, 512)
    return kernel("\n".join((
        "%c256 = arith.constant 256 : index", "%run = arith.constant 64 : i32",
        alloc("s", row, rows="c1", cols=cols), given("s", row, rows="c1", cols=cols),
        alloc("d", row, 8192, "c1", cols),
        f"pto.tmrgsort ins(%s, %run : {row}, i32) outs(%d : {row})", out("d", row, "c1", cols))))


def _merged(cols: str) -> str:
    """Two lists of 64 columns merged into one with `cols`."""
    wide = tile(1, 512)
    return kernel("\n".join((
        "%n = arith.constant dense<0> : vector<4xi16>",
        *(line for name, at in (("a", 0), ("b", 8192)) for line in (
            alloc(name, ROW, at, "c1"), fill(name, ROW))),
        alloc("t", wide, 16384, "c1", "c128"), alloc("d", wide, 32768, "c1", cols),
        f"pto.tmrgsort ins(%a, %b, %t {{exhausted = false}} : {ROW}, {ROW}, {wide}) "
        f"outs(%d, %n : {wide}, vector<4xi16>)",
        out("d", wide, "c1", cols))))


def from_table(mode: str, cols: str = "c64", stride: str = "c64") -> str:
    """32 x 64 elements of a table of 32 x `cols`, by row or by element (`mode`)."""
    values = tile(valid=("32", "64"))
    many = tile(1, 32, "i32", valid=("1", "32")) if mode == "row" else tile(32, 64, "i32", valid=("32", "64"))
    place = "alloc_tile addr = %a{} : {}"
    return kernel("\n".join((
        f"%i = pto.{place.format(0, many)}",
        given("i", many, "m", "i32", *(("c1", "c32") if mode == "row" else ("c32", "c64"))),
        f"%d = pto.{place.format(16384, values)}",
        view("table", "p", "c32", cols).replace(f"strides = [%{cols},", f"strides = [%{stride},"),
        window("w", "table", "%c0, %c0", f"%c32, %{cols}"),
        f"pto.mgather ins(%w, %i : !pto.partition_tensor_view<?x?xf32>, {many}) outs(%d : {values}) "
        f"{{coalesce = #pto<coalesce {mode}>}}", out("d", values))), "%m: !pto.ptr<i32>")


def counted(rows: str, byte: int = 0) -> str:
    """A byte of 32 x 32 elements of 16 bits, counted where the higher byte is that of a filter with `rows` rows."""
    values, only = tile(32, 32, "ui16"), tile(32, 1, "ui8", blayout="col_major")
    counts = tile(32, 256, "ui32")
    return kernel("\n".join((
        "%c256 = arith.constant 256 : index",
        alloc("s", values, rows="c32", cols="c32"), given("s", values, "x", "ui16", "c32", "c32"),
        alloc("i", only, 8192, rows, "c1"),
        (view("f", "y", rows, "c1") + "\n" + window("g", "f", "%c0, %c0", f"%{rows}, %c1")).replace(
            "?xf32>", "?xui8>").replace("<nd>", "<dn>"),
        f"pto.tload ins(%g : !pto.partition_tensor_view<?x?xui8>) outs(%i : {only})",
        alloc("d", counts, 16384, "c32", "c256"),
        f"pto.thistogram ins(%s, %i : {values}, {only}) outs(%d : {counts}) {{byte = {byte} : i32}}",
        out("d", counts, "c32", "c256", "z", "ui32"))),
        "%x: !pto.ptr<ui16>, %y: !pto.ptr<ui8>, %z: !pto.ptr<ui32>")


PAIRS: dict[str, Pair] = {
    "BOUND-INDEX": Pair(_ramp(0), _ramp(1), chip="a5"),
    "VALID-INDEX": Pair(_loaded("c64"), _loaded("c32"), chip="a5"),
    "VALID-MASK": Pair(_masked("c64"), _masked("c32")),
    "VALID-RUNS": Pair(_runs("c256"), _runs("c128")),
    "VALID-MERGE": Pair(_merged("c128"), _merged("c512")),
    "VALID-HISTOGRAM": Pair(counted("c32"), counted("c16"), chip="a5"),
    "VALID-ROW": Pair(from_table("row"), from_table("row", "c32")),
    "LAYOUT-TABLE": Pair(from_table("elem"), from_table("elem", stride="c128")),
    "LAYOUT-INDEX": Pair(_lying("row_major"), _lying("col_major"), chip="a5"),
}
