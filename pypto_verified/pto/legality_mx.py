"""Legality of the microscaled products of a5: low-precision operands with a scale for every 32 elements along K."""

from __future__ import annotations

from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.pto.legality import Legal
from pypto_verified.pto.legality_words import (
    A5,
    MAX_MATMUL,
    at_least,
    dtypes,
    extents,
    is_nz,
    is_zn,
    is_zz,
    same,
    spelled,
    up_to,
)
from pypto_verified.pto.types import TileBufType

_GROUP = 32
"""Elements along K that share a scale."""
_K_UNIT = 64
_MATMUL = "pto.tmatmul.mx pto.tmatmul.mx.acc pto.tmatmul.mx.bias"
_GEMV = "pto.tgemv.mx pto.tgemv.mx.acc pto.tgemv.mx.bias"


def _groups(k: int | None) -> int | None:
    return None if k is None else -(-k // _GROUP)


def _pair(a: TileBufType, b: TileBufType) -> bool:
    """Two f8 types, or two packed f4 types."""
    both = {a.dtype.pto, b.dtype.pto}
    return both <= {"f8E4M3FN", "f8E5M2"} or both <= {"!pto.f4E2M1x2", "!pto.f4E1M2x2"}


def _left_scale(scale: TileBufType, a: TileBufType) -> bool:
    physical = scale.rows == a.rows and scale.cols == _groups(a.cols)
    return physical and same(scale.v_row, a.v_row) and same(scale.v_col, _groups(a.v_col))


def _right_scale(scale: TileBufType, a: TileBufType, b: TileBufType) -> bool:
    physical = scale.rows == _groups(a.cols) and scale.cols == b.cols
    return physical and same(scale.v_row, _groups(a.v_col)) and same(scale.v_col, b.v_col)


def _conforming(a: TileBufType, b: TileBufType, c: TileBufType) -> bool:
    """Whether the logical shapes fit: the valid extent where the type knows it, else the physical one."""
    (m, k), (k2, n), (m2, n2) = ((t.rows if t.v_row is None else t.v_row, t.cols if t.v_col is None else t.v_col)
                                 for t in (a, b, c))
    return m == m2 and k == k2 and n == n2


def _is_nn(t: TileBufType) -> bool:
    """Columns of column-major boxes."""
    return t.blayout is BLayout.COL and t.slayout is SLayout.COL


def _sizes(a: TileBufType, b: TileBufType) -> tuple[int | None, int | None, int | None]:
    return a.v_row, a.v_col, b.v_col


ROWS: tuple[Legal, ...] = (
    Legal("MX-TARGET", f"{_MATMUL} {_GEMV}", "", "microscaled products exist on a5 only", holds=lambda s: s.a5,
          found=lambda s: "the target is a2a3"),
    Legal("MX-SPACE", f"{_MATMUL} {_GEMV}", "a b dst", "lhs is in left, rhs in right, the result in acc", targets=A5,
          holds=lambda s, a, b, c: (a.loc, b.loc, c.loc) == (Space.LEFT, Space.RIGHT, Space.ACC),
          found=lambda s, a, b, c: f"{a.loc.value}, {b.loc.value} and {c.loc.value}"),
    Legal("MX-LAYOUT", f"{_MATMUL} {_GEMV}", "a b dst", "lhs is NZ, rhs ZN, the result NZ", targets=A5,
          holds=lambda s, a, b, c: is_nz(a) and is_zn(b) and is_nz(c), found=lambda s, a, b, c: spelled(a, b, c)),
    Legal("MX-TYPES", f"{_MATMUL} {_GEMV}", "a b", "both operands are of f8 types or both of packed f4 types",
          targets=A5, holds=lambda s, a, b: _pair(a, b), found=lambda s, a, b: dtypes(a, b)),
    Legal("MX-RESULT", f"{_MATMUL} {_GEMV}", "dst", "the result is f32", targets=A5,
          holds=lambda s, t: t.dtype.pto == "f32", found=lambda s, t: f"it is {t.dtype.pto}"),
    Legal("MX-K", _MATMUL, "a b", f"K is a multiple of {_K_UNIT}", targets=A5,
          holds=lambda s, a, b: a.cols % _K_UNIT == 0 and b.rows % _K_UNIT == 0,
          found=lambda s, a, b: f"it is {a.cols} and {b.rows}"),
    Legal("MX-SHAPE", f"{_MATMUL} {_GEMV}", "a b dst", "lhs is M x K, rhs K x N, the result M x N", targets=A5,
          holds=lambda s, a, b, c: _conforming(a, b, c), found=lambda s, a, b, c: spelled(a, b, c)),
    Legal("MX-GEMV-ROW", _GEMV, "a dst", "a matrix-vector product has one row", targets=A5,
          holds=lambda s, a, c: same(a.v_row, 1) and same(c.v_row, 1), found=lambda s, a, c: extents(a, c)),
    Legal("MX-BIAS-COLS", "pto.tgemv.mx.bias", "bias dst", "the bias has the columns of the result", targets=A5,
          holds=lambda s, a, c: a.cols == c.cols, found=lambda s, a, c: f"{a.cols} of {c.cols}"),
    Legal("MX-SIZE", f"{_MATMUL} {_GEMV}", "a b", f"M, K and N are 1 to {MAX_MATMUL}", targets=A5,
          holds=lambda s, a, b: all(at_least(v, 1) and up_to(v, MAX_MATMUL) for v in _sizes(a, b)),
          found=lambda s, a, b: f"the valid shapes are {extents(a, b)}"),
    Legal("MX-SCALE-SPACE", f"{_MATMUL} {_GEMV}", "a_scale b_scale", "both scales are in scaling", targets=A5,
          holds=lambda s, a, b: a.loc is b.loc is Space.SCALING, found=lambda s, a, b: f"{a.loc.value}, {b.loc.value}"),
    Legal("MX-SCALE-LEFT", _MATMUL, "a_scale a", f"the left scales are M x K/{_GROUP}", targets=A5,
          holds=lambda s, scale, a: _left_scale(scale, a), found=lambda s, scale, a: spelled(scale, a)),
    Legal("MX-SCALE-GEMV", _GEMV, "a_scale a", f"the left scales are M x K/{_GROUP} of the valid shape", targets=A5,
          holds=lambda s, scale, a: same(scale.rows, a.v_row) and same(scale.cols, _groups(a.v_col))
          and same(scale.v_row, a.v_row) and same(scale.v_col, _groups(a.v_col)),
          found=lambda s, scale, a: spelled(scale, a)),
    Legal("MX-SCALE-GEMV-RIGHT", _GEMV, "b_scale a b", f"the right scales are K/{_GROUP} of the valid shape x N",
          targets=A5, holds=lambda s, scale, a, b: same(scale.rows, _groups(a.v_col)) and scale.cols == b.cols
          and same(scale.v_row, _groups(a.v_col)) and same(scale.v_col, b.v_col),
          found=lambda s, scale, a, b: spelled(scale, a, b)),
    Legal("MX-SCALE-RIGHT", _MATMUL, "b_scale a b", f"the right scales are K/{_GROUP} x N", targets=A5,
          holds=lambda s, scale, a, b: _right_scale(scale, a, b), found=lambda s, scale, a, b: spelled(scale, a, b)),
    Legal("MX-SCALE-LAYOUT", _MATMUL, "a_scale b_scale", "the left scales are ZZ, the right ones NN, in 32-byte boxes",
          targets=A5, holds=lambda s, a, b: is_zz(a) and _is_nn(b) and a.fractal == b.fractal == 32,
          found=lambda s, a, b: spelled(a, b)),
)

