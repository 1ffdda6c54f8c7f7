"""How loops are counted: the induction variable of `scf.for`, and which counts of `scf.while` are turns it takes."""

from __future__ import annotations

from pypto_verified.index import Cond, Expr, all_of, const, eq, maximum, symbols_of
from pypto_verified.index.cond import FALSE
from pypto_verified.index.expr import polynomial
from verifiers.access.scalars import ceiling
from verifiers.access.symbols import SymbolKind, Symbols


def induction(symbols: Symbols, name: str, lower: Expr, upper: Expr, step: Expr) -> tuple[Expr, Expr, Cond]:
    """(induction value, counter from 0, what holds in the body)."""
    extent = upper - lower
    if extent.hi is not None and extent.hi <= 0:
        return lower, const(0), FALSE
    stride = step.value
    if stride == 1:
        hi = upper.hi - 1 if upper.hi is not None else None
        var = symbols.new(name, SymbolKind.TRIP, lower.lo, hi)
        counter = var - lower if var.value is None else const(0)  # one value: entered at that lower bound, once
        return var, counter, (var >= lower) & (var < upper)
    counter_hi = (extent.hi - 1) // stride if extent.hi is not None and stride is not None and stride > 0 else None
    counter = symbols.new(f"{name.split('__')[0]}_trip", SymbolKind.TRIP, 0, counter_hi, hidden=True)
    if stride is not None and stride > 0:
        var = lower + counter * stride
        symbols.show(name, var)
        return var, counter, var < upper
    var = symbols.new(name, SymbolKind.TRIP)
    return var, counter, all_of(((step >= 1), eq(var, lower + step * counter), var >= lower, var < upper))


def trips(lower: Expr, upper: Expr, step: Expr) -> Expr | None:
    """How often an `scf.for` turns; None where its step may be no step upwards."""
    return maximum(ceiling(upper - lower, step), 0) if step.lo is not None and step.lo > 0 else None


def fails_once_for_all(symbols: Symbols, condition: Cond, counter: Expr) -> bool:
    """Whether a linear condition that fails for some count fails for every later one: of what changes from turn to turn
    it has the counter alone."""
    if condition.kind != "nonneg" or condition.expr is None:
        return False
    mono, (own,) = counter.terms[0][0], symbols_of(counter)
    others = symbols_of(*(polynomial({m: c}, 0) for m, c in condition.expr.terms if m != mono))
    return dict(condition.expr.terms).get(mono, 0) < 0 and all(symbols.is_older(n, own) for n in others)
