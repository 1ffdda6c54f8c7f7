"""Scalar expressions: Python's meaning on signed, unsigned and float operands."""

from __future__ import annotations

import pytest

from pypto_verified.codegen.expr import common_dtype
from pypto_verified.dtypes import BF16, BOOL, FP16, FP32, INDEX, INT8, INT32, INT64, UINT8, UINT32, DType
from pypto_verified.errors import CodegenError, NotModelled
from pypto_verified.ir.expr import Binary, BinaryOp, Cast, Const, Expr, Span, Unary, UnaryOp
from pypto_verified.ir.stmt import Assign, For
from tests.codegen.build import kernel, let, lines, scalar, without_constants

B = BinaryOp
A, C = scalar("a"), scalar("c")


def ops(expr: Expr, dtype: DType = INDEX, operand: DType = INDEX, dynamic: tuple[str, ...] = ()) -> list[str]:
    """The lines for `r = expr` over parameters a, c of type `operand`."""
    params = () if dynamic else (scalar("a", operand), scalar("c", operand))
    body = [Assign(scalar("r", dtype), expr, Span("k.py", 3, 1, 3, 9))]
    return without_constants(lines(kernel([*body], *params, dynamic=dynamic)))


def two(op: BinaryOp, dtype: DType, result: DType | None = None) -> Binary:
    return Binary(op, scalar("a", dtype), scalar("c", dtype), result or dtype)


@pytest.mark.requirement("CG-04")
@pytest.mark.parametrize(
    ("op", "signed", "unsigned", "floating"),
    [
        (B.ADD, "addi", "addi", "addf"), (B.SUB, "subi", "subi", "subf"), (B.MUL, "muli", "muli", "mulf"),
        (B.MIN, "minsi", "minui", "minimumf"), (B.MAX, "maxsi", "maxui", "maximumf"),
        (B.BITAND, "andi", "andi", ""), (B.BITOR, "ori", "ori", ""), (B.BITXOR, "xori", "xori", ""),
        (B.SHL, "shli", "shli", ""), (B.SHR, "shrsi", "shrui", ""),
        (B.FLOORDIV, "floordivsi", "divui", ""), (B.MOD, "", "remui", ""), (B.DIV, "", "", "divf"),
    ],
)
def test_operator_by_signedness(op: BinaryOp, signed: str, unsigned: str, floating: str) -> None:
    if signed:
        assert ops(two(op, INT32), INT32, INT32) == [f"%r = arith.{signed} %arg0, %arg1 : i32"]
    if unsigned:
        assert ops(two(op, UINT32), UINT32, UINT32) == [
            "%0 = builtin.unrealized_conversion_cast %arg0 : ui32 to i32",
            "%1 = builtin.unrealized_conversion_cast %arg1 : ui32 to i32",
            f"%r = arith.{unsigned} %0, %1 : i32",
        ]
    if floating:
        assert ops(two(op, FP32), FP32, FP32) == [f"%r = arith.{floating} %arg0, %arg1 : f32"]


@pytest.mark.requirement("CG-04")
@pytest.mark.parametrize(
    ("op", "signed", "unsigned", "floating"),
    [(B.EQ, "eq", "eq", "oeq"), (B.NE, "ne", "ne", "une"), (B.LT, "slt", "ult", "olt"), (B.LE, "sle", "ule", "ole"),
     (B.GT, "sgt", "ugt", "ogt"), (B.GE, "sge", "uge", "oge")],
)
def test_comparison_by_signedness(op: BinaryOp, signed: str, unsigned: str, floating: str) -> None:
    # The real compiler compares unsigned values as if they were signed.
    assert ops(two(op, INDEX, BOOL), BOOL)[-1] == f"%r = arith.cmpi {signed}, %arg0, %arg1 : index"
    assert ops(two(op, UINT32, BOOL), BOOL, UINT32)[-1] == f"%r = arith.cmpi {unsigned}, %0, %1 : i32"
    assert ops(two(op, FP32, BOOL), BOOL, FP32)[-1] == f"%r = arith.cmpf {floating}, %arg0, %arg1 : f32"


SEVEN = Const(7)


@pytest.mark.requirement("CG-04")
def test_floor_division_of_a_value_that_may_be_negative() -> None:
    # The real compiler prints divsi: -1 // 7 would be 0 instead of -1.
    assert ops(Binary(B.FLOORDIV, A, SEVEN, INDEX)) == ["%r = arith.floordivsi %arg0, %c7_index : index"]


@pytest.mark.requirement("CG-04")
def test_modulo_of_a_value_that_may_be_negative_has_the_sign_of_the_divisor() -> None:
    # The real compiler prints remsi: -1 % 7 would be -1 instead of 6.
    assert ops(Binary(B.MOD, A, SEVEN, INDEX)) == [
        "%0 = arith.floordivsi %arg0, %c7_index : index",
        "%1 = arith.muli %0, %c7_index : index",
        "%r = arith.subi %arg0, %1 : index",
    ]


def _safe(dim: str) -> list[Expr]:
    m = scalar(dim)
    return [
        m, Binary(B.ADD, m, Const(3), INDEX), Binary(B.MUL, m, m, INDEX), Binary(B.MIN, m, Const(3), INDEX),
        Binary(B.MAX, Binary(B.SUB, m, Const(9), INDEX), Const(0), INDEX), Binary(B.FLOORDIV, m, Const(2), INDEX),
        Binary(B.MOD, Binary(B.SUB, m, Const(9), INDEX), Const(4), INDEX),
    ]


@pytest.mark.requirement("CG-04")
@pytest.mark.parametrize("operand", _safe("M"), ids=["dim", "sum", "product", "min", "max", "quotient", "remainder"])
def test_division_truncates_only_where_that_is_the_same(operand: Expr) -> None:
    assert ops(Binary(B.FLOORDIV, operand, SEVEN, INDEX), dynamic=("M",))[-1].startswith("%r = arith.divsi ")
    assert ops(Binary(B.MOD, operand, SEVEN, INDEX), dynamic=("M",))[-1].startswith("%r = arith.remsi ")


@pytest.mark.requirement("CG-04")
@pytest.mark.parametrize(
    "operand",
    [Binary(B.SUB, scalar("M"), Const(1), INDEX), Unary(UnaryOp.NEG, scalar("M"), INDEX),
     Binary(B.MIN, scalar("M"), Const(-3), INDEX), Binary(B.MOD, scalar("M"), Const(-3), INDEX)],
    ids=["difference", "negative", "min", "negative-modulus"],
)
def test_division_of_the_rest_is_a_floor(operand: Expr) -> None:
    assert ops(Binary(B.FLOORDIV, operand, SEVEN, INDEX), dynamic=("M",))[-1].startswith("%r = arith.floordivsi ")


@pytest.mark.requirement("CG-04")
@pytest.mark.parametrize(("value", "op"), [
    (Binary(B.MUL, scalar("M"), Const(2), INDEX), "divsi"),
    (Binary(B.SUB, scalar("M"), Const(1), INDEX), "floordivsi")])
def test_a_name_is_negative_where_its_value_may_be(value: Expr, op: str) -> None:
    named = [Assign(scalar("d"), value), Assign(scalar("r"), Binary(B.FLOORDIV, scalar("d"), SEVEN, INDEX))]
    assert lines(kernel(named, dynamic=("M",)))[-1].startswith(f"%r = arith.{op} %d, ")


@pytest.mark.requirement("CG-04")
@pytest.mark.parametrize(("start", "op"), [(Const(0), "remsi"), (Const(-4), "floordivsi")])
def test_a_loop_counter_is_not_negative_if_its_start_is_not(start: Const, op: str) -> None:
    i = scalar("i")
    loop = For(i, start, A, Const(1), (), (Assign(scalar("r"), Binary(B.MOD, i, Const(2), INDEX)),), ())
    assert any(f"arith.{op} %i, %c2_index" in line for line in lines(kernel([loop], A)))


@pytest.mark.requirement("CG-04")
def test_a_block_index_is_not_negative() -> None:
    i = scalar("i")
    body = [let(i, "tile.get_block_idx"), Assign(scalar("r"), Binary(B.FLOORDIV, i, Const(2), INDEX))]
    assert lines(kernel([*body]))[-1] == "%r = arith.divsi %i, %c2_index : index"


@pytest.mark.requirement("CG-04")
def test_logic_and_negation() -> None:
    p, q = scalar("a", BOOL), scalar("c", BOOL)
    for op, name in ((B.AND, "andi"), (B.OR, "ori"), (B.XOR, "xori")):
        assert ops(Binary(op, p, q, BOOL), BOOL, BOOL) == [f"%r = arith.{name} %arg0, %arg1 : i1"]
    assert ops(Unary(UnaryOp.NOT, p, BOOL), BOOL, BOOL)[0].startswith("%r = arith.xori %arg0, %")
    assert ops(Binary(B.AND, A, C, BOOL), BOOL)[0] == "%0 = arith.cmpi ne, %arg0, %c0_index : index"


@pytest.mark.requirement("CG-04")
def test_unary_operators() -> None:
    f, n = scalar("a", FP32), scalar("a", INT32)
    assert ops(Unary(UnaryOp.NEG, f, FP32), FP32, FP32) == ["%r = arith.negf %arg0 : f32"]
    assert ops(Unary(UnaryOp.NEG, n, INT32), INT32, INT32) == ["%r = arith.subi %c0_i32, %arg0 : i32"]
    assert ops(Unary(UnaryOp.BITNOT, n, INT32), INT32, INT32) == ["%r = arith.xori %arg0, %cn1_i32 : i32"]
    assert ops(Unary(UnaryOp.ABS, n, INT32), INT32, INT32) == [
        "%0 = arith.subi %c0_i32, %arg0 : i32", "%r = arith.maxsi %arg0, %0 : i32"]
    assert ops(Unary(UnaryOp.ABS, f, FP32), FP32, FP32) == [
        "%0 = arith.negf %arg0 : f32", "%r = arith.maximumf %arg0, %0 : f32"]


@pytest.mark.requirement("CG-15")
@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (INT32, INDEX, ["%r = arith.index_cast %arg0 : i32 to index"]),
        (INDEX, INT32, ["%r = arith.index_cast %arg0 : index to i32"]),
        (INT8, INT32, ["%r = arith.extsi %arg0 : i8 to i32"]),
        (INT64, INT32, ["%r = arith.trunci %arg0 : i64 to i32"]),
        (INT32, FP32, ["%r = arith.sitofp %arg0 : i32 to f32"]),
        (FP32, INT32, ["%r = arith.fptosi %arg0 : f32 to i32"]),
        (FP16, FP32, ["%r = arith.extf %arg0 : f16 to f32"]),
        (FP32, BF16, ["%r = arith.truncf %arg0 : f32 to bf16"]),
        (FP16, BF16, ["%0 = arith.extf %arg0 : f16 to f32", "%r = arith.truncf %0 : f32 to bf16"]),
        (INDEX, FP32, ["%0 = arith.index_cast %arg0 : index to i64", "%r = arith.sitofp %0 : i64 to f32"]),
        (INT32, BOOL, ["%r = arith.cmpi ne, %arg0, %c0_i32 : i32"]),
        (BOOL, INT32, ["%r = arith.extui %arg0 : i1 to i32"]),
    ],
    ids=lambda v: v.name if isinstance(v, DType) else "",
)
def test_scalar_conversions(source: DType, target: DType, expected: list[str]) -> None:
    assert ops(Cast(scalar("a", source), target), target, source) == expected


@pytest.mark.requirement("CG-15")
def test_an_unsigned_value_widens_with_zeros() -> None:
    assert ops(Cast(scalar("a", UINT8), INT32), INT32, UINT8)[-1] == "%r = arith.extui %0 : i8 to i32"
    assert ops(Cast(scalar("a", UINT32), INDEX), INDEX, UINT32)[-1] == "%r = arith.index_castui %0 : i32 to index"
    assert ops(Cast(scalar("a", UINT32), FP32), FP32, UINT32)[-1] == "%r = arith.uitofp %0 : i32 to f32"


@pytest.mark.requirement("CG-16")
def test_a_scalar_that_is_only_another_name_makes_no_op() -> None:
    assert ops(A) == [] and ops(Const(3)) == []


@pytest.mark.parametrize(("left", "right", "common"), [
    (INT32, INDEX, INDEX), (INDEX, INT64, INDEX), (INT8, INT32, INT32), (INT64, INT32, INT64), (FP32, INT64, FP32),
])
def test_two_operands_meet_in_the_wider_type_and_with_an_index_in_an_index(
    left: DType, right: DType, common: DType
) -> None:
    assert common_dtype(scalar("a", left), scalar("b", right)) is common


@pytest.mark.parametrize(("number", "other"), [(Const(2), INT8), (Const(2, INT32), INT8), (Const(0.5, FP32), FP16)])
def test_a_number_takes_the_type_of_the_other_operand(number: Const, other: DType) -> None:
    assert common_dtype(number, scalar("b", other)) is other
    assert common_dtype(scalar("b", other), number) is other


def test_a_fraction_does_not_become_an_integer() -> None:
    assert common_dtype(Const(0.5, FP32), A) is FP32
    assert common_dtype(A, Const(0.5, FP32)) is FP32


def test_operators_without_an_instruction_are_refused_at_their_place() -> None:
    with pytest.raises(CodegenError, match="no instruction divides INT32 scalars") as caught:
        ops(two(B.DIV, INT32), INT32, INT32)
    assert caught.value.location.line == 3
    for expr in (two(B.POW, INDEX), two(B.MOD, FP32), two(B.FLOORDIV, FP32)):
        with pytest.raises(NotModelled, match="scalar operator"):
            ops(expr, expr.dtype, expr.dtype)
