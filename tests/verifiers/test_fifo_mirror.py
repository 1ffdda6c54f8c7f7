"""FIFO: ends that move tiles through several rings. That they never wait for each other is proved for all sizes and all
data, or not at all; a few runs prove nothing."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import FREE, HALF, MAT, PUSH, SIZE, pair_of_cores, pop, turns
from tests.verifiers.examples_split import ACC, core
from tests.verifiers.kernels import alloc
from tests.verifiers.test_fifo import verdicts

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
GIVE = f"pto.tpush_to_aic(%o : {HALF}) {{split = 1}}"
ANSWER = f"{pop()}\n{FREE}\n{GIVE}"


def take(name: str = "u") -> str:
    return f"%{name} = pto.tpop_from_aiv(%c32, %c64) {{split = 1}} -> {MAT}\npto.tfree_from_aiv {{split = 1}}"


def exchange(cube: str, vector: str, args: str = SIZE) -> str:
    """A pipe of two slots with both directions."""
    def core_of(kind: str, name: str, *body: str) -> str:
        rings = [
            f'%{ring} = pto.reserve_buffer {{name = "{ring}", size = 32768, location = #pto.address_space<{space}>, '
            "auto = false, base = 0} -> i32" if at == name else
            f'%{ring} = pto.import_reserved_buffer {{name = "{ring}", peer_func = @{at}}} -> i32'
            for ring, space, at in (("there", "vec", "vector"), ("back", "mat", "cube"))]
        init = (f"pto.{kind}_initialize_pipe {{dir_mask = 3, slot_size = 8192, slot_num = 2}} (gm_slot_buffer = %gm : "
                "!pto.ptr<f32>, c2v_consumer_buf = %there : i32, v2c_consumer_buf = %back : i32)")
        return core(name, name, *rings, init, *body, args=args)

    numbers = "%n3 = arith.constant 3 : index\n%n7 = arith.constant 7 : index\n%far = arith.constant 131072 : i64"
    return "module {\n" + core_of("aic", "cube", numbers, alloc("c", ACC, 0, "c32", "c64"), cube) + core_of(
        "aiv", "vector", numbers, alloc("o", HALF, "far", "c16", "c64"), vector) + "}\n"


def either(asked: str, then: str, orelse: str) -> str:
    return "\n".join((f"%q = arith.cmpi {asked} : index", "scf.if %q {", then, "} else {", orelse, "}"))


def hangs(text: str, **sizes: int) -> bool:
    return schedule.replay(read(text, "k.pto"), "cube", sizes, target("a2a3")).deadlock is not None


LATE, EARLY = f"{take('late')}\n{PUSH}", f"{PUSH}\n{take('early')}"


@pytest.mark.requirement("XC-09", "VF-01")
@pytest.mark.parametrize(("cube", "vector", "well", "stuck"), [
    (either("eq, %n, %n7", LATE, EARLY), ANSWER, {"n": 3}, {"n": 7}),
    (either("sgt, %n, %m", LATE, EARLY), ANSWER, {"n": 2, "m": 2}, {"n": 2, "m": 1}),
    (turns("%n", either("eq, %i, %c8", LATE, EARLY)), turns("%n", ANSWER), {"n": 8}, {"n": 9}),
])
def test_sizes_that_are_not_tried_may_let_both_ends_wait(
    cube: str, vector: str, well: dict[str, int], stuck: dict[str, int]
) -> None:
    text = exchange(cube, vector, f"{SIZE}, %m: index")
    assert (hangs(text, **well), hangs(text, **stuck)) == (False, True)
    assert verdicts(text, "FIFO-POP") == {UNKNOWN}


READ = "%x = pto.load_scalar %s[%i] : !pto.ptr<i32> -> i32\n%xn = arith.index_cast %x : i32 to index\n"


@pytest.mark.requirement("XC-09", "VF-01")
@pytest.mark.parametrize("cube", [EARLY, LATE])
def test_what_is_read_decides_which_end_waits_first(cube: str) -> None:
    """The cube looks at data in each turn. Where it then does the same, nothing depends on them; in the other order
    than the lanes' it waits for ever, and which of the orders it takes is open."""
    asked = READ + either("sgt, %xn, %c8", EARLY, cube)
    text = exchange(turns("%n3", asked), turns("%n3", ANSWER), f"{SIZE}, %s: !pto.ptr<i32>")
    assert verdicts(text, "FIFO-POP") == {PROVED if cube is EARLY else UNKNOWN}
    swapped = exchange(turns("%n3", READ + either("sgt, %xn, %c8", cube, EARLY)), turns("%n3", ANSWER),
                       f"{SIZE}, %s: !pto.ptr<i32>")
    assert verdicts(swapped, "FIFO-POP") == {PROVED if cube is EARLY else UNKNOWN}


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("cube", "vector", "expected"), [
    (turns("%n", EARLY), turns("%n", ANSWER), PROVED),
    (turns("%n", turns("%i", EARLY).replace("%i =", "%j =")),
     turns("%n", turns("%i", ANSWER).replace("%i =", "%j =")), PROVED),
    (turns("%n", PUSH, PUSH, take("a"), take("b")), turns("%n", ANSWER, ANSWER.replace("%t", "%v")), PROVED),
    (turns("%n", PUSH, take()), turns("%n3", ANSWER), UNKNOWN),
    (turns("%n", either("sgt, %i, %n3", EARLY, "")), turns("%n", either("sgt, %i, %n3", ANSWER, "")), PROVED),
    (turns("%n", either("sgt, %i, %n3", EARLY, "")), turns("%n", either("sgt, %i, %n7", ANSWER, "")), UNKNOWN),
    (turns("%n3", either("eq, %i, %c1", LATE, EARLY)), turns("%n3", ANSWER), REFUTED),
    (turns("%n3", either("eq, %i, %n7", LATE, EARLY)), turns("%n3", ANSWER), PROVED),
])
def test_the_same_loops_and_branches_at_both_ends_get_through_if_their_bodies_do(
    cube: str, vector: str, expected: Verdict
) -> None:
    text = exchange(cube, vector)
    assert verdicts(text, "FIFO-POP") == {expected}
    if expected is PROVED:
        assert not any(hangs(text, n=n) for n in (0, 1, 5, 9))


@pytest.mark.requirement("XC-09", "VF-01")
@pytest.mark.parametrize(("tiles", "expected"), [("c2", PROVED), ("c5", REFUTED)])
def test_two_rings_in_one_direction_may_let_both_ends_wait(tiles: str, expected: Verdict) -> None:
    """The cube fills the first ring of two slots, while the lanes wait for a tile of the second."""
    def other(line: str) -> str:
        return line.replace("{split", "{id = 1, split")

    def second(line: str) -> str:
        named = line.replace('"ring"', '"more"').replace("%ring", "%more").replace("base = 0", "base = 65536")
        return named.replace("{dir_mask", "{id = 1, dir_mask")

    text = pair_of_cores(
        turns(f"%{tiles}", PUSH) + "\n" + other(PUSH),
        "\n".join((other(pop("v")), other(FREE), turns(f"%{tiles}", pop(), FREE))))
    made = [line for line in text.splitlines() if "_buffer {" in line or "initialize_pipe" in line]
    for line in made:
        text = text.replace(line, f"{line}\n{second(line)}")
    assert hangs(text, n=1) is (expected is REFUTED)
    assert verdicts(text, "FIFO-POP") == {expected}


EVERY_OTHER = "%r = arith.remsi %i, %c2 : index\n%q = arith.cmpi eq, %r, %c0 : index\nscf.if %q {"
ONCE_BACK = turns("%n", pop(), FREE, EVERY_OTHER, GIVE, "}")


@pytest.mark.requirement("XC-09", "VF-01")
@pytest.mark.parametrize(("cube", "expected"), [
    (turns("%n", PUSH, EVERY_OTHER, take(), "}"), PROVED), (turns("%n", EVERY_OTHER, take(), "}", PUSH), UNKNOWN),
])
def test_a_tile_back_in_every_other_turn_is_followed_for_every_size(cube: str, expected: Verdict) -> None:
    """The lanes answer the first tile, the third and so on; a cube that waits for the answer before it has pushed the
    tile waits for ever."""
    text = exchange(cube, ONCE_BACK)
    assert verdicts(text, "FIFO-POP") == {expected}
    assert {hangs(text, n=n) for n in (1, 2, 7)} == {expected is not PROVED}
