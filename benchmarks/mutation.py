"""Small mechanical changes of Python source, as candidates of a mutation campaign.

Each is a text edit of one node, so that the rest of the file stays as it is. Left out is what says nothing about
meaning: annotations, decorators, docstrings, assertions, and the words of errors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change. `path` relative to the tree; `start` and `end` count bytes of the file; `kind` names the operator."""

    path: str
    line: int
    kind: str
    old: str
    new: str
    start: int
    end: int

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


def mutants(path: str, source: str) -> list[Mutant]:
    """All candidates of one file, in source order."""
    data = source.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node, kind, new in _changes(ast.parse(source)):
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        old = data[start:end].decode()
        if kind not in ("drop a statement", "off by one"):
            new = f"({new})"
        found.append(Mutant(path, node.lineno, kind, old, new, start, end))
    return found


def applied(mutant: Mutant, source: str) -> str:
    """The file with the change."""
    data = source.encode()
    return (data[: mutant.start] + mutant.new.encode() + data[mutant.end :]).decode()


def mutants_of_tree(root: Path, rooms: tuple[str, ...]) -> dict[str, list[Mutant]]:
    """Room -> the candidates of all its files."""
    return {
        room: [
            m for file in sorted((root / room).rglob("*.py"))
            for m in mutants(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
        ]
        for room in rooms
    }


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """(node, operator, text in its place), outermost first."""
    for node in _visited(tree):
        if isinstance(node, ast.expr):
            yield from ((node, kind, ast.unparse(new)) for kind, new in _of_expression(node))
        elif isinstance(node, ast.If) and not isinstance(node.test, ast.Compare | ast.BoolOp):
            yield node.test, "turn a condition", f"not {ast.unparse(node.test)}"
        elif _can_drop(node):
            yield node, "drop a statement", "pass"


def _visited(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.Raise | ast.Assert | ast.JoinedStr) or _is_text(child):
                continue
            if isinstance(child, ast.keyword) and child.arg == "strict":
                continue  # `zip` with its own assertion
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.expr | ast.stmt):
                yield child
            if isinstance(child, ast.AST):
                yield from _visited(child)


def _is_text(node: object) -> bool:
    """A docstring, or a call that only words an error."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Error")


def _can_drop(node: ast.expr | ast.stmt) -> bool:
    """Statements without which the rest still has all its names."""
    if isinstance(node, ast.AugAssign | ast.Continue):
        return True
    if isinstance(node, ast.Assign):
        return all(isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _of_expression(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Compare(ops=[op, *_]) if type(op) in _COMPARISONS:
            yield "flip a comparison", _with(node, ops=[_COMPARISONS[type(op)](), *node.ops[1:]])
        case ast.BoolOp():
            yield "and for or", _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield "drop a not", node.operand
        case ast.BinOp() if type(node.op) in _ARITHMETIC and not _textual(node):
            yield "another operator", _with(node, op=_ARITHMETIC[type(node.op)]())
        case ast.Constant(value=bool()):
            yield "turn a flag", ast.Constant(not node.value)
        case ast.Constant(value=int()) if isinstance(node.value, int):
            yield "off by one", ast.Constant(node.value + 1)
        case ast.IfExp():
            yield "swap the arms", _with(node, body=node.orelse, orelse=node.body)
        case ast.Call(func=ast.Name(id=name)) if name in _NAMES:
            yield "another function", _with(node, func=ast.Name(_NAMES[name]))
        case ast.Call(func=ast.Name(id="isinstance")):
            return
        case ast.Call(args=[first, second, *rest]) if not isinstance(first, ast.Starred) and not isinstance(
            second, ast.Starred
        ) and ast.dump(first) != ast.dump(second):
            yield "swap arguments", _with(node, args=[second, first, *rest])


def _textual(node: ast.BinOp) -> bool:
    return any(
        isinstance(n, ast.JoinedStr) or (isinstance(n, ast.Constant) and isinstance(n.value, str))
        for n in ast.walk(node)
    )


def _with(node: ast.expr, **changes: object) -> ast.expr:
    new = deepcopy(node)
    for name, value in changes.items():
        setattr(new, name, value)
    return new
