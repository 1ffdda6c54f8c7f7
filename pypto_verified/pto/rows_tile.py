"""The op table, part 1: tile ops in destination-passing form, one row each.

Operand names follow PTOAS; pipes follow its `getPipe` and PTO-ISA's event table; where they differ the row uses an
assumption of `targets/assumptions.py`. In-place: PTO-ISA's elementwise ops read and write the same lane of one repeat,
so an operand that is exactly the destination is safe; the exceptions are the `not_inplace_safe` and
`forbid_output_alias` flags of PyPTO's op registry.
"""

from __future__ import annotations

from pypto_verified.layouts import Space
from pypto_verified.pto.module import EnumAttr, Op
from pypto_verified.pto.spec import OpRow, Phase, row
from pypto_verified.pto.types import MultiTileBufType, TileBufType


def loc_of(op: Op, group: str) -> Space:
    """The memory space of an operand; GM for views and pointers."""
    type_ = op.arg(group).type
    if isinstance(type_, TileBufType):
        return type_.loc
    return type_.slot.loc if isinstance(type_, MultiTileBufType) else Space.GM


def _store_pipe(op: Op, target: str) -> str:
    return "FIX" if loc_of(op, "src") is Space.ACC else "MTE3"


def _move_pipe(op: Op, target: str) -> str:
    src, dst = loc_of(op, "src"), loc_of(op, "dst")
    if src is Space.ACC:
        return "FIX"
    if src is Space.MAT:
        return "FIX" if dst is Space.SCALING else "MTE1"
    return "V"


def _move_phases(op: Op, target: str) -> tuple[Phase, ...]:
    """A second tile has the scales that a move multiplies by; in vec it is the scratch of a reordering into ZZ. Source:
    PTO-ISA npu/a5 TMov.hpp."""
    scratch = "fp" in op.args and loc_of(op, "fp") is Space.VEC
    scales = ("fp",) if "fp" in op.args and not scratch else ()
    return (Phase(_move_pipe(op, target), ("src", *scales), ("dst", *(("fp",) if scratch else ()))),)


def _extract_pipe(op: Op, target: str) -> str:
    src, dst = loc_of(op, "src"), loc_of(op, "dst")
    if src is Space.MAT:
        return "MTE1"
    return "V" if src is Space.VEC and dst is Space.VEC else "FIX"


def _insert_pipe(op: Op, target: str) -> str:
    src, dst = loc_of(op, "src"), loc_of(op, "dst")
    if src is Space.VEC:
        return "V" if dst is Space.VEC else "MTE3"
    return "FIX"


def _fillpad_pipe(op: Op, target: str) -> str:
    return "MTE1" if loc_of(op, "dst") is Space.MAT else "V"


def _ramp_pipe(op: Op, target: str) -> str:
    """The scratch form is a vector program (PTOAS#735); the other one is scalar."""
    return "V" if "tmp" in op.args else "S"


def _scatter_gm_pipe(op: Op, target: str) -> str:
    return "MTE3" if target == "a2a3" else "V"


def _gather_gm_phases(op: Op, target: str) -> tuple[Phase, ...]:
    """Source: PTO-ISA MGather.hpp, PTOAS SyncMacroModel.cpp. The scalar unit reads indices for transfers by row, and
    gathers elements one by one (a2a3; a single one on a5); into Mat they go by way of the scratch in global memory."""
    dst, mode = op.arg("dst").type, op.attrs.get("coalesce")
    elements = isinstance(mode, EnumAttr) and mode.member == "elem"
    if loc_of(op, "dst") is Space.MAT:
        scratch = ("scratch",) if elements and "scratch" in op.args else ()
        return Phase("S", ("idx",), scratch), Phase("MTE2", ("mem", *scratch), ("dst",))
    if target == "a2a3":
        return (Phase("S", ("mem", "idx"), ("dst",)),) if elements else (
            Phase("S", ("idx",), ()), Phase("MTE2", ("mem",), ("dst",)))
    if elements and isinstance(dst, TileBufType) and (dst.v_row, dst.v_col) == (1, 1):
        return Phase("V", ("idx",), ()), Phase("S", ("mem",), ("dst",))
    return (Phase("V", ("mem", "idx"), ("dst",)),)


def _scatter_phases(op: Op, target: str) -> tuple[Phase, ...]:
    """Source: PTO-ISA TScatter.hpp, PTOAS SyncMacroModel.cpp: on a2a3 the vector unit clears the result, and the scalar
    unit scatters by index."""
    if target == "a2a3" and "indexes" in op.args:
        return Phase("V", (), ("dst",)), Phase("S", ("src", "indexes"), ("dst",))
    kept = ("dst",) if "indexes" in op.args else ()
    return (Phase("V", (*(g for g in ("src", "indexes") if g in op.args), *kept), ("dst",)),)


def _quant_phases(op: Op, target: str) -> tuple[Phase, ...]:
    """Source: PTO-ISA npu/a2a3 TQuant.hpp, which scales the source in place; npu/a5 TQuant.hpp needs no scratch."""
    reads = ("src", "fp", *(("offset",) if "offset" in op.args else ()))
    spoilt = ("src", *(("tmp",) if "tmp" in op.args else ())) if target == "a2a3" else ()
    return (Phase("V", reads, ("dst", *spoilt)),)


def _precision(op: str) -> dict[str, str]:
    return {"precisionType": f"enum:{op}_precision"}


_TLOAD = ("ins ( $src : :src ) outs ( $dst : :dst ) {} <? pad_mode = #pad_mode ?> "
          "<? pad_value = $pad_value : :pad_value ?> <? left_padding_num = $left_padding_num : :left_padding_num ?> "
          "<? init_out_buffer = #init_out_buffer ?> "
          "<? right_padding_num = $right_padding_num : :right_padding_num ?> "
          "<? init_condition = $init_condition : :init_condition ?>")
_TSTORE = ("ins ( $src : :src <? fp $fp : :fp ?> <? , $preQuantScalar : :preQuantScalar ?> ) "
           "outs ( $dst : :dst ) {}")
_TMOV = ("ins ( $src : :src <? , $fp : :fp ?> <? , $preQuantScalar : :preQuantScalar ?> ) "
         "outs ( $dst : :dst ) {}")
_TEXTRACT = ("ins ( $src , $indexRow , $indexCol <? , $preQuantScalar ?> : "
             ":src , :indexRow , :indexCol <? , :preQuantScalar ?> <? fp $fp : :fp ?> ) outs ( $dst : :dst ) {}")
_TINSERT = ("ins ( $src , $indexRow , $indexCol : :src , :indexRow , :indexCol <? fp $fp : :fp ?> "
            "<? pre_quant $preQuantScalar : :preQuantScalar ?> ) outs ( $dst : :dst ) {}")

_MEMORY = (
    row("pto.tload", "src:v pad_value:s? left_padding_num:i? right_padding_num:s? init_condition:s?", "dst",
        pipe="MTE2", form=_TLOAD, attrs={
        "pad_mode": "enum:padmode", "init_out_buffer": "bool"}),
    row("pto.tstore", "src fp? preQuantScalar:s?", "dst:v", pipe=_store_pipe, form=_TSTORE, attrs={
        "stPhase": "enum:st_phase", "atomicType": "enum:atomic_type", "reluPreMode": "enum:relu_pre_mode"}),
    row("pto.tprefetch", "src:v", "dst", pipe="MTE2"),
    row("pto.tmov", "src fp? preQuantScalar:s?", "dst", phases=_move_phases, form=_TMOV, attrs={
        "accToVecMode": "enum:acc_to_vec_mode", "reluPreMode": "enum:relu_pre_mode", "grpAxis": "enum:mx_group_axis"}),
    row("pto.textract", "src indexRow:i indexCol:i fp? preQuantScalar:s?", "dst", pipe=_extract_pipe,
        form=_TEXTRACT, attrs={
        "accToVecMode": "enum:acc_to_vec_mode", "reluPreMode": "enum:relu_pre_mode"}),
    row("pto.tinsert", "src indexRow:i indexCol:i fp? preQuantScalar:s?", "+dst", pipe=_insert_pipe,
        form=_TINSERT, attrs={
        "accToVecMode": "enum:acc_to_vec_mode", "reluPreMode": "enum:relu_pre_mode",
        "tinsertMode": "enum:tinsert_mode"}),
    row("pto.tfillpad", "src", "dst", pipe=_fillpad_pipe, inplace="src", attrs={"padValue": "enum:pad_value"}),
    row("pto.tfillpad_expand", "src", "dst", pipe=_fillpad_pipe, attrs={"padValue": "enum:pad_value"},
        source="PyPTO, op registry"),
    row("pto.tfillpad_inplace", "src", "dst", pipe=_fillpad_pipe, inplace="src", attrs={"padValue": "enum:pad_value"},
        source="PTO-ISA, TFILLPAD_INPLACE"),
    row("pto.ttrans", "src ~tmp?", "dst"),
    row("pto.tconcat", "src0 src1", "dst"),
    row("pto.tconcatidx", "src0 src1 src0Idx src1Idx", "dst", modelled=False),
    row("pto.mgather", "mem:v idx:t ~scratch:t?", "dst", phases=_gather_gm_phases, attrs={
        "coalesce": "enum:coalesce", "gatherOob": "enum:gather_oob"}),
    row("pto.mscatter", "src idx", "+mem:v", pipe=_scatter_gm_pipe, attrs={
        "coalesce": "enum:coalesce", "scatterAtomicOp": "enum:scatter_atomic_op", "scatterOob": "enum:scatter_oob",
        "scatterConflict": "enum:scatter_conflict"}),
)

_PHASE = {"accPhase": "enum:acc_phase"}
_CUBE = (
    row("pto.tmatmul", "lhs rhs", "dst", pipe="M", attrs=_PHASE),
    row("pto.tmatmul.acc", "acc_in lhs rhs", "dst", pipe="M", inplace="acc_in", attrs=_PHASE),
    row("pto.tmatmul.bias", "a b bias", "dst", pipe="M", attrs=_PHASE),
    row("pto.tmatmul.mx", "a a_scale b b_scale", "dst", pipe="M", attrs=_PHASE, modelled=False),
    row("pto.tmatmul.mx.acc", "c_in a a_scale b b_scale", "dst", pipe="M", inplace="c_in", attrs=_PHASE,
        modelled=False),
    row("pto.tmatmul.mx.bias", "a a_scale b b_scale bias", "dst", pipe="M", modelled=False),
    row("pto.tgemv", "lhs rhs", "dst", pipe="M", attrs=_PHASE),
    row("pto.tgemv.acc", "acc_in lhs rhs", "dst", pipe="M", inplace="acc_in", attrs=_PHASE),
    row("pto.tgemv.bias", "a b bias", "dst", pipe="M", attrs=_PHASE),
    row("pto.tgemv.mx", "a a_scale b b_scale", "dst", pipe="M", attrs=_PHASE, modelled=False),
    row("pto.tgemv.mx.acc", "c_in a a_scale b b_scale", "dst", pipe="M", inplace="c_in", attrs=_PHASE, modelled=False),
    row("pto.tgemv.mx.bias", "a a_scale b b_scale bias", "dst", pipe="M", modelled=False),
)

_BINARY = (
    *(row(f"pto.{n}", "src0 src1", "dst", inplace="src0 src1") for n in (
        "tadd", "tsub", "tmul", "tmax", "tmin", "tand", "tor", "tshl", "tshr",
        "tpartadd", "tpartmul", "tpartmax", "tpartmin")),
    row("pto.tdiv", "src0 src1", "dst", inplace="src0 src1", attrs=_precision("div")),
    row("pto.taddrelu", "src0 src1", "dst", inplace="src0 src1"),
    row("pto.tfmod", "src0 src1", "dst", attrs=_precision("fmod")),
    row("pto.trem", "src0 src1 ~tmp?", "dst", inplace="src0 src1", attrs=_precision("rem")),
    row("pto.txor", "src0 src1 ~tmp?", "dst", inplace="src0 src1"),
    row("pto.tpow", "base exp ~tmp?", "dst", attrs=_precision("pow")),
    row("pto.tprelu", "src0 src1 ~tmp?", "dst"),
    row("pto.taddc", "src0 src1 src2", "dst", inplace="src0 src1 src2"),
    row("pto.tsubc", "src0 src1 src2", "dst", inplace="src0 src1 src2"),
    row("pto.taddsc", "src0 scalar:s src1", "dst", inplace="src0 src1"),
    row("pto.tsubsc", "src0 scalar:s src1", "dst", inplace="src0 src1"),
    *(row(f"pto.{n}", "src0 src1 src0Idx src1Idx", "dst dstIdx") for n in (
        "tpartargmax", "tpartargmin")),
)

_SCALAR = (
    *(row(f"pto.{n}", "src scalar:s", "dst", inplace="src") for n in (
        "tadds", "tsubs", "tmaxs", "tmins", "tshls", "tshrs")),
    row("pto.tmuls", "src0 scalar:s", "dst", inplace="src0"),
    row("pto.tdivs", "src? scalar:s divisor?", "dst", inplace="src divisor", attrs=_precision("div"),
        form="ins ( $src , $scalar : :src , :scalar ) outs ( $dst : :dst ) {} | "
             "ins ( $scalar , $divisor : :scalar , :divisor ) outs ( $dst : :dst ) {}"),
    *(row(f"pto.{n}", "src scalar:s", "dst") for n in ("tands", "tors", "tfmods")),
    row("pto.txors", "src scalar:s ~tmp?", "dst"),
    row("pto.trems", "src scalar:s ~tmp?", "dst", inplace="src"),
    row("pto.tlrelu", "src slope:s", "dst", inplace="src"),
    row("pto.taxpy", "src scalar:s", "+dst", inplace=""),
    row("pto.tpows", "src scalar:s ~tmp?", "dst", attrs=_precision("pow")),
    row("pto.texpands", "scalar:s", "dst"),
    row("pto.tcmp", "src0 src1", "dst", inplace="src0 src1", form="dps_in", attrs={"cmpMode": "enum:cmp"}),
    row("pto.tcmps", "src scalar:s", "dst", inplace="src", form="dps_in", attrs={"cmpMode": "enum:cmp"}),
    row("pto.tsel", "mask src0 src1 ~tmp?", "dst", inplace="src0 src1"),
    row("pto.tsels", "mask src ~tmp? scalar:s", "dst", inplace="src"),
)

_UNARY = (
    *(row(f"pto.{n}", "src", "dst", inplace="src") for n in ("tabs", "tneg", "tnot", "trelu")),
    *(row(f"pto.t{n}", "src", "dst", inplace="src", attrs=_precision(n)) for n in ("exp", "log", "sqrt")),
    row("pto.trecip", "src", "dst", attrs=_precision("recip")),
    row("pto.trsqrt", "src ~tmp?", "dst", attrs=_precision("rsqrt")),
    row("pto.tcvt", "src ~tmp?", "dst", inplace="src", form="dps_in", attrs={
        "rmode": "enum:round_mode", "sat_mode": "enum:saturation_mode", "satmode": "alias:sat_mode"}),
)

_AXIS = (
    *(row(f"pto.{n}", "src ~tmp?", "dst") for n in (
        "trowsum", "trowmax", "trowmin", "trowprod", "trowargmax", "trowargmin", "tcolargmax", "tcolargmin")),
    row("pto.tcolsum", "src ~tmp?", "dst", inplace="src", attrs={"isBinary": "bool"},
        form="ins ( $src , $tmp {} : :src , :tmp ) outs ( $dst : :dst ) | ins ( $src : :src ) outs ( $dst : :dst ) {}"),
    *(row(f"pto.{n}", "src", "dst", inplace="src") for n in ("tcolmax", "tcolmin", "tcolprod")),
    row("pto.trowexpand", "src", "dst"),
    row("pto.tcolexpand", "src", "dst"),
    *(row(f"pto.trowexpand{n}", "src0 src1 ~tmp?", "dst", inplace="src0",
          attrs=_precision("div") if n == "div" else None)
      for n in ("add", "sub", "mul", "div", "max", "min", "expdif")),
    *(row(f"pto.tcolexpand{n}", "src0 src1", "dst", inplace="src0", attrs=_precision("div") if n == "div" else None)
      for n in ("add", "sub", "mul", "div", "max", "min", "expdif")),
)

_TMRGSORT = (
    "ins ( $srcs , $blockLen : :srcs , :blockLen ) outs ( $dsts : :dsts ) {} | "
    "ins ( $srcs no_tmp <? { exhausted = #exhausted } ?> : :srcs ) outs ( $dsts~ , $excuted : :dsts , :excuted ) {} | "
    "ins ( $srcs~ , $tmp <? { exhausted = #exhausted } ?> : :srcs , :tmp ) "
    "outs ( $dsts~ , $excuted : :dsts , :excuted ) {}"
)
_TGATHER = (
    "ins ( $src , { maskPattern = #maskPattern } : :src <? , #axis ?> ) outs ( $dst : :dst ) {} | "
    "ins ( $src , $indices <? , $tmp ?> : :src , :indices <? , :tmp ?> ) outs ( $dst : :dst ) {} | "
    "ins ( $src , $kValue <? , $tmp ?> : :src , :kValue <? , :tmp ?> ) outs ( $dst , $cdst : :dst , :cdst ) {}"
)
_TSCATTER = (
    "ins ( $src , { maskPattern = #maskPattern } : :src <? , #axis ?> ) outs ( $dst : :dst ) {} | "
    "ins ( $src , $indexes : :src , :indexes ) outs ( $dst : :dst ) {}"
)
_TQUANT = (
    "ins ( $src , $fp <? , $offset ?> : :src , :fp <? , :offset ?> ) "
    "outs ( $dst <? , $tmp ?> : :dst <? , :tmp ?> ) {}"
)

_OTHER = (
    row("pto.tci", "start:s ~tmp?", "dst", pipe=_ramp_pipe, attrs={"descending": "bool"}),
    row("pto.ttri", "diagonal:s", "dst", form="dps_in", attrs={"upperOrLower": "int"}),
    row("pto.trandom", "key0:s key1:s counter0:s counter1:s counter2:s counter3:s", "dst", form="dps_in",
        attrs={"rounds": "int"}),
    row("pto.tsort32", "src idx ~tmp?", "dst"),
    row("pto.tmrgsort", "srcs* blockLen:s? ~tmp?", "dsts* excuted:t?", form=_TMRGSORT,
        attrs={"exhausted": "bool"}),
    row("pto.tgather", "src indices? ~tmp? kValue:s?", "dst cdst?", form=_TGATHER,
        unmodelled="kValue cdst", attrs={
        "maskPattern": "enum:mask_pattern", "axis": "str:row col", "cmpMode": "enum:cmp", "offset": "int"}),
    row("pto.tgatherb", "src offsets", "dst"),
    row("pto.tscatter", "src indexes?", "+dst", form=_TSCATTER, phases=_scatter_phases, attrs={
        "axis": "str:row col", "maskPattern": "enum:mask_pattern"}),
    row("pto.thistogram", "src idx", "dst", attrs={"byte": "int"}),
    row("pto.tquant", "src fp offset? ~tmp?", "dst", form=_TQUANT, phases=_quant_phases,
        attrs={"quant_type": "enum:quant_type"}),
    row("pto.tdequant", "src scale offset", "dst"),
    row("pto.tquant.mx", "src", "dst exp max scaling exp_zz?", attrs={
        "quant_type": "enum:quant_type", "quantScaleAlg": "enum:quant_scale_alg", "storeMode": "enum:vec_store_mode",
        "grpAxis": "enum:mx_group_axis", "interleave": "bool"}),
    row("pto.tget_scale_addr", "src", "dst", pipe="S", modelled=False),
    row("pto.tprint", "src ~tmp:t?", "", pipe="V", attrs={"printFormat": "enum:print_format"}),
    row("pto.tgetval", "src offset:i", "", pipe="S", form="ins ( $src , $offset : :src , :offset ) outs : @ {}"),
    row("pto.tsetval", "offset:i val:s", "+dst", pipe="S"),
)

ROWS: tuple[OpRow, ...] = _MEMORY + _CUBE + _BINARY + _SCALAR + _UNARY + _AXIS + _OTHER
