"""`arith` on numbers of their width, by hand."""

from __future__ import annotations

import math

import pytest

from pypto_verified.dtypes import DTYPES
from pypto_verified.pto.module import AttrValue, Op, Value
from pypto_verified.pto.types import ScalarType
from pypto_verified.simulator import scalars
from pypto_verified.simulator.errors import DivisionError, UnmodelledError
from pypto_verified.simulator.scalars import pure
from pypto_verified.simulator.values import Scalar

TYPES = {"i1": "BOOL", "i8": "INT8", "i32": "INT32", "index": "INDEX", "f32": "FP32", "f16": "FP16", "ui8": "UINT8"}


def value(type_: str) -> Value:
    return Value("v", ScalarType(DTYPES[TYPES[type_]]))


def compute(name: str, source: str, target: str, *operands: Scalar, predicate: str = "") -> Scalar:
    groups = ("in",) if len(operands) == 1 else ("lhs", "rhs")
    attrs: dict[str, AttrValue] = {"predicate": predicate} if predicate else {}
    op = Op(name if "." in name else f"arith.{name}", {g: (value(source),) for g in groups}, attrs, (value(target),))
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


FLOATS: list[tuple[str, float, float, float]] = [
    ("addf", 1.5, 2.0, 3.5), ("subf", 1.5, 2.0, -0.5), ("mulf", 1.5, -2.0, -3.0), ("divf", 3.0, 2.0, 1.5),
    ("divf", -1.0, 0.0, -math.inf), ("remf", -7.0, 2.0, -1.0), ("maximumf", 1.0, 2.0, 2.0), ("minimumf", 1.0, 2.0, 1.0),
    ("maximumf", 1.0, math.nan, math.nan), ("minimumf", 1.0, math.nan, math.nan), ("maxnumf", 1.0, math.nan, 1.0),
    ("maxnumf", 1.0, 2.0, 2.0), ("minnumf", math.nan, 1.0, 1.0), ("minnumf", 1.0, 2.0, 1.0),
]


@pytest.mark.parametrize(("name", "a", "b", "expected"), FLOATS)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_floats(name: str, a: float, b: float, expected: float) -> None:
    assert compute(name, "f32", "f32", a, b) == pytest.approx(expected, abs=0.0, rel=0.0, nan_ok=True)


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.0), (0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0)])
def test_a_negative_zero_is_less_than_a_positive_one(a: float, b: float) -> None:
    signs = {math.copysign(1, a), math.copysign(1, b)}
    for name, wanted in (("maximumf", max(signs)), ("minimumf", min(signs))):
        found = compute(name, "f32", "f32", a, b)
        assert found == 0 and math.copysign(1, found) == wanted


FUNCTIONS: list[tuple[str, float, float]] = [
    ("arith.negf", 2.0, -2.0), ("math.absf", -2.0, 2.0), ("math.exp", 1.0, 2.718282), ("math.exp2", 3.0, 8.0),
    ("math.log", 10.0, 2.302585), ("math.log2", 8.0, 3.0), ("math.log10", 1000.0, 3.0), ("math.sqrt", 2.25, 1.5),
    ("math.sin", 1.0, 0.841471), ("math.cos", 1.0, 0.5403023), ("math.tanh", 1.0, 0.7615942),
    ("math.floor", -1.5, -2.0), ("math.ceil", -1.5, -1.0), ("math.ceil", 1.2, 2.0),
    ("math.trunc", -1.7, -1.0), ("math.trunc", 1.7, 1.0),
]


@pytest.mark.parametrize(("name", "a", "expected"), FUNCTIONS)
def test_functions(name: str, a: float, expected: float) -> None:
    assert compute(name, "f32", "f32", a) == pytest.approx(expected, rel=2e-7)


# derivation: what each predicate says of (less, equal, greater, one of them is NaN); i8 -1 is 255 without a sign.
PREDICATES = {
    "oeq": (0, 1, 0, 0), "ogt": (0, 0, 1, 0), "oge": (0, 1, 1, 0), "olt": (1, 0, 0, 0), "ole": (1, 1, 0, 0),
    "one": (1, 0, 1, 0), "ord": (1, 1, 1, 0), "ueq": (0, 1, 0, 1), "ugt": (0, 0, 1, 1), "uge": (0, 1, 1, 1),
    "ult": (1, 0, 0, 1), "ule": (1, 1, 0, 1), "une": (1, 0, 1, 1), "uno": (0, 0, 0, 1), "true": (1, 1, 1, 1),
    "false": (0, 0, 0, 0),
}


@pytest.mark.parametrize("predicate", PREDICATES)
def test_every_predicate_of_floats(predicate: str) -> None:
    pairs = ((1.0, 2.0), (2.0, 2.0), (2.0, 1.0), (math.nan, 2.0))
    assert tuple(compute("cmpf", "f32", "i1", *p, predicate=predicate) for p in pairs) == PREDICATES[predicate]


@pytest.mark.parametrize(
    ("relation", "small_to_great"),
    [("eq", (0, 1, 0)), ("ne", (1, 0, 1)), ("lt", (1, 0, 0)), ("le", (1, 1, 0)), ("gt", (0, 0, 1)), ("ge", (0, 1, 1))],
)
def test_every_predicate_of_integers(relation: str, small_to_great: tuple[int, int, int]) -> None:
    signed = [(-1, 1), (1, 1), (1, -1)]
    names = [relation] if relation in ("eq", "ne") else [f"s{relation}", f"u{relation}"]
    for name in names:
        pairs = signed if name[0] != "u" else [(1, -1), (-1, -1), (-1, 1)]
        assert tuple(compute("cmpi", "i8", "i1", *p, predicate=name) for p in pairs) == small_to_great


def test_every_op_has_a_case() -> None:
    assert {n for n, *_ in FLOATS} == scalars._FLOAT.keys()
    assert {n for n, *_ in FUNCTIONS} == scalars._FLOAT_UNARY.keys()


def test_signs_of_conversions() -> None:
    assert compute("ceildivui", "i8", "i8", -1, 2) == -128  # 255 / 2 is 128, which i8 spells -128
    assert compute("ceildivsi", "i8", "i8", -7, 2) == -3
    assert compute("index_castui", "i8", "index", -1) == 255
    assert compute("index_cast", "i8", "index", -1) == -1
    assert compute("uitofp", "i8", "f32", -1) == 255.0
    assert compute("fptoui", "f32", "ui8", 3.9) == 3
    assert compute("extf", "f16", "f32", 0.5) == 0.5
    assert pure(Op("arith.select", {"c": (value("i1"),)}, {}, (value("i8"),)))(False, 1, 2) == 2
