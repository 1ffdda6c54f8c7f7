"""Which ids events get (EV-03): those of a pair of pipes in turn, but for ids that the library uses inside an op of the
kernel. Which these are is known when the kernel has been generated; one that has events is then generated again.
"""

from __future__ import annotations

from collections.abc import Iterable

from pypto_verified.codegen.errors import refuse
from pypto_verified.codegen.expr import dtype_of
from pypto_verified.codegen.kernel import Kernel
from pypto_verified.codegen.types import static_dim
from pypto_verified.dtypes import INDEX
from pypto_verified.ir.expr import NO_ARG, Binary, BinaryOp, Call, Const, Expr
from pypto_verified.pto.module import Op
from pypto_verified.targets import Target, target
from pypto_verified.targets.model import Pair


def event_id(kernel: Kernel, pair: Pair, call: Call) -> int | Expr:
    """The id that an event op names, or what computes it. CodegenError where the library leaves none."""
    number, slots = call.kwarg("event_id"), call.kwarg("slots", 1)
    assert isinstance(number, int) and isinstance(slots, int)
    slot = call.args[0] if call.args and call.args[0] != NO_ARG else Const(0, INDEX)
    known = static_dim(slot)
    if not call.kwarg("in_turn"):
        return number + known if known is not None else _plus(slot, number)
    kernel.event_pairs.add(pair)
    first = kernel.first_event.get(pair, 0)
    ids = target(kernel.target).event_ids - first
    if slots > ids:
        refuse(f"{slots} ids of {pair[0]} -> {pair[1]} are asked for, and the library leaves {ids}", kernel.span,
               "take fewer slots")
    if known is not None:
        return first + (number + known) % ids
    start = number % ids
    if start + slots <= ids:
        return _plus(slot, first + start)
    return _plus(_of(BinaryOp.MOD, _plus(slot, start), ids), first)


def first_ids(ops: Iterable[Op], chip: Target, pairs: Iterable[Pair]) -> dict[Pair, int]:
    """The first id that events of each pair may have, where it is not 0: behind those that the ops use inside."""
    names = {op.name.removeprefix("pto.") for op in ops}
    found: dict[Pair, int] = {}
    for row in chip.reserved_events:
        if row.pair in pairs and not names.isdisjoint(row.ops):
            found[row.pair] = max(found.get(row.pair, 0), row.event + 1)
    return found


def _plus(e: Expr, n: int) -> Expr:
    return e if n == 0 else _of(BinaryOp.ADD, e, n)


def _of(op: BinaryOp, e: Expr, n: int) -> Expr:
    return Binary(op, e, Const(n, dtype_of(e)), dtype_of(e))
