"""Which accesses must wait for which: for every access the nearest earlier ones that it conflicts with.

A flag tells that all earlier ops of its pipe are done. So of the conflicting ops of one pipe the last one is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm

from pypto_verified.index import IntLike, symbol, symbols_of
from pypto_verified.index.expr import Atom
from pypto_verified.records import dataclass
from pypto_verified.sync.places import Local, Place, Window, exprs, may_overlap, moved, unknowns
from pypto_verified.sync.program import Access, Loop, Program, parting
from pypto_verified.targets import Target
from pypto_verified.targets.model import Pair
from pypto_verified.targets.pipes import Hazard, ordered_on_pipe

FARTHEST = 8
"""Turns of a loop up to which the distance of two accesses to the same bytes is told apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """`later` must start after `earlier` is done, as each of `pipes` (that of `earlier`, that of `later`). `loop` None:
    in the same turn of all loops around both; else `earlier` in a turn of `loop` that is `distance` or more before."""

    earlier: Access
    later: Access
    pipes: tuple[Pair, ...]
    loop: Loop | None = None
    distance: int = 0


def dependences(program: Program, target: Target, strict: bool) -> dict[int, list[Dependence]]:
    """What each access, by its index, must wait for. `strict`: under the stricter reading of each assumption."""
    search = _Search(program, target, strict)
    return {a.index: list(search.of(a)) for a in program.accesses}


class _Search:
    def __init__(self, program: Program, target: Target, strict: bool) -> None:
        self.program = program
        self.target = target
        self.strict = strict
        self.one_memory = any(
            isinstance(p, Window) and not p.pointer for a in program.accesses for p in (*a.reads, *a.writes))
        self.sharing: dict[object, list[Access]] = {}
        self.known: dict[tuple[int, int], set[Hazard]] = {}
        self.names = {
            a.index: frozenset[str]().union(*map(unknowns, (*a.reads, *a.writes))) for a in program.accesses}
        for a in program.accesses:
            if any(loop.turns == 0 for loop in a.chain[-1][0].loops):
                continue  # it never runs, and must not stand for an earlier one that does
            for key in _keys(a, self.one_memory):
                self.sharing.setdefault(key, []).append(a)

    def of(self, b: Access) -> Iterator[Dependence]:
        near = self.candidates(b)
        yield from self.forward(b, near)
        for loop in b.chain[-1][0].loops:
            yield from self.carried(b, loop, near)

    def candidates(self, b: Access) -> list[Access]:
        """Accesses that may touch the same memory, the last one first."""
        found = {a.index: a for key in _keys(b, self.one_memory) for a in self.sharing.get(key, ())}
        return [found[i] for i in sorted(found, reverse=True)]

    def forward(self, b: Access, near: list[Access]) -> Iterator[Dependence]:
        """The last conflict of each pipe before `b` in text order."""
        told: set[tuple[str, ...]] = set()
        for a in near:
            if a.index >= b.index or a.op is b.op or a.pipes in told or parting(a, b) is None:
                continue
            pipes = self.needed(a, b, self.at_once(a, b))
            if pipes:
                told.add(a.pipes)
                yield Dependence(a, b, pipes)

    def carried(self, b: Access, loop: Loop, near: list[Access]) -> Iterator[Dependence]:
        """The nearest conflict of each pipe in earlier turns of a loop around `b`."""
        best: dict[tuple[str, ...], Dependence] = {}
        for a in near:
            old = best.get(a.pipes)
            if loop not in a.chain[-1][0].loops or (old is not None and old.distance == 1):
                continue
            if not self.hazards_between_turns(a, b, loop, symbol("gap", 1)):
                continue
            most = FARTHEST + 1 if loop.turns is None else min(FARTHEST + 1, loop.turns - 1)
            for distance in range(1, min(most, old.distance - 1 if old is not None else most) + 1):
                gap: IntLike = distance if distance <= FARTHEST else symbol("gap", distance)
                pipes = self.needed(a, b, self.hazards_between_turns(a, b, loop, gap))
                if pipes:
                    best[a.pipes] = Dependence(a, b, pipes, loop, distance)
                    break
        yield from best.values()

    def needed(self, a: Access, b: Access, hazards: set[Hazard]) -> tuple[Pair, ...]:
        """The pairs of pipes between which the hazards need an order that is not there by itself. What the sources say
        of one op is one thing: it does not change its pipe between turns."""
        return tuple(
            (p, q) for p in a.pipes for q in b.pipes if hazards and (
                any(not ordered_on_pipe(self.target, p, h, self.strict) for h in hazards) if p == q
                else a.op is not b.op))

    def hazards(self, a: Access, b: Access, env: dict[str, IntLike]) -> set[Hazard]:
        """How `a` conflicts with the later `b` where the unknowns of `a` are as `env` says."""
        pairs = (
            (Hazard.RAW, a.writes, b.reads), (Hazard.WAW, a.writes, b.writes), (Hazard.WAR, a.reads, b.writes))
        return {h for h, xs, ys in pairs if any(self.overlap(x, y, env) for x in xs for y in ys)}

    def overlap(self, x: Place, y: Place, env: dict[str, IntLike]) -> bool:
        return may_overlap(moved(x, env), y)

    def hazards_between_turns(self, a: Access, b: Access, loop: Loop, gap: IntLike) -> set[Hazard]:
        """How `a` in a turn conflicts with `b` `gap` turns later."""
        if not self.varies(a, loop) and not self.varies(b, loop):
            return self.at_once(a, b)
        env = self.renamed(a, loop)
        if loop.counter is None or not env:
            return self.hazards(a, b, env)
        (turn,) = symbols_of(loop.counter)
        every = _period(a, b, turn)
        found: set[Hazard] = set()
        for rest in range(every):
            first = loop.counter * every + rest
            found |= self.hazards(a, _rewritten(b, {turn: first + gap}), env | {turn: first})
        return found

    def varies(self, a: Access, loop: Loop) -> bool:
        """Whether the place of an access is another one in another turn."""
        return any(self.program.owner.get(n, 0) in loop.inner for n in self.names[a.index])

    def at_once(self, a: Access, b: Access) -> set[Hazard]:
        """How `a` conflicts with the later `b` where both are at the same places in every turn."""
        found = self.known.get((a.index, b.index))
        if found is None:
            found = self.known[a.index, b.index] = self.hazards(a, b, {})
        return found

    def renamed(self, a: Access, loop: Loop) -> dict[str, IntLike]:
        """Other unknowns for those of `a` that have other values in another turn."""
        names = symbols_of(*(e for place in (*a.reads, *a.writes) for e in exprs(place)))
        return {n: symbol(f"{n}'", s.lo, s.hi) for n, s in names.items()
                if self.program.owner.get(n, 0) in loop.inner}


def _rewritten(b: Access, env: dict[str, IntLike]) -> Access:
    if all(moved(p, env) is p for p in (*b.reads, *b.writes)):
        return b
    return Access(
        b.index, b.op, b.pipes, tuple(moved(p, env) for p in b.reads), tuple(moved(p, env) for p in b.writes), b.chain)


def _keys(a: Access, one_memory: bool) -> set[object]:
    """What accesses of the same memory have in common. `one_memory`: pointers do not tell global memory apart."""
    return {
        (place.space, place.root) if isinstance(place, Local) else "" if one_memory else place.pointer
        for place in (*a.reads, *a.writes)}


def _period(a: Access, b: Access, turn: str) -> int:
    """Turns after which the addresses of two accesses repeat their pattern: the common multiple of what they are taken
    modulo of, as far as that is small."""
    found = 1
    for place in (*a.reads, *a.writes, *b.reads, *b.writes):
        for e in exprs(place):
            for mono, _ in e.terms:
                for atom in mono:
                    found = lcm(found, _modulus(atom, turn))
    return found if found <= 2 * FARTHEST else 1


def _modulus(atom: Atom, turn: str) -> int:
    found = 1
    if atom.kind in ("mod", "floordiv") and turn in symbols_of(atom.args[0]):
        found = atom.args[1].value or 1
    for arg in atom.args:
        for mono, _ in arg.terms:
            for inner in mono:
                found = lcm(found, _modulus(inner, turn))
    return abs(found) or 1


