# BOUND-UPPER
# after tilelang#1012
# Lane t of 128 takes elements t, t + 128, ... below n. With one more trip than ceil((n - t) / 128) it passes the end.
import pypto.language as pl

N = pl.dynamic("N")


@pl.program
class Strided:
    @pl.function(type=pl.FunctionType.InCore)
    def strided(
        self,
        x: pl.Tensor[[N, 8], pl.FP32],
        out: pl.Out[pl.Tensor[[N, 8], pl.FP32]],
    ) -> pl.Tensor[[N, 8], pl.FP32]:
        n = pl.tensor.dim(x, 0)
        for lane in pl.range(pl.min(n, 128)):
            for i in pl.range((n - lane + 127) // 128 + 1):
                t = pl.load(x, [lane + 128 * i, 0], [1, 8])  # <- here
                out = pl.store(t, [lane + 128 * i, 0], out)
        return out
