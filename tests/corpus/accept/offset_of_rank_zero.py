# BOUND-LOWER
# after pypto#2201
# Each rank writes its own slot.
import pypto.language as pl


@pl.program
class WriteSlot:
    @pl.function(type=pl.FunctionType.InCore)
    def write_slot(
        self,
        x: pl.Tensor[[8, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        for rank in pl.range(8):
            t = pl.load(x, [0, 0], [8, 64])
            out = pl.store(t, [rank * 8, 0], out)
        return out
