"""INIT: on every path to a read, for every trip count, what it reads has been written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pypto_verified.index import Cond, Expr, all_of, any_of, minimum
from pypto_verified.index.cond import FALSE, TRUE
from verifiers import elementwise
from verifiers.access import Step, SymbolKind, TileUse
from verifiers.access.overlap import possible_bytes
from verifiers.last_write import LastWrite, last_writes_of
from verifiers.liveness import flow_of
from verifiers.op_sites import COL_REDUCTION, ROW_REDUCTION, empty, in_range, is_vec
from verifiers.rule import SAFETY, Rule, Witness
from verifiers.sites import Context, Site, op_text
from verifiers.solver.cone import booleans_of, conjuncts
from verifiers.written import Written, arena_of, element_bytes, place_key, region_bytes, states_of

_WHOLE = elementwise.OPS | ROW_REDUCTION | COL_REDUCTION | {"pto.tstore"}
"""Ops that read every valid element of a source, or as many as their destination has."""

_ELSEWHERE = frozenset({"pto.textract", "pto.tgetval", "pto.tgather", "pto.tgatherb", "pto.tmrgsort"})
"""Ops that read somewhere in their source: it is enough that some byte was written."""

_FACTS = 32
"""Conditions beyond which a read is left to INIT-READ."""


@dataclass(frozen=True, slots=True)
class PathSite(Site):
    """A read, the condition under which all that it surely reads has been written, and the same with what earlier
    iterations may have written counted in by a symbol that is not chosen at will."""

    step: Step
    tile: TileUse
    sure: Cond
    written: Cond


def _paths(context: Context) -> Iterator[PathSite]:
    """Reads whose history the conditions express; the others, and those that nothing reaches, are INIT-READ's."""
    symbols = context.program.symbols
    states = states_of(context.program)
    for read in flow_of(context.program).reads.values():
        if not read.step.modelled or not read.written:
            continue
        found = _condition(states[read.step.index], read.step, read.tile)
        if found is not None:
            sure, doubtful = found
            written = sure
            if sure is not TRUE and doubtful is not FALSE:
                luck = symbols.new(f"{read.tile.name}_written_before", SymbolKind.OPAQUE, 0, 1)
                written = any_of((sure, all_of((doubtful, luck >= 1))))
            label = f"{op_text(read.step.op)} {read.tile.name}"
            yield PathSite(context, read.step.op, read.step.path, label, read.step, read.tile, sure, written)


def _condition(state: Written, step: Step, tile: TileUse) -> tuple[Cond, Cond] | None:
    """(when everything read is surely written, when it may be); None where neither is expressed."""
    arena = arena_of(tile.root)
    always = state.always.get(arena, 0)
    wanted = _wanted(step, tile)
    if not wanted:
        at_place = state.places.get(place_key(tile), FALSE)
        possible = possible_bytes(tile)
        return (TRUE, FALSE) if at_place is TRUE or (possible > 0 and not possible & ~always) else None
    somewhere = step.op.name in _ELSEWHERE
    missing = wanted & ~always
    if not missing or (somewhere and missing != wanted):
        return TRUE, FALSE
    facts = {c: m & missing for c, m in state.when.get(arena, {}).items() if m & missing}
    doubts = [c for c, m in state.unsure.get(arena, {}).items() if m & missing]
    known = set(conjuncts(step.path))
    if len(facts) > _FACTS or any(c not in known and any(True for _ in booleans_of(c)) for c in (*facts, *doubts)):
        return None
    sure = any_of(facts) if somewhere else _covered(missing, facts)
    return None if any_of(doubts) is TRUE and sure is not TRUE else (sure, any_of(doubts))


def _covered(missing: int, facts: dict[Cond, int]) -> Cond:
    """Each missing byte is written under some fact; bytes with the same facts are taken together."""
    parts: dict[int, tuple[Cond, ...]] = {missing: ()}
    for c, bytes_ in facts.items():
        split: dict[int, tuple[Cond, ...]] = {}
        for part, under in parts.items():
            if part & bytes_:
                split[part & bytes_] = (*under, c)
            if part & ~bytes_:
                split[part & ~bytes_] = under
        parts = split
    return all_of(any_of(under) for under in parts.values())


def _wanted(step: Step, tile: TileUse) -> int:
    """Bytes that the op surely reads of `tile` when that is not empty; 0 when its place is not constant."""
    if step.op.name in _ELSEWHERE:
        return max(possible_bytes(tile), 0) if element_bytes(tile) else 0
    rows, cols = tile.valid_rows.value, tile.valid_cols.value
    targets = step.tiles("dst") if step.op.name in elementwise.OPS else ()
    for target in targets:
        high, wide = target.valid_rows.value, target.valid_cols.value
        rows = min(rows, high) if rows is not None and high is not None else None
        cols = min(cols, wide) if cols is not None and wide is not None else None
    if step.op.name in _WHOLE and rows is not None and cols is not None and not tile.type.boxed:
        return region_bytes(tile, rows, cols)
    return element_bytes(tile)


def _touched(s: PathSite) -> Cond:
    """The op reads something at all."""
    target = s.step.tiles("dst")
    work = empty(target[0].valid_rows, target[0].valid_cols) if target else FALSE
    return ~any_of((empty(s.tile.valid_rows, s.tile.valid_cols), work))


def _unwritten(s: PathSite, w: Witness) -> str:
    what = f"{op_text(s.op)} reads {w(s.tile.valid_rows)} x {w(s.tile.valid_cols)} elements of tile {s.tile.name}"
    if s.written is FALSE:
        return f"{what}, part of which nothing has written"
    if s.sure is FALSE:
        return f"{what}, which only an earlier iteration can have written"
    return f"{what}, which are written only where {s.sure!r}"


INIT_PATH: Rule[PathSite] = Rule(
    id="INIT-PATH", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("ACC-IN-PLACE",),
    unneeded=lambda s: () if s.op.name.endswith(".acc") else ("ACC-IN-PLACE",),
    source="PTOAS accepts it (measured); PTO-ISA: the contents of an unwritten tile are undefined",
    claim="a tile that is read was written on every path, for every trip count",
    sites=_paths, applies=lambda s: True, given=_touched,
    goal=lambda s: s.written,
    explain=_unwritten,
    help=lambda s: "write the tile before the loop or in the other branch too, or guard the read",
    mutant=lambda s: any_of((s.written, s.tile.valid_rows >= 1)),
)

@dataclass(frozen=True, slots=True)
class RegionSite(Site):
    """A read of `rows` x `cols` elements of a tile, and a write that may be the last one there."""

    tile: TileUse
    rows: Expr
    cols: Expr
    write: LastWrite


def _regions(context: Context) -> Iterator[RegionSite]:
    """Reads of unboxed vec tiles whose last writes are known."""
    known = last_writes_of(context.program)
    for step in context.program.steps:
        if not step.modelled or step.op.name not in _WHOLE:
            continue
        for i, tile in enumerate(step.reads()):
            if not is_vec(tile) or tile.type.boxed:
                continue
            rows, cols = _extent(step, tile)
            for write in known.get((step.index, i), ()):
                label = f"{op_text(step.op)} {tile.name} after {op_text(write.step.op)}"
                yield RegionSite(
                    context, step.op, step.path & write.step.path, label, tile, rows, cols, write)


def _extent(step: Step, tile: TileUse) -> tuple[Expr, Expr]:
    """Rows and columns that the op reads: no more than its destination has, where it works lane by lane."""
    rows, cols = tile.valid_rows, tile.valid_cols
    if step.op.name in elementwise.OPS:
        for target in step.tiles("dst"):
            rows, cols = minimum(rows, target.valid_rows), minimum(cols, target.valid_cols)
    return rows, cols


def _in_region(s: RegionSite) -> Cond:
    return any_of((empty(s.rows, s.cols), all_of((s.rows <= s.write.rows, s.cols <= s.write.cols))))


# Not observable: the bytes may hold the values of a tile that was there before.
INIT_VALID: Rule[RegionSite] = Rule(
    id="INIT-VALID", kind=SAFETY, observable=False, requires=("VF-01",), assumptions=("OUT-OF-VALID", "FILLPAD-ROWS"),
    unneeded=lambda s: () if "fillpad" in s.write.step.op.name else ("FILLPAD-ROWS",),
    source="PTO-ISA tiles-and-valid-regions.md: an op leaves what lies outside its valid region alone; PTOAS#660",
    claim="an op reads no more of a tile than was written last, whatever the handle declares valid",
    sites=_regions, applies=lambda s: True, given=lambda s: in_range(s.tile),
    goal=_in_region,
    explain=lambda s, w: (
        f"{op_text(s.op)} reads {w(s.rows)} x {w(s.cols)} elements of tile {s.tile.name}, of which "
        f"{op_text(s.write.step.op)} at line {s.context.program.location(s.write.step.op).line} wrote "
        f"{w(s.write.rows)} x {w(s.write.cols)}"),
    help=lambda s: f"fill the tile first (fillpad), or read {s.write.rows!r} x {s.write.cols!r} elements",
    mutant=lambda s: any_of((empty(s.rows, s.cols), s.cols <= s.write.cols)),
)

RULES = (INIT_PATH, INIT_VALID)
