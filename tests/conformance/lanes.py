"""Lane-wise ops on tiles and scalars: every element type of each target, every kind of valid region."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pypto_verified.targets import target
from pypto_verified.targets.dtypes import device_dtypes
from tests.conformance.arithmetic import (
    KINDS,
    PTO,
    Array,
    bits,
    is_float,
    limits,
    nearest,
    objects,
    samples,
    small,
    wide,
    wrapped,
)
from tests.conformance.case import REGIONS, SHAPE, TARGETS, Case
from tests.conformance.single import Ir, Pto, Source, ir, single

Formula = Callable[[Array, Array], Array]


def _each(f: Callable[[int, int], int]) -> Formula:
    """A formula on Python integers."""
    return lambda a, b: np.array([f(x, y) for x, y in zip(a.flat, b.flat, strict=True)], dtype=object).reshape(a.shape)


def _toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _truncated_rest(a: int, b: int) -> int:
    """What a5's TREM gives for 64-bit integers: its quotient is truncated (PTO-ISA a5 Int64Div.hpp)."""
    return a - _toward_zero(a, b) * b


def _pattern(f: Callable[[Array, Array], Array], dtype: str) -> Formula:
    """A formula on the stored bits."""
    kind = np.dtype(f"u{KINDS[dtype].itemsize}")
    return lambda a, b: f(np.ascontiguousarray(a).view(kind), np.ascontiguousarray(b).view(kind)).view(KINDS[dtype])


@dataclass(frozen=True, slots=True)
class Binary:
    """`pto`/`ir` names, one formula for floats (on float64) and one for integers (on Python integers), in words.

    `data`: any values; 'ordered' (no NaN and one zero: the ISA does not say which is greater); 'divisor' (integers
    other than zero; floats whose quotients leave a rest); 'count' (0 .. bits - 1); 'small'. `swapped` scalars: b op s.
    """

    pto: str
    ir: str
    words: str
    floats: Formula | None
    ints: Callable[[int, int], int] | None
    data: str = "any"
    tmp: bool = False
    ir_types: str = ""
    raw: Callable[[Array, Array], Array] | None = None


def _fmod(a: Array, b: Array) -> Array:
    return np.array([math.fmod(x, y) for x, y in zip(a.flat, b.flat, strict=True)]).reshape(a.shape)


def _floor_mod(a: Array, b: Array) -> Array:
    return np.array([x - math.floor(x / y) * y for x, y in zip(a.flat, b.flat, strict=True)]).reshape(a.shape)


BINARIES = (
    Binary("tadd", "add", "a + b", lambda a, b: a + b, lambda a, b: a + b),
    Binary("tsub", "sub", "a - b", lambda a, b: a - b, lambda a, b: a - b),
    Binary("tmul", "mul", "a * b", lambda a, b: a * b, lambda a, b: a * b),
    Binary("tdiv", "div", "a / b, for integers towards zero", lambda a, b: a / b, _toward_zero, "divisor",
           ir_types="FP16 FP32 INT16 INT32"),
    Binary("tmax", "maximum", "the greater", lambda a, b: np.where(a < b, b, a), max, "ordered"),
    Binary("tmin", "minimum", "the smaller", lambda a, b: np.where(b < a, b, a), min, "ordered"),
    Binary("tand", "and", "bits of both", None, None, raw=lambda a, b: a & b),
    Binary("tor", "or", "bits of either", None, None, raw=lambda a, b: a | b),
    Binary("txor", "xor", "bits of one of both", None, None, tmp=True, raw=lambda a, b: a ^ b),
    Binary("tshl", "shl", "a * 2**b", None, lambda a, b: a << b, "count"),
    Binary("tshr", "shr", "the floor of a / 2**b", None, lambda a, b: a >> b, "count"),
    Binary("trem", "rem", "a - floor(a / b) * b", _floor_mod, lambda a, b: a - a // b * b, "divisor", tmp=True),
    Binary("tfmod", "fmod", "a - trunc(a / b) * b", _fmod, lambda a, b: a - _toward_zero(a, b) * b, "divisor"),
)

_SCALAR_FORMS = {
    "tadd": ("tadds", "adds"), "tsub": ("tsubs", "subs"), "tmul": ("tmuls", "muls"), "tdiv": ("tdivs", "divs"),
    "tmax": ("tmaxs", "maximums"), "tmin": ("tmins", "minimums"), "tand": ("tands", "ands"), "tor": ("tors", "ors"),
    "txor": ("txors", "xors"), "tshl": ("tshls", "shls"), "tshr": ("tshrs", "shrs"), "trem": ("trems", "rems"),
    "tfmod": ("tfmods", "fmods"),
}
_NOT_IN_IR = {"UINT64"}


def legal(op: str, on: str) -> frozenset[str]:
    """Names of the element types the target implements the op for."""
    found = device_dtypes(op, target(on))
    return frozenset() if found is None else frozenset(d.name for d in found)


def kinds(op: str) -> list[str]:
    """The element types of either target."""
    return sorted(legal(op, "a2a3") | legal(op, "a5"), key=list(KINDS).index)


def on(op: str, dtype: str) -> tuple[str, ...]:
    """The targets that implement the op for the type."""
    return tuple(t for t in TARGETS if dtype in legal(op, t))


def _left(row: Binary, dtype: str) -> Array:
    if row.data == "divisor" and is_float(dtype):
        # Odd eighths: no multiple of a half, so no remainder is a zero whose sign would be anyone's guess.
        return ((2 * wide(small("FP32", SHAPE, 1, -40, 40)) + 1) / 8).astype(KINDS[dtype])
    ordered = row.data == "ordered"
    return samples(dtype, SHAPE, 1, signed_zero=not ordered, special=True) if not ordered else _ordered(dtype, 1)


def _ordered(dtype: str, seed: int) -> Array:
    values = samples(dtype, SHAPE, seed, signed_zero=False)
    return np.where(np.isnan(values), KINDS[dtype].type(7), values) if is_float(dtype) else values


def _right(row: Binary, dtype: str) -> Array:
    if row.data == "count":
        return np.random.default_rng(5).integers(0, bits(dtype), SHAPE).astype(KINDS[dtype])
    if row.data == "ordered":
        return _ordered(dtype, 2)
    values = samples(dtype, SHAPE, 2)
    if row.data != "divisor":
        return values
    if is_float(dtype):
        halves = wide(small("FP32", SHAPE, 2, -6, 6))
        return np.where(halves == 0, 2.5, halves / 2).astype(KINDS[dtype])
    return np.where(values == 0, KINDS[dtype].type(3), values)


def _value(row: Binary, dtype: str, a: Array, b: Array) -> Array:
    if row.raw is not None:
        return _pattern(row.raw, dtype)(a, b)
    if is_float(dtype):
        assert row.floats is not None
        with np.errstate(all="ignore"):
            return nearest(row.floats(wide(a), wide(b)), dtype)
    assert row.ints is not None
    if row.pto == "trem" and dtype == "INT64":
        return wrapped(_each(_truncated_rest)(objects(a), objects(b)), dtype)
    return wrapped(_each(row.ints)(objects(a), objects(b)), dtype)


def _in_ir(row: Binary, dtype: str) -> bool:
    if row.ir == "rem" and dtype == "INT64":
        return False
    if row.raw is not None and is_float(dtype):
        return False
    return dtype not in _NOT_IN_IR and (not row.ir_types or dtype in row.ir_types.split())


def _why(row: Binary, dtype: str) -> str:
    if row.raw is not None:
        return f"{row.words}, on the stored bits by numpy"
    if row.pto == "trem" and dtype == "INT64":
        return "a - trunc(a / b) * b on Python integers: a5's 64-bit quotient is truncated"
    how = "in float64, rounded once to the type" if is_float(dtype) else "on Python integers, modulo 2**bits"
    return f"{row.words} {how}"


def binary_cases() -> Iterator[Case]:
    """Tile with tile."""
    for row in BINARIES:
        for dtype in kinds(row.pto):
            if is_float(dtype) and row.floats is None and row.raw is None:
                continue
            a, b = _left(row, dtype), _right(row, dtype)
            values = _value(row, dtype, a, b)
            for region, valid in REGIONS.items():
                yield single(
                    f"{row.pto}-{dtype}-{region}", _why(row, dtype), {"a": Source(a, valid), "b": Source(b, valid)},
                    values, valid, Pto(row.pto, "a b tmp" if row.tmp else "a b"),
                    ir(row.ir, "a", "b", *(("tmp",) if row.tmp else ())) if _in_ir(row, dtype) else None,
                    targets=on(row.pto, dtype),
                )


def _scalars(row: Binary, dtype: str) -> list[int | float]:
    """Two values: an ordinary one and one at a limit."""
    if row.data == "count":
        return [3, bits(dtype) - 1]
    if is_float(dtype):
        return [2.5, -0.75]
    return [3, limits(dtype)[1]]


def scalar_cases() -> Iterator[Case]:
    """Tile with scalar."""
    for row in BINARIES:
        pto, name = _SCALAR_FORMS[row.pto]
        for dtype in kinds(pto):
            if is_float(dtype) and row.floats is None:
                continue
            a = _left(row, dtype)
            for i, s in enumerate(_scalars(row, dtype)):
                values = _value(row, dtype, a, np.full(SHAPE, s).astype(KINDS[dtype]))
                for region, valid in REGIONS.items():
                    if i and region != "full":
                        continue
                    tmp = " tmp" if pto in ("trems", "txors") else ""
                    type_ = "i32" if row.data == "count" else PTO[dtype]
                    yield single(
                        f"{pto}-{dtype}-{s}-{region}", f"{_why(row, dtype)}; b = {s}", {"a": Source(a, valid)},
                        values, valid, Pto(pto, f"a s:b:{type_}{tmp}"), _scalar_ir(row, name, dtype, s, bool(tmp)),
                        targets=on(pto, dtype), scalars={"b": s},
                    )


def _scalar_ir(row: Binary, name: str, dtype: str, s: int | float, tmp: bool) -> Ir | None:
    # The type rule's set of types; 64-bit quotients are waited for.
    refused = (name == "subs" and dtype.startswith("U")) or (name in ("subs", "divs") and dtype == "INT64")
    if not _in_ir(Binary(row.pto, row.ir, row.words, row.floats, row.ints, raw=row.raw), dtype) or refused:
        return None
    return ir(name, "a", s, *(("tmp",) if tmp else ()))


def division_of_a_scalar() -> Iterator[Case]:
    """Scalar by tile: only `.pto` has it."""
    row = next(r for r in BINARIES if r.pto == "tdiv")
    for dtype in ("FP32", "INT32"):
        b = _right(row, dtype)
        s = 100
        values = _value(row, dtype, np.full(SHAPE, s).astype(KINDS[dtype]), b)
        yield single(
            f"tdivs-{dtype}-scalar-first", f"{s} / b, {_why(row, dtype)}", {"b": Source(b)}, values, SHAPE,
            Pto("tdivs", f"s:s:{PTO[dtype]} b"), None, scalars={"s": float(s) if is_float(dtype) else s},
        )


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
                in_ir = dtype not in _NOT_IN_IR and (name != "not" or dtype in ("INT16", "UINT16"))
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
                    ir(f"part_{name}", "a", "b") if dtype not in _NOT_IN_IR else None,
                    targets=on(f"tpart{name}", dtype),
                )


def cases() -> Iterator[Case]:
    yield from binary_cases()
    yield from scalar_cases()
    yield from division_of_a_scalar()
    yield from unary_cases()
    yield from leaky_cases()
    yield from carry_cases()
    yield from partial_cases()
