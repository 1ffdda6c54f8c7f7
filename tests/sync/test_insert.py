"""Automatic mode: which flags and barriers stand where, and that they are few."""

from __future__ import annotations

import pytest

from pypto_verified.errors import NotModelled
from pypto_verified.pto import reader
from pypto_verified.sync import insert_sync, strip_sync
from pypto_verified.targets import target
from tests.sync.judged import sync_ops, verdicts, without
from tests.sync.programs import Program, kinds, syncs

A2A3, A5 = target("a2a3"), target("a5")


def _row_of_three(p: Program) -> None:
    x, y, z = p.tile(0), p.tile(1), p.tile(2)
    p.load(x)
    p.load(y, tensor="b")
    p.add(x, y, z)
    p.store(z)


@pytest.mark.requirement("EV-02")
def test_a_wait_covers_all_earlier_ops_of_the_pipe() -> None:
    p = Program()
    _row_of_three(p)
    assert kinds(insert_sync(p.module(), A2A3)) == [
        "tload", "tload", "MTE2>V 0", "~MTE2>V 0", "tadd", "V>MTE3 0", "~V>MTE3 0", "tstore"]


@pytest.mark.parametrize(("chip", "barriers"), [(A2A3, ["|V"]), (A5, [])])
def test_dependent_ops_of_one_pipe_get_a_barrier_where_the_pipe_needs_one(chip: object, barriers: list[str]) -> None:
    p = Program()
    x, y, z = p.tile(0), p.tile(1), p.tile(2)
    p.load(x)
    p.exp(x, y)
    p.exp(x, p.tile(3))
    p.exp(y, z)
    found = syncs(insert_sync(p.module(), A2A3 if chip is A2A3 else A5))
    assert [s for s in found if s.startswith("|")] == barriers


def test_ops_that_share_no_byte_are_left_alone() -> None:
    p = Program()
    p.load(p.tile(0))
    p.exp(p.tile(1), p.tile(2))
    p.store(p.tile(3))
    assert syncs(insert_sync(p.module(), A2A3)) == []


def test_a_pipe_that_begins_a_turn_waits_at_the_end_of_the_turn_before() -> None:
    """Nothing has to be set in advance, and no turn at all leaves no flag behind."""
    p = Program()
    i = p.loop()
    x = p.tile(0)
    p.load(x, p.row(i))
    p.exp(x, x)
    p.store(x, p.row(i))
    p.close()
    assert kinds(insert_sync(p.module(), A2A3)) == [
        "scf.for", "tload", "MTE2>V 0", "~MTE2>V 0", "texp", "V>MTE3 0", "~V>MTE3 0", "tstore",
        "MTE3>MTE2 0", "~MTE3>MTE2 0"]


def test_a_pipe_that_has_something_else_to_do_first_waits_for_a_flag_that_is_set_in_advance() -> None:
    p = Program()
    i = p.loop()
    x, y = p.tile(0), p.tile(1)
    p.load(x, p.row(i))
    p.load(y, p.row(i), "b")
    p.exp(x, p.tile(2))
    p.exp(y, p.tile(3))
    p.close()
    found = kinds(insert_sync(p.module(), A2A3))
    assert found[0] == "V>MTE2 0" and found[1] == "scf.for"
    assert found.index("~V>MTE2 0") == found.index("tload", 3) - 1
    assert found[-1] == "~V>MTE2 0"


def test_tiles_that_trade_places_take_a_barrier_before_each_op_and_none_can_go() -> None:
    """Each op reads what the one before it writes, or writes what it reads."""
    p = Program()
    x, y, s = p.tile(0), p.tile(1), p.tile(2)
    p.loop()
    p.add(x, y, s)
    p.exp(y, x)
    p.exp(s, y)
    p.close()
    made = insert_sync(p.module(), A2A3)
    assert kinds(made) == ["scf.for", "|V", "tadd", "|V", "texp", "|V", "texp"]
    for op in sync_ops(made):
        assert verdicts(without(made, op), "a2a3") == {"PROVED", "REFUTED"}


def test_slots_that_are_taken_in_turn_get_an_id_each() -> None:
    p = Program()
    i = p.loop()
    x, y = p.slot(0, 2, i), p.tile(4)
    p.load(x, p.row(i))
    p.exp(x, y)
    p.store(y, p.row(i))
    p.close()
    found = kinds(insert_sync(p.module(), A2A3))
    assert found[:2] == ["V>MTE2 0", "V>MTE2 1"]
    assert found[3:5] == ["~V>MTE2 turn", "tload"]
    assert "V>MTE2 turn" in found and "MTE2>V turn" in found
    assert found[-2:] == ["~V>MTE2 0", "~V>MTE2 1"]


def test_flags_in_advance_stand_outside_of_all_loops() -> None:
    """Else the next turn of the outer loop could set a flag that nobody has waited for yet."""
    p = Program()
    p.loop()
    i = p.loop()
    x, y = p.tile(0), p.tile(1)
    p.load(x, p.row(i))
    p.load(y, p.row(i), "b")
    p.exp(x, p.tile(2))
    p.exp(y, p.tile(3))
    p.close()
    p.close()
    found = kinds(insert_sync(p.module(), A2A3))
    assert found[:3] == ["V>MTE2 0", "scf.for", "scf.for"]


def test_what_one_arm_alone_needs_stands_on_that_arm() -> None:
    p = Program()
    i = p.loop()
    x = p.tile(0)
    p.load(x, p.row(i))
    p.branch()
    p.exp(x, p.tile(1))
    p.close()
    p.close()
    assert kinds(insert_sync(p.module(), A2A3)) == [
        "scf.for", "tload", "scf.if", "MTE2>V 0", "~MTE2>V 0", "texp", "V>MTE2 0", "~V>MTE2 0"]


@pytest.mark.requirement("EV-07")
def test_a_turn_that_stands_in_one_arm_gets_flags_and_no_barrier_of_all_pipes() -> None:
    """As a `continue` leaves it: the ops that wait for the turn before stand in the arm that ends with the flag."""
    p = Program()
    i = p.loop()
    x, y = p.tile(0), p.tile(1)
    p.branch()
    p.load(x, p.row(i))
    p.exp(x, y)
    p.store(y, p.row(i))
    p.close()
    p.close()
    made = insert_sync(p.module(), A2A3)
    assert kinds(made) == [
        "scf.for", "scf.if", "tload", "MTE2>V 0", "~MTE2>V 0", "texp", "V>MTE3 0", "V>MTE2 1", "~V>MTE3 0", "tstore",
        "MTE3>V 0", "~V>MTE2 1", "~MTE3>V 0"]
    assert verdicts(made, "a2a3") == {"PROVED"}


def test_what_follows_a_branch_waits_for_both_arms() -> None:
    p = Program()
    x, y = p.tile(0), p.tile(1)
    p.branch()
    p.exp(p.tile(2), x)
    p.otherwise()
    p.exp(p.tile(3), x)
    p.close()
    p.store(x)
    p.store(y)
    assert kinds(insert_sync(p.module(), A5)) == [
        "scf.if", "texp", "texp", "V>MTE3 0", "~V>MTE3 0", "tstore", "|MTE3", "tstore"]


@pytest.mark.requirement("EV-03")
def test_a_pair_that_runs_out_of_ids_falls_back_to_a_barrier_of_all_pipes() -> None:
    p = Program()
    tiles = [p.tile(k) for k in range(9)]
    for k, tile in enumerate(tiles):
        p.load(tile, p.row(p.new("k")) if k < 0 else "%c0")
    for k, tile in enumerate(tiles):
        p.exp(tile, p.tile(10 + k))
    found = syncs(insert_sync(p.module(), A5))
    assert [s for s in found if s.startswith("MTE2>V")] == [f"MTE2>V {k}" for k in range(8)]
    assert found.count("|ALL") == 1


@pytest.mark.requirement("EV-03")
def test_a_loop_of_as_many_turns_as_slots_gets_an_id_for_each() -> None:
    """Nothing is written twice, so no pipe hears of another's waits."""
    p = Program()
    i = p.loop("%c2")
    p.load(p.slot(4, 2, i), p.row(i))
    p.exp(p.slot(4, 2, i), p.slot(6, 2, i))
    p.close()
    made = insert_sync(p.module(), A2A3)
    assert syncs(made) == ["MTE2>V turn", "~MTE2>V turn"]
    assert verdicts(made, "a2a3") == {"PROVED"}


@pytest.mark.requirement("EV-03")
def test_a_pipe_that_hears_of_no_wait_is_told_at_the_end_of_each_turn() -> None:
    """Eight turns take eight places, more than one flag has ids: V answers, where a barrier would stop all pipes."""
    p = Program()
    i = p.loop("%c8")
    p.load(p.slot(4, 8, i), p.row(i))
    p.exp(p.slot(4, 8, i), p.slot(12, 8, i))
    p.close()
    made = insert_sync(p.module(), A2A3)
    assert kinds(made) == [
        "scf.for", "tload", "MTE2>V 0", "~MTE2>V 0", "texp", "V>MTE2 0", "~V>MTE2 0"]
    assert verdicts(made, "a2a3") == {"PROVED"}


def test_an_id_is_used_again_once_the_setting_pipe_knows_of_the_wait() -> None:
    p = Program()
    x = p.tile(0)
    for _ in range(12):
        p.load(x)
        p.exp(x, p.tile(1))
    assert {s for s in syncs(insert_sync(p.module(), A5)) if s.startswith("MTE2>V")} == {"MTE2>V 0"}


@pytest.mark.requirement("EV-03")
def test_the_flags_of_a_loop_in_a_loop_keep_their_ids_whatever_other_pipes_are_waited_for() -> None:
    """V waits for MTE3 at the end of a turn, of which MTE2 never hears. It says nothing of V's waits for MTE2: a flag
    of each pair is enough, and no barrier of all pipes stands in the inner loop."""
    p = Program()
    p.loop()
    i = p.loop()
    p.load(p.tile(0), p.row(i))
    p.exp(p.tile(0), p.tile(1))
    p.store(p.tile(1), p.row(i))
    p.close()
    p.close()
    made = insert_sync(p.module(), A2A3)
    assert sorted(syncs(made)) == sorted(
        f"{wait}{flag}" for flag in ("MTE2>V 0", "V>MTE3 0", "V>MTE2 1", "MTE3>V 0") for wait in ("", "~"))
    assert verdicts(made, "a2a3") == {"PROVED"}


@pytest.mark.requirement("EV-03")
def test_ids_that_a_library_op_uses_inside_are_left_alone() -> None:
    p = Program()
    x = p.tile(0)
    p.load(x)
    p.exp(x, p.tile(1))
    p.read(p.tile(1))
    plain = syncs(insert_sync(p.module(), A2A3))
    assert "V>S 0" in plain
    line = next(text for text in p.lines if text.startswith("pto.texp"))
    p.line(line.replace("texp", "trowexpand"))
    assert "V>S 1" in syncs(insert_sync(p.module(), A2A3))


def _two_destinations(loads: int) -> Program:
    """As many loads in flight towards V, and one towards MTE3."""
    p = Program()
    tiles = [p.tile(k) for k in range(loads)]
    for tile in tiles:
        p.load(tile)
    p.store(tiles[-1])
    for k, tile in enumerate(tiles):
        p.exp(tile, p.tile(10 + k))
    return p


def test_flags_of_one_source_pipe_share_no_id_while_two_may_be_set() -> None:
    """So they hold under both readings of what makes two flags one."""
    p = Program()
    x = p.tile(0)
    p.load(x)
    p.exp(x, p.tile(1))
    p.store(x)
    remarks: list[str] = []
    made = insert_sync(p.module(), A5, remarks=remarks)
    assert {"MTE2>V 0", "MTE2>MTE3 1"} <= set(syncs(made)) and remarks == []
    assert verdicts(made, "a5", strict=True) == {"PROVED"}


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize("loads", [7, 8])
def test_flags_to_two_pipes_share_an_id_only_where_eight_do_not_suffice(loads: int) -> None:
    module = _two_destinations(loads).module()
    remarks: list[str] = []
    found = syncs(made := insert_sync(module, A5, remarks=remarks))
    assert len({s for s in found if s.startswith("MTE2>V")}) == loads and "|ALL" not in found
    assert verdicts(made, "a5") == {"PROVED"}
    assert verdicts(made, "a5", strict=True) == ({"PROVED"} if loads == 7 else {"PROVED", "REFUTED"})
    told = ["the ids of MTE2 do not suffice, so flags to MTE3 and V share one"] if loads == 8 else []
    assert [r.split(": ")[-1] for r in remarks] == told


def test_the_stricter_reading_takes_a_barrier_where_ids_do_not_suffice() -> None:
    remarks: list[str] = []
    made = insert_sync(_two_destinations(8).module(), A5, strict=True, remarks=remarks)
    assert syncs(made).count("|ALL") == 1 and remarks == []
    assert verdicts(made, "a5", strict=True) == {"PROVED"}


def test_what_only_the_stricter_readings_order_is_not_inserted_but_told() -> None:
    """Two loads of one tile: they land in program order, or need a barrier (assumption LOAD-AFTER-LOAD)."""
    p = Program()
    x = p.tile(0)
    p.load(x)
    p.load(x, tensor="b")
    remarks: list[str] = []
    assert syncs(insert_sync(p.module(), A2A3, remarks=remarks)) == []
    assert [r.split(": ")[-1] for r in remarks] == ["some ops that need no order else"]
    assert syncs(insert_sync(p.module(), A2A3, strict=True)) == ["|MTE2"]


@pytest.mark.requirement("EV-07")
def test_what_the_author_wrote_is_ignored() -> None:
    p = Program()
    _row_of_three(p)
    plain = p.module()
    p.lines.insert(0, "pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID3>]")
    p.line("pto.barrier <PIPE_ALL>")
    p.line("pto.record_event [#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, #pto.event<EVENT_ID1>]")
    written = p.module()
    assert insert_sync(written, A2A3) == insert_sync(plain, A2A3)
    assert syncs(strip_sync(written)) == [] and syncs(written) != []


def test_the_given_module_is_not_changed() -> None:
    p = Program()
    _row_of_three(p)
    module, again = p.module(), p.module()
    insert_sync(module, A2A3)
    assert module == again


def test_tiles_that_the_assembler_places_are_refused_at_their_line() -> None:
    text = """module attributes {pto.target_arch = "a2a3"} {
func.func @k(%a: !pto.ptr<f32>) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32> loc("kernel.py":7:3)
  return
}
}
"""
    with pytest.raises(NotModelled, match="the assembler places") as caught:
        insert_sync(reader.read(text), A2A3)
    assert caught.value.location.line == 7


def test_an_op_of_the_other_kind_of_core_is_refused_at_its_line() -> None:
    vec = "!pto.tile_buf<vec, 8x8xf32>"
    text = f"""module attributes {{pto.target_arch = "a2a3"}} {{
func.func @k() attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  %x0 = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %x0 : {vec}
  pto.texp ins(%t : {vec}) outs(%t : {vec})
  return
}}
}}
"""
    with pytest.raises(NotModelled, match=r"pto\.texp on a cube core, which has no pipe V") as caught:
        insert_sync(reader.read(text, "k.pto"), A2A3)
    assert str(caught.value.location) == "k.pto:5" and "other kind of core" in caught.value.help


def test_a_tile_that_a_loop_hands_on_is_refused_at_its_line_of_the_text_with_what_to_do() -> None:
    """Two tiles change places from one iteration to the next: which one an op uses is not known where flags go."""
    vec = "!pto.tile_buf<vec, 8x8xf32>"
    text = f"""module attributes {{pto.target_arch = "a2a3"}} {{
func.func @k(%n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x0 = arith.constant 0 : i64
  %x1 = arith.constant 256 : i64
  %t = pto.alloc_tile addr = %x0 : {vec}
  %u = pto.alloc_tile addr = %x1 : {vec}
  %p, %q = scf.for %i = %c0 to %n step %c1 iter_args(%x = %t, %y = %u) -> ({vec}, {vec}) {{
    pto.texp ins(%x : {vec}) outs(%x : {vec})
    scf.yield %y, %x : {vec}, {vec}
  }}
  return
}}
}}
"""
    with pytest.raises(NotModelled, match=r"%x of pto\.texp .*: a loop, a branch or a call hands it on") as caught:
        insert_sync(reader.read(text, "k.pto"), A2A3)
    assert str(caught.value.location) == "k.pto:10"
    assert "--sync explicit" in caught.value.help
