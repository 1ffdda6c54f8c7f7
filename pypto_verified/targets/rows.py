"""The two targets, one row a number. Where sources differ the smallest, or the more demanding, stands here."""

from __future__ import annotations

from pypto_verified.dtypes import DTYPES, INT32, DType
from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.targets.model import Memory, Move, Pair, ReservedEvent, ReservedFlag, Target

_K = 1024
_SOC = "PyPTO soc.cpp"
_LIMITS = "PTO-ISA buffer_limits.hpp"
_EVENT = "PTO-ISA event.hpp"
_ALIGN = "PTOAS verifyConstantLocalAddress"


def _memories(vec: tuple[int, int], acc: int, bias: int, scaling: int) -> tuple[Memory, ...]:
    return (
        Memory(Space.VEC, vec[0] * _K, vec[1] * _K, 32, f"{_SOC} (pto-isa#170); align {_ALIGN}"),
        Memory(Space.MAT, 512 * _K, 512 * _K, 32, f"{_SOC}, {_LIMITS}; align {_ALIGN}"),
        Memory(Space.LEFT, 64 * _K, 64 * _K, 512, f"{_SOC}, {_LIMITS}; align {_ALIGN}"),
        Memory(Space.RIGHT, 64 * _K, 64 * _K, 512, f"{_SOC}, {_LIMITS}; align {_ALIGN}"),
        Memory(Space.ACC, acc * _K, acc * _K, 512, f"{_SOC}, {_LIMITS}; align {_ALIGN}"),
        Memory(Space.BIAS, bias * _K, bias * _K, 32, f"{_SOC}, {_LIMITS} (PTOAS plans with 64 KiB)"),
        Memory(Space.SCALING, scaling * _K, scaling * _K, 32, f"{_LIMITS} (PTOAS plans with the size of UB)"),
    )


_PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")

_MOVES = (
    Move(Space.GM, Space.VEC, ("MTE2",), _EVENT),
    Move(Space.GM, Space.MAT, ("MTE2",), _EVENT),
    Move(Space.VEC, Space.GM, ("MTE3",), _EVENT),
    Move(Space.VEC, Space.VEC, ("V",), _EVENT),
    Move(Space.MAT, Space.LEFT, ("MTE1",), _EVENT),
    Move(Space.MAT, Space.RIGHT, ("MTE1",), _EVENT),
    Move(Space.MAT, Space.BIAS, ("MTE1",), _EVENT),
    Move(Space.MAT, Space.SCALING, ("FIX",), _EVENT),
    Move(Space.ACC, Space.MAT, ("FIX",), _EVENT),
    Move(Space.ACC, Space.GM, ("FIX",), _EVENT),
)

_A5_MOVES = (
    Move(
        Space.VEC, Space.MAT, ("V", "FIX", "MTE3"),
        "PTOAS getPipe (V), PTO-ISA event.hpp (FIX), TSync_Custom.hpp (MTE3)",
    ),
    Move(Space.ACC, Space.VEC, ("FIX",), _EVENT),
)


def _pairs(text: str) -> tuple[Pair, ...]:
    """`"V>S S>V"` -> (("V", "S"), ("S", "V"))."""
    return tuple((a, b) for a, _, b in (word.partition(">") for word in text.split()))


def _reserved(*rows: tuple[str, str, str]) -> tuple[ReservedEvent, ...]:
    return tuple(
        ReservedEvent(pair, 0, tuple(ops.split()), source) for pairs, ops, source in rows for pair in _pairs(pairs)
    )


_GATHER_PAIRS = "V>S S>V S>MTE2 MTE2>S S>MTE3 MTE3>S MTE3>V MTE2>V MTE3>MTE2 MTE2>MTE3"

_A2A3_RESERVED = _reserved(
    ("V>S S>V", "trowsum trowmax trowmin trowprod trowargmax trowargmin trowexpand trowexpandadd trowexpandsub "
     "trowexpandmul trowexpanddiv trowexpandmax trowexpandmin trowexpandexpdif tpow tpows tdivs tshl tshr tgather "
     "tscatter tmrgsort tfillpad", "PTO-ISA npu/a2a3/T*.hpp"),
    ("S>V", "tsels", "PTO-ISA npu/a2a3 TSels.hpp"),
    ("V>S S>V S>MTE3 MTE3>S V>MTE3 MTE3>V", "ttrans", "PTO-ISA npu/a2a3 TTrans.hpp"),
    (_GATHER_PAIRS, "mgather mscatter", "PTO-ISA npu/a2a3 MGather.hpp, MScatter.hpp"),
)

_A5_RESERVED = _reserved(
    ("V>S S>V S>MTE2", "textract tinsert tdivs tmrgsort mgather mscatter", "PTO-ISA npu/a5/T*.hpp"),
)

_RESERVED_FLAGS = (
    ReservedFlag(11, "syncall between cube cores", "PTO-ISA SyncAll.hpp"),
    ReservedFlag(12, "syncall of all cores, vector to cube", "PTO-ISA SyncAll.hpp"),
    ReservedFlag(13, "syncall of all cores, cube to vector", "PTO-ISA SyncAll.hpp"),
    ReservedFlag(14, "syncall between vector cores; block sync of PTOAS", "PTO-ISA SyncAll.hpp, PTOAS syncall"),
    ReservedFlag(15, "block sync of PTOAS", "PTOAS syncall"),
)


def _casts(table: dict[str, str]) -> frozenset[tuple[DType, DType]]:
    return frozenset((DTYPES[src], DTYPES[dst]) for src, names in table.items() for dst in names.split())


# PyPTO backend handlers and PTO-ISA TCvt.hpp agree on these; FP32 -> FP32 (round to an integral value) is the ISA's.
_A2A3_CASTS = {
    "FP32": "FP32 FP16 BF16 INT16 INT32 INT64",
    "FP16": "FP32 INT32 INT16 INT8 UINT8 INT4",
    "BF16": "FP32 INT32",
    "INT16": "FP16 FP32",
    "INT32": "FP32 INT16 INT64 FP16",
    "INT64": "FP32 INT32",
    "UINT8": "FP16",
    "INT8": "FP16",
    "INT4": "FP16",
}

_A5_CASTS = {
    "FP32": "FP32 FP16 BF16 INT16 INT32 INT64 FP8E4M3FN FP8E5M2 HF8",
    "FP16": "FP32 INT32 INT16 INT8 UINT8 HF8",
    "BF16": "FP32 INT32 FP16 FP4",
    "INT16": "FP16 FP32 UINT8 UINT32 INT32",
    "INT32": "FP32 INT16 INT64 UINT16 UINT8",
    "INT64": "FP32 INT32",
    "UINT8": "FP16 UINT16",
    "INT8": "FP16 INT16 INT32",
    "UINT32": "UINT8 UINT16 INT16",
    "FP8E4M3FN": "FP32",
    "FP8E5M2": "FP32",
    "HF8": "FP32",
    "FP4": "BF16",
}

# PTO-ISA TCvt.hpp: these six pairs keep the low bits unless saturation is asked for; every other pair saturates.
_WRAPPING = _casts({"FP16": "UINT8 INT8 INT16", "FP32": "INT16", "INT64": "INT32", "INT32": "INT16"})

A2A3 = Target(
    name="a2a3",
    arch="a3",
    cubes=24,  # PyPTO soc.cpp, Ascend910B
    lanes_per_cube=2,
    memories=_memories(vec=(184, 192), acc=128, bias=1, scaling=2),
    moves=_MOVES,
    pipes=_PIPES,
    in_order=frozenset({"S", "M"}),  # PTO-ISA gemm kernels accumulate TMATMUL_ACC without a barrier
    in_order_strict=frozenset({"S"}),  # PTO-ISA TSync.hpp: a wait on the same pipe is a barrier of that pipe
    waw_in_order=frozenset({"MTE2"}),  # PTOAS InsertSync leaves load after load alone
    barriers=frozenset({"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"}),  # PTO-ISA TSync.hpp
    event_ids=8,  # PTO-ISA EVENT_ID_MAX
    auto_sync_reserved=_pairs("V>S S>V"),  # PTOAS InsertSync keeps the last id of these pairs
    reserved_events=_A2A3_RESERVED,
    flag_ids=16,  # PTO-ISA TSync.hpp: 4-bit counters
    flag_count_max=15,
    reserved_flags=_RESERVED_FLAGS,
    left_layout=(BLayout.ROW, SLayout.ROW),  # PTO-ISA TileLeft on a2a3: Zz
    acc_rows=((INT32, 32),),  # PyPTO 910B handler: INT32 accumulators are padded to 32 rows
    casts=_casts(_A2A3_CASTS),
    wrapping_casts=_WRAPPING,
    matmul_extent_max=4095,  # PTO-ISA TMatmul.hpp, PTOAS verifier
    on_chip_pipe=False,  # AIC <-> AIV traffic goes through global memory
)

A5 = Target(
    name="a5",
    arch="a5",
    cubes=36,  # PyPTO soc.cpp, Ascend950: 2 dies x 18 clusters
    lanes_per_cube=2,
    memories=_memories(vec=(240, 248), acc=256, bias=4, scaling=4),
    moves=_MOVES + _A5_MOVES,
    pipes=_PIPES,
    in_order=frozenset({"S", "V", "M", "MTE1", "FIX"}),  # PTO-ISA a5 TSync.hpp: only MTE2 and MTE3 have a barrier
    in_order_strict=frozenset({"S", "V"}),  # PTOAS drops V barriers on a5 but still emits those of M and MTE1
    waw_in_order=frozenset({"MTE2"}),
    barriers=frozenset({"MTE2", "MTE3", "ALL"}),
    event_ids=8,
    auto_sync_reserved=_pairs("V>S S>V"),
    reserved_events=_A5_RESERVED,
    flag_ids=16,
    flag_count_max=15,
    reserved_flags=_RESERVED_FLAGS,
    left_layout=(BLayout.COL, SLayout.ROW),  # PTO-ISA TileLeft on a5: Nz
    acc_rows=(),
    casts=_casts(_A5_CASTS),
    wrapping_casts=_WRAPPING,
    matmul_extent_max=4095,
    on_chip_pipe=True,
)
