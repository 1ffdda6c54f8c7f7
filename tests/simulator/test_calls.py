"""Modules of several functions: a call runs the callee with its arguments and hands back its results."""

from __future__ import annotations

import numpy as np

from pypto_verified.pto.reader import read
from pypto_verified.simulator import Outcome, compile, execute
from pypto_verified.targets import target
from tests.simulator.text import zeros

CALLS = """
module {
  func.func @kernel(%out: !pto.ptr<i32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %a = func.call @square(%c3) : (index) -> index
    %b = func.call @square(%a) : (index) -> index
    %c = func.call @sum(%a, %b) : (index, index) -> index
    func.call @write(%out, %c0, %b) : (!pto.ptr<i32>, index, index) -> ()
    func.call @write(%out, %c1, %c) : (!pto.ptr<i32>, index, index) -> ()
    return
  }
  func.func private @square(%x: index) -> index {
    %y = arith.muli %x, %x : index
    return %y : index
  }
  func.func private @sum(%x: index, %y: index) -> index {
    %z = func.call @square(%x) : (index) -> index
    %w = arith.addi %z, %y : index
    return %w : index
  }
  func.func private @write(%p: !pto.ptr<i32>, %at: index, %v: index) {
    %w = arith.index_cast %v : index to i32
    pto.store_scalar %w, %p[%at] : !pto.ptr<i32>, i32
    return
  }
}
"""


def outcome(text: str) -> Outcome:
    func = read(text, "calls.pto").funcs[0]
    return execute(compile(func, target("a2a3")), {"out": zeros(1, 2, np.int32)}, {})


def test_each_call_has_its_own_arguments_and_results() -> None:
    # 3 * 3 = 9, 9 * 9 = 81; 9 * 9 + 81 = 162
    found = outcome(CALLS)
    assert found.errors == [] and found.outputs["out"].tolist() == [[81, 162]]


def test_a_fault_in_a_callee_has_the_callee_s_line() -> None:
    (error,) = outcome(CALLS.replace("func.call @write(%out, %c1", "func.call @write(%out, %c2")).errors
    line = 1 + CALLS[: CALLS.index("pto.store_scalar")].count("\n")
    assert (error.kind, error.op, error.line) == ("global bounds", "pto.store_scalar", line)


def test_a_callee_that_is_not_here_is_named() -> None:
    text = CALLS.replace("""func.func private @sum(%x: index, %y: index) -> index {
    %z = func.call @square(%x) : (index) -> index
    %w = arith.addi %z, %y : index
    return %w : index
  }""", "func.func private @sum(index, index) -> index")
    (error,) = outcome(text).errors
    assert (error.kind, error.op) == ("not modelled", "func.call") and "sum" in error.message


def test_a_function_that_calls_itself_is_not_modelled() -> None:
    text = CALLS.replace("""    %y = arith.muli %x, %x : index
    return %y : index""", """    %y = func.call @square(%x) : (index) -> index
    return %y : index""")
    (error,) = outcome(text).errors
    assert error.kind == "not modelled" and "calls itself" in error.message


def test_tiles_of_a_callee_have_storage() -> None:
    tile = ("!pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=8, v_row=1, v_col=8, blayout=row_major, slayout=none_box, "
            "fractal=512, pad=0>")
    text = f"""
module {{
  func.func @kernel(%out: !pto.ptr<i32>) {{
    func.call @fill(%out) : (!pto.ptr<i32>) -> ()
    return
  }}
  func.func private @fill(%out: !pto.ptr<i32>) {{
    %c0 = arith.constant 0 : index
    %v = arith.constant 2.0 : f32
    %x = pto.alloc_tile : {tile}
    pto.texpands ins(%v : f32) outs(%x : {tile})
    %e = pto.tgetval ins(%x, %c0 : {tile}, index) outs : f32
    %i = arith.fptosi %e : f32 to i32
    pto.store_scalar %i, %out[%c0] : !pto.ptr<i32>, i32
    return
  }}
}}
"""
    found = outcome(text)
    assert found.errors == [] and found.outputs["out"].tolist() == [[2, 0]]
