"""Comparisons into packed masks, and selection by masks.

Column c of a row is bit c % 8 of byte c // 8 of that row; each row starts at the mask tile's own pitch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tests.conformance.arithmetic import KINDS, PTO, Array, bits, is_float, samples
from tests.conformance.case import REGIONS, SHAPE, Case, Region
from tests.conformance.ir_kernel import IrKernel
from tests.conformance.lanes import kinds, on
from tests.conformance.pto_kernel import PtoKernel

MODES: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}
CARRIERS = ("INT8", "INT16", "UINT16", "INT32", "UINT32")
"""Types whose elements hold mask bytes, the first byte in the lowest bits."""
_COMPARED = {**REGIONS, "whole-bytes": (3, 24)}
MASK = (SHAPE[0], 32)
"""One block of bytes a row, of which the first four stand for the 32 columns."""


def packed(rows: list[list[bool]]) -> Array:
    """The mask bytes, by adding powers of two."""
    mask = np.zeros(MASK, dtype=np.uint8)
    for r, row in enumerate(rows):
        for c, bit in enumerate(row):
            mask[r, c // 8] += bit << (c % 8)
    return mask


def _data(dtype: str) -> tuple[Array, Array]:
    a, b = samples(dtype, SHAPE, 31), samples(dtype, SHAPE, 32)
    if is_float(dtype):
        a, b = (np.where(np.isnan(x), KINDS[dtype].type(7), x) for x in (a, b))
    equal = np.random.default_rng(33).random(SHAPE) < 0.4
    return a, np.where(equal, a, b)


def _bits(a: Array, b: Array, mode: str) -> list[list[bool]]:
    return [[MODES[mode](x, y) for x, y in zip(p.tolist(), q.tolist(), strict=True)] for p, q in zip(a, b, strict=True)]


def compare_cases() -> Iterator[Case]:
    """TCMP and TCMPS in every mode."""
    for op in ("tcmp", "tcmps"):
        for dtype in kinds(op):
            a, b = _data(dtype)
            if op == "tcmps":
                s = a[0, 3]
                b = np.full(SHAPE, s)
            for mode in MODES:
                for region, valid in _COMPARED.items():
                    if region != "full" and mode not in ("lt", "ne"):
                        continue
                    yield _comparison(op, dtype, mode, region, valid, a, b)


def _comparison(op: str, dtype: str, mode: str, region: str, valid: Region, a: Array, b: Array) -> Case:
    mask = packed(_bits(a, b, mode))
    by_unit = packed(_bits(a, b, mode if mode == "ne" else "eq"))
    size = -(-valid[1] // 8)
    before = np.full(MASK, 0xA5, np.uint8)
    known = np.zeros(MASK, np.uint8)  # bits of columns that are valid
    for r in range(valid[0]):
        for c in range(valid[1]):
            known[r, c // 8] |= 1 << (c % 8)
    outside = np.ones(MASK, np.uint8) * 255
    outside[: valid[0], :size] = 0

    def after(m: Array) -> Array:
        return np.where(known > 0, m, before)

    def write_pto(k: PtoKernel) -> None:
        x = k.tile("x", dtype, SHAPE, valid)
        k.op("tload", k.view("a", (0, 0, *valid)), x)
        operand = f"s:s:{PTO[dtype]}"
        if op == "tcmp":
            operand = k.tile("y", dtype, SHAPE, valid)
            k.op("tload", k.view("b", (0, 0, *valid)), operand)
        m = k.tile("m", "UINT8", MASK, (valid[0], size))
        k.fill(m, "UINT8", MASK, "out")
        k.op(op, f"x {operand}", m, f"{{cmpMode = #pto<cmp {mode}>}}")
        k.store(m, "out", (valid[0], size))

    def write_ir(k: IrKernel) -> None:
        x = k.load("a", SHAPE, valid)
        second = k.load("b", SHAPE, valid) if op == "tcmp" else b[0, 0].item()
        k.store(k.call("cmp" if op == "tcmp" else "cmps", x, second, cmp_type=list(MODES).index(mode)), "out")

    bad = dtype == "INT32" and mode not in ("eq", "ne")
    in_ir = dtype != "UINT64" and valid[1] % 8 == 0  # the interpreter gives no value to a byte that is half defined
    return Case(
        f"{op}-{dtype}-{mode}-{region}", op,
        "Python's comparison per element, packed by adding 2**(c % 8)"
        + ("; a2a3 compares i32 for equality whatever the mode" if bad else ""),
        {"a": a, "b": b, "out": before}, {"out": after(mask)}, write_ir if in_ir else None, write_pto,
        targets=on(op, dtype), on={"a2a3": {"out": after(by_unit)}} if bad else {}, care={"out": known | outside},
        scalars={"s": b[0, 0].item()},
    )


def select_cases() -> Iterator[Case]:
    """TSEL and TSELS by masks whose bits are known."""
    chosen = np.random.default_rng(34).random(SHAPE) < 0.5
    mask = packed(chosen.tolist())
    for op in ("tsel", "tsels"):
        for dtype in kinds(op):
            a, b = samples(dtype, SHAPE, 35), samples(dtype, SHAPE, 36)
            if op == "tsels":
                b = np.full(SHAPE, 5).astype(KINDS[dtype])
            values = np.array([[x if bit else y for bit, x, y in zip(*rows, strict=True)]
                               for rows in zip(chosen, a, b, strict=True)], dtype=KINDS[dtype])
            for region, valid in REGIONS.items():
                yield _selection(op, dtype, region, valid, mask, a, b, values)
            for carrier in CARRIERS if dtype in ("FP32", "INT16") else ():
                yield _selection(op, dtype, f"full-{carrier}", SHAPE, mask.view(KINDS[carrier]), a, b, values)


_SELECTED_IN_IR = {"tsel": set(KINDS) - {"UINT64"},
                   "tsels": {"INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "FP16", "FP32"}}


def _selection(
    op: str, dtype: str, region: str, valid: Region, mask: Array, a: Array, b: Array, values: Array
) -> Case:
    before = samples(dtype, SHAPE, 99)
    after = before.copy()
    after[: valid[0], : valid[1]] = values[: valid[0], : valid[1]]

    carrier = next(d for d, kind in KINDS.items() if kind == mask.dtype)
    pitch = (MASK[0], mask.shape[1])

    def write_pto(k: PtoKernel) -> None:
        m = k.tile("m", carrier, pitch)
        k.load("mask", m)
        x, y = (k.tile(n, dtype, SHAPE, valid) for n in ("x", "y"))
        for tensor, tile in (("a", x), ("b", y)):
            k.op("tload", k.view(tensor, (0, 0, *valid)), tile)
        k.tile("tmp", "UINT8", (1, 32))
        z = k.tile("z", dtype, SHAPE, valid)
        k.fill(z, dtype, SHAPE, "whole")
        k.op(op, "m x y tmp" if op == "tsel" else f"m x tmp c:5:{PTO[dtype].replace('bf16', 'i32')}"
             if not is_float(dtype) else f"m x tmp s:s:{PTO[dtype]}", z)
        k.store(z, "out", valid)
        k.store("z_all", "whole")

    def write_ir(k: IrKernel) -> None:
        m, x = k.load("mask", pitch), k.load("a", SHAPE, valid)
        tmp = k.create((1, 32), "UINT8")
        if op == "tsel":
            made = k.call("sel", m, x, k.load("b", SHAPE, valid), tmp)
        else:
            made = k.call("sels", m, x, tmp, 5)
        k.result(made, "out", valid)

    targets = tuple(t for t in on(op, dtype) if t == "a5" or bits(dtype) in (16, 32))
    return Case(
        f"{op}-{dtype}-{region}", op, "a where the bit that was packed is 1, else b: element by element",
        {"mask": mask, "a": a, "b": b, "out": before, "whole": before}, {"out": after, "whole": after},
        write_ir if dtype in _SELECTED_IN_IR[op] else None, write_pto, targets=targets, scalars={"s": 5.0},
    )


def chained_case() -> Iterator[Case]:
    """A mask as it comes out of a comparison selects, row by row, at a pitch of its own."""
    shape, pitch = (4, 64), (4, 64)
    for dtype in ("FP32", "FP16"):
        a, b = samples(dtype, shape, 37, special=False), samples(dtype, shape, 38, special=False)
        values = np.where(np.asarray(a, np.float64) > np.asarray(b, np.float64), a, b)
        values = np.where(a == b, b, values)

        def write_pto(k: PtoKernel, dtype: str = dtype) -> None:
            x, y, z = (k.tile(n, dtype, shape) for n in ("x", "y", "z"))
            k.load("a", x)
            k.load("b", y)
            m = k.tile("m", "UINT8", pitch, (4, 8))
            k.tile("tmp", "UINT8", (1, 32))
            k.op("tcmp", "x y", m, "{cmpMode = #pto<cmp gt>}")
            k.op("tsel", "m x y tmp", z)
            k.store(z, "out")

        def write_ir(k: IrKernel) -> None:
            x, y = k.load("a", shape), k.load("b", shape)
            k.store(k.call("sel", k.call("cmp", x, y, cmp_type="gt"), x, y, k.create((1, 32), "UINT8")), "out")

        yield Case(
            f"greater-by-mask-{dtype}", "tsel", "the greater of a and b, b when they are equal",
            {"a": a, "b": b, "out": np.zeros_like(a)}, {"out": values}, write_ir, write_pto,
        )


def cases() -> Iterator[Case]:
    yield from compare_cases()
    yield from select_cases()
    yield from chained_case()
