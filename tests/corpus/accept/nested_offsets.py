# OP
# after pypto#2565
# Offsets are scalars.
import pypto.language as pl


@pl.program
class LoadPair:
    @pl.function(type=pl.FunctionType.InCore)
    def load_pair(
        self,
        a: pl.Tensor[[128, 128], pl.FP32],
        out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        t = pl.load(a, [22, 44], [64, 64])
        return pl.store(t, [0, 0], out)
