"""Parts of tiles: views, windows, insertion, concatenation, transposition, reshaping, scalar access."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pypto_verified.layouts import Space
from tests.conformance.arithmetic import KINDS, PTO, Array, samples
from tests.conformance.case import REGIONS, SHAPE, Case, Region
from tests.conformance.ir_kernel import IrKernel, dtype_of
from tests.conformance.pto_kernel import PtoKernel
from tests.conformance.single import Pto, Source, ir, single

TYPES = ("FP32", "FP16", "BF16", "INT8", "INT32")
BIG = (8, 64)


def _written(before: Array, values: Array, at: tuple[int, int] = (0, 0)) -> Array:
    after = before.copy()
    after[at[0] : at[0] + values.shape[0], at[1] : at[1] + values.shape[1]] = values
    return after


def copy_cases() -> Iterator[Case]:
    """TMOV between vector tiles whose valid columns end on a block (the other ones: see `clobber`)."""
    for dtype in TYPES:
        a = samples(dtype, SHAPE, 71)
        for region, valid in {**REGIONS, "partial": (3, 32), "one": (1, 32)}.items():
            yield single(f"tmov-{dtype}-{region}", "the very elements of a", {"a": Source(a, valid)}, a, valid,
                         Pto("tmov", "a"), ir("move", "a", target_memory=Space.VEC))


def window_cases() -> Iterator[Case]:
    """A window of a tile by TEXTRACT, by a view, and by slicing."""
    for dtype in TYPES:
        a = samples(dtype, BIG, 72)
        for row, col in ((0, 0), (3, 32), (4, 0)):
            for region, valid in REGIONS.items():
                if region == "no-cols":
                    continue
                values = a[row : row + 4, col : col + 32]
                before = samples(dtype, SHAPE, 99)
                after = _written(before, values[: valid[0], : valid[1]])
                block = 32 // KINDS[dtype].itemsize
                aligned = valid[1] % block == 0

                def extract(k: PtoKernel, d: str = dtype, at: Region = (row, col), valid: Region = valid) -> None:
                    x = k.tile("x", d, BIG)
                    k.load("a", x)
                    z = k.tile("z", d, SHAPE, valid)
                    k.fill(z, d, SHAPE, "out")
                    k.op("textract", f"x c:{at[0]}:index c:{at[1]}:index", z)
                    k.store("z_all", "out")

                def view(k: PtoKernel, d: str = dtype, at: Region = (row, col), valid: Region = valid) -> None:
                    x = k.tile("x", d, BIG)
                    k.load("a", x)
                    type_ = k.type_of("x").replace("rows=8, cols=64", "rows=4, cols=32").replace(
                        "v_row=?, v_col=?", f"v_row={valid[0]}, v_col={valid[1]}")
                    k.derived("w", "subview", "x", f"[{k.number(at[0])}, {k.number(at[1])}] sizes [4, 32]", type_)
                    k.store("w", "out", valid)

                def read(k: IrKernel, at: Region = (row, col), valid: Region = valid) -> None:
                    x = k.load("a", BIG)
                    k.store(k.call("slice", x, SHAPE, at, valid), "out")

                why = f"rows {row}.. and columns {col}.. of a, by slicing the array"
                name = f"{dtype}-{row}-{col}-{region}"
                inputs = {"a": a, "out": before}
                if aligned:
                    yield Case(f"textract-{name}", "textract", why, inputs, {"out": after}, None, extract)
                yield Case(f"subview-{name}", "subview", why, inputs, {"out": after}, read, view)

            def cut(k: IrKernel, at: Region = (row, col)) -> None:
                x = k.load("a", BIG, (6, 40))
                k.result(k.call("extract", x, at[0], at[1], SHAPE, target_memory=Space.VEC), "out",
                         (min(4, 6 - at[0]), min(32, 40 - at[1])))

            inner = a[row : min(row + 4, 6), col : min(col + 32, 40)]
            yield Case(f"extract-{dtype}-{row}-{col}", "extract", "the part of the window that is valid in the source",
                       {"a": a, "out": before}, {"out": _written(before, inner)}, cut)


def insert_cases() -> Iterator[Case]:
    """A tile as a window of another one."""
    for dtype in TYPES:
        a, before = samples(dtype, SHAPE, 73), samples(dtype, BIG, 74)
        for row, col in ((0, 0), (3, 32), (4, 0)):
            for region, valid in REGIONS.items():
                after = _written(before, a[: valid[0], : valid[1]], (row, col))

                def write_pto(k: PtoKernel, d: str = dtype, at: Region = (row, col), valid: Region = valid) -> None:
                    x = k.tile("x", d, SHAPE, valid)
                    k.op("tload", k.view("a", (0, 0, *valid)), x)
                    z = k.tile("z", d, BIG)
                    k.load("out", z)
                    k.op("tinsert", f"x c:{at[0]}:index c:{at[1]}:index", z)
                    k.store(z, "out")

                def write_ir(k: IrKernel, at: Region = (row, col), valid: Region = valid) -> None:
                    k.store(k.call("assemble", k.load("out", BIG), k.load("a", SHAPE, valid), at), "out")

                yield Case(f"tinsert-{dtype}-{row}-{col}-{region}", "tinsert",
                           f"the target with a's valid part from ({row}, {col}), by assigning to a slice",
                           {"a": a, "out": before}, {"out": after}, write_ir, write_pto)


def concat_cases() -> Iterator[Case]:
    """TCONCAT puts valid columns side by side."""
    for dtype in TYPES:
        a, b = samples(dtype, SHAPE, 75), samples(dtype, SHAPE, 76)
        for name, rows, left, right in (("full", 4, 32, 32), ("partial", 3, 32, 19), ("one", 1, 32, 1),
                                        ("no-rows", 0, 32, 32)):
            values = np.concatenate([a[:, :left], b[:, :right]], axis=1)
            before = samples(dtype, (4, 64), 99)

            def write_pto(k: PtoKernel, d: str = dtype, n: int = rows, p: int = left, q: int = right) -> None:
                x, y = k.tile("x", d, SHAPE, (n, p)), k.tile("y", d, SHAPE, (n, q))
                k.op("tload", k.view("a", (0, 0, n, p)), x)
                k.op("tload", k.view("b", (0, 0, n, q)), y)
                z = k.tile("z", d, (4, 64), (n, p + q))
                k.fill(z, d, (4, 64), "out")
                k.op("tconcat", "x y", z)
                k.store("z_all", "out")

            def write_ir(k: IrKernel, n: int = rows, p: int = left, q: int = right) -> None:
                made = k.call("concat", k.load("a", SHAPE, (n, p)), k.load("b", SHAPE, (n, q)))
                k.result(made, "out", (n, p + q))

            yield Case(f"tconcat-{dtype}-{name}", "tconcat", "rows of a, then of b, by numpy's concatenate",
                       {"a": a, "b": b, "out": before}, {"out": _written(before, values[:rows])}, write_ir, write_pto)


def transpose_cases() -> Iterator[Case]:
    """TTRANS: rows become columns."""
    for dtype in TYPES:
        a, before = samples(dtype, (32, 32), 77), samples(dtype, (32, 32), 99)
        for region, (n, m) in {"full": (32, 32), "partial": (19, 7), "one": (1, 1), "no-rows": (0, 32)}.items():

            def write_pto(k: PtoKernel, d: str = dtype, n: int = n, m: int = m) -> None:
                x, z = k.tile("x", d, (32, 32), (n, m)), k.tile("z", d, (32, 32), (m, n))
                k.tile("tmp", d, (32, 32))
                k.op("tload", k.view("a", (0, 0, n, m)), x)
                k.fill(z, d, (32, 32), "out")
                k.op("ttrans", "x tmp", z)
                k.store("z_all", "out")

            def write_ir(k: IrKernel, n: int = n, m: int = m) -> None:
                k.result(k.call("transpose", k.load("a", (32, 32), (n, m)), 0, 1), "out", (m, n))

            def write_view(k: IrKernel, n: int = n, m: int = m) -> None:
                x = k.load("a", (32, 32), (n, m), space=Space.MAT)
                k.store(k.call("transpose_view", x), "out")

            after = _written(before, a[:n, :m].T)
            yield Case(f"ttrans-{dtype}-{region}", "ttrans", "numpy's transpose of the valid part",
                       {"a": a, "out": before}, {"out": after}, write_ir, write_pto)
            yield Case(f"transpose_view-{dtype}-{region}", "transpose_view", "numpy's transpose of the valid part",
                       {"a": a, "out": before}, {"out": after}, write_view)


def reshape_cases() -> Iterator[Case]:
    """The same bytes under another shape or type."""
    for dtype in TYPES:
        a = samples(dtype, (4, 32), 78)

        def write_pto(k: PtoKernel, d: str = dtype) -> None:
            x = k.tile("x", d, (4, 32))
            k.load("a", x)
            k.derived("y", "treshape", "x", "", f"!pto.tile_buf<loc=vec, dtype={PTO[d]}, rows=2, cols=64, v_row=2, "
                      "v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=0>")
            k.store("y", "out")

        def write_ir(k: IrKernel) -> None:
            k.store(k.call("reshape", k.load("a", (4, 32)), (2, 64)), "out")

        yield Case(f"treshape-{dtype}", "treshape", "the same elements in row-major order, by numpy's reshape",
                   {"a": a, "out": np.zeros((2, 64), KINDS[dtype])}, {"out": a.reshape(2, 64)}, write_ir, write_pto)
    a = samples("FP32", (4, 32), 79)

    for dtype, valid in (("INT32", (4, 32)), ("INT32", (3, 19)), ("INT16", (4, 32)), ("INT16", (3, 19))):
        size = KINDS[dtype].itemsize
        cols = 32 * 4 // size
        shown = (valid[0], valid[1] * 4 // size)
        seen = np.zeros((4, cols), KINDS[dtype])
        seen[: shown[0], : shown[1]] = a.view(KINDS[dtype])[: shown[0], : shown[1]]

        def bits_of(k: PtoKernel, dtype: str = dtype, cols: int = cols, shown: Region = shown) -> None:
            x = k.tile("x", "FP32", (4, 32))
            k.load("a", x)
            k.derived("y", "treshape" if cols != 32 else "bitcast", "x", "", k.type_of("x").replace(
                "dtype=f32", f"dtype={PTO[dtype]}").replace("cols=32", f"cols={cols}").replace(
                "v_row=?, v_col=?", f"v_row={shown[0]}, v_col={shown[1]}"))
            k.store("y", "out", shown)

        def bits_in_ir(k: IrKernel, dtype: str = dtype, valid: Region = valid) -> None:
            k.store(k.call("reinterpret_view", k.load("a", (4, 32), valid), dtype=dtype_of(dtype)), "out")

        yield Case(f"bits-FP32-{dtype}-{valid[0]}x{valid[1]}", "bitcast", "the stored bits read as integers, by numpy",
                   {"a": a, "out": np.zeros_like(seen)}, {"out": seen}, bits_in_ir, bits_of)


def valid_cases() -> Iterator[Case]:
    """Narrowing a handle's valid region narrows what is stored."""
    a = samples("FP32", SHAPE, 80)
    before = samples("FP32", SHAPE, 99)
    for region, valid in REGIONS.items():

        def write_pto(k: PtoKernel, valid: Region = valid) -> None:
            x = k.tile("x", "FP32", SHAPE)
            k.load("a", x)
            k.line(f"pto.set_validshape %x, {k.number(valid[0])}, {k.number(valid[1])} : {k.type_of('x')}")
            k.store(x, "out", valid)

        def write_ir(k: IrKernel, valid: Region = valid) -> None:
            k.store(k.call("set_validshape", k.load("a", SHAPE), *valid), "out")

        yield Case(f"set_validshape-{region}", "set_validshape", f"a's first {valid} elements, the rest as it was",
                   {"a": a, "out": before}, {"out": _written(before, a[: valid[0], : valid[1]])}, write_ir, write_pto)


def element_cases() -> Iterator[Case]:
    """Single elements by index: (2, 5) is element 69 of rows of 32."""
    for dtype in ("FP32", "INT32", "FP16"):
        a = samples(dtype, SHAPE, 81)
        after = a.copy()
        after[2, 5] = 3

        def write_pto(k: PtoKernel, d: str = dtype) -> None:
            x = k.tile("x", d, SHAPE)
            k.load("a", x)
            k.op("tsetval", f"c:69:index s:s:{PTO[d]}", x)
            k.store(x, "out")

        def write_ir(k: IrKernel) -> None:
            k.store(k.call("write", k.load("a", SHAPE), (2, 5), 3), "out")

        yield Case(f"tsetval-{dtype}", "tsetval", "a with one element assigned: 2 * 32 + 5 = 69",
                   {"a": a, "out": np.zeros_like(a)}, {"out": after}, write_ir, write_pto, scalars={"s": 3})

        moved = a.copy()
        moved[0, 0] = a[2, 5]

        def copy_pto(k: PtoKernel, d: str = dtype) -> None:
            x = k.tile("x", d, SHAPE)
            k.load("a", x)
            k.line(f"%e = pto.tgetval ins(%x, {k.number(69)} : {k.type_of('x')}, index) outs : {PTO[d]}")
            k.line(f"pto.tsetval ins({k.number(0)}, %e : index, {PTO[d]}) outs(%x : {k.type_of('x')})")
            k.store(x, "out")

        def copy_ir(k: IrKernel) -> None:
            x = k.load("a", SHAPE)
            k.store(k.call("write", x, (0, 0), k.call("read", x, (2, 5))), "out")

        yield Case(f"tgetval-{dtype}", "tgetval", "element (2, 5) assigned to (0, 0)",
                   {"a": a, "out": np.zeros_like(a)}, {"out": moved}, copy_ir, copy_pto)


def cases() -> Iterator[Case]:
    yield from copy_cases()
    yield from window_cases()
    yield from insert_cases()
    yield from concat_cases()
    yield from transpose_cases()
    yield from reshape_cases()
    yield from valid_cases()
    yield from element_cases()
