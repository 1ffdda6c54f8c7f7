"""What the indices that an op takes from a tile lie between, where the kernel computes them from constants, and what
they have to stay below."""

from __future__ import annotations

from math import prod

from pypto_verified.index import Expr, const
from verifiers.access import Step, TileUse, Window
from verifiers.access.indexed import Indexed, by_row
from verifiers.known_values import elements_around, elements_read
from verifiers.last_write import last_writes_of
from verifiers.sites import Context
from verifiers.written import place_of

BLOCK_BYTES = 32
"""Bytes that one offset of a gather of blocks stands for."""


def count(step: Step, table: object) -> Expr | None:
    """What an index is below."""
    if isinstance(table, Window):
        sizes = table.sizes[:-1] if by_row(step) else table.sizes
        return prod(sizes, start=const(1))
    if not isinstance(table, TileUse):
        return None
    size = table.type.rows * table.type.cols
    return const(size * table.type.dtype.bytes - BLOCK_BYTES + 1 if step.op.name == "pto.tgatherb" else size)


def range_of(
    context: Context, step: Step, taking: Indexed, indices: TileUse, table: object
) -> tuple[Expr, Expr] | None:
    """The least and the largest index, where the kernel computes them from constants. Elements outside of the table's
    valid region have no value, so only a full table is judged."""
    if isinstance(table, TileUse) and (table.valid_rows.value, table.valid_cols.value) != (
            table.type.rows, table.type.cols):
        return None
    places = step.tiles(taking.places)
    if not places:
        return None
    ramp = _ramp(context, step, indices, places[0])
    rows, cols = places[0].valid_rows.value, places[0].valid_cols.value
    elements = elements_read(context.program, step, indices) if ramp is None else None
    if elements is None or not rows or not cols:
        return ramp or _within(context, step, indices, table)
    if step.op.name.startswith("pto.m") and by_row(step):
        taken = elements.reshape(-1)[:rows]
    elif step.op.name == "pto.tgatherb":
        block = BLOCK_BYTES // places[0].type.dtype.bytes
        taken = elements[:rows, : -(-cols // block)]
    else:
        taken = elements[:rows, :cols]
    return const(int(taken.min())), const(int(taken.max()))


def _within(context: Context, step: Step, indices: TileUse, table: object) -> tuple[Expr, Expr] | None:
    """The least and the largest of all that a moving window of indices may show, if all of them name something."""
    elements, number = elements_around(context.program, step, indices), count(step, table)
    if elements is None or number is None or number.value is None:
        return None
    low, high = int(elements.min()), int(elements.max())
    return (const(low), const(high)) if low >= 0 and high < number.value else None


def _ramp(context: Context, step: Step, indices: TileUse, places: TileUse) -> tuple[Expr, Expr] | None:
    """The first and the last of a ramp that starts with a constant, however much of it is taken."""
    sources = list(last_writes_of(context.program).get((step.index, step.reads().index(indices)), {}))
    if len(sources) != 1 or sources[0].step.op.name != "pto.tci" or place_of(sources[0].tile) != place_of(indices):
        return None
    (start,) = sources[0].step.operands["start"]
    if not isinstance(start, Expr) or start.value is None:
        return None
    last = places.valid_cols - 1
    return (start - last, start) if sources[0].step.op.attrs.get("descending") is True else (start, start + last)
