"""Faults planted into automatic mode, one at a time: the rules, the judge or the strict simulator notice each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pytest

from pypto_verified.errors import NotModelled
from pypto_verified.pto.module import Func, Module
from pypto_verified.simulator import schedule
from pypto_verified.sync import depend, emit, ids, insert, insert_sync
from pypto_verified.sync.clocks import Clocks
from pypto_verified.sync.plan import Flag, Plan
from pypto_verified.sync.walk import Event
from pypto_verified.targets import Target, target
from pypto_verified.targets.pipes import Hazard
from tests.sync.happens_before import Judge
from tests.sync.judged import verdicts
from tests.sync.programs import Program, only, random_program

Patch = pytest.MonkeyPatch
SEEDS = (17, 5, 23, 18, 7, 11, 20, 12, 36, 38)
"""Programs with loops in loops, branches and rings, the shorter ones last."""


def _without(hazard: Hazard) -> Callable[[Patch], None]:
    def plant(patch: Patch) -> None:
        found = depend._Search.hazards
        patch.setattr(depend._Search, "hazards", lambda s, a, b, env: found(s, a, b, env) - {hazard})
    return plant


def _within_a_pipe(patch: Patch) -> None:
    """Ops of one pipe are taken to be ordered."""
    patch.setattr(depend, "ordered_on_pipe", lambda *given: True)


def _no_earlier_turns(patch: Patch) -> None:
    patch.setattr(depend._Search, "carried", lambda s, b, loop, near: iter(()))


def _any_path(patch: Patch) -> None:
    """What one path knows is known after the branch."""
    def meet(paths: Iterable[Clocks], now: int) -> Clocks:
        return list(paths)[-1]
    patch.setattr(Clocks, "meet", staticmethod(meet))


def _ids_at_once(patch: Patch) -> None:
    patch.setattr(ids, "_apart", lambda a, b, events: True)


def _early_reuse(patch: Patch) -> None:
    patch.setattr(ids, "_safe", lambda own, count: True)


def _ahead_in_the_inner_loop(patch: Patch) -> None:
    """Flags in advance stand before the innermost loop."""
    homes = insert._homes
    patch.setattr(insert, "_homes", lambda s, around=None: homes(s, None))


def _no_drain(patch: Patch) -> None:
    put = emit._Writer.put
    patch.setattr(emit._Writer, "put", lambda w, at, position, order, op: None if (
        order == emit.AFTER_LOOP and "wait" in op.name) else put(w, at, position, order, op))


def _nothing_for_no_id(patch: Patch) -> None:
    """A flag that gets no id is left out."""
    def assign(plan: Plan, trace: list[Event], func: Func, target: Target, strict: bool) -> list[Flag]:
        for flag in ids.assign(plan, trace, func, target, strict):
            plan.drop(flag)
        return []
    patch.setattr(insert, "assign", assign)


FAULTS: dict[str, Callable[[Patch], None]] = {
    "no read after write": _without(Hazard.RAW), "no write after read": _without(Hazard.WAR),
    "no write after write": _without(Hazard.WAW), "one pipe is in order": _within_a_pipe,
    "turns do not meet": _no_earlier_turns, "one path is enough": _any_path,
    "flags share ids": _ids_at_once, "ids are used again at once": _early_reuse,
    "set in advance in the inner loop": _ahead_in_the_inner_loop, "flags are left set": _no_drain,
    "no barrier for no id": _nothing_for_no_id,
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[name](monkeypatch)
    assert any(_noticed(program) for program in _programs())


def _programs() -> Iterator[Module]:
    """A ring of two tiles, a loop in a loop whose second load waits for the turn before, and random programs."""
    ring, nest = Program(), Program()
    i = ring.loop()
    x = ring.slot(0, 2, i)
    ring.load(x, ring.row(i))
    ring.exp(x, ring.tile(4))
    ring.close()
    nest.loop()
    i = nest.loop("%c2")
    for k, tensor in enumerate(("a", "b")):
        nest.load(nest.tile(k), nest.row(i), tensor)
    for k in range(2):
        nest.exp(nest.tile(k), nest.tile(2 + k))
    nest.close()
    nest.close()
    yield ring.module()
    yield nest.module()
    yield from (random_program(seed, "a2a3") for seed in SEEDS)


def _noticed(program: Module) -> bool:
    try:
        made = insert_sync(program, target("a2a3"))
    except NotModelled:
        return False
    numbers = {"n": 3, "m": 2, "c": 5}
    if Judge(target("a2a3")).run(only(made), numbers) or not verdicts(made, "a2a3") <= {"PROVED"}:
        return True
    tensors = {n: np.zeros((64, 8), np.float32) for n in ("a", "b", "out")}
    got = schedule.run(made, target("a2a3"), tensors, numbers, strict=True)
    return any("is set while nothing orders it" in str(e) for e in got.errors)


def test_without_a_fault_nothing_is_noticed() -> None:
    assert not any(_noticed(program) for program in _programs())


def test_ids_that_flags_to_two_pipes_share_are_noticed_under_the_stricter_reading(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ids._assign
    monkeypatch.setattr(
        ids, "_assign", lambda flags, events, func, target, across: found(flags, events, func, target, False))
    made = (insert_sync(program, target("a2a3"), strict=True) for program in _programs())
    assert any("REFUTED" in verdicts(module, "a2a3", strict=True) for module in made)
