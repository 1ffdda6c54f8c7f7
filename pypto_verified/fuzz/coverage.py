"""What generated kernels contain, as named features, and the share that each feature must have at least."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.surface import UNARY, keyword_name
from pypto_verified.fuzz.vector import CHAINED
from pypto_verified.fuzz.vocabulary import ELEMENTWISE, EXPANSIONS, OTHER_OPS, REDUCTIONS
from pypto_verified.ir.expr import Binary, BinaryOp, Call, Cast, Const, Expr, MakeTuple, Unary, Var
from pypto_verified.ir.stmt import Assign, Direction, For, Function, If, Param, Stmt
from pypto_verified.ir.types import MemRef, ScalarType, TensorType, TileType
from pypto_verified.ir.walk import calls, operands, walk_expr, walk_stmts
from pypto_verified.ops.args import is_omitted
from pypto_verified.ops.keywords import ROUND_MODES
from pypto_verified.ops.layout import effective_view
from pypto_verified.ops.registry import OPS

VIEWS = frozenset({"tile.slice", "tile.reshape", "tile.transpose_view", "tile.set_validshape"})

_OF_PARTS = frozenset({"tile.slice", "tile.reshape", "tile.transpose", "tile.concat", "tile.assemble"})
_SCALARS = ("==", "!=", "<", "<=", ">", ">=", "and", "or", "not", "//", "%", "min", "max", "+", "*", "cast")
_ELEMENT_SCALARS = ("/", "&", "|", "^", "<<", ">>", "abs", "negated", "inverted")

FLOORS: dict[str, float] = {
    **{f"op {row.name}": 0.001 for row in (*ELEMENTWISE, *EXPANSIONS, *REDUCTIONS)},
    **{f"op {name}": 0.004 for name in OTHER_OPS},
    **{f"element {name}": 0.15 for name in ("FP32", "FP16", "INT32")},
    **{f"element {name}": 0.03 for name in ("INT16", "BF16", "INT8", "UINT8", "UINT16", "UINT32", "INT64")},
    "layout row": 0.7, "layout column": 0.02, "layout boxed": 0.1, "space vec": 0.7, "space mat": 0.1,
    "space left": 0.1, "space right": 0.1, "space acc": 0.1, "space bias": 0.02,
    "valid full": 0.8, "valid part": 0.2, "valid run-time": 0.2, "valid empty": 0.05,
    "trips 0": 0.02, "trips 1": 0.03, "trips 2": 0.04, "trips odd": 0.05, "trips even": 0.05, "trips run-time": 0.08,
    "step 2": 0.02, "nested loop": 0.02, "carried by name": 0.05, "branch result": 0.03,
    "view": 0.25, "view of a view": 0.02, "assigned again": 0.2, "scalar assigned": 0.03,
    "dynamic size": 0.03, "composite size": 0.01, "several results": 0.3, "matmul chain": 0.04,
    "part of a tensor": 0.25, "column of a load": 0.15, "column of a store": 0.08, "dynamic columns": 0.005,
    "storage slots": 0.02, "storage slot": 0.02, "fixed slot": 0.01, "storage pinned": 0.02, "storage offset": 0.005,
    "counted scalar": 0.04, "start run-time": 0.015, "step run-time": 0.015, "stop by a loop": 0.003,
    "stop by a counter": 0.01, "settled condition": 0.01, "unsigned arithmetic": 0.01, "loaded again": 0.04,
    "cast in steps": 0.01, "tile.read at run time": 0.01, "tile.write at run time": 0.005,
    "tensor.read at run time": 0.003, "part in tile.slice": 0.03, "part in tile.reshape": 0.005,
    "part in tile.transpose": 0.003, "part in tile.concat": 0.002, "part in tile.assemble": 0.005,
    **{f"statement {name}": 0.15 for name in ("Assign", "For", "If", "Return", "Yield")},
    "statement While": 0.02, "statement Break": 0.01, "statement Continue": 0.005, "statement Eval": 0.005,
    "loop range": 0.2, "loop unroll": 0.02, "loop pipeline": 0.01, "loop parallel": 0.01,
    "function InCore": 0.6, "function Opaque": 0.05, "function AIV": 0.04, "function AIC": 0.008,
    "parameter In": 0.9, "parameter Out": 0.7, "parameter InOut": 0.1,
    "argument INDEX": 0.3, "argument BOOL": 0.03, "argument INT32": 0.04, "argument INT64": 0.025,
    "argument UINT32": 0.015,
    **{f"argument {name}": 0.005 for name in ("FP32", "FP16", "INT8", "INT16", "UINT8", "UINT16", "UINT64")},
    "argument BF16": 0.0005, "above the signed range": 0.008,
    **{f"scalar {op}": 0.01 for op in _SCALARS}, "scalar -": 0.02,
    **{f"scalar {op}": 0.001 for op in _ELEMENT_SCALARS},
    "tile blayout row_major": 0.9, "tile blayout col_major": 0.1, "tile slayout none_box": 0.7,
    "tile slayout row_major": 0.1, "tile slayout col_major": 0.1, "tile compact null": 0.9, "tile compact normal": 0.03,
    "tile pad null": 0.9, **{f"tile pad {name}": 0.02 for name in ("zero", "max", "min")},
    "tensor layout nd": 0.9, "tensor layout dn": 0.02, "tensor stride": 0.05,
    "tile.load valid_shape": 0.9, "tile.load clamp=false": 0.9, "tile.load target_memory=vec": 0.7,
    "tile.load target_memory=mat": 0.1, "tile.store atomic=none": 0.9, "tile.store atomic=add": 0.02,
    "tile.slice valid_shape": 0.02, "tile.matmul_acc init_cond": 0.01,
    **{f"tile.cast mode={mode}": 0.005 for mode in ROUND_MODES},
    "tile.cast target_type": 0.1,
    **{f"tile.{op} cmp_type={how}": 0.003 for op in ("cmp", "cmps") for how in ("eq", "ne")},
    **{f"tile.{op} cmp_type={how}": 0.001 for op in ("cmp", "cmps") for how in ("lt", "le", "gt", "ge")},
    **{f"tile.{op} pad_value={pad}": 0.002 for op in ("fillpad", "fillpad_expand") for pad in ("zero", "max", "min")},
    "tile.ci descending=false": 0.005, "tile.ci descending=true": 0.002, "tile.ci dtype": 0.01, "tile.full dtype": 0.03,
    "tile.tri dtype": 0.01, "tile.tri valid_shape": 0.002, "tile.tri upper=false": 0.004, "tile.tri upper=true": 0.004,
    "tile.gather_mask mask_pattern": 0.002, "tile.create dtype": 0.1, "tile.create target_memory=vec": 0.1,
    **{f"tile.create {flag}=false": 0.1 for flag in ("transpose", "flat_layout", "compact")},
    **{f"tile.move target_memory={space}": 0.1 for space in ("left", "right")},
    "tile.move target_memory=vec": 0.02, "tile.move target_memory=bias": 0.02,
    "tile.extract target_memory=left": 0.005, "tile.extract target_memory=right": 0.005,
    **{f"tile.{op} high_precision=false": 0.001 for op in ("div", "log", "recip")},
    "planner PYPTO": 0.6, "planner DSA_RP": 0.1, "target a2a3": 0.35, "target a5": 0.35,
}
"""Feature -> least share of the kernels that have it. Most are constructs of `surface`."""


def features(kernel: Kernel) -> frozenset[str]:
    """The features of one kernel."""
    return frozenset(_features(kernel))


def _features(kernel: Kernel) -> Iterator[str]:
    function = kernel.function
    yield f"planner {kernel.planner}"
    yield f"target {kernel.target}"
    yield f"function {function.kind.value}"
    if function.dynamic:
        yield "dynamic size"
    if len(function.returns) > 1:
        yield "several results"
    for p in function.params:
        yield from _parameter(p)
    seen: dict[str, Expr] = {}
    for s in walk_stmts(function.body):
        yield from _statement(s)
        if isinstance(s, Assign):
            yield from _assigned(s, seen, kernel)
            seen[s.var.name] = s.value
    given = {p.var.name for p in function.params if p.direction is not Direction.IN}
    for call in calls(function.body):
        if call.op == "tile.load" and isinstance(call.args[0], Var) and call.args[0].name in given:
            yield "loaded again"
        yield f"op {call.op}"
        yield from _window(call)
        yield from _part(call)
        yield from _keywords(call)
    yield from _scalars(function)
    products = sum(c.op.startswith("tile.matmul") for c in calls(function.body))
    if products > 1:
        yield "matmul chain"


def _parameter(p: Param) -> Iterator[str]:
    yield f"parameter {p.direction.value}"
    t = p.var.type
    if isinstance(t, ScalarType):
        yield f"argument {t.dtype.name}"
    elif isinstance(t, TensorType):
        yield f"element {t.dtype.name}"
        yield f"tensor layout {t.view.layout.value}"
        if t.view.stride:
            yield "tensor stride"
        if not isinstance(t.shape[-1], int):
            yield "dynamic columns"
        if any(isinstance(d, Binary) for d in t.shape):
            yield "composite size"


def _keywords(call: Call) -> Iterator[str]:
    """The optional operands and the keywords of a call, as `surface` names them."""
    decl = OPS[call.op]
    for param, given in zip(decl.params, call.args, strict=False):
        if param.optional and not is_omitted(given):
            yield f"{call.op} {param.name}"
    for name, value in call.kwargs:
        keyword = decl.keyword(name)
        if keyword is not None and value is not None:
            yield f"{call.op} {keyword_name(keyword, value)}"


def _statement(s: Stmt) -> Iterator[str]:
    yield f"statement {type(s).__name__}"
    if isinstance(s, If) and s.results:
        yield "branch result"
    if isinstance(s, For):
        yield f"loop {s.kind.value}"
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
    if at.items[-1] != Const(0):
        yield f"column of a {call.op.removeprefix('tile.')}"


def _part(call: Call) -> Iterator[str]:
    """What is done with tiles that are partly valid, and with elements at places known at run time."""
    first = call.args[0].type if call.args and isinstance(call.args[0], Var) else None
    if call.op in _OF_PARTS and isinstance(first, TileType) and first.valid_shape != first.shape:
        yield f"part in {call.op}"
    if call.op in ("tile.read", "tile.write", "tensor.read"):
        at = call.args[1]
        if isinstance(at, MakeTuple) and not all(isinstance(i, Const) for i in at.items):
            yield f"{call.op} at run time"
    made = call.type
    if (call.op == "tile.cast" and isinstance(first, TileType) and isinstance(made, TileType)
            and (first.dtype.name, made.dtype.name) in CHAINED):
        yield "cast in steps"


def _scalars(function: Function) -> Iterator[str]:
    """What is done with scalars."""
    known: set[str] = set()
    for s in walk_stmts(function.body):
        for e in (inner for o in operands(s) for inner in walk_expr(o)):
            if isinstance(e, Binary):
                yield f"scalar {e.op.value}"
                if e.dtype.kind == "uint":
                    yield "unsigned arithmetic"
                if e.op in (BinaryOp.AND, BinaryOp.OR) and (isinstance(e.lhs, Const) or isinstance(e.rhs, Const)):
                    yield "settled condition"
            elif isinstance(e, Unary):
                yield f"scalar {UNARY[e.op]}"
            elif isinstance(e, Cast):
                yield "scalar cast"
            elif isinstance(e, Const) and e.dtype.kind == "uint" and e.value >= 1 << (e.dtype.bits - 1):
                yield "above the signed range"
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
    if isinstance(s.stop, Var) and s.stop.name.startswith("u"):
        yield "stop by a counter"
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
        yield "scalar assigned"
    if not isinstance(t, TileType):
        return
    if t.memref is not None:
        yield from _storage(t.memref)
    if s.var.name in seen:
        yield "assigned again"
    yield f"element {t.dtype.name}"
    view = effective_view(t)
    yield f"tile blayout {view.blayout.value}"
    yield f"tile slayout {view.slayout.value}"
    yield f"tile pad {view.pad.name.lower()}"
    yield f"tile compact {view.compact.name.lower()}"
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


def _storage(m: MemRef) -> Iterator[str]:
    if m.pinned:
        yield "storage pinned"
    if m.offset is not None:
        yield "storage offset"
    if m.slots > 1:
        yield "storage slots"
    if m.slot != 0:
        yield "storage slot"
        if isinstance(m.slot, int):
            yield "fixed slot"


def _valid(t: TileType, kernel: Kernel) -> Iterator[str]:
    if t.valid_shape == t.shape:
        yield "valid full"
    elif all(isinstance(d, int) for d in t.valid_shape):
        yield "valid part"
    else:
        yield "valid run-time"
        if any(isinstance(d, Var) and 0 in kernel.ranges.get(d.name, ()) for d in t.valid_shape):
            yield "valid empty"
