"""FIFO: the pipes between cores. Each tile that one end pushes the other pops and frees, once, before the kernel
ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from pypto_verified.index import TRUE, Cond, IntLike, all_of, any_of, as_expr, eq, ne
from pypto_verified.index.cond import FALSE, as_cond
from pypto_verified.pto.lanes import first_lane_alone
from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.records import dataclass
from pypto_verified.targets.fifo import period
from verifiers.access import AccessProgram, Step
from verifiers.fifo_counts import Count, compared, runs, why_not
from verifiers.fifo_few import Moved, Uneven, uneven
from verifiers.fifo_slots import slots_of
from verifiers.fifo_turns import Stuck, several, stuck, unsure
from verifiers.pipes import LANES, Peer, facts_of, peers, used
from verifiers.race.copied import copied
from verifiers.race.rings import FREES
from verifiers.race.sides import sides_of
from verifiers.race.values import Values
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text

_SOURCE = "PTO-ISA TPush.hpp, TPop.hpp, class TPipe"
_PEER = {
    "pto.tpop_from_aic": "pto.tpush_to_aiv", "pto.tpop_from_aiv": "pto.tpush_to_aic",
    "pto.tpush_to_aiv": "pto.tpop_from_aic", "pto.tpush_to_aic": "pto.tpop_from_aiv",
}


@dataclass(frozen=True, slots=True)
class CountSite(Site):
    """An end of a pipe, seen by one lane: how often `own` runs here and `other` there; `shared`: the names that mean
    the same at both; `renumbered`: the ends number the pipe differently, and which waits first is not followed;
    `copies`: each pop gives its slot back by itself; `run`: one in which they differ, looked for where no form tells;
    `unsure`: why the ends may wait for each other, though no run has shown it; `slots`: of the pipe; `alone`: there is
    no text of the other end, which is taken to do as this one asks (assumption ABSENT-CORE); `beside`: why the other
    lane may hang though it moves no tile."""

    lane: int
    own: Count
    other: Count
    other_op: str
    shared: frozenset[str] | None
    stuck: tuple[Stuck, ...] = ()
    renumbered: bool = False
    unsure: str = ""
    slots: int = 1
    alone: bool = False
    copies: bool = False
    run: Uneven | None = None
    beside: str = ""

    @property
    def why(self) -> str:
        if self.run is not None:
            return ""
        if self.beside:
            return self.beside
        if self.alone:
            return "the text of the other end is not at hand" if self.context.strict else ""
        apart = self.shared is not None and not (self.own.names() | self.other.names()) <= self.shared
        past = self.stuck and self.context.target.on_chip_pipe
        return why_not(self.own, self.other) or (
            "the ends count by values of their own" if apart else
            "the two ends number their pipes differently" if self.renumbered else
            f"whether lines {self.stuck[0].own[1]} and {self.stuck[0].other[1]} wait for each other depends on what "
            "else their pipes do" if past else "")


def _ends(context: Context, *ops: str) -> Iterator[CountSite]:
    """The ops of this function that have a counterpart in another one, or would have one."""
    module, program = context.module, context.program
    if module is None or not any(s.op.name in INITS for s in program.steps):
        return
    facts = facts_of(id(module), tuple(module.funcs), context.target.name)
    for op in ops:
        for pipe in used(program, op):
            first = next(s for s in program.steps if s.op.name == op and pipe_id(s.op) == pipe)
            others = peers(program, facts, pipe)
            for lane in _lanes(context, first):
                for peer in others:
                    yield _end(context, first, pipe, peer, lane)
                if not others:
                    own = runs(program, op, pipe, lane)
                    yield CountSite(context, first.op, TRUE, f"{op_text(first.op)} pipe {pipe} lane {lane}", lane, own,
                                    own, _PEER[op].removeprefix("pto."), None, alone=True)


def _lanes(context: Context, first: Step) -> tuple[int, ...]:
    """The lanes that take part: both, but of an unsplit transfer on a5 the first alone."""
    alone = context.target.on_chip_pipe and not first.op.attrs.get("split")
    return LANES[:1] if alone else LANES


def _end(context: Context, first: Step, pipe: int, peer: Peer, lane: int) -> CountSite:
    op, other = first.op.name, _PEER[first.op.name]
    turns = op in FREES and several(context.program)
    found, why = _waits(context, peer, lane) if turns and peer.id == pipe else ((), "")
    mine, theirs = peer.reads
    site = CountSite(
        context, first.op, TRUE, f"{op_text(first.op)} pipe {pipe} lane {lane}", lane,
        _runs(context, context.program, op, pipe, lane).renamed(mine),
        _runs(context, peer.program, other, peer.id, lane).renamed(theirs),
        other.removeprefix("pto."), peer.known, found, turns and peer.id != pipe, why,
        beside=_beside(context, first, pipe))
    if not (why_not(site.own, site.other) or _in_turns(site, _no_more(site))):
        return site
    ends = Moved(context.program, op, pipe, lane), Moved(peer.program, other, peer.id, lane, peer.known)
    return replace(site, run=uneven(context, *ends, lambda a, b: a <= b))


def _beside(context: Context, first: Step, pipe: int) -> str:
    """Of whole tiles to the cube, which on a5 gives their slots back to the first vector core alone: the end of a pipe
    waits for all of them, on the second one too if that makes the pipe (PTO-ISA npu/a5 TPush.hpp, ~TPipe)."""
    program = context.program
    if first.op.name != "pto.tpush_to_aic" or first.op.attrs.get("split") or not context.target.on_chip_pipe:
        return ""
    skipped = first_lane_alone(program.func, context.target)
    made = [s for s in program.steps if s.op.name in INITS and pipe_id(s.op) == pipe and s.op not in skipped]
    if not any(s.path is TRUE for s in made):
        return ""
    return ("the second vector core makes this pipe too, and in the end it waits for slots that only the first one is "
            "given back; an op that asks for the lane keeps the assembler from leaving all of it to the first")


def _runs(context: Context, program: AccessProgram, op: str, pipe: int, lane: int) -> Count:
    """How often a lane runs an op; what the first one runs alone the other never does."""
    alone = first_lane_alone(program.func, context.target) if lane else frozenset()
    if any(s.op in alone for s in program.steps if s.op.name == op and pipe_id(s.op) == pipe):
        return Count()
    return runs(program, op, pipe, lane)


def _waits(context: Context, peer: Peer, lane: int) -> tuple[tuple[Stuck, ...], str]:
    """(runs in which both ends wait for each other, with sizes that are not ruled out; why there may be others)."""
    asked = context.program, peer, lane, _slots(context), context.target
    found = tuple(s for s in stuck(*asked) if Values(context.program, s.given).holds(context.assumed))
    why = "" if found else unsure(*asked)
    return found, "" if why and _followed(context, peer) else why


def _followed(context: Context, peer: Peer) -> bool:
    """Whether no core waits for ever where both are followed side by side (see `race.together`)."""
    sides = sides_of(context)
    return sides is not None and any(p.program.func is peer.program.func for p in sides.parts) and not sides.why


def _slots(context: Context) -> tuple[tuple[int, int], ...]:
    """The pipes of a function, with their slots."""
    transfers = (s for s in context.program.steps if s.op.name in _PEER)
    return tuple(sorted({pipe_id(s.op): slots_of(context, s) for s in transfers}.items()))


def _goes_on(s: CountSite) -> Cond:
    """That the sizes are none of those with which both ends wait."""
    shown = s.context.program.symbols.shown
    return all_of(any_of(ne(shown[n].expr, v) for n, v in run.given.items()) for run in s.stuck)


def _no_more(s: CountSite) -> Cond:
    if s.why or s.run is not None:
        return FALSE
    return TRUE if s.alone else compared(s.own, s.other, lambda a, b: a <= b)


def _in_turns(s: CountSite, goal: Cond) -> str:
    """Why nothing is refuted: turns in which a condition holds are a number with a name, that may be 0 in every run."""
    named = (s.own.turns | s.other.turns) if s.run is None else ()
    return "in how many turns a condition holds is not known" if named and goal is not TRUE else ""


def _open(s: CountSite) -> bool:
    """Whether nothing is wrong but that the ends may wait for each other."""
    return bool(s.unsure) and _no_more(s) is TRUE


def _how_often(s: CountSite, w: Witness) -> tuple[int, int]:
    """Both counts at the numbers of a witness."""
    if s.run is not None:
        return s.run.own, s.run.other
    both = [
        sum(w(times) for conditions, times in count.terms if all(_holds(c, w) for c in conditions))
        for count in (s.own, s.other)]
    return both[0], both[1]


def _holds(c: Cond, w: Witness) -> bool:
    if c.kind in ("nonneg", "zero") and c.expr is not None:
        return w(c.expr) >= 0 if c.kind == "nonneg" else w(c.expr) == 0
    if c.kind == "not":
        return not _holds(c.parts[0], w)
    if c.kind in ("and", "or"):
        found = [_holds(p, w) for p in c.parts]
        return all(found) if c.kind == "and" else any(found)
    return c.kind == "true"


def _sizes(s: CountSite) -> Mapping[str, int]:
    """Those of the run in which the counts differ."""
    return s.run.given if s.run is not None else {}


def _times(n: int) -> str:
    return {0: "never", 1: "once"}.get(n, f"{n} times")


def _unneeded(s: CountSite) -> tuple[str, ...]:
    return () if s.alone else ("ABSENT-CORE",)


def _explain_pop(s: CountSite, w: Witness) -> str:
    own, other = _how_often(s, w)
    if own <= other and s.stuck:
        (mine, line), (theirs, there) = s.stuck[0].own, s.stuck[0].other
        return (f"{mine} at line {line} waits for the other end, which waits for this one in {theirs} at line {there}: "
                "neither goes on")
    return (f"{op_text(s.op)} runs {_times(own)} on lane {s.lane}, but the other end runs {s.other_op} "
            f"{_times(other)}: a pop waits for ever")


FIFO_POP: Rule[CountSite] = Rule(
    id="FIFO-POP",
    formula="pops(pipe) <= pushes(pipe) at the end, and no end waits for one that waits for it",
    kind=SAFETY, observable=True, requires=("XC-09",), source=_SOURCE,
    claim="nothing is popped that is not pushed",
    sites=lambda c: _ends(c, *FREES), applies=always, assumptions=("ABSENT-CORE", "LANE-INDEX"), unneeded=_unneeded,
    given=lambda s: not s.why and not _open(s) and not _in_turns(s, _no_more(s)),
    undecided=lambda s: s.why or s.unsure or _in_turns(s, _no_more(s)),
    goal=lambda s: FALSE if _open(s) else _no_more(s) & _goes_on(s), shown=_sizes,
    explain=_explain_pop,
    help=lambda s: (
        "push at one end before the pop that waits" if s.stuck else
        "push as often as is popped: the loops and branches around both ends must agree"),
    mutant=lambda s: as_cond(bool(s.other.terms)),
)


def _explain_drain(s: CountSite, w: Witness) -> str:
    own, other = _how_often(s, w)
    return (f"{op_text(s.op)} runs {_times(own)}, but the other end runs {s.other_op} {_times(other)} on lane "
            f"{s.lane}: what is left in the pipe is what the next kernel pops, or nobody frees its slot")


FIFO_DRAIN: Rule[CountSite] = Rule(
    id="FIFO-DRAIN",
    formula="pushes(pipe) <= pops(pipe) at the end",
    kind=SAFETY, observable=True, requires=("XC-09",), source=_SOURCE,
    claim="everything that is pushed is popped before the kernel ends",
    sites=lambda c: _ends(c, "pto.tpush_to_aiv", "pto.tpush_to_aic"), applies=always,
    assumptions=("ABSENT-CORE", "LANE-INDEX"), unneeded=_unneeded,
    given=lambda s: not s.why and not _in_turns(s, _no_more(s)),
    undecided=lambda s: s.why or _in_turns(s, _no_more(s)), goal=_no_more, shown=_sizes,
    explain=_explain_drain,
    help=lambda s: "pop as often as is pushed: the loops and branches around both ends must agree",
    mutant=lambda s: as_cond(bool(s.other.terms)),
)


def _frees(context: Context) -> Iterator[CountSite]:
    """The pops of this function and its own frees, where these do anything: on a2a3 the free of a copied tile does
    not."""
    program, chip = context.program, context.target
    for op, free in FREES.items():
        for pipe in used(program, op):
            copies = copied(program, op, pipe, chip)
            if copies and not chip.on_chip_pipe and not context.strict:
                continue
            first = next(s for s in program.steps if s.op.name == op and pipe_id(s.op) == pipe)
            for lane in _lanes(context, first):
                site = CountSite(
                    context, first.op, TRUE, f"{op_text(first.op)} pipe {pipe} lane {lane}", lane,
                    runs(program, op, pipe, lane), runs(program, free, pipe, lane), free.removeprefix("pto."), None,
                    slots=slots_of(context, first), copies=copies and chip.on_chip_pipe)
                if why_not(site.own, site.other) or _in_turns(site, _freed(site)):
                    ends = Moved(program, op, pipe, lane), Moved(program, free, pipe, lane)
                    yield replace(site, run=uneven(context, *ends, partial(_is_freed, site)))
                else:
                    yield site


def _all_freed(s: CountSite, pops: IntLike, frees: IntLike) -> Cond:
    """That each tile is freed, by its pop or after it, or the pipe ends before a free would have told the producer
    anything."""
    own, freed = as_expr(pops), as_expr(frees)
    return eq(freed, 0 if s.copies else own) | ((freed <= own) & (own < period(s.slots)))


def _is_freed(s: CountSite, pops: int, frees: int) -> bool:
    return _all_freed(s, pops, frees) is TRUE


def _freed(s: CountSite) -> Cond:
    return FALSE if s.why or s.run is not None else compared(s.own, s.other, partial(_all_freed, s))


def _explain_free(s: CountSite, w: Witness) -> str:
    own, other = _how_often(s, w)
    if s.copies:
        return (f"{op_text(s.op)} runs {_times(own)} on lane {s.lane}, copies each tile and gives its slot back; "
                f"{s.other_op} gives it back once more, {_times(other)}: the producer writes slots that are in use")
    effect = "the producer waits for a slot for ever" if other < own else "the producer writes slots that are in use"
    return f"{op_text(s.op)} runs {_times(own)} on lane {s.lane}, {s.other_op} {_times(other)}: {effect}"


FIFO_FREE: Rule[CountSite] = Rule(
    id="FIFO-FREE",
    formula="frees(pipe) = pops(pipe) at the end, 0 where pops copy tiles out of global memory, or pops(pipe) < the "
            "tiles that one credit stands for",
    kind=SAFETY, observable=False, requires=("XC-09",), source=_SOURCE,
    claim="each popped slot is freed once, unless the pipe ends before its producer is told of any",
    unseen="the kernel may end before a slot is missed",
    sites=_frees, applies=always, assumptions=("LANE-INDEX", "FREE-NEEDED"),
    given=lambda s: not s.why and not _in_turns(s, _freed(s)), undecided=lambda s: s.why or _in_turns(s, _freed(s)),
    goal=_freed, shown=_sizes, explain=_explain_free,
    help=lambda s: (
        "leave the free out: the pop has copied the tile" if s.copies else
        "free each popped tile once, after its last use"),
    mutant=lambda s: as_cond(bool(s.other.terms)),
)


RULES = (FIFO_POP, FIFO_DRAIN, FIFO_FREE)
