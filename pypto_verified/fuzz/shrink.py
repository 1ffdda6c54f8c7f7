"""A smaller kernel with the same find: statements dropped, loops and branches opened, unused parameters left out.

Every step only removes something, so the search ends; it is repeated until nothing more can go or the budget is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pypto_verified.dtypes import INDEX
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.ir.expr import Binary, BinaryOp, Call, Const, Expr, Var
from pypto_verified.ir.rewrite import map_exprs
from pypto_verified.ir.stmt import Assign, Direction, Eval, For, Function, If, Return, Stmt, While, Yield
from pypto_verified.ir.types import ScalarType, TensorType, TileType, Type
from pypto_verified.ir.walk import definitions, free_vars, operands, type_exprs, walk_expr, walk_stmts

BUDGET = 400
Holds = Callable[[Kernel], bool]
"""Whether a candidate still shows the find."""

Block = tuple[Stmt, ...]


def shrunk(kernel: Kernel, holds: Holds, budget: int = BUDGET) -> Kernel:
    """The smallest kernel found within `budget` candidates; the kernel itself if none is smaller."""
    best, left = _pruned(kernel), budget
    if best.function != kernel.function and not holds(best):
        best = kernel
    progress = True
    while progress and left > 0:
        progress = False
        for body in _smaller(best.function.body):
            candidate = _pruned(replace(best, function=replace(best.function, body=body)))
            if not _closed(candidate.function) or (_stores(best.function) and not _stores(candidate.function)):
                continue
            left -= 1
            if holds(candidate):
                best, progress = candidate, True
                break
            if left <= 0:
                break
    return best


def size(function: Function) -> int:
    """Statements that do something: all but yields and the return."""
    return sum(not isinstance(s, Return | Yield) for s in walk_stmts(function.body))


def _smaller(body: Block) -> Iterator[Block]:
    """Candidates for a block, the boldest first."""
    for width in (8, 4, 2):
        if len(body) > width:
            for end in range(len(body), 0, -width):
                kept = [s for s in body[max(0, end - width):end] if isinstance(s, Return | Yield)]
                if len(kept) < end - max(0, end - width):
                    yield (*body[: max(0, end - width)], *kept, *body[end:])
    for at in reversed(range(len(body))):
        for new in _without(body[at]):
            yield (*body[:at], *new, *body[at + 1:])
    for at in reversed(range(len(body))):
        s = body[at]
        if isinstance(s, Assign):
            for other in _stand_ins(s, body[:at]):
                yield (*body[:at], *map_exprs(body[at + 1:], _renaming(s.var, other)))


def _without(s: Stmt) -> Iterator[Block]:
    """What may stand in the place of a statement."""
    match s:
        case Return() | Yield():
            return
        case For():
            yield ()
            yield _opened(s)
            for body in _smaller(s.body):
                yield (replace(s, body=body),)
        case If():
            yield ()
            for block in (s.then, s.orelse):
                yield _named(block, s.results)
            for then in _smaller(s.then):
                yield (replace(s, then=then),)
            for orelse in _smaller(s.orelse):
                yield (replace(s, orelse=orelse),)
        case While():
            yield ()
        case _:
            yield ()


def _opened(loop: For) -> Block:
    """The first trip of a loop."""
    start = loop.start
    begin: list[Stmt] = [Assign(loop.var, start, loop.span)] if not isinstance(start, Const) else []
    begin += [Assign(a.var, a.init, loop.span) for a in loop.iter_args]
    body = loop.body
    if isinstance(start, Const):
        body = map_exprs(body, lambda e: start if isinstance(e, Var) and e.name == loop.var.name else _number(e))
    return (*begin, *_named(body, loop.results))


def _number(e: Expr) -> Expr:
    """Arithmetic on numbers as its result, as which a kernel's text is read too."""
    match e:
        case Binary(op=BinaryOp.ADD, lhs=Const(value=int(a)), rhs=Const(value=int(b)), dtype=dtype) if dtype == INDEX:
            return Const(a + b)
        case Binary(op=BinaryOp.SUB, lhs=Const(value=int(a)), rhs=Const(value=int(b)), dtype=dtype) if dtype == INDEX:
            return Const(a - b)
        case Binary(op=BinaryOp.MUL, lhs=Const(value=int(a)), rhs=Const(value=int(b)), dtype=dtype) if dtype == INDEX:
            return Const(a * b)
        case _:
            return e


def _named(block: Block, results: tuple[Var, ...]) -> Block:
    """A block whose yield gives names to its values."""
    body = [s for s in block if not isinstance(s, Yield)]
    values: tuple[Expr, ...] = next((s.values for s in block if isinstance(s, Yield)), ())
    return (*body, *(Assign(v, value) for v, value in zip(results, values, strict=False)))


def _stand_ins(s: Assign, before: Block) -> Iterator[Var]:
    """Variables that may be used instead: what a move moves, where the compiler moves it to anyway; those of the same
    type, operands first, then older names; tiles of other views."""
    own = [e for e in walk_expr(s.value) if isinstance(e, Var)]
    known = (*own, *(v for b in before for v in definitions(b)))
    moved = own[:1] if isinstance(s.value, Call) and s.value.op == "tile.move" else []
    same = [v for v in known if v.type == s.var.type]
    alike = [v for v in known if _alike(v.type, s.var.type)]
    yield from {v.name: v for v in (*moved, *same, *alike) if v.name != s.var.name}.values()


def _alike(a: Type, b: Type) -> bool:
    """Whether types are those of tiles in one space with equal extents and elements."""
    if not isinstance(a, TileType) or not isinstance(b, TileType):
        return False
    return (a.shape, a.dtype, a.space) == (b.shape, b.dtype, b.space)


def _renaming(old: Var, new: Var) -> Callable[[Expr], Expr]:
    return lambda e: new if isinstance(e, Var) and e.name == old.name else e


def _stores(function: Function) -> bool:
    """Whether there is an output: a kernel without one is refuted for that alone, beside what was found."""
    return any(p.direction is not Direction.IN for p in function.params)


def _closed(function: Function) -> bool:
    """Whether every name is a parameter, a size, or defined before it is used."""
    known = {p.var.name for p in function.params} | set(function.dynamic)
    return set(free_vars(function.body)) <= known


def _pruned(kernel: Kernel) -> Kernel:
    """Without parameters that nothing uses, and outputs that nothing stores."""
    function = kernel.function
    stored = {s.var.name for s in walk_stmts(function.body) if isinstance(s, Assign)}
    used = _used(function.body)
    params = tuple(
        p for p in function.params
        if (p.var.name in stored if p.direction is not Direction.IN else p.var.name in used)
        or (isinstance(p.var.type, ScalarType) and _in_shapes(function, p.var.name))
    )
    outs = tuple(p.var for p in params if p.direction is not Direction.IN)
    body = tuple(Return(outs, s.span) if isinstance(s, Return) else s for s in function.body)
    shapes = {d.name for p in params for d in type_exprs(p.var.type) if isinstance(d, Var)}
    dynamic = tuple(name for name in function.dynamic if name in shapes)
    new = replace(function, params=params, body=body, returns=tuple(v.type for v in outs), dynamic=dynamic)
    names = {p.var.name for p in params} | set(dynamic)
    return replace(kernel, function=new, ranges={n: r for n, r in kernel.ranges.items() if n in names})


def _used(body: Block) -> set[str]:
    found = {e.name for s in walk_stmts(body) if not isinstance(s, Return) for o in operands(s) for e in walk_expr(o)
             if isinstance(e, Var)}
    for s in walk_stmts(body):
        for v in definitions(s):
            found |= {e.name for d in type_exprs(v.type) for e in walk_expr(d) if isinstance(e, Var)}
        if isinstance(s, Eval):
            found |= {e.name for e in walk_expr(s.call) if isinstance(e, Var)}
    return found


def _in_shapes(function: Function, name: str) -> bool:
    return any(
        isinstance(d, Var) and d.name == name
        for p in function.params if isinstance(p.var.type, TensorType) for d in type_exprs(p.var.type)
    )
