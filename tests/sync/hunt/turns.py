"""Rings in global memory between a cube and its vector cores: tile i lies in slot i % k, and the giver waits for an
answer before it stores there again. Answers may be given in advance, or the first ones be left out."""

from __future__ import annotations

from dataclasses import dataclass

from tests.sync.hunt.core_ops import BARRIER, access
from tests.sync.hunt.draw import Draw
from tests.sync.hunt.nodes import Body, Do, Expr, For, If
from tests.sync.hunt.two_cores import PIPES, Sides, TwoCores, written


@dataclass(frozen=True)
class Ring:
    """`slots` places from the first row of a tensor on, each with an id if `own_ids`."""

    flags: TwoCores
    giver: str
    taker: str
    tensor: str
    slots: int
    own_ids: bool
    spaced: bool

    def flag(self, core: str, does: str, base: int, turn: Expr) -> Do:
        out, into = PIPES[core]
        pipe = out if core == self.giver else into
        own: Expr = ("+", base, self.flags.draw.turn(turn, self.slots))
        return self.flags.flag(core, does, pipe, own if self.own_ids else base)

    def gives(self, turn: Expr) -> Body:
        row: Expr = ("*", ("%", turn, self.slots), 16)
        return self.apart(access(self.giver, True, self.tensor, row), self.flag(self.giver, "set", 1, turn))

    def takes(self, turn: Expr) -> Body:
        row: Expr = ("*", ("%", turn, self.slots), 16)
        return self.apart(self.flag(self.taker, "wait", 1, turn), access(self.taker, False, self.tensor, row))

    def answer(self, turn: Expr) -> Do:
        return self.flag(self.taker, "set", 8, turn)

    def known(self, turn: Expr) -> Do:
        return self.flag(self.giver, "wait", 8, turn)

    def apart(self, *body: Do) -> Body:
        return tuple(each for one in body for each in ((one, BARRIER) if self.spaced else (one,)))


def _primed(ring: Ring, draw: Draw, count: Expr, same: Expr) -> Sides:
    """All answers are given before the first tile, and those left over taken after the last."""
    slots = ring.slots
    return ((draw.loop("i", 0, count, (ring.known("i"), *ring.gives("i"))), For("z", 0, slots, (ring.known("z"),))
             if not ring.own_ids or draw.chance(30) else For("z", count, ("+", count, slots), (ring.known("z"),))),
            (For("z", 0, slots, (ring.answer("z"),)), draw.loop("j", 0, same, (*ring.takes("j"), ring.answer("j")))))


def _guarded(ring: Ring, draw: Draw, count: Expr, same: Expr) -> Sides:
    """The first slots are free, and the last answers are not given."""
    slots = ring.slots
    return ((draw.loop("i", 0, count, (If(("sge", "i", slots), (ring.known("i"),)), *ring.gives("i"))),),
            (draw.loop("j", 0, same, (*ring.takes("j"), If(("slt", ("+", "j", slots), same), (ring.answer("j"),)))),))


def _at_once(ring: Ring, draw: Draw, count: Expr, same: Expr) -> Sides:
    return ((draw.loop("i", 0, count, (*ring.gives("i"), ring.known("i"))),),
            (draw.loop("j", 0, same, (*ring.takes("j"), ring.answer("j"))),))


def _late(ring: Ring, draw: Draw, count: Expr, same: Expr) -> Sides:
    """An answer is waited for one turn later."""
    before: Expr = ("-", "i", 1)
    return ((draw.loop("i", 0, count, (If(("sgt", "i", 0), (ring.known(before),)), *ring.gives("i"))),
             If(("sgt", count, 0), (ring.known(("-", count, 1)),))),
            (draw.loop("j", 0, same, (*ring.takes("j"), ring.answer("j"))),))


def _behind(ring: Ring, draw: Draw, count: Expr, same: Expr) -> Sides:
    """The taker is a tile behind, and takes the last one after its loop."""
    last: Expr = ("-", same, 1)
    gives, _ = _primed(ring, draw, count, same)
    return gives, (
        For("z", 0, ring.slots, (ring.answer("z"),)),
        draw.loop("j", 1, same, (*ring.takes(("-", "j", 1)), ring.answer(("-", "j", 1)))),
        If(("sgt", same, 0), (*ring.takes(last), ring.answer(last))))


_SCHEMES = (_primed, _guarded, _at_once, _late, _behind)


def made(draw: Draw, chip: str) -> tuple[str, str]:
    within = chip == "a5" and draw.chance(30)
    giver, taker = draw.choice((("cube", "vector"), ("vector", "cube")))
    ring = Ring(TwoCores(draw, within), giver, taker, draw.choice("pq"), draw.choice((2, 2, 3)),
                not within and draw.chance(60), draw.chance(30))
    count = draw.trips(())
    gives, takes = draw.choice(_SCHEMES)(ring, draw, count, draw.same(count))
    if draw.chance(25):
        rounds: Expr = draw.choice(("N", "N", 2))
        gives, takes = (For("r", 0, rounds, gives),), (For("r", 0, rounds, takes),)
    if draw.chance(12):
        condition = draw.condition(())
        gives, takes = (If(condition, gives),), (If(draw.same_condition(condition), takes),)
    return written(draw, chip, *((gives, takes) if giver == "cube" else (takes, gives)))
