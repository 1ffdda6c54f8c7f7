"""Scalar ops as index expressions: the value of each by hand, at every sign; what is not expressed is a symbol of its
own, and none is expressed wrongly."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import ceil, floor, trunc

import pytest

from pypto_verified.dtypes import BOOL, INDEX, INT8, INT16, INT32, INT64, UINT8, DType
from pypto_verified.errors import ParseError
from pypto_verified.index import TRUE, Cond, Expr, const, eq, evaluate, holds, symbol
from pypto_verified.index.cond import FALSE, variable
from pypto_verified.pto.module import Op, Value
from pypto_verified.pto.types import ScalarType
from verifiers.access import SymbolKind
from verifiers.access.program import Scalar
from verifiers.access.scalars import Scalars, with_remainders
from verifiers.access.symbols import Symbols

N, S = symbol("n", 0), symbol("s")
"""A size, and a number of any sign."""
B, C = variable("b"), variable("c")
_VALUES = {"n": range(10), "s": range(-9, 10)}


def _op(name: str, dtype: DType = INDEX, **attrs: str) -> Op:
    return Op(f"arith.{name}", attrs=dict(attrs), results=(Value("r", ScalarType(dtype)),))


def _made(name: str, *args: Scalar, dtype: DType = INDEX, **attrs: str) -> tuple[Scalar, Symbols]:
    symbols = Symbols()
    return Scalars(symbols).evaluate(_op(name, dtype, **attrs), list(args)), symbols


def _holds_everywhere(made: Expr, args: tuple[Expr, ...], wanted: Callable[[int, int], int]) -> None:
    for n, s in product(_VALUES["n"], _VALUES["s"]):
        env = {"n": n, "s": s}
        a, b = (evaluate(e, env) for e in args)
        if b:
            assert evaluate(made, env) == wanted(a, b), env


# derivation: the language reference of MLIR's `arith`: division truncates, a remainder has the sign of the dividend
_BINARY: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b, "minsi": min, "maxsi": max,
    "divsi": lambda a, b: trunc(a / b), "remsi": lambda a, b: a - b * trunc(a / b),
    "floordivsi": lambda a, b: floor(a / b), "ceildivsi": lambda a, b: ceil(a / b),
    "divui": lambda a, b: a // b, "remui": lambda a, b: a % b, "ceildivui": lambda a, b: ceil(a / b),
    "maxui": max, "minui": min, "shli": lambda a, b: a << b, "shrsi": lambda a, b: a >> b, "shrui": lambda a, b: a >> b,
    "andi": lambda a, b: a & b, "xori": lambda a, b: a ^ b,
}
_SIGNED = ("addi", "subi", "muli", "minsi", "maxsi")


@pytest.mark.parametrize(("name", "a", "b"), [
    *((name, a, b) for name in _SIGNED for a, b in ((N, S), (S, N), (S, const(-3)), (const(7), S))),
    *((name, a, b) for name in ("divsi", "remsi") for a in (N, S, const(-7), const(0)) for b in (const(3), const(-3))),
    *((name, a, b) for name in ("divsi", "remsi", "floordivsi", "ceildivsi") for a in (N, S, N - 5) for b in (
        const(1), const(4), N + 1)),
    *((name, N, b) for name in ("divui", "remui", "ceildivui", "maxui", "minui") for b in (const(3), N + 2)),
    *((name, a, const(k)) for name in ("shli", "shrsi") for a in (N, S) for k in (1, 3)), ("shrui", N, const(2)),
    ("andi", N, const(7)), ("andi", S, const(7)), ("andi", const(6), S), ("andi", N, const(4)), ("andi", N, const(12)),
    ("xori", symbol("n", 0, 15), const(15)), ("xori", const(6), const(5)), ("andi", const(6), const(5)),
])
def test_an_integer_op_has_the_value_of_the_device(name: str, a: Expr, b: Expr) -> None:
    made, symbols = _made(name, a, b)
    assert isinstance(made, Expr)
    assert not symbols.kinds, "expressed, without another symbol"
    _holds_everywhere(made, (a, b), _BINARY[name])


@pytest.mark.parametrize(("name", "a", "b"), [
    ("divui", S, const(3)), ("remui", S, const(3)), ("divui", N, S), ("maxui", S, N), ("minui", N, S),
    ("shrui", S, const(2)), ("divsi", N, S), ("remsi", N, S), ("floordivsi", N, const(-3)), ("ceildivsi", N, const(-3)),
    ("shli", N, N), ("shli", N, const(64)), ("shli", N, const(-1)), ("shrsi", S, N), ("andi", N, N),
    ("andi", N, const(5)), ("andi", N, const(-4)), ("andi", N, const(0)), ("xori", N, const(15)),
    ("xori", symbol("n", 0, 16), const(15)),
    ("xori", symbol("n", 0, 3), const(6)), ("xori", symbol("n", 0, 15), const(14)), ("xori", S, const(15)),
    ("ori", N, const(1)),
])
def test_what_has_no_index_form_is_a_number_that_nobody_knows(name: str, a: Expr, b: Expr) -> None:
    made, symbols = _made(name, a, b)
    assert isinstance(made, Expr) and (made.lo, made.hi) == (None, None)
    assert symbols.kinds == {"r": SymbolKind.OPAQUE}


@pytest.mark.parametrize("name", ["divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui", "ceildivui"])
def test_a_division_by_the_constant_zero_is_an_error(name: str) -> None:
    with pytest.raises(ParseError, match=f"arith.{name} divides by zero"):
        _made(name, N, const(0))


@pytest.mark.parametrize("name", ["divsi", "remsi", "floordivsi", "ceildivsi"])
def test_whoever_divides_has_a_positive_divisor(name: str) -> None:
    symbols = Symbols()
    scalars = Scalars(symbols)
    scalars.path = N >= 3
    made = scalars.evaluate(_op(name), [S, N])
    assert isinstance(made, Expr)
    assert symbols.facts is ~(N >= 3) | (N >= 1)
    _holds_everywhere(made, (S, N), _BINARY[name])
    assert _made(name, S, N + 1)[1].facts is TRUE, "which is positive anyway"


def _retyped(value: Expr, source: DType, result: DType) -> Op:
    cast = Value("r", ScalarType(result))
    return Op("builtin.unrealized_conversion_cast", {"in": (Value("v", ScalarType(source)),)}, results=(cast,))


def _byte(value: int) -> int:
    """What 8 bits are with a sign."""
    return int.from_bytes(value.to_bytes(1, "little"), "little", signed=True)


@pytest.mark.parametrize("predicate", ["ult", "ule", "ugt", "uge", "slt", "sge", "ne"])
def test_an_argument_without_a_sign_keeps_its_bits(predicate: str) -> None:
    """Of 8 bits, compared with 200, whose bits are -56: with a sign by what they are then, without as they were."""
    byte, scalars = symbol("x", 0, 255), Scalars(Symbols())
    signed = scalars.evaluate(_retyped(byte, UINT8, INT8), [byte])
    assert isinstance(signed, Expr)
    assert [evaluate(signed, {"x": x}) for x in range(256)] == [_byte(x) for x in range(256)]
    op = Op("arith.cmpi", {"lhs": (Value("a", ScalarType(INT8)),), "rhs": (Value("b", ScalarType(INT8)),)},
            {"predicate": predicate}, results=(Value("c", ScalarType(BOOL)),))
    compared = scalars.evaluate(op, [signed, const(-56)])
    wanted = {"lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__, "ne": int.__ne__}[predicate[-2:]]
    assert isinstance(compared, Cond) and not scalars.symbols.kinds
    for x in range(256):
        sides = (x, 200) if predicate.startswith("u") else (_byte(x), -56)
        assert holds(compared, {"x": x}) is wanted(*sides), x
    again = scalars.evaluate(_retyped(signed, INT8, UINT8), [signed])
    assert isinstance(again, Expr) and evaluate(again, {"x": 200}) == 200


@pytest.mark.parametrize(("name", "by", "wanted"), [
    ("shrui", 1, lambda x: x >> 1), ("divui", 3, lambda x: x // 3), ("remui", 7, lambda x: x % 7),
    ("divui", -56, lambda x: x // 200), ("maxui", 100, lambda x: max(x, 100)), ("minui", -56, lambda x: min(x, 200)),
    ("addi", 100, lambda x: (x + 100) % 256), ("muli", 3, lambda x: 3 * x % 256), ("subi", 1, lambda x: (x - 1) % 256),
])
def test_what_is_computed_of_it_is_too(name: str, by: int, wanted: Callable[[int], int]) -> None:
    """In 8 bits; the result has a sign again, and none where it is compared without."""
    byte, scalars = symbol("x", 0, 255), Scalars(Symbols())
    signed = scalars.evaluate(_retyped(byte, UINT8, INT8), [byte])
    operands: dict[str, tuple[Value, ...]] = {
        "lhs": (Value("a", ScalarType(INT8)),), "rhs": (Value("b", ScalarType(INT8)),)}
    made = scalars.evaluate(
        Op(f"arith.{name}", operands, results=(Value("r", ScalarType(INT8)),)), [signed, const(by)])
    assert isinstance(made, Expr) and not scalars.symbols.kinds
    less = scalars.evaluate(
        Op("arith.cmpi", operands, {"predicate": "ult"}, results=(Value("c", ScalarType(BOOL)),)), [made, const(90)])
    assert isinstance(less, Cond)
    for x in range(256):
        assert evaluate(made, {"x": x}) == _byte(wanted(x)), x
        assert holds(less, {"x": x}) is (wanted(x) < 90), x


def test_more_bits_of_it_are_another_number() -> None:
    """200 in 8 bits are -56, in 16 bits with a sign still -56, and these without one 65480, whose highest bit is 1."""
    byte, scalars = symbol("x", 0, 255), Scalars(Symbols())
    signed = scalars.evaluate(_retyped(byte, UINT8, INT8), [byte])
    wider = scalars.evaluate(_op("extsi", INT16), [signed])
    operands: dict[str, tuple[Value, ...]] = {
        "lhs": (Value("a", ScalarType(INT16)),), "rhs": (Value("b", ScalarType(INT16)),)}
    high = scalars.evaluate(Op("arith.shrui", operands, results=(Value("r", ScalarType(INT16)),)), [wider, const(15)])
    assert isinstance(high, Expr) and scalars.symbols.kinds == {"r": SymbolKind.OPAQUE}
    small = scalars.evaluate(
        Op("arith.cmpi", operands, {"predicate": "ult"}, results=(Value("c", ScalarType(BOOL)),)), [wider, const(256)])
    assert isinstance(small, Cond) and small.kind == "var", "which is false for 200"


@pytest.mark.parametrize(("predicate", "wanted"), [
    ("eq", lambda a, b: a == b), ("ne", lambda a, b: a != b), ("slt", lambda a, b: a < b), ("sle", lambda a, b: a <= b),
    ("sgt", lambda a, b: a > b), ("sge", lambda a, b: a >= b), ("ult", lambda a, b: a < b),
    ("ule", lambda a, b: a <= b), ("ugt", lambda a, b: a > b), ("uge", lambda a, b: a >= b),
])
def test_comparisons(predicate: str, wanted: Callable[[int, int], bool]) -> None:
    unsigned = predicate.startswith("u")
    made, _ = _made("cmpi", N, const(4), dtype=BOOL, predicate=predicate)
    assert isinstance(made, Cond)
    assert [holds(made, {"n": n}) for n in range(10)] == [wanted(n, 4) for n in range(10)]
    other, _ = _made("cmpi", S, const(4), dtype=BOOL, predicate=predicate)
    assert isinstance(other, Cond)
    assert (other.kind == "var") is unsigned, "an unsigned comparison of what may be negative is not expressed"
    if not unsigned:
        assert [holds(other, {"s": s}) for s in range(-9, 10)] == [wanted(s, 4) for s in range(-9, 10)]
    swapped, _ = _made("cmpi", const(4), S, dtype=BOOL, predicate=predicate)
    assert isinstance(swapped, Cond) and (swapped.kind == "var") is unsigned


def test_comparisons_of_floats_are_conditions_on_data() -> None:
    made, _ = _made("cmpf", None, None, dtype=BOOL, predicate="oeq")
    assert isinstance(made, Cond) and made.kind == "var"


@pytest.mark.parametrize(("name", "wanted"), [
    ("andi", lambda b, c: b and c), ("ori", lambda b, c: b or c), ("xori", lambda b, c: b != c),
])
def test_conditions_are_joined(name: str, wanted: Callable[[bool, bool], bool]) -> None:
    made, _ = _made(name, B, C, dtype=BOOL)
    assert isinstance(made, Cond)
    for b, c in product((False, True), repeat=2):
        assert holds(made, {}, {"b": b, "c": c}) is wanted(b, c)


@pytest.mark.parametrize(("name", "true"), [("extui", 1), ("index_cast", 1), ("extsi", -1)])
def test_a_condition_as_a_number(name: str, true: int) -> None:
    assert _made(name, TRUE)[0] is const(true)
    assert _made(name, FALSE)[0] is const(0)
    made, symbols = _made(name, B)
    assert isinstance(made, Expr) and symbols.kinds == {"r": SymbolKind.DEFINED}
    for b in (False, True):
        for r in (0, true):
            assert holds(symbols.facts, {"r": r}, {"b": b}) is (r == (true if b else 0))


@pytest.mark.parametrize("name", ["index_cast", "extsi", "extui", "trunci"])
def test_casts_of_sizes_keep_the_number(name: str) -> None:
    for dtype in (INDEX, INT32, INT64):
        assert _made(name, N, dtype=dtype)[0] is N
    made, symbols = _made(name, S, dtype=INT64)
    assert (made is S) is (name != "extui")
    assert symbols.kinds == ({"r": SymbolKind.OPAQUE} if name == "extui" else {})
    assert _made(name, None)[0] is None


@pytest.mark.parametrize(("dtype", "bits"), [(INT8, 8), (INT16, 16)])
@pytest.mark.parametrize("name", ["addi", "subi", "muli", "shli", "trunci", "index_cast"])
def test_few_bits_wrap_around(name: str, dtype: DType, bits: int) -> None:
    half = 1 << bits - 1
    args: tuple[Expr, ...] = (S,) if name in ("trunci", "index_cast") else (S, const(2))
    made, _ = _made(name, *args, dtype=dtype)
    assert isinstance(made, Expr) and (made.lo, made.hi) == (-half, half - 1)
    for s in (0, 1, -1, half // 2 - 1, half // 2, half - 3, half - 2, half - 1, half, -half, -half - 1, 2 * half):
        exact = s if len(args) == 1 else _BINARY[name](s, 2)
        assert evaluate(made, {"s": s}) == (exact + half) % (2 * half) - half


@pytest.mark.parametrize(("lo", "hi", "kept"), [
    (-128, 127, True), (-128, 128, False), (-129, 127, False), (None, 127, False), (-128, None, False),
])
def test_what_fits_does_not_wrap(lo: int | None, hi: int | None, kept: bool) -> None:
    value = symbol("v", lo, hi)
    assert (_made("trunci", value, dtype=INT8)[0] is value) is kept


def test_a_quotient_in_few_bits_does_not_wrap() -> None:
    assert _made("divsi", N, const(2), dtype=INT8)[0] is N // 2


def test_select() -> None:
    chosen = Scalars(Symbols()).select
    assert chosen("r", TRUE, N, S) is N and chosen("r", FALSE, N, S) is S and chosen("r", B, N, N) is N
    assert chosen("r", None, N, N) is N and chosen("r", B, None, N) is None and chosen("r", B, N, None) is None
    both = chosen("r", B, C, ~C)
    assert isinstance(both, Cond)
    for b, c in product((False, True), repeat=2):
        assert holds(both, {}, {"b": b, "c": c}) is (c if b else not c)


def test_a_select_by_what_nobody_knows_is_not_known() -> None:
    symbols = Symbols()
    assert Scalars(symbols).select("r", None, N, S) is not None
    assert symbols.kinds == {"r": SymbolKind.OPAQUE} and symbols.facts is TRUE


@pytest.mark.parametrize(("a", "b", "lo", "hi"), [
    (N, const(-3), -3, None), (symbol("v", 2, 9), const(4), 2, 9), (symbol("v", 2, 9), const(12), 2, 12),
    (symbol("v", 2, 9), const(1), 1, 9), (S, const(4), None, None),
])
def test_a_select_has_the_range_of_both(a: Expr, b: Expr, lo: int | None, hi: int | None) -> None:
    for first, second in ((a, b), (b, a)):
        symbols = Symbols()
        made = Scalars(symbols).select("r", B, first, second)
        assert isinstance(made, Expr) and (made.lo, made.hi) == (lo, hi)
        assert symbols.facts is (~B | eq(made, first)) & (B | eq(made, second))


@pytest.mark.parametrize("low", [0, 3])
@pytest.mark.parametrize("asked", [
    lambda v, low: eq(v, low), lambda v, low: eq(v, low + 1), lambda v, low: ~eq(v, low), lambda v, low: v > low,
    lambda v, low: v <= low, lambda v, low: eq(2 * v, 2 * low + 2), lambda v, low: -v >= -low,
])
def test_a_select_by_one_of_two_values_is_linear(asked: Callable[[Expr, int], Cond], low: int) -> None:
    v = symbol("v", low, low + 1)
    symbols = Symbols()
    made = Scalars(symbols).select("r", asked(v, low), N + 7, N)
    assert isinstance(made, Expr) and not symbols.kinds
    for value in (low, low + 1):
        truth = holds(asked(v, low), {"v": value})
        assert evaluate(made, {"v": value, "n": 5}) == (12 if truth else 5)


@pytest.mark.parametrize("cond", [
    eq(symbol("v", 0, 2), 1), eq(symbol("v", 0), 1), eq(N - S, 1), eq(symbol("v", 0, 1) * S, 1), B,
])
def test_a_select_by_one_of_more_values_is_a_number_of_its_own(cond: Cond) -> None:
    symbols = Symbols()
    Scalars(symbols).select("r", cond, N + 7, N)
    assert symbols.kinds == {"r": SymbolKind.DEFINED}


@pytest.mark.parametrize(("e", "wanted"), [
    (N - 4 * (N // 4), N % 4), (N + 3 - 4 * (N // 4), N % 4 + 3), (3 * N - 12 * (N // 4), 3 * (N % 4)),
    (4 * (N // 4) - N, -(N % 4)), (S - 4 * (S // 4) + N - 2 * (N // 2), S % 4 + N % 2),
    (N + S - 4 * ((N + S) // 4), (N + S) % 4),
])
def test_what_is_left_of_a_quotient_is_a_remainder(e: Expr, wanted: Expr) -> None:
    assert with_remainders(e) is wanted


@pytest.mark.parametrize("e", [
    N - 3 * (N // 4), N - 4 * (S // 4), 2 * N - 4 * (N // 4), N - (N // 4), N * S - 4 * (N // 4), N, const(3),
])
def test_what_is_no_remainder_stays(e: Expr) -> None:
    assert with_remainders(e) is e
