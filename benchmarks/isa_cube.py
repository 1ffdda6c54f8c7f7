"""Forms of matrix products: through all memories, from windows of L1, and out of the accumulator."""

from __future__ import annotations

from math import prod

import numpy as np

from benchmarks.isa_case import CLOSE, Golden, Unbound
from tests.conformance.arithmetic import KINDS, Array
from tests.conformance.case import Case
from tests.conformance.pto_kernel import PtoKernel

_PRODUCTS = ("FP16", "BF16", "FP32", "INT8")
_L0_BYTES = 65536
_FLAT = ("row_major", "none_box", 512)
_ZN = ("row_major", "col_major", 512)


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


def _case(g: Golden, inputs: dict[str, Array], out: Array, write: object) -> Case:
    assert callable(write)
    return Case(g.name, g.testcase, "the golden of the generator", {**inputs, "out": np.zeros_like(out)}, {"out": out},
                None, write, (g.suite,), close=CLOSE, within=CLOSE)


def _operands(
    k: PtoKernel, dtype: str, extents: tuple[int, int, int], start: tuple[int, int, int] = (0, 0, 0),
    turned: tuple[bool, bool] = (False, False), whole: tuple[int, int, int] = (0, 0, 0),
) -> None:
    """Tensors a and b through L1 into al and br: their windows from `start` on, of m, k, n `extents`. `whole`: the
    tensors' extents if they are larger; `turned`: a tensor lies transposed."""
    step = max(16, 32 // KINDS[dtype].itemsize)
    axes = {"a": (0, 1), "b": (1, 2)}
    for i, (name, (x, y)) in enumerate(axes.items()):
        rows, cols = (whole[v] or start[v] + extents[v] for v in (x, y))
        valid, at = (extents[x], extents[y]), (start[x], start[y])
        shape = _up(max(rows, at[0] + _up(valid[0], step)), step), _up(max(cols, at[1] + _up(valid[1], step)), step)
        mat = k.tile(f"{name}m", dtype, shape, (rows, cols), "mat", layout=_ZN if turned[i] else None)
        strides = (1, rows) if turned[i] else (cols, 1)
        k.op("tload", k.view(name, None, "dn" if turned[i] else "nd", (rows, cols), strides), mat)
        space = ("left", "right")[i]
        tile = k.tile(f"{name}0", dtype, (_up(valid[0], step), _up(valid[1], step)), valid, space, compact=1)
        k.op("textract", f"{mat} c:{at[0]}:index c:{at[1]}:index", tile)


def _require(dtype: str, extents: tuple[int, int, int]) -> None:
    step = max(16, 32 // KINDS[dtype].itemsize)
    m, k, n = (_up(v, step) for v in extents)
    if dtype not in _PRODUCTS:
        raise Unbound("operands of a type that is not modelled")
    if max(m * k, k * n) * KINDS[dtype].itemsize > _L0_BYTES:
        raise Unbound("larger than L0 at once")


def product(g: Golden) -> Case:
    """TMATMUL with and without a bias."""
    dtype, acc = g.dtype("atype"), g.dtype("ctype")
    e = m, k_, n = g.need("m"), g.need("k"), g.need("n")
    _require(dtype, e)
    if g.params.get("btype") != g.params.get("atype") or g.params.get("is_hf32") or g.params.get("is_tf32"):
        raise Unbound("mixed or reduced types")
    inputs = {"a": np.frombuffer(g.raw("x1_gm"), KINDS[dtype]).reshape(m, k_),
              "b": np.frombuffer(g.raw("x2_gm"), KINDS[dtype]).reshape(k_, n)}
    out = np.frombuffer(g.raw("golden"), KINDS[acc]).reshape(m, n)
    biased = bool(g.params.get("is_bias"))
    if biased:
        kind = g.dtype("bias_type")
        inputs["v"] = np.frombuffer(g.raw("bias_gm"), KINDS[kind]).reshape(1, n)

    def write(k: PtoKernel) -> None:
        _operands(k, dtype, e)
        wide = _up(n, 64)
        cc = k.tile("cc", acc, (_up(m, 16), wide), (m, n), "acc", compact=1)
        if biased:
            vm = k.tile("vm", kind, (1, wide), (1, n), "mat", layout=_FLAT)
            k.load("v", vm)
            k.op("tmov", vm, k.tile("vb", acc, (1, wide), (1, n), space="bias"))
            k.op("tmatmul.bias", "a0 b0 vb", cc)
        else:
            k.op("tmatmul", "a0 b0", cc)
        k.store(cc, "out")

    return _case(g, inputs, out, write)


def extraction(g: Golden) -> Case:
    """TEXTRACT of windows of L1, of tensors that lie as they are or transposed, and their product."""
    dtype, acc = g.dtype("atype"), g.dtype("ctype")
    whole = (g.need("m"), g.need("k"), g.need("n"))
    base = tuple(g.get(f"base_{v}") or w for v, w in zip("mkn", whole, strict=True))
    start = (g.get("start_m") or 0, g.get("start_k") or 0, g.get("start_n") or 0)
    e = (whole[0] - start[0], whole[1] - start[1], whole[2] - start[2])
    _require(dtype, e)
    # The compact generator transposes b when the parameter says that it is not.
    turned = bool(g.get("is_atrans")), bool(g.get("is_btrans")) != (g.testcase == "textract_compact")
    inputs = {"a": np.frombuffer(g.raw("x1_gm"), KINDS[dtype]), "b": np.frombuffer(g.raw("x2_gm"), KINDS[dtype])}
    if (len(inputs["a"]), len(inputs["b"])) != (base[0] * base[1], base[1] * base[2]):
        raise Unbound("tensors of other extents than its parameters say")
    out = np.frombuffer(g.raw("golden"), KINDS[acc]).reshape(e[0], e[2])

    def write(k: PtoKernel) -> None:
        _operands(k, dtype, e, start, turned, (base[0], base[1], base[2]))
        cc = k.tile("cc", acc, (_up(e[0], 16), _up(e[2], 16)), (e[0], e[2]), "acc", compact=1)
        k.op("tmatmul", "a0 b0", cc)
        k.store(cc, "out")

    return _case(g, inputs, out, write)


def storing(g: Golden) -> Case:
    """TSTORE out of the accumulator: row-major or boxed, converted, quantised by a word or by one a column, ReLU."""
    dtype, to = g.dtype("src_data_type"), g.dtype("dst_data_type")
    e = m, k_, n = g.need("m"), g.need("k"), g.need("n")
    _require(dtype, e)
    form, quant = g.need("format"), g.get("quant_mode") or 0
    if form not in (1, 2, 3):
        raise Unbound("a tensor of six dimensions")
    inputs = {"a": np.frombuffer(g.raw("x1_gm"), KINDS[dtype]).reshape(m, k_),
              "b": np.frombuffer(g.raw("x2_gm"), KINDS[dtype]).reshape(k_, n)}
    out = np.frombuffer(g.raw("golden"), KINDS[to]).reshape(m, n)
    acc = "INT32" if dtype == "INT8" else "FP32"
    relu = "{reluPreMode = #pto<relu_pre_mode normal_relu>}" if g.get("relu_mode") else ""
    if quant == 2:
        inputs["words"] = np.frombuffer(g.raw("quant_vector_gm"), np.uint64).reshape(1, n)
    scale = float(g.params.get("scalar") or 1)

    def write(k: PtoKernel) -> None:
        _operands(k, dtype, e)
        wide = _up(n, 32)
        cc = k.tile("cc", acc, (_up(m, 16), wide), (m, n), "acc", compact=1)
        k.op("tmatmul", "a0 b0", cc)
        box = {1: 0, 2: max(16, 32 // KINDS[to].itemsize) if to in ("INT8", "UINT8") else 16, 3: 8}[form]
        dims = (1, n // box, m // 16, 16, box) if box else (m, n)
        view = k.view("out", None, "nz" if box else "nd", dims, tuple(prod(dims[i + 1 :]) for i in range(len(dims))))
        source = f"ins(%{cc} : {k.type_of(cc)}"
        if quant == 2:
            fm = k.tile("fm", "UINT64", (1, wide), (1, n), "mat", layout=_FLAT)
            k.load("words", fm)
            k.op("tmov", fm, k.tile("fp", "UINT64", (1, wide), (1, n), space="scaling"))
            source = f"{source} fp %fp : {k.type_of('fp')}"
        elif quant == 1:
            word = k.number(int(np.asarray(scale, np.float32).view(np.uint32)), "i64")
            source = f"ins(%{cc} : {k.type_of(cc)}, {word} : i64"
        k.line(f"pto.tstore {source}) outs(%{view} : {k.type_of(view)}) {relu}")

    return _case(g, inputs, out, write)


def moving(g: Golden) -> Case:
    """TMOV, TEXTRACT, TINSERT out of the accumulator: into L1 or UB, by rows, by columns or in boxes."""
    dtype, acc, to = g.dtype("atype"), g.dtype("ctype"), g.dtype("dst_type")
    m, k_, n = (max(g.need(v), g.get(f"base_{v}") or 0) for v in "mkn")
    _require(dtype, (m, k_, n))
    if "split" in g.name or "dual" in g.name:
        raise Unbound("a move for two vector cores")
    inputs = {"a": np.frombuffer(g.raw("x1_gm"), KINDS[dtype]).reshape(m, k_),
              "b": np.frombuffer(g.raw("x2_gm"), KINDS[dtype]).reshape(k_, n)}
    row, col = g.get("index_rows") or 0, g.get("index_cols") or 0
    inserts = bool(g.params.get("is_insert"))
    shape = (g.need("dst_row"), g.need("dst_col")) if inserts else (m - row, n - col)
    form = str(g.params.get("dst_format", "NZ"))
    out = np.frombuffer(g.raw("golden"), KINDS[to])
    fractal = g.get("s_fractal_size") or 512
    box = 0 if form != "NZ" else 16 if fractal == 1024 else 32 // KINDS[to].itemsize
    if len(out) != shape[0] * shape[1]:
        raise Unbound("a golden of other extents")
    out = out.reshape(shape[1], shape[0]) if form == "DN" else out.reshape(shape)
    if g.params.get("is_v_quant"):
        inputs["words"] = np.frombuffer(g.raw("quant_gm"), np.uint64).reshape(1, -1)
    scaled = bool(g.params.get("is_s_quant"))
    space = "mat" if g.testcase.endswith("mat") else "vec"

    def write(k: PtoKernel) -> None:
        _operands(k, dtype, (m, k_, n))
        cc = k.tile("cc", acc, (_up(m, 16), _up(n, 32)), (m, n), "acc")
        k.op("tmatmul", "a0 b0", cc)
        layout = {"ND": _FLAT, "DN": ("col_major", "none_box", 512), "NZ": ("col_major", "row_major", fractal)}[form]
        high = _up(shape[0], 16 if box else 32)
        z = k.tile("z", to, (high, _up(shape[1], 32)), shape, space, addr=131072 if space == "mat" else 0,
                   layout=layout)
        dims = (1, shape[1] // box, shape[0] // 16, 16, box) if box else shape
        steps = (1, shape[0]) if form == "DN" else tuple(prod(dims[i + 1 :]) for i in range(len(dims)))
        view = k.view("out", None, {"ND": "nd", "DN": "dn", "NZ": "nz"}[form], dims, steps)
        if inserts:
            k.op("tload", view, z)
        name = "tinsert" if inserts else "textract" if row or col else "tmov"
        names, types, tail = f"%{cc}", k.type_of(cc), ""
        if name != "tmov":
            names, types = f"{names}, {k.number(row)}, {k.number(col)}", f"{types}, index, index"
        if "words" in inputs:
            fm = k.tile("fm", "UINT64", (1, _up(n, 32)), (1, n), "mat", addr=262144, layout=_FLAT)
            k.load("words", fm)
            k.op("tmov", fm, k.tile("fp", "UINT64", (1, _up(n, 32)), (1, n), space="scaling"))
            tail = f"{', %fp' if name == 'tmov' else ' fp %fp'} : {k.type_of('fp')}"
        elif scaled:
            scale = g.params.get("scalar", 1)
            bits = (scale - 1) << 32 if to == "INT16" else int(np.asarray(scale, np.float32).view(np.uint32))
            word = k.number(bits, "i64")
            tail = f"{' pre_quant' if name == 'tinsert' else ','} {word} : i64"
            if name == "textract":
                names, types, tail = f"{names}, {word}", f"{types}, i64", ""
        relu = "{reluPreMode = #pto<relu_pre_mode normal_relu>}" if g.params.get("is_relu") else ""
        k.line(f"pto.{name} ins({names} : {types}{tail}) outs(%{z} : {k.type_of(z)}) {relu}")
        k.op("tstore", z, view)

    return _case(g, inputs, out, write)
