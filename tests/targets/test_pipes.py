"""Pipes: which one carries an op, what the order of one pipe is worth, what no flag does. Expected values from the
sources that the rows name."""

from __future__ import annotations

import pytest

from pypto_verified.layouts import Space
from pypto_verified.pto.op_pipes import op_phases
from pypto_verified.pto.reader import read
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.walk import walk_ops
from pypto_verified.targets import A2A3, A5, ASSUMPTIONS, Target
from pypto_verified.targets.pipes import (
    CROSS_FLAGS,
    PIPE_READINGS,
    VISIBILITY,
    Hazard,
    barrier_holds,
    cross_flag,
    fences_between,
    ordered_on_pipe,
    pipe_readings,
    pipes_of_core,
)
from tests.verifiers.kernels import alloc, kernel, tile

BOTH = pytest.mark.parametrize("t", [A2A3, A5], ids=lambda t: t.name)


@pytest.mark.requirement("EV-01")
def test_sources_name_three_pipes_for_a_move_from_vec_to_mat() -> None:
    for op in ("pto.tmov", "pto.textract", "pto.tinsert"):
        pipes, assumption = pipe_readings(op, "a5", Space.VEC, Space.MAT, False)
        assert sorted(pipes) == ["FIX", "MTE3", "V"]
        assert assumption == "VEC-TO-MAT-PIPE"
    assert pipe_readings("pto.tmov", "a2a3", Space.VEC, Space.VEC, False) == ((), "")


@pytest.mark.requirement("EV-01")
@pytest.mark.parametrize(("scratch", "chip", "expected"), [
    (False, "a2a3", ["S"]), (True, "a2a3", ["V", "S"]), (False, "a5", ["S"]), (True, "a5", ["V", "S"])])
def test_a_ramp_runs_on_another_pipe_with_scratch(scratch: bool, chip: str, expected: list[str]) -> None:
    """PTO-ISA npu/a2a3/TCI.hpp, npu/a5/Tci.hpp: without scratch a loop of scalar stores, with it vector code."""
    line, one = tile(1, 64, "i32"), "%zero = arith.constant 0 : i32"
    ins = f"%zero, %t : i32, {line}" if scratch else "%zero : i32"
    text = kernel("\n".join((
        alloc("d", line, 0, "c1"), alloc("t", line, 4096, "c1"), one, f"pto.tci ins({ins}) outs(%d : {line})")))
    (func,) = read(text, "k.pto").funcs
    op = next(op for op in walk_ops(func) if op.name == "pto.tci")
    assert [phases[0].pipe for phases in op_phases(op, chip)] == expected


def test_readings_name_ops_of_the_table_pipes_of_the_target_and_an_assumption() -> None:
    for row in PIPE_READINGS:
        assert len(row.pipes) > 1
        assert all(op in TABLE for op in row.ops)
        assert set(row.pipes) <= set(A5.pipes)
        assert row.assumption in ASSUMPTIONS
        assert row.source


@BOTH
def test_a_core_has_the_pipes_of_its_kind(t: Target) -> None:
    assert pipes_of_core(t, "vector") == ("S", "V", "MTE2", "MTE3")
    assert pipes_of_core(t, "cube") == ("S", "M", "MTE1", "MTE2", "MTE3", "FIX")
    assert pipes_of_core(t, "") == t.pipes


def test_dependent_vector_ops_need_a_barrier_on_a2a3_only() -> None:
    assert not any(ordered_on_pipe(A2A3, "V", h) for h in Hazard)
    assert all(ordered_on_pipe(A5, "V", h) for h in Hazard)
    assert not ordered_on_pipe(A5, "MTE3", Hazard.RAW)


@BOTH
def test_two_loads_land_in_order_except_under_the_stricter_reading(t: Target) -> None:
    assert ordered_on_pipe(t, "MTE2", Hazard.WAW)
    assert not ordered_on_pipe(t, "MTE2", Hazard.WAW, strict=True)
    assert not ordered_on_pipe(t, "MTE2", Hazard.RAW)


def test_a_barrier_of_v_waits_on_a2a3_and_not_on_a5() -> None:
    assert barrier_holds(A2A3, "V") and not barrier_holds(A5, "V")
    assert barrier_holds(A2A3, "ALL") and barrier_holds(A5, "ALL")


@pytest.mark.parametrize(("wait", "chip", "whole"), [
    ("sync.wait", "a2a3", True), ("sync.wait", "a5", True), ("wait_cross_block", "a5", True),
    ("wait_intra_block", "a2a3", True), ("wait_intra_block", "a5", False)])
def test_a_wait_for_another_core_stalls_the_whole_core_but_for_one_within_a_block_of_a5(
    wait: str, chip: str, whole: bool
) -> None:
    row = cross_flag(f"pto.{wait}", chip)
    assert row is not None and row.stalls_core is whole


def test_flags_between_cores_are_ops_of_the_table_with_a_source() -> None:
    assert cross_flag("pto.tadd", "a5") is None
    assert all(row.set in TABLE and row.wait in TABLE and row.source for row in CROSS_FLAGS)


def test_a_scalar_store_needs_the_cache_and_a_flag_is_a_fence_unless_strict() -> None:
    assert fences_between("scalar", "bulk") == ("pto.cmo.cacheinvalid",)
    assert fences_between("bulk", "bulk") == ()
    assert fences_between("bulk", "bulk", strict=True) == ("pto.fence.barrier_all",)
    assert all(fence in TABLE for row in VISIBILITY for fence in row.fences)
