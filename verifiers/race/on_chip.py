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
from verifiers.race.places import OnChip, Place, apart

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
                    if (a.writes or b.writes) and steps not in seen and _meet(a, b, other, shared):
                        seen.add(steps)
                        yield one, a, other, b


def _meet(a: Access, b: Access, other: Part, shared: frozenset[str]) -> bool:
    """Whether `a` of a core may touch a byte of `b` of the `other` one, in whose memory it is: of one of its tiles, or
    of a slot of a pipe, which lies in a buffer that it reserves."""
    if a.place.arena == b.place.arena:
        return apart(_of_another(a.place, shared), b.place) is not TRUE
    space, root = a.place.arena, b.tile.root if b.tile is not None else None
    if not isinstance(space, Space) or not isinstance(a.place, OnChip) or root is None or root.kind != "pop":
        return False
    start, rings = a.place.base.value, [ring for ring in other.program.reserved if ring.space is space]
    return not rings or any(
        start is None or ring.base is None or (start < ring.base + ring.bytes and ring.base < start + a.place.rect.span)
        for ring in rings)


def _of_another(place: Place, shared: frozenset[str]) -> Place:
    """A place of the other core, whose counters of loops may be called as those of this one are."""
    return place.at({n: symbol(f"{n} of the other core", a.lo, a.hi) for n, a in symbols_of(*place.exprs()).items()
                     if n not in shared})


def _in_space(part: Part, space: Space, target: Target) -> list[Access]:
    return [a for own in accesses_of(part.program, target).values() for a in own
            if a.step.op not in part.foreign and a.tile is not None and a.tile.type.loc is space]
