"""Which buffers must not share bytes: liveness of buffers over structured control flow, and the graph it gives.

A buffer is the `base` of a MemRef; views and in-place results count as uses and writes of their base. Two buffers
interfere when one is written while the other holds a value that is read later. A value that is read in a later trip
stays live over the back edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import field

from pypto_verified.ir.expr import Call, Const, Expr, Span, Var
from pypto_verified.ir.stmt import Assign, Eval, For, Function, FunctionKind, If, IterArg, Stmt, While, Yield
from pypto_verified.ir.types import TileType
from pypto_verified.ir.walk import operands, walk_stmts
from pypto_verified.passes.buffers import base_of, is_view, may_stand_on, overwritten, shared_operand, tile_bases
from pypto_verified.records import dataclass
from pypto_verified.targets import Target


@dataclass(frozen=True, slots=True)
class PhiCopy:
    """The transfer of a value into a carried or merged buffer; `depth` counts the loops it runs in."""

    dst: str
    src: str
    depth: int


@dataclass(slots=True)
class Interference:
    """`edges[b]` are the buffers that must not share bytes with `b`, `in_place[b]` those that may if both start at one
    address: an op reads the one and writes the other. `live_at` are the sets of buffers that hold values right after
    each write, with the place of the write."""

    edges: dict[str, set[str]] = field(default_factory=dict)
    in_place: dict[str, set[str]] = field(default_factory=dict)
    copies: list[PhiCopy] = field(default_factory=list)
    live_at: list[tuple[frozenset[str], Span]] = field(default_factory=list)

    def conflict(self, a: str, b: str) -> bool:
        """Whether two buffers must be apart."""
        return b in self.edges.get(a, ())

    def add(self, a: str, b: str) -> None:
        """Keep two buffers apart."""
        _pair(self.edges, a, b)

    def add_all(self, a: str, others: Set[str]) -> None:
        """Keep a buffer apart from each of `others`, which it is none of."""
        self.edges.setdefault(a, set()).update(others)
        for b in others:
            self.edges.setdefault(b, set()).add(a)

    def allow_in_place(self, a: str, b: str) -> None:
        """Keep two buffers apart unless they start at one address."""
        _pair(self.in_place, a, b)


def _pair(graph: dict[str, set[str]], a: str, b: str) -> None:
    if a != b:
        graph.setdefault(a, set()).add(b)
        graph.setdefault(b, set()).add(a)


def interference(function: Function, target: Target, copies_may_share: bool) -> Interference:
    """The graph of a function whose tiles all have a MemRef.

    `copies_may_share`: do not keep the two ends of a transfer into a carried or merged buffer apart just because of
    that transfer: both hold the same value then (for coalescing). A tile.move always keeps its two ends apart.
    """
    flow = _Flow(target, copies_may_share)
    flow.find_hazards(function)
    flow.block(function.body, frozenset(), (), 0, True)
    return flow.graph


_POP = "tile.tpop_from_aic"

Live = frozenset[str]
Targets = Sequence[str | None]
"""The buffer that each yielded value goes to; None for a scalar or tensor."""


class _Flow:
    def __init__(self, target: Target, copies_may_share: bool) -> None:
        self.target = target
        self.copies_may_share = copies_may_share
        self.graph = Interference()
        self.windows: set[str] = set()
        self.loaded: set[str] = set()
        self.popped: set[str] = set()

    def find_hazards(self, function: Function) -> None:
        """Windows of tiles; on a2a3 also loaded and popped tiles: an op that reads a popped tile must not write over a
        loaded tile that it reads (MP-08)."""
        calls = [
            (s.var.name, s.value) for s in walk_stmts(function.body)
            if isinstance(s, Assign) and isinstance(s.value, Call)
        ]
        ops = {call.op for _, call in calls}
        guarded = self.target.name == "a2a3" and function.kind is FunctionKind.AIV and _POP in ops
        if not guarded and "tile.slice" not in ops:
            return
        for name, call in calls:
            source = call.args[0] if call.args and is_view(call) else None
            origin = source.name if isinstance(source, Var) else ""
            if call.op == "tile.slice" or origin in self.windows:
                self.windows.add(name)
            if guarded and (call.op == "tile.load" or origin in self.loaded):
                self.loaded.add(name)
            if guarded and call.op == _POP:
                self.popped.add(name)

    def block(self, body: tuple[Stmt, ...], live: Live, yields_to: Targets, depth: int, record: bool) -> Live:
        """Buffers live before the block, given those live after it and the buffers that its yield writes."""
        for s in reversed(body):
            live = self.statement(s, live, yields_to, depth, record)
        return live

    def statement(self, s: Stmt, live: Live, yields_to: Targets, depth: int, record: bool) -> Live:
        match s:
            case Assign(value=Call() as call, var=var):
                return self.call(call, var, live, s.span, record)
            case Eval(call=call):
                return self.call(call, None, live, s.span, record)
            case For():
                return self.loop(s.iter_args, (), s.body, frozenset(), live, depth, record, s.span)
            case While():
                return self.loop(s.iter_args, s.prelude, s.body, _bases((s.cond,)), live, depth, record, s.span)
            case If():
                results = [base_of(v) for v in s.results]
                then = self.block(s.then, live, results, depth, record)
                return then | self.block(s.orelse, live, results, depth, record) | _bases((s.cond,))
            case Yield():
                pairs = [
                    (dst, src) for dst, e in zip(yields_to, s.values, strict=True)
                    if dst is not None and (src := base_of(e)) is not None
                ]
                return self.transfer(pairs, live, depth, record, s.span)
            case _:
                return live | _bases(operands(s))

    def call(self, call: Call, var: Var | None, live: Live, span: Span, record: bool) -> Live:
        used = _bases(call.args)
        result = base_of(var) if var is not None else None
        if record:
            for operand in overwritten(call):
                base = base_of(operand)
                assert base is not None, "every tile has storage"
                self.write(base, live - {base}, span)
        if var is None or result is None or is_view(call):
            return live | used
        if shared_operand(call) is not None:
            if record:
                self.write(result, live - {result}, span)
            return live | used
        if record:
            self.write(result, live - {result}, span)
            assert isinstance(var.type, TileType), "only tiles have a base"
            self.keep_apart(call, result, var.type)
        return (live - {result}) | used

    def write(self, base: str, live: Live, span: Span) -> None:
        self.graph.add_all(base, live)
        self.graph.live_at.append((live | {base}, span))

    def keep_apart(self, call: Call, result: str, t: TileType) -> None:
        """Edges between a result and the operands it must not stand on although they are dead after the op."""
        operands = [(k, a.name, b) for k, a in enumerate(call.args) if isinstance(a, Var) and (b := base_of(a))]
        reads_popped = bool(self.popped) and any(name in self.popped for _, name, _ in operands)
        for k, name, base in operands:
            hazard = reads_popped and name in self.loaded
            if hazard or name in self.windows or not may_stand_on(call, k, t):
                self.graph.add(result, base)
            else:
                self.graph.allow_in_place(result, base)

    def loop(
        self, iter_args: tuple[IterArg, ...], prelude: tuple[Stmt, ...], body: tuple[Stmt, ...], tested: Live,
        live: Live, depth: int, record: bool, span: Span,
    ) -> Live:
        carried = [base_of(a.var) for a in iter_args]

        def turn(head: Live, record: bool) -> Live:
            start = self.block(body, head, carried, depth + 1, record)
            return self.block(prelude, start | live | tested, (), depth + 1, record)

        # One turn reaches the fixpoint: what a block reads does not depend on what is live after it.
        head = live | tested
        head |= turn(head, False)
        if record:
            turn(head, True)
        inits = [(p, b) for p, a in zip(carried, iter_args, strict=True) if p and (b := base_of(a.init)) is not None]
        return self.transfer(inits, head, depth, record, span)

    def transfer(self, pairs: list[tuple[str, str]], live: Live, depth: int, record: bool, span: Span) -> Live:
        """All sources are read, then all destinations written."""
        if record:
            for k, (dst, src) in enumerate(pairs):
                for other, _ in pairs[:k]:
                    self.graph.add(dst, other)
                if dst != src:
                    self.graph.copies.append(PhiCopy(dst, src, depth))
                    self.write(dst, live - ({dst, src} if self.copies_may_share else {dst}), span)
        return (live - {d for d, _ in pairs}) | {s for _, s in pairs}


def _bases(exprs: Iterable[Expr]) -> Live:
    found: set[str] = set()
    for e in exprs:
        if isinstance(e, Var):
            t = e.type
            if isinstance(t, TileType) and t.memref is not None:
                found.add(t.memref.base)
        elif not isinstance(e, Const):
            found |= tile_bases(e)
    return frozenset(found)
