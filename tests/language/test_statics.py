"""Names of lists: the value at a use is the one that the kernel has there, or the kernel is not modelled."""

from __future__ import annotations

import pytest

from pypto_verified.ir.expr import Call
from pypto_verified.ir.printer import expr_text
from pypto_verified.ir.stmt import Assign, For, Function, If, Stmt
from pypto_verified.language import load_source

HEAD = """\
import pypto.language as pl
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INDEX]):
"""
STORE = "out = pl.store(x, off, out)"
LOAD = "x = pl.load(a, [0, 0], [16, 64])"


def kernel(*lines: str) -> Function:
    (program,) = load_source(HEAD + "".join(f"    {line}\n" for line in lines), "k.py").programs
    return program.functions[0]


def offsets(body: tuple[Stmt, ...]) -> list[str]:
    """The offsets of every load and store, in text order."""
    found: list[str] = []
    for s in body:
        if isinstance(s, Assign) and isinstance(s.value, Call) and s.value.op in ("tile.load", "tile.store"):
            found.append(expr_text(s.value.args[1]))
        elif isinstance(s, For):
            found += offsets(s.body)
        elif isinstance(s, If):
            found += [*offsets(s.then), *offsets(s.orelse)]
    return found


@pytest.mark.parametrize(("lines", "why"), [
    ((LOAD, "off = [0, 0]", "if n > 3:", "    off = [16, 0]", STORE),
     "off, which is not the same on each path to here"),
    ((LOAD, "if n > 3:", "    off = [16, 0]", "else:", "    off = [0, 0]", STORE),
     "off, which is not the same on each path to here"),
    ((LOAD, "off = [0, 0]", "for i in pl.range(2):", f"    {STORE}", "    off = [32, 0]"),
     "off, which is assigned again in this loop"),
    ((LOAD, "off = [0, 0]", "for i in pl.range(n):", "    off = [32, 0]", STORE),
     "off, which is not the same on each path to here"),
    ((LOAD, "r = 0", "off = [r * 16, 0]", "r = r + 1", STORE), "off, which mentions r, which is assigned again"),
    ((LOAD, "r = 0", "off = [r, 0]", "while r < n:", f"    {STORE}", "    r = r + 16"),
     "off, which mentions r, which is assigned again"),
    ((LOAD, "off = [0, 0]", "if n > 3:", "    off = 4", STORE), "off, which is not the same on each path to here"),
])
def test_a_list_that_may_be_another_one_is_not_taken_for_the_last(lines: tuple[str, ...], why: str) -> None:
    assert why in kernel(*lines).opaque


@pytest.mark.parametrize(("lines", "wanted"), [
    (("off = [0, 0]", LOAD, STORE, "off = [16, 0]", STORE), ["[0, 0]", "[0, 0]", "[16, 0]"]),
    (("if n > 3:", "    off = [16, 0]", f"    {LOAD}", f"    {STORE}", "else:", "    off = [32, 0]", f"    {LOAD}",
      f"    {STORE}"), ["[0, 0]", "[16, 0]", "[0, 0]", "[32, 0]"]),
    ((LOAD, "off = [0, 0]", "if n > 3:", "    off = [16, 0]", "    return out", STORE), ["[0, 0]", "[0, 0]"]),
    ((LOAD, "off = [0, 0]", "for i in pl.range(2):", "    off = [0, 0]", f"    {STORE}", STORE),
     ["[0, 0]", "[0, 0]", "[0, 0]"]),
    (("for i in pl.range(0, 32, 16):", "    off = [i, 0]", f"    {LOAD}", f"    {STORE}",
      "for i in pl.range(32, 64, 16):", "    off = [i, 0]", f"    {LOAD}", f"    {STORE}"),
     ["[0, 0]", "[i, 0]", "[0, 0]", "[i, 0]"]),
    ((LOAD, "r = 16", "off = [r, 0]", "for i in pl.range(2):", f"    {STORE}", "r = 3"), ["[0, 0]", "[r, 0]"]),
])
def test_a_list_is_the_one_of_its_place(lines: tuple[str, ...], wanted: list[str]) -> None:
    function = kernel(*lines)
    assert not function.opaque
    assert offsets(function.body) == wanted
