"""Kernels and modules that must give the same: which rewrites are made, and which would be wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from pypto_verified.compiler import MemoryPlanner, compile_function
from pypto_verified.errors import PtoError
from pypto_verified.fuzz import variants as rewrites
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.fuzz.generator import kernel as generate
from pypto_verified.fuzz.oracles import examine
from pypto_verified.fuzz.variants import moved, variants
from pypto_verified.ir.printer import expr_text, print_function
from pypto_verified.ir.stmt import For, Function, Yield
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


def test_a_loop_as_long_as_a_size_says_is_cut_after_its_first_turn_if_it_has_one() -> None:
    function = from_text(f"{PARAMETERS}, n: pl.Scalar[pl.INDEX]", LOOP.format(trips="n", leave="x = pl.neg(x)"))
    made = next(_of(function, "a loop in two"))
    first, second = (s for s in made.body if isinstance(s, For))
    shown = [(expr_text(s.start), expr_text(s.stop)) for s in (first, second)]
    assert shown == [("0", "pl.min(n, 1)"), ("1", "n")]


@pytest.mark.parametrize("text", [LOOP.format(trips=1, leave="x = pl.neg(x)"),
                                  LOOP.format(trips=4, leave="if i == 1:\n            break")])
def test_a_loop_of_one_turn_or_one_that_is_left_stays_whole(text: str) -> None:
    assert not list(_of(from_text(PARAMETERS, text), "a loop in two"))


TWO = """
    t = pl.load(b, [0, 0], [16, 32])
    u = pl.neg(t)
    for i in pl.range(0, {trips}, 1):
        t = pl.add(t, pl.load(a, [i * 16, 0], [16, 32]))
        {more}
    for j in pl.range(0, 3, 1):
        {other}
    return pl.store(pl.sub(t, u), [0, 0], out)
"""
APART = {"trips": 3, "more": "v = pl.exp(t)", "other": "u = pl.mul(u, pl.load(a, [j * 16, 0], [16, 32]))"}


def test_a_loop_whose_end_it_counts_on_itself_stays_whole() -> None:
    """Written down again, the end would be what the first part has made of it."""
    function = from_text(PARAMETERS, """
        u = 2
        x = pl.load(a, [0, 0], [16, 32])
        for i in pl.range(0, u, 1):
            u = (u + 1) % 3
        return pl.store(x, [u * 16, 0], out)
    """)
    assert not list(_of(function, "a loop in two"))


def test_two_loops_over_the_same_turns_become_one() -> None:
    function = from_text(PARAMETERS, TWO.format(**APART))
    made = next(_of(function, "two loops as one"))
    (loop,) = (s for s in made.body if isinstance(s, For))
    text = print_function(made)
    assert loop.var.name == "i"
    assert "for j" not in text and "j * 16" not in text
    assert text.index("t: pl.Tile", text.index("for i")) < text.index("u: pl.Tile", text.index("for i"))


def test_what_two_loops_carry_by_name_one_carries() -> None:
    function = from_text(PARAMETERS, """
        t = pl.load(b, [0, 0], [16, 32])
        for i, (x,) in pl.range(0, 3, 1, init_values=(t,)):
            x = pl.yield_(pl.add(x, pl.load(a, [i * 16, 0], [16, 32])))
        for j, (y,) in pl.range(0, 3, 1, init_values=(t,)):
            y = pl.yield_(pl.mul(y, pl.load(a, [j * 16, 0], [16, 32])))
        return pl.store(pl.sub(x, y), [0, 0], out)
    """)
    (loop,) = (s for s in next(_of(function, "two loops as one")).body if isinstance(s, For))
    assert len(loop.iter_args) == len(loop.results) == 2
    assert [len(s.values) for s in loop.body if isinstance(s, Yield)] == [2]
    assert examine(Kernel(function, {}, "a2a3", "PYPTO"), deep=True).finds == []


@pytest.mark.parametrize("other", [
    {"trips": 4},
    {"more": "if i == 1:\n            break"},
    {"more": "v = pl.mul(u, 2.0)"},
    {"other": "u = pl.add(u, t)"},
    {"other": "t = pl.exp(u)"},
    {"other": "pl.tile.write(u, [0, 0], 1.0)"},
], ids=["other turns", "one is left", "the first reads", "the second reads", "both assign", "in place"])
def test_loops_that_have_to_do_with_each_other_stay_two(other: dict[str, object]) -> None:
    assert not list(_of(from_text(PARAMETERS, TWO.format(**APART | other)), "two loops as one"))


def test_a_merge_that_changes_the_result_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    function = from_text(PARAMETERS, TWO.format(**APART | {"other": "u = pl.add(u, t)"}))
    k = Kernel(function, {}, "a2a3", "PYPTO")
    assert examine(k, deep=True).finds == []
    monkeypatch.setattr(rewrites, "apart", lambda a, b: True)
    monkeypatch.setattr(rewrites, "_exchanged", lambda body, draw: body)
    assert {f.oracle for f in examine(k, deep=True).finds} == {"variants: two loops as one"}


def _compiles(function: Function, k: Kernel) -> bool:
    try:
        compile_function(function, target(k.target), MemoryPlanner(k.planner))
    except PtoError:
        return False
    return True


def test_each_rewrite_applies_to_its_share_of_the_generated_kernels() -> None:
    made: Counter[str] = Counter()
    for example in range(600):
        k = generate(Seeded(29, example))
        for what, function in variants(k.function, 0):
            made[what] += 1
            if what == "two loops as one":
                assert _compiles(function, k) == _compiles(k.function, k), "what is refused would not be compared"
    assert made["independent ops exchanged"] > 0.7 * 600
    assert made["a loop in two"] > 0.12 * 600
    assert made["two loops as one"] > 0.025 * 600


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
