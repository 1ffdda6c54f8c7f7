"""Random numbers from a counter, and counts of bytes. Source: PTO-ISA TRANDOM and THISTOGRAM (a5)."""

from __future__ import annotations

import numpy as np

from pypto_verified.simulator.errors import Place, UnmodelledError
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Tile
from pypto_verified.simulator.values import Array

_LANES = 64
"""32-bit lanes of a vector register: counters that are taken at once, four words each."""
_FACTORS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_BINS = 256


def _words(counter: int, key: tuple[int, int], rounds: int) -> Array:
    """The words of `_LANES` counters from `counter`, four of each counter side by side (Philox 4x32)."""
    counters = [counter + i for i in range(_LANES)]
    c = [np.asarray([n >> 32 * i & 0xFFFFFFFF for n in counters], np.uint64) for i in range(4)]
    for step in range(rounds):
        k0, k1 = (np.uint64(k + step * add & 0xFFFFFFFF) for k, add in zip(key, _KEY_STEPS, strict=True))
        first, second = c[0] * np.uint64(_FACTORS[0]), c[2] * np.uint64(_FACTORS[1])
        c = [second >> np.uint64(32) ^ c[1] ^ k0, second & _LOW, first >> np.uint64(32) ^ c[3] ^ k1, first & _LOW]
    return np.stack(c, axis=1).reshape(-1).astype(np.uint32)


@op("trandom", "dst key0 key1 counter0 counter1 counter2 counter3")
def trandom(site: Site, dst: Tile, key0: int, key1: int, *counter: int) -> None:
    """Rows of random words. A row takes whole registers of counters, but moves the counter of the next row by less when
    its last columns do not fill one, as the ISA's library does."""
    rounds = site.op.attrs.get("rounds", 10)
    if not site.a5 or dst.kind.itemsize != 4 or not isinstance(rounds, int):
        raise UnmodelledError(f"trandom of {dst.type.dtype.pto} on {site.target.name}", Place(dst.name))
    key = (key0 & 0xFFFFFFFF, key1 & 0xFFFFFFFF)
    at = sum((word & 0xFFFFFFFF) << 32 * i for i, word in enumerate(counter))
    rows, cols, chunk = dst.rows, dst.cols, 4 * _LANES
    out, found = dst.writes(rows, cols), np.empty((rows, cols), np.uint32)
    for row in range(rows):
        for start in range(0, cols, chunk):
            words = _words(at, key, rounds)
            found[row, start : start + chunk] = words[: cols - start]
            at += _LANES if start + chunk < cols else (cols - 1) % _LANES + 1
    out.put(found.view(dst.kind))
    out.mark()


@op("thistogram", "dst src idx")
def thistogram(site: Site, dst: Tile, src: Tile, idx: Tile) -> None:
    """Row r counts, up to each of 256 values, one byte of the elements whose higher bytes are those of `idx`: one value
    a row of 16-bit elements, one value a byte (in rows, the highest first) of 32-bit ones."""
    byte, width = site.op.attrs.get("byte", 1), src.kind.itemsize
    if not site.a5 or width not in (2, 4) or not isinstance(byte, int) or not 0 <= byte < width:
        raise UnmodelledError(f"thistogram of byte {byte} of {src.type.dtype.pto} on {site.target.name}",
                              Place(dst.name))
    source, higher = src.reads(src.rows, src.cols), width - 1 - byte
    values = np.ascontiguousarray(source.get()).view(f"u{width}").astype(np.int64)
    chosen, bad = np.ones(values.shape, np.bool_), source.bad()
    spoilt: Array = np.zeros(src.rows, np.bool_) if bad is None else np.asarray(bad.any(axis=1))
    if higher:
        filters = idx.reads(src.rows if width == 2 else higher, 1)
        unset = filters.bad()
        if unset is not None:
            spoilt = spoilt | (unset[:, 0] if width == 2 else np.full(src.rows, unset.any()))
        for level in range(higher):
            wanted = filters.get() if width == 2 else filters.get()[level : level + 1]
            chosen &= (values >> 8 * (width - 1 - level) & 0xFF) == wanted
    counts = [np.bincount((row >> 8 * byte & 0xFF)[kept], minlength=_BINS) for row, kept in zip(values, chosen,
                                                                                            strict=True)]
    out = dst.writes(src.rows, _BINS)
    out.put(np.cumsum(np.asarray(counts).reshape(-1, _BINS), axis=1).astype(np.uint32))
    out.mark(np.repeat(spoilt[:, None], _BINS, axis=1) if spoilt.any() else None)
