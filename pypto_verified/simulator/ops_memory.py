"""Transfers between global memory and tiles. Source: PTO-ISA headers.

An ND transfer moves the window's rows, each as long as the tile's valid columns; DN and NZ the tile's valid rows of
the window's columns; a boxed tile in L1 takes the whole ND or DN window; the accumulator gives its valid region. Where
window and valid extents differ, these are the bytes that move.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pypto_verified.layouts import BLayout, Pad, SLayout, Space, TensorLayout
from pypto_verified.simulator.errors import Place, UninitialisedError, UnmodelledError
from pypto_verified.simulator.fixpipe import convert_out, read_layout, scales
from pypto_verified.simulator.layout import ceil_to
from pypto_verified.simulator.memory import View
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Tensor, Tile
from pypto_verified.simulator.values import Array, Scalar, pad_value


def _extents(tile: Tile, tensor: Tensor) -> tuple[int, int]:
    rows, cols = tensor.extents()
    if tile.space is Space.ACC:
        return tile.rows, tile.cols
    if tile.space is Space.MAT and tile.type.boxed and tensor.layout is not TensorLayout.NZ:
        return rows, cols
    return (rows, tile.cols) if tensor.layout is TensorLayout.ND else (tile.rows, cols)


def _expect_equal(site: Site, tile: Tile, tensor: Tensor) -> None:
    if not site.machine.replaying:
        return
    window, valid = tensor.extents(), (tile.rows, tile.cols)
    site.expect(
        window == valid or (0 in window and 0 in valid),
        f"a window of {window[0]} x {window[1]} elements and {valid[0]} x {valid[1]} valid ones", Place(tile.name))


_NEAR = {TensorLayout.ND: 4, TensorLayout.DN: 3}
"""The axis of a window that a burst runs along."""


def _in_bursts(site: Site, tensor: Tensor) -> Tensor:
    """The window as the device goes over it: the elements of a burst follow one another, whatever their stride is."""
    near = _NEAR.get(tensor.layout)
    if near is None or site.declared or tensor.strides[near] == 1 or tensor.sizes[near] <= 1:
        return tensor
    strides = (*tensor.strides[:near], 1, *tensor.strides[near + 1:])
    return replace(tensor, strides=strides, _windows={})


def _moved(site: Site, values: Array, kind: np.dtype[np.generic], name: str) -> Array:
    """`values` as elements of the other side: the bits are moved as they are. Sizes must agree."""
    if values.dtype == kind:
        return values
    if values.dtype.itemsize != kind.itemsize:
        raise UnmodelledError(f"transfer between {values.dtype} and {kind} elements", Place(name))
    moved: Array = values.astype(kind) if site.declared else np.ascontiguousarray(values).view(kind)
    return moved


@op("tload", "dst src")
def tload(site: Site, dst: Tile, src: Tensor) -> None:
    """GM to UB or L1; in UB the last 32-byte block of a row is padded (or left unspecified), in L1 NZ it is zeroed."""
    if len(site.op.args) > 2 or "pad_mode" in site.op.attrs:
        raise UnmodelledError("tload with padding operands", Place(dst.name))
    _expect_equal(site, dst, src)
    rows, cols = _extents(dst, src)
    if rows == 0 or cols == 0:
        return
    out = dst.writes(rows, cols)
    src = _in_bursts(site, src)
    out.put(_moved(site, src.window(rows, cols, False).reshape(rows, cols), dst.kind, dst.name))
    out.mark()
    _fill_tail(dst, rows, cols)


def _fill_tail(dst: Tile, rows: int, cols: int) -> None:
    """The rest of the last block of each row (of each column in a DN tile)."""
    columnwise = dst.type.slayout is SLayout.NONE and dst.type.blayout is BLayout.COL
    length = rows if columnwise else cols
    tail = ceil_to(length, dst.block) - length
    if tail == 0 or dst.type.slayout is SLayout.COL:
        return
    window = (tail, cols, rows, 0) if columnwise else (rows, tail, 0, cols)
    if window[2 if columnwise else 3] + tail > (dst.type.rows if columnwise else dst.type.cols):
        return
    out = dst.writes(*window)
    if dst.space is Space.MAT and dst.type.slayout is SLayout.ROW:
        out.put(np.zeros((), dst.kind))
        out.mark()
    elif dst.pad is Pad.NULL:
        out.poison()
    else:
        out.put(pad_value(dst.pad, dst.type.dtype))
        out.mark()


@op("tprefetch", "dst src")
def tprefetch(site: Site, dst: Tile, src: Tensor) -> None:
    """Brings a window into the cache; the tile is where it passes through."""
    src.window(*src.extents(), False)
    dst.writes(dst.type.rows, dst.type.cols).poison()


@op("tstore", "dst src fp preQuantScalar")
def tstore(site: Site, dst: Tensor, src: Tile, fp: Tile | None, quant: Scalar | None) -> None:
    """A tile to GM, converted on the way out of the accumulator. Uninitialised elements are reported."""
    _expect_equal(site, src, dst)
    rows, cols = _extents(src, dst)
    if rows == 0 or cols == 0:
        return
    if src.space is Space.ACC:
        view = src.reads(rows, cols, layout=read_layout(site, src, Space.GM))
        word = None if quant is None else int(quant)
        values = convert_out(site, view.get(), dst.pointer.kind, scales(fp, cols), word, src.name)
    else:
        view = src.reads(rows, cols)
        values = _moved(site, view.get(), dst.pointer.kind, src.name)
    atomic = site.enum("atomicType", "atomic_none")
    if atomic not in ("atomic_none", "atomic_add"):
        raise UnmodelledError(f"tstore with {atomic}", Place(src.name))
    target = _in_bursts(site, dst).window(rows, cols, True, site.machine.block[0], atomic == "atomic_add")
    report_uninitialised(site, view, src.name)
    shaped: Array = values.reshape(target.shape)
    target[...] = target + shaped if atomic == "atomic_add" else shaped


def report_uninitialised(site: Site, view: View, name: str) -> None:
    """Record an error when `view`, which becomes a result, holds bytes that nothing has written."""
    bad = view.bad()
    if bad is not None:
        row, col = (int(i) for i in np.argwhere(bad)[0])
        site.report(
            UninitialisedError(
                f"{int(bad.sum())} of {bad.size} elements of the result were never written",
                Place(name, (row, col), view.address(row, col)),
                "write the whole region before it is read, or narrow the valid shape to what was written",
            )
        )


