"""The targets: what each number is, and that every choice between sources is the careful one."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import BF16, DTYPES, FP16, FP32, INT8, INT16, INT32, INT64
from pypto_verified.errors import InputError
from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.targets import A2A3, A5, ASSUMPTIONS, TARGETS, Target, device_dtypes, target

BOTH = pytest.mark.parametrize("t", TARGETS.values(), ids=lambda t: t.name)


@pytest.mark.parametrize("name", ["a2a3", "a2", "a3", "Ascend910B", "A2A3"])
def test_names_of_a2a3(name: str) -> None:
    assert target(name) is A2A3


def test_names_of_a5() -> None:
    assert target("a5") is target("Ascend950") is A5


def test_unknown_target_says_what_to_use() -> None:
    with pytest.raises(InputError, match="unknown target 'a9'") as e:
        target("a9")
    assert "a2a3" in e.value.help


@pytest.mark.parametrize(
    ("t", "space", "kibibytes"),
    [
        (A2A3, Space.VEC, 184), (A2A3, Space.MAT, 512), (A2A3, Space.LEFT, 64), (A2A3, Space.RIGHT, 64),
        (A2A3, Space.ACC, 128), (A2A3, Space.BIAS, 1),
        (A5, Space.VEC, 240), (A5, Space.MAT, 512), (A5, Space.ACC, 256), (A5, Space.BIAS, 4),
    ],
)
def test_capacity_is_the_smallest_documented(t: Target, space: Space, kibibytes: int) -> None:
    assert t.capacity(space) == kibibytes * 1024


@BOTH
def test_eight_kibibytes_at_the_top_of_ub_belong_to_the_library(t: Target) -> None:
    assert t.memory(Space.VEC).physical - t.capacity(Space.VEC) == 8 * 1024


@BOTH
def test_alignment_is_512_bytes_in_l0_and_32_elsewhere(t: Target) -> None:
    l0 = {Space.LEFT, Space.RIGHT, Space.ACC}
    for row in t.memories:
        assert t.alignment(row.space) == (512 if row.space in l0 else 32)


@BOTH
def test_every_row_names_its_source(t: Target) -> None:
    sources = [
        *(m.source for m in t.memories), *(m.source for m in t.moves), *(e.source for e in t.reserved_events),
        *(f.source for f in t.reserved_flags),
    ]
    assert all(sources)


def test_global_memory_has_no_capacity() -> None:
    with pytest.raises(KeyError):
        A5.memory(Space.GM)


def test_only_a5_moves_between_the_cores_on_chip() -> None:
    assert A2A3.move(Space.ACC, Space.VEC) is None
    assert A2A3.move(Space.VEC, Space.MAT) is None
    assert A5.move(Space.ACC, Space.VEC) is not None
    assert (A2A3.on_chip_pipe, A5.on_chip_pipe) == (False, True)


def test_vec_to_mat_keeps_all_three_documented_pipes() -> None:
    move = A5.move(Space.VEC, Space.MAT)
    assert move is not None
    assert set(move.pipes) == {"V", "FIX", "MTE3"}


@pytest.mark.parametrize(
    ("src", "dst", "pipe"),
    [
        (Space.GM, Space.VEC, "MTE2"), (Space.VEC, Space.GM, "MTE3"), (Space.MAT, Space.LEFT, "MTE1"),
        (Space.ACC, Space.GM, "FIX"), (Space.VEC, Space.VEC, "V"),
    ],
)
def test_pipe_of_a_move(src: Space, dst: Space, pipe: str) -> None:
    move = A2A3.move(src, dst)
    assert move is not None
    assert move.pipes == (pipe,)


def test_dependent_vector_ops_need_a_barrier_on_a2a3_only() -> None:
    assert not A2A3.same_pipe_ordered("V")
    assert A5.same_pipe_ordered("V")


@BOTH
def test_strict_orders_no_pipe_that_the_default_does_not(t: Target) -> None:
    assert t.in_order_strict < t.in_order
    assert not t.same_pipe_ordered("MTE3")
    assert not t.same_pipe_ordered("M", strict=True)


def test_barriers_that_exist() -> None:
    assert A5.barriers == {"MTE2", "MTE3", "ALL"}
    assert A2A3.barriers == {*A2A3.pipes, "ALL"}


@BOTH
def test_events(t: Target) -> None:
    assert t.event_ids == 8
    assert {e.event for e in t.reserved_events} == {0}
    assert {f.flag for f in t.reserved_flags} == {11, 12, 13, 14, 15}
    assert all(f.flag < t.flag_ids for f in t.reserved_flags)


def test_a_row_sum_on_a2a3_uses_event_0_between_scalar_and_vector_pipe() -> None:
    pairs = {e.pair for e in A2A3.reserved_events if "trowsum" in e.ops}
    assert pairs == {("V", "S"), ("S", "V")}
    assert not any("trowsum" in e.ops for e in A5.reserved_events)


def test_left_layout_is_zz_on_a2a3_and_nz_on_a5() -> None:
    assert A2A3.left_layout == (BLayout.ROW, SLayout.ROW)
    assert A5.left_layout == (BLayout.COL, SLayout.ROW)


def test_int32_accumulators_are_padded_to_32_rows_on_a2a3() -> None:
    assert A2A3.acc_row_multiple(INT32) == 32
    assert A2A3.acc_row_multiple(FP32) == A5.acc_row_multiple(INT32) == 16


def test_casts_that_one_instruction_makes() -> None:
    assert (FP32, BF16) in A2A3.casts
    assert (FP16, BF16) not in A2A3.casts
    assert (INT8, FP32) not in A2A3.casts | A5.casts
    assert (INT32, FP16) in A2A3.casts - A5.casts
    assert (FP32, DTYPES["FP8E4M3FN"]) in A5.casts - A2A3.casts


@BOTH
def test_six_narrowing_casts_do_not_saturate_by_default(t: Target) -> None:
    assert len(t.wrapping_casts) == 6
    assert (INT64, INT32) in t.wrapping_casts
    assert (FP32, INT32) not in t.wrapping_casts
    assert t.wrapping_casts <= t.casts


def test_element_types_of_an_op() -> None:
    assert device_dtypes("tadd", A2A3) == frozenset({FP16, FP32, INT16, INT32})
    on_a5 = device_dtypes("tadd", A5)
    assert on_a5 is not None and BF16 in on_a5
    assert device_dtypes("taddc", A5) == frozenset()
    assert device_dtypes("tpush_to_aiv", A5) is None


def test_a5_has_every_element_type_of_a2a3_unless_listed() -> None:
    fewer = {
        op for op in ("tadd", "tmul", "tdiv", "texp", "tsel", "trowsum", "tgather", "tfmod", "trem", "tabs")
        if not (device_dtypes(op, A2A3) or frozenset()) <= (device_dtypes(op, A5) or frozenset())
    }
    assert not fewer


def test_assumptions_are_complete() -> None:
    assert all(row.text and row.source and row.rules for row in ASSUMPTIONS.values())
    assert all(key == row.id for key, row in ASSUMPTIONS.items())


@pytest.mark.parametrize(
    "id",
    ["SIZE-NONNEG", "BLOCK-INDEX", "LANE-INDEX", "BLOCK-OF-GRID", "UB-TOP", "EVENT-KEY", "SAME-PIPE", "VEC-TO-MAT-PIPE",
     "OUT-OF-VALID", "RESERVED-IDS", "ROUNDING", "SYNC-LEFT", "SMALL-TABLES", "DISTINCT-POINTERS"],
)
def test_an_assumption_exists_for_each_open_reading(id: str) -> None:
    assert id in ASSUMPTIONS


@BOTH
def test_numbers_named_by_assumptions_are_those_of_the_targets(t: Target) -> None:
    text = ASSUMPTIONS["UB-TOP"].text
    assert str(t.capacity(Space.VEC) // 1024) in text
    assert str(t.memory(Space.VEC).physical // 1024) in text
    ordered = ASSUMPTIONS["SAME-PIPE"].text
    assert all(pipe in ordered for pipe in t.in_order)


def test_matmul_extents_fit_twelve_bits() -> None:
    assert A2A3.matmul_extent_max == A5.matmul_extent_max == 2**12 - 1


def test_a_conversion_named_in_both_directions_is_two_rows() -> None:
    assert (INT16, FP16) in A2A3.casts and (FP16, INT16) in A2A3.casts
