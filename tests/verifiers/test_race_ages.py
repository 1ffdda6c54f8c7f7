"""RACE: how long ago an iteration was that touched a place, in the loop and after it."""

from __future__ import annotations

from pypto_verified.pto.reader import read
from pypto_verified.targets import target
from tests.verifiers.examples_event import loop
from tests.verifiers.examples_race import VEC, pipes
from tests.verifiers.kernels import store, window
from verifiers.access import Loop, build_program
from verifiers.race.accesses import Access, accesses_of
from verifiers.race.cycles import Cycle, cycle_of
from verifiers.race.items import Items
from verifiers.race.places import Box


def _moving() -> tuple[Cycle, Access]:
    """A loop, and in it the store of rows 32i to 32i + 31 in iteration i."""
    text = pipes(
        loop("M", "%row = arith.muli %i, %c32 : index", window("moving", "qv", "%row, %c0", "%c32, %c64", "32x64"),
             store("a", "moving", VEC, "32x64")), args="%M: index")
    program = build_program(read(text, "k.pto").funcs[0], "k.pto", "a2a3")
    (walked,) = (n for n in program.body.items if isinstance(n, Loop))
    (writes,) = (a for own in accesses_of(program, target("a2a3")).values() for a in own if a.writes)
    cycle = cycle_of(walked, 0, (), writes.place.exprs())
    assert cycle is not None
    return cycle, writes


def _first_row(items: Items, bits: int) -> str:
    (item,) = items.of(bits)
    assert isinstance(item.place, Box)
    return repr(item.place.offsets[-2])


def test_rounds_are_told_apart_up_to_the_oldest_and_after_the_loop_they_are_one() -> None:
    cycle, access = _moving()
    items = Items(lambda a, b: True)
    here = access.place.at({cycle.name: cycle.base + cycle.steady(0)})
    now = 1 << items.item(access, "MTE3", here, ((cycle, 0),)).bit
    last = items.shift(now, cycle)
    older = items.shift(last, cycle)
    assert items.shift(older, cycle) == older, "two rounds ago or earlier"
    assert [_first_row(items, bits) for bits in (now, last, older)] == [
        "32*i@0", "32*i@0 - 32", "32*i@0 - 32*i@0~ - 64"]
    assert items.end(now, cycle) == items.end(last, cycle) == items.end(older, cycle)
    assert _first_row(items, items.end(older, cycle)) == "32*i@0'"
