"""Which functions run together, on which cores, and with what arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from pypto_verified.errors import InputError
from pypto_verified.layouts import Space
from pypto_verified.pto.module import EnumAttr, Func, Module, Op, Symbol, Value
from pypto_verified.pto.partners import has_partner
from pypto_verified.pto.types import PtrType, ScalarType, TileBufType
from pypto_verified.pto.walk import walk_ops
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import Place, UnmodelledError
from pypto_verified.simulator.program import Registers
from pypto_verified.simulator.run import LAUNCH_ARGUMENTS, Given
from pypto_verified.simulator.schedule.code import Code, callee_of, reached
from pypto_verified.simulator.schedule.ends import TO_CUBE, TO_VECTOR, buffer_names
from pypto_verified.simulator.schedule.issuers import ISSUERS
from pypto_verified.simulator.schedule.lowered import INITS
from pypto_verified.simulator.tile import Buffer, Pointer
from pypto_verified.simulator.values import Array, Scalar, storage
from pypto_verified.targets import Target
from pypto_verified.targets.events import FOREIGN_PIPES, pipe_of

_CUBE_SPACES = (Space.MAT, Space.LEFT, Space.RIGHT, Space.ACC, Space.BIAS, Space.SCALING)
_SUFFIXES = (("_aic", "_aiv"), ("_cube", "_vector"), ("_cube", "_vec"))
_RING_GROUPS = ("gm_slot_buffer", "gm_addr")
"""Operands that are nothing but the slots of a pipe."""
_FURTHER = "pto.addptr"
_CUBE_OPS = frozenset({
    "pto.aic_initialize_pipe", "pto.tpush_to_aiv", "pto.tpop_from_aiv", "pto.tfree_from_aiv",
})
RING_BYTES = 1 << 20
"""What a ring in global memory has that the caller does not give."""


@dataclass(frozen=True, slots=True)
class Group:
    """A kernel: the function of its cube, that of its vector cores, or one function with sections for both."""

    name: str
    cube: Func | None
    vector: Func | None

    @property
    def functions(self) -> tuple[Func, ...]:
        return tuple(dict.fromkeys(f for f in (self.cube, self.vector) if f is not None))

    @property
    def mixed(self) -> bool:
        return self.cube is not None and self.vector is not None


def kind_of(func: Func, functions: Mapping[str, Func]) -> str:
    """'cube', 'vector', or 'both' for a function with sections, or calls to functions, of both kinds; by what it does
    where it does not say."""
    if func.kernel_kind:
        return func.kernel_kind
    ops = list(reached(func, functions))
    parts = {op.name.removeprefix("pto.section.") for op in ops if op.name.startswith("pto.section.")}
    callees = [functions.get(callee_of(op)) for op in ops if op.name == "func.call"]
    parts |= {callee.kernel_kind for callee in callees if callee is not None}
    if {"cube", "vector"} <= parts:
        return "both"
    if parts & {"cube", "vector"}:
        return "cube" if "cube" in parts else "vector"
    spaces = {v.type.loc for op in ops for v in (*op.operands(), *op.results) if isinstance(v.type, TileBufType)}
    pipes = {pipe_of(a.member) for op in ops for a in op.attrs.values() if isinstance(a, EnumAttr)}
    of_cube = spaces.intersection(_CUBE_SPACES) or pipes & FOREIGN_PIPES["vector"] or any(
        op.name in _CUBE_OPS for op in ops)
    return "cube" if of_cube else "vector"


def groups(module: Module, everything: bool = False) -> list[Group]:
    """The kernels of a module: functions that import each other's buffers, or share a name but for the core's, run
    together, and so do the only two that have pipes, or flags or barriers with the other kind of cores. Functions that
    others call are no kernels, unless `everything` is asked for."""
    known = {f.name: f for f in module.funcs if f.body is not None}
    called = {callee_of(op) for f in module.funcs for op in walk_ops(f) if op.name == "func.call"}
    funcs = {name: f for name, f in known.items() if everything or name not in called}
    kinds = {name: kind_of(f, known) for name, f in funcs.items()}
    partner = _partners(funcs)
    found: list[Group] = []
    done: set[str] = set()
    for name, func in funcs.items():
        if name in done:
            continue
        done.add(name)
        kind, other = kinds[name], funcs.get(partner.get(name, ""))
        if kind == "both":
            found.append(Group(name, func, func))
        elif other is not None and {kind, kinds[other.name]} == {"cube", "vector"}:
            done.add(other.name)
            pair = (func, other) if kind == "cube" else (other, func)
            found.append(Group(name, *pair))
        else:
            found.append(Group(name, func if kind == "cube" else None, func if kind == "vector" else None))
    return found


def _partners(funcs: Mapping[str, Func]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, func in funcs.items():
        for op in walk_ops(func):
            peer = op.attrs.get("peer_func")
            if isinstance(peer, Symbol) and peer.name in funcs:
                found[name], found[peer.name] = peer.name, name
    for name in funcs:
        for cube, vector in _SUFFIXES:
            other = name.removesuffix(cube) + vector
            if name.endswith(cube) and other in funcs and name not in found:
                found[name], found[other] = other, name
    for joins in (_has_pipe, has_partner):
        ends = [name for name, f in funcs.items() if name not in found and joins(f)]
        if len(ends) == 2:
            found[ends[0]], found[ends[1]] = ends[1], ends[0]
    return found


def _has_pipe(func: Func) -> bool:
    return any(op.name in INITS for op in walk_ops(func))


def chosen(module: Module, function: str) -> Group:
    """The kernel that has a function of that name, be it called by another one, or the only one. InputError when there
    is none, or several."""
    found = groups(module)
    if function:
        everything = found + groups(module, everything=True)
        found = [g for g in everything if function in (f.name for f in g.functions) or g.name == function][:1]
    if len(found) != 1:
        names = ", ".join(g.name for g in groups(module)) or "none"
        raise InputError(f"which kernel? this module has: {names}", help="name one of its functions")
    return found[0]


def make_code(
    group: Group, functions: Mapping[str, Func], target: Target, blocks: int, lanes: int,
    pipe_of: Callable[[Op, str], str],
) -> list[tuple[Code, int, int]]:
    """(code, block, lane) of each core, in the order of cores."""
    issuers = frozenset(ISSUERS)
    found: list[tuple[Code, int, int]] = []
    for block in range(blocks):
        if group.cube is not None:
            found.append((Code(group.cube, functions, target, "cube", issuers, pipe_of), block, 0))
        if group.vector is not None:
            found += [(Code(group.vector, functions, target, "vector", issuers, pipe_of, lane), block, lane)
                      for lane in range(lanes)]
    return found


def rings(func: Func) -> set[str]:
    """Arguments that hold nothing but the slots of pipes, or nothing that this function looks at."""
    only = {value.name for value in func.args}
    came = _arguments_behind(func)
    for op in walk_ops(func):
        for group, values in op.args.items():
            if group not in _RING_GROUPS and op.name != _FURTHER:
                only.difference_update(came[value].name for value in values if value in came)
    return only


def _arguments_behind(func: Func) -> dict[Value, Value]:
    """The argument that each pointer is, or leads further into."""
    came = {value: value for value in func.args}
    for op in walk_ops(func):
        if op.name == _FURTHER and op.arg("ptr") in came:
            came[op.result] = came[op.arg("ptr")]
    return came


def own_rings(func: Func) -> dict[str, object]:
    """The arguments of `rings`, and what ties each to that of the other function: the first pipe that it is given to,
    by what ties the pipe's ends."""
    ties: dict[str, object] = {}
    came = _arguments_behind(func)
    for op in walk_ops(func):
        ring = op.opt("gm_slot_buffer") or op.opt("gm_addr")
        if ring is not None and ring in came:
            mask = op.attrs.get("dir_mask")
            directions = [d for d in (TO_VECTOR, TO_CUBE) if isinstance(mask, int) and mask & d]
            named = buffer_names(walk_ops(func), op)
            ties.setdefault(came[ring].name, tuple(named[d] for d in directions))
    return {name: ties.get(name, name) for name in rings(func)}


class Memory:
    """The tensors of a launch, by the names that the caller gives arguments (see `launched`): shared by all its cores;
    a ring that the caller gives no contents for is a cluster's own (`own`, see `own_rings`, by function)."""

    def __init__(
        self, inputs: Given[Array], names: Mapping[str, Mapping[str, str]], own: Mapping[str, Mapping[str, object]]
    ) -> None:
        self._names = names
        self._rings = own
        self._given: dict[object, Array] = dict(inputs.items())
        self._own: dict[tuple[object, int], Buffer] = {}
        self._shared: dict[str, Buffer] = {}
        self.arrays: dict[str, Array] = {}

    def buffer(self, func: Func, position: int, block: int) -> Buffer:
        """The tensor behind an argument. InputError when nothing is given for it."""
        argument = func.args[position].name
        name = self.name(func, argument)
        if argument in self._rings[func.name] and name not in self._given:
            key = (self._rings[func.name][argument], block)
            if key not in self._own:
                self._own[key] = Buffer(f"{name} of block {block}", np.zeros(RING_BYTES, np.uint8))
            return self._own[key]
        found = self._shared.get(name)
        if found is None:
            array = self._given.get(name, self._given.get(position))
            if array is None:
                raise InputError(f"no value for argument {position}, %{name}", help="give it by name or by position")
            self.arrays[name] = array
            content: Array = np.ascontiguousarray(array).reshape(-1).view(np.uint8).copy()
            found = self._shared[name] = Buffer(name, content)
        return found

    def name(self, func: Func, argument: str) -> str:
        """What the caller calls an argument."""
        return self._names.get(func.name, {}).get(argument, argument)

    def written(self) -> frozenset[str]:
        """The tensors that have been written to."""
        return frozenset(name for name, buffer in self._shared.items() if buffer.written)

    def buffers(self) -> Iterable[Buffer]:
        return (*self._shared.values(), *self._own.values())

    def outputs(self) -> dict[str, Array]:
        """The tensors as they are now."""
        return {name: self._shared[name].data.copy().view(a.dtype).reshape(a.shape) for name, a in self.arrays.items()}


def bind(
    code: Code, memory: Memory, scalars: Given[Scalar], block: tuple[int, int], lane: int
) -> Registers:
    """The registers of a core before its first op. InputError for an argument without a value."""
    env = code.registers.copy()
    known: dict[object, Scalar] = dict(scalars.items())
    for position, (value, cell) in enumerate(zip(code.func.args, code.arguments, strict=True)):
        if value.name in LAUNCH_ARGUMENTS:
            env[cell] = (*block, lane)[LAUNCH_ARGUMENTS[value.name]]
        elif isinstance(value.type, ScalarType):
            name = memory.name(code.func, value.name)
            if name not in known and position not in known:
                raise InputError(f"no value for argument {position}, %{value.name}",
                                 help="give it by name or by position")
            env[cell] = known[name] if name in known else known[position]
        elif isinstance(value.type, PtrType):
            buffer = memory.buffer(code.func, position, block[0])
            env[cell] = Pointer(buffer, 0, storage(value.type.dtype))
        else:
            raise UnmodelledError(f"an argument of type {type(value.type).__name__}", Place(value.name))
    return env
