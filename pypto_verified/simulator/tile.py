"""Run-time operands: tiles, slots, tensors and pointers."""

from __future__ import annotations

from dataclasses import field
from operator import add, le, mul
from typing import Any

import numpy as np

from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space, TensorLayout
from pypto_verified.pto.types import TileBufType
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import ConflictError, GlobalBoundsError, InvalidReadError, Place, ShapeError
from pypto_verified.simulator.layout import Layout, layout_of
from pypto_verified.simulator.memory import Access, LocalMemory, View
from pypto_verified.simulator.values import Array, storage


class Tile:
    """A tile handle: an address and a type in one space, with run-time valid extents (a mutable part of the handle).

    `bounds` are the bytes [low, high) of the allocation that the handle was cut from; the handle's own reach to `end`.
    `layout` is the physical one: a LEFT tile has the target's layout whatever its type says. `main` is the last window
    from (0, 0) at that layout.
    """

    __slots__ = ("addr", "bounds", "cols", "end", "kind", "layout", "main", "memory", "name", "rows", "type")

    def __init__(
        self, memory: LocalMemory, addr: int, type: TileBufType, layout: Layout, valid: tuple[int, int],
        bounds: tuple[int, int], name: str,
    ) -> None:
        self.memory = memory
        self.addr = addr
        self.type = type
        self.kind = storage(type.dtype)
        self.layout = layout
        self.rows, self.cols = valid
        self.bounds = bounds
        self.end = addr + (layout.offset(type.rows - 1, type.cols - 1) + 1) * self.kind.itemsize
        self.name = name
        self.main: View | None = None

    def copy(self) -> Tile:
        """Another handle on the same bytes, with valid extents of its own."""
        made = Tile.__new__(Tile)
        made.memory, made.addr, made.type, made.kind, made.layout = (
            self.memory, self.addr, self.type, self.kind, self.layout,
        )
        made.rows, made.cols, made.bounds, made.end, made.name = self.rows, self.cols, self.bounds, self.end, self.name
        made.main = self.main
        return made

    @property
    def space(self) -> Space:
        return self.type.loc

    @property
    def block(self) -> int:
        """Elements of one 32-byte block."""
        return 32 // self.kind.itemsize

    @property
    def pad(self) -> Pad:
        return self.type.pad

    @property
    def compact(self) -> bool:
        return self.type.compact is Compact.NORMAL

    def pitched(self, rows: int, cols: int) -> Layout:
        """This tile's layout with the pitch of `rows` x `cols` elements."""
        t = self.layout
        if (rows, cols) == (t.rows, t.cols):
            return t
        return layout_of(t.blayout, t.slayout, self.type.fractal, rows, cols, self.kind.itemsize)

    def reads(
        self, rows: int, cols: int, row: int = 0, col: int = 0, layout: Layout | None = None, within: bool = True
    ) -> View:
        """The source window of an op; `within` False lets it leave the allocation, as the hardware would."""
        suspicions = self.memory.bytes.suspicions
        if suspicions is not None and (row + rows > self.rows or col + cols > self.cols):
            message = f"reads {rows} x {cols} elements from ({row}, {col}); {self.rows} x {self.cols} are valid"
            suspicions.append(InvalidReadError(message, Place(self.name)))
        return self._window(rows, cols, row, col, layout, within, False)

    def writes(
        self, rows: int, cols: int, row: int = 0, col: int = 0, layout: Layout | None = None, within: bool = True
    ) -> View:
        """The destination window of an op."""
        return self._window(rows, cols, row, col, layout, within, True)

    def place(self, row: int, col: int) -> Place:
        """One of the tile's elements."""
        return Place(self.name, (row, col), self.addr + self.layout.offset(row, col) * self.kind.itemsize)

    def rebind(self, memory: LocalMemory, addr: int) -> None:
        """Name the bytes from `addr` of `memory` instead."""
        size = self.bounds[1] - self.bounds[0]
        self.end += addr - self.addr
        self.memory, self.addr, self.bounds, self.main = memory, addr, (addr, addr + size), None

    def valid_bytes(self) -> Array:
        """The address of each byte of the valid region, in no order."""
        rows, cols = np.arange(self.rows)[:, None], np.arange(self.cols)[None, :]
        starts = self.addr + self.layout.offset(rows, cols) * self.kind.itemsize
        return np.asarray(starts.reshape(-1, 1) + np.arange(self.kind.itemsize)).reshape(-1)

    def clobber(self) -> None:
        """The op uses the valid region as scratch: its bytes are unspecified afterwards."""
        self.writes(self.rows, self.cols).poison()

    def shares(self, other: Tile) -> bool:
        """Whether the byte ranges of both handles meet."""
        return self.addr < other.end and other.addr < self.end and self.memory is other.memory

    def overlaps(self, other: Tile) -> bool:
        """Whether both handles share bytes without being the same window."""
        if self.addr == other.addr and self.layout is other.layout and self.kind == other.kind:
            return False
        return self.shares(other)

    def window(
        self, kind: np.dtype[Any], rows: int, cols: int, row: int, col: int, layout: Layout, writes: bool,
        within: bool = True,
    ) -> View:
        """A window of elements of `kind` at this tile's address."""
        memory = self.memory
        bounds = self.bounds if within else (0, memory.size)
        view = memory.view(kind, self.addr, layout, (row, col, rows, cols), bounds, self.name)
        log = memory.bytes.log
        if log is not None:
            log.extend(view.accesses(self.name, writes))
        return view

    def _window(
        self, rows: int, cols: int, row: int, col: int, layout: Layout | None, within: bool, writes: bool
    ) -> View:
        if row or col or layout is not None:
            return self.window(self.kind, rows, cols, row, col, layout or self.layout, writes, within)
        view = self.main
        if view is None or view.shape != (rows, cols):
            view = self.main = self.memory.view(
                self.kind, self.addr, self.layout, (0, 0, rows, cols), self.bounds, self.name
            )
        log = self.memory.bytes.log
        if log is not None:
            log.extend(view.accesses(self.name, writes))
        return view


@dataclass(frozen=True, slots=True)
class Slots:
    """`alloc_multi_tile`: slot tiles, one behind the other."""

    tiles: tuple[Tile, ...]


class Buffer:
    """The memory behind a pointer argument. `owner`, kept for grids only, names the block that wrote each byte."""

    __slots__ = ("data", "log", "name", "owner", "written")

    def __init__(self, name: str, data: Array) -> None:
        self.name = name
        self.data = data
        self.owner: Array | None = None
        self.log: list[Access] | None = None
        self.written = False


@dataclass(frozen=True, slots=True)
class Pointer:
    """`buffer` at byte `offset`, in elements of `kind`."""

    buffer: Buffer
    offset: int
    kind: np.dtype[Any]


_ROW_AXES = {TensorLayout.ND: ((0, 1, 2, 3), (4,)), TensorLayout.DN: ((3,), (0, 1, 2, 4)),
             TensorLayout.NZ: ((2, 3), (0, 1, 4)), TensorLayout.MX_A_ZZ: ((1, 3), (0, 2, 4)),
             TensorLayout.MX_B_NN: ((2, 4), (0, 1, 3))}


@dataclass(frozen=True, slots=True)
class Tensor:
    """A window of a global tensor. Extents and strides count elements and are padded to five on the left.

    `dims` are the extents of the whole tensor view, `origin` + `sizes` the window in it.
    """

    pointer: Pointer
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    origin: tuple[int, ...]
    sizes: tuple[int, ...]
    layout: TensorLayout
    name: str
    _windows: dict[tuple[int, int], Array] = field(default_factory=dict, compare=False, repr=False)

    def extents(self) -> tuple[int, int]:
        """(rows, columns) of the window as a tile sees it (PTO-ISA GlobalTensor)."""
        row_axes, col_axes = self._axes()
        return _product(self.sizes, row_axes), _product(self.sizes, col_axes)

    def window(self, rows: int, cols: int, writes: bool, block: int = 0, shared: bool = False) -> Array:
        """The `rows` x `cols` elements from the window's origin as an array of the layout's (row..., column...) axes.

        GlobalBoundsError when an element lies outside the tensor or its buffer, or the window does although its last
        elements do not move (the library requires equal extents but checks them in debug builds only). ConflictError
        when another block of the launch wrote one of the bytes (`shared`: atomic, so that it may).
        """
        found = self._windows.get((rows, cols))
        if found is None:
            found = self._windows[rows, cols] = self._strided(rows, cols)
        buffer = self.pointer.buffer
        if buffer.log is not None:
            place = (buffer.name, self._start(), found.shape, found.strides, found.itemsize)
            buffer.log.append(Access(Space.GM, *place, writes))
        if writes:
            buffer.written = True
            if buffer.owner is not None:
                self._claim(buffer.owner, found, block, shared)
        return found

    def _strided(self, rows: int, cols: int) -> Array:
        row_axes, col_axes = self._axes()
        sizes = list(self.sizes)
        _fit(sizes, row_axes, rows)
        _fit(sizes, col_axes, cols)
        start, pointer = self._check(sizes), self.pointer
        steps = tuple([s * pointer.kind.itemsize for s in self.strides])
        flat = np.ndarray(tuple(sizes), pointer.kind, pointer.buffer.data, start, steps)
        return flat.transpose(*row_axes, *col_axes)

    def _axes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return _ROW_AXES[self.layout]

    def _start(self) -> int:
        element: int = sum(map(mul, self.origin, self.strides))
        return self.pointer.offset + element * self.pointer.kind.itemsize

    def _check(self, sizes: list[int]) -> int:
        start, item = self._start(), self.pointer.kind.itemsize
        ends = map(add, self.origin, map(max, sizes, self.sizes))
        if min(self.origin) < 0 or not all(map(le, ends, self.dims)):
            self._check_axes(sizes)
        last = start + (sum(map(mul, sizes, self.strides)) - sum(self.strides)) * item
        size = self.pointer.buffer.data.size
        if min(sizes) > 0 and (min(start, last) < 0 or max(start, last) + item > size):
            raise GlobalBoundsError(
                f"bytes {min(start, last)}..{max(start, last) + item - 1} of a buffer of {size} bytes",
                Place(self.name, address=start), "the view's shape and strides describe more than the argument holds",
            )
        return start

    def _check_axes(self, sizes: list[int]) -> None:
        """Name the first axis along which a window with elements leaves the tensor."""
        for axis, (first, moved, declared, dim) in enumerate(
            zip(self.origin, sizes, self.sizes, self.dims, strict=True)
        ):
            size = max(moved, declared)
            if size > 0 and (first < 0 or first + size > dim):
                index = first if first < 0 else max(first, dim)
                word = {3: "row", 4: "column"}.get(axis, f"index {axis}")
                raise GlobalBoundsError(
                    f"{word} {index} of {dim}: the window covers {first}..{first + size - 1}",
                    self._place(axis, index), "narrow the last window to what the tensor still holds",
                )

    def _place(self, axis: int, index: int) -> Place:
        """Element `index` of `axis` of the tensor, at the window's origin in the other axes."""
        return self._at(tuple(index if i == axis else first for i, first in enumerate(self.origin)))

    def _at(self, at: tuple[int, ...]) -> Place:
        element = sum(i * step for i, step in zip(at, self.strides, strict=True))
        return Place(self.name, (at[3], at[4]), self.pointer.offset + element * self.pointer.kind.itemsize)

    def _claim(self, owner: Array, found: Array, block: int, shared: bool) -> None:
        """The bytes of `found` now belong to the block: its number b, or -b - 2 if it wrote them with atomics only."""
        marks = np.ndarray((*found.shape, found.itemsize), owner.dtype, owner, self._start() * owner.itemsize,
                           tuple(s * owner.itemsize for s in (*found.strides, 1)))
        plain, atomic = marks == block, -block - 2
        other = (marks != -1) & (marks != atomic) & ~plain & ~((marks < -1) & shared)
        before = marks[other]
        marks[...] = np.where(plain, block, atomic if shared else block)
        if before.size:
            where = np.argwhere(other)[0]
            moved = dict(zip((*self._axes()[0], *self._axes()[1]), where, strict=False))
            raise ConflictError(
                f"blocks {max(int(before[0]), -int(before[0]) - 2)} and {block} write the same element",
                self._at(tuple(first + int(moved[i]) for i, first in enumerate(self.origin))),
                "give each block its own window, or store with an atomic",
            )


def padded(values: tuple[int, ...], fill: int) -> tuple[int, ...]:
    """Five extents: missing leading ones are `fill`."""
    if len(values) > 5:
        raise ShapeError(f"a tensor view of rank {len(values)}")
    return (fill,) * (5 - len(values)) + values


def _product(sizes: tuple[int, ...], axes: tuple[int, ...]) -> int:
    total = 1
    for axis in axes:
        total *= sizes[axis]
    return total


def _fit(sizes: list[int], axes: tuple[int, ...], count: int) -> None:
    """Make the innermost of `axes` so long that they hold `count` lines."""
    outer = _product(tuple(sizes), axes[:-1])
    if outer and count % outer:
        raise ShapeError(f"{count} lines are not a multiple of the tensor's outer extents ({outer})")
    sizes[axes[-1]] = count // outer if outer else 0


def device_layout(type: TileBufType, left: tuple[BLayout, SLayout], itemsize: int) -> Layout:
    """The physical layout of a tile type; `left` is the target's for L0A: a LEFT tile has that order of boxes, whatever
    its type says."""
    blayout = left[0] if type.loc is Space.LEFT else type.blayout
    return layout_of(blayout, type.slayout, type.fractal, type.rows, type.cols, itemsize)


