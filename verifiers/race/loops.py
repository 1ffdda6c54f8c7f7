"""How the loops of a function are walked: each one's cycle, and what one turn of it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pypto_verified.index import Cond, Expr, substitute, symbol, symbols_of
from verifiers.access import Branch, Loop, Node, Sequence, Step
from verifiers.race.accesses import Access
from verifiers.race.cycles import Cycle, cycle_of, stepped_variable
from verifiers.race.paths import nodes
from verifiers.race.sync import Sync
from verifiers.recurrence import counted


class Loops:
    """`accesses` and `syncs`: those of the steps that count, by the step's index."""

    def __init__(self, accesses: Mapping[int, tuple[Access, ...]], syncs: Mapping[int, Sync]) -> None:
        self.accesses = accesses
        self.syncs = syncs
        self._cycles: dict[Loop, Cycle | None] = {}
        self._branches: dict[Loop, Branch] = {}
        self._turns: dict[Loop, tuple[Sequence, Sequence]] = {}

    def cycle(self, loop: Loop) -> Cycle | None:
        """The walk of a loop; None for one that is not counted."""
        if loop not in self._cycles:
            conds, exprs, accesses = self._inside(loop.body)
            self._cycles[loop] = cycle_of(loop, len(self._cycles), conds, exprs, accesses)
        return self._cycles[loop]

    def turn(self, loop: Loop) -> tuple[Sequence, Sequence]:
        """What a loop does before each test of its condition, where that counts, and what it does after it."""
        if loop not in self._turns:
            items = loop.body.items
            works = any(
                isinstance(s, Step) and (s.index in self.accesses or s.index in self.syncs)
                for item in items[:loop.head] for s in nodes(item))
            count = loop.head if works else 0
            self._turns[loop] = Sequence(items[:count]), Sequence(items[count:]) if count else loop.body
        return self._turns[loop]

    def at_most_once(self, loop: Loop) -> Branch:
        """A loop that turns no second time, as a branch."""
        if loop not in self._branches:
            self._branches[loop] = Branch(loop.op, loop.inside, loop.body, Sequence([]), loop.path)
        return self._branches[loop]

    def _inside(self, node: Node) -> tuple[list[Cond], list[Expr], list[Access]]:
        """Branch conditions, ids and places, and accesses, of a loop's body; what is taken in turn by the counter of a
        loop in there goes by where that starts, too."""
        conds: list[Cond] = []
        exprs: list[Expr] = []
        accesses: list[Access] = []
        counters: list[tuple[str, Expr]] = []
        for inner in nodes(node):
            if isinstance(inner, Branch):
                conds.append(inner.cond)
            elif isinstance(inner, Loop):
                counters += _counters(inner)
            elif isinstance(inner, Step):
                sync = self.syncs.get(inner.index)
                if sync is not None and sync.id is not None:
                    exprs.append(sync.id)
                accesses += self.accesses.get(inner.index, ())
        exprs += [e for a in accesses for e in a.place.exprs()]
        for name, value in reversed(counters):
            exprs += [substitute(e, {name: value}) for e in exprs if name in symbols_of(e)]
        return conds, exprs, accesses


def _counters(loop: Loop) -> Iterator[tuple[str, Expr]]:
    """What a loop counts, from a start that is not the same in all iterations of those around: as it is some iterations
    on."""
    own = counted(loop)
    if own is not None and symbols_of(own.base):
        yield own.name, own.base + symbol(own.name, 0)
    stepped = stepped_variable(loop, own.name, own.base) if own is not None else None
    if stepped is not None and symbols_of(stepped[1]):
        yield stepped
