"""Sound bounds of polynomials, from those of their atoms."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, Union

if TYPE_CHECKING:
    from pypto_verified.index.expr import Monomial

Bound: TypeAlias = Union[int, None]
"""An end of a range; None is unbounded."""


def sum_range(terms: tuple[tuple[Monomial, int], ...], constant: int) -> tuple[Bound, Bound]:
    """The range of the sum of `coefficient * monomial` and `constant`."""
    lo: Bound = constant
    hi: Bound = constant
    for mono, c in terms:
        ml, mh = _product_range(mono)
        if c < 0:
            ml, mh = mh, ml
        lo = None if lo is None or ml is None else lo + c * ml
        hi = None if hi is None or mh is None else hi + c * mh
    return lo, hi


def _product_range(mono: Monomial) -> tuple[Bound, Bound]:
    lo, hi = mono[0].lo, mono[0].hi
    for a in mono[1:]:
        if lo is not None and lo >= 0 and a.lo is not None and a.lo >= 0:
            lo, hi = lo * a.lo, (hi * a.hi if hi is not None and a.hi is not None else None)
        elif lo is not None and hi is not None and a.lo is not None and a.hi is not None:
            corners = (lo * a.lo, lo * a.hi, hi * a.lo, hi * a.hi)
            lo, hi = min(corners), max(corners)
        else:
            lo, hi = None, None
    return lo, hi
