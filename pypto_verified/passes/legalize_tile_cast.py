"""LegalizeTileCast: a conversion that is no single instruction becomes a chain of conversions that are."""

from __future__ import annotations

from itertools import pairwise

from pypto_verified.dtypes import DType
from pypto_verified.errors import PassError
from pypto_verified.ir.expr import Call, Expr, Var
from pypto_verified.ir.stmt import Assign, Function, Stmt
from pypto_verified.ir.types import TileType
from pypto_verified.ops.build import make_call
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.rewrite import Rewriter
from pypto_verified.targets import Target

# (significand bits with the implicit one, exponent bits); formats not listed are not judged.
_FLOAT_FORMATS = {"FP32": (24, 8), "FP16": (11, 5), "BF16": (8, 8)}


def legalize_tile_cast(function: Function, ctx: PassContext) -> Function:
    """Expand each `tile.cast` that the target has no instruction for into the shortest chain of casts that it has.

    No intermediate type may lose what the destination can hold: integers never stand between floats, no narrower float
    or integer stands before a wider destination. Every step keeps the author's rounding mode. Among chains of one
    length the one that changes kind at equal width first wins, then the order of dtype names.
    Raises PassError at the cast if there is no such chain.
    """
    return _Pass(function, ctx).run() if "tile.cast" in ctx.scan(function).ops else function


class _Pass(Rewriter):
    def assign(self, s: Assign) -> tuple[Stmt, ...]:
        call = self.expr(s.value)
        if not isinstance(call, Call) or call.op != "tile.cast":
            return (self.rebuilt(s, call, self.retype(s.var, call)),)
        chain = self._chain(call)
        steps: list[Stmt] = []
        value: Expr = call.args[0]
        for dtype in chain[:-1]:
            step = make_call("tile.cast", (value,), {**dict(call.kwargs), "target_type": dtype}, call.span)
            var = Var(self.names.fresh(f"{s.var.name}_{dtype.name.lower()}"), step.type)
            steps.append(Assign(var, step, s.span))
            value = var
        last = call if not steps else make_call("tile.cast", (value,), dict(call.kwargs), call.span)
        return (*steps, self.rebuilt(s, last, self.retype(s.var, last)))

    def _chain(self, call: Call) -> tuple[DType, ...]:
        source, goal = call.args[0], call.kwarg("target_type")
        assert isinstance(source, Var) and isinstance(source.type, TileType) and isinstance(goal, DType), "a typed cast"
        chain = cast_chain(self.ctx.target, source.type.dtype, goal)
        if chain is None:
            raise PassError(
                f"{self.ctx.target.name} can't cast {source.type.dtype!r} to {goal!r}: there is neither an instruction "
                "nor a chain of them that keeps every value", call.span.location,
                help="write the casts one by one if the loss of an intermediate type is acceptable",
            )
        return chain


def cast_chain(target: Target, src: DType, dst: DType) -> tuple[DType, ...] | None:
    """The types to pass through, `dst` last; None if there is no way."""
    if (src, dst) in target.casts:
        return (dst,)
    paths: list[tuple[DType, ...]] = [(src,)]
    seen = {src}
    while paths:
        arrived = [p for p in paths if (p[-1], dst) in target.casts]
        if arrived:
            return min(((*p, dst) for p in arrived), key=_rank)[1:]
        paths = sorted(
            ((*p, to) for p in paths for at_type, to in target.casts
             if at_type == p[-1] and to not in seen and not loses(to, dst)),
            key=_rank,
        )
        seen |= {p[-1] for p in paths}
    return None


def _rank(path: tuple[DType, ...]) -> tuple[int, tuple[str, ...]]:
    cost = sum(_step_cost(a, b) for a, b in pairwise(path))
    return cost, tuple(d.name for d in path)


def _step_cost(a: DType, b: DType) -> int:
    if a.is_integer and b.is_float and a.bits == b.bits:
        return 0
    return 1 if a.is_float and b.is_float else 2


def loses(via: DType, dst: DType) -> bool:
    """Whether `via` provably can't hold some value that `dst` can."""
    if via.is_float and dst.is_float:
        a, b = _FLOAT_FORMATS.get(via.name), _FLOAT_FORMATS.get(dst.name)
        return a is not None and b is not None and (a[0] < b[0] or a[1] < b[1])
    if via.is_float:
        known = _FLOAT_FORMATS.get(via.name)
        return known is not None and known[0] < _value_bits(dst)
    if dst.is_float:
        return True
    return (dst.is_signed and not via.is_signed) or _value_bits(via) < _value_bits(dst)


def _value_bits(d: DType) -> int:
    return d.bits - 1 if d.is_signed else d.bits
