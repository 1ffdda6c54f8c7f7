"""Kernels for pass tests: from PyPTO text, and lowering in one call."""

from __future__ import annotations

from textwrap import dedent, indent

from pypto_verified.ir.expr import Call
from pypto_verified.ir.stmt import Assign, Function
from pypto_verified.ir.types import TileType
from pypto_verified.ir.walk import calls, walk_stmts
from pypto_verified.language import load_source
from pypto_verified.passes import pipeline
from pypto_verified.targets import target

TARGETS = ("a2a3", "a5")


def kernel(params: str, body: str, prelude: str = "") -> Function:
    """The InCore function `k` with these parameters (one a line) and this body; `prelude` stands before the class."""
    text = (
        f"import pypto.language as pl\n{prelude}\n@pl.program\nclass P:\n"
        "    @pl.function(type=pl.FunctionType.InCore)\n"
        "    def k(\n        self,\n" + indent(dedent(params).strip(), " " * 8) + ",\n    ):\n"
        + indent(dedent(body).strip(), " " * 8) + "\n"
    )
    (program,) = load_source(text, "k.py").programs
    (function,) = program.functions
    assert not function.opaque, function.opaque
    return function


def lower(function: Function, arch: str = "a2a3", planner: str = "PYPTO") -> Function:
    """The whole pipeline, every property checked after every pass."""
    return pipeline.run(function, target(arch), planner, checked=True)


def after(function: Function, name: str, arch: str = "a2a3", planner: str = "PYPTO") -> Function:
    """The function right after the pass of that name."""
    seen: dict[str, Function] = {}
    try:
        pipeline.run(function, target(arch), planner, lambda p, _, new: seen.update({p: new}), checked=True)
    except Exception:
        if name not in seen:
            raise
    return seen[name]


def ops(function: Function) -> list[str]:
    """Op names in source order, without `tile.`."""
    return [c.op.removeprefix("tile.") for c in calls(function.body)]


def tile(function: Function, name: str) -> TileType:
    """The type of a tile variable."""
    for s in walk_stmts(function.body):
        if isinstance(s, Assign) and s.var.name == name and isinstance(s.var.type, TileType):
            return s.var.type
    raise AssertionError(f"no tile {name}")


def call_of(function: Function, name: str) -> Call:
    """The call that defines a variable."""
    for s in walk_stmts(function.body):
        if isinstance(s, Assign) and s.var.name == name and isinstance(s.value, Call):
            return s.value
    raise AssertionError(f"no call defines {name}")
