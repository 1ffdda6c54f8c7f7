"""What an op does outside its valid region, by target."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.conformance.arithmetic import KINDS, samples
from tests.conformance.case import SHAPE, Case
from tests.conformance.pto_kernel import PtoKernel


def vector_moves() -> Iterator[Case]:
    """TMOV between vector tiles: a2a3 moves whole 32-byte blocks, a5 the elements."""
    for dtype in ("FP32", "FP16", "INT8"):
        a, before = samples(dtype, SHAPE, 141), samples(dtype, SHAPE, 99)
        block = 32 // KINDS[dtype].itemsize
        for rows, cols in ((3, 19), (1, 1)):
            after = before.copy()
            after[:rows, :cols] = a[:rows, :cols]
            more = before.copy()
            more[:rows, : -(-cols // block) * block] = a[:rows, : -(-cols // block) * block]

            def write(k: PtoKernel, dtype: str = dtype, rows: int = rows, cols: int = cols) -> None:
                x, z = k.tile("x", dtype, SHAPE), k.tile("z", dtype, SHAPE, (rows, cols))
                k.load("a", x)
                k.fill(z, dtype, SHAPE, "out")
                k.op("tmov", x, z)
                k.store("z_all", "out")

            yield Case(f"tmov-clobbers-{dtype}-{rows}x{cols}", "tmov",
                       f"a2a3 copies up to the next multiple of {block} columns, a5 {cols} columns",
                       {"a": a, "out": before}, {"out": after}, None, write, on={"a2a3": {"out": more}})


def loads() -> Iterator[Case]:
    """TLOAD without a pad leaves the rest of the last block unspecified: a store of it is reported."""

    def write(k: PtoKernel) -> None:
        x = k.tile("x", "FP32", SHAPE, (4, 19))
        k.fill(x, "FP32", SHAPE, "out")
        k.op("tload", k.view("a", (0, 0, 4, 19)), x)
        k.store("x_all", "out")
        k.store(x, "part", (4, 19))

    a = samples("FP32", SHAPE, 142)
    part = np.zeros((4, 32), np.float32)
    after = part.copy()
    after[:, :19] = a[:, :19]
    yield Case("tload-leaves-the-block-open", "tload", "columns 19..23 lie in the block that 18 ends in",
               {"a": a, "out": samples("FP32", SHAPE, 99), "part": part}, {"part": after}, None, write,
               faults=dict.fromkeys(("a2a3", "a5"), ("uninitialised",)))


def comparisons() -> Iterator[Case]:
    """TCMP: a2a3 compares whole 256-byte repeats, so the mask bytes behind the last column are overwritten."""
    a = samples("FP32", (4, 64), 143, special=False)
    before = np.full((4, 32), 0xA5, np.uint8)
    after = before.copy()
    after[:, 0] = 0xFF

    def write(k: PtoKernel) -> None:
        x = k.tile("x", "FP32", (4, 64), (4, 8))
        k.op("tload", k.view("a", (0, 0, 4, 8)), x)
        m = k.tile("m", "UINT8", (4, 32), (4, 1))
        k.fill(m, "UINT8", (4, 32), "out")
        k.op("tcmp", "x x", m, "{cmpMode = #pto<cmp eq>}")
        k.store("m_all", "out")

    yield Case("tcmp-a5-writes-its-bytes", "tcmp", "eight equal columns are one byte 0xFF a row; the others stay",
               {"a": a, "out": before}, {"out": after}, None, write, targets=("a5",))
    yield Case("tcmp-a2a3-writes-a-repeat", "tcmp", "64 columns of f32 are one repeat: eight bytes, seven of them open",
               {"a": a, "out": before}, {}, None, write, targets=("a2a3",), faults={"a2a3": ("uninitialised",)})


def scratch() -> Iterator[Case]:
    """A reduction's scratch tile holds nothing afterwards."""

    def write(k: PtoKernel) -> None:
        x, t, z = k.tile("x", "FP32", SHAPE), k.tile("t", "FP32", SHAPE), k.tile("z", "FP32", (4, 8), (4, 1))
        k.load("a", x)
        k.load("a", t)
        k.op("trowmax", f"{x} {t}", z)
        k.store(t, "out")

    a = samples("FP32", SHAPE, 144, special=False)
    yield Case("trowmax-uses-its-scratch", "trowmax", "the scratch tile is given away: storing it is reported",
               {"a": a, "out": np.zeros_like(a)}, {}, None, write,
               faults=dict.fromkeys(("a2a3", "a5"), ("uninitialised",)))


def cases() -> Iterator[Case]:
    yield from vector_moves()
    yield from loads()
    yield from comparisons()
    yield from scratch()
