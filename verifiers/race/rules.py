"""RACE: accesses of one core to the same bytes are ordered. One site for each pair of ops and way to conflict."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from pypto_verified.index import TRUE, Cond
from pypto_verified.index.cond import FALSE
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import Hazard, barrier_holds
from verifiers.access import AccessProgram
from verifiers.flags import cores_of
from verifiers.race.accesses import is_global
from verifiers.race.flow import Flow
from verifiers.race.runs import Witness as Run
from verifiers.race.runs import search
from verifiers.race.sync import is_manual
from verifiers.race.walker import Core, Pair
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text
from verifiers.solver import Ladder

_SOURCE = "PTO-ISA ordering-and-synchronization.md, TSync.hpp; PTOAS InsertSync"


@dataclass(frozen=True, slots=True)
class PairSite(Site):
    """Two accesses that may share a byte. `run`: one in which nothing orders them; `why`: what kept them from being
    decided."""

    pair: Pair
    run: Run | None
    why: str

    @property
    def ordered(self) -> Cond:
        return FALSE if self.pair.fails else TRUE


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    pair: Pair
    run: Run | None
    why: str


@lru_cache(maxsize=1)
def _judged(
    program: AccessProgram, target: Target, strict: bool, ladder: Ladder, assumed: Cond
) -> tuple[_Judged, ...]:
    """Every pair of conflicting accesses of every core of a function."""
    found: list[_Judged] = []
    for foreign in cores_of(program).values():
        core = Core(program, target, strict, frozenset(foreign))
        flow = Flow(core, ladder, assumed)
        wanted = [key for key, pair in flow.pairs.items() if pair.fails]
        runs = search(core, wanted, program.symbols.facts & assumed) if wanted else {}
        found += [_Judged(p, runs.get(key), _why(p, runs.get(key), flow.blind)) for key, p in flow.pairs.items()]
    return tuple(found)


def _why(pair: Pair, run: Run | None, blind: str) -> str:
    """What keeps a pair from a verdict: '' where it is ordered, or where a run shows that it is not."""
    if not pair.open:
        return ""
    if not pair.fails:
        pipes = {pipe for both in pair.open for pipe in both} - {pair.first.pipe, pair.second.pipe}
        named = ', '.join(sorted(pipes))
        return f"the sources name other pipes for an op ({named}), and there nothing orders the two"
    if run is None:
        return blind or "no run with small numbers shows that the two are not ordered"
    if run.asked:
        shown = ", ".join(f"{n} = {run.given[n]}" if n in run.given else n for n in sorted(run.asked))
        return f"it fails for some values that no rule may choose: {shown}"
    return ""


def _pairs(hazard: Hazard) -> Callable[[Context], Iterator[PairSite]]:
    def sites(context: Context) -> Iterator[PairSite]:
        program = context.program
        if not context.explicit_sync and not is_manual(program):
            return
        for judged in _judged(program, context.target, context.strict, context.ladder, context.assumed):
            pair = judged.pair
            if pair.hazard is hazard:
                line = program.location(pair.first.step.op).line
                label = f"{op_text(pair.second.step.op)} after {op_text(pair.first.step.op)} line {line}"
                yield PairSite(
                    context, pair.second.step.op, pair.second.step.path, label, pair, judged.run, judged.why)

    return sites


def _explain(s: PairSite, w: Witness) -> str:
    pair, run = s.pair, s.run
    first, second = pair.first, pair.second
    line = s.context.program.location(first.step.op).line
    where = run.place if run is not None else str(second.place)
    doing = {True: "writes", False: "reads"}
    earlier = f"{op_text(first.step.op)} at line {line} ({first.pipe})"
    when = f"; {_when(run)}" if run is not None and _when(run) else ""
    one_pipe = first.pipe == second.pipe
    schedule = f"{second.pipe} may start it while {'the other' if one_pipe else first.pipe} still runs"
    return (
        f"{op_text(second.step.op)} ({second.pipe}) {doing[second.writes]} {where} of {second.what}, which {earlier} "
        f"{doing[first.writes]}: nothing orders the two, {schedule}{when}")


def _when(run: Run) -> str:
    """The iterations of both, where they are in loops."""
    both = [(name, run.first.get(name), n) for name, n in run.second.items()]
    texts = [f"{name} = {n}" if old in (None, n) else f"{name} = {n} after {old}" for name, old, n in both]
    texts += [f"{name} = {n}" for name, n in run.first.items() if name not in run.second]
    return ", ".join(texts)


def _help(s: PairSite) -> str:
    first, second = s.pair.first, s.pair.second
    if first.pipe != second.pipe:
        return f"set a flag {first.pipe} -> {second.pipe} after the first and wait for it before the second"
    named = first.pipe if barrier_holds(s.context.target, first.pipe) else "ALL"
    return f"put a barrier of {named} between them"


def _unneeded(s: PairSite) -> tuple[str, ...]:
    used = {s.pair.first.assumption, s.pair.second.assumption}
    pointers = () if is_global(s.pair.second) else ("DISTINCT-POINTERS", "FLAG-IS-FENCE")
    return (*pointers, *(a for a in _READINGS if a not in used))


_READINGS = ("VEC-TO-MAT-PIPE", "RAMP-PIPE", "MAT-FILL-PIPE", "POP-PIPE")


def _rule(word: str, hazard: Hazard, claim: str) -> Rule[PairSite]:
    return Rule(
        id=f"RACE-{word}", kind=SAFETY, observable=True, requires=("EV-02", "EV-08"), source=_SOURCE, claim=claim,
        sites=_pairs(hazard), applies=always,
        assumptions=("EVENT-KEY", "SAME-PIPE", "LOAD-AFTER-LOAD", "SAME-TILE", "SCALAR-ISSUES", "DISTINCT-POINTERS",
                     "FLAG-IS-FENCE", *_READINGS),
        unneeded=_unneeded, undecided=lambda s: s.why, given=lambda s: not s.why,
        goal=lambda s: FALSE if s.why else s.ordered, shown=lambda s: s.run.given if s.run is not None else {},
        explain=_explain, help=_help, mutant=lambda s: True)


RULES = (
    _rule("RAW", Hazard.RAW, "what an op reads has been written before it starts"),
    _rule("WAR", Hazard.WAR, "what an op overwrites has been read before it starts"),
    _rule("WAW", Hazard.WAW, "writes to the same bytes land in program order"),
)
