"""Pipes, flags and barriers that the author wrote: transcribed as they stand."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import FP32, INT32
from pypto_verified.errors import CodegenError, NotModelled
from pypto_verified.ir.expr import Attr, Call, Const, Expr, Var
from pypto_verified.ir.stmt import Assign, Eval, FunctionKind, Stmt
from pypto_verified.ir.types import Dim, NoneType
from pypto_verified.layouts import Space
from tests.codegen.build import buf, kernel, let, lines, nums, scalar, signature, tensor, tile, without_constants

ACC = Var("acc", tile(16, 32, space=Space.ACC))
F = buf("vec", "f32", 16, 32)


def run(op: str, *args: Expr, **kwargs: Attr) -> Eval:
    return Eval(Call(op, args, tuple(sorted(kwargs.items())), NoneType()))


@pytest.mark.requirement("XC-01")
@pytest.mark.parametrize(
    ("push", "pop", "free", "freed"),
    [("tpush_to_aiv", "tpop_from_aic", "tfree_to_aic", "tfree_from_aic"),
     ("tpush_to_aic", "tpop_from_aiv", "tfree_to_aiv", "tfree_from_aiv")],
)
@pytest.mark.parametrize(("number", "shown"), [({}, "{split = 1}"), ({"id": 3}, "{id = 3, split = 1}")])
def test_both_directions_print_split_always_and_id_if_given(
    push: str, pop: str, free: str, freed: str, number: dict[str, Attr], shown: str
) -> None:
    x, v = Var("x", tile(16, 32)), Var("v", tile(16, 32, at=4096))
    keywords = tuple(sorted({"split": 1, **number}.items()))
    body: list[Stmt] = [
        let(x, "tile.create", nums(16, 32)), run(f"tile.{push}", x, split=1, **number),
        Assign(v, Call(f"tile.{pop}", (), keywords, v.type)), run(f"system.{free}", v),
    ]
    assert lines(kernel(body), a5=True)[-3:] == [
        f"pto.{push}(%x : {F}) {shown}", f"%v = pto.{pop} {shown} -> {F}", f"pto.{freed} {shown}"]


@pytest.mark.requirement("CG-01")
@pytest.mark.parametrize(("keywords", "shown"), [({}, "split = 0"), ({"split": 1, "id": 2}, "id = 2, split = 1")])
def test_push(keywords: dict[str, Attr], shown: str) -> None:
    text = buf("acc", "f32", 16, 32, blayout="col_major", slayout="row_major", fractal=1024)
    body: list[Stmt] = [let(ACC, "tile.create", nums(16, 32)), run("tile.tpush_to_aiv", ACC, **keywords)]
    assert lines(kernel(body, kind=FunctionKind.AIC))[-1] == f"pto.tpush_to_aiv(%acc : {text}) {{{shown}}}"


@pytest.mark.requirement("CG-01", "CG-07")
@pytest.mark.parametrize(
    ("valid", "extents"), [((), ""), ((8, 32), "(%c8_index, %c32_index)")], ids=["whole", "partly valid"],
)
def test_a_popped_slot_is_the_tile_and_its_free_repeats_the_split(valid: tuple[Dim, ...], extents: str) -> None:
    v = Var("v", tile(16, 32, valid=valid))
    body: list[Stmt] = [let(v, "tile.tpop_from_aic", split=2, id=1), run("system.tfree_to_aic", v)]
    assert without_constants(lines(kernel(body), a5=True)) == [
        f"%v = pto.tpop_from_aic{extents} {{id = 1, split = 2}} -> {F}",
        "pto.tfree_from_aic {id = 1, split = 2}",
    ]


@pytest.mark.requirement("CG-14")
def test_a_popped_slot_may_be_narrowed() -> None:
    v, z = Var("v", tile(16, 32)), Var("z", tile(16, 32, valid=(8, 32)))
    body: list[Stmt] = [let(v, "tile.tpop_from_aic", split=0), let(z, "tile.set_validshape", v, Const(8), Const(32))]
    assert lines(kernel(body), a5=True)[-1] == f"pto.set_validshape %v, %c8_index, %c32_index : {F}"


def test_an_unsplit_transfer_on_a2a3_says_which_lane_makes_it() -> None:
    v = Var("v", tile(16, 32))
    pop = let(v, "tile.tpop_from_aic", split=0)
    with pytest.raises(NotModelled, match="both vector lanes"):
        lines(kernel([pop]))
    guarded = lines(kernel([let(scalar("lane"), "tile.get_subblock_idx"), pop]))
    assert guarded[-1] == f"%v = pto.tpop_from_aic {{split = 0}} -> {F}"


def test_only_a_popped_tile_can_be_freed() -> None:
    x = Var("x", tile(16, 32))
    with pytest.raises(CodegenError, match="'x' was not popped from a pipe"):
        lines(kernel([let(x, "tile.create", nums(16, 32)), run("system.tfree_to_aic", x)]))


RING: list[Stmt] = [
    let(scalar("buf", INT32), "system.reserve_buffer", name="ring", size=4096, base=0),
    run("system.aiv_initialize_pipe", scalar("buf", INT32), Const(0, INT32), dir_mask=1, slot_size=2048),
]


@pytest.mark.requirement("CG-01")
def test_pipe_set_up_on_a5() -> None:
    assert without_constants(lines(kernel(RING), a5=True)) == [
        '%buf = pto.reserve_buffer {name = "ring", size = 4096, location = #pto.address_space<vec>, auto = false, '
        "base = 0} -> i32",
        "pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 2048} "
        "(c2v_consumer_buf = %buf : i32, v2c_consumer_buf = %c0_i32 : i32)",
    ]


@pytest.mark.requirement("CG-01")
def test_pipe_set_up_on_a2a3_has_its_ring_in_global_memory() -> None:
    a, ring, n = Var("a", tensor(16, dtype=FP32)), Var("__gm_pipe_buffer", tensor(1024, dtype=FP32)), scalar("n")
    assert "(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>, %arg2: index)" in signature(kernel(RING, n, a))
    assert "(gm_slot_buffer = %arg1 : !pto.ptr<f32>, c2v_consumer_buf = %buf : i32" in lines(kernel(RING, n, a))[-1]
    # a parameter of that name is the ring
    assert "(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>)" in signature(kernel(RING, ring, a))
    assert "(gm_slot_buffer = %arg0 : !pto.ptr<f32>, " in lines(kernel(RING, ring, a))[-1]


@pytest.mark.requirement("CG-01")
def test_the_other_sides_buffer() -> None:
    peer = let(scalar("peer", INT32), "system.import_peer_buffer", name="ring", peer_func="vector_side")
    assert lines(kernel([peer])) == [
        '%peer = pto.import_reserved_buffer {name = "ring", peer_func = @vector_side} -> i32']


def test_a_reserved_buffer_without_a_place() -> None:
    buffer = let(scalar("buf", INT32), "system.reserve_buffer", name="ring", size=4096, base=-1)
    with pytest.raises(NotModelled, match="placing a reserved buffer"):
        lines(kernel([buffer]))
    assert "auto = true} -> i32" in lines(kernel([buffer]), addresses=False)[0]


@pytest.mark.requirement("CG-01")
@pytest.mark.parametrize("pipe", ["v", "m", "all"])
def test_barriers(pipe: str) -> None:
    assert lines(kernel([run(f"system.bar_{pipe}")])) == [f"pto.barrier <PIPE_{pipe.upper()}>"]


@pytest.mark.requirement("CG-01")
@pytest.mark.parametrize(("op", "word"), [("sync_src", "set_flag"), ("sync_dst", "wait_flag")])
def test_flags(op: str, word: str) -> None:
    found = lines(kernel([run(f"system.{op}", set_pipe="MTE2", wait_pipe="V", event_id=3)]))
    assert [line.replace(" [", "[") for line in found] == [f"pto.{word}[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]"]


@pytest.mark.requirement("XC-03")
def test_hard_barrier_of_all_cores() -> None:
    assert lines(kernel([run("system.syncall", core_type="mix", mode="hard")])) == [
        "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>"]


@pytest.mark.requirement("XC-03")
@pytest.mark.parametrize(
    ("cores", "operands"),
    [(Const(0, INT32), "(%arg0 : !pto.ptr<i32>)"), (Const(4, INT32), "(%arg0, %c4_i32 : !pto.ptr<i32>, i32)"),
     (None, "(%arg0 : !pto.ptr<i32>)")],
    ids=["derived", "given", "left out"],
)
def test_soft_barrier_of_all_cores(cores: Expr | None, operands: str) -> None:
    workspace = Var("ws", tensor(16, dtype=INT32))
    given = [workspace] if cores is None else [workspace, cores]
    body = [run("system.syncall", *given, core_type="aiv_only", mode="soft")]
    assert lines(kernel(body, workspace))[-1] == (
        f"pto.syncall{operands} mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<aiv_only>")


@pytest.mark.requirement("XC-03")
def test_the_workspace_of_a_soft_barrier_has_64_bytes() -> None:
    small = Var("ws", tensor(15, dtype=INT32))
    with pytest.raises(CodegenError, match="has 60 bytes, it needs 64") as caught:
        lines(kernel([run("system.syncall", small, core_type="mix", mode="soft")], small))
    assert caught.value.help == "make it at least 16 elements of INT32"
    with pytest.raises(CodegenError, match="needs a workspace"):
        lines(kernel([run("system.syncall", core_type="mix", mode="soft")]))
    with pytest.raises(CodegenError, match="takes no workspace"):
        lines(kernel([run("system.syncall", small, core_type="mix", mode="hard")], small))


@pytest.mark.requirement("CG-01")
def test_fence() -> None:
    assert lines(kernel([run("system.fence")])) == ["pto.fence.barrier_all <gm>"]
