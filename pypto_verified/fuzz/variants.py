"""Other kernels and other modules that must give the same: independent statements exchanged, a loop in two parts, two
loops as one, every tile at another address."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from types import UnionType

from pypto_verified.compiler import Artifact
from pypto_verified.dtypes import INDEX
from pypto_verified.fuzz.names import Block, apart
from pypto_verified.ir.expr import Binary, BinaryOp, Call, Const, Expr, Var
from pypto_verified.ir.rewrite import map_exprs
from pypto_verified.ir.stmt import Assign, Break, Continue, For, Function, LoopKind, Stmt, Yield
from pypto_verified.ir.walk import blocks, definitions, walk_expr, walk_stmts
from pypto_verified.pto.module import Op
from pypto_verified.pto.types import TileBufType
from pypto_verified.pto.walk import walk_ops
from pypto_verified.targets import Target

_SWAPS = 12


def variants(function: Function, seed: int) -> Iterator[tuple[str, Function]]:
    """(what was done, the kernel) for each rewrite that applies."""
    body = _exchanged(function.body, random.Random(seed))
    if body != function.body:
        yield "independent ops exchanged", replace(function, body=body)
    body = _split(function.body)
    if body != function.body:
        yield "a loop in two", replace(function, body=body)
    body = _merged(function.body)
    if body != function.body:
        yield "two loops as one", replace(function, body=body)


def _exchanged(body: Block, draw: random.Random) -> Block:
    """Neighbours that do not depend on each other in the other order, several times over."""
    statements = list(body)
    for _ in range(_SWAPS if len(statements) > 1 else 0):
        k = draw.randrange(len(statements) - 1)
        if _independent(statements[k], statements[k + 1]):
            statements[k], statements[k + 1] = statements[k + 1], statements[k]
    return tuple(statements)


def _independent(a: Stmt, b: Stmt) -> bool:
    """Whether two assignments of op results commute."""
    if not (isinstance(a, Assign) and isinstance(b, Assign)):
        return False
    return isinstance(a.value, Call) and isinstance(b.value, Call) and apart((a,), (b,))


def _split(body: Block) -> Block:
    """The first loop of the block that can be cut, as two loops over its halves."""
    for k, s in enumerate(body):
        if isinstance(s, For) and not s.iter_args and s.kind is LoopKind.SEQUENTIAL and not _is_left(s):
            cut = _cut(s)
            if cut is not None:
                return (*body[:k], replace(s, stop=cut[0]), replace(s, start=cut[1]), *body[k + 1:])
    return body


def _cut(loop: For) -> tuple[Expr, Expr] | None:
    """Where the first part of a loop ends and the second begins: in the middle, or after the first turn of as many as a
    size says, which may be none."""
    start, stop, step = (_constant(e) for e in (loop.start, loop.stop, loop.step))
    if start is None or step is None:
        return None
    if stop is None:
        changed = {v.name for s in walk_stmts(loop.body) for v in definitions(s)}
        if any(isinstance(e, Var) and e.name in changed for e in walk_expr(loop.stop)):
            return None  # the second part would go by what the first has made of it
        second = Const(start + step)
        return Binary(BinaryOp.MIN, loop.stop, second, INDEX), second
    turns = len(range(start, stop, step))
    return (Const(start + turns // 2 * step),) * 2 if turns > 1 else None


def _is_left(loop: For, by: type[Break] | UnionType = Break) -> bool:
    return any(isinstance(s, by) for block in blocks(loop) for s in walk_stmts(block))


def _merged(body: Block) -> Block:
    """The first two neighbours that run over the same turns and have nothing to do with each other, as one loop."""
    for k, (a, b) in enumerate(pairwise(body)):
        if isinstance(a, For) and isinstance(b, For) and _mergeable(a, b):
            return (*body[:k], _joined(a, b), *body[k + 2:])
    return body


def _mergeable(a: For, b: For) -> bool:
    same = (a.start, a.stop, a.step, a.kind) == (b.start, b.stop, b.step, b.kind)
    return same and apart((a,), (b,)) and not any(_is_left(loop, Break | Continue) for loop in (a, b))


def _joined(a: For, b: For) -> For:
    """In each turn what the one does, and then what the other does."""
    theirs = map_exprs(b.body, lambda e: a.var if isinstance(e, Var) and e.name == b.var.name else e)
    values = tuple(value for s in (*a.body, *theirs) if isinstance(s, Yield) for value in s.values)
    both = tuple(s for s in (*a.body, *theirs) if not isinstance(s, Yield))
    return replace(
        a, iter_args=(*a.iter_args, *b.iter_args), results=(*a.results, *b.results),
        body=(*both, Yield(values)) if values else both)


def _constant(e: Expr) -> int | None:
    return int(e.value) if isinstance(e, Const) else None


def moved(artifact: Artifact, chip: Target) -> bool:
    """Put every tile of a module a step further, if each space has room. The module is changed; False if it is not."""
    ops = list(walk_ops(artifact.module.funcs[0]))
    constants = {id(op.result): op for op in ops if op.name == "arith.constant"}
    allocations = [op for op in ops if op.name == "pto.alloc_tile"]
    found = [_addressed(op, constants) for op in allocations]
    used = {id(pair[1]) for pair in found if pair is not None}
    if not found or None in found or _used_elsewhere(ops, constants, used):
        return False
    tiles = [pair for pair in found if pair is not None]
    step = max(chip.alignment(t.loc) for t, _ in tiles)
    if any(_value(at) + step + t.bytes > chip.capacity(t.loc) for t, at in tiles):
        return False
    for at in {id(at): at for _, at in tiles}.values():
        at.attrs["value"] = _value(at) + step
    return True


def _value(constant: Op) -> int:
    value = constant.attrs["value"]
    assert isinstance(value, int)
    return value


def _addressed(op: Op, constants: dict[int, Op]) -> tuple[TileBufType, Op] | None:
    """The type of an allocation and the constant that is its address."""
    address = op.opt("addr")
    constant = constants.get(id(address)) if address is not None else None
    type_ = op.result.type
    return (type_, constant) if constant is not None and isinstance(type_, TileBufType) else None


def _used_elsewhere(ops: list[Op], constants: dict[int, Op], used: set[int]) -> bool:
    """Whether a constant that is an address is something else too."""
    return any(
        id(constants.get(id(value))) in used
        for op in ops for group, values in op.args.items() if (op.name, group) != ("pto.alloc_tile", "addr")
        for value in values if id(value) in constants
    )
