"""Two cores whose pipes, lanes and launches make their order another one than that of the text: nothing of it is proved
that a run contradicts, and buffers in turn are no race."""

from __future__ import annotations

import pytest

from pypto_verified.index import Cond
from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.schedule.faults import CounterError
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import FREE, PUSH, pair_of_cores, pop
from tests.verifiers.examples_fifo import turns as pipe_turns
from tests.verifiers.examples_split import ACC as PIPE_ACC
from tests.verifiers.kernels import check, kernel, load, store, tile, verdicts, view, window
from tests.verifiers.test_both_sides import ACC, LOAD, STORE, VEC, crossing, goes_wrong, race_core, races, run, when
from tests.verifiers.test_cores_wait import Lines, both, heard, judged, told, turns
from verifiers import Options, verify
from verifiers.race import dealings
from verifiers.race.places import Place, apart

PIPE_VEC = tile(32, 64)
PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN


def meet(mode: str = "hard", kinds: str = "mix") -> str:
    return f"pto.syncall() mode = #pto.sync_all_mode<{mode}>, core_type = #pto.sync_core_type<{kinds}>"


def lane_is(number: int, *body: str) -> Lines:
    return ("%b = pto.get_subblock_idx", "%lane = arith.index_cast %b : i64 to index",
            f"%mine = arith.cmpi eq, %lane, %c{number} : index", "scf.if %mine {", *body, "}")


def raced(text: str, chip: str) -> bool:
    """Whether two accesses race in some order of the pipes."""
    module = read(text, "k.pto")
    sizes, names = {"M": 1, "N": 0}, ("late", "exhaustive")
    runs = (schedule.replay(module, "k", sizes, target(chip), schedule=name) for name in names)
    return any(outcome.races for outcome in runs)


def counted(text: str, chip: str = "a2a3") -> set[Verdict]:
    return {o.verdict for o in judged(text, chip)[0].obligations if o.rule == "EVENT-COUNT"}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("between", "expected"), [((), UNKNOWN), (("pto.barrier <PIPE_ALL>",), PROVED)])
def test_a_flag_that_two_pipes_set_tells_of_either(between: Lines, expected: Verdict) -> None:
    """The set of MTE2 need not wait for the store: who takes one signal of two may have that one."""
    text = crossing((STORE, told(3), *between, told(3, "MTE2")), (heard(3), LOAD, heard(3)))
    assert (race_core(text) == {PROVED}) is (expected is PROVED)
    assert raced(text, "a2a3") is (expected is UNKNOWN)
    assert judged(text, "a2a3")[1] == {PROVED}


def test_a_flag_of_a_block_that_two_pipes_wait_for_is_taken_by_either() -> None:
    """On a5 each wait holds back its own pipe: MTE2 may take the first signal, which does not tell of the store."""
    def to_lanes(pipe: str) -> Lines:
        return tuple(f"pto.set_intra_block <PIPE_{pipe}>, {id}" for id in (3, 19))

    for first, expected in (("MTE3", UNKNOWN), ("MTE2", PROVED)):
        waits = (f"pto.wait_intra_block <PIPE_{first}>, 3", "pto.wait_intra_block <PIPE_MTE2>, 3", LOAD)
        text = crossing((*to_lanes("FIX"), STORE, *to_lanes("FIX")), waits)
        found = {o.verdict for o in races(text, "a5").obligations if o.rule == "RACE-CORE"}
        assert found == {expected}
        assert judged(text, "a5")[1] == {expected}
        assert raced(text, "a5") is (expected is UNKNOWN)


def test_a_pipe_that_is_not_held_back_may_set_its_flag_again_and_again() -> None:
    """On a5 FIX sets its flag while MTE2 waits for the answer."""
    def cube(pipe: str) -> Lines:
        return turns("c32", *(f"pto.wait_intra_block <PIPE_{pipe}>, {id}" for id in (4, 20)),
                     *(f"pto.set_intra_block <PIPE_FIX>, {id}" for id in (3, 19)))

    vector = turns("c32", "pto.set_intra_block <PIPE_MTE2>, 4", "pto.wait_intra_block <PIPE_MTE2>, 3")
    for pipe in ("MTE2", "FIX"):
        text = both(cube(pipe), vector)
        over = [str(e) for e in run(read(text, "k.pto"), "a5", 0, 0).errors if "exceeds" in str(e)]
        assert ("id 3" in " ".join(over)) is (pipe == "MTE2")
        assert counted(text, "a5") == {UNKNOWN if pipe == "MTE2" else PROVED}


def test_a_flag_of_no_single_pipe_is_not_followed() -> None:
    text = crossing((STORE, told(3, "ALL")), (heard(3), LOAD))
    assert race_core(text) == {UNKNOWN}
    errors = run(read(text, "k.pto"), "a2a3", 1, 0).errors
    assert any(isinstance(e, UnmodelledError) and "on ALL" in str(e) for e in errors)


@pytest.mark.requirement("EV-06")
def test_a_core_runs_ahead_past_the_heads_of_its_loops() -> None:
    """The other one waits as often as it is written down, and no small size leads there."""
    cube, vector = turns("c32", told(3)), (heard(3),) * 32
    large = "%both = arith.minsi %M, %N : index"
    text = both((large, *when("%both sgt %c100", *cube)), (large, *when("%both sgt %c100", *vector)),
                "%M: index, %N: index")
    assert counted(text) == {UNKNOWN}
    outcome = run(read(text, "k.pto"), "a2a3", 101, 101)
    assert any("exceeds 15" in str(e) for e in outcome.errors)


@pytest.mark.requirement("EV-06")
def test_barriers_of_two_modes_do_not_meet() -> None:
    for other, expected in (("hard", PROVED), ("soft", REFUTED)):
        text = both((meet(),), (meet(other),))
        assert judged(text, "a2a3")[1] == {expected}
        assert (run(read(text, "k.pto"), "a2a3", 0, 0).deadlock is not None) is (expected is REFUTED)
    text = crossing(when("%M sgt %c100", STORE, meet()), when("%M sgt %c100", meet("soft"), LOAD))
    assert judged(text, "a2a3")[1] == {UNKNOWN}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("number", "vector", "expected"), [
    (0, (heard(3),), {PROVED}), (0, lane_is(0, heard(3)), {REFUTED, PROVED}), (1, lane_is(1, heard(3)), {REFUTED}),
    (1, (), {PROVED})])
def test_a_cube_has_the_number_of_no_lane(number: int, vector: Lines, expected: set[Verdict]) -> None:
    """It reads 0, and its flag reaches both."""
    text = both(lane_is(number, told(3)), vector)
    outcome = run(read(text, "k.pto"), "a2a3", 0, 0)
    assert goes_wrong(outcome) is (REFUTED in expected)
    verdicts = judged(text, "a2a3")[1]
    assert (REFUTED in verdicts) is (REFUTED in expected)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("assume", [("M == 1000", "N == 0"), ("M >= 100000",)])
def test_assumptions_that_no_small_numbers_meet_are_met_by_others(assume: tuple[str, ...]) -> None:
    text = both(turns("M", told(3), heard(5, "FIX")), turns("N", heard(3), told(5, "MTE2")), "%M: index, %N: index")
    (result,) = verify(read(text, "k.pto"), target("a2a3"), Options(families=frozenset({"EVENT"}), assume=assume))
    found = {o.verdict for o in result.obligations if o.rule == "EVENT-CORES"}
    assert REFUTED in found and PROVED not in found
    assert goes_wrong(run(read(text, "k.pto"), "a2a3", 10, 0))


@pytest.mark.requirement("EV-06")
def test_a_launch_that_is_assumed_is_run() -> None:
    text = both((meet(),), lane_is(0, meet()))
    for assume in ((), ("block_num == 24",)):
        (result,) = verify(read(text, "k.pto"), target("a2a3"), Options(families=frozenset({"EVENT"}), assume=assume))
        assert REFUTED in {o.verdict for o in result.obligations if o.rule == "EVENT-CORES"}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("body", "expected"), [
    ((meet(kinds="aiv_only"),), PROVED),
    (turns("M", meet(kinds="aiv_only")), PROVED),
    (turns("blk", meet(kinds="aiv_only")), UNKNOWN),
    (when("%blk eq %c0", meet(kinds="aiv_only")), UNKNOWN),
    (("%even = arith.remsi %blk, %c2 : index", *when("%even eq %c0", meet(kinds="aiv_only"))), UNKNOWN),
    (lane_is(0, meet(kinds="aiv_only")), UNKNOWN),
    (lane_is(0, meet(kinds="aiv_only"), "} else {", meet(kinds="aiv_only")), PROVED),
    (lane_is(0, meet(kinds="aiv_only"), "} else {", meet("soft", "aiv_only")), UNKNOWN),
    (lane_is(0, *turns("M", meet(kinds="aiv_only")), "} else {", *turns("M", meet(kinds="aiv_only"))), PROVED),
    (lane_is(0, *turns("M", meet(kinds="aiv_only")), "} else {", *turns("c2", meet(kinds="aiv_only"))), UNKNOWN),
    (("%word = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> f32", "%n = arith.fptosi %word : f32 to i32",
      "%times = arith.index_cast %n : i32 to index", *turns("times", meet("soft", "aiv_only"))), UNKNOWN)])
def test_all_cores_come_to_a_barrier_equally_often(body: Lines, expected: Verdict) -> None:
    """What only some blocks or lanes come to, the others wait at for ever."""
    block = ("%b0 = pto.get_block_idx", "%blk = arith.index_cast %b0 : i64 to index")
    result = check(kernel("\n".join((*block, *body)), "%M: index"), families="EVENT", assume=("block_num == 48",))
    assert verdicts(result, "EVENT-LAUNCH") == {expected}
    if expected is UNKNOWN:
        assert all("cores may come to it less often" in f.message for f in result.findings)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("ahead", "races_then"), [(2, False), (3, True)])
def test_buffers_in_turn_are_no_race_though_the_answer_is_one_turn_old(ahead: int, races_then: bool) -> None:
    """A cube stores to one of two windows in turn and waits from the turn `ahead` on; its lanes answer each load."""
    def in_turn(line: str, window: str) -> Lines:
        at = (f"%{window}2 = pto.partition_view %pv, offsets = [%slot, %c0], sizes = [%c16, %c16] : "
              "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>")
        return ("%rest = arith.remsi %i, %c2 : index", "%slot = arith.muli %rest, %c16 : index", at,
                line.replace(f"%{window} ", f"%{window}2 "))

    ask, answer = heard(5, "FIX"), told(5, "MTE2")
    left = [line.replace("%is", f"%is{n}") for n in range(ahead) for line in when(f"%M sgt %c{n}", ask)]
    text = crossing((*turns("M", *when(f"%i sge %c{ahead}", ask), *in_turn(STORE, "cw"), told(3)), *left),
                    turns("M", heard(3), *in_turn(LOAD, "vw"), answer))
    found = {o.verdict for o in races(text).obligations if o.rule in ("RACE-WAW", "RACE-CORE")}
    assert (REFUTED in found) is races_then
    assert any(run(read(text, "k.pto"), "a2a3", m, 0).races for m in (0, 1, 2, 3, 5)) is races_then


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize("slots", [2, 3, 4])
def test_a_flag_that_is_set_behind_more_tiles_than_there_are_slots_never_comes(chip: str, slots: int) -> None:
    """The lanes pop only when they have heard the flag. On a5 a push holds back its pipe, and so its flag."""
    for pushed in range(slots, 2 * slots + 3):
        pops = (text for n in range(pushed) for text in (pop(f"t{n}"), FREE))
        text = pair_of_cores("\n".join([PUSH] * pushed + [told(9)]), "\n".join((heard(9), *pops)), slots=slots,
                             reserved=8192 * slots)
        module = read(text, "k.pto")
        found = [o.verdict for r in verify(module, target(chip), Options(families=frozenset({"EVENT"})))
                 for o in r.obligations if o.rule == "EVENT-CORES"]
        hangs = schedule.replay(module, "cube", {"n": 1}, target(chip)).deadlock is not None
        assert hangs is (pushed > _room(chip, slots))
        assert (set(found) == {PROVED}) is not hangs
        assert (REFUTED in found) is (hangs and chip == "a2a3")


def _room(chip: str, slots: int) -> int:
    """Tiles that are pushed before one is popped. A credit stands for half of the slots, for all of two (TPush.hpp); a5
    posts as many as such a half has tiles when it makes the pipe."""
    period = slots if slots <= 2 else slots // 2
    first = -(-slots // period) * period
    return first + (period * period if chip == "a5" else 0)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_pushes_that_wait_for_slots_keep_a_flag_from_running_ahead(chip: str) -> None:
    """A flag for each tile: there are never more than two slots ahead, and for every number of tiles."""
    text = pair_of_cores(pipe_turns("%n", PUSH, told(9)), pipe_turns("%n", heard(9), pop(), FREE))
    found = {o.verdict for r in verify(read(text, "k.pto"), target(chip), Options(families=frozenset({"EVENT"})))
             for o in r.obligations if o.rule in ("EVENT-COUNT", "EVENT-CORES")}
    assert found == {PROVED}
    outcome = schedule.replay(read(text, "k.pto"), "cube", {"n": 40}, target(chip), schedule="program")
    assert outcome.deadlock is None and not any(isinstance(e, CounterError) for e in outcome.errors)


def in_turn(op: str, pipe: str, first: int, among: int, name: str) -> Lines:
    """A flag whose id is `first` plus the turn's rest."""
    return (f"%{name}r = arith.remsi %i, %c{among} : index", f"%{name} = arith.addi %{name}r, %c{first} : index",
            f"pto.sync.{op} #pto.pipe<PIPE_{pipe}>, %{name}")


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("among", "expected"), [(2, PROVED), (3, REFUTED)])
def test_ids_that_are_computed_in_turn_are_followed_for_every_trip_count(among: int, expected: Verdict) -> None:
    cube = turns("M", STORE, *in_turn("set", "FIX", 3, 2, "own"), heard(5, "FIX"))
    vector = turns("M", *in_turn("wait", "MTE2", 3, among, "own"), LOAD, told(5, "MTE2"))
    text = crossing(cube, vector)
    _, found = judged(text, "a2a3")
    assert (REFUTED in found) is (expected is REFUTED)
    assert goes_wrong(run(read(text, "k.pto"), "a2a3", 5, 0)) is (expected is REFUTED)
    if expected is PROVED:
        assert {o.verdict for o in races(text).obligations} == {PROVED}


@pytest.mark.requirement("EV-06")
def test_an_id_of_the_caller_is_not_followed() -> None:
    """Equal sizes alone are not enough."""
    text = crossing((STORE, *in_turn("set", "FIX", 3, 2, "own")[1:]), (*in_turn("wait", "MTE2", 3, 2, "own")[1:], LOAD))
    text = text.replace("%ownr", "%M", 1).replace("%ownr", "%N")
    assert judged(text, "a2a3")[1] == {UNKNOWN} == race_core(text)
    assert [goes_wrong(run(read(text, "k.pto"), "a2a3", m, 1)) for m in (1, 2)] == [False, True]


@pytest.mark.parametrize(("stored", "expected"), [
    ((), UNKNOWN), (lane_is(0)[:-2], UNKNOWN), (("%mine = arith.cmpi eq, %c0, %c1 : index",), PROVED)])
def test_what_one_lane_writes_and_the_other_reads_is_not_proved(stored: Lines, expected: Verdict) -> None:
    """Both lanes read the window, which both, lane 0 or none of them writes; the cube tells them nothing."""
    write = STORE.replace("%acc", "%t").replace("%cw", "%vw").replace(ACC, VEC)
    writes = (*stored, "scf.if %mine {", write, "}") if stored else (write,)
    text = crossing((told(3),), (heard(3), *writes, "pto.barrier <PIPE_ALL>", LOAD))
    assert race_core(text) == {expected}
    assert raced(text, "a2a3") is (expected is UNKNOWN)


def test_lanes_with_windows_of_their_own_are_apart() -> None:
    lines = ("%b = pto.get_subblock_idx", "%lane = arith.index_cast %b : i64 to index",
             "%row = arith.muli %lane, %c16 : index",
             "%mine = pto.partition_view %pv, offsets = [%row, %c0], sizes = [%c16, %c16] : "
             "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>")
    write = STORE.replace("%acc", "%t").replace("%cw", "%mine").replace(ACC, VEC)
    text = crossing((told(3),), (heard(3), *lines, write, "pto.barrier <PIPE_ALL>", LOAD.replace("%vw", "%mine")))
    assert race_core(text) == {PROVED}
    assert not raced(text, "a2a3")


def test_two_accesses_are_compared_once_however_often_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Place] = []

    def counting(a: Place, b: Place) -> Cond:
        asked.append(a)
        return apart(a, b)

    monkeypatch.setattr(dealings, "apart", counting)
    text = crossing(turns("c100", STORE, told(3), heard(5, "FIX")), turns("c100", heard(3), LOAD, told(5, "MTE2")))
    assert race_core(text) == {PROVED}
    assert 0 < len(asked) < 100


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("chip", "ordered"), [("a2a3", True), ("a5", False)])
@pytest.mark.parametrize("flagged", [False, True])
def test_a_pop_of_a5_holds_back_the_pipe_that_uses_the_tile_and_no_other(
    chip: str, ordered: bool, flagged: bool
) -> None:
    """The cube stores to global memory before it pushes; MTE2 of the vector core loads that after the pop, on a5 only
    with a flag of V."""
    far = "%c128 = arith.constant 128 : index"
    memory = (far, view("gv", "gm", "c128"), window("w", "gv", "%c64, %c0", "%c32, %c64", "32x64"))
    hand = ("pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]", "pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]")
    text = pair_of_cores(
        "\n".join((*memory, store("c", "w", PIPE_ACC, "32x64"), PUSH)),
        "\n".join((*memory, pop(), *(hand if flagged else ()), load("w", "o", PIPE_VEC, "32x64"), FREE)))
    module = read(text, "k.pto")
    found = {o.verdict for r in verify(module, target(chip), Options(families=frozenset({"RACE"}), explicit_sync=True))
             for o in r.obligations if o.rule == "RACE-CORE"}
    right = ordered or flagged
    assert found == {PROVED if right else REFUTED}
    raced = [r for name in ("late", "exhaustive")
             for r in schedule.replay(module, "cube", {"n": 1}, target(chip), schedule=name).races]
    assert bool(raced) is not right
