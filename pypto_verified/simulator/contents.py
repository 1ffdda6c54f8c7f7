"""What tensors and float arguments hold in a run that no user has given inputs to.

Where data decide by a branch whether a run gets to what it is to show, contents are tried: the numbers that a text
compares with and those next to them, everywhere alike, then mixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from pypto_verified.pto.module import Func
from pypto_verified.pto.walk import walk_ops
from pypto_verified.records import dataclass
from pypto_verified.simulator.values import Array, is_float

SMALL_INTEGERS = (0, 8)
"""What integer tensors hold by default: they may be indices."""
NO_ZERO = (1, 8)
"""The same where a zero would end the run."""
_USUAL = (0, 1, -1, 2, 0.5, 1000, -1000)
_MOST_ALIKE, _MOST_MIXED, _MIXES = 14, 8, 24
"""Numbers that are tried everywhere, the first of them that are mixed, and how often."""
_COMPARED = frozenset({"arith.cmpi", "arith.cmpf"})


@dataclass(frozen=True, slots=True)
class Contents:
    """Floats around 0 and integers of the range `integers`, from (included) and to (not); or numbers of `among` alone,
    for float arguments too. What does not fit into a type is the nearest number that does. `mix` tells apart contents
    that are drawn from the same numbers."""

    integers: tuple[int, int] = SMALL_INTEGERS
    among: tuple[float, ...] = ()
    mix: int = 0

    def elements(self, kind: np.dtype[np.generic], count: int, random: np.random.Generator) -> Array:
        """So many elements of a storage type."""
        if self.among:
            return _held(random.choice(np.array(self.among, np.float64), count), kind)
        if is_float(kind):
            return random.standard_normal(count, np.float32).astype(kind)
        return random.integers(*self.integers, count).astype(kind)

    def number(self, name: str) -> float:
        """The value of a float argument that no witness names."""
        if not self.among:
            return 1.0
        return float(np.random.default_rng((self.mix, *name.encode())).choice(np.array(self.among)))

    def __str__(self) -> str:
        if not self.among:
            return ""
        numbers = ", ".join(f"{n:g}" for n in self.among)
        return f"all elements and float arguments {'drawn from ' if len(self.among) > 1 else ''}{numbers}"


ANY = Contents()
"""What is held by default."""


def _held(numbers: Array, kind: np.dtype[np.generic]) -> Array:
    with np.errstate(over="ignore"):
        if is_float(kind):
            return numbers.astype(kind)
        high = (1 << 8 * kind.itemsize - (kind.kind == "i")) - 1
        low = -high - 1 if kind.kind == "i" else 0
        whole = [min(max(int(n), low), high) for n in np.floor(numbers)]
        return np.array(whole, kind)


def tried(funcs: Iterable[Func], witness: Mapping[str, int]) -> Iterator[Contents]:
    """Contents that may lead a run where it is wanted. `witness`: numbers of which some may be what is read."""
    yield ANY
    named = {a.name for func in funcs for a in func.args}
    compared = [c for func in funcs for c in _compared(func)]
    numbers = [float(v) for n, v in witness.items() if n not in named]
    numbers += [c + d for d in (0, 1, -1) for c in compared] + list(map(float, _USUAL))
    alike = list(dict.fromkeys(numbers))[:_MOST_ALIKE]
    for number in alike:
        yield Contents(among=(number,))
    for mix in range(_MIXES):
        yield Contents(among=tuple(alike[:_MOST_MIXED]), mix=mix)


def _compared(func: Func) -> list[float]:
    """The constants that a function compares with."""
    ops = list(walk_ops(func))
    constants = {id(op.result): op.attrs["value"] for op in ops if op.name == "arith.constant"}
    found = [constants[id(v)] for op in ops if op.name in _COMPARED for v in op.operands() if id(v) in constants]
    return [float(c) for c in dict.fromkeys(found) if isinstance(c, int | float)]
