"""The loop of a run: which pipe goes next.

Every step that is ready and first of its pipe may run next; a schedule is a choice among them. The scalar unit's part
of the choice is to issue more, or to run a step of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from pypto_verified.simulator.errors import SimError
from pypto_verified.simulator.schedule.compute import Compute
from pypto_verified.simulator.schedule.core import SCALAR, Core
from pypto_verified.simulator.schedule.deadlock import explain
from pypto_verified.simulator.schedule.queue import Item
from pypto_verified.simulator.schedule.world import World

AHEAD = 512
"""Steps in the queues of a core beyond which its scalar unit issues no more while anything else can run."""


class Agent(NamedTuple):
    """A pipe that may go on: with `item`, or, the scalar unit alone, by issuing more."""

    core: Core
    pipe: str
    item: Item | None

    @property
    def key(self) -> tuple[int, str]:
        return self.core.index, self.pipe


Policy: TypeAlias = Callable[[Sequence[Agent]], Agent]


def agents(world: World) -> list[Agent]:
    """Who may go on, in the order of cores and pipes."""
    found: list[Agent] = []
    for core in world.cores:
        if core.hand_out():
            own = core.pending[0]
            if own.ready():
                found.append(Agent(core, SCALAR, own))
        elif not core.ended:
            found.append(Agent(core, SCALAR, None))
        for pipe, queue in core.queues.items():
            if queue and queue[0].ready():
                found.append(Agent(core, pipe, queue[0]))
    return found


def step(world: World, agent: Agent) -> None:
    """Let one agent go on. SimError for a fault that stops the run."""
    core, item = agent.core, agent.item
    if item is None:
        core.advance()
        return
    if agent.pipe == SCALAR:
        core.pending.popleft()
    else:
        core.queues[agent.pipe].remove(item)
    world.perform(item)


def run(world: World, policy: Policy) -> None:
    """Run to the end, to a deadlock or to a fault."""
    ahead, always = isinstance(policy, Eager | Late), isinstance(policy, Held)
    try:
        while True:
            if ahead:
                _issue_ahead(world)
            choices = agents(world)
            if not choices:
                break
            step(world, policy(choices) if always or len(choices) > 1 else choices[0])
    except SimError as error:
        world.outcome.errors.append(error)
        world.outcome.stopped = True
        return
    conclude(world)


def _issue_ahead(world: World) -> None:
    """All scalar units issue until they have something to do themselves, up to a limit."""
    for core in world.cores:
        while not core.ended and not core.hand_out() and core.queued() < AHEAD:
            core.advance()


def conclude(world: World) -> None:
    """When no pipe can go on: all are done, or it is a deadlock."""
    if not all(core.ended and not core.pending and core.idle() for core in world.cores):
        world.outcome.deadlock = explain(world)


def program_order(choices: Sequence[Agent]) -> Agent:
    """The oldest step that can run; more is issued when none can. A core goes on until it has to wait for another."""
    first = choices[0].core
    ready = [a for a in choices if a.core is first and a.item is not None]
    return min(ready, key=_age) if ready else choices[0]


def _age(agent: Agent) -> int:
    return agent.item.seq if agent.item is not None else 0


class Eager:
    """Scalar units run ahead; every pipe that can runs one step in turn."""

    def __init__(self) -> None:
        self._turn: list[tuple[int, str]] = []

    def __call__(self, choices: Sequence[Agent]) -> Agent:
        by_key = {a.key: a for a in choices if a.item is not None} or {a.key: a for a in choices}
        while True:
            while self._turn:
                agent = by_key.get(self._turn.pop())
                if agent is not None:
                    return agent
            self._turn = list(reversed(list(by_key)))


class Late:
    """Scalar units run ahead; then the youngest step that can run: an older one only when everything younger waits."""

    def __call__(self, choices: Sequence[Agent]) -> Agent:
        return max(choices, key=_age)


class Random:
    """Any of them, by seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, choices: Sequence[Agent]) -> Agent:
        return choices[self._random.randrange(len(choices))]


class Held:
    """Program order, but ops of these lines of the text go when nothing else can. Where nothing orders the ops of a
    pipe, what stands right behind one that is held passes it."""

    def __init__(self, lines: frozenset[int]) -> None:
        self._lines = lines

    def __call__(self, choices: Sequence[Agent]) -> Agent:
        free = [other for agent in choices if (other := self._instead(agent)) is not None]
        return program_order(free or choices)

    def _instead(self, agent: Agent) -> Agent | None:
        """What may go on there now."""
        core, pipe, item = agent
        if item is None:
            return agent if core.queued() < AHEAD else None
        if item.op.line not in self._lines:
            return agent
        if pipe == SCALAR or not core.world.overtakes(pipe):
            return None
        after = next((i for i in core.queues[pipe] if i.op.line not in self._lines), None)
        return Agent(core, pipe, after) if isinstance(after, Compute) and after.ready() else None


SCHEDULES = ("program", "eager", "late", "random", "exhaustive", "cpu")


def policy(schedule: str, seed: int, held: frozenset[int] = frozenset()) -> Policy:
    """The choice that a schedule's name stands for; with lines that are `held`, program order but for these. KeyError
    for an unknown one."""
    if held:
        return Held(held)
    made: dict[str, Callable[[], Policy]] = {
        "program": lambda: program_order, "cpu": lambda: program_order, "eager": Eager, "late": Late,
        "random": lambda: Random(seed),
    }
    return made[schedule]()
