"""What a find loses on its way to the smallest kernel."""

from __future__ import annotations

import pytest

from pypto_verified.compiler import compile_function
from pypto_verified.errors import PtoError
from pypto_verified.fuzz import work
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.oracles import Find, Verdict
from pypto_verified.fuzz.records import Found
from pypto_verified.fuzz.shrink import shrunk, size
from pypto_verified.ir.stmt import Function
from pypto_verified.ir.walk import calls
from pypto_verified.targets import target
from tests.interpreter.kernels import tensor
from tests.passes.build import kernel

PARAMS = ",\n".join((*(tensor(n, (16, 16), "FP16") for n in "ab"), tensor("out", (16, 16), "FP32", out=True)))


def compiles(function: Function) -> bool:
    try:
        compile_function(function, target("a2a3"))
    except PtoError:
        return False
    return True


def test_a_find_on_two_products_needs_no_moves_and_no_second_operand() -> None:
    """Two loads, two moves, two products and a store: the compiler moves what a product takes, and one tile of 16 x 16
    may stand for the other if only that there are two products matters."""
    function = kernel(PARAMS, """
        x = pl.load(a, [0, 0], [16, 16], target_memory=pl.Mem.Mat)
        y = pl.load(b, [0, 0], [16, 16], target_memory=pl.Mem.Mat)
        left = pl.move(x, target_memory=pl.Mem.Left)
        right = pl.move(y, target_memory=pl.Mem.Right)
        c = pl.matmul(left, right)
        d = pl.matmul_acc(c, left, right)
        out = pl.store(d, [0, 0], out)
        return out
    """)

    def holds(candidate: Kernel) -> bool:
        found = [c.op for c in calls(candidate.function.body)]
        return {"tile.matmul", "tile.matmul_acc"} <= set(found) and compiles(candidate.function)

    whole = Kernel(function, {}, "a2a3", "PYPTO")
    assert holds(whole) and size(function) == 7
    small = shrunk(whole, holds)
    assert [c.op for c in calls(small.function.body)] == ["tile.load", "tile.matmul", "tile.matmul_acc", "tile.store"]


def test_what_a_further_run_shows_does_not_keep_a_find_from_getting_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first two runs are without another find, which hides all that comes after it."""
    function = kernel(PARAMS.replace("FP16", "FP32"), """
        x = pl.load(a, [0, 0], [16, 16])
        y = pl.exp(x)
        z = pl.add(x, y)
        out = pl.store(x, [0, 0], out)
        return out
    """)
    find, other = Find("variants: a loop in two", "another result", ""), Find("meaning", "another result", "")
    monkeypatch.setattr(
        work, "examined", lambda kernel, example, runs, deep, timeout: Verdict([find if runs <= 2 else other]))
    small = work.shrink(Found(find, Kernel(function, {}, "a2a3", "PYPTO"), 0, 0, size(function)))
    assert (small.find, small.statements) == (find, 2), "a load and a store"
