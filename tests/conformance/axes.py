"""Reductions along rows and columns, and expansions back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.conformance.arithmetic import (
    KINDS,
    Array,
    bits,
    is_float,
    limits,
    nearest,
    objects,
    samples,
    wide,
    wrapped,
)
from tests.conformance.case import REGIONS, SHAPE, Case
from tests.conformance.lanes import kinds, on
from tests.conformance.pto_kernel import DN
from tests.conformance.single import Pto, Source, ir, single

ROWS, COLS = SHAPE
REDUCED = {n: r for n, r in REGIONS.items() if n != "no-cols"}
"""Reducing an empty axis has no result; a tile without a line has nothing to reduce."""


def _product(values: list[Any]) -> Any:
    return math.prod(values)


REDUCTIONS: dict[str, tuple[Callable[[list[Any]], Any], str]] = {
    "sum": (sum, "the sum"), "prod": (_product, "the product"), "max": (max, "the greatest"),
    "min": (min, "the smallest"), "argmax": (lambda v: v.index(max(v)), "the first place of the greatest"),
    "argmin": (lambda v: v.index(min(v)), "the first place of the smallest"),
}


def _data(name: str, dtype: str) -> Array:
    """Floats whose sums and products are exact in any order; integers that wrap; ties for the places."""
    random = np.random.default_rng([41, *name.encode(), *dtype.encode()])
    if is_float(dtype):
        if name == "prod":
            return nearest(random.choice([1.0, -1.0, 2.0, 0.5], SHAPE, p=(0.45, 0.45, 0.05, 0.05)), dtype)
        if dtype == "BF16" and name == "sum":
            return nearest(random.integers(-2, 3, SHAPE).astype(np.float64), dtype)
        return nearest(random.integers(-32, 33, SHAPE) / 4, dtype)
    if name.startswith("arg"):
        low = max(limits(dtype)[0], -9)
        return random.integers(low, 9, SHAPE).astype(KINDS[dtype])
    return samples(dtype, SHAPE, 42)


def _reduce(name: str, dtype: str, a: Array, axis: str, valid: tuple[int, int]) -> list[Any]:
    part = a[: valid[0], : valid[1]]
    lines = part if axis == "row" else part.T
    values = [line.tolist() if is_float(dtype) else objects(line).tolist() for line in lines]
    return [REDUCTIONS[name][0](line) if line else 0 for line in values]


def reduction_cases() -> Iterator[Case]:
    for axis in ("row", "col"):
        for name, (_, words) in REDUCTIONS.items():
            op = f"t{axis}{name}"
            for dtype in kinds(op):
                a = _data(name, dtype)
                for region, valid in REDUCED.items():
                    if axis == "col" and region == "no-rows":
                        continue
                    yield _reduction(op, axis, name, words, dtype, region, valid, a)
            yield from ()


def _reduction(
    op: str, axis: str, name: str, words: str, dtype: str, region: str, valid: tuple[int, int], a: Array
) -> Case:
    result = "INT32" if name.startswith("arg") else dtype
    line = _reduce(name, dtype, a, axis, valid)
    made = wrapped(np.array([int(v) for v in line], dtype=object), result) if not is_float(result) else nearest(
        np.array(line, dtype=np.float64), result)
    block = 32 // KINDS[result].itemsize
    shape = (ROWS, block) if axis == "row" else (1, COLS)
    values = np.zeros(shape, dtype=KINDS[result])
    if axis == "row":
        values[: len(line), 0] = made
    else:
        values[0, : len(line)] = made
    extent = (valid[0], 1) if axis == "row" else (1, valid[1])
    scratch = axis == "row" or name.startswith("arg")
    in_ir = dtype != "UINT64" and 0 not in valid and not (op == "trowmin" and dtype not in (
        "INT16", "INT32", "FP16", "FP32"))
    return single(
        f"{op}-{dtype}-{region}", f"{words} of each {axis} of valid elements, by Python on "
        f"{'exact sums of quarters' if is_float(dtype) else 'integers, modulo 2**bits'}",
        {"a": Source(a, valid)}, values, extent, Pto(op, "a tmp" if scratch else "a"),
        ir(f"{axis}_{name}", "a", *(("tmp",) if scratch else ())) if in_ir else None, targets=on(op, dtype),
    )


_WITH: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "add": (lambda a, b: a + b, "a + v"), "sub": (lambda a, b: a - b, "a - v"), "mul": (lambda a, b: a * b, "a * v"),
    "div": (lambda a, b: a / b, "a / v"), "max": (max, "the greater of a and v"), "min": (min, "the smaller of both"),
    "expdif": (lambda a, b: math.exp(a - b), "exp(a - v)"),
}


def _trunc_div(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _combined(name: str, dtype: str, a: Array, v: Array) -> Array:
    f = _WITH[name][0]
    if is_float(dtype):
        flat = [f(x, y) for x, y in zip(wide(a).flat, wide(v).flat, strict=True)]
        return nearest(np.array(flat).reshape(a.shape), dtype)
    g = _trunc_div if name == "div" else f
    flat = [g(x, y) for x, y in zip(objects(a).flat, objects(v).flat, strict=True)]
    return wrapped(np.array(flat, dtype=object).reshape(a.shape), dtype)


def _vector(dtype: str, size: int, name: str) -> Array:
    if is_float(dtype):
        steps = np.random.default_rng(43).integers(1, 17, size) / 4
        return nearest(steps, dtype)
    v = samples(dtype, (1, size), 44)[0]
    nonzero: Array = np.where(v == 0, KINDS[dtype].type(3), v)
    return nonzero


def expansion_cases() -> Iterator[Case]:
    for axis in ("row", "col"):
        op = f"t{axis}expand"
        for dtype in kinds(op):
            v = samples(dtype, (1, COLS if axis == "col" else ROWS), 45)[0]
            for region, valid in REGIONS.items():
                yield _plain(op, axis, dtype, region, valid, v)
        for name in _WITH:
            for dtype in kinds(f"{op}{name}"):
                for region, valid in REGIONS.items():
                    yield _expansion(f"{op}{name}", axis, name, dtype, region, valid)


def _column(v: Array, dtype: str) -> Array:
    """A column as a row-major tile of one block: only its first column counts."""
    tile = samples(dtype, (len(v), 32 // KINDS[dtype].itemsize), 46)
    tile[:, 0] = v
    return tile


def _plain(op: str, axis: str, dtype: str, region: str, valid: tuple[int, int], v: Array) -> Case:
    values = np.repeat(v[:, None], COLS, axis=1) if axis == "row" else np.repeat(v[None, :], ROWS, axis=0)
    tile = v[:, None] if axis == "row" else v[None, :]
    layout = DN if axis == "row" else None
    return single(
        f"{op}-{dtype}-{region}", f"the same value in every element of a {axis}, by numpy's repeat",
        {"v": Source(np.ascontiguousarray(_padded(tile, axis)), _extent(axis, valid), layout)}, values, valid,
        Pto(op, "v"), None, targets=on(op, dtype),
    )


def _padded(tile: Array, axis: str) -> Array:
    """A column tile's physical rows are whole 32-byte blocks."""
    if axis == "col":
        return tile
    rows = max(ROWS, 32 // tile.dtype.itemsize)
    out = np.zeros((rows, 1), dtype=tile.dtype)
    out[: len(tile)] = tile
    return out


def _extent(axis: str, valid: tuple[int, int]) -> tuple[int, int]:
    return (valid[0], 1) if axis == "row" else (1, valid[1])


def _expansion(op: str, axis: str, name: str, dtype: str, region: str, valid: tuple[int, int]) -> Case:
    a = samples(dtype, SHAPE, 47, special=False)
    if is_float(dtype):
        a = nearest(np.random.default_rng(48).integers(-16, 17, SHAPE) / 4 + 0.125, dtype)
    v = _vector(dtype, ROWS if axis == "row" else COLS, name)
    spread = np.repeat(v[:, None], COLS, axis=1) if axis == "row" else np.repeat(v[None, :], ROWS, axis=0)
    values = _combined(name, dtype, a, spread)
    tile = _padded(v[:, None] if axis == "row" else v[None, :], axis)
    close = (2e-3 if dtype == "FP16" else 1e-5) if name == "expdif" else 0.0
    return single(
        f"{op}-{dtype}-{region}", f"{_WITH[name][1]}, v spread over each {axis}, by Python's arithmetic",
        {"a": Source(a, valid), "v": Source(np.ascontiguousarray(tile), _extent(axis, valid),
                                            DN if axis == "row" else None)},
        values, valid, Pto(op, "a v"), None, targets=on(op, dtype), close=close,
    )


def block_cases() -> Iterator[Case]:
    """TROWEXPAND<op> with one 32-byte block a row: it repeats along the row."""
    for dtype in ("FP32", "INT16"):
        block = 256 // bits(dtype)
        a, v = samples(dtype, SHAPE, 49, special=False), samples(dtype, (ROWS, block), 50, special=False)
        a, v = (nearest(wide(x) % 8, dtype) if is_float(dtype) else x for x in (a, v))
        spread = np.array([[v[r, c % block] for c in range(COLS)] for r in range(ROWS)], dtype=KINDS[dtype])
        yield single(
            f"trowexpandadd-{dtype}-block", "a + v[r, c mod one block], by Python's arithmetic",
            {"a": Source(a), "v": Source(v)}, _combined("add", dtype, a, spread), SHAPE,
            Pto("trowexpandadd", "a v"), ir("row_expand_add", "a", "v"),
        )


def ir_expansions() -> Iterator[Case]:
    """The same meanings in IR, where a column is a tile [rows, 1]."""
    for axis in ("row", "col"):
        size = ROWS if axis == "row" else COLS
        for dtype in ("FP32", "FP16", "INT32", "INT16"):
            a = nearest(np.random.default_rng(51).integers(-16, 17, SHAPE) / 4 + 0.125, dtype) if is_float(
                dtype) else samples(dtype, SHAPE, 52)
            v = _vector(dtype, size, "")
            vector = np.ascontiguousarray(v[:, None] if axis == "row" else v[None, :])
            spread = np.broadcast_to(vector, SHAPE)
            for name in ("", *_WITH):
                if name in ("div", "expdif") and not is_float(dtype):
                    continue
                values = np.ascontiguousarray(spread) if not name else _combined(name, dtype, a, spread)
                form = f"{axis}_expand{'_' if name else ''}{name}"
                for region, valid in REGIONS.items():
                    yield single(
                        f"{form}-{dtype}-{region}", f"{_WITH[name][1] if name else 'v'} spread along the {axis}, "
                        "by Python's arithmetic", {"a": Source(a, valid), "v": Source(vector, _extent(axis, valid))},
                        values, valid, None, ir(form, "a", "v"),
                        close=(2e-3 if dtype == "FP16" else 1e-5) if name == "expdif" else 0.0,
                    )


def cases() -> Iterator[Case]:
    yield from reduction_cases()
    yield from expansion_cases()
    yield from block_cases()
    yield from ir_expansions()
