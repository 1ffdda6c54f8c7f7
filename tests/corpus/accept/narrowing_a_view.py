# CODEGEN
# after pypto#2380
# The slice itself is made with them.
import pypto.language as pl


@pl.program
class Narrow:
    @pl.function(type=pl.FunctionType.InCore)
    def narrow(
        self,
        x: pl.Tensor[[32, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[8, 64], pl.FP32]],
    ) -> pl.Tensor[[8, 64], pl.FP32]:
        t = pl.load(x, [0, 0], [32, 64])
        s = pl.tile.slice(t, [16, 64], [0, 0], [8, 64])
        return pl.store(pl.mul(s, 1.0), [0, 0], out)
