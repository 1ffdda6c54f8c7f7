"""The most trusted rung: every value of small bounded domains, evaluated in numpy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from pypto_verified.index import Cond, Expr, symbols_of
from pypto_verified.index.expr import Atom
from verifiers.solver.points import holds_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

LIMIT = 1 << 16
"""Points that are worth enumerating; more go to the solver."""

_FEW = 64
"""Points that are visited one by one: starting numpy costs more."""

_SAFE = 1 << 30
"""Bounds beyond this could overflow 64-bit products."""


def domain_of(c: Cond) -> dict[str, range] | None:
    """The values of each symbol of `c`, or None when some symbol is unbounded or the product is too large."""
    found: dict[str, range] = {}
    for name, atom in symbols_of(c).items():
        if atom.lo is None or atom.hi is None or abs(atom.lo) > _SAFE or abs(atom.hi) > _SAFE:
            return None
        found[name] = range(atom.lo, atom.hi + 1)
    return found if prod(len(r) for r in found.values()) <= LIMIT else None


def first_point(c: Cond, domain: Mapping[str, range]) -> dict[str, int] | None:
    """The first point, in lexicographic order, at which `c` holds; None if it holds nowhere. Points without a value
    (division by zero) count as not holding."""
    names = list(domain)
    if prod(len(r) for r in domain.values()) <= _FEW:
        points = (dict(zip(names, p, strict=True)) for p in product(*(domain[n] for n in names)))
        return next((p for p in points if holds_at(c, p)), None)
    import numpy as np

    axes = {}
    for k, n in enumerate(names):
        values = np.arange(domain[n].start, domain[n].stop, dtype=np.int64)
        axes[n] = values.reshape([-1 if i == k else 1 for i in range(len(names))])
    shape = tuple(len(domain[n]) for n in names)
    truth, defined = _condition(c, axes)
    where = np.flatnonzero(np.broadcast_to(truth & defined, shape))
    if not len(where):
        return None
    point = np.unravel_index(int(where[0]), shape)
    return {n: domain[n][int(i)] for n, i in zip(names, point, strict=True)}


def _condition(c: Cond, axes: Mapping[str, Ints]) -> tuple[Bools, Bools]:
    """(truth, where all its terms have a value)."""
    import numpy as np

    if c.kind in ("true", "false"):
        return np.asarray(c.kind == "true"), np.asarray(True)
    if c.expr is not None:
        value, defined = _value(c.expr, axes)
        return (value >= 0 if c.kind == "nonneg" else value == 0), defined
    parts = [_condition(p, axes) for p in c.parts]
    defined = reduce(np.logical_and, (d for _, d in parts))
    if c.kind == "not":
        return ~parts[0][0], defined
    join = np.logical_and if c.kind == "and" else np.logical_or
    return reduce(join, (t for t, _ in parts)), defined


def _value(e: Expr, axes: Mapping[str, Ints]) -> tuple[Ints, Bools]:
    import numpy as np

    total: Ints = np.asarray(e.constant, dtype=np.int64)
    defined: Bools = np.asarray(True)
    for mono, coefficient in e.terms:
        product: Ints = np.asarray(coefficient, dtype=np.int64)
        for atom in mono:
            value, ok = _atom(atom, axes)
            product, defined = product * value, defined & ok
        total = total + product
    return total, defined


def _atom(a: Atom, axes: Mapping[str, Ints]) -> tuple[Ints, Bools]:
    import numpy as np

    if a.kind == "sym":
        return axes[a.name], np.asarray(True)
    values = [_value(x, axes) for x in a.args]
    defined = reduce(np.logical_and, (d for _, d in values))
    first, second = values[0][0], values[1][0]
    if a.kind in ("floordiv", "mod"):
        nonzero = second != 0
        divisor = np.where(nonzero, second, 1)
        return (first // divisor if a.kind == "floordiv" else first % divisor), defined & nonzero
    return reduce(np.minimum if a.kind == "min" else np.maximum, (v for v, _ in values)), defined
