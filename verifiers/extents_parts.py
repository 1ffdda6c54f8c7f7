"""VALID, for ops on parts of tiles: padding, cuts, and partial ops."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Cond, Expr, all_of, any_of, const, eq, implies
from pypto_verified.index.cond import CondLike
from pypto_verified.layouts import Space
from verifiers.access import TileUse
from verifiers.covering import EXTENT_WORDS, covers, full, shapes, short
from verifiers.op_sites import (
    AXES,
    COLS,
    PART_ARGS,
    PARTIAL,
    ROWS,
    ExtentSite,
    compute_sites,
    destination,
    empty,
    extent_site,
    in_range,
    sources,
    unless_refused,
    valid,
)
from verifiers.rule import SAFETY, Rule
from verifiers.sites import Context, OpSite, op_sites


def _pads(context: Context) -> Iterator[ExtentSite]:
    for site in op_sites(context):
        target = destination(site.step)
        if target is None or not site.op.name.startswith("pto.tfillpad"):
            continue
        for source in site.step.tiles("src"):
            for axis in (ROWS, COLS):
                yield extent_site(site, target, source, axis)


def _in_l1(s: ExtentSite) -> bool:
    return s.source.type.loc is Space.MAT


def _pad_covers(s: ExtentSite) -> CondLike:
    """In L1 nothing is filled within the destination's valid region, so that has to be what the source holds."""
    return all_of((covers(s), implies(s.needed, s.have <= s.want))) if _in_l1(s) else covers(s)


VALID_PAD: Rule[ExtentSite] = Rule(
    id="VALID-PAD", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("FILLPAD-ROWS",),
    unneeded=lambda s: ("FILLPAD-ROWS",) if _in_l1(s) else (),
    source="PTO-ISA TFillPad.hpp",
    claim="the valid region that a fillpad leaves covers that of its source, and in L1 is the same",
    sites=_pads, applies=lambda s: unless_refused(s, _pad_covers(s), EXTENT_WORDS),
    given=lambda s: in_range(s.source, s.target), goal=_pad_covers,
    explain=lambda s, w: f"the source {s.target.name} has {w(s.want)} valid {AXES[s.axis]}, the result "
                         f"{s.source.name} {w.show(s.have)}"
                         f"{', and in L1 a fill leaves what it calls valid as it is' if _in_l1(s) else ''}",
    help=lambda s: f"declare {'' if _in_l1(s) else 'at least '}{s.want!r} valid {AXES[s.axis]} for {s.source.name}",
    mutant=lambda s: implies(s.needed, s.have >= 1),
)


def _cuts(context: Context) -> Iterator[ExtentSite]:
    """What an extract reads of its source, what an insert writes of its destination; both axes."""
    for site in op_sites(context):
        target = destination(site.step)
        if target is None or site.op.name not in ("pto.textract", "pto.tinsert"):
            continue
        for source in site.step.tiles("src"):
            for axis, group in ((ROWS, "indexRow"), (COLS, "indexCol")):
                start = site.step.operands[group][0]
                if isinstance(start, Expr):
                    yield _cut(site, source, target, axis, start)


def _cut(site: OpSite, source: TileUse, target: TileUse, axis: int, start: Expr) -> ExtentSite:
    if site.op.name == "pto.textract":
        return extent_site(site, source, target, axis, want=start + valid(target, axis))
    physical = target.type.rows if axis == ROWS else target.type.cols
    return extent_site(site, target, source, axis, want=start + valid(source, axis), have=const(physical))


def _inside(s: ExtentSite) -> Cond:
    return implies(s.needed, all_of((s.want >= valid(s.target, s.axis), s.want <= s.have)))


VALID_CUT: Rule[ExtentSite] = Rule(
    id="VALID-CUT", kind=SAFETY, observable=True, requires=("VF-01",), assumptions=("OUT-OF-VALID",),
    source="PTO-ISA TExtract.hpp, TInsert.hpp; PTOAS checks constants against physical extents",
    claim="an extract takes valid elements; an insert puts its source's valid elements inside the destination",
    sites=_cuts, applies=lambda s: unless_refused(s, _inside(s), EXTENT_WORDS),
    given=lambda s: in_range(s.source, s.target), goal=_inside,
    explain=lambda s, w: (
        f"{AXES[s.axis]} {w(s.want - valid(s.target, s.axis))} to {w(s.want) - 1} of {s.source.name} are touched, it "
        f"has {w.show(s.have)}"),
    help=lambda s: f"keep the index between 0 and {s.have - valid(s.target, s.axis)!r}",
    mutant=lambda s: implies(s.needed, s.want <= s.have + 32),
)


def _partial(s: OpSite) -> Cond:
    target = destination(s.step)
    assert target is not None
    values = (*s.step.tiles("src0"), *s.step.tiles("src1"))
    return any_of((*(full(t, target) for t in values), empty(target.valid_rows, target.valid_cols)))


VALID_PART: Rule[OpSite] = Rule(
    id="VALID-PART", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA TPartBinOps.hpp: one source covers the destination",
    claim="one source of a partial op covers the destination",
    sites=compute_sites(PARTIAL | PART_ARGS), applies=lambda s: unless_refused(s, _partial(s), EXTENT_WORDS),
    goal=_partial, explain=shapes,
    help=lambda s: "narrow the destination to the larger source",
    mutant=lambda s: len(sources(s.step)) > 0,
)


def _couples(context: Context) -> Iterator[ExtentSite]:
    """Values and their indices, of each source and of the result."""
    for site in op_sites(context):
        if site.op.name not in PART_ARGS:
            continue
        for group in ("src0", "src1", "dst"):
            for values in site.step.tiles(group):
                for numbers in site.step.tiles(f"{group}Idx"):
                    for axis in (ROWS, COLS):
                        yield extent_site(site, numbers, values, axis)


def _together(s: ExtentSite) -> Cond:
    return any_of((eq(s.have, s.want), empty(s.target.valid_rows, s.target.valid_cols)))


VALID_COUPLE: Rule[ExtentSite] = Rule(
    id="VALID-COUPLE", kind=SAFETY, observable=False, requires=("VF-01",),
    unseen="a run goes over what the values declare",
    source="PTO-ISA npu/a2a3 TPartArgOp.hpp (else nothing is computed), npu/a5 TPartArgBinOps.hpp",
    claim="values and their indices in a partial op have one valid shape",
    sites=_couples, applies=lambda s: unless_refused(s, _together(s), EXTENT_WORDS),
    goal=_together, explain=short,
    help=lambda s: f"give {s.source.name} the valid shape of {s.target.name}",
    mutant=lambda s: any_of((_together(s), s.axis == ROWS)),
)

RULES = (VALID_PAD, VALID_CUT, VALID_PART, VALID_COUPLE)
