"""Matrix product C = A x B through Mat, Left, Right and Acc; K is walked in steps that accumulate in Acc."""
import pypto.language as pl

M, K, N, STEP = 64, 512, 128, 128


@pl.program
class Matmul:
    @pl.function(type=pl.FunctionType.InCore)
    def matmul(
        self,
        a: pl.Tensor[[M, K], pl.BF16],
        b: pl.Tensor[[K, N], pl.BF16],
        c: pl.Out[pl.Tensor[[M, N], pl.FP32]],
    ) -> pl.Tensor[[M, N], pl.FP32]:
        start: pl.Tile[[M, N], pl.FP32, pl.MemorySpace.Acc] = pl.tile.create(
            [M, N], dtype=pl.FP32, target_memory=pl.MemorySpace.Acc
        )
        for k, (acc,) in pl.range(0, K, STEP, init_values=(start,)):
            a_mat = pl.load(a, [0, k], [M, STEP], target_memory=pl.MemorySpace.Mat)
            b_mat = pl.load(b, [k, 0], [STEP, N], target_memory=pl.MemorySpace.Mat)
            left = pl.move(a_mat, target_memory=pl.MemorySpace.Left)
            right = pl.move(b_mat, target_memory=pl.MemorySpace.Right)
            partial = pl.matmul_acc(acc, left, right, init_cond=(k == 0))
            acc = pl.yield_(partial)
        return pl.store(acc, [0, 0], c)
