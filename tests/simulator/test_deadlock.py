"""A run in which nothing can go on says who waits for what, where it would come from, and what keeps it from coming."""

from __future__ import annotations

import pytest

from pypto_verified.errors import InputError
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule import Blocked, Outcome
from pypto_verified.targets import target
from tests.simulator.test_between_cores import cube, run, vector
from tests.simulator.text import zeros
from tests.simulator.timed import ORDERS, Timed


def blocked(outcome: Outcome) -> list[Blocked]:
    assert outcome.deadlock is not None
    return list(outcome.deadlock.blocked)


def waiting(wait: str) -> Timed:
    k = Timed()
    k.tensor("a", "f32", 1, 8)
    k.tile("t", "f32", 1, 8)
    k.load("a_p", "t")
    k.set("MTE2>V", 1)
    k.wait("MTE2>V", int(wait))
    k.fill("t", 1)
    return k


@pytest.mark.parametrize("order", ORDERS)
def test_a_wait_for_another_id_is_told_with_its_pipe_and_line(order: str) -> None:
    assert waiting("1").under(order, "a2a3", a=zeros(1, 8)).deadlock is None
    (block,) = blocked(waiting("0").under(order, "a2a3", a=zeros(1, 8)))
    assert (block.at.op.name, block.at.pipe, block.at.core) == ("pto.wait_flag", "V", "vector")
    assert (block.waits_for, block.because) == ("flag MTE2 -> V id 0", "nobody gives it")
    assert str(block).startswith("pto.wait_flag (.pto line ")


@pytest.mark.parametrize(("id", "hangs"), [(1, False), (2, True)])
def test_a_set_by_a_computed_id_is_told_as_such(id: int, hangs: bool) -> None:
    k = Timed({"n": "index"})
    k.line("pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %n]")
    k.wait("MTE2>V", 1)
    outcome = k.under("program", "a2a3", {"n": id})
    assert (outcome.deadlock is not None) is hangs
    if hangs:
        assert blocked(outcome)[0].because == (
            "line 3 gives flags of these pipes by a computed id, but not this one as often as it is waited for")


def crossed() -> Timed:
    """Two pipes wait for each other."""
    k = Timed()
    k.wait("V>MTE2", 0)
    k.wait("MTE2>V", 0)
    k.set("V>MTE2", 0)
    k.set("MTE2>V", 0)
    return k


@pytest.mark.parametrize("order", ORDERS)
def test_two_pipes_that_wait_for_each_other_are_both_told(order: str) -> None:
    blocks = blocked(crossed().under(order, "a2a3"))
    assert {b.at.pipe: b.because for b in blocks} == {
        "V": "line 6 gives it, but waits in pipe MTE2 of vector, behind pto.wait_flag at line 3",
        "MTE2": "line 5 gives it, but waits in pipe V of vector, behind pto.wait_flag at line 4",
    }


def test_a_wait_of_the_scalar_unit_keeps_its_own_set_from_being_issued() -> None:
    k = Timed()
    k.wait("V>S", 0)
    k.set("V>S", 0)
    (block,) = blocked(k.under("program", "a2a3"))
    assert block.because == ("pto.set_flag at line 4 would give it, and vector has not come there: its scalar unit is "
                             "held at line 3")


def test_a_barrier_behind_a_wait_that_never_ends() -> None:
    k = Timed()
    k.wait("MTE2>V", 0)
    k.barrier()
    blocks = blocked(k.under("program", "a2a3"))
    assert [(b.at.op.name, b.at.pipe) for b in blocks] == [("pto.barrier", "S"), ("pto.wait_flag", "V")]
    assert blocks[0].because == "one of them waits"


def test_cores_that_wait_for_each_other() -> None:
    body = "\n".join((cube("pto.sync.wait <PIPE_MTE2>, 1", "pto.sync.set <PIPE_FIX>, 2"),
                      vector("pto.sync.wait <PIPE_MTE2>, 2", "pto.sync.set <PIPE_MTE3>, 1")))
    blocks = blocked(run(body))
    assert [b.at.core for b in blocks] == ["cube", "vector lane 0", "vector lane 1"]
    assert "pto.sync.set" in blocks[0].because and "vector lane 0 has not come there" in blocks[0].because
    assert "cube has not come there: its scalar unit is held at" in blocks[1].because
    outcome = run("\n".join((cube("pto.sync.set <PIPE_FIX>, 2", "pto.sync.wait <PIPE_MTE2>, 1"),
                             vector("pto.sync.wait <PIPE_MTE2>, 2", "pto.sync.set <PIPE_MTE3>, 1"))))
    assert outcome.clean


def test_a_flag_that_is_given_once_and_waited_for_twice() -> None:
    body = "\n".join((cube("pto.sync.set <PIPE_FIX>, 2"), vector(*["pto.sync.wait <PIPE_MTE2>, 2"] * 2)))
    block = blocked(run(body))[0]
    assert block.because.endswith("gives it, but not as often as it is waited for")


def guarded(id: int) -> Timed:
    """A load under buffer id 0 and an add under `id`."""
    k = Timed()
    k.tensor("a", "f32", 1, 8)
    k.tile("t", "f32", 1, 8)
    k.tile("u", "f32", 1, 8)
    k.line("pto.get_buf[#pto.pipe_event_type<TLOAD>, 0]")
    k.load("a_p", "t")
    k.line("pto.rls_buf[#pto.pipe_event_type<TLOAD>, 0]")
    k.line(f"pto.get_buf[#pto.pipe_event_type<TVEC>, {id}]")
    k.op("tadd", "t t", "u")
    k.line(f"pto.rls_buf[#pto.pipe_event_type<TVEC>, {id}]")
    return k


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("id", "races"), [(0, 0), (1, 1)])
def test_buffer_ids_of_a5_order_pipes_by_program_order(id: int, races: int, order: str) -> None:
    outcome = guarded(id).under(order, "a5", a=zeros(1, 8))
    assert len(outcome.races) == races and outcome.deadlock is None


def test_a_missing_argument_is_an_input_error() -> None:
    with pytest.raises(InputError, match="no value for argument 0"):
        schedule.run(waiting("1").func, target("a2a3"), {})
    with pytest.raises(InputError, match="no schedule fastest"):
        schedule.run(waiting("1").func, target("a2a3"), {"a": zeros(1, 8)}, schedule="fastest")
