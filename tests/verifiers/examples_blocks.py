"""Kernels of several blocks that share a tensor of 512 x 16 elements, `%pv`, each with 16 rows of its own."""

from __future__ import annotations

from tests.verifiers.examples import Pair
from tests.verifiers.kernels import alloc, fill, kernel, load, store, tile, view, window

TILE = tile(16, 16)
ALL = "pto.barrier <PIPE_ALL>"
MINE = "%mine = arith.muli %block, %c16 : index"
NEXT = "%after = arith.addi %block, %c1 : index\n%next = arith.muli %after, %c16 : index"


def meeting(kinds: str = "aiv_only", mode: str = "hard") -> str:
    """A barrier of all cores."""
    return f"pto.syncall() mode = #pto.sync_all_mode<{mode}>, core_type = #pto.sync_core_type<{kinds}>"


def put(row: str, tensor: str = "pv", attrs: str = "") -> str:
    """A store to 16 rows from %row on."""
    name = f"to_{tensor}_{row}"
    return "\n".join((
        ALL, window(name, tensor, f"%{row}, %c0", "%c16, %c16", "16x16"), store("t", name, TILE, "16x16") + attrs, ALL))


def get(row: str, tensor: str = "pv") -> str:
    """A load of 16 rows."""
    name = f"from_{tensor}_{row}"
    return "\n".join((
        ALL, window(name, tensor, f"%{row}, %c0", "%c16, %c16", "16x16"), load(name, "t", TILE, "16x16"), ALL))


def blocks(*body: str, args: str = "") -> str:
    """A vector core; %block is its index, %many the number of blocks."""
    begin = (
        "%which = pto.get_block_idx", "%block = arith.index_cast %which : i64 to index",
        "%count = pto.get_block_num", "%many = arith.index_cast %count : i64 to index", MINE, NEXT,
        view("pv", "p", "c512", "c16"), view("qv", "q", "c512", "c16"), alloc("t", TILE, 0, "c16", "c16"),
        fill("t", TILE))
    return kernel("\n".join((*begin, *body)), args)


BY_DATA = ("%word = pto.load_scalar %p[%block] : !pto.ptr<f32> -> f32", "%some = arith.fptosi %word : f32 to i32",
           "%row = arith.index_cast %some : i32 to index", get("mine"), put("row"))
"""A block stores where data say."""

HALVES = ("%half = arith.remsi %block, %c2 : index", "%row = arith.muli %half, %c16 : index")
"""The first half for even blocks, the second for odd ones."""

PAIRS: dict[str, Pair] = {
    "RACE-BLOCK": Pair(
        blocks(put("mine"), meeting(), get("next"), put("mine", "qv")),
        blocks(put("mine"), ALL, get("next"), put("mine", "qv")), assume=("block_num == 48", "block_idx < 31")),
}
