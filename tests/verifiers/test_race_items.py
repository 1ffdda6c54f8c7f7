"""Sets of accesses: which are taken out of one, and which are compared."""

from __future__ import annotations

from typing import cast

from pypto_verified.index import const
from pypto_verified.layouts import Space
from verifiers.access import Rect, Step
from verifiers.race.accesses import Access
from verifiers.race.items import Item, Items
from verifiers.race.places import OnChip, Place


def place(space: Space, at: int) -> OnChip:
    return OnChip(space, const(at), Rect(const(at), 1, 32, 32))


def put(items: Items, number: int, writes: bool, where: OnChip) -> Item:
    access = Access(number, cast(Step, None), 0, writes, "V", ("V",), "", where, "", frozenset())
    return items.item(access, "V", where, ())


def test_a_set_gives_its_items_in_order_however_long_it_is() -> None:
    items = Items(lambda a, b: False)
    for n in range(1200):
        put(items, n, False, place(Space.VEC, 32 * n))
    for wanted in ([0], [511, 512], [3, 600, 1023, 1024, 1199], list(range(1200))):
        assert [item.bit for item in items.of(sum(1 << n for n in wanted))] == wanted
    assert items.of(0) == []


def test_two_reads_and_what_lies_in_other_memories_are_not_compared() -> None:
    asked: list[tuple[Place, Place]] = []

    def meet(a: Place, b: Place) -> bool:
        asked.append((a, b))
        return True

    items = Items(meet)
    for n in range(40):
        put(items, n, n == 7, place(Space.VEC, 0))
        put(items, 100 + n, True, place(Space.MAT, 0))
    read, write = put(items, 200, False, place(Space.VEC, 0)), put(items, 201, True, place(Space.VEC, 0))
    live = (1 << read.bit) - 1
    assert [item.access.number for item in items.of(items.conflicts(read, live))] == [7]
    assert len(asked) == 1
    assert [item.access.number for item in items.of(items.conflicts(write, live))] == list(range(40))
    assert len(asked) == 41
