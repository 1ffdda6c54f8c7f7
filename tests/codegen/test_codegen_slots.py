"""Buffers of several slots when the assembler places them: one region, and what a region can't be."""

from __future__ import annotations

import pytest

from pypto_verified.codegen.regions import RegionError
from pypto_verified.dtypes import BOOL, FP16, INDEX
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Var
from pypto_verified.ir.stmt import For, If, IterArg, Stmt, While, Yield
from pypto_verified.ir.types import Dim, TileType
from pypto_verified.layouts import Space
from tests.codegen.build import buf, kernel, let, lines, nums, scalar, tile, without_constants

F = buf("vec", "f32", 16, 64)
COUNTER, N = scalar("i"), scalar("n")
PARITY = Binary(BinaryOp.MOD, COUNTER, Const(2), INDEX)
OTHER = Binary(BinaryOp.MOD, Binary(BinaryOp.ADD, COUNTER, Const(1), INDEX), Const(2), INDEX)


def ring(slot: Dim, name: str = "x", rows: int = 16, slots: int = 2, valid: tuple[Dim, ...] = ()) -> Var:
    return Var(name, tile(rows, 64, at=0, base="ring", slots=slots, slot=slot, valid=valid))


def make(var: Var) -> Stmt:
    return let(var, "tile.create", nums(1, 1))


def turns(*body: Stmt) -> For:
    return For(COUNTER, Const(0), Const(4), Const(1), (), body, ())


def planned(*body: Stmt) -> list[str]:
    """The lines when the assembler places the tiles."""
    return without_constants(lines(kernel(body, N), addresses=False))


@pytest.mark.requirement("CG-07", "MP-05")
def test_slots_are_one_region_with_the_index_as_it_is_written() -> None:
    region = f"!pto.multi_tile_buf<{F}, count=2>"
    assert planned(turns(make(ring(PARITY)))) == [
        f"%ring_mb = pto.alloc_multi_tile valid_row = %c16_index valid_col = %c64_index : {region}",
        "scf.for %i = %c0_index to %c4_index step %c1_index {",
        "%0 = arith.remsi %i, %c2_index : index",
        f"%x = pto.multi_tile_get %ring_mb[%0] : {region} -> {F}",
    ]


@pytest.mark.requirement("MP-05")
def test_every_use_takes_its_slot_from_the_same_region() -> None:
    found = planned(make(ring(0)), make(ring(1, "y")))
    assert sum("alloc_multi_tile" in line for line in found) == 1
    assert [line.split(" : ")[0] for line in found[1:]] == [
        "%x = pto.multi_tile_get %ring_mb[%c0_index]", "%y = pto.multi_tile_get %ring_mb[%c1_index]"]


def _branch() -> tuple[Stmt, ...]:
    one, two = ring(0, "one"), ring(0, "two")
    test = Binary(BinaryOp.GT, N, Const(0), BOOL)
    return (If(test, (make(one), Yield((one,))), (make(two), Yield((two,))), (ring(0, "phi"),)),)


def _carried() -> tuple[Stmt, ...]:
    acc = ring(0, "acc")
    loop = For(COUNTER, Const(0), Const(4), Const(1), (IterArg(acc, ring(0)),), (Yield((acc,)),), (ring(0, "r"),))
    return (make(ring(0)), loop)


def _left() -> Var:
    return Var("x", tile(16, 64, FP16, Space.LEFT, at=0, base="ring", slots=2))


@pytest.mark.requirement("MP-05")
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ((make(ring(0)), make(ring(1, "y", rows=8))), r"slot 'y' \(\[8, 64\] FP32\): .* differ in shape"),
        ((make(ring(0)), make(ring(1, "y", valid=(8, 64)))), "slot 'y' .* differ in valid shape"),
        ((turns(make(ring(PARITY)), make(ring(OTHER, "y"))),), "slot 'y' .*two slots of 'ring' are used in one turn"),
        ((make(_left()),), "slots stand in Vec, Mat or Acc, not in Left"),
        ((make(ring(0, valid=(N, 64))),), "valid shape is known at run time only"),
        (_branch(), "slot 'phi' .*leaves its branch or loop"),
        (_carried(), "slot 'acc' .*leaves its branch or loop"),
        ((make(ring(0, slots=17)),), "2 to 16 slots, not 17"),
    ],
    ids=["shapes", "valid shapes", "two in a turn", "space", "run-time extents", "branch", "loop", "count"],
)
def test_what_a_region_cannot_be(body: tuple[Stmt, ...], problem: str) -> None:
    with pytest.raises(RegionError, match=problem) as caught:
        planned(*body)
    assert isinstance(caught.value, ValueError)
    assert "let addresses be baked" in caught.value.help


@pytest.mark.requirement("MP-05")
def test_a_turn_of_a_while_loop_is_a_turn() -> None:
    again = Binary(BinaryOp.GT, N, Const(0), BOOL)
    with pytest.raises(RegionError, match="two slots of 'ring' are used in one turn"):
        planned(While(again, (), (make(ring(0)), make(ring(1, "y"))), ()))


@pytest.mark.requirement("MP-06")
def test_with_baked_addresses_a_slot_is_an_address() -> None:
    found = lines(kernel([make(ring(1)), turns(make(ring(PARITY, "y")))]))
    assert isinstance(ring(1).type, TileType)
    assert not any("multi_tile" in line for line in found)
    size = 16 * 64 * 4
    assert any(f"%x = pto.alloc_tile addr = %c{size}_i64" in line for line in found)
    assert f"arith.muli %0, %c{size}_index : index" in " ".join(found)
