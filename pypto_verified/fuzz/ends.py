"""How some vector kernels end: with shapes that chance alone makes too seldom for a fault in them to be noticed.

Which kernels get one is told by what they have so far, not by a draw, so that all others stay what they were.
"""

from __future__ import annotations

from collections.abc import Callable

from pypto_verified.dtypes import BOOL, DTYPES, FP16, FP32, INDEX, INT32, DType
from pypto_verified.fuzz.builder import BLOCK_BYTES, INTEGERS, SPAN, Builder, dims, numbers
from pypto_verified.fuzz.draw import chance, choice
from pypto_verified.fuzz.vector import load, pick, store
from pypto_verified.ir.expr import Binary, BinaryOp, Const, Var
from pypto_verified.ir.stmt import Assign, Break, For, If, LoopKind
from pypto_verified.ir.types import ScalarType

_OF = 61
_PIECE = 2
"""Rows of a piece that is put into a tile."""
_SIGNED, _UNSIGNED = ("INT32", "INT64", "INT16"), ("UINT32", "UINT16", "UINT8")


def end(b: Builder) -> bool:
    """One of them, for about one kernel in six; False for the others. What is needed of it is among the last two
    tiles."""
    step = chosen(b)
    if step is not None:
        step(b)
    return step is not None


def chosen(b: Builder) -> Callable[[Builder], None] | None:
    """The end that a kernel gets, None for most."""
    return _ENDS.get((7 * b.count + 11 * len(b.blocks[0]) + 5 * len(b.params)) % _OF)


def covered(b: Builder) -> None:
    """A partial tile put over a whole one of its shape, which is stored too."""
    dtype, rows, columns, unit = _shape(b)
    valid = b.draw.integer(1, rows - 1), choice(b.draw, (columns, columns - unit))
    piece = _partial(b, (rows, columns), valid, dtype)
    _put(b, load(b, (rows, columns), dtype), piece, 0)


def patched(b: Builder) -> None:
    """A piece put into a partial tile, which is valid on more then: where its rows end or before, or over all of it."""
    dtype, rows, columns, unit = _shape(b)
    filled, width = b.draw.integer(1, rows - _PIECE), choice(b.draw, (columns, columns - unit))
    tile = _partial(b, (rows, columns), (filled, width), dtype)
    if chance(b.draw, 25):
        _put(b, tile, _partial(b, (rows, columns), (b.draw.integer(filled, rows), columns), dtype), 0)
        return
    down = filled - b.draw.integer(0, 1) if filled > 1 else filled
    _put(b, tile, _partial(b, (_PIECE, columns), (_PIECE, width), dtype), down)


def shifted(b: Builder) -> None:
    """A store under a condition that is another one if the sign of an argument counts otherwise when it is shifted."""
    signed = chance(b.draw, 50)
    dtype = DTYPES[choice(b.draw, _SIGNED if signed else _UNSIGNED)]
    values = (-3, -8) if signed else INTEGERS[dtype.name][-2:]
    by = b.draw.integer(1, 3)
    limit, ops = (0, (BinaryOp.LT, BinaryOp.GE)) if signed else (values[-1] >> by, (BinaryOp.LE, BinaryOp.GT))
    shift = Binary(BinaryOp.SHR, b.integer(values, "j", dtype), Const(by, dtype), dtype)
    tile = _some(b)
    out = b.out(b.tile(tile).shape, b.tile(tile).dtype, partly=True)
    with b.block() as body:
        store(b, tile, out, numbers(0, 0))
    b.add(If(Binary(choice(b.draw, ops), shift, Const(limit, dtype), BOOL), tuple(body), (), (), SPAN))


def counted(b: Builder) -> None:
    """A loop with a way out, whose body assigns anew what its end was read from. Each turn is told by rows of its own.
    """
    tile, limit = _some(b), 4
    rows, columns = b.tile(tile).shape
    end, turn = b.integer((1, limit - 1)), Var(b.name("i"), ScalarType(INDEX))
    out = b.out((rows * limit, columns), b.tile(tile).dtype, partly=True)
    with b.block() as body:
        store(b, tile, out, dims((b.scaled(turn, rows), 0)))
        b.scalar(end, Binary(BinaryOp.MOD, Binary(BinaryOp.ADD, end, Const(1), INDEX), Const(limit), INDEX))
        here = Binary(BinaryOp.EQ, turn, Const(b.draw.integer(1, 2)), BOOL)
        b.add(If(here, (Break(SPAN),), (), (), SPAN))
    b.add(For(turn, Const(0), end, Const(1), (), tuple(body), (), LoopKind.SEQUENTIAL, SPAN))


def strip(b: Builder) -> None:
    """A few columns of a tile are stored, and then rows of it written that begin behind as many bytes as those have."""
    dtype, rows, columns, unit = _shape(b)
    tile = load(b, (rows, columns), dtype)
    at = unit * b.draw.integer(0, columns // unit - 2)
    view = b.scratch(b.call("tile.slice", (tile, numbers(rows, unit), numbers(0, at))))
    store(b, view, b.out((rows, unit), dtype), numbers(0, 0))
    piece = load(b, (rows // 2, columns), dtype)
    value = b.call("tile.assemble", (tile, piece, numbers(rows // 2, 0)))
    b.add(Assign(Var(tile.name, value.type), value, SPAN))


def relabelled(b: Builder) -> None:
    """A row of a tile, not its first one, under another shape."""
    dtype, rows, columns, unit = _shape(b)
    tile = load(b, (rows, columns), dtype)
    row = b.scratch(b.call("tile.slice", (tile, numbers(1, columns), numbers(b.draw.integer(1, rows - 1), 0))))
    shape = columns // unit, unit
    store(b, b.scratch(b.call("tile.reshape", (row, numbers(*shape)))), b.out(shape, dtype), numbers(0, 0))


def _shape(b: Builder) -> tuple[DType, int, int, int]:
    """Element type, rows, columns, and how many columns are a block."""
    dtype = choice(b.draw, (FP32, FP16, INT32))
    unit = BLOCK_BYTES // dtype.bytes
    return dtype, choice(b.draw, (8, 16)), 4 * unit, unit


def _some(b: Builder) -> Var:
    """A tile with more than one column and something valid."""
    return pick(b, lambda t: t.shape[1] > 1 and 0 not in t.valid_shape) or load(b, (8, 16), FP32)


def _partial(b: Builder, shape: tuple[int, int], valid: tuple[int, int], dtype: DType) -> Var:
    """A tile that is loaded in part."""
    tensor = b.tensor(shape, dtype)
    return b.assign(b.call("tile.load", (tensor, numbers(0, 0), numbers(*shape), numbers(*valid))))


def _put(b: Builder, tile: Var, piece: Var, row: int) -> None:
    b.assign(b.call("tile.assemble", (tile, piece, numbers(row, 0))))


_ENDS: dict[int, Callable[[Builder], None]] = {
    48: covered, 11: patched, 47: shifted, 52: counted, 17: strip, 29: strip, 33: relabelled,
}
"""By a number that a kernel has from its length, some more often than others."""
