"""What generated kernels contain, as named features, and the share that each feature must have at least."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.vocabulary import ELEMENTWISE, EXPANSIONS, OTHER_OPS, REDUCTIONS
from pypto_verified.ir.expr import Binary, Call, Cast, Const, Expr, MakeTuple, Unary, Var
from pypto_verified.ir.stmt import Assign, Break, Continue, For, Function, If, Stmt, While
from pypto_verified.ir.types import ScalarType, TensorType, TileType
from pypto_verified.ir.walk import calls, operands, walk_expr, walk_stmts
from pypto_verified.ops.layout import effective_view

VIEWS = frozenset({"tile.slice", "tile.reshape", "tile.transpose_view", "tile.set_validshape"})

_OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "and", "or", "not", "//", "%", "min", "max", "cast")

FLOORS: dict[str, float] = {
    **{f"op {row.name}": 0.001 for row in (*ELEMENTWISE, *EXPANSIONS, *REDUCTIONS)},
    **{f"op {name}": 0.004 for name in OTHER_OPS},
    **{f"dtype {name}": 0.15 for name in ("FP32", "FP16", "INT32")},
    **{f"dtype {name}": 0.03 for name in ("INT16", "BF16", "INT8", "UINT8")},
    **{f"dtype {name}": 0.01 for name in ("UINT16", "UINT32")},
    "layout row": 0.7, "layout column": 0.02, "layout boxed": 0.1, "space vec": 0.7, "space mat": 0.1,
    "space left": 0.1, "space right": 0.1, "space acc": 0.1, "space bias": 0.02,
    "valid full": 0.8, "valid part": 0.2, "valid run-time": 0.2, "valid empty": 0.05,
    "trips 0": 0.02, "trips 1": 0.03, "trips 2": 0.04, "trips odd": 0.05, "trips even": 0.05, "trips run-time": 0.08,
    "step 2": 0.02, "loop": 0.25, "nested loop": 0.02, "carried by name": 0.05, "branch": 0.15, "branch result": 0.03,
    "while": 0.02, "break": 0.01, "continue": 0.005, "slots": 0.02,
    "view": 0.25, "view of a view": 0.02, "assigned again": 0.2, "scalar": 0.03, "dynamic size": 0.03,
    "matmul chain": 0.04, "unroll": 0.02, "pipeline": 0.01, "parallel": 0.01, "input DN": 0.02, "InOut": 0.1,
    "part of a tensor": 0.25, "column of a load": 0.15, "column of a store": 0.08, "dynamic columns": 0.005,
    "atomic store": 0.02,
    "argument INDEX": 0.3, "argument INT32": 0.08, "argument FP32": 0.01, "counted scalar": 0.05,
    "start run-time": 0.015, "step run-time": 0.015, "stop by a loop": 0.003,
    **{f"scalar {op}": 0.01 for op in _OPERATORS},
    "planner PYPTO": 0.6, "planner DSA_RP": 0.1, "target a2a3": 0.35, "target a5": 0.35,
}
"""Feature -> least share of the kernels that have it."""


def features(kernel: Kernel) -> frozenset[str]:
    """The features of one kernel."""
    return frozenset(_features(kernel))


def _features(kernel: Kernel) -> Iterator[str]:
    function = kernel.function
    yield f"planner {kernel.planner}"
    yield f"target {kernel.target}"
    if function.dynamic:
        yield "dynamic size"
    for p in function.params:
        if isinstance(p.var.type, ScalarType):
            yield f"argument {p.var.type.dtype.name}"
        elif isinstance(p.var.type, TensorType) and not isinstance(p.var.type.shape[-1], int):
            yield "dynamic columns"
        if isinstance(p.var.type, TensorType) and p.var.type.view.layout.name == "DN":
            yield "input DN"
        if p.direction.value == "InOut":
            yield "InOut"
    seen: dict[str, Expr] = {}
    for s in walk_stmts(function.body):
        yield from _statement(s)
        if isinstance(s, Assign):
            yield from _assigned(s, seen, kernel)
            seen[s.var.name] = s.value
    for call in calls(function.body):
        yield f"op {call.op}"
        yield from _window(call)
    yield from _scalars(function)
    products = sum(c.op.startswith("tile.matmul") for c in calls(function.body))
    if products > 1:
        yield "matmul chain"


def _statement(s: Stmt) -> Iterator[str]:
    if isinstance(s, If):
        yield "branch"
        if s.results:
            yield "branch result"
    if isinstance(s, While | Break | Continue):
        yield type(s).__name__.lower()
    if isinstance(s, For):
        yield "loop"
        yield s.kind.value if s.kind.value != "range" else "loop"
        if s.iter_args:
            yield "carried by name"
        if any(isinstance(inner, For) for inner in walk_stmts(s.body)):
            yield "nested loop"
        yield from _trips(s)


def _window(call: Call) -> Iterator[str]:
    """Where a load or store has its window."""
    if call.op not in ("tile.load", "tile.store"):
        return
    tile, tensor = (call.type, call.args[0]) if call.op == "tile.load" else (call.args[0], call.args[2])
    tile = tile.type if isinstance(tile, Var) else tile
    at = call.args[1]
    assert isinstance(tile, TileType) and isinstance(tensor, Var) and isinstance(at, MakeTuple)
    assert isinstance(tensor.type, TensorType)
    if tensor.type.shape[-1] != tile.shape[-1]:
        yield "part of a tensor"
    if call.kwarg("atomic"):
        yield "atomic store"
    if at.items[-1] != Const(0):
        yield f"column of a {call.op.removeprefix('tile.')}"


def _scalars(function: Function) -> Iterator[str]:
    """What is done with scalars."""
    known: set[str] = set()
    for s in walk_stmts(function.body):
        for e in (inner for o in operands(s) for inner in walk_expr(o)):
            if isinstance(e, Binary | Unary):
                yield f"scalar {e.op.value}"
            elif isinstance(e, Cast):
                yield "scalar cast"
        if isinstance(s, Assign) and isinstance(s.var.type, ScalarType):
            if s.var.name in known and s.var.name.startswith("u"):
                yield "counted scalar"
            known.add(s.var.name)


def _trips(s: For) -> Iterator[str]:
    for name, bound in (("start", s.start), ("step", s.step)):
        if not isinstance(bound, Const):
            yield f"{name} run-time"
    if isinstance(s.stop, Binary):
        yield "stop by a loop"
    if not (isinstance(s.start, Const) and isinstance(s.stop, Const) and isinstance(s.step, Const)):
        yield "trips run-time"
        return
    trips = len(range(int(s.start.value), int(s.stop.value), int(s.step.value)))
    yield "trips odd" if trips % 2 else "trips even"
    if trips < 3:
        yield f"trips {trips}"
    if s.step.value == 2:
        yield "step 2"


def _assigned(s: Assign, seen: dict[str, Expr], kernel: Kernel) -> Iterator[str]:
    t = s.var.type
    if isinstance(t, ScalarType):
        yield "scalar"
    if not isinstance(t, TileType):
        return
    if t.memref is not None and t.memref.slots > 1:
        yield "slots"
    if s.var.name in seen:
        yield "assigned again"
    yield f"dtype {t.dtype.name}"
    view = effective_view(t)
    yield "layout boxed" if view.slayout.value != "none_box" else (
        "layout column" if view.blayout.value.startswith("col") else "layout row")
    yield f"space {t.space.value if t.space is not None else 'vec'}"
    yield from _valid(t, kernel)
    if isinstance(s.value, Call) and s.value.op in VIEWS:
        yield "view"
        base = s.value.args[0]
        source = seen.get(base.name) if isinstance(base, Var) else None
        if isinstance(source, Call) and source.op in VIEWS:
            yield "view of a view"


def _valid(t: TileType, kernel: Kernel) -> Iterator[str]:
    if t.valid_shape == t.shape:
        yield "valid full"
    elif all(isinstance(d, int) for d in t.valid_shape):
        yield "valid part"
    else:
        yield "valid run-time"
        if any(isinstance(d, Var) and 0 in kernel.ranges.get(d.name, ()) for d in t.valid_shape):
            yield "valid empty"
