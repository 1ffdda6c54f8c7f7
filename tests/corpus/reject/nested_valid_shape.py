# OP
# after pypto#2570
# The valid shape is given as pairs of a start and an extent.
import pypto.language as pl


@pl.program
class LoadPart:
    @pl.function(type=pl.FunctionType.InCore)
    def load_part(
        self,
        a: pl.Tensor[[40, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[40, 64], pl.FP32]],
    ) -> pl.Tensor[[40, 64], pl.FP32]:
        t = pl.load(a, [0, 0], [64, 64], valid_shape=[[0, 40], [0, 64]])  # <- here
        return pl.store(t, [0, 0], out)
