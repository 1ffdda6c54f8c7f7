"""The meanings of all ops: importing a family registers its ops."""

from __future__ import annotations

from pypto_verified.simulator import (
    ops_axis,
    ops_cast,
    ops_comm,
    ops_counter,
    ops_cube,
    ops_elementwise,
    ops_index,
    ops_memory,
    ops_move,
    ops_partial,
    ops_pipe,
    ops_quant,
    ops_scalar,
    ops_select,
    ops_sort,
    ops_views,
)
from pypto_verified.simulator.registry import MEANINGS

FAMILIES = (
    ops_axis, ops_cast, ops_comm, ops_counter, ops_cube, ops_elementwise, ops_index, ops_memory, ops_move, ops_partial,
    ops_pipe, ops_quant, ops_scalar, ops_select, ops_sort, ops_views,
)

__all__ = ["FAMILIES", "MEANINGS"]
