"""Cube-vector pipes seen from one core that runs alone: what it pops is arbitrary, what it pushes is read and dropped.
So are barriers across cores: alone, none has anything to wait for.

For replays of faults that do not depend on the partner's data. A machine that is not `lone` does not model pipes.
Source: PTO-ISA headers (slot i of a consumer's buffer lies at i % slots * slot size).
"""

from __future__ import annotations

from pypto_verified.layouts import Space
from pypto_verified.pto.module import AttrValue
from pypto_verified.pto.types import TileBufType
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import Place, UnmodelledError
from pypto_verified.simulator.fixpipe import read_layout
from pypto_verified.simulator.ops_memory import report_uninitialised
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Pointer, Tensor, Tile, device_layout
from pypto_verified.simulator.values import is_float, storage


@dataclass(slots=True)
class Ring:
    """The consumer's buffers of one pipe (bytes, by space) and how many tiles were popped."""

    buffers: dict[Space, int]
    slot_size: int
    slots: int
    popped: int = 0


def _require_lone(site: Site) -> None:
    if not site.machine.lone:
        raise UnmodelledError(site.op.name)


def _number(value: AttrValue, default: int) -> int:
    return value if isinstance(value, int) else default


@op("reserve_buffer", "")
def reserve_buffer(site: Site) -> int:
    """The planned address of a consumer's buffer, or one of its own."""
    _require_lone(site)
    return site.private if site.private is not None else _number(site.op.attrs.get("base"), 0)


@op("import_reserved_buffer", "")
def import_reserved_buffer(site: Site) -> int:
    """The partner's buffer: an address of the other core, which this one never touches itself."""
    _require_lone(site)
    return 0


@op("aic_initialize_pipe aiv_initialize_pipe", "gm_slot_buffer c2v_consumer_buf v2c_consumer_buf")
def initialize_pipe(site: Site, ring: Pointer | None, to_vector: int | None, to_cube: int | None) -> None:
    """Set up one end of a pipe."""
    _require_lone(site)
    attrs = site.op.attrs
    slots = _number(attrs.get("local_slot_num"), _number(attrs.get("slot_num"), 8))
    buffers = {Space.VEC: to_vector or 0, Space.MAT: to_cube or 0}
    site.machine.pipes[_number(attrs.get("id"), 0)] = Ring(buffers, _number(attrs.get("slot_size"), 0), slots)


@op("tpush_to_aiv tpush_to_aic", "tile")
def tpush(site: Site, tile: Tile | Tensor) -> None:
    """The tile leaves this core: uninitialised elements are reported."""
    _require_lone(site)
    if isinstance(tile, Tensor):
        raise UnmodelledError("pushing a slot of global memory", Place(tile.name))
    to = Space.VEC if site.a5 else Space.GM
    layout = read_layout(site, tile, to) if tile.space is Space.ACC else None
    report_uninitialised(site, tile.reads(tile.rows, tile.cols, layout=layout), tile.name)


@op("tpop_from_aic tpop_from_aiv", "valid_row valid_col")
def tpop(site: Site, rows: int | None, cols: int | None) -> Tile:
    """The next slot, holding arbitrary numbers (the same in every run)."""
    _require_lone(site)
    type_, machine = site.op.result.type, site.machine
    ring = machine.pipes.get(_number(site.op.attrs.get("id"), 0))
    if not isinstance(type_, TileBufType) or ring is None or type_.loc not in ring.buffers:
        raise UnmodelledError(f"{site.op.name} of {type_}")
    addr = ring.buffers[type_.loc] + ring.popped % ring.slots * ring.slot_size
    ring.popped += 1
    valid = (
        rows if rows is not None else type_.rows if type_.v_row is None else type_.v_row,
        cols if cols is not None else type_.cols if type_.v_col is None else type_.v_col,
    )
    kind = storage(type_.dtype)
    layout = device_layout(type_, site.target.left_layout, kind.itemsize)
    bounds = (addr, addr + type_.bytes)
    tile = Tile(machine.memories[type_.loc], addr, type_, layout, valid, bounds, site.op.result.name)
    out = tile.writes(*valid)
    numbers = machine.random.standard_normal(valid) if is_float(kind) else machine.random.integers(0, 8, valid)
    out.put(numbers.astype(kind))
    out.mark()
    return tile


@op("tfree_from_aic tfree_from_aiv", "")
def tfree(site: Site) -> None:
    """Give the slot back."""
    _require_lone(site)


@op("syncall", "")
def syncall(site: Site) -> None:
    """Wait for all cores (PTO-ISA: it makes nothing visible). Cores that a launch runs one after the other
    would not see what the others wrote before it."""
    _require_lone(site)
