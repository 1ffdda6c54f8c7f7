# BOUND-UPPER
# after flash-attention#2790, triton#630
# Blocks of 128 cover 513 rows in five steps; the last one stores 128 rows, one of which exists.
import pypto.language as pl


@pl.program
class AddBlocks:
    @pl.function(type=pl.FunctionType.InCore)
    def add_blocks(
        self,
        a: pl.Tensor[[513, 64], pl.BF16],
        out: pl.Out[pl.Tensor[[513, 64], pl.BF16]],
    ) -> pl.Tensor[[513, 64], pl.BF16]:
        for block in pl.range(5):
            rows = 128
            t = pl.load(a, [block * 128, 0], [128, 64], valid_shape=[rows, 64])  # <- here
            out = pl.store(t, [block * 128, 0], out)
        return out
