"""Event ids taken in turn, and the loops that use them: which flag an iteration waits for and sets.

A flag holds 0 or 1: setting one that is set, or waiting for one that nobody sets, is an error. `step` counts
iterations from 0; all functions run on numbers and on index expressions alike. Source: PTO-ISA event.hpp (ids of an
Event go round), and the loops of its hand-written kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

from pypto_verified.index import IntLike
from pypto_verified.index.cond import CondLike


_PIPE_OF_KIND = {
    "TLOAD": "MTE2", "TSTORE_VEC": "MTE3", "TSTORE_ACC": "FIX", "TMOV_M2L": "MTE1", "TMOV_M2B": "MTE1",
    "TMOV_M2S": "FIX", "TMOV_M2V": "V", "TMOV_V2M": "FIX", "TMATMUL": "M", "TVEC": "V", "TVECWAIT_EVENT": "V",
}
"""Kinds of ops, as events are recorded and waited for by: the pipe of each. Source: PTOAS PTOSyncUtils.cpp."""


def pipe_of(name: str) -> str:
    """The pipe that a text names, as `PIPE_V` or by a kind of ops."""
    return _PIPE_OF_KIND.get(name, name.removeprefix("PIPE_"))


def cyclic_id(step: IntLike, ids: int) -> IntLike:
    """The id that iteration `step` uses of `ids` in turn."""
    return step % ids


@dataclass(frozen=True, slots=True)
class Ring:
    """A loop that holds up to `ids` flags at a time; each iteration waits for its own flag and sets it again.

    `primed`: all flags are set before the loop and taken after it. Else the first `ids` iterations do not wait, and
    after the loop only the flags of iterations that ran are taken.
    """

    ids: int
    primed: bool

    def set_before(self, flag: IntLike) -> CondLike:
        """Whether `flag` is set before the loop."""
        return self.primed

    def waits(self, step: IntLike) -> CondLike:
        """Whether iteration `step` waits for its flag before it sets it."""
        return True if self.primed else step >= self.ids

    def taken_after(self, flag: IntLike, trips: IntLike) -> CondLike:
        """Whether `flag` is waited for after a loop of `trips` iterations."""
        return True if self.primed else flag < trips

    def held(self, flag: IntLike, step: IntLike) -> CondLike:
        """Whether `flag` is set at the head of iteration `step`: the loop's invariant, theorem EVENT-RING."""
        return True if self.primed else flag < step
