"""Which write a read of the matrix unit's memories sees: the ops that may have written its bytes last, with the
condition under which they did and their extents as they were then.

A write replaces those whose bytes it surely covers. What an earlier iteration wrote is known by its extents where they
do not change from one iteration to the next; where they do, they are symbols that nothing is known about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from pypto_verified.index import Cond, Expr, IntLike, substitute, substitute_cond, symbol, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.index.expr import Atom
from pypto_verified.layouts import Space
from pypto_verified.records import dataclass
from verifiers.access import AccessProgram, Branch, Loop, Node, Sequence, Step, SymbolKind, TileUse
from verifiers.access.overlap import certain_bytes, comparable, place, possible_bytes
from verifiers.race.paths import nodes
from verifiers.recurrence import counted, trips

_THEN = " then"
"""Ends the names of symbols that stand for values of earlier iterations."""

_SPACES = frozenset({Space.ACC, Space.LEFT, Space.RIGHT})


@dataclass(frozen=True, slots=True)
class Source:
    """A write that a read may see. `path` holds then; `rows` x `cols` is what it wrote from the tile's first element
    on: m x n of a product."""

    step: Step
    tile: TileUse
    path: Cond
    rows: Expr
    cols: Expr


State: TypeAlias = dict[Source, int]
"""Each write with the bytes of it that are still there."""

Known: TypeAlias = dict[str, IntLike]
"""Symbols whose value, or a nearer range, is known on the way: the first iteration of a loop, and the later ones."""


class Reaching:
    def __init__(self, program: AccessProgram) -> None:
        self.program = program
        self.found: dict[tuple[int, int], dict[Source, None]] = {}
        self._earlier_values: dict[str, Expr] = {}
        self._run(program.body, {}, {})

    def _run(self, node: Node, state: State, known: Known) -> State:
        if isinstance(node, Step):
            return self.step(node, state)
        if isinstance(node, Sequence):
            for item in node.items:
                state = self._run(item, state, known)
            return state
        if isinstance(node, Branch):
            cond = substitute_cond(node.cond, known)
            then = self._run(node.then, state, known) if cond is not FALSE else {}
            return _merged(then, self._run(node.orelse, state, known) if cond is not TRUE else {})
        return self._loop(node, state, known)

    def _loop(self, loop: Loop, state: State, known: Known) -> State:
        """The first iteration sees what was there before; the others, and what follows, what earlier ones left."""
        tested = Sequence(loop.body.items[:loop.head])
        if loop.inside is FALSE:
            return self._run(tested, state, known)
        own, count = counted(loop), trips(loop)
        least = substitute(count, known).lo if count is not None else 0
        first: Known = {own.name: own.base} if own is not None else {}
        left = self._aged(self._run(loop.body, state, known | first), loop)
        later: Known = {own.name: own.base + symbol(f"{own.name}{_THEN}", 1)} if own is not None else {}
        while True:
            more = _merged(left, self._aged(self._run(loop.body, left, known | later), loop))
            if more == left:
                state = left if least is not None and least > 0 else _merged(state, left)
                return self._run(tested, state, known)  # a while loop computes its condition once more
            left = more

    def _aged(self, state: State, loop: Loop) -> State:
        aged: State = {}
        for source, bytes_ in state.items():
            older = self.old(source, loop)
            aged[older] = aged.get(older, 0) | bytes_
        return aged

    def old(self, source: Source, loop: Loop) -> Source:
        """The write as one of an earlier iteration of `loop`, in which it stands."""
        if not self.repeats(source.step, loop):
            return source
        varying = {
            n: a for e in (source.rows, source.cols) for n, a in symbols_of(e).items() if self.varies(n, loop)}
        then = {n: self._then(a) for n, a in varying.items()}
        return replace(source, path=TRUE, rows=substitute(source.rows, then), cols=substitute(source.cols, then))

    def repeats(self, step: Step, loop: Loop) -> bool:
        """Whether each iteration runs a step, in its body or, in a while loop, before its test."""
        return loop in around(self.program, step)

    def varies(self, name: str, loop: Loop) -> bool:
        own, symbols = counted(loop), self.program.symbols
        made = (n for e in self._earlier_values.values() for n in symbols_of(e))
        return own is not None and name in symbols.kinds and name not in made and not symbols.is_older(name, own.name)

    def _then(self, atom: Atom) -> Expr:
        """One symbol for each, whatever name is free: with another one each time nothing would come to an end."""
        if atom.name not in self._earlier_values:
            self._earlier_values[atom.name] = self.program.symbols.new(
                f"{atom.name}{_THEN}", SymbolKind.OPAQUE, atom.lo, atom.hi)
        return self._earlier_values[atom.name]

    def step(self, step: Step, state: State) -> State:
        for i, tile in enumerate(step.reads()):
            if tile.type.loc in _SPACES:
                seen = self.found.setdefault((step.index, i), {})
                wanted = possible_bytes(tile)
                seen.update({
                    s: None for s, left in state.items() if left & wanted and comparable(s.tile.root, tile.root)})
        for tile in step.writes():
            if tile.type.loc in _SPACES:
                state = _without(state, tile)
                state[_source(step, tile)] = possible_bytes(tile)
        return state


def around(program: AccessProgram, step: Step) -> tuple[Loop, ...]:
    """The loops that run a step again, those for whose test it runs too."""
    return (*step.loops, *_testing(program).get(step.index, ()))


@lru_cache(maxsize=1)
def _testing(program: AccessProgram) -> dict[int, list[Loop]]:
    """By step index, the while loops before whose test the step runs."""
    found: dict[int, list[Loop]] = {}
    for loop in (n for n in nodes(program.body) if isinstance(n, Loop)):
        for step in (s for item in loop.body.items[:loop.head] for s in nodes(item) if isinstance(s, Step)):
            found.setdefault(step.index, []).append(loop)
    return found


def _merged(a: State, b: State) -> State:
    return {s: a.get(s, 0) | b.get(s, 0) for s in (a | b)}


def _without(state: State, tile: TileUse) -> State:
    """The state with the bytes of `tile` taken from older writes."""
    covered = certain_bytes(tile)
    left: State = {}
    for source, bytes_ in state.items():
        old = source.tile
        if comparable(old.root, tile.root):
            same = place(old) is not None and place(old) is place(tile) and old.rect == tile.rect
            bytes_ = 0 if same else bytes_ & ~covered
        if bytes_:
            left[source] = bytes_
    return left


def _source(step: Step, tile: TileUse) -> Source:
    """A product writes the rows of its left operand and the columns of its right one; other ops what is valid."""
    left = step.tiles("lhs") or step.tiles("a")
    right = step.tiles("rhs") or step.tiles("b")
    if left and right:
        return Source(step, tile, step.path, left[0].valid_rows, right[0].valid_cols)
    return Source(step, tile, step.path, tile.valid_rows, tile.valid_cols)


@lru_cache(maxsize=1)
def sources_of(program: AccessProgram) -> dict[tuple[int, int], dict[Source, None]]:
    """By (step index, number of the tile among its reads): the writes that it may see."""
    return Reaching(program).found


def sources_at(program: AccessProgram, step: Step) -> Iterator[tuple[TileUse, Source]]:
    """The tiles that a step reads from the matrix unit's memories, each with each write that it may see."""
    for i, tile in enumerate(step.reads()):
        for source in sources_of(program).get((step.index, i), {}):
            yield tile, source
