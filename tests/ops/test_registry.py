"""Every op of PyPTO has a declaration; a call is checked against it before its rule runs."""

from __future__ import annotations

from collections import Counter

import pytest

from pypto_verified.dtypes import FP16, FP32, INDEX, INT32
from pypto_verified.errors import NotModelled, OpError
from pypto_verified.ir.expr import NO_ARG, Cast, Const, Span
from pypto_verified.ir.types import ScalarType
from pypto_verified.layouts import Pad, Space
from pypto_verified.ops import events
from pypto_verified.ops.build import make_call
from pypto_verified.ops.registry import OPS, lookup
from tests.ops.common import call, index, numbers, scalar, tensor, tile


def test_all_312_ops_are_declared() -> None:
    """The events of the instruction set are ours: PyPTO has only the flags below them."""
    theirs = OPS.keys() - {d.name for d in events.OPS}
    families = Counter(name.split(".")[0] for name in theirs)
    assert len(theirs) == 312
    assert families == {
        "tile": 138, "tensor": 105, "system": 22, "pld": 23, "builtin": 8, "dist": 5, "prefetch": 4, "test": 4,
        "array": 3,
    }


@pytest.mark.parametrize("name", OPS)
def test_a_declaration_is_consistent(name: str) -> None:
    d = lookup(name)
    assert d.source
    assert d.inplace is None or d.inplace < len(d.params)
    assert d.space_from is None or d.params[d.space_from].kind == "tile"
    assert set(d.signature) == {p.name for p in d.params} | {k.name for k in d.keywords}
    assert not (d.view and d.noalias)
    required = [not p.optional for p in d.params]
    assert required == sorted(required, reverse=True), "optional operands come last"


def test_an_unknown_op_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(OpError, match=r"unknown op tile.rowsum") as e:
        lookup("tile.rowsum")
    assert "tile.row_sum" in e.value.help


@pytest.mark.parametrize("name", ["tensor.add", "pld.tensor.allreduce", "tile.matmul_mx", "array.create"])
def test_a_known_op_without_a_rule_is_not_modelled(name: str) -> None:
    with pytest.raises(NotModelled, match=name):
        make_call(name, (), {})


def test_an_error_says_where_what_and_how_to_go_on() -> None:
    span = Span("kernel.py", 7, 5)
    with pytest.raises(OpError) as e:
        make_call("tile.add", (tile(16, 64), tile(16, 32)), {}, span)
    assert str(e.value).startswith("kernel.py:7:5: tile.add:")
    assert "[16, 64]" in str(e.value) and "[16, 32]" in str(e.value)
    assert "row_expand" in e.value.help


def test_operand_count() -> None:
    with pytest.raises(OpError, match="1 operands given, 2 expected"):
        call("tile.add", tile(16, 64))
    with pytest.raises(OpError, match="5 operands given, 3 to 4 expected"):
        call("tile.matmul_acc", *[tile(16, 64)] * 5)


def test_operand_kind() -> None:
    with pytest.raises(OpError, match="rhs must be a tile, got INDEX scalar"):
        call("tile.add", tile(16, 64), index("n"))
    with pytest.raises(OpError, match="tensor must be a tensor, got FP32 tile"):
        call("tile.load", tile(16, 64), numbers(0, 0), numbers(16, 64))


def test_a_missing_operand_in_the_middle() -> None:
    with pytest.raises(OpError, match="operand lhs is missing"):
        call("tile.add", NO_ARG, tile(16, 64))


def test_the_space_of_an_operand_is_not_judged_here() -> None:
    assert call("tile.add", tile(16, 64, space=None), tile(16, 64, space=Space.MAT))


def test_unknown_keyword() -> None:
    with pytest.raises(OpError, match="unknown keyword 'clmp'") as e:
        call("tile.load", tensor(64, 64), numbers(0, 0), numbers(16, 64), clmp=True)
    assert "'clamp'" in e.value.help


def test_a_required_keyword() -> None:
    with pytest.raises(OpError, match="keyword target_type is required"):
        call("tile.cast", tile(16, 64))


def test_a_keyword_of_another_kind() -> None:
    with pytest.raises(OpError, match="clamp is 1, not True or False"):
        call("tile.load", tensor(64, 64), numbers(0, 0), numbers(16, 64), clamp=1)
    with pytest.raises(OpError, match=r"mode is 'nearest', not one of 'none' \(0\), 'rint' \(1\)"):
        call("tile.cast", tile(16, 64), target_type=FP16, mode="nearest")


def test_defaults_are_filled_in() -> None:
    load = call("tile.load", tensor(64, 64), numbers(0, 0), numbers(16, 64))
    assert load.kwargs == (("clamp", False), ("target_memory", Space.VEC))
    assert load.args[3] == load.args[2], "no valid_shape means the whole window"
    assert call("tile.cast", tile(16, 64), target_type=FP16).kwarg("mode") == 2, "PyPTO rounds half away by default"


@pytest.mark.parametrize(("mode", "code"), [("none", 0), ("rint", 1), ("floor", 3), ("ceil", 4), ("trunc", 5), (6, 6)])
def test_rounding_modes_become_codes(mode: str | int, code: int) -> None:
    assert call("tile.cast", tile(16, 64), target_type=INT32, mode=mode).kwarg("mode") == code


@pytest.mark.parametrize(
    ("value", "pad"), [(Pad.MIN, Pad.MIN), (0, Pad.ZERO), (float("inf"), Pad.MAX), (float("-inf"), Pad.MIN)]
)
def test_pads_may_be_numbers(value: Pad | int | float, pad: Pad) -> None:
    assert call("tile.fillpad", tile(16, 64), pad_value=value).kwarg("pad_value") is pad


def test_a_constant_scalar_adopts_the_tiles_element_type() -> None:
    assert call("tile.muls", tile(16, 64, dtype=FP16), Const(2)).args[1] == Const(2.0, FP16)
    assert call("tile.adds", tile(16, 64, dtype=INT32), Const(3.0, FP32)).args[1] == Const(3, INT32)


def test_a_selected_constant_adopts_the_values_type_not_the_masks() -> None:
    x = tile(16, 32, dtype=FP16)
    chosen = call("tile.sels", call("tile.cmps", x, Const(0)), x, tile(1, 32, dtype=FP16), Const(1))
    assert chosen.args[3] == Const(1.0, FP16)


def test_a_constant_that_the_element_type_cannot_hold() -> None:
    with pytest.raises(OpError, match=r"rhs is 0\.5, which INT32 can't hold"):
        call("tile.muls", tile(16, 64, dtype=INT32), Const(0.5, FP32))


def test_a_scalar_of_the_same_kind_is_converted_where_it_is_seen() -> None:
    s = scalar("s", FP32)
    assert call("tile.muls", tile(16, 64, dtype=FP16), s).args[1] == Cast(s, FP16)
    assert call("tile.muls", tile(16, 64), s).args[1] == s


def test_an_index_scalar_is_not_converted_silently() -> None:
    with pytest.raises(OpError, match="rhs is INDEX but the op needs FP32") as e:
        call("tile.adds", tile(16, 64), index("n"))
    assert "pl.cast(rhs, pl.FP32)" in e.value.help


def test_a_shift_count_is_int32() -> None:
    assert call("tile.shls", tile(16, 64, dtype=INT32), Const(4)).args[1] == Const(4, INT32)


def test_building_a_call_again_changes_nothing() -> None:
    first = call("tile.muls", tile(16, 64, dtype=FP16), scalar("s", FP32))
    again = make_call(first.op, first.args, dict(first.kwargs))
    assert again == first


def test_launch_queries_are_index_scalars() -> None:
    assert call("tile.get_block_idx").type == ScalarType(INDEX)
