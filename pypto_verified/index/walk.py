"""Evaluation, substitution and free symbols of expressions and conditions."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_verified.index.cond import Cond, all_of, any_of, eq, negate, nonneg
from pypto_verified.index.expr import Atom, Expr, IntLike, Monomial, as_expr, const, from_atom, polynomial
from pypto_verified.index.extremes import maximum, minimum


def evaluate(e: Expr, env: Mapping[str, int]) -> int:
    """The value of `e` with each symbol read from `env` by name. KeyError: unbound; ZeroDivisionError: no value."""
    total = e.constant
    for mono, c in e.terms:
        product = c
        for a in mono:
            product *= _atom_value(a, env)
        total += product
    return total


def _atom_value(a: Atom, env: Mapping[str, int]) -> int:
    if a.kind == "sym":
        return env[a.name]
    values = [evaluate(x, env) for x in a.args]
    if a.kind == "floordiv":
        return values[0] // values[1]
    if a.kind == "mod":
        return values[0] % values[1]
    return min(values) if a.kind == "min" else max(values)


def holds(c: Cond, env: Mapping[str, int], bools: Mapping[str, bool] | None = None) -> bool:
    """The truth of `c` under `env`; opaque Booleans are read from `bools`."""
    if c.kind == "true":
        return True
    if c.kind == "false":
        return False
    if c.kind == "var":
        return ({} if bools is None else bools)[c.name]
    if c.kind == "not":
        return not holds(c.parts[0], env, bools)
    if c.expr is not None:
        value = evaluate(c.expr, env)
        return value >= 0 if c.kind == "nonneg" else value == 0
    results = (holds(p, env, bools) for p in c.parts)
    return all(results) if c.kind == "and" else any(results)


def substitute(e: Expr, env: Mapping[str, IntLike]) -> Expr:
    """`e` with symbols replaced by name, renormalised; `e` itself where it has none of them."""
    if not env or not e.terms:
        return e
    kept: dict[Monomial, int] = {}
    moved: list[Expr] = []
    for mono, c in e.terms:
        atoms = [_atom_subst(a, env) for a in mono]
        if all(new is None for new in atoms):
            kept[mono] = c
            continue
        product = const(c)
        for a, new in zip(mono, atoms, strict=True):
            product = product * (from_atom(a) if new is None else new)
        moved.append(product)
    if not moved:
        return e
    total = polynomial(kept, e.constant)
    for product in moved:
        total = total + product
    return total


def _atom_subst(a: Atom, env: Mapping[str, IntLike]) -> Expr | None:
    """What an atom becomes; None if it stays as it is."""
    if a.kind == "sym":
        found = env.get(a.name)
        return as_expr(found) if found is not None else None
    args = [substitute(x, env) for x in a.args]
    if all(new is old for new, old in zip(args, a.args, strict=True)):
        return None
    if a.kind == "floordiv":
        return args[0] // args[1]
    if a.kind == "mod":
        return args[0] % args[1]
    return minimum(*args) if a.kind == "min" else maximum(*args)


def substitute_cond(c: Cond, env: Mapping[str, IntLike]) -> Cond:
    """`c` with symbols replaced by name, resimplified; `c` itself where it has none of them."""
    if c.expr is not None:
        e = substitute(c.expr, env)
        if e is c.expr:
            return c
        return nonneg(e) if c.kind == "nonneg" else eq(e, 0)
    if not c.parts:
        return c
    parts = [substitute_cond(p, env) for p in c.parts]
    if all(new is old for new, old in zip(parts, c.parts, strict=True)):
        return c
    if c.kind == "not":
        return negate(parts[0])
    return all_of(parts) if c.kind == "and" else any_of(parts)


def symbols_of(*terms: Expr | Cond) -> dict[str, Atom]:
    """All symbols that occur, by name, in first-seen order."""
    found: dict[str, Atom] = {}
    for t in terms:
        _collect(t, found)
    return found


def _collect(t: Expr | Cond, found: dict[str, Atom]) -> None:
    if isinstance(t, Cond):
        if t.expr is not None:
            _collect(t.expr, found)
        for p in t.parts:
            _collect(p, found)
        return
    for mono, _ in t.terms:
        for a in mono:
            if a.kind == "sym":
                found.setdefault(a.name, a)
            for x in a.args:
                _collect(x, found)
