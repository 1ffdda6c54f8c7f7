# PASS
# after triton-ascend#302, tilelang-ascend#1646
# Two blocks of 48000 f32 need 384000 bytes; UB has 192 KiB.
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
        for start in pl.range(0, 48000, 48000):
            s = pl.add(pl.load(x, [start], [48000]), pl.load(y, [start], [48000]))  # <- here
            out = pl.store(s, [start], out)
        return out
