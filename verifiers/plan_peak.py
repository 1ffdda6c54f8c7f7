"""PLAN-PEAK: at level2, where the assembler gives the addresses, what is alive at one time fits its memory.

What a planner needs at least: the tiles that are read later, and those that the op itself writes; not scratch on a5,
which the assembler leaves out there. A tile made outside a loop lives through it if its value comes around.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pypto_verified.layouts import Space
from pypto_verified.records import dataclass
from verifiers.access import AccessProgram, Branch, Loop, Node, Root, Sequence, Step
from verifiers.plan import exact_capacity
from verifiers.reaching import around
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text


@dataclass(frozen=True, slots=True)
class PeakSite(Site):
    """The step at which most of a memory is in use: by these tiles, and by rings of `reserved` bytes at all times."""

    space: Space
    alive: tuple[Root, ...]
    reserved: int

    @property
    def needed(self) -> int:
        return sum(map(_size, self.alive)) + self.reserved


def _size(root: Root) -> int:
    return root.bytes * root.slots


class _Alive:
    """Backwards over a program: the tiles without addresses whose values are read later, and where most of them are."""

    def __init__(self, program: AccessProgram, scratch: bool) -> None:
        self._program = program
        self._scratch = scratch
        self.most: dict[Space, tuple[int, Step, tuple[Root, ...]]] = {}
        self._heads: dict[Loop, frozenset[Root]] = {}
        self._homes = {d.tile.root: d for d in reversed(program.defined)}
        self._writers: dict[Root, list[Step]] = {}
        for step in program.steps:
            for tile in step.writes():
                if tile.root.address is None and tile.root.kind != "pop":
                    self._writers.setdefault(tile.root, []).append(step)
        self._before(program.body, frozenset())

    def _before(self, node: Node, after: frozenset[Root]) -> frozenset[Root]:
        """What is alive before `node`, given what is after it."""
        if isinstance(node, Step):
            return self._step(node, after)
        if isinstance(node, Sequence):
            for item in reversed(node.items):
                after = self._before(item, after)
            return after
        if isinstance(node, Branch):
            return self._before(node.then, after) | self._before(node.orelse, after)
        return self._loop(node, after)

    def _loop(self, loop: Loop, after: frozenset[Root]) -> frozenset[Root]:
        """A loop ends where it has tested its condition; what a while loop does for that, it does before each test."""
        tested, turn = Sequence(loop.body.items[:loop.head]), Sequence(loop.body.items[loop.head:])
        begin = self._heads.get(loop, frozenset())
        while True:
            passed = self._from_outside(self._before(turn, begin), loop) | after
            more = self._before(tested, passed) | begin
            if more == begin:
                self._heads[loop] = begin
                return begin
            begin = more

    def _step(self, step: Step, after: frozenset[Root]) -> frozenset[Root]:
        writes = frozenset(t.root for t in step.writes() if t.root in self._writers)
        renewed = frozenset(t.root for t in step.writes() if t.whole)
        before = (after - renewed) | {t.root for t in step.reads() if t.root in self._writers}
        if not self._scratch:
            writes -= {t.root for t in step.tiles("tmp")}
        for alive in (before, after | writes):
            self._count(step, frozenset(r for r in alive if self._is_written(r, step)))
        return before

    def _from_outside(self, roots: frozenset[Root], loop: Loop) -> frozenset[Root]:
        return frozenset(r for r in roots if r not in self._homes or loop not in self._homes[r].loops)

    def _is_written(self, root: Root, step: Step) -> bool:
        """Whether a write may come before `step`, in this iteration or an earlier one."""
        writers = self._writers[root]
        again = set(around(self._program, step))
        return writers[0].index <= step.index or any(again.intersection(around(self._program, w)) for w in writers)

    def _count(self, step: Step, alive: frozenset[Root]) -> None:
        needed: Counter[Space] = Counter()
        for root in alive:
            needed[root.space] += _size(root)
        for space, bytes_ in needed.items():
            if bytes_ > self.most.get(space, (0,))[0]:
                here = (r for r in alive if r.space is space)
                self.most[space] = bytes_, step, tuple(sorted(here, key=lambda r: r.op.line))


def _peaks(context: Context) -> Iterator[PeakSite]:
    """One site for each memory in which the assembler places tiles."""
    program = context.program
    for space, (_, step, alive) in _Alive(program, context.target.name != "a5").most.items():
        rings = sum(r.bytes for r in program.reserved if r.space is space)
        label = f"{op_text(step.op)} {space.value}"
        yield PeakSite(context, step.op, step.path, label, space, alive, rings)


def _tiles_text(s: PeakSite) -> str:
    names = ", ".join(f"{r.name} {_size(r)}" for r in s.alive[:8]) + (", ..." if len(s.alive) > 8 else "")
    return names + (f", and {s.reserved} bytes of rings" if s.reserved else "")


PLAN_PEAK: Rule[PeakSite] = Rule(
    id="PLAN-PEAK", kind=SAFETY, observable=False, requires=("MP-07",), source="PTOAS PlanMemory",
    claim="at level2 the tiles that are alive at one time fit their memory",
    unseen="the assembler finds no place, so there is nothing to run",
    sites=_peaks, applies=always, assumptions=("UB-TOP", "SMALL-TABLES"), unneeded=lambda s: exact_capacity(s.space),
    goal=lambda s: s.needed <= s.context.target.capacity(s.space),
    explain=lambda s, w: (
        f"here {s.needed} bytes of {s.space.value} are in use ({_tiles_text(s)}); there are "
        f"{s.context.target.capacity(s.space)} on {s.context.target.name}"),
    help=lambda s: "use smaller tiles, or use up some of them before others are made",
    mutant=lambda s: s.needed <= 2 * s.context.target.capacity(s.space),
)

RULES = (PLAN_PEAK,)
