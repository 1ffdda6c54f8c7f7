"""What campaigns hand around: the plan, batches of examples, finds, counts, the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from typing import TypeAlias

from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.limit import SECONDS
from pypto_verified.fuzz.oracles import Find
from pypto_verified.ir.walk import calls
from pypto_verified.records import dataclass

_COMMON = frozenset({"tile.load", "tile.store", "tile.create"})


@dataclass(frozen=True, slots=True)
class Plan:
    """What a campaign does. `examples` None: as many as fit into `seconds`. `shard` (i, n): every n-th example from the
    i-th, i from 0. `deep_every`: of how many kernels one goes through all oracles, 0 for none. `fault`: a planted fault
    that is switched on. `timeout`: seconds of a processor that one kernel may take."""

    seed: int = 0
    examples: int | None = None
    seconds: float | None = None
    shard: tuple[int, int] = (0, 1)
    batch: int = 25
    deep_every: int = 10
    fault: str = ""
    shrink: bool = True
    timeout: float = SECONDS


@dataclass(frozen=True, slots=True)
class Batch:
    """Examples start .. start + count - 1 of the shard."""

    plan: Plan
    start: int
    count: int

    def examples(self) -> Iterator[int]:
        first, step = self.plan.shard
        return (first + step * i for i in range(self.start, self.start + self.count))


SLOW = "slow"
"""The oracle of kernels that take longer than the limit."""
DIED = "the worker died"
"""The cause of kernels that end the process which examines them."""


@dataclass(frozen=True, slots=True)
class Found:
    """One find, with the kernel and its name. `duplicates`: later finds of the same cause."""

    find: Find
    kernel: Kernel
    seed: int
    example: int
    statements: int
    shrunk: bool = False
    duplicates: int = 0

    @property
    def cause(self) -> str:
        """Equal for finds that are likely one fault: a wrong result is told by the ops that the smallest kernel has."""
        ops = ", ".join(sorted(ops_of(self.kernel))) if self.find.trial is not None else ""
        return f"{self.find.oracle}: {self.find.cause}" + (f" ({ops})" if ops else "")

    @property
    def hazardous(self) -> bool:
        """Whether the kernel holds or ends the process that works on it, so that nobody does but who is asked to."""
        return self.find.oracle == SLOW or self.find.cause == DIED


@dataclass(frozen=True, slots=True)
class Shrink:
    """A find to make smaller, with the planted fault that was on and what one candidate may take."""

    found: Found
    fault: str = ""
    timeout: float = SECONDS


@dataclass(frozen=True, slots=True)
class Remake:
    """A batch of one example whose examination ended its worker, long after its time or (not `late`) before: which
    kernel is it?"""

    batch: Batch
    late: bool


Job: TypeAlias = Batch | Shrink | Remake


@dataclass(slots=True)
class Stats:
    """Counts of a campaign. `left_out`: kernels that no verdict was given on, by reason; `features`: kernels that have
    each feature; `known`: explained finds; `busy`: seconds that workers spent."""

    kernels: int = 0
    agreed: int = 0
    bitwise: int = 0
    undefined: int = 0
    deep: int = 0
    busy: float = 0.0
    left_out: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)

    def add(self, other: Stats) -> None:
        for name in ("kernels", "agreed", "bitwise", "undefined", "deep", "busy"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.left_out.update(other.left_out)
        self.known.update(other.known)
        self.features.update(other.features)


@dataclass(slots=True)
class Result:
    """What a campaign gave. `seconds` on the clock."""

    plan: Plan
    stats: Stats = field(default_factory=Stats)
    found: dict[str, Found] = field(default_factory=dict)
    seconds: float = 0.0
    interrupted: bool = False


Outcome: TypeAlias = tuple[Stats, list[Found]]


def ops_of(kernel: Kernel) -> frozenset[str]:
    """The ops of a kernel but those that every kernel has."""
    return frozenset(c.op for c in calls(kernel.function.body)) - _COMMON
