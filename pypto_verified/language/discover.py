"""Kernels made inside functions and methods: call the factories of a file with the arguments that the file shows.

A factory is a function or method whose body defines something decorated with `pl`. Only its statements up to the last
such definition run, so that the code of a test around a kernel does not. The decorators record what was defined.
"""

from __future__ import annotations

import ast
import copy
import itertools
import types
from collections.abc import Iterator
from dataclasses import dataclass

from pypto_verified.language.sources import SourceFile
from pypto_verified.language.stubs import Stub

_GUESSES = 4
"""Sets of arguments tried for one factory."""

_Arguments = dict[str, object]


@dataclass(frozen=True)
class _Factory:
    """A function that defines kernels; `owner` is the class it is a method of."""

    node: ast.FunctionDef
    owner: ast.ClassDef | None


def factory_calls(tree: ast.Module, module: types.ModuleType, source: SourceFile) -> Iterator[str]:
    """Call each factory of a file that has run as `module`; yields a note for each one that could not be called."""
    calls = _literal_calls(tree, module)
    for factory in _factories(tree):
        problem = _try(factory, module, source, calls)
        if problem:
            owner = f"{factory.owner.name}." if factory.owner is not None else ""
            yield f"{owner}{factory.node.name} (line {factory.node.lineno}) was not called: {problem}"


def _factories(tree: ast.Module) -> Iterator[_Factory]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and _last_definition(node):
            yield _Factory(node, None)
        if isinstance(node, ast.ClassDef) and not _decorated(node):
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and _last_definition(item):
                    yield _Factory(item, node)


def _decorated(node: ast.stmt) -> bool:
    """Whether a decorator is a name below a module, as all of `pl` are (fixtures and marks decorate no inner `def`)."""
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        return False
    return any(isinstance(n, ast.Attribute) and n.attr in ("program", "function", "jit", "inline", "incore")
               for d in node.decorator_list for n in ast.walk(d))


def _last_definition(node: ast.FunctionDef) -> int:
    """How many statements of a body run up to its last kernel definition; 0 when it has none."""
    if _decorated(node):
        return 0
    return max((i + 1 for i, s in enumerate(node.body) if any(
        _decorated(n) for n in ast.walk(s) if isinstance(n, ast.stmt))), default=0)


def _try(factory: _Factory, module: types.ModuleType, source: SourceFile, calls: dict[str, list[_Arguments]]) -> str:
    """Run a factory with each guess that can be made; the reason when none ran to its end."""
    problem = "no arguments are known for it"
    parameters = _parametrized(factory.node, module)
    own = calls.get(factory.node.name, []) if factory.owner is None else []
    ran = False
    for guess in itertools.islice([*own, *parameters, {}], _GUESSES):
        for instance in _instances(factory.owner, module, calls):
            try:
                _run(factory.node, module, source, instance, guess)
                ran = True
            except Exception as e:
                problem = f"{type(e).__name__}: {e}"
    return "" if ran else problem


def _instances(
    owner: ast.ClassDef | None, module: types.ModuleType, calls: dict[str, list[_Arguments]]
) -> list[object]:
    """Objects to call a method on: one for each known set of constructor arguments, a bare one if none can be made."""
    if owner is None:
        return [None]
    cls = getattr(module, owner.name, None)
    if not isinstance(cls, type):
        return [Stub()]
    made: list[object] = []
    for arguments in [{}, *calls.get(owner.name, [])][:_GUESSES]:
        try:
            made.append(cls(**arguments))
        except Exception:
            continue
    return made or [Stub()]


def _run(
    node: ast.FunctionDef, module: types.ModuleType, source: SourceFile, instance: object, guess: _Arguments
) -> None:
    """Call the first statements of a function; parameters without a guess or a default get a stub."""
    part = copy.copy(node)
    part.body, part.decorator_list = node.body[: _last_definition(node)], []
    scope = vars(module)
    before = scope.get(node.name)
    exec(compile(ast.Module([part], []), source.name, "exec", dont_inherit=True), scope)
    function = scope[node.name]
    scope[node.name] = before
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    required = names[: len(names) - len(node.args.defaults)]
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
    arguments: list[object] = []
    if instance is not None and required and not static:
        arguments.append(instance)
        required = required[1:]
    arguments += [guess.get(n, Stub()) for n in required]
    keyword_only = {a.arg: guess.get(a.arg, Stub()) for a, d in zip(
        node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is None}
    optional = {n: guess[n] for n in names if n in guess and n not in required}
    function(*arguments, **keyword_only, **optional)


def _evaluate(node: ast.expr, scope: dict[str, object]) -> object:
    return eval(compile(ast.Expression(node), "<arguments>", "eval"), scope)


def _parametrized(node: ast.FunctionDef, module: types.ModuleType) -> list[_Arguments]:
    """The argument sets of `@pytest.mark.parametrize` decorators, the first of each combined with the others' first."""
    columns: list[list[_Arguments]] = []
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names_node, values_node, *_]):
                pass
            case _:
                continue
        try:
            names, values = _evaluate(names_node, vars(module)), _evaluate(values_node, vars(module))
        except Exception:
            continue
        keys = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(map(str, _items(names)))
        columns.append([dict(zip(keys, _items(v) if len(keys) > 1 else [v], strict=False)) for v in _items(values)])
    sets = [c for c in columns if c]
    return [dict(p for s in combination for p in s.items()) for combination in
            itertools.islice(itertools.product(*sets), _GUESSES)] if sets else []


def _items(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple | range | set | dict) else []


def _literal_calls(tree: ast.Module, module: types.ModuleType) -> dict[str, list[_Arguments]]:
    """Calls in the file of its own functions and classes, by name, where every argument has a value: literals, module
    constants, parameters of the enclosing test that `parametrize` or a default gives."""
    defined = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    found: dict[str, list[_Arguments]] = {}
    for outer in ast.walk(tree):
        if not isinstance(outer, ast.FunctionDef | ast.Module):
            continue
        guesses = _parametrized(outer, module) if isinstance(outer, ast.FunctionDef) else []
        nodes = ast.walk(outer) if isinstance(outer, ast.FunctionDef) else (
            n for s in tree.body if not isinstance(s, ast.FunctionDef | ast.ClassDef) for n in ast.walk(s))
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in defined:
                names = _parameter_names(defined[node.func.id])
                for guess in guesses or [{}]:
                    arguments = _call_arguments(node, names, {**vars(module), **guess})
                    if arguments and arguments not in found.setdefault(node.func.id, []):
                        found[node.func.id].append(arguments)
    return found


def _parameter_names(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    if isinstance(node, ast.ClassDef):
        init = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
        return [a.arg for a in init.args.args[1:]] if init is not None else []
    return [a.arg for a in node.args.args]


def _call_arguments(node: ast.Call, names: list[str], scope: dict[str, object]) -> _Arguments:
    """The arguments of a call by parameter name; {} when one of them has no value here."""
    pairs = [*zip(names, node.args, strict=False), *((k.arg or "", k.value) for k in node.keywords)]
    arguments: _Arguments = {}
    for name, value in pairs:
        try:
            arguments[name] = _evaluate(value, scope)
        except Exception:
            return {}
    return arguments
