"""One text for a formula, whatever else was built before it: what recorded verdicts and answers are filed under."""

from __future__ import annotations

from pypto_verified.index import Cond, Expr
from pypto_verified.index.expr import Atom


class Canonical:
    """Texts of conditions. Sums, products and junctions are sorted by text, so that the order in which expressions were
    first made does not show. Two conditions with one text have the same parts, symbols and ranges."""

    def __init__(self) -> None:
        self._exprs: dict[Expr, str] = {}
        self._conds: dict[Cond, str] = {}

    def cond(self, c: Cond) -> str:
        found = self._conds.get(c)
        if found is None:
            found = self._conds[c] = self._condition(c)
        return found

    def _condition(self, c: Cond) -> str:
        if c.expr is not None:
            if c.kind == "nonneg":
                return f"(<= 0 {self.expr(c.expr)})"
            return f"(= 0 {min(self.expr(c.expr), self.expr(-c.expr))})"
        if c.kind in ("and", "or", "not"):
            return f"({c.kind} {' '.join(sorted(map(self.cond, c.parts)))})"
        return f"(var {c.name})" if c.kind == "var" else c.kind

    def expr(self, e: Expr) -> str:
        found = self._exprs.get(e)
        if found is None:
            terms = sorted(f"{k}*{'*'.join(sorted(map(self._atom, mono)))}" for mono, k in e.terms)
            found = self._exprs[e] = f"(+ {' '.join((*terms, str(e.constant)))})" if terms else str(e.constant)
        return found

    def _atom(self, a: Atom) -> str:
        if a.kind == "sym":
            return f"{a.name}[{a.lo},{a.hi}]"
        args = [self.expr(x) for x in a.args]
        return f"({a.kind} {' '.join(args if a.kind in ('floordiv', 'mod') else sorted(args))})"
