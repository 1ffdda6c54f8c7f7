"""MemoryReuse: buffers whose values are never needed at the same time become one."""

from __future__ import annotations

from pypto_verified.ir.stmt import Function
from pypto_verified.layouts import Space
from pypto_verified.passes.buffer_table import Buffer, buffer_table
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.interference import Interference, interference
from pypto_verified.passes.rebase import rebase
from pypto_verified.records import dataclass


def memory_reuse(function: Function, ctx: PassContext) -> Function:
    """Share bytes between buffers of one space that do not interfere: first fit, largest first, all at the start of the
    shared buffer.

    Interference includes values that live over a loop's back edge, what an op says about operands its result may not
    stand on, results whose elements would lie elsewhere than the operand's, and on a2a3 loads read beside a popped tile
    (MP-08). Buffers that the author declared and pipe slots are left alone. Runs for planner PYPTO only (MP-01).
    Requires: carried tiles have one MemRef (MaterializeSemanticAliases). Produces: fewer buffers, same values.
    """
    graph = interference(function, ctx.target, copies_may_share=False)
    bins: dict[Space, list[_Bin]] = {}
    renamed: dict[str, str] = {}
    table = [b for b in buffer_table(function).values() if not b.fixed]
    for buffer in sorted(table, key=lambda b: -b.size):
        fitting = next((x for x in bins.setdefault(buffer.space, []) if x.takes(buffer, graph)), None)
        if fitting is None:
            bins[buffer.space].append(_Bin(buffer.base, {buffer.base}))
        else:
            renamed[buffer.base] = fitting.name
            fitting.members.add(buffer.base)
    return rebase(function, ctx, renamed)


@dataclass(slots=True)
class _Bin:
    """Buffers that share bytes; the first is the largest and gives the name."""

    name: str
    members: set[str]

    def takes(self, buffer: Buffer, graph: Interference) -> bool:
        return self.members.isdisjoint(graph.edges.get(buffer.base, ()))
