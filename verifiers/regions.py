"""Which elements each op reads and writes, as the first rows and columns of a tile or of a window of one, and the
exact bytes of such a region: elements of boxed tiles are told apart inside their boxes."""

from __future__ import annotations

from dataclasses import replace

from pypto_verified.index import Expr, const, minimum
from pypto_verified.index.cond import TRUE
from pypto_verified.layouts import BLayout, Pad, SLayout, Space
from pypto_verified.records import dataclass
from verifiers import elementwise
from verifiers.access import Step, TileUse
from verifiers.access.indexed import indexed, picked
from verifiers.access.overlap import FAR, mask, same_bytes
from verifiers.access.tiles import inner_box, rect_of
from verifiers.op_sites import (
    BINS,
    COL_EXPANSION,
    COL_REDUCTION,
    PART_ARGS,
    PRODUCT,
    QUANTISING,
    ROW_EXPANSION,
    ROW_REDUCTION,
    filter_read,
)

MERGING = frozenset({"pto.tinsert", "pto.tsetval", "pto.tscatter", "pto.mscatter"})
"""Ops that keep the rest of their destination: what they keep is judged where it is read."""


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The first `rows` x `cols` elements of `tile`. `sure`: all of them are touched; else the op may touch any part of
    the tile, or part of it that is not expressed. `boxes`: the rest of the last boxes is touched too, with values that
    nothing specifies: the matrix unit multiplies whole boxes."""

    tile: TileUse
    rows: Expr
    cols: Expr
    sure: bool = True
    boxes: bool = False


def reads_of(step: Step) -> tuple[Region, ...]:
    """One region for each tile that the op reads, in the order of `Step.reads`."""
    return tuple(_read(step, tile) for tile in step.reads())


def writes_of(step: Step) -> tuple[Region, ...]:
    """One region for each tile that the op writes, in the order of `Step.writes`; an op of unknown effects writes all
    that it names."""
    if not step.modelled:
        named = (o for values in step.operands.values() for o in values if isinstance(o, TileUse))
        return tuple(_all(t) for t in named)
    return tuple(_written(step, tile) for tile in step.writes())


def _all(tile: TileUse) -> Region:
    return Region(tile, const(tile.type.rows), const(tile.type.cols))


def _valid(tile: TileUse) -> Region:
    return Region(tile, tile.valid_rows, tile.valid_cols)


def factors(step: Step) -> tuple[TileUse, TileUse] | None:
    """The left and right operand of a matrix product."""
    left = step.tiles("lhs") or step.tiles("a")
    right = step.tiles("rhs") or step.tiles("b")
    return (left[0], right[0]) if step.op.name in PRODUCT and left and right else None


def _read(step: Step, tile: TileUse) -> Region:
    name, targets, pair = step.op.name, step.tiles("dst"), factors(step)
    if name == "pto.tgetval":
        return _element(step, tile)
    if name == "pto.thistogram" and tile in step.tiles("idx") and step.tiles("src"):
        return Region(tile, *filter_read(step))
    if picked(step, tile):
        return replace(_valid(tile), sure=False)  # assumption INDEX-DATA: no other elements than these
    if pair is not None and tile not in pair:
        rows = const(1) if tile in step.tiles("bias") else pair[0].valid_rows
        return Region(tile, rows, pair[1].valid_cols)
    if name.startswith("pto.tpush"):
        return _boxes(tile)
    if not targets:
        return _valid(tile)
    target = targets[0]
    if name == "pto.textract" and tile in step.tiles("src"):
        return _cut(step, tile, target, target.valid_rows, target.valid_cols)
    rows, cols = _lanes(step, tile, target)
    return Region(tile, rows, cols)


_IN_PLACE = elementwise.OPS | PART_ARGS | {"pto.tmov", "pto.tpartadd", "pto.tpartmul", "pto.tpartmax", "pto.tpartmin"}
"""Ops that read at the places that they write."""


def _lanes(step: Step, tile: TileUse, target: TileUse) -> tuple[Expr, Expr]:
    """Rows and columns that an op over the destination's valid region reads of a source."""
    name = step.op.name
    rows, cols = tile.valid_rows, tile.valid_cols
    high, wide = minimum(rows, target.valid_rows), minimum(cols, target.valid_cols)
    if name in ("pto.tsel", "pto.tsels"):
        # A mask has one bit a lane: how many of its columns that makes depends on how it is declared.
        return (high, minimum(cols, 1)) if tile in step.tiles("mask") else (high, wide)
    if name in ROW_EXPANSION:
        return (high, wide) if tile in step.tiles("src0") else (high, minimum(cols, 1))
    if name in COL_EXPANSION:
        return (high, wide) if tile in step.tiles("src0") else (minimum(rows, 1), wide)
    if name == "pto.trowexpand":
        return high, minimum(cols, 1)
    if name == "pto.tcolexpand":
        return minimum(rows, 1), wide
    if name in QUANTISING:
        return (high, wide) if tile in step.tiles("src") else (high, minimum(cols, 1))
    taking = indexed(step)
    if name == "pto.tgather" and taking is not None and tile in step.tiles(taking.indices):
        return high, wide
    return (high, wide) if name in _IN_PLACE and tile not in step.tiles("fp") else (rows, cols)


def whole_boxes(tile: TileUse, rows: Expr, cols: Expr) -> tuple[Expr, Expr]:
    """The extents rounded up to whole boxes."""
    high, wide = inner_box(tile.type)
    return (rows + high - 1) // high * high, (cols + wide - 1) // wide * wide


def _boxes(tile: TileUse) -> Region:
    """A push moves whole boxes, and compilers round its extents up to them; what of the last box counts is for whoever
    pops it. One element of each box has to be there."""
    rows, cols = inner_box(tile.type)
    return Region(tile, _first_of_last(tile.valid_rows, rows), _first_of_last(tile.valid_cols, cols))


def _first_of_last(extent: Expr, box: int) -> Expr:
    return (extent - 1) // box * box + 1


def _written(step: Step, tile: TileUse) -> Region:
    name, pair = step.op.name, factors(step)
    if tile is step.made:
        return _all(tile)
    if name == "pto.tinsert":
        sources = step.tiles("src")
        return _cut(step, tile, sources[0], sources[0].valid_rows, sources[0].valid_cols) if sources else replace(
            _valid(tile), sure=False)
    if name == "pto.tsetval":
        return _element(step, tile)
    if name in MERGING and "maskPattern" not in step.op.attrs:
        return replace(_valid(tile), sure=False)
    if pair is not None:
        return Region(tile, pair[0].valid_rows, pair[1].valid_cols, boxes=True)
    if name == "pto.tmrgsort" and step.tiles("srcs"):
        # One that stops when a list is used up leaves the rest as it was.
        return Region(tile, tile.valid_rows, _merged(step, tile), sure=step.op.attrs.get("exhausted") is not True)
    if name.startswith("pto.tfillpad"):
        return _filled(step, tile)
    if name in ("pto.tcmp", "pto.tcmps"):
        return _mask(tile, (step.tiles("src0") or step.tiles("src"))[0])
    if name == "pto.thistogram" and step.tiles("src"):
        return Region(tile, step.tiles("src")[0].valid_rows, const(BINS))
    if name == "pto.ttrans" and tile in step.tiles("dst"):
        source = step.tiles("src")[0]
        return Region(tile, source.valid_cols, source.valid_rows)  # TTrans.hpp goes over the source
    if name in PART_ARGS and step.tiles("dst"):
        return Region(tile, step.tiles("dst")[0].valid_rows, step.tiles("dst")[0].valid_cols)
    if name == "pto.texpands" and tile.type.loc is Space.MAT:
        return _all(tile)  # a fill of L1 goes over the whole tile
    if name in ROW_REDUCTION:
        return Region(tile, tile.valid_rows, minimum(tile.valid_cols, 1))
    if name in COL_REDUCTION:
        return Region(tile, minimum(tile.valid_rows, 1), tile.valid_cols)
    if name == "pto.tload" and tile.type.pad is not Pad.NULL:
        line = max(1, 32 // tile.type.dtype.bytes)
        return Region(tile, tile.valid_rows, minimum((tile.valid_cols + line - 1) // line * line, tile.type.cols))
    return _valid(tile)


def _filled(step: Step, tile: TileUse) -> Region:
    """What a fill leaves in its destination. In L1 that is zeros around the valid region, and nothing is moved: with
    the source's bytes that makes the whole tile, elsewhere it is not known what the valid region holds."""
    if tile.type.loc is not Space.MAT:
        return Region(tile, tile.valid_rows, const(tile.type.cols))
    in_place = all(same_bytes(source, tile) is TRUE for source in step.tiles("src"))
    return _all(tile) if in_place else replace(_valid(tile), sure=False)


def _merged(step: Step, tile: TileUse) -> Expr:
    """How many columns a merge fills: those of its runs, or at most of all lists together."""
    lists = [t.valid_cols for t in step.tiles("srcs")]
    if "blockLen" in step.op.args:
        return minimum(lists[0], tile.type.cols)
    total = sum(lists, start=const(0))
    return minimum(total, tile.type.cols) if tile in step.tiles("tmp") else minimum(total, tile.valid_cols)


def _mask(tile: TileUse, source: TileUse) -> Region:
    """A mask has one bit a lane, packed at the start of each row."""
    lanes = 8 * tile.type.dtype.bytes
    return Region(tile, source.valid_rows, minimum((source.valid_cols + lanes - 1) // lanes, tile.type.cols))


def _cut(step: Step, tile: TileUse, size: TileUse, rows: Expr, cols: Expr) -> Region:
    """The window of `tile`, as large as `size`, at the op's indices."""
    row, col = (step.operands[g][0] for g in ("indexRow", "indexCol"))
    if not isinstance(row, Expr) or not isinstance(col, Expr):
        return replace(_valid(tile), sure=False)
    window = _window(tile, size.type.rows, size.type.cols, row, col)
    return Region(replace(window, valid_rows=rows, valid_cols=cols), rows, cols)


def _element(step: Step, tile: TileUse) -> Region:
    """The element that a `tsetval` sets or a `tgetval` gets, counted in storage order of an unboxed row-major tile."""
    offset = step.operands["offset"][0]
    if not isinstance(offset, Expr) or tile.type.boxed or tile.type.blayout is not BLayout.ROW or tile.how == "subview":
        return replace(_valid(tile), sure=False)
    row, col = offset // tile.type.cols, offset % tile.type.cols
    window = _window(tile, 1, 1, row, col)
    return Region(replace(window, valid_rows=const(1), valid_cols=const(1)), const(1), const(1))


def _window(tile: TileUse, rows: int, cols: int, row: Expr, col: Expr) -> TileUse:
    if row.value == 0 and col.value == 0 and (rows, cols) == (tile.type.rows, tile.type.cols):
        return tile
    anchor, first_row, first_col = anchored(tile)
    part = replace(tile.type, rows=rows, cols=cols)
    rect = rect_of(part, tile.storage, anchor.rect.base, first_row + row, first_col + col)
    return replace(tile, how="subview", type=part, rect=rect, row=row, col=col, parent=tile)


def anchored(tile: TileUse) -> tuple[TileUse, Expr, Expr]:
    """The handle whose storage addresses `tile`, and the row and column of it at which `tile` starts."""
    row = col = const(0)
    while tile.how == "subview" and tile.parent is not None:
        row, col = row + tile.row, col + tile.col
        tile = tile.parent
    return tile, row, col


def bits_of(tile: TileUse, rows: int, cols: int) -> int | None:
    """The bytes of the first `rows` x `cols` elements, counted from the start of the tile's rect; None where it is not
    known at which element of a box the tile starts, and for a tile larger than every memory."""
    box_rows, box_cols = inner_box(tile.type)
    size, pitch = tile.type.dtype.bytes, tile.rect.pitch
    rows, cols = min(rows, tile.type.rows), min(cols, tile.type.cols)
    if rows < 1 or cols < 1:
        return 0
    if tile.type.bytes > FAR:
        return None
    if not tile.type.boxed:
        lines, width = (rows, cols) if tile.type.blayout is BLayout.ROW else (cols, rows)
        return mask(0, lines, width * size, pitch)
    _, row, col = anchored(tile)
    first_row, first_col = (row % box_rows).value, (col % box_cols).value
    if first_row is None or first_col is None:
        return None
    unit = box_rows * box_cols * size
    row_pitch, col_pitch = (pitch, unit) if tile.type.blayout is BLayout.ROW else (unit, pitch)
    total = 0
    for row_box, top, high, row_count in _pieces(first_row, rows, box_rows):
        for col_box, left, wide, col_count in _pieces(first_col, cols, box_cols):
            if tile.type.slayout is SLayout.ROW:
                inner = mask((top * box_cols + left) * size, high, wide * size, box_cols * size)
            else:
                inner = mask((left * box_rows + top) * size, wide, high * size, box_rows * size)
            grid = repeated(repeated(inner, col_count, col_pitch), row_count, row_pitch)
            total |= grid << (row_box * row_pitch + col_box * col_pitch)
    return total


def _pieces(start: int, size: int, box: int) -> list[tuple[int, int, int, int]]:
    """An interval cut at boxes: (first box, start in it, length in it, number of equal boxes)."""
    made: list[tuple[int, int, int, int]] = []
    at, end = start, start + size
    while at < end:
        inside = at % box
        if inside == 0 and end - at >= box:
            made.append((at // box, 0, box, (end - at) // box))
            at += (end - at) // box * box
        else:
            length = min(box - inside, end - at)
            made.append((at // box, inside, length, 1))
            at += length
    return made


def repeated(bits: int, count: int, pitch: int) -> int:
    """`count` copies of a set of bytes, `pitch` bytes apart."""
    if count <= 1:
        return bits if count == 1 else 0
    half = repeated(bits, count // 2, pitch)
    both = half | half << (count // 2 * pitch)
    return both | bits << ((count - 1) * pitch) if count % 2 else both
