"""Whether a run under a schedule shows what a refutation of an order claims. Words as those of `simulator.confirm`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pypto_verified.pto.module import Module
from pypto_verified.simulator.errors import DivisionError, StepLimitError
from pypto_verified.simulator.run import MAX_STEPS
from pypto_verified.simulator.schedule.confirm_pipes import PIPE_RULES, is_transfer, seen_of_pipe
from pypto_verified.simulator.schedule.faults import CounterError
from pypto_verified.simulator.schedule.outcome import Outcome, Race
from pypto_verified.simulator.schedule.runs import replay
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import Hazard

_NO_ZERO = (1, 8)
"""What integer tensors hold where a zero would end the run."""
_HAZARDS = {"RACE-RAW": Hazard.RAW, "RACE-WAR": Hazard.WAR, "RACE-WAW": Hazard.WAW, "RACE-CORE": Hazard.RAW,
            "RACE-FREE": Hazard.WAR}
_FLAGS = ("EVENT-SET", "EVENT-WAIT", "EVENT-EXIT", "EVENT-AGAIN")
_VISIBLE = "RACE-VISIBLE"
_SHARED = "FIFO-APART"
_COUNTER = "EVENT-COUNT"
_AHEAD = ("program", "late", "eager", "random")
"""Schedules of which one lets either core run ahead of the other."""
ORDER_RULES = (*_HAZARDS, *_FLAGS, _VISIBLE, _SHARED, _COUNTER, *PIPE_RULES)
"""Rules whose failure shows in the order of a run."""
BEHIND = ("not run: deadlock: ", "not run: a flag is misused first: ")
"""How `confirm_order` begins where another fault keeps the run from what is claimed."""


def confirm_order(
    module: Module, function: str, rule: str, witness: Mapping[str, int], target: Target, seed: int = 0, *,
    line: int = 0, first: int = 0, strict: bool = False, max_steps: int = MAX_STEPS,
) -> str:
    """Replay a refutation of one of `ORDER_RULES` at `.pto` line `line` and say in one line what was seen. `first`:
    line of the earlier op of a race, the user's or the text's, 0 if unknown."""
    outcome = replay(module, function, witness, target, seed=seed, strict=strict, max_steps=max_steps)
    if rule == _SHARED:
        return _compared(outcome, replay(
            module, function, witness, target, seed=seed, strict=strict, max_steps=max_steps, apart=True))
    if rule == _COUNTER:
        for schedule in _AHEAD:
            ahead = replay(
                module, function, witness, target, schedule=schedule, seed=seed, strict=strict, max_steps=max_steps)
            full = next((e for e in ahead.errors if isinstance(e, CounterError) and e.line == line), None)
            if full is not None:
                return f"confirmed: pipe: {full} (--schedule {schedule})"
    if outcome.stopped and isinstance(outcome.errors[-1], DivisionError):
        outcome = replay(
            module, function, witness, target, seed=seed, strict=strict, max_steps=max_steps, integers=_NO_ZERO)
    if rule == _COUNTER:
        found = ""
    elif rule == _VISIBLE:
        found = next((str(u) for u in outcome.unseen if u.read.line == line), "")
        found = found or _race(outcome, Hazard.RAW, line, first)  # what is not even ordered is not visible either
    elif rule in PIPE_RULES:
        found = seen_of_pipe(outcome, rule, module, line)
    else:
        found = _flag(outcome, rule, line) if rule in _FLAGS else _race(outcome, _HAZARDS[rule], line, first)
    if found:
        return f"confirmed: {found}"
    if outcome.stopped:
        last = outcome.errors[-1]
        return f"not run: the run stops before: {'step limit' if isinstance(last, StepLimitError) else last}"
    if outcome.deadlock is not None:
        return f"not run: {outcome.deadlock}"  # 'deadlock: ...', see BEHIND
    misused = next((e for e in outcome.errors if e.kind == "event"), None)
    if misused is not None and (rule not in _FLAGS or rule == "EVENT-AGAIN"):
        # Such a flag may be given by a later set, or taken by another wait: what it orders is nobody's claim.
        return f"not run: a flag is misused first: {misused}"
    return "not observed: the run ended without it"


def _compared(outcome: Outcome, apart: Outcome) -> str:
    """How a run differs from one whose rings share no memory: in a race on a ring, or in an output."""
    transfers = next((r for r in outcome.races if {is_transfer(r.first.op), is_transfer(r.second.op)} == {True}), None)
    if transfers is not None and transfers not in apart.races:
        return f"confirmed: {transfers}"
    for name, array in apart.outputs.items():
        differs = array.reshape(-1).view(np.uint8) != outcome.outputs[name].reshape(-1).view(np.uint8)
        if differs.any():
            at = int(np.argmax(differs)) // array.itemsize
            found, wanted = (str(x.reshape(-1)[at]) for x in (outcome.outputs[name], array))
            return f"confirmed: %{name} element {at} is {found}, and {wanted} where the rings lie apart"
    for run in (outcome, apart):
        if run.stopped or run.deadlock is not None:
            return f"not run: {run.deadlock or run.errors[-1]}"
    return "not observed: the run ended without it"


def _race(outcome: Outcome, hazard: Hazard, line: int, first: int) -> str:
    """The race that a run found of these ops, in the order in which it ran them, by this conflict if it met it."""
    def between(race: Race) -> bool:
        return any(
            other.line == line and first in (0, one.line, one.location.line)
            for one, other in ((race.first, race.second), (race.second, race.first)))

    found = [race for race in (*outcome.races, *outcome.also) if between(race)]
    return str(max(found, key=lambda race: race.hazard is hazard)) if found else ""


def _flag(outcome: Outcome, rule: str, line: int) -> str:
    misuse = [e for e in outcome.errors if e.kind == "event"]
    here = [e for e in misuse if e.line == line]
    if here or (misuse and rule == "EVENT-EXIT"):
        return f"event: {(here or misuse)[0]}"
    blocked = outcome.deadlock.blocked if outcome.deadlock is not None and rule == "EVENT-WAIT" else ()
    return next((f"deadlock: {b}" for b in blocked if b.at.line == line), "")
