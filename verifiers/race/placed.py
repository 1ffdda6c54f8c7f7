"""Where accesses are in one run: their places with numbers for symbols."""

from __future__ import annotations

from pypto_verified.index import Expr, const
from pypto_verified.index.cond import FALSE, TRUE
from verifiers.access.overlap import needed, touched
from verifiers.race.accesses import Access
from verifiers.race.certain import touched_in_run
from verifiers.race.depends import Dependence
from verifiers.race.places import Box, OnChip, Place
from verifiers.race.slots import Slots
from verifiers.race.values import Values


class Placed:
    """`depends` is told of the extents that a place depends on."""

    def __init__(self, values: Values, slots: Slots, depends: Dependence) -> None:
        self.values = values
        self.slots = slots
        self.depends = depends

    def at(self, access: Access) -> Place | None:
        """Where an access is in this run; None if it touches nothing."""
        place = access.place
        if isinstance(place, OnChip):
            arena, base, rect = place.arena, place.base, place.rect
            if access.tile is not None and self.slots.copied(access.tile.root):
                part = (touched if access.writes else needed)(access.step, access.tile)
                arena, base, rect = part.root, part.rect.base, part.rect
            if access.tile is not None:
                base, rect = touched_in_run(
                    access.step, access.tile, access.writes, rect, base, self.values.of, self.depends.extent)
            if not rect.span:
                return None
            return OnChip(self.slots.arena(arena), self._number(base), rect)
        offsets, sizes, strides, dims = (
            tuple(self._number(e) for e in part) for part in (place.offsets, place.sizes, place.strides, place.dims))
        return Box(
            place.arena, self._number(place.offset), offsets, sizes, strides, place.itemsize, dims,
            TRUE if place.nested is TRUE or self.values.holds(place.nested) else FALSE)

    def _number(self, e: Expr) -> Expr:
        return e if e.value is not None else const(self.values.of(e))
