"""ResolveTileViews: every tile's layout is written out."""

from __future__ import annotations

from pypto_verified.ir.expr import Expr, Var
from pypto_verified.ir.stmt import Function
from pypto_verified.ir.types import TileType, Type
from pypto_verified.ops.layout import effective_view
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.rewrite import Rewriter


def resolve_tile_views(function: Function, ctx: PassContext) -> Function:
    """Replace an absent view by the implicit one of the tile's shape and space, and write out full valid extents.

    Requires: a space on every tile. Produces: on every tile a complete TileView with one valid extent per dim.
    """
    return _Pass(function, ctx).run()


class _Pass(Rewriter):
    def retype(self, var: Var, value: Expr) -> Type:
        return _resolved(super().retype(var, value))

    def carried_type(self, var: Var, init: Expr) -> Type:
        return _resolved(super().carried_type(var, init))


def _resolved(t: Type) -> Type:
    if not isinstance(t, TileType) or (t.view is not None and t.view.valid_shape):
        return t
    return TileType(t.shape, t.dtype, t.space, effective_view(t), t.memref)
