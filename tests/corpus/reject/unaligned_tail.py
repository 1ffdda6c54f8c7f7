# BOUND-UPPER
# after fla#1251
# The tail of a row is loaded as a whole tile of 64 columns: it takes the head of the next row.
import pypto.language as pl


@pl.program
class CopyColumns:
    @pl.function(type=pl.FunctionType.InCore)
    def copy_columns(
        self,
        x: pl.Tensor[[16, 100], pl.BF16],
        out: pl.Out[pl.Tensor[[16, 100], pl.BF16]],
    ) -> pl.Tensor[[16, 100], pl.BF16]:
        for col in pl.range(0, 100, 64):
            cols = 64
            t = pl.load(x, [0, col], [16, 64], valid_shape=[16, cols])  # <- here
            out = pl.store(t, [0, col], out)
        return out
