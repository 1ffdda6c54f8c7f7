"""Which writes reach a point of a program, byte by byte, and what they came over."""

from __future__ import annotations

from dataclasses import field

from pypto_verified.dtypes import DType
from pypto_verified.pto.types import MultiTileBufType, TileBufType
from pypto_verified.records import dataclass
from verifiers.access import Root, Step, TileUse
from verifiers.access.overlap import certain_bytes, possible_bytes


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    """A write of `tile` at `step`."""

    step: Step
    tile: TileUse


@dataclass(frozen=True, slots=True)
class Source:
    """A write that a read may see, with the loops around which it came (by identity)."""

    write: Write
    around: frozenset[int]


@dataclass(slots=True)
class Reach:
    """What of a source is still there: `bytes` at most; handles in `renewed` were wholly rewritten since. `victims`:
    the bytes that handles had written themselves when this write came over them; the flag tells those from earlier
    iterations."""

    bytes: int
    renewed: frozenset[Root]
    victims: dict[tuple[Root, bool], int]

    def copy(self) -> Reach:
        return Reach(self.bytes, self.renewed, dict(self.victims))

    def merge(self, other: Reach) -> bool:
        """Union in place; whether anything was added."""
        before = (self.bytes, self.renewed, dict(self.victims))
        self.bytes |= other.bytes
        self.renewed &= other.renewed
        for victim, lost in other.victims.items():
            self.victims[victim] = self.victims.get(victim, 0) | lost
        return before != (self.bytes, self.renewed, self.victims)


@dataclass(slots=True)
class State:
    """At one program point: the writes that reach it, and the bytes that each handle wrote itself, apart for writes
    that came around a loop."""

    reach: dict[Source, Reach] = field(default_factory=dict)
    own: dict[tuple[Root, bool], int] = field(default_factory=dict)

    def copy(self) -> State:
        return State({s: r.copy() for s, r in self.reach.items()}, dict(self.own))

    def join(self, other: State) -> bool:
        """Union in place; whether anything was added."""
        changed = False
        for source, theirs in other.reach.items():
            mine = self.reach.get(source)
            if mine is None:
                self.reach[source] = theirs.copy()
                changed = True
            else:
                changed |= mine.merge(theirs)
        for key, theirs_own in other.own.items():
            known = self.own.get(key, 0)
            if theirs_own | known != known:
                self.own[key] = theirs_own | known
                changed = True
        return changed

    def write(self, write: Write) -> None:
        """A write takes place: what lay there for certain is gone."""
        root = write.tile.root
        certain, possible = certain_bytes(write.tile), possible_bytes(write.tile)
        whole, kept = write.tile.whole, ~certain
        for source, reach in list(self.reach.items()):
            if not same_arena(root, source.write.tile.root):
                continue
            reach.bytes &= kept
            if whole:
                reach.renewed |= {root}
            if not reach.bytes:
                del self.reach[source]
        victims = {
            key: lost for key, own in self.own.items()
            if key[0] is not root and same_arena(key[0], root) and (lost := own & possible)}
        self.reach[Source(write, frozenset())] = Reach(possible, frozenset(), victims)
        self.own[root, False] = self.own.get((root, False), 0) | possible


def same_arena(a: Root, b: Root) -> bool:
    """Whether two buffers may share a byte at all: those without an address lie apart."""
    return a is b or (a.space is b.space and a.address is not None and b.address is not None)


def same_extent(a: Root, b: Root) -> bool:
    """One buffer under two names: the bytes are the same and hold elements of one type."""
    return a.bytes == b.bytes and a.address is b.address and _element(a) == _element(b)


def _element(root: Root) -> DType | None:
    declared = root.op.results[0].type if root.op.results else None
    kept = declared.slot if isinstance(declared, MultiTileBufType) else declared
    return kept.dtype if isinstance(kept, TileBufType) else None
