"""Whether the valid extents of one tile cover those of another, and how a rule tells of it."""

from __future__ import annotations

from pypto_verified.index import Cond, all_of, implies
from pypto_verified.index.cond import CondLike
from verifiers.access import TileUse
from verifiers.op_sites import AXES, ExtentSite, destination, sources
from verifiers.rule import Witness
from verifiers.sites import OpSite

EXTENT_WORDS = frozenset({"VALID", "ROWS", "COLS", "ROW", "COL", "COUNT", "SHAPE", "SIZE", "RANGE", "EMPTY"})
"""Words of the assembler's rows about extents."""


def covers(s: ExtentSite) -> CondLike:
    """Along one axis, where that is needed."""
    return implies(s.needed, s.want <= s.have)


def full(tile: TileUse, target: TileUse) -> Cond:
    """Along both axes."""
    return all_of((tile.valid_rows >= target.valid_rows, tile.valid_cols >= target.valid_cols))


def short(s: ExtentSite, w: Witness) -> str:
    """What the target asks for and the source has."""
    return (
        f"{s.target.name} asks for {w(s.want)} valid {AXES[s.axis]}, {s.source.name} has {w.show(s.have)}")


def shape(tile: TileUse, w: Witness) -> str:
    """A tile's valid shape."""
    return f"{w(tile.valid_rows)} x {w(tile.valid_cols)}"


def shapes(s: OpSite, w: Witness) -> str:
    """The valid shapes of all tiles of an op."""
    target = destination(s.step)
    assert target is not None
    given = ", ".join(f"{t.name} {shape(t, w)}" for t in sources(s.step))
    return f"the sources are {given}; the destination {target.name} is {shape(target, w)}"
