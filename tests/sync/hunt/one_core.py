"""Programs for one vector core: loads, sums and stores of a few tiles in loops and branches, without any order yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from pypto_verified.errors import PtoError
from pypto_verified.pto import reader, writer
from pypto_verified.sync import insert_sync
from pypto_verified.targets import target
from tests.sync.hunt import vector_ops as v
from tests.sync.hunt.draw import SIZES, Draw
from tests.sync.hunt.nodes import Body, Carried, Expr, If, Statement, While
from tests.sync.hunt.orders import CALL, ordered, visible
from tests.sync.hunt.writer import Writer, function, module

TILES = 4
"""Tiles that have an address of their own; a ring of two lies behind them."""
_STEPS: tuple[Expr, ...] = (1, 1, 1, 1, 1, 2, 3, ("max", "N", 1))


@dataclass
class Scope:
    """What a statement may use: index variables, and tiles with the number of their buffer."""

    variables: tuple[str, ...] = ()
    tiles: dict[str, int] = field(default_factory=dict)

    def inner(self, *variables: str) -> Scope:
        return Scope((*self.variables, *variables), dict(self.tiles))


class OneCore:
    """Draws a program. `scalar`: the scalar pipe works on data too."""

    def __init__(self, draw: Draw, scalar: bool) -> None:
        self.draw, self.scalar = draw, scalar
        self.left = draw.choice((3, 4, 5, 6, 8))

    def program(self) -> Body:
        scope = Scope()
        made: list[Statement] = []
        for number in range(self.draw.choice((2, 3, TILES))):
            made += self.place(scope, number)
        while self.left > 0:
            made += self.block(scope, 0)
        return tuple(made)

    def block(self, scope: Scope, depth: int) -> Body:
        made: list[Statement] = []
        for _ in range(self.draw.randint(1, 4)):
            kind = self.draw.random()
            if kind < 0.28 and depth < 3:
                made += self.loop(scope, depth)
            elif kind < 0.42 and depth < 3:
                then = self.block(scope.inner(), depth + 1)
                otherwise = self.block(scope.inner(), depth + 1) if self.draw.chance(40) else ()
                if then:
                    made.append(If(self.draw.condition(scope.variables), then, otherwise))
            elif self.left > 0:
                made += self.step(scope)
        return tuple(made)

    def loop(self, scope: Scope, depth: int) -> Body:
        """A loop from 0, 1 or an argument, by steps of one to three; it may carry a number, or two tiles in turn."""
        draw = self.draw
        variable, high = draw.name("i"), draw.trips(scope.variables)
        low, step = draw.choice((0, 0, 0, 0, 1, "N")), draw.choice(_STEPS)
        inner, kind = scope.inner(variable), draw.random()
        carried: tuple[Carried, ...] = ()
        if kind < 0.3:
            name = draw.name("n")
            first, following = draw.choice((
                (0, ("+", name, 1)), (0, ("-", 1, name)), (1, ("-", 1, name)), (0, ("%", ("+", name, 1), 3)),
                ("N", ("+", name, 1)), (0, ("+", name, 2)), (0, ("xor", name, 1))))
            carried, inner.variables = (Carried(name, first, following),), (*inner.variables, name)
        elif kind < 0.5 and depth == 0 and len(own := [t for t, n in scope.tiles.items() if n >= 0]) > 1:
            one, other = draw.sample(own, 2)
            names = draw.name("t"), draw.name("t")
            after = names[::-1] if draw.chance(80) else names
            carried = tuple(Carried(n, t, f, v.TILE) for n, t, f in zip(names, (one, other), after, strict=True))
            inner.tiles |= dict.fromkeys(names, -1)
        body = self.block(inner, depth + 1)
        if not body:
            return ()
        made = draw.loop(variable, low, high, body, step, carried)
        if isinstance(made, While) and draw.chance(30):
            made = While(variable, low, high, body, step, carried, self.step(scope.inner(variable)))
        return (made,)

    def place(self, scope: Scope, number: int) -> Body:
        name = self.draw.name("t")
        scope.tiles[name] = number
        shift = 256 if self.draw.chance(6) else 0
        if shift:
            scope.tiles[name] = -1
        return (v.tile_at(name, number, shift),)

    def tile(self, scope: Scope) -> tuple[Body, str]:
        """A tile that has a name, another name for its memory, one of a ring, or one of two."""
        draw, kind = self.draw, self.draw.random()
        if kind < 0.6:
            return (), draw.choice(sorted(scope.tiles))
        name = draw.name("t")
        if kind < 0.7:
            own = draw.randrange(TILES)
            scope.tiles[name] = own
            return (v.tile_at(name, own),), name
        scope.tiles[name] = -1
        if kind < 0.985:
            number = draw.turn(self.number(scope), draw.choice((2, 2, 3)))
            return (v.tile_at(name, ("+", number, TILES) if draw.chance(70) else number),), name
        one, other = draw.choice(sorted(scope.tiles.keys() - {name})), draw.choice(sorted(scope.tiles.keys() - {name}))
        return (v.chosen(name, one, other, draw.turn(self.number(scope), 2)),), name

    def number(self, scope: Scope) -> Expr:
        """Not negative where the arguments are not."""
        return self.draw.choice((*scope.variables * 2, *SIZES))

    def row(self, scope: Scope) -> Expr:
        if self.draw.chance(40):
            return self.draw.choice((0, 0, 4, 8))
        number: Expr = ("max", ("min", self.number(scope), 15), 0)
        return ("*", self.draw.choice((number, number, ("%", number, 2))), self.draw.choice((4, 8, 8)))

    def step(self, scope: Scope) -> Body:
        """One op on data, and what makes its operands."""
        self.left -= 1
        draw, kind = self.draw, self.draw.random()
        made, name = self.tile(scope)
        type_ = v.TILE
        if draw.chance(22):
            source, name, type_ = name, draw.name("h"), draw.choice((v.HALF, v.STRIP))
            turn = draw.turn(self.number(scope), 2)
            starts: tuple[Expr, ...] = (0, 4, 4, 2, ("*", turn, 4)) if type_ == v.HALF else (0, 8, 8, ("*", turn, 8))
            made = (*made, v.part(name, source, draw.choice(starts), type_))
        held = self.held(scope, name if type_ == v.TILE else source)
        if kind < 0.3:
            return (*made, *v.load(name, draw.choice(("a", "b", "b")), self.row(scope), type_, held))
        if kind < 0.5:
            return (*made, *v.store(name, draw.choice(("out", "out", "b")), self.row(scope), type_, held))
        if self.scalar and kind < 0.66 and type_ == v.TILE:
            number: Expr = ("%", self.number(scope), 128) if draw.chance(40) else draw.choice((0, 8))
            if draw.chance(60):
                return (*made, v.element(name, number, draw.chance(50)))
            return (*made, v.word(draw.choice(("b", "out")), number, draw.chance(50)))
        if type_ != v.TILE or kind < 0.7:
            return (*made, v.fill(name, type_, held))
        more, other = self.tile(scope)
        both = self.held(scope, other, *((name,)))
        return (*made, *more, draw.choice((v.exp(name, other, tiles=both), v.add(name, other, name, both))))

    def held(self, scope: Scope, *names: str) -> tuple[int, ...]:
        """The buffers that stand for these tiles: all of them for one that is not the same in every turn."""
        numbers = {scope.tiles[name] for name in names}
        return tuple(range(TILES + 1)) if -1 in numbers else tuple(sorted(numbers))


def text(chip: str, body: Body) -> str:
    """The text of a kernel for one core."""
    lines = Writer()
    lines.body(body, {name: f"%{name}" for name in SIZES})
    called = [function("ordered", "", "", (), (v.barrier("ALL").text,))] if CALL.text in lines.lines else []
    return module(chip, *called, function("k", "vector", v.ARGS, v.HEAD, lines.lines))


def made(draw: Draw, chip: str) -> str:
    """A right text."""
    return text(chip, visible(ordered(draw, chip, OneCore(draw, draw.chance(40)).program())))


def inserted(draw: Draw, chip: str) -> str:
    """A text with the flags that the compiler inserts; in order in another way where it does not model the text."""
    plain = text(chip, visible(OneCore(draw, draw.chance(20)).program()))
    try:
        return writer.write(insert_sync(reader.read(plain, "k.pto"), target(chip), draw.chance(30)))
    except PtoError:
        return made(draw, chip)
