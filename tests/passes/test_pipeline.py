"""Small passes, the structural checks, and the pipeline as a whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pypto_verified.dtypes import FP32, INDEX
from pypto_verified.errors import NotModelled, PassError
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Var
from pypto_verified.ir.stmt import Assign, For, Function, FunctionKind, If, Return, Yield
from pypto_verified.ir.types import ScalarType, TileType, TileView
from pypto_verified.ir.walk import walk_stmts
from pypto_verified.language import load_source
from pypto_verified.layouts import Compact, Space
from pypto_verified.ops.build import make_call
from pypto_verified.passes import invariants as inv
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.fold import fold
from pypto_verified.passes.pipeline import PASSES, run
from pypto_verified.targets import target

from .build import TARGETS, after, kernel, lower, ops

PARAMS = """
a: pl.Tensor[[256, 64], pl.FP32],
n: pl.Scalar[pl.INDEX],
p: pl.Out[pl.Tensor[[256, 64], pl.FP32]],
q: pl.Out[pl.Tensor[[256, 64], pl.FP32]]
"""


def test_simplify_folds_copies_constants_and_decided_branches_and_keeps_calls() -> None:
    f = after(kernel(PARAMS, """
        k = 4
        row = k * 8 - 0
        unused = n * 2
        x = pl.load(a, [row, 0], [16, 64])
        dead = pl.exp(x)
        if k > 3:
            y = x
        else:
            y = dead
        return pl.store(y, [row, 0], p)
    """), "Simplify")
    assert ops(f) == ["load", "exp", "store"]
    assert not [s for s in walk_stmts(f.body) if isinstance(s, If)]
    assert not [s for s in f.body if isinstance(s, Assign) and isinstance(s.var.type, ScalarType)]
    (load,) = [s.value for s in f.body if isinstance(s, Assign) and s.var.name == "x"]
    assert load.args[1].items[0] == Const(32, INDEX)  # type: ignore[union-attr]  # a load with literal offsets


@pytest.mark.parametrize(("op", "value"), [
    ("ADD", 10), ("SUB", 4), ("MUL", 21), ("FLOORDIV", 2), ("MOD", 1), ("MIN", 3), ("MAX", 7),
    ("BITAND", 3), ("BITOR", 7), ("BITXOR", 4),
])
def test_operators_on_constants_fold_to_their_value(op: str, value: int) -> None:
    assert fold(Binary(BinaryOp[op], Const(7), Const(3), INDEX)) == Const(value, INDEX)


@pytest.mark.parametrize(("op", "by_one"), [("FLOORDIV", 7), ("MOD", 0)])
def test_a_division_by_zero_stays_as_written_and_one_by_one_folds(op: str, by_one: int) -> None:
    by_zero = Binary(BinaryOp[op], Const(7), Const(0), INDEX)
    assert fold(by_zero) == by_zero
    assert fold(Binary(BinaryOp[op], Const(7), Const(1), INDEX)) == Const(by_one, INDEX)


@pytest.mark.parametrize("body", [
    """
        x = pl.load(a, [0, 0], [16, 64])
        y = x
        for i in pl.range(n):
            z = y
            y = pl.exp(z)
        r = pl.store(y, [0, 0], p)
        s = r
        return s
    """,
    """
        x = pl.load(a, [0, 0], [16, 64])
        for i, (y,) in pl.range(n, init_values=(x,)):
            z = y
            y = pl.yield_(z)
        return pl.store(y, [0, 0], p)
    """,
    """
        x = pl.load(a, [0, 0], [16, 64])
        if n > 0:
            y = x
        else:
            y = pl.exp(x)
        z = y
        return pl.store(z, [0, 0], p)
    """,
])
def test_another_name_of_a_tile_or_a_tensor_is_the_tile_or_tensor_for_later_passes(body: str) -> None:
    f = kernel(PARAMS, body)
    assert list(inv.uncopied(f))
    assert not list(inv.uncopied(after(f, "Simplify")))
    assert not list(inv.uncopied(lower(f)))


def test_returns_are_the_written_parameters_in_their_order() -> None:
    f = lower(kernel(PARAMS, """
        x = pl.load(a, [0, 0], [16, 64])
        second = pl.store(x, [0, 0], q)
        first = pl.store(x, [0, 0], p)
        return second, first
    """))
    end = f.body[-1]
    assert isinstance(end, Return)
    assert [v.name for v in end.values if isinstance(v, Var)] == ["p", "q"]


def test_a_branch_can_not_return_one_of_two_tensors() -> None:
    f = kernel(PARAMS, """
        x = pl.load(a, [0, 0], [16, 64])
        if n > 0:
            r = pl.store(x, [0, 0], p)
        else:
            r = pl.store(x, [0, 0], q)
        return r
    """)
    with pytest.raises(PassError, match=r"'r.*' is 'p' in one block of the branch and 'q' in the other"):
        lower(f)


def test_only_written_parameters_are_returned() -> None:
    f = kernel(PARAMS, "x = pl.load(a, [0, 0], [16, 64])\np = pl.store(x, [0, 0], p)\nreturn a")
    with pytest.raises(PassError, match="returns only tensors that it wrote"):
        lower(f)


def test_a_vector_kernel_is_classified_and_a_declared_kind_is_checked() -> None:
    body = "x = pl.load(a, [0, 0], [16, 64])\nreturn pl.store(x, [0, 0], p)"
    assert lower(kernel(PARAMS, body)).kind is FunctionKind.AIV
    f = kernel(PARAMS, body)
    cube = Function(f.name, FunctionKind.AIC, f.params, f.returns, f.body)
    with pytest.raises(PassError, match=r"AIC kernel 'k' has 'x' of tile\.load in vec"):
        lower(cube)


def test_opaque_functions_are_not_modelled() -> None:
    (program,) = load_source(
        "import pypto.language as pl\n\n@pl.program\nclass P:\n"
        "    @pl.function(type=pl.FunctionType.Orchestration)\n"
        "    def main(self, a: pl.Tensor[[16, 16], pl.FP32]):\n        return a\n", "k.py",
    ).programs
    with pytest.raises(NotModelled, match="orchestration"):
        run(program.functions[0], target("a2a3"))


def test_an_unknown_planner_is_refused() -> None:
    f = kernel(PARAMS, "x = pl.load(a, [0, 0], [16, 64])\nreturn pl.store(x, [0, 0], p)")
    with pytest.raises(ValueError, match="GREEDY"):
        run(f, target("a2a3"), "GREEDY")


@pytest.mark.parametrize("arch", TARGETS)
def test_the_pipeline_is_deterministic(arch: str) -> None:
    body = "x = pl.load(a, [0, 0], [16, 64])\ny = pl.recip(x)\nz = pl.add(x, y)\nreturn pl.store(z, [0, 0], p)"
    assert lower(kernel(PARAMS, body), arch) == lower(kernel(PARAMS, body), arch)


def test_what_a_pass_requires_is_produced_before_it() -> None:
    holding: set[object] = set()
    for p in PASSES:
        missing = [c.__name__ for c in p.requires if c not in holding]
        assert missing == [], p.name
        holding = (holding | set(p.produces)) - set(p.breaks)


TILE = TileType((16, 16), FP32, Space.VEC)
X = Var("x", TILE)
INDEX_VAR = Var("i", ScalarType(INDEX))


def _function(*body: object) -> Function:
    return Function("k", FunctionKind.INCORE, (), (), body)  # type: ignore[arg-type]  # statements


@pytest.mark.parametrize(
    ("check", "function", "message"),
    [
        (inv.ssa, _function(Assign(INDEX_VAR, Const(0)), Assign(INDEX_VAR, Const(1))), "i defined twice"),
        (inv.ssa, _function(Return((INDEX_VAR,))), "i used outside its scope"),
        (inv.ssa, _function(For(INDEX_VAR, Const(0), Const(2), Const(1), (), (Yield((INDEX_VAR,)),), ())), "1 yielded"),
        (
            inv.ssa, _function(If(Const(True), (Assign(INDEX_VAR, Const(0)),), (), ()), Return((INDEX_VAR,))),
            "outside its scope",
        ),
        (inv.uncopied, _function(Assign(Var("y", TILE), X)), "y is another name of x"),
        (inv.spaces, _function(Return((Var("y", TileType((16, 16), FP32)),))), "y has no space"),
        (inv.views, _function(Return((X,))), "x has no complete view"),
        (
            inv.compact_in_l0, _function(Return((Var("y", replace(TILE, view=TileView(compact=Compact.NORMAL))),))),
            "y is compact in vec",
        ),
        (inv.memrefs, _function(Return((X,))), "x has no MemRef"),
        (inv.two_dims, _function(Return((Var("y", TileType((4, 4, 4), FP32)),))), r"y has shape \(4, 4, 4\)"),
        (inv.consistent, _function(Return((X,)), Return((Var("x", TileType((8, 8), FP32)),))), "x has two types"),
        (
            inv.flat_calls,
            _function(Return((make_call("tile.get_block_idx", (), {}),))), "nested tile.get_block_idx",
        ),
    ],
)
def test_structural_checks_see_broken_ir(check: inv.Check, function: Function, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        inv.check(function, (check,), "APass")


@pytest.mark.parametrize("line", ["M = pl.tensor.dim(a, 0)", "for M in pl.range(4):"])
def test_a_dynamic_size_that_is_assigned_is_told_at_its_line(line: str) -> None:
    below = "    x = pl.load(a, [0, 0], [16, 64])" if line.endswith(":") else "x = pl.load(a, [0, 0], [16, 64])"
    function = kernel('a: pl.Tensor[[pl.dynamic("M"), 64], pl.FP32]', f"{line}\n{below}")
    with pytest.raises(PassError, match="'M' is a dynamic dimension and can't be assigned") as caught:
        lower(function)
    assert caught.value.location.line and caught.value.help.startswith("give the variable another name")


def test_a_pass_with_nothing_to_do_returns_the_very_same_function() -> None:
    f = kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
for i in pl.range(n):
    if i == 2:
        y = pl.exp(x)
    else:
        y = pl.add(x, x)
    p = pl.store(y, [i * 16, 0], p)
return p
""")
    outputs: dict[str, Function] = {}
    run(f, target("a2a3"), on_pass=lambda name, _, new: outputs.update({name: new}))
    ctx = PassContext(target("a2a3"))
    # InitMemRef is left out: its output is not an input of it.
    again = [p for p in PASSES if p.name != "InitMemRef"]
    assert [p.name for p in again if p.run(outputs[p.name], ctx) is not outputs[p.name]] == []
