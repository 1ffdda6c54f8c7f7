"""A tensor that fills no whole tile: 13 x 50 values in a 16 x 64 tile, the rest is never read or written."""
import pypto.language as pl


@pl.program
class PartialTile:
    @pl.function(type=pl.FunctionType.InCore)
    def scale_partial(
        self,
        a: pl.Tensor[[13, 50], pl.FP32],
        out: pl.Out[pl.Tensor[[13, 50], pl.FP32]],
    ) -> pl.Tensor[[13, 50], pl.FP32]:
        t = pl.load(a, [0, 0], [16, 64], valid_shape=[13, 50])
        return pl.store(pl.mul(t, 0.5), [0, 0], out)
