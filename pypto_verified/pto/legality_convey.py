"""Legality of transfers in detail: layouts and element types that a target's loads, stores, moves, extracts and
inserts take, beyond the pairs of memories of `legality_move.py`."""

from __future__ import annotations

from pypto_verified.layouts import Pad, Space
from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_operands import family, family_of
from pypto_verified.pto.legality_words import (
    A3,
    A5,
    MAX_MATMUL,
    dtypes,
    is_dn,
    is_nd,
    is_nz,
    is_row_major,
    is_vec,
    is_zn,
    is_zz,
    spelled,
)
from pypto_verified.pto.types import PartitionViewType, TensorViewType, TileBufType

_VEC, _MAT, _ACC = Space.VEC, Space.MAT, Space.ACC
_EXTRACT, _INSERT, _MOVE, _STORE = "pto.textract", "pto.tinsert", "pto.tmov", "pto.tstore"
_BYTES = frozenset({"i8", "f16", "bf16", "f32"})
_SMALL = frozenset({"f8", "hif8", "f4"})
_A5_LOADED = frozenset({"i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f8", "hif8", "f4", "hif8x2", "bf16x2"})
_QUANTS = {"f32": frozenset({"i8", "f16", "bf16", "f32", "f8", "hif8"}), "i32": frozenset({"i8", "f16", "bf16"})}
_CASTS = {"f32": frozenset({"f16", "bf16", "f32"}), "i32": frozenset({"i32"})}
_STORED = {"f32": frozenset({"i8", "f16", "bf16", "f32", "hif8", "f8E4M3"}), "i32": frozenset({"i8", "f16", "bf16"})}


def _view(s: Site, name: str) -> PartitionViewType | TensorViewType | None:
    found = s.type(name)
    return found if isinstance(found, PartitionViewType | TensorViewType) else None


def _element(view: PartitionViewType | TensorViewType | None) -> str:
    """The family of a view's element type, '' without a view."""
    return family_of(view.dtype) if view is not None else ""


def _stored(view: PartitionViewType | TensorViewType | None) -> str:
    """The family of a view's element type, with the formats of 8-bit floats told apart."""
    name = view.dtype.pto if view is not None else ""
    return name.removesuffix("FN") if name.startswith("f8") else _element(view)


def _empty(s: Site, name: str) -> bool:
    view = _view(s, name)
    return view is not None and 0 in view.dims


def _from(a: TileBufType, b: TileBufType, source: Space, *into: Space) -> bool:
    return a.loc is source and b.loc in into


def _acc_types(s: Site, a: TileBufType, b: TileBufType) -> bool:
    table = _QUANTS if s.quantised else _CASTS
    return family(b) in table.get(family(a), ())


def _mat_source(s: Site, a: TileBufType, b: TileBufType) -> bool:
    """Whether operands are extracted from a mat tile of this layout."""
    if not s.a5 or b.loc is Space.LEFT:
        return is_row_major(a) or is_nz(a)
    return is_zn(a) or is_nz(a)


def _to_zz(s: Site) -> bool:
    """The move that reorders exponents for the cube: a third tile that is not in scaling."""
    tile = s.tile("fp")
    return tile is not None and tile.loc is not Space.SCALING


def _columns(s: Site) -> bool:
    """Whether exponents are grouped along rows, in a move to ZZ."""
    return s.member("grpAxis") == "axis0"


def _zz_shape(a: TileBufType, b: TileBufType, columns: bool) -> bool:
    if None in (a.v_row, a.v_col, b.v_row, b.v_col):
        return False
    rows, cols = a.v_row or 0, a.v_col or 0
    if rows * cols != (b.v_row or 0) * (b.v_col or 0):
        return False
    if columns:
        return rows >= 2 and rows % 2 == 0 and cols % 16 == 0 and a.cols == cols
    return (b.v_col or 0) % 2 == 0 and (rows == 1 or a.cols == cols)


def _zz_room(a: TileBufType, b: TileBufType, t: TileBufType, columns: bool) -> bool:
    if columns:
        need = (a.v_row or 0) * (a.v_col or 0)
        return a.bytes >= need and b.bytes >= need
    blocks = -(-(b.v_row or 0) // 16)
    need = blocks * 16 * (b.v_col or 0)
    return a.bytes >= need and b.bytes >= need and t.bytes >= 64 + blocks * (b.v_col or 0)


ROWS: tuple[Legal, ...] = (
    Legal("TRANSFER-EMPTY", f"pto.tload pto.tprefetch {_STORE}", "", "a window has no extent of 0",
          holds=lambda s: not _empty(s, "src") and not _empty(s, "dst"), found=lambda s: "it has"),
    Legal("TRANSFER-TYPES-A5", "pto.tload pto.tprefetch", "dst", "a5 moves integers, f16, bf16, f32 and smaller floats",
          targets=A5, holds=lambda s, t: {family(t), _element(_view(s, "src"))} <= _A5_LOADED | {""},
          found=lambda s, t: f"{_element(_view(s, 'src'))} and {t.dtype.pto}"),
    Legal("PREFETCH-WIDTH", "pto.tprefetch", "dst", "view and tile have elements of one size",
          when=lambda s, t: _view(s, "src") is not None,
          holds=lambda s, t: (v := _view(s, "src")) is not None and v.dtype.bytes == t.dtype.bytes,
          found=lambda s, t: f"{_element(_view(s, 'src'))} and {t.dtype.pto}"),
    Legal("STORE-PHASE", _STORE, "fp", "a store with a quantisation vector has no phase",
          holds=lambda s, t: s.member("stPhase") in ("", "unspecified"), found=lambda s, t: f"{s.member('stPhase')}"),
    Legal("STORE-TYPES-A3", _STORE, "src", "a2a3 stores 8 to 64-bit integers, f16, bf16 and f32 from vec and mat",
          targets=A3, when=lambda s, t: t.loc in (_VEC, _MAT),
          holds=lambda s, t: family(t) in (_BYTES | {"i16", "i32", "i64"}) and _element(_view(s, "dst")) not in _SMALL,
          found=lambda s, t: f"{t.dtype.pto} into {_element(_view(s, 'dst'))}"),
    Legal("STORE-TYPES-A5", _STORE, "src", "a5 stores integers, f16, bf16, f32 and smaller floats from vec", targets=A5,
          when=lambda s, t: is_vec(t), holds=lambda s, t: family(t) in _A5_LOADED,
          found=lambda s, t: f"the tile is of {t.dtype.pto}"),
    Legal("STORE-LAYOUT-A5", _STORE, "src", "a vec tile stored on a5 is ND, DN or NZ, or has one row or column",
          targets=A5, when=lambda s, t: is_vec(t),
          holds=lambda s, t: 1 in (t.rows, t.cols) or is_nd(t) or is_dn(t) or is_nz(t), found=lambda s, t: spelled(t)),
    Legal("STORE-QUANT-A5", _STORE, "src", "an accumulator on a5 is quantised into these element types", targets=A5,
          when=lambda s, t: t.loc is _ACC and s.has("preQuantScalar") and _view(s, "dst") is not None,
          holds=lambda s, t: _stored(_view(s, "dst")) in _STORED.get(family(t), ()),
          found=lambda s, t: f"{t.dtype.pto} into {_element(_view(s, 'dst'))}"),
    Legal("STORE-ACC-VALID", _STORE, "src", f"an accumulator stored on a2a3 has at most {MAX_MATMUL} valid columns",
          targets=A3, when=lambda s, t: t.loc is _ACC and t.v_col is not None,
          holds=lambda s, t: (t.v_col or 0) <= MAX_MATMUL, found=lambda s, t: f"it has {t.v_col}"),
    Legal("EXTRACT-TYPES-A5", _EXTRACT, "dst", "a5 extracts i8, f16, bf16, f32 and smaller floats", targets=A5,
          holds=lambda s, t: family(t) in _BYTES | _SMALL, found=lambda s, t: f"the result is {t.dtype.pto}"),
    Legal("EXTRACT-MAT", _EXTRACT, "src dst", "an operand is extracted from a mat tile in a layout that the target has",
          when=lambda s, a, b: _from(a, b, _MAT, Space.LEFT, Space.RIGHT) or (s.a5 and a.loc is _MAT),
          holds=lambda s, a, b: _mat_source(s, a, b), found=lambda s, a, b: spelled(a)),
    Legal("ACC-TYPES-A5", f"{_EXTRACT} {_INSERT}", "src dst", "a5 takes an accumulator into these element types",
          targets=A5, when=lambda s, a, b: _from(a, b, _ACC, _MAT, _VEC), holds=_acc_types,
          found=lambda s, a, b: dtypes(a, b)),
    Legal("INSERT-TYPES-A3", _INSERT, "src dst", "a2a3 inserts i8, f16, bf16 and f32 from vec to vec", targets=A3,
          when=lambda s, a, b: _from(a, b, _VEC, _VEC), holds=lambda s, a, b: family(a) in _BYTES,
          found=lambda s, a, b: f"it is {a.dtype.pto}"),
    Legal("INSERT-TYPES-A5", _INSERT, "src dst", "a5 inserts i8, i32, f16, bf16, f32 and smaller floats from vec, "
          "in one element type", targets=A5, when=lambda s, a, b: _from(a, b, _VEC, _MAT, _VEC),
          holds=lambda s, a, b: a.dtype == b.dtype and family(a) in _BYTES | _SMALL | {"i32"},
          found=lambda s, a, b: dtypes(a, b)),
    Legal("INSERT-VEC-A5", _INSERT, "src dst", "an insert from vec to vec on a5 is from ND to ND or from NZ to NZ",
          targets=A5, when=lambda s, a, b: _from(a, b, _VEC, _VEC),
          holds=lambda s, a, b: (is_nd(a) and is_nd(b)) or (is_nz(a) and is_nz(b)),
          found=lambda s, a, b: spelled(a, b)),
    Legal("INSERT-MAT-A5", _INSERT, "src dst", "an insert from vec to mat on a5 is from ND or NZ to NZ", targets=A5,
          when=lambda s, a, b: _from(a, b, _VEC, _MAT),
          holds=lambda s, a, b: is_nz(b) and (is_nz(a) or (is_nd(a) and s.attr("tinsertMode") is None)),
          found=lambda s, a, b: spelled(a, b)),
    Legal("INSERT-OUT-A5", _INSERT, "src dst", "an insert from acc to vec on a5 is from NZ to ND or NZ", targets=A5,
          when=lambda s, a, b: _from(a, b, _ACC, _VEC), holds=lambda s, a, b: is_nz(a) and (is_nd(b) or is_nz(b)),
          found=lambda s, a, b: spelled(a, b)),
    Legal("MOVE-QUANT-SOURCE", _MOVE, "src fp", "a move with a quantisation vector is of an i32 or f32 accumulator",
          when=lambda s, a, t: not _to_zz(s),
          holds=lambda s, a, t: a.loc is _ACC and family(a) in ("f32", "i32"), found=lambda s, a, t: spelled(a)),
    Legal("MOVE-QUANT-LAYOUT", _MOVE, "dst fp", "a move with a quantisation vector to mat on a2a3 is to NZ", targets=A3,
          when=lambda s, b, t: b.loc is _MAT, holds=lambda s, b, t: is_nz(b), found=lambda s, b, t: spelled(b)),
    Legal("MOVE-QUANT-LANES", _MOVE, "", "a quantised move goes to one vector core",
          when=lambda s: s.quantised and not _to_zz(s),
          holds=lambda s: not s.member("accToVecMode").startswith("dual"), found=lambda s: s.member("accToVecMode")),
    Legal("MOVE-GROUP", _MOVE, "", "only a move to ZZ has a group axis",
          holds=lambda s: s.attr("grpAxis") is None or _to_zz(s), found=lambda s: f"it is {s.member('grpAxis')}"),
    Legal("ZZ-TARGET", _MOVE, "fp", "a move to ZZ exists on a5 only", when=lambda s, t: _to_zz(s),
          holds=lambda s, t: s.a5, found=lambda s, t: "the target is a2a3"),
    Legal("ZZ-FORM", _MOVE, "fp", "a move to ZZ has no quantisation, relu or mode", targets=A5,
          when=lambda s, t: _to_zz(s),
          holds=lambda s, t: not s.has("preQuantScalar") and s.attr("accToVecMode") is None
          and s.member("reluPreMode") in ("", "no_relu"), found=lambda s, t: "it has"),
    Legal("ZZ-TILES", _MOVE, "src dst fp", "a move to ZZ is from ND to ZZ, three vec tiles of their own", targets=A5,
          when=lambda s, a, b, t: _to_zz(s),
          holds=lambda s, a, b, t: is_vec(a) and is_vec(b) and is_vec(t) and is_nd(a) and is_zz(b)
          and len(set(s.op.operands())) == 3, found=lambda s, a, b, t: spelled(a, b, t)),
    Legal("ZZ-TYPES", _MOVE, "src dst fp", "a move to ZZ is of ui8, hif8 or f8E8M0", targets=A5,
          when=lambda s, a, b, t: _to_zz(s),
          holds=lambda s, a, b, t: a.dtype == b.dtype == t.dtype
          and a.dtype.pto in ("ui8", "!pto.hif8", "!pto.f8E8M0"), found=lambda s, a, b, t: dtypes(a, b, t)),
    Legal("ZZ-SHAPE", _MOVE, "src dst fp", "a move to ZZ has known shapes of one size in whole groups", targets=A5,
          when=lambda s, a, b, t: _to_zz(s), holds=lambda s, a, b, t: _zz_shape(a, b, _columns(s)),
          found=lambda s, a, b, t: spelled(a, b)),
    Legal("ZZ-ROOM", _MOVE, "src dst fp", "the tiles of a move to ZZ hold its padded boxes", targets=A5,
          when=lambda s, a, b, t: _to_zz(s) and _zz_shape(a, b, _columns(s)),
          holds=lambda s, a, b, t: _zz_room(a, b, t, _columns(s)), found=lambda s, a, b, t: spelled(a, b, t)),
    Legal("FILLPAD-ATTRIBUTE", "pto.tfillpad", "dst", "padValue repeats the pad of a mat tile",
          when=lambda s, t: s.attr("padValue") is not None,
          holds=lambda s, t: t.loc is _MAT and s.member("padValue").lower() == t.pad.name.lower(),
          found=lambda s, t: f"{s.member('padValue')}, the tile is {spelled(t)}"),
    Legal("FILLPAD-VALUE", "pto.tfillpad", "dst", "the destination says what to fill with",
          holds=lambda s, t: t.pad is not Pad.NULL, found=lambda s, t: "pad is null"),
)
