"""Rates of the simulator in program order, initialisation tracking and bounds checks in force.

Run with `python benchmarks/simulator.py`. Parsing and compiling are not part of a run; goals stand beside the rates.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable

import numpy as np

from pypto_verified.pto.module import Func
from pypto_verified.pto.reader import read
from pypto_verified.simulator import compile, execute
from pypto_verified.simulator.values import Array
from pypto_verified.targets import target

_VIEW = """
  %{v}_view = pto.make_tensor_view %{v}, shape = [%n, %n], strides = [%n, %c1] {{layout = #pto.layout<nd>}}
    : !pto.tensor_view<?x?x{t}>
  %{v}_part = pto.partition_view %{v}_view, offsets = [%c0, %c0], sizes = [%n, %n]
    : !pto.tensor_view<?x?x{t}> -> !pto.partition_tensor_view<{n}x{n}x{t}>
"""


def _views(n: int, types: dict[str, str]) -> str:
    return "".join(_VIEW.format(v=v, t=t, n=n) for v, t in types.items())


def _module(args: str, n: int, body: str) -> Func:
    text = f"""
module {{
  func.func @kernel({args}) {{
  %a0 = arith.constant 0 : i64
  %a1 = arith.constant {n * n * 4} : i64
  %a2 = arith.constant {2 * n * n * 4} : i64
  %n = arith.constant {n} : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  {body}
  return
  }}
}}
"""
    return read(text).funcs[0]


def matmul(n: int) -> Func:
    """`c = a @ b` in f16, GM to L1 to L0 to the accumulator to GM."""
    part = "!pto.partition_tensor_view<{0}x{0}x{1}>"
    half, single = part.format(n, "f16"), part.format(n, "f32")
    tile = "!pto.tile_buf<loc={0}, dtype={1}, rows={2}, cols={2}, v_row={2}, v_col={2}, blayout={3}, slayout={4}, " \
        "fractal={5}, pad=0>"
    mat = tile.format("mat", "f16", n, "col_major", "row_major", 512)
    left = tile.format("left", "f16", n, "row_major", "row_major", 512)
    right = tile.format("right", "f16", n, "row_major", "col_major", 512)
    acc = tile.format("acc", "f32", n, "col_major", "row_major", 1024)
    body = _views(n, {"a": "f16", "b": "f16", "c": "f32"}) + f"""
  %am = pto.alloc_tile addr = %a0 : {mat}
  %bm = pto.alloc_tile addr = %a1 : {mat}
  %al = pto.alloc_tile addr = %a0 : {left}
  %br = pto.alloc_tile addr = %a0 : {right}
  %cc = pto.alloc_tile addr = %a0 : {acc}
  pto.tload ins(%a_part : {half}) outs(%am : {mat})
  pto.tload ins(%b_part : {half}) outs(%bm : {mat})
  pto.tmov ins(%am : {mat}) outs(%al : {left})
  pto.tmov ins(%bm : {mat}) outs(%br : {right})
  pto.tmatmul ins(%al, %br : {left}, {right}) outs(%cc : {acc})
  pto.tstore ins(%cc : {acc}) outs(%c_part : {single})
"""
    return _module("%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f32>", n, body)


def additions(n: int, count: int) -> Func:
    """`count` f32 additions of two n x n tiles in UB, after one load each and before one store."""
    tile = f"!pto.tile_buf<loc=vec, dtype=f32, rows={n}, cols={n}, v_row={n}, v_col={n}, blayout=row_major, " \
        "slayout=none_box, fractal=512, pad=0>"
    part = f"!pto.partition_tensor_view<{n}x{n}xf32>"
    body = _views(n, {"a": "f32", "b": "f32", "c": "f32"}) + f"""
  %x = pto.alloc_tile addr = %a0 : {tile}
  %y = pto.alloc_tile addr = %a1 : {tile}
  pto.tload ins(%a_part : {part}) outs(%x : {tile})
  pto.tload ins(%b_part : {part}) outs(%y : {tile})
""" + f"  pto.tadd ins(%x, %y : {tile}, {tile}) outs(%x : {tile})\n" * count + f"""
  pto.tstore ins(%x : {tile}) outs(%c_part : {part})
"""
    return _module("%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %c: !pto.ptr<f32>", n, body)


def _seconds(call: Callable[[], object]) -> float:
    call()
    timer = timeit.Timer(call)
    number = max(1, int(0.1 / max(timer.timeit(1), 1e-7)))
    return min(timer.repeat(5, number)) / number


def main() -> None:
    """Print one line a rate."""
    random = np.random.default_rng(0)
    a2a3 = target("a2a3")
    half = random.standard_normal((64, 64)).astype(np.float16)
    product = compile(matmul(64), a2a3)
    operands: dict[str, Array] = {"a": half, "b": half, "c": np.zeros((64, 64), np.float32)}
    seconds = _seconds(lambda: execute(product, operands, {}))
    print(f"matmul 64x64x64 f16 through all memories: {seconds * 1e3:.3f} ms (goal 0.2)")

    single = random.standard_normal((128, 128)).astype(np.float32)
    buffers = {"a": single, "b": single, "c": single}
    few, many = compile(additions(128, 1), a2a3), compile(additions(128, 101), a2a3)
    op = (_seconds(lambda: execute(many, buffers, {})) - _seconds(lambda: execute(few, buffers, {}))) / 100
    out = single.copy()
    plain = _seconds(lambda: np.add(out, single, out=out))
    print(f"f32 addition 128x128: {op * 1e6:.1f} us, numpy {plain * 1e6:.1f} us, ratio {plain / op:.2f} (goal 0.5)")


if __name__ == "__main__":
    main()
