"""INIT: on every path to a read, for every trip count, what it reads has been written."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pypto_verified.index import Cond, all_of, any_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.pto.module import Op
from pypto_verified.records import dataclass
from verifiers.access import AccessProgram, Step, SymbolKind, TileUse
from verifiers.access.indexed import picked
from verifiers.access.overlap import inside_root, possible_bytes
from verifiers.flags import sections_of
from verifiers.last_write import at_one_place, effects_of, last_writes_of
from verifiers.liveness import flow_of
from verifiers.must_write import states_of
from verifiers.op_sites import empty, in_range
from verifiers.reaching import Source
from verifiers.regions import Region, bits_of, factors, whole_boxes
from verifiers.rule import SAFETY, Rule, Witness
from verifiers.sites import Context, Site, op_text
from verifiers.solver.cone import booleans_of, conjuncts
from verifiers.untold import written_unseen
from verifiers.written import Written, arena_of, element_bytes, place_of, reach_of, runs, spread, start_of

_RUNS = 4
"""Stretches of bytes that a read at a place known at run time only is looked for in."""

_FACTS = 32
"""Conditions beyond which a read is not decided."""


@dataclass(frozen=True, slots=True)
class PathSite(Site):
    """The read of a step's `number`-th source, the condition under which all that it surely reads has been written, and
    the same with what other writes may have written counted in by a symbol that is not chosen at will."""

    step: Step
    number: int
    region: Region
    sure: Cond
    written: Cond


@dataclass(frozen=True, slots=True)
class _Found:
    """Where everything that is read is `sure`ly written, and where it may be; `by_path`: the extents at its place are
    not for INIT-VALID to compare."""

    sure: Cond
    doubtful: Cond
    by_path: bool


def _paths(context: Context) -> Iterator[PathSite]:
    """Every read of bytes that something has written; the others are INIT-READ's."""
    symbols = context.program.symbols
    for (step, number), region in _reads(context):
        found = _written_before(context, step, number, region)
        written = found.sure
        if found.sure is not TRUE and found.doubtful is not FALSE:
            luck = symbols.new(f"{region.tile.name}_written_before", SymbolKind.OPAQUE, 0, 1)
            written = any_of((found.sure, all_of((found.doubtful, luck >= 1))))
        label = f"{op_text(step.op)} {region.tile.name}"
        yield PathSite(context, step.op, step.path, label, step, number, region, found.sure, written)


def _reads(context: Context) -> Iterator[tuple[tuple[Step, int], Region]]:
    """Each read of a tile that something may have written, and the elements that it reads."""
    effects = effects_of(context.program)
    for (_, number), read in flow_of(context.program).reads.items():
        if read.step.modelled and read.written:
            yield (read.step, number), effects[read.step.index][0][number]


def _written_before(context: Context, step: Step, number: int, region: Region) -> _Found:
    """By whole tiles where all sources stand at the place that is read, element by element elsewhere, or where no
    element of some part was ever written."""
    program = context.program
    exact = _exactly(states_of(program, True)[step.index], step, region)
    sources = last_writes_of(program).get((step.index, number), {})
    if not at_one_place(region, sources) or any(_in_part(program, source) for source in sources):
        return _Found(*exact, True)
    if exact[0] is FALSE and exact[1] is FALSE:
        return _Found(*exact, True)
    if exact[0] is TRUE:
        return _Found(*exact, False)
    tile, state = region.tile, states_of(program, False)[step.index]
    covers = [k.under for k in state.covers.get(place_of(tile), ())]
    wanted = element_bytes(tile)
    sure, doubtful = _decided(state, step, tile, wanted, wanted or possible_bytes(tile))
    return _Found(any_of((*covers, sure)), doubtful, False)


def _in_part(program: AccessProgram, source: Source) -> bool:
    """Whether it is not known which elements a write has written."""
    regions = effects_of(program)[source.step.index][1]
    return any(not r.sure and place_of(r.tile) == place_of(source.tile) for r in regions)


def _exactly(state: Written, step: Step, region: Region) -> tuple[Cond, Cond]:
    """(when every element that is read is surely written, when it may be)."""
    tile, at = region.tile, start_of(region.tile)
    rows, cols = region.rows.value, region.cols.value
    most = bits_of(tile, *(v.value if v.value is not None else high for v, high in (
        (region.rows, tile.type.rows), (region.cols, tile.type.cols))))
    start = at.value if at.value is not None and at.value >= 0 else None
    constant = rows is not None and cols is not None and start is not None and most is not None
    possible = spread(at, most) if most is not None else possible_bytes(tile)
    options = list(_within(state, region))
    reach = reach_of(region)
    spans = [s for s in state.spans.get(arena_of(tile.root), ()) if s.meets(possible)]
    if reach is not None:
        options += [all_of((s.under, at >= s.start, reach <= s.end)) for s in spans]
        if not constant:
            known = state.always.get(arena_of(tile.root), 0) & possible
            options += [all_of((at >= low, reach <= high)) for low, high in runs(known, _RUNS)]
    sure, doubtful = _decided(state, step, tile, possible if constant else 0, possible)
    sure = any_of((*options, sure))
    # A single stretch holds a region if it holds both ends; several may hold it together.
    alone = len(options) == len(spans) == 1 and not possible & state.always.get(arena_of(tile.root), 0)
    if not region.sure or (spans and not alone) or not (constant or alone):
        doubtful = TRUE
    return sure, doubtful


def _within(state: Written, region: Region) -> Iterator[Cond]:
    """When one write has covered a region, as elements of its own tile or of one that it is a window of."""
    holder, rows, cols = region.tile, region.rows, region.cols
    while True:
        for k in state.covers.get(place_of(holder), ()):
            yield all_of((k.under, rows <= k.rows, cols <= k.cols))
        if holder.how != "subview" or holder.parent is None:
            return
        rows, cols, holder = rows + holder.row, cols + holder.col, holder.parent


def _decided(state: Written, step: Step, tile: TileUse, wanted: int, possible: int) -> tuple[Cond, Cond]:
    """The same for bytes: `wanted` is all that is read, 0 if that is no constant; it lies within `possible`."""
    arena = arena_of(tile.root)
    always = state.always.get(arena, 0)
    if possible >= 0 and not possible & ~always:
        return TRUE, FALSE
    missing = (wanted or possible) & ~always
    facts = {c: m & missing for c, m in state.when.get(arena, {}).items() if m & missing}
    doubts = [c for c, m in state.unsure.get(arena, {}).items() if m & missing]
    doubts += [TRUE for start, m in state.moving.get(arena, {}).items() if spread(start, m) & missing]
    known = set(conjuncts(step.path))
    told = {c: m for c, m in facts.items() if c in known or not any(True for _ in booleans_of(c))}
    if len(told) > _FACTS or len(told) < len(facts):
        return FALSE, TRUE
    return _covered(missing, told) if wanted else FALSE, any_of(doubts)


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


def _untold(s: PathSite | RegionSite) -> str:
    return written_unseen(s.context.program, s.region.tile) or (_other_core(s) if isinstance(s, PathSite) else "")


@lru_cache(maxsize=1)
def _kinds(program: AccessProgram) -> dict[Op, str]:
    """The kind of core that runs an op, where the op stands in a section."""
    return {op: kind for kind, ops in sections_of(program).items() for op in ops}


def _other_core(s: PathSite) -> str:
    """Why a write is none of the core that reads: it stands in the section of the other kind. On a5 it may reach one of
    the cores there (PTO-ISA TMov.hpp, AccToVecMode), once it has run; on a2a3 none."""
    program = s.context.program
    kinds = _kinds(program)
    own = kinds.get(s.op, "")
    for source in last_writes_of(program).get((s.step.index, s.number), {}) if own else ():
        if kinds.get(source.step.op, own) != own:
            line = program.location(source.step.op).line
            return f"whether {op_text(source.step.op)} at line {line} of the other core has written it is not followed"
    return ""


def _touched(s: PathSite) -> Cond:
    """The op reads something at all, within its tile: what VALID-UPPER, VALID-CUT and the VIEW rules establish."""
    target = s.step.tiles("dst")
    work = empty(target[0].valid_rows, target[0].valid_cols) if target else FALSE
    tile = s.region.tile
    stands = tile in s.step.reads() or s.op.name == "pto.textract"
    return all_of((
        ~any_of((empty(s.region.rows, s.region.cols), work)), in_range(tile), inside_root(tile) if stands else TRUE))


def _last(s: PathSite, w: Witness) -> str:
    """What the only writer of a place wrote of it."""
    sources = list(last_writes_of(s.context.program).get((s.step.index, s.number), {}))
    if len(sources) != 1 or place_of(sources[0].tile) != place_of(s.region.tile):
        return ""
    source = sources[0]
    line = s.context.program.location(source.step.op).line
    return f": {op_text(source.step.op)} at line {line} wrote {w(source.rows)} x {w(source.cols)}"


def _unwritten(s: PathSite, w: Witness) -> str:
    what = f"{op_text(s.op)} reads {w(s.region.rows)} x {w(s.region.cols)} elements of tile {s.region.tile.name}"
    if s.written is FALSE:
        return f"{what}, part of which nothing has written{_last(s, w)}"
    if s.sure is FALSE and not s.step.loops:
        return f"{what}, of which it is not known whether they are written"
    if s.sure is FALSE:
        return f"{what}, which only an earlier iteration can have written"
    return f"{what}, which are written only where {s.sure!r}"


INIT_PATH: Rule[PathSite] = Rule(
    id="INIT-PATH",
    formula="path(read) => path(some write of the tile before it)",
    kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("ACC-IN-PLACE", "INDEX-DATA"),
    unneeded=lambda s: (
        *(() if s.op.name.endswith(".acc") else ("ACC-IN-PLACE",)),
        *(() if picked(s.step, s.region.tile) else ("INDEX-DATA",))),
    source="PTOAS accepts it (measured); PTO-ISA: the contents of an unwritten tile are undefined",
    claim="a tile that is read was written on every path, for every trip count",
    sites=_paths, applies=lambda s: True,
    given=lambda s: all_of((_touched(s), not _untold(s))), undecided=_untold,
    goal=lambda s: FALSE if _other_core(s) else s.written,
    explain=_unwritten,
    help=lambda s: "write the tile before the loop or in the other branch too, or guard the read",
    mutant=lambda s: any_of((s.written, s.region.rows >= 1)),
)

@dataclass(frozen=True, slots=True)
class RegionSite(Site):
    """A read of a region, and a write that may be the last one there; `kept`: where an earlier write through the same
    tile has written as much, or it is not known what the rest of a product's boxes holds."""

    region: Region
    write: Source
    kept: Cond


def _regions(context: Context) -> Iterator[RegionSite]:
    """Reads with each of their sources, where all of them stand at the place that is read."""
    known, states = last_writes_of(context.program), states_of(context.program, True)
    for (step, number), region in _reads(context):
        found = _written_before(context, step, number, region)
        if found.by_path:
            continue
        covers = states[step.index].covers.get(place_of(region.tile), ())
        for write in known[step.index, number]:
            # The tile that is read may stand for the one written, as the result of a branch does.
            kept = any_of(
                all_of((k.under, region.rows <= k.rows, region.cols <= k.cols)) for k in covers
                if k.tile.root in (region.tile.root, write.tile.root))
            label = f"{op_text(step.op)} {region.tile.name} after {op_text(write.step.op)}"
            may = any_of((kept, _boxed(context, region, write), _elsewhere(context, region)))
            yield RegionSite(context, step.op, step.path & write.path, label, region, write, may)


def _rest(s: RegionSite) -> str:
    return ": the rest of a box is a product of what nothing specifies" if factors(s.write.step) is not None else ""


def _boxed(context: Context, region: Region, write: Source) -> Cond:
    """Within the last boxes of a product there is something, of which nothing is known."""
    if factors(write.step) is None:
        return FALSE
    rows, cols = whole_boxes(write.tile, write.rows, write.cols)
    luck = context.program.symbols.new(f"{region.tile.name}_in_boxes", SymbolKind.OPAQUE, 0, 1)
    return all_of((region.rows <= rows, region.cols <= cols, luck >= 1))


def _elsewhere(context: Context, region: Region) -> Cond:
    """What may be read, but need not be, may not be read."""
    if region.sure:
        return FALSE
    return context.program.symbols.new(f"{region.tile.name}_read_elsewhere", SymbolKind.OPAQUE, 0, 1) >= 1


def _in_region(s: RegionSite) -> Cond:
    inside = all_of((s.region.rows <= s.write.rows, s.region.cols <= s.write.cols))
    return any_of((empty(s.region.rows, s.region.cols), inside, s.kept))


INIT_VALID: Rule[RegionSite] = Rule(
    id="INIT-VALID", kind=SAFETY, observable=False, requires=("VF-01",), assumptions=("OUT-OF-VALID", "FILLPAD-ROWS"),
    unneeded=lambda s: () if "fillpad" in s.write.step.op.name else ("FILLPAD-ROWS",),
    source="PTO-ISA tiles-and-valid-regions.md: an op leaves what lies outside its valid region alone; PTOAS#660",
    claim="an op reads no more of a tile than was written last, whatever the handle declares valid",
    unseen="the bytes may hold the values of a tile that was there before",
    sites=_regions, applies=lambda s: True,
    given=lambda s: all_of((in_range(s.region.tile, s.write.tile), not _untold(s))), undecided=_untold,
    goal=_in_region,
    explain=lambda s, w: (
        f"{op_text(s.op)} reads {w(s.region.rows)} x {w(s.region.cols)} elements of tile {s.region.tile.name}, of "
        f"which {op_text(s.write.step.op)} at line {s.context.program.location(s.write.step.op).line} wrote "
        f"{w(s.write.rows)} x {w(s.write.cols)}{_rest(s)}"),
    help=lambda s: f"fill the tile first (fillpad), or read {s.write.rows!r} x {s.write.cols!r} elements",
    mutant=lambda s: any_of((empty(s.region.rows, s.region.cols), s.region.cols <= s.write.cols)),
)

RULES = (INIT_PATH, INIT_VALID)
