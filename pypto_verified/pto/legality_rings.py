"""Legality of pipes that are made as values, and of what is pushed into and popped from them; of entries that are
windows of global memory."""

from __future__ import annotations

from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.pto.legality_fifo import BY_ID, POPS, pipe_init
from pypto_verified.pto.legality_words import extents, is_vec
from pypto_verified.pto.module import Op
from pypto_verified.pto.types import TensorViewType, TileBufType, Type
from pypto_verified.pto.typetext import type_text
from pypto_verified.targets.split import SPLITS, fits

_LOCAL, _GLOBAL = "pto.initialize_l2l_pipe", "pto.initialize_l2g2l_pipe"
_MAKERS = f"{_LOCAL} {_GLOBAL}"
_INITS = " ".join(INITS)
_SENT = "pto.tpush pto.talloc"
_USERS = "pto.tpush pto.talloc pto.tpop pto.tfree"
_ENTRIES = {"pto.tpush": "tile", "pto.tpop": "tile", "pto.talloc": "entry", "pto.tfree": "entry"}
_WITH_LANE = "pto.tpush_to_aic pto.tpop_from_aic"
_FLAG_COUNT = 16
_ODD = (3, 4)


def _flags(s: Site) -> int:
    return 4 if s.int("dir_mask") == 3 else 2


def _maker(s: Site) -> Op | None:
    """The op that makes the pipe of a push, pop, allocation or release."""
    handle = s.op.opt("pipe_handle")
    return s.context.producers.get(handle) if handle is not None else None


def _entry(s: Site) -> Type | None:
    """What is handed on: an operand, or the result of a pop or allocation by id."""
    name = _ENTRIES.get(s.op.name)
    return s.type(name) if name is not None else s.type("tile|entry") or s.type("@")


def _slot(s: Site) -> Type | None:
    """The type of one slot of the pipe, if its slots are windows of a global tensor."""
    init = _maker(s) if s.op.name in _ENTRIES else pipe_init(s)
    value = None if init is None else init.opt("gm_addr" if init.name == _GLOBAL else "gm_slot_tensor")
    return value.type if value is not None else None


def _attr(op: Op | None, name: str) -> int:
    value = op.attrs.get(name) if op is not None else None
    return value if isinstance(value, int) else 0


def _bytes(view: TensorViewType) -> int | None:
    total = view.dtype.bytes
    for dim in view.dims:
        if dim is None:
            return None
        total *= dim
    return total


def _matches(entry: TensorViewType, slot: Type | None) -> bool:
    return (isinstance(slot, TensorViewType) and entry.dtype == slot.dtype and len(entry.dims) == len(slot.dims)
            and all(None in pair or pair[0] == pair[1] for pair in zip(entry.dims, slot.dims, strict=True)))


def _halves(s: Site) -> int | None:
    """The known extent along the split axis of what is pushed."""
    entry = _entry(s)
    axis = 0 if s.int("split") in (1, 3) else 1
    if isinstance(entry, TileBufType):
        return (entry.v_row, entry.v_col)[axis]
    return entry.dims[axis] if isinstance(entry, TensorViewType) and len(entry.dims) > axis else None


def _odd_ring(s: Site) -> bool:
    maker = _maker(s)
    side = "cube" if s.op.name in _SENT.split() else "vector"
    return (s.core == side and maker is not None and maker.name == _GLOBAL and _attr(maker, "dir_mask") == 1
            and "local_addr" in maker.args)


def _slot_fits(s: Site) -> bool:
    view = s.type("gm_slot_tensor")
    size = _bytes(view) if isinstance(view, TensorViewType) else None
    return size is None or s.int("slot_size") in (size, 2 * size)


def _entry_fits(s: Site) -> bool:
    entry, size = _entry(s), _attr(_maker(s), "slot_size")
    need = _bytes(entry) if isinstance(entry, TensorViewType) else None
    return need is None or need == size or (s.int("split") != 0 and 2 * need == size)


def _shown(type_: Type | None) -> str:
    return type_text(type_, True) if type_ is not None else "none"


def _both(s: Site) -> bool:
    return s.has("c2v_consumer_buf") or s.has("v2c_consumer_buf")


ROWS: tuple[Legal, ...] = (
    Legal("RING-DIRECTION", _MAKERS, "", "dir_mask is 1 (to vector), 2 (to cube) or 3",
          holds=lambda s: s.int("dir_mask") in (1, 2, 3), found=lambda s: f"it is {s.int('dir_mask')}"),
    Legal("RING-SLOTS", _MAKERS, "", "a pipe has slots, and each has a size",
          holds=lambda s: s.int("slot_size") > 0 and s.int("slot_num") > 0,
          found=lambda s: f"{s.int('slot_num')} slots of {s.int('slot_size')} bytes"),
    Legal("RING-FLAGS", _MAKERS, "", f"a pipe's flags are {_FLAG_COUNT}, two for each direction",
          when=lambda s: s.attr("flag_base") is not None,
          holds=lambda s: 0 <= s.int("flag_base") <= _FLAG_COUNT - _flags(s),
          found=lambda s: f"{_flags(s)} from {s.int('flag_base')}"),
    Legal("RING-LOCAL-SLOTS", _GLOBAL, "", "a pipe with a local buffer has at least one local slot, no more than slots",
          when=lambda s: s.attr("local_slot_num") is not None,
          holds=lambda s: s.has("local_addr") and 0 < s.int("local_slot_num") <= s.int("slot_num"),
          found=lambda s: f"{s.int('local_slot_num')} of {s.int('slot_num')}"),
    Legal("RING-PEER", _MAKERS, "", "a pipe of both directions has a second buffer, any other one has not",
          when=lambda s: s.has("local_addr") or s.has("peer_local_addr"),
          holds=lambda s: s.has("local_addr") and s.has("peer_local_addr") == (s.int("dir_mask") == 3),
          found=lambda s: f"dir_mask is {s.int('dir_mask')}, peer_local_addr is "
                          f"{'given' if s.has('peer_local_addr') else 'missing'}"),
    Legal("RING-PLACE", _USERS, "", "the op stands in a section, or in a kernel that says what it is",
          when=lambda s: "pto.tileop.helper" not in s.func.attrs, holds=lambda s: bool(s.core),
          found=lambda s: f"@{s.func.name} does not say"),
    Legal("RING-HANDLE", _USERS, "", "the pipe is made in the function",
          holds=lambda s: (m := _maker(s)) is not None and m.name in _MAKERS.split(),
          found=lambda s: f"it comes from {m.name if (m := _maker(s)) else 'elsewhere'}"),
    Legal("RING-ODD", _USERS, "", "an odd split goes from cube to vector, through global memory and a local buffer",
          when=lambda s: s.int("split") in _ODD, holds=_odd_ring,
          found=lambda s: f"it stands in {s.core or 'no'} code, the pipe is {m.name if (m := _maker(s)) else ''}"),
    Legal("RING-PARITY", "pto.tpush", "", "a split cuts an even extent in halves, an odd split an odd one",
          when=lambda s: 0 < s.int("split") < len(SPLITS) and _halves(s) is not None,
          holds=lambda s: bool(fits(SPLITS[s.int("split")], _halves(s) or 0, _halves(s) or 0)),
          found=lambda s: f"split {s.int('split')} of {_halves(s)}"),
    Legal("RING-LANE", "pto.tpush pto.tpop", "", "a lane is named only when the tile is split",
          when=lambda s: s.has("aiv_subblockid"), holds=lambda s: s.int("split") != 0, found=lambda s: "split is 0"),
    Legal("ENTRY-LANE", f"{_WITH_LANE} pto.tpush pto.tpop", "", "a lane is named only of a vec tile",
          when=lambda s: s.has("aiv_subblockid"),
          holds=lambda s: isinstance(t := _entry(s), TileBufType) and is_vec(t),
          found=lambda s: f"the entry is {_shown(_entry(s))}"),
    Legal("ENTRY-ODD", f"{BY_ID} {_USERS}", "", "windows of global memory are not split oddly",
          when=lambda s: isinstance(_entry(s), TensorViewType), holds=lambda s: s.int("split") not in _ODD,
          found=lambda s: f"split is {s.int('split')}"),
    Legal("ENTRY-SLOT", f"{BY_ID} {_USERS}", "", "an entry in global memory is one of the pipe's slots there",
          when=lambda s: isinstance(_entry(s), TensorViewType),
          holds=lambda s: isinstance(e := _entry(s), TensorViewType) and _matches(e, _slot(s)),
          found=lambda s: f"{_shown(_entry(s))}, the slots are {_shown(_slot(s))}"),
    Legal("ENTRY-LOCAL", _USERS, "", "a pipe of entries in global memory has no local buffer, and slots of their size",
          when=lambda s: isinstance(_entry(s), TensorViewType) and _maker(s) is not None,
          holds=lambda s: (m := _maker(s)) is not None and "local_addr" not in m.args and _entry_fits(s),
          found=lambda s: f"{_shown(_entry(s))} in slots of {_attr(_maker(s), 'slot_size')} bytes"),
    Legal("POP-ODD", POPS, "@", "an oddly split tile is popped with the valid shape of its lane",
          when=lambda s, t: s.int("split") in _ODD, holds=lambda s, t: s.has("valid_row"),
          found=lambda s, t: f"there is none, the type says {extents(t)}"),
    Legal("POP-WINDOW", POPS, "", "only tiles are popped with a valid shape", when=lambda s: s.has("valid_row"),
          holds=lambda s: isinstance(s.type("@"), TileBufType), found=lambda s: f"it is {_shown(s.type('@'))}"),
    Legal("SLOT-TENSOR", _INITS, "", "a slot is as large as an entry in global memory, or twice for split ones",
          when=lambda s: s.has("gm_slot_tensor"), holds=_slot_fits,
          found=lambda s: f"{s.int('slot_size')} bytes, {_shown(s.type('gm_slot_tensor'))}"),
    Legal("SLOT-BUFFERS", _INITS, "", "a pipe of entries in global memory that has a local buffer too goes to vector",
          when=lambda s: s.has("gm_slot_tensor") and _both(s),
          holds=lambda s: s.int("dir_mask") == 1 and not s.has("v2c_consumer_buf"),
          found=lambda s: f"dir_mask is {s.int('dir_mask')}"),
    Legal("SLOT-LOCAL", _INITS, "", "a pipe of entries in global memory alone has no local slots",
          when=lambda s: s.has("gm_slot_tensor") and not _both(s), holds=lambda s: s.attr("local_slot_num") is None,
          found=lambda s: f"it has {s.int('local_slot_num')}"),
    Legal("PIPE-SIDES", _INITS, "", "a function has the cube's or the vector's ends of pipes, not both",
          holds=lambda s: len({op.name for ops in s.context.funcs[s.func].inits.values() for op in ops}) == 1,
          found=lambda s: f"id {pipe_id(s.op)} is one of both"),
)
