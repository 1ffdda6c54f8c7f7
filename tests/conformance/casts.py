"""TCVT: every native pair of each target in every rounding mode, by fractions.

Saturation: a2a3 heeds OFF for six narrowing pairs and saturates the others; a5 does as the attribute says, OFF when it
is missing. OFF goes through a saturated 32-bit integer of which the low bits stay (and leaves a float infinite).
Source: PTO-ISA TCvt.hpp of both targets.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from tests.conformance.arithmetic import (
    FORMATS,
    KINDS,
    Array,
    edges,
    is_float,
    limits,
    nearest,
    samples,
    to_format,
    whole,
    wrapped,
)
from tests.conformance.case import REGIONS, SHAPE, Case
from tests.conformance.ir_kernel import dtype_of
from tests.conformance.single import Pto, Source, ir, single

MODES = ("RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD")
_PAIRS = {
    "a2a3": "FP32>FP16,BF16,INT16,INT32,INT64 FP16>FP32,INT32,INT16,INT8,UINT8 BF16>FP32,INT32 INT16>FP16,FP32 "
            "INT32>FP32,INT16,INT64 INT64>FP32,INT32 UINT8>FP16 INT8>FP16",
    "a5": "FP32>FP16,BF16,INT16,INT32,INT64,FP8E4M3FN,FP8E5M2 FP8E4M3FN>FP32 FP8E5M2>FP32 "
          "FP16>FP32,INT32,INT16,INT8,UINT8 BF16>FP32,INT32,FP16 "
          "INT16>FP16,FP32,UINT8,UINT32,INT32 INT32>FP32,INT16,INT64,UINT16,UINT8 INT64>FP32,INT32 UINT8>FP16,UINT16 "
          "INT8>FP16,INT16,INT32 UINT32>UINT8,UINT16,INT16",
}
_NOT_IN_IR = {"FP8E4M3FN", "FP8E5M2"}
_WRAPPING = {("FP16", "UINT8"), ("FP16", "INT8"), ("FP32", "INT16"), ("FP16", "INT16"), ("INT64", "INT32"),
             ("INT32", "INT16")}


def pairs(on: str) -> list[tuple[str, str]]:
    """The native conversions of a target, by hand from its TCvt.hpp."""
    return [(source, to) for row in _PAIRS[on].split() for source, _, names in [row.partition(">")]
            for to in names.split(",")]


def one(x: float | int, source: str, to: str, mode: str, saturate: bool) -> float | int:
    """The converted element."""
    if is_float(source) and not np.isfinite(x):
        if is_float(to):
            return float(x)
        if np.isnan(x):
            return 0
        low, high = limits(to if saturate or to in ("INT64",) else "INT32")
        return int(wrapped(np.array([high if x > 0 else low], dtype=object), to)[0])
    exact = Fraction(x)
    if is_float(to):
        rounded = to_format(exact, FORMATS[to], mode)
        if rounded is None:
            greatest = float(FORMATS[to].greatest)
            towards_zero = mode in ("TRUNC", "FLOOR" if x > 0 else "CEIL")
            size = greatest if saturate or towards_zero else np.inf
            if mode == "ODD" and not saturate:
                size = greatest  # the greatest number's last bit is one: round-to-odd never goes past it
            return size if x > 0 else -size
        return float(np.copysign(float(rounded), x))
    number = whole(exact, mode)
    low, high = limits(to if saturate or to == "INT64" else "INT32")
    if not is_float(source):
        low, high = limits(to) if saturate else (number, number)
    return int(wrapped(np.array([min(max(number, low), high)], dtype=object), to)[0])


def converted(a: Array, source: str, to: str, mode: str, saturate: bool) -> Array:
    """Each element of `a` converted."""
    numbers = [float(x) if is_float(source) else int(x) for x in a.flat]
    known = {repr(x): one(x, source, to, mode, saturate) for x in {repr(x): x for x in numbers}.values()}
    out = [known[repr(x)] for x in numbers]
    if is_float(to):
        return nearest(np.array(out, dtype=np.float64).reshape(a.shape), to)
    return np.array(out, dtype=KINDS[to]).reshape(a.shape)


def _values(source: str, to: str, overflow: bool) -> Array:
    """Values around every kind of tie and edge; without `overflow`, those that the target type can hold."""
    found: list[float] = [float(v) for v in edges(source)] if is_float(source) else []
    if is_float(source) and is_float(to):
        step = FORMATS[to]
        unit = 2.0 ** (1 - step.digits)
        found += [s * (1 + k * unit / 4) for k in range(12) for s in (1, -1)]
        found += [s * float(step.step) * k / 4 for k in range(1, 12) for s in (1, -1)]
        found += [s * float(step.greatest) * (1 + f * unit / 4) for f in (-1, 1, 2, 3) for s in (1, -1)]
    elif is_float(source):
        found += [k / 4 for k in range(-12, 13)]
        found += [127.5, 128.5, 255.5, 32767.5, -32768.5, 70000.0, -70000.0, 3e9, -3e9]
    else:
        ints = [int(v) for v in edges(source)] + [2**k + d for k in (8, 11, 12, 15, 16, 24, 25, 31, 32, 40, 62)
                                                  for d in (-1, 0, 1, 3)]
        low, high = limits(source)
        integers = [v for v in ints + [-v for v in ints] if low <= v <= high]
        return _tiled(np.array(integers, dtype=KINDS[source]), source, to, overflow)
    with np.errstate(over="ignore"):
        return _tiled(nearest(np.array(found), source), source, to, overflow)


def _tiled(values: Array, source: str, to: str, overflow: bool) -> Array:
    keep = [v for v in values if overflow or _fits(v, source, to)]
    if not overflow and is_float(source) and not is_float(to):
        keep = [v for v in keep if np.isfinite(float(v))]
    return np.resize(np.array(keep, dtype=KINDS[source]), SHAPE)


def _fits(value: Array, source: str, to: str) -> bool:
    if is_float(to):
        return not np.isfinite(float(value)) or abs(float(value)) < float(FORMATS[to].greatest) * (1 - 2.0**-8)
    if is_float(source) and not np.isfinite(float(value)):
        return False
    low, high = limits(to)
    return low + 1 <= float(value) <= high - 1


def _attrs(mode: str, saturation: str = "") -> str:
    tail = f", sat_mode = #pto<saturation_mode {saturation}>" if saturation else ""
    return f"{{rmode = #pto<round_mode {mode}>{tail}}}"


def _why(mode: str, saturate: bool) -> str:
    return f"each element as a fraction, {mode}, {'limited to the type' if saturate else 'low bits, or infinite'}"


def in_range() -> Iterator[Case]:
    """Values that the target type holds: all oracles agree."""
    for source, to in sorted(set(pairs("a2a3")) | set(pairs("a5"))):
        targets = tuple(t for t in ("a2a3", "a5") if (source, to) in pairs(t))
        a = _values(source, to, overflow=False)
        for mode in MODES:
            values = converted(a, source, to, mode, True)
            for region, valid in REGIONS.items():
                if region != "full" and mode != "RINT":
                    continue
                yield single(
                    f"tcvt-{source}-{to}-{mode}-{region}", _why(mode, True), {"a": Source(a, valid)}, values, valid,
                    Pto("tcvt", "a", _attrs(mode)),
                    None if {source, to} & _NOT_IN_IR
                    else ir("cast", "a", target_type=dtype_of(to), mode=mode.lower()), targets=targets,
                )


def beyond() -> Iterator[Case]:
    """Values that it does not hold: by target and by saturation mode."""
    for on in ("a2a3", "a5"):
        for source, to in pairs(on):
            a = _values(source, to, overflow=True)
            if is_float(source) and is_float(to):
                a = np.where(np.isinf(a), KINDS[source].type(1), a)  # saturation of an infinity is nowhere said
            for saturation in ("", "ON", "OFF"):
                off = saturation != "ON" and (on == "a5" or (source, to) in _WRAPPING)
                values = converted(a, source, to, "RINT", not off)
                wraps = (source, to) in _WRAPPING and not saturation and on == "a2a3"
                yield single(
                    f"tcvt-{source}-{to}-beyond-{saturation or 'default'}-{on}", _why("RINT", not off),
                    {"a": Source(a)}, values, SHAPE, Pto("tcvt", "a", _attrs("RINT", saturation)),
                    ir("cast", "a", target_type=dtype_of(to), mode="rint") if wraps else None, targets=(on,),
                )


def unrounded() -> Iterator[Case]:
    """Mode NONE: towards zero from float to integer, to nearest elsewhere; f32 to f32 rounds to an integral value."""
    for source, to, mode in (("FP32", "INT32", "TRUNC"), ("FP32", "FP16", "RINT"), ("INT32", "FP32", "RINT")):
        a = _values(source, to, overflow=False)
        yield single(
            f"tcvt-{source}-{to}-NONE", f"NONE is the instruction's own mode, {mode}: by fractions",
            {"a": Source(a)}, converted(a, source, to, mode, True), SHAPE, Pto("tcvt", "a", _attrs("NONE")),
            ir("cast", "a", target_type=dtype_of(to), mode="none"),
        )
    a = samples("FP32", SHAPE, 21, special=False)
    a = np.where(np.abs(a) > 2**20, np.float32(2.5), a)
    for mode in MODES:
        values = np.array([np.copysign(float(whole(Fraction(float(x)), mode)), x) for x in a.flat], np.float32)
        yield single(
            f"tcvt-FP32-FP32-{mode}", f"the integral value of each fraction by {mode}, with the sign of the element",
            {"a": Source(a)}, values.reshape(SHAPE), SHAPE, Pto("tcvt", "a", _attrs(mode)), None,
        )
    yield single("tcvt-FP32-FP32-NONE", "a plain copy of every element", {"a": Source(a)}, a, SHAPE,
                 Pto("tcvt", "a", _attrs("NONE")), None)


def published() -> Iterator[Case]:
    """Single values that PTO-ISA's documents name."""
    a = np.zeros((1, 32), np.float32)
    a[0, :6] = (70000.0, np.inf, -np.inf, np.nan, 2.5, -40000.0)
    values = np.zeros((1, 32), np.int16)
    values[0, :6] = (4464, -1, 0, 0, 2, 25536)
    yield single(
        "tcvt-published-f32-i16", "70000 - 65536 = 4464; low bits of INT32_MAX are -1, of INT32_MIN 0; 65536 - 40000",
        {"a": Source(a)}, values, (1, 32), Pto("tcvt", "a", _attrs("RINT")),
        ir("cast", "a", target_type=dtype_of("INT16"), mode="rint"),
    )


def cases() -> Iterator[Case]:
    yield from in_range()
    yield from beyond()
    yield from unrounded()
    yield from published()
