"""RACE: the slot of a popped tile is given back when all that uses it has run."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.records import dataclass
from verifiers.race.accesses import READINGS
from verifiers.race.found import (
    BRANCH_TAKEN,
    found_on_cores,
    led,
    not_by_branch,
    other_pipes,
    pair_site,
    when,
    why_open,
)
from verifiers.race.releases import fits, untold
from verifiers.race.sync import is_manual
from verifiers.race.walker import Pair
from verifiers.race.witness import Witness as Run
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text


@dataclass(frozen=True, slots=True)
class FreeSite(Site):
    """A free, and an earlier use of the tile whose slot it gives back; none if that is not told. `run`, `why`: as in
    PairSite."""

    pair: Pair | None
    run: Run | None
    why: str

    @property
    def early(self) -> bool:
        """Whether the slot is given back before its use has run, and written again."""
        return self.pair is not None and self.pair.fails and self.run is not None


def _sites(context: Context) -> Iterator[FreeSite]:
    program = context.program
    if not context.explicit_sync and not is_manual(program):
        return
    for step in untold(program, context.target):
        yield FreeSite(context, step.op, step.path, op_text(step.op), None, None, "which pop it belongs to is not told")
    for core in found_on_cores(context):
        for key, pair in core.flow.pairs.items():
            if pair.second.releases:
                yield _site(context, pair, core.runs.get(("order", key)), core.flow.blind)


def _site(context: Context, pair: Pair, run: Run | None, blind: str) -> FreeSite:
    made = pair_site(context, pair, run, why_open(pair.fails, run, blind))
    why = other_pipes(pair) if pair.open and not pair.fails else made.why
    few = fits(context.program, context.target, pipe_id(made.op))
    if why and run is None and context.ladder.entails(context.program.symbols.facts & context.assumed, few):
        why = ""
    return FreeSite(context, made.op, made.path, made.label, pair, run, why)


def _explain(s: FreeSite, w: Witness) -> str:
    if s.pair is None:
        return f"{op_text(s.op)} gives a slot back"
    first, second = s.pair.first, s.pair.second
    line = s.context.program.location(first.step.op).line
    does = "writes" if first.writes else "reads"
    return (
        f"{op_text(s.op)} gives the slot of {second.what} back when {second.pipe} has done its part, but {first.pipe} "
        f"still {does} it in {op_text(first.step.op)} at line {line}: the producer may write the next tile there"
        f"{when(s.run) if s.run is not None else ''}")


def _help(s: FreeSite) -> str:
    if s.pair is None:
        return "free each tile in the block that pops it"
    return f"set a flag {s.pair.first.pipe} -> {s.pair.second.pipe} after the last use and wait for it before the free"


def _unneeded(s: FreeSite) -> tuple[str, ...]:
    used = s.pair.first.assumption if s.pair is not None else ""
    return (*not_by_branch(s.run), *(a for a in READINGS if a != used))


GIVEN_BACK: Rule[FreeSite] = Rule(
    id="RACE-FREE",
    formula="a uses a popped tile => a happens before the free on its pipe, or pops(pipe) <= slots",
    kind=SAFETY, observable=True, requires=("EV-02", "XC-09"), source="PTO-ISA npu/a5 TPush.hpp, TFree.hpp",
    claim="what uses a popped tile has run when its slot is given back",
    sites=_sites, applies=always, assumptions=("EVENT-KEY", "SCALAR-ISSUES", BRANCH_TAKEN, *READINGS),
    led=lambda s: led(s.run, s.why), unneeded=_unneeded,
    undecided=lambda s: s.why, given=lambda s: not s.why,
    goal=lambda s: not s.early and not s.why,
    shown=lambda s: s.run.given if s.run is not None else {}, explain=_explain,
    help=_help,
    mutant=lambda s: True)
