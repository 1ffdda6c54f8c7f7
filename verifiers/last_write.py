"""The ops that wrote a tile last, wherever that is one handle's whole tile: what `INIT-VALID` compares a read with.

Tiles are one place only if bytes, shape, layout and element size are equal; any other write that may overlap makes the
place unknown, as do writes of other iterations whose extents depend on the counter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from pypto_verified.index import Expr, const, symbols_of
from verifiers.access import AccessProgram, Branch, Loop, Node, Sequence, Step, TileUse
from verifiers.access.overlap import possible_bytes
from verifiers.written import Arena, arena_of, place_key

Place: TypeAlias = tuple[object, ...]

_MERGING = frozenset({"pto.tinsert", "pto.tsetval", "pto.tscatter"})
"""Ops that keep part of their destination."""


@dataclass(frozen=True, slots=True, eq=False)
class LastWrite:
    """A write of `rows` x `cols` elements of `tile` from its first one on."""

    step: Step
    tile: TileUse
    rows: Expr
    cols: Expr


@dataclass(frozen=True, slots=True)
class Known:
    """The writes that may be the last one at a place; `bytes` is where it may lie."""

    arena: Arena
    bytes: int
    writes: tuple[LastWrite, ...]


State: TypeAlias = dict[Place, Known]


def _place(tile: TileUse) -> Place:
    t = tile.type
    return *place_key(tile), t.rows, t.cols, t.dtype.bytes, t.blayout, t.slayout


def _written(step: Step, tile: TileUse) -> LastWrite:
    """A fillpad fills whole rows; other ops write their destination's valid region."""
    cols = const(tile.type.cols) if step.op.name.startswith("pto.tfillpad") else tile.valid_cols
    return LastWrite(step, tile, tile.valid_rows, cols)


class _Analysis:
    def __init__(self, program: AccessProgram) -> None:
        self.found: dict[tuple[int, int], tuple[LastWrite, ...]] = {}
        self._run(program.body, {})

    def _run(self, node: Node, state: State) -> State:
        if isinstance(node, Step):
            for i, tile in enumerate(node.reads()):
                known = state.get(_place(tile))
                if known is not None:
                    self.found[node.index, i] = known.writes
            return self._step(node, state)
        if isinstance(node, Sequence):
            for item in node.items:
                state = self._run(item, state)
            return state
        if isinstance(node, Branch):
            return _join(self._run(node.then, dict(state)), self._run(node.orelse, dict(state)))
        return self._loop(node, state)

    def _loop(self, loop: Loop, state: State) -> State:
        """In the body only what the body leaves alone is known from outside."""
        head = dict(state)
        for step in _steps(loop.body):
            for tile in _touched(step):
                head = _without(head, tile)
        end = self._run(loop.body, dict(head))
        own = frozenset(n for t in (loop.counter, loop.var) if t is not None for n in symbols_of(t))
        return _join(state, {p: k for p, k in end.items() if not any(own & _symbols(w) for w in k.writes)})

    def _step(self, step: Step, state: State) -> State:
        for tile in _touched(step):
            state = _without(state, tile)
            if step.modelled and step.op.name not in _MERGING:
                state[_place(tile)] = Known(
                    arena_of(tile.root), possible_bytes(tile), (_written(step, tile),))
        return state


def _touched(step: Step) -> tuple[TileUse, ...]:
    """Tiles that a step writes; all that it names if its effects are not known."""
    if step.modelled:
        return step.writes()
    return tuple(o for values in step.operands.values() for o in values if isinstance(o, TileUse))


def _symbols(w: LastWrite) -> frozenset[str]:
    return frozenset(symbols_of(w.rows, w.cols))


def _steps(node: Node) -> Iterator[Step]:
    if isinstance(node, Step):
        yield node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _steps(item)
    elif isinstance(node, Branch):
        yield from _steps(node.then)
        yield from _steps(node.orelse)
    else:
        yield from _steps(node.body)


def _without(state: State, tile: TileUse) -> State:
    """The state after bytes of `tile` became something else."""
    arena, bytes_ = arena_of(tile.root), possible_bytes(tile)
    return {p: k for p, k in state.items() if k.arena is not arena or not k.bytes & bytes_}


def _join(a: State, b: State) -> State:
    return {
        p: Known(k.arena, k.bytes, tuple(dict.fromkeys((*k.writes, *b[p].writes)))) for p, k in a.items() if p in b}


@lru_cache(maxsize=1)
def last_writes_of(program: AccessProgram) -> dict[tuple[int, int], tuple[LastWrite, ...]]:
    """By (step index, number of the tile among its reads): the writes that may be the last; absent where unknown."""
    return _Analysis(program).found
