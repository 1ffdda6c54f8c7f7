"""Matrix products through all memories, and the accumulator's way out.

Data are small integers: every product and sum is exact, so the unspecified order of additions does not show.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pypto_verified.dtypes import BOOL
from pypto_verified.ir.expr import Const, Var
from pypto_verified.layouts import Space
from tests.conformance.arithmetic import (
    KINDS,
    Array,
    is_float,
    objects,
    small,
    wrapped,
)
from tests.conformance.case import Case, Memory
from tests.conformance.ir_kernel import IrKernel
from tests.conformance.pto_kernel import PtoKernel

Extents = tuple[int, int, int]
WHOLE: Extents = (32, 64, 64)
REGIONS: dict[str, Extents] = {
    "full": WHOLE, "partial": (19, 37, 21), "one": (1, 1, 1), "no-rows": (0, 64, 64), "row": (1, 37, 21),
    "no-cols": (32, 64, 0),
}


def total(dtype: str) -> str:
    """What products of the type add up in."""
    return "FP32" if is_float(dtype) else "INT32"


def multiplied(a: Array, b: Array, dtype: str) -> Array:
    """The product by sums over Python integers."""
    x, y = objects(a), objects(b)
    rows = [[sum(int(p) * int(q) for p, q in zip(row, col, strict=True)) for col in y.T] for row in x]
    flat = np.array(rows, dtype=object).reshape(x.shape[0], y.shape[1])
    return wrapped(flat, "INT32") if total(dtype) == "INT32" else flat.astype(np.float64).astype(np.float32)


def operands(k: PtoKernel, dtype: str, e: Extents, compact: int = 1) -> None:
    """Tiles al (L0A) and br (L0B), loaded through L1 from tensors a and b."""
    m, kk, n = e
    am, bm = k.tile("am", dtype, WHOLE[:2], (m, kk), "mat"), k.tile("bm", dtype, WHOLE[1:], (kk, n), "mat")
    k.op("tload", k.view("a", (0, 0, m, kk)), am)
    k.op("tload", k.view("b", (0, 0, kk, n)), bm)
    k.op("tmov", am, k.tile("al", dtype, WHOLE[:2], (m, kk), "left", compact=compact))
    k.op("tmov", bm, k.tile("br", dtype, WHOLE[1:], (kk, n), "right", compact=compact))


def ir_operands(k: IrKernel, e: Extents) -> tuple[Var, Var]:
    """The same in IR."""
    m, kk, n = e
    a, b = k.load("a", WHOLE[:2], (m, kk), space=Space.MAT), k.load("b", WHOLE[1:], (kk, n), space=Space.MAT)
    return k.call("move", a, target_memory=Space.LEFT), k.call("move", b, target_memory=Space.RIGHT)


def _inputs(dtype: str) -> dict[str, Array]:
    a, b = small(dtype, WHOLE[:2], 101), small(dtype, WHOLE[1:], 102)
    if dtype == "INT8":
        a[0, :], b[:, 0] = -128, -128
    return {"a": a, "b": b}


def product_cases() -> Iterator[Case]:
    """TMATMUL, its accumulating form and its form with a bias."""
    for dtype in ("FP16", "BF16", "FP32", "INT8"):
        inputs = _inputs(dtype)
        acc = total(dtype)
        bias = small(acc, (1, WHOLE[2]), 103)
        for region, e in REGIONS.items():
            m, kk, n = e
            before = small(acc, (WHOLE[0], WHOLE[2]), 104)
            once = multiplied(inputs["a"][:m, :kk], inputs["b"][:kk, :n], dtype)
            for form in ("plain", "acc", "bias"):
                result = {"plain": once, "acc": once * 3, "bias": once + bias[:, :n]}[form]
                after = before.copy()
                after[:m, :n] = result.astype(KINDS[acc])
                yield _product(form, dtype, region, e, {**inputs, "v": bias, "out": before}, after)


def _product(form: str, dtype: str, region: str, e: Extents, inputs: dict[str, Array], after: Array) -> Case:
    acc, (m, _, n) = total(dtype), e

    def write_pto(k: PtoKernel) -> None:
        operands(k, dtype, e)
        cc = k.tile("cc", acc, (WHOLE[0], WHOLE[2]), (m, n), "acc", compact=1)
        if form == "bias":
            vm = k.tile("vm", acc, (1, WHOLE[2]), space="mat", layout=("row_major", "none_box", 512))
            k.load("v", vm)
            k.op("tmov", vm, k.tile("vb", acc, (1, WHOLE[2]), space="bias"))
            k.op("tmatmul.bias", "al br vb", cc)
        else:
            k.op("tmatmul", "al br", cc)
        for _ in range(2 if form == "acc" else 0):
            k.op("tmatmul.acc", "cc al br", cc)
        k.store(cc, "out", (m, n))

    def write_ir(k: IrKernel) -> None:
        a, b = ir_operands(k, e)
        if form == "bias":
            v = k.call("move", k.load("v", (1, WHOLE[2]), space=Space.MAT), target_memory=Space.BIAS)
            made = k.call("matmul_bias", a, b, v)
        else:
            made = k.call("matmul", a, b)
        for _ in range(2 if form == "acc" else 0):
            made = k.call("matmul_acc", made, a, b)
        k.store(made, "out")

    op = {"plain": "tmatmul", "acc": "tmatmul.acc", "bias": "tmatmul.bias"}[form]
    why = {"plain": "a @ b", "acc": "a @ b added twice to a @ b", "bias": "a @ b plus one value a column"}[form]
    return Case(f"{op}-{dtype}-{region}", op, f"{why}, by sums over Python integers", inputs, {"out": after},
                write_ir, write_pto)


def vector_cases() -> Iterator[Case]:
    """TGEMV: one row of A, dense."""
    for dtype in ("FP16", "BF16", "FP32", "INT8"):
        acc = total(dtype)
        a, b = small(dtype, (1, 64), 105), small(dtype, (64, 64), 106)
        once = multiplied(a, b, dtype)
        bias = small(acc, (1, 64), 107)
        for form in ("plain", "acc", "bias"):
            after = {"plain": once, "acc": once * 2, "bias": once + bias}[form].astype(KINDS[acc])

            def write_pto(k: PtoKernel, dtype: str = dtype, acc: str = acc, form: str = form) -> None:
                am = k.tile("am", dtype, (1, 64), space="mat", layout=("row_major", "none_box", 512))
                bm = k.tile("bm", dtype, (64, 64), space="mat")
                k.load("a", am)
                k.load("b", bm)
                k.op("tmov", am, k.tile("al", dtype, (1, 64), space="left"))
                k.op("tmov", bm, k.tile("br", dtype, (64, 64), space="right"))
                cc = k.tile("cc", acc, (16, 64), (1, 64), "acc")
                if form == "bias":
                    vm = k.tile("vm", acc, (1, 64), space="mat", layout=("row_major", "none_box", 512))
                    k.load("v", vm)
                    k.op("tmov", vm, k.tile("vb", acc, (1, 64), space="bias"))
                    k.op("tgemv.bias", "al br vb", cc)
                else:
                    k.op("tgemv", "al br", cc)
                if form == "acc":
                    k.op("tgemv.acc", "cc al br", cc)
                k.store(cc, "out")

            def write_ir(k: IrKernel, form: str = form) -> None:
                x = k.call("move", k.load("a", (1, 64), space=Space.MAT), target_memory=Space.LEFT)
                y = k.call("move", k.load("b", (64, 64), space=Space.MAT), target_memory=Space.RIGHT)
                if form == "bias":
                    v = k.call("move", k.load("v", (1, 64), space=Space.MAT), target_memory=Space.BIAS)
                    made = k.call("gemv_bias", x, y, v)
                else:
                    made = k.call("gemv", x, y)
                if form == "acc":
                    made = k.call("gemv_acc", made, x, y)
                k.store(made, "out")

            op = {"plain": "tgemv", "acc": "tgemv.acc", "bias": "tgemv.bias"}[form]
            yield Case(f"{op}-{dtype}", op, "the one row's product, by sums over Python integers",
                       {"a": a, "b": b, "v": bias, "out": np.zeros((1, 64), KINDS[acc])}, {"out": after},
                       write_ir, write_pto)


def accumulator_bytes() -> Iterator[Case]:
    """The unit addresses L0C in 16 x 16 boxes at a pitch of the valid rows rounded up to 16, whatever the tile says."""
    for dtype in ("FP16", "INT8"):
        for m, n in ((32, 64), (19, 21), (16, 48)):
            inputs = _inputs(dtype)
            values = multiplied(inputs["a"][:m], inputs["b"][:, :n], dtype)
            pitch = -(-m // 16) * 16
            data, known = np.zeros(64 * 64, KINDS[total(dtype)]), np.zeros(64 * 64, np.bool_)
            for r in range(m):
                for c in range(n):
                    place = c // 16 * pitch * 16 + r // 16 * 256 + r % 16 * 16 + c % 16
                    data[place], known[place] = values[r, c], True

            def write(k: PtoKernel, dtype: str = dtype, m: int = m, n: int = n) -> None:
                operands(k, dtype, (m, 64, n))
                k.op("tmatmul", "al br", k.tile("cc", total(dtype), (64, 64), (m, n), "acc"))

            yield Case(f"tmatmul-bytes-{dtype}-{m}x{n}", "tmatmul",
                       f"box (r / 16, c / 16) at c / 16 * {pitch} * 16 + r / 16 * 256 elements, by hand", inputs, {},
                       None, write, memory={on: (Memory("acc", 0, data, known),) for on in ("a2a3", "a5")})


def pitch_cases() -> Iterator[Case]:
    """A store reads at the tile's rows unless the tile is compact: with 16 valid rows of 32 only the first 16 columns
    are where it looks."""
    inputs = _inputs("FP16")
    good = multiplied(inputs["a"][:16], inputs["b"], "FP16")
    for compact in (0, 1):
        out = np.zeros((16, 64), np.float32)
        if not compact:
            inputs = {**inputs, "first": np.zeros((16, 16), np.float32)}

        def write(k: PtoKernel, compact: int = compact) -> None:
            operands(k, "FP16", (16, 64, 64))
            cc = k.tile("cc", "FP32", (32, 64), (16, 64), "acc", compact=compact)
            k.op("tmatmul", "al br", cc)
            if compact:
                k.store(cc, "out")
            else:
                k.store(k.tile("head", "FP32", (32, 64), (16, 16), "acc", addr=0), "first")
                k.store(cc, "out")

        expected = {"out": good} if compact else {"first": good[:, :16]}
        yield Case(f"acc-pitch-{'compact' if compact else 'rows'}", "tmatmul",
                   "column block 1 is written at 16 * 16 elements; a pitch of 32 rows looks at 32 * 16",
                   {**inputs, "out": out}, expected, None, write,
                   faults={} if compact else dict.fromkeys(("a2a3", "a5"), ("uninitialised",)))


def widened_cases() -> Iterator[Case]:
    """m = 1: a2a3 computes and writes sixteen rows, a5 one."""
    inputs = _inputs("FP16")
    sixteen = multiplied(inputs["a"][:16], inputs["b"], "FP16")
    old = multiplied(np.full((16, 64), 1, np.float16), inputs["b"], "FP16")
    alone = old.copy()
    alone[0] = sixteen[0]

    def write(k: PtoKernel) -> None:
        operands(k, "FP16", (16, 64, 64))
        om = k.tile("om", "FP16", (16, 64), space="mat")
        k.load("ones", om)
        k.op("tmov", om, k.tile("ol", "FP16", (16, 64), space="left"))
        cc = k.tile("cc", "FP32", (16, 64), space="acc")
        k.op("tmatmul", "ol br", cc)
        k.tile("row", "FP16", (16, 64), (1, 64), "left", addr=k.addresses["al"])
        k.tile("top", "FP32", (16, 64), (1, 64), "acc", addr=k.addresses["cc"])
        k.op("tmatmul", "row br", "top")
        k.store(cc, "out")

    yield Case("tmatmul-one-row", "tmatmul", "rows 1..15: a2a3 multiplies the rows of A that lie there, a5 leaves them",
               {**inputs, "ones": np.ones((16, 64), np.float16), "out": np.zeros((16, 64), np.float32)},
               {"out": alone}, None, write, on={"a2a3": {"out": sixteen}})


def accumulating_into_its_own_bytes() -> Iterator[Case]:
    """TMATMUL.ACC adds to the destination's bytes; the operand `acc_in` is not looked at."""
    inputs = _inputs("FP16")
    once = multiplied(inputs["a"], inputs["b"], "FP16")

    def write(k: PtoKernel) -> None:
        operands(k, "FP16", WHOLE)
        cc, other = (k.tile(n, "FP32", (32, 64), space="acc") for n in ("cc", "other"))
        k.op("tmatmul", "al br", cc)
        k.op("tmatmul.acc", f"{other} al br", cc)
        k.store(cc, "out")

    yield Case("tmatmul.acc-other", "tmatmul.acc", "twice a @ b, although acc_in names a tile never written", 
               {**inputs, "out": np.zeros((32, 64), np.float32)}, {"out": once * 2}, None, write)


def initial_case() -> Iterator[Case]:
    """`init_cond`: where it holds the accumulator's old value does not count."""
    inputs = _inputs("FP16")
    once = multiplied(inputs["a"], inputs["b"], "FP16")

    def write(k: IrKernel) -> None:
        a, b = ir_operands(k, WHOLE)
        acc = k.create((32, 64), "FP32", Space.ACC)
        k.store(k.call("matmul_acc", acc, a, b, Const(True, BOOL)), "out")

    yield Case("matmul_acc-init", "tmatmul.acc", "a @ b alone: the accumulator was never written",
               {**inputs, "out": np.zeros((32, 64), np.float32)}, {"out": once}, write)


def cases() -> Iterator[Case]:
    yield from product_cases()
    yield from vector_cases()
    yield from accumulator_bytes()
    yield from pitch_cases()
    yield from widened_cases()
    yield from accumulating_into_its_own_bytes()
    yield from initial_case()
