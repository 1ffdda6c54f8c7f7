"""RACE: what no flag does. An order between two pipes makes nothing visible in global memory, and no assembler adds the
fences that do."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import TRUE
from pypto_verified.records import dataclass
from pypto_verified.targets.pipes import CACHE, FENCE
from verifiers.race.found import BRANCH_TAKEN, PairSite, found_on_cores, not_by_branch, pair_site, when, why_open
from verifiers.race.sync import is_manual
from verifiers.race.walker import Notice
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text


@dataclass(frozen=True, slots=True)
class NoticeSite(Site):
    """A write to global memory and a notification that another device takes for its end."""

    notice: Notice
    why: str


def _hidden(context: Context) -> Iterator[PairSite]:
    """Reads of global memory that an order alone does not make valid."""
    if context.explicit_sync or is_manual(context.program):
        for core in found_on_cores(context):
            for key, pair in core.flow.pairs.items():
                if pair.fences:
                    run = core.runs.get(("seen", key))
                    yield pair_site(context, pair, run, why_open(pair.unseen, run, core.flow.blind))


def _notices(context: Context) -> Iterator[NoticeSite]:
    """Notifications and the writes before them, whoever orders the pipes: no assembler adds fences."""
    if any(step.op.name == "pto.comm.tnotify" for step in context.program.steps):
        for core in found_on_cores(context):
            for notice in core.flow.notices.values():
                line = context.program.location(notice.write.step.op).line
                label = f"{op_text(notice.step.op)} after {op_text(notice.write.step.op)} line {line}"
                why = "it depends on the path" if notice.early and notice.step.path is not TRUE else ""
                if core.flow.given_up and not notice.early:
                    why = core.flow.blind
                yield NoticeSite(context, notice.step.op, notice.step.path, label, notice, why)


_FENCED = {
    CACHE: "clean the data cache (pto.cmo.cacheinvalid)", FENCE: "put pto.fence.barrier_all #pto.fence_scope<gm>",
}


def _explain_hidden(s: PairSite, w: Witness) -> str:
    pair, run = s.pair, s.run
    line = s.context.program.location(pair.first.step.op).line
    where = run.place if run is not None else str(pair.second.place)
    return (
        f"{op_text(pair.second.step.op)} ({pair.second.pipe}) reads {where} of {pair.second.what}, which "
        f"{op_text(pair.first.step.op)} at line {line} ({pair.first.pipe}) writes: {_ORDERED[pair.fails]}"
        f"{when(run) if run is not None else ''}")


_ORDERED = {
    False: "a flag orders the two, but makes no global memory visible",
    True: "nothing makes it visible, whatever orders the two",
}


VISIBLE: Rule[PairSite] = Rule(
    id="RACE-VISIBLE",
    formula="write, fence or clean of the cache, read, in this order",
    kind=SAFETY, observable=True, requires=("EV-02",), source="PTO-ISA; PTOAS#730",
    claim="what is read back from global memory has been made visible to the unit that reads it",
    sites=_hidden, applies=always, assumptions=("FLAG-IS-FENCE", "DISTINCT-POINTERS", BRANCH_TAKEN),
    unneeded=lambda s: not_by_branch(s.run), led=lambda s: s.led, undecided=lambda s: s.why, given=lambda s: not s.why,
    goal=lambda s: not s.pair.unseen, shown=lambda s: s.run.given if s.run is not None else {},
    explain=_explain_hidden,
    help=lambda s: f"{_FENCED[s.pair.fences[0]]} between them, or keep the value on chip", mutant=lambda s: True)


def _explain_early(s: NoticeSite, w: Witness) -> str:
    write = s.notice.write
    line = s.context.program.location(write.step.op).line
    return (
        f"{op_text(s.op)} tells another device that data is there, but {op_text(write.step.op)} at line {line} may "
        f"still be writing {write.what}: no fence stands between")


NOTIFY: Rule[NoticeSite] = Rule(
    id="RACE-NOTIFY",
    formula="write, fence of global memory, notification, in this order",
    kind=SAFETY, observable=False, requires=("EV-02",), source="PTOAS#711, PTOAS#872",
    unseen="the other device is not part of a run",
    claim="a fence of global memory stands between a write and the notification that it is there",
    sites=_notices, applies=always, undecided=lambda s: s.why, given=lambda s: not s.why,
    goal=lambda s: not s.notice.early and not s.why,
    explain=_explain_early,
    help=lambda s: "put pto.fence.barrier_all #pto.fence_scope<gm> before the notification", mutant=lambda s: True)
