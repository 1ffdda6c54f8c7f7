"""A simulated tile as a table: `.` outside the valid region, `?` where nothing has been written."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pypto_verified.simulator.tile import Tile

MOST_ROWS, MOST_COLUMNS = 16, 12
_EDGE = 2
_LEFT_OUT = "..."


def table(tile: Tile) -> str:
    """Address, type, extents, and the elements in logical order; the middle of a large tile is left out."""
    head = (
        f"%{tile.name} {tile.space.value} at {tile.addr}: {tile.type.dtype.pto} {tile.type.rows} x {tile.type.cols}, "
        f"valid {tile.rows} x {tile.cols}"
    )
    rows, columns = _shown(tile.type.rows, MOST_ROWS), _shown(tile.type.cols, MOST_COLUMNS)
    cell = _cells(tile)
    grid = [["", *map(_label, columns)], *([_label(r), *(cell(r, c) for c in columns)] for r in rows)]
    widths = [max(len(line[i]) for line in grid) for i in range(len(grid[0]))]
    return "\n".join([head, *("  ".join(w.rjust(n) for w, n in zip(line, widths, strict=True)) for line in grid)])


def _label(index: int | None) -> str:
    return _LEFT_OUT if index is None else str(index)


def _shown(count: int, most: int) -> list[int | None]:
    """Indices to show; None stands for those left out."""
    if count <= most:
        return list(range(count))
    return [*range(most - _EDGE - 1), None, *range(count - _EDGE, count)]


def _cells(tile: Tile) -> Callable[[int | None, int | None], str]:
    # Not `tile.reads`: looking at a tile is no access of the program.
    window = (0, 0, tile.rows, tile.cols)
    view = tile.memory.view(tile.kind, tile.addr, tile.layout, window, tile.bounds, tile.name)
    values, bad = view.get(), view.bad()

    def cell(r: int | None, c: int | None) -> str:
        if r is None or c is None:
            return _LEFT_OUT
        if r >= tile.rows or c >= tile.cols:
            return "."
        return "?" if bad is not None and bad[r, c] else _number(values[r, c])

    return cell


def _number(value: object) -> str:
    return str(value) if isinstance(value, np.integer) else f"{float(str(value)):.6g}"
