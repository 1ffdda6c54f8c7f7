"""Whether a run of all cores of a block shows what a refutation of their pipes and flags claims."""

from __future__ import annotations

from pypto_verified.pto.module import Op
from pypto_verified.simulator.schedule.faults import LeftError
from pypto_verified.simulator.schedule.outcome import Outcome

WAITING = "EVENT-CORES"
PIPE_RULES = ("FIFO-POP", "FIFO-DRAIN", "FIFO-OVERRUN", WAITING)
"""Rules whose failure shows as a hang, as tiles that nobody pops or flags that nobody waits for, or as a race on a
slot."""
_TRANSFERS = ("pto.tpush", "pto.tpop")


def seen_of_pipe(outcome: Outcome, rule: str, line: int) -> str:
    """What the run of one of `PIPE_RULES`, refuted at `.pto` line `line`, shows; '' if nothing."""
    if rule == "FIFO-OVERRUN":
        found = next((r for r in outcome.races if is_transfer(r.first.op) and is_transfer(r.second.op)), None)
        return str(found) if found is not None else ""
    left = [e for e in outcome.errors if isinstance(e, LeftError)]
    tiles, flags = [e for e in left if e.op.startswith(_TRANSFERS)], [e for e in left if e.line == line]
    for error in {"FIFO-DRAIN": tiles, WAITING: flags}.get(rule, ()):
        return f"pipe: {error}"
    waits = outcome.deadlock.blocked if outcome.deadlock is not None else ()
    return next((f"deadlock: {b}" for b in waits if rule == WAITING or is_transfer(b.at.op)), "")


def is_transfer(op: Op) -> bool:
    """Whether an op pushes or pops a tile."""
    return op.name.startswith(_TRANSFERS)
