"""Pairs for the rules about outputs that a loop or the blocks of a launch divide."""

from __future__ import annotations

from tests.verifiers.examples import Pair
from tests.verifiers.kernels import alloc, fill, kernel, store, view, window
from tests.verifiers.stores import VEC, output


def _stepping(size: str) -> str:
    """A loop over M rows in steps of 32 that writes `size` of them."""
    return kernel("\n".join((
        output("M"), "scf.for %i = %c0 to %M step %c32 {",
        "%left = arith.subi %M, %i : index", f"%rows = arith.minsi %left, %{size} : index",
        alloc("part", VEC, 8192, "rows"), fill("part", VEC),
        window("w", "o", "%i, %c0", "%rows, %c64"), store("part", "w", VEC), "}")), "%M: index")


def _whole_windows_and_rest(least: str) -> str:
    """A loop over the whole windows of 32 rows, then what is left of M rows, if that is more than `least`."""
    return kernel("\n".join((
        output("M"), "%rest = arith.remsi %M, %c32 : index", "%whole = arith.subi %M, %rest : index",
        "scf.for %i = %c0 to %whole step %c32 {",
        window("w", "o", "%i, %c0", "%c32, %c64"), store("t", "w", VEC), "}",
        f"%some = arith.cmpi sgt, %rest, %{least} : index", "scf.if %some {",
        alloc("part", VEC, 8192, "rest"), fill("part", VEC),
        window("v", "o", "%whole, %c0", "%rest, %c64"), store("part", "v", VEC), "}")), "%M: index")


def _in_parts(step: str) -> str:
    """M rows in parts of `step`, of each 64 rows in two windows, what lies behind the end cut off."""
    return kernel("\n".join((
        output("M"), f"scf.for %i = %c0 to %M step %{step} {{",
        "scf.for %j = %c0 to %c64 step %c32 {", "%at = arith.addi %i, %j : index",
        "%left = arith.subi %M, %at : index", "%some = arith.minsi %left, %c32 : index",
        "%rows = arith.maxsi %some, %c0 : index", alloc("part", VEC, 8192, "rows"), fill("part", VEC),
        window("w", "o", "%at, %c0", "%rows, %c64"), store("part", "w", VEC), "}", "}")), "%M: index")


def _on_both_ways(other: str) -> str:
    """32 rows to %q if an argument is more than 3, else to another tensor of the pointer `other`."""
    return kernel("\n".join((
        output("c32"), view("e", other, "c32"), "%some = arith.cmpi sgt, %n, %c3 : index", "scf.if %some {",
        window("w", "o", "%c0, %c0", "%c32, %c64"), store("t", "w", VEC), "} else {",
        window("v", "e", "%c0, %c0", "%c32, %c64"), store("t", "v", VEC), "}")), "%n: index")


PAIRS: dict[str, Pair] = {
    "WRITE-GAP": Pair(_stepping("c32"), _stepping("c16")),
    "WRITE-NEST": Pair(_in_parts("c64"), _in_parts("c128")),
    "WRITE-TAKEN": Pair(_on_both_ways("q"), _on_both_ways("p"), outputs=("q",)),
    "WRITE-UNION": Pair(_whole_windows_and_rest("c0"), _whole_windows_and_rest("c1")),
}
