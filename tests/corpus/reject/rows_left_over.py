# WRITE-REST
# after tilelang#2433, tilelang-ascend#1551
# M // 32 blocks are written; the rows of the last, shorter one never are.
import pypto.language as pl

M = pl.dynamic("M")


@pl.program
class CopyRows:
    @pl.function(type=pl.FunctionType.InCore)
    def copy_rows(
        self,
        x: pl.Tensor[[M, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
    ) -> pl.Tensor[[M, 64], pl.FP32]:
        m = pl.tensor.dim(x, 0)
        for block in pl.range(m // 32):
            t = pl.load(x, [block * 32, 0], [32, 64], valid_shape=[pl.min(32, m - block * 32), 64])
            out = pl.store(t, [block * 32, 0], out)  # <- here
        return out
