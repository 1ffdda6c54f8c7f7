"""Which numbers the runs of a function are tried with: small ones, and those past which something may change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from types import MappingProxyType

from pypto_verified.index import Cond, Expr, holds, symbols_of
from verifiers.access import AccessProgram, Loop, SymbolKind, TileUse
from verifiers.flags import trip_names
from verifiers.race.values import Values
from verifiers.solver.cone import conjuncts, names_of

_CHOSEN = frozenset({SymbolKind.DIM, SymbolKind.BLOCK, SymbolKind.PARAM, SymbolKind.SIZE})
MOST_TRIED = 240
"""Choices of numbers that are tried for one function."""
_SMALL = (1, 2, 3, 0, 4, 5)
_MOST_BLOCKS = 128
_FARTHEST, _MOST_TURNS = 2048, 4


def choices(
    program: AccessProgram, background: Cond, told: Mapping[str, int] = MappingProxyType({}),
    named: frozenset[str] | None = None,
) -> Iterator[dict[str, int]]:
    """Values for extents, block indices and parameters, small ones first, under which the assumptions hold; those of
    `told` stay, and those that are not `named` have one value: they make no difference."""
    kinds = program.symbols.kinds
    names = [n for n, k in kinds.items() if k in _CHOSEN or n in trip_names(program)]
    used = deciding(program) if named is None else deciding(program) & named
    moving = [n for n in names if n in used and n not in told][:6]
    loops = _loops(program)
    steps = sorted({s for loop in loops for s in _strides(loop)} | {
        v for n, v in told.items() if v > 1 and kinds.get(n) in _CHOSEN})
    scale = max(steps, default=1)
    small = list(dict.fromkeys(k * s + d for s in (1, *steps) for k in _SMALL for d in (0, 1) if not d or s > 1))
    far = [n for n in turns(program) if n not in small]
    moving = [n for n in moving if _allowed(n, tuple(small), background) in small]
    launched = (n for n, k in kinds.items() if k is SymbolKind.LAUNCH and n not in told)
    launch = {n: v for n in launched if (v := _allowed(n, tuple(range(1, _MOST_BLOCKS)), background)) > 1}
    fixed = launch | {
        n: 0 if kinds[n] is SymbolKind.BLOCK else _allowed(n, (4 * scale, *small), background)
        for n in names if n not in moving}
    full = {n: v for n, v in _full_extents(program).items() if n in moving}
    tried = 0
    for values in _mixed(moving, small, far, full):
        given = {**fixed, **dict(zip(moving, values, strict=True)), **told}
        if kinds.get("subblock_idx") is SymbolKind.BLOCK and given.get("subblock_idx", 0) > 1:
            continue
        found = Values(program, given)
        try:
            if found.holds(background):
                yield given
        except ZeroDivisionError:
            continue
        tried += 1
        if tried >= MOST_TRIED:
            return


def _allowed(name: str, values: tuple[int, ...], background: Cond) -> int:
    """The first of the values under which what is assumed of this symbol alone holds, else one at the edge of that; the
    first one if none does."""
    alone = [c for c in conjuncts(background) if names_of(c) == {name}]
    edges = (e for c in alone for e in _edges(c))
    return next((v for v in (*values, *edges) if all(holds(c, {name: v}) for c in alone)), values[0])


def _edges(c: Cond) -> Iterator[int]:
    """Numbers next to where a linear condition on one symbol begins to hold."""
    if c.expr is not None and len(c.expr.terms) == 1:
        ((_, factor),) = c.expr.terms
        yield from (-c.expr.constant // factor + d for d in (0, 1))


def _mixed(
    moving: list[str], small: list[int], far: list[int], full: Mapping[str, int]
) -> Iterator[tuple[int, ...]]:
    """The same number for all, the same but for valid extents, which are whole, then all combinations of the first few
    of the small ones."""
    if not moving:
        yield ()
        return
    same = [(v,) * len(moving) for v in (*small, *far)]
    same += [tuple(full.get(n, v) for n in moving) for v in (*small, *far) if full]
    yield from dict.fromkeys(same)
    seen = set(same)
    for values in product(small[:8], repeat=len(moving)):
        if values not in seen:
            yield values


def _full_extents(program: AccessProgram) -> dict[str, int]:
    """What symbols are at most that stand for the valid extents of tiles."""
    found: dict[str, int] = {}
    for made in program.defined:
        tile = made.tile
        for valid, physical in ((tile.valid_rows, tile.type.rows), (tile.valid_cols, tile.type.cols)):
            named = symbols_of(valid)
            if len(named) == 1 and valid.terms and valid.terms[0][0][0].kind == "sym":
                (name,) = named
                found[name] = min(found.get(name, physical), physical)
    return found


@lru_cache(maxsize=1)
def deciding(program: AccessProgram) -> frozenset[str]:
    """Names in the bounds of loops, in the conditions of branches and in valid extents: what a run goes by."""
    bounds = [b for loop in _loops(program) for b in (loop.lower, loop.upper, loop.step) if b is not None]
    bounds += [e for made in program.defined for e in (made.tile.valid_rows, made.tile.valid_cols)]
    handed = (s for loop in _loops(program) for c in loop.carried for s in (c.start, c.following) if s is not None)
    named = {n for b in (*bounds, *handed) for n in symbols_of(b)}
    return frozenset(named.union(*(symbols_of(step.path) for step in program.steps)))


def turns(program: AccessProgram) -> list[int]:
    """Trip counts past which something may change: just beyond the numbers that conditions compare with, that ids and
    places are divided by, of the slots of pipes, and that loops hand on first."""
    starts = (c.start for loop in _loops(program) for c in loop.carried)
    found = {s.value for s in starts if isinstance(s, Expr) and s.value is not None}
    for step in program.steps:
        found |= _constants(step.path)
        slots = step.op.attrs.get("slot_num")
        found |= {slots} if isinstance(slots, int) else set()
        for operands in step.operands.values():
            for operand in operands:
                if isinstance(operand, Expr):
                    found |= divisors(operand)
                elif isinstance(operand, TileUse) and operand.root.address is not None:
                    found |= divisors(operand.root.address)
    few = sorted(n for n in found if _SMALL[-1] <= n <= _FARTHEST)[:_MOST_TURNS]
    return [n + d for n in few for d in (1, 2)]


def _constants(c: Cond) -> set[int]:
    found = {abs(c.expr.constant)} | divisors(c.expr) if c.expr is not None else set[int]()
    return found.union(*(_constants(part) for part in c.parts))


def divisors(e: Expr) -> set[int]:
    """The constants that parts of an expression are divided by, with a quotient or a rest as the result."""
    found: set[int] = set()
    for mono, _ in e.terms:
        for atom in mono:
            if atom.kind in ("floordiv", "mod") and atom.args[1].value is not None:
                found.add(atom.args[1].value)
            found = found.union(*(divisors(arg) for arg in atom.args))
    return found


def _loops(program: AccessProgram) -> list[Loop]:
    return list(dict.fromkeys(loop for step in program.steps for loop in step.loops))


def _strides(loop: Loop) -> Iterator[int]:
    """Numbers that trip counts are multiples of."""
    if loop.step is not None and loop.step.value is not None and loop.step.value > 1:
        yield loop.step.value
    for bound in (loop.lower, loop.upper):
        for mono, _ in bound.terms if bound is not None else ():
            for atom in mono:
                divisor = atom.args[1].value if atom.kind in ("floordiv", "mod") else None
                if divisor is not None and divisor > 1:
                    yield divisor
