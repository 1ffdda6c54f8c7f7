"""Arguments that a file itself shows for its factories and classes: literals, constants, `parametrize` values."""

from __future__ import annotations

import ast
import itertools
import types

from pypto_verified.language.stubs import ParameterSet, Stub

GUESSES = 24
"""Sets of arguments tried for one factory."""

_SCOPES = 3
"""Sets of parameter values tried for one call that is shown."""

Arguments = dict[str, object]


def instances(
    owner: ast.ClassDef | None, module: types.ModuleType, calls: dict[str, list[Arguments]]
) -> list[object]:
    """Objects to call a method on: one for each known set of constructor arguments, a stub if none can be made."""
    if owner is None:
        return [None]
    cls = getattr(module, owner.name, None)
    if not isinstance(cls, type):
        return [Stub()]
    made: list[object] = []
    for arguments in [{}, *calls.get(owner.name, [])][:GUESSES]:
        try:
            made.append(cls(**arguments))
        except (Exception, SystemExit):
            continue
    return made or [Stub()]


def _evaluate(node: ast.expr, scope: dict[str, object]) -> object:
    return eval(compile(ast.Expression(node), "<arguments>", "eval"), scope)


def parametrized(node: ast.FunctionDef, module: types.ModuleType) -> list[Arguments]:
    """The first combinations of the values of a function's `@pytest.mark.parametrize` decorators."""
    columns: list[list[Arguments]] = []
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names_node, values_node, *_]):
                pass
            case _:
                continue
        try:
            names, values = _evaluate(names_node, vars(module)), _evaluate(values_node, vars(module))
        except (Exception, SystemExit):
            continue
        keys = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(map(str, _items(names)))
        columns.append([
            dict(zip(keys, _items(v) if len(keys) > 1 or isinstance(v, ParameterSet) else [v], strict=False))
            for v in _items(values)
        ])
    sets = [c for c in columns if c]
    return [dict(p for s in combination for p in s.items()) for combination in
            itertools.islice(itertools.product(*sets), GUESSES)] if sets else []


def _items(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple | range | set | dict) else []


def shown_arguments(tree: ast.Module, module: types.ModuleType) -> dict[str, list[Arguments]]:
    """Arguments of the calls that a file makes of its own functions and classes, by their name.

    An argument counts if it is a literal or made of module constants, of constants or defaults of the enclosing
    function, of its `parametrize` values, or of attributes of `self`.
    """
    defined = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    found: dict[str, list[Arguments]] = {}
    loose = [s for s in tree.body if not isinstance(s, ast.FunctionDef | ast.ClassDef)]
    _collect(loose, [vars(module)], defined, found)
    functions = [(n, None) for n in tree.body if isinstance(n, ast.FunctionDef)]
    classes = [c for c in tree.body if isinstance(c, ast.ClassDef)]
    methods = [(m, c) for c in classes for m in c.body if isinstance(m, ast.FunctionDef)]
    for function, owner in [*functions, *methods]:
        selves = instances(owner, module, found) if owner is not None and _calls_any(function, defined) else [None]
        scopes = [
            _local_constants(function, {**vars(module), **guess, "self": self})
            for guess in parametrized(function, module) or [{}] for self in selves
        ]
        _collect(function.body, scopes[:_SCOPES], defined, found)
    return found


def _calls_any(function: ast.FunctionDef, defined: dict[str, ast.FunctionDef | ast.ClassDef]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in defined for n in ast.walk(function))


def _local_constants(function: ast.FunctionDef, scope: dict[str, object]) -> dict[str, object]:
    """A scope with the defaults of a function's parameters and its assignments of constants added."""
    args = function.args
    pairs = [*zip(reversed(args.args), reversed(args.defaults), strict=False)]
    assigned = [s for s in function.body if isinstance(s, ast.Assign) and len(s.targets) == 1]
    named = [(a.arg, d) for a, d in pairs] + [(s.targets[0].id, s.value) for s in assigned
                                              if isinstance(s.targets[0], ast.Name)]
    for name, value in named:
        if isinstance(value, ast.Constant | ast.BinOp | ast.Attribute | ast.Name | ast.Tuple | ast.List):
            try:
                scope.setdefault(name, _evaluate(value, scope))
            except (Exception, SystemExit):
                continue
    return scope


def _collect(
    body: list[ast.stmt], scopes: list[dict[str, object]], defined: dict[str, ast.FunctionDef | ast.ClassDef],
    found: dict[str, list[Arguments]],
) -> None:
    for node in (n for s in body for n in ast.walk(s)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in defined:
            names = _parameter_names(defined[node.func.id])
            for scope in scopes:
                arguments = _call_arguments(node, names, scope)
                if arguments and len(known := found.setdefault(node.func.id, [])) < GUESSES:
                    known.append(arguments)


def _parameter_names(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    if isinstance(node, ast.ClassDef):
        init = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
        return [a.arg for a in init.args.args[1:]] if init is not None else []
    return [a.arg for a in node.args.args]


def _call_arguments(node: ast.Call, names: list[str], scope: dict[str, object]) -> Arguments:
    """The arguments of a call by parameter name; {} when one of them has no value here."""
    pairs = [*zip(names, node.args, strict=False), *((k.arg or "", k.value) for k in node.keywords)]
    arguments: Arguments = {}
    for name, value in pairs:
        try:
            arguments[name] = _evaluate(value, scope)
        except (Exception, SystemExit):
            return {}
        if isinstance(arguments[name], Stub):
            return {}
    return arguments
