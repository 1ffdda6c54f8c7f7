"""EVENT: that a flag is free in program order does not keep the setting pipe from running ahead of the wait before."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.records import dataclass
from verifiers.race.found import BRANCH_TAKEN, found_on_cores, led, not_by_branch, when, why_open
from verifiers.race.sync import is_manual
from verifiers.race.walker import Again
from verifiers.race.witness import Witness as Run
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text


@dataclass(frozen=True, slots=True)
class AgainSite(Site):
    """A set of a flag after a wait for the same one. `run`: one in which nothing keeps it behind the wait; `why`: what
    keeps them from being decided."""

    again: Again
    run: Run | None
    why: str


def _sites(context: Context) -> Iterator[AgainSite]:
    """Under the stricter reading alone (assumption FLAG-WAITS)."""
    for core in found_on_cores(context) if context.strict and is_manual(context.program) else ():
        for key, again in core.flow.again.items():
            step, line = again.set.step, context.program.location(again.wait.op).line
            run = core.runs.get(("again", key)) if again.open else None
            label = f"{op_text(step.op)} after {op_text(again.wait.op)} line {line}"
            yield AgainSite(
                context, step.op, step.path, label, again, run, why_open(again.open, run, core.flow.blind))


def _explain(s: AgainSite, w: Witness) -> str:
    source, line = s.again.set.pair[0], s.context.program.location(s.again.wait.op).line
    return (
        f"{op_text(s.op)} sets flag {' -> '.join(s.again.set.pair)} while nothing keeps {source} behind the wait at "
        f"line {line}: the flag may still be set{when(s.run) if s.run is not None else ''}")


EVENT_AGAIN: Rule[AgainSite] = Rule(
    id="EVENT-AGAIN",
    formula="wait(flag, n) happens before set(flag, n + 1)",
    kind=SAFETY, observable=True, requires=("EV-03",), source="PTO-ISA event.hpp",
    claim="a flag is set again only after the wait for its last set has run",
    sites=_sites, applies=always, assumptions=("EVENT-KEY", "FLAG-WAITS", BRANCH_TAKEN),
    unneeded=lambda s: not_by_branch(s.run), led=lambda s: led(s.run, s.why),
    undecided=lambda s: s.why, given=lambda s: not s.why, goal=lambda s: not s.again.open,
    shown=lambda s: s.run.given if s.run is not None else {}, explain=_explain,
    help=lambda s: f"let {s.again.set.pair[1]} tell {s.again.set.pair[0]} when the wait is over, or take ids in turn",
    mutant=lambda s: True)
