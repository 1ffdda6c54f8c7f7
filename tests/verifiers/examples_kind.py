"""Pairs for the rules about the core that a function is for: the bad kernel declares the other kind, or boxes of
another size than the cube's."""

from __future__ import annotations

from tests.verifiers.examples import Pair
from tests.verifiers.kernels import alloc, fill, kernel, load, out, tile, unary, view, window

VEC = tile()


def computed(kind: str) -> str:
    """A tile in vec, filled and negated."""
    return kernel("\n".join((
        alloc("x", VEC), fill("x", VEC), alloc("y", VEC, 8192), unary("tneg", "x", "y", VEC),
        out("y", VEC))), kind=kind)


def loaded(kind: str) -> str:
    """A tile in vec, loaded."""
    return kernel("\n".join((
        view("a", "p", "c32"), alloc("t", VEC), window("w", "a", "%c0, %c0", "%c32, %c64"), load("w", "t", VEC),
        out("t", VEC))), kind=kind)


def product(acc: int = 1024, left: int = 512, right: int = 512, mat: int = 512) -> str:
    """A 32 x 64 by 64 x 32 product whose left operand comes from L1, with these sizes of boxes."""
    source = tile(32, 64, "f16", "mat", "col_major", "row_major", mat)
    a, b = tile(32, 64, "f16", "left", "row_major", "row_major", left), tile(
        64, 32, "f16", "right", "row_major", "col_major", right)
    c = tile(32, 32, "f32", "acc", "col_major", "row_major", acc)
    return kernel("\n".join((
        alloc("m", source), alloc("l", a), alloc("r", b, 0, "c64", "c32"), alloc("o", c, 0, "c32", "c32"),
        unary("tmov", "m", "l", source, a), f"pto.tmatmul ins(%l, %r : {a}, {b}) outs(%o : {c})")), kind="cube")


PAIRS: dict[str, Pair] = {
    "KIND-PIPE": Pair(computed("vector"), computed("cube")),
    "KIND-SPACE": Pair(loaded("vector"), loaded("cube")),
    "LAYOUT-FRACTAL": Pair(product(), product(acc=512)),
}
