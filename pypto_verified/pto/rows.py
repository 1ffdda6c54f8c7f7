"""The whole op table: name -> row. `pto` ops and the scalar and control ops around them."""

from __future__ import annotations

from pypto_verified.pto.rows_other import ROWS as _OTHER
from pypto_verified.pto.rows_std import ROWS as _STD
from pypto_verified.pto.rows_sync import ROWS as _SYNC
from pypto_verified.pto.rows_tile import ROWS as _TILE
from pypto_verified.pto.spec import OpRow

TABLE: dict[str, OpRow] = {r.name: r for r in (*_TILE, *_OTHER, *_SYNC, *_STD)}
