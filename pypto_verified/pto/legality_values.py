"""Legality of scalars and pointers, arrays and structs, flags between cores, regions and functions."""

from __future__ import annotations

from pypto_verified.layouts import Space
from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_words import A3, A5, is_vec
from pypto_verified.pto.module import EnumAttr
from pypto_verified.pto.types import OpaqueType, PartitionViewType, PtrType, ScalarType, TensorViewType, Type
from pypto_verified.pto.typetext import parse_type, type_text

_LANES = "pto.set_intra_block pto.wait_intra_block"
_BLOCKS = "pto.set_cross_block pto.wait_cross_block"
_PIPES = ("PIPE_FIX", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_V")
_BYTE = ("i8", "ui8", "si8")
_WORKSPACE_BYTES = 8
_BUFFERS = "pto.get_buf_dyn pto.rls_buf_dyn"
_GLOBAL = (TensorViewType, PartitionViewType)


def _scalar(type_: Type | None) -> str:
    return type_.dtype.pto if isinstance(type_, ScalarType) else ""


def _pointee(s: Site, name: str) -> str:
    type_ = s.type(name)
    return type_.dtype.pto if isinstance(type_, PtrType) else ""


def _held(s: Site) -> str:
    return _scalar(s.type("value")) or _scalar(s.type("@"))


def _dims(s: Site) -> int:
    """Dimensions of a local array."""
    array = s.type("array")
    return array.params[0].count("x") if isinstance(array, OpaqueType) and array.params else 0


def _space(type_: Type | None) -> str:
    return type_.space.value if isinstance(type_, PtrType) else ""


def _member(s: Site, name: str) -> str:
    value = s.attr(name)
    return value.member if isinstance(value, EnumAttr) else ""


def _flat(type_: Type | None) -> bool:
    """All extents known, all but the last one 1."""
    return isinstance(type_, _GLOBAL) and None not in type_.dims and all(dim == 1 for dim in type_.dims[:-1])


def _field(s: Site) -> str | None:
    """The type at the end of a path into a struct; None if there is none."""
    type_: Type | None = s.type("s")
    path = s.attr("path")
    for index in path if isinstance(path, tuple) else ():
        fields = type_.params if isinstance(type_, OpaqueType) and type_.name == "struct" else ()
        if not isinstance(index, int) or not 0 <= index < len(fields):
            return None
        type_ = parse_type(fields[index])
    return type_text(type_) if type_ is not None else None


def _casts(s: Site) -> bool:
    source, result = s.type("input"), s.type("@")
    if isinstance(source, PtrType) and isinstance(result, PtrType):
        return source.space is result.space
    return isinstance(source, PtrType) != isinstance(result, PtrType) and "index" not in (
        _scalar(source), _scalar(result))


def _nested(s: Site) -> bool:
    return any(op.name == "pto.section.simt" for block in s.op.regions for op in block.ops)


def _sets_base(s: Site) -> bool:
    return "pto.set_ffts" in s.context.funcs[s.func].names


ROWS: tuple[Legal, ...] = (
    Legal("SCALAR-ELEMENT", "pto.load_scalar pto.store_scalar", "", "a scalar has the element type of its pointer",
          when=lambda s: bool(_pointee(s, "ptr")), holds=lambda s: _held(s) == _pointee(s, "ptr"),
          found=lambda s: f"{_held(s)} and {_pointee(s, 'ptr')}"),
    Legal("POINTER-NUMBER", "pto.ptrtoint", "", "an address is an i64", holds=lambda s: _scalar(s.type("@")) == "i64",
          found=lambda s: f"it is {_scalar(s.type('@'))}"),
    Legal("POINTER-CAST", "pto.castptr", "", "a cast is from a pointer to one of the same memory, or to or from an "
          "integer", holds=_casts,
          found=lambda s: f"{type_text(s.op.arg('input').type, True)} to {type_text(s.op.result.type, True)}"),
    Legal("ARRAY-RANK", "pto.local_array_get pto.local_array_set", "", "a local array has one index a dimension",
          when=lambda s: _dims(s) > 0, holds=lambda s: len(s.op.args.get("indices", ())) == _dims(s),
          found=lambda s: f"{len(s.op.args.get('indices', ()))} of {_dims(s)}"),
    Legal("CACHE-SPACE", "pto.cmo.cacheinvalid", "", "caches of global memory are maintained",
          when=lambda s: s.attr("space") is not None, holds=lambda s: _member(s, "space") in ("gm", "zero"),
          found=lambda s: f"it is {_member(s, 'space')}"),
    Legal("BUFFER-DYN-MODE", _BUFFERS, "", "a buffer's mode is not negative", holds=lambda s: s.int("mode") >= 0,
          found=lambda s: f"it is {s.int('mode')}"),
    Legal("BUFFER-DYN-PIPE", _BUFFERS, "", "a buffer belongs to one pipe",
          holds=lambda s: _member(s, "op_type") not in ("PIPE_ALL", "PIPE_UNASSIGNED"),
          found=lambda s: f"it belongs to {_member(s, 'op_type')}"),
    Legal("CROSS-MODE", "pto.set_cross_block", "", "ffts_mode of a block flag is 0",
          holds=lambda s: s.int("ffts_mode") == 0,
          found=lambda s: f"it is {s.int('ffts_mode')}"),
    Legal("LANE-PIPE", _LANES, "", "a flag within a block belongs to FIX, MTE1, MTE2, MTE3 or V",
          holds=lambda s: _member(s, "pipe") in _PIPES, found=lambda s: f"it belongs to {_member(s, 'pipe')}"),
    Legal("LANE-ID-A3", _LANES, "", "a flag within a block on a2a3 is 0 to 15", targets=A3,
          when=lambda s: s.attr("event_id") is not None, holds=lambda s: 0 <= s.int("event_id") <= 15,
          found=lambda s: f"it is {s.int('event_id')}"),
    Legal("LANE-ID-A5", _LANES, "", "a flag within a block on a5 is 0 to 31", targets=A5,
          when=lambda s: s.attr("event_id") is not None, holds=lambda s: 0 <= s.int("event_id") <= 31,
          found=lambda s: f"it is {s.int('event_id')}"),
    Legal("FLAG-BASE", f"pto.sync.set pto.sync.wait {_BLOCKS} {_LANES}", "",
          "a function with cross-core flags on a2a3 sets their base", targets=A3, holds=_sets_base,
          found=lambda s: f"@{s.func.name} has no pto.set_ffts", help="add pto.set_ffts",
          source="PTOAS, C++ emission"),
    Legal("FLAG-BASE-TYPE", "pto.set_ffts", "", "the base of cross-core flags is a pointer to i64 or i8",
          holds=lambda s: _pointee(s, "ffts") in (*_BYTE, "i64", "ui64", "si64"),
          found=lambda s: f"it is to {_pointee(s, 'ffts')}"),
    Legal("SYNCALL-CORES", "pto.syncall", "", "a hard barrier is of all cores",
          when=lambda s: s.member("mode") == "hard", holds=lambda s: not s.has("used_cores"),
          found=lambda s: "used_cores is given"),
    Legal("SYNCALL-SPACE", "pto.syncall", "", "the workspace of a soft barrier is in global memory",
          when=lambda s: isinstance(s.type("gm_workspace"), PtrType),
          holds=lambda s: _space(s.type("gm_workspace")) == Space.GM.value,
          found=lambda s: f"it is in {_space(s.type('gm_workspace'))}"),
    Legal("SIMT-NESTED", "pto.section.simt", "", "a launch is not within a launch", holds=lambda s: not _nested(s),
          found=lambda s: "one stands in it"),
    Legal("PREFETCH-CONTEXT", "pto.make_prefetch_async_context", "", "the workspace of a prefetch is of bytes",
          holds=lambda s: _pointee(s, "workspace") in _BYTE, found=lambda s: f"it is of {_pointee(s, 'workspace')}"),
    Legal("PREFETCH-FLAT", "pto.tprefetch_async", "", "an asynchronous prefetch is of one run of elements",
          holds=lambda s: _flat(s.type("src")), found=lambda s: type_text(s.op.arg("src").type, True)),
    Legal("SESSION-SCRATCH", "pto.comm.build_async_session", "scratch",
          f"the scratch of a session is in vec, of {_WORKSPACE_BYTES} bytes or more",
          holds=lambda s, t: is_vec(t) and t.bytes >= _WORKSPACE_BYTES,
          found=lambda s, t: f"{t.bytes} bytes in {t.loc.value}"),
    Legal("SESSION-WORKSPACE", "pto.comm.build_async_session", "", "the workspace of a session is of bytes",
          holds=lambda s: _pointee(s, "workspace") in _BYTE, found=lambda s: f"it is of {_pointee(s, 'workspace')}"),
    Legal("SESSION-NUMBERS", "pto.comm.build_async_session", "",
          "sync_id is 0 to 7, block_bytes and queue_num are positive, offset and group not negative",
          holds=lambda s: 0 <= s.int("sync_id") <= 7 and s.int("block_bytes", 1) > 0 and s.int("queue_num", 1) > 0
          and s.int("comm_block_offset") >= 0 and 0 <= s.int("channel_group_idx") < 2**32,
          found=lambda s: ", ".join(f"{name} = {value}" for name, value in s.op.attrs.items())),
    Legal("STRUCT-RANGE", "pto.struct_get pto.struct_set", "", "a path into a struct names a field of it",
          holds=lambda s: _field(s) is not None,
          found=lambda s: f"{s.attr('path')} of {type_text(s.op.arg('s').type)}"),
    Legal("STRUCT-FIELD", "pto.struct_get pto.struct_set", "", "a struct's field has the type that is set or got",
          when=lambda s: _field(s) is not None, holds=lambda s: _field(s) == _held(s),
          found=lambda s: f"{_held(s) or 'no scalar'} and {_field(s)}"),
    Legal("SUB-ARGUMENT", "pto.subview", "", "a window is cut from a tile of the function, not from an argument",
          when=lambda s: "pto.tileop.helper" not in s.func.attrs,
          holds=lambda s: s.op.arg("source") not in s.func.args, found=lambda s: f"%{s.op.arg('source').name} is one",
          source="PTOAS, views at lowering"),
)
