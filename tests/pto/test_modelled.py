"""Which ops no rule follows: a kernel with one of them is UNKNOWN by its name, never proved as if it did nothing."""

from __future__ import annotations

import pytest

from pypto_verified.pto.rows import TABLE

WHY: dict[str, str] = {
    "control flow that is not structured": "cf.br cf.cond_br scf.execute_region pto.fusion_region pto.section.simt",
    "pointers and addresses made of numbers": "pto.castptr pto.inttoptr pto.ptrtoint pto.tassign",
    "what arrives when nobody waits": (
        "pto.comm.build_async_session pto.comm.test_async_event pto.comm.tget_async pto.comm.tput_async "
        "pto.comm.wait_async_event pto.get_prefetch_async_session pto.make_prefetch_async_context pto.tprefetch_async"),
    "other devices": (
        "pto.comm.tbroadcast pto.comm.tgather pto.comm.treduce pto.comm.tscatter pto.comm.ttest pto.comm.twait"),
    "arrays and structs of a core": (
        "pto.declare_local_array pto.local_array_get pto.local_array_set pto.declare_struct pto.struct_get "
        "pto.struct_set"),
    "handles without a type": "pto.declare_global pto.declare_tile",
    "pipes between cores of the same kind, and pipes without a side": (
        "pto.initialize_l2g2l_pipe pto.initialize_l2l_pipe pto.talloc pto.talloc_to_aic pto.talloc_to_aiv pto.tfree "
        "pto.tpop pto.tpush"),
    "events that are tiles": "pto.tsync",
    "registers of the core": "pto.set_quant_scalar pto.set_quant_vector",
    "scales beside their operands": (
        "pto.tget_scale_addr pto.tgemv.mx pto.tgemv.mx.acc pto.tgemv.mx.bias pto.tmatmul.mx pto.tmatmul.mx.acc "
        "pto.tmatmul.mx.bias"),
    "extents that data decide": "pto.get_validshape pto.tconcatidx pto.tile_valid_cols pto.tile_valid_rows",
    "what a run tells or how it ends": "pto.print pto.trap",
}


def test_what_no_rule_follows_is_known_by_name() -> None:
    listed = [name for names in WHY.values() for name in names.split()]
    assert len(set(listed)) == len(listed)
    assert {name for name, row in TABLE.items() if not row.modelled} == set(listed)


@pytest.mark.parametrize("name", ["pto.tadd", "pto.tload", "pto.tmatmul", "pto.set_flag", "pto.tpush_to_aiv"])
def test_what_kernels_are_made_of_is_followed(name: str) -> None:
    assert TABLE[name].modelled
