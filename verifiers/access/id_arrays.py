"""Arrays of flag ids that a function keeps for itself (`pto.declare_eventid_array`)."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Expr
from pypto_verified.pto.module import Block, Op, Value

DECLARE, SET, GET = "pto.declare_eventid_array", "pto.eventid_array_set", "pto.eventid_array_get"


class IdArrays:
    """What stands in them, as far as the text tells: known for constant places of an array that is only set in the
    block that declares it, not in a loop or branch, and that has no other name."""

    def __init__(self, body: Block | None) -> None:
        ops = list(_ops(body)) if body is not None else []
        home = {op.result: block for block, op in ops if op.name == DECLARE}
        elsewhere = {op.arg("array") for block, op in ops
                     if op.name == SET and home.get(op.arg("array")) is not block}
        elsewhere |= {v for _, op in ops if op.name not in (SET, GET) for v in op.operands()}
        self._known: dict[Value, dict[int, Expr]] = {array: {} for array in home if array not in elsewhere}

    def put(self, array: Value, index: Expr, value: Expr) -> None:
        known = self._known.get(array)
        if known is not None and index.value is None:
            known.clear()
        elif known is not None and index.value is not None:
            known[index.value] = value

    def get(self, array: Value, index: Expr) -> Expr | None:
        """The id at a place; None if that is not known."""
        return self._known.get(array, {}).get(index.value) if index.value is not None else None


def _ops(block: Block) -> Iterator[tuple[Block, Op]]:
    for op in block.ops:
        yield block, op
        for region in op.regions:
            yield from _ops(region)
