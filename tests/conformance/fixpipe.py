"""The accumulator's way out: conversion, quantisation, ReLU, and the spaces it can go to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from pypto_verified.layouts import Space
from tests.conformance.arithmetic import FORMATS, KINDS, Array, nearest, small, to_format, wide
from tests.conformance.case import Case, Memory
from tests.conformance.cube import multiplied, operands, total
from tests.conformance.ir_kernel import IrKernel
from tests.conformance.layouts import image
from tests.conformance.pto_kernel import PtoKernel


def _accumulated(values: Array) -> dict[str, Array]:
    """Inputs whose product is `values` (16 x 16, exact in f16 or i8): the identity times them."""
    return {"a": np.eye(16).astype(values.dtype), "b": values}


def _hold(k: PtoKernel, dtype: str, cols: int = 16) -> str:
    """An accumulator that holds b, by a product with the identity."""
    am, bm = k.tile("am", dtype, (16, cols), (16, 16), space="mat"), k.tile("bm", dtype, (cols, cols), (16, 16), "mat")
    k.load("a", am)
    k.load("b", bm)
    k.op("tmov", am, k.tile("al", dtype, (16, cols), (16, 16), "left", compact=1))
    k.op("tmov", bm, k.tile("br", dtype, (cols, cols), (16, 16), "right", compact=1))
    return k.tile("cc", total(dtype), (16, 16), space="acc")


def _half(values: Array, to: str) -> Array:
    flat = [to_format(Fraction(float(v)), FORMATS[to], "RINT") for v in wide(values).flat]
    return nearest(np.array([np.inf if v is None else float(v) for v in flat]).reshape(values.shape), to)


def way_out() -> Iterator[Case]:
    """TSTORE converts to half types, to nearest even; with a scale word it quantises; ReLU comes last."""
    b = np.round(np.random.default_rng(108).normal(0, 300, (16, 16))).astype(np.float16)
    b[0, :4] = (2049 * 0.5, -2051 * 0.5, 257, 259)
    for to in ("FP32", "FP16", "BF16"):
        for relu in (False, True):
            values = b.astype(np.float32) if to == "FP32" else _half(b, to)
            if relu:
                values = np.where(wide(values) > 0, values, np.zeros((), KINDS[to]))

            def write(k: PtoKernel, relu: bool = relu) -> None:
                cc = _hold(k, "FP16")
                k.op("tmatmul", "al br", cc)
                k.store(cc, "out", attrs="{reluPreMode = #pto<relu_pre_mode normal_relu>}" if relu else "")

            def write_ir(k: IrKernel) -> None:
                x, y = (k.call("move", k.load(n, (16, 16), space=Space.MAT), target_memory=s)
                        for n, s in (("a", Space.LEFT), ("b", Space.RIGHT)))
                k.store(k.call("matmul", x, y), "out")

            yield Case(f"tstore-acc-{to}{'-relu' if relu else ''}", "tstore",
                       "each number as a fraction, rounded to nearest even; negative ones 0 with ReLU",
                       {**_accumulated(b), "out": np.zeros((16, 16), KINDS[to])}, {"out": values},
                       None if relu else write_ir, write)


def _word(scale: float, offset: int = 0) -> int:
    """A quantisation word: an f32 scale in bits 0..31, a 9-bit offset in bits 37..45."""
    return int(np.asarray(scale, np.float32).view(np.uint32)) | (offset % 512) << 37


def _quantised(b: Array, scale: Array, offset: int, to: str) -> Array:
    low, high = (-128, 127) if to == "INT8" else (0, 255)
    out = []
    for x, s in zip(wide(b).flat, np.broadcast_to(scale, b.shape).flat, strict=True):
        v = x * float(s)
        near = int(np.floor(v + 0.5))
        if v + 0.5 == near and near % 2:
            near -= 1  # a tie: the even neighbour
        out.append(min(max(near + offset, low), high))
    return np.array(out).reshape(b.shape).astype(KINDS[to])


def quantising() -> Iterator[Case]:
    b = np.round(np.random.default_rng(109).normal(0, 200, (16, 16))).astype(np.float16)
    b[0, :3] = (5, 1000, -1000)
    for to in ("INT8", "UINT8"):
        for offset in (0, 3):
            values = _quantised(b, np.asarray(0.5), offset, to)

            def write(k: PtoKernel, offset: int = offset) -> None:
                cc = _hold(k, "FP16")
                k.op("tmatmul", "al br", cc)
                view = k.view("out")
                word = k.number(_word(0.5, offset), "i64")
                k.line(f"pto.tstore ins(%{cc} : {k.type_of(cc)}, {word} : i64) outs(%{view} : {k.type_of(view)})")

            yield Case(f"tstore-quant-{to}-{offset}", "tstore",
                       f"x / 2 to the nearest even integer, plus {offset}, limited to the type",
                       {**_accumulated(b), "out": np.zeros((16, 16), KINDS[to])}, {"out": values}, None, write)
    scale = np.array([2.0 ** (c % 4 - 2) for c in range(16)])
    words = np.array([[_word(float(s)) for s in scale]], dtype=np.uint64)

    yield Case("tstore-quant-by-column", "tstore", "column c times 2**(c mod 4 - 2), to nearest even, limited",
               {**_accumulated(b), "words": words, "out": np.zeros((16, 16), np.int8)},
               {"out": _quantised(b, scale[None, :], 0, "INT8")}, None, _by_column)


def scales_of_many_digits() -> Iterator[Case]:
    """One word is a whole f32; of a word a column the scale keeps ten fraction bits: 0.1 becomes 1638 / 16384."""
    b = np.zeros((16, 16), np.float16)
    b[0, :3] = (1015, 1004, -1004)
    one, column = np.zeros((16, 16), np.int8), np.zeros((16, 16), np.int8)
    one[0, :3] = (102, 100, -100)  # 1015 * 0.1 = 101.5, a tie: even
    column[0, :3] = (101, 100, -100)  # 1015 * 1638 / 16384 = 101.47
    words = np.full((1, 16), _word(0.1), np.uint64)

    def scalar(k: PtoKernel) -> None:
        cc = _hold(k, "FP16")
        k.op("tmatmul", "al br", cc)
        view, word = k.view("out"), k.number(_word(0.1), "i64")
        k.line(f"pto.tstore ins(%{cc} : {k.type_of(cc)}, {word} : i64) outs(%{view} : {k.type_of(view)})")

    given = {**_accumulated(b), "words": words, "out": np.zeros((16, 16), np.int8)}
    yield Case("tstore-quant-digits-one", "tstore", "1015 * 0.1 = 101.5 to the even 102", given, {"out": one}, None,
               scalar)
    yield Case("tstore-quant-digits-column", "tstore", "1015 * 1638 / 16384 = 101.47, so 101", given, {"out": column},
               None, _by_column)


def _by_column(k: PtoKernel) -> None:
    """Quantise with a word a column, through the scaling table."""
    cc = _hold(k, "FP16")
    k.op("tmatmul", "al br", cc)
    fm = k.tile("fm", "UINT64", (1, 16), space="mat", layout=("row_major", "none_box", 512))
    k.load("words", fm)
    k.op("tmov", fm, k.tile("fp", "UINT64", (1, 16), space="scaling"))
    view = k.view("out")
    k.line(f"pto.tstore ins(%{cc} : {k.type_of(cc)} fp %fp : {k.type_of('fp')}) outs(%{view} : {k.type_of(view)})")


def shifted() -> Iterator[Case]:
    """i32 to i16 is a shift by bits 32..35 of the word plus one, then a limit; a5 also makes bf16 of a scaled i32."""
    a, b = np.eye(32).astype(np.int8), np.zeros((32, 32), np.int8)
    a[0, :] = 127
    b[:, 0], b[1, 1], b[2, 2] = 127, -7, 100
    product = multiplied(a, b, "INT8")
    for to, word in (("INT16", 2 << 32), ("INT16", 0), ("BF16", _word(0.5))):
        flat = [min(max(int(v) >> ((word >> 32) + 1), -32768), 32767) for v in product.flat]
        values = np.array(flat).reshape(32, 32).astype(np.int16) if to == "INT16" else _half(product * 0.5, "BF16")

        def write(k: PtoKernel, word: int = word) -> None:
            am, bm = k.tile("am", "INT8", (32, 32), space="mat"), k.tile("bm", "INT8", (32, 32), space="mat")
            k.load("a", am)
            k.load("b", bm)
            k.op("tmov", am, k.tile("al", "INT8", (32, 32), space="left"))
            k.op("tmov", bm, k.tile("br", "INT8", (32, 32), space="right"))
            cc = k.tile("cc", "INT32", (32, 32), space="acc")
            k.op("tmatmul", "al br", cc)
            view, name = k.view("out"), k.number(word, "i64")
            k.line(f"pto.tstore ins(%{cc} : {k.type_of(cc)}, {name} : i64) outs(%{view} : {k.type_of(view)})")

        yield Case(f"tstore-i32-{to}-{word >> 32}", "tstore",
                   "Python's >> and limits" if to == "INT16" else "half of each integer as a fraction, to nearest even",
                   {"a": a, "b": b, "out": np.zeros((32, 32), KINDS[to])}, {"out": values}, None, write,
                   targets=("a2a3", "a5") if to == "INT16" else ("a5",))


def between_cases() -> Iterator[Case]:
    """TMOV out of the accumulator: to L1 in boxes of the new type, and on a5 to UB."""
    b = np.round(np.random.default_rng(110).normal(0, 300, (16, 16))).astype(np.float16)
    for to in ("FP16", "BF16"):
        values = _half(b, to)
        data, known = image("Nz", values, (16, 16), to, 256)

        def to_l1(k: PtoKernel, to: str = to) -> None:
            cc = _hold(k, "FP16")
            k.op("tmatmul", "al br", cc)
            k.op("tmov", cc, k.tile("m", to, (16, 16), space="mat", addr=65536))

        part = Memory("mat", 65536, data, known)
        yield Case(f"tmov-acc-mat-{to}", "tmov", "b's fractions to nearest even, at the Nz address by hand",
                   _accumulated(b), {}, None, to_l1, memory=dict.fromkeys(("a2a3", "a5"), (part,)))
        yield Case(f"tmov-acc-vec-{to}", "tmov", "b's fractions to nearest even, row by row",
                   {**_accumulated(b), "out": np.zeros((16, 16), KINDS[to])}, {"out": values}, None,
                   _to_vector("tmov", to), targets=("a5",))
    yield Case("tmov-acc-vec-FP32", "tmov", "b itself, row by row",
               {**_accumulated(b), "out": np.zeros((16, 16), np.float32)}, {"out": b.astype(np.float32)}, None,
               _to_vector("tmov", "FP32"), targets=("a5",))
    yield Case("textract-acc-vec-FP32", "textract", "b itself, row by row",
               {**_accumulated(b), "out": np.zeros((16, 16), np.float32)}, {"out": b.astype(np.float32)}, None,
               _to_vector("textract", "FP32"), targets=("a5",))


def _to_vector(op: str, to: str) -> Callable[[PtoKernel], None]:
    def write(k: PtoKernel) -> None:
        cc = _hold(k, "FP16")
        k.op("tmatmul", "al br", cc)
        z = k.tile("z", to, (16, 16))
        k.op(op, cc if op == "tmov" else f"{cc} c:0:index c:0:index", z)
        k.store(z, "out")

    return write


def move_pitch() -> Iterator[Case]:
    """a5's TMOV reads a partly valid accumulator at its run-time rows rounded up to 16, or, when the valid rows are
    part of the type, at its physical rows; Compact does not count. The unit wrote at a pitch of 16 rows."""
    inputs = {"a": small("FP16", (32, 64), 111), "b": small("FP16", (64, 64), 112)}
    values = multiplied(inputs["a"][:16], inputs["b"], "FP16")
    for static in (False, True):
        shown = 16 if static else 64  # of the static tile only the first block of columns is where the move looks
        out = np.zeros((16, shown), np.float32)

        def write(k: PtoKernel, static: bool = static, shown: int = shown) -> None:
            operands(k, "FP16", (16, 64, 64))
            cc = k.tile("cc", "FP32", (32, 64), (16, 64), "acc", compact=1, static=static)
            k.op("tmatmul", "al br", cc)
            z = k.tile("z", "FP32", (16, 64))
            k.op("tmov", cc, z)
            k.store(k.tile("shown", "FP32", (16, 64), (16, shown), addr=k.addresses["z"]), "out", (16, shown))
            if static:
                k.store(z, "all")

        given = {**inputs, "out": out} | ({"all": np.zeros((16, 64), np.float32)} if static else {})
        yield Case(f"tmov-acc-vec-pitch-{'static' if static else 'dynamic'}", "tmov",
                   "a @ b where pitches agree; column block 1 lies at 16 * 16 elements, a pitch of 32 looks at 32 * 16",
                   given, {"out": values[:, :shown]}, None, write, targets=("a5",),
                   faults={"a5": ("uninitialised",)} if static else {})


def cases() -> Iterator[Case]:
    yield from move_pitch()
    yield from way_out()
    yield from quantising()
    yield from scales_of_many_digits()
    yield from shifted()
    yield from between_cases()
