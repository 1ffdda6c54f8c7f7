# LAYOUT-LOAD
# after pypto#2377
# A tensor in global memory is annotated as NZ, a layout of tiles. The mark was kept silently for a later check that
# may be off.
import pypto.language as pl


@pl.program
class Scale:
    @pl.function(type=pl.FunctionType.InCore)
    def scale(
        self,
        x: pl.Tensor[[64, 64], pl.FP32, pl.NZ],
        out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        return pl.store(pl.mul(pl.load(x, [0, 0], [64, 64]), 2.0), [0, 0], out)  # <- here
