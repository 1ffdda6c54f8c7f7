"""PLAN: where tiles lie. Addresses are legal and within capacity, no live tile is overwritten, in-place use is safe.

Everything is judged on the text: `liveness.py` has the definition of a clobber. No code is shared with a compiler pass.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, any_of
from pypto_verified.index.cond import TRUE, CondLike
from pypto_verified.layouts import Space
from pypto_verified.records import dataclass
from verifiers.access import TileUse
from verifiers.access.overlap import (
    disjoint,
    inside_root,
    is_copy,
    needed,
    one_by_one,
    place,
    possible_bytes,
    same_bytes,
    touched,
    trails,
)
from verifiers.access.program import Reserved
from verifiers.clobber import Clobber
from verifiers.liveness import Read, flow_of
from verifiers.rule import LEGALITY, SAFETY, Rule, Witness, both
from verifiers.sites import Context, Site, TileSite, op_sites, op_text, tile_sites
from verifiers.untold import written_unseen


def _allocated(t: TileSite) -> bool:
    """Also each slot that is taken of an allocation of several."""
    return t.tile.how in ("alloc", "slot")


def _bytes_text(tile: TileUse, w: Witness) -> str:
    at = place(tile)
    first = w(at if at is not None else tile.rect.base)
    where = tile.root.space.value if at is not None else f"tile {tile.root.name}"
    return f"bytes {first} to {first + tile.rect.span - 1} of {where}"


PLAN_LEVEL: Rule[TileSite] = Rule(
    id="PLAN-LEVEL", kind=LEGALITY, observable=False, requires=("MP-01",), source="PTOAS driver checks",
    claim="at level3 every tile has an address, at level2 none has",
    sites=tile_sites, applies=_allocated,
    goal=lambda t: (t.address is not None) == t.context.level3,
    explain=lambda t, w: (
        f"tile {t.name} has an address, and at level2 the assembler gives them" if t.address is not None else
        f"tile {t.name} has no address, and at level3 nobody else gives it one"),
    help=lambda t: "give every alloc_tile an addr (level3), or none (level2)",
    mutant=lambda t: t.address is not None or not t.context.level3 or len(t.name) > 0,
)

PLAN_ALIGN: Rule[TileSite] = Rule(
    id="PLAN-ALIGN", kind=LEGALITY, observable=False, requires=("MP-07",),
    source="PTOAS verifyConstantLocalAddress, PTOAS#875",
    claim="a tile's address is a multiple of its space's alignment",
    sites=tile_sites, applies=lambda t: _allocated(t) and t.address is not None,
    goal=lambda t: t.address % t.context.target.alignment(t.space) == 0 if t.address is not None else True,
    explain=lambda t, w: (
        f"tile {t.name} lies at byte {w.show(t.address) if t.address is not None else ''} of {t.space.value}, which "
        f"needs "
        f"multiples of {t.context.target.alignment(t.space)}"),
    help=lambda t: f"place it at a multiple of {t.context.target.alignment(t.space)}",
    mutant=lambda t: t.address % 16 == 0 if t.address is not None else True,
)


def _fits(t: TileSite, capacity: int) -> CondLike:
    if t.address is None:
        return t.total_bytes <= capacity
    return both(t.address >= 0, t.address + t.total_bytes <= capacity)


def exact_capacity(space: Space) -> tuple[str, ...]:
    """The assumptions that the capacity of `space` does not rest on: only UB has a reserved top, only the bias and
    fixpipe tables are documented in two sizes."""
    return (
        *(() if space is Space.VEC else ("UB-TOP",)),
        *(() if space in (Space.BIAS, Space.SCALING) else ("SMALL-TABLES",)))


PLAN_CAPACITY: Rule[TileSite] = Rule(
    id="PLAN-CAPACITY", kind=SAFETY, observable=True, requires=("MP-07",),
    source="the target's smallest documented capacity; PTOAS checks none at level3; pto-isa#170",
    claim="a tile lies within its space's usable bytes",
    sites=tile_sites, applies=_allocated, assumptions=("UB-TOP", "SMALL-TABLES"),
    unneeded=lambda t: exact_capacity(t.space),
    goal=lambda t: _fits(t, t.context.target.capacity(t.space)),
    explain=lambda t, w: (
        f"tile {t.name} takes {t.total_bytes} bytes"
        + (f" at {w(t.address)}, up to {w(t.address) + t.total_bytes}" if t.address is not None else "")
        + f"; {t.space.value} has {t.context.target.capacity(t.space)} usable bytes on {t.context.target.name}"),
    help=lambda t: "use a smaller tile, or free another one first",
    mutant=lambda t: _fits(t, 2 * t.context.target.capacity(t.space)),
)


@dataclass(frozen=True, slots=True)
class RingSite(Site):
    """A tile and a reserved FIFO ring of the same space."""

    tile: TileUse
    ring: Reserved


def _rings(context: Context) -> Iterator[RingSite]:
    for ring in context.program.reserved:
        if ring.base is None:
            continue
        for t in tile_sites(context):
            if _allocated(t) and t.space is ring.space and t.address is not None:
                yield RingSite(context, t.op, t.path, f"{t.label} and {ring.name}", t.tile, ring)


def _all_bytes(s: RingSite) -> int:
    return s.tile.root.bytes * s.tile.root.slots


def _taken(s: RingSite, w: Witness) -> str:
    first = w(s.tile.root.address) if s.tile.root.address is not None else 0
    return f"bytes {first} to {first + _all_bytes(s) - 1} of {s.tile.root.space.value}"


def _outside(s: RingSite, slack: int = 0) -> CondLike:
    at = s.tile.root.address
    if at is None or s.ring.base is None:
        return TRUE
    return any_of((at + _all_bytes(s) <= s.ring.base, at + slack >= s.ring.base + s.ring.bytes))


PLAN_RESERVE: Rule[RingSite] = Rule(
    id="PLAN-RESERVE", kind=SAFETY, observable=True, requires=("MP-03",), source="PTOAS#595",
    claim="no tile lies in a reserved FIFO ring, which the peer core writes at any time",
    sites=_rings, applies=lambda s: True,
    goal=_outside,
    explain=lambda s, w: (
        f"tile {s.tile.name}, {_taken(s, w)}, lies in the ring {s.ring.name}, bytes {s.ring.base} to "
        f"{(s.ring.base or 0) + s.ring.bytes - 1}"),
    help=lambda s: "place the tile behind the ring",
    mutant=lambda s: _outside(s, 1 << 20),
)


@dataclass(frozen=True, slots=True)
class ReadSite(Site):
    """One tile operand that an op reads, with one write that may have spoilt it, or none."""

    read: Read
    clobber: Clobber | None


def _reads(context: Context) -> Iterator[ReadSite]:
    for read in flow_of(context.program).reads.values():
        if not read.step.modelled:
            continue
        label = f"{op_text(read.step.op)} {read.tile.name}"
        for clobber in read.clobbers.values():
            yield ReadSite(context, read.step.op, read.step.path & clobber.path, label, read, clobber)
        if not read.clobbers:
            yield ReadSite(context, read.step.op, read.step.path, label, read, None)


def _first_reads(context: Context) -> Iterator[ReadSite]:
    """Each read once, whatever may have spoilt it."""
    for read in flow_of(context.program).reads.values():
        if read.step.modelled:
            label = f"{op_text(read.step.op)} {read.tile.name}"
            yield ReadSite(context, read.step.op, read.step.path, label, read, None)


def _something_is_read(s: ReadSite) -> CondLike:
    """A tile without valid elements, as the empty lane of a split has them, is not read."""
    return both(s.read.tile.valid_rows >= 1, s.read.tile.valid_cols >= 1)


def _untold(s: ReadSite) -> str:
    return written_unseen(s.context.program, s.read.tile)


def _read_as_told(s: ReadSite) -> CondLike:
    return both(_something_is_read(s), not _untold(s))


def _overwritten(s: ReadSite, w: Witness) -> str:
    assert s.clobber is not None
    culprit = s.clobber.write
    line = s.context.program.location(culprit.step.op).line
    return (
        f"tile {s.read.tile.name} ({_bytes_text(s.read.tile, w)}) is read here after {op_text(culprit.step.op)} at "
        f"line "
        f"{line} wrote tile {culprit.tile.name} ({_bytes_text(culprit.tile, w)}) over it")


PLAN_OVERLAP: Rule[ReadSite] = Rule(
    id="PLAN-OVERLAP",
    formula="live(a) and live(b) => bytes(a) and bytes(b) are disjoint",
    kind=SAFETY, observable=True, requires=("MP-01", "MP-02"),
    source="PTOAS checks nothing at level3 (measured); pypto#1821, #585",
    claim="what a tile holds is not overwritten through another tile before its last read",
    sites=_reads, applies=lambda s: s.read.tile.root.address is not None,
    given=_read_as_told, undecided=_untold,
    goal=lambda s: s.clobber is None or s.clobber.apart,
    explain=_overwritten,
    help=lambda s: "give one of the two tiles other bytes, or read the first one before the second is written",
    mutant=lambda s: s.clobber is None or not s.clobber.write.tile.whole or s.clobber.write.tile.rect.span > 0,
)

INIT_READ: Rule[ReadSite] = Rule(
    id="INIT-READ",
    formula="some write of the tile comes before the read",
    kind=SAFETY, observable=True, requires=("VF-01",), source="PTOAS accepts it (measured)",
    claim="a tile that is read was written before",
    sites=_first_reads, applies=lambda s: possible_bytes(s.read.tile) != 0,
    given=_read_as_told, undecided=_untold,
    goal=lambda s: s.read.written,
    explain=lambda s, w: f"tile {s.read.tile.name} is read, but nothing has written its bytes",
    help=lambda s: "load it, fill it, or drop the read",
    mutant=lambda s: s.read.written or not s.read.clobbers,
)


@dataclass(frozen=True, slots=True)
class PairSite(Site):
    """A tile that one op reads (or also writes) and a tile that it writes; `depends` is the part of the first whose
    bytes the result depends on. `exact`: the op is safe if both are the same bytes."""

    read: TileUse
    depends: TileUse
    write: TileUse
    exact: bool


def _pairs(context: Context) -> Iterator[PairSite]:
    for site in op_sites(context):
        step = site.step
        row = step.row
        assert row is not None
        for phase in step.phases:
            for written in phase.writes:
                for group in dict.fromkeys((*phase.reads, *phase.writes)):
                    # Two written groups are looked at once, and a group does not meet itself.
                    if group == written or (group in phase.writes and group < written):
                        continue
                    for a in step.tiles(group):
                        for b in step.tiles(written):
                            if a.type.loc is b.type.loc:
                                label = f"{site.label} {a.name} and {b.name}"
                                exact = group in row.inplace or is_copy(step, a, b) or one_by_one(step)
                                part = touched(step, a)
                                depends = needed(step, a) if group in phase.reads else part
                                yield PairSite(
                                    context, step.op, step.path, label, part, depends, touched(step, b), exact)


def _safe(s: PairSite, exact: bool) -> Cond:
    if not exact:
        return disjoint(s.depends, s.write)
    return any_of((disjoint(s.depends, s.write), same_bytes(s.read, s.write), trails(s.read, s.write)))


PLAN_INPLACE: Rule[PairSite] = Rule(
    id="PLAN-INPLACE", kind=SAFETY, observable=True, requires=("MP-02",),
    source="the op's row: in-place safety of PyPTO's op registry; pypto#2007, #1825",
    claim="an op's source shares no byte with what it writes, unless it is safe in place and writes behind its reads",
    given=lambda s: both(inside_root(s.read), inside_root(s.write)),
    sites=_pairs, applies=lambda s: True,
    goal=lambda s: _safe(s, s.exact),
    explain=lambda s, w: (
        f"{op_text(s.op)} reads {s.read.name} ({_bytes_text(s.read, w)}) while it writes {s.write.name} "
        f"({_bytes_text(s.write, w)})" + ("" if s.exact else "; it is not safe in place")),
    help=lambda s: "give the destination bytes of its own",
    mutant=lambda s: _safe(s, True),
)

RULES = (PLAN_LEVEL, PLAN_ALIGN, PLAN_CAPACITY, PLAN_RESERVE, PLAN_OVERLAP, PLAN_INPLACE, INIT_READ)
