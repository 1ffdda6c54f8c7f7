"""From a `pto.Func` to its access program: one walk over the regions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pypto_verified.errors import Location, NotModelled
from pypto_verified.index import Cond, Expr, all_of, const, eq, maximum
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.layouts import Space
from pypto_verified.pto.lanes import first_lane_alone
from pypto_verified.pto.module import Block, EnumAttr, Func, Op, Value
from pypto_verified.pto.op_pipes import names_pipes
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.spec import Phase
from pypto_verified.pto.types import PtrType, ScalarType, TileBufType
from pypto_verified.pto.walk import walk_ops
from pypto_verified.targets import target as chip
from pypto_verified.targets.pipes import is_for_kind
from verifiers.access.arguments import Arguments, all_ops
from verifiers.access.calls import unfollowed
from verifiers.access.handles import Handles, is_buffer
from verifiers.access.id_arrays import DECLARE, GET, SET, IdArrays
from verifiers.access.induction import carried_value, evenly, going_on, in_turn, passed_before, rotated, while_value
from verifiers.access.program import (
    AccessProgram,
    Branch,
    Carried,
    Defined,
    Loop,
    Narrow,
    Operand,
    Reserved,
    Scalar,
    Sequence,
    Step,
    TileUse,
    Window,
)
from verifiers.access.scalars import RETYPED, WRAPPING, Scalars, ceiling
from verifiers.access.symbols import BLOCK, BLOCKS, LANE, SymbolKind, Symbols

_BRANCHES = frozenset({"cf.br", "cf.cond_br"})
_SILENT = frozenset({"func.return", "scf.yield", "scf.condition"})


def build_program(func: Func, file: str, target: str, names: Mapping[str, str] | None = None) -> AccessProgram:
    """The access program of a function with a body. `target` is 'a2a3' or 'a5' (it decides pipes); `names` maps SSA
    names of arguments to what users call them. What can't be expressed is listed in `gaps`, never dropped silently."""
    if func.body is None:
        raise NotModelled(f"function {func.name} has no body", func.loc)
    branch = next((op for op in walk_ops(func) if op.name in _BRANCHES), None)
    if branch is not None:
        raise NotModelled(f"unstructured control flow ({branch.name})", Location(file, branch.line))
    return _Builder(func, file, target, names).build()


class _Builder:
    def __init__(self, func: Func, file: str, target: str, names: Mapping[str, str] | None) -> None:
        self.func = func
        self.target = target
        self.symbols = Symbols(names)
        self.scalars = Scalars(self.symbols)
        self.handles = Handles(self.symbols)
        self.program = AccessProgram(func, file, self.symbols, Sequence([]), [], [], [], [], [])
        self.producers: dict[Value, Op] = {}
        self.loops: tuple[Loop, ...] = ()
        self.region: tuple[int, ...] = ()
        self.regions = 0
        self.arguments = Arguments(
            self.symbols, self.handles, self.scalars,
            func.kernel_kind == "vector" and bool(first_lane_alone(func, chip(target))))
        self.id_arrays = IdArrays(func.body)
        self.unfollowed: frozenset[Op] = frozenset()
        self.lost = {arg for arg in func.args if not isinstance(arg.type, PtrType)}

    def build(self) -> AccessProgram:
        assert self.func.body is not None
        for op in all_ops(self.func.body):
            for r in op.results:
                self.producers[r] = op
        self.unfollowed = unfollowed(self.func)
        self.arguments.enter(self.func, self.producers, self._gap)
        self.program.body = self._block(self.func.body, TRUE)
        self.program.views = list(self.handles.views.values())
        return self.program

    def _gap(self, op: Op, text: str) -> None:
        self.program.gaps.append((op, text))

    # Control flow

    def _block(self, block: Block, path: Cond) -> Sequence:
        """The nodes of a region, which gets a number of its own."""
        outer = self.region
        self.regions += 1
        self.region = (*outer, self.regions)
        made = self._nodes(block, path)
        self.region = outer
        return made

    def _nodes(self, block: Block, path: Cond) -> Sequence:
        made = Sequence([])
        for op in block.ops:
            if op.name == "scf.for":
                made.items.append(self._for(op, path))
            elif op.name == "scf.if":
                made.items.append(self._if(op, path))
            elif op.name == "scf.while":
                made.items.append(self._while(op, path))
            elif op.regions:
                # Sections and other plain regions run once, where they stand.
                if not op.name.startswith("pto.section"):
                    self._gap(op, f"region of {op.name}")
                made.items.extend(self._nodes(r, path) for r in op.regions)
            elif op.name not in _SILENT:
                step = self._op(op, path)
                if step is not None:
                    made.items.append(step)
        return made

    def _for(self, op: Op, path: Cond) -> Loop:
        block = op.regions[0]
        lower, upper, step = (self.handles.index(op.arg(g)) for g in ("lower", "upper", "step"))
        var, counter, inside = self._induction(block.args[0], lower, upper, step)
        self.handles.scalars[block.args[0]] = var
        trips = maximum(ceiling(upper - lower, step), 0) if step.lo is not None and step.lo > 0 else None
        results = self._carry(op, block.args[1:], op.args.get("init", ()), counter, trips)
        loop = Loop(op, var, counter, lower, upper, step, path, path & inside)
        self._loop_body(loop, block)
        known = self.handles.scalars
        loop.carried = self._carried(block.args[1:], op.args.get("init", ()), _terminator_values(block, "scf.yield"))
        loop.results = self._named(results, [known.get(arg) for arg in block.args[1:]])
        for value, result in zip(op.results, results, strict=False):
            known[value] = result
        return loop

    def _induction(self, arg: Value, lower: Expr, upper: Expr, step: Expr) -> tuple[Expr, Expr, Cond]:
        """(induction value, counter from 0, what holds in the body)."""
        extent = upper - lower
        if extent.hi is not None and extent.hi <= 0:
            return lower, const(0), FALSE
        stride = step.value
        if stride == 1:
            hi = upper.hi - 1 if upper.hi is not None else None
            var = self.symbols.new(arg.name, SymbolKind.TRIP, lower.lo, hi)
            counter = var - lower if var.value is None else const(0)  # one value: entered at that lower bound, once
            return var, counter, (var >= lower) & (var < upper)
        counter_hi = (extent.hi - 1) // stride if extent.hi is not None and stride is not None and stride > 0 else None
        counter = self.symbols.new(f"{arg.name.split('__')[0]}_trip", SymbolKind.TRIP, 0, counter_hi, hidden=True)
        if stride is not None and stride > 0:
            var = lower + counter * stride
            self.symbols.show(arg.name, var)
            return var, counter, var < upper
        var = self.symbols.new(arg.name, SymbolKind.TRIP)
        return var, counter, all_of(((step >= 1), eq(var, lower + step * counter), var >= lower, var < upper))

    def _carry(
        self, op: Op, args: list[Value], inits: tuple[Value, ...], counter: Expr, trips: Expr | None
    ) -> list[Scalar]:
        """Values of the carried arguments in the body; returns those of the results."""
        yields = _terminator_values(op.regions[0], "scf.yield")
        results: list[Scalar] = []
        starts = {arg: self.handles.scalars.get(init) for arg, init in zip(args, inits, strict=False)}
        turns = rotated(args, yields, starts, {})
        for arg, result, init, handed in zip(args, op.results, inits, yields, strict=False):
            if arg in turns:
                self.handles.scalars[arg] = in_turn(turns[arg], counter)
                results.append(
                    in_turn(turns[arg], trips) if trips is not None
                    else self.symbols.new(arg.name, SymbolKind.OPAQUE))
                continue
            if not isinstance(arg.type, ScalarType):
                self._carry_handle(op, (arg, result), init, handed)
                results.append(None)
                continue
            start = self.handles.scalars.get(init)
            inside: Scalar
            after: Scalar
            if isinstance(start, Cond):
                inside, after = self.symbols.opaque(arg.name), self.symbols.opaque(arg.name)
            else:
                inside, after = carried_value(
                    self.symbols, arg, start, handed, counter, trips, self.producers, self.handles.scalars)
            self.handles.scalars[arg] = inside
            results.append(after)
        return results

    def _carried(
        self, args: Iterable[Value], inits: Iterable[Value], handed: Iterable[Value]
    ) -> tuple[Carried, ...]:
        """The carried scalars that are symbols of their own."""
        known = self.handles.scalars
        return tuple(
            Carried(name, known.get(init), known.get(following))
            for arg, init, following in zip(args, inits, handed, strict=False)
            if (name := self.symbols.own_name(known.get(arg))) is not None)

    def _named(self, results: Iterable[Scalar], ends: Iterable[Scalar]) -> tuple[tuple[str, Scalar], ...]:
        """The results that are symbols of their own, with what they are where the loop ends."""
        pairs = zip(results, ends, strict=False)
        return tuple((name, end) for result, end in pairs if (name := self.symbols.own_name(result)) is not None)

    def _carry_handle(self, op: Op, names: tuple[Value, ...], init: Value, handed: Value) -> None:
        """A tile or view carried by a loop, `names[0]` inside: the same buffer throughout, or not modelled."""
        same = handed in (*names, init)
        if not same:
            self._gap(op, f"%{names[0].name}, a buffer that changes from one iteration to the next")
        for name in names:
            if not same or (not self.handles.rename(name, init) and init in self.lost):
                self.lost.add(name)

    def _loop_body(self, loop: Loop, block: Block) -> None:
        outer_valid = self._forget_valid(block)
        self.loops = (*self.loops, loop)
        loop.body = self._block(block, loop.inside)
        self.loops = self.loops[:-1]
        for value in outer_valid:
            self._opaque_valid(value)

    def _forget_valid(self, block: Block) -> list[Value]:
        """Handles from outside whose valid extents the body changes: unknown at its head, and after it."""
        changed = [
            op.arg("source") for op in all_ops(block)
            if op.name == "pto.set_validshape" and op.arg("source") in self.handles.tiles]
        for value in changed:
            self._opaque_valid(value)
        return changed

    def _opaque_valid(self, value: Value) -> None:
        type_ = self.handles.tiles[value].type
        rows = self.symbols.new(f"valid_rows_of_{value.name}", SymbolKind.OPAQUE, 0, type_.rows)
        cols = self.symbols.new(f"valid_cols_of_{value.name}", SymbolKind.OPAQUE, 0, type_.cols)
        self.handles.set_valid(value, rows, cols)

    def _while(self, op: Op, path: Cond) -> Loop:
        before, after = op.regions
        inits = op.args.get("init", ())
        name = op.results[0].name if op.results else "while"
        counter = self.symbols.new(f"{name}_trip", SymbolKind.TRIP, 0, hidden=True)
        passed = _terminator_values(before, "scf.condition")
        handed = _terminator_values(after, "scf.yield")
        links = dict(zip(after.args, passed[1:], strict=False))
        starts = {arg: self.handles.scalars.get(init) for arg, init in zip(before.args, inits, strict=False)}
        turns = rotated(before.args, handed, starts, links)
        plain = all(x.name.startswith("arith.") or x.name == "scf.condition" for x in before.ops)
        on = going_on(before.args, handed, passed[0], self.producers) if plain and passed else {}
        until: set[Value] = set()
        for arg, init, nxt in zip(before.args, inits, handed, strict=False):
            if is_buffer(arg):
                self._carry_handle(op, (arg, *(v for v, passed_in in links.items() if passed_in is arg)), init, nxt)
                continue
            start = self.handles.scalars.get(init)
            if arg in turns:
                self.handles.scalars[arg] = in_turn(turns[arg], counter)
                continue
            even = evenly(
                self.symbols, arg, start, on[arg], counter, links, self.producers, self.handles.scalars,
            ) if arg in on else None
            if even is not None:
                # What it is once a flag has ended the loop makes no difference to the condition, which denies the flag.
                self.handles.scalars[arg] = even
                until.add(arg)
                continue
            self.handles.scalars[arg] = self.symbols.opaque(arg.name) if isinstance(start, Cond) else while_value(
                self.symbols, arg, start, nxt, counter, links, self.producers, self.handles.scalars)
        for block in op.regions:
            self._forget_valid(block)
        head = self._block(before, path)
        condition = self.handles.scalars.get(passed[0]) if passed else None
        if not isinstance(condition, Cond):
            condition = self.scalars.opaque_condition("while")
        for arg, value_in in links.items():
            if is_buffer(arg):
                self._rename(arg, value_in)
            else:
                self.handles.scalars[arg] = self.handles.scalars.get(value_in)
        if not _fails_once_for_all(condition, counter):
            # Some counts may lie behind the exit: they can't be chosen in a refutation.
            self.symbols.kinds[repr(counter)] = SymbolKind.OPAQUE
        if head.items:
            self.symbols.passed = self.symbols.passed & passed_before(self.symbols, condition, counter)
        loop = Loop(op, None, counter, None, None, None, path, path & condition)
        self._loop_body(loop, after)
        loop.body.items[:0] = head.items
        loop.head = len(head.items)
        known = self.handles.scalars
        loop.carried = self._carried(before.args, inits, handed)
        ends = [None if until and (v in until or v not in before.args) else known.get(v) for v in passed[1:]]
        for result, value_out, end in zip(op.results, passed[1:], ends, strict=True):
            if is_buffer(result):
                self._rename(result, value_out)
            elif isinstance(end, Cond):
                known[result] = self.symbols.opaque(result.name)
            elif isinstance(result.type, ScalarType) and result.type.dtype.is_integer:
                known[result] = self.symbols.new(result.name, SymbolKind.OPAQUE)
        loop.results = self._named([known.get(r) for r in op.results], ends)
        return loop

    def _if(self, op: Op, path: Cond) -> Branch:
        found = self.handles.scalars.get(op.arg("cond"))
        cond = found if isinstance(found, Cond) else self.scalars.opaque_condition(op.arg("cond").name)
        before = dict(self.handles.tiles)
        then = self._block(op.regions[0], path & cond)
        after_then = dict(self.handles.tiles)
        for value, tile in before.items():
            self.handles.tiles[value] = tile
        orelse = self._block(op.regions[1], path & ~cond) if len(op.regions) > 1 else Sequence([])
        self._join_valid(cond, before, after_then)
        if op.results:
            firsts = _terminator_values(op.regions[0], "scf.yield")
            seconds = _terminator_values(op.regions[1], "scf.yield")
            for result, a, b in zip(op.results, firsts, seconds, strict=True):
                if isinstance(result.type, ScalarType):
                    self.handles.scalars[result] = self.scalars.select(
                        result.name, cond, self.handles.scalars.get(a), self.handles.scalars.get(b))
                elif a is not b or not self._rename(result, a):
                    self._choice(op, result, "a branch")
        return Branch(op, cond, then, orelse, path)

    def _rename(self, value: Value, known: Value) -> bool:
        """`value` is a buffer that `known` names too; False if nothing is known of that."""
        if self.handles.rename(value, known):
            return True
        if known in self.lost:
            self.lost.add(value)
        return known in self.lost

    def _choice(self, op: Op, result: Value, chooser: str) -> None:
        self._gap(op, f"%{result.name}, a buffer chosen by {chooser}")
        self.lost.add(result)

    def _join_valid(self, cond: Cond, before: dict[Value, TileUse], after_then: dict[Value, TileUse]) -> None:
        for value in before:
            a, b = after_then[value], self.handles.tiles[value]
            if a is b:
                continue
            rows = self.scalars.select(f"valid_rows_of_{value.name}", cond, a.valid_rows, b.valid_rows)
            cols = self.scalars.select(f"valid_cols_of_{value.name}", cond, a.valid_cols, b.valid_cols)
            assert isinstance(rows, Expr) and isinstance(cols, Expr)
            self.handles.set_valid(value, rows, cols)

    # Straight-line ops

    def _note_width(self, op: Op, value: Expr, path: Cond) -> None:
        type_ = op.result.type
        if isinstance(type_, ScalarType) and type_.dtype.bits <= 32:
            self.program.narrow.append(Narrow(op, value, path, type_.dtype.bits))

    def _id_array(self, op: Op) -> None:
        if op.name == DECLARE:
            return
        array, index = op.arg("array"), self.handles.index(op.arg("index"))
        if op.name == SET:
            self.id_arrays.put(array, index, self.handles.index(op.arg("value")))
            return
        known = self.id_arrays.get(array, index)
        self.handles.scalars[op.result] = (
            known if known is not None else self.symbols.new(op.result.name, SymbolKind.OPAQUE))

    def _op(self, op: Op, path: Cond) -> Step | None:
        try:
            return self._known_op(op, path)
        except NotModelled as e:
            self._gap(op, e.what)
            self.lost.update(op.results)
            return self._step(op, path)

    def _known_op(self, op: Op, path: Cond) -> Step | None:
        name = op.name
        if name == "arith.select" and is_buffer(op.result):
            first, second = op.arg("true_value"), op.arg("false_value")
            if first is not second or not self._rename(op.result, first):
                self._choice(op, op.result, "a condition")
            return None
        if name.startswith(("arith.", "math.")) or name == RETYPED:
            args = [self.handles.scalars.get(v) for v in op.operands()]
            self.scalars.path = path
            number = self.handles.scalars[op.result] = self.scalars.evaluate(op, args)
            if name in WRAPPING and isinstance(number, Expr):
                self._note_width(op, number, path)
            return None
        row = TABLE.get(name)
        if name.startswith("pto.get_") and name.removeprefix("pto.get_") in (BLOCK, BLOCKS, LANE):
            self.handles.scalars[op.result] = self.arguments.block_value(name.removeprefix("pto.get_"))
            return None
        if name == "pto.syncall" or is_for_kind(name, op.attrs.get("ffts_mode")):
            self.arguments.block_value(BLOCKS)  # how many blocks run decides whether all are met
        if name == "pto.set_validshape":
            value = op.arg("source")
            if value in self.handles.renamed:
                raise NotModelled(f"new extents of %{value.name}, a tile that has another name too", op.loc)
            step = self._step(op, path)
            self.handles.tile(value, op)
            self.handles.set_valid(
                value, self.handles.index(op.arg("valid_row")), self.handles.index(op.arg("valid_col")))
            return step
        if name == "pto.reserve_buffer":
            return self._reserve(op)
        if name in _METADATA:
            self._metadata(op)
            return None
        if name in (DECLARE, SET, GET):
            self._id_array(op)
            return None
        if row is not None and row.effect in ("view", "alloc"):
            made = self.handles.define(op)
            if isinstance(made, TileUse):
                self._define(made, path)
            elif isinstance(made, Window):
                self.program.windows.append((made, path))
            return None
        if name.startswith("pto.tpop") and op.results and isinstance(op.result.type, TileBufType):
            tile = self.handles.pop(op)
            self._define(tile, path)
            return self._step(op, path, tile)
        step = self._step(op, path)
        for result in op.results:
            if isinstance(result.type, ScalarType) and result.type.dtype.is_integer:
                self.handles.scalars[result] = self.symbols.new(result.name, SymbolKind.DATA)
        return step

    def _metadata(self, op: Op) -> None:
        """Extents asked of a view or a tile."""
        if op.name in ("pto.get_tensor_view_dim", "pto.get_tensor_view_stride"):
            view = self.handles.views.get(op.arg("tensor_view"))
            axis = self.handles.index(op.arg("dim_index")).value
            if view is None or axis is None:
                raise NotModelled(f"{op.name} of an axis that is not constant", op.loc)
            known = view.dims if op.name.endswith("dim") else view.strides
            if not 0 <= axis < len(known):
                raise NotModelled(f"{op.name} of axis {axis} of {len(known)}", op.loc)
            self.handles.scalars[op.result] = known[axis]
            return
        tile = self.handles.tile(op.arg("src"), op)
        self.handles.scalars[op.result] = tile.valid_rows if op.name.endswith("rows") else tile.valid_cols

    def _reserve(self, op: Op) -> Step:
        size, base, location = op.attrs.get("size"), op.attrs.get("base"), op.attrs.get("location")
        if not isinstance(size, int) or not isinstance(location, EnumAttr):
            raise NotModelled("a reserve_buffer without size and location", op.loc)
        name = op.attrs.get("name")
        self.program.reserved.append(Reserved(
            name if isinstance(name, str) else "", op, Space(location.member), base if isinstance(base, int) else None,
            size))
        return self._step(op, TRUE)

    def _define(self, tile: TileUse, path: Cond) -> None:
        self.program.defined.append(Defined(tile, path, len(self.program.steps), self.region, self.loops))

    def _step(self, op: Op, path: Cond, made: TileUse | None = None) -> Step:
        row = TABLE.get(op.name)
        if row is not None and op in self.unfollowed:
            row = replace(row, modelled=False)
        if not names_pipes(op):
            self._gap(op, f"{op.name} of a pipe on which no op runs")
        operands: dict[str, tuple[Operand, ...]] = {
            group: tuple(self.handles.operand(v) for v in values) for group, values in op.args.items()}
        works = row is not None and row.effect in ("compute", "sync")
        phases = tuple(map(_added_in_place, row.phases(op, self.target))) if row is not None and works else ()
        for value in op.operands() if works else ():
            if is_buffer(value) and self.handles.operand(value) is None and value not in self.lost:
                self.lost.add(value)
                self._gap(op, f"%{value.name}, a buffer of which it is not known where it is")
        step = Step(
            len(self.program.steps), op, row, operands, phases, path, self.loops, self.region, made)
        self.program.steps.append(step)
        return step


def _added_in_place(phase: Phase) -> Phase:
    """An accumulating product reads what its destination holds, whatever accumulator the text names (assumption
    ACC-IN-PLACE): that they are one is PLAN-ACCUMULATOR's to say."""
    if "acc_in" not in phase.reads:
        return phase
    return Phase(phase.pipe, tuple("dst" if group == "acc_in" else group for group in phase.reads), phase.writes)


_METADATA = frozenset({
    "pto.get_tensor_view_dim", "pto.get_tensor_view_stride", "pto.tile_valid_rows", "pto.tile_valid_cols"})


def _fails_once_for_all(condition: Cond, counter: Expr) -> bool:
    """Whether a linear condition that fails for some count fails for every later one."""
    if condition.kind != "nonneg" or condition.expr is None:
        return False
    return dict(condition.expr.terms).get(counter.terms[0][0], 0) < 0


def _terminator_values(block: Block, name: str) -> tuple[Value, ...]:
    if not block.ops or block.ops[-1].name != name:
        return ()
    return tuple(block.ops[-1].operands())
