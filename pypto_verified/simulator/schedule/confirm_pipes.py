"""Whether a run of all cores of a block shows what a refutation of their pipes and flags claims."""

from __future__ import annotations

from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.pto.module import Module, Op
from pypto_verified.pto.walk import walk_ops
from pypto_verified.simulator.schedule.faults import EarlyError, LeftError
from pypto_verified.simulator.schedule.outcome import Outcome

WAITING = ("EVENT-CORES", "EVENT-GROUP")
PIPE_RULES = ("FIFO-POP", "FIFO-DRAIN", "FIFO-OVERRUN", "FIFO-EARLY", *WAITING)
"""Rules whose failure shows as a hang, as tiles that nobody pops or flags that nobody waits for, as a race on a
slot, or as a slot that is given back too early."""
_TRANSFERS = ("pto.tpush", "pto.tpop")


def seen_of_pipe(outcome: Outcome, rule: str, module: Module, line: int) -> str:
    """What the run of one of `PIPE_RULES`, refuted at `.pto` line `line`, shows; '' if nothing."""
    if rule == "FIFO-OVERRUN":
        # On a5 ops of the other core work on the slot itself, which a push of the next tile meets.
        pushed = [r for r in outcome.races if any(_pushes(x.op) for x in (r.first, r.second))]
        between = [r for r in pushed if r.first.core != r.second.core]
        both = [r for r in pushed if is_transfer(r.first.op) and is_transfer(r.second.op)]
        return str((both or between)[0]) if both or between else ""
    if rule == "FIFO-EARLY":
        early = next((e for e in outcome.errors if isinstance(e, EarlyError)), None)
        return f"pipe: {early}" if early is not None else ""
    lines = _alike(module, line)
    left = next((e for e in outcome.errors if isinstance(e, LeftError) and e.line in lines), None)
    if left is not None:
        return f"pipe: {left}"
    waits = [b for b in (outcome.deadlock.blocked if outcome.deadlock is not None else ())
             if rule in WAITING or is_transfer(b.at.op)]
    here = [b for b in waits if b.at.line in lines]
    if rule == "FIFO-DRAIN":
        # Others wait for something else; where a tile is never popped, the end of its pipe waits for its slot.
        blocked = outcome.deadlock.blocked if outcome.deadlock is not None else ()
        waits = here or [b for b in blocked if b.at.op.name in INITS and pipe_id(b.at.op) in _pipes(module, lines)]
    return next((f"deadlock: {b}" for b in (*here, *waits)), "")


def unread(module: Module, line: int) -> bool:
    """Whether no op reads what is popped from the pipe that the op at `line` makes: whatever a push overwrites there,
    no run shows."""
    ops = [op for func in module.funcs for op in walk_ops(func)]
    made = {pipe_id(op) for op in ops if op.line == line and op.name in INITS}
    popped = {r for op in ops if op.name.startswith(_TRANSFERS[1]) and pipe_id(op) in made for r in op.results}
    return bool(made) and popped.isdisjoint(value for op in ops for group in op.args.values() for value in group)


def _alike(module: Module, line: int) -> set[int]:
    """The lines of the transfers that do what the one at `line` does on the same pipe; that line alone for others."""
    ops = [op for func in module.funcs for op in walk_ops(func)]
    asked = next((op for op in ops if op.line == line and is_transfer(op)), None)
    if asked is None:
        return {line}
    return {op.line for op in ops if op.name == asked.name and pipe_id(op) == pipe_id(asked)}


def _pipes(module: Module, lines: set[int]) -> set[int]:
    """The pipes of the transfers at these lines."""
    return {pipe_id(op) for func in module.funcs for op in walk_ops(func) if op.line in lines and is_transfer(op)}


def _pushes(op: Op) -> bool:
    return op.name.startswith(_TRANSFERS[0])


def is_transfer(op: Op) -> bool:
    """Whether an op pushes or pops a tile."""
    return op.name.startswith(_TRANSFERS)
