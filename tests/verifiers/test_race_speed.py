"""RACE: how long many sync ops in a loop nest take."""

from __future__ import annotations

import time

import pytest

from benchmarks.sync_nest import checked, nest
from pypto_verified.index import symbol
from pypto_verified.index.cond import Cond, as_cond
from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from pypto_verified.targets.pipes import CrossFlag, cross_flag
from tests.verifiers.examples_fifo import COPY, FREE, NEAR, PUSH, pair_of_cores, pop, turns
from verifiers import Options, verify
from verifiers.race import found, questions
from verifiers.race.literals import strongest
from verifiers.race.places import Place, apart

SECONDS = 1.0
SLACK = 2
"""How much slower a machine may be than the goal."""


def test_a_thousand_sync_ops_in_a_nest_of_three_loops() -> None:
    checked(nest(8))
    result, seconds = checked(nest(1000))
    assert {o.verdict for o in result.obligations} == {Verdict.PROVED}
    assert seconds < SECONDS * SLACK


def test_one_wait_less_is_refuted() -> None:
    text = nest(64)
    wait = "pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID3>]\n    pto.tstore"
    assert text.count(wait) == 1
    result, _ = checked(text.replace(wait, "pto.tstore"))
    assert Verdict.REFUTED in {o.verdict for o in result.obligations if o.rule == "RACE-RAW"}


def test_what_a_function_hears_is_not_asked_for_each_pair_of_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of 1,500 ops and 20,000 pairs took most of the time of a kernel."""
    asked: list[str] = []

    def counted(op: str, chip: str) -> CrossFlag | None:
        asked.append(op)
        return cross_flag(op, chip)

    monkeypatch.setattr(found, "cross_flag", counted)
    result, _ = checked(nest(64))
    assert asked and len(result.obligations) > 30 and len(asked) < 10 * 64


def test_what_is_known_along_a_path_is_kept_short_in_one_pass() -> None:
    """Of lower bounds that differ by a number the highest stays, whatever their number; all else stays."""
    sizes = [symbol(f"s{n}", 0) for n in range(1500)]
    literals = [as_cond(e - k >= 0) for k in (1, 3, 2) for e in sizes]
    start = time.perf_counter()
    assert strongest(literals) == {as_cond(e - 3 >= 0) for e in sizes}
    assert time.perf_counter() - start < 2  # comparing all with all takes many times that
    same, other = as_cond(sizes[0] - sizes[1] >= 0), as_cond(sizes[0] - sizes[1] >= 5)
    for known in ((same, other, ~same), (other, same, ~same)):
        assert strongest(known) == {other, ~same}


def test_slots_of_rings_in_loops_in_loops_are_not_compared_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of slots took most of the time: no more than a number of them is ever decided by a formula."""
    compared: list[Place] = []

    def counted(a: Place, b: Place) -> Cond:
        compared.append(a)
        return apart(a, b)

    monkeypatch.setattr(questions, "apart", counted)
    inner = turns("%n", pop(), COPY, FREE).replace("%i", "%j")
    text = pair_of_cores(turns("%n", turns("%n", PUSH).replace("%i", "%j")), NEAR + "\n" + turns("%n", inner),
                         memory=False, slots=8, reserved=65536)
    options = Options(families=frozenset({"RACE"}), explicit_sync=True)
    assert verify(read(text, "k.pto"), target("a5"), options)[-1].obligations
    assert len(compared) < 6000
