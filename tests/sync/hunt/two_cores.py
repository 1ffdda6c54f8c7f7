"""Programs of a cube and its vector cores that hand tiles to each other in loops and branches, said in other words on
either side. Who takes a tile has been told by a flag, and mostly answers with another one."""

from __future__ import annotations

from collections.abc import Callable

from tests.sync.hunt.core_ops import BARRIER, ROWS, access, cross, functions, intra, meeting, sections
from tests.sync.hunt.draw import Draw
from tests.sync.hunt.nodes import Body, Carried, Cond, Do, Expr, For, If, Statement, While

Sides = tuple[Body, Body]
"""What the cube does, and what each vector core does."""
PIPES = {"cube": ("FIX", "MTE2"), "vector": ("MTE3", "MTE2")}
"""The pipes that store and load."""


class TwoCores:
    """Draws what both sides do. `within`: flags within a block of a5."""

    def __init__(self, draw: Draw, within: bool) -> None:
        self.draw, self.within = draw, within

    def flag(self, core: str, does: str, pipe: str, id: Expr) -> Do:
        if self.within:
            assert isinstance(id, int)
            return intra(does, pipe, id, core)
        return cross(does, pipe, id)

    def id(self, base: int, variables: tuple[str, ...]) -> tuple[Expr, Expr]:
        """An id, in the words of either side."""
        if self.within or not variables or self.draw.chance(50):
            return base, base
        variable, slots = self.draw.choice(variables), self.draw.choice((2, 2, 3))
        return ("+", base, ("%", variable, slots)), ("+", base, self.draw.turn(variable, slots))

    def row(self, variables: tuple[str, ...]) -> Expr:
        base = self.draw.choice((0, 0, 16, 64))
        if not variables or self.draw.chance(30):
            return base
        variable = self.draw.choice(variables)
        turn: Expr = variable if self.draw.chance(15) else ("%", variable, self.draw.choice((2, 2, 3)))
        return ("+", base, ("*", turn, self.draw.choice((8, 16, 16, 32))))

    def hand(self, variables: tuple[str, ...]) -> Sides:
        """One tile from one side to the other."""
        draw = self.draw
        giver, taker = draw.choice((("cube", "vector"), ("cube", "vector"), ("vector", "cube")))
        tensor, row, rows = draw.choice("pq"), self.row(variables), draw.choice((ROWS, ROWS, ROWS, 8))
        out, into = PIPES[giver][0], PIPES[taker][1]
        told, heard = self.id(draw.choice((1, 1, 4)), variables)
        answered, known = self.id(draw.choice((7, 7, 8)), variables)
        store_row: Expr = row
        if giver == "vector" and draw.chance(60):
            store_row = ("+", row, ("*", "lane", draw.choice((16, 8, 32))))
        load_row: Expr = ("+", row, ("*", "lane", 8)) if taker == "vector" and draw.chance(25) else row
        store = access(giver, True, tensor, store_row, rows, draw.chance(12))
        load = access(taker, False, tensor, load_row, draw.choice((rows, rows, 8)))
        if draw.chance(6) and not self.within:
            return self.sides(giver, (BARRIER, store, BARRIER, meeting(), meeting()),
                              (meeting(), load, BARRIER, meeting()))
        if draw.chance(6):
            return self.burst(giver, (out, told), (into, heard), (store, load))
        gives: list[Statement] = [store, self.flag(giver, "set", out, told)]
        takes: list[Statement] = [self.flag(taker, "wait", into, heard), load]
        if draw.chance(10):
            gives[:1] = [store, BARRIER, store]
        if draw.chance(80):
            takes.append(self.flag(taker, "set", into, answered))
            gives.append(self.flag(giver, "wait", out, known))
        return self.sides(giver, self.spaced(gives), self.spaced(takes))

    def burst(self, giver: str, told: tuple[str, Expr], heard: tuple[str, Expr], moves: tuple[Do, Do]) -> Sides:
        """Several flags ahead of their waits: up to 15 are kept."""
        often = self.draw.choice((2, 3, 8, 15))
        taker = "vector" if giver == "cube" else "cube"
        a, b = self.draw.name("b"), self.draw.name("b")
        return self.sides(
            giver, (moves[0], For(a, 0, often, (self.flag(giver, "set", *told),))),
            (For(b, 0, often, (self.flag(taker, "wait", *heard),)), moves[1]))

    def sides(self, giver: str, gives: Body, takes: Body) -> Sides:
        return (gives, takes) if giver == "cube" else (takes, gives)

    def spaced(self, body: list[Statement]) -> Body:
        """With barriers of the core's own pipes, which what comes before or after may need."""
        if self.draw.chance(15):
            return tuple(body)
        return (BARRIER, *(each for one in body for each in (one, BARRIER)))

    def block(self, variables: tuple[str, ...], depth: int) -> Sides:
        """Some hand-overs, loops and branches, which both sides go through alike."""
        cube: list[Statement] = []
        vector: list[Statement] = []
        for _ in range(self.draw.choice((1, 1, 1, 2) if depth else (1, 1, 2))):
            kind = self.draw.random()
            if depth > 1 or kind < 0.35 + 0.2 * depth:
                ours, theirs = self.hand(variables)
            elif kind < 0.75:
                ours, theirs = self.loop(variables, depth)
            elif kind < 0.95:
                condition = self.draw.condition(variables)
                one, other = self.block(variables, depth + 1)
                ours, theirs = (If(condition, one),), (If(self.draw.same_condition(condition), other),)
            else:
                one, other = self.hand(variables)
                more, others = self.hand(variables)
                condition = self.draw.condition(variables)
                ours, theirs = (If(condition, one, more),), (If(self.draw.same_condition(condition), other, others),)
            cube += ours
            vector += theirs
        return tuple(cube), tuple(vector)

    def loop(self, variables: tuple[str, ...], depth: int) -> Sides:
        """A loop of as many turns on both sides; one side may split it, or begin or end it outside."""
        draw, variable = self.draw, self.draw.name("i")
        high, low = draw.trips(variables), draw.choice((0, 0, 0, 0, 1))
        inner: tuple[str, ...] = (*variables, variable)
        carried: tuple[Carried, ...] = ()
        if draw.chance(20):
            name = draw.name("n")
            first, following = draw.choice((
                (0, ("+", name, 1)), (0, ("-", 1, name)), (1, ("-", 1, name)), (0, ("%", ("+", name, 1), 3)),
                ("N", ("+", name, 1)), (0, ("+", name, 2))))
            carried, inner = (Carried(name, first, following),), (*inner, name)
        one, other = self.block(inner, depth + 1)
        if carried:
            return ((For(variable, low, high, one, 1, carried),),
                    (For(variable, low, draw.same(high), other, 1, carried),))
        ours: Body = (For(variable, low, high, one),)
        theirs: Body = (For(variable, low, draw.same(high), other),)
        if draw.chance(60):
            return ours, theirs
        told = draw.choice(_TELLINGS)
        return (told(draw, variable, low, high, one), theirs) if draw.chance(50) else (
            ours, told(draw, variable, low, high, other))


def _in_two(draw: Draw, variable: str, low: int, high: Expr, body: Body) -> Body:
    middle: Expr = draw.choice((1, ("/", high, 2), ("min", high, 2)))
    return (For(variable, low, ("min", middle, high), body), For(variable, ("max", low, middle), high, body))


def _last_apart(draw: Draw, variable: str, low: int, high: Expr, body: Body) -> Body:
    last: Expr = ("-", high, 1)
    return (For(variable, low, last, body), If(("sgt", high, low), (For(variable, last, high, body),)))


def _counted(draw: Draw, variable: str, low: int, high: Expr, body: Body) -> Body:
    return (While(variable, low, high, body),)


def _by_twos(draw: Draw, variable: str, low: int, high: Expr, body: Body) -> Body:
    half = f"{variable}h"
    first: Expr = ("+", low, ("*", 2, half))
    pairs: Expr = ("/", ("+", ("-", high, low), 1), 2)
    return (For(half, 0, pairs, (For(variable, first, ("min", high, ("+", first, 2)), body),)),)


_TELLINGS: tuple[Callable[[Draw, str, int, Expr, Body], Body], ...] = (_in_two, _last_apart, _counted, _by_twos)


def written(draw: Draw, chip: str, cube: Body, vector: Body) -> tuple[str, str]:
    """The text, in sections or functions, and the name of a function."""
    if draw.chance(25):
        return functions(chip, cube, vector), "k_aic"
    condition: Cond = ("eq", "lane", 0)
    if draw.chance(5):
        vector = (If(condition, vector, vector),)
    return sections(chip, cube, vector, draw.chance(60)), "k"


def made(draw: Draw, chip: str) -> tuple[str, str]:
    sides = TwoCores(draw, chip == "a5" and draw.chance(40)).block((), 0)
    return written(draw, chip, *sides)
