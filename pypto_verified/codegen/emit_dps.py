"""Ops that map one to one onto a destination-passing `pto` op: one row each (CG-01, CG-09, CG-21).

A row names, for each positional operand of the PyPTO op, the operand group of the `pto` op that it becomes; `-` marks
an operand that only types the result (a shape tuple, a broadcast target). Operand kinds come from the `pto` table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from pypto_verified.codegen.errors import refuse
from pypto_verified.codegen.kernel import Kernel
from pypto_verified.codegen.types import integer_of_width
from pypto_verified.dtypes import FP32, INT32, DType
from pypto_verified.ir.expr import NO_ARG, Attr, Call, Expr, Var
from pypto_verified.ir.types import TileType
from pypto_verified.ops.args import is_omitted
from pypto_verified.pto.module import AttrValue, EnumAttr, Value
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.spec import OpRow
from pypto_verified.records import dataclass

CMP_MODES = ("eq", "ne", "lt", "le", "gt", "ge")
ROUND_MODES = ("NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD", "CAST_RINT")
MASK_PATTERNS = ("P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111")
"""PTO names by PyPTO's mode number; mask patterns count from 1."""

AttrsOf = Callable[[Call], dict[str, AttrValue]]
ScalarDType = Callable[[DType], DType]
"""From the tile's element type to the type of a scalar operand."""


def _element(dtype: DType) -> DType:
    return dtype


def _int32(dtype: DType) -> DType:
    return INT32


def _float32(dtype: DType) -> DType:
    """What PTOAS takes on a5 whatever the tile's type; a2a3 takes any."""
    return FP32


def _no_attrs(call: Call) -> dict[str, AttrValue]:
    return {}


@dataclass(frozen=True, slots=True)
class Row:
    """`operands`: one word per positional operand of `op`. `scalar`: the type of its scalar operands (default: exactly
    the tile's element type). `inplace`: the operand whose tile is the destination, "" for a fresh tile."""

    op: str
    pto: str
    operands: tuple[str, ...]
    attrs: AttrsOf = _no_attrs
    scalar: ScalarDType = _element
    inplace: str = ""


def row(
    op: str, pto: str, operands: str, *, attrs: AttrsOf = _no_attrs, scalar: ScalarDType = _element, inplace: str = "",
) -> Row:
    """A row from its short string."""
    return Row(f"tile.{op}", f"pto.{pto}", tuple(operands.split()), attrs, scalar, inplace)


def _enum(attr: str, kind: str, keyword: str, names: tuple[str, ...]) -> AttrsOf:
    """An attribute that names a mode, which the IR keeps as its number or its name."""

    def attrs(call: Call) -> dict[str, AttrValue]:
        return {attr: EnumAttr(kind, _mode_name(call.kwarg(keyword), names))}

    return attrs


def _mode_name(mode: Attr, names: tuple[str, ...]) -> str:
    if isinstance(mode, str):
        return next(n for n in names if n.lower() == mode.lower())
    assert isinstance(mode, int)
    return names[mode]


def _precision(kind: str) -> AttrsOf:
    def attrs(call: Call) -> dict[str, AttrValue]:
        return {"precisionType": EnumAttr(kind, "high_precision")} if call.kwarg("high_precision") else {}

    return attrs


def _phase(call: Call) -> dict[str, AttrValue]:
    phase = call.kwarg("acc_phase")
    return {"accPhase": EnumAttr("acc_phase", phase)} if isinstance(phase, str) and phase != "unspecified" else {}


def _tree(call: Call) -> dict[str, AttrValue]:
    return {"isBinary": True} if len(call.args) > 1 and call.args[1] != NO_ARG else {}


def _flag(attr: str, keyword: str) -> AttrsOf:
    return lambda call: {attr: bool(call.kwarg(keyword, False))}


def _upper(call: Call) -> dict[str, AttrValue]:
    return {"upperOrLower": int(bool(call.kwarg("upper", False)))}


def _mask_pattern(call: Call) -> dict[str, AttrValue]:
    pattern = call.kwarg("mask_pattern")
    assert isinstance(pattern, int)
    return {"maskPattern": EnumAttr("mask_pattern", MASK_PATTERNS[pattern - 1]), "axis": "row"}


def _rounds(call: Call) -> dict[str, AttrValue]:
    rounds = call.kwarg("rounds")
    return {"rounds": rounds} if isinstance(rounds, int) else {}


_ARITHMETIC = (
    *(row(op, pto, "src0 src1") for op, pto in (
        ("add", "tadd"), ("sub", "tsub"), ("mul", "tmul"), ("maximum", "tmax"), ("minimum", "tmin"),
        ("part_add", "tpartadd"), ("part_mul", "tpartmul"), ("part_max", "tpartmax"), ("part_min", "tpartmin"),
        ("fmod", "tfmod"), ("and", "tand"), ("or", "tor"), ("shl", "tshl"), ("shr", "tshr"))),
    row("div", "tdiv", "src0 src1", attrs=_precision("div_precision")),
    row("rem", "trem", "src0 src1 tmp"),
    row("xor", "txor", "src0 src1 tmp"),
    row("prelu", "tprelu", "src0 src1 tmp"),
    row("addc", "taddc", "src0 src1 src2"),
    row("subc", "tsubc", "src0 src1 src2"),
    row("addsc", "taddsc", "src0 scalar src1"),
    row("subsc", "tsubsc", "src0 scalar src1"),
    row("adds", "tadds", "src scalar"),
    row("subs", "tsubs", "src scalar"),
    row("muls", "tmuls", "src0 scalar"),
    row("divs", "tdivs", "src scalar"),
    row("fmods", "tfmods", "src scalar"),
    row("rems", "trems", "src scalar tmp"),
    row("maximums", "tmaxs", "src scalar"),
    row("minimums", "tmins", "src scalar"),
    row("lrelu", "tlrelu", "src slope", scalar=_float32),
    row("ands", "tands", "src scalar", scalar=integer_of_width),
    row("ors", "tors", "src scalar", scalar=integer_of_width),
    row("xors", "txors", "src scalar tmp", scalar=integer_of_width),
    row("shls", "tshls", "src scalar", scalar=_int32),
    row("shrs", "tshrs", "src scalar", scalar=_int32),
)

_COMPARE = (
    row("cmp", "tcmp", "src0 src1", attrs=_enum("cmpMode", "cmp", "cmp_type", CMP_MODES)),
    row("cmps", "tcmps", "src scalar", attrs=_enum("cmpMode", "cmp", "cmp_type", CMP_MODES)),
    row("sel", "tsel", "mask src0 src1 tmp"),
    row("sels", "tsels", "mask src tmp scalar"),
)

_UNARY = (
    *(row(op, f"t{op}", "src") for op in ("neg", "exp", "sqrt", "abs", "relu", "not")),
    row("log", "tlog", "src", attrs=_precision("log_precision")),
    row("recip", "trecip", "src", attrs=_precision("recip_precision")),
    row("rsqrt", "trsqrt", "src tmp"),
    row("cast", "tcvt", "src tmp", attrs=_enum("rmode", "round_mode", "mode", ROUND_MODES)),
    row("fillpad", "tfillpad", "src"),
    row("fillpad_inplace", "tfillpad", "src"),
    row("fillpad_expand", "tfillpad_expand", "src -"),
)

_AXIS = (
    *(row(f"{axis}_{how}", f"t{axis}{how}", "src tmp") for axis, how in (
        ("row", "sum"), ("row", "max"), ("row", "min"), ("row", "prod"), ("row", "argmax"), ("row", "argmin"),
        ("col", "argmax"), ("col", "argmin"))),
    row("col_sum", "tcolsum", "src tmp", attrs=_tree),
    *(row(f"col_{how}", f"tcol{how}", "src") for how in ("max", "min", "prod")),
    row("row_expand", "trowexpand", "- src"),
    row("col_expand", "tcolexpand", "- src"),
    row("row_expand_add", "trowexpandadd", "src0 src1 tmp"),
    *(row(f"row_expand_{how}", f"trowexpand{how}", "src0 src1") for how in (
        "sub", "mul", "div", "max", "min", "expdif")),
    *(row(f"col_expand_{how}", f"tcolexpand{how}", "src0 src1") for how in (
        "add", "sub", "mul", "div", "max", "min", "expdif")),
)

_MOVES = (
    row("move", "tmov", "src"),
    row("extract", "textract", "src indexRow indexCol -"),
    row("concat", "tconcat", "src0 src1"),
    row("transpose", "ttrans", "src - - tmp"),
    row("sort32", "tsort32", "src idx tmp"),
    row("mrgsort_format1", "tmrgsort", "srcs blockLen", scalar=_int32),
    row("gather", "tgather", "src indices tmp"),
    row("gather_mask", "tgather", "src", attrs=_mask_pattern),
    row("gatherb", "tgatherb", "src offsets"),
    row("scatter", "tscatter", "dst src indexes", inplace="dst"),
    row("scatter_mask", "tscatter", "dst src", attrs=_mask_pattern, inplace="dst"),
    row("tget_scale_addr", "tget_scale_addr", "dst src", inplace="dst"),
)

_MAKERS = (
    row("full", "texpands", "- scalar"),
    row("ci", "tci", "start - tmp", attrs=_flag("descending", "descending")),
    row("tri", "ttri", "diagonal - -", attrs=_upper, scalar=_int32),
    row("random", "trandom", "key0 key1 counter0 counter1 counter2 counter3 - -", attrs=_rounds, scalar=_int32),
)

_CUBE = (
    row("matmul", "tmatmul", "lhs rhs"),
    row("matmul_bias", "tmatmul.bias", "a b bias"),
    row("gemv", "tgemv", "lhs rhs", attrs=_phase),
    row("gemv_acc", "tgemv.acc", "acc_in lhs rhs", attrs=_phase, inplace="acc_in"),
    row("gemv_bias", "tgemv.bias", "a b bias", attrs=_phase),
    row("matmul_mx", "tmatmul.mx", "a a_scale b b_scale"),
    row("matmul_mx_acc", "tmatmul.mx.acc", "c_in a a_scale b b_scale", inplace="c_in"),
    row("matmul_mx_bias", "tmatmul.mx.bias", "a a_scale b b_scale bias"),
)

ROWS = {r.op: r for r in _ARITHMETIC + _COMPARE + _UNARY + _AXIS + _MOVES + _MAKERS + _CUBE}
"""PyPTO op -> its row."""


def emit_row(kernel: Kernel, found: Row, var: Var, call: Call) -> None:
    """Allocate the result (unless the op works in place) and emit the op."""
    _check_comparison(kernel, call)
    spec, kinds = _spec(found.pto)
    element = _element_of(found, call, kernel.tile_type(var))
    if found.inplace:
        destination = in_place(kernel, var, call.args[found.operands.index(found.inplace)])
    else:
        destination = kernel.alloc(var)
    args: dict[str, tuple[Value, ...]] = {}
    with kernel.at_call(call):
        for group, arg in zip(found.operands, call.args, strict=False):
            if group not in ("-", "dst") and not is_omitted(arg):
                args[group] = (_operand(kernel, kinds[group], arg, found.scalar(element)),)
        ordered = {o.name: args[o.name] for o in spec.ins if o.name in args}
        kernel.emit(found.pto, {**ordered, spec.outs[0].name: (destination,)}, found.attrs(call))


@cache
def _spec(op: str) -> tuple[OpRow, dict[str, str]]:
    """The row of an op, and the kind of each operand."""
    spec = TABLE[op]
    return spec, {o.name: o.kind for o in spec.operands}


def _check_comparison(kernel: Kernel, call: Call) -> None:
    """a2a3 compares INT32 for equality whatever the mode says (PTO-ISA TCMP)."""
    mode = call.kwarg("cmp_type")
    if mode is None or kernel.target != "a2a3":
        return
    source, word = call.args[0], _mode_name(mode, CMP_MODES)
    assert isinstance(source, Var)
    if kernel.tile_type(source).dtype == INT32 and word not in ("eq", "ne"):
        refuse(
            f"{call.op} of INT32 tiles on a2a3 tests equality only: '{word}' would give the mask of 'eq'", kernel.span,
            "compare as FP32 (pl.cast both sides, exact up to 2**24), or compile for a5",
        )


def _element_of(found: Row, call: Call, result: TileType) -> DType:
    """The element type that a scalar operand meets: the first source tile's (a mask has its own), else the result's."""
    for group, arg in zip(found.operands, call.args, strict=False):
        if group not in ("-", "mask") and isinstance(arg, Var) and isinstance(arg.type, TileType):
            return arg.type.dtype
    return result.dtype


def _operand(kernel: Kernel, kind: str, arg: Expr, scalar: DType) -> Value:
    if kind == "tile":
        return kernel.tile(arg)
    if kind == "index":
        return kernel.index(arg)
    return kernel.element(arg, scalar)


def in_place(kernel: Kernel, var: Var, source: Expr) -> Value:
    """The destination of an op that updates `source`: the very handle, which the result then names too."""
    handle = kernel.handle(source)
    assert isinstance(source, Var)
    mine, theirs = kernel.tile_type(var).memref, kernel.tile_type(source).memref
    if mine is not None and theirs is not None and (mine.base, mine.offset) != (theirs.base, theirs.offset):
        refuse(
            f"'{var.name}' updates '{source.name}' in place but lives in another buffer", kernel.span,
            "the memory passes must give both one buffer",
        )
    kernel.tiles[var.name] = handle
    return handle.value
