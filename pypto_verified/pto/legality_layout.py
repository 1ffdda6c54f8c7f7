"""The layout that a tensor view declares, against the one that its constant shape and strides have."""

from __future__ import annotations

from pypto_verified.pto.legality import Legal, Site
from pypto_verified.pto.types import TensorViewType

_RANK = 5
_BOX_ROWS = 16
_BOX_BYTES = 512


def _constants(s: Site) -> tuple[list[int], list[int]] | None:
    """Shape and strides in elements; None unless all are constant. The type's extents go before the operands."""
    view = s.type("@")
    if not isinstance(view, TensorViewType):
        return None
    given, strides = s.consts("shape"), [n for n in s.consts("strides") if n is not None]
    if not len(view.dims) == len(given) == len(s.consts("strides")) == len(strides) or not 1 <= len(given) <= _RANK:
        return None
    shape = [n for n in (d if d is not None else c for d, c in zip(view.dims, given, strict=True)) if n is not None]
    return (shape, strides) if len(shape) == len(given) else None


def layouts_of(shape: list[int], strides: list[int], itemsize: int) -> tuple[str, ...]:
    """The layouts that a tensor of 1 to 5 dimensions may declare; `strides` in elements, `itemsize` in bytes."""
    shape, strides = list(shape), list(strides)
    while len(shape) < _RANK:
        strides.insert(0, shape[0] * strides[0])
        shape.insert(0, 1)
    if (shape[2] == _BOX_ROWS and shape[2] * shape[3] * itemsize == _BOX_BYTES
            and strides[4] == 1 and strides[3] == shape[4]):
        return ("nz",)
    (rows, cols), (down, right) = shape[3:], strides[3:]
    by_rows = (cols == 1 or right == 1) and (rows == 1 or down == cols)
    by_columns = (rows == 1 or down == 1) and (cols == 1 or right == rows)
    # A single row or column in one piece is both, and may declare either.
    if by_rows and by_columns:
        return ("nd", "dn")
    return ("dn",) if by_columns and not by_rows else ("nd",)


def _element_bytes(s: Site) -> int:
    view = s.type("@")
    return max(1, view.dtype.bytes) if isinstance(view, TensorViewType) else 1


def _fitting(s: Site) -> tuple[str, ...]:
    found = _constants(s)
    return layouts_of(*found, _element_bytes(s)) if found is not None else ()


def _is_scale(s: Site) -> bool:
    """Scales of microscaled products: what loads them decides their layout."""
    view = s.type("@")
    return isinstance(view, TensorViewType) and view.dtype.pto == "!pto.f8E8M0"


ROWS: tuple[Legal, ...] = (
    Legal("VIEW-LAYOUT", "pto.make_tensor_view", "", "a declared layout is that of the constant shape and strides",
          when=lambda s: bool(s.member("layout")) and not _is_scale(s) and bool(_fitting(s)),
          holds=lambda s: s.member("layout") in _fitting(s),
          found=lambda s: f"{s.member('layout')} is declared, they are {' or '.join(_fitting(s))}",
          help="declare that layout, or leave it out", source="PTOAS InferPTOLayout.cpp"),
)
