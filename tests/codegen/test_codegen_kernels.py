"""Whole kernels, from the author's text to ours."""

from __future__ import annotations

import re

import pytest

from pypto_verified.codegen import generate_text
from pypto_verified.language import load_source
from pypto_verified.passes.pipeline import run
from pypto_verified.targets import A2A3
from tests.codegen.build import buf

MUL = '''import pypto.language as pl

@pl.program
class MulKernel:
    @pl.function
    def mul_kernel_2d(self,
                      a: pl.Tensor[[32, 32], pl.FP32],
                      b: pl.Tensor[[32, 32], pl.FP32],
                      c: pl.Tensor[[32, 32], pl.FP32]):
        tile_a = pl.load(a, [0, 0], [32, 32])
        tile_b = pl.load(b, [0, 0], [32, 32])
        tile_c = pl.mul(tile_a, tile_b)
        pl.store(tile_c, [0, 0], c)
'''


def text_of(source: str, locs: bool = True) -> list[str]:
    """The lines that a kernel file compiles to, for a2a3, without indentation."""
    functions = [f for p in load_source(source, "mul.py").programs for f in p.functions]
    lowered = [run(f, A2A3) for f in functions]
    return [line.strip() for line in generate_text(lowered, A2A3, emit_source_loc=locs).splitlines()]


def at(line: int, column: int) -> str:
    return f' loc("mul.py":{line}:{column})'


T = buf("vec", "f32", 32, 32)
PART = "!pto.partition_tensor_view<32x32xf32>"


def _view(number: int, name: str) -> str:
    return (
        f"%{name}_view = pto.make_tensor_view %arg{number}, shape = [%c32_index, %c32_index], "
        "strides = [%c32_index, %c1_index] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>" + at(7 + number, 23)
    )


def _alloc(name: str, line: int) -> str:
    return f"%{name} = pto.alloc_tile addr = @ valid_row = %c32_index valid_col = %c32_index : {T}{at(line, 9)}"


def _window(name: str, line: int, column: int) -> str:
    return (
        f"%{name}_pview = pto.partition_view %{name}_view, offsets = [%c0_index, %c0_index], "
        f"sizes = [%c32_index, %c32_index] : !pto.tensor_view<?x?xf32> -> {PART}{at(line, column)}"
    )


@pytest.mark.requirement("CG-02", "CG-03", "CG-06", "CG-07", "CG-17", "CG-21")
def test_the_multiplication_kernel() -> None:
    found = text_of(MUL)
    assert found[:2] == [
        'module attributes {pto.target_arch = "a2a3"} {',
        "func.func @mul_kernel_2d(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>, %arg2: !pto.ptr<f32>) "
        "attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {",
    ]
    constants = [line for line in found if "arith.constant" in line]
    assert found[2 : 2 + len(constants)] == constants
    # where the planner puts the tiles is not this room's business
    assert [re.sub(r"addr = %c\d+_i64", "addr = @", line) for line in found[2 + len(constants) :]] == [
        _view(0, "a"), _view(1, "b"), _view(2, "c"),
        _alloc("tile_a", 10), _window("a", 10, 18), f"pto.tload ins(%a_pview : {PART}) outs(%tile_a : {T}){at(10, 18)}",
        _alloc("tile_b", 11), _window("b", 11, 18), f"pto.tload ins(%b_pview : {PART}) outs(%tile_b : {T}){at(11, 18)}",
        _alloc("tile_c", 12), f"pto.tmul ins(%tile_a, %tile_b : {T}, {T}) outs(%tile_c : {T}){at(12, 18)}",
        _window("c", 13, 9), f"pto.tstore ins(%tile_c : {T}) outs(%c_pview : {PART}){at(13, 9)}",
        "return", "}", "}",
    ]


@pytest.mark.requirement("CG-18")
def test_the_multiplication_kernel_without_places() -> None:
    assert text_of(MUL, locs=False) == [line.split(' loc("')[0] for line in text_of(MUL)]
