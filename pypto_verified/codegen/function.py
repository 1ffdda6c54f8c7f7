"""One IR function -> one `func.func`: signature, constants, tensor views, body (CG-02, CG-03, CG-20)."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_verified.codegen.builder import Builder
from pypto_verified.codegen.emit_ops import emit_call
from pypto_verified.codegen.errors import not_modelled, refuse, require_values
from pypto_verified.codegen.event_ids import first_ids
from pypto_verified.codegen.kernel import GM_RING, HIDDEN, Kernel
from pypto_verified.codegen.tensors import Tensor
from pypto_verified.codegen.types import INDEX_TYPE, signless, static_dim
from pypto_verified.dtypes import BOOL, FP32, INDEX, DType
from pypto_verified.ir.expr import Call, Expr, Var
from pypto_verified.ir.stmt import (
    Assign,
    Break,
    Continue,
    Eval,
    For,
    Function,
    FunctionKind,
    If,
    IterArg,
    Return,
    Stmt,
    While,
    Yield,
)
from pypto_verified.ir.types import ScalarType, TensorType, TileType
from pypto_verified.ir.walk import calls
from pypto_verified.pto.module import AttrValue, Block, EnumAttr, Func, Op, Value
from pypto_verified.pto.types import PtrType
from pypto_verified.pto.types import ScalarType as PtoScalar
from pypto_verified.pto.walk import walk_ops
from pypto_verified.targets import target as target_of
from pypto_verified.targets.model import Pair

_OPENS_PIPE = ("system.aic_initialize_pipe", "system.aiv_initialize_pipe")
_KERNEL_KIND = {FunctionKind.AIC: "cube", FunctionKind.AIV: "vector"}


def generate_function(function: Function, target: str, located: bool, addresses: bool) -> Func:
    """The `func.func` of one AIC or AIV function. CodegenError or NotModelled at the user's line."""
    if function.opaque:
        not_modelled(
            f"function '{function.name}': {function.opaque}", function.span,
            function.advice or "write it as an InCore function")
    kernel, func = _generated(function, target, located, addresses, {})
    if not kernel.event_pairs:
        return func
    firsts = first_ids(walk_ops(func), target_of(target), kernel.event_pairs)
    return _generated(function, target, located, addresses, firsts)[1] if firsts else func


def _generated(
    function: Function, target: str, located: bool, addresses: bool, first_event: Mapping[Pair, int]
) -> tuple[Kernel, Func]:
    kernel = Kernel(function, target, Builder(located), addresses, first_event=first_event)
    args = _signature(kernel)
    with kernel.builder.block() as body:
        _statements(kernel, function.body)
    with kernel.builder.block() as views:
        kernel.make_views()
    args += [kernel.hidden[name] for name in HIDDEN if name in kernel.hidden]
    ops = [*kernel.builder.constants.ops(), *views.ops, *kernel.regions.ops, *body.ops, Op("func.return")]
    attrs: dict[str, AttrValue] = {}
    if function.kind in _KERNEL_KIND:
        attrs["pto.kernel_kind"] = EnumAttr("kernel_kind", _KERNEL_KIND[function.kind])
    return kernel, Func(function.name, args, Block([], ops), attrs)


def _signature(kernel: Kernel) -> list[Value]:
    """Tensors, then the ring of a2a3's pipes if one is opened, then scalars, each in source order, then one index per
    dynamic dimension (CG-03)."""
    args: list[Value] = []
    params = kernel.function.params
    for param in params:
        type_ = param.var.type
        if isinstance(type_, TensorType | ScalarType):
            require_values(f"parameter '{param.var.name}'", type_.dtype, param.span)
        if isinstance(type_, TensorType):
            pointer = Value(f"arg{len(args)}", PtrType(type_.dtype))
            kernel.tensors[param.var.name] = Tensor(param, pointer)
            args.append(pointer)
        elif not isinstance(type_, ScalarType):
            refuse(
                f"parameter '{param.var.name}' of '{kernel.function.name}' is a tile; a kernel's arguments are tensors "
                "and scalars", param.span, "pass a tensor and load the tile inside the kernel",
            )
    if kernel.target == "a2a3" and any(c.op in _OPENS_PIPE for c in calls(kernel.function.body)):
        declared = kernel.tensors.get(GM_RING)
        kernel.ring = declared.pointer if declared is not None else Value(f"arg{len(args)}", PtrType(FP32))
        if declared is None:
            args.append(kernel.ring)
    for param in params:
        if isinstance(param.var.type, ScalarType):
            kernel.values[param.var.name] = Value(f"arg{len(args)}", PtoScalar(param.var.type.dtype))
            args.append(kernel.values[param.var.name])
    for name in kernel.function.dynamic:
        if name not in kernel.values:
            kernel.values[name] = Value(f"arg{len(args)}", INDEX_TYPE)
            args.append(kernel.values[name])
        kernel.scalars.assume_not_negative(name)
    return args


def _statements(kernel: Kernel, body: tuple[Stmt, ...]) -> tuple[Expr, ...]:
    """Generate a block; what its Yield hands on is returned."""
    for stmt in body:
        kernel.span = stmt.span
        with kernel.builder.at(stmt.span):
            match stmt:
                case Assign(var=var, value=value):
                    _assign(kernel, var, value)
                case Eval(call=call):
                    emit_call(kernel, None, call)
                case For():
                    _for(kernel, stmt)
                case While():
                    _while(kernel, stmt)
                case If():
                    _if(kernel, stmt)
                case Yield(values=values):
                    return values
                case Return():
                    return ()
                case Break() | Continue():
                    not_modelled("break and continue", stmt.span, "write the loop with a condition instead")
    return ()


def _assign(kernel: Kernel, var: Var, value: Expr) -> None:
    if isinstance(value, Call):
        emit_call(kernel, var, value)
    else:
        _bind(kernel, var, value)


def _bind(kernel: Kernel, var: Var, value: Expr) -> None:
    """`var` is another name of `value`; only a scalar expression needs ops."""
    if isinstance(var.type, TileType):
        kernel.tiles[var.name] = kernel.handle(value)
    elif isinstance(var.type, TensorType):
        kernel.tensors[var.name] = kernel.tensor(value)
    elif isinstance(var.type, ScalarType):
        kernel.values[var.name] = kernel.scalar(value, var.type.dtype, var.name)
        if kernel.scalars.not_negative(value):
            kernel.scalars.assume_not_negative(var.name)


def _is_scalar(var: Var) -> bool:
    return isinstance(var.type, ScalarType)


def _for(kernel: Kernel, stmt: For) -> None:
    step = static_dim(stmt.step)
    if step is not None and step <= 0:
        refuse(f"a device loop must count upwards, but its step is {step}", stmt.span,
               "loop from 0 with a positive step and compute the index from the counter")
    bounds = [kernel.scalar(e, INDEX) for e in (stmt.start, stmt.stop, stmt.step)]
    counter = Value(kernel.builder.names.fresh(stmt.var.name), INDEX_TYPE)
    if kernel.scalars.not_negative(stmt.start) and step is not None:
        kernel.scalars.assume_not_negative(stmt.var.name)
    carried = [(a, r) for a, r in zip(stmt.iter_args, stmt.results, strict=True) if _is_scalar(a.var)]
    inits = [kernel.scalar(a.init, _dtype(a.var)) for a, _ in carried]
    arguments = [_argument(kernel, a.var) for a, _ in carried]
    kernel.values[stmt.var.name] = counter
    _enter(kernel, stmt.iter_args, arguments)
    with kernel.block(counter, *arguments, loop=True) as body:
        if (declared := _dtype(stmt.var)) != INDEX:
            cast = kernel.builder.emit("arith.index_cast", {"in": (counter,)}, None, PtoScalar(declared))
            kernel.values[stmt.var.name] = cast.result
        _leave(kernel, stmt.iter_args, _statements(kernel, stmt.body), "scf.yield")
    args: dict[str, tuple[Value, ...]] = {"lower": (bounds[0],), "upper": (bounds[1],), "step": (bounds[2],)}
    if inits:
        args["init"] = tuple(inits)
    results = _results(kernel, stmt.iter_args, stmt.results)
    kernel.builder.structure(Op("scf.for", args, results=results, regions=(body,)))


def _while(kernel: Kernel, stmt: While) -> None:
    carried = [a for a in stmt.iter_args if _is_scalar(a.var)]
    inits = tuple(kernel.scalar(a.init, _dtype(a.var)) for a in carried)
    tested = [Value(kernel.builder.names.fresh(""), v.type) for v in inits]
    _enter(kernel, stmt.iter_args, tested)
    with kernel.block(*tested) as before:
        _statements(kernel, stmt.prelude)
        kernel.span = stmt.span
        condition = kernel.scalar(stmt.cond, BOOL)
        handed = {"values": tuple(tested)} if tested else {}
        kernel.builder.structure(Op("scf.condition", {"cond": (condition,), **handed}))
    arguments = [_argument(kernel, a.var) for a in carried]
    _enter(kernel, stmt.iter_args, arguments)
    with kernel.block(*arguments, loop=True) as after:
        _leave(kernel, stmt.iter_args, _statements(kernel, stmt.body), "scf.yield")
    results = _results(kernel, stmt.iter_args, stmt.results)
    args = {"init": inits} if inits else {}
    kernel.builder.structure(Op("scf.while", args, results=results, regions=(before, after)))


def _argument(kernel: Kernel, var: Var) -> Value:
    return Value(kernel.builder.names.fresh(var.name), PtoScalar(_dtype(var)))


def _dtype(var: Var) -> DType:
    assert isinstance(var.type, ScalarType)
    return signless(var.type.dtype)


def _enter(kernel: Kernel, iter_args: tuple[IterArg, ...], scalars: list[Value]) -> None:
    """Bind what a loop carries: scalars to block arguments, tiles and tensors to what they start from."""
    rest = iter(scalars)
    for arg in iter_args:
        if _is_scalar(arg.var):
            kernel.values[arg.var.name] = next(rest)
        else:
            if isinstance(arg.var.type, TileType):
                _no_slot(kernel, arg.var, arg.var.type)
            _bind(kernel, arg.var, arg.init)


def _no_slot(kernel: Kernel, var: Var, tile: TileType) -> None:
    if not kernel.addresses:
        kernel.regions.refuse_carried(var.name, tile, kernel.span)


def _leave(kernel: Kernel, iter_args: tuple[IterArg, ...], values: tuple[Expr, ...], op: str) -> None:
    """End a loop body: yield the scalars; a tile or tensor must have come back to where it started."""
    scalars: list[Value] = []
    for arg, value in zip(iter_args, values, strict=True):
        if _is_scalar(arg.var):
            scalars.append(kernel.scalar(value, _dtype(arg.var)))
        else:
            _same_place(kernel, arg.var, value)
    if scalars:
        kernel.builder.structure(Op(op, {"values": tuple(scalars)}))


def _same_place(kernel: Kernel, carried: Var, value: Expr) -> None:
    """Tiles and tensors have no run-time value: what a block hands on must already lie where the next one looks.
    (The real compiler does not look, and loses one copy of two tiles that trade places.)"""
    if isinstance(carried.type, TensorType):
        if kernel.tensor(value) is not kernel.tensors[carried.name]:
            refuse(f"'{carried.name}' would be another tensor on the next turn", kernel.span,
                   "let each carried tensor be the same parameter on every path")
        return
    kernel.handle(value)
    assert isinstance(value, Var)
    here, there = kernel.tile_type(value).memref, kernel.tile_type(carried).memref
    if here is None or there is None or (here.base, here.offset) != (there.base, there.offset):
        refuse(f"'{value.name}' is handed on as '{carried.name}' but lies in another buffer", kernel.span,
               "copy it with tile.move; the memory passes normally do that")


def _results(kernel: Kernel, iter_args: tuple[IterArg, ...], results: tuple[Var, ...]) -> tuple[Value, ...]:
    """Bind a loop's results: scalars are real, tiles and tensors are where the loop carried them."""
    made: list[Value] = []
    for arg, result in zip(iter_args, results, strict=True):
        if _is_scalar(result):
            kernel.values[result.name] = _argument(kernel, result)
            made.append(kernel.values[result.name])
        elif isinstance(result.type, TileType):
            kernel.tiles[result.name] = kernel.tiles[arg.var.name]
        else:
            kernel.tensors[result.name] = kernel.tensors[arg.var.name]
    return tuple(made)


def _if(kernel: Kernel, stmt: If) -> None:
    """A tile that leaves both branches has one handle, declared before; each branch writes to its address (CG-20)."""
    for result in stmt.results:
        if isinstance(result.type, TileType):
            _no_slot(kernel, result, result.type)
            kernel.alloc(result)
    condition = kernel.scalar(stmt.cond, BOOL)
    scalars = [r for r in stmt.results if _is_scalar(r)]
    blocks: list[Block] = []
    for branch in (stmt.then, stmt.orelse):
        with kernel.block() as block:
            values = _statements(kernel, branch)
            kernel.span = stmt.span
            _join(kernel, stmt.results, values)
        blocks.append(block)
    if not stmt.orelse and not scalars:
        blocks.pop()
    made = tuple(_argument(kernel, r) for r in scalars)
    for result, value in zip(scalars, made, strict=True):
        kernel.values[result.name] = value
    kernel.builder.structure(Op("scf.if", {"cond": (condition,)}, results=made, regions=tuple(blocks)))


def _join(kernel: Kernel, results: tuple[Var, ...], values: tuple[Expr, ...]) -> None:
    yielded: list[Value] = []
    for result, value in zip(results, values, strict=True):
        if _is_scalar(result):
            yielded.append(kernel.scalar(value, _dtype(result)))
        elif isinstance(result.type, TensorType):
            kernel.tensors.setdefault(result.name, kernel.tensor(value))
            _same_place(kernel, result, value)
        else:
            _same_place(kernel, result, value)
    if yielded:
        kernel.builder.structure(Op("scf.yield", {"values": tuple(yielded)}))
