"""FIFO: the order of pushes, pops and frees, credits, and which pipe and which number is meant."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.module import Module
from pypto_verified.pto.reader import read
from pypto_verified.pto.walk import walk_ops
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.simulator.schedule.faults import EarlyError
from pypto_verified.targets import target
from tests.simulator.mixed import Mixed
from tests.verifiers.examples_fifo import COPY, FREE, HALF, MAT, NEAR, PUSH, SIZE, pair_of_cores, pop, turns
from tests.verifiers.examples_split import ACC, core
from tests.verifiers.kernels import alloc, check
from tests.verifiers.test_fifo import BOTH, TAKEN, verdicts
from verifiers import Options, verify
from verifiers.access import build_program
from verifiers.fifo_turns import in_order
from verifiers.pipes import through_memory
from verifiers.race.rings import ring_slot
from verifiers.race.values import Values


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("pops", "expected"), [("%c8", Verdict.PROVED), ("%c9", Verdict.REFUTED)])
def test_the_ends_of_a_pipe_may_call_it_by_different_numbers(pops: str, expected: Verdict) -> None:
    """What ties them is the buffer (PTOAS)."""
    text = pair_of_cores(turns("%c8", PUSH), turns(pops, BOTH))
    cube, vector = text.split("func.func @vector")
    renamed = vector.replace("{split", "{id = 7, split").replace("{dir_mask", "{id = 7, dir_mask")
    assert verdicts(f"{cube}func.func @vector{renamed}", "FIFO-POP") == {expected}


@pytest.mark.parametrize(("slots", "expected"), [(1, Verdict.PROVED), (2, Verdict.PROVED), (3, Verdict.PROVED),
                                                 (4, Verdict.PROVED), (5, Verdict.REFUTED), (7, Verdict.REFUTED),
                                                 (8, Verdict.PROVED)])
def test_odd_numbers_of_slots_from_five_on_overrun(slots: int, expected: Verdict) -> None:
    text = pair_of_cores(turns("%c32", PUSH), turns("%c32", BOTH), slots=slots)
    assert verdicts(text, "FIFO-OVERRUN") == {expected}


def test_the_library_of_a5_lets_every_pipe_overrun_which_counts_only_strictly() -> None:
    text = pair_of_cores(turns("%c32", PUSH), turns("%c32", BOTH), memory=False)
    assert verdicts(text, "FIFO-OVERRUN", chip="a5") == {Verdict.PROVED}
    assert verdicts(text, "FIFO-OVERRUN", chip="a5", strict=True) == {Verdict.REFUTED}
    few = pair_of_cores(PUSH, BOTH, memory=False)
    assert verdicts(few, "FIFO-OVERRUN", chip="a5", strict=True) == {Verdict.PROVED}


@pytest.mark.parametrize(("body", "expected"), [
    ((turns("%c1", FREE), COPY), Verdict.UNKNOWN),
    ((TAKEN, FREE, "} else {", FREE, "}", COPY), Verdict.UNKNOWN),
    ((TAKEN, COPY, FREE, "} else {", FREE, "}"), Verdict.PROVED),
    ((TAKEN, FREE, "} else {", COPY, FREE, "}"), Verdict.PROVED),
    ((COPY, turns("%c1", FREE)), Verdict.PROVED),
])
def test_a_free_in_a_branch_or_loop_may_come_before_a_use_in_the_block_around_it(
    body: tuple[str, ...], expected: Verdict
) -> None:
    text = pair_of_cores(PUSH, "\n".join((NEAR, pop(), *body)), memory=False)
    assert verdicts(text, "FIFO-USED", "a5") == {expected}


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("body", "expected"), [
    ((turns("%n", pop(), COPY, FREE),), {Verdict.PROVED}),
    ((turns("%n", FREE, pop(), COPY),), {Verdict.REFUTED}),
    ((turns("%n", pop(), COPY), turns("%n", FREE)), {Verdict.PROVED}),
    ((turns("%n", FREE), turns("%n", pop(), COPY)), {Verdict.REFUTED}),
    ((turns("%n", pop(), COPY, turns("%c2", FREE).replace("%i", "%j"), pop("u"), COPY.replace("%t", "%u")),),
     {Verdict.REFUTED}),
    ((turns("%n", pop(), COPY, pop("u"), COPY.replace("%t", "%u"), turns("%c2", FREE).replace("%i", "%j")),),
     {Verdict.PROVED}),
    ((f"%few = arith.cmpi slt, %n, %c2 : index\nscf.if %few {{\n{FREE}\n}}", turns("%n", pop(), FREE)),
     {Verdict.REFUTED, Verdict.UNKNOWN}),
])
def test_on_a5_no_slot_is_given_back_before_its_tile_is_popped(body: tuple[str, ...], expected: set[Verdict]) -> None:
    """Counts that agree in the end do not say so. Some size shows it, and the run of the first finding does; what was
    copied on a2a3 nobody gives back."""
    twice = "%u =" in "\n".join(body)
    pushes = turns("%n", *[PUSH] * (2 if twice else 1))
    text = pair_of_cores(pushes, "\n".join((NEAR, *body)), memory=False, slots=8)
    assert verdicts(text, "FIFO-EARLY", "a5") == expected
    module = read(text, "k.pto")
    early = [any(isinstance(e, EarlyError) for e in schedule.replay(module, "cube", {"n": n}, target("a5")).errors)
             for n in range(4)]
    assert any(early) is (Verdict.REFUTED in expected)
    found = [f for f in check(text, chip="a5", families="FIFO").findings
             if f.rule == "FIFO-EARLY" and f.verdict is Verdict.REFUTED]
    for f in found:
        seen = confirm_order(module, "cube", f.rule, dict(f.witness), target("a5"), line=f.text_line or 0)
        assert seen.startswith("confirmed: ")
    memory = pair_of_cores(pushes, "\n".join((NEAR, *body)), slots=8)
    assert verdicts(memory, "FIFO-EARLY", "a2a3") == set()
    assert not any(schedule.replay(read(memory, "k.pto"), "cube", {"n": n}, target("a2a3")).stopped for n in range(4))


@pytest.mark.requirement("EV-08")
def test_a_race_with_a_popped_tile_that_another_pop_wrote_over_since_is_not_told() -> None:
    """Five pops in each turn of four slots, of which a branch of it holds one: which slot that takes the text does not
    tell, a run does. The copy that it is read by races with the next pop into that slot, which later ones hide."""
    def inner(*body: str) -> str:
        return turns("%c2", *body).replace("%i", "%j")

    taken = "\n".join((pop("v"), COPY.replace("%t", "%v"), FREE))
    text = pair_of_cores(
        turns("%n", *[PUSH] * 5),
        "\n".join((NEAR, turns("%n", inner(pop("t"), FREE, pop("u"), FREE), "%is = arith.cmpi sge, %i, %c0 : index",
                               "scf.if %is {", taken, "}"))), slots=4)
    module = read(text, "k.pto")
    *_, result = verify(module, target("a2a3"), Options(families=frozenset({"RACE"}), explicit_sync=True))
    found = [f for f in result.findings if f.verdict is Verdict.REFUTED]
    assert {f.rule for f in found} == {"RACE-RAW", "RACE-WAR", "RACE-WAW"}
    for f in found:
        seen = confirm_order(
            module, result.name, f.rule, dict(f.witness), target("a2a3"), line=f.text_line or 0)
        assert seen.startswith("confirmed: "), f.message


# Both ends waiting for each other

def _crossed(chip: str, late: bool) -> Module:
    """A cube and its lanes exchange tiles; `late`: the cube pushes only after it has popped, and so do the lanes."""
    module = Mixed(chip, direction=3).module
    for op in (x for x in walk_ops(module.funcs[0]) if x.name == "scf.for"):
        ops = op.regions[0].ops
        push = next(x for x in ops if x.name == "pto.tpush_to_aiv")
        if late:
            ops.remove(push)
            ops.insert(1 + next(i for i, x in enumerate(ops) if x.name == "pto.tfree_from_aiv"), push)
    return module


@pytest.mark.parametrize(("chip", "found"), [("a2a3", Verdict.REFUTED), ("a5", Verdict.UNKNOWN)])
@pytest.mark.parametrize("late", [False, True])
def test_two_ends_that_pop_before_they_push_are_found_as_the_simulator_finds_them(
    chip: str, found: Verdict, late: bool
) -> None:
    """On a5 a pop holds back one pipe, so the order of transfers alone does not tell."""
    a = np.ones((96, 32), np.float32)
    tensors = {"a": a, "eye": np.eye(32, dtype=np.float32), "out": np.zeros_like(a)}
    outcome = schedule.run(_crossed(chip, late), target(chip), tensors, schedule="late")
    results = verify(_crossed(chip, late), target(chip), Options(families=frozenset({"FIFO"})))
    judged = {o.verdict for r in results for o in r.obligations if o.rule == "FIFO-POP"}
    assert (outcome.deadlock is not None) is late
    assert judged == ({found} if late else {Verdict.PROVED})
    if found is Verdict.REFUTED and late:
        message = next(f.message for f in results[0].findings if f.rule == "FIFO-POP")
        assert "waits for the other end, which waits for this one in tpop_from_aic" in message


@pytest.mark.parametrize(("tiles", "expected"), [(2, Verdict.PROVED), (4, Verdict.PROVED), (5, Verdict.REFUTED)])
def test_a_cube_that_pushes_all_before_it_pops_needs_slots_for_all(tiles: int, expected: Verdict) -> None:
    """Two slots each way: the lane has popped three and cannot push its third while the cube, which has pushed four,
    waits for the slot of its fifth."""
    ends = ("{dir_mask = 3, slot_size = 8192, slot_num = 2} (gm_slot_buffer = %gm : !pto.ptr<f32>, "
            "c2v_consumer_buf = %there : i32, v2c_consumer_buf = %back : i32)")
    rings = {"there": ("vec", "vector"), "back": ("mat", "cube")}

    def buffers(own: str) -> list[str]:
        return [
            f'%{name} = pto.reserve_buffer {{name = "{name}", size = 32768, location = #pto.address_space<{space}>, '
            "auto = false, base = 0} -> i32" if at == own else
            f'%{name} = pto.import_reserved_buffer {{name = "{name}", peer_func = @{at}}} -> i32'
            for name, (space, at) in rings.items()]

    turn = f"scf.for %i = %c0 to %n{tiles} step %c1 {{"
    count = f"%n{tiles} = arith.constant {tiles} : index"
    back = f"%u = pto.tpop_from_aiv(%c32, %c64) {{split = 1}} -> {MAT}"
    cube = core(
        "cube", "cube", *buffers("cube"), f"pto.aic_initialize_pipe {ends}", count, alloc("c", ACC, 0, "c32", "c64"),
        turn, PUSH, "}", turn, back, "pto.tfree_from_aiv {split = 1}", "}")
    vector = core(
        "vector", "vector", *buffers("vector"), f"pto.aiv_initialize_pipe {ends}", count,
        "%far = arith.constant 131072 : i64", alloc("o", HALF, "far", "c16", "c64"),
        turn, BOTH, f"pto.tpush_to_aic(%o : {HALF}) {{split = 1}}", "}")
    assert verdicts(f"module {{\n{cube}{vector}}}\n", "FIFO-POP") == {expected}


def test_the_slots_of_a_pop_are_those_of_its_own_pipe() -> None:
    """Two pipes of two and of three slots: four pops of the second come round once."""
    text = pair_of_cores(PUSH, pop())
    init = next(line for line in text.splitlines() if "aiv_initialize_pipe" in line)
    first = init.replace("slot_num = 2", "slot_num = 2, local_slot_num = 2")
    second = init.replace("slot_num = 2", "slot_num = 3, local_slot_num = 3").replace("dir_mask", "id = 1, dir_mask")
    pops = (pop(f"u{k}").replace("{split", "{id = 1, split") for k in range(4))
    text = text.replace(init, f"{first}\n{second}").replace(pop(), "\n".join((pop(), *pops)))
    program = build_program(read(text, "k.pto").funcs[1], "k.pto", "a2a3")
    taken: dict[int, int] = {}
    slots = [ring_slot(s, program, target("a2a3"), taken) for s in program.steps if "tpop" in s.op.name]
    assert [(pipe, slot) for _, pipe, slot in slots] == [(0, 0), (1, 0), (1, 1), (1, 2), (1, 0)]


def test_a_pipe_lies_in_memory_if_its_own_end_says_so() -> None:
    for memory in (True, False):
        program = build_program(read(pair_of_cores(PUSH, pop(), memory=memory), "k.pto").funcs[1], "k.pto", "a2a3")
        assert (through_memory(program, 0), through_memory(program, 1)) == (memory, False)


@pytest.mark.parametrize("slots", [0, -1])
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_a_pipe_without_slots_is_refused_and_nothing_falls_over_it(slots: int, chip: str) -> None:
    text = pair_of_cores(turns("%c8", PUSH), turns("%c8", BOTH), slots=slots, memory=chip == "a2a3")
    results = verify(read(text, "k.pto"), target(chip), Options())
    refuted = {o.rule for r in results for o in r.obligations if o.verdict is Verdict.REFUTED}
    assert any(rule.startswith("LEGAL-") for rule in refuted)


@pytest.mark.parametrize(("stop", "pushes"), [("%c0", 0), ("%c1", 1), ("%c8", 8)])
def test_every_iteration_of_a_loop_transfers_its_tiles(stop: str, pushes: int) -> None:
    """A loop that runs once has no counter, and is no exception."""
    module = read(pair_of_cores(turns(stop, PUSH), turns(stop, BOTH)))
    program = build_program(module.funcs[0], "", "a2a3")
    assert len(list(in_order(program.body, Values(program, {})))) == pushes


@pytest.mark.parametrize(("reserved", "expected"), [(32768, Verdict.PROVED), (16384, Verdict.REFUTED)])
def test_a_pipe_that_does_not_say_keeps_as_many_tiles_as_its_ring_has_slots(reserved: int, expected: Verdict) -> None:
    """PTOAS makes a pipe with as many local slots as slots; two are not taken for granted."""
    text = pair_of_cores(turns("%n", PUSH), turns("%n", BOTH), slots=4, reserved=reserved)
    assert verdicts(text, "FIFO-RING") == {expected}
    said = text.replace("slot_num = 4", "slot_num = 4, local_slot_num = 2")
    assert verdicts(said, "FIFO-RING") == {Verdict.PROVED}


EPILOGUE = "acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = {}, relu = no_relu>, nosplit = true, dir"


@pytest.mark.parametrize(("quant", "shown"), [
    ("no_convert", "confirmed: pipe: pto.tpush_to_aiv"),
    ("f32_f16", "not run: the run stops before: pto.tpush_to_aiv (.pto line 22): pto.tpush_to_aiv with the epilogue ")])
def test_an_epilogue_is_asked_for_where_a_tile_is_pushed(quant: str, shown: str) -> None:
    """Of two tiles one is popped. A pipe that nobody pushes to hangs whatever its epilogue."""
    half = pop().replace("(%c16, %c64) {split = 1}", "(%c32, %c64) {split = 0}").replace("rows=16", "rows=32")

    def text(*pushes: str) -> str:
        both = pair_of_cores("\n".join(pushes), f"{half}\n{FREE.replace('1', '0')}", memory=False)
        return both.replace("{dir", "{" + EPILOGUE.format(quant))

    assert replayed(text(*[PUSH.replace("split = 1", "split = 0")] * 2), "cube", "FIFO-DRAIN")[:len(shown)] == shown
    scale = "%scale = arith.constant 1.0 : f32\npto.set_quant_scalar(%scale : f32) {id = 0}"
    assert replayed(text(scale), "vector", "FIFO-POP").startswith("confirmed: deadlock: pto.tpop_from_aic")


def replayed(text: str, function: str, rule: str) -> str:
    module = read(text, "k.pto")
    results = verify(module, target("a5"), Options(families=frozenset({"FIFO"})))
    found = next(f for r in results if r.name == function for f in r.findings if f.rule == rule)
    return confirm_order(module, function, rule, dict(found.witness), target("a5"), line=found.text_line or 0)


def test_what_is_left_in_a_pipe_is_not_shown_by_the_hang_of_another() -> None:
    """Pipe 0 is never popped; pipe 1 hangs."""
    text = pair_of_cores(PUSH, BOTH.replace("split", "id = 1, split"), memory=False)
    for line in text.splitlines():
        if "_buffer {" in line or "initialize_pipe" in line:
            second = line.replace("ring", "other").replace("base = 0", "base = 32768").replace("{dir", "{id = 1, dir")
            text = text.replace(line, f"{line}\n{second}")
    assert replayed(text, "cube", "FIFO-DRAIN").startswith("not run: deadlock: pto.tpop_from_aic")
    assert replayed(text, "vector", "FIFO-POP").startswith("confirmed: deadlock: pto.tpop_from_aic")


def _read(name: str, place: str = "%c0") -> str:
    return (f"%{name} = pto.load_scalar %s[{place}] : !pto.ptr<i32> -> i32\n"
            f"%{name}_n = arith.index_cast %{name} : i32 to index")


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("name", "place", "expected"), [
    ("u", "%c0", Verdict.PROVED), ("u", "%c1", Verdict.UNKNOWN), ("u", "%n", Verdict.UNKNOWN),
    ("w", "%c0", Verdict.UNKNOWN)])
def test_what_both_ends_read_at_one_place_is_one_number_whatever_its_name(
    name: str, place: str, expected: Verdict
) -> None:
    """The cube reads `%first`, and `%w` at another place. A name that means something else there is not compared."""
    text = pair_of_cores(
        "\n".join((_read("first"), _read("w", "%c2"), turns("%first_n", PUSH))),
        "\n".join((_read(name, place), turns(f"%{name}_n", pop(), FREE)))).replace(SIZE, f"{SIZE}, %s: !pto.ptr<i32>")
    assert verdicts(text, "FIFO-POP") == {expected}


def test_a_number_that_is_read_twice_is_one_number() -> None:
    text = pair_of_cores(
        "\n".join((_read("first"), turns("%first_n", PUSH))),
        "\n".join((_read("first"), _read("u"), turns("%u_n", pop(), FREE)))).replace(SIZE, f"{SIZE}, %s: !pto.ptr<i32>")
    assert verdicts(text, "FIFO-POP") == {Verdict.PROVED}


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("place", "stop", "expected"), [
    ("%i", "%n", {Verdict.PROVED}), ("%c0", "%n", {Verdict.UNKNOWN}), ("%i", "%c8", {Verdict.UNKNOWN})])
def test_what_both_ends_read_in_each_turn_decides_as_often_at_both(
    place: str, stop: str, expected: set[Verdict]
) -> None:
    """Each turn reads whether a tile is sent: the lanes at the same place, or at another, or in other turns."""
    def asked(name: str, at: str, *body: str) -> str:
        return "\n".join((_read(name, at), f"%is_{name} = arith.cmpi sgt, %{name}_n, %c0 : index",
                          f"scf.if %is_{name} {{", *body, "}"))

    text = pair_of_cores(
        turns("%n", asked("first", "%i", PUSH)), turns(stop, asked("u", place, pop(), FREE))).replace(
            SIZE, f"{SIZE}, %s: !pto.ptr<i32>")
    assert verdicts(text, "FIFO-POP") == expected


@pytest.mark.parametrize(("use", "seen"), [("", "not run: no op reads a tile that is popped"), (COPY, "confirmed: ")])
def test_what_is_written_over_a_tile_that_no_op_reads_no_run_shows(use: str, seen: str) -> None:
    apart = f"pto.barrier <PIPE_ALL>\n{PUSH}\npto.barrier <PIPE_ALL>"
    text = pair_of_cores(turns("%c32", apart), "\n".join((NEAR, turns("%c32", pop(), use, FREE))), memory=False)
    module = read(text, "k.pto")
    results = verify(module, target("a5"), Options(families=frozenset({"FIFO"}), strict=True))
    (found,) = [f for r in results for f in r.findings if f.rule == "FIFO-OVERRUN"]
    assert confirm_order(
        module, "cube", found.rule, dict(found.witness), target("a5"), line=found.text_line or 0, strict=True,
    ).startswith(seen)
