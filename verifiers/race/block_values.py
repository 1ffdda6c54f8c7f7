"""What ops compute from what belongs to one block of a launch: all blocks may write one value to one place, but not
values of their own."""

from __future__ import annotations

from functools import lru_cache

from pypto_verified.index import Cond, Expr, symbols_of
from verifiers.access import BLOCK, AccessProgram, Branch, Loop, Node, Root, Step, Window
from verifiers.write_twice import related, through_loops


@lru_cache(maxsize=4)
def of_the_block(program: AccessProgram) -> frozenset[int]:
    """Steps, by index, that use the block's index, global memory at a place that it tells, or a tile that such a step
    has left. What comes from another core, or through a float, is not followed."""
    found: set[int] = set()
    _follow(program, program.body, set(), found)
    return frozenset(found)


def _follow(program: AccessProgram, node: Node, own: set[Root], found: set[int]) -> None:
    """`own`: the tiles whose values are those of one block, before the node and then behind it."""
    if isinstance(node, Step):
        if any(t.root in own for t in node.reads()) or _told(program, node):
            found.add(node.index)
            own.update(t.root for t in node.writes())
        else:
            own.difference_update(t.root for t in node.writes() if t.whole)
    elif isinstance(node, Loop):
        # Once more with what a turn has left; the loop may have no turn.
        for _ in range(2):
            turn = set(own)
            _follow(program, node.body, turn, found)
            own |= turn
    elif isinstance(node, Branch):
        arm = set(own)
        _follow(program, node.then, own, found)
        _follow(program, node.orelse, arm, found)
        own |= arm
    else:
        for item in node.items:
            _follow(program, item, own, found)


def _told(program: AccessProgram, step: Step) -> bool:
    """Whether the block's index says what a step reads, beside tiles."""
    read = {g for p in step.phases for g in p.reads}
    scalars: list[Expr | Cond] = []
    for group, operands in step.operands.items():
        for o in operands:
            if isinstance(o, Expr | Cond):
                scalars.append(o)
            elif isinstance(o, Window) and group in read:
                scalars += (*o.offsets, *(o.parent.offsets if o.parent is not None else ()))
    names = frozenset(n for e in scalars for n in symbols_of(e))
    return BLOCK in related(program.symbols, through_loops(step, names))
