"""Runs that break the protocol of flags, for loops whose pattern is not recognised: the function walked with small
numbers, each flag a bit, up to the first op that fails."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from itertools import islice, product

from pypto_verified.index import Cond
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.targets.model import Pair
from verifiers.access import AccessProgram, SymbolKind
from verifiers.race.choices import choices
from verifiers.race.order import Order
from verifiers.race.runs import Enough, Run
from verifiers.race.sync import Kind, Sync
from verifiers.race.walker import Core
from verifiers.race.witness import of_data

MOST_RUNS = 24
"""Choices of numbers that are tried for a function."""
_STEPS = 20_000
"""Flag ops and turns of loops that are followed in one run; of two runs that take more, no other is made."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A flag, by pipes and id, that an op finds as it should not be, or that is set in the end, under `given`. `asked`:
    what nobody may choose on which that depends; `led`: data alone decide it, and nothing but which way the run
    takes; `lone`: the argument of a caller that alone decides it, by one branch."""

    pair: Pair
    id: int
    given: Mapping[str, int]
    asked: frozenset[str] = frozenset()
    led: bool = False
    lone: str = ""

    def __str__(self) -> str:
        return ", ".join(f"{n} = {self.given[n]}" if n in self.given else n for n in sorted(self.asked))


class _Flags(Run):
    """One run. `fault`: the step that fails, None for the end, with the flag; `turns`: the loop variables there."""

    def __init__(self, core: Core, given: dict[str, int], truth: bool) -> None:
        self.set: dict[tuple[Pair, int], None] = {}
        self.fault: tuple[int | None, Pair, int] | None = None
        self.turns: dict[str, int] = {}
        self.ended = False
        super().__init__(core, given, truth, set(), _STEPS)
        if self.ended and self.set:
            (pair, id), *_ = self.set
            self.fault = None, pair, id

    def walk(self) -> None:
        super().walk()
        self.ended = True

    def apply(self, sync: Sync, id: int | None, order: Order) -> None:
        if sync.kind not in (Kind.SET, Kind.WAIT):
            return
        if id is None:
            raise Enough
        flag, sets = (sync.pair, id), sync.kind is Kind.SET
        if (flag in self.set) is sets:
            self.fault = sync.step.index, *flag
            self.turns = self.counters(sync.step)
            raise Enough
        if sets:
            self.set[flag] = None
        else:
            del self.set[flag]


@lru_cache(maxsize=4)
def broken(
    program: AccessProgram, target: Target, foreign: frozenset[Hashable], background: Cond
) -> dict[int | None, Broken]:
    """Flag ops that fail in some run, by step; None: the end. The run depends on nothing that nobody may choose, if one
    is found that does not."""
    found: dict[int | None, Broken] = {}
    core = Core(program, target, foreign=foreign, kept=frozenset())
    left = _STEPS
    for given, truth in product(islice(choices(program, background), MOST_RUNS), (False, True)):
        if left <= 0:
            break
        run = _Flags(core, given, truth)
        if run.budget <= 0:
            left -= _STEPS // 2
        if run.fault is not None:
            step, pair, id = run.fault
            shown = {name: value for name, value in given.items() if name in run.moving} | run.turns
            if step not in found or (found[step].asked and not run.values.asked):
                asked = frozenset(run.values.asked)
                data = of_data(program, asked)
                lone = next(iter(asked - data)) if len(asked - data) == 1 else ""
                if lone and lone in run.depends.forked(frozenset(run.depends.beside)):
                    asked = data if program.symbols.kinds.get(lone) is not SymbolKind.LAUNCH else asked
                lone = "" if lone in asked else lone
                led = bool(asked) and asked <= data - run.depends.beside
                found[step] = Broken(pair, id, shown, asked, led, lone)
    return found
