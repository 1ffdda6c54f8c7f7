"""Vector addition, c = a + b: a long array, walked in tiles of 64 x 128."""
import pypto.language as pl

ROWS, COLS, STEP = 1024, 128, 64


@pl.program
class VectorAdd:
    @pl.function(type=pl.FunctionType.InCore)
    def vector_add(
        self,
        a: pl.Tensor[[ROWS, COLS], pl.FP32],
        b: pl.Tensor[[ROWS, COLS], pl.FP32],
        c: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
    ) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        for row in pl.range(0, ROWS, STEP):
            x = pl.load(a, [row, 0], [STEP, COLS])
            y = pl.load(b, [row, 0], [STEP, COLS])
            c = pl.store(pl.add(x, y), [row, 0], c)
        return c
