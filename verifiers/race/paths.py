"""The paths that come to one place, and how many places speak of the same things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from pypto_verified.index import Cond, symbols_of
from verifiers.access import AccessProgram, Branch, Loop, Node, Sequence
from verifiers.race.literals import Literals
from verifiers.race.order import Order
from verifiers.solver.cone import names_of

MOST_PATHS = 8
"""Paths that are kept apart at one place."""

Paths: TypeAlias = dict[Literals, Order]
"""By what is known along them."""


def put(paths: Paths, known: Literals, order: Order) -> None:
    found = paths.get(known)
    if found is None:
        paths[known] = order
    else:
        found.join(order)


def join(paths: Paths, others: Paths) -> bool:
    """Add paths to those at a place; whether that changed anything. Too many become one that knows nothing."""
    changed = False
    for known, order in others.items():
        if known not in paths and len(paths) >= MOST_PATHS:
            known = frozenset()
        found = paths.get(known)
        if found is None:
            paths[known] = order.copy()
            changed = True
        else:
            changed |= found.join(order)
    return changed


def joined(ways: list[Paths]) -> Paths:
    """The paths of all ways to one place."""
    if len(ways) == 1:
        return ways[0]
    found: Paths = {}
    for way in ways:
        join(found, way)
    return found


def merge(paths: Paths, others: Paths) -> None:
    """Paths of both arms of a branch; two whose orders are the same become one that knows what both know."""
    for known, order in others.items():
        for mine, own in paths.items():
            if own.same(order):
                del paths[mine]
                known = mine & known
                break
        put(paths, known, order)
    for known in list(paths)[MOST_PATHS:]:
        if known:
            put(paths, frozenset(), paths.pop(known))


def subject(c: Cond) -> frozenset[str]:
    """What a condition speaks of: its names, whichever iteration they stand for."""
    return frozenset(n.split("@")[0] for n in names_of(c))


def spoken(program: AccessProgram) -> Counter[frozenset[str]]:
    """How many places of a function speak of the same names: branches, and loops that go on or end."""
    found: Counter[frozenset[str]] = Counter()
    for node in nodes(program.body):
        if isinstance(node, Branch):
            found[subject(node.cond)] += 1
        elif isinstance(node, Loop):
            bounds = [b for b in (node.lower, node.upper, node.step) if b is not None]
            found[frozenset(n for b in bounds for n in symbols_of(b))] += 1
            if node.counter is not None:
                found[frozenset(n for b in (*bounds, node.counter) for n in symbols_of(b))] += 1
    return found


def nodes(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, Sequence):
        for item in node.items:
            yield from nodes(item)
    elif isinstance(node, Branch):
        yield from nodes(node.then)
        yield from nodes(node.orelse)
    elif isinstance(node, Loop):
        yield from nodes(node.body)
