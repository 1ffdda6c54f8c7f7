"""Rewriting keeps the type of a call in step with that of the variable it is bound to."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import INDEX
from pypto_verified.ir.expr import Call, Var
from pypto_verified.ir.stmt import Assign
from pypto_verified.ir.types import ScalarType, TileType
from pypto_verified.ir.walk import walk_stmts
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.rewrite import Rewriter
from pypto_verified.targets import target

from .build import after, kernel

PARAMS = """
a: pl.Tensor[[16, 64], pl.FP32],
n: pl.Scalar[pl.INDEX],
out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
"""


@pytest.mark.parametrize("stage", ["ResolveTileViews", "AllocateMemoryAddr"])
def test_a_size_that_is_renamed_is_renamed_in_both_types(stage: str) -> None:
    """With storage, which only the variable's type has, and without."""
    f = after(kernel(PARAMS, "return pl.store(pl.load(a, [0, 0], [16, 64], valid_shape=[16, n]), [0, 0], out)"), stage)
    rewriter = Rewriter(f, PassContext(target("a2a3")))
    m = Var("m", ScalarType(INDEX))
    rewriter.env = rewriter.dims = {"n": m}
    (tile,) = (
        s for s in walk_stmts(rewriter.run().body) if isinstance(s, Assign) and isinstance(s.var.type, TileType))
    assert isinstance(tile.value, Call) and isinstance(tile.var.type, TileType)
    own = tile.var.type
    assert own.view is not None and own.view.valid_shape == (16, m)
    assert tile.value.type == TileType(own.shape, own.dtype, own.space, own.view)
