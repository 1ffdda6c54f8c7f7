"""Moves of a5 into the memory of another core: the accumulator into UB of a vector core, a vector core's tile into L1.

A cube has no UB of its own and a vector core no L1: a tile in such a space lies with the partner. Of the accumulator
one vector core gets all, the one that the mode names. Source: PTO-ISA npu/a5 TMov.hpp, TExtract.hpp, TInsert.hpp.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.layouts import Space
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.schedule.clocks import Timeline
from pypto_verified.simulator.schedule.code import Issue
from pypto_verified.simulator.schedule.compute import Compute, compute
from pypto_verified.simulator.schedule.core import Core
from pypto_verified.simulator.schedule.cross import cluster
from pypto_verified.simulator.schedule.queue import Item
from pypto_verified.simulator.tile import Tile

_PARTNER = {("cube", Space.VEC): "vector", ("vector", Space.MAT): "cube"}
"""Whose memory a space is, where it is not that of the core itself."""

_MOVES = frozenset({"pto.tmov", "pto.textract", "pto.tinsert"})
_LANE = {"single_mode_vec0": 0, "single_mode_vec1": 1}


class Across(Compute):
    """A move into the memory of `receiver`."""

    __slots__ = ("receiver",)

    def __init__(self, core: Core, issue: Issue, receiver: Core) -> None:
        super().__init__(core, issue, issue.phases[0].pipe)
        own, *others = self.operands
        there = own.copy()
        there.memory, there.main = receiver.machine.memories[own.space], None
        there.name = f"{own.name} of {receiver.name}"
        self.operands = [there, *others]
        self.receiver = receiver

    def settle(self, lane: Timeline, count: int) -> None:
        there = self.operands[0]
        owners: dict[str, object] = {there.name: (self.receiver.index, there.space)}
        self.core.world.checks.accessed(self, lane, count, self.atomic, owners)


def issue_op(core: Core, issue: Issue) -> Iterator[Item]:
    """The steps of an op with a meaning. A core whose partner is not there keeps what it moves to it."""
    partners = _partners(core, issue)
    if not partners:
        return compute(core, issue)
    if partners[0].kind == "vector":
        mode = issue.site.enum("accToVecMode", "single_mode_vec0")
        if mode not in _LANE:
            raise UnmodelledError(f"accumulator to vector in {mode}")
        partners = [c for c in partners if c.lane == _LANE[mode]]
    if len(partners) != 1:
        raise UnmodelledError(f"{issue.op.name} into the memory of a vector core that is not there")
    return iter((Across(core, issue, partners[0]),))


def _partners(core: Core, issue: Issue) -> list[Core]:
    """The cores in whose memory a move ends, if that is not its own core's."""
    if issue.op.name not in _MOVES or not core.world.target.on_chip_pipe:
        return []
    dst = issue.gather(core.env)[0]
    kind = _PARTNER.get((core.kind, dst.space)) if isinstance(dst, Tile) else None
    return cluster(core, kind) if kind is not None else []
