"""The op table, part 2: views, allocation, scalars, control flow, sync, FIFOs. One row each."""

from __future__ import annotations

from pypto_verified.pto.spec import OpRow, row

_POINTERS = (
    row("pto.make_tensor_view", "ptr:p shape:i* strides:i*", form="make_tensor_view", pipe="", effect="view",
        attrs={"layout": "enum:layout"}),
    row("pto.partition_view", "source:v offsets:i* sizes:i*", form="partition_view", pipe="", effect="view"),
    row("pto.get_tensor_view_dim", "tensor_view:v dim_index:i", form="typed", pipe="", effect="pure"),
    row("pto.get_tensor_view_stride", "tensor_view:v dim_index:i", form="typed", pipe="", effect="pure"),
    row("pto.addptr", "ptr:p offset:i", form="typed", pipe="", effect="view"),
    row("pto.castptr", "input:t", form="typed", pipe="", effect="view", modelled=False),
    row("pto.ptrtoint", "ptr:p", form="typed", pipe="", effect="pure", modelled=False),
    row("pto.inttoptr", "addr:s", form="typed", pipe="", effect="view", modelled=False),
    row("pto.load_scalar", "ptr:p offset:i", form="load_scalar", pipe="S"),
    row("pto.store_scalar", "value:s +ptr:p offset:i", form="store_scalar", pipe="S"),
)

_TILES = (
    row("pto.alloc_tile", "addr:s? valid_row:i? valid_col:i?", form="alloc_tile", pipe="", effect="alloc"),
    row("pto.alloc_multi_tile", "addr:s? valid_row:i? valid_col:i?", form="alloc_tile", pipe="", effect="alloc"),
    row("pto.multi_tile_get", "source slot:i", form="multi_tile_get", pipe="", effect="view"),
    row("pto.subview", "source offsets:i* valid_row:i? valid_col:i?", form="subview", pipe="", effect="view",
        attrs={"sizes": "ints"}),
    row("pto.treshape", "src", form="typed", pipe="S", effect="view"),
    row("pto.bitcast", "src", form="typed", pipe="", effect="view"),
    row("pto.set_validshape", "source valid_row:i valid_col:i", form="set_validshape", pipe="", effect="view"),
    row("pto.get_validshape", "source", form="typed", pipe="", effect="pure", modelled=False),
    row("pto.tile_valid_rows", "src", form="typed", pipe="", effect="pure", modelled=False),
    row("pto.tile_valid_cols", "src", form="typed", pipe="", effect="pure", modelled=False),
    row("pto.tassign", "tile addr:s", form="typed", pipe="", effect="view", modelled=False),
    row("pto.declare_tile", form="typed", pipe="", effect="alloc", modelled=False),
)

_BLOCKS = tuple(
    row(f"pto.get_{n}", form="typed", pipe="", effect="pure")
    for n in ("block_idx", "block_num", "subblock_idx", "subblock_num")
)

ROWS: tuple[OpRow, ...] = _POINTERS + _TILES + _BLOCKS
