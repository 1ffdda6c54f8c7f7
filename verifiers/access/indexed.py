"""Ops that take indices from a tile: which operand holds them, what they index, and what has one for each element."""

from __future__ import annotations

from pypto_verified.pto.module import EnumAttr
from pypto_verified.records import dataclass
from verifiers.access.program import Step, TileUse


@dataclass(frozen=True, slots=True)
class Indexed:
    """Operand groups of an op: `indices` holds numbers of elements (rows, bytes) of `table`, one for each element of
    `places`. `reads`: elements go from the table to the places, else the other way."""

    indices: str
    table: str
    places: str
    reads: bool


_OPS = {
    "pto.tgather": Indexed("indices", "src", "dst", True),
    "pto.tgatherb": Indexed("offsets", "src", "dst", True),
    "pto.tscatter": Indexed("indexes", "dst", "src", False),
    "pto.mgather": Indexed("idx", "mem", "dst", True),
    "pto.mscatter": Indexed("idx", "mem", "src", False),
}


def indexed(step: Step) -> Indexed | None:
    """How the op takes indices; None for one that has none, such as a gather by mask."""
    found = _OPS.get(step.op.name)
    return found if found is not None and found.indices in step.op.args else None


def picked(step: Step, tile: TileUse) -> bool:
    """Whether data says where in `tile` the op reads."""
    found = indexed(step)
    return found is not None and found.reads and tile in step.tiles(found.table)


def by_row(step: Step) -> bool:
    """Whether indices into global memory name whole rows, as they do unless the op says otherwise."""
    mode = step.op.attrs.get("coalesce")
    return not isinstance(mode, EnumAttr) or mode.member == "row"
