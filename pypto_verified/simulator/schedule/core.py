"""One core of a run: its scalar unit, which issues, and its pipes, which run what was issued to them in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from pypto_verified.pto.module import Op
from pypto_verified.simulator.errors import SimError, StepLimitError
from pypto_verified.simulator.program import Registers
from pypto_verified.simulator.schedule.clocks import Timeline, Token, together
from pypto_verified.simulator.schedule.code import Code, Issue
from pypto_verified.simulator.schedule.outcome import At
from pypto_verified.simulator.schedule.queue import Item

if TYPE_CHECKING:
    from pypto_verified.simulator.schedule.ends import End
    from pypto_verified.simulator.schedule.flags import Flag
    from pypto_verified.simulator.schedule.history import Region, Stamp
    from pypto_verified.simulator.schedule.world import World

SCALAR = "S"
Issuer: TypeAlias = "Callable[[Core, Issue], Iterable[Item]]"
"""The steps that an op is, in the order they are issued."""


class Core:
    """`kind` 'cube' or 'vector'; `lane` is a vector core's place in its cluster (0 for a cube), `block` the cluster's
    in the launch. `pending`: steps of the op that is being issued; `ended`: the function has returned and all it issued
    is in the queues; `stored`: the last write of each pipe to global memory; `notified`: the last op that told another
    device of them."""

    def __init__(self, world: World, index: int, code: Code, block: int, lane: int, env: Registers) -> None:
        self.world = world
        self.index = index
        self.code = code
        self.kind = code.kind
        self.block = block
        self.lane = lane
        self.machine = code.machine
        self.env = env
        self.pc = 0
        self.ended = False
        self.pending: deque[Item] = deque()
        pipes = world.target.pipes
        self.lanes = {
            p: Timeline(index * len(pipes) + i, world.size, world.in_order(p)) for i, p in enumerate(pipes)
        }
        self.queues: dict[str, deque[Item]] = {p: deque() for p in pipes if p != SCALAR}
        self.flags: dict[tuple[str, str, int], Flag] = {}
        self.ends: dict[int, End] = {}
        self.stored: dict[int, tuple[Stamp, Region, str]] = {}
        self.notified: Item | None = None
        self.learned: Token | None = None

    @property
    def name(self) -> str:
        """How reports call the core."""
        own = "cube" if self.kind == "cube" else f"vector lane {self.lane}" if self.world.lanes > 1 else "vector"
        return f"block {self.block} {own}" if self.world.blocks > 1 else own

    def at(self, item: Item) -> At:
        return At(item.op, self.name, item.pipe)

    def idle(self) -> bool:
        """Whether all queues are empty."""
        return not any(self.queues.values())

    def queued(self) -> int:
        """Steps in the queues."""
        return sum(map(len, self.queues.values()))

    def hold(self, token: Token, strict: bool = False) -> None:
        """The scalar unit has waited for `token`: nothing issued later starts before. In the `strict` reading that is
        known of the scalar unit's own ops alone."""
        own = self.lanes[SCALAR]
        own.learn(token)
        if not strict:
            known = [token] if self.learned is None else [self.learned, token]
            self.learned = replace(together(known), origin=(own.now,))

    def everything(self) -> Token:
        """What is known when all that the core has issued is complete."""
        return together([lane.token() for lane in self.lanes.values()])

    def advance(self) -> None:
        """Go on in the program until something is issued, or to its end. SimError for a fault in registers."""
        steps, env, world = self.code.steps, self.env, self.world
        pc, end = self.pc, len(steps)
        while pc < end:
            step = steps[pc]
            if isinstance(step, Issue):
                self.pc = pc + 1
                self._issue(step)
                return
            if isinstance(step, tuple):
                world.budget -= 1
                if world.budget < 0:
                    raise StepLimitError("the step limit is reached", help="raise max_steps, or check the loops")
                pc = step[0](env)
            else:
                step(env)
                pc += 1
        self.pc = pc
        if not self.ended:
            self.ended = True
            self._append(world.closing(self))

    def _issue(self, issue: Issue) -> None:
        issuer = self.world.issuers.get(issue.op.name, self.world.compute)
        try:
            self._append(issuer(self, issue))
        except SimError as error:
            error.at(issue.op)
            raise

    def _append(self, items: Iterable[Item]) -> None:
        for item in items:
            self.world.issued += 1
            item.seq = self.world.issued
            self.pending.append(item)

    def hand_out(self) -> bool:
        """Put steps into the queues up to the first one of the scalar unit's own; whether there is such a one."""
        pending = self.pending
        while pending:
            item = pending[0]
            if item.pipe == SCALAR:
                return True
            item.learned = self.learned
            item.parent = self.lanes[SCALAR].now
            self.queues[item.pipe].append(item)
            pending.popleft()
        return False

    def source(self, op: Op) -> str:
        """The line of an op, for messages."""
        return f"{op.loc}" if op.loc.file else f"line {op.line}"
