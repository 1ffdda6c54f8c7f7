# PASS
# after pypto#2232
# 64 x 384.
import pypto.language as pl


@pl.program
class Product:
    @pl.function(type=pl.FunctionType.InCore)
    def product(
        self,
        a: pl.Tensor[[64, 32], pl.INT8],
        b: pl.Tensor[[32, 384], pl.INT8],
        out: pl.Out[pl.Tensor[[64, 384], pl.INT32]],
    ) -> pl.Tensor[[64, 384], pl.INT32]:
        lhs = pl.load(a, [0, 0], [64, 32], target_memory=pl.MemorySpace.Mat)
        rhs = pl.load(b, [0, 0], [32, 384], target_memory=pl.MemorySpace.Mat)
        left = pl.move(lhs, target_memory=pl.MemorySpace.Left)
        right = pl.move(rhs, target_memory=pl.MemorySpace.Right)
        acc = pl.matmul(left, right)
        return pl.store(acc, [0, 0], out)
