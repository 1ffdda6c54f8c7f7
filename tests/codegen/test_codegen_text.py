"""Properties of the whole text: it reads back, it is the same every time, and nothing but the IR decides it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from pypto_verified.codegen import generate, generate_text
from pypto_verified.dtypes import BOOL, FP32, INDEX, UINT32
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Span, Var
from pypto_verified.ir.stmt import Assign, For, Function, If, IterArg, Stmt, While, Yield
from pypto_verified.pto.module import Module
from pypto_verified.pto.reader import read
from pypto_verified.pto.writer import write
from pypto_verified.targets import A2A3, A5, TARGETS
from tests.codegen.build import do, kernel, let, nums, scalar, tensor, tile

M, N, U = scalar("M"), scalar("n"), scalar("u", UINT32)
A, OUT = Var("a", tensor(M, 64)), Var("out", tensor(M, 64))
X, Y, PHI = Var("x", tile(16, 64, valid=(N, 64))), Var("y", tile(16, 64, at=4096)), Var("phi", tile(16, 64, at=4096))
W = Var("w", tile(8, 32, at=4096, base="mem_vec_4096"))


def _everything() -> Function:
    """Every kind of statement once."""
    r, k, r2 = scalar("r"), scalar("k"), scalar("r2")
    load = let(X, "tile.load", A, nums(r, 0), nums(16, 64), nums(N, 64))
    above = Binary(BinaryOp.GT, U, Const(3, UINT32), BOOL)
    one, two = Var("one", Y.type), Var("two", Y.type)
    branch = If(above, (let(one, "tile.exp", X), Yield((one, Const(1)))),
                (let(two, "tile.adds", X, Const(0.1, FP32)), Yield((two, r))), (PHI, k))
    row = Binary(BinaryOp.FLOORDIV, Binary(BinaryOp.SUB, k, N, INDEX), Const(2), INDEX)
    body: Sequence[Stmt] = (
        load, branch, let(W, "tile.slice", PHI, nums(8, 32), nums(0, 32)),
        do("tile.store", PHI, nums(row, 0), OUT),
        Yield((Binary(BinaryOp.ADD, r, Const(16), INDEX),)),
    )
    loop = For(scalar("i"), Const(0), M, Const(16), (IterArg(r, Const(0)),), tuple(body), (scalar("end"),))
    double = Assign(scalar("d"), Binary(BinaryOp.MUL, r2, Const(2), INDEX))
    going = Binary(BinaryOp.LT, r2, M, BOOL)
    spin = While(going, (IterArg(r2, Const(1)),), (double, Yield((scalar("d"),))), (scalar("z"),))
    return kernel([loop, spin], A, OUT, N, U, dynamic=("M",))


@pytest.mark.requirement("CG-01")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("addresses", [True, False])
def test_the_text_reads_back_as_the_module(target: str, addresses: bool) -> None:
    module = generate([_everything()], TARGETS[target], emit_tile_addr=addresses)
    assert read(write(module)) == module


@pytest.mark.requirement("CG-01")
def test_the_same_ir_gives_the_same_text() -> None:
    assert write(generate([_everything()], A2A3)) == write(generate([_everything()], A2A3))


@pytest.mark.requirement("CG-18")
def test_ops_carry_the_users_place_unless_asked_not_to() -> None:
    load = let(X, "tile.load", A, nums(0, 0), nums(16, 64), nums(N, 64), span=Span("k.py", 7, 5, 7, 30))
    function = kernel([load], A, N, dynamic=("M",))
    assert _places(generate([function], A2A3)) == {7}
    assert not _places(generate([function], A2A3, emit_source_loc=False))


def test_the_text_is_that_of_the_module_with_places_and_addresses() -> None:
    load = let(X, "tile.load", A, nums(0, 0), nums(16, 64), nums(N, 64), span=Span("k.py", 7, 5, 7, 30))
    function = kernel([load], A, N, dynamic=("M",))
    text = generate_text([function], A2A3)
    assert text == write(generate([function], A2A3))
    assert "alloc_tile addr = %" in text and 'loc("k.py":7:5)' in text


def _places(module: Module) -> set[int]:
    body = module.funcs[0].body
    assert body is not None
    return {op.loc.line for op in body.ops} - {0}


@pytest.mark.requirement("CG-01")
def test_the_targets_differ_in_their_name_only() -> None:
    a2a3, a5 = write(generate([_everything()], A2A3)), write(generate([_everything()], A5))
    assert a2a3.replace('pto.target_arch = "a2a3"', 'pto.target_arch = "a5"') == a5


@pytest.mark.requirement("CG-01")
def test_code_generation_imports_no_pass_and_no_solver() -> None:
    program = "import sys, pypto_verified.codegen; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "pypto_verified.codegen.function" in loaded
    assert not {m for m in loaded if m.startswith(("pypto_verified.passes", "verifiers", "z3"))}
