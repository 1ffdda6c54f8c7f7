"""The machine with time: pipes as queues, flags, counters, pipes between cores, several cores, under a schedule.

    from pypto_verified.simulator import schedule

    outcome = schedule.run(module, target("a2a3"), {"a": a, "out": out}, {"M": 37}, schedule="late")
    outcome.races       # conflicts that nothing orders, whatever the schedule made of them: Race(hazard, first, second,
                        # memory, low, high); first.op, first.line, first.location, first.pipe, first.core
    outcome.errors      # faults of ops; kinds "event" and "pipe": misuse of flags and of pipes between cores
    outcome.deadlock    # None, or who waits for what, and why it does not come
    outcome.unseen      # reads of global memory that are ordered, but that no fence makes valid
    outcome.outputs     # the tensors, by argument

`schedule.replay(module, function, witness, target, schedule=..., seed=...)` does the same on the inputs of a witness,
as `simulator.replay` makes them. Schedules: `program` as issued, `eager` pipes in turn, `late` the youngest step that
can run, `random` by seed, `exhaustive` all orders of conflicting accesses (`runs`, `cut`, `other`), `cpu` flags and
barriers order nothing. `schedule.contrast(...)` looks for two schedules that end in different outputs.
"""

from pypto_verified.simulator.schedule.faults import EventError, PipeError
from pypto_verified.simulator.schedule.outcome import At, Blocked, Deadlock, Outcome, Race, Unseen
from pypto_verified.simulator.schedule.runs import Contrast, contrast, replay, run

__all__ = [
    "At", "Blocked", "Contrast", "Deadlock", "EventError", "Outcome", "PipeError", "Race", "Unseen", "contrast",
    "replay", "run",
]
