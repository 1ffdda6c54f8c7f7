"""Reports speak the user's names: a loop counter that only the verifier knows reads as the loop variable again.

A loop variable is `row = lower + step*trip`. In a polynomial, `step*k*trip` is `k*(row - lower)`; a term that is no
multiple of the step keeps the counter.
"""

from __future__ import annotations

from copy import copy
from dataclasses import fields
from typing import TypeVar

from pypto_verified.index import Cond, Expr, as_expr, const, maximum, minimum, symbol
from pypto_verified.index.cond import all_of, any_of, eq, negate, nonneg
from pypto_verified.index.expr import Atom, from_atom
from pypto_verified.records import dataclass
from verifiers.access.program import Rect, Step, TensorView, TileUse, Window
from verifiers.access.symbols import SymbolKind, Symbols
from verifiers.reaching import Source
from verifiers.regions import Region
from verifiers.sites import Site

T = TypeVar("T")

_WORDED = (Site, Step, TileUse, Rect, TensorView, Window, Region, Source)


@dataclass(frozen=True, slots=True)
class _Loop:
    """`variable = lower + step*trip`."""

    variable: Expr
    lower: Expr
    step: int


class Wording:
    """Rewrites what a site holds for its texts."""

    def __init__(self, symbols: Symbols) -> None:
        self._loops: dict[Atom, _Loop] = {}
        hidden = {n for n, kind in symbols.kinds.items() if kind is SymbolKind.TRIP and n not in symbols.shown}
        for name, shown in symbols.shown.items():
            for mono, step in shown.expr.terms:
                if len(mono) == 1 and mono[0].name in hidden and mono[0] not in self._loops:
                    lower = shown.expr - from_atom(mono[0]) * step
                    self._loops[mono[0]] = _Loop(symbol(name), lower, step)

    def expr(self, e: Expr) -> Expr:
        """`e` over loop variables instead of loop counters."""
        if not self._loops:
            return e
        total = const(e.constant)
        for mono, c in e.terms:
            loop = next((self._loops[a] for a in mono if a in self._loops), None)
            if loop is not None and c % loop.step == 0:
                rest = list(mono)
                rest.remove(next(a for a in mono if a in self._loops))
                term = (loop.variable - self.expr(loop.lower)) * (c // loop.step)
                total = total + term * self._product(rest)
            else:
                total = total + self._product(list(mono)) * c
        return total

    def _product(self, atoms: list[Atom]) -> Expr:
        product = as_expr(1)
        for a in atoms:
            product = product * self._atom(a)
        return product

    def _atom(self, a: Atom) -> Expr:
        if a.kind == "sym":
            return from_atom(a)
        args = [self.expr(x) for x in a.args]
        if a.kind == "floordiv":
            return args[0] // args[1]
        if a.kind == "mod":
            return args[0] % args[1]
        return minimum(*args) if a.kind == "min" else maximum(*args)

    def cond(self, c: Cond) -> Cond:
        """`c` likewise."""
        if c.expr is not None:
            e = self.expr(c.expr)
            return nonneg(e) if c.kind == "nonneg" else eq(e, 0)
        if c.kind == "not":
            return negate(self.cond(c.parts[0]))
        if c.kind in ("and", "or"):
            parts = [self.cond(p) for p in c.parts]
            return all_of(parts) if c.kind == "and" else any_of(parts)
        return c

    def site(self, value: T) -> T:
        """The site with its expressions reworded, tiles and operands included."""
        if not self._loops or not isinstance(value, _WORDED):
            return value
        reworded = copy(value)
        for f in fields(value):
            object.__setattr__(reworded, f.name, self._field(getattr(value, f.name)))
        return reworded

    def _field(self, value: object) -> object:
        if isinstance(value, Expr):
            return self.expr(value)
        if isinstance(value, tuple):
            return tuple(self._field(v) for v in value)
        if isinstance(value, dict):
            return {k: self._field(v) for k, v in value.items()}
        return self.site(value)
