"""Every fault says which op, at which line, on which tile or tensor, at which element and at which byte."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pypto_verified.simulator.errors import SimError
from pypto_verified.simulator.values import Array
from tests.simulator.text import Kernel, ramp, zeros


def capacity() -> tuple[Kernel, SimError]:
    k = Kernel()
    k.tile("x", "f32", 64, 64, addr=240 * 1024)
    return k, only(k)


def alignment() -> tuple[Kernel, SimError]:
    k = Kernel()
    k.tile("x", "f32", 8, 8, addr=16)
    return k, only(k)


def local_window() -> tuple[Kernel, SimError]:
    """The view starts in row 8 of 16 and has 16 rows: its row 8 is the first outside."""
    k = Kernel()
    x = k.tile("x", "f32", 16, 8)
    view = k.types[x]
    k.line(f"%w = pto.subview %x[{k.number(8)}, {k.number(0)}] sizes [16, 8] : {view} -> {view}")
    return k, only(k)


def local_index() -> tuple[Kernel, SimError]:
    k = Kernel()
    i, x, n = k.tensor("i", "i32", 1, 8), k.tile("x", "f32", 1, 8), k.tile("n", "i32", 1, 8)
    k.op("texpands", "c:0:i32", x)
    k.load(i, n)
    k.op("tgather", f"{x} {n}", k.tile("y", "f32", 1, 8))
    return k, only(k, i=np.asarray([[0, 1, 2, 8, 4, 5, 6, 7]], np.int32))


def global_window() -> tuple[Kernel, SimError]:
    k = Kernel()
    k.load(k.tensor("a", "f32", 60, 8, (48, 0, 16, 8)), k.tile("x", "f32", 16, 8))
    return k, only(k, a=ramp(60, 8))


def global_index() -> tuple[Kernel, SimError]:
    k = Kernel()
    table, i = k.tensor("table", "f32", 8, 16), k.tensor("i", "i32", 4, 8)
    n = k.tile("n", "i32", 4, 8)
    k.load(i, n)
    k.op("mgather", f"{table} {n}", k.tile("y", "f32", 4, 8), "{coalesce = #pto<coalesce elem>}")
    places = zeros(4, 8, np.int32)
    places[2, 3] = 128
    return k, only(k, table=ramp(8, 16), i=places)


def uninitialised() -> tuple[Kernel, SimError]:
    k = Kernel()
    a, out = k.tensor("a", "f32", 2, 8), k.tensor("out", "f32", 4, 8)
    x = k.tile("x", "f32", 4, 8, addr=1024)
    k.load(a, k.tile("part", "f32", 4, 8, valid=(2, 8), addr=1024))
    k.store(x, out)
    return k, only(k, a=ramp(2, 8), out=zeros(4, 8))


def division() -> tuple[Kernel, SimError]:
    k = Kernel()
    a, b = k.tensor("a", "i32", 4, 8), k.tensor("b", "i32", 4, 8)
    x, y = k.tile("x", "i32", 4, 8), k.tile("y", "i32", 4, 8)
    k.load(a, x)
    k.load(b, y)
    k.op("tdiv", f"{x} {y}", k.tile("z", "i32", 4, 8))
    divisors = ramp(4, 8, np.int32) + 1
    divisors[3, 2] = 0
    return k, only(k, a=ramp(4, 8, np.int32), b=divisors)


def row_division() -> tuple[Kernel, SimError]:
    k = Kernel()
    a, b = k.tensor("a", "i32", 4, 8), k.tensor("b", "i32", 4, 8)
    x = k.tile("x", "i32", 4, 8)
    k.load(a, x)
    k.load(b, k.tile("y", "i32", 4, 8, addr=4096))
    column = k.tile("col", "i32", 8, 1, valid=(4, 1), addr=4096, layout=("col_major", "none_box", 512))
    k.op("trowexpanddiv", f"{x} {column}", k.tile("z", "i32", 4, 8))
    divisors = ramp(4, 8, np.int32) + 1
    divisors[0, 2] = 0
    return k, only(k, a=ramp(4, 8, np.int32), b=divisors)


def only(k: Kernel, **tensors: Array) -> SimError:
    (error,) = k.run("a5", None, **tensors).errors
    return error


@pytest.mark.parametrize(
    ("fault", "kind", "op", "name", "element", "address"),
    [
        (capacity, "capacity", "pto.alloc_tile", "x", None, 240 * 1024),
        (alignment, "alignment", "pto.alloc_tile", "x", None, 16),
        # row 8 of 8 columns of 4 bytes
        (local_window, "local bounds", "pto.subview", "w", (8, 0), 256),
        (local_index, "local bounds", "pto.tgather", "n", (0, 3), 512 + 12),
        (global_window, "global bounds", "pto.tload", "a_p", (60, 0), 60 * 32),
        (global_index, "global bounds", "pto.mgather", "n", (2, 3), 2 * 32 + 12),
        (uninitialised, "uninitialised", "pto.tstore", "x", (2, 0), 1024 + 2 * 32),
        # y is the second tile: 512 bytes behind the first
        (division, "division by zero", "pto.tdiv", "y", (3, 2), 512 + 3 * 32 + 8),
        (row_division, "division by zero", "pto.trowexpanddiv", "col", (2, 0), 4096 + 8),
    ],
)
def test_a_fault_has_its_place(
    fault: Callable[[], tuple[Kernel, SimError]], kind: str, op: str, name: str, element: tuple[int, int] | None,
    address: int,
) -> None:
    k, error = fault()
    assert (error.kind, error.op) == (kind, op)
    assert (error.place.name, error.place.element, error.place.address) == (name, element, address)
    # the first line of the module, the function's, the constants, then the ops as they were written
    assert error.line == 3 + k.constants + next(i for i, line in enumerate(k.lines) if op in line and name in line)
    shown = [op, f".pto line {error.line}", f"%{name}", f"address {address}"]
    assert all(part in str(error) for part in [*shown, *([f"element {element}"] if element else [])])


def test_a_scalar_division_names_its_op_and_line() -> None:
    k = Kernel({"n": "index"})
    k.line(f"%q = arith.divsi {k.number(8)}, %n : index")
    (error,) = k.run("a5", {"n": 0}).errors
    assert (error.kind, error.op, error.line) == ("division by zero", "arith.divsi", 3 + k.constants)
