"""Which ops work lane by lane: each element of the destination comes from the same place of every tile source."""

from __future__ import annotations

from verifiers.access import Step, TileUse

# PTO-ISA iterates over the destination's valid region and reads each source at the same row and column.
OPS = frozenset(f"pto.{name}" for name in (
    "tadd", "tsub", "tmul", "tdiv", "tmax", "tmin", "tand", "tor", "txor", "tshl", "tshr", "trem", "tfmod",
    "tprelu", "taddc", "tsubc", "taddsc", "tsubsc", "tadds", "tsubs", "tmuls", "tdivs", "tmaxs", "tmins",
    "tands", "tors", "txors", "tshls", "tshrs", "trems", "tfmods", "tlrelu", "tabs", "tneg", "tnot", "trelu",
    "texp", "tlog", "tsqrt", "trsqrt", "trecip", "tcvt", "taddrelu", "tpow", "tpows", "taxpy"))

_NOT_LANES = frozenset({"tmp", "mask"})


def sources(step: Step) -> tuple[TileUse, ...]:
    """The tiles whose lanes become the destination's; scratch is none of them."""
    return tuple(t for group in step.operands if group not in (*_NOT_LANES, "dst") for t in step.tiles(group))
