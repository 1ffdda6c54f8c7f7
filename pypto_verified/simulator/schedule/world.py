"""What the cores of a run share: signals, the log of accesses, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pypto_verified.simulator.errors import SimError
from pypto_verified.simulator.memory import Access
from pypto_verified.simulator.schedule.checks import Checks
from pypto_verified.simulator.schedule.core import Core, Issuer
from pypto_verified.simulator.schedule.outcome import Outcome, Ran
from pypto_verified.simulator.schedule.queue import Item
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import Hazard, ordered_on_pipe


class World:
    """`log` receives the accesses of the op that runs; `budget` are the jumps left, `issued` counts steps. `ordering`
    off: flags and barriers hold nothing back (CPU mode). `apart`: rings share no memory, whatever the text says."""

    def __init__(
        self, target: Target, cores: int, *, blocks: int, lanes: int, chip: int, strict: bool, ordering: bool,
        max_steps: int, tracing: bool, issuers: Mapping[str, Issuer], compute: Issuer,
        closing: Callable[[Core], Iterable[Item]], apart: bool = False,
    ) -> None:
        self.target = target
        self.size = cores * len(target.pipes)
        self.blocks = blocks
        self.lanes = lanes
        self.chip = chip
        self.strict = strict
        self.ordering = ordering
        self.budget = max_steps
        self.issuers = issuers
        self.compute = compute
        self.closing = closing
        self.apart = apart
        self.cores: list[Core] = []
        self.signals: dict[object, object] = {}
        self.log: list[Access] = []
        self.outcome = Outcome()
        self.tracing = tracing
        self.issued = 0
        self.checks = Checks(self)

    def in_order(self, pipe: str) -> bool:
        """Whether ops of the pipe need no barrier between them."""
        return self.target.same_pipe_ordered(pipe, self.strict)

    def overtakes(self, pipe: str) -> bool:
        """Whether an op may be done before an earlier one of the pipe where no barrier stands between them, whatever
        both of them touch."""
        return not ordered_on_pipe(self.target, pipe, Hazard.WAW, self.strict)

    def report(self, error: SimError, item: Item) -> None:
        """Note a fault that does not stop the run."""
        error.at(item.op)
        self.outcome.errors.append(error)

    def perform(self, item: Item) -> None:
        """Run a step that is ready and first of its pipe. SimError for a fault that stops the run."""
        lane = item.core.lanes[item.pipe]
        self.checks.touched.clear()
        lane.now = self.outcome.steps
        lane.heard.clear()
        if item.learned is not None and lane.learned is not item.learned:
            lane.learn(item.learned)
            lane.learned = item.learned
        if self.tracing:
            self.outcome.trace.append(Ran(item.core.at(item), item.seq))
        self.outcome.steps += 1
        try:
            item.run(lane)
        except SimError as error:
            error.at(item.op)
            raise
        lane.settle()
