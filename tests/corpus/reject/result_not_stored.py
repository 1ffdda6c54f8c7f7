# WRITE-OUT
# after pypto-FAQ-1
# `out = pl.add(...)` names another thing `out`; the tensor stays what it was.
import pypto.language as pl


@pl.program
class AddTiles:
    @pl.function(type=pl.FunctionType.InCore)
    def add_tiles(  # <- here
        self,
        a: pl.Tensor[[32, 64], pl.FP32],
        b: pl.Tensor[[32, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
        other: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
    ) -> pl.Tensor[[32, 64], pl.FP32]:
        s = pl.add(pl.load(a, [0, 0], [32, 64]), pl.load(b, [0, 0], [32, 64]))
        other = pl.store(s, [0, 0], other)
        out = pl.add(s, 1.0)
        return other
