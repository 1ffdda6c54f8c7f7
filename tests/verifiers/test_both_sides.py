"""Two cores side by side for every trip count: handshakes that hold for all sizes are proved, others are refuted with a
size, and what is left open names the other core and the flag. Beside timed runs with small sizes."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from pypto_verified.pto.module import Module
from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule import Outcome
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.simulator.schedule.faults import LeftError
from pypto_verified.targets import target
from tests.verifiers.kernels import alloc, kernel, load, store, tile, view, window
from tests.verifiers.test_cores_wait import Lines, both, heard, judged, told, turns
from verifiers import Options, verify
from verifiers.race import together
from verifiers.race.side_state import State

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
SIZES = ((0, 0), (1, 1), (2, 3), (3, 2), (5, 0), (0, 4), (6, 5))
ANSWER, ASK = told(5, "MTE2"), heard(5, "FIX")


def when(cond: str, *body: str) -> Lines:
    """`cond` is '%a sgt %b'."""
    a, relation, b = cond.split()
    return (f"%is = arith.cmpi {relation}, {a}, {b} : index", "scf.if %is {", *body, "}")


def every_second(*lines: tuple[str, str]) -> Lines:
    """One of two lines, in turn."""
    ((even, odd),) = lines
    return ("%rest = arith.remsi %i, %c2 : index", *when("%rest eq %c0", even)[:-1], "} else {", odd, "}")


def inner(lines: Lines) -> Lines:
    return tuple(line.replace("%i ", "%j ").replace("%i,", "%j,") for line in lines)


MORE = "%more = arith.addi %M, %c1 : index"
LESS = "%less = arith.subi %M, %c1 : index"

HOLDS: dict[str, tuple[Lines, Lines]] = {
    "one way": (turns("M", told(3)), turns("M", heard(3))),
    "answered": (turns("M", told(3), ASK), turns("M", heard(3), ANSWER)),
    "free at first": ((*turns("M", ASK, told(3)), ASK), (ANSWER, *turns("M", heard(3), ANSWER))),
    "ids in turn": (turns("M", *every_second((told(3), told(4)))), turns("M", *every_second((heard(3), heard(4))))),
    "one ahead": (
        (*turns("M", *when("%i sgt %c0", ASK), told(3)), *when("%M sgt %c0", ASK)), turns("M", heard(3), ANSWER)),
    "one turn more": ((MORE, *turns("more", told(3))), (*turns("M", heard(3)), heard(3))),
    "first and rest": (
        (*when("%M sgt %c0", told(3)), LESS, *turns("less", told(3), ASK), *when("%M sgt %c0", ASK)[1:]),
        turns("M", heard(3), ANSWER)),
    "nested": (turns("M", *inner(turns("N", told(3), ASK)), told(4)),
               turns("M", *inner(turns("N", heard(3), ANSWER)), heard(4))),
    "one after the other": (
        (*turns("M", told(3)), *turns("N", told(4))), (*turns("M", heard(3)), *turns("N", heard(4)))),
    "for large sizes": (when("%M sgt %c4", told(3)), when("%M sgt %c4", heard(3))),
}


def run(module: Module, chip: str, m: int, n: int) -> Outcome:
    return schedule.replay(module, "k", {"M": m, "N": n}, target(chip))


def goes_wrong(outcome: Outcome) -> bool:
    return outcome.deadlock is not None or any(isinstance(e, LeftError) for e in outcome.errors)


def assumed(text: str, chip: str) -> tuple[FunctionResult, set[Verdict]]:
    options = Options(families=frozenset({"EVENT"}), assume=("M >= 0", "N >= 0"))
    (result,) = verify(read(text, "k.pto"), target(chip), options)
    return result, {o.verdict for o in result.obligations if o.rule == "EVENT-CORES"}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize("name", HOLDS)
def test_a_handshake_that_holds_for_every_size_is_proved(name: str, chip: str) -> None:
    text = both(*HOLDS[name], "%M: index, %N: index")
    assert assumed(text, chip)[1] == {PROVED}
    assert not any(goes_wrong(run(read(text, "k.pto"), chip, m, n)) for m, n in SIZES)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("name", "old", "new"), [
    ("one way", "c1", "c2"), ("answered", heard(3), told(4, "MTE2")), ("free at first", ANSWER, ""),
    ("ids in turn", heard(4), heard(3)), ("one ahead", "%M, %c0", "%M, %c1"), ("one turn more", "addi", "subi"),
    ("nested", "to %N", "to %M"), ("one after the other", heard(4), heard(3))])
def test_one_change_at_one_core_breaks_it_and_the_size_shows_it(name: str, old: str, new: str) -> None:
    cube, vector = HOLDS[name]
    at = 0 if old in "\n".join(cube) and name in ("one ahead", "one turn more") else 1
    sides = [cube, vector]
    lines = "\n".join(sides[at])
    assert old in lines
    sides[at] = tuple(lines.replace(old, new, 1).splitlines())
    text = both(sides[0], sides[1], "%M: index, %N: index")
    result, verdicts = assumed(text, "a2a3")
    assert REFUTED in verdicts
    found = next(f for f in result.findings if f.verdict is REFUTED)
    seen = confirm_order(
        read(text, "k.pto"), "k", found.rule, dict(found.witness), target("a2a3"), line=found.text_line or 0)
    assert seen.startswith("confirmed: ")


@pytest.mark.parametrize(("vector", "said"), [
    (turns("M", heard(3)), "waits for ever"),
    (turns("N", heard(3), ANSWER), "vector core"),
])
def test_what_depends_on_two_sizes_is_refuted_by_two(vector: Lines, said: str) -> None:
    text = both(turns("M", told(3), ASK), vector, "%M: index, %N: index")
    result, verdicts = assumed(text, "a2a3")
    assert REFUTED in verdicts
    assert any(said in f.message for f in result.findings)


def test_what_is_left_open_names_the_other_core_and_the_flag() -> None:
    """All flags at once, then all answers: the counters may not hold as many."""
    text = both((*turns("M", told(3)), *turns("M", ASK)), turns("M", heard(3), ANSWER), "%M: index")
    result, verdicts = judged(text, "a2a3")
    assert verdicts == {UNKNOWN}
    told_why = {f.message.partition("not decided ")[2] for f in result.findings if f.rule == "EVENT-CORES"}
    line = next(n for n, own in enumerate(text.splitlines(), 1) if ANSWER in own)
    assert told_why == {f"(line {line} may run ahead of the waits of the cube core by any number of turns)"}


FULL = {"one way", "ids in turn", "one turn more", "one after the other"}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("name", sorted(HOLDS.keys() - {"nested"}))
def test_a_core_that_never_waits_for_an_answer_fills_a_counter(name: str) -> None:
    """A counter holds 15 (PTO-ISA). What runs ahead is shown by the run that lets it."""
    text = both(*HOLDS[name], "%M: index, %N: index")
    result, _ = assumed(text, "a2a3")
    verdicts = {o.verdict for o in result.obligations if o.rule == "EVENT-COUNT"}
    assert verdicts == ({REFUTED} if name in FULL else {PROVED})
    for found in (f for f in result.findings if f.rule == "EVENT-COUNT"):
        seen = confirm_order(
            read(text, "k.pto"), "k", found.rule, dict(found.witness), target("a2a3"), line=found.text_line or 0)
        assert seen.startswith("confirmed: pipe: ") and "exceeds 15" in seen


def test_either_core_may_run_ahead() -> None:
    for core in (0, 1):
        sides = [turns("M", told(3, "MTE2" if core else "FIX")), turns("M", heard(3, "FIX" if core else "MTE2"))]
        text = both(sides[core], sides[1 - core], "%M: index")
        result, _ = judged(text, "a2a3")
        (found,) = (f for f in result.findings if f.rule == "EVENT-COUNT")
        assert (found.verdict, dict(found.witness)["M"]) == (REFUTED, 16)
        seen = confirm_order(
            read(text, "k.pto"), "k", found.rule, dict(found.witness), target("a2a3"), line=found.text_line or 0)
        assert seen.startswith("confirmed: pipe: ") and seen.endswith(f"(--schedule {('program', 'late')[core]})")


def test_a_meeting_tells_nothing_of_what_comes_after_it() -> None:
    """Both cores meet, then one stores what the other loads."""
    meet = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>"
    assert race_core(crossing((meet, STORE), (meet, LOAD))) == {REFUTED}
    assert race_core(crossing((STORE, meet), (meet, LOAD))) == {PROVED}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("early", "expected"), [(False, PROVED), (True, UNKNOWN)])
def test_accesses_that_small_sizes_never_reach_are_judged_too(early: bool, expected: Verdict) -> None:
    """Only for a caller whose %M exceeds 512 the cube stores and tells, and the vector cores wait and load."""
    stored = (told(3), STORE) if early else (STORE, told(3))
    text = crossing(when("%M sgt %c512", *stored), when("%M sgt %c512", heard(3), LOAD))
    assert race_core(text) == {expected}


ACC, VEC = tile(16, 16, "f32", "acc", "col_major", "row_major", 1024), tile(16, 16)
STORE, LOAD = store("acc", "cw", ACC, "16x16"), load("vw", "t", VEC, "16x16")


def crossing(cube: Lines, vector: Lines) -> str:
    """A cube that stores to %p what its vector cores load."""
    return kernel("\n".join((
        view("pv", "p", "c64", "c16"), "pto.section.cube {", alloc("acc", ACC, 0, "c16", "c16"),
        window("cw", "pv", "%c0, %c0", "%c16, %c16", "16x16"), *cube,
        "}", "pto.section.vector {", alloc("t", VEC, 0, "c16", "c16"),
        window("vw", "pv", "%c0, %c0", "%c16, %c16", "16x16"), *vector, "}")),
        "%M: index, %N: index").replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")


def races(text: str, chip: str = "a2a3") -> FunctionResult:
    options = Options(families=frozenset({"EVENT", "RACE"}), explicit_sync=True, assume=("M >= 0", "N >= 0"))
    (result,) = verify(read(text, "k.pto"), target(chip), options)
    return result


def race_core(text: str) -> set[Verdict]:
    return {o.verdict for o in races(text).obligations if o.rule == "RACE-CORE"}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("cube", "vector", "across", "within"), [
    ((STORE, told(3), ASK), (heard(3), LOAD, ANSWER), PROVED, PROVED),
    ((ASK, STORE, told(3)), (ANSWER, heard(3), LOAD), PROVED, PROVED),
    ((STORE, told(3), ASK), (ANSWER, heard(3), LOAD), REFUTED, REFUTED),
    ((STORE, told(3), ASK), (heard(3), told(5, "V"), LOAD), REFUTED, PROVED),
    ((told(3), STORE, ASK), (heard(3), LOAD, ANSWER), REFUTED, REFUTED),
])
def test_an_answer_orders_what_both_cores_do_for_every_trip_count(
    cube: Lines, vector: Lines, across: Verdict, within: Verdict
) -> None:
    """Each turn the cube stores a product that the vector cores load. On a2a3 only their answer orders its stores, and
    only if it comes after they have heard of the last one; it orders the load before the next store only if MTE2 gives
    it."""
    text = crossing(turns("M", *cube), turns("M", *vector))
    found = races(text)
    own = {o.verdict for o in found.obligations if o.rule == "RACE-WAW" and "tstore" in o.site}
    assert (REFUTED if REFUTED in race_core(text) else PROVED, own) == (across, {within})
    seen = run(read(text, "k.pto"), "a2a3", 3, 0)
    assert bool([r for r in seen.races if r.first.core != r.second.core]) is (across is REFUTED)
    assert bool([r for r in seen.races if r.first.core == r.second.core]) is (within is REFUTED)


def test_a_race_that_another_core_may_prevent_names_it() -> None:
    """How often the vector core answers depends on what it reads."""
    count = ("%word = pto.load_scalar %q[%c0] : !pto.ptr<f32> -> f32", "%n = arith.fptosi %word : f32 to i32",
             "%times = arith.index_cast %n : i32 to index")
    text = crossing(turns("M", STORE, told(3), ASK), (*count, *turns("times", heard(3), LOAD, ANSWER)))
    (found,) = (f for f in races(text).findings if f.rule == "RACE-WAW" and "tstore" in f.site)
    assert found.verdict is UNKNOWN
    assert "the vector core may order them" in found.message and "flag 5 that the cube core waits for" in found.message


def random_kernels(count: int) -> Iterator[tuple[int, str]]:
    """Two cores that follow one plan of flags, accesses, loops and branches; every second pair leaves some out."""
    for seed in range(count):
        yield seed, _Random(seed).text()


class _Random:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.faulty = self.random.random() < 0.5
        self.made = 0

    def text(self) -> str:
        plan = self._plan(2)
        return crossing(tuple(self._core("cube", plan, "")), tuple(self._core("vector", plan, "")))

    def _plan(self, depth: int) -> list[tuple[str, str, object]]:
        pick = self.random
        found: list[tuple[str, str, object]] = [("access", pick.choice(("cube", "vector")), 0)]
        for _ in range(pick.randint(1, 3)):
            kind = pick.random()
            if kind < 0.5 or not depth:
                found.append(("flag", pick.choice(("cube", "vector")), pick.choice((3, 4, 5))))
            elif kind < 0.85:
                found.append(("loop", pick.choice(("M", "N", "c2", "c3")), self._plan(depth - 1)))
            else:
                found.append(("if", pick.choice(("odd", "first", "later", "large")), self._plan(depth - 1)))
        pick.shuffle(found)
        return found

    def _core(self, core: str, plan: list[tuple[str, str, object]], var: str) -> Iterator[str]:
        pipe = "FIX" if core == "cube" else "MTE2"
        for kind, what, more in plan:
            if self.faulty and self.random.random() < 0.06:
                continue
            if kind == "flag":
                yield told(int(str(more)), pipe) if what == core else heard(int(str(more)), pipe)
            elif kind == "access" and what == core:
                yield STORE if core == "cube" else LOAD
            elif kind in ("loop", "if"):
                assert isinstance(more, list)
                if kind == "loop":
                    self.made += 1
                    own = f"v{self.made}"
                    yield from (f"scf.for %{own} = %c0 to %{what} step %c1 {{", *self._core(core, more, own), "}")
                else:
                    yield from (*self._condition(what, var), *self._core(core, more, var), "}")

    def _condition(self, what: str, var: str) -> Iterator[str]:
        self.made += 1
        a, b = f"r{self.made}", f"b{self.made}"
        if what == "large" or not var:
            yield f"%{b} = arith.cmpi sgt, %M, %c2 : index"
        elif what == "odd":
            yield f"%{a} = arith.remsi %{var}, %c2 : index"
            yield f"%{b} = arith.cmpi eq, %{a}, %c0 : index"
        else:
            yield f"%{b} = arith.cmpi {'eq' if what == 'first' else 'sgt'}, %{var}, %c0 : index"
        yield f"scf.if %{b} {{"


def _agrees(text: str, chip: str) -> None:
    """No proof that a run contradicts, no refutation that no run shows."""
    module, found = read(text, "k.pto"), races(text, chip)
    verdicts = {
        word: {o.verdict for o in found.obligations if o.rule.startswith(word)}
        for word in ("EVENT-CORES", "RACE-CORE", "RACE-RAW", "RACE-WAR", "RACE-WAW")}
    runs = [run(module, chip, m, n) for m, n in SIZES]
    wrong = any(map(goes_wrong, runs))
    assert not (wrong and verdicts["EVENT-CORES"] == {PROVED}), text
    assert wrong or REFUTED not in verdicts["EVENT-CORES"], text
    if wrong:
        return
    seen = [r for outcome in runs for r in (*outcome.races, *outcome.also)]
    across = [r for r in seen if r.first.core[:4] != r.second.core[:4]]
    own = [r for r in seen if r.first.core == r.second.core]
    for words, there in ((("RACE-CORE",), across), (("RACE-RAW", "RACE-WAR", "RACE-WAW"), own)):
        judged_so = set[Verdict]().union(*(verdicts[w] for w in words))
        assert not (there and judged_so <= {PROVED}), text
        assert there or REFUTED not in judged_so, text


@pytest.mark.requirement("EV-06")
def test_verdicts_agree_with_runs_of_random_pairs_of_cores() -> None:
    for seed, text in random_kernels(10):
        _agrees(text, "a5" if seed % 2 else "a2a3")


@pytest.mark.nightly
def test_verdicts_agree_with_runs_of_many_random_pairs_of_cores() -> None:
    for seed, text in random_kernels(300):
        _agrees(text, "a5" if seed % 2 else "a2a3")


@pytest.mark.parametrize("strict", [False, True])
def test_a_flag_to_the_scalar_pipe_holds_back_no_other_pipe_in_the_stricter_reading(strict: bool) -> None:
    """The vector cores answer on V, which has heard of the load by way of S alone (assumption SCALAR-ISSUES)."""
    by_way_of_s = (f"pto.{what}_flag[#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_S>, #pto.event<EVENT_ID0>]"
                   for what in ("set", "wait"))
    text = crossing((STORE, told(3), ASK, STORE), (heard(3), LOAD, *by_way_of_s, told(5, "V")))
    options = Options(families=frozenset({"RACE"}), explicit_sync=True, strict=strict)
    (result,) = verify(read(text, "k.pto"), target("a2a3"), options)
    assert (REFUTED in {o.verdict for o in result.obligations if o.rule == "RACE-CORE"}) is strict
    seen = schedule.replay(read(text, "k.pto"), "k", {}, target("a2a3"), strict=strict)
    assert bool([r for r in seen.races if r.first.core != r.second.core]) is strict


def test_loops_whose_bounds_are_not_compared_pile_up_no_knowledge_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inner loops turn max(M, 1) times and half as often. It took a minute to find that too much is known."""
    known: list[int] = []
    follow = together.Together._on

    def counted(walk: together.Together, state: State, todo: list[State]) -> State | None:
        known.append(len(state.known))
        return follow(walk, state, todo)

    monkeypatch.setattr(together.Together, "_on", counted)
    some = ("%more = arith.maxsi %M, %c1 : index",)
    half = (*some, "%next = arith.addi %more, %c1 : index", "%half = arith.divsi %next, %c2 : index")
    text = both((*some, *turns("N", *inner(turns("more", told(1), heard(8, "FIX"))))),
                (*half, *turns("N", *inner(turns("half", heard(1), told(8, "MTE2"))))), "%M: index, %N: index")
    result, verdicts = judged(text, "a2a3")
    assert result.obligations and verdicts <= {UNKNOWN, REFUTED}
    assert 0 < sum(max(0, n - 12) for n in known) < 10_000
