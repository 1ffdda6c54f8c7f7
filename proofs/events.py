"""Events: ids taken in turn, and loops that set their flags before, pass them on, and take them back after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from proofs.symbolic import iff
from proofs.theorem import Claim, Mutant, Theorem, claim
from pypto_verified.index import IntLike, as_expr, eq, implies, ne, symbol
from pypto_verified.index.cond import CondLike, as_cond, negate
from pypto_verified.targets import TARGETS, events
from pypto_verified.targets.events import Ring

IDS = tuple(range(1, max(t.event_ids for t in TARGETS.values()) + 1))
FLAGS = tuple(range(2, max(t.flag_ids for t in TARGETS.values()) + 1))

CyclicId = Callable[[IntLike, int], IntLike]


def _cyclic(cyclic_id: CyclicId) -> Iterator[Claim]:
    step, later, found = symbol("step", 0), symbol("later_step", 0), symbol("id")
    for ids in FLAGS:
        first, second = cyclic_id(step, ids), cyclic_id(later, ids)
        yield claim(f"{ids} ids, range", eq(found, first), (found >= 0) & (found < ids))
        yield claim(f"{ids} ids, {ids} steps", (step < later) & (later < step + ids), ne(first, second))
        yield claim(f"{ids} ids, {ids + 1} steps", eq(later, step + ids), eq(first, second))


CYCLIC: Theorem[CyclicId] = Theorem(
    id="EVENT-CYCLIC",
    statement="Ids taken in turn from k never collide while at most k steps are outstanding; with k + 1 outstanding "
    "the oldest and the newest always collide.",
    formula="i < j < i + k  =>  id(i) != id(j);   j = i + k  =>  id(i) = id(j);   0 <= id(i) < k",
    ranges=f"any steps; k = 2 to {FLAGS[-1]}: a target has {IDS[-1]} events a pipe pair and {FLAGS[-1]} cross-core "
    "flags (a single id is always the same)",
    rests=(),
    subject=lambda: events.cyclic_id,
    claims=_cyclic,
    mutants=(
        Mutant("one id less in turn", lambda f: lambda step, ids: f(step, max(ids - 1, 1))),
        Mutant("one id more in turn", lambda f: lambda step, ids: f(step, ids + 1)),
    ),
)


@dataclass(frozen=True, slots=True)
class Rings:
    """How a ring is made, and the id of an iteration."""

    make: Callable[[int, bool], Ring]
    cyclic_id: CyclicId


def _ring(rings: Rings) -> Iterator[Claim]:
    flag_value = symbol("flag_value", 0, 1)
    step, trips = symbol("step", 0), symbol("trips", 0)
    for ids in IDS:
        flag = symbol("flag", 0, ids - 1)
        for primed in (True, False):
            ring = rings.make(ids, primed)
            name = f"{ids} ids, {'primed' if primed else 'first rounds skip the wait'}"
            held, is_set = as_cond(ring.held(flag, step)), eq(flag_value, 1)
            mine, waits = eq(rings.cyclic_id(step, ids), flag), as_cond(ring.waits(step))
            invariant = iff(is_set, held)
            yield claim(
                f"{name}: before", eq(step, 0) & iff(is_set, ring.set_before(flag)), invariant)
            # A wait needs the flag; a set needs it free, after the wait if there is one.
            yield claim(f"{name}: no wait hangs, no set is lost", invariant & mine, iff(waits, is_set))
            next_set = eq(symbol("next_value", 0, 1), 1)
            moved = implies(mine, next_set) & implies(negate(mine), iff(next_set, is_set))
            yield claim(f"{name}: the next iteration", invariant & moved, iff(next_set, ring.held(flag, step + 1)))
            yield claim(
                f"{name}: after", eq(step, trips) & invariant, iff(is_set, ring.taken_after(flag, trips)))


class _Unprimed(Ring):
    """Forgets to set the flags before the loop."""

    def set_before(self, flag: IntLike) -> CondLike:
        return False


class _DrainsAll(Ring):
    """Takes all flags after the loop, however few iterations ran."""

    def taken_after(self, flag: IntLike, trips: IntLike) -> CondLike:
        return True


RING: Theorem[Rings] = Theorem(
    id="EVENT-RING",
    statement="A loop that passes k flags on, primed before it and drained after it, or with the waits of its first k "
    "iterations left out, never waits for a flag that nobody sets, never sets a set one and ends with all flags free: "
    "for every trip count, 0 and those below k included.",
    formula="the flag's value is held(flag, i) before every iteration i, and taken_after(flag, n) after n of them",
    ranges=f"any trip count; k = 1 to {IDS[-1]}, all event ids of a pipe pair",
    rests=(),
    subject=lambda: Rings(Ring, events.cyclic_id),
    claims=_ring,
    mutants=(
        Mutant("nothing is set before the loop", lambda s: replace(s, make=_Unprimed)),
        Mutant("all flags are taken after the loop, however short it was", lambda s: replace(s, make=_DrainsAll)),
        Mutant("the id lags one iteration behind", lambda s: replace(
            s, cyclic_id=lambda step, ids: events.cyclic_id(as_expr(step) + 1, ids))),
    ),
)

THEOREMS = (CYCLIC, RING)
