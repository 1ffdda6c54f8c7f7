"""Which writes of the blocks of a launch conflict."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.simulator import Outcome, compile, execute, run_grid
from pypto_verified.simulator.errors import ConflictError
from pypto_verified.simulator.program import Program
from pypto_verified.simulator.values import Array
from pypto_verified.targets import target

ROWS = """
module {{
  func.func @rows(%out: !pto.ptr<f32>, %zero: !pto.ptr<f32>) {{
    %c0 = arith.constant 0 : i64
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %v = arith.constant 2.0 : f32
    %b = pto.get_block_idx
    %i = arith.index_cast %b : i64 to index
    %stride = arith.constant {stride} : index
    %row = arith.muli %i, %stride : index
    %view = pto.make_tensor_view %out, shape = [%c32, %c8], strides = [%c8, %c1] {{layout = #pto.layout<nd>}}
      : !pto.tensor_view<?x?xf32>
    %part = pto.partition_view %view, offsets = [%row, %z], sizes = [%c8, %c8]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x8xf32>
    %t = pto.alloc_tile addr = %c0 : !pto.tile_buf<vec, 8x8xf32>
    pto.texpands ins(%v : f32) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
{stores}
    return
  }}
}}
"""
PLAIN = "    pto.tstore ins(%t : !pto.tile_buf<vec, 8x8xf32>) outs(%part : !pto.partition_tensor_view<8x8xf32>)"
ATOMIC = PLAIN + " {atomicType = #pto<atomic_type atomic_add>}"
SCALAR = """    %first = arith.muli %row, %c8 : index
    pto.store_scalar %v, %out[%first] : !pto.ptr<f32>, f32"""


_VIEW, _TILE = "!pto.partition_tensor_view<8x8xf32>", "!pto.tile_buf<vec, 8x8xf32>"
PUT = f"    pto.comm.tput(%part, %part, buf(%t) : {_VIEW}, {_VIEW}, {_TILE})"
GET = PUT.replace("tput", "tget")


def rows(stride: int, *stores: str) -> tuple[Program, dict[str, Array]]:
    """Block b writes 8 rows of 32 bytes from row `stride` * b, with each of `stores`; and tensors for it."""
    text = ROWS.format(stride=stride, stores="\n".join(stores))
    given: dict[str, Array] = {"out": np.zeros((32, 8), np.float32), "zero": np.zeros(1, np.float32)}
    return compile(read(text).funcs[0], target("a2a3")), given


def launch(stride: int, blocks: int, *stores: str) -> Outcome:
    """The run of so many blocks of `rows`."""
    program, given = rows(stride, *stores)
    return run_grid(program, given, {}, blocks)


def test_blocks_of_a_grid_write_their_own_rows() -> None:
    outcome = launch(8, 3, PLAIN)
    assert outcome.errors == []
    assert np.flatnonzero(outcome.outputs["out"][:, 0] == 2.0).tolist() == list(range(24))
    program, given = rows(8, PLAIN)
    one = execute(program, given, {}, block=(3, 4)).outputs["out"]
    assert np.flatnonzero(one[:, 0]).tolist() == list(range(24, 32))


def test_each_pair_of_blocks_is_told_with_the_first_element_that_both_write() -> None:
    errors = launch(4, 4, PLAIN).errors
    assert [e.message for e in errors] == [f"blocks {b} and {b + 1} write the same element" for b in range(3)]
    assert [(e.place.element, e.place.address) for e in errors] == [((4 * b, 0), 128 * b) for b in (1, 2, 3)]


@pytest.mark.parametrize("stores", [(PLAIN, ATOMIC), (ATOMIC, PLAIN), (ATOMIC, SCALAR), (PLAIN, PLAIN)])
def test_a_block_may_write_its_own_rows_again(stores: tuple[str, ...]) -> None:
    assert launch(8, 4, *stores).errors == []


@pytest.mark.parametrize("store", [PLAIN, SCALAR, PUT, GET])
def test_whatever_writes_it_a_byte_belongs_to_the_block_that_wrote_it(store: str) -> None:
    assert launch(8, 4, store).errors == []
    errors = launch(0, 3, store).errors
    assert [e.message for e in errors] == [f"blocks {b} and {b + 1} write the same element" for b in range(2)]


def test_blocks_may_add_to_the_same_rows() -> None:
    outcome = launch(0, 3, ATOMIC)
    assert outcome.errors == []
    assert (outcome.outputs["out"][:8] == 6.0).all()


@pytest.mark.parametrize("stores", [(PLAIN, ATOMIC), (ATOMIC, PLAIN), (ATOMIC, SCALAR), (SCALAR, ATOMIC)])
def test_adding_does_not_hide_a_plain_write_of_another_block(stores: tuple[str, ...]) -> None:
    (error,) = launch(0, 2, *stores).errors
    assert isinstance(error, ConflictError)
    assert error.message == "blocks 0 and 1 write the same element"


def test_two_blocks_may_not_store_the_same_scalar() -> None:
    text = """module {
  func.func @k(%out: !pto.ptr<i32>) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %v = arith.constant 7 : i32
    %b = pto.get_block_idx
    %i = arith.index_cast %b : i64 to index
    %at = arith.remsi %i, %c2 : index
    pto.store_scalar %v, %out[%at] : !pto.ptr<i32>, i32
    return
  }
}
"""
    program = compile(read(text).funcs[0], target("a2a3"))
    assert run_grid(program, {"out": np.zeros((1, 2), np.int32)}, {}, 2).errors == []
    (error,) = run_grid(program, {"out": np.zeros((1, 2), np.int32)}, {}, 3).errors
    assert (error.kind, error.place.address) == ("conflicting writes", 0) and "blocks 0 and 2" in error.message


HALVES = """module {
  func.func @k(%out: !pto.ptr<i32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %wide = arith.constant 7 : i32
    %narrow = arith.constant 7 : i16
    %halves = pto.castptr %out : !pto.ptr<i32> -> !pto.ptr<i16>
    %b = pto.get_block_idx
    %i = arith.index_cast %b : i64 to index
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      pto.store_scalar %wide, %out[%c0] : !pto.ptr<i32>, i32
    } else {
      pto.store_scalar %narrow, %halves[%c1] : !pto.ptr<i16>, i16
    }
    return
  }
}
"""


def test_half_of_an_element_of_another_block_is_seen() -> None:
    (error,) = run_grid(compile(read(HALVES).funcs[0], target("a2a3")), {"out": np.zeros(1, np.int32)}, {}, 2).errors
    assert (error.kind, error.place.address) == ("conflicting writes", 2)
