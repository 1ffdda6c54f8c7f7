"""A function compiled once into closures over a register file: running it costs little more than its numpy calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

from pypto_verified.layouts import Space
from pypto_verified.pto.module import Block, EnumAttr, Func, Op, Value
from pypto_verified.pto.types import MultiTileBufType, TileBufType
from pypto_verified.simulator.errors import GlobalBoundsError, ShapeError, SimError, StepLimitError, UnmodelledError
from pypto_verified.simulator.layout import ceil_to
from pypto_verified.simulator.machine import Machine
from pypto_verified.simulator.meanings import MEANINGS
from pypto_verified.simulator.registry import Meaning, Site
from pypto_verified.simulator.scalars import Pure, pure
from pypto_verified.simulator.tile import Buffer, Tile
from pypto_verified.targets import Target

Registers: TypeAlias = list[Any]
"""One cell an SSA value: numbers, tiles, tensors, pointers."""
Step: TypeAlias = Callable[[Registers], None]
Watch: TypeAlias = Callable[[Op, list[Tile]], None]
"""Called after an op with the tiles that it wrote or made."""

ORDERING = frozenset({
    "pto.set_flag", "pto.wait_flag", "pto.set_flag_dyn", "pto.wait_flag_dyn", "pto.record_event", "pto.wait_event",
    "pto.barrier", "pto.barrier_sync", "pto.get_buf", "pto.rls_buf", "pto.get_buf_dyn", "pto.rls_buf_dyn",
    "pto.fence.barrier_all", "pto.cmo.cacheinvalid", "pto.set_ffts", "pto.tsync",
})
"""Ops that only order others: in program order they have nothing to do."""


class Cells(dict[Value, int]):
    """The register of each SSA value; a value that is asked for the first time gets the next one."""

    def __init__(self, registers: Registers) -> None:
        super().__init__()
        self._registers = registers

    def __missing__(self, value: Value) -> int:
        self[value] = cell = len(self._registers)
        self._registers.append(None)
        return cell


class Program:
    """A compiled function. `registers` holds constants; `arguments` are the cells of the function's arguments."""

    def __init__(
        self, func: Func, target: Target, private: frozenset[str] | None, declared: bool, lone: bool,
        watch: Watch | None = None,
    ) -> None:
        """`private`: names of the allocations that get storage of their own; None: those without an address."""
        self.func = func
        self.target = target
        self.watch = watch
        self.buffers: dict[str, Buffer] = {}
        self._storage = private_storage(func, target, private)
        self.machine = Machine(target, self._storage[1], declared, lone)
        self.registers: Registers = [None]
        self._cells = Cells(self.registers)
        self._called: dict[str, Step | None] = {}
        self.arguments = self._cells_of(func.args)
        self.steps = self._block(func.body) if func.body is not None else []

    def _cells_of(self, values: Sequence[Value]) -> list[int]:
        return [*map(self._cells.__getitem__, values)]

    def _block(self, block: Block) -> list[Step]:
        return [step for step in map(self._step, block.ops) if step is not None]

    def _step(self, op: Op) -> Step | None:
        if op.name == "arith.constant":
            self.registers[self._cells[op.result]] = op.attrs["value"]
            return None
        known = MEANINGS.get(op.name)
        if known is not None and op.name not in ORDERING:
            return self._handled(op, known)
        if op.name in ("scf.yield", "scf.condition", "func.return", "pto.yield") or op.name in ORDERING:
            return None
        if op.name in ("scf.for", "scf.if", "scf.while"):
            return {"scf.for": self._for, "scf.if": self._if, "scf.while": self._while}[op.name](op)
        if op.name == "func.call":
            return self._call(op)
        if op.name.startswith("pto.section."):
            return self._body(op.regions[0])
        if op.name == "pto.fusion_region":
            return self._fusion(op)
        if op.name.startswith(("arith.", "math.")) or op.name == "builtin.unrealized_conversion_cast":
            return self._pure(op)
        return unmodelled(op)

    def _pure(self, op: Op) -> Step:
        try:
            function = pure(op)
        except UnmodelledError:
            return unmodelled(op)
        return computed(op, function, self._cells_of(list(op.operands())), self._cells[op.result])

    def _handled(self, op: Op, meaning: Meaning) -> Step:
        site = Site(op, self.target, self.machine)
        site.private = self._storage[0].get(id(op))
        handler, machine = meaning.handler, self.machine
        cells: list[int | list[int]] = []
        for group, variadic in meaning.taken:
            values = op.args.get(group, ())
            cells.append(self._cells_of(values) if variadic else self._cells[values[0]] if values else 0)
        out = self._cells[op.results[0]] if op.results else 0
        others = self._cells_of(op.results[1:])
        gather = gatherer(cells)

        scratch = self._scratch(op)
        landing = self._cells[op.arg("dst")] if op.name == "pto.tload" else None

        def step(env: Registers) -> None:
            try:
                result = handler(site, *gather(env))
                if others:
                    for cell, part in zip((out, *others), result, strict=True):
                        env[cell] = part
                elif out:
                    env[out] = result
                for tmp, dst in scratch:
                    if env[tmp].shares(env[dst]):
                        env[dst].clobber()
            except GlobalBoundsError as error:
                error.at(op)
                if not machine.replaying or out:
                    raise
                machine.errors.append(error)
                if landing is not None:
                    env[landing].writes(env[landing].rows, env[landing].cols).mark()
            except SimError as error:
                error.at(op)
                raise
            finally:
                if machine.watched:
                    machine.settle(op)

        return step if self.watch is None else self._observed(op, step, self.watch)

    def _observed(self, op: Op, step: Step, watch: Watch) -> Step:
        made = self._cells_of([*op.args.get("dst", ()), *op.args.get("dsts", ()), *op.results])

        def run(env: Registers) -> None:
            step(env)
            watch(op, [env[c] for c in made if isinstance(env[c], Tile)])

        return run

    def _scratch(self, op: Op) -> list[tuple[int, int]]:
        """(scratch, destination) tiles of an op: where both share bytes the result is whatever came last."""
        if "tmp" not in op.args:
            return []
        tmp, dst = op.opt("tmp"), op.opt("dst")
        tiles = tmp is not None and dst is not None and isinstance(tmp.type, TileBufType)
        return [(self._cells[tmp], self._cells[dst])] if tiles and tmp is not None and dst is not None else []

    def _body(self, block: Block) -> Step:
        """Runs a block; each run counts against the step budget."""
        steps = self._block(block)
        cost, machine = max(1, len(steps)), self.machine

        def run(env: Registers) -> None:
            machine.budget -= cost
            if machine.budget < 0:
                raise StepLimitError("the step limit is reached", help="raise max_steps, or check the loop's bounds")
            for step in steps:
                step(env)

        return run

    def _call(self, op: Op) -> Step:
        """The callee is compiled once: it does not call itself, so its registers are free at each call."""
        name = str(op.attrs["callee"]).lstrip("@")
        callee = self.func.callee(name)
        if callee is None or callee.body is None or (name in self._called and self._called[name] is None):
            return unmodelled(op, f"{op.name} of {name}, which {'is not here' if callee is None else 'calls itself'}")
        if name not in self._called:
            self._called[name] = None
            self._called[name] = self._body(callee.body)
        body = self._called[name]
        given, taken = self._cells_of(op.args.get("operands", ())), self._cells_of(callee.args)
        returned, results = self._cells_of(terminator(callee.body, "func.return", "values")), self._cells_of(op.results)

        def run(env: Registers) -> None:
            for cell, value in zip(taken, [env[c] for c in given], strict=True):
                env[cell] = value
            if body is not None:
                body(env)
            for cell, value in zip(results, [env[c] for c in returned], strict=True):
                env[cell] = value

        return run

    def _fusion(self, op: Op) -> Step:
        body, results = self._body(op.regions[0]), self._cells_of(op.results)
        escaping = self._cells_of(terminator(op.regions[0], "pto.yield", "values"))

        def run(env: Registers) -> None:
            body(env)
            for cell, source in zip(results, escaping, strict=True):
                env[cell] = env[source]

        return run

    def _for(self, op: Op) -> Step:
        block = op.regions[0]
        variable, carried = self._cells[block.args[0]], self._cells_of(block.args[1:])
        lower, upper, stride = (self._cells[op.arg(g)] for g in ("lower", "upper", "step"))
        initial, results = self._cells_of(op.args.get("init", ())), self._cells_of(op.results)
        body = self._body(block)
        yields = self._cells_of(terminator(block, "scf.yield", "values"))

        def run(env: Registers) -> None:
            if env[stride] <= 0:
                error = ShapeError(f"a loop with step {env[stride]}")
                error.at(op)
                raise error
            values = [env[c] for c in initial]
            for i in range(env[lower], env[upper], env[stride]):
                env[variable] = i
                for cell, value in zip(carried, values, strict=True):
                    env[cell] = value
                body(env)
                values = [env[c] for c in yields]
            for cell, value in zip(results, values, strict=True):
                env[cell] = value

        return run

    def _if(self, op: Op) -> Step:
        condition, results = self._cells[op.arg("cond")], self._cells_of(op.results)
        arms = [(self._body(b), self._cells_of(terminator(b, "scf.yield", "values"))) for b in op.regions]

        def run(env: Registers) -> None:
            chosen = 0 if env[condition] else 1
            if chosen < len(arms):
                body, yields = arms[chosen]
                body(env)
                for cell, value in zip(results, [env[c] for c in yields], strict=True):
                    env[cell] = value

        return run

    def _while(self, op: Op) -> Step:
        before, after = op.regions
        initial, results = self._cells_of(op.args.get("init", ())), self._cells_of(op.results)
        tested, arguments = self._cells_of(before.args), self._cells_of(after.args)
        test, body = self._body(before), self._body(after)
        condition = self._cells_of(terminator(before, "scf.condition", "cond"))[0]
        handed = self._cells_of(terminator(before, "scf.condition", "values"))
        yields = self._cells_of(terminator(after, "scf.yield", "values"))

        def run(env: Registers) -> None:
            values = [env[c] for c in initial]
            while True:
                for cell, value in zip(tested, values, strict=True):
                    env[cell] = value
                test(env)
                values = [env[c] for c in handed]
                if not env[condition]:
                    break
                for cell, value in zip(arguments, values, strict=True):
                    env[cell] = value
                body(env)
                values = [env[c] for c in yields]
            for cell, value in zip(results, values, strict=True):
                env[cell] = value

        return run


def computed(op: Op, function: Pure, cells: list[int], out: int) -> Step:
    """The step of an op that makes one number of others."""
    a = cells[0]
    b = cells[1] if len(cells) > 1 else 0

    def two(env: Registers) -> None:
        try:
            env[out] = function(env[a], env[b])
        except SimError as error:
            error.at(op)
            raise

    def other(env: Registers) -> None:
        env[out] = function(*(env[c] for c in cells))

    return two if len(cells) == 2 else other


def gatherer(cells: list[int | list[int]]) -> Callable[[Registers], Sequence[Any]]:
    """The operands of an op out of the registers; a list of cells gives a tuple."""
    single = [c for c in cells if isinstance(c, int)]
    if len(single) < len(cells):
        return lambda env: [env[c] if isinstance(c, int) else tuple(map(env.__getitem__, c)) for c in cells]
    if len(single) > 1:
        return itemgetter(*single)
    return lambda env: [env[c] for c in single]


def terminator(block: Block, name: str, group: str) -> tuple[Value, ...]:
    last = block.ops[-1] if block.ops else None
    return last.args.get(group, ()) if last is not None and last.name == name else ()


def unmodelled(op: Op, what: str = "") -> Step:
    def step(env: Registers) -> None:
        error = UnmodelledError(what or op.name)
        error.at(op)
        raise error

    return step


def walk(block: Block) -> list[Op]:
    """All ops of a block, those of its regions included, an op before those."""
    found: list[Op] = []
    for op in block.ops:
        found.append(op)
        for region in op.regions:
            found += walk(region)
    return found


def _reached(func: Func) -> list[Op]:
    """All ops of a function and of those that it calls."""
    found: list[Op] = []
    names, waiting = {func.name}, [func]
    while waiting:
        current = waiting.pop()
        ops = walk(current.body) if current.body is not None else []
        found += ops
        for op in ops:
            callee = func.callee(str(op.attrs["callee"]).lstrip("@")) if op.name == "func.call" else None
            if callee is not None and callee.name not in names:
                names.add(callee.name)
                waiting.append(callee)
    return found


def private_storage(
    func: Func, target: Target, private: frozenset[str] | None
) -> tuple[dict[int, int], dict[Space, int]]:
    """Addresses behind the planned ones for allocations without an address, or named in `private`; bytes needed."""
    addresses: dict[int, int] = {}
    needed: dict[Space, int] = {}
    for op in _reached(func):
        found = _allocated(op) if op.name in _ALLOCATING else None
        if found is None or (found[2] and (private is None or op.result.name not in private)):
            continue
        space, size, _ = found
        used = needed.get(space, 0)
        addresses[id(op)] = target.capacity(space) + used
        needed[space] = used + ceil_to(size, 512)
    return addresses, needed


_ALLOCATING = frozenset({"pto.reserve_buffer", "pto.alloc_tile", "pto.alloc_multi_tile"})


def _allocated(op: Op) -> tuple[Space, int, bool] | None:
    """(space, bytes, whether it has an address) of an allocation; None for any other op."""
    if op.name == "pto.reserve_buffer":
        space, size = op.attrs.get("location"), op.attrs.get("size")
        if isinstance(space, EnumAttr) and isinstance(size, int):
            return Space(space.member), size, "base" in op.attrs
        return None
    type_ = op.result.type
    slot = type_.slot if isinstance(type_, MultiTileBufType) else type_
    if not isinstance(slot, TileBufType):
        return None
    count = type_.count if isinstance(type_, MultiTileBufType) else 1
    return slot.loc, slot.bytes * count, op.opt("addr") is not None
