"""The whole op table: name -> row. `pto` ops and the scalar and control ops around them."""

from __future__ import annotations

from pypto_verified.pto.rows_other import ROWS as _OTHER
from pypto_verified.pto.rows_tile import ROWS as _TILE
from pypto_verified.pto.spec import OpRow

TABLE: dict[str, OpRow] = {r.name: r for r in (*_TILE, *_OTHER)}
