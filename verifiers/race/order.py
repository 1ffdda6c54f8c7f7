"""The order of one core's pipes, as sets of accesses: which ones each pipe may still have to wait for.

A set of accesses is the bits of an integer. Ops are issued in program order. `pending[p]` holds what an op that pipe
`p` starts now can't rely on to be complete; a flag carries what its setter could not rely on. Joining two paths is the
union of both, so that whatever is not pending is complete on every path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pypto_verified.targets.pipes import SCALAR

PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")
_INDEX = {p: i for i, p in enumerate(PIPES)}
_FENCED = ("MTE2", "MTE3", "FIX", SCALAR)


class Order:
    """The state between two ops. `live`: accesses whose bytes have not been overwritten since; `unfenced`, `uncleaned`:
    writes to global memory that no fence, and that no cleaning of the data cache, has followed; `flags`: also buffer
    ids, by their number. Nobody gets past a wait for a flag that was not set, as EVENT-WAIT shows, but everybody past
    one for a buffer that was not released: what that tells is nothing at all."""

    __slots__ = ("flags", "live", "pending", "uncleaned", "unfenced")

    def __init__(
        self, live: int = 0, pending: list[int] | None = None, flags: dict[object, int] | None = None,
        unfenced: int = 0, uncleaned: int = 0,
    ) -> None:
        self.live = live
        self.pending = pending if pending is not None else [0] * len(PIPES)
        self.flags = flags if flags is not None else {}
        self.unfenced = unfenced
        self.uncleaned = uncleaned

    def copy(self) -> Order:
        return Order(self.live, self.pending.copy(), self.flags.copy(), self.unfenced, self.uncleaned)

    def mapped(self, move: Callable[[int], int]) -> Order:
        """The state with every set of accesses replaced."""
        flags = {key: move(bits) for key, bits in self.flags.items()}
        return Order(
            move(self.live), [move(bits) for bits in self.pending], flags, move(self.unfenced), move(self.uncleaned))

    def join(self, other: Order) -> bool:
        """Add the other path's; whether that changed anything."""
        before = (self.live, self.unfenced, self.uncleaned)
        self.live |= other.live
        self.unfenced |= other.unfenced
        self.uncleaned |= other.uncleaned
        changed = before != (self.live, self.unfenced, self.uncleaned)
        for i, bits in enumerate(other.pending):
            if bits | self.pending[i] != self.pending[i]:
                self.pending[i] |= bits
                changed = True
        for key, bits in other.flags.items():
            known = self.flags.get(key, before[0] if isinstance(key, int) else 0)
            if key not in self.flags or bits | known != known:
                self.flags[key] = known | bits
                changed = True
        for key, known in self.flags.items():
            if isinstance(key, int) and key not in other.flags and other.live | known != known:
                self.flags[key] = known | other.live
                changed = True
        return changed

    def same(self, other: Order) -> bool:
        return (self.live, self.pending, self.flags, self.unfenced, self.uncleaned) == (
            other.live, other.pending, other.flags, other.unfenced, other.uncleaned)

    def waits_for(self, pipe: str) -> int:
        """What an op started on `pipe` now can't rely on."""
        return self.pending[_INDEX[pipe]]

    def issue(self, bits: int, stores: int) -> None:
        """Accesses begin: nobody knows them complete. `stores`: those that write global memory."""
        self.live |= bits
        self.unfenced |= stores
        self.uncleaned |= stores
        for i in range(len(PIPES)):
            self.pending[i] |= bits
        for key in self.flags:
            self.flags[key] |= bits

    def overwrite(self, bits: int) -> None:
        """The bytes of these accesses have been overwritten: whoever comes next is compared with the write."""
        left = ~bits
        self.live &= left
        self.unfenced &= left
        self.uncleaned &= left
        for i in range(len(PIPES)):
            self.pending[i] &= left
        for key in self.flags:
            self.flags[key] &= left

    def set(self, key: object, pipe: str, on_pipe: int) -> None:
        """A flag is set once all of `on_pipe`, the accesses of its pipe, and what they waited for are complete."""
        self.flags[key] = self.pending[_INDEX[pipe]] & ~on_pipe

    def release(self, key: object, pipe: str, on_pipe: int) -> None:
        """As a flag that is set, beside what other pipes have set it for: who waits for it waits for all of them."""
        self.flags[key] = self.flags.get(key, -1) & self.pending[_INDEX[pipe]] & ~on_pipe

    def wait(self, key: object, pipe: str, scalar_issues: bool, keep: bool = False) -> bool:
        """`pipe` waits for a flag; whether anything set it. `keep`: it stays set."""
        carried = self.flags.get(key)
        if carried is None:
            return False
        if not keep:
            del self.flags[key]
        self._learn(pipe, carried, scalar_issues)
        return True

    def barrier(self, pipe: str, on_pipe: int) -> None:
        """All accesses of `pipe` so far are complete for those that follow on it. One of the scalar pipe holds nothing
        else back: it is no wait for another pipe."""
        self._learn(pipe, ~on_pipe, False)

    def hand_over(self, source: str, destination: str, on_source: int, scalar_issues: bool) -> None:
        """A set and wait inside of an op: `destination` waits for all that `source` has begun."""
        self._learn(destination, self.pending[_INDEX[source]] & ~on_source, scalar_issues)

    def drain(self) -> None:
        """A barrier of all pipes."""
        self.pending = [0] * len(PIPES)

    def gather(self, own: int) -> None:
        """A barrier of all pipes of a core of several, whose accesses are `own`: what one pipe has heard of the others
        is known to all pipes then, since its wait is over."""
        known = ~own
        for bits in self.pending:
            known &= bits
        self._learn(SCALAR, known, True)

    def fence(self, on_pipe: Mapping[str, int]) -> None:
        """A fence runs on the scalar pipe and waits for it and for the pipes that move to and from global memory: for
        their accesses, and for what these pipes have waited for. It makes what they wrote visible."""
        left = -1
        for pipe in _FENCED:
            left &= self.pending[_INDEX[pipe]] & ~on_pipe[pipe]
            self.unfenced &= ~on_pipe[pipe]
        self.pending = [bits & left for bits in self.pending]

    def clean(self, on_scalar: int) -> None:
        """The data cache is written back and forgotten: the scalar unit's own stores are visible to others, and what
        it knows to be complete is visible to it."""
        self.uncleaned &= self.pending[_INDEX[SCALAR]] & ~on_scalar

    def learn(self, pipe: str, carried: int) -> None:
        """`pipe` comes to know all but `carried` complete; the scalar pipe, all pipes."""
        self._learn(pipe, carried, True)

    def _learn(self, pipe: str, carried: int, scalar_issues: bool) -> None:
        if pipe == SCALAR and scalar_issues:
            self.pending = [bits & carried for bits in self.pending]
        else:
            self.pending[_INDEX[pipe]] &= carried
