"""When the accesses of one run took place: in which turns of the loops, and after which writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from verifiers.access import Loop, Step
from verifiers.race.accesses import Access
from verifiers.race.items import Item


class History:
    """`turns`: how often each loop has turned."""

    def __init__(self) -> None:
        self.turns: Counter[Loop] = Counter()
        self._counters: dict[int, Mapping[str, int]] = {}
        self._during: dict[int, Mapping[Loop, int]] = {}
        self._written: list[Access] = []
        self._after: dict[int, int] = {}

    def took_place(self, step: Step, items: Iterable[Item], counters: Mapping[str, int]) -> None:
        """The accesses of a step take place; `counters`: the loop variables around it."""
        items = list(items)
        self._written += [i.access for i in items if i.access.fills_place]
        turns = {loop: self.turns[loop] for loop in step.loops}
        for item in items:
            self._counters[item.bit] = counters
            self._during[item.bit] = turns
            self._after[item.bit] = len(self._written)

    def counters(self, item: Item) -> dict[str, int]:
        """The loop variables around an access when it took place last."""
        return dict(self._counters.get(item.bit, {}))

    def written_since(self, item: Item) -> list[Access]:
        """The writes since then that fill their place."""
        return list(dict.fromkeys(self._written[self._after.get(item.bit, 0):]))

    def turned_since(self, item: Item, step: Step) -> list[Loop]:
        """The loops around a step that have turned since then."""
        then = self._during.get(item.bit, {})
        return [loop for loop in step.loops if then.get(loop, self.turns[loop]) != self.turns[loop]]
