"""Who lives where and when in the on-chip memories of a kernel, as plain data and as text.

Addresses and sizes count bytes; times count the kernel's steps (ops that touch tiles) in text order, from 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.records import dataclass

BAR = 32
"""Characters of a lifetime in the text form."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """One allocation. `address` None: placed by the assembler, or known at run time only, which `where` then says.
    `slots` of `bytes` bytes follow one another. It lives from step `first` to step `last`, both included; `first_line`
    and `last_line` are lines of the `.pto` text; a buffer that nothing touches has `last` < `first`."""

    name: str
    type: str
    where: str
    address: int | None
    bytes: int
    slots: int
    first: int
    last: int
    first_line: int
    last_line: int

    @property
    def size(self) -> int:
        return self.bytes * self.slots

    @property
    def unused(self) -> bool:
        return self.last < self.first


@dataclass(frozen=True, slots=True)
class SpaceMap:
    """One memory of a kernel: what may be used of it, and who does, by address and then by birth."""

    space: str
    usable: int
    buffers: tuple[Buffer, ...]

    @property
    def top(self) -> int:
        """The first byte behind all buffers whose address is known."""
        return max((b.address + b.size for b in self.buffers if b.address is not None), default=0)

    def peak(self) -> int:
        """The most bytes that are alive at one step, shared bytes counted once; without known addresses their sum."""
        placed = [b for b in self.buffers if b.address is not None and not b.unused]
        floating = [b for b in self.buffers if b.address is None and not b.unused]
        times = {b.first for b in self.buffers if not b.unused}
        return max((_covered(placed, t) + sum(b.size for b in floating if b.first <= t <= b.last) for t in times),
                   default=0)


@dataclass(frozen=True, slots=True)
class KernelMap:
    """The memories of one kernel; `steps` is the length of its time axis. `gaps`: what the map could not follow."""

    name: str
    target: str
    steps: int
    spaces: tuple[SpaceMap, ...]
    gaps: tuple[str, ...] = ()


def _covered(buffers: list[Buffer], time: int) -> int:
    """Bytes that are covered at `time`."""
    end = total = 0
    alive = [(b.address, b.address + b.size) for b in buffers if b.address is not None and b.first <= time <= b.last]
    for start, stop in sorted(alive):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def as_text(kernels: list[KernelMap]) -> str:
    """The maps of a file's kernels."""
    return "\n".join(line for kernel in kernels for line in _kernel(kernel))


def _kernel(kernel: KernelMap) -> Iterator[str]:
    yield f"{kernel.name} for {kernel.target}: {kernel.steps} steps"
    for gap in kernel.gaps:
        yield f"  not followed: {gap}"
    for space in kernel.spaces:
        share = 100 * space.top / space.usable if space.usable else 0.0
        yield ""
        yield (f"{space.space}: {space.top:,} of {space.usable:,} bytes addressed ({share:.1f} %), "
               f"at most {space.peak():,} alive at a time")
        rows = [_cells(b, kernel.steps) for b in space.buffers]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        for address, size, lines, bar, what in rows:
            yield f"  {address:<{widths[0]}}  {size:>{widths[1]}}  {lines:<{widths[2]}}  {bar}  {what}"
    yield ""


def _cells(buffer: Buffer, steps: int) -> tuple[str, str, str, str, str]:
    """Address, bytes, lines, lifetime, name and type."""
    address = buffer.where
    if buffer.address is not None:
        address = f"{buffer.address}..{buffer.address + buffer.size - 1}"
    size = f"{buffer.bytes:,}" if buffer.slots == 1 else f"{buffer.slots} x {buffer.bytes:,}"
    lines = "unused" if buffer.unused else f"{buffer.first_line}-{buffer.last_line}"
    return address, size, lines, bar(buffer, steps), f"%{buffer.name}  {buffer.type}"


def bar(buffer: Buffer, steps: int) -> str:
    """The lifetime as `BAR` characters: `#` where the buffer lives. A life is at least one character long."""
    if buffer.unused or not steps:
        return "." * BAR
    begin = buffer.first * BAR // steps
    end = max(begin + 1, -(-(buffer.last + 1) * BAR // steps))
    return "." * begin + "#" * (end - begin) + "." * (BAR - end)
