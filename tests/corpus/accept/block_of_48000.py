# PASS
# after triton-ascend#302, tilelang-ascend#1646
# Blocks of 8000.
import pypto.language as pl


@pl.program
class AddBlocks:
    @pl.function(type=pl.FunctionType.InCore)
    def add_blocks(
        self,
        x: pl.Tensor[[48000], pl.FP32],
        y: pl.Tensor[[48000], pl.FP32],
        out: pl.Out[pl.Tensor[[48000], pl.FP32]],
    ) -> pl.Tensor[[48000], pl.FP32]:
        for start in pl.range(0, 48000, 8000):
            s = pl.add(pl.load(x, [start], [8000]), pl.load(y, [start], [8000]))
            out = pl.store(s, [start], out)
        return out
