"""Passes take time in proportion to a kernel's length."""

from __future__ import annotations

from pypto_verified.ir.stmt import Function
from pypto_verified.passes.context import Names, PassContext
from pypto_verified.passes.memory_reuse import memory_reuse
from pypto_verified.targets import target
from tests.calls import calls

from .build import after, kernel

PARAMS = """
a: pl.Tensor[[64, 64], pl.FP32],
out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
"""


def _placed(length: int) -> Function:
    """A chain of additions, each result with a buffer of its own."""
    adds = "".join(f"v{k} = pl.add(v{k - 1}, v{k - 1})\n" for k in range(1, length))
    text = f"v0 = pl.load(a, [0, 0], [16, 64])\n{adds}return pl.store(v{length - 1}, [0, 0], out)\n"
    return after(kernel(PARAMS, text), "MaterializeSemanticAliases")


def test_reuse_of_twice_as_many_buffers_costs_at_most_two_and_a_half_times_as_much() -> None:
    context = PassContext(target("a2a3"))
    short, long = _placed(150), _placed(300)
    calls(lambda: memory_reuse(long, context), limit=2.5 * calls(lambda: memory_reuse(short, context)))


def test_names_are_the_first_free_ones_in_both_series() -> None:
    names = Names({"t", "t__2", "m_1"})
    assert [names.fresh("t") for _ in range(3)] == ["t__1", "t__3", "t__4"]
    assert [names.numbered("m") for _ in range(3)] == ["m_0", "m_2", "m_3"]
    assert [names.numbered("t_") for _ in range(2)] == ["t__0", "t__5"]
