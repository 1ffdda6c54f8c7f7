"""Kernels whose buffers are of interest, lowered and run against their source."""

from __future__ import annotations

from pypto_verified.ir.stmt import Function

from .build import lower, tile
from .machine import meaning, placed

PARAMS = """
a: pl.Tensor[[256, 64], pl.FP32],
n: pl.Scalar[pl.INDEX],
out: pl.Out[pl.Tensor[[256, 64], pl.FP32]]
"""
CUBE = """
a: pl.Tensor[[32, 64], pl.FP16],
b: pl.Tensor[[64, 48], pl.FP16],
n: pl.Scalar[pl.INDEX],
out: pl.Out[pl.Tensor[[32, 48], pl.FP32]]
"""
LOADS = """
x0 = pl.load(a, [0, 0], [16, 64])
y0 = pl.load(a, [16, 0], [16, 64])
z0 = pl.load(a, [32, 0], [16, 64])
"""


def checked(f: Function, arch: str = "a2a3", planner: str = "PYPTO") -> Function:
    """Lowered, and run against its source."""
    lowered = lower(f, arch, planner)
    for n in range(5):
        assert placed(lowered, {"n": n}) == meaning(f, {"n": n}), n
    return lowered


def address(f: Function, name: str) -> object:
    """Where a tile lies; None where the planner leaves that open."""
    memref = tile(f, name).memref
    assert memref is not None
    return memref.offset
