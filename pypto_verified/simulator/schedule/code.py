"""A function as a flat list of steps for the scalar unit of one core: registers and control flow resolve there,
everything else is issued.

A core runs the sections, and calls the functions, of its own kind; calls are expanded where they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from pypto_verified.errors import InputError
from pypto_verified.pto.lanes import first_lane_alone
from pypto_verified.pto.module import Block, Func, Op, Symbol, Value
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.spec import Phase
from pypto_verified.pto.types import TileBufType
from pypto_verified.pto.walk import walk_ops
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import ShapeError, SimError
from pypto_verified.simulator.machine import Machine
from pypto_verified.simulator.meanings import MEANINGS
from pypto_verified.simulator.program import Registers, computed, gatherer, private_storage, terminator, unmodelled
from pypto_verified.simulator.registry import Meaning, Site
from pypto_verified.simulator.scalars import pure
from pypto_verified.targets import Target

_PURE_EFFECTS = frozenset({"alloc", "view", "pure"})
_SECTIONS = {"pto.section.cube": "cube", "pto.section.vector": "vector"}
_MUTATING = frozenset({"pto.set_validshape", "pto.tpop"})
"""Ops that change a handle which steps that wait in queues may hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Issue:
    """An op that goes to a pipe. `gather` reads its operands: those of the meaning's groups where it has one, else all
    of them by group; `out` is its result's register, `scratch` pairs of registers (scratch tile, destination)."""

    op: Op
    site: Site
    meaning: Meaning | None
    phases: tuple[Phase, ...]
    gather: Callable[[Registers], Sequence[Any]]
    groups: tuple[str, ...]
    out: int
    scratch: tuple[tuple[int, int], ...]

    def operands(self, env: Registers) -> dict[str, Any]:
        """The operands of an op without a meaning, by group; an absent group is missing."""
        return {g: v for g, v in zip(self.groups, self.gather(env), strict=True) if g in self.op.args}


def callee_of(op: Op) -> str:
    """The name of the function that a call names."""
    symbol = op.attrs.get("callee")
    return symbol.name if isinstance(symbol, Symbol) else str(symbol).lstrip("@")


def reached(func: Func, functions: Mapping[str, Func]) -> Iterator[Op]:
    """The ops of a function and of those that it calls."""
    waiting, seen = [func], {func.name}
    while waiting:
        for op in walk_ops(waiting.pop()):
            yield op
            callee = functions.get(callee_of(op)) if op.name == "func.call" else None
            if callee is not None and callee.name not in seen:
                seen.add(callee.name)
                waiting.append(callee)


Local: TypeAlias = Callable[[Registers], None]
Jump: TypeAlias = Callable[[Registers], int]
Step: TypeAlias = Local | Issue | tuple[Jump]
"""A step: in registers alone, an op to issue, or a jump, which gives the position to go on at."""


class Code:
    """The steps of a function for a core of `kind`, the vector core `lane` of its cube. `issuers`: ops that have no
    meaning but are issued; `pipe_of` gives the pipe of an op from that of its row; `issued`: the ops that go to a pipe
    or order some; `mutates`: whether a handle may change while steps wait that hold it."""


    def __init__(
        self, func: Func, functions: Mapping[str, Func], target: Target, kind: str, issuers: frozenset[str],
        pipe_of: Callable[[Op, str], str], lane: int = 0,
    ) -> None:
        self.func = func
        self.kind = kind
        self._second = lane > 0
        self._skipped = self._left_to_the_first(func, target)
        self.target = target
        self.functions = functions
        self._issuers = issuers
        self._pipe_of = pipe_of
        self._storage = private_storage(func, target, None)
        self.machine = Machine(target, self._storage[1])
        self.registers: Registers = [None]
        self._cells: dict[int, int] = {}
        self.steps: list[Step] = []
        self._open_calls: list[str] = []
        self.arguments = [self._cell(a) for a in func.args]
        self.issued: list[Op] = []
        self.mutates = any(op.name in _MUTATING for op in reached(func, functions))
        if func.body is not None:
            self._block(func.body)

    def _left_to_the_first(self, func: Func, target: Target) -> frozenset[Op]:
        """What the first lane runs alone."""
        return first_lane_alone(func, target) if self._second else frozenset()

    def cell_count(self) -> int:
        return len(self.registers)

    def _cell(self, value: Value) -> int:
        found = self._cells.get(id(value))
        if found is None:
            found = self._cells[id(value)] = len(self.registers)
            self.registers.append(None)
        return found

    def _cells_of(self, values: Sequence[Value]) -> list[int]:
        return [self._cell(v) for v in values]

    def _temporary(self) -> int:
        self.registers.append(None)
        return len(self.registers) - 1

    def _block(self, block: Block) -> None:
        for op in block.ops:
            self._op(op)

    def _op(self, op: Op) -> None:
        name = op.name
        if op in self._skipped:
            return
        if name == "arith.constant":
            self.registers[self._cell(op.result)] = op.attrs["value"]
        elif name in ("scf.yield", "scf.condition", "func.return"):
            return
        elif name in _SECTIONS:
            if _SECTIONS[name] == self.kind:
                self._block(op.regions[0])
        elif name in ("scf.for", "scf.if", "scf.while", "func.call"):
            {"scf.for": self._for, "scf.if": self._if, "scf.while": self._while, "func.call": self._call}[name](op)
        elif name.startswith(("arith.", "math.")) or name == "builtin.unrealized_conversion_cast":
            self._pure(op)
        elif name in self._issuers:
            groups = tuple(op.args)
            self._issue(op, None, groups, [self._cells_of(op.args[g]) for g in groups])
        else:
            self._handled(op)

    def _handled(self, op: Op) -> None:
        meaning = MEANINGS.get(op.name)
        if meaning is None:
            self.steps.append(unmodelled(op))
            return
        cells: list[int | list[int]] = []
        for group in meaning.groups:
            values = op.args.get(group.rstrip("*"), ())
            cells.append(self._cells_of(values) if group.endswith("*") else self._cell(values[0]) if values else 0)
        row = TABLE.get(op.name)
        if row is not None and row.effect in _PURE_EFFECTS:
            self._local(op, meaning, cells)
        else:
            self._issue(op, meaning, meaning.groups, cells)

    def _site(self, op: Op) -> Site:
        site = Site(op, self.target, self.machine)
        site.private = self._storage[0].get(id(op))
        return site

    def _local(self, op: Op, meaning: Meaning, cells: list[int | list[int]]) -> None:
        site, gather, handler = self._site(op), gatherer(cells), meaning.handler
        out = self._cell(op.results[0]) if op.results else 0

        def run(env: Registers) -> None:
            try:
                result = handler(site, *gather(env))
            except SimError as error:
                error.at(op)
                raise
            if out:
                env[out] = result

        self.steps.append(run)

    def _issue(
        self, op: Op, meaning: Meaning | None, groups: tuple[str, ...], cells: Sequence[int | list[int]]
    ) -> None:
        row = TABLE.get(op.name)
        phases = row.phases(op, self.target.name) if row is not None else ()
        if len(phases) == 1:
            phases = (Phase(self._pipe_of(op, phases[0].pipe), phases[0].reads, phases[0].writes),)
        tmp, dst = op.opt("tmp"), op.opt("dst")
        scratch: tuple[tuple[int, int], ...] = ()
        if tmp is not None and dst is not None and isinstance(tmp.type, TileBufType):
            scratch = ((self._cell(tmp), self._cell(dst)),)
        out = self._cell(op.results[0]) if op.results else 0
        self.issued.append(op)
        self.steps.append(Issue(op, self._site(op), meaning, phases, gatherer(list(cells)), groups, out, scratch))

    def _pure(self, op: Op) -> None:
        try:
            function = pure(op)
        except SimError:
            self.steps.append(unmodelled(op))
            return
        self.steps.append(computed(op, function, self._cells_of(list(op.operands())), self._cell(op.result)))

    def _jump(self, jump: Jump) -> int:
        """Append a jump; its position."""
        self.steps.append((jump,))
        return len(self.steps) - 1

    def _move(self, source: list[int], to: list[int]) -> None:
        """Copy registers, all at once."""
        if source and source != to:

            def run(env: Registers) -> None:
                for cell, value in zip(to, [env[c] for c in source], strict=True):
                    env[cell] = value

            self.steps.append(run)

    def _for(self, op: Op) -> None:
        block = op.regions[0]
        variable, carried = self._cell(block.args[0]), self._cells_of(block.args[1:])
        lower, upper, stride = (self._cell(op.arg(g)) for g in ("lower", "upper", "step"))
        state = self._temporary()

        def enter(env: Registers) -> None:
            if env[stride] <= 0:
                error = ShapeError(f"a loop with step {env[stride]}")
                error.at(op)
                raise error
            env[state] = iter(range(env[lower], env[upper], env[stride]))

        self.steps.append(enter)
        self._move(self._cells_of(op.args.get("init", ())), carried)
        after: list[int] = []

        def turn(env: Registers) -> int:
            value = next(env[state], None)
            if value is None:
                return after[0]
            env[variable] = value
            return head + 1

        head = self._jump(turn)
        self._block(block)
        self._move(self._cells_of(terminator(block, "scf.yield", "values")), carried)
        self._jump(lambda env: head)
        after.append(len(self.steps))
        self._move(carried, self._cells_of(op.results))

    def _if(self, op: Op) -> None:
        condition, results = self._cell(op.arg("cond")), self._cells_of(op.results)
        places: list[int] = []
        head = self._jump(lambda env: head + 1 if env[condition] else places[0])
        self._arm(op.regions[0], results)
        self._jump(lambda env: places[1])
        places.append(len(self.steps))
        if len(op.regions) > 1:
            self._arm(op.regions[1], results)
        places.append(len(self.steps))

    def _arm(self, block: Block, results: list[int]) -> None:
        self._block(block)
        self._move(self._cells_of(terminator(block, "scf.yield", "values")), results)

    def _while(self, op: Op) -> None:
        before, after = op.regions
        condition = self._cells_of(terminator(before, "scf.condition", "cond"))[0]
        handed = self._cells_of(terminator(before, "scf.condition", "values"))
        tested = self._cells_of(before.args)
        self._move(self._cells_of(op.args.get("init", ())), tested)
        head, end = len(self.steps), list[int]()
        self._block(before)
        test = self._jump(lambda env: test + 1 if env[condition] else end[0])
        self._move(handed, self._cells_of(after.args))
        self._block(after)
        self._move(self._cells_of(terminator(after, "scf.yield", "values")), tested)
        self._jump(lambda env: head)
        end.append(len(self.steps))
        self._move(handed, self._cells_of(op.results))

    def _call(self, op: Op) -> None:
        name = callee_of(op)
        callee = self.functions.get(name)
        if callee is not None and callee.kernel_kind not in ("", self.kind):
            return
        if callee is None or callee.body is None or name in self._open_calls:
            self.steps.append(unmodelled(op))
            return
        if len(self._open_calls) > 100:
            raise InputError(f"calls nest deeper than 100 at {name}")
        self._open_calls.append(name)
        self._skipped |= self._left_to_the_first(callee, self.target)
        self._move(self._cells_of(op.args.get("operands", ())), self._cells_of(callee.args))
        self._block(callee.body)
        self._move(self._cells_of(terminator(callee.body, "func.return", "values")), self._cells_of(op.results))
        self._open_calls.pop()
