"""StampCompact: accumulators and L0 operands whose pitch follows their valid rows say so."""

from __future__ import annotations

from pypto_verified.errors import PassError
from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Call, Expr, Span, Var
from pypto_verified.ir.stmt import For, Function, Stmt, While, Yield
from pypto_verified.ir.types import TileType, Type
from pypto_verified.layouts import Compact, Space
from pypto_verified.ops.dims import ceildiv, mul
from pypto_verified.passes.buffers import is_view
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.dims import same_dim, same_dims, show
from pypto_verified.passes.rewrite import Rewriter

_INTO_L0 = frozenset({"tile.extract", "tile.move"})
_FRESH_ACCUMULATORS = frozenset({"tile.matmul", "tile.matmul_bias", "tile.matmul_mx", "tile.matmul_mx_bias"})
_ACCUMULATING = frozenset({"tile.matmul_acc", "tile.matmul_mx_acc"})
_MATMULS = _FRESH_ACCUMULATORS | _ACCUMULATING


def stamp_compact(function: Function, ctx: PassContext) -> Function:
    """Stamp `compact=normal` where a buffer's layout is made, never on an alias of it.

    CA-01: an extract or move into Left or Right whose valid extents are not provably its shape (`mad` reads operands
    at the pitch of their valid extents). CA-02: the accumulator of a matmul whose valid rows (those of lhs) are not
    provably its physical rows. CA-03: an accumulating matmul and views inherit; `tile.create(compact=True)` declares.
    Carried tiles take the mode of their initial value.
    Requires: no copied names, complete views. Raises PassError where a matmul accumulates rows that leave a pitch other
    than the physical one into a buffer that is not compact (CA-04), and where a carried tile changes its mode.
    """
    scan = ctx.scan(function)
    if _MATMULS.isdisjoint(scan.ops) and not any(map(_in_l0_or_compact, scan.tiles)):
        return function
    return _Pass(function, ctx).run()


def _in_l0_or_compact(t: TileType) -> bool:
    return t.space in (Space.LEFT, Space.RIGHT) or (t.view is not None and t.view.compact is not Compact.NULL)


class _Pass(Rewriter):
    def retype(self, var: Var, value: Expr) -> Type:
        t = super().retype(var, value)
        if not isinstance(t, TileType) or t.view is None or not isinstance(value, Call):
            return t
        mode = self._mode(value, t, t.view.compact)
        return t if mode is t.view.compact else replace(t, view=replace(t.view, compact=mode))

    def _mode(self, call: Call, t: TileType, declared: Compact) -> Compact:
        if call.op in _INTO_L0 and t.space in (Space.LEFT, Space.RIGHT):
            return declared if same_dims(t.valid_shape, t.shape) else Compact.NORMAL
        if call.op in _FRESH_ACCUMULATORS:
            return declared if same_dim(t.valid_shape[0], t.shape[0]) else Compact.NORMAL
        source = call.args[0] if call.args else None
        if not isinstance(source, Var) or not isinstance(source.type, TileType) or source.type.view is None:
            return declared
        if call.op in _ACCUMULATING:
            self._check_pitch(call, source, source.type)
        elif not is_view(call):
            return declared
        return source.type.view.compact

    def _check_pitch(self, call: Call, acc: Var, t: TileType) -> None:
        """CA-04: `mad` writes with a pitch of ceil(valid rows / 16) * 16 rows."""
        lhs = call.args[1]
        assert isinstance(lhs, Var) and isinstance(lhs.type, TileType) and t.view is not None, "operands are tiles"
        rows = lhs.type.valid_shape[0]
        if t.view.compact is Compact.NULL and not same_dim(mul(ceildiv(rows, 16), 16), t.shape[0]):
            raise PassError(
                f"the product has {show((rows,))} valid rows, so its pitch need not be the {t.shape[0]} rows of "
                f"'{acc.name}', which is not compact", call.span.location,
                help="make the accumulator with a narrowed matmul, or create it with compact=True",
            )

    def loop(self, s: For) -> Stmt:
        new = super().loop(s)
        assert isinstance(new, For), "a loop stays a loop"
        _check_carried(new, new.span)
        return new

    def while_loop(self, s: While) -> Stmt:
        new = super().while_loop(s)
        assert isinstance(new, While), "a loop stays a loop"
        _check_carried(new, new.span)
        return new


def _check_carried(s: For | While, span: Span) -> None:
    end = s.body[-1] if s.body else None
    for a, value in zip(s.iter_args, end.values if isinstance(end, Yield) else (), strict=True):
        if not isinstance(value, Var) or not isinstance(value.type, TileType) or not isinstance(a.var.type, TileType):
            continue
        before, after = a.var.type.view, value.type.view
        if before is not None and after is not None and before.compact is not after.compact:
            raise PassError(
                f"loop-carried '{a.var.name}' starts {_word(before.compact)} and is yielded {_word(after.compact)}",
                span.location, help="create the initial accumulator with compact=True",
            )


def _word(mode: Compact) -> str:
    return "compact" if mode is Compact.NORMAL else "not compact"
