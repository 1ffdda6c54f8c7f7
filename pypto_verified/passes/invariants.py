"""Structural checks of the IR between passes. Cheap: one walk over the function each, no solver.

A violation is a defect of a pass, never of the user's kernel; hence AssertionError, not PtoError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pypto_verified.ir.expr import Call, Expr, Var
from pypto_verified.ir.stmt import Assign, Break, Continue, Eval, For, Function, If, LoopKind, Stmt, While
from pypto_verified.ir.types import TileType
from pypto_verified.ir.walk import definitions, operands, walk_expr, walk_stmts
from pypto_verified.layouts import Compact
from pypto_verified.ops.memory import COMPACT_SPACES
from pypto_verified.passes.buffer_table import SLOT_PREFIX
from pypto_verified.passes.rewrite import yielded

Check = Callable[[Function], Iterator[str]]
"""Yields one sentence per violation."""


def unrolled(function: Function) -> Iterator[str]:
    """No unroll loop."""
    for s in walk_stmts(function.body):
        if isinstance(s, For) and s.kind is LoopKind.UNROLL:
            yield f"unroll loop over {s.var.name}"


def structured(function: Function) -> Iterator[str]:
    """No break, no continue."""
    for s in walk_stmts(function.body):
        if isinstance(s, Break | Continue):
            yield "break or continue"


def ssa(function: Function) -> Iterator[str]:
    """Each name is defined once, before its uses and in scope; blocks yield as many values as there are results."""
    seen: set[str] = set()
    scope = {*function.dynamic, *(p.var.name for p in function.params)}
    yield from _ssa_block(function.body, scope, seen)


def _ssa_block(body: tuple[Stmt, ...], scope: set[str], seen: set[str]) -> Iterator[str]:
    for s in body:
        inner = set(scope)
        if isinstance(s, While):
            inner |= {a.var.name for a in s.iter_args}
            inner |= {v.name for p in s.prelude for v in definitions(p)}
        for e in operands(s):
            yield from (f"{v} used outside its scope" for v in _names(e) if v not in inner)
        for v in definitions(s):
            if v.name in seen:
                yield f"{v.name} defined twice"
            seen.add(v.name)
        if isinstance(s, For | While):
            own = {a.var.name for a in s.iter_args} | ({s.var.name} if isinstance(s, For) else set())
            if isinstance(s, While):
                own |= {v.name for p in s.prelude for v in definitions(p)}
                yield from _ssa_block(s.prelude, scope | own, seen)
            yield from _ssa_block(s.body, scope | own, seen)
            if not len(s.iter_args) == len(s.results) == len(yielded(s.body)):
                yield f"loop with {len(s.iter_args)} carried, {len(yielded(s.body))} yielded, {len(s.results)} results"
        if isinstance(s, If):
            for block in (s.then, s.orelse):
                yield from _ssa_block(block, set(scope), seen)
                if len(yielded(block)) != len(s.results):
                    yield f"branch with {len(s.results)} results yields {len(yielded(block))}"
        scope |= {s.var.name} if isinstance(s, Assign) else {v.name for v in _results(s)}


def _results(s: Stmt) -> tuple[Var, ...]:
    return s.results if isinstance(s, For | While | If) else ()


def _names(e: Expr) -> Iterator[str]:
    return (x.name for x in walk_expr(e) if isinstance(x, Var))


def uncopied(function: Function) -> Iterator[str]:
    """No variable is another name of one."""
    for s in walk_stmts(function.body):
        if isinstance(s, Assign) and isinstance(s.value, Var):
            yield f"{s.var.name} is another name of {s.value.name}"


def flat_calls(function: Function) -> Iterator[str]:
    """Calls stand only as the value of an assignment or alone."""
    for s in walk_stmts(function.body):
        for e in operands(s):
            inner = walk_expr(e)
            if isinstance(s, Assign | Eval):
                next(inner)
            yield from (f"nested {x.op}" for x in inner if isinstance(x, Call))


def _tiles(function: Function) -> Iterator[tuple[str, TileType]]:
    for s in walk_stmts(function.body):
        for v in definitions(s):
            if isinstance(v.type, TileType):
                yield v.name, v.type
        for e in operands(s):
            for x in walk_expr(e):
                if isinstance(x, Var) and isinstance(x.type, TileType):
                    yield x.name, x.type


def spaces(function: Function) -> Iterator[str]:
    """Every tile has a space."""
    return (f"{name} has no space" for name, t in _tiles(function) if t.space is None)


def two_dims(function: Function) -> Iterator[str]:
    """Every tile is 2-D."""
    return (f"{name} has shape {t.shape}" for name, t in _tiles(function) if len(t.shape) != 2)


def views(function: Function) -> Iterator[str]:
    """Every tile has a complete view."""
    return (
        f"{name} has no complete view" for name, t in _tiles(function)
        if t.view is None or len(t.view.valid_shape) != len(t.shape)
    )


def compact_in_l0(function: Function) -> Iterator[str]:
    """Only Left, Right and Acc tiles are compact (CA-04)."""
    for name, t in _tiles(function):
        if t.view is not None and t.view.compact is not Compact.NULL and t.space not in COMPACT_SPACES:
            yield f"{name} is compact in {t.space and t.space.value}"


def consistent(function: Function) -> Iterator[str]:
    """A variable has one type, at its definition and at every use."""
    types: dict[str, TileType] = {}
    for name, t in _tiles(function):
        if types.setdefault(name, t) != t:
            yield f"{name} has two types"


def memrefs(function: Function) -> Iterator[str]:
    """Every tile has a MemRef."""
    return (f"{name} has no MemRef" for name, t in _tiles(function) if t.memref is None)


def carried_in_place(function: Function) -> Iterator[str]:
    """Initial, carried, yielded and resulting tiles are one buffer; so are the values that leave a branch."""
    for s in walk_stmts(function.body):
        if isinstance(s, For | While):
            for a, value, result in zip(s.iter_args, yielded(s.body), s.results, strict=True):
                yield from _one_buffer(a.var, a.init, value, result)
        if isinstance(s, If):
            for result, x, y in zip(s.results, yielded(s.then), yielded(s.orelse), strict=True):
                yield from _one_buffer(result, x, y)


def _one_buffer(first: Var, *others: Expr) -> Iterator[str]:
    if not isinstance(first.type, TileType):
        return
    for e in others:
        memref = e.type.memref if isinstance(e, Var) and isinstance(e.type, TileType) else None
        ours = first.type.memref
        if ours is None or memref is None or (memref.base, memref.offset) != (ours.base, ours.offset):
            yield f"{first.name} and {e.name if isinstance(e, Var) else e} are not one buffer"


def addresses(function: Function) -> Iterator[str]:
    """Every tile but those in pipe slots has an address."""
    for name, t in _tiles(function):
        if t.memref is not None and t.memref.offset is None and not t.memref.base.startswith(SLOT_PREFIX):
            yield f"{name} has no address"


def check(function: Function, properties: tuple[Check, ...], after: str) -> None:
    """Raise AssertionError naming the pass and the first violations, if any."""
    found = [f"{p.__name__}: {text}" for p in properties for text in p(function)]
    assert not found, f"after {after}, '{function.name}': " + "; ".join(found[:5])
