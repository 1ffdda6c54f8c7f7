"""One memory space of a core as bytes, what of it is initialised, and strided windows on it.

A window (`View`) never copies more than its elements and never loops over them: a boxed window is a handful of strided
numpy arrays, one for each combination of partial and whole boxes. Windows are cached by the memory, so the steady state
of a loop builds nothing.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pypto_verified.layouts import Space
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import LocalBoundsError, Place, SimError, UninitialisedError
from pypto_verified.simulator.layout import Layout, segments
from pypto_verified.simulator.values import UNSIGNED, Array

_POISON = 0xFF
NOTED = 1000
"""Suspicions of a run that are kept."""
_CACHED = 1 << 16
_ONES: dict[int, Array] = {n: np.asarray(0x0101010101010101 & (256**n - 1), dtype=UNSIGNED[n]) for n in (1, 2, 4, 8)}


@dataclass(frozen=True, slots=True)
class Access:
    """One operand's bytes as the op touched them. `strides` count bytes, `start` is the address of element (0, 0)."""

    space: Space
    owner: str
    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    writes: bool


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a window that one 4-D array (box rows, rows in box, box columns, columns in box) addresses."""

    rows: slice
    cols: slice
    start: int
    data: Array
    init: Array


class View:
    """A `shape` window of elements.

    `plain` is the window as one 2-D array when the layout allows, else None; `known` the memory's epoch at which all of
    it was last seen initialised.
    """

    __slots__ = (
        "_accesses",
        "_ones",
        "_pieces",
        "base",
        "col",
        "high",
        "kind",
        "known",
        "layout",
        "low",
        "memory",
        "plain",
        "row",
        "shape",
    )

    def __init__(
        self, memory: Bytes, kind: np.dtype[Any], base: int, layout: Layout, window: tuple[int, int, int, int],
        extent: tuple[int, int],
    ) -> None:
        row, col, rows, cols = window
        self.memory = memory
        self.kind = kind
        self.shape = (rows, cols)
        self.row, self.col, self.base, self.layout = row, col, base, layout
        self.low, self.high = extent
        self._ones = _ONES[kind.itemsize]
        self.known = -1
        self._accesses: dict[tuple[str, bool], list[Access]] = {}
        (row_box, row_step, row_inner), (col_box, col_step, col_inner) = layout.axes()
        pieces: list[_Piece] = []
        for r in segments(row, rows, row_box):
            for c in segments(col, cols, col_box):
                shape = (r.count, r.inner, c.count, c.inner)
                steps = (row_step, row_inner or row_step, col_step, col_inner or col_step)
                start = base + layout.offset(r.start, c.start) * kind.itemsize
                strides = tuple(s * kind.itemsize for s in steps)
                pieces.append(
                    _Piece(
                        slice(r.start - row, r.stop - row), slice(c.start - col, c.stop - col), start,
                        np.ndarray(shape, kind, memory.reached, start, strides),
                        np.ndarray(shape, UNSIGNED[kind.itemsize], memory.init, start, strides),
                    )
                )
        self._pieces = tuple(pieces)
        one = len(pieces) == 1 and row_box == col_box == 1
        self.plain: Array | None = pieces[0].data[:, 0, :, 0] if one else None

    def get(self) -> Array:
        """The elements in logical order: a view of the memory when it is plain, else a copy."""
        return self.plain if self.plain is not None else self._gather(self.kind, False)

    def put(self, values: Array) -> None:
        """Store `values` (broadcast to the window)."""
        if self.plain is not None:
            self.plain[...] = values
            return
        full = values if values.shape == self.shape else np.broadcast_to(values, self.shape)
        for p in self._pieces:
            p.data[...] = full[p.rows, p.cols].reshape(p.data.shape)

    def bad(self) -> Array | None:
        """Which elements hold a byte that nothing has written; None when all are initialised."""
        if self.known == self.memory.epoch:
            return None
        found: Array = self._gather(UNSIGNED[self.kind.itemsize], True) != self._ones
        if found.any():
            self.memory.suspect(self, found)
            return found
        self.known = self.memory.epoch
        return None

    def mark(self, bad: Array | None = None) -> None:
        """Declare the window initialised, except the elements of `bad`."""
        if bad is None:
            if self.known != self.memory.epoch:
                for p in self._pieces:
                    p.init[...] = self._ones
                self.known = self.memory.epoch
            return
        marks = np.where(np.broadcast_to(bad, self.shape), 0, self._ones)
        for p in self._pieces:
            p.init[...] = marks[p.rows, p.cols].reshape(p.init.shape)
        self.memory.epoch += 1

    def poison(self) -> None:
        """Declare the window unspecified: the op clobbers it."""
        for p in self._pieces:
            p.data.view(UNSIGNED[self.kind.itemsize])[...] = 256**self.kind.itemsize - 1
            p.init[...] = 0
        self.memory.epoch += 1

    def address(self, row: int, col: int) -> int:
        """Byte address of the window's element (row, col)."""
        return self.base + self.layout.offset(self.row + row, self.col + col) * self.kind.itemsize

    def accesses(self, name: str, writes: bool) -> list[Access]:
        """The bytes of this window, one Access a piece."""
        known = self._accesses.get((name, writes))
        if known is None:
            known = self._accesses[name, writes] = [
                Access(self.memory.space, name, p.start, p.data.shape, p.data.strides, self.kind.itemsize, writes)
                for p in self._pieces
            ]
        return known

    def _gather(self, kind: np.dtype[Any], init: bool) -> Array:
        out = np.empty(self.shape, kind)
        for p in self._pieces:
            source = p.init if init else p.data
            out[p.rows, p.cols].reshape(source.shape)[...] = source
        return out


class Bytes:
    """The bytes of a space. `epoch` changes whenever initialised ones may have become uninitialised.

    Windows know these and not the memory that keeps the windows, so that nothing waits for a collection of cycles.
    """

    def __init__(self, space: Space, size: int) -> None:
        self.space = space
        self.size = size
        self.epoch = 0
        self.log: list[Access] | None = None
        self.suspicions: list[SimError] | None = None
        self._high = 0

    @cached_property
    def reached(self) -> Array:
        """The bytes, filled as far as windows reach: a program touches few of those of a space, and few spaces."""
        return np.empty(self.size, np.uint8)

    @cached_property
    def init(self) -> Array:
        """Which bytes are initialised, 1 or 0, as far as windows reach."""
        return np.empty(self.size, np.uint8)

    def suspect(self, view: View, bad: Array) -> None:
        """Note that an op reads the uninitialised elements `bad` of `view`."""
        if self.suspicions is not None and len(self.suspicions) < NOTED:
            row, col = (int(i) for i in np.argwhere(bad)[0])
            message = f"reads {int(bad.sum())} of {bad.size} elements that were never written"
            place = Place(element=(view.row + row, view.col + col), address=view.address(row, col))
            self.suspicions.append(UninitialisedError(message, place))

    def reset(self) -> None:
        """Back to the state before any op; windows stay usable."""
        if self._high:
            self.reached[: self._high] = _POISON
            self.init[: self._high] = 0
        self.epoch += 1

    def reach(self, high: int) -> None:
        """Fill the bytes below `high`."""
        if high > self._high:
            self.reached[self._high : high] = _POISON
            self.init[self._high : high] = 0
            self._high = high


class LocalMemory:
    """A space of `size` bytes and the windows that were made on it."""

    def __init__(self, space: Space, size: int) -> None:
        self.bytes = Bytes(space, size)
        self.size = size
        self._views: dict[tuple[int, int, int, int, int, int, int], View] = {}

    @property
    def data(self) -> Array:
        """The bytes."""
        self.bytes.reach(self.size)
        return self.bytes.reached

    def view(
        self, kind: np.dtype[Any], base: int, layout: Layout, window: tuple[int, int, int, int],
        bounds: tuple[int, int], name: str,
    ) -> View:
        """The window (row, col, rows, cols) of a tile at byte `base`.

        LocalBoundsError when it leaves `bounds`, the bytes [low, high) of the allocation it belongs to.
        """
        key = (base, id(layout), kind.num, *window)
        found = self._views.get(key)
        if found is None:
            found = self._build(kind, base, layout, window, name)
            if len(self._views) >= _CACHED:
                self._views.clear()
            self._views[key] = found
        if found.low < bounds[0] or found.high > bounds[1]:
            raise _outside(kind, base, layout, window, bounds, name)
        return found

    def _build(
        self, kind: np.dtype[Any], base: int, layout: Layout, window: tuple[int, int, int, int], name: str
    ) -> View:
        row, col, rows, cols = window
        if rows <= 0 or cols <= 0:
            return View(self.bytes, kind, base, layout, (row, col, max(rows, 0), max(cols, 0)), (self.size, 0))
        low = base + layout.offset(row, col) * kind.itemsize
        high = base + (layout.offset(row + rows - 1, col + cols - 1) + 1) * kind.itemsize
        if low < 0 or high > self.size:
            raise _outside(kind, base, layout, window, (0, self.size), name)
        self.bytes.reach(high)
        return View(self.bytes, kind, base, layout, window, (low, high))


def _outside(
    kind: np.dtype[Any], base: int, layout: Layout, window: tuple[int, int, int, int],
    bounds: tuple[int, int], name: str,
) -> LocalBoundsError:
    """Names the first element of the window that leaves `bounds`."""
    row, col, rows, cols = window

    def leaves(r: int, c: int) -> bool:
        start = base + layout.offset(r, c) * kind.itemsize
        return start < bounds[0] or start + kind.itemsize > bounds[1]

    r = next((r for r in range(row, row + rows) if leaves(r, col + cols - 1) or leaves(r, col)), row)
    c = next((c for c in range(col, col + cols) if leaves(r, c)), col)
    return LocalBoundsError(
        f"rows {row}..{row + rows - 1} x columns {col}..{col + cols - 1} leave the allocation of bytes "
        f"{bounds[0]}..{bounds[1] - 1}",
        Place(name, (r, c), base + layout.offset(r, c) * kind.itemsize),
        "make the window fit the tile, or allocate the rows and columns that the op touches",
    )
