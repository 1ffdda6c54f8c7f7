"""The run in which a counter between cores is as full as it may get: whoever waits for the flag, or takes what a
pipe counts, does so last."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.pto.module import Block, Module, Op
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import LANE_IDS, cross_flag

POPS = ("pto.tpop_from_aic", "pto.tpop_from_aiv")
_SECTIONS = {"pto.section.cube": "cube", "pto.section.vector": "vector"}


def waits_for(module: Module, line: int, target: Target) -> frozenset[int]:
    """The lines on which the other core waits for the flag that `line` sets; an id that is computed is any."""
    ops = [(kind, op) for func in module.funcs if func.body is not None
           for kind, op in _of_cores(func.body, func.kernel_kind)]
    asked = next(((kind, op) for kind, op in ops if op.line == line), None)
    row = cross_flag(asked[1].name, target.name) if asked is not None else None
    if asked is None or row is None:
        return frozenset()
    own, (kind, _) = _id(asked[1]), asked
    return frozenset(
        op.line for other, op in ops
        if other != kind and op.name == row.wait and (own is None or _id(op) in (None, own)))


def pops(module: Module) -> list[frozenset[int]]:
    """The lines on which each kind of core takes tiles of the other one."""
    ops = [op for func in module.funcs if func.body is not None for _, op in _of_cores(func.body, "")]
    return [frozenset(op.line for op in ops if op.name == name) for name in POPS]


def tell_each_other(module: Module, target: Target) -> bool:
    """Whether tiles go both ways, or flags do, so that one may wait for the other at more than its slots."""
    names = {op.name for func in module.funcs if func.body is not None for _, op in _of_cores(func.body, "")}
    return names.issuperset(POPS) or any(cross_flag(name, target.name) is not None for name in names)


def _id(op: Op) -> int | None:
    """What both cores call a flag."""
    id = op.attrs.get("event_id")
    return id % LANE_IDS if isinstance(id, int) else None


def _of_cores(block: Block, kind: str) -> Iterator[tuple[str, Op]]:
    for part in (block, *block.followers):
        for op in part.ops:
            yield kind, op
            for region in op.regions:
                yield from _of_cores(region, _SECTIONS.get(op.name, kind))
