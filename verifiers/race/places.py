"""Which bytes an access touches: a rect of an on-chip memory, or a box of a tensor in global memory."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias, Union

from pypto_verified.index import (
    Cond,
    Expr,
    IntLike,
    all_of,
    any_of,
    const,
    evaluate,
    holds,
    maximum,
    substitute,
    substitute_cond,
    symbols_of,
)
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.records import dataclass
from verifiers.access import Rect, TensorView, Window
from verifiers.access.overlap import disjoint_rects, mask

Symbols: TypeAlias = Mapping[str, IntLike]


@dataclass(frozen=True, slots=True, eq=False)
class OnChip:
    """`rect` with its first byte at `base` of `arena`: a memory space, or one allocation that has no address. `inside`:
    that a view lies in its tile, which the VIEW rules show."""

    arena: Hashable
    base: Expr
    rect: Rect
    inside: Cond = TRUE

    def exprs(self) -> tuple[Expr, ...]:
        return (self.base,)

    def at(self, values: Symbols) -> OnChip:
        """The place with symbols replaced."""
        return replace(
            self, base=substitute(self.base, values), inside=substitute_cond(self.inside, values))

    def where(self, numbers: Mapping[str, int]) -> OnChip:
        """The place with a number for each symbol."""
        return replace(self, base=const(evaluate(self.base, numbers)), inside=_truth(self.inside, numbers))

    def key(self) -> Hashable:
        """Equal for equal places."""
        return (self.arena, self.base.uid, self.rect.rows, self.rect.row_bytes, self.rect.pitch)

    def __str__(self) -> str:
        if self.base.value is None:
            return f"{self.rect.span} bytes from {self.base!r}"
        return f"bytes {self.base.value} to {self.base.value + self.rect.span - 1}"


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A box of global memory behind the pointer `arena`: element `offset + sum(offsets[i] * strides[i])` is its first
    one, `sizes` counts elements along each axis; `itemsize` in bytes; `dims`: extents of the tensor, `nested`: see
    there."""

    arena: Hashable
    offset: Expr
    offsets: tuple[Expr, ...]
    sizes: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    itemsize: int
    dims: tuple[Expr, ...] = ()
    nested: Cond = TRUE

    def exprs(self) -> tuple[Expr, ...]:
        return (self.offset, *self.offsets, *self.sizes, *self.strides)

    def at(self, values: Symbols) -> Box:
        """The place with symbols replaced."""
        offsets, sizes, strides, dims = (
            tuple(substitute(e, values) for e in part) for part in (
                self.offsets, self.sizes, self.strides, self.dims))
        return Box(self.arena, substitute(self.offset, values), offsets, sizes, strides, self.itemsize, dims,
                   substitute_cond(self.nested, values))

    def where(self, numbers: Mapping[str, int]) -> Box:
        """The place with a number for each symbol. Raises ZeroDivisionError where one has none."""
        offsets, sizes, strides, dims = (
            tuple(const(evaluate(e, numbers)) for e in part) for part in (
                self.offsets, self.sizes, self.strides, self.dims))
        return Box(self.arena, const(evaluate(self.offset, numbers)), offsets, sizes, strides, self.itemsize, dims,
                   _truth(self.nested, numbers))

    def key(self) -> Hashable:
        """Equal for equal places."""
        return (self.arena, self.itemsize, *(e.uid for e in self.exprs()))

    def __str__(self) -> str:
        spans = ", ".join(f"{o!r}:{o + s!r}" for o, s in zip(self.offsets, self.sizes, strict=True))
        return f"elements [{spans}]"

    def first(self) -> Expr:
        """The element behind the pointer where the box begins."""
        return self.offset + sum((o * s for o, s in zip(self.offsets, self.strides, strict=True)), start=const(0))

    def last(self) -> Expr:
        """Its last element."""
        return self.first() + sum(((n - 1) * s for n, s in zip(self.sizes, self.strides, strict=True)), start=const(0))


def _truth(c: Cond, numbers: Mapping[str, int]) -> Cond:
    return c if c is TRUE or c is FALSE else TRUE if holds(c, numbers) else FALSE


Place: TypeAlias = Union[OnChip, Box]


def box_of(window: Window) -> Box:
    """A window as a box of its tensor; windows of windows are resolved."""
    offsets = list(window.offsets)
    parent = window.parent
    while parent is not None:
        offsets = [a + b for a, b in zip(offsets, parent.offsets, strict=False)]
        parent = parent.parent
    view = window.view
    return Box(_pointer(view.base), view.offset, tuple(offsets), window.sizes, view.strides, view.dtype.bytes,
               view.dims, nested(view.dims, view.strides))


def view_box(view: TensorView) -> Box:
    """A whole tensor."""
    zeros = tuple(const(0) for _ in view.dims)
    return Box(_pointer(view.base), view.offset, zeros, view.dims, view.strides, view.dtype.bytes,
               view.dims, nested(view.dims, view.strides))


def nested(dims: tuple[Expr, ...], strides: tuple[Expr, ...]) -> Cond:
    """That no two places of a tensor are one element: each stride reaches over all that the axes within span. Axes are
    taken by their strides, where these are numbers, else in a usual order."""
    axes, numbers = tuple(range(len(strides))), _numbers(strides)
    orders = [axes, axes[::-1], (*axes[:-2], *axes[:-3:-1])] if numbers is None else [
        tuple(sorted(axes, key=lambda i: -strides[i].constant))]
    return any_of(
        all_of(
            any_of((dims[i] <= 1, strides[i] >= sum(((dims[k] - 1) * strides[k] for k in order[n:]), start=const(1))))
            for n, i in enumerate(order, 1))
        for order in dict.fromkeys(orders))


def element_box(base: str, offset: Expr, itemsize: int) -> Box:
    """One element behind a pointer."""
    one = const(1)
    return Box(_pointer(base), offset, (const(0),), (one,), (one,), itemsize)


def _pointer(base: str) -> Hashable:
    return ("gm", base)


def apart(a: Place, b: Place) -> Cond:
    """The condition under which the two have no byte in common."""
    if a.arena != b.arena:
        return TRUE
    if isinstance(a, OnChip) and isinstance(b, OnChip):
        first, second = a.base.value, b.base.value
        if first is not None and second is not None and (
                first + a.rect.span <= second or second + b.rect.span <= first):
            return TRUE
        return disjoint_rects(a.base, a.rect, b.base, b.rect)
    if isinstance(a, Box) and isinstance(b, Box):
        return _boxes_apart(a, b)
    return TRUE


def _numbers(e: tuple[Expr, ...]) -> list[int] | None:
    found = [x.constant for x in e if not x.terms]
    return found if len(found) == len(e) else None


def _numbers_apart(a: Box, b: Box) -> Cond | None:
    """The same for boxes whose places are numbers; None for others."""
    found: list[tuple[int, tuple[int, ...], tuple[int, ...], int]] = []
    for box in (a, b):
        numbers = [_numbers(part) for part in ((box.offset,), box.offsets, box.sizes, box.strides)]
        if None in numbers:
            return None
        (offset,), offsets, sizes, strides = (n for n in numbers if n is not None)
        if any(n <= 0 for n in sizes):
            return TRUE
        first = offset + sum(o * s for o, s in zip(offsets, strides, strict=True))
        found.append((first, tuple(sizes), tuple(strides), box.itemsize))
    (low, high), (other_low, other_high) = (_span(*numbers) for numbers in found)
    if high <= other_low or other_high <= low:
        return TRUE
    if _one_grid(a, b) and _nested(a, b) is TRUE:
        return None
    one, other = (_bursts(*numbers) for numbers in found)
    return None if one is None or other is None else FALSE if _share(one, other) else TRUE


def _span(first: int, sizes: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """The first byte of a box, and that behind its last one."""
    ways = [(n - 1) * s for n, s in zip(sizes, strides, strict=True)]
    low, high = (first + sum(bound(0, way) for way in ways) for bound in (min, max))
    return low * itemsize, (high + 1) * itemsize


_MOST_BURSTS = 1 << 14


@lru_cache(maxsize=1 << 10)
def _bursts(
    first: int, sizes: tuple[int, ...], strides: tuple[int, ...], itemsize: int
) -> tuple[tuple[int, int], ...] | None:
    """The bytes of a box, from and to, in order; None for too many pieces."""
    starts, length = [first], 1
    for stride, size in sorted(zip(strides, sizes, strict=True)):
        if stride == length and len(starts) == 1:
            length *= size
        elif len(starts) * size > _MOST_BURSTS:
            return None
        else:
            starts = [start + k * stride for start in starts for k in range(size)]
    return tuple((start * itemsize, (start + length) * itemsize) for start in sorted(starts))


def _share(one: tuple[tuple[int, int], ...], other: tuple[tuple[int, int], ...]) -> bool:
    """Whether two rows of pieces have a byte in common."""
    i = k = 0
    while i < len(one) and k < len(other):
        if one[i][0] < other[k][1] and other[k][0] < one[i][1]:
            return True
        if one[i][1] <= other[k][1]:
            i += 1
        else:
            k += 1
    return False


def _one_grid(a: Box, b: Box) -> bool:
    """Whether the axes of both are the same."""
    return a.itemsize == b.itemsize and a.offset.uid == b.offset.uid and _uids(a.strides) == _uids(b.strides)


def _boxes_apart(a: Box, b: Box) -> Cond:
    known = _numbers_apart(a, b)
    if known is not None:
        return known
    empty = any_of(n <= 0 for n in (*a.sizes, *b.sizes))
    if not _one_grid(a, b):
        return any_of((empty, _in_line(a, b)))
    # Boxes of one tensor, within its bounds (the BOUND rules say so): apart along an axis is apart.
    axes = any_of(
        any_of((p + m <= q, q + n <= p))
        for p, m, q, n in zip(a.offsets, a.sizes, b.offsets, b.sizes, strict=True))
    places = _nested(a, b)
    if len(a.offsets) > 1 and places is TRUE:
        return any_of((empty, axes))
    return any_of((empty, axes & places, _in_line(a, b)))


def _nested(a: Box, b: Box) -> Cond:
    """`nested` for both tensors together: one of a single row, however long, lies within those of many rows."""
    alike = _uids(a.dims) == _uids(b.dims)
    if alike or a.nested is FALSE or b.nested is FALSE:
        return a.nested & b.nested
    return a.nested & b.nested & nested(tuple(maximum(m, n) for m, n in zip(a.dims, b.dims, strict=True)), a.strides)


def _in_line(a: Box, b: Box) -> Cond:
    """That one ends in memory before the other begins."""
    one, other = a.itemsize, b.itemsize
    ahead = all_of(s >= 0 for s in (*a.strides, *b.strides))
    return ahead & any_of(((a.last() + 1) * one <= b.first() * other, (b.last() + 1) * other <= a.first() * one))


def covers(a: Place, b: Place) -> bool:
    """Whether `a` certainly contains all bytes of `b`."""
    if a.key() == b.key():
        return True
    if not isinstance(a, OnChip) or not isinstance(b, OnChip) or a.arena != b.arena:
        return False
    if a.base.value is None or b.base.value is None or a.base.value < 0 or b.base.value < 0:
        difference = (b.base - a.base).value
        solid = a.rect.pitch == a.rect.row_bytes or a.rect.rows == 1
        return difference is not None and solid and 0 <= difference <= a.rect.span - b.rect.span
    theirs = mask(b.base.value, b.rect.rows, b.rect.row_bytes, b.rect.pitch)
    return not theirs & ~mask(a.base.value, a.rect.rows, a.rect.row_bytes, a.rect.pitch)


def taken_for_granted(a: Place, b: Place) -> Cond:
    """What other rules show of two places."""
    return (a.inside if isinstance(a, OnChip) else TRUE) & (b.inside if isinstance(b, OnChip) else TRUE)


def names(place: Place) -> frozenset[str]:
    """Symbols that say where it is."""
    return frozenset(n for e in place.exprs() for n in symbols_of(e))


def _uids(exprs: tuple[Expr, ...]) -> tuple[int, ...]:
    return tuple(e.uid for e in exprs)
