"""From a `pto.Func` to its access program: one walk over the regions."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_verified.errors import Location, NotModelled
from pypto_verified.index import Cond
from pypto_verified.index.cond import TRUE
from pypto_verified.pto.lanes import first_lane_alone
from pypto_verified.pto.module import Block, Func, Op, Value
from pypto_verified.pto.types import ScalarType
from pypto_verified.pto.walk import walk_ops
from pypto_verified.targets import target as chip
from verifiers.access.arguments import Arguments, all_ops
from verifiers.access.buffers import Buffers
from verifiers.access.carried import CarriedValues, handed_over
from verifiers.access.counted import fails_once_for_all, induction, trips
from verifiers.access.handles import Handles
from verifiers.access.induction import passed_before
from verifiers.access.program import AccessProgram, Branch, Loop, Sequence
from verifiers.access.scalars import Scalars
from verifiers.access.straight import StraightLine
from verifiers.access.symbols import SymbolKind, Symbols

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
    return _Builder(func, func.body, file, target, names).build()


class _Builder:
    def __init__(self, func: Func, body: Block, file: str, target: str, names: Mapping[str, str] | None) -> None:
        self.body = body
        self.symbols = Symbols(names)
        self.scalars = Scalars(self.symbols)
        self.handles = Handles(self.symbols)
        self.program = AccessProgram(func, file, self.symbols, Sequence([]), [], [], [], [], [])
        self.producers: dict[Value, Op] = {r: op for op in all_ops(body) for r in op.results}
        self.regions = 0
        self.arguments = Arguments(
            self.symbols, self.handles, self.scalars,
            func.kernel_kind == "vector" and bool(first_lane_alone(func, chip(target))))
        self.buffers = Buffers(self.program, self.handles, self.scalars)
        self.carried = CarriedValues(self.buffers, self.producers)
        self.ops = StraightLine(target, self.arguments, self.buffers)

    def build(self) -> AccessProgram:
        self.arguments.enter(self.program.func, self.producers, self._gap)
        self.program.body = self._block(self.body, TRUE)
        self.program.views = list(self.handles.views.values())
        return self.program

    def _gap(self, op: Op, text: str) -> None:
        self.program.gaps.append((op, text))

    def _block(self, block: Block, path: Cond) -> Sequence:
        """The nodes of a region, which gets a number of its own."""
        outer = self.ops.region
        self.regions += 1
        self.ops.region = (*outer, self.regions)
        made = self._nodes(block, path)
        self.ops.region = outer
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
                step = self.ops.walk(op, path)
                if step is not None:
                    made.items.append(step)
        return made

    def _for(self, op: Op, path: Cond) -> Loop:
        block = op.regions[0]
        args, known = block.args[1:], self.handles.scalars
        lower, upper, step = (self.handles.index(op.arg(g)) for g in ("lower", "upper", "step"))
        var, counter, inside = induction(self.symbols, block.args[0].name, lower, upper, step)
        known[block.args[0]] = var
        results = self.carried.of_for(op, counter, trips(lower, upper, step))
        loop = Loop(op, var, counter, lower, upper, step, path, path & inside)
        self._loop_body(loop, block)
        loop.carried = self.carried.own(args, op.args.get("init", ()), handed_over(block, "scf.yield"))
        loop.results = self.carried.named(results, [known.get(arg) for arg in args])
        for value, result in zip(op.results, results, strict=False):
            known[value] = result
        return loop

    def _while(self, op: Op, path: Cond) -> Loop:
        before, after = op.regions
        name = op.results[0].name if op.results else "while"
        counter = self.symbols.new(f"{name}_trip", SymbolKind.TRIP, 0, hidden=True)
        until = self.carried.into_while(op, counter)
        for block in op.regions:
            self.buffers.forget_valid(block)
        head = self._block(before, path)
        passed = handed_over(before, "scf.condition")
        condition = self.handles.scalars.get(passed[0]) if passed else None
        if not isinstance(condition, Cond):
            condition = self.scalars.opaque_condition("while")
        self.carried.into_body(op)
        if not fails_once_for_all(self.symbols, condition, counter):
            # Some counts may lie behind the exit: they can't be chosen in a refutation.
            self.symbols.kinds[repr(counter)] = SymbolKind.OPAQUE
        if head.items:
            self.symbols.passed = self.symbols.passed & passed_before(self.symbols, condition, counter)
        loop = Loop(op, None, counter, None, None, None, path, path & condition)
        self._loop_body(loop, after)
        loop.body.items[:0] = head.items
        loop.head = len(head.items)
        loop.carried = self.carried.own(before.args, op.args.get("init", ()), handed_over(after, "scf.yield"))
        loop.results = self.carried.out_of_while(op, until)
        return loop

    def _loop_body(self, loop: Loop, block: Block) -> None:
        outer_valid = self.buffers.forget_valid(block)
        self.ops.loops = (*self.ops.loops, loop)
        loop.body = self._block(block, loop.inside)
        self.ops.loops = self.ops.loops[:-1]
        self.buffers.opaque_valid(outer_valid)

    def _if(self, op: Op, path: Cond) -> Branch:
        found = self.handles.scalars.get(op.arg("cond"))
        cond = found if isinstance(found, Cond) else self.scalars.opaque_condition(op.arg("cond").name)
        before = dict(self.handles.tiles)
        then = self._block(op.regions[0], path & cond)
        after_then = dict(self.handles.tiles)
        for value, tile in before.items():
            self.handles.tiles[value] = tile
        orelse = self._block(op.regions[1], path & ~cond) if len(op.regions) > 1 else Sequence([])
        self.buffers.join_valid(cond, before, after_then)
        if op.results:
            firsts = handed_over(op.regions[0], "scf.yield")
            seconds = handed_over(op.regions[1], "scf.yield")
            for result, a, b in zip(op.results, firsts, seconds, strict=True):
                if isinstance(result.type, ScalarType):
                    self.handles.scalars[result] = self.scalars.select(
                        result.name, cond, self.handles.scalars.get(a), self.handles.scalars.get(b))
                else:
                    self.buffers.choose(op, result, a, b, "a branch")
        return Branch(op, cond, then, orelse, path)
