"""Gathers, scatters and sorts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.conformance.arithmetic import KINDS, Array, bits, samples, small
from tests.conformance.case import SHAPE, Case, Region
from tests.conformance.ir_kernel import IrKernel, dtype_of
from tests.conformance.lanes import kinds, on
from tests.conformance.pto_kernel import PtoKernel

REGIONS: dict[str, Region] = {"full": SHAPE, "partial": (3, 19), "one": (1, 1), "no-rows": (0, 32)}
PATTERNS: dict[str, tuple[int, int, int]] = {
    "P0101": (1, 2, 0), "P1010": (2, 2, 1), "P0001": (3, 4, 0), "P0010": (4, 4, 1), "P0100": (5, 4, 2),
    "P1000": (6, 4, 3), "P1111": (7, 1, 0),
}
"""Name -> code in IR, period, the position that is kept in it (the pattern's lowest bit is column 0)."""


def gather_cases() -> Iterator[Case]:
    """TGATHER by flat element index."""
    source = (8, 32)
    for dtype in kinds("tgather"):
        a = samples(dtype, source, 121)
        indices = np.random.default_rng(122).integers(0, 256, SHAPE).astype(np.int32)
        values = np.array([[a[i // 32, i % 32] for i in row] for row in indices], KINDS[dtype])
        before = samples(dtype, SHAPE, 99)
        for region, valid in REGIONS.items():
            after = before.copy()
            after[: valid[0], : valid[1]] = values[: valid[0], : valid[1]]

            def write_pto(k: PtoKernel, dtype: str = dtype, valid: Region = valid) -> None:
                x, i = k.tile("x", dtype, source), k.tile("i", "INT32", SHAPE, valid)
                k.tile("tmp", "INT32", SHAPE)
                k.load("a", x)
                k.op("tload", k.view("places", (0, 0, *valid)), i)
                z = k.tile("z", dtype, SHAPE, valid)
                k.fill(z, dtype, SHAPE, "out")
                k.op("tgather", "x i tmp", z)
                k.store("z_all", "out")

            def write_ir(k: IrKernel, valid: Region = valid) -> None:
                x, i = k.load("a", source), k.load("places", SHAPE, valid)
                k.result(k.call("gather", x, i, k.create(SHAPE, "INT32")), "out", valid)

            in_ir = dtype in ("FP16", "FP32", "INT16", "INT32")
            yield Case(f"tgather-{dtype}-{region}", "tgather", "element i // 32, i % 32 for each index i",
                       {"a": a, "places": indices, "out": before}, {"out": after},
                       write_ir if in_ir else None, write_pto,
                       targets=on("tgather", dtype))


def mask_cases() -> Iterator[Case]:
    """TGATHER and TSCATTER by pattern: every 1st, 2nd or 4th column."""
    for dtype in ("FP16", "FP32", "INT16", "INT32"):
        for pattern, (code, period, first) in PATTERNS.items():
            a = samples(dtype, SHAPE, 123)
            width = SHAPE[1] // period
            values = np.array([[row[c * period + first] for c in range(width)] for row in a], KINDS[dtype])

            def write_pto(k: PtoKernel, dtype: str = dtype, pattern: str = pattern, width: int = width) -> None:
                x, z = k.tile("x", dtype, SHAPE), k.tile("z", dtype, (4, width))
                k.load("a", x)
                k.line(f"pto.tgather ins(%x, {{maskPattern = #pto.mask_pattern<{pattern}>}} : {k.type_of('x')}) "
                       f"outs(%z : {k.type_of('z')})")
                k.store(z, "out")

            def write_ir(k: IrKernel, code: int = code) -> None:
                k.store(k.call("gather_mask", k.load("a", SHAPE), mask_pattern=code), "out")

            whole_blocks = width * bits(dtype) % 256 == 0
            yield Case(f"tgather-{pattern}-{dtype}", "gather_mask" if not whole_blocks else "tgather",
                       f"column {period} c + {first} of each row", {"a": a, "out": np.zeros_like(values)},
                       {"out": values}, write_ir, write_pto if whole_blocks else None)
            if period > 1:
                yield from _spread(dtype, pattern, code, period, first)


def _spread(dtype: str, pattern: str, code: int, period: int, first: int) -> Iterator[Case]:
    a = samples(dtype, SHAPE, 124)
    values = np.zeros((4, 32 * period), KINDS[dtype])
    for r in range(4):
        for c in range(32):
            values[r, c * period + first] = a[r, c]

    def write_pto(k: PtoKernel) -> None:
        x, z = k.tile("x", dtype, SHAPE), k.tile("z", dtype, (4, 32 * period))
        k.load("a", x)
        k.load("out", z)
        k.line(f"pto.tscatter ins(%x, {{maskPattern = #pto.mask_pattern<{pattern}>}} : {k.type_of('x')}) "
               f"outs(%z : {k.type_of('z')})")
        k.store(z, "out")

    def write_ir(k: IrKernel) -> None:
        made = k.call("scatter_mask", k.load("out", (4, 32 * period)), k.load("a", SHAPE), mask_pattern=code)
        k.store(made, "out")

    yield Case(f"tscatter-{pattern}-{dtype}", "tscatter", f"a's columns at {period} c + {first}, zeros between",
               {"a": a, "out": samples(dtype, (4, 32 * period), 99)}, {"out": values}, write_ir, write_pto)


def scatter_cases() -> Iterator[Case]:
    """TSCATTER by flat element index; of equal indices the last one wins."""
    for dtype in ("INT8", "INT16", "INT32", "FP16", "FP32", "BF16"):
        place = "INT16" if bits(dtype) <= 16 else "INT32"
        a, before = samples(dtype, SHAPE, 125), samples(dtype, (8, 32), 126)
        indices = np.random.default_rng(127).integers(0, 256, SHAPE).astype(KINDS[place])
        indices[0, :2] = 7
        for region, valid in REGIONS.items():
            after = before.copy()
            for r in range(valid[0]):
                for c in range(valid[1]):
                    after[indices[r, c] // 32, indices[r, c] % 32] = a[r, c]

            def write_pto(k: PtoKernel, d: str = dtype, place: str = place, valid: Region = valid) -> None:
                x, i = k.tile("x", d, SHAPE, valid), k.tile("i", place, SHAPE, valid)
                k.op("tload", k.view("a", (0, 0, *valid)), x)
                k.op("tload", k.view("places", (0, 0, *valid)), i)
                z = k.tile("z", d, (8, 32))
                k.load("out", z)
                k.op("tscatter", "x i", z)
                k.store(z, "out")

            def write_ir(k: IrKernel, valid: Region = valid) -> None:
                z, x, i = k.load("out", (8, 32)), k.load("a", SHAPE, valid), k.load("places", SHAPE, valid)
                k.store(k.call("scatter", z, x, i), "out")

            yield Case(f"tscatter-{dtype}-{region}", "tscatter", "assignment to element i // 32, i % 32 in order",
                       {"a": a, "places": indices, "out": before}, {"out": after}, write_ir, write_pto)


def block_gather_cases() -> Iterator[Case]:
    """TGATHERB: 32-byte blocks by byte offset, as elements of the source's type or of another one."""
    for source, dtype in (("FP16", "FP16"), ("FP32", "FP32"), ("INT8", "INT8"), ("UINT8", "INT32"), ("INT32", "INT16")):
        a = samples(source, (8, 32), 128)
        width = 256 // bits(dtype)
        offsets = (np.random.default_rng(129).integers(0, 8, (2, 8)) * 32).astype(np.uint32)
        raw = a.tobytes()
        rows = [b"".join(raw[o : o + 32] for o in row) for row in offsets.tolist()]
        values = np.frombuffer(b"".join(rows), KINDS[dtype]).reshape(2, 8 * width)

        def write_pto(k: PtoKernel, source: str = source, dtype: str = dtype, width: int = width) -> None:
            x, y, z = k.tile("x", source, (8, 32)), k.tile("y", "UINT32", (2, 8)), k.tile("z", dtype, (2, 8 * width))
            k.load("a", x)
            k.load("o", y)
            k.op("tgatherb", "x y", z)
            k.store(z, "out")

        def write_ir(k: IrKernel, dtype: str = dtype) -> None:
            k.store(k.call("gatherb", k.load("a", (8, 32)), k.load("o", (2, 8)), output_dtype=dtype_of(dtype)), "out")

        yield Case(f"tgatherb-{source}-{dtype}", "tgatherb", "32 bytes of a's own bytes from each offset, concatenated",
                   {"a": a, "o": offsets, "out": np.zeros_like(values)}, {"out": values}, write_ir, write_pto)


def sort_cases() -> Iterator[Case]:
    """TSORT32: (value, index) pairs, the greatest value first; of equal values the smaller index."""
    for dtype in ("FP32", "FP16"):
        a = small(dtype, (2, 64), 130, -9, 9)
        names = np.stack([np.arange(64), np.arange(64)[::-1]]).astype(np.uint32)
        width = 64 // bits(dtype)
        values = sorted_pairs(a, names, width)

        def write_pto(k: PtoKernel, dtype: str = dtype, width: int = width) -> None:
            x, i, z = k.tile("x", dtype, (2, 64)), k.tile("i", "UINT32", (2, 64)), k.tile("z", dtype, (2, 64 * width))
            k.load("a", x)
            k.load("places", i)
            k.op("tsort32", "x i", z)
            k.store(z, "out")

        def write_ir(k: IrKernel) -> None:
            k.store(k.call("sort32", k.load("a", (2, 64)), k.load("places", (2, 64))), "out")

        yield Case(f"tsort32-{dtype}", "tsort32", "Python's sort of each 32 pairs by (-value, index), packed as bytes",
                   {"a": a, "places": names, "out": np.zeros_like(values)}, {"out": values}, write_ir, write_pto)
        yield from _merging(dtype, width)


def _pairs(values: list[float], names: list[int], dtype: str) -> bytes:
    pad = b"\0\0" if dtype == "FP16" else b""
    heads = [np.asarray(v, KINDS[dtype]).tobytes() + pad for v in values]
    return b"".join(head + name.to_bytes(4, "little") for head, name in zip(heads, names, strict=True))


def sorted_pairs(a: Array, names: Array, width: int, run: int = 32) -> Array:
    """Each `run` columns of (a, names) sorted, as elements of a's type."""
    dtype = "FP16" if a.dtype == np.float16 else "FP32"
    out = b""
    for values, indices in zip(a.tolist(), names.tolist(), strict=True):
        for start in range(0, len(values), run):
            block = sorted(zip(values[start : start + run], indices[start : start + run], strict=True),
                           key=lambda pair: (-pair[0], pair[1]))
            out += _pairs([v for v, _ in block], [n for _, n in block], dtype)
    return np.frombuffer(out, a.dtype).reshape(len(a), -1)


def _merging(dtype: str, width: int) -> Iterator[Case]:
    """TMRGSORT: four runs of 32 pairs become one. No two values are equal: who wins then is the unit's choice."""
    random = np.random.default_rng(131)
    a = (random.permutation(256) / 4).reshape(1, 256).astype(KINDS[dtype])
    names = np.arange(256, dtype=np.uint32).reshape(1, 256)
    runs, merged = sorted_pairs(a, names, width, 32), sorted_pairs(a, names, width, 128)
    length = 32 * width

    def write_pto(k: PtoKernel) -> None:
        x, z = k.tile("x", dtype, (1, 256 * width)), k.tile("z", dtype, (1, 256 * width))
        k.load("a", x)
        k.op("tmrgsort", f"x c:{length}:i32", z)
        k.store(z, "out")

    def write_ir(k: IrKernel) -> None:
        k.store(k.call("mrgsort_format1", k.load("a", (1, 256 * width)), length), "out")

    yield Case(f"tmrgsort-{dtype}", "tmrgsort", "Python's sort of each 128 pairs whose runs of 32 were sorted",
               {"a": runs, "out": np.zeros_like(runs)}, {"out": merged}, write_ir, write_pto)


def global_gathers() -> Iterator[Case]:
    """MGATHER: rows or elements of a tensor by index, and what happens beyond it."""
    for dtype in ("FP32", "FP16", "INT8", "BF16"):
        table = samples(dtype, (8, 32), 132)
        far = np.array([[3, 0, 9, 7]], np.int32)
        near = np.array([[3, 0, 7, 7]], np.int32)
        elements = np.random.default_rng(133).integers(0, 256, SHAPE).astype(np.int32)
        spread = (elements + 256 * (np.arange(128).reshape(SHAPE) % 5 == 0)).astype(np.int32)
        zero = np.zeros(32, KINDS[dtype])
        rows = {"undefined": [table[i] for i in near[0]], "clamp": [table[min(i, 7)] for i in far[0]],
                "wrap": [table[i % 8] for i in far[0]], "zero": [table[i] if i < 8 else zero for i in far[0]]}
        flat = table.reshape(-1)
        cells = {"undefined": elements, "clamp": np.minimum(spread, 255), "wrap": spread % 256}
        for beyond, lines in rows.items():
            yield _global_gather(f"mgather-rows-{dtype}-{beyond}", dtype, "row", beyond, table,
                                 near if beyond == "undefined" else far, np.stack(lines))
        for beyond, places in cells.items():
            given = elements if beyond == "undefined" else spread
            values = np.array([[flat[i] for i in row] for row in places], KINDS[dtype])
            yield _global_gather(f"mgather-elements-{dtype}-{beyond}", dtype, "elem", beyond, table, given, values)


def _global_gather(
    name: str, dtype: str, coalesce: str, beyond: str, table: Array, places: Array, values: Array
) -> Case:
    def write(k: PtoKernel) -> None:
        i, x = k.tile("i", "INT32", (places.shape[0], places.shape[1])), k.tile("x", dtype, SHAPE)
        k.load("places", i)
        k.op("mgather", f"{k.view('table')} i", x,
             f"{{coalesce = #pto<coalesce {coalesce}>, gatherOob = #pto<gather_oob {beyond}>}}")
        k.store(x, "out")

    def write_ir(k: IrKernel) -> None:
        shape = places.shape[0], places.shape[1]
        k.store(k.call("mgather", k.tensor("table"), k.load("places", shape), coalesce=coalesce, gather_oob=beyond),
                "out")

    return Case(name, "mgather", f"a {coalesce} of the table for each index; beyond it: {beyond}",
                {"table": table, "places": places, "out": np.zeros_like(values)}, {"out": values}, write_ir, write)


def global_scatters() -> Iterator[Case]:
    """MSCATTER: the reverse, one after the other, adding or comparing where it says so."""
    kept: dict[str, Callable[[Any, Any], Any]] = {
        "none": lambda old, new: new, "add": lambda old, new: old + new, "max": max, "min": min,
    }
    for dtype in ("FP32", "INT32", "INT16"):
        a, before = small(dtype, SHAPE, 134), small(dtype, (8, 32), 135)
        places = np.random.default_rng(136).integers(0, 200, SHAPE).astype(np.int32)
        for atomic, keep in kept.items():
            after = before.copy()
            cells = after.reshape(-1)
            for i, value in zip(places.flat, a.flat, strict=True):
                cells[i] = keep(cells[i], value)

            def write(k: PtoKernel, dtype: str = dtype, atomic: str = atomic) -> None:
                i, x = k.tile("i", "INT32", SHAPE), k.tile("x", dtype, SHAPE)
                k.load("places", i)
                k.load("a", x)
                k.op("mscatter", "x i", k.view("out"), "{coalesce = #pto<coalesce elem>, "
                     f"scatterAtomicOp = #pto<scatter_atomic_op {atomic}>, scatterOob = #pto<scatter_oob undefined>}}")

            def write_ir(k: IrKernel) -> None:
                k.call("mscatter", k.load("a", SHAPE), k.load("places", SHAPE), k.tensor("out"))

            yield Case(f"mscatter-{dtype}-{atomic}", "mscatter", "one element after the other, combined with the old",
                       {"a": a, "places": places, "out": before}, {"out": after},
                       write_ir if atomic == "none" else None, write)


def cases() -> Iterator[Case]:
    yield from global_gathers()
    yield from global_scatters()
    yield from gather_cases()
    yield from mask_cases()
    yield from scatter_cases()
    yield from block_gather_cases()
    yield from sort_cases()
