# OP
# after pypto#2565
# The offsets are pairs; taking the last number of each would read elsewhere, and no bound could be told.
import pypto.language as pl


@pl.program
class LoadPair:
    @pl.function(type=pl.FunctionType.InCore)
    def load_pair(
        self,
        a: pl.Tensor[[128, 128], pl.FP32],
        out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        t = pl.load(a, [[11, 22], [33, 44]], [64, 64])  # <- here
        return pl.store(t, [0, 0], out)
