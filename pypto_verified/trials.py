"""Inputs to run a kernel on: arrays, scalars, sizes, and how a tensor lies in global memory.

A kernel says little about the inputs it is meant for, so many are tried; those without a defined result drop out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from pypto_verified import index
from pypto_verified.dtypes import DType
from pypto_verified.errors import NotModelled
from pypto_verified.ir.expr import Dim, Var
from pypto_verified.ir.index_form import to_index
from pypto_verified.ir.stmt import Function
from pypto_verified.ir.types import ScalarType, TensorType
from pypto_verified.ir.walk import calls
from pypto_verified.layouts import TensorLayout
from pypto_verified.records import dataclass

Array: TypeAlias = NDArray[np.generic]
Scalar: TypeAlias = int | float | bool

KINDS = ("small", "positive", "boundary", "normal", "units", "blocks")
"""Contents of arrays. small: integers whose sums and products are exact in every type (indices included); positive: the
same without 0; boundary: limits of the type; normal: random over the type's everyday range; units: powers of two near
1, whose long products stay exact; blocks: integers that are byte offsets of 32-byte blocks."""

_STORED: dict[str, np.dtype[np.generic]] = {
    "FP32": np.dtype(np.float32), "FP16": np.dtype(np.float16), "BF16": np.dtype(ml_dtypes.bfloat16),
    "INT8": np.dtype(np.int8), "INT16": np.dtype(np.int16), "INT32": np.dtype(np.int32), "INT64": np.dtype(np.int64),
    "UINT8": np.dtype(np.uint8), "UINT16": np.dtype(np.uint16), "UINT32": np.dtype(np.uint32),
    "BOOL": np.dtype(np.uint8), "UINT64": np.dtype(np.uint64),
    "FP8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn), "FP8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "FP8E8M0": np.dtype(ml_dtypes.float8_e8m0fnu),
}
_FLOAT_EDGES = {
    "float32": ((2 - 2**-23) * 2.0**127, 2.0**-126, 2.0**-149),
    "float16": ((2 - 2**-10) * 2.0**15, 2.0**-14, 2.0**-24),
    "bfloat16": ((2 - 2**-7) * 2.0**127, 2.0**-126, 2.0**-133),
}
"""Greatest, least normal and least positive value of each float type."""
_SIZES = (128, 37, 16, 64, 1, 0)
_INTEGERS = (1, 16, 0, 37, 2, 3, 8)
_TURNS = ((1, 0), (0, 1), (2, 1), (16, 1), (1, 16))
_REALS = (0.5, -1.5, 2.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """One run's inputs: `values` by parameter name (arrays in logical order), sizes by symbol, which core runs it."""

    kind: str
    values: Mapping[str, Array | Scalar]
    sizes: Mapping[str, int]
    block: tuple[int, int] = (0, 1)
    lane: int = 0

    @property
    def inputs(self) -> dict[str, Array | Scalar]:
        """Parameters and sizes by name."""
        return {**self.sizes, **self.values}

    def __str__(self) -> str:
        scalars = [f"{n}={v}" for n, v in self.values.items() if not isinstance(v, np.ndarray)]
        sizes = [f"{n}={v}" for n, v in self.sizes.items()]
        return ", ".join([f"{self.kind} arrays", *sizes, *scalars, f"block {self.block[0]} of {self.block[1]}",
                          f"lane {self.lane}"])


def trials(function: Function, seed: int = 0, given: Mapping[str, int] | None = None) -> Iterator[Trial]:
    """Inputs for `function`, the most likely to be meant first. `given` fixes sizes and integer scalars.

    NotModelled for a parameter of an element type that has no arrays here.
    """
    fixed = dict(given or {})
    used = {c.op for c in calls(function.body)}
    blocks = ((0, 1), (1, 2), (3, 4)) if used & {"tile.get_block_idx", "tile.get_block_num"} else ((0, 1),)
    lanes = (0, 1) if "tile.get_subblock_idx" in used else (0,)
    choices = list(_choices(function.dynamic, _scalar_names(function), fixed))
    # Every kind with every choice, and soon many of both.
    places = product(range(len(choices)), range(len(KINDS)))
    pairs = ((KINDS[k], choices[(turn + k) % len(choices)]) for turn, k in places)
    for number, (kind, choice) in enumerate(pairs):
        random = np.random.default_rng((seed, number))
        sizes = {name: choice[name] for name in function.dynamic}
        values = {p.var.name: _value(p.var, kind, choice, random) for p in function.params}
        yield Trial(kind, values, sizes, blocks[number % len(blocks)], lanes[number // len(blocks) % len(lanes)])


def _scalar_names(function: Function) -> list[str]:
    """Integer scalars: what a choice gives a number to, besides the sizes."""
    return [
        p.var.name for p in function.params
        if isinstance(p.var.type, ScalarType) and not p.var.type.dtype.is_float and p.var.name not in function.dynamic
    ]


def _choices(sizes: Sequence[str], scalars: Sequence[str], fixed: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Sizes that are equal with scalars that are equal, then scalars in turns of two."""
    every = (*((n, n) for n in _INTEGERS), *_TURNS)
    seen: list[dict[str, int]] = []
    for (even, odd), size in product(every, _SIZES):
        turns = {name: odd if i % 2 else even for i, name in enumerate(scalars)}
        choice = dict.fromkeys(sizes, size) | turns | dict(fixed)
        if choice not in seen:
            seen.append(choice)
            yield choice


def _value(var: Var, kind: str, sizes: Mapping[str, int], random: np.random.Generator) -> Array | Scalar:
    type_ = var.type
    if isinstance(type_, TensorType):
        return contents(type_.dtype, tuple(extent(d, sizes) for d in type_.shape), kind, random)
    if not isinstance(type_, ScalarType):
        raise NotModelled(f"a parameter of type {type(type_).__name__}")
    if type_.dtype.is_float:
        return _REALS[int(random.integers(0, len(_REALS)))]
    value = sizes[var.name]
    return bool(value) if type_.dtype.kind == "bool" else value


def extent(dim: Dim, sizes: Mapping[str, int]) -> int:
    """A dim of a parameter as a number, at least 0. NotModelled for one that is no expression over sizes."""
    if isinstance(dim, int):
        return max(0, dim)
    return max(0, index.evaluate(to_index(dim), sizes))


def stored(dtype: DType) -> np.dtype[np.generic]:
    """The numpy type of one element. NotModelled for a type without arrays here."""
    found = _STORED.get(dtype.name)
    if found is None:
        raise NotModelled(f"arrays of {dtype.name}")
    return found


def contents(dtype: DType, shape: tuple[int, ...], kind: str, random: np.random.Generator) -> Array:
    """An array of one of KINDS."""
    kept = stored(dtype)
    if dtype.name == "FP8E8M0":  # powers of two, near 1
        return np.ldexp(1.0, random.integers(-2, 3, shape)).astype(kept)
    if dtype.is_float:
        return _floats(kept, shape, kind, random)
    if dtype.kind == "bool":
        return random.integers(0, 2, shape).astype(kept)
    low = 0 if dtype.kind == "uint" else -(2 ** (dtype.bits - 1))
    high = low + 2**dtype.bits - 1
    wide = np.uint64 if high > 2**63 else np.int64
    if kind == "blocks" and high >= 255:
        return (32 * random.integers(0, 8, shape)).astype(kept)
    if kind not in ("normal", "boundary"):
        return random.integers(kind == "positive", 8, shape).astype(kept)
    if kind == "normal":
        return random.integers(low, high, shape, endpoint=True, dtype=wide).astype(kept)
    edges = [low, low + 1, high, high - 1, 0, 1, high // 2, 3]
    return np.array(edges, dtype=wide).astype(kept)[random.integers(0, len(edges), shape)]


def _floats(kept: np.dtype[np.generic], shape: tuple[int, ...], kind: str, random: np.random.Generator) -> Array:
    if kind == "small":
        return random.integers(-3, 4, shape).astype(np.float64).astype(kept)
    if kind == "positive":
        return random.integers(1, 5, shape).astype(np.float64).astype(kept)
    if kind == "units":
        return np.array([1.0] * 29 + [-1.0, 2.0, 0.5])[random.integers(0, 32, shape)].astype(kept)
    if kind != "boundary" or kept.name not in _FLOAT_EDGES:
        return random.standard_normal(shape).astype(kept)
    largest, normal, smallest = _FLOAT_EDGES[kept.name]
    edges = np.array([0.0, 1.0, -1.0, 0.5, -2.5, 1.5, largest, -largest, normal, smallest, 300.0, -129.5, 70000.0,
                      np.inf, -np.inf])
    with np.errstate(over="ignore"):
        return edges.astype(kept)[random.integers(0, len(edges), shape)]


def partner() -> Callable[[tuple[int, ...], DType], Array]:
    """What the absent other core of a pipe sends, tile by tile: the numbers that the simulator's lone machine draws."""
    random = np.random.default_rng(0)

    def send(extents: tuple[int, ...], dtype: DType) -> Array:
        numbers = random.standard_normal(extents) if dtype.is_float else random.integers(0, 8, extents)
        return numbers.astype(stored(dtype))

    return send


def in_memory(array: Array, type_: TensorType, sizes: Mapping[str, int]) -> Array:
    """The bytes of a tensor as its layout and strides have them. NotModelled for a blocked layout."""
    view = type_.view
    if view.stride:
        strides = tuple(extent(s, sizes) for s in view.stride)
        length = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True)) if array.size else 0
        flat = np.zeros(length, array.dtype)
        _strided(flat, array.shape, strides)[...] = array
        return flat
    if view.layout is TensorLayout.DN:
        return np.ascontiguousarray(np.swapaxes(array, -1, -2))
    if view.layout is not TensorLayout.ND:
        raise NotModelled(f"arrays in layout {view.layout.value}")
    return np.ascontiguousarray(array)


def from_memory(stored: Array, type_: TensorType, shape: tuple[int, ...], sizes: Mapping[str, int]) -> Array:
    """The inverse of `in_memory`."""
    if type_.view.stride:
        return _strided(stored, shape, tuple(extent(s, sizes) for s in type_.view.stride)).copy()
    return np.swapaxes(stored, -1, -2) if type_.view.layout is TensorLayout.DN else stored


def _strided(flat: Array, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    return np.lib.stride_tricks.as_strided(flat, shape, tuple(s * flat.itemsize for s in strides))
