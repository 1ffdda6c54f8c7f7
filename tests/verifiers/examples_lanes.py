"""Kernels of a cube and a vector core whose lanes store."""

from __future__ import annotations

from tests.verifiers.kernels import alloc, kernel, load, store, tile, view, window

VEC = tile(16, 16)
LANE = ("%lane = pto.get_subblock_idx", "%l = arith.index_cast %lane : i64 to index",
        "%r = arith.muli %l, %c16 : index", "%first = arith.cmpi eq, %l, %c0 : index")


def beside_a_cube(*ops: str) -> str:
    """A kernel of a cube core that does nothing and a vector core with these ops, after both lanes have a tile."""
    text = kernel("\n".join((
        view("pv", "p", "c64", "c16"), view("qv", "q", "c64", "c16"), "pto.section.cube {", "}",
        "pto.section.vector {", *LANE, alloc("t", VEC, 0, "c16", "c16"),
        window("w", "pv", "%c0, %c0", "%c16, %c16", "16x16"), load("w", "t", VEC, "16x16"), *ops, "}")))
    return text.replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")


def put(row: str, name: str = "o") -> tuple[str, ...]:
    return window(name, "qv", f"%{row}, %c0", "%c16, %c16", "16x16"), store("t", name, VEC, "16x16")


ONE_LANE = ("scf.if %first {", *put("c0"), "}")
EACH_ITS_OP = ("scf.if %first {", *put("c0"), "} else {", *put("c0", "other"), "}")
