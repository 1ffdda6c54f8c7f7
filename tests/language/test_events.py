"""Events in kernels: ids in turn, waits before an op and records after it, tokens, events between cores."""

from __future__ import annotations

import pytest

from pypto_verified.errors import LanguageError, OpError
from pypto_verified.ir.expr import Call
from pypto_verified.ir.printer import expr_text
from pypto_verified.ir.stmt import Assign, Eval, For, Stmt
from pypto_verified.language import load_source

HEAD = """\
import pypto.language as pl
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
"""


def body(*lines: str) -> tuple[Stmt, ...]:
    text = HEAD + "".join(f"    {line}\n" for line in lines)
    loaded = load_source(text, "k.py")
    (program,) = loaded.programs
    assert not program.functions[0].opaque, program.functions[0].opaque
    return program.functions[0].body


def ops(*lines: str) -> list[str]:
    """The ops of a kernel in order; an event as `record TLOAD>TADD 0`."""
    return [_spelled(s.call if isinstance(s, Eval) else s.value) for s in body(*lines) if isinstance(s, Eval | Assign)]


def _spelled(e: object) -> str:
    assert isinstance(e, Call)
    what = e.op.removeprefix("system.event_")
    slot = f" slot {expr_text(e.args[0])}" if e.args else ""
    return e.op if what == e.op else f"{what} {e.kwarg('src_op')}>{e.kwarg('dst_op')} {e.kwarg('event_id')}{slot}"


@pytest.mark.requirement("EV-04")
def test_an_op_waits_then_runs_then_records() -> None:
    assert ops(
        'e = pl.Event("TLOAD", "TADD")', 'f = pl.Event("TADD", "TSTORE_VEC")',
        "x = pl.load(a, [0, 0], [16, 64], record=e)", "y = pl.add(x, x, wait=e, record=[f])",
        "out = pl.store(y, [0, 0], out, wait=(f,))",
    ) == ["tile.load", "record TLOAD>TADD 0", "wait TLOAD>TADD 0", "tile.add", "record TADD>TSTORE_VEC 0",
          "wait TADD>TSTORE_VEC 0", "tile.store"]


@pytest.mark.requirement("EV-04")
def test_an_op_gives_its_completion_as_a_token() -> None:
    assert ops(
        'x, done = pl.load(a, [0, 0], [16, 64], token="TADD")', "y = pl.add(x, x, wait=done)",
    ) == ["tile.load", "record TLOAD>TADD 0", "wait TLOAD>TADD 0", "tile.add"]


def test_events_are_recorded_and_waited_for_as_statements_too() -> None:
    assert ops('e = pl.Event("TLOAD", "TADD")', "e.record()", "e.wait()") == [
        "record TLOAD>TADD 0", "wait TLOAD>TADD 0"]


@pytest.mark.requirement("EV-03")
def test_events_are_counted_by_each_pair_of_pipes_when_they_are_made() -> None:
    """TADD and TMUL run on one pipe, so their events share one counter; TSTORE_VEC is on another. The chip's ids are
    given out by that number."""
    lines = [f'e{k} = pl.Event("TLOAD", "{"TADD" if k % 2 else "TMUL"}")' for k in range(9)]
    lines += ['other = pl.Event("TADD", "TSTORE_VEC")', *(f"e{k}.record()" for k in (8, 7, 0)), "other.record()"]
    assert ops(*lines) == [
        "record TLOAD>TMUL 8", "record TLOAD>TADD 7", "record TLOAD>TMUL 0", "record TADD>TSTORE_VEC 0"]


@pytest.mark.requirement("EV-03")
def test_an_event_of_several_slots_takes_as_many_numbers() -> None:
    lines = ['e = pl.Event("TLOAD", "TADD")', 'ring = pl.Event("TLOAD", "TADD", slots=3)',
             'f = pl.Event("TLOAD", "TADD")', "e.record()", "ring[2].record()", "f.record()"]
    assert ops(*lines) == ["record TLOAD>TADD 0", "record TLOAD>TADD 1 slot 2", "record TLOAD>TADD 4"]


@pytest.mark.requirement("EV-03")
def test_a_slot_or_an_id_may_be_computed() -> None:
    (loop,) = body('ring = pl.Event("TLOAD", "TADD", slots=2)', "for i in pl.range(4):", "    ring[i % 2].record()",
                   '    e = pl.Event("TADD", "TLOAD", auto_token=False, event_id=i % 4)', "    e.wait()",
                   "    x = pl.load(a, [0, 0], [16, 64], record=ring[i % 2])")
    assert isinstance(loop, For)
    calls = [s.call if isinstance(s, Eval) else s.value for s in loop.body if isinstance(s, Eval | Assign)]
    assert [_spelled(c) for c in calls] == [
        "record TLOAD>TADD 0 slot (i % 2)", "wait TADD>TLOAD 0 slot (i % 4)", "tile.load",
        "record TLOAD>TADD 0 slot (i % 2)"]


@pytest.mark.requirement("EV-02")
def test_an_event_between_cores_needs_an_id_of_the_author() -> None:
    with pytest.raises(LanguageError, match="passes between cores") as caught:
        body('e = pl.Event("TMOV_A2V", "TADD")')
    assert caught.value.location.line == 4
    with pytest.raises(LanguageError, match="passes between cores"):
        body('e = pl.Event("TMOV_V2M", "TMOV_M2L", event_id=3)')
    assert ops('e = pl.Event("TMOV_A2V", "TADD", auto_token=False, event_id=3)', "e.record()") == [
        "record TMOV_A2V>TADD 3"]


@pytest.mark.parametrize(("line", "problem"), [
    ('e = pl.Event("TLOD", "TADD")', "no op TLOD"),
    ('x = pl.load(a, [0, 0], [16, 64], record=pl.Event("TLOAD", "TADD"))', "this one has none"),
    ('e = pl.Event("TLOAD", "TADD").wait()', r"wait\(\) takes no arguments and has no value"),
    ('pl.Event("TLOAD", "TADD").wait(1)', r"wait\(\) takes no arguments and has no value"),
    ('pl.Event("TLOAD", "TADD").wait', "is a method"),
    ('e = pl.Event("TLOAD", "TADD") + 1', "an event is no kernel value"),
    ('pl.Event("TLOAD", "TADD", slots=2)[0.5].record()', "slot 0.5 of an event is not an integer"),
    ("pl.system.sync_src(set_pipe=pl.PipeType.VEC, wait_pipe=pl.PipeType.V, event_id=0)", "pl.PipeType has no VEC"),
    ('e = pl.Event("TLOAD", "TADD", auto_token=False)', "needs an id"),
    ("x = pl.load(a, [0, 0], [16, 64], wait=out)", "out is not an event"),
    ('pl.Event("TLOAD", "TADD", slots=2)[2].record()', "slot 2 of an event that has 2"),
    ('e = pl.Event("TLOAD", "TADD", slots=9)', "an event of 9 slots"),
    ('x = pl.load(a, [0, 0], [16, 64], token="TADD")', "a token has a name"),
    ('x, t = pl.move(pl.load(a, [0, 0], [16, 64]), target_memory=pl.Mem.Vec, token="TADD")', "depends on its memories"),
])
def test_what_is_wrong_is_told_at_its_line(line: str, problem: str) -> None:
    with pytest.raises(LanguageError, match=problem) as caught:
        body(line)
    assert caught.value.location.line == 4 and caught.value.help


@pytest.mark.parametrize(("given", "why"), [
    ("event_id=8", "event_id is 8: TLOAD -> TADD has ids 0 to 7"),
    ("event_id=7, slots=2", "event_id is 7 with 2 slots: TLOAD -> TADD has ids 0 to 7"),
    ('event_id="EVENT_ID0"', "takes an integer for event_id, not 'EVENT_ID0'"),
    ("event_id=1.5", "takes an integer for event_id, not 1.5"),
])
def test_an_id_that_a_pair_does_not_have_is_refused_where_the_event_is_made(given: str, why: str) -> None:
    with pytest.raises(LanguageError) as caught:
        body("pl.system.bar_v()", f'e = pl.Event("TLOAD", "TADD", {given})', "e.record()")
    assert why in str(caught.value) and caught.value.location.line == 5


@pytest.mark.requirement("EV-02")
@pytest.mark.parametrize(("line", "column", "why"), [
    ("x = pl.load(a, [0, 0], [16, 64], record=e)", 45, "at pl.load, which runs on MTE2: V records it"),
    ("x = pl.load(a, [0, 0], [16, 64], wait=e)", 43, "at pl.load, which runs on MTE2: MTE3 waits for it"),
    ("y = pl.row_expand_mul(t, s, wait=e)", 38, "at pl.row_expand_mul, which runs on V: MTE3 waits for it"),
    ("out = pl.store(t, [0, 0], out, record=e)", 43, "at pl.store, which runs on MTE3 or FIX: V records it"),
])
def test_an_event_of_another_pipe_does_not_stand_at_an_op(line: str, column: int, why: str) -> None:
    """It would read as if the op were ordered. Alone, as a statement, an event is of the pipes that it names."""
    with pytest.raises(LanguageError) as caught:
        body('e = pl.Event("TADD", "TSTORE_VEC")', "t = pl.load(a, [0, 0], [16, 64])", line)
    assert why in str(caught.value) and (caught.value.location.line, caught.value.location.column) == (6, column)


@pytest.mark.requirement("EV-02")
def test_an_event_that_names_another_op_of_the_same_pipe_stands_at_an_op() -> None:
    assert ops('e = pl.Event("TLOAD", "VECTOR")', 'f = pl.Event("TMUL", "TSTORE_ACC")',
               "x = pl.load(a, [0, 0], [16, 64], record=e)", "y = pl.add(x, x, wait=e, record=f)",
               "out = pl.store(y, [0, 0], out, wait=f)") == [
        "tile.load", "record TLOAD>VECTOR 0", "wait TLOAD>VECTOR 0", "tile.add", "record TMUL>TSTORE_ACC 0",
        "wait TMUL>TSTORE_ACC 0", "tile.store"]


def test_the_last_ids_of_a_pair_may_be_taken() -> None:
    assert ops('e = pl.Event("TLOAD", "TADD", event_id=6, slots=2)', "e[1].record()") == [
        "record TLOAD>TADD 6 slot 1"]


def test_another_name_of_an_event_is_the_same_event() -> None:
    loop = body('ring = pl.Event("TLOAD", "TADD", slots=2)', "e = ring[1]", "f = e", "f.record()", "e.wait()")
    assert [(_spelled(s.call), s.call.kwarg("in_turn")) for s in loop if isinstance(s, Eval)] == [
        ("record TLOAD>TADD 0 slot 1", True), ("wait TLOAD>TADD 0 slot 1", True)]


def test_events_may_be_named_with_an_annotation_or_several_at_once() -> None:
    assert ops('e: pl.Event = pl.Event("TLOAD", "TADD")',
               'f, g = pl.Event("TLOAD", "TADD"), pl.Event("TLOAD", "TADD")', "g.record()", "f.record()", "e.record()",
               ) == ["record TLOAD>TADD 2", "record TLOAD>TADD 1", "record TLOAD>TADD 0"]


def test_what_waits_or_records_stands_where_its_event_is_written() -> None:
    """Of a call over several lines, each event op has the line and column of its own event."""
    found = body('e = pl.Event("TLOAD", "TADD")', 'f = pl.Event("TADD", "TSTORE_VEC")',
                 "x = pl.load(a, [0, 0], [16, 64], record=e)", "y = pl.add(", "    x, x,", "    wait=(e,),",
                 "    record=f)", "z, t = pl.add(", "    y, y,", '    token="TSTORE_VEC")')
    assert [(s.span.line, s.span.column) for s in found if isinstance(s, Eval)] == [
        (6, 45), (9, 15), (10, 16), (13, 15)]


@pytest.mark.parametrize("id", [8, -1])
def test_a_flag_has_no_id_that_its_pair_does_not_have(id: int) -> None:
    with pytest.raises(OpError, match=f"event_id is {id}, there are 8") as caught:
        body(f"pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id={id})")
    assert caught.value.location.line == 4


@pytest.mark.parametrize("pipes", [
    "set_pipe=pl.PipeType.ALL, wait_pipe=pl.PipeType.V", 'set_pipe="V", wait_pipe="ALL"'])
def test_a_flag_has_one_pipe_at_each_end(pipes: str) -> None:
    with pytest.raises(OpError, match="from one pipe to one other") as caught:
        body(f"pl.system.sync_src({pipes}, event_id=0)")
    assert caught.value.location.line == 4 and "bar_all" in caught.value.help


def test_a_barrier_takes_no_arguments() -> None:
    with pytest.raises(LanguageError, match=r"pl\.system\.bar_v takes no arguments") as caught:
        body("pl.system.bar_v(1)")
    assert caught.value.help == "write pl.system.bar_v()"


def test_one_of_several_slots_must_be_named() -> None:
    with pytest.raises(LanguageError, match="none of them is named") as caught:
        body('e = pl.Event("TLOAD", "TADD", slots=2)', "e.record()")
    assert caught.value.location.line == 5


def test_a_slot_that_is_assigned_again_is_written_where_it_is_used() -> None:
    lines = ("i = 0", "for k in pl.range(4):", '    e = pl.Event("TLOAD", "TADD", auto_token=False, event_id=i)')
    before, after = (*lines, "    e.record()", "    i = i + 1"), (*lines, "    i = i + 1", "    e.record()")
    assert body(*before)
    (program,) = load_source(HEAD + "".join(f"    {line}\n" for line in after), "k.py").programs
    assert "mentions i, which is assigned again" in program.functions[0].opaque


def test_an_event_that_branches_make_is_not_one_of_them() -> None:
    """Which one is meant after the branch is not known while a kernel is translated; one made before it is."""
    made = 'x, t = pl.load(a, [0, 0], [16, 64], token="TADD")'
    text = HEAD.replace("):\n", ", n: pl.Scalar[pl.INDEX]):\n") + "".join(f"    {line}\n" for line in (
        "if n > 3:", f"    {made}", "else:", f"    {made}", "y = pl.add(x, x, wait=t)"))
    (program,) = load_source(text, "k.py").programs
    assert "t, which is not the same on each path to here" in program.functions[0].opaque


@pytest.mark.parametrize(("made", "why"), [
    ('pl.Event("TLOAD", "TADD", 3)', "takes 2 positional arguments but 3 were given"),
    ('pl.Event("TLOAD")', "missing 1 required positional argument: 'dst'"),
    ('pl.Event("TLOAD", "TADD", slot=2)', "got an unexpected keyword argument 'slot'"),
    ('pl.Event("TLOAD", "TADD", slots="2")', "takes a constant number of slots, not '2'"),
])
def test_an_event_with_wrong_arguments_is_an_error_of_the_kernel_at_its_line(made: str, why: str) -> None:
    with pytest.raises(LanguageError) as caught:
        ops(f"e = {made}")
    assert str(caught.value).startswith(f"k.py:4:9: pl.Event(...) {why}")


@pytest.mark.parametrize("line", ["return pl.store(x, [0, 0], out, wait=e)", "y = pl.add(pl.exp(x, wait=e), x)"])
def test_an_op_that_waits_or_records_is_a_statement(line: str) -> None:
    with pytest.raises(LanguageError, match=r"wait= stands at a call inside of another expression") as caught:
        ops('e = pl.Event("TLOAD", "TADD")', "x = pl.load(a, [0, 0], [16, 64], record=e)", line)
    assert "y = pl." in caught.value.help
