"""What gives a popped tile's slot back. Where slots lie in the consumer's own memory, the other core writes the next
tile there as soon as the pipe of the free has done what it began before; what other pipes do nobody asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pypto_verified.index import Cond, Expr, const, minimum
from pypto_verified.index.cond import FALSE, TRUE, as_cond
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.targets import Target
from pypto_verified.targets.fifo import period, release_pipe
from verifiers.access import AccessProgram, Step, SymbolKind, TileUse
from verifiers.access.overlap import FAR
from verifiers.race.accesses import Access, Rings, place_of
from verifiers.race.copied import copied, copies
from verifiers.race.places import OnChip, names
from verifiers.race.rings import FREES, POP_OF, pops_before, ring_places, ring_slots
from verifiers.reaching import around
from verifiers.recurrence import trips
from verifiers.solver.cone import names_of


def freed(program: AccessProgram) -> Iterator[tuple[Step, Step]]:
    """Each free with the pop that is its own: the first one of a block frees the first tile that the block pops, and
    those in branches and loops of the block free what is left."""
    blocks: dict[tuple[int, tuple[int, ...]], tuple[list[Step], list[Step]]] = {}
    for step in program.steps:
        if step.op.name in FREES or step.op.name in FREES.values():
            block = blocks.setdefault((pipe_id(step.op), step.region), ([], []))
            block[step.op.name not in FREES].append(step)
    for (pipe, region), (pops, frees) in blocks.items():
        yield from zip(frees, pops, strict=False)
        for (other, inner), (popped, more) in blocks.items():
            if other == pipe and len(inner) > len(region) and inner[:len(region)] == region:
                left = [free for free in more[len(popped):] if pops and free.index > pops[0].index]
                yield from zip(left, pops[len(frees):], strict=False)


def untold(program: AccessProgram, target: Target) -> Iterator[Step]:
    """Frees of slots on the chip whose pop is not told."""
    known = {free.index for free, _ in freed(program)}
    spaces = {pipe_id(s.op): s.made.root.space for s in program.steps if s.op.name in FREES and s.made is not None}
    for step in program.steps:
        pipe = pipe_id(step.op) if step.op.name in POP_OF and step.index not in known else None
        if pipe is None or copied(program, POP_OF[step.op.name], pipe, target):
            continue
        if pipe in spaces and release_pipe(target.name, spaces[pipe]) and fits(program, target, pipe) is not TRUE:
            yield step


def releases_of(program: AccessProgram, target: Target) -> dict[int, tuple[Access, ...]]:
    """What each free lets another core write, as a write of the pipe that tells it, by the step's index. Nothing for
    pipes that are sure to end before a slot is used again."""
    found: dict[int, tuple[Access, ...]] = {}
    rings = ring_places(program, target)
    for free, pop in freed(program):
        tile = pop.made
        pipe = release_pipe(target.name, tile.root.space) if tile and not copies(pop, program, target) else ""
        if tile is not None and pipe and fits(program, target, pipe_id(pop.op)) is not TRUE:
            found[free.index] = tuple(
                Access(-1 - free.index * _MOST - n, free, 0, True, pipe, (pipe,), "", place, tile.name, names(place),
                       releases=True)
                for n, place in enumerate(_given_back(tile, rings, pops_before(program)[free.index])))
    return found


_MOST = 64
"""More slots than any pipe has."""


def _given_back(tile: TileUse, rings: Rings, popped: Expr | None) -> Iterator[OnChip]:
    """The slots that the free of a tile gives back after that many pops: those of all tiles that its credit stands for,
    or, where it gives none, none that is in use; if the numbers are not told, its own. Source: PTO-ISA npu/a5
    TFree.hpp."""
    place, ring = place_of(tile, rings), rings.get(tile.root)
    if ring is None or ring.number is None or popped is None:
        yield place
        return
    every = period(ring.slots)
    keeps = minimum(popped % every, 1) * FAR
    for n in range(every):
        yield replace(place, base=ring.slot(ring.number - n) + keeps)


def fits(program: AccessProgram, target: Target, id: int) -> Cond:
    """That the consumer of a pipe pops no more tiles than it has slots: then none is written again."""
    total = const(0)
    for step in program.steps:
        if step.op.name in FREES and pipe_id(step.op) == id:
            times = const(1)
            for loop in around(program, step):
                number = trips(loop)
                if number is None:
                    return FALSE
                times = times * number
            total = total + times
    fit = as_cond(total <= ring_slots(program, target, id))
    changing = (SymbolKind.TRIP, SymbolKind.OPAQUE)
    return FALSE if any(program.symbols.kinds.get(n) in changing for n in names_of(fit)) else fit
