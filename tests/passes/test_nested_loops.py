"""Lowering and printing take polynomial time, however deep loops are nested."""

from __future__ import annotations

from pypto_verified.codegen import generate
from pypto_verified.targets import target
from tests.calls import calls

from .build import kernel, lower

PARAMS = """
a: pl.Tensor[[64, 64], pl.FP32],
out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
"""


def _compile(depth: int) -> None:
    """Loops of two trips, one in the other, with a tile that is carried over all of them."""
    heads = "".join(f"{'    ' * k}for i{k} in pl.range(0, 2):\n" for k in range(depth))
    inner = "    " * depth
    body = f"{heads}{inner}t = pl.add(t, t)\n{inner}out = pl.store(t, [0, 0], out)\n"
    function = kernel(PARAMS, f"t = pl.load(a, [0, 0], [16, 64])\n{body}return out\n")
    generate([lower(function)], target("a2a3"))


def test_twice_the_nesting_costs_at_most_four_times_as_much() -> None:
    """What visits a body twice at each level would cost 256 times as much."""
    _compile(1)
    shallow = calls(lambda: _compile(8))
    calls(lambda: _compile(16), limit=4 * shallow)
