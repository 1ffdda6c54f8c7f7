"""Windows of a tile: add its upper and its lower half and put the sum into the upper half of a copy."""
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
        upper = pl.tile.slice(t, [16, 64], [0, 0])
        lower = pl.tile.slice(t, [16, 64], [16, 0])
        folded = pl.tile.assemble(copy, pl.add(upper, lower), [0, 0])
        return pl.store(folded, [0, 0], out)
