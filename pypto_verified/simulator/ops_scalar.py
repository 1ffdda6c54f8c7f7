"""The scalar unit's access to memory: single elements of tiles, tensors and arrays of its own; generated tiles (ramps,
triangles)."""

from __future__ import annotations

import numpy as np

from pypto_verified.layouts import Space
from pypto_verified.pto.types import OpaqueType
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import (
    ConflictError,
    GlobalBoundsError,
    LocalBoundsError,
    Place,
    TrapError,
    UninitialisedError,
    UnmodelledError,
)
from pypto_verified.simulator.memory import Access
from pypto_verified.simulator.ops_memory import report_uninitialised
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Pointer, Tensor, Tile
from pypto_verified.simulator.values import Array, Scalar, is_float, scalar


def _cell(tile: Tile, offset: int) -> tuple[int, int]:
    """(row, column) of a flat element offset from the tile's address."""
    count = tile.type.rows * tile.type.cols
    if not 0 <= offset < count:
        raise LocalBoundsError(
            f"element {offset} of a tile of {count}",
            Place(tile.name, divmod(offset, tile.type.cols), tile.addr + offset * tile.kind.itemsize),
            "index within the tile",
        )
    return tile.layout.position(offset)


def _number(value: Array) -> Scalar:
    return float(value) if is_float(value.dtype) else int(value)


@op("tgetval", "src offset")
def tgetval(site: Site, src: Tile, offset: int) -> Scalar:
    """The element at a flat offset. An uninitialised one is reported: it steers the program."""
    view = src.reads(1, 1, *_cell(src, offset))
    report_uninitialised(site, view, src.name)
    return _number(view.get()[0, 0])


@op("tsetval", "dst offset val")
def tsetval(site: Site, dst: Tile, offset: int, value: Scalar) -> None:
    """Set the element at a flat offset."""
    out = dst.writes(1, 1, *_cell(dst, offset))
    out.put(scalar(value, dst.kind))
    out.mark()


def _element(ptr: Pointer, offset: int, writes: bool) -> Array:
    start, item = ptr.offset + offset * ptr.kind.itemsize, ptr.kind.itemsize
    buffer = ptr.buffer
    if not 0 <= start <= buffer.data.size - item:
        raise GlobalBoundsError(
            f"element {offset} of a buffer of {buffer.data.size // item}", Place(buffer.name, address=start),
            "index within the argument",
        )
    if buffer.log is not None:
        buffer.log.append(Access(Space.GM, buffer.name, start, (1,), (item,), item, writes))
    return np.ndarray((), ptr.kind, buffer.data, start)


@op("load_scalar", "ptr offset")
def load_scalar(site: Site, ptr: Pointer, offset: int) -> Scalar:
    """One element from global memory."""
    return _number(_element(ptr, offset, False))


@op("store_scalar", "ptr offset value")
def store_scalar(site: Site, ptr: Pointer, offset: int, value: Scalar) -> None:
    """One element to global memory."""
    cell = _element(ptr, offset, True)
    block, owner, start = site.machine.block[0], ptr.buffer.owner, ptr.offset + offset * ptr.kind.itemsize
    if owner is not None:
        marks = owner[start : start + ptr.kind.itemsize]
        others = [int(m) for m in marks if m not in (-1, block, -block - 2)]  # -b - 2: an atomic write of block b
        marks[...] = block
        if others:
            raise ConflictError(f"blocks {max(others[0], -others[0] - 2)} and {block} write the same element",
                                Place(ptr.buffer.name, address=start), "give each block elements of its own")
    cell[...] = scalar(value, ptr.kind)
    ptr.buffer.written = True


@dataclass(frozen=True, slots=True)
class LocalArray:
    """Numbers on the scalar unit's stack. `cells` holds those that were set, by index."""

    name: str
    shape: tuple[int, ...]
    cells: dict[tuple[int, ...], Scalar]

    def checked(self, indices: tuple[int, ...]) -> tuple[int, ...]:
        """`indices`; LocalBoundsError when they leave the array."""
        if len(indices) != len(self.shape) or not all(0 <= i < n for i, n in zip(indices, self.shape, strict=True)):
            raise LocalBoundsError(f"element {indices} of an array of {self.shape}", Place(self.name))
        return indices


@op("declare_local_array declare_eventid_array", "")
def declare_local_array(site: Site) -> LocalArray:
    """An array without contents, a new one each time that it is declared."""
    type_ = site.op.result.type
    extents = type_.params[0].split("x") if isinstance(type_, OpaqueType) and type_.params else []
    extents = extents[:-1] if site.op.name == "pto.declare_local_array" else extents  # without the element type
    if not extents or not all(n.isdecimal() for n in extents):
        raise UnmodelledError(f"{site.op.name} of {type_}")
    return LocalArray(site.op.result.name, tuple(int(n) for n in extents), {})


@op("eventid_array_get", "array index")
def eventid_array_get(site: Site, array: LocalArray, index: int) -> Scalar:
    """An event id that was set."""
    return local_array_get(site, array, (index,))


@op("eventid_array_set", "array index value")
def eventid_array_set(site: Site, array: LocalArray, index: int, value: int) -> None:
    """Set an event id."""
    local_array_set(site, array, (index,), value)


@op("local_array_get", "array indices*")
def local_array_get(site: Site, array: LocalArray, indices: tuple[int, ...]) -> Scalar:
    """An element that was set."""
    found = array.cells.get(array.checked(indices))
    if found is None:
        raise UninitialisedError(f"element {indices} of an array was never set", Place(array.name))
    return found


@op("local_array_set", "array indices* value")
def local_array_set(site: Site, array: LocalArray, indices: tuple[int, ...], value: Scalar) -> None:
    """Set an element."""
    array.cells[array.checked(indices)] = value


@op("print", "scalar")
def print_scalar(site: Site, value: Scalar) -> None:
    """Shown on the device's console; no memory changes."""


@op("tprint", "src tmp")
def tprint(site: Site, src: Tile | Tensor, tmp: Tile | Tensor | None) -> None:
    """Shown on the device's console, and so a result; the scratch is lost."""
    if isinstance(src, Tile):
        report_uninitialised(site, src.reads(src.rows, src.cols), src.name)
    if isinstance(tmp, Tile):
        tmp.clobber()


@op("trap", "")
def trap(site: Site) -> None:
    """The program stops itself."""
    raise TrapError("the program ends itself")


@op("tci", "dst start tmp")
def tci(site: Site, dst: Tile, start: Scalar, tmp: Tile | None) -> None:
    """start, start + 1, ... (or - 1) along one row."""
    if tmp is not None:
        tmp.clobber()
    if dst.rows > 1:
        raise UnmodelledError(f"a ramp over {dst.rows} rows", Place(dst.name))
    ramp = np.arange(dst.cols, dtype=np.int64)
    values = int(start) + (-ramp if site.op.attrs.get("descending") is True else ramp)
    out = dst.writes(dst.rows, dst.cols)
    out.put(values.astype(dst.kind))
    out.mark()


@op("ttri", "dst diagonal")
def ttri(site: Site, dst: Tile, diagonal: Scalar) -> None:
    """Ones on and below (`upperOrLower` 0), or on and above (1), the diagonal; zeros elsewhere."""
    rows, cols = np.arange(dst.rows)[:, None], np.arange(dst.cols)[None, :]
    upper = site.op.attrs.get("upperOrLower") == 1
    ones = cols >= rows + int(diagonal) if upper else cols <= rows + int(diagonal)
    out = dst.writes(dst.rows, dst.cols)
    out.put(ones.astype(dst.kind))
    out.mark()
