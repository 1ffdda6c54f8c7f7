"""Matrix products. f32 accumulation: every product of two 16-bit floats is exact in the float64 carrier."""

from __future__ import annotations

import numpy as np

from pypto_verified.dtypes import FP32, INT32
from pypto_verified.interpreter.meaning import Fault, Site, Value, meaning
from pypto_verified.interpreter.numbers import Bools, Carrier, settle
from pypto_verified.interpreter.values import Tile, undefined


def _product(lhs: Tile, rhs: Tile, start: Carrier | None, start_poison: Bools | None) -> Tile:
    """`start + lhs @ rhs` over the valid regions, rounded to the accumulator type once per element.

    The device's order of the k additions is unspecified, so floats are compared on data whose sums are exact.
    """
    m, k = lhs.valid
    k_rhs, n = rhs.valid
    if k > k_rhs:
        raise Fault(f"the left operand has {k} valid columns, the right one {k_rhs} valid rows")
    dtype = FP32 if lhs.dtype.is_float else INT32
    out = undefined((lhs.shape[0], rhs.shape[1]), dtype, (m, n))
    a, b = lhs.data[:m, :k], rhs.data[:k, :n]
    total = a @ b
    rows, cols = np.any(lhs.poison[:m, :k], axis=1), np.any(rhs.poison[:k, :n], axis=0)
    poison = np.logical_or.outer(rows, cols)
    if start is not None and start_poison is not None:
        total = total + start[:m, :n]
        poison = poison | start_poison[:m, :n]
    out.data[:m, :n] = settle(total, dtype)
    out.poison[:m, :n] = poison
    return out


@meaning("tile.matmul", "tile.gemv")
def _matmul(site: Site) -> Value:
    return _product(site.tile(0), site.tile(1), None, None)


@meaning("tile.matmul_acc", "tile.gemv_acc")
def _matmul_acc(site: Site) -> Value:
    acc = site.tile(0)
    if site.has(3) and bool(site.args[3]):
        return _product(site.tile(1), site.tile(2), None, None)
    return _product(site.tile(1), site.tile(2), acc.data, acc.poison)


@meaning("tile.matmul_bias", "tile.gemv_bias")
def _matmul_bias(site: Site) -> Value:
    lhs, bias = site.tile(0), site.tile(2)
    everywhere = np.zeros(lhs.shape[0], dtype=np.int64)
    return _product(lhs, site.tile(1), bias.data[everywhere], bias.poison[everywhere])
