"""Ops on two tiles of which one may be valid where the other is not. Source: PTO-ISA TPARTADD and its kin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pypto_verified.simulator.compute import Kernel
from pypto_verified.simulator.errors import Place, ShapeError
from pypto_verified.simulator.memory import View
from pypto_verified.simulator.ops_elementwise import BINARY
from pypto_verified.simulator.registry import Handler, Site, op
from pypto_verified.simulator.tile import Tile
from pypto_verified.simulator.values import Array


def _sources(dst: Tile, tiles: tuple[Tile, Tile]) -> list[View]:
    """The parts of the sources that lie in dst's valid region."""
    return [t.reads(min(t.rows, dst.rows), min(t.cols, dst.cols)) for t in tiles]


def _write(dst: Tile, sources: list[View], both: Array) -> None:
    """`both` where both sources are valid, one where only that is; where neither is, the device may write anything."""
    rows, cols = dst.rows, dst.cols
    result = np.empty((rows, cols), dst.kind)
    bad = np.ones((rows, cols), np.bool_)
    for view in sources:
        n, m = view.shape
        result[:n, :m] = view.get()
        bad[:n, :m] = False
    result[: both.shape[0], : both.shape[1]] = both
    for view in sources:
        unset = view.bad()
        if unset is not None:
            bad[: view.shape[0], : view.shape[1]] |= unset
    out = dst.writes(rows, cols)
    out.put(result)
    out.mark(bad if bad.any() else None)


def _common(a: View, b: View) -> tuple[Array, Array]:
    """The elements of both where both are valid."""
    n, m = (min(x, y) for x, y in zip(a.shape, b.shape, strict=True))
    return a.get()[:n, :m], b.get()[:n, :m]


def _covered(site: Site, dst: Tile, sources: tuple[Tile, ...]) -> None:
    shapes = [f"{s.rows} x {s.cols}" for s in sources]
    covers = any(s.rows >= dst.rows and s.cols >= dst.cols for s in sources) or 0 in (dst.rows, dst.cols)
    site.expect(covers, f"neither {' nor '.join(shapes)} covers {dst.rows} x {dst.cols}", Place(dst.name))


def _partial(kernel: Kernel) -> Handler:
    def run(site: Site, dst: Tile, src0: Tile, src1: Tile) -> None:
        _covered(site, dst, (src0, src1))
        sources = _sources(dst, (src0, src1))
        _write(dst, sources, kernel(*_common(*sources)))

    return run


for _name in ("add", "mul", "max", "min"):
    op(f"tpart{_name}", "dst src0 src1")(_partial(BINARY[_name]))


def _partial_argument(beats: Callable[[Array, Array], Array]) -> Handler:
    """The value and the index of src1 where it beats src0's, else those of src0: of equal ones the first."""

    def run(site: Site, dst: Tile, dst_index: Tile, src0: Tile, src1: Tile, index0: Tile, index1: Tile) -> None:
        for value, index in ((src0, index0), (src1, index1), (dst, dst_index)):
            if (value.rows, value.cols) != (index.rows, index.cols):
                raise ShapeError(f"{value.rows} x {value.cols} values with {index.rows} x {index.cols} indices",
                                 Place(index.name))
        _covered(site, dst, (src0, src1))
        values, indices = _sources(dst, (src0, src1)), _sources(dst_index, (index0, index1))
        a, b = _common(*values)
        second = beats(b, a)
        chosen, names = np.where(second, b, a), np.where(second, *reversed(_common(*indices)))
        unset = [v.bad() for v in values]
        _write(dst, values, chosen)
        _write(dst_index, indices, names)
        if any(u is not None for u in unset):
            _spoil(dst_index, unset)

    return run


def _spoil(index: Tile, unset: list[Array | None]) -> None:
    """An index depends on the values as well."""
    out = index.writes(index.rows, index.cols)
    before = out.bad()
    bad = np.zeros(out.shape, np.bool_) if before is None else before
    for found in unset:
        if found is not None:
            bad[: found.shape[0], : found.shape[1]] |= found
    out.mark(bad)


op("tpartargmax", "dst dstIdx src0 src1 src0Idx src1Idx")(_partial_argument(np.greater))
op("tpartargmin", "dst dstIdx src0 src1 src0Idx src1Idx")(_partial_argument(np.less))
