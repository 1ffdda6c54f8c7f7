"""Statements of a vector kernel that relabel or copy parts of tiles."""

from __future__ import annotations

from pypto_verified.fuzz.builder import BLOCK_BYTES, MAX_COLUMNS, MAX_ROWS, Builder, dims, numbers
from pypto_verified.fuzz.draw import chance, choice
from pypto_verified.fuzz.indices import index
from pypto_verified.fuzz.vector import full, known, load, on_device, pick, stores
from pypto_verified.ir.expr import Const, Expr, Var
from pypto_verified.ir.types import TileType
from pypto_verified.layouts import BLayout, Pad, Space
from pypto_verified.ops.views import reshaped_valid

_OVERWRITTEN = 4
"""A window of every so many is one of a tile that is written over."""


def slice_(b: Builder) -> bool:
    """A window of a tile, at a constant or moving place."""
    first = pick(b, lambda t: t.shape[0] * t.shape[1] > 1 and t.shape[1] > 1)
    if first is None:
        return False
    t = b.tile(first)
    unit = BLOCK_BYTES // t.dtype.bytes
    rows = choice(b.draw, [n for n in (1, 2, 4, 8, 16, 32) if n <= t.shape[0]])
    columns = choice(b.draw, [n for n in (unit, 2 * unit, t.shape[1]) if n <= t.shape[1]])
    if not full(t):
        rows, columns = t.shape if chance(b.draw, 50) else (rows, columns)
    down = b.scaled(index(b, t.shape[0] // rows), rows) if full(t) else Const(_begin(b, t, 0, rows, rows))
    across = unit * b.draw.integer(0, (t.shape[1] - columns) // unit) if full(t) else _begin(b, t, 1, columns, unit)
    operands: list[Expr] = [first, numbers(rows, columns), dims((down, across))]
    if full(t) and chance(b.draw, 20):
        operands.append(dims((b.valid(rows), columns)))
    window = b.assign(b.call("tile.slice", operands))
    if full(t) and b.count % _OVERWRITTEN == 0:
        _overwrite(b, first, window)
    return True


def _begin(b: Builder, t: TileType, axis: int, extent: int, unit: int) -> int:
    """Where a window of a partial tile begins, a multiple of `unit`: where something is valid, if that is known."""
    valid = t.valid_shape[axis]
    last = t.shape[axis] - extent
    return unit * b.draw.integer(0, (min(last, valid - 1) if isinstance(valid, int) else last) // unit)


def _overwrite(b: Builder, var: Var, view: Var) -> None:
    """A tile is written over, and a view of it stored afterwards. Which views get this is told by the names so far, not
    by a draw, so that all other kernels stay what they were."""
    t = b.tile(var)
    b.assign(b.call("tile.assemble", (var, load(b, (t.shape[0], t.shape[1]), t.dtype), dims((0, 0)))))
    stores(b, [view])


def reshape(b: Builder) -> bool:
    """The same elements in another shape."""
    first = pick(b, lambda t: known(t) and t.shape[0] * t.shape[1] > 1
                 and (t.view is None or t.view.blayout is BLayout.ROW))
    if first is None:
        return False
    t = b.tile(first)
    count, unit = t.shape[0] * t.shape[1], BLOCK_BYTES // t.dtype.bytes
    shapes = [(count // n, n) for n in (unit, 2 * unit, 4 * unit, count)
              if count % n == 0 and n <= MAX_COLUMNS and count // n <= MAX_ROWS]
    if count <= MAX_ROWS and count % unit == 0:
        shapes.append((count, 1))
    shapes = [shape for shape in shapes if reshaped_valid(t.valid_shape, t.shape, shape) is not None]
    if not shapes:
        return False
    b.assign(b.call("tile.reshape", (first, numbers(*choice(b.draw, shapes)))))
    return True


def narrow(b: Builder) -> bool:
    """A smaller valid region of the same tile."""
    first = pick(b, lambda t: full(t) and t.shape[1] > 1)
    if first is None:
        return False
    rows, columns = b.tile(first).shape
    extents = [Const(d) if isinstance(d, int) else d for d in (b.valid(rows), b.valid(columns))]
    b.assign(b.call("tile.set_validshape", (first, *extents)))
    return True


def fill(b: Builder) -> bool:
    """The padding of a tile filled, so that all of it is valid."""
    types = on_device(b, "tfillpad")
    first = pick(b, lambda t: t.dtype.name in types and t.shape[1] > 1 and not full(t)) or pick(
        b, lambda t: t.dtype.name in types and t.shape[1] > 1)
    if first is None:
        return False
    t = b.tile(first)
    pad = choice(b.draw, (Pad.ZERO, Pad.MAX, Pad.MIN))
    if chance(b.draw, 25) and t.shape[0] <= MAX_ROWS // 2:
        b.assign(b.call("tile.fillpad_expand", (first, numbers(2 * t.shape[0], t.shape[1])), pad_value=pad))
    else:
        b.assign(b.call("tile.fillpad", (first,), pad_value=pad))
    return True


def assemble(b: Builder) -> bool:
    """A tile written into a part of another."""
    cut = b.target.name != "a2a3"
    source = pick(b, lambda t: 0 not in t.valid_shape and t.shape[1] > 1 and (cut or _whole_blocks(t)))
    if source is None:
        return False
    s = b.tile(source)
    target = pick(b, lambda t: full(t) and t.dtype == s.dtype
                  and t.shape[0] >= s.shape[0] and t.shape[1] >= s.shape[1])
    if target is None:
        return False
    t, unit = b.tile(target), BLOCK_BYTES // s.dtype.bytes
    if b.target.name == "a2a3" and t.shape[1] != s.shape[1]:
        return False
    down = b.scaled(index(b, t.shape[0] // s.shape[0]), s.shape[0])
    across = unit * b.draw.integer(0, (t.shape[1] - s.shape[1]) // unit)
    b.assign(b.call("tile.assemble", (target, source, dims((down, across)))))
    return True


def _whole_blocks(t: TileType) -> bool:
    """Whether the valid part of each row is whole blocks."""
    columns = t.valid_shape[1]
    return isinstance(columns, int) and columns * t.dtype.bytes % BLOCK_BYTES == 0


def concat(b: Builder) -> bool:
    """Two tiles side by side."""
    types = on_device(b, "tconcat")

    def suits(t: TileType) -> bool:
        return t.dtype.name in types and t.valid_shape[0] == t.shape[0] and 1 < t.shape[1] <= MAX_COLUMNS // 2

    left = pick(b, lambda t: suits(t) and not full(t)) or pick(b, suits)
    if left is None:
        return False
    t = b.tile(left)
    right = pick(b, lambda u: full(u) and u.dtype == t.dtype and u.shape[0] == t.shape[0] and 1 < u.shape[1] <= 32)
    if right is None or chance(b.draw, 30):
        right = load(b, (t.shape[0], t.shape[1]), t.dtype)
    b.assign(b.call("tile.concat", (left, right)))
    return True


def transpose(b: Builder) -> bool:
    """Rows and columns exchanged."""
    types = on_device(b, "ttrans")
    first = pick(b, lambda t: t.dtype.bits >= 16 and t.dtype.name in types and 0 not in t.valid_shape
                 and all(BLOCK_BYTES // t.dtype.bytes <= n <= MAX_ROWS for n in t.shape))
    if first is None:
        return False
    b.assign(b.call("tile.transpose", (first, Const(0), Const(1))))
    return True


def move(b: Builder) -> bool:
    """A copy in vector memory."""
    first = pick(b)
    if first is None:
        return False
    b.assign(b.call("tile.move", (first,), target_memory=Space.VEC))
    return True
