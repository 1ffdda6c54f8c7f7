"""RMS norm of M rows, M known only at run time: 16 rows at a time, the last tile as short as it has to be."""
import pypto.language as pl

M = pl.dynamic("M")
COLS, STEP = 256, 16


@pl.program
class RmsNorm:
    @pl.function(type=pl.FunctionType.InCore)
    def rmsnorm(
        self,
        x: pl.Tensor[[M, COLS], pl.FP32],
        out: pl.Out[pl.Tensor[[M, COLS], pl.FP32]],
    ) -> pl.Tensor[[M, COLS], pl.FP32]:
        m = pl.tensor.dim(x, 0)
        for row in pl.range(0, m, STEP):
            rows = pl.min(STEP, m - row)
            t = pl.load(x, [row, 0], [STEP, COLS], valid_shape=[rows, COLS])
            scratch: pl.Tile[[STEP, COLS], pl.FP32] = pl.tile.create([STEP, COLS], dtype=pl.FP32)
            squares = pl.row_sum(pl.mul(t, t), scratch)
            scale = pl.rsqrt(pl.add(pl.mul(squares, 1.0 / COLS), 1e-6))
            out = pl.store(pl.row_expand_mul(t, scale), [row, 0], out)
        return out
