"""A cube and its vector cores: both meanings of what they compute together agree, under every schedule."""

from __future__ import annotations

import pytest

from pypto_verified import differential_group
from pypto_verified.compiler import kernels_of
from pypto_verified.differential_group import compare_group
from pypto_verified.equality import Outputs, first_difference
from pypto_verified.errors import NotModelled
from pypto_verified.ir.stmt import Function
from pypto_verified.language import load_source
from pypto_verified.openness import OPEN, is_open
from pypto_verified.targets import target

TO_VECTOR = """\
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIC)
    def cube(self, a: pl.Tensor[[32, 64], pl.FP16], b: pl.Tensor[[64, 32], pl.FP16]):
        peer = pl.import_peer_buffer(name="ring", peer_func="vector")
        pl.aic_initialize_pipe(peer, pl.const(0, pl.INT32), dir_mask=1, slot_size=4096, slot_num=2)
        left = pl.move(pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
        right = pl.move(pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        pl.tpush_to_aiv(pl.matmul(left, right), split={split})

    @pl.function(type=pl.FunctionType.AIV)
    def vector(self, out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]) -> pl.Tensor[[32, 32], pl.FP32]:
        ring = pl.reserve_buffer(name="ring", size=8192, base=pl.AUTO)
        pl.aiv_initialize_pipe(ring, pl.const(0, pl.INT32), dir_mask=1, slot_size=4096, slot_num=2)
        lane = pl.tile.get_subblock_idx()
        v: pl.Tile[[{rows}, {cols}], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split={split})
        y = pl.mul(v, 0.5)
        pl.tfree_to_aic(v)
        return pl.store(y, [{at}], out)
"""

TO_CUBE = """\
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def vector(self, a: pl.Tensor[[32, 32], pl.FP32]):
        peer = pl.import_peer_buffer(name="ring", peer_func="cube")
        pl.aiv_initialize_pipe(pl.const(0, pl.INT32), peer, dir_mask=2, slot_size=4096, slot_num=2)
        lane = pl.tile.get_subblock_idx()
        x = pl.add(pl.load(a, [lane * 16, 0], [16, 32]), 1.0)
        pl.tpush_to_aic(x, split=1)

    @pl.function(type=pl.FunctionType.AIC)
    def cube(self, b: pl.Tensor[[32, 32], pl.FP32], out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]):
        ring = pl.reserve_buffer(name="ring", size=8192, base=pl.AUTO)
        pl.aic_initialize_pipe(pl.const(0, pl.INT32), ring, dir_mask=2, slot_size=4096, slot_num=2)
        right = pl.move(pl.load(b, [0, 0], [32, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        x: pl.Tile[[32, 32], pl.FP32, pl.Mem.Mat] = pl.tpop_from_aiv(split=1)
        left = pl.move(x, target_memory=pl.Mem.Left)
        product = pl.matmul(left, right)
        pl.tfree_to_aiv(x)
        pl.store(product, [0, 0], out)
"""

HALVES = {1: ("16", "32", "lane * 16, 0"), 2: ("32", "16", "0, lane * 16")}


def functions(text: str) -> tuple[Function, ...]:
    (program,) = load_source(text, "k.py").programs
    return kernels_of(program)


def to_vector(split: int) -> tuple[Function, ...]:
    rows, cols, at = HALVES[split]
    return functions(TO_VECTOR.format(split=split, rows=rows, cols=cols, at=at))


@pytest.mark.parametrize("split", [1, 2])
@pytest.mark.parametrize("on", ["a2a3", "a5"])
def test_tiles_to_the_vector_cores_mean_the_same_twice(on: str, split: int) -> None:
    found = compare_group(to_vector(split), target(on))
    assert found.difference is None, str(found.difference)
    assert found.agreed == 4 and found.telling > 0


def test_tiles_to_the_cube_mean_the_same_twice() -> None:
    found = compare_group(functions(TO_CUBE), target("a2a3"))
    assert found.difference is None, str(found.difference)
    assert found.agreed == 4 and found.telling > 0


ROUNDED = TO_VECTOR.replace("pl.mul(v, 0.5)", "pl.cast(v, target_type=pl.INT32, mode='rint')").replace(
    "out: pl.Out[pl.Tensor[[32, 32], pl.FP32]]) -> pl.Tensor[[32, 32], pl.FP32]",
    "out: pl.Out[pl.Tensor[[32, 32], pl.INT32]]) -> pl.Tensor[[32, 32], pl.INT32]")


def test_a_rounding_of_the_other_cores_open_result_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of a product's sum is open, and a cast to integers jumps."""
    group = functions(ROUNDED.format(split=1, rows=16, cols=32, at="lane * 16, 0"))
    first, second = sorted(group, key=lambda f: f.name)
    assert is_open(first, {"tile.matmul"}, second) and is_open(second, {"tile.matmul"}, first)
    assert not is_open(second, {"tile.matmul"}), "alone it knows nothing of the product"
    monkeypatch.setattr(differential_group, "first_difference", _an_ulp_off)
    found = compare_group(group, target("a2a3"))
    assert found.difference is None, str(found.difference)
    assert found.agreed == found.bitwise and OPEN in found.undefined


def _an_ulp_off(expected: Outputs, got: Outputs, loose: set[str], *rest: object) -> object:
    """The judge of two meanings that sum in another order."""
    return ("out", (0, 0), "3", "2") if loose else first_difference(expected, got, loose)


def test_a_function_alone_has_nothing_to_run_with() -> None:
    with pytest.raises(NotModelled, match="no function shares a pipe with it"):
        compare_group(to_vector(1)[:1], target("a2a3"))


def test_lanes_that_are_swapped_are_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    to_lane = differential_group._from_cube
    monkeypatch.setattr(differential_group, "_from_cube", lambda sent, lane: to_lane(sent, 1 - lane))
    found = compare_group(to_vector(1), target("a2a3"))
    assert found.difference is not None and found.difference.output == "out"
