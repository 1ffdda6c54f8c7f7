"""Kernels and modules that must give the same: which rewrites are made, and which would be wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pypto_verified.compiler import MemoryPlanner, compile_function
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.fuzz.oracles import examine
from pypto_verified.fuzz.variants import moved, variants
from pypto_verified.ir.printer import print_function
from pypto_verified.ir.stmt import For, Function
from pypto_verified.pto.module import Module
from pypto_verified.pto.walk import walk_ops
from pypto_verified.targets import target
from tests.interpreter.kernels import tensor
from tests.passes.build import kernel as from_text

PARAMETERS = ",\n".join([tensor("a", (64, 32)), tensor("b", (16, 32)), tensor("out", (64, 32), out=True)])
LOOP = """
    t = pl.load(b, [0, 0], [16, 32])
    for i in pl.range(0, {trips}, 1):
        x = pl.load(a, [i * 16, 0], [16, 32])
        {leave}
        out = pl.store(pl.add(x, t), [i * 16, 0], out)
    return out
"""


def _of(function: Function, what: str) -> Iterator[Function]:
    for seed in range(20):
        yield from (f for name, f in variants(function, seed) if name == what)


def test_only_ops_that_do_not_name_each_other_are_exchanged() -> None:
    function = from_text(PARAMETERS, """
        x = pl.load(a, [0, 0], [16, 32])
        y = pl.load(b, [0, 0], [16, 32])
        z = pl.add(x, y)
        x = pl.mul(y, 2.0)
        return pl.store(pl.sub(z, x), [0, 0], out)
    """)
    made = {print_function(f) for f in _of(function, "independent ops exchanged")}
    assert len(made) == 1, "only the two loads commute: the third reads x, the fourth assigns it again"
    (text,) = made
    assert text.index("y: ") < text.index("x: ") < text.index("z: ")


@pytest.mark.parametrize(("trips", "first"), [(2, 1), (3, 1), (4, 2)])
def test_a_loop_is_cut_in_two(trips: int, first: int) -> None:
    function = from_text(PARAMETERS, LOOP.format(trips=trips, leave="x = pl.neg(x)"))
    made = next(_of(function, "a loop in two"))
    bounds = [(s.start, s.stop) for s in made.body if isinstance(s, For)]
    assert [tuple(getattr(e, "value", None) for e in pair) for pair in bounds] == [(0, first), (first, trips)]


@pytest.mark.parametrize("text", [LOOP.format(trips=1, leave="x = pl.neg(x)"),
                                  LOOP.format(trips=4, leave="if i == 1:\n            break")])
def test_a_loop_of_one_turn_or_one_that_is_left_stays_whole(text: str) -> None:
    assert not list(_of(from_text(PARAMETERS, text), "a loop in two"))


def _addresses(module: Module) -> list[int]:
    values = {id(op.result): op.attrs["value"] for op in walk_ops(module.funcs[0]) if op.name == "arith.constant"}
    found = [values[id(op.arg("addr"))] for op in walk_ops(module.funcs[0]) if op.name == "pto.alloc_tile"]
    return [v for v in found if isinstance(v, int)]


def test_every_tile_moves_by_one_step_or_none_does() -> None:
    function = from_text(PARAMETERS, LOOP.format(trips=4, leave="x = pl.neg(x)"))
    chip = target("a2a3")
    artifact = compile_function(function, chip, MemoryPlanner.PYPTO)
    before = _addresses(artifact.module)
    assert moved(artifact, chip)
    (step,) = {b - a for a, b in zip(before, _addresses(artifact.module), strict=True)}
    assert step > 0 and step % 32 == 0


def test_a_cut_that_changes_the_result_is_found() -> None:
    k = Kernel(from_text(PARAMETERS, """
        t = pl.load(b, [0, 0], [16, 32])
        for i in pl.range(0, 3, 1):
            t = pl.add(t, 1.0)
        return pl.store(t, [0, 0], out)
    """), {}, "a2a3", "PYPTO")
    assert examine(k, deep=True).finds == []
    with switched_on("loop-from-zero"):  # the second half starts anew, the loop itself does start at 0
        assert {f.oracle for f in examine(k, deep=True).finds} == {"variants: a loop in two"}
