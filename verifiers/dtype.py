"""DTYPE: element types agree where the hardware copies bits. Tables of what an op accepts are rows of LEGAL."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.dtypes import FP32, INT8, INT32, DType
from pypto_verified.layouts import Space
from pypto_verified.records import dataclass
from verifiers.access import TileUse
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_sites, op_text


@dataclass(frozen=True, slots=True)
class PairSite(Site):
    """Element types at the two ends of an op."""

    first_name: str
    first: DType
    second_name: str
    second: DType


def _transfers(context: Context) -> Iterator[PairSite]:
    """Loads, and stores that convert nothing."""
    for site in op_sites(context):
        if site.op.name not in ("pto.tload", "pto.tstore"):
            continue
        step = site.step
        for tile in step.tiles("dst") or step.tiles("src"):
            for window in step.windows("src") or step.windows("dst"):
                if tile.type.loc is not Space.ACC:
                    view = window.view
                    yield PairSite(
                        context, site.op, site.path, f"{site.label} {tile.name}", view.name, view.dtype, tile.name,
                        tile.type.dtype)


def _text(s: PairSite) -> str:
    return f"{op_text(s.op)}: {s.first_name} is {s.first.pto}, {s.second_name} is {s.second.pto}"


DTYPE_TRANSFER: Rule[PairSite] = Rule(
    id="DTYPE-TRANSFER",
    formula="dtype(source) = dtype(result)",
    kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA TLOAD, TSTORE copy bits; PTOAS compares widths alone (measured)",
    claim="a transfer's tensor and tile have one element type",
    sites=_transfers, applies=always,
    goal=lambda s: s.first == s.second,
    explain=lambda s, w: _text(s),
    help=lambda s: "load in the tensor's type and convert with a cast",
    mutant=lambda s: s.first.bits == s.second.bits,
)


def _moves(context: Context) -> Iterator[PairSite]:
    """Moves that convert nothing: not from an accumulator, not into the bias table."""
    for site in op_sites(context):
        if site.op.name not in ("pto.tmov", "pto.textract", "pto.tinsert"):
            continue
        for source in site.step.tiles("src"):
            for dst in site.step.tiles("dst"):
                if source.type.loc is not Space.ACC and dst.type.loc not in (Space.BIAS, Space.SCALING):
                    yield PairSite(
                        context, site.op, site.path, f"{site.label} {source.name} to {dst.name}", source.name,
                        source.type.dtype, dst.name, dst.type.dtype)


DTYPE_MOVE: Rule[PairSite] = Rule(
    id="DTYPE-MOVE",
    formula="dtype(source) = dtype(result)",
    kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA TMOV copies bits; PTOAS has no rule (measured)",
    claim="a move that does not leave an accumulator keeps the element type",
    sites=_moves, applies=always,
    goal=lambda s: s.first == s.second,
    explain=lambda s, w: _text(s),
    help=lambda s: "convert with a cast (tcvt) before or after the move",
    mutant=lambda s: s.first.is_float == s.second.is_float,
)


@dataclass(frozen=True, slots=True)
class ProductSite(Site):
    """The tiles of a matrix product; `acc_in` is None when nothing is accumulated."""

    left: TileUse
    right: TileUse
    acc: TileUse
    acc_in: TileUse | None


def _products(context: Context) -> Iterator[ProductSite]:
    for site in op_sites(context):
        step = site.step
        left, right = step.tiles("lhs") or step.tiles("a"), step.tiles("rhs") or step.tiles("b")
        if left and right and step.tiles("dst"):
            inputs = step.tiles("acc_in")
            yield ProductSite(
                context, site.op, site.path, f"{site.label} {step.tiles('dst')[0].name}", left[0], right[0],
                step.tiles("dst")[0], inputs[0] if inputs else None)


def _accumulates_in(left: DType) -> DType:
    return INT32 if left == INT8 else FP32


def _chain(s: ProductSite) -> bool:
    """The element types fit: one width of operand, accumulated in i32 (i8) or f32."""
    left, right, acc = (t.type.dtype for t in (s.left, s.right, s.acc))
    same = left == right or (left.bits == right.bits == 8 and left.is_float and right.is_float)
    return same and acc == _accumulates_in(left) and (s.acc_in is None or s.acc_in.type.dtype == acc)


DTYPE_MATMUL: Rule[ProductSite] = Rule(
    id="DTYPE-MATMUL",
    formula="dtype(left) = dtype(right) and dtype(acc) = the type that it accumulates in",
    kind=SAFETY, observable=False, requires=("VF-01",),
    source="PTO-ISA TMATMUL; PTOAS checks no types of tmatmul.acc on a2a3 (measured)",
    claim="a matrix product's operands have one type and accumulate in i32 (i8) or f32 (floats)",
    unseen="the C++ of such a text does not compile (static asserts)",
    sites=_products, applies=always,
    goal=_chain,
    explain=lambda s, w: (
        f"{op_text(s.op)} multiplies {s.left.type.dtype.pto} by {s.right.type.dtype.pto} into {s.acc.type.dtype.pto}"
        + (f", starting from {s.acc_in.type.dtype.pto}" if s.acc_in is not None else "")),
    help=lambda s: f"accumulate in {_accumulates_in(s.left.type.dtype).pto}",
    mutant=lambda s: s.left.type.dtype == s.right.type.dtype,
)

RULES = (DTYPE_TRANSFER, DTYPE_MOVE, DTYPE_MATMUL)
