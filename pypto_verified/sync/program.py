"""A function as automatic synchronisation sees it: blocks of accesses, loops and branches.

Every access knows the chain of blocks it stands in, so that the block where two accesses part is easy to find: that is
where the flags between them go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TypeAlias, Union

from pypto_verified.errors import Location
from pypto_verified.index import Expr
from pypto_verified.pto.module import Block, Op
from pypto_verified.records import dataclass
from pypto_verified.sync.places import Place


@dataclass(slots=True, eq=False)
class Access:
    """One step of an op. `index` counts in text order; `pipes` are those that the sources name for it, one or more;
    `chain` are the blocks around it, outermost first, each with the position of the op there that holds the access."""

    index: int
    op: Op
    pipes: tuple[str, ...]
    reads: tuple[Place, ...]
    writes: tuple[Place, ...]
    chain: tuple[tuple[Sequence, int], ...]


@dataclass(slots=True, eq=False)
class Meeting:
    """An op that is a barrier of all pipes by itself (a syncall)."""

    op: Op


@dataclass(slots=True, eq=False)
class Loop:
    """A loop with its `number` (from 1). `counter` counts turns from 0 and is None for a while. `turns`: how many it
    takes, where the text says so. `inner`: the numbers of the loop itself and of those inside it."""

    op: Op
    number: int
    body: Sequence
    counter: Expr | None = None
    turns: int | None = None
    inner: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Branch:
    """The arms of an if, the first taken when its condition holds."""

    op: Op
    arms: tuple[Sequence, ...]


Item: TypeAlias = Union[Access, Meeting, Loop, Branch]


@dataclass(slots=True, eq=False)
class Sequence:
    """A block. `items` are what concerns order, each with the position of its op in the block; `loop` is the loop whose
    body it is, None for an arm or the function; `loops` are all loops around, outermost first."""

    block: Block
    loop: Loop | None
    loops: tuple[Loop, ...]
    items: list[tuple[int, Item]] = field(default_factory=list)

    @property
    def end(self) -> int:
        """The position before the terminator, if the block has one."""
        ops = self.block.ops
        return len(ops) - 1 if ops and ops[-1].name in _TERMINATORS else len(ops)


_TERMINATORS = frozenset({"scf.yield", "scf.condition", "func.return"})


@dataclass(slots=True, eq=False)
class Program:
    """A function: its blocks, its accesses in text order, and which loop each unknown varies with (its number)."""

    body: Sequence
    accesses: list[Access]
    owner: dict[str, int]

    def sequences(self) -> Iterator[Sequence]:
        """Every block, an outer one before those inside it."""
        yield from _sequences(self.body)


def _sequences(s: Sequence) -> Iterator[Sequence]:
    yield s
    for _, item in s.items:
        if isinstance(item, Loop):
            yield from _sequences(item.body)
        elif isinstance(item, Branch):
            for arm in item.arms:
                yield from _sequences(arm)


def parting(a: Access, b: Access) -> tuple[Sequence, int, int] | None:
    """(innermost block that both stand in, position of `a` or what holds it there, of `b`); None for accesses in
    different arms of one branch."""
    found: tuple[Sequence, int, int] | None = None
    for (sa, ia), (sb, ib) in zip(a.chain, b.chain, strict=False):
        if sa is not sb:
            return None
        found = (sa, ia, ib)
        if ia != ib:
            break
    return found


def position_in(a: Access, s: Sequence) -> int:
    """Where an access, or what holds it, stands in a block around it."""
    return next(position for around, position in a.chain if around is s)


def where(op: Op) -> Location:
    """The user's place of an op; of a text that tells none its line there, in a file that is not named yet."""
    return op.loc if op.loc.line else Location(line=op.line)
