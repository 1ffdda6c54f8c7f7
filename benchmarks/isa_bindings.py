"""What the test cases of PTO-ISA's own tests are made of: one row for the cases that share a form.

A form turns a case (files that its generator wrote, parameters that the generator had in hand) into a conformance case.
`Unbound` says why a case does not fit its form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.isa_case import (
    CLOSE,
    FIRST,
    IR_NAMES,
    PITCH_A,
    PITCH_B,
    PITCH_OUT,
    SHORT,
    VECTOR_BYTES,
    Golden,
    Unbound,
    filled,
    judged,
    valid_of,
)
from benchmarks.isa_cube import extraction, moving, product, storing
from benchmarks.isa_gathers import (
    block_gather,
    gather,
    global_access,
    index_scatter,
    mask_gather,
    sorting,
)
from benchmarks.isa_numbers import dequantised, histogram, microscaled, power, quantised
from pypto_verified.dtypes import DTYPES
from tests.conformance.arithmetic import KINDS, PTO, Array
from tests.conformance.case import Case
from tests.conformance.pto_kernel import DN, PtoKernel
from tests.conformance.single import Pto, Source, ir

Form = Callable[[Golden], Case]


def binary(g: Golden) -> Case:
    """dst = op(a, b) on tiles."""
    dtype = g.dtype()
    n, m = valid_of(g)
    first = "input0" if (g.folder / "input0.bin").exists() else "input1"
    second = "input1" if first == "input0" else "input2"
    a, b = g.matrix(dtype, m, PITCH_A, first), g.matrix(dtype, m, PITCH_B, second)
    out = g.matrix(dtype, m, PITCH_OUT, "golden")
    valid = min(n, len(a), len(b), len(out)), m
    tmp = " tmp" if g.testcase in ("txor", "trem", "tprelu") else ""
    name = {"tprelu": "prelu"}.get(g.testcase) or IR_NAMES[g.testcase]
    in_ir = a.shape == b.shape == out.shape
    return judged(g, {"a": Source(a, valid), "b": Source(b, valid)}, filled(out, valid[0]), valid,
                  Pto(g.testcase, "a b" + tmp), ir(name, "a", "b", *(["tmp"] if tmp else [])) if in_ir else None,
                  CLOSE if g.testcase in ("trem", "tfmod", "tdiv") and dtype[0] in "FB" else 0.0)


def scalar(g: Golden) -> Case:
    """dst = op(a, s); the scalar is a file of one element."""
    dtype, valid = g.dtype(), valid_of(g)
    a = g.matrix(dtype, valid[1], PITCH_A, "input", "input1")
    raw = g.raw("divider", "scalar", "input_scalar", "input2")
    if len(raw) > 8:
        raise Unbound("its second operand is a tile")
    as_float = len(raw) == 4 and (KINDS[dtype].itemsize != 4 or g.packs)
    s = np.frombuffer(raw, np.float32 if as_float else KINDS[dtype])[0].item()
    s = s if dtype[0] in "FB" else int(s)
    out = g.matrix(dtype, valid[1], PITCH_OUT, "golden")
    base = g.testcase.removesuffix("s")
    shift = base in ("tshl", "tshr")
    tmp = g.testcase in ("trems", "txors")
    name = {"tmax": "maximums", "tmin": "minimums", "tlrelu": "lrelu"}.get(base, base[1:] + "s")
    operand = f"s:s:{'i32' if shift else PTO[dtype]}"
    divides = base in ("tdiv", "trem", "tfmod") and dtype[0] in "FB"
    swapped = g.testcase == "tdivs" and _scalar_first(g, a, s, out, valid)
    ins = f"{operand} a" if swapped else f"a {operand}" + (" tmp" if tmp else "")
    in_ir = a.shape == out.shape and not swapped
    return judged(g, {"a": Source(a, valid)}, filled(out, valid[0]), valid, Pto(g.testcase, ins),
                 ir(name, "a", s, *(["tmp"] if tmp else [])) if in_ir else None, CLOSE if divides else 0.0,
                 scalars={"s": s})


def _scalar_first(g: Golden, a: Array, s: float, out: Array, valid: tuple[int, int]) -> bool:
    """Which operand the kernel divides by: only the compiled test says; the golden's first element tells."""
    x, want = float(a[0, 0]), float(out[0, 0])
    return x != 0 and s != 0 and abs(s / x - want) < abs(x / s - want)


def accumulation(g: Golden) -> Case:
    """TAXPY: the destination is an operand too."""
    dtype, (n, m) = g.dtype("dst_dtype", "dtype"), valid_of(g)
    if g.dtype("src_dtype", "dtype") != dtype:
        raise Unbound("operands of two types")
    before, a, out = (np.frombuffer(g.raw(f), KINDS[dtype]).reshape(-1, m)[:n] for f in ("input1", "input2", "golden"))

    def write(k: PtoKernel) -> None:
        x, z = k.tile("x", dtype, (n, m)), k.tile("z", dtype, (n, m))
        k.load("a", x)
        k.load("out", z)
        k.op("taxpy", f"x s:s:{PTO[dtype]}", z)
        k.store(z, "out")

    s = np.frombuffer(g.raw("scalar"), np.float32)[0].item()
    return Case(g.name, "taxpy", "the golden of the generator", {"a": a, "out": before}, {"out": out}, None, write,
                (g.suite,), close=4 * CLOSE, within=4 * CLOSE * float(np.abs(out).max() if dtype == "FP16" else 1),
                scalars={"s": s})


def unary(g: Golden) -> Case:
    """dst = op(a)."""
    dtype, valid = g.dtype(), valid_of(g)
    a, out = g.matrix(dtype, valid[1], PITCH_A, *FIRST), g.matrix(dtype, valid[1], PITCH_OUT, "golden")
    close = CLOSE if g.testcase in ("texp", "tlog", "tsqrt", "trsqrt", "trecip") else 0.0
    return judged(g, {"a": Source(a, valid)}, filled(out, valid[0]), valid, Pto(g.testcase, "a"),
                 ir(g.testcase[1:], "a") if a.shape == out.shape else None, close)


def conversion(g: Golden) -> Case:
    """TCVT; the name tells types and extents."""
    found = re.search(r"\.(\w+?)_([a-z]+\d+)_([a-z]+\d+)_(\d+)x(\d+)(?:_(\d+)x(\d+))?$", g.name)
    if found is None or found[2] not in SHORT or found[3] not in SHORT:
        raise Unbound("a type that is not modelled, or a name of another form")
    source, to = SHORT[found[2]], SHORT[found[3]]
    shape = int(found[4]), int(found[5])
    valid = (int(found[6]), int(found[7])) if found[6] else shape
    edge = found[1] != "case"
    a = np.frombuffer(g.raw("x1_gm"), KINDS[source]).reshape(shape)
    out = np.frombuffer(g.raw("golden_truncated", "golden") if edge else g.raw("golden"), KINDS[to]).reshape(shape)
    if edge and g.suite == "a2a3" and found[1].startswith("saturation"):
        raise Unbound("the golden of the other saturation mode stands in its place")
    mode = "TRUNC" if edge else "RINT"
    off = ", sat_mode = #pto<saturation_mode OFF>" if edge else _default(source, to)
    return judged(g, {"a": Source(a, valid)}, out, valid,
                 Pto("tcvt", "a tmp" if edge else "a", f"{{rmode = #pto<round_mode {mode}>{off}}}"),
                 ir("cast", "a", target_type=DTYPES[to], mode=mode.lower()) if source != to else None)


def _default(source: str, to: str) -> str:
    """The library's default saturation where a kernel does not name it; an assembler always writes the attribute."""
    wraps = {("FP16", "UINT8"), ("FP16", "INT8"), ("FP32", "INT16"), ("FP16", "INT16"), ("INT64", "INT32"),
             ("INT32", "INT16")}
    return "" if (source, to) in wraps else ", sat_mode = #pto<saturation_mode ON>"


def row_reduction(g: Golden) -> Case:
    """One value a row."""
    dtype, (n, m) = g.dtype(), valid_of(g)
    arg = "arg" in g.testcase
    result = g.dtype("dst_dtype") if arg else dtype
    a = g.matrix(dtype, m, ("src_tile_col", "src_col", "col"), *FIRST)
    flat = np.frombuffer(g.raw("golden"), KINDS[result])
    pitch = (g.get("dst_tile_col") or 1) if arg else max(1, len(flat) // (g.get("dst_row") or len(flat)))
    if len(flat) < n:
        raise Unbound("fewer values than rows")
    column = flat.reshape(-1, pitch)[:n, :1]
    values = np.zeros((n, 32 // KINDS[result].itemsize), KINDS[result])
    values[:, :1] = column
    name = f"row_{g.testcase.removeprefix('trow')}"
    signed = result in ("INT32",) or not arg
    fits = 2 * a.nbytes + values.nbytes <= VECTOR_BYTES[g.suite]
    more: dict[str, Any] = {"scratch": Source(a)} if fits else {}
    return judged(g, {"a": Source(a, (n, m))}, values, (n, 1), Pto(g.testcase, "a tmp"),
                 ir(name, "a", "tmp") if signed and fits else None,
                 _summed(g, dtype), **more)


def _summed(g: Golden, dtype: str) -> float:
    """Sums and products in float64 against ones that round on the way: 16-bit partial results have 11 bits."""
    if not g.testcase.endswith(("sum", "prod")) or dtype[0] not in "FB":
        return 0.0
    return CLOSE if dtype == "FP32" else 8 * CLOSE


def column_reduction(g: Golden) -> Case:
    """One value a column."""
    dtype, (n, m) = g.dtype(), valid_of(g)
    arg = "arg" in g.testcase
    a = g.matrix(dtype, m, ("col",), "input")
    result = ("INT16" if KINDS[dtype].itemsize <= 2 else "INT32") if g.params.get("idx") else "INT32" if arg else dtype
    flat = np.frombuffer(g.raw("idx") if g.params.get("idx") else g.raw("golden"), KINDS[result])
    values = np.zeros((1, a.shape[1]), KINDS[result])
    count = min(len(flat), a.shape[1])
    values[0, :count] = flat[:count]
    name = f"col_{g.testcase.removeprefix('tcol')}"
    return judged(g, {"a": Source(a, (min(n, len(a)), m))}, values, (1, m), Pto(g.testcase, "a tmp" if arg else "a"),
                 ir(name, "a", *(["tmp"] if arg else [])) if result == "INT32" or not arg else None,
                 _summed(g, dtype))


def row_expansion(g: Golden) -> Case:
    """dst = op(a, one value or one 32-byte block a row)."""
    dtype = g.dtype()
    n, m = g.need("valid_row", "dst_row"), g.need("valid_col", "dst_col")
    first, numbered = bool(g.params.get("src0eqdst", True)), (g.folder / "input0.bin").exists()
    full_file, vector_file = ("input0", "input1") if numbered else ("input1", "input2")
    a = g.matrix(dtype, m, ("dst_col", "valid_col"), full_file)
    v = np.frombuffer(g.raw(vector_file), KINDS[dtype])
    out = g.matrix(dtype, m, ("dst_col", "valid_col"), "golden")
    width = len(v) // n
    if width == 1:
        rows = max(n, 32 // KINDS[dtype].itemsize)
        vector = Source(filled(v.reshape(n, 1), rows), (n, 1), DN)
    else:
        vector = Source(v.reshape(n, width), (n, width))
    close = CLOSE if g.testcase.endswith(("div", "expdif")) and dtype[0] in "FB" else 0.0
    name = f"row_expand_{g.testcase.removeprefix('trowexpand')}"
    column = Source(v.reshape(n, width)[:, :1].copy(), (n, 1), DN)
    in_ir = first and width == 1 and column.shape[0] == len(a)
    made = judged(g, {"a": Source(a, (n, m)), "v": vector}, out, (n, m),
                 Pto(g.testcase, "a v" if first else "v a"), None, close)
    if not in_ir:
        return made
    other = judged(g, {"a": Source(a, (n, m)), "v": column}, out, (n, m), Pto(g.testcase, "a v"), ir(name, "a", "v"),
                  close)
    return replace(other, pto=made.pto, inputs={**other.inputs, "v": made.inputs["v"]}) if n == len(
        vector.data) else made


def column_expansion(g: Golden) -> Case:
    """dst = op(a, one row)."""
    dtype = g.dtype()
    n, m = g.need("dst_row"), g.need("dst_col")
    a = g.matrix(dtype, m, ("src0_col",), "input0")
    v = np.frombuffer(g.raw("input1"), KINDS[dtype]).reshape(1, -1)
    out = g.matrix(dtype, m, ("dst_col",), "golden")
    close = CLOSE if g.testcase.endswith(("div", "expdif")) and dtype[0] in "FB" else 0.0
    name = f"col_expand_{g.testcase.removeprefix('tcolexpand')}"
    return judged(g, {"a": Source(a, (n, m)), "v": Source(v, (1, m))}, out, (n, m), Pto(g.testcase, "a v"),
                 ir(name, "a", "v") if a.shape[1] == v.shape[1] else None, close)


def row_broadcast(g: Golden) -> Case:
    """dst[r, c] = a[r, 0]."""
    if g.params.get("is_brcb"):
        raise Unbound("the block form")
    dtype, n, m = g.dtype(), g.need("row"), g.need("dst_valid_col")
    a = g.matrix(dtype, 1, ("src_col",), "input")
    out = g.matrix(dtype, m, ("dst_col",), "golden")
    return judged(g, {"a": Source(a, (n, 1))}, out, (n, m), Pto("trowexpand", "a"), None)


def column_broadcast(g: Golden) -> Case:
    """dst[r, c] = a[0, c]."""
    dtype, m = g.dtype(), g.need("dst_valid_col", "valid_col")
    n = g.need("dst_valid_row", "dst_row")
    a = np.frombuffer(g.raw("input"), KINDS[dtype]).reshape(1, -1)
    out = g.matrix(dtype, m, ("dst_col", "col"), "golden")
    return judged(g, {"a": Source(a, (1, min(m, a.shape[1])))}, out, (n, m), Pto("tcolexpand", "a"), None)


def partial(g: Golden) -> Case:
    """TPART*: sources with valid regions of their own."""
    dtype = g.dtype()
    n, m = g.need("dst_vr", "drows"), g.need("dst_vc", "dcols")
    shapes = [(g.need(f"src{i}_vr", f"s{i}rows"), g.need(f"src{i}_vc", f"s{i}cols")) for i in (0, 1)]
    files = ("input0", "input1") if (g.folder / "input0.bin").exists() else ("input1", "input2")
    sources = {}
    for name, file, valid, i in zip("ab", files, shapes, (0, 1), strict=True):
        full = np.zeros((n, m), KINDS[dtype])
        data = g.matrix(dtype, valid[1], (f"s{i}_row_stride",), file) if 0 not in valid else full
        full[: valid[0], : valid[1]] = data[: valid[0], : valid[1]]
        sources[name] = Source(full, valid)
    out = g.matrix(dtype, m, ("d_row_stride",), "golden")
    return judged(g, sources, out, (n, m), Pto(g.testcase, "a b"), ir(f"part_{g.testcase[5:]}", "a", "b"))


def triangle(g: Golden) -> Case:
    """TTRI: `values` alone; no source."""
    dtype, valid = g.dtype(), (g.need("valid_row", "valid_rows"), g.need("valid_col", "valid_cols"))
    upper, diagonal = g.need("isUpperOrLower", "upper_or_lower"), g.need("diagonal")
    out = g.matrix(dtype, valid[1], ("valid_col", "valid_cols"), "golden")

    def write(k: PtoKernel) -> None:
        z = k.tile("z", dtype, (len(out), out.shape[1]), valid)
        k.op("ttri", f"c:{diagonal}:i32", z, f"{{upperOrLower = {upper} : i32}}")
        k.store(z, "out", valid)

    return Case(g.name, "ttri", "the golden of the generator", {"out": np.zeros_like(out)}, {"out": out}, None, write,
                (g.suite,))


def ramp(g: Golden) -> Case:
    """TCI: start and direction are parameters."""
    dtype, start = g.dtype(), g.need("start", "begin")
    down = bool(g.get("descending", "reverse"))
    out = np.frombuffer(g.raw("golden"), KINDS[dtype]).reshape(1, -1)

    def write(k: PtoKernel) -> None:
        z = k.tile("z", dtype, (1, out.shape[1]))
        k.op("tci", f"s:s:{PTO[dtype]}", z, f"{{descending = {str(down).lower()}}}")
        k.store(z, "out")

    return Case(g.name, "tci", "the golden of the generator", {"out": np.zeros_like(out)}, {"out": out}, None, write,
                (g.suite,), scalars={"s": start})


def transpose(g: Golden) -> Case:
    """TTRANS."""
    dtype, (n, m) = g.dtype("dtype"), (g.need("valid_row"), g.need("valid_col"))
    a = g.matrix(dtype, m, ("src_col", "tile_col"), "input")
    out = g.matrix(dtype, n, ("dst_col", "tile_row", "src_row"), "golden")
    return judged(g, {"a": Source(a, (n, m))}, out, (m, n), Pto("ttrans", "a tmp"), None)


def concatenation(g: Golden) -> Case:
    """TCONCAT."""
    dtype, n = g.dtype(), g.need("valid_row")
    p, q = g.need("valid_col0"), g.need("valid_col1")
    a, b = g.matrix(dtype, p, ("src0_tile_col",), "input1"), g.matrix(dtype, q, ("src1_tile_col",), "input2")
    out = g.matrix(dtype, p + q, ("dst_tile_col",), "golden")
    return judged(g, {"a": Source(a, (n, p)), "b": Source(b, (n, q))}, out, (n, p + q), Pto("tconcat", "a b"), None)


def selection(g: Golden) -> Case:
    """TSEL: packed masks at a pitch of whole bytes."""
    dtype, (n, m) = g.dtype(), valid_of(g)
    a, b, out = (np.frombuffer(g.raw(f), KINDS[dtype]).reshape(-1, m) for f in ("input0", "input1", "golden"))
    mask = np.frombuffer(g.raw("mask"), np.uint8).reshape(n, -1)
    return judged(g, {"m": Source(mask), "a": Source(a, (n, m)), "b": Source(b, (n, m))}, out, (n, m),
                 Pto("tsel", "m a b tmp"), None)


def scalar_selection(g: Golden) -> Case:
    """TSELS: masks of any integer type, read as bytes."""
    dtype, (n, m) = g.dtype("dtype"), (g.need("valid_row"), g.need("valid_col"))
    kind = g.dtype("dtype_mask")
    mask = g.matrix(kind, 1, ("mask_tile_col",), "mask")
    a, out = g.matrix(dtype, m, ("src_tile_col",), "input1"), g.matrix(dtype, m, ("dst_tile_col",), "golden")
    s = np.frombuffer(g.raw("input2"), KINDS[dtype])[0].item()
    return judged(g, {"m": Source(mask), "a": Source(a, (n, m))}, out, (n, m),
                 Pto("tsels", f"m a tmp s:s:{PTO[dtype]}"), None, scalars={"s": s})


def comparison(g: Golden) -> Case:
    """TCMP and TCMPS: the bits of valid columns count."""
    dtype, (n, m) = g.dtype(), (g.need("valid_row"), g.need("valid_col"))
    mode = str(g.params["mode"]).split("::")[-1].lower()
    a = g.matrix(dtype, 1, ("tile_col", "col"), "input1")
    n, m = min(n, len(a)), min(m, a.shape[1])
    width = a.shape[1] // 8
    out = np.frombuffer(g.raw("golden"), np.uint8).reshape(-1, width)
    sources = {"a": Source(a, (n, m))}
    operand, scalars = "b", {}
    if g.testcase == "tcmp":
        sources["b"] = Source(g.matrix(dtype, 1, ("tile_col", "col"), "input2"), (n, m))
    else:
        operand, scalars = f"s:s:{PTO[dtype]}", {"s": np.frombuffer(g.raw("input2"), KINDS[dtype])[0].item()}
    size = -(-m // 8)
    care = np.zeros(out.shape, np.uint8)
    for c in range(m):
        care[:n, c // 8] |= 1 << (c % 8)
    case = judged(g, sources, out, (n, size), Pto(g.testcase, f"a {operand}", f"{{cmpMode = #pto<cmp {mode}>}}"), None,
                 scalars=scalars, care=care)
    return replace(case, expected={"out": case.expected["out"]})


ROWS: tuple[tuple[str, Form], ...] = (
    ("tadd tsub tmul tdiv tmax tmin tand tor txor tshl tshr trem tfmod tprelu", binary),
    ("tadds tsubs tmuls tdivs tmaxs tmins tands tors txors tshls tshrs trems tfmods tlrelu", scalar),
    ("tabs texp tlog tsqrt trsqrt trecip trelu tneg tnot", unary),
    ("tcvt", conversion),
    ("trowsum trowmax trowmin trowprod trowargmax trowargmin", row_reduction),
    ("tcolsum tcolmax tcolmin tcolprod tcolargmax tcolargmin", column_reduction),
    (" ".join(f"trowexpand{n}" for n in ("add", "sub", "mul", "div", "max", "min", "expdif")), row_expansion),
    (" ".join(f"tcolexpand{n}" for n in ("add", "sub", "mul", "div", "max", "min", "expdif")), column_expansion),
    ("trowexpand", row_broadcast),
    ("tcolexpand", column_broadcast),
    ("tpartadd tpartmul tpartmax tpartmin", partial),
    ("ttri", triangle),
    ("tci", ramp),
    ("ttrans", transpose),
    ("tconcat", concatenation),
    ("tsel", selection),
    ("tsels", scalar_selection),
    ("tcmp tcmps", comparison),
    ("tgather", gather),
    ("tgatherb", block_gather),
    ("tsort32", sorting),
    ("taxpy", accumulation),
    ("tcolgather tcolscatter", mask_gather),
    ("tscatter", index_scatter),
    ("mgather mscatter", global_access),
    ("tmatmul", product),
    ("tmatmul_mx", microscaled),
    ("tpow", power),
    ("tdequant", dequantised),
    ("tquant", quantised),
    ("thistogram", histogram),
    ("textract textract_compact", extraction),
    ("tstore_acc2gm", storing),
    ("tmov_acc2mat tmov_acc2vec", moving),
)
FORMS: dict[str, Form] = {name: form for names, form in ROWS for name in names.split()}
