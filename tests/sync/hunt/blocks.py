"""Programs for the blocks of a launch, which work on rows of their own or meet before they use those of others; and
flags that all vector cores pass to each other."""

from __future__ import annotations

from tests.sync.hunt.core_ops import ARGS, BARRIER, access, head, lines_of, meeting
from tests.sync.hunt.draw import SIZES, Draw
from tests.sync.hunt.nodes import Body, Do, Expr, For, If, Statement
from tests.sync.hunt.writer import function, module

_PLACE = Do("%which = pto.get_block_idx\n%block = arith.index_cast %which : i64 to index\n"
            "%count = pto.get_block_num\n%many = arith.index_cast %count : i64 to index")
_ROWS, _BAND = 2048, 512
_NAMES = {"block": "%block", "many": "%many"}


class Blocks:
    """Draws what each block does. Each statement has a band of rows of its own, as long as there are some."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self.band = draw, 0

    def row(self, variables: tuple[str, ...]) -> Expr:
        """A row of the block's own, mostly, for two blocks and few turns."""
        draw = self.draw
        self.band = (self.band + _BAND) % _ROWS
        own: list[Expr] = [
            ("*", "block", 16), ("*", "block", 16), ("*", "block", 32), ("*", ("+", "block", 1), 16),
            ("*", ("-", "many", ("+", "block", 1)), 16), ("+", ("*", "block", 16), 64)]
        for variable in variables:
            own += [("*", ("+", ("*", variable, "many"), "block"), 16)] * 2
            own += [("*", ("+", ("*", "block", 8), variable), 16)] * 2
        if draw.chance(8):
            own = [("*", "block", "M"), ("*", "block", ("*", "M", 16)), ("+", ("*", "block", 16), "M"), 0,
                   ("*", ("%", "block", 2), 16), ("*", ("/", "block", 2), 16), ("*", "block", 8)]
        return ("+", self.band, draw.choice(own)) if draw.chance(90) else draw.choice(own)

    def use(self, variables: tuple[str, ...]) -> Body:
        draw, row, tensor = self.draw, self.row(variables), self.draw.choice("ppq")
        several: tuple[Expr, ...] = (16, 16, 16, 8, ("min", ("max", "M", 1), 16))
        rows = draw.choice(several)
        stored = access("vector", True, tensor, row, rows, draw.chance(12))
        loaded = access("vector", False, tensor, row, rows)
        return draw.choice(((BARRIER, stored, BARRIER), (BARRIER, loaded, BARRIER), (BARRIER, stored, BARRIER, loaded)))

    def others(self) -> Body:
        """What another block has written, after all have met."""
        there: Expr = ("*", self.draw.choice((("%", ("+", "block", 1), "many"), ("-", "many", ("+", "block", 1)))), 16)
        return (BARRIER, access("vector", True, "q", ("*", "block", 16)), BARRIER, meeting("aiv_only"), BARRIER,
                access("vector", False, "q", there), BARRIER, *((meeting("aiv_only"),) if self.draw.chance(70) else ()))

    def block(self, variables: tuple[str, ...], depth: int) -> Body:
        draw = self.draw
        body: list[Statement] = []
        for _ in range(draw.choice((1, 2, 2))):
            kind = draw.random()
            if kind < 0.45 or depth > 1:
                body += self.use(variables)
            elif kind < 0.75:
                body.append(self.loop(variables, depth))
            elif kind < 0.87:
                body.append(If(self.condition(variables), self.block(variables, depth + 1),
                               self.block(variables, depth + 1) if draw.chance(30) else ()))
            elif depth == 0:
                body += draw.choice((self.others(), (meeting("aiv_only"),)))
        return tuple(body)

    def loop(self, variables: tuple[str, ...], depth: int) -> Statement:
        """Tiles in turn by the number of blocks, a part for each block, or the same turns for all."""
        draw, variable = self.draw, self.draw.name("i")
        inner = self.block((*variables, variable), depth + 1)
        share: Expr = ("ceil", "M", "many")
        return draw.choice((
            For(variable, "block", draw.choice((4, "M", 5)), inner, "many"),
            For(variable, ("*", "block", 2), ("*", ("+", "block", 1), 2), inner),
            For(variable, ("*", "block", share), ("min", "M", ("*", ("+", "block", 1), share)), inner),
            For(variable, 0, draw.choice((2, 3, "M", "N")), inner)))

    def condition(self, variables: tuple[str, ...]) -> tuple[str, Expr, Expr]:
        own: list[tuple[str, Expr, Expr]] = [
            ("eq", "block", 0), ("ne", "block", 0), ("sgt", "M", 0), ("slt", "block", "M"),
            ("eq", ("+", "block", 1), "many"), ("eq", ("%", "block", 2), 0)]
        own += [("eq", ("%", variable, "many"), "block") for variable in variables]
        return self.draw.choice(own)


def made(draw: Draw, chip: str) -> str:
    drawn = Blocks(draw)
    body = (_PLACE, *drawn.block((), 0), *drawn.block((), 0))
    return module(chip, function("k", "vector", ARGS, head(_ROWS), lines_of(body, _NAMES)))


def group(draw: Draw, chip: str) -> str:
    """Flags that vector cores give all others of their kind, and take from them."""
    mode = draw.choice((None, None, 0, 1))

    def flag(does: str, pipe: str, id: Expr) -> Do:
        shown, values = (str(id), ()) if isinstance(id, int) else ("$v0", (id,))
        word = {"set": "set", "wait": "wait"}[does]
        return Do(f"pto.{word}_cross_block <PIPE_{pipe}>, {shown}" if mode is None else
                  f"pto.sync.{word} <PIPE_{pipe}>, {shown} {{ffts_mode = {mode} : i32}}", values)

    def passed(variables: tuple[str, ...]) -> Body:
        own: Expr = draw.choice((3, 3, 5))
        if variables and draw.chance(50):
            own = ("+", own, draw.turn(draw.choice(variables), 2))
        return flag("set", "MTE3", own), flag("wait", "MTE2", own)

    def block(variables: tuple[str, ...], depth: int) -> Body:
        body: list[Statement] = []
        for _ in range(draw.choice((1, 2))):
            kind = draw.random()
            if kind < 0.4 or depth > 1:
                body += passed(variables)
            elif kind < 0.75:
                variable = draw.name("i")
                body.append(draw.loop(variable, draw.choice((0, 1)), draw.trips(variables),
                                      block((*variables, variable), depth + 1)))
            else:
                body.append(If(draw.condition((*variables, *SIZES)), block(variables, depth + 1)))
        return tuple(body)

    return module(chip, function("k", "vector", ARGS, head(), lines_of(block((), 0), {})))
