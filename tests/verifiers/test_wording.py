"""Reports name the user's loop variable, not the verifier's counter."""

from __future__ import annotations

from pypto_verified.index import Expr, minimum, symbol
from verifiers.access.symbols import Shown, SymbolKind, Symbols
from verifiers.wording import Wording

M = symbol("M", 0)
TRIP = symbol("row_trip", 0)


def _loop(lower: Expr | int, step: int) -> Wording:
    """`for row in range(lower, ..., step)`."""
    symbols = Symbols()
    symbols.kinds["row_trip"] = SymbolKind.TRIP
    symbols.shown["row"] = Shown("row", TRIP * step + lower)
    return Wording(symbols)


def test_a_multiple_of_the_step_reads_as_the_loop_variable() -> None:
    w = _loop(0, 32)
    assert repr(w.expr(TRIP * 32)) == "row"
    assert repr(w.expr(TRIP * 64 + 5)) == "2*row + 5"
    assert repr(w.expr(minimum(M - TRIP * 32, 32))) == "min(M - row, 32)"
    assert repr(w.cond(TRIP * 32 + 32 <= M)) == "M >= row + 32"


def test_the_lower_bound_is_taken_off() -> None:
    # derivation: row = M + 8*trip, so 8*trip = row - M
    assert repr(_loop(M, 8).expr(TRIP * 8)) == "-M + row"


def test_a_term_that_is_no_multiple_of_the_step_keeps_the_counter() -> None:
    assert repr(_loop(0, 32).expr(TRIP * 3)) == "3*row_trip"
