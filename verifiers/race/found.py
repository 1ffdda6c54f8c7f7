"""What the two walks found on each core of a function, and the sites that rules make of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache

from pypto_verified.index import TRUE, Cond
from pypto_verified.index.cond import FALSE
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import cross_flag
from verifiers import branch_taken
from verifiers.access import AccessProgram
from verifiers.branch_taken import BRANCH_TAKEN as BRANCH_TAKEN
from verifiers.flags import cores_of
from verifiers.race.busy import related
from verifiers.race.flow import Flow
from verifiers.race.hearing import NOBODY
from verifiers.race.parts import KINDS
from verifiers.race.search import search
from verifiers.race.sides import Sides, sides_of
from verifiers.race.walker import Core, Pair
from verifiers.race.witness import Want
from verifiers.race.witness import Witness as Run
from verifiers.sites import Context, Site, op_text
from verifiers.solver import Ladder


@dataclass(frozen=True, slots=True)
class PairSite(Site):
    """Two accesses that may share a byte. `run`: one in which nothing orders them; `why`: what kept them from being
    decided."""

    pair: Pair
    run: Run | None
    why: str

    @property
    def led(self) -> Mapping[str, int] | None:
        """The numbers of a run that fails where data lead there."""
        return led(self.run, self.why)

    @property
    def ordered(self) -> Cond:
        return FALSE if self.pair.fails else TRUE


class Found:
    """What was found on one core. `flow`: for all runs at once; `background`: what may be taken for granted; `spared`:
    why a pair that this core does not order is not shown to fail."""

    def __init__(self, flow: Flow, background: Cond) -> None:
        self.flow = flow
        self.spared: dict[Want, str] = {}
        self._background = background

    @cached_property
    def runs(self) -> dict[Want, Run]:
        """Runs that break a pair, for those that are not known to be right."""
        pairs = self.flow.pairs.items()
        wanted: list[Want] = [("order", key) for key, pair in pairs if pair.fails]
        wanted += [("seen", key) for key, pair in pairs if pair.unseen]
        wanted += [("again", key) for key, again in self.flow.again.items() if again.open]
        if not wanted:
            return {}
        return search(
            self._narrowed(wanted), wanted, self._background, self.flow.ladder, self.spared, self._narrowed)

    def _narrowed(self, wanted: Iterable[Want]) -> Core:
        """The core with the accesses that matter to some failures."""
        core = self.flow.core
        return replace(core, kept=related(core, self.flow.pairs, (key for _, key in wanted)))


@lru_cache(maxsize=1)
def _judged(
    program: AccessProgram, target: Target, strict: bool, ladder: Ladder, assumed: Cond, sides: Sides | None
) -> tuple[Found, ...]:
    """Every core of a function."""
    found: list[Found] = []
    for name, foreign in cores_of(program).items():
        hearing = sides.hearing(name if name in KINDS else program.func.kernel_kind) if sides is not None else NOBODY
        core = Core(program, target, strict, frozenset(foreign), hearing=hearing)
        found.append(Found(Flow(core, ladder, assumed), program.symbols.facts & assumed))
    return tuple(found)


def hears(context: Context) -> bool:
    """Whether a function may hear from another core of what that one has heard of it."""
    return _hears(context.program, context.target.name)


@lru_cache(maxsize=1)
def _hears(program: AccessProgram, chip: str) -> bool:
    return any(cross_flag(s.op.name, chip) is not None for s in program.steps)


def found_on_cores(context: Context) -> tuple[Found, ...]:
    sides = sides_of(context) if hears(context) else None
    return _judged(context.program, context.target, context.strict, context.ladder, context.assumed, sides)


def why_open(fails: bool, run: Run | None, blind: str) -> str:
    """What keeps a pair from a verdict: '' where it is right, or where a run shows that it is not."""
    if not fails:
        return ""
    if run is None:
        return blind or "no run with small numbers shows a failure"
    if run.asked:
        shown = ", ".join(
            f"{n} = {run.given[n]}" if n in run.given else n.partition("?")[0] for n in sorted(run.asked))
        told = ": --assume tells what callers keep to" if run.asked <= run.given.keys() else ""
        return f"it fails for {shown}, which callers or data decide{told}"
    return ""


def led(run: Run | None, why: str) -> Mapping[str, int] | None:
    """The numbers of a run that fails where data lead there, at a place that is open."""
    return run.given if run is not None and run.led and why else None


def not_by_branch(run: Run | None) -> tuple[str, ...]:
    """That assumption, where it does not matter."""
    return () if run is not None and run.lone else (BRANCH_TAKEN,)


def keep_to(run: Run | None) -> str:
    """What a caller who avoids such a run can do instead."""
    return branch_taken.keep_to(run.lone) if run is not None else ""


def other_pipes(pair: Pair) -> str:
    """Why a pair that is ordered on the pipes of its rows is not proved."""
    pipes = {pipe for both in pair.open for pipe in both} - {pair.first.pipe, pair.second.pipe}
    return f"the sources name other pipes for an op ({', '.join(sorted(pipes))}), and there nothing orders the two"


def pair_site(context: Context, pair: Pair, run: Run | None, why: str) -> PairSite:
    line = context.program.location(pair.first.step.op).line
    label = f"{op_text(pair.second.step.op)} after {op_text(pair.first.step.op)} line {line}"
    return PairSite(context, pair.second.step.op, pair.second.step.path, label, pair, run, why)


def when(run: Run) -> str:
    """The iterations of both accesses, where they are in loops: '; i = 1 after 0'."""
    both = [(name, run.first.get(name), n) for name, n in run.second.items()]
    texts = [f"{name} = {n}" if old in (None, n) else f"{name} = {n} after {old}" for name, old, n in both]
    texts += [f"{name} = {n}" for name, n in run.first.items() if name not in run.second]
    return f"; {', '.join(texts)}" if texts else ""
