"""What a function has in it, found in one walk: passes that have nothing to do there return at once."""

from __future__ import annotations

from pypto_verified.ir.expr import Call
from pypto_verified.ir.stmt import Assign, Eval, Function, Stmt
from pypto_verified.ir.types import TileType
from pypto_verified.ir.walk import blocks, definitions
from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Scan:
    """`ops`: names of all ops that are called outside of other expressions; `tiles`: the types of all parameters and
    definitions that are tiles."""

    ops: frozenset[str]
    tiles: tuple[TileType, ...]


class Scanner:
    """Scans functions; the last result is kept for as long as passes hand on the same body and parameters."""

    def __init__(self) -> None:
        self._last: tuple[Function, Scan] | None = None

    def __call__(self, function: Function) -> Scan:
        """The scan of `function`."""
        if self._last is not None:
            seen, scan = self._last
            if seen.body is function.body and seen.params is function.params:
                return scan
        ops: set[str] = set()
        params = [p.var.type for p in function.params]
        tiles = [t for t in params if isinstance(t, TileType)]
        _block(function.body, ops, tiles)
        scan = Scan(frozenset(ops), tuple(tiles))
        self._last = function, scan
        return scan


def _block(body: tuple[Stmt, ...], ops: set[str], tiles: list[TileType]) -> None:
    """Add what a block has to `ops` and `tiles`."""
    for s in body:
        if isinstance(s, Assign):
            t, value = s.var.type, s.value
            if isinstance(t, TileType):
                tiles.append(t)
            if isinstance(value, Call):
                ops.add(value.op)
        elif isinstance(s, Eval):
            ops.add(s.call.op)
        else:
            tiles += [v.type for v in definitions(s) if isinstance(v.type, TileType)]
            for block in blocks(s):
                _block(block, ops, tiles)
