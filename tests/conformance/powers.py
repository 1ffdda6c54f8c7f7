"""TPOW, TPOWS and TADDRELU."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.conformance.arithmetic import KINDS, PTO, Array, is_float, limits, nearest, samples, small, wide, wrapped
from tests.conformance.case import REGIONS, SHAPE, Case
from tests.conformance.single import Pto, Source, single

_KINDS = ("FP32", "FP16", "INT32", "INT16", "UINT16")


def _power(a: Array, b: Array, dtype: str) -> Array:
    """Floats by Python's `**` in float64; integers exactly, 1 / a**n cut to an integer for a negative exponent."""
    if is_float(dtype):
        flat = [x**y for x, y in zip(wide(a).flat, wide(b).flat, strict=True)]
        return nearest(np.array(flat).reshape(a.shape), dtype)
    exact = []
    for x, n in zip(a.flat, b.flat, strict=True):
        base, count = int(x), int(n)
        exact.append(base**count if count >= 0 else (base**-count if abs(base) == 1 else 0))
    return wrapped(np.array(exact, dtype=object).reshape(a.shape), dtype)


def power_cases() -> Iterator[Case]:
    """Tile by tile, tile by scalar."""
    for dtype in _KINDS:
        low = 0 if dtype.startswith("U") else -3
        a, b = small(dtype, SHAPE, 171, low, 9), small(dtype, SHAPE, 172, low, 7)
        if is_float(dtype):
            a = np.abs(a) + KINDS[dtype].type(0.5)
        for region, valid in REGIONS.items():
            yield single(
                f"tpow-{dtype}-{region}", "a ** b, rounded once, or on Python integers modulo 2**bits",
                {"a": Source(a, valid), "b": Source(b, valid)}, _power(a, b, dtype), valid, Pto("tpow", "a b tmp"),
                None, close=1e-3 if is_float(dtype) else 0.0,
            )
            yield single(
                f"tpows-{dtype}-{region}", "a ** 3, rounded once, or on Python integers modulo 2**bits",
                {"a": Source(a, valid)}, _power(a, np.full_like(a, 3), dtype), valid,
                Pto("tpows", f"a s:n:{PTO[dtype]} tmp"), None, close=1e-3 if is_float(dtype) else 0.0,
                scalars={"n": 3.0 if is_float(dtype) else 3},
            )


def sum_cases() -> Iterator[Case]:
    """The sum, or 0 where it is negative."""
    for dtype in ("FP32", "FP16", "INT16"):
        a, b = (samples(dtype, SHAPE, seed, special=False) for seed in (173, 174))
        if is_float(dtype):
            a, b = (np.where(wide(v) == 0, KINDS[dtype].type(1), v) for v in (a, b))
            with np.errstate(all="ignore"):
                total = nearest(wide(a) + wide(b), dtype)
        else:
            top = limits(dtype)[1]
            a, b = np.clip(a, -top // 2, top // 2), np.clip(b, -top // 2, top // 2)
            total = wrapped((a.astype(np.int64) + b).astype(object), dtype)
        values = np.where(wide(total) > 0, total, KINDS[dtype].type(0))
        for region, valid in REGIONS.items():
            yield single(
                f"taddrelu-{dtype}-{region}", "a + b in float64 or on integers, 0 where it is negative",
                {"a": Source(a, valid), "b": Source(b, valid)}, values, valid, Pto("taddrelu", "a b"), None,
                targets=("a2a3",),
            )


def cases() -> Iterator[Case]:
    yield from power_cases()
    yield from sum_cases()
