"""Which op stands before another one on every path of a function, as MLIR's dominance has it.

An op dominates what follows it in its block, what stands in regions of that, and, in a region with branches, what its
block cannot be left out on the way to. What stands in a branch or loop dominates nothing behind it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.pto.module import Block, Func, Op

_WAYS = ("dest", "true_dest", "false_dest")
"""Attributes of `cf.br` and `cf.cond_br` that name the blocks they may go to."""


class Places:
    """Where the ops of a function stand."""

    def __init__(self, func: Func) -> None:
        self._block_of: dict[Op, Block] = {}
        self._number: dict[Op, int] = {}
        self._region_of: dict[Block, Block] = {}
        self._around: dict[Block, Op] = {}
        todo: list[tuple[Block, Op | None]] = [(func.body, None)] if func.body is not None else []
        while todo:
            entry, around = todo.pop()
            if around is not None:
                self._around[entry] = around
            for block in (entry, *entry.followers):
                self._region_of[block] = entry
                for number, op in enumerate(block.ops):
                    self._block_of[op], self._number[op] = block, number
                    todo += [(region, op) for region in op.regions]

    def dominates(self, first: Op, then: Op) -> bool:
        """Whether `first` has run whenever `then` runs."""
        home = self._block_of[first]
        for op in self._up(then):
            block = self._block_of[op]
            if block is home:
                return self._number[first] < self._number[op]
            if self._region_of[block] is self._region_of[home]:
                return not _reaches(self._region_of[home], block, home)
        return False

    def _up(self, op: Op) -> Iterator[Op]:
        """An op, and those around it."""
        found: Op | None = op
        while found is not None:
            yield found
            found = self._around.get(self._region_of[self._block_of[found]])


def _reaches(entry: Block, goal: Block, without: Block) -> bool:
    """Whether there is a way from a region's first block to `goal` that does not go through `without`."""
    labels, seen, todo = {b.label: b for b in entry.followers}, {without}, [entry]
    while todo:
        block = todo.pop()
        if block in seen:
            continue
        seen.add(block)
        ways = [block.ops[-1].attrs.get(way) for way in _WAYS] if block.ops else []
        todo += [labels[way] for way in ways if isinstance(way, str)]
    return goal in seen
