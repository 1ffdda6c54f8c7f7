"""Microscaled products (a5): f8 operands with a power of two for every 32 elements along k. Sums over Python integers.

Scale s stands for 2**(s - 127). The scales of a tile in L0A or L0B lie in a table beside it, at a sixteenth of its
address.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.conformance.arithmetic import KINDS, Array, small
from tests.conformance.case import Case
from tests.conformance.cube import WHOLE, Extents
from tests.conformance.pto_kernel import PtoKernel

GROUPS = WHOLE[1] // 32
LEAST = 125
_ZZ, _NN = ("row_major", "row_major", 32), ("col_major", "col_major", 32)
REGIONS: dict[str, Extents] = {
    "full": WHOLE, "partial": (19, 37, 21), "one": (1, 1, 1), "no-rows": (0, 64, 64), "no-cols": (32, 64, 0),
}


def _scales(rows: int, cols: int, seed: int) -> Array:
    """Exponents around 127, as bytes."""
    return np.random.default_rng(seed).integers(LEAST, LEAST + 5, (rows, cols)).astype(np.uint8)


def product(a: Array, sa: Array, b: Array, sb: Array, e: Extents) -> Array:
    """sum over k of a[i, k] * 2**(sa[i, k // 32] - 127) * b[k, j] * 2**(sb[k // 32, j] - 127), on Python integers:
    powers count from the least scale."""
    m, kk, n = e
    left = [[int(a[i, k]) << int(sa[i, k // 32]) - LEAST for k in range(kk)] for i in range(m)]
    right = [[int(b[k, j]) << int(sb[k // 32, j]) - LEAST for k in range(kk)] for j in range(n)]
    sums = [[sum(x * y for x, y in zip(row, col, strict=True)) for col in right] for row in left]
    return np.array(sums, np.float64).reshape(m, n).astype(np.float32) * np.float32(2.0 ** (2 * (LEAST - 127)))


def _load_scales(k: PtoKernel, packed: bool) -> None:
    """Scale tiles `sl` and `sr` of al and br. `packed`: the tensors hold them in the tiles' own order."""
    rows, _, cols = WHOLE
    am = k.tile("sam", "FP8E8M0", (rows, GROUPS), space="mat", layout=_ZZ)
    bm = k.tile("sbm", "FP8E8M0", (GROUPS, cols), space="mat", layout=_NN)
    if packed:
        left, right = (1, rows // 16, GROUPS // 2, 16, 2), (1, cols // 16, GROUPS // 2, 16, 2)
        k.op("tload", k.view("sa", layout="mx_a_zz", dims=left), am)
        k.op("tload", k.view("sb", layout="mx_b_nn", dims=right), bm)
    else:
        k.load("sa", am)
        k.load("sb", bm)
    for made, shape, layout, of, source in (
        ("sl", (rows, GROUPS), _ZZ, "al", am), ("sr", (GROUPS, cols), _NN, "br", bm),
    ):
        scale = k.tile(made, "FP8E8M0", shape, space="scaling", layout=layout)
        k.op("tget_scale_addr", of, scale)
        k.op("tmov", source, scale)


def _case(form: str, kinds: tuple[str, str], region: str, e: Extents, packed: bool = False) -> Case:
    m, kk, n = e
    vector = form.startswith("tgemv")
    a, b = small(kinds[0], WHOLE[:2], 141), small(kinds[1], WHOLE[1:], 142)
    sa, sb = _scales(WHOLE[0], GROUPS, 143), _scales(GROUPS, WHOLE[2], 144)
    bias, before = small("FP32", (1, WHOLE[2]), 145), small("FP32", (WHOLE[0], WHOLE[2]), 146)
    once = product(a, sa, b, sb, e)
    after = before.copy()
    after[:m, :n] = once * 2 if form.endswith(".acc") else once + bias[:, :n] if form.endswith(".bias") else once
    given = {"sa": sa, "sb": sb}
    if packed:
        given = {"sa": sa.reshape(WHOLE[0] // 16, 16, GROUPS // 2, 2).transpose(0, 2, 1, 3),
                 "sb": sb.reshape(GROUPS // 2, 2, WHOLE[2] // 16, 16).transpose(2, 0, 3, 1)}
        given = {name: np.ascontiguousarray(v).reshape(scale.shape) for (name, v), scale in
                 zip(given.items(), (sa, sb), strict=True)}

    def write(k: PtoKernel) -> None:
        rows = 1 if vector else WHOLE[0]
        am = k.tile("am", kinds[0], (rows, WHOLE[1]), (m, kk), "mat", layout=("row_major", "none_box", 512)
                    if vector else None)
        bm = k.tile("bm", kinds[1], WHOLE[1:], (kk, n), "mat")
        k.op("tload", k.view("a", (0, 0, m, kk)), am)
        k.op("tload", k.view("b", (0, 0, kk, n)), bm)
        k.op("tmov", am, k.tile("al", kinds[0], (rows, WHOLE[1]), (m, kk), "left", compact=0 if vector else 1))
        k.op("tmov", bm, k.tile("br", kinds[1], WHOLE[1:], (kk, n), "right", compact=1))
        _load_scales(k, packed)
        cc = k.tile("cc", "FP32", (WHOLE[0], WHOLE[2]), (m, n), "acc", compact=1)
        base = form.rpartition(".")[0] if form.endswith((".acc", ".bias")) else form
        if form.endswith(".bias"):
            vm = k.tile("vm", "FP32", (1, WHOLE[2]), space="mat", layout=("row_major", "none_box", 512))
            k.load("v", vm)
            k.op("tmov", vm, k.tile("vb", "FP32", (1, WHOLE[2]), space="bias"))
            k.op(form, "al sl br sr vb", cc)
        else:
            k.op(base, "al sl br sr", cc)
        if form.endswith(".acc"):
            k.op(form, "cc al sl br sr", cc)
        k.store(cc, "out", (m, n))

    inputs = {"a": a, "b": b, "v": bias, "out": before,
              **{name: v.view(KINDS["FP8E8M0"]) for name, v in given.items()}}
    how = {".acc": ", added to itself", "bias": " plus one value a column"}.get(form[-4:], "")
    return Case(f"{form}-{'x'.join(kinds)}-{region}", form, f"the scaled product{how}, by sums over Python integers",
                inputs, {"out": after}, None, write, targets=("a5",))


def cases() -> Iterator[Case]:
    pairs = (("FP8E4M3FN", "FP8E4M3FN"), ("FP8E5M2", "FP8E4M3FN"))
    for form in ("tmatmul.mx", "tmatmul.mx.acc", "tmatmul.mx.bias"):
        for kinds in pairs:
            for region, e in REGIONS.items():
                yield _case(form, kinds, region, e)
    yield _case("tmatmul.mx", pairs[0], "packed-scales", WHOLE, packed=True)
    for form in ("tgemv.mx", "tgemv.mx.acc", "tgemv.mx.bias"):
        for region, e in {"full": (1, 64, 64), "partial": (1, 37, 21), "one": (1, 1, 1)}.items():
            yield _case(form, pairs[1], region, e)
