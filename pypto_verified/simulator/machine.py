"""One core: its memory spaces and what a run shares with its ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pypto_verified.layouts import Space
from pypto_verified.pto.module import Op
from pypto_verified.simulator.errors import SimError
from pypto_verified.simulator.memory import Access, LocalMemory
from pypto_verified.targets import Target

Trace: TypeAlias = Callable[[Op, list[Access]], None]
"""Called after each op that touched memory, with the bytes it touched."""


class Machine:
    """The core that a program runs on, reused from run to run.

    `extra` are bytes behind each space's capacity, for allocations that have no planned address. `errors` collects
    faults that did not stop the run; `block` and `lane` are (index, count) of the launch. `declared`: an imaginary
    machine that addresses every operand as its type says and converts what it moves; a program that is right gives the
    same results on both.
    """

    def __init__(self, target: Target, extra: dict[Space, int], declared: bool = False) -> None:
        self.target = target
        self.declared = declared
        self.memories = {
            space: LocalMemory(space, target.capacity(space) + extra.get(space, 0))
            for space in (row.space for row in target.memories)
        }
        self.errors: list[SimError] = []
        self.block = (0, 1)
        self.lane = (0, 1)
        self.trace: Trace | None = None
        self.log: list[Access] = []

    def start(self, block: tuple[int, int], lane: tuple[int, int], trace: Trace | None) -> None:
        """Forget everything: nothing is initialised, no errors."""
        for memory in self.memories.values():
            memory.reset()
            memory.log = self.log if trace is not None else None
        self.errors = []
        self.block, self.lane, self.trace = block, lane, trace
        self.log.clear()

    def emit(self, op: Op) -> None:
        """Hand the op's accesses to the trace."""
        if self.trace is not None and self.log:
            self.trace(op, list(self.log))
        self.log.clear()
