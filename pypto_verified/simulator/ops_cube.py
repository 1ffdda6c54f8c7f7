"""Matrix products. The unit gets m, k, n only and addresses its operands densely by them. Source: PTO-ISA headers.

f16, bf16 and f32 accumulate in f32 (the order within a product is the device's own), int8 in int32.
"""

from __future__ import annotations

import numpy as np

from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.simulator.errors import Place, ShapeError, UnmodelledError
from pypto_verified.simulator.layout import Layout, ceil_to, layout_of
from pypto_verified.simulator.memory import View
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Tile
from pypto_verified.simulator.values import Array
from pypto_verified.targets.pitch import written_pitch


def _product(a: Array, b: Array, kind: np.dtype[np.generic]) -> Array:
    """a @ b in the accumulator's type; int8 products go through f64, which holds them exactly."""
    if kind == np.int32:
        exact: Array = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64).astype(np.int32)
        return exact
    product: Array = a.astype(np.float32) @ b.astype(np.float32)
    return product


def _require_types(dst: Tile, lhs: Tile, rhs: Tile) -> None:
    floats = dst.kind == np.float32 and lhs.kind.name in ("float16", "bfloat16", "float32")
    integers = dst.kind == np.int32 and lhs.kind == np.int8
    if lhs.kind != rhs.kind or not (floats or integers):
        raise UnmodelledError(f"product of {lhs.kind} and {rhs.kind} into {dst.kind}", Place(dst.name))
    for tile, space in ((lhs, Space.LEFT), (rhs, Space.RIGHT), (dst, Space.ACC)):
        if tile.space is not space:
            raise UnmodelledError(f"a product operand in {tile.space.value} instead of {space.value}", Place(tile.name))


def _multiply(site: Site, dst: Tile, lhs: Tile, rhs: Tile, vector: bool, start: View | None, accumulate: bool) -> None:
    """dst (+)= lhs @ rhs, or start + lhs @ rhs. `vector`: GEMV mode, one dense row of A."""
    _require_types(dst, lhs, rhs)
    m, k, n = lhs.rows, lhs.cols, rhs.cols
    if max(m, k, n) > site.target.matmul_extent_max:
        raise ShapeError(f"m, k, n = {m}, {k}, {n}: more than {site.target.matmul_extent_max}", Place(dst.name))
    if min(m, k, n) == 0:
        return
    widened = m == 1 and not vector and not site.a5 and not site.declared
    if widened:
        m = 16
    a_layout, b_layout, c_layout = _layouts(site, dst, lhs, rhs, 1 if vector else 16, (m, k, n))
    a = lhs.reads(m, k, layout=a_layout, within=not widened)
    b = rhs.reads(k, n, layout=b_layout)
    out = dst.writes(m, n, layout=c_layout, within=not widened)
    bad_a, bad_b = a.bad(), b.bad()
    bad: Array | None = None
    if bad_a is not None or bad_b is not None:
        bad = np.zeros((m, n), np.bool_)
        if bad_a is not None:
            bad |= np.logical_or.reduce(bad_a, axis=1, keepdims=True)
        if bad_b is not None:
            bad |= np.logical_or.reduce(bad_b, axis=0, keepdims=True)
    result = _product(a.get(), b.get(), dst.kind)
    begin = out if accumulate else start
    if begin is not None:
        result = begin.get() + result
        unset = begin.bad()
        if unset is not None:
            bad = unset if bad is None else bad | unset
    out.put(result)
    out.mark(bad)


def _layouts(
    site: Site, dst: Tile, lhs: Tile, rhs: Tile, rows: int, extents: tuple[int, int, int]
) -> tuple[Layout, Layout, Layout]:
    """How the unit addresses A, B and C, whatever their types say: A as the target's L0A, `rows` to a fractal, B in Zn,
    C in Nz of 16 x 16; pitches are the extents rounded up to fractals."""
    if site.declared:
        return lhs.layout, rhs.layout, dst.layout
    m, k, n = extents
    high, wide = written_pitch(m), ceil_to(n, 16)
    a = lhs.pitched(ceil_to(m, rows), ceil_to(k, lhs.block))
    b = layout_of(BLayout.ROW, SLayout.COL, 512, ceil_to(k, rhs.block), wide, rhs.kind.itemsize)
    return a, b, layout_of(BLayout.COL, SLayout.ROW, 1024, high, wide, dst.kind.itemsize)


@op("tmatmul", "dst lhs rhs")
def tmatmul(site: Site, dst: Tile, lhs: Tile, rhs: Tile) -> None:
    """dst = lhs @ rhs. On a2a3 one row is executed as sixteen."""
    _multiply(site, dst, lhs, rhs, False, None, False)


@op("tmatmul.acc", "dst lhs rhs")
def tmatmul_acc(site: Site, dst: Tile, lhs: Tile, rhs: Tile) -> None:
    """dst += lhs @ rhs: the device adds to dst's own bytes, whatever `acc_in` names."""
    _multiply(site, dst, lhs, rhs, False, None, True)


@op("tmatmul.bias", "dst a b bias")
def tmatmul_bias(site: Site, dst: Tile, a: Tile, b: Tile, bias: Tile) -> None:
    """dst = a @ b + bias, one bias a column."""
    _multiply(site, dst, a, b, False, bias.reads(1, b.cols), False)


@op("tgemv", "dst lhs rhs")
def tgemv(site: Site, dst: Tile, lhs: Tile, rhs: Tile) -> None:
    """dst = lhs @ rhs for one row."""
    _multiply(site, dst, lhs, rhs, True, None, False)


@op("tgemv.acc", "dst lhs rhs")
def tgemv_acc(site: Site, dst: Tile, lhs: Tile, rhs: Tile) -> None:
    """dst += lhs @ rhs for one row."""
    _multiply(site, dst, lhs, rhs, True, None, True)


@op("tgemv.bias", "dst a b bias")
def tgemv_bias(site: Site, dst: Tile, a: Tile, b: Tile, bias: Tile) -> None:
    """dst = a @ b + bias for one row."""
    _multiply(site, dst, a, b, True, bias.reads(1, b.cols), False)
