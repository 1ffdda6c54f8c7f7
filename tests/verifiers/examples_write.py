"""Pairs for the rules about outputs that a loop or the blocks of a launch divide."""

from __future__ import annotations

from tests.verifiers.examples import Pair
from tests.verifiers.kernels import alloc, fill, kernel, store, tile, view, window

VEC = tile()


def _stepping(size: str) -> str:
    """A loop over M rows in steps of 32 that writes `size` of them."""
    return kernel("\n".join((
        view("o", "q", "M"), alloc("t", VEC), fill("t", VEC), "scf.for %i = %c0 to %M step %c32 {",
        "%left = arith.subi %M, %i : index", f"%rows = arith.minsi %left, %{size} : index",
        alloc("part", VEC, 8192, "rows"), fill("part", VEC),
        window("w", "o", "%i, %c0", "%rows, %c64"), store("part", "w", VEC), "}")), "%M: index")


PAIRS: dict[str, Pair] = {"WRITE-GAP": Pair(_stepping("c32"), _stepping("c16"))}
