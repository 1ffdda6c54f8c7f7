"""Whether a run under a schedule shows what a refutation of an order claims. Words as those of `simulator.confirm`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pypto_verified.pto.module import Module
from pypto_verified.pto.walk import walk_ops
from pypto_verified.simulator.contents import ANY, NO_ZERO, Contents
from pypto_verified.simulator.errors import DivisionError, StepLimitError
from pypto_verified.simulator.run import MAX_STEPS, OTHER_BLOCK
from pypto_verified.simulator.schedule.confirm_counters import pops, tell_each_other, waits_for
from pypto_verified.simulator.schedule.confirm_pipes import PIPE_RULES, is_transfer, seen_of_pipe, unread
from pypto_verified.simulator.schedule.faults import CounterError, LeftSetError
from pypto_verified.simulator.schedule.outcome import At, Outcome, Race, Unseen, first_difference
from pypto_verified.simulator.schedule.runs import replay
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import Hazard

_HAZARDS = {"RACE-RAW": Hazard.RAW, "RACE-WAR": Hazard.WAR, "RACE-WAW": Hazard.WAW, "RACE-CORE": Hazard.RAW,
            "RACE-FREE": Hazard.WAR, "RACE-BLOCK": Hazard.RAW}
_EXIT = "EVENT-EXIT"
_FLAGS = ("EVENT-SET", "EVENT-WAIT", _EXIT, "EVENT-AGAIN")
_VISIBLE = "RACE-VISIBLE"
_SHARED = "FIFO-APART"
_BLOCKS = "RACE-BLOCK"
_OF_SEVERAL = {_BLOCKS: "blocks", "RACE-CORE": "cores", _VISIBLE: "cores"}
"""Rules about accesses that those of another core may hide."""
_COUNTER, _PIPE_COUNTER = "EVENT-COUNT", "FIFO-COUNTER"
_AHEAD = ("program", "late", "eager", "random")
"""Schedules of which one lets either core run ahead of the other."""
_NOTHING: frozenset[int] = frozenset()
ORDER_RULES = (*_HAZARDS, *_FLAGS, _VISIBLE, _SHARED, _COUNTER, _PIPE_COUNTER, *PIPE_RULES)
"""Rules whose failure shows in the order of a run."""
BEHIND = ("not run: deadlock: ", "not run: a flag is misused first: ")
"""How `confirm_order` begins where another fault keeps the run from what is claimed."""
ASTRAY = "not run: the inputs of this run do not lead there"

KEPT = "not run: what else the cores tell each other may keep the producer from being so far ahead"


def confirm_order(
    module: Module, function: str, rule: str, witness: Mapping[str, int], target: Target, seed: int = 0, *,
    line: int = 0, first: int = 0, strict: bool = False, max_steps: int = MAX_STEPS,
    names: Mapping[str, str] | None = None, contents: Contents = ANY, ran: Outcome | None = None,
) -> str:
    """Replay a refutation of one of `ORDER_RULES` at `.pto` line `line` and say in one line what was seen: of a race,
    also what becomes of a tensor where the earlier op goes as late as it may. `first`: line of the earlier op of a
    race, the user's or the text's, 0 if unknown; `names`: what the user calls an argument of the text; `contents`: of
    the tensors; `ran`: what a run of these numbers and contents has shown already."""
    blocks = tuple(sorted((witness.get("block_idx", 0), witness.get(OTHER_BLOCK, 1)))) if rule == _BLOCKS else ()
    outcome = ran or replay(
        module, function, witness, target, seed=seed, strict=strict, max_steps=max_steps, contents=contents,
        blocks=blocks)
    if rule == _SHARED:
        return _compared(outcome, replay(
            module, function, witness, target, seed=seed, strict=strict, max_steps=max_steps, apart=True))
    if rule in (_COUNTER, _PIPE_COUNTER):
        late = pops(module) if rule == _PIPE_COUNTER else [waits_for(module, line, target)]
        for schedule, held in (*((name, _NOTHING) for name in _AHEAD), *(("program", last) for last in late if last)):
            ahead = replay(
                module, function, witness, target, schedule=schedule, seed=seed, strict=strict, max_steps=max_steps,
                held=held)
            full = next((e for e in ahead.errors if isinstance(e, CounterError) and (
                e.line == line or rule == _PIPE_COUNTER)), None)
            if full is not None:
                lines = "".join(f" --hold {n}" for n in sorted(held))
                return f"confirmed: pipe: {full} (--schedule {schedule}{lines})"
    if outcome.stopped and isinstance(outcome.errors[-1], DivisionError) and contents == ANY:
        contents = Contents(NO_ZERO)
        outcome = replay(
            module, function, witness, target, seed=seed, strict=strict, max_steps=max_steps, contents=contents,
            blocks=blocks)
    if rule in (_COUNTER, _PIPE_COUNTER):
        found = ""
    elif rule == _VISIBLE:
        found = _hidden(outcome.unseen, line, first)
        covered = "" if found else _hidden(outcome.covered, line, first)
        if covered:
            return f"not run: another core writes over it in between: {covered}"
        found = found or _hidden(outcome.unseen, line, 0)
        if not found:  # what is not even ordered is not visible either
            race = _race(outcome, Hazard.RAW, line, first)
            found = str(race) if race is not None else ""
    elif rule in PIPE_RULES:
        found = seen_of_pipe(outcome, rule, module, line)
    elif rule == _EXIT:
        # A hang before keeps the run from its end: what is set there is known without waiting.
        found = _left_set(outcome, line) or _left_set(replay(
            module, function, witness, target, schedule="cpu", seed=seed, strict=strict, max_steps=max_steps,
            contents=contents), line)
    elif rule in _FLAGS:
        found = _flag(outcome, rule, line)
    else:
        arrives = target.on_chip_pipe and _pops(module, first)
        race = _race(outcome, _HAZARDS[rule], line, first, rule == _BLOCKS, arrives)
        found = "" if race is None else str(race) + _harm(outcome, race, replay(
            module, function, witness, target, seed=seed, strict=strict, max_steps=max_steps, contents=contents,
            held=frozenset({race.first.line}), blocks=blocks), names or {})
    if found:
        return f"confirmed: {found}" + (f"; with {contents}" if str(contents) else "")
    hides = [r for r in (*outcome.races, *outcome.also) if rule in _OF_SEVERAL and r.first.core != r.second.core]
    if hides:  # a later access to these bytes stands for the earlier ones of its core
        return f"not run: another race of the two {_OF_SEVERAL[rule]} comes in between: {hides[0]}"
    if outcome.stopped:
        last = outcome.errors[-1]
        return f"not run: the run stops before: {'step limit' if isinstance(last, StepLimitError) else last}"
    if outcome.deadlock is not None:
        return f"not run: {outcome.deadlock}"  # 'deadlock: ...', see BEHIND
    misused = next((e for e in outcome.errors if e.kind == "event"), None)
    if misused is not None and (rule not in _FLAGS or rule == "EVENT-AGAIN"):
        # Such a flag may be given by a later set, or taken by another wait: what it orders is nobody's claim.
        return f"not run: a flag is misused first: {misused}"
    traced = None if ran is not None else replay(
        module, function, witness, target, seed=seed, strict=strict, max_steps=max_steps, contents=contents, trace=True)
    if traced is not None and line and line not in {step.at.line for step in traced.trace}:
        return ASTRAY
    if rule in (_PIPE_COUNTER, "FIFO-OVERRUN") and tell_each_other(module, target):
        return KEPT
    if rule == "FIFO-OVERRUN" and unread(module, line):
        return "not run: no op reads a tile that is popped, and so none meets what is written over it"
    return "not observed: the run ended without it"


def _compared(outcome: Outcome, apart: Outcome) -> str:
    """How a run differs from one whose rings share no memory: in a race on a ring, or in an output."""
    transfers = next((r for r in outcome.races if {is_transfer(r.first.op), is_transfer(r.second.op)} == {True}), None)
    if transfers is not None and transfers not in apart.races:
        return f"confirmed: {transfers}"
    found = first_difference(outcome, apart) if apart.outputs else None
    if found is not None:
        return (f"confirmed: %{found.argument} element {found.element} is {found.one}, and {found.other} where the "
                "rings lie apart")
    for run in (outcome, apart):
        if run.stopped or run.deadlock is not None:
            return f"not run: {run.deadlock or run.errors[-1]}"
    return "not observed: the run ended without it"


def _harm(outcome: Outcome, race: Race, held: Outcome, names: Mapping[str, str]) -> str:
    """What the race does to the results of a run in which its first op goes as late as it may; '' if nothing."""
    if any(run.stopped or run.deadlock is not None for run in (outcome, held)):
        return ""
    found = first_difference(held, outcome)
    if found is None:
        return ""
    op, name = race.first.op, names.get(found.argument, found.argument)
    return (f"; with line {op.loc.line if op.loc.file else op.line} as late as it may be (--hold), element "
            f"{found.element} of {name} is {found.one} instead of {found.other}")


def _pops(module: Module, line: int) -> bool:
    """Whether the op of a line pops a tile."""
    return line > 0 and any(
        op.name.startswith("pto.tpop") and line in (op.line, op.loc.line)
        for unit in module.units() for func in unit.funcs for op in walk_ops(func))


def _race(
    outcome: Outcome, hazard: Hazard, line: int, first: int, blocks: bool = False, arrives: bool = False
) -> Race | None:
    """The race that a run found of these ops, in the order in which it ran them, by this conflict if it met it;
    `blocks`: of two blocks. `arrives`: the earlier op pops a tile that the other core's push writes."""
    def earlier(at: At) -> bool:
        return first in (0, at.line, at.location.line) or (arrives and at.op.name.startswith("pto.tpush"))

    def between(race: Race) -> bool:
        return (not blocks or race.first.core != race.second.core) and any(
            other.line == line and earlier(one)
            for one, other in ((race.first, race.second), (race.second, race.first)))

    found = [race for race in (*outcome.races, *outcome.also) if between(race)]
    return max(found, key=lambda race: race.hazard is hazard) if found else None


def _hidden(found: Iterable[Unseen], line: int, first: int) -> str:
    """What `line` reads that the op at `first` has written, any if that is 0."""
    return next((str(u) for u in found if u.read.line == line and first in (
        0, u.write.line, u.write.location.line)), "")


def _left_set(outcome: Outcome, line: int) -> str:
    """A flag that is set when the function ends, set at `line` if there is one of these."""
    left = [e for e in outcome.errors if isinstance(e, LeftSetError)]
    return f"event: {max(left, key=lambda e: e.line == line)}" if left else ""


def _flag(outcome: Outcome, rule: str, line: int) -> str:
    misuse = [e for e in outcome.errors if e.kind == "event"]
    here = [e for e in misuse if e.line == line]
    if here:
        return f"event: {here[0]}"
    blocked = outcome.deadlock.blocked if outcome.deadlock is not None and rule == "EVENT-WAIT" else ()
    return next((f"deadlock: {b}" for b in blocked if b.at.line == line), "")
