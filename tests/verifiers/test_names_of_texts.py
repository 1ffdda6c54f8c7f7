"""A text may name its values as the analysis names what it makes up itself: they stay different things."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_event import branch, computed, flag
from tests.verifiers.kernels import kernel
from verifiers import Options, verify


def proved(text: str) -> bool:
    *_, result = verify(parse(text, "k.pto"), target("a2a3"), Options(families=frozenset({"EVENT"})))
    return {o.verdict for o in result.obligations} == {Verdict.PROVED}


def fails(text: str, **given: int) -> bool:
    run = schedule.replay(parse(text, "k.pto"), "k", given, target("a2a3"))
    return run.deadlock is not None or any(e.kind == "event" for e in run.errors)


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize("name", ["other", "carried"])
def test_a_value_that_a_loop_hands_on_may_have_any_name(name: str) -> None:
    """The second iteration sets the flag of the id that the caller gives."""
    text = kernel("\n".join((
        "%end = scf.for %i = %c0 to %c2 step %c1 iter_args(%id = %c0) -> (index) {", computed("set", "id"),
        flag("wait", 0), f"scf.yield %{name} : index", "}")), f"%{name}: index")
    assert fails(text, **{name: 1}) and not proved(text)


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize("given", ["block_idx", "subblock_idx"])
@pytest.mark.parametrize("same", [False, True])
def test_a_counter_of_that_name_is_no_index_of_a_block(given: str, same: bool) -> None:
    """A flag is set where the two differ, and nothing waits for it."""
    name = given if same else "i"
    text = kernel("\n".join((
        f"scf.for %{name} = %c0 to %c4 step %c1 {{", f"%b = pto.get_{given}",
        "%own = arith.index_cast %b : i64 to index", branch(f"ne, %{name}, %own", flag("set")), "}")))
    assert fails(text) and not proved(text)


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize(("first", "second"), [
    ("last_block_idx", "first_block_idx"), ("my_subblock_idx", "its_subblock_idx"), ("n_block_num", "m_block_num")])
def test_a_number_of_the_caller_is_none_of_the_launch(first: str, second: str) -> None:
    """A flag is set where the two differ, and nothing waits for it."""
    text = kernel(branch(f"ne, %{first}, %{second}", flag("set")), f"%{first}: index, %{second}: index")
    assert fails(text, **{first: 1, second: 0}) and not proved(text)
