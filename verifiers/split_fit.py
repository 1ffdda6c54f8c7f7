"""SPLIT: what is popped fits what is pushed, in elements and in extents."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, Expr, all_of, any_of, as_expr
from pypto_verified.index.cond import FALSE
from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.records import dataclass
from pypto_verified.targets.split import lane_extents
from verifiers.access import AccessProgram
from verifiers.op_sites import empty
from verifiers.pipes import Match, Peer
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text
from verifiers.split import meetings


@dataclass(frozen=True, slots=True)
class FitSite(Site):
    """A pop of `rows` x `cols` elements of type `popped`, and its push of elements of type `pushed`: `box` is the part
    of the pushed tile, valid or not, that this end has; `why`: what makes it doubtful that this is the push."""

    rows: Expr
    cols: Expr
    box: tuple[Expr, Expr]
    popped: str
    pushed: str
    pusher: str
    why: str


def _pops(context: Context) -> Iterator[FitSite]:
    """Pops with their pushes. An epilogue stores other elements, in another order, than the accumulator has."""
    for match, peer, lane, to_cube in meetings(context):
        if not _has_epilogue(peer.program, pipe_id(match.own.step.op)):
            yield _site(context, match, peer, lane, to_cube)


def _has_epilogue(program: AccessProgram, pipe: int) -> bool:
    return any("acc_push_epilogue" in s.op.attrs for s in program.steps if s.op.name in INITS and pipe_id(s.op) == pipe)


def _site(context: Context, match: Match, peer: Peer, lane: int, to_cube: bool) -> FitSite:
    pop, push = match.own, match.other
    type_, axis = push.tile.type, push.split.axis
    if to_cube:  # the cube core pops the parts of both lanes at once
        rows, cols = type_.rows * (2 if axis == 0 else 1), type_.cols * (2 if axis == 1 else 1)
        box = as_expr(rows), as_expr(cols)
    else:
        part = lane_extents(push.split, type_.rows, type_.cols, lane)
        box = as_expr(part[0]), as_expr(part[1])
    place = peer.program.location(push.step.op)
    label = f"{op_text(pop.step.op)} {pop.tile.name} lane {lane}"
    return FitSite(
        context, pop.step.op, pop.path, label, pop.rows, pop.cols, box, pop.tile.type.dtype.pto, type_.dtype.pto,
        f"{op_text(push.step.op)} at line {place.line}", match.why)


def _once(context: Context) -> Iterator[FitSite]:
    """Each pop with each push once, whichever lanes run it."""
    yield from {(s.op, s.pusher): s for s in _pops(context)}.values()


def _parts(context: Context) -> Iterator[FitSite]:
    """Lanes that do the same with parts of one size once."""
    yield from {(s.op, s.pusher, s.path, s.rows, s.cols, s.box): s for s in _pops(context)}.values()


SPLIT_TYPE: Rule[FitSite] = Rule(
    id="SPLIT-TYPE",
    formula="dtype(popped) = dtype(pushed)",
    kind=SAFETY, observable=False, requires=("XC-12",), source="PTO-ISA TPush.hpp, TPop.hpp",
    claim="what is popped has elements of the type that was pushed",
    unseen="the bytes of a slot are numbers of any type",
    sites=_once, applies=always, given=lambda s: not s.why, undecided=lambda s: s.why,
    goal=lambda s: not s.why and s.popped == s.pushed,
    explain=lambda s, w: (
        f"{op_text(s.op)} takes elements of {s.popped} out of a slot that {s.pusher} filled with {s.pushed}"),
    help=lambda s: f"pop a tile of {s.pushed} and convert that, or convert before the push",
    mutant=lambda s: s.popped[1:] == s.pushed[1:],
)


def _inside(s: FitSite) -> Cond:
    return FALSE if s.why else any_of((empty(s.rows, s.cols), all_of((s.rows <= s.box[0], s.cols <= s.box[1]))))


SPLIT_PART: Rule[FitSite] = Rule(
    id="SPLIT-PART", kind=SAFETY, observable=False, requires=("XC-04", "XC-12"), source="PTO-ISA TPush.hpp, TPop.hpp",
    claim="a pop takes no more than its part of the tile that was pushed",
    unseen="the rest of a slot may hold the values of the tile before",
    sites=_parts, applies=always, assumptions=("LANE-INDEX",),
    given=lambda s: not s.why, undecided=lambda s: s.why, goal=_inside,
    explain=lambda s, w: (
        f"{op_text(s.op)} takes [{w(s.rows)}, {w(s.cols)}] elements; its part of what {s.pusher} sends is "
        f"[{w(s.box[0])}, {w(s.box[1])}]"),
    help=lambda s: "pop a tile as large as the part that this end has of the pushed one",
    mutant=lambda s: s.cols <= s.box[1],
)

RULES = (SPLIT_TYPE, SPLIT_PART)
