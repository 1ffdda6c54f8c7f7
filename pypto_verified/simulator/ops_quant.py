"""Quantisation of vectors with a scale and an offset a row. Source: PTO-ISA TQUANT and TDEQUANT.

The scale and the offset of row r stand in column 0 of their tile's row r.
"""

from __future__ import annotations

import numpy as np

from pypto_verified.simulator.casts import convert
from pypto_verified.simulator.compute import spoiled
from pypto_verified.simulator.errors import Place, UnmodelledError
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Tile

_F32, _I32 = np.dtype(np.float32), np.dtype(np.int32)
_TYPES = {"int8_sym": np.dtype(np.int8), "int8_asym": np.dtype(np.uint8)}


@op("tquant", "dst src fp offset tmp")
def tquant(site: Site, dst: Tile, src: Tile, scale: Tile, offset: Tile | None, tmp: Tile | None) -> None:
    """src * scale (+ offset) to nearest even, clamped to 8 bits. a2a3 multiplies in place: src is lost."""
    mode = site.enum("quant_type").lower()
    if _TYPES.get(mode) != dst.kind or src.kind != _F32 or (mode == "int8_asym") != (offset is not None):
        raise UnmodelledError(f"tquant {mode} of {src.type.dtype.pto} to {dst.type.dtype.pto}", Place(dst.name))
    rows, cols = src.rows, src.cols
    views = [src.reads(rows, cols), scale.reads(rows, 1), *([] if offset is None else [offset.reads(rows, 1)])]
    values, bad = views[0].get() * views[1].get(), spoiled(views)
    if offset is not None:
        values = values + views[2].get()
    whole = convert(values, _I32, "RINT", True)
    if not site.a5:
        src.clobber()
        if tmp is not None:
            tmp.clobber()
    out = dst.writes(rows, cols)
    limits = np.iinfo(dst.kind)
    out.put(np.clip(whole, limits.min, limits.max).astype(dst.kind))
    out.mark(bad)


@op("tdequant", "dst src scale offset")
def tdequant(site: Site, dst: Tile, src: Tile, scale: Tile, offset: Tile) -> None:
    """(src - offset) * scale in f32."""
    if dst.kind != _F32 or src.kind.name not in ("int8", "int16"):
        raise UnmodelledError(f"tdequant of {src.type.dtype.pto} to {dst.type.dtype.pto}", Place(dst.name))
    rows, cols = dst.rows, dst.cols
    source, factor, shift = src.reads(rows, cols), scale.reads(rows, 1), offset.reads(rows, 1)
    values, bad = (source.get().astype(np.float32) - shift.get()) * factor.get(), spoiled((source, factor, shift))
    out = dst.writes(rows, cols)
    out.put(values)
    out.mark(bad)
