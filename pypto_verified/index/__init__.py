"""Symbolic integers: interned normal forms, ranges, conditions, substitution. Imports nothing of the project."""

from pypto_verified.index.cond import FALSE, TRUE, Cond, all_of, any_of, eq, implies, ne
from pypto_verified.index.expr import Expr, IntLike, as_expr, const, symbol
from pypto_verified.index.extremes import maximum, minimum
from pypto_verified.index.walk import evaluate, holds, substitute, substitute_cond, symbols_of

__all__ = [
    "FALSE", "TRUE", "Cond", "Expr", "IntLike", "all_of", "any_of", "as_expr", "const", "eq", "evaluate", "holds",
    "implies", "maximum", "minimum", "ne", "substitute", "substitute_cond", "symbol", "symbols_of",
]
