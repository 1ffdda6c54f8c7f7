"""Programs for one cube core: tiles go from global memory to L1, to the operands of a product, and back, in loops and
branches; every buffer is a tile of its own or one of two in turn."""

from __future__ import annotations

from collections.abc import Callable

from tests.sync.hunt.draw import SIZES, Draw
from tests.sync.hunt.nodes import Body, Do, Expr, If, Statement
from tests.sync.hunt.orders import ordered
from tests.sync.hunt.writer import Writer, function, module
from tests.verifiers.kernels import tile

_MAT = tile(16, 16, "f16", "mat", "col_major", "row_major", valid=("16", "16"))
_LEFT = tile(16, 16, "f16", "left", "row_major", "row_major", valid=("16", "16"))
_RIGHT = tile(16, 16, "f16", "right", "row_major", "col_major", valid=("16", "16"))
_ACC = tile(16, 16, "f32", "acc", "col_major", "row_major", 1024, ("16", "16"))
_BYTES = {_MAT: 512, _LEFT: 512, _RIGHT: 512, _ACC: 1024}
_ARGS = "%p: !pto.ptr<f16>, %q: !pto.ptr<f32>, %M: index, %N: index"


def _view(name: str, kind: str) -> str:
    return (f"%{name}v = pto.make_tensor_view %{name}, shape = [%rows, %c16], strides = [%c16, %c1] "
            f"{{layout = #pto.layout<nd>}} : !pto.tensor_view<?x?x{kind}>")


_HEAD = ("%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index", "%c16 = arith.constant 16 : index",
         "%rows = arith.constant 512 : index", _view("p", "f16"), _view("q", "f32"))


class CubeCore:
    """Draws a program."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self.left = draw, draw.choice((4, 6, 8, 10))

    def block(self, variables: tuple[str, ...], depth: int) -> Body:
        draw, body = self.draw, list[Statement]()
        for _ in range(draw.randint(1, 3)):
            kind = draw.random()
            if kind < 0.25 and depth < 2:
                variable = draw.name("i")
                inner = self.block((*variables, variable), depth + 1)
                body.append(draw.loop(variable, draw.choice((0, 0, 1)), draw.trips(variables), inner))
            elif kind < 0.4 and depth < 2:
                body.append(If(draw.condition(variables), self.block(variables, depth + 1)))
            elif self.left > 0:
                body += self.product(variables)
        return tuple(body)

    def product(self, variables: tuple[str, ...]) -> Body:
        """One step, or several in a row, of what makes a product."""
        self.left -= 1
        steps: tuple[Callable[[tuple[str, ...]], Body], ...] = (self.load, self.operands, self.multiply, self.store)
        first = self.draw.randrange(len(steps))
        last = self.draw.randint(first + 1, len(steps))
        return tuple(each for step in steps[first:last] for each in step(variables))

    def place(self, type_: str, variables: tuple[str, ...]) -> tuple[Body, str]:
        name, number = self.draw.name("t"), self.draw.choice((0, 0, 1))
        at: Expr = number if not variables or self.draw.chance(60) else self.draw.turn(self.draw.choice(variables), 2)
        return (Do(f"$address = arith.index_cast $v0 : index to i64\n"
                   f"${name} = pto.alloc_tile addr = $address : {type_}", (("*", at, _BYTES[type_]),)),), name

    def window(self, tensor: str, kind: str, variables: tuple[str, ...]) -> Do:
        row: Expr = 0 if not variables or self.draw.chance(30) else (
            "*", ("max", ("min", self.draw.choice(variables), 15), 0), 16)
        return Do(f"$w = pto.partition_view %{tensor}v, offsets = [$v0, %c0], sizes = [%c16, %c16] : "
                  f"!pto.tensor_view<?x?x{kind}> -> !pto.partition_tensor_view<16x16x{kind}>", (row,))

    def load(self, variables: tuple[str, ...]) -> Body:
        place, name = self.place(_MAT, variables)
        return (*place, self.window("p", "f16", variables), Do(
            f"pto.tload ins($w : !pto.partition_tensor_view<16x16xf16>) outs(${name} : {_MAT})", pipe="MTE2"))

    def operands(self, variables: tuple[str, ...]) -> Body:
        body: list[Do] = []
        for type_ in (_LEFT, _RIGHT):
            (source,), mat = self.place(_MAT, variables)
            (result,), own = self.place(type_, variables)
            assert isinstance(source, Do) and isinstance(result, Do)
            body += [source, result, Do(f"pto.tmov ins(${mat} : {_MAT}) outs(${own} : {type_})", pipe="MTE1")]
        return tuple(body)

    def multiply(self, variables: tuple[str, ...]) -> Body:
        (a, left), (b, right), (c, acc) = (self.place(t, variables) for t in (_LEFT, _RIGHT, _ACC))
        more, type_ = (f"${acc}, ", f"{_ACC}, ") if self.draw.chance(30) else ("", "")
        op = (f"pto.tmatmul{'.acc' if more else ''} ins({more}${left}, ${right} : {type_}{_LEFT}, {_RIGHT}) "
              f"outs(${acc} : {_ACC})")
        return (*a, *b, *c, Do(op, pipe="M"))

    def store(self, variables: tuple[str, ...]) -> Body:
        place, name = self.place(_ACC, variables)
        return (*place, self.window("q", "f32", variables), Do(
            f"pto.tstore ins(${name} : {_ACC}) outs($w : !pto.partition_tensor_view<16x16xf32>)", pipe="FIX"))


def made(draw: Draw, chip: str) -> str:
    """A right text."""
    drawn, body = CubeCore(draw), list[Statement]()
    while drawn.left > 0:
        body += drawn.block((), 0)
    writer = Writer()
    writer.body(ordered(draw, chip, tuple(body)), {name: f"%{name}" for name in SIZES})
    return module(chip, function("k", "cube", _ARGS, _HEAD, writer.lines))
