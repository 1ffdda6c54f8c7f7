"""Types of pointers: in full, and without their name where nothing but a pointer can stand."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import FP32, INT8
from pypto_verified.errors import ParseError
from pypto_verified.layouts import Space
from pypto_verified.pto.reader import read
from pypto_verified.pto.types import PtrType, Type
from pypto_verified.pto.walk import walk_ops


def _result(line: str) -> Type:
    head = "module {\n  func.func @f(%p: !pto.ptr<f32>, %n: index, %a: i64) {\n"
    op = next(walk_ops(read(f"{head}    %r = {line}\n    return\n  }}\n}}\n").funcs[0]))
    return op.result.type


@pytest.mark.parametrize(("spelled", "type_"), [
    ("!pto.ptr<f32>", PtrType(FP32)), ("<f32>", PtrType(FP32)), ("<i8>", PtrType(INT8)),
    ("<f32, ub>", PtrType(FP32, Space.VEC)),
    ("!pto.ptr<f32, ub>", PtrType(FP32, Space.VEC)), ("<f32, gm>", PtrType(FP32)),
])
@pytest.mark.parametrize("line", ["pto.addptr %p, %n : !pto.ptr<f32> -> {}", "pto.inttoptr %a : i64 -> {}"])
def test_a_pointer_that_an_op_makes(line: str, spelled: str, type_: PtrType) -> None:
    assert _result(line.format(spelled)) == type_


@pytest.mark.parametrize("line", [
    "pto.load_scalar %p[%n] : !pto.ptr<f32> -> <f32>", "pto.alloc_tile : <f32>",
    "pto.addptr %p, %n : !pto.ptr<f32> -> <f32", "pto.get_tensor_view_dim %p, %n : !pto.ptr<f32> -> <f32>",
])
def test_elsewhere_a_type_has_its_name(line: str) -> None:
    with pytest.raises(ParseError):
        _result(line)
