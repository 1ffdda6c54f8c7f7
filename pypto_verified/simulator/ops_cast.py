"""TCVT: which rounding and saturation an op gets on a target. The arithmetic is in `casts.py`. Source: TCvt.hpp."""

from __future__ import annotations

from pypto_verified.simulator.casts import convert
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Tile
from pypto_verified.simulator.values import Array, is_float


def _mode(site: Site, src: Tile, dst: Tile) -> str:
    """The rounding mode; NONE is the instruction's own: towards zero for float to integer, else to nearest even."""
    mode = site.enum("rmode", "RINT").removeprefix("CAST_")
    if mode != "NONE":
        return mode
    return "TRUNC" if is_float(src.kind) and not is_float(dst.kind) else "RINT"


def _saturates(site: Site, src: Tile, dst: Tile, tmp: Tile | None) -> bool:
    """The assembler always passes the mode, OFF when it is not written; a2a3 heeds OFF for a few pairs only."""
    off = site.enum("sat_mode", "OFF") == "OFF"
    if site.a5 or tmp is not None:
        return not off
    return not (off and (src.type.dtype, dst.type.dtype) in site.target.wrapping_casts)


@op("tcvt", "dst src tmp")
def tcvt(site: Site, dst: Tile, src: Tile, tmp: Tile | None) -> None:
    """Convert over dst's valid region; f32 to f32 rounds to an integral value unless the mode is NONE. Where both share
    bytes, row by row."""
    if tmp is not None:
        tmp.clobber()
    rows, cols = dst.rows, dst.cols
    step = 1 if dst.overlaps(src) else max(rows, 1)
    for row in range(0, rows, step):
        source, out = src.reads(step, cols, row), dst.writes(step, cols, row)
        bad = source.bad()
        if src.kind == dst.kind and site.enum("rmode") == "NONE":
            out.put(source.get())
        else:
            values: Array = convert(source.get(), dst.kind, _mode(site, src, dst), _saturates(site, src, dst, tmp))
            out.put(values)
        out.mark(bad)
