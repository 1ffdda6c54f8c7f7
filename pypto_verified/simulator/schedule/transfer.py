"""How a tile crosses from one core to another: through a slot in global memory, or from core to core on the chip.

On a2a3 a push is a store into the slot and a pop a load from it, at the pitch of the split. On a5 the cube's fixpipe
writes the vector cores' UB, a vector core writes L1, and a pop only names the slot. Source: PTO-ISA npu/a2a3 TPush.hpp,
TPop.hpp, npu/a5 TPush.hpp.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pypto_verified.index import IntLike
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space, TensorLayout
from pypto_verified.pto.module import Op
from pypto_verified.simulator.errors import Place, UnmodelledError
from pypto_verified.simulator.fixpipe import convert_out, read_layout
from pypto_verified.simulator.meanings import MEANINGS
from pypto_verified.simulator.registry import Site
from pypto_verified.simulator.tile import Pointer, Tensor, Tile, device_layout
from pypto_verified.simulator.values import Array, is_float
from pypto_verified.targets.split import Split, Window, lane_extents

if TYPE_CHECKING:
    from pypto_verified.simulator.schedule.core import Core


def _number(value: IntLike) -> int:
    assert isinstance(value, int)
    return value


def slot_window(slot: Pointer, tile: Tile, window: Window) -> Tensor:
    """A tile's rows and columns in a slot of global memory."""
    pitch, item = _number(window.pitch), tile.kind.itemsize
    extents = (1, 1, 1, tile.rows, tile.cols)
    place = Pointer(slot.buffer, slot.offset + _number(window.offset) * item, tile.kind)
    return Tensor(place, extents, (0, 0, 0, pitch, 1), (0,) * 5, extents, TensorLayout.ND, slot.buffer.name)


def store(site: Site, tile: Tile, slot: Pointer, window: Window, unset: Array) -> None:
    """A push on a2a3. `unset` marks the bytes of the ring that hold no defined value."""
    layout = read_layout(site, tile, Space.GM) if tile.space is Space.ACC else None
    view = tile.reads(tile.rows, tile.cols, layout=layout)
    values = convert_out(site, view.get(), tile.kind, None, None, tile.name) if layout is not None else view.get()
    target = slot_window(slot, tile, window)
    bytes_ = target.window(tile.rows, tile.cols, True)
    bytes_[...] = values.reshape(bytes_.shape)
    bad = view.bad()
    _shadow(target, tile, unset)[...] = False if bad is None else bad


def load(site: Site, tile: Tile, slot: Pointer, window: Window, unset: Array) -> None:
    """A pop on a2a3."""
    source = slot_window(slot, tile, window)
    plain = Site(Op(site.op.name, loc=site.op.loc, line=site.op.line), site.target, site.machine)
    MEANINGS["pto.tload"].handler(plain, tile, source)
    bad = _shadow(source, tile, unset)
    if bad.any():
        tile.writes(tile.rows, tile.cols).mark(bad.copy())


def _shadow(tensor: Tensor, tile: Tile, unset: Array) -> Array:
    """The marks of a window of a ring, one an element."""
    item = tile.kind.itemsize
    strides = (tensor.strides[3] * item, item)
    return np.ndarray((tile.rows, tile.cols), unset.dtype, unset, tensor.pointer.offset, strides)


def to_lane(site: Site, tile: Tile, receiver: Core, lane: int, addr: int, split: Split, name: str) -> None:
    """The accumulator's part of a lane into that core's UB, row-major: a5's fixpipe."""
    if split.odd:
        raise UnmodelledError(f"split code {split.code} on the chip, where it moves nothing", Place(tile.name))
    rows, cols = (_number(e) for e in lane_extents(split, tile.rows, tile.cols, lane))
    whole = (tile.type.rows, tile.type.cols)
    high, wide = (_number(e) for e in lane_extents(split, *whole, lane))
    at = (lane * rows if split.axis == 0 else 0, lane * cols if split.axis == 1 else 0)
    view = tile.reads(rows, cols, *at, layout=read_layout(site, tile, Space.VEC))
    type_ = replace(
        tile.type, loc=Space.VEC, rows=high, cols=wide, blayout=BLayout.ROW, slayout=SLayout.NONE, fractal=512,
        pad=Pad.NULL, compact=Compact.NULL,
    )
    layout = device_layout(type_, site.target.left_layout, tile.kind.itemsize)
    bounds = (addr, addr + type_.bytes)
    out = Tile(receiver.machine.memories[Space.VEC], addr, type_, layout, (rows, cols), bounds, name).writes(rows, cols)
    out.put(convert_out(site, view.get(), tile.kind, None, None, tile.name))
    out.mark(view.bad())


def to_cube(site: Site, tile: Tile, receiver: Core, lane: int, addr: int, split: Split, name: str) -> None:
    """A vector core's part of a tile in L1, in boxes of 16 rows."""
    if split.odd:
        raise UnmodelledError(f"split code {split.code} on the chip, where it moves nothing", Place(tile.name))
    if (tile.type.blayout, tile.type.slayout) != (BLayout.COL, SLayout.ROW):
        raise UnmodelledError(f"a push of a {tile.type.blayout.value} tile without boxes to L1", Place(tile.name))
    twice = [2 if split.axis == axis else 1 for axis in (0, 1)]
    rows, cols = tile.rows, tile.cols
    type_ = replace(tile.type, loc=Space.MAT, rows=tile.type.rows * twice[0], cols=tile.type.cols * twice[1])
    layout = device_layout(type_, site.target.left_layout, tile.kind.itemsize)
    at = (lane * rows if split.axis == 0 else 0, lane * cols if split.axis == 1 else 0)
    view = tile.reads(rows, cols)
    valid = (rows * twice[0], cols * twice[1])
    bounds = (addr, addr + type_.bytes)
    out = Tile(receiver.machine.memories[Space.MAT], addr, type_, layout, valid, bounds, name).writes(rows, cols, *at)
    out.put(view.get())
    out.mark(view.bad())


def arbitrary(site: Site, tile: Tile) -> None:
    """What a partner that is not there would send: the same numbers in every run."""
    out = tile.writes(tile.rows, tile.cols)
    random, shape = site.machine.random, (tile.rows, tile.cols)
    numbers = random.standard_normal(shape) if is_float(tile.kind) else random.integers(0, 8, shape)
    out.put(np.asarray(numbers).astype(tile.kind))
    out.mark()
