"""The op table, part 4: flags, events, barriers, cross-core FIFOs, sections, communication, arrays. One row each."""

from __future__ import annotations

from pypto_verified.layouts import Space
from pypto_verified.pto.module import Op
from pypto_verified.pto.rows_tile import loc_of
from pypto_verified.pto.spec import OpRow, Phase, row

_FLAG = {"src_pipe": "pipe", "dst_pipe": "pipe", "event_id": "event"}
_FLAG_DYN = {"src_pipe": "enum:pipe", "dst_pipe": "enum:pipe"}
_EVENT_ID = "#pipe , #event_id {} | #pipe , $event_id_dyn {}"
_BUFFER = "[ #op_type , #buf_id <? , #mode ?> ] {} | #op_type , #buf_id <? , #mode ?> {}"
_CROSS = {"pipe": "pipe", "event_id": "int"}

_SYNC = (
    *(row(f"pto.{n}", form="[ #src_pipe , #dst_pipe , #event_id ] {}", pipe="", effect="sync", attrs=_FLAG)
      for n in ("set_flag", "wait_flag")),
    *(row(f"pto.{n}", "event_id:i", form="[ #src_pipe , #dst_pipe , $event_id ] {}", pipe="", effect="sync",
          attrs=_FLAG_DYN) for n in ("set_flag_dyn", "wait_flag_dyn")),
    *(row(f"pto.{n}", form="[ #src_op , #dst_op , #event_id ] {}", pipe="", effect="sync",
          attrs={"src_op": "sync_op", "dst_op": "sync_op", "event_id": "enum:event"})
      for n in ("record_event", "wait_event")),
    row("pto.barrier", form="#pipe {}", pipe="", effect="sync", attrs={"pipe": "pipe"}),
    row("pto.barrier_sync", form="[ #op_type ] {}", pipe="", effect="sync", attrs={"op_type": "sync_op"}),
    *(row(f"pto.{n}", form=_BUFFER, pipe="", effect="sync", unmodelled="mode",
          attrs={"op_type": "sync_op", "buf_id": "int", "mode": "int"}) for n in ("get_buf", "rls_buf")),
    *(row(f"pto.{n}", "buf_id:i", form=_BUFFER.replace("#buf_id", "$buf_id"), pipe="", effect="sync",
          unmodelled="mode", attrs={"op_type": "sync_op", "mode": "int"}) for n in ("get_buf_dyn", "rls_buf_dyn")),
    *(row(f"pto.{n}", "event_id_dyn:i?", form=_EVENT_ID, pipe="", effect="sync",
          attrs=_CROSS | {"ffts_mode": "int"}) for n in ("sync.set", "sync.wait")),
    row("pto.set_cross_block", "event_id_dyn:i?", form=_EVENT_ID, pipe="", effect="sync",
        attrs=_CROSS | {"ffts_mode": "int"}),
    *(row(f"pto.{n}", "event_id_dyn:i?", form=_EVENT_ID, pipe="", effect="sync", attrs=_CROSS)
      for n in ("wait_cross_block", "set_intra_block", "wait_intra_block")),
    row("pto.syncall", "gm_workspace:t? used_cores:s?", pipe="", effect="sync",
        form="( <? $gm_workspace <? , $used_cores ?> : :gm_workspace <? , :used_cores ?> ?> ) "
             "mode = #mode , core_type = #core_type {}",
        attrs={"mode": "enum:sync_all_mode", "core_type": "enum:sync_core_type"}),
    row("pto.fence.barrier_all", form="#scope {}", pipe="", effect="sync", attrs={"scope": "loose:fence_scope"}),
    row("pto.cmo.cacheinvalid", "addr:t?", pipe="", effect="sync", attrs={"space": "enum:address_space"},
        form="all #space {} | $addr single_cache_line : :addr {}"),
    row("pto.tsync", "events:t*", form="ins ( $events : :events ) {}", pipe="", effect="sync", modelled=False),
    row("pto.set_ffts", "ffts:p", form="$ffts {} : :ffts", pipe="", effect="sync"),
)


def _push_pipe(op: Op, target: str) -> str:
    return "FIX" if loc_of(op, "tile") is Space.ACC else "MTE3"


def _pop_pipe(op: Op, target: str) -> str:
    return "S" if target == "a5" else "MTE2"


_SPLIT = {"id": "int", "split": "int8"}
_CLAUSE = "{ <? id = #id , ?> split = #split }"
_LANE = "<? aiv_subblockid ( $aiv_subblockid ) ?>"
_INIT = {
    "id": "int", "dir_mask": "int8", "slot_size": "int", "slot_num": "int", "local_slot_num": "int", "nosplit": "bool",
    "acc_push_epilogue": "epilogue",
}
_RING = {"dir_mask": "int8", "slot_size": "int", "slot_num": "int", "local_slot_num": "int", "flag_base": "int",
         "nosplit": "bool", "acc_push_epilogue": "epilogue"}
_RING_CLAUSES = "{ dir_mask = #dir_mask , slot_size = #slot_size , slot_num = #slot_num "
_RING_TAIL = "<? , flag_base = #flag_base ?> <? , nosplit = #nosplit ?> } "

_FIFO = (
    *(row(f"pto.{n}_initialize_pipe", "gm_slot_buffer:p? gm_slot_tensor:v? c2v_consumer_buf:s? v2c_consumer_buf:s?",
          form="{=} (=) {}", pipe="", effect="sync", attrs=_INIT) for n in ("aic", "aiv")),
    row("pto.tpush_to_aiv", "tile:t", form=f"( $tile : :tile ) {_CLAUSE} {{}}", pipe=_push_pipe, attrs=_SPLIT),
    row("pto.tpush_to_aic", "tile:t aiv_subblockid:s?", form=f"( $tile : :tile ) {_CLAUSE} {_LANE} {{}}",
        pipe=_push_pipe, attrs=_SPLIT),
    row("pto.tpop_from_aic", "valid_row:i? valid_col:i? aiv_subblockid:s?", pipe=_pop_pipe, attrs=_SPLIT,
        form=f"<? ( $valid_row , $valid_col ) ?> {_CLAUSE} {_LANE} {{}} -> @"),
    row("pto.tpop_from_aiv", "valid_row:i? valid_col:i?", pipe=_pop_pipe, attrs=_SPLIT,
        form=f"<? ( $valid_row , $valid_col ) ?> {_CLAUSE} {{}} -> @"),
    *(row(f"pto.tfree_from_{n}", "entry:t?", form=f"<? ( $entry : :entry ) ?> {_CLAUSE} {{}}", pipe="S",
          effect="sync", attrs=_SPLIT) for n in ("aic", "aiv")),
    *(row(f"pto.talloc_to_{n}", form=f"{_CLAUSE} {{}} -> @", pipe="MTE3", effect="sync", modelled=False, attrs=_SPLIT)
      for n in ("aic", "aiv")),
    row("pto.reserve_buffer", pipe="", effect="alloc",
        form="{ name = #name , size = #size , location = #location , auto = #auto <? , base = #base ?> } {} -> @",
        attrs={"name": "str", "size": "int", "location": "enum:address_space", "auto": "bool", "base": "int"}),
    row("pto.import_reserved_buffer", pipe="", effect="pure",
        form="{ name = #name , peer_func = #peer_func } {} -> @", attrs={"name": "str", "peer_func": "symbol"}),
    row("pto.set_quant_scalar", "scale:s", form="( $scale : :scale ) { id = #id } {}", pipe="", effect="sync",
        modelled=False, attrs={"id": "int"}),
    row("pto.set_quant_vector", "scaling_tile", form="( $scaling_tile : :scaling_tile ) { id = #id } {}", pipe="",
        effect="sync", modelled=False, attrs={"id": "int"}),
    row("pto.initialize_l2g2l_pipe", "gm_addr:t local_addr:t? peer_local_addr:t?", pipe="", effect="sync",
        modelled=False, attrs=_RING,
        form=_RING_CLAUSES + "<? , local_slot_num = #local_slot_num ?> " + _RING_TAIL +
             "( $gm_addr : :gm_addr <? , $local_addr : :local_addr ?> <? , $peer_local_addr : :peer_local_addr ?> ) "
             "{} -> @"),
    row("pto.initialize_l2l_pipe", "local_addr:t peer_local_addr:t?", pipe="", effect="sync", modelled=False,
        attrs=_RING, form=_RING_CLAUSES + _RING_TAIL +
        "( $local_addr : :local_addr <? , $peer_local_addr : :peer_local_addr ?> ) {} -> @"),
    row("pto.tpush", "tile:t pipe_handle:t aiv_subblockid:s?", pipe=_push_pipe, modelled=False, attrs={"split": "int8"},
        form=f"( $tile , $pipe_handle : :tile , :pipe_handle ) {{ split = #split }} {_LANE} {{}}"),
    row("pto.tpop", "pipe_handle:t aiv_subblockid:s?", "tile:t", pipe=_pop_pipe, modelled=False,
        attrs={"split": "int8"},
        form=f"( $tile , $pipe_handle : :tile , :pipe_handle ) {{ split = #split }} {_LANE} {{}}"),
    row("pto.tfree", "entry:t? pipe_handle:t", pipe="S", effect="sync", modelled=False, attrs={"split": "int8"},
        form="( $pipe_handle : :pipe_handle ) { split = #split } {} | "
             "( $entry , $pipe_handle : :entry , :pipe_handle ) { split = #split } {}"),
    row("pto.talloc", "entry:t pipe_handle:t", pipe="MTE3", effect="sync", modelled=False, attrs={"split": "int8"},
        form="( $entry , $pipe_handle : :entry , :pipe_handle ) { split = #split } {}"),
    row("pto.declare_global", form="{} -> @", pipe="", effect="alloc", modelled=False),
)

_REGIONS = (
    row("pto.section.cube", form="section", pipe="", effect="control"),
    row("pto.section.vector", form="section", pipe="", effect="control"),
    row("pto.section.simt", form="section", pipe="", effect="control", modelled=False,
        attrs={"dimX": "int", "dimY": "int", "dimZ": "int"}),
    row("pto.fusion_region", form="fusion", pipe="", effect="control", modelled=False),
    row("pto.yield", "values:t*", form="( $values ) {} : ( :values ) -> ( )", pipe="", effect="control"),
)

_ASYNC = "( ${0} , $session : :{0} , :session ) {{}} -> @"
_GROUP = "recv ( $ping <? , $pong ?> ) , group ( $group ) :"
_GROUP_TYPES = ":ping <? , :pong ?> , :group ) {}"
_COPY = "( $dst , $src , buf ( $ping <? , $pong ?> ) : :dst , :src , :ping <? , :pong ?> ) {}"


def _staged(op: Op, target: str) -> tuple[Phase, ...]:
    """A copy in global memory by way of its staging tiles: in through MTE2, out through MTE3 (PTOAS#706)."""
    stages = tuple(group for group in ("ping", "pong") if group in op.args)
    return Phase("MTE2", ("src",), stages), Phase("MTE3", stages, ("dst",))


_COMM = (
    row("pto.comm.build_async_session", "scratch workspace:p", pipe="S", modelled=False,
        form="( $scratch , $workspace : :scratch , :workspace ) {} -> @", attrs={
            "sync_id": "int", "block_bytes": "int64", "comm_block_offset": "int64", "queue_num": "int",
            "channel_group_idx": "int64"}),
    *(row(f"pto.comm.{n}", "src:t session:t", "dst:t", pipe="MTE3", modelled=False,
          form="( $dst , $src , $session : :dst , :src , :session ) {} -> @") for n in ("tput_async", "tget_async")),
    *(row(f"pto.comm.{n}", "event:t session:t", pipe="S", modelled=False,
          form="( $event , $session : :event , :session ) {} -> @") for n in ("wait_async_event", "test_async_event")),
    row("pto.comm.tput", "src:t ~ping:t ~pong:t?", "dst:t", pipe="MTE3", form=_COPY,
        attrs={"atomicType": "enum:atomic_type"}, phases=_staged),
    row("pto.comm.tget", "src:t ~ping:t ~pong:t?", "dst:t", pipe="MTE2", form=_COPY, phases=_staged),
    row("pto.comm.tnotify", "value:s", "+signal:t", pipe="S",
        form="( $signal , $value : :signal , :value ) {}", attrs={"notifyOp": "enum:notify_op"}),
    row("pto.comm.twait", "signal:t cmpValue:s", pipe="S", modelled=False,
        form="( $signal , $cmpValue : :signal , :cmpValue ) {}", attrs={"cmp": "enum:wait_cmp"}),
    row("pto.comm.ttest", "signal:t cmpValue:s", pipe="S", modelled=False,
        form="( $signal , $cmpValue : :signal , :cmpValue ) {} -> @", attrs={"cmp": "enum:wait_cmp"}),
    row("pto.comm.tbroadcast", "src:t ~ping:t ~pong:t?", "group:t*", pipe="MTE3", modelled=False,
        form=f"( $src , {_GROUP} :src , {_GROUP_TYPES}", attrs={"root": "int"}),
    row("pto.comm.tgather", "~ping:t ~pong:t? group:t*", "dst:t", pipe="MTE2", modelled=False,
        form=f"( $dst , {_GROUP} :dst , {_GROUP_TYPES}", attrs={"root": "int"}),
    row("pto.comm.tscatter", "src:t ~ping:t ~pong:t?", "group:t*", pipe="MTE3", modelled=False,
        form=f"( $src , {_GROUP} :src , {_GROUP_TYPES}", attrs={"root": "int"}),
    row("pto.comm.treduce", "~acc:t ~ping:t ~pong:t? group:t*", "dst:t", pipe="MTE2", modelled=False,
        form=f"( $dst , $acc , {_GROUP} :dst , :acc , {_GROUP_TYPES}",
        attrs={"root": "int", "reduceOp": "enum:reduce_op"}),
    row("pto.make_prefetch_async_context", "workspace:p", form="( $workspace : :workspace ) {} -> @", pipe="",
        effect="pure", modelled=False),
    row("pto.get_prefetch_async_session", "ctx:t", form="$ctx {} : :ctx -> @", pipe="", effect="pure", modelled=False),
    row("pto.tprefetch_async", "src:t ctx:t", form="( $src , $ctx : :src , :ctx ) {} -> @", pipe="MTE2",
        modelled=False),
)

_SCALARS = (
    row("pto.declare_eventid_array", form="{} -> @", pipe="", effect="alloc"),
    row("pto.eventid_array_get", "array:t index:i", form="$array [ $index ] {} : :array =>index", pipe="S"),
    row("pto.eventid_array_set", "index:i value:i", "array:t", form="$array [ $index ] , $value {} : :array", pipe="S"),
    row("pto.declare_local_array", form="{} -> @", pipe="", effect="alloc", modelled=False),
    row("pto.local_array_get", "array:t indices:i*", form="$array [ $indices ] {} : :array -> @", pipe="S",
        modelled=False),
    row("pto.local_array_set", "indices:i* value:s", "array:t",
        form="$array [ $indices ] , $value {} : :array , :value", pipe="S", modelled=False),
    row("pto.declare_struct", form="{} -> @", pipe="", effect="alloc", modelled=False),
    row("pto.struct_get", "s:t", form="$s #path {} : :s -> @", pipe="S", modelled=False, attrs={"path": "ints"}),
    row("pto.struct_set", "value:t", "s:t", form="$s #path , $value {} : :s , :value", pipe="S", modelled=False,
        attrs={"path": "ints"}),
    row("pto.print", "scalar:s", form="ins ( #format , $scalar : :scalar ) {}", pipe="S", modelled=False,
        attrs={"format": "str"}),
    row("pto.trap", form="{}", pipe="S", modelled=False),
)

ROWS: tuple[OpRow, ...] = _SYNC + _FIFO + _REGIONS + _COMM + _SCALARS
