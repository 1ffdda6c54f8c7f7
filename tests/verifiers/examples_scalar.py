"""Pairs for the rules about single elements that the scalar unit reads and writes."""

from __future__ import annotations

from tests.verifiers.examples import Pair
from tests.verifiers.kernels import alloc, fill, kernel, out, tile, view

VEC = tile()


def set_element(count: str) -> str:
    """The first elements of `count` rows of a tile with 32 rows of 64 are set."""
    return kernel("\n".join((
        "%c33 = arith.constant 33 : index", alloc("t", VEC), fill("t", VEC),
        f"scf.for %i = %c0 to %{count} step %c1 {{",
        "%at = arith.muli %i, %c64 : index",
        f"pto.tsetval ins(%at, %one : index, f32) outs(%t : {VEC})", "}", out("t", VEC))))


def get_element(row: str, type_: str = VEC, rows: str = "c16") -> str:
    """One element of a tile with `rows` valid rows, 64 times `row` elements from its start."""
    return kernel("\n".join((
        alloc("t", type_, rows=rows), fill("t", type_), f"%at = arith.muli %{row}, %c64 : index",
        f"%v = pto.tgetval ins(%t, %at : {type_}, index) outs : f32", out("t", type_, rows))))


def load_element(last: str) -> str:
    """The first elements of rows 0 to `last` - 1 of a tensor with M rows are loaded."""
    return kernel("\n".join((
        "%more = arith.addi %M, %c1 : index",
        view("a", "p", "M"), f"scf.for %i = %c0 to %{last} step %c1 {{", "%at = arith.muli %i, %c64 : index",
        "%v = pto.load_scalar %p[%at] : !pto.ptr<f32> -> f32", "}")), "%M: index")


PAIRS: dict[str, Pair] = {
    "BOUND-ELEMENT": Pair(set_element("c32"), set_element("c33")),
    "VALID-ELEMENT": Pair(get_element("c8"), get_element("c16")),
    "BOUND-SCALAR": Pair(load_element("M"), load_element("more")),
}
