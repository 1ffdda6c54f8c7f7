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
                   "    x = pl.load(a, [0, 0], [16, 64], wait=ring[i % 2])")
    assert isinstance(loop, For)
    calls = [s.call if isinstance(s, Eval) else s.value for s in loop.body if isinstance(s, Eval | Assign)]
    assert [_spelled(c) for c in calls] == [
        "record TLOAD>TADD 0 slot (i % 2)", "wait TADD>TLOAD 0 slot (i % 4)", "wait TLOAD>TADD 0 slot (i % 2)",
        "tile.load"]


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


def test_an_id_that_a_pair_does_not_have_is_refused() -> None:
    with pytest.raises(OpError, match="event_id is 8"):
        body('e = pl.Event("TLOAD", "TADD", auto_token=False, event_id=8)', "e.record()")


@pytest.mark.parametrize("id", [8, -1])
def test_a_flag_has_no_id_that_its_pair_does_not_have(id: int) -> None:
    with pytest.raises(OpError, match=f"event_id is {id}, there are 8") as caught:
        body(f"pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id={id})")
    assert caught.value.location.line == 4


def test_a_barrier_takes_no_arguments() -> None:
    with pytest.raises(LanguageError, match=r"pl\.system\.bar_v takes no arguments") as caught:
        body("pl.system.bar_v(1)")
    assert caught.value.help == "write pl.system.bar_v()"


def test_one_of_several_slots_must_be_named() -> None:
    with pytest.raises(LanguageError, match="none of them is named") as caught:
        body('e = pl.Event("TLOAD", "TADD", slots=2)', "e.record()")
    assert caught.value.location.line == 5


def test_a_slot_that_is_assigned_again_is_written_where_it_is_used() -> None:
    text = HEAD + "".join(f"    {line}\n" for line in (
        "i = 0", "for k in pl.range(4):", "    i = i + 1",
        '    e = pl.Event("TLOAD", "TADD", auto_token=False, event_id=i)', "    e.record()"))
    (program,) = load_source(text, "k.py").programs
    assert "mentions i, which is assigned again" in program.functions[0].opaque


@pytest.mark.parametrize(("made", "why"), [
    ('pl.Event("TLOAD", "TADD", 3)', "takes 2 positional arguments but 3 were given"),
    ('pl.Event("TLOAD")', "missing 1 required positional argument: 'dst'"),
    ('pl.Event("TLOAD", "TADD", slot=2)', "got an unexpected keyword argument 'slot'"),
    ('pl.Event("TLOAD", "TADD", slots="2")', "takes a number of slots, not '2'"),
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
