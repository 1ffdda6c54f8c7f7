"""Arrays of the scalar unit, barriers across cores, and what a replay puts in tensors of integers."""

from __future__ import annotations

import numpy as np

from pypto_verified.pto.reader import read
from pypto_verified.simulator import Outcome, replay, run
from pypto_verified.simulator.errors import LocalBoundsError, UninitialisedError, UnmodelledError
from pypto_verified.targets import target

A3 = target("a2a3")
BARRIER = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>"


def outcome(body: str) -> Outcome:
    """A run of `body` over an output %out of 4 numbers and the array %a of 2 x 3."""
    constants = "".join(f"%c{i} = arith.constant {i} : index\n%v{i} = arith.constant {i} : i32\n" for i in range(6))
    text = (
        f"module {{\nfunc.func @kernel(%out: !pto.ptr<i32>) {{\n{constants}"
        f"%a = pto.declare_local_array -> !pto.local_array<2x3xi32>\n{body}\nreturn\n}}\n}}\n"
    )
    return run(read(text, "kernel.pto").funcs[0], {"out": np.zeros(4, np.int32)}, {}, A3)


def put(row: int, col: int, value: int) -> str:
    return f"pto.local_array_set %a[%c{row}, %c{col}], %v{value} : !pto.local_array<2x3xi32>, i32\n"


def get(name: str, row: int, col: int) -> str:
    return f"%{name} = pto.local_array_get %a[%c{row}, %c{col}] : !pto.local_array<2x3xi32> -> i32\n"


def out(index: int, name: str) -> str:
    return f"pto.store_scalar %{name}, %out[%c{index}] : !pto.ptr<i32>, i32\n"


def test_elements_are_kept_apart_and_replaced() -> None:
    body = put(0, 2, 5) + put(1, 0, 4) + put(0, 2, 3) + get("x", 0, 2) + get("y", 1, 0) + out(0, "x") + out(1, "y")
    found = outcome(body)
    assert found.errors == []
    assert found.outputs["out"].tolist() == [3, 4, 0, 0]


def test_an_element_that_was_never_set() -> None:
    (error,) = outcome(put(0, 0, 1) + get("x", 0, 1)).errors
    assert isinstance(error, UninitialisedError)
    assert error.op == "pto.local_array_get"


def test_an_index_stays_within_its_dimension() -> None:
    (error,) = outcome(put(0, 3, 1)).errors
    assert isinstance(error, LocalBoundsError)


def test_a_barrier_holds_up_no_core_that_is_alone() -> None:
    text = f"module {{\nfunc.func @kernel(%out: !pto.ptr<i32>) {{\n{BARRIER}\nreturn\n}}\n}}\n"
    func = read(text, "kernel.pto").funcs[0]
    assert replay(func, {}, A3).errors == []
    (error,) = run(func, {"out": np.zeros(4, np.int32)}, {}, A3).errors
    assert isinstance(error, UnmodelledError)


def test_a_replay_fills_integer_tensors_from_the_range_that_it_is_given() -> None:
    body = "\n".join(
        f"%x{i} = pto.load_scalar %in[%c{i}] : !pto.ptr<i32> -> i32\n"
        f"pto.store_scalar %x{i}, %out[%c{i}] : !pto.ptr<i32>, i32" for i in range(4)
    )
    constants = "\n".join(f"%c{i} = arith.constant {i} : index" for i in range(4))
    head = "module {\nfunc.func @kernel(%in: !pto.ptr<i32>, %out: !pto.ptr<i32>) {\n"
    text = f"{head}{constants}\n{body}\nreturn\n}}\n}}\n"
    outputs = replay(read(text, "kernel.pto").funcs[0], {}, A3, integers=(-5, -4)).outputs["out"]
    assert outputs[:4].tolist() == [-5] * 4
