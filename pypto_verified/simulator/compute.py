"""How every lane-wise op runs: windows over the destination's valid region, poison, overlapping operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pypto_verified.simulator.errors import DivisionError, Place, UnmodelledError
from pypto_verified.simulator.memory import View
from pypto_verified.simulator.tile import Tile
from pypto_verified.simulator.values import Array

Kernel = Callable[..., Array]
"""Arrays of one shape (or broadcast to it) in, one array out."""


def spoiled(views: Sequence[View]) -> Array | None:
    """Elements that depend on uninitialised bytes of one of `views` (equal shapes, or broadcast); None for none."""
    found: Array | None = None
    for view in views:
        bad = view.bad()
        if bad is not None:
            found = bad if found is None else found | bad
    return found


def lanes(dst: Tile, sources: Sequence[Tile], kernel: Kernel, *extra: Array) -> None:
    """`dst = kernel(*sources, *extra)` over dst's valid region; the sources are read at the same (row, col).

    A source that overlaps dst without being the same window is read row by row, after the rows before it are written,
    as a vector unit that works through its repeats does.
    """
    rows, cols, kind = dst.rows, dst.cols, dst.kind
    stepwise = False
    for source in sources:
        if source.kind is not kind and source.kind != kind:
            raise UnmodelledError(f"operands of {source.type.dtype.pto} and {dst.type.dtype.pto}", Place(dst.name))
        stepwise = stepwise or (source is not dst and dst.overlaps(source))
    if not stepwise:
        _apply(dst.writes(rows, cols), [source.reads(rows, cols) for source in sources], kernel, extra)
        return
    for row in range(rows):
        _apply(dst.writes(1, cols, row), [source.reads(1, cols, row) for source in sources], kernel, extra)


def _apply(out: View, views: list[View], kernel: Kernel, extra: tuple[Array, ...]) -> None:
    bad = spoiled(views)
    if out.plain is not None and isinstance(kernel, np.ufunc):
        kernel(*[v.get() for v in views], *extra, out=out.plain)
    else:
        out.put(kernel(*[v.get() for v in views], *extra))
    out.mark(bad)


def require_nonzero(divisor: Array) -> None:
    """DivisionError naming the first zero of an integer divisor."""
    if divisor.dtype.kind in "iu" and not divisor.all():
        where = tuple(int(i) for i in np.argwhere(divisor == 0)[0])
        element = (where[0], where[1]) if len(where) == 2 else None
        raise DivisionError("integer division by zero", Place(element=element))
