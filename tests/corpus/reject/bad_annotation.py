# LANGUAGE
# after pypto#1200
# The shape in an annotation is a word. The error has to say where.
import pypto.language as pl


@pl.program
class Scale:
    @pl.function(type=pl.FunctionType.InCore)
    def scale(
        self,
        x: pl.Tensor[["many", 64], pl.FP32],  # <- here
        out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        return pl.store(pl.mul(pl.load(x, [0, 0], [64, 64]), 2.0), [0, 0], out)
