"""Bytes that an op touches, and whether two ops can touch the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias, Union

from pypto_verified.index import Expr, IntLike, substitute, symbols_of
from pypto_verified.layouts import Space
from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Local:
    """`rows` runs of `row_bytes` bytes, `pitch` apart, from `base` in the memory `space`. `root` is '' for an absolute
    address; otherwise `base` counts from the start of the pipe slot of that name, which lies apart from all others."""

    space: Space
    root: str
    base: Expr
    rows: int
    row_bytes: int
    pitch: int

    @property
    def span(self) -> int:
        return (self.rows - 1) * self.pitch + self.row_bytes


@dataclass(frozen=True, slots=True)
class Window:
    """A box of a tensor in global memory: elements `offsets` to `offsets + sizes` of the view of `pointer` that has
    these strides. Empty `strides`: anywhere behind the pointer. `pointer` '': anywhere at all."""

    pointer: str
    start: Expr
    strides: tuple[Expr, ...]
    offsets: tuple[Expr, ...]
    sizes: tuple[Expr, ...]


Place: TypeAlias = Union[Local, Window]


def exprs(place: Place) -> tuple[Expr, ...]:
    """The expressions that say where a place is."""
    return (place.base,) if isinstance(place, Local) else (place.start, *place.strides, *place.offsets, *place.sizes)


@lru_cache(maxsize=4096)
def unknowns(place: Place) -> frozenset[str]:
    """The names that a place depends on."""
    return frozenset(symbols_of(*exprs(place)))


def moved(place: Place, env: Mapping[str, IntLike]) -> Place:
    """The place with unknowns replaced."""
    used = unknowns(place) & env.keys()
    return _moved(place, tuple((name, env[name]) for name in sorted(used))) if used else place


@lru_cache(maxsize=1 << 14)
def _moved(place: Place, values: tuple[tuple[str, IntLike], ...]) -> Place:
    env = dict(values)
    if isinstance(place, Local):
        return replace(place, base=substitute(place.base, env))
    return Window(
        place.pointer, substitute(place.start, env), tuple(substitute(e, env) for e in place.strides),
        tuple(substitute(e, env) for e in place.offsets), tuple(substitute(e, env) for e in place.sizes))


def may_overlap(a: Place, b: Place) -> bool:
    """Whether some byte may belong to both, for some values of the unknowns; two pointers are apart (assumption
    DISTINCT-POINTERS)."""
    if isinstance(a, Local):
        return isinstance(b, Local) and _local(a, b)
    return isinstance(b, Window) and _window(a, b)


def _local(a: Local, b: Local) -> bool:
    if a.space is not b.space or a.root != b.root:
        return False
    if not a.base.terms and not b.base.terms and not -b.span < b.base.constant - a.base.constant < a.span:
        return False
    ahead = b.base - a.base
    if _at_least(ahead, a.span) or _at_least(-ahead, b.span):
        return False
    return not (a.pitch == b.pitch and _beside(ahead, a, b))


def _beside(ahead: Expr, a: Local, b: Local) -> bool:
    """Columns of one grid: rows of equal pitch that never meet."""
    column = (ahead % a.pitch).value if a.pitch else None
    return column is not None and column >= a.row_bytes and column + b.row_bytes <= a.pitch


def _window(a: Window, b: Window) -> bool:
    if a.pointer != b.pointer:
        return "" in (a.pointer, b.pointer)
    if not a.strides or _uids(a.strides) != _uids(b.strides) or a.start.uid != b.start.uid:
        return True
    pairs = zip(a.offsets, a.sizes, b.offsets, b.sizes, strict=True)
    return not any(_at_least(ob - oa, sa) or _at_least(oa - ob, sb) for oa, sa, ob, sb in pairs)


def _uids(exprs: tuple[Expr, ...]) -> tuple[int, ...]:
    """Which expressions these are: whether two unlike ones are equal may depend on the run."""
    return tuple(e.uid for e in exprs)


def _at_least(e: Expr, bound: IntLike) -> bool:
    difference = e - bound
    return difference.lo is not None and difference.lo >= 0
