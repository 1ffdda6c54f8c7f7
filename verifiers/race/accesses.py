"""What each op touches, phase by phase, and the pipes it may run on."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from pypto_verified.index import TRUE, Expr, const
from pypto_verified.layouts import Space
from pypto_verified.pto.module import Op
from pypto_verified.pto.op_pipes import op_phases, op_pipes
from pypto_verified.pto.types import PtrType
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import PIPE_READINGS, SCALAR
from verifiers.access import AccessProgram, Rect, Root, Step, TensorView, TileUse, Window
from verifiers.access.overlap import inside_root, needed, touched
from verifiers.access.program import Operand, Pointer
from verifiers.race.copied import copy_pipe
from verifiers.race.fills import fills_nothing, in_place
from verifiers.race.places import OnChip, Place, box_of, element_box, names, view_box
from verifiers.race.rings import InRing, ring_places

READINGS = tuple(dict.fromkeys(row.assumption for row in PIPE_READINGS))
"""Assumptions on the pipe of an op."""
Rings: TypeAlias = Mapping[Root, InRing]

_NO_ACCESS = ("pto.tfree", "pto.set_ffts", "pto.cmo.cacheinvalid", "pto.syncall", "pto.aic_initialize_pipe",
              "pto.aiv_initialize_pipe", "pto.talloc")
"""Ops with operands whose bytes they do not touch, or not on a pipe that flags order."""


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """A read or write of `place` by phase `phase` of `step`. `pipe`: of the phase, as the op's row says; `readings`:
    all pipes that the sources name for it; `what`: the tile or tensor, for reports; `names`: symbols of its place;
    `arrives`: what it writes was put there by another core, which the pipe between them keeps in order (FIFO);
    `tile`: whose bytes they are, if they are on chip; `releases`: from here on another core may write there (see
    `releases`); `pads`: it writes the padding of its tile and nothing else (see `fills`); `somewhere`: its bytes lie
    somewhere in `place`."""

    number: int
    step: Step
    phase: int
    writes: bool
    pipe: str
    readings: tuple[str, ...]
    assumption: str
    place: Place
    what: str
    names: frozenset[str]
    arrives: bool = False
    tile: TileUse | None = None
    releases: bool = False
    pads: bool = False
    somewhere: bool = False

    @property
    def fills_place(self) -> bool:
        """Whether it writes all bytes of its place."""
        return self.writes and not self.pads and not self.somewhere

    @property
    def scalar(self) -> bool:
        """Whether it goes through the data cache of the scalar unit."""
        return self.pipe == "S"


@lru_cache(maxsize=4)
def accesses_of(program: AccessProgram, target: Target) -> Mapping[int, tuple[Access, ...]]:
    """The accesses of each step that has some, by the step's index, in the order of its phases: reads before writes.
    The same ones each time: both ends of a pipe are walked in turn, each many times."""
    found: dict[int, tuple[Access, ...]] = {}
    number = 0
    rings = ring_places(program, target)
    for step in program.steps:
        own: list[Access] = []
        for access in _of_step(step, program, target, number, rings):
            own.append(access)
            number += 1
        if own:
            found[step.index] = tuple(own)
    return found


def _of_step(
    step: Step, program: AccessProgram, target: Target, number: int, rings: Rings
) -> Iterator[Access]:
    op = step.op
    copying = copy_pipe(step, program, target) if step.made is not None else ""
    arriving = step.made is not None and target.on_chip_pipe and not copying
    if op.name.startswith(_NO_ACCESS) or fills_nothing(step):
        return
    pads = in_place(step)
    others = op_phases(op, target.name)[1:]
    _, assumption = op_pipes(op, target.name)
    for i, phase in enumerate(step.phases):
        if not phase.pipe:
            continue
        readings = (phase.pipe, *(p[0].pipe for p in others))
        if copying:
            readings = tuple(dict.fromkeys((copying, phase.pipe)))
        elif arriving:
            # The library waits on the pipe that uses the tile; only the assembler's table speaks of S.
            readings = tuple(sorted(readings, key=lambda pipe: pipe == SCALAR))
        seen: set[Hashable] = set()
        for writes, groups in ((False, phase.reads), (True, phase.writes)):
            operands = [o for g in groups for o in step.operands.get(g, ())] if writes or not pads else []
            if writes and step.made is not None:
                operands.append(step.made)
            for operand in operands:
                place = _place(step, operand, writes, rings)
                if place is None or (key := (writes, place.key())) in seen:
                    continue
                seen.add(key)
                yield Access(
                    number, step, i, writes, readings[0], readings, assumption, place, _what(operand), names(place),
                    operand is step.made and arriving, operand if isinstance(operand, TileUse) else None,
                    pads=pads, somewhere=isinstance(operand, TileUse) and _anywhere(operand, rings))
                number += 1


def held_by_pop(step: Step, program: AccessProgram, target: Target) -> str:
    """What a pop holds back until its tile is there: SCALAR, which is the whole core, or one pipe on a5. Of the pipes
    that the sources name there the one on which the library waits: the other pipes go on (assumption POP-PIPE)."""
    if not target.on_chip_pipe:
        return SCALAR
    if copying := copy_pipe(step, program, target):
        return copying
    named = (phases[0].pipe for phases in op_phases(step.op, target.name))
    return next((pipe for pipe in named if pipe != SCALAR), SCALAR)


def _place(step: Step, operand: Operand, writes: bool, rings: Rings) -> Place | None:
    if isinstance(operand, TileUse):
        if 0 in (operand.valid_rows.value, operand.valid_cols.value):
            return None
        part = touched(step, operand) if writes else needed(step, operand)
        return place_of(part, rings)
    if isinstance(operand, Window):
        return box_of(operand)
    if isinstance(operand, TensorView):
        return view_box(operand)
    if isinstance(operand, Pointer):
        return _scalar_place(step, operand)
    return None


def _anywhere(tile: TileUse, rings: Rings) -> bool:
    return tile.root in rings and rings[tile.root].base is None


def place_of(tile: TileUse, rings: Rings) -> OnChip:
    """All bytes of a tile; of its ring, where its slot is not told."""
    root, rect = tile.root, tile.rect
    inside = inside_root(tile) if rect.base.value is None else TRUE
    if root in rings:
        ring = rings[root]
        if ring.base is None:
            return OnChip(ring.name, const(0), Rect(const(0), 1, ring.bytes, ring.bytes))
        return OnChip(ring.name, ring.base + rect.base, rect, inside)
    if root.address is None:
        return OnChip(root, rect.base, rect, inside)
    return OnChip(root.space, root.address + rect.base, rect, inside)


def _scalar_place(step: Step, pointer: Pointer) -> Place:
    """Where a scalar load or store goes."""
    index = next((o for o in step.operands.get("offset", ()) if isinstance(o, Expr)), None)
    offset = pointer.offset + index if index is not None else pointer.offset
    return element_box(pointer.base, offset, _itemsize(step.op))


def _itemsize(op: Op) -> int:
    type_ = op.arg("ptr").type if op.opt("ptr") is not None else None
    return type_.dtype.bytes if isinstance(type_, PtrType) else 1


def _what(operand: Operand) -> str:
    if isinstance(operand, TileUse):
        return operand.name
    if isinstance(operand, Window):
        return operand.view.name
    if isinstance(operand, TensorView):
        return operand.name
    return f"%{operand.base}" if isinstance(operand, Pointer) else ""


def is_global(access: Access) -> bool:
    """Whether it touches global memory."""
    return not isinstance(access.place, OnChip)


@lru_cache(maxsize=1)
def tells_pointers_apart(program: AccessProgram, target: Target) -> bool:
    """Whether one tensor is written and another accessed, and no pair is made of the two: assumption
    DISTINCT-POINTERS."""
    outside = [a for own in accesses_of(program, target).values() for a in own if is_global(a)]
    return any(a.writes for a in outside) and len({a.place.arena for a in outside}) > 1


def space_of(access: Access) -> Space | None:
    """The on-chip memory an access touches, None for global memory and for places without an address."""
    return access.place.arena if isinstance(access.place.arena, Space) else None
