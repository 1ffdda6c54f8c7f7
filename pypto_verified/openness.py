"""Where a run has open results (`interpreter/unspecified.py`), whether comparing it says anything.

Two right results may differ by a rounding or so, and what is computed from them by about as much, unless an op jumps
there: then the distance is any, and no tolerance tells a fault from a freedom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from pypto_verified.ir.expr import Call, Expr, Var
from pypto_verified.ir.stmt import Assign, Eval, For, Function, If, Return, Stmt, While, Yield
from pypto_verified.ir.types import TensorType, TileType
from pypto_verified.ir.walk import blocks, calls, walk_expr

_JUMPING = frozenset(
    f"tile.{name}" for name in (
        "rem", "rems", "fmod", "fmods", "cmp", "cmps", "row_argmax", "row_argmin", "col_argmax", "col_argmin")
)

_POPS = {"tile.tpush_to_aiv": "tile.tpop_from_aic", "tile.tpush_to_aic": "tile.tpop_from_aiv"}
"""Push -> the op by which the other core gets the tile."""

OPEN = "what is open in one result decides another: two right runs may be any distance apart"


def is_open(function: Function, loose: Set[str], *others: Function) -> bool:
    """Whether an op that jumps takes what comes from a result of an op of `loose`. `others`: functions of other cores
    at the other ends of its pipes; tensors of one name are one tensor."""
    functions = (function, *others)
    if not loose or not any(_jumps(c) for f in functions for c in calls(f.body)):
        return False
    spreads = [(f, _Spread(set(loose))) for f in functions]
    new = True
    while new:
        for f, spread in spreads:
            spread.until_all_are_known(f.body)
        new = bool(others) and _share(spreads)
    return any(_jumps(c) and any(map(spread.reaches, c.args)) for f, spread in spreads for c in calls(f.body))


def _share(spreads: Sequence[tuple[Function, _Spread]]) -> bool:
    """Tell each function of a group what the others know; whether that was new to one."""
    popped = {_POPS[c.op] for f, s in spreads for c in calls(f.body) if c.op in _POPS and any(map(s.reaches, c.args))}
    tensors = [{p.var.name for p in f.params if isinstance(p.var.type, TensorType)} for f, _ in spreads]
    written = {n for own, (_, s) in zip(tensors, spreads, strict=True) for n in own & s.names}
    new = False
    for own, (_, spread) in zip(tensors, spreads, strict=True):
        new |= not (popped <= spread.loose and own & written <= spread.names)
        spread.loose |= popped
        spread.names |= own & written
    return new


def _jumps(call: Call) -> bool:
    if call.op != "tile.cast":
        return call.op in _JUMPING
    source, result = call.args[0], call.type
    assert isinstance(source, Var | Call) and isinstance(source.type, TileType), "a tile is cast"
    return source.type.dtype.is_float and isinstance(result, TileType) and not result.dtype.is_float


class _Spread:
    """The names of values that come from an op of `loose`, anywhere and whenever."""

    def __init__(self, loose: set[str]) -> None:
        self.loose = loose
        self.names: set[str] = set()

    def reaches(self, e: Expr) -> bool:
        return any(
            (isinstance(x, Var) and x.name in self.names) or (isinstance(x, Call) and x.op in self.loose)
            for x in walk_expr(e)
        )

    def until_all_are_known(self, body: tuple[Stmt, ...]) -> None:
        known = -1
        while known < len(self.names):
            known = len(self.names)
            self._block(body, ())

    def _block(self, body: Iterable[Stmt], merged: tuple[tuple[str, ...], ...]) -> None:
        """`merged`: for each value of the block's yield the names that it gets."""
        for s in body:
            match s:
                case Assign():
                    self._gets(s.value, (s.var.name, *_written(s.value)))
                case Return():
                    for value in s.values:
                        self._gets(value, tuple(_written(value)))
                case Eval():
                    self._gets(s.call, tuple(_variables(s.call)))
                case Yield():
                    for value, names in zip(s.values, merged, strict=True):
                        self._gets(value, names)
                case For() | While():
                    carried = tuple((a.var.name, v.name) for a, v in zip(s.iter_args, s.results, strict=True))
                    for a, names in zip(s.iter_args, carried, strict=True):
                        self._gets(a.init, names)
                    for block in blocks(s):
                        self._block(block, carried)
                case If():
                    for block in blocks(s):
                        self._block(block, tuple((v.name,) for v in s.results))

    def _gets(self, value: Expr, names: tuple[str, ...]) -> None:
        if self.reaches(value):
            self.names.update(names)


def _written(e: Expr) -> Iterator[str]:
    """The tensors that calls of an expression store to: they have the result under their old names too."""
    stores = (c for c in walk_expr(e) if isinstance(c, Call) and isinstance(c.type, TensorType))
    return (a.name for c in stores for a in c.args if isinstance(a, Var) and isinstance(a.type, TensorType))


def _variables(call: Call) -> Iterator[str]:
    return (e.name for e in walk_expr(call) if isinstance(e, Var))
