"""IR as kernel source text that loads again into a structurally equal program.

Opaque functions have no body to print and stand as a comment.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from pypto_verified.dtypes import BOOL, FP32, INDEX, DType
from pypto_verified.ir.expr import (
    NO_ARG,
    Attr,
    Binary,
    BinaryOp,
    Call,
    Cast,
    Const,
    Dim,
    Expr,
    MakeTuple,
    TupleGet,
    Unary,
    UnaryOp,
    Var,
)
from pypto_verified.ir.stmt import (
    Assign,
    Break,
    Continue,
    Direction,
    Eval,
    For,
    Function,
    FunctionKind,
    If,
    Program,
    Return,
    Stmt,
    While,
    Yield,
)
from pypto_verified.ir.types import (
    MemRef,
    ScalarType,
    TensorType,
    TensorView,
    TileType,
    TileView,
    TupleType,
    Type,
)
from pypto_verified.ir.walk import free_vars
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space, TensorLayout

_INDENT = "    "
# Operands that follow a keyword in the DSL's order of parameters, so that they need their name.
_NAMED_OPERANDS: dict[str, dict[int, str]] = {
    "tile.full": {1: "value"}, "tile.mgather": {2: "scratch", 3: "valid_shape"}, "tile.gather_row": {5: "valid_shape"},
    "tile.reinterpret_view": {1: "shape"}, "tile.tpop_from_aic": {0: "valid_shape"},
    "tile.tpop_from_aiv": {0: "valid_shape"}, "system.syncall": {0: "gm_workspace", 1: "used_cores"},
    "tile.sels": {3: "scalar"},
}
_SPACES = {
    Space.GM: "DDR", Space.VEC: "Vec", Space.MAT: "Mat", Space.LEFT: "Left", Space.RIGHT: "Right", Space.ACC: "Acc",
    Space.BIAS: "Bias", Space.SCALING: "LeftScale",
}
_KEYWORDS = {"tile.and": "tile.and_", "tile.or": "tile.or_", "tile.not": "tile.not_"}
_FUNCTIONS = {BinaryOp.MIN: "pl.min", BinaryOp.MAX: "pl.max"}


def print_program(program: Program) -> str:
    """The text of a program, ready to be loaded."""
    lines = ["import pypto.language as pl", ""]
    symbols = dict.fromkeys(s for f in program.functions for s in _symbols(f))
    lines += [f'{name} = pl.dynamic("{name}")' for name in symbols]
    lines += ["", "", "@pl.program", f"class {_identifier(program.name)}:"]
    for f in program.functions:
        lines += [_INDENT + line if line else line for line in _function(f)] + [""]
    return "\n".join(lines).rstrip() + "\n"


def print_function(f: Function) -> str:
    """The text of one function, as it stands in a program."""
    return "\n".join(_function(f)) + "\n"


def _identifier(name: str) -> str:
    text = "".join(c if c.isalnum() else "_" for c in name)
    return f"P_{text}" if not text or text[0].isdigit() else text


def _symbols(f: Function) -> Iterator[str]:
    """The sizes that are free in a function: those of its parameters and any other its body mentions."""
    yield from f.dynamic
    own = {p.var.name for p in f.params}
    yield from (name for name in free_vars(f.body) if name not in own)


def _function(f: Function) -> Iterator[str]:
    if f.opaque:
        yield f"# {f.name}: {f.opaque}"
        return
    kind = "" if f.kind is FunctionKind.PLAIN else f"(type=pl.FunctionType.{f.kind.value})"
    yield f"@pl.function{kind}"
    yield f"def {f.name}("
    yield f"{_INDENT}self,"
    for p in f.params:
        t = type_text(p.var.type)
        marked = t if p.direction is Direction.IN else f"pl.{p.direction.value}[{t}]"
        yield f"{_INDENT}{p.var.name}: {marked},"
    returns = [type_text(t) for t in f.returns]
    arrow = "" if not returns else f" -> {returns[0]}" if len(returns) == 1 else f" -> tuple[{', '.join(returns)}]"
    yield f"){arrow}:"
    yield from _block(f.body, ())


def _block(body: tuple[Stmt, ...], results: tuple[Var, ...]) -> Iterator[str]:
    """The lines of a block, indented; `results` are the names its Yield gives to its values."""
    if not body:
        yield f"{_INDENT}pass"
    for s in body:
        for line in _statement(s, results):
            yield _INDENT + line


def _statement(s: Stmt, results: tuple[Var, ...]) -> Iterator[str]:
    match s:
        case Assign():
            annotation = "" if isinstance(s.var.type, TensorType | TupleType) else f": {type_text(s.var.type)}"
            yield f"{s.var.name}{annotation} = {expr_text(s.value)}"
        case Eval():
            yield expr_text(s.call)
        case For():
            yield from _for(s)
        case While():
            yield from _while(s)
        case If():
            yield f"if {expr_text(s.cond)}:"
            yield from _block(s.then, s.results)
            if s.orelse:
                yield "else:"
                yield from _block(s.orelse, s.results)
        case Yield():
            names = f"{', '.join(v.name for v in results)} = " if results else ""
            yield f"{names}pl.yield_({', '.join(map(expr_text, s.values))})"
        case Return():
            yield f"return {', '.join(map(expr_text, s.values))}".rstrip()
        case Break():
            yield "break"
        case Continue():
            yield "continue"


def _sequence(items: list[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _for(s: For) -> Iterator[str]:
    bounds = [expr_text(e) for e in (s.start, s.stop, s.step)]
    target = s.var.name
    if s.iter_args:
        target += f", {_sequence([a.var.name for a in s.iter_args])}"
        bounds.append(f"init_values={_sequence([expr_text(a.init) for a in s.iter_args])}")
    yield f"for {target} in pl.{s.kind.value}({', '.join(bounds)}):"
    yield from _block(s.body, s.results)


def _while(s: While) -> Iterator[str]:
    if not s.iter_args and not s.prelude:
        yield f"while {expr_text(s.cond)}:"
    else:
        names = _sequence([a.var.name for a in s.iter_args])
        yield f"for {names} in pl.while_(init_values={_sequence([expr_text(a.init) for a in s.iter_args])}):"
        if s.prelude:
            yield from _block(s.prelude, ())
        yield f"{_INDENT}pl.cond({expr_text(s.cond)})"
    yield from _block(s.body, s.results)


def expr_text(e: Expr) -> str:
    """An expression as source text."""
    match e:
        case Var():
            return e.name
        case Const():
            return _const(e)
        case Binary() if e.op in _FUNCTIONS:
            return f"{_FUNCTIONS[e.op]}({expr_text(e.lhs)}, {expr_text(e.rhs)})"
        case Binary():
            return f"({expr_text(e.lhs)} {e.op.value} {expr_text(e.rhs)})"
        case Unary(op=UnaryOp.ABS):
            return f"pl.abs({expr_text(e.operand)})"
        case Unary():
            return f"({e.op.value}{' ' if e.op is UnaryOp.NOT else ''}{expr_text(e.operand)})"
        case Cast():
            return f"pl.cast({expr_text(e.operand)}, {_dtype(e.dtype)})"
        case MakeTuple():
            return "None" if e is NO_ARG else f"[{', '.join(map(expr_text, e.items))}]"
        case TupleGet():
            return f"{expr_text(e.value)}[{e.index}]"
        case Call():
            return _call(e)


def _const(e: Const) -> str:
    if e.dtype == BOOL:
        return str(bool(e.value))
    value = f'float("{e.value}")' if isinstance(e.value, float) and not math.isfinite(e.value) else repr(e.value)
    return value if e.dtype in (INDEX, FP32) else f"pl.const({value}, {_dtype(e.dtype)})"


def _call(e: Call) -> str:
    named = _NAMED_OPERANDS.get(e.op, {})
    parts = [f"{named[i]}={expr_text(a)}" if i in named else expr_text(a) for i, a in enumerate(e.args)]
    parts += [f"{name}={attr_text(value)}" for name, value in e.kwargs if value is not None]
    return f"pl.{_KEYWORDS.get(e.op, e.op)}({', '.join(parts)})"


def _dtype(dtype: DType) -> str:
    return f"pl.{dtype.name}"


def attr_text(value: Attr) -> str:
    """A keyword's value as source text."""
    match value:
        case DType():
            return _dtype(value)
        case Space():
            return f"pl.Mem.{_SPACES[value]}"
        case Pad():
            return f"pl.PadValue.{value.name.lower()}"
        case BLayout() | SLayout():
            return f"pl.TileLayout.{value.value}"
        case Compact():
            return f"pl.CompactMode.{value.name.lower()}"
        case TensorLayout():
            return f"pl.TensorLayout.{value.name}"
        case tuple():
            return f"[{', '.join(map(attr_text, value))}]"
        case _:
            return repr(value)


def _dims(dims: tuple[Dim, ...]) -> str:
    return f"[{', '.join(_dim(d) for d in dims)}]"


def _dim(d: Dim) -> str:
    return str(d) if isinstance(d, int) else expr_text(d)


def type_text(t: Type) -> str:
    """A type as an annotation."""
    match t:
        case ScalarType():
            return f"pl.Scalar[{_dtype(t.dtype)}]"
        case TensorType():
            view = "" if t.view == TensorView() else f", {_tensor_view(t.view)}"
            return f"pl.Tensor[{_dims(t.shape)}, {_dtype(t.dtype)}{view}]"
        case TileType():
            parts = [_dims(t.shape), _dtype(t.dtype)]
            if t.memref is not None:
                parts.append(_memref(t.memref))
            if t.space is not None:
                parts.append(f"pl.Mem.{_SPACES[t.space]}")
            if t.view is not None:
                parts.append(_tile_view(t.view))
            return f"pl.Tile[{', '.join(parts)}]"
        case TupleType():
            return f"pl.Tuple[{', '.join(map(type_text, t.items))}]"
        case _:
            return "pl.Ptr"


def _tensor_view(v: TensorView) -> str:
    fields = {"stride": _dims(v.stride) if v.stride else "", "layout": attr_text(v.layout),
              "valid_shape": _dims(v.valid_shape) if v.valid_shape else ""}
    return f"pl.TensorView({', '.join(f'{k}={x}' for k, x in fields.items() if x)})"


def _tile_view(v: TileView) -> str:
    default = TileView()
    layouts: dict[str, tuple[Attr, Attr]] = {
        "blayout": (v.blayout, default.blayout), "slayout": (v.slayout, default.slayout),
        "pad": (v.pad, default.pad), "compact": (v.compact, default.compact),
    }
    parts = [f"valid_shape={_dims(v.valid_shape)}"] if v.valid_shape else []
    parts += [f"fractal={v.fractal}"] if v.fractal != default.fractal else []
    parts += [f"{name}={attr_text(value)}" for name, (value, usual) in layouts.items() if value is not usual]
    return f"pl.TileView({', '.join(parts)})"


def _memref(m: MemRef) -> str:
    offset = "None" if m.offset is None else _dim(m.offset)
    extra = ("" if m.slots == 1 else f", slots={m.slots}") + ("" if m.pinned else ", pinned=False")
    slot = "" if m.slot == 0 else f"[{_dim(m.slot)}]"
    return f'pl.MemRef("{m.base}", {offset}, {m.size}{extra}){slot}'
