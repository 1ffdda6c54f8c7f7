"""Reductions to a column or a row, and their expansion back. Source: PTO-ISA headers.

The device sums in an order of its own; here sums of 16-bit floats are accumulated in f32 and rounded once, others in
their own type. Only column 0 (row reductions) or row 0 (column reductions) of the destination is written.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pypto_verified.layouts import BLayout, SLayout
from pypto_verified.simulator.compute import Kernel, dividing, spoiled
from pypto_verified.simulator.errors import Place, ShapeError
from pypto_verified.simulator.memory import View
from pypto_verified.simulator.ops_elementwise import BINARY
from pypto_verified.simulator.registry import Handler, Site, op
from pypto_verified.simulator.tile import Tile
from pypto_verified.simulator.values import Array, is_float

Reduction = Callable[[Array, int], Array]


def _accumulated(ufunc: np.ufunc) -> Reduction:
    def run(a: Array, axis: int) -> Array:
        if is_float(a.dtype) and a.dtype.itemsize < 4:
            return np.asarray(ufunc.reduce(a.astype(np.float32), axis=axis)).astype(a.dtype)
        return np.asarray(ufunc.reduce(a, axis=axis, dtype=a.dtype))

    return run


def _greatest(a: Array, axis: int) -> Array:
    """The greatest element; +0 is greater than -0, as between two tiles."""
    chosen = np.asarray(np.maximum.reduce(a, axis=axis))
    if not is_float(a.dtype) or chosen.all():
        return chosen
    positive = np.logical_or.reduce((a == 0) & ~np.signbit(a), axis=axis)
    zero = np.where(positive, np.zeros((), a.dtype), -np.zeros((), a.dtype))
    return np.asarray(np.where(chosen == 0, zero, chosen))


def _least(a: Array, axis: int) -> Array:
    return -_greatest(-a, axis) if is_float(a.dtype) else np.asarray(np.minimum.reduce(a, axis=axis))


def _position(largest: bool) -> Reduction:
    """The index of the extreme element; the first one wins."""
    return lambda a, axis: np.asarray((np.argmax if largest else np.argmin)(a, axis=axis))


_REDUCTIONS: dict[str, Reduction] = {
    "sum": _accumulated(np.add), "prod": _accumulated(np.multiply),
    "max": _greatest, "min": _least,
    "argmax": _position(True), "argmin": _position(False),
}


def _reduce(axis: int, reduction: Reduction) -> Handler:
    def run(site: Site, dst: Tile, src: Tile, tmp: Tile | None) -> None:
        lines = dst.rows if axis == 1 else dst.cols
        if lines == 0:
            return
        if tmp is not None:
            tmp.clobber()
        kept, given = (dst.cols, src.rows) if axis == 1 else (dst.rows, src.cols)
        site.expect(
            (kept, given) == (1, lines) or 0 in (dst.rows, dst.cols),
            f"{src.rows} x {src.cols} valid elements are reduced to {dst.rows} x {dst.cols}", Place(dst.name))
        if 0 in (src.rows, src.cols):
            raise ShapeError("a reduction of nothing", Place(src.name), "skip the op when its source is empty")
        source = src.reads(*((lines, src.cols) if axis == 1 else (src.rows, lines)))
        out = dst.writes(*((lines, 1) if axis == 1 else (1, lines)))
        bad = source.bad()
        values = reduction(source.get(), axis).astype(dst.kind)
        out.put(np.expand_dims(values, axis))
        out.mark(None if bad is None else np.asarray(np.logical_or.reduce(bad, axis=axis, keepdims=True)))

    return run


for _name, _reduction in _REDUCTIONS.items():
    op(f"trow{_name}", "dst src tmp")(_reduce(1, _reduction))
    op(f"tcol{_name}", "dst src tmp")(_reduce(0, _reduction))


def _store(out: View, values: Array, bad: Array | None) -> None:
    out.put(values)
    out.mark(bad)


@op("trowexpand", "dst src")
def trowexpand(site: Site, dst: Tile, src: Tile) -> None:
    """dst[r, c] = src[r, 0]."""
    source = src.reads(dst.rows, 1)
    _store(dst.writes(dst.rows, dst.cols), source.get(), source.bad())


@op("tcolexpand", "dst src")
def tcolexpand(site: Site, dst: Tile, src: Tile) -> None:
    """dst[r, c] = src[0, c]."""
    source = src.reads(1, dst.cols)
    _store(dst.writes(dst.rows, dst.cols), source.get(), source.bad())


def _exp_difference(a: Array, b: Array) -> Array:
    return np.exp((a - b).astype(np.float32)).astype(a.dtype)


_EXPANDED: dict[str, Kernel] = {**{n: BINARY[n] for n in ("add", "sub", "mul", "div", "max", "min")},
                                "expdif": _exp_difference}


def _per_row(tile: Tile, dst: Tile) -> tuple[Array, Array | None] | None:
    """The operand with one value (or one 32-byte block) a row, broadcast over dst's columns; None if it is full."""
    if (tile.rows, tile.cols) == (dst.rows, dst.cols) and dst.cols > 1:
        return None
    if tile.type.blayout is BLayout.COL and tile.type.slayout is SLayout.NONE:
        view = tile.reads(dst.rows, 1)
        return view.get(), view.bad()
    view = tile.reads(dst.rows, tile.block)
    repeat = np.arange(dst.cols) % tile.block
    bad = view.bad()
    return view.get()[:, repeat], None if bad is None else bad[:, repeat]


def _row_expand(kernel: Kernel) -> Handler:
    def run(site: Site, dst: Tile, src0: Tile, src1: Tile, tmp: Tile | None) -> None:
        if tmp is not None:
            tmp.clobber()
        operands: list[tuple[Array, Array | None]] = []
        vectors = [_per_row(src1, dst), None]
        if vectors[0] is None:
            vectors[1] = _per_row(src0, dst)
        for tile, vector in ((src0, vectors[1]), (src1, vectors[0])):
            if vector is None:
                view = tile.reads(dst.rows, dst.cols)
                vector = (view.get(), view.bad())
            operands.append(vector)
        (a, bad_a), (b, bad_b) = operands
        bad = bad_a if bad_b is None else bad_b if bad_a is None else bad_a | bad_b
        with dividing(src1):
            values = kernel(a, b)
        _store(dst.writes(dst.rows, dst.cols), values, bad)

    return run


def _col_expand(kernel: Kernel) -> Handler:
    def run(site: Site, dst: Tile, src0: Tile, src1: Tile) -> None:
        full, vector = src0.reads(dst.rows, dst.cols), src1.reads(1, dst.cols)
        with dividing(src1):
            values = kernel(full.get(), vector.get())
        _store(dst.writes(dst.rows, dst.cols), values, spoiled((full, vector)))

    return run


for _name, _kernel in _EXPANDED.items():
    op(f"trowexpand{_name}", "dst src0 src1 tmp")(_row_expand(_kernel))
    op(f"tcolexpand{_name}", "dst src0 src1")(_col_expand(_kernel))
