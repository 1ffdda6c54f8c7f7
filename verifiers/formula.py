"""A rule's formula: its own goal, evaluated on a site whose numbers are symbols, named as the site's fields are.

Where the goal asks something that no symbol answers (a layout, an element type, a pipe), the formula is the text of the
goal itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

from pypto_verified.index import FALSE, TRUE, Cond, Expr, symbol
from pypto_verified.index.cond import as_cond, variable
from pypto_verified.pto.types import TileBufType
from verifiers.access import AccessProgram, Root, Step, TileUse
from verifiers.registry import AnyRule
from verifiers.sites import Context, Site

_ONLY = frozenset({"tile", "step"})
"""Fields that say no more than the site: their parts are named alone."""


def formula_of(rule: AnyRule, context: Context) -> str:
    """The formula of a rule: as it is declared, or from the first of the rule's sites in `context` that gives one."""
    if rule.formula:
        return rule.formula
    for site in rule.sites(context):
        if rule.applies(site):
            found = _evaluated(rule, site)
            if found:
                return found
    return text_of(rule.goal, "goal")


def _evaluated(rule: AnyRule, site: Site) -> str:
    """The goal on symbols, '' where that is no condition on them. Where a goal looks at numbers of a type, such as
    whether a tile has one row, those of the site stay what they are."""
    for types_too in (True, False):
        try:
            goal = as_cond(rule.goal(_Symbolic(types_too).site(site)))
        except (TypeError, AttributeError, ValueError, ZeroDivisionError):
            continue
        if goal not in (TRUE, FALSE):
            return repr(goal)
    return ""


class _Symbolic:
    """Makes a site's numbers symbols, those that its types fix only if `types_too`."""

    def __init__(self, types_too: bool) -> None:
        self._types_too = types_too
        self._tiles: dict[int, TileUse] = {}

    def site(self, site: Site) -> Site:
        made = copy(site)
        for f in fields(site):
            if f.name not in ("context", "op", "path", "label"):
                name = "" if f.name in _ONLY else f.name
                object.__setattr__(made, f.name, self._value(getattr(site, f.name), name))
        return made

    def _value(self, value: object, name: str) -> object:
        if isinstance(value, bool | AccessProgram):
            return value
        if isinstance(value, int):
            return symbol(name, 0) if self._types_too else value
        if isinstance(value, Expr):
            return symbol(name)
        if isinstance(value, Cond):
            return variable(name)
        if isinstance(value, tuple):
            return tuple(self._value(v, f"{name}[{i}]") for i, v in enumerate(value))
        if isinstance(value, TileUse):
            return self._tile(value, name)
        if isinstance(value, TileBufType):
            return self._parts(value, name, ("rows", "cols"))
        if isinstance(value, Root):
            return self._parts(value, name, ("address", "bytes"))
        if isinstance(value, Step):
            operands = {k: tuple(self._value(v, _join(name, k)) for v in vs) for k, vs in value.operands.items()}
            return self._with(value, operands=operands)
        if is_dataclass(value) and not isinstance(value, type):
            return self._parts(value, name, tuple(f.name for f in fields(value)))
        return value

    def _tile(self, tile: TileUse, name: str) -> TileUse:
        found = self._tiles.get(id(tile))
        if found is None:
            made = self._parts(tile, name, ("type", "root", "valid_rows", "valid_cols", "row", "col", "rect", "parent"))
            assert isinstance(made, TileUse)
            found = self._tiles[id(tile)] = made
        return found

    def _parts(self, value: object, name: str, parts: tuple[str, ...]) -> object:
        own = {p: self._value(getattr(value, p), name if p in ("type", "root") else _join(name, p)) for p in parts}
        return self._with(value, **own)

    def _with(self, value: object, **parts: object) -> object:
        made = copy(value)
        for name, part in parts.items():
            object.__setattr__(made, name, part)
        return made


def _join(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part


def text_of(condition: Callable[..., object], keyword: str) -> str:
    """A condition as it stands in the source, where it is the argument `keyword` of a declaration: the body of a
    lambda, or what a function returns."""
    code = condition.__code__
    for node in ast.walk(_tree(code.co_filename)):
        if isinstance(node, ast.keyword) and node.arg == keyword and isinstance(node.value, ast.Lambda):
            if node.value.lineno == code.co_firstlineno:
                return ast.unparse(node.value.body)
        elif isinstance(node, ast.FunctionDef) and node.lineno == code.co_firstlineno and node.name == code.co_name:
            returned = [s for s in ast.walk(node) if isinstance(s, ast.Return) and s.value is not None]
            return " or else ".join(ast.unparse(r.value) for r in returned if r.value is not None)
    return ""


@cache
def _tree(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"))
