"""RACE against plain execution: random kernels with flags, loops over slots and branches, run by the simulator's vector
clocks for each trip count up to four."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from pypto_verified.pto.reader import read as parse
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_event import computed, flag
from tests.verifiers.examples_race import VEC, barrier, both, exp, pipes, read, write
from tests.verifiers.kernels import load, store, unary, view
from verifiers import Options, verify
from verifiers.access import Step
from verifiers.race import accesses, runs
from verifiers.race.walker import Core

TRIPS = range(5)
PAIRS = ("MTE2 V", "V MTE3", "MTE3 MTE2", "V MTE2", "MTE3 V", "MTE2 MTE3")
RULES = ("RACE-RAW", "RACE-WAR", "RACE-WAW")


def _op(random: Random, slot: bool) -> str:
    tiles = ["a", "b", "c"] + ["t"] * 3 * slot
    one, other = random.choice(tiles), random.choice(tiles)
    kind = random.random()
    if kind < 0.3:
        return load("src", "t", VEC, "32x64") if one == "t" else read(one)
    if kind < 0.5:
        return store("t", "dst", VEC, "32x64") if one == "t" else write(one)
    return unary("texp", one, other, VEC) if "t" in (one, other) else exp(one, other)


def _sync(random: Random) -> str:
    if random.random() < 0.25:
        return barrier(random.choice(("V", "MTE2", "MTE3", "ALL")))
    return both(random.choice(PAIRS), random.choice((4, 5)))


def _body(random: Random, depth: int, slot: bool, names: Iterator[int], wild: bool = False) -> Iterator[str]:
    for _ in range(random.randint(2, 5)):
        kind = random.random()
        if kind < 0.45:
            yield _op(random, slot)
        elif kind < 0.8:
            yield _sync(random)
        elif depth and kind < 0.92:
            yield from _loop(random, depth - 1, names, wild)
        else:
            n = next(names)
            what = random.choice(("%i", "%M")) if slot else "%M"
            relation, bound = random.choice(("slt", "sge", "eq")), random.choice((0, 1, 2))
            yield f"%if{n} = arith.cmpi {relation}, {what}, %c{bound} : index"
            yield f"scf.if %if{n} {{"
            yield _op(random, slot)
            yield _sync(random)
            yield "}"


def _slot(random: Random, n: int) -> Iterator[str]:
    """The slot of an iteration as what is no expression of its number, or changes at another step."""
    number, bound = random.choice(("eq", "slt", "ne")), random.choice((1, 2, 3))
    yield from random.choice((
        (f"%two{n} = arith.remsi %i, %c2 : index", f"%id = arith.ori %two{n}, %c0 : index"),
        (f"%is{n} = arith.cmpi {number}, %i, %c{bound} : index", f"%id = arith.select %is{n}, %c0, %c1 : index"),
        (f"%last{n} = arith.subi %M, %c1 : index", f"%is{n} = arith.cmpi eq, %i, %last{n} : index",
         f"%id = arith.select %is{n}, %c1, %c0 : index"),
        (f"%sq{n} = arith.muli %i, %i : index", f"%id = arith.remsi %sq{n}, %c3 : index"),
        ("%id = arith.remsi %i, %c2 : index",)))


def _loop(random: Random, depth: int, names: Iterator[int], wild: bool = False) -> Iterator[str]:
    """A loop over two slots, with flags passed from one iteration to the next, one a slot or one for all. A wild one
    may be a while loop that works before each test of its condition, and its slots may not follow the iterations."""
    while_ = wild and random.random() < 0.5
    pairs = random.sample(PAIRS, random.randint(0, 2))
    one = random.random() < 0.5
    ids = (0,) if one else (0, 1)
    n = next(names)
    for pair in pairs:
        yield from (flag("set", i + 2 * (depth > 0), pair) for i in ids)
    if while_:
        yield f"%end{n} = scf.while (%test{n} = %c0) : (index) -> index {{"
        if random.random() < 0.4:
            yield from (_op(random, False), _sync(random))
        yield f"%more{n} = arith.cmpi slt, %test{n}, %M : index"
        yield from (f"scf.condition(%more{n}) %test{n} : index", "} do {", f"^bb0(%i{n}: index):")
    else:
        yield f"scf.for %i{n} = %c0 to %{random.choice(('M', 'c2', 'c3'))} step %c1 {{"
    yield f"%i = arith.addi %i{n}, %c0 : index"
    yield from _slot(random, n) if wild else ("%id = arith.remsi %i, %c2 : index",)
    yield f"%key = arith.addi %id, %c{2 * (depth > 0)} : index"
    yield "%off = arith.muli %id, %size : index"
    yield "%at = arith.index_cast %off : index to i64"
    yield f"%t = pto.alloc_tile addr = %at valid_row = %c32 valid_col = %c64 : {VEC}"
    for pair in pairs:
        yield flag("wait", 2 * (depth > 0), pair) if one else computed("wait", "key", pair)
    yield from _body(random, 0, True, names)
    for pair in pairs:
        yield flag("set", 2 * (depth > 0), pair) if one else computed("set", "key", pair)
    if while_:
        yield from (f"%next{n} = arith.addi %i{n}, %c1 : index", f"scf.yield %next{n} : index")
    yield "}"
    for pair in pairs:
        yield from (flag("wait", i + 2 * (depth > 0), pair) for i in ids)


def kernel_of(seed: int, wild: bool = False) -> str:
    """The kernel of a seed."""
    random = Random(seed)
    names = iter(range(10_000))
    body = list(_body(random, 2, False, names, wild))
    return pipes(
        view("mv", "p", "M"), both("MTE2 V", 6), "%size = arith.constant 8192 : index", *body, args="%M: index")


def agree(seed: int, chip: str = "a2a3", strict: bool = False, wild: bool = False) -> str:
    """The verdict, after a comparison with all runs."""
    text = kernel_of(seed, wild)
    module, device = parse(text, "k.pto"), target(chip)
    options = Options(strict=strict, families=frozenset({"RACE", "EVENT"}), assume=("M >= 0", "M <= 4"))
    (result,) = verify(module, device, options)
    events = {o.verdict for o in result.obligations if o.rule.startswith("EVENT")}
    if events - {Verdict.PROVED}:
        return "events"
    races: dict[int, set[tuple[int, int]]] = {}
    for trips in TRIPS:
        outcome = schedule.replay(module, "k", {"M": trips}, device, strict=strict)
        assert outcome.deadlock is None and not outcome.stopped, f"seed {seed}: {outcome.deadlock} {outcome.errors}"
        races[trips] = {(r.first.line, r.second.line) for r in outcome.races}
    seen = {pair for found in races.values() for pair in found}
    own = [o for o in result.obligations if o.rule in RULES]
    found = {o.verdict for o in own}
    proved = {_lines(o.site) for o in own} - {_lines(o.site) for o in own if o.verdict is not Verdict.PROVED}
    assert not seen & proved, f"seed {seed}: {seen & proved} are proved, but runs race at {races}"
    assert seen <= {_lines(o.site) for o in own}, f"seed {seed}: not every race was looked at: {races}"
    for finding in result.findings:
        if finding.verdict is Verdict.REFUTED:
            trips = dict(finding.witness).get("M", 2)
            lines = {line for pair in races[trips] for line in pair}
            assert finding.text_line in lines, f"seed {seed}: {finding.site} is refuted at M = {trips}, runs: {races}"
    return "refuted" if Verdict.REFUTED in found else "proved" if found <= {Verdict.PROVED} else "unknown"


def _lines(site: str) -> tuple[int, int]:
    """Of the first and the second op of '<line> <op> after <op> line <line>'."""
    return int(site.rpartition(" ")[2]), int(site.partition(" ")[0])


@pytest.mark.requirement("EV-08", "VF-01")
def test_verdicts_agree_with_runs_of_while_loops_and_slots_that_change_at_will() -> None:
    outcomes = [agree(seed, wild=True) for seed in (7, *range(15, 24))]
    assert {"refuted", "proved"} <= set(outcomes)


@pytest.mark.parametrize("start", [0, 20])
@pytest.mark.requirement("EV-08")
def test_verdicts_agree_with_runs(start: int) -> None:
    outcomes = [agree(seed) for seed in range(start, start + 20)]
    assert outcomes.count("unknown") <= 2
    assert "refuted" in outcomes


def test_what_a_step_touches_is_computed_once_for_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[int] = Counter()
    begun: list[Core] = []
    of_step, begin = accesses._of_step, runs.Run.__init__

    def counted(step: Step, *rest: Any) -> Iterator[accesses.Access]:
        asked[step.index] += 1
        return of_step(step, *rest)

    def noted(self: runs.Run, core: Core, *rest: Any) -> None:
        begun.append(core)
        begin(self, core, *rest)

    monkeypatch.setattr(accesses, "_of_step", counted)
    monkeypatch.setattr(runs.Run, "__init__", noted)
    verify(parse(kernel_of(12), "k.pto"), target("a2a3"), Options(families=frozenset({"RACE"})))
    assert len(begun) > 2
    assert set(asked.values()) == {1}
