"""The ops that may have written a tile last: what `INIT-VALID` compares a read with.

Two tiles are one place if bytes, shape, layout and element size are equal. A read all of whose sources stand at its own
place is judged against each of them; what is put together from other places is for `written.py`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from pypto_verified.index import symbols_of
from verifiers.access import AccessProgram, Loop, Step, SymbolKind, TileUse
from verifiers.access.overlap import certain_bytes, comparable, possible_bytes, shifted
from verifiers.reaching import Reaching, Source, State
from verifiers.regions import MERGING, Region, bits_of, reads_of, writes_of
from verifiers.written import place_of, start_of

Effects: TypeAlias = dict[int, tuple[tuple[Region, ...], tuple[Region, ...]]]


@lru_cache(maxsize=1)
def effects_of(program: AccessProgram) -> Effects:
    """By step index, the regions that the step reads and writes."""
    return {s.index: (reads_of(s), writes_of(s)) for s in program.steps}


class _LastWrites(Reaching):
    """Sources of all memories, by the regions that ops really write."""

    def __init__(self, program: AccessProgram) -> None:
        self._effects = effects_of(program)
        self._earlier: dict[TileUse, TileUse] = {}
        self._varying: dict[tuple[str, int], bool] = {}
        super().__init__(program)

    def step(self, step: Step, state: State) -> State:
        reads, writes = self._effects[step.index]
        for i, region in enumerate(reads):
            wanted = possible_bytes(region.tile)
            self.found.setdefault((step.index, i), {}).update({
                s: None for s, left in state.items()
                if left & wanted and comparable(s.tile.root, region.tile.root)})
        for region in writes:
            state = _without(state, step, region)
            state[Source(step, region.tile, step.path, region.rows, region.cols)] = possible_bytes(region.tile)
        return state

    def old(self, source: Source, loop: Loop) -> Source:
        older = super().old(source, loop)
        moving = symbols_of(start_of(older.tile))
        if not self.repeats(source.step, loop) or not any(self.varies(n, loop) for n in moving):
            return older
        if older.tile not in self._earlier:
            # The place in an earlier iteration is another one, somewhere in the same range.
            base = older.tile.rect.base
            somewhere = self.program.symbols.new(f"{older.tile.name}_then", SymbolKind.OPAQUE, base.lo, base.hi)
            moved = replace(older.tile, rect=replace(older.tile.rect, base=somewhere))
            self._earlier[older.tile] = self._earlier[moved] = moved
        return replace(older, tile=self._earlier[older.tile])

    def varies(self, name: str, loop: Loop) -> bool:
        key = name, id(loop)
        if key not in self._varying:
            self._varying[key] = super().varies(name, loop)
        return self._varying[key]


def _without(state: State, step: Step, region: Region) -> State:
    """The state with what the region replaces taken from older writes. What a tile itself holds beyond the region stays
    there; of another tile's value in the same bytes nothing is left."""
    tile = region.tile
    exact = _exact(region)
    part = not region.sure or step.op.name in MERGING or tile.how == "subview"
    left: State = {}
    for source, bytes_ in state.items():
        if comparable(source.tile.root, tile.root):
            own = part or source.tile.root is tile.root
            renewed = region.sure and place_of(source.tile) == place_of(tile)
            bytes_ = 0 if renewed else bytes_ & ~(exact if own else certain_bytes(tile))
        if bytes_:
            left[source] = bytes_
    return left


def _exact(region: Region) -> int:
    """The bytes that the region surely writes; 0 where that is no constant."""
    start = start_of(region.tile).value
    rows, cols = region.rows.value, region.cols.value
    if not region.sure or start is None or start < 0 or rows is None or cols is None:
        return 0
    return shifted(bits_of(region.tile, rows, cols) or 0, start)


def at_one_place(region: Region, sources: dict[Source, None]) -> bool:
    """Whether all that a read may see was written at the very place that it reads."""
    return bool(sources) and all(place_of(s.tile) == place_of(region.tile) for s in sources)


@lru_cache(maxsize=1)
def last_writes_of(program: AccessProgram) -> dict[tuple[int, int], dict[Source, None]]:
    """By (step index, number of the tile among its reads): the writes that may be the last ones."""
    return _LastWrites(program).found
