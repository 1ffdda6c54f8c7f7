"""Events and flags: what the author wrote, one op for one."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import INDEX, INT64
from pypto_verified.errors import CodegenError
from pypto_verified.ir.expr import Const, Expr, Var
from pypto_verified.ir.stmt import FunctionKind, Stmt
from pypto_verified.ir.types import ScalarType
from tests.codegen.build import kernel, let, lines, nums, scalar, tensor, tile, without_constants
from tests.codegen.test_codegen_sync import run

TYPES = "#pto.pipe_event_type<{}>"


def event(op: str, src: str, dst: str, id: int = 0, a5: bool = False) -> list[str]:
    return lines(kernel([run(f"system.event_{op}", src_op=src, dst_op=dst, event_id=id)]), a5=a5)


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize(("src", "dst", "kinds"), [
    ("TLOAD", "TADD", ("TLOAD", "TVEC")), ("TEXP", "TSTORE_VEC", ("TVEC", "TSTORE_VEC")),
    ("TMOV_M2R", "TMATMUL", ("TMOV_M2L", "TMATMUL")), ("TMATMUL", "TSTORE_ACC", ("TMATMUL", "TSTORE_ACC")),
])
def test_an_event_is_recorded_and_waited_for_by_kinds_of_ops(src: str, dst: str, kinds: tuple[str, str]) -> None:
    named = f"[{TYPES.format(kinds[0])}, {TYPES.format(kinds[1])}, #pto.event<EVENT_ID5>]"
    assert event("record", src, dst, 5) == [f"pto.record_event {named}"]
    assert event("wait", src, dst, 5) == [f"pto.wait_event {named}"]


def _in_turn(number: int, slots: int = 1, *slot: Expr, pair: tuple[str, str] = ("TADD", "SCALAR")) -> Stmt:
    return run("system.event_record", *slot, src_op=pair[0], dst_op=pair[1], event_id=number, slots=slots, in_turn=True)


ROWS = Var("rows", tile(16, 8, valid=(16, 1)))
REDUCED: list[Stmt] = [let(Var("x", tile(16, 32)), "tile.create", nums(16, 32)),
                       let(Var("t", tile(16, 32, at=4096)), "tile.create", nums(16, 32)),
                       let(ROWS, "tile.row_sum", Var("x", tile(16, 32)), Var("t", tile(16, 32, at=4096)))]
"""A sum of rows, which on a2a3 sets and waits for id 0 between V and S inside."""


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize(("a5", "reduces", "ids"), [
    (False, False, [0, 1, 7, 0]), (False, True, [1, 2, 1, 2]), (True, True, [0, 1, 7, 0])])
def test_ids_are_given_in_turn_behind_those_that_the_library_uses_in_the_kernel(
    a5: bool, reduces: bool, ids: list[int]
) -> None:
    """Numbers 0, 1, 7 and 8 of eight ids, or of seven."""
    events = [_in_turn(n) for n in (0, 1, 7, 8)]
    found = lines(kernel([*events, *(REDUCED if reduces else [])]), a5=a5)
    flags = [line for line in found if line.startswith("pto.set_flag")]
    assert flags == [f"pto.set_flag [<PIPE_V>, <PIPE_S>, <EVENT_ID{id}>]" for id in ids]


@pytest.mark.requirement("EV-03")
def test_ids_of_other_pairs_of_pipes_are_not_moved() -> None:
    found = lines(kernel([_in_turn(0, pair=("TADD", "TLOAD")), *REDUCED]))
    assert f"pto.record_event [{TYPES.format('TVEC')}, {TYPES.format('TLOAD')}, #pto.event<EVENT_ID0>]" in found


@pytest.mark.requirement("EV-03")
def test_a_computed_slot_is_a_flag_with_a_computed_id() -> None:
    n = Var("n", ScalarType(INDEX))
    of = scalar("n", INDEX)

    def made(number: int, slots: int, more: list[Stmt]) -> list[str]:
        return without_constants(lines(kernel([_in_turn(number, slots, n), *more], of)))

    flag = "pto.set_flag_dyn [#pto.pipe<PIPE_V>, #pto.pipe<PIPE_S>, {}]"
    assert made(0, 2, []) == [flag.format("%arg0")]
    assert made(3, 2, []) == ["%0 = arith.addi %arg0, %c3_index : index", flag.format("%0")]
    assert made(0, 2, REDUCED)[:2] == ["%0 = arith.addi %arg0, %c1_index : index", flag.format("%0")]
    round_the_end = made(7, 2, [])
    assert any("%c8_index" in line for line in round_the_end) and "set_flag_dyn" in round_the_end[-1]


def test_more_slots_than_the_library_leaves_are_refused() -> None:
    with pytest.raises(CodegenError, match="8 ids of V -> S are asked for, and the library leaves 7"):
        lines(kernel([_in_turn(0, 8), *REDUCED]))


def test_an_event_between_cores_may_have_a_computed_id() -> None:
    n = Var("n", ScalarType(INDEX))
    body = [run("system.event_record", n, src_op="TMOV_A2V", dst_op="TADD", event_id=0, slots=8)]
    assert without_constants(lines(kernel(body, scalar("n", INDEX)))) == ["pto.sync.set <PIPE_FIX>, %arg0"]


def test_the_scalar_pipe_has_no_kind_and_gets_a_flag() -> None:
    assert event("record", "TADD", "SCALAR", 2) == ["pto.set_flag [<PIPE_V>, <PIPE_S>, <EVENT_ID2>]"]


@pytest.mark.requirement("EV-02")
def test_within_a_pipe_the_wait_is_a_barrier_where_the_pipe_has_one() -> None:
    assert event("record", "TADD", "TMUL") == []
    assert event("wait", "TADD", "TMUL") == ["pto.barrier <PIPE_V>"]
    assert event("wait", "TADD", "TMUL", a5=True) == []
    assert event("wait", "TLOAD", "TPREFETCH", a5=True) == ["pto.barrier <PIPE_MTE2>"]


@pytest.mark.requirement("EV-02")
def test_an_event_between_cores_is_a_counted_flag() -> None:
    assert event("record", "TMOV_A2V", "TADD", 3) == ["pto.sync.set <PIPE_FIX>, 3"]
    assert event("wait", "TMOV_A2V", "TADD", 3) == ["pto.sync.wait <PIPE_V>, 3"]


@pytest.mark.requirement("EV-05")
@pytest.mark.parametrize(("op", "pipe"), [("TADD", "V"), ("TLOAD", "MTE2"), ("TSTORE_VEC", "MTE3"), ("TMATMUL", "M"),
                                          ("TMOV_M2L", "MTE1"), ("TSTORE_ACC", "FIX"), ("TCI", "S"), ("ALL", "ALL")])
def test_one_op_is_synchronised_by_a_barrier_of_its_pipe(op: str, pipe: str) -> None:
    assert lines(kernel([run("system.tsync", name=op)])) == [f"pto.barrier <PIPE_{pipe}>"]


@pytest.mark.requirement("EV-05")
def test_a5_has_barriers_of_two_pipes_and_of_all() -> None:
    for op in ("TLOAD", "TSTORE_VEC", "ALL"):
        assert len(lines(kernel([run("system.tsync", name=op)]), a5=True)) == 1
    with pytest.raises(CodegenError, match="TADD runs on V, which has no barrier on a5") as caught:
        lines(kernel([run("system.tsync", name="TADD")]), a5=True)
    assert "MTE2" in caught.value.help


def test_flags_between_cores_take_a_fixed_or_a_computed_id() -> None:
    n = Var("n", ScalarType(INDEX))
    body = [run("system.sync_set", Const(4, INT64), pipe="FIX", ffts_mode=2), run("system.sync_wait", n, pipe="V")]
    assert without_constants(lines(kernel(body, scalar("n", INDEX)))) == [
        "pto.sync.set <PIPE_FIX>, 4 {ffts_mode = 2 : i32}", "pto.sync.wait <PIPE_V>, %arg0"]


def test_flags_that_others_use_and_flags_of_the_other_core_are_refused() -> None:
    with pytest.raises(CodegenError, match="no flag 14"):
        lines(kernel([run("system.sync_set", Const(14, INT64), pipe="V")]))
    with pytest.raises(CodegenError, match="for the aic core"):
        lines(kernel([run("system.sync_set", Const(1, INT64), pipe="V", core_type="aic")], kind=FunctionKind.AIV))


def test_caches_are_invalidated_whole_or_by_the_line_of_a_window() -> None:
    assert lines(kernel([run("system.cacheinvalid")])) == ["pto.cmo.cacheinvalid all #pto.address_space<gm>"]
    t = Var("t", tensor(64, 64))
    window = run("system.cacheinvalid", t, nums(1, 8), nums(0, 0))
    *_, last = lines(kernel([window], t))
    assert last.startswith("pto.cmo.cacheinvalid %t_pview single_cache_line")
