"""Kernels made inside functions and methods: call the factories of a file with the arguments that the file shows.

A factory is a function or method whose body defines something decorated with `pl`. Only its statements up to the last
such definition run, so that the code of a test around a kernel does not. The decorators record what was defined.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Iterator
from dataclasses import dataclass

from pypto_verified.errors import told
from pypto_verified.language.arguments import GUESSES, Arguments, instances, parametrized, shown_arguments
from pypto_verified.language.markers import Recorder
from pypto_verified.language.sources import SourceFile
from pypto_verified.language.stubs import Stub
from pypto_verified.language.surroundings import is_interrupt

_CHOSEN: Arguments = {"int": 16, "float": 2.0, "bool": False}
"""Values by annotation. 16 elements fit every memory and are a whole number of rows of every box."""


@dataclass(frozen=True)
class _Factory:
    """A function that defines kernels; `owner` is the class it is a method of."""

    node: ast.FunctionDef
    owner: ast.ClassDef | None


def factory_calls(
    tree: ast.Module, module: types.ModuleType, source: SourceFile, recorder: Recorder
) -> Iterator[str]:
    """Call each factory of a file that has run as `module`; yields a note for each one that could not be called and for
    arguments that are this loader's own choice."""
    calls = shown_arguments(tree, module)
    for factory in _factories(tree):
        owner = f"{factory.owner.name}." if factory.owner is not None else ""
        for note in _try(factory, module, source, calls, recorder):
            yield f"{owner}{factory.node.name} (line {factory.node.lineno}) {note}"


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


def _try(
    factory: _Factory, module: types.ModuleType, source: SourceFile, calls: dict[str, list[Arguments]],
    recorder: Recorder,
) -> Iterator[str]:
    """Run a factory with each guess that can be made."""
    problem = ""
    own = calls.get(factory.node.name, []) if factory.owner is None else []
    shown = [*own, *parametrized(factory.node, module)]
    chosen = _chosen(factory) if not shown else {}
    if chosen:
        yield f"was called with chosen values: {', '.join(f'{k}={v}' for k, v in chosen.items())}"
    try:
        function = _first_statements(factory.node, module, source)
    except (Exception, SystemExit) as e:
        yield f"was not called: {told(e)}"
        return
    ran = False
    for guess in [*shown[:GUESSES], chosen]:
        for instance in instances(factory.owner, module, calls):
            mine = bool(chosen) or (bool(shown) and guess is chosen)
            recorder.certain = not (mine or isinstance(instance, Stub) or _unknown(factory, guess))
            try:
                _call(function, factory.node, instance, guess)
                ran = True
            except BaseException as e:
                if is_interrupt(e):
                    raise
                problem = told(e)
    if not ran:
        yield f"was not called: {problem}"


def _unknown(factory: _Factory, guess: Arguments) -> bool:
    """Whether a parameter without a default has no value in `guess`; the first one of a method is its instance."""
    args = factory.node.args
    required = [a.arg for a in args.args[: len(args.args) - len(args.defaults)]][factory.owner is not None :]
    required += [a.arg for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is None]
    return any(name not in guess for name in required)


def _chosen(factory: _Factory) -> Arguments:
    """A value for each required number parameter of a factory that the file itself never calls."""
    args = factory.node.args
    required = args.args[: len(args.args) - len(args.defaults)]
    required += [a for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is None]
    named = [(a.arg, a.annotation.id) for a in required if isinstance(a.annotation, ast.Name)]
    return {name: _CHOSEN[kind] for name, kind in named if kind in _CHOSEN}


def _first_statements(node: ast.FunctionDef, module: types.ModuleType, source: SourceFile) -> types.FunctionType:
    """A function whose body is that of `node` up to its last kernel definition."""
    part = copy.copy(node)
    part.body, part.decorator_list = node.body[: _last_definition(node)], []
    namespace: dict[str, types.FunctionType] = {}
    future = [s for s in source.tree.body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
    exec(compile(ast.Module([*future, part], []), source.name, "exec", dont_inherit=True), vars(module), namespace)
    return namespace[node.name]


def _call(function: types.FunctionType, node: ast.FunctionDef, instance: object, guess: Arguments) -> None:
    """Call a factory; parameters without a guess or a default get a stub."""
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
