"""Cross-core pipes, synchronisation and launch.

A pop has no operand to take its type from: `shape` and `dtype` (of the author's annotation) give it, `valid_shape` the
extents that run-time values narrow. Split codes: 0 none, 1 up/down, 2 left/right, 3 and 4 the same over an odd extent
(lane 0 one longer). Source: PyPTO tile_ops/cross_core.cpp and sync_ops/*.cpp.
"""

from __future__ import annotations

from pypto_verified.dtypes import INT32, DType
from pypto_verified.ir.types import NoneType, ScalarType, TileType, Type
from pypto_verified.ops.args import Args
from pypto_verified.ops.decl import OpDecl, op
from pypto_verified.ops.dims import at_most, ceildiv, mul, show_shape
from pypto_verified.ops.events import EVENT_IDS
from pypto_verified.ops.layout import make_tile

_CROSS = "PyPTO tile_ops/cross_core.cpp"
_SYNC = "PyPTO sync_ops/sync.cpp"
_PIPE = "PyPTO sync_ops/cross_core.cpp"
_TASK = "PyPTO sync_ops/task.cpp"


def _nothing(a: Args) -> Type:
    return NoneType()


def _flag(a: Args) -> Type:
    id = a.number("event_id")
    a.require(0 <= id < EVENT_IDS, f"event_id is {id}, there are {EVENT_IDS}", f"use 0 to {EVENT_IDS - 1}")
    a.require("ALL" not in (a.kwargs["set_pipe"], a.kwargs["wait_pipe"]), "a flag goes from one pipe to one other",
              "name the pipes of the ops around it, or write pl.system.bar_all()")
    return NoneType()


def _split(a: Args) -> int:
    split = a.number("split")
    a.require(0 <= split <= 4, f"split is {split}; codes are 0 none, 1 up/down, 2 left/right, 3 and 4 the same, odd")
    return split


def _push(a: Args) -> Type:
    a.tile("tile")
    split = _split(a)
    a.require(
        a.decl.name == "tile.tpush_to_aiv" or split < 3, f"split {split}: odd extents cross from cube to vector only"
    )
    return NoneType()


def _pop(a: Args) -> Type:
    _split(a)
    shape, dtype = a.kwargs.get("shape"), a.kwargs.get("dtype")
    if not isinstance(shape, tuple) or not isinstance(dtype, DType):
        a.fail(
            "the type of the popped tile is not known",
            "annotate it: t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split=0)",
        )
    extents = tuple(d for d in shape if isinstance(d, int))
    a.require(len(extents) == 2 and min(extents) > 0, f"shape {list(extents)} must be 2-D and positive")
    valid = a.extents("valid_shape")
    a.require(
        not valid or (len(valid) == 2 and all(at_most(v, s) is not False for v, s in zip(valid, extents, strict=True))),
        f"valid_shape {show_shape(valid)} does not fit shape {show_shape(extents)}",
    )
    return make_tile(extents, dtype, a.space(), valid)


def _free(a: Args) -> Type:
    a.tile("tile")
    return NoneType()


def _lanes(a: Args) -> tuple[TileType, int | None]:
    """The tile that crosses and the axis that two lanes share, None if they don't."""
    t, split = a.tile("tile"), a.number("split")
    a.require(split in (0, 1, 2), f"split is {split}; it must be 0 none, 1 up/down or 2 left/right")
    if split == 0:
        return t, None
    a.rank("tile", 2)
    return t, split - 1


def _shard(a: Args) -> Type:
    """Lane 0's part, rounded up: LowerAutoVectorSplit gives each lane its own extent."""
    t, axis = _lanes(a)
    shape, valid = list(t.shape), list(t.valid_shape)
    if axis is not None:
        shape[axis] = -(-shape[axis] // 2)
        valid[axis] = ceildiv(valid[axis], 2)
    return make_tile(shape, t.dtype, a.space(), valid)


def _join(a: Args) -> Type:
    t, axis = _lanes(a)
    shape, valid = list(t.shape), list(t.valid_shape)
    if axis is not None:
        shape[axis] *= 2
        valid[axis] = mul(valid[axis], 2)
    return make_tile(shape, t.dtype, a.space(), valid)


def _initialize(a: Args) -> Type:
    for p in a.decl.params:
        a.require(not a.has(p.name) or a.scalar(p.name).is_integer, f"{p.name} must be an integer address")
    mask, slot = a.number("dir_mask"), a.number("slot_size")
    a.require(mask in (1, 2, 3), f"dir_mask is {mask}; 1 is cube to vector, 2 vector to cube, 3 both")
    a.require(slot > 0, f"slot_size is {slot} bytes, it must be positive")
    return NoneType()


def _buffer(a: Args) -> Type:
    name = a.kwargs["name"]
    a.require(
        isinstance(name, str) and name.isascii() and name.replace("_", "a").isalnum(),
        f"name {name!r} must be made of letters, digits and _",
    )
    return ScalarType(INT32)


_ID = "id:int"
_FLAG = "set_pipe:pipe! wait_pipe:pipe! event_id:int!"
_POP = f"shape:shape dtype:dtype split:int=0 lane_stride:int {_ID}"
_PIPE_KEYWORDS = f"dir_mask:int! slot_size:int! slot_num:int local_slot_num:int {_ID}"
_BUFFERS = "c2v_consumer_buf:s? v2c_consumer_buf:s?"

OPS: tuple[OpDecl, ...] = (
    op("tile.tpush_to_aiv", "tile", _push, "A > .", keywords=f"split:int! lane_stride:int {_ID}", source=_CROSS),
    op("tile.tpush_to_aic", "tile", _push, "V > .", keywords=f"split:int! {_ID}", source=_CROSS),
    op("tile.tpop_from_aic", "valid_shape:n?", _pop, ". > V", keywords=_POP, source=_CROSS),
    op("tile.tpop_from_aiv", "valid_shape:n?", _pop, ". > M", keywords=_POP, source=_CROSS),
    op("tile.aiv_shard", "tile", _shard, ". > V", keywords="split:int=0 lane_stride:int", source=_CROSS),
    op("tile.aic_gather", "tile", _join, ". > M", keywords="split:int=0", source=_CROSS),
    op("system.tfree_to_aic", "tile", _free, keywords=f"split:int {_ID}", source=_PIPE),
    op("system.tfree_to_aiv", "tile", _free, keywords=f"split:int {_ID}", source=_PIPE),
    op("system.aic_initialize_pipe", _BUFFERS, _initialize, keywords=_PIPE_KEYWORDS, source=_PIPE),
    op("system.aiv_initialize_pipe", _BUFFERS, _initialize, keywords=_PIPE_KEYWORDS, source=_PIPE),
    op("system.reserve_buffer", "", _buffer, keywords="name:str! size:int! base:int=-1", source=_PIPE),
    op("system.import_peer_buffer", "", _buffer, keywords="name:str! peer_func:str!", source=_PIPE),
    op("system.sync_set", "event_id:i", _nothing, keywords="pipe:pipe! ffts_mode:int core_type:str", source=_PIPE),
    op("system.sync_wait", "event_id:i", _nothing, keywords="pipe:pipe! core_type:str", source=_PIPE),
    op("system.set_ffts", "workspace:t", _nothing, source=_PIPE),
    op("system.sync_src", "", _flag, keywords=_FLAG, source=_SYNC),
    op("system.sync_dst", "", _flag, keywords=_FLAG, source=_SYNC),
    op("system.bar_v", "", _nothing, source=_SYNC),
    op("system.bar_m", "", _nothing, source=_SYNC),
    op("system.bar_all", "", _nothing, source=_SYNC),
    op("system.fence", "", _nothing, source=_SYNC),
    op("system.cacheinvalid", "tensor:t? shapes:n? offsets:n?", _nothing, source=_SYNC),
    op(
        "system.syncall", "gm_workspace:t? used_cores:i?", _nothing, keywords="core_type:str=mix mode:str=hard",
        signature="core_type mode gm_workspace used_cores", source=_SYNC,
    ),
    op("system.available_cluster_count", "", None, source="PyPTO sync_ops/launch.cpp"),
    op("system.available_aiv_count", "", None, source="PyPTO sync_ops/launch.cpp"),
    op("system.task_invalid", "", None, source=_TASK),
    op("system.task_dummy", "", None, source=_TASK),
    op("system.task_is_valid", "task_id:s", None, source=_TASK),
)
