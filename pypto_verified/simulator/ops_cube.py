"""Matrix products. The unit gets m, k, n only and addresses its operands densely by them. Source: PTO-ISA headers.

Floats accumulate in f32 (the order within a product is the device's own), int8 in int32. Microscaled products (a5) have
a power of two for every 32 elements along k of either operand.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.simulator.casts import convert
from pypto_verified.simulator.errors import Place, ShapeError, UnmodelledError
from pypto_verified.simulator.layout import Layout, ceil_to, layout_of
from pypto_verified.simulator.machine import SCALE_SHARE
from pypto_verified.simulator.memory import View
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Tile
from pypto_verified.simulator.values import Array
from pypto_verified.targets.pitch import written_pitch

_F32 = np.dtype(np.float32)
_EIGHT_BITS = ("float8_e4m3fn", "float8_e5m2")


def _product(a: Array, b: Array, kind: np.dtype[np.generic]) -> Array:
    """a @ b in the accumulator's type; int8 products go through f64, which holds them exactly."""
    if kind == np.int32:
        exact: Array = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64).astype(np.int32)
        return exact
    product: Array = _single(a) @ _single(b)
    return product


def _single(a: Array) -> Array:
    return convert(a, _F32, "RINT", False) if a.dtype.itemsize == 1 else a.astype(np.float32)


def _require_types(site: Site, dst: Tile, lhs: Tile, rhs: Tile) -> None:
    floats = lhs.kind == rhs.kind and lhs.kind.name in ("float16", "bfloat16", "float32")
    eights = site.a5 and lhs.kind.name in _EIGHT_BITS and rhs.kind.name in _EIGHT_BITS
    integers = dst.kind == np.int32 and lhs.kind == rhs.kind == np.int8
    if not (integers or (dst.kind == np.float32 and (floats or eights))):
        raise UnmodelledError(f"product of {lhs.kind} and {rhs.kind} into {dst.kind}", Place(dst.name))
    for tile, space in ((lhs, Space.LEFT), (rhs, Space.RIGHT), (dst, Space.ACC)):
        if tile.space is not space:
            raise UnmodelledError(f"a product operand in {tile.space.value} instead of {space.value}", Place(tile.name))


Scales: TypeAlias = tuple[Tile, Tile]
"""e8m0 tiles: m x k/32 for A, k/32 x n for B."""
_GROUP = 32
"""Elements along k that share a scale."""


def _multiply(
    site: Site, dst: Tile, lhs: Tile, rhs: Tile, vector: bool, start: View | None, accumulate: bool,
    scales: Scales | None = None,
) -> None:
    """dst (+)= lhs @ rhs, or start + lhs @ rhs. `vector`: GEMV mode, one dense row of A."""
    _require_types(site, dst, lhs, rhs)
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
    values_a, values_b, bad_a, bad_b = a.get(), b.get(), a.bad(), b.bad()
    if scales is not None:
        values_a, bad_a = _scaled(values_a, bad_a, scales[0], 1)
        values_b, bad_b = _scaled(values_b, bad_b, scales[1], 0)
    bad: Array | None = None
    if bad_a is not None or bad_b is not None:
        bad = np.zeros((m, n), np.bool_)
        if bad_a is not None:
            bad |= np.logical_or.reduce(bad_a, axis=1, keepdims=True)
        if bad_b is not None:
            bad |= np.logical_or.reduce(bad_b, axis=0, keepdims=True)
    result = _product(values_a, values_b, dst.kind)
    begin = out if accumulate else start
    if begin is not None:
        result = begin.get() + result
        unset = begin.bad()
        if unset is not None:
            bad = unset if bad is None else bad | unset
    out.put(result)
    out.mark(bad)


def _scaled(values: Array, bad: Array | None, scale: Tile, axis: int) -> tuple[Array, Array | None]:
    """f8 `values` times 2**(scale - 127), a scale for each 32 of them along `axis`; scale 255 is NaN."""
    if scale.space is not Space.SCALING or scale.kind.name != "float8_e8m0fnu":
        raise UnmodelledError(f"scales of type {scale.type.dtype.pto} in {scale.space.value}", Place(scale.name))
    groups = [n if i != axis else -(-n // _GROUP) for i, n in enumerate(values.shape)]
    view = scale.reads(groups[0], groups[1])
    bits, unset = np.ascontiguousarray(view.get()).view(np.uint8).astype(np.int64), view.bad()
    factors = np.where(bits == 255, np.nan, np.ldexp(1.0, bits - 127))

    def spread(a: Array) -> Array:
        return np.repeat(a, _GROUP, axis)[: values.shape[0], : values.shape[1]]

    if unset is not None:
        bad = spread(unset) if bad is None else bad | spread(unset)
    return (_single(values) * spread(factors)).astype(np.float32), bad


def _layouts(
    site: Site, dst: Tile, lhs: Tile, rhs: Tile, rows: int, extents: tuple[int, int, int]
) -> tuple[Layout, Layout, Layout]:
    """How the unit addresses A, B and C, whatever their types say: A as the target's L0A, `rows` to a fractal, B in Zn,
    C in Nz of 16 x 16; pitches are the extents rounded up to fractals."""
    if site.declared:
        return lhs.layout, rhs.layout, dst.layout
    m, k, n = extents
    high, wide = written_pitch(m), ceil_to(n, 16)
    a = layout_of(*site.target.left_layout, 512, ceil_to(m, rows), ceil_to(k, lhs.block), lhs.kind.itemsize)
    b = layout_of(BLayout.ROW, SLayout.COL, 512, ceil_to(k, rhs.block), wide, rhs.kind.itemsize)
    return a, b, layout_of(BLayout.COL, SLayout.ROW, 1024, high, wide, dst.kind.itemsize)


@op("tmatmul", "dst lhs rhs")
def tmatmul(site: Site, dst: Tile, lhs: Tile, rhs: Tile) -> None:
    """dst = lhs @ rhs. On a2a3 one row is executed as sixteen."""
    _multiply(site, dst, lhs, rhs, False, None, False)


def _start(site: Site, dst: Tile, named: Tile, rows: int, cols: int) -> View | None:
    """What an accumulating product adds to: None for dst's own bytes, which the device takes whatever the text names;
    a machine that does as it is told takes what is named."""
    return named.reads(rows, cols) if site.declared and named.addr != dst.addr else None


@op("tmatmul.acc", "dst lhs rhs acc_in")
def tmatmul_acc(site: Site, dst: Tile, lhs: Tile, rhs: Tile, named: Tile) -> None:
    """dst += lhs @ rhs."""
    start = _start(site, dst, named, lhs.rows, rhs.cols)
    _multiply(site, dst, lhs, rhs, False, start, start is None)


@op("tmatmul.bias", "dst a b bias")
def tmatmul_bias(site: Site, dst: Tile, a: Tile, b: Tile, bias: Tile) -> None:
    """dst = a @ b + bias, one bias a column."""
    _multiply(site, dst, a, b, False, bias.reads(1, b.cols), False)


@op("tgemv", "dst lhs rhs")
def tgemv(site: Site, dst: Tile, lhs: Tile, rhs: Tile) -> None:
    """dst = lhs @ rhs for one row."""
    _multiply(site, dst, lhs, rhs, True, None, False)


@op("tgemv.acc", "dst lhs rhs acc_in")
def tgemv_acc(site: Site, dst: Tile, lhs: Tile, rhs: Tile, named: Tile) -> None:
    """dst += lhs @ rhs for one row."""
    start = _start(site, dst, named, lhs.rows, rhs.cols)
    _multiply(site, dst, lhs, rhs, True, start, start is None)


@op("tgemv.bias", "dst a b bias")
def tgemv_bias(site: Site, dst: Tile, a: Tile, b: Tile, bias: Tile) -> None:
    """dst = a @ b + bias for one row."""
    _multiply(site, dst, a, b, True, bias.reads(1, b.cols), False)


@op("tmatmul.mx", "dst a a_scale b b_scale")
def tmatmul_mx(site: Site, dst: Tile, a: Tile, a_scale: Tile, b: Tile, b_scale: Tile) -> None:
    """dst = (a * a_scale) @ (b * b_scale)."""
    _multiply(site, dst, a, b, False, None, False, (a_scale, b_scale))


@op("tmatmul.mx.acc", "dst a a_scale b b_scale c_in")
def tmatmul_mx_acc(site: Site, dst: Tile, a: Tile, a_scale: Tile, b: Tile, b_scale: Tile, named: Tile) -> None:
    """dst += (a * a_scale) @ (b * b_scale)."""
    start = _start(site, dst, named, a.rows, b.cols)
    _multiply(site, dst, a, b, False, start, start is None, (a_scale, b_scale))


@op("tmatmul.mx.bias", "dst a a_scale b b_scale bias")
def tmatmul_mx_bias(site: Site, dst: Tile, a: Tile, a_scale: Tile, b: Tile, b_scale: Tile, bias: Tile) -> None:
    """dst = (a * a_scale) @ (b * b_scale) + bias, one bias a column."""
    _multiply(site, dst, a, b, False, bias.reads(1, b.cols), False, (a_scale, b_scale))


@op("tgemv.mx", "dst a a_scale b b_scale")
def tgemv_mx(site: Site, dst: Tile, a: Tile, a_scale: Tile, b: Tile, b_scale: Tile) -> None:
    """`tmatmul.mx` for one row."""
    _multiply(site, dst, a, b, True, None, False, (a_scale, b_scale))


@op("tgemv.mx.acc", "dst a a_scale b b_scale c_in")
def tgemv_mx_acc(site: Site, dst: Tile, a: Tile, a_scale: Tile, b: Tile, b_scale: Tile, named: Tile) -> None:
    """`tmatmul.mx.acc` for one row."""
    start = _start(site, dst, named, a.rows, b.cols)
    _multiply(site, dst, a, b, True, start, start is None, (a_scale, b_scale))


@op("tgemv.mx.bias", "dst a a_scale b b_scale bias")
def tgemv_mx_bias(site: Site, dst: Tile, a: Tile, a_scale: Tile, b: Tile, b_scale: Tile, bias: Tile) -> None:
    """`tmatmul.mx.bias` for one row."""
    _multiply(site, dst, a, b, True, bias.reads(1, b.cols), False, (a_scale, b_scale))


@op("tget_scale_addr", "dst src")
def tget_scale_addr(site: Site, dst: Tile, src: Tile) -> None:
    """dst names the scales of src: a sixteenth of its address, in the table of src's buffer. The assembler puts the
    binding before the move that fills dst, so what dst holds goes with it."""
    if not site.a5 or src.space not in (Space.LEFT, Space.RIGHT):
        raise UnmodelledError(f"scales of a tile in {src.space.value} on {site.target.name}", Place(dst.name))
    held = dst.reads(dst.type.rows, dst.type.cols)
    values, unset = held.get().copy(), held.bad()
    dst.rebind(site.machine.scales[src.space], src.addr // SCALE_SHARE)
    if unset is None or not unset.all():
        view = dst.writes(dst.type.rows, dst.type.cols)
        view.put(values)
        view.mark(unset)
