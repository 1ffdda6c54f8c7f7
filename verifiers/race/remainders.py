"""Sizes by their remainders: where ids, slots, branches or bounds of loops divide what a size goes into, `M` is each of

    n*q + 0, n*q + 1, .., n*q + n - 1   with q >= 0, and   -1 - q

of which one holds for every value. With that in its place `(i*M + j) % n` says by `i` and `j` alone which slot is next,
and `M // n` and `M` are told apart by constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import lcm, prod

from pypto_verified.index import Cond, Expr, IntLike, symbol, symbols_of
from pypto_verified.index.expr import Atom
from verifiers.race.talk import Act, Choice, Said, Talk

_MOST = 13
"""Cases of all sizes of a kernel together."""


def cases(talks: Iterable[Talk], sizes: frozenset[str]) -> list[Mapping[str, IntLike]]:
    """What to put for sizes, one of which is so in each run; none where nothing divides them, or too many would be."""
    every: dict[str, tuple[Atom, int]] = {}
    for talk in talks:
        for e in (x for one in _inside(talk.said) for x in _exprs(talk, one)):
            for by, names in _divided(e):
                every.update({n: (a, lcm(by, every.get(n, (a, 1))[1])) for n, a in names.items() if n in sizes})
    ways = [[(name, value) for value in _values(atom, by)] for name, (atom, by) in sorted(every.items())]
    return [dict(way) for way in product(*ways)] if ways and prod(map(len, ways)) <= _MOST else []


def _values(size: Atom, by: int) -> Iterator[Expr]:
    rest = symbol(f"{size.name} / {by}", 0)
    yield from (by * rest + n for n in range(by))
    if size.lo is None or size.lo < 0:
        yield -1 - symbol(f"-{size.name} - 1", 0)


def _inside(said: tuple[Said, ...]) -> Iterator[Said]:
    for one in said:
        yield one
        if isinstance(one, Choice):
            yield from _inside((*one.then, *one.orelse))
        elif not isinstance(one, Act):
            yield from _inside(one.body)


def _exprs(talk: Talk, one: Said) -> Iterator[Expr]:
    if isinstance(one, Choice):
        yield from _compared(one.cond)
    elif isinstance(one, Act):
        yield from (id for id in (one.id, one.sync.id if one.sync is not None else None) if id is not None)
        yield from (e for access in one.touched for e in talk.mark_place(access.place).exprs())
    else:
        yield from (one.base, one.lower, one.upper, one.step)


def _compared(cond: Cond) -> Iterator[Expr]:
    if cond.expr is not None:
        yield cond.expr
    for part in cond.parts:
        yield from _compared(part)


def _divided(e: Expr) -> Iterator[tuple[int, Mapping[str, Atom]]]:
    """Numbers that something in an expression is divided by, with the names of that."""
    for atom in (a for mono, _ in e.terms for a in mono):
        yield from _of_atom(atom)


def _of_atom(atom: Atom) -> Iterator[tuple[int, Mapping[str, Atom]]]:
    for arg in atom.args:
        yield from _divided(arg)
    by = atom.args[1].value if atom.kind in ("floordiv", "mod") else None
    if by is not None and by > 1:
        yield by, symbols_of(atom.args[0])
