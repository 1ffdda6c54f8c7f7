"""Gathers and scatters: by flat element index, by mask pattern, and between a tensor and a tile. Source: PTO-ISA.

The device checks no index of TGATHER and TSCATTER; here one that leaves the tile is a fault.
"""

from __future__ import annotations

import numpy as np

from pypto_verified.layouts import BLayout, SLayout
from pypto_verified.simulator.errors import GlobalBoundsError, LocalBoundsError, Place, ShapeError, UnmodelledError
from pypto_verified.simulator.ops_memory import report_uninitialised
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Tensor, Tile
from pypto_verified.simulator.values import Array, Scalar

_PATTERNS: dict[str, tuple[int, tuple[int, ...]]] = {
    "P0101": (2, (0,)), "P1010": (2, (1,)), "P0001": (4, (0,)), "P0010": (4, (1,)), "P0100": (4, (2,)),
    "P1000": (4, (3,)), "P1111": (1, (0,)),
}
"""Pattern -> (period, positions kept)."""


_BLOCK_BYTES = 32


def _kept(site: Site, count: int) -> Array:
    """The lines of `count` that the op's mask pattern keeps."""
    period, positions = _PATTERNS[site.enum("maskPattern")]
    return np.flatnonzero(np.isin(np.arange(count) % period, positions))


def _cells(indices: Tile, rows: int, cols: int, into: Tile) -> tuple[Array, Array, Array | None]:
    """(row, column) in `into` of each flat index, and which indices are uninitialised (taken as 0)."""
    view = indices.reads(rows, cols)
    bad = view.bad()
    flat = view.get().astype(np.int64)
    if bad is not None:
        flat = np.where(bad, 0, flat)
    outside = (flat < 0) | (flat >= into.type.rows * into.type.cols)
    if outside.any():
        r, c = (int(i) for i in np.argwhere(outside)[0])
        raise LocalBoundsError(
            f"index {int(flat[r, c])} into a tile of {into.type.rows * into.type.cols} elements",
            Place(indices.name, (r, c), view.address(r, c)), "keep indices within the tile",
        )
    return flat // into.type.cols, flat % into.type.cols, bad


def _require_width(a: Tile, b: Tile) -> None:
    if a.kind.itemsize != b.kind.itemsize:
        raise UnmodelledError(f"elements of {a.type.dtype.pto} from {b.type.dtype.pto}", Place(a.name))


@op("tgather", "dst src indices tmp kValue cdst")
def tgather(
    site: Site, dst: Tile, src: Tile, indices: Tile | None, tmp: Tile | None, k: Scalar | None, count: Tile | None
) -> None:
    """By index: dst[r, c] = src.flat[indices[r, c]]. By mask: the kept columns (or rows), packed into dst."""
    if k is not None or count is not None:
        raise UnmodelledError("tgather that compares", Place(dst.name))
    if tmp is not None:
        tmp.clobber()
    if indices is None:
        _gather_mask(site, dst, src)
        return
    source = src.reads(src.type.rows, src.type.cols)
    r, c, bad = _cells(indices, dst.rows, dst.cols, src)
    unset = source.bad()
    if unset is not None:
        bad = unset[r, c] if bad is None else bad | unset[r, c]
    out = dst.writes(dst.rows, dst.cols)
    out.put(source.get()[r, c])
    out.mark(bad)


def _gather_mask(site: Site, dst: Tile, src: Tile) -> None:
    _require_width(dst, src)
    source = src.reads(src.rows, src.cols)
    columns = site.op.attrs.get("axis", "row") != "col"
    kept = _kept(site, src.cols if columns else src.rows)
    values, bad = source.get(), source.bad()
    values = values[:, kept] if columns else values[kept]
    if values.size != dst.rows * dst.cols:
        raise ShapeError(f"{values.size} elements kept for {dst.rows} x {dst.cols}", Place(dst.name))
    out = dst.writes(dst.rows, dst.cols)
    # Bits move unchanged: the destination may read them as another type of the same width.
    out.put(np.ascontiguousarray(values).view(dst.kind).reshape(out.shape))
    if bad is not None:
        bad = (bad[:, kept] if columns else bad[kept]).reshape(out.shape)
    out.mark(bad)


@op("tgatherb", "dst src offsets")
def tgatherb(site: Site, dst: Tile, src: Tile, offsets: Tile) -> None:
    """Each u32 byte offset, counted from src's address, fetches 32 bytes; they lie side by side in dst's rows."""
    if src.type.blayout is not BLayout.ROW or src.type.slayout is not SLayout.NONE:
        raise UnmodelledError("tgatherb from a tile that is not row-major", Place(src.name))
    rows, blocks = dst.rows, -(-dst.cols // dst.block)
    whole, view = src.reads(src.type.rows, src.type.cols), offsets.reads(rows, blocks)
    content = np.ascontiguousarray(whole.get()).reshape(-1).view(np.uint8)
    unset, lost = whole.bad(), view.bad()
    starts = view.get().astype(np.int64) if lost is None else np.where(lost, 0, view.get().astype(np.int64))
    outside = (starts < 0) | (starts + _BLOCK_BYTES > content.size)
    if outside.any():
        r, c = (int(i) for i in np.argwhere(outside)[0])
        raise LocalBoundsError(
            f"byte offset {int(starts[r, c])} into a tile of {content.size} bytes",
            Place(offsets.name, (r, c), view.address(r, c)), "keep offset + 32 within the tile",
        )
    places = (starts[:, :, None] + np.arange(_BLOCK_BYTES)).reshape(rows, blocks * _BLOCK_BYTES)
    values = np.ascontiguousarray(content[places]).view(dst.kind)[:, : dst.cols]
    bad = None if lost is None else np.repeat(lost, dst.block, axis=1)[:, : dst.cols]
    if unset is not None:
        of_bytes = np.repeat(unset.reshape(-1), src.kind.itemsize)[places]
        spoilt = of_bytes.reshape(rows, blocks * dst.block, dst.kind.itemsize).any(axis=2)[:, : dst.cols]
        bad = spoilt if bad is None else bad | spoilt
    out = dst.writes(rows, dst.cols)
    out.put(values)
    out.mark(bad)


@op("tscatter", "dst src indexes")
def tscatter(site: Site, dst: Tile, src: Tile, indexes: Tile | None) -> None:
    """By index: dst.flat[indexes[r, c]] = src[r, c], the last one wins. By mask: src spread out, zeros between."""
    source = src.reads(src.rows, src.cols)
    if indexes is None:
        _scatter_mask(site, dst, src)
        return
    out = dst.writes(dst.type.rows, dst.type.cols)
    r, c, lost = _cells(indexes, src.rows, src.cols, dst)
    if lost is not None:
        out.poison()  # an unknown index may have hit any element
        return
    values, before, unset = out.get().copy(), out.bad(), source.bad()
    values[r, c] = source.get()
    bad = np.zeros(out.shape, np.bool_) if before is None else before
    bad[r, c] = False if unset is None else unset
    out.put(values)
    out.mark(bad if bad.any() else None)


def _scatter_mask(site: Site, dst: Tile, src: Tile) -> None:
    _require_width(dst, src)
    source, out = src.reads(src.rows, src.cols), dst.writes(dst.rows, dst.cols)
    columns = site.op.attrs.get("axis", "row") != "col"
    kept = _kept(site, dst.cols if columns else dst.rows)
    place = np.ix_(np.arange(dst.rows), kept) if columns else np.ix_(kept, np.arange(dst.cols))
    if (len(place[0]), place[1].shape[1]) != source.shape:
        raise ShapeError(f"{source.shape} elements to spread over {dst.rows} x {dst.cols}", Place(dst.name))
    values, bad, unset = np.zeros(out.shape, dst.kind), np.zeros(out.shape, np.bool_), source.bad()
    values[place] = np.ascontiguousarray(source.get()).view(dst.kind)
    if unset is not None:
        bad[place] = unset
    out.put(values)
    out.mark(bad if bad.any() else None)


def _resolved(flat: Array, size: int, policy: str, idx: Tile | Tensor) -> tuple[Array, Array]:
    """Indices after the out-of-bounds policy, and which of them take part. GlobalBoundsError under 'undefined'."""
    inside = (flat >= 0) & (flat < size)
    if policy == "clamp":
        return np.clip(flat, 0, size - 1), np.ones(flat.shape, np.bool_)
    if policy == "wrap":
        return flat % size, np.ones(flat.shape, np.bool_)
    if policy == "undefined" and not inside.all():
        first = int(np.flatnonzero(~inside)[0])
        place = idx.place(*divmod(first, idx.cols)) if isinstance(idx, Tile) else Place(idx.name)
        raise GlobalBoundsError(f"index {int(flat.flat[first])} of {size}", place, "keep indices within the tensor")
    return np.where(inside, flat, 0), inside


def _tensor(mem: Tensor, site: Site, writes: bool) -> Array:
    rows, cols = mem.extents()
    window = mem.window(rows, cols, writes, site.machine.block[0], True)
    return window if window.ndim == 2 else window.reshape(rows, cols)


def _by_row(site: Site, idx: Tile | Tensor) -> bool:
    """Whether indices name rows, as they do unless the op says otherwise: ShapeError when they are no row or column."""
    found = site.enum("coalesce", "row") == "row"
    if found and isinstance(idx, Tile) and min(idx.rows, idx.cols) > 1:
        raise ShapeError(f"{idx.rows} x {idx.cols} indices of rows", Place(idx.name),
                         "give one row or one column of them, or gather by element (coalesce)")
    return found


def _indices(site: Site, idx: Tile | Tensor) -> Array:
    if isinstance(idx, Tensor):
        return _tensor(idx, site, False).astype(np.int64)
    view = idx.reads(idx.rows, idx.cols)
    report_uninitialised(site, view, idx.name)
    return view.get().astype(np.int64)


def _require_indices(idx: Tile | Tensor, by_row: bool, tile: Tile, table: Array) -> None:
    """An index for each row, or for each element, of `tile`; rows of the tensor are as long, its elements the same."""
    if table.dtype != tile.kind:
        raise UnmodelledError(f"elements of {tile.kind} in a tensor of {table.dtype}", Place(tile.name))
    rows, cols = (idx.rows, idx.cols) if isinstance(idx, Tile) else idx.extents()
    enough = rows * cols >= tile.rows if by_row else rows >= tile.rows and cols >= tile.cols
    if not enough or (by_row and tile.cols > table.shape[1]):
        raise ShapeError(f"{rows} x {cols} indices for {tile.rows} x {tile.cols} elements", Place(tile.name))


@op("mgather", "dst mem idx scratch")
def mgather(site: Site, dst: Tile, mem: Tensor, idx: Tile | Tensor, scratch: Tile | Tensor | None) -> None:
    """`coalesce` row: row r of dst is tensor row idx[r]. elem: dst[r, c] is the tensor's flat element idx[r, c]."""
    if isinstance(scratch, Tile):
        scratch.clobber()
    table, flat = _tensor(mem, site, False), _indices(site, idx)
    policy, by_row = site.enum("gatherOob", "undefined"), _by_row(site, idx)
    _require_indices(idx, by_row, dst, table)
    if by_row:
        where, valid = _resolved(flat.reshape(-1)[: dst.rows], table.shape[0], policy, idx)
        values = np.where(valid[:, None], table[where][:, : dst.cols], np.zeros((), dst.kind))
    else:
        where, valid = _resolved(flat[: dst.rows, : dst.cols], table.size, policy, idx)
        values = np.where(valid, table.reshape(-1)[where], np.zeros((), dst.kind))
    out = dst.writes(dst.rows, dst.cols)
    out.put(values)
    out.mark()


@op("mscatter", "mem src idx")
def mscatter(site: Site, mem: Tensor, src: Tile, idx: Tile | Tensor) -> None:
    """The reverse of MGATHER, in row-major order of src, optionally atomic."""
    view = src.reads(src.rows, src.cols)
    report_uninitialised(site, view, src.name)
    rows, cols = mem.extents()
    window = mem.window(rows, cols, True, site.machine.block[0], True)
    table, flat = window.reshape(rows, cols).copy(), _indices(site, idx)
    policy, by_row = site.enum("scatterOob", "undefined"), _by_row(site, idx)
    _require_indices(idx, by_row, src, table)
    atomic = {"none": None, "add": np.add, "max": np.maximum, "min": np.minimum}[site.enum("scatterAtomicOp", "none")]
    chosen = flat.reshape(-1)[: src.rows] if by_row else flat[: src.rows, : src.cols]
    where, valid = _resolved(chosen, rows if by_row else rows * cols, policy, idx)
    target = table[:, : src.cols] if by_row else table.reshape(-1)
    if atomic is None:
        target[where[valid]] = view.get()[valid]
    else:
        atomic.at(target, where[valid], view.get()[valid])
    window[...] = table.reshape(window.shape)
