"""InferTileMemorySpace: every tile gets a memory space; operands are moved to where ops want them."""

from __future__ import annotations

from operator import is_

from pypto_verified.errors import NotModelled, PassError
from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Call, Expr, Span, Var
from pypto_verified.ir.stmt import LOOPS, Assign, Eval, For, Function, Stmt, While, Yield
from pypto_verified.ir.types import TileType
from pypto_verified.layouts import Space
from pypto_verified.ops.build import make_call
from pypto_verified.ops.registry import OPS
from pypto_verified.passes.buffers import storage_bytes
from pypto_verified.passes.context import PassContext
from pypto_verified.passes.rewrite import Rewriter, same_block
from pypto_verified.passes.space_classes import PREFERENCE, is_open, space_classes


def infer_tile_memory_space(function: Function, ctx: PassContext) -> Function:
    """Decide spaces and make operands fit.

    An op's declaration or its target_memory says where its result lives; an empty tile created in Vec (the default)
    lives where the tiles do that it is joined with by loops, branches and in-place ops. An operand in a space that the
    op does not take is moved, once per block and space, over Mat if there is no direct way. Op types are deduced anew,
    so layouts follow the spaces. Requires: SSA without copied names, flat calls. Produces: a space on every tile.
    Raises PassError for a move that the target has no way for, NotModelled for one between cube and vector core.
    """
    return _Pass(function, ctx).run()


class _Pass(Rewriter):
    def __init__(self, function: Function, ctx: PassContext) -> None:
        super().__init__(function, ctx)
        self.classes = space_classes(function)
        self.moved: dict[tuple[str, Space], Var] = {}
        self.before: list[Stmt] = []

    def block(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        outer, self.moved = self.moved, dict(self.moved)
        out: list[Stmt] = []
        for s in body:
            new = self.statement(s)
            out += [*self.before, *new]
            self.before = []
        self.moved = outer
        return same_block(body, out)

    def statement(self, s: Stmt) -> tuple[Stmt, ...]:
        if isinstance(s, Eval):
            call = self._fitted(self.expr(s.call), s.call)
            return (s if call is s.call or call == s.call else replace(s, call=call),)
        return super().statement(s)

    def assign(self, s: Assign) -> tuple[Stmt, ...]:
        value = self.expr(s.value)
        if not isinstance(value, Call):
            return (self.rebuilt(s, value, self.retype(s.var, value)),)
        if isinstance(s.var.type, TileType) and is_open(value):
            space = self.classes.choose(s.var.name)
            if space is not Space.VEC:
                value = make_call(value.op, value.args, {**dict(value.kwargs), "target_memory": space}, value.span)
        value = self._fitted(value, s.value)
        t = value.type
        if isinstance(t, TileType):
            declared = s.var.type
            assert isinstance(declared, TileType), "a tile op defines a tile"
            if t.space is None:
                raise PassError(f"the space of '{s.var.name}' is not known", s.span.location, help="give target_memory")
            if t.memref is not declared.memref:
                t = replace(t, memref=declared.memref)
        return (self.rebuilt(s, s.value if value is s.value or value == s.value else value, t),)

    def _fitted(self, call: Expr, given: Expr) -> Call:
        """The call with operands where it takes them, its type deduced anew unless it is still the `given` one."""
        assert isinstance(call, Call), "only calls have operands to fit"
        args, inserted = list(call.args), len(self.before)
        for k, (param, arg) in enumerate(zip(OPS[call.op].params, call.args, strict=False)):
            if isinstance(arg, Var) and isinstance(arg.type, TileType) and param.spaces:
                args[k] = self._in_space(arg, param.spaces, f"{call.op} takes '{param.name}'", call.span)
        placed = not isinstance(call.type, TileType) or call.type.space is not None
        same = placed and all(map(is_, args, call.args)) and call is given
        new = call if same else make_call(call.op, tuple(args), dict(call.kwargs), call.span)
        if call.op == "tile.move":
            self._check_move(new)
        if len(self.before) > inserted:
            self._check_size(new)
        return new

    def _in_space(self, var: Var, allowed: frozenset[Space], who: str, span: Span) -> Var:
        assert isinstance(var.type, TileType), "only tiles have a space"
        here = var.type.space
        if here is None or here in allowed:
            return var
        goal = next(s for s in PREFERENCE if s in allowed)
        for step in self._way(here, goal, f"{who} from {goal.value}, '{var.name}' is in {here.value}", span):
            known = self.moved.get((var.name, step))
            if known is None:
                call = make_call("tile.move", (var,), {"target_memory": step}, span)
                known = Var(self.names.fresh(f"{var.name}_{step.value}"), call.type)
                self.before.append(Assign(known, call, span))
                self.moved[var.name, step] = known
            var = known
        return var

    def _check_size(self, call: Call) -> None:
        """A matmul whose operands we move has to fit as it is: tiling it is AutoTileMatmulL0's work."""
        for t in (call.type, *(a.type for a in call.args if isinstance(a, Var))):
            if isinstance(t, TileType) and t.space is not None:
                size, room = storage_bytes(t, self.ctx.target), self.ctx.target.capacity(t.space)
                if size > room:
                    what = f"{call.op} with {size} bytes in {t.space.value}, which has {room}: AutoTileMatmulL0"
                    raise NotModelled(what, call.span.location, help="split the matmul into tiles that fit")

    def _way(self, src: Space, dst: Space, what: str, span: Span) -> tuple[Space, ...]:
        if _core(src) != _core(dst):
            raise NotModelled(
                f"{what}: a tile that crosses between cube and vector core (ExpandMixedKernel)", span.location)
        target = self.ctx.target
        if target.move(src, dst) is not None:
            return (dst,)
        if target.move(src, Space.MAT) is not None and target.move(Space.MAT, dst) is not None:
            return (Space.MAT, dst)
        raise PassError(
            f"{what}, and {target.name} has no move from {src.value} to {dst.value}", span.location,
            help="store it to global memory and load it where it is needed",
        )

    def _check_move(self, call: Call) -> None:
        source = call.args[0]
        if isinstance(source, Var) and isinstance(source.type, TileType) and isinstance(call.type, TileType):
            src, dst = source.type.space, call.type.space
            assert src is not None and dst is not None, "both ends of a move have a space"
            if self._way(src, dst, f"tile.move of '{source.name}'", call.span) != (dst,):
                raise PassError(
                    f"{self.ctx.target.name} has no direct move from {src.value} to {dst.value}", call.span.location,
                    help=f"move it to {Space.MAT.value} first",
                )

    def loop(self, s: For) -> Stmt:
        new = super().loop(s)
        self._check_carried(new)
        return new

    def while_loop(self, s: While) -> Stmt:
        new = super().while_loop(s)
        self._check_carried(new)
        return new

    def _check_carried(self, s: Stmt) -> None:
        assert isinstance(s, LOOPS), "a loop stays a loop"
        end = s.body[-1] if s.body else None
        for a, value in zip(s.iter_args, end.values if isinstance(end, Yield) else (), strict=True):
            if isinstance(value, Var) and isinstance(value.type, TileType) and isinstance(a.var.type, TileType):
                here, there = a.var.type.space, value.type.space
                if here is not there:
                    raise PassError(
                        f"loop-carried '{a.var.name}' starts in {here and here.value} and is yielded from "
                        f"{there and there.value}", s.span.location, help="move one of them with pl.move",
                    )


def _core(space: Space) -> str:
    return "vector" if space is Space.VEC else "cube"
