"""All legality rows, and the index from an op to its rows."""

from __future__ import annotations

from functools import cache

from pypto_verified.pto.legality import Legal
from pypto_verified.pto.legality_alloc import ROWS as _ALLOC
from pypto_verified.pto.legality_compute import ROWS as _COMPUTE
from pypto_verified.pto.legality_convey import ROWS as _CONVEY
from pypto_verified.pto.legality_fifo import ROWS as _FIFO
from pypto_verified.pto.legality_fixpipe import ROWS as _FIXPIPE
from pypto_verified.pto.legality_global import ROWS as _GLOBAL
from pypto_verified.pto.legality_index import ROWS as _INDEX
from pypto_verified.pto.legality_layout import ROWS as _LAYOUT
from pypto_verified.pto.legality_misc import ROWS as _MISC
from pypto_verified.pto.legality_move import ROWS as _MOVE
from pypto_verified.pto.legality_mx import ROWS as _MX
from pypto_verified.pto.legality_operands import ROWS as _OPERANDS
from pypto_verified.pto.legality_quant import ROWS as _QUANT
from pypto_verified.pto.legality_rings import ROWS as _RINGS
from pypto_verified.pto.legality_room import ROWS as _ROOM
from pypto_verified.pto.legality_scratch import ROWS as _SCRATCH
from pypto_verified.pto.legality_shuffle import ROWS as _SHUFFLE
from pypto_verified.pto.legality_temps import ROWS as _TEMPS
from pypto_verified.pto.legality_values import ROWS as _VALUES
from pypto_verified.pto.legality_wise import ROWS as _WISE

RULES: tuple[Legal, ...] = (
    *_ALLOC, *_LAYOUT, *_OPERANDS, *_MOVE, *_CONVEY, *_COMPUTE, *_WISE, *_MX, *_QUANT, *_SCRATCH, *_TEMPS, *_ROOM,
    *_SHUFFLE, *_INDEX, *_FIFO, *_RINGS, *_FIXPIPE, *_GLOBAL, *_VALUES, *_MISC,
)


@cache
def rules_of(target: str, level: str) -> dict[str, tuple[Legal, ...]]:
    """Op name -> the rules that judge it at this target and level."""
    found: dict[str, tuple[Legal, ...]] = {}
    for rule in RULES:
        if target in rule.targets and level in rule.levels:
            for op in rule.ops.split():
                found[op] = (*found.get(op, ()), rule)
    return found
