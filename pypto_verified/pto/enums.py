"""The enumerations of the dialect's attributes: kind -> members. Source: PTOAS, PTOAttrs.td.

Most kinds print as `#pto<kind member>`; those in `ANGLED` print as `#pto.kind<member>`. Both are read for every kind.
"""

from __future__ import annotations

_PRECISIONS = ("div", "exp", "log", "recip", "rem", "rsqrt", "sqrt", "fmod", "pow")
_SYNC_OPS = ("TLOAD TSTORE_ACC TSTORE_VEC TMOV_M2L TMOV_M2S TMOV_M2B TMOV_M2V TMOV_V2M TMATMUL TVEC TVECWAIT_EVENT")

_ANGLED = {
    "address_space": "zero gm mat left right acc vec bias scaling",
    "pipe": "PIPE_S PIPE_V PIPE_M PIPE_MTE1 PIPE_MTE2 PIPE_MTE3 PIPE_ALL PIPE_MTE4 PIPE_MTE5 PIPE_V2 PIPE_FIX "
            "VIRTUAL_PIPE_MTE2_L1A VIRTUAL_PIPE_MTE2_L1B PIPE_NUM PIPE_UNASSIGNED",
    "event": " ".join(f"EVENT_ID{i}" for i in range(8)),
    "fence_scope": "local_memory gm all",
    "pipe_event_type": _SYNC_OPS,
    "sync_op_type": _SYNC_OPS,
    "sync_all_mode": "hard soft",
    "sync_core_type": "aiv_only aic_only mix",
    "layout": "nd dn nz mx_a_zz mx_b_nn",
    "kernel_kind": "cube vector",
    "func_core_type": "AIC AIV MIX AIC_OR_AIV",
    "module_core_type": "AIC AIV MIX",
    "padmode": "PadNull PadFirstElem PadValue",
    "acc_to_vec_mode": "single_mode_vec0 single_mode_vec1 dual_mode_split_m dual_mode_split_n",
    "mask_pattern": "P0101 P1010 P0001 P0010 P0100 P1000 P1111",
    "pad_value": "null zero max min",
    "tinsert_mode": "split2 split4",
}
_PLAIN = {
    "cmp": "eq ne lt le gt ge",
    "round_mode": "NONE RINT ROUND FLOOR CEIL TRUNC ODD CAST_RINT",
    "saturation_mode": "ON OFF",
    "st_phase": "unspecified partial final",
    "acc_phase": "unspecified partial final",
    "atomic_type": "atomic_none atomic_add",
    "notify_op": "atomic_add set",
    "wait_cmp": "eq ne gt ge lt le",
    "reduce_op": "sum max min",
    "relu_pre_mode": "no_relu normal_relu scalar_relu vector_relu pwl",
    "gather_oob": "undefined clamp wrap zero",
    "coalesce": "row elem",
    "scatter_atomic_op": "none add max min",
    "scatter_oob": "undefined skip clamp wrap",
    "scatter_conflict": "default last",
    "print_format": "width8_precision4 width8_precision2 width10_precision6",
    "quant_type": "INT8_SYM INT8_ASYM MXFP8 MXFP4_E2M1",
    "quant_scale_alg": "ocp nv",
    "mx_group_axis": "axis0 axis1",
    "vec_store_mode": "nd nz",
    **{f"{name}_precision": "default high_precision" for name in _PRECISIONS},
}

MEMBERS: dict[str, frozenset[str]] = {kind: frozenset(words.split()) for kind, words in (_ANGLED | _PLAIN).items()}
ANGLED: frozenset[str] = frozenset(_ANGLED)
