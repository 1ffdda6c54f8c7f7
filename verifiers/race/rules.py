"""RACE: accesses of one core to the same bytes are ordered. One site for each pair of ops and way to conflict."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pypto_verified.index.cond import FALSE
from pypto_verified.targets.pipes import Hazard, barrier_holds
from verifiers.race.accesses import READINGS, is_global, tells_pointers_apart
from verifiers.race.again import EVENT_AGAIN
from verifiers.race.counters import COUNTERS
from verifiers.race.found import (
    BRANCH_TAKEN,
    PairSite,
    found_on_cores,
    hears,
    keep_to,
    not_by_branch,
    other_pipes,
    pair_site,
    when,
    why_open,
)
from verifiers.race.given_back import GIVEN_BACK
from verifiers.race.handover import HANDOVER
from verifiers.race.rests import told_by
from verifiers.race.sync import is_manual, waits_for_itself
from verifiers.race.visible import NOTIFY, VISIBLE
from verifiers.race.waiting import WAITING
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, op_text

_SOURCE = "PTO-ISA ordering-and-synchronization.md, TSync.hpp; PTOAS InsertSync"


def _pairs(hazard: Hazard) -> Callable[[Context], Iterator[PairSite]]:
    def sites(context: Context) -> Iterator[PairSite]:
        if context.explicit_sync or is_manual(context.program):
            for core in found_on_cores(context):
                for key, pair in core.flow.pairs.items():
                    if pair.hazard is hazard and not pair.second.releases:
                        run = core.runs.get(("order", key))
                        why = why_open(pair.fails, run, core.spared.get(("order", key), core.flow.blind))
                        if pair.open and not pair.fails:
                            why = other_pipes(pair)
                        elif why and run is None and (pair.first.somewhere or pair.second.somewhere):
                            why = f"which slot the pops of {pair.second.what} take is not told, {why}"
                        yield pair_site(context, pair, run, why)

    return sites


def _explain(s: PairSite, w: Witness) -> str:
    pair, run = s.pair, s.run
    first, second = pair.first, pair.second
    line = s.context.program.location(first.step.op).line
    where = run.place if run is not None else str(second.place)
    doing = {True: "writes", False: "reads"}
    earlier = f"{op_text(first.step.op)} at line {line} ({first.pipe})"
    one_pipe = first.pipe == second.pipe
    schedule = f"{second.pipe} may start it while {'the other' if one_pipe else first.pipe} still runs"
    return (
        f"{op_text(second.step.op)} ({second.pipe}) {doing[second.writes]} {where} of {second.what}, which {earlier} "
        f"{doing[first.writes]}: nothing orders the two, {schedule}{when(run) if run is not None else ''}")


def _help(s: PairSite) -> str:
    first, second = s.pair.first, s.pair.second
    if first.pipe != second.pipe:
        flag = f"set a flag {first.pipe} -> {second.pipe} after the first and wait for it before the second"
        return f"{flag}{_own_statements(s)}{keep_to(s.run)}"
    named = first.pipe if barrier_holds(s.context.target, first.pipe) else "ALL"
    return f"put a barrier of {named} between them{_own_statements(s)}{keep_to(s.run)}"


def _own_statements(s: PairSite) -> str:
    """What two ops of one line need first: `pl.exp(pl.mul(t, t))` has no place between them."""
    first, second = s.pair.first.step.op, s.pair.second.step.op
    lines = {s.context.program.location(op).line for op in (first, second)}
    return ", in a statement of its own each" if first is not second and len(lines) == 1 else ""


def _unneeded(s: PairSite) -> tuple[str, ...]:
    used = {s.pair.first.assumption, s.pair.second.assumption}
    other = told_by(s.context) if hears(s.context) else frozenset[str]()
    fence = () if is_global(s.pair.second) else ("FLAG-IS-FENCE",)
    selves = () if waits_for_itself(s.context.program) or "SELF-FLAG" in other else ("SELF-FLAG",)
    pointers = () if tells_pointers_apart(s.context.program, s.context.target) else ("DISTINCT-POINTERS",)
    taken = not_by_branch(s.run)
    return (*taken, *fence, *selves, *pointers, *(a for a in (*READINGS, *_HEARD) if a not in used | other))


_WRITES = {
    Hazard.RAW: "a writes and b reads", Hazard.WAR: "a reads and b writes", Hazard.WAW: "both write",
}
_HEARD = ("LANE-OFFSET", "SYNCALL-WAITS", "SYNC-LEFT")
"""What an answer of another core may rest on, beside what this core's own sync does."""


def _rule(word: str, hazard: Hazard, claim: str) -> Rule[PairSite]:
    return Rule(
        id=f"RACE-{word}",
        formula=f"bytes(a) and bytes(b) overlap, {_WRITES[hazard]} => a happens before b, for a before b in the text",
        kind=SAFETY, observable=True, requires=("EV-02", "EV-08"), source=_SOURCE, claim=claim,
        sites=_pairs(hazard), applies=always,
        assumptions=("EVENT-KEY", "SAME-PIPE", "SELF-FLAG", "LOAD-AFTER-LOAD", "SAME-TILE", "SCALAR-ISSUES",
                     "DISTINCT-POINTERS", "FLAG-IS-FENCE", BRANCH_TAKEN, *READINGS, *_HEARD),
        unneeded=_unneeded, undecided=lambda s: s.why, given=lambda s: not s.why,
        goal=lambda s: FALSE if s.why else s.ordered, shown=lambda s: s.run.given if s.run is not None else {},
        led=lambda s: s.led, explain=_explain, help=_help, mutant=lambda s: True)


RULES = (
    _rule("RAW", Hazard.RAW, "what an op reads has been written before it starts"),
    _rule("WAR", Hazard.WAR, "what an op overwrites has been read before it starts"),
    _rule("WAW", Hazard.WAW, "writes to the same bytes land in program order"),
    VISIBLE, NOTIFY, GIVEN_BACK, HANDOVER, EVENT_AGAIN, WAITING, COUNTERS,
)
