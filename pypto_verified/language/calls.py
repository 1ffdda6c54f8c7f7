"""Calls in kernels: scalar functions of `pl`, ops by their declaration, subscripts that read or slice."""

from __future__ import annotations

import ast
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pypto_verified.errors import NotModelled, OpError
from pypto_verified.ir.expr import NO_ARG, Attr, BinaryOp, Const, Expr, MakeTuple, UnaryOp
from pypto_verified.ir.types import ScalarType, TensorType, TileType
from pypto_verified.language.markers import LanguageDType, OpName
from pypto_verified.language.names import CONTROL, TENSOR_FLAGS, TENSOR_LEVEL, UNIFIED, nearest, op_of
from pypto_verified.language.scalars import BadOperand, binary, cast, unary
from pypto_verified.language.scope import Unknown
from pypto_verified.language.values import attr, lift
from pypto_verified.ops import build, registry
from pypto_verified.ops.args import type_of
from pypto_verified.ops.decl import OpDecl

if TYPE_CHECKING:
    from pypto_verified.language.expressions import Expressions

_SCALAR_BINARY = {
    "min": BinaryOp.MIN, "max": BinaryOp.MAX, "add": BinaryOp.ADD, "sub": BinaryOp.SUB, "mul": BinaryOp.MUL,
    "div": BinaryOp.DIV, "minimum": BinaryOp.MIN, "maximum": BinaryOp.MAX, "and_": BinaryOp.BITAND,
    "or_": BinaryOp.BITOR, "xor": BinaryOp.BITXOR, "shl": BinaryOp.SHL, "shr": BinaryOp.SHR,
}
_SCALAR_UNARY = {"neg": UnaryOp.NEG, "abs": UnaryOp.ABS, "not_": UnaryOp.BITNOT}


def near_name(x: Expressions, name: str) -> str:
    """A hint for an undefined name: the local names like it."""
    near = get_close_matches(name, [*x.variables, *x.statics], 2)
    return f"did you mean {' or '.join(near)}?" if near else "define it before this line"


def translate(x: Expressions, node: ast.Call, function: object) -> Expr:
    """The IR of `pl.<path>(...)`; a call of a method of a run-time value or of `self` is not modelled."""
    if not isinstance(function, OpName):
        owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        if isinstance(owner, ast.Name) and owner.id == "self":
            x.not_modelled(node, f"call of another kernel, {ast.unparse(node.func)}")
        if isinstance(owner, ast.Name) and owner.id in x.variables:
            x.not_modelled(node, f"method {ast.unparse(node.func)} of a run-time value")
        assert isinstance(function, Unknown)
        x.fail(node.func, f"unknown function {ast.unparse(node.func)}: {function.why}", "kernels call functions of pl")
    if function.path.startswith("distributed"):
        x.not_modelled(node, f"distributed op {ast.unparse(node.func)}")
    try:
        scalar = _scalar_function(x, node, function.path)
        return _op(x, node, function.path) if scalar is None else scalar
    except BadOperand as e:
        x.fail(node, str(e), e.help)


def builtin(x: Expressions, node: ast.Call, function: object) -> Expr:
    """`min`, `max`, `abs` and conversions of Python on run-time scalars."""
    operands = [x.expression(a) for a in node.args]
    if function in (min, max) and len(operands) >= 2:
        result = operands[0]
        for operand in operands[1:]:
            result = binary(BinaryOp.MIN if function is min else BinaryOp.MAX, result, operand)
        return result
    if function is abs and len(operands) == 1:
        return unary(UnaryOp.ABS, operands[0])
    x.fail(node, f"{ast.unparse(node.func)}() of run-time values is not kernel code", "use pl.cast to convert a scalar")


def _scalar_function(x: Expressions, node: ast.Call, path: str) -> Expr | None:
    """The scalar meaning of a name that has one for these operands; None when it names an op."""
    name = path.removeprefix("tile.")
    if path == "const":
        return _const(x, node)
    if name in _SCALAR_BINARY and len(node.args) == 2 and not node.keywords:
        lhs = x.expression(node.args[0])
        if isinstance(type_of(lhs), ScalarType):
            return binary(_SCALAR_BINARY[name], lhs, x.expression(node.args[1]))
    if name in _SCALAR_UNARY and len(node.args) == 1:
        operand = x.expression(node.args[0])
        if isinstance(type_of(operand), ScalarType):
            return unary(_SCALAR_UNARY[name], operand)
    if path == "cast" and node.args and isinstance(type_of(operand := x.expression(node.args[0])), ScalarType):
        return _scalar_cast(x, node, operand)
    if path in ("tensor.dim", "dim"):
        return _dim(x, node)
    return None


def _const(x: Expressions, node: ast.Call) -> Expr:
    values = [x.static(a) for a in node.args] + [x.static(k.value) for k in node.keywords]
    match values:
        case [int() | float() as value, LanguageDType(dtype=dtype)]:
            return Const(float(value) if dtype.is_float else value, dtype)
        case _:
            x.fail(node, "pl.const takes a number and an element type", "e.g. pl.const(0, pl.INT32)")


def _scalar_cast(x: Expressions, node: ast.Call, operand: Expr) -> Expr:
    targets = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "target_type")]
    target = x.static(targets[0]) if targets else None
    if not isinstance(target, LanguageDType):
        x.fail(node, "pl.cast needs an element type", "e.g. pl.cast(n, pl.INDEX)")
    return cast(operand, target.dtype)


def _dim(x: Expressions, node: ast.Call) -> Expr:
    if len(node.args) + len(node.keywords) != 2 or not node.args:
        x.fail(node, "pl.tensor.dim takes a tensor and an axis", "e.g. pl.tensor.dim(a, 0)")
    t = type_of(x.expression(node.args[0]))
    axis = x.constant(node.args[1] if len(node.args) == 2 else node.keywords[0].value)
    if not isinstance(t, TensorType):
        x.fail(node.args[0], "pl.tensor.dim needs a tensor", "a tile's shape is constant: use the number")
    if not isinstance(axis, int) or not -len(t.shape) <= axis < len(t.shape):
        x.fail(node, f"the axis must be a constant between {-len(t.shape)} and {len(t.shape) - 1}",
               "e.g. pl.tensor.dim(a, 0)")
    size = t.shape[axis]
    return Const(size) if isinstance(size, int) else size


def _declaration(x: Expressions, node: ast.Call, path: str) -> OpDecl:
    """The op that the call stands for. Raises LanguageError for a name that does not exist."""
    operands = node.args[:2] if path in UNIFIED else []
    name = op_of(path, tuple(type_of(x.expression(a)) for a in operands if not _is_keyword_value(x, a)))
    if path == "mrgsort" or path == "tile.mrgsort":
        by_length = any(k.arg == "block_len" for k in node.keywords)
        name = f"{name.partition('.')[0]}.mrgsort_format{1 if by_length else 2}"
    known = registry.names()
    if name in known:
        decl = registry.lookup(name)
        if decl.deduce is None:
            x.not_modelled(node, f"op {name}", "write the kernel on tiles" if name.startswith("tensor.") else "")
        return decl
    if name in TENSOR_LEVEL or name.startswith(("tensor.", "array.", "prefetch.")):
        x.not_modelled(node, f"tensor-level function pl.{path}", "write the kernel on tiles: pl.load, ops, pl.store")
    if name in CONTROL:
        x.fail(node, f"pl.{path} cannot stand here", "loops stand in for statements, pl.yield_ ends a block")
    x.fail(node.func, f"pl.{path} does not exist", nearest(path, known))


def _is_keyword_value(x: Expressions, node: ast.expr) -> bool:
    """Whether an argument is an element type, a space, ...: no operand has such a value."""
    value = x.static(node)
    return not isinstance(value, Unknown) and lift(value) is None


def _op(x: Expressions, node: ast.Call, path: str) -> Expr:
    decl = _declaration(x, node, path)
    operands: dict[str, Expr] = {}
    keywords: dict[str, Attr] = {}
    flags: list[tuple[str, ast.expr]] = []
    named = [(name, a) for name, a in zip(decl.signature, node.args, strict=False)]
    if len(node.args) > len(decl.signature):
        most = f"at most {len(decl.signature)} arguments" if decl.signature else "no arguments"
        x.fail(node.args[len(decl.signature)], f"pl.{path} takes {most}",
               f"its parameters: {', '.join(decl.signature)}" if decl.signature else f"write pl.{path}()")
    for keyword in node.keywords:
        name = keyword.arg or "**"
        if name == "span":
            continue
        # A unified name calls its first operand `input`, whatever the op calls it.
        name = decl.signature[0] if name in ("input", "value") and name not in decl.signature else name
        if name in TENSOR_FLAGS.get(path, ()) and name not in decl.signature:
            flags.append((name, keyword.value))
            continue
        if name in ("wait", "record", "token") and name not in decl.signature:
            x.fail(keyword, f"{name}= stands at a call inside of another expression, where nothing is ordered",
                   f"give the call a statement of its own: y = pl.{path}(..., {name}=...)")
        if name not in decl.signature:
            near = get_close_matches(name, decl.signature, 1)
            x.fail(keyword, f"pl.{path} has no parameter {name!r}",
                   f"did you mean {near[0]}?" if near else f"its parameters: {', '.join(decl.signature)}")
        named.append((name, keyword.value))
    for name, value in named:
        if name in operands or name in keywords:
            x.fail(value, f"pl.{path} got {name} twice", "give it by position or by name")
        if decl.keyword(name) is not None:
            keywords[name] = _attribute(x, value, path, name)
        elif x.static(value) is not None:
            operands[name] = x.expression(value)
    if x.expected is not None and decl.keyword("shape") is not None:
        # A popped tile has the type that its annotation says.
        keywords = {"shape": x.expected.shape, "dtype": x.expected.dtype, **keywords}
        if x.expected.valid_shape != x.expected.shape:
            operands.setdefault("valid_shape", x.lifted(node, x.expected.valid_shape))
    args = _positional(x, node, decl, path, operands)
    try:
        call = build.make_call(
            decl.name, args, {k: v for k, v in keywords.items() if v is not None}, x.source.span(node)
        )
    except (OpError, NotModelled) as e:
        raise x.at(node, e) from None
    for name, value in flags:
        wanted = _attribute(x, value, path, name)
        if wanted and not (isinstance(call.type, TileType) and wanted == call.type.dtype):
            x.not_modelled(value, f"{name}={ast.unparse(value)} of pl.{path} on tiles")
    return call


def _attribute(x: Expressions, node: ast.expr, path: str, name: str) -> Attr:
    value = x.partial(node)
    try:
        return attr(value)
    except ValueError:
        x.fail(node, f"{name} of pl.{path} must be known at compile time", "use a constant")


def _positional(
    x: Expressions, node: ast.Call, decl: OpDecl, path: str, operands: dict[str, Expr]
) -> tuple[Expr, ...]:
    """The operands in declared order: NO_ARG for an omitted one in the middle, nothing at the end."""
    args: list[Expr] = []
    for parameter in decl.params:
        value = operands.get(parameter.name, NO_ARG)
        if parameter.name not in operands and not parameter.optional:
            fills = dict(decl.fills)
            if parameter.name not in fills:
                x.fail(node, f"pl.{path} needs {parameter.name}", f"its parameters: {', '.join(decl.signature)}")
        if parameter.kind == "tuple" and isinstance(type_of(value), ScalarType):
            value = MakeTuple((value,))
        args.append(value)
    while args and args[-1] is NO_ARG:
        args.pop()
    return tuple(args)


def subscript(x: Expressions, node: ast.Subscript, value: Expr, t: TensorType | TileType) -> Expr:
    """`v[i, j]` reads one element; `v[a:b, c:d]` is a slice of a tile."""
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    family = "tile" if isinstance(t, TileType) else "tensor"
    try:
        if not any(isinstance(i, ast.Slice) for i in indices):
            args = (value, MakeTuple(tuple(x.expression(i) for i in indices)))
            return build.make_call(f"{family}.read", args, {}, x.source.span(node))
        if isinstance(t, TensorType):
            x.not_modelled(node, "slice of a tensor", "load the window: pl.load(tensor, offsets, shapes)")
        return _slice(x, node, value, t, indices)
    except (OpError, NotModelled) as e:
        raise x.at(node, e) from None


def _slice(x: Expressions, node: ast.Subscript, value: Expr, t: TileType, indices: list[ast.expr]) -> Expr:
    offsets: list[Expr] = []
    sizes: list[Expr] = []
    if len(indices) != len(t.shape) or not all(isinstance(i, ast.Slice) for i in indices):
        x.not_modelled(node, "slice that drops a dimension", "write one start:stop for each dimension")
    for index, extent in zip(indices, t.shape, strict=True):
        assert isinstance(index, ast.Slice)
        if index.step is not None:
            x.fail(index, "a slice has no step", "write start:stop")
        start = x.expression(index.lower) if index.lower is not None else Const(0)
        stop = x.expression(index.upper) if index.upper is not None else Const(extent)
        offsets.append(start)
        size = binary(BinaryOp.SUB, stop, start)
        if isinstance(start, Const) and isinstance(stop, Const):
            size = Const(int(stop.value) - int(start.value))
        sizes.append(size)
    args = (value, MakeTuple(tuple(sizes)), MakeTuple(tuple(offsets)))
    return build.make_call("tile.slice", args, {}, x.source.span(node))


