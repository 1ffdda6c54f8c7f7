"""Calls: each function is verified alone, so what a called one does beside the caller's own ops is not followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from pypto_verified.pto.module import Block, Func, Op, Value
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.types import PartitionViewType, PtrType, TensorViewType
from pypto_verified.pto.walk import walk_ops

CALL = "func.call"
_ACTING = frozenset({"compute", "sync"})
_LOOPS = frozenset({"scf.for", "scf.while"})
_SECTION = "pto.section."
_SETTING = "pto.set_ffts"
"""Tells where the counters between cores are; it comes before all else."""
_READING = "pto.load_scalar"
_ADVANCE = "pto.addptr"


def unfollowed(func: Func) -> frozenset[Op]:
    """The calls of functions that touch memory or order pipes, where the caller does that too, calls two of them on one
    kind of core, or one again and again. A wrapper that does nothing but call its kernels has none, nor has one that
    asks functions for numbers in tables that it leaves to them."""
    assert func.body is not None
    acting: list[tuple[Op, str, bool]] = []
    own = False
    for op, kind, again in _placed(func.body, "", False):
        if op.name == CALL:
            callee = func.callee(_name(op))
            if callee is None or (_acts(callee, set()) and not _looks_up(func, op, callee)):
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


def reached(func: Func, asked: Callable[[str], bool]) -> frozenset[Op]:
    """The calls of a function through which an op that is asked for by its name may run."""
    return frozenset(op for op in walk_ops(func) if op.name == CALL and _runs(func, op, asked, {func.name}))


def _runs(func: Func, call: Op, asked: Callable[[str], bool], seen: set[str]) -> bool:
    callee = func.callee(_name(call))
    if callee is None:
        return True
    if callee.name in seen:
        return False
    seen.add(callee.name)
    return any(asked(op.name) or (op.name == CALL and _runs(callee, op, asked, seen)) for op in walk_ops(callee))


def given_twice(func: Func, call: Op, tensors: Mapping[Value, str], target: str) -> tuple[str, ...]:
    """Tensors that a call hands over as more than one argument, though what is called writes some. A function is
    judged as if its tensors lay apart (assumption DISTINCT-POINTERS). `tensors`: the root of each pointer."""
    handed = Counter(tensors[v] for v in call.operands() if v in tensors)
    twice = tuple(name for name, times in handed.items() if times > 1)
    callee = func.callee(_name(call))
    return twice if twice and (callee is None or _stores(callee, target, set())) else ()


def given_otherwise(func: Func, call: Op, tensors: Mapping[Value, str], target: str) -> tuple[str, ...]:
    """Tensors that a call hands over and that another one gives to the other kind of core by another name, though one
    of the two writes some. What both cores of a kernel do to a tensor is compared by its name. `tensors`: as above."""
    callee, own = func.callee(_name(call)), _named(func, call, tensors)
    found: list[str] = []
    for other in (op for op in walk_ops(func) if op.name == CALL and op is not call):
        peer = func.callee(_name(other))
        if callee is None or peer is None or {callee.kernel_kind, peer.kernel_kind} != {"cube", "vector"}:
            continue
        theirs = _named(func, other, tensors)
        if _stores(callee, target, set()) or _stores(peer, target, set()):
            found += [t for t in own if t in theirs and own[t] != theirs[t]]
    return tuple(dict.fromkeys(found))


def _named(func: Func, call: Op, tensors: Mapping[Value, str]) -> dict[str, frozenset[str]]:
    """What a called function calls the tensors that it is handed."""
    callee = func.callee(_name(call))
    found: dict[str, set[str]] = {}
    for value, arg in zip(call.operands(), callee.args if callee is not None else (), strict=False):
        if value in tensors:
            found.setdefault(tensors[value], set()).add(arg.name)
    return {tensor: frozenset(names) for tensor, names in found.items()}


_OUTSIDE = (PtrType, TensorViewType, PartitionViewType)


def _stores(func: Func, target: str, seen: set[str]) -> bool:
    """Whether a function, or one that it calls, writes global memory."""
    seen.add(func.name)
    for op in walk_ops(func):
        callee = func.callee(_name(op)) if op.name == CALL else None
        if callee is not None:
            if callee.name not in seen and _stores(callee, target, seen):
                return True
            continue
        row = TABLE.get(op.name)
        if row is None or op.name == CALL:
            return True
        phases = row.phases(op, target) if row.effect in _ACTING else ()
        if any(isinstance(v.type, _OUTSIDE) for p in phases for group in p.writes for v in op.args.get(group, ())):
            return True
    return False


def _looks_up(func: Func, call: Op, callee: Func) -> bool:
    """Whether a function only reads scalars from memory that the caller hands to such functions alone."""
    if not _reads_alone(callee):
        return False
    ahead = {op.result: op.arg("ptr") for op in walk_ops(func) if op.name == _ADVANCE}

    def table(value: Value) -> Value:
        while value in ahead:
            value = ahead[value]
        return value

    tables = {table(v) for v in call.operands() if isinstance(v.type, PtrType)}
    used = {table(v) for op in walk_ops(func) if not _hands_on(func, op) for v in op.operands()}
    return tables <= set(func.args) and not tables & used


def _hands_on(func: Func, op: Op) -> bool:
    """Whether an op does nothing to the memory of its operands but to have it looked up."""
    callee = func.callee(_name(op)) if op.name == CALL else None
    return op.name == _ADVANCE or (callee is not None and _reads_alone(callee))


def _reads_alone(callee: Func) -> bool:
    return all(op.name != CALL and (op.name == _READING or not _is_acting(op)) for op in walk_ops(callee))


def _is_acting(op: Op) -> bool:
    row = TABLE.get(op.name)
    return row is None or (row.effect in _ACTING and op.name != _SETTING)


def _name(op: Op) -> str:
    return str(op.attrs["callee"]).lstrip("@")
