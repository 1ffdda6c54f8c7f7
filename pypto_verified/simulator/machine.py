"""One core: its memory spaces and what a run shares with its ops."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from pypto_verified.layouts import Space
from pypto_verified.pto.module import Op
from pypto_verified.simulator.errors import SimError
from pypto_verified.simulator.memory import Access, LocalMemory
from pypto_verified.targets import Target

Trace: TypeAlias = Callable[[Op, list[Access]], None]
"""Called after each op that touched memory, with the bytes it touched."""


SCALE_SHARE = 16
"""Bytes of L0A or L0B that share one byte of scales (PTOAS kMxScaleAddressShift)."""


class Machine:
    """The core that a program runs on, reused from run to run.

    Replaying, it skips a transfer that leaves its tensor and goes on; `suspicions` are then the reads of bytes that
    hold no defined value, whether or not they reach a result, and `visited` the lines of the ops that ran.
    `extra` are bytes behind each space's capacity, for allocations that have no planned address. `errors` collects
    faults that did not stop the run; `block` and `lane` are (index, count) of the launch. `declared`: an imaginary
    machine that addresses every operand as its type says and converts what it moves; a program that is right gives the
    same results on both. `lone`: the partner core of a pipe is absent, and what it would send is arbitrary; `pipes` are
    the ends that the program set up, by id; `scales` the tables of microscaled operands, beside L0A and L0B; `budget`
    the steps that the run may still take in loops and branches.
    """

    def __init__(self, target: Target, extra: dict[Space, int], declared: bool = False, lone: bool = False) -> None:
        self.declared = declared
        self.lone = lone
        self.pipes: dict[int, Any] = {}
        self.memories = {
            space: LocalMemory(space, target.capacity(space) + extra.get(space, 0))
            for space in (row.space for row in target.memories)
        }
        self.scales = {
            space: LocalMemory(Space.SCALING, self.memories[space].size // SCALE_SHARE)
            for space in (Space.LEFT, Space.RIGHT)
        }
        self.errors: list[SimError] = []
        self.block = (0, 1)
        self.lane = (0, 1)
        self.trace: Trace | None = None
        self.log: list[Access] = []
        self.suspicions: list[SimError] = []
        self.visited: set[int] = set()
        self.budget = 0
        self.replaying = False
        self.watched = False

    @cached_property
    def random(self) -> np.random.Generator:
        """What the absent partner of a pipe sends is drawn here."""
        return np.random.default_rng(0)

    def start(self, block: tuple[int, int], lane: tuple[int, int], trace: Trace | None, replaying: bool) -> None:
        """Forget everything: nothing is initialised, no errors."""
        self.errors, self.suspicions, self.visited = [], [], set()
        self.replaying = replaying
        for memory in (*self.memories.values(), *self.scales.values()):
            held = memory.bytes
            held.reset()
            held.log = self.log if trace is not None else None
            held.suspicions = self.suspicions if replaying else None
        self.watched = trace is not None or replaying
        self.pipes.clear()
        if self.lone:
            self.random = np.random.default_rng(0)
        self.block, self.lane, self.trace = block, lane, trace
        self.log.clear()

    def settle(self, op: Op) -> None:
        """After an op: hand its accesses to the trace, and its name to what was noted."""
        for suspicion in self.suspicions:
            suspicion.at(op)
        self.visited.update((op.line, op.loc.line))
        if self.trace is not None and self.log:
            self.trace(op, list(self.log))
        self.log.clear()
