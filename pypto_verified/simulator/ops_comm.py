"""Transfers between the memories of several devices, and the signals that order them. Source: PTO-ISA comm headers.

A peer's memory is a window of an argument like any other: where it lies is the caller's business. What peers do is not
simulated. On a machine whose partners are absent they have always done their part; elsewhere a wait for a signal that
this program did not send is not modelled. Asynchronous transfers end at once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from pypto_verified.simulator.errors import Place, ShapeError, UnmodelledError
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Pointer, Tensor, Tile
from pypto_verified.simulator.values import Array, Scalar, scalar

_COMPARE: dict[str, Callable[[Scalar, Scalar], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "gt": operator.gt, "ge": operator.ge, "lt": operator.lt, "le": operator.le,
}


def _window(site: Site, tensor: Tensor, writes: bool, shared: bool = False) -> Array:
    rows, cols = tensor.extents()
    return tensor.window(rows, cols, writes, site.machine.block[0], shared)


def _copy(site: Site, dst: Tensor, src: Tensor, atomic: bool) -> None:
    source, target = _window(site, src, False), _window(site, dst, True, atomic)
    if src.sizes != dst.sizes or source.dtype != target.dtype:
        raise ShapeError(f"{source.dtype} {src.sizes} to {target.dtype} {dst.sizes}", Place(dst.name))
    values = source.copy()
    target[...] = target + values if atomic else values


@op("comm.tput", "dst src ping pong")
def tput(site: Site, dst: Tensor, src: Tensor, ping: Tile, pong: Tile | None) -> None:
    """dst = src, or dst += src (`atomicType`), in pieces that pass through the staging tiles."""
    atomic = site.enum("atomicType", "atomic_none")
    if atomic not in ("atomic_none", "atomic_add"):
        raise UnmodelledError(f"{site.op.name} with {atomic}", Place(dst.name))
    _copy(site, dst, src, atomic == "atomic_add")
    _use(ping, pong)


@op("comm.tget", "dst src ping pong")
def tget(site: Site, dst: Tensor, src: Tensor, ping: Tile, pong: Tile | None) -> None:
    """dst = src in pieces that pass through the staging tiles."""
    _copy(site, dst, src, False)
    _use(ping, pong)


def _use(ping: Tile, pong: Tile | None) -> None:
    for stage in (ping, pong):
        if stage is not None:
            stage.clobber()


@op("comm.tput_async comm.tget_async", "dst src session")
def transfer_async(site: Site, dst: Tensor, src: Tensor, session: object) -> str:
    """dst = src; the event that it has ended."""
    _copy(site, dst, src, False)
    return "event"


@op("comm.build_async_session", "scratch workspace")
def build_async_session(site: Site, scratch: Tile, workspace: Pointer) -> str:
    """A session for asynchronous transfers; the scratch tile belongs to it."""
    scratch.clobber()
    return "session"


@op("comm.wait_async_event comm.test_async_event", "event session")
def wait_async_event(site: Site, event: object, session: object) -> bool:
    """Whether the transfer has ended."""
    return True


@op("make_prefetch_async_context", "workspace")
def make_prefetch_async_context(site: Site, workspace: Pointer) -> str:
    """What prefetches and their session share."""
    return "context"


@op("get_prefetch_async_session", "ctx")
def get_prefetch_async_session(site: Site, context: object) -> str:
    """The session of a context."""
    return "session"


@op("tprefetch_async", "src ctx")
def tprefetch_async(site: Site, src: Tensor, context: object) -> str:
    """Brings a window into the cache, which no result shows; the window must be there."""
    _window(site, src, False)
    return "event"


def _signal(site: Site, signal: Tensor, writes: bool) -> Array:
    window = _window(site, signal, writes, True)
    if window.size != 1 or window.dtype != np.int32:
        raise ShapeError(f"a signal of {window.size} {window.dtype} elements", Place(signal.name))
    return window


@op("comm.tnotify", "signal value")
def tnotify(site: Site, signal: Tensor, value: Scalar) -> None:
    """Add to the signal, or set it."""
    window = _signal(site, signal, True)
    given = scalar(value, window.dtype)
    window[...] = given if site.enum("notifyOp") == "set" else window + given


def _holds(site: Site, signal: Tensor, bound: Scalar) -> bool:
    return _COMPARE[site.enum("cmp")](int(_signal(site, signal, False).reshape(-1)[0]), bound)


@op("comm.twait", "signal cmpValue")
def twait(site: Site, signal: Tensor, bound: Scalar) -> None:
    """Wait until the signal compares with `bound` as the op says."""
    if not _holds(site, signal, bound) and not site.machine.lone:
        raise UnmodelledError(f"{site.op.name} for a signal that another device sends", Place(signal.name))


@op("comm.ttest", "signal cmpValue")
def ttest(site: Site, signal: Tensor, bound: Scalar) -> bool:
    """Whether the signal compares with `bound` as the op says."""
    return _holds(site, signal, bound)
