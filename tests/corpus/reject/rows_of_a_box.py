# CODEGEN
# after pypto#2327
# 100 rows are no whole number of boxes. The assembler says so of its own text; the user wrote the 100 here.
import pypto.language as pl


@pl.program
class Product:
    @pl.function(type=pl.FunctionType.InCore)
    def product(
        self,
        a: pl.Tensor[[100, 64], pl.FP16],
        b: pl.Tensor[[64, 64], pl.FP16],
        out: pl.Out[pl.Tensor[[100, 64], pl.FP32]],
    ) -> pl.Tensor[[100, 64], pl.FP32]:
        lhs = pl.load(a, [0, 0], [100, 64], target_memory=pl.MemorySpace.Mat)  # <- here
        rhs = pl.load(b, [0, 0], [64, 64], target_memory=pl.MemorySpace.Mat)
        left = pl.move(lhs, target_memory=pl.MemorySpace.Left)
        right = pl.move(rhs, target_memory=pl.MemorySpace.Right)
        return pl.store(pl.matmul(left, right), [0, 0], out)
