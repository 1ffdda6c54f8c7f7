"""The op table, part 2: views, allocation, scalars, control flow, sync, FIFOs. One row each."""

from __future__ import annotations

from pypto_verified.pto.spec import OpRow, row

_ALLOC = "<? addr = $addr ?> <? valid_row = $valid_row ?> <? valid_col = $valid_col ?> {} : @"
_CONVERT = "$src {} : :src -> @"
_VIEW_QUERY = "$tensor_view , $dim_index : :tensor_view -> @ {}"

_POINTERS = (
    row("pto.make_tensor_view", "ptr:p shape:i* strides:i*", pipe="", effect="view",
        form="$ptr , shape = [ $shape ] , strides = [ $strides ] {} : @",
        attrs={"layout": "enum:layout"}),
    row("pto.partition_view", "source:v offsets:i* sizes:i*", pipe="", effect="view",
        form="$source , offsets = [ $offsets ] , sizes = [ $sizes ] {} : :source <? -> @ ?>"),
    row("pto.get_tensor_view_dim", "tensor_view:v dim_index:i", form=_VIEW_QUERY, pipe="", effect="pure"),
    row("pto.get_tensor_view_stride", "tensor_view:v dim_index:i", form=_VIEW_QUERY, pipe="", effect="pure"),
    row("pto.addptr", "ptr:p offset:i", form="$ptr , $offset {} : :ptr -> @ptr", pipe="", effect="view"),
    row("pto.castptr", "input:t", form="$input {} : :input -> @", pipe="", effect="view", modelled=False),
    row("pto.ptrtoint", "ptr:p", form="$ptr {} : :ptr -> @", pipe="", effect="pure", modelled=False),
    row("pto.inttoptr", "addr:s", form="$addr {} : :addr -> @ptr", pipe="", effect="view", modelled=False),
    row("pto.load_scalar", "ptr:p offset:i", form="$ptr [ $offset ] {} : :ptr -> @", pipe="S"),
    row("pto.store_scalar", "value:s offset:i", "ptr:p", pipe="S",
        form="$value , $ptr [ $offset ] {} : :ptr , :value"),
)

_TILES = (
    row("pto.alloc_tile", "addr:s? valid_row:i? valid_col:i?", form=_ALLOC, pipe="", effect="alloc"),
    row("pto.alloc_multi_tile", "addr:s? valid_row:i? valid_col:i?", form=_ALLOC, pipe="", effect="alloc"),
    row("pto.multi_tile_get", "source:t slot:i", form="$source [ $slot ] {} : :source -> @", pipe="", effect="view"),
    row("pto.subview", "source offsets:i* valid_row:i? valid_col:i?", pipe="", effect="view",
        form="$source [ $offsets ] sizes #sizes <? valid [ $valid_row , $valid_col ] ?> {} : :source <? -> @ ?>",
        attrs={"sizes": "ints"}),
    row("pto.treshape", "src", form=_CONVERT, pipe="S", effect="view"),
    row("pto.bitcast", "src", form=_CONVERT, pipe="", effect="view"),
    row("pto.set_validshape", "source valid_row:i valid_col:i", pipe="", effect="view",
        form="$source , $valid_row , $valid_col {} : :source"),
    row("pto.get_validshape", "source", form="$source {} : :source =>index =>index", pipe="", effect="pure",
        modelled=False),
    row("pto.tile_valid_rows", "src", form=_CONVERT, pipe="", effect="pure", modelled=False),
    row("pto.tile_valid_cols", "src", form=_CONVERT, pipe="", effect="pure", modelled=False),
    row("pto.tassign", "tile addr:s", form="$tile , $addr {} : :tile -> @", pipe="", effect="view", modelled=False),
    row("pto.declare_tile", form="{} -> @", pipe="", effect="alloc", modelled=False),
)

_BLOCKS = tuple(
    row(f"pto.get_{n}", form="{} =>i64", pipe="", effect="pure")
    for n in ("block_idx", "block_num", "subblock_idx", "subblock_num")
)

ROWS: tuple[OpRow, ...] = _POINTERS + _TILES + _BLOCKS
