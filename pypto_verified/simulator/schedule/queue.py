"""What waits in the queue of a pipe: one step of one op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypto_verified.pto.module import Op
from pypto_verified.records import dataclass
from pypto_verified.simulator.schedule.clocks import Timeline, Token

if TYPE_CHECKING:
    from pypto_verified.simulator.schedule.core import Core


@dataclass(frozen=True, slots=True)
class Want:
    """What a step waits for: `text` for the reader, `key` the signal (see `Item.gives`)."""

    text: str
    key: object = None


class Item:
    """A step of `op` on `pipe` of `core`. `seq` counts the steps of a run as they are issued; `learned` is what the
    scalar unit had waited for when it issued this one, which nothing issued later can start before; `parent` the scalar
    unit's last step then."""

    __slots__ = ("core", "learned", "op", "parent", "pipe", "seq")

    def __init__(self, core: Core, op: Op, pipe: str) -> None:
        self.core = core
        self.op = op
        self.pipe = pipe
        self.seq = 0
        self.learned: Token | None = None
        self.parent = -1

    def ready(self) -> bool:
        """Whether the step may start, once it is the first of its pipe."""
        return True

    def run(self, lane: Timeline) -> None:
        """Do it. Faults are SimErrors that know their op."""

    def want(self) -> Want:
        """What it waits for when it is not ready."""
        return Want("")

    def gives(self) -> object:
        """The key of the signal that it gives; None for none."""
        return None
