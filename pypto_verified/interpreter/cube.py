"""Matrix products. f32 accumulation: every product of two 16-bit floats is exact in the float64 carrier."""

from __future__ import annotations

import numpy as np

from pypto_verified.dtypes import FP32, INT32
from pypto_verified.interpreter.meaning import Fault, Site, Value, meaning
from pypto_verified.interpreter.numbers import Bools, Carrier, settle
from pypto_verified.interpreter.unspecified import product_sum_freedom
from pypto_verified.interpreter.values import Tile, undefined

_VECTOR_ROWS = 16


def _product(site: Site, lhs: Tile, rhs: Tile, start: tuple[Carrier, Bools] | None) -> tuple[Carrier, Bools]:
    """`start + lhs @ rhs` over the valid regions, rounded to the accumulator type once per element.

    The device's order of the k additions is unspecified: the op is left open unless every order gives one result.
    """
    m, k = lhs.valid
    k_rhs, n = rhs.valid
    if k > k_rhs:
        raise Fault(f"the left operand has {k} valid columns, the right one {k_rhs} valid rows")
    dtype = FP32 if lhs.dtype.is_float else INT32
    a, b = lhs.data[:m, :k], rhs.data[:k, :n]
    poison = np.logical_or.outer(np.any(lhs.poison[:m, :k], axis=1), np.any(rhs.poison[:k, :n], axis=0))
    left = product_sum_freedom(a, b, None if start is None else start[0][:m, :n], dtype)
    poison = poison | left.unclear
    if not left.exact:
        site.leave_open()
    total = a @ b if start is None else a @ b + start[0][:m, :n]
    if start is not None:
        poison = poison | start[1][:m, :n]
    return settle(total, dtype), poison


def _into_fresh(site: Site, lhs: Tile, rhs: Tile, start: tuple[Carrier, Bools] | None, vector: bool) -> Tile:
    data, poison = _product(site, lhs, rhs, start)
    rows = _VECTOR_ROWS if vector else lhs.shape[0]
    out = undefined((rows, rhs.shape[1]), FP32 if lhs.dtype.is_float else INT32, (lhs.valid[0], rhs.valid[1]))
    out.data[out.window()], out.poison[out.window()] = data, poison
    return out


def _is_vector(site: Site) -> bool:
    """A product of one row has an accumulator of a whole fractal."""
    return site.call.op.startswith("tile.gemv")


@meaning("tile.matmul", "tile.gemv")
def _matmul(site: Site) -> Value:
    return _into_fresh(site, site.tile(0), site.tile(1), None, _is_vector(site))


@meaning("tile.matmul_acc", "tile.gemv_acc")
def _matmul_acc(site: Site) -> Value:
    """The accumulator with the product added, or (`init_cond`) put in its place."""
    acc, lhs, rhs = site.tile(0), site.tile(1), site.tile(2)
    anew = site.has(3) and bool(site.args[3])
    data, poison = acc.data.copy(), acc.poison.copy()
    region = (slice(0, lhs.valid[0]), slice(0, rhs.valid[1]))
    data[region], poison[region] = _product(site, lhs, rhs, None if anew else (acc.data, acc.poison))
    return Tile(data, poison, acc.valid, acc.dtype)


@meaning("tile.matmul_bias", "tile.gemv_bias")
def _matmul_bias(site: Site) -> Value:
    lhs, bias = site.tile(0), site.tile(2)
    everywhere = np.zeros(lhs.shape[0], dtype=np.int64)
    start = bias.data[everywhere], bias.poison[everywhere]
    return _into_fresh(site, lhs, site.tile(1), start, _is_vector(site))
