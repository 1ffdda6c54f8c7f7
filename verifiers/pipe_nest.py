"""Which loops and branches transfers of a pipe stand in: where these are the same at both ends, the n-th tile that a
transfer moves here is moved by its counterpart there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from pypto_verified.index import Cond, Expr, IntLike, substitute, substitute_cond, symbol, symbols_of
from pypto_verified.records import dataclass
from verifiers.access import AccessProgram, Loop, Step
from verifiers.race.paths import nodes
from verifiers.recurrence import counted, trips
from verifiers.solver.cone import conjuncts, names_of

_TURN = "turn of loop "


@dataclass(frozen=True, slots=True)
class Nest:
    """For each transfer, the loops around it by number, each with how often it turns, and what branches ask; `names`:
    what all of these depend on. The turns of loops are named by their numbers."""

    places: tuple[tuple[tuple[tuple[int, int], ...], frozenset[Cond]], ...]
    names: frozenset[str]


@lru_cache(maxsize=4)
def tested(program: AccessProgram) -> frozenset[int]:
    """The steps that while loops run before each test of their conditions, by index."""
    heads = (item for loop in nodes(program.body) if isinstance(loop, Loop) for item in loop.body.items[:loop.head])
    return frozenset(s.index for item in heads for s in nodes(item) if isinstance(s, Step))


def branches(step: Step) -> Iterator[Cond]:
    """What branches around a step ask, without what its loops do."""
    of_loops = {c for loop in step.loops for c in _own(loop)}
    return (c for c in conjuncts(step.path) if c not in of_loops)


def _own(loop: Loop) -> Iterator[Cond]:
    around = set(conjuncts(loop.path))
    return (c for c in conjuncts(loop.inside) if c not in around)


def nest_of(program: AccessProgram, steps: Sequence[Step], known: Mapping[str, IntLike]) -> Nest | None:
    """Where steps stand, with `known` put in; None where a while loop runs one."""
    numbers: dict[int, int] = {}
    names: set[str] = set()
    places: list[tuple[tuple[tuple[int, int], ...], frozenset[Cond]]] = []
    for step in steps:
        at = dict(known)
        loops: list[tuple[int, int]] = []
        for loop in step.loops:
            number, turns, own = numbers.setdefault(id(loop), len(numbers)), trips(loop), counted(loop)
            if turns is None:
                return None
            times = substitute(turns, at)
            loops.append((number, times.uid))
            names.update(symbols_of(times))
            if own is not None:
                at[own.name] = substitute(own.base, at) + _turn(number)
        asked = frozenset(substitute_cond(c, at) for c in branches(step))
        names.update(*map(names_of, asked))
        places.append((tuple(loops), asked))
    if not tested(program).isdisjoint(s.index for s in steps):
        return None
    return Nest(tuple(places), frozenset(n for n in names if not n.startswith(_TURN)))


def _turn(number: int) -> Expr:
    return symbol(f"{_TURN}{number}", 0)
