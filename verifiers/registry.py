"""All rules, by family (the prefix of an id and the file it stands in).

A module is imported when some function may have a site for its rules: most kernels have neither a flag nor a pipe, and
much of the code is about those.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from pypto_verified.pto.module import Module
from pypto_verified.pto.rows_sync import ROWS
from pypto_verified.pto.walk import walk_ops
from verifiers.rule import Rule

AnyRule = Rule[Any]
"""A rule over some site class; rules of different classes stand in one table."""

_ORDER, _WORK = True, False
_MODULES: tuple[tuple[bool, str], ...] = (
    (_WORK, "box view bound bound_scalar width plan plan_peak accumulate valid layout dtype"),
    (_ORDER, "event event_names event_fifo event_launch event_group event_buffers"),
    (_WORK, "kind pitch"),
    (_ORDER, "split split_fit fifo fifo_early fifo_credit fifo_used fifo_slots fifo_apart fifo_base"),
    (_WORK, "extents extents_lines extents_parts extents_reshape layout_ops relabel stride dtype_ops dtype_mask"),
    (_WORK, "indices tables merges quantise histogram"),
    (_WORK, "init init_scratch init_tail write write_twice write_lanes write_union write_taken race.blocks"),
    (_ORDER, "race.rules"),
)
"""Modules with a table RULES, in the order of reports; _ORDER: of what pipes and cores have to do with each other."""

_BETWEEN = frozenset(row.name for row in ROWS)
_BOTH = {"cube", "vector"}


@cache
def _rules(modules: str) -> tuple[AnyRule, ...]:
    found: list[AnyRule] = []
    for name in modules.split():
        found += importlib.import_module(f"verifiers.{name}").RULES
    return tuple(found)


def all_rules() -> tuple[AnyRule, ...]:
    """Every rule."""
    return tuple(rule for _, modules in _MODULES for rule in _rules(modules))


def has_order(module: Module) -> bool:
    """Whether rules about the order of pipes and cores may have a site, as long as the assembler is left to order what
    no flag does: some op orders or connects, or there are functions for both kinds of core."""
    return {f.kernel_kind for f in module.funcs} >= _BOTH or any(
        op.name in _BETWEEN for f in module.funcs for op in walk_ops(f))


def family(rule: AnyRule | str) -> str:
    """The part of a rule's id before the first dash."""
    return (rule if isinstance(rule, str) else rule.id).split("-")[0]


def selected(families: frozenset[str], order: bool) -> Iterator[AnyRule]:
    """The rules of these families, or all; without `order` none about the order of pipes and cores."""
    for about_order, modules in _MODULES:
        if order or not about_order:
            yield from (r for r in _rules(modules) if not families or family(r) in families)
