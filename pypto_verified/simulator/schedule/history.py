"""Who touched which bytes last, and whether an op that touches them now is ordered after.

Bytes are regions: a start and a pattern of intervals, met again and again in a loop. Each region knows the regions that
share bytes with it, so an access is checked against a few stamps, whatever its size.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

import numpy as np

from pypto_verified.records import dataclass
from pypto_verified.simulator.memory import Access
from pypto_verified.simulator.schedule.clocks import Clock
from pypto_verified.simulator.schedule.queue import Item
from pypto_verified.simulator.values import Array

Extent: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], int]
"""Shape, byte strides, element size."""


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Disjoint intervals of bytes in order, from the access's start."""

    starts: Array
    ends: Array

    @property
    def high(self) -> int:
        return int(self.ends[-1])


def pattern_of(extent: Extent) -> Pattern:
    """The bytes of a strided window."""
    shape, strides, width = extent
    outer: list[tuple[int, int]] = []
    for count, stride in sorted(((n, s) for n, s in zip(shape, strides, strict=True) if n > 1), key=lambda a: a[1]):
        if stride == width and not outer:
            width *= count
        else:
            outer.append((count, stride))
    offsets = np.zeros(1, np.int64)
    for count, stride in outer:
        offsets = (offsets[:, None] + np.arange(count, dtype=np.int64)[None, :] * stride).reshape(-1)
    offsets = np.unique(offsets)
    breaks = np.flatnonzero(offsets[1:] > offsets[:-1] + width) + 1
    starts = offsets[np.concatenate(([0], breaks))]
    ends = offsets[np.concatenate((breaks - 1, [len(offsets) - 1]))] + width
    return Pattern(starts, ends)


@dataclass(frozen=True, slots=True)
class Stamp:
    """An access: by op `count` of the pipe `thread` (an index of clocks)."""

    thread: int
    count: int
    item: Item
    atomic: bool


@dataclass(slots=True, eq=False)
class Region:
    """Bytes that were touched as one. `near`: regions that share bytes with it, itself first; `readers`: the last read
    of each pipe and op since the last write; `covered`: the last write of each core that one of another core has come
    after."""

    start: int
    pattern: Pattern
    near: list[Region] = field(default_factory=list)
    writer: Stamp | None = None
    readers: dict[tuple[int, int], Stamp] = field(default_factory=dict)
    covered: dict[int, Stamp] = field(default_factory=dict)

    def shared(self, other: Region) -> tuple[int, int] | None:
        """The first bytes [low, high) that both have, if any."""
        a, b = (self, other) if len(self.pattern.starts) <= len(other.pattern.starts) else (other, self)
        shift = b.start - a.start
        at = np.searchsorted(a.pattern.ends, b.pattern.starts + shift, side="right")
        inside = at < len(a.pattern.starts)
        at = np.minimum(at, len(a.pattern.starts) - 1)
        hits = np.flatnonzero(inside & (a.pattern.starts[at] < b.pattern.ends + shift))
        if not len(hits):
            return None
        first, mine = int(hits[0]), int(at[hits[0]])
        low = max(int(a.pattern.starts[mine]), int(b.pattern.starts[first]) + shift)
        high = min(int(a.pattern.ends[mine]), int(b.pattern.ends[first]) + shift)
        return low + a.start, high + a.start


class MemoryHistory:
    """The regions of one memory: a space of a core, or a tensor."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], Region] = {}
        self._regions: list[Region] = []
        self._bounds: Array = np.zeros((2, 64), np.int64)

    def region(self, start: int, pattern: Pattern) -> Region:
        """The region of an access."""
        key = (start, id(pattern))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._add(Region(start, pattern))
        return found

    def _add(self, region: Region) -> Region:
        count = len(self._regions)
        if count == self._bounds.shape[1]:
            self._bounds = np.concatenate((self._bounds, np.zeros_like(self._bounds)), axis=1)
        low, high = region.start + int(region.pattern.starts[0]), region.start + region.pattern.high
        region.near.append(region)
        for at in np.flatnonzero((self._bounds[0, :count] < high) & (self._bounds[1, :count] > low)):
            other = self._regions[at]
            if region.shared(other) is not None:
                region.near.append(other)
                other.near.append(region)
        self._bounds[:, count] = low, high
        self._regions.append(region)
        return region


@dataclass(frozen=True, slots=True)
class Conflict:
    """An earlier access that an op is not ordered after. `low`, `high`: the first bytes [low, high) that both touch."""

    earlier: Stamp
    earlier_writes: bool
    writes: bool
    low: int
    high: int


class History:
    """All memories of a run, by (core, space) or tensor name."""

    def __init__(self) -> None:
        self._memories: dict[object, MemoryHistory] = {}
        self._patterns: dict[Extent, Pattern] = {}

    def region(self, memory: object, access: Access) -> Region | None:
        """The region that an access touches; None for an empty one."""
        if 0 in access.shape:
            return None
        extent = (access.shape, access.strides, access.itemsize)
        pattern = self._patterns.get(extent)
        if pattern is None:
            pattern = self._patterns[extent] = pattern_of(extent)
        found = self._memories.get(memory)
        if found is None:
            found = self._memories[memory] = MemoryHistory()
        return found.region(access.start, pattern)


def conflicts(region: Region, stamp: Stamp, writes: bool, known: Clock, waw_in_order: bool) -> list[Conflict]:
    """What `stamp`, which knows `known`, races with; `waw_in_order`: writes of its own pipe land in order."""
    found: list[Conflict] = []
    for near in region.near:
        last = near.writer
        if (
            last is not None and last.count > known[last.thread] and last.item is not stamp.item
            and not (last.atomic and stamp.atomic)
            and not (writes and waw_in_order and last.thread == stamp.thread)
        ):
            found.append(_conflict(region, near, last, True, writes))
        if writes:
            for reader in near.readers.values():
                if reader.count > known[reader.thread] and reader.item is not stamp.item:
                    found.append(_conflict(region, near, reader, False, True))
    return found


def _conflict(region: Region, near: Region, earlier: Stamp, earlier_writes: bool, writes: bool) -> Conflict:
    low, high = region.shared(near) or (region.start, region.start)
    return Conflict(earlier, earlier_writes, writes, low, high)


def record(region: Region, stamp: Stamp, writes: bool) -> None:
    """Remember the access. A write stands for the reads before it: what races with them races with it. A later read by
    another op does not: each of the two may be what a write has not waited for."""
    if writes:
        before, core = region.writer, stamp.item.core
        if before is not None and before.item.core is not core:
            region.covered[before.item.core.index] = before
        region.covered.pop(core.index, None)
        region.writer = stamp
        region.readers.clear()
    else:
        region.readers[stamp.thread, id(stamp.item.op)] = stamp
