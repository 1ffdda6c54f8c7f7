"""Legality of what reaches beyond a core: gathers and scatters of global memory, communication between devices."""

from __future__ import annotations

from pypto_verified.layouts import Space
from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_words import (
    A3,
    extents,
    is_dn,
    is_nd,
    is_nz,
    is_row_major,
    is_vec,
    same,
    same_valid,
    spelled,
)
from pypto_verified.pto.module import EnumAttr
from pypto_verified.pto.types import PartitionViewType, PtrType, ScalarType, TensorViewType, TileBufType, Type
from pypto_verified.pto.typetext import type_text

_GATHER, _SCATTER = "pto.mgather", "pto.mscatter"
_COLLECTIVE = "pto.comm.tbroadcast pto.comm.tgather pto.comm.tscatter pto.comm.treduce"
_MOVES = f"pto.comm.tput pto.comm.tget {_COLLECTIVE}"
_SIGNALS = "pto.comm.tnotify pto.comm.twait pto.comm.ttest"
_VIEWS = (TensorViewType, PartitionViewType)
_WORKSPACE = 16
"""i32 elements that a soft barrier of all cores needs."""
_ATOMIC = {"add": frozenset({"f16", "f32", "i32", "ui32", "si32"}), "max": frozenset({"i32", "ui32", "si32", "f32"}),
           "min": frozenset({"i32", "ui32", "si32", "f32"})}


def _data(s: Site) -> TileBufType | None:
    """The tile of a gather or scatter."""
    return s.tile("dst" if s.op.name == _GATHER else "src")


def _into_mat(s: Site) -> bool:
    data = _data(s)
    return s.op.name == _GATHER and data is not None and data.loc is Space.MAT


def _element(type_: Type | None) -> str:
    """The element type of a tile, view or pointer; '' for anything else."""
    return type_.dtype.pto if isinstance(type_, (*_VIEWS, TileBufType, PtrType)) else ""


def _one(extent: int | None) -> bool:
    return extent is None or extent in (0, 1)


def _fits(s: Site, data: TileBufType, idx: TileBufType) -> bool:
    """Whether the indices are one a row or one an element, as `coalesce` says."""
    coalesce = s.member("coalesce")
    if coalesce == "elem" or (not coalesce and same_valid(data, idx)):
        return same_valid(data, idx)
    if not coalesce:
        return is_row_major(idx) and same(idx.v_row, data.v_row) and _one(idx.v_col)
    across = is_row_major(idx) and _one(idx.v_row) and same(idx.v_col, data.v_row)
    down = is_dn(idx) and same(idx.v_row, data.v_row) and _one(idx.v_col)
    return across or down


def _layout(s: Site) -> str:
    """The layout that the tensor behind a window declares, '' if it declares none."""
    window = s.context.producers.get(s.op.arg("mem"))
    tensor = s.context.producers.get(window.arg("source")) if window is not None and "source" in window.args else None
    value = tensor.attrs.get("layout") if tensor is not None else None
    return value.member if isinstance(value, EnumAttr) else ""


def _tiles(s: Site) -> list[TileBufType]:
    """The staging tiles of a communication op."""
    found = (s.tile(name) for name in ("ping", "pong", "acc"))
    return [tile for tile in found if tile is not None]


def _elements(s: Site) -> set[str]:
    """Element types of a communication op's tensors and staging tiles."""
    return {_element(v.type) for v in s.op.operands()} - {""}


def _group(s: Site) -> list[Type]:
    return [v.type for v in s.op.args.get("group", ())]


def _scalar(s: Site) -> str:
    type_ = s.type("value|cmpValue")
    return type_.dtype.pto if isinstance(type_, ScalarType) else ""


def _room(type_: Type | None) -> bool:
    """Whether a workspace of all cores is large enough, as far as its type says."""
    if not isinstance(type_, _VIEWS) or None in type_.dims:
        return True
    count = 1
    for dim in type_.dims:
        count *= dim or 0
    return count >= _WORKSPACE


ROWS: tuple[Legal, ...] = (
    Legal("GLOBAL-TILE", f"{_GATHER} {_SCATTER}", "", "the tile is in vec, row-major, unboxed",
          when=lambda s: _data(s) is not None and not _into_mat(s),
          holds=lambda s: (t := _data(s)) is not None and is_vec(t) and is_nd(t),
          found=lambda s: spelled(t) if (t := _data(s)) else ""),
    Legal("GLOBAL-DTYPE", f"{_GATHER} {_SCATTER}", "", "tile and global memory have one element type",
          when=lambda s: _data(s) is not None, holds=lambda s: _element(_data(s)) == _element(s.type("mem")),
          found=lambda s: f"{_element(_data(s))} and {_element(s.type('mem'))}"),
    Legal("GLOBAL-INDEX-TILE", f"{_GATHER} {_SCATTER}", "idx", "a tile of indices is in vec, unboxed",
          when=lambda s, t: not _into_mat(s), holds=lambda s, t: is_vec(t) and (is_nd(t) or is_dn(t)),
          found=lambda s, t: spelled(t)),
    Legal("GLOBAL-INDEX-SHAPE", f"{_GATHER} {_SCATTER}", "idx", "there is one index a row, or one an element",
          when=lambda s, t: not _into_mat(s) and _data(s) is not None,
          holds=lambda s, t: (data := _data(s)) is not None and _fits(s, data, t),
          found=lambda s, t: f"{s.member('coalesce') or 'no'} coalesce, the valid shapes are "
                             f"{extents(data, t) if (data := _data(s)) else ''}"),
    Legal("GLOBAL-LAYOUT", f"{_GATHER} {_SCATTER}", "", "the tensor behind the window is row-major, as far as it says",
          when=lambda s: bool(_layout(s)), holds=lambda s: _layout(s) == "nd", found=lambda s: f"it is {_layout(s)}"),
    Legal("GATHER-OOB", _GATHER, "", "a gather that says what is out of bounds says how it coalesces",
          when=lambda s: s.member("gatherOob") not in ("", "undefined"),
          holds=lambda s: s.attr("coalesce") is not None, found=lambda s: "coalesce is missing"),
    Legal("GATHER-MAT-INDEX", _GATHER, "dst", "indices and scratch of a gather into mat are windows of i32 and of its "
          "elements", when=lambda s, t: t.loc is Space.MAT,
          holds=lambda s, t: isinstance(s.type("idx"), PartitionViewType)
          and _element(s.type("idx")) in ("i32", "ui32", "si32")
          and (not s.has("scratch") or (isinstance(s.type("scratch"), PartitionViewType)
                                        and _element(s.type("scratch")) == t.dtype.pto)),
          found=lambda s, t: f"{_element(s.type('idx'))}, {_element(s.type('scratch'))}"),
    Legal("GLOBAL-WINDOW", f"{_GATHER} {_SCATTER}", "", "global memory is given as a partition",
          holds=lambda s: isinstance(s.type("mem"), PartitionViewType),
          found=lambda s: f"it is {type_text(s.op.arg('mem').type, True)}"),
    Legal("GATHER-MAT-LAYOUT", _GATHER, "dst", "a gather into mat makes whole NZ boxes of 512 bytes",
          when=lambda s, t: t.loc is Space.MAT,
          holds=lambda s, t: is_nz(t) and t.fractal == 512 and t.rows % 16 == 0 and t.cols * t.dtype.bytes % 32 == 0,
          found=lambda s, t: spelled(t)),
    Legal("GATHER-MAT-SCRATCH", _GATHER, "dst", "a gather has a scratch exactly if it takes elements into mat",
          holds=lambda s, t: s.has("scratch") == (t.loc is Space.MAT and s.member("coalesce") == "elem"),
          found=lambda s, t: f"it is {'given' if s.has('scratch') else 'missing'}"),
    Legal("SCATTER-CONFLICT", _SCATTER, "", "a2a3 does not say what becomes of conflicts", targets=A3,
          holds=lambda s: s.attr("scatterConflict") is None, found=lambda s: "scatterConflict is given"),
    Legal("SCATTER-ATOMIC", _SCATTER, "src", "the atomic exists for the element type",
          when=lambda s, t: s.member("scatterAtomicOp") in _ATOMIC,
          holds=lambda s, t: t.dtype.pto in _ATOMIC[s.member("scatterAtomicOp")],
          found=lambda s, t: f"{s.member('scatterAtomicOp')} of {t.dtype.pto}"),
    Legal("COMM-STAGING", _MOVES, "", "staging tiles are in vec", holds=lambda s: all(is_vec(t) for t in _tiles(s)),
          found=lambda s: spelled(*_tiles(s))),
    Legal("COMM-STAGING-DTYPE", _MOVES, "", "tensors and staging tiles have one element type",
          holds=lambda s: len(_elements(s)) < 2, found=lambda s: ", ".join(sorted(_elements(s)))),
    Legal("COMM-PONG", _MOVES, "ping pong", "both staging tiles have one type", holds=lambda s, a, b: a == b,
          found=lambda s, a, b: spelled(a, b)),
    Legal("COMM-GROUP", _COLLECTIVE, "", "the tensors of a group have one type",
          holds=lambda s: len(set(_group(s))) == 1,
          found=lambda s: " and ".join(type_text(t, True) for t in _group(s)) or "there are none"),
    Legal("COMM-BROADCAST", "pto.comm.tbroadcast", "", "what is broadcast has the type of the group",
          when=lambda s: bool(_group(s)), holds=lambda s: s.type("src") == _group(s)[0],
          found=lambda s: f"{type_text(s.op.arg('src').type, True)} and {type_text(_group(s)[0], True)}"),
    Legal("COMM-ACCUMULATOR", "pto.comm.treduce", "acc ping", "accumulator and staging tile have one type",
          holds=lambda s, a, b: a == b, found=lambda s, a, b: spelled(a, b)),
    Legal("COMM-ROOT", _COLLECTIVE, "", "the root is one of the group",
          holds=lambda s: 0 <= s.int("root") < len(_group(s)), found=lambda s: f"{s.int('root')} of {len(_group(s))}"),
    Legal("COMM-SIGNAL", _SIGNALS, "", "a signal is i32", holds=lambda s: _element(s.type("signal")) == "i32",
          found=lambda s: f"it is {_element(s.type('signal'))}"),
    Legal("COMM-VALUE", _SIGNALS, "", "a signal's value is i32", holds=lambda s: _scalar(s) == "i32",
          found=lambda s: f"it is {_scalar(s)}"),
    Legal("SYNCALL-WORKSPACE", "pto.syncall", "", f"the workspace of a soft barrier is {_WORKSPACE} i32 or more",
          when=lambda s: s.has("gm_workspace"),
          holds=lambda s: _element(s.type("gm_workspace")) in ("i32", "si32", "ui32") and _room(s.type("gm_workspace")),
          found=lambda s: type_text(s.op.arg("gm_workspace").type, True)),
    Legal("QUANT-MX-TARGET", "pto.tquant.mx", "", "microscaled quantisation exists on a5 only", holds=lambda s: s.a5,
          found=lambda s: "the target is a2a3"),
    Legal("MERGE-TYPES", "pto.tmrgsort", "srcs", "blocks of f16 and f32 are merged",
          when=lambda s, t: s.has("blockLen"),
          holds=lambda s, t: t.dtype.pto in ("f16", "f32"), found=lambda s, t: f"they are of {t.dtype.pto}"),
    Legal("MERGE-COLS", "pto.tmrgsort", "srcs dsts", "merging blocks keeps the columns",
          when=lambda s, a, b: s.has("blockLen"), holds=lambda s, a, b: a.cols == b.cols,
          found=lambda s, a, b: f"{a.cols} and {b.cols}"),
    Legal("MERGE-BLOCK", "pto.tmrgsort", "", "a block is a multiple of 64 elements",
          when=lambda s: s.const("blockLen") is not None,
          holds=lambda s: (n := s.const("blockLen") or 0) > 0 and n % 64 == 0,
          found=lambda s: f"it has {s.const('blockLen')}"),
)
