# WRITE-OUT
# after pypto-FAQ-1
# The sum is stored.
import pypto.language as pl


@pl.program
class AddTiles:
    @pl.function(type=pl.FunctionType.InCore)
    def add_tiles(
        self,
        a: pl.Tensor[[32, 64], pl.FP32],
        b: pl.Tensor[[32, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
        other: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
    ) -> pl.Tensor[[32, 64], pl.FP32]:
        s = pl.add(pl.load(a, [0, 0], [32, 64]), pl.load(b, [0, 0], [32, 64]))
        other = pl.store(s, [0, 0], other)
        out = pl.store(pl.add(s, 1.0), [0, 0], out)
        return other
