"""Vector code that the first vector core of a cube runs alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pypto_verified.pto.module import Func, Op
from pypto_verified.pto.walk import walk_ops
from pypto_verified.targets import Target

_ASKS = frozenset({"pto.get_subblock_idx", "pto.get_subblock_num"})
_MOVES = ("pto.tpush", "pto.tpop", "pto.tfree", "pto.talloc")
_SECTION = "pto.section.vector"


def first_lane_alone(func: Func, target: Target) -> frozenset[Op]:
    """The ops of a function that its second lane skips: on a5 the assembler puts all of a vector function, or of a
    section for vector cores, behind a test for the first lane if any tile crosses whole in there, unless an op in there
    asks for the lane. Source: PTOAS needsA5NoSplitVectorGuard."""
    if not target.on_chip_pipe:
        return frozenset()
    if func.kernel_kind == "vector":
        every = tuple(walk_ops(func))
        return frozenset(every) if _guarded(every) else frozenset()
    found: set[Op] = set()
    for section in (op for op in walk_ops(func) if op.name == _SECTION):
        inside = tuple(_within(section))
        if _guarded(inside):
            found.update(inside)
    return frozenset(found)


def _within(op: Op) -> Iterator[Op]:
    for region in op.regions:
        for inner in region.ops:
            yield inner
            yield from _within(inner)


def _guarded(ops: Iterable[Op]) -> bool:
    whole = False
    for op in ops:
        if op.name in _ASKS:
            return False
        whole = whole or (op.name.startswith(_MOVES) and op.attrs.get("split", 0) == 0)
    return whole
