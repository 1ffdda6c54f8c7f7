"""`arith` on numbers of their width, by hand."""

from __future__ import annotations

import math

import pytest

from pypto_verified.dtypes import DTYPES
from pypto_verified.pto.module import AttrValue, Op, Value
from pypto_verified.pto.types import ScalarType
from pypto_verified.simulator.errors import DivisionError, UnmodelledError
from pypto_verified.simulator.scalars import pure
from pypto_verified.simulator.values import Scalar

TYPES = {"i1": "BOOL", "i8": "INT8", "i32": "INT32", "index": "INDEX", "f32": "FP32", "f16": "FP16", "ui8": "UINT8"}


def value(type_: str) -> Value:
    return Value("v", ScalarType(DTYPES[TYPES[type_]]))


def compute(name: str, source: str, target: str, *operands: Scalar, predicate: str = "") -> Scalar:
    groups = ("in",) if len(operands) == 1 else ("lhs", "rhs")
    attrs: dict[str, AttrValue] = {"predicate": predicate} if predicate else {}
    op = Op(f"arith.{name}", {g: (value(source),) for g in groups}, attrs, (value(target),))
    return pure(op)(*operands)


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        ("addi", 127, 1, -128), ("subi", -128, 1, 127), ("muli", 16, 16, 0),
        ("divsi", -7, 2, -3), ("remsi", -7, 2, -1), ("floordivsi", -7, 2, -4), ("ceildivsi", 7, 2, 4),
        ("divsi", -128, -1, -128),  # 128 does not fit
        ("divui", -1, 2, 127), ("remui", -1, 16, 15), ("maxui", -1, 1, -1), ("minui", -1, 1, 1),  # -1 is 255
        ("maxsi", -1, 1, 1), ("andi", 6, 3, 2), ("ori", 6, 3, 7), ("xori", 6, 3, 5),
        ("shli", 1, 7, -128), ("shrsi", -128, 7, -1), ("shrui", -128, 7, 1),
    ],
)
def test_integers(name: str, a: int, b: int, expected: int) -> None:
    assert compute(name, "i8", "i8", a, b) == expected


@pytest.mark.parametrize("name", ["divsi", "remsi", "divui", "remui", "floordivsi", "ceildivsi"])
def test_division_by_zero(name: str) -> None:
    with pytest.raises(DivisionError):
        compute(name, "i32", "i32", 1, 0)


@pytest.mark.parametrize("amount", [-1, 8])
def test_a_shift_by_the_width_has_no_meaning(amount: int) -> None:
    with pytest.raises(UnmodelledError):
        compute("shli", "i8", "i8", 1, amount)


def test_comparisons() -> None:
    assert compute("cmpi", "i8", "i1", -1, 1, predicate="slt")
    assert not compute("cmpi", "i8", "i1", -1, 1, predicate="ult")
    assert not compute("cmpf", "f32", "i1", math.nan, 1.0, predicate="olt")
    assert compute("cmpf", "f32", "i1", math.nan, 1.0, predicate="ult")
    assert compute("cmpf", "f32", "i1", math.nan, 1.0, predicate="uno")


@pytest.mark.parametrize(("predicate", "less", "equal", "greater"), [
    ("eq", False, True, False), ("ne", True, False, True), ("slt", True, False, False), ("sle", True, True, False),
    ("sgt", False, False, True), ("sge", False, True, True),
])
def test_each_predicate_below_at_and_above(predicate: str, less: bool, equal: bool, greater: bool) -> None:
    found = [compute("cmpi", "i32", "i1", a, 5, predicate=predicate) for a in (4, 5, 6)]
    assert [bool(f) for f in found] == [less, equal, greater]


def test_conversions() -> None:
    assert compute("trunci", "i32", "i8", 300) == 44
    assert compute("extsi", "i1", "i32", 1) == -1
    assert compute("extui", "i1", "i32", 1) == 1
    assert compute("extui", "i8", "i32", -1) == 255
    assert compute("fptosi", "f32", "i32", -2.9) == -2
    assert compute("fptosi", "f32", "i8", 1e9) == 127
    assert compute("sitofp", "i32", "f32", 2**24 + 1) == 2.0**24
    assert compute("truncf", "f32", "f16", 2049.0) == 2048.0


def test_floats_round_to_their_type() -> None:
    # f32 numbers near 0.3 are multiples of 2**-25; 0.3 * 2**25 = 10066329.6.
    assert compute("addf", "f32", "f32", 0.1, 0.2) == 10066330 * 2**-25
    assert compute("addf", "f16", "f16", 2048.0, 1.0) == 2048.0
