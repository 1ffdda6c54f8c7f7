"""Pipes between the cube and the vector core, as one of the two sees them: a queue of tiles in, a queue of tiles out.

A run of one function has no partner: the caller supplies what arrives and looks at what left. Buffers and their
addresses mean nothing on logical tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from pypto_verified.dtypes import FP32, DType
from pypto_verified.errors import NotModelled
from pypto_verified.interpreter.meaning import Fault, Site, Value, meaning, require_within
from pypto_verified.interpreter.numbers import from_carrier, to_carrier
from pypto_verified.interpreter.values import undefined
from pypto_verified.records import dataclass


@dataclass(slots=True)
class Pipes:
    """`arrive(extents, dtype)` gives the elements of the next popped tile's valid region; `left` are the valid regions
    that were pushed, in order."""

    arrive: Callable[[tuple[int, ...], DType], NDArray[np.generic]]
    left: list[NDArray[np.generic]] = field(default_factory=list)


def _pipes(site: Site) -> Pipes:
    if not isinstance(site.pipes, Pipes):
        raise NotModelled(f"{site.call.op} in a run without the other core of the pipe")
    return site.pipes


@meaning("system.reserve_buffer", "system.import_peer_buffer")
def _address(site: Site) -> Value:
    return 0


@meaning(
    "system.aic_initialize_pipe", "system.aiv_initialize_pipe", "system.tfree_to_aic", "system.tfree_to_aiv",
)
def _bookkeeping(site: Site) -> Value:
    return None


@meaning("tile.tpush_to_aiv", "tile.tpush_to_aic")
def _push(site: Site) -> Value:
    tile = site.tile(0)
    poison = tile.poison[tile.window()]
    if poison.any():
        raise Fault("pushes an element that has no defined value", tuple(int(i) for i in np.argwhere(poison)[0]))
    _pipes(site).left.append(from_carrier(tile.data[tile.window()], tile.dtype))
    return None


@meaning("tile.tpop_from_aic", "tile.tpop_from_aiv")
def _pop(site: Site) -> Value:
    shape, dtype = site.attr("shape"), site.dtype_attr("dtype", FP32)
    if not isinstance(shape, tuple):
        raise Fault("the type of the popped tile is not known")
    extents = tuple(n for n in shape if isinstance(n, int))
    valid = site.ints(0) if site.has(0) else extents
    require_within(valid, extents)
    out = undefined(extents, dtype, valid)
    out.data[out.window()] = to_carrier(_pipes(site).arrive(out.valid, dtype), dtype)
    out.poison[out.window()] = False
    return out
