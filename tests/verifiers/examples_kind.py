"""Pairs for the rules about the core that a function is for: the bad kernel declares the other kind."""

from __future__ import annotations

from tests.verifiers.examples import Pair
from tests.verifiers.kernels import alloc, fill, kernel, load, tile, unary, view, window

VEC = tile()


def computed(kind: str) -> str:
    """A tile in vec, filled and negated."""
    return kernel("\n".join((
        alloc("x", VEC), fill("x", VEC), alloc("y", VEC, 8192), unary("tneg", "x", "y", VEC))), kind=kind)


def loaded(kind: str) -> str:
    """A tile in vec, loaded."""
    return kernel("\n".join((
        view("a", "p", "c32"), alloc("t", VEC), window("w", "a", "%c0, %c0", "%c32, %c64"), load("w", "t", VEC))),
        kind=kind)


PAIRS: dict[str, Pair] = {
    "KIND-PIPE": Pair(computed("vector"), computed("cube")),
    "KIND-SPACE": Pair(loaded("vector"), loaded("cube")),
}
