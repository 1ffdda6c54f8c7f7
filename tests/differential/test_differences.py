"""What a comparison says when something is wrong, and what it does not compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pypto_verified.differential import SIMULATOR, compare, compare_passes
from pypto_verified.equality import TOLERANCE, coarsest, equal_elements
from pypto_verified.errors import NotModelled
from pypto_verified.ir.expr import Call, Var
from pypto_verified.ir.stmt import Assign, Function, Stmt
from pypto_verified.passes import pipeline
from pypto_verified.passes.context import PassContext
from pypto_verified.targets import target
from tests.interpreter.kernels import tensor
from tests.passes.build import kernel

PAIR = ",\n".join([tensor("a", (16, 64)), tensor("b", (16, 64)), tensor("out", (16, 64), out=True)])
SUBTRACT = """
    x = pl.load(a, [0, 0], [16, 64])
    y = pl.load(b, [0, 0], [16, 64])
    z = pl.sub(x, y)
    w = pl.mul(z, 2.0)
    return pl.store(w, [0, 0], out)
"""


def _broken(name: str, change: Callable[[Stmt], Stmt]) -> tuple[pipeline.Pass, ...]:
    """The pipeline with one pass that changes each top-level statement as well."""

    def wrong(right: pipeline.PassFn) -> pipeline.PassFn:
        def run(function: Function, ctx: PassContext) -> Function:
            after = right(function, ctx)
            return replace(after, body=tuple(map(change, after.body)))

        return run

    return tuple(replace(p, run=wrong(p.run)) if p.name == name else p for p in pipeline.PASSES)


def _swapped(s: Stmt) -> Stmt:
    """A subtraction the wrong way round."""
    if isinstance(s, Assign) and isinstance(s.value, Call) and s.value.op == "tile.sub":
        return replace(s, value=replace(s.value, args=s.value.args[::-1]))
    return s


@pytest.mark.parametrize("name", ["Simplify", "ResolveTileViews", "MemoryReuse"])
def test_the_first_pass_that_changes_the_result_is_named_with_its_op(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "PASSES", _broken(name, _swapped))
    found = compare(kernel(PAIR, SUBTRACT), target("a2a3")).difference
    assert found is not None
    assert (found.stage, found.op, found.where.file, found.where.line) == (name, "tile.sub", "k.py", 14)
    assert (found.output, float(found.expected)) == ("out", -float(found.found))
    assert "small arrays" in str(found)


def test_a_pass_that_loses_a_definition_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgets(s: Stmt) -> Stmt:
        if isinstance(s, Assign) and s.var.name == "z" and isinstance(s.value, Call):
            return replace(s, value=replace(s.value, args=(s.value.args[0], Var("nobody", s.var.type))))
        return s

    monkeypatch.setattr(pipeline, "PASSES", _broken("AllocateMemoryAddr", forgets))
    found = compare_passes(kernel(PAIR, SUBTRACT), target("a2a3")).difference
    assert found is not None
    assert (found.stage, found.where.line) == ("AllocateMemoryAddr", 14)
    assert "nobody is used before it has a value" in found.found


def test_runs_without_a_defined_result_are_counted_with_their_reason() -> None:
    found = compare(kernel(tensor("out", (16, 64), out=True), """
        t: pl.Tile[[16, 64], pl.FP32] = pl.tile.create([16, 64], dtype=pl.FP32)
        return pl.store(t, [0, 0], out)
    """), target("a2a3"), attempts=3)
    assert (found.agreed, len(found.undefined)) == (0, 3)
    assert "stores an element that has no defined value" in found.undefined[0]


def test_a_constant_output_tells_nothing() -> None:
    found = compare(kernel(tensor("out", (16, 64), out=True), """
        return pl.store(pl.tile.full([16, 64], dtype=pl.FP32, value=3.0), [0, 0], out)
    """), target("a2a3"))
    assert found.agreed > 0
    assert found.telling == 0


def test_what_a_meaning_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from pypto_verified.interpreter.meaning import MEANINGS
    from pypto_verified.simulator import registry

    function = kernel(PAIR, SUBTRACT)
    with monkeypatch.context() as patch:
        patch.delitem(MEANINGS, "tile.sub")
        with pytest.raises(NotModelled, match=r"tile\.sub in the interpreter") as error:
            compare(function, target("a5"))
        assert (error.value.location.file, error.value.location.line) == ("k.py", 14)
    monkeypatch.delitem(registry.MEANINGS, "pto.tsub")
    with pytest.raises(NotModelled, match=r"pto\.tsub in the simulator"):
        compare(function, target("a5"))


def test_equality_is_bitwise_but_for_nan() -> None:
    a = np.array([0.0, 1.0, np.nan, np.inf], np.float32)
    b = np.array([-0.0, np.nextafter(np.float32(1), np.float32(2)), -np.nan, np.inf], np.float32)
    assert equal_elements(a, b, tolerant=False).tolist() == [False, False, True, True]
    assert equal_elements(a, b, tolerant=True).tolist() == [True, True, True, True]
    assert equal_elements(a, a + 1, tolerant=True).tolist() == [False, False, True, True]
    integers = np.array([1, 2], np.int32)
    assert equal_elements(integers, integers + 1, tolerant=True).tolist() == [False, False]


def test_a_result_that_is_open_may_just_exceed_the_greatest_number() -> None:
    """Of a campaign: (x * rsqrt(x))**2 of the greatest number, which the device rounds as it likes."""
    greatest = np.float32(np.finfo(np.float32).max)
    a = np.array([np.inf, -np.inf, np.inf, np.inf], np.float32)
    b = np.array([greatest * np.float32(0.99999), -greatest, greatest / 2, -greatest], np.float32)
    assert equal_elements(a, b, tolerant=True).tolist() == [True, True, False, False]
    assert not equal_elements(a, b, tolerant=False).any()


def test_what_comes_from_an_open_result_of_a_coarser_type_is_as_loose_as_that() -> None:
    function = kernel(",\n".join([tensor("a", (16, 64), "BF16"), tensor("out", (1, 64), out=True)]), """
        x = pl.tile.col_prod(pl.load(a, [0, 0], [16, 64]))
        return pl.store(pl.exp(pl.cast(x, target_type=pl.FP32)), [0, 0], out)
    """)
    assert coarsest([function], {"tile.col_prod"}) == TOLERANCE["bfloat16"]
    assert coarsest([function], {"tile.exp"}) == TOLERANCE["float32"]
    assert coarsest([function], set()) == 0.0
    a = np.array([100.0], np.float32)
    assert equal_elements(a, a * np.float32(1.01), tolerant=True, least=TOLERANCE["bfloat16"]).all()
    assert not equal_elements(a, a * np.float32(1.01), tolerant=True).any()


# Kernels on which the two meanings once differed: what was wrong stands before each.
NARROW = ",\n".join([
    tensor("a", (64, 64), "FP16"), tensor("b", (64, 64), "FP16"), "rows: pl.Scalar[pl.INDEX]",
    tensor("out", (64, 64), out=True),
])
PUSHED = ",\n".join([
    tensor("a", (16, 16), "FP16"), tensor("b", (16, 16), "FP16"), "rows: pl.Scalar[pl.INDEX]",
    tensor("out", (16, 16), out=True),
])
SLICED = ",\n".join([tensor("a", (8, 16)), tensor("b", (16, 64)), tensor("out", (16, 64), out=True)])
REGRESSIONS = {
    # The left operand was written at the pitch of its physical rows and read at that of its valid rows (a5).
    "narrowed operand of a product": (NARROW, """
        am = pl.load(a, [0, 0], [64, 64], valid_shape=[rows, 64], target_memory=pl.Mem.Mat)
        bm = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        c = pl.matmul(pl.move(am, target_memory=pl.Mem.Left), pl.move(bm, target_memory=pl.Mem.Right))
        return pl.store(c, [0, 0], out)
    """),
    # The column was taken from the first row of the tile that had been sliced.
    "relabelled slice": (SLICED, """
        x = pl.load(a, [0, 0], [8, 16])
        column = pl.reshape(x[5:6, 0:16], [16, 1])
        return pl.store(pl.row_expand_mul(pl.load(b, [0, 0], [16, 64]), column), [0, 0], out)
    """),
    # The pointer to the ring that a2a3 adds for a pipe was taken for the scalar behind the tensors.
    "pushed product": (PUSHED, """
        ring = pl.import_peer_buffer(name="ring", peer_func="other")
        pl.aic_initialize_pipe(ring, pl.const(0, pl.INT32), dir_mask=1, slot_size=1024)
        am = pl.load(a, [0, 0], [16, 16], valid_shape=[rows, 16], target_memory=pl.Mem.Mat)
        al = pl.move(am, target_memory=pl.Mem.Left)
        br = pl.move(pl.load(b, [0, 0], [16, 16], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        c = pl.matmul(al, br)
        pl.tpush_to_aiv(c, split=0)
        return pl.store(c, [0, 0], out)
    """),
    # Index bits went through a conversion of numbers.
    "gather of bits": (",\n".join([tensor("a", (1, 64)), tensor("out", (1, 32), "UINT32", out=True)]), """
        x = pl.load(a, [0, 0], [1, 64])
        bits = pl.tile.gather_mask(x, mask_pattern=pl.tile.MaskPattern.P1010, output_dtype=pl.UINT32)
        return pl.store(bits, [0, 0], out)
    """),
    # The start of an unsigned ramp is an unsigned constant, which `.pto` makes of a signless one.
    "unsigned ramp": (",\n".join([tensor("a", (1, 64), "UINT32"), tensor("out", (1, 64), "UINT32", out=True)]), """
        ramp = pl.tile.ci(7, [1, 64], dtype=pl.UINT32)
        return pl.store(pl.add(pl.load(a, [0, 0], [1, 64]), ramp), [0, 0], out)
    """),
}


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("name", REGRESSIONS)
def test_former_differences(name: str, arch: str) -> None:
    found = compare(kernel(*REGRESSIONS[name]), target(arch))
    assert found.difference is None, str(found.difference)
    assert found.telling > 0


def test_a_difference_of_the_text_is_laid_to_the_simulated_text(monkeypatch: pytest.MonkeyPatch) -> None:
    from pypto_verified.interpreter.meaning import MEANINGS

    monkeypatch.setitem(MEANINGS, "tile.sub", MEANINGS["tile.add"])
    found = compare(kernel(PAIR, SUBTRACT), target("a2a3")).difference
    assert found is not None
    assert found.stage == SIMULATOR
