"""Decorated functions to IR functions: kind, parameters, dynamic sizes, body; opaque, with a reason, if not lowered."""

from __future__ import annotations

import ast

from pypto_verified.errors import NotModelled
from pypto_verified.ir.expr import Span, Var
from pypto_verified.ir.stmt import Direction, Function, FunctionKind, Param
from pypto_verified.ir.types import OpaqueType, ScalarType, TensorType, TupleType, Type
from pypto_verified.ir.walk import type_exprs, walk_expr
from pypto_verified.language.expressions import Expressions
from pypto_verified.language.launches import launches_of
from pypto_verified.language.markers import DirectionMark, FunctionType, KernelMark, TypeMark
from pypto_verified.language.scope import Scope, Unknown
from pypto_verified.language.sources import SourceFile
from pypto_verified.language.statements import Statements
from pypto_verified.language.stubs import Stub
from pypto_verified.language.values import BadAnnotation, as_type

_FLAVORS = {
    "function": FunctionKind.PLAIN, "jit": FunctionKind.PLAIN, "jit.incore": FunctionKind.INCORE,
    "jit.inline": FunctionKind.INLINE, "inline": FunctionKind.INLINE,
}
ABSENT = "depends on a value that is not known here"
"""Why a type built from a stub is not lowered."""

_LOWERED = (FunctionKind.PLAIN, FunctionKind.INCORE, FunctionKind.AIC, FunctionKind.AIV)


def kind_of(mark: KernelMark) -> FunctionKind:
    """The kind that the decorator names; jit functions of the host count as orchestration."""
    given = mark.keywords.get("type")
    if isinstance(given, FunctionType):
        return given.value
    return _FLAVORS.get(mark.flavor, FunctionKind.ORCHESTRATION)


def lower(mark: KernelMark, source: SourceFile) -> Function:
    """The IR of one kernel. Raises LanguageError or OpError where the author is wrong."""
    definition = source.definition(mark.function)
    kind = kind_of(mark)
    if definition is None:
        return Function(mark.function.__name__, kind, (), (), (), opaque="its source text is not in the file")
    span = source.span(definition)
    if kind not in _LOWERED:
        launches = launches_of(Expressions(source, Scope(mark, source)), definition)
        return Function(
            definition.name, kind, (), (), (), opaque=f"{kind.value.lower()} function", span=span, launches=launches)
    if mark.keywords.get("level") is not None or mark.keywords.get("role") is not None:
        return Function(definition.name, kind, (), (), (), opaque="function of the host or of a chip", span=span)
    translator = Statements(source, Scope(mark, source), definition)
    try:
        params = _parameters(translator.x, definition)
    except NotModelled as e:
        return Function(definition.name, kind, (), (), (), opaque=e.what, span=_place(e, span), advice=e.help)
    for p in params:
        translator.x.variables[p.var.name] = p.var
    try:
        returns = _returns(translator.x, definition)
        body = translator.block(definition.body)
    except NotModelled as e:
        return Function(definition.name, kind, params, (), (), opaque=e.what, span=_place(e, span), advice=e.help)
    except RecursionError:
        raise source.error(definition, f"{definition.name} is nested too deeply", "split long expressions") from None
    return Function(definition.name, kind, params, returns, body, _dynamic(params), span=span)


def _place(error: NotModelled, definition: Span) -> Span:
    """Where what is not modelled stands, the definition if that is not known."""
    where = error.location
    return Span(where.file, where.line, where.column) if where.line else definition


def _parameters(x: Expressions, definition: ast.FunctionDef) -> tuple[Param, ...]:
    args = definition.args
    if args.vararg is not None or args.kwarg is not None:
        x.fail(args.vararg or args.kwarg or definition, "a kernel has no *args or **kwargs", "list its parameters")
    nodes = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    if nodes and nodes[0].arg == "self":
        nodes = nodes[1:]
    return tuple(_parameter(x, node) for node in nodes)


def _parameter(x: Expressions, node: ast.arg) -> Param:
    if node.annotation is None:
        x.fail(node, f"parameter {node.arg} has no type", "annotate it: pl.Tensor[[64, 128], pl.FP32]")
    value = x.partial(node.annotation)
    if isinstance(value, Unknown):
        x.fail(node.annotation, f"the type of {node.arg} has no value: {value.why}",
               "annotations may use pl, constants and pl.dynamic sizes")
    direction = Direction.IN
    if isinstance(value, DirectionMark):
        direction, value = value.direction, value.inner
    if isinstance(value, TypeMark) and not value.items and value.kind in ("Tensor", "Scalar"):
        x.not_modelled(node.annotation, f"parameter {node.arg} whose shape comes with the call",
                       "annotate the shape: pl.Tensor[[64, 128], pl.FP32]")
    if _has_stub(value):
        x.not_modelled(node.annotation, f"parameter {node.arg} whose type {ABSENT}")
    try:
        t = as_type(value)
    except BadAnnotation as e:
        x.fail(node.annotation, f"parameter {node.arg}: {e}", "e.g. pl.Tensor[[64, 128], pl.FP32]")
    if isinstance(t, OpaqueType):
        x.not_modelled(node.annotation, f"parameter {node.arg} of type {t.what}")
    if direction is not Direction.IN and isinstance(t, ScalarType):
        x.fail(node.annotation, f"parameter {node.arg}: a scalar is no output", "return it through a tensor")
    return Param(Var(node.arg, t), direction, x.source.span(node))


def _has_stub(value: object) -> bool:
    """Whether a value that a stub gave is part of an evaluated annotation."""
    if isinstance(value, TypeMark):
        return any(_has_stub(v) for v in value.items)
    if isinstance(value, list | tuple):
        return any(_has_stub(v) for v in value)
    return isinstance(value, Stub) or (isinstance(value, type) and issubclass(value, Stub))


def _returns(x: Expressions, definition: ast.FunctionDef) -> tuple[Type, ...]:
    """The declared result types; () without a declaration or for what is no kernel type."""
    node = definition.returns
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return ()
    if isinstance(node, ast.Subscript) and x.static(node.value) is tuple:
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return tuple(x.annotation(i) for i in items)
    t = x.annotation(node)
    return t.items if isinstance(t, TupleType) else (t,)


def _dynamic(params: tuple[Param, ...]) -> tuple[str, ...]:
    """The free symbols of the tensor shapes, then those of their views, each in first-seen order."""
    own = {p.var.name for p in params}
    seen: dict[str, None] = {}
    tensors = [p.var.type for p in params if isinstance(p.var.type, TensorType)]
    shapes = [d for t in tensors for d in t.shape if not isinstance(d, int)]
    for e in [*shapes, *(v for t in tensors for v in type_exprs(t))]:
        for inner in walk_expr(e):
            if isinstance(inner, Var) and inner.name not in own:
                seen.setdefault(inner.name)
    return tuple(seen)
