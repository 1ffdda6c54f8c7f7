"""Which functions deal with the cores of the other kind by flags and barriers alone, and so belong to a kernel of
both."""

from __future__ import annotations

from pypto_verified.pto.module import EnumAttr, Func, Op
from pypto_verified.pto.walk import walk_ops
from pypto_verified.targets.pipes import CROSS_FLAGS, is_for_kind

_SETS = frozenset(row.set for row in CROSS_FLAGS)
_WAITS = frozenset(row.wait for row in CROSS_FLAGS)


def has_partner(func: Func) -> bool:
    """Whether a function sets or waits for a flag of the other kind of cores, or meets both at a barrier. A wait may be
    for a flag that cores of its own kind set, where the function sets one of those."""
    ops = list(walk_ops(func))
    among_own = any(_of_kind(op) for op in ops)
    return any(
        (op.name in _SETS and not _of_kind(op)) or (op.name in _WAITS and not among_own) or _meets(op) for op in ops)


def _of_kind(op: Op) -> bool:
    return op.name in _SETS and is_for_kind(op.name, op.attrs.get("ffts_mode"))


def _meets(op: Op) -> bool:
    kinds = op.attrs.get("core_type")
    return op.name == "pto.syncall" and (not isinstance(kinds, EnumAttr) or kinds.member == "mix")
