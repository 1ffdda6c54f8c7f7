"""The smallest kernel: c = a * b on one 32 x 32 tile, written with a bare `@pl.function` and plain parameters."""
import pypto.language as pl


@pl.program
class MulKernel:
    @pl.function
    def mul_kernel_2d(
        self,
        a: pl.Tensor[[32, 32], pl.FP32],
        b: pl.Tensor[[32, 32], pl.FP32],
        c: pl.Tensor[[32, 32], pl.FP32],
    ):
        tile_a = pl.load(a, [0, 0], [32, 32])
        tile_b = pl.load(b, [0, 0], [32, 32])
        tile_c = pl.mul(tile_a, tile_b)
        pl.store(tile_c, [0, 0], c)
