"""Legality of allocations and views."""

from __future__ import annotations

from dataclasses import replace

from pypto_verified.dtypes import BOOL, INT64
from pypto_verified.layouts import BLayout, Compact, Pad, Space
from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_words import (
    BELOW3,
    LEVEL3,
    at_least,
    box,
    extents,
    is_row_major,
    is_vec,
    line_bytes,
    same,
    spelled,
    up_to,
)
from pypto_verified.pto.types import (
    MultiTileBufType,
    PartitionViewType,
    PtrType,
    ScalarType,
    TensorViewType,
    TileBufType,
)

_ALLOCS = "pto.alloc_tile pto.alloc_multi_tile"
_KB = 1024
_CAPACITY = {Space.VEC: 192 * _KB, Space.MAT: 512 * _KB, Space.LEFT: 64 * _KB, Space.RIGHT: 64 * _KB,
             Space.ACC: 128 * _KB, Space.BIAS: 64 * _KB, Space.SCALING: 192 * _KB}
_CAPACITY_A5 = {Space.VEC: 248 * _KB, Space.ACC: 256 * _KB, Space.SCALING: 248 * _KB}
"""Bytes that the assembler's planner has in each memory; where a5 differs."""
_L0 = (Space.LEFT, Space.RIGHT, Space.ACC)


def _scalar(s: Site, name: str) -> str:
    found = s.type(name)
    return found.dtype.pto if isinstance(found, ScalarType) else "no scalar"


def _unit(t: TileBufType) -> int:
    """Packed 4-bit elements count two values a byte."""
    return 16 if t.dtype.pto in ("!pto.f4E2M1x2", "!pto.f4E1M2x2") else 32


def _rounded(t: TileBufType) -> str:
    rows, cols = box(t)
    return f"{-(-t.rows // rows) * rows}x{-(-t.cols // cols) * cols}"


def _address_unit(t: TileBufType) -> int:
    return 512 if t.loc in _L0 else 32


def _rank(s: Site, name: str) -> int:
    found = s.type(name)
    return len(found.dims) if isinstance(found, TensorViewType | PartitionViewType) else 0


def _dims(s: Site, name: str) -> tuple[int | None, ...]:
    found = s.type(name)
    return found.dims if isinstance(found, TensorViewType | PartitionViewType) else ()


def _elements(s: Site, *names: str) -> list[str]:
    return [t.dtype.pto for name in names
            if isinstance(t := s.type(name), PtrType | TensorViewType | PartitionViewType | TileBufType)]


def _windows(s: Site) -> list[tuple[int, int, int]]:
    """Offset, size and source extent of each dimension in which all three are known."""
    triples = zip(s.consts("offsets"), s.consts("sizes"), _dims(s, "source"), strict=False)
    return [(o, z, d) for o, z, d in triples if o is not None and z is not None and d is not None]


def _sizes(s: Site) -> tuple[int, ...]:
    found = s.attr("sizes")
    return tuple(v for v in found if isinstance(v, int)) if isinstance(found, tuple) else ()


def _operand(s: Site, name: str, extent: int | None) -> str:
    return f"the type says {'?' if extent is None else extent}, the operand is {'given' if s.has(name) else 'missing'}"


def _counts(s: Site, first: str, second: str, view: str) -> str:
    found = [f"{len(s.op.args.get(name, ()))} {name}" for name in (first, second)]
    return f"{' and '.join(found)} for {_rank(s, view)} dimensions"


def _whole_boxes(s: Site, source: TileBufType, result: TileBufType) -> bool:
    rows, cols = box(source)
    aligned = all(offset is None or offset % unit == 0
                  for offset, unit in zip(s.consts("offsets"), (rows, cols), strict=False))
    return aligned and result.rows % rows == 0 and result.cols % cols == 0


def _owns(s: Site) -> str:
    """The op that made the handle of set_validshape, through bitcasts and reshapes; '' for an argument."""
    value = s.op.arg("source")
    while True:
        producer = s.context.producers.get(value)
        if producer is None:
            return ""
        if producer.name not in ("pto.bitcast", "pto.treshape"):
            return producer.name
        value = producer.arg("src")


ROWS: tuple[Legal, ...] = (
    Legal("ALLOC-LINE", _ALLOCS, "@", "a line of an unboxed tile is a whole number of 32-byte units",
          when=lambda s, t: not t.boxed and t.dtype is not BOOL, holds=lambda s, t: line_bytes(t) % _unit(t) == 0,
          found=lambda s, t: f"a {'row' if is_row_major(t) else 'column'} of {spelled(t)} has {line_bytes(t)} bytes",
          help="allocate a multiple of 32 bytes and give the smaller extent as valid shape"),
    Legal("ALLOC-BOX-COLS", _ALLOCS, "@", "the columns of a boxed tile are a whole number of boxes",
          when=lambda s, t: t.boxed, holds=lambda s, t: t.cols % box(t)[1] == 0,
          found=lambda s, t: f"{t.cols} columns, a box has {box(t)[1]}; {_rounded(t)} would fit",
          help="allocate whole boxes and give the smaller extent as valid shape"),
    Legal("ALLOC-BOX-ROWS", _ALLOCS, "@", "the rows of a boxed tile are a whole number of boxes",
          when=lambda s, t: t.boxed and not is_vec(t) and t.fractal != 32 and t.rows != 1,
          holds=lambda s, t: t.rows % box(t)[0] == 0,
          found=lambda s, t: f"{t.rows} rows, a box has {box(t)[0]}; {_rounded(t)} would fit",
          help="allocate whole boxes and give the smaller extent as valid shape"),
    Legal("ALLOC-BIT", _ALLOCS, "@", "a tile's element has a size in bytes", holds=lambda s, t: t.dtype is not BOOL,
          found=lambda s, t: "i1 has none", help="use i8 for masks"),
    Legal("ALLOC-ADDR-TYPE", _ALLOCS, "@", "an address is an i64", when=lambda s, t: s.has("addr"),
          holds=lambda s, t: s.type("addr") == ScalarType(INT64), found=lambda s, t: f"it is {_scalar(s, 'addr')}"),
    Legal("ALLOC-ADDR-SIGN", _ALLOCS, "@", "an address is not negative", when=lambda s, t: s.has("addr"),
          holds=lambda s, t: at_least(s.const("addr"), 0), found=lambda s, t: f"the address is {s.const('addr')}"),
    Legal("ALLOC-ADDR-UNIT", _ALLOCS, "@", "an address is aligned: 512 bytes in left, right and acc, 32 elsewhere",
          when=lambda s, t: at_least(s.const("addr"), 0),
          holds=lambda s, t: (s.const("addr") or 0) % _address_unit(t) == 0,
          found=lambda s, t: f"{s.const('addr')} is no multiple of {_address_unit(t)} in {t.loc.value}"),
    Legal("ALLOC-VALID-ROW", _ALLOCS, "@", "valid_row is given exactly if the type says v_row=?",
          holds=lambda s, t: s.has("valid_row") == (t.v_row is None),
          found=lambda s, t: _operand(s, "valid_row", t.v_row)),
    Legal("ALLOC-VALID-COL", _ALLOCS, "@", "valid_col is given exactly if the type says v_col=?",
          holds=lambda s, t: s.has("valid_col") == (t.v_col is None),
          found=lambda s, t: _operand(s, "valid_col", t.v_col)),
    Legal("ALLOC-PLANNED", _ALLOCS, "@", "at level 3 every allocation has an address", levels=LEVEL3,
          holds=lambda s, t: s.has("addr"), found=lambda s, t: "there is none",
          help="give addr, or assemble at level 2, where the assembler plans memory", source="PTOAS driver"),
    Legal("ALLOC-UNPLANNED", _ALLOCS, "@", "below level 3 no allocation has an address", levels=BELOW3,
          holds=lambda s, t: not s.has("addr"), found=lambda s, t: f"the address is {s.const('addr')}",
          help="leave addr out, or assemble at level 3", source="PTOAS driver"),
    Legal("ALLOC-FITS", _ALLOCS, "@", "a tile that the assembler places fits into its memory", levels=BELOW3,
          holds=lambda s, t: _placed(s, t) <= _capacity(s, t),
          found=lambda s, t: f"{_placed(s, t)} of {_capacity(s, t)} bytes in {t.loc.value}",
          source="PTOAS, PlanMemory"),
    Legal("MULTI-COMPACT", "pto.alloc_multi_tile", "@", "slots are not padded by a row",
          holds=lambda s, t: t.compact is not Compact.ROW_PLUS_ONE, found=lambda s, t: f"the slot is {spelled(t)}"),
    Legal("MULTI-SLOT-TYPE", "pto.multi_tile_get", "source @", "the result has the type of a slot",
          holds=lambda s, slot, t: slot == t, found=lambda s, slot, t: spelled(slot, t)),
    Legal("MULTI-SLOT", "pto.multi_tile_get", "source", "a constant slot exists",
          holds=lambda s, t: 0 <= (s.const("slot") or 0) < _slots(s),
          found=lambda s, t: f"slot {s.const('slot')} of {_slots(s)}"),
    Legal("VIEW-ELEMENT", "pto.make_tensor_view", "", "pointer and view have the same element type",
          holds=lambda s: len(set(_elements(s, "ptr", "@"))) < 2,
          found=lambda s: " and ".join(_elements(s, "ptr", "@"))),
    Legal("VIEW-RANK", "pto.make_tensor_view", "", "shape and strides have one operand a dimension",
          holds=lambda s: len(s.op.args.get("shape", ())) == len(s.op.args.get("strides", ())) == _rank(s, "@"),
          found=lambda s: _counts(s, "shape", "strides", "@")),
    Legal("PART-ELEMENT", "pto.partition_view", "", "source and result have the same element type",
          holds=lambda s: len(set(_elements(s, "source", "@"))) < 2,
          found=lambda s: " and ".join(_elements(s, "source", "@"))),
    Legal("PART-RANK", "pto.partition_view", "", "offsets and sizes have one operand a dimension of the source",
          holds=lambda s: len(s.op.args.get("offsets", ())) == len(s.op.args.get("sizes", ())) == _rank(s, "source"),
          found=lambda s: _counts(s, "offsets", "sizes", "source")),
    Legal("PART-OFFSET", "pto.partition_view", "", "a constant offset is not negative",
          holds=lambda s: all(at_least(o, 0) for o in s.consts("offsets")),
          found=lambda s: f"the offsets are {s.consts('offsets')}"),
    Legal("PART-SIZE", "pto.partition_view", "", "a constant size is positive",
          holds=lambda s: all(at_least(z, 1) for z in s.consts("sizes")),
          found=lambda s: f"the sizes are {s.consts('sizes')}"),
    Legal("PART-RESULT", "pto.partition_view", "", "constant sizes are the extents of the result",
          when=lambda s: _rank(s, "source") == _rank(s, "@"),
          holds=lambda s: all(same(z, d) for z, d in zip(s.consts("sizes"), _dims(s, "@"), strict=False)),
          found=lambda s: f"sizes {s.consts('sizes')}, extents {list(_dims(s, '@'))}"),
    Legal("PART-BOUND", "pto.partition_view", "", "a constant window lies inside the source",
          holds=lambda s: all(o + z <= d for o, z, d in _windows(s)),
          found=lambda s: "; ".join(f"{o} + {z} > {d}" for o, z, d in _windows(s) if o + z > d)),
    Legal("SUB-SHAPE", "pto.subview", "@", "the result has the shape that sizes give",
          holds=lambda s, t: _sizes(s) == (t.rows, t.cols),
          found=lambda s, t: f"sizes {_sizes(s)}, result {spelled(t)}"),
    Legal("SUB-RANK", "pto.subview", "", "a window has two offsets",
          holds=lambda s: len(s.op.args.get("offsets", ())) == 2,
          found=lambda s: f"there are {len(s.op.args.get('offsets', ()))}"),
    Legal("SUB-OFFSET", "pto.subview", "@", "a constant offset is not negative",
          holds=lambda s, t: all(at_least(o, 0) for o in s.consts("offsets")),
          found=lambda s, t: f"the offsets are {s.consts('offsets')}"),
    Legal("SUB-CONFIG", "pto.subview", "source @", "source and result agree in all but the extents",
          holds=lambda s, a, b: _config(a) == _config(b), found=lambda s, a, b: spelled(a, b)),
    Legal("SUB-VALID", "pto.subview", "@", "a constant valid extent lies in the window",
          when=lambda s, t: s.has("valid_row"),
          holds=lambda s, t: all(at_least(v, 0) and up_to(v, z) for v, z in _valid_sizes(s, t)),
          found=lambda s, t: f"valid {[v for v, _ in _valid_sizes(s, t)]} of {[z for _, z in _valid_sizes(s, t)]}"),
    Legal("SUB-RESULT", "pto.subview", "@", "the result's type says the valid extents that the op gives",
          holds=lambda s, t: all(_says(s, t, n) for n in (0, 1)),
          found=lambda s, t: f"it says {extents(t)}, the op gives {_given(s)}",
          help="a constant operand is min(operand, size) in the type, another one `?`; without operands it is static"),
    Legal("SUB-BOX", "pto.subview", "source @", "offsets and sizes on a boxed tile are whole boxes",
          when=lambda s, a, b: a.boxed,
          holds=lambda s, a, b: _whole_boxes(s, a, b),
          found=lambda s, a, b: f"offsets {s.consts('offsets')}, sizes {b.rows}x{b.cols}, a box is {box(a)}"),
    Legal("RESHAPE-SPACE", "pto.treshape", "src @", "source and result are in the same memory",
          holds=lambda s, a, b: a.loc is b.loc, found=lambda s, a, b: f"{a.loc.value} and {b.loc.value}"),
    Legal("RESHAPE-BYTES", "pto.treshape", "src @", "source and result have the same number of bytes",
          holds=lambda s, a, b: a.bytes == b.bytes, found=lambda s, a, b: f"{a.bytes} and {b.bytes} bytes"),
    Legal("RESHAPE-BOX", "pto.treshape", "src @", "a boxed tile stays boxed, an unboxed one unboxed",
          holds=lambda s, a, b: a.boxed == b.boxed, found=lambda s, a, b: spelled(a, b)),
    Legal("BITCAST-SHAPE", "pto.bitcast", "src @", "source and result agree in all but the element type",
          holds=lambda s, a, b: replace(a, dtype=b.dtype) == b,
          found=lambda s, a, b: spelled(a, b)),
    Legal("BITCAST-DTYPE", "pto.bitcast", "src @", "a bitcast changes the element type",
          holds=lambda s, a, b: a.dtype != b.dtype, found=lambda s, a, b: f"both are {a.dtype.pto}"),
    Legal("BITCAST-BYTES", "pto.bitcast", "src @", "the result is not larger than the source",
          holds=lambda s, a, b: b.bytes <= a.bytes, found=lambda s, a, b: f"{b.bytes} > {a.bytes} bytes"),
    Legal("SETVALID-TYPE", "pto.set_validshape", "source", "the tile's type leaves both valid extents open",
          holds=lambda s, t: t.v_row is None and t.v_col is None, found=lambda s, t: f"its valid shape is {extents(t)}",
          help="declare the tile with v_row=?, v_col=?"),
    Legal("SETVALID-OWNER", "pto.set_validshape", "source", "the tile is a handle of its own, no view",
          holds=lambda s, t: _owns(s) not in ("pto.subview", "pto.multi_tile_get", ""),
          found=lambda s, t: f"it comes from {_owns(s) or 'an argument'}",
          help="give the valid shape where the view is made"),
    Legal("SETVALID-RANGE", "pto.set_validshape", "source", "a constant valid extent lies in the tile",
          holds=lambda s, t: _inside(s.const("valid_row"), t.rows) and _inside(s.const("valid_col"), t.cols),
          found=lambda s, t: f"{s.const('valid_row')}x{s.const('valid_col')} of {t.rows}x{t.cols}"),
    Legal("INTTOPTR-WIDTH", "pto.inttoptr", "", "an address is an i64",
          holds=lambda s: s.type("addr") == ScalarType(INT64), found=lambda s: f"%{s.op.arg('addr').name} is not"),
    Legal("PREFETCH-SPACE", "pto.tprefetch", "dst", "the destination is in vec or mat",
          holds=lambda s, t: t.loc in (Space.VEC, Space.MAT), found=lambda s, t: f"it is in {t.loc.value}"),
)


def _given(s: Site) -> str:
    if not s.has("valid_row"):
        return "none"
    return "x".join("?" if v is None else str(v) for v in (s.const("valid_row"), s.const("valid_col")))


def _says(s: Site, t: TileBufType, axis: int) -> bool:
    """Whether the type's valid extent of an axis follows from the operand, or is static without one."""
    written, size = ((t.v_row, t.rows), (t.v_col, t.cols))[axis]
    if not s.has("valid_row"):
        return written is not None
    constant = s.const(("valid_row", "valid_col")[axis])
    return written == (None if constant is None else min(constant, size))


def _inside(value: int | None, limit: int) -> bool:
    return at_least(value, 0) and up_to(value, limit)


def _valid_sizes(s: Site, t: TileBufType) -> list[tuple[int | None, int]]:
    return [(s.const("valid_row"), t.rows), (s.const("valid_col"), t.cols)]


def _config(t: TileBufType) -> tuple[str, Space, BLayout, bool, int, Pad, Compact]:
    return t.dtype.pto, t.loc, t.blayout, t.boxed, t.fractal, t.pad, t.compact


def _placed(s: Site, t: TileBufType) -> int:
    """Bytes of all slots of an allocation."""
    found = s.type("@")
    return t.bytes * (found.count if isinstance(found, MultiTileBufType) else 1)


def _capacity(s: Site, t: TileBufType) -> int:
    return _CAPACITY_A5.get(t.loc, _CAPACITY[t.loc]) if s.a5 else _CAPACITY[t.loc]


def _slots(s: Site) -> int:
    found = s.type("source")
    return found.count if isinstance(found, MultiTileBufType) else 1
