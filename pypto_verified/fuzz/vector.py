"""Statements of a vector kernel that compute: element-wise ops, reductions, casts, masks, gathers, scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from pypto_verified.dtypes import BF16, DTYPES, FP16, FP32, INDEX, INT8, INT16, INT32, UINT8, UINT16, UINT32, DType
from pypto_verified.fuzz.builder import BLOCK_BYTES, INTEGERS, Builder, dims, in_vector_memory, numbers
from pypto_verified.fuzz.draw import chance, choice, weighted
from pypto_verified.fuzz.indices import index
from pypto_verified.fuzz.vocabulary import ELEMENTWISE, EXPANSIONS, REDUCTIONS, Row
from pypto_verified.ir.expr import Binary, BinaryOp, Call, Const, Expr, Unary, UnaryOp, Var
from pypto_verified.ir.types import ScalarType, TileType
from pypto_verified.ops.keywords import ROUND_MODES
from pypto_verified.targets.dtypes import device_dtypes

LOADED = (("FP32", 8), ("FP16", 5), ("INT32", 5), ("INT16", 3), ("BF16", 2), ("INT8", 1), ("UINT8", 1), ("UINT16", 1),
          ("UINT32", 1), ("INT64", 1))
"""Element types of loaded tiles with weights."""

_ARITHMETIC = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.MIN, BinaryOp.MAX)
_OF_INTEGERS = (BinaryOp.FLOORDIV, BinaryOp.MOD, BinaryOp.BITAND, BinaryOp.BITOR, BinaryOp.BITXOR, BinaryOp.SHL,
                BinaryOp.SHR)
ADDED = frozenset({"INT8", "INT16", "INT32", "FP16", "BF16", "FP32"})
"""Element types that a store can add in global memory."""
CHAINED = (("FP16", "BF16"), ("BF16", "FP16"), ("INT16", "BF16"), ("BF16", "INT16"), ("INT8", "UINT8"),
           ("UINT8", "INT8"))
"""Conversions that no target has an instruction for, and whose first step on the way loses nothing."""
_SELECTED = frozenset({"FP32", "FP16", "INT32"})
_ELEMENTWISE = [(row, 4 if row.op in ("add", "sub", "mul") else 1) for row in ELEMENTWISE]
_FILLED = (BF16, INT8, UINT8, UINT16, UINT32)
MASK_COLUMNS = 32
"""Columns of the narrowest mask."""


def full(t: TileType) -> bool:
    """Whether the whole tile is valid."""
    return t.valid_shape == t.shape


def known(t: TileType) -> bool:
    """Whether the valid extents are numbers."""
    return all(isinstance(d, int) for d in t.valid_shape)


def alike(t: TileType, first: TileType) -> bool:
    """Whether a tile can be the second operand of an op on `first`."""
    return t.dtype == first.dtype and t.shape == first.shape and (full(t) or t.valid_shape == first.valid_shape)


def _pick(b: Builder, suits: Callable[[TileType], bool]) -> Var | None:
    """A tile in scope; the younger the likelier."""
    found = [v for v in b.tiles() if in_vector_memory(b.tile(v)) and suits(b.tile(v))]
    if not found:
        return None
    return found[-1 - min(b.draw.integer(0, len(found) - 1), b.draw.integer(0, len(found) - 1))]


def pick(b: Builder, suits: Callable[[TileType], bool] = lambda t: True) -> Var | None:
    """A tile in scope that suits, or None."""
    return _pick(b, suits)


def scratch(b: Builder, t: TileType) -> Var:
    """An uninitialised tile of that shape and type."""
    return b.scratch(b.call("tile.create", (numbers(*t.shape),), dtype=t.dtype))


def load(b: Builder, shape: tuple[int, int] | None = None, dtype: DType | None = None) -> Var:
    """A tile from a tensor of its own, which has room for the index of a loop."""
    dtype = dtype or DTYPES[weighted(b.draw, LOADED)]
    rows, columns = shape or (choice(b.draw, (1, 2, 4, 8, 16, 16, 16, 32)), b.columns(dtype))
    whole, at = place(b, rows, columns)
    tensor = b.tensor(whole, dtype, pitch=whole[1] + b.draw.integer(1, 9) if chance(b.draw, 6) else 0)
    valid = numbers(rows, columns) if shape else dims((b.valid(rows), b.valid(columns)))
    return b.assign(b.call("tile.load", (tensor, at, numbers(rows, columns), valid)))


def place(b: Builder, rows: int, columns: int) -> tuple[tuple[int, int], Expr]:
    """The shape of a tensor that holds at least one window of that size, and where one of them begins."""
    down, across = weighted(b.draw, ((1, 6), (2, 2), (4, 2))), weighted(b.draw, ((1, 10), (2, 2), (3, 1)))
    left, right = (b.draw.integer(0, 5), b.draw.integer(0, 3)) if chance(b.draw, 10) else (0, 0)
    column = b.scaled(index(b, across), columns)
    if left:
        column = Binary(BinaryOp.ADD, column, Const(left), INDEX) if not isinstance(column, Const) else Const(
            int(column.value) + left)
    shape = (rows * down, left + columns * across + right)
    return shape, dims((b.scaled(index(b, down), rows), column))


def _companion(b: Builder, kind: str, first: TileType) -> Expr | None:
    """The operand that a letter of a row stands for; None when there is none."""
    rows, columns = first.shape
    match kind:
        case "y":
            return _pick(b, lambda t: alike(t, first))
        case "z":
            return _pick(b, lambda t: alike(t, first) and t.valid_shape == first.valid_shape)
        case "d":
            return _pick(b, lambda t: t.dtype == first.dtype and t.shape == (rows, 1) and columns > 1
                         and t.valid_shape == (first.valid_shape[0], 1))
        case "c":
            return _pick(b, lambda t: t.dtype == first.dtype and t.shape == (rows, 1) and columns > 1
                         and t.valid_shape[0] in (rows, first.valid_shape[0]) and t.valid_shape[1] == 1)
        case "r":
            return _pick(b, lambda t: t.dtype == first.dtype and t.shape == (1, columns) and rows > 1
                         and t.valid_shape[1] in (columns, first.valid_shape[1]) and t.valid_shape[0] == 1)
        case "t":
            return scratch(b, first)
        case "u":
            return scratch(b, first) if rows > 1 and columns > 1 else None
        case "b":
            return Const(b.draw.integer(0, first.dtype.bits - 1), INT32)
        case "p":
            return Const(choice(b.draw, (2.0, -0.5, 3.0)), first.dtype) if first.dtype.is_float else Const(
                choice(b.draw, (1, 2, 3, 7)), first.dtype)
        case _:
            return _scalar(b, first.dtype)


def _scalar(b: Builder, dtype: DType) -> Expr:
    if dtype in (FP32, INT32) and chance(b.draw, 15):
        shape = choice(b.draw, ((4,), (3, 4)))
        return b.call("tensor.read", (b.tensor(shape, dtype), dims([index(b, n) for n in shape])))
    if chance(b.draw, 25):
        return b.real(dtype) if dtype.is_float else b.integer(INTEGERS[dtype.name], "k", dtype)
    return b.constant(dtype)


def on_device(b: Builder, op: str) -> frozenset[str]:
    """The names of the element types that an op is implemented for."""
    return frozenset(d.name for d in device_dtypes(op, b.target) or ())


def _allowed(b: Builder, row: Row) -> frozenset[str]:
    names = on_device(b, row.device)
    return names & row.only if row.only else names


def _apply(b: Builder, row: Row) -> bool:
    allowed = _allowed(b, row)
    first = _pick(b, lambda t: t.dtype.name in allowed and 0 not in t.valid_shape)
    if first is None:
        return False
    operands: list[Expr] = [first]
    for kind in row.operands[1:]:
        other = _companion(b, kind, b.tile(first))
        if other is None:
            return False
        operands.append(other)
    b.assign(b.call(row.name, operands))
    return True


def elementwise(b: Builder) -> bool:
    """An op whose result is like its first operand."""
    return _apply(b, weighted(b.draw, _ELEMENTWISE))


def expansion(b: Builder) -> bool:
    """A tile with a column or row spread over it: one in scope, or one made for it."""
    row = choice(b.draw, EXPANSIONS)
    allowed = _allowed(b, row)
    if _apply(b, row):
        return True
    of_rows = row.operands.endswith("r")
    first = _pick(b, lambda t: t.dtype.name in allowed and (full(t) or of_rows) and 0 not in t.valid_shape
                  and t.shape[0] > 1 and t.shape[1] > 1)
    if first is None:
        return False
    t = b.tile(first)
    if of_rows:
        vector = load(b, (1, t.shape[1]), t.dtype)
    elif t.shape[0] * t.dtype.bytes % BLOCK_BYTES == 0 and t.dtype.name in ("FP32", "FP16", "INT32", "INT16"):
        vector = b.assign(b.call("tile.row_max", (first, scratch(b, t))))
    else:
        return False
    b.assign(b.call(row.name, (first, vector)))
    return True


def reduction(b: Builder) -> bool:
    """A reduction along rows or columns, of a tile that has more than one element there."""
    row = choice(b.draw, REDUCTIONS)
    allowed = _allowed(b, row)
    axis = 1 if row.op.startswith("row") else 0
    first = _pick(b, lambda t: t.dtype.name in allowed and t.shape[axis] > 1 and isinstance(t.valid_shape[axis], int)
                  and 0 not in t.valid_shape and t.shape[1 - axis] * t.dtype.bytes % BLOCK_BYTES == 0)
    if first is None:
        return False
    operands: list[Expr] = [first]
    if row.operands.endswith("t"):
        operands.append(scratch(b, b.tile(first)))
    b.assign(b.call(row.name, operands))
    return True


def cast(b: Builder) -> bool:
    """A conversion that the target has."""
    first = _pick(b, lambda t: t.shape[1] > 1)
    if first is None:
        return False
    t = b.tile(first)
    types = [d for d in _casts(b.target.casts, t.dtype) if t.shape[1] * d.bytes % BLOCK_BYTES == 0]
    if not types:
        return False
    mode = choice(b.draw, ("rint", "rint", *ROUND_MODES))
    b.assign(b.call("tile.cast", (first,), target_type=choice(b.draw, types), mode=mode))
    return True


@cache
def _casts(direct: frozenset[tuple[DType, DType]], source: DType) -> tuple[DType, ...]:
    """The types that tiles are loaded in and that `source` can be converted to, by name."""
    loaded = {name for name, _ in LOADED} & {d.name for s, d in direct if s == source != d}
    return tuple(DTYPES[name] for name in sorted(loaded | {d for s, d in CHAINED if s == source.name}))


def mask(b: Builder) -> bool:
    """A comparison and a selection by it."""
    first = _pick(b, lambda t: t.dtype.name in _SELECTED and 0 not in t.valid_shape and t.shape[1] > 1)
    if first is None:
        return False
    t = b.tile(first)
    only_equality = b.target.name == "a2a3" and t.dtype == INT32
    cmp = choice(b.draw, (0, 1) if only_equality else (0, 1, 2, 3, 3, 4, 5, 5))
    other = _pick(b, lambda u: alike(u, t))
    one_shape = b.target.name == "a2a3" or t.shape[1] == MASK_COLUMNS
    of_tiles = other is not None and one_shape and chance(b.draw, 50)
    if other is not None and of_tiles:
        bits = b.scratch(b.call("tile.cmp", (first, other), cmp_type=cmp))
    else:
        bits = b.scratch(b.call("tile.cmps", (first, b.constant(t.dtype)), cmp_type=cmp))
    # A choice between what was compared does not tell what became of elements that are equal.
    if other is not None and chance(b.draw, 30 if of_tiles else 60):
        words = b.scratch(b.call("tile.create", (numbers(*t.shape),), dtype=INT32))
        b.assign(b.call("tile.sel", (bits, first, other, words)))
    else:
        b.assign(b.call("tile.sels", (bits, first, scratch(b, t), b.constant(t.dtype))))
    return True


def _below(b: Builder, tile: Var, limit: int) -> Var:
    """The tile's elements brought into 0 .. limit - 1; limit is a power of two."""
    t = b.tile(tile)
    mask = b.scratch(b.call("tile.full", (numbers(*t.shape), Const(limit - 1, t.dtype)), dtype=t.dtype))
    return b.scratch(b.call("tile.and", (tile, mask)))


def shift(b: Builder) -> bool:
    """A shift by a tile of counts, which are masked into their range."""
    name = choice(b.draw, ("shl", "shr"))
    first = _pick(b, lambda t: t.dtype.name in ("INT16", "INT32") and 0 not in t.valid_shape)
    if first is None:
        return False
    t = b.tile(first)
    other = _pick(b, lambda u: alike(u, t))
    if other is None:
        return False
    counts = _below(b, other, t.dtype.bits)
    if not alike(b.tile(counts), t):
        return False
    b.assign(b.call(f"tile.{name}", (first, counts)))
    return True


def gather(b: Builder) -> bool:
    """Elements picked by index or by pattern, or put at an index."""
    kind = choice(b.draw, ("gather", "gather_mask", "scatter"))
    first = _pick(b, lambda t: t.dtype.name in ("FP32", "FP16", "INT32", "INT16") and full(t) and t.shape[1] >= 16)
    if first is None:
        return False
    t = b.tile(first)
    rows, columns = t.shape
    if kind == "gather_mask":
        pattern = b.draw.integer(1, 7)
        step = 1 if pattern == 7 else 2 if pattern <= 2 else 4
        if (columns // step * t.dtype.bytes) % 32:
            return False
        b.assign(b.call("tile.gather_mask", (first,), mask_pattern=pattern))
        return True
    narrow = kind == "scatter" and t.dtype.bits == 16
    indices = load(b, (rows, columns), INT16 if narrow else INT32)
    size = rows * columns
    inside = _below(b, indices, size)
    if kind == "gather":
        b.assign(b.call("tile.gather", (first, inside, scratch(b, b.tile(inside)))))
        return True
    source = _pick(b, lambda u: alike(u, t))
    assert source is not None, "a tile is like itself"
    b.assign(b.call("tile.scatter", (first, source, inside)))
    return True


def made(b: Builder) -> bool:
    """A tile from nothing: one value, a triangle, a ramp."""
    kind = choice(b.draw, ("full", "full", "tri", "ci"))
    rows = choice(b.draw, (4, 8, 16))
    if kind == "ci":
        dtype = choice(b.draw, (INT32, INT16))
        descending = chance(b.draw, 30)
        start = Const(b.draw.integer(0, 9), dtype)
        b.assign(b.call("tile.ci", (start, numbers(1, b.columns(dtype))), dtype=dtype, descending=descending))
        return True
    dtype = choice(b.draw, (FP32, FP16, INT32, INT16, *(_FILLED if kind == "full" else ())))
    columns = b.columns(dtype)
    shape = numbers(rows, columns)
    if kind == "full":
        b.assign(b.call("tile.full", (shape, b.constant(dtype)), dtype=dtype))
    else:
        diagonal = Const(b.draw.integer(-3, 3), INT32)
        operands = (diagonal, shape, dims((b.valid(rows), columns))) if chance(b.draw, 25) else (diagonal, shape)
        b.assign(b.call("tile.tri", operands, dtype=dtype, upper=chance(b.draw, 50)))
    return True


def scalar(b: Builder) -> bool:
    """An element read into a scalar, and what is done with it: added to a tile, or written to another element."""
    first = _pick(b, lambda t: t.dtype in (FP32, INT32) and full(t))
    if first is None:
        return False
    t = b.tile(first)
    at = dims((index(b, t.shape[0]), index(b, t.shape[1])))
    value = b.scratch(b.call("tile.read", (first, at)))
    item = _computed(b, value, t.dtype)
    if chance(b.draw, 50):
        fresh = b.assign(b.call("tile.muls", (first, b.constant(t.dtype))))
        place_of = dims((index(b, t.shape[0]), index(b, t.shape[1])))
        b.effect(b.call("tile.write", (fresh, place_of, item)))
    else:
        named = Var(b.name("v"), ScalarType(t.dtype))
        b.scalar(named, item)
        b.assign(b.call("tile.adds", (first, named)))
    return True


def _computed(b: Builder, value: Expr, dtype: DType) -> Expr:
    """A scalar made of another one of its type."""
    operators = (*_ARITHMETIC, BinaryOp.DIV) if dtype.is_float else (*_ARITHMETIC, *_OF_INTEGERS)
    operator = choice(b.draw, (*operators, UnaryOp.NEG, UnaryOp.ABS, *(() if dtype.is_float else (UnaryOp.BITNOT,))))
    if isinstance(operator, UnaryOp):
        return Unary(operator, value, dtype)
    if operator in (BinaryOp.SHL, BinaryOp.SHR):
        return Binary(operator, value, Const(b.draw.integer(0, dtype.bits - 1), dtype), dtype)
    if operator in (BinaryOp.FLOORDIV, BinaryOp.MOD, BinaryOp.DIV):
        return Binary(operator, value, Const(2.0 if dtype.is_float else choice(b.draw, (2, 3, 7)), dtype), dtype)
    return Binary(operator, value, b.constant(dtype), dtype)


def stores(b: Builder, names: Iterable[Var]) -> None:
    """Each tile into an output of its own."""
    for v in names:
        t = b.tile(v)
        if chance(b.draw, 80):
            store(b, v, b.out(t.shape, t.dtype), numbers(0, 0))
        else:
            shape, at = place(b, *t.shape)
            added = t.dtype.name in ADDED and chance(b.draw, 30)
            store(b, v, b.out(shape, t.dtype, partly=True), at, added)


def store(b: Builder, tile: Var, out: Var, at: Expr, added: bool = False) -> Call:
    """One store, or one that adds to what is there; the output's name stands for its new value."""
    call = b.call("tile.store", (tile, at, out), atomic=1) if added else b.call("tile.store", (tile, at, out))
    b.store(out, call)
    return call


def reloaded(b: Builder) -> bool:
    """A tile that is stored and loaded again, from where it is or from a row beside it."""
    tile = _pick(b, lambda t: full(t) and t.shape[1] > 1)
    if tile is None:
        return False
    t = b.tile(tile)
    rows, columns = t.shape
    out = b.out((2 * rows, columns), t.dtype, partly=True)
    store(b, tile, out, dims((b.scaled(index(b, 2), rows), 0)))
    first = b.draw.integer(0, rows)
    b.assign(b.call("tile.load", (out, numbers(first, 0), numbers(rows, columns), numbers(rows, columns))))
    return True
