"""The ends of pipes between a cube and its vector cores, and the flags that they give each other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import field

from pypto_verified.layouts import Space
from pypto_verified.pto.module import Op
from pypto_verified.pto.types import TileBufType
from pypto_verified.records import dataclass
from pypto_verified.simulator.schedule.clocks import Timeline, Token
from pypto_verified.simulator.schedule.core import SCALAR, Core
from pypto_verified.simulator.schedule.cross import cluster
from pypto_verified.simulator.schedule.faults import CounterError
from pypto_verified.simulator.schedule.queue import Item, Want
from pypto_verified.simulator.tile import Pointer, Tensor
from pypto_verified.targets.split import SPLITS, Split

TO_VECTOR, TO_CUBE = 1, 2
"""Directions, as `dir_mask` counts them."""
PUSH_PIPE = {TO_VECTOR: "FIX", TO_CUBE: "MTE3"}
CHIP_POP_PIPE = {TO_VECTOR: "V", TO_CUBE: "MTE1"}
SPACE = {TO_VECTOR: Space.VEC, TO_CUBE: Space.MAT}
WORD = {TO_VECTOR: "the vector cores", TO_CUBE: "the cube"}


@dataclass(slots=True)
class Tokens:
    """A counted flag on its way to one core. `last`: the op that gave one last."""

    given: deque[Token] = field(default_factory=deque)
    last: Item | None = None


@dataclass(slots=True)
class End:
    """One core's end of a pipe. `names`: what ties it to the other end, by direction; `buffers`: the consumer's buffer,
    by direction; `tiles`: pushed or popped, by direction; `freed`: given back, `told` of them with a credit; `chip`:
    the target's pipes can be on the chip; `ring`: where slots lie in global memory, None if they do not; `alone`: the
    other end is not there; `entry`: a slot as a tensor, for pipes that can hand out slots of global memory."""

    init: Op
    id: int
    mask: int
    slot_size: int
    slots: int
    local_slots: int
    ring: Pointer | None
    chip: bool
    names: dict[int, object]
    buffers: dict[int, int]
    alone: bool
    tiles: dict[int, int] = field(default_factory=lambda: {TO_VECTOR: 0, TO_CUBE: 0})
    freed: int = 0
    told: int = 0
    split: Split = SPLITS[0]
    entry: Tensor | None = None

    def __str__(self) -> str:
        """A pipe that a function names by a number, or has a handle of: its flags are told."""
        by_handle = self.init.name.startswith("pto.initialize_")
        return f"the pipe with flags from {self.id}" if by_handle else f"pipe {self.id}"

    @property
    def on_chip(self) -> bool:
        """Whether tiles pass through the consumer's buffer, not through global memory."""
        return self.chip and self.ring is None and self.entry is None

    def frees(self, op: Op) -> bool:
        """Whether a pop or free gives a credit: a pop that copies its tile, any free of a5, and the free of a slot that
        was handed out."""
        if op.name.startswith("pto.tpop"):
            return not self.on_chip and moves_tile(op)
        return self.chip or self.entry is not None


def produces(core: Core) -> int:
    """The direction in which a core pushes."""
    return TO_VECTOR if core.kind == "cube" else TO_CUBE


def consumes(core: Core) -> int:
    """The direction in which a core pops."""
    return TO_CUBE if core.kind == "cube" else TO_VECTOR


def tokens_of(core: Core, end: End, direction: int, what: str, lane: int) -> Tokens:
    """The data ('data') or free slots ('credit') of a direction, for or from the lane's core."""
    key = (what, core.block, end.names[direction], direction, lane)
    found = core.world.signals.setdefault(key, Tokens())
    assert isinstance(found, Tokens)
    return found


def lanes_of(core: Core, split: Split) -> list[int]:
    """The lanes that a core of the cluster exchanges flags with."""
    if core.kind == "vector":
        return [core.lane]
    every = [c.lane for c in cluster(core, "vector")]
    return every[:1] if core.world.target.on_chip_pipe and split.axis is None else every


class Take(Item):
    """Waits for one flag of every lane."""

    __slots__ = ("key", "tokens", "what")

    def __init__(self, core: Core, op: Op, pipe: str, tokens: list[Tokens], what: str, key: object) -> None:
        super().__init__(core, op, pipe)
        self.tokens = tokens
        self.what = what
        self.key = key

    def ready(self) -> bool:
        return all(t.given for t in self.tokens)

    def run(self, lane: Timeline) -> None:
        for tokens in self.tokens:
            token = tokens.given.popleft()
            if self.pipe == SCALAR:
                self.core.hold(token)
            else:
                lane.learn(token)

    def want(self) -> Want:
        return Want(self.what, self.key)


class Give(Item):
    """Sets a flag for every lane when all earlier ops of its pipe are complete."""

    __slots__ = ("key", "tokens")

    def __init__(self, core: Core, op: Op, pipe: str, tokens: list[Tokens], key: object) -> None:
        super().__init__(core, op, pipe)
        self.tokens = tokens
        self.key = key

    def run(self, lane: Timeline) -> None:
        token, most = lane.token().abroad(), self.core.world.target.flag_count_max
        for tokens in self.tokens:
            tokens.given.append(token)
            tokens.last = self
            if len(tokens.given) > most:
                self.core.world.report(CounterError(
                    f"the counter of a pipe exceeds {most}", help="give the pipe fewer slots"), self)

    def gives(self) -> object:
        return self.key


def moves_tile(op: Op) -> bool:
    """Whether a transfer moves a tile, and not a slot that is handed out."""
    value = op.opt("tile") or op.result
    return isinstance(value.type, TileBufType)


def number_of(op: Op, name: str, default: int) -> int:
    value = op.attrs.get(name)
    return value if isinstance(value, int) else default


def buffer_names(ops: Iterable[Op], init: Op) -> dict[int, object]:
    """What ties an end to its peer, by direction: the name of the consumer's buffer, else the pipe's id. `ops`: those
    of the kernel."""
    made: dict[int, object] = {}
    for op in ops:
        if op.name in ("pto.reserve_buffer", "pto.import_reserved_buffer"):
            made[id(op.result)] = op.attrs.get("name")
    found: dict[int, object] = {}
    for direction, group in ((TO_VECTOR, "c2v_consumer_buf"), (TO_CUBE, "v2c_consumer_buf")):
        value = init.opt(group)
        named = made.get(id(value)) if value is not None else None
        found[direction] = named if isinstance(named, str) else ("id", number_of(init, "id", 0))
    return found
