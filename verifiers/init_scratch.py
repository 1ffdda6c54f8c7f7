"""INIT, for what ops leave behind in tiles that they only work in: their scratch, and a source that is worked on in
place."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, any_of
from pypto_verified.index.cond import TRUE
from pypto_verified.records import dataclass
from verifiers.access import AccessProgram, Step, SymbolKind, TileUse
from verifiers.last_write import effects_of, last_writes_of
from verifiers.liveness import flow_of
from verifiers.op_sites import empty
from verifiers.reaching import Source, around
from verifiers.regions import Region
from verifiers.rule import SAFETY, Rule, Witness
from verifiers.sites import Context, Site, op_text


@dataclass(frozen=True, slots=True)
class SpoiltSite(Site):
    """A read of a tile, and an op that may have left nothing of it, if one has; `elsewhere`: where it is not read."""

    region: Region
    spoiler: Step | None
    elsewhere: Cond


def spoilt(step: Step, tile: TileUse) -> bool:
    """Whether nothing is known of what the op leaves in a tile that it writes: it is a scratch, or is read as well and
    not among the results, or a window passes through it on its way into the cache."""
    if step.op.name == "pto.tprefetch":
        return True
    if step.row is None or step.op.name.startswith("pto.comm."):
        return False
    results = [*(t for operand in step.row.outs for t in step.tiles(operand.name)), *([step.made] if step.made else [])]
    return all(tile.root is not t.root for t in results)


def _spoilt(context: Context) -> Iterator[SpoiltSite]:
    known, effects = last_writes_of(context.program), effects_of(context.program)
    for (_, number), read in flow_of(context.program).reads.items():
        step = read.step
        if not step.modelled:
            continue
        region = effects[step.index][0][number]
        label = f"{op_text(step.op)} {region.tile.name}"
        spoilers = [
            s for s in known.get((step.index, number), {})
            if s.step.modelled and s.tile.root is region.tile.root and spoilt(s.step, s.tile)]
        for source in spoilers:
            path = step.path & source.path & _before(context.program, source, step)
            yield SpoiltSite(
                context, step.op, path, f"{label} after {op_text(source.step.op)}", region, source.step,
                _elsewhere(context, region))
        if not spoilers and read.written:
            yield SpoiltSite(context, step.op, step.path, label, region, None, TRUE)


def _before(program: AccessProgram, source: Source, step: Step) -> Cond:
    """That the write came before the read: in an earlier iteration, where it stands behind it."""
    if source.step.index < step.index:
        return TRUE
    there = around(program, source.step)
    shared = (loop.counter for loop in around(program, step) if loop in there)
    return any_of(counter >= 1 for counter in shared if counter is not None)


def _elsewhere(context: Context, region: Region) -> Cond:
    symbols = context.program.symbols
    nothing = empty(region.rows, region.cols)
    if region.sure:
        return nothing
    return any_of((nothing, symbols.new(f"{region.tile.name}_not_read", SymbolKind.OPAQUE, 0, 1) >= 1))


def _text(s: SpoiltSite, w: Witness) -> str:
    assert s.spoiler is not None
    scratch = s.region.tile.root not in {t.root for t in s.spoiler.reads()}
    line = s.context.program.location(s.spoiler.op).line
    return (
        f"{op_text(s.op)} reads tile {s.region.tile.name}, but {op_text(s.spoiler.op)} at line {line} "
        + ("used it as scratch" if scratch else "worked on it in place"))


def _help(s: SpoiltSite) -> str:
    op = op_text(s.spoiler.op) if s.spoiler is not None else "that op"
    return f"give {op} a tile of its own to work in, or read {s.region.tile.name} before it"


INIT_SCRATCH: Rule[SpoiltSite] = Rule(
    id="INIT-SCRATCH", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA: the contents of a scratch are undefined; npu/a2a3 TQuant.hpp scales its source in place",
    claim="no tile is read after an op has used it as scratch, until it is written again",
    sites=_spoilt, applies=lambda s: True,
    goal=lambda s: s.elsewhere,
    explain=_text, help=_help,
    mutant=lambda s: s.region.rows >= 0,
    formula="the last write of what is read is a result of its op",
)

RULES = (INIT_SCRATCH,)
