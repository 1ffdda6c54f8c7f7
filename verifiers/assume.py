"""`--assume` texts: `M % 16 == 0`, `0 <= row <= 24 and n > 0` over names of a kernel, read without evaluating
anything."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from pypto_verified.errors import InputError
from pypto_verified.index import Cond, Expr, all_of, any_of, const, eq, maximum, minimum, ne, symbol
from verifiers.access.symbols import Symbols

_ARITHMETIC: dict[type[ast.operator], Callable[[Expr, Expr], Expr]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b,
}
_RELATIONS: dict[type[ast.cmpop], Callable[[Expr, Expr], Cond]] = {
    ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
    ast.Eq: eq, ast.NotEq: ne,
}
_CALLS = {"min": minimum, "max": maximum}


def parse_assumption(text: str) -> ast.expr:
    """The syntax tree of an assumption. Raises InputError if it is not an expression."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as e:
        raise InputError(f"can't read the assumption {text!r}: {e.msg}", help=_HELP) from None


def names_in(tree: ast.expr) -> set[str]:
    """Names that an assumption speaks of."""
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - set(_CALLS)


def assumptions_of(symbols: Symbols, texts: Iterable[str]) -> list[tuple[str, Cond]]:
    """The assumptions whose names a function has, each with its condition."""
    names = {n: s.expr for n, s in symbols.shown.items()}
    return [(text, to_condition(text, names)) for text in texts if names_in(parse_assumption(text)) <= set(names)]


def check_assumption(text: str) -> None:
    """Raises InputError, as `to_condition` would whatever the names mean, if the text is no condition on integers."""
    to_condition(text, {name: symbol(name) for name in names_in(parse_assumption(text))})


def to_condition(text: str, names: Mapping[str, Expr]) -> Cond:
    """The condition an assumption states, with its names read from `names`.

    Raises InputError for an unknown name or for anything but integers, names, + - * // %, min, max, comparisons, and,
    or, not.
    """
    return _condition(parse_assumption(text), text, names)


_HELP = "write it like --assume 'M % 16 == 0' or --assume 'row + 8 <= 512 and row >= 0'"


def _condition(node: ast.expr, text: str, names: Mapping[str, Expr]) -> Cond:
    if isinstance(node, ast.BoolOp):
        parts = [_condition(v, text, names) for v in node.values]
        return all_of(parts) if isinstance(node.op, ast.And) else any_of(parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ~_condition(node.operand, text, names)
    if isinstance(node, ast.Compare):
        sides = [_integer(n, text, names) for n in (node.left, *node.comparators)]
        relations = [_RELATIONS.get(type(op)) for op in node.ops]
        if all(relations):
            return all_of(r(a, b) for r, a, b in zip(relations, sides, sides[1:], strict=False) if r is not None)
    raise InputError(f"the assumption {text!r} is not a condition on integers", help=_HELP)


def _integer(node: ast.expr, text: str, names: Mapping[str, Expr]) -> Expr:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return const(node.value)
    if isinstance(node, ast.Name):
        found = names.get(node.id)
        if found is None:
            known = ", ".join(sorted(names)) or "none"
            raise InputError(f"the assumption {text!r} names {node.id!r}, which is not in the kernel",
                             help=f"names of this kernel: {known}")
        return found
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_integer(node.operand, text, names)
    if isinstance(node, ast.BinOp):
        apply = _ARITHMETIC.get(type(node.op))
        if apply is not None:
            return apply(_integer(node.left, text, names), _integer(node.right, text, names))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS and node.args:
        return _CALLS[node.func.id](*(_integer(a, text, names) for a in node.args))
    raise InputError(f"the assumption {text!r} uses something other than integer arithmetic", help=_HELP)
