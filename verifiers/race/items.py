"""Accesses in the iterations of one walk, numbered: access `n` of the text at one place is bit `k` of a set."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import field

from pypto_verified.index import Expr, symbol, symbols_of
from pypto_verified.records import dataclass
from verifiers.race.accesses import Access, is_global
from verifiers.race.cycles import Cycle
from verifiers.race.order import PIPES
from verifiers.race.places import Place, covers

_BITS = 512
_PART = (1 << _BITS) - 1
OLDEST = 2
"""Rounds after which accesses of a loop are no longer told apart by age."""


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """`access` at `place`, on `pipe`. `ages`: for each loop whose round, or what each iteration makes anew, says where,
    how many rounds ago it was (OLDEST: that many or more); none for loops that have ended, whose round may have been
    any."""

    bit: int
    access: Access
    pipe: str
    place: Place
    ages: tuple[tuple[Cycle, int], ...]


@dataclass(slots=True)
class Items:
    """The registry. `meet`: whether two items may have a byte in common, asked once for each pair (see `ask_anew`);
    `anew`: whether each iteration of a loop makes a symbol anew, so that it was another one in an earlier iteration;
    `stores`: those that write global memory. `_shifted`, `_renewed`, `_ended`: sets of items as they are seen from
    later on."""

    meet: Callable[[Place, Place], bool]
    anew: Callable[[str, Cycle], bool] = lambda name, cycle: False
    all: list[Item] = field(default_factory=list)
    on_pipe: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PIPES, 0))
    _known: dict[Hashable, Item] = field(default_factory=dict)
    _compared: dict[int, int] = field(default_factory=dict)
    _conflicts: dict[int, int] = field(default_factory=dict)
    _covered: dict[int, int] = field(default_factory=dict)
    _shifted: dict[tuple[int, Cycle], int] = field(default_factory=dict)
    _ended: dict[tuple[int, Cycle], int] = field(default_factory=dict)
    _renewed: dict[tuple[int, Cycle], int] = field(default_factory=dict)
    of_cycle: dict[Cycle, int] = field(default_factory=dict)
    stores: int = 0
    _writers: int = 0
    _in_arena: dict[Hashable, int] = field(default_factory=dict)

    def item(self, access: Access, pipe: str, place: Place, ages: tuple[tuple[Cycle, int], ...]) -> Item:
        """The item for an access at a place."""
        key = (access.number, pipe, place.key(), ages)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Item(len(self.all), access, pipe, place, ages)
            self.all.append(found)
            bit = 1 << found.bit
            self.on_pipe[pipe] |= bit
            self._in_arena[place.arena] = self._in_arena.get(place.arena, 0) | bit
            if access.writes:
                self._writers |= bit
                if is_global(access):
                    self.stores |= bit
            for cycle, _ in ages:
                self.of_cycle[cycle] = self.of_cycle.get(cycle, 0) | bit
        return found

    def ask_anew(self) -> None:
        """What `meet` says depends on something else from now on."""
        self._compared.clear()
        self._conflicts.clear()
        self._covered.clear()

    def of(self, bits: int) -> list[Item]:
        """The items of a set. A few bits at a time: one by one each would cost as much as the whole set is long."""
        found: list[Item] = []
        start = 0
        while bits:
            part = bits & _PART
            while part:
                low = part & -part
                found.append(self.all[start + low.bit_length() - 1])
                part ^= low
            bits >>= _BITS
            start += _BITS
        return found

    def conflicts(self, item: Item, live: int) -> int:
        """Those of `live` that touch a byte of `item`, one of the two writing."""
        done = self._compared.get(item.bit, 0)
        conflicts = self._conflicts.get(item.bit, 0)
        among = self._in_arena.get(item.place.arena, 0)
        new = live & ~done & (among if item.access.writes else among & self._writers)
        if new:
            covered = self._covered.get(item.bit, 0)
            for other in self.of(new):
                if self.meet(other.place, item.place):
                    conflicts |= 1 << other.bit
                    if item.access.fills_place and covers(item.place, other.place):
                        covered |= 1 << other.bit
            self._compared[item.bit] = done | new
            self._conflicts[item.bit] = conflicts
            self._covered[item.bit] = covered
        return conflicts & live

    def overwritten(self, item: Item, live: int) -> int:
        """Those of `live` all of whose bytes `item` writes."""
        return self._covered.get(item.bit, 0) & live

    def shift(self, bits: int, cycle: Cycle) -> int:
        """The set as the next round sees it."""
        return self._moved(bits, cycle, self._shifted, self._older)

    def end(self, bits: int, cycle: Cycle) -> int:
        """The set after the loop has ended."""
        return self._moved(bits, cycle, self._ended, self._after)

    def renew(self, bits: int, cycle: Cycle) -> int:
        """The set as the next iteration of the same round sees it."""
        return self._moved(bits, cycle, self._renewed, self._same_round)

    def _moved(
        self, bits: int, cycle: Cycle, known: dict[tuple[int, Cycle], int], move: Callable[[Item, Cycle], Item]
    ) -> int:
        own = bits & self.of_cycle.get(cycle, 0)
        if not own:
            return bits
        moved = known.get((own, cycle))
        if moved is None:
            moved = 0
            for item in self.of(own):
                moved |= 1 << move(item, cycle).bit
            known[own, cycle] = moved
        return bits & ~own | moved

    def _older(self, item: Item, cycle: Cycle) -> Item:
        age = dict(item.ages)[cycle]
        if age == OLDEST:
            return item
        name, older = _name(cycle), cycle.round - 1
        if age + 1 == OLDEST:
            older = older - symbol(f"{name}~", 0)
        ages = tuple((c, a + 1 if c is cycle else a) for c, a in item.ages)
        return self.item(item.access, item.pipe, item.place.at({name: older, **self._earlier(item, cycle)}), ages)

    def _same_round(self, item: Item, cycle: Cycle) -> Item:
        earlier = self._earlier(item, cycle)
        return self.item(item.access, item.pipe, item.place.at(earlier), item.ages) if earlier else item

    def _after(self, item: Item, cycle: Cycle) -> Item:
        age = dict(item.ages)[cycle]
        name = _name(cycle)
        any_round: Expr = symbol(f"{name}'", 0) + age
        if age == OLDEST:
            any_round = any_round + symbol(f"{name}~", 0)
        ages = tuple((c, a) for c, a in item.ages if c is not cycle)
        return self.item(item.access, item.pipe, item.place.at({name: any_round, **self._earlier(item, cycle)}), ages)

    def _earlier(self, item: Item, cycle: Cycle) -> dict[str, Expr]:
        """What the iterations of a loop have made, of one that is over: of it no more is known than its range."""
        return {
            n: symbol(f"{n}~", a.lo, a.hi) for n, a in symbols_of(*item.place.exprs()).items() if self.anew(n, cycle)}


def _name(cycle: Cycle) -> str:
    (name,) = symbols_of(cycle.round)
    return name

