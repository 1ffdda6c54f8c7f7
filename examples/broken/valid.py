"""VALID: 32 rows are stored, but only 20 of them were ever loaded: the sum takes its extents from its first operand."""
import pypto.language as pl


@pl.program
class MixedExtents:
    @pl.function(type=pl.FunctionType.InCore)
    def mixed_extents(
        self,
        a: pl.Tensor[[32, 64], pl.FP32],
        b: pl.Tensor[[20, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
    ) -> pl.Tensor[[32, 64], pl.FP32]:
        x = pl.load(a, [0, 0], [32, 64])
        y = pl.load(b, [0, 0], [32, 64], valid_shape=[20, 64])
        return pl.store(pl.add(x, y), [0, 0], out)
