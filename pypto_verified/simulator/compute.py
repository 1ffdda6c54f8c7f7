"""How every lane-wise op runs: windows over the destination's valid region, poison, overlapping operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from pypto_verified.simulator.errors import DivisionError, Place, UnmodelledError
from pypto_verified.simulator.memory import View
from pypto_verified.simulator.registry import Site
from pypto_verified.simulator.tile import Tile
from pypto_verified.simulator.values import Array, is_float

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


class Plan:
    """A lane-wise op as it ran last: what is left to do while its operands are the same windows, all initialised."""

    __slots__ = ("array", "inputs", "memory", "out", "sources", "views")

    def __init__(self, out: View, array: Array, sources: list[View]) -> None:
        self.out = out
        self.array = array
        self.sources = sources
        self.inputs = [v.get() for v in sources]
        self.memory = out.memory
        self.views = [out, *sources]

    def ready(self) -> bool:
        """Whether nothing has to be asked or recorded: all bytes are initialised, and no trace is wanted."""
        epoch = self.memory.epoch
        for view in self.views:
            if view.known != epoch:
                return False
        return self.memory.log is None


def lanes(site: Site, dst: Tile, sources: Sequence[Tile], kernel: Kernel, *extra: Array) -> None:
    """`dst = kernel(*sources, *extra)` over dst's valid region; the sources are read at the same (row, col).

    A source that overlaps dst without being the same window is read row by row, after the rows before it are written,
    as a vector unit that works through its repeats does.
    """
    rows, cols = dst.rows, dst.cols
    plan = site.plan
    if (
        isinstance(plan, Plan) and dst.main is plan.out and plan.out.shape == (rows, cols)
        and [s.main for s in sources] == plan.sources and plan.ready()
    ):
        kernel(*plan.inputs, *extra, out=plan.array)
        return
    kind = dst.kind
    if kind.itemsize == 1 and is_float(kind):
        raise UnmodelledError(f"arithmetic on {dst.type.dtype.pto}", Place(dst.name))
    stepwise = False
    for source in sources:
        if source.kind is not kind and source.kind != kind:
            raise UnmodelledError(f"operands of {source.type.dtype.pto} and {dst.type.dtype.pto}", Place(dst.name))
        stepwise = stepwise or (source is not dst and dst.overlaps(source))
    if stepwise:
        for row in range(rows):
            with dividing(sources[-1], row):
                _apply(dst.writes(1, cols, row), [source.reads(1, cols, row) for source in sources], kernel, extra)
        return
    out, views = dst.writes(rows, cols), [source.reads(rows, cols) for source in sources]
    with dividing(sources[-1]):
        straight = _apply(out, views, kernel, extra)
    if straight and out.plain is not None and all(v.memory is out.memory for v in views):
        site.plan = Plan(out, out.plain, views)


@contextmanager
def dividing(divisor: Tile, row: int = 0) -> Iterator[None]:
    """Name the tile and the address of a zero in `divisor`, whose rows count from `row`."""
    try:
        yield
    except DivisionError as error:
        element = error.place.element
        error.place = Place(divisor.name) if element is None else divisor.place(row + element[0], element[1])
        raise


def _apply(out: View, views: list[View], kernel: Kernel, extra: tuple[Array, ...]) -> bool:
    """Run the kernel; whether it wrote straight into memory and everything was initialised."""
    bad = spoiled(views)
    direct = out.plain is not None and isinstance(kernel, np.ufunc)
    if direct:
        kernel(*[v.get() for v in views], *extra, out=out.plain)
    else:
        out.put(kernel(*[v.get() for v in views], *extra))
    out.mark(bad)
    return direct and bad is None


def require_nonzero(divisor: Array) -> None:
    """DivisionError naming the first zero of an integer divisor."""
    if divisor.dtype.kind in "iu" and not divisor.all():
        where = tuple(int(i) for i in np.argwhere(divisor == 0)[0])
        element = (where[0], where[1]) if len(where) == 2 else None
        raise DivisionError("integer division by zero", Place(element=element))
