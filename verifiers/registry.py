"""All rules, by family (the prefix of an id and the file it stands in)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from verifiers import (
    accumulate,
    bound,
    bound_scalar,
    box,
    dtype,
    dtype_mask,
    dtype_ops,
    event,
    event_buffers,
    event_launch,
    event_names,
    extents,
    fifo,
    fifo_apart,
    fifo_base,
    fifo_slots,
    histogram,
    indices,
    init,
    init_scratch,
    kind,
    layout,
    layout_ops,
    merges,
    pitch,
    plan,
    plan_peak,
    quantise,
    race,
    relabel,
    split,
    split_fit,
    stride,
    tables,
    valid,
    view,
    width,
    write,
    write_lanes,
    write_twice,
    write_union,
)
from verifiers.rule import Rule

AnyRule = Rule[Any]
"""A rule over some site class; rules of different classes stand in one table."""

RULES: tuple[AnyRule, ...] = (
    *box.RULES, *view.RULES, *bound.RULES, *bound_scalar.RULES, *width.RULES, *plan.RULES, *plan_peak.RULES,
    *accumulate.RULES, *valid.RULES, *layout.RULES, *dtype.RULES,
    *event.RULES, *event_names.RULES, *event_launch.RULES, *event_buffers.RULES, *kind.RULES, *pitch.RULES,
    *split.RULES, *split_fit.RULES,
    *fifo.RULES, *fifo_slots.RULES, *fifo_apart.RULES, *fifo_base.RULES,
    *extents.RULES, *layout_ops.RULES, *relabel.RULES, *stride.RULES, *dtype_ops.RULES, *dtype_mask.RULES,
    *indices.RULES, *tables.RULES, *merges.RULES, *quantise.RULES, *histogram.RULES,
    *init.RULES, *init_scratch.RULES,
    *write.RULES, *write_twice.RULES, *write_lanes.RULES, *write_union.RULES,
    *race.RULES,
)


def family(rule: AnyRule | str) -> str:
    """The part of a rule's id before the first dash."""
    return (rule if isinstance(rule, str) else rule.id).split("-")[0]


def selected(families: frozenset[str]) -> Iterator[AnyRule]:
    """The rules of these families, or all."""
    return (r for r in RULES if not families or family(r) in families)
