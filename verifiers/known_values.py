"""The elements of integer and float tiles that a kernel computes from constants alone, such as the indices of a gather.

An element is known only if it is the same on every chip: sums and products have to be exact, a conversion says how it
rounds unless there is nothing to round, and quotients are of numbers that are not negative by powers of two.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from pypto_verified.index import Expr
from pypto_verified.layouts import BLayout
from pypto_verified.pto.module import EnumAttr, Op, Value
from pypto_verified.pto.walk import walk_ops
from verifiers.access import AccessProgram, Step, TileUse
from verifiers.last_write import last_writes_of
from verifiers.reaching import Source
from verifiers.regions import anchored, writes_of
from verifiers.written import place_of, start_of

if TYPE_CHECKING:
    import numpy as np

    Elements: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"

_MOST = 1 << 18
"""Elements beyond which a tile is not computed."""
_DEEPEST = 64
"""Ops that one element may depend on, one after the other."""
_EXACT = 1 << 24
"""Integers up to here are exact in f32."""

_SUMS: dict[str, Callable[[Elements, Elements], Elements]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
}
_FORMS = {
    **{f"pto.t{word}": (("src0", "src1"), word) for word in _SUMS},
    **{f"pto.tcolexpand{word}": (("src0", "src1"), word) for word in _SUMS},
    **{f"pto.trowexpand{word}": (("src0", "src1"), word) for word in _SUMS},
}
_BY_SCALAR = {"pto.tadds": ("src", "add"), "pto.tsubs": ("src", "sub"), "pto.tmuls": ("src0", "mul")}


def elements_read(program: AccessProgram, step: Step, tile: TileUse) -> Elements | None:
    """What a step finds in a tile that it reads, as far as it was written; None where that is not known."""
    return _Known(program).read(step, tile, 0)


def elements_around(program: AccessProgram, step: Step, tile: TileUse) -> Elements | None:
    """All that a step may find in a window that moves about in one tile."""
    return _Known(program).read(step, tile, 0, moving=True)


class _Known:
    def __init__(self, program: AccessProgram) -> None:
        self.program = program
        self.sources = last_writes_of(program)

    def read(self, step: Step, tile: TileUse, depth: int, moving: bool = False) -> Elements | None:
        reads = step.reads()
        found = list(self.sources.get((step.index, reads.index(tile)), {})) if tile in reads else []
        if len(found) != 1 or depth > _DEEPEST:
            return None
        made = self._written(found[0], depth + 1)
        if made is not None and moving:
            return made if place_of(anchored(tile)[0]) == place_of(found[0].tile) else None
        return None if made is None else _seen_as(found[0].tile, made, tile)

    def _written(self, source: Source, depth: int) -> Elements | None:
        """What an op leaves in its result."""
        step, tile = source.step, source.tile
        region = next((r for r in writes_of(step) if place_of(r.tile) == place_of(tile)), None)
        if tile not in step.tiles("dst") or region is None or not region.sure:
            return None
        rows, cols = region.rows.value, region.cols.value
        if rows is None or cols is None or not 0 < rows * cols <= _MOST or not _plain(tile):
            return None
        made = self._computed(step, tile, rows, cols, depth)
        return made if made is not None and _exact(made, tile) else None

    def _computed(self, step: Step, tile: TileUse, rows: int, cols: int, depth: int) -> Elements | None:
        import numpy as np

        name = step.op.name
        if name == "pto.tci" and rows == 1:
            start = self._number(step, "start")
            down = step.op.attrs.get("descending") is True
            ramp = np.arange(cols, dtype=np.float64).reshape(1, cols)
            return None if start is None else start - ramp if down else start + ramp
        if name == "pto.texpands":
            value = self._number(step, "scalar")
            return None if value is None else np.full((rows, cols), value, np.float64)
        if name in _FORMS:
            groups, word = _FORMS[name]
            operands = [self._operand(step, g, rows, cols, depth) for g in groups]
            return None if operands[0] is None or operands[1] is None else _SUMS[word](operands[0], operands[1])
        if name in _BY_SCALAR:
            group, word = _BY_SCALAR[name]
            values, number = self._operand(step, group, rows, cols, depth), self._number(step, "scalar")
            return None if values is None or number is None else _SUMS[word](values, np.full_like(values, number))
        source = self._operand(step, "src", rows, cols, depth)
        if source is None:
            return None
        if name == "pto.tdivs":
            return _quotient(source, self._number(step, "scalar"), tile)
        if name == "pto.tcvt":
            return _rounded(source, step.op.attrs.get("rmode"), tile)
        return source if name == "pto.tmov" and step.tiles("src")[0].type.dtype == tile.type.dtype else None

    def _operand(self, step: Step, group: str, rows: int, cols: int, depth: int) -> Elements | None:
        """An operand as wide as the result. The second one of an expansion is one row, or one 32-byte block a row, of
        which column c takes element c modulo their number (PTO-ISA TRowExpand headers)."""
        import numpy as np

        tiles = step.tiles(group)
        values = self.read(step, tiles[0], depth) if len(tiles) == 1 else None
        if values is None:
            return None
        columns = np.arange(cols)
        if group == "src1" and step.op.name.startswith("pto.tcolexpand"):
            values = np.broadcast_to(values[:1], (rows, values.shape[1]))
        elif group == "src1" and step.op.name.startswith("pto.trowexpand"):
            block, wide = 32 // tiles[0].type.dtype.bytes, tiles[0].valid_cols.value
            if wide != block or wide == cols:  # as wide as the result it is the other operand that is expanded
                return None
            columns %= block
        if values.shape[0] < rows or values.shape[1] <= columns.max():
            return None
        return values[:rows, columns]

    def _number(self, step: Step, group: str) -> float | None:
        """A scalar operand that is a constant."""
        operands = step.operands.get(group, ())
        if len(operands) != 1:
            return None
        if isinstance(operands[0], Expr):
            return operands[0].value
        op = _producers(self.program).get(step.op.args[group][0])
        value = op.attrs.get("value") if op is not None and op.name == "arith.constant" else None
        return float(value) if isinstance(value, int | float) else None


@lru_cache(maxsize=1)
def _producers(program: AccessProgram) -> dict[Value, Op]:
    return {result: op for op in walk_ops(program.func) for result in op.results}


def _plain(tile: TileUse) -> bool:
    return tile.type.blayout is BLayout.ROW and not tile.type.boxed and (
        tile.type.dtype.is_integer or tile.type.dtype.name == "FP32")


def _seen_as(written: TileUse, elements: Elements, tile: TileUse) -> Elements | None:
    """The elements under another handle: the same place, a window of it, or the same solid bytes in rows of another
    length."""
    if place_of(written) == place_of(tile):
        return elements
    whole, first_row, first_col = anchored(tile)
    row, col = first_row.value, first_col.value
    if whole is not tile and place_of(written) == place_of(whole) and row is not None and col is not None:
        return elements[row : row + tile.type.rows, col : col + tile.type.cols]
    solid = all(_plain(t) and t.rect.pitch == t.rect.row_bytes for t in (written, tile))
    full = elements.shape == (written.type.rows, written.type.cols)
    alike = written.type.dtype == tile.type.dtype and written.type.bytes == tile.type.bytes
    at_one_place = start_of(written) is start_of(tile) and written.root.space is tile.root.space
    if not (solid and full and alike and at_one_place):
        return None
    return elements.reshape(tile.type.rows, tile.type.cols)


def _exact(elements: Elements, tile: TileUse) -> bool:
    """Whether a tile of that type holds exactly these numbers, and no op on the way to them had to round."""
    import numpy as np

    dtype = tile.type.dtype
    if dtype.is_integer:
        low, high = (0, 1 << dtype.bits) if dtype.kind == "uint" else (-(1 << dtype.bits - 1), 1 << dtype.bits - 1)
        whole = np.all(np.floor(elements) == elements) and np.all(np.abs(elements) <= _EXACT)
        return bool(whole and np.all(elements >= low) and np.all(elements < high))
    return bool(np.all(elements.astype(np.float32) == elements) and np.all(np.abs(elements) <= _EXACT))


def _quotient(values: Elements, divisor: float | None, tile: TileUse) -> Elements | None:
    import numpy as np

    whole = divisor is not None and divisor >= 1 and divisor == int(divisor) and int(divisor) & (int(divisor) - 1) == 0
    if divisor is None or not whole or bool(np.any(values < 0)):
        return None
    return np.floor(values / divisor) if tile.type.dtype.is_integer else values / divisor


def _rounded(values: Elements, mode: object, tile: TileUse) -> Elements | None:
    """A conversion; without a mode only where there is nothing to round."""
    import numpy as np

    if not tile.type.dtype.is_integer or bool(np.all(np.floor(values) == values)):
        return values
    ways: dict[str, Callable[[Elements], Elements]] = {
        "TRUNC": np.trunc, "FLOOR": np.floor, "CEIL": np.ceil, "RINT": np.rint}
    way = ways.get(mode.member) if isinstance(mode, EnumAttr) else None
    return way(values) if way is not None else None
