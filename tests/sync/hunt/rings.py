"""Right by construction: a load, a vector op and a store in a loop, with a ring of buffers at either end. A buffer is
given back by a flag of its own id, set before the loop and waited for after it."""

from __future__ import annotations

from dataclasses import dataclass

from tests.sync.hunt import vector_ops as v
from tests.sync.hunt.draw import Draw
from tests.sync.hunt.nodes import Body, Carried, Do, Expr, If, Statement
from tests.sync.hunt.one_core import text

_FILLED, _TAKEN = ("MTE2", "V"), ("V", "MTE2")
_DONE, _STORED = ("V", "MTE3"), ("MTE3", "V")
_STEPS: tuple[Expr, ...] = (1, 1, 1, 2, 3, ("max", "N", 1))
Pair = tuple[str, str]


@dataclass(frozen=True)
class Ring:
    """`slots` buffers from tile `first` on. `own_ids`: each has an id; else all share one. `base`: the first id."""

    first: int
    slots: int
    own_ids: bool
    base: int

    @property
    def ids(self) -> int:
        return self.slots if self.own_ids else 1

    def id(self, turn: Expr) -> Expr:
        if not self.own_ids or self.slots == 1:
            return self.base
        return ("+", turn, self.base) if self.base else turn


@dataclass(frozen=True)
class Pipeline:
    """What a loop does. `events`: fixed ids are those of events; `buffers`: ids are those of buffers."""

    draw: Draw
    chip: str
    inputs: Ring
    outputs: Ring
    events: bool
    buffers: bool

    def flag(self, does: str, pair: Pair, id: Expr) -> Do:
        if self.events and isinstance(id, int):
            return v.event(does, pair, id)
        return v.flag(does, pair, id)

    def around(self, body: Body) -> Body:
        """All buffers are free at first, and in the end."""
        if self.buffers:
            return body
        ends = []
        for does in ("set", "wait"):
            for pair, ring in ((_TAKEN, self.inputs), (_STORED, self.outputs)):
                variable = self.draw.name("z")
                if ring.ids > 1 and self.draw.chance(25):
                    ends.append([self.draw.loop(variable, 0, ring.ids, (self.flag(does, pair, ring.id(variable)),))])
                else:
                    ends.append([self.flag(does, pair, ring.base + k) for k in range(ring.ids)])
        return (*ends[0], *ends[1], *body, *ends[2], *ends[3])

    def turn(self, row: Expr, source: Expr, target: Expr) -> Body:
        """One tile: from buffer `source` of the inputs to buffer `target` of the outputs."""
        if self.buffers:
            return self.held(row, source, target)
        draw, x, y = self.draw, self.draw.name("t"), self.draw.name("t")
        took, gave = self.inputs.id(source), self.outputs.id(target)
        load: Body = (
            *self.place(x, self.inputs, source), self.flag("wait", _TAKEN, took),
            *self.whole_or_halves(x, row), self.flag("set", _FILLED, took))
        waits = [self.flag("wait", _FILLED, took), self.flag("wait", _STORED, gave)]
        draw.shuffle(waits)
        own = (v.barrier("V"),) if self.chip == "a2a3" else ()
        work: Body = draw.choice((
            (v.exp(x, y), self.flag("set", _TAKEN, took)),
            (v.add(x, x, y), self.flag("set", _TAKEN, took), *own, v.exp(y, y)),
            (v.exp(x, x), *own, v.add(x, x, y), self.flag("set", _TAKEN, took)),
            (If(("eq", ("%", row, 2), 0), (v.exp(x, y), self.flag("set", _TAKEN, took)),
                (v.add(x, x, y), self.flag("set", _TAKEN, took))),)))
        return (
            *load, *self.place(y, self.outputs, target), *waits, *own, *work, self.flag("set", _DONE, gave),
            self.flag("wait", _DONE, gave), *self.own_store(), *v.store(y, "out", ("*", row, 8)),
            self.flag("set", _STORED, gave))

    def held(self, row: Expr, source: Expr, target: Expr) -> Body:
        """The same on a5 with buffer ids: each op holds the buffers that it works on."""
        x, y = self.draw.name("t"), self.draw.name("t")
        took, gave = self.inputs.id(source), self.outputs.id(target)
        return (
            *self.place(x, self.inputs, source), *self.place(y, self.outputs, target),
            v.buffer("get", "MTE2", took), *v.load(x, "a", ("*", row, 8)), v.buffer("rls", "MTE2", took),
            v.buffer("get", "V", took), v.buffer("get", "V", gave), v.exp(x, y), v.buffer("rls", "V", gave),
            v.buffer("rls", "V", took), v.buffer("get", "MTE3", gave), v.barrier("MTE3"),
            *v.store(y, "out", ("*", row, 8)), v.buffer("rls", "MTE3", gave))

    def own_store(self) -> Body:
        return (v.barrier("MTE3"),) if self.draw.chance(50) else ()

    def place(self, name: str, ring: Ring, turn: Expr) -> Body:
        number: Expr = ("+", turn, ring.first) if ring.first else turn
        if ring.slots == 3 and ring.first == 0 and self.draw.chance(30):
            return (Do(f"$all = pto.alloc_multi_tile addr = %a0 : {v.RING}\n"
                       f"${name} = pto.multi_tile_get $all[$v0] : {v.RING} -> {v.TILE}", (turn,)),)
        return (v.tile_at(name, number if ring.slots > 1 else ring.first),)

    def whole_or_halves(self, name: str, row: Expr) -> Body:
        if self.draw.chance(75):
            return v.load(name, "a", ("*", row, 8))
        one, other = self.draw.name("h"), self.draw.name("h")
        return (v.part(one, name, 0), v.part(other, name, 4), *v.load(one, "a", ("*", row, 8), v.HALF),
                *v.load(other, "a", ("+", ("*", row, 8), 4), v.HALF))

    def loop(self, around: tuple[str, ...]) -> Body:
        """The loop, or two after each other, or a first turn before it."""
        draw, variable = self.draw, self.draw.name("i")
        low, step, high = draw.choice((0, 0, 0, 1, "N")), draw.choice(_STEPS), draw.trips(around)
        carried: tuple[Carried, ...] = ()
        other: Expr = around[-1] if around else 1
        turns: tuple[Expr, ...] = (variable, variable, ("/", variable, 2), ("+", variable, other))
        turn = draw.choice(turns)
        kind = draw.random()
        if kind < 0.3:
            name = draw.name("n")
            carried, turn = (Carried(name, draw.choice((0, 0, 1)), ("+", name, 1)),), name
        elif kind < 0.4 and self.inputs.slots == self.outputs.slots == 2:
            name = draw.name("n")
            carried, turn = (Carried(name, 0, draw.choice((("-", 1, name), ("xor", name, 1)))),), name
        body = self.turn(variable, self.at(turn, self.inputs), self.at(turn, self.outputs))
        if draw.chance(20):
            body = (If(draw.condition((variable, *around)), body),)
        elif draw.chance(15):
            body = (If(draw.condition((variable, *around)), body, self.turn(variable, 0, 0)),)
        made: Body = (draw.loop(variable, low, high, body, step, carried),)
        if draw.chance(12):
            made = (*self.turn(0, 0, 0), *made)
        if draw.chance(12):
            again = draw.name("i")
            made = (*made, draw.loop(again, 0, draw.trips(around), self.turn(again, self.at(again, self.inputs), 0)))
        return made

    def at(self, turn: Expr, ring: Ring) -> Expr:
        """The buffer of a turn: any one will do, as long as its flags are its own."""
        if ring.slots == 1:
            return 0
        if self.draw.chance(8):
            return ("min", turn, ring.slots - 1)
        return self.draw.turn(turn, ring.slots)


def made(draw: Draw, chip: str) -> str:
    """A text with one or two such loops, perhaps in a loop around them."""
    buffers = chip == "a5" and draw.chance(35)
    body: list[Statement] = [Do("%a0 = arith.constant 0 : i64")]
    for _ in range(draw.choice((1, 1, 1, 2))):
        slots, others = draw.choice((1, 2, 2, 2, 3)), draw.choice((1, 1, 2, 2, 3))
        pipeline = Pipeline(draw, chip, Ring(0, slots, draw.chance(80), draw.choice((0, 0, 1))),
                            Ring(4, others, draw.chance(80), draw.choice((4, 3))), draw.chance(20), buffers)
        round_ = draw.name("r")
        if draw.chance(30):
            inner = pipeline.loop((round_,))
            outer = draw.loop(round_, 0, draw.choice(("N", "N", 2, ("+", "N", 1))), inner)
            body += pipeline.around((outer,)) if draw.chance(50) else (
                draw.loop(round_, 0, "N", pipeline.around(inner)),)
        else:
            body += pipeline.around(pipeline.loop(()))
        if draw.chance(30):
            body.append(v.barrier("ALL"))
    return text(chip, tuple(body))
