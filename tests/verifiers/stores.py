"""Stores to an output, in the text that tests of what is written have in common."""

from __future__ import annotations

from tests.verifiers.kernels import alloc, fill, kernel, store, tile, view, window

VEC = tile()
BLOCKS = "%block_idx: i32, %block_num: i32"


def output(rows: str, cols: str = "c64") -> str:
    """The output %o, `rows` x `cols`, and a tile %t of 32 x 64 to store there."""
    return "\n".join((view("o", "q", rows, cols), alloc("t", VEC), fill("t", VEC)))


def rows(start: str, count: str) -> str:
    """Rows of %t from `start` on to the output."""
    return "\n".join((window("w", "o", f"%{start}, %c0", f"%{count}, %c64"), store("t", "w", VEC)))


def grid(*body: str) -> str:
    """A kernel on an output %o of M rows; %b and %n are block index and count, %up and %down M/32 rounded."""
    return kernel("\n".join((
        "%c31 = arith.constant 31 : index", output("M"),
        "%b = arith.index_cast %block_idx : i32 to index", "%n = arith.index_cast %block_num : i32 to index",
        "%more = arith.addi %M, %c31 : index", "%up = arith.divsi %more, %c32 : index",
        "%down = arith.divsi %M, %c32 : index", *body)), f"%M: index, {BLOCKS}")
