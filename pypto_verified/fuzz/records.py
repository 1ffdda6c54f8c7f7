"""What campaigns hand around: the plan, batches of examples, finds, counts, the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.oracles import Find
from pypto_verified.ir.walk import calls

_COMMON = frozenset({"tile.load", "tile.store", "tile.create"})


@dataclass(frozen=True, slots=True)
class Plan:
    """What a campaign does. `examples` None: as many as fit into `seconds`. `shard` (i, n): every n-th example from the
    i-th, i from 0. `deep_every`: of how many kernels one goes through all oracles, 0 for none. `fault`: a planted fault
    that is switched on."""

    seed: int = 0
    examples: int | None = None
    seconds: float | None = None
    shard: tuple[int, int] = (0, 1)
    batch: int = 25
    deep_every: int = 10
    fault: str = ""
    shrink: bool = True


@dataclass(frozen=True, slots=True)
class Batch:
    """Examples start .. start + count - 1 of the shard."""

    plan: Plan
    start: int
    count: int

    def examples(self) -> Iterator[int]:
        first, step = self.plan.shard
        return (first + step * i for i in range(self.start, self.start + self.count))


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


@dataclass(frozen=True, slots=True)
class Shrink:
    """A find to make smaller, with the planted fault that was on."""

    found: Found
    fault: str = ""


Job: TypeAlias = Batch | Shrink


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
