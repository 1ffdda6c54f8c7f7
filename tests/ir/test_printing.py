"""Printed programs load again as the same program; equality sees everything but names and spans."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from pypto_verified.dtypes import FP32, INDEX
from pypto_verified.errors import LanguageError
from pypto_verified.ir.equal import difference, equal
from pypto_verified.ir.expr import Const, Var
from pypto_verified.ir.printer import print_program
from pypto_verified.ir.rewrite import map_exprs
from pypto_verified.ir.stmt import Assign, Function, FunctionKind, IterArg, Program, While, Yield
from pypto_verified.ir.types import MemRef, ScalarType, TileType, TileView
from pypto_verified.language import load_source
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space

HEAD = """\
import pypto.language as pl
M = pl.dynamic("M")
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, n: pl.Scalar[pl.INT32], a: pl.Tensor[[M, 64], pl.FP32], out: pl.Out[pl.Tensor[[M, 64], pl.FP32]]):
"""
BODIES = {
    "elementwise": ["t = pl.load(a, [0, 0], [16, 64], valid_shape=[M - 3, 64])", "u = pl.mul(pl.add(t, 2), t)",
                    "return pl.store(u, [0, 0], out)"],
    "keywords": ["t = pl.load(a, [0, 0], [16, 64], clamp=True)", "c = pl.cast(t, pl.INT32, mode='floor')",
                 "f = pl.tile.full([16, 64], pl.FP32, float('-inf'))",
                 "p = pl.tile.fillpad(f, pad_value=pl.PadValue.min)", "x = pl.cmp(t, p, cmp_type=4)"],
    "scalars": ["x = (n + 1) // 3 * pl.min(M, 7) - (-M)", "y = (x < 3 or not n == 2) and True",
                "z = pl.const(3, pl.INT16)"],
    "carried": ["z = pl.tile.full([16, 64], pl.FP32, 0.0)",
                "for i, (acc,) in pl.pipeline(0, M, 16, init_values=(z,), stage=2):",
                "    acc = pl.yield_(pl.add(acc, pl.load(a, [i, 0], [16, 64])))", "return pl.store(acc, [0, 0], out)"],
    "branches": ["if n > 2:", "    x, y = pl.yield_(n, 1)", "else:", "    x, y = pl.yield_(n, 2)", "if x < y:",
                 "    z = 1"],
    "while": ["r = 1", "while r < M:", "    r = r * 2", "    if r == 8:", "        break",
              "for (q, s) in pl.while_(init_values=(r, 2)):", "    pl.cond(q < s)", "    q, s = pl.yield_(s, q)"],
    "storage": [
        "t: pl.Tile[[8, 64], pl.FP32, pl.MemRef('r', slots=2)[n % 2], pl.Mem.Vec] = pl.load(a, [0, 0], [8, 64])",
        "u: pl.Tile[[8, 64], pl.FP32, pl.MemRef('fixed', 4096, 8192), pl.Mem.Vec] = pl.exp(t)",
    ],
    "logic": ["t = pl.cast(pl.load(a, [0, 0], [16, 64]), pl.INT16)", "u = pl.tile.and_(t, t)",
              "v = pl.not_(pl.ors(u, 3))"],
}


def program(lines: list[str]) -> Program:
    (found,) = load_source(HEAD + "".join(f"        {line}\n" for line in lines), "k.py").programs
    assert not found.functions[0].opaque, found.functions[0].opaque
    return found


def reloaded(p: Program) -> Program:
    (again,) = load_source(print_program(p), "printed.py").programs
    return again


@pytest.mark.parametrize("name", BODIES)
def test_printed_text_loads_as_the_same_program(name: str) -> None:
    p = program(BODIES[name])
    assert difference(p, reloaded(p)) is None


LEAVES = st.sampled_from(["M", "n", "M * 2"])
SCALARS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "//", "%", "<<"]), inner | st.just("3")),
        st.builds("pl.{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner),
        st.builds("(-{})".format, inner),
        st.builds("pl.cast({}, pl.INT32)".format, inner),
        st.builds("abs({})".format, inner),
    ),
    max_leaves=12,
)
CONDITIONS = st.recursive(
    st.builds("{} {} {}".format, SCALARS, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), SCALARS),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner),
        st.builds("(not {})".format, inner),
    ),
    max_leaves=4,
)


@settings(max_examples=60, deadline=None)
@given(SCALARS, CONDITIONS)
def test_any_scalar_expression_survives_printing(value: str, condition: str) -> None:
    try:
        p = program([f"x = {value}", f"if {condition}:", "    x = 1"])
    except LanguageError as refused:
        assert "divides by zero" in str(refused)  # by `M - M`, say
        reject()
    assert difference(p, reloaded(p)) is None


@pytest.mark.parametrize(("condition", "held"), [
    ("(M - M) < (M - M)", 0), ("pl.cast(M - M, pl.INDEX) < 3", 1), ("not ((M - M) < (M - M) or 3 < M - M)", 1),
    ("M - M", 0),
])
def test_a_condition_that_cancels_to_a_constant_leaves_no_branch(condition: str, held: int) -> None:
    p = program([f"if {condition}:", "    x = 1"])
    assert len(p.functions[0].body) == held
    assert all(isinstance(s, Assign) for s in p.functions[0].body)
    assert difference(p, reloaded(p)) is None


def test_types_that_passes_make_are_printed_whole() -> None:
    view = TileView((Var("M", ScalarType(INDEX)), 64), BLayout.COL, SLayout.ROW, 1024, Pad.ZERO, Compact.NORMAL)
    t = TileType((16, 64), FP32, Space.ACC, view, MemRef("acc_0", 128, 4096))
    p = program(["t = pl.load(a, [0, 0], [16, 64])"])
    (f,) = p.functions
    (assign,) = f.body
    assert isinstance(assign, Assign)
    changed = replace(p, functions=(replace(f, body=(replace(assign, var=Var("t", t)),)),))
    assert difference(changed, reloaded(changed)) is None
    assert difference(p, changed) is not None


def test_the_prelude_of_a_while_is_printed_before_its_condition() -> None:
    r, c = Var("r", ScalarType(INDEX)), Var("c", ScalarType(INDEX))
    cond = program(["x = M", "while x < 4:", "    x = x + 1"]).functions[0].body[1]
    assert isinstance(cond, While)
    test = cond.cond
    prelude = (Assign(c, r), Assign(Var("x", r.type), c))
    loop = While(test, (IterArg(r, Const(1)),), (Yield((r,)),), (Var("q", r.type),), prelude)
    p = program(["pass"])
    (f,) = p.functions
    changed = replace(p, functions=(replace(f, body=(loop,)),))
    assert difference(changed, reloaded(changed)) is None
    without = replace(changed, functions=(replace(f, body=(replace(loop, prelude=()),)),))
    assert difference(changed, without) is not None


def test_opaque_functions_are_comments() -> None:
    p = Program("P", (Function("main", FunctionKind.ORCHESTRATION, (), (), (), opaque="orchestration function"),))
    assert "# main: orchestration function" in print_program(p)


def test_equality_does_not_see_names() -> None:
    text = ["t = pl.load(a, [0, 0], [16, 64])", "u = pl.exp(t)", "return pl.store(u, [0, 0], out)"]
    renamed = ["x = pl.load(a, [0, 0], [16, 64])", "t = pl.exp(x)", "return pl.store(t, [0, 0], out)"]
    assert equal(program(text), program(renamed))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["x = n + 1"], ["x = n + 2"]),
        (["x = n + 1"], ["x = n - 1"]),
        (["x = M", "y = n", "z = x"], ["x = M", "y = pl.cast(n, pl.INDEX)", "z = y"]),
        (["x = 1", "y = 1", "z = x"], ["x = 1", "y = 1", "z = y"]),
        (["t = pl.load(a, [0, 0], [16, 64])"], ["t = pl.load(a, [0, 0], [8, 64])"]),
        (["t = pl.load(a, [0, 0], [16, 64])"], ["t = pl.load(a, [0, 0], [16, 64], clamp=True)"]),
        (["x = 1"], ["x = 1", "y = 2"]),
        (["for i in pl.range(4):", "    x = i"], ["for i in pl.parallel(4):", "    x = i"]),
        (["for i in pl.range(4):", "    x = i"], ["for i in pl.range(5):", "    x = i"]),
        (["if n > 1:", "    x = 1"], ["if n > 1:", "    pass", "else:", "    x = 1"]),
        (["x = 0.0"], ["x = -0.0"]),
    ],
)
def test_equality_sees_every_difference(left: list[str], right: list[str]) -> None:
    assert difference(program(left), program(right)) is not None
    assert difference(program(left), program(left)) is None


def test_mapping_nothing_keeps_the_nodes() -> None:
    for lines in BODIES.values():
        block = program(lines).functions[0].body
        assert map_exprs(block, lambda e: e) is block
