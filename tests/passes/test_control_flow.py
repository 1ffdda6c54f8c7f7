"""Unrolling, break and continue, SSA: what stays of the source's control flow."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import INDEX
from pypto_verified.errors import PassError
from pypto_verified.ir.expr import Call
from pypto_verified.ir.stmt import Assign, For, Function, If, While
from pypto_verified.ir.types import ScalarType
from pypto_verified.ir.walk import walk_stmts
from pypto_verified.passes import invariants as inv
from pypto_verified.passes.pipeline import run
from pypto_verified.targets import target

from .build import after, kernel, lower, ops
from .machine import meaning, placed

PARAMS = """
a: pl.Tensor[[256, 64], pl.FP32],
n: pl.Scalar[pl.INDEX],
out: pl.Out[pl.Tensor[[256, 64], pl.FP32]]
"""


def _same_meaning(body: str) -> None:
    f = kernel(PARAMS, body)
    lowered = lower(f)
    for n in range(5):
        assert placed(lowered, {"n": n}) == meaning(f, {"n": n}), n


def test_unroll_copies_the_body_with_the_constant_of_each_trip() -> None:
    f = kernel(PARAMS, """
        for i in pl.unroll(0, 6, 2):
            x = pl.load(a, [i * 16, 0], [16, 64])
            out = pl.store(x, [i * 16, 0], out)
        return out
    """)
    unrolled = after(f, "UnrollLoops")
    assert ops(unrolled) == ["load", "store"] * 3
    assert [offsets for _, offsets, _ in meaning(unrolled, {})] == [(0, 0), (32, 0), (64, 0)]


def test_unroll_needs_constant_bounds() -> None:
    f = kernel(PARAMS, """
        for i in pl.unroll(n):
            x = pl.load(a, [i * 16, 0], [16, 64])
            out = pl.store(x, [i * 16, 0], out)
        return out
    """)
    with pytest.raises(PassError, match="a bound that is not constant") as error:
        lower(f)
    assert error.value.location.line == 12


def test_continue_becomes_an_else_branch() -> None:
    body = """
        for i in pl.range(4):
            if i == n:
                continue
            x = pl.load(a, [i * 16, 0], [16, 64])
            out = pl.store(x, [i * 16, 0], out)
        return out
    """
    _same_meaning(body)
    loop = next(s for s in walk_stmts(after(kernel(PARAMS, body), "CtrlFlowTransform").body) if isinstance(s, For))
    (branch,) = loop.body
    assert isinstance(branch, If) and branch.then == () and len(branch.orelse) == 2


def test_break_becomes_a_while_with_a_flag() -> None:
    body = """
        acc = pl.load(a, [0, 0], [16, 64])
        for i in pl.range(4):
            if i == n:
                break
            x = pl.load(a, [i * 16, 0], [16, 64])
            acc = pl.add(acc, x)
        return pl.store(acc, [0, 0], out)
    """
    _same_meaning(body)
    structured = after(kernel(PARAMS, body), "CtrlFlowTransform")
    assert [type(s) for s in walk_stmts(structured.body) if isinstance(s, For | While)] == [While]


def test_the_stop_of_a_loop_with_break_is_read_once() -> None:
    _same_meaning("""
        stop = n + 2
        x = pl.load(a, [0, 0], [16, 64])
        for i in pl.range(stop):
            if i == 3:
                break
            stop = 0
            x = pl.add(x, x)
        return pl.store(x, [0, 0], out)
    """)


def test_the_stop_of_a_loop_with_break_has_a_name_of_its_own() -> None:
    f = after(kernel(PARAMS, """
        x = pl.load(a, [0, 0], [16, 64])
        i_stop = n + 1
        for i in pl.range(n * 2):
            if i == 3:
                break
            x = pl.add(x, x)
        return pl.store(x, [i_stop, 0], out)
    """), "CtrlFlowTransform")
    scalars = [s.var for s in f.body if isinstance(s, Assign) and isinstance(s.var.type, ScalarType)]
    assert [(v.name, v.type) for v in scalars if "stop" in v.name] == [
        ("i_stop", ScalarType(INDEX)), ("i_stop__1", ScalarType(INDEX))]


def test_ssa_keeps_the_first_name_and_numbers_the_others() -> None:
    f = after(kernel(PARAMS, """
        x = pl.load(a, [0, 0], [16, 64])
        x = pl.exp(x)
        x = pl.add(x, x)
        return pl.store(x, [0, 0], out)
    """), "ConvertToSSA")
    assert [s.var.name for s in f.body[:3]] == ["x", "x__1", "x__2"]  # type: ignore[union-attr]  # assignments


def test_a_loop_carries_only_what_is_read_later() -> None:
    f = after(kernel(PARAMS, """
        acc = pl.load(a, [0, 0], [16, 64])
        for i in pl.range(n):
            x = pl.load(a, [i * 16, 0], [16, 64])
            acc = pl.add(acc, x)
        return pl.store(acc, [0, 0], out)
    """), "ConvertToSSA")
    (loop,) = [s for s in f.body if isinstance(s, For)]
    assert len(loop.iter_args) == len(loop.results) == 1
    assert loop.iter_args[0].init.name == "acc"  # type: ignore[union-attr]  # a variable


def test_temporaries_of_different_shape_may_share_a_name() -> None:
    _same_meaning("""
        for i in pl.range(n):
            if i == 1:
                t = pl.load(a, [0, 0], [16, 64])
            else:
                t = pl.load(a, [16, 0], [16, 64])
            out = pl.store(t, [0, 0], out)
        t = pl.load(a, [0, 0], [32, 64])
        return pl.store(t, [32, 0], out)
    """)


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("x = pl.load(a, [0, 0], [16, 64])\nfor i in pl.range(n):\n    x = pl.load(a, [0, 0], [32, 64])\n"
         "return pl.store(x, [0, 0], out)", 13, r"shape \[16, 64\] against \[32, 64\]"),
        ("for i in pl.range(n):\n    x = pl.load(a, [0, 0], [16, 64])\nreturn pl.store(x, [0, 0], out)", 12,
         "'x' is assigned only in the loop"),
        ("if n > 0:\n    x = pl.load(a, [0, 0], [16, 64])\nout = pl.store(x, [0, 0], out)\nreturn out", 12,
         "'x' is assigned in one block of the branch only"),
        ("if n > 0:\n    x = pl.load(a, [0, 0], [16, 64])\nelse:\n    x = pl.load(a, [0, 0], [32, 64])\n"
         "return pl.store(x, [0, 0], out)", 12, "'x.*' has one type in one block and another in the other: "),
    ],
)
def test_values_that_meet_must_agree(body: str, line: int, message: str) -> None:
    f = kernel(PARAMS, body)
    with pytest.raises(PassError, match=message) as error:
        lower(f)
    assert error.value.location.line == line


def test_no_call_is_left_inside_another_expression() -> None:
    f = after(kernel(PARAMS, """
        x = pl.exp(pl.add(pl.load(a, [0, 0], [16, 64]), 1.0))
        return pl.store(pl.exp(x), [0, 0], out)
    """), "FlattenCallExpr")
    assert ops(f) == ["load", "adds", "exp", "exp", "store"]


def test_a_call_in_a_while_condition_runs_before_each_test() -> None:
    f = after(kernel(PARAMS, """
        i = n
        while i < pl.tile.get_block_num():
            x = pl.load(a, [i, 0], [16, 64])
            out = pl.store(x, [i, 0], out)
            i = i + 1
        return out
    """), "FlattenCallExpr")
    (loop,) = [s for s in f.body if isinstance(s, While)]
    assert ops(type(f)("p", f.kind, (), (), loop.prelude)) == ["get_block_num"]


@pytest.mark.parametrize(("body", "hoisted"), [
    ("for i in pl.range(pl.tile.get_block_idx(), pl.tile.get_block_num(), 2):\n    out = pl.store(x, [i, 0], out)",
     ["get_block_idx", "get_block_num"]),
    ("for i, (y,) in pl.range(n, init_values=(pl.exp(x),)):\n    z = pl.add(y, y)\n    y = pl.yield_(z)\n"
     "out = pl.store(y, [0, 0], out)", ["exp"]),
    ("if pl.tile.get_block_idx() > 1:\n    out = pl.store(x, [0, 0], out)", ["get_block_idx"]),
    ("k = 2 * (n + pl.tile.get_block_idx())\nout = pl.store(x, [k, 0], out)", ["get_block_idx"]),
    ("out = pl.store(x, [pl.tile.get_block_idx(), 0], out)", ["get_block_idx"]),
    ("out = pl.store(x, [-pl.tile.get_block_idx() + 8, 0], out)", ["get_block_idx"]),
    ("out = pl.store(pl.exp(pl.add(x, x)), [pl.tile.get_block_idx(), 0], out)", ["add", "exp", "get_block_idx"]),
])
def test_calls_inside_statements_run_before_them_from_left_to_right(body: str, hoisted: list[str]) -> None:
    f = after(kernel(PARAMS, f"x = pl.load(a, [0, 0], [16, 64])\n{body}\nreturn out"), "FlattenCallExpr")
    assert not list(inv.flat_calls(f))
    loaded = next(n for n, s in enumerate(f.body) if isinstance(s, Assign) and s.var.name == "x")
    before = [s.value.op.removeprefix("tile.") for s in f.body[loaded + 1 :][: len(hoisted)]
              if isinstance(s, Assign) and isinstance(s.value, Call)]
    assert before == hoisted


def test_a_statement_without_calls_inside_is_the_very_same() -> None:
    f = kernel(PARAMS, "x = pl.load(a, [n * 2, 0], [16, 64])\nfor i in pl.range(n):\n"
                       "    out = pl.store(x, [i, 0], out)\n"
                       "return pl.store(pl.exp(x), [0, 0], out)")
    seen: dict[str, tuple[Function, Function]] = {}
    run(f, target("a2a3"), "PYPTO", lambda name, old, new: seen.update({name: (old, new)}))
    old, new = seen["FlattenCallExpr"]
    assert new.body[0] is old.body[0] and new.body[1] is old.body[1]
