"""Credits of cross-core pipes: slots that are written before they are read, and credits that are left over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from proofs.theorem import Claim, Mutant, Theorem, claim
from pypto_verified.index import IntLike, as_expr, eq, implies, ne, symbol
from pypto_verified.index.cond import CondLike, as_cond, negate
from pypto_verified.records import dataclass
from pypto_verified.targets import TARGETS, fifo
from pypto_verified.targets.fifo import LEDGERS, Ledger

SLOTS = tuple(range(1, max(t.flag_count_max for t in TARGETS.values()) + 1))

RANGES = f"any number of tiles; 1 to {SLOTS[-1]} slots: more tiles than that overflow the counting flag of the data"


@dataclass(frozen=True, slots=True)
class Credits:
    """The protocol that the product runs: when each end moves a credit, and how many it has moved."""

    waits: Callable[[int, IntLike], CondLike]
    posts: Callable[[int, IntLike], CondLike]
    waited: Callable[[int, IntLike], IntLike]
    posted: Callable[[int, IntLike], IntLike]


def _count(credits: Credits) -> Iterator[Claim]:
    tiles, before, after = symbol("tiles", 0), symbol("before"), symbol("after")
    ends = (("taken", credits.waits, credits.waited), ("posted", credits.posts, credits.posted))
    for slots in SLOTS:
        for name, moves, total in ends:
            given = eq(before, total(slots, tiles)) & eq(after, total(slots, tiles + 1))
            moved = as_cond(moves(slots, tiles))
            yield claim(
                f"{slots} slots, {name}", given,
                implies(moved, eq(after, before + 1)) & implies(negate(moved), eq(after, before)))
            first = eq(tiles, 0) & eq(before, total(slots, tiles))
            yield claim(f"{slots} slots, {name} at first", first, eq(before, 0))


COUNT: Theorem[Credits] = Theorem(
    id="FIFO-COUNT",
    statement="The numbers of credits taken and posted are those that the producer's and the consumer's conditions add "
    "up to, tile by tile.",
    formula="waited(0) = 0, waited(n + 1) = waited(n) + [waits(n)], and the same of posted",
    ranges=RANGES,
    rests=("FIFO-OVERRUN",),
    subject=lambda: Credits(fifo.waits, fifo.posts, fifo.waited, fifo.posted),
    claims=_count,
    mutants=(
        Mutant("the first wait comes one tile later", lambda s: replace(
            s, waits=lambda slots, tile: as_cond(fifo.waits(slots, tile)) & ne(tile, fifo.first_wait(slots)))),
        Mutant("a credit stands for one tile", lambda s: replace(s, posts=lambda slots, tile: True)),
    ),
)

Ledgers = dict[str, Ledger]


def _overrun(ledgers: Ledgers) -> Iterator[Claim]:
    tile, read = symbol("tile", 0), symbol("read", 0)
    for ledger in ledgers.values():
        for slots in SLOTS:
            name = f"{ledger.target}, {slots} slots"
            may_write = (read <= tile) & (as_expr(ledger.credits(slots, tile + 1, read)) >= 0)
            most = ledger.outstanding(slots)
            yield claim(f"{name}: at most {most} tiles", may_write, tile - read < most)
            reached = eq(read, 0) & eq(tile, most - 1) & eq(symbol("left"), ledger.credits(slots, tile + 1, read))
            yield claim(f"{name}: {most} tiles happen", reached, symbol("left") >= 0)
            yield claim(f"{name}: read before written again", may_write, tile - read < slots, ledger.safe(slots))


OVERRUN: Theorem[Ledgers] = Theorem(
    id="FIFO-OVERRUN",
    statement="The producer never writes a slot that is not read yet exactly for the slot counts that the ledger calls "
    "safe: on a2a3 1, 2, 3 and the even ones, on a5 none, whose pipes begin with credits for slots that need none.",
    formula="initial + posted(read) >= waited(tile + 1)  =>  tile - read < outstanding(slots), which is reached; it is "
    "<= slots iff safe(slots)",
    ranges=RANGES,
    rests=("FIFO-OVERRUN",),
    subject=lambda: dict(LEDGERS),
    claims=_overrun,
    mutants=(
        Mutant("a2a3 begins with a period of credits too", lambda s: {"a2a3": _Optimist("a2a3", True)}),
        Mutant("every slot count is safe", lambda s: {k: _AllSafe(v.target, v.primed) for k, v in s.items()}),
    ),
)


class _Optimist(Ledger):
    """Begins with credits and counts as if it did not."""

    def outstanding(self, slots: int) -> int:
        return fifo.first_wait(slots)


class _AllSafe(Ledger):
    def safe(self, slots: int) -> bool:
        return True


def _drain(ledgers: Ledgers) -> Iterator[Claim]:
    tiles, left = symbol("tiles", 1), symbol("left")
    for ledger in ledgers.values():
        for slots in SLOTS:
            given = eq(left, ledger.credits(slots, tiles, tiles))
            drained = ledger.drained(slots, tiles)
            yield claim(f"{ledger.target}, {slots} slots: no wait for ever", given, left >= drained)
            yield claim(
                f"{ledger.target}, {slots} slots: no credit is left", given, eq(left, drained), not ledger.primed)


class _Forgetful(Ledger):
    def drained(self, slots: int, tiles: IntLike) -> IntLike:
        return 0


class _FixedDrain(Ledger):
    def drained(self, slots: int, tiles: IntLike) -> IntLike:
        return fifo.period(slots)


DRAIN: Theorem[Ledgers] = Theorem(
    id="FIFO-DRAIN",
    statement="A pipe that ends after all its tiles are read takes exactly the credits that are left, so that the next "
    "one starts clean; a pipe that begins with credits and takes as many at its end leaves some behind (a5).",
    formula="initial + posted(n) - waited(n) = drained(n);  primed: > drained(n) for some n",
    ranges=f"{RANGES}; at least one tile",
    rests=(),
    subject=lambda: dict(LEDGERS),
    claims=_drain,
    mutants=(
        Mutant("nothing is taken at the end", lambda s: {"a2a3": _Forgetful("a2a3", False)}),
        Mutant("a period of credits is taken at the end", lambda s: {"a2a3": _FixedDrain("a2a3", False)}),
    ),
)

THEOREMS = (COUNT, OVERRUN, DRAIN)
