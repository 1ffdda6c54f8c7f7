"""The accumulator's way out: the reader's pitch, conversion, quantisation, ReLU. Source: PTO-ISA headers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pypto_verified.layouts import Space
from pypto_verified.simulator.casts import convert
from pypto_verified.simulator.errors import Place, UnmodelledError
from pypto_verified.simulator.layout import Layout
from pypto_verified.simulator.registry import Site
from pypto_verified.simulator.tile import Tile
from pypto_verified.simulator.values import Array, is_float
from pypto_verified.targets.pitch import Accumulator, dense, reader, whole_fractals

_PLAIN = {("float32", "float32"), ("float32", "float16"), ("float32", "bfloat16"), ("int32", "int32")}
_QUANTISED = {("float32", "int8"), ("float32", "uint8"), ("float32", "float16"), ("float32", "bfloat16"),
              ("int32", "int8"), ("int32", "uint8"), ("int32", "float16"), ("int32", "int16")}
_QUANTISED_A5 = _QUANTISED | {("int32", "bfloat16")}
_COLUMN_BITS = np.uint64(2**64 - 2**13)


def read_layout(site: Site, acc: Tile, dst: Space, boxed: bool = False) -> Layout:
    """How the op at `site` addresses an accumulator that it moves to `dst`: at the physical rows, or at the valid ones
    rounded up to a fractal. `boxed`: the destination has fractal boxes."""
    row = reader(site.op.name, dst, site.target.name)
    seen = Accumulator(acc.type.rows, acc.rows, acc.type.compact, acc.type.v_row is not None)
    if site.declared or row is None or not dense(row, seen, boxed):
        return acc.layout
    return acc.pitched(whole_fractals(acc.rows), acc.layout.cols)


def convert_out(
    site: Site, values: Array, kind: np.dtype[Any], fp: Array | None, quant: int | None, name: str
) -> Array:
    """`values` (f32 or i32) as elements of `kind`.

    `quant` is a 64-bit quantisation word, `fp` one word a column. Order: scale, offset, round to nearest even, clamp,
    ReLU.
    """
    pair = (values.dtype.name, kind.name)
    relu = site.enum("reluPreMode", "no_relu")
    if relu not in ("no_relu", "normal_relu"):
        raise UnmodelledError(f"ReLU mode {relu}", Place(name))
    if fp is None and quant is None:
        if pair not in _PLAIN:
            raise UnmodelledError(f"accumulator {pair[0]} to {pair[1]} without a scale", Place(name))
        result = values if values.dtype == kind else convert(values, kind, "RINT", False)
    else:
        if pair not in (_QUANTISED_A5 if site.a5 else _QUANTISED):
            raise UnmodelledError(f"quantisation from {pair[0]} to {pair[1]}", Place(name))
        # A word a column keeps ten fraction bits of its scale, a single word all 23 (PTO-ISA headers).
        words = np.asarray(int(quant or 0) & (2**64 - 1), np.uint64) if fp is None else fp & _COLUMN_BITS
        result = _quantise(values, kind, words)
    return np.maximum(result, np.zeros((), kind)) if relu == "normal_relu" else result


def _quantise(values: Array, kind: np.dtype[Any], words: Array) -> Array:
    """Word: bits 0..31 an f32 scale, bits 37..45 a signed offset; for 16-bit integers bits 32..35 a shift less one."""
    if kind == np.int16:
        shift = ((words >> np.uint64(32)) & np.uint64(15)).astype(np.int32) + 1
        shifted: Array = np.clip(values >> shift, -(2**15), 2**15 - 1).astype(kind)
        return shifted
    scale = (words & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
    scaled = values.astype(np.float32) * scale
    if is_float(kind):
        return convert(scaled, kind, "RINT", False)
    offset = ((words >> np.uint64(37)) & np.uint64(0x1FF)).astype(np.int64)
    signed = np.where(offset > 255, offset - 512, offset)
    whole = convert(scaled, np.dtype(np.int32), "RINT", True).astype(np.int64) + signed
    limits = np.iinfo(kind)
    return np.clip(whole, limits.min, limits.max).astype(kind)


def scales(fp: Tile | None, cols: int, col: int = 0) -> Array | None:
    """The words of a scaling tile for columns `col`.. of the result."""
    if fp is None:
        return None
    if fp.kind.itemsize != 8:
        raise UnmodelledError(f"scales of type {fp.type.dtype.pto}", Place(fp.name))
    view = fp.reads(1, cols, 0, col)
    return np.ascontiguousarray(view.get()).view(np.uint64)
