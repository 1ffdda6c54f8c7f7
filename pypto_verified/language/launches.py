"""What an orchestration function launches: `with pl.spmd(N, sync_start=True):` around calls of kernels, and
`pl.spmd_submit(self.kernel, ..., core_num=N)`. Nothing else of such a function is read."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from pypto_verified.ir.stmt import Launch
from pypto_verified.language.expressions import Expressions
from pypto_verified.language.markers import OpName

_FILLING = {"system.available_cluster_count": "cube", "system.available_aiv_count": "vector"}


def launches_of(x: Expressions, definition: ast.FunctionDef) -> tuple[Launch, ...]:
    """The launches of a function in text order."""
    return tuple(_Launches(x, definition).found())


class _Launches:
    def __init__(self, x: Expressions, definition: ast.FunctionDef) -> None:
        self.x = x
        self.definition = definition
        stored = [n.id for n in ast.walk(definition) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        self.own = Counter((*stored, *(a.arg for a in definition.args.args)))

    def found(self) -> Iterator[Launch]:
        for node in ast.walk(self.definition):
            if isinstance(node, ast.With):
                for call in (item.context_expr for item in node.items):
                    if isinstance(call, ast.Call) and self._path(call) == "spmd":
                        for kernel in dict.fromkeys(_callees(node)):
                            yield self._launch(kernel, call, call.args[0] if call.args else None)
            elif isinstance(node, ast.Call) and self._path(node) == "spmd_submit" and node.args:
                yield self._launch(_name(node.args[0]), node, None)

    def _path(self, call: ast.Call) -> str:
        """The name in `pl` of what is called, '' if it is nothing of `pl`."""
        function = self.x.static(call.func)
        return function.path if isinstance(function, OpName) else ""

    def _launch(self, kernel: str, call: ast.Call, width: ast.expr | None) -> Launch:
        given = {k.arg: k.value for k in call.keywords}
        together = given.get("sync_start")
        blocks, fills = self._width(given.get("core_num", width))
        return Launch(
            kernel, blocks, fills, isinstance(together, ast.Constant) and together.value is True,
            self.x.source.span(call))

    def _width(self, node: ast.expr | None) -> tuple[int | None, str]:
        """A number of blocks, or the kind of cores that it counts. A name of the function's own stands for what its one
        assignment gives it."""
        if isinstance(node, ast.Name) and self.own[node.id]:
            node = self._assigned(node.id)
        if isinstance(node, ast.Call) and self._path(node) in _FILLING:
            return None, _FILLING[self._path(node)]
        if node is None or any(isinstance(n, ast.Name) and self.own[n.id] for n in ast.walk(node)):
            return None, ""
        value = self.x.static(node)
        return (value, "") if isinstance(value, int) and not isinstance(value, bool) else (None, "")

    def _assigned(self, name: str) -> ast.expr | None:
        values = [
            n.value for n in ast.walk(self.definition)
            if isinstance(n, ast.Assign) and [_name(t) for t in n.targets] == [name]]
        return values[0] if len(values) == self.own[name] == 1 else None


def _callees(region: ast.With) -> Iterator[str]:
    """Names of functions that a region calls, as `self.name(...)` or `name(...)`."""
    for statement in region.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                owner = node.func.value if isinstance(node.func, ast.Attribute) else None
                if owner is None or (isinstance(owner, ast.Name) and owner.id == "self"):
                    yield _name(node.func)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
