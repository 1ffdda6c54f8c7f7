"""Functions of one tile, and lane-wise ops with three operands or two valid regions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tests.conformance.arithmetic import (
    KINDS,
    PTO,
    Array,
    bits,
    is_float,
    nearest,
    objects,
    samples,
    small,
    wide,
    wrapped,
)
from tests.conformance.case import REGIONS, SHAPE, Case, Region
from tests.conformance.lanes import NOT_IN_IR, Formula, kinds, on
from tests.conformance.pto_kernel import PtoKernel
from tests.conformance.single import Pto, Source, ir, single


def _rounded(f: Callable[[float], float], dtype: str) -> Callable[[Array], Array]:
    return lambda a: nearest(np.array([f(float(x)) for x in a.flat]).reshape(a.shape), dtype)


def _sign_bit(a: Array, dtype: str, toggle: bool) -> Array:
    kind = np.dtype(f"u{KINDS[dtype].itemsize}")
    stored = np.ascontiguousarray(a).view(kind)
    sign = kind.type(1 << (bits(dtype) - 1))
    changed: Array = (stored ^ sign if toggle else stored & ~sign).view(KINDS[dtype])
    return changed


def _positive(dtype: str) -> Array:
    values = np.abs(wide(small(dtype, SHAPE, 3, 1, 40))) / 8
    return nearest(values, dtype)


_CLOSE = {"FP32": 1e-5, "FP16": 2e-3}
"""What the ISA's own tests of the function units allow, and less."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one number, its data and whether the unit rounds it correctly."""

    name: str
    f: Callable[[float], float]
    words: str


FUNCTIONS = (
    Function("exp", math.exp, "math.exp"), Function("log", math.log, "math.log"),
    Function("sqrt", math.sqrt, "math.sqrt"), Function("rsqrt", lambda x: 1 / math.sqrt(x), "1 / math.sqrt"),
    Function("recip", lambda x: 1 / x, "1 / x"),
)


def unary_cases() -> Iterator[Case]:
    """One tile."""
    for row in FUNCTIONS:
        for dtype in kinds(f"t{row.name}"):
            a = _positive(dtype)
            values = _rounded(row.f, dtype)(a)
            for region, valid in REGIONS.items():
                yield single(
                    f"t{row.name}-{dtype}-{region}", f"{row.words} in float64, rounded once; within {_CLOSE[dtype]}",
                    {"a": Source(a, valid)}, values, valid, Pto(f"t{row.name}", "a"), ir(row.name, "a"),
                    targets=on(f"t{row.name}", dtype), close=_CLOSE[dtype],
                )
    for name, f in (("sin", math.sin), ("cos", math.cos)):
        a = samples("FP32", SHAPE, 4, special=False)
        a = np.where(np.abs(a) > 100, np.float32(0.25), a)
        for region, valid in REGIONS.items():
            yield single(
                f"{name}-FP32-{region}", f"math.{name} in float64, rounded once; within 1e-5", {"a": Source(a, valid)},
                _rounded(f, "FP32")(a), valid, None, ir(name, "a"), close=1e-5,
            )
    yield from _exact_unary()


def _exact_unary() -> Iterator[Case]:
    for name in ("abs", "neg", "relu", "not"):
        for dtype in kinds(f"t{name}"):
            a = samples(dtype, SHAPE, 6, signed_zero=name != "relu")
            if name == "relu" and is_float(dtype):
                a = np.where(np.isnan(a), KINDS[dtype].type(7), a)
            if name in ("abs", "neg") and is_float(dtype):
                values, why = _sign_bit(a, dtype, name == "neg"), "the sign bit alone changes"
            elif name == "not":
                values, why = (-1 - objects(a)), "-1 - a on Python integers is the complement"
                values = wrapped(values, dtype)
            elif name == "relu":
                values, why = np.where(wide(a) > 0, a, np.zeros((), KINDS[dtype])), "a where a > 0, else 0"
            else:
                raw = np.array([abs(x) if name == "abs" else -x for x in objects(a).flat], dtype=object)
                values, why = wrapped(raw.reshape(SHAPE), dtype), f"{name} on Python integers, modulo 2**bits"
            for region, valid in REGIONS.items():
                in_ir = dtype not in NOT_IN_IR and (name != "not" or dtype in ("INT16", "UINT16"))
                yield single(
                    f"t{name}-{dtype}-{region}", why, {"a": Source(a, valid)}, values, valid, Pto(f"t{name}", "a"),
                    ir(name, "a") if in_ir else None, targets=on(f"t{name}", dtype),
                )


def leaky_cases() -> Iterator[Case]:
    """TLRELU and TPRELU: a where a > 0, else a * slope."""
    for dtype in ("FP32", "FP16"):
        a, slope = samples(dtype, SHAPE, 7), samples(dtype, SHAPE, 8, special=False)
        with np.errstate(all="ignore"):
            by_tile = np.where(wide(a) > 0, a, nearest(wide(a) * wide(slope), dtype))
            by_scalar = np.where(wide(a) > 0, a, nearest(wide(a) * 0.25, dtype))
        why = "a where a > 0, else a * slope in float64, rounded once"
        for region, valid in REGIONS.items():
            yield single(
                f"tprelu-{dtype}-{region}", why, {"a": Source(a, valid), "b": Source(slope, valid)}, by_tile, valid,
                Pto("tprelu", "a b tmp"), ir("prelu", "a", "b", "tmp"),
            )
            yield single(
                f"tlrelu-{dtype}-{region}", f"{why}; slope = 0.25", {"a": Source(a, valid)}, by_scalar, valid,
                Pto("tlrelu", f"a s:slope:{PTO[dtype]}"), ir("lrelu", "a", 0.25), scalars={"slope": 0.25},
            )


def carry_cases() -> Iterator[Case]:
    """Three operands; two roundings, left to right."""
    for dtype in ("FP16", "INT16", "INT32", "FP32"):
        a, b, c = (samples(dtype, SHAPE, seed) for seed in (11, 12, 13))
        for name, sign in (("add", 1), ("sub", -1)):
            for scalar in (False, True):
                second = np.full(SHAPE, 5).astype(KINDS[dtype]) if scalar else b
                values = _carry(dtype, a, second, c, sign)
                pto, form = f"t{name}{'s' if scalar else ''}c", f"{name}{'s' if scalar else ''}c"
                for region, valid in REGIONS.items():
                    sources = {"a": Source(a, valid), "c": Source(c, valid)}
                    if not scalar:
                        sources = {"a": Source(a, valid), "b": Source(b, valid), "c": Source(c, valid)}
                    yield single(
                        f"{pto}-{dtype}-{region}", f"a {'+' if sign > 0 else '-'} b, rounded, + c, rounded", sources,
                        values, valid, Pto(pto, f"a s:s:{PTO[dtype]} c" if scalar else "a b c"),
                        ir(form, "a", 5 if scalar else "b", "c"), scalars={"s": 5} if scalar else {},
                    )


def _carry(dtype: str, a: Array, b: Array, c: Array, sign: int) -> Array:
    if not is_float(dtype):
        return wrapped(objects(a) + sign * objects(b) + objects(c), dtype)
    with np.errstate(all="ignore"):
        return nearest(wide(nearest(wide(a) + sign * wide(b), dtype)) + wide(c), dtype)


def multiply_add_cases() -> Iterator[Case]:
    """TAXPY: dst + s * a, two roundings."""
    for dtype in ("FP32", "FP16"):
        a, before = samples(dtype, SHAPE, 16, special=False), samples(dtype, SHAPE, 17, special=False)
        with np.errstate(all="ignore"):
            values = nearest(wide(nearest(2.5 * wide(a), dtype)) + wide(before), dtype)
        for region, valid in REGIONS.items():
            after = before.copy()
            after[: valid[0], : valid[1]] = values[: valid[0], : valid[1]]

            def write(k: PtoKernel, dtype: str = dtype, valid: Region = valid) -> None:
                x, z = k.tile("x", dtype, SHAPE, valid), k.tile("z", dtype, SHAPE, valid)
                k.op("tload", k.view("a", (0, 0, *valid)), x)
                k.fill(z, dtype, SHAPE, "out")
                k.op("taxpy", f"x s:s:{PTO[dtype]}", z)
                k.store("z_all", "out")

            yield Case(f"taxpy-{dtype}-{region}", "taxpy", "2.5 a, rounded, plus what was there, rounded",
                       {"a": a, "out": before}, {"out": after}, None, write, scalars={"s": 2.5})


def partial_cases() -> Iterator[Case]:
    """TPART*: the op where both sources are valid, the one valid source elsewhere."""
    rows: dict[str, Formula] = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    for name, f in rows.items():
        for dtype in kinds(f"tpart{name}"):
            a, b = small(dtype, SHAPE, 14, -3, 3), small(dtype, SHAPE, 15, -3, 3)
            # Minus zero times something is the one case where a float result has a sign to guess.
            a, b = (np.where(wide(x) == 0, KINDS[dtype].type(2), x) for x in (a, b))
            both = np.asarray(f(wide(a), wide(b)))
            if dtype.startswith("U") or not is_float(dtype):
                both = wrapped(both.astype(np.int64).astype(object), dtype)
            both = both.astype(KINDS[dtype]) + KINDS[dtype].type(0)
            for inner in ((3, 19), (1, 1), (0, 32)):
                values = a.copy()
                values[: inner[0], : inner[1]] = both[: inner[0], : inner[1]]
                yield single(
                    f"tpart{name}-{dtype}-{inner[0]}x{inner[1]}",
                    f"b is valid on {inner}: there {name}(a, b) of small integers, a on the rest",
                    {"a": Source(a, SHAPE), "b": Source(b, inner)}, values, SHAPE, Pto(f"tpart{name}", "a b"),
                    ir(f"part_{name}", "a", "b") if dtype not in NOT_IN_IR else None,
                    targets=on(f"tpart{name}", dtype),
                )


def cases() -> Iterator[Case]:
    yield from unary_cases()
    yield from leaky_cases()
    yield from carry_cases()
    yield from multiply_add_cases()
    yield from partial_cases()
