"""EVENT-COUNT on a5, where a flag within a block is set by one pipe and holds back one pipe: what keeps the sets within
the counter is the order of pipes, from a wait over the answer to the set some turns on. Beside runs that hold back the
waits of each flag as long as anything else can go on, after which no counter is fuller in any order."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule.faults import CounterError
from pypto_verified.targets import target
from pypto_verified.witness import replayed
from tests.verifiers.test_both_sides import when
from tests.verifiers.test_cores_wait import Lines, both, turns
from verifiers import Options, verify

PROVED, UNKNOWN, REFUTED = Verdict.PROVED, Verdict.UNKNOWN, Verdict.REFUTED
ARGS = "%M: index, %N: index"
SIZES = ((0, 0), (1, 2), (17, 2))


def cube(does: str, pipe: str, id: int) -> Lines:
    """For both lanes."""
    return tuple(f"pto.{does}_intra_block <PIPE_{pipe}>, {n}" for n in (id, id + 16))


def lane(does: str, pipe: str, id: int) -> str:
    return f"pto.{does}_intra_block <PIPE_{pipe}>, {id}"


def order(first: str, second: str) -> Lines:
    """What `second` does next waits for what `first` has done."""
    return tuple(f"pto.{does}_flag[<PIPE_{first}>, <PIPE_{second}>, <EVENT_ID0>]" for does in ("set", "wait"))


def in_turn(even: Lines, odd: Lines) -> Lines:
    return ("%rest = arith.remsi %i, %c2 : index", *when("%rest eq %c0", *even)[:-1], "} else {", *odd, "}")


def rounds(body: Lines) -> Lines:
    inner = tuple(line.replace("%i ", "%j ").replace("%i,", "%j,") for line in turns("N", *body))
    return turns("M", *inner)


def handshake(back: str = "MTE3") -> tuple[Lines, Lines]:
    """The lanes store and tell, and load when they have the answer; what they store next is made of that."""
    return (turns("M", *cube("wait", "FIX", 3), *cube("set", "FIX", 5)),
            turns("M", lane("set", "MTE3", 3), lane("wait", "MTE2", 5), *order("MTE2", back)))


def other_pipe(answers: str = "V") -> tuple[Lines, Lines]:
    """MTE2 waits for the tile; V answers when it has used it."""
    return (turns("M", *cube("set", "FIX", 3), *cube("wait", "FIX", 5)),
            turns("M", lane("wait", "MTE2", 3), *order("MTE2", answers), lane("set", "V", 5)))


def given(ahead: int, taken: int = -1) -> tuple[Lines, Lines]:
    """So many answers are given in advance, and waited for in the end."""
    taken = ahead if taken < 0 else taken
    return ((*turns("M", *cube("wait", "FIX", 5), *cube("set", "FIX", 3)), *cube("wait", "FIX", 5) * taken),
            ((lane("set", "MTE2", 5),) * ahead + turns("M", lane("wait", "MTE2", 3), lane("set", "MTE2", 5))))


def primed(ahead: int) -> tuple[Lines, Lines]:
    """Both directions at once: FIX sends what M makes of the tile that MTE1 gets."""
    there, back = given(ahead), (cube("wait", "MTE1", 7), cube("set", "MTE1", 8))
    return ((*there[0], *turns("M", *back[0], *back[1])),
            (*there[1], *turns("M", lane("set", "MTE3", 7), lane("wait", "MTE3", 8))))


def both_ways(done: str = "FIX") -> tuple[Lines, Lines]:
    """A tile there, which V works on, and one back in each turn: each answers the other."""
    return (turns("M", *cube("set", "FIX", 3), *cube("wait", "MTE1", 4), *order("MTE1", "M"), *order("M", done)),
            turns("M", lane("wait", "V", 3), *order("V", "MTE3"), lane("set", "MTE3", 4)))


def two_ids(odd: int = 6) -> tuple[Lines, Lines]:
    """Slots in turn, each with flags of its own: the answer is two turns old."""
    def ask(does: str, first: int, second: int, pipe: str) -> Lines:
        return in_turn(cube(does, pipe, first), cube(does, pipe, second))

    def reply(does: str, first: int, second: int, pipe: str) -> Lines:
        return in_turn((lane(does, pipe, first),), (lane(does, pipe, second),))

    again = (line.replace("%rest", "%rest2").replace("%is", "%is2") for line in ask("set", 3, 4, "FIX"))
    more = (line.replace("%rest", "%rest2").replace("%is", "%is2") for line in reply("set", 5, odd, "MTE2"))
    return ((*turns("M", *ask("wait", 5, odd, "FIX"), *again), *cube("wait", "FIX", 5), *cube("wait", "FIX", odd)),
            (lane("set", "MTE2", 5), lane("set", "MTE2", odd), *turns("M", *reply("wait", 3, 4, "MTE2"), *more)))


def nested(back: str = "MTE3") -> tuple[Lines, Lines]:
    """The handshake in rounds."""
    return (rounds((*cube("wait", "FIX", 3), *cube("set", "FIX", 5))),
            rounds((lane("set", "MTE3", 3), lane("wait", "MTE2", 5), *order("MTE2", back))))


def ahead(back: str = "FIX") -> tuple[Lines, Lines]:
    """The cube makes the next tile before it takes what the lanes have made of the last one, and sends that on."""
    send = cube("set", "FIX", 1)
    more = ("%next = arith.addi %i, %c1 : index", *when("%next slt %M", *send))
    first = tuple(line.replace("%is", "%any") for line in when("%M sgt %c0", *send))
    take = (*cube("wait", "MTE1", 2), *order("MTE1", "M"), *order("M", back), *cube("set", "FIX", 3))
    return ((*first, *turns("M", *more, *take)),
            turns("M", lane("wait", "V", 1), *order("V", "MTE3"), lane("set", "MTE3", 2), lane("wait", "V", 3)))


def now_and_then(tiles: int) -> tuple[Lines, Lines]:
    """One answer for all tiles of a turn."""
    return (turns("M", *cube("set", "FIX", 3) * tiles, *cube("wait", "FIX", 5)),
            turns("M", *(lane("wait", "V", 3),) * tiles, *order("V", "MTE2"), lane("set", "MTE2", 5)))


def kept(back: str = "MTE3") -> tuple[Lines, Lines]:
    """The handshake; the flag between the pipes is set at the end of each turn, and before the first one."""
    hand = tuple(f"pto.{does}_flag[<PIPE_MTE2>, <PIPE_{back}>, <EVENT_ID1>]" for does in ("set", "wait"))
    return handshake()[0], (
        hand[0], *turns("M", hand[1], lane("set", "MTE3", 3), lane("wait", "MTE2", 5), hand[0]), hand[1])


def one_lane(back: str = "MTE3") -> tuple[Lines, Lines]:
    """The handshake with the second lane alone."""
    own, mine = handshake(back)
    index = ("%b = pto.get_subblock_idx", "%lane = arith.index_cast %b : i64 to index")
    return tuple(line for line in own if not re.search(r", [35]$", line)), (*index, *when("%lane eq %c1", *mine))


FITS: dict[str, tuple[Lines, Lines]] = {
    "handshake": handshake(), "another pipe answers": other_pipe(), "one ahead": given(1), "two ahead": given(2),
    "as far ahead as it may be": given(15), "each way on its own": primed(2), "there and back": both_ways(),
    "ids in turn": two_ids(), "in rounds": nested(),
    "a tile ahead": ahead(), "one answer for all": now_and_then(15), "flag kept": kept(), "one lane": one_lane(),
}
OVER: dict[str, tuple[Lines, Lines]] = {
    "handshake": handshake("V"), "another pipe answers": other_pipe("MTE3"), "too far ahead": given(16),
    "there and back": both_ways("MTE2"), "in rounds": nested("V"),
    "a tile ahead": ahead("MTE2"), "one answer for all": now_and_then(16), "flag kept": kept("V"),
    "one lane": one_lane("V"),
}


def text(cores: tuple[Lines, Lines]) -> str:
    return both(*cores, ARGS)


def result_of(made: str) -> FunctionResult:
    options = Options(families=frozenset({"EVENT"}), assume=("M >= 0", "N >= 0"))
    (result,) = verify(read(made, "k.pto"), target("a5"), options)
    return result


def judged(made: str) -> dict[str, set[Verdict]]:
    found: dict[str, set[Verdict]] = {}
    for o in result_of(made).obligations:
        found.setdefault(o.rule, set()).add(o.verdict)
    return found


def overrun(made: str, sizes: tuple[tuple[int, int], ...] = SIZES) -> bool:
    """Whether a counter is given more than it holds in some run."""
    module = read(made, "k.pto")

    def runs() -> Iterator[schedule.Outcome]:
        for m, n in sizes:
            for held in waits(made):
                yield schedule.replay(module, "k", {"M": m, "N": n}, target("a5"), held=held)
            for name in ("program", "eager", "late", "random"):
                yield schedule.replay(module, "k", {"M": m, "N": n}, target("a5"), schedule=name, seed=m)

    return any(isinstance(e, CounterError) for outcome in runs() for e in outcome.errors)


def waits(made: str) -> Iterator[frozenset[int]]:
    """The lines that wait for each flag."""
    found: dict[int, set[int]] = {}
    for number, line in enumerate(made.splitlines(), 1):
        match = re.match(r"\s*pto\.wait_intra_block <PIPE_\w+>, (\d+)", line)
        if match is not None:
            found.setdefault(int(match[1]) % 16, set()).add(number)
    return (frozenset(lines) for lines in found.values())


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("name", FITS)
def test_sets_that_the_answers_keep_within_their_counter_are_proved(name: str) -> None:
    made = text(FITS[name])
    assert set().union(*judged(made).values()) == {PROVED}
    assert not overrun(made)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("name", OVER)
def test_sets_that_nothing_holds_back_are_refuted_and_seen(name: str) -> None:
    made = text(OVER[name])
    found = judged(made)
    assert REFUTED in found["EVENT-COUNT"]
    assert found["EVENT-CORES"] == {PROVED}
    assert overrun(made, ((16, 2), (2, 16)))
    module = read(made, "k.pto")
    for f in replayed(result_of(made), module, target("a5"), 0, {}, ()).findings:
        assert f.verdict is UNKNOWN or f.replay.startswith("confirmed: pipe: "), f
