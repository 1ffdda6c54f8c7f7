"""Truth values that two functions of a kernel have in common: flags that both get from the caller, and comparisons,
such as those of floats, that both make of arguments which they share."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TypeAlias, Union

from pypto_verified.pto.module import Func, Op
from pypto_verified.pto.walk import walk_ops
from verifiers.access import AccessProgram

_Made: TypeAlias = Union[str, tuple[object, ...]]
"""How a value is computed: an argument's name, or an op with its attributes and how its operands are."""


def same_truths(a: AccessProgram, b: AccessProgram, same: Set[str]) -> frozenset[str]:
    """Opaque Booleans of one name that both functions compute alike. `same`: arguments that mean the same in both."""
    mine, theirs = _computed(a, same), _computed(b, same)
    return frozenset(n for n, made in mine.items() if theirs.get(n) == made)


def _computed(program: AccessProgram, same: Set[str]) -> dict[str, _Made]:
    """How the function computes its opaque Booleans, where arguments alone decide."""
    producers = {result.name: op for op in walk_ops(program.func) for result in op.results}
    found = {name: _made(ssa, program.func, producers, same) for name, ssa in program.symbols.truths.items()}
    return {name: made for name, made in found.items() if made is not None}


def _made(ssa: str, func: Func, producers: Mapping[str, Op], same: Set[str]) -> _Made | None:
    if any(arg.name == ssa for arg in func.args):
        return ssa if ssa in same else None
    op = producers.get(ssa)
    if op is None or not op.name.startswith("arith."):
        return None
    operands = [_made(value.name, func, producers, same) for values in op.args.values() for value in values]
    if any(made is None for made in operands):
        return None
    attrs = tuple(sorted((name, repr(value)) for name, value in op.attrs.items()))
    return (op.name, attrs, *operands)
