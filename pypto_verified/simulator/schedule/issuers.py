"""Which ops order or transfer, and how each is issued; all other ops compute."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.pto.module import Op, Symbol
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.program import private_storage
from pypto_verified.simulator.schedule import buffer_ids, cross, fifo, flags, lowered, meetings
from pypto_verified.simulator.schedule.clocks import Timeline, join
from pypto_verified.simulator.schedule.code import Issue, reached
from pypto_verified.simulator.schedule.core import SCALAR, Core, Issuer
from pypto_verified.simulator.schedule.queue import Item


def reserve_buffer(core: Core, issue: Issue) -> Iterator[Item]:
    """The planned address of a consumer's buffer, or one of its own."""
    private, base = issue.site.private, issue.op.attrs.get("base")
    core.env[issue.out] = private if private is not None else base if isinstance(base, int) else 0
    return iter(())


def import_reserved_buffer(core: Core, issue: Issue) -> Iterator[Item]:
    """The address of the buffer that the other function reserves; 0 where that one is not there."""
    peer, name = issue.op.attrs.get("peer_func"), issue.op.attrs.get("name")
    func = core.code.functions.get(peer.name) if isinstance(peer, Symbol) else None
    address = 0
    for op in reached(func, core.code.functions) if func is not None else ():
        if op.name == "pto.reserve_buffer" and op.attrs.get("name") == name and func is not None:
            base = op.attrs.get("base")
            own = private_storage(func, core.world.target, None)[0].get(id(op), 0)
            address = base if isinstance(base, int) else own
    core.env[issue.out] = address
    return iter(())


class Invalidate(Item):
    """Writes back what the scalar unit has stored, and forgets what it has cached: others see its stores, and it sees
    what others have written."""

    __slots__ = ()

    def __init__(self, core: Core, op: Op) -> None:
        super().__init__(core, op, SCALAR)

    def run(self, lane: Timeline) -> None:
        for own in self.core.lanes.values():
            own.cleaned[lane.index] = lane.count
        lane.cleaned = join(lane.cleaned, lane.known)


def invalidate(core: Core, issue: Issue) -> Iterator[Item]:
    """`cmo.cacheinvalid`, of a line or of everything: taken as everything."""
    yield Invalidate(core, issue.op)


def tsync(core: Core, issue: Issue) -> Iterator[Item]:
    raise UnmodelledError(issue.op.name)


ISSUERS: dict[str, Issuer] = {
    **dict.fromkeys(("pto.set_flag", "pto.set_flag_dyn", "pto.record_event"), flags.set_flag),
    **dict.fromkeys(("pto.wait_flag", "pto.wait_flag_dyn", "pto.wait_event"), flags.wait_flag),
    **dict.fromkeys(("pto.barrier", "pto.barrier_sync"), flags.barrier),
    "pto.fence.barrier_all": flags.fence,
    "pto.cmo.cacheinvalid": invalidate,
    "pto.set_ffts": flags.nothing,
    # Parameters of an epilogue: a push that would use them is not modelled itself.
    **dict.fromkeys(("pto.set_quant_scalar", "pto.set_quant_vector"), flags.nothing),
    "pto.tsync": tsync,
    **dict.fromkeys(cross.SETS, cross.set_cross),
    **dict.fromkeys(cross.WAITS, cross.wait_cross),
    "pto.syncall": meetings.syncall,
    **dict.fromkeys(("pto.get_buf", "pto.get_buf_dyn", "pto.rls_buf", "pto.rls_buf_dyn"), buffer_ids.buffer_id),
    "pto.reserve_buffer": reserve_buffer,
    "pto.import_reserved_buffer": import_reserved_buffer,
    **dict.fromkeys(("pto.aic_initialize_pipe", "pto.aiv_initialize_pipe"), fifo.initialize),
    **dict.fromkeys(lowered.INITS, lowered.initialize),
    **dict.fromkeys(("pto.talloc_to_aiv", "pto.talloc_to_aic"), fifo.allocate),
    "pto.declare_tile": lowered.declare_tile,
    **dict.fromkeys(("pto.tpush_to_aiv", "pto.tpush_to_aic", "pto.tpush"), fifo.push),
    **dict.fromkeys(("pto.tpop_from_aic", "pto.tpop_from_aiv", "pto.tpop"), fifo.pop),
    **dict.fromkeys(("pto.tfree_from_aic", "pto.tfree_from_aiv", "pto.tfree"), fifo.free),
}
