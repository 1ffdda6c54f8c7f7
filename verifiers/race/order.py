"""The order of one core's pipes, as sets of accesses: which ones each pipe may still have to wait for.

A set of accesses is the bits of an integer. Ops are issued in program order. `pending[p]` holds what an op that pipe
`p` starts now can't rely on to be complete; a flag carries what its setter could not rely on. Joining two paths is the
union of both, so that whatever is not pending is complete on every path.
"""

from __future__ import annotations

from pypto_verified.targets.pipes import SCALAR

PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")
_INDEX = {p: i for i, p in enumerate(PIPES)}


class Order:
    """The state between two ops. `live`: accesses whose bytes have not been overwritten since."""

    __slots__ = ("flags", "live", "pending")

    def __init__(self, live: int = 0, pending: list[int] | None = None, flags: dict[object, int] | None = None) -> None:
        self.live = live
        self.pending = pending if pending is not None else [0] * len(PIPES)
        self.flags = flags if flags is not None else {}

    def copy(self) -> Order:
        return Order(self.live, self.pending.copy(), self.flags.copy())

    def join(self, other: Order) -> bool:
        """Add the other path's; whether that changed anything."""
        changed = other.live | self.live != self.live
        self.live |= other.live
        for i, bits in enumerate(other.pending):
            if bits | self.pending[i] != self.pending[i]:
                self.pending[i] |= bits
                changed = True
        for key, bits in other.flags.items():
            known = self.flags.get(key)
            if known is None or bits | known != known:
                self.flags[key] = bits if known is None else known | bits
                changed = True
        return changed

    def same(self, other: Order) -> bool:
        return self.live == other.live and self.pending == other.pending and self.flags == other.flags

    def waits_for(self, pipe: str) -> int:
        """What an op started on `pipe` now can't rely on."""
        return self.pending[_INDEX[pipe]]

    def issue(self, bits: int) -> None:
        """Accesses begin: nobody knows them complete."""
        self.live |= bits
        for i in range(len(PIPES)):
            self.pending[i] |= bits
        for key in self.flags:
            self.flags[key] |= bits

    def overwrite(self, bits: int) -> None:
        """The bytes of these accesses have been overwritten: whoever comes next is compared with the write."""
        left = ~bits
        self.live &= left
        for i in range(len(PIPES)):
            self.pending[i] &= left
        for key in self.flags:
            self.flags[key] &= left

    def set(self, key: object, pipe: str, on_pipe: int) -> None:
        """A flag is set once all of `on_pipe`, the accesses of its pipe, and what they waited for are complete."""
        self.flags[key] = self.pending[_INDEX[pipe]] & ~on_pipe

    def wait(self, key: object, pipe: str, scalar_issues: bool, keep: bool = False) -> bool:
        """`pipe` waits for a flag; whether anything set it. `keep`: it stays set."""
        carried = self.flags.get(key)
        if carried is None:
            return False
        if not keep:
            del self.flags[key]
        self._learn(pipe, carried, scalar_issues)
        return True

    def barrier(self, pipe: str, on_pipe: int, scalar_issues: bool) -> None:
        """All accesses of `pipe` so far are complete for those that follow on it."""
        self._learn(pipe, ~on_pipe, scalar_issues)

    def hand_over(self, source: str, destination: str, on_source: int, scalar_issues: bool) -> None:
        """A set and wait inside of an op: `destination` waits for all that `source` has begun."""
        self._learn(destination, self.pending[_INDEX[source]] & ~on_source, scalar_issues)

    def drain(self) -> None:
        """A barrier of all pipes."""
        self.pending = [0] * len(PIPES)

    def _learn(self, pipe: str, carried: int, scalar_issues: bool) -> None:
        if pipe == SCALAR and scalar_issues:
            self.pending = [bits & carried for bits in self.pending]
        else:
            self.pending[_INDEX[pipe]] &= carried
