"""Legality of cross-core pipes, reserved buffers, flags and loops."""

from __future__ import annotations

from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_context import INITS, PIPES, pipe_id
from pypto_verified.pto.legality_words import A3, A5, BELOW3, LEVEL3, extents
from pypto_verified.pto.module import AttrValue, Op, Value
from pypto_verified.pto.types import TensorViewType, TileBufType
from pypto_verified.pto.typetext import type_text
from pypto_verified.targets.split import SPLITS, fits

_INITS = " ".join(INITS)
_PIPE_ENDS = " ".join(PIPES)
BY_ID = ("pto.tpush_to_aiv pto.tpush_to_aic pto.tpop_from_aic pto.tpop_from_aiv pto.tfree_from_aic "
         "pto.tfree_from_aiv pto.talloc_to_aiv pto.talloc_to_aic")
_TO_VECTOR = "pto.tpush_to_aiv pto.tpop_from_aic"
_TO_CUBE = "pto.tpush_to_aic pto.tpop_from_aiv"
POPS = "pto.tpop_from_aic pto.tpop_from_aiv"
_ON_CUBE = "pto.aic_initialize_pipe pto.tpush_to_aiv pto.tpop_from_aiv pto.tfree_from_aiv pto.talloc_to_aiv"
_ON_VECTOR = "pto.aiv_initialize_pipe pto.tpush_to_aic pto.tpop_from_aic pto.tfree_from_aic pto.talloc_to_aic"
_EVENTS = "pto.sync.set pto.sync.wait"
_CROSS = "pto.set_cross_block pto.wait_cross_block"
_PIPES = ("PIPE_FIX", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_V")
_FLAG_COUNT = 16
_BUFFER_COUNT = 32


def _is_helper(s: Site) -> bool:
    return "pto.tileop.helper" in s.func.attrs


def _inits(s: Site) -> list[Op]:
    """The initialisations, in the function, of the pipe that an op names."""
    return s.context.funcs[s.func].inits.get(pipe_id(s.op), [])


def pipe_init(s: Site) -> Op | None:
    found = _inits(s)
    return found[0] if found else None


def _directions(s: Site) -> int:
    init = pipe_init(s)
    value = init.attrs.get("dir_mask") if init is not None else 0
    return value if isinstance(value, int) else 0


def _flags(s: Site) -> int:
    """Flags that all pipes of the function take: two for each direction."""
    masks = (op.attrs.get("dir_mask") for op, func in s.context.homes.items() if func is s.func)
    return sum(4 if mask == 3 else 2 for mask in masks)


def _only_tensor(s: Site) -> bool:
    """Whether a pipe hands on entries of a global tensor and has no local buffer at all."""
    return s.has("gm_slot_tensor") and not (s.has("c2v_consumer_buf") or s.has("v2c_consumer_buf"))


def _rings(s: Site) -> bool:
    """Whether the pipe can carry an odd split: one-way, through global memory, with a consumer buffer."""
    init = pipe_init(s)
    if init is None or _directions(s) != 1 or "c2v_consumer_buf" not in init.args:
        return False
    return "gm_slot_tensor" in init.args or (not s.a5 and "gm_slot_buffer" in init.args)


def _shape(op: Op) -> str:
    """What both ends of a pipe must agree on, with what is left out filled in."""
    slots = op.attrs.get("slot_num", 4 if op.attrs.get("dir_mask") == 3 else 8)
    found = {"dir_mask": op.attrs.get("dir_mask"), "slot_size": op.attrs.get("slot_size"), "slot_num": slots,
             "local_slot_num": op.attrs.get("local_slot_num", slots)}
    return ", ".join(f"{name} = {value}" for name, value in found.items())


def _local(s: Site) -> Value | None:
    """The consumer's buffer of a pipe, of the first of its directions."""
    if s.op.name not in INITS:
        return s.op.opt("local_addr")
    return s.op.opt("v2c_consumer_buf" if s.int("dir_mask") == 2 else "c2v_consumer_buf")


def _key(op: Op) -> tuple[int, AttrValue, bool]:
    """What joins the ends of a pipe whose entries are windows of a global tensor alone."""
    return pipe_id(op), op.attrs.get("dir_mask"), "c2v_consumer_buf" in op.args or "v2c_consumer_buf" in op.args


def pipe_peers(s: Site) -> list[Op]:
    """The other ends of a pipe: initialisations with the same buffer, or id if there is none."""
    if s.op.name in INITS and _only_tensor(s):
        return [op for op in s.context.homes if op is not s.op and op.name in INITS and _key(op) == _key(s.op)]
    ends = [op for name in s.context.buffer_names(s.op) for op in s.context.pipe_ends[name]]
    return [op for op in dict.fromkeys(ends) if op is not s.op]


def _splits(s: Site) -> list[int]:
    """The split codes of the function's ops on the same pipe."""
    init = s.op if s.op.name in PIPES else pipe_init(s)
    return sorted(s.context.splits_of(init)) if init is not None else []


def _slots(s: Site) -> int:
    return s.int("slot_num", 4 if s.int("dir_mask") == 3 else 8)


def _slot_dims(s: Site) -> tuple[int | None, ...] | None:
    """Extents of the slots in global memory of the pipe that an op is given."""
    maker = s.context.producers.get(s.op.arg("pipe_handle"))
    slots = maker.opt("gm_addr") if maker is not None else None
    return slots.type.dims if slots is not None and isinstance(slots.type, TensorViewType) else None


def _split_axis(s: Site) -> int | None:
    """The extent along the axis that a split cuts, of a pushed tile."""
    entry = s.type("tile")
    rows = s.int("split") in (1, 3)
    if isinstance(entry, TileBufType):
        return entry.v_row if rows else entry.v_col
    if isinstance(entry, TensorViewType) and len(entry.dims) == 2:
        return entry.dims[0 if rows else 1]
    return None


def _named(s: Site) -> int:
    return s.context.funcs[s.func].buffers[s.op.name, s.attr("name"), s.attr("peer_func")]


def _capacity(s: Site) -> int:
    """Bytes of the memory of a reserved buffer."""
    if s.member("location") == "mat":
        return 512 * 1024
    return (248 if s.a5 else 192) * 1024


ROWS: tuple[Legal, ...] = (
    Legal("PIPE-SIDE-CUBE", _ON_CUBE, "", "the op stands in a cube kernel or section", when=lambda s: not _is_helper(s),
          holds=lambda s: s.core == "cube", found=lambda s: f"it stands in {s.core or 'an undeclared'} kernel",
          help="declare pto.kernel_kind on the function"),
    Legal("PIPE-SIDE-VECTOR", _ON_VECTOR, "", "the op stands in a vector kernel or section",
          when=lambda s: not _is_helper(s), holds=lambda s: s.core == "vector",
          found=lambda s: f"it stands in {s.core or 'an undeclared'} kernel",
          help="declare pto.kernel_kind on the function"),
    Legal("PIPE-ID-SIGN", f"{_INITS} {BY_ID}", "", "a pipe's id is not negative", holds=lambda s: s.int("id") >= 0,
          found=lambda s: f"it is {s.int('id')}"),
    Legal("PIPE-ID", _INITS, "", "a pipe's id is used by one initialisation of the function",
          holds=lambda s: len(_inits(s)) == 1,
          found=lambda s: f"id {s.int('id')} is initialised {len(_inits(s))} times"),
    Legal("PIPE-FLAGS", _PIPE_ENDS, "", f"the pipes of a function need at most {_FLAG_COUNT} cross-core flags",
          holds=lambda s: _flags(s) <= _FLAG_COUNT, found=lambda s: f"they need {_flags(s)}, 2 for each direction",
          source="PTOAS, reserved buffers"),
    Legal("PIPE-DIRECTION", _INITS, "", "dir_mask is 1 (to vector), 2 (to cube) or 3",
          holds=lambda s: s.int("dir_mask") in (1, 2, 3), found=lambda s: f"it is {s.int('dir_mask')}"),
    Legal("PIPE-SLOT-SIZE", _INITS, "", "a slot has a size", holds=lambda s: s.int("slot_size") > 0,
          found=lambda s: f"it is {s.int('slot_size')} bytes"),
    Legal("PIPE-SLOT-COUNT", _INITS, "", "a pipe has slots", holds=lambda s: _slots(s) > 0,
          found=lambda s: f"it has {_slots(s)}"),
    Legal("PIPE-LOCAL-SLOTS", _INITS, "", "a pipe has at least one local slot and no more than slots",
          when=lambda s: s.attr("local_slot_num") is not None, holds=lambda s: 0 < s.int("local_slot_num") <= _slots(s),
          found=lambda s: f"{s.int('local_slot_num')} of {_slots(s)}"),
    Legal("PIPE-LOCAL-TARGET", _INITS, "", "local_slot_num exists on a2a3 only", targets=A5,
          holds=lambda s: s.attr("local_slot_num") is None, found=lambda s: "the target is a5"),
    Legal("PIPE-GM", _INITS, "", "a pipe goes through a tensor or a buffer in global memory, not both",
          holds=lambda s: not (s.has("gm_slot_tensor") and s.has("gm_slot_buffer")), found=lambda s: "it has both"),
    Legal("PIPE-BUFFER-C2V", _INITS, "", "a pipe to vector has a vector consumer buffer",
          when=lambda s: s.int("dir_mask") in (1, 3) and not _only_tensor(s),
          holds=lambda s: s.has("c2v_consumer_buf"), found=lambda s: "c2v_consumer_buf is missing"),
    Legal("PIPE-BUFFER-V2C", _INITS, "", "a pipe to cube has a cube consumer buffer",
          when=lambda s: s.int("dir_mask") in (2, 3) and not _only_tensor(s),
          holds=lambda s: s.has("v2c_consumer_buf"), found=lambda s: "v2c_consumer_buf is missing"),
    Legal("PIPE-EPILOGUE", _INITS, "", "a pipe with an epilogue goes to vector only, unsplit",
          when=lambda s: s.attr("acc_push_epilogue") is not None,
          holds=lambda s: s.int("dir_mask") == 1 and s.attr("nosplit") is True,
          found=lambda s: f"dir_mask is {s.int('dir_mask')}, nosplit is {s.attr('nosplit')}"),
    Legal("SPLIT-CODE", f"{BY_ID} pto.tpush pto.tpop pto.tfree pto.talloc", "", "split is 0 to 4",
          holds=lambda s: 0 <= s.int("split") <= 4,
          found=lambda s: f"it is {s.int('split')}"),
    Legal("SPLIT-ODD", f"{_TO_CUBE} pto.tfree_from_aiv pto.talloc_to_aic", "", "odd splits go from cube to vector only",
          holds=lambda s: s.int("split") not in (3, 4), found=lambda s: f"split is {s.int('split')}"),
    Legal("SPLIT-ODD-RING", f"{_TO_VECTOR}", "", "an odd split goes through a one-way pipe with slots in global memory",
          when=lambda s: s.int("split") in (3, 4) and pipe_init(s) is not None, holds=lambda s: _rings(s),
          found=lambda s: f"the pipe of id {s.int('id')} does not"),
    Legal("SPLIT-PARITY", "pto.tpush_to_aiv", "", "a split cuts an even extent in halves, an odd split an odd one",
          when=lambda s: s.int("split") in (1, 2, 3, 4) and _split_axis(s) is not None,
          holds=lambda s: bool(fits(SPLITS[s.int("split")], _split_axis(s) or 0, _split_axis(s) or 0)),
          found=lambda s: f"split {s.int('split')} of {_split_axis(s)}"),
    Legal("SPLIT-LANE", "pto.tpush_to_aic pto.tpop_from_aic", "", "a lane is named only when the tile is split",
          when=lambda s: s.has("aiv_subblockid"), holds=lambda s: s.int("split") != 0, found=lambda s: "split is 0"),
    Legal("PIPE-DEFINED", BY_ID, "", "the pipe is initialised in the function",
          when=lambda s: not _is_helper(s), holds=lambda s: pipe_init(s) is not None,
          found=lambda s: f"id {s.int('id')} is not"),
    Legal("PIPE-FIRST", BY_ID, "", "the pipe is initialised before the op, on every path to it",
          when=lambda s: not _is_helper(s) and pipe_init(s) is not None,
          holds=lambda s: any(s.context.dominates(s.func, init, s.op) for init in _inits(s)),
          found=lambda s: f"id {s.int('id')} is initialised in line {_inits(s)[0].line}, which may not have run",
          help="initialise the pipe at the beginning of the function", source="PTOAS, lowering of pipes"),
    Legal("PIPE-TO-VECTOR", f"{_TO_VECTOR} pto.tfree_from_aic pto.talloc_to_aiv", "", "the pipe goes to vector",
          when=lambda s: pipe_init(s) is not None, holds=lambda s: _directions(s) in (1, 3),
          found=lambda s: f"its dir_mask is {_directions(s)}"),
    Legal("PIPE-TO-CUBE", f"{_TO_CUBE} pto.tfree_from_aiv pto.talloc_to_aic", "", "the pipe goes to cube",
          when=lambda s: pipe_init(s) is not None, holds=lambda s: _directions(s) in (2, 3),
          found=lambda s: f"its dir_mask is {_directions(s)}"),
    Legal("POP-VALID", POPS, "@", "operands give the valid shape exactly of a tile with v_row=?, v_col=?",
          when=lambda s, t: s.has("valid_row"), holds=lambda s, t: t.v_row is None and t.v_col is None,
          found=lambda s, t: f"the type says {extents(t)}"),
    Legal("PIPE-RING", _INITS, "", "a pipe on a2a3 goes through global memory", targets=A3,
          holds=lambda s: s.has("gm_slot_buffer") or s.has("gm_slot_tensor"), found=lambda s: "it has no slots there",
          help="pass a gm_slot_buffer", source="PTOAS, lowering of pipes"),
    Legal("PIPE-PEER", _PIPE_ENDS, "", "both ends of a pipe have one direction, slot size and slot count",
          holds=lambda s: all(_shape(o) == _shape(s.op) for o in pipe_peers(s)),
          found=lambda s: "; ".join(f"line {o.line}: {_shape(o)}" for o in pipe_peers(s)) + f", here {_shape(s.op)}",
          source="PTOAS, reserved buffers"),
    Legal("PIPE-PAIR", _PIPE_ENDS, "", "a pipe on a reserved buffer has two ends",
          when=lambda s: bool(s.context.buffer_names(s.op)), holds=lambda s: len(pipe_peers(s)) == 1,
          found=lambda s: f"it has {1 + len(pipe_peers(s))}", source="PTOAS, reserved buffers"),
    Legal("PIPE-NOSPLIT", _PIPE_ENDS, "", "nosplit says whether the pipe's ops are split",
          when=lambda s: isinstance(s.attr("nosplit"), bool) and bool(_splits(s)),
          holds=lambda s: s.attr("nosplit") is (set(_splits(s)) == {0}),
          found=lambda s: f"it is {str(s.attr('nosplit')).lower()}, the ops have the splits {_splits(s)}",
          source="PTOAS, lowering of pipes"),
    Legal("PIPE-FUNCTIONS", _PIPE_ENDS, "", "the two ends of a pipe stand in two functions",
          when=lambda s: len(pipe_peers(s)) == 1,
          holds=lambda s: s.context.homes[pipe_peers(s)[0]] is not s.func,
          found=lambda s: f"both stand in @{s.func.name}", source="PTOAS, reserved buffers"),
    Legal("PIPE-RESERVED", _PIPE_ENDS, "", "a pipe's buffer is reserved or imported, unless its flags are given",
          when=lambda s: not _is_helper(s) and s.attr("flag_base") is None and _local(s) is not None,
          holds=lambda s: bool(s.context.buffer_names(s.op)),
          found=lambda s: f"it is %{v.name if (v := _local(s)) else ''}",
          source="PTOAS, reserved buffers"),
    Legal("PIPE-SPLIT-PEER", _PIPE_ENDS, "", "the ops of both ends of a pipe are split, or those of neither",
          holds=lambda s: len({bool(split) for op in (s.op, *pipe_peers(s)) for split in s.context.splits_of(op)}) < 2,
          found=lambda s: f"the splits are {sorted(s.context.splits_of(s.op))} here, "
                          f"{sorted(x for op in pipe_peers(s) for x in s.context.splits_of(op))} there",
          source="PTOAS, lowering of pipes"),
    Legal("PIPE-NOSPLIT-PEER", _PIPE_ENDS, "", "both ends of a pipe say the same nosplit",
          when=lambda s: s.attr("nosplit") is not None,
          holds=lambda s: all(op.attrs.get("nosplit", s.attr("nosplit")) == s.attr("nosplit") for op in pipe_peers(s)),
          found=lambda s: f"it is {s.attr('nosplit')} here", source="PTOAS, lowering of pipes"),
    Legal("PIPE-ENTRY", "pto.talloc", "", "an entry has the extents of the pipe's slots",
          when=lambda s: _slot_dims(s) is not None and isinstance(s.type("entry"), TensorViewType),
          holds=lambda s: isinstance(entry := s.type("entry"), TensorViewType) and entry.dims == _slot_dims(s),
          found=lambda s: f"{type_text(s.op.arg('entry').type, True)}, the slots are {_slot_dims(s)}"),
    Legal("SPLIT-MIXED", BY_ID, "", "a pipe's ops are all split or all not split",
          holds=lambda s: len({bool(split) for split in _splits(s)}) < 2,
          found=lambda s: f"the ops of id {s.int('id')} have the splits {_splits(s)}",
          source="PTOAS, lowering of pipes"),
    Legal("RESERVE-SIZE", "pto.reserve_buffer", "", "a reserved buffer has a size", holds=lambda s: s.int("size") > 0,
          found=lambda s: f"it is {s.int('size')} bytes"),
    Legal("RESERVE-SPACE", "pto.reserve_buffer", "", "a reserved buffer is in vec or mat",
          holds=lambda s: s.member("location") in ("vec", "mat"), found=lambda s: f"it is in {s.member('location')}"),
    Legal("RESERVE-NAME", "pto.reserve_buffer", "", "a buffer's name is used once in a function",
          holds=lambda s: _named(s) == 1, found=lambda s: f"{_named(s)} times"),
    Legal("RESERVE-BASE", "pto.reserve_buffer", "", "a buffer that is not placed by the assembler has a base",
          when=lambda s: s.attr("auto") is False, holds=lambda s: s.attr("base") is not None,
          found=lambda s: "base is missing"),
    Legal("RESERVE-LEVEL3", "pto.reserve_buffer", "", "at level 3 a buffer is placed by its base", levels=LEVEL3,
          holds=lambda s: s.attr("auto") is False, found=lambda s: "auto is true", source="PTOAS, reserved buffers"),
    Legal("RESERVE-SIGN", "pto.reserve_buffer", "", "a buffer's base is not negative",
          holds=lambda s: s.int("base") >= 0, found=lambda s: f"it is {s.int('base')}"),
    Legal("RESERVE-UNIT", "pto.reserve_buffer", "", "at level 3 a buffer's base is a multiple of 256 bytes",
          levels=LEVEL3, when=lambda s: s.attr("base") is not None, holds=lambda s: s.int("base") % 256 == 0,
          found=lambda s: f"it is {s.int('base')}", source="PTOAS, reserved buffers"),
    Legal("RESERVE-FITS", "pto.reserve_buffer", "", "at level 3 a buffer lies in its memory", levels=LEVEL3,
          when=lambda s: s.attr("base") is not None, holds=lambda s: s.int("base") + s.int("size") <= _capacity(s),
          found=lambda s: f"{s.int('base')} + {s.int('size')} > {_capacity(s)} bytes",
          source="PTOAS, reserved buffers"),
    Legal("RESERVE-PLANNED", "pto.reserve_buffer", "", "below level 3 the assembler places a buffer", levels=BELOW3,
          holds=lambda s: s.attr("auto") is True and s.attr("base") is None,
          found=lambda s: f"auto is {s.attr('auto')}, base is {s.attr('base')}", source="PTOAS, reserved buffers"),
    Legal("IMPORT-PEER", "pto.import_reserved_buffer", "", "the peer reserves the buffer",
          holds=lambda s: s.context.reserves(s.attr("peer_func"), s.attr("name")),
          found=lambda s: f"{s.attr('peer_func')} has no buffer {s.attr('name')!r}"),
    Legal("IMPORT-NAME", "pto.import_reserved_buffer", "", "a peer's buffer is imported once in a function",
          holds=lambda s: _named(s) == 1, found=lambda s: f"{_named(s)} times"),
    Legal("EVENT-MODE", _EVENTS, "", "ffts_mode is 0, 1 or 2", when=lambda s: s.attr("ffts_mode") is not None,
          holds=lambda s: 0 <= s.int("ffts_mode") <= 2, found=lambda s: f"it is {s.int('ffts_mode')}"),
    Legal("EVENT-ID", _EVENTS, "", f"a cross-core flag on a5 is 0 to {_FLAG_COUNT - 1}", targets=A5,
          when=lambda s: s.attr("event_id") is not None, holds=lambda s: 0 <= s.int("event_id") < _FLAG_COUNT,
          found=lambda s: f"it is {s.int('event_id')}"),
    Legal("EVENT-PIPE", _EVENTS, "", "a cross-core flag on a5 belongs to FIX, MTE1, MTE2, MTE3 or V", targets=A5,
          holds=lambda s: s.member("pipe") in _PIPES, found=lambda s: f"it belongs to {s.member('pipe')}"),
    Legal("CROSS-ID", _CROSS, "", f"a block flag is 0 to {_FLAG_COUNT - 1}",
          when=lambda s: s.attr("event_id") is not None, holds=lambda s: 0 <= s.int("event_id") < _FLAG_COUNT,
          found=lambda s: f"it is {s.int('event_id')}"),
    Legal("CROSS-PIPE", _CROSS, "", "a block flag belongs to FIX, MTE1, MTE2, MTE3 or V",
          holds=lambda s: s.member("pipe") in _PIPES, found=lambda s: f"it belongs to {s.member('pipe')}"),
    Legal("BUFFER-MODE", "pto.get_buf pto.rls_buf", "", "a buffer's mode is not negative",
          holds=lambda s: s.int("mode") >= 0, found=lambda s: f"it is {s.int('mode')}"),
    Legal("BUFFER-PIPE", "pto.get_buf pto.rls_buf", "", "a buffer belongs to one pipe",
          holds=lambda s: s.member("op_type") not in ("PIPE_ALL", "PIPE_UNASSIGNED"),
          found=lambda s: f"it belongs to {s.member('op_type')}"),
    Legal("SIMT-SIZE", "pto.section.simt", "", "a launch has no negative extent",
          holds=lambda s: min(s.int("dimX"), s.int("dimY"), s.int("dimZ")) >= 0,
          found=lambda s: f"{s.int('dimX')} x {s.int('dimY')} x {s.int('dimZ')}"),
    Legal("ENTRY-RESULT", "func.return", "", "an entry returns nothing",
          holds=lambda s: "pto.entry" not in s.func.attrs or not s.has("values"),
          found=lambda s: f"@{s.func.name} returns a value"),
    Legal("BUFFER-ID", "pto.get_buf pto.rls_buf", "", f"a buffer id is 0 to {_BUFFER_COUNT - 1}",
          holds=lambda s: 0 <= s.int("buf_id") < _BUFFER_COUNT, found=lambda s: f"it is {s.int('buf_id')}"),
    Legal("SYNCALL-HARD", "pto.syncall", "", "a hard barrier needs no workspace",
          when=lambda s: s.member("mode") == "hard", holds=lambda s: not s.has("gm_workspace"),
          found=lambda s: "it has one"),
    Legal("SYNCALL-SOFT", "pto.syncall", "", "a soft barrier needs a workspace",
          when=lambda s: s.member("mode") == "soft", holds=lambda s: s.has("gm_workspace"),
          found=lambda s: "it has none"),
    Legal("FOR-STEP", "scf.for", "", "a constant step is positive",
          holds=lambda s: (s.const("step") is None) or (s.const("step") or 0) > 0,
          found=lambda s: f"it is {s.const('step')}", source="PTOAS driver"),
)

