"""How often ops on a pipe run: no more often than some number, or than others. Where that has no closed form, small
runs look for one in which it is wrong; what no run shows stays open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from itertools import islice, product

from pypto_verified.index import TRUE, Cond, all_of
from pypto_verified.index.cond import FALSE
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from verifiers.access import AccessProgram, Node, Sequence, Step, SymbolKind
from verifiers.access.symbols import UNCONSTRAINED
from verifiers.fifo_counts import Count, compared, in_functions, runs
from verifiers.flags import trip_names
from verifiers.pipes import LANE
from verifiers.race.choices import choices
from verifiers.race.runs import Enough, Run
from verifiers.race.values import Values
from verifiers.race.walker import Core
from verifiers.sites import Context

MOST_RUNS = 24
"""Choices of numbers that are tried for one end of a pipe."""
_TURNS = 2_000
"""Transfers and turns of loops that are followed in one run."""


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """What a lane does on a pipe: the ops named `op` of pipe `pipe` in `program`. `shared`: the names that mean the
    same in the function that is judged; None: it is that function. `step`: one of them that a run has to take."""

    program: AccessProgram
    op: str
    pipe: int
    lane: int
    shared: frozenset[str] | None = None
    step: int | None = None

    @property
    def count(self) -> Count:
        return runs(self.program, self.op, self.pipe, self.lane)


@dataclass(frozen=True, slots=True)
class Few:
    """`holds`: that it runs no more often, for all runs. `given`: the sizes of a run in which it does, if one was
    looked for and found."""

    holds: Cond = TRUE
    given: Mapping[str, int] = field(default_factory=dict)


def few(context: Context, moved: tuple[Moved, ...], most: int, tried: bool = True) -> Few:
    """Whether each of them runs at most `most` times. A number of turns that is only named bounds nothing from above:
    nothing is proved of it, and only a run refutes it, which is looked for if `tried`."""
    known: list[Cond] = []
    opened = False
    for m in moved:
        own = m.shared is None or m.count.names() <= m.shared
        goal = compared(m.count, Count(), lambda a, _: a <= most) if not m.count.why and own else FALSE
        if m.count.why or not own or (m.count.turns and goal is not TRUE):
            given = _passing(context, m, most) if tried else None
            if given is not None:
                return Few(FALSE, given)
            opened = True
        else:
            known.append(goal)
    if opened or not moved:
        known.append(context.program.symbols.new("pipe_has_few_tiles", SymbolKind.OPAQUE, 0, 1) >= 1)
    return Few(all_of(known))


def _passing(context: Context, moved: Moved, most: int) -> Mapping[str, int] | None:
    """The sizes of a run in which an op runs more often, and which nobody but the sizes decides."""
    program, background = context.program, context.program.symbols.facts & context.assumed
    judged = moved.shared is None
    found = _more(moved, context.target, most, background if judged else moved.program.symbols.facts)
    for given in found:
        if judged or (given.keys() <= (moved.shared or frozenset()) and Values(program, given).holds(background)):
            return given
    return None


def _more(moved: Moved, target: Target, most: int, background: Cond) -> Iterator[Mapping[str, int]]:
    core = Core(moved.program, target, kept=frozenset())
    for given, truth in product(numbers(moved, most, background), (False, True)):
        run = _Counting(core, given, truth, moved, most)
        if run.passed and not run.values.asked:
            yield {n: v for n, v in given.items() if n in run.moving}


def numbers(moved: Moved, most: int, background: Cond) -> Iterator[dict[str, int]]:
    """Small ones, then sizes a few times as large as `most`: a transfer may take place in some turns only."""
    program, lane = moved.program, {LANE: moved.lane}
    yield from islice(choices(program, background, lane), MOST_RUNS)
    sizes = trip_names(program) | {n for n, k in program.symbols.kinds.items() if k is SymbolKind.DIM}
    for n in (2 * most + 2, 4 * most + 4):
        yield from islice(choices(program, background, {**dict.fromkeys(sizes, n), **lane}), 1)


@dataclass(frozen=True, slots=True)
class Uneven:
    """A run of sizes `given` in which one op takes place `own` times and the other `other` times."""

    given: Mapping[str, int]
    own: int
    other: int


def uneven(context: Context, own: Moved, other: Moved, fine: Callable[[int, int], bool]) -> Uneven | None:
    """A small run in which the ops of this function and those that answer them are not as often as is `fine`, and
    which nothing decides but extents that both know."""
    if any(in_functions(m.program, m.op) for m in (own, other)):
        return None
    cores = [Core(m.program, context.target, kept=frozenset()) for m in (own, other)]
    for given in numbers(own, _FEW, context.program.symbols.facts & context.assumed):
        first, second = (
            _Counting(core, given, False, m, _TURNS) for core, m in zip(cores, (own, other), strict=True))
        deciding = (first.given_ones | second.given_ones) - {LANE}
        known = other.shared is None or deciding <= other.shared
        if first.left_open or second.left_open or not known:
            return None
        if first.ended and second.ended and not fine(first.times, second.times):
            return Uneven({n: v for n, v in given.items() if n in deciding}, first.times, second.times)
    return None


_GIVEN = frozenset({SymbolKind.DIM, SymbolKind.BLOCK, SymbolKind.LAUNCH, SymbolKind.PARAM, SymbolKind.SIZE})
_FEW = 8
"""Tiles that some of the runs go beyond."""


class Transfers(Run):
    """One run of which a pipe alone is of interest: `_step` is called for each op. `ended`: nothing broke it off."""

    def __init__(self, core: Core, given: dict[str, int], truth: bool = False) -> None:
        self.ended = False
        super().__init__(core, given, truth, set(), _TURNS)

    @property
    def given_ones(self) -> frozenset[str]:
        """What callers and launches give that the run may go by."""
        return frozenset(n for n in self.moving if self.program.symbols.kinds.get(n) in _GIVEN)

    @property
    def left_open(self) -> bool:
        """Whether anything decides it that no caller of all can be held to."""
        kinds = self.program.symbols.kinds
        return bool(self.values.asked) or any(kinds.get(n) in UNCONSTRAINED for n in self.given_ones - {LANE})

    def walk(self) -> None:
        super().walk()
        self.ended = True

    def _run(self, node: Node) -> None:
        if isinstance(node, Sequence):
            for item in node.items:
                self._run(item)
        else:
            super()._run(node)


class _Counting(Transfers):
    """One run, as far as it has to go to have `passed` the number `most`."""

    def __init__(self, core: Core, given: dict[str, int], truth: bool, moved: Moved, most: int) -> None:
        self.moved, self.most = moved, most
        self.times, self.taken = 0, moved.step is None
        super().__init__(core, given, truth)

    @property
    def passed(self) -> bool:
        return self.times > self.most and self.taken

    def _step(self, step: Step) -> None:
        if step.op.name == self.moved.op and pipe_id(step.op) == self.moved.pipe:
            self.times += 1
            self.taken = self.taken or step.index == self.moved.step
            self._spend()
            if self.passed:
                raise Enough
