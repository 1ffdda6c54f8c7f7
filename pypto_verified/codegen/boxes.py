"""What the assembler demands of an allocated tile's physical shape, told in the user's terms (CG-19).

A boxed tile is addressed by whole fractal boxes, an unboxed one by rows of 32 bytes. Source: the layout check of
PTOAS's `alloc_tile`; it reports its own internals and no way out, so every alloc is checked here first.
"""

from __future__ import annotations

from pypto_verified.codegen.errors import refuse
from pypto_verified.codegen.types import effective_view
from pypto_verified.ir.expr import Span
from pypto_verified.ir.types import TileType
from pypto_verified.layouts import BLayout, SLayout, Space

BLOCK_BYTES = 32


def box_of(tile: TileType) -> tuple[int, int] | None:
    """Rows and columns of one fractal box in elements; None for unboxed, MX-scale and sub-byte tiles."""
    view = effective_view(tile)
    if view.slayout is SLayout.NONE or view.fractal == 32 or tile.dtype.bits < 8:
        return None
    if view.fractal == 1024:
        return 16, 16
    wide = BLOCK_BYTES // tile.dtype.bytes
    return (16, wide) if view.slayout is SLayout.ROW else (wide, 16)


def check_tile(name: str, tile: TileType, span: Span) -> None:
    """CodegenError at `span` if the physical shape of `name` is not a whole number of boxes (or of 32-byte rows)."""
    rows, cols = tile.shape if len(tile.shape) == 2 else (1, *tile.shape)
    box = box_of(tile)
    if box is not None:
        whole = cols % box[1] == 0 and (rows % box[0] == 0 or rows == 1 or tile.space is Space.VEC)
        if not whole:
            rule = f"{_what(name, tile)} must be a whole number of {box[0]}x{box[1]} fractal boxes"
            if cols % box[1]:
                _too_odd(rule, "column", cols, box[1], span)
            _too_odd(rule, "row", rows, box[0], span)
        return
    view = effective_view(tile)
    if view.slayout is not SLayout.NONE or tile.dtype.bits < 8:
        return
    step = BLOCK_BYTES // tile.dtype.bytes
    if view.blayout is BLayout.ROW and cols % step:
        _too_odd(f"{_what(name, tile)}: each row must be a multiple of {BLOCK_BYTES} bytes", "column", cols, step, span)
    if view.blayout is BLayout.COL and rows % step:
        _too_odd(f"{_what(name, tile)}: each column must be a multiple of {BLOCK_BYTES} bytes", "row", rows, step, span)


def _what(name: str, tile: TileType) -> str:
    rows, cols = tile.shape if len(tile.shape) == 2 else (1, *tile.shape)
    return f"tile '{name}' ({(tile.space or Space.VEC).name.capitalize()}, [{rows}, {cols}], {tile.dtype.name})"


def _too_odd(rule: str, axis: str, extent: int, step: int, span: Span) -> None:
    needed = -(-extent // step) * step
    refuse(
        f"{rule}, but its {axis} extent {extent} is not a multiple of {step}", span,
        f"allocate {needed} on that axis and declare {extent} as the tile's valid_shape",
    )
