"""Sorting: lists of (value, index) pairs of eight bytes, kept in tiles of the value's type.

An FP32 pair is (value, index bits), an FP16 pair (value, 0, low half, high half of the index).
Source: PTO-ISA TSORT32 and TMRGSORT.
"""

from __future__ import annotations

import numpy as np

from pypto_verified.dtypes import DType
from pypto_verified.interpreter.meaning import Fault, Site, Value, meaning
from pypto_verified.interpreter.numbers import Carrier, Floats, Ints, storage
from pypto_verified.interpreter.values import undefined

_BLOCK = 32
_PAIR_BYTES = 8


def _pair(value: float, index: int, dtype: DType) -> list[float]:
    """One pair as elements of the value's type. Fault when the index's bits are no number in that type."""
    words = np.array([index], dtype=np.uint32).view(storage(dtype)).astype(np.float64).tolist()
    if not np.all(np.isfinite(words)):
        raise Fault(f"index {index} is no {dtype.name} number: its bits would not survive")
    return [value, *([0.0] * (len(words) - 1)), *words]


@meaning("tile.sort32")
def _sort_blocks(site: Site) -> Value:
    """Each 32 columns on their own: greatest value first, of equal ones the smaller index first."""
    source, indices = site.tile(0), site.tile(1)
    rows, columns = source.valid
    if columns % _BLOCK:
        raise Fault(f"sorts {columns} columns, which are no whole blocks of {_BLOCK}")
    width = _PAIR_BYTES // source.dtype.bytes
    out = undefined((source.shape[0], source.shape[1] * width), source.dtype, (rows, columns * width))
    for r in range(rows):
        for start in range(0, columns, _BLOCK):
            at = slice(start, start + _BLOCK)
            into = slice(start * width, (start + _BLOCK) * width)
            if source.poison[r, at].any() or indices.poison[r, at].any():
                continue
            values, names = source.data[r, at].tolist(), indices.data[r, at].tolist()
            order = sorted(range(_BLOCK), key=lambda i: (-values[i], names[i]))
            out.data[r, into] = [word for i in order for word in _pair(values[i], int(names[i]), source.dtype)]
            out.poison[r, into] = False
    return out


@meaning("tile.mrgsort_format1")
def _merge_runs(site: Site) -> Value:
    """Each four neighbouring runs of `block_len` elements become one; of equal values the earlier run's come first."""
    source, length = site.tile(0), int(site.scalar(1))
    width = _PAIR_BYTES // source.dtype.bytes
    columns = source.valid[1]
    if source.valid[0] != 1 or length <= 0 or length % width or columns % (4 * length):
        raise Fault(f"{source.valid} elements are no row of four-run groups of {length}")
    if source.poison[source.window()].any():
        raise Fault("merges elements that have no defined value")
    pairs = source.data[0, :columns].reshape(-1, width)
    merged = np.concatenate([_merged(pairs[i : i + 4 * length // width], [length // width] * 4)
                             for i in range(0, len(pairs), 4 * length // width)])
    out = undefined(source.shape, source.dtype, source.valid)
    out.data[0, :columns], out.poison[0, :columns] = merged.reshape(-1), False
    return out


@meaning("tile.mrgsort_format2")
def _merge_lists(site: Site) -> Value:
    """Two to four rows of pairs become one; with `exhausted` it ends, without a value for the rest, when one is used
    up."""
    lists = [site.tile(i) for i in (0, 1, 3, 4) if site.has(i)]
    dtype, room = lists[0].dtype, site.tile(2).shape
    width = _PAIR_BYTES // dtype.bytes
    if any(t.valid[0] != 1 for t in lists):
        raise Fault("merges a list that is no row")
    if any(t.poison[t.window()].any() for t in lists):
        raise Fault("merges elements that have no defined value")
    lengths = [t.valid[1] // width for t in lists]
    pairs = np.concatenate([t.data[0, : t.valid[1]].reshape(-1, width) for t in lists])
    merged = _merged(pairs, lengths, bool(site.attr("exhausted")))
    out = undefined(room, dtype)
    out.data[0, : merged.size], out.poison[0, : merged.size] = merged.reshape(-1), False
    return out


def _merged(pairs: Carrier, lengths: list[int], exhausted: bool = False) -> Floats:
    """The runs of these lengths, one behind the other in `pairs`, as one; `exhausted`: until one is used up."""
    ends: Ints = np.cumsum(lengths)
    heads = ends - lengths
    chosen: list[Carrier] = []
    for start, end in zip(heads, ends, strict=True):
        if (np.diff(pairs[start:end, 0]) > 0).any():
            raise Fault("merges a run that is not sorted")
    while len(chosen) < len(pairs) and not (exhausted and (heads == ends).any()):
        open_runs = [k for k in range(len(heads)) if heads[k] < ends[k]]
        best = max(open_runs, key=lambda k: (pairs[heads[k], 0], -k))
        chosen.append(pairs[heads[best]])
        heads[best] += 1
    return np.asarray(chosen, dtype=np.float64).reshape(len(chosen), pairs.shape[1])


