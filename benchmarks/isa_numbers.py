"""PTO-ISA's test cases of powers, quantisation, histograms and microscaled products."""

from __future__ import annotations

import numpy as np

from benchmarks.isa_case import CLOSE, Golden, Unbound, judged
from tests.conformance.arithmetic import KINDS, Array
from tests.conformance.case import Case
from tests.conformance.pto_kernel import PtoKernel
from tests.conformance.single import Pto, Source

_ZZ, _NN = ("row_major", "row_major", 32), ("col_major", "col_major", 32)
_EIGHT_BITS = {"float8_e4m3fn": "FP8E4M3FN", "float8_e5m2": "FP8E5M2"}


def _padded(a: Array) -> Array:
    """A column as a tile of whole 32-byte rows."""
    wide = np.zeros((len(a), 32 // a.itemsize), a.dtype)
    wide[:, :1] = a.reshape(len(a), -1)[:, :1]
    return wide


def power(g: Golden) -> Case:
    """dst = base ** exponent."""
    dtype, valid, cols = g.dtype(), (g.need("valid_row"), g.need("valid_col")), g.need("col")
    base, exponent, out = (np.frombuffer(g.raw(n), KINDS[dtype]).reshape(-1, cols) for n in ("base", "exp", "golden"))
    return judged(g, {"a": Source(base, valid), "b": Source(exponent, valid)}, out, valid, Pto("tpow", "a b tmp"), None,
                  CLOSE if dtype[0] in "FB" else 0.0)


def dequantised(g: Golden) -> Case:
    """(src - offset) * scale, one of each a row."""
    dtype, cols = g.dtype("src_type", "src_dtype"), g.need("col", "src_cols")
    valid = g.need("valid_row", "dst_valid_rows"), g.need("valid_col", "dst_valid_cols")
    a = np.frombuffer(g.raw("input", "srcInput"), KINDS[dtype]).reshape(-1, cols)
    scale, offset = (
        _padded(np.frombuffer(g.raw(n, f"{n}Input"), np.float32).reshape(-1, g.get("para_cols") or 1))
        for n in ("scale", "offset"))
    out = np.frombuffer(g.raw("golden"), np.float32).reshape(-1, g.get("dst_cols") or cols)
    sources = {"a": Source(a, valid), "scale": Source(scale, (valid[0], 1)), "offset": Source(offset, (valid[0], 1))}
    return judged(g, sources, out, valid, Pto("tdequant", "a scale offset"), None)


def quantised(g: Golden) -> Case:
    """src * scale (+ offset) as eight bits."""
    kind = str(g.params.get("out_dtype_str", ""))
    if kind not in ("int8_sym", "int8_asym"):
        raise Unbound("another way to quantise")
    rows, cols = g.need("valid_rows"), g.need("valid_cols")
    a = np.frombuffer(g.raw("input"), np.float32).reshape(rows, cols)
    scale = _padded(np.frombuffer(g.raw("inv_scale_fp32"), np.float32))
    sources = {"a": Source(a), "scale": Source(scale, (rows, 1))}
    if kind == "int8_asym":
        sources["offset"] = Source(_padded(np.frombuffer(g.raw("offset_fp32"), np.float32)), (rows, 1))
    symmetric = kind == "int8_sym"
    out = np.frombuffer(g.raw("golden_s8" if symmetric else "golden_u8"), np.int8 if symmetric else np.uint8)
    return judged(g, sources, out.reshape(rows, cols), (rows, cols),
                  Pto("tquant", " ".join(sources), f"{{quant_type = #pto<quant_type {kind.upper()}>}}"), None)


def histogram(g: Golden) -> Case:
    """Counts of one byte of a row's elements."""
    rows, cols, byte = g.need("rows"), g.need("cols"), g.get("byte")
    kind = np.dtype(np.uint16) if byte is None else np.dtype(np.uint32)
    if byte is None:
        byte = 1 if g.params.get("msb_or_lsb") == "MSB" else 0
    a = np.frombuffer(g.raw("input"), kind).reshape(rows, cols)
    found = np.frombuffer(g.raw("idx"), np.uint8)
    above = kind.itemsize - 1 - byte
    lines = rows if kind.itemsize == 2 else above
    names = np.zeros((max(1, lines), 32), np.uint8)
    if lines:
        names[:lines, 0] = found.reshape(lines, -1)[:, 0]
    out = np.frombuffer(g.raw("golden"), np.uint32).reshape(rows, 256)
    return judged(g, {"a": Source(a), "names": Source(names)}, out, (rows, 256),
                  Pto("thistogram", "a names", f"{{byte = {byte} : i32}}"), None)


def microscaled(g: Golden) -> Case:
    """A product of f8 operands with their scales; the bias of the accumulating cases comes once."""
    types = [_EIGHT_BITS.get(str(g.params.get(n, "")).removeprefix("np:")) for n in ("atype", "btype")]
    left, right = types
    if left is None or right is None:
        raise Unbound("elements of four bits")
    m, k, n = (g.need(name) for name in "mkn")
    if (g.params.get("scale_a_format"), g.params.get("scale_b_format")) != ("zz", "nn"):
        raise Unbound("scales in another layout")
    high, deep, wide = (-(-extent // unit) * unit for extent, unit in ((m, 16), (k, 64), (n, 32)))
    groups, across = deep // 32, -(-n // 16) * 16
    a, b = np.frombuffer(g.raw("x1_gm"), KINDS[left]), np.frombuffer(g.raw("x2_gm"), KINDS[right])
    scales = {"sa": np.frombuffer(g.raw("x1_mx_gm"), np.uint8), "sb": np.frombuffer(g.raw("x2_mx_gm"), np.uint8)}
    dims = {"sa": (1, high // 16, groups // 2, 16, 2), "sb": (1, across // 16, groups // 2, 16, 2)}
    if any(scales[name].size != int(np.prod(dims[name])) for name in scales):
        raise Unbound("scales of another size")
    bias = bool(g.params.get("is_bias"))
    inputs = {"a": a.reshape(m, k), "b": b.reshape(k, n), "out": np.zeros((m, n), np.float32),
              **{name: v.view(KINDS["FP8E8M0"]).reshape(-1, 2) for name, v in scales.items()}}
    if bias:
        inputs["v"] = np.frombuffer(g.raw("bias_gm"), np.float32).reshape(1, n)

    def write(kernel: PtoKernel) -> None:
        kernel.load("a", kernel.tile("am", left, (high, deep), (m, k), "mat"))
        kernel.load("b", kernel.tile("bm", right, (deep, wide), (k, n), "mat"))
        kernel.op("tmov", "am", kernel.tile("al", left, (high, deep), (m, k), "left", compact=1))
        kernel.op("tmov", "bm", kernel.tile("br", right, (deep, wide), (k, n), "right", compact=1))
        for name, of, shape, layout, form in (("sa", "al", (high, groups), _ZZ, "mx_a_zz"),
                                              ("sb", "br", (groups, across), _NN, "mx_b_nn")):
            staged = kernel.tile(f"{name}m", "FP8E8M0", shape, space="mat", layout=layout)
            kernel.op("tload", kernel.view(name, layout=form, dims=dims[name]), staged)
            scale = kernel.tile(f"{name}t", "FP8E8M0", shape, space="scaling", layout=layout)
            kernel.op("tget_scale_addr", of, scale)
            kernel.op("tmov", staged, scale)
        kernel.tile("cc", "FP32", (high, wide), (m, n), "acc", compact=1)
        if bias:
            kernel.load("v", kernel.tile("vm", "FP32", (1, wide), (1, n), "mat", layout=("row_major", "none_box", 512)))
            kernel.op("tmov", "vm", kernel.tile("vb", "FP32", (1, wide), (1, n), "bias"))
        kernel.op("tmatmul.mx.bias" if bias else "tmatmul.mx", f"al sat br sbt{' vb' if bias else ''}", "cc")
        kernel.store("cc", "out")

    golden = np.frombuffer(g.raw("golden"), np.float32).reshape(m, n)
    return Case(g.name, "tmatmul.mx", "the golden that the test's generator computed", inputs, {"out": golden}, None,
                write, targets=(g.suite,), close=CLOSE, within=CLOSE)
