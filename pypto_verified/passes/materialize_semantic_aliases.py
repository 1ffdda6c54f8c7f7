"""MaterializeSemanticAliases: values that flow into a loop or out of a branch share a buffer or are copied into it."""

from __future__ import annotations

from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Expr, Span, Var
from pypto_verified.ir.stmt import COMPOUND, LOOPS, Assign, Function, If, IterArg, Stmt, Yield
from pypto_verified.ir.types import TileType, Type
from pypto_verified.ir.walk import definitions, walk_stmts
from pypto_verified.passes.buffer_table import SLOT_PREFIX
from pypto_verified.passes.buffers import base_of, is_fixed
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.interference import Interference, interference
from pypto_verified.passes.rebase import rebase
from pypto_verified.passes.rewrite import Rewriter
from pypto_verified.passes.tile_copies import Copier
from pypto_verified.records import dataclass


def materialize_semantic_aliases(function: Function, ctx: PassContext) -> Function:
    """Make each loop-carried tile (initial value, carried variable, yielded value, result) and each tile that leaves a
    branch one buffer.

    First every carried or merged variable is a buffer of its own and values are thought to be copied into it. A copy
    whose two ends never hold different live values is then removed by joining the two buffers (innermost loops first),
    so that the producer writes straight into the carried buffer. What remains becomes `tile.move`: before the loop for
    an initial value that is needed later, at the end of the block for a yielded one. The copies of one block are
    parallel: a swap goes through a temporary. Raises PassError where a copy is needed in a space that has none.
    Requires: a MemRef on every tile (InitMemRef). Produces: carried tiles and their values have one MemRef.
    """
    if not any(_hands_on_tiles(s) for s in walk_stmts(function.body)):
        return function
    graph = interference(function, ctx.target, copies_may_share=True)
    if not graph.copies:
        return function
    joined = _join(function, graph)
    return _Copies(rebase(function, ctx, joined), ctx).run()


def _hands_on_tiles(s: Stmt) -> bool:
    """Whether tiles flow into a loop or out of a branch."""
    return isinstance(s, COMPOUND) and any(isinstance(v.type, TileType) for v in s.results)


def _one_type(a: TileType, b: TileType) -> bool:
    """Whether tiles of these types have their elements at the same addresses of storage that we may join."""
    if a.view is None or b.view is None or a.memref is None or b.memref is None:
        return False
    return (
        (a.space, a.shape, a.dtype) == (b.space, b.shape, b.dtype)
        and (a.view.blayout, a.view.slayout, a.view.fractal, a.view.compact)
        == (b.view.blayout, b.view.slayout, b.view.fractal, b.view.compact)
        and not is_fixed(a.memref) and not is_fixed(b.memref)
    )


def _join(function: Function, graph: Interference) -> dict[str, str]:
    """Buffer -> the buffer it is joined with, for as many transfers as interference allows."""
    owners = _owners(function)
    members: dict[str, set[str]] = {b: {b} for b in owners}
    leader = {b: b for b in owners}
    for copy in sorted(graph.copies, key=lambda c: -c.depth):
        a, b = leader[copy.dst], leader[copy.src]
        if a == b or b.startswith(SLOT_PREFIX) or not _one_type(owners[copy.dst], owners[copy.src]):
            continue
        if any(graph.conflict(x, y) for x in members[a] for y in members[b]):
            continue
        members[a] |= members[b]
        for x in members.pop(b):
            leader[x] = a
    return {b: first for b, first in leader.items() if b != first}


def _owners(function: Function) -> dict[str, TileType]:
    """The type of the first variable of each buffer."""
    found: dict[str, TileType] = {}
    for s in walk_stmts(function.body):
        for v in definitions(s):
            if isinstance(v.type, TileType) and v.type.memref is not None:
                found.setdefault(v.type.memref.base, v.type)
    return found


class _Copies(Rewriter):
    """Inserts the copies that joining did not remove."""

    def __init__(self, function: Function, ctx: PassContext) -> None:
        super().__init__(function, ctx)
        self.copier = Copier(ctx.target, self.names)

    def statement(self, s: Stmt) -> tuple[Stmt, ...]:
        if isinstance(s, LOOPS):
            why = "'{}' starts from a value that is read later"
            inits = [_Transfer(a.var, a.init, why.format(a.var.name)) for a in s.iter_args]
            before = self.parallel(inits, s.span)
            iter_args = tuple(IterArg(a.var, t.value) for a, t in zip(s.iter_args, inits, strict=True))
            body = self._with_yield(self.block(s.body), tuple(a.var for a in s.iter_args), "after a trip")
            if before:
                s = replace(s, iter_args=iter_args)
            return (*before, s if body is s.body else replace(s, body=body))
        if isinstance(s, If):
            then = self._with_yield(self.block(s.then), s.results, "after the branch")
            orelse = self._with_yield(self.block(s.orelse), s.results, "after the branch")
            same = then is s.then and orelse is s.orelse
            return (s if same else replace(s, then=then, orelse=orelse),)
        if isinstance(s, Assign):
            self.copier.note(s.var.name, s.value)
        return (s,)

    def _with_yield(self, body: tuple[Stmt, ...], targets: tuple[Var, ...], when: str) -> tuple[Stmt, ...]:
        if not body or not isinstance(body[-1], Yield):
            return body
        end = body[-1]
        transfers = [
            _Transfer(v, e, f"the value of '{v.name}' {when} is not free to be made in its buffer")
            for v, e in zip(targets, end.values, strict=True)
        ]
        copies = self.parallel(transfers, end.span)
        if not copies:
            return body
        return (*body[:-1], *copies, replace(end, values=tuple(t.value for t in transfers)))

    def parallel(self, transfers: list[_Transfer], span: Span) -> list[Stmt]:
        """Copies with the effect of reading all sources first; each transfer's value becomes the copy."""
        out: list[Stmt] = []
        waiting = [t for t in transfers if t.needed]
        while waiting:
            ready = next((t for t in waiting if not any(o.source == t.target for o in waiting if o is not t)), None)
            if ready is None:
                out.append(self._save(waiting, span))
                continue
            out.append(self._copy(ready, ready.var.type, span))
            waiting.remove(ready)
        return out

    def _save(self, waiting: list[_Transfer], span: Span) -> Stmt:
        """Break a cycle: put the value that the first copy would overwrite into a temporary."""
        blocked = next(t for t in waiting if t.source == waiting[0].target)
        t = blocked.value.type if isinstance(blocked.value, Var) else blocked.var.type
        assert isinstance(t, TileType) and t.memref is not None, "only tiles are copied"
        own = replace(t, memref=replace(t.memref, base=self.names.fresh("mem_swap"), pinned=False, slots=1, slot=0))
        return self._copy(blocked, own, span)

    def _copy(self, transfer: _Transfer, t: Type, span: Span) -> Stmt:
        assert isinstance(t, TileType) and isinstance(transfer.value, Var), "only tiles are copied"
        copy = self.copier.copy(transfer.value, t, transfer.why, span)
        transfer.value = copy.var
        return copy


@dataclass(slots=True)
class _Transfer:
    var: Var
    value: Expr
    why: str

    @property
    def target(self) -> str | None:
        return base_of(self.var)

    @property
    def source(self) -> str | None:
        return base_of(self.value)

    @property
    def needed(self) -> bool:
        return self.target is not None and self.target != self.source

