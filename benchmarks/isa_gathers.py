"""Forms of gathers and scatters: by pattern, by index within a tile, by index into global memory."""

from __future__ import annotations

import re

import numpy as np

from benchmarks.isa_case import Golden, Unbound, judged
from tests.conformance.arithmetic import KINDS, Array
from tests.conformance.case import Case
from tests.conformance.pto_kernel import PtoKernel
from tests.conformance.single import Pto, Source


def mask_gather(g: Golden) -> Case:
    """TGATHER, TSCATTER by pattern, along rows or columns."""
    dtype = g.dtype("data_type", "src_type")
    pattern = g.params.get("pattern")
    names = ("", "P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111")
    word = names[pattern] if isinstance(pattern, int) and not isinstance(pattern, bool) else str(pattern)
    if word not in names[1:]:
        raise Unbound("no pattern")
    spread, by_column = "scatter" in g.testcase, g.testcase.startswith("tcol")
    a = g.matrix(dtype, g.need("col"), ("col",), "input", "x1_gm")
    flat = np.frombuffer(g.raw("golden"), KINDS[dtype])
    step = {"P1111": 1, "P0101": 2, "P1010": 2}.get(word, 4)
    width = a.shape[1] if by_column else a.shape[1] * step if spread else a.shape[1] // step
    pitch = g.get("dst_col") or width
    if len(flat) % pitch or pitch < width:
        raise Unbound("the golden has another width")
    rows = (len(a) * step if spread else len(a) // step) if by_column else len(a)
    out = flat.reshape(-1, pitch)[:rows, :width]
    op, axis = ("tscatter" if spread else "tgather"), ', "col"' if by_column else ""

    def write(k: PtoKernel) -> None:
        x = k.tile("x", dtype, (len(a), a.shape[1]))
        z = k.tile("z", dtype, (len(out), out.shape[1]))
        k.load("a", x)
        if spread:
            k.load("out", z)
        k.line(f"pto.{op} ins(%x, {{maskPattern = #pto.mask_pattern<{word}>}} : {k.type_of('x')}{axis}) "
               f"outs(%z : {k.type_of('z')})")
        k.store(z, "out")

    return Case(g.name, op, "the golden of the generator", {"a": a, "out": np.zeros_like(out)}, {"out": out}, None,
                write, (g.suite,))


def index_gather(g: Golden) -> Case:
    """TGATHER by index."""
    dtype, place = g.dtype("src0type"), g.dtype("src1type")
    a = g.matrix(dtype, g.need("src0_col"), ("src0_col",), "src0", "x1_gm")
    i = g.matrix(place, g.need("src1_col"), ("src1_col",), "src1", "x2_gm")
    out = g.matrix(dtype, i.shape[1], ("src1_col",), "golden")
    return judged(g, {"a": Source(a), "i": Source(i)}, out, (len(i), i.shape[1]), Pto("tgather", "a i tmp"), None,
                 scratch=Source(i))


def gather(g: Golden) -> Case:
    return mask_gather(g) if "pattern" in g.params else index_gather(g)


def index_scatter(g: Golden) -> Case:
    """TSCATTER by flat index into zeros."""
    if "idx_row" not in g.params:
        return mask_gather(g)
    dtype, place = g.dtype("data_type"), g.dtype("idx_type")
    i = g.matrix(place, g.need("idx_col"), ("idx_col",), "indexes")
    a = np.frombuffer(g.raw("input"), KINDS[dtype]).reshape(-1, i.shape[1])[: len(i)]
    out = g.matrix(dtype, g.need("col"), ("col",), "golden")

    def write(k: PtoKernel) -> None:
        x, y = k.tile("x", dtype, (len(i), i.shape[1])), k.tile("y", place, (len(i), i.shape[1]))
        k.load("a", x)
        k.load("places", y)
        z = k.tile("z", dtype, (len(out), out.shape[1]))
        k.load("out", z)
        k.op("tscatter", "x y", z)
        k.store(z, "out")

    return Case(g.name, "tscatter", "the golden of the generator", {"a": a, "places": i, "out": np.zeros_like(out)},
                {"out": out}, None, write, (g.suite,))


def block_gather(g: Golden) -> Case:
    """TGATHERB: 32-byte blocks by byte offset."""
    dtype = g.dtype("dtype")
    a = np.frombuffer(g.raw("x"), KINDS[dtype]).reshape(-1, g.need("src_s0"))
    out = np.frombuffer(g.raw("golden"), KINDS[dtype]).reshape(-1, g.need("dst_s0"))
    offsets = np.frombuffer(g.raw("offset"), np.uint32).reshape(len(out), -1)
    return judged(g, {"a": Source(a), "o": Source(offsets)}, out, (len(out), out.shape[1]), Pto("tgatherb", "a o"),
                  None)


def sorting(g: Golden) -> Case:
    """TSORT32: the golden holds pairs of a value and the 32 bits of its index."""
    dtype, rows, cols = g.dtype("test_type"), g.need("rows"), g.need("cols")
    if cols % 32:
        raise Unbound("no whole block of 32 columns: the golden pairs sorted values with unsorted indices")
    a, names = (np.frombuffer(g.raw(f), kind).reshape(rows, -1)[:, :cols]
                for f, kind in (("input_arr", KINDS[dtype]), ("input_idx", np.dtype(np.uint32))))
    out = np.frombuffer(g.raw("golden_output"), KINDS[dtype]).reshape(rows, -1)
    return judged(g, {"a": Source(a.copy()), "i": Source(names.copy())}, out, (rows, out.shape[1]),
                  Pto("tsort32", "a i"), None)


_WORDS = {"float": "FP32", "half": "FP16", "bfloat16": "BF16", "int8": "INT8", "uint8": "UINT8", "int16": "INT16",
          "uint16": "UINT16", "int32": "INT32", "uint32": "UINT32"}


def global_access(g: Golden) -> Case:
    """MGATHER and MSCATTER: the name tells the type, rows or elements, and what happens beyond the table."""
    words = g.name.split(".")[-1].split("_")
    dtype = next((_WORDS[w] for w in words if w in _WORDS), "")
    if not dtype or "nz" in words:
        raise Unbound("boxed tiles, or a type that is not modelled")
    gathers, by_row = g.testcase == "mgather", words[1] == "row"
    indices = np.frombuffer(g.raw("indices"), np.int32)
    moved = np.frombuffer(g.raw("golden" if gathers else "src"), KINDS[dtype])
    table = np.frombuffer(g.raw("table" if gathers else "golden"), KINDS[dtype])
    cols = len(moved) // len(indices) if by_row else _width(g.name, len(indices))
    moved = moved.reshape(-1, cols)
    table = table.reshape(-1, cols) if by_row else table.reshape(1, -1)
    places = indices.reshape((1, -1) if by_row else moved.shape)
    beyond = next((w for w in words if w in ("clamp", "wrap", "zero", "skip")), "undefined")
    if "int16_partial" in g.name:
        beyond = "clamp"  # the one case whose name does not say it
    joined = g.name.replace("atomic_", "atomic")
    atomic = next((a for a in ("add", "max", "min") if f"atomic{a}" in joined), "none")
    return _transfer(g, dtype, by_row, beyond, moved, table, places, atomic)


def _width(name: str, count: int) -> int:
    """Columns of an element form: those that the name gives if they fit, else one row."""
    for found in re.finditer(r"_(\d+)x(\d+)", name):
        if int(found[1]) * int(found[2]) == count:
            return int(found[2])
    return count


def _transfer(
    g: Golden, dtype: str, by_row: bool, beyond: str, moved: Array, table: Array, places: Array, atomic: str
) -> Case:
    gathers = g.testcase == "mgather"
    words = f"coalesce = #pto<coalesce {'row' if by_row else 'elem'}>"
    words += f", {'gatherOob = #pto<gather_oob' if gathers else 'scatterOob = #pto<scatter_oob'} {beyond}>"
    if not gathers:
        words += f", scatterAtomicOp = #pto<scatter_atomic_op {atomic}>"

    def write(k: PtoKernel) -> None:
        i = k.tile("i", "INT32", (places.shape[0], places.shape[1]))
        x = k.tile("x", dtype, (moved.shape[0], moved.shape[1]))
        k.load("places", i)
        if gathers:
            k.op("mgather", f"{k.view('table')} i", x, f"{{{words}}}")
            k.store(x, "out")
        else:
            k.load("moved", x)
            k.op("mscatter", "x i", k.view("out"), f"{{{words}}}")

    before = np.zeros_like(moved if gathers else table)
    return Case(g.name, g.testcase, "the golden of the generator",
                {"places": places, "table": table, "moved": moved, "out": before}, {"out": moved if gathers else table},
                None, write, (g.suite,))
