"""Where an access has taken place so far, by the iterations that its core has come to.

Let an access be inside of the loops `A0 > A1 > ..`, of which the core is in `A0 .. Ap`, in their iterations `K0 .. Kp`.
The outermost loop is run once, each other one once in an iteration of the one around it, and iterations are in order.
So what has taken place was in iterations

    k0 = K0, .., k[d-1] = K[d-1], kd < Kd   for some d <= p, or
    k0 = K0, .., kp = Kp                    unless the core has yet to come to it in this iteration,

whatever those of the loops further in: from 0 on, and up to the last one. Where each of these places is apart from that
of another access, nothing that this one has done so far meets it. So a place of its own in each iteration needs no
answer of who has read the one before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TypeAlias

from pypto_verified.index import IntLike, symbol, symbols_of
from pypto_verified.index.cond import TRUE
from pypto_verified.index.expr import from_atom
from verifiers.race.instances import Touch
from verifiers.race.literals import Literals
from verifiers.race.places import Place, Symbols, apart
from verifiers.race.side_state import TURN, Frame, State, equalities, values_of
from verifiers.race.talk import Act, Choice, Said, Turns

_BEFORE = "before@"
"""How the name of a number of iterations that may be any begins."""
Way: TypeAlias = tuple[tuple[Turns, int], ...]
"""Loops around an op, each with the number of the item of its body that the op is in."""


def ways_of(said: tuple[Said, ...], around: Way = ()) -> Iterator[tuple[Act, Way]]:
    """All ops of a core."""
    for one in said:
        if isinstance(one, Act):
            yield one, around
        elif isinstance(one, Choice):
            yield from ways_of((*one.then, *one.orelse), around)
        else:
            for item, part in enumerate(one.body):
                yield from ways_of((part,), (*around, (one, item)))


def apart_so_far(state: State, earlier: Touch, way: Way, later: Touch) -> bool:
    """Whether nothing that an access of one core has done so far shares a byte with what the other core does now."""
    now = later.place.at(values_of(state.stacks[later.core]))
    equal, least = equalities(state.known), _at_least(state.known)
    known: tuple[Symbols, ...] = ({}, equal, least, {**least, **equal})
    return all(
        any(apart(p.at(values), now.at(values)) is TRUE for p, values in product(places, known))
        for places in _so_far(earlier, way, state.stacks[earlier.core]))


def _so_far(touch: Touch, way: Way, stack: tuple[Frame, ...]) -> Iterator[tuple[Place, ...]]:
    """Where an access has taken place so far: each as places that all take it in."""
    values: Symbols = {}
    frames = [f for f in stack if f.turns is not None]
    for depth, ((turns, item), frame) in enumerate(zip(way, frames, strict=False)):
        if frame.turns is not turns:
            break
        last = depth + 1 == len(way)
        latest = frame.k - 1 if not last or item >= frame.next else frame.k
        if last and touch.every > 1:
            latest = latest - (latest - touch.rest) % touch.every
        any_one = symbol(f"{_BEFORE}{turns.name}", 0)
        if last:
            yield (touch.place.at(turns.within(latest, values)),)
            latest, any_one = latest - touch.every, touch.every * any_one
        before = turns.within(latest - any_one, values)
        yield (*_whatever(touch, way[depth + 1:], before), *_whatever(touch, way[depth:], values))
        values = turns.within(frame.k, values)
        if last or item >= frame.next:
            return
    else:
        depth = len(frames)
    yield _whatever(touch, way[depth:], values)


def _whatever(touch: Touch, inner: Way, values: Symbols) -> tuple[Place, ...]:
    """A place in any iteration of inner loops: from 0 on, and up to the last one."""
    from_first, to_last = dict(values), dict(values)
    for number, (turns, _) in enumerate(inner, 1):
        any_one = symbol(f"{_BEFORE}{turns.name}", 0)
        innermost = number == len(inner)
        from_first = turns.within(touch.every * any_one + touch.rest if innermost else any_one, from_first)
        last = turns.last(to_last)
        to_last = turns.within(last - any_one if last is not None else any_one, to_last)
    return (touch.place.at(from_first), touch.place.at(to_last))


def _at_least(known: Literals) -> Symbols:
    """Sizes as what they are at least, and more."""
    found: dict[str, IntLike] = {}
    for c in sorted(known, key=lambda c: (len(c.expr.terms), repr(c)) if c.expr is not None else (0, "")):
        if c.kind != "nonneg" or c.expr is None:
            continue
        for mono, factor in c.expr.terms:
            if len(mono) == 1 and mono[0].kind == "sym" and factor == 1 and not mono[0].name.startswith(TURN):
                own = from_atom(mono[0])
                if mono[0].name not in symbols_of(c.expr - own):
                    found[mono[0].name] = own - c.expr + symbol(f"more@{mono[0].name}", 0)
    return found
