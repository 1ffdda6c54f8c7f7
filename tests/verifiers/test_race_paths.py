"""RACE keeps a few paths apart at one place; what is known along the others is not lost but joined."""

from __future__ import annotations

from pypto_verified.index import symbol
from verifiers.race.literals import Literals
from verifiers.race.order import Order
from verifiers.race.paths import MOST_PATHS, Paths, merge
from verifiers.written import spread


def _path(number: int) -> tuple[Literals, Order]:
    """A path that knows one thing of its own, and on which one access is not complete."""
    order = Order()
    order.live = order.pending[0] = 1 << number
    return frozenset({symbol(f"c{number}", 0, 1) >= 1}), order


def test_paths_beyond_the_most_that_are_kept_apart_become_one_that_knows_nothing() -> None:
    paths: Paths = dict(_path(n) for n in range(MOST_PATHS))
    more = 3
    merge(paths, dict(_path(n) for n in range(MOST_PATHS, MOST_PATHS + more)))
    assert len(paths) == MOST_PATHS + 1
    late = (1 << (MOST_PATHS + more)) - (1 << MOST_PATHS)
    assert paths[frozenset()].live == late
    assert paths[frozenset()].pending[0] == late


def test_bytes_of_a_place_that_moves_lie_at_its_places_and_nowhere_else() -> None:
    place = 4 * symbol("i", 0, 2) + 1
    assert spread(place, 0b11) == 0b11 << 1 | 0b11 << 5 | 0b11 << 9
    back = 8 - 4 * symbol("i", 0, 2)
    assert spread(back, 1) == 1 | 1 << 4 | 1 << 8
