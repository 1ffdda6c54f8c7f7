# BOUND-UPPER
# after pypto-lib#1111
# The tile takes no more rows than there are.
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
            tile = pl.load(x, [row, 0], [16, 256], valid_shape=[pl.min(16, t - row), 256])
            out = pl.store(pl.mul(tile, 2.0), [row, 0], out)
        return out
