"""RACE: what one core leaves in global memory for another is handed over by a flag, a push or a meeting of both."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from pypto_verified.index import all_of
from pypto_verified.index.cond import TRUE
from pypto_verified.records import dataclass
from verifiers.race.accesses import READINGS
from verifiers.race.choices import choices
from verifiers.race.cluster import Cluster
from verifiers.race.dealings import Between, Key, Touch
from verifiers.race.lanes import lanes_of, pairs_of_lanes
from verifiers.race.members import LANE, ON_ALL_CORES, Member, lane_of, meets_both
from verifiers.race.on_chip import shared_on_chip
from verifiers.race.parts import Part, deciding_both, parts_of, shared_by
from verifiers.race.rests import ORDERS, unneeded
from verifiers.race.shown import hidden, taken_to_see
from verifiers.race.sides import Sides, sides_of
from verifiers.race.sync import is_manual
from verifiers.race.values import Values
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text
from verifiers.solver.cone import conjuncts, names_of

MOST_RUNS = 24
"""Choices of numbers that are tried for a kernel."""


@dataclass(frozen=True, slots=True)
class CoreSite(Site):
    """Two accesses of different cores that may share bytes of global memory. `given`: numbers for which nothing orders
    them; `why`: what keeps them from being decided."""

    pair: Between
    fails: bool
    given: tuple[tuple[str, int], ...]
    why: str


def walk_cores(
    context: Context, parts: list[Part], given: dict[str, int], symbolic: bool, eager: str = "",
    touches: bool = True,
) -> Cluster:
    """Both cores of a kernel together, under these numbers."""
    lane, members = given.get(LANE, 0), members_of(parts, given)
    automatic = not context.explicit_sync and not any(is_manual(p.program) for p in parts)
    if symbolic:
        for member in members:
            member.shared = shared_by(parts, context.target)
    found = Cluster(members, context.target, symbolic, automatic, lane, eager, context.strict, touches)
    found.run()
    return found


def members_of(parts: list[Part], given: dict[str, int]) -> list[Member]:
    """The cores of a kernel, with the lane that the numbers name."""
    lane = given.get(LANE, 0)
    return [
        Member(p.kind, p.program, p.foreign_to(lane), Values(p.program, {**given, LANE: lane_of(p.kind, lane)}),
               pipes=p.pipe_names())
        for p in parts]


def _sites(context: Context) -> Iterator[CoreSite]:
    yield from _between_kinds(context)
    yield from _between_lanes(context)
    yield from _on_chip(context)


def _between_lanes(context: Context) -> Iterator[CoreSite]:
    """What one vector core of a cube writes and the other may read, or write by another op. How they order that is not
    followed: each is walked beside its cube."""
    own, entails = context.program, context.ladder.entails
    shared = {n for n, kind in own.symbols.kinds.items() if kind in ON_ALL_CORES}
    known = all_of(c for c in conjuncts(own.symbols.facts & context.assumed) if names_of(c) <= shared)
    for part in parts_of(context):
        if part.kind != "vector" or part.program is not own:
            continue
        member, (one, other) = Member(part.kind, own, part.foreign, Values(own, {})), lanes_of(own)
        for write, there in pairs_of_lanes(own, part.foreign, context.target):
            pair = Between(Touch(-1, member, write, write.place), Touch(-1, member, there, there.place), False)
            op, line = op_text(there.step.op), own.location(write.step.op).line
            label = f"{op} (one vector core) after {op_text(write.step.op)} line {line} (the other)"
            does = "writes too" if there.writes else "reads"
            why = (f"whether the vector core that {does} waits for the other's {op_text(write.step.op)} at line {line} "
                   "is not followed")
            open_ = not all(entails(known, c) for c in (
                one.keeps_from(write, other, there), other.keeps_from(write, one, there)))
            yield CoreSite(context, there.step.op, there.step.path, label, pair, False, (), why if open_ else "")


def _on_chip(context: Context) -> Iterator[CoreSite]:
    """On a5 a cube writes and reads the memory of its vector cores, and they its own. How they order that is not
    followed."""
    own = context.program
    for one, a, other, b in shared_on_chip(parts_of(context), context.target):
        if other.program is own:
            first, second = (
                Touch(-1, Member(p.kind, p.program, p.foreign, Values(p.program, {})), access, access.place)
                for p, access in ((one, a), (other, b)))
            there = f"{op_text(a.step.op)} at line {own.location(a.step.op).line} of the {one.kind} core"
            label = f"{op_text(b.step.op)} ({other.kind} core) beside {there}"
            why = f"whether the cores order {there} and this one, which share bytes of {b.what}, is not followed"
            yield CoreSite(context, b.step.op, b.step.path, label, Between(first, second, False), False, (), why)


def _between_kinds(context: Context) -> Iterator[CoreSite]:
    parts, sides = parts_of(context), sides_of(context)
    if sides is None or not sides.meeting:
        return
    own, named = context.program, deciding_both(parts)
    tried = list(islice(choices(own, own.symbols.facts & context.assumed), MOST_RUNS)) or [{}]
    walks = [walk_cores(context, parts, {**tried[0], LANE: lane}, symbolic=True) for lane in (0, 1)]
    why = next((w.blind or "a core waits for ever for the other" for w in walks if w.blind or w.stuck), "")
    mixed = next((w.mixed for w in walks if w.mixed), "")
    broken, met = _broken(context, parts, tried) if not why else ({}, {})
    pairs = _pairs(_joined(walks), met, walks[0], sides)
    for key, pair in pairs.items():
        second = pair.second
        if second.member.program is not own:
            continue
        given, asked = broken.get(key, ({}, frozenset()))
        fails = key in broken and not asked
        turned = (*key[2:], *key[:2])
        judged = (key,) if turned in pairs else (key, turned)
        unsure = "" if fails or sides.ordered(*judged) else _unsure(pair, walks, sides, why or mixed)
        (one, a), (other, b) = ((t.member, t.access) for t in (pair.first, second))
        cores = ((one.program, one.foreign), (other.program, other.foreign))
        unsure = unsure or ("" if fails else hidden(a, cores[0], b, cores[1], context.target, context.strict))
        if not fails and pair.open and unsure:
            unsure = f"it depends on {', '.join(sorted(asked))}" if asked else unsure
        first, line = pair.first.access.step.op, own.location(pair.first.access.step.op).line
        label = f"{op_text(second.access.step.op)} ({second.member.kind} core) after {op_text(first)} line {line}"
        shown = tuple((n, v) for n, v in given.items() if n in named)
        yield CoreSite(
            context, second.access.step.op, second.access.step.path, label, pair, fails, shown, unsure)


def _pairs(
    known: dict[Key, Between], met: dict[Key, Between], walk: Cluster, sides: Sides
) -> dict[Key, Between]:
    """All pairs that may share bytes, in the order in which some run met them, if one did."""
    found = dict(known)
    cube, vector = sorted(walk.members, key=lambda m: m.kind)
    rest = {
        (cube.kind, a.step.index, vector.kind, b.step.index): Between(
            Touch(-1, cube, a, a.place), Touch(-1, vector, b, b.place), False, False)
        for a, b in sides.meeting.values()}
    for key, pair in met.items():
        found.setdefault(key, pair)
    for key, pair in rest.items():
        if (*key[2:], *key[:2]) not in found:
            found.setdefault(key, pair)
    return found


def _unsure(pair: Between, walks: list[Cluster], sides: Sides, why: str) -> str:
    """What keeps a pair from being known to be ordered in every run; '' if nothing in the order of the text does."""
    followed = not any(m.why for w in walks for m in w.members)
    if not why and not pair.open and (followed or (pair.parted and not any(map(_meets_by_turns, walks[0].members)))):
        return ""
    return why or sides.unordered or "that the two cores tell each other of it in each turn of their loops is not known"


def _meets_by_turns(member: Member) -> bool:
    """Whether a core comes to a meeting of both in a loop or a branch: how many it has come to before another one, and
    which of the other core's that is, then depends on more than the text."""
    return any(meets_both(step) and (step.loops or step.path is not TRUE)
               for step in member.program.steps if step.op not in member.foreign)


def _joined(walks: list[Cluster]) -> dict[Key, Between]:
    """Pairs that any lane has, each as bad as in any of them."""
    found: dict[Key, Between] = {}
    for walk in walks:
        for key, pair in walk.pairs.items():
            known = found.setdefault(key, pair)
            known.open |= pair.open
            known.parted &= pair.parted
    return found


def _broken(
    context: Context, parts: list[Part], tried: list[dict[str, int]]
) -> tuple[dict[Key, tuple[dict[str, int], frozenset[str]]], dict[Key, Between]]:
    """Pairs that some run leaves open, with its numbers and what it depends on; and all that one met."""
    found: dict[Key, tuple[dict[str, int], frozenset[str]]] = {}
    met: dict[Key, Between] = {}
    rest = ({n: v for n, v in given.items() if n != LANE} for given in tried)
    on_lanes = product({tuple(sorted(given.items())): given for given in rest}.values(), (0, 1))
    for numbers, lane in islice(on_lanes, MOST_RUNS) if LANE in tried[0] else on_lanes:
        given = {**numbers, LANE: lane} if LANE in tried[0] else numbers
        run = walk_cores(context, parts, {**given, LANE: lane}, symbolic=False)
        asked = frozenset(n for m in run.members for n in m.values.asked)
        for key, pair in run.pairs.items() if not run.blind else ():
            met.setdefault(key, pair)
            if pair.open and (key not in found or (found[key][1] and not asked)):
                found[key] = given, asked
    return found, met


def _explain(s: CoreSite, w: Witness) -> str:
    first, second = s.pair.first, s.pair.second
    line = s.context.program.location(first.access.step.op).line
    does = {True: "writes", False: "reads"}
    return (
        f"{op_text(s.op)} of the {second.member.kind} core {does[second.access.writes]} {second.access.what}, which "
        f"{op_text(first.access.step.op)} at line {line} of the {first.member.kind} core {does[first.access.writes]}: "
        "nothing orders the two cores")


def _unneeded(s: CoreSite) -> tuple[str, ...]:
    first, second = s.pair.first.access, s.pair.second.access
    shows = not s.context.strict and taken_to_see(first, second)
    used = {first.assumption, second.assumption, "CORES-SEE" if shows else ""}
    return tuple(a for a in unneeded(s.context, (*ORDERS, *READINGS, "CORES-SEE")) if a not in used)


HANDOVER: Rule[CoreSite] = Rule(
    id="RACE-CORE",
    formula="bytes(a) and bytes(b) overlap, and one writes => a before b or b before a, a and b on two cores",
    kind=SAFETY, observable=True, requires=("EV-06",), source="PTO-ISA set_cross_core, TPush.hpp",
    claim="accesses of two cores to the same bytes are ordered by a flag, a push or a barrier of both cores",
    sites=_sites, applies=always, assumptions=("DISTINCT-POINTERS", "CORES-SEE", *ORDERS, *READINGS),
    unneeded=_unneeded,
    undecided=lambda s: s.why, given=lambda s: not s.why,
    goal=lambda s: not s.fails and not s.why, shown=lambda s: dict(s.given), explain=_explain,
    help=lambda s: "set a flag between the cores after the first and wait for it before the second, or push the tile",
    mutant=lambda s: True)
