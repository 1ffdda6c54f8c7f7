"""What a run under a schedule leaves."""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

import numpy as np

from pypto_verified.errors import Location
from pypto_verified.pto.module import Op
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import SimError
from pypto_verified.simulator.values import Array
from pypto_verified.targets.pipes import Hazard


@dataclass(frozen=True, slots=True)
class At:
    """An op as one core runs it on one pipe. `core`: 'cube', 'vector lane 1', with the block where there are
    several."""

    op: Op
    core: str
    pipe: str

    @property
    def line(self) -> int:
        """Line of the `.pto` text."""
        return self.op.line

    @property
    def location(self) -> Location:
        """The user's line."""
        return self.op.loc

    def __str__(self) -> str:
        where = f"{self.op.loc}: " if self.op.loc.file else ""
        line = f" (.pto line {self.op.line})" if self.op.line else ""
        return f"{where}{self.op.name}{line} on {self.pipe} of {self.core}"


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses to one byte that nothing orders: of one core in program order, of two cores as they ran. `memory` is
    a space of a core or a tensor, `low`, `high` the first bytes [low, high) that both touch."""

    hazard: Hazard
    first: At
    second: At
    memory: str
    low: int
    high: int

    def __str__(self) -> str:
        return (f"{self.hazard.value}: {self.second} is not ordered after {self.first}; "
                f"both touch {self.memory} bytes {self.low}..{self.high - 1}")


@dataclass(frozen=True, slots=True)
class Unseen:
    """A read of global memory that is ordered after the write, but nothing has made the write visible: one of `fences`
    is missing."""

    write: At
    read: At
    memory: str
    low: int
    high: int
    fences: tuple[str, ...]

    def __str__(self) -> str:
        return (f"{self.read} reads {self.memory} bytes {self.low}..{self.high - 1} that {self.write} wrote: ordered, "
                f"but a flag makes nothing visible; {' or '.join(self.fences)} has to stand between")


@dataclass(frozen=True, slots=True)
class Blocked:
    """A pipe that can't go on: at which op, for what, and what keeps that from coming."""

    at: At
    waits_for: str
    because: str

    def __str__(self) -> str:
        return f"{self.at} waits for {self.waits_for}: {self.because}"


@dataclass(frozen=True, slots=True)
class Deadlock:
    """No pipe of any core can go on, and not all are done."""

    blocked: tuple[Blocked, ...]

    def __str__(self) -> str:
        return "deadlock: " + "; ".join(str(b) for b in self.blocked)


@dataclass(frozen=True, slots=True)
class Ran:
    """One step of the trace."""

    at: At
    seq: int


@dataclass(slots=True)
class Outcome:
    """Each pointer argument's contents by name, and what went wrong.

    `errors`: faults of ops and misuse of flags and pipes, in the order they happened; `races`: unordered conflicts, one
    a pair of ops, whatever the schedule made of them; `also`: other conflicts of the same pairs; `unseen`: reads of
    global memory that no fence makes valid; `covered`: the same of a core's own writes that another core has written
    over before they are read; `trace`: what ran, in order, if it was asked for; `stopped`: a fault or the
    step limit ended the run; `written`: the arguments that the run has written to; `steps`: how many steps ran.

    Of an exhaustive search: `runs` that differ in the order of conflicting accesses, all of them unless `cut`; what any
    of them found; the outputs and the trace of the first one; `other`, one that ends in other outputs, if there is one.
    """

    outputs: dict[str, Array] = field(default_factory=dict)
    races: list[Race] = field(default_factory=list)
    also: list[Race] = field(default_factory=list)
    errors: list[SimError] = field(default_factory=list)
    deadlock: Deadlock | None = None
    unseen: list[Unseen] = field(default_factory=list)
    covered: list[Unseen] = field(default_factory=list)
    trace: list[Ran] = field(default_factory=list)
    stopped: bool = False
    written: frozenset[str] = frozenset()
    steps: int = 0
    runs: int = 1
    cut: bool = False
    other: Outcome | None = None

    @property
    def clean(self) -> bool:
        """Whether nothing at all was found."""
        return not (self.races or self.errors or self.deadlock or self.unseen)


class Differs(NamedTuple):
    """The first element of a tensor that two runs leave differently, counted in rows, and its two values."""

    argument: str
    element: int
    one: str
    other: str


def first_difference(one: Outcome, other: Outcome) -> Differs | None:
    """Where the outputs of two runs on the same inputs differ first; None where they agree bit for bit."""
    for name, left in one.outputs.items():
        right = other.outputs[name]
        differs = left.reshape(-1).view(np.uint8) != right.reshape(-1).view(np.uint8)
        if differs.any():
            at = int(np.argmax(differs)) // left.itemsize
            return Differs(name, at, str(left.reshape(-1)[at]), str(right.reshape(-1)[at]))
    return None
