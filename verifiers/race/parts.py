"""The cores of one kernel: a cube and its vector cores, in sections of one function or in functions of their own."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from pypto_verified.errors import NotModelled
from pypto_verified.pto.lanes import first_lane_alone
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.pto.module import Func, Module, Symbol
from pypto_verified.pto.partners import has_partner
from pypto_verified.pto.walk import walk_ops
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from verifiers.access import AccessProgram, build_program
from verifiers.flags import cores_of, sections_of
from verifiers.pipes import facts_of, shared_names
from verifiers.race.choices import deciding
from verifiers.race.members import ON_ALL_CORES
from verifiers.sites import Context

KINDS = ("cube", "vector")
TRANSFERS = frozenset({
    "pto.tpush_to_aiv", "pto.tpop_from_aiv", "pto.tfree_from_aiv", "pto.talloc_to_aiv",
})
"""By which a cube deals with its vector cores, through pipes."""
_SUFFIXES = (("_aic", "_aiv"), ("_cube", "_vector"), ("_cube", "_vec"))
"""Names of the two functions of one kernel (PyPTO)."""


@dataclass(frozen=True, slots=True)
class Part:
    """A core of a kernel: the ops of `program` that are not `foreign`. `first`: those that only the first lane of a
    vector core runs, or by which a cube deals with the first lane alone; `pipes`: numbers of pipes with what the cube
    calls them, where that is something else."""

    kind: str
    program: AccessProgram
    foreign: frozenset[Hashable]
    first: frozenset[Hashable] = frozenset()
    pipes: tuple[tuple[int, int], ...] = ()

    def foreign_to(self, lane: int) -> frozenset[Hashable]:
        """What has no part in a lane, and in what the cube does with it."""
        return self.foreign | self.first if lane else self.foreign

    def pipe_names(self) -> Mapping[int, int]:
        """What both cores call the pipes, by the number that this one has for them."""
        return dict(self.pipes)


def parts_of(context: Context) -> list[Part]:
    """The cores that run together with this function; none if it runs alone."""
    own = context.program
    if set(KINDS) <= sections_of(own).keys():
        return _with_pipes([_part(kind, own, frozenset(foreign), context.target)
                            for kind, foreign in cores_of(own).items() if kind in KINDS], context)
    peer = _peer(own.func, context.module)
    if peer is None or own.func.kernel_kind not in KINDS:
        return []
    other = _program(peer, own, context.target.name)
    if other is None:
        return []
    found = [_part(f.kernel_kind, p, frozenset(), context.target) for f, p in ((own.func, own), (peer, other))]
    return _with_pipes(sorted(found, key=lambda p: p.kind), context)


def _with_pipes(parts: list[Part], context: Context) -> list[Part]:
    """The ends of a pipe are those that share a buffer, by whatever number (PTOAS, lowering of frontend pipes)."""
    if context.module is None or {p.kind for p in parts} != set(KINDS):
        return parts
    facts = facts_of(id(context.module), tuple(context.module.funcs), context.target.name)
    cube, vector = sorted(parts, key=lambda p: p.kind)
    ends = {op: facts.buffer_names(op) for p in (cube, vector) for own in facts.funcs[p.program.func].inits.values()
            for op in own}
    there = [(pipe_id(op), names) for op, names in ends.items() if op.name == "pto.aic_initialize_pipe"]
    pipes: dict[int, int] = {}
    for op, names in ends.items():
        if op.name == "pto.aiv_initialize_pipe" and names:
            own = pipe_id(op)
            pipes[own] = next((n for n, others in there if names & others), -1 - own)
    return [cube, replace(vector, pipes=tuple(p for p in pipes.items() if p[0] != p[1]))]


def shared_by(parts: Sequence[Part], target: Target) -> frozenset[str]:
    """Names that stand for the same on both cores."""
    a, b = (p.program for p in parts)
    if a is b:
        return frozenset(n for n, kind in a.symbols.kinds.items() if kind in ON_ALL_CORES)
    return shared_names(a, b, target)


def _part(kind: str, program: AccessProgram, foreign: frozenset[Hashable], target: Target) -> Part:
    """On a5 a tile that crosses whole is one of the first lane (PTO-ISA npu/a5 TPush.hpp, setIntraBlockBySplit)."""
    if kind == "vector":
        return Part(kind, program, foreign, first_lane_alone(program.func, target))
    whole = {op for op in walk_ops(program.func) if op.name in TRANSFERS and not op.attrs.get("split")}
    return Part(kind, program, foreign, frozenset(whole if target.on_chip_pipe else ()))


def deciding_both(parts: Iterable[Part]) -> frozenset[str]:
    """What a run of all cores goes by."""
    return frozenset[str]().union(*(deciding(p.program) for p in parts))


def _peer(func: Func, module: Module | None) -> Func | None:
    """The function of the other kind that belongs to the same kernel: by its name, or else as the only other one of a
    module that deals with the other kind by flags or barriers."""
    bodies = [f for f in module.funcs if f.body is not None] if module is not None else []
    named = _by_name(func, bodies)
    if named is not None or not has_partner(func):
        return named
    flagged = [f for f in bodies if has_partner(f) and _by_name(f, bodies) is None]
    others = [f for f in flagged if {f.kernel_kind, func.kernel_kind} == set(KINDS)]
    return others[0] if others and len(flagged) == len(KINDS) else None


def _by_name(func: Func, bodies: Iterable[Func]) -> Func | None:
    return next((
        o for o in bodies if {o.kernel_kind, func.kernel_kind} == set(KINDS)
        and (func.name in _named(o) or o.name in _named(func) or _paired(func.name, o.name))), None)


def _named(func: Func) -> set[str]:
    peers = (op.attrs.get("peer_func") for op in walk_ops(func))
    return {p.name for p in peers if isinstance(p, Symbol)}


def _paired(a: str, b: str) -> bool:
    return any(
        x.endswith(cube) and x.removesuffix(cube) + vector == y
        for cube, vector in _SUFFIXES for x, y in ((a, b), (b, a)))


@lru_cache(maxsize=2)
def _program(func: Func, own: AccessProgram, target: str) -> AccessProgram | None:
    try:
        return build_program(func, own.file, target)
    except NotModelled:
        return None
