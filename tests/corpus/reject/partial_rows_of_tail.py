# BOUND-UPPER
# after pypto-lib#1111
# Rows are taken 16 at a time: with T = 8 the last tile reads 8 rows behind the tensor.
import pypto.language as pl

T = pl.dynamic("T")


@pl.program
class ScaleRows:
    @pl.function(type=pl.FunctionType.InCore)
    def scale_rows(
        self,
        x: pl.Tensor[[T, 1024], pl.FP32],
        out: pl.Out[pl.Tensor[[T, 1024], pl.FP32]],
    ) -> pl.Tensor[[T, 1024], pl.FP32]:
        t = pl.tensor.dim(x, 0)
        for row in pl.range(0, t, 16):
            tile = pl.load(x, [row, 0], [16, 256])  # <- here
            out = pl.store(pl.mul(tile, 2.0), [row, 0], out)
        return out
