"""Whether a run of all cores of a block shows what a refutation of their pipes and flags claims."""

from __future__ import annotations

from pypto_verified.pto.module import Op
from pypto_verified.simulator.schedule.outcome import Outcome

WAITING = "EVENT-CORES"
PIPE_RULES = ("FIFO-POP", "FIFO-DRAIN", "FIFO-OVERRUN", WAITING)
"""Rules whose failure shows as a hang, as tiles that nobody pops, or as a race on a slot."""


def seen_of_pipe(outcome: Outcome, rule: str) -> str:
    """What the run of one of `PIPE_RULES` shows; '' if nothing."""
    if rule == "FIFO-OVERRUN":
        found = next((r for r in outcome.races if is_transfer(r.first.op) and is_transfer(r.second.op)), None)
        return str(found) if found is not None else ""
    if rule == "FIFO-DRAIN":
        left = next((e for e in outcome.errors if "never popped" in e.message), None)
        if left is not None:
            return f"pipe: {left}"
    waits = outcome.deadlock.blocked if outcome.deadlock is not None else ()
    return next((f"deadlock: {b}" for b in waits if rule == WAITING or is_transfer(b.at.op)), "")


def is_transfer(op: Op) -> bool:
    """Whether an op pushes or pops a tile."""
    return op.name.startswith(("pto.tpush", "pto.tpop"))
