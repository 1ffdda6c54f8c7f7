"""Windows of a tile: add its two column halves and put the sum into the left half of a copy."""
import pypto.language as pl


@pl.program
class SliceAssemble:
    @pl.function(type=pl.FunctionType.InCore)
    def fold_halves(
        self,
        a: pl.Tensor[[32, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
    ) -> pl.Tensor[[32, 64], pl.FP32]:
        t = pl.load(a, [0, 0], [32, 64])
        copy: pl.Tile[[32, 64], pl.FP32] = pl.mul(t, 1.0)
        left = pl.tile.slice(t, [32, 32], [0, 0])
        right = pl.tile.slice(t, [32, 32], [0, 32])
        folded = pl.tile.assemble(copy, pl.add(left, right), [0, 0])
        return pl.store(folded, [0, 0], out)
