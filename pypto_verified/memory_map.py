"""The memory map of a module: from its access programs to the plain data that the report draws."""

from __future__ import annotations

from pypto_verified.errors import NotModelled
from pypto_verified.layouts import Space
from pypto_verified.pto.module import Module, Op
from pypto_verified.pto.types import MultiTileBufType, TileBufType
from pypto_verified.records import dataclass
from pypto_verified.report.memory_map import Buffer, KernelMap, SpaceMap
from pypto_verified.targets import Target
from verifiers.access import AccessProgram, Branch, Loop, Node, Root, Sequence, Step, build_program
from verifiers.liveness import flow_of

_ORDER = (Space.VEC, Space.MAT, Space.LEFT, Space.RIGHT, Space.ACC, Space.BIAS, Space.SCALING)


def memory_maps(module: Module, target: Target) -> list[KernelMap]:
    """One map for each function with a body, modules within the module included. A function that can't be followed
    has a map without spaces that says why."""
    return [
        _kernel_map(unit, index, target)
        for unit in module.units() for index, func in enumerate(unit.funcs) if func.body is not None]


def _kernel_map(unit: Module, index: int, target: Target) -> KernelMap:
    func = unit.funcs[index]
    try:
        program = build_program(func, unit.file, target.name)
    except NotModelled as error:
        return KernelMap(func.name, target.name, 0, (), (error.what,))
    lives = _lifetimes(program)
    usable = {memory.space: memory.usable for memory in target.memories}
    spaces: list[SpaceMap] = []
    for space in _ORDER:
        found = [_buffer(root, life, program) for root, life in lives.items() if root.space is space]
        found += [
            Buffer(r.name, "reserved ring", "placed by the assembler", r.base, r.bytes, 1, 0, len(program.steps) - 1,
                   r.op.line, _last_line(program))
            for r in program.reserved if r.space is space]
        if found:
            found.sort(key=lambda b: (b.address is None, b.address or 0, b.first, b.name))
            spaces.append(SpaceMap(space.value, usable.get(space, 0), tuple(found)))
    gaps = tuple(dict.fromkeys(text for _, text in program.gaps))
    return KernelMap(func.name, target.name, len(program.steps), tuple(spaces), gaps)


@dataclass(slots=True)
class _Life:
    """Steps between which a buffer is alive; nothing touched it yet while `last` < `first`."""

    first: int
    last: int = -1

    def cover(self, first: int, last: int) -> None:
        self.first, self.last = (min(self.first, first), max(self.last, last)) if self.last >= 0 else (first, last)


def _lifetimes(program: AccessProgram) -> dict[Root, _Life]:
    """From the first touch to the last one. What is made outside a loop and used in it lives through the whole loop:
    its value may come around the back edge. What stands for bytes that another handle has written lives from there."""
    spans = _loop_spans(program.body)
    lives: dict[Root, _Life] = {}
    homes: dict[Root, tuple[Loop, ...]] = {}
    for defined in program.defined:
        root = defined.tile.root
        lives.setdefault(root, _Life(defined.position))
        homes.setdefault(root, defined.loops)
    for step in program.steps:
        for tile in (*step.reads(), *step.writes()):
            life = lives.setdefault(tile.root, _Life(step.index))
            life.cover(step.index, step.index)
            outside = step.loops[len(homes.get(tile.root, step.loops)):]
            if outside:
                life.cover(*spans[id(outside[0])])
    for read in flow_of(program).reads.values():
        for write in read.lent:
            if write.step.index < read.step.index:
                lives[read.tile.root].cover(write.step.index, read.step.index)
    return lives


def _loop_spans(body: Sequence) -> dict[int, tuple[int, int]]:
    """First and last step of every loop that has some, by the loop's identity."""
    found: dict[int, tuple[int, int]] = {}

    def visit(node: Node) -> list[int]:
        if isinstance(node, Step):
            return [node.index]
        if isinstance(node, Branch):
            return visit(node.then) + visit(node.orelse)
        inside = [i for item in (node.body if isinstance(node, Loop) else node).items for i in visit(item)]
        if isinstance(node, Loop) and inside:
            found[id(node)] = (min(inside), max(inside))
        return [min(inside), max(inside)] if inside else []

    visit(body)
    return found


def _buffer(root: Root, life: _Life, program: AccessProgram) -> Buffer:
    address = root.address.value if root.address is not None else None
    where = "placed by the assembler" if root.address is None else f"{root.address}"
    if root.kind == "pop":
        where = "a slot of a ring"
    steps = program.steps
    used = life.last >= life.first
    return Buffer(
        root.name, _type_text(root.op), where, address, root.bytes, root.slots, life.first, life.last,
        steps[life.first].op.line if used else root.op.line, steps[life.last].op.line if used else root.op.line)


def _last_line(program: AccessProgram) -> int:
    return program.steps[-1].op.line if program.steps else 0


def _type_text(op: Op) -> str:
    """Physical shape and element type of the tile that an op makes."""
    type_ = op.results[0].type if op.results else None
    if isinstance(type_, MultiTileBufType):
        type_ = type_.slot
    return f"{type_.rows}x{type_.cols} {type_.dtype.pto}" if isinstance(type_, TileBufType) else ""
