"""Lane-wise ops on tiles and scalars: every element type of each target, every kind of valid region."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

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
    pasted,
    samples,
    small,
    wide,
    wrapped,
)
from tests.conformance.case import INTERPRETER, REGIONS, SHAPE, TARGETS, Case, Region
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
NOT_IN_IR = {"UINT64"}


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


def _as_ir_reads(case: Case, row: Binary, dtype: str, a: Array, b: Array, valid: Region) -> Case:
    """IR's remainder is Python's % for every type: a5's 64-bit one is another."""
    if row.pto != "trem" or dtype != "INT64" or row.ints is None:
        return case
    values = wrapped(_each(row.ints)(objects(a), objects(b)), dtype)
    return replace(case, on={INTERPRETER: {"out": pasted(case.inputs["out"], values, valid)}})


def _in_ir(row: Binary, dtype: str) -> bool:
    if row.raw is not None and is_float(dtype):
        return False
    return dtype not in NOT_IN_IR and (not row.ir_types or dtype in row.ir_types.split())


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
                case = single(
                    f"{row.pto}-{dtype}-{region}", _why(row, dtype), {"a": Source(a, valid), "b": Source(b, valid)},
                    values, valid, Pto(row.pto, "a b tmp" if row.tmp else "a b"),
                    ir(row.ir, "a", "b", *(("tmp",) if row.tmp else ())) if _in_ir(row, dtype) else None,
                    targets=on(row.pto, dtype),
                )
                yield _as_ir_reads(case, row, dtype, a, b, valid)


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
                b = np.full(SHAPE, s).astype(KINDS[dtype])
                values = _value(row, dtype, a, b)
                for region, valid in REGIONS.items():
                    if i and region != "full":
                        continue
                    tmp = " tmp" if pto in ("trems", "txors") else ""
                    type_ = "i32" if row.data == "count" else PTO[dtype]
                    case = single(
                        f"{pto}-{dtype}-{s}-{region}", f"{_why(row, dtype)}; b = {s}", {"a": Source(a, valid)},
                        values, valid, Pto(pto, f"a s:b:{type_}{tmp}"), _scalar_ir(row, name, dtype, s, bool(tmp)),
                        targets=on(pto, dtype), scalars={"b": s},
                    )
                    yield _as_ir_reads(case, row, dtype, a, b, valid)


def _scalar_ir(row: Binary, name: str, dtype: str, s: int | float, tmp: bool) -> Ir | None:
    refused = name == "subs" and (dtype.startswith("U") or dtype == "INT64")  # the type rule's set of types
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


def cases() -> Iterator[Case]:
    yield from binary_cases()
    yield from scalar_cases()
    yield from division_of_a_scalar()
