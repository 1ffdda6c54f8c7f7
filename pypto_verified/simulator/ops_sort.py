"""TSORT32 and TMRGSORT: (value, index) pairs of 8 bytes, descending by value. Source: PTO-ISA headers."""

from __future__ import annotations

import numpy as np

from pypto_verified.simulator.errors import Place, ShapeError, UnmodelledError
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Tile
from pypto_verified.simulator.values import Array, Scalar

_BLOCK = 32
_PAIR_BYTES = 8


def _descending(values: Array, ties: Array) -> Array:
    """The order of each row of `values`: largest first, then by `ties`."""
    return np.lexsort((ties, -values.astype(np.float64)), axis=-1)


@op("tsort32", "dst src idx tmp")
def tsort32(site: Site, dst: Tile, src: Tile, idx: Tile, tmp: Tile | None) -> None:
    """Sort each 32 columns on their own; equal values by smaller index. f32: (value, index); f16: (value, 0, index)."""
    if tmp is not None:
        tmp.clobber()
    if src.cols % _BLOCK:
        raise UnmodelledError(f"sorting {src.cols} columns, not whole blocks of {_BLOCK}", Place(src.name))
    source, index = src.reads(src.rows, src.cols), idx.reads(src.rows, src.cols)
    if source.bad() is not None or index.bad() is not None:
        dst.writes(src.rows, src.cols * _PAIR_BYTES // src.kind.itemsize).poison()
        return
    values = source.get().reshape(-1, _BLOCK)
    indices = index.get().astype(np.uint32).reshape(-1, _BLOCK)
    order = _descending(values, indices)
    per_pair = _PAIR_BYTES // src.kind.itemsize
    pairs = np.zeros((*values.shape, per_pair), src.kind)
    pairs[:, :, 0] = np.take_along_axis(values, order, axis=1)
    sorted_indices = np.take_along_axis(indices, order, axis=1)
    pairs[:, :, per_pair // 2 :] = sorted_indices[:, :, None].view(src.kind)
    out = dst.writes(src.rows, src.cols * per_pair)
    out.put(pairs.reshape(out.shape))
    out.mark()


@op("tmrgsort", "srcs* blockLen tmp dsts* excuted")
def tmrgsort(
    site: Site, srcs: tuple[Tile, ...], block: Scalar | None, tmp: Tile | None, dsts: tuple[Tile, ...],
    counts: object,
) -> None:
    """Merge each four sorted runs of `blockLen` elements into one, or two to four lists into one."""
    if tmp is not None:
        tmp.clobber()
    if block is None:
        _merge_lists(srcs, dsts[0], site.op.attrs.get("exhausted") is True)
        return
    if len(srcs) != 1 or len(dsts) != 1:
        raise UnmodelledError("merging runs of several tiles", Place(dsts[0].name))
    src, dst, length = srcs[0], dsts[0], int(block)
    if src.rows != 1 or length <= 0 or src.cols % (4 * length):
        raise ShapeError(f"{src.rows} x {src.cols} is not a row of four-run groups of {length}", Place(src.name))
    source = src.reads(1, src.cols)
    out = dst.writes(1, src.cols)
    if source.bad() is not None:
        out.poison()
        return
    pairs = source.get().reshape(-1, 4 * length * src.kind.itemsize // _PAIR_BYTES, _PAIR_BYTES // src.kind.itemsize)
    runs = pairs[:, :, 0].reshape(-1, length * src.kind.itemsize // _PAIR_BYTES).astype(np.float64)
    if (np.diff(runs, axis=1) > 0).any():
        raise UnmodelledError("merging a run that is not sorted", Place(src.name))
    keys = pairs[:, :, 0]
    order = _descending(keys, np.broadcast_to(np.arange(keys.shape[1]), keys.shape))
    out.put(np.take_along_axis(pairs, order[:, :, None], axis=1).reshape(1, -1))
    out.mark()


def _merge_lists(lists: tuple[Tile, ...], dst: Tile, exhausted: bool) -> None:
    """One row of pairs, of equal values the earlier list's first. `exhausted`: the unit stops when a list is used up,
    and what follows is unspecified."""
    width = _PAIR_BYTES // dst.kind.itemsize
    if any(t.rows != 1 or t.kind != dst.kind or t.cols % width for t in lists):
        raise ShapeError("lists to merge are rows of pairs of one type", Place(dst.name))
    views = [t.reads(1, t.cols) for t in lists]
    out = dst.writes(1, sum(t.cols for t in lists))
    if any(v.bad() is not None for v in views):
        out.poison()
        return
    pairs = [v.get().reshape(-1, width) for v in views]
    for tile, found in zip(lists, pairs, strict=True):
        if (np.diff(found[:, 0].astype(np.float64)) > 0).any():
            raise UnmodelledError("merging a list that is not sorted", Place(tile.name))
    merged, origin = np.concatenate(pairs), np.repeat(np.arange(len(pairs)), [len(p) for p in pairs])
    order = _descending(merged[None, :, 0], np.arange(len(merged))[None, :])[0]
    out.put(merged[order].reshape(1, -1))
    if exhausted and len(order):
        last = [int(np.flatnonzero(origin[order] == i)[-1]) if len(p) else -1 for i, p in enumerate(pairs)]
        out.mark(np.repeat(np.arange(len(order)) > min(last), width)[None, :])
    else:
        out.mark()
