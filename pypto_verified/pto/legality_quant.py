"""Legality of quantisation: of tiles into 8-bit integers, and into microscaled floats with a scale for 32 elements."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.layouts import Space
from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.legality_operands import family
from pypto_verified.pto.legality_words import A5, dtypes, extents, same, spelled
from pypto_verified.pto.types import TileBufType

_QUANT, _MX = "pto.tquant", "pto.tquant.mx"
_GROUP = 32
_HALVES = ("f16", "bf16")
_LINE = 128
"""16-bit elements that one vector instruction takes."""


def _by_rows(s: Site) -> bool:
    """Whether groups lie along a column: grpAxis is axis0."""
    return s.member("grpAxis") == "axis0"


def _packs(s: Site) -> bool:
    """Whether the result is of packed 4-bit floats."""
    return s.member("quant_type") == "MXFP4_E2M1"


def _mx_tiles(s: Site) -> list[TileBufType]:
    return [t for name in ("src", "dst", "exp", "max", "scaling", "exp_zz") if (t := s.tile(name)) is not None]


def _static(s: Site) -> bool:
    return all(t.v_row is not None and t.v_col is not None for t in _mx_tiles(s))


def _sizes(s: Site) -> tuple[int, int, int, int]:
    """Valid and physical rows and columns of the source: M, N, rows, columns. 0 for an unknown extent."""
    t = s.tile("src")
    return (t.v_row or 0, t.v_col or 0, t.rows, t.cols) if t is not None else (0, 0, 0, 0)


def _whole_groups(s: Site) -> bool:
    m, n, _, _ = _sizes(s)
    along = m if _by_rows(s) else n
    return m > 0 and n > 0 and along % _GROUP == 0 and (s.attr("interleave") is not True or m % 64 == 0)


def _groups(s: Site) -> int:
    m, n, _, _ = _sizes(s)
    return m * (n // _GROUP)


def _grouped(s: Site, t: TileBufType) -> bool:
    """Whether a tile has one element a group: [M/32, N] or [M, N/32], or all in one row."""
    m, n, _, _ = _sizes(s)
    if _by_rows(s):
        return (t.v_row, t.v_col) == (m // _GROUP, n)
    return (t.v_row, t.v_col) in ((m, n // _GROUP), (1, _groups(s)))


def _exponents(s: Site, t: TileBufType) -> bool:
    """Whether the exponents have their valid and physical shape."""
    m, n, rows, cols = _sizes(s)
    if s.attr("interleave") is True:
        width = -(-2 * cols // 32) * 32
        return (t.v_row, t.v_col, t.rows, t.cols) == (m // 64, 2 * n, rows // 64, width) and rows % 64 == 0
    if not _grouped(s, t):
        return False
    if _by_rows(s):
        return t.cols == cols and t.rows * t.cols >= m // _GROUP * cols
    if t.rows == 1:
        return cols == n and (t.v_row, t.v_col) == (1, _groups(s)) and t.cols >= _groups(s)
    return t.v_row != 1 and t.rows >= m and t.cols >= n // _GROUP


def _helpers(s: Site) -> Iterator[TileBufType]:
    """The maxima and the scales."""
    yield from (t for name in ("max", "scaling") if (t := s.tile(name)) is not None)


def _compact(t: TileBufType) -> bool:
    return t.v_row == 1 or t.cols == t.v_col


def _helper_fits(s: Site, t: TileBufType) -> bool:
    m, _, _, cols = _sizes(s)
    if _by_rows(s):
        return t.cols == cols and t.rows * t.cols >= m // _GROUP * cols
    return _compact(t)


def _scale_bytes(s: Site, a: TileBufType, e: TileBufType) -> int:
    """Bytes of the scales when the exponents lie in one row, else of one scale a group."""
    groups = _groups(s)
    if e.rows != 1:
        return groups * a.dtype.bytes
    if family(a) in _HALVES:
        return -(-groups // _LINE) * _LINE * 2
    m, _, rows, cols = _sizes(s)
    twice = rows * cols > 1024 and rows * cols % 256 == 0 and m * cols % 256 == 0
    return -(-(groups * (2 if twice else 1)) // 64) * 64 * 4


def _result(s: Site, b: TileBufType) -> bool:
    """Whether the result has the source's extents, packed by two for 4-bit floats, and room for them."""
    m, n, _, cols = _sizes(s)
    pack = 2 if _packs(s) else 1
    if (b.v_row, b.v_col) != (m, n // pack) or b.rows < m or (_packs(s) and cols % 2):
        return False
    if (not _by_rows(s) or _packs(s)) and b.cols != cols // pack:
        return False
    return b.rows * b.cols >= (m - 1) * b.cols + n // pack


def _ended(s: Site, a: TileBufType) -> bool:
    """Whether the padding that a source of 16-bit elements is stored with ends with an instruction."""
    m, n, _, cols = _sizes(s)
    return family(a) not in _HALVES or n >= cols or _LINE % cols != 0 or m * cols % _LINE == 0


def _supported(s: Site, a: TileBufType, e: TileBufType) -> bool:
    """Whether the ISA has the form for the source's element type."""
    half = family(a) in _HALVES
    if s.attr("interleave") is True:
        return half
    if _by_rows(s):
        return not (_packs(s) and family(a) == "f16" and _sizes(s)[3] // 2 % 32 != 0)
    if e.rows != 1:
        return not half
    return not half or s.member("quantScaleAlg") in ("", "ocp")


ROWS: tuple[Legal, ...] = (
    Legal("QUANT-KIND", _QUANT, "", "a quantisation is INT8_SYM or INT8_ASYM",
          holds=lambda s: s.member("quant_type") in ("INT8_SYM", "INT8_ASYM"),
          found=lambda s: f"it is {s.member('quant_type')}"),
    Legal("QUANT-MX-ZZ", _MX, "", "exponents in ZZ are stored along rows, in a mode, without another scale algorithm",
          targets=A5, holds=lambda s: s.has("exp_zz") == (s.attr("storeMode") is not None)
          and not (s.has("exp_zz") and (_by_rows(s) or s.member("quantScaleAlg") not in ("", "ocp"))),
          found=lambda s: f"exp_zz is {'given' if s.has('exp_zz') else 'missing'}"),
    Legal("QUANT-MX-KIND", _MX, "src dst", "a microscaled quantisation is MXFP8 into 8-bit integers, or MXFP4_E2M1 of "
          "f16 or bf16 into f4E2M1x2", targets=A5,
          holds=lambda s, a, b: (s.member("quant_type") == "MXFP8" and family(b) == "i8")
          or (_packs(s) and b.dtype.pto == "!pto.f4E2M1x2" and family(a) in _HALVES),
          found=lambda s, a, b: f"{s.member('quant_type')} of {dtypes(a, b)}"),
    Legal("QUANT-MX-INTERLEAVE", _MX, "", "exponents are interleaved along columns only", targets=A5,
          holds=lambda s: s.attr("interleave") is not True or _by_rows(s), found=lambda s: "grpAxis is axis1"),
    Legal("QUANT-MX-STATIC", _MX, "", "a microscaled quantisation knows its valid shapes", targets=A5,
          holds=_static, found=lambda s: extents(*_mx_tiles(s))),
    Legal("QUANT-MX-GROUPS", _MX, "src", f"the source is whole groups of {_GROUP}, of 64 rows if interleaved",
          targets=A5, when=lambda s, t: _static(s), holds=lambda s, t: _whole_groups(s),
          found=lambda s, t: f"its valid shape is {extents(t)}"),
    Legal("QUANT-MX-RESULT", _MX, "dst", "the result has the extents of the source", targets=A5,
          when=lambda s, t: _static(s) and _whole_groups(s), holds=_result,
          found=lambda s, t: f"{spelled(t)} for {_sizes(s)[0]}x{_sizes(s)[1]}"),
    Legal("QUANT-MX-EXPONENTS", _MX, "exp", "the exponents have one element a group", targets=A5,
          when=lambda s, t: _static(s) and _whole_groups(s), holds=_exponents,
          found=lambda s, t: f"{spelled(t)} for {_sizes(s)[0]}x{_sizes(s)[1]}"),
    Legal("QUANT-MX-HELPERS", _MX, "max scaling", "maxima and scales have one element a group", targets=A5,
          when=lambda s, a, b: _static(s) and _whole_groups(s),
          holds=lambda s, a, b: all(_grouped(s, t) and _helper_fits(s, t) for t in _helpers(s)),
          found=lambda s, a, b: spelled(a, b)),
    Legal("QUANT-MX-ROOM", _MX, "src exp max scaling", "maxima and scales have room for all groups", targets=A5,
          when=lambda s, a, e, m, c: _static(s) and _whole_groups(s) and not _by_rows(s),
          holds=lambda s, a, e, m, c: m.rows * m.cols >= _groups(s) and c.bytes >= _scale_bytes(s, a, e),
          found=lambda s, a, e, m, c: f"{m.rows * m.cols} of {_groups(s)} maxima, {c.bytes} of "
                                      f"{_scale_bytes(s, a, e)} bytes of scales"),
    Legal("QUANT-MX-ZZ-COUNT", _MX, "exp_zz", "exponents in ZZ have one element a group", targets=A5,
          when=lambda s, t: _static(s) and _whole_groups(s),
          holds=lambda s, t: (t.v_row or 0) * (t.v_col or 0) == _groups(s),
          found=lambda s, t: f"{extents(t)} for {_groups(s)}"),
    Legal("QUANT-MX-FORM", _MX, "src exp", "the ISA has the form for the source's element type", targets=A5,
          when=lambda s, a, e: _static(s), holds=_supported, found=lambda s, a, e: spelled(a, e)),
    Legal("QUANT-MX-PADDING", _MX, "src", "the padding of a source of 16-bit elements ends with an instruction",
          targets=A5, when=lambda s, t: _static(s), holds=_ended, found=lambda s, t: spelled(t)),
    Legal("SCALE-SOURCE", "pto.tget_scale_addr", "", "scales exist on a5 only", holds=lambda s: s.a5,
          found=lambda s: "the target is a2a3"),
    Legal("SCALE-OF", "pto.tget_scale_addr", "src dst", "scales belong to a left or a right operand", targets=A5,
          holds=lambda s, a, b: a.loc in (Space.LEFT, Space.RIGHT), found=lambda s, a, b: f"it is in {a.loc.value}"),
    Legal("SCALE-SHAPE", "pto.tget_scale_addr", "src dst",
          f"there is a scale for every {_GROUP} valid elements along K", targets=A5,
          when=lambda s, a, b: a.loc in (Space.LEFT, Space.RIGHT), holds=lambda s, a, b: _scales(a, b),
          found=lambda s, a, b: spelled(a, b)),
)


def _scales(a: TileBufType, b: TileBufType) -> bool:
    k = a.v_col if a.loc is Space.LEFT else a.v_row
    groups = None if k is None else -(-k // _GROUP)
    if a.loc is Space.LEFT:
        return b.rows == a.rows and same(b.cols, groups) and same(b.v_row, a.v_row) and same(b.v_col, groups)
    return same(b.rows, groups) and b.cols == a.cols and same(b.v_row, groups) and same(b.v_col, a.v_col)
