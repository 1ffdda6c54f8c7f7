"""Walking the ops of a function."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.pto.module import Block, Func, Op


def walk_ops(func: Func) -> Iterator[Op]:
    """Every op of a function in text order, an op before those of its regions."""
    stack = [iter(block.ops) for block in reversed(_blocks(func.body))] if func.body is not None else []
    while stack:
        op = next(stack[-1], None)
        if op is None:
            stack.pop()
            continue
        yield op
        stack += [iter(block.ops) for region in reversed(op.regions) for block in reversed(_blocks(region))]


def _blocks(region: Block) -> tuple[Block, ...]:
    return (region, *region.followers)
