"""The ordered list of passes, with what each requires and produces."""

from __future__ import annotations

from collections.abc import Callable

from pypto_verified.errors import NotModelled
from pypto_verified.ir.stmt import Function, FunctionKind
from pypto_verified.passes import invariants as inv
from pypto_verified.passes.add_scratch import add_scratch
from pypto_verified.passes.allocate_memory_addr import allocate_memory_addr
from pypto_verified.passes.classify_kernel import classify_kernel
from pypto_verified.passes.context import PassContext, Planner
from pypto_verified.passes.convert_to_ssa import convert_to_ssa
from pypto_verified.passes.copy_overwritten_tiles import copy_overwritten_tiles
from pypto_verified.passes.ctrl_flow_transform import ctrl_flow_transform
from pypto_verified.passes.flatten_call_expr import flatten_call_expr
from pypto_verified.passes.flatten_tile_nd_to_2d import flatten_tile_nd_to_2d
from pypto_verified.passes.infer_tile_memory_space import infer_tile_memory_space
from pypto_verified.passes.init_memref import init_memref
from pypto_verified.passes.legalize_tile_cast import legalize_tile_cast
from pypto_verified.passes.materialize_semantic_aliases import materialize_semantic_aliases
from pypto_verified.passes.memory_reuse import memory_reuse
from pypto_verified.passes.normalize_return_order import normalize_return_order
from pypto_verified.passes.resolve_backend_op_layouts import resolve_backend_op_layouts
from pypto_verified.passes.resolve_tile_views import resolve_tile_views
from pypto_verified.passes.simplify import simplify
from pypto_verified.passes.stamp_compact import stamp_compact
from pypto_verified.passes.unroll_loops import unroll_loops
from pypto_verified.records import dataclass
from pypto_verified.targets import Target

PassFn = Callable[[Function, PassContext], Function]
OnPass = Callable[[str, Function, Function], None]
"""Called after each pass with its name, its input and its output."""

_EVERY = frozenset(Planner)


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass. `requires`: properties that must hold before it; `produces`: properties that hold from then on;
    `breaks`: properties that no longer need to hold; `planners`: under which it runs."""

    name: str
    run: PassFn
    requires: tuple[inv.Check, ...] = ()
    produces: tuple[inv.Check, ...] = ()
    breaks: tuple[inv.Check, ...] = ()
    planners: frozenset[Planner] = _EVERY


PASSES: tuple[Pass, ...] = (
    Pass("UnrollLoops", unroll_loops, produces=(inv.unrolled,)),
    Pass("CtrlFlowTransform", ctrl_flow_transform, requires=(inv.unrolled,), produces=(inv.structured,)),
    Pass("ConvertToSSA", convert_to_ssa, requires=(inv.structured,), produces=(inv.ssa,)),
    Pass("Simplify", simplify, requires=(inv.ssa,), produces=(inv.uncopied,)),
    Pass("FlattenCallExpr", flatten_call_expr, requires=(inv.ssa,), produces=(inv.flat_calls,)),
    Pass("LegalizeTileCast", legalize_tile_cast, requires=(inv.ssa, inv.flat_calls)),
    Pass(
        "InferTileMemorySpace", infer_tile_memory_space, requires=(inv.ssa, inv.uncopied, inv.flat_calls),
        produces=(inv.spaces, inv.consistent),
    ),
    Pass("FlattenTileNdTo2D", flatten_tile_nd_to_2d, requires=(inv.spaces,), produces=(inv.two_dims,)),
    Pass("AddScratch", add_scratch, requires=(inv.ssa, inv.spaces, inv.two_dims)),
    Pass("ResolveBackendOpLayouts", resolve_backend_op_layouts, requires=(inv.spaces, inv.two_dims)),
    Pass("ResolveTileViews", resolve_tile_views, requires=(inv.spaces,), produces=(inv.views,)),
    Pass("StampCompact", stamp_compact, requires=(inv.uncopied, inv.views), produces=(inv.compact_in_l0,)),
    Pass("ClassifyKernel", classify_kernel, requires=(inv.spaces,)),
    Pass("NormalizeReturnOrder", normalize_return_order, requires=(inv.ssa, inv.uncopied)),
    Pass("CopyOverwrittenTiles", copy_overwritten_tiles, requires=(inv.ssa, inv.views)),
    Pass("InitMemRef", init_memref, requires=(inv.ssa, inv.uncopied, inv.views), produces=(inv.memrefs,)),
    Pass(
        "MaterializeSemanticAliases", materialize_semantic_aliases, requires=(inv.memrefs,),
        produces=(inv.carried_in_place,),
    ),
    Pass(
        "MemoryReuse", memory_reuse, requires=(inv.memrefs, inv.carried_in_place), planners=frozenset({Planner.PYPTO}),
    ),
    Pass(
        "AllocateMemoryAddr", allocate_memory_addr, requires=(inv.memrefs, inv.carried_in_place),
        produces=(inv.addresses,), planners=frozenset({Planner.PYPTO, Planner.DSA_RP}),
    ),
)

_LOWERED = (FunctionKind.PLAIN, FunctionKind.INCORE, FunctionKind.AIC, FunctionKind.AIV)


def run(
    function: Function,
    target: Target,
    planner: str = "PYPTO",
    on_pass: OnPass | None = None,
    checked: bool = False,
) -> Function:
    """Lower a kernel to what code generation takes.

    `planner` is PYPTO, DSA_RP or PTOAS (MP-01). `checked`: check after each pass all properties that hold from then on
    (AssertionError: a defect of a pass). Raises PassError for what can't be lowered, NotModelled for a function that
    the language left opaque and for features that no pass lowers, ValueError for an unknown planner.
    """
    if function.opaque or function.kind not in _LOWERED:
        raise NotModelled(
            function.opaque or f"{function.kind.value} function", function.span.location, function.advice)
    ctx = PassContext(target, Planner(planner))
    holding: dict[inv.Check, None] = {}
    for p in PASSES:
        if ctx.planner not in p.planners:
            continue
        before, function = function, p.run(function, ctx)
        if on_pass is not None:
            on_pass(p.name, before, function)
        if checked:
            holding = {c: None for c in (*holding, *p.produces) if c not in p.breaks}
            inv.check(function, tuple(holding), p.name)
    return function
