"""Memory on the chip that two cores share: on a5 a cube moves accumulators to its vector cores, and they tiles to L1,
by other ops than pushes too."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import symbol, symbols_of
from pypto_verified.index.cond import TRUE
from pypto_verified.layouts import Space
from pypto_verified.targets import Target
from verifiers.race.accesses import Access, accesses_of
from verifiers.race.parts import Part, shared_by
from verifiers.race.places import Place, apart

_OF_OTHERS = {"cube": Space.VEC, "vector": Space.MAT}
"""The memory of the other kind of core that a core of a kind reaches."""


def reaches_others(part: Part, target: Target) -> list[Access]:
    """What a core does in the memory of the other kind."""
    return _in_space(part, _OF_OTHERS[part.kind], target) if target.on_chip_pipe else []


def shared_on_chip(parts: list[Part], target: Target) -> Iterator[tuple[Part, Access, Part, Access]]:
    """Two accesses of two cores that may share a byte on the chip, one of which writes: of the core that reaches into
    the memory of the other, and of that one; one for each two ops."""
    shared = shared_by(parts, target) if len(parts) > 1 else frozenset[str]()
    for one in parts:
        reached = reaches_others(one, target)
        for other in parts:
            if other.kind == one.kind or not reached:
                continue
            seen: set[tuple[int, int]] = set()
            for b in _in_space(other, _OF_OTHERS[one.kind], target):
                for a in reached:
                    steps = (a.step.index, b.step.index)
                    meets = a.place.arena == b.place.arena and (a.writes or b.writes)
                    if meets and steps not in seen and apart(_of_another(a.place, shared), b.place) is not TRUE:
                        seen.add(steps)
                        yield one, a, other, b


def _of_another(place: Place, shared: frozenset[str]) -> Place:
    """A place of the other core, whose counters of loops may be called as those of this one are."""
    return place.at({n: symbol(f"{n} of the other core", a.lo, a.hi) for n, a in symbols_of(*place.exprs()).items()
                     if n not in shared})


def _in_space(part: Part, space: Space, target: Target) -> list[Access]:
    return [a for own in accesses_of(part.program, target).values() for a in own
            if a.step.op not in part.foreign and a.tile is not None and a.tile.type.loc is space]
