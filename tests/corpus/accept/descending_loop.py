# LANGUAGE
# after pypto#2427
# The loop counts up.
import pypto.language as pl


@pl.program
class CountDown:
    @pl.function(type=pl.FunctionType.InCore)
    def count_down(
        self,
        x: pl.Tensor[[64, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        for row in pl.range(0, 64, 1):
            t = pl.load(x, [row, 0], [1, 64])
            out = pl.store(t, [row, 0], out)
        return out
