"""Loops and branches of generated kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pypto_verified.dtypes import BOOL, INDEX
from pypto_verified.fuzz.builder import MAX_TRIPS, SPAN, Builder, Loop, dims, numbers
from pypto_verified.fuzz.draw import chance, choice, weighted
from pypto_verified.fuzz.indices import condition, count
from pypto_verified.fuzz.names import assigned, mentioned
from pypto_verified.fuzz.storage import ring
from pypto_verified.fuzz.vector import pick, store
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Expr, Var
from pypto_verified.ir.stmt import Assign, Break, Continue, For, If, IterArg, LoopKind, While, Yield
from pypto_verified.ir.types import ScalarType, TileType

_TWINS = 5
Fill = Callable[[Builder, int], None]
"""Adds statements to the open block."""


Bounds = tuple[Expr, Expr, Expr, int]
"""Start, stop, step and the greatest value of the variable plus one."""


def _bounds(b: Builder) -> Bounds:
    match weighted(b.draw, (("const", 6), ("run", 4), ("step", 2), ("from", 1), ("stride", 1), ("inner", 2),
                            ("counted", 8 if b.counters else 0))):
        case "counted":
            c = choice(b.draw, b.counters)
            return Const(0), c.var, Const(1), c.limit - 1
        case "from":
            return b.integer((0, 1, 2, MAX_TRIPS)), Const(MAX_TRIPS), Const(1), MAX_TRIPS
        case "stride":
            return Const(0), Const(MAX_TRIPS), b.integer((1, 2, 3)), MAX_TRIPS
        case "inner" if b.loops:
            outer = b.loops[-1]
            return Const(0), Binary(BinaryOp.ADD, outer.var, Const(1), INDEX), Const(1), outer.trips
        case "run":
            return Const(0), b.integer((0, 1, 2, 3, MAX_TRIPS)), Const(1), MAX_TRIPS
        case "step":
            start = b.draw.integer(0, 1)
            return Const(start), Const(start + 2 * b.draw.integer(0, 1) + 1), Const(2), MAX_TRIPS
        case _:
            trips = choice(b.draw, (0, 1, 2, 2, 3, 3, 4))
            return Const(0), Const(trips), Const(1), max(trips, 1)


def loop(b: Builder, fill: Fill, depth: int) -> bool:
    """A loop, sometimes with a twin; what it carries it names (init values and a yield) or simply assigns again."""
    bounds = _bounds(b)
    var = Var(b.name("i"), ScalarType(INDEX))
    kind = weighted(b.draw, ((LoopKind.SEQUENTIAL, 8), (LoopKind.PIPELINE, 1), (LoopKind.PARALLEL, 1),
                             (LoopKind.UNROLL, 2)))
    if kind is LoopKind.UNROLL and not all(isinstance(e, Const) for e in bounds[:3]):
        kind = LoopKind.SEQUENTIAL
    _add_loop(b, fill, depth, var, bounds, kind)
    if not depth and b.count % _TWINS == 0:
        _twin(b, fill, bounds, kind)
    return True


def _add_loop(b: Builder, fill: Fill, depth: int, var: Var, bounds: Bounds, kind: LoopKind) -> None:
    start, stop, step, limit = bounds
    carried = _carried(b) if kind is LoopKind.SEQUENTIAL and chance(b.draw, 45) else []
    iters = tuple(IterArg(Var(b.name("p"), v.type), v) for v in carried)
    b.loops.append(Loop(var, limit))
    with b.block() as body:
        b.scopes[-1].update({a.var.name: a.var for a in iters})
        if kind is LoopKind.SEQUENTIAL and chance(b.draw, 15):
            ring(b, var)
        fill(b, depth + 1)
        counted = any(c.var is stop for c in b.counters) and count(b)
        if not iters and kind is LoopKind.SEQUENTIAL and chance(b.draw, 50 if counted else 15):
            _leave(b, var, fill, depth)
        if iters:
            b.add(Yield(_handed_on(b, iters), SPAN))
    b.loops.pop()
    results = tuple(Var(b.name("q"), v.type) for v in carried)
    b.add(For(var, start, stop, step, iters, tuple(body), results, kind, SPAN))
    b.scopes[-1].update({v.name: v for v in results})


def _twin(b: Builder, fill: Fill, bounds: Bounds, kind: LoopKind) -> None:
    """A loop over the turns of the last one, which has nothing to do with it: the two may be one (`variants`). Which
    loops get one is told by the names so far, not by a draw, so that all other kernels stay what they were."""
    last = b.blocks[-1][-1:]
    scopes, theirs, counters = b.scopes, assigned(last), b.counters
    b.scopes = [{name: v for scope in scopes for name, v in scope.items() if name not in theirs}]
    b.kept, b.counters = mentioned(last), []
    _add_loop(b, fill, 0, Var(b.name("i"), ScalarType(INDEX)), bounds, kind)
    made, b.scopes, b.kept, b.counters = b.scopes[0], scopes, frozenset(), counters
    b.scopes[-1].update(made)


def _movable(t: TileType) -> bool:
    """Whether a tile has no storage that the kernel's author chose: only such a one is carried and merged."""
    return t.memref is None


def _carried(b: Builder) -> list[Var]:
    """One or two tiles, often of one type."""
    first = pick(b, _movable)
    if first is None:
        return []
    like = [v for v in b.tiles() if v.type == first.type and v.name != first.name]
    second = choice(b.draw, like) if like and chance(b.draw, 60) else pick(b, _movable)
    return [v for v in dict.fromkeys((first, second)) if v is not None]


def _handed_on(b: Builder, iters: tuple[IterArg, ...]) -> tuple[Var, ...]:
    """The values of the next trip: the carried ones exchanged, or any of their types."""
    if len(iters) == 2 and iters[0].var.type == iters[1].var.type and chance(b.draw, 50):
        return iters[1].var, iters[0].var
    return tuple(_same_type(b, a.var) for a in iters)


def _same_type(b: Builder, var: Var) -> Var:
    return choice(b.draw, [v for v in b.tiles() if v.type == var.type])


def decide(b: Builder) -> bool:
    """A store under a condition, which its output tells in any case."""
    tile = pick(b, lambda t: t.shape[1] > 1 and 0 not in t.valid_shape)
    if tile is None:
        return False
    out = b.out(b.tile(tile).shape, b.tile(tile).dtype, partly=True)
    with b.block() as body:
        store(b, tile, out, numbers(0, 0))
    b.add(If(condition(b), tuple(body), (), (), SPAN))
    return True


def _leave(b: Builder, var: Var, fill: Fill, depth: int) -> None:
    """The rest of the trip, or of the loop, is left out under a condition."""
    with b.block() as body:
        if chance(b.draw, 50):
            fill(b, depth + 1)
        b.add(Break(SPAN) if chance(b.draw, 60) else Continue(SPAN))
    b.add(If(Binary(BinaryOp.EQ, var, Const(b.draw.integer(0, 2)), BOOL), tuple(body), (), (), SPAN))
    fill(b, depth + 1)


def repeat(b: Builder, fill: Fill, depth: int) -> bool:
    """A loop that ends by a condition on a scalar which the body counts up."""
    count = Var(b.name("w"), ScalarType(INDEX))
    limit: Expr = b.integer((0, 1, 2, 3)) if chance(b.draw, 50) else Const(b.draw.integer(0, 3))
    b.scalar(count, Const(0))
    with b.block() as body:
        fill(b, depth + 1)
        b.scalar(count, Binary(BinaryOp.ADD, count, Const(1), INDEX))
    b.add(While(Binary(BinaryOp.LT, count, limit, BOOL), (), tuple(body), (), (), SPAN))
    return True


def branch(b: Builder, fill: Fill, depth: int) -> bool:
    """A branch; both sides may assign tiles of the scopes outside again, or yield one of equal type."""
    with_result = pick(b, _movable) if chance(b.draw, 30) else None
    sides = []
    for other in (False, True):
        with b.block() as body:
            if not other or with_result is not None or chance(b.draw, 60):
                fill(b, depth + 1)
            if with_result is not None:
                b.add(Yield((_same_type(b, with_result),), SPAN))
        sides.append(tuple(body))
    results = () if with_result is None else (Var(b.name("r"), with_result.type),)
    b.add(If(condition(b), sides[0], sides[1], results, SPAN))
    b.scopes[-1].update({v.name: v for v in results})
    return True


def tail(b: Builder, fill: Fill, depth: int) -> bool:
    """A loop over a tensor of dynamic size by whole tiles, the last of which is partial."""
    source = pick(b, lambda t: t.shape[1] > 1 and t.shape[0] > 1 and t.valid_shape == t.shape)
    if source is None or depth:
        return False
    t = b.tile(source)
    rows, columns = t.shape
    across = chance(b.draw, 25)
    step = columns if across else rows
    size = _extent(b, b.size((0, 1, step, step + 1, 2 * step - 1, 3 * step)), step)
    shape = (rows, size) if across else (size, columns)
    tensor, out = b.tensor(shape, t.dtype), b.out(shape, t.dtype)
    start = Var(b.name("row" if not across else "column"), ScalarType(INDEX))
    at = dims((0, start) if across else (start, 0))
    with b.block() as body:
        left = Binary(BinaryOp.MIN, Const(step), Binary(BinaryOp.SUB, size, start, INDEX), INDEX)
        count = Var(b.name("k"), ScalarType(INDEX))
        b.scalar(count, left)
        valid = dims((rows, count) if across else (count, columns))
        loaded = b.assign(b.call("tile.load", (tensor, at, numbers(rows, columns), valid)))
        fill(b, depth + 1)
        kept = [v for v in b.tiles() if v.type == loaded.type]
        store(b, choice(b.draw, kept), out, at)
    b.add(For(start, Const(0), size, Const(step), (), tuple(body), (), LoopKind.SEQUENTIAL, SPAN))
    return True


def _extent(b: Builder, size: Var, step: int) -> Expr:
    """A dynamic size, or one that is made of it."""
    match weighted(b.draw, (("size", 6), ("more", 2), ("double", 2))):
        case "more":
            return Binary(BinaryOp.ADD, size, Const(choice(b.draw, (1, step))), INDEX)
        case "double":
            return Binary(BinaryOp.MUL, size, Const(2), INDEX)
        case _:
            return size


def rename(b: Builder) -> bool:
    """A tile under the name of another of its type."""
    pairs = [(v, w) for v in b.tiles() for w in b.tiles()
             if v.type == w.type and v.name != w.name and v.name not in b.kept]
    if not pairs:
        return False
    var, value = choice(b.draw, pairs)
    assert isinstance(var.type, TileType)
    b.add(Assign(var, replace(value), SPAN))
    return True


def store_in_loop(b: Builder) -> bool:
    """A store at a place that moves with the innermost loop."""
    tile = pick(b, lambda t: t.shape[1] > 1)
    if tile is None or not b.loops:
        return False
    t, inner = b.tile(tile), b.loops[-1]
    out = b.out((t.shape[0] * inner.trips, t.shape[1]), t.dtype)
    store(b, tile, out, dims((b.scaled(inner.var, t.shape[0]), 0)))
    return True
