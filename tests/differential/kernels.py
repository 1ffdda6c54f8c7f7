"""A fixed set of small kernels that together use every op family that both meanings know.

`BODIES`: name -> (parameters, body); each stores a result that depends on every op in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from textwrap import dedent

from pypto_verified.ir.stmt import Function
from pypto_verified.ir.walk import calls
from tests.passes.build import kernel


def _tensors(*rows: str) -> str:
    """'name dtype rows x cols', a name that starts with 'out' is an output."""
    found = []
    for row in rows:
        name, dtype, shape = row.split()
        type_ = f"pl.Tensor[[{shape.replace('x', ', ')}], pl.{dtype}]"
        found.append(f"{name}: pl.Out[{type_}]" if name.startswith("out") else f"{name}: {type_}")
    return ",\n".join(found)


_PAIR = _tensors("a FP32 16x64", "b FP32 16x64", "out FP32 16x64")
_INTEGERS = _tensors("a INT32 16x64", "b INT32 16x64", "out INT32 16x64")
_SHORTS = _tensors("a INT16 16x64", "b INT16 16x64", "out INT16 16x64")
_LOAD = """
    x = pl.load(a, [0, 0], [16, 64])
    y = pl.load(b, [0, 0], [16, 64])
"""


def _chain(*calls: str, scratch: str = "") -> str:
    made = f"    t: pl.Tile[[16, 64], pl.{scratch}] = pl.tile.create([16, 64], dtype=pl.{scratch})"
    lines = [made] if scratch else []
    lines += [f"    z{i} = {call}" for i, call in enumerate(calls)]
    return _LOAD + "\n".join(lines) + f"\n    return pl.store(z{len(calls) - 1}, [0, 0], out)\n"


BODIES: dict[str, tuple[str, str]] = {
    "arithmetic": (_PAIR, _chain("pl.add(x, y)", "pl.sub(z0, pl.mul(x, y))", "pl.maximum(z1, x)", "pl.minimum(z2, y)")),
    "division": (_PAIR, _chain("pl.div(x, pl.add(pl.abs(y), 1.0))", "pl.div(z0, 4.0)")),
    "scalars": (_PAIR, _chain("pl.add(x, 1.5)", "pl.sub(z0, 0.25)", "pl.mul(z1, 3.0)", "pl.tile.maximums(z2, -2.0)",
                              "pl.tile.minimums(z3, 5.0)", "pl.tile.lrelu(z4, 0.5)", "pl.add(z5, y)")),
    "unary": (_PAIR, _chain("pl.neg(x)", "pl.add(pl.relu(z0), pl.sqrt(pl.abs(y)))")),
    "approximated": (_PAIR, _chain("pl.exp(x)", "pl.log(pl.add(pl.abs(y), 1.0))", "pl.recip(pl.add(z0, 1.0))",
                                   "pl.rsqrt(pl.add(z1, 1.0))", "pl.add(pl.add(z0, z1), pl.add(z2, z3))")),
    "bits": (_SHORTS, _chain("pl.tile.and_(x, y)", "pl.tile.or_(z0, x)", "pl.tile.not_(z1)", "pl.tile.xor(z2, y, t)",
                             scratch="INT16")),
    "shifts": (_INTEGERS, _chain("pl.tile.shls(x, 3)", "pl.tile.shrs(y, 1)", "pl.add(z0, z1)")),
    "selection": (_PAIR, _chain("pl.tile.cmp(x, y, cmp_type='lt')", "pl.tile.sel(z0, x, pl.mul(y, 2.0), t)",
                                "pl.tile.cmps(x, 1.0, cmp_type='ge')", "pl.tile.sels(z2, z1, t, 9.0)", scratch="FP32")),
    "rows": (_PAIR, _chain("pl.row_max(x, t)", "pl.row_min(y, t)", "pl.row_sum(x, t)", "pl.row_expand_sub(x, z0)",
                           "pl.row_expand_mul(z3, z1)", "pl.row_expand_add(z4, z2)", scratch="FP32")),
    "columns": (_PAIR, _chain("pl.tile.col_max(x)", "pl.tile.col_min(y)", "pl.tile.col_sum(x)",
                              "pl.tile.col_expand_sub(x, z0)", "pl.tile.col_expand_mul(z3, z1)",
                              "pl.tile.col_expand_add(z4, z2)")),
    "positions": (_tensors("a FP32 16x64", "b FP32 16x64", "out INT32 16x1"),
                  _chain("pl.tile.row_argmax(x, t)", "pl.tile.row_argmin(y, t)", "pl.add(z0, z1)", scratch="FP32")),
    "casts": (_tensors("a FP32 16x64", "b FP32 16x64", "out INT32 16x64"),
              _chain("pl.cast(x, target_type=pl.FP16, mode='rint')", "pl.cast(z0, target_type=pl.FP32, mode='rint')",
                     "pl.cast(pl.mul(pl.add(z1, y), 0.75), target_type=pl.INT32, mode='floor')")),
    "views": (_PAIR, _chain("pl.mul(x[4:8, 0:64], 2.0)", "pl.assemble(x, z0, [8, 0])", "pl.add(z1, y)")),
    "relabelled slice": (
        _tensors("a FP32 16x8", "b FP32 16x64", "out FP32 16x64"), """
    x = pl.transpose(pl.load(a, [0, 0], [16, 8]), axis1=0, axis2=1)
    column = pl.reshape(x[3:4, 0:16], [16, 1])
    return pl.store(pl.row_expand_mul(pl.load(b, [0, 0], [16, 64]), column), [0, 0], out)
"""),
    "padding": (_PAIR, """
    x = pl.load(a, [0, 0], [16, 64], valid_shape=[13, 50])
    y = pl.load(b, [0, 0], [16, 64])
    return pl.store(pl.add(pl.fillpad(x, pad_value=pl.PadValue.zero), y), [0, 0], out)
"""),
    "partial": (_PAIR, """
    x = pl.load(a, [0, 0], [16, 64])
    y = pl.load(b, [0, 0], [16, 64], valid_shape=[7, 64])
    return pl.store(pl.tile.part_add(x, y), [0, 0], out)
"""),
    "makers": (_INTEGERS, """
    x = pl.load(a, [0, 0], [16, 64])
    ramp = pl.tile.ci(3, [1, 64], dtype=pl.INT32)
    z = pl.mul(pl.tile.full([16, 64], dtype=pl.INT32, value=2), pl.tile.tri(1, [16, 64], dtype=pl.INT32))
    return pl.store(pl.add(pl.tile.col_expand_add(z, ramp), x), [0, 0], out)
"""),
    "gather and scatter": (
        _tensors("a FP32 8x64", "idx INT32 8x64", "out FP32 8x64", "out2 FP32 8x64", "out3 FP32 8x32"), """
    x = pl.load(a, [0, 0], [8, 64])
    i = pl.load(idx, [0, 0], [8, 64])
    tmp: pl.Tile[[8, 64], pl.INT32] = pl.tile.create([8, 64], dtype=pl.INT32)
    out = pl.store(pl.tile.gather(x, i, tmp), [0, 0], out)
    out2 = pl.store(pl.tile.scatter(pl.mul(x, 2.0), x, i), [0, 0], out2)
    out3 = pl.store(pl.tile.gather_mask(x, mask_pattern=pl.tile.MaskPattern.P1010), [0, 0], out3)
    return out, out2, out3
"""),
    "global gather and scatter": (
        _tensors("a FP32 8x64", "idx INT32 8x64", "rows INT32 1x16", "out FP32 8x64", "out2 FP32 16x64",
                 "out3 FP32 8x64"), """
    i = pl.load(idx, [0, 0], [8, 64])
    x = pl.tile.mgather(a, i, coalesce="elem", gather_oob="wrap")
    out = pl.store(pl.mul(x, 2.0), [0, 0], out)
    picked = pl.tile.mgather(a, pl.load(rows, [0, 0], [1, 16]), gather_oob="zero")
    out2 = pl.store(picked, [0, 0], out2)
    out3 = pl.store(pl.mul(x, 3.0), [0, 0], out3)
    out3 = pl.tile.mscatter(x, i, out3)
    return out, out2, out3
"""),
    "random words": (_tensors("a UINT32 16x64", "out UINT32 16x64"), """
    x = pl.tile.random(1, 2, 3, 4, 5, 6, [16, 64], valid_shape=[13, 50], rounds=7)
    y = pl.load(a, [0, 0], [16, 64], valid_shape=[13, 50])
    return pl.store(pl.tile.xor(x, y, pl.tile.create([16, 64], dtype=pl.UINT32)), [0, 0], out)
"""),
    "bits of another type": (_tensors("a FP32 16x64", "out INT32 16x64", "out2 INT16 16x128", "out3 FP32 32x32"), """
    x = pl.load(a, [0, 0], [16, 64])
    y = pl.mul(x, 2.0)
    out = pl.store(pl.tile.shrs(pl.reinterpret_view(y, pl.INT32), 3), [0, 0], out)
    out2 = pl.store(pl.tile.shls(pl.reinterpret_view(x, pl.INT16), 1), [0, 0], out2)
    z = pl.reinterpret_view(pl.reinterpret_view(x, pl.INT16), pl.FP32, [32, 32])
    out3 = pl.store(pl.mul(z, 4.0), [0, 0], out3)
    return out, out2, out3
"""),
    "sort": (_tensors("a FP32 1x128", "pos UINT32 1x128", "out FP32 1x256"), """
    s = pl.tile.sort32(pl.load(a, [0, 0], [1, 128]), pl.load(pos, [0, 0], [1, 128]))
    return pl.store(pl.tile.mrgsort(s, block_len=64), [0, 0], out)
"""),
    "product": (_tensors("a FP16 32x48", "b FP16 48x32", "out FP32 32x32"), """
    am = pl.load(a, [0, 0], [32, 48], target_memory=pl.Mem.Mat)
    bm = pl.load(b, [0, 0], [48, 32], target_memory=pl.Mem.Mat)
    al = pl.move(am, target_memory=pl.Mem.Left)
    br = pl.move(bm, target_memory=pl.Mem.Right)
    c = pl.matmul(al, br)
    return pl.store(pl.matmul_acc(c, al, br), [0, 0], out)
"""),
    "narrow product": (_tensors("a FP16 32x48", "b FP16 48x32", "out FP32 32x32"), """
    am = pl.load(a, [0, 0], [32, 48], valid_shape=[7, 40], target_memory=pl.Mem.Mat)
    bm = pl.load(b, [0, 0], [48, 32], valid_shape=[40, 20], target_memory=pl.Mem.Mat)
    c = pl.matmul(pl.move(am, target_memory=pl.Mem.Left), pl.move(bm, target_memory=pl.Mem.Right))
    return pl.store(c, [0, 0], out)
"""),
    "more rows": (_PAIR, _chain(
        "pl.row_max(x, t)", "pl.tile.row_prod(y, t)", "pl.tile.row_expand(x, z0)", "pl.tile.row_expand_max(y, z1)",
        "pl.tile.row_expand_min(x, z0)", "pl.tile.row_expand_div(pl.add(z2, z3), pl.add(pl.abs(z0), 1.0))",
        "pl.tile.row_expand_expdif(z4, z0)", "pl.add(z5, z6)", scratch="FP32")),
    "more columns": (_PAIR, _chain(
        "pl.tile.col_max(x)", "pl.tile.col_prod(y)", "pl.tile.col_expand(x, z0)", "pl.tile.col_expand_max(y, z1)",
        "pl.tile.col_expand_min(x, z0)", "pl.tile.col_expand_div(pl.add(z2, z3), pl.add(pl.abs(z0), 1.0))",
        "pl.tile.col_expand_expdif(z4, z0)", "pl.add(z5, z6)")),
    "column positions": (
        _tensors("a FP32 16x64", "b FP32 16x64", "out INT32 1x64"),
        _chain("pl.tile.col_argmax(x, t)", "pl.tile.col_argmin(y, t)", "pl.add(z0, z1)", scratch="FP32")),
    "remainders": (_INTEGERS, _chain("pl.tile.rem(x, y, t)", "pl.tile.rems(x, 5, t)", "pl.tile.fmod(x, y)",
                                     "pl.tile.fmods(y, 3)", "pl.add(pl.add(z0, z1), pl.add(z2, z3))", scratch="INT32")),
    "bits and scalars": (_SHORTS, _chain("pl.tile.ands(x, 6)", "pl.tile.ors(y, 9)", "pl.tile.xors(z0, 5, t)",
                                         "pl.add(z1, z2)", scratch="INT16")),
    "shifts by tiles": (_INTEGERS, _chain("pl.tile.shl(x, y)", "pl.tile.shr(z0, y)", "pl.add(z0, z1)")),
    "carries": (_PAIR, _chain("pl.tile.addc(x, y, x)", "pl.tile.subc(z0, y, x)", "pl.tile.addsc(z1, 1.5, y)",
                              "pl.tile.subsc(z2, 0.5, x)")),
    "slopes": (_PAIR, """
    x = pl.load(a, [0, 0], [16, 64])
    y = pl.load(b, [0, 0], [16, 64])
    t: pl.Tile[[16, 64], pl.UINT8] = pl.tile.create([16, 64], dtype=pl.UINT8)
    return pl.store(pl.tile.prelu(x, y, t), [0, 0], out)
"""),
    "more partial": (_PAIR, """
    x = pl.load(a, [0, 0], [16, 64])
    y = pl.load(b, [0, 0], [16, 64], valid_shape=[7, 64])
    z = pl.tile.part_max(pl.tile.part_mul(x, y), y)
    return pl.store(pl.tile.part_min(z, y), [0, 0], out)
"""),
    "narrowed": (_PAIR, """
    x = pl.add(pl.load(a, [0, 0], [16, 64]), 1.0)
    y = pl.tile.fillpad_inplace(pl.set_validshape(x, 9, 33), pad_value=pl.PadValue.min)
    return pl.store(pl.add(y, pl.load(b, [0, 0], [16, 64])), [0, 0], out)
"""),
    "wider": (_tensors("a FP32 8x32", "b FP32 16x32", "out FP32 16x64", "out2 FP32 16x64"), """
    x = pl.load(a, [0, 0], [8, 32])
    y = pl.load(b, [0, 0], [16, 32])
    out = pl.store(pl.fillpad_expand(x, [16, 64], pad_value=pl.PadValue.zero), [0, 0], out)
    out2 = pl.store(pl.concat(y, pl.mul(y, 2.0)), [0, 0], out2)
    return out, out2
"""),
    "blocks": (_tensors("a FP32 8x64", "idx UINT32 8x8", "out FP32 8x64", "out2 FP32 8x128"), """
    x = pl.load(a, [0, 0], [8, 64])
    i = pl.load(idx, [0, 0], [8, 8])
    out = pl.store(pl.tile.gatherb(x, i), [0, 0], out)
    base: pl.Tile[[8, 128], pl.FP32] = pl.tile.full([8, 128], dtype=pl.FP32, value=1.0)
    out2 = pl.store(pl.tile.scatter_mask(base, x, mask_pattern=pl.tile.MaskPattern.P1010), [0, 0], out2)
    return out, out2
"""),
    "launch": (_PAIR, _LOAD + """
    n = pl.tile.get_block_idx() * 100 + pl.tile.get_block_num() * 10 + pl.tile.get_subblock_idx()
    pl.tile.write(x, [0, 0], pl.tile.read(y, [pl.min(n, 15), 1]))
    return pl.store(x, [0, 0], out)
"""),
    "global scalar": (_PAIR, _LOAD + """
    out = pl.store(pl.add(x, y), [0, 0], out)
    pl.write(out, [2, 3], pl.read(a, [1, 1]))
    return out
"""),
    "bias": (_tensors("a FP16 32x48", "b FP16 48x32", "bias FP32 1x32", "out FP32 32x32"), """
    am = pl.load(a, [0, 0], [32, 48], target_memory=pl.Mem.Mat)
    bm = pl.load(b, [0, 0], [48, 32], target_memory=pl.Mem.Mat)
    sm = pl.load(bias, [0, 0], [1, 32], target_memory=pl.Mem.Mat)
    al = pl.tile.extract(am, 0, 0, [32, 48], target_memory=pl.Mem.Left)
    br = pl.move(bm, target_memory=pl.Mem.Right)
    c = pl.matmul_bias(al, br, pl.move(sm, target_memory=pl.Mem.Bias))
    return pl.store(c, [0, 0], out)
"""),
    "one row": (_tensors("a FP16 1x64", "b FP16 64x32", "bias FP32 1x32", "out FP32 1x32", "out2 FP32 1x32"), """
    al = pl.move(pl.load(a, [0, 0], [1, 64], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
    br = pl.move(pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
    sb = pl.move(pl.load(bias, [0, 0], [1, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Bias)
    out = pl.store(pl.gemv_acc(pl.gemv(al, br), al, br), [0, 0], out)
    out2 = pl.store(pl.gemv_bias(al, br, sb), [0, 0], out2)
    return out, out2
"""),
    "transposed product": (_tensors("a FP16 32x48", "b FP16 32x48", "out FP32 32x32"), """
    am = pl.load(a, [0, 0], [32, 48], target_memory=pl.Mem.Mat)
    bm = pl.load(b, [0, 0], [32, 48], target_memory=pl.Mem.Mat)
    br = pl.move(pl.tile.transpose_view(bm), target_memory=pl.Mem.Right)
    c = pl.matmul(pl.move(am, target_memory=pl.Mem.Left), br)
    return pl.store(c, [0, 0], out)
"""),
    "swap": (_PAIR.replace("out:", "n: pl.Scalar[pl.INDEX],\nout:"), _LOAD + """
    for i, (p, q) in pl.range(n, init_values=(x, y)):
        s = pl.add(p, q)
        p, q = pl.yield_(q, s)
    return pl.store(p, [0, 0], out)
"""),
    "scalar access": (_PAIR, _LOAD + """
    v = pl.tile.read(x, [1, 2])
    pl.tile.write(y, [0, 1], v)
    return pl.store(pl.add(y, pl.read(a, [3, 4])), [0, 0], out)
"""),
    "tail": (_tensors("a FP32 Mx64", "out FP32 Mx64"), """
    for row in pl.range(0, pl.tensor.dim(a, 0), 16):
        rows = pl.min(16, pl.tensor.dim(a, 0) - row)
        x = pl.load(a, [row, 0], [16, 64], valid_shape=[rows, 64])
        out = pl.store(pl.mul(x, 3.0), [row, 0], out)
    return out
"""),
}
A5_ONLY = frozenset({"random words"})
"""Kernels with an op that a2a3 does not have."""


@cache
def function(name: str) -> Function:
    """The kernel of that name."""
    params, body = BODIES[name]
    return kernel(params, dedent(body), prelude='M = pl.dynamic("M")')


def ops_of(name: str) -> Iterator[str]:
    """The ops that a kernel calls."""
    yield from sorted({c.op for c in calls(function(name).body)})
