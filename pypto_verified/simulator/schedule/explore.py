"""All runs that can differ: stateless search with partial-order reduction.

Two steps of different pipes commute unless they touch a byte that one of them writes; what signals order can't be
turned round. So a search turns round conflicting accesses alone, one pair at a time (source sets and sleep sets:
Abdulla, Aronis, Jonsson, Sagonas, "Optimal dynamic partial order reduction", POPL 2014). A program without races has
one run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TypeAlias

import numpy as np

from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import SimError
from pypto_verified.simulator.schedule import engine
from pypto_verified.simulator.schedule.checks import Touched
from pypto_verified.simulator.schedule.engine import Agent
from pypto_verified.simulator.schedule.launch import Memory
from pypto_verified.simulator.schedule.outcome import Outcome
from pypto_verified.simulator.schedule.world import World

LONGEST = 500
"""Steps of a run beyond which its orders are not searched: the search is cut."""
Key: TypeAlias = tuple[int, str]
"""A pipe: (core, name)."""


@dataclass(slots=True)
class Step:
    """One step of a run. `after`: the steps that it waited for; `touched`: its accesses; `before`: all steps that come
    before it as long as conflicts stay as they are, as a set of bits."""

    agent: Key
    after: list[int]
    touched: list[Touched] = field(default_factory=list)
    before: int = 0


@dataclass(slots=True)
class State:
    """A point where a pipe is chosen: those that can go on, those to try, and those whose step need not be tried again
    until something that conflicts with it has run, with its accesses. `touched`: those of the chosen one."""

    enabled: list[Key]
    chosen: Key
    wanted: set[Key]
    sleep: dict[Key, list[Touched]]
    touched: list[Touched] = field(default_factory=list)


def explore(
    start: Callable[[], tuple[World, Memory]], finish: Callable[[World, Memory], Outcome], max_runs: int
) -> Outcome:
    """The outcomes of all runs as one, at most `max_runs` of them, and one of a run that is longer than LONGEST."""
    states: list[State] = []
    found: Outcome | None = None
    runs = 0
    while True:
        try:
            world, memory = start()
        except SimError as error:
            return Outcome(errors=[error], stopped=True)
        world.tracing = True
        with np.errstate(all="ignore"):
            steps, complete = _run(world, states)
        if complete:
            runs += 1
            found = _merged(found, finish(world, memory))
        too_long = len(steps) > LONGEST
        if not too_long:
            _turn_round(steps, states)
        if too_long or not _backtrack(states) or runs >= max_runs:
            break
    assert found is not None
    found.runs = runs
    found.cut = too_long or bool(states)
    return found


def _run(world: World, states: list[State]) -> tuple[list[Step], bool]:
    """Run along `states`, and on to the end; the steps, and whether it got there: every pipe that could go on may be
    one whose step need not be tried."""
    steps: list[Step] = []
    sleep: dict[Key, list[Touched]] = {}
    last: dict[Key, int] = {}
    try:
        while True:
            choices = engine.agents(world)
            issuing = next((a for a in choices if a.item is None), None)
            if issuing is not None:
                engine.step(world, issuing)
                continue
            if not choices:
                break
            place = len(steps)
            if place == len(states):
                awake = [a.key for a in choices if a.key not in sleep]
                if not awake:
                    return steps, False
                oldest = engine.program_order([a for a in choices if a.key in awake]).key
                states.append(State([a.key for a in choices], oldest, {oldest}, dict(sleep)))
            state = states[place]
            agent = next(a for a in choices if a.key == state.chosen)
            _take(world, agent, steps, last)
            state.touched = steps[-1].touched
            sleep = {k: t for k, t in state.sleep.items() if not _conflict(t, state.touched)}
    except SimError as error:
        world.outcome.errors.append(error)
        world.outcome.stopped = True
        return steps, True
    engine.conclude(world)
    return steps, True


def _take(world: World, agent: Agent, steps: list[Step], last: dict[Key, int]) -> None:
    """One step, noted even when it ends in a fault."""
    assert agent.item is not None
    lane = agent.core.lanes[agent.pipe]
    before = [last[agent.key]] if agent.key in last else []
    step = Step(agent.key, [*before, agent.item.parent] if agent.item.parent >= 0 else before)
    steps.append(step)
    last[agent.key] = len(steps) - 1
    try:
        engine.step(world, agent)
    finally:
        step.touched = list(world.checks.touched)
        step.after += [n for n in lane.heard if 0 <= n < len(steps) - 1]


def _conflict(a: list[Touched], b: list[Touched]) -> bool:
    """Whether two steps touch a byte that one of them writes."""
    return any(
        memory == other and (writes or also) and region.shared(near) is not None
        for memory, region, writes in a for other, near, also in b
    )


def _turn_round(steps: list[Step], states: list[State]) -> None:
    """Ask for the runs in which two conflicting steps, that nothing else orders, come the other way round."""
    for j, later in enumerate(steps):
        conflicting = [
            i for i in range(j) if steps[i].agent != later.agent and _conflict(steps[i].touched, later.touched)]
        ordered = 0
        for i in later.after:
            ordered |= steps[i].before | 1 << i
        reversible = []
        for i in reversed(conflicting):
            if not ordered >> i & 1:
                reversible.append(i)
                ordered |= steps[i].before | 1 << i
        later.before = ordered
        for i in reversible:
            _want(steps, states[i], i, j)


def _want(steps: Sequence[Step], state: State, i: int, j: int) -> None:
    """Before step i, a pipe has to be tried that leads to step j first."""
    free = [k for k in range(i + 1, j) if not steps[k].before >> i & 1] + [j]
    initials: list[Key] = []
    members = 0
    for k in free:
        if not steps[k].before & members:
            initials.append(steps[k].agent)
        members |= 1 << k
    possible = [a for a in initials if a in state.enabled]
    if not state.wanted.intersection(possible):
        state.wanted.update(possible[:1] or state.enabled)


def _backtrack(states: list[State]) -> bool:
    """Go back to the last choice that has something left to try. False when there is none."""
    while states:
        state = states[-1]
        state.sleep[state.chosen] = state.touched
        left = [k for k in state.enabled if k in state.wanted and k not in state.sleep]
        if left:
            state.chosen = left[0]
            return True
        states.pop()
    return False


def _merged(found: Outcome | None, outcome: Outcome) -> Outcome:
    """What was found before, and what this run adds."""
    if found is None:
        return outcome
    pairs = {(id(r.first.op), id(r.second.op)) for r in found.races}
    found.races += [r for r in outcome.races if (id(r.first.op), id(r.second.op)) not in pairs
                    and (id(r.second.op), id(r.first.op)) not in pairs]
    known = {str(e) for e in found.errors}
    found.errors += [e for e in outcome.errors if str(e) not in known]
    seen = {(id(u.write.op), id(u.read.op)) for u in found.unseen}
    found.unseen += [u for u in outcome.unseen if (id(u.write.op), id(u.read.op)) not in seen]
    found.deadlock = found.deadlock or outcome.deadlock
    differs = any(
        not np.array_equal(a.view(np.uint8), outcome.outputs[name].view(np.uint8))
        for name, a in found.outputs.items() if name in outcome.outputs)
    if differs and found.other is None and not outcome.stopped:
        found.other = outcome
    return found
