"""TQUANT and TDEQUANT: a scale and an offset for every row."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from tests.conformance.arithmetic import KINDS, Array, limits, nearest, samples, whole, wide
from tests.conformance.case import REGIONS, SHAPE, Case
from tests.conformance.single import Pto, Source, single

_TYPES = {"INT8_SYM": "INT8", "INT8_ASYM": "UINT8"}


def _column(values: tuple[float, ...]) -> Array:
    """One value a row, in column 0 of a tile."""
    found = np.zeros((SHAPE[0], 8), np.float32)
    found[:, 0] = values
    return found


def _quantised(a: Array, scale: Array, offset: Array | None, dtype: str) -> Array:
    low, high = limits(dtype)
    scaled = nearest(wide(a) * wide(scale[:, :1]), "FP32")
    moved = scaled if offset is None else nearest(wide(scaled) + wide(offset[:, :1]), "FP32")
    flat = [min(max(whole(Fraction(float(x)), "RINT"), low), high) for x in moved.flat]
    return np.array(flat, KINDS[dtype]).reshape(a.shape)


def quantise_cases() -> Iterator[Case]:
    """To eight bits, to nearest even, limited to the type."""
    scale, offset = _column((0.5, 3.0, -1.25, 1e4)), _column((1.0, 127.5, -3.0, 0.0))
    a = np.random.default_rng(151).normal(0, 40, SHAPE).astype(np.float32)
    a[:, :6] = (0.0, 1.0, 3.0, -5.0, 1e6, -1e6)
    for mode, dtype in _TYPES.items():
        moved = None if mode == "INT8_SYM" else offset
        values = _quantised(a, scale, moved, dtype)
        for region, valid in REGIONS.items():
            sources = {"a": Source(a, valid), "scale": Source(scale, (valid[0], 1))}
            if moved is not None:
                sources["offset"] = Source(moved, (valid[0], 1))
            yield single(
                f"tquant-{mode}-{region}", "a * scale (+ offset) in float64 rounded to f32 after each step, then by "
                "fractions to the nearest integer, ties to even, within the type", sources, values, valid,
                Pto("tquant", " ".join(sources), f"{{quant_type = #pto<quant_type {mode}>}}"), None,
            )


def dequantise_cases() -> Iterator[Case]:
    """(a - offset) * scale."""
    scale, offset = _column((0.5, 3.0, -1.25, 1e-3)), _column((1.0, -128.0, 0.5, 100.0))
    for dtype in ("INT8", "INT16"):
        a = samples(dtype, SHAPE, 152)
        values = nearest(wide(nearest(wide(a) - wide(offset[:, :1]), "FP32")) * wide(scale[:, :1]), "FP32")
        for region, valid in REGIONS.items():
            yield single(
                f"tdequant-{dtype}-{region}", "(a - offset) * scale in float64, rounded to f32 after each step",
                {"a": Source(a, valid), "scale": Source(scale, (valid[0], 1)), "offset": Source(offset, (valid[0], 1))},
                values, valid, Pto("tdequant", "a scale offset"), None,
            )


def cases() -> Iterator[Case]:
    yield from quantise_cases()
    yield from dequantise_cases()
