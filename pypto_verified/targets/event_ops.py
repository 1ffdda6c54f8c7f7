"""The ops that an event is recorded after and waited for before, by PTO-ISA's names: the pipe of each, and which events
pass between cores. Source: PTO-ISA event.hpp, OpPipe; the table is the same on every target.
"""

from __future__ import annotations

_OPS = {
    "MTE2": "TLOAD TPREFETCH TEXPANDS_MAT TFILLPAD_MAT MGATHER_MAT",
    "MTE3": "TSTORE_VEC TSTORE_MAT",
    "M": "TMATMUL TGEMV",
    "MTE1": "TMOV_M2B TMOV_M2L TMOV_M2R TEXTRACT_M2LR TIMG2COL",
    "FIX": "TMOV_M2S TMOV_A2V TMOV_A2M TSTORE_ACC TEXTRACT_A2M TINSERT_A2M TMOV_V2M TEXTRACT_V2M",
    "S": "SCALAR TRESHAPE TCI SETFMATRIX SET_IMG2COL_RPT SET_IMG2COL_PADDING",
    "V": "VECTOR TADD TADDS TADDRELU TADDDEQRELU TADDRELUCONV TABS TAND TANDS TAXPY TCMP TCMPS TCOLEXPAND "
         "TCOLEXPANDADD TCOLEXPANDDIV TCOLEXPANDEXPDIF TCOLEXPANDMAX TCOLEXPANDMIN TCOLEXPANDMUL TCOLEXPANDSUB "
         "TCOLMAX TCOLMIN TCOLPROD TCOLSUM TCONCAT TCVT TDIV TDIVS TEXP TEXPANDS TFILLPAD_VEC TFMOD TFMODS TGATHER "
         "TGATHERB TLOG TLRELU TMAX TMAXS TMIN TMINS TMOV_V2V TMRGSORT TMUL TMULS TMULADDDST TNEG TNOT TOR TORS "
         "TPARTADD TPARTMAX TPARTMIN TPARTMUL TPOW TPOWS TPRELU TQUANT TDEQUANT TRECIP TRELU TREM TREMS TROWARGMAX "
         "TROWARGMIN TROWEXPAND TROWEXPANDADD TROWEXPANDDIV TROWEXPANDEXPDIF TROWEXPANDMAX TROWEXPANDMIN "
         "TROWEXPANDMUL TROWEXPANDSUB TROWMAX TROWMIN TROWPROD TROWSUM TRSQRT TSCATTER TSEL TSELS TSHL TSHLS TSHR "
         "TSHRS TSORT32 TSQRT TSUB TSUBS TSUBRELU TTRANS TTRI TXOR TXORS MGATHER_VEC MSCATTER",
}
EVENT_PIPES: dict[str, str] = {op: pipe for pipe, ops in _OPS.items() for op in ops.split()}
"""The pipe of each op that an event can name."""

_KINDS = {"MTE2": "TLOAD", "MTE3": "TSTORE_VEC", "FIX": "TSTORE_ACC", "MTE1": "TMOV_M2L", "M": "TMATMUL", "V": "TVEC"}

_BETWEEN_CORES = frozenset({"TMOV_A2V", "TMOV_V2M", "TEXTRACT_V2M"})


def event_kind(pipe: str) -> str:
    """The kind of ops by which `pto.record_event` and `pto.wait_event` name a pipe; '' for the scalar pipe, which has
    none. Source: PTOAS, pipe_event_type."""
    return _KINDS.get(pipe, "")


def between_cores(src: str, dst: str) -> bool:
    """Whether an event is a flag between the cube and a vector core: data leaves one core's memory for another's."""
    return bool(_BETWEEN_CORES & {src}) and EVENT_PIPES[src] != EVENT_PIPES[dst]
