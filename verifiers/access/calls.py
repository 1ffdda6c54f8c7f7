"""Calls: each function is verified alone, so what a called one does beside the caller's own ops is not followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pypto_verified.pto.module import Block, Func, Op
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.walk import walk_ops

CALL = "func.call"
_ACTING = frozenset({"compute", "sync"})
_LOOPS = frozenset({"scf.for", "scf.while"})
_SECTION = "pto.section."


def unfollowed(func: Func) -> frozenset[Op]:
    """The calls of functions that touch memory or order pipes, where the caller does that too, calls two of them on one
    kind of core, or one again and again. A wrapper that does nothing but call its kernels has none."""
    assert func.body is not None
    acting: list[tuple[Op, str, bool]] = []
    own = False
    for op, kind, again in _placed(func.body, "", False):
        if op.name == CALL:
            callee = func.callee(_name(op))
            if callee is None or _acts(callee, set()):
                acting.append((op, kind or (callee.kernel_kind if callee is not None else ""), again))
        else:
            own = own or _is_acting(op)
    kinds = Counter(kind for _, kind, _ in acting)
    apart = kinds.keys() <= {"cube", "vector"} or len(acting) == 1
    alone = not own and apart and max(kinds.values(), default=0) <= 1
    return frozenset(op for op, _, again in acting if again or not alone)


def _placed(block: Block, kind: str, again: bool) -> Iterator[tuple[Op, str, bool]]:
    """The ops of a region with the kind of core of the section around, and whether they stand in a loop."""
    for op in block.ops:
        yield op, kind, again
        inner = op.name.removeprefix(_SECTION) if op.name.startswith(_SECTION) else kind
        for region in op.regions:
            yield from _placed(region, inner, again or op.name in _LOOPS)


def _acts(func: Func, seen: set[str]) -> bool:
    """Whether a function touches memory or orders pipes, or one that it calls."""
    seen.add(func.name)
    for op in walk_ops(func):
        if op.name == CALL:
            callee = func.callee(_name(op))
            if callee is None or (callee.name not in seen and _acts(callee, seen)):
                return True
        elif _is_acting(op):
            return True
    return False


def _is_acting(op: Op) -> bool:
    row = TABLE.get(op.name)
    return row is None or row.effect in _ACTING


def _name(op: Op) -> str:
    return str(op.attrs["callee"]).lstrip("@")
