"""Every mistake of an author is told with file, line, column, the line itself and what to do."""

from __future__ import annotations

import pytest

from pypto_verified.errors import PtoError
from pypto_verified.language import load_source

HEAD = """\
import pypto.language as pl
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], s: pl.Scalar[pl.FP32]):
    t = pl.load(a, [0, 0], [16, 64])
"""
FIRST = HEAD.count("\n") + 1


def failure(text: str) -> PtoError:
    with pytest.raises(PtoError) as e:
        load_source(text, "kernel.py")
    return e.value


@pytest.mark.parametrize(
    ("line", "column", "message", "help"),
    [
        ("x = pl.exq(t)", 9, "pl.exq does not exist", "pl.exp"),
        ("x = pl.tile.exq(t)", 9, "pl.tile.exq does not exist", "pl.tile.exp"),
        ("x = pl.add(t, u)", 19, "name 'u' is not defined", "before this line"),
        ("x = pl.add(tt, t)", 16, "name 'tt' is not defined", "did you mean t?"),
        ("x = pl.add(t, t, t)", 22, "pl.add takes at most 2 arguments", "lhs, rhs"),
        ("x = pl.load(a, [0, 0], [16, 64], target_mem=pl.Mem.Vec)", 38, "no parameter 'target_mem'", "target_memory"),
        ("x = pl.load(a, [0, 0])", 9, "pl.load needs shapes", "tensor, offsets, shapes"),
        ("x = pl.load(a, [0, 0], [16, 64], target_memory=n)", 52, "must be known at compile time", "constant"),
        ("x = t + t", 9, "operator '+' works on scalars, got a tile", "pl.add"),
        ("x = n + s", 9, "operator '+' mixes INDEX and FP32", "pl.cast"),
        ("x = n // 0", 9, "operator '//' divides by zero", "no value"),
        ("x = n % 0", 9, "operator '%' divides by zero", "no value"),
        ("x = 1 < n < 5", 9, "chained", "and"),
        ("x = (n < 1) + 1", 9, "does not take a Boolean", "and/or"),
        ("if t:\n        pass", 8, "the condition is no Boolean", "!="),
        ("if s and n:\n        pass", 8, "needs Boolean operands", "compare first"),
        ("for i in range(4):\n        pass", 14, "a kernel loops over pl.range", "pl.range(n)"),
        ("for i in pl.range(4, 0, -1):\n        pass", 14, "the step must be positive", ""),
        ("for i in pl.range(0.5):\n        pass", 23, "a loop bound must be an integer, got FP32", ""),
        ("for i, (x,) in pl.range(4):\n        pass", 9, "carried names need init_values", "init_values"),
        ("for i, (x,) in pl.range(4, init_values=(t,)):\n        pass", 5, "carries 1 values", "pl.yield_"),
        ("with open('f'):\n        pass", 10, "opens a region of pl", "pl.at"),
        ("try:\n        pass\n    finally:\n        pass", 5, "no Try statement", "assignments"),
        ("import os", 5, "no Import statement", "assignments"),
        ("x = lambda: t", 9, "not kernel code (Lambda)", ""),
        ("n == 1", 5, "no effect", "assign"),
        ("x: pl.Tile[[16, 32], pl.FP32] = pl.exp(t)", 8, "annotated as FP32 tile [16, 32]", "annotation"),
        ("x: pl.Tile[[n, 64], pl.FP32] = pl.exp(t)", 8, "a tile's shape must be constant", ""),
        ("x: pl.Tile[[16, 64]] = pl.exp(t)", 8, "needs a shape and an element type", ""),
        ("x: Tile = pl.exp(t)", 8, "name 'Tile' is not defined", ""),
        ("x, y = pl.exp(t)", 5, "2 names for FP32 tile", ""),
        ("x = pl.tensor.dim(a, 2)", 9, "the axis must be a constant between -2 and 1", ""),
        ("x = pl.add(t, pl.exp)", 19, "pl.exp is a function", ""),
        ("x = pl.exp(t, tile=t)", 24, "pl.exp got tile twice", ""),
        ("pl.yield_(t)", 5, "only at the end of a loop or branch", ""),
    ],
)
def test_a_mistake_is_shown_where_it_is(line: str, column: int, message: str, help: str) -> None:
    e = failure(HEAD + "    " + line + "\n")
    assert message in str(e)
    assert e.help and help in e.help
    assert (e.location.file, e.location.line, e.location.column) == ("kernel.py", FIRST, column)
    assert e.source_line == "    " + line.splitlines()[0]


@pytest.mark.parametrize("expression", ["+".join(["n"] * 20_000), "(" * 150 + "n" + ")" * 150, "-" * 20_000 + "n"])
def test_an_endless_expression_is_an_error_not_a_crash(expression: str) -> None:
    assert failure(f"{HEAD}    x = {expression} + u\n").location.file == "kernel.py"


def test_a_wrong_operand_is_shown_at_the_call() -> None:
    e = failure(HEAD + "    x = pl.add(t, pl.load(a, [0, 0], [8, 64]))\n")
    assert (e.location.line, e.location.column) == (FIRST, 9)
    assert e.source_line.startswith("    x = pl.add(") and e.help


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("def f(:\n    pass\n", 2, 7, "not Python"),
        ("def f():\n    g(a=1, a=2)\n", 3, 12, "not Python: keyword argument repeated: a"),
        ("for i in x:\n    pass\nbreak\n", 4, 1, "not Python: 'break' outside loop"),
        ("x = 1 / 0\n", 2, 1, "ZeroDivisionError"),
        ("x = pl.FP33\n", 2, 1, "pl.FP33 does not exist"),
        ("@pl.function\ndef f(a):\n    pass\n", 3, 7, "parameter a has no type"),
        ("@pl.function\ndef f(a: int):\n    pass\n", 3, 10, "parameter a"),
        ("@pl.function\ndef f(a: pl.Tensor[[2, 'x'], pl.FP32]):\n    pass\n", 3, 10, "shape[1]"),
        ("@pl.function\ndef f(*a):\n    pass\n", 3, 8, "no *args"),
        ("@pl.function\ndef f(a: pl.Out[pl.Scalar[pl.FP32]]):\n    pass\n", 3, 10, "no output"),
        ("pl.exp(1)\n", 2, 1, "kernel code"),
    ],
)
def test_a_mistake_outside_a_body_is_shown_where_it_is(text: str, line: int, column: int, message: str) -> None:
    text = "import pypto.language as pl\n" + text
    e = failure(text)
    assert message in str(e)
    assert (e.location.file, e.location.line, e.location.column) == ("kernel.py", line, column)
    assert e.source_line == text.splitlines()[line - 1]
