"""What kernel statements and expressions become in IR."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import BOOL, FP16, FP32, INDEX, INT32
from pypto_verified.ir.expr import Binary, BinaryOp, Call, Cast, Const, Expr, MakeTuple, Unary, UnaryOp, Var
from pypto_verified.ir.stmt import (
    Assign,
    Break,
    Continue,
    Eval,
    For,
    If,
    LoopKind,
    Return,
    Stmt,
    While,
    Yield,
)
from pypto_verified.ir.types import ScalarType, TileType
from pypto_verified.language import load_source

HEAD = """\
import pypto.language as pl
ROWS = 16
SHAPE = [ROWS, 4 * ROWS]
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], m: pl.Scalar[pl.INT32], h: pl.Scalar[pl.FP16]):
"""
N = Var("n", ScalarType(INDEX))
M = Var("m", ScalarType(INT32))
H = Var("h", ScalarType(FP16))


def body(*lines: str) -> tuple[Stmt, ...]:
    text = HEAD + "".join(f"    {line}\n" for line in lines)
    (program,) = load_source(text, "k.py").programs
    assert not program.functions[0].opaque
    return program.functions[0].body


def value(text: str) -> Expr:
    (assign,) = body(f"x = {text}")
    assert isinstance(assign, Assign)
    return assign.value


def call(text: str) -> Call:
    e = value(text)
    assert isinstance(e, Call)
    return e


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n + 1", Binary(BinaryOp.ADD, N, Const(1), INDEX)),
        ("2 * ROWS - n", Binary(BinaryOp.SUB, Const(32), N, INDEX)),
        ("n // 4 % 3", Binary(BinaryOp.MOD, Binary(BinaryOp.FLOORDIV, N, Const(4), INDEX), Const(3), INDEX)),
        ("m + n", Binary(BinaryOp.ADD, Cast(M, INDEX), N, INDEX)),
        ("m > 0", Binary(BinaryOp.GT, Cast(M, INDEX), Const(0), BOOL)),
        ("m + pl.const(1, pl.INT32)", Binary(BinaryOp.ADD, M, Const(1, INT32), INT32)),
        ("h * 0.5", Binary(BinaryOp.MUL, Cast(H, FP32), Const(0.5, FP32), FP32)),
        ("pl.min(n, 32)", Binary(BinaryOp.MIN, N, Const(32), INDEX)),
        ("max(n, 1, 2)", Binary(BinaryOp.MAX, Binary(BinaryOp.MAX, N, Const(1), INDEX), Const(2), INDEX)),
        ("n << 2", Binary(BinaryOp.SHL, N, Const(2), INDEX)),
        ("not n < 3", Unary(UnaryOp.NOT, Binary(BinaryOp.LT, N, Const(3), BOOL), BOOL)),
        ("-n", Unary(UnaryOp.NEG, N, INDEX)),
        ("-3", Const(-3)),
        ("pl.cast(m, pl.INDEX)", Cast(M, INDEX)),
        ("pl.tensor.dim(a, -1)", Const(64)),
        ("a.shape[0]", Const(64)),
        ("SHAPE[1] // 2", Const(32)),
        ("sum(SHAPE)", Const(80)),
        ("max([n * 2 for n in SHAPE])", Const(128)),
        ("pl.FP32.get_byte() * 2", Const(8)),
        ("True", Const(True, BOOL)),
        ("n if ROWS > 8 else 0", N),
    ],
)
def test_scalar_expressions(text: str, expected: Expr) -> None:
    assert value(text) == expected


def test_and_or_evaluate_left_to_right() -> None:
    lt, gt = Binary(BinaryOp.LT, N, Const(5), BOOL), Binary(BinaryOp.GT, N, Const(1), BOOL)
    ne = Binary(BinaryOp.NE, N, Const(3), BOOL)
    assert value("n < 5 and n > 1 and n != 3") == Binary(
        BinaryOp.AND, Binary(BinaryOp.AND, lt, gt, BOOL), ne, BOOL)


def test_operands_are_bound_by_position_and_by_name() -> None:
    by_name = call("pl.load(shapes=SHAPE, tensor=a, offsets=[n, 0])")
    assert by_name == call("pl.load(a, [n, 0], SHAPE)")
    assert by_name.args[1:3] == (MakeTuple((N, Const(0))), MakeTuple((Const(16), Const(64))))


@pytest.mark.parametrize(
    ("text", "op"),
    [
        ("pl.add(pl.load(a, [0, 0], [16, 64]), pl.load(a, [16, 0], [16, 64]))", "tile.add"),
        ("pl.add(pl.load(a, [0, 0], [16, 64]), 1.0)", "tile.adds"),
        ("pl.maximum(pl.load(a, [0, 0], [16, 64]), 0)", "tile.maximums"),
        ("pl.tile.muls(pl.load(a, [0, 0], [16, 64]), 2.0)", "tile.muls"),
        ("pl.create_tile([16, 64], dtype=pl.FP32)", "tile.create"),
        ("pl.get_block_idx()", "tile.get_block_idx"),
        ("pl.read(a, [n, 0])", "tensor.read"),
        ("pl.load(a, [0, 0], [16, 64])[n, 3]", "tile.read"),
        ("a[n, 3]", "tensor.read"),
        ("pl.load(a, [0, 0], [16, 64])[0:8, 32:]", "tile.slice"),
    ],
)
def test_names_dispatch_on_their_operands(text: str, op: str) -> None:
    assert call(text).op == op


def test_a_constant_takes_the_element_type_of_the_tile() -> None:
    assert call("pl.add(pl.load(a, [0, 0], [16, 64]), 1)").args[1] == Const(1.0, FP32)


def test_words_become_the_codes_of_keywords() -> None:
    assert call("pl.cast(pl.load(a, [0, 0], [16, 64]), pl.BF16, mode='rint')").kwarg("mode") == 1
    assert call("pl.cast(pl.load(a, [0, 0], [16, 64]), target_type=pl.BF16)").kwarg("mode") == 2


def test_annotations_add_space_and_view() -> None:
    (assign,) = body("t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[n, 64])] = "
                     "pl.load(a, [0, 0], [16, 64])")
    assert isinstance(assign, Assign) and isinstance(assign.var.type, TileType)
    assert assign.var.type.valid_shape == (N, 64)


def test_loops_carry_what_init_values_and_yield_say() -> None:
    (loop, last) = body(
        "for i, (acc, row) in pl.range(0, n, 2, init_values=(1, 2)):",
        "    acc, row = pl.yield_(row, acc + i)",
        "return acc",
    )
    assert isinstance(loop, For) and isinstance(last, Return)
    assert (loop.start, loop.stop, loop.step, loop.kind) == (Const(0), N, Const(2), LoopKind.SEQUENTIAL)
    assert [(a.var.name, a.init) for a in loop.iter_args] == [("acc", Const(1)), ("row", Const(2))]
    assert [v.name for v in loop.results] == ["acc", "row"]
    (yielded,) = loop.body
    acc, row, i = (Var(x, ScalarType(INDEX)) for x in ("acc", "row", "i"))
    assert isinstance(yielded, Yield) and yielded.values == (row, Binary(BinaryOp.ADD, acc, i, INDEX))


@pytest.mark.parametrize("kind", list(LoopKind))
def test_loop_kinds(kind: LoopKind) -> None:
    extra = ", stage=2" if kind is LoopKind.PIPELINE else ""
    (loop,) = body(f"for i in pl.{kind.value}(4{extra}):", "    pl.write(a, [i, 0], 1.0)")
    assert isinstance(loop, For)
    assert (loop.kind, loop.stop) == (kind, Const(4))


def test_branches_keep_assignments_and_yield_results() -> None:
    first, second = body(
        "if m:", "    x = 1", "else:", "    x = 2",
        "if n > 2:", "    y = pl.yield_(n)", "else:", "    y = pl.yield_(0)",
    )
    assert isinstance(first, If) and isinstance(second, If)
    assert first.cond == Binary(BinaryOp.NE, M, Const(0, INT32), BOOL)
    assert (first.results, [v.name for v in second.results]) == ((), ["y"])


def test_a_branch_on_a_constant_is_decided() -> None:
    (only,) = body("if ROWS > 100:", "    x = 1", "else:", "    x = 2")
    assert isinstance(only, Assign) and only.value == Const(2)


def test_while_and_its_exits() -> None:
    _, loop = body("r = 16", "while r < n:", "    if r == 3:", "        break", "    if r == 4:", "        continue",
                   "    r += 2")
    assert isinstance(loop, While)
    stop, skip, step = loop.body
    assert isinstance(stop, If) and isinstance(stop.then[0], Break)
    assert isinstance(skip, If) and isinstance(skip.then[0], Continue)
    r = Var("r", ScalarType(INDEX))
    assert isinstance(step, Assign) and (step.var, step.value) == (r, Binary(BinaryOp.ADD, r, Const(2), INDEX))


def test_a_carried_while() -> None:
    (loop,) = body("for (r,) in pl.while_(init_values=(1,)):", "    pl.cond(r < n)", "    r = pl.yield_(r * 2)")
    assert isinstance(loop, While)
    assert loop.cond == Binary(BinaryOp.LT, Var("r", ScalarType(INDEX)), N, BOOL)
    assert [v.name for v in loop.results] == ["r"]


def test_stores_for_their_effect_and_scalar_writes() -> None:
    store, write, subscript = body("pl.store(pl.load(a, [0, 0], [8, 64]), [0, 0], a)", "a = pl.write(a, [0, n], 2.0)",
                                   "a[n, 1] = 3.0")
    assert isinstance(store, Eval) and store.call.op == "tile.store"
    assert isinstance(write, Eval) and write.call.op == "tensor.write"
    assert isinstance(subscript, Eval) and subscript.call.args[2] == Const(3.0, FP32)


def test_the_value_of_a_store_that_leaves_a_loop_is_the_tensor_itself() -> None:
    _, loop, last = body(
        "z = pl.tile.full([8, 64], pl.FP32, 0.0)",
        "for i in pl.range(n):",
        "    first = pl.store(z, [0, 0], a)",
        "    second: pl.Tensor[[64, 64], pl.FP32] = pl.store(z, [8, 0], first)",
        "return second",
    )
    assert isinstance(loop, For) and isinstance(last, Return)
    assert [s.var.name for s in loop.body if isinstance(s, Assign)] == ["first", "a"]
    assert [v.name for v in last.values if isinstance(v, Var)] == ["a"]


def test_elsewhere_the_value_of_a_store_has_the_name_it_is_given() -> None:
    _, store, last = body("z = pl.tile.full([8, 64], pl.FP32, 0.0)", "r = pl.store(z, [0, 0], a)", "return r")
    assert isinstance(store, Assign) and isinstance(last, Return)
    assert (store.var.name, last.values) == ("r", (store.var,))


def test_a_name_for_one_of_two_tensors_stays_a_name_of_its_own() -> None:
    text = """\
import pypto.language as pl
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[8, 64], pl.FP32], b: pl.Tensor[[8, 64], pl.FP32], n: pl.Scalar[pl.INDEX]):
    t = pl.load(a, [0, 0], [8, 64])
    if n > 1:
        r = pl.store(t, [0, 0], a)
    else:
        r = pl.store(t, [0, 0], b)
    return r
"""
    (program,) = load_source(text, "k.py").programs
    _, branch, _ = program.functions[0].body
    assert isinstance(branch, If)
    assert [s.var.name for s in (*branch.then, *branch.orelse) if isinstance(s, Assign)] == ["r", "r"]


def test_a_list_of_sizes_is_known_while_translating() -> None:
    (assign,) = body("offsets = [n, 0]", "t = pl.load(a, offsets, SHAPE)")
    assert isinstance(assign, Assign) and isinstance(assign.value, Call)
    assert assign.value.args[1] == MakeTuple((N, Const(0)))
