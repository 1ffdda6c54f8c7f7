"""Comparisons into bit masks and selection by them. Source: PTO-ISA headers.

Bit j % 8 of byte j // 8 of a mask row stands for column j; each row starts at the mask tile's own row pitch.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pypto_verified.simulator.errors import Place, UnmodelledError
from pypto_verified.simulator.layout import ceil_to, layout_of
from pypto_verified.simulator.memory import View
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Tile
from pypto_verified.simulator.values import Array, Scalar, scalar

_REPEAT_BYTES = 256
_BYTE = np.dtype(np.uint8)
_COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}


def _mask(tile: Tile, rows: int, size: int, writes: bool, start: int = 0) -> View:
    """`size` bytes of each mask row from byte `start`, whatever the mask's element type."""
    pitch = tile.type.cols * tile.kind.itemsize
    layout = layout_of(tile.type.blayout, tile.type.slayout, tile.type.fractal, tile.type.rows, pitch, 1)
    return tile.window(_BYTE, rows, size, 0, start, layout, writes)


def _compare(site: Site, dst: Tile, left: View, right: Array, right_bad: Array | None) -> None:
    mode = site.enum("cmpMode", "eq")
    if not (site.a5 or site.declared) and left.kind == np.int32 and mode != "ne":
        mode = "eq"  # the unit compares i32 for equality only, whatever the mode says
    bits = _COMPARE[mode](left.get(), right)
    rows, cols = left.shape
    size = -(-cols // 8)
    bad = left.bad()
    if right_bad is not None:
        bad = right_bad if bad is None else bad | right_bad
    if not site.a5:
        # Whole repeats are compared, so the bits behind the last column are those of unspecified elements.
        whole = ceil_to(cols * left.kind.itemsize, _REPEAT_BYTES) // left.kind.itemsize // 8
        room = dst.type.cols * dst.kind.itemsize
        if min(whole, room) > size:
            _mask(dst, rows, min(whole, room) - size, True, size).poison()
    out = _mask(dst, rows, size, True)
    out.put(np.packbits(bits, axis=1, bitorder="little"))
    out.mark(None if bad is None else np.packbits(bad, axis=1, bitorder="little") != 0)


@op("tcmp", "dst src0 src1")
def tcmp(site: Site, dst: Tile, src0: Tile, src1: Tile) -> None:
    """Mask of src0 ? src1 over src0's valid region."""
    right = src1.reads(src0.rows, src0.cols)
    _compare(site, dst, src0.reads(src0.rows, src0.cols), right.get(), right.bad())


@op("tcmps", "dst src scalar")
def tcmps(site: Site, dst: Tile, src: Tile, value: Scalar) -> None:
    """Mask of src ? scalar over src's valid region."""
    _compare(site, dst, src.reads(src.rows, src.cols), scalar(value, src.kind), None)


def _bits(mask: Tile, rows: int, cols: int) -> tuple[Array, Array | None]:
    view = _mask(mask, rows, -(-cols // 8), False)
    bits = np.unpackbits(view.get(), axis=1, count=cols, bitorder="little").view(np.bool_)
    bad = view.bad()
    return bits, None if bad is None else np.repeat(bad, 8, axis=1)[:, :cols]


def _select(
    site: Site, dst: Tile, mask: Tile, chosen: View, otherwise: Array, otherwise_bad: Array | None
) -> None:
    if not site.a5 and dst.kind.itemsize not in (2, 4):
        raise UnmodelledError(f"selection of {dst.type.dtype.pto} elements on a2a3", Place(dst.name))
    if not chosen.kind == otherwise.dtype == dst.kind:
        raise UnmodelledError(f"selection of {chosen.kind} or {otherwise.dtype} as {dst.kind}", Place(dst.name))
    bits, bad = _bits(mask, dst.rows, dst.cols)
    if chosen.bad() is not None or otherwise_bad is not None:
        none = np.zeros((), np.bool_)
        first, second = chosen.bad(), otherwise_bad
        picked = np.where(bits, none if first is None else first, none if second is None else second)
        bad = picked if bad is None else bad | picked
    out = dst.writes(dst.rows, dst.cols)
    out.put(np.where(bits, chosen.get(), otherwise))
    out.mark(bad)


@op("tsel", "dst mask src0 src1 tmp")
def tsel(site: Site, dst: Tile, mask: Tile, src0: Tile, src1: Tile, tmp: Tile | None) -> None:
    """src0 where the mask bit is 1, else src1."""
    if tmp is not None:
        tmp.clobber()
    right = src1.reads(dst.rows, dst.cols)
    _select(site, dst, mask, src0.reads(dst.rows, dst.cols), right.get(), right.bad())


@op("tsels", "dst mask src tmp scalar")
def tsels(site: Site, dst: Tile, mask: Tile, src: Tile, tmp: Tile | None, value: Scalar) -> None:
    """src where the mask bit is 1, else the scalar."""
    if tmp is not None:
        tmp.clobber()
    _select(site, dst, mask, src.reads(dst.rows, dst.cols), scalar(value, dst.kind), None)
