"""Legality of scratch tiles: which ops need one at which level, how large it is, what must be static to size it."""

from __future__ import annotations

from collections.abc import Callable

from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_operands import family
from pypto_verified.pto.legality_words import A3, BELOW3, LEVEL3, extents, is_row_major, same_valid
from pypto_verified.pto.types import TileBufType

_SOURCE = "PTOAS, scratch operands at level 3"
_BELOW = "PTOAS, scratch operands that the assembler adds"
_EXPLICIT = "give the op a scratch tile, or let the assembler plan memory (level 2)"
_STATIC = "give the op a scratch tile, or type it statically"
_ROW_SUMS = "pto.trowsum pto.trowmax pto.trowmin pto.trowprod pto.trowargmax pto.trowargmin"
_ROW_BINARY = "pto.trowexpandadd pto.trowexpandsub pto.trowexpandmul pto.trowexpanddiv pto.trowexpandmax "\
              "pto.trowexpandmin"
_ALWAYS_A3 = f"{_ROW_SUMS} pto.txor pto.txors pto.tprelu pto.trem pto.trems pto.tsel pto.tsels pto.ttrans pto.tquant "\
             "pto.tci"
"""Ops that have a scratch on a2a3, whatever their operands."""
_LIMIT = 255
"""Repeats of one vector instruction."""

Bytes = Callable[[Site, TileBufType, TileBufType], int | None]
"""Bytes of scratch for a site, its first source and its result; None if an extent that they depend on is `?`."""


def loses_bits(s: Site, a: TileBufType, b: TileBufType) -> bool:
    """A cast that a2a3 does in several steps through a scratch: narrowing to an integer without saturation."""
    if s.member("sat_mode") == "ON":
        return False
    return family(b) in {"f32": ("i16",), "f16": ("i16", "i8")}.get(family(a), ())


def _cast(s: Site, a: TileBufType, b: TileBufType) -> int | None:
    if not loses_bits(s, a, b):
        return 0
    rows, cols = b.v_row, b.v_col
    if rows is None or cols is None:
        return None
    if not cols or (family(a) == "f32" and not rows):
        return 0
    if family(a) == "f32":
        tail = (min(rows, _LIMIT) - 1) * (a.cols // 8) + -(-(cols % 64) // 8) if cols % 64 else 0
        return max(4 * 64 * min(cols // 64, _LIMIT), 32 * tail)
    width = min(cols, 64)
    narrow = 32 * -(-width // 8)
    return max(narrow, 128 + 32 * -(-width // 16)) if family(b) == "i8" else narrow


def _prelu(s: Site, a: TileBufType, b: TileBufType) -> int | None:
    if b.v_row is None or b.v_col is None:
        return None
    mask = (b.v_col + 7) // 8
    return (b.v_row + 1) * max(32, (mask + 31) // 32 * 32)


def _column_sum(s: Site, a: TileBufType, b: TileBufType) -> int | None:
    if s.attr("isBinary") is not True:
        return 0
    return None if a.v_row is None or a.v_col is None else -(-a.v_row // 2) * a.v_col * a.dtype.bytes


def _row_expand(s: Site, a: TileBufType, b: TileBufType) -> int:
    if b.v_row is None:
        return 8192
    return -(-b.v_row // 8) * 256 if b.v_row < 256 else 30 * 256


def _transpose(s: Site, a: TileBufType, b: TileBufType) -> int:
    block = 32 // a.dtype.bytes
    whole = b.cols % (32 if a.dtype.bytes == 1 else 16) == 0 and a.cols % block == 0 and a.cols // block <= _LIMIT
    return a.bytes if whole else 32


def _whole_result(s: Site, a: TileBufType, b: TileBufType) -> int:
    return b.bytes


def _whole_source(s: Site, a: TileBufType, b: TileBufType) -> int:
    return a.bytes


def _block(s: Site, a: TileBufType, b: TileBufType) -> int:
    return 32


BYTES_A3: dict[str, Bytes] = {
    **dict.fromkeys((*_ROW_SUMS.split(), "pto.tcolargmax", "pto.tcolargmin"), _block),
    **dict.fromkeys(("pto.txor", "pto.txors", "pto.tpow", "pto.tpows"), _whole_result),
    **dict.fromkeys(("pto.tsort32", "pto.tquant"), _whole_source),
    **dict.fromkeys(_ROW_BINARY.split(), _row_expand),
    "pto.tcvt": _cast, "pto.tprelu": _prelu, "pto.ttrans": _transpose,
    "pto.trem": lambda s, a, b: 2 * b.cols * b.dtype.bytes, "pto.trems": lambda s, a, b: b.cols * b.dtype.bytes,
    "pto.tsel": lambda s, a, b: 16 if b.dtype.bits == 16 else 8,
    "pto.tsels": lambda s, a, b: a.cols * a.dtype.bytes,
    "pto.tci": lambda s, a, b: 768 if b.dtype.bits == 32 else 1792,
}
BYTES_ALL: dict[str, Bytes] = {"pto.tcolsum": _column_sum, "pto.trsqrt": _block}
BYTES_A5: dict[str, Bytes] = {"pto.ttrans": _block}


def _first(s: Site) -> TileBufType | None:
    return s.tile("src|src0|base|dst")


def _need(s: Site, table: dict[str, Bytes]) -> int | None:
    source, result = _first(s), s.tile("dst")
    return table[s.op.name](s, source, result) if source is not None and result is not None else None


def _fits(id_: str, table: dict[str, Bytes], targets: tuple[str, ...] = ("a2a3", "a5"), where: str = "") -> Legal:
    return Legal(id_, " ".join(table), "tmp", f"the scratch{where} is large enough", targets=targets,
                 when=lambda s, t: _need(s, table) is not None, holds=lambda s, t: t.bytes >= (_need(s, table) or 0),
                 found=lambda s, t: f"it holds {t.bytes} of {_need(s, table)} bytes")


def _known(*tiles: TileBufType) -> bool:
    return all(t.v_row is not None and t.v_col is not None for t in tiles)


def _sizes_itself(s: Site) -> tuple[TileBufType | None, bool]:
    """The tile from whose valid shape the assembler sizes the scratch that it adds, and whether it adds one."""
    name = s.op.name
    source, result = _first(s), s.tile("dst")
    if name in ("pto.tpow", "pto.tpows"):
        return result, result is not None and result.dtype.is_float
    if name == "pto.tcolsum":
        return source, s.attr("isBinary") is True
    if name == "pto.tsort32":
        return source, source is not None and source.v_col is not None and source.v_col % 32 != 0
    if s.a5 or source is None or result is None:
        return None, False
    if name == "pto.tcvt":
        return result, loses_bits(s, source, result)
    return (source if name in (*_ROW_SUMS.split(), "pto.tsels", "pto.tquant") else result), True


_ADDED = f"{_ROW_SUMS} pto.txor pto.txors pto.tprelu pto.trem pto.trems pto.tsels pto.tquant pto.tpow pto.tpows "\
         "pto.tcolsum pto.tsort32 pto.tcvt"


def _without_tmp(s: Site) -> bool:
    return len(s.op.args.get("srcs", ())) > 1 and not s.has("tmp")


ROWS: tuple[Legal, ...] = (
    _fits("SCRATCH-BYTES", BYTES_ALL),
    _fits("SCRATCH-BYTES-A3", BYTES_A3, A3, " on a2a3"),
    _fits("SCRATCH-BYTES-A5", BYTES_A5, ("a5",), " on a5"),
    Legal("SCRATCH-LEVEL3", _ALWAYS_A3, "dst", "at level 3 the op has a scratch on a2a3", targets=A3, levels=LEVEL3,
          holds=lambda s, t: s.has("tmp"), found=lambda s, t: "there is none", help=_EXPLICIT, source=_SOURCE),
    Legal("SCRATCH-STATIC", _ADDED, "", "the assembler can size the scratch that it adds", levels=BELOW3,
          when=lambda s: not s.has("tmp") and _sizes_itself(s)[1] and _sizes_itself(s)[0] is not None,
          holds=lambda s: (t := _sizes_itself(s)[0]) is not None and _known(t),
          found=lambda s: f"a valid shape is {extents(t) if (t := _sizes_itself(s)[0]) else ''}", help=_STATIC,
          source=_BELOW),
    Legal("CAST-SCRATCH-STATIC", "pto.tcvt", "dst tmp", "a narrowing cast with a scratch on a2a3 knows its valid shape",
          targets=A3, when=lambda s, b, t: (a := s.tile("src")) is not None and loses_bits(s, a, b),
          holds=lambda s, b, t: _known(b), found=lambda s, b, t: f"it is {extents(b)}", help=_STATIC),
    Legal("MERGE-LEVEL3", "pto.tmrgsort", "", "at level 3 a merge of several sources has a scratch", levels=LEVEL3,
          when=lambda s: len(s.op.args.get("srcs", ())) > 1, holds=lambda s: not _without_tmp(s),
          found=lambda s: "there is none", help=_EXPLICIT, source=_SOURCE),
    Legal("REM-SCRATCH", "pto.trem pto.trems", "dst tmp", "the scratch on a2a3 has the valid columns of the result, "
          "and two rows for a remainder of tiles", targets=A3,
          holds=lambda s, b, t: (t.v_row is None or t.v_row >= (2 if s.op.name == "pto.trem" else 1))
          and (t.v_col is None or b.v_col is None or t.v_col >= b.v_col),
          found=lambda s, b, t: extents(t, b)),
    Legal("CI-SCRATCH-FRACTAL", "pto.tci", "tmp", "the scratch of a ramp on a2a3 has no other fractal size than 512",
          targets=A3, holds=lambda s, t: t.fractal == 512, found=lambda s, t: f"it is {t.fractal}"),
    Legal("COLSUM-STRIDE", "pto.tcolsum", "src tmp", "the scratch of a binary column sum is as wide as the source",
          when=lambda s, a, t: s.attr("isBinary") is True and a.v_col is not None,
          holds=lambda s, a, t: t.cols >= (a.v_col or 0), found=lambda s, a, t: f"{t.cols} of {a.v_col} columns"),
    Legal("PRELU-STORAGE", "pto.tprelu", "tmp", "the operands of a prelu with a scratch on a2a3 are different tiles",
          targets=A3, holds=lambda s, t: len(set(s.op.operands())) == len(list(s.op.operands())),
          found=lambda s, t: ", ".join(f"%{v.name}" for v in s.op.operands())),
    Legal("SEL-SCRATCH", "pto.tsel", "tmp", "the scratch of a select on a2a3 has 4-byte elements", targets=A3,
          holds=lambda s, t: t.dtype.bytes == 4, found=lambda s, t: f"they are {t.dtype.pto}"),
    Legal("EXPAND-SCRATCH", f"{_ROW_BINARY} pto.trowexpandexpdif", "src0 src1 dst tmp",
          "a row expansion with a scratch on a2a3 has one value a row, in a column", targets=A3,
          when=lambda s, a, b, c, t: (c.v_row, c.v_col) != (0, 0),
          holds=lambda s, a, b, c, t: _is_column(_expanded(a, b, c)), found=lambda s, a, b, c, t: extents(a, b, c)),
)


def _expanded(a: TileBufType, b: TileBufType, c: TileBufType) -> TileBufType | None:
    """The operand of which each row has one value."""
    return b if same_valid(a, c) else a if same_valid(b, c) else None


def _is_column(t: TileBufType | None) -> bool:
    return t is not None and not is_row_major(t) and t.v_col in (None, 1)
