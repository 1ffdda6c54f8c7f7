"""The credits of a cross-core pipe: when its producer waits for a free slot, when its consumer gives some back.

`slots` is the pipe's slot count, a number; tile indices count from 0 at each end and may be index expressions. Credits
and data are counting flags. Source: PTO-ISA npu/a2a3 and npu/a5 TPush.hpp, class TPipe.
"""

from __future__ import annotations

from pypto_verified.index import Expr, IntLike, maximum
from pypto_verified.index.cond import CondLike
from pypto_verified.layouts import Space
from pypto_verified.records import dataclass


def period(slots: int) -> int:
    """Tiles that one credit stands for."""
    return slots if slots <= 2 else slots // 2


def waits(slots: int, tile: IntLike) -> CondLike:
    """Whether the producer takes a credit before it writes this tile."""
    due = tile % period(slots) == 0
    late = tile >= slots
    return due & late


def posts(slots: int, tile: IntLike) -> CondLike:
    """Whether the consumer posts a credit after it has read this tile."""
    return (tile + 1) % period(slots) == 0


def first_wait(slots: int) -> int:
    """The first tile that the producer waits for: the first multiple of the period from `slots` on."""
    return -(-slots // period(slots)) * period(slots)


def waited(slots: int, tiles: IntLike) -> Expr:
    """Credits taken before the first `tiles` tiles."""
    every = period(slots)
    return maximum((tiles + every - 1) // every - first_wait(slots) // every, 0)


def posted(slots: int, tiles: IntLike) -> IntLike:
    """Credits posted after the first `tiles` tiles."""
    return tiles // period(slots)


@dataclass(frozen=True, slots=True)
class Ledger:
    """A target's way to begin and end a pipe. `primed`: it posts one period of credits when it is made, although the
    producer does not wait for its first slots either, and takes as many at its end; else it takes what is left."""

    target: str
    primed: bool

    def initial(self, slots: int) -> int:
        """Credits posted when the pipe is made."""
        return period(slots) if self.primed else 0

    def credits(self, slots: int, written: IntLike, read: IntLike) -> Expr:
        """Credits in the flag when the producer may write the last of `written` tiles and the consumer has read `read`.
        Negative: the producer still waits."""
        return self.initial(slots) + posted(slots, read) - waited(slots, written)

    def drained(self, slots: int, tiles: IntLike) -> IntLike:
        """Credits taken when the pipe ends after `tiles` tiles."""
        every = period(slots)
        if self.primed:
            return every
        last_wait = (tiles - 1) // every * every
        return posted(slots, tiles) - maximum((last_wait - first_wait(slots)) // every + 1, 0)

    def outstanding(self, slots: int) -> int:
        """Most tiles that are written and not yet read: theorem FIFO-OVERRUN."""
        return first_wait(slots) + self.initial(slots) * period(slots)

    def safe(self, slots: int) -> bool:
        """Whether the producer never writes a slot that the consumer has not read: theorem FIFO-OVERRUN."""
        return self.outstanding(slots) <= slots


LEDGERS = {"a2a3": Ledger("a2a3", primed=False), "a5": Ledger("a5", primed=True)}

COPY_PIPE = "MTE2"
"""The pipe that copies a popped tile from its slot in global memory. Source: PTO-ISA npu/*/TPush.hpp, Consumer::pop."""

_RELEASES = {("a5", Space.VEC): "V", ("a5", Space.MAT): "MTE1"}


def release_pipe(target: str, space: Space) -> str:
    """The pipe on which a consumer gives an on-chip slot back: its free waits for that pipe's earlier ops and for no
    other's. '' where the pop has copied the slot already and a free does nothing. Source: PTO-ISA npu/a5 TFree.hpp."""
    return _RELEASES.get((target, space), "")


def ring_slots(slot_num: object, dir_mask: object) -> int:
    """Slots of a pipe's ring: what its text says, else the assembler's number."""
    if isinstance(slot_num, int) and slot_num > 0:
        return slot_num
    return slot_count(dir_mask if isinstance(dir_mask, int) else 0)


def local_slots(local_slot_num: object, slots: int) -> int:
    """Slots of the local buffer into which a pop of a2a3 copies: what the text says, else as many as the ring has
    (PTOAS PTOLowerFrontendPipeOpsPass; the default of 2 of PTO-ISA's TPipe is never taken)."""
    return local_slot_num if isinstance(local_slot_num, int) and local_slot_num > 0 else slots


def slot_count(dir_mask: int) -> int:
    """Slots of a pipe whose text gives no number: 4 if it goes both ways (direction mask 3), else 8 (PTOAS)."""
    return 4 if dir_mask == 3 else 8
