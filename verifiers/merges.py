"""VALID, for merges of sorted lists: runs of one tile, or two to four tiles. Lists are rows of pairs of 8 bytes."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, Expr, all_of, const, eq
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.records import dataclass
from verifiers.access import Step, SymbolKind, TileUse
from verifiers.op_sites import unless_refused
from verifiers.rule import SAFETY, Rule, Witness
from verifiers.sites import Context, OpSite, Site, op_sites

MERGE = "pto.tmrgsort"
_PAIR_BYTES = 8
_RUNS = 4
_RUN_MULTIPLE = 64
_MOST_GROUPS = 255
_EXTENTS = frozenset({"COLS", "BLOCK", "SCRATCH"})
"""Words of the assembler's rows about extents of merges."""


def merged(step: Step) -> Expr:
    """Valid columns of all lists together."""
    return sum((t.valid_cols for t in step.tiles("srcs")), start=const(0))


def by_runs(step: Step) -> bool:
    """Whether the runs of one tile are merged, not several tiles."""
    return "blockLen" in step.op.args


@dataclass(frozen=True, slots=True)
class RunSite(Site):
    """Runs of `length` columns of a tile, merged four by four; `told`: whether the length is known."""

    source: TileUse
    result: TileUse
    length: int
    told: Cond


def _runs(context: Context) -> Iterator[RunSite]:
    for site in op_sites(context):
        step = site.step
        if site.op.name != MERGE or not by_runs(step) or not step.tiles("srcs") or not step.tiles("dsts"):
            continue
        (length,) = step.operands["blockLen"]
        known = length.value if isinstance(length, Expr) else None
        told = TRUE
        if known is None:
            told = context.program.symbols.new(f"{step.tiles('srcs')[0].name}_run", SymbolKind.OPAQUE, 0, 1) >= 1
        yield RunSite(
            context, site.op, site.path, f"{site.label} {step.tiles('srcs')[0].name}", step.tiles("srcs")[0],
            step.tiles("dsts")[0], _RUN_MULTIPLE if known is None else known, told)


def _whole_groups(s: RunSite) -> Cond:
    if s.length <= 0:
        return FALSE
    group, cols = _RUNS * s.length, s.source.valid_cols
    return all_of((
        s.length % _RUN_MULTIPLE == 0, eq(cols % group, 0), cols <= _MOST_GROUPS * group,
        cols <= s.result.type.cols, s.told))


VALID_RUNS: Rule[RunSite] = Rule(
    id="VALID-RUNS", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA TMrgSort.hpp (asserted only in debug builds): groups of four runs are counted in 8 bits",
    claim="a merge of runs goes over whole groups of four, at most 255, of a multiple of 64 columns each",
    sites=_runs, applies=lambda s: unless_refused(s, _whole_groups(s), _EXTENTS),
    undecided=lambda s: "" if s.told is TRUE else "the length of a run is not a constant",
    goal=_whole_groups,
    explain=lambda s, w: (
        f"{s.source.name} has {w.show(s.source.valid_cols)} valid columns; groups of {_RUNS} runs of {s.length} take "
        f"{_RUNS * s.length}"),
    help=lambda s: f"give {s.source.name} a multiple of {_RUNS * s.length} valid columns",
    mutant=lambda s: s.source.valid_cols <= s.result.type.cols,
)


def _lists(context: Context) -> Iterator[OpSite]:
    for site in op_sites(context):
        if site.op.name == MERGE and not by_runs(site.step) and site.step.tiles("srcs") and site.step.tiles("dsts"):
            yield site


def _fits(s: OpSite) -> Cond:
    total = merged(s.step)
    pairs = [eq(t.valid_cols * t.type.dtype.bytes % _PAIR_BYTES, 0) for t in s.step.tiles("srcs")]
    scratch = [total <= t.type.cols for t in s.step.tiles("tmp")]
    return all_of((*pairs, *scratch, s.step.tiles("dsts")[0].valid_cols <= total))


def _taken(s: OpSite, w: Witness) -> str:
    lists = ", ".join(f"{t.name} {w(t.valid_cols)}" for t in s.step.tiles("srcs"))
    scratch = "".join(f"; the scratch {t.name} has {t.type.cols}" for t in s.step.tiles("tmp"))
    result = s.step.tiles("dsts")[0]
    return f"valid columns: {lists}, {w(merged(s.step))} together; {result.name} has {w(result.valid_cols)}{scratch}"


VALID_MERGE: Rule[OpSite] = Rule(
    id="VALID-MERGE", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA TMrgSort.hpp: the result is copied from the scratch, as wide as it is declared",
    claim="a merge of lists gives no more than they hold, by way of a scratch that holds them all, in whole pairs",
    sites=_lists, applies=lambda s: unless_refused(s, _fits(s), _EXTENTS),
    goal=_fits, explain=_taken,
    help=lambda s: f"declare at most {merged(s.step)!r} valid columns for {s.step.tiles('dsts')[0].name}",
    mutant=lambda s: all_of(merged(s.step) <= t.type.cols for t in s.step.tiles("tmp")),
)

RULES = (VALID_RUNS, VALID_MERGE)
