# OP
# after pypto#2570
# It is given as extents.
import pypto.language as pl


@pl.program
class LoadPart:
    @pl.function(type=pl.FunctionType.InCore)
    def load_part(
        self,
        a: pl.Tensor[[40, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[40, 64], pl.FP32]],
    ) -> pl.Tensor[[40, 64], pl.FP32]:
        t = pl.load(a, [0, 0], [64, 64], valid_shape=[40, 64])
        return pl.store(t, [0, 0], out)
