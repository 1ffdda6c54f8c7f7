"""Tiles made from nothing or filled up: scalars, ramps, triangles, padding around a valid region."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pypto_verified.layouts import Pad
from tests.conformance.arithmetic import KINDS, PTO, Array, is_float, limits, samples, wrapped
from tests.conformance.case import REGIONS, SHAPE, Case, Region
from tests.conformance.ir_kernel import IrKernel, dtype_of
from tests.conformance.lanes import kinds, on
from tests.conformance.pto_kernel import PtoKernel


def scalar_cases() -> Iterator[Case]:
    """TEXPANDS fills the valid region."""
    for dtype in kinds("texpands"):
        s = -3 if not dtype.startswith("U") else 200
        a = samples(dtype, SHAPE, 61)
        values = np.full(SHAPE, s).astype(KINDS[dtype])
        for region, valid in REGIONS.items():
            before = samples(dtype, SHAPE, 99)
            after = before.copy()
            after[: valid[0], : valid[1]] = values[: valid[0], : valid[1]]

            def write_pto(k: PtoKernel, dtype: str = dtype, valid: Region = valid) -> None:
                z = k.tile("z", dtype, SHAPE, valid)
                k.fill(z, dtype, SHAPE, "whole")
                k.op("texpands", f"s:s:{PTO[dtype]}", z)
                k.store(z, "out", valid)
                k.store("z_all", "whole")

            def write_ir(k: IrKernel, valid: Region = valid, s: int = s) -> None:
                k.result(k.call("expands", k.load("a", SHAPE, valid), s), "out", valid)

            yield Case(
                f"texpands-{dtype}-{region}", "texpands", f"{s} in every valid element, by numpy's full",
                {"a": a, "out": before, "whole": before}, {"out": after, "whole": after},
                write_ir if dtype != "UINT64" else None, write_pto, targets=on("texpands", dtype), scalars={"s": s},
            )

        def write_full(k: IrKernel, dtype: str = dtype, s: int = s) -> None:
            k.store(k.call("full", SHAPE, s, dtype=dtype_of(dtype)), "out")

        if dtype != "UINT64":
            yield Case(f"full-{dtype}", "full", f"{s} in every element, by numpy's full", {"out": a}, {"out": values},
                       write_full)


def ramp_cases() -> Iterator[Case]:
    """TCI counts up or down along one row, modulo 2**bits."""
    for dtype in kinds("tci"):
        for start in (5, limits(dtype)[1] - 3):
            for descending in (False, True):
                steps = [start - i if descending else start + i for i in range(64)]
                values = wrapped(np.array([steps], dtype=object), dtype)

                def write_pto(k: PtoKernel, dtype: str = dtype, down: bool = descending) -> None:
                    z = k.tile("z", dtype, (1, 64))
                    k.op("tci", f"s:s:{PTO[dtype]}", z, f"{{descending = {str(down).lower()}}}")
                    k.store(z, "out")

                def write_ir(k: IrKernel, dtype: str = dtype, down: bool = descending, start: int = start) -> None:
                    k.store(k.call("ci", start, (1, 64), dtype=dtype_of(dtype), descending=down), "out")

                yield Case(
                    f"tci-{dtype}-{start}-{'down' if descending else 'up'}", "tci",
                    "start plus or minus the column, on Python integers modulo 2**bits",
                    {"out": np.zeros((1, 64), KINDS[dtype])}, {"out": values}, write_ir, write_pto,
                    scalars={"s": start},
                )


def triangle_cases() -> Iterator[Case]:
    """TTRI: ones below (or above) a diagonal."""
    for dtype in kinds("ttri"):
        for diagonal in (-2, 0, 3):
            for upper in (False, True):
                values = np.zeros(SHAPE, KINDS[dtype])
                for r in range(SHAPE[0]):
                    for c in range(SHAPE[1]):
                        values[r, c] = (c >= r + diagonal) if upper else (c <= r + diagonal)
                for region, valid in REGIONS.items():
                    if region != "full" and diagonal:
                        continue
                    yield _triangle(dtype, diagonal, upper, region, valid, values)


def _triangle(dtype: str, diagonal: int, upper: bool, region: str, valid: Region, values: Array) -> Case:
    before = samples(dtype, SHAPE, 99)
    after = before.copy()
    after[: valid[0], : valid[1]] = values[: valid[0], : valid[1]]

    def write_pto(k: PtoKernel) -> None:
        z = k.tile("z", dtype, SHAPE, valid)
        k.fill(z, dtype, SHAPE, "whole")
        k.op("ttri", f"c:{diagonal}:i32", z, f"{{upperOrLower = {int(upper)} : i32}}")
        k.store(z, "out", valid)
        k.store("z_all", "whole")

    def write_ir(k: IrKernel) -> None:
        made = k.call("tri", diagonal, SHAPE, valid, dtype=dtype_of(dtype), upper=upper)
        k.result(made, "out", valid)

    return Case(
        f"ttri-{dtype}-{diagonal}-{'upper' if upper else 'lower'}-{region}", "ttri",
        f"1 where column {'>=' if upper else '<='} row + {diagonal}, else 0: element by element",
        {"out": before, "whole": before}, {"out": after, "whole": after},
        write_ir if dtype not in ("INT64", "UINT64") else None, write_pto, targets=on("ttri", dtype),
    )


def pad_bits(pad: str, dtype: str) -> Array:
    """The element a pad mode stands for: floats pad with infinities, integers with their limits."""
    if pad == "zero":
        return np.zeros((), KINDS[dtype])
    if is_float(dtype):
        return np.asarray(np.inf if pad == "max" else -np.inf).astype(KINDS[dtype])
    return np.asarray(limits(dtype)[pad == "max"]).astype(KINDS[dtype])


PAD_CODES = {"zero": 1, "max": 2, "min": 3}


def fillpad_cases() -> Iterator[Case]:
    """TFILLPAD: the valid region stays, the rest of the tile becomes the pad."""
    for dtype in kinds("tfillpad"):
        a = samples(dtype, SHAPE, 62)
        for pad in PAD_CODES:
            values = np.full(SHAPE, pad_bits(pad, dtype), KINDS[dtype])
            for region, valid in REGIONS.items():
                if dtype not in ("FP32", "INT8") and region not in ("partial", "one"):
                    continue
                made = values.copy()
                made[: valid[0], : valid[1]] = a[: valid[0], : valid[1]]
                yield _fillpad(f"tfillpad-{dtype}-{pad}-{region}", "fillpad", dtype, pad, valid, SHAPE, a, made)
                if region == "partial":
                    big = np.full((6, 64), pad_bits(pad, dtype), KINDS[dtype])
                    big[: valid[0], : valid[1]] = a[: valid[0], : valid[1]]
                    yield _fillpad(f"tfillpad_expand-{dtype}-{pad}", "fillpad_expand", dtype, pad, valid, (6, 64), a,
                                   big)
                    yield _fillpad(f"tfillpad_inplace-{dtype}-{pad}", "fillpad_inplace", dtype, pad, valid, SHAPE, a,
                                   made)


def _fillpad(
    name: str, op: str, dtype: str, pad: str, valid: Region, shape: tuple[int, int], a: Array, values: Array
) -> Case:
    inplace = op.endswith("inplace")

    def write_pto(k: PtoKernel) -> None:
        x = k.tile("x", dtype, SHAPE, valid)
        k.op("tload", k.view("a", (0, 0, *valid)), x)
        z = k.tile("z", dtype, shape, pad=PAD_CODES[pad], addr=k.addresses["x"] if inplace else None)
        k.op("tfillpad" if inplace else f"t{op}", x, z)
        k.store(z, "out")

    def write_ir(k: IrKernel) -> None:
        x = k.load("a", SHAPE, valid)
        extra = (shape,) if op.endswith("expand") else ()
        k.store(k.call(op, x, *extra, pad_value=Pad[pad.upper()]), "out")

    return Case(
        name, "tfillpad" if inplace else f"t{op}",
        "what is valid stays, the rest is the pad: +-infinity for floats, the limits for integers",
        {"a": a, "out": np.zeros_like(values)}, {"out": values}, write_ir, write_pto,
    )


def device_fillpad() -> Iterator[Case]:
    """What the device's TFILLPAD leaves alone: rows behind dst's valid rows, and the last block of a row when both
    tiles have the same pad (the load is trusted to have padded it)."""
    a = samples("FP32", SHAPE, 63, special=False)
    before = samples("FP32", SHAPE, 99)
    for same in (False, True):
        after = before.copy()
        after[:2, :] = 0
        after[:2, :19] = a[:2, :19]
        if same:
            after[:2, 19:24] = 0  # TLOAD padded the block that column 18 ends in, because x has that pad

        def write(k: PtoKernel, same: bool = same) -> None:
            x = k.tile("x", "FP32", SHAPE, (2, 19), pad=1 if same else 2)
            k.op("tload", k.view("a", (0, 0, 2, 19)), x)
            z = k.tile("z", "FP32", SHAPE, (3, 32), pad=1)
            k.fill(z, "FP32", SHAPE, "out")
            k.op("tfillpad", x, z)
            k.store("z_all", "out")

        after[2, :] = 0
        yield Case(
            f"tfillpad-rows-of-dst-{'same' if same else 'other'}-pad", "tfillpad",
            "rows 0, 1 from a and padded; row 2 is pad; row 3 lies behind dst's valid rows and stays",
            {"a": a, "out": before}, {"out": after}, None, write,
        )


def cases() -> Iterator[Case]:
    yield from scalar_cases()
    yield from ramp_cases()
    yield from triangle_cases()
    yield from fillpad_cases()
    yield from device_fillpad()
