"""`with` regions: a region that runs on one core is its body; regions that split or schedule work are not modelled."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pypto_verified.language.markers import OpName

if TYPE_CHECKING:
    from pypto_verified.language.expressions import Expressions

# Names, dependencies and debug output do not change what the region computes.
_HARMLESS = frozenset({"level", "name_hint", "deps", "role", "allow_early_resolve", "dumps", "no_dep_args"})


def region_body(x: Expressions, node: ast.With) -> list[ast.stmt]:
    """The statements of a `with pl.at(...)` region. Raises NotModelled for other regions and for lane splits."""
    for item in node.items:
        call = item.context_expr
        function = x.static(call.func) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(function, OpName):
            x.fail(call, "a kernel's with statement opens a region of pl", "with pl.at(level=pl.Level.CORE_GROUP):")
        if function.path != "at" or item.optional_vars is not None:
            x.not_modelled(call, f"region pl.{function.path}")
        for keyword in call.keywords:
            if keyword.arg not in _HARMLESS:
                x.not_modelled(call, f"region with {keyword.arg}")
    return node.body
