"""What the oracles say about kernels that are right, and about ones that are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pypto_verified.differential import Simulated
from pypto_verified.fuzz import deeper, oracles
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.fuzz.generator import kernel
from pypto_verified.fuzz.oracles import compared, examine, inputs
from pypto_verified.fuzz.shrink import shrunk, size
from pypto_verified.ir.expr import Call
from pypto_verified.ir.stmt import Assign, Function
from pypto_verified.passes import pipeline
from pypto_verified.passes.context import PassContext
from pypto_verified.simulator.errors import UninitialisedError
from tests.interpreter.kernels import tensor
from tests.passes.build import kernel as from_text


def _kernel(function: Function, **ranges: tuple[int, ...]) -> Kernel:
    return Kernel(function, ranges, "a2a3", "PYPTO")


PAIR = ",\n".join([tensor("a", (16, 32)), tensor("b", (16, 32)), tensor("out", (16, 32), out=True)])
DIFFERENCE = _kernel(from_text(PAIR, """
    x = pl.load(a, [0, 0], [16, 32])
    y = pl.load(b, [0, 0], [16, 32])
    z = pl.exp(x)
    w = pl.sub(pl.mul(x, 2.0), y)
    return pl.store(pl.abs(w), [0, 0], out)
"""))


def test_most_kernels_have_a_result_and_agree() -> None:
    verdicts = [examine(kernel(Seeded(23, example)), example, deep=example % 10 == 0) for example in range(120)]
    assert [f for v in verdicts for f in v.finds] == []
    agreed, undefined = sum(v.agreed for v in verdicts), sum(v.undefined for v in verdicts)
    assert agreed > 12 * undefined
    assert sum(v.bitwise for v in verdicts) > 0.8 * agreed
    assert sum(bool(v.left_out) for v in verdicts) < 0.15 * len(verdicts)


def test_inputs_stay_within_the_ranges_and_do_not_depend_on_other_parameters() -> None:
    text = PAIR.replace("out:", "n: pl.Scalar[pl.INDEX],\nout:")
    body = "return pl.store(pl.load(a, [0, 0], [16, 32]), [0, 0], out)"
    k = _kernel(from_text(text, body), n=(3, 5))
    trials = list(inputs(k, 0, 20))
    assert {t.values["n"] for t in trials} == {3, 5}
    smaller = _kernel(from_text(text.replace(tensor("b", (16, 32)) + ",\n", ""), body), n=(3, 5))
    for mine, theirs in zip(trials, inputs(smaller, 0, 20), strict=True):
        assert (mine.values["a"] == theirs.values["a"]).all()  # type: ignore[union-attr]  # arrays
        assert mine.values["n"] == theirs.values["n"]


def test_a_wrong_result_is_a_find_with_both_results() -> None:
    with switched_on("sub-is-add"):
        (find,) = examine(DIFFERENCE).finds
    assert (find.oracle, find.cause) == ("meaning", "another result")
    assert set(find.expected) == {"a", "b", "out"}
    assert (find.expected["out"] != find.actual["out"]).any()
    assert "out[" in find.detail and "elements differ" in find.detail


def test_of_a_remainder_of_an_open_result_only_the_faults_count() -> None:
    function = from_text(PAIR, """
        x = pl.load(a, [0, 0], [16, 32])
        t: pl.Tile[[16, 32], pl.FP32] = pl.tile.create([16, 32], dtype=pl.FP32)
        return pl.store(pl.tile.rem(pl.exp(x), pl.load(b, [0, 0], [16, 32]), t), [0, 0], out)
    """)
    trial = next(inputs(_kernel(function), 0, 1))
    ones, twos = {"out": np.ones((16, 32), np.float32)}, {"out": np.full((16, 32), 2, np.float32)}
    assert compared(function, Simulated(twos, []), trial, ones, {"tile.exp"}, "meaning") is None
    assert compared(function, Simulated(twos, []), trial, ones, set(), "meaning") is not None
    fault = Simulated(ones, [UninitialisedError("bytes that nothing wrote")])
    assert compared(function, fault, trial, ones, {"tile.exp"}, "meaning") is not None


def test_a_tile_that_is_spoilt_by_its_place_is_a_find_of_the_machine_alone() -> None:
    k = _kernel(from_text(PAIR, """
        x = pl.load(a, [0, 0], [16, 32])
        y = pl.assemble(x, pl.load(b, [0, 0], [4, 32]), [0, 0])
        return pl.store(pl.add(x, y), [0, 0], out)
    """))
    with switched_on("no-copy-before-write"):
        (find,) = examine(k).finds
        assert find.trial is not None
        where = deeper.blamed(k, find.trial, find.expected)
    assert (find.oracle, where) == ("meaning", "all passes agree: the fault is in places, in code generation or in a "
                                               "meaning")


def test_a_wrong_pass_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def negated(function: Function, ctx: PassContext) -> Function:
        body = tuple(
            replace(s, value=replace(s.value, op="tile.neg"))
            if isinstance(s, Assign) and isinstance(s.value, Call) and s.value.op == "tile.abs" else s
            for s in function.body)
        return replace(function, body=body)

    wrong = tuple(replace(p, run=negated) if p.name == "LegalizeTileCast" else p for p in pipeline.PASSES)
    monkeypatch.setattr(pipeline, "PASSES", wrong)
    (find,) = examine(DIFFERENCE).finds
    assert find.trial is not None
    assert deeper.blamed(DIFFERENCE, find.trial, find.expected) == "wrong after LegalizeTileCast"


def test_an_exception_of_the_product_is_a_find_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(oracles, "compile_function", broken)
    (find,) = examine(DIFFERENCE).finds
    assert find.oracle == "crash"
    assert find.cause.startswith("KeyError in ")
    assert "Traceback" in find.detail


def test_a_refuted_rule_is_a_find(monkeypatch: pytest.MonkeyPatch) -> None:
    with switched_on("in-place-always"):
        k = _kernel(from_text(PAIR, """
            x = pl.load(a, [0, 0], [16, 32])
            return pl.store(pl.recip(x), [0, 0], out)
        """))
        finds = examine(k, deep=True).finds
    assert any(f.oracle == "rules" or f.oracle == "meaning" for f in finds)


def test_what_a_caller_promises_are_the_ranges() -> None:
    assert deeper.assumptions(replace(DIFFERENCE, ranges={"n": (0, 4, 2)})) == ("n >= 0", "n <= 4")


def test_shrinking_keeps_what_the_find_needs_and_nothing_else() -> None:
    with switched_on("sub-is-add"):
        small = shrunk(DIFFERENCE, lambda k: bool(examine(k).finds))
    assert size(small.function) <= 4  # one load or two, the subtraction, the store
    assert [p.var.name for p in small.function.params][-1] == "out"


def test_a_kernel_that_can_not_shrink_stays_itself() -> None:
    assert shrunk(DIFFERENCE, lambda k: False) == DIFFERENCE
