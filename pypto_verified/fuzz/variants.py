"""Other kernels and other modules that must give the same: independent statements exchanged, a loop in two parts, every
tile at another address."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from pypto_verified.compiler import Artifact
from pypto_verified.ir.expr import Call, Const, Expr
from pypto_verified.ir.stmt import Assign, Break, For, Function, LoopKind, Stmt
from pypto_verified.ir.walk import blocks, free_vars, type_exprs, walk_stmts
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


def _exchanged(body: tuple[Stmt, ...], draw: random.Random) -> tuple[Stmt, ...]:
    """Neighbours that do not depend on each other in the other order, several times over."""
    statements = list(body)
    for _ in range(_SWAPS if len(statements) > 1 else 0):
        k = draw.randrange(len(statements) - 1)
        if _independent(statements[k], statements[k + 1]):
            statements[k], statements[k + 1] = statements[k + 1], statements[k]
    return tuple(statements)


def _independent(a: Stmt, b: Stmt) -> bool:
    """Whether two assignments of op results commute: neither names what the other defines. A call made for its effect
    changes a tile in place, so what it must stay behind is not told by names."""
    if not (isinstance(a, Assign) and isinstance(b, Assign)):
        return False
    if not (isinstance(a.value, Call) and isinstance(b.value, Call)):
        return False
    return a.var.name not in _mentioned(b) and b.var.name not in _mentioned(a)


def _mentioned(s: Assign) -> set[str]:
    names = {s.var.name, *free_vars(s.value)}
    for dim in type_exprs(s.var.type):
        names.update(free_vars(dim))
    return names


def _split(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The first loop of the block that can be cut, as two loops over its halves."""
    for k, s in enumerate(body):
        if isinstance(s, For) and not s.iter_args and s.kind is LoopKind.SEQUENTIAL and not _is_left(s):
            start, stop, step = (_constant(e) for e in (s.start, s.stop, s.step))
            if start is not None and stop is not None and step is not None and len(range(start, stop, step)) > 1:
                middle = Const(start + len(range(start, stop, step)) // 2 * step)
                return (*body[:k], replace(s, stop=middle), replace(s, start=middle), *body[k + 1:])
    return body


def _is_left(loop: For) -> bool:
    return any(isinstance(s, Break) for block in blocks(loop) for s in walk_stmts(block))


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
