"""BOUND: the last step of the loop reads past the tensor, because nothing says that M is a multiple of 32."""
import pypto.language as pl

M = pl.dynamic("M")


@pl.program
class ForgottenTail:
    @pl.function(type=pl.FunctionType.InCore)
    def forgotten_tail(
        self,
        a: pl.Tensor[[M, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[M, 64], pl.FP32]],
    ) -> pl.Tensor[[M, 64], pl.FP32]:
        m = pl.tensor.dim(a, 0)
        for row in pl.range(0, m, 32):
            t = pl.load(a, [row, 0], [32, 64])
            out = pl.store(pl.add(t, 1.0), [row, 0], out)
        return out
