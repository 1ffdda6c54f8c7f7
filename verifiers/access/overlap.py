"""When two tiles share bytes: as a condition for symbolic places, as a byte mask for constant ones."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from pypto_verified.index import Cond, Expr, all_of, any_of, const
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.layouts import BLayout, Space
from verifiers.access.indexed import picked
from verifiers.access.program import Rect, Root, Step, TileUse
from verifiers.access.tiles import cut, rect_of


def place(tile: TileUse) -> Expr | None:
    """The absolute byte address of a tile's first byte, None when its root has no address."""
    address = tile.root.address
    return address + tile.rect.base if address is not None else None


def touched(step: Step, tile: TileUse) -> TileUse:
    """The part of a tile that an op really touches: an extract reads, and an insert writes, a window of the other
    tile's size."""
    window = windowed(step, tile)
    if window is None:
        return tile
    size, row, col = window
    part = replace(tile.type, rows=size.type.rows, cols=size.type.cols)
    # Into L0 the unit counts in whole boxes and drops the rest, see VIEW-EXTRACT.
    where = rect_of if size.type.loc in (Space.LEFT, Space.RIGHT) else cut
    rect = where(part, tile.storage, tile.rect.base, row, col)
    if rect is None:
        return tile
    return replace(tile, how="subview", type=part, rect=rect, row=row, col=col, parent=tile)


def windowed(step: Step, tile: TileUse) -> tuple[TileUse, Expr, Expr] | None:
    """(the tile as large as the window of `tile` that an extract reads or an insert writes, its row, its column); None
    for what is touched as a whole, or at a place that is not expressed."""
    if step.op.name == "pto.textract" and tile in step.tiles("src"):
        size = step.tiles("dst")
    elif step.op.name == "pto.tinsert" and tile in step.tiles("dst"):
        size = step.tiles("src")
    else:
        return None
    row, col = (step.operands[g][0] for g in ("indexRow", "indexCol"))
    if not size or not isinstance(row, Expr) or not isinstance(col, Expr) or tile.how == "subview":
        return None
    return size[0], row, col


def needed(step: Step, tile: TileUse) -> TileUse:
    """The part of a tile whose bytes an op's result depends on: the lines of an unboxed tile that have valid elements,
    where their number is known; else all that the op touches."""
    part = touched(step, tile)
    row_major = tile.type.blayout is BLayout.ROW
    lines, valid = (tile.type.rows, tile.valid_rows) if row_major else (tile.type.cols, tile.valid_cols)
    if part is not tile or tile.type.boxed or valid.value is None or picked(step, tile):
        return part
    if tile.rect.rows != lines or not 1 <= valid.value < lines:
        return part
    return replace(tile, rect=replace(tile.rect, rows=valid.value))


_COPIES = frozenset({"pto.tmov", "pto.textract", "pto.tinsert"})


def is_copy(step: Step, a: TileUse, b: TileUse) -> bool:
    """Whether the op copies `a` to `b` element by element without a change of type or layout."""
    one_layout = (a.type.blayout, a.type.slayout, a.type.fractal) == (b.type.blayout, b.type.slayout, b.type.fractal)
    return step.op.name in _COPIES and a.type.dtype == b.type.dtype and one_layout


def one_by_one(step: Step) -> bool:
    """Whether the scalar unit goes through the elements: each is read before it is written."""
    return step.op.name == "pto.mgather" and all(phase.pipe == "S" for phase in step.phases)


def is_identity(step: Step, a: TileUse, b: TileUse) -> bool:
    """Whether the op copies `a` onto itself: it changes no byte."""
    return is_copy(step, a, b) and same_bytes(touched(step, a), touched(step, b)) is TRUE


def comparable(a: Root, b: Root) -> bool:
    """Whether two roots can share bytes as far as the text says: roots without addresses are placed apart."""
    if a is b:
        return True
    return a.space is b.space and a.address is not None and b.address is not None


def disjoint(a: TileUse, b: TileUse) -> Cond:
    """The condition under which no byte belongs to both."""
    if not comparable(a.root, b.root):
        return TRUE
    first, second = place(a), place(b)
    if first is None or second is None:
        first, second = a.rect.base, b.rect.base
    return disjoint_rects(first, a.rect, second, b.rect)


def disjoint_rects(first: Expr, a: Rect, second: Expr, b: Rect) -> Cond:
    """The same for rects whose bases are `first` and `second`. Exact for constants and for equal pitches; with
    different pitches and symbolic places the enclosing intervals decide."""
    if a.span == 0 or b.span == 0:
        return TRUE
    if first.value is not None and second.value is not None and first.value >= 0 and second.value >= 0:
        shared = mask(first.value, a.rows, a.row_bytes, a.pitch) & mask(second.value, b.rows, b.row_bytes, b.pitch)
        return FALSE if shared else TRUE
    apart = any_of((first + a.span <= second, second + b.span <= first))
    if a.row_bytes == a.pitch or b.row_bytes == b.pitch or a.pitch != b.pitch:
        return apart
    column = (second - first) % a.pitch
    return any_of((apart, all_of((column >= a.row_bytes, column + b.row_bytes <= a.pitch))))


def inside_root(tile: TileUse) -> Cond:
    """That a view lies within its root: what the VIEW rules establish."""
    rect = tile.rect
    return all_of((rect.base >= 0, rect.base + rect.span <= tile.root.bytes * tile.root.slots))


def trails(a: TileUse, b: TileUse) -> Cond:
    """The condition under which an op that goes through its elements in order may read `a` and write `b`: no element of
    `b` lies behind the same element of `a`, so what is written was read before. Unboxed row-major tiles only."""
    first, second = place(a), place(b)
    plain = all(t.type.blayout is BLayout.ROW and not t.type.boxed for t in (a, b))
    narrower = b.type.dtype.bytes <= a.type.dtype.bytes and b.rect.pitch <= a.rect.pitch
    if not plain or not narrower or a.type.loc is not b.type.loc:
        return FALSE
    if first is None or second is None:
        if a.root is not b.root:
            return FALSE
        first, second = a.rect.base, b.rect.base
    return second <= first


def same_bytes(a: TileUse, b: TileUse) -> Cond:
    """The condition under which two tiles are exactly the same runs of bytes."""
    if not comparable(a.root, b.root) or _runs(a.rect) != _runs(b.rect):
        return FALSE
    first, second = place(a), place(b)
    if first is None or second is None:
        first, second = a.rect.base, b.rect.base
    return first == second


def _runs(r: Rect) -> tuple[int, int, int]:
    """(rows, row bytes, pitch), the same for every way to cut one solid block into rows."""
    return (1, r.span, 0) if r.pitch == r.row_bytes or r.rows == 1 else (r.rows, r.row_bytes, r.pitch)


FAR = 1 << 23
"""A byte behind every memory. Tiles that reach it are refuted by PLAN-CAPACITY; their bytes there are not looked at."""


@lru_cache(maxsize=4096)
def mask(base: int, rows: int, row_bytes: int, pitch: int) -> int:
    """The bytes of a rect at a constant address, up to FAR, as the bits of an integer."""
    if not rows or not row_bytes or base >= FAR:
        return 0
    rows, row_bytes = min(rows, FAR // max(1, pitch) + 1), min(row_bytes, FAR)
    if pitch == row_bytes or rows == 1:
        return ((1 << (rows * row_bytes)) - 1) << base
    run = (1 << row_bytes) - 1
    total, done = run, 1
    while done < rows:
        take = min(done, rows - done)
        total |= (total & ((1 << (take * pitch)) - 1)) << (done * pitch)
        done += take
    return total << base


def shifted(bytes_: int, start: int) -> int:
    """Bytes counted from `start`, which is not negative; none behind FAR."""
    return bytes_ << start if start < FAR else 0


def certain_bytes(tile: TileUse) -> int:
    """The mask of a tile at a constant place (relative to the root when that has no address); 0 when not constant."""
    at = place(tile) if tile.root.address is not None else tile.rect.base
    assert at is not None
    return mask(at.value, *_shape(tile.rect)) if at.value is not None and at.value >= 0 else 0


def possible_bytes(tile: TileUse) -> int:
    """A mask that contains the tile wherever it may lie; -1 (all bytes) when its place is not bounded."""
    at = place(tile) if tile.root.address is not None else tile.rect.base
    assert at is not None
    if at.value is not None and at.value >= 0:
        return mask(at.value, *_shape(tile.rect))
    if at.lo is None or at.hi is None or at.lo < 0 or at.hi - at.lo > 1 << 22:
        return -1
    return mask(at.lo, 1, at.hi - at.lo + tile.rect.span, 0)


def _shape(r: Rect) -> tuple[int, int, int]:
    return r.rows, r.row_bytes, r.pitch


def whole(root: Root) -> Rect:
    """All slots of a root, from its own start."""
    size = root.bytes * root.slots
    return Rect(const(0), 1, size, size)
