"""SPLIT: the two vector lanes of a core share a tile of a pipe. Each lane finds its part of a slot by its own valid
extents alone, so these have to fit each other and the other end."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, Expr, all_of, any_of, as_expr, eq
from pypto_verified.index.cond import FALSE, TRUE, as_cond
from pypto_verified.layouts import Space
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.records import dataclass
from pypto_verified.targets import split as equations
from pypto_verified.targets.split import Split
from verifiers.op_sites import AXES, empty
from verifiers.pipes import LANES, Match, Peer, Transfer, facts_of, matched, peers, through_memory, transfers, used
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text

_SOURCE = "PTO-ISA npu/a2a3 TPush.hpp, TPop.hpp; SPLIT-COVER"
_ON_VECTOR = ("pto.tpop_from_aic", "pto.tpush_to_aic")


@dataclass(frozen=True, slots=True)
class LaneSite(Site):
    """A split transfer as the two lanes do it."""

    code: Split
    rows: tuple[Expr, Expr]
    cols: tuple[Expr, Expr]
    why: str = ""

    @property
    def cut(self) -> tuple[Expr, Expr]:
        """Extents on the axis that is cut."""
        return self.rows if self.code.axis == 0 else self.cols

    @property
    def whole(self) -> tuple[Expr, Expr]:
        """Extents on the other one."""
        return self.cols if self.code.axis == 0 else self.rows


def _lanes(context: Context) -> Iterator[LaneSite]:
    program = context.program
    for op in _ON_VECTOR:
        for id in used(program, op):
            first, second = (transfers(program, op, id, lane) for lane in LANES)
            for match in matched(first, second):
                a, b = match.own, match.other
                if a.split.axis is None:
                    continue
                same = a.step is b.step or (len(first) == len(second) and a.split == b.split)
                why = match.why or ("" if same else "the two lanes run different transfers")
                label = f"{op_text(a.step.op)} {a.tile.name}"
                yield LaneSite(
                    context, a.step.op, a.path & b.path, label, a.split, (a.rows, b.rows), (a.cols, b.cols), why)


def _matched(s: LaneSite | EndSite, goal: Cond) -> Cond:
    """The goal about a transfer whose counterpart is known: about another one, nothing is proved or refuted."""
    return FALSE if s.why else goal


def _fit(s: LaneSite) -> Cond:
    first, second = s.cut
    return _matched(s, any_of((
        empty(second, s.whole[1]),
        all_of((eq(first, second + int(s.code.odd)), eq(*s.whole))))))


def _lane_extents(s: LaneSite, w: Witness) -> str:
    both = [f"[{w(s.rows[i])}, {w(s.cols[i])}]" for i in LANES]
    wanted = "one line more than" if s.code.odd else "as many as"
    return (
        f"{op_text(s.op)} with split {s.code.code} ({s.code.name}): lane 0 has {both[0]}, lane 1 {both[1]} valid "
        f"elements; lane 1 looks for its part behind {w(s.cut[1])} {AXES[s.code.axis or 0]}"
        f"{' and one' if s.code.odd else ''}, which is right only if lane 0 has {wanted} lane 1")


SPLIT_LANES: Rule[LaneSite] = Rule(
    id="SPLIT-LANES", kind=SAFETY, observable=False, requires=("XC-04", "XC-08", "XC-11", "VF-01"), source=_SOURCE,
    claim="the lanes of a split have equal parts, or lane 0 one line more where the split is odd, or lane 1 has none",
    unseen="a run moves the rectangles that the two ends name, whatever they were meant to be",
    sites=_lanes, applies=always, assumptions=("LANE-INDEX",),
    given=lambda s: not s.why, undecided=lambda s: s.why,
    goal=_fit, explain=_lane_extents,
    help=lambda s: "let each lane transfer its half of the box, and restore the valid shape after the pop",
    mutant=lambda s: any_of((empty(s.cut[1], s.whole[1]), s.cut[0] >= s.cut[1])),
)


@dataclass(frozen=True, slots=True)
class EndSite(Site):
    """A pop and the push that fills its slot, for one lane. `rows` x `cols` is what is popped, at `pitch`; `written` is
    the pitch of the push; `apart`: where pitches do not matter. `codes` are the splits of pop and push; `unmatched`:
    why it may be another push."""

    lane: int
    rows: Expr
    cols: Expr
    pitch: Expr
    written: Expr
    apart: Cond
    pusher: str
    codes: tuple[int, int]
    why: str = ""
    unmatched: str = ""


def meetings(context: Context) -> Iterator[tuple[Match, Peer, int, bool]]:
    """Pops of this function with the pushes of a peer: (both, the peer, the lane, whether the cube core pops)."""
    module, program = context.module, context.program
    if module is None or not any(s.op.name.startswith("pto.tpop_from") for s in program.steps):
        return
    facts = facts_of(id(module), tuple(module.funcs), context.target.name)
    for op, pushes in (("pto.tpop_from_aic", "pto.tpush_to_aiv"), ("pto.tpop_from_aiv", "pto.tpush_to_aic")):
        for pipe in used(program, op):
            for peer in peers(program, facts, pipe):
                for lane in LANES:
                    own = transfers(program, op, pipe, lane)
                    others = transfers(peer.program, pushes, peer.id, lane)
                    for match in matched(own, others, peer):
                        yield match, peer, lane, op.endswith("aiv")


def _ends(context: Context) -> Iterator[EndSite]:
    return (_end(context, *met) for met in meetings(context))


def _end(context: Context, match: Match, peer: Peer, lane: int, to_cube: bool) -> EndSite:
    pop, push = match.own, match.other
    if to_cube:
        written = equations.pushed(push.split, push.rows, push.cols, lane).pitch
        pitch, nothing = pop.cols, empty(push.rows, push.cols)
        apart = any_of((nothing, empty(pop.rows, pop.cols), pop.rows <= 1))
    else:
        written = push.cols
        pitch = as_expr(equations.popped(pop.split, pop.rows, pop.cols, lane).pitch)
        # Lane 1 of halves of rows starts at a row of its own pitch.
        single = FALSE if pop.split.axis == 0 and lane else as_cond(pop.rows <= 1)
        apart = any_of((single, empty(pop.rows, pop.cols)))
    known = peer.comparable(push.rows, push.cols) or (push.rows is pop.rows and push.cols is pop.cols)
    why = match.why or ("" if known else "the extents at the other end are values of another function")
    place = peer.program.location(push.step.op)
    label = f"{op_text(pop.step.op)} {pop.tile.name} lane {lane}"
    return EndSite(
        context, pop.step.op, pop.path, label, lane, pop.rows, pop.cols, as_expr(pitch), as_expr(written), apart,
        f"{op_text(push.step.op)} at line {place.line}", (pop.split.code, push.split.code), why, match.why)


SPLIT_PITCH: Rule[EndSite] = Rule(
    id="SPLIT-PITCH", kind=SAFETY, observable=False, requires=("XC-05", "XC-12"), source=_SOURCE,
    claim="a slot in global memory is read at the pitch at which it was written",
    unseen="a run moves the rectangles that the two ends name, whatever they were meant to be",
    sites=lambda c: (s for s in _ends(c) if _in_memory(c, s)), applies=always, assumptions=("LANE-INDEX",),
    given=lambda s: not s.why, undecided=lambda s: s.why,
    goal=lambda s: _matched(s, any_of((eq(s.pitch, s.written), s.apart))),
    explain=lambda s, w: (
        f"{op_text(s.op)} of [{w(s.rows)}, {w(s.cols)}] with split {s.codes[0]} reads lane {s.lane} at a pitch of "
        f"{w.show(s.pitch)} columns; {s.pusher} writes at a pitch of {w.show(s.written)}"),
    help=lambda s: "transfer whole columns of the box at both ends, and restore the valid shape after the pop",
    mutant=lambda s: any_of((s.pitch >= s.written, s.apart)),
)


def _in_memory(context: Context, site: EndSite) -> bool:
    return through_memory(context.program, pipe_id(site.op))


def _once(context: Context) -> Iterator[EndSite]:
    """Each pop with each push once, whichever lanes run it."""
    yield from {(s.op, s.pusher): s for s in _ends(context)}.values()


SPLIT_ENDS: Rule[EndSite] = Rule(
    id="SPLIT-ENDS", kind=SAFETY, observable=False, requires=("XC-04", "XC-09"), source="PTO-ISA TPush.hpp, TPop.hpp",
    claim="both ends of a transfer split it alike",
    unseen="a run moves the rectangles that the two ends name, whatever they were meant to be",
    sites=_once, applies=always, given=lambda s: not s.unmatched, undecided=lambda s: s.unmatched,
    goal=lambda s: not s.unmatched and s.codes[0] == s.codes[1],
    explain=lambda s, w: f"{op_text(s.op)} has split {s.codes[0]}; {s.pusher} has split {s.codes[1]}",
    help=lambda s: "give push, pop and free of a tile one split",
    mutant=lambda s: bool(s.codes[0]) == bool(s.codes[1]),
)


@dataclass(frozen=True, slots=True)
class ChipSite(Site):
    """A split push from core to core without global memory."""

    transfer: Transfer


def _on_chip(context: Context) -> Iterator[ChipSite]:
    program = context.program
    if not context.target.on_chip_pipe:
        return
    for op in ("pto.tpush_to_aiv", "pto.tpush_to_aic"):
        for pipe in used(program, op):
            if through_memory(program, pipe):
                continue
            for push in transfers(program, op, pipe, 0):
                if push.split.axis is not None and not push.split.odd:
                    label = f"{op_text(push.step.op)} {push.tile.name}"
                    yield ChipSite(context, push.step.op, push.path, label, push)


def _divides(s: ChipSite) -> Cond:
    push = s.transfer
    if push.tile.type.loc is Space.ACC:
        whole = eq(push.rows % 2, 0) if push.split.axis == 0 else eq(push.cols % 32, 0)
        return all_of((whole, as_cond(push.tile.type.dtype.bytes == 4)))
    return TRUE if push.split.axis == 0 else eq(push.cols * push.tile.type.dtype.bytes % 32, 0)


def _demand(s: ChipSite) -> str:
    if s.transfer.tile.type.loc is Space.ACC:
        return "4-byte elements and an even number of rows" if s.transfer.split.axis == 0 else (
            "4-byte elements and a multiple of 32 columns")
    return "rows of whole 32-byte blocks in each lane"


SPLIT_CHIP: Rule[ChipSite] = Rule(
    id="SPLIT-CHIP", kind=SAFETY, observable=False, requires=("XC-04",), source="PTO-ISA npu/a5 TPush.hpp (asserts)",
    claim="what is split on its way from core to core divides as the hardware divides it",
    unseen="a run knows every split on every chip",
    sites=_on_chip, applies=always,
    goal=_divides,
    explain=lambda s, w: (
        f"{op_text(s.op)} splits [{w(s.transfer.rows)}, {w(s.transfer.cols)}] of "
        f"{s.transfer.tile.type.dtype.pto} by {s.transfer.split.name}; that takes {_demand(s)}"),
    help=lambda s: "widen the valid shape to the box, or send the tile through global memory",
    mutant=lambda s: eq(s.transfer.cols % 16, 0),
)

RULES = (SPLIT_LANES, SPLIT_PITCH, SPLIT_ENDS, SPLIT_CHIP)

